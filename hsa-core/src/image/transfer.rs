//! Copies between images and memory, between images, and fills: row by row on the calling thread.

use std::ffi::c_void;

use gneiss_amdgcn::image::{ImageKind, Number, texel};
use gneiss_hsa_api::*;

use crate::{
    entry::{HsaResult, require},
    image::{ImageObject, Pitches},
    runtime::Runtime,
};

/// The rows of a region: where they are in the image's memory.
struct Rows {
    first: *mut u8,
    /// Bytes of a row.
    length: usize,
    rows: usize,
    slices: usize,
    row_pitch: usize,
    slice_pitch: usize,
}

impl Rows {
    /// The rows of a region, checked against the image.
    fn of(
        runtime: &Runtime,
        object: &ImageObject,
        offset: &hsa_dim3_t,
        range: &hsa_dim3_t,
    ) -> HsaResult<Self> {
        let layout = &object.layout;
        // Layers of one dimension are counted by y.
        let extent = match layout.kind {
            ImageKind::D1Array => [layout.width, layout.depth, 1],
            _ => [layout.width, layout.height, layout.depth],
        };
        let inside = [offset.x, offset.y, offset.z]
            .into_iter()
            .zip([range.x, range.y, range.z])
            .zip(extent)
            .all(|((offset, range), extent)| {
                offset
                    .checked_add(range)
                    .is_some_and(|end| range != 0 && end <= extent)
            });
        require(inside)?;
        let size = layout.size() as usize;
        let base = runtime.memory.host_address(object.data, size)?;
        let texel = layout.format.texel.size();
        let (row_pitch, slice_pitch) = (layout.row_bytes() as usize, layout.slice_bytes() as usize);
        let at = offset.z as usize * slice_pitch
            + offset.y as usize * row_pitch
            + offset.x as usize * texel;
        Ok(Self {
            first: base.wrapping_add(at),
            length: range.x as usize * texel,
            rows: range.y as usize,
            slices: range.z as usize,
            row_pitch,
            slice_pitch,
        })
    }

    /// Calls back with the address of each row and its position (row, slice).
    fn each(&self, mut row: impl FnMut(*mut u8, usize, usize)) {
        for slice in 0..self.slices {
            for at in 0..self.rows {
                let address = self
                    .first
                    .wrapping_add(slice * self.slice_pitch + at * self.row_pitch);
                row(address, at, slice);
            }
        }
    }
}

/// The pitches of the memory side: rows and slices without gaps where the program gives none.
fn memory_pitches(rows: &Rows, kind: ImageKind, given: Pitches) -> HsaResult<(usize, usize)> {
    // Slices of an array of one dimension are its rows.
    let row = if kind == ImageKind::D1Array && given.slice != 0 {
        given.slice
    } else if given.row != 0 {
        given.row
    } else {
        rows.length
    };
    let slice = if given.slice != 0 && kind != ImageKind::D1Array {
        given.slice
    } else {
        row.checked_mul(rows.rows)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?
    };
    require(row >= rows.length)?;
    Ok((row, slice))
}

/// Which way [`with_memory`] copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `hsa_ext_image_import`.
    ToImage,
    /// `hsa_ext_image_export`.
    FromImage,
}

/// Copies a region of an image from or to memory.
pub(crate) fn with_memory(
    runtime: &Runtime,
    image: hsa_ext_image_t,
    memory: *mut c_void,
    pitches: Pitches,
    region: &hsa_ext_image_region_t,
    direction: Direction,
) -> HsaResult {
    let object = runtime.images.get(image)?;
    let rows = Rows::of(runtime, &object, &region.offset, &region.range)?;
    let (row_pitch, slice_pitch) = memory_pitches(&rows, object.layout.kind, pitches)?;
    let span = slice_pitch
        .checked_mul(rows.slices - 1)
        .and_then(|span| span.checked_add(row_pitch.checked_mul(rows.rows - 1)?))
        .and_then(|span| span.checked_add(rows.length))
        .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let memory = runtime.memory.host_address(memory as u64, span)?;
    rows.each(|address, row, slice| {
        let other = memory.wrapping_add(slice * slice_pitch + row * row_pitch);
        // SAFETY: the region lies in the image and the image in its allocation; the span was checked against the memory's allocation, and
        // host memory is the caller's. `copy` allows overlap.
        unsafe {
            match direction {
                Direction::ToImage => std::ptr::copy(other, address, rows.length),
                Direction::FromImage => std::ptr::copy(address, other, rows.length),
            }
        }
    });
    Ok(())
}

/// Copies a region between two images of the same format, or between RGBA and sRGBA, where values are kept rather than bits.
pub(crate) fn between(
    runtime: &Runtime,
    source: (hsa_ext_image_t, &hsa_dim3_t),
    destination: (hsa_ext_image_t, &hsa_dim3_t),
    range: &hsa_dim3_t,
) -> HsaResult {
    let from = runtime.images.get(source.0)?;
    let to = runtime.images.get(destination.0)?;
    require(from.gpu == to.gpu)?;
    let (from_format, to_format) = (from.layout.format, to.layout.format);
    let same = from.layout.wanted == to.layout.wanted;
    let rgba8 = |number| from_format.texel.bits == [8; 4] && number == Number::Unorm;
    let converts = from_format.texel.bits == to_format.texel.bits
        && from_format.select == to_format.select
        && match (from_format.texel.number, to_format.texel.number) {
            (Number::Srgb, other) | (other, Number::Srgb) => rgba8(other),
            _ => false,
        };
    require(same || converts)?;
    let source = Rows::of(runtime, &from, source.1, range)?;
    let destination = Rows::of(runtime, &to, destination.1, range)?;
    let mut pairs = Vec::with_capacity(source.rows * source.slices);
    source.each(|address, _, _| pairs.push((address, std::ptr::null_mut())));
    let mut at = pairs.iter_mut();
    destination.each(|address, _, _| {
        if let Some(pair) = at.next() {
            pair.1 = address;
        }
    });
    let size = from_format.texel.size();
    for (source_row, destination_row) in pairs {
        if same {
            // SAFETY: both rows lie in their images, and these in their allocations; `copy` allows overlap.
            unsafe { std::ptr::copy(source_row, destination_row, source.length) };
            continue;
        }
        for texel in (0..source.length).step_by(size) {
            let mut bytes = [0u8; 16];
            // SAFETY: as above, one texel at a time.
            unsafe {
                std::ptr::copy(source_row.add(texel), bytes.as_mut_ptr(), size);
                let bytes = to_format
                    .texel
                    .encode(from_format.texel.decode(&bytes[..size]));
                std::ptr::copy(bytes.as_ptr(), destination_row.add(texel), size);
            }
        }
    }
    Ok(())
}

/// Fills a region with one colour: red, green, blue and alpha as a kernel would store them.
pub(crate) fn clear(
    runtime: &Runtime,
    image: hsa_ext_image_t,
    colour: [u32; 4],
    region: &hsa_ext_image_region_t,
) -> HsaResult {
    let object = runtime.images.get(image)?;
    let rows = Rows::of(runtime, &object, &region.offset, &region.range)?;
    let texel = texel::stored(&object.layout.image(object.data), colour);
    let size = object.layout.format.texel.size();
    rows.each(|address, _, _| {
        for at in (0..rows.length).step_by(size) {
            // SAFETY: the row lies in the image, and the image in its allocation.
            unsafe { std::ptr::copy_nonoverlapping(texel.as_ptr(), address.add(at), size) };
        }
    });
    Ok(())
}
