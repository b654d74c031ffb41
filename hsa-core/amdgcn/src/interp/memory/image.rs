//! Image operations of a wave, lane by lane. The arithmetic is in [`crate::image`]; here are registers, descriptors and memory.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{cache, fault_exit, lanes::each_lane, other, space::site};
use crate::{
    image::{Image, ImageKind, Sampler, TexelMemory, sample},
    interp::{run::Exit, wave::Wave},
    ir::Op,
    target::Family,
};

/// Address registers that an image instruction without a register list may have at most: six derivatives, three coordinates, and
/// what may precede and follow them.
pub const ADDRESS_REGISTERS: u32 = 13;

/// What an image instruction does.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// Reads a texel; with `mip`, a level follows the coordinates, and levels other than 0 do not exist.
    Load {
        /// A level follows.
        mip: bool,
    },
    /// Writes a texel, with a level as for loads.
    Store {
        /// A level follows.
        mip: bool,
    },
    /// Width, height, depth, levels.
    ResourceInfo,
    /// Samples level 0; `skip` registers come before the coordinates.
    Sample {
        /// Registers before the coordinates.
        skip: usize,
    },
    /// Samples level 0; the derivatives come before the coordinates.
    SampleWithDerivatives,
    /// Four texels of one component.
    Gather {
        /// Which.
        component: usize,
    },
    /// A 32-bit atomic on a texel.
    Atomic(Atomic),
}

/// Atomics on texels.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Atomic {
    Swap,
    CompareSwap,
    Add,
    Sub,
    SignedMin,
    UnsignedMin,
    SignedMax,
    UnsignedMax,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
}

/// Which coordinates the address registers hold.
#[derive(Clone, Copy, Debug)]
pub enum Coordinates {
    /// GFX9: those of the resource's kind; the layer or face only if the instruction declares an array.
    OfResource {
        /// The instruction's `da` bit.
        array: bool,
    },
    /// GFX10: those of the instruction's dimension, whatever the resource is.
    Of(ImageKind),
}

impl Coordinates {
    /// The kind of image that the instruction addresses.
    fn kind(self, resource: ImageKind) -> ImageKind {
        use ImageKind::{Cube, D1, D1Array, D2, D2Array, D3};
        match self {
            Self::Of(kind) => kind,
            Self::OfResource { array: true } => match resource {
                D1 => D1Array,
                D2 => D2Array,
                other => other,
            },
            Self::OfResource { array: false } => match resource {
                D1Array => D1,
                D2Array | Cube => D2,
                other @ (D1 | D2 | D3) => other,
            },
        }
    }
}

/// Coordinates of an image of kind `from`, put in the order that `to` has them; what `from` lacks is 0.
fn convert<T: Copy + Default>(at: [T; 3], from: ImageKind, to: ImageKind) -> [T; 3] {
    use ImageKind::{Cube, D1, D1Array, D2, D2Array, D3};
    let zero = T::default();
    let [x, y, slice] = match from {
        D1 => [at[0], zero, zero],
        D1Array => [at[0], zero, at[1]],
        D2 => [at[0], at[1], zero],
        D2Array | Cube | D3 => at,
    };
    match to {
        D1 => [x, zero, zero],
        D1Array => [x, slice, zero],
        D2 => [x, y, zero],
        D2Array | Cube | D3 => [x, y, slice],
    }
}

/// An image instruction: the side record of its operation.
#[derive(Debug)]
pub struct ImageOp {
    /// What it does.
    pub access: Access,
    /// Whose descriptors.
    pub family: Family,
    /// What the address registers hold.
    pub coordinates: Coordinates,
    /// First slot of the resource.
    pub resource: usize,
    /// First slot of the sampler.
    pub sampler: Option<usize>,
    /// Components that are read or written.
    pub dmask: u8,
    /// Coordinates in texels.
    pub unnormalised: bool,
    /// An atomic that returns the old value.
    pub returns: bool,
    /// Address registers, in order; as many as may be used.
    pub address: Vec<u32>,
    /// Byte offset of the data registers in the vector file.
    pub data: Option<u32>,
}

/// Guest memory through the map cache.
struct Guest<'a> {
    w: &'a Wave,
    site: usize,
    lane: usize,
}

impl TexelMemory for Guest<'_> {
    type Error = Exit;

    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), Exit> {
        // SAFETY: handlers run inside a slice.
        let cache = unsafe { cache(self.w) };
        let host = cache
            .read(self.site, address, out.len() as u64)
            .map_err(|fault| fault_exit(fault, Some(self.lane)))?;
        // SAFETY: the map gave that many readable bytes; `out` is a buffer of ours.
        unsafe { std::ptr::copy_nonoverlapping(host, out.as_mut_ptr(), out.len()) };
        Ok(())
    }
}

impl Guest<'_> {
    fn host(&self, address: u64, size: usize) -> Result<*mut u8, Exit> {
        // SAFETY: handlers run inside a slice.
        let cache = unsafe { cache(self.w) };
        cache
            .write(self.site, address, size as u64)
            .map_err(|fault| fault_exit(fault, Some(self.lane)))
    }
}

/// Any image operation.
///
/// # Safety
/// A [handler](crate::interp::run::Handler) whose `imm` points to an [`ImageOp`].
pub unsafe fn run(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the lowering made the record, and it lives as long as the program.
    let record = unsafe { &*std::ptr::with_exposed_provenance::<ImageOp>((*op).imm as usize) };
    match lanes(w, record, site(op)) {
        // SAFETY: a memory operation is followed by an operation of its segment.
        Ok(()) => unsafe { op.add(1) },
        Err(exit) => w.stop(op, exit),
    }
}

fn lanes(w: &mut Wave, record: &ImageOp, site: usize) -> Result<(), Exit> {
    if w.exec() == 0 {
        return Ok(());
    }
    let words = std::array::from_fn(|at| w.sgpr[record.resource + at]);
    let mut image = Image::decode(words, record.family).map_err(|_| Exit::Other(other::IMAGE))?;
    let kind = record.coordinates.kind(image.kind);
    // Faces are what an instruction makes of layers.
    match (kind, image.kind) {
        (ImageKind::Cube, ImageKind::D2Array) => image.kind = ImageKind::Cube,
        (ImageKind::D2Array | ImageKind::D2, ImageKind::Cube) => image.kind = ImageKind::D2Array,
        _ => {}
    }
    let sampler = record
        .sampler
        .map(|at| Sampler::decode(std::array::from_fn(|word| w.sgpr[at + word])));
    let mut result = Ok(());
    each_lane(w.exec(), |lane| {
        if result.is_ok() {
            result = one_lane(w, record, &image, kind, sampler.as_ref(), site, lane);
        }
    });
    result
}

fn one_lane(
    w: &mut Wave,
    record: &ImageOp,
    image: &Image,
    kind: ImageKind,
    sampler: Option<&Sampler>,
    site: usize,
    lane: usize,
) -> Result<(), Exit> {
    let coordinates = kind.coordinates();
    let skip = match record.access {
        Access::Sample { skip } => skip,
        Access::SampleWithDerivatives => 2 * kind.dimensions(),
        _ => 0,
    };
    let mip = matches!(
        record.access,
        Access::Load { mip: true } | Access::Store { mip: true }
    );
    let wanted = if matches!(record.access, Access::ResourceInfo) {
        0
    } else {
        skip + coordinates + usize::from(mip)
    };
    if wanted > record.address.len()
        || record
            .address
            .iter()
            .take(wanted)
            .any(|register| *register as usize >= w.vgpr_count as usize)
    {
        return Err(Exit::IllegalInstruction);
    }
    let mut word = |at: usize| match record.address.get(at) {
        // SAFETY: the register is in the file, as was checked for as many as are wanted; the lane is in the wave.
        Some(register) if at < wanted => unsafe { *w.vgpr(*register as usize).add(lane) },
        _ => 0,
    };
    let address: [u32; 3] =
        std::array::from_fn(|at| if at < coordinates { word(skip + at) } else { 0 });
    // There is one level; texels of others are out of range.
    let level_exists = !mip || word(skip + coordinates) == 0;
    let address = convert(address, kind, image.kind);
    let texel = address.map(u32::cast_signed);
    let position = address.map(f32::from_bits);
    let mut memory = Guest { w, site, lane };
    let components = match record.access {
        Access::Load { .. } if !level_exists => [0; 4],
        Access::Load { .. } => sample::load(image, &mut memory, texel)?,
        Access::Sample { .. } | Access::SampleWithDerivatives => {
            let sampler = sampler.ok_or(Exit::Other(other::IMAGE))?;
            sample::sample(image, sampler, &mut memory, position, record.unnormalised)?
        }
        Access::Gather { component } => {
            let sampler = sampler.ok_or(Exit::Other(other::IMAGE))?;
            let texels = sample::gather4(
                image,
                sampler,
                &mut memory,
                position,
                record.unnormalised,
                component,
            )?;
            write(w, record, lane, 0xf, texels);
            return Ok(());
        }
        Access::ResourceInfo => {
            let rows = if matches!(image.kind, ImageKind::D1 | ImageKind::D1Array) {
                image.depth
            } else {
                image.height
            };
            [image.width, rows, image.depth, 1]
        }
        Access::Store { .. } => {
            if let Some(address) = sample::texel_address(image, texel).filter(|_| level_exists) {
                let host = memory.host(address, image.format.size())?;
                let bytes = sample::stored(image, read(w, record, lane));
                // SAFETY: the map gave that many writable bytes.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, image.format.size()) };
            }
            return Ok(());
        }
        Access::Atomic(operation) => {
            if image.format.size() != 4 {
                return Err(Exit::Other(other::IMAGE));
            }
            let Some(address) = sample::texel_address(image, texel) else {
                return Ok(());
            };
            let host = memory.host(address, 4)?;
            let [value, compare, ..] = read(w, record, lane);
            let old = atomic(operation, host, value, compare);
            if record.returns {
                write(w, record, lane, 1, [old, 0, 0, 0]);
            }
            return Ok(());
        }
    };
    write(w, record, lane, record.dmask.max(1), components);
    Ok(())
}

/// Does an atomic on a texel and gives the old value. Texel addresses are multiples of four: bases are 256-byte aligned.
fn atomic(operation: Atomic, host: *mut u8, value: u32, compare: u32) -> u32 {
    // SAFETY: four mapped, writable, aligned bytes. SeqCst: as the other atomics of the interpreter.
    let word = unsafe { AtomicU32::from_ptr(host.cast()) };
    let order = Ordering::SeqCst;
    let signed = |choose: fn(i32, i32) -> i32| {
        word.fetch_update(order, Ordering::Relaxed, |old| {
            Some(choose(old.cast_signed(), value.cast_signed()).cast_unsigned())
        })
        .unwrap_or_else(|old| old)
    };
    let wrapping = |next: &dyn Fn(u32) -> u32| {
        word.fetch_update(order, Ordering::Relaxed, |old| Some(next(old)))
            .unwrap_or_else(|old| old)
    };
    match operation {
        Atomic::Swap => word.swap(value, order),
        Atomic::CompareSwap => word
            .compare_exchange(compare, value, order, Ordering::Relaxed)
            .unwrap_or_else(|old| old),
        Atomic::Add => word.fetch_add(value, order),
        Atomic::Sub => word.fetch_sub(value, order),
        Atomic::UnsignedMin => word.fetch_min(value, order),
        Atomic::UnsignedMax => word.fetch_max(value, order),
        Atomic::SignedMin => signed(i32::min),
        Atomic::SignedMax => signed(i32::max),
        Atomic::And => word.fetch_and(value, order),
        Atomic::Or => word.fetch_or(value, order),
        Atomic::Increment => wrapping(&|old| if old >= value { 0 } else { old + 1 }),
        Atomic::Decrement => wrapping(&|old| {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }),
        Atomic::Xor => word.fetch_xor(value, order),
    }
}

/// Lane's data registers spread over the components of the mask; others are 0.
fn read(w: &Wave, record: &ImageOp, lane: usize) -> [u32; 4] {
    let Some(data) = record.data else {
        return [0; 4];
    };
    let mut registers = 0;
    std::array::from_fn(|component| {
        if record.dmask >> component & 1 == 0 {
            return 0;
        }
        // SAFETY: the lowering checked as many registers as the mask has components.
        let value = unsafe {
            *w.base[0]
                .add(data as usize + registers * w.stride() + lane * 4)
                .cast::<u32>()
        };
        registers += 1;
        value
    })
}

/// Packs the components of the mask into the lane's data registers.
fn write(w: &mut Wave, record: &ImageOp, lane: usize, dmask: u8, components: [u32; 4]) {
    let Some(data) = record.data else { return };
    let mut registers = 0;
    for (component, value) in components.into_iter().enumerate() {
        if dmask >> component & 1 != 0 {
            // SAFETY: as in `read`.
            unsafe {
                *w.base[0]
                    .add(data as usize + registers * w.stride() + lane * 4)
                    .cast::<u32>() = value
            };
            registers += 1;
        }
    }
}
