//! The audit trail, and names, expiry and last use of keys.

use chrono::{TimeDelta, Utc};
use dropforge_catalog::server::Settings;
use serde_json::{Value as Json, json};

use super::server::{Running, text};

fn trail(server: &Running, query: &str) -> Vec<Json> {
    let reply = server.call(&server.admin, "GET", &format!("/api/v1/audit{query}"));
    reply.has(200).json().as_array().unwrap().clone()
}

/// The values of some fields, oldest first.
fn fields(trail: &[Json], names: &[&str]) -> Vec<String> {
    let line = |entry: &Json| {
        let values = names.iter().map(|name| entry[*name].as_str().unwrap_or("-").to_owned());
        values.collect::<Vec<_>>().join(" ")
    };
    trail.iter().rev().map(line).collect()
}

#[test]
fn every_change_leaves_an_entry() {
    let server = Running::new();
    let key = server.made("/api/v1/keys", &json!({ "role": "admin", "name": "ops" }));
    let (ops, key_id) = (text(&key["pak"]), text(&key["key"]["id"]));
    let team = server.team("shop");
    let template = server.template(&team.pak, "web");
    let send = |method: &str, path: &str, body: &Json, status: u16| {
        server.send(&ops, method, &format!("/api/v1{path}"), body).has(status).clone()
    };
    let call = |method: &str, path: &str, status: u16| {
        server.call(&ops, method, &format!("/api/v1{path}")).has(status);
    };
    let change = json!({ "template_content": "a: {{ name }}", "parameters_schema": "{}" });
    send("PUT", &format!("/templates/{template}"), &change, 200);
    for (kind, id) in [("templates", &template), ("stacks", &team.stack)] {
        let annotation = json!({ "stack_id": team.stack, "key": "k", "value": "hidden-value" });
        send("POST", &format!("/{kind}/{id}/labels"), &json!("env=prod"), 201);
        call("DELETE", &format!("/{kind}/{id}/labels/env=prod"), 204);
        send("POST", &format!("/{kind}/{id}/annotations"), &annotation, 201);
        call("DELETE", &format!("/{kind}/{id}/annotations/k"), 204);
    }
    let parameters = json!({ "name": "hidden-parameter", "value": "v" });
    server.instantiate(&team.pak, &team.stack, &template, parameters).has(201);
    let path = format!("/stacks/{}/deployment-objects", team.stack);
    send("POST", &path, &json!({ "yaml_content": "hidden: text" }), 201);
    let stack = server.call(&ops, "GET", &format!("/api/v1/stacks/{}", team.stack)).json();
    send("PUT", &format!("/stacks/{}", team.stack), &stack, 200);
    call("DELETE", &format!("/templates/{template}"), 204);
    call("DELETE", &format!("/stacks/{}", team.stack), 204);
    send("PUT", &format!("/generators/{}", team.id), &json!({ "description": "d" }), 200);
    send("POST", &format!("/generators/{}/rotate-pak", team.id), &Json::Null, 201);
    call("DELETE", &format!("/generators/{}", team.id), 204);
    call("DELETE", &format!("/keys/{key_id}"), 204);

    let trail = trail(&server, "");
    let expected = [
        "key.create - - - - -",
        "key.create ops - admin - key",
        "generator.create shop - admin - generator",
        "stack.create stack of shop - admin - stack",
        "template.create web@1 - generator shop template",
        "template.create web@2 - admin ops template",
        "template.label.add web@1 env=prod admin ops template",
        "template.label.remove web@1 env=prod admin ops template",
        "template.annotation.add web@1 k admin ops template",
        "template.annotation.remove web@1 k admin ops template",
        "stack.label.add stack of shop env=prod admin ops stack",
        "stack.label.remove stack of shop env=prod admin ops stack",
        "stack.annotation.add stack of shop k admin ops stack",
        "stack.annotation.remove stack of shop k admin ops stack",
        "object.create stack of shop - generator shop object",
        "object.create stack of shop - admin ops object",
        "stack.update stack of shop - admin ops stack",
        "template.delete web@1 - admin ops template",
        "stack.delete stack of shop - admin ops stack",
        "generator.update shop - admin ops generator",
        "key.rotate shop - admin ops generator",
        "generator.delete shop - admin ops generator",
        "key.revoke ops - admin ops key",
    ];
    // The first key has no role there: it was made without a request.
    let mut found = fields(&trail, &["action", "object_name", "detail", "role", "key_name", "object_kind"]);
    found[0] = found[0].replace(" key", " -");
    assert_eq!(found, expected);
    for entry in &trail[..trail.len() - 1] {
        assert_eq!(entry["address"], "127.0.0.1", "{entry}");
        assert!(entry["request_id"].is_string() && entry["key_id"].is_string(), "{entry}");
    }
    let all = json!(trail).to_string();
    for secret in ["hidden", &ops[16..], &team.pak[16..], &server.admin[16..]] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn only_administrators_read_the_trail_and_page_through_it() {
    let server = Running::new();
    let team = server.team("shop");
    server.call(&team.pak, "GET", "/api/v1/audit").is(403, "admin_required");
    let reader = text(&server.made("/api/v1/keys", &json!({ "role": "readonly" }))["pak"]);
    server.call(&reader, "GET", "/api/v1/audit").is(403, "admin_required");
    server.call("", "GET", "/api/v1/audit").has(401);

    let all = trail(&server, "");
    assert_eq!(all.len(), 4);
    let first = server.call(&server.admin, "GET", "/api/v1/audit?limit=3");
    let cursor = first.header("x-next-cursor").expect("a cursor");
    assert_eq!(first.json().as_array().unwrap()[..], all[..3]);
    let last = server.call(&server.admin, "GET", &format!("/api/v1/audit?limit=3&cursor={cursor}"));
    assert_eq!((last.json(), last.header("x-next-cursor")), (json!(all[3..]), None));
    let of_stack = trail(&server, &format!("?object={}", team.stack));
    assert_eq!(fields(&of_stack, &["action"]), ["stack.create"]);
    for wrong in ["?limit=0", "?limit=1001", "?cursor=x", "?object=x"] {
        server.call(&server.admin, "GET", &format!("/api/v1/audit{wrong}")).is(400, "invalid_query");
    }
}

#[test]
fn behind_a_proxy_the_last_forwarded_address_counts() {
    for (behind_proxy, expected) in [(false, "127.0.0.1"), (true, "203.0.113.9")] {
        let server = Running::with(Settings { behind_proxy, ..Settings::default() });
        let request = server.request("POST", "/api/v1/keys").key(&server.admin).json(&json!({ "role": "agent" }));
        // The client wrote the first one.
        let request = request.header("X-Forwarded-For", "198.51.100.1, 203.0.113.9").header("X-Request-Id", "r-1");
        request.send().has(201);
        let entry = &trail(&server, "?limit=1")[0];
        assert_eq!((&entry["address"], &entry["request_id"]), (&json!(expected), &json!("r-1")));
    }
}

#[test]
fn keys_have_names_and_end() {
    let server = Running::new();
    let soon = Utc::now() + TimeDelta::milliseconds(1500);
    let made = server.made("/api/v1/keys", &json!({ "role": "readonly", "name": "ci", "expires_at": soon }));
    let pak = text(&made["pak"]);
    assert_eq!(made["key"]["name"], "ci");
    server.call(&pak, "POST", "/api/v1/auth/pak").has(200);
    let listed = |name: &str| {
        let keys = server.call(&server.admin, "GET", "/api/v1/keys").json();
        keys.as_array().unwrap().iter().find(|key| key["name"] == name).unwrap().clone()
    };
    // The use is recorded after the response.
    let used = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        listed("ci")["last_used_at"].is_string()
    });
    assert!(used);
    while Utc::now() <= soon {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    server.call(&pak, "POST", "/api/v1/auth/pak").has(401);
    assert!(listed("ci")["revoked_at"].is_null());

    let refused = |body: Json, code: &str| {
        server.send(&server.admin, "POST", "/api/v1/keys", &body).is(400, code);
    };
    refused(json!({ "role": "agent", "expires_at": "2020-01-01T00:00:00Z" }), "invalid_expiry");
    refused(json!({ "role": "agent", "name": " " }), "invalid_name");
    refused(json!({ "role": "agent", "name": "x".repeat(256) }), "invalid_name");
    server
        .send(&server.admin, "POST", "/api/v1/keys", &json!({ "role": "agent", "expires_at": 5 }))
        .is(422, "invalid_body");
}
