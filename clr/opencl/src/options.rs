//! Options of `clBuildProgram`, `clCompileProgram` and `clLinkProgram`: which there are, and what they mean for the compiler.

use gneiss_hiprtc::opencl::Math;

use crate::extension;

/// Options, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// As the program gave them.
    pub text: String,
    /// For the compiler, in order.
    pub compiler: Vec<String>,
    /// Extensions and features, each with `+` or `-` before it.
    pub extensions: Vec<String>,
    /// For the device libraries.
    pub math: Math,
    /// OpenCL C version: 100, 110, 120, 200, 300.
    pub standard: u32,
    /// Work-groups must all be of one size.
    pub uniform: bool,
    /// `-create-library`.
    pub library: bool,
    /// Files that the cache's key does not know go into the result.
    pub reads_files: bool,
}

/// Splits a text at blanks that are neither quoted nor behind a backslash.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => {
                let next = characters.next().unwrap_or('\\');
                if quote.is_some() && next != '"' && next != '\\' {
                    word.get_or_insert_default().push('\\');
                }
                word.get_or_insert_default().push(next);
            }
            (character, Some(open)) if character == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (character, None) if character.is_ascii_whitespace() => words.extend(word.take()),
            (character, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

fn standard(name: &str) -> Option<u32> {
    Some(match name {
        "CL1.0" => 100,
        "CL1.1" => 110,
        "CL1.2" => 120,
        "CL2.0" => 200,
        "CL3.0" => 300,
        _ => return None,
    })
}

impl Options {
    /// Takes options apart. `link`: those of a linker.
    ///
    /// # Errors
    /// The option that there is not.
    pub fn parse(text: &str, link: bool, images: bool) -> Result<Self, String> {
        let mut options = Options {
            text: text.to_owned(),
            standard: 120,
            ..Options::default()
        };
        let mut uniform = false;
        let mut all = words(text).into_iter();
        while let Some(word) = all.next() {
            match word.as_str() {
                "-cl-denorms-are-zero" => options.math.denormals_are_zero = true,
                "-cl-finite-math-only" => options.math.finite_only = true,
                "-cl-unsafe-math-optimizations" => options.math.unsafe_math = true,
                "-cl-fast-relaxed-math" => {
                    options.math.finite_only = true;
                    options.math.unsafe_math = true;
                }
                "-cl-fp32-correctly-rounded-divide-sqrt" => options.math.correctly_rounded = true,
                "-cl-no-signed-zeros" | "-cl-mad-enable" => {}
                "-create-library" if link => {
                    options.library = true;
                    continue;
                }
                "-enable-link-options" if link => continue,
                _ if link => return Err(word),
                "-cl-uniform-work-group-size" => uniform = true,
                "-cl-single-precision-constant" | "-cl-strict-aliasing" => {}
                "-w" | "-Werror" | "-g" | "-cl-kernel-arg-info" => {}
                // The code is right either way.
                "-cl-opt-disable" | "-cl-std=" => continue,
                "-D" | "-I" | "-U" => {
                    let Some(value) = all.next() else {
                        return Err(word);
                    };
                    options.reads_files |= word == "-I";
                    options.compiler.push(format!("{word}{value}"));
                    continue;
                }
                _ if word.starts_with("-D") || word.starts_with("-U") => {}
                _ if word.starts_with("-I") => options.reads_files = true,
                _ if word.starts_with("-cl-std=") => {
                    options.standard = standard(&word["-cl-std=".len()..]).ok_or(word)?;
                    continue;
                }
                // Not of the specification, but of clang, and in use.
                _ if ["-W", "-f", "-m", "-O"]
                    .iter()
                    .any(|start| word.starts_with(start)) =>
                {
                    options.reads_files |= word.starts_with("-f");
                }
                _ => return Err(word),
            }
            if !link {
                options.compiler.push(word);
            }
        }
        let (major, minor) = (options.standard / 100, options.standard / 10 % 10);
        options.compiler.push(format!("-cl-std=CL{major}.{minor}"));
        // What is the device's to say and not the compiler's (OpenCL C 3.0, 6.12).
        options.compiler.push("-D__OPENCL_VERSION__=300".to_owned());
        if images {
            options.compiler.push("-D__IMAGE_SUPPORT__=1".to_owned());
        }
        options.uniform = uniform || options.standard < 200;
        if options.standard >= 300 {
            let features = extension::features(images);
            let extensions = features.iter().map(|(name, _)| format!("+{name}"));
            options.extensions.extend(extensions);
            // Clang's headers know some only where their macros are defined.
            let macros = features.iter().map(|(name, _)| format!("-D{name}=1"));
            options.compiler.splice(0..0, macros);
        }
        if options.standard >= 200 {
            // Clang takes this for a part of OpenCL C 2.0 only.
            options.extensions.push("+cl_khr_subgroups".to_owned());
        }
        if images {
            // Clang does not have it for AMD GPUs by itself.
            options
                .extensions
                .push(format!("+{}", extension::DEPTH_IMAGES));
        } else {
            let absent = extension::NOT_THERE.iter().map(|name| format!("-{name}"));
            options.extensions.extend(absent);
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_blanks_outside_of_quotes() {
        assert_eq!(
            words(r#" -DA="x y"  -D 'B=1 2' -I a\ b "" "#),
            ["-DA=x y", "-D", "B=1 2", "-I", "a b", ""]
        );
        assert_eq!(words(r#"-DS=\"text\""#), [r#"-DS="text""#]);
    }

    #[test]
    fn versions_and_math_are_understood() {
        let options = Options::parse("-cl-std=CL2.0 -cl-fast-relaxed-math -D X=1", false, false)
            .expect("valid");
        assert_eq!(options.standard, 200);
        assert!(!options.uniform && options.math.finite_only && options.math.unsafe_math);
        assert_eq!(
            options.compiler,
            [
                "-cl-fast-relaxed-math",
                "-DX=1",
                "-cl-std=CL2.0",
                "-D__OPENCL_VERSION__=300"
            ]
        );
        let plain = Options::parse("", false, true).expect("valid");
        assert!(plain.uniform);
        assert_eq!(plain.extensions, ["+cl_khr_depth_images"]);
        assert!(
            plain
                .compiler
                .iter()
                .any(|option| option == "-D__IMAGE_SUPPORT__=1")
        );
    }

    #[test]
    fn unknown_options_are_named() {
        for (text, link, wrong) in [
            ("-cl-std=CL4.0", false, "-cl-std=CL4.0"),
            ("-invalid", false, "-invalid"),
            ("-D", false, "-D"),
            ("-DX", true, "-DX"),
            ("x.cl", false, "x.cl"),
        ] {
            assert_eq!(
                Options::parse(text, link, false).err().as_deref(),
                Some(wrong)
            );
        }
    }
}
