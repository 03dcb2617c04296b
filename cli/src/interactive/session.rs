//! The state of a console: language, values and cluster, and the lines that stay in force.

use std::path::{Path, PathBuf};

use dropforge::bulk::values::Assignment;
use dropforge::bulk::{Fleet, dialect_of, discover};
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked};
use dropforge::engine::Dialect;

use super::ConsoleArgs;
use super::language::title;
use super::lines;
use super::values::paths;
use crate::chart;
use crate::exit::Failed;
use crate::input::{InputFiles, is_dash};
use crate::layers;
use crate::stderr::Stderr;
use crate::usage;

/// A console.
pub(super) struct Session<'a> {
    pub(super) args: ConsoleArgs,
    pub(super) files: &'a mut InputFiles,
    pub(super) stderr: &'a Stderr,
    pub(super) fleet: Fleet,
    /// The values of environment variables. They stay the same, unlike those of files.
    pub(super) environment: Vec<Assignment>,
    is_chart: bool,
    /// The folder that includes are relative to.
    pub(super) root: PathBuf,
    pub(super) language: Dialect,
    /// The templates whose effects stay in force.
    pub(super) kept: String,
}

impl<'a> Session<'a> {
    /// Reads the fleet and finds the language.
    ///
    /// # Errors
    /// Errors of reading; `usage` for options that do not fit.
    pub(super) fn new(mut args: ConsoleArgs, files: &'a mut InputFiles, stderr: &'a Stderr) -> Result<Self, Failed> {
        if let Some(option) = reads_stdin(&args) {
            let message = format!("`{option}` and the lines of the console both read standard input");
            return Err(Diagnostic::new(Code::Usage, message).with_help("name a file").into());
        }
        let is_chart = matches!(args.templates.as_slice(), [path] if chart::is_source(path));
        let path = args.templates.first().map_or(Path::new("."), PathBuf::as_path);
        if !is_chart {
            chart::refuse(&args.templates)?;
            args.chart.check_unused(path)?;
        } else if !args.fleet.is_empty() {
            return Err(usage::unfit("--fleet", path, usage::CHART).into());
        } else if args.language.lang.is_some_and(|lang| lang != Dialect::Helm) {
            return Err(usage::unfit("--lang", path, usage::CHART).into());
        }
        let fleet = args.reading.read(&args.fleet, files)?;
        let (root, language) = if is_chart { (PathBuf::new(), Dialect::Helm) } else { place(&args)? };
        let prefixes = if is_chart { Vec::new() } else { std::mem::take(&mut args.values.env_prefix) };
        let environment = layers::environment(&prefixes, stderr)?;
        let kept = String::new();
        let session = Self { args, files, stderr, fleet, environment, is_chart, root, language, kept };
        session.cluster()?;
        Ok(session)
    }

    /// Returns the chart whose values and named templates are in scope.
    pub(super) fn chart(&self) -> Option<&Path> {
        self.args.templates.first().map(PathBuf::as_path).filter(|_| self.is_chart)
    }

    /// Returns the prompt.
    pub(super) fn prompt(&self) -> String {
        match &self.args.cluster {
            Some(cluster) => format!("{} ({cluster})> ", title(self.language)),
            None => format!("{}> ", title(self.language)),
        }
    }

    /// Returns the words that complete what is typed. Values that cannot be read have none.
    pub(super) fn words(&mut self) -> Vec<String> {
        let (prefix, values) = match self.chart_values() {
            Some(values) => (".Values.", values.ok()),
            None if self.language == Dialect::Helm => (".", self.inputs().ok().map(|inputs| inputs.merged)),
            None => ("", self.inputs().ok().map(|inputs| inputs.merged)),
        };
        let paths = values.map(|values| paths(&values)).unwrap_or_default();
        lines::words(self.language, paths.iter().map(|path| format!("{prefix}{path}")).collect())
    }
}

/// Returns the first line that a user sees.
pub(super) fn greeting() -> String {
    format!("dropforge {}: `:help` lists commands, Ctrl-D ends", env!("CARGO_PKG_VERSION"))
}

/// Returns the option that reads standard input.
fn reads_stdin(args: &ConsoleArgs) -> Option<&'static str> {
    let values = args.values.values.iter().any(|path| is_dash(path)).then_some("-f -");
    let fleet = args.fleet.iter().any(|fleet| fleet == "-").then_some("--fleet -");
    values.or(fleet).or_else(|| args.templates.iter().any(|path| is_dash(path)).then_some("-"))
}

/// Returns the folder of the templates, and the language: that of `--lang`, or that of all templates, or Tera.
fn place(args: &ConsoleArgs) -> Checked<(PathBuf, Dialect)> {
    let (root, given) = (args.language.include_root.as_deref(), args.language.lang);
    if args.templates.is_empty() {
        return Ok((root.unwrap_or(Path::new(".")).to_owned(), given.unwrap_or(Dialect::Tera)));
    }
    let set = discover(&args.templates, root, &|name| dialect_of(name).is_some())?;
    let mut languages: Vec<_> = set.files.iter().filter_map(|file| dialect_of(&file.name)).collect();
    languages.dedup();
    match (given, languages.as_slice()) {
        (Some(language), _) => Ok((set.root, language)),
        (None, [language]) => Ok((set.root, *language)),
        (None, []) => Ok((set.root, Dialect::Tera)),
        (None, _) => {
            let error = Diagnostic::new(Code::Usage, "the templates are in several languages");
            Err(error.with_help("select one, for example with `--lang tera`"))
        }
    }
}
