//! `dropforge render`: one template or folder with one set of values.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use dropforge::bulk::{
    self, Change, ChartSet, Cluster, Fleet, Layers, Layout, ReadValues, Selection, Selector, TemplateSet, dialect_of,
    discover, read_elsewhere, unfit_format,
};
use dropforge::bulk::{engine, language_extensions, output_name, write_file};
use dropforge::bytecode::is_artifact;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked};
use dropforge::engine::{Artifact, Dialect, OutputCheck, Template, unknown_language_in};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::changes::ChangeArgs;
use crate::chart::{self, ChartArgs};
use crate::exit::{Exit, Failed};
use crate::fleet::ClusterArgs;
use crate::input::{InputFiles, is_dash};
use crate::layers::layers;
use crate::missing::WarningArgs;
use crate::options::{CacheArgs, CheckMode, FormatArgs, Global, LanguageArgs, ValueArgs};
use crate::output::print;
use crate::outputs::OutputArgs;
use crate::run::{RunArgs, Surroundings, Target};
use crate::schema::{KubeArgs, SchemaArgs};
use crate::shards::RunPart;
use crate::specialise;
use crate::stderr::Stderr;
use crate::usage::{NO_ARTIFACT, ONE_TEMPLATE, refuse, unfit};
use crate::watch::Seen;
use crate::{artifacts, schema};
use crate::{compile, other_tools};

/// Render one template, all of a folder, or a Helm chart
///
///     dropforge render app.yaml.tera -f values.yaml --set name=api
///     dropforge render templates/ -f prod.yaml | kubectl apply -f -
///     dropforge render templates/ -f prod.yaml -o out/
///     dropforge render chart/ -f prod.yaml --name web -n shop
///     dropforge render --cluster eu-1 -r web
///
/// A folder is stamped like one cluster of a fleet: outputs are checked, and
/// nothing is written if one fails. On standard output its documents are in the
/// order of installation. With `-o`, `--check` and `--diff` compare with existing
/// files.
///
/// For a chart, a directory with a `Chart.yaml` or a `.tgz`, it prints what
/// `helm template` prints; with `-o`, it writes a file for each template, like a
/// folder.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RenderArgs {
    /// Template file, folder, chart, artifact, or `-`; with `--cluster`, any number of them
    #[arg(value_name = "TEMPLATE", required_unless_present = "cluster")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Render this template of an artifact
    #[arg(short, long, value_name = "NAME")]
    pub(crate) template: Option<String>,
    /// Write to this file, or to `-`; for a folder or chart, to files below this directory
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Fail if a file named `*.yaml`, `*.yml` or `*.json` is not valid YAML or JSON
    ///
    /// The name is that of `--output`. On standard output it is the name that `stamp` gives to the output of this template.
    /// The documents of a chart are always checked: `--check-output strict` turns the warnings about duplicate keys and
    /// unknown hooks into errors.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "usual",
        hide_possible_values = true)]
    pub(crate) check_output: Option<CheckMode>,
    #[command(flatten)]
    pub(crate) kinds: KubeArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) chart: ChartArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) schema: SchemaArgs,
    #[command(flatten)]
    pub(crate) warnings: WarningArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

/// Options of folders.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folders")]
pub(crate) struct FolderArgs {
    /// Set the pattern of output paths [default: {template}]
    ///
    /// With {kind}, {apiVersion}, {name}, {namespace}, {metadata.a} or
    /// {document.a.b}, each YAML document gets its own file. Others like
    /// {region} are values. {namespace|none} is `none` if there is no namespace.
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<String>,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

impl FolderArgs {
    /// Returns the first of these options that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let layout = self.layout.is_some().then_some("--layout");
        layout.or_else(|| self.outputs.first_given()).or_else(|| self.changes.preview())
    }

    /// Returns the layout of output paths.
    ///
    /// # Errors
    /// `plan.bad_layout`.
    fn layout(&self) -> Checked<Layout> {
        Layout::parse(self.layout.as_deref().unwrap_or("{template}"))?.of_one()
    }

    /// Checks that no option of folders is used with the one template `file`.
    ///
    /// # Errors
    /// `usage` with the first such option.
    fn check_unused(&self, file: &Path) -> Checked<()> {
        self.first_given().map_or(Ok(()), |option| Err(unfit(option, file, ONE_TEMPLATE)))
    }
}

impl RenderArgs {
    /// Returns the options of a run for one cluster without a name.
    ///
    /// # Errors
    /// `usage` for options that do not apply; `plan.bad_layout`.
    pub(crate) fn run_args(&self) -> Checked<RunArgs<'_>> {
        self.cluster.check()?;
        let fleet = self.cluster.fleet();
        if fleet.is_none() && self.files.len() > 1 {
            let error = Diagnostic::new(Code::Usage, "`render` takes one template or folder");
            // A chart after another argument follows the name of a release.
            let help = match self.files.iter().skip(1).any(|path| chart::is_chart(path)) {
                true => "name the chart alone: `--name NAME` is the name of the release",
                false => "use `stamp` for several, or name a cluster: `--cluster NAME`",
            };
            return Err(error.with_help(help));
        }
        if fleet.is_none() && chart::is_chart(self.file()) {
            chart::refuse_options(self)?;
        }
        let is_stream = is_dash(&self.output);
        Ok(RunArgs {
            paths: &self.files,
            language: &self.language,
            values: &self.values,
            schema: &self.schema,
            kinds: &self.kinds,
            cache: &self.cache,
            outputs: &self.folder.outputs,
            changes: &self.folder.changes,
            warnings: &self.warnings,
            format: self.format.output_format,
            output: Some(&self.output),
            target: match fleet {
                _ if is_stream => Target::Stdout,
                Some(_) => Target::File(&self.output),
                None => Target::Directory(&self.output),
            },
            layout: if fleet.is_some() { self.cluster_layout()? } else { self.folder.layout()? },
            releases: fleet.map(|_| &self.cluster.releases),
            fleet,
            chart: Box::new(move |template, values| {
                let is_strict = self.is_strict() || self.warnings.strict;
                let chart = self.chart.chart(template, values, (is_stream || fleet.is_some(), is_strict))?;
                let name = chart.name.clone().filter(|_| fleet.is_none() || self.chart.is_named());
                Ok(ChartSet { name, ..chart })
            }),
            needs_values: fleet.is_some() || self.folder.layout.is_some(),
            stream: false,
            share: RunPart::All,
            explain_plan: false,
            options: self.folder.outputs.options(),
        })
    }

    /// Returns the template, or the first one.
    pub(crate) fn file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Returns the layout of a cluster, whose paths only comments have.
    fn cluster_layout(&self) -> Checked<Layout> {
        if let Some(option) = self.folder.layout.as_ref().map(|_| "--layout") {
            return Err(Diagnostic::new(Code::Usage, format!("`{option}` cannot be combined with `--cluster`")));
        }
        match self.cluster.releases.releases {
            Some(_) => Layout::of_releases(bulk::RELEASES_LAYOUT),
            None => Layout::parse(bulk::DEFAULT_LAYOUT),
        }
    }

    /// Returns `true` if warnings about the documents of a chart are errors.
    pub(crate) fn is_strict(&self) -> bool {
        self.check_output == Some(CheckMode::Strict)
    }

    /// Stamps a folder or a chart for one cluster without a name.
    ///
    /// # Errors
    /// Errors of the plan, of compiling, and of writing.
    pub(crate) fn stamp(&self, global: &Global, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
        let (started, stop) = (Instant::now(), OnceCell::new());
        if let Some(option) = self.folder.changes.preview().filter(|_| is_dash(&self.output)) {
            let message = format!("`{option}` needs an output directory (`-o DIR`)");
            return Err(Diagnostic::new(Code::Usage, message).into());
        }
        let (around, run) = (Surroundings { global, stderr, stop: &stop }, self.run_args()?);
        let report = run.once(around, files, &mut Seen::default())?;
        Ok(run.finish(&report, around, started))
    }
}

/// Runs the command.
pub(crate) fn run(args: &RenderArgs, global: &Global, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    if args.cluster.cluster.is_some() {
        return args.stamp(global, files, stderr);
    }
    if args.files.len() > 1 {
        args.run_args()?;
    }
    if chart::is_chart(args.file()) {
        return chart::run(args, global, files, stderr);
    }
    args.chart.check_unused(args.file())?;
    if args.file().is_dir() {
        check_no_name(args)?;
        return args.stamp(global, files, stderr);
    }
    args.folder.check_unused(args.file())?;
    let (mut template, executable) = template(args, files)?;
    if let Some(format) = args.format.output_format {
        if !template.gives_documents() {
            return Err(unfit_format(template.name()).into());
        }
        template = template.with_format(format);
    }
    compile::print_origin(&template, stderr);
    stderr.ignored_arguments(template.lints().iter().cloned());
    let templates = args.files.as_slice();
    let layers = args.schema.add_to(layers(&args.values, files, stderr)?, templates, files)?;
    let unfit = layers.violations(None);
    if !unfit.is_empty() {
        return Err(unfit.into());
    }
    let text = text(&template, &layers, args, stderr)?;
    let fleet = Fleet::default();
    let clusters = Selection::of(&fleet, &layers, &Selector::default())?;
    let mistakes = |_| read_elsewhere([&template], &layers, &clusters).unwrap_or_default();
    if args.warnings.refuse(&layers, &clusters, || ReadValues::by([&template]), mistakes, stderr)? {
        return Ok(Exit::Error);
    }
    if is_dash(&args.output) {
        print(text)?;
    } else {
        files.check_output(&args.output)?;
        let change = write_file(&args.output, text.as_bytes(), executable)?;
        let change = match change {
            Change::Create => "created",
            Change::Update => "updated",
            Change::Unchanged => "unchanged",
        };
        stderr.detail(&format!("{}: {change}", args.output.display()));
    }
    Ok(Exit::Ok)
}

/// Renders `template` with these inputs.
fn text(template: &Template, layers: &Layers, args: &RenderArgs, stderr: &Stderr) -> Result<String, Failed> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(layers.alone()?)?);
    specialise::print_choice(template, inputs, stderr);
    let (mut text, mut session) = (String::new(), Session::new());
    if let Err(error) = template.render_inputs(&mut session, inputs, &mut text) {
        return Err(explained(template, inputs, (layers, None), error).into());
    }
    let mut errors = check(template, &text, args, stderr)?;
    if errors.is_empty() {
        return Ok(text);
    }
    template.show_writer(&mut session, inputs, &text, &mut errors);
    Err(Diagnostics::from(errors).without(&layers.mask(None)).into())
}

/// Adds the values that the error of a render is about, and where they come from.
pub(crate) fn explained(
    template: &Template,
    inputs: Inputs<'_>,
    (layers, cluster): (&Layers, Option<&Cluster>),
    mut error: Box<Diagnostic>,
) -> Box<Diagnostic> {
    template.explain(inputs, &mut error);
    layers.explain(cluster, &mut error);
    layers.mask(cluster).hide_in(&mut error);
    if template.dialect() == Dialect::Hcl {
        other_tools::name_variables(&mut error);
    }
    error
}

/// Checks the output, as far as that was requested.
fn check(template: &Template, text: &str, args: &RenderArgs, stderr: &Stderr) -> Checked<Vec<Box<Diagnostic>>> {
    let name = match is_dash(&args.output) {
        true => output_name(template.name(), &language_extensions()),
        false => args.output.display().to_string(),
    };
    let kinds = args.kinds.read(args.warnings.strict)?;
    if (args.check_output.is_some() || kinds.is_some()) && !template.gives_documents() {
        let errors = OutputCheck::default().errors_of_file(&name, text);
        if !errors.is_empty() {
            return Ok(errors);
        }
    }
    let errors = kinds.as_ref().map(|kinds| kinds.errors_of_file(&name, text)).unwrap_or_default();
    schema::warn(kinds.as_ref(), stderr);
    Ok(errors)
}

/// Loads the template from its source or an artifact. `true` marks one that is executable.
fn template(args: &RenderArgs, files: &mut InputFiles) -> Result<(Template, bool), Failed> {
    let engine_builder = args.values.allow.grant(args.language.engine())?;
    if is_dash(args.file()) {
        let bytes = files.bytes(args.file(), "-")?;
        if is_artifact(&bytes) {
            let artifact = artifacts::open(bytes, args.file(), &args.language, engine_builder)?;
            return Ok(of_artifact(&artifact, args)?);
        }
        check_no_name(args)?;
        let dialect = args.language.lang.ok_or_else(|| {
            Diagnostic::new(Code::Usage, "cannot determine the language of standard input")
                .with_help("name it, for example with `--lang tera`")
        })?;
        let root = args.language.include_root.as_deref().unwrap_or(Path::new("."));
        let source = files.read(args.file(), "-")?;
        return Ok((engine(root, engine_builder)?.compile_source(dialect, &source, None)?, false));
    }
    if artifacts::is_artifact_file(args.file()) {
        let artifact = artifacts::read(args.file(), &args.language, engine_builder, files)?;
        return Ok(of_artifact(&artifact, args)?);
    }
    check_no_name(args)?;
    let root = args.language.include_root.as_deref();
    let set = discover(args.files.as_slice(), root, &|_| true)?;
    files.note_templates(&set);
    let TemplateSet { root, files: found, .. } = set;
    let (name, executable) = found.first().map_or(("", false), |file| (&*file.name, file.executable));
    let dialect = match args.language.lang.or_else(|| dialect_of(name)) {
        Some(dialect) => dialect,
        None => return Err(unknown_language_in(&root, name).into()),
    };
    let engine = engine(&root, compile::with_cache(engine_builder, &args.cache))?;
    Ok((engine.load(dialect, name)?, executable))
}

fn of_artifact(artifact: &Artifact, args: &RenderArgs) -> Checked<(Template, bool)> {
    if artifact.holds_chart() {
        let error = Diagnostic::new(Code::Usage, "standard input is the artifact of a Helm chart");
        return Err(error.with_help("name its file instead of `-`"));
    }
    let template = artifacts::choose(artifact, args.template.as_deref())?;
    let entry = artifact.bundle().entries().iter().find(|entry| entry.name() == template.name());
    let executable = entry.is_some_and(|entry| entry.executable());
    Ok((template, executable))
}

/// Checks that `--template` is not used with a source.
fn check_no_name(args: &RenderArgs) -> Checked<()> {
    refuse(&[("--template", args.template.is_some())], args.file(), NO_ARTIFACT)
}
