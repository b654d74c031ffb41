//! Allocation, copies, fills, symbols, managed and registered memory, case by case of `programs/memory.hip`.

gneiss_tests::cases! { "memory":
    copy_2d,
    copy_2d_of_many_rows,
    copy_3d_between_pitches,
    large_buffers,
    unaligned_fills,
    fills_of_words,
    fills_2d_from_threads,
    copies_of_all_sizes,
    pageable_copies_are_staged,
    symbols,
    managed_variable,
    managed_memory,
    advice_is_for_pages,
    registered_host_memory,
    mapped_host_memory,
    host_memory_keeps_its_flags,
    elements_fill_rows,
    atomics_on_host_memory,
    atomic_minimum_on_host_memory,
    pointer_attributes,
    memory_information,
    too_much_memory,
    bad_arguments,
    bad_host_pointers,
    bad_registrations,
    copies_of_the_driver_interface,
    pageable_rows_are_staged,
    byte_writes,
    double_free,
}

#[test]
fn managed_variables_need_no_device() {
    for (name, value) in [("HIP_VISIBLE_DEVICES", "-1"), ("ROCR_VISIBLE_DEVICES", "")] {
        gneiss_tests::case_run("memory", "no_device")
            .env(name, value)
            .run()
            .expect_success();
    }
}

#[test]
fn the_device_has_the_memory_that_is_asked_for() {
    gneiss_tests::case_run("memory", "memory_of_the_size_asked_for")
        .env("GNEISS_MEM", "64M")
        .run()
        .expect_success();
}

#[test]
fn hidden_memory_is_not_free() {
    gneiss_tests::case_run("memory", "hidden_memory_is_not_free")
        .env("GNEISS_MEM", "64M")
        .env("HIP_HIDDEN_FREE_MEM", "16")
        .run()
        .expect_success();
}

#[test]
fn kernels_reach_host_memory_where_page_faults_are_recoverable() {
    let run = |gpu: &str, reach: &str| {
        gneiss_tests::case_run("memory", "kernels_reach_what_the_program_has")
            .args([reach])
            .gpus(gpu)
    };
    run("gfx90a:xnack+", "1").run().expect_success();
    run("gfx90a", "1")
        .env("HSA_XNACK", "1")
        .run()
        .expect_success();
    run("gfx90a", "0").run().expect_success();
}
