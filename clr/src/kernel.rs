//! Kernels of a program: where they are loaded, what they need, where their arguments go.

use std::sync::{Arc, Weak};

use gneiss_fatbin::{ArgumentMetadata, KernelMetadata, ValueKind};

use crate::{Device, Program, hostcall::PrintfFormats, trace::NameId};

/// The formats of a code object whose printf writes to a buffer.
#[derive(Clone, Debug)]
pub(crate) enum Printf {
    /// There are none.
    None,
    /// OpenCL's.
    Formats(Arc<PrintfFormats>),
    /// Of a form that is not known here.
    Unknown,
}

impl Printf {
    pub(crate) fn new(metadata: &[String]) -> Self {
        if metadata.is_empty() {
            return Self::None;
        }
        PrintfFormats::parse(metadata)
            .map_or(Self::Unknown, |formats| Self::Formats(Arc::new(formats)))
    }
}

/// A kernel, loaded on one device. It is of use only while its [`Program`] is loaded.
#[derive(Debug)]
pub struct Kernel {
    metadata: KernelMetadata,
    explicit: Vec<ArgumentMetadata>,
    hidden: Vec<ArgumentMetadata>,
    /// First byte after the explicit arguments.
    explicit_end: u32,
    object: u64,
    device: Arc<Device>,
    program: Weak<Program>,
    printf: Printf,
    /// Its program has kernels of blocks.
    enqueues: bool,
    trace_name: NameId,
}

impl Kernel {
    pub(crate) fn new(
        metadata: KernelMetadata,
        object: u64,
        device: Arc<Device>,
        program: Weak<Program>,
        printf: Printf,
        enqueues: bool,
    ) -> Self {
        let explicit: Vec<_> = metadata.explicit_args().cloned().collect();
        let hidden = metadata.hidden_args().cloned().collect();
        let explicit_end = explicit
            .iter()
            .map(|argument| argument.offset.saturating_add(argument.size))
            .max()
            .unwrap_or(0);
        Self {
            metadata,
            explicit,
            hidden,
            explicit_end,
            object,
            device,
            program,
            printf,
            enqueues,
            trace_name: NameId::new(),
        }
    }

    /// Name in the source (mangled).
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Number of its name in a trace.
    pub(crate) fn trace_name(&self) -> u32 {
        self.trace_name.get(self.name())
    }

    /// Its metadata.
    pub fn metadata(&self) -> &KernelMetadata {
        &self.metadata
    }

    /// The arguments that the user gives, in the order of the source.
    pub fn explicit_arguments(&self) -> &[ArgumentMetadata] {
        &self.explicit
    }

    /// How a message names one of them: its number, and its name where the code keeps it.
    pub fn argument_name(&self, index: usize) -> String {
        match self.explicit.get(index).and_then(|it| it.name.as_ref()) {
            Some(name) => format!("argument {index} ({name})"),
            None => format!("argument {index}"),
        }
    }

    /// What is wrong with a buffer of packed arguments that is too short: the first argument that does not fit.
    pub fn too_short(&self, given: usize) -> String {
        let end = |argument: &ArgumentMetadata| argument.offset as usize + argument.size as usize;
        let lost = (self.explicit.iter()).position(|argument| end(argument) > given);
        let mut message = format!(
            "kernel {} takes {} bytes of arguments, {given} were given",
            self.name(),
            self.explicit_end
        );
        if let Some(index) = lost {
            let name = self.argument_name(index);
            let (first, past) = (self.explicit[index].offset, end(&self.explicit[index]));
            message.push_str(&format!(
                ": {name}, from byte {first} to {past}, does not fit"
            ));
        }
        message
    }

    /// The arguments that the runtime fills in.
    pub(crate) fn hidden_arguments(&self) -> &[ArgumentMetadata] {
        &self.hidden
    }

    /// How it prints, if it has a hidden argument for a buffer.
    pub(crate) fn printf(&self) -> &Printf {
        &self.printf
    }

    /// Whether it may enqueue kernels, to be launched with [`enqueue_parent`](crate::HostQueue::enqueue_parent).
    pub fn enqueues(&self) -> bool {
        let kinds = [
            ValueKind::HiddenDefaultQueue,
            ValueKind::HiddenCompletionAction,
        ];
        self.enqueues && (self.hidden.iter()).any(|argument| kinds.contains(&argument.value_kind))
    }

    /// Whether device code enqueues it: it is the kernel of a block in the source.
    pub fn is_block(&self) -> bool {
        self.metadata.device_enqueue_symbol.is_some()
    }

    /// First byte after the explicit arguments.
    pub(crate) fn explicit_end(&self) -> u32 {
        self.explicit_end
    }

    /// Address of the kernel descriptor (the packet's kernel object).
    pub fn object(&self) -> u64 {
        self.object
    }

    /// The program that it belongs to, while that is loaded.
    pub fn program(&self) -> Option<Arc<Program>> {
        self.program.upgrade()
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}
