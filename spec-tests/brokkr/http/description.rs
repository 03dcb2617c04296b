//! Tests of the description at `/api/v1/openapi.json`: complete, valid, and true.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::server::{NOBODY, Running};

/// Every operation with its path and method.
fn operations(description: &Json) -> impl Iterator<Item = (&String, &String, &Json)> {
    let paths = description["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |(method, what)| (path, method, what)))
}

/// Calls `see` with every `$ref`.
fn references(json: &Json, see: &mut impl FnMut(&str)) {
    match json {
        Json::Object(map) => {
            if let Some(reference) = map.get("$ref").and_then(Json::as_str) {
                see(reference);
            }
            map.values().for_each(|value| references(value, see));
        }
        Json::Array(list) => list.iter().for_each(|value| references(value, see)),
        _ => {}
    }
}

#[test]
fn it_is_right_in_itself() {
    let server = Running::new();
    let description = server.description();
    assert!(description["openapi"].as_str().unwrap().starts_with("3."), "{}", description["openapi"]);
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(description) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
        assert!(operation["summary"].is_string(), "{method} {path}");
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        for part in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            let described = |parameter: &Json| parameter["name"] == part && parameter["in"] == "path";
            assert!(parameters.iter().any(described), "{method} {path}: {part}");
        }
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status.starts_with('2')), "{method} {path}");
        for (status, answer) in answers {
            let refusal = status.starts_with(['4', '5']) && status != "401";
            let schema = &answer["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(refusal, schema == "#/components/schemas/ErrorResponse", "{method} {path} {status}");
        }
    }
    references(description, &mut |reference| {
        let pointer = reference.strip_prefix('#').expect("a reference within the description");
        assert!(description.pointer(pointer).is_some(), "{reference}");
    });
}

#[test]
fn every_route_that_is_described_answers() {
    let server = Running::new();
    for (path, method, operation) in operations(server.description()) {
        let filled = path.replace("{id}", NOBODY).replace("{label}", "x").replace("{key}", "x");
        let method = method.to_uppercase();
        let reply = server.call(&server.admin, &method, &filled);
        let nowhere = reply.status == 405 || (reply.status == 404 && reply.code() == "not_found");
        assert!(!nowhere, "{method} {path}: {reply:?}");
        let open = operation.get("security").is_none();
        let without = server.call("", &method, &filled).status;
        assert_eq!(without == 401, !open, "{method} {path} without a key: {without}");
    }
}

#[test]
fn the_description_covers_every_call_of_the_clients() {
    let server = Running::new();
    let ids: BTreeSet<_> =
        operations(server.description()).filter_map(|(_, _, operation)| operation["operationId"].as_str()).collect();
    for id in [
        "create_template",
        "delete_template",
        "get_template",
        "list_templates",
        "update_template",
        "templates_add_annotation",
        "templates_add_label",
        "templates_list_annotations",
        "templates_list_labels",
        "templates_remove_annotation",
        "templates_remove_label",
        "create_stack",
        "delete_stack",
        "get_stack",
        "list_stacks",
        "update_stack",
        "stacks_add_annotation",
        "stacks_add_label",
        "stacks_list_annotations",
        "stacks_list_labels",
        "stacks_remove_annotation",
        "stacks_remove_label",
        "create_deployment_object",
        "list_deployment_objects",
        "instantiate_template",
        "get_deployment_object",
        "create_generator",
        "delete_generator",
        "get_generator",
        "list_generators",
        "rotate_generator_pak",
        "update_generator",
        "verify_pak",
    ] {
        assert!(ids.contains(id), "{id}");
    }
}
