//! `dropforge stamp CHART`: a release for each cluster of a fleet.

use crate::support::Sandbox;

const CHART: &[(&str, &str)] = &[
    (
        "web/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: cache, version: 1.0.0, repository: '', condition: cache.enabled}\n",
    ),
    ("web/values.yaml", "port: 80\nbig: 1000000\nlevel: info\nnote: default\ncache: {enabled: true}\n"),
    (
        "web/templates/service.yaml",
        "kind: Service\nmetadata:\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\nport: {{ .Values.port }}\n\
         big: {{ .Values.big }}\nlevel: {{ .Values.level }}\nnote: {{ .Values.note | default \"none\" }}\n",
    ),
    (
        "web/templates/job.yaml",
        "kind: Job\nmetadata:\n  name: j\n  annotations: {helm.sh/hook: pre-install}\n---\nkind: ConfigMap\nmetadata: {name: c}\n",
    ),
    ("web/templates/NOTES.txt", "Thank you.\n"),
    ("web/crds/thing.yaml", "kind: CustomResourceDefinition\nmetadata: {name: things}\n"),
    ("web/charts/cache/Chart.yaml", "apiVersion: v2\nname: cache\nversion: 1.0.0\n"),
    ("web/charts/cache/templates/pod.yaml", "kind: Pod\nmetadata: {name: {{ .Release.Name }}-cache}\n"),
    ("values.yaml", "port: 8080\nlevel: warn\n"),
    (
        "fleet.ndjson",
        "{\"name\": \"eu-1\", \"port\": 9000, \"cluster\": {\"namespace\": \"shop\"}}\n\
         {\"name\": \"us-1\", \"note\": null, \"cache\": {\"enabled\": false}}\n",
    ),
];

const STAMP: [&str; 8] = ["stamp", "web", "--fleet", "fleet.ndjson", "-f", "values.yaml", "-o", "out"];

#[test]
fn each_cluster_is_a_release() {
    let sandbox = Sandbox::with(CHART);
    let args = [&STAMP[..], &["--namespace-key", "cluster.namespace", "-n", "usual", "--set", "level=error"]].concat();
    sandbox.run(&args).expect(0).says(&["stamped 5 files for 2 clusters"]);
    let paths =
        ["eu-1/charts/cache/pod.yaml", "eu-1/job.yaml", "eu-1/service.yaml", "us-1/job.yaml", "us-1/service.yaml"];
    let made: Vec<String> = sandbox.tree("out").into_keys().filter(|path| !path.starts_with('.')).collect();
    assert_eq!(made, paths);
    assert_eq!(
        sandbox.read("out/eu-1/service.yaml"),
        "---\n# Source: web/templates/service.yaml\nkind: Service\nmetadata:\n  name: eu-1\n  namespace: shop\nport: 9000\n\
         big: 1e+06\nlevel: error\nnote: default\n\n"
    );
    let other = sandbox.read("out/us-1/service.yaml");
    assert!(other.contains("namespace: usual\nport: 8080\n") && other.contains("note: none\n"), "{other}");
    // Documents of hooks follow the others of their file.
    let job = sandbox.read("out/us-1/job.yaml");
    assert!(job.find("kind: ConfigMap") < job.find("kind: Job"), "{job}");
    sandbox.run(&[&args[..], &["--check"]].concat()).expect(0);
    let crds = sandbox.run(&[&args[..], &["--include-crds", "--no-hooks"]].concat()).expect(0);
    crds.says(&["2 new"]);
    assert!(!sandbox.read("out/us-1/job.yaml").contains("kind: Job"));
}

#[test]
fn one_stream_has_the_texts_of_single_renders() {
    let sandbox = Sandbox::with(CHART);
    let stamped = sandbox.run(&[&STAMP[..6], &["--layout", "single", "-q"]].concat()).expect(0).stdout;
    let rendered = ["eu-1", "us-1"].map(|name| {
        let line = CHART.last().unwrap().1.lines().find(|line| line.contains(name)).unwrap();
        sandbox.write("own.json", line);
        sandbox.run(&["render", "web", "--name", name, "-f", "values.yaml", "-f", "own.json"]).expect(0).stdout
    });
    assert_eq!(stamped, rendered.concat());
}

#[test]
fn all_releases_may_have_one_name() {
    let sandbox = Sandbox::with(CHART);
    sandbox.run(&[&STAMP[..], &["--name", "web"]].concat()).expect(0);
    for cluster in ["eu-1", "us-1"] {
        assert!(sandbox.read(&format!("out/{cluster}/service.yaml")).contains("  name: web\n"), "{cluster}");
    }
    sandbox.run(&[&STAMP[..], &["--name", "Web"]].concat()).expect(2);
    sandbox.write("a.tera", "a\n");
    sandbox.run(&["stamp", "a.tera", "--fleet", "fleet.ndjson", "-o", "tera", "--name", "web"]).expect(2);
}

#[test]
fn many_clusters_share_what_is_the_same() {
    let sandbox = Sandbox::with(CHART);
    let cluster = |n: usize| {
        format!("{{\"name\": \"c{n}\", \"port\": {n}, \"cache\": {{\"enabled\": {}}}}}\n", n.is_multiple_of(2))
    };
    sandbox.write("fleet.ndjson", &(0..40).map(cluster).collect::<String>());
    let stamp = |options: &[&str]| sandbox.run(&[&STAMP[..6], &["-q"], options].concat()).expect(0);
    for layout in [&["--layout", "single"][..], &["-o", "out"], &["--layout", "single", "--name", "one"]] {
        let threads = |count| stamp(&[layout, &["-j", count]].concat()).stdout;
        assert_eq!(threads("1"), threads("4"));
    }
    // A cluster alone shares nothing with others.
    for n in [0, 7, 39] {
        sandbox.write("fleet.ndjson", &cluster(n));
        stamp(&["-o", "alone"]);
    }
    let all = sandbox.tree("out");
    let alone = sandbox.tree("alone").into_iter().filter(|(path, _)| !path.starts_with('.'));
    alone.for_each(|(path, text)| assert_eq!(all.get(&path), Some(&text), "{path}"));
}

#[test]
fn cells_of_tables_are_integers_and_other_numbers_are_not() {
    let sandbox = Sandbox::with(CHART);
    sandbox.write("web/templates/service.yaml", "kind: {{ printf \"%T\" .Values.port }}\n");
    for (fleet, text, kind) in [
        ("fleet.csv", "name,port\na,9\n", "int64"),
        ("fleet.yaml", "- {name: a, port: 9}\n", "float64"),
        ("fleet.json", "[{\"name\": \"a\", \"port\": 9}]", "float64"),
    ] {
        sandbox.write(fleet, text);
        sandbox.run(&["stamp", "web", "--fleet", fleet, "-o", "typed"]).expect(0);
        assert!(sandbox.read("typed/a/service.yaml").contains(&format!("kind: {kind}\n")), "{fleet}");
    }
}

#[test]
fn documents_go_to_files_of_their_own() {
    let sandbox = Sandbox::with(CHART);
    sandbox.run(&[&STAMP[..], &["--layout", "{cluster}/{kind}-{name}"]].concat()).expect(0);
    let made: Vec<String> = sandbox.tree("out").into_keys().filter(|path| path.starts_with("eu-1")).collect();
    assert_eq!(
        made,
        ["eu-1/ConfigMap-c.yaml", "eu-1/Job-j.yaml", "eu-1/Pod-eu-1-cache.yaml", "eu-1/Service-eu-1.yaml"]
    );
}

#[test]
fn documents_of_comments_do_not_collide() {
    let sandbox = Sandbox::with(CHART);
    for name in ["a", "b"] {
        sandbox.write(&format!("web/templates/{name}.yaml"), &format!("# {name} is off\n"));
    }
    sandbox.run(&[&STAMP[..], &["--layout", "{cluster}/{kind}-{name}"]].concat()).expect(0);
    let made = sandbox.tree("out").into_keys().filter(|path| path.starts_with("us-1"));
    assert_eq!(made.collect::<Vec<_>>(), ["us-1/ConfigMap-c.yaml", "us-1/Job-j.yaml", "us-1/Service-us-1.yaml"]);
}

#[test]
fn values_that_do_not_fit_a_schema_have_their_places() {
    let sandbox = Sandbox::with(CHART);
    let schema = r#"{"properties": {"port": {"maximum": 100}, "level": {"type": "string"}}}"#;
    sandbox.write("web/values.schema.json", &schema.replace("{\"max", "{\n\"max"));
    sandbox.write(
        "web/charts/cache/values.schema.json",
        r#"{"additionalProperties": false, "properties": {"global": {}, "enabled": {}}}"#,
    );
    let render = |args: &[&str], parts: &[&str]| {
        let outcome = sandbox.run(&[&["render", "web", "-f", "own.yaml"], args].concat()).expect(1);
        outcome.says(&["E0808"]).says(parts).stderr
    };
    sandbox.write("own.yaml", "a: 1\nport: 101\ncache:\n  enabled: true\n  sise: 1\n");
    let places = ["--> own.yaml:2:1", "given here", "own.yaml:5:3", "web/values.schema.json:2:12", "expected here"];
    render(&[], &places);
    let set = render(&["--set", "port=102"], &["--> own.yaml:5:3", "got 102, want 100"]);
    assert!(!set.contains("own.yaml:2:1"), "{set}");
    sandbox.write("own.yaml", "a: 1\n");
    sandbox.write("web/values.yaml", "level: 5\n");
    render(&[], &["--> web/values.yaml:1:1", "web/values.schema.json:2:36"]);
    let stamp = |fleet: &str, place: &str| {
        let options = ["stamp", "web", "--fleet", fleet, "--set", "level=a", "-o", "out"];
        sandbox.run(&options).expect(4).says(&[
            "E0808",
            place,
            "template: values.schema.json",
            "web/values.schema.json:2:12",
        ]);
    };
    sandbox.write("fleet.csv", "name,port\neu-1,8\nus-1,801\n");
    stamp("fleet.csv", "--> fleet.csv:3:6");
    sandbox.write("fleet.yaml", "- name: a\n  port: 802\n");
    stamp("fleet.yaml", "--> fleet.yaml:2:9");
}

#[test]
fn shards_and_streams_make_what_one_run_makes() {
    let sandbox = Sandbox::with(CHART);
    sandbox.run(&STAMP).expect(0);
    let sharded = [&STAMP[..6], &["-o", "sharded"]].concat();
    for more in [["--shard", "0/2"], ["--shard", "1/2"], ["--finish", "2"]] {
        sandbox.run(&[&sharded[..], &more].concat()).expect(0);
    }
    assert_eq!(sandbox.tree("sharded"), sandbox.tree("out"));
    sandbox.run(&[&STAMP[..6], &["-o", "streamed", "--stream"]].concat()).expect(0);
    assert_eq!(sandbox.tree("streamed"), sandbox.tree("out"));
    // Another chart is another plan.
    sandbox.run(&[&sharded[..], &["--shard", "0/2"]].concat()).expect(0);
    sandbox.write("web/templates/service.yaml", "kind: Other\n");
    sandbox.run(&[&sharded[..], &["--finish", "2"]].concat()).expect(2);
}

#[test]
fn errors_name_cluster_and_place_and_stop_no_other() {
    let sandbox = Sandbox::with(CHART);
    sandbox.write("web/templates/service.yaml", "kind: Service\nport: {{ required \"a port\" .Values.own }}\n");
    sandbox.write("fleet.ndjson", "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\", \"own\": 1}\n");
    sandbox.run(&STAMP).expect(4).says(&[
        "a port",
        "web/templates/service.yaml:2",
        "eu-1",
        "stamped 3 files for 1 cluster",
        "1 cluster failed",
    ]);
    assert!(sandbox.path("out/us-1/service.yaml").exists() && !sandbox.path("out/eu-1").exists());
    // A name that no release can have.
    sandbox.write("fleet.ndjson", "{\"name\": \"EU_1\"}\n{\"name\": \"us-1\", \"own\": 1}\n");
    sandbox.run(&STAMP).expect(4).says(&["`EU_1` cannot be the name of a release"]);
    // A document that is not YAML, and a release without documents.
    sandbox.write("web/templates/service.yaml", "{{ if .Values.own }}kind: [{{ end }}\n");
    sandbox.run(&STAMP).expect(4).says(&["us-1", "web/templates/service.yaml"]);
    assert!(!sandbox.path("out/EU_1").exists());
}

#[test]
fn options_that_do_not_apply_are_told() {
    let sandbox = Sandbox::with(CHART);
    sandbox.write("t/a.yaml.tera", "a: 1\n");
    for (more, says) in [
        (&["--lang", "tera"][..], "`--lang` does not apply to `web`: it is a Helm chart"),
        (&["--explain-plan"], "`--explain-plan` does not apply"),
        (&["t"], "`web` is a Helm chart, which cannot be combined with other templates"),
    ] {
        sandbox.run(&[&STAMP[..], more].concat()).expect(2).says(&[says]);
    }
    let other = ["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "--include-crds"];
    sandbox.run(&other).expect(2).says(&["`--include-crds` does not apply to `t`: it is not a Helm chart"]);
}
