//! The objects that the dynamic linker has loaded into the process, and what follows from them.

use std::{
    ffi::{CStr, CString, OsStr, c_int, c_void},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// The names of the loaded objects, as the linker opened them; the executable and the vDSO have none.
pub(crate) fn loaded() -> Vec<CString> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: `data` is the list that `loaded` passes, and the linker passes valid infos.
        let (list, info) = unsafe { (&mut *data.cast::<Vec<CString>>(), &*info) };
        if !info.dlpi_name.is_null() {
            // SAFETY: the linker's names are C strings that live as long as the object.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) };
            if !name.is_empty() {
                list.push(name.to_owned());
            }
        }
        0
    }
    let mut list: Vec<CString> = Vec::new();
    // SAFETY: the callback has the right type and does not unwind; the list outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut list).cast()) };
    list
}

/// Whether a library of AMD's is loaded that refuses an agent with more than one ISA: its HIP and OpenCL before version 7 do
/// ("has 2 ISAs but can only support a single ISA").
pub(crate) fn take_one_isa() -> bool {
    loaded().iter().any(|name| {
        let path = Path::new(OsStr::from_bytes(name.to_bytes()));
        takes_one_isa(path)
    })
}

fn takes_one_isa(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    let Some(version) = name.strip_prefix("libamdhip64.so") else {
        return name.starts_with("libamdocl64.so");
    };
    // A link without a version tells nothing; the file that it names may.
    let file = version
        .is_empty()
        .then(|| path.canonicalize().ok())
        .flatten();
    let version = match &file {
        Some(file) => file
            .file_name()
            .and_then(OsStr::to_str)
            .and_then(|name| name.strip_prefix("libamdhip64.so"))
            .unwrap_or_default(),
        None => version,
    };
    let major = version
        .split('.')
        .nth(1)
        .and_then(|part| part.parse::<u32>().ok());
    major.is_none_or(|major| major < 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_loaded() {
        assert!(
            loaded()
                .iter()
                .any(|name| name.to_string_lossy().contains("libc.so")),
        );
    }

    #[test]
    fn hip_takes_several_isas_from_version_7_on() {
        for (name, one) in [
            ("/usr/lib/libamdhip64.so.5", true),
            ("/usr/lib/libamdhip64.so.6.2.41134", true),
            ("/opt/rocm/lib/libamdhip64.so.7", false),
            ("/opt/rocm/lib/libamdhip64.so.10.1", false),
            ("/nowhere/libamdhip64.so", true),
            ("/usr/lib/libamdocl64.so", true),
            ("/usr/lib/libhsa-runtime64.so.1", false),
        ] {
            assert_eq!(takes_one_isa(Path::new(name)), one, "{name}");
        }
    }

    #[test]
    fn a_link_without_a_version_has_that_of_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (
            folder.path().join("libamdhip64.so.7.0"),
            folder.path().join("libamdhip64.so"),
        );
        std::fs::write(&file, b"").expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(!takes_one_isa(&link));
    }
}
