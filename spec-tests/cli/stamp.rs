//! `stamp`: which outputs are written for which clusters, and to which paths.

use crate::support::{Sandbox, clusters};

#[test]
fn the_outputs_of_a_directory_and_their_names() {
    let sandbox = Sandbox::with(&[
        ("t/app.yaml.tera", "{% extends \"base.tera\" %}{% block b %}{% include \"_labels.tera\" %}{% endblock %}"),
        ("t/base.tera", "base: {% block b %}{% endblock b %}\n"),
        ("t/_labels.tera", "l-{{ name }}"),
        ("t/sub/conf.tera", "{% import \"m.tera\" as m %}{{ m::x() }}\n"),
        ("t/m.tera", "{% macro x() %}macro{% endmacro %}"),
        ("t/run.sh.tower", "echo ${params.who}\n"),
        ("t/notes.md", "{{ not a template }}"),
        ("fleet.ndjson", "{\"name\":\"eu\",\"params\":{\"who\":\"me\"}}\n"),
    ]);
    let outcome = sandbox.stamp(&[]).expect(0);
    assert_eq!(outcome.stdout, "");
    let files = sandbox.outputs("out");
    let files: Vec<_> = files.into_iter().collect();
    assert_eq!(
        files,
        [
            ("eu/app.yaml".to_owned(), "base: l-eu\n".to_owned()),
            ("eu/run.sh".to_owned(), "echo me\n".to_owned()),
            ("eu/sub/conf".to_owned(), "\nmacro\n".trim_start().to_owned()),
        ]
    );
}

#[test]
fn a_file_named_is_an_output_in_any_case() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "a {% include \"_b.yaml.tera\" %}"),
        ("t/_b.yaml.tera", "b {{ name }}"),
        ("t/x/plain.yaml", "{{ name }}"),
        ("fleet.json", "[{\"name\":\"eu\"}]"),
    ]);
    let stamp = ["stamp", "--fleet", "fleet.json", "-o", "out"];
    sandbox.run(&[&stamp[..], &["t/_b.yaml.tera", "t/a.yaml.tera"]].concat()).expect(0);
    assert_eq!((sandbox.read("out/eu/_b.yaml"), sandbox.read("out/eu/a.yaml")), ("b eu".into(), "a b eu".into()));
    sandbox.run(&[&stamp[..], &["t/x/plain.yaml"]].concat()).expect(2).says(&["plain.yaml", "--lang"]);
    sandbox.run(&[&stamp[..], &["t/x/plain.yaml", "--lang", "tera", "-I", "t"]].concat()).expect(0);
    assert_eq!(sandbox.read("out/eu/x/plain.yaml"), "eu");
}

#[test]
fn every_kind_of_fleet_gives_the_same_files() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{{ cluster.name }} {{ region }}\n"),
        ("f.json", r#"[{"cluster":{"name":"a"},"region":"x"},{"cluster":{"name":"b"},"region":"y"}]"#),
        (
            "f.ndjson",
            "{\"cluster\":{\"name\":\"a\"},\"region\":\"x\"}\n\n{\"cluster\":{\"name\":\"b\"},\"region\":\"y\"}\n",
        ),
        ("f.yaml", "- cluster: {name: a}\n  region: x\n- cluster: {name: b}\n  region: \"y\"\n"),
        ("docs.yaml", "cluster: {name: a}\nregion: x\n---\ncluster: {name: b}\nregion: \"y\"\n"),
        ("f.csv", "cluster.name,region\na,x\nb,y\n"),
        ("each/1.yaml", "cluster: {name: a}\nregion: x\n"),
        ("each/2.json", r#"{"cluster":{"name":"b"},"region":"y"}"#),
    ]);
    let mut trees = Vec::new();
    for fleet in ["f.json", "f.ndjson", "f.yaml", "docs.yaml", "f.csv", "each/*"] {
        let out = format!("out-{}", fleet.replace(['/', '*'], ""));
        sandbox.run(&["stamp", "t", "--fleet", fleet, "-o", &out]).expect(0);
        trees.push(sandbox.tree(&out));
    }
    let input = sandbox.read("f.ndjson");
    sandbox.feed(&["stamp", "t", "--fleet", "-", "-o", "out-stdin"], &input).expect(0);
    trees.push(sandbox.tree("out-stdin"));
    assert_eq!(trees[0]["b/a.yaml"], "b y\n");
    assert!(trees.iter().all(|tree| *tree == trees[0]), "{trees:?}");
}

#[test]
fn names_come_from_a_key_and_are_unique() {
    let sandbox =
        Sandbox::with(&[("t/a.tera", "x"), ("fleet.ndjson", "{\"meta\":{\"id\":\"a\"}}\n{\"meta\":{\"id\":\"a\"}}\n")]);
    sandbox.stamp(&[]).expect(2).says(&["E0918", "--name-key"]);
    sandbox.stamp(&["--name-key", "meta.id"]).expect(2).says(&["E0917", "cluster 1 and cluster 2"]);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn selectors_see_the_layered_inputs() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{{ name }}"),
        ("v.yaml", "env: prod\ntier: {size: small}\n"),
        (
            "fleet.ndjson",
            "{\"name\":\"a\"}\n{\"name\":\"b\",\"env\":\"dev\"}\n{\"name\":\"c\",\"tier\":{\"size\":\"large\"}}\n",
        ),
    ]);
    let stamped = |selectors: &[&str]| {
        let out = format!("out{}", selectors.len() + selectors.concat().len());
        sandbox
            .run(&[&["stamp", "t", "--fleet", "fleet.ndjson", "-f", "v.yaml", "-o", &out], selectors].concat())
            .expect(0);
        sandbox.tree(&out).into_keys().filter(|path| !path.starts_with('.')).collect::<Vec<_>>()
    };
    assert_eq!(stamped(&["-l", "env=prod"]), ["a/a.yaml", "c/a.yaml"]);
    assert_eq!(stamped(&["-l", "env=prod,tier.size!=small"]), ["c/a.yaml"]);
    assert_eq!(stamped(&["-l", "env=prod", "-l", "tier.size=small"]), ["a/a.yaml"]);
    sandbox.stamp(&["-l", "env=prod", "-f", "v.yaml", "--set", "env=qa"]).expect(2).says(&["`env` is `qa` (3)"]);
    sandbox.stamp(&["-l", "env in"]).expect(2).says(&["selector"]);
}

#[test]
fn layouts_place_the_outputs() {
    let sandbox = Sandbox::fleet(2);
    sandbox.stamp(&["--layout", "{n}/{cluster}-{template}"]).expect(0);
    assert!(sandbox.path("out/1/c1-b.yaml").exists());
    sandbox.stamp(&["--layout", "{region}/{cluster}"]).expect(2).says(&["E0913", "region"]);
    sandbox.stamp(&["--layout", "{cluster"]).expect(2);
    sandbox.stamp(&["--layout", "{cluster}.yaml"]).expect(2).says(&["E0914", "a.yaml.tera", "b.yaml.tera"]);
}

#[test]
fn one_stream_for_all() {
    let sandbox = Sandbox::fleet(3);
    let single = ["stamp", "t/a.yaml.tera", "--fleet", "fleet.ndjson", "--layout", "single"];
    let stream = sandbox.run(&single).expect(0).stdout;
    let first = "---\n# Source: c0/a.yaml\nname: c0\nn: 1\n---\n# Source: c1/a.yaml\n";
    assert!(stream.starts_with(first), "{stream}");
    sandbox.run(&[&single[..], &["-o", "all.yaml"]].concat()).expect(0);
    assert_eq!(sandbox.read("all.yaml"), stream);
    sandbox.run(&[&single[..], &["-o", "all.yaml", "--check"]].concat()).expect(0);
    sandbox.run(&[&single[..], &["-o", "all.yaml", "--diff", "--set", "n=2"]].concat()).expect(3);
    sandbox.run(&[&single[..], &["-o", "-", "--prune"]].concat()).expect(2);
    let failing = clusters(3, |n| if n == 1 { "\"m\":1".into() } else { "\"n\":2".into() });
    sandbox.write("fleet.ndjson", &failing);
    sandbox.run(&[&single[..], &["-o", "all.yaml"]].concat()).expect(4).says(&["all.yaml", "kept the old"]);
    assert_eq!(sandbox.read("all.yaml"), stream);
    assert!(!sandbox.run(&single).expect(4).stdout.contains("c1"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let sandbox = Sandbox::fleet(60);
    for jobs in ["1", "2", "7"] {
        sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson", "-o", &format!("out{jobs}"), "-j", jobs]).expect(0);
    }
    let one = sandbox.tree("out1");
    assert_eq!(one.len(), 120 + 60 + 1);
    assert!(one == sandbox.tree("out2") && one == sandbox.tree("out7"));
    let stream = |jobs| {
        sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson", "--layout", "single", "-j", jobs]).expect(0).stdout
    };
    assert_eq!(stream("1"), stream("5"));
}

#[test]
fn wrong_templates_stop_everything_before_it_begins() {
    let sandbox = Sandbox::with(&[
        ("t/a.tera", "{{ x }}\n{{ }}"),
        ("t/b.tera", "{% extends \"missing.tera\" %}"),
        ("t/ok.tera", "ok"),
        ("fleet.ndjson", "{\"name\":\"a\"}\n"),
    ]);
    sandbox.stamp(&[]).expect(1).says(&["a.tera:2", "missing.tera"]);
    assert!(!sandbox.path("out").exists());
    sandbox.run(&["stamp", "none", "--fleet", "fleet.ndjson", "-o", "out"]).expect(1).says(&["none"]);
    sandbox.run(&["stamp", "t", "--fleet", "none.json", "-o", "out"]).expect(1).says(&["none.json"]);
    sandbox.run(&["stamp", "t", "--fleet", "t", "-o", "out"]).expect(2).says(&["no data file below `t`"]);
    sandbox.write("e/readme.md", "");
    sandbox.run(&["stamp", "e", "--fleet", "fleet.ndjson", "-o", "out"]).expect(2).says(&["E0911"]);
    sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson"]).expect(2).says(&["-o DIR"]);
}

#[test]
fn an_empty_fleet_is_worth_a_warning() {
    let sandbox = Sandbox::fleet(0);
    sandbox.stamp(&[]).expect(0).says(&["no clusters"]);
}

#[test]
fn clusters_are_named_by_their_files_or_folders() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "{{ name }}: {{ n }}\n"),
        ("prod/eu-1.yaml", "n: 1\n"),
        ("prod/us-1.toml", "n = 2\nm = 1\n"),
        ("prod/named.yaml", "name: own\nn: 3\n"),
        ("prod/list.yaml", "- {name: a, n: 4}\n- {name: b, n: 5}\n"),
        ("dirs/ap-1/values.yaml", "n: 6\n"),
        ("dirs/ap-2/values.yaml", "n: 7\n"),
    ]);
    let names = |args: &[&str]| {
        let text = sandbox.run(&[&["stamp", "t", "--layout", "single", "-q"], args].concat()).expect(0).stdout;
        text.lines().filter(|line| !line.starts_with(['-', '#'])).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&["--fleet", "prod", "--name-from", "file"]), ["eu-1: 1", "a: 4", "b: 5", "own: 3", "us-1: 2"]);
    assert_eq!(names(&["--fleet", "dirs", "--name-from", "folder"]), ["ap-1: 6", "ap-2: 7"]);
    sandbox.run(&["stamp", "t", "--fleet", "dirs", "-o", "out"]).expect(2).says(&["E0918", "`--name-from file`"]);
    // Two files of one name are two clusters of one name.
    sandbox.run(&["stamp", "t", "--fleet", "dirs", "--name-from", "file", "-o", "out"]).expect(2).says(&["E0917"]);
    sandbox.write("prod/two.yaml", "n: 8\n---\nn: 9\n");
    sandbox.run(&["stamp", "t", "--fleet", "prod", "--name-from", "file", "-o", "out"]).expect(2).says(&["E0918"]);
    sandbox
        .run(&["stamp", "t", "--fleet", "prod", "--name-from", "x", "-o", "out"])
        .expect(2)
        .says(&["`file` or `folder`"]);
}

#[test]
fn files_beside_templates_may_have_blanks_in_their_names() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "a: {{ name }}\n"),
        ("t/dash boards/Node Exporter (1).json", "{}\n"),
        ("t/a+b@c.yaml", "x: 1\n"),
        ("f.csv", "name\neu\n"),
    ]);
    let stamp = ["stamp", "t", "--fleet", "f.csv", "-o", "out"];
    sandbox.run(&stamp).expect(0);
    assert_eq!(sandbox.read("out/eu/dash boards/Node Exporter (1).json"), "{}\n");
    sandbox.run(&[&stamp[..], &["--check"]].concat()).expect(0);
    std::fs::remove_file(sandbox.path("t/dash boards/Node Exporter (1).json")).unwrap();
    sandbox.run(&[&stamp[..], &["--prune"]].concat()).expect(0);
    assert!(!sandbox.path("out/eu/dash boards").exists() && sandbox.path("out/eu/a+b@c.yaml").exists());
    // The value of a cluster has fewer characters.
    sandbox.write("f.csv", "name\n\"eu 1\"\n");
    sandbox.run(&stamp).expect(2).says(&["E0912"]);
}
