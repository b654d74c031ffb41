//! Handles: what a C caller holds for a context, a queue, a memory object.
//!
//! The ICD loader follows every handle to its first word, the dispatch table, before any code of ours sees it. So a handle is the address of
//! a [`Slot`] whose first word is that table for ever: slots live in segments of doubling size that are never freed or moved. What a caller
//! passes is looked up among the segments before it is followed; a foreign, stale or invented handle is an error of its kind.
//!
//! An object lives as long as the caller has references ([`Table::retain`], [`Table::release`]) or something else of ours holds its `Arc`: a
//! queue keeps its context. Its handle is good for as long, as the specification's implicit references ask for. A slot is given out again
//! only after many others, so a stale handle is mostly seen as one.

use std::{
    collections::VecDeque,
    ptr::NonNull,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;

use crate::{
    dispatch::{DISPATCH, Dispatch},
    error::{Code, Result},
};

const FIRST_SEGMENT: usize = 64;
const SEGMENTS: usize = 20;
/// Free slots that are kept back, so that a stale handle is seen as one for a while.
const KEPT_BACK: usize = 256;

/// What has handles.
pub trait Object: Sized + Send + Sync + 'static {
    /// What a handle that is none gives.
    const INVALID: Code;
    /// All handles of this kind.
    fn table() -> &'static Table<Self>;
    /// The object's own handle.
    fn handle(&self) -> &Handle<Self>;
}

/// Makes a type with a field `handle` an [`Object`], with a table of its own and the code for handles that are none.
macro_rules! object {
    ($type:ty, $invalid:expr) => {
        impl $crate::handle::Object for $type {
            const INVALID: $crate::error::Code = $invalid;
            fn table() -> &'static $crate::handle::Table<Self> {
                static TABLE: $crate::handle::Table<$type> = $crate::handle::Table::new();
                &TABLE
            }
            fn handle(&self) -> &$crate::handle::Handle<Self> {
                &self.handle
            }
        }
    };
}
pub(crate) use object;

#[derive(Debug)]
struct State<T> {
    /// The caller's references.
    references: u32,
    /// There while the caller has references.
    strong: Option<Arc<T>>,
    weak: Weak<T>,
}

/// The memory that a handle points to.
#[repr(C)]
#[derive(Debug)]
pub struct Slot<T> {
    /// Read by the ICD loader.
    dispatch: &'static Dispatch,
    state: Mutex<State<T>>,
}

impl<T> Slot<T> {
    fn new() -> Self {
        Self {
            dispatch: &DISPATCH,
            state: Mutex::new(State {
                references: 0,
                strong: None,
                weak: Weak::new(),
            }),
        }
    }
}

/// An object's hold on its slot; dropped with the object.
#[derive(Debug)]
pub struct Handle<T: Object>(NonNull<Slot<T>>);

// SAFETY: a slot lives for ever and is only changed under its lock.
unsafe impl<T: Object> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T: Object> Sync for Handle<T> {}

impl<T: Object> Handle<T> {
    /// What the caller gets.
    pub fn raw(&self) -> *mut Slot<T> {
        self.0.as_ptr()
    }

    fn slot(&self) -> &'static Slot<T> {
        // SAFETY: slots live for ever.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Object> Drop for Handle<T> {
    fn drop(&mut self) {
        let old = std::mem::take(&mut self.slot().state.lock().weak);
        drop(old);
        T::table().free.lock().push_back(self.0.as_ptr() as usize);
    }
}

/// All handles of one kind.
#[derive(Debug)]
pub struct Table<T> {
    segments: [OnceLock<Box<[Slot<T>]>>; SEGMENTS],
    /// Slots that were ever given out.
    fresh: AtomicUsize,
    free: Mutex<VecDeque<usize>>,
}

/// Segment and place in it of the slot with a number.
fn locate(number: usize) -> (usize, usize) {
    let shifted = number + FIRST_SEGMENT;
    let log2 = shifted.ilog2();
    (
        (log2 - FIRST_SEGMENT.ilog2()) as usize,
        shifted - (1 << log2),
    )
}

impl<T: Object> Table<T> {
    /// An empty table.
    #[expect(clippy::new_without_default, reason = "only for statics")]
    pub const fn new() -> Self {
        Self {
            segments: [const { OnceLock::new() }; SEGMENTS],
            fresh: AtomicUsize::new(0),
            free: Mutex::new(VecDeque::new()),
        }
    }

    /// Makes an object with a handle and one reference of the caller's. `None`: there are about 67 million of them.
    pub fn insert(&self, make: impl FnOnce(Handle<T>) -> T) -> Option<Arc<T>> {
        let handle = Handle(self.take_slot()?);
        let slot = handle.slot();
        let object = Arc::new(make(handle));
        let mut state = slot.state.lock();
        *state = State {
            references: 1,
            strong: Some(Arc::clone(&object)),
            weak: Arc::downgrade(&object),
        };
        Some(object)
    }

    fn take_slot(&self) -> Option<NonNull<Slot<T>>> {
        let mut free = self.free.lock();
        if free.len() > KEPT_BACK
            && let Some(address) = free.pop_front()
        {
            return NonNull::new(std::ptr::with_exposed_provenance_mut(address));
        }
        let number = self.fresh.load(Ordering::Relaxed);
        let (segment, place) = locate(number);
        let slots = self.segments.get(segment)?.get_or_init(|| {
            let slots: Box<[Slot<T>]> =
                (0..FIRST_SEGMENT << segment).map(|_| Slot::new()).collect();
            slots
        });
        self.fresh.store(number + 1, Ordering::Relaxed);
        let slot = std::ptr::from_ref(&slots[place]);
        slot.expose_provenance();
        NonNull::new(slot.cast_mut())
    }

    /// The slot of what the caller says is a handle.
    fn slot(&self, handle: *mut Slot<T>) -> Option<&Slot<T>> {
        let address = handle.addr();
        for segment in &self.segments {
            let slots = segment.get()?;
            let offset = address.wrapping_sub(slots.as_ptr().addr());
            if offset < size_of_val::<[Slot<T>]>(slots) {
                return offset
                    .is_multiple_of(size_of::<Slot<T>>())
                    .then(|| &slots[offset / size_of::<Slot<T>>()]);
            }
        }
        None
    }

    /// The object of a handle.
    ///
    /// # Errors
    /// The code of the kind.
    pub fn get(&self, handle: *mut Slot<T>) -> Result<Arc<T>> {
        self.slot(handle)
            .and_then(|slot| {
                let state = slot.state.lock();
                state.strong.clone().or_else(|| state.weak.upgrade())
            })
            .ok_or(T::INVALID)
    }

    /// One more reference of the caller's.
    ///
    /// # Errors
    /// The code of the kind.
    pub fn retain(&self, handle: *mut Slot<T>) -> Result {
        let slot = self.slot(handle).ok_or(T::INVALID)?;
        let mut state = slot.state.lock();
        if state.strong.is_none() {
            state.strong = Some(state.weak.upgrade().ok_or(T::INVALID)?);
        }
        state.references += 1;
        Ok(())
    }

    /// One reference less; with the last one the object is given back for its end.
    ///
    /// # Errors
    /// The code of the kind.
    pub fn release(&self, handle: *mut Slot<T>) -> Result<Option<Arc<T>>> {
        let slot = self.slot(handle).ok_or(T::INVALID)?;
        let mut state = slot.state.lock();
        if state.strong.is_none() {
            return Err(T::INVALID);
        }
        state.references -= 1;
        Ok(if state.references == 0 {
            state.strong.take()
        } else {
            None
        })
    }

    /// The caller's references; 0 for no handle.
    pub fn references(&self, handle: *mut Slot<T>) -> u32 {
        self.slot(handle)
            .map_or(0, |slot| slot.state.lock().references)
    }

    /// Objects that the caller has references to.
    pub fn live(&self) -> usize {
        self.segments
            .iter()
            .map_while(OnceLock::get)
            .flat_map(|slots| slots.iter())
            .filter(|slot| slot.state.lock().strong.is_some())
            .count()
    }
}

/// The object of a handle.
///
/// # Errors
/// The code of the kind.
pub fn get<T: Object>(handle: *mut Slot<T>) -> Result<Arc<T>> {
    T::table().get(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Number {
        handle: Handle<Number>,
        value: u32,
    }

    static NUMBERS: Table<Number> = Table::new();

    impl Object for Number {
        const INVALID: Code = -77;
        fn table() -> &'static Table<Self> {
            &NUMBERS
        }
        fn handle(&self) -> &Handle<Self> {
            &self.handle
        }
    }

    fn make(value: u32) -> Arc<Number> {
        NUMBERS
            .insert(|handle| Number { handle, value })
            .expect("room")
    }

    #[test]
    fn an_object_lives_while_somebody_has_it_and_its_handle_ends_with_it() {
        let first = make(7);
        let raw = first.handle.raw();
        assert_eq!(get(raw).map(|number| number.value), Ok(7));
        assert_eq!(NUMBERS.retain(raw), Ok(()));
        assert!(NUMBERS.release(raw).expect("a handle").is_none());
        assert_eq!(NUMBERS.references(raw), 1);
        assert!(NUMBERS.release(raw).expect("a handle").is_some());
        // The caller has no reference, but `first` keeps it.
        assert_eq!(get(raw).map(|number| number.value), Ok(7));
        assert_eq!(NUMBERS.release(raw).err(), Some(-77));
        drop(first);
        assert_eq!(get(raw).err(), Some(-77));
        assert_eq!(NUMBERS.retain(raw), Err(-77));
    }

    #[test]
    fn invented_handles_are_refused_and_many_objects_have_handles_of_their_own() {
        let many: Vec<_> = (0..1000).map(make).collect();
        for (value, object) in many.iter().enumerate() {
            let raw = object.handle.raw();
            assert_eq!(get(raw).map(|number| number.value), Ok(value as u32));
            assert_eq!(get(raw.map_addr(|address| address + 8)).err(), Some(-77));
        }
        assert_eq!(get::<Number>(std::ptr::null_mut()).err(), Some(-77));
        assert_eq!(
            get::<Number>(std::ptr::without_provenance_mut(0x1000)).err(),
            Some(-77)
        );
        for object in many {
            assert!(NUMBERS.release(object.handle.raw()).is_ok());
        }
    }
}
