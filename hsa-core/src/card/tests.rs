//! Names of the cards, and the page of the documentation that lists them.

use super::*;
use gneiss_amdgcn::target::Target;
use gneiss_fatbin::target_id::Processor;

#[test]
fn isa_names_spell_what_the_processor_has() {
    let name = |processor| {
        let card = Card::of(processor).expect("known");
        spelled(card.processor, card.sramecc, card.xnack)
    };
    assert_eq!(name("gfx90a"), "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert_eq!(name("gfx900"), "amdgcn-amd-amdhsa--gfx900:xnack-");
    assert_eq!(name("gfx1030"), "amdgcn-amd-amdhsa--gfx1030");
}

#[test]
fn versions_spell_the_processors() {
    for card in CARDS {
        let [major, minor, stepping] = card.version;
        assert_eq!(card.processor, format!("gfx{major}{minor}{stepping:x}"));
    }
}

/// The page of the documentation.
fn page() -> String {
    use std::fmt::Write;
    let mut page = "# Targets\n\nThe software GPU is one of these cards, or several (`GNEISS_GPUS`, `--gpus`). A program's code must be for the card's \
target, or for the generic target that covers it. This page is made from the list of cards (`GNEISS_BLESS=1 cargo test -p gneiss-hsa-core`); \
[instructions.md](instructions.md) says which targets have the same instructions.\n\n\
| target | generic target | card | compute units | lanes of a wave | LDS of a group |\n| --- | --- | --- | ---: | ---: | ---: |\n"
        .to_owned();
    for card in CARDS {
        let target: Target = card.processor.parse().expect("a target");
        let generic = Processor::by_name(card.processor).and_then(|processor| processor.generic);
        let waves = if target.features().wave32 {
            "32 or 64"
        } else {
            "64"
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {waves} | {} KiB |",
            card.processor,
            generic.unwrap_or(""),
            card.product,
            card.compute_units,
            target.lds_size() >> 10,
        );
    }
    page.push_str(include_str!("generic.md"));
    page
}

#[test]
fn the_page_of_the_documentation_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/targets.md");
    let page = page();
    if std::env::var_os("GNEISS_BLESS").is_some() {
        std::fs::write(path, &page).expect("a writable page");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/targets.md is old: run with GNEISS_BLESS=1"
    );
}

#[test]
fn every_target_that_code_is_executed_for_is_a_card() {
    assert_eq!(
        CARDS.iter().map(|card| card.processor).collect::<Vec<_>>(),
        gneiss_settings::gpus::TARGETS
    );
    for card in CARDS {
        let target: Target = card.processor.parse().expect("a target");
        let features = target.features();
        assert_eq!(card.wave, features.default_wave_size, "{target}");
        assert_eq!(card.simds, features.simds_per_cu, "{target}");
        assert_eq!(card.waves, features.waves_per_simd * card.simds, "{target}");
        assert_eq!(card.xnack != Absent, features.xnack, "{target}");
        assert_eq!(card.sramecc != Absent, features.sramecc, "{target}");
    }
}
