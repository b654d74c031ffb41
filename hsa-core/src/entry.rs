//! What every C entry point does around its body: no panic leaves it, errors are logged, and what is not supported says so.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gneiss_hsa_api::*;

/// The result inside the library; the error is what the C function returns.
pub(crate) type HsaResult<T = ()> = Result<T, hsa_status_t>;

/// Runs the body of the entry point `name`; a panic becomes `HSA_STATUS_ERROR`.
pub(crate) fn guard(name: &'static str, body: impl FnOnce() -> HsaResult) -> hsa_status_t {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => HSA_STATUS_SUCCESS,
        Ok(Err(HSA_STATUS_INFO_BREAK)) => HSA_STATUS_INFO_BREAK,
        Ok(Err(status)) => {
            tracing::debug!(function = name, %status, "HSA call failed");
            status
        }
        Err(_) => {
            tracing::error!(function = name, "a bug: HSA call panicked");
            HSA_STATUS_ERROR
        }
    }
}

/// The answer of a function that this runtime does not do: names it in the log and fails with the documented status.
pub(crate) fn unsupported(name: &'static str, status: hsa_status_t) -> hsa_status_t {
    tracing::warn!(function = name, %status, "not supported by the software GPU");
    status
}

/// The body of an entry point that returns a status: `entry!(hsa_name, { … Ok(()) })`.
macro_rules! entry {
    ($name:ident, $body:block) => {
        $crate::entry::guard(stringify!($name), || $body)
    };
}
pub(crate) use entry;

/// Fails with `HSA_STATUS_ERROR_INVALID_ARGUMENT` unless the condition holds.
pub(crate) fn require(condition: bool) -> HsaResult {
    if condition {
        Ok(())
    } else {
        Err(HSA_STATUS_ERROR_INVALID_ARGUMENT)
    }
}

/// Writes to an out-parameter; null is an invalid argument.
///
/// # Safety
/// `pointer` is null or valid for a write of `T`; alignment does not matter.
pub(crate) unsafe fn write_out<T>(pointer: *mut T, value: T) -> HsaResult {
    require(!pointer.is_null())?;
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Writes an attribute's value of exactly the type's size: clients pass buffers of different widths.
///
/// # Safety
/// As [`write_out`].
pub(crate) unsafe fn write_value<T>(pointer: *mut std::ffi::c_void, value: T) -> HsaResult {
    // SAFETY: the caller's promise.
    unsafe { write_out(pointer.cast::<T>(), value) }
}

/// Writes a text of at most `capacity - 1` bytes and fills the rest with zeros.
///
/// # Safety
/// `pointer` is null or valid for writes of `capacity` bytes.
pub(crate) unsafe fn write_text(
    pointer: *mut std::ffi::c_void,
    text: &str,
    capacity: usize,
) -> HsaResult {
    require(!pointer.is_null())?;
    let length = text.len().min(capacity - 1);
    // SAFETY: `length < capacity`, and the caller vouches for `capacity` bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), pointer.cast(), length);
        std::ptr::write_bytes(pointer.cast::<u8>().add(length), 0, capacity - length);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guard("test", || panic!("on purpose")), HSA_STATUS_ERROR);
        assert_eq!(
            guard("test", || Err(HSA_STATUS_ERROR_INVALID_AGENT)),
            HSA_STATUS_ERROR_INVALID_AGENT
        );
        assert_eq!(guard("test", || Ok(())), HSA_STATUS_SUCCESS);
    }

    #[test]
    fn text_is_cut_and_padded() {
        let mut buffer = [0xffu8; 8];
        // SAFETY: the buffer has 8 bytes.
        unsafe { write_text(buffer.as_mut_ptr().cast(), "gfx90a long", 8) }.expect("fits");
        assert_eq!(&buffer, b"gfx90a \0");
    }
}
