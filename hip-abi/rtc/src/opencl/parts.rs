//! The device libraries in parts, so that the compiler reads those alone that a program calls.
//!
//! `opencl.bc` defines more than twelve thousand functions, and the compiler reads all their declarations for every program: half of the time of
//! a small one. A part has the functions of one kind, with what they call in `opencl.bc`, `ocml.bc` and `ockl.bc`. Which parts a program wants
//! is told by the words in its text. A function that no word names, since a macro puts the name together, is missed by the linker, and the
//! program is then compiled with the whole libraries.
//!
//! The parts are made by the compiler, of LLVM's text, once for each compiler and version of the libraries, in the folder of the cache.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{Math, Source};
use crate::{
    cache,
    clang::{self, Clang},
    compiler::{Log, file_identity, processor},
};

mod module;

use module::Module;

/// Part of every key: changes with what the parts have.
const KIND: &str = "OpenCL parts 1";

/// The libraries that are taken apart, in the order in which they call each other.
const LIBRARIES: [&str; 3] = ["opencl.bc", "ocml.bc", "ockl.bc"];

/// The list of words, written when all else is there.
const WORDS: &str = "words";

/// Kinds of functions, by how their names begin; the last has the others.
const KINDS: [&[&str]; 5] = [
    &[
        "get_",
        "atom_",
        "atomic_",
        "barrier",
        "mem_fence",
        "read_mem_fence",
        "write_mem_fence",
        "work_group_barrier",
        "sub_group_barrier",
    ],
    &["convert_"],
    &["read_image", "write_image", "get_image"],
    &["vload", "vstore", "async_", "prefetch", "shuffle", "wait_"],
    &[],
];

/// Words of programs that the compiler turns into calls of functions with other names.
const TRANSLATED: [&str; 6] = [
    "pipe",
    "enqueue_",
    "get_kernel_",
    "sampler",
    "SAMPLER",
    "CLK_ADDRESS_",
];

/// Programs that a process builds before it is worth to take the libraries apart.
const BEFORE_PARTS: usize = 4;

/// In the names of macros that say what the device can, which are in every program's options.
const FEATURE: &str = "__opencl_c_";

/// The parts for one compiler, when they are there.
#[derive(Debug, Default)]
pub struct Parts {
    /// How many programs were built.
    built: AtomicUsize,
    made: OnceLock<Option<Made>>,
}

/// The parts, and which words want them.
#[derive(Debug)]
struct Made {
    folder: PathBuf,
    words: HashMap<String, usize>,
}

/// The kind of a function.
fn kind(name: &str) -> usize {
    // The longest beginning decides: `get_image_width` is an image's.
    let begins = |kind: &usize| {
        let beginnings = KINDS[*kind].iter();
        beginnings
            .filter(|beginning| name.starts_with(**beginning))
            .map(|beginning| beginning.len())
            .max()
    };
    (0..KINDS.len())
        .filter_map(|kind| Some((begins(&kind)?, kind)))
        .max()
        .map_or(KINDS.len() - 1, |(_, kind)| kind)
}

/// The name that a program calls a function by: `barrier` of `_Z7barrierj`. Others are called by no program.
fn word(symbol: &str) -> Option<&str> {
    let rest = symbol.strip_prefix("_Z")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (length, rest) = rest.split_at(digits);
    rest.get(..length.parse().ok()?)
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
}

/// The file of a library in a part.
fn file(part: usize, library: &str) -> String {
    format!("{part}-{library}")
}

impl Parts {
    /// The libraries for a source, in parts where that is enough; `None` if it takes [`whole`] libraries. The parts are made by a clang, when
    /// programs enough were built.
    pub fn of(&self, clang: &Clang, source: &Source<'_>, math: Math) -> Option<Vec<PathBuf>> {
        let enough = self.built.fetch_add(1, Ordering::Relaxed) >= BEFORE_PARTS;
        let made = match self.made.get() {
            Some(made) => made.as_ref(),
            None => match Made::find(clang) {
                None if !enough => None,
                found => self
                    .made
                    .get_or_init(|| found.or_else(|| Made::make(clang)))
                    .as_ref(),
            },
        };
        let mut files = made?.of(source)?;
        let (folder, target) = (clang.device_libraries(), source.target);
        files.extend(switches(folder, target, math));
        Some(files)
    }
}

/// The device libraries for a target.
pub fn whole(folder: &Path, target: &str, math: Math) -> Vec<PathBuf> {
    let files = LIBRARIES.map(|library| folder.join(library)).into_iter();
    files.chain(switches(folder, target, math)).collect()
}

/// The libraries that say how the others' functions calculate.
fn switches(folder: &Path, target: &str, math: Math) -> impl Iterator<Item = PathBuf> {
    let switch = |name: &str, on: bool| format!("oclc_{name}_{}.bc", if on { "on" } else { "off" });
    let files = [
        switch("daz_opt", math.denormals_are_zero),
        switch("finite_only", math.finite_only),
        switch("unsafe_math", math.unsafe_math),
        switch("correctly_rounded_sqrt", math.correctly_rounded),
        switch(
            "wavefrontsize64",
            crate::comgr::wavefront_is_64(target, &[]),
        ),
        "oclc_abi_version_400.bc".to_owned(),
    ];
    files
        .map(|file| folder.join(file))
        .into_iter()
        // Libraries before ROCm 5.1 have no versions of the ABI.
        .filter(|file| file.exists())
        .chain([isa_library(folder, target)])
}

/// The library that says which processor it is.
pub fn isa_library(folder: &Path, target: &str) -> PathBuf {
    let number = processor(target).strip_prefix("gfx").unwrap_or_default();
    folder.join(format!("oclc_isa_version_{number}.bc"))
}

impl Made {
    /// The folder of the parts of some libraries for a compiler; `None` if nothing is to be kept.
    fn folder(clang: &Clang) -> Option<PathBuf> {
        let files = LIBRARIES.map(|library| clang.device_libraries().join(library));
        let mut parts = vec![KIND.to_owned(), file_identity(clang.path())];
        parts.extend(files.iter().map(|file| file_identity(file)));
        let key = cache::key(parts.iter().map(String::as_str));
        Some(cache::folder()?.join(format!("libraries-{key}")))
    }

    /// The parts that were made before.
    fn find(clang: &Clang) -> Option<Made> {
        Self::open(Self::folder(clang)?)
    }

    fn open(folder: PathBuf) -> Option<Made> {
        let list = fs::read_to_string(folder.join(WORDS)).ok()?;
        let words = list.lines().map(|line| {
            let (word, part) = line.split_once(' ')?;
            Some((word.to_owned(), part.parse().ok()?))
        });
        Some(Made {
            words: words.collect::<Option<_>>()?,
            folder,
        })
    }

    /// Makes the parts; `None` if that fails, and programs get the whole libraries as ever.
    fn make(clang: &Clang) -> Option<Made> {
        let folder = Self::folder(clang)?;
        let parent = folder.parent()?;
        fs::create_dir_all(parent).ok()?;
        // Beside its place, and renamed when it is whole: another process may do the same.
        let making = tempfile::Builder::new()
            .prefix("libraries-making-")
            .tempdir_in(parent)
            .ok()?;
        let list = make_in(clang, making.path()).ok()?;
        fs::write(making.path().join(WORDS), list).ok()?;
        let _ = fs::rename(making.path(), &folder);
        Self::open(folder)
    }

    /// What a source wants instead of the [`LIBRARIES`]; `None`: all of them.
    fn of(&self, source: &Source<'_>) -> Option<Vec<PathBuf>> {
        let mut parts = BTreeSet::new();
        for text in source.texts() {
            for word in words(text) {
                if let Some(part) = self.words.get(word) {
                    parts.insert(*part);
                } else if !word.contains(FEATURE)
                    && TRANSLATED.iter().any(|part| word.contains(part))
                {
                    return None;
                }
            }
        }
        let files = parts
            .iter()
            .flat_map(|part| LIBRARIES.map(|library| self.folder.join(file(*part, library))));
        Some(files.filter(|file| file.exists()).collect())
    }
}

/// Makes the parts in a folder; gives the list of words.
fn make_in(clang: &Clang, folder: &Path) -> Result<String, Log> {
    let mut texts = Vec::new();
    for library in LIBRARIES {
        let text = folder.join("whole.ll");
        let library = clang.device_libraries().join(library);
        translate(clang, &library, &text, &["-S"])?;
        texts.push(fs::read_to_string(&text).map_err(|error| clang::failed(&text, &error))?);
        fs::remove_file(&text).map_err(|error| clang::failed(&text, &error))?;
    }
    let modules: Vec<Module<'_>> = texts.iter().map(|text| Module::new(text)).collect();
    let mut list = String::new();
    let mut known = HashSet::new();
    let mut wanted = vec![Vec::new(); KINDS.len()];
    for symbol in modules[0].defined() {
        if let Some(word) = word(symbol) {
            let part = kind(word);
            wanted[part].push(symbol.to_owned());
            if known.insert(word) {
                let _ = writeln!(list, "{word} {part}");
            }
        }
    }
    for (part, mut wanted) in wanted.into_iter().enumerate() {
        for (module, library) in modules.iter().zip(LIBRARIES) {
            let picked = module.pick(wanted.iter().map(String::as_str));
            wanted.extend(picked.needs);
            if picked.empty {
                continue;
            }
            let text = folder.join("part.ll");
            fs::write(&text, picked.text).map_err(|error| clang::failed(&text, &error))?;
            translate(clang, &text, &folder.join(file(part, library)), &["-c"])?;
            fs::remove_file(&text).map_err(|error| clang::failed(&text, &error))?;
        }
    }
    Ok(list)
}

/// Makes text of bitcode, or bitcode of text.
fn translate(clang: &Clang, from: &Path, to: &Path, more: &[&str]) -> Result<(), Log> {
    let mut arguments: Vec<&OsStr> = [
        "--target=amdgcn-amd-amdhsa",
        "-nogpulib",
        "-emit-llvm",
        "-Xclang",
        "-disable-llvm-passes",
        "-Wno-unused-command-line-argument",
        "-x",
        "ir",
    ]
    .iter()
    .chain(more)
    .map(OsStr::new)
    .collect();
    arguments.extend([from.as_os_str(), OsStr::new("-o"), to.as_os_str()]);
    let folder = to.parent().unwrap_or(Path::new("."));
    clang.run(&arguments, folder).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_kind_of_the_longest_beginning() {
        assert_eq!(kind("get_global_id"), 0);
        assert_eq!(kind("get_image_width"), 2);
        assert_eq!(kind("convert_char_sat"), 1);
        assert_eq!(kind("vstore_half16"), 3);
        assert_eq!(kind("sin"), KINDS.len() - 1);
    }

    #[test]
    fn symbols_are_called_by_their_word() {
        assert_eq!(word("_Z7barrierj"), Some("barrier"));
        assert_eq!(word("_Z3minDv2_iS_"), Some("min"));
        for other in ["__ockl_get_global_id", "_Z99x", "_Zx", "12"] {
            assert_eq!(word(other), None);
        }
    }

    fn source<'a>(text: &'a str, options: &'a [String]) -> Source<'a> {
        Source {
            text,
            headers: &[],
            expanded: None,
            options,
            extensions: &[],
            target: "gfx90a",
        }
    }

    #[test]
    fn a_program_wants_the_parts_of_its_words() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join(WORDS),
            "barrier 0\nsin 4\nget_global_id 0\n",
        )
        .unwrap();
        for name in ["0-opencl.bc", "0-ockl.bc", "4-opencl.bc"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let parts = Made::open(folder.path().to_owned()).unwrap();
        let options = ["-D__opencl_c_pipes=1", "-DB=barrier"].map(str::to_owned);
        let files_with = |text, options| {
            let files = parts.of(&source(text, options))?;
            let names = files.iter().map(|file| file.file_name().unwrap());
            Some(
                names
                    .map(|name| name.to_str().unwrap().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let files = |text| files_with(text, &options[..1]);
        assert_eq!(files_with("B(1)", &options), files("barrier(1)"));
        assert_eq!(
            files("kernel void f() { barrier(1); }").unwrap(),
            ["0-opencl.bc", "0-ockl.bc"]
        );
        assert_eq!(
            files("sin(get_global_id(0))").unwrap(),
            ["0-opencl.bc", "0-ockl.bc", "4-opencl.bc"]
        );
        assert!(files("int x;").unwrap().is_empty());
        assert_eq!(files("read_pipe(p, &x)"), None);
        assert!(Made::open(folder.path().join("none")).is_none());
    }
}
