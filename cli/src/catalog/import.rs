//! `dropforge catalog import`: all templates of a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value as Json, json};

use dropforge::diagnostics::{Code, Diagnostic, counted, thousands, without_duplicates};
use dropforge::text::Source;

use super::client::{Client, ClientResult, path};
use super::output::Output;
use super::rows::{rows, text, version_of};
use super::templates::{ANY_SCHEMA, strict_path};
use crate::exit::Exit;
use crate::input::{InputFiles, unreadable};

/// Add all templates of a directory: X.tera, optionally with X.schema.json, X.labels and X.annotations.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Directory of templates
    dir: PathBuf,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

/// Adds every template of a directory. Skips unchanged templates, and continues after one that fails.
pub(crate) fn import(
    client: &Client,
    args: &ImportArgs,
    inputs: &mut InputFiles,
    output: &Output,
) -> ClientResult<Exit> {
    let (mut new, mut unchanged, mut errors) = (0, 0, Vec::new());
    for file in templates_in(&args.dir)? {
        match request(&file, inputs).and_then(|request| import_one(client, &request, args.strict, output)) {
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
    output.console.note(&format!("imported {total}: {new} new, {unchanged} unchanged"));
    if errors.is_empty() { Ok(Exit::Ok) } else { Err(without_duplicates(errors).into()) }
}

/// Sends the request of one file. Returns `true` if it made a new version.
fn import_one(
    client: &Client,
    (body, content): &(Json, Arc<Source>),
    strict: bool,
    output: &Output,
) -> ClientResult<bool> {
    let name = text(body, "name");
    let versions = client.get(&path("/templates", &[("name", name)]))?;
    let last = rows(&versions).iter().max_by_key(|row| row["version"].as_i64());
    let fields = ["template_content", "parameters_schema"];
    if last.is_some_and(|last| fields.iter().all(|field| last[*field] == body[*field])) {
        return Ok(false);
    }
    let created = client.create("POST", &strict_path("/templates", strict), body, Some(content))?;
    output.warnings(&created, content);
    output.console.note(&format!("added {}", version_of(&created.resource)));
    Ok(true)
}

fn templates_in(dir: &Path) -> ClientResult<Vec<PathBuf>> {
    let entries: Vec<PathBuf> = std::fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>())
        .map_err(|error| unreadable(dir, error))?;
    let mut files: Vec<PathBuf> = entries.into_iter().filter(|path| stem(path).is_some()).collect();
    files.sort();
    if files.is_empty() {
        let message = format!("no templates in `{}`", dir.display());
        return Err(Diagnostic::new(Code::NoTemplates, message)
            .with_help("template names end in `.tera` or `.tera.yaml`")
            .into());
    }
    Ok(files)
}

/// The file name of a template without its extension.
fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    [".tera.yaml", ".tera.yml", ".tera"].iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty())
}

/// Returns the request that creates the template `X` of a file, and its source. Its schema is in `X.schema.json`, its
/// labels in the lines of `X.labels`, its annotations in the lines KEY=VALUE of `X.annotations`.
fn request(file: &Path, files: &mut InputFiles) -> ClientResult<(Json, Arc<Source>)> {
    let name = stem(file).unwrap_or_default();
    let content = files.read(file)?;
    let mut read = |end: &str| {
        let path = file.with_file_name(format!("{name}{end}"));
        path.exists().then(|| files.read(&path)).transpose()
    };
    let schema = read(".schema.json")?;
    let mut body = json!({
        "name": name,
        "template_content": content.text(),
        "parameters_schema": schema.as_ref().map_or(ANY_SCHEMA, |schema| schema.text()),
    });
    if let Some(labels) = read(".labels")? {
        body["labels"] = lines(labels.text()).collect();
    }
    if let Some(annotations) = read(".annotations")? {
        let pairs = lines(annotations.text()).map(|line| line.split_once('=').unwrap_or((line, "")));
        body["annotations"] = json!(pairs.collect::<Vec<_>>());
    }
    Ok((body, content))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}
