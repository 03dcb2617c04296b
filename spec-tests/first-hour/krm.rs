//! A KRM function, as kustomize and kpt call it.

use serde_json::Value;

use crate::support::{Outcome, Sandbox};

/// A list as kustomize 5.4 writes it.
const LIST: &str = r#"apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  data:
    x: "1"
    on: "no"
  kind: ConfigMap
  metadata:
    annotations:
      kustomize.config.k8s.io/id: |
        kind: ConfigMap
        name: a
        version: v1
      config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'a.yaml'
      mine: gone
    name: a
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop}
  spec: {replicas: 2}
functionConfig:
  apiVersion: dropforge.dev/v1
  kind: Dropforge
  metadata:
    name: shop
    annotations:
      config.kubernetes.io/local-config: 'true'
  spec:
    values: {app: cart, ports: [80, 443]}
    templates:
"#;

/// Runs the function with these templates, each a name and its text.
fn krm(sandbox: &Sandbox, templates: &[(&str, &str)]) -> Outcome {
    let indented = |text: &str| text.lines().map(|line| format!("        {line}\n")).collect::<String>();
    let templates = templates.iter().map(|(name, text)| format!("      {name}: |\n{}", indented(text)));
    sandbox.feed(&["krm"], &(LIST.to_owned() + &templates.collect::<String>()))
}

#[track_caller]
fn list(outcome: &Outcome) -> Value {
    let data = dropforge::value::yaml::read_data(
        &dropforge::text::Source::new("list", outcome.stdout.as_str()),
        &dropforge::limits::Limits::default(),
    );
    serde_json::to_value(data.unwrap()).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[test]
fn templates_add_resources_from_values_and_items() {
    let sandbox = Sandbox::new();
    let service = "{% for port in ports %}---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {{ app }}-{{ port }}\n  \
                   labels: {% include '_labels.tera' %}\n{% endfor %}";
    let count = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: count}\ndata: {count: '${size(items)}'}\n";
    let made =
        krm(&sandbox, &[("svc.yaml.tera", service), ("_labels.tera", "{app: {{ app }}}"), ("n.cel.yaml", count)]);
    let made = made.expect(0);
    assert_eq!(made.stderr, "");
    let list = list(&made);
    assert_eq!(names(&list), ["a", "web", "cart-80", "cart-443", "count"]);
    assert_eq!(list["items"][4]["data"]["count"], 2);
    assert_eq!(list["items"][2]["metadata"]["labels"]["app"], "cart");
    assert_eq!((&list["kind"], list.get("results")), (&Value::from("ResourceList"), None));
    assert_eq!(list["functionConfig"]["spec"]["values"]["app"], "cart");
    // Resources that nobody touches stay as they are, down to text that looks like a boolean.
    assert_eq!(list["items"][0]["data"]["on"], "no");
    assert_eq!(list["items"][0]["metadata"]["annotations"]["config.kubernetes.io/index"], "0");
    assert_eq!(
        list["items"][0]["metadata"]["annotations"]["kustomize.config.k8s.io/id"],
        "kind: ConfigMap\nname: a\nversion: v1\n"
    );
}

#[test]
fn a_resource_of_the_same_identity_is_replaced_in_place() {
    let sandbox = Sandbox::new();
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {own: b}\ndata: {x: '2'}\n---\n\
                apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
    let list = list(&krm(&sandbox, &[("a.yaml.tera", text)]).expect(0));
    assert_eq!(names(&list), ["a", "web", "web"], "another namespace is another resource");
    assert_eq!(list["items"][0]["data"], serde_json::json!({"x": "2"}));
    let annotations = &list["items"][0]["metadata"]["annotations"];
    assert_eq!((&annotations["own"], &annotations["config.kubernetes.io/index"]), (&"b".into(), &"0".into()));
    assert_eq!(annotations["internal.config.kubernetes.io/path"], "a.yaml");
    assert_eq!(annotations.get("mine"), None);
}

#[test]
fn templates_from_files() {
    let sandbox = Sandbox::with(&[
        ("t/b.yaml.tera", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ app }}-{{ items | length }}}\n"),
        ("t/_c.tera", ""),
    ]);
    let text = LIST.replace("templates:", "paths: [t]");
    let made = sandbox.feed(&["krm"], &text).expect(0);
    assert_eq!(names(&list(&made)), ["a", "web", "cart-2"]);
    sandbox.feed(&["krm"], &text.replace("[t]", "[u]")).expect(1).says(&["cannot read `u`"]);
}

#[test]
fn errors_are_results() {
    let sandbox = Sandbox::new();
    let broken =
        [("a.yaml.tera", "a: {{ ap }}"), ("b.yaml.tera", "kind: [\n"), ("c.yaml.tera", "kind: X\n"), ("d.tera", "")];
    let failed = krm(&sandbox, &broken).expect(1);
    let list = list(&failed);
    assert_eq!(names(&list), ["a", "web"], "nothing is added");
    let results = list["results"].as_array().unwrap();
    let first = &results[0];
    assert_eq!(first["message"], "the variable `ap` is not defined; did you mean `app`?");
    assert_eq!((&first["severity"], &first["tags"]["code"]), (&"error".into(), &"E0201".into()));
    assert_eq!((&first["file"]["path"], &first["field"]["path"]), (&"a.yaml.tera".into(), &"line 1, column 7".into()));
    assert_eq!(results.len(), 3, "{results:?}");
    let all = [
        "error[E0201]",
        "a.yaml.tera:1:7",
        "E0906",
        "b.yaml",
        "`c.yaml.tera` is not a resource: it has no text at `apiVersion`",
    ];
    let failed = failed.says(&all);
    assert_eq!(failed.stderr.matches("error[").count(), 3);
    let syntax = krm(&sandbox, &[("a.tera", "{{"), ("b.tera", "{% if %}")]).expect(1);
    assert!(syntax.stdout.contains("results:"));
    let same = "apiVersion: v1\nkind: X\nmetadata: {name: n, namespace: s}\n";
    krm(&sandbox, &[("a.tera", same), ("b.tera", same)]).expect(1).says(&["two documents are `X s/n` of `v1`"]);
}

#[test]
fn other_input_is_refused() {
    let sandbox = Sandbox::new();
    let refused = |text: &str, parts: &[&str]| {
        sandbox.feed(&["krm"], text).expect(1).says(parts);
    };
    refused("", &["expected `kind: ResourceList`"]);
    refused("a: [", &["-:1:"]);
    refused(
        &LIST.replace("kind: Dropforge", "kind: Other"),
        &["E0806", "expected `kind: Dropforge`", "dropforge.dev/v1"],
    );
    refused(
        &LIST.replace("templates:", "template: {}"),
        &["unknown key `template` in `spec`", "did you mean `templates`?"],
    );
    refused(&LIST.replace("templates:", ""), &["neither `templates` nor `paths`"]);
    refused(
        &LIST.replace("templates:", "templates: [1]"),
        &["`templates` must be a map from names to texts, found list"],
    );
    refused(&LIST.replace("{app: cart,", "{items: 1,"), &["`items` stands for the resources"]);
    refused(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: 1\n",
        &["`items` must be a list, found integer"],
    );
    refused("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n", &["no `functionConfig`"]);
    let many = "{% for i in range(end=20000) %}---\napiVersion: v1\nkind: X\nmetadata: {name: n{{ i }}}\n{% endfor %}";
    let made = krm(&sandbox, &[("many.yaml.tera", many)]).expect(0);
    assert_eq!(names(&list(&made)).len(), 20_002);
    let deep = format!("{LIST}      a.tera: {}", "[".repeat(100_000));
    refused(&deep, &["E06"]);
}

#[test]
fn templates_reach_only_the_files_that_the_configuration_names() {
    let sandbox = Sandbox::with(&[
        ("secrets.env", "hunter2"),
        ("a/x.yaml.tera", "a: {% include 'a/_x.tera' %}{% include 'b/y.txt' %}{% include 'secrets.env' %}\n"),
        ("a/_x.tera", "1"),
        ("b/y.txt", "2"),
    ]);
    std::os::unix::fs::symlink("/etc", sandbox.path("a/link")).unwrap();
    let krm = |paths: &str, template: &str| {
        let list = LIST.replace(
            "    templates:\n",
            &format!("    paths: {paths}\n    templates: {{t.yaml.tera: \"{template}\"}}\n"),
        );
        let outcome = sandbox.feed(&["krm"], &list).expect(1);
        assert!(!outcome.stdout.contains("hunter2") && !outcome.stdout.contains("root:"), "{}", outcome.stdout);
        outcome
    };
    krm("[]", "{% include 'secrets.env' %}").says(&["E0501", "`secrets.env`", "files of `paths`"]);
    krm("[a, b]", "a: 1").says(&["E0501", "`secrets.env`"]);
    krm("[a/_x.tera]", "{% include 'a/x.yaml.tera' %}").says(&["E0501"]);
    for path in ["../", "/etc", "a/link", "a/../../x", "/"] {
        krm(&format!("[{path}]"), "a: 1").says(&["leads out of", "--include-root DIR"]);
    }
}
