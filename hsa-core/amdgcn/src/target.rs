//! The gfx targets and what they have.
//!
//! Names, families and ELF machine numbers are LLVM's (AMDGPUUsage, "Processors" and "ELF Code Object"). A target that is known here
//! can be named, decoded and disassembled; whether the engine executes it is [`Target::check_executable`].

use std::{fmt, str::FromStr};

/// An instruction set family: the targets that share encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// GFX900, 902, 904, 906, 908, 909, 90c.
    Gfx9,
    /// GFX90A.
    Gfx90a,
    /// GFX940, 941, 942, 950.
    Gfx940,
    /// GFX1010 to 1013.
    Gfx10,
    /// GFX1030 to 1036.
    Gfx10_3,
    /// GFX1100 to 1153.
    Gfx11,
    /// GFX1200, 1201.
    Gfx12,
}

/// A processor: `gfx90a` is major 9, minor 0, stepping 0xa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// 9, 10, 11, 12.
    pub major: u8,
    /// Minor.
    pub minor: u8,
    /// Stepping; printed in hexadecimal.
    pub stepping: u8,
}

/// What a target has, as far as launching a kernel and naming an ISA depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// `EF_AMDGPU_MACH` of its code objects.
    pub mach: u32,
    /// The target ID may say `sramecc+` or `sramecc-`.
    pub sramecc: bool,
    /// The target ID may say `xnack+` or `xnack-`.
    pub xnack: bool,
    /// The wave size of a kernel whose descriptor does not say wave32.
    pub default_wave_size: u32,
    /// Kernels may ask for wave32.
    pub wave32: bool,
    /// v0 holds x, y and z in ten bits each.
    pub packed_workitem_id: bool,
    /// The hardware sets FLAT_SCRATCH of each wave; there are no SGPRs for scratch.
    pub architected_flat_scratch: bool,
    /// Work-group ids come in TTMP registers.
    pub workgroup_id_in_ttmp: bool,
    /// Accumulation VGPRs exist.
    pub agprs: bool,
    /// Accumulation VGPRs are part of one file of 512; `compute_pgm_rsrc3` says where they begin.
    pub unified_agprs: bool,
    /// VGPRs in one step of the descriptor's field, in wave32 and in wave64.
    pub vgpr_granule: [u32; 2],
    /// SGPRs in one step of the descriptor's field; 0: the field is ignored and every wave has all.
    pub sgpr_granule: u32,
    /// SGPRs that a kernel can address (VCC and the like apart).
    pub sgprs: u32,
    /// VGPRs of a SIMD that waves share (in wave64; twice that in wave32), for occupancy.
    pub simd_vgprs: u32,
    /// Waves that a SIMD holds.
    pub waves_per_simd: u32,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// The descriptor may preload kernel arguments.
    pub kernarg_preload: bool,
    /// LDS of a compute unit, which one work-group may have, in bytes.
    pub lds: u32,
}

/// `gfx…` names an unknown target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target {name:?}: known are {known}", known = KNOWN.map(|(target, _)| target.to_string()).join(", "))]
pub struct UnknownTarget {
    /// The name that was given.
    pub name: String,
}

const fn gfx(major: u8, minor: u8, stepping: u8) -> Target {
    Target {
        major,
        minor,
        stepping,
    }
}

/// Every known target and its `EF_AMDGPU_MACH`.
pub const KNOWN: [(Target, u32); 31] = [
    (gfx(9, 0, 0), 0x2c),
    (gfx(9, 0, 2), 0x2d),
    (gfx(9, 0, 4), 0x2e),
    (gfx(9, 0, 6), 0x2f),
    (gfx(9, 0, 8), 0x30),
    (gfx(9, 0, 9), 0x31),
    (gfx(9, 0, 0xa), 0x3f),
    (gfx(9, 0, 0xc), 0x32),
    (gfx(9, 4, 2), 0x4c),
    (gfx(9, 5, 0), 0x4f),
    (gfx(10, 1, 0), 0x33),
    (gfx(10, 1, 1), 0x34),
    (gfx(10, 1, 2), 0x35),
    (gfx(10, 1, 3), 0x42),
    (gfx(10, 3, 0), 0x36),
    (gfx(10, 3, 1), 0x37),
    (gfx(10, 3, 2), 0x38),
    (gfx(10, 3, 3), 0x39),
    (gfx(10, 3, 4), 0x3e),
    (gfx(10, 3, 5), 0x3d),
    (gfx(10, 3, 6), 0x45),
    (gfx(11, 0, 0), 0x41),
    (gfx(11, 0, 1), 0x46),
    (gfx(11, 0, 2), 0x47),
    (gfx(11, 0, 3), 0x44),
    (gfx(11, 5, 0), 0x43),
    (gfx(11, 5, 1), 0x4a),
    (gfx(11, 5, 2), 0x55),
    (gfx(11, 5, 3), 0x58),
    (gfx(12, 0, 0), 0x48),
    (gfx(12, 0, 1), 0x4e),
];

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gfx{}{}{:x}", self.major, self.minor, self.stepping)
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;

    /// Reads `gfx90a`; the features of a target ID (`:xnack+`) are not part of it.
    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        let known = KNOWN.iter().map(|&(target, _)| target);
        known
            .into_iter()
            .find(|target| target.to_string() == name)
            .ok_or_else(|| UnknownTarget {
                name: name.to_owned(),
            })
    }
}

impl Target {
    /// The target of a code object by its `EF_AMDGPU_MACH`.
    pub fn from_mach(mach: u32) -> Option<Target> {
        KNOWN
            .iter()
            .find(|&&(_, of)| of == mach)
            .map(|&(target, _)| target)
    }

    /// Its instruction set family.
    pub fn family(self) -> Family {
        match (self.major, self.minor, self.stepping) {
            (9, 0, 0xa) => Family::Gfx90a,
            (9, 0, _) => Family::Gfx9,
            (9, ..) => Family::Gfx940,
            (10, 0..=2, _) => Family::Gfx10,
            (10, ..) => Family::Gfx10_3,
            (11, ..) => Family::Gfx11,
            _ => Family::Gfx12,
        }
    }

    /// What it has.
    pub fn features(self) -> Features {
        let family = self.family();
        let cdna = self.major == 9;
        let mach = KNOWN
            .iter()
            .find(|&&(target, _)| target == self)
            .map_or(0, |&(_, mach)| mach);
        let gfx90a_on = matches!(family, Family::Gfx90a | Family::Gfx940);
        let wide_rdna3 = matches!(
            (self.major, self.minor, self.stepping),
            (11, 0, 0 | 1) | (11, 5, 1)
        );
        let unpacked = matches!(family, Family::Gfx9 | Family::Gfx10 | Family::Gfx10_3);
        Features {
            mach,
            sramecc: matches!(
                self,
                Target {
                    major: 9,
                    minor: 0,
                    stepping: 6 | 8 | 0xa
                }
            ) || family == Family::Gfx940,
            xnack: cdna || (self.major == 10 && self.minor == 1),
            default_wave_size: if cdna { 64 } else { 32 },
            wave32: !cdna,
            packed_workitem_id: !unpacked,
            architected_flat_scratch: matches!(
                family,
                Family::Gfx940 | Family::Gfx11 | Family::Gfx12
            ),
            workgroup_id_in_ttmp: family == Family::Gfx12,
            agprs: self == gfx(9, 0, 8) || gfx90a_on,
            unified_agprs: gfx90a_on,
            vgpr_granule: match family {
                Family::Gfx9 => [4, 4],
                Family::Gfx90a | Family::Gfx940 => [8, 8],
                Family::Gfx10 | Family::Gfx10_3 | Family::Gfx11 | Family::Gfx12 => [8, 4],
            },
            sgpr_granule: if cdna { 16 } else { 0 },
            sgprs: if cdna { 102 } else { 106 },
            simd_vgprs: match family {
                Family::Gfx9 => 256,
                Family::Gfx11 | Family::Gfx12 if wide_rdna3 || family == Family::Gfx12 => 768,
                _ => 512,
            },
            waves_per_simd: match family {
                Family::Gfx9 => 10,
                Family::Gfx90a | Family::Gfx940 => 8,
                Family::Gfx10 => 20,
                _ => 16,
            },
            simds_per_cu: if cdna { 4 } else { 2 },
            kernarg_preload: gfx90a_on,
            lds: self.lds_size(),
        }
    }

    /// GFX950.
    pub fn is_gfx950(self) -> bool {
        (self.major, self.minor) == (9, 5)
    }

    /// LDS of a compute unit, which one work-group may have, in bytes.
    pub fn lds_size(self) -> u32 {
        if self.is_gfx950() {
            160 << 10
        } else {
            64 << 10
        }
    }

    /// 8-bit floats are those of the Open Compute Project.
    pub fn has_ocp_floats(self) -> bool {
        self.major >= 12 || self.is_gfx950()
    }

    /// Says no for targets whose instructions the engine does not execute.
    pub fn check_executable(self) -> Result<(), NotExecutable> {
        match crate::isa::table::Level::of(self) {
            Some(_) => Ok(()),
            None => Err(NotExecutable(self)),
        }
    }
}

/// The target is known, but the engine does not execute its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "code for {0} is not executed by this engine; that for gfx9 (to gfx950), gfx10, gfx11 and gfx12 targets is"
)]
pub struct NotExecutable(pub Target);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_are_unique() {
        for (i, (target, mach)) in KNOWN.into_iter().enumerate() {
            assert_eq!(target.to_string().parse(), Ok(target));
            assert_eq!(Target::from_mach(mach), Some(target));
            assert!(
                KNOWN[..i]
                    .iter()
                    .all(|&(other, m)| other != target && m != mach)
            );
        }
        assert_eq!("gfx90a".parse(), Ok(gfx(9, 0, 0xa)));
        assert_eq!("gfx1030".parse(), Ok(gfx(10, 3, 0)));
        assert!(
            "gfx803"
                .parse::<Target>()
                .unwrap_err()
                .to_string()
                .contains("gfx803")
        );
        assert!("90a".parse::<Target>().is_err());
    }

    #[test]
    fn families_follow_the_numbers() {
        for (name, family) in [
            ("gfx906", Family::Gfx9),
            ("gfx90c", Family::Gfx9),
            ("gfx90a", Family::Gfx90a),
            ("gfx942", Family::Gfx940),
            ("gfx1013", Family::Gfx10),
            ("gfx1036", Family::Gfx10_3),
            ("gfx1152", Family::Gfx11),
            ("gfx1201", Family::Gfx12),
        ] {
            assert_eq!(name.parse::<Target>().unwrap().family(), family, "{name}");
        }
    }
}
