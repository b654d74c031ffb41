//! OpenCL's printf: kernels write their messages to a buffer, and the host prints them when the kernel has ended.
//!
//! The buffer begins with two 32-bit words: bytes used by messages, and bytes of the buffer; device code takes room by compare-and-swap and
//! drops what finds none. A message is the 32-bit number of its format, then the arguments, each with the bytes that the code object's metadata
//! say: `number:count:bytes:…:format`. Strings are there with their zero, padded to 4 bytes. A `!` in a conversion stands before the letter that
//! is meant (`D`: `f`), and another one follows that the compiler was shown in its place: `%!Fe` is `%F`.
//!
//! Refuses: metadata of another form (HIP's `-mprintf-kind=buffered` has messages that begin differently).

use std::{collections::HashMap, sync::Arc};

use crate::{Device, Error, HostFlags, Memory, Result};

use super::printf::{self, LIMIT, Piece, Spec, Words};

/// Bytes of a buffer, with its head.
pub const PRINTF_BUFFER_SIZE: usize = 4 << 20;
/// Bytes before the first message.
const HEAD: usize = 8;

/// One format, with the bytes of its arguments.
#[derive(Debug, PartialEq, Eq)]
struct Format {
    sizes: Vec<usize>,
    text: Vec<u8>,
}

/// The formats of a code object, by number.
#[derive(Debug)]
pub(crate) struct Formats(HashMap<u32, Format>);

impl Formats {
    /// Reads the metadata; `None` if they are of another form.
    pub(crate) fn parse(metadata: &[String]) -> Option<Self> {
        let formats: Option<HashMap<u32, Format>> =
            metadata.iter().map(|line| parse_format(line)).collect();
        formats.map(Self)
    }

    /// The text of all messages of a buffer's used part.
    fn text(&self, mut messages: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some((number, rest)) = messages.split_first_chunk::<4>() {
            let Some(format) = self.0.get(&u32::from_le_bytes(*number)) else {
                tracing::error!("a kernel printed with a format that its code object has not");
                break;
            };
            let size: usize = format.sizes.iter().sum();
            let Some((arguments, rest)) = rest.split_at_checked(size) else {
                break;
            };
            format.print(arguments, &mut out);
            messages = rest;
        }
        out
    }
}

fn parse_format(line: &str) -> Option<(u32, Format)> {
    let (number, rest) = line.split_once(':')?;
    let (count, mut rest) = rest.split_once(':')?;
    let number: u32 = number.parse().ok().filter(|number| *number != 0)?;
    let count: usize = count.parse().ok()?;
    // Colons of the format itself are written as numbers. Arguments that no conversion takes are counted, but have no size and are not there.
    let mut sizes = Vec::new();
    while let Some((size, after)) = rest.split_once(':') {
        let size = size.parse().ok();
        sizes.push(size.filter(|size| *size <= PRINTF_BUFFER_SIZE)?);
        rest = after;
    }
    if sizes.len() > count {
        return None;
    }
    let text = unescape(rest.as_bytes());
    Some((number, Format { sizes, text }))
}

/// The compiler writes control characters, colons and others as C does.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        let digits = rest
            .iter()
            .take(3)
            .take_while(|byte| (b'0'..=b'7').contains(byte))
            .count();
        if digits > 0 {
            let value = rest[..digits]
                .iter()
                .fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            out.push(value as u8);
            rest = &rest[digits..];
            continue;
        }
        let plain = match rest.first() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(other @ (b'\\' | b'"' | b'\'' | b'?')) => *other,
            _ => {
                out.push(b'\\');
                continue;
            }
        };
        out.push(plain);
        rest = &rest[1..];
    }
    out
}

/// A conversion of OpenCL: flags, width and precision, elements of a vector, length and conversion.
struct Conversion<'a> {
    front: &'a [u8],
    /// 0: no vector.
    elements: usize,
    length: &'a [u8],
    conversion: u8,
}

fn conversion(text: &[u8]) -> Option<(Conversion<'_>, usize)> {
    let skip = |from: usize, set: &[u8]| {
        from + text[from..]
            .iter()
            .take_while(|byte| set.contains(byte))
            .count()
    };
    let mut at = skip(skip(0, b"-+ #0"), b"0123456789");
    if text.get(at) == Some(&b'.') {
        at = skip(at + 1, b"0123456789");
    }
    let front = &text[..at];
    let mut elements = 0;
    if text.get(at) == Some(&b'v') {
        let end = skip(at + 1, b"0123456789");
        elements = match &text[at + 1..end] {
            b"2" => 2,
            b"3" => 3,
            b"4" => 4,
            b"8" => 8,
            b"16" => 16,
            _ => return None,
        };
        at = end;
    }
    let end = skip(at, b"hljzt");
    let (conversion, after) = match text[end..] {
        [b'!', b'D', _, ..] => (b'f', end + 3),
        [b'!', conversion, _, ..] => (conversion, end + 3),
        [conversion, ..] => (conversion, end + 1),
        [] => return None,
    };
    let read = Conversion {
        front,
        elements,
        length: &text[at..end],
        conversion,
    };
    b"diouxXcfFeEgGaAsp"
        .contains(&conversion)
        .then_some((read, after))
}

impl Format {
    fn print(&self, mut arguments: &[u8], out: &mut Vec<u8>) {
        let mut sizes = self.sizes.iter();
        for piece in printf::pieces(&self.text, conversion) {
            let conversion = match piece {
                Piece::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Piece::Conversion(conversion) => conversion,
            };
            let Some((argument, after)) = sizes
                .next()
                .and_then(|size| arguments.split_at_checked(*size))
            else {
                return;
            };
            arguments = after;
            if printf::widest(conversion.front) > LIMIT {
                continue;
            }
            convert(&conversion, argument, out);
        }
    }
}

fn convert(conversion: &Conversion<'_>, argument: &[u8], out: &mut Vec<u8>) {
    if conversion.conversion == b's' {
        let end = argument.iter().position(|byte| *byte == 0);
        let mut words: Vec<u64> = argument[..end.unwrap_or(argument.len())]
            .chunks(8)
            .map(word)
            .collect();
        // The text ends with a zero, in the last word or after it.
        words.push(0);
        element(conversion, b"", &words, out);
        return;
    }
    if conversion.elements == 0 {
        element(
            conversion,
            conversion.length,
            &[scalar(conversion, argument)],
            out,
        );
        return;
    }
    // Three elements take the room of four; the compiler widens those of vectors that do not fill 4 bytes.
    let size = argument.len() / conversion.elements.next_power_of_two();
    let length: &[u8] = match conversion.length {
        b"hl" => b"",
        length => length,
    };
    for index in 0..conversion.elements {
        if index > 0 {
            out.push(b',');
        }
        let bytes = argument.get(index * size..(index + 1) * size);
        element(
            conversion,
            length,
            &[scalar(conversion, bytes.unwrap_or(&[]))],
            out,
        );
    }
}

/// Up to 8 bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let len = bytes.len().min(8);
    word[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(word)
}

/// A number as the C library's snprintf takes it: 8 bytes, or a double.
fn scalar(conversion: &Conversion<'_>, bytes: &[u8]) -> u64 {
    let value = word(bytes);
    match (conversion.conversion, bytes.len()) {
        (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', 4) => {
            f64::from(f32::from_bits(value as u32)).to_bits()
        }
        (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', 2) => half(value as u16).to_bits(),
        (b'd' | b'i', 1) => value as i8 as u64,
        (b'd' | b'i', 2) => value as i16 as u64,
        (b'd' | b'i', 4) => value as i32 as u64,
        _ => value,
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

fn element(conversion: &Conversion<'_>, length: &[u8], words: &[u64], out: &mut Vec<u8>) {
    let spec = Spec {
        front: conversion.front,
        length,
        conversion: conversion.conversion,
    };
    printf::convert(&spec, &mut Words(words), out);
}

/// A buffer for the messages of one launch.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Arc<Memory>,
}

impl Buffer {
    /// Allocates a buffer.
    pub(crate) fn new(device: &Arc<Device>) -> Result<Self> {
        let runtime = device
            .runtime()
            .ok_or(Error::Gone("the runtime has ended"))?;
        let memory = runtime.allocate_host(device, PRINTF_BUFFER_SIZE, HostFlags::COHERENT)?;
        Ok(Self { memory })
    }

    fn head(&self) -> *mut u32 {
        std::ptr::with_exposed_provenance_mut(self.memory.host_address().unwrap_or_default())
    }

    /// Makes it empty, for the next launch.
    pub(crate) fn clear(&self) {
        // SAFETY: the allocation is larger, and no kernel uses it now.
        unsafe {
            self.head().write(0);
            self.head().add(1).write(PRINTF_BUFFER_SIZE as u32);
        }
    }

    /// Address that kernels write to.
    pub(crate) fn address(&self) -> u64 {
        self.memory.device_address()
    }

    /// Prints what a kernel that has ended has written.
    pub(crate) fn print(&self, formats: &Formats) {
        // SAFETY: the kernel has ended; its writes were released to the system.
        let used = unsafe { self.head().read() } as usize;
        let used = used.min(PRINTF_BUFFER_SIZE - HEAD);
        // SAFETY: in the allocation, which nobody writes to now.
        let messages = unsafe {
            std::slice::from_raw_parts(self.head().cast::<u8>().add(HEAD).cast_const(), used)
        };
        printf::to_stdout(&formats.text(messages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(metadata: &str, message: &[u8]) -> String {
        let formats = Formats::parse(&[metadata.to_owned()]).expect("a format");
        let number: u32 = metadata
            .split(':')
            .next()
            .and_then(|number| number.parse().ok())
            .expect("a number");
        let all = [&number.to_le_bytes(), message].concat();
        String::from_utf8(formats.text(&all)).expect("text")
    }

    #[test]
    fn scalars_are_read_with_their_sizes() {
        let mut message = (-5_i32).to_le_bytes().to_vec();
        message.extend(1.5_f32.to_le_bytes());
        message.extend(b"abc\0");
        message.extend(u64::MAX.to_le_bytes());
        assert_eq!(
            text(r"2:4:4:4:4:8:%d %f %s %lu\n", &message),
            "-5 1.500000 abc 18446744073709551615\n"
        );
        assert_eq!(text(r"1:0:100%%\72 %y", &[]), "100%: %y");
    }

    #[test]
    fn vectors_have_commas_between_their_elements() {
        assert_eq!(text("1:1:4:%v4hhd", &[1, 0xff, 3, 4]), "1,-1,3,4");
        let floats: Vec<u8> = [1.0_f32, 2.5, -3.0, 0.0]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        assert_eq!(text("1:1:16:%.1v4hlf|", &floats), "1.0,2.5,-3.0,0.0|");
        assert_eq!(text("1:1:16:%.1v3hlf|", &floats), "1.0,2.5,-3.0|");
        assert_eq!(text("1:1:4:%#v2hx", &[0x34, 0x12, 1, 0]), "0x1234,0x1");
        assert_eq!(text("1:1:4:%v2hhd", &[16, 0, 0xff, 0xff]), "16,-1");
    }

    #[test]
    fn letters_behind_an_exclamation_mark_are_meant() {
        let message = [
            f64::INFINITY.to_le_bytes(),
            0.1_f64.to_le_bytes(),
            2.5_f64.to_le_bytes(),
        ]
        .concat();
        assert_eq!(
            text("1:3:8:8:8:%!Fe e%.17!De %.1!Ae", &message),
            "INF e0.10000000000000001 0X1.4P+1"
        );
        let floats = [1.0_f32, 2.5].map(f32::to_le_bytes).concat();
        assert_eq!(text("1:1:8:%.1v2hl!Fe!", &floats), "1.0,2.5!");
    }

    #[test]
    fn arguments_without_a_conversion_are_not_there() {
        assert_eq!(text("1:3:4:x %s\\n", b"hey\0"), "x hey\n");
        assert_eq!(text("1:1:", b""), "");
        assert_eq!(text("1:0:", b""), "");
    }

    #[test]
    fn damaged_messages_and_other_forms_end_the_text() {
        let formats = Formats::parse(&["1:1:4:%d ".to_owned()]).expect("a format");
        let mut all = [1, 0, 0, 0, 7, 0, 0, 0].to_vec();
        all.extend([1, 0, 0, 0, 7]);
        assert_eq!(formats.text(&all), b"7 ");
        assert_eq!(formats.text(&[9, 0, 0, 0]), b"");
        for other in ["0:0:deadbeef,%d", "x", "1:1:4:4:%d", "1:1:99999999:%d"] {
            assert!(Formats::parse(&[other.to_owned()]).is_none(), "{other}");
        }
    }

    #[test]
    fn halves_are_exact() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (1, 2_f64.powi(-24)),
            (0x7bff, 65504.0),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }
}
