//! A table of callers, owners and requests. Every cell is tested on resources of its own.

use serde_json::{Value as Json, json};

use super::server::{Running, SCHEMA, TEMPLATE, Team, text};

/// The callers.
const WHO: [&str; 6] = ["admin", "readonly", "agent", "owner", "other", "nobody"];

/// Kinds of requests.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Look,
    Change,
}
use Kind::{Change, Look};

/// A request to a resource: kind, method, path after the resource's, body, and the status if allowed.
type Verb = (Kind, &'static str, &'static str, fn(&str) -> Json, u16);

fn nothing(_: &str) -> Json {
    Json::Null
}

fn version(_: &str) -> Json {
    json!({ "template_content": TEMPLATE, "parameters_schema": SCHEMA })
}

const TEMPLATE_VERBS: &[Verb] = &[
    (Look, "GET", "", nothing, 200),
    (Look, "GET", "/versions", nothing, 200),
    (Look, "GET", "/labels", nothing, 200),
    (Look, "GET", "/annotations", nothing, 200),
    (Look, "POST", "/stamp", |_| json!({ "sets": [] }), 200),
    (Look, "POST", "/changes", nothing, 200),
    (Change, "PUT", "", version, 200),
    (Change, "POST", "/labels", |_| json!("env=prod"), 201),
    (Change, "DELETE", "/labels/none", nothing, 404),
    (Change, "POST", "/annotations", |_| json!({ "key": "k", "value": "v" }), 201),
    (Change, "DELETE", "/annotations/none", nothing, 404),
    (Change, "DELETE", "", nothing, 204),
];

const STACK_VERBS: &[Verb] = &[
    (Look, "GET", "", nothing, 200),
    (Look, "GET", "/labels", nothing, 200),
    (Look, "GET", "/annotations", nothing, 200),
    (Look, "GET", "/deployment-objects", nothing, 200),
    (Change, "POST", "/labels", |_| json!("env=prod"), 201),
    (Change, "DELETE", "/labels/none", nothing, 404),
    (Change, "POST", "/annotations", |id| json!({ "stack_id": id, "key": "k", "value": "v" }), 201),
    (Change, "DELETE", "/annotations/none", nothing, 404),
    (Change, "POST", "/deployment-objects", |_| json!({ "yaml_content": "a: 1" }), 201),
    (Change, "DELETE", "", nothing, 204),
];

const OBJECT_VERBS: &[Verb] = &[
    (Look, "GET", "", nothing, 200),
    (Look, "GET", "/provenance", nothing, 200),
    (Look, "POST", "/verify", nothing, 200),
    (Look, "GET", "/why?line=1", nothing, 200),
];

/// A server with one caller of each kind.
struct World {
    server: Running,
    owner: Team,
    other: Team,
    readonly: String,
    agent: String,
}

impl World {
    fn new() -> Self {
        let server = Running::new();
        let (owner, other) = (server.team("owner"), server.team("other"));
        let key = |role: &str| text(&server.made("/api/v1/keys", &json!({ "role": role }))["pak"]);
        let (readonly, agent) = (key("readonly"), key("agent"));
        Self { server, owner, other, readonly, agent }
    }

    fn key(&self, who: &str) -> &str {
        match who {
            "admin" => &self.server.admin,
            "readonly" => &self.readonly,
            "agent" => &self.agent,
            "owner" => &self.owner.pak,
            "other" => &self.other.pak,
            _ => "",
        }
    }

    /// Tests every cell. `allowed` is the expected result, and `make` creates a resource and returns its path and ID.
    fn try_all(&self, verbs: &[Verb], allowed: impl Fn(&str, Kind) -> bool, make: impl Fn(&str) -> (String, String)) {
        let mut made = 0;
        for who in WHO {
            for &(kind, method, tail, body, status) in verbs {
                made += 1;
                let (path, id) = make(&format!("secret {made}"));
                let mut request = self.server.request(method, &format!("{path}{tail}")).key(self.key(who));
                let body = body(&id);
                if !body.is_null() {
                    request = request.json(&body);
                }
                let expected = match who {
                    "nobody" => 401,
                    _ if allowed(who, kind) => status,
                    _ => 403,
                };
                let reply = request.send();
                assert_eq!(reply.status, expected, "{who} {method} {path}{tail}: {}", reply.text());
                if expected == 403 {
                    // An error must not reveal the resource.
                    assert!(!reply.text().contains("secret"), "{}", reply.text());
                }
            }
        }
    }
}

#[test]
fn system_templates_are_seen_by_all_but_agents_and_changed_by_the_administrator() {
    let world = World::new();
    let allowed = |who: &str, kind| who == "admin" || (who != "agent" && kind == Look);
    world.try_all(TEMPLATE_VERBS, allowed, |name| {
        let id = world.server.template(&world.server.admin, name);
        (format!("/api/v1/templates/{id}"), id)
    });
}

#[test]
fn templates_of_generators_are_seen_and_changed_by_their_owners() {
    let world = World::new();
    let allowed = |who: &str, kind| ["admin", "owner"].contains(&who) || (who == "readonly" && kind == Look);
    world.try_all(TEMPLATE_VERBS, allowed, |name| {
        let id = world.server.template(&world.owner.pak, name);
        (format!("/api/v1/templates/{id}"), id)
    });
}

#[test]
fn stacks_are_seen_and_changed_by_their_owners() {
    let world = World::new();
    let allowed = |who: &str, kind| ["admin", "owner"].contains(&who) || (who == "readonly" && kind == Look);
    world.try_all(STACK_VERBS, allowed, |name| {
        let body = json!({ "name": name, "generator_id": world.owner.id });
        let id = text(&world.server.made("/api/v1/stacks", &body)["id"]);
        (format!("/api/v1/stacks/{id}"), id)
    });
}

#[test]
fn objects_are_seen_by_the_owners_of_their_stacks() {
    let world = World::new();
    let template = world.server.template(&world.owner.pak, "secret-own");
    let allowed = |who: &str, _| ["admin", "readonly", "owner"].contains(&who);
    world.try_all(OBJECT_VERBS, allowed, |name| {
        let parameters = json!({ "name": name, "value": "b" });
        let made = world.server.instantiate(&world.owner.pak, &world.owner.stack, &template, parameters);
        let id = text(&made.has(201).json()["id"]);
        (format!("/api/v1/deployment-objects/{id}"), id)
    });
}

#[test]
fn templates_are_rendered_where_both_may_be_used() {
    let world = World::new();
    let server = &world.server;
    let system = server.template(&server.admin, "system");
    let own = server.template(&world.owner.pak, "own");
    let status = |who: &str, stack: &str, template: &str| {
        let reply = server.instantiate(world.key(who), stack, template, json!({ "name": "a", "value": "b" }));
        (reply.status, if reply.status == 201 || reply.status == 401 { String::new() } else { reply.code() })
    };
    let (owners, others) = (&world.owner.stack, &world.other.stack);
    for (who, stack, template, expected, code) in [
        ("admin", owners, &system, 201, ""),
        ("admin", others, &own, 201, ""),
        ("owner", owners, &system, 201, ""),
        ("owner", owners, &own, 201, ""),
        ("owner", others, &system, 403, "stack_not_owned"),
        ("owner", others, &own, 403, "stack_not_owned"),
        ("other", others, &system, 201, ""),
        ("other", others, &own, 403, "template_not_accessible"),
        ("other", owners, &own, 403, "stack_not_owned"),
        ("readonly", owners, &system, 403, "stack_not_owned"),
        ("agent", owners, &system, 403, "stack_not_owned"),
        ("nobody", owners, &system, 401, ""),
    ] {
        assert_eq!(status(who, stack, template), (expected, code.to_owned()), "{who}");
    }
    // Stamping for another generator's stack fails for that set only and reveals nothing about the stack.
    let body = json!({ "sets": [{ "stack_id": owners, "parameters": { "name": "a", "value": "b" } }] });
    let path = format!("/api/v1/templates/{system}/stamp");
    let line = server.send(&world.other.pak, "POST", &path, &body).has(200).json();
    assert_eq!((&line["status"], &line["errors"][0]["code"]), (&json!(403), &json!("stack_not_owned")));
}

#[test]
fn lists_and_names_show_visible_templates() {
    let world = World::new();
    let server = &world.server;
    server.template(&server.admin, "system");
    let own = server.template(&world.owner.pak, "own");
    let names = |who: &str, query: &str| -> Vec<String> {
        let list = server.call(world.key(who), "GET", &format!("/api/v1/templates{query}")).has(200).json();
        list.as_array().unwrap().iter().map(|row| text(&row["name"])).collect()
    };
    for who in ["admin", "readonly", "owner"] {
        assert_eq!(names(who, ""), ["system", "own"], "{who}");
    }
    assert_eq!(names("other", ""), ["system"]);
    assert_eq!(names("other", "?name=own"), [""; 0]);
    assert_eq!(names("other", "?limit=1"), ["system"]);
    server.call(&world.agent, "GET", "/api/v1/templates").is(403, "templates_not_accessible");
    server.call("", "GET", "/api/v1/templates").has(401);
    // Another generator's template looks absent, even to callers that know its owner.
    let newest = |who: &str, owner: &str| {
        let path = format!("/api/v1/templates/newest?name=own&owner={owner}");
        server.call(world.key(who), "GET", &path)
    };
    newest("owner", "nearest").has(200);
    newest("admin", &world.owner.id).has(200);
    newest("other", "nearest").is(404, "template_not_found");
    newest("other", &world.owner.id).is(404, "template_not_found");
    newest("agent", &world.owner.id).is(404, "template_not_found");
    // A page that begins after a hidden row must not reveal it.
    assert_eq!(names("other", &format!("?cursor={own}&limit=5")), [""; 0]);
    let stacks = |who: &str| server.call(world.key(who), "GET", "/api/v1/stacks");
    assert_eq!(stacks("other").has(200).json().as_array().unwrap().len(), 1);
    assert_eq!(stacks("readonly").has(200).json().as_array().unwrap().len(), 2);
    stacks("agent").is(403, "stacks_list_denied");
}

#[test]
fn created_resources_belong_to_their_creator() {
    let world = World::new();
    let server = &world.server;
    let body = json!({ "name": "web", "template_content": "a: 1", "parameters_schema": "{}" });
    for (who, status) in
        [("admin", 201), ("owner", 201), ("other", 201), ("readonly", 403), ("agent", 403), ("nobody", 401)]
    {
        let reply = server.send(world.key(who), "POST", "/api/v1/templates", &body);
        assert_eq!(reply.has(status).status, status, "{who}");
        if status == 201 {
            assert_eq!(reply.json()["version"], 1, "{who}: names of others are not in the way");
        }
    }
    let stack = |name: &str, owner: &Team| json!({ "name": name, "generator_id": owner.id });
    for (who, status) in
        [("owner", 201), ("other", 403), ("readonly", 403), ("agent", 403), ("nobody", 401), ("admin", 201)]
    {
        server.send(world.key(who), "POST", "/api/v1/stacks", &stack(&format!("by {who}"), &world.owner)).has(status);
    }
    // A stack cannot be given away or taken over.
    let path = format!("/api/v1/stacks/{}", world.owner.stack);
    let mut row = server.call(&world.owner.pak, "GET", &path).json();
    row["generator_id"] = json!(world.other.id);
    server.send(&world.other.pak, "PUT", &path, &row).is(403, "stack_not_owned");
    server.send(&world.readonly, "PUT", &path, &row).is(403, "stack_not_owned");
    let kept = server.send(&world.owner.pak, "PUT", &path, &row);
    assert!(kept.status == 403 || kept.json()["generator_id"] == json!(world.owner.id), "{}", kept.text());
}

#[test]
fn keys_and_generators_are_the_administrators() {
    let world = World::new();
    let server = &world.server;
    for (who, look, change) in
        [("admin", 200, 201), ("readonly", 200, 403), ("agent", 403, 403), ("owner", 403, 403), ("nobody", 401, 401)]
    {
        let key = world.key(who);
        server.call(key, "GET", "/api/v1/keys").has(look);
        server.call(key, "GET", "/api/v1/generators").has(look);
        server.send(key, "POST", "/api/v1/keys", &json!({ "role": "agent" })).has(change);
        server.send(key, "POST", "/api/v1/generators", &json!({ "name": format!("by {who}") })).has(change);
    }
    let path = format!("/api/v1/generators/{}", world.owner.id);
    for (who, look, change) in
        [("readonly", 200, 403), ("agent", 403, 403), ("other", 403, 403), ("nobody", 401, 401), ("owner", 200, 200)]
    {
        let key = world.key(who);
        server.call(key, "GET", &path).has(look);
        server.send(key, "PUT", &path, &json!({ "description": "x" })).has(change);
        if change != 200 {
            server.call(key, "POST", &format!("{path}/rotate-pak")).has(change);
            server.call(key, "DELETE", &path).has(change);
        }
    }
}

#[test]
fn what_a_private_template_rendered_is_not_verified_by_the_next_owner_of_the_stack() {
    let server = Running::new();
    let (old, new) = (server.team("old"), server.team("new"));
    let private = server.template(&old.pak, "private");
    let public = server.template(&server.admin, "public");
    let values = json!({ "name": "a", "value": "b" });
    let render = |template: &str| {
        let object = server.instantiate(&old.pak, &old.stack, template, values.clone()).has(201).json();
        format!("/api/v1/deployment-objects/{}", text(&object["id"]))
    };
    let (of_private, of_public) = (render(&private), render(&public));
    let path = format!("/api/v1/stacks/{}", old.stack);
    let mut row = server.call(&server.admin, "GET", &path).json();
    row["generator_id"] = json!(new.id);
    server.send(&server.admin, "PUT", &path, &row).has(200);
    let verify = |pak: &str, object: &str| server.call(pak, "POST", &format!("{object}/verify"));
    let refused = verify(&new.pak, &of_private);
    refused.is(403, "template_not_accessible");
    assert!(!refused.text().contains("name: a"), "{}", refused.text());
    let why = server.call(&new.pak, "GET", &format!("{of_private}/why?line=1"));
    why.is(403, "template_not_accessible");
    verify(&new.pak, &of_public).has(200);
    verify(&old.pak, &of_private).is(403, "generator_not_associated");
    assert_eq!(verify(&server.admin, &of_private).has(200).json()["verified"], true);
    server.call(&new.pak, "GET", &of_private).has(200);
}
