//! The three arguments of every query: size and place for the value, and a place for the size that it needs.

use std::ffi::c_void;

use crate::{
    constants::CL_INVALID_VALUE,
    error::Result,
    fail,
    types::{Out, cl_bool},
};

/// Where the value of a query goes.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Bytes at `value`.
    pub size: usize,
    /// The place; null if only the size is asked for.
    pub value: *mut c_void,
    /// Place for the size.
    pub needed: Out<usize>,
}

impl Query {
    /// Answers with bytes.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` if there is a place and it is too small.
    pub fn bytes(&self, bytes: &[u8]) -> Result {
        if !self.value.is_null() {
            if self.size < bytes.len() {
                return fail!(
                    CL_INVALID_VALUE,
                    "the value has {} bytes, the place for it {}",
                    bytes.len(),
                    self.size
                );
            }
            // SAFETY: the caller's place has that many bytes, by the contract of every query.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.value.cast(), bytes.len());
            }
        }
        self.needed.set(bytes.len());
        Ok(())
    }

    /// Answers with a plain value.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn value<T: Copy>(&self, value: T) -> Result {
        self.list(&[value])
    }

    /// Answers with a truth.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn truth(&self, value: bool) -> Result {
        self.value(cl_bool::from(value))
    }

    /// Answers with a list of plain values without padding.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn list<T: Copy>(&self, values: &[T]) -> Result {
        // SAFETY: the types of answers are integers, pointers and structs of them without padding.
        self.bytes(unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values))
        })
    }

    /// Answers with a text, which is ended by a zero.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn text(&self, text: &str) -> Result {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        self.bytes(&bytes)
    }

    /// There is no such parameter.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE`, always.
    pub fn unknown(&self, name: u32) -> Result {
        fail!(CL_INVALID_VALUE, "there is no parameter {name:#x} here")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn ask(size: usize, value: *mut c_void, needed: Out<usize>) -> i32 {
        let query = Query {
            size,
            value,
            needed,
        };
        query.text("abc").err().unwrap_or(0)
    }

    type Ask = unsafe extern "C" fn(usize, *mut c_void, *mut usize) -> i32;

    #[test]
    fn a_place_that_is_too_small_is_refused_and_the_size_can_be_asked_for_alone() {
        // As a C caller sees it.
        let pointer: unsafe extern "C" fn(usize, *mut c_void, Out<usize>) -> i32 = ask;
        // SAFETY: the wrapper has the layout of the pointer.
        let ask: Ask = unsafe { std::mem::transmute(pointer) };
        let (mut place, mut needed) = ([9_u8; 4], 0);
        let at = place.as_mut_ptr().cast();
        // SAFETY: the places are valid.
        unsafe {
            assert_eq!(ask(3, at, &raw mut needed), CL_INVALID_VALUE);
            assert_eq!((place[0], needed), (9, 0));
            assert_eq!(ask(0, std::ptr::null_mut(), &raw mut needed), 0);
            assert_eq!(needed, 4);
            assert_eq!(ask(4, at, std::ptr::null_mut()), 0);
        }
        assert_eq!(&place, b"abc\0");
    }
}
