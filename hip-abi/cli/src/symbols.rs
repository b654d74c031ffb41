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
    exported: bool,
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
        let map = prefix.version_script(library);
        let map = std::fs::read_to_string(&map)
            .map_err(|error| Error::other(format!("{}: {error}", map.display())))?;
        let exported = exported(&path)?;
        let function = |(name, node): (String, String)| Function {
            library,
            exported: exported.contains(&name),
            name,
            node,
        };
        functions.extend(names(&map).into_iter().map(function));
    }
    if json {
        serde_json::to_writer_pretty(&mut *out, &functions)?;
        return writeln!(out);
    }
    let mut table = Table::new(0, &["function", "node", "status"]);
    for function in &functions {
        let status = if function.exported {
            terminal.good("exported")
        } else {
            terminal.bad("missing")
        };
        table.row([function.name.clone(), function.node.clone(), status]);
    }
    table.write(out)?;
    let count = functions
        .iter()
        .filter(|function| function.exported)
        .count();
    writeln!(out, "{count} of {} exported", functions.len())
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
