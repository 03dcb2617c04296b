//! `tera` rows.

use dropforge::bulk::MissingNames;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::engine::{Capabilities, Dialect, Engine, Template, TeraDialect, UnknownNames};
use dropforge::function::HostArgs;
use dropforge::value::Data;
use serde_json::Value;

use crate::report::Outcome;
use crate::specialised;

/// Compiles every template of the row and renders its entry, also specialised.
pub fn run_row(row: &Value) -> Outcome {
    specialised::also(judged(row), || {
        let entry = engine(row).load(Dialect::Tera, row["entry"].as_str().unwrap_or(""));
        entry.map_or(Ok(()), |entry| specialised::agrees(&entry, &row["context"]))
    })
}

fn judged(row: &Value) -> Outcome {
    let result = render(row);
    match (row.get("want").and_then(Value::as_str), result) {
        (Some(want), Ok(got)) if want == got => Outcome::Pass,
        (Some(want), Ok(got)) => Outcome::Fail(format!("want {want:?}, got {got:?}")),
        (Some(_), Err(_)) if row["panic"] == true => Outcome::Pass,
        (Some(want), Err(error)) => Outcome::Fail(format!("want {want:?}, got the error {error}")),
        (None, Ok(got)) => Outcome::Fail(format!("want an error ({}), got {got:?}", row["error"])),
        (None, Err(error)) => judge_error(row, &error),
    }
}

fn render(row: &Value) -> Result<String, Diagnostics> {
    let engine = engine(row);
    let templates = row["templates"].as_object().expect("a row has templates");
    for name in templates.keys() {
        engine.load(Dialect::Tera, name)?;
    }
    let entry = engine.load(Dialect::Tera, row["entry"].as_str().expect("a row has an entry"))?;
    let text = entry.render(&row["context"])?;
    match missing(&entry, &row["context"]) {
        Some(error) => Err(error.into()),
        None => Ok(text),
    }
}

/// Returns the first name that the analysis finds missing. There is none if the template renders.
fn missing(entry: &Template, context: &Value) -> Option<Box<Diagnostic>> {
    let context: Data = serde_json::from_value(context.clone()).ok()?;
    let mut missing = MissingNames::of([entry]);
    missing.look_at(0, context.as_map()?);
    missing.into_failures(None).into_iter().map(|failure| failure.diagnostic).next()
}

fn engine(row: &Value) -> Engine {
    let builder = Engine::builder().tera(TeraDialect::Plain).unknown_names(UnknownNames::Late);
    let mut builder = builder.allow(Capabilities::ALL).escape_suffixes(suffixes(row));
    for (name, source) in row["templates"].as_object().expect("a row has templates") {
        builder = builder.template(name, source.as_str().expect("a template is text"));
    }
    if row.get("needs").is_some() {
        builder = builder
            .function(Dialect::Tera, "get_string", |_: &HostArgs| "Hello")
            .function(Dialect::Tera, "get_true", |_: &HostArgs| true)
            .function(Dialect::Tera, "get_number", |_: &HostArgs| 10);
    }
    builder.build()
}

fn suffixes(row: &Value) -> Vec<String> {
    match (row["autoescape"].as_bool(), row.get("autoescape_suffixes").and_then(Value::as_array)) {
        (Some(true), Some(suffixes)) => suffixes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        (Some(true), None) => vec![String::new()],
        _ => Vec::new(),
    }
}

/// Checks that an error has a position and names everything that the reference names.
fn judge_error(row: &Value, errors: &Diagnostics) -> Outcome {
    let Some(first) = errors.first() else { return Outcome::Fail("an error without a diagnostic".into()) };
    if first.position().is_none() && first.code != Code::UnknownTemplate {
        return Outcome::Fail(format!("the error has no place: {first}"));
    }
    let names = culprits(row);
    if names.is_empty() || errors.iter().any(|error| names.iter().any(|name| mentions(error, name))) {
        return Outcome::Pass;
    }
    Outcome::Fail(format!("none of {names:?} is named by: {errors}"))
}

/// Returns the names that the reference's error chain has in backticks or quotes: variables, functions, templates. Its
/// panics and the parse trees that it prints are not names.
fn culprits(row: &Value) -> Vec<String> {
    let chain = row["error_chain"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let causes = chain.skip(1).filter(|cause| !cause.trim_start().starts_with("-->") && !cause.contains("PANIC"));
    let mut names = Vec::new();
    for cause in causes {
        names.extend(cause.split('`').skip(1).step_by(2).map(str::to_owned));
        let words = cause.split(' ').filter_map(|word| word.strip_prefix('\''));
        names.extend(words.filter_map(|word| word.split('\'').next()).map(|name| name.replace(['[', ']'], "")));
    }
    names.retain(|name| !name.is_empty() && !name.contains("Expr") && Some(name.as_str()) != row["entry"].as_str());
    names
}

fn mentions(error: &Diagnostic, name: &str) -> bool {
    let excerpt = error.primary().map_or("", |label| label.source.slice(label.span));
    error.message.contains(name) || excerpt.contains(name) || error.notes.iter().any(|note| note.contains(name))
}
