//! Inlay hints: rendered values.

use serde_json::json;

use super::{CHART, Client, PROJECT, opened};

#[test]
fn tera() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    let hints = client.hints(name);
    let wanted = [
        "name: {{ name = eu-1",
        "tag: {{ image.tag = 1.4",
        "pull: {{ image.pull | lower = always",
        "- {{ port.number = 80",
        "- {{ port.number }} {{ port.name = http",
        "{% set zone = name %}{{ zone = eu-1",
    ];
    assert_eq!(hints, wanted);
    client.request("workspace/executeCommand", json!({"command": "dropforge.selectCluster", "arguments": ["us-1"]}));
    client.hints_with(name, "tag: {{ image.tag = 1.5");
    // Places move with the text before the next check.
    client.replace(name, "name: {{", "x: y\nname: {{");
    assert!(client.hints_now(name).contains(&"tag: {{ image.tag = 1.5".to_owned()));
    client.end(0);
}

#[test]
fn charts() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    let hints = client.hints(name);
    let wanted = [
        "name: {{ include \"web.name\" . = web",
        "tag: {{ .Values.image.tag | quote = \"1.4\"",
        "release: {{ .Release.Name = release-name",
        "- {{ .number = 80",
        "- {{ $port.name = http",
    ];
    assert_eq!(hints, wanted);
    client.open("values.schema.json");
    client.replace("values.schema.json", "\"format\": \"password\"", "\"format\": \"hostname\"");
    let hints = client.hints_with(name, "encoded");
    assert_eq!(hints[2], "password: {{ .Values.password = secret");
    assert_eq!(hints[6], "encoded: {{ include \"web.secret\" . = c2VjcmV0");
    client.end(0);
}

#[test]
fn what_was_made_from_secrets_has_none() {
    let files = [
        (
            "t/a.yaml.tera",
            "{{ name }}\n{{ keys[i] | upper }}\n{% set x = token | split(pat='-') %}{{ x[i] }}\n{{ token | length }}\n",
        ),
        (
            "t/a.gotmpl",
            "{{ .name }}\n{{ (merge (dict) .).token }}\n{{ $d := dict }}{{ $_ := set $d \"k\" (trunc 5 .token) }}{{ $d.k }}\n",
        ),
        ("t/a.tftpl", "${name}\n${[for k in keys : substr(k, 0, 5)][0]}\n${sha256(token)}\n"),
        ("t/a.cel.yaml", "a: ${name}\nb: ${token.split('-')[1]}\nc: ${keys.map(k, k.substring(0, 5))[0]}\n"),
        (
            "t/values.schema.json",
            r#"{"properties": {"token": {"writeOnly": true}, "keys": {"items": {"x-secret": true}}}}"#,
        ),
        ("dropforge.toml", "templates = [\"t\"]\nvalues = [\"v.yaml\"]\n"),
        ("v.yaml", "name: web\ntoken: abcd-Zx81q-efgh\nkeys: [Qw72r-ijkl-mnop]\ni: 0\n"),
    ];
    for (name, _) in &files[..4] {
        let mut client = opened(&files, name);
        let hints = client.hints(name);
        assert_eq!(hints.len(), 1, "{name}: {hints:?}");
        assert!(hints[0].contains("name = "), "{hints:?}");
        client.end(0);
    }
}

#[test]
fn random_values_have_none_and_leave_the_others() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    client.hints(name);
    client.replace(
        name,
        "name: {{",
        "key: {{ randAlphaNum 16 | quote }}\nday: {{ now | date \"2006\" | len }}\nname: {{",
    );
    let hints = client.hints_with(name, "day: {{ now | date \"2006\" | len = 4");
    assert!(hints.contains(&"tag: {{ .Values.image.tag | quote = \"1.4\"".to_owned()), "{hints:?}");
    assert!(!hints.iter().any(|hint| hint.starts_with("key:")), "{hints:?}");
    client.end(0);
    let files = [("a.yaml.tera", "{{ get_random(end=1000000000) }}\nb: {{ x }}\n"), ("v.yaml", "x: 5\n")];
    let mut client = Client::start(crate::support::Sandbox::with(&files), json!({"values": ["v.yaml"]}));
    client.open("a.yaml.tera");
    assert_eq!(client.hints("a.yaml.tera"), ["b: {{ x = 5"]);
    client.end(0);
}

#[test]
fn other_languages_and_loops() {
    let files = [
        ("a.tftpl", "%{ for p in ports }${p.name}%{ endfor } ${upper(image.tag)}\n"),
        ("a.cel.yaml", "b: ${image.tag + 'x'}\n"),
        ("a.tower", "a ${params.x}\n"),
        ("v.yaml", "image: {tag: v1}\nports: [{name: http}, {name: https}]\nparams: {x: 5}\n"),
    ];
    let mut found = Vec::new();
    for (name, _) in &files[..3] {
        let sandbox = crate::support::Sandbox::with(&files);
        let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
        client.open(name);
        found.extend(client.hints(name));
        client.end(0);
    }
    let wanted = [
        "%{ for p in ports }${p.name = http … (2)",
        "%{ for p in ports }${p.name}%{ endfor } ${upper(image.tag) = V1",
        "b: ${image.tag + 'x' = \"v1x\"",
        "a ${params.x} = 5",
    ];
    assert_eq!(found, wanted);
}
