//! `cel` rows.

mod check;
mod evaluate;
mod values;

use std::path::Path;

use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::dialect::cel::builtins;
use dropforge::dialect::cel::syntax::{Options, parse, unparse};
use dropforge::function::Registry;
use dropforge::text::Source;
use serde_json::Value;

use crate::report::{Outcome, Row};
use crate::same_tree::same_tree;

/// Runs the rows of a file.
pub fn run_file(path: &Path) -> Vec<(String, Outcome)> {
    let signatures = path.file_name().is_some_and(|name| name == "functions.jsonl");
    let run = |row: Row| {
        let outcome = if signatures { check::signature(&row.row) } else { run_row(&row.row) };
        (row.id, outcome)
    };
    crate::read_rows(path).into_iter().map(run).collect()
}

/// Returns the functions that a row may call.
fn registry(row: &Value) -> Registry {
    match row.get("libraries").and_then(Value::as_str) {
        None => builtins::extended(),
        Some("kubernetes") => builtins::kubernetes(),
        Some(other) => panic!("no such libraries: {other}"),
    }
}

fn flag(row: &Value, name: &str) -> bool {
    row.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn run_row(row: &Value) -> Outcome {
    let text = row.get("expr").and_then(Value::as_str).expect("a row has an expression");
    let want = row.get("want");
    let wants_error = want.is_some_and(|want| want.get("error").is_some());
    let phase = want.and_then(|want| want.get("phase")).and_then(Value::as_str);
    let options = Options { macros: !flag(row, "disable_macros"), ..Options::default() };
    let tree = match parse(&Source::new("<input>", text), &options) {
        Ok(_) if phase == Some("parse") => return Outcome::Fail("it is read, but should not be".into()),
        Ok(tree) => tree,
        Err(errors) if wants_error => return same_place(want, &errors),
        Err(_) if flag(row, "requires_proto") => return Outcome::Skip("needs protobuf messages".into()),
        Err(errors) => return Outcome::Fail(format!("it is not read: {errors}")),
    };
    let written = unparse(&tree);
    match parse(&Source::new("<written>", written.as_str()), &options) {
        Ok(again) if !same_tree(&again, &tree) => Outcome::Fail(format!("it is written as something else: {written}")),
        Ok(_) if flag(row, "requires_proto") => Outcome::Skip("needs protobuf messages".into()),
        Ok(_) => check::decided(row).unwrap_or_else(|| evaluate::run(row, text, &options)),
        Err(errors) => Outcome::Fail(format!("what is written is not read: {written}: {errors}")),
    }
}

/// Compares the position of the first error if the row has one.
fn same_place(want: Option<&Value>, errors: &Diagnostics) -> Outcome {
    let text = want.and_then(|want| want.get("error")).and_then(Value::as_str).unwrap_or("");
    let Some(wanted) = text.strip_prefix("ERROR: <input>:") else { return Outcome::Pass };
    let place = errors.first().and_then(Diagnostic::position).map_or(String::new(), |place| format!("{place}:"));
    if wanted.starts_with(&place) { Outcome::Pass } else { Outcome::Fail(format!("want {text}, got {errors}")) }
}
