//! The languages of files, by their names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_machine::bytecode::Dialect;

/// Number of bytes of a file to look at for its language.
const HEAD: u64 = 1 << 16;

/// Returns the language that a file name implies: by its last extension or the one before (`app.yaml.tera`,
/// `app.tera.yaml`), ignoring case. An `.hcl` file is a configuration; an HCL template ends in `.tftpl` or has `hcl`
/// before its last extension (`app.hcl.tmpl`). `cel` before `.yaml` or `.yml` is YAML with CEL.
///
/// ```
/// use dropforge::engine::{Dialect, dialect_of};
/// assert_eq!(dialect_of("app.yaml.tera"), Some(Dialect::Tera));
/// assert_eq!(dialect_of("app.tower.sh"), Some(Dialect::Tower));
/// assert_eq!(dialect_of("app.yaml.tftpl"), Some(Dialect::Hcl));
/// assert_eq!(dialect_of("app.cel.yaml"), Some(Dialect::CelYaml));
/// assert_eq!(dialect_of("app.yaml.cel"), Some(Dialect::Cel));
/// assert_eq!(dialect_of("main.hcl"), None);
/// assert_eq!(dialect_of("app.yaml"), None);
/// ```
pub fn dialect_of(name: &str) -> Option<Dialect> {
    Dialect::of_name(name)
}

/// Returns the extension of each language.
pub fn language_extensions() -> [&'static str; Dialect::ALL.len()] {
    Dialect::ALL.map(Dialect::extension)
}

/// Returns the error for a file whose name implies no language.
pub fn unknown_language(name: &str) -> Box<Diagnostic> {
    unknown_language_of(name, "")
}

/// Returns the error for a file below `root` whose name implies no language. The help names the language that the beginning of
/// its text looks like.
pub fn unknown_language_in(root: &Path, name: &str) -> Box<Diagnostic> {
    let mut text = Vec::new();
    // The error of a file that cannot be read matters less.
    let _unreadable = File::open(root.join(name)).and_then(|file| file.take(HEAD).read_to_end(&mut text));
    unknown_language_of(name, &String::from_utf8_lossy(&text))
}

/// Returns the error for a file whose name implies no language. The help names the language that its text looks like.
pub fn unknown_language_of(name: &str, text: &str) -> Box<Diagnostic> {
    let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    let dialect = match () {
        () if name.ends_with(".tmpl") || has(&["{{ .", "{{- ."]) => Dialect::Helm,
        () if has(&["${"]) && !has(&["{{", "{%"]) => Dialect::Hcl,
        () => Dialect::Tera,
    };
    let error = Diagnostic::new(Code::NoTemplates, format!("the extension of `{name}` does not name a language"))
        .with_available(language_extensions());
    if let Some(instead) = other_language(name) {
        return error.with_help(instead);
    }
    let foreign = [".j2", ".jinja", ".jinja2", ".tmpl"];
    let stem = foreign.iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(name);
    let (id, extension) = (dialect.id(), dialect.extension());
    error.with_help(format!("use `--lang {id}`, or name it `{stem}.{extension}`{}", escaping(name)))
}

/// Returns the reason why a template of another tool cannot be rendered, if its name tells.
///
/// ```
/// use dropforge::engine::other_language;
/// assert_eq!(other_language("app.cue"), Some("dropforge does not render its language"));
/// assert_eq!(other_language("app.yaml.j2"), None);
/// ```
pub fn other_language(name: &str) -> Option<&'static str> {
    let names = [".mustache", ".hbs", ".jsonnet", ".cue", ".ytt.yaml"];
    names.iter().any(|end| name.ends_with(end)).then_some("dropforge does not render its language")
}

/// Returns the words that promise a template called `name` the same escaping under its new name.
fn escaping(name: &str) -> &'static str {
    let is_markup = [".html", ".htm", ".xml"].iter().any(|suffix| name.ends_with(suffix));
    if is_markup { ", which the command escapes for HTML, too" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_language_of_a_text() {
        for (name, text, help) in [
            ("a.yaml", "a: {{ x }}", "use `--lang tera`, or name it `a.yaml.tera`"),
            ("a.yaml.j2", "", "use `--lang tera`, or name it `a.yaml.tera`"),
            ("a.yaml", "a: ${x}", "use `--lang hcl`, or name it `a.yaml.tftpl`"),
            ("a.yaml", "a: {{- .Values.x }}", "use `--lang helm`, or name it `a.yaml.gotmpl`"),
            ("a.tmpl", "", "use `--lang helm`, or name it `a.gotmpl`"),
            ("a.cue", "a: \"{{ x }}\"", "dropforge does not render its language"),
        ] {
            assert_eq!(unknown_language_of(name, text).help.as_deref(), Some(help));
        }
    }
}
