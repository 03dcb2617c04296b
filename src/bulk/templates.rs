//! Which of the template files make an output, and what the output is called.

use std::collections::BTreeSet;

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::engine::{Dialect, TemplateFile};
use crate::value::OutputFormat;

/// The templates that make an output: every one the user named, and those that no other one refers to and
/// whose file name does not begin with `_`. `references` gives the names a template includes, imports or extends.
///
/// # Errors
/// `plan.no_templates` where none is left; what `references` returns.
pub fn outputs(files: &[TemplateFile], references: &mut dyn FnMut(&str) -> Result<Vec<String>>) -> Result<Vec<String>> {
    let mut used = BTreeSet::new();
    for file in files {
        used.extend(references(&file.name)?.into_iter().filter(|name| *name != file.name));
    }
    let is_output = |file: &&TemplateFile| {
        let base = file.name.rsplit('/').next().unwrap_or("");
        file.explicit || (!used.contains(&file.name) && !base.starts_with('_'))
    };
    let outputs: Vec<String> = files.iter().filter(is_output).map(|file| file.name.clone()).collect();
    match outputs.is_empty() {
        false => Ok(outputs),
        true => Err(Diagnostic::new(Code::NoTemplates, "no template here makes an output")
            .with_note("each begins with `_` or is included, imported or extended by another")
            .with_help("name the file itself, and it is an output in any case")),
    }
}

/// What `{template}` stands for: the name without the language's extension, which may stand last
/// (`app.yaml.tera`) or before the last (`app.tera.yaml`), and without a `.tmpl` behind that; with `.yaml` where no
/// extension is left.
///
/// ```
/// use dropforge::bulk::output_name;
/// let name = |name| output_name(name, &["tera", "tower"]);
/// assert_eq!(name("app.tera"), "app.yaml");
/// assert_eq!(name("sub.d/app.json.tera"), "sub.d/app.json");
/// assert_eq!(name("app.tera.yaml"), "app.yaml");
/// assert_eq!(name("app.json.tera.tmpl"), "app.json");
/// assert_eq!(name("app.yml"), "app.yml");
/// ```
pub fn output_name(name: &str, extensions: &[&str]) -> String {
    named(name, extensions, "yaml")
}

/// What `{template}` stands for where the template gives documents in `format`: as [`output_name`] says, but with the
/// format's extension where none is left, and where `asked` for the format in the place of another format's. Lines of
/// JSON that nobody asked for are one document: they are called `.json`.
///
/// ```
/// use dropforge::bulk::document_name;
/// use dropforge::value::OutputFormat;
/// let name = |name, asked| document_name(name, &["cel", "cel.yaml"], OutputFormat::Json, asked);
/// assert_eq!(name("app.cel.yaml", true), "app.json");
/// assert_eq!(name("app.cel", false), "app.json");
/// assert_eq!(name("app.yaml.cel", false), "app.yaml");
/// assert_eq!(name("app.txt.cel", true), "app.txt");
/// assert_eq!(document_name("app.cel", &["cel"], OutputFormat::Ndjson, false), "app.json");
/// assert_eq!(document_name("app.cel", &["cel"], OutputFormat::Ndjson, true), "app.ndjson");
/// ```
pub fn document_name(name: &str, extensions: &[&str], format: OutputFormat, asked: bool) -> String {
    let default = if asked || !format.is_json() { format } else { OutputFormat::Json };
    let name = named(name, extensions, default.extension());
    match name.rsplit_once('.') {
        Some((stem, "yml")) if asked && format.extension() == "yaml" => format!("{stem}.yml"),
        Some((stem, "yaml" | "yml" | "json" | "ndjson")) if asked => format!("{stem}.{}", format.extension()),
        _ => name,
    }
}

/// The name of an output; `default` is its extension where none is left.
fn named(name: &str, extensions: &[&str], default: &str) -> String {
    let (directory, base) = name.rsplit_once('/').map_or(("", name), |(directory, base)| (directory, base));
    let mut parts: Vec<&str> = base.split('.').collect();
    let last = parts.len() - 1;
    let is_language = |at: usize, part: &str| {
        let says = extensions.iter().any(|extension| extension.eq_ignore_ascii_case(part));
        // Before the last extension a language is told by its name, too.
        says || (at < last && Dialect::from_id(&part.to_ascii_lowercase()).is_some())
    };
    let at = (1..parts.len()).rev().take(2).find(|&at| parts.get(at).is_some_and(|part| is_language(at, part)));
    if let Some(at) = at {
        parts.remove(at);
        // What stood behind the language said no more than that it is a template.
        let behind = parts.len() > at;
        parts.pop_if(|last| behind && last.eq_ignore_ascii_case("tmpl"));
    }
    if parts.len() == 1 {
        parts.push(default);
    }
    let base = parts.join(".");
    if directory.is_empty() { base } else { format!("{directory}/{base}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_use_makes_no_output_unless_named() {
        let file = |name: &str, explicit| TemplateFile { name: name.into(), explicit };
        let files = [file("_m.tera", false), file("a.tera", false), file("base.tera", false), file("x/_p.tera", true)];
        let mut references =
            |name: &str| Ok(if name == "a.tera" { vec!["base.tera".into(), "a.tera".into()] } else { vec![] });
        assert_eq!(outputs(&files, &mut references).unwrap(), ["a.tera", "x/_p.tera"]);
        assert_eq!(outputs(&files[..1], &mut references).unwrap_err().code, Code::NoTemplates);
    }

    #[test]
    fn output_names() {
        let cases = [
            ("Dockerfile.tera", "Dockerfile.yaml"),
            ("a.b.tera", "a.b"),
            ("a", "a.yaml"),
            ("tera", "tera.yaml"),
            ("x/a.sh.tower", "x/a.sh"),
            ("a.tera.x.y", "a.tera.x.y"),
            ("a.TERA", "a.yaml"),
            ("a.tera.tera", "a.tera"),
            ("a.yaml.tftpl", "a.yaml"),
            ("a.yaml.hcl.tmpl", "a.yaml"),
            ("a.HCL.Tmpl", "a.yaml"),
            ("a.hcl.sh", "a.sh"),
            ("a.tmpl.tera", "a.tmpl"),
            ("a.x.tmpl", "a.x.tmpl"),
            ("main.hcl", "main.hcl"),
        ];
        for (name, expected) in cases {
            assert_eq!(output_name(name, &["tera", "tower", "tftpl"]), expected, "{name}");
        }
    }
}
