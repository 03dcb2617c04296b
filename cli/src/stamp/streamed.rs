//! `dropforge stamp --stream`: clusters are stamped as they come.

use std::io;

use dropforge::bulk::{Fleet, FleetStream, Options, Plan, Report, Specialise, Stamper, StreamFile, StreamJob, Watch};
use dropforge::diagnostics::{Code, Diagnostic, Result};

use super::target::{Target, is_whole};
use super::{Prepared, Run, StampArgs, options, prepare};
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::one_file::{kept_old, one_file};
use crate::outputs::completed;
use crate::progress;
use crate::signals::Stop;

/// Stamps all clusters.
pub(super) fn once(
    args: &StampArgs,
    &Run { global, console, stop }: &Run<'_>,
    target: &Target<'_>,
    files: &mut InputFiles,
) -> std::result::Result<Report, Failed> {
    let mut prepared = prepare(args, console, files)?;
    let (all, paths) = (std::mem::take(&mut prepared.outputs.all), std::mem::take(&mut prepared.paths));
    let Prepared { layers, selector, forge, outputs, layout, .. } = &prepared;
    if args.prune && !selector.is_empty() {
        let error = Diagnostic::new(Code::Usage, "`--prune` cannot be combined with `--stream` and `--selector`");
        return Err(error.with_help("leave `-l` out: files of clusters that are not selected are not known").into());
    }
    let plain_stream = outputs.plain_stream;
    let plan = Plan::new(&Fleet::default(), layers, selector, all, layout.clone())?;
    let mut fleet = args.fleet.stream(files)?;
    let stamper = prepared.stamper(&plan)?;
    let (stop, bar) = (stop.get_or_init(Stop::listen), progress::count(console));
    let tick = || bar.inc(1);
    // Classes of clusters are those of a batch.
    let (specialise, leftovers) = (Specialise::Never, is_whole(&args.fleet, selector));
    let options = Options { plain_stream, templates: paths, specialise, leftovers, ..options(args, global, files) };
    let watch = Watch { stop: stop.flag(), done: &tick };
    let job = StreamJob { layers, selector, plan: &plan, options: &options, watch };
    let report = stamp(target, &stamper, &job, &mut fleet);
    bar.finish_and_clear();
    prepared.warn(console);
    Ok(completed(report?, forge, &plan))
}

fn stamp(
    target: &Target<'_>,
    stamper: &Stamper<'_>,
    job: &StreamJob<'_>,
    fleet: &mut FleetStream<'_>,
) -> Result<Report> {
    match target {
        Target::Directory(out) => job.stamp(stamper, fleet, out),
        Target::Store(store) => store.stream(stamper, job, fleet),
        Target::Stdout => job.stream(stamper, fleet, &mut io::stdout()),
        Target::File(path) => {
            let mut file = StreamFile::create(path)?;
            let report = job.stream(stamper, fleet, &mut file)?;
            match report.is_complete() && report.errors.is_empty() {
                true => Ok(one_file(report, file.finish()?)),
                false => Ok(kept_old(&path.display().to_string(), report)),
            }
        }
    }
}
