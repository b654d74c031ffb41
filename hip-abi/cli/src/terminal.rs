//! Messages to the person at the terminal: how much is said, and whether in colour.

use std::io::IsTerminal;

/// How much is said on stderr, and which streams take colour.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    quiet: bool,
    /// Say more.
    pub verbose: bool,
    stdout_colour: bool,
    stderr_colour: bool,
}

impl Terminal {
    /// Colour only on a terminal, and never with `NO_COLOR` set.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let stdout_colour = allowed && std::io::stdout().is_terminal();
        let stderr_colour = allowed && std::io::stderr().is_terminal();
        Self {
            quiet,
            verbose,
            stdout_colour,
            stderr_colour,
        }
    }

    /// An error, always said.
    pub fn error(&self, text: &str) {
        self.say("31", "error", text);
    }

    /// A warning, unless quiet.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.say("33", "warning", text);
        }
    }

    /// A remark, when verbose.
    pub fn note(&self, text: &str) {
        if self.verbose {
            self.say("36", "note", text);
        }
    }

    fn say(&self, colour: &str, word: &str, text: &str) {
        use std::io::Write;
        let mut out = std::io::stderr().lock();
        // Nobody is left to tell when stderr is closed.
        let _ = if self.stderr_colour {
            writeln!(out, "gneiss: \x1b[{colour}m{word}\x1b[0m: {text}")
        } else {
            writeln!(out, "gneiss: {word}: {text}")
        };
    }

    /// Text in bold on stdout, where it takes colour.
    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A word that says that all is well.
    pub fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// A word that says that something is wrong.
    pub fn bad(&self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.stdout_colour {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
