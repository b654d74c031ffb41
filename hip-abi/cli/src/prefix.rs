//! Where this command is installed, and the libraries beside it.

use std::path::{Path, PathBuf};

/// The installation that this command belongs to: `bin/gneiss` in it, the libraries in `lib/`.
#[derive(Clone, Debug)]
pub struct Prefix {
    root: PathBuf,
}

impl Prefix {
    /// The prefix above the directory of the running command, links resolved.
    ///
    /// # Errors
    /// When the system does not say where the command is.
    pub fn of_this_command() -> std::io::Result<Self> {
        let command = std::fs::canonicalize(std::env::current_exe()?)?;
        let root = command
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new("/"));
        Ok(Self {
            root: root.to_owned(),
        })
    }

    /// The directory with both libraries.
    pub fn lib(&self) -> PathBuf {
        self.root.join("lib")
    }

    /// The directory with only the HSA library, for AMD's HIP library on top.
    pub fn hsa_only(&self) -> PathBuf {
        self.root.join("lib/gneiss/hsa-only")
    }

    /// Our HIP library.
    pub fn hip_library(&self) -> PathBuf {
        self.lib().join("libamdhip64.so.5")
    }

    /// Our HSA library.
    pub fn hsa_library(&self) -> PathBuf {
        self.lib().join("libhsa-runtime64.so.1")
    }

    /// Our OpenCL library.
    pub fn opencl_library(&self) -> PathBuf {
        self.lib().join("libgneissopencl.so.1")
    }

    /// The directory that tells an OpenCL loader of it.
    pub fn opencl_vendors(&self) -> PathBuf {
        self.root.join("etc/OpenCL/vendors")
    }

    /// The library that answers a program's own look for the kernel driver.
    pub fn driver_check(&self) -> PathBuf {
        self.root.join("lib/gneiss/libgneiss_driver_check.so")
    }

    /// The version script that a library was linked with: AMD's names and nodes.
    pub fn version_script(&self, library: &str) -> PathBuf {
        self.root.join(format!("lib/gneiss/{library}.map"))
    }

    /// The functions of a library that only answer that they are not supported, one a line.
    pub fn unsupported_functions(&self, library: &str) -> PathBuf {
        self.root.join(format!("lib/gneiss/{library}.unsupported"))
    }

    /// What is missing of the installation, as a message.
    pub fn missing(&self) -> Option<String> {
        let wanted = [
            self.hip_library(),
            self.hsa_library(),
            self.hsa_only().join("libhsa-runtime64.so.1"),
            self.driver_check(),
            self.opencl_library(),
        ];
        let missing = wanted.iter().find(|file| !file.exists())?;
        Some(format!(
            "{} is not there: the installation is incomplete (`make` builds it)",
            missing.display()
        ))
    }
}
