use serde_json::{Value as Json, json};

use super::*;
use crate::render::{Options, Renderer};

fn found(content: &str, schema: &Json) -> Vec<Finding> {
    let renderer = Renderer::new(&Options { threads: 1, ..Options::default() });
    renderer.review(content, &schema.to_string()).unwrap().findings
}

/// Code, name and line of each finding.
fn lines(content: &str, schema: &Json) -> Vec<String> {
    let line = |finding: Finding| {
        let line = finding.line.map_or_else(String::new, |line| format!(" {line}"));
        let help = finding.help.map_or_else(String::new, |help| format!(" ({help})"));
        format!("{} {}{line}{help}", finding.code, finding.name.unwrap_or_default())
    };
    found(content, schema).into_iter().map(line).collect()
}

#[test]
fn nothing_is_said_of_what_agrees() {
    let schema = json!({"properties": {"a": {}, "b": {"type": "array"}, "c": {}}, "required": ["a"]});
    let content = "{{ a }}{% for x in b %}{{ x.y }}{{ loop.index }}{% endfor %}{% set d = 1 %}{{ d }}\
                   {% if c is defined %}{{ c.d }}{% endif %}";
    assert_eq!(lines(content, &schema), [""; 0]);
}

#[test]
fn a_filter_beyond_tera_is_told_with_how_to_allow_it() {
    let schema = json!({"properties": {"a": {}}});
    let told = lines("{{ a | to_yaml }}", &schema);
    assert!(
        matches!(&told[..], [one] if one.starts_with("function.unknown to_yaml 1") && one.contains("{# dialect: tera+ #}")),
        "{told:?}"
    );
    assert_eq!(lines("{# dialect: tera+ #}{{ a | to_yaml }}", &schema), [""; 0]);
}

#[test]
fn nothing_is_said_of_open_schemas() {
    for schema in
        [json!({}), json!(true), json!({"type": "object", "required": ["z"]}), json!({"additionalProperties": {}})]
    {
        assert_eq!(lines("{{ a }}{{ b.c }}", &schema), [""; 0], "{schema}");
    }
}

#[test]
fn names_read_and_not_declared_are_told_with_the_nearest_and_those_declared_and_not_read() {
    let schema = json!({"properties": {"name": {}, "port": {}, "image": {}}, "required": ["port", "image"]});
    assert_eq!(
        lines("x: {{ nmae }}\ny: {{ zzz | default(value=1) }}\nz: {{ nmae }}{{ image }}", &schema),
        [
            "schema.undeclared nmae 1 (did you mean `name`?)",
            "schema.undeclared zzz 2",
            "schema.unread name (the template reads `nmae`: rename one of them?)",
            "schema.required_unread port",
        ]
    );
}

#[test]
fn names_are_declared_wherever_a_schema_leads() {
    let schema = json!({
        "$ref": "#/definitions/base",
        "definitions": {"base": {"properties": {"a": {}}, "allOf": [{"$ref": "#/definitions/base"}]}},
        "allOf": [{"properties": {"b": {}}}],
        "anyOf": [{"properties": {"c": {}}}, {"required": ["d"]}],
        "if": {"properties": {"e": {}}}, "then": {"properties": {"f": {}}}, "else": {"properties": {"g": {}}},
    });
    assert_eq!(
        lines("{{ a }}{{ b }}{{ c }}{{ d }}{{ e }}{{ f }}{{ g }}{{ other }}", &schema),
        ["schema.undeclared other 1"]
    );
}

#[test]
fn names_that_a_pattern_or_a_schema_allows_are_told_only_when_they_are_near_a_declared_one() {
    for key in ["patternProperties", "additionalProperties"] {
        let schema = json!({"properties": {"name": {}}, key: {"^x": {"type": "string"}}});
        assert_eq!(
            lines("{{ name }}{{ xylophone }}{{ namee }}", &schema),
            ["schema.undeclared namee 1 (did you mean `name`?)"]
        );
    }
}

#[test]
fn paths_below_the_top_are_followed() {
    let schema = json!({"properties": {
        "a": {"properties": {"name": {"type": "string"}, "deep": {"properties": {"x": {}}, "additionalProperties": false}}},
        "l": {"items": {"properties": {"port": {}}}},
    }});
    assert_eq!(
        lines(
            "{{ a.name }}{{ a.other }}{{ a.deep.x }}\n{{ a.deep.other }}\n{{ a.nmae.x }}{{ l.0.port }}\n{{ l.0.prot }}{{ a['name'] }}",
            &schema
        ),
        [
            "schema.undeclared_property a.deep.other 2",
            "schema.undeclared_property a.nmae 3 (did you mean `name`?)",
            "schema.undeclared_property l.0.prot 4 (did you mean `port`?)",
        ]
    );
}

#[test]
fn items_of_loops_and_variables_are_followed() {
    let port = json!({"properties": {"port": {}, "name": {}}});
    let schema = json!({"properties": {
        "services": {"items": {"properties": {"image": {}, "ports": {"type": "array", "items": port}}}},
        "main": {"properties": {"image": {}}},
    }});
    let content = "{% for s in services | default(value=[]) %}{{ s.imge }}
{% for p in s.ports %}{{ p.prot }}{{ p.port }}{{ loop.index }}{% endfor %}{% endfor %}
{% set m = main %}{{ m.imagee }}{{ m.other }}
{% for s in services %}{% set q = s %}{{ q.imag }}{% endfor %}{% for p in main.ports %}{{ p.prot }}{% endfor %}
{% for k, s in services %}{{ s.imge2 }}{% endfor %}";
    assert_eq!(
        lines(content, &schema),
        [
            "schema.undeclared_property services[].imge 1 (did you mean `image`?)",
            "schema.undeclared_property services[].ports[].prot 2 (did you mean `port`?)",
            "schema.undeclared_property main.imagee 3 (did you mean `image`?)",
            "schema.undeclared_property services[].imag 4 (did you mean `image`?)",
        ]
    );
}

#[test]
fn nothing_is_said_of_variables_that_may_be_something_else() {
    let schema = json!({"properties": {
        "a": {"items": {"properties": {"name": {}}}, "properties": {"name": {}}}, "b": {}, "p": {"properties": {"nam": {}}},
        "d": {"items": {"properties": {"nam": {}}}},
    }});
    for content in [
        "{% set x = a %}{% if b %}{% set x = b %}{% endif %}{{ x.nam }}",
        "{% for x in a | default(value=d) %}{{ x.nam }}{% endfor %}",
        "{% for x in a | sort(attribute='name') %}{{ x.nam }}{% endfor %}",
        "{% for x in a[b] %}{{ x.nam }}{% endfor %}",
        // If the item has no `nam`, the input with the variable's name is used.
        "{% for p in a %}{{ p.nam }}{% endfor %}",
        "{% macro m(a) %}{{ a.nam }}{% endmacro %}{{ self::m(a=b) }}",
        "{% for x in a %}{% set_global g = x %}{% endfor %}{% set_global g = b %}{{ g.nam }}",
    ] {
        let found = lines(&format!("{content}{{{{ a }}}}{{{{ b }}}}{{{{ d }}}}{{{{ p }}}}"), &schema);
        assert_eq!(found, [""; 0], "{content}");
    }
}

#[test]
fn functions_that_are_not_there_or_not_allowed_are_told() {
    let content = "{{ 1 | nope }}\n\n{% if a is oddd %}{% endif %}{{ uper() }}\n{% include 'x' %}";
    assert_eq!(
        lines(content, &json!({})),
        [
            "function.unknown nope 1",
            "function.unknown oddd 3 (did you mean `odd`?)",
            "function.unknown uper 3",
            "template.unknown x 4",
        ]
    );
}

#[test]
fn the_name_is_the_one_that_is_missing_or_ignored() {
    let content = "{% macro m(a) %}{{ a }}{% endmacro %}{{ 'a' | replace(from='a', too='b') }}\n{{ self::m(b=1) }}\n{{ self::n() }}";
    let names: Vec<_> = found(content, &json!({})).into_iter().map(|finding| (finding.code, finding.name)).collect();
    let of = |code: &str, name: &str| (code.to_owned(), Some(name.to_owned()));
    let [ignored, missing, unknown] = ["function.bad_argument", "function.missing_argument", "template.unknown_macro"];
    assert_eq!(names, [of(ignored, "too"), of(missing, "to"), of(ignored, "b"), of(missing, "a"), of(unknown, "n")]);
}

#[test]
fn functions_that_reach_outside_the_parameters_are_told() {
    let help = "templates can use only their parameters: make it a parameter";
    assert_eq!(
        lines("\n{{ now() }}{{ now(utc=true) }}\n{{ get_env(name='A') }}{{ get_random(end=3) }}", &json!({})),
        [
            format!("function.capability_off get_env 3 ({help})"),
            format!("function.capability_off get_random 3 ({help})"),
            format!("function.capability_off now 2 ({help})"),
        ]
    );
}

#[test]
fn nothing_counts_as_unread_behind_what_is_bound_to_fail() {
    let schema = json!({"properties": {"a": {}}});
    assert_eq!(lines("{{ 1 | nope }}{{ a }}", &schema), ["function.unknown nope 1"]);
}

#[test]
fn a_template_that_takes_everything_leaves_nothing_unread() {
    assert_eq!(lines("{{ __tera_context }}", &json!({"properties": {"a": {}}})), [""; 0]);
}

#[test]
fn variables_made_of_variables_take_no_more_than_their_number() {
    let sets: String = (1..20_000).map(|n| format!("{{% set v{n} = v{}.x %}}", n - 1)).collect();
    let schema = json!({"properties": {"v0": {"$ref": "#/definitions/v"}},
        "definitions": {"v": {"properties": {"x": {"$ref": "#/definitions/v"}}, "additionalProperties": false}}});
    let content = format!("{sets}{{{{ v1.y }}}}{{{{ v19999.y }}}}");
    assert_eq!(lines(&content, &schema), ["schema.undeclared_property v0.x.y 1"]);
}

#[test]
fn large_templates_and_large_schemas_together_are_no_more_than_large() {
    let reads: String = (0..20_000).map(|n| format!("{{{{ a.x{n}.y }}}}")).collect();
    let one = |n: usize| json!({"properties": {"a": {"$ref": "#/definitions/a"}, format!("p{n}"): {}}});
    let all: Vec<Json> = (0..60).map(one).collect();
    let schema = json!({"anyOf": all, "definitions": {"a": {"anyOf": all}}, "properties": {"a": {}}});
    assert_eq!(lines(&reads, &schema).len(), MAX_FINDINGS);
}

#[test]
fn findings_are_bounded() {
    let content: String = (0..3000).map(|at| format!("{{{{ some_{at} }}}}")).collect();
    assert_eq!(found(&content, &json!({"properties": {"a": {}}})).len(), MAX_FINDINGS);
}
