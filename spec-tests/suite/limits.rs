//! Every limit exists, is exact where it is documented to be, and holds for every language and builtin: a run ends in a
//! result or a coded error.

use std::time::Duration;

use dropforge::Precompile;
use dropforge::bulk::{Cluster, Layers, Merge, Overlay, Stamp, Templates};
use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::engine::{Dialect, Engine, EngineBuilder, Template, discover};
use dropforge::function::{Builtin, Capabilities, Params};
use dropforge::limits::Limits;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;
use serde_json::{Value, json};

/// The result of a door: nothing, or the first error.
type Outcome = Result<(), Code>;

fn code(errors: Diagnostics) -> Code {
    errors.first().map_or(Code::Internal, |error| error.code)
}

fn builder(limits: &Limits, files: &[(&str, &str)]) -> EngineBuilder {
    let builder = Engine::builder().limits(limits.clone());
    files.iter().fold(builder, |builder, (name, text)| builder.template(*name, *text))
}

/// Renders `files[0]` within `limits`.
fn within(dialect: Dialect, limits: &Limits, files: &[(&str, &str)], inputs: &Value) -> Result<String, Code> {
    let template = builder(limits, files).build().load(dialect, files[0].0).map_err(code)?;
    template.render(inputs).map_err(|error| error.code)
}

type Door = fn(&Template, &Value) -> Outcome;

/// The doors of a template: the ways to render it.
const RENDERS: [(&str, Door); 5] = [
    ("render", |template, inputs| template.render(inputs).map(drop).map_err(|error| error.code)),
    ("render_into", |template, inputs| {
        template.render_into(inputs, &mut "before".to_owned()).map_err(|error| error.code)
    }),
    ("render_inputs", |template, inputs| on(template, inputs, Template::render_inputs)),
    ("render_checked", |template, inputs| on(template, inputs, Template::render_checked)),
    ("render twice", |template, inputs| {
        let mut session = Session::new();
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(inputs).expect("inputs"));
        let mut once = || template.render_inputs(&mut session, inputs, &mut String::new()).map_err(|error| error.code);
        assert_eq!(once(), once(), "a limit of one render, not of all");
        once()
    }),
];

type Render = fn(&Template, &mut Session, Inputs<'_>, &mut String) -> dropforge::diagnostics::Result<()>;

fn on(template: &Template, inputs: &Value, render: Render) -> Outcome {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(inputs).expect("inputs"));
    render(template, &mut Session::new(), inputs, &mut String::new()).map_err(|error| error.code)
}

/// The doors of a source: the ways to a template.
fn templates(dialect: Dialect, limits: &Limits, files: &[(&str, &str)]) -> Vec<(&'static str, Result<Template, Code>)> {
    let (name, text) = files[0];
    let engine = builder(limits, files).build();
    let bundled = || {
        let bundle = engine.bundle([(dialect, name)]).map_err(code)?;
        opened(limits, bundle.encode().expect("an artifact"), name)
    };
    let precompiled = || {
        let dir = directory(dialect, files);
        let precompile = Precompile::new(Engine::builder().limits(limits.clone()));
        let (bytes, _) = precompile.compile(dir.path()).map_err(code)?;
        opened(limits, bytes, &named(dialect, name))
    };
    vec![
        ("compile", engine.compile(dialect, name, text).map_err(code)),
        ("load", engine.load(dialect, name).map_err(code)),
        ("load_all", engine.load_all(dialect, &[name, name]).pop().expect("two").map_err(code)),
        ("bundle", bundled()),
        ("precompile", precompiled()),
    ]
}

/// Opens an artifact with an engine of these limits.
fn opened(limits: &Limits, bytes: Vec<u8>, name: &str) -> Result<Template, Code> {
    let engine = Engine::builder().limits(limits.clone()).build();
    engine.open(bytes).and_then(|artifact| artifact.template(name)).map_err(|error| error.code)
}

/// Stamps a set with one cluster.
fn stamped(dialect: Dialect, limits: &Limits, files: &[(&str, &str)], inputs: &Value) -> Outcome {
    let dir = directory(dialect, files);
    let name = named(dialect, files[0].0);
    let set = discover(&[dir.path().join(&name)], Some(dir.path()), &|_| true).expect("a set");
    let templates = Templates::compile(&set, Some(dialect), Engine::builder().limits(limits.clone())).map_err(code)?;
    let shared = serde_json::from_value::<Data>(inputs.clone()).expect("data").into_map().expect("a map");
    let layers = Layers::new([shared], Vec::new(), Merge::Deep);
    let stamper = templates.stamper([name.as_str()], &layers).expect("a template");
    let mut outcome = Ok(());
    stamper.work(&mut |renderer| {
        let (mut text, mut results) = (String::new(), Vec::new());
        let done = renderer.render(
            None,
            &Cluster::new("c", Default::default()),
            &Overlay::Json("{}"),
            &mut text,
            &mut results,
        );
        let first = done.and_then(|()| results.pop().expect("one result").map(drop));
        outcome = first.map_err(|error| error.code);
    });
    outcome
}

/// Returns a file name that tells the language.
fn named(dialect: Dialect, name: &str) -> String {
    format!("{}.{}", name.replace('.', "_"), dialect.extension())
}

/// Writes the files to a directory. The first one gets a name that tells its language.
fn directory(dialect: Dialect, files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (at, (name, text)) in files.iter().enumerate() {
        let name = if at == 0 { named(dialect, name) } else { (*name).to_owned() };
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

/// Goes through every door: each way to the template, and each way to render it.
fn everywhere(dialect: Dialect, limits: &Limits, files: &[(&str, &str)], inputs: &Value) -> Vec<(String, Outcome)> {
    let mut all = vec![("stamp".to_owned(), stamped(dialect, limits, files, inputs))];
    for (way, template) in templates(dialect, limits, files) {
        for (name, render) in RENDERS {
            let outcome = template.as_ref().map_err(|code| *code).and_then(|template| render(template, inputs));
            all.push((format!("{way}, {name}"), outcome));
        }
    }
    all
}

/// Checks that the templates render with `set` at `n`, and fail with `code` at `n - 1`, whichever the door.
#[track_caller]
fn exact(dialect: Dialect, files: &[(&str, &str)], set: fn(&mut Limits, usize), n: usize, code: Code) {
    let inputs = json!({"l": [1, 2, 3], "params": {"x": "abc"}, "s": "abc"});
    for (n, wanted) in [(n, Ok(())), (n - 1, Err(code))] {
        let mut limits = Limits::default();
        set(&mut limits, n);
        for (door, outcome) in everywhere(dialect, &limits, files, &inputs) {
            assert_eq!(outcome, wanted, "{door} with {n} for {files:?}");
        }
    }
}

#[test]
fn the_bytes_of_a_source() {
    let set = |limits: &mut Limits, n| limits.source_bytes = n;
    exact(Dialect::Tera, &[("t", "abcdef")], set, 6, Code::LimitSourceBytes);
    exact(Dialect::Tower, &[("t", "abcdef")], set, 6, Code::LimitSourceBytes);
    exact(Dialect::Hcl, &[("t", "abcdef")], set, 6, Code::LimitSourceBytes);
    exact(Dialect::Tera, &[("t", "{% include 'i' %}"), ("i", &"x".repeat(40))], set, 40, Code::LimitSourceBytes);
}

#[test]
fn the_bytes_of_the_output() {
    let set = |limits: &mut Limits, n| limits.output_bytes = n;
    exact(Dialect::Tera, &[("t", "abcdef")], set, 6, Code::LimitOutputBytes);
    exact(Dialect::Tera, &[("t", "{% for x in l %}{{ s }}{{ x }}{% endfor %}")], set, 12, Code::LimitOutputBytes);
    exact(Dialect::Tera, &[("t", "{{ s | upper }}{{ 1.5 }}")], set, 6, Code::LimitOutputBytes);
    let mut short = Limits::default();
    set(&mut short, 3);
    let escaped = within(Dialect::Tera, &short, &[("t.html", "{% set a = '<' %}{{ a }}")], &json!({}));
    assert_eq!(escaped, Err(Code::LimitOutputBytes));
    exact(Dialect::Tower, &[("t", "a ${params.x}")], set, 5, Code::LimitOutputBytes);
    exact(Dialect::Hcl, &[("t", "a ${params.x}")], set, 5, Code::LimitOutputBytes);
    exact(Dialect::Hcl, &[("t", "%{ for x in l }${s}${x}%{ endfor }")], set, 12, Code::LimitOutputBytes);
}

#[test]
fn the_nesting_of_syntax() {
    let set = |limits: &mut Limits, n| limits.nesting = n;
    for (open, middle, close) in [("(", "1", " + 1)"), ("range(end=", "1", ")"), ("s[", "s", "]")] {
        let text = format!("{{{{ {}{middle}{} }}}}", open.repeat(30), close.repeat(30));
        let mut least = Limits { nesting: 0, ..Limits::default() };
        while within(Dialect::Tera, &least, &[("t", &text)], &json!({})) == Err(Code::LimitDepth) {
            least.nesting += 1;
        }
        assert!((29..=32).contains(&least.nesting), "{text}: {}", least.nesting);
    }
    for (open, close) in [
        ("{% if true %}", "{% endif %}"),
        ("{% for x in l %}", "{% endfor %}"),
        ("{% filter upper %}", "{% endfilter %}"),
    ] {
        let text = format!("{}x{}", open.repeat(9), close.repeat(9));
        exact(Dialect::Tera, &[("t", &text)], set, 9, Code::LimitDepth);
    }
}

#[test]
fn the_depth_of_values() {
    let set = |limits: &mut Limits, n| limits.value_depth = n;
    let text = "{% set a = [1] %}".to_owned() + &"{% set a = [a] %}".repeat(4);
    exact(Dialect::Tera, &[("t", &text)], set, 5, Code::LimitDepth);
    exact(Dialect::Tera, &[("t", "{% set a = [l] %}{{ a }}")], set, 2, Code::LimitDepth);
}

#[test]
fn data_made_by_hand_may_have_any_depth_but_no_conversion_takes_it() {
    let list = |data| Data::List(vec![Data::Int(1), data]);
    let map = |data| Data::Map([("k".to_owned(), data)].into_iter().collect());
    let deep =
        |levels: usize| (0..levels).fold(Data::Null, |data, at| if at % 2 == 0 { map(data) } else { list(data) });
    let template = Engine::new().compile(Dialect::Tera, "t", "{{ k }}").unwrap();
    for (levels, fits) in [(127, true), (128, true), (129, false), (1_000_000, false)] {
        let data = map(deep(levels - 1));
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let doors = [
            builder.data(&data).map(drop),
            builder.data_map(data.as_map().unwrap()).map(drop),
            builder.serialize(&data).map(drop),
            template.render(&data).map(drop),
        ];
        for (door, outcome) in doors.into_iter().enumerate() {
            let code = outcome.err().map(|error| error.code);
            assert_eq!(code, (!fits).then_some(Code::LimitDepth), "{levels} levels at door {door}");
        }
    }
    let text = format!("{{\"k\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let error = InputBuilder::new(&arena, &shapes).json(&text).unwrap_err();
    assert_eq!(error.code, Code::LimitDepth);
}

#[test]
fn the_steps() {
    let set = |limits: &mut Limits, n| limits.fuel = n as u64;
    let least = |text: &str| {
        let mut limits = Limits { fuel: 0, ..Limits::default() };
        while within(Dialect::Tera, &limits, &[("t", text)], &json!({"l": [1, 2, 3]})) == Err(Code::LimitFuel) {
            limits.fuel += 1;
        }
        limits.fuel
    };
    // Entering a chunk costs 8 plus a quarter of its words, a loop turn 1, and a backward jump a quarter of its
    // distance.
    exact(Dialect::Tera, &[("t", "{% for x in l %}{% endfor %}")], set, 8 + 7 / 4 + 4, Code::LimitFuel);
    let nested = least("{% for x in l %}{% for y in l %}{% endfor %}{% endfor %}");
    assert_eq!(nested, 8 + 13 / 4 + 4 + 3 * 4 + 2 * (8 / 4));
    let called = least("{% macro m() %}{% endmacro %}{{ self::m() }}{{ self::m() }}");
    assert_eq!(called, (8 + 5 / 4) + 2 * 8);
    let body = |text: &str| least(&format!("{{% for x in l %}}{text}{{% endfor %}}"));
    assert!(
        body(&"{{ x }}{{ x }}".repeat(10)) > body("") + 2 * 10,
        "a long body costs more at each turn but the first"
    );
    assert!(least("{{ l | sort }}") > least("{{ l | length }}"), "sorting looks at every element");
    assert!(least("{% set a = [l, l] %}{% set b = [l, l] %}{{ a == b }}") >= 6, "equality looks at every pair");
}

#[test]
fn the_bytes_of_memory() {
    let set = |limits: &mut Limits, n| limits.memory = n as u64;
    let least = |text: &str| {
        let mut limits = Limits { memory: 0, ..Limits::default() };
        while within(Dialect::Tera, &limits, &[("t", text)], &json!({"s": "x".repeat(100)})) == Err(Code::LimitMemory) {
            limits.memory += 1;
        }
        usize::try_from(limits.memory).expect("small")
    };
    assert_eq!(least("{{ s }}"), 0, "what is only written is not made");
    for text in ["{{ s ~ 'y' }}", "{{ s | upper }}", "{% filter upper %}{{ s }}{% endfilter %}", "{% set a = s ~ s %}"]
    {
        let bytes = least(text);
        assert!((100..2_000).contains(&bytes), "{text}: {bytes}");
    }
    // A slot, three stack entries, and a list with its items and two words more.
    exact(Dialect::Tera, &[("t", "{% set a = [1, 2, 3] %}")], set, (1 + 3) * 16 + (3 + 2) * 16, Code::LimitMemory);
}

#[test]
fn calls_within_calls() {
    let set = |limits: &mut Limits, n| limits.call_depth = n;
    let down = "{% macro d(n) %}{% if n > 0 %}{{ self::d(n=n - 1) }}{% endif %}{% endmacro %}{{ self::d(n=4) }}";
    exact(Dialect::Tera, &[("t", down)], set, 6, Code::LimitRecursion);
    let chain = [
        ("t", "{% import 'm' as m %}{{ m::a() }}"),
        ("m", "{% macro a() %}{{ self::b() }}{% endmacro %}{% macro b() %}b{% endmacro %}"),
    ];
    exact(Dialect::Tera, &chain, set, 3, Code::LimitRecursion);
}

#[test]
fn templates_that_are_reached() {
    let set = |limits: &mut Limits, n| limits.templates = n;
    let files = [("t", "{% extends 'b' %}{% import 'm' as m %}"), ("b", "{% include 'i' %}"), ("i", ""), ("m", "")];
    exact(Dialect::Tera, &files, set, 4, Code::LimitTemplates);
}

#[test]
fn words_of_code() {
    let least = |dialect, text: &str| {
        let mut limits = Limits { code_words: 0, ..Limits::default() };
        let inputs = json!({"l": [1], "params": {"x": "abc"}});
        while within(dialect, &limits, &[("t", text)], &inputs) == Err(Code::LimitCode) {
            limits.code_words += 1;
        }
        limits.code_words
    };
    assert!(least(Dialect::Tera, "a{% for x in l %}{{ x }}b{% endfor %}") > least(Dialect::Tera, "a"));
    assert!(least(Dialect::Tower, "a ${params.x}") > least(Dialect::Tower, "a"));
    assert!(least(Dialect::Hcl, "a%{ for x in l }${x}b%{ endfor }") > least(Dialect::Hcl, "a"));
}

#[test]
fn nesting_fuel_and_memory_of_expressions() {
    let least = |set: fn(&mut Limits, usize), text: &str, code| {
        let tried = |n| {
            let mut limits = Limits::default();
            set(&mut limits, n);
            within(Dialect::Hcl, &limits, &[("t", text)], &json!({"l": [1, 2, 3]}))
        };
        let n = (0..100_000).find(|&n| tried(n) != Err(code)).expect("enough");
        assert!(tried(n).is_ok(), "{:?}", tried(n));
        n
    };
    let parentheses = format!("${{{}1{}}}", "(".repeat(20), ")".repeat(20));
    assert!(least(|limits, n| limits.nesting = n, &parentheses, Code::LimitDepth) >= 20);
    let fuel: fn(&mut Limits, usize) = |limits, n| limits.fuel = n as u64;
    let (flat, nested) = ("${jsonencode([for a in l: a])}", "${jsonencode([for a in l: [for b in l: b]])}");
    assert!(least(fuel, nested, Code::LimitFuel) > least(fuel, flat, Code::LimitFuel));
    let memory: fn(&mut Limits, usize) = |limits, n| limits.memory = n as u64;
    assert!(least(memory, nested, Code::LimitMemory) > least(memory, flat, Code::LimitMemory));
}

/// Lowers a limit.
type Set = fn(&mut Limits);

/// A language, a template, the limit it exceeds, and its code.
type Row = (Dialect, String, Set, Code);

#[test]
fn limits_of_every_language() {
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(300), close.repeat(300));
    let long = |text: &str| text.repeat(100);
    let (fuel, memory): (Set, Set) = (|limits| limits.fuel = 50, |limits| limits.memory = 5_000);
    // The excerpts of the nested expressions are many times as long as the source.
    let double = |text: String, _| format!("[for x in [{text}]: \"${{x}}${{x}}\"][0]");
    let doubled = format!("${{{}}}", (0..60).fold("\"ab\"".to_owned(), double));
    let lists = "[1, 2, 3, 4, 5, 6, 7, 8].map(a, [1, 2, 3, 4, 5, 6, 7, 8].map(b, [a, b]))";
    let rows: Vec<Row> = vec![
        (Dialect::Tera, format!("{{{{ {} }}}}", nested("(", ")")), |_| (), Code::LimitDepth),
        (Dialect::Hcl, format!("${{{}}}", nested("(", ")")), |_| (), Code::LimitDepth),
        (Dialect::Cel, nested("(", ")"), |_| (), Code::LimitDepth),
        (Dialect::Cel, nested("[", "]"), |_| (), Code::LimitDepth),
        (Dialect::CelYaml, nested("[", "]"), |_| (), Code::LimitDepth),
        (Dialect::CelYaml, format!("a: ${{{}}}", nested("(", ")")), |_| (), Code::LimitDepth),
        (Dialect::Cel, long("1 + ") + "1", |limits| limits.source_bytes = 400, Code::LimitSourceBytes),
        (Dialect::CelYaml, long("a "), |limits| limits.source_bytes = 100, Code::LimitSourceBytes),
        (Dialect::Cel, format!("[{}1]", long("s, ")), |limits| limits.code_words = 50, Code::LimitCode),
        (Dialect::CelYaml, format!("[{}1]", long("\"${s}\", ")), |limits| limits.code_words = 50, Code::LimitCode),
        (Dialect::Tera, long("{{ s }}{{ l }}"), |limits| limits.program_bytes = 500, Code::LimitCode),
        (Dialect::Hcl, long("${s}${l}"), |limits| limits.program_bytes = 500, Code::LimitCode),
        (Dialect::Cel, format!("[{}1]", long("s, ")), |limits| limits.program_bytes = 500, Code::LimitCode),
        (Dialect::CelYaml, format!("[{}1]", long("\"${s}\", ")), |limits| limits.program_bytes = 500, Code::LimitCode),
        (Dialect::Tower, long("${params.x} "), |limits| limits.program_bytes = 500, Code::LimitCode),
        (Dialect::Hcl, doubled, |_| (), Code::LimitMemory),
        (Dialect::Hcl, "${jsonencode([for a in l: [for b in l: [for c in l: c]]])}".into(), fuel, Code::LimitFuel),
        (Dialect::Cel, lists.into(), fuel, Code::LimitFuel),
        (Dialect::CelYaml, format!("a: ${{{lists}}}"), fuel, Code::LimitFuel),
        (Dialect::Tower, long("${params.x} "), fuel, Code::LimitFuel),
        (Dialect::Hcl, "${join(\",\", [for a in range(500): s])}".into(), memory, Code::LimitMemory),
        (Dialect::Cel, lists.into(), |limits| limits.memory = 500, Code::LimitMemory),
        (Dialect::CelYaml, format!("a: ${{{lists}}}"), |limits| limits.memory = 500, Code::LimitMemory),
        (Dialect::Cel, lists.into(), |limits| limits.output_bytes = 20, Code::LimitOutputBytes),
        (Dialect::CelYaml, format!("a: ${{{lists}}}"), |limits| limits.output_bytes = 20, Code::LimitOutputBytes),
        (Dialect::Cel, "[[[[[1]]]]]".into(), |limits| limits.value_depth = 4, Code::LimitDepth),
        (Dialect::CelYaml, "a: [[[[[1]]]]]".into(), |limits| limits.value_depth = 4, Code::LimitDepth),
        (Dialect::Hcl, "${jsonencode([[[[[1]]]]])}".into(), |limits| limits.value_depth = 4, Code::LimitDepth),
        (Dialect::Cel, "s.matches('a.c$')".into(), |limits| limits.regex_bytes = 3, Code::LimitRegex),
        (
            Dialect::Tera,
            "{% for i in range(end=100000) %}{% endfor %}".into(),
            |limits| limits.time = Some(Duration::ZERO),
            Code::LimitTime,
        ),
    ];
    let inputs = json!({"l": [1, 2, 3], "params": {"x": "abc"}, "s": "abc"});
    let mut wrong = Vec::new();
    for (dialect, text, set, code) in rows {
        let mut limits = Limits::default();
        set(&mut limits);
        for (door, outcome) in everywhere(dialect, &limits, &[("t", &text)], &inputs) {
            if outcome != Err(code) {
                let shown: String = text.chars().take(60).collect();
                wrong.push(format!("{dialect:?}, {door}: {outcome:?}, not {code:?}, for {shown}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bytes_of_a_regular_expression() {
    let set = |limits: &mut Limits, n| limits.regex_bytes = n;
    exact(Dialect::Tera, &[("t", "{{ s is matching('a.c$') }}")], set, 4, Code::LimitRegex);
    exact(Dialect::Hcl, &[("t", "${regex(\"a.c$\", s)}")], set, 4, Code::LimitRegex);
    let bomb = "{{ s is matching('((a{100}){100}){100}') }}";
    assert_eq!(within(Dialect::Tera, &Limits::default(), &[("t", bomb)], &json!({"s": "a"})), Err(Code::LimitRegex));
}

#[test]
fn the_errors_of_a_file() {
    let text = "{{ 1 + }}\n".repeat(50);
    let count = |most: usize| {
        let engine = Engine::builder().limits(Limits { diagnostics: most, ..Limits::default() }).build();
        engine.compile(Dialect::Tera, "t", &text).map_or_else(|errors| errors.iter().count(), |_| 0)
    };
    assert_eq!(count(100), 50);
    assert!(count(10) <= 11);
}

/// Values at the edges of every type.
fn extremes() -> Value {
    json!({
        "least": i64::MIN, "minus": -1, "zero": 0, "one": 1, "most": i64::MAX, "unsigned": u64::MAX, "big": 1_000_000_000,
        "tiny": 5e-324, "huge": 1.7e308, "half": -0.5, "yes": true, "none": null, "empty": "", "space": " \n\t",
        "text": "añ<b>&'\"\\e\u{301}👩‍👩‍👧", "long": "ab ".repeat(20_000), "digits": "9".repeat(400), "pattern": "(a*)*$",
        "nothing": [], "numbers": [3, 1.5, -2], "mixed": [1, "a", null, [], {}], "nulls": [null, null],
        "texts": ["b", "a", "a"], "many": vec![7; 20_000], "maps": [{"a": 1}, {"a": "x"}, {"b": {"c": []}}, 5],
        "void": {}, "map": {"a": 1, "b": [1], "c": null}, "date": "2024-02-30", "iso": "9999-12-31T23:59:59Z",
        "zone": "Europe/Berlin", "method": "ceil", "path": "a.b.c.0", "format": "%Y %! %9f %+ %"
    })
}

/// Returns a template that calls a builtin, with inputs as arguments.
fn call(builtin: &Builtin, args: &[(&str, &str)]) -> String {
    let given: Vec<String> = args.iter().skip(1).map(|(name, value)| format!("{name}={value}")).collect();
    let values: Vec<&str> = args.iter().skip(1).map(|(_, value)| *value).collect();
    let subject = args.first().map_or("one", |(_, value)| *value);
    match builtin.kind {
        ImportKind::Filter => format!("{{{{ {subject} | {}({}) }}}}", builtin.name, given.join(", ")),
        ImportKind::Test if values.is_empty() => format!("{{{{ {subject} is {} }}}}", builtin.name),
        ImportKind::Test => format!("{{{{ {subject} is {}({}) }}}}", builtin.name, values.join(", ")),
        ImportKind::Function | ImportKind::Template | ImportKind::Intrinsic => {
            let all: Vec<String> = args.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{{{{ {}({}) }}}}", builtin.name, all.join(", "))
        }
    }
}

fn parameters(builtin: &Builtin) -> Vec<&'static str> {
    match builtin.params {
        Params::Named(params) => params.iter().map(|param| param.name).collect(),
        Params::Open | Params::Positional(_) | Params::Overloaded(_) | Params::Assigned(_) => Vec::new(),
    }
}

/// An engine with low limits.
fn short() -> Engine {
    let limits = Limits { fuel: 2_000_000, memory: 16 << 20, output_bytes: 4 << 20, ..Limits::default() };
    Engine::builder().limits(limits).allow(Capabilities::ALL).build()
}

#[test]
fn every_builtin_takes_every_extreme_value_in_every_place() {
    let engine = short();
    let extremes = extremes();
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&extremes).expect("inputs"));
    let (mut session, mut out, mut runs) = (Session::new(), String::new(), 0);
    for builtin in engine.registry(Dialect::Tera).iter() {
        for text in extreme_calls(builtin, &extremes) {
            if let Ok(template) = engine.compile(Dialect::Tera, "t", &text) {
                out.clear();
                let _ = template.render_inputs(&mut session, inputs, &mut out);
                runs += 1;
            }
        }
    }
    assert!(runs > 10_000, "{runs} calls compile");
}

/// Returns calls of a builtin with every value in every position, next to strings, a number or lists. Once with all
/// arguments, once with those up to the position.
fn extreme_calls(builtin: &Builtin, values: &Value) -> Vec<String> {
    let params = parameters(builtin);
    let mut calls = Vec::new();
    for place in 0..params.len() {
        for value in values.as_object().expect("a map").keys() {
            for other in ["text", "one", "numbers", "maps"] {
                let given =
                    |(at, name): (usize, &&'static str)| (*name, if at == place { value.as_str() } else { other });
                let args: Vec<(&str, &str)> = params.iter().enumerate().map(given).collect();
                calls.push(call(builtin, &args));
                calls.push(call(builtin, &args[..=place]));
            }
        }
    }
    calls.sort_unstable();
    calls.dedup();
    calls
}

/// Calls that make as much as possible out of little. Each must end in a limit. A pure function of an input alone is
/// called once per render, so repeated calls read a local name.
const GROWTH: &[(&str, &str)] = &[
    ("range", "{{ range(end=most) }}"),
    ("range", "{% for i in range(end=most) %}{% endfor %}"),
    ("replace", "{{ long | replace(from='', to=long) }}"),
    ("replace", "{{ long | replace(from='a', to=long) }}"),
    ("indent", "{{ lines | indent(prefix=long, first=true, blank=true) }}"),
    ("join", "{{ many | join(sep=long) }}"),
    (
        "split",
        "{% set a = long | split(pat='') %}{% set b = [a, a, a, a, a, a, a, a, a, a] %}{{ b | json_encode }}{{ b | json_encode }}{{ b | json_encode }}{{ b | json_encode }}{{ b | json_encode }}",
    ),
    ("concat", "{% set a = many %}{% for i in many %}{% set_global a = a | concat(with=a) %}{% endfor %}"),
    ("json_encode", "{% set a = [many, many] %}{% for i in many %}{{ a | json_encode(pretty=true) }}{% endfor %}"),
    ("upper", "{% set own = long %}{% for i in many %}{% set x = own | upper %}{% endfor %}"),
    ("escape", "{% set x = '<<<<<<<<' %}{% for i in many %}{% set_global x = x ~ x | escape %}{% endfor %}"),
    ("sort", "{% set own = many %}{% for i in many %}{% set x = own | sort %}{% endfor %}"),
    ("unique", "{% set own = many %}{% for i in many %}{% set x = own | unique %}{% endfor %}"),
    ("reverse", "{% set own = many %}{% for i in many %}{% set x = own | reverse %}{% endfor %}"),
    ("slice", "{% set own = many %}{% for i in many %}{% set x = own | slice(start=0) %}{% endfor %}"),
    ("length", "{% set own = long %}{% for i in many %}{% set x = own | length %}{% endfor %}"),
    ("matching", "{% set own = long %}{% for i in many %}{{ own is matching('(a|b|ab)*c') }}{% endfor %}"),
    ("containing", "{% set own = many %}{% for i in many %}{{ own is containing(8) }}{% endfor %}"),
    ("group_by", "{% set own = maps %}{% for i in many %}{% set x = own | group_by(attribute='a') %}{% endfor %}"),
    ("striptags", "{% set own = long %}{% for i in many %}{% set x = own | striptags %}{% endfor %}"),
    ("date", "{{ 0 | date(format=formats) }}"),
    ("wordcount", "{% set own = long %}{% for i in many %}{% set x = own | wordcount %}{% endfor %}"),
    ("urlencode_strict", "{% set x = long %}{% for i in many %}{% set_global x = x | urlencode_strict %}{% endfor %}"),
    ("title", "{% set own = long %}{% for i in many %}{% set x = own | title %}{% endfor %}"),
    ("slugify", "{% set own = long %}{% for i in many %}{% set x = own | slugify %}{% endfor %}"),
    ("nindent", "{{ lines | nindent(n=most) }}"),
    ("to_yaml", "{% set a = [many, many] %}{% for i in many %}{% set x = a | to_yaml(indent=9) %}{% endfor %}"),
    ("quote", "{% set x = '\"\"' %}{% for i in many %}{% set_global x = x | quote %}{% endfor %}"),
    ("b64encode", "{% set x = 'a' %}{% for i in many %}{% set_global x = x | b64encode %}{% endfor %}"),
    ("from_json", "{% set a = many | to_json %}{% for i in many %}{% set x = a | from_json %}{% endfor %}"),
    ("from_yaml", "{% set a = many | to_yaml %}{% for i in many %}{% set x = a | from_yaml %}{% endfor %}"),
    ("sha256", "{% set own = long %}{% for i in many %}{% set x = own | sha256 %}{% endfor %}"),
    ("regex_replace", "{{ long | regex_replace(pattern='a*?', to=long) }}"),
    ("addslashes", "{% set x = '\\\\\\\\' %}{% for i in many %}{% set_global x = x | addslashes %}{% endfor %}"),
];

#[test]
fn growth_ends_in_a_limit() {
    let engine = short();
    let mut inputs = extremes();
    inputs["lines"] = json!("x\n".repeat(20_000));
    inputs["maps"] = json!(vec![json!({"a": 1}); 2_000]);
    inputs["formats"] = json!("%+".repeat(1_000_000));
    let mut wrong = Vec::new();
    for (builtin, text) in GROWTH {
        let result = engine.compile(Dialect::Tera, "t", text).expect(text).render(&inputs);
        match result {
            Err(error) if error.code.is_limit() => {}
            other => wrong.push(format!("{builtin}: {text} gives {:?}", other.map(|text| text.len()))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
