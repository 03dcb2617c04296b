//! Outcomes and their report.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// One row.
pub struct Row {
    pub id: String,
    pub row: serde_json::Value,
    /// The line that the row was parsed from, because JSON values do not keep the order of keys.
    pub line: String,
}

/// The outcome of a row.
pub enum Outcome {
    Pass,
    Fail(String),
    Skip(String),
}

/// The outcomes of one file.
pub struct FileReport {
    pub name: String,
    pub outcomes: Vec<(String, Outcome)>,
}

/// Failing rows that are accepted, each with its reason: `[rows]`, then `"tera/systematic.jsonl#id" = "why"`.
pub struct Overrides(BTreeMap<String, String>);

impl Overrides {
    pub fn read() -> Self {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("spec-tests/overrides.toml");
        let text = std::fs::read_to_string(path).expect("spec-tests/overrides.toml is there");
        let tables: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(&text).expect("it is TOML");
        Overrides(tables.into_values().flatten().collect())
    }
}

/// Prints the report and returns the exit code. Looks for unneeded overrides only if `all` files ran.
pub fn finish(reports: &[FileReport], overrides: &Overrides, all: bool) -> ExitCode {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut failures = Vec::new();
    let mut skips: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for report in reports {
        let (mut ok, mut out) = (0, 0);
        for (id, outcome) in &report.outcomes {
            match outcome {
                Outcome::Pass => ok += 1,
                Outcome::Fail(why) => failures.push((format!("{}#{id}", report.name), why)),
                Outcome::Skip(why) => {
                    out += 1;
                    *skips.entry((&report.name, why)).or_default() += 1;
                }
            }
        }
        let total = report.outcomes.len() - out;
        println!("{} {ok}/{total} ({out} skipped)", report.name);
        (passed, failed, skipped) = (passed + ok, failed + total - ok, skipped + out);
    }
    for ((file, why), count) in skips {
        println!("skipped {count} of {file}: {why}");
    }
    let mut unexpected = 0;
    for (id, why) in &failures {
        match overrides.0.get(id) {
            Some(reason) => println!("FAILED {id}: accepted because {reason}"),
            None => {
                unexpected += 1;
                println!("FAILED {id}: {why}");
            }
        }
    }
    let needless = overrides.0.keys().filter(|id| all && !failures.iter().any(|(failed, _)| failed == *id));
    let needless: Vec<_> = needless.inspect(|id| println!("the override of {id} is not needed")).collect();
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if unexpected == 0 && needless.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
