//! Files beside templates: those that are copied as they are, and those that are neither templates nor copied.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dropforge::bulk::{Entry, TemplateFile, TemplateSet, discover_with};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::other_language;
use dropforge::stdlib::globs::{Glob, Syntax};

use crate::glob;
use crate::input::InputFiles;
use crate::options::ValueArgs;
use crate::stderr::Stderr;

/// The globs of files to copy if none are given.
const DEFAULT: [&str; 3] = ["*.yaml", "*.yml", "*.json"];

/// Files that options name. They are neither templates nor copied, and neither is what lies below the output directory.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles {
    files: HashSet<PathBuf>,
    output: Option<PathBuf>,
}

impl NamedFiles {
    /// Collects the values files and the output.
    pub(crate) fn new(values: &ValueArgs, output: Option<&Path>) -> Self {
        let output = output.and_then(|path| path.canonicalize().ok());
        Self { files: HashSet::new(), output }.with(values.values.iter().map(PathBuf::as_path))
    }

    /// Adds files. Those that do not exist are errors where they are read.
    pub(crate) fn with<'p>(mut self, paths: impl IntoIterator<Item = &'p Path>) -> Self {
        self.files.extend(paths.into_iter().filter_map(|path| path.canonicalize().ok()));
        self
    }

    /// Adds the files of fleets.
    ///
    /// # Errors
    /// Errors of [`glob::expand`].
    pub(crate) fn with_fleets(self, fleets: &[String]) -> Result<Self> {
        fleets.iter().try_fold(self, |all, fleet| {
            let files = glob::expand(fleet)?;
            Ok(all.with(files.iter().map(PathBuf::as_path)))
        })
    }

    /// Returns `true` if a file may be a template, or a directory may hold some.
    pub(crate) fn allow(&self, entry: Entry<'_>) -> bool {
        match entry.is_dir {
            true => self.output.as_deref() != Some(entry.path) && !is_test_folder(entry),
            false => !self.files.contains(entry.path),
        }
    }

    fn is_output(&self, path: &Path) -> bool {
        self.output.as_ref().is_some_and(|output| path.starts_with(output))
    }
}

/// Returns `true` for a folder `tests` with test files, whatever else they use.
fn is_test_folder(entry: Entry<'_>) -> bool {
    let is_test = |name: std::ffi::OsString| name.to_string_lossy().ends_with(".test.yaml");
    let mut names = std::fs::read_dir(entry.path).into_iter().flatten().flatten().map(|one| one.file_name());
    entry.name == "tests" && names.any(is_test)
}

/// Returns `true` for the names of files that are about templates: values, schemas, tests, projects and charts.
pub(crate) fn is_reserved(name: &str) -> bool {
    let is_values = || name.starts_with("values") && (name.ends_with(".yaml") || name.ends_with(".yml"));
    matches!(name, "dropforge.toml" | "Chart.yaml")
        || name.ends_with(".schema.json")
        || name.ends_with(".test.yaml")
        || name.ends_with(".test.yaml.snap")
        || is_values()
}

/// The files beside templates that `--copy` selects.
pub(crate) struct Copies<'a> {
    /// The globs of `--copy`.
    pub(crate) globs: &'a [String],
    /// The template directories.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) set: &'a TemplateSet,
    /// The names of files that templates refer to.
    pub(crate) used: HashSet<String>,
    pub(crate) named: &'a NamedFiles,
}

impl Copies<'_> {
    /// Reads the files. Their names are relative to the root of the templates.
    ///
    /// # Errors
    /// `usage` for a glob that matches nothing or cannot be parsed; errors of reading the files.
    pub(crate) fn read(&self, files: &mut InputFiles, stderr: &Stderr) -> Result<Vec<(TemplateFile, Vec<u8>)>> {
        if self.globs == ["none"] {
            return Ok(Vec::new());
        }
        let read = |file: TemplateFile| {
            let bytes = files.beside_templates(&self.set.root.join(&file.name))?;
            warn_of_placeholders(&file.name, &bytes, stderr);
            Ok((file, bytes))
        };
        self.find(stderr)?.into_iter().map(read).collect()
    }

    /// Returns `true` for a link that leads out of the root of the templates, or to nothing.
    fn leaves(&self, path: &Path) -> bool {
        path.is_symlink() && path.canonicalize().map_or(true, |target| !target.starts_with(&self.set.root))
    }

    /// Returns the files to copy, sorted by name. Warns of templates of other tools.
    fn find(&self, stderr: &Stderr) -> Result<Vec<TemplateFile>> {
        let candidates = self.candidates()?;
        for glob in self.globs {
            if !candidates.iter().any(|file| is_match(glob, &file.name)) {
                let message = format!("`--copy {glob}` matches no file beside the templates");
                let help = "only files in template directories are copied; `--copy none` copies none";
                return Err(Diagnostic::new(Code::Usage, message).with_help(help));
            }
        }
        let is_default = self.globs.is_empty();
        let is_wanted = |file: &TemplateFile| match is_default {
            true => DEFAULT.iter().any(|glob| is_match(glob, &file.name)),
            false => self.globs.iter().any(|glob| is_match(glob, &file.name)),
        };
        let (wanted, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_wanted);
        let unasked = wanted.iter().filter(|_| is_default).chain(&others);
        unasked.filter_map(|file| other_template(&file.name)).for_each(|warning| stderr.warning(&warning));
        Ok(wanted)
    }

    /// Returns the warnings about templates of other tools in the folders.
    ///
    /// # Errors
    /// Errors of walking the folders.
    pub(crate) fn others(&self) -> Result<Vec<String>> {
        Ok(self.candidates()?.iter().filter_map(|file| other_template(&file.name)).collect())
    }

    /// Returns all files in the folders that can be copied, sorted by name.
    fn candidates(&self) -> Result<Vec<TemplateFile>> {
        if self.folders.is_empty() {
            return Ok(Vec::new());
        }
        let templates: HashSet<&str> = self.set.files.iter().map(|file| file.name.as_str()).collect();
        let is_wanted = |entry: Entry<'_>| {
            let is_own = entry.name.starts_with(['_', '.']) || (!entry.is_dir && is_reserved(entry.name));
            !is_own && self.named.allow(entry) && !self.named.is_output(entry.path) && !self.leaves(entry.path)
        };
        let found = match discover_with(&self.folders, Some(&self.set.root), &is_wanted) {
            Ok(found) => found.files,
            Err(error) if error.code == Code::NoTemplates => Vec::new(),
            Err(error) => return Err(error),
        };
        let is_free = |file: &TemplateFile| !templates.contains(file.name.as_str()) && !self.used.contains(&file.name);
        Ok(found.into_iter().filter(is_free).collect())
    }
}

/// Matches a glob with a `/` against a path, and one without against its last component.
fn is_match(glob: &str, path: &str) -> bool {
    let Some(parsed) = Glob::parse(glob, Syntax::Simple) else { return false };
    parsed.matches(if glob.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) })
}

const UNUSED: &str = "neither rendered nor copied";

/// Returns the warning about a file whose name says that it is a template of another tool.
fn other_template(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let (is, instead) = match extension {
        "yaml" => ("copied as it is", other_language(name)?.to_owned()),
        "mustache" | "hbs" | "jsonnet" | "cue" => (UNUSED, other_language(name)?.to_owned()),
        "j2" | "jinja" | "jinja2" => {
            (UNUSED, format!("name it `{stem}.tera` to render it as Tera, which resembles Jinja"))
        }
        "tmpl" => (UNUSED, format!("name it `{stem}.gotmpl` to render it as a Go template")),
        _ => return None,
    };
    Some(format!("`{name}` is {is}: {instead}"))
}

/// Warns of a text that looks like a template.
fn warn_of_placeholders(name: &str, bytes: &[u8], stderr: &Stderr) {
    let languages = [("{{", "tera"), ("{%", "tera"), ("${", "tftpl")];
    let text = str::from_utf8(bytes).unwrap_or("");
    if let Some((mark, extension)) = languages.iter().find(|(mark, _)| text.contains(mark)) {
        stderr.warning(&format!(
            "`{name}` is copied as it is, but contains `{mark}`: name it `{name}.{extension}` to render it"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_about_templates_are_reserved() {
        for name in ["values.yaml", "values-prod.yaml", "values.schema.json", "a.test.yaml", "Chart.yaml"] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["my-values.yaml", "values", "values.json", "a.yaml", "schema.json", "test.yaml"] {
            assert!(!is_reserved(name), "{name}");
        }
    }

    #[test]
    fn globs_match_names_or_paths() {
        assert!(is_match("*.yaml", "a.yaml") && is_match("*.yaml", "sub/a.yaml"));
        assert!(is_match("sub/*.yaml", "sub/a.yaml") && !is_match("sub/*.yaml", "sub/x/a.yaml"));
        assert!(is_match("**/*.yaml", "sub/x/a.yaml") && !is_match("*.yml", "a.yaml"));
    }
}
