//! OpenCL C through a clang driver, lld and the device libraries' files.
//!
//! Where programs print, the device libraries come in at the end, in the linker: clang's pass for printf needs the function undefined, which the
//! libraries define. A version script keeps their functions out of the result, and so what no kernel uses is not even compiled.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use super::{
    BLOCK_QUERIES, BLOCK_QUERIES_FILE, Math, NO_TYPE_BASED_ALIASES, Source, enqueues, formats,
    parts::{self, Parts},
};
use crate::{
    clang::{self, Clang},
    compiler::{Log, file_identity, processor},
};

/// A clang, with the device libraries.
#[derive(Debug)]
pub struct Driver {
    clang: Clang,
    parts: Parts,
}

/// Symbols of the device libraries: mangled builtins, their helpers, reserved names.
const VERSION_SCRIPT: &str = "{ global: *; local: _Z*; sh_[0-9]*; sh2_[0-9]*; __*; };\n";

impl Driver {
    /// The clangs of this machine, if the device libraries are there.
    pub fn find_all() -> Vec<Driver> {
        Clang::find_for_opencl()
            .into_iter()
            .map(|clang| Driver {
                clang,
                parts: Parts::default(),
            })
            .collect()
    }

    /// What tells this compiler from another one, for keys of the cache.
    pub fn identity(&self) -> String {
        let libraries = self.clang.device_libraries().join("opencl.bc");
        format!(
            "{}; {}",
            file_identity(self.clang.path()),
            file_identity(&libraries)
        )
    }

    /// Whether clang and the device libraries know a target ID.
    pub fn knows(&self, target: &str) -> bool {
        parts::isa_library(self.clang.device_libraries(), target).exists()
            && self.clang.knows(processor(target))
    }

    /// The compiler's arguments for device code in any form.
    fn for_target(target: &str) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = [
            "--target=amdgcn-amd-amdhsa",
            "-nogpulib",
            "-O3",
            "-mcode-object-version=4",
            "-Wno-unused-command-line-argument",
            // The warning is about this machine, not about the program.
            "-Wno-override-module",
        ]
        .map(OsString::from)
        .into();
        arguments.push(format!("-mcpu={target}").into());
        arguments
    }

    /// The compiler's arguments for a source that lies in a folder.
    fn arguments(source: &Source<'_>, folder: &Path) -> Vec<OsString> {
        let mut arguments = Self::for_target(source.target);
        arguments.extend(["-x", "cl", "-cl-kernel-arg-info"].map(OsString::from));
        if !source.extensions.is_empty() {
            arguments.push("-Xclang".into());
            arguments.push(format!("-cl-ext={}", source.extensions.join(",")).into());
        }
        arguments.extend(["-I".into(), folder.as_os_str().to_owned()]);
        arguments.extend(source.options.iter().map(OsString::from));
        arguments.push(folder.join("source.cl").into());
        arguments
    }

    /// Runs the compiler on a source, with more arguments; gives what came out, and what the compiler said.
    fn run(
        &self,
        source: &Source<'_>,
        folder: &Path,
        more: &[OsString],
    ) -> Result<(PathBuf, Log), Log> {
        clang::write_headers(folder, source.headers)?;
        let mut arguments = Self::arguments(source, folder);
        if source.asks_about_blocks() {
            let file = folder.join(BLOCK_QUERIES_FILE);
            fs::write(&file, BLOCK_QUERIES).map_err(|error| clang::failed(&file, &error))?;
            arguments.extend(["-include".into(), file.into()]);
        }
        let (input, output) = (folder.join("source.cl"), folder.join("source.out"));
        fs::write(&input, source.text).map_err(|error| clang::failed(&input, &error))?;
        arguments.extend(more.iter().cloned());
        arguments.extend(["-o".into(), output.clone().into()]);
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let log = self.clang.run(&arguments, folder)?;
        Ok((output, log))
    }

    /// See [`OpenCl::expand`](super::OpenCl::expand), with what OpenCL C declares.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn expand(&self, source: &Source<'_>) -> Result<String, Log> {
        let folder = clang::temporary()?;
        let (output, _) = self.run(source, folder.path(), &["-E".into()])?;
        let text = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Compiles a source to bitcode; gives what the compiler said, too.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, source: &Source<'_>) -> Result<(Vec<u8>, Log), Log> {
        let folder = clang::temporary()?;
        let folder = folder.path();
        let mut bitcode: Vec<OsString> = ["-emit-llvm", "-c"].map(OsString::from).into();
        if self.clang.version() == 15 {
            // Its pass for printf does not understand opaque pointers: it loses the calls.
            bitcode.extend(["-Xclang", "-no-opaque-pointers"].map(OsString::from));
        }
        let (output, log) = if source.may_print() {
            self.compile_in_two_steps(source, folder, &bitcode)?
        } else {
            self.run(source, folder, &bitcode)?
        };
        let bitcode = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok((bitcode, log))
    }

    /// Compiles a source, with a look at its formats before the compiler's passes see them.
    fn compile_in_two_steps(
        &self,
        source: &Source<'_>,
        folder: &Path,
        bitcode: &[OsString],
    ) -> Result<(PathBuf, Log), Log> {
        let mut more = bitcode.to_vec();
        more.extend(["-S", "-Xclang", "-disable-llvm-passes"].map(OsString::from));
        let (text, log) = self.run(source, folder, &more)?;
        let (module, output) = (folder.join("module.ll"), folder.join("module.bc"));
        let failed = |error| clang::failed(&text, &error);
        // Strings may have any bytes, but LLVM writes those that are not ASCII as numbers; names of files may still have them.
        let written = String::from_utf8_lossy(&fs::read(&text).map_err(failed)?).into_owned();
        let whole = formats::hide(&written).unwrap_or(written);
        fs::write(&module, whole).map_err(|error| clang::failed(&module, &error))?;
        let common = Self::for_target(source.target);
        let mut arguments: Vec<&OsStr> = (common.iter().chain(bitcode))
            .map(OsString::as_os_str)
            .collect();
        arguments.extend(["-x", "ir"].map(OsStr::new));
        arguments.extend([module.as_os_str(), OsStr::new("-o"), output.as_os_str()]);
        let said = self.clang.run(&arguments, folder)?;
        Ok((output, log + &said))
    }

    /// Compiles a source that does not print to a code object; gives what compiler and linker said, too. The same as [`compile`](Self::compile)
    /// and [`link`](Self::link), in a third of the time: of the device libraries, the compiler reads only the functions that are called.
    ///
    /// # Errors
    /// The messages.
    pub fn build(&self, source: &Source<'_>, math: Math) -> Result<(Vec<u8>, Log), Log> {
        let folder = clang::temporary()?;
        let folder = folder.path();
        if let Some(libraries) = self.parts.of(&self.clang, source, math) {
            let (object, log) = self.object(source, folder, &libraries)?;
            if let Ok((code, said)) = self.linked(&object, folder) {
                return Ok((code, log + &said));
            }
        }
        let whole = parts::whole(self.clang.device_libraries(), source.target, math);
        let (object, log) = self.object(source, folder, &whole)?;
        let (code, said) = self.linked(&object, folder)?;
        Ok((code, log + &said))
    }

    /// Compiles a source and what it calls of some libraries to an object file.
    fn object(
        &self,
        source: &Source<'_>,
        folder: &Path,
        libraries: &[PathBuf],
    ) -> Result<(PathBuf, Log), Log> {
        let mut more: Vec<OsString> = vec!["-c".into()];
        if source.enqueues() {
            more.extend(NO_TYPE_BASED_ALIASES.map(OsString::from));
        }
        for library in libraries {
            let option = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang"];
            more.extend(option.map(OsString::from));
            more.push(library.into());
        }
        self.run(source, folder, &more)
    }

    /// Makes a code object of an object file.
    fn linked(&self, object: &Path, folder: &Path) -> Result<(Vec<u8>, Log), Log> {
        let output = folder.join("code.co");
        let arguments = ["-shared", "--no-undefined", "-o"].map(OsStr::new);
        let files = [output.as_os_str(), object.as_os_str()];
        let said = self
            .clang
            .run_linker(&[arguments.as_slice(), &files].concat(), folder)?;
        let code = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok((code, said))
    }

    /// Links bitcode and the device libraries to a code object; gives what the linker said, too.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(&self, pieces: &[&[u8]], target: &str, math: Math) -> Result<(Vec<u8>, Log), Log> {
        let folder = clang::temporary()?;
        let folder = folder.path();
        let (script, output) = (folder.join("symbols.map"), folder.join("code.co"));
        fs::write(&script, VERSION_SCRIPT).map_err(|error| clang::failed(&script, &error))?;
        let mut arguments: Vec<OsString> = ["-shared", "--no-undefined", "-plugin-opt=O3"]
            .map(OsString::from)
            .into();
        arguments.push(format!("-plugin-opt=mcpu={}", processor(target)).into());
        let features = clang::features(target);
        if !features.is_empty() {
            arguments.push(format!("-plugin-opt=-mattr={features}").into());
        }
        let mut option = OsString::from("--version-script=");
        option.push(&script);
        arguments.push(option);
        if enqueues(pieces) {
            arguments.extend(NO_TYPE_BASED_ALIASES.map(OsString::from));
        }
        for (index, piece) in pieces.iter().enumerate() {
            let file = folder.join(format!("{index}.bc"));
            fs::write(&file, piece).map_err(|error| clang::failed(&file, &error))?;
            arguments.push(file.into());
        }
        arguments.push("--start-lib".into());
        arguments.extend(
            parts::whole(self.clang.device_libraries(), target, math)
                .into_iter()
                .map(OsString::from),
        );
        arguments.extend(["--end-lib".into(), "-o".into(), output.clone().into()]);
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let log = self.clang.run_linker(&arguments, folder)?;
        let code = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok((code, log))
    }
}
