//! The table of figures: how it is filled and how it is written.

use std::fmt::Write;

use crate::clock::measure;
use crate::subject::{Bar, Workload};

/// One line: what was timed, ours, and a peer beside it.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was timed.
    pub task: String,
    /// Our figure with its unit.
    pub ours: String,
    /// Beside what.
    pub peer: String,
    /// The other's figure with its unit.
    pub theirs: String,
    /// How ours stands to theirs, and what it should.
    pub verdict: (f64, Bar),
}

/// Checks a workload, times it and makes a line of each peer.
pub fn rows(mut workload: Workload, rounds: usize) -> Vec<Row> {
    workload.check();
    let times = measure(&mut workload.subjects, rounds);
    let named = || workload.subjects.iter().map(|subject| subject.engine()).zip(&times);
    let ours = times[0];
    let peers = named().skip(1).map(|(peer, &theirs)| {
        let bar = workload.bars.iter().find(|(name, _)| *name == peer).map(|(_, bar)| *bar);
        row(workload.title, ours, peer, theirs, bar.unwrap_or_else(|| unasked(ours, theirs)))
    });
    peers.collect()
}

/// A line for two times.
pub fn row(task: &str, ours: f64, peer: &str, theirs: f64, bar: Bar) -> Row {
    Row {
        task: task.to_owned(),
        ours: duration(ours),
        peer: peer.to_owned(),
        theirs: duration(theirs),
        verdict: (bar.ratio(ours, theirs), bar),
    }
}

/// How two times are put where nothing is asked: the larger over the smaller.
fn unasked(ours: f64, theirs: f64) -> Bar {
    if theirs >= ours { Bar::Faster(0.0) } else { Bar::AtMost(f64::INFINITY) }
}

/// Seconds as a person reads them.
pub fn duration(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        s if s < 1e-5 => (s * 1e9, "ns"),
        s if s < 1e-2 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if scaled < 10.0 {
        2
    } else if scaled < 100.0 {
        1
    } else {
        0
    };
    format!("{} {unit}", thousands(scaled, digits))
}

fn thousands(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// The lines as Markdown; what repeats from line to line is written once.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::from("| what | ours | beside | theirs | ratio | bar | |\n|---|--:|---|--:|--:|--:|---|\n");
    let mut before = "";
    for row in rows {
        let (task, ours) = if row.task == before { ("", "") } else { (row.task.as_str(), row.ours.as_str()) };
        before = &row.task;
        let (ratio, bar, reached) = words(row.verdict);
        let _ = writeln!(out, "| {task} | {ours} | {} | {} | {ratio} | {bar} | {reached} |", row.peer, row.theirs);
    }
    out
}

fn words((ratio, bar): (f64, Bar)) -> (String, String, &'static str) {
    let digits = if ratio < 10.0 { 2 } else { 1 };
    let (ratio_words, bar_words) = match bar {
        Bar::Faster(least) => (format!("{ratio:.digits$} × faster"), format!("≥ {least} ×")),
        Bar::AtMost(most) => (format!("{ratio:.digits$} × the time"), format!("≤ {most} ×")),
    };
    match bar {
        Bar::Faster(0.0) | Bar::AtMost(f64::INFINITY) => (ratio_words, String::new(), ""),
        _ => (ratio_words, bar_words, if bar.reached(ratio) { "reached" } else { "missed" }),
    }
}
