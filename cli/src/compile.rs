//! `dropforge compile`: templates or a chart to one artifact; the cache of compiled templates.

use std::env;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, check_one_dash, is_dash};
use crate::layers::values_file;
use crate::options::{CacheArgs, LanguageArgs};
use crate::output::print;
use crate::stderr::Stderr;
use crate::usage::{CHART, refuse};
use crate::{artifacts, chart};
use clap::Args;
use dropforge::bulk::{Layers, Merge, engine, write_file};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked, Severity, counted};
use dropforge::dialect::helm::chart::UserValues;
use dropforge::engine::{Bundling, Cache, EngineBuilder, Origin, Template, UnknownNames};
use humansize::{DECIMAL, format_size};

/// Compile templates or a Helm chart into one artifact
///
///     dropforge compile templates/ -o templates.mpk
///     dropforge compile chart/ -o chart.mpk
///
/// The artifact contains the templates with everything they include, import and
/// extend. `render`, `stamp` and `check` accept it in place of templates, and a
/// program opens it without a parser. The same sources produce the same bytes on
/// any machine.
///
///     dropforge compile templates/ --specialise values.yaml -o templates.mpk
///
/// also writes programs that are specialised to the values in values.yaml, where
/// most clusters leave these as they are.
///
/// The artifact of a chart contains the charts in it, with their files and values,
/// and a program for the charts that are enabled by default. Options of `render`
/// and `stamp` apply to it as to the chart.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompileArgs {
    /// Template files or directories, or a Helm chart
    #[arg(required = true, value_name = "TEMPLATES")]
    pub(crate) templates: Vec<PathBuf>,
    /// Write to this file, or to `-`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Leave out sources and positions; errors then name only the template
    #[arg(long)]
    pub(crate) strip: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write the artifact despite errors; rendering fails only where it reaches one
    #[arg(long, conflicts_with = "strict")]
    pub(crate) lenient: bool,
    /// Also write templates specialised to the values in this file
    ///
    /// A specialised template renders the clusters that leave these values as they
    /// are, the original all others. Outputs and errors are the same either way. The
    /// artifact holds the values in clear: `inspect` lists them. Several files are
    /// merged in order.
    #[arg(long, value_name = "VALUES")]
    pub(crate) specialise: Vec<PathBuf>,
    /// Also write the program for the charts in a Helm chart that these values enable
    ///
    /// Without a program for its enabled charts, a render compiles their sources,
    /// which the artifact contains. Several files are merged in order.
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) values: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// Runs the command.
pub(crate) fn run(args: &CompileArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    if let Some(path) = artifacts::split(&args.templates).0.first() {
        let message = format!("`{}` is already an artifact", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help("compile its sources instead").into());
    }
    if let Some(path) = chart::only_chart(&args.templates)? {
        return chart::compile(path, args, files, stderr);
    }
    if !args.values.is_empty() {
        return Err(Diagnostic::new(Code::Usage, "`--values` applies to Helm charts only")
            .with_help("templates are specialised to values with `--specialise VALUES`")
            .into());
    }
    let set = args.language.discover(&args.templates, &NamedFiles::default())?;
    stderr.diagnostics(set.skipped.warnings());
    files.note_templates(&set);
    let engine = engine(&set.root, args.language.engine().unknown_names(UnknownNames::Late))?;
    let bundle = engine.bundle_set(&set, args.language.lang)?.strip(args.strip);
    if args.denies(&bundle.lints(), stderr) {
        return Ok(Exit::Error);
    }
    let bundle = specialised(bundle, args, files, stderr)?;
    let bytes = bundle.encode()?;
    args.write(&bytes, files)?;
    let templates = counted(bundle.templates().len(), "template");
    let specialised = match bundle.specialised() {
        0 => String::new(),
        specialised => format!(", {specialised} specialised"),
    };
    stderr.note(&format!("compiled {templates} into {}{specialised}", format_size(bytes.len(), DECIMAL)));
    Ok(Exit::Ok)
}

impl CompileArgs {
    /// Prints lints. Returns `true` if they keep the artifact from being written.
    pub(crate) fn denies(&self, lints: &[Box<Diagnostic>], stderr: &Stderr) -> bool {
        lints.iter().for_each(|lint| stderr.diagnostic(lint));
        let is_denied = |severity| !self.lenient && (self.strict || severity == Severity::Error);
        lints.iter().any(|lint| is_denied(lint.severity))
    }

    /// Writes the artifact.
    ///
    /// # Errors
    /// Errors of writing; `usage` for an output that is an input.
    pub(crate) fn write(&self, bytes: &[u8], files: &InputFiles) -> Checked<()> {
        if is_dash(&self.output) {
            return print(bytes);
        }
        files.check_output(&self.output)?;
        write_file(&self.output, bytes, false).map(|_| ())
    }
}

/// Specialises the templates to the values that the options name.
fn specialised(
    bundle: Bundling,
    args: &CompileArgs,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> Result<Bundling, Failed> {
    if args.specialise.is_empty() {
        return Ok(bundle);
    }
    check_one_dash(args.specialise.iter().map(PathBuf::as_path))?;
    let maps = args.specialise.iter().map(|path| Ok(values_file(path, "--specialise -", files)?.0));
    let maps = maps.collect::<Checked<Vec<_>>>()?;
    let known = Layers::new(maps, Vec::new(), Merge::Deep).shared().clone();
    let bundle = bundle.specialise(known)?;
    if bundle.specialised() == 0 {
        stderr.warning("no template is specialised: none that can be reads a value of `--specialise`");
    }
    Ok(bundle)
}

/// Minimum size of a program's sources for the default cache. Loading is faster than parsing from about 500 bytes on,
/// but storing writes a file.
const MIN_SOURCE_BYTES: usize = 4 << 10;

/// Returns `engine` with the selected cache.
pub(crate) fn with_cache(engine: EngineBuilder, args: &CacheArgs) -> EngineBuilder {
    match cache(args) {
        Some(cache) => engine.cache(cache.salt(this_build())),
        None => engine,
    }
}

/// Returns the cache that is selected.
pub(crate) fn cache(args: &CacheArgs) -> Option<Cache> {
    if args.no_cache {
        return None;
    }
    if let Some(dir) = &args.cache_dir {
        return Some(Cache::new(dir));
    }
    match env::var_os("DROPFORGE_CACHE") {
        Some(dir) if dir.is_empty() => None,
        Some(dir) => Some(Cache::new(dir)),
        None => Some(Cache::new(user_dir()?.join("dropforge")).at_least(MIN_SOURCE_BYTES)),
    }
}

/// Minimum number of files of a run that is noted in the default cache. Others are as fast as a look at the note.
const MIN_FILES: usize = 1_000;

/// Returns the minimum number of files of a run that is noted in the cache, or `None` without one.
pub(crate) fn noted_files(args: &CacheArgs) -> Option<usize> {
    let is_named = args.cache_dir.is_some() || env::var_os("DROPFORGE_CACHE").is_some();
    cache(args).map(|_| if is_named { 0 } else { MIN_FILES })
}

/// Returns the user's cache directory by the XDG base directory specification, which ignores relative paths.
pub(crate) fn user_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Identifies this build among others of the same version, by the size and time of the executable.
pub(crate) fn this_build() -> Vec<u8> {
    let meta = env::current_exe().and_then(std::fs::metadata);
    let written = meta.as_ref().ok().and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let length = meta.map_or(0, |meta| meta.len());
    [length.to_le_bytes().as_slice(), &written.unwrap_or_default().as_nanos().to_le_bytes()].concat()
}

/// Prints the origin of a template if `--verbose` is given.
pub(crate) fn print_origin(template: &Template, stderr: &Stderr) {
    let origin = match template.origin() {
        Origin::Source => "compiled",
        Origin::Cache => "loaded from the cache",
        Origin::Artifact => "loaded from the artifact",
    };
    stderr.detail(&format!("{}: {origin}", template.name()));
}

/// Compiles a chart.
///
/// # Errors
/// Errors of the chart and its values; errors of writing.
pub(crate) fn compile(
    path: &Path,
    args: &CompileArgs,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> Result<Exit, Failed> {
    refuse_options(path, args)?;
    let variants = variants(args, files)?;
    let engine = args.language.engine().build();
    let source = crate::chart::source(path, files)?;
    files.note_chart(path, &source);
    let bundle = engine.bundle_chart(&source, &variants)?.strip(args.strip);
    if args.denies(&bundle.lints(), stderr) {
        return Ok(Exit::Error);
    }
    let bytes = bundle.encode()?;
    args.write(&bytes, files)?;
    let programs = counted(bundle.programs().len(), "program");
    let size = format_size(bytes.len(), DECIMAL);
    stderr.note(&format!("compiled the chart {} with {programs} into {size}", bundle.name()));
    Ok(Exit::Ok)
}

/// Returns the values whose enabled charts are compiled: the defaults, and those of the options.
fn variants(args: &CompileArgs, files: &mut InputFiles) -> Result<Vec<UserValues>, Diagnostics> {
    let mut variants = vec![UserValues::default()];
    if !args.values.is_empty() {
        check_one_dash(args.values.iter().map(PathBuf::as_path))?;
        let mut values = UserValues::default();
        for path in &args.values {
            let source = files.read(path, "-f -")?;
            values.file(source.name(), source.text())?;
        }
        variants.push(values);
    }
    Ok(variants)
}

/// Checks that no option is used that charts do not have.
fn refuse_options(path: &Path, args: &CompileArgs) -> Checked<()> {
    let options = [
        ("--lang", args.language.lang.is_some()),
        ("--include-root", args.language.include_root.is_some()),
        ("--specialise", !args.specialise.is_empty()),
    ];
    refuse(&options, path, CHART)
}
