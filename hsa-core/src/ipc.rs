//! Handles of memory and signals for other processes: 32 bytes that any channel can carry.
//!
//! A handle names a memfd in the process that made it: process, descriptor, and the file's number, so that a descriptor that was
//! used again is noticed. The importer opens it through `/proc`, which the system allows to processes of the same user; the
//! exporter must live until then, and need not after. In another PID namespace the exporter has another number, and its own may be
//! somebody else's: then every process that `/proc` shows is looked at. What is in a handle is not trusted: file, name and size
//! are checked.

use std::{
    fs, io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use gneiss_hsa_api::*;
use rustix::fs::{Mode, OFlags, fstat, open, stat};

use crate::{
    entry::HsaResult,
    memory::{arena::PAGE, share},
};

const MAGIC: u32 = 0x4950_4e47;

/// What a handle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    process: u32,
    descriptor: u32,
    inode: u64,
    /// Bytes that the user asked for.
    pub(crate) bytes: u64,
    /// Handle of the pool the memory is from; 0 for a signal.
    pub(crate) pool: u32,
}

impl Handle {
    /// The handle of a file of this process, which stays open for as long as the handle is to be valid.
    pub(crate) fn new(file: BorrowedFd<'_>, bytes: u64, pool: u32) -> io::Result<Self> {
        Ok(Self {
            process: std::process::id(),
            descriptor: file.as_raw_fd().cast_unsigned(),
            inode: fstat(file)?.st_ino,
            bytes,
            pool,
        })
    }

    /// As a program sees it.
    pub(crate) fn encode(self) -> hsa_amd_ipc_memory_t {
        let [low, high] = halves(self.inode);
        let [bytes, more] = halves(self.bytes);
        hsa_amd_ipc_memory_t {
            handle: [
                MAGIC,
                self.process,
                self.descriptor,
                low,
                high,
                bytes,
                more,
                self.pool,
            ],
        }
    }

    /// Reads what a program passes.
    pub(crate) fn decode(handle: &hsa_amd_ipc_memory_t) -> HsaResult<Self> {
        let [magic, process, descriptor, low, high, bytes, more, pool] = handle.handle;
        if magic != MAGIC || process > i32::MAX as u32 || descriptor > i32::MAX as u32 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        Ok(Self {
            process,
            descriptor,
            inode: whole(low, high),
            bytes: whole(bytes, more),
            pool,
        })
    }

    /// The file, if that process has it under the handle's descriptor.
    fn file_of(self, process: u32) -> Option<OwnedFd> {
        let path = format!("/proc/{process}/fd/{}", self.descriptor);
        // Looked at before it is opened: opening what is no file of ours may have effects.
        if stat(&path).ok()?.st_ino != self.inode {
            return None;
        }
        let file = open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
        (fstat(&file).ok()?.st_ino == self.inode).then_some(file)
    }

    /// Opens the file: it must be the one that the handle was made for, of this runtime, with room for what the handle says.
    pub(crate) fn open(self, name: &str) -> HsaResult<OwnedFd> {
        let file = self.file_of(self.process).or_else(|| {
            let processes = fs::read_dir("/proc").ok()?;
            processes
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
                .find_map(|process| self.file_of(process))
        });
        let file = file.ok_or_else(|| {
            tracing::warn!(
                process = self.process,
                "the handle's process or file cannot be reached, or is gone"
            );
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        })?;
        let fits = share::identify(file.as_fd()).is_some_and(|(found, bytes)| {
            found == name
                && self.bytes != 0
                && self
                    .bytes
                    .checked_next_multiple_of(PAGE as u64)
                    .is_some_and(|wanted| wanted <= bytes)
        });
        if fits {
            Ok(file)
        } else {
            tracing::warn!(process = self.process, "the handle is of something else");
            Err(HSA_STATUS_ERROR_INVALID_ARGUMENT)
        }
    }
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_checked_before_they_are_believed() {
        let file = share::file("memory", 8192).expect("a file");
        let handle = Handle::new(file.as_fd(), 5000, 7).expect("open");
        let read = Handle::decode(&handle.encode()).expect("ours");
        assert_eq!(read, handle);
        assert!(read.open("memory").is_ok());
        assert!(read.open("signal").is_err(), "another kind");
        assert!(
            Handle {
                bytes: 8193,
                ..read
            }
            .open("memory")
            .is_err(),
            "too long"
        );
        assert!(
            Handle {
                bytes: u64::MAX,
                ..read
            }
            .open("memory")
            .is_err()
        );
        assert!(
            Handle {
                inode: read.inode + 1,
                ..read
            }
            .open("memory")
            .is_err()
        );
        // A process that has another number here than where the handle was made.
        let elsewhere = Handle {
            process: i32::MAX as u32,
            ..read
        };
        assert!(elsewhere.open("memory").is_ok());
        assert!(Handle::decode(&hsa_amd_ipc_memory_t { handle: [0; 8] }).is_err());
        drop(file);
        assert!(read.open("memory").is_err(), "closed");
        assert!(elsewhere.open("memory").is_err(), "closed");
    }
}
