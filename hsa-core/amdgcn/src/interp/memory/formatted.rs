//! Buffer accesses that convert formats: `buffer_load_format_*`, `buffer_store_format_*`, `tbuffer_*`, lane by lane.
//!
//! Typed instructions bring their format; the others take it from the resource, and loads take the choice of components from there too.
//! An element whose format is invalid (number 0) is not there: it loads as 0 and stores nothing. Elements out of range likewise. A store
//! of fewer components than the format has writes those alone if they are whole bytes; fields that share bytes with them become 0.
//!
//! 16-bit forms hold two components in a register. Floats are rounded to f16, to nearest even; integers lose their high half. A half that is
//! not named stays.

use half::f16;

use super::{
    buffer::{Resource, Table, addresses, scratch_addresses},
    flag, other,
    space::{Global, Space, check_scratch, site},
    through_lds,
    vector::{finish, gather_scratch, scatter_scratch},
};
use crate::{
    image::format::{Number, TexelFormat},
    interp::{run::Exit, wave::Wave},
    ir::{Op, Ref},
};

/// How components lie in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// One in each.
    Whole,
    /// Two in each.
    Halves,
    /// One, in the high half.
    High,
}

/// What an instruction says beside its address: `Op::s[2]` and `Op::s[3]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Components, 1 to 4.
    pub components: usize,
    /// How they lie in registers.
    pub registers: Registers,
    /// The number of the format that a typed instruction brings.
    pub format: Option<u8>,
}

impl Request {
    /// Writes it into an operation.
    pub fn put(self, op: &mut Op) {
        op.s[2] = Ref((self.components as u32) << 2 | self.registers as u32);
        op.s[3] = Ref(self.format.map_or(u32::MAX, u32::from));
    }

    /// Reads it back.
    fn of(op: &Op) -> Self {
        Self {
            components: (op.s[2].0 >> 2) as usize,
            registers: match op.s[2].0 & 3 {
                0 => Registers::Whole,
                1 => Registers::Halves,
                _ => Registers::High,
            },
            format: u8::try_from(op.s[3].0).ok(),
        }
    }

    /// The format: none if it is the invalid one.
    fn format(self, flags: u32, resource: &Resource) -> Result<Option<TexelFormat>, Exit> {
        let word = resource.word3;
        let (number, format) = if flags & flag::GFX11 != 0 {
            let number = self.format.map_or(word >> 12 & 0x3f, u32::from);
            (number, TexelFormat::from_gfx11(number))
        } else if flags & flag::GFX10 != 0 {
            let number = self.format.map_or(word >> 12 & 0x7f, u32::from);
            (number, TexelFormat::from_gfx10(number))
        } else {
            let typed = |format: u8| (u32::from(format & 15), u32::from(format >> 4));
            let (data, number) = self.format.map_or((word >> 15 & 15, word >> 12 & 7), typed);
            (data, TexelFormat::from_gfx9(data, number))
        };
        if number == 0 {
            return Ok(None);
        }
        format.map(Some).ok_or(Exit::Other(other::FORMAT))
    }
}

/// Bytes of the first components of a format; all of it if the components are no whole bytes.
fn leading_bytes(format: TexelFormat, components: usize) -> usize {
    let bits: Vec<usize> = format
        .bits
        .iter()
        .take(components)
        .map(|bits| usize::from(*bits))
        .collect();
    if bits.iter().all(|bits| bits % 8 == 0) {
        bits.iter().sum::<usize>() / 8
    } else {
        format.size()
    }
}

/// A component as 16 bits.
pub(super) fn to_half(number: Number, value: u32) -> u16 {
    if number.is_integer() {
        value as u16
    } else {
        f16::from_f32(f32::from_bits(value)).to_bits()
    }
}

/// A 16-bit component as 32 bits.
pub(super) fn from_half(number: Number, value: u16) -> u32 {
    match number {
        Number::Uint => u32::from(value),
        Number::Sint => i32::from(value.cast_signed()).cast_unsigned(),
        _ => f16::from_bits(value).to_f32().to_bits(),
    }
}

/// Register, and for 16-bit forms the first bit, of a component.
fn place(registers: Registers, component: usize) -> (usize, Option<u32>) {
    match registers {
        Registers::Whole => (component, None),
        Registers::Halves => (component / 2, Some(16 * (component as u32 % 2))),
        Registers::High => (0, Some(16)),
    }
}

/// A component of the result after the resource's choice: 0, 1, or x to w.
fn selected(format: TexelFormat, texel: [u32; 4], select: u32) -> u32 {
    match select {
        1 => format.one(),
        4..=7 => texel[select as usize - 4],
        _ => 0,
    }
}

/// Calls `f` for each active lane with the host address of its element of `bytes` bytes, none if it is out of range. Elements in scratch are
/// given byte by byte.
unsafe fn each_element(
    w: &mut Wave,
    op: *const Op,
    resource: &Resource,
    (bytes, write): (usize, bool),
    mut f: impl FnMut(&mut Wave, usize, Option<Element>) -> Result<(), Exit>,
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        let mut table = Table::new();
        let scratch = resource
            .is_scratch()
            .then(|| scratch_addresses(w, op, resource));
        if scratch.is_none() {
            addresses(w, op, resource, bytes, &mut table);
        }
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let element = if let Some(at) = &scratch {
                let offset = at.lane(lane) as u32;
                check_scratch(w, offset, bytes as u32, write, lane)?;
                Some(Element::Scratch { offset })
            } else if table.in_range >> lane & 1 != 0 {
                let address = u64::from(table.lo[lane]) | u64::from(table.hi[lane]) << 32;
                let size = bytes as u64;
                let host = if write {
                    Global::resolve::<true>(w, site(op), address, size)
                } else {
                    Global::resolve::<false>(w, site(op), address, size)
                };
                Some(Element::Memory(
                    host.map_err(|fault| Global::exit(fault, lane))?,
                ))
            } else {
                None
            };
            f(w, lane, element)?;
        }
        Ok(())
    }
}

/// Where an element is.
#[derive(Clone, Copy, Debug)]
enum Element {
    Memory(*mut u8),
    Scratch { offset: u32 },
}

/// A load with conversion; `put` takes the components of each lane.
#[inline(always)]
unsafe fn load_each(
    w: &mut Wave,
    op: *const Op,
    put: impl Fn(&mut Wave, usize, &[u32]) -> Result<(), Exit>,
) -> *const Op {
    // SAFETY: registers were checked by the lowering; each element has as many bytes as its format.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        let request = Request::of(&*op);
        let format = match request.format((*op).aux[0], &resource) {
            Ok(format) => format,
            Err(exit) => return w.stop(op, exit),
        };
        let size = format.map_or(0, TexelFormat::size);
        let result = each_element(w, op, &resource, (size, false), |w, lane, element| {
            let mut bytes = [0u8; 16];
            match element {
                Some(Element::Memory(host)) => {
                    std::ptr::copy_nonoverlapping(host, bytes.as_mut_ptr(), size)
                }
                Some(Element::Scratch { offset }) => {
                    gather_scratch(w, lane, offset, bytes.as_mut_ptr(), size)
                }
                None => {}
            }
            let texel = format
                .filter(|_| element.is_some())
                .map(|format| (format, format.decode(&bytes)));
            let mut values = [0; 4];
            for (component, value) in values.iter_mut().enumerate().take(request.components) {
                *value = texel.map_or(0, |(format, texel)| {
                    let value = if request.format.is_some() {
                        texel[component]
                    } else {
                        selected(format, texel, resource.word3 >> (3 * component) & 7)
                    };
                    if request.registers == Registers::Whole {
                        value
                    } else {
                        u32::from(to_half(format.number, value))
                    }
                });
            }
            put(w, lane, &values[..request.components])
        });
        finish(w, op, result)
    }
}

/// A load with conversion.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn load(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let registers = Request::of(&*op).registers;
        let stride = w.stride();
        load_each(w, op, |w, lane, values| {
            for (component, &value) in values.iter().enumerate() {
                let (register, shift) = place(registers, component);
                let to: *mut u32 = w.base[0]
                    .add((*op).d as usize + register * stride + 4 * lane)
                    .cast();
                *to = match shift {
                    None => value,
                    Some(shift) => *to & !(0xffff << shift) | value << shift,
                };
            }
            Ok(())
        })
    }
}

/// `buffer_load_lds_format_x`: a load with conversion to LDS.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn load_to_lds(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is touched.
    unsafe {
        let base = through_lds::lds_base(w, op);
        load_each(w, op, |w, lane, values| {
            through_lds::put(w, base, lane, values)
        })
    }
}

/// A store with conversion.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn store(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: as for `load`.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        let request = Request::of(&*op);
        let format = match request.format((*op).aux[0], &resource) {
            Ok(Some(format)) => format,
            Ok(None) => return op.add(1),
            Err(exit) => return w.stop(op, exit),
        };
        let size = leading_bytes(format, request.components);
        let stride = w.stride();
        let result = each_element(w, op, &resource, (size, true), |w, lane, element| {
            let mut registers = [0u32; 4];
            for (component, value) in registers.iter_mut().enumerate().take(request.components) {
                let (register, shift) = place(request.registers, component);
                let from: *const u32 = w.base[0]
                    .add((*op).s[1].offset() as usize + register * stride + 4 * lane)
                    .cast();
                *value = match shift {
                    None => *from,
                    Some(shift) => from_half(format.number, (*from >> shift) as u16),
                };
            }
            let bytes = format.encode(registers);
            match element {
                Some(Element::Memory(host)) => {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, size)
                }
                Some(Element::Scratch { offset }) => {
                    scatter_scratch(w, lane, offset, &bytes[..size])
                }
                None => {}
            }
            Ok(())
        });
        finish(w, op, result)
    }
}
