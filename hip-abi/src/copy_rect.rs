//! Copies of two and three dimensions, and pitched allocations.

use std::ffi::c_void;

use gneiss_clr::{CopyRect, Rect};
use gneiss_hip_abi_macros::hip_api;

use crate::{
    array,
    copy::{Host, STAGING_LIMIT, Side, captured, check_kind, from_pageable, keep_until_end, waits},
    copy_place::Place,
    enums::*,
    error::*,
    fail,
    graph::operation::{CopyRectNode, Operation},
    host_range::{self, Access},
    memory,
    runtime::hip_error,
    stream::Resolved,
    types::*,
    version::{Major, presented},
};

/// Rows of pitched allocations start at multiples of this.
pub const PITCH_ALIGNMENT: usize = 256;

/// A place in memory of rows and slices.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// First byte.
    pub base: *mut c_void,
    /// Bytes from a row to the next.
    pub pitch: usize,
    /// Rows of a slice.
    pub rows: usize,
    /// Bytes into a row.
    pub x: usize,
    /// Row.
    pub y: usize,
    /// Slice.
    pub z: usize,
}

impl Plane {
    /// A plane that starts at a pointer.
    pub fn new(base: *mut c_void, pitch: usize, rows: usize) -> Plane {
        Plane {
            base,
            pitch,
            rows,
            x: 0,
            y: 0,
            z: 0,
        }
    }

    /// Address of the first byte to touch, and the bytes from there to the last, for an extent.
    fn span(&self, extent: [usize; 3]) -> Option<(usize, usize)> {
        let slice = self.slice_pitch()?;
        let offset = self
            .z
            .checked_mul(slice)?
            .checked_add(self.y.checked_mul(self.pitch)?)?
            .checked_add(self.x)?;
        let start = self.base.addr().checked_add(offset)?;
        let last = (extent[2] - 1)
            .checked_mul(slice)?
            .checked_add((extent[1] - 1).checked_mul(self.pitch)?)?
            .checked_add(extent[0])?;
        start.checked_add(last)?;
        Some((start, last))
    }

    fn slice_pitch(&self) -> Option<usize> {
        self.pitch.checked_mul(self.rows)
    }

    /// Looks the touched bytes up and checks that they are in one allocation.
    pub(crate) fn side(&self, what: &str, extent: [usize; 3]) -> HipResult<(Side, Rect)> {
        if self.base.is_null() {
            return fail!(hipErrorInvalidValue, "the {what} is null");
        }
        if self.pitch < extent[0] + self.x && (extent[1] > 1 || extent[2] > 1 || self.pitch != 0) {
            let error = if self.pitch < extent[0] {
                hipErrorInvalidPitchValue
            } else {
                hipErrorInvalidValue
            };
            return fail!(
                error,
                "the {what}'s pitch {} is less than a row of {} bytes from byte {} on",
                self.pitch,
                extent[0],
                self.x
            );
        }
        let Some((start, length)) = self.span(extent) else {
            return fail!(hipErrorInvalidValue, "the {what}'s size overflows");
        };
        let side = Side::new(what, self.base.with_addr(start), length)?;
        let rect = Rect {
            address: side.address as u64,
            row_pitch: self.pitch,
            slice_pitch: self.slice_pitch().unwrap_or(0),
        };
        Ok((side, rect))
    }
}

/// The bytes of a box, one row after the other.
///
/// # Safety
/// The rows must be readable.
unsafe fn gather(rect: &Rect, [width, rows, slices]: [usize; 3]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(width * rows * slices);
    for slice in 0..slices {
        for row in 0..rows {
            let at = rect.address as usize + slice * rect.slice_pitch + row * rect.row_pitch;
            let start: *const u8 = std::ptr::with_exposed_provenance(at);
            // SAFETY: the caller's.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start, width) });
        }
    }
    bytes.into()
}

/// The error of a call that has none of its own for a pitch that is less than a row.
pub(crate) fn pitch_as_value(error: hipError_t) -> hipError_t {
    if error == hipErrorInvalidPitchValue {
        hipErrorInvalidValue
    } else {
        error
    }
}

/// Copies `extent` bytes, rows and slices.
pub(crate) fn copy(
    dst: Plane,
    src: Plane,
    extent: [usize; 3],
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    check_kind(kind, false)?;
    if extent.contains(&0) {
        return Ok(());
    }
    if let Some(capturing) = captured(host, stream)? {
        let node = CopyRectNode::from_planes(dst, src, extent, kind);
        return capturing.add(Operation::CopyRect(Box::new(node)));
    }
    let (destination, dst) = dst.side("destination", extent)?;
    let (source, src) = src.side("source", extent)?;
    check_kind(kind, destination.is_pageable() && source.is_pageable())?;
    host_range::check_rows("destination", &destination, &dst, extent, Access::Write)?;
    host_range::check_rows("source", &source, &src, extent, Access::Read)?;
    let place = Place::of(stream, &destination, &source)?;
    let Resolved { stream, wait } = place.runs_in();
    let size = extent.iter().copied().fold(1, usize::saturating_mul);
    if from_pageable(&destination, &source, host) && size <= STAGING_LIMIT {
        // SAFETY: the rows were checked; that they stay is the caller's.
        let staged = unsafe { gather(&src, extent) };
        let src = Rect {
            address: staged.as_ptr().expose_provenance() as u64,
            row_pitch: extent[0],
            slice_pitch: extent[0] * extent[1],
        };
        // SAFETY: the destination was checked; the staged bytes live until the command has ended.
        let command = unsafe {
            stream
                .queue
                .enqueue_copy_rect(&CopyRect { dst, src, extent }, wait)
        }
        .map_err(hip_error)?;
        keep_until_end(&command, staged);
        return place.go_on_after(&command);
    }
    // SAFETY: known memory was checked; keeping both sides until the command has ended is the program's duty, and for pageable
    // memory this call waits.
    let command = unsafe {
        stream
            .queue
            .enqueue_copy_rect(&CopyRect { dst, src, extent }, wait)
    }
    .map_err(hip_error)?;
    if source.is_pageable() || waits(host, &destination, &source) {
        command.wait().map_err(hip_error)
    } else {
        place.go_on_after(&command)
    }
}

/// Allocates rows whose starts are aligned; gives the pitch.
pub(crate) fn allocate_pitched(
    ptr: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    rows: usize,
) -> HipResult {
    if ptr.is_null() || pitch.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let aligned = width.checked_next_multiple_of(PITCH_ALIGNMENT);
    let Some((aligned, size)) =
        aligned.and_then(|aligned| Some((aligned, aligned.checked_mul(rows)?)))
    else {
        return fail!(
            hipErrorOutOfMemory,
            "{width} bytes by {rows} rows are too many"
        );
    };
    memory::allocate(ptr, size, false)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pitch.write(aligned) };
    Ok(())
}

pub(crate) const NULL_STREAM: hipStream_t = std::ptr::null_mut();

/// Allocates rows of device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocPitch(
    ptr: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> hipError_t {
    allocate_pitched(ptr, pitch, width, height)
}

/// Allocates rows of device memory for elements of 4, 8 or 16 bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemAllocPitch(
    dptr: *mut hipDeviceptr_t,
    pitch: *mut usize,
    widthInBytes: usize,
    height: usize,
    elementSizeBytes: u32,
) -> hipError_t {
    if !matches!(elementSizeBytes, 4 | 8 | 16) || widthInBytes == 0 || height == 0 {
        return fail!(
            hipErrorInvalidValue,
            "elements of {elementSizeBytes} bytes (4, 8 or 16 are possible), or no size"
        );
    }
    allocate_pitched(dptr, pitch, widthInBytes, height)
}

/// Allocates slices of rows of device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc3D(
    pitchedDevPtr: *mut hipPitchedPtr,
    extent: hipExtent,
) -> hipError_t {
    if pitchedDevPtr.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the pointer");
    }
    let Some(rows) = extent.height.checked_mul(extent.depth) else {
        return fail!(
            hipErrorOutOfMemory,
            "{} rows of {} slices are too many",
            extent.height,
            extent.depth
        );
    };
    let (mut ptr, mut pitch) = (std::ptr::null_mut(), 0);
    allocate_pitched(&raw mut ptr, &raw mut pitch, extent.width, rows)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe {
        pitchedDevPtr.write(hipPitchedPtr {
            ptr,
            pitch,
            xsize: extent.width,
            ysize: extent.height,
        })
    };
    Ok(())
}

pub(crate) struct Copy2D {
    pub dst: *mut c_void,
    pub dpitch: usize,
    pub src: *const c_void,
    pub spitch: usize,
    pub width: usize,
    pub height: usize,
}

/// The error of copies of rows for a stream that is destroyed, which AMD's runtime has for them alone (`hipMemcpy2DValidateParams` of ROCm/clr).
pub(crate) fn gone_as_value(error: hipError_t) -> hipError_t {
    if error == hipErrorContextIsDestroyed && presented() != Major::Seven {
        hipErrorInvalidValue
    } else {
        error
    }
}

/// Copies rows.
pub(crate) fn copy_2d(
    c: &Copy2D,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if c.width == 0 || c.height == 0 {
        return check_kind(kind, false);
    }
    if c.dpitch < c.width || c.spitch < c.width {
        return fail!(
            hipErrorInvalidPitchValue,
            "pitches {} and {} for rows of {} bytes",
            c.dpitch,
            c.spitch,
            c.width
        );
    }
    let dst = Plane::new(c.dst, c.dpitch, c.height);
    let src = Plane::new(c.src.cast_mut(), c.spitch, c.height);
    copy(dst, src, [c.width, c.height, 1], kind, stream, host).map_err(gone_as_value)
}

/// Copies rows; returns when they are there.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2D(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    copy_2d(
        &Copy2D {
            dst,
            dpitch,
            src,
            spitch,
            width,
            height,
        },
        kind,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies rows in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DAsync(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy_2d(
        &Copy2D {
            dst,
            dpitch,
            src,
            spitch,
            width,
            height,
        },
        kind,
        stream,
        Host::GoesOn,
    )
}

/// Checks that a part of an array, in elements, is inside it.
fn check_inside(array: hipArray_t, pos: hipPos, extent: hipExtent) -> HipResult {
    let shape = array::shape(array)?;
    let fits = |start: usize, length: usize, size: usize| {
        start
            .checked_add(length)
            .is_some_and(|end| end <= size.max(1))
    };
    if !fits(pos.x, extent.width, shape.width)
        || !fits(pos.y, extent.height, shape.height)
        || !fits(pos.z, extent.depth, shape.depth)
    {
        return fail!(
            hipErrorInvalidValue,
            "{extent:?} from {pos:?} is not inside an array of {} x {} x {}",
            shape.width,
            shape.height,
            shape.depth
        );
    }
    Ok(())
}

/// Destination, source and extent of a copy of three dimensions.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub(crate) fn planes_of(c: &hipMemcpy3DParms) -> HipResult<(Plane, Plane, [usize; 3])> {
    let (has_src, has_dst) = (!c.srcArray.is_null(), !c.dstArray.is_null());
    if (has_src && !c.srcPtr.ptr.is_null()) || (has_dst && !c.dstPtr.ptr.is_null()) {
        return fail!(
            hipErrorInvalidValue,
            "a side of the copy is an array and memory at once"
        );
    }
    // Positions and widths are in elements on the side of an array, and so is the extent if there is one.
    let element = if has_src {
        array::element_size(c.srcArray)?
    } else if has_dst {
        array::element_size(c.dstArray)?
    } else {
        1
    };
    let side =
        |is_array: bool, array: hipArray_t, ptr: hipPitchedPtr, pos: hipPos| -> HipResult<Plane> {
            if is_array {
                check_inside(array, pos, c.extent)?;
            }
            let mut plane = if is_array {
                array::plane(array)?
            } else {
                Plane::new(ptr.ptr, ptr.pitch, ptr.ysize.max(1))
            };
            let Some(x) = pos.x.checked_mul(if is_array {
                array::element_size(array)?
            } else {
                1
            }) else {
                return Err(hipErrorInvalidValue);
            };
            (plane.x, plane.y, plane.z) = (x, pos.y, pos.z);
            Ok(plane)
        };
    let Some(width) = c.extent.width.checked_mul(element) else {
        return Err(hipErrorInvalidValue);
    };
    let extent = [width, c.extent.height, c.extent.depth];
    let dst = side(has_dst, c.dstArray, c.dstPtr, c.dstPos)?;
    let src = side(has_src, c.srcArray, c.srcPtr, c.srcPos)?;
    Ok((dst, src, extent))
}

/// # Safety
/// A pointer that is not null must point at a record.
pub(crate) unsafe fn copy_3d(
    record: *const hipMemcpy3DParms,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if record.is_null() {
        return fail!(hipErrorInvalidValue, "no description of the copy");
    }
    // SAFETY: not null; the caller promises a valid record.
    let c = unsafe { record.read() };
    let (dst, src, extent) = planes_of(&c)?;
    copy(dst, src, extent, c.kind, stream, host)
}

/// Copies slices of rows; returns when they are there.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3D(p: *const hipMemcpy3DParms) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_3d(p, NULL_STREAM, Host::Waits) }
}

/// Copies slices of rows in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3DAsync(
    p: *const hipMemcpy3DParms,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_3d(p, stream, Host::GoesOn) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(pitch: usize, rows: usize) -> Plane {
        Plane::new(std::ptr::without_provenance_mut(0x1000), pitch, rows)
    }

    #[test]
    fn spans_count_to_the_last_byte() {
        assert_eq!(
            plane(100, 4).span([10, 3, 2]),
            Some((0x1000, 400 + 200 + 10))
        );
        assert_eq!(
            Plane {
                x: 8,
                y: 1,
                z: 1,
                ..plane(100, 4)
            }
            .span([1, 1, 1]),
            Some((0x1000 + 400 + 100 + 8, 1))
        );
        assert_eq!(plane(usize::MAX, 2).span([1, 2, 2]), None);
    }

    #[test]
    fn pitches_smaller_than_a_row_are_refused() {
        let c = |dpitch, spitch| Copy2D {
            dst: std::ptr::without_provenance_mut(0x1000),
            dpitch,
            src: std::ptr::without_provenance(0x2000),
            spitch,
            width: 16,
            height: 2,
        };
        assert_eq!(
            copy_2d(&c(8, 16), hipMemcpyDefault, NULL_STREAM, Host::Waits),
            Err(hipErrorInvalidPitchValue)
        );
        assert_eq!(
            copy_2d(&c(16, 8), hipMemcpyDefault, NULL_STREAM, Host::Waits),
            Err(hipErrorInvalidPitchValue)
        );
    }
}
