//! The syntax of YAML templates: from YAML nodes to a tree of values, directives and expressions; and help for errors of
//! YAML whose cause the parser does not know.

mod bare_expressions;
mod build;
mod conflicts;
mod directives;
mod expressions;
mod names;
mod nodes;
mod shell_help;
pub mod tree;

pub use build::BuildOptions;
pub(super) use build::{Built, IncludePath, build};
pub(super) use expressions::ParsedExpressions;

use dropforge_base::diagnostics::{Code, Diagnostic};

/// Adds the cause to an error of YAML.
pub(super) fn syntax_help(error: Box<Diagnostic>) -> Box<Diagnostic> {
    quotes_help(template_help(error))
}

/// Adds the cause to the error of a line with the tags of another language, in place of the help for values.
fn template_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_free = error.help.as_ref().is_none_or(|help| help.contains("quotes"));
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

/// Adds the cause to the error of an expression between brackets or braces.
fn quotes_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_free = error.help.is_none() && error.code == Code::InputSyntax && error.reason().contains("parsing a flow");
    let label = error.primary().filter(|_| is_free);
    if label.is_some_and(|label| label.source.line(label.position().line).contains("${")) {
        error.help = Some("between brackets or braces, `${ }` has to stand in quotes".to_owned());
    }
    error
}
