//! Errors in the words of Go, and what they say about a name that nothing gives.

use std::collections::VecDeque;

use super::hints::{self, OBJECTS};
use super::values::{items, map_of};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, nearest};
use dropforge_base::stdlib::characters::push_quoted;
use dropforge_machine::function::{Cx, excerpt_in};
use dropforge_value::{JsonStyle, Map, Step, Value};

/// The field with the message of Go, without the position that it begins with.
pub(crate) const GO_MESSAGE: &str = "go_message";

/// Returns an error with the message that Go has for it.
pub fn error(code: Code, message: impl Into<String>) -> Box<Diagnostic> {
    let message = message.into();
    let mut error = Diagnostic::new(code, message.clone());
    error.help = hints::of(&message);
    error.with_field(GO_MESSAGE, message)
}

/// Returns the error of a function that failed.
pub fn failed(message: impl Into<String>) -> Box<Diagnostic> {
    error(Code::FunctionFailed, message)
}

/// Returns the error with which a template's author refuses its inputs.
pub fn refused(message: &str) -> Box<Diagnostic> {
    let shown = if message.is_empty() { "the template failed without a message" } else { message };
    Diagnostic::new(Code::Assertion, shown).with_field(GO_MESSAGE, message)
}

/// Returns a text as Go quotes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_quoted(text.as_bytes(), &mut |piece| out.push_str(piece));
    out
}

/// The field with the place of the map that lacks a name: a JSON array with the keys and indexes that lead to it from the
/// inputs.
pub(crate) const LOOKED_IN: &str = "looked_in";

/// Maximum number of names to compare and to list.
const NAMES: usize = 1_000;

/// Maximum number of values of the inputs that are searched for a map.
const SEARCHED: usize = 100_000;

/// Adds what is known about a map that lacks the key `name`. `within` is the path of the map as a template writes it.
#[cold]
pub(super) fn lacking<'v>(
    cx: &Cx<'v>,
    error: Box<Diagnostic>,
    map: Value<'v>,
    name: &str,
    within: Option<&str>,
) -> Box<Diagnostic> {
    let Some(map) = map_of(cx, map) else { return error };
    let keys: Vec<&str> = map.iter().map(|(key, _)| key).take(NAMES).collect();
    let error = of_another_dot(among(error, name, &keys, within), name);
    match place_of(cx, map) {
        Some(place) => error.with_field(LOOKED_IN, place),
        None => error,
    }
}

/// Adds what is known about the inputs, which lack the key `name`.
#[cold]
pub(super) fn lacking_input(cx: &Cx<'_>, error: Box<Diagnostic>, name: &str) -> Box<Diagnostic> {
    let names: Vec<&str> = cx.inputs().iter().map(|(name, _)| name).take(NAMES).collect();
    among(error, name, &names, Some("")).with_field(LOOKED_IN, "[]")
}

/// Adds the fix for the missing value of a path, unless a similar name is the fix. `next` is the field after it.
#[cold]
pub(super) fn give(error: Box<Diagnostic>, path: Option<&str>, next: Option<&str>) -> Box<Diagnostic> {
    if error.help.is_some() {
        return error;
    }
    match (path, next) {
        (Some(path), Some(next)) => {
            error.with_help(format!("give `{path}` a value, or write `({path}).{next}`, which may be empty"))
        }
        (Some(path), None) => error.with_help(format!("give `{path}` a value")),
        (None, _) => error.with_help("give it a value, or test it with `if` or `with` first"),
    }
}

/// Adds the value that has no fields. `within` is its path as a template writes it.
#[cold]
pub(super) fn no_map(error: Box<Diagnostic>, value: Value<'_>, name: &str, within: Option<&str>) -> Box<Diagnostic> {
    let error = of_another_dot(error, name);
    let Some(within) = within else { return error };
    match value {
        Value::Null if !within.is_empty() => error.with_note(format!("`{within}` is null")),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) if !within.is_empty() => {
            let is_known = error.help.is_some();
            let error = error.with_note(format!("`{within}` is {}", excerpt_in(JsonStyle::Whole, value)));
            if is_known {
                return error;
            }
            error.with_help(format!("give `{within}` a map with the key `{name}`, or write `{within}` alone"))
        }
        _ => error,
    }
}

/// Adds the fix for an object that is not found because the dot is another value.
fn of_another_dot(error: Box<Diagnostic>, name: &str) -> Box<Diagnostic> {
    if error.help.is_some() || !OBJECTS.contains(&name) {
        return error;
    }
    error.with_help(format!("`.` is another value inside `range`, `with` and `define`: write `$.{name}`"))
}

/// Adds available names and the closest match to the error of a missing name.
pub fn among(error: Box<Diagnostic>, name: &str, names: &[&str], within: Option<&str>) -> Box<Diagnostic> {
    let whole = within.map(|within| if within.is_empty() { "." } else { within });
    let error = match whole {
        Some(whole) => error.with_note(format!("`{whole}` has no `{name}`")),
        None => error.with_note(format!("the map has no `{name}`")),
    };
    let error = error.with_field(LOOKED_UP, name);
    let error = match nearest(name, names.iter().copied()) {
        Some(near) => {
            error.with_help(format!("did you mean `{}`?", written(within, near))).with_replacement(name, near)
        }
        None => error,
    };
    error.with_available(names.iter().copied())
}

/// Returns the expression for a key of a map.
pub fn written(within: Option<&str>, key: &str) -> String {
    let is_field = key.chars().all(|c| c == '_' || c.is_alphanumeric());
    match within {
        None => key.to_owned(),
        Some(within) if is_field => format!("{within}.{key}"),
        Some(within) => format!("index {} \"{key}\"", if within.is_empty() { "." } else { within }),
    }
}

/// Returns the keys and indexes that lead from the inputs to a map, as few as possible.
fn place_of<'v>(cx: &Cx<'v>, map: &'v Map<'v>) -> Option<String> {
    // Each value with the number of the one around it.
    let mut seen: Vec<(Option<usize>, Step<&'v str>)> = Vec::new();
    let mut open: VecDeque<(usize, Value<'v>)> = VecDeque::new();
    for (name, value) in cx.inputs().iter() {
        open.push_back((seen.len(), value));
        seen.push((None, Step::Key(name)));
    }
    while let Some((at, value)) = open.pop_front() {
        if let Some(found) = map_of(cx, value) {
            if std::ptr::eq(found, map) {
                return Some(path(&seen, at));
            }
            for (key, value) in found.iter() {
                open.push_back((seen.len(), value));
                seen.push((Some(at), Step::Key(key)));
            }
        }
        for (nth, value) in items(value).unwrap_or(&[]).iter().enumerate() {
            open.push_back((seen.len(), *value));
            seen.push((Some(at), Step::Index(nth)));
        }
        if seen.len() > SEARCHED {
            return None;
        }
    }
    None
}

fn path(seen: &[(Option<usize>, Step<&str>)], at: usize) -> String {
    let (mut steps, mut at) = (Vec::new(), Some(at));
    while let Some((around, step)) = at.and_then(|at| seen.get(at)) {
        steps.push(match step {
            Step::Key(key) => serde_json::Value::from(*key),
            Step::Index(nth) => serde_json::Value::from(*nth),
        });
        at = *around;
    }
    steps.reverse();
    serde_json::Value::from(steps).to_string()
}
