//! Images and samplers: which formats and sizes exist, where the texels of an image lie, and the descriptors that kernels read.
//!
//! A handle is the address of a block of [`SLOT`] bytes that all GPUs can read: the descriptor first, because kernels take the
//! handle as their argument and HIP copies the descriptor from it, then the format and the width as the device library looks for them
//! (dwords 8 to 10). What calls rely on is kept in [`Images`], so that a program that writes to the block harms nobody else.
//!
//! Every image is linear in memory, also where the program leaves the layout to us: rows of a multiple of 256 bytes. Images belong
//! to the GPU that they were created for. HSA knows neither levels nor faces; an extension of ours does
//! (`gneiss_hsa_image_create`, `gneiss_hsa_image_get_level_layout`, `gneiss_hsa_sampler_create`), and the engine says where levels lie
//! ([`gneiss_amdgcn::image::levels`]). Transfers ([`transfer`]) run on the calling thread and are done when they return.
//!
//! Locks: the table of images, then nothing.

pub(crate) mod format;
pub(crate) mod transfer;

use std::collections::{HashMap, HashSet};

use gneiss_amdgcn::{
    image::{
        Clamp, DescriptorError, Image, ImageKind, MipFilter, Sampler, TexelBuffer,
        descriptor::{LINEAR_ALIGNMENT, linear_pitch},
        sampler::LARGEST_LOD,
    },
    target::Family,
};
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    agent::{AgentId, GpuAgent},
    entry::{HsaResult, require},
    image::format::Format,
    pool::{PoolId, PoolKind},
    runtime::Runtime,
};

/// Bytes of a handle's block.
const SLOT: u64 = 64;
/// Bytes that are allocated for blocks at a time.
const CHUNK: usize = 16 << 10;

/// Texels in a row, and rows.
pub(crate) const MAX_EXTENT: u32 = 16384;
/// Slices and layers.
pub(crate) const MAX_DEPTH: u32 = 8192;
/// Images that a kernel may read, images that it may write, and samplers.
pub(crate) const MAX_HANDLES: [u32; 3] = [128, 64, 16];

/// Whether kernels of a GPU have image instructions that the engine runs.
pub(crate) fn supported(gpu: &GpuAgent) -> bool {
    gpu.engine.target.family() != Family::Gfx940
}

/// Largest width, height, depth and number of layers of a geometry.
pub(crate) fn limits(geometry: hsa_ext_image_geometry_t) -> Option<[u32; 4]> {
    Some(match geometry {
        HSA_EXT_IMAGE_GEOMETRY_1D => [MAX_EXTENT, 1, 1, 1],
        HSA_EXT_IMAGE_GEOMETRY_1DB => [u32::MAX, 1, 1, 1],
        HSA_EXT_IMAGE_GEOMETRY_1DA => [MAX_EXTENT, 1, 1, MAX_DEPTH],
        HSA_EXT_IMAGE_GEOMETRY_2D | HSA_EXT_IMAGE_GEOMETRY_2DDEPTH => {
            [MAX_EXTENT, MAX_EXTENT, 1, 1]
        }
        HSA_EXT_IMAGE_GEOMETRY_2DA | HSA_EXT_IMAGE_GEOMETRY_2DADEPTH => {
            [MAX_EXTENT, MAX_EXTENT, 1, MAX_DEPTH]
        }
        HSA_EXT_IMAGE_GEOMETRY_3D => [MAX_EXTENT, MAX_EXTENT, MAX_DEPTH, 1],
        _ => return None,
    })
}

/// The pitches that a program asks for; 0 where it leaves one to us.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pitches {
    /// Bytes from one row to the next.
    pub(crate) row: usize,
    /// Bytes from one slice or layer to the next.
    pub(crate) slice: usize,
}

/// The shape of an image in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    kind: ImageKind,
    /// A texel buffer: kernels address it with typed buffer instructions.
    buffer: bool,
    format: Format,
    wanted: hsa_ext_image_format_t,
    width: u32,
    height: u32,
    depth: u32,
    /// Texels from one row to the next.
    pitch: u32,
    /// Levels in memory.
    levels: u8,
    /// First and last level that kernels see.
    seen: [u8; 2],
}

impl Layout {
    /// Checks a description against what the GPU can do.
    pub(crate) fn new(
        descriptor: &hsa_ext_image_descriptor_t,
        pitches: Pitches,
        family: Family,
    ) -> HsaResult<Self> {
        let limits = limits(descriptor.geometry).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let format = Format::of(&descriptor.format, descriptor.geometry)
            .ok_or(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED)?;
        let extent = [
            descriptor.width,
            descriptor.height,
            descriptor.depth,
            descriptor.array_size,
        ];
        let mut checked = [0u32; 4];
        for ((checked, wanted), limit) in checked.iter_mut().zip(extent).zip(limits) {
            // What a geometry does not have may be 0 or 1.
            *checked = u32::try_from(wanted.max(1))
                .ok()
                .filter(|&value| value <= limit)
                .ok_or(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED)?;
        }
        require(descriptor.width != 0)?;
        let [width, height, depth, layers] = checked;
        let (kind, buffer) = match descriptor.geometry {
            HSA_EXT_IMAGE_GEOMETRY_1DB => (ImageKind::D1, true),
            HSA_EXT_IMAGE_GEOMETRY_1D => (ImageKind::D1, false),
            HSA_EXT_IMAGE_GEOMETRY_1DA => (ImageKind::D1Array, false),
            HSA_EXT_IMAGE_GEOMETRY_3D => (ImageKind::D3, false),
            HSA_EXT_IMAGE_GEOMETRY_2DA | HSA_EXT_IMAGE_GEOMETRY_2DADEPTH => {
                (ImageKind::D2Array, false)
            }
            _ => (ImageKind::D2, false),
        };
        let size = format.texel.size();
        let pitch = if buffer {
            width
        } else if pitches.row == 0 {
            linear_pitch(width, size)
        } else {
            let aligned = pitches.row.is_multiple_of(LINEAR_ALIGNMENT as usize)
                && pitches.row >= width as usize * size;
            u32::try_from(pitches.row / size)
                .ok()
                .filter(|_| aligned)
                .ok_or(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED)?
        };
        let layout = Self {
            kind,
            buffer,
            format,
            wanted: descriptor.format,
            width,
            height,
            depth: depth.max(layers),
            pitch,
            levels: 1,
            seen: [0; 2],
        };
        if pitches.slice != 0 && !buffer && pitches.slice as u64 != layout.slice_bytes() {
            return Err(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
        }
        // The family's descriptor has to be able to say it.
        layout.descriptor(0, family)?;
        Ok(layout)
    }

    /// The layout with levels and faces, checked against what the GPU can do.
    pub(crate) fn with_levels(
        mut self,
        wanted: &gneiss_hsa_image_levels_t,
        family: Family,
    ) -> HsaResult<Self> {
        let [first, last] = [wanted.first_level, wanted.last_level];
        require(!self.buffer && first <= last && last < wanted.levels)?;
        if wanted.levels > self.most_levels() {
            return Err(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
        }
        if wanted.cube != 0 {
            let faces = self.depth.is_multiple_of(6) && self.width == self.height;
            require(self.kind == ImageKind::D2Array && faces)?;
            self.kind = ImageKind::Cube;
        }
        // The checks above keep these numbers far below 256.
        self.levels = wanted.levels as u8;
        self.seen = [first as u8, last as u8];
        self.descriptor(0, family)?;
        Ok(self)
    }

    /// Levels down to one texel.
    fn most_levels(&self) -> u32 {
        let slices = if self.kind == ImageKind::D3 {
            self.depth
        } else {
            1
        };
        self.width.max(self.height).max(slices).ilog2() + 1
    }

    /// Where a level lies in the memory of the image.
    pub(crate) fn level(&self, level: u32) -> HsaResult<gneiss_hsa_image_level_layout_t> {
        require(!self.buffer && level < self.most_levels())?;
        let image = self.image(0).in_memory(level);
        Ok(gneiss_hsa_image_level_layout_t {
            offset: image.base as usize,
            size: image.bytes() as usize,
            row_pitch: image.pitch as usize * image.format.size(),
        })
    }

    /// Bytes from one row to the next.
    fn row_bytes(&self) -> u64 {
        u64::from(self.pitch) * self.format.texel.size() as u64
    }

    /// Bytes from one slice or layer to the next.
    fn slice_bytes(&self) -> u64 {
        self.row_bytes() * u64::from(self.height)
    }

    /// Bytes of the image.
    pub(crate) fn size(&self) -> u64 {
        let last = self.image(0).in_memory(u32::from(self.levels) - 1);
        last.base + last.bytes()
    }

    /// Alignment of the image.
    pub(crate) fn alignment(&self) -> u64 {
        LINEAR_ALIGNMENT
    }

    fn image(&self, base: u64) -> Image {
        Image {
            base,
            kind: self.kind,
            width: self.width,
            height: self.height,
            depth: self.depth,
            pitch: self.pitch,
            format: self.format.texel,
            select: self.format.select,
            multisampled: false,
            first_level: self.seen[0],
            last_level: self.seen[1],
        }
    }

    /// The descriptor, in the first dwords.
    fn descriptor(&self, base: u64, family: Family) -> HsaResult<[u32; 8]> {
        let words = if self.buffer {
            let buffer = TexelBuffer {
                base,
                count: self.width,
                format: self.format.texel,
                select: self.format.select,
            };
            buffer.encode(family).map(|words| {
                let mut all = [0; 8];
                all[..4].copy_from_slice(&words);
                all
            })
        } else {
            self.image(base).encode(family)
        };
        words.map_err(|error| match error {
            DescriptorError::Pitch(_) => HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED,
            _ => HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
        })
    }
}

/// An image that exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageObject {
    gpu: usize,
    layout: Layout,
    data: u64,
}

#[derive(Debug, Default)]
struct Table {
    images: HashMap<u64, ImageObject>,
    samplers: HashSet<u64>,
    /// Blocks that are not in use.
    free: Vec<u64>,
}

/// The images and samplers of a runtime. Their blocks live until the runtime ends.
#[derive(Debug, Default)]
pub(crate) struct Images {
    table: Mutex<Table>,
}

impl Table {
    /// A block with these dwords at its start, zero after them.
    fn block(&mut self, runtime: &Runtime, words: &[u32]) -> HsaResult<u64> {
        if self.free.is_empty() {
            let pool = PoolId {
                agent: AgentId::CPU,
                kind: PoolKind::Kernarg,
            };
            let agents = &runtime.agents;
            let chunk = runtime
                .memory
                .allocate(agents, pool, CHUNK, agents.all_gpus())?;
            self.free.extend(
                (0..CHUNK as u64 / SLOT)
                    .rev()
                    .map(|at| chunk.base + at * SLOT),
            );
        }
        let block = self.free.pop().ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        let at = std::ptr::with_exposed_provenance_mut::<u32>(block as usize);
        // SAFETY: the block is ours until its handle is given out, has `SLOT` bytes, and no caller has more words than fit.
        unsafe {
            std::ptr::write_bytes(at.cast::<u8>(), 0, SLOT as usize);
            std::ptr::copy_nonoverlapping(words.as_ptr(), at, words.len().min(SLOT as usize / 4));
        }
        Ok(block)
    }
}

impl Images {
    /// Makes an image over memory that the program has allocated.
    pub(crate) fn create(
        &self,
        runtime: &Runtime,
        gpu: usize,
        layout: Layout,
        data: u64,
    ) -> HsaResult<hsa_ext_image_t> {
        require(data.is_multiple_of(layout.alignment()))?;
        runtime.memory.host_address(data, layout.size() as usize)?;
        let family = runtime.agents.gpus[gpu].engine.target.family();
        let words = layout.descriptor(data, family)?;
        self.insert(runtime, gpu, layout, data, words)
    }

    /// Makes an image whose descriptor the program gives, but for its address.
    pub(crate) fn create_from_words(
        &self,
        runtime: &Runtime,
        gpu: usize,
        layout: Layout,
        data: u64,
        words: [u32; 8],
    ) -> HsaResult<hsa_ext_image_t> {
        let family = runtime.agents.gpus[gpu].engine.target.family();
        let wanted = Image::decode(words, family)
            .map_err(|_| HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED)?;
        // Where levels lie would be the driver's choice.
        let mipmapped = wanted.last_level != 0;
        if wanted.format.size() != layout.format.texel.size() || layout.buffer || mipmapped {
            return Err(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
        }
        let layout = Layout {
            kind: wanted.kind,
            width: wanted.width,
            height: wanted.height,
            depth: wanted.depth,
            pitch: wanted.pitch,
            ..layout
        };
        self.create(runtime, gpu, layout, data)
    }

    fn insert(
        &self,
        runtime: &Runtime,
        gpu: usize,
        layout: Layout,
        data: u64,
        words: [u32; 8],
    ) -> HsaResult<hsa_ext_image_t> {
        let mut block = [0u32; 12];
        block[..8].copy_from_slice(&words);
        block[8] = layout.wanted.channel_type;
        block[9] = layout.wanted.channel_order;
        block[10] = layout.width;
        let mut table = self.table.lock();
        let handle = table.block(runtime, &block)?;
        table
            .images
            .insert(handle, ImageObject { gpu, layout, data });
        Ok(hsa_ext_image_t { handle })
    }

    /// The image of a handle.
    pub(crate) fn get(&self, image: hsa_ext_image_t) -> HsaResult<ImageObject> {
        let table = self.table.lock();
        let image = table.images.get(&image.handle).copied();
        image.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)
    }

    /// Forgets an image; its memory is the program's.
    pub(crate) fn destroy(&self, image: hsa_ext_image_t) -> HsaResult {
        let mut table = self.table.lock();
        require(table.images.remove(&image.handle).is_some())?;
        table.free.push(image.handle);
        Ok(())
    }

    /// Makes a sampler for a GPU.
    pub(crate) fn create_sampler(
        &self,
        runtime: &Runtime,
        gpu: usize,
        descriptor: &hsa_ext_sampler_descriptor_v2_t,
        levels: Option<&gneiss_hsa_sampler_levels_t>,
    ) -> HsaResult<hsa_ext_sampler_t> {
        let mut sampler = sampler(descriptor)?;
        if let Some(levels) = levels {
            sampler.mip_filter = match levels.filter_mode {
                HSA_EXT_SAMPLER_FILTER_MODE_NEAREST => MipFilter::Point,
                HSA_EXT_SAMPLER_FILTER_MODE_LINEAR => MipFilter::Linear,
                _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            };
            let limits = [levels.least, levels.greatest];
            require(!levels.bias.is_nan() && !limits.iter().any(|limit| limit.is_nan()))?;
            sampler.lod_bias = levels.bias;
            sampler.lod = limits.map(|limit| limit.clamp(0.0, LARGEST_LOD));
        }
        let family = runtime.agents.gpus[gpu].engine.target.family();
        let mut table = self.table.lock();
        let handle = table.block(runtime, &sampler.encode(family))?;
        table.samplers.insert(handle);
        Ok(hsa_ext_sampler_t { handle })
    }

    /// Forgets a sampler.
    pub(crate) fn destroy_sampler(&self, sampler: hsa_ext_sampler_t) -> HsaResult {
        let mut table = self.table.lock();
        require(table.samplers.remove(&sampler.handle))?;
        table.free.push(sampler.handle);
        Ok(())
    }
}

/// The hardware's sampler for a description. Texels of the border are transparent black, as AMD's runtime has them.
fn sampler(descriptor: &hsa_ext_sampler_descriptor_v2_t) -> HsaResult<Sampler> {
    let clamp = |mode| {
        Ok(match mode {
            // Undefined means that the program stays in range.
            HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED | HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT => {
                Clamp::Wrap
            }
            HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE => Clamp::LastTexel,
            HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER => Clamp::Border,
            HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT => Clamp::Mirror,
            _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        })
    };
    let linear = match descriptor.filter_mode {
        HSA_EXT_SAMPLER_FILTER_MODE_NEAREST => false,
        HSA_EXT_SAMPLER_FILTER_MODE_LINEAR => true,
        _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
    };
    let unnormalised = match descriptor.coordinate_mode {
        HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED => true,
        HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED => false,
        _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
    };
    let [x, y, z] = descriptor.address_modes;
    Ok(Sampler {
        clamp: [clamp(x)?, clamp(y)?, clamp(z)?],
        unnormalised,
        linear,
        linear_minified: linear,
        linear_z: linear,
        ..Sampler::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(geometry: u32, extent: [usize; 4]) -> hsa_ext_image_descriptor_t {
        hsa_ext_image_descriptor_t {
            geometry,
            width: extent[0],
            height: extent[1],
            depth: extent[2],
            array_size: extent[3],
            format: hsa_ext_image_format_t {
                channel_type: HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT,
                channel_order: HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
            },
        }
    }

    #[test]
    fn rows_are_multiples_of_256_bytes() {
        let image = descriptor(HSA_EXT_IMAGE_GEOMETRY_3D, [17, 3, 2, 0]);
        let layout = Layout::new(&image, Pitches::default(), Family::Gfx10_3).expect("fits");
        assert_eq!(layout.size(), 512 * 3 * 2);
        let buffer = descriptor(HSA_EXT_IMAGE_GEOMETRY_1DB, [17, 0, 0, 0]);
        let layout = Layout::new(&buffer, Pitches::default(), Family::Gfx90a).expect("fits");
        assert_eq!(layout.size(), 17 * 16);
    }

    #[test]
    fn levels_and_faces_are_checked() {
        let family = Family::Gfx11;
        let new = |image, levels, first_level, last_level, cube| {
            let levels = gneiss_hsa_image_levels_t {
                levels,
                first_level,
                last_level,
                cube,
            };
            Layout::new(&image, Pitches::default(), family)
                .and_then(|layout| layout.with_levels(&levels, family))
        };
        let size = Some(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
        let argument = Some(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        // 20 × 8 texels of 16 bytes: rows of 512 and then of 256 bytes.
        let flat = descriptor(HSA_EXT_IMAGE_GEOMETRY_2D, [20, 8, 0, 0]);
        let layout = new(flat, 5, 1, 3, 0).expect("fits");
        assert_eq!(layout.size(), 512 * 8 + 256 * (4 + 2 + 1 + 1));
        let second = layout.level(2).expect("there");
        assert_eq!(
            (second.offset, second.size, second.row_pitch),
            (512 * 8 + 256 * 4, 512, 256)
        );
        assert_eq!(layout.level(5).err(), argument);
        assert_eq!(new(flat, 6, 0, 0, 0).err(), size);
        assert_eq!(new(flat, 4, 0, 4, 0).err(), argument);
        assert_eq!(new(flat, 4, 2, 1, 0).err(), argument);
        assert_eq!(new(flat, 0, 0, 0, 0).err(), argument);
        assert_eq!(new(flat, 1, 0, 0, 1).err(), argument);
        let faces = |width, layers| descriptor(HSA_EXT_IMAGE_GEOMETRY_2DA, [width, 8, 0, layers]);
        assert_eq!(
            new(faces(8, 12), 4, 0, 3, 1).map(|layout| layout.kind),
            Ok(ImageKind::Cube)
        );
        assert_eq!(new(faces(8, 8), 1, 0, 0, 1).err(), argument);
        assert_eq!(new(faces(9, 6), 1, 0, 0, 1).err(), argument);
        let volume = descriptor(HSA_EXT_IMAGE_GEOMETRY_3D, [2, 2, 8, 0]);
        assert_eq!(
            new(volume, 4, 0, 3, 0).map(|layout| layout.size()),
            Ok(256 * (2 * 8 + 4 + 2 + 1))
        );
    }

    #[test]
    fn sizes_and_pitches_that_do_not_exist_are_refused() {
        let new = |image, row, slice| {
            Layout::new(&image, Pitches { row, slice }, Family::Gfx10_3).map(|_| ())
        };
        let size = Err(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
        let pitch = Err(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
        let flat = descriptor(HSA_EXT_IMAGE_GEOMETRY_2D, [16, 16, 0, 0]);
        assert_eq!(new(flat, 512, 0), Ok(()));
        assert_eq!(new(flat, 300, 0), pitch);
        assert_eq!(new(flat, 0, 1), pitch);
        let wide = descriptor(HSA_EXT_IMAGE_GEOMETRY_2D, [16385, 16, 0, 0]);
        assert_eq!(new(wide, 0, 0), size);
        let deep = descriptor(HSA_EXT_IMAGE_GEOMETRY_2D, [16, 16, 2, 0]);
        assert_eq!(new(deep, 0, 0), size);
        // RDNA's descriptor has no pitch for images with slices.
        let volume = descriptor(HSA_EXT_IMAGE_GEOMETRY_3D, [16, 16, 2, 0]);
        assert_eq!(new(volume, 256, 256 * 16), Ok(()));
        assert_eq!(new(volume, 512, 0), pitch);
    }
}
