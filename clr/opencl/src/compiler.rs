//! Compiling and linking through the compilers of this machine, with what was compiled kept on disk.
//!
//! Results are kept in the folder of hiprtc's cache (`GNEISS_HIPRTC_CACHE`), under keys of their own. Of sources that include files the compiler's
//! preprocessor is asked for the whole text first, which is part of the key.

use std::{path::PathBuf, sync::OnceLock};

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
        OpenCl::find_all(&wanted)
    })
}

/// What tells these compilers from others. They are looked at once: who replaces a compiler starts the program anew.
fn identities() -> &'static [String] {
    static IDENTITIES: OnceLock<Vec<String>> = OnceLock::new();
    IDENTITIES.get_or_init(|| compilers().iter().map(OpenCl::identity).collect())
}

/// Whether there is a compiler.
pub fn available() -> bool {
    !compilers().is_empty()
}

/// Text that is part of every key: changes with what the compiler is asked to do.
const KIND: &str = "OpenCL 5";

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

/// A source with its headers, and what it is to become.
struct Job<'a> {
    source: Source<'a>,
    /// Files go into the result that are not known.
    reads_files: bool,
}

impl<'a> Job<'a> {
    fn new(text: &'a str, headers: &'a [Header], options: &'a Options, target: &'a str) -> Self {
        let texts: Vec<&str> = headers
            .iter()
            .map(|header| header.text.as_str())
            .chain([text])
            .collect();
        Self {
            reads_files: options.reads_files || includes_files(&texts, headers),
            source: Source {
                text,
                headers,
                expanded: None,
                options: &options.compiler,
                extensions: &options.extensions,
                target,
            },
        }
    }

    /// The whole text, if it includes files; none if one of them is not there.
    fn expanded(&self) -> Option<String> {
        if !self.reads_files {
            return None;
        }
        let compiler = first_that_knows(compilers(), self.source.target).ok()?;
        compiler.expand(&self.source).ok()
    }

    /// The same with its whole text, if there is one: then no file goes into the result that is not known.
    fn with(mut self, expanded: Option<&'a str>) -> Self {
        self.reads_files &= expanded.is_none();
        self.source.expanded = expanded;
        self
    }

    /// Compiles it to bitcode; gives the compiler's messages, too.
    fn compile(&self) -> Result<(Vec<u8>, Log), Log> {
        let compiled = kept(self.entry("compile").as_ref(), || {
            let (bitcode, log) =
                first_that_knows(compilers(), self.source.target)?.compile(&self.source)?;
            Ok(Compiled {
                bitcode,
                executable: Vec::new(),
                log,
            })
        })?;
        Ok((compiled.bitcode, compiled.log))
    }

    /// Where the cache keeps what comes of it by a step; `None` if it is not to be kept.
    fn entry(&self, step: &str) -> Option<(PathBuf, String)> {
        let folder = cache::folder().filter(|_| !self.reads_files)?;
        let source = &self.source;
        let mut parts = vec![
            KIND.to_owned(),
            step.to_owned(),
            source.text.to_owned(),
            source.target.to_owned(),
            source.options.join("\n"),
            source.extensions.join("\n"),
            source.expanded.unwrap_or_default().to_owned(),
        ];
        for header in source.headers {
            parts.extend([header.name.clone(), header.text.clone()]);
        }
        parts.extend_from_slice(identities());
        Some((folder, cache::key(parts.iter().map(String::as_str))))
    }
}

/// Takes what is kept, or makes it and keeps it.
fn kept(
    entry: Option<&(PathBuf, String)>,
    make: impl FnOnce() -> Result<Compiled, Log>,
) -> Result<Compiled, Log> {
    let Some((folder, key)) = entry else {
        return make();
    };
    if let Some(found) = cache::read(folder, key) {
        return Ok(found.compiled);
    }
    let compiled = make()?;
    let entry = Entry {
        compiled,
        names: Vec::new(),
    };
    cache::write(folder, key, &entry);
    Ok(entry.compiled)
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
    let job = Job::new(text, headers, options, target);
    let whole = job.expanded();
    job.with(whole.as_deref()).compile()
}

/// Makes a code object of a source; gives the messages of compiler and linker, too.
///
/// # Errors
/// The messages, or what is missing.
pub fn build(text: &str, options: &Options, target: &str) -> Result<(Vec<u8>, Log), Log> {
    let job = Job::new(text, &[], options, target);
    let whole = job.expanded();
    let job = job.with(whole.as_deref());
    if job.reads_files || job.source.may_print() {
        let (bitcode, log) = job.compile()?;
        return match link(&[&bitcode], options, target) {
            Ok((code, said)) => Ok((code, log + &said)),
            Err(said) => Err(log + &said),
        };
    }
    let compiled = kept(
        job.entry(&format!("build {:?}", options.math)).as_ref(),
        || {
            let (executable, log) =
                first_that_knows(compilers(), target)?.build(&job.source, options.math)?;
            Ok(Compiled {
                bitcode: Vec::new(),
                executable,
                log,
            })
        },
    )?;
    Ok((compiled.executable, compiled.log))
}

/// Links bitcode to a code object; gives the linker's messages, too.
///
/// # Errors
/// The linker's messages, or what is missing.
pub fn link(pieces: &[&[u8]], options: &Options, target: &str) -> Result<(Vec<u8>, Log), Log> {
    let entry = cache::folder().map(|folder| {
        let mut parts = vec![
            KIND.as_bytes().to_vec(),
            b"link".to_vec(),
            target.as_bytes().to_vec(),
            format!("{:?}", options.math).into_bytes(),
        ];
        parts.extend(pieces.iter().map(|piece| piece.to_vec()));
        parts.extend(
            identities()
                .iter()
                .map(|identity| identity.clone().into_bytes()),
        );
        (folder, cache::key_of_bytes(parts.iter().map(Vec::as_slice)))
    });
    let compiled = kept(entry.as_ref(), || {
        let (executable, log) =
            first_that_knows(compilers(), target)?.link(pieces, target, options.math)?;
        Ok(Compiled {
            bitcode: Vec::new(),
            executable,
            log,
        })
    })?;
    Ok((compiled.executable, compiled.log))
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
