//! Debian's device libraries made ready for clang 22.
//!
//! The package `rocm-device-libs` is of ROCm 5.2: clang 22 reads its bitcode, but the package has no constants for newer targets and code object
//! versions, the driver of clang 22 does not link two of its files any more (`hip.bc`, `oclc_daz_opt_off.bc`), and the counter that it reads
//! is not there from GFX11 on. The folder made here has links to the package's files, the missing constants, and an `ockl.bc` with those
//! two files in it and the counter that every target has.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::workspace_root;

/// Where the package puts its files.
pub(crate) const PACKAGE: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

/// What the code reads as its target, by the end of the file's name.
const VERSIONS: [(&str, u32); 18] = [
    ("942", 9402),
    ("950", 9500),
    ("9-generic", 9000),
    ("9-4-generic", 9400),
    ("1100", 11000),
    ("1101", 11001),
    ("1102", 11002),
    ("1103", 11003),
    ("1150", 11500),
    ("1151", 11501),
    ("1152", 11502),
    ("1153", 11503),
    ("1200", 12000),
    ("1201", 12001),
    ("10-1-generic", 10100),
    ("10-3-generic", 10300),
    ("11-generic", 11000),
    ("12-generic", 12000),
];

/// What headers of HIP 5.2 want of the compiler and clang 22 has no more: the size of a wave, and reciprocals of halves.
const HEADER: &str = "\
#if defined(__GFX9__) || !defined(__AMDGCN__)
#define __AMDGCN_WAVEFRONT_SIZE 64
#else
#define __AMDGCN_WAVEFRONT_SIZE 32
#endif
typedef _Float16 two_halves __attribute__((ext_vector_type(2)));
static inline __attribute__((device)) _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) {
    return __builtin_amdgcn_rcph(x);
}
static inline __attribute__((device)) two_halves __llvm_amdgcn_rcp_2f16(two_halves x) {
    return two_halves{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}
";

/// The folder; made at first use.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = workspace_root().join("target/test-cache/device-libraries-clang-22");
        if !folder.exists() {
            let partial = folder.with_extension(format!("partial-{}", std::process::id()));
            make(&partial);
            // Another process may have been faster.
            if fs::rename(&partial, &folder).is_err() {
                assert!(folder.exists(), "{} cannot be kept", folder.display());
                let _ = fs::remove_dir_all(&partial);
            }
        }
        folder
    })
}

/// The header to include before a source: HIP's older headers use a macro for the size of a wave that clang 22 does not have any more.
pub(crate) fn header() -> PathBuf {
    folder().join("wave.h")
}

fn make(folder: &Path) {
    fs::create_dir_all(folder).expect("a writable cache");
    let package = Path::new(PACKAGE);
    for entry in fs::read_dir(package).expect("apt install rocm-device-libs") {
        let name = entry.expect("a readable folder").file_name();
        symlink(package.join(&name), folder.join(&name)).expect("a writable cache");
    }
    let text = |name: &str| {
        let file = package.join(name);
        run("llvm-dis-22", &["-o", "-", path(&file)], "")
    };
    let keep = |name: &str, text: &str| {
        let file = folder.join(name);
        let _ = fs::remove_file(&file);
        run("llvm-as-22", &["-o", path(&file), "-"], text);
    };
    let target = text("oclc_isa_version_1030.bc");
    for (name, version) in VERSIONS {
        let text = target.replace("i32 10300", &format!("i32 {version}"));
        keep(&format!("oclc_isa_version_{name}.bc"), &text);
    }
    let version = text("oclc_abi_version_500.bc").replace("i32 500", "i32 600");
    keep("oclc_abi_version_600.bc", &version);

    // Linking drops what is `linkonce` and not used by what is linked.
    let parts = ["ockl.bc", "hip.bc", "oclc_daz_opt_off.bc"];
    let files = parts.map(|name| {
        let text = text(name)
            .replace("linkonce_odr", "weak_odr")
            .replace("@llvm.amdgcn.s.memrealtime()", "@llvm.readsteadycounter()");
        keep(&format!("part_{name}"), &text);
        folder.join(format!("part_{name}"))
    });
    let all = folder.join("ockl.bc");
    let _ = fs::remove_file(&all);
    let [a, b, c] = &files;
    run(
        "llvm-link-22",
        &["-o", path(&all), path(a), path(b), path(c)],
        "",
    );
    fs::write(folder.join("wave.h"), HEADER).expect("a writable cache");
}

fn path(path: &Path) -> &str {
    path.to_str().expect("paths are text")
}

/// Runs a tool over a text, and gives what it writes.
fn run(tool: &str, arguments: &[&str], input: &str) -> String {
    use std::io::Write;
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot run {tool}: {error}; apt install llvm-22"));
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("the tool reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the tool ends");
    assert!(output.status.success(), "{tool} {arguments:?} fails");
    String::from_utf8(output.stdout).expect("text")
}
