//! Selection of the templates that make an output, the names of these outputs, and the paths of templates.

use std::collections::{BTreeSet, HashMap, HashSet};

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_engine::{Dialect, TemplateFile};
use dropforge_value::OutputFormat;

/// Selects the templates that make an output: those the user named, and those that no other template refers to and
/// whose file name does not begin with `_`. `references` returns the names that a template includes, imports or
/// extends.
///
/// # Errors
/// `plan.no_templates` if none is left; errors of `references`.
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
        true => Err(Diagnostic::new(Code::NoTemplates, "no template makes an output")
            .with_note("each template begins with `_` or is included, imported or extended by another")
            .with_help("name a template file explicitly to make it an output")),
    }
}

/// Returns the output name of a template, the `{template}` of a layout: its name without the language extension, which
/// is the last (`app.yaml.tera`) or second to last (`app.tera.yaml`), and without a `.tmpl` after that.
///
/// ```
/// use dropforge::bulk::output_name;
/// let name = |name| output_name(name, &["tera", "tower"]);
/// assert_eq!(name("Dockerfile.tera"), "Dockerfile");
/// assert_eq!(name("sub.d/app.json.tera"), "sub.d/app.json");
/// assert_eq!(name("app.tera.yaml"), "app.yaml");
/// assert_eq!(name("app.json.tera.tmpl"), "app.json");
/// assert_eq!(name("app.yml"), "app.yml");
/// ```
pub fn output_name(name: &str, extensions: &[&str]) -> String {
    without_language(name, extensions)
}

/// Returns the output name of a template that produces documents in `format`. Works like [`output_name`], but adds the
/// extension of the format if none is left. If the format was `requested`, its extension also replaces that of another format. NDJSON
/// that was not requested is one document and is named `.json`.
///
/// ```
/// use dropforge::bulk::document_name;
/// use dropforge::value::OutputFormat;
/// let name = |name, requested| document_name(name, &["cel", "cel.yaml"], OutputFormat::Json, requested);
/// assert_eq!(name("app.cel.yaml", true), "app.json");
/// assert_eq!(name("app.cel", false), "app.json");
/// assert_eq!(name("app.yaml.cel", false), "app.yaml");
/// assert_eq!(name("app.txt.cel", true), "app.txt");
/// assert_eq!(document_name("app.cel", &["cel"], OutputFormat::Ndjson, false), "app.json");
/// assert_eq!(document_name("app.cel", &["cel"], OutputFormat::Ndjson, true), "app.ndjson");
/// ```
pub fn document_name(name: &str, extensions: &[&str], format: OutputFormat, requested: bool) -> String {
    let default = if requested || !format.is_json() { format } else { OutputFormat::Json };
    let mut name = without_language(name, extensions);
    if !name.rsplit('/').next().is_some_and(|base| base.contains('.')) {
        name = format!("{name}.{}", default.extension());
    }
    match name.rsplit_once('.') {
        Some((stem, "yml")) if requested && format.extension() == "yaml" => format!("{stem}.yml"),
        Some((stem, "yaml" | "yml" | "json" | "ndjson")) if requested => format!("{stem}.{}", format.extension()),
        _ => name,
    }
}

/// Removes the language extension.
fn without_language(name: &str, extensions: &[&str]) -> String {
    let (directory, base) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
    let mut parts: Vec<&str> = base.split('.').collect();
    let last = parts.len() - 1;
    let is_language = |at: usize, part: &str| {
        let known = extensions.iter().any(|extension| extension.eq_ignore_ascii_case(part));
        // Before the last extension, the id of a language also counts.
        known || (at < last && Dialect::from_id(&part.to_ascii_lowercase()).is_some())
    };
    let at = (1..parts.len()).rev().take(2).find(|&at| parts.get(at).is_some_and(|part| is_language(at, part)));
    if let Some(at) = at {
        parts.remove(at);
        let was_last = parts.len() == at;
        parts.pop_if(|last| !was_last && last.eq_ignore_ascii_case("tmpl"));
    }
    format!("{directory}{}", parts.join("."))
}

/// The paths of the templates of a run, and the releases that they are of. A state names templates by them.
///
/// ```
/// use dropforge::bulk::TemplatePaths;
/// let mut paths = TemplatePaths::default();
/// paths.give("deploy/app");
/// paths.add("svc.tera", "deploy/app/svc.tera");
/// assert_eq!(paths.path("svc.tera"), "deploy/app/svc.tera");
/// assert!(paths.covers("deploy/app/deleted.tera") && !paths.covers("deploy/other.tera"));
/// paths.add_to_release("svc.tera", "web");
/// assert_eq!((paths.release("svc.tera"), paths.release("job.tera")), ("web", ""));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplatePaths {
    /// The path of each template, by name.
    paths: HashMap<String, String>,
    /// The release of each template, by name.
    releases: HashMap<String, String>,
    given: Vec<String>,
    /// The names of releases.
    names: HashSet<String>,
    /// The releases that the run renders, if it leaves out others.
    only: Option<Vec<String>>,
}

impl TemplatePaths {
    /// Sets the path of a template. A template without one has its name as path.
    pub fn add(&mut self, template: impl Into<String>, path: impl Into<String>) {
        self.paths.insert(template.into(), path.into());
    }

    /// Sets the release of a template.
    pub fn add_to_release(&mut self, template: impl Into<String>, release: impl Into<String>) {
        let release = release.into();
        self.names.insert(release.clone());
        self.releases.insert(template.into(), release);
    }

    /// Returns the release of a template, or an empty string.
    pub fn release(&self, template: &str) -> &str {
        self.releases.get(template).map_or("", String::as_str)
    }

    /// Leaves out all releases but these. The run knows nothing of the files of others.
    pub fn only(&mut self, releases: Vec<String>) {
        self.only = Some(releases);
    }

    /// Returns `true` if a file of a release, or of none, may come from the templates of the run.
    pub fn may_make(&self, release: &str) -> bool {
        release.is_empty() || self.names.contains(release)
    }

    /// Returns `true` if the run knows what a release makes.
    pub fn has_release(&self, release: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|own| own == release))
    }

    /// Adds a file or a directory that the run was given, with `/` and without a `/` at its end. `.` stands for all
    /// relative paths that do not begin with `..`.
    pub fn give(&mut self, path: impl Into<String>) {
        self.given.push(path.into());
    }

    /// Returns the files and directories that the run was given.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(String::as_str)
    }

    /// Returns the path of a template.
    pub fn path<'p>(&'p self, template: &'p str) -> &'p str {
        self.paths.get(template).map_or(template, String::as_str)
    }

    /// Returns `true` if the run was given the template at `path`, or would be if it existed. A run that was given
    /// nothing covers all templates.
    pub fn covers(&self, path: &str) -> bool {
        let is_below = |given: &String| match path.strip_prefix(given.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => given == "." && !path.starts_with("../") && !path.starts_with('/'),
        };
        self.given.is_empty() || self.given.iter().any(is_below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_used_by_others_make_no_output_unless_named() {
        let file = |name: &str, explicit| TemplateFile { name: name.into(), explicit, executable: false };
        let files = [file("_m.tera", false), file("a.tera", false), file("base.tera", false), file("x/_p.tera", true)];
        let mut references =
            |name: &str| Ok(if name == "a.tera" { vec!["base.tera".into(), "a.tera".into()] } else { vec![] });
        assert_eq!(outputs(&files, &mut references).unwrap(), ["a.tera", "x/_p.tera"]);
        assert_eq!(outputs(&files[..1], &mut references).unwrap_err().code, Code::NoTemplates);
    }

    #[test]
    fn output_names() {
        let cases = [
            ("Dockerfile.tera", "Dockerfile"),
            ("a.b.tera", "a.b"),
            ("a", "a"),
            ("tera", "tera"),
            ("x/a.sh.tower", "x/a.sh"),
            ("a.tera.x.y", "a.tera.x.y"),
            ("a.TERA", "a"),
            ("a.tera.tera", "a.tera"),
            ("a.yaml.tftpl", "a.yaml"),
            ("a.yaml.hcl.tmpl", "a.yaml"),
            ("a.HCL.Tmpl", "a"),
            ("a.hcl.sh", "a.sh"),
            ("a.tmpl.tera", "a.tmpl"),
            ("a.x.tmpl", "a.x.tmpl"),
            ("main.hcl", "main.hcl"),
        ];
        for (name, expected) in cases {
            assert_eq!(output_name(name, &["tera", "tower", "tftpl"]), expected, "{name}");
        }
    }

    #[test]
    fn directories_cover_what_is_below_them() {
        let paths = |given: &[&str]| {
            let mut paths = TemplatePaths::default();
            given.iter().for_each(|path| paths.give(*path));
            paths
        };
        assert!(paths(&[]).covers("a") && paths(&["t"]).covers("t") && paths(&["t/a.tera"]).covers("t/a.tera"));
        assert!(!paths(&["t"]).covers("t2/a") && !paths(&["t/a"]).covers("t") && !paths(&["t"]).covers("../t/a"));
        assert!(paths(&["."]).covers("a/b") && !paths(&["."]).covers("../a") && !paths(&["."]).covers("/a"));
        assert!(paths(&["a", "../b"]).covers("../b/c"));
    }
}
