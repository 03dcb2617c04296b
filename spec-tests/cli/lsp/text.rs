//! Symbols and formatting.

use serde_json::{Value, json};

use super::{CHART, Client, PROJECT, opened};

fn names(symbols: &Value) -> Vec<String> {
    let name = |symbol: &Value| symbol["name"].as_str().unwrap().to_owned();
    symbols.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn symbols_of_files_and_of_the_workspace() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    let symbols = |client: &mut Client, name: &str| {
        let params = json!({"textDocument": {"uri": client.uri(name)}});
        client.request("textDocument/documentSymbol", params)
    };
    let own = symbols(&mut client, "t/app.yaml.tera");
    assert_eq!(names(&own), ["m", "port", "zone"]);
    client.open("t/m.tera");
    let own = symbols(&mut client, "t/m.tera");
    assert_eq!((names(&own), &own[0]["detail"]), (vec!["label".to_owned()], &json!("label(text, kind=\"x\")")));
    assert_eq!(names(&own[0]["children"]), ["text", "kind"]);
    let found = client.request("workspace/symbol", json!({"query": "LAB"}));
    assert_eq!(
        (names(&found), &found[0]["location"]["uri"]),
        (vec!["label".to_owned()], &json!(client.uri("t/m.tera")))
    );
    client.end(0);
}

#[test]
fn symbols_of_charts_and_configurations() {
    let mut client = opened(CHART, "templates/app.yaml");
    client.open("templates/_helpers.tpl");
    client.open_as("main.tf", "variable \"a\" {\n}\nresource \"r\" \"b\" {\n  x = 1\n}\n");
    let mut symbols = |name: &str| {
        let params = json!({"textDocument": {"uri": client.uri(name)}});
        names(&client.request("textDocument/documentSymbol", params))
    };
    assert_eq!(symbols("templates/_helpers.tpl"), ["web.name", "web.secret"]);
    assert_eq!(symbols("templates/app.yaml"), ["$i", "$port"]);
    assert_eq!(symbols("main.tf"), ["var.a", "r.b"]);
    client.end(0);
}

#[test]
fn configurations_are_formatted_and_templates_are_not() {
    let mut client = Client::new(&[("main.tf", "a=1\nbb = 2\n"), ("bad.tf", "a=\n"), ("a.tera", "{{a}}")]);
    let mut format = |name: &str| {
        client.open(name);
        let uri = client.uri(name);
        let options = json!({"tabSize": 2, "insertSpaces": true});
        client.request("textDocument/formatting", json!({"textDocument": {"uri": uri}, "options": options}))
    };
    let edits = format("main.tf");
    assert_eq!(edits[0]["newText"], "a  = 1\nbb = 2\n");
    assert_eq!(edits[0]["range"]["end"], json!({"line": 2, "character": 0}));
    assert!(format("bad.tf").is_null() && format("a.tera").is_null());
    client.replace("main.tf", "a=1\nbb = 2\n", "a = 1\n");
    let params =
        json!({"textDocument": {"uri": client.uri("main.tf")}, "options": {"tabSize": 2, "insertSpaces": true}});
    assert_eq!(client.request("textDocument/formatting", params), json!([]));
    client.end(0);
}
