//! Debian's `rocminfo` over the runtime, compared word for word with what it prints on the cards.
//!
//! The expectations in `tests/expected/rocminfo/` are written from outputs of `rocminfo` on those cards that their owners made public
//! (named below), laid out as version 5.2.3 does, and not from runs of this runtime. Where public outputs of one card differ, the
//! reason is the version of ROCm: 5.x prints a cache line of 64 for every card, later ones that of the second-level cache, which is what
//! stands here; from 6.4 on a second ISA follows, the generic one of the processor, as here. What is the host's (its processor, its memory) stands as a placeholder and is filled in from the system; the
//! memory of the card is given as the card has it; the UUID is the software GPU's own.
//!
//! * MI210: ROCm/ROCm issue 2595, ROCm/rocprofiler-compute issue 95; memory ROCm/ROCm 6031; cache line ROCm/aiter 179.
//! * MI300X: ROCm/ROCm issue 4414; memory ROCm/rocprof-compute-viewer 29.
//! * RX 6800 XT: the card's specification (72 compute units, 128 MiB Infinity Cache, 2575 MHz boost as reported); layout as the
//!   RX 6600 XT of ROCm/ROCm issue 1698, the same family.
//! * RX 7900 XTX: ROCm/ROCm issue 2866, jax-ml/jax issue 19453; cache line ROCm/rocm-systems 8458.
//! * RX 9070 XT: ROCm/ROCm issue 5849; memory ROCm/ROCm issue 6625. Its grid limits in ROCm 7 are narrower than in 5.2.

use std::{fs, path::Path};

use gneiss_tests::{Run, source_path};

/// Prints a value as `rocminfo` pads it.
fn padded(text: &str) -> String {
    format!("{text:<35}")
}

fn hex(value: u64) -> String {
    format!("{value}({value:#x})")
}

/// Value of a field of the first processor in `/proc/cpuinfo`.
fn processor(field: &str) -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with(field))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Fills in the host's part. Memory of the machine is any amount that `/proc/meminfo` allows, the same in all pools.
fn fill(expected: &str, found: &str) -> String {
    let name: String = processor("model name")
        .expect("a name")
        .chars()
        .take(63)
        .collect();
    let cores = std::thread::available_parallelism().expect("known").get();
    let cache = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index0/size")
        .ok()
        .and_then(|text| text.trim().strip_suffix('K')?.parse::<u64>().ok());
    // The clock may change between two looks unless the system states the highest one.
    let clock = line(found, "  Max Clock Freq. (MHz):");
    let memory = line(found, "      Size:");
    let kilobytes: u64 = memory
        .split('(')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("a size");
    let total = fs::read_to_string("/proc/meminfo").expect("readable");
    let total: u64 = total
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .expect("MemTotal");
    assert!(
        kilobytes > 0 && kilobytes <= total,
        "{kilobytes} KB of {total} KB"
    );
    assert_eq!(memory, format!("{} KB", hex(kilobytes)));
    assert!(clock.parse::<u32>().is_ok(), "{clock}");

    let mut text = expected
        .replace(&padded("<cpu name>"), &padded(&name))
        .replace(&padded("<cpu cores>"), &padded(&cores.to_string()))
        .replace(&padded("<cpu clock>"), &padded(&clock))
        .replace(&padded("<system memory>"), &padded(&memory));
    let cache_line = format!("    L1:                      {}\n", padded("<cpu cache>"));
    text = match cache {
        Some(size) => text.replace(
            &padded("<cpu cache>"),
            &padded(&format!("{} KB", hex(size))),
        ),
        None => text.replace(&cache_line, ""),
    };
    text
}

/// The value of the first line with a label.
fn line(text: &str, label: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(label));
    line.unwrap_or_else(|| panic!("no line `{label}` in\n{text}"))[label.len()..]
        .trim()
        .to_owned()
}

fn card(target: &str, kilobytes: u64) {
    let rocminfo = Path::new("/usr/bin/rocminfo");
    assert!(
        rocminfo.exists(),
        "rocminfo is not installed: `make test` installs it"
    );
    let file = source_path(&format!("tests/expected/rocminfo/{target}.txt"));
    let expected = fs::read_to_string(&file).expect("an expectation");
    let outcome = Run::new(rocminfo)
        .gpus(target)
        .env("GNEISS_MEM", format!("{kilobytes}K"))
        .run();
    outcome.expect_success();
    let wanted = fill(&expected, &outcome.stdout);
    for (number, (found, wanted)) in outcome.stdout.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(found, wanted, "line {} of {}", number + 1, file.display());
    }
    assert_eq!(outcome.stdout, wanted);
}

#[test]
fn prints_an_mi210() {
    card("gfx90a", 0x3ff_c000);
}

#[test]
fn prints_an_mi300x() {
    card("gfx942", 0xbfb_0000);
}

#[test]
fn prints_an_rx_6800_xt() {
    card("gfx1030", 0xff_c000);
}

#[test]
fn prints_an_rx_7900_xtx() {
    card("gfx1100", 0x17f_c000);
}

#[test]
fn prints_an_rx_9070_xt() {
    card("gfx1201", 0xfe_c000);
}
