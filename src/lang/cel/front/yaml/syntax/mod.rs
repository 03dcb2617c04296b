//! The syntax of YAML templates: from YAML nodes to a tree of values, directives and expressions; and help for errors of
//! YAML whose cause the parser does not know.

mod bare_expressions;
mod build;
mod conflicts;
mod directives;
mod expressions;
mod names;
mod nodes;
pub mod tree;

pub use build::BuildOptions;
pub(super) use build::{Built, IncludePath, build};
pub(super) use expressions::ParsedExpressions;

use dropforge_base::diagnostics::{Code, Diagnostic};

/// The maximum length of a line that a help shows.
const SHOWN: usize = 100;

/// Adds the cause to an error of YAML.
pub(super) fn syntax_help(error: Box<Diagnostic>) -> Box<Diagnostic> {
    quotes_help(template_help(error))
}

/// Adds the cause to the error of a line with the tags of another language, in place of the help for values.
fn template_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_free = error.help.as_ref().is_none_or(|help| help.contains("needs quotes"));
    let Some(label) = error.primary().filter(|_| is_free && error.code == Code::InputSyntax) else { return error };
    let line = label.source.line(label.position().line);
    let tag = |tag: &&str| line.find(*tag).is_some_and(|at| !is_quoted(line.get(..at).unwrap_or("")));
    let Some(tag) = ["{{", "{%"].into_iter().find(tag) else { return error };
    let is_helm = [" .", "{{.", "include ", "nindent", "toYaml"].iter().any(|mark| line.contains(mark));
    let (title, id, extension) = if is_helm { ("a Go template", "helm", "gotmpl") } else { ("Tera", "tera", "tera") };
    let name = label.source.name();
    let stem = [".cel.yaml", ".cel.yml"].iter().find_map(|end| name.strip_suffix(end));
    let renamed = stem.map_or_else(String::new, |stem| format!(", or name it `{stem}.yaml.{extension}`"));
    error.help = Some(format!("`{tag}` looks like {title}: use `--lang {id}`{renamed}"));
    error
}

/// Returns `true` if a line with this beginning continues in quotes.
fn is_quoted(before: &str) -> bool {
    ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1)
}

/// Adds the cause to the error of a scalar that needs quotes: `: ` in it, or `${ }` between brackets or braces.
fn quotes_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let in_collection = error.message.contains("while parsing a flow");
    let Some(label) = error.labels.first_mut().filter(|_| error.help.is_none() && error.code == Code::InputSyntax)
    else {
        return error;
    };
    let line = label.source.line(label.position().line);
    let rest = label.source.text().get(label.span.start as usize..).unwrap_or("");
    let ends_key =
        rest.strip_prefix(':').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
    if ends_key {
        label.text = "this `:` makes a key of the text before it".to_owned();
        let column = label.position().column as usize - 1;
        let first =
            line.char_indices().nth(column).is_none_or(|(at, _)| line.find(": ").is_none_or(|first| first >= at));
        let quoted = quoted_value(line).filter(|_| !first && !in_collection);
        let example = match quoted {
            Some(text) => format!(": `{text}`"),
            None if in_collection => String::new(),
            None => ", or in a block that `|-` begins".to_owned(),
        };
        error.help = Some(format!("put a value with `: ` in it in quotes{example}"));
    } else if in_collection && line.contains("${") {
        error.help = Some("between brackets or braces, `${ }` has to stand in quotes".to_owned());
    }
    error
}

/// Returns a line `key: value` with the value in quotes. `None` if that is not simple.
fn quoted_value(line: &str) -> Option<String> {
    let (key, value) = line.split_once(": ")?;
    let (key, value) = (key.trim_start(), value.trim());
    let simple = !value.contains(" #") && !value.is_empty() && !value.ends_with(':') && line.len() <= SHOWN;
    match (value.contains('\''), value.contains(['"', '\\'])) {
        _ if !simple => None,
        (_, false) => Some(format!("{key}: \"{value}\"")),
        (false, true) => Some(format!("{key}: '{value}'")),
        (true, true) => None,
    }
}
