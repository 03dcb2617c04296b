//! Every filter, test and function, called with every value of a table in every argument and compared with Tera itself.
//! The calls are generated from the registry, so a new row is tested automatically.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use dropforge::bytecode::ImportKind;
use dropforge::dialect::tera::builtins::{plain, registry};
use dropforge::engine::{Capabilities, Dialect, Engine};
use dropforge::function::{Builtin, Param, Params, Type};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Integers at the edges of every type, floats, strings of every kind, lists and maps.
fn values() -> Vec<Value> {
    let integers = [i64::MIN, -(1 << 53) - 1, -2, -1, 0, 1, 2, 3, 16, 37, 99, 1_700_000_000, (1 << 53) + 1, i64::MAX];
    let floats = [0.0, -0.0, 0.5, 1.0, -1.0, 2.5, -2.5, 1e-7, 1e21, 1e308, 5e-324, 667_082_108_456_853.2];
    let texts = [
        "",
        " ",
        "a",
        "A",
        "a.b",
        "b\"c",
        "%",
        "%Y",
        "%d.%m.%y %H:%M:%S",
        "%z",
        "%Q",
        "\\n",
        "ab",
        "  two  words ",
        "tHe dog's 'Tail' x_y",
        "a,b,,c",
        "é",
        "Ünïcode ñ 日本",
        "ὈΔΥΣΣΕΎΣ ß ŉ",
        "e\u{301}x",
        "one\r\ntwo\n\n three\n",
        "<p> <b>x</b>\n<!-- c --></p>",
        "a/b?c=d&e='f'\"",
        "42",
        " -7 ",
        "0x1f",
        "0b101",
        "3.9",
        "1e3",
        "inf",
        "NaN",
        "9223372036854775808",
        "zz",
        "ceil",
        "floor",
        "common",
        "UTC",
        "Europe/Berlin",
        "2024-02-29",
        "2023-02-29",
        "2024-02-29T23:30:00Z",
        "2024-02-29T23:30:00.5-08:00",
        "2024-02-29T23:30:00",
        "[",
        "^a+$",
        "(a)\\1",
    ];
    let mut values = vec![json!(null), json!(true), json!(false), json!(u64::MAX), json!(i64::MAX as u64 + 1)];
    values.extend(integers.map(|n| json!(n)));
    values.extend(floats.map(|n| json!(n)));
    values.extend(texts.map(|text| json!(text)));
    values.extend([
        json!([]),
        json!([3, 1, 2, 1]),
        json!(["b", "A", "a", "é"]),
        json!([true, false, true]),
        json!([1.5, -0.0, 0.0, 1e21]),
        json!([[1, 2], [3], []]),
        json!([null, 1]),
        json!([1, "a", 2.5, null, [1], {"k": 1}]),
        json!([1, u64::MAX]),
        json!([1, 1.0]),
        json!([{"a": 2}, {"a": 1}, {"a": 2}]),
        json!([{"a": {"b": "x"}}, {"a": {"b": "X"}}, {"a": null}, {"b": 1}]),
        json!([{"a": 1}, {"a": "s"}, {"a": [1]}]),
        json!([{"a": true}, {"a": 1.0}]),
        json!({}),
        json!({"a": 1, "é": null}),
        json!({"a": {"b": [1]}, "b\"c": "x", "A": 1.0}),
    ]);
    values
}

/// Returns an argument that suits most functions, for the parameters that do not vary.
fn filler(param: &str) -> Value {
    match param {
        "attribute" | "key" | "pat" | "from" | "name" | "part" => json!("a"),
        "method" => json!("floor"),
        "format" => json!("%Y %H"),
        "timezone" => json!("Asia/Tokyo"),
        "end" => json!(3),
        "n" | "start" | "length" | "precision" | "divisor" | "step_by" => json!(1),
        "base" => json!(16),
        "default" | "with" | "value" => json!(1),
        "first" | "blank" | "pretty" | "binary" | "case_sensitive" | "utc" | "timestamp" => json!(true),
        _ => json!("-"),
    }
}

/// A template that makes one call, and the parameters that it reads from variables of the same names.
struct Call {
    template: String,
    given: Vec<&'static str>,
}

impl Call {
    /// Builds a call of `builtin` with these parameters. Its subject is the variable `subject`.
    fn new(builtin: &Builtin, given: &[&'static str]) -> Self {
        let name = &builtin.name;
        let named: Vec<String> = given.iter().map(|param| format!("{param}={param}")).collect();
        let template = match builtin.kind {
            ImportKind::Filter => format!("{{{{ subject | {name}({}) | json_encode }}}}", named.join(", ")),
            ImportKind::Function => format!("{{{{ {name}({}) | json_encode }}}}", named.join(", ")),
            ImportKind::Test if given.is_empty() => format!("{{% if subject is {name} %}}1{{% else %}}0{{% endif %}}"),
            ImportKind::Test => {
                format!("{{% if subject is {name}({}) %}}1{{% else %}}0{{% endif %}}", given.join(", "))
            }
            ImportKind::Template | ImportKind::Intrinsic => panic!("no source can name `{name}`"),
        };
        Self { template, given: given.to_vec() }
    }

    fn context(&self, subject: Option<&Value>, varied: Option<(&str, &Value)>) -> Value {
        let mut context = Map::new();
        context.extend(subject.map(|subject| ("subject".to_owned(), subject.clone())));
        for param in &self.given {
            let value =
                varied.filter(|(name, _)| name == param).map_or_else(|| filler(param), |(_, value)| value.clone());
            context.insert((*param).to_owned(), value);
        }
        Value::Object(context)
    }
}

thread_local! {
    /// Set while a panic on this thread is expected and should not be reported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

fn quietly<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic);
            }
        }));
    });
    QUIET.set(true);
    let answer = catch_unwind(AssertUnwindSafe(run)).ok();
    QUIET.set(false);
    answer
}

/// Returns the reference's output, or `None` if it fails or panics.
fn reference(template: &str) -> impl Fn(&Value) -> Option<String> {
    let mut tera = tera::Tera::default();
    tera.add_raw_template("t", template).expect("a template that parses");
    move |context| {
        let context = tera::Context::from_serialize(context).expect("a map");
        quietly(|| tera.render("t", &context).ok()).flatten()
    }
}

/// Returns `true` for calls that crash or hang the reference, or whose results cannot be compared.
fn is_left_out(builtin: &Builtin, context: &Value) -> bool {
    let number = |name: &str| context[name].as_u64();
    match &*builtin.name {
        // The reference loops forever on a zero step or on overflow.
        "range" => {
            number("end").is_some_and(|end| end > 1000) || number("step_by").is_some_and(|by| by == 0 || by > 1 << 60)
        }
        _ => false,
    }
}

/// Returns `true` if two calls with the same arguments may have different results.
fn varies(builtin: &Builtin) -> bool {
    matches!(&*builtin.name, "now" | "get_random" | "get_env")
}

fn compare(builtin: &Builtin, call: &Call, contexts: impl Iterator<Item = Value>) -> usize {
    let engine = Engine::builder().allow(Capabilities::ALL).build();
    // A call that lacks a required argument is refused before it runs.
    let template = engine.compile(Dialect::Tera, "t", &call.template).ok();
    let reference = reference(&call.template);
    let mut compared = 0;
    for context in contexts.filter(|context| !is_left_out(builtin, context)) {
        let got = template.as_ref().and_then(|template| template.render(&context).ok());
        let want = reference(&context);
        let same = if varies(builtin) { want.is_some() == got.is_some() } else { want == got };
        assert!(same, "{}\nwith {context}\nwant {want:?}\ngot  {got:?}", call.template);
        compared += 1;
    }
    compared
}

/// Returns the parameters that a template can pass, without the subject and those that are always refused.
fn givable(builtin: &Builtin) -> Vec<&'static str> {
    let Params::Named(params) = builtin.params else { return Vec::new() };
    let skipped = usize::from(builtin.kind != ImportKind::Function);
    params.iter().skip(skipped).map(|param: &Param| param.name).filter(|name| *name != "excess").collect()
}

/// Runs all calls of one builtin: every subject alone, and subjects with every value of each argument, the others left
/// out or filled in. Without `DROPFORGE_CASES=all`, each subject has every fourth value, the next one the next ones.
fn calls(builtin: &Builtin, values: &[Value]) -> usize {
    let params = givable(builtin);
    let subjects: Vec<Option<&Value>> = match builtin.kind {
        ImportKind::Function | ImportKind::Template | ImportKind::Intrinsic => vec![None],
        ImportKind::Filter => values.iter().map(Some).collect(),
        ImportKind::Test => values.iter().map(Some).chain([None]).collect(),
    };
    let (alone, all) = (Call::new(builtin, &[]), Call::new(builtin, &params));
    let mut compared = compare(builtin, &alone, subjects.iter().map(|subject| alone.context(*subject, None)));
    let subjects = worth_pairing(&all, &subjects);
    let step = if crate::has_all_cases() { 1 } else { 4 };
    for param in &params {
        let single = (params.len() > 1).then(|| Call::new(builtin, &[param]));
        for call in single.iter().chain([&all]) {
            let paired = |at: usize| values.iter().skip(at % step).step_by(step);
            let pairs = subjects.iter().enumerate();
            let pairs = pairs.flat_map(|(at, subject)| paired(at).map(move |value| (*subject, value)));
            compared +=
                compare(builtin, call, pairs.map(|(subject, value)| call.context(subject, Some((param, value)))));
        }
    }
    if builtin.kind == ImportKind::Test {
        let excess: Vec<&'static str> = params.iter().copied().chain(["one_more"]).collect();
        let call = Call::new(builtin, &excess);
        compared += compare(builtin, &call, subjects.iter().map(|subject| call.context(*subject, None)));
    }
    compared
}

/// Returns the subjects that the reference accepts, and a few of those that it refuses.
fn worth_pairing<'s>(call: &Call, subjects: &[Option<&'s Value>]) -> Vec<Option<&'s Value>> {
    let reference = reference(&call.template);
    let accepts = |subject: &Option<&Value>| reference(&call.context(*subject, None)).is_some();
    let (mut accepted, refused): (Vec<_>, Vec<_>) = subjects.iter().copied().partition(accepts);
    accepted.extend(refused.into_iter().step_by(16));
    accepted
}

fn all_of(kind: ImportKind) {
    let (registry, values) = (plain(&registry()), values());
    let compared: usize =
        registry.iter().filter(|builtin| builtin.kind == kind).map(|builtin| calls(builtin, &values)).sum();
    assert!(compared > 100, "{compared}");
}

#[test]
fn filters_answer_as_the_reference_does() {
    all_of(ImportKind::Filter);
}

#[test]
fn tests_answer_as_the_reference_does() {
    all_of(ImportKind::Test);
}

#[test]
fn functions_answer_as_the_reference_does() {
    all_of(ImportKind::Function);
}

#[test]
fn every_example_renders_to_its_result() {
    let engine = Engine::new();
    for builtin in registry().iter() {
        for (template, expected) in &*builtin.examples {
            let rendered = match engine.compile(Dialect::Tera, "example", template) {
                Ok(compiled) => compiled.render(&()).map_err(|error| error.code.id()),
                Err(errors) => Err(errors.iter().next().expect("an error").code.id()),
            };
            let answer = rendered.unwrap_or_else(str::to_owned);
            assert_eq!(answer, *expected, "{} `{}`: {template}", builtin.kind.name(), builtin.name);
        }
    }
}

/// Strings of characters that matter to the filters, mixed with others.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(
            &["'", "\"", "\\\\", "<", ">", "<!--", "-->", "/", "&", "%", "\r\n", "\n", " ", "\u{a0}", "_", "-"][..]
        )
        .prop_map(str::to_owned),
        "[a-zA-Z0-9]{1,4}",
        "[À-ÿΑ-ωѐ-ӿǅßŉİ]{1,3}",
        "\\PC{1,3}",
        prop::sample::select(&["क्षत्रिय", "🏴‍☠️", "❤️‍🔥", "🧑‍🤝‍🧑", "🇩🇪🇫🇷", "e\u{301}", "각"][..]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn filters_of_text_answer_as_the_reference_does(text in texts(), pat in texts(), to in texts(), width in 0_u8..8) {
        let (registry, context) = (plain(&registry()), json!({"subject": text, "pat": pat, "to": to, "width": width}));
        let engine = Engine::new();
        let plain = registry.iter().filter(|builtin| takes_only_text(builtin)).map(|builtin| format!("{{{{ subject | {} }}}}", builtin.name));
        let calls = [
            "{{ subject | split(pat=pat) }}", "{{ subject | replace(from=pat, to=to) }}", "{{ subject | indent(prefix=pat) }}",
            "{{ subject | trim_start_matches(pat=pat) }}", "{{ subject | trim_end_matches(pat=pat) }}", "{{ subject | length }}", "{{ subject | truncate(length=width) }}",
            "{{ subject | reverse }}", "{{ subject | json_encode }}", "{{ [subject, pat, to] | sort }}", "{{ [subject, pat, to] | unique }}",
            "{{ subject | int(base=16) }}", "{{ subject | float }}",
        ];
        for template in plain.chain(calls.map(str::to_owned)) {
            let got = engine.compile(Dialect::Tera, "t", &template).expect("a template that compiles").render(&context).ok();
            prop_assert_eq!(reference(&template)(&context), got, "{}", template);
        }
    }
}

/// Attribute paths, most of them unusual.
fn paths() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &["a", "b", "é", ".", ".", "[", "]", "\"", "'", "\\", "0", "1", "00", "~0", "~1", " "];
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

/// Builds a map whose keys are segments of those paths.
fn attributed() -> Value {
    let leaf =
        json!({"a": 1, "b": [2, {"a": 3}], "]": 4, "é": 5, "0": 6, "a/b": 7, "~": 8, " ": 9, "a.b": 10, "\\": 11});
    let middle =
        json!({"a": leaf, "b": [leaf, leaf], "]": leaf, "é": leaf, "0": leaf, "a]": leaf, "aé": leaf, "éa": leaf});
    json!({"a": middle, "b": [middle], "é": middle, "0": middle, "]": middle, "a]": 1, "éa": middle, "'a": 2, "[": leaf})
}

proptest! {
    #![proptest_config(crate::cases(1024))]

    #[test]
    fn paths_lead_where_they_lead_in_the_reference(path in paths()) {
        const TEMPLATE: &str = "{{ subject | map(attribute=path) | json_encode }}";
        let context = json!({"subject": [attributed(), [attributed()]], "path": path});
        let template = Engine::new().compile(Dialect::Tera, "t", TEMPLATE).expect("a template that compiles");
        prop_assert_eq!(reference(TEMPLATE)(&context), template.render(&context).ok(), "{}", path);
    }
}

fn takes_only_text(builtin: &Builtin) -> bool {
    matches!(builtin.params, Params::Named([only]) if only.ty == Type::Str) && builtin.kind == ImportKind::Filter
}
