//! Errors of layouts and plans are folded like those of rendering.

use crate::support::{Sandbox, clusters};

#[test]
fn a_missing_value_of_the_layout_is_one_error() {
    let sandbox = Sandbox::fleet(412);
    let layout = ["--layout", "{region}/{cluster}/{template}"];
    let outcome = sandbox.stamp(&layout).expect(2).says(&[
        "error[E0913]: 412 clusters: cannot fill in layout `{region}/{cluster}/{template}`: the cluster has no `region`",
        "cluster: c0, c1, c2, c3, c4 and 407 more",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1);
    assert!(!sandbox.path("out").exists());
    let json = sandbox.stamp(&[&layout[..], &["--error-format", "json"]].concat()).expect(2).json();
    assert_eq!((&json[0]["code"], &json[0]["count"]), (&"E0913".into(), &412.into()));
    assert_eq!(json[0]["clusters"].as_array().unwrap().len(), 412);
}

#[test]
fn causes_stay_apart() {
    let sandbox = Sandbox::fleet(0);
    let value = |n: usize| match n % 3 {
        0 => "\"m\": 1".to_owned(),
        1 => "\"region\": []".to_owned(),
        _ => "\"region\": \"eu\"".to_owned(),
    };
    sandbox.write("fleet.ndjson", &clusters(30, value));
    let outcome = sandbox.stamp(&["--layout", "{region}/{cluster}/{template}"]).expect(2);
    let outcome = outcome.says(&["10 clusters: ", "has no `region`", "`region` is a list"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 2);
}

#[test]
fn one_path_for_many_clusters_is_one_error() {
    let sandbox = Sandbox::fleet(30);
    let outcome = sandbox.stamp(&["--layout", "{template}"]).expect(2).says(&[
        "29 clusters: two outputs have the same path `a.yaml`",
        "29 clusters: two outputs have the same path `b.yaml`",
        "the notes are about cluster `c1`",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 2);
}

#[test]
fn one_cluster_is_not_counted() {
    let sandbox = Sandbox::fleet(1);
    let outcome = sandbox.stamp(&["--layout", "{region}/{cluster}/{template}"]).expect(2);
    outcome.says(&["error[E0913]: cannot fill in layout", "cluster: c0"]);
}

#[test]
fn names_that_fit_no_path_are_one_error_with_a_place() {
    let sandbox = Sandbox::fleet(0);
    let names: String = (0..5_000).map(|n| format!("{{\"n\":1,\"name\":\".c{n}\"}}\n")).collect();
    sandbox.write("fleet.ndjson", &names);
    let outcome = sandbox.stamp(&[]).expect(2).says(&[
        "error[E0912]: 5,000 clusters: cluster name `.c0` begins with a dot",
        "fleet.ndjson:1:15",
        ".c0, .c1, .c2, .c3, .c4 and 4,995 more",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1);
    sandbox.write("fleet.ndjson", "{\"name\":\"a/b\"}\n{\"name\":\".c\"}\n{\"name\":\"d/e\"}\n");
    let outcome = sandbox.stamp(&[]).expect(2).says(&["2 clusters: cluster name `a/b`", "fleet.ndjson:2:9"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 2);
}

#[test]
fn the_name_of_a_template_that_fits_no_path_is_not_the_fault_of_a_cluster() {
    let sandbox = Sandbox::fleet(2);
    sandbox.write("t/a*b.yaml.tera", "x: 1\n");
    let outcome = sandbox.stamp(&[]).expect(2).says(&[
        "error[E0912]: 2 clusters: output path `a*b.yaml` contains the part `a*b.yaml`",
        "template: a*b.yaml.tera",
        "at most 255 ASCII letters",
    ]);
    assert!(!outcome.stderr.contains("fleet.ndjson:"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("error[").count(), 1);
}

#[test]
fn many_causes_are_bounded_and_counted() {
    let sandbox = Sandbox::fleet(0);
    sandbox.write("fleet.ndjson", &clusters(100, |n| format!("\"n\":{}", n / 2)));
    let outcome = sandbox.stamp(&["--layout", "{n}/{template}"]).expect(2).says(&["E0914", "and 80 more errors"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 20);
}

#[test]
fn repeated_names_have_their_places() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("f.csv", "n,name\n1,a\n2,b\n3,a\n4,b\n")]);
    let stamp = ["stamp", "t", "--fleet", "f.csv", "-o", "out"];
    sandbox.run(&stamp).expect(2).says(&[
        "error[E0917]: duplicate cluster name `a` (cluster 1 and cluster 3)",
        "--> f.csv:4:3",
        "f.csv:2:3",
        "the other cluster",
        "also `b` (cluster 2 and cluster 4): f.csv:5:3",
    ]);
    let rows: String = (0..500).map(|nth| format!("1,c{}\n", nth / 2)).collect();
    sandbox.write("f.csv", &format!("n,name\n{rows}"));
    sandbox.run(&stamp).expect(2).says(&["and 229 more pairs"]);
}

#[test]
fn the_help_of_a_collision_helps() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "x"),
        ("t/A.yaml.tera", "x"),
        ("u/a.yaml.tera", "x"),
        ("d/a.cel.yaml", "kind: Pod\nmetadata: {name: x}\n---\nkind: Pod\nmetadata: {name: y}\n"),
        ("one.csv", "name,n\na,1\n"),
        ("two.csv", "name,n\nEU,1\neu,1\n"),
    ]);
    let stamp = |template: &str, fleet: &str, layout: &str| {
        sandbox.run(&["stamp", template, "--fleet", fleet, "-o", "out", "--layout", layout]).expect(2)
    };
    let default = "{cluster}/{template}";
    stamp("t", "one.csv", default).says(&["E0915", "rename one of the templates", "one.csv:2:1"]);
    stamp("u", "two.csv", default).says(&["E0915", "rename one of the clusters", "two.csv:3:1"]);
    stamp("u", "two.csv", "{n}/{template}").says(&["E0914", "add `{cluster}` to the `--layout`"]);
    stamp("t", "one.csv", "{cluster}").says(&["E0914", "add `{template}` to the `--layout`"]);
    let stamp = ["stamp", "d", "--fleet", "one.csv", "-o", "out", "--layout"];
    let documents = |layout: &str| sandbox.run(&[&stamp[..], &[layout]].concat()).expect(4);
    documents("{cluster}/{kind}").says(&["E0914", "add `{name}` or `{namespace}` to the `--layout`"]);
}
