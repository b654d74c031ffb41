//! User objects: what a program wants kept as long as a graph may use it. The last reference that goes calls the destructor.
//!
//! References that are not there, of a live object or of one that has ended, are given back and added without effect: AMD's runtime calls that a
//! success (`hip_graph.cpp`). The log says so.

use std::{
    ffi::c_void,
    sync::{Arc, OnceLock},
};

use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use super::types::{hipGraph_t, hipUserObject_t};
use crate::{
    error::*,
    fail,
    handle::{Kind, Table},
    log_error,
    types::hipHostFn_t,
};

/// The only flag of creation, which must be given: destructors may run at any time.
const NO_DESTRUCTOR_SYNC: u32 = 1;
/// The caller's references become the graph's.
const MOVE: u32 = 1;

static OBJECTS: Table<UserObject> = Table::new(Kind::UserObject);

/// A user object.
#[derive(Debug)]
pub struct UserObject {
    references: Mutex<u64>,
    destroy: unsafe extern "C" fn(*mut c_void),
    data: usize,
    handle: OnceLock<usize>,
}

impl UserObject {
    fn retain(&self, count: u64) {
        *self.references.lock() += count;
    }

    fn release(&self, count: u64) {
        {
            let mut references = self.references.lock();
            if *references < count {
                log_error!(
                    "the user object has {references} references, not {count}: none is released"
                );
                return;
            }
            *references -= count;
            if *references > 0 {
                return;
            }
        }
        if let Some(handle) = self.handle.get() {
            OBJECTS.remove(*handle);
        }
        // SAFETY: the creator promises that the destructor can be called with its pointer from any thread, once.
        unsafe { (self.destroy)(std::ptr::with_exposed_provenance_mut(self.data)) };
    }
}

/// References that a graph holds; they go when this goes.
#[derive(Debug)]
pub struct Held {
    object: Arc<UserObject>,
    count: u64,
}

impl Held {
    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether they are of the object of that handle.
    pub fn is(&self, handle: usize) -> bool {
        self.object.handle.get() == Some(&handle)
    }

    /// Takes up to `count` out.
    pub fn split(&mut self, count: u64) -> Held {
        let count = count.min(self.count);
        self.count -= count;
        Held {
            object: Arc::clone(&self.object),
            count,
        }
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        self.object.retain(self.count);
        Held {
            object: Arc::clone(&self.object),
            count: self.count,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.count > 0 {
            self.object.release(self.count);
        }
    }
}

/// The object of a handle; none if it has ended.
fn find(handle: hipUserObject_t) -> HipResult<Option<Arc<UserObject>>> {
    if handle.is_null() {
        return fail!(hipErrorInvalidValue, "the user object is null");
    }
    let object = OBJECTS.get(handle.addr());
    if object.is_none() {
        log_error!("{:#x} is not a live user object", handle.addr());
    }
    Ok(object)
}

fn count_of(count: u32) -> HipResult<u64> {
    if count == 0 || count > i32::MAX as u32 {
        return fail!(hipErrorInvalidValue, "{count} references");
    }
    Ok(count.into())
}

/// Makes a user object with a destructor.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipUserObjectCreate(
    object_out: *mut hipUserObject_t,
    ptr: *mut c_void,
    destroy: hipHostFn_t,
    initialRefcount: u32,
    flags: u32,
) -> hipError_t {
    let (Some(destroy), false) = (destroy, object_out.is_null()) else {
        return fail!(
            hipErrorInvalidValue,
            "no place for the user object, or no destructor"
        );
    };
    if flags != NO_DESTRUCTOR_SYNC {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipUserObjectCreate: must be hipUserObjectNoDestructorSync (1)"
        );
    }
    let object = Arc::new(UserObject {
        references: Mutex::new(count_of(initialRefcount)?),
        destroy,
        data: ptr.expose_provenance(),
        handle: OnceLock::new(),
    });
    let Some(handle) = OBJECTS.insert(Arc::clone(&object)) else {
        return fail!(hipErrorOutOfMemory, "too many user objects");
    };
    let _ = object.handle.set(handle);
    // SAFETY: not null; the caller promises a valid place.
    unsafe { object_out.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Adds references to a user object.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipUserObjectRetain(object: hipUserObject_t, count: u32) -> hipError_t {
    let count = count_of(count)?;
    if let Some(object) = find(object)? {
        object.retain(count);
    }
    Ok(())
}

/// Takes references from a user object; the last one ends it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipUserObjectRelease(object: hipUserObject_t, count: u32) -> hipError_t {
    let count = count_of(count)?;
    if let Some(object) = find(object)? {
        object.release(count);
    }
    Ok(())
}

/// Makes a graph hold references to a user object: new ones, or with `hipGraphUserObjectMove` the caller's, as many as there are.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphRetainUserObject(
    graph: hipGraph_t,
    object: hipUserObject_t,
    count: u32,
    flags: u32,
) -> hipError_t {
    let graph = super::find(graph)?;
    let count = count_of(count)?;
    if flags != 0 && flags != MOVE {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipGraphRetainUserObject: must be 0 or hipGraphUserObjectMove (1)"
        );
    }
    let Some(object) = find(object)? else {
        return Ok(());
    };
    let count = if flags == MOVE {
        let has = *object.references.lock();
        if has < count {
            log_error!("the user object has {has} references, not {count}");
        }
        has.min(count)
    } else {
        object.retain(count);
        count
    };
    graph.hold(Held { object, count });
    Ok(())
}

/// Makes a graph let go of references to a user object.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphReleaseUserObject(
    graph: hipGraph_t,
    object: hipUserObject_t,
    count: u32,
) -> hipError_t {
    let count = count_of(count)?;
    let graph = super::find(graph)?;
    if find(object)?.is_some() {
        graph.let_go(object.addr(), count);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    unsafe extern "C" fn count_up(data: *mut c_void) {
        // SAFETY: the test passes a counter that outlives the object.
        unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn the_last_reference_calls_the_destructor_once() {
        let ended = AtomicU32::new(0);
        let object = Arc::new(UserObject {
            references: Mutex::new(1),
            destroy: count_up,
            data: (&raw const ended).expose_provenance(),
            handle: OnceLock::new(),
        });
        object.retain(2);
        let mut held = Held {
            object: Arc::clone(&object),
            count: 2,
        };
        let copy = held.clone();
        drop(held.split(1));
        object.release(9);
        object.release(1);
        drop(held);
        assert_eq!(ended.load(Ordering::Relaxed), 0);
        drop(copy);
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    }
}
