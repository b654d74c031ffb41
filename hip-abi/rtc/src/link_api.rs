//! The C functions of the linker.

use std::{
    ffi::{c_char, c_void},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    api::{call, give, text},
    link::{Link, check_kind},
    objects::Objects,
    result::*,
};

/// A link state's handle.
pub type hiprtcLinkState = *mut c_void;

/// `HIPRTC_JIT_IR_TO_ISA_OPT_EXT`: strings for code generation; the next value is their number.
const OPTION_IR_TO_ISA: u32 = 10000;
const OPTION_IR_TO_ISA_COUNT: u32 = 10001;

static LINKS: Objects<Link> = Objects::new();

fn find(state: hiprtcLinkState) -> Result<Arc<Mutex<Link>>> {
    LINKS.get(state).ok_or(HIPRTC_ERROR_INVALID_INPUT)
}

/// The strings that the options hold for code generation; options that mean something on other hardware only are passed over, as
/// AMD's linker does.
///
/// # Safety
/// `count` options and values.
unsafe fn code_options(
    count: u32,
    options: *const u32,
    values: *const *mut c_void,
) -> Result<Vec<String>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if options.is_null() || values.is_null() || count > 1024 {
        return Err(HIPRTC_ERROR_INVALID_INPUT);
    }
    // SAFETY: not null; as the caller promises.
    let (options, values) = unsafe {
        (
            std::slice::from_raw_parts(options, count as usize),
            std::slice::from_raw_parts(values, count as usize),
        )
    };
    let value = |wanted: u32| {
        options
            .iter()
            .position(|option| *option == wanted)
            .map(|index| values[index])
    };
    let (Some(strings), Some(number)) = (value(OPTION_IR_TO_ISA), value(OPTION_IR_TO_ISA_COUNT))
    else {
        return Ok(Vec::new());
    };
    if strings.is_null() || number.addr() > 1024 {
        return Err(HIPRTC_ERROR_INVALID_OPTION);
    }
    // SAFETY: the option's value is an array of that many strings.
    unsafe {
        std::slice::from_raw_parts(strings.cast::<*const c_char>(), number.addr())
            .iter()
            .map(|string| text(*string))
            .collect()
    }
}

/// Creates a link state.
///
/// # Safety
/// The arrays must hold `numOptions` elements, the place must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcLinkCreate(
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
    hipLinkState: *mut hiprtcLinkState,
) -> hiprtcResult {
    call(|| {
        if hipLinkState.is_null() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        // SAFETY: as the caller promises.
        unsafe {
            let options = code_options(numOptions, options, optionValues)?;
            give(hipLinkState, LINKS.insert(Link::new(options)))
        }
    })
}

/// Adds bitcode from memory.
///
/// # Safety
/// `image` must be null or hold `imageSize` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcLinkAddData(
    hipLinkState: hiprtcLinkState,
    inputType: u32,
    image: *mut c_void,
    imageSize: usize,
    name: *const c_char,
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
) -> hiprtcResult {
    let _ = (name, numOptions, options, optionValues);
    call(|| {
        if image.is_null() || imageSize == 0 {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        check_kind(inputType)?;
        let link = find(hipLinkState)?;
        // SAFETY: not null; as the caller promises.
        let bytes =
            unsafe { std::slice::from_raw_parts(image.cast::<u8>().cast_const(), imageSize) };
        link.lock().add(inputType, bytes)
    })
}

/// Adds bitcode from a file.
///
/// # Safety
/// `filePath` must be null or a terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcLinkAddFile(
    hipLinkState: hiprtcLinkState,
    inputType: u32,
    filePath: *const c_char,
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
) -> hiprtcResult {
    let _ = (numOptions, options, optionValues);
    call(|| {
        check_kind(inputType)?;
        let link = find(hipLinkState)?;
        // SAFETY: as the caller promises.
        let path = unsafe { text(filePath)? };
        let bytes = std::fs::read(&path).map_err(|error| {
            eprintln!("gneiss: hiprtcLinkAddFile: {path}: {error}");
            HIPRTC_ERROR_PROGRAM_CREATION_FAILURE
        })?;
        link.lock().add(inputType, &bytes)
    })
}

/// Links; the code object lives as long as the link state.
///
/// # Safety
/// The places must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcLinkComplete(
    hipLinkState: hiprtcLinkState,
    binOut: *mut *mut c_void,
    sizeOut: *mut usize,
) -> hiprtcResult {
    call(|| {
        if binOut.is_null() || sizeOut.is_null() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        let link = find(hipLinkState)?;
        let mut link = link.lock();
        link.complete()?;
        // SAFETY: as the caller promises.
        unsafe {
            give(binOut, link.executable.as_mut_ptr().cast())?;
            give(sizeOut, link.executable.len())
        }
    })
}

/// Ends a link state.
///
/// # Safety
/// None: the handle is checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcLinkDestroy(hipLinkState: hiprtcLinkState) -> hiprtcResult {
    call(|| {
        LINKS
            .remove(hipLinkState)
            .map(drop)
            .ok_or(HIPRTC_ERROR_INVALID_INPUT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_linked_is_told_before_its_file_is_looked_for() {
        let link: hiprtcLinkState = std::ptr::without_provenance_mut(0x1234);
        let (none, values) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the call takes any handle, and the name is terminated.
        let cubin =
            unsafe { hiprtcLinkAddFile(link, 0, c"no such file".as_ptr(), 0, none, values) };
        assert_eq!(cubin, HIPRTC_ERROR_INVALID_INPUT);
    }
}
