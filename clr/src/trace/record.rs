//! The recorder: each thread writes records into chunks of a memory-mapped file.
//!
//! | what | who may touch it |
//! | --- | --- |
//! | a chunk | the thread that claimed it |
//! | `CHUNKS` in the header, the clock pairs | under `Recorder::claim` |
//! | the file's length, and what of it is ready | under `Recorder::length` |
//!
//! A record is written in place, then the chunk's `used` is stored with release order: a reader of the file, or of what a killed process
//! left, finds complete records below `used`. The child of a fork shares the mapping and therefore stops recording.
//!
//! Refuses: to write to a file that exists (another process may be at it); then the file's name gets the process's number.

mod file;
mod memory;
mod range;

use std::{
    cell::Cell,
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use file::Recorder;
#[cfg(test)]
pub(crate) use memory::image;
pub(crate) use memory::{begin_memory, end_memory, switch_thread};
pub use range::{range_begin, range_end};

use super::format::{BlockReason, CHUNK_HEADER, CHUNK_SIZE, CommandKind, FlushReason, at, kind};
use crate::{Event, hsa::Hsa, replay, worker};

/// How many recordings there are: to the file, and of replays in memory.
static ON: AtomicU32 = AtomicU32::new(0);
/// Recording to the file goes on.
static FILE_ON: AtomicBool = AtomicBool::new(false);
static RECORDER: OnceLock<Recorder> = OnceLock::new();
static NEXT_NAME: AtomicU32 = AtomicU32::new(1);
static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

/// Bits of a command's or call's number that count within a thread.
pub(crate) const COUNT_BITS: u32 = 40;

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
    if let Some(recorder) = RECORDER.get().filter(|recorder| recorder.exists()) {
        tracing::info!("recording to {}", recorder.path.display());
        // Without the thread, whoever needs more of the file makes it ready.
        let _ = worker::with_signals_blocked(|| {
            thread::Builder::new()
                .name("gneiss-trace".into())
                .spawn(|| recorder.prepare_ahead())
        });
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

/// At exit: the recording ends in order.
extern "C" fn finish() {
    if !FILE_ON.load(Ordering::Relaxed) {
        return;
    }
    if let Some(recorder) = RECORDER.get() {
        recorder.end();
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
        let Some(recorder) = RECORDER.get().filter(|recorder| recorder.exists()) else {
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

    /// Writes a record: fixed words, then a list.
    #[inline]
    fn put<const N: usize>(&self, kind: u16, a: u32, words: [u64; N], list: &[u64]) {
        let size = 8 * (2 + N + list.len());
        let mut used = self.used.get();
        if used + size > CHUNK_SIZE {
            if CHUNK_HEADER + size > CHUNK_SIZE || !self.next_chunk() {
                return;
            }
            used = self.used.get();
        }
        let time = if self.memory.get() {
            replay::now()
        } else {
            ticks()
        };
        let head = u64::from(kind) | (size as u64 / 8) << 16 | u64::from(a) << 32;
        // SAFETY: the record lies in the thread's own chunk, which is mapped; all offsets are multiples of 8.
        unsafe {
            let chunk = self.chunk.get();
            let place = chunk.add(used).cast::<u64>();
            place.cast::<[u64; 2]>().write([head, time]);
            place.add(2).cast::<[u64; N]>().write(words);
            if !list.is_empty() {
                std::ptr::copy_nonoverlapping(list.as_ptr(), place.add(2 + N), list.len());
            }
            used += size;
            self.used.set(used);
            // Release: who sees `used` sees the record.
            AtomicU32::from_ptr(chunk.add(8).cast()).store(used as u32, Ordering::Release);
        }
    }
}

#[inline]
fn put<const N: usize>(kind: u16, a: u32, words: [u64; N]) {
    let _ = WRITER.try_with(|writer| writer.put(kind, a, words, &[]));
}

/// A new number for a command or event.
pub(crate) fn new_id() -> u64 {
    WRITER.try_with(Writer::new_id).unwrap_or(0)
}

/// Writes a name, and gives its number.
pub(crate) fn name(text: &str) -> u32 {
    let id = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
    let bytes = &text.as_bytes()[..text.len().min(4096)];
    let words: Vec<u64> = bytes
        .chunks(8)
        .map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_le_bytes(word)
        })
        .collect();
    let _ = WRITER.try_with(|writer| writer.put(kind::NAME, id, [bytes.len() as u64], &words));
    id
}

pub(crate) fn device(index: usize, text: &str) {
    if on() {
        let name = name(text);
        put(kind::DEVICE, index as u32, [name.into()]);
    }
}

pub(crate) fn queue(id: u64, device: usize, priority: u8, flags: u16) {
    if on() {
        let word = device as u64 & 0xff | u64::from(priority) << 8 | u64::from(flags) << 16;
        put(kind::QUEUE, id as u32, [word]);
    }
}

pub(crate) fn queue_name(id: u64, text: &str) {
    if on() {
        let name = name(text);
        put(kind::QUEUE_NAME, id as u32, [name.into()]);
    }
}

pub(crate) fn queue_end(id: u64) {
    if on() {
        put(kind::QUEUE_END, id as u32, []);
    }
}

pub(crate) fn hw_queue(id: u32, device: usize, priority: u8, flags: u16, packets: u64) {
    if on() {
        let word = device as u64 & 0xff
            | u64::from(priority) << 8
            | u64::from(flags) << 16
            | packets << 32;
        put(kind::HW_QUEUE, id, [word]);
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
            writer.put(kind::ENQUEUE, queue, words, &[]);
        } else if waits <= 8 {
            let mut list = [0; 8];
            for (place, event) in list.iter_mut().zip(wait_list) {
                *place = event.0.trace_id();
            }
            writer.put(kind::ENQUEUE, queue, words, &list[..waits]);
        } else {
            let list: Vec<u64> = wait_list[..waits]
                .iter()
                .map(|event| event.0.trace_id())
                .collect();
            writer.put(kind::ENQUEUE, queue, words, &list);
        }
    });
}

/// A command has gone to an engine.
pub(crate) fn submit(command: u64, engine: u8, hw_queue: u32, packet: u64, signal: u64) {
    put(
        kind::SUBMIT,
        u32::from(engine) | hw_queue << 8,
        [command, packet, signal],
    );
}

pub(crate) fn blocked(reason: BlockReason, command: u64, on: u64) {
    put(kind::BLOCKED, reason as u32, [command, on]);
}

pub(crate) fn batch(reason: FlushReason, commands: usize, queue: u64, signal: u64, hw_queue: u32) {
    put(
        kind::BATCH,
        reason as u32 | (commands.min(0xff_ffff) as u32) << 8,
        [queue, signal, hw_queue.into()],
    );
}

pub(crate) fn done(command: u64, status: i32, start: u64, end: u64) {
    put(kind::DONE, status as u32, [command, start, end]);
}

/// An API call begins on this thread; commands enqueued until [`call_end`] belong to it. Gives what `call_end` wants back. Calls nest: the
/// outer one goes on when the inner one ends.
pub fn call_begin(id: &super::NameId, name: &str) -> (u64, u64) {
    let id = id.get(name);
    WRITER
        .try_with(|writer| {
            let call = writer.new_id();
            writer.put(kind::CALL_BEGIN, id, [call], &[]);
            (call, writer.call.replace(call))
        })
        .unwrap_or((0, 0))
}

/// The call that [`call_begin`] began has ended with a status of its API.
pub fn call_end((call, outer): (u64, u64), status: u32) {
    let _ = WRITER.try_with(|writer| {
        writer.put(kind::CALL_END, status, [call], &[]);
        writer.call.set(outer);
    });
}

/// A thread begins to wait for a command.
pub(crate) fn wait_begin(what: u32, command: u64) {
    put(kind::WAIT_BEGIN, what, [command]);
}

pub(crate) fn wait_end(what: u32, command: u64) {
    put(kind::WAIT_END, what, [command]);
}

pub(crate) fn user_event(event: u64, status: i32) {
    put(kind::USER_EVENT, status as u32, [event]);
}

pub(crate) fn flush(queue: u64) {
    let _ = WRITER.try_with(|writer| {
        writer.put(kind::FLUSH, queue as u32, [writer.call.get()], &[]);
    });
}
