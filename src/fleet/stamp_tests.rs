//! Runs with a stand-in for the engine: `a` renders the inputs, `b` fails if the cluster says so.

use std::fs;
use std::path::Path;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::{
    Cluster, Failure, Fleet, FleetOptions, Format, Layers, Layout, Options, Output, Overlay, Plan, Renderer, Selector,
    Watch,
};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;
use dropforge_value::{Data, DataMap};

struct Fake;

impl Stamp for Fake {
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        body(&mut Fake);
    }
}

impl Renderer for Fake {
    fn render(
        &mut self,
        _: Option<usize>,
        _: &Cluster,
        own: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        let own = own.to_map()?;
        text.push_str(&serde_json::to_string(&Data::Map(own.clone().into_owned())).unwrap());
        results.push(Ok(text.len()));
        let fails = own.get("fail").and_then(Data::as_str);
        assert_ne!(fails, Some("panic"), "asked for");
        match fails {
            Some(message) => results.push(Err(Diagnostic::new(Code::UndefinedVariable, message))),
            None => {
                text.push_str("b: 1\n");
                results.push(Ok(text.len()));
            }
        }
        Ok(())
    }
}

/// Renders like [`Fake`]. Someone else writes a file below `out` meanwhile.
struct Beside<'o> {
    out: &'o Path,
    file: &'o str,
}

impl Stamp for Beside<'_> {
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        let path = self.out.join(self.file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
        body(&mut Fake);
    }
}

struct Setup {
    fleet: Fleet,
    layers: Layers,
    plan: Plan,
    options: Options,
}

impl Setup {
    fn new(ndjson: &str) -> Self {
        let fleet = Fleet::read(&Source::new("f", ndjson), Format::Ndjson, &FleetOptions::default()).unwrap();
        Self::with(fleet)
    }

    fn with(fleet: Fleet) -> Self {
        let layers = Layers::default();
        let output = |name: &str| Output {
            template: format!("{name}.t"),
            name: name.into(),
            executable: false,
            bytes: None,
            release: None,
        };
        let layout = Layout::parse("{cluster}/{template}").unwrap();
        let plan = Plan::new(&fleet, &layers, &Selector::default(), vec![output("a"), output("b")], layout).unwrap();
        Self { fleet, layers, plan, options: Options { threads: 3, ..Options::default() } }
    }

    fn job(&self) -> Job<'_> {
        let Self { fleet, layers, plan, options } = self;
        Job { fleet, layers, plan, options, watch: Watch::none() }
    }

    fn stamp(&self, out: &Path) -> Result<Report> {
        stamp(&Fake, &self.job(), out)
    }
}

fn numbered(count: usize, extra: impl Fn(usize) -> &'static str) -> String {
    (0..count).map(|n| format!("{{\"name\":\"c{n}\"{}}}\n", extra(n))).collect()
}

/// Every file below a directory, with its content.
fn tree(root: &Path) -> Vec<(String, String)> {
    let (mut left, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => files
                    .push((path.strip_prefix(root).unwrap().display().to_string(), fs::read_to_string(&path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_second_run_changes_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let setup = Setup::new(&numbered(40, |_| ""));
    let first = setup.stamp(temp.path()).unwrap();
    assert_eq!((first.clusters, first.created, first.failed, first.updated), (40, 80, 0, 0));
    let files = tree(temp.path());
    // The outputs, the state of each cluster, and the runs.
    assert_eq!(files.len(), 80 + 40 + 1);
    assert_eq!(files.iter().find(|(path, _)| path == "c7/a").unwrap().1, r#"{"name":"c7"}"#);
    let second = setup.stamp(temp.path()).unwrap();
    assert_eq!((second.created, second.updated, second.unchanged, second.bytes), (0, 0, 80, first.bytes));
    assert_eq!(tree(temp.path()), files);
}

#[test]
fn a_file_that_appears_during_the_run_stays() {
    let temp = tempfile::tempdir().unwrap();
    let mut setup = Setup::new(&numbered(4, |_| ""));
    let beside = Beside { out: temp.path(), file: "c2/b" };
    let report = stamp(&beside, &setup.job(), temp.path()).unwrap();
    assert_eq!((report.failed, report.created, report.updated), (1, 6, 0));
    let Failure { diagnostic, clusters, .. } = &report.failures[0];
    assert_eq!((diagnostic.code, clusters.as_slice()), (Code::ForeignFile, ["c2".to_owned()].as_slice()));
    assert_eq!(diagnostic.template.as_deref(), Some("b.t"));
    // Nothing else of the cluster is written or listed, and the next run finds the file before it writes.
    let files = tree(temp.path());
    assert_eq!(
        files.iter().filter(|(path, _)| path.starts_with("c2/")).collect::<Vec<_>>(),
        [&("c2/b".to_owned(), "mine".to_owned())]
    );
    assert_eq!(setup.stamp(temp.path()).unwrap_err().code, Code::ForeignFile);
    setup.options.force = true;
    let report = stamp(&beside, &setup.job(), temp.path()).unwrap();
    assert_eq!((report.failed, report.created, report.updated), (0, 1, 1));
    // A file of ours is ours, whoever wrote it last.
    setup.options.force = false;
    assert_eq!(stamp(&beside, &setup.job(), temp.path()).unwrap().updated, 1);
}

#[test]
fn a_failing_cluster_leaves_its_own_files_alone() {
    let temp = tempfile::tempdir().unwrap();
    Setup::new(&numbered(20, |_| "")).stamp(temp.path()).unwrap();
    let bad = numbered(20, |n| if n % 5 == 3 { ",\"fail\":\"no x\"" } else { ",\"new\":1" });
    let report = Setup::new(&bad).stamp(temp.path()).unwrap();
    assert_eq!((report.failed, report.updated, report.unchanged), (4, 16, 16));
    assert_eq!(report.failures.len(), 1);
    assert_eq!(report.failures[0].clusters, ["c3", "c8", "c13", "c18"]);
    assert_eq!(report.failures[0].diagnostic.template.as_deref(), Some("b.t"));
    assert_eq!(fs::read_to_string(temp.path().join("c3/a")).unwrap(), r#"{"name":"c3"}"#);
    assert_eq!(fs::read_to_string(temp.path().join("c4/a")).unwrap(), r#"{"name":"c4","new":1}"#);
    let state = State::read(Some(&OutputDir::create(temp.path()).unwrap())).unwrap();
    let mut count = 0;
    state
        .each(&mut |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 40);
}

#[test]
fn a_panic_costs_one_cluster() {
    let temp = tempfile::tempdir().unwrap();
    let text = numbered(5, |n| if n == 2 { ",\"fail\":\"panic\"" } else { "" });
    let report = Setup::new(&text).stamp(temp.path()).unwrap();
    assert_eq!((report.failed, report.created), (1, 8));
    assert_eq!(report.failures[0].diagnostic.code, Code::Internal);
}

#[test]
fn fail_fast_stops() {
    let temp = tempfile::tempdir().unwrap();
    let mut setup = Setup::new(&numbered(1_000, |n| if n == 0 { ",\"fail\":\"x\"" } else { "" }));
    setup.options = Options { threads: 1, fail_fast: true, ..Options::default() };
    let report = setup.stamp(temp.path()).unwrap();
    assert_eq!((report.failed, report.created), (1, 0));
}

#[test]
fn pruning_follows_its_rules() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path();
    Setup::new(&numbered(10, |_| "")).stamp(out).unwrap();
    fs::write(out.join("c9/b"), "edited by hand").unwrap();
    fs::write(out.join("c8/mine"), "not ours").unwrap();
    let mut fewer = Setup::new(&numbered(8, |_| ""));
    assert_eq!(fewer.stamp(out).unwrap().deleted, 0);
    fewer.options.prune = true;
    let failing = Setup {
        options: fewer.options.clone(),
        ..Setup::new(&numbered(8, |n| if n == 1 { ",\"fail\":\"x\"" } else { "" }))
    };
    assert_eq!(failing.stamp(out).unwrap().deleted, 0);
    let report = fewer.stamp(out).unwrap();
    assert_eq!((report.deleted, report.warnings.len()), (3, 1));
    let there: Vec<bool> = ["c9/a", "c9/b", "c8/a", "c8/mine", "c7/a"].map(|name| out.join(name).exists()).into();
    assert_eq!(there, [false, true, false, true, true]);
    let mut empty = Setup::new("");
    empty.options.prune = true;
    assert_eq!(empty.stamp(out).unwrap_err().code, Code::MassDelete);
    empty.options.prune_force = true;
    assert_eq!(empty.stamp(out).unwrap().deleted, 16);
}

#[test]
fn a_preview_changes_nothing_and_has_fleet_order() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("out");
    let setup = Setup::new(&numbered(30, |_| ""));
    let watch = |setup: &Setup| {
        let mut previews = Vec::new();
        let report = preview(&Fake, &setup.job(), &out, &mut |file| {
            previews.push(format!("{:?} {} {}>{}", file.change, file.path, file.old.len(), file.new.len()));
            Ok(())
        });
        (previews, report.unwrap())
    };
    let (previews, report) = watch(&setup);
    assert_eq!((previews.len(), report.created, out.exists()), (60, 60, false));
    assert_eq!(previews[2], "Some(Create) c1/a 0>13");
    setup.stamp(&out).unwrap();
    let (previews, report) = watch(&setup);
    assert!(previews.is_empty() && !report.differs());
    let mut changed = Setup::new(&numbered(29, |n| if n == 4 { ",\"x\":1" } else { "" }));
    changed.options.prune = true;
    let (previews, report) = watch(&changed);
    assert_eq!(previews, ["Some(Update) c4/a 13>19", "None c29/a 14>0", "None c29/b 5>0"]);
    assert_eq!((report.updated, report.deleted, report.differs()), (1, 2, true));
}

#[test]
fn a_stream_has_the_fleets_order_on_any_number_of_threads() {
    let text = numbered(300, |n| if n % 50 == 7 { ",\"fail\":\"x\"" } else { "" });
    let run = |threads| {
        let mut setup = Setup::new(&text);
        setup.options.threads = threads;
        let mut out = Vec::new();
        let report = stream(&Fake, &setup.job(), &mut out).unwrap();
        assert_eq!(report.failed, 6);
        String::from_utf8(out).unwrap()
    };
    let one = run(1);
    assert!(
        one.starts_with("---\n# Source: c0/a\n{\"name\":\"c0\"}\n---\n# Source: c0/b\nb: 1\n---\n# Source: c1/a\n")
    );
    assert!(!one.contains("c57/"));
    for threads in [2, 7] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn a_closed_stream_ends_the_run() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let setup = Setup::new(&numbered(300, |_| ""));
    assert_eq!(stream(&Fake, &setup.job(), &mut Closed).unwrap_err().code, Code::ClosedPipe);
}

#[test]
fn a_stop_leaves_whole_clusters() {
    let temp = tempfile::tempdir().unwrap();
    let setup = Setup::new(&numbered(500, |_| ""));
    let stop = AtomicBool::new(false);
    let count = AtomicUsize::new(0);
    let done = || {
        if count.fetch_add(1, Ordering::SeqCst) == 20 {
            stop.store(true, Ordering::SeqCst);
        }
    };
    let job = Job { watch: Watch { stop: &stop, done: &done }, ..setup.job() };
    let report = stamp(&Fake, &job, temp.path()).unwrap();
    assert!(report.interrupted && report.created < 1_000 && report.created >= 42);
    let files = tree(temp.path());
    assert_eq!(files.len(), report.created + report.created / 2 + 1);
    assert!(files.iter().all(|(path, _)| !path.contains("tmp")));
    assert_eq!(setup.stamp(temp.path()).unwrap().created, 1_000 - report.created);
}

#[test]
fn a_stopped_stream_is_the_beginning_of_the_whole_one() {
    let mut setup = Setup::new(&numbered(2_000, |n| if n == 3 { ",\"fail\":\"x\"" } else { "" }));
    let mut whole = Vec::new();
    stream(&Fake, &setup.job(), &mut whole).unwrap();
    for (threads, after) in [(1, 5), (2, 40), (7, 300)] {
        setup.options.threads = threads;
        let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        let done = || stop.store(count.fetch_add(1, Ordering::SeqCst) >= after, Ordering::SeqCst);
        let job = Job { watch: Watch { stop: &stop, done: &done }, ..setup.job() };
        let mut out = Vec::new();
        let report = stream(&Fake, &job, &mut out).unwrap();
        assert!(report.interrupted && whole.starts_with(&out) && out.len() < whole.len());
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("---\n").count(), report.created);
        assert_eq!(report.created % 2, 0);
    }
}

#[test]
fn a_link_on_the_way_fails_its_cluster_only() {
    let temp = tempfile::tempdir().unwrap();
    let (out, victim) = (temp.path().join("out"), temp.path().join("victim"));
    fs::create_dir_all(&out).unwrap();
    fs::create_dir(&victim).unwrap();
    std::os::unix::fs::symlink(&victim, out.join("c1")).unwrap();
    let report = Setup::new(&numbered(3, |_| "")).stamp(&out).unwrap();
    assert_eq!((report.failed, report.created), (1, 4));
    assert_eq!(report.failures[0].diagnostic.code, Code::SymbolicLink);
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
}

#[test]
fn clusters_made_by_a_program_work_as_well() {
    let temp = tempfile::tempdir().unwrap();
    let own = DataMap::from_iter([("x".to_owned(), Data::Int(1))]);
    let setup = Setup::with(Fleet::new(vec![Cluster::new("only", own)]).unwrap());
    assert_eq!(setup.stamp(temp.path()).unwrap().created, 2);
    assert_eq!(fs::read_to_string(temp.path().join("only/a")).unwrap(), r#"{"x":1}"#);
}
