//! CEL-YAML templates, end to end.

use crate::support::Sandbox;

/// An application that includes a CEL-YAML file and a plain YAML file.
fn sandbox() -> Sandbox {
    Sandbox::with(&[
        (
            "t/app.cel.yaml",
            "$schema:\n  env: string\n  replicas: {type: integer, default: 2}\nkind: Deployment\nmetadata:\n  name: ${name}-app\n  labels: {$include: _labels.cel.yaml, $with: {env: '${env}'}}\nspec:\n  replicas: ${replicas}\n  on: [012, 1.10, no]\n---\n$if: env == 'prod'\n$then:\n  kind: Service\n  metadata: {name: '${name}', namespace: '${env}'}\n",
        ),
        ("t/_labels.cel.yaml", "app: ${env}-label\n$include: base.yaml\n"),
        ("t/base.yaml", "managed-by: us\n"),
        ("prod.yaml", "name: web\nenv: prod\n"),
        ("fleet.yaml", "- {name: eu, env: prod, replicas: 3}\n- {name: us, env: dev}\n"),
    ])
}

const APP: &str = "kind: Deployment\nmetadata:\n  name: web-app\n  labels:\n    app: prod-label\n    managed-by: us\nspec:\n  replicas: 2\n  \"on\":\n    - 12\n    - 1.10\n    - \"no\"\n";
const SERVICE: &str = "kind: Service\nmetadata:\n  name: web\n  namespace: prod\n";

fn files(sandbox: &Sandbox, out: &str) -> Vec<String> {
    sandbox.outputs(out).into_keys().collect()
}

#[test]
fn a_template_is_rendered_in_every_format() {
    let sandbox = sandbox();
    let render = |more: &[&str]| sandbox.run(&[&["render", "t/app.cel.yaml", "-f", "prod.yaml"], more].concat());
    assert_eq!(render(&[]).expect(0).stdout, format!("{APP}---\n{SERVICE}"));
    assert_eq!(render(&["--set", "env=dev"]).expect(0).stdout, APP.replace("prod-label", "dev-label"));
    let lines = render(&["--output-format", "ndjson"]).expect(0).stdout;
    let documents: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&documents[0]["spec"]["on"][1], &documents[1]["kind"]), (&1.1.into(), &"Service".into()));
    assert!(render(&["--output-format", "kyaml"]).expect(0).stdout.contains("---\n{\n  kind: \"Service\",\n"));
    assert!(render(&["--output-format", "json"]).expect(0).stdout.contains("\n}\n{\n  \"kind\": \"Service\",\n"));

    // `--lang` decides, not the file name.
    let piped = sandbox.feed(&["render", "-", "--lang", "cel-yaml", "-f", "prod.yaml"], "a: ${env}\n");
    assert_eq!(piped.expect(0).stdout, "a: prod\n");
}

#[test]
fn included_templates_make_no_output() {
    let sandbox = sandbox();
    let stamp = ["stamp", "t", "--fleet", "fleet.yaml"];
    sandbox.run(&[&stamp[..], &["-o", "out"]].concat()).expect(0);
    assert_eq!(files(&sandbox, "out"), ["eu/app.yaml", "us/app.yaml"]);
    assert!(
        sandbox.read("out/eu/app.yaml").contains("replicas: 3\n") && !sandbox.read("out/us/app.yaml").contains("---")
    );
    sandbox.run(&[&stamp[..], &["-o", "j", "--output-format", "json"]].concat()).expect(0);
    assert_eq!(files(&sandbox, "j"), ["eu/app.json", "us/app.json"]);
    let apart = ["-o", "apart", "--layout", "{cluster}/{kind}-{name}"];
    sandbox.run(&[&stamp[..], &apart].concat()).expect(0);
    assert_eq!(
        files(&sandbox, "apart"),
        ["eu/Deployment-eu-app.yaml", "eu/Service-eu.yaml", "us/Deployment-us-app.yaml"]
    );
    assert_eq!(sandbox.read("apart/eu/Service-eu.yaml"), "kind: Service\nmetadata:\n  name: eu\n  namespace: prod\n");
    let short = ["-o", "none", "--layout", "{cluster}/{namespace}/{name}"];
    sandbox
        .run(&[&stamp[..], &short].concat())
        .expect(4)
        .says(&["document 1: ", "the document has no `metadata.namespace`"]);
    let single = ["--layout", "single", "--output-format", "ndjson"];
    assert_eq!(sandbox.run(&[&stamp[..], &single].concat()).expect(0).stdout.lines().count(), 3);
    let single = sandbox.run(&[&stamp[..], &["--layout", "single"]].concat()).expect(0).stdout;
    assert_eq!((single.matches("---\n").count(), single.matches("# Source: ").count()), (3, 3), "{single}");
}

#[test]
fn errors_are_found_without_data_and_have_their_places() {
    let sandbox = sandbox();
    sandbox.run(&["check", "t"]).expect(0);
    sandbox.write("t/bad.cel.yaml", "$let: {x: 1}\na:\n  - $fro: [1]\n  - '${x +}'\n");
    sandbox.run(&["check", "t"]).expect(1).says(&["bad.cel.yaml:3:5", "did you mean `$for`", "bad.cel.yaml:4:11"]);
    sandbox.write("t/bad.cel.yaml", "a:\n  - ${name + 1}\n");
    let render = sandbox.run(&["render", "t/bad.cel.yaml", "-f", "prod.yaml"]);
    render.expect(1).says(&["bad.cel.yaml:2:7", "a[0]"]);
    sandbox.write("t/bad.cel.yaml", "$include: ../../etc/passwd\n");
    sandbox.run(&["render", "t/bad.cel.yaml"]).expect(1).says(&["bad.cel.yaml:1:11", "leads out"]);
}

#[test]
fn artifacts_and_the_cache_contain_included_templates() {
    let sandbox = sandbox();
    sandbox.run(&["compile", "t", "-o", "a.mpk"]).expect(0);
    let wanted = format!("{APP}---\n{SERVICE}");
    assert_eq!(sandbox.run(&["render", "a.mpk", "-f", "prod.yaml"]).expect(0).stdout, wanted);
    let told = sandbox.run(&["inspect", "a.mpk"]).expect(0).stdout;
    assert!(told.contains("app.cel.yaml (cel-yaml)") && told.contains("uses    _labels.cel.yaml, base.yaml"), "{told}");
    let listing = sandbox.run(&["disasm", "a.mpk", "-t", "app.cel.yaml"]).expect(0).stdout;
    assert!(listing.contains("; app.cel.yaml (cel-yaml)") && listing.contains("answer"), "{listing}");
    sandbox.run(&["check", "a.mpk"]).expect(0);
    sandbox.run(&["stamp", "a.mpk", "--fleet", "fleet.yaml", "-o", "out"]).expect(0);
    assert_eq!(files(&sandbox, "out"), ["eu/app.yaml", "us/app.yaml"]);

    let render = ["render", "t/app.cel.yaml", "-f", "prod.yaml", "--cache-dir", "cache", "-v"];
    sandbox.run(&render).expect(0).says(&["app.cel.yaml: compiled"]);
    let again = sandbox.run(&render).expect(0);
    assert_eq!(again.stdout, wanted);
    again.says(&["loaded from the cache"]);
    sandbox.write("t/base.yaml", "managed-by: them\n");
    let changed = sandbox.run(&render).expect(0);
    assert!(changed.stdout.contains("managed-by: them"));
    changed.says(&["app.cel.yaml: compiled"]);
}

#[test]
fn a_template_of_another_language_is_included() {
    let sandbox = Sandbox::with(&[
        (
            "t/app.cel.yaml",
            "kind: ConfigMap\nmetadata:\n  name: app\n  labels:\n    $include: labels.yaml.tera\n    $with: {env: '${env}', names: ['a', 'b']}\n",
        ),
        ("t/labels.yaml.tera", "{% for name in names %}{{ name }}: {{ env | upper }}\n{% endfor %}"),
        ("fleet.yaml", "- {name: eu, env: prod}\n"),
    ]);
    let wanted = "kind: ConfigMap\nmetadata:\n  name: app\n  labels:\n    a: PROD\n    b: PROD\n";
    let render = ["render", "t/app.cel.yaml", "--set", "env=prod", "--cache-dir", "cache"];
    for _ in 0..2 {
        assert_eq!(sandbox.run(&render).expect(0).stdout, wanted);
    }
    sandbox.run(&["check", "t"]).expect(0);
    sandbox.run(&["compile", "t/app.cel.yaml", "-o", "a.mpk"]).expect(0);
    assert_eq!(sandbox.run(&["render", "a.mpk", "--set", "env=prod"]).expect(0).stdout, wanted);
    let told = sandbox.run(&["inspect", "a.mpk"]).expect(0).stdout;
    assert!(told.contains("labels.yaml.tera (tera)") && told.contains("template labels.yaml.tera"), "{told}");
    for templates in ["t", "a.mpk"] {
        sandbox.run(&["stamp", templates, "--fleet", "fleet.yaml", "-o", &format!("out-{templates}")]).expect(0);
    }
    assert_eq!(
        (files(&sandbox, "out-a.mpk"), sandbox.read("out-t/eu/app.yaml")),
        (vec!["eu/app.yaml".to_owned()], wanted.to_owned())
    );

    sandbox.write("t/labels.yaml.tera", "a: [{{ env }}\n");
    let failed = sandbox.run(&["stamp", "t", "--fleet", "fleet.yaml", "-o", "out"]).expect(4);
    failed.says(&[
        "labels.yaml.tera (rendered):",
        "it is what `labels.yaml.tera` gave",
        "app.cel.yaml:5:15",
        "cluster: eu",
    ]);
    sandbox.write("t/labels.yaml.tera", "a: {{ nope }}\n");
    sandbox.run(&render).expect(1).says(&["labels.yaml.tera:1:7", "app.cel.yaml:5:15"]);
    sandbox.write("t/labels.yaml.tera", "a: {% if %}\n");
    sandbox.run(&["check", "t"]).expect(1).says(&["labels.yaml.tera:1:10", "`app.cel.yaml` includes it"]);
}

#[test]
fn a_text_of_let_is_an_expression_where_that_is_asked_for() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel.yaml", "$let: {zone: east, size: n + 1}\nzone: ${zone}\nsize: ${size}\n"),
        ("b.cel.yaml", "$let: {zone: east west}\nzone: ${zone}\n"),
        ("fleet.yaml", "- {name: eu, n: 1}\n"),
    ]);
    let text = "zone: east\nsize: 2\n";
    let render = |more: &[&str]| sandbox.run(&[&["render", "t/a.cel.yaml", "--set", "n=1"], more].concat());
    assert_eq!(render(&[]).expect(0).stdout, text);
    render(&["--strict-let"]).expect(1).says(&["no such attribute: east", "a.cel.yaml:1:14"]);
    assert_eq!(render(&["--strict-let", "--set-string", "east=west"]).expect(0).stdout, text.replace("east", "west"));

    let stamp = ["stamp", "t", "--fleet", "fleet.yaml", "--set", "n=1", "-o"];
    sandbox.run(&[&stamp[..], &["out"]].concat()).expect(0);
    assert_eq!(sandbox.read("out/eu/a.yaml"), text);
    sandbox.run(&[&stamp[..], &["strict", "--strict-let"]].concat()).expect(4).says(&["no such attribute: east"]);

    // Strictness is fixed when the artifact is compiled.
    sandbox.run(&["compile", "t", "-o", "strict.mpk", "--strict-let"]).expect(0);
    sandbox.run(&["render", "strict.mpk", "--set", "n=1"]).expect(1).says(&["no such attribute: east"]);

    // A string that is not an expression is text, or an error with `--strict-let`.
    sandbox.run(&["check", "b.cel.yaml"]).expect(0);
    sandbox.run(&["check", "b.cel.yaml", "--strict-let"]).expect(1).says(&["b.cel.yaml:1:19"]);
}

#[test]
fn each_input_that_does_not_fit_is_an_error_at_its_name() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel.yaml", "$schema:\n  port: {type: integer, maximum: 9}\n  zone: string\nport: ${port}\n"),
        ("fleet.yaml", "- {name: eu, port: 10, zone: 1}\n- {name: us, port: 10, zone: 1}\n- {name: ap, port: 1}\n"),
    ]);
    let render = ["render", "t/a.cel.yaml", "--set", "port=10,zone=1", "--error-format", "json"];
    let error: serde_json::Value = serde_json::from_str(&sandbox.run(&render).expect(1).stderr).unwrap();
    let told = |error: &serde_json::Value| {
        ["line", "column", "pointer", "keyword", "limit", "value"].map(|field| error[field].to_string())
    };
    let json = |texts: [&str; 4]| texts.map(|text| serde_json::Value::from(text).to_string());
    assert_eq!(
        (&told(&error)[..2], &told(&error)[2..]),
        (&["2", "3"].map(String::from)[..], &json(["/port", "maximum", "9", "10"])[..])
    );
    let also = error["also"].as_array().unwrap();
    assert_eq!(also.len(), 1);
    assert_eq!(
        (&told(&also[0])[..2], &told(&also[0])[2..]),
        (&["3", "3"].map(String::from)[..], &json(["/zone", "type", "\"string\"", "1"])[..])
    );

    let stamp = ["stamp", "t", "--fleet", "fleet.yaml", "-o", "out"];
    let stamped = sandbox.run(&stamp).expect(4);
    stamped.says(&["2 clusters: `port` does not fit", "a.cel.yaml:2:3", "`zone` does not fit", "a.cel.yaml:3:3"]);
    assert_eq!(files(&sandbox, "out"), ["ap/a.yaml"]);
}

#[test]
fn tags_of_other_languages_are_told() {
    let sandbox = Sandbox::with(&[]);
    let check = |text: &str, code: i32| {
        sandbox.write("app.cel.yaml", text);
        sandbox.run(&["check", "app.cel.yaml"]).expect(code)
    };
    let tera = "looks like Tera: use `--lang tera`, or name it `app.yaml.tera`";
    let helm = "looks like a Go template: use `--lang helm`, or name it `app.yaml.gotmpl`";
    for (text, help) in [
        ("a: {{ x }}\n", tera),
        ("a: {{ x }}-b\n", tera),
        ("{% if x %}\na: 1\n{% endif %}\n", tera),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", helm),
        ("a:\n  {{- toYaml .x | nindent 2 }}\n", helm),
        ("a:\n  name: {{ include \"x\" . }}\n", helm),
    ] {
        check(text, 1).says(&["E0801", help]);
    }
    // What is YAML is left alone, and so are errors with another cause.
    check("a: x-{{ x }}\nb: '{{ y }}' # {{ z }}\n", 0).says(&["no errors"]);
    let outcome = check("a: \"{{ x }}\": 1\n", 1);
    assert!(!outcome.stderr.contains("looks like"), "{}", outcome.stderr);
    sandbox.write("app.yaml", "a: {{ x }}\n");
    sandbox.run(&["check", "app.yaml", "--lang", "cel-yaml"]).expect(1).says(&["looks like Tera: use `--lang tera`\n"]);
    sandbox.run(&["check", "app.yaml"]).expect(1).says(&["use `--lang tera`, or name it `app.yaml.tera`"]);
    sandbox.write("app.yaml", "a: {{ .Values.x }}\n");
    let help = "use `--lang helm`, or name it `app.yaml.gotmpl`";
    sandbox.run(&["check", "app.yaml"]).expect(1).says(&[help]);
    sandbox.run(&["render", "app.yaml"]).expect(2).says(&[help]);
    sandbox.run(&["compile", "app.yaml", "-o", "x"]).expect(2).says(&[help]);
    sandbox.write("app.cue", "a: 1\n");
    sandbox.run(&["check", "app.cue"]).expect(1).says(&["dropforge does not render its language"]);
    sandbox.run(&["render", "app.cue"]).expect(2).says(&["dropforge does not render its language"]);
}
