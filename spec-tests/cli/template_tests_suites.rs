//! Suites of helm-unittest: where they lie, what they give and what they find.

use crate::support::{Outcome, Sandbox, outcome};

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("c/values.yaml", "replicas: 1\n"),
        ("c/templates/deployment.yaml", "kind: Deployment\nspec: {replicas: {{ .Values.replicas }}}\n"),
        ("c/templates/NOTES.txt", "replicas: {{ .Values.replicas }}\n"),
        ("c/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
        ("c/charts/sub/templates/cm.yaml", "kind: ConfigMap\n"),
    ])
}

fn test(sandbox: &Sandbox, suite: &str) -> Outcome {
    sandbox.write("c/tests/web_test.yaml", suite);
    sandbox.run(&["test"])
}

fn run_in(sandbox: &Sandbox, folder: &str, args: &[&str]) -> Outcome {
    let mut command = sandbox.command(args);
    command.current_dir(sandbox.path(folder));
    outcome(command)
}

#[test]
fn a_test_that_cannot_run_fails_alone() {
    let sandbox = sandbox();
    let suite = "\
templates: [deployment.yaml]
tests:
  - it: is good
    asserts: [isKind: {of: Deployment}]
  - it: changes the output
    postRenderer: {cmd: sed}
    asserts: [isKind: {of: Deployment}]
  - it: checks what is not known
    asserts: [isKnd: {of: Deployment}]
  - it: has no path
    asserts: [equal: {path: 'a[', value: 1}]
  - it: has no values
    values: [none.yaml]
    asserts: [isKind: {of: Deployment}]
  - it: has no template
    template: none.yaml
    asserts: [isKind: {of: Deployment}]
  - asserts: [contains: {path: spec, content: x, documentIndex: 0}, isKind: {of: Deployment}]
  - skip: {reason: later}
    postRenderer: {cmd: sed}
    asserts: [isKnd: {of: Deployment}]
  - it: is good again
    asserts: [isKind: {of: Deployment, kind: x}]
---
suite: without tests
---
templates: [deployment.yaml]
tests: [{asserts: [isKind: {of: Deployment}]}]
";
    test(&sandbox, suite).expect(1).says(&[
        "test `changes the output`: `postRenderer` is not supported",
        "help: no other program is run",
        "error[E0941]: unknown key `isKnd` of an assertion",
        "help: did you mean `isKind`?",
        "`a[` is not a path: a bracket is not closed",
        "there is no file `none.yaml`",
        "there is no template `none.yaml`",
        "warning[E0941]: unknown key `documentIndex` of `contains`, which has no effect",
        "test `test 7`: `contains` at `spec`: expected a list with \"x\", found",
        "warning[E0941]: unknown key `kind` of `isKind`, which has no effect",
        "a test file without `tests`",
        "3 passed, 6 failed, 1 skipped; 1 test file with errors",
    ]);
}

#[test]
fn tests_of_a_chart_run_from_everywhere() {
    let sandbox = sandbox();
    let suite = "templates: [deployment.yaml]\ntests: [{values: [v.yaml], asserts: [equal: {path: spec.replicas, value: 4}]}]\n";
    sandbox.write("c/tests/v.yaml", "replicas: 4\n");
    test(&sandbox, suite).expect(0);
    let chart = sandbox.path("c");
    let chart = chart.to_str().unwrap();
    for (folder, path) in
        [("c", "."), ("c", "tests"), ("c", "tests/web_test.yaml"), ("c/tests", "."), ("c/tests", ".."), ("", chart)]
    {
        let done = run_in(&sandbox, folder, &["test", path]).expect(0);
        assert!(done.stdout.ends_with("web_test.yaml: 1 test\n"), "{folder} {path}: {}", done.stdout);
    }
    run_in(&sandbox, "c", &["test"]).expect(0);
    sandbox.run(&["test", "-C", "c"]).expect(0);
}

#[test]
fn values_merge_and_lists_are_made_anew() {
    let sandbox = sandbox();
    sandbox
        .write("c/templates/all.yaml", "all: {{ .Values.m | toJson | quote }}\nmode: {{ .Values.mode }}\nown: 0755\n");
    sandbox.write("c/values.yaml", "m: {default: 1, gone: 1, none: }\n");
    sandbox.write("c/tests/a.yaml", "m: {file: 1, list: [1, 2], over: file}\n");
    sandbox.write("c/tests/b.yaml", "m: {over: test file, deep: {b: 1}}\n");
    let suite = "\
templates: [all.yaml]
values: [a.yaml]
set:
  m: {suite: 1, deep: {s: 1}}
  m.over: suite
tests:
  - it: takes files, then the suite, then the test
    values: [b.yaml]
    set:
      m: {test: 1, gone: null, deep: {t: 1}}
      m.list[1]: x
      m.[a.b/c]: y
      m[\"d.e\"]: z
      mode: 0644
    asserts:
      - equal:
          path: all
          value: '{\"a.b/c\":\"y\",\"d.e\":\"z\",\"deep\":{\"b\":1,\"s\":1,\"t\":1},\"default\":1,\"file\":1,\"list\":[null,\"x\"],\"none\":null,\"over\":\"suite\",\"suite\":1,\"test\":1}'
      - equal: {path: mode, value: 420}
      - equal: {path: mode, value: 0644}
      - equal: {path: own, value: 493}
";
    test(&sandbox, suite).expect(0);
}

#[test]
fn a_chart_in_a_chart_is_tested_within_it() {
    let sandbox = sandbox();
    sandbox.write("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: sub, version: 1.0.0, condition: sub.enabled}\n- {name: missing, version: 1.0.0, condition: missing.enabled}\n");
    sandbox.write("c/values.yaml", "sub: {enabled: true, of: parent}\nglobal: {g: parent}\n");
    sandbox.write(
        "c/charts/sub/templates/cm.yaml",
        "version: {{ .Chart.Version }}\nof: {{ .Values.of }}\nown: {{ .Values.own }}\ng: {{ .Values.global.g }}\n",
    );
    sandbox.write("c/charts/sub/values.yaml", "of: itself\n");
    sandbox.write("c/charts/sub/tests/values.yaml", "own: file\nglobal: {g: file}\n");
    sandbox.write("c/charts/sub/tests/cm_test.yaml", "templates: [cm.yaml]\nvalues: [values.yaml]\nchart: {version: 7.7.7}\ntests:\n  - set: {own: test}\n    asserts:\n      - equal: {path: of, value: parent}\n      - equal: {path: own, value: test}\n      - equal: {path: g, value: file}\n      - equal: {path: version, value: 7.7.7}\n");
    sandbox.run(&["test", "c"]).expect(0).says(&["1 passed"]);
    sandbox.run(&["test", "c", "--with-subchart=false"]).expect(2).says(&["there is no test file in `c`"]);
    // Alone, it has its own values.
    sandbox.run(&["test", "c/charts/sub"]).expect(1).says(&["expected \"parent\", found \"itself\""]);
    sandbox.write("c/values.yaml", "sub: {enabled: false}\n");
    let skipped = sandbox.run(&["test", "c"]).expect(0).says(&["1 skipped"]);
    assert!(skipped.stdout.contains("`charts/sub` is disabled by the values"), "{}", skipped.stdout);
}

#[test]
fn lookup_finds_the_objects_of_a_test() {
    let sandbox = sandbox();
    sandbox.write(
        "c/templates/found.yaml",
        "one: {{ (lookup \"v1\" \"Secret\" \"ns\" \"a\").data.key }}\nall: {{ len (lookup \"v1\" \"Secret\" \"ns\" \"\").items }}\nnone: {{ lookup \"v1\" \"Secret\" \"ns\" \"x\" | len }}\n",
    );
    let suite = "\
templates: [found.yaml]
kubernetesProvider:
  objects:
    - {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: ns}, data: {key: x}}
    - {apiVersion: v1, kind: Secret, metadata: {name: b, namespace: other}}
tests:
  - kubernetesProvider: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: c, namespace: ns}}]}
    asserts:
      - equal: {path: one, value: x}
      - equal: {path: all, value: 2}
      - equal: {path: none, value: 0}
";
    test(&sandbox, suite).expect(0);
}

#[test]
fn suites_can_lie_elsewhere_and_be_rendered() {
    let sandbox = sandbox();
    sandbox
        .write("c/checks/one.yaml", "templates: [deployment.yaml]\ntests: [{asserts: [isKind: {of: Deployment}]}]\n");
    sandbox.write(
        "c/unittests/two_test.yaml",
        "templates: [deployment.yaml]\ntests: [{asserts: [isKind: {of: Deployment}]}]\n",
    );
    let done = sandbox.run(&["test", "c", "--file", "checks/*.yaml"]).expect(0);
    assert_eq!(done.stdout, "ok    c/checks/one.yaml: 1 test\n");
    assert_eq!(sandbox.run(&["test"]).expect(0).stdout, "ok    c/unittests/two_test.yaml: 1 test\n");
    sandbox.write("c/made/Chart.yaml", "apiVersion: v2\nname: made\nversion: 1.0.0\n");
    sandbox.write("c/made/values.yaml", "counts: [2, 3]\n");
    sandbox.write(
        "c/made/templates/t.yaml",
        "{{ range .Values.counts }}---\nsuite: s{{ . }}\ntemplates: [deployment.yaml]\ntests: [{set: {replicas: {{ . }}}, asserts: [equal: {path: spec.replicas, value: {{ . }}}, matchSnapshot: {path: spec.replicas}]}]\n{{ end }}",
    );
    let made = ["test", "c", "--chart-tests-path", "made", "--file", "none"];
    sandbox.run(&[&made[..], &["-u"]].concat()).expect(0).says(&["2 passed; snapshots: 2 written"]);
    assert!(sandbox.path("c/made/templates/__snapshot__/t.yaml_1.snap").exists());
    sandbox.run(&made).expect(0).says(&["2 passed"]);
    sandbox
        .run(&["test", "c", "--chart-tests-path", "none"])
        .expect(2)
        .says(&["no chart has a chart of tests in `none`"]);
}

#[test]
fn raw_snapshots_are_those_of_helm_unittest() {
    let sandbox = sandbox();
    let suite = "templates: [NOTES.txt]\ntests:\n  - it: prints\n    asserts: [matchSnapshotRaw: {}, hasDocuments: {count: 1}, equalRaw: {value: \"replicas: 1\\n\"}]\n";
    let snap = "c/tests/__snapshot__/web_test.yaml.snap";
    sandbox.write("c/templates/NOTES.txt", "\nreplicas: {{ .Values.replicas }}  \n");
    sandbox.write(snap, "prints:\n  1: |\n    |\n      replicas: 1\n");
    test(&sandbox, suite).expect(0);
    sandbox.run(&["test", "-u"]).expect(0);
    std::fs::remove_file(sandbox.path(snap)).unwrap();
    sandbox.run(&["test", "--update-snapshot"]).expect(0);
    assert_eq!(sandbox.read(snap), "prints:\n  1: |\n    |\n      replicas: 1\n");
    sandbox.write("c/values.yaml", "replicas: 2\n");
    test(&sandbox, suite).expect(1).says(&["-replicas: 1", "+replicas: 2"]);
}
