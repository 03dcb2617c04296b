//! Compares HCL expressions and templates with hcl-rs: same value, or an error in both. They are generated from the
//! common subset of the two.
//!
//! Nothing is generated where the two differ by design. hcl-rs
//! - converts nothing (`"1" + 1`, `"${true}" && x`), so operands have the right types;
//! - does not unify the branches of a conditional and evaluates only one, so branches have one primitive type and no
//!   errors;
//! - computes in 64 bits, so numbers stay small and there is no division;
//! - has no negative zero, so 0 is added to results that may be one (`-0 + 0` is `0`);
//! - keeps the keys of an object in source order, so keys are generated in order;
//! - has no attribute of a list without a splat, and no splat of null;
//! - interpolates any value, so only numbers, strings and booleans are interpolated, and a template begins with a
//!   letter, because a single interpolation keeps its type;
//! - fails if either side of `&&` or `||` fails, even if the other decides, so operands have no errors;
//! - does not decode escapes between directives of a quoted template, so there are none;
//! - does not normalise strings, so they are ASCII.

use std::str::FromStr;

use dropforge::dialect::hcl::{Expression, registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Space;
use hcl::eval::Evaluate;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

/// The variables. Each strategy below knows their types.
fn inputs() -> Json {
    json!({
        "n": 3, "zero": 0, "name": "web", "empty": "", "yes": true, "no": false,
        "ports": [80, 443, 8080], "zones": ["a", "b"], "flags": [true, false], "none": [],
        "limits": {"cpu": 2, "mem": 512},
        "nodes": [{"id": 1, "zone": "a"}, {"id": 2, "zone": "b"}],
    })
}

/// Converts all integral numbers to one kind.
fn plain(value: Json) -> Json {
    match value {
        Json::Array(items) => items.into_iter().map(plain).collect(),
        Json::Object(entries) => Json::Object(entries.into_iter().map(|(key, value)| (key, plain(value))).collect()),
        Json::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).into(),
            _ => number.into(),
        },
        other => other,
    }
}

/// The result of one engine.
type Outcome = Result<Json, String>;

fn ours(text: &str, template: bool) -> Outcome {
    let limits = Limits::default();
    let compile = if template { Expression::template } else { Expression::new };
    let expression = compile(&Source::new("main", text), &registry(), &limits).map_err(|errors| errors.to_string())?;
    let (json, arena, names, space) = (inputs(), Arena::new(), Arena::new(), Space::new());
    let shapes = Shapes::new(&names);
    let inputs = InputBuilder::new(&arena, &shapes).deserialize(&json).map_err(|error| error.to_string())?;
    let answer = expression.evaluate(&space, Inputs::new(inputs), &limits).map_err(|error| error.to_string())?;
    match answer.errors.first() {
        Some(error) => Err(error.to_string()),
        None => serde_json::to_value(answer.value.to_data()).map_err(|error| error.to_string()),
    }
}

fn theirs(text: &str, template: bool) -> Outcome {
    let mut context = hcl::eval::Context::new();
    for (name, value) in inputs().as_object().into_iter().flatten() {
        context.declare_var(name.as_str(), hcl::to_value(value).map_err(|error| error.to_string())?);
    }
    let value = if template {
        let template = hcl::Template::from_str(text).map_err(|error| error.to_string())?;
        hcl::Value::from(template.evaluate(&context).map_err(|error| error.to_string())?)
    } else {
        let expression = hcl::Expression::from_str(text).map_err(|error| error.to_string())?;
        expression.evaluate(&context).map_err(|error| error.to_string())?
    };
    serde_json::to_value(value).map_err(|error| error.to_string())
}

fn same(text: &str, template: bool) -> Result<(), TestCaseError> {
    match (theirs(text, template).map(plain), ours(text, template).map(plain)) {
        (Ok(theirs), ours) => prop_assert_eq!(ours, Ok(theirs), "{}", text),
        (Err(error), ours) => prop_assert!(ours.is_err(), "{:?} instead of {}: {}", ours, error, text),
    }
    Ok(())
}

/// Source text of expressions of one type.
type Texts = BoxedStrategy<String>;

fn one(texts: &'static [&'static str]) -> Texts {
    select(texts).prop_map(str::to_owned).boxed()
}

/// Nesting depth of generated expressions.
const DEPTH: u32 = 3;

fn number(depth: u32) -> Texts {
    let leaf = prop_oneof![
        (0..20i64).prop_map(|n| n.to_string()),
        one(&["n", "zero", "limits.cpu", "limits[\"mem\"]", "ports[0]", "ports.1", "nodes[1].id"]),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = || number(depth - 1);
    prop_oneof![
        2 => leaf,
        2 => (inner(), select(vec!["+", "-"]), inner()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => (inner(), 0..9).prop_map(|(a, b)| format!("(({a}) * {b} + 0)")),
        1 => (inner(), 1..9).prop_map(|(a, b)| format!("({a}) % {b}")),
        1 => inner().prop_map(|a| format!("(-({a}) + 0)")),
        1 => conditional(depth, number),
        1 => (inner(), inner()).prop_map(|(a, b)| format!("[{a}, {b}][1]")),
    ]
    .boxed()
}

fn truth(depth: u32) -> Texts {
    let leaf = one(&["true", "false", "yes", "no", "flags[0]", "flags[1]"]);
    if depth == 0 {
        return leaf;
    }
    let compared = |texts: Texts, operators: &'static [&'static str]| {
        (texts.clone(), select(operators), texts).prop_map(|(a, op, b)| format!("({a}) {op} ({b})"))
    };
    prop_oneof![
        2 => leaf,
        2 => compared(number(depth - 1), &["<", "<=", ">", ">=", "==", "!="]),
        1 => compared(text(depth - 1), &["==", "!="]),
        1 => compared(simple_list(depth - 1), &["==", "!="]),
        2 => compared(truth(depth - 1), &["&&", "||", "==", "!="]),
        1 => truth(depth - 1).prop_map(|a| format!("!({a})")),
        1 => conditional(depth, truth),
    ]
    .boxed()
}

fn conditional(depth: u32, of: fn(u32) -> Texts) -> Texts {
    (truth(depth - 1), of(depth - 1), of(depth - 1)).prop_map(|(is, a, b)| format!("({is} ? {a} : {b})")).boxed()
}

/// The text between the quotes of a string.
fn words() -> Texts {
    prop_oneof![
        3 => "[a-zA-Z0-9 .:/_-]{0,6}",
        1 => one(&["$${", "%%{", "$", "%", "{}"]),
    ]
    .boxed()
}

fn text(depth: u32) -> Texts {
    let plain = prop_oneof![4 => words(), 1 => one(&["\\n", "a\\tb", "\\\"", "\\\\", "\\u0041"])]
        .prop_map(|words| format!("\"{words}\""));
    let leaf = prop_oneof![plain, one(&["name", "empty", "zones[0]", "nodes[0].zone", "nodes[0][\"zone\"]"])];
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![
        2 => leaf,
        3 => vec(part(depth), 2..4).prop_map(|parts| format!("\".{}\"", parts.concat())),
        1 => conditional(depth, text),
    ]
    .boxed()
}

/// A part of a template.
fn part(depth: u32) -> Texts {
    if depth == 0 {
        return words();
    }
    let inner = || prop_oneof![number(depth - 1), text(depth - 1), truth(depth - 1)];
    let strip = || select(vec!["", "~"]);
    let put = (strip(), inner(), strip()).prop_map(|(a, value, b)| format!("${{{a} {value} {b}}}"));
    let choice = (truth(depth - 1), strip(), strip(), part(depth - 1), part(depth - 1))
        .prop_map(|(is, a, b, yes, no)| format!("%{{ if {is} {a}}} {yes} %{{{b} else }}{no}%{{ endif }}"));
    let every = (simple_list(depth - 1), strip(), strip(), part(depth - 1)).prop_map(|(list, a, b, part)| {
        format!("%{{ for i, each in {list} {a}}} ${{i}}=${{each}}{part} %{{{b} endfor }}")
    });
    prop_oneof![3 => words(), 3 => put, 1 => choice, 1 => every].boxed()
}

/// A tuple of elements that convert to strings.
fn simple_list(depth: u32) -> Texts {
    let written =
        vec(prop_oneof![number(depth), text(depth)], 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
    prop_oneof![one(&["ports", "zones", "none"]), written].boxed()
}

fn list(depth: u32) -> Texts {
    let leaf = one(&["ports", "zones", "none", "[]", "[n, name, yes]", "nodes[*].id", "nodes.*.zone"]);
    if depth == 0 {
        return leaf;
    }
    let each = prop_oneof![one(&["each", "[each]", "{ v = each }", "\"<${each}>\"", "each == 80"]), any(depth - 1)];
    let whether =
        prop_oneof![one(&["", " if yes", " if each != 80"]), truth(depth - 1).prop_map(|is| format!(" if {is}"))];
    prop_oneof![
        1 => leaf,
        2 => vec(any(depth - 1), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        2 => (simple_list(depth - 1), each, whether)
            .prop_map(|(list, each, whether)| format!("[for each in {list} : {each}{whether}]")),
        1 => ordered(depth - 1).prop_map(|object| format!("[for key, value in {object} : [key, value]]")),
    ]
    .boxed()
}

fn object(depth: u32) -> Texts {
    if depth == 0 {
        return ordered(0);
    }
    prop_oneof![
        3 => ordered(depth),
        // A duplicate key is an error.
        1 => (simple_list(depth - 1), select(vec!["", "..."]))
            .prop_map(|(list, grouped)| format!("{{ for each in {list} : \"k${{each}}\" => each{grouped} }}")),
    ]
    .boxed()
}

/// An object with its keys in order.
fn ordered(depth: u32) -> Texts {
    let leaf = one(&["limits", "nodes[0]", "{}", "{ a = n, b = name }", "{ \"a b\" : yes }", "{ (name) = 1 }"]);
    if depth == 0 {
        return leaf;
    }
    prop_oneof![
        1 => leaf,
        2 => btree_map("[a-d]", any(depth - 1), 0..4).prop_map(|entries| {
            let entries: Vec<_> = entries.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", entries.join(", "))
        }),
        1 => any(depth - 1).prop_map(|value| format!("{{ for i, each in zones : each => [i, {value}] }}")),
    ]
    .boxed()
}

/// An expression of any type.
fn any(depth: u32) -> Texts {
    prop_oneof![2 => number(depth), 2 => text(depth), 2 => truth(depth), 1 => list(depth), 1 => object(depth), 1 => one(&["null"])]
        .boxed()
}

/// An expression that may be wrong: a name, an index, an attribute, an operand type.
fn doubtful(depth: u32) -> Texts {
    prop_oneof![
        one(&["missing", "limits.disk", "limits[\"disk\"]", "ports[3]", "ports[-1]", "name.first", "none[0]"]),
        one(&["-name", "!n", "n + name", "yes < no", "name && yes", "ports + 1", "n.x", "name[0]", "ports[yes]"]),
        one(&["name ? 1 : 2", "[for each in n : each]", "{ for each in zones : \"k\" => each }", "\"${ports}\""]),
        (list(depth), 0..5).prop_map(|(list, at)| format!("({list})[{at}]")),
        (object(depth), "[a-f]").prop_map(|(object, key)| format!("({object}).{key}")),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions(text in any(DEPTH)) {
        same(&text, false)?;
    }

    #[test]
    fn wrong_expressions(text in doubtful(2), around in select(vec!["@", "[@]", "{ a = @ }", "(@) == 1"])) {
        same(&around.replace('@', &text), false)?;
    }

    #[test]
    fn templates(parts in vec(part(DEPTH), 0..5)) {
        // A single interpolation keeps its type in HCL, but not in an hcl-rs template.
        same(&format!("-{}", parts.concat().replace("\\\"", "\"")), true)?;
    }
}

/// Compares the timed workloads of expressions.
#[test]
fn workloads_of_expressions_agree() {
    for (id, make) in dropforge_benches::WORKLOADS {
        if ["hcl", "w6", "w3"].iter().any(|prefix| id.starts_with(prefix)) {
            make().check();
        }
    }
}
