//! `--kube-schemas` checks outputs by OpenAPI documents, CustomResourceDefinitions and JSON Schemas.

use crate::support::{Outcome, Sandbox};

/// An OpenAPI document of version 2 with one kind.
const SWAGGER: &str = r##"{"swagger": "2.0", "definitions": {
  "a.v1.App": {
    "type": "object", "required": ["spec"],
    "properties": {
      "apiVersion": {"type": "string"}, "kind": {"type": "string"},
      "metadata": {"$ref": "#/definitions/m.v1.Meta"}, "spec": {"$ref": "#/definitions/a.v1.Spec"}
    },
    "x-kubernetes-group-version-kind": [{"group": "apps", "kind": "App", "version": "v1"}]
  },
  "a.v1.Spec": {
    "type": "object", "required": ["replicas"],
    "properties": {
      "replicas": {"type": "integer", "format": "int32"},
      "port": {"$ref": "#/definitions/u.IntOrString"},
      "cpu": {"$ref": "#/definitions/x.api.resource.Quantity"},
      "nested": {"type": "array", "items": {"$ref": "#/definitions/a.v1.Spec"}}
    }
  },
  "m.v1.Meta": {"type": "object", "properties": {"name": {"type": "string"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}}}},
  "u.IntOrString": {"type": "string", "format": "int-or-string"},
  "x.api.resource.Quantity": {"type": "string"}
}}"##;

const APP: &str = "apiVersion: apps/v1\nkind: App\nmetadata:\n  name: {{ name }}\n  labels: null\nspec:\n  replicas: {{ replicas }}\n  port: {{ port | default(value=80) }}\n  cpu: 2\n";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("k8s/swagger.json", SWAGGER),
        ("t/app.yaml.tera", APP),
        ("fleet.ndjson", "{\"name\":\"eu\",\"replicas\":2}\n{\"name\":\"us\",\"replicas\":3,\"port\":\"http\"}\n"),
    ])
}

fn stamp(sandbox: &Sandbox) -> Outcome {
    sandbox.stamp(&["--kube-schemas", "k8s"])
}

#[test]
fn resources_that_fit_are_written() {
    let sandbox = sandbox();
    let outcome = stamp(&sandbox).expect(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    sandbox.stamp(&["--kube-schemas", "k8s/swagger.json", "--check"]).expect(0);
}

#[test]
fn a_violation_names_the_output_and_the_line_of_the_template() {
    let sandbox = sandbox();
    sandbox.write("fleet.ndjson", "{\"name\":\"eu\",\"replicas\":\"two\"}\n{\"name\":\"us\",\"replicas\":\"two\"}\n{\"name\":\"ap\",\"replicas\":1}\n");
    let outcome = stamp(&sandbox).expect(4).says(&[
        "error[E0907]: 2 clusters: `spec.replicas` does not fit the schema of `apps/v1` `App`: expected an integer, found the string \"two\" (type)",
        "--> eu/app.yaml:7:13",
        "::: t/app.yaml.tera:7:16",
        "written here",
        "resource: eu",
        "cluster: eu, us",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
    assert!(sandbox.path("out/ap/app.yaml").exists() && !sandbox.path("out/eu").exists());
}

#[test]
fn all_violations_of_all_documents_are_found() {
    let sandbox = sandbox();
    let more = "---\n{apiVersion: v1, kind: List, items: [{apiVersion: apps/v1, kind: App}]}\n---\napiVersion: apps/v1\nkind: App\nspec:\n  replcas: 1\n  nested: [{replicas: x}]\n";
    sandbox.write("t/app.yaml.tera", &format!("{APP}{more}"));
    let parts = [
        "the resource does not fit the schema of `apps/v1` `App`: missing property `spec` (required)",
        "`spec` does not fit the schema of `apps/v1` `App`: missing property `replicas` (required)",
        "unexpected property `replcas` (additionalProperties)",
        "did you mean `replicas`?",
        "`spec.nested[0].replicas` does not fit",
        "app.yaml.tera:16:3",
    ];
    stamp(&sandbox).expect(4).says(&parts);
}

#[test]
fn a_kind_without_a_schema_is_a_warning() {
    let sandbox = sandbox();
    sandbox.write("t/other.yaml.tera", "apiVersion: example.com/v1\nkind: Other\na: {{ name }}\n---\nplain: 1\n");
    let outcome =
        stamp(&sandbox).expect(0).says(&["warning: `example.com/v1` `Other` has no schema and was not checked"]);
    assert_eq!(outcome.stderr.matches("warning").count(), 1, "{}", outcome.stderr);
}

#[test]
fn custom_resources_are_checked_by_their_definitions() {
    let sandbox = sandbox();
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: example.com\n  names: {kind: Other}\n  versions:\n    - name: v1\n      schema:\n        openAPIV3Schema:\n          type: object\n          properties:\n            spec:\n              type: object\n              required: [size]\n              properties:\n                size: {x-kubernetes-int-or-string: true}\n                note: {type: string, nullable: true}\n                free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}\n";
    sandbox.write("k8s/crds/other.yaml", definition);
    let resource =
        |spec: &str| format!("apiVersion: example.com/v1\nkind: Other\nmetadata: {{name: a, x: 1}}\nspec: {spec}\n");
    sandbox.write("t/other.yaml.tera", &resource("{size: 1, note: null, free: {b: 2}}"));
    let outcome = stamp(&sandbox).expect(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    sandbox.write("t/other.yaml.tera", &resource("{size: 1.5, nots: x}"));
    stamp(&sandbox)
        .expect(4)
        .says(&["`spec.size` does not fit the schema of `example.com/v1` `Other`", "did you mean `note`?"]);
}

#[test]
fn openapi_3_and_json_schemas_by_name_are_read() {
    let sandbox = Sandbox::with(&[
        (
            "k8s/apis__apps__v1_openapi.json",
            r##"{"openapi": "3.0.0", "components": {"schemas": {
            "A": {"type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"},
                "spec": {"allOf": [{"$ref": "#/components/schemas/S"}], "default": {}}},
                "x-kubernetes-group-version-kind": [{"group": "apps", "kind": "A", "version": "v1"}]},
            "S": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "exclusiveMinimum": true}}}}}}"##,
        ),
        (
            "k8s/sub/B-net-v1beta1.json",
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"n": {"const": 1}}}"#,
        ),
        ("k8s/cert.io/c_v1.json", r#"{"required": ["n"]}"#),
        ("k8s/d-v1.json", r#"{"properties": {"n": {"type": ["string", "null"]}}}"#),
        (
            "t/all.yaml.tera",
            "apiVersion: apps/v1\nkind: A\nspec: {n: 1, m: 2}\n---\napiVersion: net.k8s.io/v1beta1\nkind: B\nn: 2\n---\napiVersion: cert.io/v1\nkind: C\n---\napiVersion: v1\nkind: D\nn: 1\n",
        ),
        ("fleet.ndjson", "{\"name\":\"eu\"}\n"),
    ]);
    let outcome = stamp(&sandbox).expect(4).says(&[
        "unexpected property `m`",
        "of `net.k8s.io/v1beta1` `B`",
        "of `cert.io/v1` `C`",
        "of `v1` `D`",
    ]);
    assert_eq!(outcome.stderr.matches("error[E0907]").count(), 5, "{}", outcome.stderr);
}

#[test]
fn render_and_documents_are_checked_too() {
    let sandbox = sandbox();
    let render = |more: &[&str]| {
        sandbox.run(&[&["render", "t/app.yaml.tera", "--kube-schemas", "k8s", "--set", "name=x"], more].concat())
    };
    render(&["--set", "replicas=1"]).expect(0);
    let outcome = render(&["--set", "replicas=x"]).expect(1).says(&["E0907", "app.yaml:7:13", "app.yaml.tera:7:16"]);
    assert_eq!(outcome.stdout, "");
    render(&["--set", "replicas=a: b"]).expect(1).says(&["E0906"]);
    let folder = ["render", "t", "--kube-schemas", "k8s", "--set", "name=x,replicas=x"];
    sandbox.run(&folder).expect(4).says(&["E0907", "app.yaml:7:13", "app.yaml.tera:7:16"]);
    sandbox.write("c.cel.yaml", "apiVersion: apps/v1\nkind: App\nspec: {replicas: x}\n");
    sandbox.run(&["render", "c.cel.yaml", "--kube-schemas", "k8s"]).expect(1).says(&["E0907", "`spec.replicas`"]);
}

#[test]
fn mistakes_and_hostile_schemas_are_errors() {
    let sandbox = sandbox();
    sandbox.stamp(&["--kube-schemas", "none"]).expect(1).says(&["cannot read `none`"]);
    sandbox.stamp(&["--kube-schemas", "t"]).expect(2).says(&["no data file below `t`"]);
    sandbox.stamp(&["--kube-schemas", "k8s", "--no-check-output"]).expect(2);
    sandbox.write("empty.json", "{}");
    sandbox.stamp(&["--kube-schemas", "empty.json"]).expect(2).says(&["there are no schemas of Kubernetes kinds"]);
    sandbox.write("empty.json", "{\"definitions\":");
    sandbox.stamp(&["--kube-schemas", "empty.json"]).expect(1).says(&["E0801", "empty.json:1:"]);
    let mark = r#""x-kubernetes-group-version-kind":[{"group":"apps","kind":"App","version":"v1"}]"#;
    let broken = |schema: &str| {
        sandbox.write("k8s/swagger.json", &format!("{{\"definitions\":{{\"a\":{{{schema},{mark}}}}}}}"));
        stamp(&sandbox)
    };
    broken(r##""$ref":"#/definitions/a""##).expect(0);
    broken(r#""$ref":"https://example.com/a.json""#)
        .expect(4)
        .says(&["E0806", "`apps/v1` `App` is not a usable JSON Schema"]);
    broken(r##""$ref":"#/definitions/b""##).expect(4).says(&["there is nothing at"]);
    broken(r#""properties":{"kind":{"pattern":"("}}"#).expect(4).says(&["2 clusters", "E0806", "regular expression"]);
    broken(&format!("\"not\":{}1{}", "{\"not\":".repeat(200), "}".repeat(200))).expect(1).says(&["E06"]);
}

#[test]
fn strict_refuses_kinds_without_a_schema() {
    let sandbox = sandbox();
    sandbox.write("t/other.yaml.tera", "{% if name == 'us' %}apiVersion: example.com/v1\nkind: Other\n{% endif %}");
    let strict = ["--kube-schemas", "k8s", "--strict"];
    sandbox.stamp(&strict).expect(4).says(&[
        "error[E0907]: `example.com/v1` `Other` has no schema, and warnings are errors",
        "--> us/other.yaml:2:7",
        "other.yaml.tera:2:1",
        "cluster: us",
        "omit `--strict`",
        "stamped 1 file for 1 cluster",
    ]);
    let files: Vec<_> = sandbox.outputs("out").into_keys().collect();
    assert_eq!(files, ["eu/app.yaml"]);
    let one = ["render", "t/other.yaml.tera", "--set", "name=us"];
    sandbox.run(&[&one[..], &strict, &["-o", "other.yaml"]].concat()).expect(1).says(&["E0907"]);
    assert!(!sandbox.path("other.yaml").exists());
    let outcome =
        sandbox.run(&["render", "t", "--set", "name=us", "--set", "replicas=1", "--kube-schemas", "k8s", "--strict"]);
    assert_eq!(outcome.expect(4).stdout, "");
}

#[test]
fn outputs_are_read_as_clients_of_kubernetes_read_them() {
    let sandbox = sandbox();
    let app = |labels: &str, replicas: &str| {
        let text = format!(
            "apiVersion: apps/v1\nkind: App\nmetadata: {{name: x, labels: {{a: {labels}}}}}\nspec: {{replicas: {replicas}}}\n"
        );
        sandbox.write("t/app.yaml.tera", &text);
        stamp(&sandbox)
    };
    for replicas in ["1", "1.0", "1e1", "0x1f", "1_000", "+5", "017"] {
        app("x", replicas).expect(0);
    }
    for replicas in ["1.5", "\"1\"", "'1.0'", "yes", "2024-01-01"] {
        app("x", replicas).expect(4).says(&["`spec.replicas`", "expected an integer"]);
    }
    for label in ["no", "y", "on", "Off", "1_000", "0o17", "1.50", "~"] {
        let wanted = if label == "~" { 0 } else { 4 };
        app(label, "1").expect(wanted);
    }
    for label in ["\"no\"", "'1'", "nope", "12:30", "2024-01-01", "1.2.3", "!!str no"] {
        app(label, "1").expect(0);
    }
}
