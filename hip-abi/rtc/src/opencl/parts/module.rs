//! LLVM's text of a module, cut down to some of its functions and what these need.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// A function, a variable or an alias.
#[derive(Debug)]
struct Entity<'a> {
    text: &'a str,
    /// Declared only.
    external: bool,
}

/// A module's text, taken apart.
#[derive(Debug)]
pub struct Module<'a> {
    /// Types, attributes, metadata: what belongs to no entity.
    rest: Vec<&'a str>,
    /// In the order of the text.
    names: Vec<&'a str>,
    entities: HashMap<&'a str, Entity<'a>>,
}

/// Some of a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// LLVM's text.
    pub text: String,
    /// Names that it needs of other modules.
    pub needs: Vec<String>,
    /// Nothing is defined in it.
    pub empty: bool,
}

/// A part of a text.
enum Token<'a> {
    /// A name, without its `@`.
    Name(&'a str),
    Other(&'a str),
}

/// Takes a text apart at the names of entities; what stands in strings is no name.
fn tokens(mut text: &str) -> impl Iterator<Item = Token<'_>> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (token, after) = if let Some(rest) = text.strip_prefix('@') {
            let end = if let Some(quoted) = rest.strip_prefix('"') {
                quoted.find('"').map_or(rest.len(), |end| end + 2)
            } else {
                rest.find(|letter: char| {
                    !(letter.is_ascii_alphanumeric() || "-$._".contains(letter))
                })
                .unwrap_or(rest.len())
            };
            let (name, after) = rest.split_at(end);
            (Token::Name(name), after)
        } else {
            let end = match text.find(['@', '"']) {
                Some(end) if text[end..].starts_with('"') => text[end + 1..]
                    .find('"')
                    .map_or(text.len(), |length| end + length + 2),
                Some(end) => end,
                None => text.len(),
            };
            let (other, after) = text.split_at(end);
            (Token::Other(other), after)
        };
        text = after;
        Some(token)
    })
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    tokens(text).filter_map(|token| match token {
        Token::Name(name) => Some(name),
        Token::Other(_) => None,
    })
}

/// Numbers must not have gaps, so numbered entities get names.
fn renamed(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        Cow::Owned(format!("unnamed.{name}"))
    } else {
        Cow::Borrowed(name)
    }
}

impl<'a> Module<'a> {
    /// Takes a module's text apart.
    pub fn new(text: &'a str) -> Self {
        let mut module = Self {
            rest: Vec::new(),
            names: Vec::new(),
            entities: HashMap::new(),
        };
        let mut left = text;
        while !left.is_empty() {
            let line = left.split_inclusive('\n').next().unwrap_or(left);
            let function = line.starts_with("define ");
            let end = if function {
                left.find("\n}\n").map_or(left.len(), |end| end + 3)
            } else {
                line.len()
            };
            let (text, after) = left.split_at(end);
            left = after;
            if function || line.starts_with("declare ") || line.starts_with('@') {
                let Some(name) = names(line).next() else {
                    continue;
                };
                let external = !function
                    && (line.starts_with("declare ")
                        || line.contains(" = external ")
                        || line.contains(" = extern_weak "));
                module.names.push(name);
                module.entities.insert(name, Entity { text, external });
            } else if !line.starts_with(';') && !line.trim().is_empty() {
                module.rest.push(text);
            }
        }
        module
    }

    /// The names that are defined.
    pub fn defined(&self) -> impl Iterator<Item = &'a str> {
        (self.names.iter().copied()).filter(|name| !self.entities[name].external)
    }

    /// Some entities with all that they refer to. Names that are not there are passed over.
    pub fn pick<'n>(&self, wanted: impl Iterator<Item = &'n str>) -> Picked {
        let mut kept = HashSet::new();
        let mut open: Vec<&str> = wanted
            .filter_map(|name| Some(*self.entities.get_key_value(name)?.0))
            .collect();
        while let Some(name) = open.pop() {
            if let Some(entity) = self.entities.get(name)
                && kept.insert(name)
            {
                open.extend(names(entity.text));
            }
        }
        let mut picked = Picked {
            empty: true,
            ..Picked::default()
        };
        picked.text.extend(self.rest.iter().copied());
        for name in self.names.iter().filter(|name| kept.contains(*name)) {
            let entity = &self.entities[name];
            if entity.external {
                picked.needs.push((*name).to_owned());
            } else {
                picked.empty = false;
            }
            for token in tokens(entity.text) {
                match token {
                    Token::Name(name) => {
                        picked.text.push('@');
                        picked.text.push_str(&renamed(name));
                    }
                    Token::Other(other) => picked.text.push_str(other),
                }
            }
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"; ModuleID = 'a.bc'
target triple = "amdgcn-amd-amdhsa"
%0 = type { i32 }

@0 = internal constant [2 x i8] c"@b"
@table = external constant i32
@other = constant i32 0
@also_a = alias i32 (), ptr @a

; Function Attrs: nounwind
define i32 @a() #0 {
  %1 = load i8, ptr @0
  br label %2

2:                                                ; preds = %0
  %3 = call i32 @"quo ted"(ptr @table)
  ret i32 %3
}

define i32 @b() {
  ret i32 1
}

declare i32 @"quo ted"(ptr)

attributes #0 = { "x"="@b" }
!0 = !{}
"#;

    #[test]
    fn what_a_function_refers_to_stays_with_it_and_nothing_else() {
        let module = Module::new(TEXT);
        assert_eq!(
            module.defined().collect::<Vec<_>>(),
            ["0", "other", "also_a", "a", "b"]
        );
        let picked = module.pick(["also_a", "not there"].into_iter());
        assert_eq!(picked.needs, ["table", "\"quo ted\""]);
        assert!(!picked.empty);
        for there in [
            "target triple",
            "%0 = type",
            "@unnamed.0 = internal constant [2 x i8] c\"@b\"",
            "load i8, ptr @unnamed.0",
            "\n}\n",
            "declare i32 @\"quo ted\"(ptr)",
            "attributes #0",
            "!0 = !{}",
        ] {
            assert!(picked.text.contains(there), "{there}: {}", picked.text);
        }
        for gone in ["@other", "@b()", "; Function"] {
            assert!(!picked.text.contains(gone), "{gone}: {}", picked.text);
        }
    }

    #[test]
    fn a_pick_of_declarations_alone_is_empty() {
        assert!(Module::new(TEXT).pick(["table"].into_iter()).empty);
        assert!(Module::new("").pick(["a"].into_iter()).empty);
    }
}
