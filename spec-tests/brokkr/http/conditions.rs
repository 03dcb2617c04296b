//! Conditional requests.

use serde_json::{Value as Json, json};

use super::server::{Running, operation, text};

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
fn a_repeated_conditional_update_is_answered_as_before() {
    let server = Running::new();
    let path = format!("/api/v1/templates/{}", server.template(&server.admin, "web"));
    let tag = server.call(&server.admin, "GET", &path).header("etag").unwrap().to_owned();
    let body = json!({ "template_content": "a: 1", "parameters_schema": "{}" });
    let put = |name: &str, body: &Json| {
        let request = server.request("PUT", &path).key(&server.admin).header("If-Match", &tag);
        request.header("Idempotency-Key", name).json(body).send()
    };
    let first = put("one", &body).has(200).json();
    let again = put("one", &body);
    assert_eq!((again.has(200).json(), again.header("idempotent-replayed")), (first, Some("true")));
    put("two", &body).is(412, "precondition_failed");
    put("one", &json!({ "template_content": "a: 2", "parameters_schema": "{}" })).is(422, "idempotency_key_reused");
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

/// A resource with a tag, and requests that change and remove it.
struct Changeable {
    path: String,
    tag: String,
    put: Option<Json>,
}

/// One resource of each kind that can be changed or removed.
fn changeables(server: &Running) -> Vec<Changeable> {
    let team = server.team("ci");
    let tag = |path: &str| server.call(&server.admin, "GET", path).has(200).header("etag").unwrap().to_owned();
    let template = format!("/api/v1/templates/{}", server.template(&server.admin, "web"));
    let (stack, generator) = (format!("/api/v1/stacks/{}", team.stack), format!("/api/v1/generators/{}", team.id));
    let mut all = Vec::new();
    let mut row = server.call(&server.admin, "GET", &stack).json();
    row["description"] = json!("changed");
    for (owner, mark) in [(&template, "template"), (&stack, "stack")] {
        let annotation = json!({ "key": "k", "value": "v", "stack_id": team.stack });
        for (kind, body, name) in [("labels", json!("l"), "l"), ("annotations", annotation, "k")] {
            let path = format!("{owner}/{kind}");
            let added = server.send(&server.admin, "POST", &path, &body);
            let tag = added.has(201).header("etag").unwrap_or_else(|| panic!("{mark} {kind}")).to_owned();
            assert_eq!(tag, format!("\"{}\"", text(&added.json()["id"])));
            all.push(Changeable { path: format!("{path}/{name}"), tag, put: None });
        }
    }
    let key = server.made("/api/v1/keys", &json!({ "role": "readonly" }));
    let id = text(&key["key"]["id"]);
    all.push(Changeable { path: format!("/api/v1/keys/{id}"), tag: format!("\"{id}\""), put: None });
    all.push(Changeable { tag: tag(&stack), path: stack, put: Some(row) });
    let change = json!({ "template_content": "a: 1", "parameters_schema": "{}" });
    all.push(Changeable { tag: tag(&template), path: template, put: Some(change) });
    all.push(Changeable { tag: tag(&generator), path: generator, put: Some(json!({ "description": "changed" })) });
    all
}

#[test]
fn every_put_and_delete_depends_on_the_state_it_names() {
    let server = Running::new();
    let mut seen = Vec::new();
    for Changeable { path, tag, put } in changeables(&server) {
        let send = |method: &str, tag: &str| {
            let request = server.request(method, &path).key(&server.admin).header("If-Match", tag);
            put.as_ref().filter(|_| method == "PUT").map_or_else(
                || request.send(),
                |body| server.request(method, &path).key(&server.admin).header("If-Match", tag).json(body).send(),
            )
        };
        let methods: &[&str] = if put.is_some() { &["PUT", "DELETE"] } else { &["DELETE"] };
        for method in methods {
            for wrong in ["\"other\"", &format!("W/{tag}"), "rubbish", "é"] {
                send(method, wrong).is(412, "precondition_failed");
            }
            seen.push(((*method).to_owned(), path.clone()));
        }
        let mut current = tag.clone();
        if put.is_some() {
            current = send("PUT", &format!("\"other\", {tag}")).has(200).header("etag").unwrap().to_owned();
            // A version never changes, and a new one has another tag. Others have changed.
            if !path.contains("/templates/") {
                send("PUT", &tag).is(412, "precondition_failed");
                send("DELETE", &tag).is(412, "precondition_failed");
            } else {
                current.clone_from(&tag);
            }
        }
        send("DELETE", &current).has(204);
    }
    // These are all.
    for (path, item) in server.description()["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|method| ["put", "delete"].contains(&method.as_str())) {
            let described = |(known, used): &(String, String)| known.eq_ignore_ascii_case(method) && fits(path, used);
            assert!(seen.iter().any(described), "{method} {path}");
            let parameters = item[method]["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|parameter| parameter["name"] == "If-Match"), "{method} {path}");
            assert!(operation(server.description(), method, path).unwrap()["responses"]["412"].is_object());
        }
    }
}

/// Returns `true` if a path is one of a route.
fn fits(route: &str, path: &str) -> bool {
    let (route, path): (Vec<_>, Vec<_>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len() && route.iter().zip(path).all(|(known, given)| *known == given || known.starts_with('{'))
}

#[test]
fn a_use_of_its_key_is_no_change_of_a_generator() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/generators/{}", team.id);
    let tag = server.call(&server.admin, "GET", &path).header("etag").unwrap().to_owned();
    server.call(&team.pak, "POST", "/api/v1/auth/pak").has(200);
    let used = server.call(&server.admin, "GET", &path).header("etag").unwrap().to_owned();
    assert_ne!(used, tag);
    let put =
        |tag: &str, body: &Json| server.request("PUT", &path).key(&team.pak).header("If-Match", tag).json(body).send();
    put(&tag, &json!({ "description": "one" })).has(200);
    put(&used, &json!({ "description": "two" })).is(412, "precondition_failed");
}

#[test]
fn one_of_many_conditional_removals_succeeds() {
    let server = Running::new();
    let team = server.team("ci");
    for path in [format!("/api/v1/stacks/{}", team.stack), format!("/api/v1/generators/{}", team.id)] {
        let tag = server.call(&server.admin, "GET", &path).header("etag").unwrap().to_owned();
        let delete = || server.request("DELETE", &path).key(&server.admin).header("If-Match", &tag).send().status;
        let mut statuses: Vec<u16> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(delete)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        statuses.sort_unstable();
        assert_eq!(statuses[0], 204);
        assert!(statuses[1..].iter().all(|status| [404, 412].contains(status)), "{statuses:?}");
    }
}

#[test]
fn a_label_that_was_added_again_is_another_one() {
    let server = Running::new();
    let path = format!("/api/v1/templates/{}/labels", server.template(&server.admin, "web"));
    let add = || server.send(&server.admin, "POST", &path, &json!("l")).has(201).header("etag").unwrap().to_owned();
    let one = format!("{path}/l");
    let first = add();
    server.call(&server.admin, "DELETE", &one).has(204);
    let second = add();
    let delete = |tag: &str| server.request("DELETE", &one).key(&server.admin).header("If-Match", tag).send();
    delete(&first).is(412, "precondition_failed");
    delete(&second).has(204);
    delete(&second).is(404, "template_label_not_found");
}
