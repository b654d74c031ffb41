//! The address of an image operation: which registers hold what, and what a lane has in them.

use half::f16;

use crate::{
    image::{Image, ImageKind},
    interp::wave::Wave,
    isa::image::{ImageAddress, LevelOperand},
};

/// Which coordinates the address registers hold.
#[derive(Clone, Copy, Debug)]
pub enum Coordinates {
    /// GFX9: those of the resource's kind; the layer or face only if the instruction declares an array.
    OfResource {
        /// The instruction's `da` bit.
        array: bool,
    },
    /// GFX10: those of the instruction's dimension, whatever the resource is.
    Of {
        /// The dimension.
        kind: ImageKind,
        /// A sample number follows the coordinates.
        multisampled: bool,
    },
}

impl Coordinates {
    /// The kind of image that the instruction addresses, and whether a sample number follows.
    fn of(self, image: &Image) -> (ImageKind, bool) {
        use ImageKind::{Cube, D1, D1Array, D2, D2Array, D3};
        let kind = match self {
            Self::Of { kind, multisampled } => return (kind, multisampled),
            Self::OfResource { array: true } => match image.kind {
                D1 => D1Array,
                D2 => D2Array,
                other => other,
            },
            Self::OfResource { array: false } => match image.kind {
                D1Array => D1,
                D2Array | Cube => D2,
                other @ (D1 | D2 | D3) => other,
            },
        };
        (kind, image.multisampled)
    }
}

/// A register of a lane.
///
/// # Safety
/// The wave has both.
#[inline]
unsafe fn word(w: &Wave, register: u32, lane: usize) -> u32 {
    // SAFETY: by the caller.
    unsafe {
        *w.base[0]
            .add(register as usize * w.stride() + lane * 4)
            .cast::<u32>()
    }
}

/// Coordinates of an image of kind `from`, put in the order that `to` has them; what `from` lacks is 0.
#[inline]
fn convert(at: [u32; 3], from: ImageKind, to: ImageKind) -> [u32; 3] {
    if from == to {
        return at;
    }
    use ImageKind::{Cube, D1, D1Array, D2, D2Array, D3};
    let [x, y, slice] = match from {
        D1 => [at[0], 0, 0],
        D1Array => [at[0], 0, at[1]],
        D2 => [at[0], at[1], 0],
        D2Array | Cube | D3 => at,
    };
    match to {
        D1 => [x, 0, 0],
        D1Array => [x, slice, 0],
        D2 => [x, y, 0],
        D2Array | Cube | D3 => [x, y, slice],
    }
}

/// The address part of an image instruction.
#[derive(Debug)]
pub struct Address {
    /// What the registers hold, in order.
    pub parts: ImageAddress,
    /// Which coordinates.
    pub coordinates: Coordinates,
    /// Coordinates and what follows them have 16 bits.
    pub half: bool,
    /// Derivatives have 16 bits.
    pub half_gradients: bool,
    /// The registers; as many as may be used.
    pub registers: Vec<u32>,
}

/// What a lane has in its address registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inputs {
    /// Texels to add along each dimension.
    pub(super) offset: [i32; 3],
    /// What is added to the level of detail.
    pub(super) bias: f32,
    /// What depths are compared with.
    pub(super) compare: Option<f32>,
    /// Derivatives along x and y of the screen.
    pub(super) gradients: [[f32; 3]; 2],
    /// Coordinates in the order that the image has them; bits of floats for samples.
    pub(super) at: [u32; 3],
    /// Number of the sample.
    pub(super) fragment: u32,
    /// Number of the level; bits of a float for samples.
    pub(super) level: u32,
}

impl Inputs {
    /// The coordinates of a sample.
    pub(super) fn position(&self) -> [f32; 3] {
        self.at.map(f32::from_bits)
    }
}

/// The address of one instruction on one image: where in the registers its parts are.
pub(super) struct Layout<'a> {
    address: &'a Address,
    /// What the instruction addresses.
    kind: ImageKind,
    multisampled: bool,
    /// What the image is.
    image: ImageKind,
    /// Whole registers, which hold coordinates and nothing else.
    plain: bool,
}

impl<'a> Layout<'a> {
    /// The layout for an image, and the image as the instruction sees it: faces are what an instruction makes of layers.
    pub(super) fn new(address: &'a Address, image: &mut Image) -> Self {
        let (kind, multisampled) = address.coordinates.of(image);
        match (kind, image.kind) {
            (ImageKind::Cube, ImageKind::D2Array) => image.kind = ImageKind::Cube,
            (ImageKind::D2Array | ImageKind::D2, ImageKind::Cube) => {
                image.kind = ImageKind::D2Array;
            }
            _ => {}
        }
        let parts = &address.parts;
        let more = parts.offset || parts.bias || parts.compare || parts.gradients;
        let plain =
            parts.coordinates && !(more || parts.level.is_some() || multisampled || address.half);
        Self {
            address,
            kind,
            multisampled,
            image: image.kind,
            plain,
        }
    }

    fn values(&self) -> usize {
        self.kind.coordinates() + usize::from(self.multisampled)
    }

    /// Whether all registers exist.
    pub(super) fn fits(&self, w: &Wave) -> bool {
        let parts = &self.address.parts;
        let wanted = parts.leading_registers()
            + parts.gradient_registers(self.kind.dimensions(), self.address.half_gradients)
            + parts.coordinate_registers(self.values(), self.address.half);
        let registers = self.address.registers.get(..wanted);
        registers.is_some_and(|registers| registers.iter().all(|r| *r < w.vgpr_count))
    }

    /// Reads the registers of a lane.
    ///
    /// # Safety
    /// The registers [fit](Self::fits), and the wave has the lane.
    #[inline]
    pub(super) unsafe fn read(&self, w: &Wave, lane: usize) -> Inputs {
        if !self.plain {
            // SAFETY: by the caller.
            return unsafe { self.read_all(w, lane) };
        }
        let mut at = [0; 3];
        let registers = &self.address.registers[..self.kind.coordinates()];
        for (at, register) in at.iter_mut().zip(registers) {
            // SAFETY: by the caller.
            *at = unsafe { word(w, *register, lane) };
        }
        Inputs {
            at: convert(at, self.kind, self.image),
            ..Inputs::default()
        }
    }

    /// # Safety
    /// As [`read`](Self::read).
    unsafe fn read_all(&self, w: &Wave, lane: usize) -> Inputs {
        let parts = &self.address.parts;
        // SAFETY: by the caller.
        let word = |at: usize| unsafe { word(w, self.address.registers[at], lane) };
        // A value of a group of registers that begins at `first`, packed or not. Floats of 16 bits become floats of 32.
        let value = |first: usize, at: usize, half: bool, float: bool| match (half, float) {
            (false, _) => word(first + at),
            (true, float) => {
                let bits = (word(first + at / 2) >> (16 * (at % 2))) as u16;
                if float {
                    f16::from_bits(bits).to_f32().to_bits()
                } else {
                    u32::from(bits)
                }
            }
        };
        let mut inputs = Inputs::default();
        let mut next = 0;
        if parts.offset {
            let bits = word(next);
            inputs.offset = [0, 8, 16].map(|low| (bits << (26 - low)).cast_signed() >> 26);
            next += 1;
        }
        if parts.bias {
            // A register of its own whatever the size of addresses.
            inputs.bias = f32::from_bits(value(next, 0, self.address.half, true));
            next += 1;
        }
        if parts.compare {
            inputs.compare = Some(f32::from_bits(word(next)));
            next += 1;
        }
        let dimensions = self.kind.dimensions();
        if parts.gradients {
            let packed = self.address.half_gradients;
            for direction in &mut inputs.gradients {
                for (at, derivative) in direction.iter_mut().enumerate().take(dimensions) {
                    *derivative = f32::from_bits(value(next, at, packed, true));
                }
                next += parts.gradient_registers(dimensions, packed) / 2;
            }
        }
        let value = |at: usize| value(next, at, self.address.half, parts.sampled);
        let coordinates = if parts.coordinates { self.values() } else { 0 };
        let own = self.kind.coordinates().min(coordinates);
        let at = std::array::from_fn(|at| if at < own { value(at) } else { 0 });
        inputs.at = convert(at, self.kind, self.image);
        if own < coordinates {
            inputs.fragment = value(own);
        }
        if parts.level.is_some() {
            inputs.level = value(coordinates);
        }
        inputs
    }
}

impl Inputs {
    /// The level of detail that the instruction gives, if it does.
    pub(super) fn given_level(&self, parts: &ImageAddress) -> Option<f32> {
        match parts.level {
            _ if parts.level_zero => Some(0.0),
            Some(LevelOperand::Lod) => Some(f32::from_bits(self.level)),
            _ => None,
        }
    }

    /// The least level of detail that the instruction allows.
    pub(super) fn least_level(&self, parts: &ImageAddress) -> f32 {
        match parts.level {
            Some(LevelOperand::Clamp) => f32::from_bits(self.level),
            _ => f32::NEG_INFINITY,
        }
    }
}
