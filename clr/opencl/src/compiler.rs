//! Compiling and linking through the compilers of this machine, with what was compiled kept on disk.
//!
//! Results are kept in the folder of hiprtc's cache (`GNEISS_HIPRTC_CACHE`), under keys of their own. Sources that include files the key
//! cannot know are compiled anew each time.

use std::sync::OnceLock;

use gneiss_hiprtc::{
    cache::{self, Entry},
    compiler::{Compiled, Header, Log},
    opencl::{OpenCl, Source, first_that_knows},
};

use crate::options::Options;

fn compilers() -> &'static [OpenCl] {
    static COMPILERS: OnceLock<Vec<OpenCl>> = OnceLock::new();
    COMPILERS.get_or_init(|| {
        let wanted = gneiss_settings::text("GNEISS_HIPRTC_COMPILER").unwrap_or_default();
        if wanted.is_empty() || wanted == "clang" {
            OpenCl::find_all()
        } else {
            Vec::new()
        }
    })
}

/// Whether there is a compiler.
pub fn available() -> bool {
    !compilers().is_empty()
}

/// Text that is part of every key: changes with what the compiler is asked to do.
const KIND: &str = "OpenCL 1";

/// Whether a source includes a file that is not among the headers.
fn includes_files(texts: &[&str], headers: &[Header]) -> bool {
    texts.iter().flat_map(|text| text.lines()).any(|line| {
        let Some(rest) = line.trim_start().strip_prefix('#') else {
            return false;
        };
        let Some(name) = rest.trim_start().strip_prefix("include") else {
            return false;
        };
        let name = name.trim().trim_matches(['"', '<', '>']);
        !headers.iter().any(|header| header.name == name)
    })
}

/// Compiles a source to bitcode; gives the compiler's messages, too.
///
/// # Errors
/// The compiler's messages, or what is missing.
pub fn compile(
    text: &str,
    headers: &[Header],
    options: &Options,
    target: &str,
) -> Result<(Vec<u8>, Log), Log> {
    let compilers = compilers();
    let texts: Vec<&str> = headers
        .iter()
        .map(|header| header.text.as_str())
        .chain([text])
        .collect();
    let folder =
        cache::folder().filter(|_| !options.reads_files && !includes_files(&texts, headers));
    let entry = folder.map(|folder| {
        let mut parts = vec![
            KIND.to_owned(),
            "compile".to_owned(),
            text.to_owned(),
            target.to_owned(),
            options.compiler.join("\n"),
            options.extensions.join("\n"),
        ];
        for header in headers {
            parts.extend([header.name.clone(), header.text.clone()]);
        }
        parts.extend(compilers.iter().map(OpenCl::identity));
        (folder, cache::key(parts.iter().map(String::as_str)))
    });
    if let Some((folder, key)) = &entry
        && let Some(found) = cache::read(folder, key)
    {
        return Ok((found.compiled.bitcode, found.compiled.log));
    }
    let (bitcode, log) = first_that_knows(compilers, target)?.compile(&Source {
        text,
        headers,
        options: &options.compiler,
        extensions: &options.extensions,
        target,
    })?;
    if let Some((folder, key)) = &entry {
        let compiled = Compiled {
            bitcode: bitcode.clone(),
            executable: Vec::new(),
            log: log.clone(),
        };
        let names = Vec::new();
        cache::write(folder, key, &Entry { compiled, names });
    }
    Ok((bitcode, log))
}

/// Links bitcode to a code object; gives the linker's messages, too.
///
/// # Errors
/// The linker's messages, or what is missing.
pub fn link(pieces: &[&[u8]], options: &Options, target: &str) -> Result<(Vec<u8>, Log), Log> {
    let compilers = compilers();
    let entry = cache::folder().map(|folder| {
        let mut parts = vec![
            KIND.as_bytes().to_vec(),
            b"link".to_vec(),
            target.as_bytes().to_vec(),
            format!("{:?}", options.math).into_bytes(),
        ];
        parts.extend(pieces.iter().map(|piece| piece.to_vec()));
        parts.extend(
            compilers
                .iter()
                .map(|compiler| compiler.identity().into_bytes()),
        );
        (folder, cache::key_of_bytes(parts.iter().map(Vec::as_slice)))
    });
    if let Some((folder, key)) = &entry
        && let Some(found) = cache::read(folder, key)
    {
        return Ok((found.compiled.executable, found.compiled.log));
    }
    let (executable, log) =
        first_that_knows(compilers, target)?.link(pieces, target, options.math)?;
    if let Some((folder, key)) = &entry {
        let compiled = Compiled {
            bitcode: Vec::new(),
            executable: executable.clone(),
            log: log.clone(),
        };
        let names = Vec::new();
        cache::write(folder, key, &Entry { compiled, names });
    }
    Ok((executable, log))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_the_program_has_not_given_are_unknown() {
        let header = Header {
            name: "a.h".to_owned(),
            text: String::new(),
        };
        let headers = [header];
        assert!(!includes_files(&["int x;\n# include \"a.h\"\n"], &headers));
        assert!(includes_files(&["#include <b.h>\n"], &headers));
        assert!(includes_files(&["#include \"a.h\"\n"], &[]));
    }
}
