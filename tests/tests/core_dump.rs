//! The dump of the waves of a kernel that stopped, on request, read back with a library for ELF files.

use std::{fs, path::Path};

use gneiss_tests::{Run, case_run};
use object::{
    Endianness, elf,
    read::elf::{FileHeader, ProgramHeader},
};

/// Notes: type and text.
fn notes(path: &Path) -> Vec<(u32, Vec<u8>)> {
    let data = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header = elf::FileHeader64::<Endianness>::parse(&*data).expect("an ELF file");
    let endian = header.endian().expect("a byte order");
    assert_eq!(header.e_type(endian), elf::ET_CORE);
    assert_eq!(header.e_machine(endian), elf::EM_AMDGPU);
    let mut found = Vec::new();
    for segment in header.program_headers(endian, &*data).expect("segments") {
        let mut notes = segment
            .notes(endian, &*data)
            .expect("readable notes")
            .expect("a segment of notes");
        while let Some(note) = notes.next().expect("a note") {
            assert_eq!(note.name(), b"GNEISS");
            found.push((note.n_type(endian).0, note.desc().to_vec()));
        }
    }
    found
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
        .collect()
}

fn stopped() -> Run {
    case_run("faults", "core_dump")
}

#[test]
fn a_kernel_that_stops_leaves_its_waves_when_a_pattern_asks_for_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    stopped()
        .env("HSA_COREDUMP_PATTERN", folder.path().join("%e.%%.core"))
        .run()
        .expect_success()
        .expect_stderr(&["GPU core dump: ", ".%.core", "stops_in_the_second_wave"]);
    let files: Vec<_> = fs::read_dir(folder.path())
        .expect("the folder")
        .map(|entry| entry.expect("a file").path())
        .collect();
    let [file] = files.as_slice() else {
        panic!("one file: {files:?}");
    };
    let notes = notes(file);
    let kinds: Vec<u32> = notes.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [1, 2, 3, 3], "the report, LDS, two waves");
    let report = String::from_utf8(notes[0].1.clone()).expect("text");
    assert!(
        report.starts_with("gfx90a\n") && report.contains("stops_in_the_second_wave"),
        "{report}"
    );
    let lds = words(&notes[1].1);
    assert_eq!(lds[..3], [0, 0, 0], "the work-group");
    let expected: Vec<u32> = (0..64).map(|lane| 0x0100_0000 + lane).collect();
    assert_eq!(lds[4..68], expected);

    let (first, second) = (words(&notes[2].1), words(&notes[3].1));
    assert_eq!((first[3], second[3]), (0, 1), "the waves' numbers");
    assert_eq!((first[4], second[4]), (64, 64), "lanes");
    assert_eq!(second[5] & 2, 2, "the second wave is the one that stopped");
    assert_eq!(first[5] & 2, 0);
    assert_eq!(second[8..10], [u32::MAX, u32::MAX], "EXEC");
    // The report names the instruction that the wave stands at.
    let pc = u64::from(second[6]) | u64::from(second[7]) << 32;
    assert!(report.contains(&format!("pc: {pc:#x}")), "{report}");
    let (sgprs, vgprs) = (second[21] as usize, second[22] as usize);
    let vector = &second[42 + sgprs..][..64 * vgprs];
    let known: Vec<u32> = (64..128).map(|item| 0x0200_0000 + item).collect();
    assert!(
        vector.chunks(64).any(|register| register == known),
        "no register holds the value that the wave had at hand"
    );
}

#[test]
fn no_file_is_written_unless_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pattern = folder.path().join("core");
    stopped().in_folder(folder.path()).run().expect_success();
    stopped()
        .env("HSA_COREDUMP_PATTERN", &pattern)
        .env("HSA_DISABLE_COREDUMP_ON_EXCEPTION", "1")
        .run()
        .expect_success();
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    stopped()
        .env("HSA_COREDUMP_PATTERN", "|/bin/cat")
        .run()
        .expect_success()
        .expect_stderr(&["no GPU core dump", "pipes into a program"]);
    fs::write(&pattern, "mine").expect("a file");
    stopped()
        .env("HSA_COREDUMP_PATTERN", &pattern)
        .run()
        .expect_success()
        .expect_stderr(&["no GPU core dump", "exists"]);
    assert_eq!(fs::read(&pattern).expect("the file"), b"mine");
}
