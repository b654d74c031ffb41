//! Lowers every function of code objects and lists what the engine would refuse: `lower_code gfx90a FILE...`.

use std::{collections::BTreeMap, sync::Arc};

use gneiss_amdgcn::{
    ir::program::{CodeSource, FetchError, LowerConfig, Program},
    isa::{decode::Decoder, inst::Inst},
    target::Target,
};

struct Text {
    base: u64,
    bytes: Vec<u8>,
    decoder: Decoder,
}

impl CodeSource for Text {
    fn fetch(&self, pc: u64) -> Result<Inst, FetchError> {
        let offset = pc
            .checked_sub(self.base)
            .and_then(|offset| usize::try_from(offset).ok())
            .ok_or(FetchError::Unmapped)?;
        let bytes = self.bytes.get(offset..).ok_or(FetchError::Unmapped)?;
        self.decoder
            .decode(bytes)
            .map_err(|error| FetchError::Illegal(error.to_string()))
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let target: Target = args
        .next()
        .and_then(|name| name.parse().ok())
        .expect("usage: lower_code TARGET FILE...");
    let wave64 = target.major == 9;
    let wave_size = if wave64 { 64 } else { 32 };
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    for path in args {
        let elf = std::fs::read(&path).expect("readable file");
        for (base, bytes) in text_sections(&elf) {
            let decoder = Decoder::new(target, wave_size).expect("known target");
            let mut pc = base;
            let end = base + bytes.len() as u64;
            let source = Text {
                base,
                bytes,
                decoder,
            };
            let mut starts = Vec::new();
            while pc < end {
                match source.fetch(pc) {
                    Ok(inst) => {
                        starts.push(pc);
                        pc += u64::from(inst.len);
                    }
                    Err(error) => {
                        if source.bytes[(pc - base) as usize..][..4] != [0; 4] {
                            *refused.entry(format!("{error:?}")).or_default() += 1;
                        }
                        pc += 4;
                    }
                }
            }
            total += starts.len();
            let config = LowerConfig {
                target,
                wave64,
                vgprs: 256,
                agprs: 256,
                exceptions: false,
            };
            let program = Program::for_kernel(Arc::new(source), base, config);
            for pc in starts {
                let op = program.enter(pc).op;
                // The operation may belong to the next instruction if this one has no effect.
                // SAFETY: `op` is an operation of the live program.
                if unsafe { (*op).pc } == pc
                    && let Some(why) = program.why(op)
                {
                    *refused.entry(why).or_default() += 1;
                }
            }
        }
    }
    println!("{total} instructions");
    for (why, count) in refused {
        println!("{count:8} {why}");
    }
}

/// Executable sections of a little-endian ELF64 file: address and bytes.
fn text_sections(elf: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let u16_at = |at: usize| u16::from_le_bytes(elf[at..at + 2].try_into().expect("two bytes"));
    let u64_at = |at: usize| u64::from_le_bytes(elf[at..at + 8].try_into().expect("eight bytes"));
    let table = u64_at(40) as usize;
    let (size, count) = (usize::from(u16_at(58)), usize::from(u16_at(60)));
    let mut out = Vec::new();
    for index in 0..count {
        let at = table + index * size;
        let executable = u64_at(at + 8) & 4 != 0;
        let kind = u32::from_le_bytes(elf[at + 4..at + 8].try_into().expect("four bytes"));
        if executable && kind == 1 {
            let (address, offset, len) = (
                u64_at(at + 16),
                u64_at(at + 24) as usize,
                u64_at(at + 32) as usize,
            );
            out.push((address, elf[offset..offset + len].to_vec()));
        }
    }
    out
}
