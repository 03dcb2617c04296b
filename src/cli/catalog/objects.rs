//! Commands on what is rendered.

use clap::ArgMatches;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::args::InstantiateArgs;
use super::door::{Answered, Door};
use super::named::{TemplateRef, stack, template};
use super::print::Print;
use super::templates::{id, text};
use crate::bulk::unified_diff;
use crate::catalog::finding;
use crate::cli::exit::Exit;
use crate::cli::values::{self, Stdin};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::Source;

/// Renders a template into a stack.
pub(super) fn instantiate(door: &Door, args: &InstantiateArgs, matches: &ArgMatches, print: &Print) -> Answered<Exit> {
    let layers = values::layers(&args.values, matches, &mut Stdin::default())?;
    let unwritable = |error: serde_json::Error| Diagnostic::new(Code::InputType, format!("no JSON: {error}"));
    let parameters = serde_json::to_value(layers.alone()?).map_err(unwritable)?;
    let template = template(door, &args.template)?;
    let stack = stack(door, &args.stack)?;
    let body = json!({"template_id": id(&template), "parameters": parameters});
    let to = format!("/stacks/{stack}/deployment-objects/from-template?order=seed&defaults={}", args.defaults);
    let named = |end: &str| format!("{}@{}{end}", text(&template, "name"), template["version"]);
    let made = door.make("POST", &to, &body, &Source::new(named(""), text(&template, "template_content")))?;
    let (object, yaml) = (&made.answer, text(&made.answer, "yaml_content"));
    print.warnings(&made, &Source::new(named(" (rendered)"), yaml.clone()));
    let version = format!("{} version {}", text(&template, "name"), template["version"]);
    print.console.note(&format!("deployment object {} of {version}", id(object)));
    print.answer(object, || if yaml.ends_with('\n') { yaml } else { yaml + "\n" })?;
    Ok(Exit::Ok)
}

/// Renders objects again.
pub(super) fn verify(door: &Door, objects: &[String], print: &Print) -> Answered<Exit> {
    let mut exit = Exit::Ok;
    for meant in objects {
        let object = &object(door, meant)?;
        let found = door.post(&format!("/deployment-objects/{object}/verify"), &Json::Null)?;
        let verified = found["verified"].as_bool() == Some(true);
        print.answer(&found, || report(object, verified, &found))?;
        if !verified {
            exit = Exit::Differs;
        }
    }
    Ok(exit)
}

/// The id of an object: as it is, or of the newest object of the stack with this name.
fn object(door: &Door, meant: &str) -> Answered<String> {
    if meant.parse::<Uuid>().is_ok() {
        return Ok(meant.to_owned());
    }
    let objects = door.get(&format!("/stacks/{}/deployment-objects?limit=1", stack(door, meant)?))?;
    objects
        .get(0)
        .map(id)
        .ok_or_else(|| Diagnostic::new(Code::CatalogRefused, format!("there is nothing in the stack `{meant}`")).into())
}

fn report(object: &str, verified: bool, found: &Json) -> String {
    if verified {
        let record = &found["provenance"];
        let version = format!("template {} version {}", text(record, "template_id"), record["template_version"]);
        return format!("{object}: verified, sha256 {} from {version}\n", text(found, "found_checksum"));
    }
    let problems = found["problems"].as_array().into_iter().flatten();
    let problems: String = problems.map(|one| format!("  {}\n", one.as_str().unwrap_or_default())).collect();
    format!("{object}: NOT verified\n{problems}{}", text(found, "diff"))
}

/// What would change with this version, or the diff of two versions.
pub(super) fn diff(door: &Door, meant: &TemplateRef, with: Option<&TemplateRef>, print: &Print) -> Answered<Exit> {
    let new = template(door, meant)?;
    let Some(with) = with else { return changes(door, &new, print) };
    let old = template(door, with)?;
    let name = |row: &Json, field: &str| format!("{}@{} {field}", text(row, "name"), row["version"]);
    let of = |field: &str| unified_diff(&name(&old, field), &name(&new, field), &text(&old, field), &text(&new, field));
    let diff = of("template_content") + &of("parameters_schema");
    print.answer(&json!({"from": id(&old), "to": id(&new), "diff": diff}), || diff.clone())?;
    Ok(if diff.is_empty() { Exit::Ok } else { Exit::Differs })
}

fn changes(door: &Door, new: &Json, print: &Print) -> Answered<Exit> {
    let found = door.post(&format!("/templates/{}/changes", id(new)), &Json::Null)?;
    let groups = found["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    print.answer(&found, || {
        let head = format!("{} instances, {} unchanged\n", found["instances"], found["unchanged"]);
        groups.iter().fold(head, |out, one| out + &group(one))
    })?;
    Ok(if groups.is_empty() { Exit::Ok } else { Exit::Differs })
}

/// One group of instances that change alike.
fn group(change: &Json) -> String {
    let instances = change["instances"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut out = format!("\n{} instances:", instances.len());
    for one in instances {
        out += &format!(" {}", text(one, "deployment_object_id"));
    }
    out.push('\n');
    for error in change["errors"].as_array().into_iter().flatten() {
        out += &format!("  {}\n", finding(error));
    }
    out + &text(change, "diff")
}
