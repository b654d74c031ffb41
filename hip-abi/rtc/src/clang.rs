//! Compiling through a clang driver, in a temporary folder.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::{
    compiler::{
        Compiled, Header, Job, LIBRARY_FOLDERS, Log, file_identity, processor, rocm_folders,
    },
    headers::{Headers, STANDARD_HEADER, STANDARD_NAMES},
};

/// A clang with what it needs for HIP.
#[derive(Debug)]
pub struct Clang {
    path: PathBuf,
    /// HIP's headers; none for OpenCL, which needs none.
    headers: Option<Headers>,
    /// Holds `ocml.bc`.
    device_libraries: PathBuf,
    /// Processors that it knows; asked once.
    processors: OnceLock<Vec<String>>,
    /// Its linker; asked once.
    linker: OnceLock<PathBuf>,
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn headers() -> Option<Headers> {
    let folders = variable("HIP_PATH").into_iter().chain(rocm_folders());
    folders
        .chain([PathBuf::from("/usr"), PathBuf::from("/usr/local")])
        .find_map(|folder| Headers::of(folder.join("include")))
}

fn device_libraries() -> Option<PathBuf> {
    let given = ["HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH"]
        .into_iter()
        .filter_map(variable);
    let installed = rocm_folders()
        .into_iter()
        .chain(LIBRARY_FOLDERS.map(PathBuf::from))
        .flat_map(|folder| {
            [
                folder.join("amdgcn/bitcode"),
                folder.join("lib/amdgcn/bitcode"),
            ]
        });
    given
        .chain(installed)
        .chain([
            PathBuf::from("/usr/share/amdgcn/bitcode"),
            PathBuf::from("/usr/amdgcn/bitcode"),
        ])
        .find(|folder| folder.join("ocml.bc").exists())
}

/// The number at the end of `llvm-15` or `clang-15`.
fn version(path: &Path) -> u32 {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.rsplit('-')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// Every clang at hand: of ROCm, then of the LLVM folders from the oldest that HIP's headers are made for (15) on, then of PATH.
fn drivers() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf| {
        if path.is_file() && !found.contains(&path) {
            found.push(path);
        }
    };
    if let Some(folder) = variable("HIP_CLANG_PATH") {
        add(folder.join("clang"));
    }
    for folder in rocm_folders() {
        add(folder.join("llvm/bin/clang"));
        add(folder.join("lib/llvm/bin/clang"));
    }
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(b"llvm-"))
                && version(path) >= 15
        })
        .collect();
    folders.sort_by_key(|path| version(path));
    for folder in folders {
        add(folder.join("bin/clang"));
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&paths) {
        add(folder.join("clang"));
        for number in 15..30 {
            add(folder.join(format!("clang-{number}")));
        }
    }
    found
}

/// A relative path without `..`, for a header in the temporary folder.
fn inside(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    (plain && path.file_name().is_some()).then_some(path)
}

impl Clang {
    /// Every clang of this machine, if HIP's headers and the device libraries are there.
    pub fn find_all() -> Vec<Clang> {
        let (Some(headers), Some(device_libraries)) = (headers(), device_libraries()) else {
            return Vec::new();
        };
        drivers()
            .into_iter()
            .map(|path| Clang {
                path,
                headers: Some(headers.clone()),
                device_libraries: device_libraries.clone(),
                processors: OnceLock::new(),
                linker: OnceLock::new(),
            })
            .collect()
    }

    /// Every clang of this machine, if the device libraries are there: OpenCL needs no headers.
    pub(crate) fn find_for_opencl() -> Vec<Clang> {
        let Some(device_libraries) = device_libraries() else {
            return Vec::new();
        };
        drivers()
            .into_iter()
            .map(|path| Clang {
                path,
                headers: None,
                device_libraries: device_libraries.clone(),
                processors: OnceLock::new(),
                linker: OnceLock::new(),
            })
            .collect()
    }

    /// The driver.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with `ocml.bc`.
    pub(crate) fn device_libraries(&self) -> &Path {
        &self.device_libraries
    }

    /// Its major version, by its name or the name of its folder; 0: not known.
    pub(crate) fn version(&self) -> u32 {
        let resolved = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = resolved.parent().and_then(Path::parent);
        match (version(&resolved), folder.map(version)) {
            (0, Some(number)) => number,
            (number, _) => number,
        }
    }

    /// See [`Compiler::identity`](crate::compiler::Compiler::identity).
    pub fn identity(&self) -> String {
        let headers = self
            .headers
            .as_ref()
            .map_or(Path::new(""), |headers| &headers.folder);
        [
            &self.path,
            &headers.join("hip/hip_version.h"),
            &headers.join("hip/hip_runtime.h"),
            &self.device_libraries.join("ocml.bc"),
        ]
        .map(|path| file_identity(path))
        .join("; ")
    }

    fn command(&self) -> Command {
        Self::command_of(&self.path)
    }

    fn command_of(program: &Path) -> Command {
        let mut command = Command::new(program);
        // A preloaded HIP library has no business in the compiler.
        command
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Whether it has code generation for a processor.
    pub fn knows(&self, processor: &str) -> bool {
        let known = self.processors.get_or_init(|| {
            let output = self
                .command()
                .args([
                    "--target=amdgcn-amd-amdhsa",
                    "-nogpulib",
                    "--print-supported-cpus",
                ])
                .output();
            output.map_or_else(
                |_| Vec::new(),
                |output| {
                    let text = [output.stdout, output.stderr].concat();
                    String::from_utf8_lossy(&text)
                        .split_whitespace()
                        .filter(|word| word.starts_with("gfx"))
                        .map(str::to_owned)
                        .collect()
                },
            )
        });
        known.iter().any(|name| name == processor)
    }

    /// The linker of this clang.
    fn linker(&self) -> Result<&Path, Log> {
        if let Some(known) = self.linker.get() {
            return Ok(known);
        }
        let output = self.command().arg("-print-prog-name=ld.lld").output();
        let output = output.map_err(|error| failed(&self.path, &error))?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        Ok(self.linker.get_or_init(|| path))
    }

    /// Runs the driver's linker; gives what it said.
    pub(crate) fn run_linker(&self, arguments: &[&OsStr], folder: &Path) -> Result<String, Log> {
        let linker = self.linker()?;
        run(Self::command_of(linker), linker, arguments, folder)
    }

    /// Runs the driver; gives what it said.
    pub(crate) fn run(&self, arguments: &[&OsStr], folder: &Path) -> Result<String, Log> {
        run(self.command(), &self.path, arguments, folder)
    }

    /// Compiles a job.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, job: &Job<'_>) -> Result<Compiled, Log> {
        let folder = temporary()?;
        let folder = folder.path();
        write_headers(folder, job.headers)?;
        let source = folder.join(job.name);
        fs::write(&source, job.source).map_err(|error| failed(&source, &error))?;
        let bitcode = folder.join("gneiss.bc");
        let arch = format!("--offload-arch={}", job.target);
        let libraries = format!("--rocm-device-lib-path={}", self.device_libraries.display());
        let mut arguments: Vec<&OsStr> = [
            "-x",
            "hip",
            "--cuda-device-only",
            "-O3",
            "-std=c++14",
            "-nogpuinc",
            "-Wno-gnu-line-marker",
            "-Wno-missing-prototypes",
            "-Wno-unused-command-line-argument",
            "-D__HIPCC_RTC__",
            &arch,
            &libraries,
        ]
        .map(OsStr::new)
        .into();
        arguments.extend([OsStr::new("-I"), folder.as_os_str()]);
        arguments.extend(self.headers.iter().flat_map(Headers::search));
        let builtin = match &self.headers {
            Some(headers) if !job.options.no_builtin_header => {
                let standard = folder.join(STANDARD_HEADER);
                fs::write(&standard, STANDARD_NAMES).map_err(|error| failed(&standard, &error))?;
                headers.builtin()
            }
            _ => Vec::new(),
        };
        arguments.extend(builtin.iter().map(OsString::as_os_str));
        if job.options.rdc {
            arguments.push(OsStr::new("-fgpu-rdc"));
        }
        arguments.extend(job.options.rest.iter().map(OsStr::new));
        arguments.extend(["-emit-llvm", "-c"].map(OsStr::new));
        arguments.extend([source.as_os_str(), OsStr::new("-o"), bitcode.as_os_str()]);
        let mut log = self.run(&arguments, folder)?;
        let made = self.code(&bitcode, job.target, &job.options.rest, folder, &mut log);
        let executable = job.executable(made)?;
        Ok(Compiled {
            bitcode: fs::read(&bitcode).map_err(|error| failed(&bitcode, &error))?,
            executable,
            log,
        })
    }

    /// A code object from bitcode.
    fn code(
        &self,
        bitcode: &Path,
        target: &str,
        options: &[String],
        folder: &Path,
        log: &mut Log,
    ) -> Result<Vec<u8>, Log> {
        let executable = folder.join("gneiss.co");
        let cpu = format!("-mcpu={target}");
        let mut arguments: Vec<&OsStr> = [
            "--target=amdgcn-amd-amdhsa",
            &cpu,
            "-nogpulib",
            "-O3",
            "-Wno-unused-command-line-argument",
        ]
        .map(OsStr::new)
        .into();
        arguments.extend(code_options(options).into_iter().map(OsStr::new));
        arguments.extend([OsStr::new("-x"), OsStr::new("ir"), bitcode.as_os_str()]);
        arguments.extend([OsStr::new("-o"), executable.as_os_str()]);
        log.push_str(&self.run(&arguments, folder)?);
        fs::read(&executable).map_err(|error| failed(&executable, &error))
    }

    /// Links bitcode: all of it is optimised together, as calls from one piece to another need it.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(
        &self,
        pieces: &[Vec<u8>],
        target: &str,
        options: &[String],
    ) -> Result<Compiled, Log> {
        let folder = temporary()?;
        let folder = folder.path();
        let executable = folder.join("gneiss.co");
        // The linker itself: the driver tells it neither the processor nor the features, which optimising needs.
        let linker = self.linker()?;
        let mut arguments = vec![
            "-shared".to_owned(),
            "--no-undefined".to_owned(),
            "-plugin-opt=O3".to_owned(),
            format!("-plugin-opt=mcpu={}", processor(target)),
        ];
        let features = features(target);
        if !features.is_empty() {
            arguments.push(format!("-plugin-opt=-mattr={features}"));
        }
        let mut options = code_options(options).into_iter();
        while let Some(option) = options.next() {
            if option == "-mllvm" {
                arguments.extend([
                    "-mllvm".to_owned(),
                    options.next().unwrap_or_default().to_owned(),
                ]);
            }
        }
        let mut arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let files: Vec<PathBuf> = (0..pieces.len())
            .map(|index| folder.join(format!("{index}.o")))
            .collect();
        for (file, piece) in files.iter().zip(pieces) {
            fs::write(file, piece).map_err(|error| failed(file, &error))?;
            arguments.push(file.as_os_str());
        }
        arguments.extend([OsStr::new("-o"), executable.as_os_str()]);
        let log = run(Self::command_of(linker), linker, &arguments, folder)?;
        Ok(Compiled {
            bitcode: Vec::new(),
            executable: fs::read(&executable).map_err(|error| failed(&executable, &error))?,
            log,
        })
    }
}

/// Writes headers into a folder, by their names.
pub(crate) fn write_headers(folder: &Path, headers: &[Header]) -> Result<(), Log> {
    for header in headers {
        let Some(name) = inside(&header.name) else {
            return Err(format!(
                "hiprtc: the header name {:?} is not a relative path without \"..\"\n",
                header.name
            ));
        };
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
        }
        fs::write(&path, &header.text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Runs a program; gives what it said.
fn run(
    mut command: Command,
    path: &Path,
    arguments: &[&OsStr],
    folder: &Path,
) -> Result<String, Log> {
    let output = command
        .args(arguments)
        .output()
        .map_err(|error| failed(path, &error))?;
    // The program's names, without our folder.
    let said =
        String::from_utf8_lossy(&output.stderr).replace(&format!("{}/", folder.display()), "");
    if output.status.success() {
        Ok(said)
    } else if said.trim().is_empty() {
        Err(format!("hiprtc: {}: {}\n", path.display(), output.status))
    } else {
        Err(said)
    }
}

/// The features of a target ID as the linker takes them: `-xnack,+sramecc` of `gfx90a:xnack-:sramecc+`.
pub(crate) fn features(target: &str) -> String {
    let features: Vec<String> = target
        .split(':')
        .skip(1)
        .filter_map(|feature| {
            let name = feature.strip_suffix(['+', '-'])?;
            Some(format!("{}{name}", &feature[name.len()..]))
        })
        .collect();
    features.join(",")
}

/// The options that matter for code generation too.
pub fn code_options(options: &[String]) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut all = options.iter();
    while let Some(option) = all.next() {
        if option == "-mllvm" {
            kept.push(option.as_str());
            kept.extend(all.next().map(String::as_str));
        } else if option.starts_with("-O") || option.starts_with("-Rpass") {
            kept.push(option.as_str());
        }
    }
    kept
}

pub(crate) fn temporary() -> Result<tempfile::TempDir, Log> {
    tempfile::Builder::new()
        .prefix("gneiss-hiprtc-")
        .tempdir()
        .map_err(|error| failed(&std::env::temp_dir(), &error))
}

pub(crate) fn failed(path: &Path, error: &std::io::Error) -> Log {
    format!("hiprtc: {}: {error}\n", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_stay_in_the_folder() {
        assert!(inside("a/b.h").is_some());
        assert!(inside("./b.h").is_some());
        for name in ["../b.h", "/etc/passwd", "", "a/../../b"] {
            assert!(inside(name).is_none(), "{name}");
        }
    }

    #[test]
    fn features_of_targets() {
        assert_eq!(features("gfx1030"), "");
        assert_eq!(features("gfx90a:sramecc+:xnack-"), "+sramecc,-xnack");
    }

    #[test]
    fn options_of_code_generation() {
        let options = ["-DX", "-mllvm", "-amdgpu-x=1", "-O1", "-std=c++17"].map(str::to_owned);
        assert_eq!(code_options(&options), ["-mllvm", "-amdgpu-x=1", "-O1"]);
    }
}
