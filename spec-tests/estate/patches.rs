//! Patches of releases.

use crate::support::Sandbox;

const CHART: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app: web, tier: front}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: web
        image: \"web:{{ .Values.tag }}\"
        securityContext: {defaultMode: 0644, yes: on}
---
# A comment of the service.
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}   # kept
spec: {ports: [{port: 80}]}
";

/// A project with two clusters and a chart, whose release has these patches.
fn project(patches: &str) -> Sandbox {
    Sandbox::with(&[
        (
            "dropforge.toml",
            &format!(
                "fleet = [\"clusters.yaml\"]\n[output]\ndir = \"out\"\n\n[[release]]\nname = \"web\"\nchart = \"chart\"\n{patches}"
            ),
        ),
        (
            "clusters.yaml",
            "- {name: eu, env: prod, zone: z1, token: hunter22}\n- {name: us, env: dev, zone: z2, token: swordfish}\n",
        ),
        ("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
        ("chart/values.yaml", "replicas: 2\ntag: v1\n"),
        ("chart/templates/all.yaml", CHART),
    ])
}

const MERGE: &str = "patches = [{ target = { kind = \"Deployment\", name = \"w*\" }, merge = \"patches/x.yaml\" }]\n";

/// A project with the patch of [`MERGE`].
fn merged(patch: &str) -> Sandbox {
    let sandbox = project(MERGE);
    sandbox.write("patches/x.yaml", patch);
    sandbox
}

/// The output of a cluster.
fn output(sandbox: &Sandbox, cluster: &str) -> String {
    sandbox.read(&format!("out/{cluster}/web/all.yaml"))
}

#[test]
fn a_merge_changes_its_objects_and_keeps_all_other_bytes() {
    let sandbox = merged(
        "spec:\n  replicas: 5\n  template: {spec: {containers: [{name: web, env: [{name: A, value: \"1\"}]}]}}\n",
    );
    sandbox.run(&["stamp", "--strict"]).expect(0);
    let expected = "---
# Source: app/templates/all.yaml
# A comment of the service.
apiVersion: v1
kind: Service
metadata: {name: web}   # kept
spec: {ports: [{port: 80}]}

---
# Source: app/templates/all.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
    tier: front
spec:
  replicas: 5
  template:
    spec:
      containers:
      - name: web
        image: \"web:v1\"
        securityContext:
          defaultMode: 0644
          yes: on
        env:
        - name: A
          value: \"1\"
";
    assert_eq!(output(&sandbox, "eu"), expected);
    sandbox.run(&["stamp", "--check", "-j1", "--no-specialise"]).expect(0);
    // Layouts of documents, streams and `check` have the same.
    sandbox.run(&["stamp", "--layout", "{cluster}/{kind}", "-o", "kinds"]).expect(0);
    assert!(sandbox.read("kinds/us/Deployment.yaml").contains("  replicas: 5\n"));
    assert!(sandbox.read("kinds/us/Service.yaml").contains("# kept\n"));
    let stream = sandbox.run(&["stamp", "--layout", "single", "-o", "-"]).expect(0).stdout;
    assert_eq!(stream.matches("replicas: 5").count(), 2, "{stream}");
    sandbox.run(&["check", "--strict"]).expect(0);
}

#[test]
fn operations_stand_in_the_project_or_in_files() {
    let operations = r#"[[release.patches]]
target = { kind = "{Deployment,StatefulSet}", labels = { app = "web" } }
json = [{ op = "replace", path = "/spec/replicas", value = 3 }, { op = "add", path = "/metadata/annotations", value = { "a/b" = "x" } }]
[[release.patches]]
target = { kind = "Service" }
json = "patches/{env}.json?"
"#;
    let sandbox = project(operations);
    sandbox.write("patches/dev.json", r#"[{"op": "add", "path": "/spec/ports/-", "value": {"port": 81}}]"#);
    sandbox.run(&["stamp", "--strict"]).expect(0);
    let (eu, us) = (output(&sandbox, "eu"), output(&sandbox, "us"));
    assert!(
        eu.contains("replicas: 3\n") && eu.contains("  annotations:\n    a/b: x\n") && eu.contains("# kept"),
        "{eu}"
    );
    assert!(us.contains("  ports:\n    - port: 80\n    - port: 81\n"), "{us}");
}

#[test]
fn documents_of_a_patch_name_their_own_objects() {
    let sandbox = project("patches = [{ merge = \"p.yaml\" }]\n");
    sandbox.write(
        "p.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 7}\n---\n\
         apiVersion: v1\nkind: Service\nmetadata: {name: web}\n$patch: delete\n---\n",
    );
    sandbox.run(&["stamp", "--strict"]).expect(0);
    let text = output(&sandbox, "eu");
    assert!(text.contains("replicas: 7") && !text.contains("Service") && text.matches("---").count() == 1, "{text}");
    sandbox.write("p.yaml", "spec: {replicas: 7}\n");
    sandbox.run(&["stamp"]).expect(1).says(&["E0908", "p.yaml:1:1", "which object", "target = {"]);
    sandbox.write("p.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: wbe}\n");
    let outcome =
        sandbox.run(&["stamp"]).expect(0).says(&["p.yaml:1:1", "`Deployment/wbe`", "did you mean `Deployment/web`"]);
    assert_eq!(outcome.stderr.matches("E0908").count(), 1, "{}", outcome.stderr);
}

#[test]
fn an_output_whose_documents_are_all_deleted_makes_no_file() {
    let sandbox = project("patches = [{ target = {}, merge = { \"$patch\" = \"delete\" } }]\n");
    sandbox.run(&["stamp", "--strict"]).expect(0);
    assert!(sandbox.outputs("out").is_empty());
    sandbox.run(&["stamp", "--layout", "{cluster}/{kind}"]).expect(0);
    assert!(sandbox.outputs("out").is_empty());
}

#[test]
fn a_patch_for_no_object_is_a_warning_with_the_likely_one() {
    let sandbox = project("patches = [{ target = { kind = \"Deploymnet\" }, merge = { spec = { replicas = 1 } } }]\n");
    let said = ["warning[E0908]", "dropforge.toml:8:", "`Deploymnet/*`", "available: Deployment/web, Service/web"];
    sandbox.run(&["stamp"]).expect(0).says(&said);
    sandbox.run(&["check"]).says(&said);
    sandbox.run(&["stamp", "--strict"]).expect(1);
    // A release that no cluster has says nothing about its patches.
    let text = sandbox.read("dropforge.toml");
    sandbox.replace("dropforge.toml", &text.replace("chart = ", "when = \"false\"\nchart = "));
    sandbox.run(&["stamp", "--strict"]).expect(0);
}

#[test]
fn all_operations_that_do_not_fit_are_errors_of_their_clusters() {
    let sandbox = project(
        r#"[[release.patches]]
target = { kind = "Deployment" }
json = [{ op = "replace", path = "/spec/replcas", value = 3 }]
[[release.patches]]
target = { kind = "Service" }
json = [{ op = "test", path = "/spec/ports/0/port", value = 81 }]
"#,
    );
    let outcome = sandbox.run(&["stamp"]).expect(4);
    let outcome = outcome.says(&[
        "2 clusters: cannot replace `/spec/replcas` of `Deployment/web`: there is no `/spec/replcas`",
        "dropforge.toml:10:",
        "did you mean `replicas`",
        "available: replicas, template",
        "cannot test `/spec/ports/0/port` of `Service/web`: expected `81`, found `80`",
        "dropforge.toml:13:",
        "release: web",
    ]);
    assert!(sandbox.outputs("out").is_empty(), "{}", outcome.stderr);
}

#[test]
fn mistakes_of_the_project_are_told_at_once() {
    let sandbox = project(
        r#"[[release.patches]]
target = { knd = "Deployment", name = "web-.*|x" }
merge = "x.yaml"
[[release.patches]]
jsn = []
[[release.patches]]
json = []
"#,
    );
    sandbox.run(&["stamp"]).expect(2).says(&[
        "unknown key `knd` of a target",
        "did you mean `kind`",
        "regular expression",
        "unknown key `jsn` of a patch",
        "either `merge` or `json`",
        "operations need a `target`",
    ]);
    let sandbox = project(
        r#"[[release.patches]]
target = {}
json = [{ op = "repalce", path = "/a", value = 1 }, { op = "add", path = "a", value = 1 }, { op = "add", path = "/a" }]
[[release.patches]]
target = {}
merge = [1]
[[release.patches]]
target = {}
merge = "none.yaml"
"#,
    );
    sandbox.run(&["stamp"]).expect(1).says(&["`none.yaml`", "dropforge.toml:16:9"]);
    sandbox.write("none.yaml", "a: [\n");
    sandbox.run(&["stamp"]).expect(1).says(&[
        "unknown operation `repalce`",
        "did you mean `replace`",
        "does not begin with `/`",
        "no `value`",
        "found a list",
        "none.yaml:",
    ]);
}

#[test]
fn a_patch_may_be_a_template() {
    let sandbox = project("patches = [{ target = { kind = \"Deployment\" }, merge = \"p.yaml.tera\" }]\n");
    sandbox.write(
        "p.yaml.tera",
        "{% if env == \"prod\" %}spec:\n  template:\n    spec:\n      nodeSelector:\n        zone: {{ zone }}\n{% endif %}",
    );
    sandbox.run(&["stamp", "--strict"]).expect(0);
    assert!(output(&sandbox, "eu").contains("      nodeSelector:\n        zone: z1\n"));
    assert!(output(&sandbox, "us").contains("labels: {app: web, tier: front}"));
    let line = output(&sandbox, "eu").lines().position(|line| line.contains("zone:")).unwrap() + 1;
    let outcome = sandbox.run(&["why", &format!("out/eu/web/all.yaml:{line}")]).expect(0);
    assert!(outcome.stdout.contains("zone: z1") && outcome.stdout.contains("p.yaml.tera:5:"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("clusters.yaml:1:"), "{}", outcome.stdout);
    sandbox.write("p.yaml.tera", "spec: {{ absent }}\n");
    sandbox.run(&["stamp"]).expect(4).says(&["absent", "p.yaml.tera:1:"]);
    sandbox.write("p.yaml.tera", "spec: [\n");
    sandbox.run(&["stamp"]).expect(4).says(&["p.yaml (rendered):", "`p.yaml.tera` renders"]);
}

#[test]
fn why_names_the_patch_of_a_line_and_the_template_of_others() {
    let sandbox = merged("spec:\n  replicas: 5\n");
    sandbox.run(&["stamp"]).expect(0);
    let text = output(&sandbox, "eu");
    let why = |part: &str| {
        let line = text.lines().position(|line| line.contains(part)).unwrap() + 1;
        sandbox.run(&["why", &format!("out/eu/web/all.yaml:{line}")]).expect(0).stdout
    };
    let patched = why("replicas");
    assert!(patched.contains("  at patches/x.yaml:2:13") && !patched.contains("templates/all.yaml"), "{patched}");
    let image = why("image:");
    assert!(image.contains("templates/all.yaml:12:") && image.contains("values.yaml:2:"), "{image}");
    assert!(why("tier: front").contains("templates/all.yaml:5:"));
    assert!(why("port: 80").contains("templates/all.yaml:19:"));
}

#[test]
fn secrets_of_patches_are_masked() {
    let sandbox = project("patches = [{ target = { kind = \"Deployment\" }, merge = \"p.yaml.tera\" }]\n");
    sandbox.write("p.yaml.tera", "metadata:\n  annotations:\n    token: {{ token }}\n");
    sandbox.write("secret.schema.json", r#"{"properties": {"token": {"writeOnly": true}}}"#);
    let schema = ["--schema", "secret.schema.json"];
    let diff = sandbox.run(&[&["stamp", "--diff"][..], &schema].concat());
    assert!(!diff.stdout.contains("hunter22") && diff.stdout.contains("token: …"), "{}", diff.stdout);
    sandbox.run(&[&["stamp"][..], &schema].concat()).expect(0);
    let line = output(&sandbox, "eu").lines().position(|line| line.contains("token")).unwrap() + 1;
    let why = sandbox.run(&["why", &format!("out/eu/web/all.yaml:{line}")]).expect(0);
    assert!(
        !(why.stdout.clone() + &why.stderr).contains("hunter22") && why.stdout.contains("p.yaml.tera:3:"),
        "{}",
        why.stdout
    );
    sandbox.replace(
        "clusters.yaml",
        "- {name: eu, env: prod, token: newsecret}\n- {name: us, env: dev, token: swordfish}\n",
    );
    let diff = sandbox.run(&[&["stamp", "--diff"][..], &schema].concat());
    assert!(!diff.stdout.contains("newsecret") && !diff.stdout.contains("hunter22"), "{}", diff.stdout);
}

#[test]
fn hostile_patches_end_in_errors() {
    let bomb = (0..30).fold("a0: &a0 [x]\n".to_owned(), |text, nth| {
        text + &format!("a{}: &a{} [*a{nth}, *a{nth}, *a{nth}, *a{nth}]\n", nth + 1, nth + 1)
    });
    for (patch, said) in [
        (bomb.as_str(), "x.yaml"),
        ("a: &a [*a]\n", "x.yaml"),
        (&format!("a: {}1{}\n", "[".repeat(5_000), "]".repeat(5_000)), "x.yaml"),
        ("spec: {$setElementOrder/containers: []}\n", "not supported"),
        ("spec: {template: {spec: {containers: [{name: a}, {name: a}]}}}\n", "two items of the list"),
        ("spec: {template: {spec: {containers: [{image: a}]}}}\n", "no `name`"),
        ("spec: {$patch: remove}\n", "unknown directive"),
    ] {
        let outcome = merged(patch).run(&["stamp"]);
        assert!(outcome.stderr.contains("error[") && outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
    let sandbox = merged("spec: {replicas: 5}\n");
    sandbox.replace("chart/templates/all.yaml", "kind: Deployment\nmetadata: {name: web}\nx: 1\nx: 2\n");
    sandbox.run(&["stamp"]).expect(4).says(&["E0906", "`x`", "a patch may be for this document"]);
    let copies =
        "[{op: add, path: /x, value: [1]}".to_owned() + &", {op: copy, from: /x, path: /x/-}".repeat(40) + "]\n";
    let sandbox = project("patches = [{ target = {kind = \"Service\"}, json = \"x.yaml\" }]\n");
    sandbox.write("x.yaml", &copies);
    sandbox.run(&["stamp"]).expect(4).says(&["copy"]);
    // A long one is read.
    let long: String = (0..200_000).map(|nth| format!("    key-{nth}: \"{nth}\"\n")).collect();
    let sandbox = merged(&format!("metadata:\n  annotations:\n{long}"));
    sandbox.run(&["stamp"]).expect(0);
    assert!(output(&sandbox, "eu").contains("    key-199999: \"199999\"\n"));
}

#[test]
fn shards_know_the_patches() {
    let sandbox = merged("spec: {replicas: 5}\n");
    sandbox.run(&["stamp", "--shard", "0/2"]).expect(0);
    sandbox.write("patches/x.yaml", "spec: {replicas: 6}\n");
    sandbox.run(&["stamp", "--shard", "1/2"]).expect(0);
    sandbox.run(&["stamp", "--finish", "2"]).says(&["E0923"]);
}

#[test]
fn a_patch_for_other_clusters_is_no_warning() {
    let patch = "patches = [{ target = { kind = \"Deployment\", labels = \"zone=z1\" }, merge = \"x.yaml\" }]\n";
    let sandbox = project(patch);
    sandbox.write("x.yaml", "spec: {paused: true}\n");
    sandbox.write("chart/templates/all.yaml", &CHART.replace("tier: front}", "tier: front, zone: {{ .Values.zone }}}"));
    sandbox.write("chart/values.yaml", "replicas: 2\ntag: v1\nenv: a\nname: a\ntoken: a\nzone: a\n");
    sandbox.replace(
        "clusters.yaml",
        "- {name: eu, releases: {web: {zone: z1}}}\n- {name: us, releases: {web: {zone: z2}}}\n",
    );
    for args in [
        &["stamp"][..],
        &["stamp", "-l", "name=us"],
        &["stamp", "-l", "name=us", "--dry-run"],
        &["render", "--cluster", "us"],
        &["check", "-l", "name=us"],
    ] {
        let outcome = sandbox.run(args).expect(0);
        assert!(!outcome.stderr.contains("is for no object"), "{args:?}: {}", outcome.stderr);
    }
    // It is one if all clusters are rendered.
    sandbox.replace("dropforge.toml", &sandbox.read("dropforge.toml").replace("zone=z1", "zone=z3"));
    for args in [&["stamp"][..], &["check"]] {
        sandbox.run(args).expect(0).says(&["is for no object of the run"]);
    }
    let outcome = sandbox.run(&["stamp", "-l", "name=us", "--strict"]).expect(0);
    assert!(!outcome.stderr.contains("is for no object"), "{}", outcome.stderr);
}
