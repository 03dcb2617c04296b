//! Help for errors at what other programs write in templates: parameter expansions of shells, and `%{WORD}`.

use dropforge_base::diagnostics::{Diagnostic, Expansion, Operation};
use dropforge_base::text::{Source, Span};

use crate::syntax::is_identifier;

/// Adds the expression for a parameter expansion, or the way to write a text that looks like a directive.
pub(super) fn add(source: &Source, error: &mut Box<Diagnostic>) {
    let Some(label) = error.labels.first_mut().filter(|_| error.help.is_none()) else { return };
    if let Some(found) = Expansion::before(source, label.span.start) {
        // A `#` begins a comment, so that the error is where the comment ends.
        if found.span.end <= label.span.start {
            label.span = found.span;
            error.context = None;
        }
        error.help = Some(format!("`{}` is an expansion of a shell; {}", source.slice(found.span), instead(&found)));
    } else if let Some(word) = directive(source, label.span) {
        error.help = Some(format!("to write `%{{{word}` itself, use `%%{{{word}`"));
    }
}

/// Says what to write instead of an expansion.
fn instead(Expansion { name, operation, .. }: &Expansion<'_>) -> String {
    match *operation {
        Operation::Default(value) => format!("write `${{try({name}, {value:?})}}`"),
        Operation::Alternative(value) => format!("write `${{can({name}) ? {value:?} : \"\"}}`"),
        Operation::Required => format!("write `${{{name}}}`: a value that is missing is an error"),
        Operation::Length => format!("write `${{length({name})}}`"),
        Operation::WithoutSuffix(pattern) if is_literal(pattern) => {
            format!("write `${{trimsuffix({name}, {pattern:?})}}`")
        }
        Operation::WithoutPrefix(pattern) if is_literal(pattern) => {
            format!("write `${{trimprefix({name}, {pattern:?})}}`")
        }
        Operation::WithoutSuffix(pattern) => {
            format!("write `${{replace({name}, \"/{}$/\", \"\")}}`", expression(pattern))
        }
        Operation::WithoutPrefix(pattern) => {
            format!("write `${{replace({name}, \"/^{}/\", \"\")}}`", expression(pattern))
        }
        Operation::Slice(from, count) => format!("write `${{substr({name}, {from}, {})}}`", count.unwrap_or("-1")),
        Operation::Upper => format!("write `${{upper({name})}}`"),
        Operation::Lower => format!("write `${{lower({name})}}`"),
    }
}

fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '['])
}

/// Returns the regular expression of a pattern of a shell, as it is written in a string.
fn expression(pattern: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        match c {
            '*' => out.push_str("[^.]*"),
            '?' => out.push('.'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '[' | ']') => out.push(c),
            '/' => out.push_str("\\/"),
            c => out.extend(['\\', '\\', c]),
        }
    }
    out
}

/// Returns the word of `%{WORD` before or at a place, if it is not one of a directive.
fn directive(source: &Source, at: Span) -> Option<&str> {
    let text = source.text();
    let end = text.get(..at.start as usize)?;
    let start = end.rfind("%{").filter(|start| !end.get(*start..).is_some_and(|rest| rest.contains('}')))?;
    let rest = text.get(start + 2..)?;
    let word = rest.get(..rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '@' | '.'))?)?;
    let is_keyword = matches!(word, "if" | "else" | "endif" | "for" | "endfor");
    (!word.is_empty() && !is_keyword && (is_identifier(word) || word.contains(['@', '.']))).then_some(word)
}
