//! The state of one wave.
//!
//! Invariants:
//! * `sgpr` is indexed by operand code for 0..=127; the slots above hold SCC, the apertures, a zero region and a sink (see
//!   [`slot`]), so that handlers need no special cases.
//! * The vector file holds `vgpr_count` registers of 32 or 64 lanes side by side, each register 64-byte aligned. The lowering
//!   has checked every register number against that count; handlers with computed indices check themselves.
//! * In wave32 `exec_hi` and `vcc_hi` are plain storage: [`Wave::exec`] and [`Wave::vcc`] leave them out.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error},
    ptr::{self, NonNull},
};

use crate::ir::{
    Op,
    program::{Place, Program},
};

use super::{
    barrier::{Barriers, Membership},
    level::Level,
    run::Exit,
};

/// Indices into [`Wave::sgpr`].
pub mod slot {
    /// `flat_scratch_lo` of GFX9; `flat_scratch_hi` follows.
    pub const FLAT_SCRATCH: usize = 102;
    /// `vcc_lo`; `vcc_hi` follows.
    pub const VCC: usize = 106;
    /// `ttmp0` (GFX9 and later).
    pub const TTMP0: usize = 108;
    /// `exec_lo`; `exec_hi` follows.
    pub const EXEC: usize = 126;
    /// SCC, 0 or 1; the slot after it is zero.
    pub const SCC: usize = 128;
    /// `src_vccz`, materialised before use; the slot after it is zero.
    pub const VCCZ: usize = 130;
    /// `src_execz`, materialised before use; the slot after it is zero.
    pub const EXECZ: usize = 132;
    /// `src_shared_base`, low and high dword.
    pub const SHARED_BASE: usize = 134;
    /// `src_shared_limit`, low and high dword.
    pub const SHARED_LIMIT: usize = 136;
    /// `src_private_base`, low and high dword.
    pub const PRIVATE_BASE: usize = 138;
    /// `src_private_limit`, low and high dword.
    pub const PRIVATE_LIMIT: usize = 140;
    /// `src_pops_exiting_wave_id`: always zero.
    pub const POPS: usize = 142;
    /// Sixteen slots that are always zero: what `null` reads as.
    pub const ZERO: usize = 144;
    /// Thirty-two slots that nobody reads: where writes to `null` go.
    pub const SINK: usize = 160;
    /// `src_lds_direct`, read before use.
    pub const LDS_DIRECT: usize = 192;
    /// Number of slots.
    pub const COUNT: usize = 208;
}

/// Number of temporary vectors, see [`Wave::temps`].
pub const TEMPS: usize = 24;

/// The vector register file of one wave: 64-byte aligned, zeroed at allocation, reused between groups.
#[derive(Debug)]
pub struct VectorFile {
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the file owns its memory exclusively.
unsafe impl Send for VectorFile {}

impl VectorFile {
    const fn layout(bytes: usize) -> Layout {
        match Layout::from_size_align(bytes, 64) {
            Ok(layout) => layout,
            Err(_) => panic!("vector file too large"),
        }
    }

    /// A file without memory.
    pub const fn empty() -> Self {
        Self {
            data: NonNull::dangling(),
            bytes: 0,
        }
    }

    /// Makes room for `bytes`; keeps the allocation if it is large enough. Contents are unspecified (but initialised).
    pub fn reserve(&mut self, bytes: usize) {
        if bytes <= self.bytes {
            return;
        }
        let layout = Self::layout(bytes);
        // SAFETY: the layout has a non-zero size.
        let Some(data) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            handle_alloc_error(layout)
        };
        *self = Self { data, bytes };
    }

    /// Start of the file.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the file has no memory.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Drop for VectorFile {
    fn drop(&mut self) {
        if self.bytes != 0 {
            // SAFETY: allocated by `reserve` with this layout.
            unsafe { dealloc(self.data.as_ptr(), Self::layout(self.bytes)) }
        }
    }
}

/// Where a wave runs, for the hardware registers that say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardwareId {
    /// Compute unit, numbered through the GPU.
    pub compute_unit: u32,
    /// SIMD of the compute unit.
    pub simd: u32,
    /// Wave slot of the SIMD.
    pub slot: u32,
    /// Hardware queue.
    pub queue: u32,
    /// Process (VM) id.
    pub vmid: u32,
}

/// MODE register, as the kernel descriptor initialises it and `s_setreg` changes it.
pub mod mode {
    /// Bits 1:0: f32 rounding (0 nearest even, 1 up, 2 down, 3 to zero). Bits 3:2: f64 and f16 rounding.
    pub const ROUND_SHIFT: u32 = 0;
    /// Bits 5:4: f32 denormals (bit 0: keep inputs, bit 1: keep results … both set: keep). Bits 7:6: f64 and f16.
    pub const DENORM_SHIFT: u32 = 4;
    /// Bits 18:12: enables of floating-point exceptions, in the order of TRAPSTS. GFX12 has them in TRAP_CTRL; the engine keeps them here.
    pub const EXCP_EN_SHIFT: u32 = 12;
    /// Clamp maps NaN to 0.
    pub const DX10_CLAMP: u32 = 1 << 8;
    /// IEEE mode: signalling NaNs are quieted by min, max and clamp.
    pub const IEEE: u32 = 1 << 9;
    /// `v_*` f16 overflow clamps to the largest finite value.
    pub const FP16_OVFL: u32 = 1 << 23;
    /// GFX9 VGPR-index mode.
    pub const GPR_IDX_EN: u32 = 1 << 27;
    /// GFX9: vector instructions are skipped.
    pub const VSKIP: u32 = 1 << 28;
}

/// The state of one wave. Created once per wave slot of a worker, then [`reset`](Self::reset) for each wave that it runs.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Wave {
    /// Bases of operand references, by the selector in [`Ref`](crate::ir::Ref): vector file, constant pool of the segment that
    /// `next` is in, temporaries, scalar file. Set by [`reset`](Self::reset), by the run loop and by indirect jumps.
    pub base: [*mut u8; 4],
    /// Lanes with bit set take part in vector operations: all lanes of the wave size.
    pub full_mask: u64,
    /// The EXEC value for which `mask_lanes` is valid.
    pub mask_for: u64,
    /// Groups of sixteen lanes: 2 or 4.
    pub chunks: usize,
    /// MODE.
    pub mode: u32,
    /// MXCSR for f32 operations under MODE.
    pub mxcsr: u32,
    /// MXCSR for f64 operations under MODE.
    pub mxcsr_f64: u32,
    /// Back edges, calls and the like that may still be taken before the loop stops with [`Exit::BudgetSpent`].
    pub budget: i64,
    /// Where to go on.
    pub next: *const Op,
    /// The program; valid while the wave runs it.
    pub program: *const Program,
    /// Execution context of the dispatch: map cache, LDS, faults. Opaque here; memory handlers cast it.
    pub context: *mut (),
    /// Why the loop stopped.
    pub exit: Exit,
    /// Scalar file, see [`slot`].
    pub sgpr: [u32; slot::COUNT],
    /// EXEC widened: all ones in active lanes.
    pub mask_lanes: Lanes,
    /// Temporary vectors for operand preparation.
    pub temps: [Lanes; TEMPS],
    /// The vector file.
    pub file: VectorFile,
    /// Registers in the file (VGPRs, then AGPRs).
    pub vgpr_count: u32,
    /// The group's barriers; null for a wave without a group.
    pub barriers: *mut Barriers,
    /// What the wave knows of them.
    pub membership: Membership,
    /// LDS of the group (host address) and its size in bytes.
    pub lds: *mut u8,
    /// Bytes of LDS.
    pub lds_size: u32,
    /// Scratch of the wave: host address of lane-interleaved dwords, and bytes of one lane.
    pub scratch: *mut u8,
    /// Bytes of scratch of one lane.
    pub scratch_size: u32,
    /// `FLAT_SCRATCH` of GFX10 and later (a hardware register there).
    pub flat_scratch: u64,
    /// Where it runs.
    pub hardware_id: HardwareId,
    /// STATUS hardware register bits beyond SCC, EXECZ, VCCZ.
    pub status: u32,
    /// TRAPSTS hardware register.
    pub trap_status: u32,
    /// Exceptions that the instruction has raised so far.
    pub raised: u32,
    /// First lane that raised one that is enabled.
    pub raised_lane: u32,
    /// Priority set by `s_setprio`.
    pub priority: u8,
    /// Wave number in its group.
    pub wave_in_group: u32,
    /// Work-group id.
    pub workgroup: [u32; 3],
    /// Instructions executed, counted by changes of the program counter. Instructions without an operation (waits, hints) are left out.
    #[cfg(feature = "counters")]
    pub instructions: u64,
    /// M0's operand code: 124, or 125 on GFX11 and later.
    pub m0: usize,
}

/// What the scalar file of every wave of a dispatch begins with, up to the slots that never change.
#[derive(Clone, Debug)]
pub struct ScalarImage {
    /// Slots below [`slot::ZERO`].
    pub slots: [u32; slot::ZERO],
    /// SGPRs that the program can name; those from here to `VCC` keep what they hold.
    pub sgprs: usize,
}

impl Default for ScalarImage {
    fn default() -> Self {
        Self {
            slots: [0; slot::ZERO],
            sgprs: slot::VCC,
        }
    }
}

impl ScalarImage {
    /// Dwords copied at once.
    const LINE: usize = 16;

    /// Takes over what a wave has made of it.
    pub fn take(&mut self, file: &[u32; slot::COUNT]) {
        self.slots.copy_from_slice(&file[..slot::ZERO]);
    }

    #[inline(always)]
    fn copy_to(&self, file: &mut [u32; slot::COUNT]) {
        // In pieces of a known size, which are copied inline: the program's SGPRs, then VCC and all behind it.
        const REST: usize = slot::VCC / ScalarImage::LINE * ScalarImage::LINE;
        let (low, rest) = self.slots.split_at(REST);
        let (low_to, rest_to) = file.split_at_mut(REST);
        let lines = self.sgprs.div_ceil(Self::LINE);
        let pairs = |from: &'_ [u32], to: &'_ mut [u32], lines: usize| {
            for (from, to) in from
                .as_chunks::<{ Self::LINE }>()
                .0
                .iter()
                .zip(to.as_chunks_mut::<{ Self::LINE }>().0)
                .take(lines)
            {
                *to = *from;
            }
        };
        pairs(low, low_to, lines);
        pairs(rest, rest_to, usize::MAX);
    }
}

const _: () = assert!(slot::ZERO.is_multiple_of(ScalarImage::LINE));

/// What the waves of a dispatch begin with.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// Scalar file, but for what differs from wave to wave.
    pub scalars: ScalarImage,
    /// The first operation.
    pub entry: Place,
}

/// One vector of up to 64 lanes.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Lanes(pub [u32; 64]);

// SAFETY: the raw pointers are to memory of the wave itself, or are set by the engine for the thread that runs the wave.
unsafe impl Send for Wave {}

impl Default for Wave {
    fn default() -> Self {
        Self::new()
    }
}

impl Wave {
    /// A wave slot without registers.
    pub fn new() -> Self {
        Self {
            base: [ptr::null_mut(); 4],
            full_mask: u64::MAX,
            mask_for: 0,
            chunks: 4,
            mode: 0,
            mxcsr: 0x1f80,
            mxcsr_f64: 0x1f80,
            budget: 0,
            next: ptr::null(),
            program: ptr::null(),
            context: ptr::null_mut(),
            exit: Exit::EndProgram,
            sgpr: [0; slot::COUNT],
            mask_lanes: Lanes([0; 64]),
            temps: [Lanes([0; 64]); TEMPS],
            file: VectorFile::empty(),
            vgpr_count: 0,
            barriers: ptr::null_mut(),
            membership: Membership::default(),
            lds: ptr::null_mut(),
            lds_size: 0,
            scratch: ptr::null_mut(),
            scratch_size: 0,
            flat_scratch: 0,
            hardware_id: HardwareId::default(),
            status: 0,
            trap_status: 0,
            raised: 0,
            raised_lane: 0,
            priority: 0,
            wave_in_group: 0,
            workgroup: [0; 3],
            #[cfg(feature = "counters")]
            instructions: 0,
            m0: 124,
        }
    }

    /// Prepares the slot for a new wave of `program`: wave size, vector file, PC at the entry, scalar file zeroed, EXEC full,
    /// MODE as given. VGPRs keep what they hold. The launch code then sets SGPRs, VGPRs, EXEC, LDS, scratch and the context.
    pub fn reset(&mut self, program: &Program, mode: u32) {
        self.bind(program, mode);
        let scalars = ScalarImage::default();
        let entry = program.entry();
        self.begin(mode, &Beginning { scalars, entry });
        // `mask_lanes` goes with `mask_for`, whichever wave that was for.
        self.set_exec(self.full_mask);
    }

    /// Makes the slot one for waves of `program`: wave size, vector file, MODE. [`begin`](Self::begin) is for each wave.
    pub fn bind(&mut self, program: &Program, mode: u32) {
        let config = program.config();
        let lanes = config.lanes();
        self.chunks = lanes / 16;
        self.full_mask = if lanes == 64 { u64::MAX } else { 0xffff_ffff };
        self.vgpr_count = config.registers();
        self.file.reserve(self.vgpr_count as usize * self.stride());
        self.m0 = config.m0();
        self.set_mode(mode);
        self.program = program;
        self.base[0] = self.file.as_mut_ptr();
    }

    /// The state of a new wave, in a slot that is bound to its program: the scalar file, and where it begins. EXEC and VGPRs keep what
    /// they hold.
    #[inline(always)]
    pub fn begin(&mut self, mode: u32, beginning: &Beginning) {
        beginning.scalars.copy_to(&mut self.sgpr);
        if self.mode != mode {
            self.set_mode(mode);
        }
        self.next = beginning.entry.op;
        self.base[1] = beginning.entry.pool.cast_mut();
        self.status = 0;
        self.trap_status = 0;
        self.raised = 0;
        self.priority = 0;
        self.exit = Exit::BudgetSpent;
    }

    /// Lanes of the wave: 32 or 64.
    #[inline]
    pub fn lanes(&self) -> usize {
        self.chunks * 16
    }

    /// Bytes from one VGPR to the next.
    #[inline]
    pub fn stride(&self) -> usize {
        self.chunks * 64
    }

    /// EXEC.
    #[inline]
    pub fn exec(&self) -> u64 {
        self.pair(slot::EXEC) & self.full_mask
    }

    /// Sets EXEC; bits above the wave size are dropped.
    #[inline]
    pub fn set_exec(&mut self, value: u64) {
        self.set_pair(slot::EXEC, value & self.full_mask);
    }

    /// VCC (in wave32, `vcc_lo`).
    #[inline]
    pub fn vcc(&self) -> u64 {
        self.pair(slot::VCC) & self.full_mask
    }

    /// Two neighbouring scalar slots as 64 bits.
    #[inline]
    pub fn pair(&self, index: usize) -> u64 {
        u64::from(self.sgpr[index]) | u64::from(self.sgpr[index + 1]) << 32
    }

    /// Writes two neighbouring scalar slots.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "split into halves")]
    pub fn set_pair(&mut self, index: usize, value: u64) {
        self.sgpr[index] = value as u32;
        self.sgpr[index + 1] = (value >> 32) as u32;
    }

    /// A lane mask operand: a pair in wave64, one register in wave32.
    #[inline]
    pub fn mask(&self, index: usize) -> u64 {
        if self.chunks == 4 {
            self.pair(index)
        } else {
            u64::from(self.sgpr[index])
        }
    }

    /// Writes a lane mask operand.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "wave32 masks have 32 bits")]
    pub fn set_mask(&mut self, index: usize, value: u64) {
        if self.chunks == 4 {
            self.set_pair(index, value);
        } else {
            self.sgpr[index] = value as u32;
        }
    }

    /// Pointer to the lanes of register `index` of the vector file.
    ///
    /// # Panics
    /// If there is no such register.
    #[inline]
    pub fn vgpr(&mut self, index: usize) -> *mut u32 {
        assert!(index < self.vgpr_count as usize, "register out of range");
        // SAFETY: inside the file, which holds `vgpr_count` registers.
        unsafe { self.base[0].add(index * self.stride()).cast() }
    }

    /// The lanes of register `index`, for launch code and tests.
    #[inline]
    pub fn vgpr_lanes(&mut self, index: usize) -> &mut [u32] {
        let lanes = self.lanes();
        // SAFETY: `vgpr` gives a pointer to that many initialised, aligned words that the wave owns.
        unsafe { std::slice::from_raw_parts_mut(self.vgpr(index), lanes) }
    }

    /// Leaves the run loop: the wave goes on at `next`, `exit` says why. The result is to be returned by the handler.
    #[inline]
    pub fn stop(&mut self, next: *const Op, exit: Exit) -> *const Op {
        self.next = next;
        self.exit = exit;
        ptr::null()
    }

    /// Address of the next instruction (at a fault: of the faulting one).
    pub fn pc(&self) -> u64 {
        if self.next.is_null() || self.program.is_null() {
            return 0;
        }
        // SAFETY: `next` points into a segment of the program, both live while the wave is bound to it.
        unsafe { (*self.next).pc }
    }

    /// Address of the instruction that stopped the wave with `next` at the operation after it.
    pub fn last_pc(&self) -> u64 {
        if self.next.is_null() || self.program.is_null() {
            return 0;
        }
        // SAFETY: that operation stands before `next` in the segment.
        unsafe { (*self.next.sub(1)).pc }
    }

    /// Brings `mask_lanes` up to date with EXEC.
    #[inline]
    pub fn refresh_mask(&mut self) {
        let exec = self.exec();
        if exec != self.mask_for {
            self.mask_for = exec;
            if Level::current() == Level::Portable {
                self.mask_lanes = expand_mask(exec);
            } else {
                // SAFETY: the level says that the host has AVX2.
                unsafe { expand_mask_avx2(exec, &mut self.mask_lanes) }
            }
        }
    }

    /// Sets MODE and the MXCSR values that follow from it; loads MXCSR if `live` code runs on it (see [`super::run`]).
    pub fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
        self.mxcsr = mxcsr_for(mode & 3, mode >> mode::DENORM_SHIFT & 3);
        self.mxcsr_f64 = mxcsr_for(mode >> 2 & 3, mode >> (mode::DENORM_SHIFT + 2) & 3);
    }
}

/// A 64-bit mask as lane words, all ones where the bit is set.
#[inline]
pub fn expand_mask(mask: u64) -> Lanes {
    let mut out = Lanes([0; 64]);
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    for half in 0..2 {
        let bits = (mask >> (32 * half)) as u32;
        for lane in 0..32 {
            out.0[32 * half + lane] = 0u32.wrapping_sub(bits >> lane & 1);
        }
    }
    out
}

/// As [`expand_mask`].
///
/// # Safety
/// The host has AVX2.
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_truncation, reason = "eight bits")]
unsafe fn expand_mask_avx2(mask: u64, out: &mut Lanes) {
    use core::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
        _mm256_store_si256,
    };
    let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for eight in 0..8 {
        let bits = _mm256_set1_epi32((mask >> (8 * eight)) as i32 & 0xff);
        let lanes = _mm256_cmpeq_epi32(_mm256_and_si256(bits, bit), bit);
        // SAFETY: eight lanes at 32 × `eight` bytes; the lanes are aligned to 64 bytes.
        unsafe { _mm256_store_si256(out.0.as_mut_ptr().cast::<__m256i>().add(eight), lanes) };
    }
}

/// MXCSR for a rounding mode and a denormal mode of MODE: all exceptions masked.
fn mxcsr_for(round: u32, denorm: u32) -> u32 {
    const MASKED: u32 = 0x1f80;
    const DAZ: u32 = 1 << 6;
    const FTZ: u32 = 1 << 15;
    // MODE: 0 nearest, 1 up, 2 down, 3 zero. MXCSR.RC: 0 nearest, 1 down, 2 up, 3 zero.
    let rc = [0u32, 2, 1, 3][round as usize & 3] << 13;
    // MODE denormals: bit 0 keeps input denormals, bit 1 keeps result denormals.
    let daz = if denorm & 1 == 0 { DAZ } else { 0 };
    let ftz = if denorm & 2 == 0 { FTZ } else { 0 };
    MASKED | rc | daz | ftz
}
