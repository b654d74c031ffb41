//! A trace file as a row of records: its header, its chunks, and the records of all threads in the order of their times.
//!
//! What lengths and offsets say is checked; what cannot be read is left out and told in the trace's problems.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap, VecDeque},
    io::{self, Read, Seek, SeekFrom},
};

use super::format::{self, CHUNK_HEADER, CHUNK_MAGIC, at};
use super::{ThreadInfo, Trace, TraceError};

/// From ticks and HSA nanoseconds to nanoseconds from the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    ticks: u64,
    nanoseconds: u64,
    per_tick: f64,
}

impl Clock {
    /// Of the record clock.
    pub(crate) fn of_ticks(&self, ticks: u64) -> u64 {
        // The first record may be a little older than the pair of clocks.
        let delta = ticks.wrapping_sub(self.ticks) as i64;
        ((delta as f64 * self.per_tick) as i64).max(0) as u64 + 1
    }

    /// Of the HSA clock; 0 stays 0, which means not known.
    pub(crate) fn of_hsa(&self, nanoseconds: u64) -> u64 {
        if nanoseconds == 0 {
            0
        } else {
            nanoseconds.saturating_sub(self.nanoseconds) + 1
        }
    }
}

/// A trace file whose header has been read.
pub(crate) struct TraceFile<R> {
    file: R,
    /// What the header says; chunks add their problems and threads.
    pub(crate) trace: Trace,
    /// The file's clock.
    pub(crate) clock: Clock,
    header_size: u64,
    chunk_size: usize,
    chunks: u64,
    bytes: Vec<u8>,
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// The file ends before it.
    End,
    /// It is not one.
    Bad,
    /// Records of the thread with that number.
    Of(u32),
}

impl<R: Read + Seek> TraceFile<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TraceError`].
    pub(crate) fn open(mut file: R) -> Result<Self, TraceError> {
        let mut header = vec![0; format::HEADER_SIZE];
        let got = read_up_to(&mut file, &mut header)?;
        let begin = got.min(8);
        if header[..begin] != format::MAGIC[..begin] {
            return Err(TraceError::NoTrace);
        }
        if got == 0 {
            return Err(TraceError::BadHeader("the file is empty".into()));
        }
        // What follows are measures of the rest.
        if got < at::FLAGS {
            return Err(TraceError::BadHeader(format!(
                "the file is cut at byte {got}"
            )));
        }
        let mut trace = Trace::default();
        if got < header.len() {
            trace
                .problems
                .push(format!("the file is cut within its header, at byte {got}"));
        }
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
        trace.version = half(at::VERSION);
        if trace.version > format::VERSION {
            trace.problems.push(format!(
                "the file has version {}, newer than {}: kinds of record that are not known are left out",
                trace.version,
                format::VERSION
            ));
        }
        let header_size = u64::from(half(at::HEADER_SIZE));
        let chunk_size = half(at::CHUNK_SIZE) as usize;
        if !(CHUNK_HEADER + 16..=1 << 28).contains(&chunk_size) || !chunk_size.is_multiple_of(8) {
            return Err(TraceError::BadHeader(format!(
                "chunks of {chunk_size} bytes"
            )));
        }
        trace.process = half(at::PROCESS);
        trace.wall = word(at::WALL);
        trace.ended = word(at::FLAGS) & format::FLAG_ENDED != 0;
        trace.timed = word(at::FLAGS) & format::FLAG_TIMES != 0;
        let length = (half(at::COMMAND_LINE) as usize).min(header.len() - at::COMMAND_LINE - 4);
        let line = &header[at::COMMAND_LINE + 4..][..length];
        trace.arguments = line
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty())
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        let lost = word(at::LOST);
        if lost > 0 {
            trace.problems.push(format!(
                "{lost} records or more are missing: the file could not grow"
            ));
        }
        Ok(Self {
            clock: clock(word),
            chunks: word(at::CHUNKS),
            file,
            trace,
            header_size,
            chunk_size,
            bytes: vec![0; chunk_size],
        })
    }

    /// Chunks that the file should have.
    pub(crate) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Bytes that the file has.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn length(&mut self) -> io::Result<u64> {
        self.file.seek(SeekFrom::End(0))
    }

    fn position(&self, index: u64) -> u64 {
        let offset = index.saturating_mul(self.chunk_size as u64);
        self.header_size.saturating_add(offset)
    }

    /// The thread of a chunk, from its header alone; none if the file ends before it.
    fn peek(&mut self, index: u64) -> io::Result<Option<u32>> {
        self.file.seek(SeekFrom::Start(self.position(index)))?;
        let mut header = [0; 8];
        let got = read_up_to(&mut self.file, &mut header)?;
        let thread = u32::from_le_bytes(std::array::from_fn(|byte| header[4 + byte]));
        Ok((got > 0).then_some(thread))
    }

    /// Reads a chunk's records.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn chunk(&mut self, index: u64, words: &mut Vec<u64>) -> io::Result<Chunk> {
        words.clear();
        self.file.seek(SeekFrom::Start(self.position(index)))?;
        let got = read_up_to(&mut self.file, &mut self.bytes)?;
        let problems = &mut self.trace.problems;
        if got < self.chunk_size {
            problems.push(format!(
                "the file is cut: chunk {index} of {} has {got} of {} bytes, the rest is missing",
                self.chunks, self.chunk_size
            ));
        }
        if got == 0 {
            return Ok(Chunk::End);
        }
        let bytes = &self.bytes[..got];
        let half = |at: usize| -> Option<u32> {
            let bytes = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        let (Some(magic), Some(thread), Some(used), Some(tid)) =
            (half(0), half(4), half(8), half(12))
        else {
            return Ok(Chunk::Bad);
        };
        if magic != CHUNK_MAGIC {
            problems.push(format!(
                "chunk {index} does not begin as a chunk does; it is left out"
            ));
            return Ok(Chunk::Bad);
        }
        let mut used = used as usize;
        if used > bytes.len() {
            if used > format::CHUNK_SIZE {
                problems.push(format!(
                    "chunk {index} says that it has {used} bytes; only what it has is read"
                ));
            }
            used = bytes.len();
        }
        let records = bytes[..used].get(CHUNK_HEADER..).unwrap_or_default();
        words.extend(
            records
                .chunks_exact(8)
                .map(|part| u64::from_le_bytes(std::array::from_fn(|byte| part[byte]))),
        );
        self.trace
            .threads
            .insert(thread, ThreadInfo { index: thread, tid });
        Ok(Chunk::Of(thread))
    }

    /// The length of the record at a place of a chunk, in words; none at the end, and where it is impossible, which is told.
    pub(crate) fn record(&mut self, index: u64, words: &[u64], at: usize) -> Option<usize> {
        let count = (words.get(at)? >> 16 & 0xffff) as usize;
        if count < 2 || count > words.len() - at {
            self.trace.problems.push(format!(
                "chunk {index}: a record at byte {} claims {count} words; the rest of the chunk is left out",
                CHUNK_HEADER + 8 * at
            ));
            return None;
        }
        Some(count)
    }
}

/// The clock that the header's pairs give.
fn clock(word: impl Fn(usize) -> u64) -> Clock {
    let (ticks, nanoseconds) = (word(at::FIRST_PAIR), word(at::FIRST_PAIR + 8));
    let mut per_tick = 1e9 / (word(at::TICKS).max(1) as f64);
    let newest = word(at::PAIR);
    if (1..=2).contains(&newest) {
        let place = at::PAIRS + (newest as usize - 1) * 16;
        let (later_ticks, later) = (word(place), word(place + 8));
        // Only a pair that is some way off is better than the first measure.
        if later > nanoseconds + 2_000_000 && later_ticks > ticks {
            per_tick = (later - nanoseconds) as f64 / (later_ticks - ticks) as f64;
        }
    }
    Clock {
        ticks,
        nanoseconds,
        per_tick,
    }
}

fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// The text of a record whose words are a length in bytes and the bytes.
pub(crate) fn text(words: &[u64]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .skip(1)
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let length = words.first().map_or(0, |length| *length as usize);
    String::from_utf8_lossy(&bytes[..length.min(bytes.len())]).into_owned()
}

/// What is missing, as it is told at the end.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// Records about commands that are not in the file.
    pub(crate) strangers: u64,
    /// Records of unknown kinds.
    pub(crate) unknown: BTreeMap<u16, u64>,
    /// Commands of unknown kinds.
    pub(crate) unknown_commands: BTreeMap<u8, u64>,
}

impl Gaps {
    /// Adds a line for each. `open`: commands that had not ended.
    pub(crate) fn tell(self, open: usize, trace: &mut Trace) {
        let problems = &mut trace.problems;
        if self.strangers > 0 {
            problems.push(format!(
                "{} records are about commands whose enqueuing is not in the file",
                self.strangers
            ));
        }
        for (kind, count) in self.unknown_commands {
            problems.push(format!(
                "{count} commands of kind {kind}, which is not known, are left out"
            ));
        }
        for (kind, count) in self.unknown {
            problems.push(format!(
                "{count} records of kind {kind}, which is not known, are left out"
            ));
        }
        if !trace.ended {
            problems.push(format!(
                "the process did not end in order: the file has what was recorded up to then ({open} commands had not ended)"
            ));
        }
    }
}

/// The records of all threads in the order of their times. It holds one chunk for each thread.
pub(crate) struct Ordered<R> {
    /// The file.
    pub(crate) file: TraceFile<R>,
    threads: Vec<Place>,
    /// Times of the threads' next records; the thread at work is not in it.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    current: Option<usize>,
}

/// Where a thread's records stand.
struct Place {
    thread: u32,
    chunks: VecDeque<u64>,
    index: u64,
    words: Vec<u64>,
    at: usize,
    /// Words of the next record.
    length: usize,
}

impl<R: Read + Seek> Ordered<R> {
    /// Finds the chunks of each thread.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn new(mut file: TraceFile<R>) -> io::Result<Self> {
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut threads: Vec<Place> = Vec::new();
        for index in 0..file.chunks() {
            let Some(thread) = file.peek(index)? else {
                // Tells that the file is cut.
                file.chunk(index, &mut Vec::new())?;
                break;
            };
            let place = *places.entry(thread).or_insert_with(|| {
                threads.push(Place {
                    thread,
                    chunks: VecDeque::new(),
                    index: 0,
                    words: Vec::new(),
                    at: 0,
                    length: 0,
                });
                threads.len() - 1
            });
            threads[place].chunks.push_back(index);
        }
        let mut this = Self {
            file,
            threads,
            waiting: BinaryHeap::new(),
            current: None,
        };
        for place in 0..this.threads.len() {
            if let Some(time) = this.find(place)? {
                this.waiting.push(Reverse((time, place)));
            }
        }
        Ok(this)
    }

    /// The next record, and whose it is.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u32, &[u64])>> {
        if let Some(place) = self.current.take() {
            let cursor = &mut self.threads[place];
            cursor.at += cursor.length;
            if let Some(time) = self.find(place)? {
                match self.waiting.peek() {
                    Some(Reverse(first)) if *first < (time, place) => {
                        self.waiting.push(Reverse((time, place)));
                    }
                    _ => self.current = Some(place),
                }
            }
        }
        if self.current.is_none() {
            self.current = self.waiting.pop().map(|Reverse((_, place))| place);
        }
        Ok(self.current.map(|place| {
            let cursor = &self.threads[place];
            (cursor.thread, &cursor.words[cursor.at..][..cursor.length])
        }))
    }

    /// Goes to a thread's next record, in its next chunk if need be; its time.
    fn find(&mut self, place: usize) -> io::Result<Option<u64>> {
        let cursor = &mut self.threads[place];
        loop {
            if let Some(length) = self.file.record(cursor.index, &cursor.words, cursor.at) {
                cursor.length = length;
                return Ok(Some(cursor.words[cursor.at + 1]));
            }
            cursor.at = 0;
            let Some(index) = cursor.chunks.pop_front() else {
                cursor.words = Vec::new();
                return Ok(None);
            };
            cursor.index = index;
            self.file.chunk(index, &mut cursor.words)?;
        }
    }
}
