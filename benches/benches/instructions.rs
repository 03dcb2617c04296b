//! Instruction counts of the short workloads under callgrind, for every engine. Noise does not affect them.
//!
//! `cargo bench -p dropforge-benches --bench instructions [-- --write] [-- --only WORKLOAD…]` prints them next to the
//! counts in `instructions.md`. With `--write` the file takes the new counts and keeps those of workloads that were not
//! selected.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use dropforge_benches::WORKLOADS;
use dropforge_benches::processes::instructions;
use dropforge_benches::table::thousands;

/// Workloads that are timed but not counted.
const NOT_COUNTED: [&str; 3] = ["w4", "w5-big-table", "w5-teams"];

/// The head of the file.
const HEAD: &str =
    "# Instructions\n\nOne run, counted by callgrind: `cargo bench -p dropforge-benches --bench instructions`.\n";

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.md");
    let before = recorded(&path);
    let only: Vec<String> = std::env::args().skip_while(|argument| argument != "--only").skip(1).collect();
    let mut sections = if only.is_empty() { Vec::new() } else { sections(&path) };
    for (id, make) in WORKLOADS {
        if NOT_COUNTED.contains(&id) || !only.is_empty() && !only.iter().any(|only| only == id) {
            continue;
        }
        let mut workload = make();
        workload.check();
        let mut counted = String::from("\n| engine | instructions |\n|---|--:|\n");
        for subject in &workload.subjects {
            let engine = subject.engine();
            let count = instructions(env!("CARGO_BIN_EXE_once"), workload.id, engine);
            let count = thousands(count.expect("valgrind counts") as f64, 0);
            let _ = writeln!(counted, "| {engine} | {count} |");
            let was = before.get(&(workload.title.to_owned(), engine.to_owned())).map_or("-", String::as_str);
            println!("{:<50} {engine:<14} {count:>12}   was {was:>12}", workload.title);
        }
        match sections.iter_mut().find(|(title, _)| title == workload.title) {
            Some((_, old)) => *old = counted,
            None => sections.push((workload.title.to_owned(), counted)),
        }
    }
    if std::env::args().any(|argument| argument == "--write") {
        let sections: String = sections.iter().map(|(title, counts)| format!("\n## {title}\n{counts}")).collect();
        std::fs::write(&path, format!("{HEAD}{sections}")).expect("the counts can be written");
    }
}

/// Returns the workloads of the file: title and table.
fn sections(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let sections = text.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    let ended = |counts: &str| format!("{}\n", counts.trim_end_matches('\n'));
    sections.map(|(title, counts)| (title.to_owned(), ended(counts))).collect()
}

/// Returns the counts of the file by workload and engine.
fn recorded(path: &Path) -> BTreeMap<(String, String), String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let (mut counts, mut title) = (BTreeMap::new(), "");
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells.as_slice() {
            [heading] => title = heading.strip_prefix("## ").unwrap_or(title),
            [_, engine, count, _] => drop(counts.insert((title.to_owned(), (*engine).to_owned()), (*count).to_owned())),
            _ => (),
        }
    }
    counts
}
