//! The cards that the software GPU answers for, one for each gfx target: what `hsa_agent_get_info` and the pools report.
//!
//! Sources: chip numbers are PCI ids (pci.ids); compute units, clocks, memory and caches are AMD's published specifications of the
//! named product; SIMDs, waves and families follow the `amdkfd` topology of those cards. Memory size is the card's; the device's
//! is smaller (see [`crate::config`]). Where a card differs from its specification, and for what no specification has (revision,
//! cache line), the value is what `rocminfo` prints on it, from public reports:
//! * MI210: ROCm/ROCm 2595 (revision, caches, clock, engines), ROCm/aiter 179 (cache line), ROCm/ROCm 6031 (memory);
//! * MI300X: ROCm/ROCm 4414, ROCm/rocprof-compute-viewer 29 (memory);
//! * RX 7900 XTX: ROCm/ROCm 2866 and jax-ml/jax 19453 (clock), ROCm/rocm-systems 8458 (cache line);
//! * RX 9070 XT: ROCm/ROCm 5849 (revision, caches, cache line, clock);
//! * 780M: ROCm/TheRock 1184; 890M: ROCm/ROCm 5108 and 6191; 8060S: ROCm/ROCm 5696 (revision, caches, cache line, clock).
//!
//! Caches of GFX10 are those of the kernel's driver (`kfd_crat.c`). The L2 of the 860M and the 820M was found in no public source: it is
//! taken to be as large for each compute unit as the 890M's.

/// What a feature of the target ID is on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// The processor does not have it; its name spells nothing.
    None,
    /// On: `+`.
    On,
    /// Off: `-`.
    Off,
}

/// One card.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    /// Processor, as in the ISA name.
    pub(crate) processor: &'static str,
    /// Major, minor, stepping.
    pub(crate) version: [u8; 3],
    /// Product name.
    pub(crate) product: &'static str,
    /// PCI device id.
    pub(crate) chip_id: u32,
    /// Revision of the chip.
    pub(crate) revision: u32,
    /// KFD family.
    pub(crate) family: u32,
    /// Compute units.
    pub(crate) compute_units: u32,
    /// SIMDs of a compute unit.
    pub(crate) simds: u32,
    /// Waves of a compute unit.
    pub(crate) waves: u32,
    /// Shader engines.
    pub(crate) shader_engines: u32,
    /// Shader arrays of a shader engine.
    pub(crate) shader_arrays: u32,
    /// Accelerator complex dies.
    pub(crate) xccs: u32,
    /// Engine clock in MHz.
    pub(crate) clock: u32,
    /// Data caches L1, L2, L3 in KiB; 0: none.
    pub(crate) caches: [u32; 3],
    /// Cache line of L2 in bytes.
    pub(crate) cache_line: u32,
    /// Memory in GiB.
    pub(crate) memory_gib: u64,
    /// Memory bus in bits.
    pub(crate) memory_width: u32,
    /// Memory clock in MHz.
    pub(crate) memory_clock: u32,
    /// SDMA engines, and those for XGMI.
    pub(crate) sdma: [u32; 2],
    /// Lanes of a wave.
    pub(crate) wave: u32,
    /// It is part of a processor and shares its memory.
    pub(crate) apu: bool,
    /// SRAM ECC.
    pub(crate) sramecc: Feature,
    /// XNACK.
    pub(crate) xnack: Feature,
}

use Feature::{None as Absent, Off, On};

/// A GCN or CDNA card: four SIMDs of sixteen lanes, waves of 64.
const CDNA: Card = Card {
    processor: "",
    version: [9, 0, 0],
    product: "",
    chip_id: 0,
    revision: 0,
    family: 141,
    compute_units: 0,
    simds: 4,
    waves: 32,
    shader_engines: 8,
    shader_arrays: 1,
    xccs: 1,
    clock: 0,
    caches: [16, 8192, 0],
    cache_line: 128,
    memory_gib: 0,
    memory_width: 4096,
    memory_clock: 1000,
    sdma: [2, 3],
    wave: 64,
    apu: false,
    sramecc: On,
    xnack: Off,
};

/// An RDNA card: two SIMDs of 32 lanes, waves of 32.
const RDNA: Card = Card {
    family: 143,
    simds: 2,
    waves: 32,
    shader_engines: 4,
    shader_arrays: 2,
    memory_width: 256,
    sdma: [2, 0],
    wave: 32,
    sramecc: Absent,
    xnack: Absent,
    ..CDNA
};

/// An RDNA card that is part of a processor. Its memory is the most that such a machine has.
const APU: Card = Card {
    shader_engines: 1,
    sdma: [1, 0],
    apu: true,
    ..RDNA
};

/// All cards.
pub(crate) static CARDS: &[Card] = &[
    Card {
        processor: "gfx900",
        version: [9, 0, 0],
        product: "AMD Radeon Instinct MI25",
        chip_id: 0x6860,
        compute_units: 64,
        waves: 40,
        shader_engines: 4,
        clock: 1500,
        caches: [16, 4096, 0],
        cache_line: 64,
        memory_gib: 16,
        memory_width: 2048,
        memory_clock: 945,
        sdma: [2, 0],
        sramecc: Absent,
        ..CDNA
    },
    Card {
        processor: "gfx906",
        version: [9, 0, 6],
        product: "AMD Radeon Instinct MI50",
        chip_id: 0x66a1,
        compute_units: 60,
        waves: 40,
        shader_engines: 4,
        clock: 1725,
        caches: [16, 4096, 0],
        cache_line: 64,
        memory_gib: 16,
        sdma: [2, 0],
        ..CDNA
    },
    Card {
        processor: "gfx908",
        version: [9, 0, 8],
        product: "AMD Instinct MI100",
        chip_id: 0x738c,
        compute_units: 120,
        waves: 40,
        clock: 1502,
        cache_line: 64,
        memory_gib: 32,
        memory_clock: 1200,
        sdma: [2, 6],
        ..CDNA
    },
    Card {
        processor: "gfx90a",
        version: [9, 0, 10],
        product: "AMD Instinct MI210",
        chip_id: 0x740f,
        revision: 1,
        compute_units: 104,
        clock: 1700,
        memory_gib: 64,
        memory_clock: 1600,
        ..CDNA
    },
    Card {
        processor: "gfx942",
        version: [9, 4, 2],
        product: "AMD Instinct MI300X",
        chip_id: 0x74a1,
        revision: 1,
        compute_units: 304,
        shader_engines: 32,
        xccs: 8,
        clock: 2100,
        caches: [32, 4096, 262_144],
        memory_gib: 192,
        memory_width: 8192,
        memory_clock: 1300,
        sdma: [2, 14],
        ..CDNA
    },
    Card {
        processor: "gfx950",
        version: [9, 5, 0],
        product: "AMD Instinct MI350X",
        chip_id: 0x75a0,
        compute_units: 256,
        shader_engines: 32,
        xccs: 8,
        clock: 2200,
        caches: [32, 4096, 262_144],
        memory_gib: 288,
        memory_width: 8192,
        memory_clock: 2000,
        sdma: [2, 14],
        ..CDNA
    },
    Card {
        processor: "gfx1010",
        version: [10, 1, 0],
        product: "AMD Radeon RX 5700 XT",
        chip_id: 0x731f,
        compute_units: 40,
        waves: 40,
        shader_engines: 2,
        clock: 2100,
        caches: [16, 4096, 0],
        memory_gib: 8,
        memory_clock: 875,
        xnack: Off,
        ..RDNA
    },
    Card {
        processor: "gfx1011",
        version: [10, 1, 1],
        product: "AMD Radeon Pro V520",
        chip_id: 0x7362,
        compute_units: 36,
        waves: 40,
        shader_engines: 2,
        clock: 1600,
        caches: [16, 4096, 0],
        memory_gib: 8,
        memory_width: 2048,
        xnack: Off,
        ..RDNA
    },
    Card {
        processor: "gfx1012",
        version: [10, 1, 2],
        product: "AMD Radeon RX 5500 XT",
        chip_id: 0x7340,
        compute_units: 22,
        waves: 40,
        shader_engines: 1,
        clock: 1845,
        caches: [16, 2048, 0],
        memory_gib: 8,
        memory_width: 128,
        memory_clock: 875,
        xnack: Off,
        ..RDNA
    },
    Card {
        processor: "gfx1013",
        version: [10, 1, 3],
        product: "AMD BC-250",
        chip_id: 0x13fe,
        compute_units: 24,
        waves: 40,
        shader_engines: 2,
        clock: 2000,
        caches: [16, 4096, 0],
        memory_gib: 16,
        memory_clock: 875,
        apu: true,
        xnack: Off,
        ..RDNA
    },
    Card {
        processor: "gfx1030",
        version: [10, 3, 0],
        product: "AMD Radeon RX 6800 XT",
        chip_id: 0x73bf,
        compute_units: 72,
        clock: 2575,
        caches: [16, 4096, 131_072],
        memory_gib: 16,
        ..RDNA
    },
    Card {
        processor: "gfx1031",
        version: [10, 3, 1],
        product: "AMD Radeon RX 6700 XT",
        chip_id: 0x73df,
        compute_units: 40,
        shader_engines: 2,
        clock: 2725,
        caches: [16, 3072, 98_304],
        memory_gib: 12,
        memory_width: 192,
        ..RDNA
    },
    Card {
        processor: "gfx1032",
        version: [10, 3, 2],
        product: "AMD Radeon RX 6600 XT",
        chip_id: 0x73ff,
        compute_units: 32,
        shader_engines: 2,
        clock: 2900,
        caches: [16, 2048, 32_768],
        memory_gib: 8,
        memory_width: 128,
        ..RDNA
    },
    Card {
        processor: "gfx1033",
        version: [10, 3, 3],
        product: "AMD Custom GPU 0405",
        chip_id: 0x163f,
        family: 144,
        compute_units: 8,
        shader_arrays: 1,
        clock: 1600,
        caches: [16, 1024, 0],
        memory_gib: 16,
        memory_width: 128,
        memory_clock: 687,
        ..APU
    },
    Card {
        processor: "gfx1034",
        version: [10, 3, 4],
        product: "AMD Radeon RX 6500 XT",
        chip_id: 0x743f,
        compute_units: 16,
        shader_engines: 1,
        clock: 2815,
        caches: [16, 1024, 16_384],
        memory_gib: 4,
        memory_width: 64,
        memory_clock: 1124,
        sdma: [1, 0],
        ..RDNA
    },
    Card {
        processor: "gfx1035",
        version: [10, 3, 5],
        product: "AMD Radeon 680M",
        chip_id: 0x1681,
        family: 146,
        compute_units: 12,
        clock: 2400,
        caches: [16, 2048, 0],
        memory_gib: 64,
        memory_width: 128,
        memory_clock: 800,
        ..APU
    },
    Card {
        processor: "gfx1036",
        version: [10, 3, 6],
        product: "AMD Radeon Graphics",
        chip_id: 0x164e,
        family: 149,
        compute_units: 2,
        shader_arrays: 1,
        clock: 2200,
        caches: [16, 256, 0],
        memory_gib: 128,
        memory_width: 128,
        memory_clock: 2600,
        ..APU
    },
    Card {
        processor: "gfx1100",
        version: [11, 0, 0],
        product: "AMD Radeon RX 7900 XTX",
        chip_id: 0x744c,
        family: 145,
        compute_units: 96,
        shader_engines: 6,
        clock: 2371,
        caches: [32, 6144, 98_304],
        memory_gib: 24,
        memory_width: 384,
        memory_clock: 1249,
        ..RDNA
    },
    Card {
        processor: "gfx1101",
        version: [11, 0, 1],
        product: "AMD Radeon RX 7800 XT",
        chip_id: 0x747e,
        family: 145,
        compute_units: 60,
        shader_engines: 3,
        clock: 2430,
        caches: [32, 4096, 65_536],
        memory_gib: 16,
        memory_clock: 1219,
        ..RDNA
    },
    Card {
        processor: "gfx1102",
        version: [11, 0, 2],
        product: "AMD Radeon RX 7600",
        chip_id: 0x7480,
        family: 145,
        compute_units: 32,
        shader_engines: 2,
        clock: 2625,
        caches: [32, 2048, 32_768],
        memory_gib: 8,
        memory_width: 128,
        memory_clock: 1124,
        ..RDNA
    },
    Card {
        processor: "gfx1103",
        version: [11, 0, 3],
        product: "AMD Radeon 780M Graphics",
        chip_id: 0x15bf,
        revision: 9,
        family: 148,
        compute_units: 12,
        clock: 2700,
        caches: [32, 2048, 0],
        memory_gib: 64,
        memory_width: 128,
        memory_clock: 937,
        ..APU
    },
    Card {
        processor: "gfx1150",
        version: [11, 5, 0],
        product: "AMD Radeon 890M Graphics",
        chip_id: 0x150e,
        revision: 4,
        family: 150,
        compute_units: 16,
        clock: 2900,
        caches: [32, 2048, 0],
        memory_gib: 64,
        memory_width: 128,
        memory_clock: 1000,
        ..APU
    },
    Card {
        processor: "gfx1151",
        version: [11, 5, 1],
        product: "AMD Radeon 8060S Graphics",
        chip_id: 0x1586,
        family: 150,
        compute_units: 40,
        shader_engines: 2,
        clock: 2900,
        caches: [32, 2048, 32_768],
        memory_gib: 128,
        memory_width: 256,
        memory_clock: 1000,
        ..APU
    },
    Card {
        processor: "gfx1152",
        version: [11, 5, 2],
        product: "AMD Radeon 860M Graphics",
        chip_id: 0x1114,
        family: 150,
        compute_units: 8,
        clock: 3000,
        caches: [32, 1024, 0],
        memory_gib: 64,
        memory_width: 128,
        memory_clock: 1000,
        ..APU
    },
    Card {
        processor: "gfx1153",
        version: [11, 5, 3],
        product: "AMD Radeon 820M Graphics",
        chip_id: 0x1902,
        family: 150,
        compute_units: 2,
        shader_arrays: 1,
        clock: 2800,
        caches: [32, 512, 0],
        memory_gib: 64,
        memory_width: 128,
        memory_clock: 1000,
        ..APU
    },
    Card {
        processor: "gfx1200",
        version: [12, 0, 0],
        product: "AMD Radeon RX 9060 XT",
        chip_id: 0x7590,
        family: 152,
        compute_units: 32,
        shader_engines: 2,
        clock: 3130,
        caches: [32, 4096, 32_768],
        cache_line: 256,
        memory_gib: 16,
        memory_width: 128,
        memory_clock: 1258,
        ..RDNA
    },
    Card {
        processor: "gfx1201",
        version: [12, 0, 1],
        product: "AMD Radeon RX 9070 XT",
        chip_id: 0x7550,
        revision: 1,
        family: 152,
        compute_units: 64,
        clock: 2570,
        caches: [32, 8192, 65_536],
        cache_line: 256,
        memory_gib: 16,
        memory_clock: 1258,
        ..RDNA
    },
];

impl Card {
    /// The card of a processor.
    pub(crate) fn of(processor: &str) -> Option<&'static Card> {
        CARDS.iter().find(|card| card.processor == processor)
    }

    /// Prefix of every ISA name of AMD GPUs.
    pub(crate) const ISA_PREFIX: &'static str = "amdgcn-amd-amdhsa--";
}

/// The name of an ISA: processor, then the features that are stated, in AMD's order.
pub(crate) fn spelled(processor: &str, sramecc: Feature, xnack: Feature) -> String {
    let mut name = format!("{}{processor}", Card::ISA_PREFIX);
    for (feature, state) in [("sramecc", sramecc), ("xnack", xnack)] {
        match state {
            Absent => {}
            On => name.push_str(&format!(":{feature}+")),
            Off => name.push_str(&format!(":{feature}-")),
        }
    }
    name
}

#[cfg(test)]
mod tests;
