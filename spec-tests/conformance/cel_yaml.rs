//! `cel-yaml` rows: the template is compiled with its includes and rendered, and its documents are compared.

use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::engine::{CelPresence, Dialect, Engine, Template};
use dropforge::value::{Data, OutputFormat};
use serde_json::Value;

use crate::report::{Outcome, Row};
use crate::specialised;

type Errors = Vec<Box<Diagnostic>>;

/// Runs a row. Compares its documents, or its error, which must have a position and mention the expected parts.
pub fn run_row(row: &Row) -> Outcome {
    let compiled = compiled(&row.row);
    let outcome = judged(row, &compiled);
    specialised::also(outcome, || {
        compiled.map_or(Ok(()), |template| specialised::agrees(&template, &context(&row.line)))
    })
}

fn judged(row: &Row, compiled: &Result<Template, Errors>) -> Outcome {
    let want = &row.row["want"];
    let documents = match compiled {
        Ok(template) => documents(template, &context(&row.line)),
        Err(errors) => Err(errors.clone()),
    };
    match (want["error"].is_null(), documents) {
        (true, Ok(got)) => compare(want, &got),
        (true, Err(errors)) => Outcome::Fail(format!("want {want}, got {}", told(&errors))),
        (false, Ok(got)) => Outcome::Fail(format!("want {want}, got {}", Value::from(got))),
        (false, Err(errors)) => {
            let part = want["contains"].as_str().unwrap_or("");
            let placed = errors.iter().all(|error| error.position().is_some());
            match placed && errors.iter().any(|error| mentions(error, part)) {
                true => Outcome::Pass,
                false => Outcome::Fail(format!("want an error with {part:?}, got {}", told(&errors))),
            }
        }
    }
}

/// Compares documents. No document counts as null where one is expected.
fn compare(want: &Value, got: &[Value]) -> Outcome {
    let wanted = match want["documents"].as_array() {
        Some(documents) => documents.clone(),
        None => vec![want["output"].clone()],
    };
    let nothing = [Value::Null];
    let got = if got.is_empty() && want["documents"].is_null() { &nothing } else { got };
    match got.len() == wanted.len() && got.iter().zip(&wanted).all(|(got, wanted)| same(got, wanted)) {
        true => Outcome::Pass,
        false => Outcome::Fail(format!("want {want}, got {}", Value::from(got.to_vec()))),
    }
}

/// Returns `true` if two values are equal. Maps are unordered, and numbers are compared by value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}

/// Compiles the template of a row with its files.
fn compiled(row: &Value) -> Result<Template, Errors> {
    let text = row["template_yaml"].as_str().or(row["template"].as_str()).expect("a row has a template");
    let includes = row["includes"].as_object().into_iter().flatten();
    let builder = Engine::builder().cel_presence(CelPresence::Strict);
    let engine = includes
        .fold(builder, |builder, (name, text)| builder.template(name.as_str(), text.as_str().expect("a file is text")));
    let template = engine.build().compile(Dialect::CelYaml, "main.yaml", text).map_err(Diagnostics::into_vec)?;
    Ok(template.with_format(OutputFormat::Ndjson))
}

/// Renders a template to JSON documents.
fn documents(template: &Template, context: &Data) -> Result<Vec<Value>, Errors> {
    let text = template.render(context).map_err(|error| Diagnostics::from(error).into_vec())?;
    Ok(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

/// Returns the context of a row with its keys in order.
fn context(line: &str) -> Data {
    let mut row = serde_json::from_str::<Data>(line).expect("JSON").into_map().expect("a row is a map");
    row.swap_remove("context").unwrap_or(Data::Null)
}

/// Returns `true` if the code, the message or the path of an error contains `part`.
fn mentions(error: &Diagnostic, part: &str) -> bool {
    let path = error.fields.get("path").map_or("", String::as_str);
    [error.code.name(), error.message.as_str(), path].iter().any(|text| text.contains(part))
}

fn told(errors: &[Box<Diagnostic>]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
