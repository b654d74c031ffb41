//! Target IDs: which processor and which `sramecc` and `xnack` setting code was made for, and what a device has.
//!
//! Grammar and matching follow LLVM's AMDGPUUsage ("Target ID") and the rule of the HIP runtime: the processor must be the
//! same (or the code's generic processor must cover the device's), and a feature that the code names must be as on the
//! device; a feature it does not name fits both. Text that names an unknown processor still parses, since a bundle may
//! hold code for newer cards; such an ID matches only its own name.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A setting of `sramecc` or `xnack`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Feature {
    /// Not stated: code fits both settings; on a device: the processor has no such feature.
    #[default]
    Any,
    /// `-`.
    Off,
    /// `+`.
    On,
}

impl Feature {
    fn fits(self, device: Self) -> bool {
        self == Self::Any || self == device
    }
}

/// A target ID such as `gfx90a:sramecc+:xnack-` or `gfx10-3-generic`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    /// The processor, as LLVM spells it.
    pub processor: String,
    /// The `sramecc` setting.
    pub sramecc: Feature,
    /// The `xnack` setting.
    pub xnack: Feature,
}

/// How code fits a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Made for a generic processor that covers the device's.
    Generic,
    /// Made for the device's processor, with a feature left open that the device has.
    Processor,
    /// Made for the device's processor with every feature as it is on the device.
    Exact,
}

/// What is known about a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// LLVM's name.
    pub name: &'static str,
    /// `EF_AMDGPU_MACH`: bits 7:0 of `e_flags`.
    pub machine: u32,
    /// Whether code can be made for one `sramecc` setting.
    pub sramecc: bool,
    /// Whether code can be made for one `xnack` setting.
    pub xnack: bool,
    /// The generic processor whose code it runs.
    pub generic: Option<&'static str>,
}

impl Processor {
    /// Looks a processor up by its name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROCESSORS.iter().find(|p| p.name == name)
    }

    /// Looks a processor up by the machine field of `e_flags`.
    pub fn by_machine(machine: u32) -> Option<&'static Self> {
        PROCESSORS.iter().find(|p| p.machine == machine)
    }

    /// Whether this is one of the `-generic` processors.
    pub fn is_generic(&self) -> bool {
        self.name.ends_with("-generic")
    }
}

const fn p(name: &'static str, machine: u32, features: &str, generic: &'static str) -> Processor {
    let features = features.as_bytes();
    let (mut at, mut sramecc, mut xnack) = (0, false, false);
    while at < features.len() {
        match features[at] {
            b's' => sramecc = true,
            b'x' => xnack = true,
            _ => {}
        }
        at += 1;
    }
    Processor {
        name,
        machine,
        sramecc,
        xnack,
        generic: if generic.is_empty() {
            None
        } else {
            Some(generic)
        },
    }
}

/// Every processor of LLVM's `ELF.h` (`EF_AMDGPU_MACH_AMDGCN_*`). Features: `s` sramecc, `x` xnack.
#[rustfmt::skip]
pub static PROCESSORS: &[Processor] = &[
    p("gfx600", 0x20, "", ""), p("gfx601", 0x21, "", ""), p("gfx602", 0x3a, "", ""),
    p("gfx700", 0x22, "", ""), p("gfx701", 0x23, "", ""), p("gfx702", 0x24, "", ""), p("gfx703", 0x25, "", ""),
    p("gfx704", 0x26, "", ""), p("gfx705", 0x3b, "", ""),
    p("gfx801", 0x28, "x", ""), p("gfx802", 0x29, "", ""), p("gfx803", 0x2a, "", ""), p("gfx805", 0x3c, "", ""),
    p("gfx810", 0x2b, "x", ""),
    p("gfx900", 0x2c, "x", "gfx9-generic"), p("gfx902", 0x2d, "x", "gfx9-generic"), p("gfx904", 0x2e, "x", "gfx9-generic"),
    p("gfx906", 0x2f, "sx", "gfx9-generic"), p("gfx908", 0x30, "sx", ""), p("gfx909", 0x31, "x", "gfx9-generic"),
    p("gfx90a", 0x3f, "sx", ""), p("gfx90c", 0x32, "x", "gfx9-generic"),
    p("gfx940", 0x40, "sx", ""), p("gfx941", 0x4b, "sx", ""),
    p("gfx942", 0x4c, "sx", "gfx9-4-generic"), p("gfx950", 0x4f, "sx", "gfx9-4-generic"),
    p("gfx1010", 0x33, "x", "gfx10-1-generic"), p("gfx1011", 0x34, "x", "gfx10-1-generic"),
    p("gfx1012", 0x35, "x", "gfx10-1-generic"), p("gfx1013", 0x42, "x", "gfx10-1-generic"),
    p("gfx1030", 0x36, "", "gfx10-3-generic"), p("gfx1031", 0x37, "", "gfx10-3-generic"),
    p("gfx1032", 0x38, "", "gfx10-3-generic"), p("gfx1033", 0x39, "", "gfx10-3-generic"),
    p("gfx1034", 0x3e, "", "gfx10-3-generic"), p("gfx1035", 0x3d, "", "gfx10-3-generic"),
    p("gfx1036", 0x45, "", "gfx10-3-generic"),
    p("gfx1100", 0x41, "", "gfx11-generic"), p("gfx1101", 0x46, "", "gfx11-generic"), p("gfx1102", 0x47, "", "gfx11-generic"),
    p("gfx1103", 0x44, "", "gfx11-generic"), p("gfx1150", 0x43, "", "gfx11-generic"), p("gfx1151", 0x4a, "", "gfx11-generic"),
    p("gfx1152", 0x55, "", "gfx11-generic"), p("gfx1153", 0x58, "", "gfx11-generic"),
    p("gfx1200", 0x48, "", "gfx12-generic"), p("gfx1201", 0x4e, "", "gfx12-generic"),
    p("gfx1250", 0x49, "", ""),
    p("gfx9-generic", 0x51, "x", ""), p("gfx9-4-generic", 0x5f, "sx", ""), p("gfx10-1-generic", 0x52, "x", ""),
    p("gfx10-3-generic", 0x53, "", ""), p("gfx11-generic", 0x54, "", ""), p("gfx12-generic", 0x59, "", ""),
];

impl TargetId {
    /// A target ID that leaves both features open.
    pub fn new(processor: impl Into<String>) -> Self {
        Self {
            processor: processor.into(),
            sramecc: Feature::Any,
            xnack: Feature::Any,
        }
    }

    /// The processor's table entry, when it is known.
    pub fn known(&self) -> Option<&'static Processor> {
        Processor::by_name(&self.processor)
    }

    /// The device form: features that the processor has and this ID leaves open are set to what AMD's drivers report by
    /// default (`sramecc` on, `xnack` off).
    pub fn with_device_defaults(&self) -> Self {
        let mut id = self.clone();
        if let Some(processor) = self.known() {
            if processor.sramecc && id.sramecc == Feature::Any {
                id.sramecc = Feature::On;
            }
            if processor.xnack && id.xnack == Feature::Any {
                id.xnack = Feature::Off;
            }
        }
        id
    }

    /// The name of the ISA in HSA and in the metadata note: `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`.
    pub fn isa_name(&self) -> String {
        format!("amdgcn-amd-amdhsa--{self}")
    }

    /// Reads an ISA name as [`Self::isa_name`] writes it; the environment may also be `unknown`.
    ///
    /// # Errors
    /// [`Error::TargetId`] when the text does not start with the AMDGPU triple or the target ID is malformed.
    pub fn from_isa_name(name: &str) -> Result<Self> {
        ["amdgcn-amd-amdhsa--", "amdgcn-amd-amdhsa-unknown-"]
            .iter()
            .find_map(|triple| name.strip_prefix(triple))
            .ok_or_else(|| Error::TargetId {
                text: name.to_owned(),
                reason: "it does not start with amdgcn-amd-amdhsa--",
            })?
            .parse()
    }

    /// How code for `self` fits `device`, or `None` when it does not. A generic code object fits also by its version:
    /// see [`crate::CodeObject::fit`].
    pub fn fit(&self, device: &Self) -> Option<Fit> {
        if !self.sramecc.fits(device.sramecc) || !self.xnack.fits(device.xnack) {
            return None;
        }
        if self.processor == device.processor {
            let exact = self.sramecc == device.sramecc && self.xnack == device.xnack;
            return Some(if exact { Fit::Exact } else { Fit::Processor });
        }
        (device.known()?.generic? == self.processor).then_some(Fit::Generic)
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, feature) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match feature {
                Feature::Any => {}
                Feature::Off => write!(f, ":{name}-")?,
                Feature::On => write!(f, ":{name}+")?,
            }
        }
        Ok(())
    }
}

impl FromStr for TargetId {
    type Err = Error;

    /// Reads `processor[:feature(+|-)]...`, features in any order but each at most once, and the older
    /// `processor[+feature]...` of code object v3 bundles (`gfx908+sram-ecc+xnack`).
    fn from_str(text: &str) -> Result<Self> {
        let error = |reason| Error::TargetId {
            text: text.to_owned(),
            reason,
        };
        let (processor, rest) = text.split_at(text.find([':', '+']).unwrap_or(text.len()));
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if processor.is_empty() || !processor.bytes().all(plain) {
            return Err(error(
                "the processor's name is missing or has odd characters",
            ));
        }
        let mut id = Self::new(processor);
        let mut set = |name: &str, value| {
            let slot = match name {
                "sramecc" | "sram-ecc" => &mut id.sramecc,
                "xnack" => &mut id.xnack,
                _ => return Err(error("only the features sramecc and xnack exist")),
            };
            if *slot != Feature::Any {
                return Err(error("a feature is given twice"));
            }
            *slot = value;
            Ok(())
        };
        if let Some(old) = rest.strip_prefix('+') {
            old.split('+').try_for_each(|name| set(name, Feature::On))?;
        } else if let Some(features) = rest.strip_prefix(':') {
            for feature in features.split(':') {
                match (feature.strip_suffix('+'), feature.strip_suffix('-')) {
                    (Some(name), _) => set(name, Feature::On)?,
                    (_, Some(name)) => set(name, Feature::Off)?,
                    _ => return Err(error("a feature must end in + or -")),
                }
            }
        }
        if let Some(known) = id.known() {
            if id.sramecc != Feature::Any && !known.sramecc {
                return Err(error("the processor has no sramecc setting"));
            }
            if id.xnack != Feature::Any && !known.xnack {
                return Err(error("the processor has no xnack setting"));
            }
        }
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TargetId {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn text_round_trips() {
        for text in [
            "gfx90a",
            "gfx90a:sramecc+:xnack-",
            "gfx9-4-generic:xnack+",
            "gfx1030",
            "gfx9999",
        ] {
            assert_eq!(id(text).to_string(), text);
        }
        assert_eq!(
            id("gfx90a:xnack-:sramecc+").to_string(),
            "gfx90a:sramecc+:xnack-"
        );
        assert_eq!(
            id("gfx908+sram-ecc+xnack").to_string(),
            "gfx908:sramecc+:xnack+"
        );
    }

    #[test]
    fn malformed_text_is_refused() {
        for text in [
            "",
            ":xnack+",
            "gfx90a:",
            "gfx90a:xnack",
            "gfx90a:xnack+:xnack-",
            "gfx90a:foo+",
            "gfx1030:xnack+",
            "gfx 90a",
        ] {
            assert!(text.parse::<TargetId>().is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn a_feature_must_match_only_where_the_code_names_it() {
        let device = id("gfx90a:sramecc+:xnack-");
        assert_eq!(id("gfx90a").fit(&device), Some(Fit::Processor));
        assert_eq!(id("gfx90a:xnack-").fit(&device), Some(Fit::Processor));
        assert_eq!(id("gfx90a:sramecc+:xnack-").fit(&device), Some(Fit::Exact));
        assert_eq!(id("gfx90a:xnack+").fit(&device), None);
        assert_eq!(id("gfx90a:sramecc-").fit(&device), None);
        assert_eq!(id("gfx908").fit(&device), None);
    }

    #[test]
    fn generic_code_fits_the_processors_it_covers() {
        assert_eq!(
            id("gfx9-generic").fit(&id("gfx906:sramecc+:xnack-")),
            Some(Fit::Generic)
        );
        assert_eq!(
            id("gfx9-generic:xnack+").fit(&id("gfx906:sramecc+:xnack-")),
            None
        );
        assert_eq!(id("gfx9-generic").fit(&id("gfx90a:sramecc+:xnack-")), None);
        assert_eq!(id("gfx11-generic").fit(&id("gfx1151")), Some(Fit::Generic));
        assert_eq!(
            id("gfx10-3-generic").fit(&id("gfx1036")),
            Some(Fit::Generic)
        );
        assert_eq!(id("gfx10-3-generic").fit(&id("gfx1010:xnack-")), None);
    }

    #[test]
    fn machines_are_unique() {
        for (at, a) in PROCESSORS.iter().enumerate() {
            assert!(
                PROCESSORS[at + 1..]
                    .iter()
                    .all(|b| a.machine != b.machine && a.name != b.name),
                "{}",
                a.name
            );
            if let Some(generic) = a.generic {
                assert!(Processor::by_name(generic).is_some_and(Processor::is_generic));
            }
        }
    }

    #[test]
    fn isa_names() {
        let device = id("gfx90a").with_device_defaults();
        assert_eq!(
            device.isa_name(),
            "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
        );
        assert_eq!(TargetId::from_isa_name(&device.isa_name()), Ok(device));
        assert_eq!(
            TargetId::from_isa_name("amdgcn-amd-amdhsa-unknown-gfx1030"),
            Ok(id("gfx1030"))
        );
        assert!(TargetId::from_isa_name("gfx90a").is_err());
    }
}
