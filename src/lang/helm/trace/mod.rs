//! Helm's own messages for the errors of charts.
//!
//! The reference reports a chain of texts, one for each `include` and `tpl` around the error. Each has the place of the
//! node that was evaluated, the name of the template and the node itself. They are made from the places of the error, whose
//! sources are parsed again, and then formatted as the tool prints them. All of this runs for errors only.

mod format;
mod node;
mod reads;

use std::sync::Arc;

use self::format::Link;
use self::node::Found;
use super::error::{GO_MESSAGE, quoted};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Label};
use dropforge_machine::bytecode::Program;

/// The beginnings of messages that are about an argument or a call, not of the called function.
const OF_CALLS: [&str; 6] = [
    "error calling ",
    "wrong number of args ",
    "wrong type for value; ",
    "invalid value; ",
    "can't handle ",
    "can't give argument ",
];

/// Adds Helm's message to the syntax errors of templates.
pub fn parse_errors(errors: Vec<Box<Diagnostic>>) -> Diagnostics {
    let told = |error: Box<Diagnostic>| {
        let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message);
        let last = message.rsplit(": ").next().unwrap_or(message);
        let go = match error.labels.first() {
            Some(label) => format!("parse error at ({}:{}): {last}", label.source.name(), label.position().line),
            None => message.clone(),
        };
        error.with_field(GO_MESSAGE, go).with_field("stage", "render")
    };
    errors.into_iter().map(told).collect::<Vec<_>>().into()
}

/// Adds Helm's message to the error of a render. Removes the place in the main chunk, which no file has.
pub fn explain(program: &Program, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if let Some(main) = program.sources().first() {
        error.labels.retain(|label| !Arc::ptr_eq(&label.source, main));
    }
    let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message).clone();
    let go = format::helm_message(&chain(&error, &message), &message, error.code == Code::Assertion);
    error.with_field(GO_MESSAGE, go).with_field("stage", "render")
}

/// Returns the paths below `.Values` that the call reads at which an error has its place.
pub fn values_read(error: &Diagnostic) -> Vec<Vec<String>> {
    error.primary().and_then(node::find).map_or(Vec::new(), |found| found.reads)
}

/// Functions that have an answer for a value that is missing.
const TESTS: [&str; 17] = [
    "default", "coalesce", "required", "empty", "ternary", "and", "or", "not", "eq", "ne", "kindIs", "kindOf",
    "typeIs", "typeOf", "hasKey", "dig", "any",
];

/// Returns `true` if a program merges maps, so that names of one may come into another.
pub fn merges_maps(program: &Program) -> bool {
    const MERGES: [&str; 4] = ["merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"];
    program.imports().any(|import| MERGES.contains(&import.name))
}

/// Returns `true` if the pipeline at the place of a diagnostic has an answer for a value that is missing.
pub fn is_optional(found: &Diagnostic) -> bool {
    let functions = found.primary().and_then(node::find).map_or(Vec::new(), |found| found.functions);
    functions.iter().any(|name| TESTS.contains(&name.as_str()))
}

/// Returns the texts of the reference, the outermost first.
fn chain(error: &Diagnostic, message: &str) -> Vec<Link> {
    let is_parse = message.starts_with("cannot parse template ");
    // The place of a syntax error in a made template is part of the message.
    let from = usize::from(is_parse && error.labels.first().is_some_and(|label| label.source.is_made()));
    let mut links: Vec<Link> = Vec::new();
    for (at, label) in error.labels.iter().enumerate().skip(from) {
        let Some(found) = node::find(label) else { continue };
        let link = match links.last() {
            None => innermost(&found, message, error.code),
            Some(inner) => match around(&found, inner, error.labels.get(at.saturating_sub(1))) {
                Some(link) => link,
                None => continue,
            },
        };
        links.push(link);
    }
    links.reverse();
    links
}

/// Returns the text of the failing node.
fn innermost(found: &Found, message: &str, code: Code) -> Link {
    let head = found.head();
    let is_of_call = OF_CALLS.iter().any(|start| message.starts_with(start));
    let method = found.method.as_ref().filter(|_| code == Code::FunctionFailed);
    match found.function.as_ref().or(method) {
        Some(name) if code != Code::UnknownTemplate && !is_of_call => {
            Link { text: format!("{head}error calling {name}: {message}"), cause: Some(message.to_owned()) }
        }
        _ => {
            let cause = message.strip_prefix("error calling ").and_then(|rest| rest.split_once(": "));
            Link { text: format!("{head}{message}"), cause: cause.map(|(_, cause)| cause.to_owned()) }
        }
    }
}

/// Returns the text of a call around another one. `None` for an action, which adds nothing.
fn around(found: &Found, inner: &Link, below: Option<&Label>) -> Option<Link> {
    let head = found.head();
    match found.function.as_deref()? {
        "tpl" => {
            let made = below.filter(|label| label.source.is_made()).map_or("", |label| label.source.text());
            let cause = format!("error during tpl function execution for {}: {}", quoted(made), inner.text);
            Some(Link { text: format!("{head}error calling tpl: {cause}"), cause: Some(cause) })
        }
        name => Some(Link { text: format!("{head}error calling {name}: {}", inner.text), cause: None }),
    }
}
