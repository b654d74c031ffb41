//! The streams over time, in columns of text.

use super::analysis::is_copy;
use super::time;
use crate::trace::span;
use gneiss_clr::trace::format::CommandKind;
use gneiss_clr::trace::{Command, Trace};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Marks, the later ones win within a column.
const WAITING: char = '.';
const MARKER: char = '|';
const HOST: char = 'h';
const COPY: char = '=';
const KERNEL: char = '#';

/// Draws a trace.
pub fn draw(trace: &Trace, width: usize) -> String {
    let first = trace.commands.first().map_or(0, |command| command.queued);
    let last = trace
        .commands
        .iter()
        .filter_map(span)
        .map(|(_, end)| end)
        .max()
        .unwrap_or(first)
        .max(first);
    let label = trace
        .queues
        .values()
        .map(|queue| queue.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(24);
    let columns = width.saturating_sub(label + 3).max(10);
    let total = (last - first).max(1);
    let column = |at: u64| {
        let at = at.clamp(first, last) - first;
        ((u128::from(at) * columns as u128 / u128::from(total)) as usize).min(columns - 1)
    };
    let mut text = String::new();
    let _ = writeln!(text, "{:label$} +{}", "", axis(columns, total));
    let mut commands: HashMap<_, Vec<&Command>> = HashMap::new();
    for command in &trace.commands {
        commands.entry(command.queue).or_default().push(command);
    }
    for queue in trace.queues.values() {
        let mut row = vec![' '; columns];
        let mut put = |from: usize, to: usize, mark: char| {
            // Times of a damaged file may contradict each other.
            for place in &mut row[from..=to.max(from)] {
                if rank(mark) > rank(*place) {
                    *place = mark;
                }
            }
        };
        for command in commands.get(&queue.id).into_iter().flatten() {
            let Some((begin, end)) = span(command) else {
                put(column(command.queued), columns - 1, WAITING);
                continue;
            };
            put(column(command.queued), column(begin), WAITING);
            // A command that ends where the next column begins does not reach into it.
            let to = column(end.saturating_sub(1).max(begin));
            put(column(begin), to.max(column(begin)), mark(command));
        }
        let name: String = queue.name.chars().take(label).collect();
        let row: String = row.into_iter().collect();
        let _ = writeln!(text, "{name:label$} |{}", row.trim_end());
    }
    let _ = writeln!(
        text,
        "{:label$}  {KERNEL} kernel  {COPY} copy  {HOST} host  {MARKER} marker  {WAITING} waits",
        ""
    );
    text
}

fn mark(command: &Command) -> char {
    match command.kind {
        CommandKind::Kernel => KERNEL,
        kind if is_copy(kind) => COPY,
        CommandKind::Marker | CommandKind::Barrier => MARKER,
        _ => HOST,
    }
}

fn rank(mark: char) -> u8 {
    match mark {
        WAITING => 1,
        MARKER => 2,
        HOST => 3,
        COPY => 4,
        KERNEL => 5,
        _ => 0,
    }
}

/// A line with times below it every twenty columns or so.
fn axis(columns: usize, total: u64) -> String {
    let mut line: Vec<char> = vec!['-'; columns];
    for at in (0..columns).step_by(20) {
        let text = format!(
            "{} ",
            time((u128::from(total) * at as u128 / columns as u128) as u64)
        );
        if at + text.len() < columns {
            for (offset, letter) in text.chars().enumerate() {
                line[at + offset] = letter;
            }
        }
    }
    line.into_iter().collect()
}
