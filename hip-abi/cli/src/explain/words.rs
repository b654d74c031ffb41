//! The schedule in words.

use super::analysis::{Analysis, Cause, title};
use super::{count, program, time};
use gneiss_clr::trace::Trace;
use gneiss_clr::trace::format::FlushReason;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Entries of a list that are shown.
const SHOWN: usize = 12;

/// Writes all sections.
pub fn write(trace: &Trace, analysis: &Analysis) -> String {
    let mut text = String::new();
    overview(trace, analysis, &mut text);
    critical_path(trace, analysis, &mut text);
    waits(trace, analysis, &mut text);
    flushes(trace, analysis, &mut text);
    serialised(trace, analysis, &mut text);
    advice(trace, analysis, &mut text);
    text
}

fn percent(part: u64, whole: u64) -> u64 {
    (100 * u128::from(part))
        .checked_div(u128::from(whole))
        .unwrap_or(0) as u64
}

fn overview(trace: &Trace, analysis: &Analysis, text: &mut String) {
    let total = analysis.last.saturating_sub(analysis.first);
    let _ = writeln!(
        text,
        "{}: {} on {} in {}",
        program(trace),
        count(trace.commands.len(), "command"),
        count(trace.queues.len(), "stream"),
        time(total)
    );
    let _ = writeln!(
        text,
        "  something at work {} of the time, more than one thing {}; threads waited {} in all",
        format_args!("{}%", percent(analysis.busy, total)),
        format_args!("{}%", percent(analysis.overlap, total)),
        time(analysis.host_wait)
    );
    let failed = trace
        .commands
        .iter()
        .filter(|command| command.status.is_some_and(|status| status < 0))
        .count();
    if failed > 0 {
        let _ = writeln!(text, "  {} failed", count(failed, "command"));
    }
    let open = trace
        .commands
        .iter()
        .filter(|command| command.status.is_none())
        .count();
    if open > 0 {
        let _ = writeln!(text, "  {} had not ended", count(open, "command"));
    }
}

/// Why a command began when it did.
fn reason(trace: &Trace, cause: Cause) -> String {
    let name = |place: usize| title(trace, &trace.commands[place]);
    match cause {
        Cause::Enqueued => "as soon as it was enqueued".to_owned(),
        Cause::HostWaited(other) => {
            format!(
                "enqueued only after its thread had waited for {}",
                name(other)
            )
        }
        Cause::Stream(other) => format!("after {}, which is before it in its stream", name(other)),
        Cause::WaitList(other) => format!("after {}, which it waits for", name(other)),
        Cause::Shared(other) => {
            format!("after {}, which had the shared hardware queue", name(other))
        }
    }
}

fn critical_path(trace: &Trace, analysis: &Analysis, text: &mut String) {
    if analysis.critical.is_empty() {
        return;
    }
    let at_work: u64 = analysis
        .critical
        .iter()
        .filter_map(|place| analysis.spans[*place])
        .map(|span| span.end.saturating_sub(span.begin))
        .sum();
    let total = analysis.last.saturating_sub(analysis.first);
    let _ = writeln!(
        text,
        "\nCritical path: {} at work for {} of {} ({}%)",
        count(analysis.critical.len(), "command"),
        time(at_work),
        time(total),
        percent(at_work, total)
    );
    // The longest steps, in their order.
    let mut longest: Vec<usize> = analysis.critical.clone();
    longest.sort_by_key(|place| {
        let length = analysis.spans[*place].map_or(0, |span| span.end.saturating_sub(span.begin));
        (std::cmp::Reverse(length), *place)
    });
    longest.truncate(SHOWN);
    for place in analysis
        .critical
        .iter()
        .filter(|place| longest.contains(place))
    {
        let command = &trace.commands[*place];
        let Some(span) = analysis.spans[*place] else {
            continue;
        };
        let _ = writeln!(
            text,
            "  {:>10}  {} for {}, {}",
            time(span.begin.saturating_sub(analysis.first)),
            title(trace, command),
            time(span.end.saturating_sub(span.begin)),
            reason(trace, analysis.causes[*place])
        );
    }
    if analysis.critical.len() > longest.len() {
        let _ = writeln!(text, "  (the {} longest of them)", longest.len());
    }
}

fn waits(trace: &Trace, analysis: &Analysis, text: &mut String) {
    // Commands of one name on one stream that waited for the same thing are one line.
    let mut groups: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for place in 0..trace.commands.len() {
        let waited = analysis.waited(trace, place);
        let cause = analysis.causes[place];
        if waited == 0 || matches!(cause, Cause::Enqueued | Cause::HostWaited(_)) {
            continue;
        }
        let key = (title(trace, &trace.commands[place]), reason(trace, cause));
        let entry = groups.entry(key).or_default();
        entry.0 += 1;
        entry.1 += waited;
    }
    if groups.is_empty() {
        return;
    }
    let mut list: Vec<_> = groups.into_iter().collect();
    list.sort_by_key(|(key, (_, waited))| (std::cmp::Reverse(*waited), key.clone()));
    let _ = writeln!(text, "\nWhy commands waited in their streams:");
    for ((name, reason), (times, waited)) in list.iter().take(SHOWN) {
        let times = if *times == 1 {
            String::new()
        } else {
            format!(" ({times} times)")
        };
        let _ = writeln!(text, "  {:>10}  {name}{times}: {reason}", time(*waited));
    }
    if list.len() > SHOWN {
        let _ = writeln!(text, "  and {} more", list.len() - SHOWN);
    }
}

fn flushes(trace: &Trace, analysis: &Analysis, text: &mut String) {
    if analysis.flushes.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nBatches and why they were flushed:");
    for ((queue, reason), (batches, commands)) in &analysis.flushes {
        let name = trace
            .queues
            .get(queue)
            .map_or("?", |queue| queue.name.as_str());
        let _ = writeln!(
            text,
            "  {name}: {batches} batch{} with {:.1} commands on average: {}",
            if *batches == 1 { "" } else { "es" },
            *commands as f64 / (*batches).max(1) as f64,
            reason.name()
        );
    }
}

fn serialised(trace: &Trace, analysis: &Analysis, text: &mut String) {
    let name = |queue: u32| {
        trace
            .queues
            .get(&queue)
            .map_or("?", |queue| queue.name.as_str())
    };
    if !analysis.shared.is_empty() {
        let _ = writeln!(
            text,
            "\nStreams that stood behind each other on a shared hardware queue:"
        );
        for ((first, second), waited) in &analysis.shared {
            let _ = writeln!(
                text,
                "  {} waited {} behind {}",
                name(*second),
                time(*waited),
                name(*first)
            );
        }
    }
    let (for_others, for_null, waited) = analysis.null_stops;
    if for_others + for_null > 0 {
        let _ = writeln!(
            text,
            "\nThe null stream: {for_others} of its commands waited for other streams, {for_null} commands of other streams waited for it; \
             {} in all",
            time(waited)
        );
    }
    if !analysis.host_copies.is_empty() {
        let kept: u64 = analysis.host_copies.iter().map(|(_, kept)| kept).sum();
        let bytes: u64 = analysis
            .host_copies
            .iter()
            .map(|(place, _)| trace.commands[*place].size)
            .sum();
        let _ = writeln!(
            text,
            "\nCopies that the host did itself (pageable memory, or small): {}, {bytes} bytes; their calls took {}",
            analysis.host_copies.len(),
            time(kept)
        );
    }
}

fn advice(trace: &Trace, analysis: &Analysis, text: &mut String) {
    let total = analysis.last.saturating_sub(analysis.first);
    let mut list: Vec<String> = Vec::new();
    if !analysis.shared.is_empty() {
        list.push(format!(
            "There are {} streams on fewer hardware queues: use fewer streams, or raise GPU_MAX_HW_QUEUES.",
            trace.queues.len()
        ));
    }
    if analysis.null_stops.0 + analysis.null_stops.1 > 0 && analysis.null_stops.2 * 20 > total {
        list.push(
            "The null stream holds up the others: give its work a stream of its own, or make the others with hipStreamNonBlocking."
                .to_owned(),
        );
    }
    let kept: u64 = analysis.host_copies.iter().map(|(_, kept)| kept).sum();
    if kept * 20 > total {
        list.push(
            "Copies of pageable memory keep the calling thread: take memory from hipHostMalloc, or register it.".to_owned(),
        );
    }
    let commands = trace.commands.len() as u64;
    if commands > 20 && analysis.cross_waits * 4 > commands {
        list.push(format!(
            "{} waits across streams for {commands} commands: record fewer, coarser events, or put what depends on each other in one stream.",
            analysis.cross_waits
        ));
    }
    let small: u64 = analysis
        .flushes
        .iter()
        .filter(|((_, reason), _)| *reason == FlushReason::RanDry)
        .map(|(_, (count, _))| *count)
        .sum();
    let longest_wait =
        analysis.host_wait * 2 > total && trace.waits.len() * 3 > trace.commands.len();
    if longest_wait {
        list.push(
            "The host waits after few commands each time: enqueue more before it synchronises, or let events order the work.".to_owned(),
        );
    }
    if small > 100 && analysis.busy * 2 < total {
        list.push(
            "The queues run dry and the device idles: the host does not enqueue fast enough; fewer, larger kernels help, or more threads."
                .to_owned(),
        );
    }
    if list.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nWorth trying:");
    for line in list {
        let _ = writeln!(text, "  - {line}");
    }
}
