//! `helm/charts/*.jsonl.xz`: charts as people publish them, with several sets of values each.
//!
//! The rendered texts, their documents in the order of installation, the whole text of `helm template` and errors have to be
//! the reference's. Without `DROPFORGE_CASES=all` only some of the charts run, those whose names have certain hashes.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::{Hook, Output};
use dropforge::engine::chart::{ChartRender, ChartTemplate};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::helm_fixed::engine;
use crate::helm_values::{judge_errors, message, render, source};
use crate::report::Outcome;

/// One chart in this number runs in the short form.
const SPREAD: u64 = 24;

/// Returns the files of cases.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|extension| extension == "xz")).collect();
    files.sort();
    files
}

/// A chart, or the errors of loading it, and the texts that its cases refer to.
struct Pack {
    chart: Result<ChartTemplate, Diagnostics>,
    texts: Vec<Value>,
}

/// Runs the cases of a file. `only` are parts of the ids of the cases to run, if there are any.
pub fn run_file(path: &Path) -> Vec<(String, Outcome)> {
    let file = std::fs::File::open(path).expect("the cases can be read");
    let mut text = Vec::new();
    lzma_rs::xz_decompress(&mut BufReader::new(file), &mut text).expect("the cases are compressed by xz");
    let text = String::from_utf8(text).expect("cases are UTF-8");
    let all = std::env::var("DROPFORGE_CASES").is_ok_and(|cases| cases == "all");
    let (mut outcomes, mut pack, mut runs) = (Vec::new(), None, false);
    for line in text.lines() {
        if line.starts_with("{\"pack\"") {
            // The head of a long line tells whether the rest is needed.
            runs = all || is_chosen(line.get(..200).unwrap_or(line));
        }
        if !runs {
            continue;
        }
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        if row["pack"].is_object() {
            let chart = source(&row["pack"]).and_then(|source| engine().chart(&source));
            pack = Some(Pack { chart, texts: Vec::new() });
        } else if let (Some(pack), Some(texts)) = (&mut pack, row["texts"].as_array()) {
            pack.texts = texts.clone();
        } else if let Some(pack) = &pack {
            let case = &row["case"];
            outcomes.push((case["id"].as_str().unwrap_or("").to_owned(), run(pack, case)));
        }
    }
    outcomes
}

/// Returns `true` for some of the charts, always the same.
fn is_chosen(head: &str) -> bool {
    let hash = head
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 20) % SPREAD == 0
}

fn run(pack: &Pack, case: &Value) -> Outcome {
    let expect = &case["expect"];
    let rendered = match &pack.chart {
        Ok(chart) => render(chart, case),
        Err(errors) => return judge_errors(expect, errors),
    };
    match (expect["rendered"].as_object(), rendered) {
        (None, Err(errors)) => judge_errors(expect, &errors),
        (None, Ok(_)) => Outcome::Fail(format!("want the error {}", expect["message"])),
        (Some(_), Err(errors)) => Outcome::Fail(format!("got the errors {errors}")),
        (Some(want), Ok(rendered)) => match differing_file(pack, want, &rendered) {
            Some(outcome) => outcome,
            None => judge_output(expect, rendered.output()),
        },
    }
}

/// Returns the failure of the first file that is not as it should be.
fn differing_file(pack: &Pack, want: &serde_json::Map<String, Value>, got: &ChartRender) -> Option<Outcome> {
    let got: BTreeMap<&str, &str> = got.files().iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    if let Some(name) = want.keys().find(|name| !got.contains_key(name.as_str())) {
        return Some(Outcome::Fail(format!("{name} is not rendered")));
    }
    got.iter().find_map(|(name, got)| {
        let want = want.get(*name).and_then(Value::as_u64).and_then(|at| pack.texts.get(at as usize)?.as_str());
        (want != Some(got)).then(|| Outcome::Fail(format!("{name}: {}", difference(want.unwrap_or(""), got))))
    })
}

/// Returns the first lines that differ.
fn difference(want: &str, got: &str) -> String {
    let (mut wanted, mut found) = (want.split('\n'), got.split('\n'));
    let mut number = 0;
    loop {
        number += 1;
        let lines = (wanted.next(), found.next());
        if lines.0 != lines.1 || lines.0.is_none() {
            return format!("line {number}: want {:?}, got {:?}", lines.0, lines.1);
        }
    }
}

fn judge_output(expect: &Value, output: Result<Output, Box<Diagnostic>>) -> Outcome {
    match (expect["sort_error"].as_str(), output) {
        (Some(want), Err(error)) if message(&error) == want => Outcome::Pass,
        (Some(want), Err(error)) => Outcome::Fail(format!("sorting: want {want:?}, got {:?}", message(&error))),
        (Some(want), Ok(_)) => Outcome::Fail(format!("want the error {want}")),
        (None, Err(error)) => Outcome::Fail(format!("sorting: got the error {error}")),
        (None, Ok(output)) => {
            let (want, got) = (&expect["order"], order(&output));
            if *want != got {
                return Outcome::Fail(format!("want the order {want}, got {got}"));
            }
            let text = output.text();
            let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
            match expect["helm_template_sha256"].as_str() {
                Some(want) if want != hash => Outcome::Fail(format!(
                    "the text of {} bytes differs, want {}",
                    text.len(),
                    expect["helm_template_bytes"]
                )),
                _ => Outcome::Pass,
            }
        }
    }
}

/// Returns the documents of an output as the cases list them.
fn order(output: &Output) -> Value {
    let hook = |hook: &Hook| {
        let events: Vec<_> = hook.events.iter().map(|event| event.name()).collect();
        json!([hook.manifest.source, hook.manifest.kind, hook.manifest.name, events, hook.weight])
    };
    let manifests = output.manifests.iter().map(|one| json!([one.source, one.kind, one.name]));
    manifests.chain(output.hooks.iter().map(hook)).collect()
}
