//! Repeated requests.

use serde_json::{Value as Json, json};

use super::client::Reply;
use super::server::{Running, Team, text};

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

/// The requests that create something small, with a body that is a different request.
fn creations(team: &Team, template: &str) -> Vec<(String, Json, Json)> {
    let annotation = |key: &str| json!({ "key": key, "value": "v", "stack_id": team.stack });
    vec![
        ("/api/v1/generators".to_owned(), json!({ "name": "new" }), json!({ "name": "other" })),
        (format!("/api/v1/generators/{}/rotate-pak", team.id), json!({}), json!({ "x": 1 })),
        ("/api/v1/keys".to_owned(), json!({ "role": "readonly" }), json!({ "role": "agent" })),
        (format!("/api/v1/templates/{template}/labels"), json!("a"), json!("b")),
        (format!("/api/v1/templates/{template}/annotations"), annotation("a"), annotation("b")),
        (format!("/api/v1/stacks/{}/labels", team.stack), json!("a"), json!("b")),
        (format!("/api/v1/stacks/{}/annotations", team.stack), annotation("a"), annotation("b")),
    ]
}

#[test]
fn keys_labels_and_annotations_are_created_once() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template(&server.admin, "web");
    for (path, body, other) in creations(&team, &template) {
        let first = named(&server, "POST", &path, &body, &path);
        assert_eq!(first.has(201).header("idempotent-replayed"), None, "{path}");
        let second = named(&server, "POST", &path, &body, &path);
        assert_eq!((second.status, second.json()), (201, first.json()), "{path}");
        assert_eq!(second.header("idempotent-replayed"), Some("true"), "{path}");
        assert_eq!(second.header("etag"), first.header("etag"), "{path}");
        named(&server, "POST", &path, &other, &path).is(422, "idempotency_key_reused");
        if let Some(pak) = first.json()["pak"].as_str() {
            assert_eq!(second.header("cache-control"), Some("no-store"));
            server.call(pak, "POST", "/api/v1/auth/pak").has(200);
        }
    }
    let keys = server.call(&server.admin, "GET", "/api/v1/keys").json();
    let live = keys.as_array().unwrap().iter().filter(|key| key["revoked_at"].is_null());
    // The administrator's, those of two generators, and the new one.
    assert_eq!(live.count(), 4, "{keys}");
}

#[test]
fn every_post_that_creates_something_can_be_repeated() {
    let server = Running::new();
    let team = server.team("ci");
    let mut known: Vec<_> = creations(&team, "T").into_iter().map(|(path, ..)| path).collect();
    let objects = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    known.extend(["/api/v1/templates".to_owned(), "/api/v1/stacks".to_owned()]);
    known.extend([format!("{objects}/from-template"), objects]);
    for (path, item) in server.description()["paths"].as_object().unwrap() {
        let Some(post) = item.get("post").filter(|post| post["responses"]["201"].is_object()) else { continue };
        let parameters = post["parameters"].as_array().unwrap();
        assert!(parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key"), "{path}");
        let filled = path.replace("{id}", "ID");
        let tested =
            |known: &String| known.replace(&team.id, "ID").replace(&team.stack, "ID").replace("/T/", "/ID/") == filled;
        assert!(known.iter().any(tested), "{path} is not tested");
    }
}

#[test]
fn a_key_is_shown_again_to_its_creator_only_and_only_while_it_works() {
    let server = Running::new();
    let body = json!({ "name": "ci" });
    let made = named(&server, "POST", "/api/v1/generators", &body, "n").has(201).json();
    let (id, pak) = (text(&made["generator"]["id"]), text(&made["pak"]));
    // Another administrator with the same idempotency key sends another request.
    let other = text(&server.made("/api/v1/keys", &json!({ "role": "admin" }))["pak"]);
    let send = |key: &str| {
        server.request("POST", "/api/v1/generators").key(key).header("Idempotency-Key", "n").json(&body).send()
    };
    send(&other).is(409, "unique_violation");
    assert_eq!(send(&server.admin).has(201).json()["pak"], json!(pak));
    // Rotated: the earlier key is not shown again, and the answer says what to do.
    let rotate = format!("/api/v1/generators/{id}/rotate-pak");
    let rotated = text(&server.made(&rotate, &json!({}))["pak"]);
    let refused = send(&server.admin);
    assert!(refused.is(409, "key_not_repeatable").text().contains("rotate"), "{}", refused.text());
    server.call(&pak, "POST", "/api/v1/auth/pak").has(401);
    server.call(&rotated, "POST", "/api/v1/auth/pak").has(200);
    server.call(&server.admin, "DELETE", &format!("/api/v1/generators/{id}")).has(204);
    send(&server.admin).is(409, "key_not_repeatable");
}

#[test]
fn the_same_rotation_at_the_same_time_makes_one_key() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/generators/{}/rotate-pak", team.id);
    let rotate = || {
        let request = server.request("POST", &path).key(&server.admin).header("Idempotency-Key", "r");
        text(&request.send().has(201).json()["pak"])
    };
    let mut paks: Vec<String> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(rotate)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    paks.dedup();
    assert_eq!(paks.len(), 1);
    server.call(&paks[0], "POST", "/api/v1/auth/pak").has(200);
    server.call(&team.pak, "POST", "/api/v1/auth/pak").has(401);
}

#[test]
fn a_removed_label_is_not_added_by_a_repetition() {
    let server = Running::new();
    let path = format!("/api/v1/templates/{}/labels", server.template(&server.admin, "web"));
    named(&server, "POST", &path, &json!("l"), "n").has(201);
    server.call(&server.admin, "DELETE", &format!("{path}/l")).has(204);
    assert_eq!(named(&server, "POST", &path, &json!("l"), "n").status, 404);
    assert_eq!(server.call(&server.admin, "GET", &path).json(), json!([]));
}
