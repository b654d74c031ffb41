//! Static libraries (`ar` archives), as far as needed to find device code in their members. Source: the GNU variant of the
//! System V format: 60-byte headers, long names in a member called `//`.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"!<arch>\n";
const HEADER: u64 = 60;

/// A member.
pub(crate) struct Member<'a> {
    pub name: String,
    pub offset: u64,
    pub data: &'a [u8],
}

/// Whether `bytes` start like an archive.
pub(crate) fn starts_at(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The members that are files; symbol and name tables are left out.
pub(crate) fn members(archive: &[u8]) -> Result<Vec<Member<'_>>> {
    const WHAT: &str = "archive member";
    let bytes = Bytes::new(archive);
    let mut members = Vec::new();
    let mut long_names: &[u8] = &[];
    let mut at = MAGIC.len() as u64;
    while at < bytes.len() {
        let malformed = |reason| Error::Malformed {
            what: WHAT,
            offset: at,
            reason,
        };
        let header = bytes.slice("archive member header", at, HEADER)?;
        if &header[58..60] != b"`\n" {
            return Err(malformed("its header has no end mark"));
        }
        let size = decimal(&header[48..58]).ok_or_else(|| malformed("its size is no number"))?;
        let data = bytes.slice(WHAT, at + HEADER, size)?;
        let name = header[..16].trim_ascii_end();
        match name {
            b"//" => long_names = data,
            b"/" | b"/SYM64/" => {}
            _ => {
                let name = match name.strip_prefix(b"/").and_then(decimal) {
                    Some(offset) => {
                        let rest = usize::try_from(offset)
                            .ok()
                            .and_then(|offset| long_names.get(offset..));
                        let rest = rest.ok_or_else(|| malformed("its long name does not exist"))?;
                        rest.split(|b| *b == b'\n').next().unwrap_or_default()
                    }
                    None => name,
                };
                let name =
                    String::from_utf8_lossy(name.strip_suffix(b"/").unwrap_or(name)).into_owned();
                members.push(Member {
                    name,
                    offset: at + HEADER,
                    data,
                });
            }
        }
        at = (at + HEADER + size).next_multiple_of(2);
    }
    Ok(members)
}

fn decimal(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, size: usize) -> Vec<u8> {
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes()
    }

    fn sample() -> Vec<u8> {
        let mut archive = MAGIC.to_vec();
        for (name, data) in [
            ("/", &b"abc"[..]),
            ("//", b"a_name_longer_than_15.o/\n"),
            ("short.o/", b"123"),
            ("/0", b"4567"),
        ] {
            archive.extend(header(name, data.len()));
            archive.extend(data);
            if data.len() % 2 == 1 {
                archive.push(b'\n');
            }
        }
        archive
    }

    #[test]
    fn members_have_short_and_long_names() {
        let archive = sample();
        let members = members(&archive).unwrap_or_else(|e| panic!("{e}"));
        let members: Vec<_> = members
            .iter()
            .map(|m| (m.name.as_str(), m.data, &archive[m.offset as usize..][..3]))
            .collect();
        assert_eq!(
            members,
            [
                ("short.o", &b"123"[..], &b"123"[..]),
                ("a_name_longer_than_15.o", b"4567", b"456")
            ]
        );
    }

    #[test]
    fn damage_is_an_error_or_gives_less() {
        let archive = sample();
        for len in 0..archive.len() {
            let _ = members(&archive[..len]).map(|members| assert!(members.len() <= 2));
        }
        let mut bad = archive.clone();
        bad[8 + 48] = b'x';
        assert!(members(&bad).is_err());
    }
}
