//! Scenarios of versions and visibility from the reference, one test each under its number. The deliberate differences
//! (`version_005`, `version_014`) are explained there.

use std::thread;

use serde_json::{Value as Json, json};

use super::client::Reply;
use super::server::{NOBODY, Running, text};

fn path_of(template: &str) -> String {
    format!("/api/v1/templates/{template}")
}

fn change(content: &str) -> Json {
    json!({ "template_content": content, "parameters_schema": "{}" })
}

fn update(server: &Running, template: &str, content: &str) -> Json {
    server.send(&server.admin, "PUT", &path_of(template), &change(content)).has(200).json()
}

/// Creates the administrator's template and returns its ID.
fn first(server: &Running) -> String {
    server.template_of(&server.admin, "n", "v: 1", "{}")
}

fn delete(server: &Running, template: &str) {
    server.call(&server.admin, "DELETE", &path_of(template)).has(204);
}

/// Creates a template `n` and returns its row.
fn post(server: &Running, pak: &str) -> Json {
    let body = json!({ "name": "n", "template_content": "v: 1", "parameters_schema": "{}" });
    server.send(pak, "POST", "/api/v1/templates", &body).has(201).json()
}

fn listed(server: &Running, pak: &str) -> Vec<String> {
    let rows = server.call(pak, "GET", "/api/v1/templates").has(200).json();
    rows.as_array().unwrap().iter().map(|row| text(&row["id"])).collect()
}

fn agent(server: &Running) -> String {
    text(&server.made("/api/v1/keys", &json!({ "role": "agent" }))["pak"])
}

fn values() -> Json {
    json!({ "name": "a", "value": "b" })
}

#[test]
fn version_001_a_name_begins_with_version_1() {
    let server = Running::new();
    assert_eq!(post(&server, &server.admin)["version"], 1);
}

#[test]
fn version_002_a_name_that_its_owner_has_makes_the_next_version() {
    let server = Running::new();
    let (one, two) = (post(&server, &server.admin), post(&server, &server.admin));
    assert_eq!(two["version"], 2);
    assert_ne!(one["id"], two["id"]);
}

#[test]
fn version_003_an_update_makes_a_row_of_the_same_name_and_owner() {
    let server = Running::new();
    let team = server.team("g");
    let one = post(&server, &team.pak);
    let two = update(&server, &text(&one["id"]), "v: 2");
    assert_eq!((&two["version"], &two["name"], &two["generator_id"]), (&json!(2), &json!("n"), &json!(team.id)));
    assert_ne!(one["id"], two["id"]);
}

#[test]
fn version_004_the_number_follows_the_newest_whichever_is_updated() {
    let server = Running::new();
    let one = first(&server);
    update(&server, &one, "v: 2");
    update(&server, &one, "v: 3");
    assert_eq!(update(&server, &one, "v: 4")["version"], 4);
}

/// The reference drops them, so that a template for production then matches every stack. Here that happens only on
/// request.
#[test]
fn version_005_labels_and_annotations_are_kept_unless_told_otherwise() {
    let server = Running::new();
    let one = first(&server);
    let made = |marks: &str, body: Json| server.made(&format!("{}/{marks}", path_of(&one)), &body);
    made("labels", json!("env=prod"));
    made("annotations", json!({ "key": "tier", "value": "1" }));
    let counts = |template: &Json| -> Vec<usize> {
        let path = path_of(&text(&template["id"]));
        let rows = |marks: &str| server.call(&server.admin, "GET", &format!("{path}/{marks}")).has(200).json();
        ["labels", "annotations"].iter().map(|marks| rows(marks).as_array().unwrap().len()).collect()
    };
    assert_eq!(counts(&update(&server, &one, "v: 2")), [1, 1]);
    let bare = json!({ "template_content": "v: 3", "parameters_schema": "{}", "drop_rules": true });
    assert_eq!(counts(&server.send(&server.admin, "PUT", &path_of(&one), &bare).has(200).json()), [0, 0]);
}

#[test]
fn version_006_an_id_means_that_version() {
    let server = Running::new();
    let team = server.team("g");
    let one = first(&server);
    update(&server, &one, "v: 2");
    assert_eq!(server.instantiate(&team.pak, &team.stack, &one, json!({})).has(201).json()["yaml_content"], "v: 1");
}

#[test]
fn version_007_a_name_that_was_deleted_begins_again() {
    let server = Running::new();
    delete(&server, &first(&server));
    assert_eq!(post(&server, &server.admin)["version"], 1);
}

#[test]
fn version_008_the_number_of_a_newest_that_was_deleted_is_free() {
    let server = Running::new();
    let one = first(&server);
    delete(&server, &text(&update(&server, &one, "v: 2")["id"]));
    assert_eq!(update(&server, &one, "v: 3")["version"], 2);
}

#[test]
fn version_009_each_owner_counts_alone() {
    let server = Running::new();
    let team = server.team("g");
    assert_eq!([&server.admin, &team.pak].map(|pak| post(&server, pak)["version"].clone()), [json!(1), json!(1)]);
}

#[test]
fn version_010_a_description_that_is_not_given_is_kept() {
    let server = Running::new();
    let body = json!({ "name": "n", "description": "of one", "template_content": "v: 1", "parameters_schema": "{}" });
    let one = text(&server.made("/api/v1/templates", &body)["id"]);
    let mut other = change("v: 2");
    other["description"] = json!("of two");
    server.send(&server.admin, "PUT", &path_of(&one), &other).has(200);
    assert_eq!(update(&server, &one, "v: 3")["description"], "of one");
}

#[test]
fn version_011_a_checksum_is_of_the_content_alone() {
    let server = Running::new();
    let team = server.team("g");
    let (one, two) = (post(&server, &server.admin), post(&server, &team.pak));
    // `printf 'v: 1' | sha256sum`
    let expected = "95a5e25d3c48d2a38e6a68ce03c4d119b9365be01f1bce210559a25f924cb203";
    assert_eq!([&one["checksum"], &two["checksum"]], [&json!(expected); 2]);
}

#[test]
fn version_012_a_new_version_leaves_rendered_objects_unchanged() {
    let server = Running::new();
    let team = server.team("g");
    let one = first(&server);
    let object = server.instantiate(&team.pak, &team.stack, &one, json!({})).has(201).json();
    update(&server, &one, "v: 2");
    let path = format!("/api/v1/deployment-objects/{}", text(&object["id"]));
    assert_eq!(server.call(&team.pak, "GET", &path).has(200).json(), object);
}

#[test]
fn version_013_deleting_takes_one_version() {
    let server = Running::new();
    let one = first(&server);
    let two = text(&update(&server, &one, "v: 2")["id"]);
    delete(&server, &one);
    assert_eq!(listed(&server, &server.admin), [two]);
}

/// The reference may reject one of the two with a 409. Here both succeed.
#[test]
fn version_014_two_updates_at_once_both_succeed() {
    let server = Running::new();
    let one = first(&server);
    let mut versions = thread::scope(|scope| {
        let both = ["v: 2", "v: 3"].map(|content| scope.spawn(|| update(&server, &one, content)["version"].as_i64()));
        both.map(|writer| writer.join().unwrap().unwrap())
    });
    versions.sort_unstable();
    assert_eq!(versions, [2, 3]);
}

#[test]
fn vis_001_a_system_template_is_for_every_generator() {
    let server = Running::new();
    let team = server.team("g");
    let template = server.template(&server.admin, "n");
    server.call(&team.pak, "GET", &path_of(&template)).has(200);
    assert_eq!(listed(&server, &team.pak), std::slice::from_ref(&template));
    server.instantiate(&team.pak, &team.stack, &template, values()).has(201);
}

#[test]
fn vis_002_a_generator_does_not_read_anothers_template() {
    let server = Running::new();
    let (one, two) = (server.team("g1"), server.team("g2"));
    let template = server.template(&one.pak, "n");
    server.call(&two.pak, "GET", &path_of(&template)).is(403, "template_not_accessible");
}

#[test]
fn vis_003_a_generator_does_not_render_anothers_template() {
    let server = Running::new();
    let (one, two) = (server.team("g1"), server.team("g2"));
    let template = server.template(&one.pak, "n");
    server.instantiate(&two.pak, &two.stack, &template, values()).is(403, "template_not_accessible");
}

#[test]
fn vis_004_a_generator_renders_its_own_template() {
    let server = Running::new();
    let team = server.team("g");
    let template = server.template(&team.pak, "n");
    server.instantiate(&team.pak, &team.stack, &template, values()).has(201);
}

#[test]
fn vis_005_a_generator_does_not_change_a_system_template() {
    let server = Running::new();
    let team = server.team("g");
    let path = path_of(&server.template(&server.admin, "n"));
    let send = |method: &str, path: &str, body: &Json| -> Reply { server.send(&team.pak, method, path, body) };
    send("PUT", &path, &change("v: 2")).is(403, "template_not_owned");
    send("POST", &format!("{path}/labels"), &json!("env=prod")).is(403, "template_not_owned");
    server.call(&team.pak, "DELETE", &path).is(403, "template_not_owned");
}

#[test]
fn vis_006_an_agent_does_not_list_templates() {
    let server = Running::new();
    server.call(&agent(&server), "GET", "/api/v1/templates").is(403, "templates_not_accessible");
}

#[test]
fn vis_007_an_agent_does_not_read_a_template() {
    let server = Running::new();
    let template = server.template(&server.admin, "n");
    server.call(&agent(&server), "GET", &path_of(&template)).is(403, "template_not_accessible");
}

#[test]
fn vis_008_the_owner_of_the_stack_is_checked_before_that_of_the_template() {
    let server = Running::new();
    let (one, two) = (server.team("g1"), server.team("g2"));
    for template in [server.template(&two.pak, "n"), NOBODY.to_owned()] {
        server.instantiate(&one.pak, &two.stack, &template, values()).is(403, "stack_not_owned");
    }
}

#[test]
fn vis_009_a_generator_lists_the_systems_templates_and_its_own() {
    let server = Running::new();
    let (one, two) = (server.team("g1"), server.team("g2"));
    server.template(&two.pak, "n");
    let mut seen = [server.template(&one.pak, "n"), server.template(&server.admin, "n")];
    let mut list = listed(&server, &one.pak);
    seen.sort_unstable();
    list.sort_unstable();
    assert_eq!(list, seen);
}

#[test]
fn vis_010_a_template_that_an_administrator_updates_stays_its_owners() {
    let server = Running::new();
    let team = server.team("g");
    let template = server.template(&team.pak, "n");
    assert_eq!(update(&server, &template, "v: 2")["generator_id"], json!(team.id));
}

#[test]
fn vis_011_without_a_key_nothing_is_said() {
    let server = Running::new();
    let path = path_of(&server.template(&server.admin, "n"));
    for (method, path) in [("GET", path.as_str()), ("DELETE", &path), ("GET", "/api/v1/templates")] {
        assert!(server.request(method, path).send().has(401).body.is_empty(), "{method} {path}");
    }
}

#[test]
fn vis_012_an_unknown_id_is_not_found() {
    let server = Running::new();
    let team = server.team("g");
    for pak in [&server.admin, &team.pak] {
        server.call(pak, "GET", &path_of(NOBODY)).is(404, "template_not_found");
    }
}

#[test]
fn vis_013_a_deleted_template_is_not_rendered() {
    let server = Running::new();
    let team = server.team("g");
    let template = server.template(&team.pak, "n");
    delete(&server, &template);
    server.instantiate(&team.pak, &team.stack, &template, values()).is(404, "template_not_found");
}

#[test]
fn vis_014_templates_go_with_their_generator() {
    let server = Running::new();
    let team = server.team("g");
    let own = server.template(&team.pak, "n");
    server.call(&server.admin, "DELETE", &format!("/api/v1/generators/{}", team.id)).has(204);
    server.call(&server.admin, "GET", &path_of(&own)).is(404, "template_not_found");
    assert!(listed(&server, &server.admin).is_empty());
}
