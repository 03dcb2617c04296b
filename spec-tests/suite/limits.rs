//! Every limit exists, is exact where it is documented to be, and holds for every language and builtin: a run ends in a
//! result or a coded error.

use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::engine::{Dialect, Engine};
use dropforge::function::{Builtin, Capabilities, Params};
use dropforge::limits::Limits;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;
use serde_json::{Value, json};

/// Renders `files[0]` within `limits`.
fn within(dialect: Dialect, limits: &Limits, files: &[(&str, &str)], inputs: &Value) -> Result<String, Code> {
    let builder = Engine::builder().limits(limits.clone());
    let engine = files.iter().fold(builder, |builder, (name, text)| builder.template(*name, *text)).build();
    let code = |errors: Diagnostics| errors.first().map_or(Code::Internal, |error| error.code);
    let template = engine.load(dialect, files[0].0).map_err(code)?;
    template.render(inputs).map_err(|error| error.code)
}

/// Checks that the templates render with `set` at `n`, and fail with `code` at `n - 1`.
#[track_caller]
fn exact(dialect: Dialect, files: &[(&str, &str)], set: fn(&mut Limits, usize), n: usize, code: Code) {
    let inputs = json!({"l": [1, 2, 3], "params": {"x": "abc"}, "s": "abc"});
    let try_with = |n: usize| {
        let mut limits = Limits::default();
        set(&mut limits, n);
        within(dialect, &limits, files, &inputs)
    };
    let (enough, short) = (try_with(n), try_with(n - 1));
    assert!(enough.is_ok(), "{n} is not enough for {files:?}: {enough:?}");
    assert_eq!(short, Err(code), "{} for {files:?}", n - 1);
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
    exact(Dialect::Tera, &[("t.html", "{% set a = '<' %}{{ a }}")], set, 4, Code::LimitOutputBytes);
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
        Params::Open | Params::Positional(_) | Params::Overloaded(_) => Vec::new(),
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
