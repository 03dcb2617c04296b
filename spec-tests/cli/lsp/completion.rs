//! Completion, also in texts that do not parse.

use serde_json::json;

use super::{CHART, Client, PROJECT, opened};

#[track_caller]
fn has(found: &[String], wanted: &[&str]) {
    for one in wanted {
        assert!(found.iter().any(|label| label == one), "no {one} in {found:?}");
    }
}

#[test]
fn tera() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    assert!(client.complete(name, "pull: ").is_empty());
    client.replace(name, "tag: {{ image.tag }}", "tag: {{ image. }}");
    assert_eq!(client.complete(name, "{{ image."), ["digest", "pull", "tag"]);
    client.replace(name, "{{ image. }}", "{{ im");
    let found = client.complete(name, "{{ im");
    has(&found, &["image", "ports", "name", "m", "range", "now"]);
    client.replace(name, "{{ im", "{{ image | ");
    let found = client.complete(name, "{{ image | ");
    has(&found, &["upper", "to_yaml", "default"]);
    assert!(!found.contains(&"range".to_owned()));
    client.replace(name, "{{ image | ", "{% if image is ");
    has(&client.complete(name, "image is "), &["defined", "string"]);
    client.replace(name, "{% if image is ", "{{ m::");
    assert_eq!(client.complete(name, "tag: {{ m::"), ["label"]);
    client.replace(name, "tag: {{ m::", "{% include \"");
    assert_eq!(client.complete(name, "{% include \""), ["m.tera", "values.schema.json"][..1]);
    client.replace(name, "{{ port.number }}", "{{ port. }}");
    assert_eq!(client.complete(name, "{{ port."), ["name", "number"]);
    client.end(0);
}

#[test]
fn items_have_values_types_and_documentation() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    client.replace(name, "{{ image.tag }}", "{{ image. }}");
    let result = client.ask("completion", name, "{{ image.", 9);
    let tag = result["items"].as_array().unwrap().iter().find(|item| item["label"] == "tag").unwrap();
    assert_eq!((&tag["detail"], &tag["documentation"]), (&json!("\"1.4\""), &json!("The tag to run.")));
    let result = client.ask("completion", name, "| lower", 2);
    let lower = result["items"].as_array().unwrap().iter().find(|item| item["label"] == "lower").unwrap();
    assert!(lower["detail"].as_str().unwrap().contains("lower") && !lower["documentation"]["value"].is_null());
    let result = client.ask("completion", name, "{{ token", 3);
    let token = result["items"].as_array().unwrap().iter().find(|item| item["label"] == "token").unwrap();
    assert_eq!(token["detail"], "(secret)");
    client.end(0);
}

#[test]
fn charts() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    client.replace(name, "{{ .Values.image.tag | quote }}", "{{ .Values.image. }}");
    assert_eq!(client.complete(name, "{{ .Values.image."), ["tag"]);
    client.replace(name, "{{ .Values.image. }}", "{{ .Values.");
    assert_eq!(client.complete(name, "tag: {{ .Values."), ["image", "password", "ports"]);
    client.replace(name, "tag: {{ .Values.", "tag: {{ .");
    has(&client.complete(name, "tag: {{ ."), &["Values", "Release", "Chart"]);
    client.replace(name, "tag: {{ .", "tag: {{ include \"");
    assert_eq!(client.complete(name, "tag: {{ include \""), ["web.name", "web.secret"]);
    client.replace(name, "- {{ .number }}", "- {{ . }}");
    assert_eq!(client.complete(name, "- {{ ."), ["name", "number"]);
    client.replace(name, "$port.name }}", "$port. }}");
    assert_eq!(client.complete(name, "$port."), ["name", "number"]);
    has(&client.complete(name, "{{ $p"), &["$port", "$i", "quote", "include", "range", "end"]);
    client.end(0);
}

#[test]
fn tags_and_the_fields_of_loops() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    client.replace(name, "pull: {{ image.pull | lower }}", "{% ");
    let found = client.complete(name, "image.tag }}\n{% ");
    has(&found, &["if", "endfor", "set", "include", "endblock"]);
    assert!(!found.contains(&"image".to_owned()), "{found:?}");
    client.replace(name, "{% \n", "{% set x = im\n");
    has(&client.complete(name, "{% set x = im"), &["image"]);
    client.replace(name, "{% set x = im\n", "{% filter up\n");
    has(&client.complete(name, "{% filter up"), &["upper", "to_yaml"]);
    client.replace(name, "{{ port.number }}", "{{ loop. }}");
    assert_eq!(client.complete(name, "{{ loop."), ["index", "index0", "first", "last"]);
    client.end(0);
}

#[test]
fn objects_of_charts_and_their_members() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    let objects = ["Capabilities", "Chart", "Files", "Release", "Subcharts", "Template", "Values"];
    client.replace(name, "{{ .Values.image.tag | quote }}", "{{ . }}");
    has(&client.complete(name, "tag: {{ ."), &objects);
    let result = client.ask("completion", name, "tag: {{ .", 9);
    let items = result["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["documentation"].is_string()), "{items:?}");
    let mut members = |path: &str, wanted: &[&str]| {
        let typed = format!("tag: {{{{ {path}");
        client.replace(name, "tag: {{ .", &format!("tag: {{{{ {path} . "));
        has(&client.complete(name, &typed), wanted);
        client.replace(name, &format!("tag: {{{{ {path} . "), "tag: {{ .");
    };
    members(".Capabilities.", &["KubeVersion", "APIVersions"]);
    members(".Capabilities.KubeVersion.", &["Major", "Version"]);
    members("$.Files.", &["Get", "Glob", "AsConfig"]);
    members("$.Release.", &["Name", "IsUpgrade"]);
    members(".Chart.", &["Name", "Version", "AppVersion"]);
    members(".Template.", &["Name", "BasePath"]);
    members("$r := .Release }}{{ $r.", &["Name", "IsUpgrade"]);
    client.end(0);
}

#[test]
fn data_and_variables_of_blocks_that_do_not_parse() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    let tag = "tag: {{ .Values.image.tag | quote }}";
    client.replace(name, tag, "tag: {{ with .Values.image }}{{ . }}");
    assert_eq!(client.complete(name, "{{ with .Values.image }}{{ ."), ["tag"]);
    client.replace(name, "{{ with .Values.image }}{{ . }}", "{{ with .Values }}{{ range $k, $v := .ports }}{{ $v. }}");
    assert_eq!(client.complete(name, "{{ $v."), ["name", "number"]);
    client.replace(name, "{{ $v. }}", "{{ .");
    assert_eq!(client.complete(name, ":= .ports }}{{ ."), ["name", "number"]);
    client.replace(name, ":= .ports }}{{ .", ":= .ports }}{{ $");
    has(&client.complete(name, ":= .ports }}{{ $"), &["$k", "$v", "quote"]);
    client.replace(name, ":= .ports }}{{ $", ":= .ports }}{{ end }}{{ $");
    assert!(!client.complete(name, "{{ end }}{{ $").contains(&"$v".to_owned()));
    client.end(0);
}

#[test]
fn other_languages() {
    let files = [
        ("a.tftpl", "%{ for p in ports }${p.}%{ endfor }${up}\n"),
        ("main.tf", "variable \"region\" {\n}\nlocals {\n  a = var.\n  b = local.a\n}\n"),
        ("a.cel.yaml", "$let:\n  app: ${image}\nb: ${app.tag}\nc: ${si}\nd:\n  $inclu\n"),
        ("a.cel", "image.tag\n"),
        ("a.tower", "${params.} ${\n"),
        ("v.yaml", "image: {tag: v1}\nports: [{name: http}]\nparams: {x: 5}\n"),
    ];
    let sandbox = crate::support::Sandbox::with(&files);
    let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
    client.open_as("a.cel.yaml", "$let:\n  app: ${image}\nb: ${app.tag}\nc: ${size('')}\n");
    client.hover("a.cel.yaml", "app.tag");
    client.change("a.cel.yaml", json!([{"text": client.sandbox.read("a.cel.yaml")}]));
    for name in ["a.tftpl", "main.tf", "a.cel", "a.tower"] {
        client.open(name);
    }
    assert_eq!(client.complete("a.tftpl", "${p."), ["name"]);
    has(&client.complete("a.tftpl", "${up"), &["upper", "image", "ports"]);
    assert_eq!(client.complete("main.tf", "a = var."), ["region"]);
    assert_eq!(client.complete("main.tf", "b = local."), ["a", "b"]);
    assert_eq!(client.complete("a.cel", "image."), ["tag"]);
    assert_eq!(client.complete("a.tower", "${params."), ["x"]);
    assert_eq!(client.complete("a.tftpl", "%{ f"), ["if", "else", "endif", "for", "endfor"]);
    client.end(0);
}

#[test]
fn cel_in_yaml() {
    let files = [
        ("a.cel.yaml", "$let:\n  app: ${image}\nb: ${app.tag}\n"),
        ("part.cel.yaml", "x: 1\n"),
        ("v.yaml", "image: {tag: v1}\n"),
    ];
    let sandbox = crate::support::Sandbox::with(&files);
    let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
    let name = "a.cel.yaml";
    client.open(name);
    client.codes(name, &[]);
    assert_eq!(client.complete(name, "${app."), ["tag"]);
    client.replace(name, "${app.tag}", "${app.");
    assert_eq!(client.complete(name, "${app."), ["tag"]);
    client.replace(name, "${app.", "${");
    has(&client.complete(name, "b: ${"), &["app", "image", "size"]);
    client.replace(name, "b: ${", "$inc");
    has(&client.complete(name, "$inc"), &["$include", "$if", "$msg"]);
    client.replace(name, "$inc", "$include: ");
    assert_eq!(client.complete(name, "$include: "), ["part.cel.yaml"]);
    client.end(0);
}
