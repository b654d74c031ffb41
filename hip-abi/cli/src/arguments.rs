//! The command line, as clap sees it.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs HIP and HSA programs on a software AMD GPU.
#[derive(Debug, Parser)]
#[command(
    name = "gneiss",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
#[command(
    after_help = "`gneiss PROGRAM ARGS...` is short for `gneiss run PROGRAM ARGS...`.\nEnvironment variables: `gneiss help env`."
)]
pub struct Cli {
    /// Say nothing but errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program over the runtime (the default).
    Run(Run),
    /// List the devices.
    Info(Info),
    /// Tell which libraries a program would load, and why.
    Doctor(Doctor),
    /// List bundles, code objects and kernels in a program, library, object file or bundle.
    Inspect(Inspect),
    /// Write the machine code of kernels and functions.
    Disasm(Disasm),
    /// Tell which instructions of files, or of a whole target, are executed, and how exactly.
    Coverage(Coverage),
    /// Run a program and record every command, state change, packet and API call.
    Trace(Trace),
    /// Show a recording in words and as a drawing.
    Explain(Explain),
    /// Run a recording or a scenario again, in simulated time and under other rules.
    Replay(Replay),
    /// Show help; `help env` lists the environment variables.
    Help(Help),
}

/// `gneiss run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Which GPUs there are: targets with optional counts, as gfx90a, gfx942:8 or gfx1100,gfx906.
    #[arg(long, value_name = "SPEC")]
    pub gpus: Option<String>,
    /// Whose HIP library to use: ours, or AMD's own on our HSA core.
    #[arg(long, value_name = "WHOSE", default_value = "gneiss")]
    pub hip: Hip,
    /// Load the libraries first, for programs whose RPATH would find others.
    #[arg(long)]
    pub preload: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Whose libamdhip64 a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Hip {
    /// The one beside this command.
    Gneiss,
    /// AMD's, where the system has it.
    Amd,
}

/// `gneiss info`.
#[derive(Debug, Args)]
pub struct Info {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// List every function of AMD's libraries with its version node and whether ours export it.
    #[arg(long, conflicts_with = "gpus")]
    pub api: bool,
    /// Which GPUs there are, as for `gneiss run`.
    #[arg(long, value_name = "SPEC")]
    pub gpus: Option<String>,
}

/// `gneiss doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Which GPUs there are, as for `gneiss run`: the program's code is compared with them.
    #[arg(long, value_name = "SPEC")]
    pub gpus: Option<String>,
    /// The program to look at; without one, only the installation is checked.
    #[arg(trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `gneiss inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// The file.
    pub file: PathBuf,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// Only code objects for this target, as gfx90a.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<gneiss_fatbin::TargetId>,
    /// Only kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub kernel: Option<String>,
}

/// `gneiss disasm`.
#[derive(Debug, Args)]
pub struct Disasm {
    /// The file.
    pub file: PathBuf,
    /// Only code objects for this target, as gfx90a.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<gneiss_fatbin::TargetId>,
    /// Only kernels and functions whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub kernel: Option<String>,
}

/// `gneiss coverage`.
#[derive(Debug, Args)]
#[command(
    override_usage = "gneiss coverage [OPTIONS] <FILES>...\n       gneiss coverage [OPTIONS] --target <TARGET>",
    after_help = "The exit code is 1 if anything in the files is not executed; for a whole instruction set, if something is not executed for no\nstated reason (unexplained)."
)]
pub struct Coverage {
    /// Programs, libraries, object files, bundles or code objects; without one, the whole instruction set of `--target` is listed.
    #[arg(required_unless_present = "target")]
    pub files: Vec<PathBuf>,
    /// A target, as gfx90a; with files, only their code for it.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<gneiss_fatbin::TargetId>,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

/// `gneiss trace`.
#[derive(Debug, Args)]
pub struct Trace {
    /// The file to record into; an older trace there is replaced.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Write the trace as JSON Lines, too.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a file for ui.perfetto.dev, too.
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Do not ask the device for the times of every command: disturbs the program least.
    #[arg(long)]
    pub no_times: bool,
    /// Which GPUs there are, as for `gneiss run`.
    #[arg(long, value_name = "SPEC")]
    pub gpus: Option<String>,
    /// Whose HIP library to use. Only ours records: `amd` is refused.
    #[arg(long, value_name = "WHOSE", default_value = "gneiss")]
    pub hip: Hip,
    /// Load the libraries first, as for `gneiss run`.
    #[arg(long)]
    pub preload: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `gneiss explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The trace, or a scenario, which is run first.
    pub file: PathBuf,
    /// Write a page for a browser, too: one file, nothing else needed.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Columns of the drawing; unset: as the terminal, else 100.
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
}

/// `gneiss replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The trace or scenario.
    pub file: PathBuf,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the schedule as a page for a browser.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Shared hardware queues of each priority.
    #[arg(long, value_name = "N")]
    pub hw_queues: Option<usize>,
    /// Who submits: the worker threads, or the thread that enqueues.
    #[arg(long, value_name = "WHO")]
    pub dispatch: Option<Dispatch>,
    /// Who waits for work of other queues: the host, or barrier packets.
    #[arg(long, value_name = "HOW")]
    pub wait: Option<WaitMode>,
    /// Commands in a batch.
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// What ends batches: `batch` (what follows, and --batch), `each` (every kernel is one), `wait` (a marker, too, and the worker waits there
    /// until all before it has ended, as CLR's worker did).
    #[arg(long, value_name = "RULE")]
    pub flush: Option<Flush>,
    /// Copy engines of each device.
    #[arg(long, value_name = "N")]
    pub copy_engines: Option<usize>,
    /// GPUs that the streams are spread over, in turn.
    #[arg(long, value_name = "N")]
    pub gpus: Option<usize>,
    /// What a launch costs the calling thread, as 500ns or 3us.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub launch_cost: Option<String>,
    /// Kernels of different hardware queues that run at once on a device; unset: any number.
    #[arg(long, value_name = "N")]
    pub concurrent_kernels: Option<usize>,
}

/// Who submits commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Dispatch {
    /// The worker threads.
    Worker,
    /// The calling thread.
    Direct,
}

/// Who waits for other queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WaitMode {
    /// The host.
    Cpu,
    /// Barrier packets.
    Barrier,
}

/// What ends batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Flush {
    /// What follows, and their size.
    Batch,
    /// Every kernel.
    Each,
    /// Also markers, at which the worker waits.
    Wait,
}

/// `gneiss help`.
#[derive(Debug, Args)]
pub struct Help {
    /// `env`, or a subcommand.
    pub topic: Option<String>,
}

/// Puts `run` before a program that stands where a subcommand would: `gneiss --gpus gfx90a ./app` is
/// `gneiss run --gpus gfx90a ./app`.
pub fn with_default_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        match argument.to_str() {
            Some("-q" | "--quiet" | "-v" | "--verbose") => at += 1,
            Some(
                "-h" | "--help" | "-V" | "--version" | "run" | "info" | "doctor" | "inspect"
                | "disasm" | "coverage" | "trace" | "explain" | "replay" | "help",
            ) => return arguments,
            _ => {
                arguments.insert(at, "run".into());
                return arguments;
            }
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(with_default_command(line.split(' ').map(OsString::from)))
    }

    fn run(line: &str) -> Run {
        match parse(line).map(|cli| cli.command) {
            Ok(Command::Run(run)) => run,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_the_default_and_leaves_the_programs_options_alone() {
        for line in [
            "gneiss ./app -v --json x",
            "gneiss run ./app -v --json x",
            "gneiss run -- ./app -v --json x",
        ] {
            assert_eq!(run(line).program, ["./app", "-v", "--json", "x"]);
        }
        let options = run("gneiss --gpus gfx942:8 --hip amd --preload -- app run");
        assert_eq!(
            (options.gpus.as_deref(), options.hip, options.preload),
            (Some("gfx942:8"), Hip::Amd, true)
        );
        assert_eq!(options.program, ["app", "run"]);
        assert!(parse("gneiss -q app").is_ok_and(|cli| cli.quiet));
    }

    #[test]
    fn wrong_use_is_an_error() {
        for line in [
            "gneiss run",
            "gneiss run --gpus gfx90a",
            "gneiss run --hip nvidia app",
            "gneiss inspect",
            "gneiss --nonsense app",
        ] {
            assert!(parse(line).is_err_and(|e| e.use_stderr()), "{line}");
        }
        assert!(parse("gneiss --help").is_err_and(|e| !e.use_stderr()));
    }
}
