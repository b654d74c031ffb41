//! The metadata of a code object: what its kernels are called, what they need and which arguments they take.
//!
//! Fields carry the names of LLVM's AMDGPUUsage ("Code Object V3 Metadata" to "V5"), without the leading dot. Required
//! fields that are missing, and fields of the wrong type, are errors that name their path; unknown fields are passed over.

use crate::error::{Error, Result};
use crate::message_pack::{self, Value};

/// The metadata note.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Metadata {
    /// `amdhsa.version`: 1.0 for code object v3, 1.1 for v4, 1.2 for v5 and v6.
    pub version: [u32; 2],
    /// `amdhsa.target`, an ISA name; v4 and later.
    pub target: Option<String>,
    /// `amdhsa.printf`: `ID:N:S0:…:format` for OpenCL's printf.
    pub printf: Vec<String>,
    /// `amdhsa.kernels`.
    pub kernels: Vec<KernelMetadata>,
}

/// What the metadata say about a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KernelMetadata {
    /// The name in the source, mangled.
    pub name: String,
    /// The kernel descriptor's symbol, `<name>.kd`.
    pub symbol: String,
    /// The source language, for example `OpenCL C`.
    pub language: Option<String>,
    /// Version of the language.
    pub language_version: Option<[u32; 2]>,
    /// The arguments in order, hidden ones last.
    pub args: Vec<ArgumentMetadata>,
    /// The work-group size that the kernel must be launched with.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// The work-group size that it is likely launched with.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// OpenCL's `vec_type_hint`.
    pub vec_type_hint: Option<String>,
    /// Symbol of the handle for device-side enqueue.
    pub device_enqueue_symbol: Option<String>,
    /// Kernel argument segment in bytes, hidden arguments included.
    pub kernarg_segment_size: u32,
    /// Alignment of the kernel argument segment in bytes.
    pub kernarg_segment_align: u32,
    /// Static LDS in bytes.
    pub group_segment_fixed_size: u32,
    /// Static scratch of a work-item in bytes.
    pub private_segment_fixed_size: u32,
    /// Whether it may need more scratch than the static part.
    pub uses_dynamic_stack: bool,
    /// Lanes in a wave: 32 or 64.
    pub wavefront_size: u32,
    /// Scalar registers.
    pub sgpr_count: u32,
    /// Vector registers, accumulation registers included where they share a file.
    pub vgpr_count: u32,
    /// Accumulation registers, where the processor has them.
    pub agpr_count: Option<u32>,
    /// Scalar registers that were stored to memory for want of room.
    pub sgpr_spill_count: u32,
    /// Vector registers that were stored to memory for want of room.
    pub vgpr_spill_count: u32,
    /// Most work-items in a work-group.
    pub max_flat_workgroup_size: u32,
    /// Whether every work-group has the same size (no partial groups).
    pub uniform_work_group_size: bool,
    /// Whether a work-group's waves share a WGP (gfx10 and later), where stated.
    pub workgroup_processor_mode: Option<bool>,
    /// Whether the kernel runs at load (`init`) or unload (`fini`).
    pub kind: KernelKind,
}

/// What a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum KernelKind {
    /// Launched by the host.
    #[default]
    Normal,
    /// Runs constructors after loading.
    Init,
    /// Runs destructors before unloading.
    Fini,
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentMetadata {
    /// Its name in the source, when kept.
    pub name: Option<String>,
    /// Its type in the source, when kept.
    pub type_name: Option<String>,
    /// Where it lies in the kernel argument segment, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What it is.
    pub value_kind: ValueKind,
    /// Alignment of what a dynamic LDS pointer points to, in bytes.
    pub pointee_align: Option<u32>,
    /// Address space of a pointer.
    pub address_space: Option<AddressSpace>,
    /// Access that the source declares for an image or pipe.
    pub access: Option<Access>,
    /// Access that the code makes.
    pub actual_access: Option<Access>,
    /// Declared `const`.
    pub is_const: bool,
    /// Declared `restrict`.
    pub is_restrict: bool,
    /// Declared `volatile`.
    pub is_volatile: bool,
    /// An OpenCL pipe.
    pub is_pipe: bool,
}

impl ArgumentMetadata {
    /// An argument of which no more is known than what it is and where it lies.
    pub fn new(value_kind: ValueKind, offset: u32, size: u32) -> Self {
        Self {
            name: None,
            type_name: None,
            offset,
            size,
            value_kind,
            pointee_align: None,
            address_space: None,
            access: None,
            actual_access: None,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            is_pipe: false,
        }
    }
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// The variant that the metadata spell as `text`.
            pub fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The spelling in the metadata.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What a kernel argument is: a value of the caller's, or a hidden one that the runtime fills in.
    ValueKind {
        /// The argument's bytes.
        ByValue = "by_value",
        /// A pointer to global memory.
        GlobalBuffer = "global_buffer",
        /// A pointer to LDS whose size the launch decides.
        DynamicSharedPointer = "dynamic_shared_pointer",
        /// A sampler.
        Sampler = "sampler",
        /// An image.
        Image = "image",
        /// A pipe.
        Pipe = "pipe",
        /// A device queue.
        Queue = "queue",
        /// First global ID in x; u64.
        HiddenGlobalOffsetX = "hidden_global_offset_x",
        /// First global ID in y; u64.
        HiddenGlobalOffsetY = "hidden_global_offset_y",
        /// First global ID in z; u64.
        HiddenGlobalOffsetZ = "hidden_global_offset_z",
        /// Room that nothing is written to.
        HiddenNone = "hidden_none",
        /// The buffer of OpenCL's printf.
        HiddenPrintfBuffer = "hidden_printf_buffer",
        /// The buffer of calls to the host.
        HiddenHostcallBuffer = "hidden_hostcall_buffer",
        /// The default queue for device-side enqueue.
        HiddenDefaultQueue = "hidden_default_queue",
        /// The parent's completion for device-side enqueue.
        HiddenCompletionAction = "hidden_completion_action",
        /// State of a multi-grid barrier.
        HiddenMultigridSyncArg = "hidden_multigrid_sync_arg",
        /// Work-groups in x; u32.
        HiddenBlockCountX = "hidden_block_count_x",
        /// Work-groups in y; u32.
        HiddenBlockCountY = "hidden_block_count_y",
        /// Work-groups in z; u32.
        HiddenBlockCountZ = "hidden_block_count_z",
        /// Work-items of a full work-group in x; u16.
        HiddenGroupSizeX = "hidden_group_size_x",
        /// Work-items of a full work-group in y; u16.
        HiddenGroupSizeY = "hidden_group_size_y",
        /// Work-items of a full work-group in z; u16.
        HiddenGroupSizeZ = "hidden_group_size_z",
        /// Work-items of the partial work-group in x; u16.
        HiddenRemainderX = "hidden_remainder_x",
        /// Work-items of the partial work-group in y; u16.
        HiddenRemainderY = "hidden_remainder_y",
        /// Work-items of the partial work-group in z; u16.
        HiddenRemainderZ = "hidden_remainder_z",
        /// Dimensions of the grid; u16.
        HiddenGridDims = "hidden_grid_dims",
        /// The device heap of malloc.
        HiddenHeapV1 = "hidden_heap_v1",
        /// LDS bytes that the launch adds; u32.
        HiddenDynamicLdsSize = "hidden_dynamic_lds_size",
        /// High half of the private aperture; u32.
        HiddenPrivateBase = "hidden_private_base",
        /// High half of the LDS aperture; u32.
        HiddenSharedBase = "hidden_shared_base",
        /// The queue the kernel runs on.
        HiddenQueuePtr = "hidden_queue_ptr",
    }
}

impl ValueKind {
    /// Whether the runtime fills the argument in.
    pub fn is_hidden(self) -> bool {
        self.as_str().starts_with("hidden_")
    }
}

words! {
    /// The address space of a pointer argument.
    AddressSpace {
        /// Scratch of a work-item.
        Private = "private",
        /// Global memory.
        Global = "global",
        /// Constant memory.
        Constant = "constant",
        /// LDS.
        Local = "local",
        /// Any.
        Generic = "generic",
        /// Memory of a region.
        Region = "region",
    }
}

words! {
    /// Access to an image, pipe or buffer.
    Access {
        /// Read.
        ReadOnly = "read_only",
        /// Write.
        WriteOnly = "write_only",
        /// Both.
        ReadWrite = "read_write",
    }
}

impl Metadata {
    /// Parses the MessagePack of a metadata note.
    ///
    /// # Errors
    /// [`Error::MessagePack`] or [`Error::Metadata`].
    pub fn parse(note: &[u8]) -> Result<Self> {
        let tree = message_pack::parse(note)?;
        let root = Fields::new("", &tree)?;
        let mut kernels = Vec::new();
        for (index, kernel) in root.array("amdhsa.kernels")?.iter().enumerate() {
            kernels.push(kernel_metadata(&Fields::new(
                &format!("amdhsa.kernels[{index}]"),
                kernel,
            )?)?);
        }
        let mut printf = Vec::new();
        for (index, format) in root.array("amdhsa.printf")?.iter().enumerate() {
            match format {
                Value::Str(text) => printf.push((*text).to_owned()),
                _ => {
                    return Err(Error::Metadata {
                        path: format!("amdhsa.printf[{index}]"),
                        reason: "is no string",
                    });
                }
            }
        }
        Ok(Self {
            version: root.numbers("amdhsa.version")?.unwrap_or_default(),
            target: root.string("amdhsa.target")?,
            printf,
            kernels,
        })
    }

    /// The kernel whose descriptor symbol (`<name>.kd`) or, failing that, name is `name`.
    pub fn kernel(&self, name: &str) -> Option<&KernelMetadata> {
        let by_symbol = self.kernels.iter().find(|kernel| kernel.symbol == name);
        by_symbol.or_else(|| self.kernels.iter().find(|kernel| kernel.name == name))
    }
}

impl KernelMetadata {
    /// The arguments that the caller passes.
    pub fn explicit_args(&self) -> impl Iterator<Item = &ArgumentMetadata> {
        self.args.iter().filter(|arg| !arg.value_kind.is_hidden())
    }

    /// The arguments that the runtime fills in.
    pub fn hidden_args(&self) -> impl Iterator<Item = &ArgumentMetadata> {
        self.args.iter().filter(|arg| arg.value_kind.is_hidden())
    }
}

fn kernel_metadata(fields: &Fields<'_, '_>) -> Result<KernelMetadata> {
    let symbol = fields.required_string(".symbol")?;
    let name = match fields.string(".name")? {
        Some(name) => name,
        None => symbol.strip_suffix(".kd").unwrap_or(&symbol).to_owned(),
    };
    let kernarg_segment_size = fields.required_number(".kernarg_segment_size")?;
    let mut args = Vec::new();
    for (index, arg) in fields.array(".args")?.iter().enumerate() {
        let arg = Fields::new(&format!("{}.args[{index}]", fields.path), arg)?;
        let parsed = argument_metadata(&arg)?;
        if parsed
            .offset
            .checked_add(parsed.size)
            .is_none_or(|end| end > kernarg_segment_size)
        {
            return arg.error("", "lies outside the kernel argument segment");
        }
        args.push(parsed);
    }
    let kind = match fields.str(".kind")? {
        None | Some("normal") => KernelKind::Normal,
        Some("init") => KernelKind::Init,
        Some("fini") => KernelKind::Fini,
        Some(_) => return fields.error(".kind", "is not normal, init or fini"),
    };
    Ok(KernelMetadata {
        name,
        symbol,
        language: fields.string(".language")?,
        language_version: fields.numbers(".language_version")?,
        args,
        reqd_workgroup_size: fields.numbers(".reqd_workgroup_size")?,
        workgroup_size_hint: fields.numbers(".workgroup_size_hint")?,
        vec_type_hint: fields.string(".vec_type_hint")?,
        device_enqueue_symbol: fields.string(".device_enqueue_symbol")?,
        kernarg_segment_size,
        kernarg_segment_align: fields.required_number(".kernarg_segment_align")?,
        group_segment_fixed_size: fields.required_number(".group_segment_fixed_size")?,
        private_segment_fixed_size: fields.required_number(".private_segment_fixed_size")?,
        uses_dynamic_stack: fields.flag(".uses_dynamic_stack")?.unwrap_or_default(),
        wavefront_size: fields.required_number(".wavefront_size")?,
        sgpr_count: fields.required_number(".sgpr_count")?,
        vgpr_count: fields.required_number(".vgpr_count")?,
        agpr_count: fields.number(".agpr_count")?,
        sgpr_spill_count: fields.number(".sgpr_spill_count")?.unwrap_or_default(),
        vgpr_spill_count: fields.number(".vgpr_spill_count")?.unwrap_or_default(),
        max_flat_workgroup_size: fields.required_number(".max_flat_workgroup_size")?,
        uniform_work_group_size: fields.flag(".uniform_work_group_size")?.unwrap_or_default(),
        workgroup_processor_mode: fields.flag(".workgroup_processor_mode")?,
        kind,
    })
}

fn argument_metadata(fields: &Fields<'_, '_>) -> Result<ArgumentMetadata> {
    Ok(ArgumentMetadata {
        name: fields.string(".name")?,
        type_name: fields.string(".type_name")?,
        offset: fields.required_number(".offset")?,
        size: fields.required_number(".size")?,
        value_kind: match fields.word(".value_kind", ValueKind::from_text)? {
            Some(kind) => kind,
            None => return fields.error(".value_kind", "is missing"),
        },
        pointee_align: fields.number(".pointee_align")?,
        address_space: fields.word(".address_space", AddressSpace::from_text)?,
        access: fields.word(".access", Access::from_text)?,
        actual_access: fields.word(".actual_access", Access::from_text)?,
        is_const: fields.flag(".is_const")?.unwrap_or_default(),
        is_restrict: fields.flag(".is_restrict")?.unwrap_or_default(),
        is_volatile: fields.flag(".is_volatile")?.unwrap_or_default(),
        is_pipe: fields.flag(".is_pipe")?.unwrap_or_default(),
    })
}

/// A map of the tree with the path that leads to it.
pub(crate) struct Fields<'t, 'a> {
    path: String,
    map: &'t [(Value<'a>, Value<'a>)],
}

impl<'t, 'a> Fields<'t, 'a> {
    pub(crate) fn new(path: &str, value: &'t Value<'a>) -> Result<Self> {
        match value {
            Value::Map(map) => Ok(Self {
                path: path.to_owned(),
                map,
            }),
            _ => Err(Error::Metadata {
                path: if path.is_empty() {
                    "note".into()
                } else {
                    path.into()
                },
                reason: "is no map",
            }),
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A map inside this one; empty when it is missing.
    pub(crate) fn child(&self, name: &str) -> Result<Self> {
        let path = format!("{}.{name}", self.path);
        match self.get(name) {
            None | Some(Value::Nil) => Ok(Self { path, map: &[] }),
            Some(value) => Self::new(&path, value),
        }
    }

    pub(crate) fn error<T>(&self, name: &str, reason: &'static str) -> Result<T> {
        Err(Error::Metadata {
            path: format!("{}{name}", self.path),
            reason,
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'t Value<'a>> {
        self.map
            .iter()
            .find(|(key, _)| *key == Value::Str(name))
            .map(|(_, value)| value)
    }

    pub(crate) fn array(&self, name: &str) -> Result<&'t [Value<'a>]> {
        match self.get(name) {
            None | Some(Value::Nil) => Ok(&[]),
            Some(Value::Array(values)) => Ok(values),
            Some(_) => self.error(name, "is no list"),
        }
    }

    pub(crate) fn str(&self, name: &str) -> Result<Option<&'a str>> {
        match self.get(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(Value::Str(text)) => Ok(Some(text)),
            Some(_) => self.error(name, "is no string"),
        }
    }

    pub(crate) fn string(&self, name: &str) -> Result<Option<String>> {
        Ok(self.str(name)?.map(str::to_owned))
    }

    pub(crate) fn required_string(&self, name: &str) -> Result<String> {
        self.string(name)?
            .map_or_else(|| self.error(name, "is missing"), Ok)
    }

    pub(crate) fn word<T>(
        &self,
        name: &str,
        from_text: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.str(name)? {
            None => Ok(None),
            Some(text) => from_text(text).map_or_else(
                || self.error(name, "has an unknown value"),
                |word| Ok(Some(word)),
            ),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<u32>> {
        match self.get(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => as_u32(value).map_or_else(
                || self.error(name, "is no number of 32 bits"),
                |number| Ok(Some(number)),
            ),
        }
    }

    pub(crate) fn required_number(&self, name: &str) -> Result<u32> {
        self.number(name)?
            .map_or_else(|| self.error(name, "is missing"), Ok)
    }

    pub(crate) fn numbers<const N: usize>(&self, name: &str) -> Result<Option<[u32; N]>> {
        if self.get(name).is_none() {
            return Ok(None);
        }
        let numbers: Option<Vec<u32>> = self.array(name)?.iter().map(as_u32).collect();
        match numbers.and_then(|numbers| numbers.try_into().ok()) {
            Some(numbers) => Ok(Some(numbers)),
            None => self.error(name, "is no list of numbers of the right length"),
        }
    }

    /// A boolean; LLVM writes some as numbers.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::UInt(number)) => Ok(Some(*number != 0)),
            Some(_) => self.error(name, "is no boolean"),
        }
    }
}

fn as_u32(value: &Value<'_>) -> Option<u32> {
    match value {
        Value::UInt(number) => u32::try_from(*number).ok(),
        Value::Int(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}
