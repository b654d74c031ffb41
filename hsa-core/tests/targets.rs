//! Code objects by version and by target: which are loaded, which are refused, and that generic code runs on what it covers.

mod common;

use std::ffi::{CStr, c_void};

use common::{
    Client,
    kernels::{Kernels, arguments, compile},
};
use gneiss_hsa_api::*;

/// A kernel in a version of code objects, by a compiler that makes it.
fn sum(compiler: &str, processor: &str, version: u32) -> Option<Vec<u8>> {
    let text =
        "__kernel void sum(__global const int *a, __global const int *b, __global int *c, int n) {
        uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
        if (i < n) c[i] = a[i] + b[i];
    }";
    let options = [
        &*format!("-mcpu={processor}"),
        &*format!("-mcode-object-version={version}"),
    ];
    let path = compile(compiler, &format!("sum{version}{processor}"), text, options)?;
    Some(std::fs::read(path).expect("compiled"))
}

#[test]
fn kernels_of_code_objects_v2_to_v6_run() {
    for (compiler, processor, version, kernel) in [
        ("clang-15", "gfx906:xnack-", 2, c"sum"),
        ("clang-15", "gfx906:xnack-", 3, c"sum.kd"),
        ("clang-15", "gfx906:xnack-", 4, c"sum.kd"),
        ("clang-19", "gfx906", 4, c"sum.kd"),
        ("clang-19", "gfx906", 5, c"sum.kd"),
        ("clang-19", "gfx906", 6, c"sum.kd"),
    ] {
        if let Some(bytes) = sum(compiler, processor, version) {
            eprintln!("code object v{version} for {processor}");
            run_sum("gfx906", &bytes, kernel);
        }
    }
}

/// Loads the code object on a GPU and runs its kernel over a hundred elements.
fn run_sum(gpu: &str, bytes: &[u8], kernel: &CStr) {
    let client = Client::new(gpu);
    let api = &client.api;
    let executable = Kernels::create(&client);
    Kernels::load_bytes(&client, executable, client.gpus[0], bytes)
        .ok()
        .expect("load");
    let fine = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    let memory = client.allocate(fine, 3 * 4096);
    let kernarg = arguments(&client).cast::<u64>();
    let queue = client.queue(64, None, std::ptr::null_mut());
    let done = client.signal(1);
    // SAFETY: memory of this test, within its size, for as long as the kernel runs; out-parameters fit.
    unsafe {
        (api.hsa_executable_freeze)(executable, std::ptr::null())
            .ok()
            .expect("freeze");
        let mut symbol = hsa_executable_symbol_t::default();
        (api.hsa_executable_get_symbol_by_name)(
            executable,
            kernel.as_ptr(),
            &client.gpus[0],
            &mut symbol,
        )
        .ok()
        .expect("the kernel's name of that version");
        let (mut kind, mut object, mut size) = (9u32, 0u64, 0u32);
        let info = api.hsa_executable_symbol_get_info;
        info(
            symbol,
            HSA_EXECUTABLE_SYMBOL_INFO_TYPE,
            (&raw mut kind).cast(),
        )
        .ok()
        .expect("kind");
        info(
            symbol,
            HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
            (&raw mut object).cast(),
        )
        .ok()
        .expect("object");
        info(
            symbol,
            HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
            (&raw mut size).cast(),
        )
        .ok()
        .expect("size");
        assert_eq!(kind, HSA_SYMBOL_KIND_KERNEL);
        assert!(size >= 28, "{size} bytes of arguments");
        let list = memory.cast::<i32>();
        for at in 0..100 {
            list.add(at).write(at as i32);
            list.add(1024 + at).write(1000);
        }
        kernarg.write(list as u64);
        kernarg.add(1).write(list.add(1024) as u64);
        kernarg.add(2).write(list.add(2048) as u64);
        kernarg.add(3).write(100);
        let packet = hsa_kernel_dispatch_packet_t {
            header: HSA_PACKET_TYPE_KERNEL_DISPATCH as u16 | 2 << 9 | 2 << 11,
            setup: 1,
            workgroup_size_x: 64,
            workgroup_size_y: 1,
            workgroup_size_z: 1,
            reserved0: 0,
            grid_size_x: 128,
            grid_size_y: 1,
            grid_size_z: 1,
            private_segment_size: 0,
            group_segment_size: 0,
            kernel_object: object,
            kernarg_address: kernarg.cast(),
            reserved2: 0,
            completion_signal: done,
        };
        client.submit(queue, packet);
        client.wait(done);
        assert!((0..100).all(|at| list.add(2048 + at).read() == 1000 + at as i32));
        assert_eq!(list.add(2148).read(), 0);
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
        (api.hsa_executable_destroy)(executable)
            .ok()
            .expect("destroy");
    }
    client.destroy(done);
    client.free(memory);
    client.free(kernarg.cast());
}

/// A generic target, the oldest compiler here that makes its code, GPUs that it covers, and one that it does not.
const GENERIC: [(&str, &str, &[&str], &str); 6] = [
    ("gfx9-generic", "clang-19", &["gfx900", "gfx906"], "gfx908"),
    (
        "gfx9-4-generic",
        "clang-22",
        &["gfx942", "gfx950"],
        "gfx90a",
    ),
    ("gfx10-1-generic", "clang-19", &["gfx1010"], "gfx1030"),
    (
        "gfx10-3-generic",
        "clang-19",
        &["gfx1030", "gfx1032"],
        "gfx1010",
    ),
    (
        "gfx11-generic",
        "clang-19",
        &["gfx1100", "gfx1102"],
        "gfx1201",
    ),
    (
        "gfx12-generic",
        "clang-19",
        &["gfx1200", "gfx1201"],
        "gfx1100",
    ),
];

#[test]
fn generic_code_runs_on_what_it_covers_and_nothing_else() {
    for (generic, compiler, covered, other) in GENERIC {
        let Some(bytes) = sum(compiler, generic, 6) else {
            continue;
        };
        for gpu in covered {
            eprintln!("{generic} on {gpu}");
            run_sum(gpu, &bytes, c"sum.kd");
        }
        let client = Client::new(other);
        let executable = Kernels::create(&client);
        assert_eq!(
            Kernels::load_bytes(&client, executable, client.gpus[0], &bytes),
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
            "{generic} on {other}"
        );
    }
}

unsafe extern "C" fn collect_isa(isa: hsa_isa_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: `data` is the list that `isas` passes.
    unsafe { (*data.cast::<Vec<hsa_isa_t>>()).push(isa) };
    HSA_STATUS_SUCCESS
}

/// The ISAs of the first GPU.
fn isas(client: &Client) -> Vec<hsa_isa_t> {
    let mut list: Vec<hsa_isa_t> = Vec::new();
    // SAFETY: the callback and its data fit.
    unsafe {
        (client.api.hsa_agent_iterate_isas)(
            client.gpus[0],
            Some(collect_isa),
            (&raw mut list).cast(),
        )
    }
    .ok()
    .expect("ISAs");
    list
}

#[test]
fn agents_list_the_generic_isa_second_and_it_is_compatible() {
    for (generic, _, covered, other) in GENERIC {
        let client = Client::new(covered[0]);
        let api = &client.api;
        let listed = isas(&client);
        let name = std::ffi::CString::new(format!("amdgcn-amd-amdhsa--{generic}")).expect("text");
        let mut named = hsa_isa_t::default();
        let mut compatible = [false; 2];
        let mut length = 0_u32;
        let mut text = [0_u8; 64];
        // SAFETY: out-parameters fit; the name has less than 64 bytes.
        unsafe {
            (api.hsa_isa_from_name)(name.as_ptr(), &mut named)
                .ok()
                .expect(generic);
            for (place, &isa) in [listed[0], listed[1]].iter().enumerate() {
                // Both are compatible with the agent's own.
                let code = if place == 0 { named } else { isa };
                (api.hsa_isa_compatible)(code, listed[0], &mut compatible[place])
                    .ok()
                    .expect("an answer");
            }
            (api.hsa_isa_get_info_alt)(
                listed[1],
                HSA_ISA_INFO_NAME_LENGTH,
                (&raw mut length).cast(),
            )
            .ok()
            .expect("a length");
            assert!(length <= 64);
            (api.hsa_isa_get_info_alt)(listed[1], HSA_ISA_INFO_NAME, text.as_mut_ptr().cast())
                .ok()
                .expect("a name");
        }
        assert_eq!(listed.len(), 2, "{generic}");
        assert_eq!(compatible, [true; 2], "{generic}");
        let text = CStr::from_bytes_until_nul(&text).expect("a name").to_str();
        assert!(
            text.is_ok_and(|text| text.starts_with(name.to_str().expect("text"))),
            "{text:?}"
        );
        drop(client);
        let client = Client::new(other);
        let mut fits = true;
        // SAFETY: the out-parameter fits; handles of ISAs hold all that they say, for any client.
        unsafe { (client.api.hsa_isa_compatible)(named, isas(&client)[0], &mut fits) }
            .ok()
            .expect("an answer");
        assert!(!fits, "{generic} on {other}");
    }
}
