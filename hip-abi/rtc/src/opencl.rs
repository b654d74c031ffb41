//! OpenCL C to code objects, through clang and lld or AMD's libamd_comgr: [`OpenCl::compile`] makes bitcode of a source, [`OpenCl::link`] a
//! code object of bitcode and the device libraries, and [`OpenCl::build`] a code object of a source at once.
//!
//! clang comes first where both are there: programs that build in several threads do so side by side, its mistakes do not end the process, and
//! no argument of printf is lost.

use std::fmt::Write as _;

use crate::compiler::{Header, Log};

mod driver;
mod formats;
mod library;
mod parts;

use driver::Driver;
use library::Library;

/// A source to compile.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// OpenCL C.
    pub text: &'a str,
    /// Headers that it may include by name.
    pub headers: &'a [Header],
    /// What [`OpenCl::expand`] has made of it, if it was asked to.
    pub expanded: Option<&'a str>,
    /// The compiler's options: macros, folders, `-cl-std=…` and other `-cl-…`.
    pub options: &'a [String],
    /// Extensions and features, each with `+` or `-` before it.
    pub extensions: &'a [String],
    /// Target ID: `gfx90a:xnack-`.
    pub target: &'a str,
}

/// How the device libraries' functions calculate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Math {
    /// Subnormal numbers are zero.
    pub denormals_are_zero: bool,
    /// There are no infinities and NaNs.
    pub finite_only: bool,
    /// Speed before accuracy.
    pub unsafe_math: bool,
    /// Single precision division and square root are correctly rounded.
    pub correctly_rounded: bool,
}

/// A compiler of OpenCL C.
#[derive(Debug)]
pub enum OpenCl {
    /// A clang driver.
    Clang(Driver),
    /// AMD's library.
    Comgr(Library),
}

impl Source<'_> {
    /// Whether it may call `printf`, as far as one can see; files that it includes are seen in the expanded text alone.
    pub fn may_print(&self) -> bool {
        self.mentions("printf")
    }

    /// Whether its device code may enqueue.
    fn enqueues(&self) -> bool {
        self.mentions(ENQUEUE)
    }

    /// Whether it may call what [`BLOCK_QUERIES`] has.
    fn asks_about_blocks(&self) -> bool {
        self.mentions(OF_A_RANGE)
    }

    fn mentions(&self, word: &str) -> bool {
        self.texts().any(|text| text.contains(word))
    }

    /// All that the compiler reads of it.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let own = self.headers.iter().map(|header| header.text.as_str());
        let own = std::iter::once(self.text)
            .chain(own)
            .chain(self.options.iter().map(String::as_str));
        let (own, expanded) = match self.expanded {
            Some(text) => (None, Some(text)),
            None => (Some(own), None),
        };
        own.into_iter().flatten().chain(expanded)
    }
}

/// Begins the names of the functions that enqueue from device code, in sources and in bitcode.
const ENQUEUE: &str = "enqueue_";

/// Ends the names of the queries of blocks that [`BLOCK_QUERIES`] answers.
const OF_A_RANGE: &str = "_for_ndrange";

/// OpenCL C of functions that the device libraries lack.
const BLOCK_QUERIES: &str = include_str!("opencl/block_queries.cl");

/// Name under which it is included.
const BLOCK_QUERIES_FILE: &str = "gneiss_block_queries.cl";

/// The device libraries write events as pointers and read wait lists as integers, which type-based alias analysis takes for different
/// memory: it drops the writes where both are inlined.
const NO_TYPE_BASED_ALIASES: [&str; 2] = ["-mllvm", "-enable-tbaa=false"];

/// What is missing where there is no compiler.
pub const MISSING: &str = "no OpenCL C compiler was found. It needs clang with lld and the device libraries (Debian: clang-15 lld-15 \
     rocm-device-libs), or libamd_comgr with the headers of a clang of its version (Debian: libamd-comgr2 libclang-common-15-dev). Looked \
     for: clang in HIP_CLANG_PATH, ROCM_PATH/llvm/bin, /opt/rocm/llvm/bin, /usr/lib/llvm-*/bin and PATH; amdgcn/bitcode in \
     HIP_DEVICE_LIB_PATH, ROCM_PATH, /opt/rocm and the system's folders; libamd_comgr.so.3 and .2 in LD_LIBRARY_PATH, ROCM_PATH, /opt/rocm \
     and the system's folders; opencl-c-base.h in lib/clang/* of ROCM_PATH/llvm, /opt/rocm/llvm and /usr/lib/llvm-*.\n";

impl OpenCl {
    /// The compilers of this machine, the preferred first; `wanted` keeps to one kind, as `GNEISS_HIPRTC_COMPILER` says.
    pub fn find_all(wanted: &str) -> Vec<OpenCl> {
        let mut found = Vec::new();
        if wanted.is_empty() || wanted == "clang" {
            found.extend(Driver::find_all().into_iter().map(OpenCl::Clang));
        }
        if wanted.is_empty() || wanted == "comgr" {
            found.extend(Library::find().map(OpenCl::Comgr));
        }
        found
    }

    /// What tells this compiler from another one, for keys of the cache.
    pub fn identity(&self) -> String {
        match self {
            Self::Clang(driver) => driver.identity(),
            Self::Comgr(library) => library.identity(),
        }
    }

    /// Whether it knows a target ID.
    pub fn knows(&self, target: &str) -> bool {
        match self {
            Self::Clang(driver) => driver.knows(target),
            Self::Comgr(library) => library.knows(target),
        }
    }

    /// The text of a source with all files that it includes, without what OpenCL C itself declares.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn expand(&self, source: &Source<'_>) -> Result<String, Log> {
        let text = match self {
            Self::Clang(driver) => driver.expand(source),
            Self::Comgr(library) => library.expand(source),
        }?;
        Ok(without_declarations(&text))
    }

    /// Compiles a source to bitcode; gives what the compiler said, too.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, source: &Source<'_>) -> Result<(Vec<u8>, Log), Log> {
        match self {
            Self::Clang(driver) => driver.compile(source),
            Self::Comgr(library) => library.compile(source),
        }
    }

    /// Compiles a source that does not print to a code object; gives what compiler and linker said, too. The same as [`compile`](Self::compile)
    /// and [`link`](Self::link), in less time.
    ///
    /// # Errors
    /// The messages.
    pub fn build(&self, source: &Source<'_>, math: Math) -> Result<(Vec<u8>, Log), Log> {
        match self {
            Self::Clang(driver) => driver.build(source, math),
            Self::Comgr(library) => library.build(source, math),
        }
    }

    /// Links bitcode and the device libraries to a code object; gives what the linker said, too.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(&self, pieces: &[&[u8]], target: &str, math: Math) -> Result<(Vec<u8>, Log), Log> {
        match self {
            Self::Clang(driver) => driver.link(pieces, target, math),
            Self::Comgr(library) => library.link(pieces, target, math),
        }
    }
}

/// Whether device code of some bitcode may enqueue.
fn enqueues(pieces: &[&[u8]]) -> bool {
    pieces.iter().any(|piece| {
        piece
            .windows(ENQUEUE.len())
            .any(|part| part == ENQUEUE.as_bytes())
    })
}

/// Preprocessed text without the lines of the header that declares what OpenCL C has.
fn without_declarations(text: &str) -> String {
    let mut declarations = false;
    let lines = text.lines().filter(|line| {
        // `# 12 "file" 1 3` says where the next lines come from.
        let marker = line
            .strip_prefix("# ")
            .and_then(|rest| rest.split_once(" \""));
        if let Some((number, file)) = marker
            && number.parse::<u32>().is_ok()
        {
            let name = file.rsplit_once('"').map_or(file, |(name, _)| name);
            declarations = name.ends_with("opencl-c-base.h");
        }
        !declarations
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The first compiler that knows a target.
///
/// # Errors
/// What to install.
pub fn first_that_knows<'a>(compilers: &'a [OpenCl], target: &str) -> Result<&'a OpenCl, Log> {
    if let Some(compiler) = compilers.iter().find(|compiler| compiler.knows(target)) {
        return Ok(compiler);
    }
    if compilers.is_empty() {
        return Err(MISSING.to_owned());
    }
    let mut log = format!(
        "no compiler here knows the target {target}, or has device libraries for it. Asked were:\n"
    );
    for compiler in compilers {
        let _ = writeln!(log, "  {}", compiler.identity());
    }
    Err(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opencl_c_declares_is_not_part_of_a_program() {
        let text = "# 1 \"a.cl\"\n# 1 \"/lib/opencl-c-base.h\" 1 3\nint printf();\n# 1 \"a.cl\" 2\nint x;\n# comment\n";
        assert_eq!(
            without_declarations(text),
            "# 1 \"a.cl\"\n# 1 \"a.cl\" 2\nint x;\n# comment"
        );
    }

    #[test]
    fn without_a_compiler_the_log_says_what_to_install() {
        let log = first_that_knows(&[], "gfx90a").map(|_| ()).unwrap_err();
        for word in ["clang-15", "lld-15", "rocm-device-libs", "libamd-comgr2"] {
            assert!(log.contains(word), "{log}");
        }
    }
}
