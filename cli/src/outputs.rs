//! The outputs of `stamp` and of a folder: which templates and files make them, and their names.

use std::path::PathBuf;

use clap::Args;

use dropforge::bulk::{
    self, Failure, FleetChart, Forge, Layout, Options, Order, Output, Plan, Report, TemplateFile, TemplatePaths,
    TemplateSet,
};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::{Dialect, OutputSyntax, Template};
use dropforge::stdlib::globs::Glob;
use dropforge::value::OutputFormat;

use crate::artifacts;
use crate::compile_cache;
use crate::console::Console;
use crate::copies::{Copies, NamedFiles};
use crate::exit::Failed;
use crate::glob;
use crate::input::InputFiles;
use crate::options::{CacheArgs, FormatArgs, LanguageArgs, ValueArgs};
use crate::template_paths;
use crate::terraform;

/// Options of commands that write many outputs.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write files named `*.yaml`, `*.yml` and `*.json` even if they are not valid YAML or JSON
    #[arg(long, conflicts_with = "kube_schemas")]
    pub(crate) no_check_output: bool,
    /// Do not check files whose paths below the output directory match: `**/*.tpl.yaml`
    #[arg(long, value_name = "GLOB", value_parser = glob::parse)]
    pub(crate) unchecked: Vec<Glob>,
    /// Copy files beside templates as they are: a glob, or `none` [default: *.yaml, *.yml and *.json of folders]
    ///
    /// A glob with a `/` matches paths below the folder, one without matches names.
    /// Files that other options name, `values*.yaml`, `*.schema.json`, `*.test.yaml`,
    /// `dropforge.toml`, `Chart.yaml`, and names that begin with `_` or `.` are
    /// never copied.
    #[arg(long, value_name = "GLOB")]
    pub(crate) copy: Vec<String>,
    /// Write files for templates that render nothing but white space
    #[arg(long)]
    pub(crate) keep_empty: bool,
    /// Sort the documents of a stream by kind as Helm installs them (install), or not (none) [default: install]
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<Order>,
    /// Overwrite files in the output directory that dropforge did not write
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    /// Returns the first of these options that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--no-check-output", self.no_check_output),
            ("--unchecked", !self.unchecked.is_empty()),
            ("--copy", !self.copy.is_empty()),
            ("--keep-empty", self.keep_empty),
            ("--order", self.order.is_some()),
            ("--force", self.force),
        ];
        given.iter().find(|(_, given)| *given).map(|(option, _)| *option)
    }

    /// Returns the options of a run.
    pub(crate) fn options(&self) -> Options {
        Options {
            check_outputs: !self.no_check_output,
            unchecked: self.unchecked.clone(),
            keep_empty: self.keep_empty,
            order: self.order.unwrap_or(Order::Install),
            force: self.force,
            ..Options::default()
        }
    }
}

/// The templates that are named on the command line, and the options to load them with.
pub(crate) struct Sources<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) language: &'a LanguageArgs,
    pub(crate) values: &'a ValueArgs,
    pub(crate) cache: &'a CacheArgs,
    pub(crate) outputs: &'a OutputArgs,
    /// Files that are neither templates nor copied.
    pub(crate) named: NamedFiles,
    pub(crate) format: Option<OutputFormat>,
}

/// Templates and copied files.
pub(crate) struct Loaded {
    pub(crate) forge: Forge,
    /// The names of those that make an output.
    pub(crate) names: Vec<String>,
    /// Their paths from the current directory.
    pub(crate) paths: TemplatePaths,
}

impl Sources<'_> {
    /// Loads the templates from sources and artifacts, and the files to copy.
    ///
    /// # Errors
    /// Errors of reading and compiling them; `plan.no_templates`.
    pub(crate) fn load(&self, files: &mut InputFiles, console: &Console) -> std::result::Result<Loaded, Failed> {
        let language = self.language;
        let (artifacts, sources) = artifacts::split(self.paths);
        let (mut forge, mut templates, mut copies) = (Forge::default(), Vec::new(), Vec::new());
        let mut paths = TemplatePaths::default();
        for path in &artifacts {
            let artifact = artifacts::read(path, language, self.values.allow.grant(language.engine())?, files)?;
            forge.add(Forge::of_artifact(&artifact)?)?;
            template_paths::add_artifact(&mut paths, files, path, &artifact);
            templates.extend(artifacts::files(&artifact));
        }
        if !sources.is_empty() {
            let set = language.discover(&sources, &self.named)?;
            console.diagnostics(set.skipped.warnings());
            let engine = compile_cache::with_cache(self.values.allow.grant(language.engine())?, self.cache);
            let (compiled, errors) = Forge::compile_logged(&set, language.lang, engine, files.log())?;
            if !errors.is_empty() {
                return Err(errors.into());
            }
            console.ignored_arguments(compiled.lints());
            forge.add(compiled)?;
            copies = self.copies(&set, &sources, &forge, files, console)?;
            let copied = copies.iter().map(|(file, _)| file.name.as_str());
            template_paths::add_sources(&mut paths, files, &sources, &set, copied);
            templates.extend(set.files);
        }
        forge.templates().for_each(|template| compile_cache::print_origin(template, console));
        let mut names = bulk::outputs(&templates, &mut |name| forge.references(name))?;
        if let Some(format) = self.format {
            forge = forge.with_format(format);
        }
        for (TemplateFile { name, executable, .. }, bytes) in copies {
            names.push(name.clone());
            forge.add_file(name, bytes, executable);
        }
        Ok(Loaded { forge, names, paths })
    }

    /// Reads the files beside the templates of `set` that are copied.
    fn copies(
        &self,
        set: &TemplateSet,
        paths: &[PathBuf],
        forge: &Forge,
        files: &mut InputFiles,
        console: &Console,
    ) -> Result<Vec<(TemplateFile, Vec<u8>)>> {
        let used = forge.templates().flat_map(|template| template.reaches().iter().cloned()).collect();
        let folders = paths.iter().filter(|path| path.is_dir()).cloned().collect();
        let copies = Copies { globs: &self.outputs.copy, folders, set, used, named: &self.named };
        copies.read(files, console)
    }
}

/// The outputs of a run.
pub(crate) struct Outputs {
    pub(crate) all: Vec<Output>,
    /// The first template that produces text.
    text: Option<String>,
    /// The first output that is neither YAML nor JSON.
    other: Option<String>,
    /// The files that are copied.
    copied: Vec<String>,
    /// `true` if a template produces documents.
    documents: bool,
    /// `true` if a stream of the outputs needs no separators: all are written as JSON, or they have some.
    pub(crate) plain_stream: bool,
}

impl Outputs {
    /// Names the outputs of the templates `names`. `single` is `true` for one stream.
    ///
    /// # Errors
    /// `usage` for an output format that does not apply, and for a stream of files that are not text.
    pub(crate) fn new(sources: &Sources<'_>, single: bool, forge: &Forge, names: Vec<String>) -> Result<Self> {
        let requested = sources.format;
        let mut outputs =
            Self { all: Vec::new(), text: None, other: None, copied: Vec::new(), documents: false, plain_stream: true };
        for template in names {
            outputs.add(template, forge, requested.is_some());
        }
        if let Some(output) = outputs.all.iter().find(|output| single && output.bytes.is_some()) {
            let message = format!("`{}` is not text, and a stream holds only text", output.template);
            return Err(Diagnostic::new(Code::Usage, message).with_help("use `-o DIR`, or leave it out with `--copy`"));
        }
        let one_format = single && requested.is_some_and(OutputFormat::is_json);
        let text = outputs.text.as_ref().filter(|_| one_format || !outputs.documents);
        match text.or_else(|| outputs.copied.first().filter(|_| one_format)) {
            Some(text) if requested.is_some() => Err(FormatArgs::unsupported_by(text)),
            _ => Ok(outputs),
        }
    }

    /// Returns the outputs of a chart.
    pub(crate) fn of_chart(chart: &FleetChart) -> Self {
        let all = chart.outputs();
        let other = all.iter().find(|output| OutputSyntax::of_file(&output.name).is_none());
        let other = other.map(|output| output.template.clone());
        Self { all, text: None, other, copied: Vec::new(), documents: false, plain_stream: chart.single }
    }

    fn add(&mut self, template: String, forge: &Forge, requested: bool) {
        let extensions = bulk::language_extensions();
        let documents = forge.get(&template).filter(|template| template.gives_documents());
        self.plain_stream &= documents.is_some_and(|template| template.format().is_json());
        self.documents |= documents.is_some();
        let name = match documents.map(Template::format) {
            Some(format) => bulk::document_name(&template, &extensions, format, requested),
            None if forge.file(&template).is_some() => {
                self.copied.push(template.clone());
                template.clone()
            }
            None => {
                self.text.get_or_insert_with(|| template.clone());
                bulk::output_name(&template, &extensions)
            }
        };
        let bytes = forge.file(&template).filter(|bytes| str::from_utf8(bytes).is_err()).cloned();
        let output = Output { name, executable: forge.is_executable(&template), template, bytes };
        if documents.is_none() && OutputSyntax::of_file(&output.name).is_none() {
            self.other.get_or_insert_with(|| output.template.clone());
        }
        self.all.push(output);
    }

    /// Converts the layout for these outputs.
    ///
    /// # Errors
    /// `plan.bad_layout` for document fields if only some outputs are YAML or JSON; errors of
    /// [`Layout::of_documents`].
    pub(crate) fn layout(&self, layout: Layout) -> Result<Layout> {
        let is_other = |output: &Output| OutputSyntax::of_file(&output.name).is_none();
        match (&self.other, layout.names_field()) {
            (None, _) => layout.of_documents(),
            (Some(text), Some(field)) if self.documents || !self.all.iter().all(is_other) => {
                let message = format!("`{{{field}}}` in the layout does not apply to `{text}`: it renders text");
                Err(Diagnostic::new(Code::BadLayout, message).with_help("stamp text templates separately"))
            }
            _ => Ok(layout),
        }
    }
}

/// Adds the names of copied files to a report, and hints for users of Terraform to the errors of HCL templates.
pub(crate) fn completed(mut report: Report, forge: &Forge, plan: &Plan) -> Report {
    let copied = plan.outputs().iter().filter(|output| forge.file(&output.template).is_some());
    report.copied = copied.map(|output| output.template.clone()).collect();
    for Failure { diagnostic, .. } in &mut report.failures {
        let name = diagnostic.primary().map(|label| label.source.name().to_owned());
        if name.and_then(|name| forge.get(&name)).is_some_and(|template| template.dialect() == Dialect::Hcl) {
            terraform::name_variables(diagnostic);
        }
    }
    report
}
