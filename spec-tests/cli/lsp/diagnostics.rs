//! Diagnostics as one types.

use serde_json::json;

use super::{CHART, Client, PROJECT, opened};

#[test]
fn errors_come_and_go_with_the_text() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    let version = client.replace("t/app.yaml.tera", "{{ image.tag }}", "{{ imge.tag }}");
    let found = client.codes("t/app.yaml.tera", &["E0201"]);
    assert_eq!(client.slice("t/app.yaml.tera", &found[0]["range"]), "imge");
    assert_eq!((&found[0]["severity"], &found[0]["source"]), (&json!(1), &json!("dropforge")));
    assert!(found[0].get("codeDescription").is_none());
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("imge") && message.contains("help: did you mean `image`?"), "{message}");
    assert!(version > 0);
    client.replace("t/app.yaml.tera", "{{ imge.tag }}", "{{ image.tag }}");
    client.codes("t/app.yaml.tera", &[]);
    client.replace("t/app.yaml.tera", "{% endfor %}", "");
    client.diagnostics("t/app.yaml.tera", |found| !found.is_empty());
    client.end(0);
}

#[test]
fn an_argument_that_nothing_reads_is_a_warning_with_a_fix() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    client.replace(name, "image.pull | lower", "image.pull | truncate(lenght=3)");
    let found = client.codes(name, &["E0403"]);
    assert_eq!((client.slice(name, &found[0]["range"]), &found[0]["severity"]), ("lenght".into(), &json!(2)));
    assert_eq!(found[0]["data"]["edit"]["newText"], "length");
    client.end(0);
}

#[test]
fn files_that_are_not_saved_count() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    client.open("t/m.tera");
    client.codes("t/m.tera", &[]);
    client.replace("t/m.tera", "macro label(", "macro lable(");
    let found = client.codes("t/app.yaml.tera", &["E0502"]);
    assert_eq!(client.slice("t/app.yaml.tera", &found[0]["range"]), "label");
    client.open("values.yaml");
    client.replace("values.yaml", "image:", "image2:");
    client.diagnostics("t/app.yaml.tera", |found| found.iter().any(|one| one["code"] == "E0201"));
    client.end(0);
}

#[test]
fn schemas_and_unread_values_are_found_in_values_files() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    client.open("values.yaml");
    client.replace("values.yaml", "tag: \"1.4\"", "tag: 5");
    let found = client.diagnostics("values.yaml", |found| !found.is_empty());
    assert_eq!(client.slice("values.yaml", &found[0]["range"]), "5");
    client.replace("values.yaml", "tag: 5", "tag: \"5\"");
    client.replace("values.yaml", "token: abc", "token: abc\nother: 1");
    let found = client.codes("values.yaml", &["E0809"]);
    assert_eq!((client.slice("values.yaml", &found[0]["range"]), &found[0]["severity"]), ("1".into(), &json!(2)));
    client.replace("values.yaml", "tag: \"5\"", "tag: [");
    client.diagnostics("values.yaml", |found| found.iter().any(|one| one["severity"] == 1));
    client.end(0);
}

#[test]
fn an_error_in_an_included_file_tells_the_chain() {
    let files = [("a.tera", "x\n{% include \"b.tera\" %}\n"), ("b.tera", "{{ 1 | nope }}\n")];
    let mut client = Client::new(&files);
    client.open("a.tera");
    let found = client.codes("b.tera", &["E0401"]);
    let related = found[0]["relatedInformation"].as_array().unwrap();
    assert!(related.iter().any(|one| one["location"]["uri"] == client.uri("a.tera")), "{found:?}");
    client.end(0);
}

#[test]
fn charts_are_checked_with_their_values() {
    let mut client = opened(CHART, "templates/app.yaml");
    client.replace("templates/app.yaml", "include \"web.name\"", "include \"web.nam\"");
    let found = client.diagnostics("templates/app.yaml", |found| !found.is_empty());
    assert!(found[0]["message"].as_str().unwrap().contains("web.nam"), "{found:?}");
    client.replace("templates/app.yaml", "include \"web.nam\"", "include \"web.name\"");
    client.codes("templates/app.yaml", &[]);
    client.replace("templates/app.yaml", "{{- end }}", "{{- en }}");
    client.diagnostics("templates/app.yaml", |found| !found.is_empty());
    client.replace("templates/app.yaml", "{{- en }}", "{{- end }}");
    client.codes("templates/app.yaml", &[]);
    client.open("values.yaml");
    client.replace("values.yaml", "tag: \"1.4\"", "tag: 5");
    client.codes("values.yaml", &["E0808"]);
    client.end(0);
}

#[test]
fn every_language_is_checked() {
    let files = [
        ("a.tftpl", "${upper(x)} ${uper(x)}\n"),
        ("main.tf", "locals {\n  a = uper(\"x\")\n}\n"),
        ("a.cel.yaml", "$let: {a: 1}\nb: ${a + size(1, 2, 3)}\n"),
        ("a.cel", "1 + + \n"),
        ("a.tower", "${parms.x}\n"),
        ("a.gotmpl", "{{ .x | uper }}\n"),
    ];
    let mut client = Client::new(&files);
    for (name, _) in files {
        client.open(name);
        let found = client.diagnostics(name, |found| !found.is_empty());
        assert_eq!(found[0]["severity"], 1, "{name}: {found:?}");
    }
    client.end(0);
}

#[test]
fn settings_give_values_and_clusters() {
    let files = [
        ("a.tera", "{{ name }} {{ tag }}\n"),
        ("v.yaml", "tag: 1\n"),
        ("f.ndjson", "{\"name\":\"eu\"}\n{\"name\":\"us\"}\n"),
    ];
    let sandbox = crate::support::Sandbox::with(&files);
    let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
    client.open("a.tera");
    client.codes("a.tera", &["E0201"]);
    let settings = json!({"dropforge": {"values": ["v.yaml"], "fleet": ["f.ndjson"], "cluster": "us"}});
    client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    client.codes("a.tera", &[]);
    client.notify("workspace/didChangeConfiguration", json!({"settings": null}));
    assert!(client.hover("a.tera", "name }}").contains("`\"us\"`"));
    client.end(0);
}

#[test]
fn a_misspelled_cluster_of_the_settings_is_told_once() {
    let fleet = "{\"name\":\"eu-1\"}\n{\"name\":\"us-1\"}\n";
    let files = [("a.tera", "{{ name }}\n"), ("b.tera", "{{ name }}\n"), ("f.ndjson", fleet)];
    let sandbox = crate::support::Sandbox::with(&files);
    let mut client = Client::start(sandbox, json!({"fleet": ["f.ndjson"], "cluster": "us1"}));
    client.open("a.tera");
    let expected = "no cluster is named `us1`; available: eu-1, us-1; did you mean `us-1`?";
    assert_eq!(client.message(), format!("the setting `cluster` of dropforge: {expected}"));
    client.open("b.tera");
    let settings = json!({"fleet": ["f.ndjson"], "cluster": "us-1"});
    client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    let settings = json!({"fleet": ["f.ndjson"], "cluster": "eu"});
    client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    assert!(client.message().contains("no cluster is named `eu`"));
    client.end(0);
}

/// Returns the title of the only code action for diagnostics, and the text after it.
fn mend(client: &mut Client, name: &str, found: &[serde_json::Value]) -> (String, String) {
    let context = json!({"diagnostics": found});
    let uri = client.uri(name);
    let params = json!({"textDocument": {"uri": uri}, "range": found[0]["range"], "context": context});
    let actions = client.request("textDocument/codeAction", params);
    assert_eq!(actions.as_array().unwrap().len(), 1, "{found:?}");
    (actions[0]["title"].as_str().unwrap().to_owned(), client.edited(&actions[0]["edit"])[0].1.clone())
}

#[test]
fn wrong_names_of_every_language_are_mended() {
    let files = [
        ("a.tftpl", "${uper(image.tag)}\n", "${upper(image.tag)}\n"),
        ("main.tf", "a = uper(\"x\")\n", "a = upper(\"x\")\n"),
        ("a.cel.yaml", "a: ${sizee('x')}\n", "a: ${size('x')}\n"),
        ("a.cel", "sizee('x')\n", "size('x')\n"),
        ("a.tower", "${parms.x}\n", "${params.x}\n"),
        ("a.gotmpl", "{{ .image.tag | uper }}\n", "{{ .image.tag | upper }}\n"),
        ("b.tera", "{{ image.tga }}\n", "{{ image.tag }}\n"),
    ];
    let sandbox = crate::support::Sandbox::with(&[("v.yaml", "image: {tag: v1}\nparams: {x: 5}\n")]);
    files.iter().for_each(|(name, text, _)| sandbox.write(name, text));
    let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
    for (name, _, wanted) in files {
        client.open(name);
        let found = client.diagnostics(name, |found| !found.is_empty());
        assert_eq!(mend(&mut client, name, &found).1, wanted, "{name}");
    }
    client.end(0);
}

#[test]
fn a_wrong_value_of_a_chart_is_mended() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    client.replace(name, ".Values.image.tag", ".Values.image.tga");
    let found = client.diagnostics(name, |found| !found.is_empty());
    assert!(mend(&mut client, name, &found).1.contains(".Values.image.tag | quote"));
    client.replace(name, ".Values.image.tga", ".Values.image.tag");
    client.codes(name, &[]);
    client.replace(name, "include \"web.name\"", "include \"web.nam\"");
    let found = client.diagnostics(name, |found| !found.is_empty());
    assert!(mend(&mut client, name, &found).1.contains("include \"web.name\""));
    client.end(0);
}

#[test]
fn a_wrong_name_is_mended_by_a_code_action() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    client.replace("t/app.yaml.tera", "{{ image.tag }}", "{{ imge.tag }}");
    let found = client.codes("t/app.yaml.tera", &["E0201"]);
    let (title, text) = mend(&mut client, "t/app.yaml.tera", &found);
    assert_eq!(title, "Change to `image`");
    assert!(text.contains("{{ image.tag }}") && !text.contains("imge"), "{text}");
    client.replace("t/app.yaml.tera", "{{ imge.tag }}", "{{ image.tga }}");
    let found = client.diagnostics("t/app.yaml.tera", |found| {
        found.iter().any(|one| one["message"].as_str().unwrap().contains("tga"))
    });
    let (_, text) = mend(&mut client, "t/app.yaml.tera", &found);
    assert!(text.contains("{{ image.tag }}"), "{text}");
    client.replace("t/app.yaml.tera", "| lower", "| lwer");
    client.replace("t/app.yaml.tera", "image.tga", "image.tag");
    let found = client.codes("t/app.yaml.tera", &["E0401"]);
    let (_, text) = mend(&mut client, "t/app.yaml.tera", &found);
    assert!(text.contains("| lower"), "{text}");
    client.end(0);
}

#[test]
fn a_project_file_with_errors_is_told() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    client.sandbox.write("dropforge.toml", "templates = [\"t\"]\nvalus = []\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    let found = client.diagnostics("dropforge.toml", |found| !found.is_empty());
    assert!(found[0]["message"].as_str().unwrap().contains("valus"), "{found:?}");
    client.end(0);
}
