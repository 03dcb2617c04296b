//! `dropforge hcl decode`: the flags, outputs and exit codes of `hcldec`.

use crate::support::Sandbox;

const SPEC: &str = r#"
variables { base = 8000 }
function "double" {
  params = [n]
  result = n * 2
}
object {
  attr "port" { type = number }
  attr "name" { type = string }
  block_map "route" {
    labels = ["path"]
    attr {
      name = "to"
      type = list(string)
    }
  }
}
"#;

const INPUT: &str = "port = base + double(40)\nroute \"/a\" { to = [\"<x>\", 1] }\n";

#[test]
fn values_are_printed_with_and_without_nulls_and_types() {
    let sandbox = Sandbox::with(&[("s.hcldec", SPEC), ("in.hcl", INPUT), ("more.hcl.json", r#"{"name": "${base}"}"#)]);
    let cases: &[(&[&str], &str)] = &[
        (&["in.hcl"], r#"{"port":8080,"route":{"/a":["\u003cx\u003e","1"]}}"#),
        (&["--keep-nulls", "in.hcl"], r#"{"name":null,"port":8080,"route":{"/a":["\u003cx\u003e","1"]}}"#),
        (&["in.hcl", "more.hcl.json"], r#"{"name":"8000","port":8080,"route":{"/a":["\u003cx\u003e","1"]}}"#),
        (
            &["--with-type", "-V", r#"{"base": 1}"#, "in.hcl"],
            r#"{"type":["object",{"name":"string","port":"number","route":["map",["list","string"]]}],"value":{"port":81,"route":{"/a":["\u003cx\u003e","1"]}}}"#,
        ),
    ];
    for (args, wanted) in cases {
        let got = sandbox.run(&[&["hcl", "decode", "--spec=s.hcldec"], *args].concat()).expect(0);
        assert_eq!(got.stdout, format!("{wanted}\n"), "{args:?}");
    }
    sandbox.run(&["hcl", "decode", "-s", "s.hcldec", "-o", "out.json", "in.hcl"]).expect(0);
    assert!(sandbox.read("out.json").ends_with("}\n"));
}

#[test]
fn variables_are_listed_with_their_steps() {
    let sandbox =
        Sandbox::with(&[("s.hcldec", "attr {\n name = \"a\"\n type = any\n}\n"), ("in.hcl", "a = x.y[\"k\"][0]\n")]);
    let args = ["hcl", "decode", "--spec=s.hcldec", "--var-refs", "--vars", r#"{"x": {"y": {"k": [5]}}}"#, "in.hcl"];
    let got: serde_json::Value = serde_json::from_str(&sandbox.run(&args).expect(0).stdout).unwrap();
    assert_eq!(got[0]["root_name"], "x");
    assert_eq!(got[0]["value"], 5);
    let kinds: Vec<_> = got[0]["steps"].as_array().unwrap().iter().map(|step| step["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["root", "attr", "index", "index"]);
    assert_eq!(got[0]["steps"][2]["key"], "k");
    assert_eq!(got[0]["range"]["end"], serde_json::json!({"line": 1, "column": 16, "byte": 15}));
}

#[test]
fn errors_are_one_json_document_and_exit_2() {
    let sandbox =
        Sandbox::with(&[("s.hcldec", SPEC), ("bad.hcl", "port = \"é\" + 1\nnope = 1\n"), ("open.hcl", "a {\n")]);
    let run = |file: &str| sandbox.run(&["hcl", "decode", "--spec=s.hcldec", "--diags=json", file]).expect(2);
    let document: serde_json::Value = serde_json::from_str(&run("bad.hcl").stderr).unwrap();
    let starts: Vec<_> = document["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["severity"].as_str().unwrap(), one["subject"]["start"]["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(starts, [("error", 2), ("error", 1)]);
    for file in ["open.hcl", "gone.hcl"] {
        let document: serde_json::Value = serde_json::from_str(&run(file).stderr).unwrap();
        assert_eq!(document["diagnostics"].as_array().unwrap().len(), 1, "{file}");
    }
}

#[test]
fn operational_errors_are_exit_1_and_usage_is_2() {
    let sandbox = Sandbox::with(&[
        ("s.hcldec", SPEC),
        ("in.hcl", INPUT),
        ("default.hcldec", "default {\n literal { value = 1 }\n}\n"),
    ]);
    sandbox.run(&["hcl", "decode", "in.hcl"]).expect(1).says(&["Error: the --spec=... argument is required"]);
    sandbox
        .run(&["hcl", "decode", "-s", "s.hcldec", "-o", "no/such/dir", "in.hcl"])
        .expect(1)
        .says(&["Error: can't open"]);
    sandbox
        .run(&["hcl", "decode", "-s", "s.hcldec", "--diags=xml", "in.hcl"])
        .expect(2)
        .says(&["Invalid diagnostics format"]);
    let version = sandbox.run(&["hcl", "decode", "-v"]).expect(0).stdout;
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
    // A `default` with one specification is only a warning.
    sandbox.write("empty.hcl", "");
    assert_eq!(sandbox.run(&["hcl", "decode", "-s", "default.hcldec", "empty.hcl"]).expect(0).stdout, "1\n");
}
