//! The recorder: each thread writes records into chunks of a memory-mapped file.
//!
//! | what | who may touch it |
//! | --- | --- |
//! | a chunk | the thread that claimed it |
//! | `CHUNKS` in the header | claimed with one atomic addition |
//! | the file's length, the clock pairs | under `Recorder::grow` |
//!
//! A record is written in place, then the chunk's `used` is stored with release order: a reader of the file, or of what a killed process
//! left, finds complete records below `used`. The child of a fork shares the mapping and therefore stops recording.
//!
//! Refuses: to write to a file that exists (another process may be at it); then the file's name gets the process's number.

mod memory;
mod range;

use std::{
    cell::Cell,
    ffi::OsString,
    fs::{File, OpenOptions},
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

pub(crate) use memory::{begin_memory, end_memory, switch_thread};
use parking_lot::Mutex;
pub use range::{range_begin, range_end};

use super::format::{
    self, BlockReason, CHUNK_HEADER, CHUNK_MAGIC, CHUNK_SIZE, CommandKind, FlushReason,
    HEADER_SIZE, at, kind,
};
use crate::{Event, hsa::Hsa, replay};

/// How many recordings there are: to the file, and of replays in memory.
static ON: AtomicU32 = AtomicU32::new(0);
/// Recording to the file goes on.
static FILE_ON: AtomicBool = AtomicBool::new(false);
static RECORDER: OnceLock<Recorder> = OnceLock::new();
static NEXT_NAME: AtomicU32 = AtomicU32::new(1);
static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

/// Address space that the file may use.
const LIMIT: usize = 64 << 30;
/// The file grows by this.
const STEP: usize = 4 << 20;
/// Bits of a command's or call's number that count within a thread.
pub(crate) const COUNT_BITS: u32 = 40;

struct Recorder {
    base: *mut u8,
    limit: usize,
    file: File,
    /// Bytes that the file has.
    grow: Mutex<usize>,
    clock: Option<&'static Hsa>,
    path: PathBuf,
}

// SAFETY: the mapping lives as long as the process; who may write where is in the module text.
unsafe impl Send for Recorder {}
// SAFETY: as above.
unsafe impl Sync for Recorder {}

/// Whether the recorder is on.
#[inline]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed) != 0
}

/// Ticks of the record clock: the processor's time stamp counter, which is constant and common to all processors on hosts that this
/// runtime supports.
#[inline]
fn ticks() -> u64 {
    // SAFETY: the instruction exists on every x86-64 processor.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Starts recording to a file. `clock`: the library whose clock devices give times in. Only the first call has an effect.
pub(crate) fn start(path: &Path, times: bool, clock: &'static Hsa) {
    let mut failure = None;
    RECORDER.get_or_init(|| match Recorder::create(path, times, clock) {
        Ok(recorder) => recorder,
        Err(error) => {
            failure = Some(error);
            Recorder::none()
        }
    });
    if let Some(error) = failure {
        eprintln!("gneiss: cannot record to {}: {error}", path.display());
        return;
    }
    if let Some(recorder) = RECORDER.get().filter(|recorder| !recorder.base.is_null()) {
        tracing::info!("recording to {}", recorder.path.display());
        FILE_ON.store(true, Ordering::Release);
        ON.fetch_add(1, Ordering::Release);
        // SAFETY: plain registrations of functions of this file.
        unsafe {
            libc::atexit(finish);
            libc::pthread_atfork(None, None, Some(stop_in_child));
        }
    }
}

/// Stops recording in the child of a fork.
extern "C" fn stop_in_child() {
    FILE_ON.store(false, Ordering::Relaxed);
    ON.store(0, Ordering::Relaxed);
}

/// At exit: the last pair of clocks, the mark that the process ended in order, and the file's true length.
extern "C" fn finish() {
    if !FILE_ON.load(Ordering::Relaxed) {
        return;
    }
    if let Some(recorder) = RECORDER.get() {
        let _length = recorder.grow.lock();
        recorder.note_clocks();
        let flags = recorder.word(at::FLAGS);
        flags.store(
            flags.load(Ordering::Relaxed) | format::FLAG_ENDED,
            Ordering::Release,
        );
        // The file keeps its length: other threads may still write. Its unused part costs a reader nothing.
    }
}

impl Recorder {
    fn none() -> Self {
        Self {
            base: std::ptr::null_mut(),
            limit: 0,
            file: File::open("/dev/null").expect("/dev/null can be opened"),
            grow: Mutex::new(0),
            clock: None,
            path: PathBuf::new(),
        }
    }

    fn create(path: &Path, times: bool, clock: &'static Hsa) -> io::Result<Self> {
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
        extend(&file, 0, STEP)?;
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
            grow: Mutex::new(STEP),
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

    fn word(&self, offset: usize) -> &AtomicU64 {
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

    /// Notes a pair of clocks; under `grow`.
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

    /// A new chunk for this thread; none if the file cannot grow.
    fn chunk(&self, thread: u32) -> Option<*mut u8> {
        let mut length = self.grow.lock();
        let chunks = self.word(at::CHUNKS);
        let index = chunks.load(Ordering::Relaxed) as usize;
        let start = HEADER_SIZE + index * CHUNK_SIZE;
        let end = start + CHUNK_SIZE;
        if end > self.limit {
            return None;
        }
        if end > *length {
            extend(&self.file, *length, *length + STEP).ok()?;
            *length += STEP;
        }
        self.note_clocks();
        // SAFETY: below the file's length, and claimed by nobody else. The advice only maps the pages ahead of their use; kernels that do not
        // know it refuse it.
        unsafe {
            let chunk = self.base.add(start);
            libc::madvise(chunk.cast(), CHUNK_SIZE, libc::MADV_POPULATE_WRITE);
            let words = chunk.cast::<u32>();
            words.add(1).write(thread);
            words.add(2).write(CHUNK_HEADER as u32);
            words.add(3).write(libc::gettid() as u32);
            words.write(CHUNK_MAGIC);
            chunks.store(index as u64 + 1, Ordering::Release);
            Some(chunk)
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

/// What a thread writes to. Plain cells without a destructor, so that it works in the thread's own destructors, too.
struct Writer {
    chunk: Cell<*mut u8>,
    used: Cell<usize>,
    /// The thread's number plus 1; 0: none yet.
    thread: Cell<u32>,
    /// Commands, events and calls numbered so far.
    count: Cell<u64>,
    /// The API call that the thread is in; 0: none.
    call: Cell<u64>,
    /// The thread replays: it records into memory, in virtual time.
    memory: Cell<bool>,
}

thread_local! {
    static WRITER: Writer = const {
        Writer {
            chunk: Cell::new(std::ptr::null_mut()),
            used: Cell::new(CHUNK_SIZE),
            thread: Cell::new(0),
            count: Cell::new(0),
            call: Cell::new(0),
            memory: Cell::new(false),
        }
    };
}

impl Writer {
    fn thread(&self) -> u32 {
        if self.thread.get() == 0 {
            self.thread
                .set(NEXT_THREAD.fetch_add(1, Ordering::Relaxed) + 1);
        }
        self.thread.get() - 1
    }

    /// A number that no other command, event or call of the process has; not 0.
    fn new_id(&self) -> u64 {
        let count = self.count.get() + 1;
        self.count.set(count);
        u64::from(self.thread()) << COUNT_BITS | count
    }

    #[cold]
    fn next_chunk(&self) -> bool {
        if self.memory.get() {
            return memory::next_chunk(self);
        }
        if !FILE_ON.load(Ordering::Relaxed) {
            return false;
        }
        let Some(recorder) = RECORDER.get().filter(|recorder| !recorder.base.is_null()) else {
            return false;
        };
        match recorder.chunk(self.thread()) {
            Some(chunk) => {
                self.chunk.set(chunk);
                self.used.set(CHUNK_HEADER);
                true
            }
            None => {
                recorder.word(at::LOST).fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }

    #[inline]
    fn put(&self, kind: u16, a: u32, words: &[&[u64]]) {
        let count = 2 + words.iter().map(|part| part.len()).sum::<usize>();
        let mut used = self.used.get();
        if used + 8 * count > CHUNK_SIZE {
            if CHUNK_HEADER + 8 * count > CHUNK_SIZE || !self.next_chunk() {
                return;
            }
            used = self.used.get();
        }
        let time = if self.memory.get() {
            replay::now()
        } else {
            ticks()
        };
        // SAFETY: the record lies in the thread's own chunk, which is mapped; all offsets are multiples of 8.
        unsafe {
            let chunk = self.chunk.get();
            let mut place = chunk.add(used).cast::<u64>();
            place.write(u64::from(kind) | (count as u64) << 16 | u64::from(a) << 32);
            place.add(1).write(time);
            place = place.add(2);
            for part in words {
                std::ptr::copy_nonoverlapping(part.as_ptr(), place, part.len());
                place = place.add(part.len());
            }
            used += 8 * count;
            self.used.set(used);
            // Release: who sees `used` sees the record.
            AtomicU32::from_ptr(chunk.add(8).cast()).store(used as u32, Ordering::Release);
        }
    }
}

#[inline]
fn put(kind: u16, a: u32, words: &[u64]) {
    let _ = WRITER.try_with(|writer| writer.put(kind, a, &[words]));
}

/// A new number for a command or event.
pub(crate) fn new_id() -> u64 {
    WRITER.try_with(Writer::new_id).unwrap_or(0)
}

/// Writes a name, and gives its number.
pub(crate) fn name(text: &str) -> u32 {
    let id = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
    let bytes = &text.as_bytes()[..text.len().min(4096)];
    let mut words = vec![bytes.len() as u64];
    words.extend(bytes.chunks(8).map(|part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    }));
    put(kind::NAME, id, &words);
    id
}

pub(crate) fn device(index: usize, text: &str) {
    if on() {
        let name = name(text);
        put(kind::DEVICE, index as u32, &[name.into()]);
    }
}

pub(crate) fn queue(id: u64, device: usize, priority: u8, flags: u16) {
    if on() {
        let word = device as u64 & 0xff | u64::from(priority) << 8 | u64::from(flags) << 16;
        put(kind::QUEUE, id as u32, &[word]);
    }
}

pub(crate) fn queue_name(id: u64, text: &str) {
    if on() {
        let name = name(text);
        put(kind::QUEUE_NAME, id as u32, &[name.into()]);
    }
}

pub(crate) fn queue_end(id: u64) {
    if on() {
        put(kind::QUEUE_END, id as u32, &[]);
    }
}

pub(crate) fn hw_queue(id: u32, device: usize, priority: u8, flags: u16, packets: u64) {
    if on() {
        let word = device as u64 & 0xff
            | u64::from(priority) << 8
            | u64::from(flags) << 16
            | packets << 32;
        put(kind::HW_QUEUE, id, &[word]);
    }
}

/// What is recorded of a command when it is enqueued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enqueued {
    pub(crate) queue: u64,
    pub(crate) command: u64,
    pub(crate) kind: CommandKind,
    pub(crate) name: u32,
    pub(crate) size: u64,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u16; 3],
}

pub(crate) fn enqueue(command: &Enqueued, wait_list: &[Event]) {
    let _ = WRITER.try_with(|writer| {
        let waits = wait_list.len().min(1000);
        let (grid, block) = (command.grid, command.block);
        let words = [
            command.command,
            command.kind as u64 | (waits as u64) << 8 | u64::from(command.name) << 32,
            command.size,
            writer.call.get(),
            u64::from(grid[0]) | u64::from(grid[1]) << 32,
            u64::from(grid[2]) | u64::from(block[0]) << 32 | u64::from(block[1]) << 48,
            block[2].into(),
        ];
        let queue = command.queue as u32;
        if waits == 0 {
            writer.put(kind::ENQUEUE, queue, &[&words]);
        } else if waits <= 8 {
            let mut list = [0; 8];
            for (place, event) in list.iter_mut().zip(wait_list) {
                *place = event.0.trace_id();
            }
            writer.put(kind::ENQUEUE, queue, &[&words, &list[..waits]]);
        } else {
            let list: Vec<u64> = wait_list[..waits]
                .iter()
                .map(|event| event.0.trace_id())
                .collect();
            writer.put(kind::ENQUEUE, queue, &[&words, &list]);
        }
    });
}

/// A command has gone to an engine.
pub(crate) fn submit(command: u64, engine: u8, hw_queue: u32, packet: u64, signal: u64) {
    put(
        kind::SUBMIT,
        u32::from(engine) | hw_queue << 8,
        &[command, packet, signal],
    );
}

pub(crate) fn blocked(reason: BlockReason, command: u64, on: u64) {
    put(kind::BLOCKED, reason as u32, &[command, on]);
}

pub(crate) fn batch(reason: FlushReason, commands: usize, queue: u64, signal: u64, hw_queue: u32) {
    put(
        kind::BATCH,
        reason as u32 | (commands.min(0xff_ffff) as u32) << 8,
        &[queue, signal, hw_queue.into()],
    );
}

pub(crate) fn done(command: u64, status: i32, start: u64, end: u64) {
    put(kind::DONE, status as u32, &[command, start, end]);
}

/// An API call begins on this thread; commands enqueued until [`call_end`] belong to it. Gives what `call_end` wants back. Calls nest: the
/// outer one goes on when the inner one ends.
pub fn call_begin(id: &super::NameId, name: &str) -> (u64, u64) {
    let id = id.get(name);
    WRITER
        .try_with(|writer| {
            let call = writer.new_id();
            writer.put(kind::CALL_BEGIN, id, &[&[call]]);
            (call, writer.call.replace(call))
        })
        .unwrap_or((0, 0))
}

/// The call that [`call_begin`] began has ended with a status of its API.
pub fn call_end((call, outer): (u64, u64), status: u32) {
    let _ = WRITER.try_with(|writer| {
        writer.put(kind::CALL_END, status, &[&[call]]);
        writer.call.set(outer);
    });
}

/// A thread begins to wait for a command.
pub(crate) fn wait_begin(what: u32, command: u64) {
    put(kind::WAIT_BEGIN, what, &[command]);
}

pub(crate) fn wait_end(what: u32, command: u64) {
    put(kind::WAIT_END, what, &[command]);
}

pub(crate) fn user_event(event: u64, status: i32) {
    put(kind::USER_EVENT, status as u32, &[event]);
}

pub(crate) fn flush(queue: u64) {
    let _ = WRITER.try_with(|writer| {
        writer.put(kind::FLUSH, queue as u32, &[&[writer.call.get()]]);
    });
}
