//! Global wave sync: `ds_gws_*` leave the loop with what they ask, and the engine does it.

use crate::{
    interp::{
        run::{Exit, Handler},
        wave::Wave,
    },
    ir::Op,
    isa::op::Op as M,
    wave_sync::Request,
};

const INIT: u8 = 0;
const BARRIER: u8 = 1;
const ADD: u8 = 2;
const ADD_ONE: u8 = 3;
const TAKE: u8 = 4;
const RELEASE_ALL: u8 = 5;

/// The handler of an operation, and whether it has a value in `s[0]`.
pub fn handler(op: M) -> Option<(Handler, bool)> {
    Some(match op {
        M::ds_gws_init => (ask::<INIT> as Handler, true),
        M::ds_gws_barrier => (ask::<BARRIER>, true),
        M::ds_gws_sema_br => (ask::<ADD>, true),
        M::ds_gws_sema_v => (ask::<ADD_ONE>, false),
        M::ds_gws_sema_p => (ask::<TAKE>, false),
        M::ds_gws_sema_release_all => (ask::<RELEASE_ALL>, false),
        _ => return None,
    })
}

/// The resource is the sum of the offset and M0 21:16. The value is that of the first active lane; without one it is lane 0's, and what has
/// no value is not done (RDNA 3 ISA, 13.4.2).
unsafe fn ask<const WHAT: u8>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; followed by an operation of its segment.
    unsafe {
        let exec = w.exec();
        let value = if matches!(WHAT, INIT | BARRIER | ADD) {
            let lane = if exec == 0 { 0 } else { exec.trailing_zeros() };
            let data: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
            *data.add(lane as usize)
        } else if exec == 0 {
            return op.add(1);
        } else {
            1
        };
        let request = match WHAT {
            INIT => Request::Init(value),
            // The value is one less than the waves.
            BARRIER => Request::Barrier(value.saturating_add(1)),
            ADD | ADD_ONE => Request::Add(value),
            TAKE => Request::Take,
            _ => Request::ReleaseAll,
        };
        let resource = ((*op).imm as u32).wrapping_add(w.sgpr[w.m0] >> 16) & 63;
        w.stop(
            op.add(1),
            Exit::WaveSync {
                resource: resource as u8,
                request,
            },
        )
    }
}
