//! Tests of runs that write objects, on a store in memory with faults.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::fake::{Fake, Setup, numbered};
use super::*;
use crate::{Change, FilePreview, Report, Stamp};
use dropforge_base::diagnostics::Code;
use dropforge_remote::faults::Faulty;
use dropforge_remote::{Condition, LOCK, Lock, LockOptions, Patience, SystemClock};

/// The object with the files of all clusters.
const ALL: &str = ".dropforge/clusters/@all.state";

fn stamp(setup: &Setup, store: &Store) -> Result<Report> {
    stamp_to_store(&Fake, &setup.job(), store, Locking::Take)
}

fn counts(report: &Report) -> (usize, usize, usize, usize) {
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    (report.created, report.updated, report.unchanged, report.deleted)
}

fn put(store: &Store, key: &str, text: &str) {
    store.put(key, text.to_owned().into(), Condition::Always).expect("put");
}

fn get(store: &Store, key: &str) -> Option<String> {
    let object = store.get(key, 1 << 20).expect("read")?;
    Some(String::from_utf8(object.bytes.to_vec()).expect("text"))
}

/// Returns the paths that would change.
fn changes(setup: &Setup, store: &Store) -> BTreeMap<String, Option<Change>> {
    let mut all = BTreeMap::new();
    let mut note = |file: &FilePreview<'_>| {
        all.insert(file.path.to_owned(), file.change);
        Ok(())
    };
    preview_of_store(&Fake, &setup.job(), store, &mut note).expect("a report");
    all
}

#[test]
fn all_objects_are_put_while_requests_fail_and_none_of_them_again() {
    let faulty = Arc::new(Faulty { before: 8.into(), after: 8.into(), ..Faulty::default() });
    let (store, setup) = (faulty.store(), Setup::new(&numbered(100, |_| "")));
    assert_eq!(changes(&setup, &store).len(), 200);
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (200, 0, 0, 0));
    for n in 0..100 {
        for name in ["a", "b"] {
            let content = get(&store, &format!("c{n}/{name}")).map(String::into_bytes);
            assert_eq!(content, Some(Setup::content(&format!("c{n}"), &format!("{name}.t"))));
        }
    }
    let state = get(&store, ALL).expect("a state");
    assert_eq!(get(&store, ".dropforge/unfinished"), None);
    assert!(changes(&setup, &store).is_empty());
    faulty.before.store(0, Ordering::SeqCst);
    faulty.after.store(0, Ordering::SeqCst);
    for _ in 0..2 {
        let before = faulty.puts.load(Ordering::SeqCst);
        assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 0, 200, 0));
        // The lock is taken and released, and the record of the run is written.
        assert_eq!(faulty.puts.load(Ordering::SeqCst) - before, 3);
        assert_eq!(get(&store, ALL).as_ref(), Some(&state), "the tags of unchanged objects stay");
    }
}

#[test]
fn what_others_have_changed_or_removed_is_put_again() {
    let store = Arc::new(Faulty::default()).store();
    let setup = Setup::new(&numbered(10, |_| ""));
    stamp(&setup, &store).expect("a report");
    put(&store, "c3/a", "theirs");
    store.delete("c4/b").expect("deleted");
    // The same content, put by someone else, has the same effect as none.
    let expected = [("c3/a", Some(Change::Update)), ("c4/b", Some(Change::Create))];
    assert_eq!(changes(&setup, &store), expected.map(|(path, change)| (path.to_owned(), change)).into());
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (1, 1, 18, 0));
    assert_eq!(get(&store, "c3/a").as_deref(), Some("name: c3\n"));
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 0, 20, 0));
    let other = Setup::new(&numbered(10, |n| if n == 5 { ",\"extra\":\"x\"" } else { "" }));
    assert_eq!(counts(&stamp(&other, &store).expect("a report")), (0, 2, 18, 0));
}

#[test]
fn pruning_removes_only_what_a_run_has_written() {
    let store = Arc::new(Faulty::default()).store();
    stamp(&Setup::new(&numbered(10, |_| "")), &store).expect("a report");
    put(&store, "c8/a", "theirs");
    put(&store, "c9/mine", "mine");
    let mut fewer = Setup::new(&numbered(7, |_| ""));
    fewer.options.prune = true;
    assert_eq!(changes(&fewer, &store).len(), 6);
    let report = stamp(&fewer, &store).expect("a report");
    assert_eq!(counts(&report), (0, 0, 14, 5));
    assert!(report.warnings.iter().any(|text| text.contains("kept 1 stale file")), "{:?}", report.warnings);
    assert_eq!((get(&store, "c8/b"), get(&store, "c8/a").as_deref()), (None, Some("theirs")));
    assert_eq!((get(&store, "c7/a"), get(&store, "c9/mine").as_deref()), (None, Some("mine")));
    let mut one = Setup::new(&numbered(1, |_| ""));
    one.options.prune = true;
    assert_eq!(stamp(&one, &store).map_err(|error| error.code).err(), Some(Code::MassDelete));
    one.options.prune_force = true;
    assert_eq!(stamp(&one, &store).expect("a report").deleted, 12);
}

#[test]
fn objects_of_others_are_not_overwritten() {
    let store = Arc::new(Faulty::default()).store();
    let mut setup = Setup::new(&numbered(5, |_| ""));
    put(&store, "c1/a", "theirs");
    put(&store, "c2/a", "name: c2\n");
    assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::ForeignFile));
    assert_eq!(get(&store, "c0/a"), None, "nothing is put");
    store.delete("c1/a").expect("deleted");
    assert_eq!(counts(&stamp(&setup, &store).expect("adopted")), (9, 0, 1, 0));
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 0, 10, 0));
    setup = Setup::new(&numbered(6, |_| ""));
    put(&store, "c5/b", "theirs");
    setup.options.force = true;
    assert_eq!(counts(&stamp(&setup, &store).expect("forced")), (1, 1, 10, 0));
}

/// Someone else puts an object when the run has listed the objects.
struct Beside(Store);

impl Stamp for Beside {
    fn work(&self, body: &mut dyn FnMut(&mut dyn crate::Renderer)) {
        put(&self.0, "c2/b", "theirs");
        body(&mut Fake);
    }
}

#[test]
fn an_object_that_appears_fails_its_cluster() {
    let store = Arc::new(Faulty::default()).store();
    let setup = Setup::new(&numbered(5, |_| ""));
    let report = stamp_to_store(&Beside(store.clone()), &setup.job(), &store, Locking::Take).expect("a report");
    assert_eq!((report.failed, report.created, report.errors.len()), (1, 9, 0));
    let failure = report.failures.first().expect("a failure");
    assert_eq!((failure.diagnostic.code, &failure.clusters[..]), (Code::ForeignFile, &["c2".to_owned()][..]));
    assert_eq!(failure.diagnostic.template.as_deref(), Some("b.t"));
    assert_eq!(get(&store, "c2/b").as_deref(), Some("theirs"));
    assert!(!get(&store, ALL).expect("a state").contains("c2/b"));
}

#[test]
fn a_run_that_was_killed_is_mended_by_the_next() {
    let store = Arc::new(Faulty::default()).store();
    let old = Setup::new(&numbered(10, |_| ""));
    stamp(&old, &store).expect("a report");
    // The record, some new objects and the old state.
    put(&store, ".dropforge/unfinished", "c10/a\nc10/b\nc11/a\nc11/b\n");
    put(&store, "c10/a", "an old version of the template");
    let setup = Setup::new(&numbered(12, |_| ""));
    assert_eq!(counts(&stamp(&setup, &store).expect("mended")), (3, 1, 20, 0));
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 0, 24, 0));
}

/// Breaks the lock of the run that calls it.
struct Breaker(Store);

impl Stamp for Breaker {
    fn work(&self, body: &mut dyn FnMut(&mut dyn crate::Renderer)) {
        Lock::break_lock(&self.0, &SystemClock::new()).expect("broken");
        put(&self.0, ALL, "another run's state");
        body(&mut Fake);
    }
}

#[test]
fn locks_are_heeded_and_the_state_of_another_run_stays() {
    let store = Arc::new(Faulty::default()).store();
    let setup = Setup::new(&numbered(4, |_| ""));
    let held = Lock::acquire(&store, LockOptions { renew: None, ..LockOptions::default() }).expect("the lock");
    assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::StoreLocked));
    let report = stamp_to_store(&Fake, &setup.job(), &store, Locking::Break).expect("a report");
    assert_eq!(counts(&report), (8, 0, 0, 0));
    assert_eq!(held.renew().map_err(|error| error.code), Err(Code::LockLost));
    drop(held);
    let more = Setup::new(&numbered(6, |_| ""));
    let report = stamp_to_store(&Breaker(store.clone()), &more.job(), &store, Locking::Take).expect("a report");
    assert_eq!(report.errors.first().map(|error| error.code), Some(Code::StoreChanged));
    assert_eq!(get(&store, ALL).as_deref(), Some("another run's state"));
    assert!(get(&store, ".dropforge/unfinished").is_some(), "the next run has to know");
}

#[test]
fn stores_without_conditions_need_no_lock() {
    for faulty in [Faulty { plain: true, ..Faulty::default() }, Faulty { blind: true, ..Faulty::default() }] {
        let store = Arc::new(faulty).store();
        let setup = Setup::new(&numbered(4, |_| ""));
        assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::NoConditions));
        for expected in [(8, 0, 0, 0), (0, 0, 8, 0)] {
            let report = stamp_to_store(&Fake, &setup.job(), &store, Locking::Without).expect("a report");
            assert_eq!(counts(&report), expected);
        }
        assert_eq!(get(&store, LOCK), None);
    }
}

#[test]
fn a_store_that_goes_down_ends_the_run() {
    let faulty = Arc::new(Faulty::default());
    let patience = Patience { total: Duration::from_millis(100), ..faulty.store().patience() };
    let store = faulty.store().with_patience(patience);
    struct Unplugs(Arc<Faulty>);
    impl Stamp for Unplugs {
        fn work(&self, body: &mut dyn FnMut(&mut dyn crate::Renderer)) {
            self.0.down.store(true, Ordering::SeqCst);
            body(&mut Fake);
        }
    }
    let setup = Setup::new(&numbered(2_000, |_| ""));
    let ended = stamp_to_store(&Unplugs(faulty.clone()), &setup.job(), &store, Locking::Without);
    let codes: Vec<_> = match ended {
        Ok(report) => report.errors.iter().map(|error| error.code).collect(),
        Err(error) => vec![error.code],
    };
    assert_eq!(codes, [Code::StoreUnreachable]);
    faulty.down.store(false, Ordering::SeqCst);
    assert_eq!(get(&store, ALL), None);
    let report = stamp(&setup, &store).expect("mended");
    assert_eq!(counts(&report).2, 0);
    assert_eq!(changes(&setup, &store).len(), 0);
}

#[test]
fn a_run_that_may_not_write_ends_soon() {
    let faulty = Arc::new(Faulty { denied: true.into(), ..Faulty::default() });
    let (store, setup) = (faulty.store(), Setup::new(&numbered(2_000, |_| "")));
    assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::StoreDenied));
    assert!(faulty.puts.load(Ordering::SeqCst) < 1_000);
    faulty.denied.store(false, Ordering::SeqCst);
    let report = stamp(&setup, &store).expect("mended");
    assert_eq!((report.created + report.updated, report.unchanged, report.failed), (4_000, 0, 0));
}

#[test]
fn one_object_holds_the_whole_fleet() {
    let store = Arc::new(Faulty { before: 8.into(), ..Faulty::default() }).store();
    let setup = Setup::new(&numbered(30, |_| ""));
    let run = |setup: &Setup| stream_to_store(&Fake, &setup.job(), &store, "all.yaml").expect("a report").1;
    assert_eq!([run(&setup), run(&setup)], [Some(Change::Create), Some(Change::Unchanged)]);
    let text = get(&store, "all.yaml").expect("an object");
    assert!(text.starts_with("---\n# Source: c0/a\nname: c0\n") && text.ends_with("name: c29\n"));
    assert_eq!(run(&Setup::new(&numbered(30, |n| if n == 3 { ",\"fail\":\"x\"" } else { "" }))), None);
    assert_eq!(get(&store, "all.yaml"), Some(text));
    assert_eq!(run(&Setup::new(&numbered(29, |_| ""))), Some(Change::Update));
}

#[test]
fn the_state_of_a_prefix_tells_what_made_an_object() {
    let store = Arc::new(Faulty { before: 8.into(), ..Faulty::default() }).store();
    assert!(State::of_store(&store).expect("read").is_none());
    stamp(&Setup::new(&numbered(9, |_| "")), &store).expect("a report");
    let state = State::of_store(&store).expect("read").expect("a state");
    let maker = |path: &str, content: &[u8]| state.maker(path, content).expect("a list");
    let found = maker("c3/a", &Setup::content("c3", "a.t")).expect("a maker");
    assert_eq!((&*found.cluster, &*found.template, found.is_unchanged, found.run), ("c3", "a.t", true, None));
    assert!(!maker("c3/a", b"other").expect("a maker").is_unchanged);
    assert_eq!(maker("c9/a", b""), None);
    put(&store, ALL, "{");
    assert_eq!(State::of_store(&store).map_err(|error| error.code).err(), Some(Code::BadManifest));
}
