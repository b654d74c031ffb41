//! Programs: lowered code of one kernel, and the map from PC to operation.
//!
//! Code is lowered in segments. The first holds everything that is reachable from the kernel's entry by direct branches; an
//! indirect jump (`s_setpc_b64`, `s_swappc_b64`) to a PC that is not yet known lowers one more segment from there. Segments are
//! never freed while the program lives, so operations are plain pointers, shared by all workers. Nothing in them changes but handlers: a
//! program that runs often gets [native code](crate::jit), which takes the place of handlers while other workers may be running them.
//!
//! Code that cannot be decoded or lowered becomes an operation that stops the wave when it is reached; [`Program::why`] has the
//! reason.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap, HashSet},
    ptr::NonNull,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, RwLock};

use crate::{
    interp::{exceptions::stop_if_enabled, level::Level, run::Handler},
    isa::inst::Inst,
    jit::{self, Code, NativeCode, form::Form, liveness::Decoded},
    target::Target,
};

use super::{
    Op, Ref,
    common::{self, LaunchRegisters},
    lower::{self, Flow, LowerContext, exceptions, vskip},
};

/// Why there is no instruction at a PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// No executable mapping.
    Unmapped,
    /// The bytes are no instruction of the target; the text shows them.
    Illegal(String),
}

/// Where instructions come from: guest memory and the decoder of the target.
pub trait CodeSource: Send + Sync {
    /// The instruction at `pc`.
    fn fetch(&self, pc: u64) -> Result<Inst, FetchError>;
}

/// What the lowering must know besides the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowerConfig {
    /// The target.
    pub target: Target,
    /// Wave size 64 rather than 32.
    pub wave64: bool,
    /// VGPRs of the wave (on unified files: `accum_offset`). Instructions that name others are refused.
    pub vgprs: u32,
    /// AGPRs of the wave; they follow the VGPRs in the file.
    pub agprs: u32,
    /// The kernel begins with a floating-point exception enabled.
    pub exceptions: bool,
}

impl LowerConfig {
    /// Lanes of a wave.
    pub fn lanes(&self) -> usize {
        if self.wave64 { 64 } else { 32 }
    }

    /// Bytes from one register to the next.
    pub fn stride(&self) -> u32 {
        if self.wave64 { 256 } else { 128 }
    }

    /// Registers in the vector file.
    pub fn registers(&self) -> u32 {
        self.vgprs + self.agprs
    }

    /// Operand code of M0, as the decoder gives it for every family.
    pub fn m0(&self) -> usize {
        124
    }

    /// Operand code of `null`, where there is one, as the decoder gives it for every family.
    pub fn null(&self) -> Option<u8> {
        (self.target.major >= 10).then_some(125)
    }
}

/// Operations lowered together.
struct Segment {
    ops: Ops,
    pool: Box<[PoolLine]>,
    /// Keeps what `Op::imm` points to.
    _side: Vec<Box<dyn Any + Send + Sync>>,
    reasons: HashMap<usize, String>,
    native: Option<NativeCode>,
    /// What native code is made from, until then.
    pending: Option<Pending>,
}

/// What native code of a segment is made from besides its operations.
struct Pending {
    forms: Vec<Form>,
    leaders: Vec<usize>,
    decoded: Decoded,
}

/// Operations whose handlers may be replaced while workers run them.
struct Ops(NonNull<[Op]>);

// SAFETY: owns the operations; their pointers are into the program's own segments.
unsafe impl Send for Ops {}

impl Ops {
    fn new(ops: Vec<Op>) -> Self {
        Self(NonNull::from(Box::leak(ops.into_boxed_slice())))
    }

    fn first(&self) -> *const Op {
        self.0.as_ptr().cast::<Op>()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// A copy, for reading.
    fn copied(&self) -> Vec<Op> {
        // SAFETY: only handlers change, and only under the lock of the segments, which the caller holds.
        unsafe { self.0.as_ref() }.to_vec()
    }

    fn set_handler(&self, index: usize, handler: Handler) {
        assert!(index < self.len(), "no such operation");
        // SAFETY: inside the operations; workers read handlers as atomics, see `handler_of`.
        let at = unsafe { &raw mut (*self.0.as_ptr().cast::<Op>().add(index)).run };
        // SAFETY: aligned, and a function pointer has a pointer's size. Release: the code was written before.
        unsafe { AtomicPtr::from_ptr(at.cast::<*mut ()>()) }
            .store(handler as *mut (), Ordering::Release);
    }
}

impl Drop for Ops {
    fn drop(&mut self) {
        // SAFETY: made from a box by `new`.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// The handler of an operation that another worker may be replacing.
///
/// # Safety
/// `op` is an operation of a program that is alive.
#[inline(always)]
pub unsafe fn handler_of(op: *const Op) -> Handler {
    // SAFETY: aligned and alive; what is stored there are handlers. On the hosts that there are, acquire is a plain load.
    unsafe {
        let at = (&raw const (*op).run).cast::<*mut ()>().cast_mut();
        std::mem::transmute::<*mut (), Handler>(AtomicPtr::from_ptr(at).load(Ordering::Acquire))
    }
}

/// Sixteen equal dwords.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct PoolLine(pub [u32; 16]);

/// An operation and the constant pool of its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The operation.
    pub op: *const Op,
    /// The pool.
    pub pool: *const u8,
}

impl Place {
    /// No place.
    pub const NONE: Self = Self {
        op: std::ptr::null(),
        pool: std::ptr::null(),
    };
}

// SAFETY: points into segments, which are immutable and live as long as the program.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// Lowered code of one kernel, for one wave size and register count.
pub struct Program {
    config: LowerConfig,
    level: Level,
    code: Arc<dyn CodeSource>,
    entry_pc: u64,
    entry: Place,
    /// Where waves that begin with these registers stop doing the same.
    common_end: OnceLock<(LaunchRegisters, Option<Place>)>,
    map: RwLock<HashMap<u64, Place>>,
    segments: Mutex<Vec<Segment>>,
    /// Waves started so far, while that matters.
    waves: AtomicU64,
    /// Runs often: has native code.
    hot: AtomicBool,
    /// Somebody was told that its float atomics are lost.
    told_of_loss: AtomicBool,
    /// Vector instructions look at [VSKIP](vskip): code was seen that could turn it on. Changes under the lock of the segments.
    looks_at_vskip: AtomicBool,
    /// Float operations note the [exceptions] that they raise. Changes under the lock of the segments.
    sees_exceptions: AtomicBool,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Waves after which a program gets native code.
const HOT_WAVES: u64 = 32;

/// Instructions in one segment, at most: a guard against runaway decoding of data.
const SEGMENT_LIMIT: usize = 1 << 20;

impl Program {
    /// Lowers the kernel whose first instruction is at `entry`. Never fails: what cannot be lowered stops the wave that reaches it.
    pub fn for_kernel(code: Arc<dyn CodeSource>, entry: u64, config: LowerConfig) -> Arc<Self> {
        Self::with_level(code, entry, config, Level::current())
    }

    /// Whether this is the first time that somebody asks, to be told of float atomics that are lost.
    pub(crate) fn first_loss(&self) -> bool {
        !self.told_of_loss.swap(true, Ordering::Relaxed)
    }

    /// As [`for_kernel`](Self::for_kernel), with handlers of a SIMD level that the host must have.
    pub fn with_level(
        code: Arc<dyn CodeSource>,
        entry: u64,
        config: LowerConfig,
        level: Level,
    ) -> Arc<Self> {
        let mut program = Self {
            config,
            level,
            code,
            entry_pc: entry,
            entry: Place::NONE,
            common_end: OnceLock::new(),
            map: RwLock::default(),
            segments: Mutex::default(),
            waves: AtomicU64::new(0),
            hot: AtomicBool::new(false),
            told_of_loss: AtomicBool::new(false),
            looks_at_vskip: AtomicBool::new(false),
            sees_exceptions: AtomicBool::new(config.exceptions),
        };
        program.entry = program.place(entry);
        Arc::new(program)
    }

    /// The configuration.
    pub fn config(&self) -> &LowerConfig {
        &self.config
    }

    /// The first operation.
    pub fn entry(&self) -> Place {
        self.entry
    }

    /// The operation at `pc`; lowers a new segment if there is none yet. Handlers of indirect jumps set `Wave::base[1]` to its pool.
    pub fn enter(&self, pc: u64) -> Place {
        self.place(pc)
    }

    /// Where waves that begin with these registers stop doing the same, if they do the same for some instructions.
    pub(crate) fn common_end(&self, registers: &LaunchRegisters) -> Option<Place> {
        let (known, end) = self.common_end.get_or_init(|| {
            let end = common::end(
                &*self.code,
                self.entry_pc,
                registers,
                self.config.lanes() as u32,
            );
            (*registers, end.map(|pc| self.place(pc)))
        });
        end.filter(|_| known == registers)
    }

    /// Why the operation stops the wave, if the lowering refused it.
    pub fn why(&self, op: *const Op) -> Option<String> {
        let segments = self.segments.lock();
        segments.iter().find_map(|segment| {
            let index = op.addr().wrapping_sub(segment.ops.first().addr()) / size_of::<Op>();
            if index >= segment.ops.len() {
                return None;
            }
            segment.reasons.get(&index).cloned()
        })
    }

    /// Whether float operations note the exceptions that they raise.
    pub fn sees_exceptions(&self) -> bool {
        self.sees_exceptions.load(Ordering::Relaxed)
    }

    /// Operations lowered so far.
    pub fn op_count(&self) -> usize {
        self.segments
            .lock()
            .iter()
            .map(|segment| segment.ops.len())
            .sum()
    }

    /// Counts waves that are about to start. A program that has started many gets native code; making it costs about as much as
    /// interpreting a few waves.
    pub fn count_waves(&self, waves: u64) {
        if self.hot.load(Ordering::Relaxed) {
            return;
        }
        let before = self.waves.fetch_add(waves, Ordering::Relaxed);
        if before.saturating_add(waves) >= HOT_WAVES {
            self.make_native();
        }
    }

    /// Makes native code of the program, unless it has it: many waves, or one that goes around in a loop for long.
    pub fn make_native(&self) {
        // Called at the end of every long slice: a look that does not write comes first.
        if self.hot.load(Ordering::Relaxed)
            || self.hot.swap(true, Ordering::Relaxed)
            || !jit::is_enabled(self.level)
        {
            return;
        }
        for segment in self.segments.lock().iter_mut() {
            self.make_segment_native(segment);
        }
    }

    fn make_segment_native(&self, segment: &mut Segment) {
        let Some(Pending {
            forms,
            leaders,
            decoded,
        }) = segment.pending.take()
        else {
            return;
        };
        let ops = segment.ops.copied();
        let made = jit::compile(&Code {
            ops: &ops,
            forms: &forms,
            leaders: &leaders,
            decoded: &decoded,
            pool: &segment.pool,
            config: &self.config,
        });
        if let Some((native, handlers)) = made {
            segment.native = Some(native);
            for (index, handler) in handlers {
                segment.ops.set_handler(index, handler);
            }
        }
    }

    /// Runs of operations that have native code.
    pub fn native_runs(&self) -> usize {
        self.sum_native(NativeCode::runs)
    }

    /// Those of them that have loads and stores.
    pub fn native_memory_runs(&self) -> usize {
        self.sum_native(NativeCode::memory_runs)
    }

    fn sum_native(&self, count: fn(&NativeCode) -> usize) -> usize {
        let segments = self.segments.lock();
        let native = segments
            .iter()
            .filter_map(|segment| segment.native.as_ref());
        native.map(count).sum()
    }

    fn place(&self, pc: u64) -> Place {
        if let Some(place) = self.map.read().get(&pc) {
            return *place;
        }
        let mut segments = self.segments.lock();
        if let Some(place) = self.map.read().get(&pc) {
            return *place;
        }
        let decoded = self.decode_reachable(pc);
        let looks = self.looks_at_vskip.load(Ordering::Relaxed)
            || decoded
                .values()
                .flatten()
                .any(|inst| vskip::may_turn_on(inst, self.config.target));
        let sees = self.sees_exceptions.load(Ordering::Relaxed)
            || decoded
                .values()
                .flatten()
                .any(|inst| exceptions::asks(inst, self.config.target));
        let (mut segment, starts) = self.lower_segment(pc, decoded, looks, sees);
        if self.hot.load(Ordering::Relaxed) {
            self.make_segment_native(&mut segment);
        }
        let pool: *const u8 = segment.pool.as_ptr().cast();
        let ops = segment.ops.first();
        let mut map = self.map.write();
        let newly = [(looks, &self.looks_at_vskip), (sees, &self.sees_exceptions)]
            .map(|(needed, known)| needed && !known.swap(true, Ordering::Relaxed));
        if newly.contains(&true) {
            // The segments before this one do not look. Control comes to them through the map alone, and no wave has the mode on yet.
            map.clear();
        }
        for (at, index) in starts {
            // SAFETY: `index` is inside the boxed slice.
            let op = unsafe { ops.add(index) };
            map.entry(at).or_insert(Place { op, pool });
        }
        segments.push(segment);
        map[&pc]
    }

    /// Lowers what is reachable from `start` in address order. `looks`: vector instructions look at VSKIP; `sees`: float operations note what they raise.
    fn lower_segment(
        &self,
        start: u64,
        decoded: Decoded,
        looks: bool,
        sees: bool,
    ) -> (Segment, Vec<(u64, usize)>) {
        let mut cx = LowerContext::new(self.config, self.level);
        cx.exceptions = sees;
        let mut starts = Vec::with_capacity(decoded.len());
        let mut index_of = HashMap::with_capacity(decoded.len());
        let mut reasons = HashMap::new();
        let mut at = decoded.iter().peekable();
        while let Some((&pc, item)) = at.next() {
            starts.push((pc, cx.ops.len()));
            index_of.insert(pc, cx.ops.len());
            let inst = match item {
                Ok(inst) => inst,
                Err(error) => {
                    cx.begin(pc, 0);
                    reasons.insert(cx.ops.len(), format!("{error:?}"));
                    cx.push(Op::new(lower::control::illegal));
                    continue;
                }
            };
            cx.begin(pc, u32::from(inst.len));
            let look = (looks && vskip::is_skipped(inst)).then_some(cx.ops.len());
            if look.is_some() {
                cx.push(Op::new(vskip::look));
            }
            let mark = cx.ops.len();
            if let Err(unsupported) = lower::lower(inst, &mut cx) {
                cx.rewind(mark);
                reasons.insert(mark, unsupported.to_string());
                cx.push(Op::new(lower::control::unsupported));
            } else if cx.guards {
                cx.push(Op::new(stop_if_enabled));
            }
            if let Some(look) = look {
                cx.ops[look].imm = (cx.ops.len() - look) as u64;
            }
            let next = pc.wrapping_add(u64::from(inst.len));
            let falls_through = !matches!(lower::flow(inst, pc), Flow::Jump(_) | Flow::Stop);
            if falls_through && at.peek().map(|(pc, _)| **pc) != Some(next) {
                let mut jump = Op::new(lower::control::jump);
                jump.aux[0] = u32::from(lower::control::ALWAYS);
                cx.branch(jump, next);
            }
        }
        for &(op, target) in &cx.fixups {
            match index_of.get(&target) {
                Some(&index) => cx.ops[op].imm = (index as u64).wrapping_sub(op as u64),
                None => {
                    // Past the segment limit: go through the map.
                    cx.ops[op].run = lower::control::far(cx.ops[op].aux[0]);
                    cx.ops[op].imm = target;
                }
            }
        }
        // Native code takes runs of vector instructions as one; with VSKIP any of them may not be executed, and with exceptions any may stop.
        let pending = (jit::is_enabled(self.level) && !looks && !sees).then(|| Pending {
            leaders: leaders(&decoded, &index_of, start),
            forms: cx.forms,
            decoded,
        });
        let segment = Segment {
            ops: Ops::new(cx.ops),
            pool: cx.pool.into_boxed_slice(),
            _side: cx.side,
            reasons,
            native: None,
            pending,
        };
        (segment, starts)
    }

    fn decode_reachable(&self, start: u64) -> Decoded {
        let mut decoded = BTreeMap::new();
        let mut work = vec![start];
        let mut seen = HashSet::new();
        while let Some(mut pc) = work.pop() {
            while seen.insert(pc) {
                if decoded.len() >= SEGMENT_LIMIT {
                    decoded.insert(
                        pc,
                        Err(FetchError::Illegal("function too large".to_owned())),
                    );
                    break;
                }
                let inst = match self.code.fetch(pc) {
                    Ok(inst) if inst.len > 0 => inst,
                    Ok(_) => {
                        decoded.insert(pc, Err(FetchError::Illegal("zero length".to_owned())));
                        break;
                    }
                    Err(error) => {
                        decoded.insert(pc, Err(error));
                        break;
                    }
                };
                let next = pc.wrapping_add(u64::from(inst.len));
                let flow = lower::flow(&inst, pc);
                decoded.insert(pc, Ok(inst));
                match flow {
                    Flow::Next => {}
                    Flow::Branch(target) => work.push(target),
                    Flow::Jump(target) => {
                        work.push(target);
                        break;
                    }
                    Flow::Stop => break,
                }
                pc = next;
            }
        }
        decoded
    }
}

/// The operations that branches go to, and the first one.
fn leaders(
    decoded: &BTreeMap<u64, Result<Inst, FetchError>>,
    index_of: &HashMap<u64, usize>,
    start: u64,
) -> Vec<usize> {
    let mut leaders = vec![index_of[&start]];
    for (&pc, inst) in decoded {
        let Ok(inst) = inst else { continue };
        if let Flow::Branch(target) | Flow::Jump(target) = lower::flow(inst, pc) {
            leaders.extend(index_of.get(&target));
        }
    }
    leaders.sort_unstable();
    leaders.dedup();
    leaders
}

/// Adds a constant of up to 16 dwords to a pool; equal constants share their entry.
pub(super) fn intern(
    pool: &mut Vec<PoolLine>,
    known: &mut HashMap<Vec<u32>, Ref>,
    dwords: &[u32],
) -> Ref {
    if let Some(&found) = known.get(dwords) {
        return found;
    }
    let offset = u32::try_from(pool.len() * 64).unwrap_or(u32::MAX);
    let reference = Ref::new(Ref::POOL, offset);
    pool.extend(dwords.iter().map(|&dword| PoolLine([dword; 16])));
    known.insert(dwords.to_vec(), reference);
    reference
}
