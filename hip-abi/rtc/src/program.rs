//! A program: source, headers and name expressions, then what they compile to.

use std::ffi::CString;

use crate::{
    cache::{self, Entry},
    compiler::{self, Header, Job},
    names,
    options::Options,
    result::*,
    target,
};

/// A program.
#[derive(Debug, Default)]
pub struct Program {
    name: String,
    source: String,
    headers: Vec<Header>,
    expressions: Vec<String>,
    /// The symbols of the expressions, after compiling; their addresses are given out.
    lowered: Vec<Option<CString>>,
    compiled: bool,
    rdc: bool,
    executable: Vec<u8>,
    bitcode: Vec<u8>,
    log: CString,
}

/// The last part of a path, as a name for the source file.
fn file_name(name: &str) -> &str {
    match name.rsplit('/').next() {
        None | Some("" | "." | "..") => "program.hip",
        Some(name) => name,
    }
}

impl Program {
    /// A program that is not compiled.
    pub fn new(name: &str, source: &str, headers: Vec<Header>) -> Self {
        Program {
            name: file_name(name).to_owned(),
            source: source.to_owned(),
            headers,
            ..Program::default()
        }
    }

    /// Adds a name expression.
    ///
    /// # Errors
    /// [`HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION`].
    pub fn add_expression(&mut self, expression: &str) -> Result {
        if self.compiled {
            return Err(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
        }
        let stripped = names::strip(expression);
        if stripped.is_empty() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        if !self.expressions.iter().any(|known| known == stripped) {
            self.expressions.push(stripped.to_owned());
        }
        Ok(())
    }

    /// The symbol of a name expression.
    ///
    /// # Errors
    /// [`HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION`], [`HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID`].
    pub fn lowered(&self, expression: &str) -> Result<&CString> {
        if !self.compiled {
            return Err(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
        }
        let stripped = names::strip(expression);
        let index = self
            .expressions
            .iter()
            .position(|known| known == stripped)
            .ok_or(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID)?;
        self.lowered
            .get(index)
            .and_then(Option::as_ref)
            .ok_or(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
    }

    /// Compiles it. The log holds what there is to say, also after a failure.
    ///
    /// # Errors
    /// [`HIPRTC_ERROR_COMPILATION`].
    pub fn compile(&mut self, options: &[&str]) -> Result {
        (self.executable, self.bitcode, self.lowered) = Default::default();
        let appended = std::env::var("HIPRTC_COMPILE_OPTIONS_APPEND").ok();
        let options = Options::parse(options.iter().copied(), appended.as_deref());
        match self.build(&options) {
            Ok(entry) => {
                self.lowered = entry
                    .names
                    .into_iter()
                    .map(|name| CString::new(name?).ok())
                    .collect();
                self.rdc = options.rdc;
                self.executable = entry.compiled.executable;
                self.bitcode = entry.compiled.bitcode;
                self.set_log(entry.compiled.log);
                self.compiled = true;
                Ok(())
            }
            Err(log) => {
                self.set_log(log);
                Err(HIPRTC_ERROR_COMPILATION)
            }
        }
    }

    fn set_log(&mut self, log: String) {
        self.log = CString::new(log.replace('\0', " ")).unwrap_or_default();
    }

    fn build(&self, options: &Options) -> std::result::Result<Entry, String> {
        let Some(target) = options.target.clone().or_else(target::current_device) else {
            return Err(
                "hiprtc: no target: give --offload-arch=gfx..., or make a HIP device available\n"
                    .to_owned(),
            );
        };
        let candidates = compiler::candidates()?;
        let source = format!("{}{}", self.source, names::constants(&self.expressions));
        let cached = cache::folder()
            .filter(|_| !self.reads_files(options))
            .map(|folder| (folder, self.key(&source, options, &target, &candidates)));
        if let Some((folder, key)) = &cached
            && let Some(entry) = cache::read(folder, key)
            && entry.names.len() == self.expressions.len()
        {
            return Ok(entry);
        }
        let compiled = compiler::choose(&candidates, &target)?.compile(&Job {
            name: &self.name,
            source: &source,
            headers: &self.headers,
            options,
            target: &target,
        })?;
        let entry = Entry {
            names: names::lowered(&compiled.executable, self.expressions.len()),
            compiled,
        };
        if let Some((folder, key)) = &cached {
            cache::write(folder, key, &entry);
        }
        Ok(entry)
    }

    /// Whether files that the key of the cache does not know go into the result.
    fn reads_files(&self, options: &Options) -> bool {
        let texts =
            std::iter::once(&self.source).chain(self.headers.iter().map(|header| &header.text));
        let absolute = |line: &str| {
            line.trim_start().strip_prefix('#').is_some_and(|rest| {
                rest.contains("include") && (rest.contains("\"/") || rest.contains("</"))
            })
        };
        options.read_files() || texts.flat_map(|text| text.lines()).any(absolute)
    }

    fn key(
        &self,
        source: &str,
        options: &Options,
        target: &str,
        candidates: &[compiler::Compiler],
    ) -> String {
        let mut parts = vec![
            source.to_owned(),
            self.name.clone(),
            target.to_owned(),
            format!("{} {}", options.rdc, options.no_builtin_header),
            options.rest.join("\n"),
        ];
        for header in &self.headers {
            parts.push(header.name.clone());
            parts.push(header.text.clone());
        }
        parts.extend(candidates.iter().map(compiler::Compiler::identity));
        cache::key(parts.iter().map(String::as_str))
    }

    /// The code object; empty for relocatable device code and before compiling.
    pub fn code(&self) -> &[u8] {
        if self.rdc { &[] } else { &self.executable }
    }

    /// The bitcode.
    ///
    /// # Errors
    /// [`HIPRTC_ERROR_INVALID_PROGRAM`] unless it was compiled as relocatable device code.
    pub fn bitcode(&self) -> Result<&[u8]> {
        if self.rdc && !self.bitcode.is_empty() {
            Ok(&self.bitcode)
        } else {
            Err(HIPRTC_ERROR_INVALID_PROGRAM)
        }
    }

    /// What the compiler said.
    pub fn log(&self) -> &CString {
        &self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_names_are_file_names() {
        assert_eq!(file_name("a/b.cu"), "b.cu");
        for name in ["", "..", "a/"] {
            assert_eq!(file_name(name), "program.hip", "{name}");
        }
    }

    #[test]
    fn order_of_expressions_and_compiling() {
        let mut program = Program::new("x", "", Vec::new());
        assert_eq!(
            program.add_expression(" & "),
            Err(HIPRTC_ERROR_INVALID_INPUT)
        );
        assert_eq!(program.add_expression("f<int>"), Ok(()));
        assert_eq!(
            program.lowered("f<int>"),
            Err(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
        );
        program.compiled = true;
        assert_eq!(
            program.add_expression("g"),
            Err(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
        );
        assert_eq!(
            program.lowered("g"),
            Err(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
        );
    }

    #[test]
    fn files_by_absolute_path_are_not_cached() {
        let options = Options::default();
        let reads = |source| Program::new("x", source, Vec::new()).reads_files(&options);
        assert!(reads("# include \"/tmp/a.h\"\n"));
        assert!(!reads("#include <hip/hip_fp16.h>\nint x = 4 / 2;\n"));
    }
}
