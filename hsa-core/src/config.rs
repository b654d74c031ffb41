//! Settings from the environment: which GPUs there are and how much memory they have.
//!
//! * `GNEISS_GPUS`: a list like `gfx90a`, `gfx942:8`, `gfx1100,gfx906`, `gfx90a:xnack+`. Unset: the best target that all code in the
//!   loaded objects' `.hip_fatbin` sections can run on, else gfx90a.
//! * `GNEISS_MEM`: memory of each GPU, like `16G`. Unset: the smaller of the card's and half of the machine's.
//! * `ROCR_VISIBLE_DEVICES`: indexes or UUIDs; the list ends at the first that is not there, as in ROCr.
//! * `HSA_XNACK`: 1 or 0 turns XNACK on or off for the GPUs that have it and for which `GNEISS_GPUS` does not say.
//! * `HSA_CU_MASK`: compute units that queues may use, by GPU: `0:0-15,32;1-2:0x10-0x1f`.
//! * `HSA_FORCE_FINE_GRAIN_PCIE=1`: every GPU has a fine-grained pool. `HSA_ENABLE_INTERRUPT=0`: waiters poll.

use std::{env, fmt, fs};

use crate::card::{CARDS, Card, Feature};

/// Most GPUs that one process may have: access rights are kept as 64-bit sets.
pub(crate) const MAX_GPUS: usize = 64;

/// Whether a variable of ROCr is on: `1`, or `0`; anything else is its default.
pub(crate) fn flag(name: &str, default: bool) -> bool {
    match env::var(name).as_deref() {
        Ok("1") => true,
        Ok("0") => false,
        _ => default,
    }
}

/// One GPU to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuSpec {
    /// Its card.
    pub(crate) card: &'static Card,
    /// SRAM ECC as the ISA name spells it.
    pub(crate) sramecc: Feature,
    /// XNACK as the ISA name spells it.
    pub(crate) xnack: Feature,
    /// Position in the list, before `ROCR_VISIBLE_DEVICES`.
    pub(crate) ordinal: usize,
}

/// A setting that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadSetting {
    variable: &'static str,
    value: String,
    reason: String,
}

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}: {}", self.variable, self.value, self.reason)
    }
}

/// Parses the value of `GNEISS_GPUS`.
pub(crate) fn parse_gpus(value: &str) -> Result<Vec<GpuSpec>, BadSetting> {
    let bad = |reason: String| BadSetting {
        variable: "GNEISS_GPUS",
        value: value.to_owned(),
        reason,
    };
    let mut gpus = Vec::new();
    for item in value
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        let mut parts = item.split(':');
        let processor = parts.next().unwrap_or_default();
        let card = Card::of(processor).ok_or_else(|| {
            let known: Vec<_> = CARDS.iter().map(|card| card.processor).collect();
            bad(format!(
                "no such target: {processor} (known: {})",
                known.join(" ")
            ))
        })?;
        let (mut sramecc, mut xnack, mut count) = (card.sramecc, card.xnack, 1);
        for part in parts {
            let (name, state) = match part.split_at_checked(part.len().saturating_sub(1)) {
                Some((name, "+")) => (name, Feature::On),
                Some((name, "-")) => (name, Feature::Off),
                _ => {
                    count = part
                        .parse()
                        .map_err(|_| bad(format!("{part} is neither a number nor a feature")))?;
                    continue;
                }
            };
            match name {
                "sramecc" if sramecc != Feature::None => sramecc = state,
                "xnack" if xnack != Feature::None => xnack = state,
                _ => return Err(bad(format!("{processor} has no feature {name}"))),
            }
        }
        if count == 0 || count > MAX_GPUS - gpus.len() {
            return Err(bad(format!("there can be 1 to {MAX_GPUS} GPUs")));
        }
        for _ in 0..count {
            gpus.push(GpuSpec {
                card,
                sramecc,
                xnack,
                ordinal: gpus.len(),
            });
        }
    }
    if gpus.is_empty() {
        return Err(bad("names no GPU".to_owned()));
    }
    Ok(gpus)
}

/// The GPUs of this process, by `GNEISS_GPUS` or by the code that is loaded; then `ROCR_VISIBLE_DEVICES`.
pub(crate) fn gpus() -> Result<Vec<GpuSpec>, BadSetting> {
    let mut gpus = match env::var("GNEISS_GPUS") {
        Ok(value) if !value.trim().is_empty() => {
            let gpus = parse_gpus(&value)?;
            tracing::info!(
                GNEISS_GPUS = value,
                count = gpus.len(),
                "GPUs chosen by the environment"
            );
            gpus
        }
        _ => {
            let target = crate::scan::best_target().unwrap_or_else(|| "gfx90a".to_owned());
            tracing::info!(target, "GPU chosen by the code that is loaded");
            parse_gpus(&target)?
        }
    };
    let stated = env::var("GNEISS_GPUS").is_ok_and(|value| value.contains("xnack"));
    let xnack = match env::var("HSA_XNACK").as_deref() {
        Ok("1") if !stated => Some(Feature::On),
        Ok("0") if !stated => Some(Feature::Off),
        _ => None,
    };
    if let Some(state) = xnack {
        gpus.iter_mut()
            .filter(|gpu| gpu.xnack != Feature::None)
            .for_each(|gpu| gpu.xnack = state);
    }
    if let Ok(list) = env::var("ROCR_VISIBLE_DEVICES") {
        gpus = visible(&gpus, &list);
    }
    Ok(gpus)
}

/// The UUID of a GPU: the product's name and the position in the list make it stable from run to run.
pub(crate) fn unique_id(spec: &GpuSpec) -> u64 {
    0x676e_6569_0000_0000 | u64::from(spec.card.chip_id) << 8 | spec.ordinal as u64
}

/// Applies `ROCR_VISIBLE_DEVICES`.
fn visible(gpus: &[GpuSpec], list: &str) -> Vec<GpuSpec> {
    let mut chosen: Vec<GpuSpec> = Vec::new();
    for token in list.split(',').map(str::trim) {
        let found = match token.strip_prefix("GPU-") {
            Some(uuid) => gpus
                .iter()
                .find(|gpu| format!("{:016x}", unique_id(gpu)) == uuid.to_lowercase()),
            None => token
                .parse::<usize>()
                .ok()
                .and_then(|index| gpus.get(index)),
        };
        match found {
            Some(gpu) if chosen.iter().all(|other| other.ordinal != gpu.ordinal) => {
                chosen.push(*gpu)
            }
            _ => break,
        }
    }
    chosen
}

/// Parses a list of numbers and ranges: `0-15,32`, in decimal or with `0x`.
fn ranges(list: &str) -> Option<Vec<(u32, u32)>> {
    let number = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    };
    list.split(',')
        .map(|item| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some((first, last))
        })
        .collect()
}

/// The compute units that a value of `HSA_CU_MASK` leaves a GPU, as bits; `None`: all. A value that cannot be read counts as none, as in
/// ROCr.
fn parse_cu_mask(value: &str, gpu: u32) -> Option<Vec<u32>> {
    let mut mask = None;
    for item in value.split(';').filter(|item| !item.trim().is_empty()) {
        let (gpus, units) = item.split_once(':')?;
        let (gpus, units) = (ranges(gpus)?, ranges(units)?);
        if !gpus
            .iter()
            .any(|&(first, last)| (first..=last).contains(&gpu))
        {
            continue;
        }
        let mut bits = vec![0u32; 32];
        for (first, last) in units {
            for unit in first..=last.min(1023) {
                bits[unit as usize / 32] |= 1 << (unit % 32);
            }
        }
        mask = Some(bits);
    }
    mask
}

/// The compute units that `HSA_CU_MASK` leaves a GPU, as bits; `None`: all.
pub(crate) fn cu_mask(gpu: usize) -> Option<Vec<u32>> {
    let value = env::var("HSA_CU_MASK").ok()?;
    parse_cu_mask(&value, u32::try_from(gpu).ok()?)
}

/// Parses a size: a number of bytes, or with K, M, G, T (powers of 1024).
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_suffix(['B', 'b']).unwrap_or(text);
    let text = text.strip_suffix('i').unwrap_or(text);
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        (at, 't' | 'T') => (&text[..at], 40),
        _ => (text, 0),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Memory of the machine in bytes: the smaller of RAM and the limits of the control groups.
pub(crate) fn machine_memory() -> u64 {
    let info = rustix::system::sysinfo();
    let mut memory = info.totalram as u64 * u64::from(info.mem_unit.max(1));
    let read = |path: &str| {
        fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
    };
    for path in [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ] {
        if let Some(limit) = read(path) {
            memory = memory.min(limit);
        }
    }
    if let Ok(groups) = fs::read_to_string("/proc/self/cgroup") {
        for group in groups.lines().filter_map(|line| line.strip_prefix("0::")) {
            if let Some(limit) = read(&format!("/sys/fs/cgroup{group}/memory.max")) {
                memory = memory.min(limit);
            }
        }
    }
    memory.max(64 << 20)
}

/// Memory of a GPU in bytes, a multiple of 2 MiB.
pub(crate) fn device_memory(card: &Card, machine: u64) -> Result<u64, BadSetting> {
    let size = match env::var("GNEISS_MEM") {
        Ok(value) => parse_size(&value)
            .filter(|&size| size >= 2 << 20)
            .ok_or_else(|| BadSetting {
                variable: "GNEISS_MEM",
                value,
                reason: "not a size like 16G, of at least 2M".to_owned(),
            })?,
        Err(_) => (card.memory_gib << 30).min(machine / 2),
    };
    Ok(size & !((2 << 20) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(value: &str) -> Vec<String> {
        let gpus = parse_gpus(value).expect("valid");
        gpus.iter()
            .map(|gpu| {
                gpu.card
                    .isa_name(gpu.sramecc, gpu.xnack)
                    .split_off(Card::ISA_PREFIX.len())
            })
            .collect()
    }

    #[test]
    fn lists_counts_and_features() {
        assert_eq!(
            names("gfx1100,gfx906"),
            ["gfx1100", "gfx906:sramecc+:xnack-"]
        );
        assert_eq!(names("gfx942:8").len(), 8);
        assert_eq!(
            names("gfx90a:xnack+:2"),
            ["gfx90a:sramecc+:xnack+", "gfx90a:sramecc+:xnack+"]
        );
    }

    #[test]
    fn bad_lists_say_why() {
        for (value, reason) in [
            ("gfx123", "no such target: gfx123"),
            ("", "names no GPU"),
            ("gfx1030:xnack+", "gfx1030 has no feature xnack"),
            ("gfx90a:0", "1 to 64"),
            ("gfx90a:65", "1 to 64"),
            ("gfx90a:many", "neither a number nor a feature"),
        ] {
            let error = parse_gpus(value).expect_err(value).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("16G"), Some(16 << 30));
        assert_eq!(parse_size("512 MiB"), Some(512 << 20));
        assert_eq!(parse_size("4096"), Some(4096));
        assert_eq!(parse_size("G"), None);
        assert_eq!(parse_size("99999999999T"), None);
    }

    #[test]
    fn compute_units_are_masked_by_gpu() {
        let mask = |value, gpu| parse_cu_mask(value, gpu).map(|bits| (bits[0], bits[1]));
        assert_eq!(mask("0:0-3,33", 0), Some((0xf, 2)));
        assert_eq!(mask("0:0-3,33", 1), None);
        assert_eq!(mask("0:0;1-2:0x4-0x5", 2), Some((0x30, 0)));
        assert_eq!(mask("0:3-1", 0), None);
        assert_eq!(mask("nonsense", 0), None);
    }

    #[test]
    fn visible_devices_end_at_the_first_unknown() {
        let gpus = parse_gpus("gfx90a:4").expect("valid");
        let ordinals = |list: &str| {
            visible(&gpus, list)
                .iter()
                .map(|gpu| gpu.ordinal)
                .collect::<Vec<_>>()
        };
        assert_eq!(ordinals("2,0"), [2, 0]);
        assert_eq!(ordinals("1,9,0"), [1]);
        assert_eq!(ordinals("1,1,0"), [1]);
        assert_eq!(ordinals(&format!("GPU-{:016x}", unique_id(&gpus[3]))), [3]);
        assert_eq!(ordinals(""), [0; 0]);
    }
}
