//! The checks of a review.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::declared::{Declared, Schemas};
use super::finding::{Finding, Review};
use crate::parameters::Schema;
use dropforge::bytecode::analysis::{InputPath, Reads, display_path};
use dropforge::diagnostics::nearest;
use dropforge::engine::Template;
use dropforge::function::{Capabilities, Registry};
use dropforge::text::Position;
use dropforge::value::ReadPaths;

/// Help for functions that access anything but the parameters.
pub(crate) const PARAMETERS_ONLY: &str = "templates can use only their parameters: make it a parameter";

/// Maximum number of findings.
pub(super) const MAX_FINDINGS: usize = 100;

/// Checks a template against its schema. `registry` contains the functions that templates may call.
pub(crate) fn review(template: &Template, schema: &Schema, registry: &Registry) -> Review {
    let reads = Reads::of(template.program());
    let root = schema.document();
    let mut schemas = Schemas::new(root);
    let declared = schemas.declared(&[root]);
    let inputs: Vec<String> = template.inputs().into_iter().map(str::to_owned).collect();
    let mut findings: Vec<Finding> =
        template.lints().iter().map(|lint| Finding::from_diagnostic(lint, lint.code.name())).collect();
    findings.extend(forbidden(&reads, registry));
    if !declared.properties.is_empty() {
        findings.extend(undeclared(&mut schemas, &declared, &reads));
        findings.sort_by_key(|finding| (finding.line, finding.column));
        // Code after a certain failure was removed, so its reads are unknown.
        if !reads.everything && template.lints().is_empty() {
            findings.extend(unread(&declared, &inputs));
        }
    }
    findings.truncate(MAX_FINDINGS);
    Review { inputs, findings }
}

/// Functions that need a capability. A catalog's engine has none.
fn forbidden(reads: &Reads<'_>, registry: &Registry) -> Vec<Finding> {
    let finding = |(&(kind, name), at): (&(_, &str), &Option<Position>)| {
        let needs = registry.get(kind, name)?.needs;
        if Capabilities::NONE.include(needs) {
            return None;
        }
        let (kind, needs) = (kind.name(), needs.names().collect::<Vec<_>>().join(" and "));
        let message = format!("{kind} `{name}` needs the capability {needs}, which templates in a catalog do not have");
        Some(Finding::new("function.capability_off", name, message).at(*at).with_help(PARAMETERS_ONLY.to_owned()))
    };
    reads.calls.iter().filter_map(finding).collect()
}

/// Names that are read but not declared, each at its first use.
fn undeclared<'s>(schemas: &mut Schemas<'s>, top: &Rc<Declared<'s>>, reads: &Reads<'_>) -> Vec<Finding> {
    let mut paths: Vec<_> = reads.paths.iter().collect();
    paths.sort_by_key(|(_, at)| at.as_ref().map(|at| (at.line, at.column)));
    let mut seen = BTreeSet::new();
    let finding = |(path, at): (&InputPath<'_>, &Option<Position>)| {
        let finding = first_undeclared(schemas, top, path)?;
        seen.insert(finding.name.clone()).then(|| finding.at(*at))
    };
    paths.into_iter().filter_map(finding).take(MAX_FINDINGS).collect()
}

/// The finding for the first undeclared name of a path.
fn first_undeclared<'s>(schemas: &mut Schemas<'s>, top: &Rc<Declared<'s>>, path: &InputPath<'_>) -> Option<Finding> {
    if path.or.iter().any(|input| top.knows(input)) {
        return None;
    }
    let mut here = top.clone();
    for (depth, name) in path.names.iter().enumerate() {
        let name = name.as_str();
        let item = name == ReadPaths::ITEM || depth > 0 && name.parse::<usize>().is_ok();
        here = match here.properties.get(name) {
            _ if item && !here.elements.is_empty() => schemas.declared(&here.elements),
            _ if item || here.properties.is_empty() => return None,
            Some(below) => schemas.declared(below),
            None if here.knows(name) => return None,
            None => return undeclared_finding(&here, &path.names, depth),
        };
    }
    None
}

/// The finding for the name at `depth`, which `here` does not declare.
fn undeclared_finding(here: &Declared<'_>, path: &[String], depth: usize) -> Option<Finding> {
    let (name, near) = (path.get(depth)?, nearest(path.get(depth)?, here.names()));
    // Top-level names must be declared unless the schema allows others. Nested schemas are often incomplete, so their
    // unknown names need a reason to be reported.
    let unexpected = if depth == 0 { !here.open || here.closed } else { here.closed };
    if !unexpected && near.is_none() {
        return None;
    }
    let whole = display_path(path.get(..=depth)?);
    let (code, message) = match depth {
        0 => ("schema.undeclared", format!("`{name}` is read but not declared in the schema")),
        _ => {
            let parent = display_path(path.get(..depth)?);
            (
                "schema.undeclared_property",
                format!("`{whole}` is read, but the schema of `{parent}` does not declare `{name}`"),
            )
        }
    };
    let finding = Finding::new(code, &whole, message);
    Some(match near {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    })
}

/// Names that are declared but never read. `inputs` must be sorted.
fn unread(declared: &Declared<'_>, inputs: &[String]) -> Vec<Finding> {
    let names: BTreeSet<&str> = declared.names().collect();
    let unread = names.into_iter().filter(|name| inputs.binary_search_by(|input| input.as_str().cmp(name)).is_err());
    let finding = |name: &str| match declared.required.contains(name) {
        true => Finding::new("schema.required_unread", name, format!("`{name}` is required but never read")),
        false => Finding::new("schema.unread", name, format!("`{name}` is declared but never read")),
    };
    let near = |name: &str| {
        let undeclared = inputs.iter().map(String::as_str).filter(|input| !declared.knows(input));
        nearest(name, undeclared).map(|near| format!("the template reads `{near}`: rename one of them?"))
    };
    let finding_with_help = |name: &str| match near(name) {
        Some(help) => finding(name).with_help(help),
        None => finding(name),
    };
    unread.map(finding_with_help).take(MAX_FINDINGS).collect()
}
