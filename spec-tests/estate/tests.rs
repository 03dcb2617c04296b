//! `dropforge test` of releases: what it renders is what `stamp` writes.

use crate::support::Sandbox;

/// A project with layers, a chart and a set of templates.
const PROJECT: &[(&str, &str)] = &[
    (
        "dropforge.toml",
        r#"fleet = ["clusters.yaml"]
layers = ["base.yaml", "env/{env}.yaml"]

[output]
dir = "out"

[[release]]
name = "web"
chart = "chart"
namespace = "{env}"
kube-version = "{kube}"
values = ["web.yaml.tera"]
patches = [{ target = { kind = "Deployment" }, merge = "patch-{env}.yaml?" }]
when = "cluster.web"

[[release]]
name = "base-{env}"
templates = ["templates"]
values = ["more.yaml"]
"#,
    ),
    (
        "clusters.yaml",
        "- {name: eu-1, env: prod, size: 9}\n- {name: us-1, env: dev}\n- {name: us-2, env: dev, web: false}\n",
    ),
    ("base.yaml", "web: true\nsize: 1\nkube: v1.33.0\npassword: hunter2secret\n"),
    ("values.schema.json", r#"{"properties": {"password": {"type": "string", "writeOnly": true}}}"#),
    ("env/prod.yaml", "size: 5\nkube: v1.34.0\n"),
    ("env/dev.yaml", "releases: {web: {tag: latest}}\n"),
    ("web.yaml.tera", "replicas: {{ size }}\n"),
    ("more.yaml", "tier: gold\n"),
    ("patch-prod.yaml", "spec: {strategy: {type: Recreate}}\n"),
    ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
    ("chart/values.yaml", "replicas: 0\ntag: v1\n"),
    (
        "chart/templates/web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\nspec:\n  replicas: {{ .Values.replicas }}\n  image: web:{{ .Values.tag }}\n  kube: {{ .Capabilities.KubeVersion }}\n",
    ),
    ("chart/templates/svc.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n"),
    (
        "chart/tests/own.test.yaml",
        "tests:\n  - it: stands alone\n    template: templates/svc.yaml\n    asserts: [isKind: {of: Service}]\n",
    ),
    (
        "templates/ns.yaml.tera",
        "kind: Namespace\nmetadata: {name: {{ env }}, tier: {{ tier }}, size: {{ size }}, key: {{ password }}}\n",
    ),
];

fn project(suite: &str) -> Sandbox {
    let sandbox = Sandbox::with(PROJECT);
    sandbox.write("tests/web.test.yaml", suite);
    sandbox
}

#[test]
fn a_release_is_rendered_as_stamp_does() {
    let sandbox = project(
        "suite: web
release: web
tests:
  - it: has the values of its environment, and the patch
    cluster: eu-1
    template: templates/web.yaml
    asserts:
      - equal: {path: spec.replicas, value: 9}
      - equal: {path: spec.image, value: 'web:v1'}
      - equal: {path: spec.strategy.type, value: Recreate}
      - equal: {path: spec.kube, value: v1.34.0}
      - equal: {path: metadata.namespace, value: prod}
  - it: has the values of releases in layers
    cluster: us-1
    template: web.yaml
    asserts:
      - equal: {path: spec.image, value: 'web:latest'}
      - notExists: {path: spec.strategy}
  - it: takes keys over those of a cluster
    cluster: {name: eu-1, size: 7, releases: {web: {tag: v2}}}
    template: templates/*.yaml
    asserts:
      - equal: {path: spec.replicas, value: 7}
        template: templates/web.yaml
      - equal: {path: spec.image, value: 'web:v2'}
        template: templates/web.yaml
      - isKind: {of: Service}
        template: templates/svc.yaml
  - it: renders for a cluster that is not there yet
    cluster: {name: ap-1, env: prod}
    template: templates/web.yaml
    asserts: [equal: {path: spec.replicas, value: 5}]
  - it: takes values of the release
    cluster: eu-1
    values: [v3.yaml]
    set: {replicas: 3}
    template: templates/web.yaml
    asserts:
      - equal: {path: spec.replicas, value: 3}
      - equal: {path: spec.image, value: 'web:v3'}
  - it: is nothing for a cluster that does not want it
    cluster: us-2
    asserts: [hasDocuments: {count: 0}]
  - it: is what a snapshot has
    cluster: eu-1
    asserts: [matchSnapshot: {}]
---
suite: base
release: base-{env}
cluster: us-1
tests:
  - it: sees all values
    asserts:
      - equal: {path: metadata.tier, value: gold}
      - equal: {path: metadata.size, value: 1}
  - it: takes values over all others
    set: {size: 4, tier: null}
    asserts:
      - failedTemplate: {errorPattern: tier}
",
    );
    sandbox.write("tests/v3.yaml", "tag: v3\nreplicas: 30\n");
    let updated = sandbox.run(&["test", "--update"]);
    assert_eq!(updated.code, 0, "{}\n{}", updated.stdout, updated.stderr);
    let outcome = sandbox.run(&["test"]).expect(0);
    assert!(outcome.stdout.contains("tests/web.test.yaml: 9 tests"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("chart/tests/own.test.yaml: 1 test\n"), "{}", outcome.stdout);
    // The snapshot is what `stamp` writes.
    sandbox.run(&["stamp"]).expect(0);
    let snapshot = sandbox.read("tests/__snapshot__/web.test.yaml.snap");
    let written = sandbox.read("out/eu-1/web/web.yaml");
    for line in written.lines().filter(|line| !line.starts_with('#') && line.contains(": ") && !line.contains('{')) {
        assert!(snapshot.contains(line.trim()), "{line}\n{snapshot}");
    }
    // What is stamped is not searched for tests.
    sandbox.write("out/eu-1/x.test.yaml", "tests: [wrong\n");
    sandbox.run(&["test"]).expect(0);
}

#[test]
fn mistakes_name_what_there_is() {
    for (suite, parts) in [
        (
            "release: wbe\ncluster: eu-1\ntests: [{asserts: [hasDocuments: {count: 1}]}]\n",
            &["no release is named `wbe`", "did you mean `web`", "base-{env}, web"][..],
        ),
        (
            "release: web\ntests: [{cluster: eu-2, asserts: [hasDocuments: {count: 1}]}]\n",
            &["no cluster is named `eu-2`", "did you mean"],
        ),
        ("release: web\ntests: [{asserts: [hasDocuments: {count: 1}]}]\n", &["names no cluster"]),
        (
            "release: web\ncluster: eu-1\ntests: [{template: x.yaml, asserts: [hasDocuments: {count: 1}]}]\n",
            &["there is no template `x.yaml`", "templates/svc.yaml, templates/web.yaml"],
        ),
        (
            "release: web\ncluster: eu-1\ncapabilities: {majorVersion: 1}\ntests: [{asserts: [hasDocuments: {count: 1}]}]\n",
            &["`capabilities` has no effect on a release"],
        ),
        (
            "tests: [{cluster: eu-1, template: ns.yaml.tera, asserts: [hasDocuments: {count: 1}]}]\nroot: ../templates\n",
            &["the cluster `eu-1` needs a release"],
        ),
        (
            "tests: [{release: web, asserts: [hasDocuments: {count: 1}]}]\nroot: ../templates\n",
            &["stands above the tests of its suite"],
        ),
        (
            "release: web\nroot: ../chart\ncluster: eu-1\ntests: [{asserts: [hasDocuments: {count: 1}]}]\n",
            &["`root` has no effect"],
        ),
        (
            "release: web\ncluster: {name: ap-1, env: qa}\ntests: [{asserts: [hasDocuments: {count: 1}]}]\n",
            &["env/qa.yaml"],
        ),
    ] {
        let sandbox = project(suite);
        let outcome = sandbox.run(&["test", "tests"]);
        assert_eq!(outcome.code, 1, "{suite}\n{}{}", outcome.stdout, outcome.stderr);
        parts.iter().for_each(|part| assert!(outcome.stderr.contains(part), "no {part:?} in {}", outcome.stderr));
    }
}

#[test]
fn secrets_are_masked_in_failures() {
    let sandbox =
        project("release: base-{env}\ncluster: us-1\ntests: [{asserts: [equal: {path: metadata.key, value: x}]}]\n");
    let outcome = sandbox.run(&["test", "tests", "--schema", "values.schema.json"]).expect(1);
    assert!(!outcome.stderr.contains("hunter2secret"), "{}", outcome.stderr);
}
