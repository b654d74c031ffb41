//! Where things are: the workspace, the sources that tests compile, the built prefix.

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests folder lies in the workspace")
        .to_path_buf()
}

/// A file of the source tree, by its path below the root.
pub fn source_path(relative: &str) -> PathBuf {
    workspace_root().join(relative)
}

/// The source of a program with test cases, by its name.
pub fn cases_source(program: &str) -> PathBuf {
    source_path(&format!("tests/programs/{program}.hip"))
}

/// The installed tree under test.
#[derive(Debug, Clone)]
pub struct Prefix {
    root: PathBuf,
}

impl Prefix {
    /// The tree that `GNEISS_PREFIX` names, else `target/rocm`.
    ///
    /// # Panics
    ///
    /// When the tree is not there, with the command that builds it.
    pub fn find() -> Self {
        let root = std::env::var_os("GNEISS_PREFIX")
            .map_or_else(|| workspace_root().join("target/rocm"), PathBuf::from);
        let root = std::path::absolute(&root).unwrap_or(root);
        let library = root.join("lib/libamdhip64.so");
        assert!(
            library.exists(),
            "{} is not there: run `make` first, or name a built prefix in GNEISS_PREFIX",
            library.display()
        );
        Self { root }
    }

    /// The folder of the libraries.
    pub fn lib(&self) -> PathBuf {
        self.root.join("lib")
    }

    /// The folder that holds `gneiss/`, the C headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The `gneiss` command.
    pub fn gneiss(&self) -> PathBuf {
        self.root.join("bin/gneiss")
    }
}
