//! Instructions of the short workloads under callgrind, for every engine: a count that noise does not reach.
//!
//! `cargo bench -p dropforge-benches --bench instructions [-- --write] [-- --only WORKLOAD…]` prints them beside what `instructions.md`
//! holds, so that a change can be held against what was; with `--write` the file takes the new counts.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use dropforge_benches::WORKLOADS;
use dropforge_benches::processes::instructions;
use dropforge_benches::table::thousands;

/// Workloads of which only the times are told.
const NOT_COUNTED: [&str; 3] = ["w4", "w5-big-table", "w5-teams"];

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.md");
    let before = recorded(&path);
    let mut out = String::from(
        "# Instructions\n\nOne run, counted by callgrind: `cargo bench -p dropforge-benches --bench instructions`.\n",
    );
    let only: Vec<String> = std::env::args().skip_while(|argument| argument != "--only").skip(1).collect();
    for (id, make) in WORKLOADS {
        if NOT_COUNTED.contains(&id) || !only.is_empty() && !only.iter().any(|only| only == id) {
            continue;
        }
        let mut workload = make();
        workload.check();
        let _ = write!(out, "\n## {}\n\n| engine | instructions |\n|---|--:|\n", workload.title);
        for subject in &workload.subjects {
            let engine = subject.engine();
            let counted = instructions(env!("CARGO_BIN_EXE_once"), workload.id, engine);
            let count = thousands(counted.expect("valgrind counts") as f64, 0);
            let _ = writeln!(out, "| {engine} | {count} |");
            let was = before.get(&(workload.title.to_owned(), engine.to_owned())).map_or("-", String::as_str);
            println!("{:<50} {engine:<14} {count:>12}   was {was:>12}", workload.title);
        }
    }
    if only.is_empty() && std::env::args().any(|argument| argument == "--write") {
        std::fs::write(&path, &out).expect("the counts can be written");
    }
}

/// The counts that the file holds, by workload and engine.
fn recorded(path: &PathBuf) -> BTreeMap<(String, String), String> {
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
