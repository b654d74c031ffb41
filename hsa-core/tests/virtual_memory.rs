//! Reserved addresses, physical memory and mappings; shared virtual memory; memory and signals by handle. The other end of a handle is
//! this process here; between processes they are tested by the samples.

mod common;

use std::ffi::c_void;

use common::Client;
use gneiss_hsa_api::*;

const PAGE: usize = 4096;

fn device_pool(client: &Client) -> hsa_amd_memory_pool_t {
    client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    )
}

fn pointer_info(client: &Client, pointer: *const c_void) -> hsa_amd_pointer_info_t {
    // SAFETY: zeros are a valid structure, and its size is set.
    unsafe {
        let mut info: hsa_amd_pointer_info_t = std::mem::zeroed();
        info.size = size_of_val(&info) as u32;
        (client.api.hsa_amd_pointer_info)(
            pointer,
            &mut info,
            None,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
        .ok()
        .expect("info");
        info
    }
}

/// Bytes of memory that the GPU has left.
fn available(client: &Client) -> u64 {
    let mut bytes = 0u64;
    // SAFETY: the buffer fits the attribute.
    unsafe {
        (client.api.hsa_agent_get_info)(
            client.gpus[0],
            HSA_AMD_AGENT_INFO_MEMORY_AVAIL,
            (&raw mut bytes).cast(),
        )
    }
    .ok()
    .expect("attribute");
    bytes
}

#[test]
fn physical_memory_is_mapped_twice_and_lives_until_its_last_use() {
    let client = Client::new("gfx90a,gfx90a");
    let api = &client.api;
    let reserve = api.hsa_amd_vmem_address_reserve.expect("exported");
    let free = api.hsa_amd_vmem_address_free.expect("exported");
    let create = api.hsa_amd_vmem_handle_create.expect("exported");
    let release = api.hsa_amd_vmem_handle_release.expect("exported");
    let map = api.hsa_amd_vmem_map.expect("exported");
    let unmap = api.hsa_amd_vmem_unmap.expect("exported");
    let set_access = api.hsa_amd_vmem_set_access.expect("exported");
    let get_access = api.hsa_amd_vmem_get_access.expect("exported");
    let before = available(&client);
    let pool = device_pool(&client);
    // SAFETY: out-parameters fit; addresses are the runtime's, and are used only while they are mapped.
    unsafe {
        let mut base = std::ptr::null_mut::<c_void>();
        reserve(&mut base, 8 * PAGE, 0, 0).ok().expect("addresses");
        assert_eq!(
            pointer_info(&client, base).r#type,
            HSA_EXT_POINTER_TYPE_RESERVED_ADDR
        );
        let mut handle = hsa_amd_vmem_alloc_handle_t::default();
        assert_eq!(
            create(pool, PAGE + 1, MEMORY_TYPE_NONE, 0, &mut handle),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        create(pool, 2 * PAGE, MEMORY_TYPE_NONE, 0, &mut handle)
            .ok()
            .expect("memory");
        assert_eq!(available(&client), before - 2 * PAGE as u64);

        let (first, second) = (base, base.byte_add(4 * PAGE));
        map(first, 2 * PAGE, 0, handle, 0).ok().expect("map");
        map(second, PAGE, PAGE, handle, 0).ok().expect("map again");
        assert_eq!(
            map(first, PAGE, 0, handle, 0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "overlap"
        );
        assert_eq!(
            map(second, 2 * PAGE, PAGE, handle, 0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "too long"
        );
        assert_eq!(
            map(base.byte_add(8 * PAGE), PAGE, 0, handle, 0),
            HSA_STATUS_ERROR_INVALID_ALLOCATION,
            "outside of the reservation"
        );
        // The last page of the memory is the first one of the second mapping.
        first
            .byte_add(PAGE)
            .cast::<u64>()
            .write(0x1234_5678_9abc_def0);
        assert_eq!(second.cast::<u64>().read(), 0x1234_5678_9abc_def0);
        let info = pointer_info(&client, first.byte_add(100));
        assert_eq!(
            (info.r#type, info.agentBaseAddress, info.sizeInBytes),
            (HSA_EXT_POINTER_TYPE_HSA_VMEM, first, 2 * PAGE)
        );

        let mut rights = 9;
        get_access(first, &mut rights, client.gpus[0])
            .ok()
            .expect("access");
        assert_eq!(rights, 0, "nobody has access before it is set");
        let desc = |agent, permissions| hsa_amd_memory_access_desc_t {
            permissions,
            agent_handle: agent,
        };
        let list = [
            desc(client.gpus[0], HSA_ACCESS_PERMISSION_RW),
            desc(client.gpus[1], HSA_ACCESS_PERMISSION_RO),
        ];
        assert_eq!(
            set_access(first, PAGE, list.as_ptr(), 2),
            HSA_STATUS_ERROR_INVALID_ALLOCATION,
            "a part of a mapping"
        );
        set_access(first, 2 * PAGE, list.as_ptr(), 2)
            .ok()
            .expect("access");
        for (gpu, expected) in [(0, HSA_ACCESS_PERMISSION_RW), (1, HSA_ACCESS_PERMISSION_RO)] {
            get_access(first, &mut rights, client.gpus[gpu])
                .ok()
                .expect("access");
            assert_eq!(rights, expected, "GPU {gpu}");
        }
        get_access(second, &mut rights, client.gpus[0])
            .ok()
            .expect("access");
        assert_eq!(rights, 0, "each mapping has its own");

        // A copy may not leave what is mapped.
        let done = client.signal(1);
        let copy = |to, from, bytes| {
            (api.hsa_amd_memory_async_copy)(
                to,
                client.gpus[0],
                from,
                client.gpus[0],
                bytes,
                0,
                std::ptr::null(),
                done,
            )
        };
        assert_eq!(
            copy(second, first, 2 * PAGE),
            HSA_STATUS_ERROR_INVALID_ALLOCATION
        );
        copy(second, first, PAGE).ok().expect("copy");
        client.wait(done);
        assert_eq!(second.cast::<u64>().read(), 0);
        client.destroy(done);

        let mut again = hsa_amd_vmem_alloc_handle_t::default();
        api.hsa_amd_vmem_retain_alloc_handle.expect("exported")(&mut again, first)
            .ok()
            .expect("retain");
        assert_eq!(again, handle);
        release(handle).ok().expect("release");
        release(handle).ok().expect("the second handle");
        assert_eq!(release(handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        assert_eq!(
            available(&client),
            before - 2 * PAGE as u64,
            "the mappings still use it"
        );
        assert_eq!(
            free(base, 8 * PAGE),
            HSA_STATUS_ERROR_RESOURCE_FREE,
            "mappings are there"
        );
        unmap(first, 2 * PAGE).ok().expect("unmap");
        assert_eq!(unmap(first, 2 * PAGE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        unmap(second, PAGE).ok().expect("unmap");
        assert_eq!(available(&client), before);
        free(base, 8 * PAGE).ok().expect("free");
        assert_eq!(free(base, 8 * PAGE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    }
}

#[test]
fn physical_memory_goes_through_a_descriptor() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    // SAFETY: as above; the descriptor is closed once.
    unsafe {
        let mut handle = hsa_amd_vmem_alloc_handle_t::default();
        api.hsa_amd_vmem_handle_create.expect("exported")(
            device_pool(&client),
            PAGE,
            MEMORY_TYPE_PINNED,
            0,
            &mut handle,
        )
        .ok()
        .expect("memory");
        let mut file = -1;
        api.hsa_amd_vmem_export_shareable_handle.expect("exported")(&mut file, handle, 0)
            .ok()
            .expect("export");
        let import = api.hsa_amd_vmem_import_shareable_handle.expect("exported");
        let mut other = hsa_amd_vmem_alloc_handle_t::default();
        import(file, &mut other).ok().expect("import");
        assert_ne!(handle, other);
        let (mut pool, mut kind) = (hsa_amd_memory_pool_t::default(), 9);
        api.hsa_amd_vmem_get_alloc_properties_from_handle
            .expect("exported")(other, &mut pool, &mut kind)
        .ok()
        .expect("properties");
        assert_eq!(pool, device_pool(&client));
        let mut at = std::ptr::null_mut::<c_void>();
        api.hsa_amd_vmem_address_reserve_align.expect("exported")(&mut at, 2 * PAGE, 0, 1 << 21, 0)
            .ok()
            .expect("addresses");
        assert!((at as usize).is_multiple_of(1 << 21));
        let map = api.hsa_amd_vmem_map.expect("exported");
        map(at, PAGE, 0, handle, 0).ok().expect("map");
        map(at.byte_add(PAGE), PAGE, 0, other, 0).ok().expect("map");
        at.cast::<u32>().write(77);
        assert_eq!(at.byte_add(PAGE).cast::<u32>().read(), 77);
        api.hsa_amd_vmem_unmap.expect("exported")(at, 2 * PAGE)
            .ok()
            .expect("both at once");
        assert_eq!(
            import(0, &mut other),
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "some other file"
        );
        drop(<std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(file));
    }
    // What was not released goes at shutdown: the last client looks at nothing that is left.
}

#[test]
fn shared_attributes_are_kept_by_range() {
    let client = Client::new("gfx90a,gfx90a");
    let api = &client.api;
    let layout = std::alloc::Layout::from_size_align(8 * PAGE, PAGE).expect("valid");
    let pair = |attribute: u32, value: u64| hsa_amd_svm_attribute_pair_t {
        attribute: attribute.into(),
        value,
    };
    // SAFETY: the memory lives until the end; lists fit their counts.
    unsafe {
        let base = std::alloc::alloc_zeroed(layout);
        let set = |page: usize, pages: usize, mut list: Vec<hsa_amd_svm_attribute_pair_t>| {
            (api.hsa_amd_svm_attributes_set)(
                base.add(page * PAGE).cast(),
                pages * PAGE,
                list.as_mut_ptr(),
                list.len(),
            )
        };
        let get = |page: usize, pages: usize, attribute: u32, value: u64| {
            let mut list = [pair(attribute, value)];
            (api.hsa_amd_svm_attributes_get)(
                base.add(page * PAGE).cast(),
                pages * PAGE,
                list.as_mut_ptr(),
                1,
            )
            .ok()
            .expect("get");
            (list[0].attribute as u32, list[0].value)
        };
        let access = |page, pages, gpu: usize| {
            get(
                page,
                pages,
                HSA_AMD_SVM_ATTRIB_ACCESS_QUERY,
                client.gpus[gpu].handle,
            )
            .0
        };
        assert_eq!(access(0, 8, 0), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
        set(
            0,
            8,
            vec![
                pair(HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, client.gpus[0].handle),
                pair(HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1),
                pair(HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, client.gpus[1].handle),
            ],
        )
        .ok()
        .expect("set");
        set(
            2,
            2,
            vec![
                pair(HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, client.gpus[0].handle),
                pair(
                    HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG,
                    HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED.into(),
                ),
            ],
        )
        .ok()
        .expect("set");
        assert_eq!(access(0, 2, 0), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
        assert_eq!(access(2, 2, 0), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
        assert_eq!(access(4, 4, 0), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
        assert_eq!(
            access(0, 8, 0),
            HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
            "not everywhere"
        );
        assert_eq!(access(0, 8, 1), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
        assert_eq!(get(0, 8, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0).1, 1);
        assert_eq!(
            get(0, 8, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 0).1,
            client.gpus[1].handle
        );
        assert_eq!(
            get(2, 2, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 0).1,
            HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED.into()
        );
        assert_eq!(
            get(0, 8, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 0).1,
            HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE.into()
        );

        // A part of a page means all of it; attributes that only answer cannot be set; a bad one leaves the rest unset.
        let mut list = [pair(HSA_AMD_SVM_ATTRIB_HIVE_LOCAL, 1)];
        (api.hsa_amd_svm_attributes_set)(base.add(8).cast(), 4, list.as_mut_ptr(), 1)
            .ok()
            .expect("set");
        assert_eq!(get(0, 1, HSA_AMD_SVM_ATTRIB_HIVE_LOCAL, 0).1, 1);
        assert_eq!(get(1, 1, HSA_AMD_SVM_ATTRIB_HIVE_LOCAL, 0).1, 0);
        assert_eq!(
            set(
                0,
                1,
                vec![
                    pair(HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0),
                    pair(HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0)
                ]
            ),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        assert_eq!(get(0, 1, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0).1, 1);

        let (gate, done) = (client.signal(1), client.signal(1));
        (api.hsa_amd_svm_prefetch_async)(base.cast(), 4 * PAGE, client.gpus[0], 1, &gate, done)
            .ok()
            .expect("prefetch");
        assert_eq!(client.value(done), 1, "it waits for its dependency");
        (api.hsa_signal_store_screlease)(gate, 0);
        client.wait(done);
        assert_eq!(
            get(0, 4, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0).1,
            client.gpus[0].handle
        );
        assert_eq!(get(0, 8, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0).1, 0);
        client.destroy(gate);
        client.destroy(done);
        set(
            0,
            8,
            vec![pair(
                HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
                client.gpus[0].handle,
            )],
        )
        .ok()
        .expect("set");
        std::alloc::dealloc(base, layout);
    }
}

#[test]
fn exported_memory_stays_where_it_is_and_is_shared() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    let live = gneiss_hsa_core::live_objects();
    let memory = client.allocate(device_pool(&client), 10_000);
    // SAFETY: allocations of this test, within their sizes.
    unsafe {
        memory.add(9_999).write(42);
        let mut handle = hsa_amd_ipc_memory_t { handle: [0; 8] };
        assert_eq!(
            (api.hsa_amd_ipc_memory_create)(memory.add(8).cast(), 9_992, &mut handle),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        (api.hsa_amd_ipc_memory_create)(memory.cast(), 12_288, &mut handle)
            .ok()
            .expect("create");
        let mut mapped = std::ptr::null_mut();
        assert_eq!(
            (api.hsa_amd_ipc_memory_attach)(&handle, 64, 0, std::ptr::null(), &mut mapped),
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "another length"
        );
        (api.hsa_amd_ipc_memory_attach)(&handle, 10_000, 0, std::ptr::null(), &mut mapped)
            .ok()
            .expect("attach");
        let other = mapped.cast::<u8>();
        assert_eq!(other.add(9_999).read(), 42);
        other.write(7);
        assert_eq!(memory.read(), 7);
        let info = pointer_info(&client, mapped);
        assert_eq!(
            (info.r#type, info.sizeInBytes, info.agentOwner),
            (HSA_EXT_POINTER_TYPE_IPC, 10_000, client.gpus[0])
        );
        assert_eq!(
            (api.hsa_amd_memory_pool_free)(mapped),
            HSA_STATUS_ERROR_INVALID_ALLOCATION,
            "it is detached, not freed"
        );
        assert_eq!(
            (api.hsa_amd_ipc_memory_detach)(memory.cast()),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );

        // The owner frees it; the importer keeps it, and what is allocated next is not the importer's.
        client.free(memory);
        let next = client.allocate(device_pool(&client), 10_000);
        next.write(99);
        assert_eq!(other.read(), 7);
        assert_eq!(other.add(9_999).read(), 42);
        assert!(
            (api.hsa_amd_ipc_memory_attach)(&handle, 10_000, 0, std::ptr::null(), &mut mapped)
                != HSA_STATUS_SUCCESS,
            "the handle is of something that is gone"
        );
        (api.hsa_amd_ipc_memory_detach)(other.cast())
            .ok()
            .expect("detach");
        client.free(next);
    }
    assert_eq!(gneiss_hsa_core::live_objects(), live);
}

#[test]
fn a_signal_of_two_processes_wakes_waiters() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    let (mut mine, mut theirs) = (hsa_signal_t::default(), hsa_signal_t::default());
    // SAFETY: out-parameters fit.
    unsafe {
        (api.hsa_amd_signal_create)(3, 0, std::ptr::null(), HSA_AMD_SIGNAL_IPC.into(), &mut mine)
            .ok()
            .expect("signal");
        let mut handle = hsa_amd_ipc_signal_t { handle: [0; 8] };
        (api.hsa_amd_ipc_signal_create)(mine, &mut handle)
            .ok()
            .expect("handle");
        (api.hsa_amd_ipc_signal_attach)(&handle, &mut theirs)
            .ok()
            .expect("attach");
        std::thread::scope(|scope| {
            scope.spawn(|| client_wait(api, theirs));
            (api.hsa_signal_subtract_scacq_screl)(mine, 3);
        });
        // A packet completes it as it does any other.
        let queue = client.queue(64, None, std::ptr::null_mut());
        (api.hsa_signal_store_screlease)(mine, 1);
        client.submit(
            queue,
            Client::barrier(HSA_PACKET_TYPE_BARRIER_AND, false, &[], theirs),
        );
        client.wait(mine);
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
        client.destroy(mine);
        assert_eq!(client.value(theirs), 0, "the other end lives on");
        client.destroy(theirs);
        let local = client.signal(1);
        assert_eq!(
            (api.hsa_amd_ipc_signal_create)(local, &mut handle),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        client.destroy(local);
    }
}

fn client_wait(api: &HsaApi, signal: hsa_signal_t) {
    // SAFETY: a live signal.
    let value = unsafe {
        (api.hsa_signal_wait_scacquire)(
            signal,
            HSA_SIGNAL_CONDITION_EQ,
            0,
            30_000_000_000,
            HSA_WAIT_STATE_BLOCKED,
        )
    };
    assert_eq!(value, 0);
}

#[test]
fn an_allocation_goes_through_a_descriptor() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    let memory = client.allocate(device_pool(&client), 3 * PAGE);
    // SAFETY: memory of this test, within its size; out-parameters fit; the descriptor is closed once.
    unsafe {
        memory.add(PAGE).write(11);
        let (mut file, mut offset) = (-1, 0);
        let export = api.hsa_amd_portable_export_dmabuf.expect("exported");
        let close = api.hsa_amd_portable_close_dmabuf.expect("exported");
        assert_eq!(
            export(memory.cast(), 4 * PAGE, &mut file, &mut offset),
            HSA_STATUS_ERROR_INVALID_ALLOCATION
        );
        export(memory.add(PAGE).cast(), PAGE, &mut file, &mut offset)
            .ok()
            .expect("export");
        assert_eq!(offset, PAGE as u64);
        let (mut size, mut mapped) = (0, std::ptr::null_mut());
        let mut gpus = client.gpus.clone();
        let map = |file, size: &mut usize, mapped: &mut *mut c_void| {
            (api.hsa_amd_interop_map_buffer)(
                1,
                gpus.as_mut_ptr(),
                file,
                0,
                size,
                mapped,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        let mut map = map;
        map(file, &mut size, &mut mapped).ok().expect("map");
        assert_eq!(size, 3 * PAGE);
        assert_eq!(mapped.cast::<u8>().add(PAGE).read(), 11);
        (api.hsa_amd_interop_unmap_buffer)(mapped)
            .ok()
            .expect("unmap");
        close(file).ok().expect("close");
        assert_eq!(
            close(0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "not one of ours"
        );
        assert_eq!(
            map(0, &mut size, &mut mapped),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
    }
    client.free(memory);
}
