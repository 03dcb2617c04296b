//! Checks of a project and of one of its files, as diagnostics of the protocol.
//!
//! The check of a project reads only a snapshot, so that it can run on a thread of its own. What it finds out serves the
//! checks of single files after it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_types::{
    Diagnostic as Finding, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, TextEdit,
    Uri,
};
use serde_json::{Value, json};

use super::content::{DocumentText, uri_of};
use super::guarded;
use super::home::{Home, Language};
use super::values::{MAX_INPUT, ProjectValues, file_of};
use super::world::{Shared, Snapshot};
use crate::check::{CheckArgs, hcl_errors, with_open};
use crate::hcl::Declared;
use crate::input::InputFiles;
use crate::stderr::Stderr;
use dropforge::bulk::{self, MissingNames};
use dropforge::bytecode::Dialect;
use dropforge::compiler::Named;
use dropforge::diagnostics::{Diagnostic, Label, Severity, parts, without_duplicates};
use dropforge::dialect::hcl::check::{VariableTypes, check_config, is_module};
use dropforge::dialect::hcl::syntax::{parse_config, parse_template};
use dropforge::engine::{Engine, EngineBuilder, Memo, Template, UnknownNames};
use dropforge::text::{Source, Text};

/// What the check of a project has found out.
pub(super) struct Ready {
    pub(super) home: Home,
    pub(super) args: CheckArgs,
    pub(super) values: Arc<ProjectValues>,
    /// The root of its templates.
    root: Option<PathBuf>,
    /// The names of the templates that get the values themselves.
    outputs: Vec<String>,
    types: Option<VariableTypes>,
    /// The types of the variables of configurations.
    declared: Declared,
    /// The duration of the check.
    pub(super) took: Duration,
    /// The duration of the latest check of one file.
    pub(super) took_alone: Cell<Duration>,
}

impl Ready {
    /// Reads the values of a project.
    pub(super) fn new(
        home: &Home,
        args: CheckArgs,
        stderr: &Stderr,
        root: Option<PathBuf>,
        outputs: Vec<String>,
        snapshot: &Snapshot,
    ) -> Self {
        let open = snapshot.open_files();
        let values = Arc::new(ProjectValues::read(home, &args, &snapshot.settings, &open, stderr));
        let mut files = InputFiles::new(MAX_INPUT).with_open(open);
        let engine = args.language.engine().build();
        let types = args.schema.var_types().and_then(|path| files.read(path, "--var-types -").ok());
        let types = types.and_then(|source| VariableTypes::read(&source, engine.limits()).ok());
        Self {
            home: home.clone(),
            args,
            values,
            root,
            outputs,
            types,
            declared: Declared::default(),
            took: Duration::ZERO,
            took_alone: Cell::default(),
        }
    }

    /// Sets the duration of the check.
    fn with_time(self, took: Duration) -> Self {
        Self { took, ..self }
    }

    /// Checks one file alone, with what was kept of its last check. `None` if only the whole project can be checked.
    pub(super) fn check(&self, path: &Path, snapshot: &Snapshot, memo: &Memo) -> Option<Vec<Finding>> {
        let (_, _, content) = snapshot.documents.get(path)?;
        let found = match self.home.language(path) {
            Language::Template(Dialect::Helm) if self.home.chart().is_some() => self.chart_template(path, content)?,
            Language::Template(_) => self.template(path, snapshot, memo)?,
            Language::Configuration => self.configuration(path, content),
            Language::Other => return None,
        };
        let mut findings = FindingsBuilder::new(&self.home, path, snapshot);
        without_duplicates(found).iter().for_each(|one| findings.add(one));
        Some(findings.finish().remove(path).unwrap_or_default())
    }

    /// Finds the syntax errors of one file. `None` if there are none.
    pub(super) fn syntax_errors(&self, path: &Path, snapshot: &Snapshot) -> Option<Vec<Finding>> {
        let (_, _, content) = snapshot.documents.get(path)?;
        let (source, engine) = (source(path, content), self.args.language.engine().build());
        let found = match self.home.language(path) {
            Language::Template(Dialect::Hcl) => parse_template(&source, engine.limits()).diagnostics,
            Language::Template(dialect) => engine.marks(dialect, &source).err()?.into_vec(),
            Language::Configuration => parse_config(&source, engine.limits()).diagnostics,
            Language::Other => return None,
        };
        let mut findings = FindingsBuilder::new(&self.home, path, snapshot);
        found.iter().for_each(|one| findings.add(one));
        findings.finish().remove(path)
    }

    /// Returns an engine that has the texts of the open documents.
    fn engine(&self, root: &Path, snapshot: &Snapshot) -> EngineBuilder {
        let engine = self.args.language.engine().unknown_names(UnknownNames::Late).keep_trees(true);
        with_open(engine, root, &snapshot.open_files())
    }

    /// Returns the name of a template and its engine.
    fn loaded(
        &self,
        path: &Path,
        snapshot: &Snapshot,
        change: &dyn Fn(EngineBuilder) -> EngineBuilder,
    ) -> Option<(String, Engine)> {
        let root = self.root.as_deref()?;
        let name = path.strip_prefix(root).ok()?.to_str()?.to_owned();
        Some((name, bulk::engine(root, change(self.engine(root, snapshot))).ok()?))
    }

    /// Compiles a template. `None` after an error.
    pub(super) fn compiled(
        &self,
        path: &Path,
        snapshot: &Snapshot,
        change: &dyn Fn(EngineBuilder) -> EngineBuilder,
    ) -> Option<Template> {
        let Language::Template(dialect) = self.home.language(path) else { return None };
        let (name, engine) = self.loaded(path, snapshot, change)?;
        engine.load(dialect, &name).ok()
    }

    fn template(&self, path: &Path, snapshot: &Snapshot, memo: &Memo) -> Option<Vec<Box<Diagnostic>>> {
        let Language::Template(dialect) = self.home.language(path) else { return None };
        let (name, engine) = self.loaded(path, snapshot, &|engine| engine.memo(memo.clone()))?;
        let template = match engine.load(dialect, &name) {
            Ok(template) => template,
            Err(errors) => return Some(errors.into_vec()),
        };
        let mut found = template.lints().to_vec();
        found.extend(hcl_errors(&template, &engine, self.types.as_ref(), None));
        if self.args.values.any() && self.outputs.contains(&name) {
            let mut missing = MissingNames::of([&template]);
            missing.look_at(0, &self.values.merged);
            found.extend(missing.into_failures(None).into_iter().map(|failure| failure.diagnostic));
        }
        Some(found)
    }

    /// Adds the places at which a file includes others to the diagnostics of those.
    fn tell_includes(&self, path: &Path, found: &mut BTreeMap<PathBuf, Vec<Finding>>, snapshot: &Snapshot) {
        let (Some((uri, _, content)), Language::Template(dialect)) =
            (snapshot.documents.get(path), self.home.language(path))
        else {
            return;
        };
        let others = found.iter_mut().filter(|(file, _)| *file != path);
        let Some(marks) = self.args.language.engine().build().marks(dialect, &source(path, content)).ok() else {
            return;
        };
        for (file, findings) in others {
            let include = marks.iter().find(|mark| mark.kind == Named::File && file.ends_with(&mark.name));
            let Some(include) = include else { continue };
            let location = Location::new(uri.clone(), content.range(include.span));
            let related = DiagnosticRelatedInformation { location, message: "included here".to_owned() };
            for finding in findings {
                finding.related_information.get_or_insert_default().push(related.clone());
            }
        }
    }

    fn configuration(&self, path: &Path, content: &DocumentText) -> Vec<Box<Diagnostic>> {
        let engine = self.args.language.engine().build();
        let source = source(path, content);
        let below = self.root.as_deref().and_then(|root| path.strip_prefix(root).ok()?.to_str());
        let given = self.types.as_ref().filter(|_| !is_module(source.name()));
        let mut types = below.and_then(|name| self.declared.of_file(name)).or(given).cloned();
        // A variable may be new.
        if let Some(types) = types.as_mut().filter(|_| is_module(source.name())) {
            types.add_blocks(&source, engine.limits());
        }
        let checked = check_config(&source, engine.registry(Dialect::Hcl), types.as_ref(), engine.limits());
        checked.unwrap_or_else(|errors| errors.into_vec())
    }

    /// Finds syntax errors. Anything else depends on the whole chart.
    fn chart_template(&self, path: &Path, content: &DocumentText) -> Option<Vec<Box<Diagnostic>>> {
        let engine = self.args.language.engine().build();
        engine.marks(Dialect::Helm, &source(path, content)).err().map(|errors| errors.into_vec())
    }
}

/// Returns a document as a source with its whole path.
fn source(path: &Path, content: &DocumentText) -> Arc<Source> {
    let text = content.shared();
    let whole = 0..text.len();
    Source::new(path.display().to_string(), Text::Shared(text, whole))
}

/// The diagnostics by file.
pub(super) type FindingsByFile = BTreeMap<PathBuf, Vec<Finding>>;

/// A check that has ended.
pub(super) struct CheckedHome {
    pub(super) home: Home,
    pub(super) snapshot: Snapshot,
    /// The number of jobs before it began.
    pub(super) jobs: u64,
    /// What it found, or the message of a panic.
    pub(super) found: Result<(FindingsByFile, Option<Ready>), String>,
}

impl CheckedHome {
    /// Checks a home, and reads its values.
    pub(super) fn new(home: Home, snapshot: Snapshot, jobs: u64, shared: &Shared) -> Self {
        let start = Instant::now();
        let found = guarded(|| check_project(&home, &snapshot, shared));
        let found = found.map(|(found, ready)| (found, ready.map(|ready| ready.with_time(start.elapsed()))));
        Self { home, snapshot, jobs, found }
    }
}

fn check_project(home: &Home, snapshot: &Snapshot, shared: &Shared) -> (FindingsByFile, Option<Ready>) {
    let nowhere = match home {
        Home::Project(path) | Home::Alone(path, _) => path.clone(),
        Home::Chart(chart) => chart.join("Chart.yaml"),
    };
    let mut findings = FindingsBuilder::new(home, &nowhere, snapshot);
    let (args, stderr) = match home.arguments(&snapshot.settings) {
        Ok(found) => found,
        Err(errors) => {
            errors.iter().for_each(|error| findings.add(error));
            return (findings.finish(), None);
        }
    };
    let open = snapshot.open_files();
    let mut files = InputFiles::new(MAX_INPUT).with_open(open);
    files.allow_sops(args.values.allow().allows_sops());
    let ready = match crate::check::find(&args, 0, &mut files, &stderr) {
        Ok(found) => {
            found.found.iter().for_each(|one| findings.add(one));
            found.failures.iter().for_each(|failure| findings.add(&failure.folded()));
            let ready = Ready::new(home, args, &stderr, found.root, found.outputs, snapshot);
            Ready { declared: found.declared, ..ready }
        }
        Err(failed) => {
            failed.diagnostics.iter().for_each(|one| findings.add(one));
            failed.failures.iter().for_each(|failure| findings.add(&failure.folded()));
            Ready::new(home, args, &stderr, None, Vec::new(), snapshot)
        }
    };
    shared.keep_values(home, ready.values.clone());
    let mut found = findings.finish();
    if let Home::Alone(path, _) = home {
        ready.tell_includes(path, &mut found, snapshot);
    }
    (found, Some(ready))
}

/// Maximum number of places beside the first one.
const RELATED: usize = 16;

/// Makes diagnostics of the protocol.
struct FindingsBuilder<'f> {
    home: &'f Home,
    /// The file of what has no place.
    nowhere: &'f Path,
    snapshot: &'f Snapshot,
    contents: Vec<(Arc<Source>, Arc<DocumentText>)>,
    found: BTreeMap<PathBuf, Vec<Finding>>,
}

impl<'f> FindingsBuilder<'f> {
    /// Creates an empty list.
    fn new(home: &'f Home, nowhere: &'f Path, snapshot: &'f Snapshot) -> Self {
        Self { home, nowhere, snapshot, contents: Vec::new(), found: BTreeMap::new() }
    }

    /// Returns the diagnostics of each file.
    fn finish(self) -> BTreeMap<PathBuf, Vec<Finding>> {
        self.found
    }

    /// Adds a diagnostic, and those that it carries.
    fn add(&mut self, diagnostic: &Diagnostic) {
        let label = diagnostic.labels.iter().find_map(|label| Some((label, self.file(&label.source)?)));
        let (path, range) = match &label {
            Some((label, path)) => (path.clone(), self.content(&label.source).range(label.span)),
            None => (self.nowhere.to_owned(), Range::default()),
        };
        let first = label.map(|(label, _)| label);
        let lines: Vec<String> = diagnostic.parts(parts::EDITOR, first).map(|(_, line)| line).collect();
        let finding = Finding {
            range,
            severity: Some(match diagnostic.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: Some(NumberOrString::String(diagnostic.code.id().to_owned())),
            source: Some("dropforge".to_owned()),
            message: lines.join("\n"),
            related_information: Some(self.related(diagnostic, first)).filter(|related| !related.is_empty()),
            data: self.fix(diagnostic),
            ..Finding::default()
        };
        self.found.entry(path).or_default().push(finding);
        diagnostic.also.iter().for_each(|other| self.add(other));
    }

    fn file(&self, source: &Source) -> Option<PathBuf> {
        file_of(source, self.home.chart())
    }

    fn uri(&self, path: &Path) -> Option<Uri> {
        self.snapshot.documents.get(path).map_or_else(|| uri_of(path), |(uri, ..)| Some(uri.clone()))
    }

    /// Returns the text of a source with its lines.
    fn content(&mut self, source: &Arc<Source>) -> Arc<DocumentText> {
        if let Some((_, content)) = self.contents.iter().find(|(known, _)| Arc::ptr_eq(known, source)) {
            return content.clone();
        }
        let content = Arc::new(DocumentText::new(source.text().to_owned()));
        self.contents.push((source.clone(), content.clone()));
        content
    }

    fn related(&mut self, diagnostic: &Diagnostic, first: Option<&Label>) -> Vec<DiagnosticRelatedInformation> {
        let is_other = |label: &&Label| first.is_none_or(|first| !std::ptr::eq(first, *label));
        let others = diagnostic.labels.iter().filter(is_other).take(RELATED);
        let related = |label: &Label| {
            let path = self.file(&label.source)?;
            let range = self.content(&label.source).range(label.span);
            let message = if label.text.is_empty() { "from here".to_owned() } else { label.text.clone() };
            Some(DiagnosticRelatedInformation { location: Location::new(self.uri(&path)?, range), message })
        };
        others.filter_map(related).collect()
    }

    /// Returns the edit that mends an error. The client keeps it with the diagnostic.
    fn fix(&mut self, diagnostic: &Diagnostic) -> Option<Value> {
        let fix = diagnostic.fix()?;
        let range = self.content(&fix.source).range(fix.span);
        let uri = self.uri(&self.file(&fix.source)?)?;
        Some(json!({ "uri": uri, "edit": TextEdit::new(range, fix.text) }))
    }
}
