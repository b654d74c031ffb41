//! What is said of schedules that follow from the rules.

use super::analysis::{Analysis, Cause};
use super::{drawing, html, words};
use gneiss_clr::replay::{run, scenario};
use gneiss_clr::trace::Trace;

fn schedule(text: &str) -> Trace {
    let (workload, policy) = scenario::parse(text).expect("a scenario");
    run(&workload, &policy, true)
        .expect("it plays")
        .trace
        .expect("a trace")
}

const CROSS: &str = "
set launch-cost=1us
stream A
stream B
kernel A a1 100us
record done A
kernel B b1 10us
wait B done
kernel B b2 50us
sync B
";

#[test]
fn the_critical_path_follows_the_waits() {
    let trace = schedule(CROSS);
    let analysis = Analysis::new(&trace);
    let names: Vec<&str> = analysis
        .critical
        .iter()
        .map(|place| trace.title(&trace.commands[*place]))
        .filter(|name| name.len() == 2)
        .collect();
    assert_eq!(names, ["a1", "b2"]);
    let b2 = trace
        .commands
        .iter()
        .position(|command| trace.title(command) == "b2")
        .expect("b2");
    assert!(matches!(
        analysis.causes[b2],
        Cause::Stream(_) | Cause::WaitList(_)
    ));
    let words = words::write(&trace, &analysis);
    assert!(words.contains("Critical path"), "{words}");
    assert!(words.contains("b2 on stream B for 50.0 us"), "{words}");
    assert!(
        words.contains("Batches and why they were flushed"),
        "{words}"
    );
}

#[test]
fn the_drawing_has_a_row_for_each_stream_to_scale() {
    let trace = schedule(CROSS);
    let text = drawing::draw(&trace, 80);
    let row = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{text}"))
            .to_owned()
    };
    let kernels = |row: &str| row.matches('#').count();
    let (a, b) = (row("stream A"), row("stream B"));
    // 100 of 150 microseconds, and 60 of 150.
    assert!((40..=52).contains(&kernels(&a)), "{text}");
    assert!((22..=34).contains(&kernels(&b)), "{text}");
}

#[test]
fn the_page_holds_its_data_and_nothing_from_elsewhere() {
    let trace = schedule(&CROSS.replace("a1", "</script><b>"));
    let analysis = Analysis::new(&trace);
    let page = html::page(&trace, &analysis, &words::write(&trace, &analysis));
    assert!(
        !page.contains("</script><b>"),
        "a name cannot end the script"
    );
    assert!(!page.contains("http"), "nothing is loaded from elsewhere");
    assert!(!page.contains("@DATA@"));
    assert_eq!(
        page,
        html::page(&trace, &analysis, &words::write(&trace, &analysis))
    );
}

#[test]
fn a_shared_hardware_queue_and_the_null_stream_are_named() {
    let trace = schedule(
        "
set launch-cost=1us hw-queues=1
stream A
stream B
kernel A a 100us
kernel B b 100us
sync-all
",
    );
    let analysis = Analysis::new(&trace);
    let text = words::write(&trace, &analysis);
    assert!(
        text.contains("stream B waited 99.0 us behind stream A"),
        "{text}"
    );
    assert!(text.contains("use fewer streams"), "{text}");
    let trace = schedule(
        "
set launch-cost=0ns
stream null
stream A
kernel A a 100us
kernel null n 10us
sync-all
",
    );
    let text = words::write(&trace, &Analysis::new(&trace));
    assert!(
        text.contains("The null stream: 1 of its commands waited"),
        "{text}"
    );
}

/// The pictures in `docs/scenarios.md` are those that the tool draws.
#[test]
fn the_pictures_in_the_documentation_are_the_tools() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/scenarios.md")).expect("the page");
    let mut count = 0;
    for section in page.split("\n## ").skip(1) {
        let name = section.lines().next().unwrap_or_default();
        let picture = section.split("```").nth(1).expect("a picture");
        let picture = picture.strip_prefix("text\n").expect("a text block");
        let file = root.join(format!("samples/queue-model/{name}.scenario"));
        let text = std::fs::read_to_string(file).expect("a scenario");
        assert_eq!(drawing::draw(&schedule(&text), 90), picture, "{name}");
        count += 1;
    }
    assert!(count >= 10);
}
