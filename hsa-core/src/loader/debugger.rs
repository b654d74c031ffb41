//! The list of loaded code for debuggers: `_amdgpu_r_debug`, in the layout of `r_debug` of `link.h`, as in ROCr.
//!
//! A debugger stops at `r_brk`, which is called before and after each change, and reads the list: each entry has the URI of a
//! code object and the difference between the addresses in its file and in memory. The list is read from outside the process, so
//! its fields are written as atomics, under the lock below.

use std::{
    ffi::CString,
    ptr,
    sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering},
};

use gneiss_hsa_api::link_map;
use parking_lot::Mutex;

/// The head of the list.
#[repr(C)]
#[derive(Debug)]
pub struct DebugList {
    r_version: AtomicI32,
    r_map: AtomicPtr<link_map>,
    r_brk: AtomicU64,
    r_state: AtomicI32,
    r_ldbase: AtomicU64,
}

/// Version of the list's layout in ROCr.
const VERSION: i32 = 9;
/// States of the list.
const CONSISTENT: i32 = 0;
const ADD: i32 = 1;
const DELETE: i32 = 2;

/// A debugger finds the loaded code here.
#[unsafe(no_mangle)]
pub static _amdgpu_r_debug: DebugList = DebugList {
    r_version: AtomicI32::new(VERSION),
    r_map: AtomicPtr::new(ptr::null_mut()),
    r_brk: AtomicU64::new(0),
    r_state: AtomicI32::new(CONSISTENT),
    r_ldbase: AtomicU64::new(0),
};

/// An entry and what it points to. Its address stays while it is in the list.
struct Entry {
    /// Base address of the code object.
    base: u64,
    map: Box<link_map>,
    _uri: CString,
}

// SAFETY: the pointers in the entry are to memory that it owns, or to other entries of the list, which is changed under its lock.
unsafe impl Send for Entry {}

static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Where debuggers stop when the list changes.
#[inline(never)]
extern "C" fn changed() {
    std::hint::black_box(());
}

fn relink(entries: &mut [Entry], state: i32) {
    let list = &_amdgpu_r_debug;
    list.r_brk
        .store(changed as *const () as u64, Ordering::Relaxed);
    list.r_state.store(state, Ordering::Release);
    changed();
    for at in 0..entries.len() {
        let previous = at
            .checked_sub(1)
            .map_or(ptr::null_mut(), |at| &raw mut *entries[at].map);
        let next = entries
            .get_mut(at + 1)
            .map_or(ptr::null_mut(), |entry| &raw mut *entry.map);
        entries[at].map.l_prev = previous;
        entries[at].map.l_next = next;
    }
    let first = entries
        .first_mut()
        .map_or(ptr::null_mut(), |entry| &raw mut *entry.map);
    list.r_map.store(first, Ordering::Release);
    list.r_state.store(CONSISTENT, Ordering::Release);
    changed();
}

/// Adds a code object.
pub(super) fn loaded(base: u64, delta: u64, uri: &str) {
    let Ok(uri) = CString::new(uri) else { return };
    let map = Box::new(link_map {
        l_addr: delta,
        l_name: uri.as_ptr(),
        l_ld: ptr::null(),
        l_next: ptr::null_mut(),
        l_prev: ptr::null_mut(),
    });
    let mut entries = ENTRIES.lock();
    entries.push(Entry {
        base,
        map,
        _uri: uri,
    });
    relink(&mut entries, ADD);
}

/// Removes a code object.
pub(super) fn unloaded(base: u64) {
    let mut entries = ENTRIES.lock();
    if let Some(at) = entries.iter().position(|entry| entry.base == base) {
        let gone = entries.remove(at);
        relink(&mut entries, DELETE);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn uris() -> Vec<String> {
        let mut at = _amdgpu_r_debug.r_map.load(Ordering::Acquire);
        let mut found = Vec::new();
        // SAFETY: entries of the list are valid while no other test changes it.
        while let Some(entry) = unsafe { at.as_ref() } {
            // SAFETY: as above.
            found.push(
                unsafe { CStr::from_ptr(entry.l_name) }
                    .to_string_lossy()
                    .into_owned(),
            );
            at = entry.l_next;
        }
        found
    }

    #[test]
    fn a_debugger_can_follow_the_list() {
        loaded(0x1000, 0x1000, "file:///a#offset=0x0&size=0x10");
        loaded(0x2000, 0x2000, "memory://1#offset=0x5000&size=0x20");
        assert_eq!(uris().len(), 2);
        unloaded(0x1000);
        assert_eq!(uris(), ["memory://1#offset=0x5000&size=0x20"]);
        assert_ne!(_amdgpu_r_debug.r_brk.load(Ordering::Relaxed), 0);
        unloaded(0x2000);
        assert!(uris().is_empty());
    }
}
