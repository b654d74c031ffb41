//! `gneiss help`: the subcommands' help, and the list of environment variables; and what is wrong with those that are set.

use crate::USED_WRONGLY;
use crate::arguments::{Cli, Help};
use crate::table::Table;
use crate::terminal::Terminal;
use clap::CommandFactory;
use gneiss_settings::{AMDS, OURS};
use std::io::{self, Write};
use std::process::ExitCode;

/// All variables, ours first.
pub fn names() -> impl Iterator<Item = &'static str> {
    OURS.iter()
        .chain(AMDS)
        .map(|variable| variable.name)
        .chain(["LD_LIBRARY_PATH", "LD_PRELOAD", "OCL_ICD_VENDORS"])
}

/// What holds for all variables.
const RULES: &str = "\
A value of a GNEISS_ variable that is not accepted is refused: `gneiss run` and `gneiss trace` exit with 125, the libraries do not start
(hipErrorNoDevice, an error of hsa_init), and one line on stderr names the variable, the value and what is accepted. An empty value is as
none. Names that begin with GNEISS_ and do not exist lead to a warning of `gneiss run`. For AMD's variables a value that makes no sense
counts as none, as in AMD's runtime; `gneiss run` warns of it.

`gneiss run` puts the libraries' directory into LD_LIBRARY_PATH, and with --preload the libraries into LD_PRELOAD; OCL_ICD_VENDORS names
the folder that tells the OpenCL loader of the OpenCL library.
";

/// Checks the value of `--gpus`, if it is there.
///
/// # Errors
/// What is wrong with it, for the person who gave it.
pub fn check_gpus(spec: Option<&str>) -> Result<(), String> {
    match spec.map(gneiss_settings::gpus::parse) {
        Some(Err(fault)) => Err(format!("--gpus: {fault}")),
        _ => Ok(()),
    }
}

/// The values in the environment that are refused, and what is only worth a warning. `--gpus` overrules `GNEISS_GPUS`.
pub fn problems(gpus: Option<&str>) -> (Vec<String>, Vec<String>) {
    let overruled = |name: &str| name == "GNEISS_GPUS" && gpus.is_some();
    let value = |name: &str| std::env::var_os(name).filter(|_| !overruled(name));
    let refused = gneiss_settings::check_in(value).err().unwrap_or_default();
    let senseless = AMDS
        .iter()
        .filter_map(|variable| variable.refuse(&value(variable.name)?))
        .map(|refused| format!("{refused}; it counts as none"));
    let unknown = std::env::vars_os().filter_map(|(name, _)| {
        let nearest = gneiss_settings::unknown(&name)?;
        let hint = nearest.map_or("`gneiss help env` lists all".to_owned(), |nearest| {
            format!("is {nearest} meant?")
        });
        Some(format!(
            "there is no variable {}; {hint}",
            name.to_string_lossy()
        ))
    });
    (
        refused.iter().map(ToString::to_string).collect(),
        senseless.chain(unknown).collect(),
    )
}

/// Writes a subcommand's help; unlike clap's own way, a closed stdout is an error that the caller sees.
fn print_help(command: &mut clap::Command) -> io::Result<()> {
    write!(io::stdout().lock(), "{}", command.render_help())
}

/// Shows help for a topic.
///
/// # Errors
/// When stdout fails.
pub fn help(options: &Help, terminal: &Terminal) -> io::Result<ExitCode> {
    let mut command = Cli::command();
    match options.topic.as_deref() {
        None => print_help(&mut command)?,
        Some("env" | "environment") => {
            let mut out = io::stdout().lock();
            let mut table = Table::new(0, &["variable", "meaning"]);
            for variable in OURS.iter().chain(AMDS) {
                table.row([variable.name.to_owned(), variable.meaning.to_owned()]);
            }
            table.write(&mut out)?;
            writeln!(out, "\n{}", RULES.trim_end())?;
        }
        Some(topic) => match command.find_subcommand_mut(topic) {
            Some(subcommand) => print_help(subcommand)?,
            None => {
                let topics: Vec<_> = std::iter::once("env")
                    .chain(command.get_subcommands().map(clap::Command::get_name))
                    .collect();
                terminal.error(&format!(
                    "no help about \"{topic}\": there is help about {}",
                    topics.join(", ")
                ));
                return Ok(ExitCode::from(USED_WRONGLY));
            }
        },
    }
    io::stdout().flush()?;
    Ok(ExitCode::SUCCESS)
}
