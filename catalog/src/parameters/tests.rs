use serde_json::{Value as Json, json};

use super::*;
use crate::error::CatalogError;

fn schema(document: &Json) -> Schema {
    Schema::parse(&document.to_string()).unwrap()
}

fn message_of(text: &str) -> String {
    let error = Schema::parse(text).unwrap_err();
    assert_eq!((error.kind.status(), error.code.as_str()), (400, "invalid_parameters_schema"));
    error.message
}

fn lines(document: &Json, parameters: &Json) -> Vec<String> {
    let error = schema(document).violations(parameters).unwrap().error();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("invalid_parameters", "invalid parameters"));
    serde_json::from_value(error.details.unwrap()["validation_errors"].clone()).unwrap()
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place_and_bound() {
    let document = json!({
        "required": ["name", "replicas", "absent"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 63},
            "replicas": {"type": "integer", "minimum": 1, "maximum": 20},
            "env": {"items": {"pattern": "^[A-Z]+$"}},
            "mode": {"enum": ["a", "b"]},
        },
        "additionalProperties": false,
    });
    let parameters = json!({"name": "", "replicas": 100, "env": ["A", "b"], "mode": "c", "x": 1});
    let found = schema(&document).violations(&parameters).unwrap();
    let told: Vec<_> =
        found.reported.iter().map(|one| (&*one.pointer, &*one.keyword, &one.limit, &one.value)).collect();
    for (pointer, keyword, limit, value) in [
        ("/env/1", "pattern", json!("^[A-Z]+$"), json!("b")),
        ("/mode", "enum", json!(["a", "b"]), json!("c")),
        ("/name", "minLength", json!(1), json!("")),
        ("/replicas", "maximum", json!(20), json!(100)),
        ("", "required", json!("absent"), parameters.clone()),
        ("", "additionalProperties", json!(false), parameters.clone()),
    ] {
        assert!(told.contains(&(pointer, keyword, &limit, &value)), "{keyword}: {told:?}");
    }
    assert_eq!((found.reported.len(), found.omitted), (6, 0));
    let lines = lines(&document, &parameters);
    let of = |start: &str| lines.iter().position(|line| line.starts_with(start)).unwrap();
    assert!(of("/env/1: ") < of("/mode: ") && of("/mode: ") < of("/name: ") && of("/name: ") < of("/replicas: "));
    assert!(lines.contains(&"/replicas: 100 is greater than the maximum of 20".to_owned()), "{lines:?}");
}

#[test]
fn a_bound_behind_a_reference_is_found() {
    let document =
        json!({"properties": {"a": {"$ref": "#/definitions/small"}}, "definitions": {"small": {"maximum": 3}}});
    let found = schema(&document).violations(&json!({"a": 4})).unwrap();
    assert_eq!((&*found.reported[0].pointer, &found.reported[0].limit), ("/a", &json!(3)));
}

#[test]
fn a_schema_without_a_draft_is_of_draft_7_and_asserts_formats() {
    // Draft 7 has neither `dependentRequired` nor `prefixItems`, and ignores siblings of `$ref`.
    let later = json!({"dependentRequired": {"a": ["b"]}, "properties": {"a": {"$ref": "#/definitions/any", "type": "string"}}, "definitions": {"any": true}});
    assert!(schema(&later).violations(&json!({"a": 1})).unwrap().is_empty());
    let mut named = later;
    named["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    assert_eq!(schema(&named).violations(&json!({"a": 1})).unwrap().reported.len(), 2);
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let document = json!({"$schema": draft, "format": "ipv4"});
        assert_eq!(lines(&document, &json!("no")), ["\"no\" is not a \"ipv4\""]);
    }
}

#[test]
fn what_is_no_schema_is_refused() {
    assert_eq!(message_of("not json"), "Invalid JSON: expected ident at line 1 column 2");
    assert_eq!(message_of(""), "Invalid JSON: EOF while parsing a value at line 1 column 0");
    for text in [
        "[]",
        "1",
        "{\"type\": \"nope\"}",
        "{\"minLength\": \"x\"}",
        "{\"pattern\": \"(\"}",
        "{\"$schema\": \"https://example.com/own\"}",
    ] {
        let message = message_of(text);
        assert!(message.starts_with("Invalid JSON Schema: ") && message.len() < 1000, "{text}: {message}");
    }
}

#[test]
fn nothing_is_fetched() {
    let absent = "#/definitions/absent";
    for target in
        ["file:///etc/hostname", "http://127.0.0.1:9/x", "other.json", "//example.com/x", "urn:x", "#name", "", absent]
    {
        for document in [
            json!({"$ref": target}),
            json!({"properties": {"x": {"$ref": target}}}),
            json!({"properties": {"default": {"items": [{"$ref": target}]}}}),
            json!({"definitions": {"unused": {"$ref": target}}}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"a": {"$dynamicRef": target}}}),
        ] {
            let unused = target == absent && document.get("definitions").is_some();
            assert!(Schema::parse(&document.to_string()).is_err() || unused, "{document}");
        }
    }
    // An `$id` makes a relative reference absolute, and it still resolves to nothing.
    assert!(Schema::parse(r#"{"$id": "file:///etc/", "properties": {"x": {"$ref": "hostname"}}}"#).is_err());
    assert!(Schema::parse(r##"{"$id": "https://example.com/a", "properties": {"x": {"$ref": "#"}}}"##).is_ok());
    assert!(Schema::parse(r##"{"properties": {"x": {"$id": "b", "properties": {"y": {"$ref": "#/z"}}}}}"##).is_err());
}

#[test]
fn patterns_are_linear_and_bounded() {
    for pattern in ["(?=a)b", "(?<!a)b", "(a)\\1", "(?!a)", "\\p{L}{5000}", "((a{1000}){1000}){1000}"] {
        for document in [json!({"pattern": pattern}), json!({"patternProperties": {pattern: true}})] {
            assert!(message_of(&document.to_string()).starts_with("Invalid JSON Schema: "), "{document}");
        }
    }
    let evil = schema(&json!({"pattern": "^(a+)+$"}));
    assert_eq!(evil.violations(&json!(format!("{}!", "a".repeat(200_000)))).unwrap().reported.len(), 1);
    let many = json!({"allOf": (0..300).map(|at| json!({"pattern": format!("a{at}")})).collect::<Vec<_>>()});
    assert!(message_of(&many.to_string()).contains("patterns"));
}

#[test]
fn schemas_are_bounded_in_size_and_depth() {
    assert!(message_of(&format!("{{\"title\": \"{}\"}}", "x".repeat(10 << 20))).contains("longer"));
    assert!(message_of(&"[".repeat(100_000)).starts_with("Invalid JSON: "));
    let nested = |depth: usize| format!("{}true{}", "{\"items\":".repeat(depth), "}".repeat(depth));
    assert!(Schema::parse(&nested(50)).is_ok());
    assert!(message_of(&nested(70)).contains("deeper"));
    let wide: serde_json::Map<String, Json> =
        (0..3000).map(|at| (format!("p{at}"), json!({"type": "string", "minLength": 1}))).collect();
    assert!(Schema::parse(&json!({"properties": wide}).to_string()).is_ok());
}

#[test]
fn schemas_that_lead_back_to_themselves_end() {
    let tree = json!({"properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}});
    assert_eq!(
        lines(&tree, &json!({"next": {"next": {"v": "x"}}})),
        ["/next/next/v: \"x\" is not of type \"integer\""]
    );
    for document in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}, "$ref": "#/definitions/a"}),
        json!({"if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"}}),
    ] {
        // The result does not matter, only that there is one.
        let Ok(schema) = Schema::parse(&document.to_string()) else { continue };
        for parameters in [json!({}), json!({"a": [1, {"b": "c"}]}), json!(1)] {
            let _ = schema.violations(&parameters);
            let _ = schema.with_defaults(&parameters.to_string());
            let _ = schema.redacted(&parameters);
        }
    }
}

/// Each definition refers twice to the next one.
fn doubling(depth: usize, keyword: &str, end: &Json) -> Json {
    let twice = |at: usize| json!({keyword: [{"$ref": format!("#/definitions/d{}", at + 1)}, {"$ref": format!("#/definitions/d{}", at + 1)}]});
    let mut all: serde_json::Map<String, Json> = (0..depth).map(|at| (format!("d{at}"), twice(at))).collect();
    all.insert(format!("d{depth}"), end.clone());
    json!({"$ref": "#/definitions/d0", "definitions": all})
}

#[test]
fn schemas_that_multiply_are_bounded() {
    let ends = [json!({"type": "string"}), json!(true), json!({"properties": {"a": {"default": 1, "x-secret": true}}})];
    let cases = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| ends.iter().map(move |end| (keyword, end)));
    for (keyword, end) in cases {
        assert!(message_of(&doubling(40, keyword, end).to_string()).contains("hold for one value"));
        let schema = schema(&doubling(11, keyword, end));
        for parameters in [json!(1), json!({"a": 1}), json!(vec![Json::Null; 5_000])] {
            let _ = schema.violations(&parameters);
            let _ = schema.with_defaults(&parameters.to_string());
            let _ = schema.redacted(&parameters);
        }
    }
    let twice = json!([{"$ref": "#"}, {"$ref": "#"}]);
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let below = schema(&json!({"properties": {"n": {keyword: twice}, "z": {"default": 1}}}));
        let deep = format!("{}1{}", "{\"n\":".repeat(100), "}".repeat(100));
        let _ = below.violations(&read(&deep).unwrap());
        if keyword == "allOf" {
            assert_eq!(below.with_defaults(&deep).unwrap_err().code, "invalid_parameters");
        }
    }
    let elements = schema(
        &json!({"items": doubling(11, "allOf", &json!(true)), "definitions": doubling(11, "allOf", &json!(true))["definitions"]}),
    );
    let error = elements.violations(&json!(vec![0; 10_000])).unwrap_err();
    assert!(error.details.unwrap().to_string().contains("too many steps"));
}

#[test]
fn chains_of_references_are_bounded() {
    let chain = |length: usize, link: &dyn Fn(Json) -> Json| {
        let mut all: serde_json::Map<String, Json> = (0..length)
            .map(|at| (format!("d{at}"), link(json!({"$ref": format!("#/definitions/d{}", at + 1)}))))
            .collect();
        all.insert(format!("d{length}"), json!({"type": "string"}));
        json!({"$ref": "#/definitions/d0", "definitions": all}).to_string()
    };
    assert!(
        Schema::parse(&chain(30, &|next| next))
            .unwrap()
            .violations(&json!(1))
            .is_ok_and(|found| found.reported.len() == 1)
    );
    assert!(message_of(&chain(60, &|next| next)).contains("levels"));
    assert!(message_of(&chain(4000, &|next| next)).contains("levels"));
    assert!(message_of(&chain(4000, &|next| json!({"properties": {"a": next}}))).contains("levels"));
    // Each definition refers to many later ones, and to the first.
    let all: serde_json::Map<String, Json> = (0..150)
        .map(|at| {
            let next: Vec<Json> =
                ((at + 1)..150).step_by(7).map(|to| json!({"$ref": format!("#/definitions/d{to}")})).collect();
            (format!("d{at}"), json!({"properties": {"x": {"items": next}, "y": {"$ref": "#/definitions/d0"}}}))
        })
        .collect();
    let _ = Schema::parse(&json!({"$ref": "#/definitions/d0", "definitions": all}).to_string());
}

#[test]
fn deep_parameters_in_recursive_schemas_end() {
    let many = (0..30).fold(json!({"properties": {"n": {"$ref": "#"}}}), |inner, _| json!({"allOf": [inner]}));
    let deep = format!("{}1{}", "{\"n\":".repeat(120), "}".repeat(120));
    let run = move || Schema::parse(&many.to_string()).unwrap().violations(&read(&deep).unwrap()).unwrap().is_empty();
    // The same stack size as the renderer's threads.
    assert!(std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap());
}

#[test]
fn parameters_are_bounded_in_size_and_depth() {
    for text in [
        format!("\"{}\"", "x".repeat(10 << 20)),
        "[".repeat(1000),
        format!("{}{}", "[".repeat(200), "]".repeat(200)),
        "{".to_owned(),
    ] {
        let error = read(&text).unwrap_err();
        assert_eq!((error.kind.status(), error.code.as_str()), (400, "invalid_parameters"));
        assert!(error.to_string().len() < 500);
    }
}

#[test]
fn violations_are_bounded_in_number_and_length() {
    let document = json!({"items": {"type": "string"}});
    let found = schema(&document).violations(&json!(vec![1; 5000])).unwrap();
    assert_eq!((found.reported.len(), found.omitted), (100, 4900));
    assert_eq!(lines(&document, &json!(vec![1; 101])).last().map(String::as_str), Some("and 1 more"));
    let too_many_steps = schema(&document).violations(&json!(vec![1; 1_000_000]));
    assert!(too_many_steps.is_ok_and(|found| !found.is_empty()), "at least one is told");
    let long = schema(&json!({"maxLength": 3, "properties": {"a": {"type": "string"}}}));
    let found = long.violations(&json!("ü".repeat(1 << 20))).unwrap();
    assert!(found.reported[0].message.len() < 1000 && found.reported[0].value.to_string().len() < 1000);
    let named = schema(&json!({"additionalProperties": false}));
    let names: serde_json::Map<String, Json> = (0..50_000).map(|at| (format!("name{at}"), Json::Null)).collect();
    assert!(named.violations(&names.into()).unwrap().reported[0].message.len() < 4000);
}

#[test]
fn a_value_in_place_of_an_object_or_list_of_secrets_is_redacted() {
    let schema = r##"{"$defs": {"key": {"writeOnly": true}}, "properties": {
        "db": {"type": "object", "properties": {"password": {"$ref": "#/$defs/key"}, "host": {}}},
        "list": {"type": ["array"], "items": {"x-secret": true}},
        "either": {"type": ["object", "string"], "properties": {"key": {"writeOnly": true}}},
        "open": {"type": "object", "properties": {"host": {}}}
    }}"##;
    let schema = Schema::parse(schema).unwrap();
    let given = json!({"db": "a", "list": {"b": 1}, "either": "c", "open": "d"});
    assert_eq!(schema.redacted(&given), json!({"db": "***", "list": "***", "either": "c", "open": "d"}));
    let given = json!({"db": {"password": "a", "host": "h"}, "list": ["b"]});
    assert_eq!(schema.redacted(&given), json!({"db": {"password": "***", "host": "h"}, "list": ["***"]}));
}

#[test]
fn secrets_are_redacted() {
    let document = json!({
        "properties": {
            "token": {"$ref": "#/definitions/secret"},
            "db": {"type": "object", "properties": {"password": {"type": "string", "minLength": 8, "writeOnly": true}}, "maxProperties": 1},
            "keys": {"items": {"x-secret": true, "type": "string"}},
        },
        "patternProperties": {"^secret_": {"x-secret": true}},
        "definitions": {"secret": {"allOf": [{"writeOnly": true}, {"pattern": "^tok_"}]}},
        "additionalProperties": false,
    });
    let parameters = json!({"token": "hunter2a", "db": {"password": "hunter2", "x": 1}, "keys": ["a", 77_001], "secret_x": "hunter2b"});
    let schema = schema(&document);
    let found = schema.violations(&parameters).unwrap();
    let text = found.error().details.unwrap().to_string();
    assert_eq!(found.reported.len(), 4, "{text}");
    assert!(!text.contains("hunter2") && !text.contains("77001") && text.contains("***"), "{text}");
    assert_eq!(
        schema.redacted(&parameters),
        json!({"token": "***", "db": {"password": "***", "x": 1}, "keys": ["***", "***"], "secret_x": "***"})
    );
    let error =
        CatalogError::invalid("c", "m hunter2a").with_details(json!({"hunter2": ["x hunter2b y", 77_001, "hunter2"]}));
    let redact_error = schema.redact_error(&parameters, error.clone());
    assert_eq!(
        (redact_error.message.as_str(), redact_error.details),
        ("m ***", Some(json!({"hunter2": ["x *** y", 77_001, "***"]})))
    );
    let plain = Schema::parse("{}").unwrap();
    assert_eq!(plain.redact_error(&parameters, error.clone()), error);
    assert_eq!(plain.redacted(&parameters), parameters);
}

#[test]
fn defaults_fill_in_what_is_absent() {
    let document = json!({
        "properties": {
            "a": {"default": 1},
            "nested": {"properties": {"b": {"default": [1, 2]}, "c": {}}},
            "made": {"default": {}, "properties": {"d": {"default": "x"}}},
            "referred": {"$ref": "#/definitions/r"},
            "list": {"items": {"properties": {"port": {"default": 80}}}},
            "null": {"default": null},
            "big": {"default": 18446744073709551615u64},
        },
        "allOf": [{"properties": {"e": {"default": true}}}],
        "anyOf": [{"properties": {"never": {"default": 1}}}],
        "definitions": {"r": {"default": 2.5}},
    });
    let schema = schema(&document);
    let with_defaults = |text: &str| schema.with_defaults(text).unwrap();
    assert_eq!(
        with_defaults("{}"),
        r#"{"a":1,"big":18446744073709551615,"made":{"d":"x"},"null":null,"referred":2.5,"e":true}"#
    );
    assert_eq!(
        with_defaults(
            r#"{"z": 9007199254740993, "nested": {"c": 0}, "list": [{}, {"port": 1}, 3], "a": null, "made": 1, "null": 2, "big": 0, "referred": [], "e": 0}"#
        ),
        r#"{"z":9007199254740993,"nested":{"c":0,"b":[1,2]},"list":[{"port":80},{"port":1},3],"a":null,"made":1,"null":2,"big":0,"referred":[],"e":0}"#
    );
    for text in ["[]", "1", "null"] {
        assert_eq!(with_defaults(text), text);
    }
    assert_eq!(schema.with_defaults("{").unwrap_err().code, "invalid_parameters");
    assert_eq!(Schema::parse("true").unwrap().with_defaults("{}").unwrap(), "{}");
}
