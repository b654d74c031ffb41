//! The exported functions of the library, and the tables by which tools put themselves between a program and the runtime.
//!
//! Every exported name is a small function here. As long as no tool is loaded the tables are empty and it calls the implementation in
//! [`crate::export`] directly. Before tools are loaded the tables are filled with the implementations; from then on each call
//! goes through its entry, which a tool may have replaced. Entries are single words that are written before a tool runs or by the tool
//! itself, so loads need no order.

mod names;

use std::{
    ffi::{c_char, c_void},
    sync::atomic::{AtomicUsize, Ordering},
};

use gneiss_hsa_api::*;

use crate::export;

/// Version of a table: `minor` is its size in bytes, by which a tool sees how many functions there are.
#[repr(C)]
#[derive(Debug)]
struct Version {
    major: u32,
    minor: u32,
    step: u32,
    reserved: u32,
}

/// A table of functions in the layout that tools know.
#[repr(C)]
#[derive(Debug)]
struct Functions<const N: usize> {
    version: Version,
    entries: [AtomicUsize; N],
}

impl<const N: usize> Functions<N> {
    const fn new(major: u32, step: u32) -> Self {
        Self {
            version: Version {
                major,
                minor: (size_of::<Version>() + N * size_of::<usize>()) as u32,
                step,
                reserved: 0,
            },
            entries: [const { AtomicUsize::new(0) }; N],
        }
    }
}

// Versions of ROCm 6.3, whose order of functions this is.
static CORE: Functions<{ names::CORE.len() }> = Functions::new(2, 0);
static AMD: Functions<{ names::AMD.len() }> = Functions::new(2, 4);
static FINALIZER: Functions<{ names::FINALIZER.len() }> = Functions::new(2, 0);
static IMAGE: Functions<{ names::IMAGE.len() }> = Functions::new(2, 0);
/// Callbacks for scratch memory: a tool may set them, and they are never called, for no scratch is ever allocated or reclaimed.
static TOOLS: Functions<6> = Functions::new(1, 0);
static PC_SAMPLING: Functions<{ names::PC_SAMPLING.len() }> = Functions::new(1, 0);

/// What a tool's `OnLoad` gets (`HsaApiTable`).
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Tables {
    version: Version,
    core: *const c_void,
    amd: *const c_void,
    finalizer: *const c_void,
    image: *const c_void,
    tools: *const c_void,
    pc_sampling: *const c_void,
}

impl Tables {
    /// The tables, filled.
    pub(crate) fn filled() -> Self {
        fill();
        Self {
            version: Version {
                major: 3,
                minor: size_of::<Tables>() as u32,
                step: 1,
                reserved: 0,
            },
            core: (&raw const CORE).cast(),
            amd: (&raw const AMD).cast(),
            finalizer: (&raw const FINALIZER).cast(),
            image: (&raw const IMAGE).cast(),
            tools: (&raw const TOOLS).cast(),
            pc_sampling: (&raw const PC_SAMPLING).cast(),
        }
    }
}

/// An entry of a table.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Core(usize),
    Amd(usize),
    Finalizer(usize),
    Image(usize),
    PcSampling(usize),
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    // From the end: names differ there.
    let mut at = a.len();
    while at > 0 {
        at -= 1;
        if a[at] != b[at] {
            return false;
        }
    }
    true
}

const fn position(names: &[&str], name: &str) -> Option<usize> {
    let mut at = 0;
    while at < names.len() {
        if same(names[at], name) {
            return Some(at);
        }
        at += 1;
    }
    None
}

impl Slot {
    /// The entry of a function; `None` for what no table holds: deprecated names, and our own.
    const fn of(name: &str) -> Option<Slot> {
        if let Some(at) = position(&names::CORE, name) {
            return Some(Slot::Core(at));
        }
        if let Some(at) = position(&names::AMD, name) {
            return Some(Slot::Amd(at));
        }
        if let Some(at) = position(&names::IMAGE, name) {
            return Some(Slot::Image(at));
        }
        if let Some(at) = position(&names::FINALIZER, name) {
            return Some(Slot::Finalizer(at));
        }
        if let Some(at) = position(&names::PC_SAMPLING, name) {
            return Some(Slot::PcSampling(at));
        }
        None
    }

    fn entry(self) -> &'static AtomicUsize {
        match self {
            Slot::Core(at) => &CORE.entries[at],
            Slot::Amd(at) => &AMD.entries[at],
            Slot::Finalizer(at) => &FINALIZER.entries[at],
            Slot::Image(at) => &IMAGE.entries[at],
            Slot::PcSampling(at) => &PC_SAMPLING.entries[at],
        }
    }

    #[inline(always)]
    fn load(self) -> usize {
        self.entry().load(Ordering::Relaxed)
    }
}

/// Defines one exported function.
macro_rules! function {
    ($name:ident ($($arg:ident: $type:ty),*) $(-> $ret:ty)?) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) $(-> $ret)? {
            const SLOT: Option<Slot> = Slot::of(stringify!($name));
            let entry = match SLOT {
                Some(slot) => slot.load(),
                None => 0,
            };
            if entry == 0 {
                // SAFETY: the caller's arguments.
                return unsafe { export::$name($($arg),*) };
            }
            // SAFETY: the entry is our function of this name, or the one that a tool has put there, with the same signature.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) $(-> $ret)? = std::mem::transmute(entry);
                function($($arg),*)
            }
        }
    };
}

macro_rules! functions {
    (
        required { $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?;)* }
        optional { $(fn $oname:ident($($oarg:ident: $otype:ty),* $(,)?) $(-> $oret:ty)?;)* }
    ) => {
        $(function! { $name ($($arg: $type),*) $(-> $ret)? })*
        $(function! { $oname ($($oarg: $otype),*) $(-> $oret)? })*

        /// Fills the tables with the implementations.
        fn fill() {
            let set = |slot: Option<Slot>, function: usize| {
                if let Some(slot) = slot {
                    slot.entry().store(function, Ordering::Relaxed);
                }
            };
            $(set(
                const { Slot::of(stringify!($name)) },
                export::$name as unsafe extern "C" fn($($type),*) $(-> $ret)? as usize,
            );)*
            $(set(
                const { Slot::of(stringify!($oname)) },
                export::$oname as unsafe extern "C" fn($($otype),*) $(-> $oret)? as usize,
            );)*
            set(
                const { Slot::of("hsa_amd_queue_intercept_create") },
                export::hsa_amd_queue_intercept_create as *const () as usize,
            );
            set(
                const { Slot::of("hsa_amd_queue_intercept_register") },
                export::hsa_amd_queue_intercept_register as *const () as usize,
            );
            set(
                const { Slot::of("hsa_amd_runtime_queue_create_register") },
                export::hsa_amd_runtime_queue_create_register as *const () as usize,
            );
        }
    };
}

gneiss_hsa_api::for_each_hsa_function!(functions);

/// Empties the tables: calls go to the implementations again.
pub(crate) fn clear() {
    let all = [
        &CORE.entries[..],
        &AMD.entries,
        &FINALIZER.entries,
        &IMAGE.entries,
        &TOOLS.entries,
        &PC_SAMPLING.entries,
    ];
    for entry in all.into_iter().flatten() {
        entry.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_every_table_has_a_function() {
        fill();
        let tables = [
            (&names::CORE[..], &CORE.entries[..]),
            (&names::AMD, &AMD.entries),
            (&names::FINALIZER, &FINALIZER.entries),
            (&names::IMAGE, &IMAGE.entries),
            (&names::PC_SAMPLING, &PC_SAMPLING.entries),
        ];
        for (names, entries) in tables {
            for (name, entry) in names.iter().zip(entries) {
                assert_ne!(entry.load(Ordering::Relaxed), 0, "{name}");
            }
        }
        clear();
        assert_eq!(size_of_val(&CORE), 16 + 8 * names::CORE.len());
        assert_eq!(AMD.version.minor as usize, size_of_val(&AMD));
    }
}
