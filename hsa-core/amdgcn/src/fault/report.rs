//! From the exit of a wave to a fault report.

use super::{Fault, FaultKind, source};
use crate::{
    dispatch::Job,
    engine::{DispatchInfo, Engine, code::instruction_text},
    interp::{run::Exit, wave::Wave},
    memory::{LostAtomic, Mapping},
};

/// The fault of a wave that cannot go on.
pub(crate) fn of_wave(job: &Job, engine: &Engine, wave: &Wave, exit: Exit) -> Box<Fault> {
    let mut notes = Vec::new();
    let mut lane_of = None;
    let why = || {
        job.plan
            .program
            .as_ref()
            .and_then(|program| program.why(wave.next))
            .unwrap_or_default()
    };
    let kind = match exit {
        Exit::Memory {
            address,
            write,
            lane,
        } => {
            lane_of = lane.map(u32::from);
            nearest(job, address, &mut notes);
            FaultKind::Memory { address, write }
        }
        Exit::Aperture {
            address,
            write,
            lane,
        } => {
            lane_of = lane.map(u32::from);
            let what = if write { "write" } else { "read" };
            notes.push(format!("{what} at offset {address:#x}; the work-group has {} bytes of LDS, a lane {} of scratch",
                wave.lds_size, wave.scratch_size));
            FaultKind::Aperture { address }
        }
        Exit::IllegalInstruction => {
            notes.push(why());
            FaultKind::IllegalInstruction
        }
        Exit::Unsupported => {
            notes.push(why());
            FaultKind::Unsupported
        }
        Exit::Trap(id) => FaultKind::Trap(id),
        Exit::Float { raised, lane } => {
            lane_of = Some(u32::from(lane));
            FaultKind::Float(raised)
        }
        Exit::Halt => {
            notes
                .push("s_sethalt: the wave halted itself and no debugger can resume it".to_owned());
            FaultKind::Unsupported
        }
        Exit::Message { message, m0 } => {
            notes.push(format!(
                "s_sendmsg {message:#x} with m0 {m0:#x} is not supported"
            ));
            FaultKind::Unsupported
        }
        Exit::Other(code) => {
            notes.push(crate::interp::memory::reason(code).to_owned());
            FaultKind::Unsupported
        }
        Exit::Barrier(_)
        | Exit::EndProgram
        | Exit::Sleep(_)
        | Exit::BudgetSpent
        | Exit::Interrupt(_)
        | Exit::WaveSync { .. } => {
            notes.push(format!("{exit:?} is no reason to stop"));
            FaultKind::Internal
        }
    };
    // After a trap the wave stands at the next operation.
    let pc = if matches!(exit, Exit::Trap(_)) {
        wave.last_pc()
    } else {
        wave.pc()
    };
    place(job, engine, pc, &mut notes);
    notes.retain(|note| !note.is_empty());
    Box::new(Fault {
        kind,
        kernel: kernel_name(engine, &job.info),
        pc,
        workgroup: wave.workgroup,
        wave: wave.wave_in_group,
        lane: lane_of,
        notes,
        groups: Vec::new(),
    })
}

/// Says which instruction is at an address, and where that is in the source.
fn place(job: &Job, engine: &Engine, pc: u64, notes: &mut Vec<String>) {
    if let Some(text) = instruction_text(&job.info.gpu, pc, job.plan.wave_size() == 64) {
        notes.push(format!("instruction: {text}"));
    }
    if let Some(code) = engine.code.find(pc) {
        let start = source::lowest_address(&code.elf).unwrap_or(0);
        let line = source::line(&code.elf, pc - code.base + start);
        notes.extend(line.map(|line| format!("source: {line}")));
        if let Some((name, offset)) = code.symbol(pc) {
            notes.push(format!("at {name}+{offset:#x}"));
        }
    }
}

/// Tells of a float atomic that its memory has lost, once for each kernel.
#[cold]
pub(crate) fn lost_atomic(job: &Job, engine: &Engine, lost: LostAtomic) {
    let first = job.plan.program.as_ref().is_some_and(|p| p.first_loss());
    if !first {
        return;
    }
    let mut notes = vec![format!(
        "warning: {}: a float atomic on fine-grained memory at {:#x} changed nothing and returned 0, as on the card",
        kernel_name(engine, &job.info),
        lost.address,
    )];
    place(job, engine, lost.pc, &mut notes);
    notes.push(
        "use coarse-grained memory (hipMalloc, hipHostMallocNonCoherent) or safeAtomicAdd; GNEISS_FINE_ATOMICS=done does them all the same"
            .to_owned(),
    );
    job.client.warn(&notes.join("\n  "));
}

/// Name of a dispatch's kernel: the function at its entry point; empty if the loader named none.
pub(crate) fn kernel_name(engine: &Engine, info: &DispatchInfo) -> String {
    let entry = info
        .kernel_object
        .wrapping_add_signed(info.descriptor.kernel_code_entry_byte_offset);
    let code = engine.code.find(entry);
    code.and_then(|code| code.symbol(entry).map(|(name, _)| name.to_owned()))
        .unwrap_or_default()
}

/// Says what lies around an address.
fn nearest(job: &Job, address: u64, notes: &mut Vec<String>) {
    let describe = |m: &Mapping| {
        format!(
            "allocation {} [{:#x}, {:#x}), {} bytes",
            m.allocation,
            m.base,
            m.base + m.len,
            m.len
        )
    };
    let around = job.info.gpu.map.neighbourhood(address);
    if let Some(freed) = around.freed {
        notes.push(format!(
            "{} bytes into freed {}",
            address - freed.base,
            describe(&freed)
        ));
        return;
    }
    if let Some(pinned) = around.pinned {
        notes.push(format!(
            "the host's address of pinned memory; kernels reach it at {:#x} in {}: pass what hipHostGetDevicePointer gives",
            pinned.base + (address - pinned.host.addr() as u64),
            describe(&pinned)
        ));
        return;
    }
    match around.before {
        Some(before) if address - before.base < before.len => {
            notes.push(format!(
                "{} does not allow this access (rights: {:?})",
                describe(&before),
                before.rights
            ));
            return;
        }
        Some(before) => {
            notes.push(format!(
                "{} bytes past the end of {}",
                address - (before.base + before.len),
                describe(&before)
            ));
        }
        None => {}
    }
    if let Some(after) = around.after {
        notes.push(format!(
            "{} bytes before {}",
            after.base - address,
            describe(&after)
        ));
    }
}
