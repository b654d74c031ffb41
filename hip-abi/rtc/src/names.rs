//! Name expressions: `f<int>`, `&N::variable`, and the symbols that they become.
//!
//! Each expression adds a constant to the source that holds the address of what it names. In the code object the constant has a
//! relocation, whose target is the symbol looked for. That needs no mangler and no other tool, and holds for whatever compiled it.

use std::fmt::Write as _;

use gneiss_fatbin::CodeObject;

/// Start of the names of our constants.
const PREFIX: &str = "__gneiss_name_expression_";
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;

/// An expression without what says only "address of": `(&V)`, `&V` and `V` are the same.
pub fn strip(expression: &str) -> &str {
    let mut inner = expression.trim();
    while let Some(shorter) = inner
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        inner = shorter.trim();
    }
    inner.strip_prefix('&').unwrap_or(inner).trim()
}

/// The text to put after the source.
pub fn constants(expressions: &[String]) -> String {
    let mut text = String::new();
    for (index, expression) in expressions.iter().enumerate() {
        let name = strip(expression);
        // The cast keeps the whole type away; `used` keeps the constant, which nothing reads.
        let _ = write!(
            text,
            "\nextern \"C\" __attribute__((used)) __device__ const void* const {PREFIX}{index} = (const void*)&{name};\n"
        );
    }
    text
}

/// The symbols of `count` expressions in a code object made from [`constants`]; `None` for those that cannot be found.
pub fn lowered(executable: &[u8], count: usize) -> Vec<Option<String>> {
    let mut names = vec![None; count];
    let Ok(object) = CodeObject::parse(executable) else {
        return names;
    };
    let (Ok(symbols), Ok(relocations)) = (object.symbols(), object.relocations()) else {
        return names;
    };
    let named = |address: u64| {
        symbols
            .iter()
            .filter(|symbol| symbol.is_defined() && symbol.value == address)
            .map(|symbol| symbol.name)
            .find(|name| !name.is_empty() && !name.starts_with(PREFIX))
    };
    for (index, place) in names.iter_mut().enumerate() {
        let constant = format!("{PREFIX}{index}");
        let Some(symbol) = symbols.iter().find(|symbol| symbol.name == constant) else {
            continue;
        };
        let Some(relocation) = relocations
            .iter()
            .find(|relocation| relocation.offset == symbol.value)
        else {
            continue;
        };
        let found = match relocation.kind {
            R_AMDGPU_RELATIVE64 => named(relocation.addend as u64),
            R_AMDGPU_ABS64 => symbols
                .get(relocation.symbol as usize)
                .map(|symbol| symbol.name),
            _ => None,
        };
        *place = found.map(|name| name.strip_suffix(".kd").unwrap_or(name).to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_the_same_with_and_without_address_of() {
        for expression in ["V", "&V", "(&V)", " & V ", "((V))"] {
            assert_eq!(strip(expression), "V");
        }
        assert_eq!(strip("f<complex<double> >"), "f<complex<double> >");
    }

    #[test]
    fn no_code_object_has_no_names() {
        assert_eq!(lowered(b"no ELF", 2), [None, None]);
    }
}
