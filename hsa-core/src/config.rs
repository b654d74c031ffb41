//! Settings from the environment: which GPUs there are and how much memory they have.
//!
//! * `GNEISS_GPUS`: a list like `gfx90a`, `gfx942:8`, `gfx1100,gfx906`, `gfx90a:xnack+`. Unset: the best target that all code in the
//!   loaded objects' `.hip_fatbin` sections can run on, else gfx90a.
//! * `GNEISS_MEM`: memory of each GPU, like `16G`. Unset: the smaller of the card's and half of the machine's.
//! * `ROCR_VISIBLE_DEVICES`: indexes or UUIDs; the list ends at the first that is not there, as in ROCr.
//! * `HSA_OVERRIDE_GFX_VERSION`: the target that all GPUs count as, like `10.3.0`; `HSA_OVERRIDE_GFX_VERSION_1` is for the first alone.
//! * `HSA_XNACK`: 1 or 0 turns XNACK on or off for the GPUs that have it and for which `GNEISS_GPUS` does not say.
//! * `HSA_CU_MASK`: compute units that queues may use, by GPU: `0:0-15,32;1-2:0x10-0x1f`.
//! * `HSA_FORCE_FINE_GRAIN_PCIE=1`: every GPU has a fine-grained pool. `HSA_ENABLE_INTERRUPT=0`: waiters poll.

use std::{env, fs};

use gneiss_settings::parse;

use crate::card::{CARDS, Card, Feature};

/// Whether a variable of ROCr is on: `1`, or `0`; anything else is its default.
pub(crate) fn flag(name: &str, default: bool) -> bool {
    gneiss_settings::switch(name).unwrap_or(default)
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

/// The GPUs of a value of `GNEISS_GPUS`.
pub(crate) fn parse_gpus(value: &str) -> Result<Vec<GpuSpec>, String> {
    let spelled = |said: Option<bool>, default| match said {
        None => default,
        Some(true) => Feature::On,
        Some(false) => Feature::Off,
    };
    let spec = |(ordinal, gpu): (usize, &gneiss_settings::Gpu)| {
        let card = Card::of(gpu.processor)
            .ok_or_else(|| format!("no card has the processor {}", gpu.processor))?;
        Ok(GpuSpec {
            card,
            sramecc: spelled(gpu.sramecc, card.sramecc),
            xnack: spelled(gpu.xnack, card.xnack),
            ordinal,
        })
    };
    let gpus = gneiss_settings::gpus::parse(value)?;
    gpus.iter().enumerate().map(spec).collect()
}

/// The GPUs of this process, by `GNEISS_GPUS` or by the code that is loaded; then `ROCR_VISIBLE_DEVICES`.
pub(crate) fn gpus() -> Result<Vec<GpuSpec>, String> {
    let chosen = gneiss_settings::text("GNEISS_GPUS");
    let mut gpus = match &chosen {
        Some(value) => {
            let gpus = parse_gpus(value)?;
            tracing::info!(
                GNEISS_GPUS = value,
                count = gpus.len(),
                "GPUs chosen by the environment"
            );
            gpus
        }
        None => {
            let target = crate::scan::best_target().unwrap_or_else(|| "gfx90a".to_owned());
            tracing::info!(target, "GPU chosen by the code that is loaded");
            parse_gpus(&target)?
        }
    };
    for gpu in &mut gpus {
        override_version(gpu)?;
    }
    let stated = chosen.is_some_and(|value| value.contains("xnack"));
    let xnack = match gneiss_settings::switch("HSA_XNACK") {
        Some(true) if !stated => Some(Feature::On),
        Some(false) if !stated => Some(Feature::Off),
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

/// Applies `HSA_OVERRIDE_GFX_VERSION_N`, N being the GPU's node (the first GPU's is 1), else `HSA_OVERRIDE_GFX_VERSION`.
fn override_version(gpu: &mut GpuSpec) -> Result<(), String> {
    const NAME: &str = "HSA_OVERRIDE_GFX_VERSION";
    let own = format!("{NAME}_{}", gpu.ordinal + 1);
    let Some((name, value)) = [&own, NAME]
        .into_iter()
        .find_map(|name| Some((name, env::var(name).ok()?)))
    else {
        return Ok(());
    };
    let version = parse::gfx_version(&value)
        .ok_or_else(|| format!("{name}={value}: not a version like 10.3.0"))?;
    *gpu = counted_as(gpu, version).ok_or_else(|| {
        let [major, minor, stepping] = version;
        format!("{name}={value}: there is no target gfx{major}{minor}{stepping:x} here")
    })?;
    Ok(())
}

/// A GPU with the instructions of another target; all else stays the card's.
fn counted_as(gpu: &GpuSpec, version: [u8; 3]) -> Option<GpuSpec> {
    if gpu.card.version == version {
        return Some(*gpu);
    }
    let target = CARDS.iter().find(|card| card.version == version)?;
    // A few times in a process, when the GPUs are made.
    let card = Box::leak(Box::new(Card {
        processor: target.processor,
        version,
        wave: target.wave,
        sramecc: target.sramecc,
        xnack: target.xnack,
        ..*gpu.card
    }));
    Some(GpuSpec {
        card,
        sramecc: card.sramecc,
        xnack: card.xnack,
        ..*gpu
    })
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

/// The compute units that a value of `HSA_CU_MASK` leaves a GPU, as bits; `None`: all. A value that cannot be read counts as none, as in
/// ROCr.
fn parse_cu_mask(value: &str, gpu: u32) -> Option<Vec<u32>> {
    let mut mask = None;
    for (gpus, units) in parse::units_of_gpus(value)? {
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
pub(crate) fn device_memory(card: &Card, machine: u64) -> u64 {
    let size = gneiss_settings::text("GNEISS_MEM").and_then(|text| parse::memory(&text));
    size.unwrap_or((card.memory_gib << 30).min(machine / 2)) & !((2 << 20) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::spelled;
    use gneiss_amdgcn::target::Target;

    fn names(value: &str) -> Vec<String> {
        let gpus = parse_gpus(value).expect("valid");
        gpus.iter()
            .map(|gpu| {
                spelled(gpu.card.processor, gpu.sramecc, gpu.xnack)
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
    fn every_target_has_a_card_and_its_features() {
        let cards: Vec<_> = CARDS.iter().map(|card| card.processor).collect();
        assert_eq!(cards, gneiss_settings::gpus::TARGETS);
        for card in CARDS {
            let feature = |name, state| {
                let list = format!("{}:{name}+", card.processor);
                let known = parse_gpus(&list).is_ok();
                assert_eq!(known, state != Feature::None, "{list}");
            };
            feature("sramecc", card.sramecc);
            feature("xnack", card.xnack);
            let target: Target = card.processor.parse().expect("a target");
            assert_eq!(
                gneiss_settings::gpus::is_executed(card.processor),
                target.check_executable().is_ok()
            );
        }
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

    #[test]
    fn a_gpu_counts_as_another_target() {
        let gpus = parse_gpus("gfx1031,gfx906").expect("valid");
        let counted = counted_as(&gpus[0], [10, 3, 0]).expect("a target");
        assert_eq!(counted.card.processor, "gfx1030");
        assert_eq!(counted.card.product, gpus[0].card.product);
        assert_eq!(counted.card.compute_units, gpus[0].card.compute_units);
        let counted = counted_as(&gpus[1], [9, 0, 10]).expect("a target");
        let name = spelled(counted.card.processor, counted.sramecc, counted.xnack);
        assert!(name.ends_with("gfx90a:sramecc+:xnack-"), "{name}");
        assert!(counted_as(&gpus[0], [10, 9, 0]).is_none());
    }
}
