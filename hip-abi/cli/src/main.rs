//! The `gneiss` command: runs programs over the runtime and tells what is in them and around them.
//!
//! Exit codes: `run` gives the program's own, 125 when the command is used wrongly, 126 when the program cannot be
//! started and 127 when it is not there, as a shell does. The other subcommands give 0, 1 when what they looked at has a
//! fault, and 125 when used wrongly.

mod arguments;
mod choice;
mod coverage;
mod demangle;
mod disasm;
mod doctor;
mod environment;
mod explain;
mod info;
mod inspect;
mod prefix;
mod replay;
mod run;
mod symbols;
mod table;
mod terminal;
mod trace;

use arguments::{Cli, Command};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// The command itself is used wrongly.
const USED_WRONGLY: u8 = 125;

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(arguments::with_default_command(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return ExitCode::from(USED_WRONGLY);
            }
            // Help and version go to stdout and are no errors.
            let printed = printed.and_then(|()| std::io::stdout().flush());
            return finish(
                printed.map(|()| ExitCode::SUCCESS),
                &terminal::Terminal::new(false, false),
            );
        }
    };
    let terminal = terminal::Terminal::new(cli.quiet, cli.verbose);
    let result = match cli.command {
        Command::Run(options) => return run::run(&options, &terminal),
        Command::Info(options) => info::info(&options, &terminal),
        Command::Doctor(options) => doctor::doctor(&options, &terminal),
        Command::Inspect(options) => inspect::inspect(&options, &terminal),
        Command::Disasm(options) => disasm::disasm(&options, &terminal),
        Command::Coverage(options) => coverage::coverage(&options, &terminal),
        Command::Trace(options) => return trace::trace(&options, &terminal),
        Command::Explain(options) => return explain::explain(&options, &terminal),
        Command::Replay(options) => return replay::replay(&options, &terminal),
        Command::Help(topic) => environment::help(&topic, &terminal),
    };
    finish(result, &terminal)
}

/// The exit code. A closed pipe is no reason to complain.
fn finish(result: std::io::Result<ExitCode>, terminal: &terminal::Terminal) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            terminal.error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
