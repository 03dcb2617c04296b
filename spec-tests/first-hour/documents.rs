//! One file for each document, whatever the language; empty documents and outputs; the order of kinds.

use crate::support::{Outcome, Sandbox};

const ALL: &str = "# head\n---\nkind: Service # web\nmetadata: {name: web}\n---\n\n# nothing\n---\n# kept\nkind: \"Pod\"\nmetadata:\n  annotations:\n    name: other\n  name: {{ name }}\n";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("t/all.yaml.tera", ALL),
        ("t/map.yml.tftpl", "kind: ConfigMap\nmetadata:\n  namespace: x\n  name: ${name}\n"),
        ("t/one.json.tera", "{\"kind\": \"Secret\",\n \"metadata\": {\"name\": \"s\"}}\n"),
        ("t/intent.yaml.tower", "kind: Job\nmetadata: {name: '${params.x}'}\n"),
        ("t/svc.cel.yaml", "kind: Ingress\nmetadata: {name: '${name}'}\n"),
        (
            "fleet.ndjson",
            "{\"name\": \"eu\", \"params\": {\"x\": \"a\"}}\n{\"name\": \"us\", \"params\": {\"x\": \"b\"}}\n",
        ),
    ])
}

fn files(sandbox: &Sandbox) -> Vec<String> {
    sandbox.tree("out").into_keys().filter(|path| !path.starts_with('.')).collect()
}

#[test]
fn every_language_can_have_a_file_for_each_document() {
    let sandbox = sandbox();
    sandbox.stamp(&["--layout", "{cluster}/{kind}-{name}"]).expect(0);
    let wanted =
        ["ConfigMap-eu.yml", "Ingress-eu.yaml", "Job-a.yaml", "Pod-eu.yaml", "Secret-s.json", "Service-web.yaml"];
    let found = files(&sandbox);
    assert_eq!(found.iter().filter_map(|path| path.strip_prefix("eu/")).collect::<Vec<_>>(), wanted);
    assert_eq!(found.len(), 12);
    assert_eq!(sandbox.read("out/eu/Service-web.yaml"), "kind: Service # web\nmetadata: {name: web}\n");
    let pod = "# kept\nkind: \"Pod\"\nmetadata:\n  annotations:\n    name: other\n  name: us\n";
    assert_eq!(sandbox.read("out/us/Pod-us.yaml"), pod);
    assert_eq!(sandbox.read("out/eu/Secret-s.json"), "{\"kind\": \"Secret\",\n \"metadata\": {\"name\": \"s\"}}\n");
    sandbox.stamp(&["--layout", "{cluster}/{kind}-{name}", "--check"]).expect(0);
    sandbox.stamp(&["--layout", "{cluster}/{namespace}"]).expect(4).says(&[
        "document 1: cannot fill in the layout: the document has no `metadata.namespace`",
        "cluster: eu, us",
        "template: all.yaml.tera",
    ]);
}

/// Stamps one template with a layout of documents.
fn stamp(template: &str, layout: &str) -> (Sandbox, Outcome) {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", template), ("fleet.ndjson", "{\"name\": \"eu\", \"n\": 1}\n")]);
    let outcome = sandbox.stamp(&["--layout", layout]);
    (sandbox, outcome)
}

#[test]
fn fields_are_read_however_they_are_written() {
    let text = "{kind: A, metadata: {name: a}}\n---\n? kind\n: B\n---\n\"kind\": C\nmetadata: &m {name: c}\n--- {kind: D}\n---\nkind:\n  E\n---\nkind: &k\n  F\n---\nkind: 012\n";
    let (sandbox, outcome) = stamp(text, "{cluster}/{kind}");
    outcome.expect(0);
    assert_eq!(
        files(&sandbox),
        ["A", "B", "C", "D", "E", "F", "12"]
            .map(|kind| format!("eu/{kind}.yaml"))
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(sandbox.read("out/eu/D.yaml"), "--- {kind: D}\n");
}

#[test]
fn markers_in_text_are_no_markers() {
    let text = "kind: A\ndata: |\n  ---\n  kind: no\n  --- x\nquoted: '\n  --- '\n";
    let (sandbox, outcome) = stamp(text, "{cluster}/{kind}");
    outcome.expect(0);
    assert_eq!((files(&sandbox), sandbox.read("out/eu/A.yaml")), (vec!["eu/A.yaml".to_owned()], text.to_owned()));
}

#[test]
fn a_broken_document_is_an_error_with_its_place() {
    for more in [&[][..], &["--no-check-output"]] {
        let (sandbox, _) = stamp("kind: A\n---\nkind: B\nb: {{ n }}: c\n", "{cluster}/{kind}");
        let outcome = sandbox.stamp(&[&["--layout", "{cluster}/{kind}"], more].concat()).expect(4);
        outcome.says(&["E0906", "--> a.yaml:4:", "a.yaml.tera:4:", "written here", "cluster: eu"]);
        assert!(files(&sandbox).is_empty());
    }
}

#[test]
fn fields_that_lead_astray_are_refused() {
    for (text, message) in [
        ("kind: ../../x\n", "document 1: `kind` value `../../x`"),
        ("kind: .x\n", "begins with a dot"),
        ("kind: A\n---\nkind: a\n", "two documents have the same path"),
        ("kind: [1]\n", "`kind` is a list"),
        ("kind: null\n", "`kind` is null"),
        ("a: 1\n", "the document has no `kind`"),
        ("- 1\n", "the document has no `kind`"),
        ("text\n", "the document has no `kind`"),
    ] {
        stamp(text, "{cluster}/{kind}").1.expect(4).says(&[message]);
    }
}

#[test]
fn hostile_documents_end_soon() {
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    stamp(&format!("kind: A\na: {deep}\n"), "{cluster}/{kind}").1.expect(0);
    stamp("{% for i in range(end=20000) %}---\nkind: K{{ i }}\n{% endfor %}", "{cluster}/{kind}").1.expect(0);
    stamp("kind: A\na: {% for i in range(end=100000) %}[{% endfor %}", "{cluster}/{kind}")
        .1
        .expect(4)
        .says(&["nests too deep"]);
    let directives = stamp("%YAML 1.2\n{% for i in range(end=50000) %}---\n{% endfor %}", "{cluster}/{kind}").1;
    assert!([0, 4].contains(&directives.code), "{}", directives.stderr);
}

#[test]
fn text_that_is_not_yaml_has_no_documents() {
    let sandbox = sandbox();
    sandbox.write("t/motd.tera", "hello\n");
    sandbox.stamp(&["--layout", "{cluster}/{kind}"]).expect(2).says(&["`{kind}`", "`motd.tera`", "renders text"]);
    let only = ["stamp", "t/motd.tera", "--fleet", "fleet.ndjson", "-o", "out", "--layout", "{name}"];
    sandbox.run(&only).expect(0);
    assert_eq!(files(&sandbox), ["eu", "us"]);
}

#[test]
fn white_space_makes_no_file() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{% if on %}kind: A\n{% endif %}\n \t\n"),
        ("t/b.tera", "{% if on %}b{% endif %}"),
        ("t/c.txt.tera", "c\n"),
        ("fleet.ndjson", "{\"name\": \"x\", \"on\": true}\n{\"name\": \"y\", \"on\": false}\n"),
    ]);
    sandbox.stamp(&[]).expect(0).says(&["4 files for 2 clusters"]);
    assert_eq!(files(&sandbox), ["x/a.yaml", "x/b", "x/c.txt", "y/c.txt"]);
    let state = sandbox.state("out");
    assert!(state.contains("x/b") && !state.contains("y/b"), "{state}");
    sandbox.stamp(&["--keep-empty"]).expect(0).says(&["6 files for 2 clusters"]);
    assert_eq!(sandbox.read("out/y/a.yaml"), "\n \t\n");
    // A file of an earlier run stays until it is pruned.
    sandbox.stamp(&[]).expect(0);
    assert_eq!(files(&sandbox).len(), 6);
    let preview = sandbox.stamp(&["--prune", "--dry-run"]).expect(0).stdout;
    assert!(preview.contains("delete out/y/a.yaml") && preview.contains("delete out/y/b\n"), "{preview}");
    sandbox.stamp(&["--prune"]).expect(0).says(&["2 deleted"]);
    assert_eq!(files(&sandbox), ["x/a.yaml", "x/b", "x/c.txt", "y/c.txt"]);
}

#[test]
fn kinds_are_sorted_within_each_cluster_of_a_stream() {
    let sandbox = sandbox();
    let single = ["stamp", "t", "--fleet", "fleet.ndjson", "--layout", "single", "-q"];
    let kinds = |more: &[&str]| {
        let out = sandbox.run(&[&single[..], more].concat()).expect(0).stdout;
        let kind = |line: &str| {
            Some(line.split_once("kind")?.1.trim_matches([':', ' ', '"', ',']).split([' ', '"']).next()?.to_owned())
        };
        out.lines().filter_map(kind).collect::<Vec<_>>().join(" ")
    };
    let sorted = "Secret ConfigMap Service Pod Job Ingress";
    assert_eq!(kinds(&[]), format!("{sorted} {sorted}"));
    assert_eq!(kinds(&["-j", "1"]), kinds(&["-j", "4"]));
    let unsorted = "Service Pod Job ConfigMap Secret Ingress";
    assert_eq!(kinds(&["--order", "none"]), format!("{unsorted} {unsorted}"));
}
