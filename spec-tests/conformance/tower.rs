//! `tower` rows: strings in one mode, and whole intents.

use std::path::Path;
use std::process::Command;

use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::dialect::tower::check::lint;
use dropforge::dialect::tower::intent::{Inputs, Intent, Report, ValidateOptions};
use dropforge::dialect::tower::syntax::parse;
use dropforge::dialect::tower::{RenderMode, error};
use dropforge::engine::{Dialect, Engine, Template};
use dropforge::text::Source;
use serde_json::Value;

use crate::report::Outcome;
use crate::specialised;

/// Runs a row of `tower/*.jsonl`.
pub fn run_row(row: &Value) -> Outcome {
    let text = row["template"].as_str().unwrap_or("");
    let mode = if row["mode"] == "shell" { RenderMode::Shell } else { RenderMode::Literal };
    let outcome = match (render(text, mode, &row["scopes"]), row.get("want"), row.get("error")) {
        (Ok(got), Some(want), _) if *want == got => check_shell(row, &got),
        (Err(got), _, Some(want)) => subset(want, &error::to_json(&got)),
        (got, ..) => Err(format!("got {got:?}")),
    };
    let specialised = || compiled(text, mode).map_or(Ok(()), |template| specialised::agrees(&template, &row["scopes"]));
    let outcome = outcome.and_then(|()| specialised());
    let linted = row.get("lint").map_or(Ok(()), |wanted| check_lint(text, mode, wanted));
    outcome.and(linted).map_or_else(Outcome::Fail, |()| Outcome::Pass)
}

/// Runs every `NN-name.yaml` of a folder against its `NN-name.case.json`.
pub fn run_documents(folder: &Path) -> Vec<(String, Outcome)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut cases: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    cases.retain(|path| path.to_string_lossy().ends_with(".case.json"));
    cases.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().replace(".case.json", "");
    cases.iter().map(|path| (name(path), run_intent(path))).collect()
}

fn run_intent(case: &Path) -> Outcome {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let name = case.to_string_lossy().replace(".case.json", ".yaml");
    let run = || -> Result<(), String> {
        let wanted: Value = serde_json::from_str(&read(case)?).map_err(|error| error.to_string())?;
        check_intent(&wanted, &read(Path::new(&name))?)
    };
    run().map_or_else(Outcome::Fail, |()| Outcome::Pass)
}

fn check_intent(case: &Value, text: &str) -> Result<(), String> {
    let expect = &case["expect"];
    let intent = Intent::parse(&Source::new("intent.yaml", text)).map_err(|errors| format!("{errors:?}"))?;
    let strict = case["options"]["strict"].as_bool().unwrap_or(true);
    let options = ValidateOptions { strict, ..ValidateOptions::default() };
    let Report { errors, warnings } = intent.validate(&options);
    if let Some(wanted) = expect["warnings"].as_array() {
        let got: Vec<Value> = warnings.iter().map(|warning| warning_json(warning)).collect();
        let missing = wanted.iter().find(|wanted| !got.iter().any(|got| subset(wanted, got).is_ok()));
        missing.map_or(Ok(()), |missing| Err(format!("no warning {missing} in {got:?}")))?;
    }
    if expect["phase"] == "validate" {
        return compare_errors(expect, &errors);
    }
    if !errors.is_empty() {
        return Err(format!("validation says {errors:?}"));
    }
    let inputs = serde_json::json!({"params": case["params"], "context": case["context"], "facts": case["facts"]});
    let inputs = Inputs::from_json(&inputs.to_string()).map_err(|error| error.to_string())?;
    match (intent.resolve_with(&inputs, &options, &mut |_| {}), expect["valid"].as_bool()) {
        (Ok(resolved), Some(true)) => {
            let got = serde_json::to_value(resolved.to_data()).unwrap_or_default();
            if got == expect["resolved"] { Ok(()) } else { Err(format!("resolved to {got}")) }
        }
        (Err(errors), Some(false)) => compare_errors(expect, &errors),
        (got, _) => Err(format!("got {got:?}")),
    }
}

fn compare_errors(expect: &Value, errors: &[Box<Diagnostic>]) -> Result<(), String> {
    let wanted = expect["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let got: Vec<Value> = errors.iter().map(|error| error::to_json(error)).collect();
    if wanted.len() != got.len() {
        return Err(format!("{} errors, not {}: {got:?}", got.len(), wanted.len()));
    }
    wanted.iter().zip(&got).try_for_each(|(wanted, got)| subset(wanted, got))
}

fn warning_json(warning: &Diagnostic) -> Value {
    serde_json::json!({"code": warning.code.name(), "field": warning.fields.get("field")})
}

/// Checks that `got` has every field of `wanted` with its value.
fn subset(wanted: &Value, got: &Value) -> Result<(), String> {
    let Some(fields) = wanted.as_object() else { return Err(format!("not an object: {wanted}")) };
    match fields.iter().find(|(key, value)| got.get(key.as_str()) != Some(value)) {
        Some((key, value)) => Err(format!("`{key}` is not {value} in {got}")),
        None => Ok(()),
    }
}

fn render(text: &str, mode: RenderMode, scopes: &Value) -> Result<String, Box<Diagnostic>> {
    compiled(text, mode)?.render(scopes)
}

fn compiled(text: &str, mode: RenderMode) -> Result<Template, Box<Diagnostic>> {
    let source = Source::new("row", text);
    let shell = Some(mode == RenderMode::Shell);
    Engine::new().compile_source(Dialect::Tower, &source, shell).map_err(first)
}

fn first(errors: Diagnostics) -> Box<Diagnostic> {
    errors.into_vec().remove(0)
}

fn check_lint(text: &str, mode: RenderMode, wanted: &Value) -> Result<(), String> {
    let arena = bumpalo::Bump::new();
    let field = parse(text, &arena).map_err(|fault| format!("{fault:?}"))?;
    let found: Vec<&str> = lint(text, &field, mode).iter().map(|lint| lint.code.name()).collect();
    if found.iter().any(|name| wanted == name) { Ok(()) } else { Err(format!("no lint {wanted} in {found:?}")) }
}

/// Lets a shell parse a row's command `cmd … end`, and compares the words with `argv`.
fn check_shell(row: &Value, command: &str) -> Result<(), String> {
    let Some(argv) = row["argv"].as_array() else { return Ok(()) };
    let script = format!("cmd() {{ for word in \"$@\"; do printf '%s\\0' \"$word\"; done; }}\n{command}\n");
    let Ok(output) = Command::new("sh").arg("-c").arg(script).output() else { return Ok(()) };
    let mut wanted: Vec<&str> = argv.iter().filter_map(Value::as_str).collect();
    wanted.push("end");
    let text = String::from_utf8_lossy(&output.stdout);
    let got: Vec<&str> = text.strip_suffix('\0').unwrap_or(&text).split('\0').collect();
    if got == wanted { Ok(()) } else { Err(format!("the shell read {got:?}")) }
}
