//! A core dump of the waves of a dispatch that faulted: registers, program counters, LDS, scratch.
//!
//! Written when `HSA_COREDUMP_PATTERN` names a file, as ROCr's is: `%p` is the process, `%e` the program's name, `%h` the host, `%u` the
//! user, `%t` the time in seconds, `%%` a percent sign. `HSA_DISABLE_COREDUMP_ON_EXCEPTION=1` turns it off, and so does `/dev/null`. A
//! pattern that pipes into a program is refused with a line on stderr. A file that is there already is not overwritten.
//!
//! The file is an ELF core of machine AMDGPU, as ROCr's. Its notes are of owner `GNEISS`, for ROCr's own note describes the save areas of
//! a kernel driver, which is not here; `docs/hsa/faults.md` has the layout. Device memory is not in it.

use std::{env, fs, io::Write, os::unix::fs::OpenOptionsExt, path::PathBuf};

use gneiss_amdgcn::engine::state::{self, GroupState, WaveState};
use gneiss_fatbin::code_object::{ELFOSABI_AMDGPU_HSA, EM_AMDGPU};

use crate::{config, log::complain};

/// Owner of the notes, with its NUL.
const OWNER: &[u8; 8] = b"GNEISS\0\0";
/// Length of the owner, with one NUL.
const OWNER_LENGTH: u32 = 7;
/// A note with the report of the fault, as text.
const NOTE_FAULT: u32 = 1;
/// A note with the LDS of a work-group.
const NOTE_LDS: u32 = 2;
/// A note with a wave.
const NOTE_WAVE: u32 = 3;

const FILE_HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;

/// Flags of a wave.
const WAVE_AT_BARRIER: u32 = 1 << 0;
const WAVE_FAULTED: u32 = 1 << 1;
const WAVE_SCC: u32 = 1 << 2;

/// The pattern of the file's name, if dumps are wanted.
fn pattern() -> Option<String> {
    let off = config::flag("HSA_DISABLE_COREDUMP_ON_EXCEPTION", false);
    let pattern = env::var("HSA_COREDUMP_PATTERN").ok()?;
    (!off && !pattern.is_empty() && pattern != "/dev/null").then_some(pattern)
}

/// Asks the engine for what a dump needs, if dumps are wanted.
pub(crate) fn prepare() {
    state::keep(pattern().is_some());
}

/// What a dump says.
pub(crate) struct Dump {
    /// The report that stands on stderr, the target's name before it.
    pub(crate) report: String,
    /// The groups; the wave with this number of the first one faulted.
    pub(crate) groups: Vec<GroupState>,
    /// See `groups`.
    pub(crate) faulted: u32,
}

impl Dump {
    /// Writes the dump, and says so on stderr, or why not.
    pub(crate) fn write(&self) {
        let Some(pattern) = pattern() else {
            return;
        };
        if pattern.starts_with('|') {
            complain(
                "no GPU core dump: HSA_COREDUMP_PATTERN pipes into a program, which is not supported",
            );
            return;
        }
        let path = PathBuf::from(expand(&pattern, &Place::here()));
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let written = file.and_then(|mut file| file.write_all(&self.bytes()));
        match written {
            Ok(()) => complain(&format!("GPU core dump: {}", path.display())),
            Err(error) => complain(&format!("no GPU core dump {}: {error}", path.display())),
        }
    }

    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut notes = Vec::new();
        note(&mut notes, NOTE_FAULT, self.report.as_bytes());
        for (at, group) in self.groups.iter().enumerate() {
            let mut lds = Vec::with_capacity(16 + group.lds.len());
            words(&mut lds, &group.workgroup);
            words(&mut lds, &[group.lds.len() as u32]);
            lds.extend(&group.lds);
            note(&mut notes, NOTE_LDS, &lds);
            for wave in &group.waves {
                let faulted = at == 0 && wave.wave == self.faulted;
                note(
                    &mut notes,
                    NOTE_WAVE,
                    &wave_bytes(group.workgroup, wave, faulted),
                );
            }
        }
        let mut file = headers(notes.len() as u64);
        file.extend(notes);
        file
    }
}

/// The file header of an AMDGPU core with one segment of notes, and that segment's header.
fn headers(notes: u64) -> Vec<u8> {
    const ET_CORE: u16 = 4;
    const PT_NOTE: u32 = 4;
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, ELFOSABI_AMDGPU_HSA];
    file.resize(16, 0);
    file.extend([ET_CORE, EM_AMDGPU].map(u16::to_le_bytes).concat());
    words(&mut file, &[1]);
    longs(&mut file, &[0, FILE_HEADER as u64, 0]);
    words(&mut file, &[0]);
    let halves = [FILE_HEADER as u16, PROGRAM_HEADER as u16, 1, 0, 0, 0];
    file.extend(halves.map(u16::to_le_bytes).concat());
    words(&mut file, &[PT_NOTE, 0]);
    let offset = (FILE_HEADER + PROGRAM_HEADER) as u64;
    longs(&mut file, &[offset, 0, 0, notes, notes, 4]);
    debug_assert_eq!(file.len(), FILE_HEADER + PROGRAM_HEADER);
    file
}

fn words(to: &mut Vec<u8>, words: &[u32]) {
    to.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn longs(to: &mut Vec<u8>, longs: &[u64]) {
    to.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
}

/// Appends a note, padded to four bytes.
fn note(to: &mut Vec<u8>, kind: u32, text: &[u8]) {
    words(to, &[OWNER_LENGTH, text.len() as u32, kind]);
    to.extend(OWNER);
    to.extend(text);
    to.resize(to.len().next_multiple_of(4), 0);
}

fn wave_bytes(workgroup: [u32; 3], wave: &WaveState, faulted: bool) -> Vec<u8> {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    let flags = flag(wave.at_barrier, WAVE_AT_BARRIER)
        | flag(faulted, WAVE_FAULTED)
        | flag(wave.scc, WAVE_SCC);
    let mut bytes = Vec::new();
    words(&mut bytes, &workgroup);
    words(&mut bytes, &[wave.wave, wave.lanes, flags]);
    longs(&mut bytes, &[wave.pc, wave.exec, wave.vcc]);
    words(
        &mut bytes,
        &[wave.m0, wave.mode, wave.status, wave.trap_status],
    );
    longs(&mut bytes, &[wave.flat_scratch]);
    words(&mut bytes, &wave.place);
    let lanes = wave.lanes.max(1) as usize;
    let counts = [
        wave.sgprs.len(),
        wave.vgprs.len() / lanes,
        wave.agprs.len() / lanes,
        wave.scratch.len(),
        0,
    ];
    words(&mut bytes, &counts.map(|count| count as u32));
    for registers in [&wave.ttmps, &wave.sgprs, &wave.vgprs, &wave.agprs] {
        words(&mut bytes, registers);
    }
    bytes.extend(&wave.scratch);
    bytes
}

/// What a pattern may name.
struct Place {
    process: String,
    program: String,
    host: String,
    user: String,
    seconds: String,
}

impl Place {
    fn here() -> Self {
        let program = env::current_exe().ok();
        let program = program.as_ref().and_then(|path| path.file_name());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            process: std::process::id().to_string(),
            program: program.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            user: rustix::process::getuid().as_raw().to_string(),
            seconds: now.map_or_else(|_| String::new(), |now| now.as_secs().to_string()),
        }
    }
}

/// The file's name. As in core(5), a percent sign before anything else is dropped with it.
fn expand(pattern: &str, place: &Place) -> String {
    let mut name = String::new();
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        if next != '%' {
            name.push(next);
            continue;
        }
        match rest.next() {
            Some('%') => name.push('%'),
            Some('p' | 'P') => name += &place.process,
            Some('e') => name += &place.program,
            Some('h') => name += &place.host,
            Some('u') => name += &place.user,
            Some('t') => name += &place.seconds,
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use object::{
        Architecture, Endianness, Object, ObjectKind,
        read::elf::{ElfFile64, ProgramHeader},
    };

    use super::*;

    fn wave(number: u32, lanes: u32) -> WaveState {
        WaveState {
            wave: number,
            at_barrier: number == 1,
            lanes,
            pc: 0x1000 + u64::from(number),
            exec: 0xf,
            vcc: 5,
            scc: true,
            m0: 7,
            mode: 0x2f0,
            status: 1,
            trap_status: 2,
            flat_scratch: 3,
            place: [4, 5, 6],
            sgprs: vec![10, 11],
            ttmps: vec![0; 16],
            vgprs: (0..2 * lanes).collect(),
            agprs: (0..lanes).map(|lane| lane + 1000).collect(),
            scratch: vec![9; 5],
        }
    }

    #[test]
    fn a_dump_is_an_elf_core_whose_notes_give_the_waves_back() {
        let dump = Dump {
            report: "gfx90a\ntrap 2".to_owned(),
            groups: vec![GroupState {
                workgroup: [1, 2, 3],
                lds: vec![0xaa; 10],
                waves: vec![wave(0, 64), wave(1, 64)],
            }],
            faulted: 0,
        };
        let bytes = dump.bytes();
        let file = ElfFile64::<Endianness>::parse(&*bytes).expect("an ELF file");
        assert_eq!(file.kind(), ObjectKind::Core);
        assert_eq!(file.architecture(), Architecture::Unknown);
        assert_eq!(
            file.elf_header().e_machine.get(Endianness::Little),
            object::elf::EM_AMDGPU
        );
        let endian = file.endian();
        let mut found = Vec::new();
        for segment in file.elf_program_headers() {
            let mut notes = segment
                .notes(endian, &*bytes)
                .expect("readable notes")
                .expect("notes");
            while let Some(note) = notes.next().expect("a note") {
                assert_eq!(note.name(), b"GNEISS");
                found.push((note.n_type(endian).0, note.desc().to_vec()));
            }
        }
        let kinds: Vec<u32> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [NOTE_FAULT, NOTE_LDS, NOTE_WAVE, NOTE_WAVE]);
        assert_eq!(found[0].1, b"gfx90a\ntrap 2");
        let word = |bytes: &[u8], at: usize| {
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
        };
        let lds = &found[1].1;
        assert_eq!(
            [0, 4, 8, 12].map(|at| word(lds, at)),
            [1, 2, 3, 10],
            "work-group and size"
        );
        assert_eq!(&lds[16..], [0xaa; 10]);
        for (number, flags) in [
            (0, WAVE_FAULTED | WAVE_SCC),
            (1, WAVE_AT_BARRIER | WAVE_SCC),
        ] {
            let wave = &found[2 + number as usize].1;
            let expected = [
                1,
                2,
                3,
                number,
                64,
                flags,
                0x1000 + number,
                0,
                0xf,
                0,
                5,
                0,
                7,
            ];
            for (at, value) in expected.into_iter().enumerate() {
                assert_eq!(word(wave, 4 * at), value, "word {at} of wave {number}");
            }
            assert_eq!([84, 88, 92, 96].map(|at| word(wave, at)), [2, 2, 1, 5]);
            assert_eq!([168, 172].map(|at| word(wave, at)), [10, 11], "SGPRs");
            assert_eq!(word(wave, 176 + 4 * 127), 127, "lane 63 of v1");
            assert_eq!(word(wave, 176 + 4 * 128), 1000, "lane 0 of a0");
            assert_eq!(wave.len(), 176 + 4 * 192 + 5);
        }
    }

    #[test]
    fn patterns_are_those_of_core_files() {
        let place = Place {
            process: "12".to_owned(),
            program: "app".to_owned(),
            host: "here".to_owned(),
            user: "1000".to_owned(),
            seconds: "99".to_owned(),
        };
        let name = |pattern| expand(pattern, &place);
        assert_eq!(name("gpucore.%p"), "gpucore.12");
        assert_eq!(name("/tmp/%e-%h-%u-%t.%%"), "/tmp/app-here-1000-99.%");
        assert_eq!(name("a%zb%"), "ab");
    }
}
