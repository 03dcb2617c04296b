//! `dropforge deps`: the charts that a chart depends on, and the charts of a project's releases.
//!
//! | module | content |
//! |---|---|
//! | `sources`, `versions` | repositories and registries: indexes, tags, downloads, credentials in URLs; the choice of versions |
//! | `chart` | `build` and `update` of a chart's folder: `charts/` and `Chart.lock` |
//! | `list` | the state of a chart's dependencies |
//! | `project` | the lock and the fetched charts of a project, and what schemas of charts refer to |

mod chart;
mod list;
mod project;
mod sources;
mod versions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use dropforge::credentials;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::mask::Mask;

use crate::duration::duration;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::locked_charts::ProjectLock;
use crate::output::print;
use crate::stderr::Stderr;
use project::Project;
pub(crate) use project::fetch;
use sources::Sources;

/// Fetch the charts that a chart or a project depends on
///
///     dropforge deps update charts/shop
///     dropforge deps build charts/shop
///     dropforge deps list charts/shop
///
/// For a project, they read and write `dropforge.lock`, and `stamp` then needs
/// no network. For a chart, these commands read and write the same files as
/// `helm dependency`. Repositories and credentials are those of `helm repo add`,
/// `helm registry login` and `docker login`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DepsArgs {
    #[command(subcommand)]
    command: DepsCommand,
}

#[derive(Debug, Subcommand)]
enum DepsCommand {
    /// Fetch exactly what the lock names
    ///
    ///     dropforge deps build charts/shop
    ///
    /// Without a lock, this is `deps update`.
    #[command(verbatim_doc_comment)]
    Build(FetchArgs),
    /// Choose the newest versions that fit, fetch them and write the lock
    ///
    ///     dropforge deps update charts/shop
    #[command(verbatim_doc_comment)]
    Update(FetchArgs),
    /// List the dependencies and their state
    ///
    ///     dropforge deps list charts/shop
    #[command(verbatim_doc_comment)]
    List(PlaceArgs),
    /// List newer versions than those of the lock
    ///
    ///     dropforge deps outdated
    #[command(verbatim_doc_comment)]
    Outdated(PlaceArgs),
    /// Check that everything that the lock names is on this machine
    ///
    ///     dropforge deps verify charts/shop
    ///
    /// Uses no network.
    #[command(verbatim_doc_comment)]
    Verify(PlaceArgs),
}

#[derive(Debug, Args)]
struct FetchArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Fetch also what the schemas of the charts refer to by URL, for checks without network
    #[arg(long)]
    schemas: bool,
}

#[derive(Debug, Args)]
struct PlaceArgs {
    /// Folder of a chart, or a project: its file or its folder
    #[arg(value_name = "CHART|PROJECT", default_value = ".")]
    place: PathBuf,
    /// Give up on a server that does not answer for this long
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    timeout: Duration,
}

/// The chart or the project that a command is about.
enum Subject {
    Chart(PathBuf),
    Project(Project),
}

impl Subject {
    /// Finds a chart or a project.
    ///
    /// # Errors
    /// `usage` for anything else; errors of reading a project.
    fn find(path: &Path, files: &mut InputFiles) -> Result<Self, Failed> {
        let project = match path.is_dir() {
            true if path == Path::new(".") => PathBuf::from(crate::project::FILE),
            true => path.join(crate::project::FILE),
            false => path.to_owned(),
        };
        let is_chart =
            path.join("Chart.yaml").is_file() || path.extension().is_some_and(|extension| extension == "tgz");
        if is_chart || !path.exists() {
            return Ok(Self::Chart(path.to_owned()));
        }
        if project.is_file() {
            return Ok(Self::Project(Project::read(&project, files)?));
        }
        let message = format!("`{}` is neither a chart nor a project", shown(path));
        let error = Diagnostic::new(Code::Usage, message);
        Err(error.with_help("name a folder with `Chart.yaml` or `dropforge.toml`").into())
    }
}

/// Runs the command. Its errors name URLs, which may have a password.
pub(crate) fn run(args: &DepsArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    work(args, files, stderr).map_err(|mut failed| {
        failed.diagnostics.iter_mut().for_each(|error| credentials::hide(&Mask::none(), error));
        failed
    })
}

fn work(args: &DepsArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let (DepsCommand::Build(FetchArgs { place, .. })
    | DepsCommand::Update(FetchArgs { place, .. })
    | DepsCommand::List(place)
    | DepsCommand::Outdated(place)
    | DepsCommand::Verify(place)) = &args.command;
    let sources = || Ok::<_, Failed>(Sources::read()?.online(place.timeout, stderr));
    match (&args.command, Subject::find(&place.place, files)?) {
        (DepsCommand::Build(args), subject) => fetch_all(subject, (args, false), &sources()?, stderr)?,
        (DepsCommand::Update(args), subject) => fetch_all(subject, (args, true), &sources()?, stderr)?,
        (DepsCommand::List(_), Subject::Chart(path)) => print(list::list(&path)?)?,
        (DepsCommand::List(_), Subject::Project(project)) => print(project.list())?,
        (DepsCommand::Verify(_), Subject::Chart(path)) => list::verify(&path, stderr)?,
        (DepsCommand::Verify(_), Subject::Project(project)) => project.verify(stderr)?,
        (DepsCommand::Outdated(_), Subject::Chart(path)) => print(chart::outdated(&path, &sources()?)?)?,
        (DepsCommand::Outdated(_), Subject::Project(project)) => print(project.outdated(&sources()?)?)?,
    }
    Ok(Exit::Ok)
}

/// Fetches what the lock names, or chooses new versions if it `renews`.
fn fetch_all(
    subject: Subject,
    (args, renews): (&FetchArgs, bool),
    sources: &Sources,
    stderr: &Stderr,
) -> Result<(), Failed> {
    match subject {
        Subject::Chart(path) => {
            let fetch = if renews { chart::update } else { chart::build };
            fetch(&path, sources, stderr)?;
            let mut lock = ProjectLock::read(&path.join("Chart.yaml"))?;
            if args.schemas { project::fetch_schemas(&[path], (&mut lock, renews), sources, stderr) } else { Ok(()) }
        }
        Subject::Project(mut project) => {
            if renews {
                project.update(sources, stderr)?
            } else {
                project.build(sources, stderr)?
            }
            if args.schemas { project.schemas(renews, sources, stderr) } else { Ok(()) }
        }
    }
}

/// Returns the path of a folder for messages.
fn shown(path: &Path) -> String {
    dropforge::engine::path_from_here(path)
}
