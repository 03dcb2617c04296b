//! `helm` rows: templates with the functions of Go, or with those of Helm.

use std::time::{Duration, SystemTime};

use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::engine::{Capabilities, Dialect, Engine, HelmOptions, MissingKey, Template};
use dropforge::text::Source;
use dropforge::value::{Arena, Data, Extended, Inputs, Sized, Value as Held, Width};
use dropforge::vm::Session;
use serde_json::Value;

use crate::report::{Outcome, Row};

/// Compiles the templates of the row and renders the main one.
pub fn run_row(row: &Row) -> Outcome {
    // Maps keep the order of their keys, as JSON values do not.
    let data: Data = serde_json::from_str(&row.line).expect("a row is JSON");
    let data = data.as_map().and_then(|row| row.get("data")).cloned().unwrap_or_default();
    judged(&row.row, &data)
}

fn judged(row: &Value, data: &Data) -> Outcome {
    let expect = &row["expect"];
    if expect.is_null() {
        return Outcome::Skip("marked nondeterministic".into());
    }
    let compiled = engine(row).compile(Dialect::Helm, "main", row["template"].as_str().unwrap_or(""));
    if expect.get("text_b64").is_some() {
        return judge_no_text(compiled, row, data);
    }
    match (expect.get("text").and_then(Value::as_str), compiled) {
        (Some(want), Err(errors)) => Outcome::Fail(format!("want {want:?}, got the errors {errors}")),
        (Some(want), Ok(template)) => match rendered(&template, row, data) {
            Ok(got) if got == want => Outcome::Pass,
            Ok(got) => Outcome::Fail(format!("want {want:?}, got {got:?}")),
            Err(error) => Outcome::Fail(format!("want {want:?}, got the error {error}")),
        },
        (None, Err(errors)) => judge_parse(expect, &errors),
        (None, Ok(template)) => match rendered(&template, row, data) {
            Ok(got) => Outcome::Fail(format!("want an error ({}), got {got:?}", expect["message"])),
            Err(error) if expect["kind"] != "parse" => judge_error(expect, &error),
            Err(error) => Outcome::Fail(format!("want a parse error ({}), got {error}", expect["message"])),
        },
    }
}

/// Checks that an output that is not UTF-8 is an error with the place of the output.
fn judge_no_text(compiled: Result<Template, Diagnostics>, row: &Value, data: &Data) -> Outcome {
    match compiled.map(|template| rendered(&template, row, data)) {
        Ok(Err(error)) if error.message.contains("not valid UTF-8") && !error.labels.is_empty() => Outcome::Pass,
        Ok(got) => Outcome::Fail(format!("want an error of output that is not UTF-8, got {got:?}")),
        Err(errors) => Outcome::Fail(format!("want an error of the run, got {errors}")),
    }
}

fn engine(row: &Value) -> Engine {
    let options = &row["options"];
    let text = |key: &str| options[key].as_str();
    let helm = text("engine") == Some("helm");
    let missing_key = match (text("missingkey"), text("strict")) {
        (Some("error"), _) | (_, Some("true")) => MissingKey::Error,
        (Some("zero"), _) => MissingKey::Null,
        _ if helm => MissingKey::Null,
        _ => MissingKey::Nothing,
    };
    let delimiters = options["delims"].as_array().map(|delims| {
        let one = |at: usize| delims.get(at).and_then(Value::as_str).unwrap_or("").to_owned();
        [one(0), one(1)]
    });
    let mut named: Vec<_> = row["templates"].as_object().into_iter().flatten().collect();
    named.sort_by_key(|(name, _)| name.as_str());
    let together =
        named.into_iter().map(|(name, text)| Source::new(name.as_str(), text.as_str().unwrap_or(""))).collect();
    let options = HelmOptions {
        missing_key,
        plain: !helm,
        keeps_no_value: !helm,
        delimiters,
        any_data: !row["data"].is_object(),
        together,
    };
    let capabilities = match row["now"].as_str() {
        Some(now) => Capabilities::ALL.with_moment(moment(now)),
        None => Capabilities::ALL,
    };
    Engine::builder().allow(capabilities).helm(options).build()
}

/// Returns the time that a text like `2024-01-02T03:04:05Z` names.
fn moment(text: &str) -> SystemTime {
    let parts: Vec<i64> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = parts[..] else { panic!("{text} is no time") };
    // A year begins in March, so that its last day is the leap day.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).expect("a time after 1970"))
}

fn rendered(template: &Template, row: &Value, data: &Data) -> Result<String, Box<Diagnostic>> {
    let arena = Arena::new();
    let as_written = row["options"]["numbers"] == "int64";
    let data = held(&arena, data, as_written);
    let data = if row["data"].is_object() { data } else { arena.map(&[(".", data)]) };
    let mut out = String::new();
    template.render_inputs(&mut Session::new(), Inputs::new(data), &mut out).map(|()| out)
}

/// Returns JSON as values: every number is a float, or every integer an `int64`.
fn held<'v>(arena: &'v Arena, value: &Data, as_written: bool) -> Held<'v> {
    match value {
        Data::Null => Held::Null,
        Data::Bool(truth) => Held::Bool(*truth),
        Data::Int(n) if as_written => arena.extended(Extended::Sized(Sized::Signed(Width::W64, *n))),
        Data::Int(n) => Held::Float(*n as f64),
        Data::Uint(n) => Held::Float(*n as f64),
        Data::Float(n) => Held::Float(*n),
        Data::Number(text) => Held::Float(text.parse().unwrap_or(f64::NAN)),
        Data::Str(text) => arena.text(text),
        Data::List(items) => arena.list(&items.iter().map(|item| held(arena, item, as_written)).collect::<Vec<_>>()),
        Data::Map(entries) => {
            let entry = |(key, value): (&String, &Data)| (arena.copy_str(key), held(arena, value, as_written));
            arena.map(&entries.iter().map(entry).collect::<Vec<_>>())
        }
    }
}

/// Checks that one of the errors is the reference's first.
fn judge_parse(expect: &Value, errors: &Diagnostics) -> Outcome {
    if expect["kind"] != "parse" {
        return Outcome::Fail(format!("want an error of the run ({}), got {errors}", expect["message"]));
    }
    if errors.iter().any(|error| told(expect, error) && placed(expect, error)) {
        return Outcome::Pass;
    }
    Outcome::Fail(format!("want {} in line {}, got {errors}", expect["message"], expect["line"]))
}

fn judge_error(expect: &Value, error: &Diagnostic) -> Outcome {
    if !told(expect, error) {
        return Outcome::Fail(format!("want {}, got {error}", expect["message"]));
    }
    if !placed(expect, error) {
        return Outcome::Fail(format!("want line {} ({}), got {error}", expect["line"], expect["message"]));
    }
    Outcome::Pass
}

/// Returns `true` if an error has the message of the reference, which precedes it with places and callers.
fn told(expect: &Value, error: &Diagnostic) -> bool {
    let want = expect["message"].as_str().unwrap_or("");
    if expect["kind"] == "fail" {
        return error.code == Code::Assertion && refusal(want) == error.fields.get("go_message").map(String::as_str);
    }
    let got = error.fields.get("go_message").unwrap_or(&error.message);
    let starts = want.len().checked_sub(got.len()).and_then(|at| want.get(..at));
    let cut = expect.get("message_truncated").is_some();
    cut || want.ends_with(got.as_str())
        && !got.is_empty()
        && starts.is_some_and(|before| before.is_empty() || before.ends_with(": "))
}

/// Returns the text of the template's author in a message of the reference.
fn refusal(message: &str) -> Option<&str> {
    let (_, behind) = message.split_once("HELM_ERR_START")?;
    behind.split_once("HELM_ERR_END").map(|(text, _)| text)
}

/// Returns `true` if one of the places of an error is in the line of the reference.
fn placed(expect: &Value, error: &Diagnostic) -> bool {
    let Some(line) = expect["line"].as_u64() else { return true };
    error.labels.iter().any(|label| u64::from(label.position().line) == line)
}
