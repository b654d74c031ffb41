//! Texels by integer coordinates: their addresses, loads and stores, with and without conversion.

use super::{
    TexelMemory,
    descriptor::{Image, ImageKind, select},
};

/// Address of a texel; `None` out of range.
#[inline]
pub fn texel_address(image: &Image, at: [i32; 3]) -> Option<u64> {
    let limit = |value: i32, limit: u32| u32::try_from(value).ok().filter(|value| *value < limit);
    let x = limit(at[0], image.width)?;
    let (y, z) = match image.kind {
        ImageKind::D1 => (0, 0),
        ImageKind::D1Array => (0, limit(at[1], image.depth)?),
        ImageKind::D2 => (limit(at[1], image.height)?, 0),
        ImageKind::D3 | ImageKind::Cube | ImageKind::D2Array => {
            (limit(at[1], image.height)?, limit(at[2], image.depth)?)
        }
    };
    let rows = if image.kind == ImageKind::D1Array {
        1
    } else {
        u64::from(image.height)
    };
    let texel = (u64::from(z) * rows + u64::from(y)) * u64::from(image.pitch) + u64::from(x);
    Some(image.base + texel * image.format.size() as u64)
}

/// Selectors that change nothing.
const SAME: [u8; 4] = [select::X, select::X + 1, select::X + 2, select::X + 3];

/// Applies the component selectors of the descriptor.
#[inline]
pub(super) fn swizzle(image: &Image, texel: [u32; 4]) -> [u32; 4] {
    if image.select == SAME {
        return texel;
    }
    image.select.map(|source| match source {
        select::ZERO => 0,
        select::ONE => image.format.one(),
        component => texel[usize::from(component & 3)],
    })
}

/// The bytes of a texel that `image_store` writes: each component of the format comes from the first register whose selector names it,
/// so that a load gives back what was stored. Components that no selector names are 0.
pub fn stored(image: &Image, registers: [u32; 4]) -> [u8; 16] {
    if image.select == SAME {
        return image.format.encode(registers);
    }
    let component = |at: usize| {
        let source = image
            .select
            .iter()
            .position(|&source| usize::from(source) == usize::from(select::X) + at);
        source.map_or(0, |source| registers[source])
    };
    image.format.encode(std::array::from_fn(component))
}

/// Reads the texel at integer coordinates, without selectors; `None` out of range.
#[inline]
pub fn read<M: TexelMemory>(
    image: &Image,
    memory: &mut M,
    at: [i32; 3],
) -> Result<Option<[u32; 4]>, M::Error> {
    let Some(address) = texel_address(image, at) else {
        return Ok(None);
    };
    let mut bytes = [0u8; 16];
    memory.read(address, &mut bytes[..image.format.size()])?;
    Ok(Some(image.format.decode(&bytes)))
}

/// `image_load`: the texel at integer coordinates; all zero out of range.
pub fn load<M: TexelMemory>(
    image: &Image,
    memory: &mut M,
    at: [i32; 3],
) -> Result<[u32; 4], M::Error> {
    Ok(read(image, memory, at)?.map_or([0; 4], |texel| swizzle(image, texel)))
}

/// `image_load_pck`: the bits of the texel as dwords, without conversion and selectors. With `signed` the top bit of texels of less than a
/// dword is repeated. All zero out of range.
pub fn load_packed<M: TexelMemory>(
    image: &Image,
    memory: &mut M,
    at: [i32; 3],
    signed: bool,
) -> Result<[u32; 4], M::Error> {
    let Some(address) = texel_address(image, at) else {
        return Ok([0; 4]);
    };
    let size = image.format.size();
    let mut bytes = [0u8; 16];
    memory.read(address, &mut bytes[..size])?;
    let mut dwords = [0; 4];
    for (dword, bytes) in dwords.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *dword = u32::from_le_bytes(*bytes);
    }
    if signed && size < 4 {
        let shift = 32 - 8 * size as u32;
        dwords[0] = ((dwords[0] << shift).cast_signed() >> shift).cast_unsigned();
    }
    Ok(dwords)
}

/// The bytes of a texel that `image_store_pck` writes: dwords without conversion.
pub fn stored_packed(registers: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (bytes, dword) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(registers) {
        *bytes = dword.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::image::{Number, TexelFormat};

    /// Memory from address 0.
    pub(in crate::image) struct Bytes(Vec<u8>);

    impl TexelMemory for Bytes {
        type Error = u64;

        fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), u64> {
            let at = address as usize;
            out.copy_from_slice(self.0.get(at..at + out.len()).ok_or(address)?);
            Ok(())
        }
    }

    /// Memory of floats from address 0.
    pub(in crate::image) fn floats(values: &[f32]) -> Bytes {
        Bytes(
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        )
    }

    /// 4 × 2 floats: 0 1 2 3 / 10 11 12 13, pitch 5.
    pub(in crate::image) fn image() -> (Image, Bytes) {
        let image = Image {
            base: 0,
            kind: ImageKind::D2,
            width: 4,
            height: 2,
            depth: 1,
            pitch: 5,
            format: TexelFormat {
                bits: [32, 0, 0, 0],
                number: Number::Float,
            },
            select: [4, 0, 0, 1],
            multisampled: false,
            first_level: 0,
            last_level: 0,
        };
        let values = [
            0.0f32,
            1.0,
            2.0,
            3.0,
            f32::NAN,
            10.0,
            11.0,
            12.0,
            13.0,
            f32::NAN,
        ];
        (image, floats(&values))
    }

    #[test]
    fn loads_read_texels_and_give_zero_out_of_range() {
        let (image, mut memory) = image();
        assert_eq!(
            load(&image, &mut memory, [2, 1, 0]),
            Ok([12.0f32.to_bits(), 0, 0, 1.0f32.to_bits()])
        );
        assert_eq!(load(&image, &mut memory, [4, 0, 0]), Ok([0; 4]));
        assert_eq!(load(&image, &mut memory, [-1, 0, 0]), Ok([0; 4]));
    }

    #[test]
    fn stores_undo_the_component_selectors() {
        let (mut image, _) = image();
        image.format = TexelFormat {
            bits: [8, 8, 8, 8],
            number: Number::Uint,
        };
        // B, G, R, A in memory.
        image.select = [6, 5, 4, 7];
        assert_eq!(stored(&image, [1, 2, 3, 4])[..4], [3, 2, 1, 4]);
        // One alpha.
        image.format.bits = [8, 0, 0, 0];
        image.select = [0, 0, 0, 4];
        assert_eq!(stored(&image, [1, 2, 3, 4])[0], 4);
    }

    #[test]
    fn a_fault_of_the_memory_is_passed_on() {
        let (mut image, mut memory) = image();
        image.base = 4096;
        assert_eq!(load(&image, &mut memory, [1, 0, 0]), Err(4100));
    }

    #[test]
    fn packed_loads_do_not_convert() {
        let (mut image, mut memory) = image();
        let one = 1.0f32.to_bits();
        assert_eq!(
            load_packed(&image, &mut memory, [1, 0, 0], true),
            Ok([one, 0, 0, 0])
        );
        // The low and the high half of 1.0 are texels 2 and 3 of 16 bits.
        image.format.bits = [16, 0, 0, 0];
        image.format.number = Number::Snorm;
        image.width = 8;
        let mut at = |x, signed| load_packed(&image, &mut memory, [x, 0, 0], signed);
        assert_eq!(at(3, false), Ok([0x3f80, 0, 0, 0]));
        assert_eq!(at(8, false), Ok([0; 4]));
        let negative = stored_packed([0x8001, 0, 0, 0xff]);
        assert_eq!(negative[..4], [1, 0x80, 0, 0]);
        assert_eq!(negative[12..], [0xff, 0, 0, 0]);
        let mut memory = Bytes(vec![0x01, 0x80]);
        assert_eq!(
            load_packed(&image, &mut memory, [0, 0, 0], true),
            Ok([0xffff_8001, 0, 0, 0])
        );
    }
}
