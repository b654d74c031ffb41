//! Makes `include/gneiss/hip.h` with cbindgen from the sources of the HIP C ABI.
//!
//! cbindgen reads Rust without expanding macros. The entry points are literal functions, so it sees them; the opaque handle
//! types come out of a macro, so they are written out here before it reads the sources.

use cbindgen::{Builder, Config, EnumConfig, ExportConfig, ItemType, Language, Style};
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

/// What stands at the top of a header.
const HEAD: &str = "/* Written by `make headers` from the Rust sources; do not edit. SPDX-License-Identifier: MIT OR Apache-2.0 */";

/// What the header is for.
const ABOUT: &str = "/* HIP for C programs: devices, streams, events, memory, modules.\n * Programs in HIP C++ keep using AMD's headers. */";

/// The workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where the header is kept.
pub fn header_path() -> PathBuf {
    workspace().join("include/gneiss/hip.h")
}

/// Makes the header's text.
///
/// # Errors
/// When sources cannot be read, or cbindgen cannot make sense of them.
pub fn header() -> Result<String> {
    let mut sources = sources(&workspace().join("hip-abi/src"))?;
    sources.extend(self::sources(&workspace().join("hip-abi/rtc/src"))?);
    let scratch = tempfile::tempdir()?;
    let mut builder = Builder::new().with_config(config(&sources));
    for (index, (_, text)) in sources.iter().enumerate() {
        let file = scratch.path().join(format!("{index}.rs"));
        fs::write(&file, expand_opaque(text))?;
        builder = builder.with_src(file);
    }
    let bindings = builder.generate().map_err(std::io::Error::other)?;
    let mut out = Vec::new();
    bindings.write(&mut out);
    let text = String::from_utf8(out).map_err(std::io::Error::other)?;
    // Links of rustdoc mean nothing in C.
    Ok(text.replace("[`", "`").replace("`]", "`"))
}

/// The source files below a folder with their text, in order of their names.
fn sources(directory: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    files
        .into_iter()
        .map(|file| fs::read_to_string(&file).map(|text| (file, text)))
        .collect()
}

/// Writes out `opaque! { tag as handle; ... }` as types that cbindgen knows.
fn expand_opaque(text: &str) -> String {
    let Some((before, rest)) = text.split_once("\nopaque! {") else {
        return text.to_owned();
    };
    let (block, after) = rest.split_once("\n}").unwrap_or((rest, ""));
    let mut expanded = String::new();
    for line in block.lines().map(str::trim) {
        match line
            .strip_suffix(';')
            .and_then(|line| line.split_once(" as "))
        {
            Some((tag, handle)) => expanded.push_str(&format!(
                "pub type {handle} = *mut {tag};\npub struct {tag} {{ opaque: u8 }}\n"
            )),
            None => expanded.push_str(&format!("{line}\n")),
        }
    }
    format!("{before}\n{expanded}{after}")
}

fn config(sources: &[(PathBuf, String)]) -> Config {
    Config {
        language: Language::C,
        header: Some(HEAD.into()),
        include_guard: Some("GNEISS_HIP_H".into()),
        after_includes: Some(format!("\n{ABOUT}")),
        cpp_compat: true,
        usize_is_size_t: true,
        style: Style::Both,
        documentation: true,
        enumeration: EnumConfig {
            prefix_with_name: false,
            ..EnumConfig::default()
        },
        export: ExportConfig {
            item_types: vec![
                ItemType::Constants,
                ItemType::Enums,
                ItemType::Structs,
                ItemType::Unions,
                ItemType::Typedefs,
                ItemType::OpaqueItems,
                ItemType::Functions,
            ],
            exclude: excluded(sources),
            ..ExportConfig::default()
        },
        ..Config::default()
    }
}

/// What does not belong into the header: constants of our own, the compiler's entry points, and functions over types that a
/// macro makes.
fn excluded(sources: &[(PathBuf, String)]) -> Vec<String> {
    let mut names = Vec::new();
    for line in sources
        .iter()
        .flat_map(|(_, text)| text.lines())
        .map(str::trim)
    {
        let constant = line
            .strip_prefix("pub const ")
            .and_then(|rest| rest.split(':').next());
        names.extend(
            constant
                .filter(|name| !name.starts_with("hip"))
                .map(str::to_owned),
        );
        let function = line
            .strip_prefix("pub unsafe extern \"C\" fn ")
            .and_then(|rest| rest.split('(').next());
        // `HIP_MEMCPY3D` has another layout in each version; a macro makes both.
        let over_made_types = |name: &str| {
            name.starts_with("hipDrvMemcpy3D")
                || (name.starts_with("hipDrvGraph") && name.contains("MemcpyNode"))
        };
        let foreign = |name: &&str| !name.starts_with("hip") || over_made_types(name);
        names.extend(function.filter(foreign).map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}
