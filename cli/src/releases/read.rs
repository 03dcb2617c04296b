//! Reading the releases of a project file: each `[[release]]` is a table of options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Command, FromArgMatches};
use dropforge::bulk::values::Step;
use dropforge::bulk::{Format, LayerPath, Pattern, input};
use dropforge::diagnostics::{Code, Diagnostic, nearest};
use dropforge::text::{Source, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ReleaseOptions;
use super::patches::{self, PatchDefinition};
use crate::glob;
use crate::input::InputFiles;
use crate::locked_charts::RemoteChart;

/// The table of a release, and the key that names further files with releases.
const RELEASE: &str = "release";
const INCLUDE: &str = "include";
/// The table with the URLs of repositories of charts.
const REPOSITORIES: &str = "repositories";

/// The keys of a release that are no options.
const KEYS: [&str; 8] = ["name", "chart", "version", "templates", "values", "patches", "when", "labels"];

/// A release as a project file defines it.
#[derive(Debug)]
pub(crate) struct Definition {
    /// The file, and the place of the name in it.
    pub(crate) source: Arc<Source>,
    pub(crate) span: Span,
    pub(crate) name: Pattern,
    pub(crate) chart: Option<PathBuf>,
    /// The chart, if it is in a repository or registry.
    pub(crate) remote: Option<RemoteChart>,
    pub(crate) templates: Vec<PathBuf>,
    pub(crate) values: Vec<LayerPath>,
    pub(crate) patches: Vec<PatchDefinition>,
    /// The condition on clusters, with its place.
    pub(crate) when: Option<(String, Span)>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) options: ReleaseOptions,
}

type Errors = Vec<Box<Diagnostic>>;

/// Reads the releases of a project file, and those of the files that it includes.
///
/// # Errors
/// All errors of the file: `input.syntax`, and `usage` for unknown keys and values of other types.
pub(crate) fn read(path: &Path, files: &mut InputFiles) -> Result<Vec<Definition>, Errors> {
    let mut reader = Reader { files, found: Vec::new(), repositories: Vec::new(), errors: Vec::new() };
    reader.file(path, true);
    reader.check_names();
    reader.name_repositories();
    if reader.errors.is_empty() { Ok(reader.found) } else { Err(reader.errors) }
}

struct Reader<'f> {
    files: &'f mut InputFiles,
    found: Vec<Definition>,
    /// The names and URLs of repositories.
    repositories: Vec<(String, String)>,
    errors: Errors,
}

/// A table of a release, and where its paths are relative to.
struct Table<'t> {
    source: &'t Arc<Source>,
    dir: &'t Path,
    keys: &'t DeTable<'t>,
    span: Span,
    /// Its number in the file.
    nth: usize,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, is_project: bool) {
        let source = match self.files.read(path, "--releases -") {
            Ok(source) => source,
            Err(error) => return self.errors.push(error),
        };
        // This reader refuses deep documents, which take stack to drop.
        if let Err(error) = input::map(&source, Format::Toml) {
            return self.errors.push(error);
        }
        let (table, _) = DeTable::parse_recoverable(source.text());
        let dir = path.parent().unwrap_or(Path::new(""));
        for (key, value) in table.get_ref() {
            let span = Span::of(value.span());
            match (key.get_ref().as_ref(), value.get_ref()) {
                (RELEASE, DeValue::Array(items)) => {
                    items.iter().enumerate().for_each(|(nth, item)| self.item(&source, dir, (nth, item)));
                }
                (RELEASE, _) => {
                    let error = error(&source, span, "`release` must be a list of tables");
                    self.errors.push(error.with_help("write `[[release]]` above each release"));
                }
                (REPOSITORIES, _) if is_project => self.repositories(&source, value),
                (INCLUDE, _) if is_project => self.include(&source, dir, value),
                (other, _) if !is_project => {
                    let error = error(&source, Span::of(key.span()), format!("unknown key `{other}`"));
                    self.errors.push(error.with_help("a file of releases has tables `[[release]]` only"));
                }
                _ => {}
            }
        }
    }

    fn item(&mut self, source: &Arc<Source>, dir: &Path, (nth, item): (usize, &Spanned<DeValue<'_>>)) {
        let span = Span::of(item.span());
        let DeValue::Table(keys) = item.get_ref() else {
            return self.errors.push(error(source, span, "a release must be a table"));
        };
        self.release(&Table { source, dir, keys, span, nth });
    }

    /// Reads the files that `include` names: paths and globs relative to the project file.
    fn include(&mut self, source: &Arc<Source>, dir: &Path, value: &Spanned<DeValue<'_>>) {
        let Some(patterns) = self.texts(source, "include", value) else { return };
        for (pattern, span) in patterns {
            let pattern = dir.join(pattern).to_string_lossy().into_owned();
            match glob::expand(&pattern) {
                Ok(paths) => paths.iter().for_each(|path| self.file(path, false)),
                Err(error) => self.errors.push(error.at(source, span, "")),
            }
        }
    }

    fn release(&mut self, table: &Table<'_>) {
        let before = self.errors.len();
        let text = |reader: &mut Self, key: &str| {
            let value = table.keys.get(key)?;
            let texts = reader.texts(table.source, key, value)?;
            texts.into_iter().next()
        };
        let name = text(self, "name");
        if name.is_none() && !table.keys.contains_key("name") {
            let error = error(table.source, table.span, "the release has no `name`");
            self.errors.push(error.with_help("write `name = \"…\"`"));
        }
        let (chart, when, version) = (text(self, "chart"), text(self, "when"), text(self, "version"));
        let remote = chart.as_ref().and_then(|chart| self.remote(table, chart, version));
        let paths = |texts: Vec<(String, Span)>| texts.into_iter().map(|(path, _)| table.dir.join(path)).collect();
        let templates: Vec<PathBuf> = self.list(table, "templates").map(paths).unwrap_or_default();
        let mut values = Vec::new();
        for (path, span) in self.list(table, "values").unwrap_or_default() {
            match LayerPath::parse(&table.dir.join(path).to_string_lossy()) {
                Ok(path) => values.push(path.at(table.source, span)),
                Err(error) => self.errors.push(error.at(table.source, span, "")),
            }
        }
        let (labels, patches) = (self.labels(table), self.patches(table));
        let options = self.options(table);
        let is_one = chart.is_some() == templates.is_empty();
        if !is_one && self.errors.len() == before {
            let error = error(table.source, table.span, "a release has either `chart` or `templates`");
            self.errors.push(error.with_help("write `chart = \"DIR\"` or `templates = [\"DIR\"]`"));
        }
        let (Some((name, span)), Some(options)) = (name, options) else { return };
        match Pattern::parse("release name", &name) {
            Ok(name) if self.errors.len() == before => self.found.push(Definition {
                source: table.source.clone(),
                span,
                name,
                chart: chart.map(|(path, _)| table.dir.join(path)),
                remote,
                templates,
                values,
                patches,
                when,
                labels,
                options,
            }),
            Ok(_) => {}
            Err(error) => self.errors.push(error.at(table.source, span, "")),
        }
    }

    /// Returns the chart of a release if it is in a repository or registry.
    fn remote(
        &mut self,
        table: &Table<'_>,
        (chart, span): &(String, Span),
        version: Option<(String, Span)>,
    ) -> Option<RemoteChart> {
        if !RemoteChart::is_one(chart, version.is_some()) {
            return None;
        }
        let is_named = chart.split_once('/').is_some_and(|(first, name)| !first.is_empty() && !name.is_empty());
        if !chart.contains("://") && (!is_named || chart.starts_with('.') || table.dir.join(chart).exists()) {
            let span = version.map_or(*span, |(_, span)| span);
            let error =
                error(table.source, span, format!("the chart `{chart}` is on this machine and has no `version`"));
            self.errors
                .push(error.with_help("remove `version`, or write `chart = \"REPOSITORY/NAME\"` or `\"oci://…\"`"));
            return None;
        }
        let (chart, source, range) = (chart.clone(), table.source.clone(), version.map(|(text, _)| text));
        Some(RemoteChart { chart, range: range.unwrap_or_default(), source, span: *span, repository: None })
    }

    /// Reads the names and URLs of repositories.
    fn repositories(&mut self, source: &Arc<Source>, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(entries) = value.get_ref() else {
            let error = error(source, Span::of(value.span()), "`repositories` must be a table");
            self.errors.push(error.with_help("write `repositories = { NAME = \"https://…\" }`"));
            return;
        };
        for (name, value) in entries {
            let url = self.texts(source, name.get_ref(), value).and_then(|texts| texts.into_iter().next());
            self.repositories.extend(url.map(|(url, _)| (name.get_ref().to_string(), url)));
        }
    }

    /// Gives charts the URLs of their repositories.
    fn name_repositories(&mut self) {
        for chart in self.found.iter_mut().filter_map(|one| one.remote.as_mut()) {
            let first = chart.chart.split('/').next().unwrap_or_default();
            chart.repository = self.repositories.iter().find(|(name, _)| name == first).map(|(_, url)| url.clone());
        }
    }

    fn list(&mut self, table: &Table<'_>, key: &str) -> Option<Vec<(String, Span)>> {
        let value = table.keys.get(key)?;
        self.texts(table.source, key, value)
    }

    fn patches(&mut self, table: &Table<'_>) -> Vec<PatchDefinition> {
        let above = [Step::Key(RELEASE.to_owned()), Step::Index(table.nth)];
        let value = table.keys.get("patches");
        value.map(|value| patches::read(table.source, (table.dir, &above), value, &mut self.errors)).unwrap_or_default()
    }

    fn labels(&mut self, table: &Table<'_>) -> Vec<(String, String)> {
        let Some(value) = table.keys.get("labels") else { return Vec::new() };
        let DeValue::Table(labels) = value.get_ref() else {
            let error = error(table.source, Span::of(value.span()), "`labels` must be a table");
            self.errors.push(error.with_help("write `labels = { team = \"web\" }`"));
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, value) in labels {
            let text = self.texts(table.source, key.get_ref(), value).and_then(|texts| texts.into_iter().next());
            found.extend(text.map(|(text, _)| (key.get_ref().to_string(), text)));
        }
        found
    }

    /// Parses all other keys as options of the command line.
    fn options(&mut self, table: &Table<'_>) -> Option<ReleaseOptions> {
        let command = ReleaseOptions::augment_args(Command::new("release").no_binary_name(true));
        let mut args: Vec<OsString> = Vec::new();
        for (key, value) in table.keys.iter().filter(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let is_it = |arg: &&clap::Arg| {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                arg.get_long().into_iter().chain(aliases).any(|own| own == name)
            };
            let Some(arg) = command.get_arguments().find(is_it) else {
                self.unknown(table, &command, key);
                continue;
            };
            if !arg.get_action().takes_values() {
                match value.get_ref() {
                    DeValue::Boolean(true) => args.push(format!("--{name}").into()),
                    DeValue::Boolean(false) => {}
                    _ => self.errors.push(wrong_type(table.source, (name, "`true` or `false`"), value)),
                }
                continue;
            }
            let is_path = arg.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>();
            for (text, span) in self.texts(table.source, name, value)? {
                let text = if is_path { table.dir.join(text).into_os_string() } else { text.into() };
                let mut one = OsString::from(format!("--{name}="));
                one.push(text);
                self.try_option(table, (&command, name), (&one, span));
                args.push(one);
            }
        }
        let matches = command.try_get_matches_from(args).ok()?;
        ReleaseOptions::from_arg_matches(&matches).ok()
    }

    /// Reports an option that the parser refuses.
    fn try_option(&mut self, table: &Table<'_>, (command, name): (&Command, &str), (arg, span): (&OsString, Span)) {
        if let Err(refused) = command.clone().try_get_matches_from([arg]) {
            let reason = std::error::Error::source(&refused).map(|why| format!(": {why}")).unwrap_or_default();
            self.errors.push(error(table.source, span, format!("invalid value for `{name}`{reason}")));
        }
    }

    fn unknown(&mut self, table: &Table<'_>, command: &Command, key: &Spanned<std::borrow::Cow<'_, str>>) {
        let name = key.get_ref().as_ref();
        let error = error(table.source, Span::of(key.span()), format!("unknown key `{name}` in `[[release]]`"));
        let known = || KEYS.into_iter().chain(command.get_arguments().filter_map(clap::Arg::get_long));
        let error = match nearest(name, known()) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        };
        self.errors.push(error.with_available(known()));
    }

    /// Returns a text or a list of texts, each with its place.
    fn texts(&mut self, source: &Arc<Source>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<(String, Span)>> {
        let items = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![value],
        };
        let mut texts = Vec::new();
        for item in items {
            let DeValue::String(text) = item.get_ref() else {
                self.errors.push(wrong_type(source, (key, "a string"), item));
                return None;
            };
            texts.push((text.to_string(), Span::of(item.span())));
        }
        Some(texts)
    }

    /// Finds releases with the same name.
    fn check_names(&mut self) {
        for (at, release) in self.found.iter().enumerate() {
            let is_same = |other: &&Definition| other.name.text() == release.name.text();
            if let Some(first) = self.found.get(..at).and_then(|before| before.iter().find(is_same)) {
                let message = format!("two releases are named `{}`", release.name.text());
                let error = error(&release.source, release.span, message);
                self.errors.push(error.at(&first.source, first.span, "the first one"));
            }
        }
    }
}

pub(super) fn error(source: &Arc<Source>, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, message).at(source, span, "")
}

/// Returns the error for a value of a key that is not what is `wanted`.
pub(crate) fn wrong_type(
    source: &Arc<Source>,
    (key, wanted): (&str, &str),
    value: &Spanned<DeValue<'_>>,
) -> Box<Diagnostic> {
    let message = format!("`{key}` must be {wanted}, found {}", value.get_ref().type_str());
    error(source, Span::of(value.span()), message)
}

/// Returns `true` if the text of a project file has releases.
pub(crate) fn is_key(name: &str) -> bool {
    [RELEASE, INCLUDE, REPOSITORIES].contains(&name)
}
