//! Live programs and link states by number.

use std::{collections::BTreeMap, ffi::c_void, sync::Arc};

use parking_lot::Mutex;

/// Objects of one kind. Numbers are never given twice.
#[derive(Debug)]
pub struct Objects<T> {
    live: Mutex<Live<T>>,
}

/// The number of the next object, and the live ones.
#[derive(Debug)]
struct Live<T> {
    next: usize,
    objects: BTreeMap<usize, Arc<Mutex<T>>>,
}

/// Numbers count from here in steps of 16, so that they look like no small integer and no address.
const FIRST: usize = 0x1000_0000_0000_0010;

impl<T> Objects<T> {
    /// None yet.
    pub const fn new() -> Self {
        Objects {
            live: Mutex::new(Live {
                next: FIRST,
                objects: BTreeMap::new(),
            }),
        }
    }

    /// Adds an object; gives its handle.
    pub fn insert(&self, object: T) -> *mut c_void {
        let mut live = self.live.lock();
        let number = live.next;
        live.next += 16;
        live.objects.insert(number, Arc::new(Mutex::new(object)));
        std::ptr::without_provenance_mut(number)
    }

    /// The object of a handle.
    pub fn get(&self, handle: *mut c_void) -> Option<Arc<Mutex<T>>> {
        self.live.lock().objects.get(&handle.addr()).cloned()
    }

    /// Ends a handle.
    pub fn remove(&self, handle: *mut c_void) -> Option<Arc<Mutex<T>>> {
        self.live.lock().objects.remove(&handle.addr())
    }
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self::new()
    }
}
