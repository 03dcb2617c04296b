//! A template and its schema, checked against each other when they are created.

mod declared;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::rc::Rc;

use serde::Serialize;

use super::parameters::Schema;
use declared::{Declared, Schemas};
use dropforge::bytecode::analysis::{ITEM, InputPath, Reads, display_path};
use dropforge::diagnostics::{Diagnostic, nearest};
use dropforge::engine::Template;
use dropforge::function::{Capabilities, Registry};
use dropforge::text::Position;

/// Something to look at; what it is found in works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Finding {
    /// For machines.
    pub code: String,
    /// For people.
    pub message: String,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Counted from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The likely fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    /// A finding without a place.
    fn new(code: &str, name: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, line: None, column: None, name: Some(name.to_owned()), help: None }
    }

    fn at(self, at: Option<Position>) -> Self {
        Self { line: at.map(|at| at.line), column: at.map(|at| at.column), ..self }
    }

    fn with_help(self, help: String) -> Self {
        Self { help: Some(help), ..self }
    }

    /// A diagnostic as a finding.
    pub(super) fn of(diagnostic: &Diagnostic, code: &str) -> Self {
        let at = diagnostic.position();
        Self {
            code: code.to_owned(),
            message: diagnostic.message.clone(),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            name: diagnostic.message.split('`').nth(1).map(str::to_owned),
            help: diagnostic.help.clone(),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Review {
    /// The parameters that the template may read, sorted.
    pub inputs: Vec<String>,
    /// What to look at.
    pub findings: Vec<Finding>,
}

/// What to do about a function that reaches outside the parameters.
pub(super) const PARAMETERS_ALONE: &str = "what is rendered depends on the parameters alone: make it a parameter";

/// How many findings are told.
const TOLD: usize = 100;

/// Checks a template and its schema against each other; `registry` has the functions that the template may call.
pub(super) fn review(template: &Template, schema: &Schema, registry: &Registry) -> Review {
    let reads = Reads::of(template.program());
    let root = schema.document();
    let mut schemas = Schemas::of(root);
    let declared = schemas.declared(&[root]);
    let inputs: Vec<String> = template.inputs().into_iter().map(str::to_owned).collect();
    let mut findings: Vec<Finding> = template.lints().iter().map(|lint| Finding::of(lint, lint.code.name())).collect();
    findings.extend(forbidden(&reads, registry));
    if !declared.properties.is_empty() {
        findings.extend(undeclared(&mut schemas, &declared, &reads));
        findings.sort_by_key(|finding| (finding.line, finding.column));
        // Behind what is bound to fail no code is left.
        if !reads.everything && template.lints().is_empty() {
            findings.extend(unread(&declared, &inputs));
        }
    }
    findings.truncate(TOLD);
    Review { inputs, findings }
}

/// The functions that need a capability, which a catalog's engine does not have.
fn forbidden(reads: &Reads<'_>, registry: &Registry) -> Vec<Finding> {
    let finding = |(&(kind, name), at): (&(_, &str), &Option<Position>)| {
        let needs = registry.get(kind, name)?.needs;
        if Capabilities::NONE.include(needs) {
            return None;
        }
        let (kind, needs) = (kind.name(), needs.names().collect::<Vec<_>>().join(" and "));
        let message = format!("{kind} `{name}` needs the capability {needs}, which templates of a catalog do not have");
        Some(Finding::new("function.capability_off", name, message).at(*at).with_help(PARAMETERS_ALONE.to_owned()))
    };
    reads.calls.iter().filter_map(finding).collect()
}

/// The names that are read and that no schema declares: each once, where it is read first.
fn undeclared<'s>(schemas: &mut Schemas<'s>, top: &Rc<Declared<'s>>, reads: &Reads<'_>) -> Vec<Finding> {
    let mut ways: Vec<_> = reads.paths.iter().collect();
    ways.sort_by_key(|(_, at)| at.as_ref().map(|at| (at.line, at.column)));
    let mut seen = BTreeSet::new();
    let finding = |(way, at): (&InputPath<'_>, &Option<Position>)| {
        let finding = stranger(schemas, top, way)?;
        seen.insert(finding.name.clone()).then(|| finding.at(*at))
    };
    ways.into_iter().filter_map(finding).take(TOLD).collect()
}

/// The first name on a way that no schema declares.
fn stranger<'s>(schemas: &mut Schemas<'s>, top: &Rc<Declared<'s>>, way: &InputPath<'_>) -> Option<Finding> {
    if way.or.iter().any(|input| top.knows(input)) {
        return None;
    }
    let mut here = top.clone();
    for (depth, &name) in way.names.iter().enumerate() {
        let item = name == ITEM || depth > 0 && name.parse::<usize>().is_ok();
        here = match here.properties.get(name) {
            _ if item && !here.elements.is_empty() => schemas.declared(&here.elements),
            _ if item || here.properties.is_empty() => return None,
            Some(below) => schemas.declared(below),
            None if here.knows(name) => return None,
            None => return told(&here, &way.names, depth),
        };
    }
    None
}

/// What is said of the name at this depth of a way, which the schema of what it is a name of does not declare.
fn told(here: &Declared<'_>, path: &[&str], depth: usize) -> Option<Finding> {
    let (name, near) = (path.get(depth)?, nearest(path.get(depth)?, here.names()));
    // At the top a schema that says nothing of other names was not written for them; below, much is left unsaid.
    let odd = if depth == 0 { !here.open || here.closed } else { here.closed };
    if !odd && near.is_none() {
        return None;
    }
    let whole = display_path(path.get(..=depth)?);
    let (code, message) = match depth {
        0 => ("schema.undeclared", format!("`{name}` is read and the schema does not declare it")),
        _ => {
            let parent = display_path(path.get(..depth)?);
            (
                "schema.undeclared_property",
                format!("`{whole}` is read and the schema of `{parent}` does not declare `{name}`"),
            )
        }
    };
    let finding = Finding::new(code, &whole, message);
    Some(match near {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    })
}

/// What is declared and never read; `inputs` are sorted.
fn unread(declared: &Declared<'_>, inputs: &[String]) -> Vec<Finding> {
    let names: BTreeSet<&str> = declared.names().collect();
    let unread = names.into_iter().filter(|name| inputs.binary_search_by(|input| input.as_str().cmp(name)).is_err());
    let finding = |name: &str| match declared.required.contains(name) {
        true => Finding::new("schema.required_unread", name, format!("`{name}` is required and never read")),
        false => Finding::new("schema.unread", name, format!("`{name}` is declared and never read")),
    };
    let near = |name: &str| {
        let strangers = inputs.iter().map(String::as_str).filter(|input| !declared.knows(input));
        nearest(name, strangers).map(|near| format!("the template reads `{near}`: is that what is meant?"))
    };
    let told = |name: &str| match near(name) {
        Some(help) => finding(name).with_help(help),
        None => finding(name),
    };
    unread.map(told).take(TOLD).collect()
}
