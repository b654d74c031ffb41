//! Code objects from end to end: loading, symbols, dispatch, faults. Needs clang-19 and lld for amdgcn; without them nothing is tested.

mod common;

use std::{
    ffi::{CStr, CString, c_void},
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock},
    time::{Duration, Instant},
};

use common::Client;
use gneiss_hsa_api::*;

const SOURCE: &str = r#"
__attribute__((visibility("default"))) __global int answer = 7;
__attribute__((visibility("default"))) extern __global int given;

__kernel void add(__global const int *a, __global const int *b, __global int *c, int n) {
    __constant ushort *packet = (__constant ushort *)__builtin_amdgcn_dispatch_ptr();
    uint i = __builtin_amdgcn_workgroup_id_x() * (uint)packet[2] + __builtin_amdgcn_workitem_id_x();
    if (i < n) c[i] = a[i] + b[i] + answer + given;
}

__kernel void wild(__global int *p) { p[1l << 34] = 1; }

__kernel void spin(__global volatile int *flag) {
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
    flag[1] = 2;
}

__kernel void ring(__global volatile ulong *doorbell, ulong value, __global volatile int *flag) {
    *doorbell = value;
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
}
"#;

/// The kernels, compiled for gfx90a.
fn code() -> Option<&'static Path> {
    static CODE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let (source, output) = (directory.join("kernels.cl"), directory.join("kernels.co"));
        std::fs::write(&source, SOURCE).expect("a writable directory");
        let run = Command::new("clang-19")
            .args([
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "-Xclang",
                "-finclude-default-header",
                "-O2",
                "-nogpulib",
            ])
            .args([
                "--target=amdgcn-amd-amdhsa",
                "-mcpu=gfx90a",
                "-Wl,-z,undefs",
                "-o",
            ])
            .args([&output, &source])
            .output();
        match run {
            Err(error) => {
                eprintln!("clang-19 cannot be started ({error}): nothing is tested");
                None
            }
            Ok(run) => {
                assert!(
                    run.status.success(),
                    "{}",
                    String::from_utf8_lossy(&run.stderr)
                );
                Some(output)
            }
        }
    };
    CODE.get_or_init(compile).as_deref()
}

/// An executable with the kernels.
struct Kernels<'a> {
    client: &'a Client,
    executable: hsa_executable_t,
    given: *mut i32,
}

impl<'a> Kernels<'a> {
    fn create(client: &'a Client) -> hsa_executable_t {
        let mut executable = hsa_executable_t::default();
        // SAFETY: the out-parameter fits.
        unsafe {
            (client.api.hsa_executable_create_alt)(
                HSA_PROFILE_FULL,
                0,
                std::ptr::null(),
                &mut executable,
            )
            .ok()
            .expect("executable");
        }
        executable
    }

    fn load_bytes(
        client: &Client,
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        bytes: &[u8],
    ) -> hsa_status_t {
        let mut reader = hsa_code_object_reader_t::default();
        // SAFETY: the bytes live until the code object is loaded.
        unsafe {
            (client.api.hsa_code_object_reader_create_from_memory)(
                bytes.as_ptr().cast(),
                bytes.len(),
                &mut reader,
            )
            .ok()
            .expect("reader");
            let status = (client.api.hsa_executable_load_agent_code_object)(
                executable,
                agent,
                reader,
                std::ptr::null(),
                std::ptr::null_mut(),
            );
            (client.api.hsa_code_object_reader_destroy)(reader)
                .ok()
                .expect("destroy");
            status
        }
    }

    fn load(client: &'a Client, path: &Path) -> Self {
        let executable = Self::create(client);
        let pool = client.pool(
            client.gpus[0],
            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
        );
        let given = client.allocate(pool, 4).cast::<i32>();
        // SAFETY: the variable lives as long as the executable.
        unsafe {
            given.write(1000);
            (client.api.hsa_executable_agent_global_variable_define)(
                executable,
                client.gpus[0],
                c"given".as_ptr(),
                given.cast(),
            )
            .ok()
            .expect("define");
        }
        let bytes = std::fs::read(path).expect("compiled");
        Self::load_bytes(client, executable, client.gpus[0], &bytes)
            .ok()
            .expect("load");
        // SAFETY: a live executable.
        unsafe { (client.api.hsa_executable_freeze)(executable, std::ptr::null()) }
            .ok()
            .expect("freeze");
        Self {
            client,
            executable,
            given,
        }
    }

    fn symbol(&self, name: &str) -> Result<hsa_executable_symbol_t, hsa_status_t> {
        let name = CString::new(name).expect("no NUL");
        let mut symbol = hsa_executable_symbol_t::default();
        // SAFETY: the out-parameter fits.
        unsafe {
            (self.client.api.hsa_executable_get_symbol_by_name)(
                self.executable,
                name.as_ptr(),
                &self.client.gpus[0],
                &mut symbol,
            )
        }
        .ok()?;
        Ok(symbol)
    }

    fn info<T: Default>(&self, symbol: hsa_executable_symbol_t, attribute: u32) -> T {
        let mut value = T::default();
        // SAFETY: callers name the type of the attribute.
        unsafe {
            (self.client.api.hsa_executable_symbol_get_info)(
                symbol,
                attribute,
                (&raw mut value).cast(),
            )
        }
        .ok()
        .expect("attribute");
        value
    }

    /// A packet for a kernel of 64-wide work-groups.
    fn packet(
        &self,
        kernel: &str,
        items: u32,
        arguments: *mut u8,
        completion: hsa_signal_t,
    ) -> hsa_kernel_dispatch_packet_t {
        let symbol = self.symbol(kernel).expect("kernel");
        hsa_kernel_dispatch_packet_t {
            header: HSA_PACKET_TYPE_KERNEL_DISPATCH as u16
                | 1 << HSA_PACKET_HEADER_BARRIER
                | 2 << 9
                | 2 << 11,
            setup: 1,
            workgroup_size_x: 64,
            workgroup_size_y: 1,
            workgroup_size_z: 1,
            reserved0: 0,
            grid_size_x: items,
            grid_size_y: 1,
            grid_size_z: 1,
            private_segment_size: self.info(
                symbol,
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
            ),
            group_segment_size: self
                .info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE),
            kernel_object: self.info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT),
            kernarg_address: arguments.cast(),
            reserved2: 0,
            completion_signal: completion,
        }
    }
}

impl Drop for Kernels<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: a live executable.
            unsafe { (self.client.api.hsa_executable_destroy)(self.executable) }
                .ok()
                .expect("destroy");
            self.client.free(self.given.cast());
        }
    }
}

fn arguments(client: &Client) -> *mut u8 {
    let flags =
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    client.allocate(client.pool(client.cpu, flags), 256)
}

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

#[test]
fn device_code_rings_the_doorbell_of_another_queue() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let fine = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    let flag = client.allocate(fine, 4096).cast::<i32>();
    let kernarg = arguments(&client).cast::<u64>();
    let (ringing, rung) = (
        client.queue(64, None, std::ptr::null_mut()),
        client.queue(64, None, std::ptr::null_mut()),
    );
    let (over, done) = (client.signal(1), client.signal(1));
    // SAFETY: a live queue with room, and memory of this test; the doorbell's value is the address of its word, as device code reads it.
    unsafe {
        // The packet is in place, but nobody has rung.
        let index = (client.api.hsa_queue_add_write_index_relaxed)(rung, 1);
        let packet = Client::barrier(HSA_PACKET_TYPE_BARRIER_AND, false, &[], done);
        (*rung)
            .base_address
            .cast::<hsa_barrier_and_packet_t>()
            .write_volatile(packet);
        let doorbell = ((*rung).doorbell_signal.handle as *const amd_signal_t).read();
        kernarg.write(doorbell.value.cast_unsigned());
        kernarg.add(1).write(index);
        kernarg.add(2).write(flag as u64);
        client.submit(ringing, kernels.packet("ring.kd", 1, kernarg.cast(), over));
        // The kernel rings and then waits for the flag: the other queue starts while it runs.
        client.wait(done);
        assert_eq!(client.value(over), 1);
        flag.write_volatile(1);
        client.wait(over);
        for queue in [ringing, rung] {
            (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
        }
    }
    client.destroy(over);
    client.destroy(done);
    client.free(flag.cast());
    client.free(kernarg.cast());
}

#[test]
fn kernels_reach_mapped_and_shared_virtual_memory_at_the_host_s_addresses() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let api = &client.api;
    let pool = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let layout = std::alloc::Layout::from_size_align(8192, 4096).expect("valid");
    let kernarg = arguments(&client).cast::<u64>();
    let queue = client.queue(64, None, std::ptr::null_mut());
    let done = client.signal(1);
    // SAFETY: memory of this test, within its sizes, for as long as the kernel runs.
    unsafe {
        let mut mapped = std::ptr::null_mut::<c_void>();
        let mut handle = hsa_amd_vmem_alloc_handle_t::default();
        api.hsa_amd_vmem_address_reserve.expect("exported")(&mut mapped, 4096, 0, 0)
            .ok()
            .expect("addresses");
        api.hsa_amd_vmem_handle_create.expect("exported")(
            pool,
            4096,
            MEMORY_TYPE_NONE,
            0,
            &mut handle,
        )
        .ok()
        .expect("memory");
        api.hsa_amd_vmem_map.expect("exported")(mapped, 4096, 0, handle, 0)
            .ok()
            .expect("map");
        let access = hsa_amd_memory_access_desc_t {
            permissions: HSA_ACCESS_PERMISSION_RW,
            agent_handle: client.gpus[0],
        };
        api.hsa_amd_vmem_set_access.expect("exported")(mapped, 4096, &access, 1)
            .ok()
            .expect("access");
        let shared = std::alloc::alloc_zeroed(layout);
        let mut attribute = hsa_amd_svm_attribute_pair_t {
            attribute: HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE.into(),
            value: client.gpus[0].handle,
        };
        (api.hsa_amd_svm_attributes_set)(shared.cast(), 8192, &mut attribute, 1)
            .ok()
            .expect("access");
        let (a, b, c) = (
            shared.cast::<i32>(),
            mapped.cast::<i32>(),
            shared.add(4096).cast::<i32>(),
        );
        for at in 0..100 {
            a.add(at).write(at as i32);
            b.add(at).write(2 * at as i32);
        }
        kernarg.write(a as u64);
        kernarg.add(1).write(b as u64);
        kernarg.add(2).write(c as u64);
        kernarg.add(3).write(100);
        client.submit(queue, kernels.packet("add.kd", 128, kernarg.cast(), done));
        client.wait(done);
        // `answer` is 7 and `given` 1000.
        assert!((0..100).all(|at| c.add(at).read() == 3 * at as i32 + 1007));
        assert_eq!(c.add(100).read(), 0);
        attribute.attribute = HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS.into();
        (api.hsa_amd_svm_attributes_set)(shared.cast(), 8192, &mut attribute, 1)
            .ok()
            .expect("no access");
        std::alloc::dealloc(shared, layout);
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
    client.destroy(done);
    client.free(kernarg.cast());
}
