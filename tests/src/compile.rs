//! Compilers, and the cache of what they made.
//!
//! A result is kept under `target/test-cache` by a hash of everything that it was made from: the compiler, its arguments, the
//! source and the headers beside it. A second run of the tests compiles nothing.

use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    ffi::{OsStr, OsString},
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock, Mutex, OnceLock},
};

use crate::{Prefix, device_libraries, source_path, workspace_root};

/// One compiler call: everything but the output.
#[derive(Debug, Clone)]
pub struct Compile {
    compiler: OsString,
    source: PathBuf,
    arguments: Vec<OsString>,
    libraries: Vec<OsString>,
    install_hint: &'static str,
}

impl Compile {
    /// A HIP program for one target at one optimisation level (`-O0` to `-O3`), by hipcc (or what `HIPCC` names).
    pub fn hip(source: &Path, target: &str, level: &str) -> Self {
        Self::hipcc(source).args([&format!("--offload-arch={target}"), level])
    }

    /// A HIP program for several targets.
    pub fn hip_for_targets(source: &Path, targets: &[&str], level: &str) -> Self {
        targets
            .iter()
            .fold(Self::hipcc(source), |compile, target| {
                compile.args([&format!("--offload-arch={target}")])
            })
            .args([level])
    }

    /// A module for `hipModuleLoad`: an offload bundle without a host program.
    pub fn module(source: &Path, target: &str) -> Self {
        Self::hip(source, target, "-O3").args(["--genco"])
    }

    /// A plain code object, as the HSA loader takes it.
    pub fn code_object(source: &Path, target: &str) -> Self {
        Self::module(source, target).args(["--no-gpu-bundle-output"])
    }

    /// A HIP program by Debian's clang 19, with its newer code object version.
    pub fn clang_19(source: &Path, target: &str, level: &str) -> Self {
        Self::new("clang++-19", "-x", source, "apt install clang-19")
            .args([
                "hip",
                &format!("--offload-arch={target}"),
                level,
                "--rocm-path=/usr",
            ])
            .args([
                flag(
                    "--rocm-device-lib-path=",
                    Path::new(device_libraries::PACKAGE),
                ),
                shared_include().into(),
            ])
            .libraries(["-lamdhip64"])
    }

    /// A HIP program for several targets, generic ones among them, by Debian's clang 22.
    pub fn clang_22(source: &Path, targets: &[&str], level: &str) -> Self {
        let libraries = device_libraries::folder();
        Self::new("clang++-22", "-x", source, "apt install clang-22 lld-22")
            .args(["hip", level, "-std=c++17", "--rocm-path=/usr"])
            // Code for generic targets needs version 6; the headers are those of HIP 5.2.
            .args(["-mcode-object-version=6", "--hip-version=5.2.21153"])
            .args([flag("--rocm-device-lib-path=", libraries)])
            .args([
                OsStr::new("-include"),
                device_libraries::header().as_os_str(),
            ])
            .args([shared_include()])
            .args(
                targets
                    .iter()
                    .map(|target| format!("--offload-arch={target}")),
            )
            .libraries(["-lamdhip64"])
    }

    /// Device code for several targets by Debian's clang 19, without a host program.
    pub fn clang_19_module(source: &Path, targets: &[&str]) -> Self {
        let libraries = flag(
            "--rocm-device-lib-path=",
            Path::new(device_libraries::PACKAGE),
        );
        Self::new("clang++-19", "-x", source, "apt install clang-19")
            .args(["hip", "-O3", "--rocm-path=/usr"])
            .args([libraries])
            .args(
                targets
                    .iter()
                    .map(|target| format!("--offload-arch={target}")),
            )
    }

    /// A C program against the HIP C ABI, with the headers and the library of the prefix.
    pub fn c_over_hip(source: &Path, prefix: &Prefix) -> Self {
        Self::c(source)
            .args([flag("-I", &prefix.include())])
            .libraries([flag("-L", &prefix.lib()), "-lamdhip64".into()])
    }

    /// A C program against the HSA C ABI, with AMD's headers and the library of the prefix.
    pub fn c_over_hsa(source: &Path, prefix: &Prefix) -> Self {
        Self::c(source).libraries([
            flag("-L", &prefix.lib()),
            "-lhsa-runtime64".into(),
            "-lpthread".into(),
        ])
    }

    /// A C program against the OpenCL loader of the system.
    pub fn c_over_opencl(source: &Path) -> Self {
        Self::new(
            "cc",
            "-std=gnu11",
            source,
            "apt install gcc ocl-icd-opencl-dev",
        )
        .args(["-O2", "-Wall", "-Wextra", "-Werror"])
        .libraries(["-lOpenCL", "-lpthread"])
    }

    /// A code object of OpenCL C without the device libraries, by clang 15: what AMD's OpenCL runtime keeps as an executable binary.
    pub fn opencl_code_object(source: &Path, target: &str) -> Self {
        Self::new("clang-15", "-x", source, "apt install clang-15 lld-15").args([
            "cl",
            "-cl-std=CL2.0",
            "-O3",
            "--target=amdgcn-amd-amdhsa",
            &format!("-mcpu={target}"),
            "-nogpulib",
        ])
    }

    /// A C++ program for the host alone.
    pub fn cpp(source: &Path) -> Self {
        Self::new("g++", "-std=c++17", source, "apt install g++")
    }

    /// More arguments, before the source.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// More libraries, after the source.
    #[must_use]
    pub fn libraries<A: AsRef<OsStr>>(mut self, libraries: impl IntoIterator<Item = A>) -> Self {
        self.libraries.extend(
            libraries
                .into_iter()
                .map(|library| library.as_ref().to_owned()),
        );
        self
    }

    fn hipcc(source: &Path) -> Self {
        let hipcc = std::env::var_os("HIPCC").unwrap_or_else(|| "hipcc".into());
        Self::new(hipcc, "-std=c++17", source, "apt install hipcc").args([shared_include()])
    }

    fn c(source: &Path) -> Self {
        Self::new("cc", "-std=gnu11", source, "apt install gcc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror"])
    }

    fn new(
        compiler: impl Into<OsString>,
        first: &str,
        source: &Path,
        install_hint: &'static str,
    ) -> Self {
        Self {
            compiler: compiler.into(),
            source: source.to_path_buf(),
            arguments: vec![first.into()],
            libraries: Vec::new(),
            install_hint,
        }
    }

    /// A name for the result that changes with anything it is made from.
    fn cache_name(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.compiler.hash(&mut hasher);
        compiler_version(&self.compiler, self.install_hint).hash(&mut hasher);
        self.arguments.hash(&mut hasher);
        self.libraries.hash(&mut hasher);
        let folder = self.source.parent().expect("a source lies in a folder");
        for file in headers(folder)
            .into_iter()
            .chain(headers(&source_path("samples/hip")))
            .chain([self.source.clone()])
        {
            file.hash(&mut hasher);
            fs::read(&file)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
                .hash(&mut hasher);
        }
        let stem = self
            .source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        format!("{stem}-{:016x}", hasher.finish())
    }

    fn run(&self, output: &Path) {
        let partial = output.with_extension(format!("partial-{}", std::process::id()));
        let mut command = Command::new(&self.compiler);
        command
            .args(&self.arguments)
            .arg(&self.source)
            .arg("-o")
            .arg(&partial)
            .args(&self.libraries);
        let result = command.output().unwrap_or_else(|error| {
            panic!(
                "cannot run {}: {error}; {}",
                self.compiler.to_string_lossy(),
                self.install_hint
            );
        });
        assert!(
            result.status.success(),
            "{} does not compile ({command:?}):\n{}",
            self.source.display(),
            String::from_utf8_lossy(&result.stderr)
        );
        fs::rename(&partial, output)
            .unwrap_or_else(|error| panic!("cannot keep {}: {error}", output.display()));
    }
}

/// Compiles, or finds what was compiled before; gives the path of the result.
///
/// # Panics
///
/// When the compiler is missing (with what to install) or refuses the source (with its words).
pub fn compile(compile: &Compile) -> PathBuf {
    static CACHE: LazyLock<Mutex<HashMap<PathBuf, Arc<OnceLock<()>>>>> =
        LazyLock::new(Mutex::default);
    let folder = workspace_root().join("target/test-cache");
    fs::create_dir_all(&folder)
        .unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
    let output = folder.join(compile.cache_name());
    let entry = Arc::clone(
        CACHE
            .lock()
            .unwrap_or_else(|error| error.into_inner())
            .entry(output.clone())
            .or_default(),
    );
    entry.get_or_init(|| {
        if !output.exists() {
            compile.run(&output);
        }
    });
    output
}

/// Whether clang 19 is here; says aloud what is left out when it is not.
pub fn clang_19() -> bool {
    are_installed(19, &["clang++-19"], "clang-19")
}

/// Whether clang 22, its linker and LLVM's tools are here; says aloud what is left out when they are not.
pub fn clang_22() -> bool {
    let tools = [
        "clang++-22",
        "ld.lld-22",
        "llvm-link-22",
        "clang-offload-bundler-22",
    ];
    are_installed(22, &tools, "clang-22 lld-22 llvm-22 clang-tools-22")
}

fn are_installed(version: u32, tools: &[&str], packages: &str) -> bool {
    let found = tools
        .iter()
        .all(|tool| Command::new(tool).arg("--version").output().is_ok());
    if !found {
        eprintln!("LEFT OUT: programs built by clang {version} (apt install {packages})");
    }
    found
}

fn compiler_version(compiler: &OsStr, install_hint: &str) -> Vec<u8> {
    static VERSIONS: LazyLock<Mutex<HashMap<OsString, Vec<u8>>>> = LazyLock::new(Mutex::default);
    let mut versions = VERSIONS.lock().unwrap_or_else(|error| error.into_inner());
    if let Some(version) = versions.get(compiler) {
        return version.clone();
    }
    let result = Command::new(compiler).arg("--version").output();
    let output = result.unwrap_or_else(|error| {
        panic!(
            "cannot run {}: {error}; {install_hint}",
            compiler.to_string_lossy()
        )
    });
    versions.insert(compiler.to_owned(), output.stdout.clone());
    output.stdout
}

/// The headers of a folder, sorted.
fn headers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut headers: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "h" || extension == "hpp")
        })
        .collect();
    headers.sort();
    headers
}

/// The folder of the HIP samples holds the checks that the test programs use as well.
fn shared_include() -> String {
    format!("-I{}", source_path("samples/hip").display())
}

fn flag(name: &str, path: &Path) -> OsString {
    let mut flag = OsString::from(name);
    flag.push(path);
    flag
}
