//! The compilers that may be there, and what they are asked to do.
//!
//! [`candidates`] looks for files only, so that a hit in the cache costs no process and opens no library. Whether a candidate knows
//! the target is asked when something is to be compiled; the first that does is taken. `GNEISS_HIPRTC_COMPILER=comgr|clang|none` keeps
//! to one kind.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{clang::Clang, comgr::Comgr, options::Options};

/// A piece of text with the name under which source includes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name: `kernels/common.h`.
    pub name: String,
    /// Text.
    pub text: String,
}

/// What is to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// File name of the source, for messages.
    pub name: &'a str,
    /// Source.
    pub source: &'a str,
    /// Headers that the program gave.
    pub headers: &'a [Header],
    /// Options.
    pub options: &'a Options,
    /// Target ID: `gfx90a:xnack-`.
    pub target: &'a str,
}

impl Job<'_> {
    /// The code object of a compilation. A piece of relocatable device code may miss what other pieces have: then there is none.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn executable(&self, made: Result<Vec<u8>, Log>) -> Result<Vec<u8>, Log> {
        if self.options.rdc {
            Ok(made.unwrap_or_default())
        } else {
            made
        }
    }
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// LLVM bitcode with the device libraries.
    pub bitcode: Vec<u8>,
    /// Code object.
    pub executable: Vec<u8>,
    /// What the compiler said.
    pub log: String,
}

/// A compiler.
#[derive(Debug)]
pub enum Compiler {
    /// AMD's library.
    Comgr(Comgr),
    /// A clang driver.
    Clang(Clang),
}

/// A failure: what the compiler said, or what is missing.
pub type Log = String;

impl Compiler {
    /// What tells this compiler from another one, for keys of the cache.
    pub fn identity(&self) -> String {
        match self {
            Self::Comgr(comgr) => comgr.identity(),
            Self::Clang(clang) => clang.identity(),
        }
    }

    /// Whether it makes code for a target ID.
    pub fn knows(&self, target: &str) -> bool {
        match self {
            Self::Comgr(comgr) => comgr.knows(target),
            Self::Clang(clang) => clang.knows(processor(target)),
        }
    }

    /// Compiles source to bitcode and a code object.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, job: &Job<'_>) -> Result<Compiled, Log> {
        match self {
            Self::Comgr(comgr) => comgr.compile(job),
            Self::Clang(clang) => clang.compile(job),
        }
    }

    /// Links pieces of bitcode to a code object.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(
        &self,
        pieces: &[Vec<u8>],
        target: &str,
        options: &[String],
    ) -> Result<Compiled, Log> {
        match self {
            Self::Comgr(comgr) => comgr.link(pieces, target, options),
            Self::Clang(clang) => clang.link(pieces, target, options),
        }
    }
}

/// The compilers of this machine, the preferred first.
///
/// # Errors
/// A variable of ours with a value that is not accepted, also on stderr: many programs show no log.
pub fn candidates() -> Result<Vec<Compiler>, Log> {
    gneiss_settings::check().map_err(|refused| {
        let lines: String = refused
            .iter()
            .map(|error| format!("hiprtc: {error}\n"))
            .collect();
        eprint!("{lines}");
        lines
    })?;
    let wanted = gneiss_settings::text("GNEISS_HIPRTC_COMPILER").unwrap_or_default();
    let mut found = Vec::new();
    if wanted.is_empty() || wanted == "comgr" {
        found.extend(Comgr::find().map(Compiler::Comgr));
    }
    if wanted.is_empty() || wanted == "clang" {
        found.extend(Clang::find_all().into_iter().map(Compiler::Clang));
    }
    Ok(found)
}

/// The first candidate that knows the target.
///
/// # Errors
/// What to install.
pub fn choose<'a>(candidates: &'a [Compiler], target: &str) -> Result<&'a Compiler, Log> {
    if let Some(compiler) = candidates.iter().find(|compiler| compiler.knows(target)) {
        return Ok(compiler);
    }
    let mut log = String::new();
    if candidates.is_empty() {
        log.push_str(
            "hiprtc: no compiler was found. It needs either libamd_comgr.so with libhiprtc-builtins.so (Debian: libamd-comgr2 and libamdhip64-5), \
             or clang with lld, HIP's headers and the device libraries (Debian: clang-15 lld-15 libamdhip64-dev rocm-device-libs). Looked for: \
             libamd_comgr.so.3 and .2 in LD_LIBRARY_PATH, ROCM_PATH, /opt/rocm and the system's folders; clang in HIP_CLANG_PATH, ROCM_PATH/llvm/bin, \
             /opt/rocm/llvm/bin, /usr/lib/llvm-*/bin and PATH; hip/hip_runtime.h in HIP_PATH, ROCM_PATH, /opt/rocm and /usr; amdgcn/bitcode in \
             HIP_DEVICE_LIB_PATH, ROCM_PATH, /opt/rocm and the system's folders.\n",
        );
    } else {
        let _ = writeln!(
            log,
            "hiprtc: no compiler here knows the target {target}. Asked were:"
        );
        for compiler in candidates {
            let _ = writeln!(log, "  {}", compiler.identity());
        }
    }
    Err(log)
}

/// The processor of a target ID: `gfx90a` of `gfx90a:xnack-`.
pub fn processor(target: &str) -> &str {
    target.split(':').next().unwrap_or(target)
}

/// Path, size and time of change of a file, resolved.
pub fn file_identity(path: &Path) -> String {
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&resolved) {
        Ok(data) => format!(
            "{} {} {}.{}",
            resolved.display(),
            data.len(),
            data.mtime(),
            data.mtime_nsec()
        ),
        Err(_) => resolved.display().to_string(),
    }
}

/// `$ROCM_PATH` if it is set, and `/opt/rocm`.
pub fn rocm_folders() -> Vec<PathBuf> {
    std::env::var_os("ROCM_PATH")
        .into_iter()
        .map(PathBuf::from)
        .chain([PathBuf::from("/opt/rocm")])
        .collect()
}

/// The system's folders of shared libraries.
pub const LIBRARY_FOLDERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib",
    "/usr/lib64",
    "/usr/lib",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_compiler_the_log_says_what_to_install() {
        let log = choose(&[], "gfx90a").map(|_| ()).unwrap_err();
        for word in [
            "libamd-comgr2",
            "clang-15",
            "rocm-device-libs",
            "libamdhip64-dev",
        ] {
            assert!(log.contains(word), "{log}");
        }
    }

    #[test]
    fn processors() {
        assert_eq!(processor("gfx90a:sramecc+:xnack-"), "gfx90a");
        assert_eq!(processor("gfx1030"), "gfx1030");
    }
}
