//! `dropforge why`: what wrote a line of an output, and the values that it comes from; `dropforge trace`: the
//! conditions, loops and calls of a render, with their values.

mod place;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use self::place::Wanted;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_below, is_dash, is_url};
use crate::options::SetArgs;
use crate::output::print;
use crate::render::RenderArgs;
use crate::run::RunArgs;
use crate::run_options::given_again;
use crate::stamp::StampArgs;
use crate::stderr::Stderr;
use clap::{ArgMatches, Args, FromArgMatches};
use dropforge::bulk::why::{Answer, Around, RecordedOutput, find};
use dropforge::bulk::{
    Cluster, Layers, Maker, Options, ReadFiles, Run, RunOptions, Specialise, Stamp, Withheld, short_digest,
};
use dropforge::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge::engine::recording::TraceRow;
use dropforge::files::{self, Files};
use serde::Serialize;

/// Show what wrote a line, and where its values come from
///
///     dropforge why out/eu-1/app.yaml:17
///     dropforge why out/eu-1/app.yaml:17:12 --set image.tag=v2
///     dropforge why s3://acme/fleet/eu-1/app.yaml:17
///     dropforge why :17 -- render app.yaml.tera -f values.yaml
///
/// It renders the file again, with the options of the run that wrote it: the
/// state of the output directory or prefix has them. It works in any
/// directory if `-o` of the run was a relative path, otherwise and for objects
/// in the directory where `stamp` ran. Files that were changed since the run are
/// named. A state has no values of `--set`: give them again if the answer
/// depends on them. After `--`, name a command instead: `stamp` or `render` with
/// its options, as for `:17`, a line that it prints.
///
/// Without a column, the answer is about the last value of the line, and in it
/// about the first part that is not text of the template.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WhyArgs {
    /// The line, and the column if wanted: `FILE:LINE` or `FILE:LINE:COLUMN`, with a path or a URL of an object store
    #[arg(value_name = "PLACE")]
    place: String,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sets: SetArgs,
    /// Render with this command instead of that of the state
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Parses the arguments of a command that renders, and fetches templates by URL.
pub(crate) type Parse<'p> = &'p dyn Fn(Vec<OsString>, &mut InputFiles) -> std::result::Result<Subject, Failed>;

/// Runs the command.
pub(crate) fn run(
    args: &WhyArgs,
    files: &mut InputFiles,
    stderr: &Stderr,
    parse: Parse<'_>,
) -> std::result::Result<Exit, Failed> {
    let mut wanted = Wanted::parse(&args.place)?;
    let (arguments, root) = match (&args.command[..], &wanted.file) {
        ([], None) => return Err(no_file().into()),
        ([], Some(_)) => of_state(&mut wanted, args, stderr).map(|(arguments, root)| (arguments, Some(root)))?,
        (command, _) => (command.to_vec(), None),
    };
    root.iter().for_each(|root| files.confine(root.clone()));
    files.start_log();
    let subject = parse(std::iter::once("dropforge".into()).chain(arguments).collect(), files)?;
    let run = subject.read(files, stderr);
    if let Some((maker, read)) = wanted.read() {
        let changed = run.as_ref().map_or(Ok(None), |run| changed_values(maker, run))?;
        let is_readable = |name: &str| root.as_ref().is_some_and(|root| is_below(root, Path::new(name)));
        let read = read.iter().filter(|(name, _)| is_readable(name));
        warn(changed, read, &files.log().files(), run.is_ok(), stderr);
    }
    let Some(answer) = search(&run?, &wanted)? else { return Err(wanted.not_found().into()) };
    print(if args.json { answer.json() } else { answer.text(stderr.colors_stdout()) })?;
    Ok(Exit::Ok)
}

/// Returns the command that wrote the file, and the directory whose files it may read. Changes to the directory where it
/// ran.
fn of_state(wanted: &mut Wanted, args: &WhyArgs, stderr: &Stderr) -> Result<(Vec<OsString>, Files)> {
    let (maker, run) = wanted.maker()?;
    if !maker.is_unchanged {
        stderr.warning(&format!("`{}` was changed after it was written", wanted.name()));
    }
    let (mut arguments, root) = place::arguments(wanted, &run)?;
    let mut more = sets(&run, args, stderr);
    // The project file may name a directory for it.
    more.push("--no-cache".into());
    // The arguments have the options of the project.
    more.extend(run.read.is_some().then(|| "--no-project".into()));
    // A chart is one text on standard output, and many files in a directory.
    more.extend((run.arguments.first().map(String::as_str) == Some("render")).then(|| "--output=.".into()));
    let at = arguments.len().min(1);
    arguments.splice(at..at, more);
    wanted.of = Some(maker);
    Ok((arguments, root))
}

/// Returns the `--set` options of a run that are given again, and warns of those that are not.
fn sets(run: &RunOptions, args: &WhyArgs, stderr: &Stderr) -> Vec<OsString> {
    let again = given_again(&args.sets.0);
    let (mut options, mut missing) = (Vec::new(), Vec::new());
    for withheld in &run.withheld {
        let is_same = |(one, _): &&(Withheld, String)| (&one.option, &one.key) == (&withheld.option, &withheld.key);
        match again.iter().find(is_same) {
            Some((one, text)) => {
                if one.digest != withheld.digest {
                    stderr.warning(&format!("the run set `{}` to another value", shown(&withheld.key)));
                }
                options.push(format!("--{}={text}", withheld.option).into());
            }
            None => missing.push(shown(&format!("--{} {}=…", withheld.option, withheld.key))),
        }
    }
    if !missing.is_empty() {
        let count = counted(missing.len(), "value");
        stderr.warning(&format!("the run had {count} that the state does not keep: {}", missing.join(" ")));
    }
    options
}

fn no_file() -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, "no file and no command is given")
        .with_help("name a file, `dropforge why out/app.yaml:17`, or a command: `dropforge why :17 -- render app.tera`")
}

/// Returns a path without `.` and `..` in it, if it has no links.
fn plain(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A command that renders.
#[derive(Debug)]
pub(crate) enum Subject {
    Stamp(Box<StampArgs>),
    Render(Box<RenderArgs>),
}

/// The values of a cluster.
pub(super) type Values<'v> = (&'v Layers, &'v Cluster);

impl Subject {
    /// Reads and compiles what the command renders.
    ///
    /// # Errors
    /// Errors of the command.
    pub(super) fn read(&self, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Run, Failed> {
        let (args, only) = match self {
            Self::Stamp(args) => (args.reading_args()?, None),
            Self::Render(args) => (args.run_args()?, args.template.as_ref()),
        };
        // A recording is that of the templates themselves.
        let options = Options { specialise: Specialise::Never, ..args.options };
        let mut run = RunArgs { stream: false, needs_values: true, options, ..args }.read(files, stderr)?;
        run.outputs.all.retain(|output| only.is_none_or(|name| output.template == *name));
        Ok(run)
    }
}

/// Calls `each` with the name and the recording of every output of the first cluster. A chart has one.
///
/// # Errors
/// The first error of a render.
pub(super) fn each_recorded(
    run: &Run,
    each: &mut dyn FnMut(&str, &RecordedOutput, Values<'_>),
) -> std::result::Result<(), Failed> {
    let Run { set, fleet, values, outputs, .. } = run;
    let mut reader = fleet.reader();
    let cluster = reader.cluster(0)?;
    for output in &outputs.all {
        each(&output.template, &set.record(&output.template, values, cluster)?, (values, cluster));
    }
    Ok(())
}

/// Renders again and finds what wrote the place.
///
/// # Errors
/// Errors of the command.
pub(super) fn search(run: &Run, wanted: &Wanted) -> std::result::Result<Option<Answer>, Failed> {
    let stamper = run.renderer()?;
    let (mut found, mut failed) = (None, None);
    let cluster = wanted.of.as_ref().map(|maker| maker.cluster.as_str());
    run.fleet.each(&mut |_, one| {
        let is_wanted = cluster.is_none_or(|name| one.name() == name);
        if found.is_some() || failed.is_some() || !is_wanted || !selects(run, one)? {
            return Ok(());
        }
        match of_cluster(run, &*stamper, one, wanted) {
            Ok(report) => found = report,
            Err(error) => failed = Some(error),
        }
        Ok(())
    })?;
    failed.map_or(Ok(found), Err)
}

fn selects(run: &Run, cluster: &Cluster) -> Result<bool> {
    let Run { selector, values, .. } = run;
    Ok(selector.is_empty() || selector.matches(&values.view(cluster)?))
}

/// Finds the place among the outputs of a cluster.
fn of_cluster(
    run: &Run,
    stamper: &dyn Stamp,
    cluster: &Cluster,
    wanted: &Wanted,
) -> std::result::Result<Option<Answer>, Failed> {
    let Run { set, values, outputs, paths, .. } = run;
    let template = wanted.of.as_ref().map(|maker| maker.template.as_str());
    let release = wanted.of.as_ref().map(|maker| maker.release.as_str());
    for (nth, text) in stamper.texts(values, cluster)?.into_iter().enumerate() {
        let name = outputs.all.get(nth).map_or("", |output| output.template.as_str());
        if template.is_some_and(|path| paths.path(name) != path)
            || release.is_some_and(|release| !release.is_empty() && paths.release(name) != release)
        {
            continue;
        }
        let Ok(text) = text.map_err(|error| error.for_cluster(cluster.name())) else {
            continue;
        };
        let file = wanted.text.as_ref().unwrap_or(&text);
        let at = wanted.at(file)?;
        let Some((file, at)) = find(file, at, &text, template.is_some()) else { continue };
        let recorded = set.record(name, values, cluster)?;
        let question = wanted.question(cluster.name(), name);
        let given = recorded.givens(values, Some(cluster));
        if let Some(answer) = recorded.answer(&question, (file, at), &given) {
            return Ok(Some(answer));
        }
        if recorded.is_cut() {
            return Err(wanted.not_recorded().into());
        }
    }
    Ok(None)
}

/// Returns a message if the cluster has other values of its own than in the run.
fn changed_values(maker: &Maker, run: &Run) -> Result<Option<String>> {
    let Some(digest) = &maker.values else { return Ok(None) };
    let mut found = Vec::new();
    run.fleet.each(&mut |_, cluster| {
        if cluster.name() == maker.cluster && run.fleet.digest(cluster) != *digest {
            found.extend(cluster.place().map(|place| place.source().path().to_owned()));
            found.extend(run.fleet.own_files_of(cluster).iter().map(|file| file.path().to_owned()));
        }
        Ok(())
    })?;
    Ok(match &found[..] {
        [] => None,
        [file] if is_dash(Path::new(file)) => Some(OTHER_INPUT.to_owned()),
        files => Some(changed(&files.join("` or `"))),
    })
}

/// The message about other text on standard input.
const OTHER_INPUT: &str = "standard input is not what the run read";

/// Maximum number of files to name.
const NAMED: usize = 5;

/// Maximum length of a file that is read only to compare it.
const LONGEST: u64 = 16 << 20;

/// A file with its digest.
type File<'f> = (&'f String, &'f String);

/// Warns of the values of a cluster that `changed` names, and of files that differ from those that the run read. `now` has those that were read again, all of them if
/// `is_whole` is `true`.
fn warn<'r>(
    changed: Option<String>,
    run: impl Iterator<Item = File<'r>>,
    now: &ReadFiles,
    is_whole: bool,
    stderr: &Stderr,
) {
    let found: Vec<String> = changed.into_iter().chain(differences(run, now, is_whole)).collect();
    found.iter().take(NAMED).for_each(|text| stderr.warning(text));
    if found.len() > NAMED {
        stderr.warning(&format!("and {}", counted(found.len() - NAMED, "more file")));
    }
}

/// Returns a message for each file that differs.
fn differences<'r>(run: impl Iterator<Item = File<'r>>, now: &ReadFiles, is_whole: bool) -> Vec<String> {
    let message = |(name, digest): File<'_>| match now.get(name) {
        Some(same) if same == digest => None,
        Some(_) if is_dash(Path::new(name)) => Some(OTHER_INPUT.to_owned()),
        Some(_) => Some(changed(name)),
        None => unread(name, digest, is_whole),
    };
    run.filter_map(message).collect()
}

fn changed(name: &str) -> String {
    format!("`{}` was changed after the run", shown(name))
}

/// Returns a name of a state, which anyone may have written, for a terminal.
pub(super) fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Compares a file that was not read again, such as the project file, whose options are in the state.
fn unread(name: &str, digest: &str, is_whole: bool) -> Option<String> {
    let path = Path::new(name);
    if is_dash(path) || is_url(path) {
        return None;
    }
    match path.metadata() {
        Ok(meta) if meta.is_file() && meta.len() <= LONGEST => {
            let content = files::read(path, LONGEST).unwrap_or_default();
            (is_whole && short_digest(&content) != digest).then(|| changed(name))
        }
        // A device or a pipe may have no end.
        Ok(_) => None,
        Err(_) if is_in_file(path) => None,
        Err(_) => Some(format!("`{}` is missing", shown(name))),
    }
}

/// Returns `true` for a file of a packed chart.
fn is_in_file(path: &Path) -> bool {
    path.ancestors().skip(1).any(Path::is_file)
}

/// Maximum number of conditions, loops and calls of an output.
const ROWS: usize = 20_000;

/// Print the conditions, loops and calls of a render
///
///     dropforge trace app.yaml.tera -f values.yaml
///     dropforge trace chart/ -f prod.yaml --all
///     dropforge trace app.yaml.tera -f values.yaml --step
///
/// It takes the templates and options of `render`. A render that fails is traced
/// up to its error. Iterations of a loop that go the same way as the one before are
/// counted, unless `--all` is given.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct Own {
    /// Print every iteration of a loop
    #[arg(long)]
    all: bool,
    /// Print each instruction with what it pushes, writes or tests
    #[arg(long, conflicts_with = "all")]
    step: bool,
    /// Print a JSON object per line for each condition, turn and call
    #[arg(long, conflicts_with = "step")]
    json: bool,
}

/// The arguments of the command: its own, and those of `render`.
#[derive(Debug)]
pub(crate) struct TraceArgs {
    own: Own,
    pub(crate) render: RenderArgs,
}

impl Args for TraceArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        // The documentation of the last one is that of the command. Its options are not under the last heading of `render`.
        Own::augment_args(RenderArgs::augment_args(command).next_help_heading(None::<&'static str>))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TraceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(Self { own: Own::from_arg_matches(matches)?, render: RenderArgs::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Maximum number of levels by which a row is indented. Chains of `else if` nest as deep as they are long.
const INDENTED: usize = 50;

/// A row of a trace as JSON.
#[derive(Serialize)]
struct Row {
    output: String,
    depth: usize,
    #[serde(flatten)]
    what: Around,
    times: usize,
}

/// Runs the command.
pub(crate) fn trace(args: TraceArgs, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Exit, Failed> {
    let TraceArgs { own, render } = args;
    let trace = Subject::Render(Box::new(render)).read(files, stderr)?;
    let (mut text, mut errors) = (String::new(), Vec::new());
    each_recorded(&trace, &mut |name, recorded, values| {
        own.write(name, recorded, values, &mut text);
        errors.extend(recorded.error.clone());
    })?;
    print(text)?;
    if errors.is_empty() { Ok(Exit::Ok) } else { Err(errors.into()) }
}

impl Own {
    fn write(&self, name: &str, recorded: &RecordedOutput, (layers, cluster): Values<'_>, out: &mut String) {
        let Some(recording) = recorded.recording() else { return };
        if !self.json {
            let _ = writeln!(out, "{name}");
        }
        let given = recorded.givens(layers, Some(cluster));
        if self.step {
            recording.steps(&|flow| given(flow).is_secret, &mut |at, text, shown| {
                let shown = shown.map(|shown| format!("  ; {shown}")).unwrap_or_default();
                let _ = writeln!(out, "{at:>5}  {text}{shown}");
            });
            return;
        }
        let (rows, are_all) = recording.trace(!self.all, ROWS);
        for TraceRow { depth, what, times } in rows {
            let mut what = Around::of(&what, &given);
            what.hide(recording.mask());
            if self.json {
                let row = Row { output: name.to_owned(), depth, what, times };
                let _ = writeln!(out, "{}", serde_json::to_string(&row).unwrap_or_default());
            } else {
                let more =
                    if times > 1 { format!(", and {} more that went the same way", times - 1) } else { String::new() };
                let _ = writeln!(out, "{:indent$}{}{more}", "", what.summary(), indent = 2 + 2 * depth.min(INDENTED));
            }
        }
        if !are_all && !self.json {
            let _ = writeln!(out, "  … the run goes on, which is too long to be shown");
        }
    }
}
