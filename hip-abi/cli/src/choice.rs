//! What `--target` and `--kernel` choose among, and the message when they choose nothing.

use crate::demangle::demangle;
use gneiss_fatbin::fat_binary::{Contents, Image};
use gneiss_fatbin::{CodeObject, TargetId};

/// Most names in a message.
const MOST_NAMES: usize = 20;

/// Whether code for `target` is what `--target` asks for: the same, or code that a device of that target runs.
pub fn is_wanted(wanted: Option<&TargetId>, target: &TargetId) -> bool {
    wanted.is_none_or(|wanted| {
        wanted == target || target.fit(&wanted.with_device_defaults()).is_some()
    })
}

/// Whether a name, as it is or demangled, holds the text of `--kernel`.
pub fn is_named(text: Option<&String>, name: &str) -> bool {
    text.is_none_or(|text| name.contains(text) || demangle(name).contains(text))
}

/// Why nothing was found, with what there is.
pub fn nothing_found(
    images: &[Image<'_>],
    wanted: Option<&TargetId>,
    kernel: Option<&String>,
) -> String {
    let (mut targets, mut kernels, mut found) = (Vec::new(), Vec::new(), false);
    let mut add = |code_object: &CodeObject<'_>| {
        let target = code_object.target().to_string();
        if !targets.contains(&target) {
            targets.push(target);
        }
        if !is_wanted(wanted, code_object.target()) {
            return;
        }
        found = true;
        let metadata = code_object.metadata().unwrap_or_default();
        for kernel in &metadata.kernels {
            let name = demangle(&kernel.name);
            if !kernels.contains(&name) {
                kernels.push(name);
            }
        }
    };
    for image in images {
        match &image.contents {
            Contents::CodeObject(code_object) => add(code_object),
            Contents::Bundle(bundle) => {
                for entry in bundle.entries().filter(|entry| !entry.data.is_empty()) {
                    if let Ok(code_object) = CodeObject::parse(entry.data) {
                        add(&code_object);
                    }
                }
            }
        }
    }
    match (wanted, kernel) {
        (Some(wanted), _) if !found => {
            format!(
                "it holds no code for {wanted}; {}",
                some("code for", &targets)
            )
        }
        (_, Some(text)) => format!(
            "no kernel in it has \"{text}\" in its name; {}",
            some("", &kernels)
        ),
        _ => format!("it holds no amdgcn code; {}", some("code for", &targets)),
    }
}

fn some(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return "there is none".to_owned();
    }
    let shown = names[..names.len().min(MOST_NAMES)].join(", ");
    let gap = if what.is_empty() { "" } else { " " };
    let rest = names.len().saturating_sub(MOST_NAMES);
    if rest == 0 {
        format!("there is {what}{gap}{shown}")
    } else {
        format!("there is {what}{gap}{shown} and {rest} more")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..30).map(|at| format!("k{at}")).collect();
        let text = some("", &names);
        assert!(
            text.starts_with("there is k0, k1, ") && text.ends_with("k19 and 10 more"),
            "{text}"
        );
        assert_eq!(some("code for", &names[..1]), "there is code for k0");
        assert_eq!(some("code for", &[]), "there is none");
    }
}
