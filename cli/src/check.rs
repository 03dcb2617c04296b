//! `dropforge check`: errors in templates and configurations, found without data; the include root of single templates.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use dropforge::bulk::{Failure, TemplateSet, Templates, dialect_of, discover};
use dropforge::bytecode::Dialect;
use dropforge::diagnostics::{self, Code, Diagnostic, LOOKED_UP, Severity, counted, without_duplicates};
use dropforge::dialect::hcl::check::{VariableTypes, check_config, check_parsed, check_template, is_module};
use dropforge::engine::{Capabilities, Engine, EngineBuilder, Template, UnknownNames, common_folder, path_from_here};
use dropforge::text::{Source, Text};

use crate::artifacts;
use crate::chart::{self, Checked, ReleasesArgs, With};
use crate::copies::{Copies, NamedFiles};
use crate::exit::{Exit, Failed};
use crate::hcl::{Declared, is_configuration};
use crate::input::{InputFiles, OpenFiles};
use crate::missing::{CheckValuesArgs, CheckedTemplates};
use crate::options::{Global, LanguageArgs};
use crate::project::{Project, key};
use crate::releases::{self, ReleasesOption};
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;

/// Check templates and configurations for errors, without rendering
///
///     dropforge check templates/
///     dropforge check templates/ -f values.yaml --fleet clusters.ndjson
///     dropforge check modules/ --var-types variables.tf
///
/// A Helm chart is checked with its default values, or with those given by -f and
/// --set: the values against its schema, its templates, and what they render to.
/// With --fleet, that is done for the release of each cluster.
///
/// With values, every name that a template looks up has to be given, for each
/// cluster. Branches that the values rule out are left out.
///
/// HCL templates and configurations are also evaluated with unknown variables,
/// which finds errors that occur for any values. Functions that --allow does not
/// allow are errors in templates of every language, and allowed files are read.
/// With --var-types, only the declared variables exist, each with its type. Without
/// it, every variable exists and has any type. In .tf and .tofu files, the `variable`
/// blocks of their folder give the types of `var.*`, and so does --var-types; other
/// names have any type.
///
/// Configurations are files with the extensions .hcl, .nomad, .tf, .tfvars and
/// .tofu, also followed by .json. All arguments of all blocks are checked. Which
/// blocks exist is left to the application, and its functions are declared with
/// --declare function:NAME. The functions of `function` blocks and the iterators
/// of `dynamic` blocks are known, and `type` in a `variable` block is a type. A
/// file .hcl.json that is not JSON and contains `${` or `%{` is a template. With
/// --lang, all files are templates.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CheckArgs {
    /// Templates, configurations, directories, Helm charts or artifacts
    #[arg(required_unless_present = "releases", value_name = "FILES")]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) releases: ReleasesOption,
    /// Treat warnings as errors
    #[arg(long, add = key("checks"))]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    pub(crate) values: CheckValuesArgs,
    #[command(flatten)]
    pub(crate) schema: SchemaArgs,
    #[command(flatten)]
    pub(crate) chart: ReleasesArgs,
    /// `true` if the project has other templates, which may read other values.
    #[arg(skip)]
    pub(crate) is_part: bool,
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, global: &Global, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let threads = global.jobs.map_or(0, usize::from);
    let mut findings = find(args, threads, files, stderr)?;
    if args.language.include_root.is_none() {
        hint(&mut findings.found, findings.root.as_deref());
    }
    let others = match &findings.beside {
        Some((set, used)) => others(args, set, used)?,
        None => Vec::new(),
    };
    others.iter().for_each(|warning| stderr.warning(warning));
    Ok(findings.print((args.strict, others.len()), stderr))
}

/// Returns the warnings about templates of other tools beside those of a set.
fn others(args: &CheckArgs, set: &TemplateSet, used: &HashSet<String>) -> diagnostics::Result<Vec<String>> {
    let folders = args.templates.iter().filter(|path| path.is_dir() && !chart::is_chart(path));
    let (folders, named) = (folders.cloned().collect(), NamedFiles::new(args.values.values(), None));
    Copies { globs: &[], folders, set, used: used.clone(), named: &named }.others()
}

/// The findings of a check.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "lsp"), allow(dead_code))]
pub(crate) struct Findings {
    pub(crate) templates: usize,
    configurations: usize,
    /// The root of the templates, and the names of those that an output is made of.
    pub(crate) root: Option<PathBuf>,
    pub(crate) outputs: Vec<String>,
    /// The types of the variables of configurations.
    pub(crate) declared: Declared,
    /// Errors and warnings of files.
    pub(crate) found: Vec<Box<Diagnostic>>,
    /// Errors and warnings about values of clusters.
    pub(crate) failures: Vec<Failure>,
    /// The templates, and the names of files that they refer to. `None` with configurations, which refer to files, too.
    beside: Option<(TemplateSet, HashSet<String>)>,
}

/// Checks templates and configurations, the releases of charts with so many threads.
///
/// # Errors
/// Errors of reading files; `usage`.
pub(crate) fn find(
    args: &CheckArgs,
    threads: usize,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> Result<Findings, Failed> {
    if args.templates.is_empty() {
        return releases::check(args, threads, files, stderr);
    }
    let engine = args.language.engine().build();
    let types = match args.schema.var_types() {
        Some(path) => Some(VariableTypes::read(&files.read(path, "--var-types -")?, engine.limits())?),
        None => None,
    };
    let mut check = Check { args, engine, types, findings: Findings::default(), valid: CheckedTemplates::default() };
    let (charts, others) = chart::split(args.templates.clone());
    let (artifacts, sources) = artifacts::split(&others);
    match (charts.first(), others.first()) {
        (Some(chart), None) => chart::refuse_others(&args.language, &args.schema, chart)?,
        (None, Some(other)) => args.chart.check_unused(other)?,
        _ => {}
    }
    let (fleet, groups) = args.values.fleet(files)?;
    for path in &artifacts {
        check.artifact(path, files)?;
    }
    for path in &charts {
        check.chart(path, With { args, fleet: fleet.as_ref(), groups: &groups, threads }, files, stderr)?;
    }
    if !sources.is_empty() {
        check.sources(&sources, files)?;
    }
    if args.values.any() && !others.is_empty() {
        let schema = (&args.schema, args.templates.as_slice());
        let fleet = fleet.unwrap_or_default();
        let failures = args.values.check(
            &check.valid,
            !args.is_part && check.reads_all(),
            (&fleet, &groups),
            schema,
            files,
            stderr,
        )?;
        check.findings.failures.extend(failures);
    } else if !others.is_empty() {
        args.schema.read(&args.templates, files)?;
    }
    let outputs = check.valid.outputs().into_iter().map(|template| template.name().to_owned()).collect();
    Ok(Findings { outputs, found: without_duplicates(check.findings.found), ..check.findings })
}

impl Findings {
    /// Prints the findings and a summary, which counts `others` warnings that were printed before.
    fn print(&self, (strict, others): (bool, usize), stderr: &Stderr) -> Exit {
        self.found.iter().for_each(|diagnostic| stderr.diagnostic(diagnostic));
        stderr.join_places(&self.failures).iter().for_each(|failure| stderr.failure(failure));
        let of_failures = self.failures.iter().map(|failure| &failure.diagnostic);
        let severities = self.found.iter().chain(of_failures).map(|one| one.severity);
        let errors = severities.filter(|severity| *severity == Severity::Error).count();
        let warnings = self.found.len() + self.failures.len() - errors + others;
        let sources = list([(self.templates, "template"), (self.configurations, "configuration")]);
        let findings = list([(errors, "error"), (warnings, "warning")]);
        stderr.note(&format!(
            "checked {}: {}",
            sources.unwrap_or_else(|| counted(0, "template")),
            findings.unwrap_or_else(|| "no errors".to_owned())
        ));
        if errors > 0 || (strict && warnings > 0) { Exit::Error } else { Exit::Ok }
    }
}

struct Check<'a> {
    args: &'a CheckArgs,
    engine: Engine,
    types: Option<VariableTypes>,
    findings: Findings,
    valid: CheckedTemplates,
}

impl Check<'_> {
    fn artifact(&mut self, path: &Path, files: &mut InputFiles) -> diagnostics::Result<()> {
        let language = &self.args.language;
        let engine = self.args.values.allow().grant(language.engine())?;
        let artifact = artifacts::read(path, language, engine, files)?;
        self.findings.templates += artifact.names().count();
        self.valid.files.extend(artifacts::files(&artifact));
        for template in artifact.names().map(|name| artifact.template(name)) {
            match template {
                Ok(template) => {
                    self.findings.found.extend(self.hcl_errors(&template));
                    self.valid.templates.push(template);
                }
                Err(error) => self.findings.found.push(error),
            }
        }
        Ok(())
    }

    fn chart(&mut self, path: &Path, with: With<'_>, files: &mut InputFiles, stderr: &Stderr) -> Result<(), Failed> {
        let Checked { templates, found, failures } = chart::check(path, with, files, stderr)?;
        self.findings.templates += templates;
        self.findings.found.extend(found);
        self.findings.failures.extend(failures);
        Ok(())
    }

    fn sources(&mut self, sources: &[PathBuf], files: &mut InputFiles) -> diagnostics::Result<()> {
        let language = &self.args.language;
        let is_source = |name: &str| language.is_template(name) || is_configuration(name);
        let set = discover(sources, language.include_root.as_deref(), &is_source)?;
        let (set, configurations) = self.split(set, files);
        let engine = self.args.values.allow().grant(language.engine())?;
        let engine = engine.unknown_names(UnknownNames::Late).keep_trees(true);
        let engine = with_open(engine, &set.root, files.open_files());
        let (templates, errors) = Templates::compile_valid(&set, language.lang, engine)?;
        self.findings.root = Some(set.root.clone());
        self.findings.templates += set.files.len();
        self.findings.found.extend(errors);
        self.findings.found.extend(templates.lints().into_iter().map(refused));
        for template in templates.iter() {
            self.findings.found.extend(self.hcl_errors(template));
            if template.dialect() != Dialect::Hcl {
                self.findings.found.extend(template.refused_calls());
            }
            self.valid.templates.push(template.clone());
        }
        if configurations.is_empty() {
            let used = templates.iter().flat_map(|template| template.reaches().iter().cloned());
            self.findings.beside = Some((set.clone(), used.collect()));
        }
        self.valid.files.extend(set.files);
        let folder = (set.root.as_path(), folder_of(&set.root));
        let declared = Declared::of(&configurations, folder, self.types.as_ref(), (files, self.engine.limits()));
        for source in &configurations {
            let registry = self.engine.registry(Dialect::Hcl);
            let checked = check_config(source, registry, declared.of_file(source.name()), self.engine.limits());
            self.findings.found.extend(checked.unwrap_or_else(|errors| errors.into_vec()));
        }
        self.findings.declared = declared;
        Ok(())
    }

    /// Splits a set into templates and configurations. Leaves out the file of variable types, unless it was named or is a
    /// file of a module.
    fn split(&mut self, mut set: TemplateSet, inputs: &mut InputFiles) -> (TemplateSet, Vec<Arc<Source>>) {
        let canonical = |path: &Path| path.canonicalize().ok();
        let types = self.args.schema.var_types().and_then(canonical);
        let (mut templates, mut configurations) = (Vec::new(), Vec::new());
        self.findings.found.extend(set.skipped.warnings());
        for file in std::mem::take(&mut set.files) {
            let path = set.root.join(&file.name);
            if self.args.language.lang.is_some() || !is_configuration(&file.name) {
                templates.push(file);
            } else if file.explicit || types.is_none() || is_module(&file.name) || canonical(&path) != types {
                match inputs.read_below(folder_of(&set.root), &file.name) {
                    Ok(source) if is_template(&source) => templates.push(file),
                    Ok(source) => configurations.push(source),
                    Err(error) => self.findings.found.push(error),
                }
            }
        }
        self.findings.configurations += configurations.len();
        (TemplateSet { files: templates, ..set }, configurations)
    }

    /// Finds the errors that an HCL template has for any values of its variables. Needs the source, which an artifact may
    /// lack.
    fn hcl_errors(&self, template: &Template) -> Vec<Box<Diagnostic>> {
        hcl_errors(template, &self.engine, self.types.as_ref(), Some(template.capabilities()))
    }

    /// Returns `true` if only templates were given, and all of them compile: then they read what their programs read.
    fn reads_all(&self) -> bool {
        self.findings.configurations == 0 && self.findings.found.iter().all(|found| found.severity != Severity::Error)
    }
}

/// Finds the errors that an HCL template has for any values of its variables, and with these capabilities if those of its
/// runs are known.
pub(crate) fn hcl_errors(
    template: &Template,
    engine: &Engine,
    types: Option<&VariableTypes>,
    capabilities: Option<Capabilities<'_>>,
) -> Vec<Box<Diagnostic>> {
    let (registry, limits) = (engine.registry(Dialect::Hcl), engine.limits());
    let source: Option<&Arc<Source>> = template.program().sources().first();
    let checked = match (template.tree(), source.filter(|_| template.dialect() == Dialect::Hcl)) {
        (Some(parsed), _) => check_parsed(parsed, registry, types, capabilities, limits).map_err(|limit| vec![limit]),
        (None, Some(source)) => check_template(source, registry, types, limits).map_err(|errors| errors.into_vec()),
        (None, None) => Ok(Vec::new()),
    };
    checked.unwrap_or_else(|errors| errors)
}

/// Makes an error of a warning about a file that a CEL template includes and that does not exist: a run fails where it comes
/// to it, and other languages refuse it at once.
fn refused(lint: Box<Diagnostic>) -> Box<Diagnostic> {
    let dialect = lint.primary().and_then(|label| dialect_of(label.source.name()));
    match (lint.code, dialect) {
        (Code::UnknownTemplate, Some(Dialect::CelYaml)) => Diagnostic { severity: Severity::Error, ..*lint }.into(),
        _ => lint,
    }
}

/// Returns the path of the root of templates from the current directory, if it is another.
fn folder_of(root: &Path) -> Option<Arc<str>> {
    Some(path_from_here(root).into()).filter(|folder: &Arc<str>| &**folder != ".")
}

/// Adds the open files below the root of templates to an engine.
pub(crate) fn with_open(engine: EngineBuilder, root: &Path, open: &OpenFiles) -> EngineBuilder {
    let folder = folder_of(root);
    let source = |(name, text): (String, Arc<String>)| {
        let whole = 0..text.len();
        Source::below(folder.clone(), name, Text::Shared(text, whole))
    };
    open.below(root).into_iter().map(source).fold(engine, EngineBuilder::source)
}

/// Lists counts other than zero.
fn list(counts: [(usize, &str); 2]) -> Option<String> {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun));
    let counts = counts.collect::<Vec<_>>().join(", ");
    (!counts.is_empty()).then_some(counts)
}

/// Returns `true` if a file whose name fits both (`app.hcl.json`) is a template and not a configuration: it is not JSON
/// and contains `${` or `%{`.
fn is_template(source: &Source) -> bool {
    let text = source.text();
    dialect_of(source.name()).is_some()
        && (text.contains("${") || text.contains("%{"))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()
}

/// Resolves the includes of files below the templates of the project where `check` without arguments resolves them. An
/// option that names another root wins.
pub(crate) fn in_project(args: &mut CheckArgs, project: Option<&Project>) {
    let (artifacts, sources) = artifacts::split(&args.templates);
    let are_files = artifacts.is_empty() && sources.iter().all(|path| path.is_file());
    if args.language.include_root.is_some() || !are_files {
        return;
    }
    let root = project.and_then(|project| root_of(project.templates()));
    let holds =
        |root: &PathBuf| sources.iter().all(|path| path.canonicalize().is_ok_and(|path| path.starts_with(root)));
    args.language.include_root = root.filter(holds);
}

/// Returns the folder that holds all these files and folders, without links.
fn root_of<'p>(paths: impl Iterator<Item = &'p Path>) -> Option<PathBuf> {
    let folder = |path: &Path| {
        let path = path.canonicalize().ok()?;
        if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) }
    };
    let folders = paths.map(folder).collect::<Option<Vec<_>>>()?;
    (!folders.is_empty()).then(|| common_folder(folders.iter().map(PathBuf::as_path)))
}

/// Adds the hint of [`hint`] to the errors of a command that loads the templates at `paths`.
pub(crate) fn hinted(mut failed: Failed, language: &LanguageArgs, paths: &[PathBuf]) -> Failed {
    if language.include_root.is_none() {
        hint(&mut failed.diagnostics, root_of(paths.iter().map(PathBuf::as_path)).as_deref());
    }
    failed
}

/// Names the option for a missing template that is in a folder above `root`, within the current directory.
pub(crate) fn hint(found: &mut [Box<Diagnostic>], root: Option<&Path>) {
    let Some((root, here)) = root.zip(std::env::current_dir().and_then(|here| here.canonicalize()).ok()) else {
        return;
    };
    for error in found.iter_mut().filter(|error| error.code == Code::UnknownTemplate) {
        let above = || root.ancestors().skip(1).take_while(|folder| folder.starts_with(&here));
        let name = error.fields.get(LOOKED_UP);
        if let Some(folder) = name.and_then(|name| above().find(|folder| folder.join(name).is_file())) {
            error.help = Some(format!("a folder above has it: use `-I {}`", path_from_here(folder)));
        }
    }
}
