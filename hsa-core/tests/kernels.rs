//! Code objects from end to end: loading, symbols, dispatch, faults. Needs clang-19 and lld for amdgcn; without them nothing is tested.

mod common;

use std::{
    ffi::{CStr, c_void},
    sync::Mutex,
    time::{Duration, Instant},
};

use common::{
    Client,
    kernels::{Kernels, arguments, code},
};
use gneiss_hsa_api::*;

#[test]
fn kernels_run_and_see_variables() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let answer = kernels.symbol("answer").expect("variable");
    assert_eq!(
        kernels.info::<u32>(answer, HSA_EXECUTABLE_SYMBOL_INFO_TYPE),
        HSA_SYMBOL_KIND_VARIABLE
    );
    assert_eq!(
        kernels.info::<u32>(answer, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE),
        4
    );
    let add = kernels.symbol("add.kd").expect("kernel");
    assert_eq!(
        kernels.info::<u32>(add, HSA_EXECUTABLE_SYMBOL_INFO_TYPE),
        HSA_SYMBOL_KIND_KERNEL
    );
    assert_eq!(
        kernels.info::<u32>(add, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH),
        6
    );
    assert_eq!(
        kernels.symbol("sub.kd"),
        Err(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME)
    );

    let device = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let n = 1000usize;
    let [a, b, c] = [0; 3].map(|_| client.allocate(device, n * 4).cast::<i32>());
    let kernarg = arguments(&client);
    let queue = client.queue(64, None, std::ptr::null_mut());
    let done = client.signal(1);
    // SAFETY: the allocations have `n` elements; the argument block has the kernel's layout; the variable has four bytes.
    unsafe {
        (client.api.hsa_amd_profiling_set_profiler_enabled)(queue, 1)
            .ok()
            .expect("profiling");
        for at in 0..n {
            a.add(at).write(at as i32);
            b.add(at).write(3 * at as i32);
        }
        let variable: u64 = kernels.info(answer, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
        assert_eq!((variable as *const i32).read(), 7);
        (variable as *mut i32).write(8);
        let words = kernarg.cast::<u64>();
        for (at, pointer) in [a, b, c].into_iter().enumerate() {
            words.add(at).write(pointer as u64);
        }
        words.add(3).cast::<u32>().write(n as u32);
        client.submit(queue, kernels.packet("add.kd", 1024, kernarg, done));
        client.wait(done);
        for at in 0..n {
            assert_eq!(c.add(at).read(), 4 * at as i32 + 1008, "element {at}");
        }
        let mut time = hsa_amd_profiling_dispatch_time_t::default();
        (client.api.hsa_amd_profiling_get_dispatch_time)(client.gpus[0], done, &mut time)
            .ok()
            .expect("time");
        assert!(0 < time.start && time.start < time.end);
        (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
    client.destroy(done);
    [a, b, c]
        .into_iter()
        .for_each(|pointer| client.free(pointer.cast()));
    client.free(kernarg);
}

#[test]
fn a_kernel_that_spins_stops_neither_copies_nor_other_queues() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let device = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let flag = client.allocate(device, 8);
    let kernarg = arguments(&client);
    let (spinning, other) = (
        client.queue(64, None, std::ptr::null_mut()),
        client.queue(64, None, std::ptr::null_mut()),
    );
    let (spun, passed, copied) = (client.signal(1), client.signal(1), client.signal(1));
    let one = Box::new(1i32);
    // SAFETY: the objects live until the waits are over.
    unsafe {
        flag.cast::<u64>().write(0);
        kernarg.cast::<u64>().write(flag as u64);
        client.submit(spinning, kernels.packet("spin.kd", 64, kernarg, spun));
        client.submit(
            other,
            Client::barrier(HSA_PACKET_TYPE_BARRIER_AND, true, &[], passed),
        );
        client.wait(passed);
        assert_eq!(client.value(spun), 1);
        (client.api.hsa_amd_memory_async_copy)(
            flag.cast(),
            client.gpus[0],
            (&raw const *one).cast(),
            client.cpu,
            4,
            1,
            &passed,
            copied,
        )
        .ok()
        .expect("copy");
        client.wait(copied);
        client.wait(spun);
        assert_eq!(flag.cast::<i32>().add(1).read(), 2);
        for queue in [spinning, other] {
            (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
        }
    }
    [spun, passed, copied]
        .into_iter()
        .for_each(|signal| client.destroy(signal));
    client.free(flag);
    client.free(kernarg);
}

#[test]
fn a_queue_is_destroyed_under_a_kernel_that_never_ends() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let device = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let flag = client.allocate(device, 8);
    let kernarg = arguments(&client);
    let queue = client.queue(64, None, std::ptr::null_mut());
    // SAFETY: the objects outlive the queue.
    unsafe {
        flag.cast::<u64>().write(0);
        kernarg.cast::<u64>().write(flag as u64);
        client.submit(
            queue,
            kernels.packet("spin.kd", 64, kernarg, hsa_signal_t::default()),
        );
        std::thread::sleep(Duration::from_millis(20));
        (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
    client.free(flag);
    client.free(kernarg);
}

static EVENTS: Mutex<Vec<(u32, u64)>> = Mutex::new(Vec::new());
static STATUSES: Mutex<Vec<hsa_status_t>> = Mutex::new(Vec::new());

unsafe extern "C" fn on_event(event: *const hsa_amd_event_t, _data: *mut c_void) -> hsa_status_t {
    // SAFETY: the runtime passes a valid event.
    let event = unsafe { &*event };
    EVENTS
        .lock()
        .expect("no panic")
        .push((event.event_type, event.memory_fault.virtual_address));
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn on_error(status: hsa_status_t, _queue: *mut hsa_queue_t, _data: *mut c_void) {
    STATUSES.lock().expect("no panic").push(status);
}

#[test]
fn a_wild_store_is_an_event_and_an_error_of_the_queue() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let device = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let target = client.allocate(device, 64);
    let kernarg = arguments(&client);
    let queue = client.queue(64, Some(on_error), std::ptr::null_mut());
    // SAFETY: the objects outlive the dispatch; a null queue is allowed.
    let report = unsafe {
        let last_fault = client.api.gneiss_hsa_last_fault.expect("ours");
        last_fault(std::ptr::null());
        (client.api.hsa_amd_register_system_event_handler)(Some(on_event), std::ptr::null_mut())
            .ok()
            .expect("register");
        kernarg.cast::<u64>().write(target as u64);
        client.submit(
            queue,
            kernels.packet("wild.kd", 64, kernarg, hsa_signal_t::default()),
        );
        let end = Instant::now() + Duration::from_secs(30);
        while STATUSES.lock().expect("no panic").is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        let taken = (client.api.hsa_queue_load_read_index_scacquire)(queue);
        let text = last_fault(queue);
        assert!(
            !text.is_null(),
            "no fault after 30 s; packets taken: {taken}, target {target:p}"
        );
        CStr::from_ptr(text).to_string_lossy().into_owned()
    };
    assert_eq!(
        *STATUSES.lock().expect("no panic"),
        [HSA_STATUS_ERROR_MEMORY_FAULT]
    );
    // So far above that no mapping of this process is there by chance.
    let page = (target as u64 + (1 << 36)) & !0xfff;
    assert_eq!(
        *EVENTS.lock().expect("no panic"),
        [(HSA_AMD_GPU_MEMORY_FAULT_EVENT, page)]
    );
    assert!(
        report.contains("wild") && report.contains("memory fault"),
        "{report}"
    );
    // SAFETY: a live queue.
    unsafe { (client.api.hsa_queue_destroy)(queue) }
        .ok()
        .expect("destroy");
    client.free(target);
    client.free(kernarg);
}

#[test]
fn code_objects_are_checked() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a,gfx1030");
    let bytes = std::fs::read(path).expect("compiled");
    let load =
        |executable, agent, bytes: &[u8]| Kernels::load_bytes(&client, executable, agent, bytes);
    let executable = Kernels::create(&client);
    assert_eq!(
        load(executable, client.gpus[0], &bytes),
        HSA_STATUS_ERROR_VARIABLE_UNDEFINED
    );
    assert_eq!(
        load(executable, client.gpus[1], &bytes),
        HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS
    );
    assert_eq!(
        load(executable, client.cpu, &bytes),
        HSA_STATUS_ERROR_INVALID_AGENT
    );
    assert_eq!(
        load(executable, client.gpus[0], b"no ELF at all"),
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT
    );
    for length in [20, 64, 600, bytes.len() / 2] {
        assert_eq!(
            load(executable, client.gpus[0], &bytes[..length]),
            HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
            "{length} bytes"
        );
    }
    // A relocation of a kind that a loader never sees.
    let relocation = 0x0000_0001_0000_0003u64.to_le_bytes();
    let at = bytes
        .windows(8)
        .position(|window| window == relocation)
        .expect("R_AMDGPU_ABS64 of symbol 1");
    let mut damaged = bytes.clone();
    damaged[at] = 10;
    let status = load(executable, client.gpus[0], &damaged);
    assert!(
        status == HSA_STATUS_ERROR_INVALID_CODE_OBJECT
            || status == HSA_STATUS_ERROR_VARIABLE_UNDEFINED,
        "{status}"
    );
    // SAFETY: a live executable.
    unsafe {
        (client.api.hsa_executable_freeze)(executable, std::ptr::null())
            .ok()
            .expect("freeze");
        let again = (client.api.hsa_executable_freeze)(executable, std::ptr::null());
        assert_eq!(again, HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        assert_eq!(
            load(executable, client.gpus[0], &bytes),
            HSA_STATUS_ERROR_FROZEN_EXECUTABLE
        );
        (client.api.hsa_executable_destroy)(executable)
            .ok()
            .expect("destroy");
        let gone = (client.api.hsa_executable_destroy)(executable);
        assert_eq!(gone, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    }
    let mut twice = Kernels::load(&client, path);
    // SAFETY: frees the frozen executable; the second one defines its symbols twice.
    unsafe { (client.api.hsa_executable_destroy)(twice.executable) }
        .ok()
        .expect("destroy");
    twice.executable = Kernels::create(&client);
    // SAFETY: the variable lives as long as the executable.
    unsafe {
        (client.api.hsa_executable_global_variable_define)(
            twice.executable,
            c"given".as_ptr(),
            twice.given.cast(),
        )
        .ok()
        .expect("define");
    }
    load(twice.executable, client.gpus[0], &bytes)
        .ok()
        .expect("once");
    assert_eq!(
        load(twice.executable, client.gpus[0], &bytes),
        HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED
    );
}
