//! Which GPUs there are: the value of `GNEISS_GPUS` and of `--gpus`.

use gneiss_fatbin::TargetId;
use gneiss_fatbin::target_id::{Feature, Processor};

/// Most GPUs that one process may have: access rights are kept as 64-bit sets.
pub const MOST: usize = 64;

/// The targets that there are GPUs of.
pub const TARGETS: [&str; 27] = [
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012",
    "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
    "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
    "gfx1200", "gfx1201",
];

/// One GPU that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The processor, one of [`TARGETS`].
    pub processor: &'static str,
    /// Whether SRAM ECC is on, if it was said.
    pub sramecc: Option<bool>,
    /// Whether XNACK is on, if it was said.
    pub xnack: Option<bool>,
}

impl Gpu {
    /// The target ID of such a device: what was not said is as LLVM's defaults have it.
    pub fn device(&self) -> TargetId {
        let feature = |said: Option<bool>| match said {
            None => Feature::Any,
            Some(false) => Feature::Off,
            Some(true) => Feature::On,
        };
        let mut id = TargetId::new(self.processor);
        id.sramecc = feature(self.sramecc);
        id.xnack = feature(self.xnack);
        id.with_device_defaults()
    }
}

/// Whether code for a processor is executed: there is a GPU of it, and its instructions are known.
pub fn is_executed(processor: &str) -> bool {
    TARGETS.contains(&processor)
}

/// Parses a list: targets with features and an optional count, separated by commas, as `gfx90a`, `gfx942:8`, `gfx1100,gfx90a:xnack+:2`.
///
/// # Errors
/// What is wrong, in words.
pub fn parse(value: &str) -> Result<Vec<Gpu>, String> {
    let mut gpus = Vec::new();
    for item in value.split(',').map(str::trim) {
        let mut parts = item.split(':');
        let name = parts.next().unwrap_or_default();
        let known = TARGETS.iter().find(|target| **target == name);
        let (Some(processor), Some(has)) = (known, Processor::by_name(name)) else {
            let targets = TARGETS.join(", ");
            return Err(format!("there is no GPU \"{name}\"; there are {targets}"));
        };
        let mut gpu = Gpu {
            processor,
            sramecc: None,
            xnack: None,
        };
        let mut count = None;
        for part in parts {
            let said = match part.as_bytes().last() {
                Some(b'+') => true,
                Some(b'-') => false,
                _ if count.is_none() => {
                    count = Some(number(part)?);
                    continue;
                }
                _ => return Err(format!("\"{item}\" has more than one count")),
            };
            match &part[..part.len() - 1] {
                "sramecc" if has.sramecc => gpu.sramecc = Some(said),
                "xnack" if has.xnack => gpu.xnack = Some(said),
                feature => return Err(format!("{name} has no feature \"{feature}\"")),
            }
        }
        let count = count.unwrap_or(1);
        if count == 0 || count > MOST - gpus.len() {
            return Err(format!("there can be 1 to {MOST} GPUs"));
        }
        gpus.extend(std::iter::repeat_n(gpu, count));
    }
    Ok(gpus)
}

fn number(text: &str) -> Result<usize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(format!(
            "\"{text}\" is neither a number of GPUs nor a feature like xnack+"
        ));
    }
    // A number that does not fit is more than there can be.
    Ok(text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_counts_and_features() {
        let names = |value: &str| -> Vec<String> {
            let gpus = parse(value).expect(value);
            gpus.iter().map(|gpu| gpu.device().to_string()).collect()
        };
        assert_eq!(names("gfx1100, gfx906").len(), 2);
        assert_eq!(names("gfx942:8").len(), 8);
        let gpus = parse("gfx90a:xnack+:2").expect("valid");
        let expected = Gpu {
            processor: "gfx90a",
            sramecc: None,
            xnack: Some(true),
        };
        assert_eq!(gpus, [expected; 2]);
        assert_eq!(parse("gfx90a:64").expect("valid").len(), MOST);
    }

    #[test]
    fn bad_lists_say_why() {
        for (value, reason) in [
            ("", "there is no GPU \"\"; there are gfx900, "),
            ("gfx90a,", "there is no GPU \"\""),
            ("gfx90c", "there is no GPU \"gfx90c\""),
            ("gfx11-generic", "there is no GPU"),
            ("gfx1030:xnack+", "gfx1030 has no feature \"xnack\""),
            ("gfx90a:+", "has no feature \"\""),
            ("gfx90a:0", "1 to 64"),
            ("gfx90a:65", "1 to 64"),
            ("gfx90a:99999999999999999999999", "1 to 64"),
            ("gfx90a:32,gfx1030:33", "1 to 64"),
            ("gfx90a:2:2", "more than one count"),
            ("gfx90a:many", "neither a number"),
            ("gfx90a:ü", "neither a number"),
        ] {
            let error = parse(value).expect_err(value);
            assert!(error.contains(reason), "{value}: {error}");
        }
    }
}
