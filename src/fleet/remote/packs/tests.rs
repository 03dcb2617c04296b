//! Tests of packs, with a stand-in for the engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::remote::Locking;
use crate::remote::fake::{Fake, Setup, numbered};
use crate::{PlanShard, ReadFiles, ReadLog, RunOptions, Shard};
use dropforge_remote::faults::Faulty;
use dropforge_remote::pack::PackIndex;
use dropforge_remote::{LOCK, Lock, LockOptions, Store};

const SMALL: PackOptions = PackOptions { format: PackFormat::TarZst, bytes: 25 << 10, locking: Locking::Take };

/// Returns all objects but the lock.
fn objects(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let listed = store.list("").expect("a listing").map(|one| one.expect("an entry").key).filter(|key| key != LOCK);
    listed
        .map(|key| (key.clone(), store.get(&key, 1 << 20).expect("read").expect("an object").bytes.to_vec()))
        .collect()
}

fn stamp(setup: &Setup, store: &Store) -> Result<Report> {
    stamp_packs(&Fake, &setup.job(), &PackTarget::Store(store), &SMALL)
}

fn check(setup: &Setup, place: &PackTarget<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut note = |file: &FilePreview<'_>| {
        lines.push(format!("{:?} {}", file.change, file.path));
        Ok(())
    };
    let report = check_packs(&Fake, &setup.job(), place, &SMALL, &mut note).expect("compared");
    assert_eq!(report.created + report.updated + report.deleted, lines.len());
    lines
}

fn counts(report: &Report) -> (usize, usize, usize, usize) {
    (report.created, report.updated, report.unchanged, report.deleted)
}

#[test]
fn packs_hold_clusters_in_fleet_order_whatever_the_threads() {
    let mut setup = Setup::new(&numbered(60, |_| ""));
    let mut all = Vec::new();
    for threads in [1, 5] {
        setup.options.threads = threads;
        let faulty = Arc::new(Faulty { before: 8.into(), after: 8.into(), ..Faulty::default() });
        let report = stamp(&setup, &faulty.store()).expect("a report");
        assert!(report.errors.is_empty() && report.created == 6, "{report:?}");
        all.push(objects(&faulty.store()));
    }
    let [one, other] = &all[..] else { panic!("two runs") };
    let packs = |all: &BTreeMap<String, Vec<u8>>| {
        all.iter()
            .filter(|(key, _)| !key.starts_with('.'))
            .map(|(key, bytes)| (key.clone(), bytes.clone()))
            .collect::<Vec<_>>()
    };
    assert!(packs(one) == packs(other));
    let mut names = Vec::new();
    for (key, bytes) in one.iter().filter(|(key, _)| key.ends_with(".index.json")) {
        let index = PackIndex::parse(bytes).expect("an index");
        let pack = &one[&key.replace("index.json", "tar.zst")];
        for entry in &index.files {
            let content = index.read(entry, pack).expect("content");
            assert_eq!(content, Setup::content(&entry.cluster, &entry.template), "{}", entry.path);
            names.push(entry.path.clone());
        }
    }
    let expected: Vec<_> = (0..60).flat_map(|n| [format!("c{n}/a"), format!("c{n}/b")]).collect();
    assert_eq!(names, expected);
}

#[test]
fn unchanged_packs_are_not_put_again_and_stale_ones_are_pruned() {
    let faulty = Arc::new(Faulty::default());
    let store = faulty.store();
    let puts = || faulty.puts.load(std::sync::atomic::Ordering::SeqCst);
    let mut setup = Setup::new(&numbered(60, |_| ""));
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (6, 0, 0, 0));
    assert_eq!(check(&setup, &PackTarget::Store(&store)), Vec::<String>::new());
    let before = puts();
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 0, 6, 0));
    assert_eq!(puts() - before, 2, "only the lock is put");
    // One that someone else has changed is mended.
    store.put("pack-00002.tar.zst", "theirs".into(), dropforge_remote::Condition::Always).expect("put");
    assert_eq!(check(&setup, &PackTarget::Store(&store)), ["Some(Update) pack-00002.tar.zst"]);
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 1, 5, 0));
    assert_eq!(check(&setup, &PackTarget::Store(&store)), Vec::<String>::new());
    // A smaller fleet.
    setup = Setup::new(&numbered(40, |_| ""));
    let report = stamp(&setup, &store).expect("a report");
    assert_eq!(counts(&report), (0, 0, 4, 0));
    assert!(report.warnings.iter().any(|text| text.contains("2 packs of an earlier run")), "{:?}", report.warnings);
    setup.options.prune = true;
    assert_eq!(check(&setup, &PackTarget::Store(&store)), ["None pack-00004.tar.zst", "None pack-00005.tar.zst"]);
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (0, 0, 4, 2));
    assert_eq!(objects(&store).len(), 9);
    // Most packs are not pruned by accident.
    setup = Setup::new(&numbered(10, |_| ""));
    setup.options.prune = true;
    let report = stamp(&setup, &store).expect("a report");
    assert_eq!(report.errors.first().map(|error| error.code), Some(Code::MassDelete));
    assert_eq!(objects(&store).len(), 9);
    setup.options.prune_force = true;
    assert_eq!(stamp(&setup, &store).expect("a report").deleted, 3);
}

#[test]
fn a_run_that_stops_is_mended_by_the_next() {
    let faulty = Arc::new(Faulty::default());
    let store = faulty.store();
    let setup = Setup::new(&numbered(60, |_| ""));
    let lock = Lock::acquire(&store, LockOptions::default()).expect("the lock");
    assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::StoreLocked));
    drop(lock);
    // The list says that a run is writing, and there are packs that it does not name.
    let unfinished = PackList { complete: false, ..PackList::default() };
    let put =
        |key: &str, bytes: Vec<u8>| store.put(key, bytes.into(), dropforge_remote::Condition::Always).expect("put");
    put(place::LIST, unfinished.to_json());
    put("pack-00000.tar.zst", b"half a run".to_vec());
    let report = stamp(&setup, &store).expect("a report");
    assert_eq!((counts(&report), report.errors.len()), ((5, 1, 0, 0), 0));
    assert_eq!(check(&setup, &PackTarget::Store(&store)), Vec::<String>::new());
}

#[test]
fn packs_of_others_are_not_overwritten() {
    let store = Arc::new(Faulty::default()).store();
    let mut setup = Setup::new(&numbered(3, |_| ""));
    store.put("pack-00000.index.json", "mine".into(), dropforge_remote::Condition::Always).expect("put");
    assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::ForeignFile));
    setup.options.force = true;
    assert_eq!(counts(&stamp(&setup, &store).expect("a report")), (1, 0, 0, 0));
    for bad in [
        "",
        "{}",
        "{\"version\":2}",
        "{\"version\":1,\"hash\":\"blake3\",\"complete\":true,\"packs\":[{\"path\":\"../x\",\"hash\":\"\",\"outputs\":1,\"clusters\":[\"\",\"\"]}]}",
    ] {
        store.put(place::LIST, bad.into(), dropforge_remote::Condition::Always).expect("put");
        assert_eq!(stamp(&setup, &store).map_err(|error| error.code).err(), Some(Code::BadManifest), "{bad}");
    }
}

#[test]
fn clusters_that_fail_are_in_no_pack() {
    let store = Arc::new(Faulty::default()).store();
    let setup = Setup::new(&numbered(20, |n| if n == 7 { ",\"fail\":\"x\"" } else { "" }));
    let report = stamp(&setup, &store).expect("a report");
    assert_eq!((report.failed, report.created), (1, 2));
    let all = objects(&store);
    let indexes = all.iter().filter(|(key, _)| key.ends_with(".index.json"));
    let files: Vec<_> = indexes.flat_map(|(_, bytes)| PackIndex::parse(bytes).expect("an index").files).collect();
    assert_eq!(files.len(), 38);
    assert!(files.iter().all(|file| file.cluster != "c7"));
}

#[test]
fn directories_get_packs_too() {
    let temp = tempfile::tempdir().expect("a directory");
    let out = temp.path().join("out");
    let place = PackTarget::Directory(&out);
    let mut setup = Setup::new(&numbered(30, |_| ""));
    assert_eq!(check(&setup, &place).len(), 3);
    assert!(!out.exists());
    let run = |setup: &Setup| stamp_packs(&Fake, &setup.job(), &place, &SMALL).expect("a report");
    assert_eq!(counts(&run(&setup)), (3, 0, 0, 0));
    let names = |out: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(out).expect("a directory").map(|one| one.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&out).len(), 7, "{:?}", names(&out));
    assert_eq!((check(&setup, &place).len(), counts(&run(&setup))), (0, (0, 0, 3, 0)));
    fs::write(out.join("pack-00001.tar.zst"), "theirs").expect("written");
    assert_eq!(check(&setup, &place), ["Some(Update) pack-00001.tar.zst"]);
    assert_eq!(counts(&run(&setup)), (0, 1, 2, 0));
    setup = Setup::new(&numbered(20, |_| ""));
    setup.options.prune = true;
    assert_eq!(counts(&run(&setup)), (0, 0, 2, 1));
    assert_eq!(names(&out).len(), 5, "{:?}", names(&out));
}

#[cfg(feature = "arrow")]
#[test]
fn parquet_has_a_row_for_each_output() {
    use arrow_array::cast::AsArray;
    let options = PackOptions { format: PackFormat::Parquet, ..SMALL };
    let setup = Setup::new(&numbered(30, |_| ""));
    let mut all = Vec::new();
    for _ in 0..2 {
        let store = Arc::new(Faulty::default()).store();
        let report = stamp_packs(&Fake, &setup.job(), &PackTarget::Store(&store), &options).expect("a report");
        assert_eq!(counts(&report), (3, 0, 0, 0));
        let mut objects = objects(&store);
        objects.remove(place::LIST);
        all.push(objects);
    }
    assert!(all[0] == all[1] && all[0].len() == 3);
    let mut rows = 0;
    for bytes in all[0].values() {
        let bytes = bytes::Bytes::from(bytes.clone());
        let reader = ::parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(bytes, 1_000).expect("parquet");
        for batch in reader {
            let batch = batch.expect("a batch");
            let text = |column: usize, row: usize| batch.column(column).as_string::<i32>().value(row).to_owned();
            for row in 0..batch.num_rows() {
                let content = batch.column(3).as_binary::<i32>().value(row);
                assert_eq!(text(0, row), format!("c{}", rows / 2));
                assert_eq!(content, Setup::content(&text(0, row), &text(2, row)));
                assert_eq!(text(4, row), blake3::hash(content).to_hex().as_str());
                rows += 1;
            }
        }
    }
    assert_eq!(rows, 60);
}

/// Stamps all shards of `count` in a place, as parts of a plan.
fn stamp_shards(setup: &mut Setup, place: &PackTarget<'_>, plan: &str, count: u32) {
    for shard in (0..count).filter_map(|index| Shard::new(index, count)) {
        let all = Setup::new(setup.ndjson());
        setup.shard(PlanShard { plan: plan.to_owned(), shard });
        let report = stamp_packs(&Fake, &setup.job(), place, &SMALL).expect("a report");
        assert!(report.errors.is_empty() && report.failed == 0, "{report:?}");
        *setup = all;
    }
}

#[test]
fn shards_write_packs_of_their_own_and_a_last_run_checks_them() {
    let temp = tempfile::tempdir().expect("a directory");
    let store = Store::in_memory();
    for place in [PackTarget::Directory(&temp.path().join("out")), PackTarget::Store(&store)] {
        let mut setup = Setup::new(&numbered(60, |_| ""));
        let finish = |setup: &Setup, plan: &str, count| {
            finish_packs(&setup.job(), plan, count, &place, &SMALL).map_err(|error| error.code)
        };
        // Packs of a run without shards, and of another number of shards.
        stamp_packs(&Fake, &setup.job(), &place, &SMALL).expect("a report");
        stamp_shards(&mut setup, &place, "one", 2);
        assert_eq!(finish(&setup, "one", 3).err(), Some(Code::MissingPart));
        stamp_shards(&mut setup, &place, "one", 3);
        assert_eq!(finish(&setup, "two", 3).err(), Some(Code::MissingPart));
        let report = finish(&setup, "one", 3).expect("a report");
        assert!(report.unchanged >= 3 && report.warnings[0].contains("of an earlier run"), "{report:?}");
        setup.options.prune = true;
        setup.options.prune_force = true;
        let report = finish(&setup, "one", 3).expect("a report");
        assert!(report.deleted >= 8 && report.warnings.is_empty(), "{report:?}");
        let left = |place: &PackTarget<'_>| match place {
            PackTarget::Store(store) => objects(store),
            PackTarget::Directory(path) => files(path),
        };
        let paths: Vec<String> = left(&place).into_keys().filter(|path| path.contains("pack-")).collect();
        assert_eq!(paths.len(), report.unchanged * 2, "{paths:?}");
        assert!(paths.iter().all(|path| path.starts_with("shard-") && path.contains("-of-3/")), "{paths:?}");
        // A smaller fleet leaves stale packs in the folders of shards.
        setup = Setup::new(&numbered(30, |_| ""));
        stamp_shards(&mut setup, &place, "small", 3);
        setup.options.prune = true;
        assert_eq!(finish(&setup, "one", 3).err(), Some(Code::MissingPart));
        let report = finish(&setup, "small", 3).expect("a report");
        assert!(report.deleted > 0, "{report:?}");
        let index = |bytes: &Vec<u8>| PackIndex::parse(bytes).expect("an index").files.len();
        let indexes = left(&place).into_iter().filter(|(path, _)| path.ends_with(".index.json"));
        assert_eq!(indexes.map(|(_, bytes)| index(&bytes)).sum::<usize>(), 60);
    }
}

#[test]
fn a_shard_with_a_cluster_that_fails_is_not_done() {
    let store = Store::in_memory();
    let mut setup = Setup::new(&numbered(8, |n| if n == 5 { ",\"fail\":\"no\"" } else { "" }));
    for shard in (0..2).filter_map(|index| Shard::new(index, 2)) {
        let all = Setup::new(setup.ndjson());
        setup.shard(PlanShard { plan: "p".to_owned(), shard });
        stamp_packs(&Fake, &setup.job(), &PackTarget::Store(&store), &SMALL).expect("a report");
        setup = all;
    }
    let error = finish_packs(&setup.job(), "p", 2, &PackTarget::Store(&store), &SMALL).expect_err("an error");
    assert!(error.code == Code::MissingPart && error.message.starts_with("1 of 2 shards"), "{error}");
}

/// Returns all files below a directory.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut left, mut found) = (vec![root.to_owned()], BTreeMap::new());
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => left.push(path),
                false => {
                    let name = path.strip_prefix(root).expect("below").display().to_string();
                    found.insert(name, fs::read(&path).expect("a file"));
                }
            }
        }
    }
    found
}

#[test]
fn one_output_is_found_with_the_run_that_made_it() {
    let mut setup = Setup::new(&numbered(60, |_| ""));
    let (run, log) = (
        RunOptions { folder: Some("..".to_owned()), read: Some(ReadFiles::default()), ..RunOptions::default() },
        ReadLog::started(),
    );
    ["a.t", "b.t", "values.yaml"].iter().for_each(|name| log.note(name, name.as_bytes()));
    (setup.options.run, setup.options.read) = (Some(run), log);
    let (temp, store) = (tempfile::tempdir().expect("a directory"), Store::in_memory());
    let formats = [
        PackFormat::TarZst,
        #[cfg(feature = "arrow")]
        PackFormat::Parquet,
    ];
    for format in formats {
        let (out, below) = (temp.path().join(format.name()), store.below(format.name()));
        for place in [PackTarget::Directory(&out), PackTarget::Store(&below)] {
            assert_eq!(find_in_packs(&place, "c1/a").expect("no packs"), None);
            let report = stamp_packs(&Fake, &setup.job(), &place, &PackOptions { format, ..SMALL }).expect("a report");
            assert!(report.created > 3, "{report:?}");
            for cluster in ["c0", "c31", "c59"] {
                let PackedOutput { bytes, maker } =
                    find_in_packs(&place, &format!("{cluster}/b")).expect("packs").expect("an output");
                assert_eq!(bytes, Setup::content(cluster, "b.t"));
                assert_eq!((&*maker.cluster, &*maker.template, maker.is_unchanged), (cluster, "b.t", true));
                let read = maker.run.and_then(|run| run.read).expect("files");
                assert_eq!(read.into_keys().collect::<Vec<_>>(), ["b.t", "values.yaml"]);
            }
            for path in ["c60/b", "c1", "c1/b/x", ""] {
                assert_eq!(find_in_packs(&place, path).expect("packs"), None, "{path}");
            }
        }
        assert_eq!(packs_above(&out.join("c1/b")), Some(out.as_path()));
    }
    assert_eq!(packs_above(temp.path()), None);
}
