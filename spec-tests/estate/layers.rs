//! Layers: values files for environments, regions and single clusters.

use crate::support::Sandbox;

const PROJECT: &str = "templates = [\"t\"]\nfleet = [\"clusters.yaml\"]\nvalues = [\"values.yaml\"]
layers = [\"env/{env}.yaml\", \"region/{meta.region}.yaml?\", \"own/{cluster}.yaml?\"]\n[output]\ndir = \"out\"\n";

const CLUSTERS: &str = "- {name: eu-1, env: prod, meta: {region: eu}}\n- {name: eu-2, env: dev, meta: {region: eu}}
- {name: us-1, env: prod, replicas: 9}\n";

/// A project with three clusters in two environments.
fn project() -> Sandbox {
    Sandbox::with(&[
        ("dropforge.toml", PROJECT),
        ("clusters.yaml", CLUSTERS),
        ("values.yaml", "replicas: 1\nimage: {repo: web, tag: v1, pull: Always}\nzone: none\n"),
        ("env/prod.yaml", "replicas: 3\nimage: {pull: null}\n"),
        ("env/dev.yaml", "replicas: 2\nimage: {tag: edge}\n"),
        ("region/eu.yaml", "zone: eu-west\n"),
        ("own/eu-2.yaml", "zone: lab\n"),
        ("t/app.txt.tera", "{{ name }} {{ env }} {{ replicas }} {{ image.tag }} {{ image | length }} {{ zone }}\n"),
    ])
}

/// The file of each cluster, in one text.
fn texts(sandbox: &Sandbox) -> String {
    sandbox.tree("out").into_iter().filter(|(name, _)| name.ends_with(".txt")).map(|(_, text)| text).collect()
}

const PRODUCTION: &str = "eu-1 prod 3 v1 2 eu-west\neu-2 dev 2 edge 3 lab\nus-1 prod 9 v1 2 none\n";

#[test]
fn a_cluster_has_the_files_of_its_values() {
    let sandbox = project();
    sandbox.run(&["stamp"]).expect(0);
    assert_eq!(texts(&sandbox), PRODUCTION);
    // One line of a fleet file is read when it is needed.
    let lines = "{\"name\":\"eu-1\",\"env\":\"prod\",\"meta\":{\"region\":\"eu\"}}
{\"name\":\"eu-2\",\"env\":\"dev\",\"meta\":{\"region\":\"eu\"}}\n{\"name\":\"us-1\",\"env\":\"prod\",\"replicas\":9}\n";
    sandbox.write("clusters.ndjson", lines);
    sandbox.replace("dropforge.toml", &PROJECT.replace("clusters.yaml", "clusters.ndjson"));
    sandbox.run(&["stamp", "--check"]).expect(0);
}

#[test]
fn options_of_the_command_line_lie_over_the_layers_of_the_project() {
    let sandbox = project();
    sandbox.write("more.yaml", "zone: more\n");
    sandbox.write("late/prod.yaml", "image: {tag: late}\n");
    sandbox.run(&["stamp", "-f", "more.yaml", "--layer", "late/{env}.yaml?", "--set", "replicas=7"]).expect(0);
    assert_eq!(texts(&sandbox), "eu-1 prod 7 late 2 eu-west\neu-2 dev 7 edge 3 lab\nus-1 prod 7 late 2 more\n");
}

#[test]
fn a_schema_checks_the_merged_values_of_each_cluster() {
    let sandbox = project();
    let schema = r#"{"type": "object", "properties": {"replicas": {"type": "integer", "maximum": 5}}}"#;
    sandbox.write("t/values.schema.json", schema);
    let outcome = sandbox.run(&["stamp"]).expect(4);
    assert!(outcome.stderr.contains("us-1") && !outcome.stderr.contains("eu-1"), "{}", outcome.stderr);
    assert_eq!(texts(&sandbox), "eu-1 prod 3 v1 2 eu-west\neu-2 dev 2 edge 3 lab\n");
    sandbox.replace("env/prod.yaml", "replicas: 6\n");
    sandbox.run(&["stamp"]).expect(4).says(&["env/prod.yaml:1:11", "eu-1"]);
}

#[test]
fn a_missing_file_is_an_error_unless_it_may_be() {
    let sandbox = project();
    sandbox
        .replace("clusters.yaml", &CLUSTERS.replace("env: dev", "env: produ").replace("env: prod, rep", "env: x, rep"));
    let outcome = sandbox.run(&["stamp"]).expect(1).says(&[
        "`env/produ.yaml`: it does not exist",
        "dropforge.toml:4:11",
        "cluster: eu-2",
        "layer `env/{env}.yaml`",
        "did you mean `env/prod.yaml`?",
        "`env/x.yaml`",
        "write the file, or `env/{env}.yaml?` if it may be missing",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 2, "{}", outcome.stderr);
    assert!(!sandbox.path("out").exists());
    // Values that are missing, of another kind, or lead out of the folder.
    let cases = [
        ("{name: a, envv: prod}", "the cluster has no `env`", "did you mean `envv`?"),
        ("{name: a, env: {x: 1}}", "`env` is a map", "clusters.yaml:1:"),
        ("{name: a, env: ../values}", "env` value", "clusters.yaml:1:"),
        ("{name: a, env: prod, meta: {region: ..}}", "`meta.region` value", "clusters.yaml:1:"),
    ];
    for (cluster, message, more) in cases {
        sandbox.replace("clusters.yaml", &format!("- {cluster}\n"));
        sandbox.run(&["stamp"]).expect(2).says(&[message, more, "cluster: a"]);
    }
}

#[test]
fn an_invalid_layer_is_told_with_all_of_its_clusters() {
    let sandbox = project();
    sandbox.replace("env/prod.yaml", "replicas: [1\n");
    let outcome = sandbox.run(&["stamp"]).expect(1).says(&["env/prod.yaml:", "eu-1", "us-1"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
    for layer in ["env/{env.yaml", "env/{}.yaml", "env/}.yaml"] {
        sandbox
            .run(&["stamp", "--no-project", "t", "--fleet=clusters.yaml", "-oout", "--layer", layer])
            .expect(2)
            .says(&["invalid layer"]);
    }
}

#[test]
fn commands_know_the_layers() {
    let sandbox = project();
    let values = sandbox.run(&["values", "--cluster", "eu-2", "--origins"]).expect(0).stdout;
    assert!(values.contains("image.tag: \"edge\"  # env/dev.yaml:2:14; overrides values.yaml:2:25"), "{values}");
    assert!(
        values.contains("zone: \"lab\"  # own/eu-2.yaml:1:7; overrides region/eu.yaml:1:7, values.yaml:3:7"),
        "{values}"
    );
    // Without a cluster, layers of clusters are left out.
    assert!(!sandbox.run(&["values"]).expect(0).stdout.contains("eu-west"));
    // The files of other clusters need not exist.
    std::fs::remove_file(sandbox.path("env/prod.yaml")).unwrap();
    sandbox.run(&["values", "--cluster", "eu-2"]).expect(0);
    let sandbox = project();
    sandbox.run(&["stamp"]).expect(0);
    let why = sandbox.run(&["why", "out/eu-2/app.txt:1:14"]).expect(0).stdout;
    assert!(why.contains("env/dev.yaml:2:14"), "{why}");
    // A name that nothing reads, and a typo of one.
    sandbox.replace("t/app.txt.tera", "{{ replicas }} {{ image.tag }} {{ zone }}\n");
    sandbox.replace("values.yaml", "replicas: 1\nimage: {tag: v1}\nzone: none\n");
    sandbox.replace("env/prod.yaml", "replicas: 3\n");
    sandbox.replace("env/dev.yaml", "replicas: 2\nimage: {tga: edge}\n");
    let found = ["env/dev.yaml:2:14", "image.tga", "did you mean `image.tag`?"];
    sandbox.run(&["check"]).expect(0).says(&found);
    sandbox.run(&["stamp", "--strict"]).expect(1).says(&found);
    sandbox.replace("env/dev.yaml", "image: edge\n");
    sandbox.run(&["check"]).expect(1).says(&["E0810", "env/dev.yaml:1:8", "values.yaml:2:"]);
}

#[test]
fn a_selector_sees_the_layers() {
    let sandbox = project();
    sandbox.run(&["stamp", "-l", "zone=lab"]).expect(0).says(&["1 cluster"]);
    assert_eq!(texts(&sandbox), "eu-2 dev 2 edge 3 lab\n");
    sandbox.run(&["stamp", "--layout", "{zone}/{cluster}/{template}"]).expect(0);
    assert!(sandbox.path("out/eu-west/eu-1/app.txt").exists());
}

#[test]
fn layers_of_clusters_need_the_fleet_first() {
    let sandbox = project();
    sandbox.write("clusters.ndjson", "{\"name\":\"a\",\"env\":\"prod\"}\n");
    let args = ["stamp", "--no-project", "t", "--fleet=clusters.ndjson", "-oout", "--stream", "--layer"];
    sandbox.run(&[&args[..], &["env/{env}.yaml"]].concat()).expect(2).says(&["`--stream`", "env/{env}.yaml"]);
    let values = ["-f", "values.yaml", "-f", "region/eu.yaml"];
    sandbox.run(&[&args[..], &["env/prod.yaml"], &values].concat()).expect(0);
    assert_eq!(texts(&sandbox), "a prod 3 v1 2 eu-west\n");
}

#[test]
fn many_clusters_of_one_environment_share_specialised_templates() {
    let sandbox = project();
    let fleet: String = (0..1_200)
        .map(|at| format!("{{\"name\":\"c{at}\",\"env\":\"{}\"}}\n", if at % 3 == 0 { "dev" } else { "prod" }))
        .collect();
    sandbox.write("clusters.ndjson", &fleet);
    sandbox.replace("dropforge.toml", &PROJECT.replace("clusters.yaml", "clusters.ndjson"));
    sandbox.run(&["stamp"]).expect(0);
    let fast = sandbox.tree("out");
    sandbox.run(&["stamp", "--check", "--no-specialise"]).expect(0);
    assert_eq!(fast["c0/app.txt"], "c0 dev 2 edge 3 none\n");
    assert_eq!(fast["c1/app.txt"], "c1 prod 3 v1 2 none\n");
    let plan = sandbox.run(&["stamp", "--explain-plan"]).expect(0).stdout;
    assert!(plan.contains("known to most clusters: replicas, image, zone"), "{plan}");
}

#[test]
fn a_chart_has_the_layers_of_each_cluster() {
    let sandbox = project();
    sandbox.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    sandbox.write("web/values.yaml", "replicas: 1\nimage: {tag: v0, pull: Always}\nzone: none\n");
    sandbox
        .write("web/templates/app.yaml", "a: {{ .Values.replicas }} {{ .Values.image | toJson }} {{ .Values.zone }}\n");
    let project = PROJECT.replace("\"t\"", "\"web\"").replace("values = [\"values.yaml\"]\n", "");
    sandbox.replace("dropforge.toml", &project);
    let many: String = (0..40).map(|at| format!("- {{name: x{at}, env: {}}}\n", ["dev", "prod"][at % 2])).collect();
    sandbox.replace("clusters.yaml", &format!("{CLUSTERS}{many}"));
    sandbox.run(&["stamp"]).expect(0);
    let line = |cluster: &str| {
        sandbox
            .read(&format!("out/{cluster}/app.yaml"))
            .lines()
            .find(|line| line.starts_with("a: "))
            .unwrap()
            .to_owned()
    };
    assert_eq!(line("eu-1"), "a: 3 {\"tag\":\"v0\"} eu-west");
    assert_eq!(line("eu-2"), "a: 2 {\"pull\":\"Always\",\"tag\":\"edge\"} lab");
    assert_eq!(line("us-1"), "a: 9 {\"tag\":\"v0\"} none");
    assert_eq!(line("x38"), "a: 2 {\"pull\":\"Always\",\"tag\":\"edge\"} none");
    assert_eq!(line("x39"), "a: 3 {\"tag\":\"v0\"} none");
    sandbox.run(&["stamp", "--check", "--no-specialise"]).expect(0);
    sandbox.run(&["check"]).expect(0);
}
