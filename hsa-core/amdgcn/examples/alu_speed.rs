//! Nanoseconds of a wave64 instruction on one thread, in a loop like the inner one of an n-body kernel and for single operations.

use std::sync::Arc;

use gneiss_amdgcn::{
    interp::{
        run::{Exit, run},
        wave::Wave,
    },
    ir::program::{CodeSource, FetchError, LowerConfig, Program},
    isa::{
        inst::{AluModifiers, Format, Inst, MemModifiers, Operand, OperandSlot, Type},
        op::Op,
    },
    target::Target,
};

const F32: Type = Type::F(32);
const B32: Type = Type::B(32);

struct Listing(Vec<Inst>);

impl CodeSource for Listing {
    fn fetch(&self, pc: u64) -> Result<Inst, FetchError> {
        self.0
            .get(pc as usize / 4)
            .cloned()
            .ok_or(FetchError::Unmapped)
    }
}

fn inst(op: Op, format: Format, dst: OperandSlot, sources: &[OperandSlot]) -> Inst {
    let mut src = [OperandSlot::NONE; 4];
    src[..sources.len()].copy_from_slice(sources);
    Inst {
        op,
        format,
        len: 4,
        dst,
        dst2: OperandSlot::NONE,
        src,
        simm16: 0,
        imm32: None,
        alu: AluModifiers::default(),
        mem: MemModifiers::default(),
        dpp: None,
        sdwa: None,
        vopd: None,
        nsa: None,
    }
}

fn v(index: u16) -> OperandSlot {
    OperandSlot {
        operand: Operand::Vgpr(index),
        ty: F32,
    }
}

fn s(index: u8) -> OperandSlot {
    OperandSlot {
        operand: Operand::Scalar(index),
        ty: B32,
    }
}

fn int(value: i32) -> OperandSlot {
    OperandSlot {
        operand: Operand::Int(value),
        ty: B32,
    }
}

/// Processor time of this thread in seconds.
fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs `body` `rounds` times in a loop and prints the time of one of its instructions.
fn measure(name: &str, body: Vec<Inst>, exec: u64) {
    let rounds = 200_000u32;
    let count = body.len();
    let mut code = body;
    code.push(inst(Op::s_add_u32, Format::Sop2, s(0), &[s(0), int(1)]));
    code.push(inst(
        Op::s_cmp_lt_u32,
        Format::Sopc,
        OperandSlot::NONE,
        &[s(0), s(1)],
    ));
    let mut branch = inst(Op::s_cbranch_scc1, Format::Sopp, OperandSlot::NONE, &[]);
    branch.simm16 = -(code.len() as i16) - 1;
    code.push(branch);
    code.push(inst(Op::s_endpgm, Format::Sopp, OperandSlot::NONE, &[]));
    let config = LowerConfig {
        target: Target {
            major: 9,
            minor: 0,
            stepping: 10,
        },
        wave64: true,
        vgprs: 64,
        agprs: 0,
        exceptions: false,
    };
    let program = Program::for_kernel(Arc::new(Listing(code)), 0, config);
    let mut wave = Wave::new();
    let mut best = f64::MAX;
    for _ in 0..3 {
        wave.reset(&program, 0x3f0);
        wave.set_exec(exec);
        wave.sgpr[1] = rounds;
        for register in 0..64 {
            wave.vgpr_lanes(register)
                .fill((1.0 + register as f32 * 0.01).to_bits());
        }
        let start = cpu_time();
        // SAFETY: reset for a program that is alive; it has no memory operations.
        let exit = unsafe { run(&mut wave, i64::MAX) };
        assert_eq!(exit, Exit::EndProgram);
        let each = (cpu_time() - start) * 1e9 / f64::from(rounds) / (count + 3) as f64;
        best = best.min(each);
    }
    println!("{name:24} {best:6.2} ns per instruction");
}

fn main() {
    use Op::{v_add_f32, v_add_u32, v_fma_f32, v_fmac_f32, v_mul_f32, v_rsq_f32, v_sub_f32};
    let two = |op, d, a, b| inst(op, Format::Vop2, v(d), &[v(a), v(b)]);
    let nbody = vec![
        two(v_sub_f32, 12, 8, 0),
        two(v_sub_f32, 13, 9, 1),
        two(v_sub_f32, 14, 10, 2),
        two(v_mul_f32, 15, 12, 12),
        two(v_fmac_f32, 15, 13, 13),
        two(v_fmac_f32, 15, 14, 14),
        two(v_add_f32, 15, 15, 20),
        inst(v_rsq_f32, Format::Vop1, v(16), &[v(15)]),
        two(v_mul_f32, 17, 11, 16),
        two(v_mul_f32, 18, 16, 16),
        two(v_mul_f32, 17, 17, 18),
        two(v_fmac_f32, 3, 12, 17),
        two(v_fmac_f32, 4, 13, 17),
        two(v_fmac_f32, 5, 14, 17),
    ];
    measure("n-body", nbody.clone(), u64::MAX);
    measure("n-body, masked", nbody, u64::MAX >> 1);
    let mask = OperandSlot {
        operand: Operand::Scalar(106),
        ty: Type::Mask,
    };
    let single: [(&str, Inst); 9] = [
        (
            "v_fma_f32",
            inst(v_fma_f32, Format::Vop3, v(3), &[v(1), v(2), v(4)]),
        ),
        (
            "v_mul_f32 sgpr",
            inst(v_mul_f32, Format::Vop3, v(3), &[s(2), v(1)]),
        ),
        ("v_add_u32", two(v_add_u32, 3, 1, 2)),
        ("v_rsq_f32", inst(v_rsq_f32, Format::Vop1, v(3), &[v(1)])),
        (
            "v_exp_f32",
            inst(Op::v_exp_f32, Format::Vop1, v(3), &[v(1)]),
        ),
        (
            "v_log_f32",
            inst(Op::v_log_f32, Format::Vop1, v(3), &[v(1)]),
        ),
        (
            "v_cmp_lt_f32",
            inst(Op::v_cmp_lt_f32, Format::Vopc, mask, &[v(1), v(2)]),
        ),
        (
            "v_cndmask_b32",
            inst(Op::v_cndmask_b32, Format::Vop3, v(3), &[v(1), v(2), mask]),
        ),
        (
            "v_fma_f64",
            inst(Op::v_fma_f64, Format::Vop3, v(2), &[v(4), v(6), v(8)]),
        ),
    ];
    for (name, inst) in single {
        measure(name, vec![inst; 16], u64::MAX);
    }
}
