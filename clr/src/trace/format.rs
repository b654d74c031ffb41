//! The trace file's layout and numbers.
//!
#![doc = include_str!("../../../docs/trace-format.md")]

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
