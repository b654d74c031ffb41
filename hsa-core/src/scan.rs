//! Which GPU the program wants: the targets that all loaded fat binaries hold code for. Only headers are read.

use std::{collections::BTreeSet, ffi::OsStr, os::unix::ffi::OsStrExt, path::PathBuf};

use gneiss_amdgcn::target::Target;
use gneiss_fatbin::{
    fat_binary::{self, MappedFile},
    target_id::{Feature, TargetId},
};

use crate::objects;

/// Targets in the order of preference, if a program has code for several.
const PREFERENCE: &[&str] = &[
    "gfx90a", "gfx942", "gfx950", "gfx908", "gfx906", "gfx900", "gfx1030", "gfx1100", "gfx1201",
    "gfx1200", "gfx1101", "gfx1102", "gfx1151", "gfx1150", "gfx1152", "gfx1153", "gfx1103",
    "gfx1031", "gfx1032", "gfx1034", "gfx1035", "gfx1033", "gfx1036", "gfx1010", "gfx1012",
    "gfx1011", "gfx1013",
];

/// The files of all loaded objects, the executable first.
fn loaded_objects() -> BTreeSet<PathBuf> {
    let names = objects::loaded();
    let paths = names
        .iter()
        .map(|name| name.to_bytes())
        .filter(|name| name.starts_with(b"/"))
        .map(|name| PathBuf::from(OsStr::from_bytes(name)));
    [PathBuf::from("/proc/self/exe")]
        .into_iter()
        .chain(paths)
        .collect()
}

/// The best GPU that can run some code of every bundle, as `GNEISS_GPUS` spells it; `None` if there is no fat binary or no such GPU.
pub(crate) fn best_target() -> Option<String> {
    let mut bundles = Vec::new();
    for path in loaded_objects() {
        let Ok(file) = MappedFile::open(&path) else {
            continue;
        };
        match fat_binary::entry_ids(file.bytes()) {
            Ok(ids) => bundles.extend(ids),
            Err(error) => {
                tracing::debug!(path = %path.display(), %error, "no fat binary can be read")
            }
        }
    }
    if bundles.is_empty() {
        return None;
    }
    best_of(&fat_binary::shared_targets(&bundles))
}

/// The best of some targets. A target that the engine executes comes before one that it only knows.
fn best_of(targets: &[TargetId]) -> Option<String> {
    let rank = |target: &TargetId| {
        let preference = PREFERENCE
            .iter()
            .position(|processor| *processor == target.processor)?;
        let executable = target
            .processor
            .parse::<Target>()
            .is_ok_and(|target| target.check_executable().is_ok());
        Some((!executable, preference))
    };
    let (_, best) = targets
        .iter()
        .filter_map(|target| Some((rank(target)?, target)))
        .min_by_key(|(rank, _)| *rank)?;
    let mut spec = best.processor.clone();
    for (name, feature) in [("sramecc", best.sramecc), ("xnack", best.xnack)] {
        match feature {
            Feature::Any => {}
            Feature::On => spec.push_str(&format!(":{name}+")),
            Feature::Off => spec.push_str(&format!(":{name}-")),
        }
    }
    Some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_among_the_objects() {
        assert!(loaded_objects().contains(&PathBuf::from("/proc/self/exe")));
        assert!(loaded_objects().len() > 1, "the C library is loaded too");
    }

    #[test]
    fn every_preferred_target_has_a_card() {
        assert!(
            PREFERENCE
                .iter()
                .all(|processor| crate::card::Card::of(processor).is_some())
        );
        assert_eq!(PREFERENCE.len(), crate::card::CARDS.len());
    }

    #[test]
    fn executable_targets_come_first_and_features_are_kept() {
        let targets = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("amdgcn-amd-amdhsa--{name}"))
                .map(|name| TargetId::from_isa_name(&name).expect("valid"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            best_of(&targets(&["gfx950", "gfx1030"])).as_deref(),
            Some("gfx950")
        );
        assert_eq!(
            best_of(&targets(&["gfx1030", "gfx90a:xnack+"])).as_deref(),
            Some("gfx90a:xnack+")
        );
        assert_eq!(best_of(&targets(&["gfx950"])).as_deref(), Some("gfx950"));
        assert_eq!(best_of(&[]), None);
    }
}
