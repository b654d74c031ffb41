//! The `gneiss` command as it is installed: exit codes, what goes to which stream, JSON.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn prefix() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let prefix = std::env::var_os("GNEISS_PREFIX")
        .map_or_else(|| workspace.join("target/rocm"), PathBuf::from);
    assert!(
        prefix.join("bin/gneiss").exists(),
        "{} is not built: run `make` first",
        prefix.display()
    );
    std::fs::canonicalize(prefix).expect("the prefix exists")
}

fn gneiss(arguments: &[&str]) -> Output {
    gneiss_with(&[], arguments)
}

fn gneiss_with(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(prefix().join("bin/gneiss"));
    command
        .args(arguments)
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("LD_PRELOAD")
        .env_remove("GNEISS_GPUS")
        .envs(variables.iter().copied());
    command.output().expect("gneiss starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fatbin/tests/data")
        .join(name)
        .display()
        .to_string()
}

#[test]
fn run_gives_the_programs_exit_code_and_leaves_its_output_alone() {
    let output = gneiss(&["run", "sh", "-c", "echo out; echo err >&2; exit 42"]);
    assert_eq!(output.status.code(), Some(42));
    assert_eq!(
        (stdout(&output).as_str(), stderr(&output).as_str()),
        ("out\n", "err\n")
    );
    let output = gneiss(&["sh", "-c", "kill -9 $$"]);
    assert_eq!(
        output.status.code(),
        None,
        "the program's signal shows through"
    );
}

#[test]
fn run_reports_what_it_cannot_start_as_a_shell_does() {
    for (arguments, code) in [
        (&["run"][..], 125),
        (&["run", "--gpus", "gfx9999", "true"], 125),
        (&["run", "--gpus", "gfx90c", "true"], 125),
        (&["info", "--gpus", "gfx90c"], 125),
        (&["doctor", "--gpus", "gfx90c", "true"], 125),
        (&["--hip", "nobody", "true"], 125),
        (&["inspect"], 125),
        (&["help", "nothing"], 125),
        (&["/etc/passwd"], 126),
        (&["/nonexistent/program"], 127),
        (&["no-such-program-anywhere"], 127),
    ] {
        let output = gneiss(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn run_says_why_a_program_cannot_be_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8], executable: bool| {
        use std::os::unix::fs::PermissionsExt;
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).expect("written");
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    let mut other = std::fs::read("/proc/self/exe").expect("this test");
    other[18..20].copy_from_slice(&183_u16.to_le_bytes());
    write("aarch64", &other, true);
    write("plain", b"true", false);
    write("text", b"exit 3", true);
    write("script", b"#!/nonexistent/interpreter\n", true);
    for (name, code, part) in [
        (
            "./aarch64",
            126,
            "it is for ELF machine 183, not for x86-64",
        ),
        ("./plain", 126, "it is not executable (chmod +x)"),
        ("./text", 3, ""),
        ("./script", 127, "not the interpreter that it names"),
        ("/", 126, "it is a directory"),
        ("text", 127, "the file here is ./text"),
        ("no-such-program-anywhere", 127, "no such program in PATH"),
    ] {
        let output = Command::new(prefix().join("bin/gneiss"))
            .args(["run", name])
            .current_dir(folder.path())
            .output()
            .expect("gneiss starts");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{name}: {text}");
        assert!(text.contains(part), "{name}: {text}");
    }
}

#[test]
fn run_sets_the_paths() {
    let lib = prefix().join("lib").display().to_string();
    let variables = |arguments: &[&str]| -> Vec<String> {
        let output = gneiss(arguments);
        stdout(&output)
            .lines()
            .filter(|line| line.starts_with("LD_") || line.starts_with("GNEISS_GPUS"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(variables(&["env"]), [format!("LD_LIBRARY_PATH={lib}")]);
    let mut all = variables(&["--gpus", "gfx942:2", "--hip", "amd", "--preload", "env"]);
    all.sort();
    let hsa = format!("{lib}/libhsa-runtime64.so.1");
    assert_eq!(
        all,
        [
            "GNEISS_GPUS=gfx942:2".to_owned(),
            format!("LD_LIBRARY_PATH={lib}/gneiss/hsa-only"),
            format!("LD_PRELOAD={hsa}")
        ]
    );
}

#[test]
fn inspect_lists_kernels() {
    let output = gneiss(&["inspect", &data("plain.hipfb")]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    for part in [
        "hipv4-amdgcn-amd-amdhsa--gfx1030",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-",
        "scale",
        "gather",
        "code object v5",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(!text.contains('\x1b'), "colour in a pipe");
}

#[test]
fn inspect_writes_json() {
    let output = gneiss(&[
        "inspect",
        "--json",
        "--target",
        "gfx90a",
        "--kernel",
        "gath",
        &data("compressed.hipfb"),
    ]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let image = &json["images"][0];
    assert_eq!(image["compression"]["method"], "zstd");
    let entries = image["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 1);
    let code_object = &entries[0]["code_object"];
    assert_eq!(
        (
            code_object["version"].as_u64(),
            code_object["target"].as_str()
        ),
        (Some(5), Some("gfx90a:xnack-"))
    );
    let kernels = code_object["kernels"].as_array().expect("kernels");
    assert_eq!(kernels.len(), 1);
    assert_eq!(
        (kernels[0]["name"].as_str(), kernels[0]["lds"].as_u64()),
        (Some("gather"), Some(128))
    );
    assert_eq!(kernels[0]["arguments"][1]["offset"], 8);
}

#[test]
fn inspect_names_what_is_wrong() {
    let output = gneiss(&["inspect", "/bin/sh"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no .hip_fatbin section"),
        "{}",
        stderr(&output)
    );
    let output = gneiss(&["inspect", "/nonexistent"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("/nonexistent"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn doctor_finds_the_installation_whole() {
    let output = gneiss(&["doctor", "--", "sh"]);
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert!(
        stdout(&output).contains("it names no HIP or HSA library itself"),
        "{}",
        stdout(&output)
    );
    let output = gneiss(&["doctor", "no-such-program-anywhere"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn help_lists_the_environment() {
    let output = gneiss(&["help", "env"]);
    for name in [
        "GNEISS_GPUS",
        "GNEISS_HSA",
        "GNEISS_KERNEL_TIMEOUT",
        "AMD_LOG_LEVEL",
        "HIP_VISIBLE_DEVICES",
    ] {
        assert!(stdout(&output).contains(name), "{name}");
    }
}

#[test]
fn coverage_of_a_file_counts_the_opcodes_of_each_target() {
    let output = gneiss(&["coverage", "--json", &data("v5.hsaco")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let reports: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let report = &reports[0];
    let count = |name: &str| report[name].as_u64().expect("a count");
    assert!(count("kernels") >= 1 && count("opcodes") > 3);
    assert_eq!(
        count("opcodes"),
        count("exact") + count("approximate") + count("unsupported") + count("unexplained")
    );
    let exact = report["lists"]["exact"].as_array().expect("a list");
    assert!(exact.iter().any(|opcode| opcode == "s_endpgm"), "{exact:?}");
    let output = gneiss(&["coverage", "--target", "gfx1201", &data("v5.hsaco")]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn coverage_of_a_target_lists_what_is_refused_with_its_reason() {
    let output = gneiss(&["coverage", "--target", "gfx90a", "--json"]);
    let reports: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let lists = &reports[0]["lists"];
    let remark = |list: &str, opcode: &str| {
        let list = lists[list].as_array().expect("a list");
        let entry = list.iter().find(|entry| entry["opcode"] == opcode);
        entry.map(|entry| entry["remark"].as_str().expect("text").to_owned())
    };
    assert_eq!(
        remark("unsupported", "s_rfe_b64").as_deref(),
        Some("inside of trap handlers")
    );
    let bound = remark("approximate", "v_exp_f32").expect("exp2 is approximate");
    assert!(bound.starts_with("1 ulp"), "{bound}");
    assert!(reports[0]["exact"].as_u64() > Some(1000));
    assert_eq!(gneiss(&["coverage"]).status.code(), Some(125));
    let output = gneiss(&["coverage", "--target", "gfx90a"]);
    assert!(
        stdout(&output)
            .lines()
            .next()
            .is_some_and(|line| line.contains("unexplained"))
    );
}

#[test]
fn a_generic_target_has_what_all_its_targets_have() {
    let operations = |target: &str| -> BTreeSet<String> {
        let output = gneiss(&["coverage", "--target", target, "--json"]);
        assert!(output.status.success(), "{target}: {}", stderr(&output));
        let reports: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let lists = reports[0]["lists"].as_object().expect("lists").values();
        lists
            .flat_map(|list| list.as_array().expect("a list"))
            .map(|entry| entry["opcode"].as_str().or(entry.as_str()).expect("a name"))
            .map(str::to_owned)
            .collect()
    };
    for (generic, members, missing) in [
        ("gfx9-generic", &["gfx900", "gfx906"][..], "v_dot2_f32_f16"),
        ("gfx9-4-generic", &["gfx942", "gfx950"], "v_cvt_pk_fp8_f32"),
        ("gfx10-1-generic", &["gfx1010", "gfx1013"], "v_dot2_f32_f16"),
        ("gfx10-3-generic", &["gfx1030", "gfx1036"], "s_add_f32"),
        ("gfx11-generic", &["gfx1100", "gfx1150"], "s_add_f32"),
        (
            "gfx12-generic",
            &["gfx1200", "gfx1201"],
            "v_fmac_legacy_f32",
        ),
    ] {
        let common = operations(generic);
        assert!(common.contains("s_endpgm"), "{generic}");
        assert!(!common.contains(missing), "{generic} has {missing}");
        for member in members {
            assert!(common.is_subset(&operations(member)), "{member}");
        }
    }
}

#[test]
fn generic_code_objects_are_read_with_their_version() {
    let object = data("v6.hsaco");
    let text = stdout(&gneiss(&["inspect", &object]));
    assert!(
        text.contains("code object v6 for gfx11-generic, generic version 1"),
        "{text}"
    );
    for target in ["gfx11-generic", "gfx1100", "gfx1151"] {
        let output = gneiss(&["disasm", "--target", target, &object]);
        let text = stdout(&output);
        assert!(output.status.success(), "{target}: {}", stderr(&output));
        assert!(
            text.starts_with("; gfx11-generic, code object v6\n"),
            "{text}"
        );
        assert!(text.contains("s_endpgm"), "{text}");
        let output = gneiss(&["coverage", "--target", target, &object]);
        assert!(output.status.success(), "{target}: {}", stderr(&output));
    }
}

#[test]
fn disasm_writes_the_code_of_one_kernel() {
    let output = gneiss(&[
        "disasm",
        "--target",
        "gfx90a",
        "--kernel",
        "scale",
        &data("plain.hipfb"),
    ]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        text.starts_with("; gfx90a:xnack-, code object v5\n"),
        "{text}"
    );
    for part in ["<scale>:", "s_load_dword", "global_store_dword", "s_endpgm"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(!text.contains("<gather>"));
    let output = gneiss(&["disasm", "--kernel", "nothing", &data("v5.hsaco")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no kernel in it has \"nothing\" in its name"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_gpu_that_there_is_not_leads_to_the_list() {
    let output = gneiss(&["run", "--gpus", "gfx90c", "true"]);
    let text = stderr(&output);
    assert!(
        text.starts_with("gneiss: error: --gpus: there is no GPU \"gfx90c\"; there are gfx900, "),
        "{text}"
    );
    let output = gneiss(&["info", "--gpus", "gfx1100:2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output).matches("amdhsa--gfx1100").count(), 2);
}

#[test]
fn senseless_variables_are_refused_before_the_program_starts() {
    for (name, value) in [
        ("GNEISS_THREADS", "0"),
        ("GNEISS_SIMD", "foo"),
        ("GNEISS_KERNEL_TIMEOUT", "soon"),
        ("GNEISS_HANG_TIMEOUT", "1h"),
        ("GNEISS_FAULT", "ignore"),
        ("GNEISS_MEM", "lots"),
        ("GNEISS_GPUS", "gfx90c"),
    ] {
        let output = gneiss_with(&[(name, value)], &["run", "sh", "-c", "echo started"]);
        assert_eq!(output.status.code(), Some(125), "{name}={value}");
        let text = stderr(&output);
        assert!(
            text.starts_with(&format!("gneiss: error: {name}={value}: "))
                && text.lines().count() == 1,
            "{text}"
        );
        assert_eq!(stdout(&output), "");
        let output = gneiss_with(&[(name, value)], &["doctor"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stdout(&output).contains(&format!("problem  {name}={value}: ")));
    }
    let output = gneiss_with(
        &[("GNEISS_GPUS", "gfx90c")],
        &["run", "--gpus", "gfx90a", "true"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn mistyped_variables_lead_to_a_warning() {
    let variables = [("GNEISS_THREAD", "2"), ("HSA_XNACK", "on")];
    let output = gneiss_with(&variables, &["run", "true"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    for part in [
        "warning: HSA_XNACK=on: not accepted; accepted is 0 or 1; it counts as none",
        "warning: there is no variable GNEISS_THREAD; is GNEISS_THREADS meant?",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(stderr(&gneiss_with(&variables, &["-q", "run", "true"])), "");
}

#[test]
fn the_live_signal_before_the_handler_is_there_does_not_end_the_program() {
    let script = "kill -USR1 $$; echo alive";
    let output = gneiss_with(&[("GNEISS_LIVE", "1")], &["run", "sh", "-c", script]);
    assert_eq!(stdout(&output), "alive\n", "{:?}", output.status);
    let output = gneiss(&["run", "sh", "-c", script]);
    assert_eq!(output.status.code(), None, "without it, SIGUSR1 is as ever");
}

#[test]
fn what_is_not_in_the_file_is_an_error_that_says_what_is() {
    for (arguments, part) in [
        (
            &["inspect", "--target", "gfx1201"][..],
            "no code for gfx1201; there is code for gfx1030, gfx90a:xnack-",
        ),
        (
            &["inspect", "--kernel", "nothing"],
            "there is scale, gather",
        ),
        (&["disasm", "--kernel", "nothing"], "there is scale, gather"),
        (&["disasm", "--target", "gfx1201"], "code for gfx1030"),
        (&["coverage", "--target", "gfx1201"], "code for gfx1030"),
    ] {
        let file = data("plain.hipfb");
        let arguments: Vec<&str> = arguments.iter().copied().chain([file.as_str()]).collect();
        let output = gneiss(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let text = stderr(&output);
        assert!(text.contains(part), "{arguments:?}: {text}");
        assert_eq!(stdout(&output), "");
    }
    let output = gneiss(&["inspect", "--target", "gfx1201", &data("v5.hsaco")]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
}

#[test]
fn every_subcommand_has_help() {
    let output = gneiss(&["help", "nothing"]);
    let text = stderr(&output);
    let (_, topics) = text.trim().rsplit_once("about ").expect("a list");
    let topics: Vec<_> = topics.split(", ").collect();
    assert!(topics.contains(&"coverage") && topics.contains(&"env"));
    for topic in topics {
        let output = gneiss(&["help", topic]);
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "{topic}"
        );
    }
}

#[test]
fn nonsense_files_are_errors() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
    let write = |name: &[u8], bytes: &[u8]| std::fs::write(at(name), bytes).expect("written");
    write(b"empty", b"");
    write(b"\xff\xfe", b"not a program");
    write(b"magic", b"\x7fELF");
    write(b"bundle", b"__CLANG_OFFLOAD_BUNDLE__");
    let mut other = std::fs::read("/proc/self/exe").expect("this test");
    other.truncate(4096);
    other[18..20].copy_from_slice(&183_u16.to_le_bytes());
    write(b"aarch64", &other);
    let huge = std::fs::File::create(at(b"huge")).expect("created");
    huge.set_len(1 << 36).expect("a sparse file");
    symlink(at(b"loop"), at(b"loop")).expect("linked");
    let pipe = at(b"pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    std::fs::create_dir(at(b"folder")).expect("created");
    for name in [
        &b"empty"[..],
        b"\xff\xfe",
        b"magic",
        b"bundle",
        b"aarch64",
        b"huge",
        b"loop",
        b"pipe",
        b"folder",
        b"missing",
    ] {
        for subcommand in ["inspect", "disasm", "coverage", "doctor"] {
            let output = Command::new(prefix().join("bin/gneiss"))
                .arg(subcommand)
                .arg(at(name))
                .output()
                .expect("gneiss starts");
            let what = String::from_utf8_lossy(name);
            assert_eq!(output.status.code(), Some(1), "{subcommand} {what}");
            if subcommand != "doctor" {
                let text = stderr(&output);
                assert!(
                    text.starts_with("gneiss: error: ") && text.lines().count() == 1,
                    "{subcommand} {what}: {text}"
                );
                assert!(text.contains(&*what), "{subcommand} {what}: {text}");
            }
        }
        let output = Command::new(prefix().join("bin/gneiss"))
            .arg("run")
            .arg(at(name))
            .output()
            .expect("gneiss starts");
        assert!(matches!(output.status.code(), Some(126 | 127)));
    }
}

#[test]
fn a_closed_or_full_stdout_is_no_panic() {
    let file = data("plain.hipfb");
    for line in [
        format!("inspect {file}"),
        format!("inspect --json {file}"),
        format!("disasm {file}"),
        format!("coverage --json {file}"),
        "coverage --target gfx90a".to_owned(),
        "help env".to_owned(),
        "help run".to_owned(),
        "--help".to_owned(),
        "info --api".to_owned(),
        "doctor".to_owned(),
    ] {
        let gneiss = prefix().join("bin/gneiss").display().to_string();
        let shell = |script: String| {
            let output = Command::new("bash").args(["-c", &script]).output();
            output.expect("bash starts")
        };
        let output = shell(format!("{gneiss} {line} | true; exit ${{PIPESTATUS[0]}}"));
        let text = stderr(&output);
        assert!(!text.contains("panicked"), "{line}: {text}");
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{line}: {text}"
        );
        let output = shell(format!("{gneiss} {line} >/dev/full"));
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {text}");
        assert!(
            text.contains("No space left on device") && !text.contains("panicked"),
            "{line}: {text}"
        );
    }
}
