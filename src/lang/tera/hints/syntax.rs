//! Hints for syntax errors: what other template languages write in their place.

mod habits;

use super::{Function, Tag, hint};
use crate::builtins::{marks, plus_tables, tables};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, Params};

/// Returns the hint for a syntax error at `at` in `source`.
pub(crate) fn syntax(source: &str, at: usize) -> Option<String> {
    let before = source.get(..at)?;
    let behind = source.get(at..)?;
    if let Some(hint) = habits::hint(before, behind).or_else(|| jinja(before, behind)) {
        return Some(hint);
    }
    let start = before.rfind("{{").filter(|start| before.rfind("{%").is_none_or(|statement| statement < *start))?;
    if before.get(start..)?.contains("}}") {
        return None;
    }
    let tag = source.get(start..)?.trim_start_matches(['{', '-']).trim_start();
    let word = word_at_start(tag);
    let habit = hint(Tag, word).or_else(|| if is_call(tag, word) { hint(Function, word) } else { None });
    habit.map(str::to_owned).or_else(|| dotted(source, at)).or_else(|| named_arguments(before))
}

/// Returns the hint for calls and operators of Jinja and Python: `x.split(",")`, `m.tag(x.name)`, `a || b`.
fn jinja(before: &str, behind: &str) -> Option<String> {
    if before.ends_with('|') && behind.starts_with('|') {
        return Some("write `or`".to_owned());
    }
    let path = word(behind);
    if path.contains('.') && behind.get(path.len()..)?.starts_with('(') {
        return if path.starts_with('.') { method("x", path.trim_start_matches('.')) } else { call(path) };
    }
    if behind.starts_with('.') && before.ends_with(['"', '\'', '`', ')', ']']) {
        return Some("only a variable has a path: write `{% set x = … %}`, then `x.name`".to_owned());
    }
    let (head, arguments) = before.rsplit_once('(')?;
    if arguments.contains([')', '}', '%', '=']) {
        return None;
    }
    let start = head.rfind(|c| !is_in_path(c)).map_or(0, |at| at + 1);
    let callee = word(head.get(start..)?);
    let is_path = behind.starts_with('.') && before.ends_with(is_in_path);
    call(callee).or_else(|| (is_path && !callee.is_empty()).then(|| NAMED.to_owned()))
}

pub(super) const NAMED: &str = "arguments are given by name: `f(name=value)`";

/// Returns the hint for the call of a path: a filter as a method, or a macro.
fn call(path: &str) -> Option<String> {
    let (value, name) = path.rsplit_once('.')?;
    method(value, name).or_else(|| {
        let path = path.replace('.', "::");
        Some(format!("write a macro as `{path}(name=value)`, with the names of its arguments"))
    })
}

/// Returns the hint for a filter that is called as a method.
fn method(value: &str, name: &str) -> Option<String> {
    if name == "items" {
        return Some(format!("write `{{% for key, value in {value} %}}`"));
    }
    let arguments = match filter(name)?.params {
        Params::Named([_, param, ..]) => format!("({}=…)", param.name),
        _ => String::new(),
    };
    Some(format!("values have no methods: write the filter `{value} | {name}{arguments}`"))
}

fn is_in_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// Returns the path at the start of a text.
fn word(text: &str) -> &str {
    text.get(..text.find(|c| !is_in_path(c)).unwrap_or(text.len())).unwrap_or("")
}

/// Returns the builtin filter of a name.
fn filter(name: &str) -> Option<&'static Builtin> {
    builtin(ImportKind::Filter, name)
}

fn builtin(kind: ImportKind, name: &str) -> Option<&'static Builtin> {
    let known = |builtin: &&Builtin| builtin.kind == kind && builtin.name == name;
    tables().into_iter().chain(plus_tables()).chain([marks()]).flatten().find(known)
}

/// Returns `true` if the word of a tag has arguments after it: `toYaml .x`.
fn is_call(tag: &str, word: &str) -> bool {
    let rest = tag.get(word.len()..).unwrap_or("");
    rest.starts_with([' ', '\t', '('])
}

/// Returns the hint for a path with a leading dot: `.Values.image.tag`.
fn dotted(source: &str, at: usize) -> Option<String> {
    let path = source.get(at..)?.strip_prefix('.')?;
    let path = path.strip_prefix("Values.").unwrap_or(path);
    let end = path.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(path.len());
    let path = path.get(..end).filter(|path| path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
    Some(format!("names have no leading dot: write `{path}`"))
}

/// Returns the hint for an argument without parentheses, after a filter: `x | nindent 4`.
fn named_arguments(before: &str) -> Option<String> {
    let (_, name) = before.rsplit_once('|')?;
    let name = name.trim();
    let Params::Named([_, param, ..]) = filter(name)?.params else { return None };
    Some(format!("arguments have names: `{name}({}=…)`", param.name))
}

fn word_at_start(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}
