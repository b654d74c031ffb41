//! The deprecated interface to code objects, which older programs use.

mod common;

use std::ffi::c_void;

use common::{
    Client,
    kernels::{Kernels, code},
};
use gneiss_hsa_api::*;

/// A code object from bytes.
fn deserialize(client: &Client, bytes: &[u8]) -> Result<hsa_code_object_t, hsa_status_t> {
    let mut object = hsa_code_object_t::default();
    // SAFETY: the bytes are there for the call; the out-parameter fits.
    unsafe {
        (client.api.hsa_code_object_deserialize)(
            bytes.as_ptr().cast_mut().cast(),
            bytes.len(),
            std::ptr::null(),
            &mut object,
        )
    }
    .ok()?;
    Ok(object)
}

unsafe extern "C" fn collect(
    _object: hsa_code_object_t,
    symbol: hsa_code_symbol_t,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: `data` is the vector that the test passes.
    unsafe { (*data.cast::<Vec<hsa_code_symbol_t>>()).push(symbol) };
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn allocate(
    size: usize,
    data: hsa_callback_data_t,
    address: *mut *mut c_void,
) -> hsa_status_t {
    // SAFETY: the data is the address of the test's buffer.
    unsafe {
        let buffer = &mut *(data.handle as *mut Vec<u8>);
        buffer.resize(size, 0);
        address.write(buffer.as_mut_ptr().cast());
    }
    HSA_STATUS_SUCCESS
}

#[test]
fn a_code_object_can_be_asked_written_and_loaded() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let api = &client.api;
    let bytes = std::fs::read(path).expect("compiled");
    let object = deserialize(&client, &bytes).expect("a code object");

    let name_of = |symbol| {
        let mut length = 0u32;
        // SAFETY: the buffers have the sizes of the attributes.
        unsafe {
            let info = api.hsa_code_symbol_get_info;
            info(
                symbol,
                HSA_CODE_SYMBOL_INFO_NAME_LENGTH,
                (&raw mut length).cast(),
            )
            .ok()
            .expect("length");
            let mut name = vec![0u8; length as usize];
            info(symbol, HSA_CODE_SYMBOL_INFO_NAME, name.as_mut_ptr().cast())
                .ok()
                .expect("name");
            String::from_utf8(name).expect("UTF-8")
        }
    };
    let mut symbols: Vec<hsa_code_symbol_t> = Vec::new();
    // SAFETY: the callbacks, their data, the names and the out-parameters fit.
    unsafe {
        (api.hsa_code_object_iterate_symbols)(object, Some(collect), (&raw mut symbols).cast())
            .ok()
            .expect("symbols");
        let mut names: Vec<String> = symbols.iter().map(|&symbol| name_of(symbol)).collect();
        names.sort();
        assert_eq!(names, ["add.kd", "answer", "ring.kd", "spin.kd", "wild.kd"]);

        let mut add = hsa_code_symbol_t::default();
        (api.hsa_code_object_get_symbol)(object, c"add.kd".as_ptr(), &mut add)
            .ok()
            .expect("a kernel");
        let (mut kind, mut kernarg) = (9u32, 0u32);
        let info = api.hsa_code_symbol_get_info;
        info(add, HSA_CODE_SYMBOL_INFO_TYPE, (&raw mut kind).cast())
            .ok()
            .expect("kind");
        let size = HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE;
        info(add, size, (&raw mut kernarg).cast())
            .ok()
            .expect("size");
        assert_eq!(kind, HSA_SYMBOL_KIND_KERNEL);
        assert!(
            (28..1024).contains(&kernarg),
            "{kernarg} bytes of arguments"
        );
        // It is in no memory.
        let mut address = 0u64;
        assert_eq!(
            info(
                add,
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                (&raw mut address).cast()
            ),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        assert_eq!(
            (api.hsa_code_object_get_symbol)(object, c"sub.kd".as_ptr(), &mut add),
            HSA_STATUS_ERROR_INVALID_SYMBOL_NAME
        );

        let mut copy: Vec<u8> = Vec::new();
        let (mut address, mut size) = (std::ptr::null_mut(), 0usize);
        let data = hsa_callback_data_t {
            handle: &raw mut copy as u64,
        };
        (api.hsa_code_object_serialize)(
            object,
            Some(allocate),
            data,
            std::ptr::null(),
            &mut address,
            &mut size,
        )
        .ok()
        .expect("written");
        assert_eq!((size, address), (bytes.len(), copy.as_mut_ptr().cast()));
        assert_eq!(copy, bytes);

        let executable = Kernels::create(&client);
        let load = api.hsa_executable_load_code_object;
        assert_eq!(
            load(executable, client.gpus[0], object, std::ptr::null()),
            HSA_STATUS_ERROR_VARIABLE_UNDEFINED
        );
        let mut given = 1i32;
        (api.hsa_executable_agent_global_variable_define)(
            executable,
            client.gpus[0],
            c"given".as_ptr(),
            (&raw mut given).cast(),
        )
        .ok()
        .expect("define");
        load(executable, client.gpus[0], object, std::ptr::null())
            .ok()
            .expect("loaded");
        (api.hsa_code_object_destroy)(object).ok().expect("destroy");
        let mut loaded = hsa_executable_symbol_t::default();
        (api.hsa_executable_get_symbol_by_name)(
            executable,
            c"add.kd".as_ptr(),
            &client.gpus[0],
            &mut loaded,
        )
        .ok()
        .expect("what was loaded stays");
        (api.hsa_executable_destroy)(executable)
            .ok()
            .expect("destroy");

        assert_eq!(
            (api.hsa_code_object_destroy)(object),
            HSA_STATUS_ERROR_INVALID_CODE_OBJECT
        );
        assert_eq!(
            info(
                symbols[0],
                HSA_CODE_SYMBOL_INFO_TYPE,
                (&raw mut kind).cast()
            ),
            HSA_STATUS_ERROR_INVALID_CODE_SYMBOL
        );
    }
}

#[test]
fn what_is_no_code_object_is_refused() {
    let client = Client::new("gfx90a");
    let refused = |bytes: &[u8]| deserialize(&client, bytes).expect_err("refused");
    assert_eq!(refused(b""), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(
        refused(b"no ELF at all"),
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT
    );
    if let Some(path) = code() {
        let bytes = std::fs::read(path).expect("compiled");
        for length in [20, 64, 600] {
            let status = refused(&bytes[..length]);
            assert_eq!(
                status, HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                "{length} bytes"
            );
        }
    }
}
