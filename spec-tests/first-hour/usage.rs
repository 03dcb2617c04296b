//! Mistakes in the command line.

use crate::support::Sandbox;

#[test]
fn usage_errors_are_complete_in_every_format() {
    let sandbox = Sandbox::new();
    for format in ["short", "json", "sarif", "github"] {
        let outcome = sandbox.run(&["stamp", "--error-format", format]).expect(2);
        outcome.says(&["E0921", "were not provided: ", "--fleet <FLEET>", "<TEMPLATES>...", "dropforge.toml"]);
    }
    let outcome = sandbox.run(&["stamp", "t", "--flet", "f", "--error-format", "short"]).expect(2);
    outcome.says(&["unexpected argument '--flet' found", "a similar argument exists: '--fleet'"]);
}

#[test]
fn a_directory_that_is_not_there_is_named_first() {
    let sandbox = Sandbox::with(&[("file", "")]);
    for args in
        [&["-C", "none", "stamp"][..], &["stamp", "-C", "none"], &["compile", "--chdir=none"], &["-C", "file", "check"]]
    {
        let outcome = sandbox.run(args).expect(2);
        assert!(!outcome.stderr.contains("required"), "{}", outcome.stderr);
        outcome.says(&["E0921", "cannot change to directory `"]);
    }
    sandbox.run(&["-C", ".", "stamp"]).expect(2).says(&["--fleet"]);
}

#[test]
fn an_empty_path_is_no_output() {
    let sandbox = Sandbox::with(&[("t.tera", "x"), ("f.ndjson", "{\"name\":\"a\"}\n")]);
    for output in [&["-o", ""][..], &["--output="]] {
        let outcome = sandbox.run(&[&["stamp", "t.tera", "--fleet", "f.ndjson"], output].concat()).expect(2);
        outcome.says(&["the path is empty"]);
    }
    assert_eq!(sandbox.tree("").len(), 2);
}

#[test]
fn a_project_is_advised_only_for_its_keys() {
    let sandbox = Sandbox::with(&[("f.ndjson", "{\"name\":\"a\"}\n")]);
    let outcome = sandbox.run(&["values", "--fleet", "f.ndjson"]).expect(2).says(&["--cluster <NAME>"]);
    assert!(!outcome.stderr.contains("dropforge.toml"), "{}", outcome.stderr);
    sandbox.run(&["stamp"]).expect(2).says(&["or write a `dropforge.toml` that sets them"]);
}

#[test]
fn keys_of_json_are_given_once() {
    let sandbox = Sandbox::with(&[
        ("t.tera", "{{ a }}"),
        ("v.json", "{\"a\": 1,\n \"a\": 2}"),
        ("f.json", "[{\"name\": \"x\", \"a\": {\"b\": 1, \"b\": 1}}]"),
    ]);
    sandbox.run(&["render", "t.tera", "-f", "v.json"]).expect(1).says(&["E0805", "v.json:2:4", "`a` is given twice"]);
    sandbox.run(&["stamp", "t.tera", "--fleet", "f.json", "-o", "out"]).expect(1).says(&["E0805", "f.json:1:32"]);
}
