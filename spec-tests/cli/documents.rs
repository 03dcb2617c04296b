//! Documents: output formats, and file names built from document fields.

use crate::support::Sandbox;

/// Two templates of one document each.
fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("t/app.cel", "{'kind': 'Deployment', 'metadata': {'name': name + '-app', 'labels': {'n': n}}}\n"),
        ("t/svc.yaml.cel", "{'kind': 'Service', 'metadata': {'name': name, 'namespace': 'x'}, 'on': [n]}\n"),
        ("fleet.ndjson", "{\"name\":\"eu\",\"n\":1}\n{\"name\":\"us\",\"n\":2}\n"),
    ])
}

/// Returns the files of a run, without its state.
fn files(sandbox: &Sandbox, out: &str) -> Vec<String> {
    sandbox.outputs(out).into_keys().collect()
}

#[test]
fn documents_are_written_in_the_format_that_is_asked_for() {
    let sandbox = sandbox();
    let render = |format: &str| {
        let args = ["render", "t/svc.yaml.cel", "--set", "name=eu,n=1", "--output-format", format];
        sandbox.run(&args).expect(0).stdout
    };
    let yaml = "kind: Service\nmetadata:\n  name: eu\n  namespace: x\n\"on\":\n  - 1\n";
    assert_eq!(render("yaml"), yaml);
    let line = "{\"kind\":\"Service\",\"metadata\":{\"name\":\"eu\",\"namespace\":\"x\"},\"on\":[1]}\n";
    assert_eq!(render("ndjson"), line);
    assert!(render("json").starts_with("{\n  \"kind\": \"Service\",\n"));
    assert!(render("kyaml").starts_with("---\n{\n  kind: \"Service\",\n"));
    sandbox.run(&["render", "t/svc.yaml.cel", "--output-format", "toml"]).expect(2).says(&["`yaml`, `json`"]);
    sandbox.write("a.tera", "a");
    sandbox
        .run(&["render", "a.tera", "--output-format", "yaml"])
        .expect(2)
        .says(&["does not apply to `a.tera`: it renders text"]);

    sandbox.run(&["compile", "t", "-o", "a.mpk"]).expect(0);
    let args = ["render", "a.mpk", "--template", "svc.yaml.cel", "--set", "name=eu,n=1", "--output-format", "yaml"];
    assert_eq!(sandbox.run(&args).expect(0).stdout, yaml);

    sandbox.stamp(&[]).expect(0);
    assert_eq!(files(&sandbox, "out"), ["eu/app.json", "eu/svc.yaml", "us/app.json", "us/svc.yaml"]);
    assert_eq!(sandbox.read("out/eu/svc.yaml"), line);
    let stamp = ["stamp", "t", "--fleet", "fleet.ndjson", "--output-format"];
    sandbox.run(&[&stamp[..], &["yaml", "-o", "yaml"]].concat()).expect(0);
    assert_eq!(files(&sandbox, "yaml"), ["eu/app.yaml", "eu/svc.yaml", "us/app.yaml", "us/svc.yaml"]);
    assert_eq!(sandbox.read("yaml/eu/svc.yaml"), yaml);
    sandbox.run(&[&stamp[..], &["json", "-o", "json"]].concat()).expect(0);
    assert_eq!(files(&sandbox, "json"), ["eu/app.json", "eu/svc.json", "us/app.json", "us/svc.json"]);
}

#[test]
fn a_stream_of_json_has_nothing_between_its_lines() {
    let sandbox = sandbox();
    let stream =
        |more: &[&str]| sandbox.run(&[&["stamp", "t", "--fleet", "fleet.ndjson", "--layout", "single"], more].concat());
    let lines = stream(&[]).expect(0).stdout;
    let kinds: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].clone()).collect();
    assert_eq!(kinds, ["Deployment", "Service", "Deployment", "Service"]);
    assert_eq!(stream(&["--output-format", "ndjson"]).expect(0).stdout, lines);
    let yaml = stream(&["--output-format", "yaml"]).expect(0).stdout;
    assert!(yaml.starts_with("---\n# Source: eu/svc.yaml\nkind: Service\n"), "{yaml}");
    assert_eq!(yaml.matches("---\n# Source: ").count(), 4);
    sandbox.write("t/x.yaml.tera", "x: {{ n }}\n");
    assert!(stream(&[]).expect(0).stdout.contains("---\n# Source: us/x.yaml\nx: 2\n"));
    stream(&["--output-format", "json"]).expect(2).says(&["does not apply to `x.yaml.tera`: it renders text"]);
    assert!(stream(&["--output-format", "yaml"]).expect(0).stdout.contains("\nx: 2\n"));
}

#[test]
fn each_document_gets_its_own_file_if_the_layout_has_fields() {
    let sandbox = sandbox();
    let stamp = |more: &[&str]| sandbox.stamp(&[&["--output-format", "yaml"], more].concat());
    stamp(&["--layout", "{cluster}/{kind}-{name}"]).expect(0);
    let wanted = ["eu/Deployment-eu-app.yaml", "eu/Service-eu.yaml", "us/Deployment-us-app.yaml", "us/Service-us.yaml"];
    assert_eq!(files(&sandbox, "out"), wanted);
    assert!(sandbox.read("out/us/Service-us.yaml").starts_with("kind: Service\n"));
    stamp(&["--layout", "{cluster}/{kind}-{name}", "--check"]).expect(0);
    let dotted = ["stamp", "t", "--fleet", "fleet.ndjson", "--layout", "{n}/{cluster}/{metadata.name}.yml"];
    sandbox.run(&[&dotted[..], &["-o", "dotted"]].concat()).expect(0);
    assert_eq!(files(&sandbox, "dotted"), ["1/eu/eu-app.yml", "1/eu/eu.yml", "2/us/us-app.yml", "2/us/us.yml"]);

    // Pruning removes outputs that this run no longer makes, but not those of clusters that it does not render.
    sandbox.write("fleet.ndjson", "{\"name\":\"eu\",\"n\":1}\n{\"name\":\"de\",\"n\":2}\n");
    let prune = ["--layout", "{cluster}/{kind}-{name}", "--prune"];
    let told = stamp(&[&prune[..], &["--dry-run"]].concat()).expect(0).stdout;
    assert!(told.contains("delete out/us/Service-us.yaml") && told.contains("create out/de/Service-de.yaml"), "{told}");
    stamp(&prune).expect(0);
    let one = stamp(&[&prune[..], &["-l", "name=eu"]].concat()).expect(0);
    one.says(&["note: 2 files of clusters that are not selected may be out of date"]);
    assert_eq!(
        files(&sandbox, "out"),
        ["de/Deployment-de-app.yaml", "de/Service-de.yaml", "eu/Deployment-eu-app.yaml", "eu/Service-eu.yaml"]
    );
}

#[test]
fn missing_layout_fields_are_errors_that_name_the_documents() {
    let sandbox = sandbox();
    let says = |layout: &str, code: i32, parts: &[&str]| {
        sandbox.stamp(&["--layout", layout, "-l", "name=eu", "--output-format", "yaml"]).expect(code).says(parts);
        assert!(files(&sandbox, "out").is_empty());
    };
    let missing =
        ["document 1: ", "the document has no `metadata.namespace`", "cluster: eu", "app.cel", "name", "labels"];
    says("{cluster}/{namespace}/{name}", 4, &missing);
    says("{cluster}/{document.kin}", 4, &["the document has no `kin`", "did you mean `kind`", "metadata"]);
    says("{cluster}/{metadata.labels}", 4, &["`metadata.labels` is a map"]);
    says("{cluster}/{apiVersion}", 4, &["the document has no `apiVersion`"]);
    says("{cluster}/{spec.x}-{kind}", 2, &["the cluster has no `spec.x`", "`{document.spec.x}`"]);
    says("{cluster}-{kind}", 2, &["without the directory `{cluster}`", "start the layout with `{cluster}/`"]);
    sandbox.write("t/app.cel", "{'kind': 'Service', 'metadata': {'name': 'EU'}}");
    says(
        "{cluster}/{kind}-{name}",
        4,
        &["two documents have the same path", "document 1 of `app.cel` and document 1 of `svc"],
    );
    for name in ["../x", "a/b", "", ".x", "..:x"] {
        sandbox.write("t/app.cel", &format!("{{'kind': 'A', 'metadata': {{'name': '{name}'}}}}"));
        says("{cluster}/{name}", 4, &["document 1: `name`", "cluster: eu"]);
    }
    says("{cluster}/{namespace}/{kind}", 4, &["help: `{namespace|TEXT}` is `TEXT` for documents without it"]);
    says(
        "{zone}/{cluster}/{template}",
        2,
        &["the cluster has no `zone`", "`{zone|TEXT}` is `TEXT` for clusters without it"],
    );
    says("{cluster}/{namespace|a/b}/{kind}", 2, &["the default of `namespace` `a/b` contains the character '/'"]);
    says("{cluster|a}/{kind}", 2, &["`{cluster}` and `{template}` take no default"]);
    sandbox.write("t/x.tera", "x");
    says("{cluster}/{kind}", 2, &["`{kind}` in the layout does not apply to `x.tera`: it renders text"]);
}

#[test]
fn paths_have_defaults_and_names_of_roles() {
    let sandbox = Sandbox::with(&[
        ("fleet.ndjson", "{\"name\":\"eu\"}\n{\"name\":\"us\",\"zone\":\"b\"}\n"),
        (
            "t/app.yaml.tera",
            "apiVersion: rbac/v1\nkind: Role\nmetadata: {name: 'system:node'}\n---\napiVersion: v1\nkind: Pod\n\
             metadata: {name: \"a:b\", namespace: web}\n---\nkind: Pod\nmetadata:\n  name: system:c\n  namespace: \"\"\n",
        ),
        ("t/svc.cel", "{'kind': 'Pod', 'metadata': {'name': 'x:y', 'namespace': null}, 'apiVersion': 'apps/v1'}\n"),
    ]);
    let layout = "{zone | z0}/{cluster}/{namespace|_all}/{apiVersion|none}-{name}";
    sandbox.stamp(&["--layout", layout]).expect(0);
    let of = |place: &str| {
        ["_all/apps_v1-x_y.json", "_all/none-system_c.yaml", "_all/rbac_v1-system_node.yaml", "web/v1-a_b.yaml"]
            .map(|name| format!("{place}/{name}"))
    };
    assert_eq!(files(&sandbox, "out"), [of("b/us"), of("z0/eu")].concat());
    // Two names may become one.
    sandbox.write("t/svc.cel", "{'metadata': {'name': 'a_b', 'namespace': 'web'}}\n");
    let both = sandbox.stamp(&["--layout", "{cluster}/{namespace|none}/{name}.yaml", "-l", "name=eu"]).expect(4);
    both.says(&["two documents have the same path", "eu/web/a_b.yaml"]);
}
