//! Kernels that go wrong and programs that hand in what they should not: errors that name what was wrong, and never a crash or a
//! hang.

use std::path::PathBuf;

use gneiss_tests::{
    Compile, Outcome, Prefix, QUICK_TARGET, Run, case_run, cases, cases_source, compile,
    source_path,
};

cases! { "faults":
    fault_in_a_stream,
    launch_limits,
    null_arguments,
}

/// Runs a case whose kernel touches a bad address; the report must name the kernel and hold all of `parts`.
fn memory_fault(case: &str, parts: &[&str]) -> Outcome {
    let outcome = case_run("faults", case).run();
    outcome.expect_success().expect_stderr(parts);
    assert_eq!(
        outcome.stdout,
        "the fault was reported\n",
        "{}",
        outcome.describe()
    );
    outcome
}

#[test]
fn a_write_to_null_is_reported() {
    memory_fault("null_pointer", &["write_at", "0x0", "lane"]);
}

#[test]
fn a_write_to_a_wild_pointer_is_reported_with_its_address() {
    memory_fault("wild_pointer", &["write_at", "0x123456789000", "lane"]);
}

#[test]
fn a_read_of_a_wild_pointer_is_reported() {
    memory_fault("read_of_a_wild_pointer", &["read_at", "0x10"]);
}

#[test]
fn a_write_past_the_end_names_the_allocation() {
    memory_fault("past_the_end", &["write_past_the_end", "4194304"]);
}

#[test]
fn use_after_free_is_reported() {
    memory_fault("use_after_free", &["write_at"]);
}

#[test]
fn host_memory_that_the_device_was_not_given_is_refused() {
    memory_fault("stack_pointer", &["write_at"]);
}

#[test]
fn the_hosts_address_of_registered_memory_is_refused_with_the_one_to_use() {
    let outcome = memory_fault(
        "host_address_of_registered_memory",
        &["write_at", "hipHostGetDevicePointer"],
    );
    let device = outcome
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("expected: "))
        .expect("the device's address");
    outcome.expect_stderr(&[&format!("kernels reach it at {device} in")]);
}

#[test]
fn a_report_names_the_source_line_when_there_is_debug_information() {
    let compile_with_lines =
        Compile::hip(&cases_source("faults"), QUICK_TARGET, "-O0").args(["-ggdb"]);
    let outcome = Run::new(compile(&compile_with_lines))
        .args(["null_pointer"])
        .run();
    outcome.expect_success();
    let line = source_line("address[threadIdx.x] = 1;");
    outcome.expect_stderr(&[&format!("faults.hip:{line}")]);
}

/// The number of the only line of the faults program that holds `text`.
fn source_line(text: &str) -> usize {
    let source =
        std::fs::read_to_string(cases_source("faults")).expect("the program's source can be read");
    let lines: Vec<_> = source
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(text))
        .collect();
    assert_eq!(lines.len(), 1, "`{text}` must stand in one line");
    lines[0].0 + 1
}

#[test]
fn an_enabled_floating_point_exception_ends_the_kernel_with_an_error_that_names_it() {
    case_run("faults", "float_exception")
        .run()
        .expect_success()
        .expect_stderr(&[
            "floating-point exception: division by zero",
            "divides_by_zero",
            "lane 3",
            "v_rcp_f32",
        ]);
}

#[test]
fn a_trap_ends_the_kernel_with_an_error() {
    case_run("faults", "trap")
        .run()
        .expect_success()
        .expect_stderr(&["traps"]);
}

#[test]
fn an_illegal_instruction_is_named() {
    case_run("faults", "illegal_instruction")
        .run()
        .expect_success()
        .expect_stderr(&["illegal_instruction", "ffffffff"]);
}

#[test]
fn a_signal_ends_a_program_whose_kernel_never_ends() {
    for direct in ["0", "1"] {
        case_run("faults", "endless_interrupted")
            .env("AMD_DIRECT_DISPATCH", direct)
            .run()
            .expect_signal(15);
    }
}

#[test]
fn an_endless_kernel_is_stopped() {
    let outcome = case_run("faults", "endless")
        .env("GNEISS_KERNEL_TIMEOUT", "1")
        .run();
    outcome
        .expect_success()
        .expect_stderr(&["never_ends", "GNEISS_KERNEL_TIMEOUT"]);
}

#[test]
fn the_older_behaviour_aborts_at_a_fault() {
    let outcome = case_run("faults", "null_pointer")
        .env("GNEISS_FAULT", "abort")
        .run();
    outcome
        .expect_signal(libc::SIGABRT)
        .expect_stderr(&["write_at"]);
}

fn good_module() -> PathBuf {
    compile(&Compile::module(
        &source_path("samples/c/kernels.hip"),
        QUICK_TARGET,
    ))
}

#[test]
fn missing_modules_and_kernels_do_not_spoil_later_launches() {
    Run::new(compile(&Compile::hip(
        &cases_source("faults"),
        QUICK_TARGET,
        "-O3",
    )))
    .args([
        "missing_modules_and_kernels".as_ref(),
        good_module().as_os_str(),
    ])
    .run()
    .expect_success();
}

#[test]
fn damaged_modules_are_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder can be made");
    case_run("faults", "damaged_modules")
        .args([
            good_module().as_os_str(),
            folder.path().join("module.co").as_os_str(),
        ])
        .run()
        .expect_success();
}

#[test]
fn senseless_variables_keep_the_libraries_from_starting() {
    let prefix = Prefix::find();
    let hip = Compile::c_over_hip(&source_path("samples/c/device_info.c"), &prefix);
    let hsa = Compile::c_over_hsa(&source_path("samples/hsa/lifecycle.c"), &prefix);
    for program in [compile(&hip), compile(&hsa)] {
        for (name, value) in [
            ("GNEISS_GPUS", "gfx90c"),
            ("GNEISS_THREADS", "0"),
            ("GNEISS_HANG_TIMEOUT", "1h"),
        ] {
            let outcome = Run::new(&program).library_path().env(name, value).run();
            outcome.expect_code(1);
            let line = format!("gneiss: {name}={value}: ");
            assert_eq!(
                outcome.stderr.matches(&line).count(),
                1,
                "{}",
                outcome.describe()
            );
        }
    }
}
