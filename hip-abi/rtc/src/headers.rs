//! What a program for hiprtc sees without including it.
//!
//! AMD's hiprtc carries a header, `libhiprtc-builtins`, that is made of HIP's headers when ROCm is built. A clang driver includes those of the
//! machine instead, the same ones in the same order (`hipamd/src/hiprtc/CMakeLists.txt` and `cmake/HIPRTC.cmake` of ROCm/clr).

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

/// Name of the header with [`STANDARD_NAMES`] in the temporary folder.
pub const STANDARD_HEADER: &str = "gneiss_hiprtc_standard.h";

/// Names of the C and C++ libraries that AMD's header defines since HIP 6.
pub const STANDARD_NAMES: &str = "\
#if !__HIP_NO_STD_DEFS__
#if defined(__HIPRTC_PTRDIFF_T_IS_LONG_LONG__) && __HIPRTC_PTRDIFF_T_IS_LONG_LONG__ == 1
typedef long long ptrdiff_t;
#else
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#endif
typedef long clock_t;
namespace std {
using ::clock_t;
using ::ptrdiff_t;
} // namespace std
#endif
";

/// What AMD's header holds with HIP 5.
const OF_FIVE: &[&str] = &[
    "hip/hip_runtime.h",
    "hip/hip_fp16.h",
    "hip/amd_detail/amd_warp_functions.h",
];

/// What AMD's header holds since HIP 6.
const SINCE_SIX: &[&str] = &[
    "hip/hip_runtime.h",
    "hip/hip_bfloat16.h",
    STANDARD_HEADER,
    "hip/hip_common.h",
    "hip/amd_detail/device_library_decls.h",
    "hip/amd_detail/hip_assert.h",
    "hip/library_types.h",
    "hip/driver_types.h",
    "hip/surface_types.h",
    "hip/amd_detail/amd_channel_descriptor.h",
    "hip/texture_types.h",
    "hip/amd_detail/ockl_image.h",
    "hip/amd_detail/texture_fetch_functions.h",
    "hip/amd_detail/texture_indirect_functions.h",
    "hip/amd_detail/amd_surface_functions.h",
    "hip/amd_detail/amd_hip_complex.h",
    "hip/amd_detail/amd_hip_math_constants.h",
    "hip/amd_detail/math_fwd.h",
    "hip/amd_detail/amd_warp_functions.h",
    "hip/amd_detail/amd_device_functions.h",
    "hip/amd_detail/amd_warp_sync_functions.h",
    "hip/amd_detail/hip_cooperative_groups_helper.h",
    "hip/amd_detail/amd_hip_cooperative_groups.h",
    "hip/amd_detail/amd_hip_unsafe_atomics.h",
    "hip/amd_detail/amd_hip_atomic.h",
    "hip/amd_detail/hip_fp16_math_fwd.h",
    "hip/amd_detail/amd_hip_fp16.h",
    "hip/amd_detail/amd_math_functions.h",
];

/// HIP's headers of this machine.
#[derive(Clone, Debug)]
pub struct Headers {
    /// Holds `hip/hip_runtime.h`.
    pub folder: PathBuf,
    /// Their version, as far as `hip_version.h` says: major, minor, patch.
    version: [Option<u32>; 3],
}

impl Headers {
    /// The headers in a folder, if it has them.
    pub fn of(folder: PathBuf) -> Option<Self> {
        if !folder.join("hip/hip_runtime.h").exists() {
            return None;
        }
        let text = fs::read_to_string(folder.join("hip/hip_version.h")).unwrap_or_default();
        let version = VERSION_NAMES.map(|name| number(&text, name));
        Some(Self { folder, version })
    }

    /// Options for the driver that let source include the headers. The system's own folders come after the others, or the order of C++'s headers would
    /// change; any other folder before them, for they may hold the headers of another HIP.
    pub fn search(&self) -> [&OsStr; 2] {
        let of_system = [Path::new("/usr/include"), Path::new("/usr/local/include")];
        let option = if of_system.contains(&self.folder.as_path()) {
            "-idirafter"
        } else {
            "-isystem"
        };
        [OsStr::new(option), self.folder.as_os_str()]
    }

    /// Options for the driver that include what AMD's header holds. [`STANDARD_HEADER`] must be found.
    pub fn builtin(&self) -> Vec<OsString> {
        let wanted = match self.version[0] {
            Some(6..) => SINCE_SIX,
            _ => OF_FIVE,
        };
        let installed = wanted
            .iter()
            .filter(|&&header| header == STANDARD_HEADER || self.folder.join(header).exists());
        let include = std::iter::once(&"__clang_hip_runtime_wrapper.h")
            .chain(installed)
            .flat_map(|header| ["-include".into(), header.into()]);
        // The compiler's header decides by the version what malloc and free are, and does not look it up for hiprtc.
        let version = VERSION_NAMES.iter().zip(self.version);
        version
            .filter_map(|(name, part)| Some(format!("-D{name}={}", part?).into()))
            .chain(include)
            .collect()
    }
}

/// What `hip_version.h` defines.
const VERSION_NAMES: [&str; 3] = [
    "HIP_VERSION_MAJOR",
    "HIP_VERSION_MINOR",
    "HIP_VERSION_PATCH",
];

/// The number that a name is defined as.
fn number(text: &str, name: &str) -> Option<u32> {
    text.lines().find_map(|line| {
        let (defined, value) = line
            .trim()
            .strip_prefix("#define ")?
            .trim()
            .split_once(' ')?;
        (defined == name).then(|| value.trim().parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_headers_decides_what_is_included() {
        let folder = tempfile::tempdir().unwrap();
        let hip = folder.path().join("hip");
        fs::create_dir(&hip).unwrap();
        assert!(Headers::of(folder.path().into()).is_none());
        for name in ["hip_runtime.h", "hip_bfloat16.h", "hip_fp16.h"] {
            fs::write(hip.join(name), "").unwrap();
        }
        let included = |version: &str| {
            fs::write(hip.join("hip_version.h"), version).unwrap();
            let options = Headers::of(folder.path().into()).unwrap().builtin();
            options
                .into_iter()
                .filter(|option| option != "-include")
                .map(|option| option.into_string().unwrap())
                .collect::<Vec<_>>()
        };
        let wrapper = "__clang_hip_runtime_wrapper.h";
        assert_eq!(
            included("#define HIP_VERSION_MAJOR 5\n#define HIP_VERSION_MINOR 2\n"),
            [
                "-DHIP_VERSION_MAJOR=5",
                "-DHIP_VERSION_MINOR=2",
                wrapper,
                "hip/hip_runtime.h",
                "hip/hip_fp16.h"
            ]
        );
        assert_eq!(
            included("#define HIP_VERSION_MAJOR 6\n"),
            [
                "-DHIP_VERSION_MAJOR=6",
                wrapper,
                "hip/hip_runtime.h",
                "hip/hip_bfloat16.h",
                STANDARD_HEADER
            ]
        );
    }

    #[test]
    fn a_folder_of_its_own_comes_before_the_system() {
        let headers = |folder: &str| Headers {
            folder: folder.into(),
            version: [None; 3],
        };
        assert_eq!(
            headers("/opt/rocm/include").search(),
            ["-isystem", "/opt/rocm/include"]
        );
        assert_eq!(
            headers("/usr/include").search(),
            ["-idirafter", "/usr/include"]
        );
    }
}
