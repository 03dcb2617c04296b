//! Finding the output that a place is in, and its answer.

use dropforge::bulk::why::{Answer, RecordedOutput, find};
use dropforge::bulk::{Cluster, Layers, Options, Run, Specialise, Stamper};
use dropforge::diagnostics::Result;

use super::place::Wanted;
use crate::console::Console;
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::render::RenderArgs;
use crate::run::RunArgs;
use crate::stamp::StampArgs;

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
    pub(super) fn read(&self, files: &mut InputFiles, console: &Console) -> std::result::Result<Run, Failed> {
        let (args, only) = match self {
            Self::Stamp(args) => (args.reading_args()?, None),
            Self::Render(args) => (args.run_args()?, args.template.as_ref()),
        };
        // A recording is that of the templates themselves.
        let options = Options { specialise: Specialise::Never, ..args.options };
        let mut run = RunArgs { stream: false, needs_values: true, options, ..args }.read(files, console)?;
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
    let (Run { fleet, values, outputs, .. }, stamper) = (run, run.renderer()?);
    let mut reader = fleet.reader();
    let cluster = reader.cluster(0)?;
    for (nth, output) in outputs.all.iter().enumerate() {
        each(&output.template, &stamper.recorded(values, cluster, nth)?, (values, cluster));
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
        match of_cluster(run, &stamper, one, wanted) {
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
    stamper: &Stamper<'_>,
    cluster: &Cluster,
    wanted: &Wanted,
) -> std::result::Result<Option<Answer>, Failed> {
    let Run { values, outputs, paths, .. } = run;
    let template = wanted.of.as_ref().map(|maker| maker.template.as_str());
    for (nth, text) in stamper.texts(values, cluster)?.into_iter().enumerate() {
        let name = outputs.all.get(nth).map_or("", |output| output.template.as_str());
        if template.is_some_and(|path| paths.path(name) != path) {
            continue;
        }
        let Ok(text) = text.map_err(|error| error.for_cluster(cluster.name())) else {
            continue;
        };
        let file = wanted.text.as_ref().unwrap_or(&text);
        let at = wanted.at(file)?;
        let Some((file, at)) = find(file, at, &text, template.is_some()) else { continue };
        let recorded = stamper.recorded(values, cluster, nth)?;
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
