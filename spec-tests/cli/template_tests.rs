//! `dropforge test`: templates of folders, assertions, snapshots, reports.

use crate::support::{Outcome, Sandbox};

const APP: &str = "\
kind: App
metadata:
  name: {{ name }}
  labels: {app.kubernetes.io/name: {{ name }}, tier: {{ tier | default(value='web') }}}
spec:
  replicas: {{ replicas }}
  ports:
{%- for port in ports %}
    - {name: p{{ loop.index }}, port: {{ port }}}
{%- endfor %}
{% if secret %}---
kind: Secret
data: {key: {{ secret | b64encode }}}
{% endif -%}
";

const VALUES: &str = "name: api\nreplicas: 2\nports: [80, 443]\n";

/// A folder with a template, and a test file with these tests.
fn sandbox(tests: &str) -> Sandbox {
    let sandbox = Sandbox::with(&[("t/app.yaml.tera", APP), ("t/values.yaml", VALUES)]);
    sandbox.write("t/app.test.yaml", &format!("suite: app\nvalues: [values.yaml]\ntests:\n{tests}"));
    sandbox
}

fn test(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["test"], more].concat())
}

#[test]
fn all_kinds_of_assertions_hold() {
    let sandbox = sandbox(
        r#"
  - it: holds
    set: {replicas: 3, 'ports[1]': 8443, secret: hush}
    documentIndex: 0
    asserts:
      - equal: {path: metadata.name, value: api}
      - notEqual: {path: metadata.name, value: web}
      - equal: {path: 'metadata.labels["app.kubernetes.io/name"]', value: api}
      - equal: {path: metadata.labels.app\.kubernetes\.io/name, value: api}
      - equal: {path: 'spec.ports[?(@.name == "p2")].port', value: 8443}
      - equal: {path: 'spec.ports[*].port', value: 81}
        not: true
      - equal: {path: spec, value: {replicas: 3, ports: [{name: p1, port: 80}, {name: p2, port: 8443}]}}
      - greaterOrEqual: {path: spec.replicas, value: 3}
      - notGreaterOrEqual: {path: spec.replicas, value: 3.5}
      - lessOrEqual: {path: spec.replicas, value: 3}
      - notLessOrEqual: {path: spec.replicas, value: 2}
      - contains: {path: spec.ports, content: {name: p1, port: 80}}
      - contains: {path: spec.ports, content: {port: 80}, any: true, count: 1}
      - notContains: {path: spec.ports, content: {port: 80}}
      - isSubset: {path: metadata, content: {labels: {tier: web}}}
      - isNotSubset: {path: metadata, content: {labels: {tier: db}}}
      - matchRegex: {path: metadata.name, pattern: ^a\w+$}
      - notMatchRegex: {path: metadata.name, pattern: ^b}
      - exists: {path: spec.replicas}
      - notExists: {path: spec.strategy}
      - isNull: {path: spec.strategy}
      - isNotNull: {path: spec.replicas}
      - isEmpty: {path: metadata.annotations}
        not: true
      - isNotEmpty: {path: metadata.labels}
      - isType: {path: spec.ports, type: list}
      - isNotType: {path: spec.replicas, type: string}
      - lengthEqual: {path: spec.ports, count: 2}
      - notLengthEqual: {path: spec.ports, count: 3}
      - lengthEqual: {paths: [spec.ports, spec.ports]}
      - isKind: {of: App}
      - hasDocuments: {count: 2}
      - hasDocuments: {count: 1, filterAware: true}
      - containsDocument: {kind: App, apiVersion: v1}
        not: true
      - equal: {path: data.key, value: hush, decodeBase64: true}
        documentSelector: {path: kind, value: Secret}
      - isKind: {of: Secret}
        documentIndex: 1
      - containsRaw: {value: ["kind: App\n", "port: 8443"]}
      - notContainsRaw: {value: port 443}
      - matchRegexRaw: {pattern: '(?m)^  replicas: \d$'}
      - notMatchRegexRaw: {pattern: replicas$}
      - notFailedTemplate: {}
  - it: has a cluster
    cluster: {name: eu-1, tier: gold}
    asserts:
      - equal: {path: metadata.labels.tier, value: gold}
      - equal: {path: metadata.name, value: eu-1}
      - equalRaw: {file: expected.yaml}
"#,
    );
    sandbox.write(
        "t/expected.yaml",
        "kind: App\nmetadata:\n  name: eu-1\n  labels: {app.kubernetes.io/name: eu-1, tier: gold}\nspec:\n  replicas: 2\n  \
         ports:\n    - {name: p1, port: 80}\n    - {name: p2, port: 443}\n",
    );
    let done = test(&sandbox, &["-v"]).expect(0).says(&["2 passed"]);
    assert_eq!(done.stdout, "ok    t/app.test.yaml: 2 tests\n  ok    holds\n  ok    has a cluster\n");
    // Each assertion can fail: turned around, all of them do.
    let text = sandbox.read("t/app.test.yaml");
    let mut turned = String::new();
    for assertion in text.split_inclusive("\n      - ") {
        let (body, end) = assertion.strip_suffix("\n      - ").map_or((assertion, ""), |body| (body, "\n      - "));
        match body.strip_suffix("\n        not: true") {
            Some(body) => turned.push_str(&format!("{body}{end}")),
            None if turned.is_empty() || body.contains("\n  - it") => turned.push_str(&format!("{body}{end}")),
            None => turned.push_str(&format!("{}\n        not: true{end}", body.trim_end())),
        }
    }
    sandbox.write("t/app.test.yaml", &turned);
    let done = test(&sandbox, &["--error-format", "json"]).expect(1);
    let failed: std::collections::BTreeSet<u64> =
        done.json().iter().filter_map(|error| error["line"].as_u64()).collect();
    let asserted: Vec<u64> =
        (1..).zip(turned.lines()).filter(|(_, line)| line.starts_with("      - ")).map(|(n, _)| n).collect();
    let quiet: Vec<&str> = asserted
        .iter()
        .filter(|line| !failed.contains(line))
        .map(|line| turned.lines().nth(*line as usize - 1).unwrap())
        .collect();
    // The one before the second test keeps its meaning.
    assert_eq!(quiet, ["      - notFailedTemplate: {}"], "{turned}\n{}", done.stderr);
}

#[test]
fn a_failure_tells_what_where_and_why() {
    let sandbox = sandbox(
        r#"
  - it: differs
    asserts:
      - equal: {path: spec.replicas, value: 3}
      - equal: {path: spec.ports, value: [{name: p1, port: 80}, {name: p2, port: 444}, {name: p3, port: 8080, protocol: TCP}]}
      - equal: {path: spec.none, value: 3}
      - equalRaw: {value: "kind: App\n"}
"#,
    );
    let done = test(&sandbox, &[]).expect(1).says(&[
        "error[E0942]: test `differs`: `equal` at `spec.replicas`: expected 3, found 2\n --> t/app.test.yaml:7:9\n",
        "= note: template: app.yaml.tera\n  = note: document 0\n",
        "expected a list, found [{",
        "--- expected\n          +++ actual\n          @@ -1,7 +1,4 @@\n",
        "-  port: 444\n          -- name: p3",
        "`equal` at `spec.none`: expected 3, found nothing",
        "`equalRaw`: expected the whole text",
        "+metadata:\n",
        "1 failed\n",
    ]);
    assert_eq!(done.stdout, "FAIL  t/app.test.yaml: 1 of 1 test failed\n");
    let json = test(&sandbox, &["--error-format", "json", "-q"]).expect(1);
    let first = &json.json()[0];
    for (key, value) in [
        ("suite", "app"),
        ("test", "differs"),
        ("assertion", "equal"),
        ("path", "spec.replicas"),
        ("expected", "3"),
        ("found", "2"),
        ("document", "0"),
        ("template", "app.yaml.tera"),
        ("file", "t/app.test.yaml"),
    ] {
        assert_eq!(first[key], value, "{first}");
    }
    assert_eq!(json.stdout, "");
    test(&sandbox, &["--error-format", "github"]).expect(1).says(&["::error file=t/app.test.yaml,line=7,"]);
}

#[test]
fn expected_errors_are_compared_with_code_line_and_message() {
    let tests = |wanted: &str| {
        format!("\n  - it: fails\n    set: {{name: null}}\n    asserts:\n      - failedTemplate: {{{wanted}}}\n")
    };
    for wanted in [
        "",
        "code: E0201",
        "code: name.undefined_variable, line: 3",
        "errorMessage: the variable `name` is not defined",
        "errorPattern: ^the var.*name",
    ] {
        test(&sandbox(&tests(wanted)), &[]).expect(0);
    }
    for (wanted, says) in [
        ("code: E0202", "expected an error with code E0202"),
        ("line: 4", "E0201: the variable `name` is not defined (t/app.yaml.tera:3:12)"),
        ("errorMessage: variable", "an error with message `variable`"),
    ] {
        test(&sandbox(&tests(wanted)), &[]).expect(1).says(&[says]);
    }
    // No error.
    let none = sandbox("\n  - it: fails\n    asserts: [failedTemplate: ]\n");
    test(&none, &[]).expect(1).says(&["expected an error, found a render without an error"]);
    // An error that nothing expects is told with its place.
    let unexpected = sandbox(
        "\n  - it: renders\n    set: {name: null}\n    asserts: [isKind: {of: App}, hasDocuments: {count: 1}]\n",
    );
    let done = test(&unexpected, &[])
        .expect(1)
        .says(&["test `renders` cannot render: the variable `name`", "app.yaml.tera:3:12"]);
    assert_eq!(done.stderr.matches("cannot render").count(), 1, "{}", done.stderr);
    // A schema beside the template, and a template that does not compile.
    let refused = sandbox(
        "\n  - it: is refused\n    set: {replicas: many}\n    asserts: [failedTemplate: {code: input.schema}]\n",
    );
    refused.write("t/values.schema.json", r#"{"properties": {"replicas": {"type": "integer"}}}"#);
    test(&refused, &[]).expect(0);
    refused.write("t/app.yaml.tera", "{% if %}");
    test(&refused, &["--no-schema"]).expect(1).says(&["expected an error with code E0808", "E0101"]);
}

#[test]
fn snapshots_are_written_compared_and_removed() {
    let sandbox = sandbox(
        "
  - it: has snapshots
    asserts:
      - matchSnapshot: {path: spec}
      - matchSnapshot: {matchRegex: {pattern: 'name: api'}, notMatchRegex: {pattern: web2}}
      - matchSnapshotRaw: {}
  - it: has one too
    asserts: [matchSnapshot: {path: kind}]
",
    );
    let snap = "t/__snapshot__/app.test.yaml.snap";
    test(&sandbox, &[]).expect(1).says(&["error[E0943]", "`dropforge test t/app.test.yaml --update`"]);
    assert!(!sandbox.path(snap).exists());
    test(&sandbox, &["--update"]).expect(0).says(&["snapshots: 4 written"]);
    let written = sandbox.read(snap);
    assert!(written.starts_with("has one too:\n  1: |\n    App\nhas snapshots:\n  1: |\n    ports:\n"), "{written}");
    test(&sandbox, &[]).expect(0);
    test(&sandbox, &["--update"]).expect(0);
    assert_eq!(sandbox.read(snap), written);
    // Layout does not count for values, but for texts.
    sandbox.write("t/app.yaml.tera", &APP.replace("replicas: {{ replicas }}", "replicas:   {{ replicas }}"));
    let done = test(&sandbox, &[]).expect(1).says(&[
        "-  replicas: 2\n",
        "+  replicas:   2\n",
        "if the new output is right: `dropforge test",
    ]);
    assert_eq!(done.stderr.matches("[E0942]").count(), 1, "{}", done.stderr);
    sandbox.write("t/app.yaml.tera", &APP.replace("replicas: {{ replicas }}", "replicas: 7"));
    test(&sandbox, &[]).expect(1).says(&["-replicas: 2\n          +replicas: 7\n"]);
    test(&sandbox, &["--update"]).expect(0).says(&["snapshots: 3 updated"]);
    test(&sandbox, &[]).expect(0);
    // A filter leaves the others alone, also with `--update`.
    test(&sandbox, &["--filter", "one too", "--update"]).expect(0).says(&["1 passed\n"]);
    test(&sandbox, &[]).expect(0);
    // Obsolete ones are told, and removed.
    let tests = sandbox.read("t/app.test.yaml");
    sandbox.write("t/app.test.yaml", tests.split("  - it: has one too").next().unwrap());
    test(&sandbox, &[])
        .expect(0)
        .says(&["warning[E0944]: no test compares with snapshot 1 of `has one too`", &format!("{snap}:2:3")]);
    test(&sandbox, &["--strict"]).expect(1);
    test(&sandbox, &["--update"]).expect(0).says(&["snapshots: 1 removed"]);
    assert!(!sandbox.read(snap).contains("one too"));
    // So are those of a test file that is gone.
    sandbox.write("t/__snapshot__/gone.test.yaml.snap", "x:\n  1: y\n");
    let gone =
        "warning[E0944]: `t/__snapshot__/gone.test.yaml.snap` has snapshots of `gone.test.yaml`, which does not exist";
    test(&sandbox, &[]).expect(0).says(&[gone]);
    test(&sandbox, &["--strict"]).expect(1);
    test(&sandbox, &["--update"]).expect(0);
    assert!(!sandbox.path("t/__snapshot__/gone.test.yaml.snap").exists());
    // Without snapshots there is no file.
    sandbox.write("t/app.test.yaml", "values: [values.yaml]\ntests: [{asserts: [isKind: {of: App}]}]\n");
    test(&sandbox, &["--update"]).expect(0).says(&["snapshots: 3 removed"]);
    assert!(!sandbox.path(snap).exists());
}

#[test]
fn a_failing_render_keeps_its_snapshots() {
    let sandbox = sandbox("\n  - it: has one\n    asserts: [matchSnapshotRaw: ]\n");
    test(&sandbox, &["--update"]).expect(0);
    let snap = "t/__snapshot__/app.test.yaml.snap";
    let written = sandbox.read(snap);
    sandbox.write("t/app.yaml.tera", "{{ nope }}");
    let done = test(&sandbox, &["--update"]).expect(1);
    assert!(!done.stderr.contains("E0944"), "{}", done.stderr);
    assert_eq!(sandbox.read(snap), written);
    sandbox.write(snap, "- no snapshots\n");
    test(&sandbox, &[]).expect(1).says(&["error[E0941]: a snapshot file must be a map of tests"]);
}

#[test]
fn every_language_is_tested() {
    let sandbox = Sandbox::with(&[
        ("motd.tftpl", "hello ${name}\n%{ for p in ports ~}\n- ${p}\n%{ endfor ~}\n"),
        (
            "motd.test.yaml",
            "tests:\n  - set: {name: x, ports: [1, 2]}\n    asserts: [equalRaw: {value: \"hello x\\n- 1\\n- 2\\n\"}]\n",
        ),
        ("run.tower", "echo ${params.who}\n"),
        ("run.test.yaml", "tests:\n  - set: {params.who: me}\n    asserts: [containsRaw: {value: echo me}]\n"),
        ("app.cel.yaml", "kind: App\nn: ${n + 1}\n"),
        ("app.test.yaml", "tests:\n  - set: {n: 2}\n    asserts: [equal: {path: n, value: 3}, isKind: {of: App}]\n"),
        ("go.yaml.gotmpl", "n: {{ .n | quote }}\n"),
        ("go.test.yaml", "tests:\n  - set: {n: 2}\n    asserts: [equal: {path: n, value: '2'}]\n"),
        ("j.json.tera", "{\"a\": [{{ n }}]}"),
        ("j.test.yaml", "tests:\n  - set: {n: 2}\n    asserts: [equal: {path: 'a[0]', value: 2.0}]\n"),
    ]);
    test(&sandbox, &[]).expect(0).says(&["5 passed"]);
}

#[test]
fn templates_are_found_beside_tests_by_name_and_by_pattern() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{% include 'sub/_l.tera' %}kind: A\n"),
        ("t/b.yaml.tera", "kind: B\n"),
        ("t/sub/_l.tera", ""),
        ("t/sub/c.yaml.tera", "kind: C\n"),
        (
            "t/tests/all.test.yaml",
            "templates: ['*.yaml.tera', 'sub/c.*']\nexcludeTemplates: [b.yaml.tera]\ntests:\n  - asserts: [matchRegex: {path: kind, pattern: '^[AC]$'}, {isKind: {of: C}, template: sub/c.yaml.tera}]\n",
        ),
        (
            "t/tests/a.test.yaml",
            "tests:\n  - asserts: [isKind: {of: A}]\n  - template: b.yaml.tera\n    asserts: [isKind: {of: B}]\n",
        ),
        ("elsewhere/x.test.yaml", "root: ../t\ntemplate: a.yaml.tera\ntests:\n  - asserts: [isKind: {of: A}]\n"),
    ]);
    let done = test(&sandbox, &[]).expect(0).says(&["4 passed"]);
    assert_eq!(done.stdout.lines().count(), 3, "{}", done.stdout);
    // One file, one folder, a filter, a list.
    test(&sandbox, &["t/tests/a.test.yaml"]).expect(0).says(&["2 passed"]);
    let list = test(&sandbox, &["elsewhere", "t/tests", "--list", "--filter", "all.test"]).expect(0).stdout;
    assert_eq!(list, "t/tests/all.test.yaml:4: all.test.yaml: test 1\n");
    test(&sandbox, &["--filter", "nope"]).expect(2).says(&["no test has a name with `nope`"]);
    test(&sandbox, &["t/sub"]).expect(2).says(&["there is no test file in `t/sub`", ".test.yaml"]);
    test(&sandbox, &["missing"]).expect(1).says(&["cannot read `missing`"]);
    // What is not there.
    sandbox.write("t/tests/a.test.yaml", "templates: [aa.yaml.tera, '*.hcl']\nvalues: [none.yaml]\ntests: [{asserts: [{equalRaw: {file: e.txt}, template: x}]}]\n");
    test(&sandbox, &["--error-format", "short"]).expect(1).says(&[
        "t/tests/a.test.yaml:1:13: error[E0941]: there is no template `aa.yaml.tera`; did you mean `a.yaml.tera`?",
        "1:27: error[E0941]: no template matches `*.hcl`",
        "2:10: error[E0941]: there is no file `none.yaml`",
        "there is no file `e.txt`",
        "there is no template `x`",
        "1 test file with errors",
    ]);
    sandbox.write("t/tests/a.test.yaml", "root: ../../nope\ntests: [{asserts: [isKind: {of: A}]}]\n");
    test(&sandbox, &[]).expect(1).says(&["there is no folder `../../nope`"]);
    sandbox.write("t/b.test.yaml", "tests: [{asserts: [isKind: {of: A}]}, {asserts: [isKind: {of: A}]}]\n");
    sandbox.write("t/b.txt.tera", "");
    test(&sandbox, &["t/b.test.yaml"])
        .expect(1)
        .says(&["several templates beside the test are named `b`", "b.txt.tera"]);
}

#[test]
fn errors_of_a_test_file_are_told_at_once_with_their_places() {
    let sandbox = sandbox(
        "\n  - it: x\n    assert: []\n    asserts:\n      - equl: {path: a}\n      - equal: {path: 'a[', value: 1}\n",
    );
    let done = test(&sandbox, &[]).expect(1).says(&[
        "warning[E0941]: unknown key `assert` of a test, which has no effect",
        "did you mean `asserts`?",
        "6 |     assert: []",
        "t/app.test.yaml:6:5",
        "unknown key `equl` of an assertion",
        "did you mean `equal`?",
        "`a[` is not a path: a bracket is not closed",
    ]);
    assert_eq!(done.stdout, "FAIL  t/app.test.yaml: 1 of 1 test failed\n");
    sandbox.write("t/app.test.yaml", "tests: [\n");
    test(&sandbox, &[]).expect(1).says(&["E0801"]);
    sandbox.write("t/app.test.yaml", "tests:\n  - it: a\n    it: b\n");
    test(&sandbox, &[]).expect(1).says(&["E0805"]);
}

#[test]
fn a_value_that_no_template_reads_is_a_warning() {
    let test = "tests:\n- it: one\n  template: x.yaml.tera\n  set: {tls.on: true, tsl.on: true, other: 1}\n  \
                asserts:\n  - equal: {path: on, value: true}\n";
    let sandbox = Sandbox::with(&[
        ("x.yaml.tera", "on: {{ tls.on }}\n"),
        ("y.yaml.tera", "{{ other }}\n"),
        ("x.test.yaml", &format!("{test}---\n{}", test.replace("one", "two"))),
    ]);
    let outcome = sandbox.run(&["test"]).expect(0).says(&["E0809", "no template reads `tsl.on`", "x.test.yaml:4:23"]);
    assert_eq!(outcome.stderr.matches("warning[E0809]").count(), 2, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("reads `other`"), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("warning[E0809]: no template reads `tsl.on`\n"), "{}", outcome.stderr);
    sandbox.run(&["test", "--strict"]).expect(1).says(&["2 passed"]);
}

#[test]
fn a_template_is_no_test_file() {
    let sandbox = Sandbox::with(&[("x.yaml.tera", "on: {{ tls.on }}\n")]);
    let outcome = sandbox.run(&["test", "x.yaml.tera"]).expect(2);
    outcome.says(&["E0921", "`x.yaml.tera` is a template, not a test file", "`.test.yaml`"]);
}

#[test]
fn documents_are_selected() {
    let template =
        "{% for n in ['a', 'b', 'b'] %}---\nkind: {{ n }}\nn: {{ loop.index }}\n{% endfor %}---\n# nothing\n";
    let run = |test: &str| {
        let sandbox = Sandbox::with(&[("x.yaml.tera", template)]);
        sandbox.write("x.test.yaml", &format!("tests:\n  - {test}\n"));
        self::test(&sandbox, &[])
    };
    run("asserts: [hasDocuments: {count: 3}, exists: {path: n}]").expect(0);
    run("{documentIndex: 2, asserts: [equal: {path: n, value: 3}]}").expect(0);
    run("{documentIndex: -1, asserts: [exists: {path: n}]}").expect(0);
    run("{documentIndex: 3, asserts: [exists: {path: n}]}")
        .expect(1)
        .says(&["`x.yaml.tera` has 3 documents, so none has index 3"]);
    run("{documentSelector: {path: kind, value: a}, asserts: [equal: {path: n, value: 1}]}").expect(0);
    run("{documentSelector: {path: kind, value: b}, asserts: [exists: {path: n}]}")
        .expect(1)
        .says(&["2 documents is \"b\": set `matchMany`"]);
    run("{documentSelector: {path: kind, value: b, matchMany: true}, asserts: [greaterOrEqual: {path: n, value: 2}]}")
        .expect(0);
    run("{documentSelector: {path: kind, value: c}, asserts: [exists: {path: n}]}")
        .expect(1)
        .says(&["no document whose `kind` is \"c\""]);
    run("asserts: [containsDocument: {kind: b, apiVersion: v1}]").expect(1).says(&["expected a document of kind `b`"]);
    run("asserts: [equal: {path: n, value: 1}]").expect(1).says(&["document 1", "document 2"]);
}

#[test]
fn reports_are_written_as_junit() {
    let sandbox = sandbox(
        "
  - it: <passes> & \"holds\"
    asserts: [isKind: {of: App}]
  - it: fails
    asserts: [equal: {path: metadata.name, value: \"]]>&\\u0007<\"}]
  - it: is skipped
    skip: {reason: not yet}
    asserts: [isKind: {of: B}]
",
    );
    sandbox.write("t/bad.test.yaml", "tests: 1\n");
    let done = test(&sandbox, &["--junit", "out/report.xml"])
        .expect(1)
        .says(&["1 passed, 1 failed, 1 skipped; 1 test file with errors"]);
    assert!(done.stdout.contains("  skip  is skipped: not yet\n"), "{}", done.stdout);
    let report = sandbox.read("out/report.xml");
    for part in [
        "<testsuites name=\"dropforge test\" tests=\"4\" skipped=\"1\" failures=\"1\" errors=\"1\">",
        "<testcase name=\"&lt;passes&gt; &amp; &quot;holds&quot;\" classname=\"app\"",
        "file=\"t/app.test.yaml\" line=\"5\"",
        "type=\"test.failed\"",
        "]]&gt;&amp;",
        "<skipped message=\"not yet\"/>",
        "<testcase name=\"the test file\"",
    ] {
        assert!(report.contains(part), "no {part} in {report}");
    }
    assert!(!report.contains('\u{7}'));
}

#[test]
fn tests_and_snapshots_are_neither_templates_nor_copied() {
    let sandbox = sandbox("\n  - it: has one\n    asserts: [matchSnapshotRaw: ]\n");
    sandbox.write(
        "t/tests/more.test.yaml",
        "template: app.yaml.tera\nvalues: [../values.yaml]\ntests: [{asserts: [equalRaw: {file: expected.yaml}]}]\n",
    );
    sandbox.write("t/tests/expected.yaml", "a: 1\n");
    sandbox.write("t/other.yaml", "a: 1\n");
    test(&sandbox, &["--update"]).expect(1);
    let render = |more: &[&str]| {
        sandbox.run(&[&["render", "t", "-f", "t/values.yaml", "-o", "out"], more].concat()).expect(0);
        let files: Vec<String> = sandbox.tree("out").into_keys().filter(|name| !name.starts_with('.')).collect();
        std::fs::remove_dir_all(sandbox.path("out")).unwrap();
        files
    };
    assert_eq!(render(&[]), ["app.yaml", "other.yaml"]);
    let all = render(&["--lang", "tera"]);
    assert!(!all.iter().any(|name| name.contains("test") || name.contains("snap")), "{all:?}");
}

#[test]
fn hostile_test_files_end_in_errors() {
    let deep =
        format!("tests: [{{asserts: [equal: {{path: a, value: {}1{}}}]}}]\n", "[".repeat(5_000), "]".repeat(5_000));
    let brackets = format!("tests: [{{asserts: [exists: {{path: \"a[?({}@.b\"}}]}}]\n", "(".repeat(3_000));
    let bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ntests: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n".to_owned();
    let regex = "tests: [{asserts: [matchRegexRaw: {pattern: '((a{1000}){1000}){1000}'}]}]\n".to_owned();
    let index = "tests: [{set: {'a[99999999]': 1}, asserts: [exists: {path: a}]}]\n".to_owned();
    let sandbox = Sandbox::with(&[("x.yaml.tera", "kind: {{ a }}\n")]);
    for text in [
        deep,
        brackets,
        bomb,
        regex,
        index,
        "tests: {a: 1}\n".into(),
        "\u{0}".into(),
        "tests:\n- asserts:\n  - 1\n".into(),
    ] {
        sandbox.write("x.test.yaml", &text);
        let done = test(&sandbox, &[]).expect(1);
        assert!(done.stderr.contains("error[E0"), "{}", done.stderr);
    }
    std::fs::write(sandbox.path("x.test.yaml"), b"tests: \xff\n").unwrap();
    test(&sandbox, &[]).expect(1).says(&["not valid UTF-8"]);
    // Output that is not YAML, deep output, and output with a tag.
    sandbox.write("x.test.yaml", "tests: [{set: {a: '{'}, asserts: [isKind: {of: x}]}]\n");
    test(&sandbox, &[]).expect(1).says(&["the output is not YAML", "x.yaml.tera (rendered):", "equalRaw"]);
    sandbox.write("x.test.yaml", "tests: [{set: {a: '!x y'}, asserts: [isKind: {of: y}]}]\n");
    test(&sandbox, &[]).expect(0);
}

#[test]
fn coverage_tells_lines_and_outcomes_of_every_language() {
    let sandbox = Sandbox::with(&[
        (
            "t/a.yaml.tera",
            "a: 1\n{% if x %}\nb: {{ x }}\n{% elif y == 'k' %}\nc: 1\n{% else %}\nd: 1\n{% endif %}\n{% for p in ports %}\n- {{ p }}\n{% endfor %}\n{% include '_l.tera' %}\n",
        ),
        ("t/_l.tera", "{% if z %}l: 1{% endif %}\n"),
        (
            "t/a.test.yaml",
            "tests:\n  - set: {x: 1, ports: [1, 2], z: 1}\n    asserts: [containsRaw: {value: 'b: 1'}]\n",
        ),
        ("t/m.tftpl", "%{ if a ~}\nyes\n%{ endif ~}\n"),
        ("t/m.test.yaml", "tests:\n  - set: {a: true}\n    asserts: [containsRaw: {value: 'yes'}]\n"),
        ("t/c.cel.yaml", "kind: A\nx:\n  $include: part.yaml.tera\n  $with: {n: '${n}'}\n"),
        ("t/part.yaml.tera", "{% if n > 1 %}n: many{% else %}n: one{% endif %}\n"),
        ("t/c.test.yaml", "tests:\n  - set: {n: 2}\n    asserts: [equal: {path: x.n, value: many}]\n"),
        ("t/go.yaml.gotmpl", "{{ define \"f\" }}{{ if .f }}\nf: 1\n{{ end }}{{ end }}a: {{ template \"f\" . }}\n"),
        ("t/go.test.yaml", "tests:\n  - set: {f: ''}\n    asserts: [equalRaw: {value: \"a: \\n\"}]\n"),
        ("t/never.tower", "echo ${params.a}\n"),
    ]);
    let done = test(&sandbox, &["--coverage"]).expect(0);
    let (_, report) = done.stdout.split_once("coverage:\n").unwrap();
    let expected = "  \
  t/_l.tera: 1 of 1 line, 1 of 2 outcomes (66.6%)
    1:7: `z` is never false
  t/a.yaml.tera: 5 of 8 lines, 2 of 6 outcomes (50%)
    lines 4-5, 7 never ran
    2:7: `x` is never false
    4:9: `y == 'k'` is never true and never false
    9:13: `ports` is never empty
  t/c.cel.yaml: 3 of 3 lines (100%)
  t/go.yaml.gotmpl: 2 of 3 lines, 1 of 2 outcomes (60%)
    line 2 never ran
    1:23: `.f` is never true
  t/m.tftpl: 2 of 2 lines, 1 of 2 outcomes (75%)
    1:7: `a` is never false
  t/never.tower: 0 of 1 line (0%)
    line 1 never ran
  t/part.yaml.tera: 1 of 1 line, 1 of 2 outcomes (66.6%)
    1:7: `n > 1` is never false
total: 14 of 19 lines, 6 of 14 outcomes (60.6%)
";
    assert_eq!(report, expected);
    test(&sandbox, &["--coverage-min", "60.6"]).expect(0);
    let low = test(&sandbox, &["--coverage-min", "60.7%"]).expect(1);
    low.says(&["error[E0945]: the tests cover 60.6% of lines and outcomes, less than 60.7%"]);
    test(&sandbox, &["--coverage-min", "101"]).expect(2);
    // All outcomes.
    let more = sandbox.read("t/m.test.yaml") + "  - set: {a: false}\n    asserts: [equalRaw: {value: ''}]\n";
    sandbox.write("t/m.test.yaml", &more);
    let done = test(&sandbox, &["--coverage"]).expect(0);
    assert!(done.stdout.contains("  t/m.tftpl: 2 of 2 lines, 2 of 2 outcomes (100%)\n"), "{}", done.stdout);
}

#[test]
fn a_suite_reads_only_files_of_its_folder() {
    let suite = |root: &str, file: &str| {
        let sandbox = sandbox(&format!("  - it: reads\n    asserts: [{{equalRaw: {{file: \"{file}\"}}}}]\n"));
        sandbox.write("secret.env", "hunter2\n");
        std::os::unix::fs::symlink("/etc/passwd", sandbox.path("t/link")).unwrap();
        std::os::unix::fs::symlink("..", sandbox.path("t/up")).unwrap();
        sandbox.write("t/app.test.yaml", &format!("{root}{}", sandbox.read("t/app.test.yaml")));
        let outcome = test(&sandbox, &["t"]).expect(1);
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!all.contains("hunter2") && !all.contains("root:x") && !all.contains("PATH="), "{all}");
        outcome
    };
    for file in ["/proc/self/environ", "../secret.env", "link", "up/secret.env", "../../../../../etc/passwd"] {
        suite("", file).says(&["leads out of `t`, whose files the test may read", "app.test.yaml:5:"]);
    }
    suite("root: /etc\n", "passwd").says(&["the root `/etc` leads out of"]);
    suite("root: ../../..\n", "../secret.env").says(&["the root `../../..` leads out of"]);
    let sandbox = sandbox("  - it: reads\n    asserts: [{equalRaw: {value: x}}]\n");
    std::fs::create_dir(sandbox.path("t/__snapshot__")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", sandbox.path("t/__snapshot__/app.test.yaml.snap")).unwrap();
    test(&sandbox, &["t"]).expect(1).says(&["a link that leads out of its folder"]);
    std::fs::remove_file(sandbox.path("t/values.yaml")).unwrap();
    std::fs::remove_file(sandbox.path("t/__snapshot__/app.test.yaml.snap")).unwrap();
    sandbox.pipe("t/values.yaml");
    test(&sandbox, &["t"]).expect(1).says(&["there is no file `values.yaml`"]);
}
