//! Runs of programs over the prefix: their output, their exit, and an end when they hang.

use std::{
    ffi::{OsStr, OsString},
    fmt::Debug,
    io::Read,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::Prefix;

/// Runs the `gneiss` command to its end.
///
/// # Panics
///
/// When it cannot be started.
pub fn gneiss<A: AsRef<OsStr>>(arguments: &[A]) -> Output {
    Command::new(Prefix::find().gneiss())
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// Runs the `gneiss` command, which must succeed, and gives what it wrote to stdout.
///
/// # Panics
///
/// When it cannot be started, or exits with anything but 0.
#[track_caller]
pub fn gneiss_succeeds<A: AsRef<OsStr> + Debug>(arguments: &[A]) -> String {
    let output = gneiss(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{arguments:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// How the program finds the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Launcher {
    /// `gneiss run`.
    Gneiss,
    /// `gneiss run --hip amd`: AMD's own libamdhip64 over our HSA runtime.
    GneissHipAmd,
    /// `LD_LIBRARY_PATH` alone.
    LibraryPath,
    /// As it is: a program that does not use the runtime.
    Nothing,
}

/// A program about to run over the prefix.
#[derive(Debug, Clone)]
pub struct Run {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    launcher: Launcher,
    limit: Duration,
    folder: Option<PathBuf>,
}

impl Run {
    /// Under `gneiss run`, with two minutes to end.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            launcher: Launcher::Gneiss,
            limit: Duration::from_secs(120),
            folder: None,
        }
    }

    /// More arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// One more environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// The GPUs of the machine, in `GNEISS_GPUS`' syntax.
    #[must_use]
    pub fn gpus(self, specification: &str) -> Self {
        self.env("GNEISS_GPUS", specification)
    }

    /// In another working folder.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// This run in both dispatch modes: a worker submits for a stream, or the calling thread does.
    pub fn in_both_modes(&self) -> [Self; 2] {
        ["0", "1"].map(|mode| self.clone().env("AMD_DIRECT_DISPATCH", mode))
    }

    /// With AMD's libamdhip64 in place of ours.
    #[must_use]
    pub fn hip_amd(mut self) -> Self {
        self.launcher = Launcher::GneissHipAmd;
        self
    }

    /// Without the command: `LD_LIBRARY_PATH` alone.
    #[must_use]
    pub fn library_path(mut self) -> Self {
        self.launcher = Launcher::LibraryPath;
        self
    }

    /// Without the runtime: for programs that do not use it.
    #[must_use]
    pub fn without_runtime(mut self) -> Self {
        self.launcher = Launcher::Nothing;
        self
    }

    /// Another limit than two minutes, after which the run counts as hung.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The command line that [`Run::run`] starts.
    pub fn command(&self) -> Command {
        let mut command = match self.launcher {
            Launcher::Nothing => Command::new(&self.program),
            Launcher::LibraryPath => {
                let mut command = Command::new(&self.program);
                command.env("LD_LIBRARY_PATH", Prefix::find().lib());
                command
            }
            Launcher::Gneiss | Launcher::GneissHipAmd => {
                let mut command = Command::new(Prefix::find().gneiss());
                command.arg("run");
                if self.launcher == Launcher::GneissHipAmd {
                    command.args(["--hip", "amd"]);
                }
                command.arg("--").arg(&self.program);
                command
            }
        };
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it to its end, or to the limit.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn run(&self) -> Outcome {
        let mut command = self.command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.process_group(0);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let (status, hung) = wait(&mut child, self.limit);
        Outcome {
            command: format!("{command:?}"),
            status,
            hung,
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    command: String,
    /// The exit status; of a run that hung, that of the kill.
    pub status: ExitStatus,
    /// Whether the limit was reached and the program killed.
    pub hung: bool,
    /// What it wrote to its output.
    pub stdout: String,
    /// What it, and the runtime, wrote to the error stream.
    pub stderr: String,
}

impl Outcome {
    /// Fails the test unless the program exited with 0.
    ///
    /// # Panics
    ///
    /// With everything that the program said.
    #[track_caller]
    pub fn expect_success(&self) -> &Self {
        self.expect_code(0)
    }

    /// Fails the test unless the program exited with `code`.
    ///
    /// # Panics
    ///
    /// With everything that the program said.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert!(
            !self.hung && self.status.code() == Some(code),
            "expected exit code {code}\n{}",
            self.describe()
        );
        self
    }

    /// Fails the test unless the program died by `signal`; `gneiss run` passes on 128 + the signal or dies of it too.
    ///
    /// # Panics
    ///
    /// With everything that the program said.
    #[track_caller]
    pub fn expect_signal(&self, signal: i32) -> &Self {
        let died = self.status.signal() == Some(signal) || self.status.code() == Some(128 + signal);
        assert!(
            !self.hung && died,
            "expected death by signal {signal}\n{}",
            self.describe()
        );
        self
    }

    /// Fails the test unless the error stream holds every one of `parts`.
    ///
    /// # Panics
    ///
    /// With the part that is missing and everything that the program said.
    #[track_caller]
    pub fn expect_stderr(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "the error stream does not say `{part}`\n{}",
                self.describe()
            );
        }
        self
    }

    /// Everything about the run, for a failure message.
    pub fn describe(&self) -> String {
        let hung = if self.hung {
            " (killed at its time limit)"
        } else {
            ""
        };
        format!(
            "command: {}\nended: {}{hung}\n--- stdout\n{}--- stderr\n{}---",
            self.command, self.status, self.stdout, self.stderr
        )
    }
}

/// Reads a pipe to its end on a thread of its own.
fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A pipe that breaks leaves what came before; the exit status tells the rest.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the child, at most for `limit`; then kills it and what it started.
fn wait(child: &mut Child, limit: Duration) -> (ExitStatus, bool) {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return (status, false);
        }
        if start.elapsed() > limit {
            let group = libc::pid_t::try_from(child.id()).expect("a process id is a pid_t");
            // SAFETY: kill has no memory effects; the group is the child's own and the child has not been waited for.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            return (child.wait().expect("a killed child ends"), true);
        }
        thread::sleep(Duration::from_millis(2));
    }
}
