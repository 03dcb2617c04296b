//! Schemas of values as Helm's validator reads them. Helm 4.3.1 gave the outcomes.

use super::{failure, plan};

const D4: &str = r#""$schema": "http://json-schema.org/draft-04/schema#", "#;
const D7: &str = r#""$schema": "http://json-schema.org/draft-07/schema#", "#;
const D19: &str = r#""$schema": "https://json-schema.org/draft/2019-09/schema", "#;
const D20: &str = r#""$schema": "https://json-schema.org/draft/2020-12/schema", "#;

/// Returns Helm's message about the value `n` and the schema `{schema}`, which may refer to `schemas/x.json`. Empty if it
/// fits.
fn message(schema: &str, value: &str) -> String {
    let values = format!("'n': {value}");
    let schema = format!("{{{schema}}}");
    let other = r##"{"n": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}"##;
    let result = plan(&[("values.schema.json", &schema), ("schemas/x.json", other)], &values);
    if result.is_ok() { String::new() } else { failure(result).1 }
}

#[test]
fn formats_count_in_old_drafts_only() {
    for format in ["ipv4", "uri", "uuid", "duration", "semver", "period", "regex", "email", "date-time"] {
        let property = format!(r#""properties": {{"n": {{"format": "{format}"}}}}"#);
        for draft in [D4, D7] {
            let message = message(&format!("{draft}{property}"), "'('");
            assert!(message.contains(&format!("'/n': '(' is not valid {format}")), "{message}");
        }
        for draft in ["", D19, D20] {
            assert_eq!(message(&format!("{draft}{property}"), "'('"), "", "{draft}{format}");
        }
    }
    for unknown in ["idn-email", "color"] {
        assert_eq!(message(&format!(r#"{D7}"properties": {{"n": {{"format": "{unknown}"}}}}"#), "'('"), "");
    }
    let content = r#""properties": {"n": {"contentEncoding": "base64", "contentMediaType": "application/json"}}"#;
    assert_eq!(message(&format!("{D7}{content}"), "'!!'"), "");
}

#[test]
fn patterns_are_those_of_re2() {
    let of =
        |pattern: &str, text: &str| message(&format!(r#""properties": {{"n": {{"pattern": "{pattern}"}}}}"#), text);
    assert_eq!(of(r"^\\p{L}+$", "é"), "");
    assert!(of(r"^\\p{L}+$", "'1'").contains("does not match pattern"));
    assert!(of("(?=a)", "a").contains("/properties/n/pattern"));
}

#[test]
fn references_lead_to_every_part() {
    for (draft, parts, target) in [
        (D20, r#""$defs": {"k": {"$anchor": "kk", "type": "integer"}}"#, "#kk"),
        (D19, r#""$defs": {"k": {"$anchor": "kk", "type": "integer"}}"#, "#kk"),
        (D7, r##""definitions": {"k": {"$id": "#kk", "type": "integer"}}"##, "#kk"),
        (D4, r##""definitions": {"k": {"id": "#kk", "type": "integer"}}"##, "#kk"),
        (D20, r#""$id": "https://e.x/a/r.json", "$defs": {"k": {"$id": "k.json", "type": "integer"}}"#, "k.json"),
        (
            D20,
            r#""$id": "https://e.x/a/r.json", "$defs": {"k": {"$id": "k.json", "$defs": {"l": {"type": "integer"}}}}"#,
            "k.json#/$defs/l",
        ),
        (
            D20,
            r#""$id": "https://e.x/a/r.json", "$defs": {"k": {"$id": "/k", "$anchor": "a", "type": "integer"}}"#,
            "https://e.x/k#a",
        ),
        (D7, r#""$id": "https://e.x/a/r.json""#, "schemas/x.json#/n"),
        (D20, r#""$id": "https://e.x/a/r.json""#, "https://e.x/a/schemas/x.json#/$defs/n"),
        ("", r#""elsewhere": {"k": {"type": "integer"}}"#, "#/elsewhere/k"),
    ] {
        let schema = format!(r#"{draft}{parts}, "properties": {{"n": {{"$ref": "{target}"}}}}"#);
        assert_eq!(message(&schema, "1"), "", "{schema}");
        assert!(message(&schema, "a").contains("'/n': got string, want integer"), "{schema}");
    }
    for target in ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema"] {
        let schema = format!(r#""properties": {{"n": {{"$ref": "{target}"}}}}"#);
        assert_eq!(message(&schema, "{type: string}"), "");
        assert!(message(&schema, "{properties: {a: {minLength: a}}}").contains("'/n/properties/a/minLength'"));
    }
}

#[test]
fn references_that_lead_nowhere_matter_where_they_apply() {
    let defs = |target: &str| {
        format!(r#""$defs": {{"k": {{"$ref": "{target}"}}}}, "properties": {{"n": {{"type": "integer"}}}}"#)
    };
    let used = |target: &str| format!(r#""properties": {{"n": {{"$ref": "{target}"}}}}"#);
    for target in ["https://127.0.0.1:1/x.json", "other.json", "#nowhere", "#/nowhere"] {
        assert_eq!(message(&defs(target), "1"), "", "{target}");
        assert_ne!(message(&used(target), "1"), "", "{target}");
    }
    let errors = plan(&[("values.schema.json", &format!("{{{}}}", used("https://e.x/x.json")))], "'n': 1").unwrap_err();
    let error = errors.first().unwrap();
    assert_eq!(error.message, "the schema of a chart cannot be loaded");
    let shown = format!("{error:?}");
    assert!(shown.contains("https://e.x/x.json") && shown.contains("--skip-schema-validation"), "{shown}");
    let unknown = message(r#""$schema": "https://e.x/own", "type": "object""#, "1");
    assert!(unknown.contains("failing loading \"https://e.x/own\""), "{unknown}");
    let cycle = r##""$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "properties": {"n": {"$ref": "#/$defs/a"}}"##;
    assert!(message(cycle, "1").contains("causing reference cycle"));
    assert_eq!(message(&cycle.replace("\"n\"", "\"m\""), "1"), "");
}

#[test]
fn dynamic_references_lead_to_the_outermost_schema() {
    let tree = r##"{"$id": "https://e.x/tree", "$dynamicAnchor": "node", "type": "object",
        "properties": {"n": true, "children": {"items": {"$dynamicRef": "#node"}}}}"##;
    let strict = format!(
        r#"{D20}"$id": "https://e.x/strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": false,
        "$defs": {{"tree": {tree}}}"#
    );
    assert_eq!(message(&strict, "1\nchildren: [{'n': 1}]"), "");
    assert_ne!(message(&strict, "1\nchildren: [{'m': 1}]"), "");
    let recursive = format!(
        r##"{D19}"$recursiveAnchor": true, "properties": {{"n": {{"$recursiveRef": "#"}}}}, "additionalProperties": false"##
    );
    assert_eq!(message(&recursive, "{'n': {}}"), "");
    assert!(message(&recursive, "{'m': {}}").contains("'/n': additional properties 'm' not allowed"));
}

#[test]
fn schemas_are_schemas_of_their_draft() {
    for draft in ["", D4, D7, D19, D20] {
        for keyword in [r#""title": 1"#, r#""description": []"#, r#""required": ["a", "a"]"#] {
            let bad = format!(r#"{draft}"properties": {{"n": {{{keyword}}}}}"#);
            let pointer = keyword.split('"').nth(1).unwrap();
            assert!(message(&bad, "1").contains(&format!("schema at '/properties/n/{pointer}")), "{bad}");
            let unused = format!(r#"{draft}"definitions": {{"n": {{{keyword}}}}}"#);
            assert_ne!(message(&unused, "1"), "", "{unused}");
        }
        assert_eq!(message(&format!(r#"{draft}"unknown": {{"title": 1}}"#), "1"), "");
    }
    let twice = r#""properties": {"n": {"enum": ["a", "a"]}}"#;
    assert_eq!(message(&format!("{D19}{twice}"), "a"), "");
    assert_ne!(message(&format!("{D4}{twice}"), "a"), "");
}
