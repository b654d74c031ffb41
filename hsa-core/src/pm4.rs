//! PM4 indirect buffers, which a vendor packet of AMD's AQL format 1 jumps to: what ROCr itself sends through its queues.
//!
//! A software GPU has no command processor with registers. Executed is what has a meaning here: `NOP`, and `ACQUIRE_MEM`, which ROCr
//! sends to invalidate code and data caches: memory is coherent and code is looked up by generation, so the thread's fence is all of it. CLR
//! sends such packets only around performance counters, made by AMD's profile library; their register writes are refused by name, as
//! is everything else. A buffer is checked as a whole before any of it counts.

use std::sync::atomic::{Ordering, fence};

use gneiss_amdgcn::memory::{GuestMap, Rights};

const NOP: u32 = 0x10;
const INDIRECT_BUFFER: u32 = 0x3f;
const ACQUIRE_MEM: u32 = 0x58;

/// Count of a `NOP` that is its header alone.
const HEADER_ONLY: u32 = 0x3fff;

/// Dwords of a buffer at most: what ROCr's own holds.
const MOST: u64 = 1024;

/// Names of what the profile library and ROCr send besides, for messages.
fn name(opcode: u32) -> &'static str {
    match opcode {
        0x1e => "ATOMIC_MEM",
        0x23 => "PRED_EXEC",
        0x37 => "WRITE_DATA",
        0x3c => "WAIT_REG_MEM",
        INDIRECT_BUFFER => "INDIRECT_BUFFER",
        0x40 => "COPY_DATA",
        0x46 => "EVENT_WRITE",
        0x49 => "RELEASE_MEM",
        0x50 => "DMA_DATA",
        0x68 => "SET_CONFIG_REG",
        0x76 => "SET_SH_REG",
        0x79 => "SET_UCONFIG_REG",
        _ => "unknown",
    }
}

/// Type, opcode and number of dwords behind the header.
fn header(word: u32) -> (u32, u32, u32) {
    (word >> 30, word >> 8 & 0xff, word >> 16 & 0x3fff)
}

/// Executes the buffer that `jump` (the four dwords of an `INDIRECT_BUFFER` command) leads to. The error says what cannot be done.
///
/// The program keeps the buffer until the packet is complete.
pub(crate) fn run(map: &GuestMap, jump: [u32; 4]) -> Result<(), String> {
    let (kind, opcode, count) = header(jump[0]);
    if (kind, opcode, count) != (3, INDIRECT_BUFFER, 2) {
        return Err(format!(
            "PM4 packet {:#010x} is no jump to an indirect buffer",
            jump[0]
        ));
    }
    let address = u64::from(jump[1] & !3) | u64::from(jump[2] & 0xffff) << 32;
    let dwords = u64::from(jump[3] & 0xf_ffff);
    if dwords > MOST {
        return Err(format!(
            "a PM4 indirect buffer of {dwords} dwords; at most {MOST} are possible"
        ));
    }
    let mapping = map.find(address).filter(|mapping| {
        mapping.rights.contains(Rights::READ) && dwords * 4 <= mapping.base + mapping.len - address
    });
    let mapping = mapping.ok_or_else(|| {
        format!("the PM4 indirect buffer at {address:#x} is no memory of this agent")
    })?;
    let buffer: Vec<u32> = (0..dwords)
        .map(|at| {
            let offset = (address - mapping.base + at * 4) as usize;
            // SAFETY: inside the mapping, whose memory is the program's for as long as the packet is not complete.
            unsafe { mapping.host.add(offset).cast::<u32>().read_volatile() }
        })
        .collect();
    execute(&buffer)
}

fn execute(buffer: &[u32]) -> Result<(), String> {
    let mut rest = buffer;
    while let Some((&word, behind)) = rest.split_first() {
        let (kind, opcode, count) = header(word);
        let length = match (kind, opcode, count) {
            // A filler.
            (2, ..) => 0,
            (3, NOP, HEADER_ONLY) => 0,
            // Seven dwords to GFX9, eight from GFX10 on.
            (3, ACQUIRE_MEM, 5 | 6) | (3, NOP, _) => count as usize + 1,
            (3, ACQUIRE_MEM, _) => {
                return Err(format!("PM4 ACQUIRE_MEM of {} dwords", count + 2));
            }
            (3, ..) => {
                return Err(format!(
                    "PM4 packet {} ({opcode:#04x}) is not supported: the software GPU has no command processor with registers",
                    name(opcode)
                ));
            }
            _ => return Err(format!("PM4 packets of type {kind} are not supported")),
        };
        rest = behind
            .get(length..)
            .ok_or("a PM4 packet ends behind its indirect buffer")?;
    }
    fence(Ordering::SeqCst);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(opcode: u32, dwords: u32) -> Vec<u32> {
        let mut packet = vec![3 << 30 | (dwords - 2) << 16 | opcode << 8];
        packet.resize(dwords as usize, 0);
        packet
    }

    #[test]
    fn caches_are_invalidated_and_fillers_skipped() {
        let buffer = [
            packet(ACQUIRE_MEM, 7),
            packet(NOP, 5),
            vec![2 << 30, 3 << 30 | HEADER_ONLY << 16 | NOP << 8],
            packet(ACQUIRE_MEM, 8),
        ];
        assert_eq!(execute(&buffer.concat()), Ok(()));
        assert_eq!(execute(&[]), Ok(()));
    }

    #[test]
    fn what_is_not_executed_is_named() {
        let refused = |buffer: &[u32], part: &str| {
            let message = execute(buffer).expect_err("refused");
            assert!(message.contains(part), "{message}");
        };
        refused(&packet(0x79, 3), "SET_UCONFIG_REG (0x79)");
        refused(&packet(0x37, 5), "WRITE_DATA");
        refused(&packet(0xee, 5), "unknown (0xee)");
        refused(&[0], "type 0");
        refused(&packet(ACQUIRE_MEM, 7)[..5], "behind its indirect buffer");
        refused(&packet(ACQUIRE_MEM, 3), "ACQUIRE_MEM of 3 dwords");
    }
}
