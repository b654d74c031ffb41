//! The YAML that LLVM writes into the metadata note of code object v2: block maps and lists, one-line lists, plain and quoted
//! scalars. Anything else of YAML (anchors, tags, folded text, escapes) is refused.

use crate::error::{Error, Result};
use crate::message_pack::Value;

/// Deepest nesting that is read; the metadata uses five levels.
const DEPTH_LIMIT: u32 = 32;

#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Value<'_>> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.trim_start_matches(' ');
        match content.trim_end() {
            "..." => break,
            "" | "---" => {}
            trimmed => lines.push(Line {
                number: number + 1,
                indent: line.len() - content.len(),
                text: trimmed,
            }),
        }
    }
    let Some(first) = lines.first() else {
        return Err(Error::Yaml {
            line: 1,
            reason: "there is nothing in it",
        });
    };
    let indent = first.indent;
    let mut reader = Reader { lines, at: 0 };
    let value = reader.block(indent, 0)?;
    match reader.lines.get(reader.at) {
        None => Ok(value),
        Some(line) => Err(Error::Yaml {
            line: line.number,
            reason: "it is indented less than the start",
        }),
    }
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<Line<'a>> {
        self.lines.get(self.at).copied()
    }

    fn block(&mut self, indent: usize, depth: u32) -> Result<Value<'a>> {
        let start = self.line();
        if depth > DEPTH_LIMIT {
            return Err(Error::Yaml {
                line: start.map_or(1, |line| line.number),
                reason: "values nest too deeply",
            });
        }
        match start {
            Some(line) if is_item(line.text) => self.list(indent, depth),
            _ => self.map(indent, depth),
        }
    }

    fn list(&mut self, indent: usize, depth: u32) -> Result<Value<'a>> {
        let mut values = Vec::new();
        while let Some(line) = self
            .line()
            .filter(|line| line.indent == indent && is_item(line.text))
        {
            // "- key: value" starts a block two columns further in.
            let content = line.text[1..].trim_start();
            if split_key(content).is_some() {
                let inner = indent + line.text.len() - content.len();
                self.lines[self.at] = Line {
                    indent: inner,
                    text: content,
                    ..line
                };
                values.push(self.block(inner, depth + 1)?);
            } else {
                self.at += 1;
                values.push(scalar(content, line.number)?);
            }
        }
        self.end_of_block(indent)?;
        Ok(Value::Array(values))
    }

    fn map(&mut self, indent: usize, depth: u32) -> Result<Value<'a>> {
        let mut fields = Vec::new();
        while let Some(line) = self
            .line()
            .filter(|line| line.indent == indent && !is_item(line.text))
        {
            let (key, rest) = split_key(line.text).ok_or(Error::Yaml {
                line: line.number,
                reason: "it has no key",
            })?;
            self.at += 1;
            let value = if rest.is_empty() {
                match self.line() {
                    Some(next)
                        if next.indent > indent || next.indent == indent && is_item(next.text) =>
                    {
                        self.block(next.indent, depth + 1)?
                    }
                    _ => Value::Nil,
                }
            } else {
                scalar(rest, line.number)?
            };
            fields.push((Value::Str(key), value));
        }
        self.end_of_block(indent)?;
        Ok(Value::Map(fields))
    }

    /// What follows a block must belong to one further out.
    fn end_of_block(&self, indent: usize) -> Result<()> {
        match self.line() {
            Some(line) if line.indent > indent => Err(Error::Yaml {
                line: line.number,
                reason: "its indentation fits nothing before it",
            }),
            _ => Ok(()),
        }
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let plain = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
    (plain && (rest.is_empty() || rest.starts_with(' '))).then(|| (key, rest.trim()))
}

fn scalar(text: &str, line: usize) -> Result<Value<'_>> {
    let error = |reason| Err(Error::Yaml { line, reason });
    if let Some(inner) = text.strip_prefix('[') {
        let Some(inner) = inner.strip_suffix(']') else {
            return error("a list has no end");
        };
        if inner.contains('[') {
            return error("lists inside one-line lists are not known");
        }
        return inner
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| scalar(item, line))
            .collect::<Result<_>>()
            .map(Value::Array);
    }
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote) {
            return match inner.strip_suffix(quote) {
                Some(inner) if !(inner.contains(quote) || quote == '"' && inner.contains('\\')) => {
                    Ok(Value::Str(inner))
                }
                _ => error("a quoted string has no end or uses escapes"),
            };
        }
    }
    if text.starts_with(['|', '>', '&', '*', '!', '{', '%', '@']) {
        return error("this form of value is not known");
    }
    Ok(match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse().map_or(Value::Str(text), Value::UInt),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lists_and_scalars() {
        use Value::{Array, Bool, Map, Nil, Str, UInt};
        let text = "---\nVersion: [ 1, 0 ]\nKernels:\n  - Name: 'a::b'\n    Args:\n      - Size: 8\n        IsConst: true\n    Empty:\n  - Name: c\nPrintf:\n- x y\n- \"z\"\n...\nrest";
        let kernels = vec![
            Map(vec![
                (Str("Name"), Str("a::b")),
                (
                    Str("Args"),
                    Array(vec![Map(vec![
                        (Str("Size"), UInt(8)),
                        (Str("IsConst"), Bool(true)),
                    ])]),
                ),
                (Str("Empty"), Nil),
            ]),
            Map(vec![(Str("Name"), Str("c"))]),
        ];
        let whole = Map(vec![
            (Str("Version"), Array(vec![UInt(1), UInt(0)])),
            (Str("Kernels"), Array(kernels)),
            (Str("Printf"), Array(vec![Str("x y"), Str("z")])),
        ]);
        assert_eq!(parse(text), Ok(whole));
    }

    #[test]
    fn other_yaml_is_refused_with_its_line() {
        for (text, line) in [
            ("", 1),
            ("a: |\n  x", 1),
            ("a: 1\n   b: 2", 2),
            ("a: 1\n- b", 2),
            ("x", 1),
            ("a: [1", 1),
            ("a: 'x", 1),
            ("a:\n    b: 1\n  c: 2", 3),
        ] {
            assert!(
                matches!(parse(text), Err(Error::Yaml { line: found, .. }) if found == line),
                "{text:?}: {:?}",
                parse(text)
            );
        }
        let deep: String = (0..100).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
        assert!(parse(&deep).is_err_and(|e| e.to_string().contains("deeply")));
    }
}
