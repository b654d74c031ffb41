//! printf for device code: a message becomes text, which goes to the C library's `stdout` or `stderr` in one piece, so that it takes its
//! place among what the program itself prints.
//!
//! A message is a control word (bit 0: stderr; others must be 0), the format string, and the arguments: numbers and pointers have 8
//! bytes, strings are padded to 8. Each conversion is done by the C library's own `snprintf`, so every flag, width, precision and length
//! modifier means what it means on the host. `%n` writes nothing; wide characters are not wide.

use std::{
    ffi::{CString, c_char, c_int, c_void},
    sync::atomic::{AtomicBool, Ordering},
};

/// Bytes of text of one call that are still acceptable.
pub(super) const LIMIT: usize = 16 << 20;

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    static mut stderr: *mut libc::FILE;
}

/// What the device library's assert prints, to `stderr`, before it traps.
const ASSERTION: &[u8] = b": Device-side assertion `";

static ASSERTION_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether an assertion of device code has failed in this process: the trap that follows it ends the program, as in ROCm.
pub fn assertion_failed() -> bool {
    ASSERTION_FAILED.load(Ordering::Acquire)
}

/// Prints a message. The result is that of printf: bytes, or -1.
pub(super) fn print(message: &[u64]) -> i32 {
    let Some((control, rest)) = message.split_first() else {
        return -1;
    };
    if control & !1 != 0 {
        return -1;
    }
    let Some(text) = format(rest) else {
        return -1;
    };
    if control & 1 != 0 && text.windows(ASSERTION.len()).any(|part| part == ASSERTION) {
        ASSERTION_FAILED.store(true, Ordering::Release);
    }
    // SAFETY: the C library's streams are set at its start and lock themselves.
    let written = unsafe {
        let stream = if control & 1 != 0 { stderr } else { stdout };
        libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), stream)
    };
    if written == text.len() {
        i32::try_from(written).unwrap_or(i32::MAX)
    } else {
        -1
    }
}

/// Writes a text to the C library's `stdout`.
pub(super) fn to_stdout(text: &[u8]) {
    if text.is_empty() {
        return;
    }
    // SAFETY: the C library's streams are set at its start and lock themselves.
    unsafe { libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), stdout) };
}

/// The words of a message as a reader.
pub(super) struct Words<'a>(pub(super) &'a [u64]);

impl Words<'_> {
    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A string: up to its NUL or the end of the message.
    fn string(&mut self) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        let mut bytes = Vec::new();
        while let Some(word) = self.number() {
            let word = word.to_le_bytes();
            match word.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    bytes.extend_from_slice(&word[..end]);
                    break;
                }
                None => bytes.extend_from_slice(&word),
            }
        }
        Some(bytes)
    }
}

/// One conversion specification.
pub(super) struct Spec<'a> {
    /// Flags, width and precision, with the stars.
    pub(super) front: &'a [u8],
    /// Length modifier.
    pub(super) length: &'a [u8],
    pub(super) conversion: u8,
}

/// A part of a format.
pub(super) enum Piece<'a, C> {
    /// Stands for itself.
    Text(&'a [u8]),
    /// Wants an argument.
    Conversion(C),
}

/// The parts of a format. `parse` reads what follows a percent sign, and says how many bytes it was; `None` if that is no specification: the
/// sign then stands for itself.
pub(super) fn pieces<'a, C>(
    format: &'a [u8],
    parse: impl Fn(&'a [u8]) -> Option<(C, usize)>,
) -> impl Iterator<Item = Piece<'a, C>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let text = rest.iter().take_while(|byte| **byte != b'%').count();
        if text > 0 {
            let piece;
            (piece, rest) = rest.split_at(text);
            return Some(Piece::Text(piece));
        }
        let (percent, after) = rest.split_at_checked(1)?;
        if after.first() == Some(&b'%') {
            rest = &after[1..];
            return Some(Piece::Text(percent));
        }
        match parse(after) {
            Some((conversion, len)) => {
                rest = &after[len..];
                Some(Piece::Conversion(conversion))
            }
            None => {
                rest = after;
                Some(Piece::Text(percent))
            }
        }
    })
}

/// Reads what follows a percent sign.
fn spec(text: &[u8]) -> Option<(Spec<'_>, usize)> {
    let skip = |from: usize, set: &[u8]| {
        from + text[from..]
            .iter()
            .take_while(|byte| set.contains(byte))
            .count()
    };
    let number = |from: usize| match text.get(from) {
        Some(b'*') => from + 1,
        _ => skip(from, b"0123456789"),
    };
    let mut at = number(skip(0, b"-+ #0'"));
    if text.get(at) == Some(&b'.') {
        at = number(at + 1);
    }
    let end = skip(at, b"hlLqjzt");
    let conversion = *text.get(end)?;
    let spec = Spec {
        front: &text[..at],
        length: &text[at..end],
        conversion,
    };
    b"diouxXcfFeEgGaAspn"
        .contains(&conversion)
        .then_some((spec, end + 1))
}

/// The text of a format string and its arguments. Ends early when there are no arguments left, as AMD's runtime does. `None`: the text is
/// too long.
fn format(words: &[u64]) -> Option<Vec<u8>> {
    let mut words = Words(words);
    let format = words.string().unwrap_or_default();
    let mut out = Vec::with_capacity(format.len() + 32);
    for piece in pieces(&format, spec) {
        let spec = match piece {
            Piece::Text(text) => {
                out.extend_from_slice(text);
                continue;
            }
            Piece::Conversion(spec) => spec,
        };
        if widest(spec.front) > LIMIT {
            return None;
        }
        if words.0.is_empty() || !convert(&spec, &mut words, &mut out) {
            return Some(out);
        }
        if out.len() > LIMIT {
            return None;
        }
    }
    Some(out)
}

/// The largest number in the flags, width and precision.
pub(super) fn widest(front: &[u8]) -> usize {
    front
        .split(|byte| !byte.is_ascii_digit())
        .map(|digits| {
            digits.iter().fold(0_usize, |number, digit| {
                number
                    .saturating_mul(10)
                    .saturating_add(usize::from(digit - b'0'))
            })
        })
        .max()
        .unwrap_or(0)
}

/// Appends one converted argument; false: there are not enough arguments.
pub(super) fn convert(spec: &Spec<'_>, words: &mut Words<'_>, out: &mut Vec<u8>) -> bool {
    let stars = spec.front.iter().filter(|byte| **byte == b'*').count();
    let mut given = [0 as c_int; 2];
    for star in given.iter_mut().take(stars) {
        match words.number() {
            // More than is ever printed is cut, and the text is then refused for its length.
            Some(number) => {
                *star = (number as c_int).clamp(-(LIMIT as c_int) - 1, LIMIT as c_int + 1)
            }
            None => return false,
        }
    }
    // The length modifier is kept where it says how much of the number counts; the rest always comes as 8 bytes, char* or double.
    let length: &[u8] = match spec.conversion {
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => match spec.length {
            b"L" | b"q" => b"ll",
            length => length,
        },
        _ => b"",
    };
    let mut text = Vec::with_capacity(spec.front.len() + 8);
    text.push(b'%');
    text.extend_from_slice(spec.front);
    text.extend_from_slice(length);
    text.push(spec.conversion);
    let Ok(text) = CString::new(text) else {
        return false;
    };
    let format = text.as_ptr();
    match spec.conversion {
        b'n' => words.number().is_some(),
        b's' => {
            let Some(string) = words.string().and_then(|bytes| CString::new(bytes).ok()) else {
                return false;
            };
            let string = string.as_ptr();
            // SAFETY: the format has one conversion of a string, after as many stars as are given.
            unsafe {
                append(out, |to, size| {
                    snprintf(to, size, format, stars, given, string)
                })
            };
            true
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let Some(bits) = words.number() else {
                return false;
            };
            let number = f64::from_bits(bits);
            // SAFETY: as above, of a double.
            unsafe {
                append(out, |to, size| {
                    snprintf(to, size, format, stars, given, number)
                })
            };
            true
        }
        b'p' => {
            let Some(address) = words.number() else {
                return false;
            };
            let address = address as *const c_void;
            // SAFETY: as above, of a pointer.
            unsafe {
                append(out, |to, size| {
                    snprintf(to, size, format, stars, given, address)
                })
            };
            true
        }
        _ => {
            let Some(number) = words.number() else {
                return false;
            };
            // SAFETY: as above, of an integer; the register or stack slot that carries it has 8 bytes for every integer type.
            unsafe {
                append(out, |to, size| {
                    snprintf(to, size, format, stars, given, number)
                })
            };
            true
        }
    }
}

/// A value that can be passed to a C function with variable arguments.
trait Variadic: Copy {
    /// # Safety
    /// The format must fit the stars and the value.
    unsafe fn call0(self, to: *mut c_char, size: usize, format: *const c_char) -> c_int;
    /// # Safety
    /// As above.
    unsafe fn call1(self, to: *mut c_char, size: usize, format: *const c_char, a: c_int) -> c_int;
    /// # Safety
    /// As above.
    unsafe fn call2(
        self,
        to: *mut c_char,
        size: usize,
        format: *const c_char,
        a: c_int,
        b: c_int,
    ) -> c_int;
}

macro_rules! variadic {
    ($($type:ty),*) => {$(
        impl Variadic for $type {
            unsafe fn call0(self, to: *mut c_char, size: usize, format: *const c_char) -> c_int {
                // SAFETY: the caller's.
                unsafe { libc::snprintf(to, size, format, self) }
            }
            unsafe fn call1(self, to: *mut c_char, size: usize, format: *const c_char, a: c_int) -> c_int {
                // SAFETY: the caller's.
                unsafe { libc::snprintf(to, size, format, a, self) }
            }
            unsafe fn call2(
                self,
                to: *mut c_char,
                size: usize,
                format: *const c_char,
                a: c_int,
                b: c_int,
            ) -> c_int {
                // SAFETY: the caller's.
                unsafe { libc::snprintf(to, size, format, a, b, self) }
            }
        }
    )*};
}

variadic!(u64, f64, *const c_void, *const c_char);

/// # Safety
/// The format must fit the stars and the value.
unsafe fn snprintf<T: Variadic>(
    to: *mut c_char,
    size: usize,
    format: *const c_char,
    stars: usize,
    given: [c_int; 2],
    value: T,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match stars {
            0 => value.call0(to, size, format),
            1 => value.call1(to, size, format, given[0]),
            _ => value.call2(to, size, format, given[0], given[1]),
        }
    }
}

/// Appends what a call of snprintf gives.
///
/// # Safety
/// `call` must write at most the bytes that it is given, as snprintf does.
unsafe fn append(out: &mut Vec<u8>, call: impl Fn(*mut c_char, usize) -> c_int) {
    let mut short = [0 as c_char; 128];
    let len = call(short.as_mut_ptr(), short.len());
    let Ok(len) = usize::try_from(len) else {
        return;
    };
    if len < short.len() {
        out.extend(short[..len].iter().map(|byte| *byte as u8));
        return;
    }
    if len > LIMIT {
        // More than is ever printed: the caller sees the length and gives up.
        out.resize(out.len() + LIMIT + 1, 0);
        return;
    }
    let mut long = vec![0_u8; len + 1];
    call(long.as_mut_ptr().cast(), long.len());
    long.truncate(len);
    out.append(&mut long);
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Arg<'a> {
        Number(u64),
        Text(&'a str),
    }
    use Arg::{Number, Text};

    fn push(words: &mut Vec<u64>, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        words.extend(
            bytes
                .chunks(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))),
        );
    }

    fn text(format_text: &str, arguments: &[Arg<'_>]) -> String {
        let mut words = Vec::new();
        push(&mut words, format_text);
        for argument in arguments {
            match argument {
                Number(number) => words.push(*number),
                Text(text) => push(&mut words, text),
            }
        }
        String::from_utf8(format(&words).expect("not too long")).expect("ASCII")
    }

    #[test]
    fn a_string_width_does_not_swallow_the_next_argument() {
        for string in ["123", "1234567", "12345678", "123456789012345678"] {
            let expected = format!("  {string:>10} 1\n");
            assert_eq!(text("  %10s %i\n", &[Text(string), Number(1)]), expected);
        }
        assert_eq!(text("%.2s|%d", &[Text("abcdefghij"), Number(7)]), "ab|7");
        assert_eq!(text("%-6s|%s", &[Text("ab"), Text("")]), "ab    |");
    }

    #[test]
    fn numbers_take_flags_widths_and_length_modifiers() {
        let minus_one = Number(u64::MAX);
        assert_eq!(
            text(
                "%d %u %ld %lu",
                &[
                    Number(u64::MAX),
                    minus_one,
                    Number(u64::MAX),
                    Number(u64::MAX)
                ]
            ),
            "-1 4294967295 -1 18446744073709551615"
        );
        assert_eq!(
            text(
                "%+5d|%-5d|%05d|%x|%#X",
                &[Number(3), Number(4), Number(5), Number(255), Number(255)]
            ),
            "   +3|4    |00005|ff|0XFF"
        );
        assert_eq!(
            text(
                "%hhd %hd %zu %c%c",
                &[
                    Number(0x1ff),
                    Number(0x1_0001),
                    Number(9),
                    Number(65),
                    Number(66)
                ]
            ),
            "-1 1 9 AB"
        );
        assert_eq!(
            text("%lld %p", &[Number(1 << 40), Number(0x1000)]),
            "1099511627776 0x1000"
        );
    }

    #[test]
    fn doubles_are_doubles_whatever_the_modifier_says() {
        let pi = || Number(std::f64::consts::PI.to_bits());
        assert_eq!(
            text(
                "%f %.2lf %Lg %e %a",
                &[pi(), pi(), pi(), pi(), Number(1.0_f64.to_bits())]
            ),
            "3.141593 3.14 3.14159 3.141593e+00 0x1p+0"
        );
    }

    #[test]
    fn stars_take_arguments_of_their_own() {
        assert_eq!(text("[%*d]", &[Number(6), Number(42)]), "[    42]");
        assert_eq!(text("[%-*d]", &[Number(4), Number(42)]), "[42  ]");
        assert_eq!(
            text(
                "[%*.*f]",
                &[Number(8), Number(2), Number(2.5_f64.to_bits())]
            ),
            "[    2.50]"
        );
        assert_eq!(
            text("[%.*s]%d", &[Number(2), Text("abcdef"), Number(1)]),
            "[ab]1"
        );
        assert_eq!(text("[%*d]", &[Number(-4_i64 as u64), Number(7)]), "[7   ]");
    }

    #[test]
    fn percent_signs_and_unknown_conversions_stand_for_themselves() {
        assert_eq!(text("100%% %d%%", &[Number(5)]), "100% 5%");
        assert_eq!(text("%y %d", &[Number(5)]), "%y 5");
        assert_eq!(text("end %", &[]), "end %");
        assert_eq!(text("%n%d", &[Number(1), Number(5)]), "5");
    }

    #[test]
    fn missing_arguments_end_the_text() {
        assert_eq!(text("a %d b %d c", &[Number(1)]), "a 1 b ");
        assert_eq!(text("%*d", &[Number(1)]), "");
        assert_eq!(format(&[]), Some(Vec::new()));
    }

    #[test]
    fn long_texts_are_whole_and_absurd_ones_refused() {
        let long = "x".repeat(5000);
        assert_eq!(text("<%s>", &[Text(&long)]), format!("<{long}>"));
        assert_eq!(text("%300d", &[Number(1)]).len(), 300);
        let mut words = Vec::new();
        push(&mut words, "%2000000000d");
        words.push(1);
        assert_eq!(format(&words), None);
    }

    #[test]
    fn only_known_streams_are_written_to() {
        assert_eq!(print(&[]), -1);
        assert_eq!(print(&[2, 0]), -1);
        assert_eq!(print(&[0, 0]), 0);
    }
}
