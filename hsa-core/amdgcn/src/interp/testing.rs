//! Running short listings of instructions in unit tests.

use std::sync::Arc;

use crate::{
    ir::program::{CodeSource, FetchError, LowerConfig, Program},
    isa::{
        inst::{AluModifiers, Format, Inst, MemModifiers, Operand, OperandSlot, Type},
        op::Op as M,
    },
    target::Target,
};

use super::{
    level::Level,
    run::{Exit, run},
    wave::Wave,
};

/// gfx90a.
pub const GFX90A: Target = Target {
    major: 9,
    minor: 0,
    stepping: 10,
};
/// gfx1030.
pub const GFX1030: Target = Target {
    major: 10,
    minor: 3,
    stepping: 0,
};
/// MODE of a HIP kernel: nearest, all denormals kept, DX10 clamp, IEEE.
pub const MODE: u32 = 0x3f0;

/// Address of the first instruction of a listing.
pub const BASE: u64 = 0x1000;

/// Instructions one after the other.
#[derive(Debug)]
pub struct Listing(pub Vec<Inst>);

impl CodeSource for Listing {
    fn fetch(&self, pc: u64) -> Result<Inst, FetchError> {
        let mut at = BASE;
        for inst in &self.0 {
            if at == pc {
                return Ok(inst.clone());
            }
            at += u64::from(inst.len);
        }
        Err(FetchError::Unmapped)
    }
}

/// An instruction of four bytes.
pub fn inst(op: M, format: Format, dst: OperandSlot, sources: &[OperandSlot]) -> Inst {
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
        nsa: Default::default(),
    }
}

/// A VGPR operand.
pub fn v(index: u16, ty: Type) -> OperandSlot {
    OperandSlot {
        operand: Operand::Vgpr(index),
        ty,
    }
}

/// A scalar operand.
pub fn s(index: u8, ty: Type) -> OperandSlot {
    OperandSlot {
        operand: Operand::Scalar(index),
        ty,
    }
}

/// A SOPP instruction.
pub fn sopp(op: M, simm16: i16) -> Inst {
    Inst {
        simm16,
        ..inst(op, Format::Sopp, OperandSlot::NONE, &[])
    }
}

/// A configuration with 64 VGPRs and 64 AGPRs.
pub fn config(target: Target, wave64: bool) -> LowerConfig {
    LowerConfig {
        target,
        wave64,
        vgprs: 64,
        agprs: 64,
        exceptions: false,
    }
}

/// A program of the listing, with `s_endpgm` behind it, and a jump to that between them: what the listing leaves in scalar registers is
/// looked at, so the end must not make it dead.
pub fn program(mut listing: Vec<Inst>, config: LowerConfig, level: Level) -> Arc<Program> {
    listing.push(sopp(M::s_branch, 0));
    listing.push(sopp(M::s_endpgm, 0));
    Program::with_level(Arc::new(Listing(listing)), BASE, config, level)
}

/// Runs a listing, as native code where the level has that; the wave must end by itself.
pub fn execute(
    listing: Vec<Inst>,
    config: LowerConfig,
    level: Level,
    mode: u32,
    setup: impl FnOnce(&mut Wave),
) -> Box<Wave> {
    execute_on((level, true), listing, config, mode, setup)
}

/// Runs a listing on a back end; the wave must end by itself.
pub fn execute_on(
    (level, native): BackEnd,
    listing: Vec<Inst>,
    config: LowerConfig,
    mode: u32,
    setup: impl FnOnce(&mut Wave),
) -> Box<Wave> {
    let program = program(listing, config, level);
    if native {
        program.make_native();
    }
    let mut wave = Box::new(Wave::new());
    wave.reset(&program, mode);
    setup(&mut wave);
    // SAFETY: reset for a program that is alive; no memory operations in it.
    let exit = unsafe { run(&mut wave, 1000) };
    assert_eq!(exit, Exit::EndProgram, "{:?}", program.why(wave.next));
    wave
}

/// The SIMD levels that the host has.
pub fn levels() -> Vec<Level> {
    let best = Level::detect();
    [Level::Portable, Level::Avx2, Level::Avx512]
        .into_iter()
        .filter(|level| *level <= best)
        .collect()
}

/// A SIMD level, and whether runs become native code.
pub type BackEnd = (Level, bool);

/// Every back end that the host has, the portable interpreter first.
pub fn back_ends() -> Vec<BackEnd> {
    let with_native = |level| [(level, false), (level, true)];
    levels()
        .into_iter()
        .flat_map(with_native)
        .filter(|(level, native)| !native || *level >= Level::Avx2)
        .collect()
}
