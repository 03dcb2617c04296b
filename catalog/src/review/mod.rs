//! Checks of a template against its schema, when a version is created.

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

/// A warning about a template or rendered text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Finding {
    /// Machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The name that the finding is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    /// A finding without a position.
    fn new(code: &str, name: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, line: None, column: None, name: Some(name.to_owned()), help: None }
    }

    fn at(self, at: Option<Position>) -> Self {
        Self { line: at.map(|at| at.line), column: at.map(|at| at.column), ..self }
    }

    fn with_help(self, help: String) -> Self {
        Self { help: Some(help), ..self }
    }

    /// Converts a diagnostic.
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

/// The result of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Review {
    /// Parameters that the template may read, sorted.
    pub inputs: Vec<String>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// Help for functions that access anything but the parameters.
pub(super) const PARAMETERS_ALONE: &str = "templates can use only their parameters: make it a parameter";

/// Maximum number of findings.
const TOLD: usize = 100;

/// Checks a template against its schema. `registry` contains the functions that templates may call.
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
        // Code after a certain failure was removed, so its reads are unknown.
        if !reads.everything && template.lints().is_empty() {
            findings.extend(unread(&declared, &inputs));
        }
    }
    findings.truncate(TOLD);
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
        Some(Finding::new("function.capability_off", name, message).at(*at).with_help(PARAMETERS_ALONE.to_owned()))
    };
    reads.calls.iter().filter_map(finding).collect()
}

/// Names that are read but not declared, each at its first use.
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

/// The finding for the first undeclared name of a path.
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

/// The finding for the name at `depth`, which `here` does not declare.
fn told(here: &Declared<'_>, path: &[&str], depth: usize) -> Option<Finding> {
    let (name, near) = (path.get(depth)?, nearest(path.get(depth)?, here.names()));
    // Top-level names must be declared unless the schema allows others. Nested schemas are often incomplete, so their
    // unknown names need a reason to be reported.
    let odd = if depth == 0 { !here.open || here.closed } else { here.closed };
    if !odd && near.is_none() {
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
        let strangers = inputs.iter().map(String::as_str).filter(|input| !declared.knows(input));
        nearest(name, strangers).map(|near| format!("the template reads `{near}`: rename one of them?"))
    };
    let told = |name: &str| match near(name) {
        Some(help) => finding(name).with_help(help),
        None => finding(name),
    };
    unread.map(told).take(TOLD).collect()
}
