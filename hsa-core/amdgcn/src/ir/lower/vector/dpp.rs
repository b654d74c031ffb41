//! The lane shuffles of DPP controls.

use crate::{interp::prepare::ShufflePlan, isa::inst::Dpp};

/// The lane shuffle of DPP controls; `None` if they change nothing.
pub(super) fn shuffle(dpp: &Dpp, lanes: usize) -> Option<ShufflePlan> {
    let mut plan = ShufflePlan {
        from: [0; 64],
        in_range: 0,
        write: 0,
        zero: dpp.bound_ctrl,
        fetch_inactive: dpp.fetch_inactive,
        writes_exec: false,
    };
    for lane in 0..lanes {
        if let Some(from) = shuffle_source(dpp, lane, lanes) {
            plan.from[lane] = from as u8;
            plan.in_range |= 1 << lane;
        }
        let row = dpp.row_mask >> (lane / 16) & 1 != 0;
        let bank = dpp.bank_mask >> (lane / 4 % 4) & 1 != 0;
        if row && bank {
            plan.write |= 1 << lane;
        }
    }
    Some(plan)
}

/// Lane that `lane` reads, if it exists. Encodings: LLVM `DppCtrl`; the ISA's DPP_CTRL table.
fn shuffle_source(dpp: &Dpp, lane: usize, lanes: usize) -> Option<usize> {
    let row = lane & !15;
    let in_row = lane & 15;
    if dpp.is_dpp8 {
        return Some((lane & !7) | (dpp.ctrl >> (3 * (lane & 7)) & 7) as usize);
    }
    let n = (dpp.ctrl & 15) as usize;
    let within = |ok: bool, from: usize| ok.then_some(from);
    match dpp.ctrl {
        0..=0xff => Some((lane & !3) | (dpp.ctrl >> (2 * (lane & 3)) & 3) as usize),
        0x101..=0x10f => within(in_row + n < 16, lane + n),
        0x111..=0x11f => within(in_row >= n, lane.wrapping_sub(n)),
        0x121..=0x12f => Some(row | (in_row + 16 - n) & 15),
        0x130 => within(lane + 1 < lanes, lane + 1),
        0x134 => Some((lane + 1) % lanes),
        0x138 => within(lane > 0, lane.wrapping_sub(1)),
        0x13c => Some((lane + lanes - 1) % lanes),
        0x140 => Some(row | (15 - in_row)),
        0x141 => Some((lane & !7) | (7 - (lane & 7))),
        0x142 => within(row > 0, row.wrapping_sub(1)),
        0x143 => within(lane >= 32, 31),
        0x150..=0x15f => Some(row | n),
        0x160..=0x16f => Some(lane ^ n),
        _ => None,
    }
}
