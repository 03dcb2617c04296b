//! Hostile clients, texts and files.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Client, PROJECT, opened};
use crate::support::Sandbox;

#[test]
fn without_a_session_and_without_an_end() {
    let mut client = Client::spawn(Sandbox::new());
    client.hang_up();
    client.expect_exit(1);
    let client = Client::new(&[]);
    client.expect_exit(1);
    let mut client = Client::new(&[]);
    client.notify("exit", json!(null));
    client.expect_exit(1);
}

#[test]
fn requests_after_shutdown_are_refused() {
    let mut client = Client::new(&[("a.tera", "x")]);
    client.request("shutdown", json!(null));
    let id = client.begin("textDocument/hover", json!({}));
    assert_eq!(client.response(id)["error"]["code"], -32600);
    client.notify("exit", json!(null));
    client.expect_exit(0);
}

#[test]
fn unknown_and_malformed_requests_have_errors() {
    let mut client = Client::new(&[]);
    let mut code = |method: &str, params: Value| {
        let id = client.begin(method, params);
        client.response(id)["error"]["code"].clone()
    };
    assert_eq!(code("textDocument/nothing", json!({})), -32601);
    assert_eq!(code("textDocument/hover", json!({"x": 1})), -32602);
    assert_eq!(code("workspace/executeCommand", json!({"command": "rm", "arguments": []})), -32602);
    client.notify("textDocument/didOpen", json!({"textDocument": 5}));
    client.notify("textDocument/didChange", json!([]));
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"values": 5}}));
    client.end(0);
}

#[test]
fn cancelled_requests_are_answered_as_such() {
    let mut client = Client::new(&[("a.tera", "{{ x }}")]);
    client.open("a.tera");
    let uri = client.uri("a.tera");
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}});
    // Sent in one piece, so that the cancellation is there when the request is handled, or else comes too late.
    let id = client.begin("textDocument/hover", params);
    client.notify("$/cancelRequest", json!({"id": id}));
    let response = client.response(id);
    let code = &response["error"]["code"];
    assert!(*code == -32800 || response.get("result").is_some(), "{response}");
    client.end(0);
}

#[test]
fn places_outside_of_texts_and_files_that_are_not_open() {
    let mut client = Client::new(&[("a.tera", "{{ x }}\n"), ("b.tera", "{{ y }}\n")]);
    client.open("a.tera");
    for (name, line, character) in
        [("a.tera", 99, 0), ("a.tera", 0, 4_000_000_000_u32), ("b.tera", 0, 0), ("none.tera", 0, 0)]
    {
        for method in ["hover", "completion", "definition", "references", "prepareRename"] {
            let document = json!({"uri": client.uri(name)});
            let position = json!({"line": line, "character": character});
            let context = json!({"includeDeclaration": true, "triggerKind": 1});
            let params = json!({"textDocument": document, "position": position, "context": context});
            let result = client.request(&format!("textDocument/{method}"), params);
            assert!(result.is_null() || result["items"].is_array() || result == json!([]), "{name} {method}: {result}");
        }
    }
    for uri in ["untitled:Untitled-1", "http://example.com/a.tera", "file:", "x"] {
        let document = json!({"uri": uri, "languageId": "x", "version": 1, "text": "{{"});
        client.notify("textDocument/didOpen", json!({"textDocument": document}));
        let params = json!({"textDocument": {"uri": uri}});
        assert!(client.request("textDocument/documentSymbol", params).is_null());
    }
    client.end(0);
}

#[test]
fn paths_with_spaces_and_percent_signs() {
    let files = [("a b/50%25 x.tera", "{% include \"y z.tera\" %}{{ 1 | nope }}\n"), ("a b/y z.tera", "y\n")];
    let mut client = Client::new(&files);
    client.open("a b/50%25 x.tera");
    client.codes("a b/50%25 x.tera", &["E0401"]);
    let result = client.ask("definition", "a b/50%25 x.tera", "y z", 1);
    assert_eq!(result[0]["uri"], client.uri("a b/y z.tera"));
    client.end(0);
}

#[test]
fn characters_beyond_one_unit() {
    let mut client = Client::new(&[("a.tera", "{# 😀é #}{{ 1 | nope }}\n")]);
    client.open("a.tera");
    let found = client.codes("a.tera", &["E0401"]);
    assert_eq!(client.slice("a.tera", &found[0]["range"]), "nope");
    client.replace("a.tera", "é #}{{ 1 | nope", "😀 #}{{ 1 | upper");
    client.replace("a.tera", "upper }}", "nopes }}");
    let found = client
        .diagnostics("a.tera", |found| found.len() == 1 && found[0]["message"].as_str().unwrap().contains("nopes"));
    assert_eq!(client.slice("a.tera", &found[0]["range"]), "nopes");
    client.end(0);
}

#[test]
fn large_and_deep_texts() {
    let mut large = String::new();
    for at in 0..20_000 {
        let _ = writeln!(large, "key{at}: {{{{ value{at} | default(value='x') }}}}");
    }
    let deep = format!("{}x{}", "{% if a %}".repeat(3_000), "{% endif %}".repeat(3_000));
    let brackets = format!("{{{{ {}1{} }}}}", "(".repeat(50_000), ")".repeat(50_000));
    let files = [("l.tera", large.as_str()), ("d.tera", &deep), ("b.tera", &brackets), ("b.tftpl", "x")];
    let mut client = Client::new(&files);
    client.open("l.tera");
    client.codes("l.tera", &[]);
    assert!(client.hover("l.tera", "value19999").contains("value19999"));
    for name in ["d.tera", "b.tera"] {
        client.open(name);
        client.diagnostics(name, |found| !found.is_empty());
        assert!(client.ask("hover", name, "{", 1).is_null());
    }
    client.open_as("b.tftpl", &format!("${{{}1{}}}", "[".repeat(50_000), "]".repeat(50_000)));
    client.diagnostics("b.tftpl", |found| !found.is_empty());
    client.open_as("c.cel.yaml", &format!("a: {}{}\n", "[".repeat(50_000), "]".repeat(50_000)));
    client.diagnostics("c.cel.yaml", |found| !found.is_empty());
    client.end(0);
}

#[test]
fn files_that_are_closed_deleted_or_renamed() {
    let mut client = Client::new(&[("a.tera", "{% include \"b.tera\" %}\n"), ("b.tera", "{{ 1 | nope }}\n")]);
    client.open("a.tera");
    client.codes("b.tera", &["E0401"]);
    std::fs::rename(client.sandbox.path("b.tera"), client.sandbox.path("c.tera")).unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    client.diagnostics("a.tera", |found| !found.is_empty());
    client.close("a.tera");
    client.codes("a.tera", &[]);
    std::fs::remove_file(client.sandbox.path("c.tera")).unwrap();
    client.open_as("c.tera", "{{ x | nope }}");
    client.diagnostics("c.tera", |found| !found.is_empty());
    client.end(0);
}

#[test]
fn values_with_errors_leave_the_rest_working() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    client.open("values.yaml");
    client.replace("values.yaml", "image:", "image: [");
    client.diagnostics("values.yaml", |found| !found.is_empty());
    assert!(client.hover(name, "lower }}").contains("filter `lower`"));
    assert_eq!(client.definition(name, "label("), ["t/m.tera:0:label"]);
    client.replace("values.yaml", "image: [", "image:");
    client.codes("values.yaml", &[]);
    assert!(client.hover(name, "tag }}").contains("1.4"));
    client.end(0);
}

#[test]
fn unreadable_messages_are_answered_and_the_session_goes_on() {
    let mut client = Client::new(&[("a.tera", "{{ x }}")]);
    client.open("a.tera");
    for (bad, code) in [("{bad json", -32700), ("[1]", -32600)] {
        client.send_text(bad);
        assert_eq!(client.error_without_id()["code"], code, "{bad}");
    }
    client.send_raw("no header at all\r\n");
    assert_eq!(client.error_without_id()["code"], -32700);
    client.send_raw("Content-Length: 1000000000\r\n\r\n");
    let error = client.error_without_id();
    assert!(error["message"].as_str().unwrap().contains("1000000000 bytes: the limit is 64 MiB"), "{error}");
    client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": client.uri("a.tera")}}));
    client.end(0);
}

#[test]
fn standard_input_and_pipes_are_no_inputs_of_a_project() {
    for name in ["-", "/dev/stdin", "pipe"] {
        for key in ["values", "fleet"] {
            let project = format!("templates = [\"t\"]\n{key} = [\"{name}\"]\n");
            let sandbox = Sandbox::with(&[("t/a.yaml.tera", "a: {{ x }}\n"), ("dropforge.toml", &project)]);
            sandbox.pipe("pipe");
            let mut client = Client::start(sandbox, json!(null));
            client.open("t/a.yaml.tera");
            // The thread that checks has come to an end.
            client.diagnostics("t/a.yaml.tera", |_| true);
            client.ask("hover", "t/a.yaml.tera", "x", 0);
            client.end(0);
        }
    }
}
