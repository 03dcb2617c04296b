//! Templates and values by URL, with the command.

use std::process::Command;

use dropforge::remote::{Condition, Kind};

use crate::servers::Server;
use crate::stores::{open, s3_settings};

#[test]
fn templates_values_and_artifacts_are_read_from_a_bucket() {
    let server = Server::s3();
    let store = open(Kind::S3, s3_settings(server.address), "");
    let put = |key: &str, text: &str| {
        store.put(key, text.to_owned().into(), Condition::Always).expect("put");
    };
    put("t/app.yaml.tera", "{% include \"parts/name.tera\" %}\n");
    put("t/parts/name.tera", "name: {{ name }}");
    put("values/prod.yaml", "name: prod\n");
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("local.yaml"), "name: local\n").expect("a file");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        command.current_dir(dir.path()).args(args).env("DROPFORGE_CACHE", "").envs(s3_settings(server.address));
        let output = command.env("TMPDIR", dir.path()).output().expect("the command runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, _, errors) = run(&["compile", "s3://fleet/t", "-o", "t.mpk"]);
    assert_eq!(code, Some(0), "{errors}");
    let bytes = std::fs::read(dir.path().join("t.mpk")).expect("the artifact");
    store.put("art/t.mpk", bytes.into(), Condition::Always).expect("put");
    let artifact = ["render", "s3://fleet/art/t.mpk", "-t", "app.yaml.tera", "-f"];
    for (values, result) in [("s3://fleet/values/prod.yaml", "name: prod\n"), ("local.yaml", "name: local\n")] {
        let (code, text, errors) = run(&[&artifact[..], &[values]].concat());
        assert_eq!((code, text.as_str()), (Some(0), result), "{errors}");
    }
    let values = format!("file://{}", dir.path().join("local.yaml").display());
    assert_eq!(run(&[&artifact[..], &[&values]].concat()).1, "name: local\n");
    let (_, text, errors) = run(&["render", "s3://fleet/t/", "--set", "name=x"]);
    assert!(text.contains("name: x"), "{text}{errors}");
    for (args, part) in [
        (["render", "s3://fleet/none", "--set", "a=1"], "cannot read `s3://fleet/none`: it does not exist"),
        (["render", "s3://fleet/a/../b", "--set", "a=1"], "a key has no `..`"),
        (["render", "s3://fleet/t/", "-f", "s3://fleet/values/no.yaml"], "it does not exist"),
        (["render", "s3://fleet/t/", "-f", "s3://fleet"], "names a bucket, not an object"),
        (["render", "s3://fleet/t/", "-f", "https://example.com/x"], "URLs are not read"),
    ] {
        let (code, _, errors) = run(&args);
        assert!(code != Some(0) && errors.contains(part), "{args:?}: {errors}");
    }
    let stamp = ["stamp", "s3://fleet/t", "--fleet", "s3://fleet/clusters.ndjson", "-o", "out"];
    put("clusters.ndjson", "{\"name\":\"eu\"}\n{\"name\":\"us\"}\n");
    let (code, _, errors) = run(&stamp);
    assert_eq!(code, Some(0), "{errors}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join("out").join(name)).expect("an output");
    assert_eq!(read("us/app.yaml"), "name: us\n");
    assert!(read(".dropforge/clusters/eu.state").contains(" - s3://fleet/t/app.yaml.tera "));
    let (code, _, errors) = run(&[&stamp[..], &["--watch"]].concat());
    assert!(code == Some(2) && errors.contains("`--watch` does not apply"), "{errors}");
    let (code, _, errors) = run(&[&stamp[..], &["s3://fleet/other"]].concat());
    assert!(code == Some(2) && errors.contains("cannot be combined with other templates"), "{errors}");
    std::fs::remove_dir_all(dir.path().join("out")).expect("the directory");
    // Copies are deleted.
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}
