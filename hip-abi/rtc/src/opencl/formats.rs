//! printf formats that clang's pass for printf does not understand, written so that it keeps every argument.
//!
//! The pass (`AMDGPUPrintfRuntimeBinding`) knows the conversions `cdieEfgGaosuxXp`. Of `%F` and `%A` it sees nothing, and arguments are lost; of
//! `%f` it keeps a constant double as a float. So the conversion itself is hidden behind a `!`, and followed by one that the pass keeps whole:
//! `%.3F` becomes `%.3!Fe`, and `%.3f` becomes `%.3!De`, for the pass would see an `f` itself. Who prints takes the character after the `!`, and
//! skips the one behind it.
//!
//! This works on LLVM's text, before any pass has run: there a format is still a constant of its own, named in the first argument of a call.

use std::{collections::HashMap, fmt::Write as _};

/// How a conversion is hidden, if it must be.
fn hidden_letter(conversion: u8) -> Option<u8> {
    match conversion {
        b'F' | b'A' => Some(conversion),
        b'f' => Some(b'D'),
        _ => None,
    }
}

/// A format as the pass is to see it; `None` if it may stay as it is.
fn hidden(format: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(format.len() + 8);
    let mut rest = format;
    let mut changed = false;
    while let Some(start) = rest.iter().position(|byte| *byte == b'%') {
        let (before, after) = rest.split_at(start + 1);
        out.extend_from_slice(before);
        let modifiers = after
            .iter()
            .take_while(|byte| b"-+ #.*vhljzt0123456789".contains(byte))
            .count();
        let (modifiers, after) = after.split_at(modifiers);
        out.extend_from_slice(modifiers);
        rest = after;
        let Some((conversion, after)) = after.split_first() else {
            break;
        };
        if let Some(letter) = hidden_letter(*conversion) {
            out.extend([b'!', letter, b'e']);
            changed = true;
        } else {
            out.push(*conversion);
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    changed.then_some(out)
}

/// The bytes of LLVM's `c"…"`, from behind the first quotation mark on.
fn string(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    loop {
        match bytes.next()? {
            b'"' => return Some(out),
            b'\\' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
                out.push((high * 16 + low) as u8);
            }
            byte => out.push(byte),
        }
    }
}

/// The name of a global at the start of a text: `@.str.1`.
fn name(text: &str) -> &str {
    let end = text[1..]
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-$._".contains(c)))
        .map_or(text.len(), |end| end + 1);
    &text[..end]
}

/// The first argument of a call of printf, if it is a constant: where it begins and ends in the line, and the constant's name.
fn format_of_call(line: &str) -> Option<(usize, usize, &str)> {
    const CALL: &str = "@printf(";
    if !line.trim_start().contains("call ") {
        return None;
    }
    let start = line.find(CALL)? + CALL.len();
    let mut depth = 0;
    let end = line[start..].find(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0 || (depth == 0 && c == ',')
    })? + start;
    let argument = &line[start..end];
    let constant = name(&argument[argument.find('@')?..]);
    let plain = argument.ends_with(constant) || argument.ends_with(", i64 0, i64 0)");
    plain.then_some((start, end, constant))
}

/// A module with the formats as the pass is to see them; `None` if it may stay as it is.
pub(super) fn hide(module: &str) -> Option<String> {
    let mut constants: HashMap<&str, Vec<u8>> = HashMap::new();
    for line in module.lines().filter(|line| line.starts_with('@')) {
        let text = line.split_once(" x i8] c\"");
        if let Some(text) = text.and_then(|(_, text)| string(text)) {
            constants.insert(name(line), text);
        }
    }
    let mut more = String::new();
    let mut made: HashMap<&str, usize> = HashMap::new();
    let mut out = String::with_capacity(module.len() + 256);
    for line in module.lines() {
        let replaced = format_of_call(line).and_then(|(start, end, constant)| {
            let old = constants.get(constant)?;
            let new = hidden(old)?;
            let number = made.len();
            let number = *made.entry(constant).or_insert_with(|| {
                let _ = write!(
                    more,
                    "@gneiss.format.{number} = private unnamed_addr addrspace(4) constant [{} x i8] c\"",
                    new.len()
                );
                for byte in &new {
                    let _ = write!(more, "\\{byte:02X}");
                }
                more.push_str("\", align 1\n");
                number
            });
            let argument = line[start..end]
                .replace(constant, &format!("@gneiss.format.{number}"))
                .replace(&format!("[{} x i8]", old.len()), &format!("[{} x i8]", new.len()));
            Some([&line[..start], &argument, &line[end..]].concat())
        });
        out.push_str(replaced.as_deref().unwrap_or(line));
        out.push('\n');
    }
    out.push_str(&more);
    (!made.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_that_lose_their_argument_are_hidden() {
        for (format, wanted) in [
            ("%.3F|%A %d\n", Some("%.3!Fe|%!Ae %d\n")),
            ("%f", Some("%!De")),
            ("%#v4hlF.", Some("%#v4hl!Fe.")),
            ("%%F %d %e%", None),
            ("F %%%% f", None),
            ("%%%F", Some("%%%!Fe")),
            ("", None),
        ] {
            assert_eq!(
                hidden(format.as_bytes()).as_deref(),
                wanted.map(str::as_bytes),
                "{format}"
            );
        }
    }

    #[test]
    fn only_the_formats_of_calls_change() {
        let module = "@.str = private unnamed_addr addrspace(4) constant [4 x i8] c\"%F\\0A\\00\", align 1\n\
             \x20 %1 = call i32 (i8 addrspace(4)*, ...) @printf(i8 addrspace(4)* noundef getelementptr inbounds ([4 x i8], \
             [4 x i8] addrspace(4)* @.str, i64 0, i64 0), i8 addrspace(4)* @.str) #3\n\
             \x20 %2 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) noundef @.str, double %0)\n\
             declare hidden i32 @printf(i8 addrspace(4)* noundef, ...) #1\n";
        let wanted = "@.str = private unnamed_addr addrspace(4) constant [4 x i8] c\"%F\\0A\\00\", align 1\n\
             \x20 %1 = call i32 (i8 addrspace(4)*, ...) @printf(i8 addrspace(4)* noundef getelementptr inbounds ([6 x i8], \
             [6 x i8] addrspace(4)* @gneiss.format.0, i64 0, i64 0), i8 addrspace(4)* @.str) #3\n\
             \x20 %2 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) noundef @gneiss.format.0, double %0)\n\
             declare hidden i32 @printf(i8 addrspace(4)* noundef, ...) #1\n\
             @gneiss.format.0 = private unnamed_addr addrspace(4) constant [6 x i8] c\"\\25\\21\\46\\65\\0A\\00\", align 1\n";
        assert_eq!(hide(module).as_deref(), Some(wanted));
        assert_eq!(hide(&module.replace("%F", "%d")), None);
        let shifted = "@.str = constant [3 x i8] c\"%F\\00\"\n call i32 @printf(i8* getelementptr ([3 x i8], @.str, i64 0, i64 1))\n";
        assert_eq!(hide(shifted), None);
    }
}
