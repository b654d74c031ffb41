//! Wide accesses against plain ones.

use super::{super::lds, super::vector as plain, *};
use crate::{
    interp::{level::Level, run::Handler},
    ir::Ref,
};

const LDS_BYTES: usize = 4096;
const REGISTERS: usize = 16;

/// A wave with recognisable registers and LDS; the addresses in register 0.
fn wave(lanes: usize, exec: u64, lds: &mut [u32], addresses: &[u32; 64]) -> Wave {
    let mut w = Wave::new();
    w.chunks = lanes / 16;
    w.full_mask = u64::MAX >> (64 - lanes);
    w.vgpr_count = REGISTERS as u32;
    w.file.reserve(REGISTERS * w.stride());
    w.base[0] = w.file.as_mut_ptr();
    for register in 0..REGISTERS {
        for (lane, value) in w.vgpr_lanes(register).iter_mut().enumerate() {
            *value = (register << 16 | lane << 8 | 0x55) as u32;
        }
    }
    w.vgpr_lanes(0).copy_from_slice(&addresses[..lanes]);
    for (index, word) in lds.iter_mut().enumerate() {
        *word = 0xabc0_0000 | index as u32;
    }
    w.lds = lds.as_mut_ptr().cast();
    w.lds_size = LDS_BYTES as u32;
    w.set_exec(exec);
    w
}

/// Registers, LDS and where the wave stopped, after one operation.
fn outcome(
    run: Handler,
    op: Op,
    lanes: usize,
    exec: u64,
    addresses: &[u32; 64],
) -> (Vec<u32>, Vec<u32>, Option<Exit>) {
    let mut lds = vec![0u32; LDS_BYTES / 4];
    let mut w = wave(lanes, exec, &mut lds, addresses);
    let ops = [Op { run, ..op }; 2];
    // SAFETY: the operation's registers are inside the file, another operation follows, and LDS is the vector's.
    let next = unsafe { run(&mut w, ops.as_ptr()) };
    let registers = (0..REGISTERS)
        .flat_map(|register| w.vgpr_lanes(register).to_vec())
        .collect();
    (registers, lds, next.is_null().then_some(w.exit))
}

fn patterns() -> Vec<[u32; 64]> {
    let mut all: Vec<[u32; 64]> = Vec::new();
    for step in [0, 4, 8, 12, 16, 20, 68] {
        all.push(std::array::from_fn(|lane| 64 + lane as u32 * step));
        // Rows of a tile sixteen lanes wide, and its columns.
        all.push(std::array::from_fn(|lane| {
            lane as u32 % 16 * step + lane as u32 / 16 * 4
        }));
        all.push(std::array::from_fn(|lane| lane as u32 / 16 * step));
        // Backwards, and one lane out of line.
        all.push(std::array::from_fn(|lane| (63 - lane as u32) * step));
        all.push(std::array::from_fn(|lane| {
            if lane == 37 { 3 } else { lane as u32 * step }
        }));
        // Past the end from some lane on.
        all.push(std::array::from_fn(|lane| {
            LDS_BYTES as u32 - 128 + lane as u32 * step
        }));
    }
    all.push(std::array::from_fn(|lane| (lane as u32 * 977) % 4000));
    all.push(std::array::from_fn(|lane| {
        (lane as u32).wrapping_mul(4).wrapping_sub(64)
    }));
    all.push(std::array::from_fn(|lane| {
        if lane % 3 == 0 {
            u32::MAX - 3
        } else {
            lane as u32 * 4
        }
    }));
    all
}

fn check<const N: usize>() {
    let stride = |lanes: usize| lanes as u32 * 4;
    for lanes in [64, 32] {
        let mut op = Op::new(plain::load::<Dwords<N>, Lds>);
        op.aux[0] = flag::VADDR;
        op.s[0] = Ref::new(Ref::FILE, 0);
        op.s[1] = Ref::new(Ref::FILE, 5 * stride(lanes));
        op.s[2] = Ref::new(Ref::FILE, 7 * stride(lanes));
        let execs = [
            u64::MAX,
            1,
            0xffff_0000,
            0x5555_5555_5555_5555,
            0x8000_0000_0001_8001,
            0x00ff_f0f0_3333_ffff,
        ];
        for addresses in patterns() {
            for exec in execs.map(|exec| exec & u64::MAX >> (64 - lanes)) {
                let same = |plain: Handler, wide: Handler, op: Op| {
                    let expected = outcome(plain, op, lanes, exec, &addresses);
                    let got = outcome(wide, op, lanes, exec, &addresses);
                    assert_eq!(got.2, expected.2, "{N} {lanes} {exec:x} {addresses:?}");
                    // After a fault nobody looks at the registers: how far the operation got is not defined.
                    if expected.2.is_none() {
                        assert_eq!(got, expected, "{N} {lanes} {exec:x} {addresses:?}");
                    }
                };
                // Into other registers, and over the address.
                for d in [8, 0] {
                    op.d = d * stride(lanes);
                    op.imm = 16;
                    same(plain::load::<Dwords<N>, Lds>, load::<N, Lds>, op);
                    for imm in [4 | 64 << 32, 256 | 4 << 32] {
                        op.imm = imm;
                        match N {
                            1 => same(lds::read2::<u32>, read2::<1>, op),
                            2 => same(lds::read2::<u64>, read2::<2>, op),
                            _ => {}
                        }
                    }
                }
                op.imm = 16;
                same(plain::store::<Dwords<N>, Lds>, store::<N, Lds>, op);
                for imm in [4 | 64 << 32, 256 | 4 << 32, 1024] {
                    op.imm = imm;
                    match N {
                        1 => same(lds::write2::<u32>, write2::<1>, op),
                        2 => same(lds::write2::<u64>, write2::<2>, op),
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn wide_accesses_do_what_plain_ones_do() {
    if Level::detect() == Level::Portable {
        return;
    }
    check::<1>();
    check::<2>();
    check::<3>();
    check::<4>();
}
