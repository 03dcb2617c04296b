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
fn many_causes_are_bounded() {
    let sandbox = Sandbox::fleet(0);
    let names: String = (0..5_000).map(|n| format!("{{\"name\":\".c{n}\",\"n\":1}}\n")).collect();
    sandbox.write("fleet.ndjson", &names);
    let outcome = sandbox.stamp(&[]).expect(2).says(&["E0912"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 20);
}
