//! Launches, their arguments and limits, and the calls around them, case by case of `programs/launch.hip`.

gneiss_tests::cases! { "launch":
    shared_memory_below_a_negative_base,
    record_arguments,
    launch_errors,
    kernel_attributes,
    events_around_a_launch,
    reset_gives_initial_values,
    reset_after_a_fault,
    variables_by_address,
    pool_memory,
}
