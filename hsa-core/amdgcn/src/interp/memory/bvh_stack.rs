//! Stacks of rays in LDS, `ds_bvh_stack_*`: nodes of a tree of boxes that a ray has yet to visit.
//!
//! Each lane has a short stack of its own, whose entries are 128 bytes apart, and its state in a register. An instruction pushes the children
//! of a node, the last one first, and pops the node to go on with. The stack wraps around: what is lost is found again by walking up the tree,
//! where the children before the last visited node are left out.
//!
//! Sources: RDNA 3 ISA and RDNA 4 ISA, 12.5.3 ("DS Stack Operations for Ray Tracing") for the fields, AMD's GPU Ray Tracing Library for what
//! becomes of them (`ds_store_stack` of its DXR stack; `rtip3_ds_stack_emulation`). The documents' pseudo-code counts children from the
//! other end and has the index one off.

use crate::{
    interp::{
        run::{Exit, Handler},
        wave::Wave,
    },
    ir::Op,
    isa::op::Op as M,
};

use super::{
    lanes::try_each_lane,
    space::{Lds, Space},
    vector::finish,
};

/// No node.
const INVALID: u32 = 0xffff_ffff;

/// Popped from an empty stack.
const TERMINAL: u32 = 0xffff_fffe;

/// Bytes from one entry of a lane to the next: those of 32 lanes are side by side.
const STRIDE: u32 = 128;

/// Kind of a node, in its low bits.
fn kind(node: u32) -> u32 {
    node & 7
}

/// Triangles have the kinds 0 to 3.
const LAST_TRIANGLE: u32 = 3;
const TRIANGLE_1: u32 = 1;
const INSTANCE: u32 = 6;

/// The entries of a lane's stack.
struct Entries<'a> {
    wave: &'a Wave,
    lane: usize,
    /// Byte offset in LDS.
    base: u32,
}

impl Entries<'_> {
    fn at<const WRITE: bool>(&self, entry: u32) -> Result<*mut u32, Exit> {
        let address = u64::from(self.base) + u64::from(entry) * u64::from(STRIDE);
        // SAFETY: the wave runs inside a slice.
        unsafe { Lds::resolve::<WRITE>(self.wave, 0, address, 4) }
            .map(<*mut u8>::cast)
            .map_err(|fault| Lds::exit(fault, self.lane))
    }

    fn read(&self, entry: u32) -> Result<u32, Exit> {
        // SAFETY: inside LDS.
        Ok(unsafe { self.at::<false>(entry)?.read_unaligned() })
    }

    fn write(&self, entry: u32, node: u32) -> Result<(), Exit> {
        // SAFETY: inside LDS.
        unsafe { self.at::<true>(entry)?.write_unaligned(node) };
        Ok(())
    }
}

/// `ds_bvh_stack_rtn_b32` for one lane: the node to go on with, and the new state. The state has the first dword of the stack in bits 31:18
/// and counts entries in bits 17:0; OFFSET1 5:4 is the size of the stack, 8 to 64 entries.
fn push4_pop1_of_gfx11(
    (wave, lane): (&Wave, usize),
    (state, last, nodes): (u32, u32, [u32; 4]),
    offset: u32,
) -> Result<(u32, u32), Exit> {
    const COUNT: u32 = 0x3_ffff;
    let mask = (8 << (offset >> 12 & 3)) - 1;
    let mut count = state & COUNT;
    let entries = Entries {
        wave,
        lane,
        base: (state >> 18) * 4,
    };
    let walks_back = last != INVALID;
    let mut valid = !walks_back || nodes.contains(&last);
    let mut next = INVALID;
    for (number, &node) in nodes.iter().enumerate().rev() {
        valid &= !walks_back || node != last;
        if !valid || node == INVALID {
            continue;
        }
        if number == 0 {
            next = node;
        } else {
            entries.write(count & mask, node)?;
            count = (count + 1).min(COUNT);
        }
    }
    if next == INVALID {
        if count == 0 {
            next = TERMINAL;
        } else {
            count -= 1;
            next = entries.read(count & mask)?;
            entries.write(count & mask, INVALID)?;
        }
    }
    Ok((next, state & !COUNT | count))
}

/// A stack of GFX12 and its state.
struct Rolling<'a> {
    entries: Entries<'a>,
    /// Entries at most.
    size: u32,
    /// Where the next node is pushed.
    top: u32,
    /// Entries that have not been overwritten.
    valid: u32,
    /// Entries above those of the tree that the ray was in before an instance.
    to_parent: u32,
    has_parent: bool,
    has_overflowed: bool,
    /// The last node popped is of the parent's tree.
    back_in_parent: bool,
}

impl<'a> Rolling<'a> {
    fn unpack((wave, lane): (&'a Wave, usize), state: u32, size: u32) -> Self {
        Self {
            entries: Entries {
                wave,
                lane,
                base: (state >> 15 & 0x3fff) * 4,
            },
            size,
            top: state >> 10 & 31,
            valid: state & 31,
            to_parent: state >> 5 & 31,
            has_parent: state >> 29 & 1 != 0,
            has_overflowed: state >> 30 & 1 != 0,
            back_in_parent: state >> 31 != 0,
        }
    }

    fn pack(&self) -> u32 {
        u32::from(self.back_in_parent) << 31
            | u32::from(self.has_overflowed) << 30
            | u32::from(self.has_parent) << 29
            | (self.entries.base / 4) << 15
            | (self.top & 31) << 10
            | (self.to_parent & 31) << 5
            | self.valid & 31
    }

    fn push(&mut self, node: u32) -> Result<(), Exit> {
        self.has_overflowed |= self.valid == self.size;
        self.entries.write(self.top, node)?;
        self.top = if self.top == self.size.wrapping_sub(1) {
            0
        } else {
            self.top + 1
        };
        self.has_parent &= self.to_parent != self.size;
        self.to_parent = (self.to_parent + 1).min(self.size);
        self.valid = (self.valid + 1).min(self.size);
        Ok(())
    }

    /// The entry below the top.
    fn below(&self) -> u32 {
        if self.top == 0 { self.size } else { self.top }.wrapping_sub(1)
    }

    fn drop_one(&mut self) {
        self.top = self.below();
        self.to_parent = self.to_parent.saturating_sub(1);
        self.valid = self.valid.saturating_sub(1);
    }

    fn pop(&mut self) -> Result<u32, Exit> {
        self.back_in_parent = self.to_parent == 0 && self.has_parent;
        self.has_parent &= !self.back_in_parent;
        if self.valid == 0 {
            self.back_in_parent = false;
            self.has_parent = false;
            return Ok(if self.has_overflowed {
                INVALID
            } else {
                TERMINAL
            });
        }
        let node = self.entries.read(self.below())?;
        self.drop_one();
        if kind(node) == INSTANCE {
            // One parent is kept apart; nodes of another one are left for the walk up the tree.
            if self.has_parent {
                self.valid = self.to_parent;
                self.has_overflowed = true;
            }
            self.has_parent = true;
            self.to_parent = 0;
        }
        Ok(node)
    }

    /// A second node of the same tree, if there is one.
    fn pop_more(&mut self) -> Result<u32, Exit> {
        if self.to_parent == 0 && self.has_parent || self.valid == 0 {
            return Ok(INVALID);
        }
        let node = self.entries.read(self.below())?;
        if kind(node) == INSTANCE {
            return Ok(INVALID);
        }
        self.drop_one();
        Ok(node)
    }

    /// Pushes the children of a node. `last` is the node visited last, or invalid if the ray goes down; with `ranges` it may say how the
    /// last child goes on in its range of triangles.
    fn push_all(&mut self, nodes: &[u32], last: u32, ranges: bool) -> Result<(), Exit> {
        let is_invalid = |node: u32| node >> 3 == INVALID >> 3;
        let walks_back = !is_invalid(last);
        let is_last = |node: u32| node == last || ranges && kind(node) <= LAST_TRIANGLE;
        let mut valid = !walks_back || nodes.iter().any(|&node| is_last(node));
        let range = ranges && !walks_back && last & 4 == 0;
        if ranges {
            valid = (valid || kind(last) <= LAST_TRIANGLE) && !(range && last & 2 != 0);
        }
        // Invalid nodes may say that one half of the children is left out.
        let (mut skips_low, mut skips_high) = (false, false);
        for (number, &node) in nodes.iter().enumerate().rev() {
            let is_high = number >= 4;
            let skips = if is_high { skips_high } else { skips_low };
            if is_invalid(node) && valid && !skips {
                skips_low |= node & 2 == 0;
                skips_high |= is_high && node & 4 == 0;
            }
            if range && number == 6 {
                (skips_low, skips_high) = (true, true);
            }
            valid &= !(walks_back && is_last(node));
            let skips = if is_high { skips_high } else { skips_low };
            if valid && !is_invalid(node) && !skips {
                let node = if range {
                    next_in_range(node, last & 1 != 0)
                } else {
                    node
                };
                self.push(node)?;
            }
        }
        Ok(())
    }
}

/// The node of a range of triangles that follows: in the next 128 bytes, or the next pair of the same ones.
fn next_in_range(node: u32, end_of_node: bool) -> u32 {
    if end_of_node {
        (node & !15).wrapping_add(16)
    } else if node & 15 == LAST_TRIANGLE {
        // 3 is followed by 8.
        node ^ 0xb
    } else {
        node.wrapping_add(1)
    }
}

/// What an instruction has beside its registers.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The handler.
    pub run: Handler,
    /// Registers with children.
    pub nodes: u32,
    /// Registers of the result.
    pub results: u32,
}

/// The shape of an instruction, if it is one of these.
pub fn shape(op: M) -> Option<Shape> {
    let (run, nodes, results): (Handler, u32, u32) = match op {
        M::ds_bvh_stack_rtn_b32 => (each::<4, 1, true>, 4, 1),
        M::ds_bvh_stack_push4_pop1_rtn_b32 => (each::<4, 1, false>, 4, 1),
        M::ds_bvh_stack_push8_pop1_rtn_b32 => (each::<8, 1, false>, 8, 1),
        M::ds_bvh_stack_push8_pop2_rtn_b64 => (each::<8, 2, false>, 8, 2),
        _ => return None,
    };
    Some(Shape {
        run,
        nodes,
        results,
    })
}

/// GFX12's OFFSET1: bit 0 lets a pair of triangles be popped as two nodes, bit 1 has ranges of triangles.
pub mod option {
    /// Pairs of triangles.
    pub const PAIRS: u32 = 1 << 8;
    /// Ranges of triangles.
    pub const RANGES: u32 = 1 << 9;
}

/// Pushes `PUSH` nodes from `s[2]` on, `s[1]` is the one visited last, and pops `POP` into `d`. The state is in `s[0]`.
unsafe fn each<const PUSH: usize, const POP: usize, const GFX11: bool>(
    w: &mut Wave,
    op: *const Op,
) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is touched.
    unsafe {
        let stride = w.stride() / 4;
        let offset = (*op).imm as u32;
        let [state, last, nodes, _] = (*op)
            .s
            .map(|source| w.base[0].add(source.offset() as usize).cast::<u32>());
        let to: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let result = try_each_lane(w, |w, lane| {
            let children: [u32; PUSH] =
                std::array::from_fn(|number| *nodes.add(number * stride + lane));
            let (old, last) = (*state.add(lane), *last.add(lane));
            let (popped, new) = if GFX11 {
                let four = std::array::from_fn(|number| children[number]);
                let (node, new) = push4_pop1_of_gfx11((w, lane), (old, last, four), offset)?;
                ([node, INVALID], new)
            } else {
                let mut stack = Rolling::unpack((w, lane), old, offset & 31);
                stack.push_all(&children, last, offset & option::RANGES != 0)?;
                let first = stack.pop()?;
                let popped = if POP == 1 {
                    [first, INVALID]
                } else if offset & option::PAIRS != 0 && kind(first) == TRIANGLE_1 {
                    [first & !7, first]
                } else {
                    match stack.pop_more()? {
                        INVALID => [first, INVALID],
                        second => [second, first],
                    }
                };
                (popped, stack.pack())
            };
            for (number, &node) in popped[..POP].iter().enumerate() {
                *to.add(number * stride + lane) = node;
            }
            *state.add(lane) = new;
            Ok(())
        });
        finish(w, op, result)
    }
}
