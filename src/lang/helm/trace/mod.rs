//! Helm's own messages for the errors of charts.
//!
//! The reference reports a chain of texts, one for each `include` and `tpl` around the error. Each has the place of the
//! node that was evaluated, the name of the template and the node itself. They are made from the places of the error, whose
//! sources are parsed again, and then formatted as the tool prints them. All of this runs for errors only.

mod node;

use std::sync::Arc;

use self::node::FailingNode;
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
    let explained = |error: Box<Diagnostic>| {
        let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message);
        let last = message.rsplit(": ").next().unwrap_or(message);
        // The places of what is not closed begin with that of its beginning.
        let go = match error.labels.last() {
            Some(label) => format!("parse error at ({}:{}): {last}", label.source.name(), label.position().line),
            None => message.clone(),
        };
        error.with_field(GO_MESSAGE, go).with_field("stage", "render")
    };
    errors.into_iter().map(explained).collect::<Vec<_>>().into()
}

/// Adds Helm's message to the error of a render. Removes the place in the main chunk, which no file has.
pub fn explain(program: &Program, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if let Some(main) = program.sources().first() {
        error.labels.retain(|label| !Arc::ptr_eq(&label.source, main));
    }
    let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message).clone();
    let go = helm_message(&chain(&error, &message), &message, error.code == Code::Assertion);
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
fn innermost(found: &FailingNode, message: &str, code: Code) -> Link {
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
fn around(found: &FailingNode, inner: &Link, below: Option<&Label>) -> Option<Link> {
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

/// A text of the reference about one level of calls.
#[derive(Debug)]
struct Link {
    /// The text, with those of the levels inside.
    text: String,
    /// The text of a cause that is no level of its own.
    cause: Option<String>,
}

/// A level as the tool prints it: its place, what is executed there, and the message.
type Level = [String; 3];

/// Returns the tool's message for a chain of texts, the outermost first. `message` is that of the error itself, and
/// `is_refusal` is `true` if it is the message of the template's author.
fn helm_message(chain: &[Link], message: &str, is_refusal: bool) -> String {
    let Some(outermost) = chain.first() else { return message.to_owned() };
    if is_refusal {
        let place = outermost.text.strip_prefix("template: ").and_then(|rest| rest.split_once(": "));
        return format!("execution error at ({}): {message}", place.map_or("", |(place, _)| place));
    }
    let texts = chain.iter().flat_map(|link| std::iter::once(&link.text).chain(&link.cause));
    let mut levels: Vec<Level> = Vec::new();
    for text in texts {
        let Some(level) = level(text) else { return outermost.text.clone() };
        if levels.last() != Some(&level) {
            levels.push(level);
        }
    }
    let printed: String = levels.iter().map(print_level).collect();
    printed.trim().to_owned()
}

fn print_level(level: &Level) -> String {
    let parts = level.iter().zip(["\n  ", "\n    ", "\n"]);
    parts.filter(|(text, _)| !text.is_empty()).flat_map(|(text, end)| [text, end]).collect()
}

/// Takes a text apart. `None` if it has not the form of one about a template.
fn level(text: &str) -> Option<Level> {
    let rest = text.strip_prefix("template: ")?;
    if rest.starts_with("no template ") && text.contains(" associated with template ") {
        return Some([String::new(), String::new(), text.to_owned()]);
    }
    executing(rest).or_else(|| {
        let (place, message) = rest.rsplit_once(": ")?;
        Some([place.to_owned(), String::new(), uncaused(message)])
    })
}

/// Takes `place: executing "name" at <node>: message` apart.
fn executing(rest: &str) -> Option<Level> {
    let (place, rest) = rest.split_once(": executing ")?;
    let (name, rest) = rest.strip_prefix('"')?.split_once('"')?;
    let (node, message) = rest.strip_prefix(" at <")?.split_once(">: ")?;
    let executing = format!("executing \"{name}\" at <{node}>:");
    Some([place.to_owned(), executing, uncaused(message)])
}

/// Returns a message without the text of the level inside.
fn uncaused(message: &str) -> String {
    message.split_once(" template:").map_or(message, |(message, _)| message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> Link {
        Link { text: text.into(), cause: None }
    }

    #[test]
    fn levels_are_printed_below_each_other() {
        let inner = r#"template: c/t/_h.tpl:2:10: executing "x" at <.a.b>: nil pointer evaluating interface {}.b"#;
        let outer = format!(
            r#"template: c/t/a.yaml:1:3: executing "c/t/a.yaml" at <include "x" .>: error calling include: {inner}"#
        );
        let told = helm_message(&[link(&outer), link(inner)], "nil pointer evaluating interface {}.b", false);
        let lines = [
            "c/t/a.yaml:1:3",
            "  executing \"c/t/a.yaml\" at <include \"x\" .>:",
            "    error calling include:",
            "c/t/_h.tpl:2:10",
            "  executing \"x\" at <.a.b>:",
            "    nil pointer evaluating interface {}.b",
        ];
        assert_eq!(told, lines.join("\n"));
        assert_eq!(helm_message(&[link(&outer)], "told", true), "execution error at (c/t/a.yaml:1:3): told");
        let other = Link { cause: Some("unexpected end".into()), ..link(inner) };
        assert_eq!(helm_message(&[link(&outer), other], "", false), outer);
    }
}
