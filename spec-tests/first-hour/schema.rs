//! `values.schema.json` beside the templates checks the merged values of each cluster.

use crate::support::{Outcome, Sandbox};

const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["owner"],
  "properties": {
    "owner": {"type": "string"},
    "replicas": {"type": "integer", "maximum": 9},
    "image": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"tag": {"type": "string"}, "pull": {"type": "string", "default": "Always"}}
    }
  }
}
"#;

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("t/values.schema.json", SCHEMA),
        ("t/app.txt.tera", "{{ name }} {{ replicas }} {{ image.pull | default(value='none') }}\n"),
        ("base.yaml", "owner: me\nreplicas: 2\nimage:\n  tag: v1\n"),
        ("fleet.csv", "name,replicas,image.tag\neu-1,3,\nus-1,,v2\n"),
    ])
}

fn stamp(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["stamp", "t", "--fleet", "fleet.csv", "-o", "out", "-f", "base.yaml"], more].concat())
}

#[test]
fn values_that_fit_are_stamped() {
    let sandbox = sandbox();
    stamp(&sandbox, &[]).expect(0);
    assert_eq!(sandbox.read("out/eu-1/app.txt"), "eu-1 3 none\n");
    let files = sandbox.tree("out");
    assert!(files.keys().all(|path| !path.contains("schema")), "{files:?}");
    sandbox.run(&["compile", "t", "--lang", "tera", "-o", "t.mpk"]).expect(0);
}

#[test]
fn all_violations_name_the_file_and_line_of_the_value() {
    let sandbox = sandbox();
    sandbox.write("bad.yaml", "replicas: 12\nimage:\n  tga: v1\n  tag: 7\n");
    let render = ["render", "t/app.txt.tera", "--set", "name=x", "-f", "bad.yaml"];
    let outcome = sandbox.run(&render).expect(1).says(&[
        "error[E0808]: `replicas` does not fit `t/values.schema.json`",
        "--> bad.yaml:1:11",
        "1 | replicas: 12",
        "::: t/values.schema.json:6:48",
        "`image` does not fit `t/values.schema.json`: unexpected property `tga` (additionalProperties)",
        "--> bad.yaml:3:8",
        "did you mean `tag`?",
        "`image.tag` does not fit `t/values.schema.json`: expected a string, found the integer 7 (type)",
        "--> bad.yaml:4:8",
        "the values do not fit `t/values.schema.json`: missing property `owner` (required)",
        "--> t/values.schema.json:3:15",
    ]);
    assert_eq!((outcome.stderr.matches("error[").count(), outcome.stdout.as_str()), (4, ""));
    let folder = sandbox.run(&["render", "t", "--set", "name=x", "-f", "bad.yaml"]).expect(1);
    assert_eq!((folder.stderr.matches("error[E0808]").count(), folder.stdout.as_str()), (4, ""));
    assert!(!folder.stderr.contains("cluster"), "{}", folder.stderr);
}

#[test]
fn a_cluster_whose_values_violate_fails_and_the_others_are_written() {
    let sandbox = sandbox();
    sandbox.write("fleet.csv", "name,replicas\neu-1,30\nus-1,\nap-1,31\n");
    let outcome = stamp(&sandbox, &[]).expect(4).says(&[
        "error[E0808]: 2 clusters: `replicas` does not fit `t/values.schema.json`",
        "--> fleet.csv:2:6",
        "cluster: eu-1, ap-1",
        "2 clusters failed",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
    assert!(sandbox.path("out/us-1/app.txt").exists() && !sandbox.path("out/eu-1").exists());
}

#[test]
fn a_violation_of_shared_values_is_one_error() {
    let sandbox = sandbox();
    sandbox.write("fleet.csv", "name\neu-1\nus-1\n");
    let outcome = stamp(&sandbox, &["--set", "replicas=x", "-j", "1"]).expect(4).says(&[
        "2 clusters: `replicas` does not fit",
        "given by --set replicas=x",
        "values.schema.json:6:26",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
}

#[test]
fn errors_are_json_with_pointers() {
    let json = stamp(&sandbox(), &["--set", "replicas=10", "--error-format", "json"]).expect(4).json();
    let error = json.iter().find(|line| line["code"] == "E0808").unwrap();
    assert_eq!((&error["pointer"], &error["keyword"]), (&"/replicas".into(), &"maximum".into()));
    assert_eq!(error["problem"], "`replicas` does not fit `t/values.schema.json`: expected at most 9 (maximum)");
    assert_eq!(error["clusters"], serde_json::json!(["eu-1", "us-1"]));
}

#[test]
fn the_schema_can_be_named_or_turned_off() {
    let sandbox = sandbox();
    stamp(&sandbox, &["--no-schema", "--set", "replicas=x"]).expect(0);
    stamp(&sandbox, &["--skip-schema-validation", "--set", "replicas=x"]).expect(0);
    sandbox.write("other.yaml", "required: [team]\n");
    stamp(&sandbox, &["--schema", "other.yaml", "--set", "replicas=x"]).expect(4).says(&["missing property `team`"]);
    stamp(&sandbox, &["--schema", "none.json"]).expect(1).says(&["cannot read `none.json`"]);
    stamp(&sandbox, &["--schema", "other.yaml", "--no-schema"]).expect(2);
}

#[test]
fn a_broken_schema_is_one_error_with_its_place() {
    let sandbox = sandbox();
    sandbox.write(
        "t/values.schema.json",
        "{\n\t\"properties\": {\"a\": {\"type\": \"strin\"}},\n\t\"minLength\": -1\n}\n",
    );
    let parts =
        ["error[E0806]", "`t/values.schema.json` is not a usable JSON Schema", "did you mean `string`?", "minLength"];
    stamp(&sandbox, &[]).expect(1).says(&parts).says(&["t/values.schema.json:2:31", "t/values.schema.json:3:15"]);
    sandbox.write("t/values.schema.json", "{\"$schema\": \"http://json-schema.org/draft-03/schema\"}");
    stamp(&sandbox, &[]).expect(1).says(&["not a known draft of JSON Schema"]);
    sandbox.write("t/values.schema.json", "{\"type\": ");
    stamp(&sandbox, &[]).expect(1).says(&["E0801", "values.schema.json:1:"]);
    sandbox.write("t/values.schema.json", &"[".repeat(100_000));
    stamp(&sandbox, &[]).expect(1).says(&["E06"]);
}

#[test]
fn defaults_fill_in_only_on_request_and_below_all_values() {
    let sandbox = sandbox();
    let set = ["--set", "image.tag=v3"];
    stamp(&sandbox, &set).expect(0);
    assert_eq!(sandbox.read("out/us-1/app.txt"), "us-1 2 none\n");
    stamp(&sandbox, &[&set[..], &["--schema-defaults"]].concat()).expect(0);
    assert_eq!(
        (sandbox.read("out/us-1/app.txt"), sandbox.read("out/eu-1/app.txt")),
        ("us-1 2 Always\n".into(), "eu-1 3 Always\n".into())
    );
    stamp(&sandbox, &["--schema-defaults", "--set", "image.pull=Never"]).expect(0);
    assert_eq!(sandbox.read("out/us-1/app.txt"), "us-1 2 Never\n");
    sandbox.write("plain/app.txt.tera", "x");
    let render = ["render", "plain/app.txt.tera", "--schema-defaults"];
    sandbox.run(&render).expect(2).says(&["`--schema-defaults` needs a schema"]);
}

#[test]
fn layouts_and_selectors_see_defaults() {
    let sandbox = Sandbox::with(&[
        ("t/values.schema.json", r#"{"properties": {"env": {"default": "dev"}}}"#),
        ("t/app.txt.tera", "{{ env }}"),
        ("fleet.ndjson", "{\"name\": \"a\"}\n{\"name\": \"b\", \"env\": \"prod\"}\n"),
    ]);
    sandbox.stamp(&["--schema-defaults", "--layout", "{env}/{cluster}/{template}", "-l", "env=dev"]).expect(0);
    assert_eq!(sandbox.read("out/dev/a/app.txt"), "dev");
    assert!(!sandbox.path("out/prod").exists());
}

#[test]
fn values_of_templates_are_checked_and_show_defaults() {
    let sandbox = sandbox();
    let values = |more: &[&str]| sandbox.run(&[&["values", "t", "-f", "base.yaml"], more].concat());
    assert_eq!(values(&[]).expect(0).stdout, "owner: me\nreplicas: 2\nimage:\n  tag: v1\n");
    let text = values(&["--schema-defaults", "--origins"]).expect(0).stdout;
    assert!(text.contains("image.pull: \"Always\"  # t/values.schema.json\n"), "{text}");
    assert!(text.contains("image.tag: \"v1\"  # base.yaml:4:8\n"), "{text}");
    let us = ["--fleet", "fleet.csv", "--cluster", "us-1", "--set", "replicas=x"];
    let outcome = values(&us).expect(1).says(&["E0808", "given by --set replicas=x"]);
    assert!(outcome.stdout.contains("tag: v2"), "{}", outcome.stdout);
    sandbox.run(&["values", "none", "-f", "base.yaml"]).expect(1).says(&["cannot read `none`"]);
}

#[test]
fn hostile_schemas_end_in_an_error() {
    let sandbox = sandbox();
    sandbox.write("t/values.schema.json", r##"{"properties": {"a": {"$ref": "#", "default": {}}}}"##);
    stamp(&sandbox, &["--schema-defaults"]).expect(1).says(&["the defaults of the schema nest too deep"]);
    sandbox.write("t/values.schema.json", r##"{"allOf": [{"$ref": "#"}], "type": "object"}"##);
    stamp(&sandbox, &[]).expect(0);
    sandbox.write("t/values.schema.json", r#"{"properties": {"name": {"pattern": "(a+)+$("}}}"#);
    stamp(&sandbox, &[]).expect(1).says(&["E0806"]);
    sandbox.write("t/values.schema.json", r#"{"$ref": "https://example.com/x.json"}"#);
    stamp(&sandbox, &[]).expect(1).says(&["E0806", "may lead only to"]);
}

#[test]
fn a_schema_in_a_template_names_the_origin_of_the_value_too() {
    let sandbox = Sandbox::with(&[
        (
            "t/app.cel.yaml",
            "$schema: {replicas: {type: integer}, ports: {type: array, items: {type: integer}}}\nr: ${replicas}\n",
        ),
        ("base.yaml", "replicas: two\nports: [80, x]\n"),
        ("fleet.ndjson", "{\"name\": \"a\", \"replicas\": 1}\n{\"name\": \"b\"}\n"),
    ]);
    let parts = ["`replicas` does not fit its `$schema`", "app.cel.yaml:1:", "base.yaml:1:11", "given here"];
    sandbox.run(&["render", "t/app.cel.yaml", "-f", "base.yaml"]).expect(1).says(&parts).says(&["base.yaml:2:13"]);
    sandbox.stamp(&["-f", "base.yaml"]).expect(4).says(&parts).says(&["base.yaml:2:13"]);
    let set = ["-f", "base.yaml", "--set", "replicas=x,ports={1}"];
    sandbox.stamp(&set).expect(4).says(&["given by --set replicas=x,ports={1}"]);
}

#[test]
fn check_finds_violations_without_rendering() {
    let sandbox = sandbox();
    let check = |more: &[&str]| sandbox.run(&[&["check", "t", "--fleet", "fleet.csv"], more].concat());
    check(&["-f", "base.yaml"]).expect(0);
    let set = ["-f", "base.yaml", "--set", "replicas=x"];
    check(&set).expect(1).says(&["E0808", "2 clusters: `replicas` does not fit", "given by --set replicas=x"]);
    check(&[&set[..], &["--no-schema"]].concat()).expect(0);
    check(&["--set", "owner=x,image.tag=7"]).expect(1).says(&["`image.tag` does not fit"]);
    sandbox
        .run(&["check", "t", "-f", "base.yaml", "--set", "owner=null,name=x"])
        .expect(1)
        .says(&["missing property `owner`"]);
    sandbox.write("t/values.schema.json", "{\"type\": 1}");
    sandbox.run(&["check", "t"]).expect(1).says(&["E0806", "values.schema.json:1:10"]);
}

#[test]
fn values_that_the_schema_declares_are_read() {
    let sandbox = sandbox();
    let render = |more: &[&str]| {
        sandbox.run(&[&["render", "t/app.txt.tera", "--set", "owner=me,replicas=1,name=x", "--strict"], more].concat())
    };
    render(&["--set", "image.tag=v1"]).expect(0);
    render(&["--no-schema"]).expect(1).says(&["no template reads `owner`"]);
    render(&["--set", "onwer=x"]).expect(1).says(&["no template reads `onwer`"]);
}
