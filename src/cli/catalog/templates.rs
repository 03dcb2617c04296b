//! Commands on templates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::args::{CreateArgs, SourceArgs, UpdateArgs};
use super::door::{Answered, Door, Made, path, segment};
use super::named::{TemplateRef, template};
use super::print::Print;
use crate::cli::exit::Exit;
use crate::cli::values::Stdin;
use crate::diagnostics::{Code, Diagnostic, once_each};
use crate::text::Source;

/// The columns of a list.
const COLUMNS: &[&str] = &["name", "version", "generator_id", "id", "description"];
/// The schema of a template that comes without one: any parameters.
const ANY: &str = "{}";

/// Adds a template.
pub(super) fn create(door: &Door, args: &CreateArgs, print: &Print) -> Answered<Exit> {
    let (mut body, content) = source(&args.source)?;
    body["name"] = json!(args.name);
    if !args.labels.is_empty() || !args.annotations.is_empty() {
        body["labels"] = json!(args.labels);
        body["annotations"] = json!(args.annotations);
    }
    let made = door.make("POST", &strictly("/templates", args.source.strict), &body, &content)?;
    told(&made, &content, print)
}

/// Adds the next version of a template.
pub(super) fn update(door: &Door, args: &UpdateArgs, print: &Print) -> Answered<Exit> {
    let before = template(door, &args.template)?;
    let (mut body, content) = source(&args.source)?;
    if args.source.schema.is_none() {
        body["parameters_schema"] = before["parameters_schema"].clone();
    }
    body["drop_rules"] = json!(args.drop_rules);
    let to = format!("/templates/{}", id(&before));
    told(&door.make("PUT", &strictly(&to, args.source.strict), &body, &content)?, &content, print)
}

fn told(made: &Made, content: &Arc<Source>, print: &Print) -> Answered<Exit> {
    print.warnings(made, content);
    let answer = &made.answer;
    print.answer(answer, || format!("{} version {}: {}\n", text(answer, "name"), answer["version"], id(answer)))?;
    Ok(Exit::Ok)
}

fn strictly(path: &str, strict: bool) -> String {
    if strict { format!("{path}?strict=true") } else { path.to_owned() }
}

/// The request that makes a template, and the template.
fn source(args: &SourceArgs) -> Answered<(Json, Arc<Source>)> {
    let mut stdin = Stdin::default();
    let content = stdin.read(&args.file)?;
    let schema = args.schema.as_deref().map(|path| stdin.read(path)).transpose()?;
    let schema = schema.as_ref().map_or(ANY, |schema| schema.text());
    let body = json!({
        "description": args.description,
        "template_content": content.text(),
        "parameters_schema": schema,
    });
    Ok((body, content))
}

/// Lists templates.
pub(super) fn list(door: &Door, all: bool, print: &Print) -> Answered<Exit> {
    let rows = door.get("/templates")?;
    let rows = if all { rows } else { newest(&rows) };
    print.rows(&rows, COLUMNS)?;
    Ok(Exit::Ok)
}

/// The newest version of each template.
fn newest(rows: &Json) -> Json {
    let mut newest: Vec<&Json> = Vec::new();
    for row in rows.as_array().map(Vec::as_slice).unwrap_or_default() {
        let same = |other: &&mut &Json| other["name"] == row["name"] && other["generator_id"] == row["generator_id"];
        match newest.iter_mut().find(same) {
            Some(other) if other["version"].as_i64() < row["version"].as_i64() => *other = row,
            Some(_) => {}
            None => newest.push(row),
        }
    }
    json!(newest)
}

/// Shows a template.
pub(super) fn show(door: &Door, meant: &TemplateRef, print: &Print) -> Answered<Exit> {
    let mut row = template(door, meant)?;
    let of = format!("/templates/{}", id(&row));
    row["labels"] = door.get(&format!("{of}/labels"))?;
    row["annotations"] = door.get(&format!("{of}/annotations"))?;
    print.answer(&row, || {
        let mut out = format!("{} version {}\n", text(&row, "name"), row["version"]);
        for field in ["id", "generator_id", "description", "created_at", "checksum"] {
            out += &format!("{field}: {}\n", row[field].as_str().unwrap_or("-"));
        }
        out +=
            &format!("labels: {}\nannotations: {}\n", labels_of(&row["labels"]), annotations_of(&row["annotations"]));
        out + &format!(
            "--- schema\n{}\n--- template\n{}",
            text(&row, "parameters_schema"),
            text(&row, "template_content")
        )
    })?;
    Ok(Exit::Ok)
}

fn labels_of(rows: &Json) -> String {
    let labels = rows.as_array().into_iter().flatten().map(|row| text(row, "label"));
    labels.collect::<Vec<_>>().join(" ")
}

fn annotations_of(rows: &Json) -> String {
    let pairs = rows.as_array().into_iter().flatten();
    pairs.map(|row| format!("{}={}", text(row, "key"), text(row, "value"))).collect::<Vec<_>>().join(" ")
}

/// Shows or changes labels.
pub(super) fn labels(
    door: &Door,
    meant: &TemplateRef,
    add: &[String],
    remove: &[String],
    print: &Print,
) -> Answered<Exit> {
    let of = format!("/templates/{}/labels", id(&template(door, meant)?));
    add.iter().try_for_each(|label| door.post(&of, &json!(label)).map(|_| ()))?;
    remove.iter().try_for_each(|label| door.delete(&format!("{of}/{}", segment(label))))?;
    print.rows(&door.get(&of)?, &["label"])?;
    Ok(Exit::Ok)
}

/// Shows or changes annotations.
pub(super) fn annotate(
    door: &Door,
    meant: &TemplateRef,
    add: &[(String, String)],
    remove: &[String],
    print: &Print,
) -> Answered<Exit> {
    let of = format!("/templates/{}/annotations", id(&template(door, meant)?));
    let row = |(key, value): &(String, String)| json!({"key": key, "value": value});
    add.iter().try_for_each(|pair| door.post(&of, &row(pair)).map(|_| ()))?;
    remove.iter().try_for_each(|key| door.delete(&format!("{of}/{}", segment(key))))?;
    print.rows(&door.get(&of)?, &["key", "value"])?;
    Ok(Exit::Ok)
}

/// Lists the versions of a template.
pub(super) fn history(door: &Door, meant: &TemplateRef, print: &Print) -> Answered<Exit> {
    let rows = door.get(&format!("/templates/{}/versions", id(&template(door, meant)?)))?;
    print.rows(&rows, &["version", "id", "created_at", "checksum", "description"])?;
    Ok(Exit::Ok)
}

/// Deletes one version.
pub(super) fn delete(door: &Door, meant: &TemplateRef, print: &Print) -> Answered<Exit> {
    if let TemplateRef::Newest(name) = meant {
        let error = Diagnostic::new(Code::Usage, format!("`{name}` does not say which version"));
        return Err(error.with_help(format!("say `{name}@VERSION`, or its id")).into());
    }
    let row = template(door, meant)?;
    door.delete(&format!("/templates/{}", id(&row)))?;
    print.console.note(&format!("deleted {} version {}", text(&row, "name"), row["version"]));
    Ok(Exit::Ok)
}

/// Adds every template of a directory; one that is there as it is already is left alone, and one that cannot be added
/// does not keep the others out.
pub(super) fn import(door: &Door, dir: &Path, strict: bool, print: &Print) -> Answered<Exit> {
    let (mut made, mut same, mut errors) = (0, 0, Vec::new());
    for file in templates_in(dir)? {
        match import_one(door, &file, strict, print) {
            Ok(true) => made += 1,
            Ok(false) => same += 1,
            Err(failed) => {
                let ends = failed.diagnostics.iter().any(|error| error.code == Code::CatalogUnreachable);
                errors.extend(failed.diagnostics);
                if ends {
                    break;
                }
            }
        }
    }
    print.console.note(&format!("{made} new, {same} unchanged"));
    if errors.is_empty() { Ok(Exit::Ok) } else { Err(once_each(errors).into()) }
}

/// Whether there is a new version of the template in this file.
fn import_one(door: &Door, file: &Path, strict: bool, print: &Print) -> Answered<bool> {
    let (body, content) = import_body(file)?;
    let name = text(&body, "name");
    let there = door.get(&path("/templates", &[("name", &name)]))?;
    let last = there.as_array().into_iter().flatten().max_by_key(|row| row["version"].as_i64());
    let fields = ["template_content", "parameters_schema"];
    if last.is_some_and(|last| fields.iter().all(|field| last[*field] == body[*field])) {
        return Ok(false);
    }
    let made = door.make("POST", &strictly("/templates", strict), &body, &content)?;
    print.warnings(&made, &content);
    print.console.note(&format!("{name} version {}", made.answer["version"]));
    Ok(true)
}

fn templates_in(dir: &Path) -> Answered<Vec<PathBuf>> {
    let failed =
        |error: std::io::Error| Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", dir.display()));
    let entries: Vec<PathBuf> = std::fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>())
        .map_err(failed)?;
    let mut files: Vec<PathBuf> = entries.into_iter().filter(|path| stem(path).is_some()).collect();
    files.sort();
    if files.is_empty() {
        let message = format!("there is no template in `{}`", dir.display());
        return Err(Diagnostic::new(Code::NoTemplates, message)
            .with_help("templates end in .tera or .tera.yaml")
            .into());
    }
    Ok(files)
}

/// What a template's file is called without its ending.
fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    [".tera.yaml", ".tera.yml", ".tera"].iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty())
}

/// The request that makes a template of a file, and of what stands beside it: `X.schema.json`, `X.labels` with a label a
/// line, `X.annotations` with KEY=VALUE a line.
fn import_body(file: &Path) -> Answered<(Json, Arc<Source>)> {
    let mut stdin = Stdin::default();
    let name = stem(file).unwrap_or_default();
    let content = stdin.read(file)?;
    let mut beside = |end: &str| {
        let path = file.with_file_name(format!("{name}{end}"));
        path.exists().then(|| stdin.read(&path)).transpose()
    };
    let schema = beside(".schema.json")?;
    let mut body = json!({
        "name": name,
        "template_content": content.text(),
        "parameters_schema": schema.as_ref().map_or(ANY, |schema| schema.text()),
    });
    if let Some(labels) = beside(".labels")? {
        body["labels"] = lines(labels.text()).collect();
    }
    if let Some(annotations) = beside(".annotations")? {
        let pairs = lines(annotations.text()).map(|line| line.split_once('=').unwrap_or((line, "")));
        body["annotations"] = json!(pairs.collect::<Vec<_>>());
    }
    Ok((body, content))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// The id of a row.
pub(super) fn id(row: &Json) -> String {
    text(row, "id")
}

/// A text of a row.
pub(super) fn text(row: &Json, field: &str) -> String {
    row[field].as_str().unwrap_or_default().to_owned()
}
