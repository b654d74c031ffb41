//! The runtime from end to end, through the table of C functions: life, agents, tables.

mod common;

use common::Client;
use gneiss_hsa_api::*;

#[test]
fn calls_after_the_last_shutdown_fail() {
    let api = {
        let client = Client::new("gfx90a");
        client.api
    };
    // Another test may have initialised the runtime again meanwhile: take the turn, then leave it shut down.
    let client = Client::new("gfx90a");
    // SAFETY: plain calls.
    unsafe {
        (api.hsa_init)().ok().expect("counted");
        (api.hsa_shut_down)().ok().expect("counted");
        (api.hsa_shut_down)().ok().expect("the last");
        assert_eq!((api.hsa_shut_down)(), HSA_STATUS_ERROR_NOT_INITIALIZED);
        let mut version = 0u16;
        let value = (&raw mut version).cast();
        assert_eq!(
            (api.hsa_system_get_info)(HSA_SYSTEM_INFO_VERSION_MAJOR, value),
            HSA_STATUS_ERROR_NOT_INITIALIZED
        );
        (api.hsa_init)().ok().expect("again");
    }
    drop(client);
}

#[test]
fn agents_have_the_attributes_of_their_cards() {
    let client = Client::new("gfx90a:2,gfx1030");
    assert_eq!(client.gpus.len(), 3);
    let api = &client.api;
    let text = |agent, attribute| {
        let mut buffer = [0u8; 64];
        // SAFETY: names have at most 64 bytes.
        unsafe { (api.hsa_agent_get_info)(agent, attribute, buffer.as_mut_ptr().cast()) }
            .ok()
            .expect("name");
        String::from_utf8(
            buffer
                .split(|byte| *byte == 0)
                .next()
                .expect("a part")
                .to_vec(),
        )
        .expect("UTF-8")
    };
    let number = |agent, attribute| {
        let mut value = 0u32;
        // SAFETY: these attributes have four bytes.
        unsafe { (api.hsa_agent_get_info)(agent, attribute, (&raw mut value).cast()) }
            .ok()
            .expect("number");
        value
    };
    assert_eq!(text(client.gpus[0], HSA_AGENT_INFO_NAME), "gfx90a");
    assert_eq!(
        text(client.gpus[2], HSA_AMD_AGENT_INFO_PRODUCT_NAME),
        "AMD Radeon RX 6800 XT"
    );
    assert_eq!(number(client.gpus[0], HSA_AGENT_INFO_WAVEFRONT_SIZE), 64);
    assert_eq!(number(client.gpus[2], HSA_AGENT_INFO_WAVEFRONT_SIZE), 32);
    assert_eq!(
        number(client.gpus[0], HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
        104
    );
    assert_eq!(
        number(client.cpu, HSA_AGENT_INFO_DEVICE),
        HSA_DEVICE_TYPE_CPU
    );
    assert_ne!(
        number(client.gpus[0], HSA_AMD_AGENT_INFO_BDFID),
        number(client.gpus[1], HSA_AMD_AGENT_INFO_BDFID)
    );
    let mut guarded = [0xffu8; 4];
    // SAFETY: one byte is written, as the assertion shows.
    unsafe {
        let value = guarded.as_mut_ptr().cast();
        (api.hsa_agent_get_info)(client.gpus[0], HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, value)
            .ok()
            .expect("bool");
        assert_eq!(guarded, [1, 0xff, 0xff, 0xff]);
        let unknown = (api.hsa_agent_get_info)(client.gpus[0], 0xdead, value);
        assert_eq!(unknown, HSA_STATUS_ERROR_INVALID_ARGUMENT);
        let none = (api.hsa_agent_get_info)(hsa_agent_t { handle: 7 }, 0, value);
        assert_eq!(none, HSA_STATUS_ERROR_INVALID_AGENT);
    }
}

#[test]
fn the_loader_table_is_filled_as_far_as_asked() {
    let client = Client::new("gfx90a");
    let mut table = [usize::MAX; 7];
    // SAFETY: the table has at least the length that is passed.
    unsafe {
        let get = client.api.hsa_system_get_major_extension_table;
        get(
            HSA_EXTENSION_AMD_LOADER as u16,
            1,
            24,
            table.as_mut_ptr().cast(),
        )
        .ok()
        .expect("table");
        assert!(
            table[..3]
                .iter()
                .all(|slot| *slot != usize::MAX && *slot != 0)
        );
        assert!(table[3..].iter().all(|slot| *slot == usize::MAX));
        assert_eq!(
            get(0x999, 1, 24, table.as_mut_ptr().cast()),
            HSA_STATUS_ERROR
        );
        assert_eq!(
            get(
                HSA_EXTENSION_AMD_LOADER as u16,
                1,
                0,
                table.as_mut_ptr().cast()
            ),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
    }
}

#[test]
fn everything_is_released_at_shutdown() {
    let client = Client::new("gfx90a");
    let signals = gneiss_hsa_core::live_objects().signals;
    let pool = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    client.allocate(pool, 5 << 20);
    client.queue(128, None, std::ptr::null_mut());
    let blocker = client.signal(1);
    let queue = client.queue(128, None, std::ptr::null_mut());
    client.submit(
        queue,
        Client::barrier(
            HSA_PACKET_TYPE_BARRIER_AND,
            false,
            &[blocker],
            hsa_signal_t::default(),
        ),
    );
    drop(client);
    let client = Client::new("gfx90a");
    // Not before: the packet waited for it until the queue was gone.
    client.destroy(blocker);
    let live = gneiss_hsa_core::live_objects();
    assert_eq!(
        (
            live.queues,
            live.allocations,
            live.executables,
            live.signals
        ),
        (0, 0, 0, signals)
    );
    drop(client);
}

#[test]
fn threads_start_and_stop_the_runtime_as_they_like() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut version = 0u16;
                    // SAFETY: plain calls; the out-parameter fits.
                    unsafe {
                        (api.hsa_init)().ok().expect("counted");
                        let value = (&raw mut version).cast();
                        (api.hsa_system_get_info)(HSA_SYSTEM_INFO_VERSION_MAJOR, value)
                            .ok()
                            .expect("the runtime is up");
                        (api.hsa_shut_down)().ok().expect("counted");
                    }
                    assert_eq!(version, 1);
                }
            });
        }
    });
    // The client's own reference is left.
    let signal = client.signal(1);
    client.destroy(signal);
}

#[test]
fn threads_that_race_for_the_last_reference_leave_a_runtime_that_starts_again() {
    let client = Client::new("gfx90a");
    // SAFETY: the client's reference, which is taken again below.
    unsafe { (client.api.hsa_shut_down)() }
        .ok()
        .expect("the last");
    let api = &client.api;
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..50 {
                    // SAFETY: plain calls.
                    unsafe {
                        (api.hsa_init)().ok().expect("started or counted");
                        let mut signal = hsa_signal_t::default();
                        (api.hsa_signal_create)(1, 0, std::ptr::null(), &mut signal)
                            .ok()
                            .expect("a signal");
                        (api.hsa_signal_destroy)(signal).ok().expect("destroyed");
                        (api.hsa_shut_down)().ok().expect("counted or stopped");
                    }
                }
            });
        }
    });
    // SAFETY: plain calls.
    unsafe {
        assert_eq!((api.hsa_shut_down)(), HSA_STATUS_ERROR_NOT_INITIALIZED);
        (api.hsa_init)().ok().expect("again");
    }
}
