//! The binary trace file, version 1.
//!
//! Everything is little-endian. The file begins with a header of [`HEADER_SIZE`] bytes, then come chunks of [`CHUNK_SIZE`] bytes. Each chunk
//! belongs to one thread and begins with a chunk header; records follow, one behind the other. A chunk's `used` is stored behind each
//! record: what lies below it is complete, whenever the process ends.
//!
//! File header (offsets in bytes):
//!
//! | at | type | what |
//! | --- | --- | --- |
//! | 0 | 8 bytes | `GNEISSTR` |
//! | 8 | u32 | version, 1 |
//! | 12 | u32 | size of this header |
//! | 16 | u32 | size of a chunk |
//! | 20 | u32 | process |
//! | 24 | u64 | ticks of the record clock in a second, as measured at the start |
//! | 32 | u64 | flags: bit 0 the process ended in order, bit 1 commands have times of their own |
//! | 40 | u64 | chunks begun |
//! | 48 | u64 | records lost because the file could not grow |
//! | 56 | u64 | wall clock at the start, nanoseconds since 1970 |
//! | 64 | 2 × u64 | first pair of clocks: ticks, nanoseconds of the HSA clock |
//! | 80 | 2 × 2 × u64 | later pairs; the newest is the one that `pair` names |
//! | 112 | u64 | `pair`: 0 none, 1 the first of the two, 2 the second |
//! | 120 | u32 | length of the command line |
//! | 124 | bytes | the command line, arguments separated by 0 |
//!
//! Chunk header: u32 [`CHUNK_MAGIC`], u32 number of the thread, u32 `used` (bytes from the start of the chunk), u32 thread id of the
//! system, 2 × u64 reserved.
//!
//! A record is a row of 64-bit words. Word 0: bits 0–15 the kind, bits 16–31 the number of words, bits 32–63 a small operand `a`. Word 1:
//! the ticks of the record clock. Readers skip kinds that they do not know, so that later versions may add some, and words at the end of
//! kinds that they know.
//!
//! | kind | `a` | words from 2 |
//! | --- | --- | --- |
//! | 1 name | number | length in bytes, then the text, padded to words |
//! | 2 device | index | number of its name |
//! | 3 queue | number | device \| priority << 8 (0 low, 1 normal, 2 high) \| flags << 16 (1 non-blocking, 2 out of order, 4 CU mask) |
//! | 4 queue name | number of the queue | number of the name |
//! | 5 queue ends | number | |
//! | 6 hardware queue | number | device \| priority << 8 \| flags << 16 (1 cooperative, 2 CU mask, 4 unshared) \| packets << 32 |
//! | 7 enqueue | queue | command; kind \| length of the wait list << 8 \| number of the name << 32; bytes or work-items; call; grid x \| grid y << 32; grid z \| block x << 32 \| block y << 48; block z; then the wait list |
//! | 8 submit | engine (0 host, 1 compute, 2 copy, 3 cooperative) \| hardware queue << 8 | command; index of its last packet; completion signal |
//! | 9 blocked | reason, see [`BlockReason`] | command; what it waits for: a command, an address, or 0 |
//! | 10 batch | reason, see [`FlushReason`] \| commands << 8 | queue; completion signal; hardware queue |
//! | 11 done | status | command; start; end, in nanoseconds of the HSA clock, 0 if not known |
//! | 12 call begins | number of its name | call |
//! | 13 call ends | its status | call |
//! | 14 wait begins | 0 event, 1 queue, 2 room | command |
//! | 15 wait ends | as above | command |
//! | 16 user event | status | event |
//! | 17 flush asked for | queue | call |

/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"GNEISSTR";
/// The version that this crate writes.
pub const VERSION: u32 = 1;
/// Bytes of the file header.
pub const HEADER_SIZE: usize = 4096;
/// Bytes of a chunk.
pub const CHUNK_SIZE: usize = 64 * 1024;
/// First word of a chunk.
pub const CHUNK_MAGIC: u32 = 0x4b4e_4843;
/// Bytes of a chunk header.
pub const CHUNK_HEADER: usize = 32;

/// Offsets in the file header.
pub(crate) mod at {
    pub(crate) const VERSION: usize = 8;
    pub(crate) const HEADER_SIZE: usize = 12;
    pub(crate) const CHUNK_SIZE: usize = 16;
    pub(crate) const PROCESS: usize = 20;
    pub(crate) const TICKS: usize = 24;
    pub(crate) const FLAGS: usize = 32;
    pub(crate) const CHUNKS: usize = 40;
    pub(crate) const LOST: usize = 48;
    pub(crate) const WALL: usize = 56;
    pub(crate) const FIRST_PAIR: usize = 64;
    pub(crate) const PAIRS: usize = 80;
    pub(crate) const PAIR: usize = 112;
    pub(crate) const COMMAND_LINE: usize = 120;
}

/// Bit 0 of the flags: the process ended in order.
pub const FLAG_ENDED: u64 = 1;
/// Bit 1 of the flags: every command has times of its own.
pub const FLAG_TIMES: u64 = 2;

/// Kinds of record.
pub(crate) mod kind {
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DEVICE: u16 = 2;
    pub(crate) const QUEUE: u16 = 3;
    pub(crate) const QUEUE_NAME: u16 = 4;
    pub(crate) const QUEUE_END: u16 = 5;
    pub(crate) const HW_QUEUE: u16 = 6;
    pub(crate) const ENQUEUE: u16 = 7;
    pub(crate) const SUBMIT: u16 = 8;
    pub(crate) const BLOCKED: u16 = 9;
    pub(crate) const BATCH: u16 = 10;
    pub(crate) const DONE: u16 = 11;
    pub(crate) const CALL_BEGIN: u16 = 12;
    pub(crate) const CALL_END: u16 = 13;
    pub(crate) const WAIT_BEGIN: u16 = 14;
    pub(crate) const WAIT_END: u16 = 15;
    pub(crate) const USER_EVENT: u16 = 16;
    pub(crate) const FLUSH: u16 = 17;
}

macro_rules! reasons {
    ($(#[$outer:meta])* $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $value:literal, $text:literal;)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])* $variant = $value,)* }

        impl $name {
            /// All, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// From the number in a file.
            pub fn from_number(number: u8) -> Option<Self> {
                match number { $($value => Some(Self::$variant),)* _ => None }
            }

            /// A word for files and for people.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// From that word.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

reasons! {
    /// What a command is.
    CommandKind {
        /// A kernel.
        Kernel = 0, "kernel";
        /// A copy from host memory to a device.
        WriteBuffer = 1, "write-buffer";
        /// A copy from a device to host memory.
        ReadBuffer = 2, "read-buffer";
        /// A copy between devices, or within one, or within host memory.
        CopyBuffer = 3, "copy-buffer";
        /// A 2D or 3D copy.
        CopyRect = 4, "copy-rect";
        /// A fill.
        FillBuffer = 5, "fill-buffer";
        /// A 2D or 3D fill.
        FillRect = 6, "fill-rect";
        /// Memory is made accessible to the host.
        MapBuffer = 7, "map-buffer";
        /// The host gives it back.
        UnmapBuffer = 8, "unmap-buffer";
        /// Memory is to move to a device.
        Migrate = 9, "migrate";
        /// A marker.
        Marker = 10, "marker";
        /// A barrier: later commands wait, also in an out-of-order queue.
        Barrier = 11, "barrier";
        /// A function of an OpenCL program on the host.
        NativeFunction = 12, "native-function";
        /// A function of a HIP program on the host.
        HostFunction = 13, "host-function";
        /// A wait for a value in memory.
        WaitValue = 14, "wait-value";
        /// A write of a value.
        WriteValue = 15, "write-value";
        /// Objects of another API are taken over.
        AcquireExternal = 16, "acquire-external";
        /// They are given back.
        ReleaseExternal = 17, "release-external";
        /// A copy of shared virtual memory.
        SvmCopy = 18, "svm-copy";
        /// A fill of shared virtual memory.
        SvmFill = 19, "svm-fill";
        /// Shared virtual memory is made accessible to the host.
        SvmMap = 20, "svm-map";
        /// The host gives it back.
        SvmUnmap = 21, "svm-unmap";
        /// Shared virtual memory is freed.
        SvmFree = 22, "svm-free";
        /// Shared virtual memory is to move to a device.
        SvmPrefetch = 23, "svm-prefetch";
        /// Kernels that a kernel has enqueued.
        DeviceEnqueue = 24, "device-enqueue";
    }
}

reasons! {
    /// Why a batch ended.
    FlushReason {
        /// Nothing more was in the queue.
        RanDry = 0, "queue ran dry";
        /// The next command waits for an event.
        WaitList = 1, "wait list of the next command";
        /// The next command is a marker or barrier.
        Marker = 2, "marker";
        /// The next command is a copy by an engine.
        Copy = 3, "copy";
        /// The next command is done by the host, which must see the earlier ones ended.
        HostOperation = 4, "operation of the host";
        /// The batch has as many commands as it may.
        Size = 5, "batch size";
        /// The ring is nearly full.
        RingFull = 6, "ring nearly full";
        /// A cooperative launch goes to another hardware queue.
        Cooperative = 7, "cooperative launch";
        /// Somebody waits for a command of the batch.
        Waiter = 8, "a thread waits for it";
        /// The stream moves to another hardware queue.
        Move = 9, "move to another hardware queue";
        /// The device has faulted.
        Fault = 10, "device fault";
    }
}

reasons! {
    /// Why the head command of a queue could not go on.
    BlockReason {
        /// A command of its wait list is not submitted yet.
        Unsubmitted = 0, "an event that is not submitted";
        /// Submitted work of another queue, waited for by the host.
        CpuWait = 1, "work of another queue (host wait)";
        /// Earlier commands of its own queue must end first.
        Earlier = 2, "earlier commands of its queue";
        /// A value in memory.
        Value = 3, "a value in memory";
        /// Room in the ring, or kernel argument memory, or a signal.
        Room = 4, "room in the hardware queue";
        /// A thread that may run user code.
        Thread = 5, "a worker thread";
        /// A piece of a staged copy.
        Staging = 6, "a piece of a staged copy";
    }
}

reasons! {
    /// Who does a command.
    EngineKind {
        /// The host.
        Host = 0, "host";
        /// Packets of the stream's hardware queue.
        Compute = 1, "compute";
        /// A copy engine.
        Copy = 2, "copy-engine";
        /// The hardware queue for cooperative launches.
        Cooperative = 3, "cooperative";
    }
}
