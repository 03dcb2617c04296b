//! Every endpoint with its successful response and every error code.

use serde_json::json;

use super::server::{NOBODY, Running, SCHEMA, TEMPLATE, text};

const API: &str = "/api/v1";

fn at(path: &str) -> String {
    format!("{API}{path}")
}

#[test]
fn a_key_identifies_its_holder() {
    let server = Running::new();
    let team = server.team("ci");
    let who = |pak: &str| server.call(pak, "POST", &at("/auth/pak")).has(200).json();
    assert_eq!(who(&server.admin), json!({ "admin": true, "agent": null, "generator": null, "readonly": false }));
    assert_eq!(who(&format!("Bearer {}", server.admin))["admin"], true);
    assert_eq!(who(&format!("bearer  {}", server.admin))["admin"], true);
    assert_eq!(who(&team.pak), json!({ "admin": false, "agent": null, "generator": team.id, "readonly": false }));
    for wrong in
        ["", "garbage", "brokkr_BRxxxxxx_aaaaaaaaaaaaaaaaaaaaaaaa", "Bearer", "Basic Zm9vOmJhcg==", "Bearer a b"]
    {
        server.call(wrong, "POST", &at("/auth/pak")).has(401);
    }
    let twice = server.request("POST", &at("/auth/pak")).key(&server.admin).key(&server.admin).send();
    twice.has(401);
}

#[test]
fn generators_are_made_changed_rotated_and_deleted() {
    let server = Running::new();
    let made = server.made(&at("/generators"), &json!({ "name": "ci", "description": "builds" }));
    let (id, pak) = (text(&made["generator"]["id"]), text(&made["pak"]));
    assert!(pak.starts_with("brokkr_BR"), "{pak}");
    for field in
        ["created_at", "updated_at", "deleted_at", "name", "description", "last_active_at", "is_active", "is_system"]
    {
        assert!(made["generator"].get(field).is_some(), "{field}");
    }
    assert!(made["generator"].get("pak_hash").is_none());
    let path = at(&format!("/generators/{id}"));
    assert_eq!(server.call(&pak, "GET", &path).has(200).json()["name"], "ci");
    let changed = server.send(&pak, "PUT", &path, &json!({ "name": "cd" })).has(200).json();
    assert_eq!((&changed["name"], &changed["description"]), (&json!("cd"), &json!("builds")));
    let list = server.call(&server.admin, "GET", &at("/generators")).has(200).json();
    assert!(list.as_array().unwrap().iter().any(|row| row["id"] == json!(id)));
    let rotated = server.call(&pak, "POST", &format!("{path}/rotate-pak")).has(201).json();
    server.call(&pak, "GET", &path).has(401);
    let pak = text(&rotated["pak"]);
    server.call(&pak, "DELETE", &path).has(204);
    server.call(&pak, "GET", &path).has(401);
    server.call(&server.admin, "GET", &path).is(404, "generator_not_found");
}

#[test]
fn generators_are_refused() {
    let server = Running::new();
    let (one, other) = (server.team("one"), server.team("other"));
    let generators = at("/generators");
    server.send(&server.admin, "POST", &generators, &json!({ "name": "one" })).is(409, "unique_violation");
    server.send(&one.pak, "POST", &generators, &json!({ "name": "x" })).is(403, "admin_required");
    server.call(&one.pak, "GET", &generators).is(403, "admin_required");
    let path = at(&format!("/generators/{}", other.id));
    for (method, path) in [("GET", path.clone()), ("DELETE", path.clone()), ("POST", format!("{path}/rotate-pak"))] {
        server.call(&one.pak, method, &path).is(403, "generator_not_owned");
    }
    server.send(&one.pak, "PUT", &path, &json!({ "name": "mine" })).is(403, "generator_not_owned");
    server
        .send(&one.pak, "PUT", &at(&format!("/generators/{}", one.id)), &json!({ "name": "other" }))
        .is(409, "unique_violation");
    let nobody = at(&format!("/generators/{NOBODY}"));
    for (method, path) in
        [("GET", nobody.clone()), ("DELETE", nobody.clone()), ("POST", format!("{nobody}/rotate-pak"))]
    {
        server.call(&server.admin, method, &path).is(404, "generator_not_found");
    }
    server.send(&server.admin, "PUT", &nobody, &json!({})).is(404, "generator_not_found");
}

#[test]
fn deleting_a_generator_deletes_what_it_owns() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template(&team.pak, "web");
    server.call(&server.admin, "DELETE", &at(&format!("/generators/{}", team.id))).has(204);
    server.call(&server.admin, "GET", &at(&format!("/templates/{template}"))).is(404, "template_not_found");
    server.call(&server.admin, "GET", &at(&format!("/stacks/{}", team.stack))).is(404, "stack_not_found");
}

#[test]
fn templates_are_made_updated_and_deleted() {
    let server = Running::new();
    let team = server.team("ci");
    let body =
        json!({ "name": "web", "description": "first", "template_content": TEMPLATE, "parameters_schema": SCHEMA });
    let first = server.made(&at("/templates"), &body);
    assert_eq!((&first["version"], &first["generator_id"]), (&json!(1), &json!(null)));
    assert_eq!(server.made(&at("/templates"), &body)["version"], 2);
    let own = server.send(&team.pak, "POST", &at("/templates"), &body).has(201).json();
    assert_eq!((&own["version"], &own["generator_id"]), (&json!(1), &json!(team.id)));
    let path = at(&format!("/templates/{}", text(&first["id"])));
    assert_eq!(server.call(&team.pak, "GET", &path).has(200).json(), first);
    let change = json!({ "name": "ignored", "template_content": "a: 1", "parameters_schema": "{}", "unknown": 1 });
    let third = server.send(&server.admin, "PUT", &path, &change).has(200).json();
    assert_eq!((&third["version"], &third["name"], &third["description"]), (&json!(3), &json!("web"), &json!("first")));
    assert_ne!(third["id"], first["id"]);
    server.call(&server.admin, "DELETE", &path).has(204);
    server.call(&server.admin, "GET", &path).is(404, "template_not_found");
    server.call(&server.admin, "DELETE", &path).is(404, "template_not_found");
    server.send(&server.admin, "PUT", &path, &change).is(404, "template_not_found");
}

#[test]
fn templates_are_refused() {
    let server = Running::new();
    let post = |body: serde_json::Value| server.send(&server.admin, "POST", &at("/templates"), &body);
    let template = |name: &str, content: &str, schema: &str| {
        post(json!({ "name": name, "template_content": content, "parameters_schema": schema }))
    };
    template("b", "{{ unclosed", "{}").is(400, "invalid_template_syntax");
    template("b", "{% if true %} hello", "{}").is(400, "invalid_template_syntax");
    template("b", "{% extends \"x\" %}", "{}").is(400, "invalid_template_syntax");
    template("b", "x", "not json").is(400, "invalid_parameters_schema");
    template("b", "x", "").is(400, "invalid_parameters_schema");
    template("b", "x", r#"{"type":"nope"}"#).is(400, "invalid_parameters_schema");
    template("b", "x", r#"{"properties":{"x":{"$ref":"file:///etc/hostname"}}}"#).is(400, "invalid_parameters_schema");
    for name in ["", "  ", "a\0b", &"n".repeat(256)] {
        template(name, "x", "{}").has(400);
    }
    template("b", "", "{}").has(400);
    template("b", "a\0b", "{}").has(400);
    post(json!({ "name": "b", "description": "", "template_content": "x", "parameters_schema": "{}" })).has(400);
    post(json!({ "name": "b", "template_content": "x" })).is(422, "invalid_body");
    post(json!({ "name": "b", "template_content": "x", "parameters_schema": {} })).is(422, "invalid_body");
    template("b", "{% include \"x\" %}", "{}").has(201);
}

#[test]
fn labels_and_annotations_of_templates() {
    let server = Running::new();
    let path = at(&format!("/templates/{}", server.template(&server.admin, "web")));
    let (labels, annotations) = (format!("{path}/labels"), format!("{path}/annotations"));
    let add = |path: &str, body: serde_json::Value| server.send(&server.admin, "POST", path, &body);
    let row = add(&labels, json!("env=prod")).has(201).json();
    assert_eq!(row["label"], "env=prod");
    add(&labels, json!("env=prod")).is(409, "unique_violation");
    for wrong in ["", " ", "a b", &"x".repeat(65), &"é".repeat(33), "a\0b"] {
        add(&labels, json!(wrong)).is(400, "invalid_label");
    }
    add(&labels, json!({ "label": "x" })).is(422, "invalid_body");
    add(&labels, json!("a/b")).has(201);
    add(&labels, json!("100%")).has(201);
    assert_eq!(server.call(&server.admin, "GET", &labels).has(200).json().as_array().unwrap().len(), 3);
    for gone in ["a%2Fb", "100%25", "env=prod"] {
        server.call(&server.admin, "DELETE", &format!("{labels}/{gone}")).has(204);
        server.call(&server.admin, "DELETE", &format!("{labels}/{gone}")).is(404, "template_label_not_found");
    }
    add(&annotations, json!({ "key": "region", "value": "us" })).has(201);
    add(&annotations, json!({ "key": "region", "value": "eu" })).is(409, "unique_violation");
    for (key, value) in [("", "v"), ("k", ""), ("k", "a b"), ("k", &"x".repeat(65)), (&"x".repeat(65), "v")] {
        add(&annotations, json!({ "key": key, "value": value })).is(400, "invalid_annotation");
    }
    add(&annotations, json!({ "key": "k" })).is(422, "invalid_body");
    assert_eq!(server.call(&server.admin, "GET", &annotations).has(200).json()[0]["value"], "us");
    server.call(&server.admin, "DELETE", &format!("{annotations}/region")).has(204);
    server.call(&server.admin, "DELETE", &format!("{annotations}/region")).is(404, "template_annotation_not_found");
}

#[test]
fn stacks_are_made_changed_and_deleted() {
    let server = Running::new();
    let (team, other) = (server.team("ci"), server.team("other"));
    let stacks = at("/stacks");
    let body = json!({ "name": "prod", "generator_id": team.id });
    let stack = server.send(&team.pak, "POST", &stacks, &body).has(201).json();
    let path = at(&format!("/stacks/{}", text(&stack["id"])));
    assert_eq!(server.call(&team.pak, "GET", &path).has(200).json(), stack);
    let mut row = stack.clone();
    row["description"] = json!("live");
    assert_eq!(server.send(&team.pak, "PUT", &path, &row).has(200).json()["description"], "live");
    row["id"] = json!(NOBODY);
    server.send(&team.pak, "PUT", &path, &row).is(400, "stack_id_mismatch");
    server.send(&team.pak, "POST", &stacks, &body).is(409, "unique_violation");
    server.send(&other.pak, "POST", &stacks, &body).is(403, "stack_generator_mismatch");
    let dangling = json!({ "name": "x", "generator_id": NOBODY });
    server.send(&server.admin, "POST", &stacks, &dangling).is(422, "foreign_key_violation");
    server.send(&other.pak, "PUT", &path, &stack).is(403, "stack_not_owned");
    server.call(&other.pak, "GET", &path).is(403, "stack_not_owned");
    let names = |pak: &str, query: &str| -> Vec<String> {
        let list = server.call(pak, "GET", &format!("{stacks}{query}")).has(200).json();
        list.as_array().unwrap().iter().map(|row| text(&row["name"])).collect()
    };
    assert_eq!(names(&team.pak, ""), ["stack of ci", "prod"]);
    assert_eq!(names(&server.admin, "").len(), 3);
    assert_eq!(names(&server.admin, &format!("?pak_id={}", team.id)), ["stack of ci", "prod"]);
    server.call(&server.admin, "GET", &format!("{stacks}?pak_id=x")).is(400, "invalid_query");
    server.call(&other.pak, "GET", &format!("{stacks}?pak_id={}", team.id)).is(403, "stacks_list_denied");
    server.call(&other.pak, "DELETE", &path).is(403, "stack_not_owned");
    server.call(&team.pak, "DELETE", &path).has(204);
    server.call(&team.pak, "DELETE", &path).is(404, "stack_not_found");
    server.send(&team.pak, "PUT", &path, &stack).is(404, "stack_not_found");
}

#[test]
fn labels_and_annotations_of_stacks() {
    let server = Running::new();
    let team = server.team("ci");
    let path = at(&format!("/stacks/{}", team.stack));
    let (labels, annotations) = (format!("{path}/labels"), format!("{path}/annotations"));
    let add = |path: &str, body: serde_json::Value| server.send(&team.pak, "POST", path, &body);
    assert!(add(&labels, json!("env=prod")).has(201).json().get("created_at").is_none());
    add(&labels, json!("env=prod")).is(409, "unique_violation");
    add(&labels, json!("a b")).is(400, "invalid_label");
    assert_eq!(server.call(&team.pak, "GET", &labels).has(200).json()[0]["label"], "env=prod");
    server.call(&team.pak, "DELETE", &format!("{labels}/env=prod")).has(204);
    server.call(&team.pak, "DELETE", &format!("{labels}/env=prod")).is(404, "stack_label_not_found");
    let annotation = json!({ "stack_id": team.stack, "key": "region", "value": "eu" });
    add(&annotations, annotation.clone()).has(201);
    add(&annotations, annotation).is(409, "unique_violation");
    add(&annotations, json!({ "stack_id": NOBODY, "key": "k", "value": "v" })).is(400, "stack_id_mismatch");
    add(&annotations, json!({ "stack_id": team.stack, "key": "k", "value": "x".repeat(65) }))
        .is(400, "invalid_annotation");
    assert_eq!(server.call(&team.pak, "GET", &annotations).has(200).json()[0]["value"], "eu");
    server.call(&team.pak, "DELETE", &format!("{annotations}/region")).has(204);
    server.call(&team.pak, "DELETE", &format!("{annotations}/region")).is(404, "stack_annotation_not_found");
}

#[test]
fn templates_are_rendered_into_stacks() {
    let server = Running::new();
    let (team, other) = (server.team("ci"), server.team("other"));
    let template = server.template(&server.admin, "web");
    let good = json!({ "name": "a", "value": "b" });
    let object = server.instantiate(&team.pak, &team.stack, &template, good.clone()).has(201).json();
    assert_eq!((&object["yaml_content"], &object["stack_id"]), (&json!("name: a\nvalue: b"), &json!(team.stack)));
    server.instantiate(&team.pak, &team.stack, NOBODY, good.clone()).is(404, "template_not_found");
    server.instantiate(&team.pak, NOBODY, &template, good.clone()).is(404, "stack_not_found");
    server.instantiate(&other.pak, &team.stack, &template, good.clone()).is(403, "stack_not_owned");
    let own = server.template(&team.pak, "own");
    server.instantiate(&other.pak, &other.stack, &own, good.clone()).is(403, "template_not_accessible");
    let wrong = server.instantiate(&team.pak, &team.stack, &template, json!({ "name": 1 }));
    assert!(wrong.is(400, "invalid_parameters").json()["details"]["validation_errors"].is_array());
    let reads = server.template_of(&team.pak, "reads", "a: {{ b }}", "{}");
    server.instantiate(&team.pak, &team.stack, &reads, json!({})).is(400, "template_render_failed");
    let blank = server.template_of(&team.pak, "blank", "{% if x %}a{% endif %}", "{}");
    server.instantiate(&team.pak, &team.stack, &blank, json!({ "x": false })).is(400, "invalid_deployment_object");
    let path = at(&format!("/templates/{template}/labels"));
    server.send(&server.admin, "POST", &path, &json!("env=prod")).has(201);
    // Parameters are invalid too. In the `wire` order the labels come first, with the parameters in the details.
    let refused = server.instantiate(&team.pak, &team.stack, &template, json!({}));
    let details = refused.is(422, "template_stack_mismatch").json()["details"].clone();
    assert_eq!(details["missing_labels"], json!(["env=prod"]));
    assert_eq!(details["also"][0]["code"], "invalid_parameters");
}

#[test]
fn templates_can_be_instantiated_by_name() {
    let server = Running::new();
    let team = server.team("ci");
    let schema = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"r":{"default":3}}}"#;
    let first = server.template_of(&server.admin, "web", "n: {{ n }}\nr: {{ r }}", schema);
    let path = at(&format!("/stacks/{}/deployment-objects/from-template", team.stack));
    let send = |query: &str, body: serde_json::Value| server.send(&team.pak, "POST", &format!("{path}{query}"), &body);
    let body = json!({ "template_id": first, "parameters": { "n": 1 } });
    send("", body.clone()).is(400, "template_render_failed");
    assert_eq!(send("?defaults=true", body).has(201).json()["yaml_content"], "n: 1\nr: 3");
    let body = json!({ "template_name": "web", "parameters": { "n": 1, "r": 2 } });
    send("", body.clone()).has(201);
    server.template_of(&team.pak, "web", "own: {{ n }}", schema);
    assert_eq!(send("", body).has(201).json()["yaml_content"], "own: 1");
    let body = json!({ "template_name": "web", "template_owner": "system", "parameters": { "n": 1, "r": 2 } });
    assert_eq!(send("", body).has(201).json()["yaml_content"], "n: 1\nr: 2");
    send("", json!({ "template_name": "web", "template_owner": "x", "parameters": {} })).is(400, "invalid_owner");
    send("", json!({ "template_name": "none", "parameters": {} })).is(404, "template_not_found");
    send("", json!({ "template_name": "web", "template_id": first, "parameters": {} })).is(422, "invalid_body");
    send("", json!({ "parameters": {} })).is(422, "invalid_body");
    send("", json!({ "template_id": first })).is(422, "invalid_body");
    send("", json!({ "template_id": "abc", "parameters": {} })).is(422, "invalid_body");
    // The `seed` order has parameters before labels.
    server.send(&server.admin, "POST", &at(&format!("/templates/{first}/labels")), &json!("env=prod")).has(201);
    let body = json!({ "template_id": first, "parameters": {} });
    send("?order=wire", body.clone()).is(422, "template_stack_mismatch");
    let seed = send("?order=seed", body.clone());
    assert_eq!(seed.is(400, "invalid_parameters").json()["details"]["also"][0]["code"], "template_stack_mismatch");
    send("?order=other", body.clone()).is(400, "invalid_query");
    send("?defaults=maybe", body).is(400, "invalid_query");
}

#[test]
fn objects_are_handed_in_and_read() {
    let server = Running::new();
    let (team, other) = (server.team("ci"), server.team("other"));
    let path = at(&format!("/stacks/{}/deployment-objects", team.stack));
    let object = server.send(&team.pak, "POST", &path, &json!({ "yaml_content": "a: 1" })).has(201).json();
    assert_eq!(object["is_deletion_marker"], false);
    let raw = |query: &str, kind: &str, body: &[u8]| {
        server.request("POST", &format!("{path}{query}")).key(&team.pak).body(kind, body).send()
    };
    let made = raw("?deletion_marker=true", "application/yaml", b"b: 2\n").has(201).json();
    assert_eq!((&made["yaml_content"], &made["is_deletion_marker"]), (&json!("b: 2\n"), &json!(true)));
    raw("", "application/yaml; charset=utf-8", b"c: 3\n").has(201);
    raw("", "application/yaml", b"a: [").is(400, "invalid_deployment_object");
    raw("", "application/yaml", b"\xff\xfe").is(400, "invalid_deployment_object");
    raw("", "application/yaml", b"").is(400, "invalid_deployment_object");
    raw("?deletion_marker=2", "application/yaml", b"a: 1").is(400, "invalid_query");
    raw("", "text/plain", b"a: 1").is(415, "unsupported_media_type");
    for wrong in ["", "  ", "a: [", "# nothing"] {
        server.send(&team.pak, "POST", &path, &json!({ "yaml_content": wrong })).is(400, "invalid_deployment_object");
    }
    server.send(&team.pak, "POST", &path, &json!({})).is(422, "invalid_body");
    server.send(&other.pak, "POST", &path, &json!({ "yaml_content": "a: 1" })).is(403, "stack_not_owned");
    server.call(&other.pak, "GET", &path).is(403, "stack_not_owned");
    let list = server.call(&team.pak, "GET", &path).has(200).json();
    let texts: Vec<_> = list.as_array().unwrap().iter().map(|row| text(&row["yaml_content"])).collect();
    assert_eq!(texts, ["c: 3\n", "b: 2\n", "a: 1"]);
    let one = at(&format!("/deployment-objects/{}", text(&object["id"])));
    assert_eq!(server.call(&team.pak, "GET", &one).has(200).json(), object);
    let yaml = server.request("GET", &one).key(&team.pak).header("Accept", "application/yaml").send();
    assert_eq!((yaml.has(200).header("content-type"), yaml.text()), (Some("application/yaml"), "a: 1"));
    server.call(&other.pak, "GET", &one).is(403, "generator_not_associated");
    let nobody = at(&format!("/deployment-objects/{NOBODY}"));
    server.call(&team.pak, "GET", &nobody).is(404, "deployment_object_not_found");
}

#[test]
fn render_failures_are_400s() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template_of(&server.admin, "web", "a: {{ v }}", "{}");
    server.instantiate(&team.pak, &team.stack, &template, json!({ "v": "a\0b" })).has(400);
    let loops = server.template_of(&server.admin, "loop", "{% for i in range(end=1000000000) %}x{% endfor %}", "{}");
    server.instantiate(&team.pak, &team.stack, &loops, json!({})).is(400, "template_render_failed");
    let environment = server.template_of(&server.admin, "env", "a: {{ get_env(name=\"PATH\") }}", "{}");
    server.instantiate(&team.pak, &team.stack, &environment, json!({})).is(400, "template_render_failed");
}
