//! Image operations of a wave, lane by lane. The arithmetic is in [`crate::image`]; here are registers, descriptors and memory.

pub mod address;

use address::{Address, Inputs, Layout};

use super::{
    atomic::{Rmw, Word},
    cache, fault_exit,
    formatted::{from_half, to_half},
    lanes::each_lane,
    other,
    space::site,
};
use crate::{
    image::{
        Image, ImageKind, MipFilter, Number, Sampler, TexelMemory, levels,
        lod::{Lod, Source},
        sample, texel,
    },
    interp::{run::Exit, wave::Wave},
    ir::Op,
    target::Family,
};

/// Address registers that an image instruction without a register list may have at most: six derivatives, three coordinates, and
/// what may precede and follow them.
pub const ADDRESS_REGISTERS: u32 = 13;

/// What an image instruction does. Levels that the image does not have and samples other than 0 do not exist: loads of them give 0, and stores
/// do nothing.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// Reads a texel.
    Load,
    /// Reads the bits of a texel.
    LoadPacked {
        /// Texels of less than 32 bits are extended by their sign.
        signed: bool,
    },
    /// Reads a component of four samples of a texel.
    LoadSamples,
    /// Writes a texel.
    Store,
    /// Writes the bits of a texel.
    StorePacked,
    /// Width, height, depth, levels.
    ResourceInfo,
    /// Samples.
    Sample,
    /// Four texels of one component.
    Gather {
        /// Which.
        component: usize,
    },
    /// The level of detail that a sample would read, and what it was before limits.
    LevelOfDetail,
    /// An atomic on a texel.
    Atomic {
        /// Does it.
        run: TexelAtomic,
        /// Bytes of the texel.
        bytes: usize,
    },
}

/// An atomic on the texel at a host address: from the data registers to the old value.
pub type TexelAtomic = unsafe fn(*mut u8, [u32; 4]) -> [u32; 2];

/// A read-modify-write operation on a texel.
///
/// # Safety
/// As [`Rmw::atomic`].
pub unsafe fn texel_atomic<R: Rmw>(at: *mut u8, data: [u32; 4]) -> [u32; 2] {
    let mut old = [0; 2];
    // SAFETY: by the caller; the arrays hold two words each, and one, of the largest kind.
    unsafe {
        let first = R::Word::read(data.as_ptr(), 1);
        let second = R::Word::read(data.as_ptr().add(R::Word::DWORDS), 1);
        R::atomic(at, first, second).write(old.as_mut_ptr(), 1);
    }
    old
}

/// An image instruction: the side record of its operation.
#[derive(Debug)]
pub struct ImageOp {
    /// What it does.
    pub access: Access,
    /// Whose descriptors.
    pub family: Family,
    /// What the address registers hold.
    pub address: Address,
    /// First slot of the resource.
    pub resource: usize,
    /// The resource has four dwords.
    pub short_resource: bool,
    /// First slot of the sampler.
    pub sampler: Option<usize>,
    /// Components that are read or written.
    pub dmask: u8,
    /// How many values the data registers hold; as many as the mask has, but for gathers and samples.
    pub components: u32,
    /// Components of 16 bits, two in a register.
    pub half: bool,
    /// A register after the components says that no texel was missing.
    pub status: bool,
    /// Coordinates in texels.
    pub unnormalised: bool,
    /// An atomic that returns the old value.
    pub returns: bool,
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
        unsafe { copy_texel(host, out.as_mut_ptr(), out.len()) };
        Ok(())
    }
}

/// Copies a texel: for the usual sizes a few moves instead of a call.
///
/// # Safety
/// Both places have `size` bytes, and are different ones.
#[inline]
unsafe fn copy_texel(from: *const u8, to: *mut u8, size: usize) {
    // SAFETY: by the caller.
    unsafe {
        match size {
            4 => std::ptr::copy_nonoverlapping(from, to, 4),
            8 => std::ptr::copy_nonoverlapping(from, to, 8),
            16 => std::ptr::copy_nonoverlapping(from, to, 16),
            _ => std::ptr::copy_nonoverlapping(from, to, size),
        }
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
    let word = |at: usize| w.sgpr[record.resource + at];
    let image = if record.short_resource {
        Image::decode_short(std::array::from_fn(word), record.family)
    } else {
        Image::decode(std::array::from_fn(word), record.family)
    };
    let mut image = image.map_err(|_| Exit::Other(other::IMAGE))?;
    let sampler = record
        .sampler
        .map(|at| Sampler::decode(std::array::from_fn(|word| w.sgpr[at + word]), record.family));
    let layout = Layout::new(&record.address, &mut image);
    if !layout.fits(w) {
        return Err(Exit::IllegalInstruction);
    }
    let chain = (image.last_level != 0).then_some(image);
    let instruction = Instruction {
        record,
        image: chain.map_or(image, |chain| chain.level(0)),
        chain,
        sampler,
        layout,
        site,
    };
    let mut result = Ok(());
    each_lane(w.exec(), |lane| {
        if result.is_ok() {
            result = instruction.lane(w, lane);
        }
    });
    result
}

/// An instruction with what its scalar registers hold.
struct Instruction<'a> {
    record: &'a ImageOp,
    /// The first level.
    image: Image,
    /// The whole image, if it is more than its level 0.
    chain: Option<Image>,
    sampler: Option<Sampler>,
    layout: Layout<'a>,
    site: usize,
}

impl Instruction<'_> {
    fn lane(&self, w: &mut Wave, lane: usize) -> Result<(), Exit> {
        let record = self.record;
        // SAFETY: the registers fit, and the lane is active.
        let inputs = unsafe { self.layout.read(w, lane) };
        let texel_at = inputs.at.map(u32::cast_signed);
        let given_level = if record.address.parts.sampled {
            0
        } else {
            inputs.level
        };
        let (level, exists) = match &self.chain {
            Some(chain) if (1..chain.levels()).contains(&given_level) => {
                (Some(chain.level(given_level)), inputs.fragment == 0)
            }
            _ => (None, inputs.fragment == 0 && given_level == 0),
        };
        let image = level.as_ref().unwrap_or(&self.image);
        let memory = &mut Guest {
            w,
            site: self.site,
            lane,
        };
        let number = image.format.number;
        let data = match record.access {
            Access::Load | Access::LoadPacked { .. } if !exists => Data::of([0; 4], number),
            Access::Load => Data::of(texel::load(image, memory, texel_at)?, number),
            Access::LoadPacked { signed } => Data {
                components: texel::load_packed(image, memory, texel_at, signed)?,
                half: None,
            },
            Access::LoadSamples => {
                // Of the four samples from the one that the address names only sample 0 may exist.
                let component = record.dmask.trailing_zeros().min(3) as usize;
                let mut samples = [0; 4];
                if exists {
                    samples[0] = texel::load(image, memory, texel_at)?[component];
                }
                let mask = (1u8 << record.components) - 1;
                return self.write(w, lane, mask, Data::of(samples, number));
            }
            Access::Sample => {
                let (request, lod) = self.request(memory.w, lane, &inputs)?;
                let sampler = self.sampler()?;
                let texel = match &self.chain {
                    None => sample::sample(image, sampler, memory, &request)?,
                    Some(chain) => levels::sample(chain, sampler, memory, &request, lod)?,
                };
                Data::of(texel, number)
            }
            Access::Gather { component } => {
                let (request, lod) = self.request(memory.w, lane, &inputs)?;
                let sampler = self.sampler()?;
                let level = self
                    .chain
                    .map(|chain| chain.level(levels::nearest(&chain, sampler, lod)));
                let image = level.as_ref().unwrap_or(image);
                let texels = sample::gather4(image, sampler, memory, &request, component)?;
                return self.write(w, lane, 0xf, Data::of(texels, number));
            }
            Access::LevelOfDetail => {
                let lod = self.lod(memory.w, lane, &inputs)?;
                let read = match (&self.chain, self.sampler()?.mip_filter) {
                    (Some(chain), MipFilter::Linear) => levels::within(chain, lod.limited),
                    (Some(chain), _) => levels::nearest(chain, self.sampler()?, lod.limited) as f32,
                    // Level 0 is the only one.
                    (None, _) => 0.0,
                };
                let read = [read.to_bits(), lod.raw.to_bits(), 0, 0];
                Data::of(read, Number::Float)
            }
            Access::ResourceInfo => {
                let rows = if matches!(image.kind, ImageKind::D1 | ImageKind::D1Array) {
                    image.depth
                } else {
                    image.height
                };
                let extent = if exists {
                    [image.width, rows, image.depth]
                } else {
                    [0; 3]
                };
                let levels = self.chain.map_or(1, |chain| chain.levels());
                Data::of([extent[0], extent[1], extent[2], levels], Number::Uint)
            }
            Access::Store | Access::StorePacked => {
                if let Some(address) = texel::texel_address(image, texel_at).filter(|_| exists) {
                    let size = image.format.size();
                    let host = memory.host(address, size)?;
                    let bytes = if matches!(record.access, Access::StorePacked) {
                        texel::stored_packed(self.read(w, lane, None))
                    } else {
                        texel::stored(image, self.read(w, lane, Some(number)))
                    };
                    // SAFETY: the map gave that many writable bytes, of which a texel has at most 16.
                    unsafe { copy_texel(bytes.as_ptr(), host, size) };
                }
                return Ok(());
            }
            Access::Atomic { run, bytes } => {
                if image.format.size() != bytes {
                    return Err(Exit::Other(other::IMAGE));
                }
                let Some(address) = texel::texel_address(image, texel_at).filter(|_| exists) else {
                    return Ok(());
                };
                let host = memory.host(address, bytes)?;
                let words = self.words(w, lane, record.components as usize);
                // SAFETY: mapped, writable bytes. They are aligned: bases and rows are multiples of 256 bytes.
                let [low, high] = unsafe { run(host, words) };
                if record.returns {
                    let old = Data {
                        components: [low, high, 0, 0],
                        half: None,
                    };
                    let registers = if bytes == 8 { 3 } else { 1 };
                    return self.write(w, lane, registers, old);
                }
                return Ok(());
            }
        };
        self.write(w, lane, record.dmask.max(1), data)
    }

    fn sampler(&self) -> Result<&Sampler, Exit> {
        self.sampler.as_ref().ok_or(Exit::Other(other::IMAGE))
    }

    /// What a lane samples, and the level of detail where it decides.
    fn request(
        &self,
        w: &Wave,
        lane: usize,
        inputs: &Inputs,
    ) -> Result<(sample::Request, f32), Exit> {
        let sampler = self.sampler()?;
        let decides = sampler.linear != sampler.linear_minified || self.chain.is_some();
        let lod = decides.then(|| self.lod(w, lane, inputs)).transpose()?;
        let request = sample::Request {
            position: inputs.position(),
            unnormalised: self.record.unnormalised,
            offset: inputs.offset,
            compare: inputs.compare,
            minified: lod.is_some_and(Lod::minified),
        };
        Ok((request, lod.map_or(0.0, |lod| lod.limited)))
    }

    /// The level of detail of a lane's sample.
    fn lod(&self, w: &Wave, lane: usize, inputs: &Inputs) -> Result<Lod, Exit> {
        let sampler = self.sampler()?;
        let parts = &self.record.address.parts;
        let source = match inputs.given_level(parts) {
            Some(lod) => Source::Given(lod),
            None if parts.gradients => Source::Derivatives(inputs.gradients),
            None => Source::Derivatives(self.differences(w, lane)),
        };
        let unnormalised = self.record.unnormalised || sampler.unnormalised;
        let least = inputs.least_level(parts);
        Ok(Lod::of(
            &self.image,
            sampler,
            unnormalised,
            source,
            inputs.bias,
            least,
        ))
    }

    /// Derivatives of a lane's coordinates: from the first lane of its quad to the second and to the third. Without lanes to compare there are
    /// none.
    fn differences(&self, w: &Wave, lane: usize) -> [[f32; 3]; 2] {
        let first = lane & !3;
        let active = |lane: usize| w.exec() >> lane & 1 != 0;
        // SAFETY: the registers fit, and waves are whole quads.
        let position = |lane: usize| unsafe { self.layout.read(w, lane) }.position();
        [first + 1, first + 2].map(|next| {
            if !(active(first) && active(next)) {
                return [0.0; 3];
            }
            let (from, to) = (position(first), position(next));
            std::array::from_fn(|at| to[at] - from[at])
        })
    }

    #[inline]
    fn register(&self, w: &Wave, lane: usize, at: usize) -> Option<*mut u32> {
        let data = self.record.data? as usize;
        // SAFETY: the lowering checked as many registers as the instruction has data.
        Some(unsafe { w.base[0].add(data + at * w.stride() + lane * 4) }.cast())
    }

    /// The first `count` data registers, of up to four.
    fn words(&self, w: &Wave, lane: usize, count: usize) -> [u32; 4] {
        std::array::from_fn(|at| match self.register(w, lane, at) {
            // SAFETY: a register of the instruction.
            Some(from) if at < count => unsafe { *from },
            _ => 0,
        })
    }

    /// A lane's data registers spread over the components of the mask; others are 0. Halves are converted if a number says how.
    fn read(&self, w: &Wave, lane: usize, half: Option<Number>) -> [u32; 4] {
        let words = self.words(w, lane, self.record.dmask.count_ones() as usize);
        if self.record.dmask == 0xf && !self.record.half {
            return words;
        }
        let half = half.filter(|_| self.record.half);
        let mut next = 0;
        std::array::from_fn(|component| {
            if self.record.dmask >> component & 1 == 0 {
                return 0;
            }
            let at = next;
            next += 1;
            match half {
                None => words[at],
                Some(number) => from_half(number, (words[at / 2] >> (16 * (at % 2))) as u16),
            }
        })
    }

    /// Packs the components of the mask into the lane's data registers.
    fn write(&self, w: &mut Wave, lane: usize, mask: u8, data: Data) -> Result<(), Exit> {
        let half = data.half.filter(|_| self.record.half);
        if mask == 0xf && half.is_none() && !self.record.status {
            for (at, value) in data.components.into_iter().enumerate() {
                if let Some(to) = self.register(w, lane, at) {
                    // SAFETY: a register of the instruction.
                    unsafe { *to = value };
                }
            }
            return Ok(());
        }
        let mut written = 0;
        for (component, value) in data.components.into_iter().enumerate() {
            if mask >> component & 1 == 0 {
                continue;
            }
            let at = if half.is_some() { written / 2 } else { written };
            if let Some(to) = self.register(w, lane, at) {
                // SAFETY: a register of the instruction.
                unsafe {
                    *to = match half {
                        None => value,
                        // A half that is not named stays.
                        Some(number) if written % 2 == 0 => {
                            *to & !0xffff | u32::from(to_half(number, value))
                        }
                        Some(number) => *to & 0xffff | u32::from(to_half(number, value)) << 16,
                    };
                }
            }
            written += 1;
        }
        if self.record.status {
            let at = if half.is_some() {
                written.div_ceil(2)
            } else {
                written
            };
            if let Some(to) = self.register(w, lane, at) {
                // SAFETY: as above; the status has a register of its own.
                unsafe { *to = 0 };
            }
        }
        Ok(())
    }
}

/// What an instruction returns.
#[derive(Clone, Copy)]
struct Data {
    components: [u32; 4],
    /// How components become 16 bits, if the instruction asks for that.
    half: Option<Number>,
}

impl Data {
    fn of(components: [u32; 4], number: Number) -> Self {
        Self {
            components,
            half: Some(number),
        }
    }
}
