//! Names of bundle entries: `kind-triple-target`, for example `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+` or
//! `host-x86_64-unknown-linux-gnu-`. Source: LLVM, "Clang Offload Bundler", bundle entry ID.

use crate::error::{Error, Result};
use crate::target_id::TargetId;
use std::fmt;
use std::str::FromStr;

/// The parts of a bundle entry ID.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryId {
    text: String,
    kind_len: usize,
    triple_len: usize,
    target: Option<TargetId>,
}

impl EntryId {
    /// The ID as it stands in the bundle.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The offload kind: `host`, `hipv4`, `hip`, `hcc`, `openmp` or whatever the bundle says.
    pub fn kind(&self) -> &str {
        &self.text[..self.kind_len]
    }

    /// The triple with three or four parts: `amdgcn-amd-amdhsa-`, `x86_64-unknown-linux-gnu`.
    pub fn triple(&self) -> &str {
        let start = self.kind_len + 1;
        &self.text[start..start + self.triple_len]
    }

    /// The target; `None` for the host's entry.
    pub fn target(&self) -> Option<&TargetId> {
        self.target.as_ref()
    }

    /// Whether this is the host's entry (HIP leaves it empty).
    pub fn is_host(&self) -> bool {
        self.kind() == "host"
    }

    /// Whether the entry holds amdgcn machine code for HIP. SPIR-V entries and other kinds of offloading do not.
    pub fn is_hip_amdgcn(&self) -> bool {
        matches!(self.kind(), "hipv4" | "hip" | "hcc")
            && self.triple().starts_with("amdgcn-amd-amdhsa")
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for EntryId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let error = |reason| Error::EntryId {
            text: text.to_owned(),
            reason,
        };
        let kind_len = text.find('-').ok_or_else(|| error("it has no kind"))?;
        if kind_len == 0 {
            return Err(error("it has no kind"));
        }
        let rest = &text[kind_len + 1..];
        let dashes: Vec<usize> = rest.match_indices('-').map(|(at, _)| at).take(4).collect();
        // Compilers before LLVM 10 wrote triples without the environment: the fourth part is then the target.
        let environment_missing = dashes.len() >= 3 && rest[dashes[2] + 1..].starts_with("gfx");
        let (triple_len, target) = match (dashes.len(), environment_missing) {
            (4, false) => (dashes[3], &rest[dashes[3] + 1..]),
            (3 | 4, true) => (dashes[2], &rest[dashes[2] + 1..]),
            (2 | 3, _) => (rest.len(), ""),
            _ => return Err(error("its triple has less than three parts")),
        };
        let target = if target.is_empty() {
            None
        } else {
            Some(target.parse()?)
        };
        Ok(Self {
            text: text.to_owned(),
            kind_len,
            triple_len,
            target,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: &str, triple: &str, target: &str) {
        let id: EntryId = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((id.kind(), id.triple()), (kind, triple));
        assert_eq!(
            id.target().map(ToString::to_string).unwrap_or_default(),
            target
        );
        assert_eq!(id.to_string(), text);
    }

    #[test]
    fn the_forms_that_compilers_wrote() {
        check(
            "hipv4-amdgcn-amd-amdhsa--gfx90a",
            "hipv4",
            "amdgcn-amd-amdhsa-",
            "gfx90a",
        );
        check(
            "hipv4-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-",
            "hipv4",
            "amdgcn-amd-amdhsa-",
            "gfx906:sramecc+:xnack-",
        );
        check(
            "hipv4-amdgcn-amd-amdhsa-unknown-gfx9-4-generic:xnack-",
            "hipv4",
            "amdgcn-amd-amdhsa-unknown",
            "gfx9-4-generic:xnack-",
        );
        check(
            "hip-amdgcn-amd-amdhsa-gfx908+sram-ecc",
            "hip",
            "amdgcn-amd-amdhsa",
            "gfx908:sramecc+",
        );
        check(
            "host-x86_64-unknown-linux--",
            "host",
            "x86_64-unknown-linux-",
            "",
        );
        check(
            "host-x86_64-unknown-linux-gnu-",
            "host",
            "x86_64-unknown-linux-gnu",
            "",
        );
        check(
            "host-x86_64-unknown-linux",
            "host",
            "x86_64-unknown-linux",
            "",
        );
        check(
            "hip-spirv64-amd-amdhsa--amdgcnspirv",
            "hip",
            "spirv64-amd-amdhsa-",
            "amdgcnspirv",
        );
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "host",
            "-x-y-z",
            "host-x86_64",
            "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack",
        ] {
            assert!(text.parse::<EntryId>().is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn only_amdgcn_entries_of_hip_count_as_code() {
        let is_code = |text: &str| text.parse::<EntryId>().is_ok_and(|id| id.is_hip_amdgcn());
        assert!(is_code("hipv4-amdgcn-amd-amdhsa--gfx90a"));
        assert!(!is_code("hip-spirv64-amd-amdhsa--amdgcnspirv"));
        assert!(!is_code("openmp-amdgcn-amd-amdhsa--gfx90a"));
        assert!(!is_code("host-x86_64-unknown-linux--"));
    }
}
