//! Options of a compilation: what is for hiprtc itself, and what goes to the compiler.

/// Options, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Target that the program asks for: `gfx90a:xnack-`.
    pub target: Option<String>,
    /// Relocatable device code: bitcode is the result.
    pub rdc: bool,
    /// HIP's own header is not included.
    pub no_builtin_header: bool,
    /// For the compiler, in order.
    pub rest: Vec<String>,
}

impl Options {
    /// Takes apart what the program gives and what `HIPRTC_COMPILE_OPTIONS_APPEND` adds.
    pub fn parse<'a>(given: impl IntoIterator<Item = &'a str>, appended: Option<&'a str>) -> Self {
        let mut options = Options::default();
        let appended = appended.unwrap_or_default().split_ascii_whitespace();
        let mut all = given
            .into_iter()
            .map(str::trim)
            .filter(|option| !option.is_empty())
            .chain(appended);
        while let Some(option) = all.next() {
            let target = ["--offload-arch=", "--gpu-architecture=", "-arch="]
                .iter()
                .find_map(|prefix| option.strip_prefix(prefix));
            match (option, target) {
                (_, Some(target)) => options.target = Some(target.to_owned()),
                ("--gpu-architecture" | "-arch", _) => {
                    options.target = all.next().map(str::to_owned);
                }
                ("-fgpu-rdc", _) => options.rdc = true,
                ("-fno-gpu-rdc", _) => options.rdc = false,
                ("--hiprtc-no-builtin-header", _) => options.no_builtin_header = true,
                // Of the time when hiprtc came with a precompiled header; and CUDA's word for "what the device has".
                ("-hip-pch" | "-default-device" | "--device-as-default-execution-space", _) => {}
                // CUDA's spelling.
                (other, _) if other.starts_with("--std=") => {
                    options.rest.push(other[1..].to_owned());
                }
                (other, _) => options.rest.push(other.to_owned()),
            }
        }
        options
    }

    /// Whether the result depends on files that the key of the cache does not know: the program's own folders and headers.
    pub fn read_files(&self) -> bool {
        let reads = |option: &String| {
            [
                "-I",
                "-i",
                "--include",
                "-F",
                "@",
                "--config",
                "-fplugin",
                "-Xclang",
                "-B",
                "--sysroot",
                "-fmodule",
                "-fprofile",
            ]
            .iter()
            .any(|prefix| option.starts_with(prefix))
        };
        self.rest.iter().any(reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiprtc_takes_its_own_options() {
        let options = Options::parse(
            [
                "--gpu-architecture=gfx90a:xnack-",
                "--std=c++17",
                "-fgpu-rdc",
                "-hip-pch",
                " -O1 ",
                "",
            ],
            Some("-DX=1 -Wall"),
        );
        assert_eq!(options.target.as_deref(), Some("gfx90a:xnack-"));
        assert!(options.rdc);
        assert_eq!(options.rest, ["-std=c++17", "-O1", "-DX=1", "-Wall"]);
        assert!(!options.read_files());
    }

    #[test]
    fn folders_of_the_program_are_seen() {
        for option in ["-I/tmp", "-include", "-isystem", "@file"] {
            assert!(Options::parse([option], None).read_files(), "{option}");
        }
    }
}
