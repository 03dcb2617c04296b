//! `dropforge deps`: the charts that a chart depends on, and the charts of a project's releases.
//!
//! | module | content |
//! |---|---|
//! | `sources` | repositories and registries: indexes, tags, downloads |
//! | `chart` | `build` and `update` of a chart's folder: `charts/` and `Chart.lock` |
//! | `list`, `verify` | the state of a chart's dependencies |

mod chart;
mod list;
mod sources;
mod verify;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::output::print;
use crate::stderr::Stderr;
use sources::Sources;

/// Fetch the charts that a chart or a project depends on
///
///     dropforge deps update charts/shop
///     dropforge deps build charts/shop
///     dropforge deps list charts/shop
///
/// For a chart, these commands read and write the same files as
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
    Build(PlaceArgs),
    /// Choose the newest versions that fit, fetch them and write the lock
    ///
    ///     dropforge deps update charts/shop
    #[command(verbatim_doc_comment)]
    Update(PlaceArgs),
    /// List the dependencies and their state
    ///
    ///     dropforge deps list charts/shop
    #[command(verbatim_doc_comment)]
    List(PlaceArgs),
    /// Check that everything that the lock names is on this machine
    ///
    ///     dropforge deps verify charts/shop
    ///
    /// Uses no network.
    #[command(verbatim_doc_comment)]
    Verify(PlaceArgs),
}

#[derive(Debug, Args)]
struct PlaceArgs {
    /// Folder of a chart
    #[arg(value_name = "CHART", default_value = ".")]
    place: PathBuf,
}

/// Runs the command.
pub(crate) fn run(args: &DepsArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let _ = files;
    match &args.command {
        DepsCommand::Build(args) => chart::build(&args.place, &Sources::read()?, stderr)?,
        DepsCommand::Update(args) => chart::update(&args.place, &Sources::read()?, stderr)?,
        DepsCommand::List(args) => print(list::list(&args.place, stderr)?)?,
        DepsCommand::Verify(args) => verify::verify(&args.place, stderr)?,
    }
    Ok(Exit::Ok)
}

/// Returns the path of a folder for messages.
fn shown(path: &Path) -> String {
    dropforge::engine::path_from_here(path)
}
