//! The calls that profilers know: number and layout of the arguments, from `hip_prof_str.h` of HIP 5.2.3 and 6.3.
//!
//! A row of the two files is a name, its number, and offset and size of each argument in the union of `hip_api_data_t`. Places after
//! pointers, where tools put what those point to, are gaps. Numbers that no call has are `unknown`. HIP 7 has the numbers of 6.

use std::{collections::HashMap, ffi::CString, sync::OnceLock};

use crate::version::{self, Major};

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    /// Name of the function.
    pub(super) name: &'static str,
    /// The same for C.
    pub(super) c_name: CString,
    /// Its number.
    pub(super) id: u32,
    /// Offset and size of each argument.
    pub(super) arguments: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Calls {
    /// In the order of their numbers, which begin at 1 and have no gaps.
    list: Vec<Call>,
    by_name: HashMap<&'static str, usize>,
}

/// Reads one of the files; none if it is damaged, which a test rules out.
fn parse(text: &'static str) -> Option<Vec<Call>> {
    let number = |text: &str| text.parse::<usize>().ok();
    text.lines()
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next()?;
            let id = words.next()?.parse().ok()?;
            let arguments = words
                .map(|word| {
                    let (offset, size) = word.split_once(':')?;
                    Some((number(offset)?, number(size)?))
                })
                .collect::<Option<_>>()?;
            Some(Call {
                name,
                c_name: CString::new(name).ok()?,
                id,
                arguments,
            })
        })
        .collect()
}

const FIVE: &str = include_str!("calls_5.txt");
const SIX: &str = include_str!("calls_6.txt");

fn calls() -> &'static Calls {
    static CALLS: OnceLock<Calls> = OnceLock::new();
    CALLS.get_or_init(|| {
        let text = match version::presented() {
            Major::Five => FIVE,
            Major::Six | Major::Seven => SIX,
        };
        let mut list = parse(text).unwrap_or_default();
        list.sort_by_key(|call| call.id);
        let mut by_name: HashMap<_, _> = list
            .iter()
            .enumerate()
            .map(|(index, call)| (call.name, index))
            .collect();
        // The names that HIP 5 gave two calls, whose symbols still have them.
        for (symbol, name) in [
            ("hipChooseDevice", "hipChooseDeviceR0000"),
            ("hipGetDeviceProperties", "hipGetDevicePropertiesR0000"),
        ] {
            if let Some(&index) = by_name.get(name) {
                by_name.insert(symbol, index);
            }
        }
        Calls { list, by_name }
    })
}

/// The call of a function; functions for per-thread streams count as those that they stand for.
pub(super) fn of(function: &str) -> Option<&'static Call> {
    let calls = calls();
    let name = function.strip_suffix("_spt").unwrap_or(function);
    calls.by_name.get(name).map(|&index| &calls.list[index])
}

/// The call with that number.
pub(super) fn by_id(id: u32) -> Option<&'static Call> {
    calls().list.get((id as usize).checked_sub(1)?)
}

/// The greatest number.
pub(super) fn last() -> u32 {
    calls().list.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for the arguments in `hip_api_data_t` of HIP 5.2.3 and 6.3.
    const ROOM: [usize; 2] = [816, 1496];

    #[test]
    fn both_files_are_whole_and_their_arguments_lie_in_the_union() {
        for ((text, last), room) in [(FIVE, 333), (SIX, 407)].into_iter().zip(ROOM) {
            let calls = parse(text).expect("a well-formed file");
            let mut ids: Vec<u32> = calls.iter().map(|call| call.id).collect();
            ids.sort_unstable();
            assert_eq!(ids, (1..=last).collect::<Vec<_>>());
            for call in calls {
                let mut end = 0;
                for (offset, size) in call.arguments {
                    assert!(offset >= end && offset + size <= room, "{}", call.name);
                    end = offset + size;
                }
            }
        }
    }

    #[test]
    fn per_thread_functions_count_as_what_they_stand_for() {
        let plain = of("hipMemcpy").expect("in the table");
        assert_eq!(of("hipMemcpy_spt").expect("in the table").id, plain.id);
        assert!(of("hipNoSuchFunction").is_none());
    }
}
