//! `dropforge test` of charts, with suites of helm-unittest.

use crate::support::{Outcome, Sandbox};

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-{{ .Chart.Name }}
  namespace: {{ .Release.Namespace }}
  labels: {chart: {{ .Chart.Version }}, app: {{ .Chart.AppVersion | quote }}, revision: \"{{ .Release.Revision }}\"}
  {{- with .Values.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ .Values.replicas }}
  {{- if .Release.IsUpgrade }}
  paused: true
  {{- end }}
  token: {{ \"hush\" | b64enc }}
{{- if .Capabilities.APIVersions.Has \"example.com/v1\" }}
---
apiVersion: example.com/v1
kind: Extra
minor: {{ .Capabilities.KubeVersion.Minor | quote }}
{{- end }}
";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: \"2.0\"\n# kept\n"),
        ("c/values.yaml", "replicas: 1\nhost: \"\"\n"),
        ("c/values.schema.json", r#"{"properties": {"replicas": {"type": "integer", "maximum": 9}}}"#),
        ("c/templates/deployment.yaml", DEPLOYMENT),
        ("c/templates/ingress.yaml", "{{ include \"host\" . }}kind: Ingress\n"),
        (
            "c/templates/_helpers.tpl",
            "{{ define \"host\" }}{{ $_ := required \"a host is needed\" .Values.host }}{{ end }}",
        ),
        ("c/templates/NOTES.txt", "replicas: {{ .Values.replicas }}\n"),
        ("c/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
        ("c/charts/sub/templates/cm.yaml", "kind: ConfigMap\nname: {{ .Release.Name }}\n"),
    ])
}

fn test(sandbox: &Sandbox, suite: &str) -> Outcome {
    sandbox.write("c/tests/web_test.yaml", suite);
    sandbox.run(&["test"])
}

#[test]
fn a_suite_of_helm_unittest_runs_unchanged() {
    let sandbox = sandbox();
    sandbox.write("c/tests/values/prod.yaml", "replicas: 3\nannotations: {a.b/c: x}\n");
    let suite = "\
suite: deployment
values:
  - ./values/prod.yaml
set:
  annotations.d: y
templates:
  - templates/deployment.yaml
release:
  name: my-release
capabilities:
  majorVersion: 1
  minorVersion: 30
chart:
  version: 9.9.9+test
  appVersion: 9.9.9
tests:
  - it: should pass
    documentIndex: 0
    asserts:
      - equal:
          path: metadata.name
          value: my-release-web
      - equal:
          path: metadata.namespace
          value: NAMESPACE
      - equal:
          path: metadata.labels
          value: {chart: 9.9.9+test, app: 9.9.9, revision: \"0\"}
      - equal:
          path: metadata.annotations[\"a.b/c\"]
          value: x
      - equal:
          path: metadata.annotations.d
          value: y
      - equal:
          path: spec.replicas
          value: 3
      - isAPIVersion:
          of: apps/v1
      - matchRegex:
          path: spec.token
          pattern: ^hu
          decodeBase64: true
      - notExists:
          path: spec.paused
      - hasDocuments:
          count: 1
  - it: should upgrade a cluster with more APIs
    release:
      upgrade: true
      revision: 7
    capabilities:
      minorVersion: 31
      apiVersions:
        - example.com/v1
    asserts:
      - hasDocuments:
          count: 2
      - equal:
          path: minor
          value: \"31\"
        documentSelector:
          path: kind
          value: Extra
      - equal:
          path: spec.paused
          value: true
        documentIndex: 0
      - equal:
          path: metadata.labels.revision
          value: \"7\"
        documentIndex: 0
      - containsDocument:
          kind: Extra
          apiVersion: example.com/v1
          any: true
---
suite: notes
templates:
  - NOTES.txt
tests:
  - it: should print
    asserts:
      - equalRaw:
          value: |
            replicas: 1
";
    let done = test(&sandbox, suite).expect(0).says(&["3 passed"]);
    assert_eq!(done.stdout, "ok    c/tests/web_test.yaml: 3 tests\n");
}

#[test]
fn only_the_templates_of_a_suite_are_rendered() {
    let sandbox = sandbox();
    // `ingress.yaml` fails without a host.
    test(&sandbox, "templates: [deployment.yaml]\ntests: [{asserts: [isKind: {of: Deployment}]}]\n").expect(0);
    test(&sandbox, "excludeTemplates: [ingress.yaml, NOTES.txt]\ntests: [{asserts: [exists: {path: kind}]}]\n")
        .expect(0);
    test(&sandbox, "tests: [{template: deployment.yaml, asserts: [isKind: {of: Deployment}]}]\n")
        .expect(1)
        .says(&["cannot render: a host is needed", "c/templates/_helpers.tpl:1:"]);
    test(&sandbox, "set: {host: x}\ntests: [{template: charts/sub/templates/cm.yaml, asserts: [equal: {path: name, value: RELEASE-NAME}]}]\n").expect(0);
    test(&sandbox, "set: {host: x}\ntests: [{templates: ['*.yaml'], asserts: [matchRegex: {path: kind, pattern: '^(Dep|Ing)'}]}]\n").expect(0);
    test(&sandbox, "templates: [deploymnt.yaml]\ntests: [{asserts: [isKind: {of: Deployment}]}]\n")
        .expect(1)
        .says(&["error[E0941]: there is no template `deploymnt.yaml`", "templates/deployment.yaml"]);
}

#[test]
fn errors_are_compared_with_the_messages_of_helm() {
    let sandbox = sandbox();
    let fails = |set: &str, wanted: &str| {
        test(
            &sandbox,
            &format!(
                "templates: [ingress.yaml, deployment.yaml]\ntests: [{{set: {set}, asserts: [failedTemplate: {wanted}]}}]\n"
            ),
        )
    };
    fails("{}", "{errorMessage: a host is needed}").expect(0);
    fails("{}", "{errorPattern: 'host is .*ed'}").expect(0);
    fails("{}", "{code: value.assertion, line: 1}").expect(0);
    fails("{}", "").expect(0);
    fails("{host: a}", "").expect(1).says(&["expected an error, found a render without an error"]);
    fails("{host: a, replicas: 10}", "{errorPattern: 'maximum|at most|9'}").expect(0);
    fails("{host: a, replicas: null}", "{code: E0305}").expect(1);
    fails("{}", "{errorMessage: host}").expect(1).says(&["an error with message `host`", "E0305: a host is needed"]);
}

#[test]
fn snapshots_of_helm_unittest_are_read() {
    let sandbox = sandbox();
    let suite = "templates: [deployment.yaml]\ntests:\n  - it: manifest should match snapshot\n    asserts:\n      - matchSnapshot:\n          path: metadata\n";
    sandbox.write(
        "c/tests/__snapshot__/web_test.yaml.snap",
        "manifest should match snapshot:\n  1: |\n    labels:\n        app: \"2.0\"\n        chart: 1.0.0\n        revision: \"0\"\n    name: RELEASE-NAME-web\n    namespace: NAMESPACE\n",
    );
    test(&sandbox, suite).expect(0);
    sandbox.write("c/values.yaml", "replicas: 1\nannotations: {x: z}\n");
    test(&sandbox, suite).expect(1).says(&["+annotations:\n          +  x: z\n"]);
}

#[test]
fn tests_of_a_chart_change_nothing_of_what_helm_renders() {
    let sandbox = sandbox();
    sandbox.write(
        "c/templates/files.yaml",
        "kind: Files\nnames: {{ range $name, $_ := .Files.Glob \"tests/**\" }}{{ $name }} {{ end }}\n",
    );
    sandbox.write("c/templates/beside.test.yaml", "kind: Beside\n");
    sandbox.write("c/tests/a.test.yaml", "templates: [files.yaml, beside.test.yaml]\ntests: [{asserts: [matchRegex: {path: kind, pattern: '^(Files|Beside)$'}]}]\n");
    let done = sandbox.run(&["test"]).expect(0).says(&["`", "beside.test.yaml` is a template for Helm"]);
    assert_eq!(done.stdout, "ok    c/tests/a.test.yaml: 1 test\n");
    // As Helm does, files have the tests, and the template is one.
    let text = sandbox.run(&["render", "c", "--set", "host=x"]).expect(0).stdout;
    assert!(text.contains("names: tests/a.test.yaml") && text.contains("kind: Beside"), "{text}");
}

#[test]
fn the_tests_of_the_examples_pass() {
    Sandbox::of_example("tour").run(&["test"]).expect(0).says(&["3 passed\n"]);
    Sandbox::of_example("helm").run(&["test"]).expect(0).says(&["6 passed\n"]);
}

#[test]
fn coverage_of_a_chart_counts_all_its_templates() {
    let sandbox = sandbox();
    sandbox
        .write("c/templates/_more.tpl", "{{ define \"more\" }}\n{{ if .Values.more }}\nmore: 1\n{{ end }}\n{{ end }}");
    sandbox.write("c/templates/made.yaml", "kind: Made\n{{- if .Values.x }}\nx: {{ tpl \"{{ if .Values.y }}1{{ end }}\" . }}\n{{- end }}\n{{ include \"more\" . }}\n");
    sandbox.write(
        "c/tests/a_test.yaml",
        "templates: [made.yaml]\ntests:\n  - {set: {x: 1, y: 1}, asserts: [isKind: {of: Made}]}\n  - {set: {x: 1, y: 1, more: true}, asserts: [equal: {path: more, value: 1}]}\n",
    );
    let done = sandbox.run(&["test", "--coverage"]).expect(0);
    for part in [
        "  c/templates/_more.tpl: 2 of 2 lines, 2 of 2 outcomes (100%)\n",
        "  c/templates/made.yaml: 4 of 4 lines, 1 of 2 outcomes (83.3%)\n    2:8: `.Values.x` is never false\n",
        "  c/templates/ingress.yaml: 0 of 1 line (0%)\n",
        "  c/charts/sub/templates/cm.yaml: 0 of 2 lines (0%)\n",
        "    7:12: `.Values.annotations` is never true and never false\n",
    ] {
        assert!(done.stdout.contains(part), "no {part} in {}", done.stdout);
    }
    assert!(!done.stdout.contains("gotpl"), "{}", done.stdout);
}

#[test]
fn templates_of_a_chart_with_an_alias_are_below_the_alias() {
    let sandbox = sandbox();
    sandbox.write(
        "c/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n\
         - {name: sub, version: 1.0.0, alias: one}\n- {name: sub, version: 1.0.0, alias: two, condition: two.on}\n",
    );
    sandbox.write("c/charts/sub/templates/cm.yaml", "kind: ConfigMap\nname: {{ .Chart.Name }}\n");
    sandbox.write("c/charts/sub/templates/other.yaml", "{{ fail \"not rendered\" }}\n");
    let suite = "\
tests:
  - it: renders the first
    templates: [charts/one/templates/cm.yaml]
    asserts:
      - isKind: {of: ConfigMap}
      - equal: {path: name, value: one}
  - it: renders both
    templates: [charts/*/templates/cm.yaml]
    asserts:
      - hasDocuments: {count: 1}
      - {matchRegex: {path: name, pattern: ^(one|two)$}}
templates: [charts/*/templates/cm.yaml]
";
    test(&sandbox, suite).expect(0);
    test(&sandbox, &suite.replace("value: one", "value: two")).expect(1);
    let named = suite.replace("charts/one", "charts/sub");
    test(&sandbox, &named)
        .expect(1)
        .says(&["there is no template `charts/sub/templates/cm.yaml`", "charts/one/templates/cm.yaml"]);
}
