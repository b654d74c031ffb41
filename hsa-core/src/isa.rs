//! Instruction set architectures: names, compatibility, attributes.
//!
//! A name is `amdgcn-amd-amdhsa--` and a processor, then `:sramecc±` and `:xnack±` where stated. The ISA of an agent states every
//! feature that the processor has; that of a code object may leave one out, which means "any". The ISA of code for a generic processor
//! (LLVM's AMDGPUUsage, "Generic processors") fits every agent whose processor that one covers; agents list it after their own.

use std::ffi::c_void;

use gneiss_fatbin::target_id::{PROCESSORS, Processor};
use gneiss_hsa_api::*;

use crate::{
    card::{CARDS, Card, Feature, spelled},
    entry::{HsaResult, write_value},
};

/// An ISA: a processor and the features that it states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isa {
    /// The processor.
    processor: &'static Processor,
    /// Its card; of a generic processor the first one that it covers.
    card: &'static Card,
    /// SRAM ECC; [`Feature::None`]: not stated.
    pub(crate) sramecc: Feature,
    /// XNACK; [`Feature::None`]: not stated.
    pub(crate) xnack: Feature,
}

const TAG: u64 = 0x4749_0000;
const WAVEFRONT_TAG: u64 = 0x4757_0000;

fn feature(bits: u64) -> Feature {
    match bits & 3 {
        1 => Feature::On,
        2 => Feature::Off,
        _ => Feature::None,
    }
}

impl Isa {
    /// The ISA of a processor's name that leaves its features open, if there are cards for it.
    fn of(processor: &str) -> Option<Isa> {
        let processor = Processor::by_name(processor)?;
        let card = CARDS.iter().find(|card| {
            let generic = || Processor::by_name(card.processor)?.generic;
            card.processor == processor.name || generic() == Some(processor.name)
        })?;
        Some(Isa {
            processor,
            card,
            sramecc: Feature::None,
            xnack: Feature::None,
        })
    }

    /// The same with features stated, those that the processor has.
    fn with(self, sramecc: Feature, xnack: Feature) -> Isa {
        let stated = |has: bool, feature| if has { feature } else { Feature::None };
        Isa {
            sramecc: stated(self.processor.sramecc, sramecc),
            xnack: stated(self.processor.xnack, xnack),
            ..self
        }
    }

    /// The ISAs that an agent lists: its own, then its generic one if there is one, with the features that this has.
    pub(crate) fn of_agent(
        card: &Card,
        sramecc: Feature,
        xnack: Feature,
    ) -> impl Iterator<Item = Isa> {
        let own = Isa::of(card.processor);
        let generic = own.and_then(|isa| isa.processor.generic).and_then(Isa::of);
        own.into_iter()
            .chain(generic)
            .map(move |isa| isa.with(sramecc, xnack))
    }

    /// The handle: it holds all there is to know.
    pub(crate) fn handle(self) -> hsa_isa_t {
        let processor = PROCESSORS
            .iter()
            .position(|processor| processor.name == self.processor.name)
            .unwrap_or(PROCESSORS.len()) as u64;
        hsa_isa_t {
            handle: TAG | (processor + 1) << 4 | (self.sramecc as u64) << 2 | self.xnack as u64,
        }
    }

    /// The ISA of a handle.
    pub(crate) fn from_handle(isa: hsa_isa_t) -> HsaResult<Isa> {
        let bits = isa
            .handle
            .checked_sub(TAG)
            .ok_or(HSA_STATUS_ERROR_INVALID_ISA)?;
        let isa = (bits >> 4)
            .checked_sub(1)
            .and_then(|processor| PROCESSORS.get(processor as usize))
            .and_then(|processor| Isa::of(processor.name));
        let isa = isa.ok_or(HSA_STATUS_ERROR_INVALID_ISA)?;
        Ok(isa.with(feature(bits >> 2), feature(bits)))
    }

    /// Parses a full name.
    pub(crate) fn from_name(name: &str) -> Option<Isa> {
        let mut parts = name.strip_prefix(Card::ISA_PREFIX)?.split(':');
        let mut isa = Isa::of(parts.next()?)?;
        for part in parts {
            match part {
                "sramecc+" if isa.processor.sramecc => isa.sramecc = Feature::On,
                "sramecc-" if isa.processor.sramecc => isa.sramecc = Feature::Off,
                "xnack+" if isa.processor.xnack => isa.xnack = Feature::On,
                "xnack-" if isa.processor.xnack => isa.xnack = Feature::Off,
                _ => return None,
            }
        }
        Some(isa)
    }

    /// The full name.
    pub(crate) fn name(self) -> String {
        spelled(self.processor.name, self.sramecc, self.xnack)
    }

    /// Whether code for `self` runs on an agent of ISA `agent`. Of generic code the handle does not say the version, which the loader
    /// looks at.
    pub(crate) fn runs_on(self, agent: Isa) -> bool {
        let fits = |code: Feature, agent: Feature| code == Feature::None || code == agent;
        let name = self.processor.name;
        (name == agent.processor.name || agent.processor.generic == Some(name))
            && fits(self.sramecc, agent.sramecc)
            && fits(self.xnack, agent.xnack)
    }

    /// The wavefront that the ISA has.
    pub(crate) fn wavefront(self) -> hsa_wavefront_t {
        hsa_wavefront_t {
            handle: WAVEFRONT_TAG | u64::from(self.card.wave),
        }
    }

    /// `hsa_isa_get_info_alt`.
    ///
    /// # Safety
    /// `value` is null or has room for the attribute.
    pub(crate) unsafe fn info(self, attribute: hsa_isa_info_t, value: *mut c_void) -> HsaResult {
        let name = self.name();
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_ISA_INFO_NAME_LENGTH => write_value(value, name.len() as u32 + 1),
                HSA_ISA_INFO_NAME => {
                    crate::entry::require(!value.is_null())?;
                    std::ptr::copy_nonoverlapping(name.as_ptr(), value.cast(), name.len());
                    value.cast::<u8>().add(name.len()).write(0);
                    Ok(())
                }
                HSA_ISA_INFO_CALL_CONVENTION_COUNT => write_value(value, 1u32),
                HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE => {
                    write_value(value, self.card.wave)
                }
                HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT => {
                    write_value(value, self.card.waves)
                }
                HSA_ISA_INFO_MACHINE_MODELS => write_value(value, [false, true]),
                HSA_ISA_INFO_PROFILES => write_value(value, [true, false]),
                HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES => {
                    write_value(value, [false, false, true])
                }
                HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => {
                    write_value(value, [false, false, true])
                }
                HSA_ISA_INFO_FAST_F16_OPERATION => write_value(value, true),
                HSA_ISA_INFO_WORKGROUP_MAX_DIM => write_value(value, [1024u16; 3]),
                HSA_ISA_INFO_WORKGROUP_MAX_SIZE => write_value(value, 1024u32),
                HSA_ISA_INFO_GRID_MAX_DIM => write_value(
                    value,
                    hsa_dim3_t {
                        x: u32::MAX,
                        y: u32::MAX,
                        z: u32::MAX,
                    },
                ),
                HSA_ISA_INFO_GRID_MAX_SIZE => write_value(value, u64::from(u32::MAX)),
                HSA_ISA_INFO_FBARRIER_MAX_SIZE => write_value(value, 32u32),
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }
}

/// Lanes of a wavefront handle.
pub(crate) fn wavefront_size(wavefront: hsa_wavefront_t) -> HsaResult<u32> {
    match wavefront.handle.wrapping_sub(WAVEFRONT_TAG) {
        size @ (32 | 64) => Ok(size as u32),
        _ => Err(HSA_STATUS_ERROR_INVALID_WAVEFRONT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isa(name: &str) -> Isa {
        Isa::from_name(&format!("{}{name}", Card::ISA_PREFIX)).expect(name)
    }

    #[test]
    fn names_and_handles_round_trip() {
        for name in [
            "gfx90a",
            "gfx90a:sramecc+:xnack-",
            "gfx906:xnack+",
            "gfx1030",
            "gfx9-generic:xnack-",
            "gfx9-4-generic:sramecc+:xnack-",
            "gfx10-1-generic",
            "gfx11-generic",
        ] {
            let isa = isa(name);
            assert_eq!(isa.name(), format!("{}{name}", Card::ISA_PREFIX));
            assert_eq!(
                Isa::from_handle(isa.handle()).expect("valid").name(),
                isa.name()
            );
        }
        assert!(Isa::from_handle(hsa_isa_t { handle: 0 }).is_err());
        assert!(Isa::from_name("gfx90a").is_none());
        assert!(Isa::from_name("amdgcn-amd-amdhsa--gfx1030:xnack+").is_none());
        assert!(Isa::from_name("amdgcn-amd-amdhsa--gfx9-generic:sramecc+").is_none());
    }

    #[test]
    fn code_runs_where_its_features_agree() {
        let agent = isa("gfx90a:sramecc+:xnack-");
        assert!(isa("gfx90a").runs_on(agent));
        assert!(isa("gfx90a:xnack-").runs_on(agent));
        assert!(!isa("gfx90a:xnack+").runs_on(agent));
        assert!(!isa("gfx908").runs_on(agent));
    }

    #[test]
    fn generic_code_runs_on_what_it_covers() {
        let agent = isa("gfx906:sramecc+:xnack-");
        assert!(isa("gfx9-generic").runs_on(agent));
        assert!(isa("gfx9-generic:xnack-").runs_on(agent));
        assert!(!isa("gfx9-generic:xnack+").runs_on(agent));
        assert!(!isa("gfx9-4-generic").runs_on(agent));
        assert!(isa("gfx11-generic").runs_on(isa("gfx1102")));
        assert!(!isa("gfx1102").runs_on(isa("gfx11-generic")));
        assert!(!isa("gfx10-3-generic").runs_on(isa("gfx1010:xnack-")));
    }

    #[test]
    fn agents_list_their_own_isa_and_then_the_generic_one() {
        let listed = |processor| -> Vec<String> {
            let card = Card::of(processor).expect(processor);
            Isa::of_agent(card, card.sramecc, card.xnack)
                .map(|isa| isa.name().replace(Card::ISA_PREFIX, ""))
                .collect()
        };
        for (processor, names) in [
            ("gfx900", &["gfx900:xnack-", "gfx9-generic:xnack-"][..]),
            ("gfx906", &["gfx906:sramecc+:xnack-", "gfx9-generic:xnack-"]),
            ("gfx908", &["gfx908:sramecc+:xnack-"]),
            ("gfx90a", &["gfx90a:sramecc+:xnack-"]),
            (
                "gfx942",
                &["gfx942:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"],
            ),
            ("gfx1010", &["gfx1010:xnack-", "gfx10-1-generic:xnack-"]),
            ("gfx1031", &["gfx1031", "gfx10-3-generic"]),
            ("gfx1101", &["gfx1101", "gfx11-generic"]),
            ("gfx1201", &["gfx1201", "gfx12-generic"]),
        ] {
            assert_eq!(listed(processor), names);
        }
    }
}
