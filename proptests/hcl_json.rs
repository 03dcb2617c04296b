//! The JSON syntax of HCL gives the values and the errors that the native syntax gives.

use std::fmt::Write as _;

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::{Context, File};
use dropforge::dialect::hcl::registry;
use dropforge::dialect::hcl::values::raw_equals;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Type, Value};
use dropforge::vm::Space;
use proptest::prelude::*;
use proptest::sample::select;

use crate::hcl_syntax::expression;

/// Evaluates the attribute `a` of a file.
fn evaluated<'r>(file: &'r File, context: &Context<'r>) -> (Value<'r>, Vec<Box<Diagnostic>>) {
    let mut errors = file.diagnostics().to_vec();
    let attributes = file.body().just_attributes(&mut errors);
    let value = attributes.get("a").map_or(Value::Undefined, |attribute| attribute.expr.evaluate(context, &mut errors));
    (value, errors)
}

/// Compares the values of `a` in a native file and in a JSON file, and the summaries of their errors.
fn compare(native: &str, json: &str) -> Result<(), TestCaseError> {
    let (limits, space) = (Limits::default(), Space::new());
    let arena = space.arena();
    let variables = arena.map(&[
        ("a", arena.map(&[("b", arena.list(&[arena.map(&[("c", Value::Int(1))])])), ("k", Value::Bool(true))])),
        ("y", arena.unknown(Type::String)),
        ("z", arena.list(&[arena.text("x"), arena.marked(arena.text("y"), &["m"])])),
    ]);
    let files = [
        File::native(&Source::new("s.hcl", native), &registry(), &limits),
        File::json(&Source::new("s.hcl.json", json), &registry(), &limits),
    ];
    let context = Context::new(&space, &limits).with_variables(variables);
    let [(left, first), (right, second)] = files.each_ref().map(|file| evaluated(file, &context));
    let summaries = |errors: &[Box<Diagnostic>]| errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>();
    prop_assert_eq!(summaries(&first), summaries(&second), "{}", json);
    let same = context.with_cx(|cx| raw_equals(cx, left, right).unwrap_or(false));
    prop_assert!(same, "{json}: {left:?} and {right:?}");
    Ok(())
}

const TEXTS: &[&str] = &["", "a", "${", "%{ if", "$${", "\"", "\\", "é\u{301}", "\n", "null", "-0", "$", "%"];

const NUMBERS: &[&str] = &["0", "1", "-1", "2.50", "1e3", "-1.5e-7", "12345678901234567890.25"];

/// Data, as an expression and as JSON whose strings are not templates.
fn data() -> impl Strategy<Value = (String, String)> {
    let leaf = prop_oneof![
        select(&["null", "true", "false"][..]).prop_map(|word| (word.to_owned(), word.to_owned())),
        select(NUMBERS).prop_map(|number| (number.to_owned(), number.to_owned())),
        select(TEXTS).prop_map(|text| (quoted(text), serde_json::to_string(&literal(text)).unwrap())),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let items = proptest::collection::vec(inner, 0..4);
        prop_oneof![
            items.clone().prop_map(|items| {
                let (native, json): (Vec<_>, Vec<_>) = items.into_iter().unzip();
                (format!("[{}]", native.join(", ")), format!("[{}]", json.join(", ")))
            }),
            items.prop_map(|items| {
                let (mut native, mut json) = (String::new(), String::new());
                for (at, (one, other)) in items.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(native, "{comma}\"k{at}\" = {one}").unwrap();
                    write!(json, "{comma}\"k{at}\": {other}").unwrap();
                }
                (format!("{{{native}}}"), format!("{{{json}}}"))
            }),
        ]
    })
}

/// A text as a template that means itself.
fn literal(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}

fn quoted(text: &str) -> String {
    let escaped = literal(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

proptest! {
    #![proptest_config(crate::cases(128))]

    #[test]
    fn data_is_the_same((native, json) in data()) {
        compare(&format!("a = {native}\n"), &format!("{{\"a\": {json}}}"))?;
    }

    #[test]
    fn expressions_are_the_same(expression in expression()) {
        let template = serde_json::to_string(&format!("${{{expression}}}")).unwrap();
        compare(&format!("a = {expression}\n"), &format!("{{\"a\": {template}}}"))?;
    }
}
