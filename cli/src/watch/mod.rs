//! `dropforge stamp --watch`: stamps again what a change reaches.

mod files;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;

use dropforge::bulk::{Report, RunOptions};
use dropforge::diagnostics::counted;

use crate::exit::{Exit, Failed, Stop};
use crate::input::InputFiles;
use crate::options::Global;
use crate::run::{Surroundings, print_problems};
use crate::stamp::StampArgs;
use crate::stderr::Stderr;
use crate::summary;
use files::Files;
pub(crate) use files::Seen;

/// Options of watching.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Stay, and stamp again what a change reaches
    ///
    /// It watches templates, values files, the fleet and the project.
    #[arg(long, conflicts_with_all = ["dry_run", "check", "diff"])]
    pub(crate) watch: bool,
}

/// Reads the arguments again, from the command line and the changed project.
pub(crate) type Reread<'r> = &'r dyn Fn() -> Result<(StampArgs, Option<RunOptions>), Failed>;

/// Stamps, then stamps again after each change until a signal comes.
///
/// # Errors
/// Usage errors of the first run. Other errors are printed, as a change may mend them.
pub(crate) fn run(
    args: StampArgs,
    global: &mut Global,
    stderr: &Stderr,
    project: Option<&Path>,
    reread: Reread<'_>,
) -> Result<Exit, Failed> {
    args.check_watchable()?;
    let mut watcher = Watcher {
        files: Files::new(args.inputs().chain(project.map(Path::to_owned)).collect(), args.output()),
        args,
        inputs: InputFiles::new(global.max_input),
        global,
        stderr,
        project,
        reread,
        stop: OnceCell::new(),
        seen: Seen::watching(),
    };
    watcher.inputs.allow_sops(watcher.args.values.allow.allows_sops());
    watcher.first()?;
    stderr.note(&format!("watching {}", counted(watcher.files.len(), "file")));
    Ok(watcher.follow())
}

struct Watcher<'w> {
    args: StampArgs,
    global: &'w mut Global,
    stderr: &'w Stderr,
    project: Option<&'w Path>,
    reread: Reread<'w>,
    files: Files,
    inputs: InputFiles,
    stop: OnceCell<Stop>,
    seen: Seen,
}

impl Watcher<'_> {
    /// Stamps everything.
    fn first(&mut self) -> Result<(), Failed> {
        let started = Instant::now();
        match self.stamp() {
            Ok(report) => {
                print_problems(&report, self.stderr);
                summary::print(&report, false, started.elapsed(), self.stderr);
            }
            Err(failed) if failed.exit == Exit::Usage => return Err(failed),
            Err(failed) => {
                failed.print(self.stderr);
            }
        }
        Ok(())
    }

    /// Waits for changes until a signal comes.
    fn follow(&mut self) -> Exit {
        loop {
            let stop = self.stop.get_or_init(Stop::listen);
            if stop.flag().load(Ordering::SeqCst) {
                return Exit::Signal(stop.number());
            }
            let changed = self.files.changed();
            if changed.is_empty() {
                std::thread::sleep(self.files.pause());
            } else if let Err(failed) = self.restamp(&changed) {
                failed.print(self.stderr);
            }
        }
    }

    /// Stamps what these files reach.
    fn restamp(&mut self, changed: &[PathBuf]) -> Result<(), Failed> {
        let started = Instant::now();
        if changed.iter().any(|path| Some(path.as_path()) == self.project) {
            let (args, run) = (self.reread)()?;
            args.check_watchable()?;
            (self.args, self.global.run) = (args, run);
            self.inputs.forget_charts();
        }
        let (reached, inputs) = (self.reached()?, &self.inputs);
        let is_of_clusters = |path: &PathBuf| self.seen.is_of_clusters(path) && inputs.is_given_once(path);
        let is_template = |path: &PathBuf| self.args.is_template(path) || reached.contains(path);
        if !changed.iter().all(|path| is_of_clusters(path) || is_template(path)) {
            self.seen = Seen::watching();
        }
        self.stderr.forget_warnings();
        let report = self.stamp()?;
        print_problems(&report, self.stderr);
        match self.stderr.format() {
            format if format.has_notes() => self.stderr.note(&line(changed, &report, started.elapsed())),
            _ => summary::print(&report, false, started.elapsed(), self.stderr),
        }
        Ok(())
    }

    fn stamp(&mut self) -> Result<Report, Failed> {
        let around = Surroundings { global: self.global, stderr: self.stderr, stop: &self.stop };
        self.inputs.forget_files();
        let report = self.args.run_args()?.once(around, &mut self.inputs, &mut self.seen);
        if let Ok(report) = &report {
            self.seen.done(report.is_complete() && report.errors.is_empty());
        }
        // What fails to be read is watched, too: a change may mend it.
        let roots = self.args.inputs().chain(self.project.map(Path::to_owned));
        self.files.watch(roots.chain(self.reached()?).chain(self.elsewhere()).collect(), self.args.output());
        report
    }

    /// Returns the files that the templates include, import or extend and that lie elsewhere.
    fn reached(&self) -> Result<Vec<PathBuf>, Failed> {
        let Some(root) = self.args.include_root()? else { return Ok(Vec::new()) };
        let roots: Vec<PathBuf> = self.args.inputs().filter_map(|path| path.canonicalize().ok()).collect();
        let paths = self.seen.sources().map(|name| root.join(name));
        Ok(paths.filter(|path| path.is_file() && !roots.iter().any(|root| path.starts_with(root))).collect())
    }

    /// Returns the charts, folders and files that the last run was to read and that no argument names, such as the charts of
    /// releases outside the project.
    fn elsewhere(&self) -> Vec<PathBuf> {
        let (mut roots, mut found) = (Vec::new(), Vec::new());
        roots.extend(self.args.inputs().filter_map(|path| path.canonicalize().ok()));
        let mut last = None;
        for path in self.inputs.given() {
            // The files of a chart come after its folder.
            if last.is_some_and(|last| path.starts_with(last)) {
                continue;
            }
            last = Some(path);
            let Ok(place) = path.canonicalize() else { continue };
            if !roots.iter().any(|root| place.starts_with(root)) {
                found.push(path.clone());
                roots.push(place);
            }
        }
        found
    }
}

/// Describes the changes that a run made: `14:02:11 app.tera: 3 files updated in 4 ms`.
fn line(changed: &[PathBuf], report: &Report, took: Duration) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = changed.first().map(|path| path.strip_prefix(&here).unwrap_or(path).display().to_string());
    let more = if changed.len() > 1 { format!(" and {} more", changed.len() - 1) } else { String::new() };
    let counts = [(report.updated, "updated"), (report.created, "new"), (report.deleted, "deleted")];
    let mut done: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count, "file")))
        .collect();
    done.extend((report.failed > 0).then(|| format!("{} failed", counted(report.failed, "cluster"))));
    let done = if done.is_empty() { "no file changed".to_owned() } else { done.join(", ") };
    let now = chrono::Local::now().format("%H:%M:%S");
    format!("{now} {}{more}: {done} in {} ms", name.unwrap_or_default(), took.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_one_line() {
        let report = Report { updated: 1_000, ..Report::default() };
        let text = line(&["t/app.yaml.tera".into()], &report, Duration::from_millis(41));
        assert_eq!(text.split_once(' ').unwrap().1, "t/app.yaml.tera: 1,000 files updated in 41 ms");
        let report = Report { created: 1, deleted: 2, failed: 1, ..Report::default() };
        let text = line(&["a".into(), "b".into()], &report, Duration::ZERO);
        assert!(text.ends_with("a and 1 more: 1 file new, 2 files deleted, 1 cluster failed in 0 ms"), "{text}");
        assert!(line(&[], &Report::default(), Duration::ZERO).contains("no file changed"));
    }
}
