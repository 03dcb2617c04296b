//! Conditional and repeated requests.

use serde_json::{Value as Json, json};

use super::client::Reply;
use super::server::{Running, text};

#[test]
fn unchanged_resources_are_not_sent_again() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template(&server.admin, "web");
    let object = server.instantiate(&team.pak, &team.stack, &template, json!({ "name": "a", "value": "b" })).json();
    for path in [
        format!("/templates/{template}"),
        "/templates/newest?name=web".to_owned(),
        format!("/stacks/{}", team.stack),
        format!("/generators/{}", team.id),
        format!("/deployment-objects/{}", text(&object["id"])),
    ] {
        let path = format!("/api/v1{path}");
        let tag = server.call(&server.admin, "GET", &path).has(200).header("etag").expect("a tag").to_owned();
        let again = |tag: &str| server.request("GET", &path).key(&server.admin).header("If-None-Match", tag).send();
        let known = again(&tag);
        assert_eq!((known.has(304).header("etag"), known.body.len()), (Some(tag.as_str()), 0), "{path}");
        again(&format!("\"other\", W/{tag}")).has(304);
        again("*").has(304);
        again("\"other\"").has(200);
        again("rubbish").has(200);
    }
}

#[test]
fn an_object_as_yaml_has_a_state_of_its_own() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let object = server.send(&team.pak, "POST", &path, &json!({ "yaml_content": "a: 1" })).has(201).json();
    let path = format!("/api/v1/deployment-objects/{}", text(&object["id"]));
    let json = server.call(&team.pak, "GET", &path);
    let yaml = server.request("GET", &path).key(&team.pak).header("Accept", "application/yaml").send();
    assert_ne!(json.header("etag"), yaml.header("etag"));
    assert_eq!(yaml.header("vary"), Some("accept"));
}

#[test]
fn a_template_is_updated_only_from_its_newest_version() {
    let server = Running::new();
    let first = server.template(&server.admin, "web");
    let path = format!("/api/v1/templates/{first}");
    let body = json!({ "template_content": "a: 1", "parameters_schema": "{}" });
    let put = |tag: &str| server.request("PUT", &path).key(&server.admin).header("If-Match", tag).json(&body).send();
    let tag = server.call(&server.admin, "GET", &path).header("etag").unwrap().to_owned();
    let second = put(&tag);
    let newest = second.has(200).header("etag").unwrap().to_owned();
    put(&tag).is(412, "precondition_failed");
    put("\"other\"").is(412, "precondition_failed");
    put(&format!("W/{newest}")).is(412, "precondition_failed");
    assert_eq!(put(&format!("{tag}, {newest}")).has(200).json()["version"], 3);
    assert_eq!(put("*").has(200).json()["version"], 4);
}

#[test]
fn one_of_many_conditional_updates_succeeds() {
    let server = Running::new();
    let path = format!("/api/v1/templates/{}", server.template(&server.admin, "web"));
    let tag = server.call(&server.admin, "GET", &path).header("etag").unwrap().to_owned();
    let body = json!({ "template_content": "a: 1", "parameters_schema": "{}" });
    let put = || server.request("PUT", &path).key(&server.admin).header("If-Match", &tag).json(&body).send().status;
    let mut statuses: Vec<u16> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(put)).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
}

#[test]
fn a_stack_is_changed_only_from_its_present_state() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/stacks/{}", team.stack);
    let read = server.call(&team.pak, "GET", &path);
    let (tag, mut row) = (read.header("etag").unwrap().to_owned(), read.json());
    row["description"] = json!("one");
    let put =
        |tag: &str, row: &Json| server.request("PUT", &path).key(&team.pak).header("If-Match", tag).json(row).send();
    let changed = put(&tag, &row);
    let now = changed.has(200).header("etag").unwrap().to_owned();
    row["description"] = json!("two");
    put(&tag, &row).is(412, "precondition_failed");
    assert_eq!(server.call(&team.pak, "GET", &path).json()["description"], "one");
    put(&now, &row).has(200);
}

/// Sends the same request any number of times with an idempotency key.
fn named(server: &Running, method: &str, path: &str, body: &Json, name: &str) -> Reply {
    server.request(method, path).key(&server.admin).header("Idempotency-Key", name).json(body).send()
}

#[test]
fn a_request_that_is_sent_twice_is_carried_out_once() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template(&server.admin, "seed");
    let objects = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    for (index, (method, path, body, other)) in [
        (
            "POST",
            "/api/v1/templates".to_owned(),
            json!({ "name": "web", "template_content": "a: 1", "parameters_schema": "{}" }),
            json!({ "name": "web", "template_content": "a: 2", "parameters_schema": "{}" }),
        ),
        (
            "PUT",
            format!("/api/v1/templates/{template}"),
            json!({ "template_content": "a: 1", "parameters_schema": "{}" }),
            json!({ "template_content": "a: 2", "parameters_schema": "{}" }),
        ),
        (
            "POST",
            "/api/v1/stacks".to_owned(),
            json!({ "name": "one", "generator_id": team.id }),
            json!({ "name": "two", "generator_id": team.id }),
        ),
        ("POST", objects.clone(), json!({ "yaml_content": "a: 1" }), json!({ "yaml_content": "a: 2" })),
        (
            "POST",
            format!("{objects}/from-template"),
            json!({ "template_id": template, "parameters": { "name": "a", "value": "b" } }),
            json!({ "template_id": template, "parameters": { "name": "a", "value": "c" } }),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("request {index}");
        let first = named(&server, method, &path, &body, &name);
        assert!([200, 201].contains(&first.status), "{path}: {}", first.text());
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        let second = named(&server, method, &path, &body, &name);
        assert_eq!((second.status, second.json()), (first.status, first.json()), "{path}");
        assert_eq!(second.header("idempotent-replayed"), Some("true"), "{path}");
        named(&server, method, &path, &other, &name).is(422, "idempotency_key_reused");
        // A different key is a different request.
        let third = named(&server, method, &path, &other, &format!("{name} again"));
        assert_ne!(third.json()["id"], first.json()["id"], "{path}");
    }
}

#[test]
fn the_name_of_a_request_is_its_senders() {
    let server = Running::new();
    let team = server.team("ci");
    let body = json!({ "name": "web", "template_content": "a: 1", "parameters_schema": "{}" });
    let send = |pak: &str, name: &str| {
        server.request("POST", "/api/v1/templates").key(pak).header("Idempotency-Key", name).json(&body).send()
    };
    let (admins, teams) = (send(&server.admin, "n"), send(&team.pak, "n"));
    assert_ne!(admins.has(201).json()["id"], teams.has(201).json()["id"]);
    for wrong in ["", &"x".repeat(256), "é"] {
        send(&server.admin, wrong).is(400, "invalid_idempotency_key");
    }
}

#[test]
fn concurrent_identical_requests_create_one_resource() {
    let server = Running::new();
    let body = json!({ "name": "web", "template_content": "a: 1", "parameters_schema": "{}" });
    let send = || named(&server, "POST", "/api/v1/templates", &body, "same").has(201).json();
    let made: Vec<Json> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    assert!(made.iter().all(|one| one == &made[0]), "{made:?}");
    assert_eq!(server.call(&server.admin, "GET", "/api/v1/templates").json().as_array().unwrap().len(), 1);
}

#[test]
fn a_repeated_generator_request_is_a_conflict() {
    let server = Running::new();
    let body = json!({ "name": "ci" });
    named(&server, "POST", "/api/v1/generators", &body, "n").has(201);
    let again = named(&server, "POST", "/api/v1/generators", &body, "n");
    // The secret cannot be shown again, so the repetition is a conflict.
    assert_eq!(again.status, 409, "{}", again.text());
}
