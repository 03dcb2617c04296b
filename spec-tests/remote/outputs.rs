//! `stamp` into buckets, with faults on the way, kills and races for the lock.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dropforge::remote::{Condition, Kind, LOCK, Store};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::proxy::{Fault, Proxy};
use crate::servers::Server;
use crate::stores::{azure_settings, open, s3_settings};

/// A folder with a template and a fleet of `clusters`.
struct World {
    dir: TempDir,
}

impl World {
    fn new(clusters: usize) -> Self {
        let world = Self { dir: tempfile::tempdir().expect("a directory") };
        std::fs::create_dir_all(world.dir.path().join("t")).expect("a directory");
        world.write("t/app.yaml.tera", "name: {{ name }}\nversion: {{ version }}\n");
        world.write("t/svc.yaml.tera", "service: {{ name }}\n");
        world.fleet(clusters);
        world.write("values.yaml", "version: 1\n");
        world
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).expect("a file");
    }

    fn fleet(&self, clusters: usize) {
        self.write("fleet.ndjson", &(0..clusters).map(|n| format!("{{\"name\":\"c{n}\"}}\n")).collect::<String>());
    }

    fn command(&self, settings: &[(String, String)], args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        command.current_dir(self.dir.path()).env("DROPFORGE_CACHE", "").envs(settings.iter().cloned());
        command.args(["stamp", "t", "--fleet", "fleet.ndjson", "-f", "values.yaml"]).args(args);
        command
    }

    /// Runs the command. Returns the exit code, and both outputs.
    fn run(&self, settings: &[(String, String)], args: &[&str]) -> (Option<i32>, String) {
        done(self.command(settings, args).output().expect("the command runs"))
    }

    fn start(&self, settings: &[(String, String)], args: &[&str]) -> Child {
        let mut command = self.command(settings, args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs")
    }
}

fn done(output: Output) -> (Option<i32>, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// Returns the objects below the prefix, without those of dropforge.
fn objects(store: &Store) -> BTreeMap<String, String> {
    let keys = store.list("").expect("a listing").map(|one| one.expect("an entry").key);
    let outputs = keys.filter(|key| !key.starts_with('.'));
    let read = |key: &str| store.get(key, 1 << 20).expect("read").expect("an object").bytes.to_vec();
    outputs.map(|key| (key.clone(), String::from_utf8_lossy(&read(&key)).into_owned())).collect()
}

/// Returns the objects that a run makes.
fn expected(clusters: usize, version: u32) -> BTreeMap<String, String> {
    let of = |n: usize| {
        let app = (format!("c{n}/app.yaml"), format!("name: c{n}\nversion: {version}\n"));
        [app, (format!("c{n}/svc.yaml"), format!("service: c{n}\n"))]
    };
    (0..clusters).flat_map(of).collect()
}

/// The whole life of a prefix.
fn life(kind: Kind, url: &str, settings: &[(String, String)], prefix: &str) {
    let (world, store) = (World::new(12), open(kind, settings.to_vec(), prefix));
    let run = |args: &[&str]| world.run(settings, &[&["-o", url], args].concat());
    let (code, text) = run(&["--check"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains(&format!("create {url}/c0/app.yaml")), "{text}");
    let (code, text) = run(&[]);
    assert!(code == Some(0) && text.contains("24 new, 0 unchanged"), "{code:?} {text}");
    assert_eq!(objects(&store), expected(12, 1));
    let (code, text) = run(&[]);
    assert!(code == Some(0) && text.contains(": 24 unchanged"), "{code:?} {text}");
    assert_eq!(run(&["--check"]).0, Some(0));
    world.write("values.yaml", "version: 2\n");
    let (code, text) = run(&["--diff"]);
    assert!(code == Some(3) && text.contains("-version: 1\n") && text.contains("+version: 2\n"), "{text}");
    let (code, text) = run(&[]);
    assert!(code == Some(0) && text.contains("12 changed, 12 unchanged"), "{code:?} {text}");
    world.fleet(9);
    let (code, text) = run(&["--prune"]);
    assert!(code == Some(0) && text.contains("6 deleted"), "{code:?} {text}");
    assert_eq!(objects(&store), expected(9, 2));
    world.fleet(2);
    let (code, text) = run(&["--prune"]);
    assert!(code == Some(2) && text.contains("--prune-force"), "{code:?} {text}");
    assert_eq!(run(&["--prune", "--prune-force"]).0, Some(0));
    assert_eq!(objects(&store), expected(2, 2));
    store.put("c2/app.yaml", "mine".into(), Condition::Always).expect("put");
    world.fleet(3);
    let (code, text) = run(&[]);
    assert!(code == Some(2) && text.contains("did not write it"), "{code:?} {text}");
    assert_eq!(run(&["--force"]).0, Some(0));
    assert_eq!(objects(&store), expected(3, 2));
}

#[test]
fn s3() {
    let server = Server::shared_s3("outputs");
    life(Kind::S3, "s3://fleet/life/s3", &s3_settings(server.address), "life/s3");
}

#[test]
fn azure() {
    let server = Server::azure();
    life(Kind::Azure, "az://fleet/life", &azure_settings(server.address), "life");
}

/// Returns a proxy that disturbs two of five requests.
fn disturbed(server: SocketAddr) -> Proxy {
    Proxy::start(server, |number, _| match number % 5 {
        // A request that hangs takes the 30 seconds of the command's timeout.
        0 | 2 => match Fault::ALL[1 + number / 5 % 7] {
            Fault::Hang => Fault::Cut,
            fault => fault,
        },
        _ => Fault::None,
    })
}

#[test]
fn nothing_is_lost_and_nothing_is_half_while_requests_fail() {
    let server = Server::shared_s3("outputs");
    let proxy = disturbed(server.address);
    let (world, settings) = (World::new(60), s3_settings(proxy.address));
    let clean = open(Kind::S3, s3_settings(server.address), "faults");
    for version in [1, 2] {
        world.write("values.yaml", &format!("version: {version}\n"));
        let (code, text) = world.run(&settings, &["-o", "s3://fleet/faults"]);
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(objects(&clean), expected(60, version));
    }
    let (code, text) = world.run(&settings, &["-o", "s3://fleet/faults"]);
    assert!(code == Some(0) && text.contains(": 120 unchanged"), "{text}");
    assert_eq!(world.run(&settings, &["-o", "s3://fleet/faults", "--check"]).0, Some(0));
    assert!(proxy.faulty() > 100);
}

/// Returns a proxy that delays puts of outputs, so that a run can be stopped among them, and their number.
fn slow(server: SocketAddr) -> (Proxy, Arc<AtomicUsize>) {
    let puts = Arc::new(AtomicUsize::new(0));
    let count = puts.clone();
    let proxy = Proxy::start(server, move |_, line| {
        if line.starts_with("PUT") && line.contains("/c") {
            count.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(30));
        }
        Fault::None
    });
    (proxy, puts)
}

fn wait_for(puts: &AtomicUsize, count: usize) {
    let began = Instant::now();
    while puts.load(Ordering::SeqCst) < count && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has_put() {
    let server = Server::shared_s3("outputs");
    let (proxy, puts) = slow(server.address);
    let world = World::new(400);
    let child = world.start(&s3_settings(proxy.address), &["-o", "s3://fleet/interrupted"]);
    wait_for(&puts, 40);
    kill_process(Pid::from_child(&child), Signal::INT).expect("interrupted");
    let (code, text) = done(child.wait_with_output().expect("ended"));
    assert_eq!(code, Some(130), "{text}");
    let direct = s3_settings(server.address);
    let half = objects(&open(Kind::S3, direct.clone(), "interrupted")).len();
    assert!((40..800).contains(&half), "{half}");
    // The lock was released, and the manifest lists the objects.
    let (code, text) = world.run(&direct, &["-o", "s3://fleet/interrupted"]);
    assert!(code == Some(0) && text.contains(&format!("{} new, {half} unchanged", 800 - half)), "{code:?} {text}");
}

#[test]
fn a_killed_run_is_mended_by_the_next() {
    let server = Server::shared_s3("outputs");
    let (proxy, puts) = slow(server.address);
    let (world, slow) = (World::new(150), s3_settings(proxy.address));
    let (direct, store) = (s3_settings(server.address), open(Kind::S3, s3_settings(server.address), "killed"));
    for (version, kill_at) in [(1, 40), (2, 120)] {
        puts.store(0, Ordering::SeqCst);
        world.write("values.yaml", &format!("version: {version}\n"));
        let mut child = world.start(&slow, &["-o", "s3://fleet/killed"]);
        wait_for(&puts, kill_at);
        child.kill().expect("killed");
        child.wait().expect("ended");
        let half = objects(&store);
        let (old, new) = (expected(150, 1), expected(150, 2));
        assert!(half.iter().all(|(key, text)| [old.get(key), new.get(key)].contains(&Some(text))), "whole objects");
        assert!(!half.is_empty() && half != expected(150, version), "{}", half.len());
        // The lock of the dead run is held for two minutes.
        let (code, text) = world.run(&direct, &["-o", "s3://fleet/killed"]);
        assert!(code == Some(1) && text.contains("--break-lock"), "{code:?} {text}");
        let (code, text) = world.run(&direct, &["-o", "s3://fleet/killed", "--break-lock"]);
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(objects(&store), expected(150, version));
        let (code, text) = world.run(&direct, &["-o", "s3://fleet/killed"]);
        assert!(code == Some(0) && text.contains(": 300 unchanged"), "{text}");
    }
}

#[test]
fn one_of_several_runs_has_the_lock() {
    let server = Server::shared_s3("outputs");
    let proxy = Proxy::start(server.address, |_, _| Fault::None);
    let (world, settings) = (World::new(100), s3_settings(proxy.address));
    let children: Vec<_> = (0..4).map(|_| world.start(&settings, &["-o", "s3://fleet/race"])).collect();
    let results: Vec<_> = children.into_iter().map(|child| done(child.wait_with_output().expect("ended"))).collect();
    // A run that comes after the end of another finds everything unchanged.
    assert!(results.iter().any(|(code, _)| *code == Some(0)), "{results:?}");
    for (code, text) in &results {
        let is_locked = *code == Some(1) && text.contains("is locked by process");
        assert!(*code == Some(0) || is_locked, "{code:?} {text}");
    }
    let store = open(Kind::S3, s3_settings(server.address), "race");
    assert_eq!(objects(&store), expected(100, 1));
    assert!(store.head(LOCK).expect("read").is_some());
}

#[test]
fn packs_and_single_objects() {
    let server = Server::shared_s3("outputs");
    let proxy = disturbed(server.address);
    let (world, settings) = (World::new(50), s3_settings(proxy.address));
    let store = open(Kind::S3, s3_settings(server.address), "packs");
    let run = |args: &[&str]| world.run(&settings, args);
    for format in ["tar.zst", "parquet"] {
        let url = format!("s3://fleet/packs/{format}");
        let pack = ["-o", url.as_str(), "--pack", format];
        let (code, text) = run(&[&pack[..], &["--check"]].concat());
        assert!(code == Some(3) && text.contains(&format!("create {url}/pack-00000.{format}")), "{code:?} {text}");
        let (code, text) = run(&pack);
        assert!(code == Some(0) && text.contains("1 new"), "{code:?} {text}");
        let (code, text) = run(&pack);
        assert!(code == Some(0) && text.contains(": 1 unchanged"), "{code:?} {text}");
        assert_eq!(run(&[&pack[..], &["--check"]].concat()).0, Some(0));
        let (code, text) = run(&[&pack[..], &["--diff"]].concat());
        assert!(code == Some(2) && text.contains("`--diff` does not apply to `--pack`"), "{text}");
    }
    // The same bytes in a directory, from another number of threads.
    // A killed run with packs leaves an empty record.
    std::fs::create_dir_all(world.dir.path().join("out/.dropforge")).expect("a directory");
    world.write("out/.dropforge/unfinished", "");
    let (code, text) = run(&["-o", "out", "--pack", "tar.zst", "-j", "1"]);
    assert!(!world.dir.path().join("out/.dropforge/unfinished").exists());
    assert_eq!(code, Some(0), "{text}");
    for name in ["pack-00000.tar.zst", "pack-00000.index.json"] {
        let object = store.get(&format!("tar.zst/{name}"), 1 << 20).expect("read").expect("an object");
        assert!(object.bytes == std::fs::read(world.dir.path().join("out").join(name)).expect("a file"), "{name}");
    }
    let single = ["--layout", "single", "-o", "s3://fleet/packs/all.yaml"];
    assert_eq!(run(&[&single[..], &["--check"]].concat()).0, Some(3));
    assert_eq!([run(&single).0, run(&[&single[..], &["--check"]].concat()).0], [Some(0), Some(0)]);
    let all = store.get("all.yaml", 1 << 20).expect("read").expect("an object");
    assert!(all.bytes.starts_with(b"---\n# Source: c0/app.yaml\nname: c0\n"));
    // A URL of a file is a path.
    let out = format!("file://{}", world.dir.path().join("files").display());
    assert_eq!(run(&["-o", &out]).0, Some(0));
    assert!(world.dir.path().join("files/c49/svc.yaml").is_file());
}

#[test]
fn errors_say_what_to_do() {
    let server = Server::shared_s3("outputs");
    let (world, settings) = (World::new(3), s3_settings(server.address));
    for (args, code, part) in [
        (&["-o", "s3://fleet/a/../b"][..], 2, "a key has no `..`"),
        (&["-o", "oci://localhost/x:y"], 2, "cannot be written to a registry"),
        (&["-o", "s3://fleet/w", "--watch"], 2, "`--watch` does not apply"),
        (&["-o", "out", "--no-lock"], 2, "`--no-lock` needs a prefix"),
        (&["-o", "out", "--pack", "zip"], 2, "expected `tar.zst` or `parquet`"),
        (&["-o", "s3://fleet/x", "--pack", "tar.zst", "--layout", "single"], 2, "`--pack` does not apply"),
        (&["-o", "s3://nobody/x"], 1, "s3://nobody/x"),
    ] {
        let (found, text) = world.run(&settings, args);
        assert!(found == Some(code) && text.contains(part), "{args:?}: {found:?} {text}");
    }
    let plain = [&settings[..], &[("AWS_CONDITIONAL_PUT".to_owned(), "disabled".to_owned())]].concat();
    let (code, text) = world.run(&plain, &["-o", "s3://fleet/plain"]);
    assert!(code == Some(2) && text.contains("--no-lock"), "{code:?} {text}");
    for new in ["6 new", ": 6 unchanged"] {
        let (code, text) = world.run(&plain, &["-o", "s3://fleet/plain", "--no-lock"]);
        assert!(code == Some(0) && text.contains(new), "{code:?} {text}");
    }
    // An object that cannot be put fails its cluster only.
    let proxy = Proxy::start(server.address, |_, _| Fault::None);
    let long = "x".repeat(122);
    let deep = [long.as_str(); 8].join("/");
    let (code, text) = world.run(
        &s3_settings(proxy.address),
        &[
            "-o",
            &format!("s3://fleet/{deep}"),
            "--layout",
            "{cluster}/a-rather-long-name-of-a-directory-for-this/{template}",
        ],
    );
    assert!(code == Some(4) && text.contains("1,024"), "{code:?} {text}");
}

/// Shards put objects of one prefix together, and a killed one is run again.
#[test]
fn shards() {
    let server = Server::shared_s3("outputs");
    let settings = s3_settings(server.address);
    let (world, store) = (World::new(40), open(Kind::S3, settings.clone(), "shards"));
    let url = "s3://fleet/shards";
    // Objects of an earlier fleet, which the finishing run deletes or changes.
    world.write("values.yaml", "version: 0\n");
    world.fleet(41);
    assert_eq!(world.run(&settings, &["-o", url]).0, Some(0));
    world.write("values.yaml", "version: 1\n");
    world.fleet(40);
    let shard = |n: usize| format!("{n}/4");
    let mut killed = world.start(&settings, &["-o", url, "--shard", &shard(3)]);
    thread::sleep(Duration::from_millis(60));
    killed.kill().expect("killed");
    // A fast one was done before.
    let was_cut = !killed.wait().expect("waited").success();
    let pods: Vec<Child> = (0..3).map(|n| world.start(&settings, &["-o", url, "--shard", &shard(n)])).collect();
    for pod in pods {
        let (code, text) = done(pod.wait_with_output().expect("waited"));
        assert_eq!(code, Some(0), "{text}");
    }
    if was_cut {
        let (code, text) = world.run(&settings, &["-o", url, "--finish", "4", "--prune", "--break-lock"]);
        assert!(code == Some(2) && text.contains("E0923") && text.contains("3/4"), "{text}");
    }
    // The lock of the killed shard may not have expired.
    let (code, text) = world.run(&settings, &["-o", url, "--shard", &shard(3), "--break-lock"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = world.run(&settings, &["-o", url, "--finish", "4", "--prune"]);
    assert!(code == Some(0) && text.contains("2 deleted"), "{code:?} {text}");
    assert_eq!(objects(&store), expected(40, 1));
    let own: Vec<String> =
        store.list(".dropforge/parts").expect("a listing").map(|one| one.expect("one").key).collect();
    assert!(own.is_empty(), "{own:?}");
    // The state has the tags of objects: nothing is put again.
    let (code, text) = world.run(&settings, &["-o", url]);
    assert!(code == Some(0) && text.contains(": 80 unchanged"), "{code:?} {text}");
}

/// Clusters of a pipe are put as they come.
#[test]
fn a_stream() {
    let server = Server::shared_s3("outputs");
    let settings = s3_settings(server.address);
    let (world, store) = (World::new(20), open(Kind::S3, settings.clone(), "stream"));
    let (code, text) = world.run(&settings, &["-o", "s3://fleet/stream", "--stream"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(objects(&store), expected(20, 1));
    let (code, text) = world.run(&settings, &["-o", "s3://fleet/stream", "--stream"]);
    assert!(code == Some(0) && text.contains(": 40 unchanged"), "{code:?} {text}");
}
