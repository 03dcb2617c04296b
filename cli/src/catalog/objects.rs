//! Commands on deployment objects and stacks.

use super::client::{Client, ClientResult};
use super::output;
use super::output::{Output, TemplateRef, content, id, is_chart, pair, rows, stack, template, text, version_of};
use crate::exit::Exit;
use crate::input::InputFiles;
use crate::layers::layers;
use crate::options::ValueArgs;
use clap::{Args, Subcommand};
use dropforge::bulk::unified_diff;
use dropforge::bulk::why::{Answer, LinePlace};
use dropforge::diagnostics::{Code, Diagnostic, counted, thousands};
use dropforge::text::Source;
use dropforge_catalog::finding_line;
use serde_json::{Value as Json, json};
use uuid::Uuid;

/// Render a template into a stack and print the result
///
///     dropforge catalog instantiate web --stack shop-prod --set replicas=3
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InstantiateArgs {
    /// ID, name, or NAME@VERSION
    template: TemplateRef,
    /// ID or name of the stack
    #[arg(long, value_name = "STACK")]
    stack: String,
    /// Fill in defaults from the schema
    #[arg(long)]
    defaults: bool,
    #[command(flatten)]
    values: ValueArgs,
}

/// Renders a template into a stack.
pub(crate) fn instantiate(
    client: &Client,
    args: &InstantiateArgs,
    files: &mut InputFiles,
    output: &Output,
) -> ClientResult<Exit> {
    let layers = layers(&args.values, files, output.stderr)?;
    let parameters = serde_json::to_value(layers.alone()?)
        .map_err(|error| Diagnostic::new(Code::InputType, format!("cannot write the parameters as JSON: {error}")))?;
    let template = template(client, &args.template)?;
    let stack = stack(client, &args.stack)?;
    let body = json!({"template_id": id(&template), "parameters": parameters});
    let path = format!("/stacks/{stack}/deployment-objects/from-template?order=seed&defaults={}", args.defaults);
    let name = format!("{}@{}", text(&template, "name"), template["version"]);
    let source = Source::new(name.as_str(), text(&template, "template_content"));
    let source = (!is_chart(&template)).then_some(&source);
    let created = client.create("POST", &path, &body, source)?;
    let (object, yaml) = (&created.resource, text(&created.resource, "yaml_content"));
    output.warnings(&created, &Source::new(name + " (rendered)", yaml));
    output.stderr.note(&format!("created deployment object {} from {}", id(object), version_of(&template)));
    output.result(object, || format!("{yaml}{}", if yaml.ends_with('\n') { "" } else { "\n" }))?;
    Ok(Exit::Ok)
}

/// Renders objects again and compares them.
pub(crate) fn verify(client: &Client, objects: &[String], output: &Output) -> ClientResult<Exit> {
    let mut exit = Exit::Ok;
    for reference in objects {
        let object = &object(client, reference)?;
        let result = client.post(&format!("/deployment-objects/{object}/verify"), &Json::Null)?;
        let verified = result["verified"].as_bool() == Some(true);
        output.result(&result, || verification(object, verified, &result))?;
        if !verified {
            exit = Exit::Differs;
        }
    }
    Ok(exit)
}

/// Returns the id of an object, or of the newest object of a stack.
fn object(client: &Client, reference: &str) -> ClientResult<String> {
    if reference.parse::<Uuid>().is_ok() {
        return Ok(reference.to_owned());
    }
    let objects = client.rows(&format!("/stacks/{}/deployment-objects?limit=1", stack(client, reference)?))?;
    let message = || format!("stack `{reference}` has no deployment objects");
    let newest = rows(&objects).first().ok_or_else(|| Diagnostic::new(Code::CatalogRefused, message()))?;
    Ok(id(newest).to_owned())
}

fn verification(object: &str, verified: bool, result: &Json) -> String {
    if verified {
        let record = &result["provenance"];
        let version = format!("template {} version {}", text(record, "template_id"), record["template_version"]);
        return format!("{object}: verified, sha256 {} from {version}\n", text(result, "found_checksum"));
    }
    let problems = rows(&result["problems"]).iter();
    let problems: String = problems.map(|one| format!("  {}\n", one.as_str().unwrap_or_default())).collect();
    format!("{object}: NOT verified\n{problems}{}", text(result, "diff"))
}

/// Parses the place of a line: `OBJECT:LINE` or `OBJECT:LINE:COLUMN`.
pub(crate) fn object_place(text: &str) -> Result<(String, LinePlace), String> {
    let place = LinePlace::parse(text).map(|(name, place)| (name.to_owned(), place));
    place.ok_or_else(|| "write `OBJECT:LINE` or `OBJECT:LINE:COLUMN`".to_owned())
}

/// Tells what wrote a line of an object.
pub(crate) fn why(client: &Client, (name, place): &(String, LinePlace), output: &Output) -> ClientResult<Exit> {
    let LinePlace { line, column } = place;
    let column = column.map(|column| format!("&column={column}")).unwrap_or_default();
    let found = client.row(&format!("/deployment-objects/{}/why?line={line}{column}", object(client, name)?))?;
    let answer: Answer = serde_json::from_value(found.clone())
        .map_err(|error| Diagnostic::new(Code::CatalogUnreachable, format!("the response cannot be read: {error}")))?;
    output.result(&found, || answer.text(output.stderr.colors_stdout()))?;
    Ok(Exit::Ok)
}

/// Prints the changes of a version to instances, or the diff of two versions.
pub(crate) fn diff(
    client: &Client,
    reference: &TemplateRef,
    with: Option<&TemplateRef>,
    output: &Output,
) -> ClientResult<Exit> {
    let new = template(client, reference)?;
    let Some(with) = with else { return changes(client, &new, output) };
    let old = template(client, with)?;
    let name = |row: &Json, field: &str| format!("{}@{} {field}", text(row, "name"), row["version"]);
    let of =
        |field: &str, before: &str, after: &str| unified_diff(&name(&old, field), &name(&new, field), before, after);
    let schema = |row| text(row, "parameters_schema");
    let diff =
        of("template_content", &content(&old), &content(&new)) + &of("parameters_schema", schema(&old), schema(&new));
    output.result(&json!({"from": id(&old), "to": id(&new), "diff": diff}), || diff.clone())?;
    Ok(if diff.is_empty() { Exit::Ok } else { Exit::Differs })
}

fn changes(client: &Client, new: &Json, output: &Output) -> ClientResult<Exit> {
    let result = client.post(&format!("/templates/{}/changes", id(new)), &Json::Null)?;
    let changes = rows(&result["changes"]);
    output.result(&result, || {
        let count = |field: &str| result[field].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        let head =
            format!("{}, {} unchanged\n", counted(count("instances"), "instance"), thousands(count("unchanged")));
        head + &changes.iter().map(change).collect::<String>()
    })?;
    Ok(if changes.is_empty() { Exit::Ok } else { Exit::Differs })
}

/// Formats a change and the instances that it affects.
fn change(change: &Json) -> String {
    let instances = rows(&change["instances"]);
    let mut out = format!("\n{}:", counted(instances.len(), "instance"));
    out.extend(instances.iter().flat_map(|one| [" ", text(one, "deployment_object_id")]));
    out.push('\n');
    out.extend(rows(&change["errors"]).iter().map(|error| format!("  {}\n", finding_line(error))));
    out + text(change, "diff")
}

/// Commands on stacks.
#[derive(Debug, Subcommand)]
pub(crate) enum StackCommand {
    /// Add a stack
    ///
    ///     dropforge catalog stack create shop-prod --generator ci --label env=prod
    #[command(verbatim_doc_comment)]
    Create {
        /// Name of the stack
        name: String,
        /// Set the owner: ID or name of a generator
        #[arg(long, value_name = "GENERATOR")]
        generator: String,
        /// Set a description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Add a label
        #[arg(long = "label", value_name = "LABEL")]
        labels: Vec<String>,
        /// Add an annotation
        #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = pair)]
        annotations: Vec<(String, String)>,
    },
    /// List stacks
    ///
    ///     dropforge catalog stack list
    #[command(verbatim_doc_comment)]
    List,
    /// Delete a stack and its objects
    ///
    ///     dropforge catalog stack delete shop-prod
    #[command(verbatim_doc_comment)]
    Delete {
        /// ID or name of the stack
        stack: String,
    },
    /// List the deployment objects of a stack
    ///
    ///     dropforge catalog stack objects shop-prod
    #[command(verbatim_doc_comment)]
    Objects {
        /// ID or name of the stack
        stack: String,
    },
}

/// Runs a command.
pub(crate) fn run_stack(client: &Client, command: &StackCommand, output: &Output) -> ClientResult<Exit> {
    match command {
        StackCommand::Create { name, generator, description, labels, annotations } => {
            let generator = output::generator(client, generator)?;
            let body = json!({"name": name, "description": description, "generator_id": generator});
            let stack = client.post("/stacks", &body)?;
            let path = format!("/stacks/{}", id(&stack));
            for label in labels {
                client.post(&format!("{path}/labels"), &json!(label))?;
            }
            for (key, value) in annotations {
                let body = json!({"stack_id": id(&stack), "key": key, "value": value});
                client.post(&format!("{path}/annotations"), &body)?;
            }
            output.result(&stack, || format!("{}: {}\n", text(&stack, "name"), id(&stack)))?;
        }
        StackCommand::List => {
            output.rows(&client.rows("/stacks")?, &["name", "id", "generator_id", "description"])?;
        }
        StackCommand::Delete { stack } => {
            let id = output::stack(client, stack)?;
            client.delete(&format!("/stacks/{id}"))?;
            output.stderr.note(&format!("deleted stack {stack}"));
        }
        StackCommand::Objects { stack } => {
            let path = format!("/stacks/{}/deployment-objects", output::stack(client, stack)?);
            let columns = ["sequence_id", "id", "submitted_at", "is_deletion_marker", "yaml_checksum"];
            output.rows(&client.rows(&path)?, &columns)?;
        }
    }
    Ok(Exit::Ok)
}
