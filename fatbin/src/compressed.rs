//! Compressed bundles (`CCOB`): the header in its three versions, and unpacking with a limit.
//!
//! | version | fields after magic, version, method | header |
//! | --- | --- | --- |
//! | 1 | u32 unpacked size, u64 hash | 20 bytes |
//! | 2 | u32 total size, u32 unpacked size, u64 hash | 24 bytes |
//! | 3 | u64 total size, u64 unpacked size, u64 hash | 32 bytes |
//!
//! Method 0 is zlib, 1 is zstd. The total size counts the header; version 1 has none, so the packed data's own end mark
//! counts. The hash is the low half of the MD5 of the unpacked data. Source: LLVM, "Clang Offload Bundler".

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use md5::{Digest, Md5};
use std::io::{BufRead, Read};

/// The first bytes of a compressed bundle.
pub const MAGIC: &[u8; 4] = b"CCOB";

/// What a bundle may unpack to at most, in bytes, unless the caller says otherwise.
pub const DEFAULT_LIMIT: u64 = 4 << 30;

/// How a bundle is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// zlib (0).
    Zlib,
    /// Zstandard (1).
    Zstd,
}

impl Method {
    /// The method's usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }
}

/// The header of a compressed bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// 1, 2 or 3.
    pub version: u16,
    /// The compression method.
    pub method: Method,
    /// Size of header and packed data in bytes; `None` in version 1.
    pub total_size: Option<u64>,
    /// Size of the unpacked bundle in bytes.
    pub unpacked_size: u64,
    /// Low half of the MD5 of the unpacked bundle.
    pub hash: u64,
}

impl Header {
    /// Reads a header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::NotABundle`], [`Error::Truncated`], [`Error::BundleVersion`], [`Error::CompressionMethod`] or
    /// [`Error::BundleSize`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        const WHAT: &str = "compressed bundle header";
        if !bytes.starts_with(MAGIC) {
            return Err(Error::NotABundle {
                offset: 0,
                found: crate::Found::new(bytes),
            });
        }
        let bytes = Bytes::new(bytes);
        let version = bytes.u16(WHAT, 4)?;
        let method = bytes.u16(WHAT, 6)?;
        let small = |at| bytes.u32(WHAT, at).map(u64::from);
        let (total_size, unpacked_size, hash) = match version {
            1 => (None, small(8)?, bytes.u64(WHAT, 12)?),
            2 => (Some(small(8)?), small(12)?, bytes.u64(WHAT, 16)?),
            3 => (
                Some(bytes.u64(WHAT, 8)?),
                bytes.u64(WHAT, 16)?,
                bytes.u64(WHAT, 24)?,
            ),
            _ => return Err(Error::BundleVersion { offset: 0, version }),
        };
        let method = match method {
            0 => Method::Zlib,
            1 => Method::Zstd,
            _ => return Err(Error::CompressionMethod { offset: 0, method }),
        };
        let header = Self {
            version,
            method,
            total_size,
            unpacked_size,
            hash,
        };
        match total_size {
            Some(total) if total < header.size() => Err(Error::BundleSize { offset: 0, total }),
            _ => Ok(header),
        }
    }

    /// Size of the header itself in bytes.
    pub fn size(&self) -> u64 {
        match self.version {
            1 => 20,
            2 => 24,
            _ => 32,
        }
    }
}

/// Unpacks the bundle at the start of `bytes`: its header, the unpacked bundle and how many bytes it takes up packed.
///
/// # Errors
/// Those of [`Header::parse`], [`Error::TooLarge`] when it would unpack to more than `limit` bytes,
/// [`Error::Decompress`], [`Error::UnpackedSize`] and [`Error::Hash`].
pub fn unpack(bytes: &[u8], limit: u64) -> Result<(Header, Vec<u8>, u64)> {
    let header = Header::parse(bytes)?;
    let packed = packed_data(bytes, &header)?;
    // Neither method packs tighter than zstd's repeated byte, 128 KiB in 4 bytes: a larger size is a lie.
    let limit = limit.min((packed.len() as u64).saturating_mul(32 << 10));
    if header.unpacked_size > limit {
        return Err(Error::TooLarge {
            offset: 0,
            size: header.unpacked_size,
            limit,
        });
    }
    // One byte more than announced, so that data that gives too much is seen.
    let (data, used) = decompress(packed, &header, header.unpacked_size.saturating_add(1))?;
    if data.len() as u64 != header.unpacked_size {
        return Err(Error::UnpackedSize {
            offset: 0,
            expected: header.unpacked_size,
            found: data.len() as u64,
        });
    }
    let found = hash(&data);
    if found != header.hash {
        return Err(Error::Hash {
            offset: 0,
            expected: header.hash,
            found,
        });
    }
    let length = header.total_size.unwrap_or(header.size() + used);
    Ok((header, data, length))
}

/// Unpacks at most the first `size` bytes, without checking sizes and hash: enough to read the entry table.
///
/// # Errors
/// Those of [`Header::parse`] and [`Error::Decompress`].
pub(crate) fn unpack_start(bytes: &[u8], size: u64) -> Result<Vec<u8>> {
    let header = Header::parse(bytes)?;
    let packed = packed_data(bytes, &header)?;
    decompress(packed, &header, size.min(header.unpacked_size)).map(|(data, _)| data)
}

/// The hash that compressed bundles carry: the first eight bytes of the MD5, little-endian.
pub fn hash(data: &[u8]) -> u64 {
    let digest = Md5::digest(data);
    digest
        .iter()
        .take(8)
        .rev()
        .fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

fn packed_data<'a>(bytes: &'a [u8], header: &Header) -> Result<&'a [u8]> {
    let end = header.total_size.unwrap_or(bytes.len() as u64);
    Bytes::new(bytes).slice(
        "packed data of the compressed bundle",
        header.size(),
        end - header.size(),
    )
}

/// Decompresses up to `limit` bytes; also says how many packed bytes were used when the data was read to its end.
fn decompress(packed: &[u8], header: &Header, limit: u64) -> Result<(Vec<u8>, u64)> {
    let damaged = |reason: String| Error::Decompress {
        offset: header.size(),
        method: header.method.name(),
        reason,
    };
    let mut data = Vec::new();
    match header.method {
        Method::Zlib => {
            let mut decoder = flate2::bufread::ZlibDecoder::new(packed);
            decoder
                .by_ref()
                .take(limit)
                .read_to_end(&mut data)
                .map_err(|e| damaged(e.to_string()))?;
            Ok((data, decoder.total_in()))
        }
        Method::Zstd => {
            let mut source = packed;
            while !source.fill_buf().is_ok_and(<[u8]>::is_empty) && (data.len() as u64) < limit {
                // A frame may use a window as large as its content; more than the whole bundle is never needed.
                let window = header.unpacked_size.max(128 << 20);
                let mut frame = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(
                    &mut source,
                    window,
                )
                .map_err(|e| damaged(e.to_string()))?;
                frame
                    .by_ref()
                    .take(limit - data.len() as u64)
                    .read_to_end(&mut data)
                    .map_err(|e| damaged(e.to_string()))?;
                if header.total_size.is_none() {
                    break;
                }
            }
            let used = (packed.len() - source.len()) as u64;
            Ok((data, used))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The packed form of `data` with a header of `version`.
    pub(crate) fn pack(data: &[u8], version: u16, method: Method) -> Vec<u8> {
        let packed = match method {
            Method::Zlib => {
                let mut encoder =
                    flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder
                    .write_all(data)
                    .and_then(|()| encoder.finish())
                    .unwrap_or_else(|e| panic!("{e}"))
            }
            Method::Zstd => {
                ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
            }
        };
        let mut out = MAGIC.to_vec();
        out.extend(version.to_le_bytes());
        out.extend((method as u16).to_le_bytes());
        let unpacked = data.len() as u64;
        match version {
            1 => out.extend((unpacked as u32).to_le_bytes()),
            2 => {
                out.extend((24 + packed.len() as u32).to_le_bytes());
                out.extend((unpacked as u32).to_le_bytes());
            }
            _ => {
                out.extend((32 + packed.len() as u64).to_le_bytes());
                out.extend(unpacked.to_le_bytes());
            }
        }
        out.extend(hash(data).to_le_bytes());
        out.extend(packed);
        out
    }

    fn sample() -> Vec<u8> {
        (0..100_000_u32)
            .map(|i| ((i / 7) ^ (i >> 9)) as u8)
            .collect()
    }

    #[test]
    fn every_version_and_method_unpacks() {
        let data = sample();
        for version in 1..=3 {
            for method in [Method::Zlib, Method::Zstd] {
                let packed = pack(&data, version, method);
                let mut with_tail = packed.clone();
                with_tail.extend([0; 100]);
                let (header, unpacked, length) = unpack(&with_tail, DEFAULT_LIMIT)
                    .unwrap_or_else(|e| panic!("{version} {method:?}: {e}"));
                assert_eq!((header.version, header.method), (version, method));
                assert!(unpacked == data);
                assert_eq!(length, packed.len() as u64);
                assert!(unpack_start(&packed, 10).is_ok_and(|start| start == data[..10]));
            }
        }
    }

    #[test]
    fn hash_is_the_low_half_of_md5() {
        // MD5("") is d41d8cd98f00b204e9800998ecf8427e.
        assert_eq!(hash(b""), 0x04b2_008f_d98c_1dd4);
    }

    #[test]
    fn what_lies_is_refused() {
        let data = sample();
        let packed = pack(&data, 2, Method::Zstd);
        let with = |at: usize, bytes: &[u8]| {
            let mut copy = packed.clone();
            copy[at..at + bytes.len()].copy_from_slice(bytes);
            unpack(&copy, DEFAULT_LIMIT).map(|_| ())
        };
        assert!(matches!(
            with(4, &[9]),
            Err(Error::BundleVersion { version: 9, .. })
        ));
        assert!(matches!(
            with(6, &[7]),
            Err(Error::CompressionMethod { method: 7, .. })
        ));
        assert!(matches!(
            with(8, &3_u32.to_le_bytes()),
            Err(Error::BundleSize { total: 3, .. })
        ));
        assert!(matches!(
            with(8, &u32::MAX.to_le_bytes()),
            Err(Error::Truncated { .. })
        ));
        assert!(matches!(
            with(12, &99_999_u32.to_le_bytes()),
            Err(Error::UnpackedSize {
                expected: 99_999,
                found: 100_000,
                ..
            })
        ));
        assert!(matches!(
            with(12, &100_001_u32.to_le_bytes()),
            Err(Error::UnpackedSize { found: 100_000, .. })
        ));
        assert!(matches!(
            with(16, &[packed[16] ^ 1]),
            Err(Error::Hash { .. })
        ));
        assert!(matches!(
            unpack(&packed, 99_999),
            Err(Error::TooLarge {
                size: 100_000,
                limit: 99_999,
                ..
            })
        ));
        assert!(matches!(
            unpack(&packed[..30], DEFAULT_LIMIT),
            Err(Error::Truncated { .. })
        ));
        assert!(matches!(
            with(12, &u32::MAX.to_le_bytes()),
            Err(Error::TooLarge { .. })
        ));
        assert!(matches!(
            unpack(b"CCO", DEFAULT_LIMIT),
            Err(Error::NotABundle { .. })
        ));
    }
}
