//! The environment variables: names, meanings, and what each accepts. The one place that reads their values.
//!
//! A value of our own variables that is not accepted is refused, never replaced by a guess: `gneiss run` does not start the program, and the
//! libraries do not start in it ([`check`]); the message names the variable, the value and what is accepted. An empty value is as none. For
//! AMD's variables AMD's rule holds: a value that makes no sense counts as none; the command warns of it ([`Variable::refuse`]).
//!
//! Nothing here acts on a value; the parsers in [`parse`] give what the libraries act on.

pub mod gpus;
pub mod parse;
mod variables;

pub use gpus::Gpu;
pub use variables::{AMDS, Accept, OURS, Variable};

use std::{ffi::OsStr, fmt};

use strsim::osa_distance;

/// Variables of the tests and of the build: no setting of the runtime, and no mistake either.
const DEVELOPERS: &[&str] = &[
    "GNEISS_BLESS",
    "GNEISS_CONFORMANCE",
    "GNEISS_COUNTERS",
    "GNEISS_COUNTERS_LIBRARY",
    "GNEISS_DECODE_CASES",
    "GNEISS_DISASM_FILES",
    "GNEISS_FACTS",
    "GNEISS_PREFIX",
    "GNEISS_VERIFY",
];

/// A value that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong with it and what is accepted.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            value,
            reason,
        } = self;
        write!(f, "{name}={value}: {reason}")
    }
}

impl std::error::Error for Refused {}

/// The value of a variable, without spaces around it; `None` if it is unset, empty or no text.
pub fn text(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// A variable that is 1 or 0; `None` if it is neither.
pub fn switch(name: &str) -> Option<bool> {
    parse::switch(&text(name)?)
}

/// Checks all of our own variables in the environment of this process.
///
/// # Errors
/// The values that are not accepted.
pub fn check() -> Result<(), Vec<Refused>> {
    check_in(|name| std::env::var_os(name))
}

/// Whether all of our own variables have values that are accepted. Those that have not are named on stderr: a program often shows no more of
/// it than that there is no device.
pub fn accepted() -> bool {
    let refused = check().err().unwrap_or_default();
    for error in &refused {
        eprintln!("gneiss: {error}");
    }
    refused.is_empty()
}

/// As [`check`], with the values from a function.
///
/// # Errors
/// As [`check`].
pub fn check_in(value: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<(), Vec<Refused>> {
    let refused: Vec<Refused> = OURS
        .iter()
        .filter_map(|variable| variable.refuse(&value(variable.name)?))
        .collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(refused)
    }
}

/// Whether a name is that of a variable of ours, and if it is not but looks like one, the variable that was meant.
///
/// `Some(None)`: a name of ours that does not exist, and nothing is near it. Names without our prefix are nobody's mistake.
pub fn unknown(name: &OsStr) -> Option<Option<&'static str>> {
    let name = name.to_string_lossy();
    if !name.starts_with("GNEISS_")
        || OURS.iter().any(|variable| variable.name == name)
        || DEVELOPERS.contains(&name.as_ref())
    {
        return None;
    }
    let nearest = OURS
        .iter()
        .map(|variable| (osa_distance(&name, variable.name), variable.name))
        .min_by_key(|(distance, _)| *distance)?;
    // What lies further away than a third of the word was hardly meant.
    let most = name
        .len()
        .saturating_sub("GNEISS_".len())
        .div_ceil(3)
        .max(1);
    Some((nearest.0 <= most).then_some(nearest.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> Option<String> {
        let result = check_in(|other| (other == name).then(|| value.into()));
        result.err().map(|list| {
            assert_eq!(list.len(), 1);
            list[0].to_string()
        })
    }

    #[test]
    fn good_values_are_accepted_and_empty_ones_are_as_none() {
        for (name, values) in [
            ("GNEISS_GPUS", &["gfx90a", "gfx942:8", "gfx1100,gfx906"][..]),
            ("GNEISS_THREADS", &["1", "1024"]),
            ("GNEISS_SIMD", &["portable", "avx2", "avx512"]),
            ("GNEISS_JIT", &["0", "1"]),
            ("GNEISS_MEM", &["16G", "512MiB", "2M"]),
            ("GNEISS_HIP_VERSION", &["5", "6.3", "7.0.1"]),
            ("GNEISS_FAULT", &["abort", "error"]),
            ("GNEISS_KERNEL_TIMEOUT", &["60", "300ms", "2m", "0"]),
            ("GNEISS_HANG_TIMEOUT", &["10", "10s,fail", "0"]),
            ("GNEISS_LOG", &["debug", "gneiss_hsa_core=trace,warn"]),
            ("GNEISS_HIPRTC_COMPILER", &["comgr", "clang", "none"]),
        ] {
            for value in values {
                assert_eq!(refused(name, value), None, "{name}={value}");
            }
        }
        for variable in OURS {
            assert_eq!(refused(variable.name, ""), None);
        }
    }

    #[test]
    fn senseless_values_are_refused_with_what_is_accepted() {
        for (name, value, part) in [
            ("GNEISS_GPUS", "gfx90c", "gfx90a"),
            ("GNEISS_THREADS", "0", "1 to 1024"),
            ("GNEISS_THREADS", "many", "1 to 1024"),
            ("GNEISS_SIMD", "foo", "portable, avx2, avx512"),
            ("GNEISS_JIT", "off", "0 or 1"),
            ("GNEISS_MEM", "1M", "2M"),
            ("GNEISS_HIP_VERSION", "4", "5, 6 or 7"),
            ("GNEISS_FAULT", "ignore", "abort, error"),
            ("GNEISS_KERNEL_TIMEOUT", "-1", "a time"),
            ("GNEISS_KERNEL_TIMEOUT", "nan", "a time"),
            ("GNEISS_HANG_TIMEOUT", "10s,explode", "fail"),
            ("GNEISS_LIVE", "yes", "0 or 1"),
            ("GNEISS_LOG", "gneiss=loud", "debug"),
            ("GNEISS_TRACE_TIMES", "2", "0 or 1"),
            ("GNEISS_HIPRTC_COMPILER", "gcc", "comgr, clang, none"),
        ] {
            let message = refused(name, value).unwrap_or_default();
            assert!(
                message.starts_with(&format!("{name}={value}: ")) && message.contains(part),
                "{name}={value}: {message}"
            );
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_is_refused_except_for_paths() {
        use std::os::unix::ffi::OsStrExt;
        let bytes = OsStr::from_bytes(b"\xff");
        let names: Vec<_> = OURS
            .iter()
            .filter(|variable| variable.refuse(bytes).is_none())
            .map(|variable| variable.name)
            .collect();
        assert_eq!(names, ["GNEISS_HSA", "GNEISS_TRACE", "GNEISS_HIPRTC_CACHE"]);
    }

    #[test]
    fn a_mistyped_name_leads_to_the_nearest() {
        let near = |name: &str| unknown(OsStr::new(name));
        assert_eq!(near("GNEISS_THREAD"), Some(Some("GNEISS_THREADS")));
        assert_eq!(near("GNEISS_GPU"), Some(Some("GNEISS_GPUS")));
        assert_eq!(
            near("GNEISS_HANG_TIMOEUT"),
            Some(Some("GNEISS_HANG_TIMEOUT"))
        );
        assert_eq!(near("GNEISS_SOMETHING_ELSE"), Some(None));
        assert_eq!(near("GNEISS_GPUS"), None);
        assert_eq!(near("GNEISS_PREFIX"), None);
        assert_eq!(near("PATH"), None);
    }

    #[test]
    fn values_of_amds_variables_that_count_as_none_are_found() {
        for (name, good, bad) in [
            ("HIP_VISIBLE_DEVICES", "0,GPU-676e656900740f00", "gfx90a"),
            ("ROCR_VISIBLE_DEVICES", "-1", "all"),
            ("HSA_OVERRIDE_GFX_VERSION", "10.3.0", "gfx1030"),
            ("HSA_XNACK", "1", "on"),
            ("HSA_CU_MASK", "0:0-15,32;1:0x0-0xf", "15"),
            ("AMD_LOG_LEVEL", "3", "debug"),
            ("AMD_SERIALIZE_KERNEL", "3", "both"),
            ("ROC_GLOBAL_CU_MASK", "0xff", "0-7"),
            ("GPU_MAX_HW_QUEUES", "8", "many"),
        ] {
            let variable = AMDS.iter().find(|variable| variable.name == name);
            let variable = variable.expect(name);
            assert_eq!(variable.refuse(OsStr::new(good)), None, "{name}={good}");
            assert!(variable.refuse(OsStr::new(bad)).is_some(), "{name}={bad}");
        }
    }
}
