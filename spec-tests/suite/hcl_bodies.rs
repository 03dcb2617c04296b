//! Bodies of HCL, specifications, and bodies as Rust types.

use std::collections::BTreeMap;
use std::sync::Arc;

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::{Body, Context, File, Schema, expand, from_body};
use dropforge::dialect::hcl::decode::{Collection, Spec, SpecFile};
use dropforge::dialect::hcl::registry;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::Type;
use dropforge::vm::Space;
use serde::Deserialize;

fn file(text: &str) -> File {
    File::native(&Source::new("in.hcl", text), &Arc::new(registry()), &Limits::default())
}

fn said(faults: &[Box<Diagnostic>]) -> Vec<String> {
    let place = |fault: &Diagnostic| fault.position().map_or("nowhere".into(), |at| at.to_string());
    faults.iter().map(|fault| format!("{}: {}", place(fault), fault.message)).collect()
}

#[test]
fn what_an_earlier_look_took_is_not_seen_again() {
    let file = file("a = 1\nb = 2\nx \"l\" {}\ny {}\n");
    let mut faults = Vec::new();
    let (first, rest) = file.body().partial_content(&Schema::new().optional("a").block("x", &["name"]), &mut faults);
    assert_eq!((first.attributes.len(), first.blocks.len()), (1, 1));
    let second = rest.content(&Schema::new().optional("a").required("b").block("y", &[]), &mut faults);
    assert_eq!(second.attributes.keys().collect::<Vec<_>>(), [&"b"]);
    assert_eq!(second.blocks[0].name, "y");
    assert!(faults.is_empty(), "{:?}", said(&faults));
    rest.content(&Schema::new().optional("bb").block("z", &[]), &mut faults);
    assert_eq!(said(&faults), ["2:1: Unsupported argument", "4:1: Unsupported block type"]);
}

#[test]
fn several_bodies_are_one() {
    let (a, b) = (file("x = 1\n"), file("x = 2\ny = 3\n"));
    let mut faults = Vec::new();
    let body = Body::merged([a.body(), Body::empty(), b.body()]);
    let content = body.content(&Schema::new().required("x").required("y").required("z"), &mut faults);
    assert_eq!(content.attributes.len(), 2);
    assert_eq!(said(&faults), ["1:1: Duplicate argument", "nowhere: Missing required argument"]);
}

/// What `text` with `dynamic` blocks decodes to by a list of `a` blocks with `v`, or what is wrong.
fn expanded(text: &str, limits: &Limits) -> String {
    let file = file(text);
    let (space, mut faults) = (Space::new(), Vec::new());
    let context = Context::new(&space, limits);
    let arena = space.arena();
    let list = arena.list(&[arena.text("x"), arena.text("y")]);
    let variables = [("l", list), ("m", arena.marked(list, &["secret"])), ("u", arena.unknown(Type::Dynamic))];
    let context = context.with_variables(arena.map(&variables));
    let inner = Spec::blocks("b", Collection::Tuple, Spec::attr("w", Type::String, false));
    let spec = Spec::Tuple(vec![Spec::attr("v", Type::String, false), inner]);
    let spec = Spec::blocks("a", Collection::Tuple, spec);
    let value = spec.decode(&expand(file.body(), &context), &context, &mut faults);
    if !faults.is_empty() {
        return said(&faults).join(", ");
    }
    let marks = value.elements().map_or(0, |items| items.iter().filter(|item| item.is_marked()).count());
    let known = if value.is_known() { serde_json::to_string(&value.to_data()).unwrap() } else { "unknown".into() };
    if marks > 0 { format!("{known} marked {marks}") } else { known }
}

#[test]
fn dynamic_blocks_are_expanded_at_every_depth() {
    let nested = "dynamic \"a\" {\n for_each = l\n content {\n v = a.key\n dynamic \"b\" {\n for_each = [1, 2]\n \
                  iterator = it\n content { w = \"${a.value}${it.value}\" }\n }\n }\n}\n";
    let cases = [
        (nested, r#"[["0",["x1","x2"]],["1",["y1","y2"]]]"#),
        ("dynamic \"a\" {\n for_each = m\n content { v = 1 }\n}\n", r#"[["1",[]],["1",[]]] marked 2"#),
        ("dynamic \"a\" {\n for_each = u\n content { v = a.value }\n}\n", "unknown"),
        ("dynamic \"a\" {\n for_each = null\n content {}\n}\n", "2:13: Invalid dynamic for_each value"),
        ("dynamic \"a\" {\n for_each = [1]\n iterator = x.y\n content {}\n}\n", "3:13: Invalid dynamic iterator name"),
        ("dynamic \"a\" {\n for_each = [1]\n}\n", "1:13: Missing dynamic content block"),
    ];
    for (text, wanted) in cases {
        assert_eq!(expanded(text, &Limits::default()), wanted, "{text}");
    }
}

#[test]
fn blocks_without_end_meet_a_limit_once() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let text = "dynamic \"a\" {\n for_each = range(1, 1000)\n content {\n dynamic \"b\" {\n for_each = range(1, 1000)\n \
                content {}\n }\n }\n}\n";
    let said = expanded(text, &limits);
    assert_eq!(said.matches("needs too much memory").count(), 1, "{said}");
}

#[test]
fn specifications_that_are_wrong_say_where() {
    let cases = [
        ("", "1:1: Missing spec block"),
        ("object {}\narray {}\n", "2:1: Extraneous spec block"),
        ("attr {\n type = string\n}\n", "1:6: Missing name in attribute spec"),
        ("attr \"a\" {}\n", "1:6: Extraneous label for attr"),
        ("object {\n attr \"a\" { type = strin }\n}\n", "2:20: Invalid type specification"),
        (
            "block_map {\n block_type = \"b\"\n labels = []\n literal { value = 1 }\n}\n",
            "1:11: Invalid block label name list",
        ),
        ("block_list {\n min_items = 0.5\n literal { value = 1 }\n}\n", "2:14: Unsuitable value type"),
        ("transform {\n result = 1\n}\n", "1:11: Invalid transform spec"),
        ("default {}\n", "1:9: Missing spec block"),
        ("default {\n literal { value = 1 }\n}\n", "2:2: Useless default block"),
        ("literal { value = nope }\n", "1:19: Variables not allowed"),
        ("function \"f\" {\n params = [1]\n result = 1\n}\nobject {}\n", "2:12: Invalid param element"),
    ];
    for (text, wanted) in cases {
        let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
        let file = SpecFile::parse(&Source::new("s.hcldec", text), &limits);
        SpecFile::read(&file, &Context::new(&space, &limits), &mut faults);
        assert_eq!(said(&faults), [wanted], "{text}");
    }
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Job {
    #[serde(rename = "@kind")]
    kind: String,
    #[serde(rename = "@name")]
    name: String,
    level: Option<Level>,
    retry: Option<Retry>,
    #[serde(rename = "...")]
    rest: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Retry {
    times: u8,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Config {
    #[serde(default)]
    job: Vec<Job>,
    tags: Option<BTreeMap<String, String>>,
}

fn typed(text: &str, json: bool) -> Result<Config, Vec<String>> {
    let (limits, space) = (Limits::default(), Space::new());
    let (source, functions) = (Source::new("in", text), Arc::new(registry()));
    let file = if json { File::json(&source, &functions, &limits) } else { File::native(&source, &functions, &limits) };
    let context = Context::new(&space, &limits);
    from_body(&file.body(), &context).map_err(|errors| said(&errors.into_vec()))
}

#[test]
fn bodies_are_rust_types_in_both_syntaxes() {
    let native = "tags = { a = 1 }\njob \"build\" \"x\" {\n level = \"high\"\n retry { times = \"3\" }\n weight = 1.5\n}\n\
                  job \"test\" \"y\" {}\n";
    let json = r#"{"tags": {"a": "1"}, "job": {"build": {"x": {"level": "high", "retry": {"times": 3}, "weight": 1.5}}, "test": {"y": {}}}}"#;
    let job = |kind: &str, name: &str| Job {
        kind: kind.into(),
        name: name.into(),
        level: None,
        retry: None,
        rest: BTreeMap::new(),
    };
    let build = Job {
        level: Some(Level::High),
        retry: Some(Retry { times: 3 }),
        rest: BTreeMap::from([("weight".into(), 1.5)]),
        ..job("build", "x")
    };
    let tags = Some(BTreeMap::from([("a".into(), "1".into())]));
    let wanted = Ok(Config { job: vec![build, job("test", "y")], tags });
    assert_eq!(typed(native, false), wanted);
    assert_eq!(typed(json, true), wanted);
}

#[test]
fn what_fits_no_type_says_where() {
    let cases = [
        ("jobs = 1\n", "1:1: Unsupported argument"),
        ("job \"a\" {}\n", "1:9: Missing name for job"),
        ("job \"a\" \"b\" {\n retry {}\n}\n", "2:8: Missing required argument"),
        ("job \"a\" \"b\" {\n retry { times = 300 }\n}\n", "2:18: Unsuitable value"),
        ("job \"a\" \"b\" {\n retry { times = [] }\n}\n", "2:18: Unsuitable value"),
        ("job \"a\" \"b\" {\n retry { times = 1 }\n retry { times = 1 }\n}\n", "3:2: Duplicate retry block"),
        ("job \"a\" \"b\" {\n level = \"mid\"\n}\n", "2:10: Unsuitable value"),
        ("tags = x\n", "1:8: Variables not allowed"),
    ];
    for (text, wanted) in cases {
        assert_eq!(typed(text, false), Err(vec![wanted.to_owned()]), "{text}");
    }
}
