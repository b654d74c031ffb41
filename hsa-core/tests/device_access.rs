//! What device code reaches: doorbells, mapped and shared virtual memory; and what the loader extension tells of code.

mod common;

use std::ffi::c_void;

use common::{
    Client,
    kernels::{Kernels, arguments, code},
};
use gneiss_hsa_api::*;

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

unsafe extern "C" fn note_executable(
    executable: hsa_executable_t,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: `data` is the list that the test below passes.
    unsafe { (*data.cast::<Vec<hsa_executable_t>>()).push(executable) };
    HSA_STATUS_SUCCESS
}

#[test]
fn the_loader_extension_knows_what_is_loaded_and_where() {
    let Some(path) = code() else { return };
    let client = Client::new("gfx90a");
    let kernels = Kernels::load(&client, path);
    let object: u64 = kernels.info(
        kernels.symbol("add.kd").expect("kernel"),
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
    );
    // SAFETY: the table has the size of its version; lists and out-parameters fit.
    unsafe {
        let mut table: hsa_ven_amd_loader_1_03_pfn_t = std::mem::zeroed();
        (client.api.hsa_system_get_major_extension_table)(
            HSA_EXTENSION_AMD_LOADER as u16,
            1,
            size_of_val(&table),
            (&raw mut table).cast(),
        )
        .ok()
        .expect("table");
        let mut found: Vec<hsa_executable_t> = Vec::new();
        table.hsa_ven_amd_loader_iterate_executables.expect("there")(
            Some(note_executable),
            (&raw mut found).cast(),
        )
        .ok()
        .expect("iterate");
        assert_eq!(found, [kernels.executable]);

        let mut host = std::ptr::null();
        let query = table.hsa_ven_amd_loader_query_host_address.expect("there");
        query(object as *const c_void, &mut host)
            .ok()
            .expect("address");
        assert_eq!(host as u64, object, "device and host share their addresses");
        assert_eq!(
            query(8 as *const c_void, &mut host),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        let mut executable = hsa_executable_t::default();
        table.hsa_ven_amd_loader_query_executable.expect("there")(
            object as *const c_void,
            &mut executable,
        )
        .ok()
        .expect("executable");
        assert_eq!(executable, kernels.executable);

        let segments = table
            .hsa_ven_amd_loader_query_segment_descriptors
            .expect("there");
        let mut count = 0;
        segments(std::ptr::null_mut(), &mut count)
            .ok()
            .expect("count");
        assert_eq!(count, 1);
        let mut segment: hsa_ven_amd_loader_segment_descriptor_t = std::mem::zeroed();
        segments(&mut segment, &mut count).ok().expect("segment");
        assert_eq!(segment.agent, client.gpus[0]);
        let base = segment.segment_base as u64;
        assert!((base..base + segment.segment_size as u64).contains(&object));
        count = 2;
        assert_eq!(
            segments(&mut segment, &mut count),
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS
        );
    }
}
