//! The forms of values.

use std::time::Duration;

/// `1` or `0`.
pub fn switch(text: &str) -> Option<bool> {
    match text.trim() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// A number in decimal, or in hexadecimal with `0x`.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Most worker threads.
pub const MOST_THREADS: usize = 1024;

/// A number of threads.
pub fn threads(text: &str) -> Option<usize> {
    let count = text.trim().parse().ok()?;
    (1..=MOST_THREADS).contains(&count).then_some(count)
}

/// A time: seconds, or a number with the unit `ms`, `s` or `m`.
pub fn time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = [("ms", 1e-3), ("s", 1.0), ("m", 60.0)]
        .into_iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))
        .unwrap_or((text, 1.0));
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What follows the report of a hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// Nothing.
    Continue,
    /// The waiting calls return an error.
    Fail,
    /// The process ends.
    Abort,
}

/// A time and what follows it: `10s`, `500ms,fail`, `2m,abort`, `10s,continue`.
pub fn hang(text: &str) -> Option<(Duration, Hang)> {
    let (text, action) = text.split_once(',').unwrap_or((text, "continue"));
    let action = match action.trim() {
        "continue" => Hang::Continue,
        "fail" => Hang::Fail,
        "abort" => Hang::Abort,
        _ => return None,
    };
    Some((time(text)?, action))
}

/// A size: a number of bytes, or with K, M, G, T (powers of 1024).
pub fn size(text: &str) -> Option<u64> {
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

/// Least memory of a GPU in bytes.
pub const LEAST_MEMORY: u64 = 2 << 20;

/// Memory of a GPU.
pub fn memory(text: &str) -> Option<u64> {
    size(text).filter(|size| *size >= LEAST_MEMORY)
}

/// The major number of a HIP version: `6`, `6.3` and `6.3.42131` all name HIP 6.
pub fn hip_version(text: &str) -> Option<u32> {
    let mut parts = text.trim().split('.');
    let major = parts.next()?.parse().ok()?;
    let numbers = parts.all(|part| part.parse::<u32>().is_ok());
    (numbers && (5..=7).contains(&major)).then_some(major)
}

/// A target's version, as ROCm's thunk reads `HSA_OVERRIDE_GFX_VERSION`: major, minor and stepping, as `10.3.0`.
pub fn gfx_version(text: &str) -> Option<[u8; 3]> {
    let mut parts = text.split('.').map(|part| part.parse::<u8>().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    (parts.next().is_none() && version[0] < 64).then_some(version)
}

/// Whether a text is a filter for messages: levels, for all or for one module, separated by commas. What is in brackets is left to the
/// subscriber.
pub fn is_filter(text: &str) -> bool {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    text.contains('[')
        || text.split(',').map(str::trim).all(|directive| {
            let (module, level) = directive.rsplit_once('=').unwrap_or(("all", directive));
            let letter = |c: char| c.is_ascii_alphanumeric() || "_:-".contains(c);
            !module.is_empty()
                && module.chars().all(letter)
                && LEVELS.iter().any(|known| level.eq_ignore_ascii_case(known))
        })
}

/// Hexadecimal digits, with or without `0x`, the last one for the first four units; at least one bit must be set.
pub fn unit_bits(text: &str) -> Option<Vec<u32>> {
    let digits = text.trim().trim_start_matches("0x").as_bytes();
    let mut mask = Vec::new();
    for part in digits.rchunks(8) {
        let part = std::str::from_utf8(part).ok()?;
        mask.push(u32::from_str_radix(part, 16).ok()?);
    }
    mask.iter().any(|word| *word != 0).then_some(mask)
}

/// A list of numbers and ranges, as in `0-15,32`, in decimal or with `0x`.
fn ranges(list: &str) -> Option<Vec<(u32, u32)>> {
    let number = |text: &str| u32::try_from(number(text)?).ok();
    list.split(',')
        .map(|item| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some((first, last))
        })
        .collect()
}

/// Compute units by GPU, as `HSA_CU_MASK` has them: `0:0-15,32;1-2:0x10-0x1f`. For each item the GPUs and the units, as ranges with both
/// ends.
#[expect(
    clippy::type_complexity,
    reason = "two lists of ranges, used in one place"
)]
pub fn units_of_gpus(text: &str) -> Option<Vec<(Vec<(u32, u32)>, Vec<(u32, u32)>)>> {
    text.split(';')
        .filter(|item| !item.trim().is_empty())
        .map(|item| {
            let (gpus, units) = item.split_once(':')?;
            Some((ranges(gpus)?, ranges(units)?))
        })
        .collect()
}

/// Whether a text is a list of devices: indexes (a negative one ends the list) or UUIDs.
pub fn is_device_list(text: &str) -> bool {
    text.split(',').map(str::trim).all(|token| {
        token.is_empty()
            || token.parse::<i64>().is_ok()
            || token
                .strip_prefix("GPU-")
                .is_some_and(|uuid| !uuid.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("10"), Some(Duration::from_secs(10)));
        assert_eq!(time(" 1.5 s"), Some(Duration::from_millis(1500)));
        assert_eq!(time("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(time("2m"), Some(Duration::from_secs(120)));
        for bad in ["", "-1", "ten", "1h", "inf", "nan", "1e300"] {
            assert_eq!(time(bad), None, "{bad}");
        }
        let fail = Some((Duration::from_millis(500), Hang::Fail));
        assert_eq!(hang("500ms,fail"), fail);
        assert_eq!(hang("1,"), None);
    }

    #[test]
    fn sizes() {
        assert_eq!(size("16G"), Some(16 << 30));
        assert_eq!(size("512 MiB"), Some(512 << 20));
        assert_eq!(size("4096"), Some(4096));
        assert_eq!(size("G"), None);
        assert_eq!(size("99999999999T"), None);
        assert_eq!(memory("1M"), None);
    }

    #[test]
    fn a_mask_is_read_from_its_last_digit() {
        assert_eq!(unit_bits("0xff"), Some(vec![0xff]));
        assert_eq!(unit_bits("1000000ff"), Some(vec![0xff, 1]));
        assert_eq!(unit_bits("0x0"), None);
        assert_eq!(unit_bits("none"), None);
        assert_eq!(units_of_gpus("0:3-1"), None);
        assert_eq!(
            units_of_gpus("0:0-3,33;1-2:0x4"),
            Some(vec![
                (vec![(0, 0)], vec![(0, 3), (33, 33)]),
                (vec![(1, 2)], vec![(4, 4)])
            ])
        );
    }
}
