//! `dropforge stamp`: a fleet onto disk, into one stream, or compared with what is there.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use clap::ArgMatches;
use indicatif::ProgressBar;

use super::args::{Global, StampArgs, allowing};
use super::console::Console;
use super::exit::{Exit, Failed};
use super::signals::Stop;
use super::values::{self, Stdin, stdout_error};
use super::{cached, glob, opened, progress, summary};
use crate::bulk::{self, Change, Fleet, Forge, Format, Job, Layout, Looked, Options, Output, Plan, Report};
use crate::bulk::{Selector, Stamper, StreamFile, Watch};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::engine::Template;
use crate::value::OutputFormat;

/// What `--layout single` means: every output in one stream.
const SINGLE: &str = "single";

/// Runs the command.
pub(super) fn run(
    args: &StampArgs,
    matches: &ArgMatches,
    global: &Global,
    console: &Console,
) -> std::result::Result<Exit, Failed> {
    let started = Instant::now();
    let target = Target::of(args)?;
    let layout = Layout::parse(if args.layout == SINGLE { bulk::DEFAULT_LAYOUT } else { &args.layout })?;
    let selector =
        args.selector.iter().try_fold(Selector::default(), |all, text| Selector::parse(text).map(|s| all.and(s)))?;
    let mut stdin = Stdin::default();
    let layers = values::layers(&args.values, matches, &mut stdin)?;
    let fleet = fleet(args, &mut stdin)?;
    let (mut forge, names) = templates(args, &mut stdin, console)?;
    if let Some(format) = args.output_format {
        forge = forge.with_format(format);
    }
    let outputs = Outputs::of(args, &forge, names)?;
    let layout = outputs.layout(layout)?;
    let plan = Plan::new(&fleet, &layers, &selector, outputs.all, layout.clone())?;
    if plan.clusters() == 0 {
        console.warning("there is no cluster to stamp for");
    }
    console.detail(&format!("{} clusters, {} templates", plan.clusters(), plan.outputs().len()));
    let stamper = forge.stamper(plan.outputs().iter().map(|output| output.template.as_str()), layers.shared())?;
    let stamper = stamper.for_layout(&layout);
    let (stop, bar) = (Stop::listen(), progress::bar(plan.clusters(), console));
    let tick = || bar.inc(1);
    let options = Options { plain_stream: outputs.json, ..options(args, global) };
    let watch = Watch { stop: stop.flag(), done: &tick };
    let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch };
    let report = go(args, &target, &stamper, &job, &bar);
    bar.finish_and_clear();
    Ok(finish(args, &report?, &stop, console, started))
}

fn options(args: &StampArgs, global: &Global) -> Options {
    Options {
        threads: global.jobs.map_or(0, usize::from),
        fail_fast: args.fail_fast,
        fsync: args.fsync,
        prune: args.prune,
        prune_force: args.prune_force,
        plain_stream: false,
    }
}

/// The outputs, and what is known of them together.
struct Outputs {
    all: Vec<Output>,
    /// The first template that gives text, and whether one gives documents.
    text: Option<String>,
    documents: bool,
    /// Whether each is JSON.
    json: bool,
}

impl Outputs {
    fn of(args: &StampArgs, forge: &Forge, names: Vec<String>) -> Result<Self> {
        let (extensions, mut outputs) =
            (bulk::language_extensions(), Self { all: Vec::new(), text: None, documents: false, json: true });
        for template in names {
            let documents = forge.get(&template).filter(|template| template.gives_documents());
            outputs.json &= documents.is_some_and(|template| template.format().is_json());
            outputs.documents |= documents.is_some();
            outputs.all.push(match documents.map(Template::format) {
                Some(format) => {
                    let name = bulk::document_name(&template, &extensions, format, args.output_format.is_some());
                    Output { name, template }
                }
                None => {
                    outputs.text.get_or_insert_with(|| template.clone());
                    Output::new(template, &extensions)
                }
            });
        }
        let Some(text) = outputs.text.as_ref().filter(|_| args.output_format.is_some()) else { return Ok(outputs) };
        let one_format = args.layout == SINGLE && args.output_format.is_some_and(OutputFormat::is_json);
        if one_format || !outputs.documents { Err(opened::gives_text(text)) } else { Ok(outputs) }
    }

    /// The layout as these outputs have it.
    fn layout(&self, layout: Layout) -> Result<Layout> {
        match (&self.text, layout.names_field()) {
            (None, _) => layout.of_documents(),
            (Some(text), Some(place)) if self.documents => {
                let message = format!("the layout takes `{{{place}}}` of documents, and `{text}` gives text");
                Err(Diagnostic::new(Code::BadLayout, message).with_help("stamp templates that give text apart"))
            }
            _ => Ok(layout),
        }
    }
}

/// Where outputs go.
enum Target<'a> {
    Directory(&'a Path),
    Stdout,
    File(&'a Path),
}

impl<'a> Target<'a> {
    fn of(args: &'a StampArgs) -> Result<Self> {
        let usage = |message: &str, help: &str| Err(Diagnostic::new(Code::Usage, message).with_help(help));
        let is_single = args.layout == SINGLE;
        if is_single && args.prune {
            return usage("one stream has nothing to prune", "leave out `--prune` or `--layout single`");
        }
        match &args.output {
            None if is_single => Ok(Target::Stdout),
            None => usage("it is not said where to write", "name a directory: `-o DIR`, or say `--layout single`"),
            Some(path) if path.as_os_str() == "-" && is_single => Ok(Target::Stdout),
            Some(path) if path.as_os_str() == "-" => {
                usage("only one stream can go to standard output", "add `--layout single`, or name a directory")
            }
            Some(path) if is_single => Ok(Target::File(path)),
            Some(path) => Ok(Target::Directory(path)),
        }
    }
}

fn fleet(args: &StampArgs, stdin: &mut Stdin) -> Result<Fleet> {
    let paths = glob::expand(&args.fleet)?;
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let message = format!("the fleet `{}` is a directory", path.display());
            let help = format!("name its files: `--fleet '{}/*.yaml'`", args.fleet.trim_end_matches('/'));
            return Err(Diagnostic::new(Code::Usage, message).with_help(help));
        }
        let source = stdin.read(&path)?;
        let format = Format::of(source.name(), source.text());
        files.push((source, format));
    }
    Fleet::read_all(files, args.name_key.as_deref())
}

/// The templates, from their sources and out of artifacts, and the names of those that make an output.
fn templates(
    args: &StampArgs,
    stdin: &mut Stdin,
    console: &Console,
) -> std::result::Result<(Forge, Vec<String>), Failed> {
    let lang = args.language.lang;
    let (artifacts, sources) = opened::sort(&args.templates);
    let (mut forge, mut files) = (Forge::default(), Vec::new());
    for path in &artifacts {
        let artifact = opened::artifact(path, &args.language, &args.values.allow, stdin)?;
        forge.add(Forge::of_artifact(&artifact)?)?;
        files.extend(opened::files(&artifact));
    }
    if artifacts.is_empty() || !sources.is_empty() {
        let is_template = |name: &str| lang.is_some() || bulk::dialect_of(name).is_some();
        let set = bulk::discover(&sources, args.language.include_root.as_deref(), &is_template)?;
        let engine = allowing(args.language.engine(), &args.values.allow)?;
        forge.add(Forge::compile(&set, lang, cached::with_cache(engine, &args.cache))?)?;
        files.extend(set.files);
    }
    forge.templates().for_each(|template| cached::tell(template, console));
    let names = bulk::outputs(&files, &mut |name| forge.references(name))?;
    Ok((forge, names))
}

fn go(
    args: &StampArgs,
    target: &Target<'_>,
    stamper: &Stamper<'_>,
    job: &Job<'_>,
    bar: &ProgressBar,
) -> Result<Report> {
    let looks = args.dry_run || args.check || args.diff;
    match target {
        Target::Directory(out) if looks => {
            let stdout = io::stdout();
            let mut stdout = BufWriter::new(stdout);
            let report =
                bulk::look(stamper, job, out, &mut |looked| bar.suspend(|| tell(args, out, looked, &mut stdout)))?;
            stdout.flush().map_err(|error| stdout_error(&error))?;
            Ok(report)
        }
        Target::Directory(out) => bulk::stamp(stamper, job, out),
        Target::Stdout if looks => {
            Err(Diagnostic::new(Code::Usage, "there is nothing to compare standard output with")
                .with_help("name the file: `-o FILE`"))
        }
        Target::Stdout => {
            // What is written at a time is large enough.
            bulk::stream(stamper, job, &mut io::stdout())
        }
        Target::File(path) if looks => compare_file(args, path, stamper, job),
        Target::File(path) => {
            let mut file = StreamFile::create(path)?;
            let mut report = bulk::stream(stamper, job, &mut file)?;
            report.created = 0;
            if report.failed > 0 || report.interrupted {
                report
                    .warnings
                    .push(format!("`{}` was left as it was, because the run was not complete", path.display()));
                return Ok(report);
            }
            match file.finish()? {
                Change::Create => report.created = 1,
                Change::Update => report.updated = 1,
                Change::Unchanged => report.unchanged = 1,
            }
            Ok(report)
        }
    }
}

/// `--check` and its kin for one file: both texts are held in memory.
fn compare_file(args: &StampArgs, path: &Path, stamper: &Stamper<'_>, job: &Job<'_>) -> Result<Report> {
    let mut new = Vec::new();
    let mut report = bulk::stream(stamper, job, &mut new)?;
    let old = match std::fs::read(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", path.display())));
        }
    };
    report.created = 0;
    if old.as_ref() == Some(&new) {
        report.unchanged = 1;
        return Ok(report);
    }
    let change = if old.is_some() { Change::Update } else { Change::Create };
    (report.created, report.updated) = (usize::from(change == Change::Create), usize::from(change == Change::Update));
    let old = old.unwrap_or_default();
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let path = path.display().to_string();
    let looked = Looked { path: &path, change: Some(change), old: &old, new: &new };
    tell(args, Path::new(""), &looked, &mut io::stdout()).map_err(|error| stdout_error(&error))?;
    Ok(report)
}

/// Prints one difference: a diff, or a line that says what would be done.
fn tell(args: &StampArgs, out: &Path, looked: &Looked<'_>, to: &mut dyn Write) -> io::Result<()> {
    let path = out.join(looked.path);
    if !args.diff {
        let what = match looked.change {
            Some(Change::Create) => "create",
            Some(Change::Update) => "update",
            Some(Change::Unchanged) => "keep",
            None => "delete",
        };
        return writeln!(to, "{what} {}", path.display());
    }
    let shown = path.display().to_string();
    let (old, new) = match looked.change {
        Some(Change::Create) => ("/dev/null", shown.as_str()),
        None => (shown.as_str(), "/dev/null"),
        Some(_) => (shown.as_str(), shown.as_str()),
    };
    to.write_all(bulk::unified_diff(old, new, looked.old, looked.new).as_bytes())
}

/// Prints what failed and what was done; gives how the process ends.
fn finish(args: &StampArgs, report: &Report, stop: &Stop, console: &Console, started: Instant) -> Exit {
    report.failures.iter().for_each(|failure| console.failure(failure));
    report.errors.iter().for_each(|error| console.diagnostic(error));
    report.warnings.iter().for_each(|warning| console.warning(warning));
    summary::print(report, args.dry_run || args.check || args.diff, started.elapsed(), console);
    match () {
        () if report.interrupted => Exit::Signal(stop.number()),
        () if report.failed > 0 && args.fail_fast => Exit::Error,
        () if report.failed > 0 => Exit::Partial,
        () if !report.errors.is_empty() => Exit::Error,
        () if (args.check || args.diff) && report.differs() => Exit::Differs,
        () => Exit::Ok,
    }
}
