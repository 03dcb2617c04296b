//! Quotas of generators, and removing deleted rows for good.

use std::thread;

use dropforge_catalog::Quotas;
use serde_json::{Value as Json, json};

use super::server::{Running, SCHEMA, TEMPLATE, text};

fn template(name: &str) -> Json {
    json!({ "name": name, "template_content": TEMPLATE, "parameters_schema": SCHEMA })
}

fn parameters() -> Json {
    json!({ "name": "a", "value": "b" })
}

#[test]
fn a_generator_has_no_more_templates_than_its_quota() {
    let server = Running::limited(Quotas { templates: Some(3), ..Quotas::default() });
    let (team, other) = (server.team("ci"), server.team("other"));
    let first = server.template(&team.pak, "web");
    server.send(&team.pak, "PUT", &format!("/api/v1/templates/{first}"), &template("web")).has(200);
    server.template(&team.pak, "db");
    let refusal = server.send(&team.pak, "POST", "/api/v1/templates", &template("more"));
    refusal.is(403, "quota_exceeded");
    assert_eq!(refusal.json()["details"], json!({ "quota": "templates", "limit": 3, "used": 3, "requested": 1 }));
    assert_eq!(refusal.json()["message"], "the generator would have 4 template versions, and its quota is 3");
    let update = server.send(&team.pak, "PUT", &format!("/api/v1/templates/{first}"), &template("web"));
    update.is(403, "quota_exceeded");
    // An administrator changes the generator's template, too.
    let update = server.send(&server.admin, "PUT", &format!("/api/v1/templates/{first}"), &template("web"));
    update.is(403, "quota_exceeded");
    // Others are not affected, and the system has no quota.
    server.template(&other.pak, "web");
    for _ in 0..5 {
        server.template(&server.admin, "web");
    }
    server.call(&team.pak, "DELETE", &format!("/api/v1/templates/{first}")).has(204);
    server.template(&team.pak, "more");
    server.send(&team.pak, "POST", "/api/v1/templates", &template("more")).is(403, "quota_exceeded");
}

#[test]
fn concurrent_writers_do_not_exceed_a_quota() {
    let server = Running::limited(Quotas { objects: Some(5), ..Quotas::default() });
    let (team, other) = (server.team("ci"), server.team("other"));
    let template = server.template(&server.admin, "web");
    // What is refused for another reason uses nothing.
    for _ in 0..8 {
        server.instantiate(&team.pak, &team.stack, &template, json!({})).is(400, "invalid_parameters");
    }
    let make = || server.instantiate(&team.pak, &team.stack, &template, parameters()).status;
    let made = thread::scope(|scope| {
        let clients: Vec<_> = (0..16).map(|_| scope.spawn(make)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).filter(|status| *status == 201).count()
    });
    assert_eq!(made, 5);
    let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let refusal = server.send(&server.admin, "POST", &path, &json!({ "yaml_content": "a: 1" }));
    refusal.is(403, "quota_exceeded");
    assert_eq!(refusal.json()["details"], json!({ "quota": "objects", "limit": 5, "used": 5, "requested": 1 }));
    server.instantiate(&other.pak, &other.stack, &template, parameters()).has(201);
    // The objects of a deleted stack do not count.
    server.call(&team.pak, "DELETE", &format!("/api/v1/stacks/{}", team.stack)).has(204);
    let stack = json!({ "name": "next", "generator_id": team.id });
    let stack = text(&server.send(&team.pak, "POST", "/api/v1/stacks", &stack).has(201).json()["id"]);
    server.instantiate(&team.pak, &stack, &template, parameters()).has(201);
}

#[test]
fn a_full_quota_answers_what_was_carried_out_before() {
    let server = Running::limited(Quotas { templates: Some(2), objects: Some(2), ..Quotas::default() });
    let team = server.team("ci");
    let system = server.template(&server.admin, "seed");
    let first = server.template(&team.pak, "first");
    let objects = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let requests = [
        ("PUT", format!("/api/v1/templates/{first}"), template("first")),
        ("POST", objects.clone(), json!({ "yaml_content": "a: 1" })),
        ("POST", format!("{objects}/from-template"), json!({ "template_id": system, "parameters": parameters() })),
    ];
    let send = |(method, path, body): &(&str, String, Json), name: &str| {
        server.request(method, path).key(&team.pak).header("Idempotency-Key", name).json(body).send()
    };
    let made: Vec<_> = requests.iter().map(|request| send(request, &request.1)).collect();
    for (request, made) in requests.iter().zip(made) {
        send(request, "another").is(403, "quota_exceeded");
        let again = send(request, &request.1);
        assert_eq!((again.status, again.json()), (made.status, made.json()), "{}", request.1);
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{}", request.1);
    }
    // A new template is no exception, and a key of another request is told.
    let next = ("POST", "/api/v1/templates".to_owned(), template("next"));
    send(&next, "next").is(403, "quota_exceeded");
    send(&next, &requests[0].1).is(422, "idempotency_key_reused");
    server.call(&team.pak, "DELETE", &format!("/api/v1/templates/{first}")).has(204);
    let made = send(&next, "next").has(201).json();
    assert_eq!(send(&next, "next").has(201).json(), made);
}

#[test]
fn bytes_count_all_texts() {
    let texts = (TEMPLATE.len() + SCHEMA.len()) as u64;
    let server = Running::limited(Quotas { bytes: Some(texts + 100), ..Quotas::default() });
    let team = server.team("ci");
    server.template(&team.pak, "web");
    let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let object = |length: usize| json!({ "yaml_content": format!("a: {}", "x".repeat(length - 3)) });
    server.send(&team.pak, "POST", &path, &object(60)).has(201);
    let refusal = server.send(&team.pak, "POST", &path, &object(41));
    refusal.is(403, "quota_exceeded");
    let details = json!({ "quota": "bytes", "limit": texts + 100, "used": texts + 60, "requested": 41 });
    assert_eq!(refusal.json()["details"], details);
    server.send(&team.pak, "POST", &path, &object(40)).has(201);
    server.send(&team.pak, "POST", "/api/v1/templates", &template("web")).is(403, "quota_exceeded");
}

#[test]
fn an_administrator_removes_deleted_rows_and_live_objects_stay_verifiable() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template(&server.admin, "web");
    let object = text(&server.instantiate(&team.pak, &team.stack, &template, parameters()).has(201).json()["id"]);
    let stack = server.made("/api/v1/stacks", &json!({ "name": "gone", "generator_id": team.id }));
    let gone = server.instantiate(&team.pak, &text(&stack["id"]), &template, parameters());
    let gone = text(&gone.has(201).json()["id"]);
    server.call(&server.admin, "DELETE", &format!("/api/v1/stacks/{}", text(&stack["id"]))).has(204);
    server.call(&server.admin, "DELETE", &format!("/api/v1/templates/{template}")).has(204);
    let purge = |pak: &str, age: u32| server.send(pak, "POST", "/api/v1/purge", &json!({ "older_than_seconds": age }));
    purge(&team.pak, 0).is(403, "admin_required");
    assert_eq!(purge(&server.admin, 3600).has(200).json()["objects"], 0);
    let purged = purge(&server.admin, 0).has(200).json();
    let expected =
        json!({ "objects": 2, "stacks": 1, "templates": 0, "audit_entries": 0, "kept_templates": 1, "more": false });
    assert_eq!(purged, expected);
    let trail = server.call(&server.admin, "GET", "/api/v1/audit").has(200).json();
    let actions: Vec<_> = trail.as_array().unwrap().iter().map(|entry| text(&entry["action"])).collect();
    assert_eq!(actions.iter().filter(|action| *action == "catalog.purge").count(), 1, "{actions:?}");
    let verify = |id: &str| server.call(&team.pak, "POST", &format!("/api/v1/deployment-objects/{id}/verify"));
    assert_eq!(verify(&object).has(200).json()["verified"], true);
    verify(&gone).is(404, "deployment_object_not_found");
    purge(&server.admin, u32::MAX).has(200);
    server.send(&server.admin, "POST", "/api/v1/purge", &json!({ "older_than_seconds": -1 })).is(422, "invalid_body");
}

#[test]
fn an_administrator_removes_old_entries_of_the_trail() {
    let server = Running::new();
    let team = server.team("ci");
    let trail = || server.call(&server.admin, "GET", "/api/v1/audit").has(200).json().as_array().unwrap().clone();
    let purge = |pak: &str, audit_age: i64| {
        let body = json!({ "older_than_seconds": 0, "audit_older_than_seconds": audit_age });
        server.send(pak, "POST", "/api/v1/purge", &body)
    };
    let before = trail();
    assert_eq!(before.len(), 3);
    // Ages are told apart by the millisecond.
    thread::sleep(std::time::Duration::from_millis(5));
    purge(&team.pak, 0).is(403, "admin_required");
    purge(&server.admin, -1).is(422, "invalid_body");
    assert_eq!(purge(&server.admin, 3600).has(200).json()["audit_entries"], 0);
    assert_eq!(trail(), before);
    assert_eq!(purge(&server.admin, 0).has(200).json()["audit_entries"], 3);
    let [entry] = trail().try_into().unwrap();
    assert_eq!((&entry["action"], &entry["role"]), (&json!("catalog.purge"), &json!("admin")));
    assert!(text(&entry["detail"]).starts_with("audit before 20"), "{entry}");
}
