//! `brokkr` rows: matching, validation and rendering by the catalog, and the examples. Error wording may differ: the
//! status, the code and the start of the message are compared, and for violations everything.

use std::path::Path;
use std::sync::OnceLock;

use dropforge_catalog::matching::missing;
use dropforge_catalog::render::{Options, RenderOutcome as Tried, RenderRequest, Renderer};
use dropforge_catalog::store::Metadata;
use dropforge_catalog::{CatalogError, TemplateVersion};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::exercise;
use crate::report::{Outcome, Row};

/// Runs the rows of a `brokkr` file.
pub fn run_file(path: &Path, rows: &[Row]) -> Vec<(String, Outcome)> {
    let recorded = rows.iter().all(|row| row.row["kind"] == "http");
    match path.parent().filter(|dir| recorded && dir.join("exercise.py").is_file()) {
        Some(dir) => exercise::run(dir, rows),
        None => rows.iter().map(|row| (row.id.clone(), run_row(row))).collect(),
    }
}

fn run_row(row: &Row) -> Outcome {
    let Row { row, line, .. } = row;
    let (given, want) = (&row["given"], &row["want"]);
    let outcome = match row["kind"].as_str() {
        Some("match") => matched(given, want),
        Some("validate") if row["when"] == "create_template" => created(given, want),
        Some("validate") => rendered(given, line, want),
        Some("render") if calls_outside(given) => {
            rendered(given, line, &json!({"status": 400, "code": "template_render_failed"}))
        }
        Some("render") => rendered(given, line, want),
        Some("http") => return Outcome::Skip("the script that drives the service is not there".to_owned()),
        kind => return Outcome::Skip(format!("prose of kind {kind:?}: written as a test of its own")),
    };
    outcome.map_or_else(Outcome::Fail, |()| Outcome::Pass)
}

/// Returns `true` if the row reads the environment. Our templates have none, so they differ from the recorded result.
fn calls_outside(given: &Value) -> bool {
    given["template_content"].as_str().is_some_and(|content| content.contains("get_env("))
}

fn renderer() -> &'static Renderer {
    static RENDERER: OnceLock<Renderer> = OnceLock::new();
    RENDERER.get_or_init(|| Renderer::new(&Options::default()))
}

fn matched(given: &Value, want: &Value) -> Result<(), String> {
    let marks = |of: &str| -> Result<Metadata, String> {
        let labels =
            serde_json::from_value(given[format!("{of}_labels")].clone()).map_err(|error| error.to_string())?;
        let annotations = serde_json::from_value(given[format!("{of}_annotations")].clone());
        Ok(Metadata { labels, annotations: annotations.map_err(|error| error.to_string())? })
    };
    let missing = missing(&marks("template")?, &marks("stack")?);
    let matches = missing == Metadata::default();
    let got = json!({"matches": matches, "missing_labels": missing.labels, "missing_annotations": missing.annotations});
    if got == *want { Ok(()) } else { Err(format!("got {got}")) }
}

fn created(given: &Value, want: &Value) -> Result<(), String> {
    let part = |key: &str, default| given[key].as_str().unwrap_or(default);
    match renderer().compiled(part("template_content", "x"), part("parameters_schema", "{}")) {
        Ok(_) if want["ok"] == true => Ok(()),
        Ok(_) => Err("was accepted".to_owned()),
        Err(refusal) => refused(&refusal, want),
    }
}

fn rendered(given: &Value, line: &str, want: &Value) -> Result<(), String> {
    let content = given["template_content"].as_str().unwrap_or("x");
    let tried = render(content, given["parameters_schema"].as_str().unwrap_or("{}"), &parameters(line)?)?;
    if let Some(text) = want["yaml_content"].as_str() {
        return same_text(&tried, text);
    }
    match tried.failures.first() {
        None if want["ok"] == true => Ok(()),
        None => Err(format!("gave {:?}", tried.text)),
        Some(refusal) => refused(refusal, want),
    }
}

/// Returns a row's parameters exactly as written, so that numbers keep their form.
fn parameters(line: &str) -> Result<Box<RawValue>, String> {
    #[derive(serde::Deserialize)]
    struct Given {
        parameters: Box<RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Whole {
        given: Given,
    }
    serde_json::from_str::<Whole>(line).map(|row| row.given.parameters).map_err(|error| error.to_string())
}

/// The text; where nothing but blanks is template_metadata it was rendered and refused afterwards.
fn same_text(tried: &Tried, text: &str) -> Result<(), String> {
    match (&tried.text, tried.failures.as_slice()) {
        (Some(got), []) if got == text => Ok(()),
        (None, [refusal]) if text.trim().is_empty() && refusal.message == "YAML content cannot be empty" => Ok(()),
        got => Err(format!("got {got:?}")),
    }
}

fn refused(refusal: &CatalogError, want: &Value) -> Result<(), String> {
    let details = refusal.details.clone().unwrap_or_default();
    let right = want["status"] == refusal.kind.status()
        && want["code"] == refusal.code
        && want["message"].as_str().is_none_or(|message| message == refusal.message)
        && want["message_prefix"].as_str().is_none_or(|prefix| refusal.message.starts_with(prefix))
        && want["details"].as_object().is_none_or(|all| all.iter().all(|(key, value)| details[key] == *value));
    if right {
        Ok(())
    } else {
        Err(format!("{} {}: {} {details}", refusal.kind.status(), refusal.code, refusal.message))
    }
}

fn render(content: &str, schema: &str, parameters: &RawValue) -> Result<Tried, String> {
    let version = json!({
        "id": "00000000-0000-7000-8000-000000000000", "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z", "deleted_at": null, "generator_id": null, "name": "t",
        "description": null, "version": 1, "template_content": content, "parameters_schema": schema, "checksum": "",
    });
    let template: TemplateVersion = serde_json::from_value(version).map_err(|error| error.to_string())?;
    let trial = RenderRequest::new(template, parameters.to_owned());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(|error| error.to_string())?;
    runtime.block_on(renderer().render(trial)).map_err(|refusal| refusal.to_string())
}

/// Runs every example of a folder: template, schema, parameters and expected result.
pub fn run_examples(folder: &Path) -> Vec<(String, Outcome)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".tera.yaml")?.to_owned())).collect();
    names.sort();
    let outcome = |name: &String| run_example(folder, name).map_or_else(Outcome::Fail, |()| Outcome::Pass);
    names.iter().map(|name| (name.clone(), outcome(name))).collect()
}

fn run_example(folder: &Path, name: &str) -> Result<(), String> {
    let read = |ending: &str| std::fs::read_to_string(folder.join(format!("{name}.{ending}")));
    let need = |ending: &str| read(ending).map_err(|error| format!("{ending}: {error}"));
    let parameters =
        RawValue::from_string(need("params.json")?.trim().to_owned()).map_err(|error| error.to_string())?;
    let tried = render(&need("tera.yaml")?, &need("schema.json")?, &parameters)?;
    match (read("expected.yaml"), read("expected.error.txt")) {
        (Ok(text), _) => same_text(&tried, &text),
        (_, Ok(message)) => {
            let prefix = message.split_inclusive(": ").next().unwrap_or_default();
            let right = tried.failures.iter().any(|refusal| refusal.message.starts_with(prefix));
            if right { Ok(()) } else { Err(format!("got {:?} {:?}", tried.text, tried.failures)) }
        }
        _ => Err("nothing says what to expect".to_owned()),
    }
}
