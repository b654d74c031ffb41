//! C++ names as people write them.

/// The demangled form of a mangled C++ name, or the name as it is.
pub fn demangle(name: &str) -> String {
    let plain = name.strip_suffix(".kd").unwrap_or(name);
    // The parser also takes bare type codes: "c" would be char.
    if !plain.starts_with("_Z") {
        return plain.to_owned();
    }
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    let demangled = cpp_demangle::Symbol::new(plain)
        .ok()
        .and_then(|symbol| symbol.demangle_with_options(&options).ok());
    demangled.unwrap_or_else(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_and_plain_names() {
        assert_eq!(
            demangle("_Z10vector_addPKfS0_Pfi"),
            "vector_add(float const*, float const*, float*, int)"
        );
        assert_eq!(demangle("plain.kd"), "plain");
        assert_eq!(demangle("c"), "c");
        assert_eq!(demangle("_Zgarbage"), "_Zgarbage");
    }
}
