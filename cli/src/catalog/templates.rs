//! Commands on templates.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value as Json, json};

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::dialect::helm::chart::to_base64;
use dropforge::text::Source;
use dropforge_catalog::finding_line;

use super::client::{Client, ClientResult, Created, segment};
use super::output::{Output, TemplateRef, pair, template};
use super::output::{content, id, is_chart, rows, text, version_of};
use crate::chart;
use crate::exit::Exit;
use crate::input::InputFiles;

/// The columns of a list.
const COLUMNS: &[&str] = &["name", "version", "generator_id", "id", "description"];
/// The schema of a template without one, which accepts any parameters.
pub(crate) const ANY_SCHEMA: &str = "{}";

/// The source of a template.
#[derive(Debug, Args)]
struct SourceArgs {
    /// Template file, packed Helm chart (`.tgz`), or `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Set the JSON Schema of the parameters [default of a chart: its `values.schema.json`]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Set a description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

/// Add a template, or the next version if its name exists
///
///     dropforge catalog create web web.yaml.tera
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CreateArgs {
    /// Name of the template
    name: String,
    #[command(flatten)]
    source: SourceArgs,
    /// Require a label of stacks
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// Require an annotation of stacks
    #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = pair)]
    annotations: Vec<(String, String)>,
}

/// Adds a template.
pub(crate) fn create(
    client: &Client,
    args: &CreateArgs,
    files: &mut InputFiles,
    output: &Output,
) -> ClientResult<Exit> {
    let (mut body, content) = args.source.request(files)?;
    body["name"] = json!(args.name);
    if !args.labels.is_empty() || !args.annotations.is_empty() {
        body["labels"] = json!(args.labels);
        body["annotations"] = json!(args.annotations);
    }
    let created = client.create("POST", &strict_path("/templates", args.source.strict), &body, content.as_ref())?;
    print_version(&created, content.as_ref(), output)
}

/// Add the next version of a template
///
///     dropforge catalog update web web.yaml.tera
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UpdateArgs {
    /// ID, name, or NAME@VERSION of the version whose labels and annotations to copy
    template: TemplateRef,
    #[command(flatten)]
    source: SourceArgs,
    /// Do not copy labels and annotations
    #[arg(long)]
    drop_rules: bool,
}

/// Adds the next version of a template.
pub(crate) fn update(
    client: &Client,
    args: &UpdateArgs,
    files: &mut InputFiles,
    output: &Output,
) -> ClientResult<Exit> {
    let before = template(client, &args.template)?;
    let (mut body, content) = args.source.request(files)?;
    // A chart brings its own schema, and has no use for that of a text.
    if args.source.schema.is_none() && content.is_some() && !is_chart(&before) {
        body["parameters_schema"] = before["parameters_schema"].clone();
    }
    if content.is_some() && is_chart(&before) {
        body["language"] = json!("tera");
    }
    body["drop_rules"] = json!(args.drop_rules);
    let path = strict_path(&format!("/templates/{}", id(&before)), args.source.strict);
    let created = client.create("PUT", &path, &body, content.as_ref())?;
    print_version(&created, content.as_ref(), output)
}

/// A request that creates a template, and its source, unless that is a packed chart.
pub(super) type Request = (Json, Option<Arc<Source>>);

impl SourceArgs {
    /// Returns the request that creates the template.
    fn request(&self, files: &mut InputFiles) -> ClientResult<Request> {
        let schema = self.schema.as_deref().map(|path| files.read(path, "--schema -")).transpose()?;
        let schema = schema.as_ref().map(|schema| schema.text());
        let description = &self.description;
        if chart::is_chart(&self.file) {
            let body = json!({
                "description": description,
                "template_content": self.packed(files)?,
                "parameters_schema": schema,
                "language": "helm",
                "encoding": "base64",
            });
            return Ok((body, None));
        }
        let content = files.read(&self.file, "-")?;
        let body = json!({
            "description": description,
            "template_content": content.text(),
            "parameters_schema": schema.unwrap_or(ANY_SCHEMA),
        });
        Ok((body, Some(content)))
    }

    /// Reads a packed chart.
    ///
    /// # Errors
    /// `usage` for a chart that is not packed.
    fn packed(&self, files: &mut InputFiles) -> ClientResult<String> {
        if self.file.extension().is_some_and(|extension| extension == "tgz") {
            return Ok(to_base64(&files.bytes(&self.file, "-")?));
        }
        let path = self.file.display();
        let error = Diagnostic::new(Code::Usage, format!("`{path}` is not a packed Helm chart"));
        Err(error.with_help("the catalog takes what `helm package` makes: a file named `*.tgz`").into())
    }
}

fn print_version(created: &Created, content: Option<&Arc<Source>>, output: &Output) -> ClientResult<Exit> {
    print_warnings(created, content, output);
    let template = &created.resource;
    output.result(template, || format!("{}: {}\n", version_of(template), id(template)))?;
    Ok(Exit::Ok)
}

/// Prints the warnings about a new version. Those about a packed chart have no source.
pub(super) fn print_warnings(created: &Created, content: Option<&Arc<Source>>, output: &Output) {
    match content {
        Some(content) => output.warnings(created, content),
        None => created.warnings.iter().for_each(|found| output.stderr.warning(&finding_line(found))),
    }
}

/// Adds the query for strict checks to a path.
pub(crate) fn strict_path(path: &str, strict: bool) -> String {
    format!("{path}{}", if strict { "?strict=true" } else { "" })
}

/// Lists templates.
pub(crate) fn list(client: &Client, all: bool, output: &Output) -> ClientResult<Exit> {
    let list = client.rows(if all { "/templates" } else { "/templates?latest=true" })?;
    output.rows(&list, COLUMNS)?;
    Ok(Exit::Ok)
}

/// Shows a template.
pub(crate) fn show(client: &Client, reference: &TemplateRef, output: &Output) -> ClientResult<Exit> {
    let mut row = template(client, reference)?;
    for field in ["labels", "annotations"] {
        row[field] = client.rows(&format!("/templates/{}/{field}", id(&row)))?;
    }
    output.result(&row, || {
        let mut out = version_of(&row) + "\n";
        for field in ["id", "generator_id", "description", "created_at", "checksum"] {
            out += &format!("{field}: {}\n", row[field].as_str().unwrap_or("-"));
        }
        let labels: Vec<&str> = rows(&row["labels"]).iter().map(|row| text(row, "label")).collect();
        let pair = |row: &Json| format!("{}={}", text(row, "key"), text(row, "value"));
        let annotations: Vec<String> = rows(&row["annotations"]).iter().map(pair).collect();
        out += &format!("labels: {}\nannotations: {}\n", labels.join(" "), annotations.join(" "));
        let (schema, content) = (text(&row, "parameters_schema"), content(&row));
        out + &format!("--- schema\n{schema}\n--- template\n{content}")
    })?;
    Ok(Exit::Ok)
}

/// Shows or changes the labels or annotations that a stack must have. `list` is the last segment of their path.
pub(crate) fn metadata(
    client: &Client,
    (reference, list): (&TemplateRef, &str),
    add: impl Iterator<Item = Json>,
    remove: &[String],
    output: &Output,
) -> ClientResult<Exit> {
    let path = format!("/templates/{}/{list}", id(&template(client, reference)?));
    for item in add {
        client.post(&path, &item)?;
    }
    for key in remove {
        client.delete(&format!("{path}/{}", segment(key)))?;
    }
    let columns: &[&str] = if list == "labels" { &["label"] } else { &["key", "value"] };
    output.rows(&client.rows(&path)?, columns)?;
    Ok(Exit::Ok)
}

/// Lists the versions of a template.
pub(crate) fn history(client: &Client, reference: &TemplateRef, output: &Output) -> ClientResult<Exit> {
    let list = client.rows(&format!("/templates/{}/versions", id(&template(client, reference)?)))?;
    output.rows(&list, &["version", "id", "created_at", "checksum", "description"])?;
    Ok(Exit::Ok)
}

/// Deletes one version.
pub(crate) fn delete(client: &Client, reference: &TemplateRef, output: &Output) -> ClientResult<Exit> {
    if let TemplateRef::Newest(name) = reference {
        let error = Diagnostic::new(Code::Usage, format!("the version of `{name}` to delete is missing"));
        return Err(error.with_help(format!("use `{name}@VERSION` or an ID")).into());
    }
    let row = template(client, reference)?;
    client.delete(&format!("/templates/{}", id(&row)))?;
    output.stderr.note(&format!("deleted {}", version_of(&row)));
    Ok(Exit::Ok)
}
