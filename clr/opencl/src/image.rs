//! Images: rows of texels in linear memory, with a descriptor for each device of the context.
//!
//! Rows begin at multiples of 256 bytes. `CL_MEM_USE_HOST_PTR` has rows of the program's own length, which the hardware cannot use: there the image is
//! a copy, and maps carry it to the program's memory and back.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{
    ChannelOrder, CopyRect, ImageAccess, ImageDescription, ImageGeometry, ImageLevels, ImageView,
    Rect,
};
use gneiss_fatbin::{Access, ArgumentMetadata};

use crate::{
    constants::*,
    context::Context,
    descriptor::Descriptor,
    device::Device,
    error::{Result, code},
    fail,
    image_format::Format,
    memory::{self, Mem, Parts},
    storage::{self, Storage},
    types::*,
};

/// Whether there are images.
pub const SUPPORTED: bool = true;
/// What rows begin at multiples of.
const ROW_ALIGN: usize = 256;

/// An image on one device.
#[derive(Debug)]
struct OnDevice {
    device: Arc<Device>,
    descriptor: Descriptor,
    /// Held for its end.
    _view: ImageView,
}

/// An image.
#[derive(Debug)]
pub struct Image {
    /// Its format.
    pub format: Format,
    /// Width, height or layers, depth or layers; 1 where there is none.
    pub extent: [usize; 3],
    /// `CL_MEM_OBJECT_IMAGE…`.
    pub kind: cl_uint,
    /// Bytes from one step of the second coordinate to the next, and of the third.
    pub pitches: [usize; 2],
    /// Bytes from row to row and from slice to slice, as maps give them.
    pub shown: [usize; 2],
    /// As queries give them: those that the program has given, else those of its memory.
    pub stated: [usize; 2],
    views: Vec<OnDevice>,
}

/// The geometry of a type of images; none for what is no such type.
pub fn geometry(image_type: cl_uint) -> Option<ImageGeometry> {
    Some(match image_type {
        CL_MEM_OBJECT_IMAGE1D => ImageGeometry::D1,
        CL_MEM_OBJECT_IMAGE1D_BUFFER => ImageGeometry::Buffer,
        CL_MEM_OBJECT_IMAGE1D_ARRAY => ImageGeometry::D1Array,
        CL_MEM_OBJECT_IMAGE2D => ImageGeometry::D2,
        CL_MEM_OBJECT_IMAGE2D_ARRAY => ImageGeometry::D2Array,
        CL_MEM_OBJECT_IMAGE3D => ImageGeometry::D3,
        _ => return None,
    })
}

impl Image {
    /// Checks an image for an argument.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_VALUE` if the kernel writes and the image is read-only, or the other way round.
    pub fn check_argument(&self, argument: &ArgumentMetadata, mem: &Mem) -> Result {
        let refused = match argument.access {
            Some(Access::WriteOnly) => mem.flags & CL_MEM_READ_ONLY != 0,
            Some(Access::ReadWrite) => mem.flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY) != 0,
            _ => mem.flags & CL_MEM_WRITE_ONLY != 0,
        };
        if refused {
            return fail!(
                CL_INVALID_ARG_VALUE,
                "the image's flags {:#x} do not let the kernel do this",
                mem.flags
            );
        }
        Ok(())
    }

    /// Address of what kernels read.
    ///
    /// # Errors
    /// `CL_INVALID_MEM_OBJECT` on a device of another context.
    pub fn descriptor(&self, device: &Arc<Device>) -> Result<u64> {
        let on = self.views.iter().find(|on| Arc::ptr_eq(&on.device, device));
        on.map(|on| on.descriptor.address())
            .ok_or(CL_INVALID_MEM_OBJECT)
    }

    /// Bytes of a region of texels.
    pub fn bytes_of(&self, region: [usize; 3]) -> [usize; 3] {
        [region[0] * self.format.size(), region[1], region[2]]
    }

    /// The rectangle of the image's memory that begins at a texel.
    pub fn rect(&self, address: u64, origin: [usize; 3]) -> Rect {
        let start = origin[0] * self.format.size()
            + origin[1] * self.pitches[0]
            + origin[2] * self.pitches[1];
        Rect {
            address: address + start as u64,
            row_pitch: self.pitches[0],
            slice_pitch: self.pitches[1],
        }
    }

    /// Checks a region.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` if it is empty or not in the image.
    pub fn check_region(&self, origin: [usize; 3], region: [usize; 3]) -> Result {
        let inside = (0..3).all(|axis| {
            region[axis] != 0
                && origin[axis] <= self.extent[axis]
                && region[axis] <= self.extent[axis] - origin[axis]
        });
        if !inside {
            return fail!(
                CL_INVALID_VALUE,
                "{region:?} at {origin:?} is not in an image of {:?}",
                self.extent
            );
        }
        Ok(())
    }

    /// Checks another image of the same texels: of the same size, and with the same components, which it may see in another way.
    fn check_other_view(&self, desc: &cl_image_desc, format: &Format) -> Result {
        let size = [desc.image_width, desc.image_height, 1];
        if size != self.extent {
            return fail!(
                CL_INVALID_IMAGE_DESCRIPTOR,
                "an image of {size:?} of one of {:?}",
                self.extent
            );
        }
        // Orders that differ in what the numbers mean only.
        let plain = |order| match order {
            ChannelOrder::Srgba => ChannelOrder::Rgba,
            ChannelOrder::Depth => ChannelOrder::R,
            order => order,
        };
        if format.kind != self.format.kind || plain(format.order) != plain(self.format.order) {
            return fail!(
                CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                "an image of {:?} of one of {:?}",
                format.cl,
                self.format.cl
            );
        }
        Ok(())
    }

    /// Whether the second coordinate is a layer, whose pitch is a slice's.
    pub fn is_1d_array(&self) -> bool {
        self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY
    }

    /// Whether there are slices.
    pub fn has_slices(&self) -> bool {
        matches!(
            self.kind,
            CL_MEM_OBJECT_IMAGE3D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE1D_ARRAY
        )
    }
}

/// Extents by kind of image, checked against the devices' limits.
fn extent(context: &Context, desc: &cl_image_desc) -> Result<[usize; 3]> {
    let limits: Vec<_> = context
        .devices
        .iter()
        .map(|device| device.clr.properties().image_limits)
        .collect();
    let (w, h, d, layers) = (
        desc.image_width,
        desc.image_height,
        desc.image_depth,
        desc.image_array_size,
    );
    let extent = match desc.image_type {
        CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_BUFFER => [w, 1, 1],
        CL_MEM_OBJECT_IMAGE1D_ARRAY => [w, layers, 1],
        CL_MEM_OBJECT_IMAGE2D => [w, h, 1],
        CL_MEM_OBJECT_IMAGE2D_ARRAY => [w, h, layers],
        _ => [w, h, d],
    };
    let fits = |limits: &gneiss_clr::ImageLimits| {
        let most: [u32; 3] = match desc.image_type {
            CL_MEM_OBJECT_IMAGE1D => [limits.d2[0], 1, 1],
            CL_MEM_OBJECT_IMAGE1D_BUFFER => [limits.buffer, 1, 1],
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [limits.d2[0], limits.layers, 1],
            CL_MEM_OBJECT_IMAGE2D => [limits.d2[0], limits.d2[1], 1],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => [limits.d2[0], limits.d2[1], limits.layers],
            _ => limits.d3,
        };
        extent
            .iter()
            .zip(most)
            .all(|(size, most)| *size <= most as usize)
    };
    if extent.contains(&0) {
        return fail!(CL_INVALID_IMAGE_DESCRIPTOR, "an image of {extent:?}");
    }
    if !limits.iter().any(fits) {
        return fail!(CL_INVALID_IMAGE_SIZE, "no device has images of {extent:?}");
    }
    Ok(extent)
}

/// Pitches of the program's memory.
fn host_pitches(
    desc: &cl_image_desc,
    extent: [usize; 3],
    texel: usize,
    host: bool,
) -> Result<[usize; 2]> {
    let row = extent[0] * texel;
    let (given_row, given_slice) = (desc.image_row_pitch, desc.image_slice_pitch);
    let from_buffer = !desc.mem_object.is_null();
    if !host && !from_buffer && (given_row != 0 || given_slice != 0) {
        return fail!(
            CL_INVALID_IMAGE_DESCRIPTOR,
            "pitches without a host pointer"
        );
    }
    let row_pitch = if given_row == 0 { row } else { given_row };
    let array = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    let least = if array {
        row_pitch
    } else {
        row_pitch * extent[1]
    };
    let slice_pitch = if given_slice == 0 { least } else { given_slice };
    if row_pitch < row
        || !row_pitch.is_multiple_of(texel)
        || slice_pitch < least
        || !slice_pitch.is_multiple_of(row_pitch)
    {
        return fail!(
            CL_INVALID_IMAGE_DESCRIPTOR,
            "pitches {given_row} and {given_slice} for {extent:?} texels of {texel} bytes"
        );
    }
    Ok([row_pitch, slice_pitch])
}

/// What kernels must be able to do with images that have flags.
pub fn fits_flags(access: ImageAccess, flags: cl_bitfield) -> bool {
    if flags & CL_MEM_KERNEL_READ_AND_WRITE != 0 {
        access.read_write
    } else if flags & CL_MEM_READ_ONLY != 0 {
        access.read
    } else if flags & CL_MEM_WRITE_ONLY != 0 {
        access.write
    } else {
        access.read && access.write
    }
}

/// The part of an image's creation that has to do with memory.
struct Made {
    storage: Arc<Storage>,
    parent: Option<(Arc<Mem>, usize)>,
    pitches: [usize; 2],
    shown: [usize; 2],
    stated: [usize; 2],
    size: usize,
}

/// Makes an image.
///
/// # Errors
/// As `clCreateImage`.
pub fn create(
    context: Arc<Context>,
    flags: cl_bitfield,
    format: In<cl_image_format>,
    desc: In<cl_image_desc>,
    host_ptr: *mut c_void,
    properties: Option<Vec<cl_property>>,
) -> Result<cl_mem> {
    let Some(format) = format.get() else {
        return fail!(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "no format");
    };
    let Some(format) = Format::new(format) else {
        return fail!(
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "there is no format {format:?}"
        );
    };
    let Some(desc) = desc.get() else {
        return fail!(CL_INVALID_IMAGE_DESCRIPTOR, "no description");
    };
    let Some(geometry) = geometry(desc.image_type) else {
        return fail!(
            CL_INVALID_IMAGE_DESCRIPTOR,
            "images of type {:#x}",
            desc.image_type
        );
    };
    let flat = matches!(geometry, ImageGeometry::D2 | ImageGeometry::D2Array);
    if format.order == ChannelOrder::Depth && !flat {
        return fail!(
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "a depth image of type {:#x}",
            desc.image_type
        );
    }
    if desc.num_mip_levels != 0 || desc.num_samples != 0 {
        return fail!(
            CL_INVALID_IMAGE_DESCRIPTOR,
            "mipmaps and samples are not supported"
        );
    }
    if !context.devices.iter().any(|device| device.images()) {
        return fail!(CL_INVALID_OPERATION, "no device of the context has images");
    }
    let buffer = source(&context, geometry, &desc, &format)?;
    let flags = match &buffer {
        Some(buffer) => memory::sub_flags(buffer.flags, flags)?,
        None => memory::check_flags(flags, host_ptr)?,
    };
    if buffer.is_some() && !host_ptr.is_null() {
        return fail!(
            CL_INVALID_HOST_PTR,
            "an image of a buffer has no host pointer"
        );
    }
    let extent = extent(&context, &desc)?;
    let devices: Vec<_> = context
        .devices
        .iter()
        .filter(|device| device.images())
        .filter(|device| {
            fits_flags(
                ImageAccess::of(&device.clr, geometry, format.kind, format.order),
                flags,
            )
        })
        .collect();
    if devices.is_empty() {
        return fail!(
            CL_IMAGE_FORMAT_NOT_SUPPORTED,
            "no device has images of {:?} for flags {flags:#x}",
            format.cl
        );
    }
    let host = host_pitches(&desc, extent, format.size(), !host_ptr.is_null())?;
    let made = make_storage(
        &context, buffer, &desc, flags, extent, &format, host, host_ptr,
    )?;
    let address = match &made.parent {
        Some((buffer, _)) => buffer.address()?,
        None => made.storage.memory.device_address(),
    };
    let description = ImageDescription {
        geometry,
        width: extent[0],
        height: match geometry {
            ImageGeometry::D1Array => 1,
            _ => extent[1],
        },
        depth: match geometry {
            ImageGeometry::D1Array => extent[1],
            _ => extent[2],
        },
        channel_type: format.kind,
        channel_order: format.order,
        row_pitch: made.pitches[0],
        levels: ImageLevels::ONE,
    };
    let mut views = Vec::new();
    for device in devices {
        let view = ImageView::new(&device.clr, &description, address).map_err(|error| {
            code(error);
            CL_INVALID_IMAGE_SIZE
        })?;
        views.push(OnDevice {
            device: Arc::clone(device),
            descriptor: Descriptor::new(device, view.descriptor())?,
            _view: view,
        });
    }
    let kept = flags & CL_MEM_USE_HOST_PTR != 0 && made.parent.is_none();
    let image = Image {
        format,
        extent,
        kind: desc.image_type,
        pitches: made.pitches,
        shown: made.shown,
        stated: made.stated,
        views,
    };
    let mem = Mem::create(Parts {
        context,
        kind: desc.image_type,
        flags,
        size: made.size,
        host_ptr: if kept {
            host_ptr.expose_provenance()
        } else {
            0
        },
        parent: made.parent,
        storage: made.storage,
        properties,
        image: Some(image),
        pipe: None,
    })?;
    Ok(crate::handle::Object::handle(&*mem).raw())
}

/// The buffer, or the image of two dimensions, that an image is made of.
fn source(
    context: &Arc<Context>,
    geometry: ImageGeometry,
    desc: &cl_image_desc,
    format: &Format,
) -> Result<Option<Arc<Mem>>> {
    let wanted = geometry == ImageGeometry::Buffer;
    if desc.mem_object.is_null() {
        return if wanted {
            fail!(
                CL_INVALID_IMAGE_DESCRIPTOR,
                "an image of a buffer without a buffer"
            )
        } else {
            Ok(None)
        };
    }
    let mem = crate::handle::get(desc.mem_object).map_err(|_| CL_INVALID_IMAGE_DESCRIPTOR)?;
    let rows = geometry == ImageGeometry::D2;
    if let Some(image) = mem.image.as_ref()
        && rows
        && image.kind == CL_MEM_OBJECT_IMAGE2D
        && Arc::ptr_eq(&mem.context, context)
    {
        image.check_other_view(desc, format)?;
        return Ok(Some(mem));
    }
    if !(wanted || rows) || !mem.is_buffer() || !Arc::ptr_eq(&mem.context, context) {
        return fail!(
            CL_INVALID_IMAGE_DESCRIPTOR,
            "an image of type {:#x} cannot be made of that memory object",
            desc.image_type
        );
    }
    Ok(Some(mem))
}

#[expect(
    clippy::too_many_arguments,
    reason = "all of them are parts of one description"
)]
fn make_storage(
    context: &Context,
    buffer: Option<Arc<Mem>>,
    desc: &cl_image_desc,
    flags: cl_bitfield,
    extent: [usize; 3],
    format: &Format,
    host: [usize; 2],
    host_ptr: *mut c_void,
) -> Result<Made> {
    let row = extent[0] * format.size();
    if let Some(buffer) = buffer {
        let storage = Arc::clone(buffer.storage()?);
        let origin = buffer.offset()? - storage.offset;
        if let Some(image) = &buffer.image {
            return Ok(Made {
                storage,
                pitches: image.pitches,
                shown: image.shown,
                stated: image.stated,
                size: buffer.size,
                parent: Some((buffer, origin)),
            });
        }
        let pitch = host[0];
        let size = pitch.saturating_mul(extent[1] - 1).saturating_add(row);
        if desc.image_type == CL_MEM_OBJECT_IMAGE2D && !pitch.is_multiple_of(ROW_ALIGN) {
            return fail!(
                CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                "rows of {pitch} bytes: CL_DEVICE_IMAGE_PITCH_ALIGNMENT is {ROW_ALIGN}"
            );
        }
        if desc.image_type == CL_MEM_OBJECT_IMAGE2D
            && !buffer.address()?.is_multiple_of(ROW_ALIGN as u64)
        {
            return fail!(
                CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                "the buffer begins at {:#x}: CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT is {ROW_ALIGN}",
                buffer.address()?
            );
        }
        if size > buffer.size {
            return fail!(
                CL_INVALID_IMAGE_SIZE,
                "an image of {size} bytes of a buffer of {}",
                buffer.size
            );
        }
        return Ok(Made {
            storage,
            parent: Some((buffer, origin)),
            pitches: [pitch, pitch * extent[1]],
            shown: [pitch, 0],
            stated: [pitch, 0],
            size,
        });
    }
    let row_pitch = row.next_multiple_of(ROW_ALIGN);
    let array = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    let slice_pitch = row_pitch * extent[1];
    let Some(size) = slice_pitch.checked_mul(extent[2]) else {
        return Err(CL_INVALID_IMAGE_SIZE);
    };
    let storage = Storage::new(context, size, flags & CL_MEM_ALLOC_HOST_PTR != 0)?;
    if flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) != 0 {
        let from = Rect {
            address: host_ptr.expose_provenance() as u64,
            row_pitch: if array { host[1] } else { host[0] },
            slice_pitch: host[1].max(host[0] * extent[1]),
        };
        let to = Rect {
            address: storage.memory.device_address(),
            row_pitch,
            slice_pitch,
        };
        let copy = CopyRect {
            dst: to,
            src: from,
            extent: [row, extent[1], extent[2]],
        };
        // SAFETY: the program's memory is good for the call, the other is new; the command ends before this function.
        storage::now(&context.devices[0].clr, |queue| unsafe {
            queue.enqueue_copy_rect(&copy, &[])
        })?;
    }
    let slices = matches!(
        desc.image_type,
        CL_MEM_OBJECT_IMAGE3D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE1D_ARRAY
    );
    let shown = if flags & CL_MEM_USE_HOST_PTR != 0 {
        host
    } else {
        [row_pitch, if array { row_pitch } else { slice_pitch }]
    };
    Ok(Made {
        storage: Arc::new(storage),
        parent: None,
        pitches: [row_pitch, slice_pitch],
        shown: [shown[0], if slices { shown[1] } else { 0 }],
        stated: [host[0], if slices { host[1] } else { 0 }],
        size,
    })
}
