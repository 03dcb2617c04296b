//! The table as Markdown, and its summary.

use std::fmt::Write;

use super::measure::{Cost, Measured};
use super::{Bars, Language};

/// Net costs below this are noise: a ratio divides by at least as much, in seconds.
const NOISE: f64 = 2e-9;

/// Returns the ratio of a peer's cost to ours.
pub fn ratio(ours: f64, theirs: f64) -> f64 {
    theirs.max(NOISE) / ours.max(NOISE)
}

/// Formats the rows of a language, with a summary.
pub fn section(language: &Language, rows: &[Measured]) -> String {
    let mut out = format!("\n## {}\n\n", language.name);
    summaries(&mut out, language, rows);
    let peers: String = language.peers.iter().map(|(name, ..)| format!(" {name} | × | converted × |")).collect();
    let _ = writeln!(
        out,
        "\n| construct | ours, ns | instructions | body, ns | with its loop, ns | converted, ns |{peers}"
    );
    let _ = writeln!(out, "|---|--:|--:|--:|--:|--:|{}", "--:|--:|--:|".repeat(language.peers.len()));
    rows.iter().for_each(|row| line(&mut out, language, row));
    out
}

fn line(out: &mut String, language: &Language, measured: &Measured) {
    let Measured { row, ours, instructions, shared, peers } = measured;
    let instructions = instructions.map_or(String::new(), |count| format!("{count:.0}"));
    let shared = shared.map_or(String::new(), nanoseconds);
    let _ = write!(out, "| {} {} ", row.kind.name(), row.name.replace('|', "\\|"));
    let [net, gross, converted] = [ours.net, ours.gross, ours.converted].map(nanoseconds);
    let _ = write!(out, "| {net} | {instructions} | {shared} | {gross} | {converted} |");
    for cost in &peers[..language.peers.len()] {
        match cost {
            Some(cost) => {
                let [net, converted] = [ratio(ours.net, cost.net), cost.converted / ours.converted];
                let _ = write!(out, " {} | {net:.1} | {converted:.1} |", nanoseconds(cost.net));
            }
            None => out.push_str(" | | |"),
        }
    }
    out.push('\n');
}

fn nanoseconds(seconds: f64) -> String {
    let ns = seconds * 1e9;
    if ns.abs() < 10.0 { format!("{ns:.1}") } else { format!("{ns:.0}") }
}

/// One line for each peer: rows, median, worst rows, rows below the targets.
fn summaries(out: &mut String, language: &Language, rows: &[Measured]) {
    let _ = writeln!(out, "{} rows.\n", rows.len());
    for (at, (name, bars, _)) in language.peers.iter().enumerate() {
        let beside = |pick: fn(&Cost) -> f64| ratios(rows, at, pick);
        summary(out, name, *bars, &beside(|cost| cost.net));
        let rest = [("with its loop", beside(|cost| cost.gross)), ("converted", beside(|cost| cost.converted))];
        for (what, ratios) in rest {
            let worst = ratios.first().map_or(String::new(), |(ratio, row)| format!(", worst {ratio:.1} × ({row})"));
            let _ = writeln!(out, "  * {what}: median {:.1} ×{worst}", median(&ratios));
        }
    }
    over_body(out, rows);
}

/// Returns the ratios to a peer with the rows' names, smallest first.
fn ratios(rows: &[Measured], peer: usize, pick: fn(&Cost) -> f64) -> Vec<(f64, String)> {
    let of = |row: &Measured| {
        let theirs = row.peers[peer].as_ref()?;
        Some((ratio(pick(&row.ours), pick(theirs)), format!("{} {}", row.row.kind.name(), row.row.name)))
    };
    let mut ratios: Vec<_> = rows.iter().filter_map(of).collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    ratios
}

fn median(ratios: &[(f64, String)]) -> f64 {
    let middle = |at: usize| ratios.get(at).map_or(f64::NAN, |(ratio, _)| *ratio);
    let half = ratios.len() / 2;
    if ratios.len().is_multiple_of(2) && half > 0 {
        f64::midpoint(middle(half - 1), middle(half))
    } else {
        middle(half)
    }
}

fn summary(out: &mut String, peer: &str, bars: Option<Bars>, ratios: &[(f64, String)]) {
    let _ = write!(out, "* {peer}: {} rows, median {:.1} ×", ratios.len(), median(ratios));
    let Some(Bars { median, least }) = bars else {
        let worst = ratios.first().map_or(String::new(), |(ratio, row)| format!(", worst {ratio:.1} × ({row})"));
        let _ = writeln!(out, "{worst}");
        return;
    };
    let below: Vec<String> =
        ratios.iter().take_while(|(ratio, _)| *ratio < least).map(|(ratio, row)| format!("{row} {ratio:.1}")).collect();
    let _ = writeln!(
        out,
        " (bar {median}); worst {}; {} below {least} ×: {}",
        worst(ratios),
        below.len(),
        below.join(", ")
    );
}

fn worst(ratios: &[(f64, String)]) -> String {
    ratios.first().map_or(String::new(), |(ratio, row)| format!("{ratio:.1} × ({row})"))
}

/// Names the rows whose shared call is more than a third of our time, and that take 40 ns more than the call.
fn over_body(out: &mut String, rows: &[Measured]) {
    let judged: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row, row.shared?)))
        .filter(|(row, body)| *body > row.ours.net / 3.0)
        .collect();
    if judged.is_empty() {
        return;
    }
    let over: Vec<String> = judged
        .iter()
        .filter(|(row, body)| row.ours.net > body + 40e-9)
        .map(|(row, body)| format!("{} +{:.0} ns", row.row.name, (row.ours.net - body) * 1e9))
        .collect();
    let _ = writeln!(out, "* bar body + 40 ns: {} rows, {} above: {}", judged.len(), over.len(), over.join(", "));
}
