//! The table of figures: building and formatting.

use std::fmt::Write;

use crate::clock::measure;
use crate::subject::{Bar, Workload};

/// One row: a measurement of ours and another to compare with.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// The measured task.
    pub task: String,
    /// Our figure with its unit, empty if it means nothing by itself.
    pub ours: String,
    /// The name of the other engine or method.
    pub peer: String,
    /// The other figure with its unit.
    pub theirs: String,
    /// The ratio between the two.
    pub ratio: String,
    /// The target.
    pub bar: String,
    /// `true` if the target is reached, `None` without a target.
    pub reached: Option<bool>,
}

impl Row {
    /// Compares two times by a target.
    pub fn times(task: &str, ours: f64, peer: &str, theirs: f64, bar: Bar) -> Self {
        Self { ours: duration(ours), theirs: duration(theirs), ..Self::ratio(task, ours, peer, theirs, bar) }
    }

    /// Compares two figures of which only the ratio is meaningful.
    pub fn ratio(task: &str, ours: f64, peer: &str, theirs: f64, bar: Bar) -> Self {
        let ratio = bar.ratio(ours, theirs);
        let digits = if ratio < 10.0 { 2 } else { 1 };
        let (words, asked) = match bar {
            Bar::Faster(least) => (format!("{ratio:.digits$} × faster"), format!("≥ {least} ×")),
            Bar::AtMost(most) => (format!("{ratio:.digits$} ×"), format!("≤ {most} ×")),
        };
        let open = matches!(bar, Bar::Faster(0.0) | Bar::AtMost(f64::INFINITY));
        let asked = if open { String::new() } else { asked };
        let reached = (!open).then(|| bar.reached(ratio));
        Self { task: task.into(), peer: peer.into(), ratio: words, bar: asked, reached, ..Self::default() }
    }

    /// Adds a figure of ours alone.
    pub fn amount(task: &str, ours: String, bar: &str, reached: bool) -> Self {
        Self { task: task.into(), ours, bar: bar.into(), reached: Some(reached), ..Self::default() }
    }
}

/// Checks a workload and times its engines. Returns the seconds of each, ours first.
///
/// # Panics
/// Panics if an engine's output differs from the expected one.
pub fn time(workload: &mut Workload, rounds: usize) -> Vec<(&'static str, f64)> {
    workload.check();
    let times = measure(&mut workload.subjects, rounds);
    workload.subjects.iter().map(|subject| subject.engine()).zip(times).collect()
}

/// Returns a row for each other engine of a workload.
pub fn rows(workload: &Workload, times: &[(&'static str, f64)]) -> Vec<Row> {
    let Some((&(_, ours), peers)) = times.split_first() else { return Vec::new() };
    let row = |&(peer, theirs): &(&'static str, f64)| {
        let bar = workload.bars.iter().find(|(name, _)| *name == peer).map(|(_, bar)| *bar);
        Row::times(workload.title, ours, peer, theirs, bar.unwrap_or_else(|| unasked(ours, theirs)))
    };
    peers.iter().map(row).collect()
}

/// Picks the form of a ratio without a target: the larger time over the smaller.
fn unasked(ours: f64, theirs: f64) -> Bar {
    if theirs >= ours { Bar::Faster(0.0) } else { Bar::AtMost(f64::INFINITY) }
}

/// Formats seconds for reading.
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

/// Formats a number with thousands separators.
pub fn thousands(number: f64, digits: usize) -> String {
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

/// Formats rows as Markdown. Cells that repeat from row to row are left empty.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::from("| what | ours | beside | theirs | ratio | bar | |\n|---|--:|---|--:|--:|--:|---|\n");
    let mut before = "";
    for row in rows {
        let (task, ours) = if row.task == before { ("", "") } else { (row.task.as_str(), row.ours.as_str()) };
        before = &row.task;
        let Row { peer, theirs, ratio, bar, .. } = row;
        let reached = row.reached.map_or("", |reached| if reached { "reached" } else { "missed" });
        let _ = writeln!(out, "| {task} | {ours} | {peer} | {theirs} | {ratio} | {bar} | {reached} |");
    }
    out
}

/// Updates a table with newer rows: they replace those of the same tasks, or are appended.
pub fn updated(old: &str, new: &str) -> String {
    let (head, mut tasks) = groups(old);
    for (task, lines) in groups(new).1 {
        match tasks.iter_mut().find(|(known, _)| *known == task) {
            Some((_, old)) => *old = lines,
            None => tasks.push((task, lines)),
        }
    }
    let head = if head.is_empty() { groups(new).0 } else { head };
    head + &tasks.into_iter().map(|(_, lines)| lines).collect::<String>()
}

/// Splits a table into its two head lines and the rows of each task.
fn groups(table: &str) -> (String, Vec<(&str, String)>) {
    let (mut head, mut tasks) = (String::new(), Vec::<(&str, String)>::new());
    for (at, line) in table.lines().enumerate() {
        let task = line.split('|').nth(1).unwrap_or_default().trim();
        match tasks.last_mut() {
            _ if at < 2 => head += &format!("{line}\n"),
            Some((_, lines)) if task.is_empty() => *lines += &format!("{line}\n"),
            _ => tasks.push((task, format!("{line}\n"))),
        }
    }
    (head, tasks)
}

#[cfg(test)]
mod tests {
    use super::updated;

    #[test]
    fn a_table_is_updated_by_task() {
        let old = "| what |\n|---|\n| a | 1 |\n|  | 2 |\n| b | 3 |\n";
        let new = "| what |\n|---|\n| a | 4 |\n| c | 5 |\n|  | 6 |\n";
        assert_eq!(updated(old, new), "| what |\n|---|\n| a | 4 |\n| b | 3 |\n| c | 5 |\n|  | 6 |\n");
        assert_eq!(updated("", new), new);
    }
}
