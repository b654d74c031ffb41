//! Real compiler output of every code object version: targets, kernels, arguments, descriptors; and damaged copies of it.

use gneiss_fatbin::fat_binary::{self, Contents};
use gneiss_fatbin::{AddressSpace, Bundle, CodeObject, Fit, Metadata, TargetId, ValueKind};
use proptest::prelude::*;

const FILES: [&[u8]; 7] = [
    include_bytes!("data/v2.hipfb"),
    include_bytes!("data/v3.hipfb"),
    include_bytes!("data/v4.hipfb"),
    include_bytes!("data/v5.hsaco"),
    include_bytes!("data/v6.hsaco"),
    include_bytes!("data/plain.hipfb"),
    include_bytes!("data/compressed.hipfb"),
];

fn id(text: &str) -> TargetId {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// Calls `check` with every code object of a file.
fn each_code_object(file: &[u8], mut check: impl FnMut(&CodeObject<'_>)) {
    for image in fat_binary::find(file).unwrap_or_else(|e| panic!("{e}")) {
        match image.contents {
            Contents::CodeObject(code_object) => check(&code_object),
            Contents::Bundle(bundle) => {
                for entry in bundle.entries().filter(|entry| !entry.data.is_empty()) {
                    check(
                        &CodeObject::parse(entry.data)
                            .unwrap_or_else(|e| panic!("{}: {e}", entry.id)),
                    );
                }
            }
        }
    }
}

#[test]
fn versions_and_targets() {
    let mut found = Vec::new();
    for file in FILES {
        each_code_object(file, |c| {
            found.push(format!(
                "v{} {} {}",
                c.version(),
                c.target(),
                c.generic_version()
            ))
        });
    }
    let expected = [
        "v2 gfx906:sramecc+:xnack+ 0",
        "v3 gfx906:sramecc+:xnack+ 0",
        "v4 gfx906 0",
        "v5 gfx1100 0",
        "v6 gfx11-generic 1",
        "v5 gfx1030 0",
        "v5 gfx90a:xnack- 0",
        "v5 gfx1030 0",
        "v5 gfx90a:xnack- 0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn kernels_and_arguments_are_the_same_in_every_version() {
    for file in FILES {
        each_code_object(file, |code_object| {
            let metadata = code_object.metadata().unwrap_or_else(|e| panic!("{e}"));
            let names: Vec<_> = metadata.kernels.iter().map(|k| k.name.as_str()).collect();
            assert_eq!(names, ["scale", "gather"]);
            let scale = &metadata.kernels[0];
            let args: Vec<_> = scale
                .explicit_args()
                .map(|a| (a.offset, a.size, a.value_kind, a.address_space))
                .collect();
            let buffer = (ValueKind::GlobalBuffer, Some(AddressSpace::Global));
            let expected = [
                (0, 8, buffer.0, buffer.1),
                (8, 8, buffer.0, buffer.1),
                (16, 4, ValueKind::ByValue, None),
                (20, 4, ValueKind::ByValue, None),
            ];
            assert_eq!(args, expected);
            let gather = &metadata.kernels[1];
            let args: Vec<_> = gather.explicit_args().map(|a| (a.offset, a.size)).collect();
            assert_eq!(args, [(0, 8), (8, 2), (16, 8)]);
            assert_eq!(
                (
                    gather.group_segment_fixed_size,
                    gather.max_flat_workgroup_size
                ),
                (128, 128)
            );
            assert_eq!(
                gather.wavefront_size,
                if code_object.target().processor.starts_with("gfx1") {
                    32
                } else {
                    64
                }
            );
        });
    }
}

#[test]
fn descriptors_agree_with_the_metadata() {
    for file in FILES {
        each_code_object(file, |code_object| {
            let metadata = code_object.metadata().unwrap_or_else(|e| panic!("{e}"));
            let symbols = code_object
                .kernel_symbols()
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(symbols.len(), 2);
            for symbol in symbols {
                if code_object.version() == 2 {
                    assert!(code_object.kernel_descriptor(&symbol).is_err());
                    continue;
                }
                let descriptor = code_object
                    .kernel_descriptor(&symbol)
                    .unwrap_or_else(|e| panic!("{e}"));
                let kernel = metadata
                    .kernel(symbol.name)
                    .unwrap_or_else(|| panic!("{} has no metadata", symbol.name));
                assert_eq!(
                    descriptor.group_segment_fixed_size,
                    kernel.group_segment_fixed_size
                );
                assert_eq!(descriptor.kernarg_size, kernel.kernarg_segment_size);
                let entry = symbol
                    .value
                    .wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
                let functions = code_object.symbols().unwrap_or_else(|e| panic!("{e}"));
                assert!(
                    functions
                        .iter()
                        .any(|f| f.name == kernel.name && f.value == entry)
                );
            }
        });
    }
}

#[test]
fn globals_are_found_with_their_bytes() {
    each_code_object(FILES[3], |code_object| {
        let symbols = code_object.symbols().unwrap_or_else(|e| panic!("{e}"));
        let counter = symbols
            .iter()
            .find(|s| s.name == "counter")
            .unwrap_or_else(|| panic!("no counter"));
        assert_eq!(
            code_object.elf().at_address(counter.value, counter.size),
            Some(&3_u32.to_le_bytes()[..])
        );
        let table = symbols
            .iter()
            .find(|s| s.name == "table")
            .unwrap_or_else(|| panic!("no table"));
        assert_eq!(table.size, 16);
        assert!(
            code_object
                .address_span()
                .is_some_and(|(start, end)| start <= table.value && table.value + 16 <= end)
        );
    });
}

#[test]
fn generic_code_needs_its_version() {
    each_code_object(FILES[4], |c| {
        assert_eq!(c.fit(&id("gfx1151")), Some(Fit::Generic));
        assert_eq!(c.fit(&id("gfx1200")), None);
    });
    let mut without = FILES[4].to_vec();
    without[48 + 3] = 0;
    each_code_object(&without, |c| assert_eq!(c.fit(&id("gfx1151")), None));
}

#[test]
fn the_compressed_bundle_holds_what_the_plain_one_does() {
    let (plain, compressed) = (Bundle::parse(FILES[5]), Bundle::parse(FILES[6]));
    let (Ok(plain), Ok(compressed)) = (plain, compressed) else {
        panic!("a bundle does not parse")
    };
    assert!(plain.compression().is_none() && compressed.compression().is_some());
    assert_eq!(compressed.len(), FILES[6].len() as u64);
    let ids = |bundle: &Bundle<'_>| {
        bundle
            .entries()
            .map(|e| (e.id.to_string(), e.data.len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&plain), ids(&compressed));
    let listed = Bundle::entry_ids_of_all(FILES[6]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        listed[0].iter().map(|id| id.as_str()).collect::<Vec<_>>(),
        plain.entries().map(|e| e.id.as_str()).collect::<Vec<_>>()
    );
    let device = id("gfx90a:sramecc+:xnack-");
    assert!(
        compressed
            .select(&device)
            .is_some_and(|e| e.id.to_string().ends_with("gfx90a:xnack-"))
    );
    assert!(compressed.select(&id("gfx90a:sramecc+:xnack+")).is_none());
}

/// Reads everything that can be read, whatever comes of it.
fn read_all(bytes: &[u8]) {
    let code_object = |c: &CodeObject<'_>| {
        let _ = c.metadata();
        let _ = c.all_symbols();
        let _ = c.relocations();
        let _ = c.address_span();
        for symbol in c.kernel_symbols().unwrap_or_default() {
            let _ = c.kernel_descriptor(&symbol);
        }
    };
    let _ = Bundle::entry_ids_of_all(bytes);
    let _ = fat_binary::entry_ids(bytes);
    for image in fat_binary::find(bytes).unwrap_or_default() {
        match image.contents {
            Contents::CodeObject(c) => code_object(&c),
            Contents::Bundle(bundle) => bundle
                .entries()
                .filter_map(|e| CodeObject::parse(e.data).ok())
                .for_each(|c| code_object(&c)),
        }
    }
}

#[test]
fn truncated_files_never_panic() {
    for file in FILES {
        for len in (0..file.len()).step_by(if file.len() > 6000 { 13 } else { 1 }) {
            read_all(&file[..len]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_never_panic(file in 0..FILES.len(), flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..8)) {
        let mut bytes = FILES[file].to_vec();
        for (at, mask) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
        }
        read_all(&bytes);
    }

    #[test]
    fn extreme_numbers_never_panic(
        file in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![0, 1, u64::MAX, u64::MAX / 2, 1 << 63, 1 << 32, u64::from(u32::MAX), 0x1000]),
    ) {
        let mut bytes = FILES[file].to_vec();
        // Headers lie at the start of the file; the other half of the cases hits anywhere.
        let at = (at.index(bytes.len() * 2) % bytes.len()).min(bytes.len() - 8) & !7;
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        read_all(&bytes);
    }

    #[test]
    fn random_metadata_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Metadata::parse(&bytes);
    }
}
