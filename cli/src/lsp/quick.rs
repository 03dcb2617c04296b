//! The check of one file, with what the check of its project has found out.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dropforge::bulk::{self, MissingNames};
use dropforge::bytecode::Dialect;
use dropforge::compiler::Named;
use dropforge::diagnostics::{Diagnostic, without_duplicates};
use dropforge::dialect::hcl::check::{VariableTypes, check_config, is_module};
use dropforge::dialect::hcl::syntax::{parse_config, parse_template};
use dropforge::engine::{Engine, EngineBuilder, Memo, Template, UnknownNames};
use dropforge::text::{Source, Text};
use lsp_types::{Diagnostic as Finding, DiagnosticRelatedInformation, Location};

use super::content::Content;
use super::findings::Findings;
use super::home::{Home, Language};
use super::values::{MAX_INPUT, Values};
use super::world::Snapshot;
use crate::check::{CheckArgs, hcl_errors, with_open};
use crate::console::Console;
use crate::input::InputFiles;

/// What the check of a project has found out.
pub(super) struct Ready {
    pub(super) home: Home,
    pub(super) args: CheckArgs,
    pub(super) values: Arc<Values>,
    /// The root of its templates.
    root: Option<PathBuf>,
    /// The names of the templates that get the values themselves.
    outputs: Vec<String>,
    types: Option<VariableTypes>,
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
        console: &Console,
        root: Option<PathBuf>,
        outputs: Vec<String>,
        snapshot: &Snapshot,
    ) -> Self {
        let open = snapshot.open_files();
        let values = Arc::new(Values::read(home, &args, &snapshot.settings, &open, console));
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
            took: Duration::ZERO,
            took_alone: Cell::default(),
        }
    }

    /// Sets the duration of the check.
    pub(super) fn with_time(self, took: Duration) -> Self {
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
        let uris = |path: &Path| snapshot.documents.get(path).map(|(uri, ..)| uri.clone());
        let mut findings = Findings::new(self.home.chart(), path, &uris);
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
        let uris = |path: &Path| snapshot.documents.get(path).map(|(uri, ..)| uri.clone());
        let mut findings = Findings::new(self.home.chart(), path, &uris);
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
        found.extend(hcl_errors(&template, &engine, self.types.as_ref()));
        if self.args.values.any() && self.outputs.contains(&name) {
            let mut missing = MissingNames::of([&template]);
            missing.look_at(0, &self.values.merged);
            found.extend(missing.into_failures(None).into_iter().map(|failure| failure.diagnostic));
        }
        Some(found)
    }

    /// Adds the places at which a file includes others to the diagnostics of those.
    pub(super) fn tell_includes(&self, path: &Path, found: &mut BTreeMap<PathBuf, Vec<Finding>>, snapshot: &Snapshot) {
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

    fn configuration(&self, path: &Path, content: &Content) -> Vec<Box<Diagnostic>> {
        let engine = self.args.language.engine().build();
        let source = source(path, content);
        // The other files of a module declare variables, too.
        let types = self.types.as_ref().filter(|_| !is_module(source.name()));
        let checked = check_config(&source, engine.registry(Dialect::Hcl), types, engine.limits());
        checked.unwrap_or_else(|errors| errors.into_vec())
    }

    /// Finds syntax errors. Anything else depends on the whole chart.
    fn chart_template(&self, path: &Path, content: &Content) -> Option<Vec<Box<Diagnostic>>> {
        let engine = self.args.language.engine().build();
        engine.marks(Dialect::Helm, &source(path, content)).err().map(|errors| errors.into_vec())
    }
}

/// Returns a document as a source with its whole path.
fn source(path: &Path, content: &Content) -> Arc<Source> {
    let text = content.shared();
    let whole = 0..text.len();
    Source::new(path.display().to_string(), Text::Shared(text, whole))
}
