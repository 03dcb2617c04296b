//! `dropforge catalog import`: all templates and packed charts of a directory.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use dropforge::diagnostics::{Code, Diagnostic, counted, thousands, without_duplicates};
use dropforge::dialect::helm::chart::{Chart, ChartSource, to_base64};

use super::client::{Client, ClientResult, path};
use super::output::Output;
use super::output::{rows, text, version_of};
use super::templates::{ANY_SCHEMA, Request, print_warnings, strict_path};
use crate::chart;
use crate::exit::Exit;
use crate::input::InputFiles;
use dropforge::files::unreadable;

/// Adds every template of a directory. Skips unchanged templates, and continues after one that fails.
pub(crate) fn import(
    client: &Client,
    dir: &Path,
    strict: bool,
    inputs: &mut InputFiles,
    output: &Output,
) -> ClientResult<Exit> {
    let (mut new, mut unchanged, mut errors) = (0, 0, Vec::new());
    for file in templates_in(dir)? {
        match request(&file, inputs).and_then(|request| import_one(client, &request, strict, output)) {
            Ok(true) => new += 1,
            Ok(false) => unchanged += 1,
            Err(failed) => {
                let unreachable = failed.diagnostics.iter().any(|error| error.code == Code::CatalogUnreachable);
                errors.extend(failed.diagnostics);
                if unreachable {
                    break;
                }
            }
        }
    }
    let (total, new, unchanged) = (counted(new + unchanged, "template"), thousands(new), thousands(unchanged));
    output.stderr.note(&format!("imported {total}: {new} new, {unchanged} unchanged"));
    if errors.is_empty() { Ok(Exit::Ok) } else { Err(without_duplicates(errors).into()) }
}

/// Sends the request of one file. Returns `true` if it made a new version.
fn import_one(client: &Client, (body, content): &Request, strict: bool, output: &Output) -> ClientResult<bool> {
    let name = text(body, "name");
    let versions = client.rows(&path("/templates", &[("name", name)]))?;
    let last = rows(&versions).iter().max_by_key(|row| row["version"].as_i64());
    // A chart may bring its own schema.
    let is_same = |last: &Json, field: &str| body.get(field).is_none_or(|given| last[field] == *given);
    if last.is_some_and(|last| ["template_content", "parameters_schema"].iter().all(|field| is_same(last, field))) {
        return Ok(false);
    }
    let created = client.create("POST", &strict_path("/templates", strict), body, content.as_ref())?;
    print_warnings(&created, content.as_ref(), output);
    output.stderr.note(&format!("added {}", version_of(&created.resource)));
    Ok(true)
}

fn templates_in(dir: &Path) -> ClientResult<Vec<PathBuf>> {
    let entries: Vec<PathBuf> = std::fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>())
        .map_err(|error| unreadable(dir, error))?;
    let mut files: Vec<PathBuf> = entries.into_iter().filter(|path| stem(path).is_some() || is_chart(path)).collect();
    files.sort_unstable();
    if files.is_empty() {
        let message = format!("no templates in `{}`", dir.display());
        return Err(Diagnostic::new(Code::NoTemplates, message)
            .with_help("template names end in `.tera`, `.tera.yaml` or `.tgz`")
            .into());
    }
    Ok(files)
}

/// The file name of a template without its extension.
fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    [".tera.yaml", ".tera.yml", ".tera"].iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty())
}

/// Returns `true` for a packed chart.
fn is_chart(path: &Path) -> bool {
    path.is_file() && chart::is_source(path)
}

/// Returns the request that creates the template `X` of a file, or of a chart with this name. Its schema is in
/// `X.schema.json`, its labels in the lines of `X.labels`, its annotations in the lines KEY=VALUE of `X.annotations`.
fn request(file: &Path, files: &mut InputFiles) -> ClientResult<Request> {
    let (mut body, content) = match stem(file) {
        Some(name) => of_text(name, file, files)?,
        None => of_chart(file, files)?,
    };
    let name = text(&body, "name").to_owned();
    let mut read = |end: &str| {
        let path = file.with_file_name(format!("{name}{end}"));
        path.exists().then(|| files.read_regular(&path)).transpose()
    };
    if let Some(schema) = read(".schema.json")? {
        body["parameters_schema"] = schema.text().into();
    }
    if let Some(labels) = read(".labels")? {
        body["labels"] = lines(labels.text()).collect();
    }
    if let Some(annotations) = read(".annotations")? {
        let pairs = lines(annotations.text()).map(|line| line.split_once('=').unwrap_or((line, "")));
        body["annotations"] = json!(pairs.collect::<Vec<_>>());
    }
    Ok((body, content))
}

fn of_text(name: &str, file: &Path, files: &mut InputFiles) -> ClientResult<Request> {
    let content = files.read_regular(file)?;
    let body = json!({"name": name, "template_content": content.text(), "parameters_schema": ANY_SCHEMA});
    Ok((body, Some(content)))
}

fn of_chart(file: &Path, files: &mut InputFiles) -> ClientResult<Request> {
    let chart = Chart::load(&ChartSource::open(file)?)?;
    let content = to_base64(&files.bytes(file, "-")?);
    let name = &chart.metadata().name;
    let body = json!({"name": name, "template_content": content, "language": "helm", "encoding": "base64"});
    Ok((body, None))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}
