//! HCL bodies: specifications, and decoding into Rust types.

use std::collections::BTreeMap;

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::{Body, BodySchema, Context, File, expand, from_body};
use dropforge::dialect::hcl::decode::{Collection, Spec, SpecFile};
use dropforge::dialect::hcl::registry;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::Type;
use dropforge::vm::Space;
use serde::Deserialize;

fn file(text: &str) -> File {
    File::native(&Source::new("in.hcl", text), &registry(), &Limits::default())
}

fn said(faults: &[Box<Diagnostic>]) -> Vec<String> {
    let place = |fault: &Diagnostic| fault.position().map_or("nowhere".into(), |at| at.to_string());
    faults.iter().map(|fault| format!("{}: {}", place(fault), fault.message)).collect()
}

#[test]
fn the_remainder_excludes_items_that_were_read() {
    let file = file("a = 1\nb = 2\nx \"l\" {}\ny {}\n");
    let mut faults = Vec::new();
    let (first, rest) =
        file.body().partial_content(&BodySchema::new().optional("a").block("x", &["name"]), &mut faults);
    assert_eq!((first.attributes.len(), first.blocks.len()), (1, 1));
    let second = rest.content(&BodySchema::new().optional("a").required("b").block("y", &[]), &mut faults);
    assert_eq!(second.attributes.keys().collect::<Vec<_>>(), [&"b"]);
    assert_eq!(second.blocks[0].name, "y");
    assert!(faults.is_empty(), "{:?}", said(&faults));
    rest.content(&BodySchema::new().optional("bb").block("z", &[]), &mut faults);
    assert_eq!(said(&faults), ["2:1: Unsupported argument", "4:1: Unsupported block type"]);
}

fn json(text: &str) -> File {
    File::json(&Source::new("in.json", text), &registry(), &Limits::default())
}

/// Reads `a` and blocks `x`. Returns the remaining attributes with their values, and the errors.
fn left<'r>(body: &Body<'r>, context: &Context<'r>) -> (String, Vec<String>) {
    let mut faults = Vec::new();
    let (_, rest) = body.partial_content(&BodySchema::new().optional("a").block("x", &[]), &mut faults);
    assert!(faults.is_empty(), "{:?}", said(&faults));
    let mut values = Vec::new();
    for (name, attribute) in rest.just_attributes(&mut faults) {
        let value = attribute.expr.evaluate(context, &mut faults);
        values.push(if value.is_known() {
            format!("{name}={}", serde_json::to_string(&value.to_data()).unwrap())
        } else {
            format!("{name}=?")
        });
    }
    (values.join(" "), said(&faults))
}

#[test]
fn just_attributes_of_a_remainder_are_those_not_read() {
    const NONE: &[&str] = &[];
    let unexpected: &[&str] = &["3:1: Unexpected `y` block"];
    let dynamic = "dynamic \"x\" {\n for_each = [1]\n content {}\n}\n";
    let cases: [(&str, &str, &[&str]); 9] = [
        ("a = 1\nb = 2\nx {}\nx {}\n", "b=2", NONE),
        ("b = 2\nx {}\ny {}\nx {}\n", "b=2", unexpected),
        ("x {}\nb = 1\n", "b=1", NONE),
        ("a = 1\n", "", NONE),
        (r#"{"a": 1, "b": 2, "x": [{}, {}], "//": 0}"#, "b=2", NONE),
        (r#"{"a": 1, "y": {}, "x": {}}"#, "y={}", NONE),
        (r#"{"x": null, "b": 1, "b": 2}"#, "b=1", &["1:21: Duplicate argument"]),
        (r#"[{"a": 1}]"#, "", &["1:1: Incorrect JSON value type"]),
        (r#"{"b": 1, "dynamic": {"y": {"for_each": []}}}"#, r#"b=1 dynamic={"y":{"for_each":[]}}"#, NONE),
    ];
    let limits = Limits::default();
    for (text, wanted, faults) in cases {
        let file = if text.starts_with(['{', '[']) { json(text) } else { file(text) };
        let (space, other) = (Space::new(), self::file("x {}\nc = 3\n"));
        let context = Context::new(&space, &limits);
        let bodies = [
            ("alone", file.body()),
            ("expanded", expand(file.body(), &context)),
            ("merged", Body::merged([other.body(), file.body()])),
            ("merged and expanded", expand(Body::merged([file.body(), other.body()]), &context)),
        ];
        for (how, body) in bodies {
            let (values, said) = left(&body, &context);
            let own: Vec<&str> = values.split(' ').filter(|value| !value.is_empty() && *value != "c=3").collect();
            assert_eq!(
                (own.join(" ").as_str(), said),
                (wanted, faults.iter().map(|s| (*s).into()).collect()),
                "{how}: {text}"
            );
        }
    }
    let cases = [
        (format!("{dynamic}a = 1\nb = 2\n"), "b=2", NONE),
        (format!("{dynamic}dynamic \"y\" {{}}\n"), "", &["1:1: Unexpected `dynamic` block"]),
        ("dynamic \"y\" {}\nb = 1\n".into(), "b=1", &["1:1: Unexpected `dynamic` block"]),
        (r#"{"b": 1, "dynamic": {"x": {"for_each": [], "content": {}}}}"#.into(), "b=1", NONE),
    ];
    for (text, wanted, faults) in cases {
        let file = if text.starts_with('{') { json(&text) } else { file(&text) };
        let space = Space::new();
        let context = Context::new(&space, &limits).evaluating();
        let (values, said) = left(&expand(file.body(), &context), &context);
        assert_eq!((values.as_str(), said), (wanted, faults.iter().map(|s| (*s).into()).collect()), "{text}");
    }
}

#[test]
fn attributes_left_of_a_block_that_is_made_see_its_iterator() {
    for (for_each, wanted) in [("[7]", "b=7"), ("u", "b=?")] {
        let text =
            format!("dynamic \"z\" {{\n for_each = {for_each}\n content {{\n a = 1\n b = z.value\n x {{}}\n }}\n}}\n");
        let (limits, file, space, mut faults) = (Limits::default(), file(&text), Space::new(), Vec::new());
        let context = Context::new(&space, &limits);
        let context = context.with_variables(space.arena().map(&[("u", space.arena().unknown(Type::Dynamic))]));
        let content = expand(file.body(), &context).content(&BodySchema::new().block("z", &[]), &mut faults);
        assert_eq!(left(&content.blocks[0].body, &context), (wanted.to_owned(), Vec::new()));
    }
}

#[test]
fn a_registry_without_any_function_still_has_the_language() {
    for (text, wanted) in
        [("a = { b = [for x in [1] : x] }\n", vec![]), ("a = f(1)\n", vec!["1:5: Function calls not allowed"])]
    {
        let (space, limits, mut faults) = (Space::new(), Limits::default(), Vec::new());
        let file = File::native(&Source::new("in.hcl", text), &Default::default(), &limits);
        let attributes = file.body().just_attributes(&mut faults);
        let value = attributes["a"].expr.evaluate(&Context::new(&space, &limits), &mut faults);
        assert_eq!(said(&faults), wanted);
        assert_eq!(value.as_map().is_some_and(|map| map.get("b").is_some()), wanted.is_empty());
    }
}

#[test]
fn evaluating_an_unparsed_attribute_repeats_its_error() {
    for (text, wanted) in [
        ("a = some::\n", "1:11: Missing function name"),
        ("a = some::f + 1\n", "1:13: Missing open parenthesis"),
        ("a = { b = c. }\n", "1:14: Invalid attribute name"),
    ] {
        let (space, limits, mut faults) = (Space::new(), Limits::default(), Vec::new());
        let file = file(text);
        assert_eq!(said(file.diagnostics()), [wanted]);
        let attributes = file.body().just_attributes(&mut faults);
        attributes["a"].expr.evaluate(&Context::new(&space, &limits), &mut faults);
        assert_eq!(said(&faults), [wanted]);
    }
}

#[test]
fn several_bodies_are_one() {
    let (a, b) = (file("x = 1\n"), file("x = 2\ny = 3\n"));
    let mut faults = Vec::new();
    let body = Body::merged([a.body(), Body::empty(), b.body()]);
    let content = body.content(&BodySchema::new().required("x").required("y").required("z"), &mut faults);
    assert_eq!(content.attributes.len(), 2);
    assert_eq!(said(&faults), ["1:1: Duplicate argument", "nowhere: Missing required argument"]);
}

/// Decodes `text` with `dynamic` blocks to a list of `a` blocks with `v`. Returns the value or the errors.
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

/// Decodes `config` by the specification `spec`. Returns the value or the errors.
fn decoded(spec: &str, config: &str) -> String {
    let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
    let (spec, config) = (SpecFile::parse(&Source::new("s.hcldec", spec), &limits), file(config));
    let context = Context::new(&space, &limits);
    let read = SpecFile::read(&spec, &context, &mut faults);
    let value = read.map(|read| read.spec.decode(&config.body(), &context, &mut faults).to_data());
    let shown = value.map_or_else(String::new, |value| serde_json::to_string(&value).unwrap());
    [vec![shown], said(&faults)].concat().join(" ").trim().to_owned()
}

#[test]
fn a_transform_makes_null_where_it_says_no_result() {
    let cases = [
        ("transform {\n attr {\n name = \"a\"\n }\n result = [nested, upper(\"b\")]\n}\n", "a = 1\n", r#"[1,"B"]"#),
        ("transform {\n attr {\n name = \"a\"\n }\n}\n", "a = 1\n", "null"),
        ("transform {\n attr {\n name = \"a\"\n required = true\n }\n}\n", "", "null 1:1: Missing required argument"),
        (
            "block_list {\n block_type = \"b\"\n transform {\n literal { value = 1 }\n }\n}\n",
            "b {}\nb {}\n",
            "[null,null]",
        ),
        ("transform {\n literal { value = 1 }\n results = 2\n}\n", "", "null 3:2: Unsupported argument"),
    ];
    for (spec, config, wanted) in cases {
        assert_eq!(decoded(spec, config), wanted, "{spec}");
    }
}

#[test]
fn the_type_of_a_specification_is_paid_for() {
    let limits = Limits { fuel: 1 << 20, memory: 1 << 20, ..Limits::default() };
    let (space, config) = (Space::new(), file(""));
    let arena = space.arena();
    // 2^60 elements that share a few values.
    let shared = (0..60).fold(arena.list(&[]), |value, _| arena.list(&[value, value]));
    for into in [Collection::List, Collection::Set] {
        let (context, mut faults) = (Context::new(&space, &limits), Vec::new());
        Spec::blocks("b", into, Spec::Literal(shared)).decode(&config.body(), &context, &mut faults);
        assert_eq!(faults.iter().map(|fault| fault.code.name()).collect::<Vec<_>>(), ["limit.memory"]);
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
    let (source, functions) = (Source::new("in", text), registry());
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
fn decoding_errors_have_positions() {
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

/// An error in an argument's value gives the path within the value, and reveals nothing marked.
#[test]
fn decoding_errors_have_paths_into_the_value() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Ports {
        ports: Vec<Port>,
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Port {
        number: u8,
    }
    let files = ["ports = [{ number = 80 }, { number = 300 }]\n", "ports = [{ number = secret }]\n"].map(file);
    let (limits, space) = (Limits::default(), Space::new());
    let secret = space.arena().marked(space.arena().text("hunter2"), &["sensitive"]);
    let context = Context::new(&space, &limits).with_variables(space.arena().map(&[("secret", secret)]));
    let said = files.each_ref().map(|file| {
        let errors = from_body::<Ports>(&file.body(), &context).unwrap_err();
        let fault = errors.first().unwrap();
        format!("{} ({})", fault.detail.as_deref().unwrap_or_default(), fault.notes.join(" "))
    });
    assert_eq!(
        said,
        [
            "invalid value: integer `300`, expected u8. (the error is at `[1].number` in the value)",
            "the value is marked and does not fit. (the error is at `[0].number` in the value)",
        ]
    );
}

/// If every block scanned all blocks again, this would take minutes.
#[test]
fn many_blocks_become_a_sequence() {
    #[derive(Deserialize)]
    struct Routes {
        route: Vec<Route>,
    }
    #[derive(Deserialize)]
    struct Route {
        #[serde(rename = "@path")]
        path: String,
        to: u32,
    }
    let text: String = (0..30_000).map(|at| format!("route \"r{at}\" {{\n  to = {at}\n}}\n")).collect();
    let (file, space, limits) = (file(&text), Space::new(), Limits::default());
    let routes: Routes = from_body(&file.body(), &Context::new(&space, &limits))
        .map_err(|faults| faults.iter().next().map(|fault| fault.message.clone()))
        .unwrap();
    assert!(
        routes.route.iter().enumerate().all(|(at, route)| route.path == format!("r{at}") && route.to as usize == at)
    );
    assert_eq!(routes.route.len(), 30_000);
}
