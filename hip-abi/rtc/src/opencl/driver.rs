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
};
use crate::{
    clang::{self, Clang},
    compiler::{Log, file_identity, processor},
};

/// A clang, with the device libraries.
#[derive(Debug)]
pub struct Driver {
    clang: Clang,
}

/// Symbols of the device libraries: mangled builtins, their helpers, reserved names.
const VERSION_SCRIPT: &str = "{ global: *; local: _Z*; sh_[0-9]*; sh2_[0-9]*; __*; };\n";

impl Driver {
    /// The clangs of this machine, if the device libraries are there.
    pub fn find_all() -> Vec<Driver> {
        Clang::find_for_opencl()
            .into_iter()
            .map(|clang| Driver { clang })
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
        self.isa_library(target).exists() && self.clang.knows(processor(target))
    }

    fn isa_library(&self, target: &str) -> PathBuf {
        let number = processor(target).strip_prefix("gfx").unwrap_or_default();
        self.clang
            .device_libraries()
            .join(format!("oclc_isa_version_{number}.bc"))
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
        let mut more: Vec<OsString> = vec!["-c".into()];
        if source.enqueues() {
            more.extend(NO_TYPE_BASED_ALIASES.map(OsString::from));
        }
        for library in self.libraries(source.target, math) {
            let option = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang"];
            more.extend(option.map(OsString::from));
            more.push(library.into());
        }
        let (object, log) = self.run(source, folder, &more)?;
        let output = folder.join("code.co");
        let arguments = ["-shared", "--no-undefined", "-o"].map(OsStr::new);
        let files = [output.as_os_str(), object.as_os_str()];
        let said = self
            .clang
            .run_linker(&[arguments.as_slice(), &files].concat(), folder)?;
        let code = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok((code, log + &said))
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
        arguments.extend(self.libraries(target, math).into_iter().map(OsString::from));
        arguments.extend(["--end-lib".into(), "-o".into(), output.clone().into()]);
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let log = self.clang.run_linker(&arguments, folder)?;
        let code = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok((code, log))
    }

    /// The device libraries for a target.
    fn libraries(&self, target: &str, math: Math) -> Vec<PathBuf> {
        let switch =
            |name: &str, on: bool| format!("oclc_{name}_{}.bc", if on { "on" } else { "off" });
        let files = [
            "opencl.bc".to_owned(),
            "ocml.bc".to_owned(),
            "ockl.bc".to_owned(),
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
        let folder: &Path = self.clang.device_libraries();
        files
            .into_iter()
            .map(|file| folder.join(file))
            // Libraries before ROCm 5.1 have no versions of the ABI.
            .filter(|file| file.exists())
            .chain([self.isa_library(target)])
            .collect()
    }
}
