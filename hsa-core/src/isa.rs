//! Instruction set architectures: names, compatibility, attributes.
//!
//! A name is `amdgcn-amd-amdhsa--` and a processor, then `:sramecc±` and `:xnack±` where stated. The ISA of an agent states every
//! feature that the processor has; that of a code object may leave one out, which means "any".

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    card::{CARDS, Card, Feature},
    entry::{HsaResult, write_value},
};

/// An ISA: a processor and the features that it states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isa {
    /// The processor.
    pub(crate) card: &'static Card,
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
    /// The handle: it holds all there is to know.
    pub(crate) fn handle(self) -> hsa_isa_t {
        let card = CARDS
            .iter()
            .position(|card| card.processor == self.card.processor)
            .unwrap_or(CARDS.len()) as u64;
        hsa_isa_t {
            handle: TAG | (card + 1) << 4 | (self.sramecc as u64) << 2 | self.xnack as u64,
        }
    }

    /// The ISA of a handle.
    pub(crate) fn from_handle(isa: hsa_isa_t) -> HsaResult<Isa> {
        let bits = isa
            .handle
            .checked_sub(TAG)
            .ok_or(HSA_STATUS_ERROR_INVALID_ISA)?;
        let card = (bits >> 4)
            .checked_sub(1)
            .and_then(|card| CARDS.get(card as usize));
        let card = card.ok_or(HSA_STATUS_ERROR_INVALID_ISA)?;
        Ok(Isa {
            card,
            sramecc: feature(bits >> 2),
            xnack: feature(bits),
        })
    }

    /// Parses a full name.
    pub(crate) fn from_name(name: &str) -> Option<Isa> {
        let mut parts = name.strip_prefix(Card::ISA_PREFIX)?.split(':');
        let card = Card::of(parts.next()?)?;
        let mut isa = Isa {
            card,
            sramecc: Feature::None,
            xnack: Feature::None,
        };
        for part in parts {
            match part {
                "sramecc+" if card.sramecc != Feature::None => isa.sramecc = Feature::On,
                "sramecc-" if card.sramecc != Feature::None => isa.sramecc = Feature::Off,
                "xnack+" if card.xnack != Feature::None => isa.xnack = Feature::On,
                "xnack-" if card.xnack != Feature::None => isa.xnack = Feature::Off,
                _ => return None,
            }
        }
        Some(isa)
    }

    /// The full name.
    pub(crate) fn name(self) -> String {
        self.card.isa_name(self.sramecc, self.xnack)
    }

    /// Whether code for `self` runs on an agent of ISA `agent`.
    pub(crate) fn runs_on(self, agent: Isa) -> bool {
        let fits = |code: Feature, agent: Feature| code == Feature::None || code == agent;
        self.card.version == agent.card.version
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
    }

    #[test]
    fn code_runs_where_its_features_agree() {
        let agent = isa("gfx90a:sramecc+:xnack-");
        assert!(isa("gfx90a").runs_on(agent));
        assert!(isa("gfx90a:xnack-").runs_on(agent));
        assert!(!isa("gfx90a:xnack+").runs_on(agent));
        assert!(!isa("gfx908").runs_on(agent));
    }
}
