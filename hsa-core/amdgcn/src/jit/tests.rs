//! Native code against the interpreter: the same registers and masks, bit for bit.

use proptest::{collection::vec, prelude::*, test_runner::Config};

mod linear;

use crate::{
    interp::{
        level::Level,
        testing::{BackEnd, GFX90A, MODE, back_ends, config, execute_on, inst, program, s, v},
        wave::Wave,
    },
    isa::{
        inst::{Format, Inst, Operand, OperandSlot, Type},
        op::Op as M,
    },
};

const F32: Type = Type::F(32);
const B32: Type = Type::B(32);
const MASK: Type = Type::Mask;

/// Kind of the operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// One to three sources of one type.
    Plain(u8, Type),
    /// A compare of two sources.
    Compare(Type),
    /// Two sources and a mask.
    Select,
    /// Two sources, result and mask.
    CarryOut,
    /// Two sources and a mask, result and mask.
    Carry,
    /// Two sources and a 64-bit one, 64-bit result and mask.
    MultiplyAdd64,
    /// A constant amount and a 64-bit source.
    Shift64,
    /// A source and two constants.
    Field,
    /// Two sources and a constant.
    Align,
    /// Three pairs of registers.
    Packed(u8),
}

const OPERATIONS: &[(M, Shape)] = &[
    (M::v_mov_b32, Shape::Plain(1, B32)),
    (M::v_not_b32, Shape::Plain(1, B32)),
    (M::v_and_b32, Shape::Plain(2, B32)),
    (M::v_or_b32, Shape::Plain(2, B32)),
    (M::v_xor_b32, Shape::Plain(2, B32)),
    (M::v_xnor_b32, Shape::Plain(2, B32)),
    (M::v_and_or_b32, Shape::Plain(3, B32)),
    (M::v_or3_b32, Shape::Plain(3, B32)),
    (M::v_bfi_b32, Shape::Plain(3, B32)),
    (M::v_lshlrev_b32, Shape::Plain(2, B32)),
    (M::v_lshrrev_b32, Shape::Plain(2, B32)),
    (M::v_ashrrev_i32, Shape::Plain(2, B32)),
    (M::v_lshl_add_u32, Shape::Plain(3, B32)),
    (M::v_add_lshl_u32, Shape::Plain(3, B32)),
    (M::v_lshl_or_b32, Shape::Plain(3, B32)),
    (M::v_xad_u32, Shape::Plain(3, B32)),
    (M::v_bfe_u32, Shape::Plain(3, B32)),
    (M::v_bfe_u32, Shape::Field),
    (M::v_bfe_i32, Shape::Field),
    (M::v_alignbit_b32, Shape::Align),
    (M::v_add_u32, Shape::Plain(2, B32)),
    (M::v_sub_u32, Shape::Plain(2, B32)),
    (M::v_subrev_u32, Shape::Plain(2, B32)),
    (M::v_add3_u32, Shape::Plain(3, B32)),
    (M::v_mul_lo_u32, Shape::Plain(2, B32)),
    (M::v_mul_hi_u32, Shape::Plain(2, B32)),
    (M::v_mul_u32_u24, Shape::Plain(2, B32)),
    (M::v_mul_i32_i24, Shape::Plain(2, B32)),
    (M::v_mad_u32_u24, Shape::Plain(3, B32)),
    (M::v_mad_i32_i24, Shape::Plain(3, B32)),
    (M::v_min_i32, Shape::Plain(2, B32)),
    (M::v_max_i32, Shape::Plain(2, B32)),
    (M::v_min_u32, Shape::Plain(2, B32)),
    (M::v_max_u32, Shape::Plain(2, B32)),
    (M::v_add_f32, Shape::Plain(2, F32)),
    (M::v_sub_f32, Shape::Plain(2, F32)),
    (M::v_subrev_f32, Shape::Plain(2, F32)),
    (M::v_mul_f32, Shape::Plain(2, F32)),
    (M::v_fma_f32, Shape::Plain(3, F32)),
    (M::v_min_f32, Shape::Plain(2, F32)),
    (M::v_max_f32, Shape::Plain(2, F32)),
    (M::v_rndne_f32, Shape::Plain(1, F32)),
    (M::v_floor_f32, Shape::Plain(1, F32)),
    (M::v_ceil_f32, Shape::Plain(1, F32)),
    (M::v_trunc_f32, Shape::Plain(1, F32)),
    (M::v_cvt_f32_i32, Shape::Plain(1, B32)),
    (M::v_cvt_i32_f32, Shape::Plain(1, F32)),
    (M::v_cvt_f32_ubyte0, Shape::Plain(1, B32)),
    (M::v_cvt_f32_ubyte1, Shape::Plain(1, B32)),
    (M::v_cvt_f32_ubyte2, Shape::Plain(1, B32)),
    (M::v_cvt_f32_ubyte3, Shape::Plain(1, B32)),
    (M::v_cndmask_b32, Shape::Select),
    (M::v_add_co_u32, Shape::CarryOut),
    (M::v_addc_co_u32, Shape::Carry),
    (M::v_mad_u64_u32, Shape::MultiplyAdd64),
    (M::v_lshlrev_b64, Shape::Shift64),
    (M::v_lshrrev_b64, Shape::Shift64),
    (M::v_ashrrev_i64, Shape::Shift64),
    (M::v_pk_fma_f32, Shape::Packed(3)),
    (M::v_pk_mul_f32, Shape::Packed(2)),
    (M::v_pk_add_f32, Shape::Packed(2)),
    (M::v_cmp_lt_i32, Shape::Compare(B32)),
    (M::v_cmp_eq_i32, Shape::Compare(B32)),
    (M::v_cmp_le_i32, Shape::Compare(B32)),
    (M::v_cmp_gt_i32, Shape::Compare(B32)),
    (M::v_cmp_ne_i32, Shape::Compare(B32)),
    (M::v_cmp_ge_i32, Shape::Compare(B32)),
    (M::v_cmp_lt_u32, Shape::Compare(B32)),
    (M::v_cmp_eq_u32, Shape::Compare(B32)),
    (M::v_cmp_le_u32, Shape::Compare(B32)),
    (M::v_cmp_gt_u32, Shape::Compare(B32)),
    (M::v_cmp_ne_u32, Shape::Compare(B32)),
    (M::v_cmp_ge_u32, Shape::Compare(B32)),
    (M::v_cmp_lt_f32, Shape::Compare(F32)),
    (M::v_cmp_eq_f32, Shape::Compare(F32)),
    (M::v_cmp_le_f32, Shape::Compare(F32)),
    (M::v_cmp_gt_f32, Shape::Compare(F32)),
    (M::v_cmp_lg_f32, Shape::Compare(F32)),
    (M::v_cmp_ge_f32, Shape::Compare(F32)),
    (M::v_cmp_o_f32, Shape::Compare(F32)),
    (M::v_cmp_u_f32, Shape::Compare(F32)),
    (M::v_cmp_nge_f32, Shape::Compare(F32)),
    (M::v_cmp_nlg_f32, Shape::Compare(F32)),
    (M::v_cmp_ngt_f32, Shape::Compare(F32)),
    (M::v_cmp_nle_f32, Shape::Compare(F32)),
    (M::v_cmp_neq_f32, Shape::Compare(F32)),
    (M::v_cmp_nlt_f32, Shape::Compare(F32)),
];

/// Registers that the listings use.
const REGISTERS: u16 = 24;
/// Scalar registers that hold masks and values: even ones from here on.
const SCALARS: u8 = 16;

/// A random instruction: an operation and bits for its operands.
#[derive(Clone, Debug)]
struct Draw {
    operation: usize,
    operands: [u8; 4],
    kinds: [u8; 3],
    modifiers: u8,
}

fn draws(length: usize) -> impl Strategy<Value = Vec<Draw>> {
    let draw = (
        0..OPERATIONS.len(),
        any::<[u8; 4]>(),
        any::<[u8; 3]>(),
        any::<u8>(),
    )
        .prop_map(|(operation, operands, kinds, modifiers)| Draw {
            operation,
            operands,
            kinds,
            modifiers,
        });
    vec(draw, 1..length)
}

/// Dwords that make trouble.
fn dword() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => any::<u32>(),
        2 => (0u32..0x7f).prop_map(|n| (n as f32 * 0.37 - 20.0).to_bits()),
        1 => prop::sample::select(vec![
            0,
            1,
            0x8000_0000,
            0x7fff_ffff,
            0xffff_ffff,
            0x3f80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffc1_2345,
            0x7f80_0001,
            0x0040_0000,
            0x8000_0001,
            0x4f00_0000,
            0xcf00_0000,
        ]),
    ]
}

/// As `dword`, without NaNs and what easily makes one.
fn calm_dword() -> impl Strategy<Value = u32> {
    (0u32..0x7ff).prop_map(|n| (n as f32 * 0.37 - 200.0).to_bits())
}

fn build(draw: &Draw) -> Inst {
    let (op, shape) = OPERATIONS[draw.operation];
    let register = |n: usize| u16::from(draw.operands[n]) % REGISTERS;
    let scalar = |n: usize| 2 * (draw.operands[n] % (SCALARS / 2));
    let source = |n: usize, ty: Type| match draw.kinds[n] % 8 {
        0 => s(scalar(n + 1) + (draw.operands[n + 1] >> 7), ty),
        1 => OperandSlot {
            operand: Operand::Int(i32::from(draw.operands[n + 1]) % 65 - 16),
            ty,
        },
        2 if ty == F32 => OperandSlot {
            operand: Operand::Float(240 + draw.operands[n + 1] % 8),
            ty,
        },
        _ => v(register(n + 1), ty),
    };
    let constant = |n: usize| OperandSlot {
        operand: Operand::Int(i32::from(draw.operands[n]) % 65),
        ty: B32,
    };
    let pair = |n: usize, ty: Type| v(register(n) & !1, ty);
    let mut made = match shape {
        Shape::Plain(count, ty) => {
            let sources: Vec<_> = (0..usize::from(count)).map(|n| source(n, ty)).collect();
            inst(op, Format::Vop3, v(register(0), ty), &sources)
        }
        Shape::Compare(ty) => inst(
            op,
            Format::Vop3,
            s(scalar(0), MASK),
            &[source(0, ty), source(1, ty)],
        ),
        Shape::Select => inst(
            op,
            Format::Vop3,
            v(register(0), F32),
            &[source(0, F32), source(1, F32), s(scalar(3), MASK)],
        ),
        Shape::CarryOut => {
            let mut made = inst(
                op,
                Format::Vop3b,
                v(register(0), B32),
                &[source(0, B32), source(1, B32)],
            );
            made.dst2 = s(scalar(3), MASK);
            made
        }
        Shape::Carry => {
            let mut made = inst(
                op,
                Format::Vop3b,
                v(register(0), B32),
                &[source(0, B32), source(1, B32), s(scalar(3), MASK)],
            );
            made.dst2 = s(2 * (draw.modifiers % (SCALARS / 2)), MASK);
            made
        }
        Shape::MultiplyAdd64 => {
            let addend = match draw.kinds[2] % 8 {
                0 => s(scalar(3), Type::U(64)),
                1 => OperandSlot {
                    operand: Operand::Int(i32::from(draw.operands[3]) % 65 - 16),
                    ty: Type::U(64),
                },
                _ => pair(3, Type::U(64)),
            };
            let mut made = inst(
                op,
                Format::Vop3b,
                pair(0, Type::U(64)),
                &[source(0, B32), source(1, B32), addend],
            );
            made.dst2 = s(2 * (draw.modifiers % (SCALARS / 2)), MASK);
            made
        }
        Shape::Shift64 => inst(
            op,
            Format::Vop3,
            pair(0, Type::B(64)),
            &[constant(1), pair(2, Type::B(64))],
        ),
        Shape::Field => inst(
            op,
            Format::Vop3,
            v(register(0), B32),
            &[source(0, B32), constant(2), constant(3)],
        ),
        Shape::Align => inst(
            op,
            Format::Vop3,
            v(register(0), B32),
            &[source(0, B32), source(1, B32), constant(3)],
        ),
        Shape::Packed(count) => {
            let sources: Vec<_> = (0..usize::from(count))
                .map(|n| pair(n + 1, Type::Packed(64)))
                .collect();
            let mut made = inst(op, Format::Vop3p, pair(0, Type::Packed(64)), &sources);
            made.alu.op_sel = draw.kinds[0] & 7;
            made.alu.op_sel_hi = draw.kinds[1] & 7;
            made
        }
    };
    let floats = matches!(
        shape,
        Shape::Plain(_, F32) | Shape::Compare(F32) | Shape::Select | Shape::Packed(_)
    );
    if floats && draw.modifiers & 0x80 != 0 {
        made.alu.neg = draw.modifiers & 7;
        made.alu.abs = draw.modifiers >> 3 & 7;
    }
    made
}

/// Everything that a listing may have changed.
fn state(wave: &mut Wave) -> (Vec<Vec<u32>>, Vec<u32>) {
    let registers = (0..usize::from(REGISTERS))
        .map(|n| wave.vgpr_lanes(n).to_vec())
        .collect();
    (registers, wave.sgpr[..128].to_vec())
}

struct Case<'a> {
    listing: &'a [Inst],
    wave64: bool,
    exec: u64,
    mode: u32,
    dwords: &'a [u32],
}

impl Case<'_> {
    fn run(&self, back_end: BackEnd) -> (Vec<Vec<u32>>, Vec<u32>) {
        let mut wave = execute_on(
            back_end,
            self.listing.to_vec(),
            config(GFX90A, self.wave64),
            self.mode,
            |w| {
                let mut next = self.dwords.iter().copied().cycle();
                for n in 0..usize::from(REGISTERS) {
                    // A stride that is no divisor of the number of dwords.
                    for (lane, to) in w.vgpr_lanes(n).iter_mut().enumerate() {
                        *to = next
                            .next()
                            .expect("cycles")
                            .rotate_left((n * lane % 3) as u32 * 16);
                    }
                }
                for n in 0..usize::from(SCALARS) + 1 {
                    w.sgpr[n] = next.next().expect("cycles");
                }
                w.set_exec(self.exec);
            },
        );
        state(&mut wave)
    }
}

fn agree(draws: &[Draw], wave64: bool, exec: u64, mode: u32, dwords: &[u32]) {
    let listing: Vec<Inst> = draws.iter().map(build).collect();
    let case = Case {
        listing: &listing,
        wave64,
        exec,
        mode,
        dwords,
    };
    let names: Vec<_> = listing.iter().map(|inst| inst.op.name()).collect();
    let back_ends = back_ends();
    let expected = case.run(back_ends[0]);
    for back_end in &back_ends[1..] {
        let got = case.run(*back_end);
        assert_eq!(expected.1, got.1, "scalars of {names:?} on {back_end:?}");
        for (n, (expected, got)) in expected.0.iter().zip(&got.0).enumerate() {
            assert_eq!(expected, got, "v{n} of {names:?} on {back_end:?}");
        }
    }
}

fn masks() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(u64::MAX),
        any::<u64>(),
        Just(0),
        Just(0x00ff_0000_0000_0001),
        (0u32..64).prop_map(|n| u64::MAX >> n),
    ]
}

proptest! {
    #![proptest_config(Config::with_cases(400))]

    #[test]
    fn runs_have_the_interpreter_s_bits(
        draws in draws(40),
        wave64 in any::<bool>(),
        exec in masks(),
        mode in prop::sample::select(vec![MODE, MODE & !0x30, MODE & !0xf0, MODE | 0x5, MODE | 0xf, 0]),
        dwords in vec(dword(), 301),
    ) {
        agree(&draws, wave64, exec, mode, &dwords);
    }

    #[test]
    fn runs_without_nans_have_the_interpreter_s_bits(
        draws in draws(60),
        wave64 in any::<bool>(),
        exec in masks(),
        dwords in vec(calm_dword(), 301),
    ) {
        agree(&draws, wave64, exec, MODE, &dwords);
    }
}

/// Every operation of the table by itself, so that none is only ever seen in a run that falls back.
#[test]
fn each_operation_has_native_code_with_the_interpreter_s_bits() {
    let dwords: Vec<u32> = (0..301u32)
        .map(|n| n.wrapping_mul(0x9e37_79b9) ^ n << 20)
        .collect();
    let calm: Vec<u32> = (0..301u32)
        .map(|n| (n as f32 * 1.37 - 200.0).to_bits())
        .collect();
    for operation in 0..OPERATIONS.len() {
        for seed in 0..24u8 {
            let draw = Draw {
                operation,
                operands: [
                    seed,
                    seed.wrapping_mul(37),
                    seed.wrapping_mul(59),
                    seed ^ 0x55,
                ],
                kinds: [seed, seed >> 1, seed >> 2],
                modifiers: seed << 3,
            };
            for dwords in [&dwords, &calm] {
                agree(std::slice::from_ref(&draw), true, u64::MAX, MODE, dwords);
                agree(
                    std::slice::from_ref(&draw),
                    false,
                    0x0f00_00ff,
                    MODE,
                    dwords,
                );
            }
        }
    }
}

#[test]
fn every_operation_of_the_table_becomes_native() {
    if Level::detect() < Level::Avx2 {
        return;
    }
    for operation in 0..OPERATIONS.len() {
        let draw = Draw {
            operation,
            operands: [2, 4, 6, 8],
            kinds: [3; 3],
            modifiers: 0,
        };
        let listing = vec![build(&draw)];
        let name = listing[0].op.name();
        let native = program(listing, config(GFX90A, true), Level::Avx2);
        native.make_native();
        assert_eq!(native.native_runs(), 1, "{name} is interpreted");
    }
}

#[test]
fn a_program_becomes_native_after_many_waves() {
    if Level::detect() < Level::Avx2 {
        return;
    }
    let add = inst(
        M::v_add_f32,
        Format::Vop3,
        v(0, F32),
        &[v(1, F32), v(2, F32)],
    );
    let program = program(vec![add], config(GFX90A, true), Level::Avx2);
    program.count_waves(31);
    assert_eq!(program.native_runs(), 0);
    program.count_waves(1);
    assert_eq!(program.native_runs(), 1);
}
