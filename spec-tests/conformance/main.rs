//! Runs the reference rows of every language and counts the results.
//!
//! `cargo test --test conformance [LANGUAGE[/FILE]]…` reads `$CONFORMANCE_DIR`, or `../shared/conformance` next to the
//! checkout. If neither exists, it prints a message and passes, because the rows are not part of the project. It prints
//! a line for each file, then the failing ids and the totals. It fails on a failing row without a reason in
//! `spec-tests/overrides.toml`, and on an unneeded override.

mod brokkr;
mod cel;
mod cel_yaml;
#[path = "../divisions.rs"]
mod divisions;
mod exercise;
mod hcl;
mod helm;
mod helm_charts;
mod helm_fixed;
mod helm_values;
mod report;
mod specialised;
mod tera;
mod tower;

/// Compares trees of CEL.
mod same_tree {
    use dropforge::dialect::cel::syntax::tree::{Expr, ExprId, Literal, Selection, Tree};

    include!("../../src/lang/cel/front/syntax/tests/same_tree.rs");
}

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::{FileReport, Outcome, Overrides, Row};

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let Some(dir) = rows_dir() else {
        println!("no conformance rows: $CONFORMANCE_DIR is not set and ../shared/conformance is not there");
        println!("0 passed, 0 failed, 0 skipped");
        return ExitCode::SUCCESS;
    };
    let mut reports = Vec::new();
    for language in folders(&dir) {
        run_language(&dir, &language, &filters, &mut reports);
    }
    println!("{} residuals compared with their originals", specialised::compared());
    report::finish(&reports, &Overrides::read(), filters.is_empty())
}

fn rows_dir() -> Option<PathBuf> {
    let named = std::env::var_os("CONFORMANCE_DIR").map(PathBuf::from);
    let beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("../shared/conformance");
    named.or(Some(beside)).filter(|dir| dir.is_dir())
}

fn folders(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("the rows can be listed");
    let mut names: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn run_language(dir: &Path, language: &str, filters: &[String], reports: &mut Vec<FileReport>) {
    for path in row_files(&dir.join(language)) {
        let name = format!("{language}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if !filters.is_empty() && !filters.iter().any(|filter| name.starts_with(filter.as_str())) {
            continue;
        }
        let outcomes = match language {
            "tower" | "tera" | "cel-yaml" => {
                read_rows(&path).into_iter().map(|row| (row.id.clone(), run_row(language, &row))).collect()
            }
            "brokkr" => brokkr::run_file(&path, &read_rows(&path)),
            "hcl" => hcl::run_file(&path),
            "cel" => cel::run_file(&path),
            "helm" if name.ends_with("rows_values.jsonl") => {
                read_rows(&path).into_iter().map(|row| (row.id.clone(), helm_values::run_row(&row))).collect()
            }
            "helm" => read_rows(&path).into_iter().map(|row| (row.id.clone(), run_row(language, &row))).collect(),
            _ => skip_rows(&path, language),
        };
        reports.push(FileReport { name, outcomes });
    }
    for path in helm_charts::files(&dir.join(language).join("charts")) {
        let name = format!("{language}/charts/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if filters.is_empty() || filters.iter().any(|filter| name.starts_with(filter.as_str())) {
            reports.push(FileReport { name, outcomes: helm_charts::run_file(&path) });
        }
    }
    let suite = format!("{language}/specsuite");
    if language == "hcl" && (filters.is_empty() || filters.iter().any(|filter| suite.starts_with(filter.as_str()))) {
        reports.push(FileReport { name: suite.clone(), outcomes: hcl::specsuite::run(&dir.join(suite)) });
    }
    {
        let examples = format!("{language}/examples");
        let wanted = filters.is_empty() || filters.iter().any(|filter| examples.starts_with(filter.as_str()));
        if language == "brokkr" && wanted {
            reports.push(FileReport { name: examples.clone(), outcomes: brokkr::run_examples(&dir.join(examples)) });
        }
    }
    let intents = format!("{language}/intents");
    let wanted = filters.is_empty() || filters.iter().any(|filter| intents.starts_with(filter.as_str()));
    if language == "tower" && wanted {
        reports.push(FileReport { name: intents.clone(), outcomes: tower::run_documents(&dir.join(intents)) });
    }
}

fn row_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the rows can be listed");
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

fn read_rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).expect("the rows can be read");
    let parse = |(at, line): (usize, &str)| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row is JSON");
        let id = row.get("id").and_then(serde_json::Value::as_str).map_or(format!("line-{}", at + 1), str::to_owned);
        Row { id, row, line: line.to_owned() }
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}

/// Counts the rows of a language that is not supported.
fn skip_rows(path: &Path, language: &str) -> Vec<(String, Outcome)> {
    let text = std::fs::read_to_string(path).expect("the rows can be read");
    let skip = || Outcome::Skip(format!("the language {language} is not part of this version"));
    let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(at, _)| (format!("line-{}", at + 1), skip())).collect()
}

fn run_row(language: &str, row: &Row) -> Outcome {
    for mark in ["skip", "nondeterministic"] {
        match row.row.get(mark) {
            None | Some(serde_json::Value::Null | serde_json::Value::Bool(false)) => {}
            Some(why) => return Outcome::Skip(format!("marked {mark}: {why}")),
        }
    }
    match language {
        "tower" => tower::run_row(&row.row),
        "cel-yaml" => cel_yaml::run_row(row),
        "helm" => helm::run_row(row),
        _ => tera::run_row(&row.row),
    }
}
