//! The file that is recorded to: its header, its growth, its chunks.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    thread::Thread,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;

use super::ticks;
use crate::{
    hsa::Hsa,
    trace::format::{self, CHUNK_HEADER, CHUNK_MAGIC, CHUNK_SIZE, HEADER_SIZE, at},
};

/// Address space that the file may use.
const LIMIT: usize = 64 << 30;
/// The file grows by this.
const STEP: usize = 4 << 20;
/// So much of the file is made ready at a time.
const READY_STEP: usize = 256 << 10;
/// So much of the file that is ready is kept before the newest chunk.
const AHEAD: usize = 2 << 20;
static ZEROS: [u8; READY_STEP] = [0; READY_STEP];

/// What is recorded to. Without a mapping nothing is: the file could not be made.
pub(super) struct Recorder {
    base: *mut u8,
    limit: usize,
    file: File,
    /// Whoever claims a chunk, or notes the clocks.
    claim: Mutex<()>,
    /// Bytes that the file has; whoever makes more of it ready.
    length: Mutex<usize>,
    /// Bytes from the begin whose pages are in memory and mapped.
    ready: AtomicUsize,
    /// The thread that makes the file ready ahead of its use.
    preparer: OnceLock<Thread>,
    clock: Option<&'static Hsa>,
    pub(super) path: PathBuf,
}

// SAFETY: the mapping lives as long as the process; who may write where is in the recorder's text.
unsafe impl Send for Recorder {}
// SAFETY: as above.
unsafe impl Sync for Recorder {}

impl Recorder {
    /// No file.
    pub(super) fn none() -> Self {
        Self {
            base: std::ptr::null_mut(),
            limit: 0,
            file: File::open("/dev/null").expect("/dev/null can be opened"),
            claim: Mutex::default(),
            length: Mutex::new(0),
            ready: AtomicUsize::new(0),
            preparer: OnceLock::new(),
            clock: None,
            path: PathBuf::new(),
        }
    }

    /// Whether there is a file.
    pub(super) fn exists(&self) -> bool {
        !self.base.is_null()
    }

    /// Makes the file, with the process's number in its name if there is one of that name.
    pub(super) fn create(path: &Path, times: bool, clock: &'static Hsa) -> io::Result<Self> {
        let open = |path: &Path| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)
        };
        let mut path = path.to_owned();
        let file = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut name = OsString::from(path.as_os_str());
                name.push(format!(".{}", std::process::id()));
                path = name.into();
                open(&path)?
            }
            other => other?,
        };
        if let Err(error) = extend(&file, 0, STEP) {
            // Nothing is recorded, and an empty file would say that something was.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let mut limit = LIMIT;
        let base = loop {
            // SAFETY: a new mapping at an address of the kernel's choice; only pages below the file's length are touched.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    limit,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                    file.as_raw_fd(),
                    0,
                )
            };
            if base != libc::MAP_FAILED {
                break base.cast::<u8>();
            }
            if limit <= 2 * STEP {
                return Err(io::Error::last_os_error());
            }
            limit /= 4;
        };
        let this = Self {
            base,
            limit,
            file,
            claim: Mutex::default(),
            length: Mutex::new(STEP),
            ready: AtomicUsize::new(HEADER_SIZE),
            preparer: OnceLock::new(),
            clock: Some(clock),
            path,
        };
        this.write_header(times);
        Ok(this)
    }

    fn write_header(&self, times: bool) {
        let word = |offset: usize, value: u64| self.word(offset).store(value, Ordering::Relaxed);
        let half = |offset: usize, value: u32| {
            // SAFETY: in the header, which is mapped, aligned to 4.
            unsafe { AtomicU32::from_ptr(self.base.add(offset).cast()) }
                .store(value, Ordering::Relaxed);
        };
        half(at::VERSION, format::VERSION);
        half(at::HEADER_SIZE, HEADER_SIZE as u32);
        half(at::CHUNK_SIZE, CHUNK_SIZE as u32);
        half(at::PROCESS, std::process::id());
        word(at::FLAGS, if times { format::FLAG_TIMES } else { 0 });
        let wall = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as u64);
        word(at::WALL, wall);
        let first = self.clocks();
        word(at::FIRST_PAIR, first.0);
        word(at::FIRST_PAIR + 8, first.1);
        // A first measure, for processes that are killed before there is a second pair.
        let (begin, start) = (ticks(), Instant::now());
        while start.elapsed() < Duration::from_micros(500) {
            std::hint::spin_loop();
        }
        let ticks_per_second =
            (ticks() - begin) as f64 / start.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        word(at::TICKS, ticks_per_second as u64);
        let line: Vec<u8> = std::env::args_os()
            .flat_map(|argument| {
                let mut bytes = argument.into_encoded_bytes();
                bytes.push(0);
                bytes
            })
            .take(HEADER_SIZE - at::COMMAND_LINE - 4)
            .collect();
        half(at::COMMAND_LINE, line.len() as u32);
        // SAFETY: the header is mapped and has room for what was taken.
        unsafe {
            std::ptr::copy_nonoverlapping(
                line.as_ptr(),
                self.base.add(at::COMMAND_LINE + 4),
                line.len(),
            );
        }
        // Last: a file without the magic is no trace yet.
        word(0, u64::from_le_bytes(format::MAGIC));
    }

    /// A word of the header.
    pub(super) fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: in the header, which is mapped, aligned to 8.
        unsafe { AtomicU64::from_ptr(self.base.add(offset).cast()) }
    }

    /// Both clocks at one moment, as near as can be.
    fn clocks(&self) -> (u64, u64) {
        let mut best = (0, 0);
        let mut width = u64::MAX;
        for _ in 0..8 {
            let before = ticks();
            let now = self.clock.map_or(0, Hsa::timestamp);
            let after = ticks();
            if after - before < width {
                width = after - before;
                best = (before + width / 2, now);
            }
        }
        best
    }

    /// Notes a pair of clocks; under `claim`.
    fn note_clocks(&self) {
        let pair = self.clocks();
        let newest = self.word(at::PAIR);
        let next = if newest.load(Ordering::Relaxed) == 1 {
            2
        } else {
            1
        };
        let place = at::PAIRS + (next as usize - 1) * 16;
        self.word(place).store(pair.0, Ordering::Relaxed);
        self.word(place + 8).store(pair.1, Ordering::Relaxed);
        // Release: the pair is whole before it is the newest.
        newest.store(next, Ordering::Release);
    }

    /// The process ends in order: the last pair of clocks, and the mark.
    pub(super) fn end(&self) {
        let _claim = self.claim.lock();
        self.note_clocks();
        let flags = self.word(at::FLAGS);
        flags.store(
            flags.load(Ordering::Relaxed) | format::FLAG_ENDED,
            Ordering::Release,
        );
        // The file keeps its length: other threads may still write. Its unused part costs a reader nothing.
    }

    /// A new chunk for this thread; none if the file cannot grow.
    pub(super) fn chunk(&self, thread: u32) -> Option<*mut u8> {
        let _claim = self.claim.lock();
        let chunks = self.word(at::CHUNKS);
        let index = chunks.load(Ordering::Relaxed) as usize;
        let start = HEADER_SIZE + index * CHUNK_SIZE;
        let end = start + CHUNK_SIZE;
        if end > self.limit {
            return None;
        }
        // Only if the preparer has not kept up.
        while end > self.ready.load(Ordering::Acquire) {
            self.prepare(end).ok()?;
        }
        self.note_clocks();
        // SAFETY: in the file, and claimed by nobody else.
        let chunk = unsafe {
            let chunk = self.base.add(start);
            let words = chunk.cast::<u32>();
            words.add(1).write(thread);
            words.add(2).write(CHUNK_HEADER as u32);
            words.add(3).write(libc::gettid() as u32);
            words.write(CHUNK_MAGIC);
            chunk
        };
        // Release: the chunk's header is whole before it counts.
        chunks.store(index as u64 + 1, Ordering::Release);
        if let Some(preparer) = self.preparer.get() {
            preparer.unpark();
        }
        Some(chunk)
    }

    /// Makes one step more of the file ready unless that much is.
    ///
    /// A page of a file that is first touched through a mapping costs the file system several times what writing it costs. So it is written
    /// first, then mapped.
    fn prepare(&self, wanted: usize) -> io::Result<()> {
        let mut length = self.length.lock();
        let ready = self.ready.load(Ordering::Relaxed);
        if ready >= wanted {
            return Ok(());
        }
        if ready == *length {
            extend(&self.file, *length, *length + STEP)?;
            *length += STEP;
        }
        let step = READY_STEP.min(*length - ready);
        self.file.write_all_at(&ZEROS[..step], ready as u64)?;
        // SAFETY: in the mapping, and of the file. The advice only maps the pages; kernels that do not know it refuse it.
        unsafe {
            libc::madvise(self.base.add(ready).cast(), step, libc::MADV_POPULATE_WRITE);
        }
        // Release: what was written is there for whoever claims a chunk of it.
        self.ready.store(ready + step, Ordering::Release);
        Ok(())
    }

    /// Keeps a part of the file ready ahead of the chunks that are in use, for good.
    pub(super) fn prepare_ahead(&self) {
        let _ = self.preparer.set(std::thread::current());
        loop {
            let chunks = self.word(at::CHUNKS).load(Ordering::Relaxed) as usize;
            let wanted = (HEADER_SIZE + chunks * CHUNK_SIZE + AHEAD).min(self.limit);
            if self.ready.load(Ordering::Relaxed) >= wanted {
                std::thread::park();
            } else if self.prepare(wanted).is_err() {
                // Whoever needs a chunk hears of it.
                return;
            }
        }
    }
}

/// Makes the file longer, with its blocks allocated where the file system can: a full disk is then an error here, not a signal later.
fn extend(file: &File, from: usize, to: usize) -> io::Result<()> {
    // SAFETY: a plain system call on an open file.
    let result = unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            0,
            from as libc::off_t,
            (to - from) as libc::off_t,
        )
    };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS) => file.set_len(to as u64),
        _ => Err(error),
    }
}
