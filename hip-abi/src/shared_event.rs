//! The page that an event for several processes shares: how often it was recorded, and which recordings have been reached.
//!
//! The page is a memfd, which has no name that could clash; a handle names it by process, descriptor and file number, and is opened
//! through `/proc`, so the maker must live until then; where the maker has another number in the importer's PID namespace, every process that
//! `/proc` shows is looked at. Recording takes the next number at the call; the stream stores it when it gets there.
//! A wait is for the number that was last taken at the call, whoever took it, and polls. Any number of recordings works.

use std::{
    ffi::c_void,
    fs::{File, Metadata},
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use gneiss_clr::{Event as Command, HostQueue, ValueCondition, ValueWidth};
use memmap2::MmapRaw;

use crate::{
    error::*,
    fail, ipc,
    runtime::{self, hip_error},
    types::hipIpcEventHandle_t,
};

const MAGIC: u64 = 0x676e_6569_7373_6576;
const SIZE: u64 = 4096;

/// The page.
#[repr(C)]
#[derive(Debug)]
struct Page {
    magic: AtomicU64,
    recorded: AtomicU64,
    reached: AtomicU64,
}

/// What a handle holds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Handle {
    magic: u64,
    process: u32,
    descriptor: u32,
    inode: u64,
    maker: u64,
    unused: [u64; 4],
}

impl Handle {
    /// The page's file, if that process has it under the handle's descriptor.
    fn file_of(&self, process: u32) -> Option<File> {
        let path = format!("/proc/{process}/fd/{}", self.descriptor);
        // Looked at before it is opened: opening what is no page may have effects.
        let is_page = |data: &Metadata| data.ino() == self.inode && data.len() == SIZE;
        std::fs::metadata(&path).ok().filter(is_page)?;
        let file = File::options().read(true).write(true).open(&path).ok()?;
        is_page(&file.metadata().ok()?).then_some(file)
    }
}

const _: () = assert!(size_of::<Handle>() == size_of::<hipIpcEventHandle_t>());

/// An event's shared page, mapped.
#[derive(Debug)]
pub struct SharedEvent {
    file: File,
    map: MmapRaw,
}

fn failed<T>(what: &str, error: &std::io::Error) -> HipResult<T> {
    fail!(hipErrorOutOfMemory, "{what}: {error}")
}

impl SharedEvent {
    /// A new page.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory`.
    pub fn new() -> HipResult<Arc<Self>> {
        // SAFETY: the name is terminated; the result is checked.
        let descriptor = unsafe {
            libc::memfd_create(
                c"gneiss-event".as_ptr(),
                libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING,
            )
        };
        if descriptor < 0 {
            return failed("memfd_create", &std::io::Error::last_os_error());
        }
        // SAFETY: just opened, and owned by nobody else.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
        if let Err(error) = file.set_len(SIZE) {
            return failed("an event's page", &error);
        }
        // SAFETY: the descriptor is open. Sealed against shrinking, the page cannot go away under those who map it.
        unsafe {
            libc::fcntl(
                descriptor,
                libc::F_ADD_SEALS,
                libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL,
            )
        };
        let shared = Self::map(file)?;
        shared.page().magic.store(MAGIC, Ordering::Release);
        Ok(shared)
    }

    fn map(file: File) -> HipResult<Arc<Self>> {
        match MmapRaw::map_raw(&file) {
            Ok(map) => Ok(Arc::new(SharedEvent { file, map })),
            Err(error) => failed("an event's page", &error),
        }
    }

    fn page(&self) -> &Page {
        // SAFETY: the mapping has the page's size and alignment, and is sealed against shrinking; all fields are atomics.
        unsafe { &*self.map.as_ptr().cast::<Page>() }
    }

    /// The handle for another process.
    pub fn handle(&self) -> hipIpcEventHandle_t {
        let handle = Handle {
            magic: MAGIC,
            process: std::process::id(),
            descriptor: self.file.as_raw_fd().cast_unsigned(),
            inode: self.file.metadata().map_or(0, |data| data.ino()),
            maker: ipc::process_token(),
            unused: [0; 4],
        };
        // SAFETY: both are 64 bytes of plain data.
        unsafe { std::mem::transmute::<Handle, hipIpcEventHandle_t>(handle) }
    }

    /// Opens the page of another process.
    ///
    /// # Errors
    /// `hipErrorInvalidContext` in the process that made it, `hipErrorInvalidValue` for what is no handle, or of an event that is gone.
    pub fn open(handle: &hipIpcEventHandle_t) -> HipResult<Arc<Self>> {
        // SAFETY: both are 64 bytes of plain data; every bit pattern is a record.
        let handle = unsafe { std::mem::transmute::<hipIpcEventHandle_t, Handle>(*handle) };
        if handle.magic != MAGIC {
            return fail!(hipErrorInvalidValue, "this is no event handle");
        }
        if ipc::is_own(handle.process, handle.maker) {
            return fail!(
                hipErrorInvalidContext,
                "the event handle is of this process: use the event itself"
            );
        }
        let file = handle.file_of(handle.process).or_else(|| {
            let processes = std::fs::read_dir("/proc").ok()?;
            processes
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
                .find_map(|process| handle.file_of(process))
        });
        let Some(file) = file else {
            return fail!(
                hipErrorInvalidValue,
                "the handle's event is gone, or of a process that /proc does not show"
            );
        };
        // SAFETY: the descriptor is open.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return fail!(hipErrorInvalidValue, "the handle is of something else");
        }
        let shared = Self::map(file)?;
        if shared.page().magic.load(Ordering::Acquire) != MAGIC {
            return fail!(hipErrorInvalidValue, "the handle's event is gone");
        }
        Ok(shared)
    }

    /// Takes a number and makes the queue store it when it gets here.
    ///
    /// # Errors
    /// Those of the queue.
    pub fn record(self: &Arc<Self>, queue: &HostQueue, wait: &[Command]) -> HipResult<Command> {
        let number = self.page().recorded.fetch_add(1, Ordering::AcqRel) + 1;
        let shared = Arc::clone(self);
        // Queues may get to their recordings in any order: the greatest stays. On failure too: nobody may wait for ever.
        let store = move |_| {
            shared.page().reached.fetch_max(number, Ordering::AcqRel);
        };
        queue
            .enqueue_host_function(Box::new(store), true, wait)
            .map_err(hip_error)
    }

    /// Makes the queue wait for the last recording.
    ///
    /// # Errors
    /// Those of the queue.
    pub fn wait_in(self: &Arc<Self>, queue: &HostQueue, wait: &[Command]) -> HipResult {
        let number = self.page().recorded.load(Ordering::Acquire);
        let address = (&raw const self.page().reached).cast::<c_void>().addr() as u64;
        // SAFETY: the page lives until the command has ended: the callback below holds it.
        let command = unsafe {
            queue.enqueue_wait_value(
                address,
                ValueWidth::Bits64,
                number,
                u64::MAX,
                ValueCondition::GreaterOrEqual,
                wait,
            )
        }
        .map_err(hip_error)?;
        let shared = Arc::clone(self);
        command.on_complete(move |_| drop(shared));
        Ok(())
    }

    /// Whether the last recording has been reached.
    pub fn is_reached(&self) -> bool {
        let page = self.page();
        page.reached.load(Ordering::Acquire) >= page.recorded.load(Ordering::Acquire)
    }

    /// Waits for the last recording, whichever process made it.
    ///
    /// # Errors
    /// The fault of a device of this process.
    pub fn wait(&self) -> HipResult {
        let number = self.page().recorded.load(Ordering::Acquire);
        let mut pause = Duration::from_micros(10);
        while self.page().reached.load(Ordering::Acquire) < number {
            if let Some(fault) = runtime::current()?.clr.fault() {
                return Err(hip_error(gneiss_clr::Error::Fault(fault)));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_this_process_and_of_nobody_are_refused() {
        let shared = SharedEvent::new().unwrap();
        assert!(shared.is_reached());
        assert_eq!(
            SharedEvent::open(&shared.handle()).err(),
            Some(hipErrorInvalidContext)
        );
        let nothing = hipIpcEventHandle_t { reserved: [0; 64] };
        assert_eq!(
            SharedEvent::open(&nothing).err(),
            Some(hipErrorInvalidValue)
        );
        shared.page().recorded.store(2, Ordering::Relaxed);
        assert!(!shared.is_reached());
    }
}
