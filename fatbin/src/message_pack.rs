//! MessagePack, as far as the metadata note uses it: a reader into a tree that borrows its strings.
//!
//! Lengths are not trusted: nothing is reserved ahead, so a tree never has more nodes than the input has bytes, and nesting
//! is limited. Source: the MessagePack specification.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

/// Deepest nesting that is read; the metadata uses five levels.
const DEPTH_LIMIT: u32 = 32;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Nil,
    Bool(bool),
    UInt(u64),
    Int(i64),
    Float(f64),
    Str(&'a str),
    Bytes,
    Array(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
}

/// Reads one value; bytes after it are ignored.
pub(crate) fn parse(data: &[u8]) -> Result<Value<'_>> {
    let mut reader = Reader {
        bytes: Bytes::new(data),
        at: 0,
    };
    reader.value(0)
}

struct Reader<'a> {
    bytes: Bytes<'a>,
    at: u64,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, reason: &'static str) -> Result<T> {
        Err(Error::MessagePack {
            offset: self.at,
            reason,
        })
    }

    fn take(&mut self, size: u64) -> Result<&'a [u8]> {
        match self.bytes.slice("value", self.at, size) {
            Ok(slice) => {
                self.at += size;
                Ok(slice)
            }
            Err(_) => self.error("the data ends inside a value"),
        }
    }

    fn uint(&mut self, size: u64) -> Result<u64> {
        Ok(self
            .take(size)?
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn string(&mut self, size: u64) -> Result<Value<'a>> {
        let at = self.at;
        let text = std::str::from_utf8(self.take(size)?);
        text.map(Value::Str).map_err(|_| Error::MessagePack {
            offset: at,
            reason: "a string is not UTF-8",
        })
    }

    fn skip(&mut self, size: u64) -> Result<Value<'a>> {
        self.take(size)?;
        Ok(Value::Bytes)
    }

    fn array(&mut self, count: u64, depth: u32) -> Result<Value<'a>> {
        (0..count)
            .map(|_| self.value(depth + 1))
            .collect::<Result<_>>()
            .map(Value::Array)
    }

    fn map(&mut self, count: u64, depth: u32) -> Result<Value<'a>> {
        (0..count)
            .map(|_| Ok((self.value(depth + 1)?, self.value(depth + 1)?)))
            .collect::<Result<_>>()
            .map(Value::Map)
    }

    fn value(&mut self, depth: u32) -> Result<Value<'a>> {
        if depth > DEPTH_LIMIT {
            return self.error("values nest too deeply");
        }
        let marker = self.take(1)?[0];
        let low = u64::from(marker);
        match marker {
            0x00..=0x7f => Ok(Value::UInt(low)),
            0x80..=0x8f => self.map(low & 15, depth),
            0x90..=0x9f => self.array(low & 15, depth),
            0xa0..=0xbf => self.string(low & 31),
            0xc0 => Ok(Value::Nil),
            0xc1 => self.error("0xc1 is no value"),
            0xc2 => Ok(Value::Bool(false)),
            0xc3 => Ok(Value::Bool(true)),
            0xc4..=0xc6 => {
                let size = self.uint(1 << (marker - 0xc4))?;
                self.skip(size)
            }
            0xc7..=0xc9 => {
                let size = self.uint(1 << (marker - 0xc7))?;
                self.skip(size.saturating_add(1))
            }
            0xca => Ok(Value::Float(f32::from_bits(self.uint(4)? as u32).into())),
            0xcb => Ok(Value::Float(f64::from_bits(self.uint(8)?))),
            0xcc..=0xcf => self.uint(1 << (marker - 0xcc)).map(Value::UInt),
            0xd0..=0xd3 => {
                let size = 1 << (marker - 0xd0);
                let shift = 64 - 8 * size;
                Ok(Value::Int(
                    (self.uint(size)? << shift).cast_signed() >> shift,
                ))
            }
            0xd4..=0xd8 => self.skip(1 + (1 << (marker - 0xd4))),
            0xd9..=0xdb => {
                let size = self.uint(1 << (marker - 0xd9))?;
                self.string(size)
            }
            0xdc | 0xdd => {
                let count = self.uint(if marker == 0xdc { 2 } else { 4 })?;
                self.array(count, depth)
            }
            0xde | 0xdf => {
                let count = self.uint(if marker == 0xde { 2 } else { 4 })?;
                self.map(count, depth)
            }
            0xe0..=0xff => Ok(Value::Int(i64::from(marker.cast_signed()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value() {
        use Value::{Array, Bool, Bytes, Float, Int, Map, Nil, Str, UInt};
        let cases: &[(&[u8], Value<'_>)] = &[
            (&[0x7f], UInt(127)),
            (&[0xe0], Int(-32)),
            (&[0xcc, 200], UInt(200)),
            (&[0xcd, 1, 0], UInt(256)),
            (&[0xcf, 0, 0, 0, 1, 0, 0, 0, 0], UInt(1 << 32)),
            (&[0xd0, 0xff], Int(-1)),
            (&[0xd1, 0x80, 0], Int(-32768)),
            (&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], Int(i64::MIN)),
            (&[0xc0], Nil),
            (&[0xc3], Bool(true)),
            (&[0xa2, b'h', b'i'], Str("hi")),
            (&[0xd9, 1, b'x'], Str("x")),
            (&[0xda, 0, 1, b'y'], Str("y")),
            (&[0xdb, 0, 0, 0, 1, b'z'], Str("z")),
            (
                &[0x92, 1, 0x91, 2],
                Array(vec![UInt(1), Array(vec![UInt(2)])]),
            ),
            (&[0xdc, 0, 1, 3], Array(vec![UInt(3)])),
            (&[0x81, 0xa1, b'k', 5], Map(vec![(Str("k"), UInt(5))])),
            (&[0xde, 0, 1, 1, 2], Map(vec![(UInt(1), UInt(2))])),
            (&[0xc4, 2, 0, 0], Bytes),
            (&[0xd4, 0, 0], Bytes),
            (&[0xca, 0x3f, 0x80, 0, 0], Float(1.0)),
            (&[0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0], Float(1.0)),
        ];
        for (bytes, value) in cases {
            assert_eq!(parse(bytes).as_ref(), Ok(value), "{bytes:02x?}");
            for len in 0..bytes.len() {
                assert!(parse(&bytes[..len]).is_err(), "{len} of {bytes:02x?}");
            }
        }
    }

    #[test]
    fn lies_and_deep_nesting_are_refused() {
        assert!(parse(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
        assert!(parse(&[0xdf, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(parse(&[0xc9, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(parse(&[0xa1, 0xff]).is_err_and(|e| e.to_string().contains("UTF-8")));
        assert!(parse(&[0x91; 10_000]).is_err_and(|e| e.to_string().contains("deeply")));
        assert!(parse(&[0xc1]).is_err());
    }
}
