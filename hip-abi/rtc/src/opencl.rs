//! OpenCL C to code objects, through clang and lld: [`OpenCl::compile`] makes bitcode of a source, [`OpenCl::link`] a code object of bitcode and
//! the device libraries.
//!
//! The device libraries come in at the end, in the linker: clang's pass for printf needs the function undefined, which the libraries define.
//! A version script keeps their functions out of the result, and so what no kernel uses is not even compiled.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    clang::{self, Clang},
    compiler::{Header, Log, file_identity, processor},
};

/// A source to compile.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// OpenCL C.
    pub text: &'a str,
    /// Headers that it may include by name.
    pub headers: &'a [Header],
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

/// A clang, with the device libraries.
#[derive(Debug)]
pub struct OpenCl {
    clang: Clang,
}

/// Symbols of the device libraries: mangled builtins, their helpers, reserved names.
const VERSION_SCRIPT: &str = "{ global: *; local: _Z*; sh_[0-9]*; sh2_[0-9]*; __*; };\n";

/// What is missing where there is no compiler.
pub const MISSING: &str = "no OpenCL C compiler was found. It needs clang with lld and the device libraries (Debian: clang-15 lld-15 \
     rocm-device-libs). Looked for: clang in HIP_CLANG_PATH, ROCM_PATH/llvm/bin, /opt/rocm/llvm/bin, /usr/lib/llvm-*/bin and PATH; \
     amdgcn/bitcode in HIP_DEVICE_LIB_PATH, ROCM_PATH, /opt/rocm and the system's folders.\n";

impl OpenCl {
    /// The clangs of this machine, if the device libraries are there.
    pub fn find_all() -> Vec<OpenCl> {
        Clang::find_for_opencl()
            .into_iter()
            .map(|clang| OpenCl { clang })
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

    /// Compiles a source to bitcode; gives what the compiler said, too.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, source: &Source<'_>) -> Result<(Vec<u8>, Log), Log> {
        let folder = clang::temporary()?;
        let folder = folder.path();
        clang::write_headers(folder, source.headers)?;
        let (input, output) = (folder.join("source.cl"), folder.join("source.bc"));
        fs::write(&input, source.text).map_err(|error| clang::failed(&input, &error))?;
        let mut arguments: Vec<OsString> = [
            "-x",
            "cl",
            "--target=amdgcn-amd-amdhsa",
            "-nogpulib",
            "-O3",
            "-cl-kernel-arg-info",
            "-mcode-object-version=4",
            "-emit-llvm",
            "-c",
            "-Wno-unused-command-line-argument",
            // The warning is about this machine, not about the program.
            "-Wno-override-module",
        ]
        .map(OsString::from)
        .into();
        arguments.push(format!("-mcpu={}", source.target).into());
        if self.clang.version() == 15 {
            // Its pass for printf does not understand opaque pointers: it loses the calls.
            arguments.extend(["-Xclang", "-no-opaque-pointers"].map(OsString::from));
        }
        if !source.extensions.is_empty() {
            arguments.push("-Xclang".into());
            arguments.push(format!("-cl-ext={}", source.extensions.join(",")).into());
        }
        arguments.extend(["-I".into(), folder.as_os_str().to_owned()]);
        arguments.extend(source.options.iter().map(OsString::from));
        arguments.extend([input.into(), "-o".into(), output.clone().into()]);
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let log = self.clang.run(&arguments, folder)?;
        let bitcode = fs::read(&output).map_err(|error| clang::failed(&output, &error))?;
        Ok((bitcode, log))
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
    fn without_a_compiler_the_log_says_what_to_install() {
        let log = first_that_knows(&[], "gfx90a").map(|_| ()).unwrap_err();
        for word in ["clang-15", "lld-15", "rocm-device-libs"] {
            assert!(log.contains(word), "{log}");
        }
    }
}
