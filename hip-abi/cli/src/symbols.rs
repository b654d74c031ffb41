//! `gneiss info --api`: every function of AMD's libraries with its version node, and whether ours export it there.

use crate::prefix::Prefix;
use crate::table::Table;
use crate::terminal::Terminal;
use gneiss_fatbin::elf::{Elf, SHT_DYNSYM};
use gneiss_fatbin::fat_binary::MappedFile;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{Error, Result, Write};
use std::path::Path;

/// One function.
#[derive(Debug, Serialize)]
struct Function {
    library: &'static str,
    name: String,
    node: String,
    status: Status,
}

/// What a function is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// It does what its documentation says.
    Works,
    /// It is there and answers that it is not supported.
    NotSupported,
    /// The library does not export it.
    Missing,
}

impl Status {
    fn text(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::NotSupported => "not supported",
            Self::Missing => "missing",
        }
    }
}

/// Writes the table.
pub fn list(prefix: &Prefix, json: bool, terminal: &Terminal, out: &mut dyn Write) -> Result<()> {
    let libraries = [
        ("libamdhip64", prefix.hip_library()),
        ("libhsa-runtime64", prefix.hsa_library()),
    ];
    let mut functions = Vec::new();
    for (library, path) in libraries {
        // The linker's version scripts are installed beside the libraries.
        let map = read(&prefix.version_script(library))?;
        let unsupported = unsupported(&read(&prefix.unsupported_functions(library))?);
        let exported = exported(&path)?;
        functions.extend(names(&map).into_iter().map(|(name, node)| {
            let status = match (exported.contains(&name), unsupported.contains(&name)) {
                (false, _) => Status::Missing,
                (true, true) => Status::NotSupported,
                (true, false) => Status::Works,
            };
            Function {
                library,
                name,
                node,
                status,
            }
        }));
    }
    if json {
        serde_json::to_writer_pretty(&mut *out, &functions)?;
        return writeln!(out);
    }
    let mut table = Table::new(0, &["function", "node", "status"]);
    for function in &functions {
        let text = function.status.text();
        let status = if function.status == Status::Works {
            terminal.good(text)
        } else {
            terminal.bad(text)
        };
        table.row([function.name.clone(), function.node.clone(), status]);
    }
    table.write(out)?;
    for (library, _) in [("libamdhip64", ()), ("libhsa-runtime64", ())] {
        let of = |status| {
            functions
                .iter()
                .filter(|f| f.library == library && f.status == status)
                .count()
        };
        let (works, refused, missing) = (
            of(Status::Works),
            of(Status::NotSupported),
            of(Status::Missing),
        );
        writeln!(
            out,
            "{library}: {works} work, {refused} not supported, {missing} missing"
        )?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Error::other(format!("{}: {error}", path.display())))
}

/// The names in a list with one a line.
fn unsupported(list: &str) -> BTreeSet<String> {
    list.lines().map(str::to_owned).collect()
}

/// Names that a library defines for others.
fn exported(path: &Path) -> Result<BTreeSet<String>> {
    let error = |error| Error::other(format!("{}: {error}", path.display()));
    let file = MappedFile::open(path).map_err(error)?;
    let symbols = Elf::parse(file.bytes())
        .and_then(|elf| elf.symbols(SHT_DYNSYM))
        .map_err(error)?;
    Ok(symbols
        .iter()
        .filter(|symbol| symbol.is_defined())
        .map(|symbol| symbol.name.to_owned())
        .collect())
}

/// The names of a linker version script with their nodes; patterns are left out.
fn names(map: &str) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let (mut node, mut local) = (String::new(), false);
    let mut rest = map;
    // Comments hold no names.
    let mut text = String::new();
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let text: String = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(" ");
    for statement in text.split(';') {
        let mut statement = statement.trim();
        if let Some((head, body)) = statement.split_once('{') {
            node = head.trim().to_owned();
            local = false;
            statement = body.trim();
        }
        if let Some(after) = statement.strip_prefix("global:") {
            local = false;
            statement = after.trim();
        }
        if let Some(after) = statement.strip_prefix("local:") {
            local = true;
            statement = after.trim();
        }
        let plain = !statement.is_empty()
            && statement
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if plain && !local && !node.is_empty() {
            names.push((statement.to_owned(), node.clone()));
        }
        // "} parent" ends a node.
        if statement.starts_with('}') {
            node.clear();
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_scripts() {
        let map = "/* about; this */\na_1 {\n  global:\n    one;\n    t*;\n  local:\n    *;\n};\nb_2 {\n  global: two; # three;\n} a_1;\n";
        let expected =
            [("one", "a_1"), ("two", "b_2")].map(|(name, node)| (name.to_owned(), node.to_owned()));
        assert_eq!(names(map), expected);
    }

    #[test]
    fn amds_names_are_all_there() {
        let hsa = names(include_str!("../../../hsa-core/libhsa-runtime64.map"));
        assert!(hsa.iter().filter(|(_, node)| node == "ROCR_1").count() > 250);
        assert!(hsa.contains(&("hsa_init".into(), "ROCR_1".into())));
    }
}
