//! OpenCL C through AMD's `libamd_comgr`, which has clang, lld and the device libraries in it, but not the declarations of OpenCL C's functions:
//! those come from the headers of a clang of its version. Of printf, LLVM 15 loses the arguments for `%F` and `%A`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::{
    BLOCK_QUERIES, BLOCK_QUERIES_FILE, Math, NO_TYPE_BASED_ALIASES, Source, enqueues, parts::Parts,
};
use crate::{
    clang::Clang,
    comgr::{
        library::{
            self as comgr, ADD_DEVICE_LIBRARIES, About, COMPILE_SOURCE_TO_BC,
            COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC, KIND_BC, KIND_INCLUDE, KIND_SOURCE,
            LANGUAGE_OPENCL, LINK_BC_TO_BC, Loaded, PREPROCESS, Set,
        },
        wavefront_is_64,
    },
    compiler::{Log, file_identity, rocm_folders},
};

/// The header of clang that declares what OpenCL C has.
const DECLARATIONS: &str = "include/opencl-c-base.h";

/// Something whose bitcode has a pointer without a type. LLVM 15 links in the mode of the first module: in the mode of these it reads those with
/// types, too, but not the other way round, and the device libraries have none.
const UNTYPED: &str = "__attribute__((weak, visibility(\"hidden\"))) global int *__gneiss_untyped(global int *pointer) { return pointer; }\n";

/// The library, and where headers for it may be.
#[derive(Debug)]
pub struct Library {
    library: comgr::Library,
    /// Folders of clang's headers and the like, of several versions.
    resources: Vec<PathBuf>,
    /// The major version of the library's clang, and the folder for it.
    chosen: OnceLock<Option<(u32, PathBuf)>>,
    /// A clang of the same version, which can take the device libraries apart.
    clang: OnceLock<Option<Clang>>,
    parts: Parts,
}

/// Folders that clangs of this machine keep their headers in: `LLVM/lib/clang/VERSION`.
fn resources() -> Vec<PathBuf> {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let rocm = rocm_folders().into_iter().map(|folder| folder.join("llvm"));
    rocm.chain(names(Path::new("/usr/lib")).into_iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("llvm")
    }))
    .flat_map(|llvm| names(&llvm.join("lib/clang")))
    .filter(|folder| folder.join(DECLARATIONS).exists())
    .collect()
}

impl Library {
    /// The library, if it and headers of some clang are installed.
    pub fn find() -> Option<Library> {
        let library = comgr::Library::find()?;
        let resources = resources();
        (!resources.is_empty()).then_some(Library {
            library,
            resources,
            chosen: OnceLock::new(),
            clang: OnceLock::new(),
            parts: Parts::default(),
        })
    }

    /// See [`OpenCl::identity`](super::OpenCl::identity).
    pub fn identity(&self) -> String {
        let headers = self
            .resources
            .iter()
            .map(|folder| folder.join(DECLARATIONS));
        std::iter::once(self.library.path().to_owned())
            .chain(headers)
            .map(|path| file_identity(&path))
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Whether it has code generation for a target ID, and headers are there.
    pub fn knows(&self, target: &str) -> bool {
        self.library.knows(target) && self.chosen(target).is_some()
    }

    /// The version of the library's clang, and headers of the same version.
    fn chosen(&self, target: &str) -> Option<&(u32, PathBuf)> {
        let choose = || {
            let loaded = self.library.open().ok()?;
            let _turn = loaded.turn();
            let input = loaded.set().ok()?;
            input
                .add(KIND_SOURCE, "version.cl", b"__clang_major__\n")
                .ok()?;
            let about = about(target);
            let output = loaded.action(PREPROCESS, about, &input, &[], &mut String::new());
            let text = output.ok()?.get(KIND_SOURCE)?;
            let text = String::from_utf8_lossy(&text);
            let major: u32 = text
                .lines()
                .rev()
                .find_map(|line| line.trim().parse().ok())?;
            let folder = self.resources.iter().find(|folder| {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                name.split('.').next() == Some(&major.to_string())
            })?;
            Some((major, folder.clone()))
        };
        self.chosen.get_or_init(choose).as_ref()
    }

    fn ready(&self, target: &str) -> Result<(&'static Loaded, &(u32, PathBuf)), Log> {
        let loaded = self.library.open()?;
        match self.chosen(target) {
            Some(chosen) => Ok((loaded, chosen)),
            None => Err(format!(
                "{}: there are no headers of a clang of its version ({DECLARATIONS})\n",
                self.library.path().display()
            )),
        }
    }

    /// Runs an action on a source; with the turn taken.
    fn run<'a>(
        loaded: &'a Loaded,
        (major, resources): &(u32, PathBuf),
        source: &Source<'_>,
        action: u32,
        more: &[&str],
        log: &mut Log,
    ) -> Result<Set<'a>, Log> {
        let input = loaded.set()?;
        input.add(KIND_SOURCE, "source.cl", source.text.as_bytes())?;
        for header in source.headers {
            input.add(KIND_INCLUDE, &header.name, header.text.as_bytes())?;
        }
        let resources = resources.display().to_string();
        let mut options = vec![
            "-O3",
            "-cl-kernel-arg-info",
            "-mcode-object-version=4",
            "-resource-dir",
            &resources,
            "-Xclang",
            "-fdeclare-opencl-builtins",
            "-Xclang",
            "-finclude-default-header",
            "-Wno-unused-command-line-argument",
        ];
        if *major == 15 && source.may_print() {
            // Its pass for printf does not understand opaque pointers: it loses the calls.
            options.extend(["-Xclang", "-no-opaque-pointers"]);
        }
        if source.enqueues() {
            options.extend(NO_TYPE_BASED_ALIASES);
        }
        if source.asks_about_blocks() {
            input.add(KIND_INCLUDE, BLOCK_QUERIES_FILE, BLOCK_QUERIES.as_bytes())?;
            options.extend(["-include", BLOCK_QUERIES_FILE]);
        }
        let extensions = format!("-cl-ext={}", source.extensions.join(","));
        if !source.extensions.is_empty() {
            options.extend(["-Xclang", &extensions]);
        }
        options.extend(source.options.iter().map(String::as_str));
        options.extend(more);
        loaded.action(action, about(source.target), &input, &options, log)
    }

    /// See [`OpenCl::expand`](super::OpenCl::expand), with what OpenCL C declares.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn expand(&self, source: &Source<'_>) -> Result<String, Log> {
        let (loaded, chosen) = self.ready(source.target)?;
        let _turn = loaded.turn();
        let expanded = Self::run(loaded, chosen, source, PREPROCESS, &[], &mut String::new())?;
        match expanded.get(KIND_SOURCE) {
            Some(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            None => Err("libamd_comgr gave no text\n".to_owned()),
        }
    }

    /// See [`OpenCl::compile`](super::OpenCl::compile).
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, source: &Source<'_>) -> Result<(Vec<u8>, Log), Log> {
        let (loaded, chosen) = self.ready(source.target)?;
        let _turn = loaded.turn();
        let mut log = String::new();
        let compiled = Self::run(loaded, chosen, source, COMPILE_SOURCE_TO_BC, &[], &mut log)?;
        match compiled.get(KIND_BC) {
            Some(bitcode) => Ok((bitcode, log)),
            None => Err("libamd_comgr gave no bitcode\n".to_owned()),
        }
    }

    /// See [`OpenCl::build`](super::OpenCl::build).
    ///
    /// # Errors
    /// The messages.
    pub fn build(&self, source: &Source<'_>, math: Math) -> Result<(Vec<u8>, Log), Log> {
        let (loaded, chosen) = self.ready(source.target)?;
        let _turn = loaded.turn();
        let code = |compiled: &Set<'_>, log: &mut Log| {
            let options = if source.enqueues() {
                NO_TYPE_BASED_ALIASES.map(String::from).to_vec()
            } else {
                Vec::new()
            };
            loaded.code(about(source.target), compiled, &options, log)
        };
        let clang = self.clang.get_or_init(|| {
            let mut all = Clang::find_for_opencl().into_iter();
            all.find(|clang| clang.version() == chosen.0)
        });
        let libraries = clang
            .as_ref()
            .and_then(|clang| self.parts.of(clang, source, math));
        if let Some(libraries) = libraries {
            let libraries: Vec<String> = libraries
                .iter()
                .map(|library| library.display().to_string())
                .collect();
            let more: Vec<&str> = libraries
                .iter()
                .flat_map(|library| ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", library])
                .chain(["-nogpulib"])
                .collect();
            let (action, mut log) = (COMPILE_SOURCE_TO_BC, String::new());
            let compiled = Self::run(loaded, chosen, source, action, &more, &mut log)?;
            if let Ok(code) = code(&compiled, &mut log) {
                return Ok((code, log));
            }
        }
        let (action, mut log) = (COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC, String::new());
        let compiled = Self::run(loaded, chosen, source, action, &[], &mut log)?;
        let code = code(&compiled, &mut log)?;
        Ok((code, log))
    }

    /// See [`OpenCl::link`](super::OpenCl::link).
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(&self, pieces: &[&[u8]], target: &str, math: Math) -> Result<(Vec<u8>, Log), Log> {
        let (loaded, chosen) = self.ready(target)?;
        let _turn = loaded.turn();
        let (about, mut log) = (about(target), String::new());
        let switches = [
            ("code_object_v4", true),
            ("wavefrontsize64", wavefront_is_64(target, &[])),
            ("daz_opt", math.denormals_are_zero),
            ("finite_only", math.finite_only),
            ("unsafe_math", math.unsafe_math),
            ("correctly_rounded_sqrt", math.correctly_rounded),
        ];
        let switches: Vec<&str> = switches
            .into_iter()
            .filter_map(|(name, on)| on.then_some(name))
            .collect();
        let libraries = loaded.action(
            ADD_DEVICE_LIBRARIES,
            about,
            &loaded.set()?,
            &switches,
            &mut log,
        )?;
        let input = loaded.set()?;
        if chosen.0 == 15 {
            let first = Source {
                text: UNTYPED,
                headers: &[],
                expanded: None,
                options: &[],
                extensions: &[],
                target,
            };
            let first = Self::run(
                loaded,
                chosen,
                &first,
                COMPILE_SOURCE_TO_BC,
                &[],
                &mut String::new(),
            )?;
            input.add_all(&first, KIND_BC)?;
        }
        for (index, piece) in pieces.iter().enumerate() {
            input.add(KIND_BC, &format!("{index}.bc"), piece)?;
        }
        input.add_all(&libraries, KIND_BC)?;
        let whole = loaded.action(LINK_BC_TO_BC, about, &input, &[], &mut log)?;
        let options = if enqueues(pieces) {
            NO_TYPE_BASED_ALIASES.map(String::from).to_vec()
        } else {
            Vec::new()
        };
        let code = loaded.code(about, &whole, &options, &mut log)?;
        Ok((code, log))
    }
}

fn about(target: &str) -> About<'_> {
    About {
        language: LANGUAGE_OPENCL,
        target,
    }
}
