//! Memory: copies, pinned ranges, limits.

mod common;

use std::{ffi::c_void, time::Duration};

use common::Client;
use gneiss_hsa_api::*;

#[test]
fn copies_wait_for_dependencies_and_complete() {
    let client = Client::new("gfx90a");
    let size = 9 << 20;
    let coarse = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let device = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let (source, middle, target) = (
        client.allocate(coarse, size),
        client.allocate(device, size),
        client.allocate(coarse, size),
    );
    // SAFETY: the allocations have `size` bytes.
    unsafe {
        for at in 0..size {
            source.add(at).write((at * 7 + at / 251) as u8);
        }
        target.write_bytes(0, size);
    }
    let (gate, up, down) = (client.signal(1), client.signal(1), client.signal(1));
    let api = &client.api;
    // SAFETY: live objects of these sizes.
    unsafe {
        (api.hsa_amd_profiling_async_copy_enable)(true)
            .ok()
            .expect("enable");
        (api.hsa_amd_memory_async_copy)(
            target.cast(),
            client.cpu,
            middle.cast(),
            client.gpus[0],
            size,
            1,
            &up,
            down,
        )
        .ok()
        .expect("down");
        (api.hsa_amd_memory_async_copy)(
            middle.cast(),
            client.gpus[0],
            source.cast(),
            client.cpu,
            size,
            1,
            &gate,
            up,
        )
        .ok()
        .expect("up");
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!((client.value(up), client.value(down)), (1, 1));
        (api.hsa_signal_store_screlease)(gate, 0);
        client.wait(down);
        assert_eq!(
            std::slice::from_raw_parts(source, size),
            std::slice::from_raw_parts(target, size)
        );
        let mut time = hsa_amd_profiling_async_copy_time_t::default();
        (api.hsa_amd_profiling_get_async_copy_time)(up, &mut time)
            .ok()
            .expect("time");
        let mut now = 0u64;
        (api.hsa_system_get_info)(HSA_SYSTEM_INFO_TIMESTAMP, (&raw mut now).cast())
            .ok()
            .expect("now");
        assert!(
            0 < time.start && time.start < time.end && time.end <= now,
            "{time:?} {now}"
        );
        let too_far = (api.hsa_amd_memory_async_copy)(
            middle.add(1).cast(),
            client.gpus[0],
            source.cast(),
            client.cpu,
            size,
            0,
            std::ptr::null(),
            up,
        );
        assert_eq!(too_far, HSA_STATUS_ERROR_INVALID_ALLOCATION);
    }
    [gate, up, down]
        .into_iter()
        .for_each(|signal| client.destroy(signal));
    [source, middle, target]
        .into_iter()
        .for_each(|pointer| client.free(pointer));
}

#[test]
fn rectangles_keep_what_is_around_them() {
    let client = Client::new("gfx90a");
    let coarse = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let (source, target) = (client.allocate(coarse, 4096), client.allocate(coarse, 4096));
    let done = client.signal(1);
    let (dim, zero) = (|x, y, z| hsa_dim3_t { x, y, z }, hsa_dim3_t::default());
    // SAFETY: the shapes fit in the allocations.
    unsafe {
        for at in 0..4096 {
            source.add(at).write(at as u8);
        }
        target.write_bytes(0xee, 4096);
        let from = hsa_pitched_ptr_t {
            base: source.cast(),
            pitch: 64,
            slice: 512,
        };
        let to = hsa_pitched_ptr_t {
            base: target.cast(),
            pitch: 32,
            slice: 256,
        };
        (client.api.hsa_amd_memory_async_copy_rect)(
            &to,
            &dim(4, 1, 0),
            &from,
            &dim(8, 2, 1),
            &dim(12, 3, 2),
            client.gpus[0],
            hsaHostToDevice,
            0,
            std::ptr::null(),
            done,
        )
        .ok()
        .expect("rectangle");
        client.wait(done);
        let mut expected = [0xeeu8; 4096];
        for (slice, row, byte) in
            (0..2).flat_map(|s| (0..3).flat_map(move |r| (0..12).map(move |b| (s, r, b))))
        {
            expected[slice * 256 + (row + 1) * 32 + byte + 4] =
                ((slice + 1) * 512 + (row + 2) * 64 + byte + 8) as u8;
        }
        assert_eq!(std::slice::from_raw_parts(target, 4096), expected);
        let odd = (client.api.hsa_amd_memory_async_copy_rect)(
            &to,
            &zero,
            &from,
            &zero,
            &dim(3, 1, 1),
            client.gpus[0],
            hsaHostToDevice,
            0,
            std::ptr::null(),
            done,
        );
        assert_eq!(odd, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    client.destroy(done);
    client.free(source);
    client.free(target);
}

#[test]
fn pinned_memory_has_another_address_for_the_gpu() {
    let client = Client::new("gfx90a");
    let pool = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let api = &client.api;
    let mut memory = vec![5u8; 10_000];
    let host = memory.as_mut_ptr().wrapping_add(3).cast::<c_void>();
    let (mut first, mut second) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the vector outlives the lock, and the structures fit.
    unsafe {
        let lock = |out| {
            (api.hsa_amd_memory_lock_to_pool)(host, 5000, std::ptr::null_mut(), 0, pool, 0, out)
        };
        lock(&mut first).ok().expect("lock");
        lock(&mut second).ok().expect("again");
        assert_eq!(first, second);
        assert_ne!(first, host);
        assert_eq!(first as usize % 4096, host as usize % 4096);
        let mut info: hsa_amd_pointer_info_t = std::mem::zeroed();
        info.size = size_of::<hsa_amd_pointer_info_t>() as u32;
        let none = std::ptr::null_mut();
        (api.hsa_amd_pointer_info)(
            first.wrapping_byte_add(40),
            &mut info,
            None,
            none,
            std::ptr::null_mut(),
        )
        .ok()
        .expect("info");
        assert_eq!(info.r#type, HSA_EXT_POINTER_TYPE_LOCKED);
        assert_eq!(
            (
                info.agentBaseAddress,
                info.hostBaseAddress,
                info.sizeInBytes
            ),
            (first, host, 5000)
        );
        (api.hsa_memory_copy)(first.wrapping_byte_add(10), [9u8; 4].as_ptr().cast(), 4)
            .ok()
            .expect("copy");
        assert_eq!(memory[13..18], [9, 9, 9, 9, 5]);
        (api.hsa_amd_memory_unlock)(host).ok().expect("unlock");
        (api.hsa_amd_memory_unlock)(host).ok().expect("unlock");
        assert_eq!((api.hsa_amd_memory_unlock)(host), HSA_STATUS_ERROR);
    }
}

#[test]
fn memory_ends_at_the_device_s_size_and_comes_back() {
    let client = Client::new("gfx90a");
    let pool = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let api = &client.api;
    let mut size = 0usize;
    let mut pointer = std::ptr::null_mut();
    // SAFETY: the buffers fit. The memory is not touched.
    unsafe {
        (api.hsa_amd_memory_pool_get_info)(
            pool,
            HSA_AMD_MEMORY_POOL_INFO_SIZE,
            (&raw mut size).cast(),
        )
        .ok()
        .expect("size");
        let allocate = |size, pointer: &mut *mut c_void| {
            (api.hsa_amd_memory_pool_allocate)(pool, size, 0, pointer)
        };
        assert_eq!(
            allocate(size + 1, &mut pointer),
            HSA_STATUS_ERROR_INVALID_ALLOCATION
        );
        let (mut most, mut more) = (std::ptr::null_mut(), std::ptr::null_mut());
        allocate(size - 4096, &mut most).ok().expect("nearly all");
        assert_eq!(allocate(8192, &mut more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        allocate(100, &mut more).ok().expect("the last page");
        (api.hsa_amd_memory_pool_free)(most).ok().expect("free");
        assert_eq!(
            (api.hsa_amd_memory_pool_free)(most),
            HSA_STATUS_ERROR_INVALID_ALLOCATION
        );
        (api.hsa_amd_memory_pool_free)(more).ok().expect("free");
        (api.hsa_amd_memory_pool_free)(std::ptr::null_mut())
            .ok()
            .expect("null is nothing");
        allocate(size, &mut most).ok().expect("all");
        (api.hsa_amd_memory_pool_free)(most).ok().expect("free");
    }
}

unsafe extern "C" fn note(pointer: *mut c_void, data: *mut c_void) {
    // SAFETY: `data` is the word that the test below passes and keeps.
    unsafe { *data.cast::<usize>() = pointer as usize };
}

#[test]
fn freeing_calls_back_with_the_address_that_was_registered() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    let pool = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let memory = client.allocate(pool, 4096);
    let (mut inside, mut never) = (0usize, 0usize);
    // SAFETY: the words live until the memory is freed.
    unsafe {
        let at = memory.add(1024).cast::<c_void>();
        (api.hsa_amd_register_deallocation_callback)(at, Some(note), (&raw mut inside).cast())
            .ok()
            .expect("register");
        (api.hsa_amd_register_deallocation_callback)(
            memory.cast(),
            Some(note),
            (&raw mut never).cast(),
        )
        .ok()
        .expect("register");
        (api.hsa_amd_deregister_deallocation_callback)(memory.cast(), Some(note))
            .ok()
            .expect("deregister");
        assert_eq!(
            (api.hsa_amd_deregister_deallocation_callback)(memory.add(8).cast(), Some(note)),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        client.free(memory);
        assert_eq!((inside, never), (at as usize, 0));
    }
}

#[test]
fn copies_go_from_gpu_to_gpu_with_their_times() {
    let client = Client::new("gfx90a,gfx1030");
    let api = &client.api;
    let pools: Vec<_> = client
        .gpus
        .iter()
        .map(|&gpu| client.pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
        .collect();
    let bytes = 3 << 20;
    let (from, to) = (
        client.allocate(pools[0], bytes),
        client.allocate(pools[1], bytes),
    );
    let done = client.signal(1);
    // SAFETY: memory of this test, within its size, until the copy is complete.
    unsafe {
        for at in (0..bytes).step_by(4096) {
            from.add(at).cast::<u32>().write(at as u32);
        }
        (api.hsa_amd_profiling_async_copy_enable)(true)
            .ok()
            .expect("times");
        (api.hsa_amd_memory_async_copy)(
            to.cast(),
            client.gpus[1],
            from.cast(),
            client.gpus[0],
            bytes,
            0,
            std::ptr::null(),
            done,
        )
        .ok()
        .expect("copy");
        client.wait(done);
        assert!(
            (0..bytes)
                .step_by(4096)
                .all(|at| to.add(at).cast::<u32>().read() == at as u32)
        );
        let mut times = hsa_amd_profiling_async_copy_time_t { start: 0, end: 0 };
        (api.hsa_amd_profiling_get_async_copy_time)(done, &mut times)
            .ok()
            .expect("times");
        assert!(0 < times.start && times.start < times.end);
        (api.hsa_amd_profiling_async_copy_enable)(false)
            .ok()
            .expect("no times");
        // The first GPU has an ISA and pools of its own kind.
        let mut access = 9u32;
        (api.hsa_amd_agent_memory_pool_get_info)(
            client.gpus[0],
            pools[1],
            HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
            (&raw mut access).cast(),
        )
        .ok()
        .expect("access");
        assert_eq!(
            access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT,
            "a peer"
        );
    }
    client.destroy(done);
    client.free(from);
    client.free(to);
}
