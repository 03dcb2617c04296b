//! The tables of `docs/speed.md`, read off the long one: what a user cares about.

use std::fmt::Write;

/// The tasks of the families, by the end of their titles, and how the page calls them.
const FAMILIES: [(&str, &str); 3] = [
    (", inputs ready", "Manifests rendered, inputs ready"),
    (", inputs converted, rendered", "Manifests rendered, inputs converted"),
    (", the whole command from NDJSON, 1 thread", "A fleet stamped from NDJSON, whole command, 1 thread"),
];

/// Other tasks, and how the page calls them.
const OTHERS: [(&str, &str); 4] = [
    (
        "W7: 10,000 clusters × 5 templates rendered, inputs converted, 1 thread",
        "50,000 manifests of 10,000 clusters rendered, 1 thread",
    ),
    ("W1: the templates loaded from an artifact, verified", "five templates loaded from an artifact, verified"),
    (
        "W7: peak memory of a stream, the fleet's text aside, 2 threads",
        "peak memory while 50,000 manifests are stamped",
    ),
    (
        "W8: process start to `app`, from an artifact of all five",
        "process start to a rendered manifest, from an artifact",
    ),
];

/// What stands above the table of the families.
const HEAD: &str =
    "Three families of Kubernetes manifests in different styles, with 7 to 8 kB of JSON for each cluster and nothing
shared. The ratio is the geometric mean of the three.

| what | beside | ratio | worst of the three |
|---|---|--:|---|
";

/// A line of the long table.
struct Line<'t> {
    task: &'t str,
    ours: &'t str,
    peer: &'t str,
    theirs: &'t str,
    ratio: &'t str,
}

/// Returns the page's tables for the long table's text. There is none of the families before they are measured.
pub fn page(results: &str) -> String {
    let lines = lines(results);
    let families = families(&lines);
    let mut out = if families.is_empty() { families } else { format!("{HEAD}{families}\n") };
    out += "| what | ours | beside | theirs | ratio |\n|---|--:|---|--:|--:|\n";
    for (task, what) in OTHERS {
        for (nth, Line { ours, peer, theirs, ratio, .. }) in lines.iter().filter(|line| line.task == task).enumerate() {
            let (what, ours) = if nth == 0 { (what, *ours) } else { ("", "") };
            let _ = writeln!(out, "| {what} | {ours} | {peer} | {theirs} | {ratio} |");
        }
    }
    out
}

/// Returns the rows of the families, by task and peer.
fn families(lines: &[Line]) -> String {
    let mut out = String::new();
    for (end, what) in FAMILIES {
        let of_task: Vec<&Line> =
            lines.iter().filter(|line| family(line.task).is_some() && line.task.ends_with(end)).collect();
        for peer in ["tera 1", "tera 2", "minijinja 3"] {
            let ratios: Vec<_> =
                of_task.iter().filter(|line| line.peer == peer).filter_map(|line| ratio(line)).collect();
            row(&mut out, what, peer, &ratios);
        }
    }
    out
}

/// Writes the geometric mean of the families' ratios, and the worst.
fn row(out: &mut String, what: &str, peer: &str, ratios: &[(f64, &str)]) {
    let Some((worst, family)) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let mean = (ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let _ = writeln!(out, "| {what} | {peer} | {mean:.1} × faster | {worst:.1} × ({family}) |");
}

/// Returns the name of the family in a task's title.
fn family(task: &str) -> Option<&str> {
    Some(task.strip_prefix("Family `")?.split_once('`')?.0)
}

/// Returns how many times faster we are, and the family.
fn ratio<'t>(line: &Line<'t>) -> Option<(f64, &'t str)> {
    let (number, words) = line.ratio.split_once(" ×")?;
    let number: f64 = number.replace(',', "").parse().ok()?;
    Some((if words.trim() == "faster" { number } else { 1.0 / number }, family(line.task)?))
}

/// Splits the table. Cells that a line leaves empty are those of the line above.
fn lines(results: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line> = Vec::new();
    for line in results.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, task, ours, peer, theirs, ratio, ..] = cells.as_slice() else { continue };
        let (task, ours) = match lines.last() {
            Some(above) if task.is_empty() => (above.task, above.ours),
            _ => (*task, *ours),
        };
        lines.push(Line { task, ours, peer, theirs, ratio });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn the_page_has_the_mean_and_the_worst_family() {
        let results = "| what | ours | beside | theirs | ratio | bar | |\n|---|--:|---|--:|--:|--:|---|\n\
            | Family `a` (x): 12 clusters, inputs ready | 2 µs | tera 1 | 8 µs | 4.00 × faster |  |  |\n\
            |  |  | tera 2 | 1 µs | 2.00 × |  |  |\n\
            | Family `b` (y): 12 clusters, inputs ready | 2 µs | tera 1 | 18 µs | 9.00 × faster |  |  |\n\
            | W1: the templates loaded from an artifact, verified | 19.9 µs | own | 122 µs | 0.16 × | ≤ 0.1 × | missed |\n";
        let table = page(results);
        let rows: Vec<&str> = table.lines().skip(5).collect();
        assert_eq!(rows[0], "| Manifests rendered, inputs ready | tera 1 | 6.0 × faster | 4.0 × (a) |");
        assert_eq!(rows[1], "| Manifests rendered, inputs ready | tera 2 | 0.5 × faster | 0.5 × (a) |");
        assert_eq!(rows[5], "| five templates loaded from an artifact, verified | 19.9 µs | own | 122 µs | 0.16 × |");
        assert_eq!(rows.len(), 6);
    }

    #[test]
    fn the_page_is_read_off_the_results() {
        let between = |text: &'static str| {
            let rest = text.split_once("<!-- figures -->\n").expect("where the table begins").1;
            rest.split_once("<!-- /figures -->").expect("where the table ends").0
        };
        let wanted = page(between(include_str!("../RESULTS.md")));
        assert_eq!(between(include_str!("../../docs/speed.md")), wanted);
    }
}
