//! `gneiss replay`: plays a recording or a scenario through the runtime's own queues, over a simulated device in virtual time, and compares
//! the result with the recording. The same file and options give the same bytes.

use crate::USED_WRONGLY;
use crate::arguments::{Dispatch, Flush, Replay as Options, WaitMode};
use crate::demangle::demangle;
use crate::explain::{count, scenario_of, time};
use crate::terminal::Terminal;
use gneiss_clr::replay::{
    self, Doer, FlushRule, MOST_COPY_ENGINES, MOST_GPUS, MOST_HW_QUEUES, MOST_OTHERS, Outcome,
    Policy, Recorded, Workload, scenario,
};
use gneiss_clr::trace::TraceError;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the subcommand.
pub fn replay(options: &Options, terminal: &Terminal) -> ExitCode {
    let failed = |text: &str| {
        terminal.error(&format!("{}: {text}", options.file.display()));
        ExitCode::FAILURE
    };
    let (workload, mut policy, recorded) = match load(options) {
        Ok(loaded) => loaded,
        Err(error) => return failed(&error),
    };
    if let Err(text) = change(&mut policy, options) {
        terminal.error(&text);
        return ExitCode::from(USED_WRONGLY);
    }
    for problem in &workload.problems {
        terminal.warn(problem);
    }
    let outcome = match replay::run(&workload, &policy, options.html.is_some()) {
        Ok(outcome) => outcome,
        Err(error) => return failed(&error.to_string()),
    };
    if let (Some(path), Some(trace)) = (&options.html, &outcome.trace)
        && let Err(error) = std::fs::write(path, crate::explain::page(trace))
    {
        return failed(&format!("{}: {error}", path.display()));
    }
    let text = if options.json {
        format!(
            "{:#}\n",
            as_json(&workload, &policy, &outcome, recorded.as_ref())
        )
    } else {
        as_text(&workload, &policy, &outcome, recorded.as_ref())
    };
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => failed(&error.to_string()),
        _ => ExitCode::SUCCESS,
    }
}

fn load(options: &Options) -> Result<(Workload, Policy, Option<Recorded>), String> {
    match replay::load(&options.file) {
        Ok((workload, recorded)) => Ok((workload, Policy::default(), Some(recorded))),
        Err(TraceError::NoTrace) => {
            let (workload, policy) = scenario_of(&options.file)?;
            Ok((workload, policy, None))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn change(policy: &mut Policy, options: &Options) -> Result<(), String> {
    let bounded = |name: &str, value: Option<usize>, most: usize| match value {
        Some(value) if !(1..=most).contains(&value) => Err(format!("{name}: from 1 to {most}")),
        value => Ok(value),
    };
    if let Some(value) = bounded("--hw-queues", options.hw_queues, MOST_HW_QUEUES)? {
        policy.hw_queues = value;
    }
    if let Some(value) = bounded("--batch", options.batch, MOST_OTHERS)? {
        policy.batch = value;
    }
    if let Some(value) = bounded("--copy-engines", options.copy_engines, MOST_COPY_ENGINES)? {
        policy.copy_engines = value;
    }
    if let Some(value) = bounded("--gpus", options.gpus, MOST_GPUS)? {
        policy.gpus = Some(value);
    }
    if let Some(value) = bounded(
        "--concurrent-kernels",
        options.concurrent_kernels,
        MOST_OTHERS,
    )? {
        policy.concurrent_kernels = Some(value);
    }
    if let Some(text) = &options.launch_cost {
        let cost = scenario::parse_time(text).map_err(|error| format!("--launch-cost: {error}"))?;
        policy.launch_cost = Some(cost);
    }
    if let Some(dispatch) = options.dispatch {
        policy.direct_dispatch = dispatch == Dispatch::Direct;
    }
    if let Some(flush) = options.flush {
        policy.flush = match flush {
            Flush::Batch => FlushRule::Batch,
            Flush::Each => FlushRule::Each,
            Flush::Wait => FlushRule::Wait,
        };
    }
    if let Some(wait) = options.wait {
        policy.cpu_wait = wait == WaitMode::Cpu;
    }
    Ok(())
}

fn rules(policy: &Policy) -> Value {
    json!({
        "hw_queues": policy.hw_queues,
        "dispatch": if policy.direct_dispatch { "direct" } else { "worker" },
        "wait": if policy.cpu_wait { "cpu" } else { "barrier" },
        "batch": policy.batch,
        "flush": policy.flush.name(),
        "copy_engines": policy.copy_engines,
        "gpus": policy.gpus,
        "launch_cost_ns": policy.launch_cost,
        "concurrent_kernels": policy.concurrent_kernels,
    })
}

/// Commands that a JSON result lists one by one, at most.
const LISTED: usize = 100_000;

fn as_json(
    workload: &Workload,
    policy: &Policy,
    outcome: &Outcome,
    recorded: Option<&Recorded>,
) -> Value {
    let commands: Vec<Value> = workload
        .commands()
        .iter()
        .zip(&outcome.spans)
        .enumerate()
        .take(LISTED)
        .map(|(index, (command, span))| {
            let command = workload.shape(command);
            json!({
                "index": index,
                "stream": workload.queues[command.queue as usize].name,
                "kind": command.kind.name(),
                "name": workload.names.get(command.name as usize),
                "start_ns": span.start,
                "end_ns": span.end,
            })
        })
        .collect();
    json!({
        "rules": rules(policy),
        "makespan_ns": outcome.makespan,
        "busy_ns": outcome.busy,
        "overlap_ns": outcome.overlap,
        "idle_ns": outcome.idle(),
        "work_ns": outcome.work,
        "host_wait_ns": outcome.host_wait,
        "hw_queues": outcome.hw_queues,
        "recorded": recorded.map(|recorded| json!({
            "makespan_ns": recorded.makespan,
            "busy_ns": recorded.busy,
            "overlap_ns": recorded.overlap,
            "idle_ns": recorded.makespan.saturating_sub(recorded.busy),
            "host_wait_ns": recorded.host_wait,
        })),
        "commands": commands,
    })
}

fn as_text(
    workload: &Workload,
    policy: &Policy,
    outcome: &Outcome,
    recorded: Option<&Recorded>,
) -> String {
    let mut text = String::new();
    let gpus = policy.gpus.unwrap_or(workload.devices);
    let _ = writeln!(
        text,
        "{} on {}, {}, {} a priority, {} dispatch, waits by {}, batches of {}, {}",
        count(workload.commands().len(), "command"),
        count(workload.queues.len(), "stream"),
        count(gpus, "GPU"),
        count(policy.hw_queues, "hardware queue"),
        if policy.direct_dispatch {
            "direct"
        } else {
            "worker"
        },
        if policy.cpu_wait {
            "the host"
        } else {
            "barrier packets"
        },
        policy.batch,
        count(policy.copy_engines, "copy engine"),
    );
    let rows = [
        (
            "makespan",
            outcome.makespan,
            recorded.map(|recorded| recorded.makespan),
        ),
        ("busy", outcome.busy, recorded.map(|recorded| recorded.busy)),
        (
            "overlap",
            outcome.overlap,
            recorded.map(|recorded| recorded.overlap),
        ),
        (
            "idle",
            outcome.idle(),
            recorded.map(|recorded| recorded.makespan.saturating_sub(recorded.busy)),
        ),
        (
            "host waits",
            outcome.host_wait,
            recorded.map(|recorded| recorded.host_wait),
        ),
    ];
    for (name, replayed, before) in rows {
        let _ = match before {
            Some(before) => writeln!(
                text,
                "{name:<12} {:>12}   recorded {:>12}   {}",
                time(replayed),
                time(before),
                ratio(replayed, before)
            ),
            None => writeln!(text, "{name:<12} {:>12}", time(replayed)),
        };
    }
    if workload.commands().len() <= 60 {
        text.push('\n');
        for (command, span) in workload.commands().iter().zip(&outcome.spans) {
            let command = workload.shape(command);
            if command.doer == Doer::Marker {
                continue;
            }
            let name = workload
                .names
                .get(command.name as usize)
                .map_or_else(String::new, |name| demangle(name));
            let _ = writeln!(
                text,
                "{:>12} to {:>12}  {}: {name}",
                time(span.start),
                time(span.end),
                workload.queues[command.queue as usize].name,
            );
        }
    }
    text
}

fn ratio(now: u64, before: u64) -> String {
    if before == 0 {
        return String::new();
    }
    format!("x {:.2}", now as f64 / before as f64)
}
