//! What was compiled, on disk: one file for each combination of source, headers, options, target and compiler.
//!
//! The folder is `GNEISS_HIPRTC_CACHE`, else `$XDG_CACHE_HOME/gneiss/hiprtc`, else `~/.cache/gneiss/hiprtc`; `GNEISS_HIPRTC_CACHE=0`
//! turns it off. A file holds lengths, a checksum and the parts; one that does not fit is compiled anew. Files are written beside
//! their place and renamed, so that processes can share the folder. The oldest go when there are more than 512 MiB.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use md5::{Digest as _, Md5};

use crate::compiler::Compiled;

/// Changes with the format of the files and with what goes into a key.
const MAGIC: &[u8; 16] = b"gneiss hiprtc 2\n";
const LIMIT: u64 = 512 << 20;
/// Files that a process writes before it looks again whether there are too many.
const PRUNE_EVERY: usize = 64;
/// Parts of a file: code object, bitcode, log, names.
const PARTS: usize = 4;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Results of the compiler.
    pub compiled: Compiled,
    /// Symbols of the name expressions, in their order.
    pub names: Vec<Option<String>>,
}

/// The folder, unless the cache is off.
pub fn folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    match folder("GNEISS_HIPRTC_CACHE") {
        Some(value) if value.as_os_str() == "0" => None,
        Some(value) => Some(value),
        None => folder("XDG_CACHE_HOME")
            .or_else(|| Some(folder("HOME")?.join(".cache")))
            .map(|cache| cache.join("gneiss/hiprtc")),
    }
}

/// A key from all that the result depends on. Each part goes in with its length, so that parts cannot run into each other.
pub fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    key_of_bytes(parts.into_iter().map(str::as_bytes))
}

/// As [`key`], of parts that are no texts.
pub fn key_of_bytes<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Md5::new();
    hash.update(MAGIC);
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads an entry.
pub fn read(folder: &Path, key: &str) -> Option<Entry> {
    parse(&fs::read(folder.join(key)).ok()?)
}

fn parse(bytes: &[u8]) -> Option<Entry> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (checksum, rest) = rest.split_at_checked(16)?;
    if Md5::digest(rest).as_slice() != checksum {
        return None;
    }
    let (lengths, mut rest) = rest.split_at_checked(8 * PARTS)?;
    let mut parts = [[].as_slice(); PARTS];
    for (part, length) in parts.iter_mut().zip(lengths.chunks_exact(8)) {
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        (*part, rest) = rest.split_at_checked(length)?;
    }
    let text = |part: &[u8]| String::from_utf8(part.to_vec()).ok();
    let names = text(parts[3])?;
    Some(Entry {
        compiled: Compiled {
            executable: parts[0].to_vec(),
            bitcode: parts[1].to_vec(),
            log: text(parts[2])?,
        },
        names: names
            .split_terminator('\n')
            .map(|name| (!name.is_empty()).then(|| name.to_owned()))
            .collect(),
    })
}

fn bytes(entry: &Entry) -> Vec<u8> {
    let mut names = String::new();
    for name in &entry.names {
        names.push_str(name.as_deref().unwrap_or_default());
        names.push('\n');
    }
    let parts: [&[u8]; PARTS] = [
        &entry.compiled.executable,
        &entry.compiled.bitcode,
        entry.compiled.log.as_bytes(),
        names.as_bytes(),
    ];
    let mut body = Vec::new();
    for part in parts {
        body.extend((part.len() as u64).to_le_bytes());
    }
    body.extend(parts.concat());
    [MAGIC.as_slice(), Md5::digest(&body).as_slice(), &body].concat()
}

/// Writes an entry. A cache that cannot be written is no error: the next process compiles again.
pub fn write(folder: &Path, key: &str, entry: &Entry) {
    let written = fs::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .and_then(|mut file| {
            file.write_all(&bytes(entry))?;
            file.persist(folder.join(key)).map_err(|error| error.error)
        });
    // To look at all files takes longer than a small program does: not after each.
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    if written.is_ok()
        && WRITTEN
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(PRUNE_EVERY)
    {
        prune(folder, LIMIT);
    }
}

/// Removes the oldest files until the rest has at most `limit` bytes.
fn prune(folder: &Path, limit: u64) {
    let mut files: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let data = entry.metadata().ok()?;
            data.is_file()
                .then(|| Some((data.modified().ok()?, data.len(), entry.path())))?
        })
        .collect();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    files.sort();
    for (_, size, path) in files {
        if total <= limit {
            break;
        }
        if fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            compiled: Compiled {
                executable: vec![1, 2, 3],
                bitcode: Vec::new(),
                log: "a warning\n".to_owned(),
            },
            names: vec![Some("_Z1fIiEvv".to_owned()), None],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "key", &entry());
        assert_eq!(read(folder.path(), "key"), Some(entry()));
        assert_eq!(read(folder.path(), "other"), None);
    }

    #[test]
    fn damaged_files_are_not_used() {
        let good = bytes(&entry());
        assert_eq!(parse(&good), Some(entry()));
        for length in 0..good.len() {
            assert_eq!(parse(&good[..length]), None, "{length}");
        }
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 0x40;
            assert_eq!(parse(&bad), None, "{place}");
        }
    }

    #[test]
    fn keys_tell_parts_apart() {
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(key(["a"]), key(["a", ""]));
    }

    #[test]
    fn the_folder_stays_below_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..10 {
            fs::write(folder.path().join(index.to_string()), [0; 100]).unwrap();
        }
        prune(folder.path(), 450);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
