//! Checks of a template against its schema, when a version is created. Findings are also those about rendered text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde::Serialize;
use serde_json::Value as Json;

use crate::parameters::{Schema, element_schemas, possible_schemas};
use dropforge::bytecode::analysis::{InputPath, Reads, display_path};
use dropforge::diagnostics::{Diagnostic, LOOKED_UP, nearest};
use dropforge::engine::Template;
use dropforge::function::{Capabilities, Registry};
use dropforge::text::Position;
use dropforge::value::ReadPaths;

/// Maximum characters of a message, and of a name. Both may quote what they are about.
pub(crate) const MAX_MESSAGE: usize = 1000;
const MAX_NAME: usize = 200;

/// Shortens a text to `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

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
    /// The name that nothing gives or reads, or that is not declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    /// The memory that it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let optional = self.name.iter().chain(&self.help).map(String::len).sum::<usize>();
        size_of::<Self>() + self.code.len() + self.message.len() + optional
    }

    /// A finding without a position.
    fn new(code: &str, name: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, line: None, column: None, name: Some(name.to_owned()), help: None }
    }

    /// Adds a position.
    fn at(self, at: Option<Position>) -> Self {
        Self { line: at.map(|at| at.line), column: at.map(|at| at.column), ..self }
    }

    /// Adds a suggested fix.
    fn with_help(self, help: String) -> Self {
        Self { help: Some(help), ..self }
    }

    /// Converts a diagnostic.
    pub(crate) fn from_diagnostic(diagnostic: &Diagnostic, code: &str) -> Self {
        let at = diagnostic.position();
        Self {
            code: code.to_owned(),
            message: shortened(&diagnostic.message, MAX_MESSAGE),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            name: diagnostic.fields.get(LOOKED_UP).map(|name| shortened(name, MAX_NAME)),
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
pub(crate) const PARAMETERS_ONLY: &str = "templates can use only their parameters: make it a parameter";

/// Maximum number of findings.
const MAX_FINDINGS: usize = 100;

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

/// The declarations of a schema document, cached.
#[derive(Debug)]
struct Schemas<'s> {
    root: &'s Json,
    /// Keyed by the schemas that apply to one value.
    known: HashMap<Vec<*const Json>, Rc<Declared<'s>>>,
}

impl<'s> Schemas<'s> {
    fn new(root: &'s Json) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// Returns the combined declarations of `schemas` and those they refer to.
    fn declared(&mut self, schemas: &[&'s Json]) -> Rc<Declared<'s>> {
        let key = schemas.iter().map(|&schema| std::ptr::from_ref(schema)).collect();
        self.known.entry(key).or_insert_with(|| Rc::new(Declared::combine(self.root, schemas))).clone()
    }
}

/// Maximum number of schemas followed for one value.
const MAX_SCHEMAS: usize = 1000;

/// Properties declared by every schema that can apply to one value.
#[derive(Debug, Default)]
struct Declared<'s> {
    /// The properties and their schemas.
    pub properties: BTreeMap<&'s str, Vec<&'s Json>>,
    /// Required names, even if no property declares them.
    pub required: BTreeSet<&'s str>,
    /// Schemas for the elements, if the value is a list.
    pub elements: Vec<&'s Json>,
    /// `true` if other names are forbidden.
    pub closed: bool,
    /// `true` if other names are explicitly allowed, by a pattern or a schema.
    pub open: bool,
}

impl<'s> Declared<'s> {
    fn combine(root: &'s Json, schemas: &[&'s Json]) -> Self {
        let mut declared = Self::default();
        let mut waiting = schemas.to_vec();
        let mut seen: BTreeSet<*const Json> = BTreeSet::new();
        while let Some(schema) = waiting.pop() {
            if seen.len() < MAX_SCHEMAS && seen.insert(std::ptr::from_ref(schema)) {
                declared.add(schema);
                waiting.extend(possible_schemas(root, schema));
            }
        }
        declared
    }

    fn add(&mut self, schema: &'s Json) {
        for (name, below) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            self.properties.entry(name).or_default().push(below);
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        self.required.extend(required.filter_map(Json::as_str));
        let (first, rest) = element_schemas(schema);
        self.elements.extend(first.iter().chain(rest));
        self.open |= schema.get("patternProperties").is_some();
        for key in ["additionalProperties", "unevaluatedProperties"] {
            match schema.get(key) {
                None => {}
                Some(Json::Bool(false)) => self.closed = true,
                Some(_) => self.open = true,
            }
        }
    }

    /// Returns `true` if the name is a declared or required property.
    fn knows(&self, name: &str) -> bool {
        self.properties.contains_key(name) || self.required.contains(name)
    }

    /// All declared and required names.
    fn names(&self) -> impl Iterator<Item = &'s str> {
        self.properties.keys().copied().chain(self.required.iter().copied())
    }
}

#[cfg(test)]
mod tests;
