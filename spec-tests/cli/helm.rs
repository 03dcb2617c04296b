//! Charts of Helm: `render` and `check`.

use std::process::Command;

use crate::support::Sandbox;

const SERVICE: &str =
    "kind: Service\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\nport: {{ .Values.port }}\n";

/// A small chart in `c`.
fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("c/values.yaml", "port: 80\nlabels: {a: 1}\n"),
        ("c/templates/service.yaml", SERVICE),
        ("c/templates/config.yaml", "kind: ConfigMap\ndata: {{ toJson .Values.labels }}\n"),
        ("c/templates/hook.yaml", "kind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\n"),
        ("c/templates/NOTES.txt", "{{ .Release.Namespace }}: not printed\n"),
        ("c/crds/x.yaml", "kind: CustomResourceDefinition\n"),
        ("prod.yaml", "port: 8080\nlabels: {a: null, b: x}\n"),
    ])
}

fn render(sandbox: &Sandbox, more: &[&str]) -> crate::support::Outcome {
    sandbox.run(&[&["render", "c"], more].concat())
}

const CONFIG: &str = "---\n# Source: web/templates/config.yaml\nkind: ConfigMap\ndata: {\"a\":1}\n";

#[test]
fn a_chart_renders_to_the_text_of_helm_template() {
    let sandbox = sandbox();
    let service = |name: &str, port: &str| {
        format!(
            "---\n# Source: web/templates/service.yaml\nkind: Service\nmetadata:\n  name: {name}-web\nport: {port}\n"
        )
    };
    let hook =
        "---\n# Source: web/templates/hook.yaml\nkind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\n\n";
    let crd = "---\n# Source: web/crds/x.yaml\nkind: CustomResourceDefinition\n\n";
    let all = [CONFIG, "\n", &service("release-name", "80"), hook].concat();
    assert_eq!(render(&sandbox, &[]).expect(0).stdout, all);
    let with = ["--name", "shop", "-f", "prod.yaml", "--set", "port=1", "--no-hooks", "--include-crds"];
    let config = CONFIG.replace("\"a\":1", "\"b\":\"x\"");
    assert_eq!(render(&sandbox, &with).expect(0).stdout, [crd, &config, "\n", &service("shop", "1")].concat());
    let only = render(&sandbox, &["-s", "templates/conf*.yaml"]).expect(0).stdout;
    assert_eq!(only, format!("{CONFIG}\n\n"));
    render(&sandbox, &["-s", "templates/servic.yaml"]).expect(1).says(&["could not find template", "did you mean"]);
}

#[test]
fn set_options_apply_in_the_order_of_helm() {
    let sandbox = sandbox();
    let with = ["--set-literal", "port=5", "--set-string", "port=4", "--set", "port=3", "--set-json", "port=2"];
    assert!(render(&sandbox, &with).expect(0).stdout.contains("port: 5\n"));
    assert!(render(&sandbox, &with[2..]).expect(0).stdout.contains("port: 4\n"));
    sandbox.write("port.txt", "7");
    let with = ["--set-file", "port=port.txt", "--set-string", "port=4"];
    assert!(render(&sandbox, &with).expect(0).stdout.contains("port: 7\n"));
}

#[test]
fn a_packed_chart_renders_like_its_directory() {
    let sandbox = sandbox();
    sandbox.run(&["render", "c", "-o", "-"]).expect(0);
    let mut tar = Command::new("tar");
    tar.args(["czf", "c.tgz", "c"]).current_dir(sandbox.path("."));
    assert!(tar.status().unwrap().success());
    let packed = sandbox.run(&["render", "c.tgz"]).expect(0).stdout;
    assert_eq!(packed, render(&sandbox, &[]).expect(0).stdout);
}

#[test]
fn output_directories_have_a_file_for_each_template() {
    let sandbox = sandbox();
    render(&sandbox, &["-o", "out", "--no-hooks"]).expect(0).says(&["rendered 2 files: 2 new"]);
    let files = sandbox.outputs("out");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["web/templates/config.yaml", "web/templates/service.yaml"]);
    assert_eq!(files["web/templates/config.yaml"], format!("{CONFIG}\n"));
    render(&sandbox, &["-o", "out", "-s", "x"]).expect(2).says(&["`--show-only` prints to standard output"]);
}

#[test]
fn output_directories_are_compared_and_explained() {
    let sandbox = sandbox();
    render(&sandbox, &["-o", "out"]).expect(0);
    render(&sandbox, &["-o", "out", "--check"]).expect(0);
    let why = sandbox.run(&["why", "out/web/templates/service.yaml:4"]).expect(0).stdout;
    assert!(why.contains("c/templates/service.yaml"), "{why}");
    let service = sandbox.read("out/web/templates/service.yaml");
    sandbox.write("out/web/templates/service.yaml", &format!("{service}# edited\n"));
    let found = render(&sandbox, &["-o", "out", "--check"]).expect(3);
    assert!(found.stdout.contains("update out/web/templates/service.yaml"), "{}", found.stdout);
    assert!(render(&sandbox, &["-o", "out", "--diff"]).expect(3).stdout.contains("-# edited"));
    sandbox.write("other/web/templates/service.yaml", "mine\n");
    render(&sandbox, &["-o", "other"]).expect(2).says(&["dropforge did not write", "`--force`"]);
    assert_eq!(sandbox.read("other/web/templates/service.yaml"), "mine\n");
    render(&sandbox, &["-o", "other", "--force"]).expect(0);
    assert_eq!(sandbox.read("other/web/templates/service.yaml"), service);
    render(&sandbox, &["-o", "kinds", "--layout", "{kind}.yaml"]).expect(0);
    assert!(sandbox.read("kinds/Service.yaml").contains("kind: Service"));
    // Nothing is written after a warning that is an error.
    sandbox.write("c/templates/y.yaml", "kind: A\nkind: B\n");
    render(&sandbox, &["-o", "strict", "--strict"]).expect(1).says(&["the key `kind` is given twice"]);
    assert!(!sandbox.path("strict/web").exists());
    render(&sandbox, &["-o", "strict"]).expect(0).says(&["warning", "the key `kind` is given twice"]);
    for option in [&["--layout", "{kind}"][..], &["--check"], &["--diff"], &["--force"]] {
        let says = format!("`{}` needs an output directory (`-o DIR`)", option[0]);
        render(&sandbox, option).expect(2).says(&[&says]);
    }
    render(&sandbox, &["-o", "out", "--copy", "*"]).expect(2).says(&["`--copy` does not apply to `c`"]);
}

#[test]
fn imported_values_have_the_origin_of_the_chart_that_gives_them() {
    let sandbox = sandbox();
    let dependency = "{name: sub, version: 1.0.0, alias: db, import-values: [data, {child: net, parent: web.net}]}";
    let chart = format!("apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {dependency}\n");
    sandbox.write("c/Chart.yaml", &chart);
    sandbox.write("c/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n");
    sandbox.write("c/charts/sub/values.yaml", "exports:\n  data:\n    port: 1\n    size: 5\nnet:\n  cidr: x\n");
    sandbox.write("c/templates/service.yaml", "kind: A\nsize: {{ .Values.size }}\ncidr: {{ .Values.web.net.cidr }}\n");
    sandbox.write("c/templates/config.yaml", "kind: B\nport: {{ .Values.port }}\n");
    render(&sandbox, &["-o", "out"]).expect(0);
    for (place, value, from) in [
        ("service.yaml:4", "5", "c/charts/sub/values.yaml:4:5"),
        ("service.yaml:5", "\"x\"", "c/charts/sub/values.yaml:6:3"),
        // The chart's own value wins.
        ("config.yaml:4", "80", "c/values.yaml:1:1"),
    ] {
        let why = sandbox.run(&["why", &format!("out/web/templates/{place}")]).expect(0).stdout;
        assert!(why.contains(&format!("`{value}`")) && why.contains(&format!("from {from}\n")), "{why}");
    }
}

#[test]
fn documents_are_checked_by_the_schemas_of_their_kinds() {
    let sandbox = sandbox();
    sandbox.write("c/templates/service.yaml", "apiVersion: v1\nkind: Service\nspec:\n  port: {{ .Values.port }}\n");
    sandbox.write("c/templates/config.yaml", "apiVersion: v1\nkind: Other\n");
    sandbox.write("k8s/service-v1.json", r#"{"properties": {"spec": {"properties": {"port": {"type": "integer"}}}}}"#);
    sandbox.write("fleet.ndjson", "{\"name\": \"eu-1\", \"port\": \"x\"}\n{\"name\": \"us-1\", \"port\": \"y\"}\n");
    let says = [
        "E0907",
        "`spec.port` does not fit the schema of `v1` `Service`",
        "c/templates/service.yaml:4:12",
        "written here",
    ];
    let good = ["--kube-schemas", "k8s", "--set", "port=80"];
    assert!(render(&sandbox, &good).expect(0).says(&["`v1` `Other` has no schema"]).stdout.contains("port: 80"));
    let bad = ["--kube-schemas", "k8s", "--set", "port=x"];
    assert_eq!(render(&sandbox, &bad).expect(1).says(&says).says(&["web.yaml:"]).stdout, "");
    render(&sandbox, &[&bad[..], &["-s", "templates/service.yaml"]].concat()).expect(1).says(&says);
    render(&sandbox, &[&bad[..], &["-o", "out"]].concat()).expect(4).says(&says);
    assert!(!sandbox.path("out/web").exists());
    let stamp = ["stamp", "c", "--fleet", "fleet.ndjson", "--kube-schemas", "k8s", "-o", "out"];
    sandbox.run(&stamp).expect(4).says(&says).says(&["2 clusters", "eu-1/service.yaml:6:9"]);
}

#[test]
fn errors_have_the_message_of_helm_in_a_field() {
    let sandbox = sandbox();
    sandbox.write("c/templates/_x.tpl", "{{ define \"x\" }}{{ required \"port needed\" .Values.nothing }}{{ end }}");
    sandbox.write("c/templates/y.yaml", "x: 1\ny: {{ include \"x\" . }}\n");
    let error = render(&sandbox, &["--error-format", "json"]).expect(1).json().remove(0);
    assert_eq!(error["go_message"], "execution error at (web/templates/y.yaml:2:6): port needed");
    assert_eq!(
        [&error["stage"], &error["file"], &error["line"]],
        ["render", "c/templates/_x.tpl", "1"]
            .map(|text| { text.parse::<u64>().map_or(serde_json::Value::from(text), serde_json::Value::from) })
            .each_ref()
    );
    sandbox.write("c/templates/y.yaml", "a: b: c\n");
    let error = render(&sandbox, &["--error-format", "json"]).expect(1).json().remove(0);
    let told = error["go_message"].as_str().unwrap();
    assert!(told.starts_with("YAML parse error on web/templates/y.yaml: "), "{told}");
}

#[test]
fn keys_that_a_document_has_twice_are_warnings() {
    let sandbox = sandbox();
    sandbox.write("c/templates/y.yaml", "kind: A\nkind: B\n");
    let twice = ["warning", "the key `kind` is given twice"];
    render(&sandbox, &[]).expect(0).says(&twice);
    render(&sandbox, &["--strict"]).expect(1).says(&twice);
}

#[test]
fn check_finds_every_syntax_error_of_a_chart() {
    let sandbox = sandbox();
    sandbox.run(&["check", "c"]).expect(0).says(&["checked 4 templates: no errors"]);
    sandbox.write("c/templates/x.yaml", "{{ fail \"give a name\" }}");
    sandbox.run(&["check", "c"]).expect(0).says(&["warning", "give a name", "refuses its default values"]);
    sandbox.run(&["check", "c", "--set", "port=1"]).expect(1).says(&["error", "give a name"]);
    sandbox.write("c/templates/x.yaml", "{{ if }}\n{{ nofunction }}\n");
    sandbox.write("c/templates/y.yaml", "{{ end }}\n");
    let parts = ["c/templates/x.yaml:1:7", "x.yaml:2:4", "y.yaml:1:", "4 errors"];
    sandbox.run(&["check", "c"]).expect(1).says(&parts);
}

#[test]
fn other_commands_and_options_say_that_they_take_no_charts() {
    let sandbox = sandbox();
    sandbox.run(&["values", "c"]).expect(2).says(&["`c` is a Helm chart"]);
    for option in [&["--template", "x"][..], &["--lang", "tera"], &["--schema-defaults"]] {
        render(&sandbox, option).expect(2).says(&[option[0], "it is a Helm chart"]);
    }
    sandbox.write("a.tera", "a");
    sandbox.run(&["render", "a.tera", "--namespace", "x"]).expect(2).says(&["`--namespace` does not apply"]);
    render(&sandbox, &["--name", "A_"]).expect(2).says(&["--name"]);
    render(&sandbox, &["--kube-version", "new"]).expect(2).says(&["`new` is not a version of Kubernetes"]);
}

#[test]
fn random_values_and_the_time_have_to_be_allowed() {
    let sandbox = sandbox();
    sandbox.write("c/templates/x.yaml", "a: {{ randAlphaNum 5 }}\nb: {{ now | date \"2006\" }}\n");
    render(&sandbox, &[]).expect(1).says(&["randAlphaNum", "--allow random"]);
    let text = render(&sandbox, &["--allow", "random", "--allow", "clock"]).expect(0).stdout;
    assert!(text.contains("\nb: 20"), "{text}");
}

#[test]
fn annotations_of_a_chart_are_a_map_of_texts_that_may_be_nil() {
    let template = r#"a: '{{ $a := .Chart.Annotations }}{{ toJson $a }} {{ typeOf $a }} {{ toJson .Chart.Annotations.x }} {{ index $a "x" | toJson }}
  {{ empty $a }} {{ $a }} {{ printf "%#v" $a }} {{ toJson .Chart.Keywords }} {{ deepEqual $a (index (list $a) 0) }} {{ dict "a" $a | toYaml }}'
"#;
    let sandbox = Sandbox::with(&[("c/templates/a.yaml", template)]);
    let nil = r#"null map[string]string "" ""
  true map[] map[string]string(nil) [] true a: null"#;
    for (annotations, shown) in [
        ("", nil),
        ("annotations: null\n", nil),
        (
            "annotations: {}\n",
            r#"{} map[string]string "" ""
  true map[] map[string]string{} [] true a: {}"#,
        ),
        (
            "annotations: {x: z}\n",
            r#"{"x":"z"} map[string]string "z" "z"
  false map[x:z] map[string]string{"x":"z"} [] true a:
  x: z"#,
        ),
    ] {
        sandbox.write("c/Chart.yaml", &format!("apiVersion: v2\nname: web\nversion: 1.0.0\n{annotations}"));
        let text = format!("---\n# Source: web/templates/a.yaml\na: '{shown}'\n");
        assert_eq!(render(&sandbox, &[]).expect(0).stdout, text);
    }
}
