//! What can be typed. The doc comments are the help texts.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::bytecode::ImportKind;
use crate::dialect::cel::Pattern;
use crate::engine::{Dialect, Engine, EngineBuilder};
use crate::function::{Capabilities, Files};
use crate::value::OutputFormat;

/// Compile templates once, stamp them for thousands of clusters.
#[derive(Debug, Parser)]
#[command(name = "dropforge", version, propagate_version = true, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Print errors and warnings only
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print more about what happens
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: ColorChoice,
    /// How errors are printed: for people, or one JSON object a line
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) error_format: ErrorFormat,
    /// Go to this directory first
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(super) chdir: Option<PathBuf>,
    /// Threads; all there are unless set
    #[arg(short, long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How errors are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ErrorFormat {
    /// With excerpts of the sources
    #[default]
    Human,
    /// One JSON object a line
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Stamp templates for every cluster of a fleet
    Stamp(StampArgs),
    /// Render one template
    Render(RenderArgs),
    /// Find every syntax and link error of templates and configurations, without data
    Check(CheckArgs),
    /// Compile templates to one artifact
    Compile(CompileArgs),
    /// Show what an artifact holds: templates, the inputs they read, the functions they call
    Inspect(InspectArgs),
    /// Print the instructions of compiled templates
    Disasm(DisasmArgs),
    /// Evaluate an expression and print its value
    Eval(EvalArgs),
    /// Validate and resolve intent definitions
    Intent(super::intent::IntentArgs),
    /// Work on HCL files
    Hcl(super::hcl::HclArgs),
    /// Keep templates with versions, schemas and matching rules, here or in a service
    #[cfg(feature = "server")]
    Catalog(super::catalog::CatalogArgs),
    /// Serve a catalog over HTTP
    #[cfg(feature = "server")]
    Serve(super::serve::ServeArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
}

/// How values enter the text of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RenderMode {
    /// As they are.
    Literal,
    /// Each as one word of a shell.
    Shell,
}

/// Options of everything that compiles.
#[derive(Debug, Args)]
pub(super) struct LanguageArgs {
    /// The templates' language, whatever their names say
    #[arg(long, value_name = "LANG", value_parser = dialect)]
    pub(super) lang: Option<Dialect>,

    /// How values enter the text of `tower` templates: as they are unless set, or each as one word of a shell
    #[arg(long, value_name = "MODE", value_enum)]
    pub(super) render_mode: Option<RenderMode>,
    /// Every text of `$let` without `${ }` is an expression, also one that could be meant as text; of `cel-yaml`
    #[arg(long)]
    pub(super) strict_let: bool,
    /// Where includes are found; else the directory given, or the parent of what is given
    #[arg(short = 'I', long, value_name = "DIR")]
    pub(super) include_root: Option<PathBuf>,
    /// A function, filter or test that whoever renders brings along: `filter:shout`
    #[arg(long, value_name = "KIND:NAME", value_parser = declaration)]
    pub(super) declare: Vec<(ImportKind, String)>,
}

impl LanguageArgs {
    /// An engine as the arguments ask for it.
    pub(super) fn engine(&self) -> EngineBuilder {
        let shell = self.render_mode == Some(RenderMode::Shell);
        let engine = Engine::builder().shell(shell).strict_let(self.strict_let);
        let declared = self.declare.iter().flat_map(|one| Dialect::ALL.map(|dialect| (dialect, one)));
        declared.fold(engine, |engine, (dialect, (kind, name))| engine.declare(dialect, *kind, name))
    }
}

fn declaration(text: &str) -> Result<(ImportKind, String), String> {
    let (kind, name) = text.split_once(':').unwrap_or((text, ""));
    let kind = ImportKind::FUNCTIONS.into_iter().find(|one| one.name() == kind).filter(|_| !name.is_empty());
    kind.map(|kind| (kind, name.to_owned())).ok_or_else(|| {
        let kinds = ImportKind::FUNCTIONS.map(|kind| format!("`{}:NAME`", kind.name()));
        format!("a declaration is one of {}", kinds.join(", "))
    })
}

/// Something that functions may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Allowed {
    /// What needs no more to be said of.
    Plain(Capabilities<'static>),
    /// Files below this directory.
    Files(PathBuf),
}

fn allowed(text: &str) -> Result<Allowed, String> {
    match text.split_once('=').unwrap_or((text, "")) {
        ("clock", "") => Ok(Allowed::Plain(Capabilities::CLOCK)),
        ("random", "") => Ok(Allowed::Plain(Capabilities::RANDOM)),
        ("environment", "") => Ok(Allowed::Plain(Capabilities::ENVIRONMENT)),
        ("files", dir) if !dir.is_empty() => Ok(Allowed::Files(dir.into())),
        _ => Err("what can be allowed is `clock`, `random`, `environment` or `files=DIR`".to_owned()),
    }
}

/// `engine`, where functions may reach this. Of several directories the last one counts.
///
/// # Errors
/// `file.read_failed` where a directory is not there.
pub(super) fn allowing(engine: EngineBuilder, allow: &[Allowed]) -> crate::diagnostics::Result<EngineBuilder> {
    let (plain, files) = reach(allow)?;
    let engine = engine.allow(plain);
    Ok(match files {
        Some(files) => engine.files(files),
        None => engine,
    })
}

/// What functions may reach, and files beside it.
///
/// # Errors
/// As [`allowing`].
pub(super) fn reach(allow: &[Allowed]) -> crate::diagnostics::Result<(Capabilities<'static>, Option<Files>)> {
    let mut reach = (Capabilities::NONE, None);
    for one in allow {
        match one {
            Allowed::Plain(what) => reach.0 = reach.0.and(*what),
            Allowed::Files(dir) => reach.1 = Some(Files::below(dir)?),
        }
    }
    Ok(reach)
}

/// Options of the compile cache.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cache")]
pub(super) struct CacheArgs {
    /// Keep nothing that is compiled, and use nothing that was kept
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Where compiled templates are kept, small ones too; else $DROPFORGE_CACHE (empty: nowhere), else the user's
    /// cache directory, where only large ones are kept
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub(super) cache_dir: Option<PathBuf>,
}

fn dialect(id: &str) -> Result<Dialect, String> {
    let ids = Dialect::ALL.map(Dialect::id).join(", ");
    Dialect::from_id(id).ok_or_else(|| format!("the languages are {ids}"))
}

/// Options that bring values. The order of `--set` and its kin on the command line is the order in which they
/// count.
#[derive(Debug, Args)]
#[command(next_help_heading = "Values")]
pub(super) struct ValueArgs {
    /// Values shared by all, YAML, JSON or HCL (`.hcl`, `.tfvars`); several are merged in order
    #[arg(short = 'f', long = "values", visible_alias = "var-file", value_name = "FILE")]
    pub(super) values: Vec<PathBuf>,
    /// Set values: a.b=1,c[0]=x,d={y,z}; null deletes
    #[arg(long, visible_alias = "var", value_name = "K=V")]
    pub(super) set: Vec<String>,
    /// Set values that are text whatever they look like
    #[arg(long, value_name = "K=V")]
    pub(super) set_string: Vec<String>,
    /// Set values that are JSON
    #[arg(long, value_name = "K=JSON")]
    pub(super) set_json: Vec<String>,
    /// Set values to the text of files
    #[arg(long, value_name = "K=PATH")]
    pub(super) set_file: Vec<String>,
    /// Set one value to the text behind `=` as it is
    #[arg(long, value_name = "K=TEXT")]
    pub(super) set_literal: Vec<String>,
    /// What functions may reach beside values: clock, random, environment, or files=DIR
    #[arg(long, value_name = "WHAT", value_parser = allowed)]
    pub(super) allow: Vec<Allowed>,
}

/// Stamp templates for every cluster of a fleet.
///
/// Outputs go below the directory -o. A file holds its old or its new content in full whatever happens; what has
/// not changed is not written. A cluster that fails leaves its files as they were and does not stop the others.
///
/// Exit codes: 0 done; 1 template, data or I/O error; 2 usage or plan; 3 differences found; 4 some clusters
/// failed; 130 interrupted; 141 the reader of the output has gone.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct StampArgs {
    /// Template files, directories of them, or artifacts
    #[arg(required = true, value_name = "TEMPLATES")]
    pub(super) templates: Vec<PathBuf>,
    /// The clusters: a YAML, JSON, NDJSON, CSV or HCL file, `-`, or a glob of one file each
    #[arg(long, value_name = "FLEET")]
    pub(super) fleet: String,
    /// Where a cluster's name is if it has neither `name` nor `cluster.name`
    #[arg(long, value_name = "PATH")]
    pub(super) name_key: Option<String>,
    /// Only clusters for which all of a.b=v, c!=d hold
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(super) selector: Vec<String>,
    /// The directory to write below; with `--layout single` a file, or `-`
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<PathBuf>,
    /// How documents are written: yaml, json, kyaml or ndjson; else as their language has it. Of `cel` and `cel-yaml`
    #[arg(long, value_name = "FORMAT")]
    pub(super) output_format: Option<OutputFormat>,
    /// Where outputs go: {cluster}, {template} and scalars of the inputs, or `single`; with {kind}, {name},
    /// {namespace}, {metadata.a} or {document.a.b} each document of `cel` and `cel-yaml` goes to a file of its own
    #[arg(long, default_value = crate::bulk::DEFAULT_LAYOUT, value_name = "LAYOUT")]
    pub(super) layout: String,
    /// Remove what the run before wrote and this one has no place for
    #[arg(long)]
    pub(super) prune: bool,
    /// Prune even where more than half of the files would go
    #[arg(long, requires = "prune")]
    pub(super) prune_force: bool,
    /// Stop at the first cluster that fails
    #[arg(long)]
    pub(super) fail_fast: bool,
    /// Make files survive a loss of power
    #[arg(long)]
    pub(super) fsync: bool,
    /// Write nothing; list what would be written
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write nothing; exit 3 when the output is out of date
    #[arg(long)]
    pub(super) check: bool,
    /// Write nothing; print the differences, exit 3 when there are any
    #[arg(long)]
    pub(super) diff: bool,
    #[command(flatten)]
    pub(super) language: LanguageArgs,
    #[command(flatten)]
    pub(super) values: ValueArgs,
    #[command(flatten)]
    pub(super) cache: CacheArgs,
}

/// Render one template.
#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    /// The template file, an artifact, or `-`
    #[arg(value_name = "TEMPLATE")]
    pub(super) file: PathBuf,
    /// Which template of an artifact
    #[arg(short, long, value_name = "NAME")]
    pub(super) template: Option<String>,
    /// Where to write; standard output unless set
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    pub(super) output: PathBuf,
    /// How documents are written: yaml, json, kyaml or ndjson; else as their language has it. Of `cel` and `cel-yaml`
    #[arg(long, value_name = "FORMAT")]
    pub(super) output_format: Option<OutputFormat>,
    #[command(flatten)]
    pub(super) language: LanguageArgs,
    #[command(flatten)]
    pub(super) values: ValueArgs,
    #[command(flatten)]
    pub(super) cache: CacheArgs,
}

/// Evaluate an expression and print its value.
#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// The expression
    #[arg(value_name = "EXPR")]
    pub(super) expression: String,
    /// The expression's language
    #[arg(long, value_name = "LANG", value_parser = dialect, default_value = "hcl")]
    pub(super) lang: Dialect,
    /// Print the value with its type
    #[arg(long)]
    pub(super) typed: bool,
    /// How the value is written: ndjson (a line of JSON), json, yaml or kyaml; of CEL
    #[arg(long, value_name = "FORMAT", default_value = "ndjson", conflicts_with = "typed")]
    pub(super) output_format: OutputFormat,
    /// What is not known of the values: `request.auth`, `items[0].*`; if the value depends on it, the expression that is
    /// left is printed; of CEL
    #[arg(long, value_name = "PATTERN", conflicts_with = "typed")]
    pub(super) unknown: Vec<Pattern>,
    /// Print what it cost, and what was estimated that it costs at least and at most; of CEL
    #[arg(long, conflicts_with = "typed")]
    pub(super) cost: bool,
    /// Stop with an error once it costs more than this; of CEL
    #[arg(long, value_name = "N")]
    pub(super) cost_limit: Option<u64>,
    #[command(flatten)]
    pub(super) values: ValueArgs,
}

/// Compile templates to one artifact.
///
/// The artifact has every template that is named, with all it includes, imports and extends. `render`, `stamp` and
/// `check` take it in the place of the templates; a program opens it without any parser. The same sources give the
/// same bytes on any machine.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct CompileArgs {
    /// Template files, or directories of them
    #[arg(required = true, value_name = "TEMPLATES")]
    pub(super) templates: Vec<PathBuf>,
    /// Where to write, or `-`
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
    /// Leave out sources and places: errors then name the template, but no line
    #[arg(long)]
    pub(super) strip: bool,
    /// Warnings count as errors
    #[arg(long)]
    pub(super) strict: bool,
    /// Write the artifact though `check` finds errors in the templates; only a render that gets to one fails
    #[arg(long, conflicts_with = "strict")]
    pub(super) lenient: bool,
    #[command(flatten)]
    pub(super) language: LanguageArgs,
}

/// Show what an artifact holds: templates, the inputs they read, the functions they call.
#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// The artifact, or `-`
    #[arg(value_name = "ARTIFACT")]
    pub(super) file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Print the instructions of compiled templates, each below the line of the source that it comes from.
#[derive(Debug, Args)]
pub(super) struct DisasmArgs {
    /// An artifact, template files, or directories of them
    #[arg(required = true, value_name = "FILE")]
    pub(super) templates: Vec<PathBuf>,
    /// Only this template
    #[arg(short, long, value_name = "NAME")]
    pub(super) template: Option<String>,
    #[command(flatten)]
    pub(super) language: LanguageArgs,
}

/// Find every syntax and link error of templates and configurations, without data.
///
/// Templates and configurations of HCL are evaluated as well, with variables that are not known: what is wrong
/// whatever they are is an error. With `--var-types` only the variables that are declared exist, each of its type;
/// without, each variable is of any type.
///
/// Configurations are `.hcl`, `.nomad`, `.tf`, `.tfvars`, `.tofu`, and each of them with `.json` behind it, named or
/// in a directory that is. Every argument of every block is checked; what blocks there may be is their program's
/// business, as are functions that are not HCL's: `--declare function:own`. The functions that a file defines in
/// blocks `function` are known, and the iterators of `dynamic` blocks; `type` in a block `variable` is a type. A file
/// `.hcl.json` that is no JSON, but has `${` or `%{` in it, is a template. With `--lang` all are templates.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct CheckArgs {
    /// Template files, configurations, directories of them, or artifacts
    #[arg(required = true, value_name = "FILES")]
    pub(super) templates: Vec<PathBuf>,
    /// The types of the variables of HCL: `name = TYPE`, or `variable "name" { type = TYPE }`; in JSON if its name
    /// ends in `.json`: {"name": "TYPE"}, {"name": ["list", "string"]}
    #[arg(long, value_name = "FILE")]
    pub(super) var_types: Option<PathBuf>,
    /// Warnings count as errors
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    pub(super) language: LanguageArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
