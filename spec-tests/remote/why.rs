//! `why` for outputs in buckets.

use std::process::Command;

use dropforge::remote::{Condition, Kind, Store};
use tempfile::TempDir;

use crate::proxy::{Fault, Proxy};
use crate::servers::Server;
use crate::stores::{azure_settings, open, s3_settings};

type Settings = Vec<(String, String)>;

/// A folder with a template, values and a fleet, and a store.
struct World {
    dir: TempDir,
    settings: Settings,
}

impl World {
    fn new(settings: Settings) -> Self {
        let world = Self { dir: tempfile::tempdir().expect("a directory"), settings };
        world.write("app.yaml.tera", "name: {{ name }}\nversion: {{ version }}\n");
        world.write("values.yaml", "version: 1\n");
        world.write("fleet.csv", "name,version\neu,7\nus,\n");
        world
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).expect("a file");
    }

    /// Runs a command. Returns the exit code, and both outputs.
    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        command.current_dir(self.dir.path()).env("DROPFORGE_CACHE", "").envs(self.settings.iter().cloned());
        let output = command.args(args).output().expect("the command runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn stamp(&self, url: &str, more: &[&str]) {
        let args = ["stamp", "app.yaml.tera", "--fleet", "fleet.csv", "-f", "values.yaml", "-o", url];
        let (code, _, errors) = self.run(&[&args, more].concat());
        assert_eq!(code, Some(0), "{errors}");
    }

    /// Asks for a place that has an answer without warnings.
    fn why(&self, place: &str) -> String {
        let (code, text, errors) = self.run(&["why", place]);
        assert!(code == Some(0) && errors.is_empty(), "{place}: {errors}");
        text
    }

    /// Asks for a place that has none.
    fn refused(&self, place: &str, code: i32, parts: &[&str]) {
        let (found, _, errors) = self.run(&["why", place]);
        assert!(found == Some(code) && parts.iter().all(|part| errors.contains(part)), "{place}: {found:?} {errors}");
    }
}

/// The answer for the version of the cluster `eu`.
const ANSWER: &str = "written by  version
              at app.yaml.tera:2:13
value of    version = `7`
              from cluster `eu` (fleet.csv:2:4)
              over values.yaml:1:10
";

fn life(world: &World, store: &Store, url: &str) {
    world.stamp(url, &[]);
    for place in [format!("{url}/eu/app.yaml:2"), format!("{url}/eu/app.yaml:2:10")] {
        let head = format!("{url}/eu/app.yaml:2:10 (cluster `eu`)\n  version: 7\n           ^\n");
        assert_eq!(world.why(&place), head + ANSWER);
    }
    world.write("values.yaml", "version: 1\n# More.\n");
    let (code, text, errors) = world.run(&["why", &format!("{url}/eu/app.yaml:2")]);
    assert!(code == Some(0) && text.ends_with(ANSWER), "{text}{errors}");
    assert_eq!(errors, "warning: `values.yaml` was changed after the run\n");
    let (_, text, errors) = world.run(&["why", &format!("{url}/us/app.yaml:1"), "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&answer["cluster"], &answer["file"]), (&"us".into(), &format!("{url}/us/app.yaml").into()), "{errors}");
    // An object that someone else has written since.
    store.put("eu/app.yaml", "# Mine.\nversion: 7\n".into(), Condition::Always).expect("put");
    let (code, text, errors) = world.run(&["why", &format!("{url}/eu/app.yaml:2")]);
    assert!(code == Some(0) && text.contains("at app.yaml.tera:2:13"), "{text}{errors}");
    assert!(errors.contains(&format!("`{url}/eu/app.yaml` was changed after it was written")), "{errors}");
}

#[test]
fn s3() {
    let server = Server::s3();
    let settings = s3_settings(server.address);
    life(&World::new(settings.clone()), &open(Kind::S3, settings, "why/prod"), "s3://fleet/why/prod");
}

#[test]
fn azure() {
    let server = Server::azure();
    let settings = azure_settings(server.address);
    life(&World::new(settings.clone()), &open(Kind::Azure, settings, "why"), "az://fleet/why");
}

#[test]
fn templates_and_values_are_compared_by_their_urls() {
    let server = Server::s3();
    let world = World::new(s3_settings(server.address));
    let store = open(Kind::S3, s3_settings(server.address), "");
    let put = |key: &str, text: &str| {
        store.put(key, text.to_owned().into(), Condition::Always).expect("put");
    };
    put("t/app.yaml.tera", "{% include \"lib/_name.tera\" %}\n");
    put("t/lib/_name.tera", "name: {{ name }}\nx: {{ x }}");
    put("t/plain.yaml", "a: 1\n");
    put("values.yaml", "x: 1\n");
    put("fleet.ndjson", "{\"name\":\"eu\"}\n");
    for out in ["out", "s3://fleet/out"] {
        let args = ["stamp", "s3://fleet/t/", "--fleet", "s3://fleet/fleet.ndjson", "-f", "s3://fleet/values.yaml"];
        let (code, _, errors) = world.run(&[&args[..], &["-o", out]].concat());
        assert_eq!(code, Some(0), "{errors}");
        let text = world.why(&format!("{out}/eu/app.yaml:2"));
        assert!(text.contains("from s3://fleet/values.yaml:1:4\n"), "{text}");
    }
    let state = std::fs::read_to_string(world.dir.path().join("out/.dropforge/runs")).expect("a state");
    for name in ["s3://fleet/values.yaml", "s3://fleet/t/lib/_name.tera"] {
        assert!(state.contains(&format!("\"{name}\": \"")), "{state}");
    }
    let temporary = std::env::temp_dir().display().to_string();
    assert!(!state.contains("\"\"") && !state.contains(temporary.trim_matches('/')), "{state}");
    put("t/lib/_name.tera", "name: {{ name }}\nx:  {{ x }}");
    put("values.yaml", "x: 2\n");
    put("fleet.ndjson", "{\"name\": \"eu\"}\n");
    let (_, _, errors) = world.run(&["why", "s3://fleet/out/eu/app.yaml:1"]);
    let expected = ["fleet.ndjson", "t/lib/_name.tera", "values.yaml"]
        .map(|name| format!("warning: `s3://fleet/{name}` was changed after the run\n"));
    assert_eq!(errors, expected.concat());
}

#[test]
fn mistakes_are_named() {
    let server = Server::s3();
    let world = World::new(s3_settings(server.address));
    let store = open(Kind::S3, s3_settings(server.address), "");
    let put = |key: &str, bytes: &'static [u8]| {
        store.put(key, bytes.into(), Condition::Always).expect("put");
    };
    world.stamp("s3://fleet/ok", &[]);
    let missing = "cannot read `s3://fleet/ok/eu/none.yaml`: it does not exist";
    world.refused("s3://fleet/ok/eu/none.yaml:1", 1, &["E1103", missing]);
    world.refused("s3://nobody/eu/app.yaml:1", 1, &["E1103"]);
    world.refused("s3://fleet/ok/eu/app.yaml", 2, &["E0921", "names no line"]);
    world.refused("s3://fleet/ok/eu/app.yaml:9", 2, &["has 2 lines, so no line 9"]);
    world.refused("s3://fleet/ok/../eu/app.yaml:1", 2, &["a key has no `..`"]);
    world.refused("s3://fleet:1", 2, &["`s3://fleet` names no object"]);
    world.refused("oci://localhost/x:1", 2, &["names no object"]);
    put("ok/eu/other.yaml", b"a: 1\n");
    let unlisted = "the state `s3://fleet/ok/.dropforge` does not list `eu/other.yaml`";
    world.refused("s3://fleet/ok/eu/other.yaml:1", 2, &[unlisted]);
    put("none/app.yaml", b"a: 1\n");
    world.refused("s3://fleet/none/app.yaml:1", 2, &["no prefix above `s3://fleet/none/app.yaml` has a state"]);
    put("app.yaml", b"a: 1\n");
    world.refused("s3://fleet/app.yaml:1", 2, &["no prefix above `s3://fleet/app.yaml`"]);
    put("bad/app.yaml", b"a: 1\n");
    put("bad/.dropforge/runs", b"{\"version\":3,");
    world.refused("s3://fleet/bad/app.yaml:1", 1, &["E0920", "is not a valid state"]);
    put("ok/eu/app.yaml", b"\xff\n");
    world.refused("s3://fleet/ok/eu/app.yaml:1", 1, &["is not valid UTF-8"]);
    // A command needs no state.
    let command = ["why", "s3://fleet/none/app.yaml:1", "--", "render", "a.tera", "--set", "a=1"];
    world.write("a.tera", "a: {{ a }}\n");
    let (code, text, errors) = world.run(&command);
    assert!(code == Some(0) && text.contains("from --set a\n"), "{text}{errors}");
}

#[test]
fn a_store_that_disturbs_requests_still_answers() {
    let server = Server::s3();
    let proxy = Proxy::start(server.address, |number, _| match number % 3 {
        0 => [Fault::BusyAfter, Fault::ResetAfter, Fault::Cut][number / 3 % 3],
        _ => Fault::None,
    });
    World::new(s3_settings(server.address)).stamp("s3://fleet/disturbed", &[]);
    let world = World::new(s3_settings(proxy.address));
    let text = world.why("s3://fleet/disturbed/eu/app.yaml:2");
    assert!(text.ends_with(ANSWER) && proxy.faulty() > 0, "{text}");
}

#[test]
fn outputs_in_packs() {
    let server = Server::s3();
    let world = World::new(s3_settings(server.address));
    world.write("other.yaml.tera", "other: {{ name }}\n");
    let formats = ["tar.zst", "parquet"];
    for format in formats {
        for out in [format!("s3://fleet/packs/{format}"), format!("packs/{format}")] {
            world.stamp(&out, &["other.yaml.tera", "--pack", format]);
            let head = format!("{out}/eu/app.yaml:2:10 (cluster `eu`)\n");
            let text = world.why(&format!("{out}/eu/app.yaml:2"));
            assert!(text.starts_with(&head) && text.ends_with(ANSWER), "{text}");
            assert!(world.why(&format!("{out}/us/other.yaml:1")).contains("at other.yaml.tera:1:11\n"));
        }
    }
    // Only what the output comes from is compared.
    world.write("other.yaml.tera", "other: {{ name }}\n\n");
    world.write("values.yaml", "version: 1\n\n");
    for out in formats.map(|format| format!("s3://fleet/packs/{format}")) {
        let (_, text, errors) = world.run(&["why", &format!("{out}/eu/app.yaml:2")]);
        assert!(text.ends_with(ANSWER), "{text}{errors}");
        assert_eq!(errors, "warning: `values.yaml` was changed after the run\n");
        let missing = format!("cannot read `{out}/eu/none.yaml`: it does not exist");
        world.refused(&format!("{out}/eu/none.yaml:1"), 1, &["E1103", &missing]);
    }
    world.refused("packs/tar.zst/eu/none.yaml:1", 1, &["cannot read `packs/tar.zst/eu/none.yaml`"]);
    // The packs of a shard are in a folder of its own.
    for shard in ["0/2", "1/2"] {
        world.stamp("shards", &["--pack", "tar.zst", "--shard", shard]);
    }
    let folders = ["shards/shard-0-of-2", "shards/shard-1-of-2"];
    let answers = folders.map(|folder| world.run(&["why", &format!("{folder}/eu/app.yaml:2")]).1);
    assert_eq!(answers.iter().filter(|text| text.ends_with(ANSWER)).count(), 1, "{answers:?}");
}

#[test]
fn packs_that_are_damaged_are_named() {
    let server = Server::s3();
    let world = World::new(s3_settings(server.address));
    let store = open(Kind::S3, s3_settings(server.address), "packs");
    let (url, place) = ("s3://fleet/packs", "s3://fleet/packs/eu/app.yaml:1");
    world.stamp(url, &["--pack", "tar.zst"]);
    let put = |key: &str, bytes: Vec<u8>| {
        store.put(key, bytes.into(), Condition::Always).expect("put");
    };
    let get = |key: &str| store.get(key, 1 << 20).expect("read").expect("an object").bytes.to_vec();
    let (list, index, pack) = (get(".dropforge/packs"), get("pack-00000.index.json"), get("pack-00000.tar.zst"));
    let damaged: Vec<u8> = pack.iter().map(|byte| byte ^ 1).collect();
    put("pack-00000.tar.zst", damaged);
    world.refused(place, 1, &["E1110", "does not have the content of the index"]);
    store.delete("pack-00000.tar.zst").expect("deleted");
    world.refused(place, 1, &["E1103", "pack-00000.tar.zst`: it does not exist"]);
    put("pack-00000.tar.zst", pack);
    put("pack-00000.index.json", b"{}".to_vec());
    world.refused(place, 1, &["E0920", "pack-00000.index.json` is not the index of a pack"]);
    put("pack-00000.index.json", index);
    // A list of a version without the options of the run.
    let text = String::from_utf8(list).expect("text");
    let (start, end) = (text.find(",\"run\":").expect("a run"), text.find(",\"packs\":").expect("packs"));
    put(".dropforge/packs", (text[..start].to_owned() + &text[end..]).into_bytes());
    world.refused(place, 2, &["does not have the options of the run"]);
    put(".dropforge/packs", b"{\"version\":9}".to_vec());
    world.refused(place, 1, &["E0920", "is not a valid list of packs"]);
}
