//! Options shared by several commands. The doc comments are help texts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, ColorChoice, Command, FromArgMatches, ValueEnum};

use dropforge::bulk::values::SetKind;
use dropforge::bulk::{Entry, RunOptions, TemplateSet, dialect_of, discover_with};
use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::{Result as Checked, or_nearest};
use dropforge::engine::{
    CelDialect, CelPresence, Dialect, Engine, EngineBuilder, HelmOptions, MissingKey, TeraDialect,
};
use dropforge::files::Files;
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::value::OutputFormat;

use crate::chart;
use crate::copies::{NamedFiles, is_reserved};
use crate::input::{check_one_dash, size};
use crate::project::key;
use crate::usage;

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print only errors and warnings
    ///
    /// There are no warnings about values that no template reads.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more details
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Control when to use colors
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN", value_parser = named(&[
        ("auto", "On terminals, unless NO_COLOR is set", ColorChoice::Auto),
        ("always", "Always", ColorChoice::Always),
        ("never", "Never", ColorChoice::Never),
    ]), hide_short_help = true)]
    pub(crate) color: ColorChoice,
    /// Select the format of errors
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", hide_short_help = true)]
    pub(crate) error_format: ErrorFormat,
    /// Change to DIR before doing anything
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    /// Set the number of threads [default: one per core]
    #[arg(short, long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Refuse input of more than SIZE: values files, schemas, HCL files, artifacts, standard input
    #[arg(long, global = true, value_name = "SIZE", default_value = "256MiB", value_parser = size, add = key("limits"), hide_short_help = true)]
    pub(crate) max_input: u64,
    /// Let links of a chart lead out of it, to files below DIR
    #[arg(long, global = true, value_name = "DIR", add = key(""), hide_short_help = true)]
    pub(crate) follow_links: Vec<PathBuf>,
    /// The options of the command, for a state.
    #[arg(skip)]
    pub(crate) run: Option<RunOptions>,
    /// The options that decide what shards write.
    #[arg(skip)]
    pub(crate) deciding: Vec<String>,
}

/// The format of errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorFormat {
    /// Text with source excerpts
    #[default]
    Human,
    /// One line per error
    Short,
    /// One JSON object per line
    Json,
    /// A SARIF log, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

impl ErrorFormat {
    /// Returns `true` if people read the output, with its notes and summaries.
    pub(crate) fn has_notes(self) -> bool {
        matches!(self, Self::Human | Self::Short | Self::Github)
    }
}

/// The extent of checks of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckMode {
    /// Errors only
    Usual,
    /// What is a warning for charts is an error, too
    Strict,
}

/// Writes `--check-output strict` as one argument. The mode may be left out, and a template may follow.
pub(crate) fn with_check_modes(args: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(args.len());
    for arg in args {
        let is_mode = CheckMode::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let is_mode = is_mode.into_iter().any(|mode| arg == mode.get_name());
        match joined.last_mut().filter(|last| is_mode && *last == "--check-output") {
            Some(last) => {
                last.push("=");
                last.push(arg);
            }
            None => joined.push(arg),
        }
    }
    joined
}

/// Options of CEL.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Languages")]
pub(crate) struct CelArgs {
    /// Select the result of `has(x.a)`, `x.?a` and `x[?k]` in CEL if `x` is null, a boolean, a number or a string: lenient
    /// (nothing is found, as in Kubernetes) or strict (an error) [default: lenient]
    #[arg(long, value_name = "MODE", value_parser = named(&[
        ("lenient", "Nothing is found", CelPresence::Lenient),
        ("strict", "An error", CelPresence::Strict),
    ]), hide_possible_values = true, add = key("cel").named("presence"), hide_short_help = true)]
    pub(crate) cel_presence: Option<CelPresence>,
    /// Select the implementation that CEL is written for: spec (all functions, with the results of CEL's conformance suite),
    /// kro or kubernetes (their functions, with the results of cel-go) [default: spec]
    #[arg(long, value_name = "NAME", value_parser = named(&[
        ("spec", "The specification, with all functions", CelDialect::Spec),
        ("kro", "kro", CelDialect::Kro),
        ("kubernetes", "The API server of Kubernetes", CelDialect::Kubernetes),
    ]), hide_possible_values = true, add = key("cel").named("dialect"), hide_short_help = true)]
    pub(crate) cel_dialect: Option<CelDialect>,
}

impl CelArgs {
    /// Returns the option of the engine.
    pub(crate) fn presence(&self) -> CelPresence {
        self.cel_presence.unwrap_or(CelPresence::Lenient)
    }

    /// Returns the option of the engine.
    pub(crate) fn dialect(&self) -> CelDialect {
        self.cel_dialect.unwrap_or_default()
    }
}

/// Options of commands that compile.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Languages")]
pub(crate) struct LanguageArgs {
    /// Use this template language regardless of file names
    #[arg(long, value_name = "LANG", value_parser = Languages(&Dialect::ALL), add = key(""), hide_short_help = true)]
    pub(crate) lang: Option<Dialect>,

    /// Select how `tower` templates insert values [default: literal]
    #[arg(long, value_name = "MODE", value_parser = named(&[
        ("literal", "Insert values as is", false),
        ("shell", "Quote each value as one shell word", true),
    ]), add = key("tower"), hide_short_help = true)]
    pub(crate) render_mode: Option<bool>,
    /// Treat every `$let` text of `cel-yaml` templates as an expression, even if it could be plain text
    #[arg(long, add = key("cel"), hide_short_help = true)]
    pub(crate) strict_let: bool,
    #[command(flatten)]
    pub(crate) cel: CelArgs,
    /// Select the filters of `tera` templates: plus (also those beyond Tera, such as `to_yaml`) or plain (only those that Tera
    /// has; `t.html.tera` is then not escaped like `t.html`) [default: plus]
    #[arg(long, value_name = "FILTERS", value_parser = named(&[
        ("plus", "Also those beyond Tera", TeraDialect::Plus),
        ("plain", "Only Tera's", TeraDialect::Plain),
    ]), hide_possible_values = true,
        add = key("tera").named("dialect").words(&[("tera+", "plus"), ("plain", "plain")]), hide_short_help = true)]
    pub(crate) tera: Option<TeraDialect>,
    /// Select what Go templates (`*.gotmpl`) do with a missing key: default, zero or error, as Go's option `missingkey`
    /// [default: as Helm, zero without the text `<no value>`]
    #[arg(long, value_name = "MODE", value_parser = named(&[
        ("default", "`<no value>`, and so is a key of it", MissingKey::Nothing),
        ("zero", "`<no value>`, which has no keys", MissingKey::Null),
        ("error", "An error", MissingKey::Error),
    ]), hide_possible_values = true, add = key("helm"), hide_short_help = true)]
    pub(crate) missing_key: Option<MissingKey>,
    /// Resolve includes below DIR [default: the common parent directory of the templates]
    #[arg(short = 'I', long, value_name = "DIR", add = key(""), hide_short_help = true)]
    pub(crate) include_root: Option<PathBuf>,
    /// Declare a function, filter or test of the rendering program: `filter:shout`
    #[arg(long, value_name = "KIND:NAME", value_parser = declaration, add = key(""), hide_short_help = true)]
    pub(crate) declare: Vec<(ImportKind, String)>,
    /// Refuse templates of more than SIZE, at most 256MiB [default: 16MiB]
    #[arg(long, value_name = "SIZE", value_parser = source_size, add = key("limits"), hide_short_help = true)]
    pub(crate) max_source: Option<usize>,
}

/// Returns the limits of the command. A source may be up to 16 MiB.
pub(crate) fn limits() -> Limits {
    Limits { source_bytes: 16 << 20, ..Limits::default() }
}

/// The suffixes of templates whose output is escaped for HTML: Tera's, also before the extension of the language.
const ESCAPED: [&str; 6] = [".html", ".htm", ".xml", ".html.tera", ".htm.tera", ".xml.tera"];

impl LanguageArgs {
    /// Returns an engine with these options.
    pub(crate) fn engine(&self) -> EngineBuilder {
        let usual = limits();
        let limits = Limits { source_bytes: self.max_source.unwrap_or(usual.source_bytes), ..usual };
        let engine = Engine::builder().limits(limits).shell(self.render_mode == Some(true));
        let engine = engine.strict_let(self.strict_let).cel_presence(self.cel.presence());
        let engine = engine.cel_dialect(self.cel.dialect()).helm(self.helm());
        let engine = match self.tera {
            Some(TeraDialect::Plain) => engine.tera(TeraDialect::Plain),
            _ => engine.tera(TeraDialect::Plus).escape_suffixes(ESCAPED),
        };
        let declared = self.declare.iter().flat_map(|one| Dialect::ALL.map(|dialect| (dialect, one)));
        declared.fold(engine, |engine, (dialect, (kind, name))| engine.declare(dialect, *kind, name))
    }

    /// Returns the rules of Go templates. Go writes `<no value>`; Helm removes it.
    fn helm(&self) -> HelmOptions {
        let missing_key = self.missing_key.unwrap_or(MissingKey::Null);
        HelmOptions { missing_key, keeps_no_value: self.missing_key.is_some(), ..HelmOptions::default() }
    }

    /// Finds the template files that `paths` name, except those among `named`.
    ///
    /// # Errors
    /// Errors of [`discover_with`]; `usage` for charts.
    pub(crate) fn discover(&self, paths: &[PathBuf], named: &NamedFiles) -> Checked<TemplateSet> {
        chart::refuse(paths)?;
        let is_template = |entry: Entry<'_>| entry.is_dir || self.is_template(entry.name);
        discover_with(paths, self.include_root.as_deref(), &|entry| named.allow(entry) && is_template(entry))
    }

    /// Returns `true` if a file of this name in a directory is a template.
    pub(crate) fn is_template(&self, name: &str) -> bool {
        dialect_of(name).is_some() || (self.lang.is_some() && !is_reserved(name))
    }

    /// Checks that the options can be used with an artifact.
    ///
    /// # Errors
    /// `usage` for any option, because they all concern sources.
    pub(crate) fn check_artifact(&self, path: &Path) -> Checked<()> {
        let first = usage::first(&[
            ("--lang", self.lang.is_some()),
            ("--render-mode", self.render_mode.is_some()),
            ("--strict-let", self.strict_let),
            ("--cel-presence", self.cel.cel_presence.is_some()),
            ("--cel-dialect", self.cel.cel_dialect.is_some()),
            ("--tera", self.tera.is_some()),
            ("--missing-key", self.missing_key.is_some()),
            ("--include-root", self.include_root.is_some()),
            ("--declare", !self.declare.is_empty()),
            ("--max-source", self.max_source.is_some()),
        ]);
        let Some(option) = first else { return Ok(()) };
        let error = usage::unfit_to(option, &format!("the artifact `{}`", path.display()));
        Err(error.with_help("use it with `dropforge compile`"))
    }
}

/// Parses one of these words, each with its help, if it needs any, and its value.
pub(crate) fn named<T: Clone + Send + Sync + 'static>(
    words: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let shown = |(word, help, _): &(&'static str, &'static str, T)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    };
    PossibleValuesParser::new(words.iter().map(shown)).try_map(|text| {
        let found = words.iter().find(|(word, ..)| *word == text);
        found.map(|(.., value)| value.clone()).ok_or("the word is unknown")
    })
}

/// Parses the size of a template, at most 256 MiB.
fn source_size(text: &str) -> Result<usize, String> {
    let bytes = size(text).ok().and_then(|bytes| usize::try_from(bytes).ok()).filter(|bytes| *bytes <= 256 << 20);
    bytes.ok_or_else(|| "expected a size of at most 256MiB".to_owned())
}

/// The parser of a language. Help and completions list these.
#[derive(Debug, Clone)]
pub(crate) struct Languages(pub(crate) &'static [Dialect]);

impl TypedValueParser for Languages {
    type Value = Dialect;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, id: &OsStr) -> Result<Dialect, clap::Error> {
        dialect.parse_ref(command, arg, id)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|one| PossibleValue::new(one.id()))))
    }
}

/// Parses the id of a language.
pub(crate) fn dialect(id: &str) -> Result<Dialect, String> {
    let ids = Dialect::ALL.map(Dialect::id);
    Dialect::from_id(id).ok_or_else(|| match id {
        "gotmpl" => "Go templates are `helm`".to_owned(),
        _ => or_nearest(&format!("expected one of {}", ids.join(", ")), id, &ids),
    })
}

fn declaration(text: &str) -> Result<(ImportKind, String), String> {
    let (kind, name) = text.split_once(':').unwrap_or((text, ""));
    let kind = ImportKind::FUNCTIONS.into_iter().find(|one| one.name() == kind).filter(|_| !name.is_empty());
    kind.map(|kind| (kind, name.to_owned())).ok_or_else(|| {
        let kinds = ImportKind::FUNCTIONS.map(|kind| format!("`{}:NAME`", kind.name()));
        format!("expected one of {}", kinds.join(", "))
    })
}

/// The format of documents.
#[derive(Debug, Args)]
pub(crate) struct FormatArgs {
    /// Write documents of `cel` and `cel-yaml` templates as yaml, json, kyaml or ndjson
    #[arg(long, value_name = "FORMAT", add = key("output").named("format"), hide_short_help = true)]
    pub(crate) output_format: Option<OutputFormat>,
}

/// Options of the compile cache.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Cache")]
pub(crate) struct CacheArgs {
    /// Disable the cache
    #[arg(long, hide_short_help = true)]
    pub(crate) no_cache: bool,
    /// Cache compiled templates in DIR [default: $DROPFORGE_CACHE]
    ///
    /// If $DROPFORGE_CACHE is not set, large templates are cached in the user's
    /// cache directory. If it is empty, nothing is cached.
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache", add = key(""), hide_short_help = true)]
    pub(crate) cache_dir: Option<PathBuf>,
}

/// Options for values.
#[derive(Debug, Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct ValueArgs {
    /// Read shared values from a file
    ///
    /// It is YAML, JSON, TOML, HCL or `.env`. Several files are merged in order.
    #[arg(short = 'f', long = "values", visible_alias = "var-file", value_name = "FILE", add = key(""))]
    pub(crate) values: Vec<PathBuf>,
    /// Read values from environment variables: with P_, `P_image__tag=v2` sets image.tag
    #[arg(long, value_name = "PREFIX", value_parser = clap::builder::NonEmptyStringValueParser::new(), hide_short_help = true)]
    pub(crate) env_prefix: Vec<String>,
    #[command(flatten)]
    pub(crate) sets: SetArgs,
    #[command(flatten)]
    pub(crate) allow: AllowArgs,
}

/// The resources that functions may use.
#[derive(Debug, Clone, Args)]
pub(crate) struct AllowArgs {
    /// Allow functions to use a resource: clock, random, environment or files=DIR; or exec=sops, to decrypt values
    #[arg(long, value_name = "WHAT", value_parser = allowed, hide_short_help = true)]
    allow: Vec<Allowed>,
}

impl ValueArgs {
    /// Checks that each option reads standard input at most once.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn check_dashes(&self) -> Checked<()> {
        check_one_dash(self.values.iter().map(PathBuf::as_path))?;
        let files: Vec<PathBuf> = self.sets.files().collect();
        check_one_dash(files.iter().map(PathBuf::as_path))
    }

    /// Returns `true` if an option gives values.
    pub(crate) fn gives_values(&self) -> bool {
        !self.values.is_empty() || !self.env_prefix.is_empty() || !self.sets.0.is_empty()
    }
}

impl AllowArgs {
    /// Gives the functions of `engine` access to everything that is allowed.
    ///
    /// # Errors
    /// `file.read_failed` if a directory does not exist.
    pub(crate) fn grant(&self, engine: EngineBuilder) -> Checked<EngineBuilder> {
        let (capabilities, files) = self.capabilities()?;
        let engine = engine.allow(capabilities);
        Ok(files.into_iter().fold(engine, EngineBuilder::files))
    }

    /// Returns the capabilities that are allowed, and the files. The last directory counts.
    ///
    /// # Errors
    /// `file.read_failed` if a directory does not exist.
    pub(crate) fn capabilities(&self) -> Checked<(Capabilities<'static>, Option<Files>)> {
        let (mut capabilities, mut files) = (Capabilities::NONE, None);
        for allowed in &self.allow {
            match allowed {
                Allowed::Functions(capability) => capabilities = capabilities.and(*capability),
                Allowed::Files(dir) => files = Some(Files::below(dir)?),
                Allowed::Sops => {}
            }
        }
        Ok((capabilities, files))
    }

    /// Returns `true` if files may be decrypted by `sops`.
    pub(crate) fn allows_sops(&self) -> bool {
        self.allow.iter().any(|allowed| matches!(allowed, Allowed::Sops))
    }
}

/// Returns `true` if a command line allows to decrypt files by `sops`.
pub(crate) fn allows_sops(matches: &ArgMatches) -> bool {
    let mut given = matches.try_get_many::<Allowed>("allow").ok().flatten().into_iter().flatten();
    given.any(|allowed| matches!(allowed, Allowed::Sops))
        || matches.subcommand().is_some_and(|(_, matches)| allows_sops(matches))
}

/// Something that the user allows.
#[derive(Debug, Clone)]
enum Allowed {
    /// A capability of functions.
    Functions(Capabilities<'static>),
    /// The directory whose files functions may read.
    Files(PathBuf),
    /// Starting `sops`.
    Sops,
}

fn allowed(text: &str) -> Result<Allowed, String> {
    match text.split_once('=').unwrap_or((text, "")) {
        ("clock", "") => Ok(Allowed::Functions(Capabilities::CLOCK)),
        ("random", "") => Ok(Allowed::Functions(Capabilities::RANDOM)),
        ("environment", "") => Ok(Allowed::Functions(Capabilities::ENVIRONMENT)),
        ("files", dir) if !dir.is_empty() => Ok(Allowed::Files(dir.into())),
        ("exec", "sops") => Ok(Allowed::Sops),
        _ => Err("expected `clock`, `random`, `environment`, `files=DIR` or `exec=sops`".to_owned()),
    }
}

/// The `--set` options as clap parses them.
#[derive(Debug, Args)]
struct SetFlags {
    /// Set values: a.b=1,c[0]=x
    ///
    /// `d={y,z}` is a list, and `null` deletes a key.
    #[arg(long, visible_alias = "var", value_name = "K=V")]
    set: Vec<String>,
    /// Set values as strings
    #[arg(long, value_name = "K=V", hide_short_help = true)]
    set_string: Vec<String>,
    /// Set values as JSON
    #[arg(long, value_name = "K=JSON", hide_short_help = true)]
    set_json: Vec<String>,
    /// Set values to the content of files
    #[arg(long, value_name = "K=PATH", hide_short_help = true)]
    set_file: Vec<String>,
    /// Set one value to the text after `=`, verbatim
    #[arg(long, value_name = "K=TEXT", hide_short_help = true)]
    set_literal: Vec<String>,
}

/// The `--set` options in the order of the command line, in which they apply.
#[derive(Debug)]
pub(crate) struct SetArgs(pub(crate) Vec<(SetKind, String)>);

impl SetArgs {
    /// Returns the files that `--set-file` names.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.0.iter().filter(|(kind, _)| matches!(kind, SetKind::File));
        files.filter_map(|(_, text)| text.split_once('=').map(|(_, path)| path.into()))
    }
}

impl Args for SetArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        SetFlags::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        SetFlags::augment_args_for_update(command)
    }
}

impl FromArgMatches for SetArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let SetFlags { set, set_string, set_json, set_file, set_literal } = SetFlags::from_arg_matches(matches)?;
        let kinds = [
            (SetKind::Typed, "set", set),
            (SetKind::Text, "set_string", set_string),
            (SetKind::Json, "set_json", set_json),
            (SetKind::File, "set_file", set_file),
            (SetKind::Literal, "set_literal", set_literal),
        ];
        let mut all = Vec::new();
        for (kind, id, texts) in kinds {
            let indexes = matches.indices_of(id).into_iter().flatten();
            all.extend(indexes.zip(texts).map(|(index, text)| (index, (kind, text))));
        }
        all.sort_unstable_by_key(|(index, _)| *index);
        Ok(Self(all.into_iter().map(|(_, set)| set).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
