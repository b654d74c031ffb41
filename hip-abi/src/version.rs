//! The HIP version that this process sees.
//!
//! One library serves programs built for HIP 5, 6 and 7. Symbols never forked, but some structures and enumerations did, and so
//! did the rule of `hipGetLastError`. The version is fixed once per process: the soname that the main program needs
//! (`libamdhip64.so.5`, `.6`, `.7`), else the one that the first loaded object needs, else `GNEISS_HIP_VERSION`, else 5. A variable that a
//! soname overrules is named in the log (`AMD_LOG_LEVEL` 2).

use std::{
    ffi::{CStr, c_int, c_void},
    sync::OnceLock,
};

use crate::log;

/// A HIP major version that can be presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Major {
    /// HIP 5 (ROCm 5): `libamdhip64.so.5`.
    Five,
    /// HIP 6: `libamdhip64.so.6`.
    Six,
    /// HIP 7: `libamdhip64.so.7`.
    Seven,
}

impl Major {
    /// 5, 6 or 7.
    pub fn number(self) -> u32 {
        match self {
            Major::Five => 5,
            Major::Six => 6,
            Major::Seven => 7,
        }
    }

    /// The number that `hipRuntimeGetVersion` and `hipDriverGetVersion` give: major × 10⁷ + minor × 10⁵ + patch.
    pub fn version_number(self) -> i32 {
        match self {
            Major::Five => 50_221_153,
            Major::Six => 60_342_131,
            Major::Seven => 70_125_424,
        }
    }

    fn from_number(text: &str) -> Option<Major> {
        match text {
            "5" => Some(Major::Five),
            "6" => Some(Major::Six),
            "7" => Some(Major::Seven),
            _ => None,
        }
    }

    /// The version that a soname stands for: `libamdhip64.so.6` is HIP 6; the plain `libamdhip64.so` says nothing.
    fn from_soname(soname: &[u8]) -> Option<Major> {
        std::str::from_utf8(soname.strip_prefix(b"libamdhip64.so.")?)
            .ok()
            .and_then(Major::from_number)
    }
}

/// The version that this process sees.
pub fn presented() -> Major {
    static PRESENTED: OnceLock<Major> = OnceLock::new();
    *PRESENTED.get_or_init(|| {
        let wanted = gneiss_settings::text("GNEISS_HIP_VERSION");
        let wanted = wanted.and_then(|text| from_variable(&text));
        let needed = needed_by_loaded_objects();
        if let Some(message) = disagreement(needed, wanted) {
            log::line(
                log::Level::Warning,
                file!(),
                line!(),
                format_args!("{message}"),
            );
        }
        needed.or(wanted).unwrap_or(Major::Five)
    })
}

/// What to say if the variable asks for another version than the soname that decides.
fn disagreement(needed: Option<Major>, wanted: Option<Major>) -> Option<String> {
    let (needed, wanted) = (needed?.number(), wanted?.number());
    (needed != wanted).then(|| {
        format!(
            "GNEISS_HIP_VERSION={wanted} does not count: the program or one of its libraries needs libamdhip64.so.{needed}, \
             so this is HIP {needed}"
        )
    })
}

/// `6`, `6.3` and `6.3.42131` all name HIP 6.
fn from_variable(text: &str) -> Option<Major> {
    let major = gneiss_settings::parse::hip_version(text)?;
    Major::from_number(&major.to_string())
}

/// The soname needed by the main program, which the dynamic linker lists first, else by the first object that needs one.
fn needed_by_loaded_objects() -> Option<Major> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the dynamic linker passes a valid record; `found` is the `Option` below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Option<Major>>()) };
        // SAFETY: `info` describes an object that stays loaded during the walk.
        *found = unsafe { needed_by(info) };
        c_int::from(found.is_some())
    }
    let mut found: Option<Major> = None;
    // SAFETY: `visit` has the required type and the pointer outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// Reads the `DT_NEEDED` entries of one loaded object.
///
/// # Safety
/// `info` must come from `dl_iterate_phdr` during its walk.
unsafe fn needed_by(info: &libc::dl_phdr_info) -> Option<Major> {
    const DT_NULL: i64 = 0;
    const DT_NEEDED: i64 = 1;
    const DT_STRTAB: i64 = 5;
    if info.dlpi_phdr.is_null() {
        return None;
    }
    // SAFETY: the linker gives `dlpi_phnum` program headers at `dlpi_phdr`.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let dynamic = headers
        .iter()
        .find(|header| header.p_type == libc::PT_DYNAMIC)?;
    let entries = (info.dlpi_addr + dynamic.p_vaddr) as *const (i64, u64);
    let mut strings = None;
    let mut needed = Vec::new();
    for index in 0.. {
        // SAFETY: the dynamic section of a loaded object is mapped and ends with DT_NULL, where the loop stops.
        let (tag, value) = unsafe { entries.add(index).read() };
        match tag {
            DT_NULL => break,
            DT_NEEDED => needed.push(value),
            // glibc has relocated this pointer; objects that it does not relocate (the vDSO) hold an offset.
            DT_STRTAB => {
                strings = Some(if value < info.dlpi_addr {
                    value + info.dlpi_addr
                } else {
                    value
                })
            }
            _ => {}
        }
    }
    let strings = strings?;
    needed.into_iter().find_map(|offset| {
        // SAFETY: the offsets of DT_NEEDED point at terminated strings in the object's string table; the linker has read them.
        Major::from_soname(unsafe { CStr::from_ptr((strings + offset) as *const _) }.to_bytes())
    })
}

/// `hipMemoryType` by version: Host, Device, Array, Unified, Managed moved in HIP 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    /// Not known to HIP (a value of HIP 6 and later; HIP 5 has none).
    Unregistered,
    /// Host memory.
    Host,
    /// Device memory.
    Device,
    /// A HIP array.
    Array,
    /// Unified addressing: either side.
    Unified,
    /// Managed memory (HIP 6 and later; HIP 5 says device).
    Managed,
}

impl MemoryType {
    /// The value in the presented version's header.
    pub fn value(self, major: Major) -> u32 {
        match (self, major) {
            (MemoryType::Unregistered | MemoryType::Host, Major::Five)
            | (MemoryType::Unregistered, _) => 0,
            (MemoryType::Device | MemoryType::Managed, Major::Five) | (MemoryType::Host, _) => 1,
            (MemoryType::Array, Major::Five) | (MemoryType::Device, _) => 2,
            (MemoryType::Unified, Major::Five) | (MemoryType::Managed, _) => 3,
            (MemoryType::Array, _) => 10,
            (MemoryType::Unified, _) => 11,
        }
    }

    /// The meaning of a value from a caller, if it has one.
    pub fn from_value(value: u32, major: Major) -> Option<MemoryType> {
        Some(match (value, major) {
            (0, Major::Five) | (1, Major::Six | Major::Seven) => MemoryType::Host,
            (1, Major::Five) | (2, Major::Six | Major::Seven) => MemoryType::Device,
            (2, Major::Five) | (10, Major::Six | Major::Seven) => MemoryType::Array,
            (3, Major::Five) | (11, Major::Six | Major::Seven) => MemoryType::Unified,
            (0, Major::Six | Major::Seven) => MemoryType::Unregistered,
            (3, Major::Six | Major::Seven) => MemoryType::Managed,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sonames() {
        assert_eq!(Major::from_soname(b"libamdhip64.so.5"), Some(Major::Five));
        assert_eq!(Major::from_soname(b"libamdhip64.so.7"), Some(Major::Seven));
        assert_eq!(Major::from_soname(b"libamdhip64.so"), None);
        assert_eq!(Major::from_soname(b"libamdhip64.so.4"), None);
        assert_eq!(Major::from_soname(b"libc.so.6"), None);
    }

    #[test]
    fn variable() {
        assert_eq!(from_variable("6.3"), Some(Major::Six));
        assert_eq!(from_variable("7"), Some(Major::Seven));
        assert_eq!(from_variable("nine"), None);
    }

    #[test]
    fn a_variable_that_a_soname_overrules_is_named() {
        let (five, six) = (Some(Major::Five), Some(Major::Six));
        let message = disagreement(five, six).expect("they differ");
        assert!(message.starts_with("GNEISS_HIP_VERSION=6 does not count"));
        assert!(message.ends_with("needs libamdhip64.so.5, so this is HIP 5"));
        assert_eq!(disagreement(six, six), None);
        assert_eq!(disagreement(None, six), None);
        assert_eq!(disagreement(six, None), None);
    }

    #[test]
    fn the_test_program_needs_no_hip() {
        assert_eq!(needed_by_loaded_objects(), None);
    }

    #[test]
    fn memory_types_moved_in_hip_6() {
        assert_eq!(MemoryType::Device.value(Major::Five), 1);
        assert_eq!(MemoryType::Device.value(Major::Six), 2);
        assert_eq!(MemoryType::Array.value(Major::Seven), 10);
        assert_eq!(
            MemoryType::from_value(3, Major::Five),
            Some(MemoryType::Unified)
        );
        assert_eq!(
            MemoryType::from_value(3, Major::Six),
            Some(MemoryType::Managed)
        );
        assert_eq!(MemoryType::from_value(4, Major::Six), None);
    }
}
