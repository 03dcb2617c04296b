//! Functions of the embedding program: every language, number of arguments, form of call and origin of the program.

use std::fmt::Write as _;

use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::engine::{Dialect, Engine, EngineBuilder, Template, TeraDialect};
use dropforge::function::{Deserialized, Further, HostArgs};
use serde_json::{Value as Json, json};

/// Languages with functions.
const LANGUAGES: [Dialect; 5] = [Dialect::Tera, Dialect::Helm, Dialect::Hcl, Dialect::Cel, Dialect::CelYaml];

/// Returns what a function was given: arguments in order, then named ones.
fn shown(args: &HostArgs) -> String {
    let mut text = String::new();
    for (at, _) in args.positional().iter().enumerate() {
        let value: Json = args.get(at).unwrap();
        let _ = write!(text, "{value},");
    }
    for (name, _) in args.named() {
        let value: Json = args.get(*name).unwrap();
        let _ = write!(text, "{name}={value},");
    }
    text
}

/// Returns the source that writes the result of a call.
fn written(dialect: Dialect, call: &str) -> String {
    match dialect {
        Dialect::Hcl => format!("${{{call}}}"),
        Dialect::Cel => call.to_owned(),
        Dialect::CelYaml => format!("v: ${{{call}}}\n"),
        _ => format!("{{{{ {call} }}}}"),
    }
}

/// Returns the text of a result, without what the language writes around it.
fn bare(text: &str) -> String {
    let text = text.trim_start_matches("v: ").trim_end();
    let within = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    within('\'').or_else(|| within('"')).unwrap_or(text).replace("&quot;", "\"").replace("\\\"", "\"")
}

/// Compiles a source, both for a direct render and through the bytes of an artifact that an engine without the functions
/// has made.
fn compiled(dialect: Dialect, source: &str, with: impl Fn(EngineBuilder) -> EngineBuilder) -> [Template; 2] {
    let plain = || Engine::builder().tera(TeraDialect::Plain);
    let direct =
        with(plain()).build().compile(dialect, "t", source).unwrap_or_else(|errors| panic!("{source}: {errors}"));
    let kinds = [ImportKind::Function, ImportKind::Filter, ImportKind::Test];
    let build = kinds.into_iter().fold(plain(), |builder, kind| builder.declare(dialect, kind, "probe"));
    let name = format!("t.{}", dialect.id());
    let bytes = build.template(name.clone(), source).build().bundle([(dialect, &*name)]).unwrap().encode().unwrap();
    let opened = with(plain()).build().open(bytes).unwrap().template(&name).unwrap();
    [direct, opened]
}

fn probe(dialect: Dialect) -> impl Fn(EngineBuilder) -> EngineBuilder {
    move |builder| builder.function(dialect, "probe", shown).filter(dialect, "probe", shown)
}

fn render_all(dialect: Dialect, source: &str, with: impl Fn(EngineBuilder) -> EngineBuilder) -> String {
    let texts = compiled(dialect, source, with).map(|template| template.render(&json!({"xs": [2, 3]})));
    let [direct, opened] = texts.map(|text| text.map_err(|error| format!("{source}: {}", error.render(false))));
    assert_eq!(direct, opened, "{source}");
    bare(&direct.unwrap())
}

#[test]
fn a_function_gets_its_arguments_in_order_in_every_language() {
    for dialect in LANGUAGES {
        for arity in 0..10 {
            let numbers: Vec<String> = (1..=arity).map(|n| n.to_string()).collect();
            let (call, expected) = match dialect {
                Dialect::Tera => {
                    let named: Vec<String> = numbers.iter().map(|n| format!("a{n}={n}")).collect();
                    (format!("probe({})", named.join(", ")), named.iter().map(|one| format!("{one},")).collect())
                }
                Dialect::Helm => (format!("probe {}", numbers.join(" ")), String::new()),
                _ => (format!("probe({})", numbers.join(", ")), String::new()),
            };
            let expected =
                if expected.is_empty() { numbers.iter().map(|n| format!("{n},")).collect() } else { expected };
            assert_eq!(render_all(dialect, &written(dialect, &call), probe(dialect)), expected, "{dialect:?} {call}");
        }
    }
}

#[test]
fn receivers_filtered_values_and_spread_ones_have_their_places() {
    for (dialect, source, expected) in [
        (Dialect::Tera, "{{ 5 | probe }}", "5,"),
        (Dialect::Tera, "{{ 5 | probe(b=1, a='x') }}", "5,b=1,a=\"x\","),
        (Dialect::Helm, "{{ 5 | probe 1 \"x\" }}", "1,\"x\",5,"),
        (Dialect::Helm, "{{ 5 | probe }}", "5,"),
        (Dialect::Helm, "{{ probe (probe 1) 2 }}", "\"1,\",2,"),
        (Dialect::Hcl, "${probe(1, xs...)}", "1,2,3,"),
        (Dialect::Hcl, "${probe(xs...)}", "2,3,"),
        (Dialect::Hcl, "${probe(1, [4, \"x\", null]...)}", "1,4,\"x\",null,"),
        (Dialect::Hcl, "${probe([for x in xs : x + 1], {a = 1})}", "[3,4],{\"a\":1},"),
        (Dialect::Cel, "5.probe()", "5,"),
        (Dialect::Cel, "5.probe(1, 'x')", "5,1,\"x\","),
        (Dialect::Cel, "xs.map(x, x.probe(1))[1]", "3,1,"),
        (Dialect::CelYaml, "v: ${'a'.probe(1, [true])}\n", "\"a\",1,[true],"),
    ] {
        assert_eq!(render_all(dialect, source, probe(dialect)), expected, "{source}");
    }
}

#[test]
fn a_test_gets_the_tested_value_first() {
    let with =
        |builder: EngineBuilder| builder.test(Dialect::Tera, "probe", |args: &HostArgs| shown(args) == "5,1,\"x\",");
    let source = "{% if n is probe(1, 'x') %}yes{% else %}no{% endif %}";
    for template in compiled(Dialect::Tera, source, with) {
        assert_eq!(template.render(&json!({"n": 5})).unwrap(), "yes");
        assert_eq!(template.render(&json!({"n": 6})).unwrap(), "no");
    }
}

/// A function with declared parameters.
fn typed(dialect: Dialect) -> impl Fn(EngineBuilder) -> EngineBuilder {
    move |builder| {
        let body = |n: i64, s: &str, more: Option<f64>| format!("{n}|{s}|{more:?}");
        builder.function(dialect, "probe(n, s, more)", body).filter(dialect, "probe(s, more)", body)
    }
}

#[test]
fn declared_parameters_are_converted_and_bound_by_place_and_name() {
    for (dialect, source, expected) in [
        (Dialect::Tera, "{{ probe(s='x', n=1) }}", "1|x|None"),
        (Dialect::Tera, "{{ probe(n=1, s='x', more=2) }}", "1|x|Some(2.0)"),
        (Dialect::Tera, "{{ 1 | probe(more=0.5, s='x') }}", "1|x|Some(0.5)"),
        (Dialect::Helm, "{{ probe 1 \"x\" }}", "1|x|None"),
        (Dialect::Helm, "{{ index .xs 0 | float64 | probe 1 \"x\" }}", "1|x|Some(2.0)"),
        (Dialect::Helm, "{{ probe (index .xs 0) \"x\" }}", "2|x|None"),
        (Dialect::Hcl, "${probe(1, \"x\")}", "1|x|None"),
        (Dialect::Hcl, "${probe(\"7\", 8, 2)}", "7|8|Some(2.0)"),
        (Dialect::Hcl, "${probe([1, \"x\", null]...)}", "1|x|None"),
        (Dialect::Cel, "probe(1, 'x')", "1|x|None"),
        (Dialect::Cel, "1.probe('x', 0.5)", "1|x|Some(0.5)"),
        (Dialect::CelYaml, "v: ${xs[0].probe('x')}\n", "2|x|None"),
    ] {
        assert_eq!(render_all(dialect, source, typed(dialect)), expected, "{source}");
    }
}

/// Returns the errors of a source: of compiling it, or else of a render.
fn errors(dialect: Dialect, source: &str, with: &impl Fn(EngineBuilder) -> EngineBuilder) -> Diagnostics {
    match with(Engine::builder()).build().compile(dialect, "t", source) {
        Err(errors) => errors,
        Ok(template) => template.render(&json!({"xs": [2, 3], "s": "x"})).unwrap_err().into(),
    }
}

#[test]
fn arguments_that_do_not_fit_are_errors_in_the_words_of_the_language() {
    for (dialect, source, expected) in [
        (Dialect::Tera, "{{ probe(n=1) }}", "needs the argument `s`, a string"),
        (Dialect::Tera, "{{ probe(n=1, s='x', mroe=1) }}", "has no argument `mroe`"),
        (Dialect::Tera, "{{ probe(n='a', s='x') }}", "`n` should be an integer, but it is `\"a\"`"),
        (Dialect::Tera, "{{ probe(n=s, s='x') }}", "`n` should be an integer, but it is `\"x\"`"),
        (Dialect::Tera, "{{ probe(n=xs, s='x') }}", "`n` should be an integer, but it is `[2,3]`"),
        (Dialect::Helm, "{{ probe 1 }}", "wrong number of args for probe: want at least 2 got 1"),
        (Dialect::Helm, "{{ probe 1 \"x\" 2 3 }}", "wrong number of args for probe: want at most 3 got 4"),
        (Dialect::Helm, "{{ probe .s \"x\" }}", "wrong type for value; expected int; got string"),
        (Dialect::Hcl, "${probe(1)}", "Not enough function arguments"),
        (Dialect::Hcl, "${probe(1, \"x\", 2, 3)}", "Error in function call"),
        (Dialect::Hcl, "${probe(s, \"x\")}", "Invalid function argument"),
        (Dialect::Hcl, "${probe(1.5, \"x\")}", "Invalid function argument"),
        (Dialect::Cel, "probe(1)", "found no matching overload for 'probe' applied to '(int)'"),
        (Dialect::Cel, "'a'.probe('b')", "found no matching overload for 'probe' applied to 'string.(string)'"),
        (Dialect::Cel, "probe(s, 'x')", "no such overload: probe(string, string)"),
        (Dialect::Cel, "s.probe('x')", "no such overload: string.probe(string)"),
        (Dialect::CelYaml, "v: ${s.probe('x')}\n", "no such overload: string.probe(string)"),
    ] {
        let found = errors(dialect, source, &typed(dialect));
        assert!(found.to_string().contains(expected), "{source}: {found}");
    }
}

#[test]
fn arguments_without_declared_names_bind_by_name_only_if_there_is_no_order() {
    let with = |builder: EngineBuilder| {
        builder.filter(Dialect::Tera, "repeat", str::repeat).function(Dialect::Tera, "two", |a: i64, b: i64| a - b)
    };
    let engine = with(Engine::builder()).build();
    let template = engine.compile(Dialect::Tera, "t", "{{ 'ab' | repeat(n=2) }}").unwrap();
    assert_eq!(template.render(&()).unwrap(), "abab");
    // A filter takes the filtered value.
    let nullary = |builder: EngineBuilder| builder.filter(Dialect::Tera, "none", || 1);
    let found = errors(Dialect::Tera, "{{ 'a' | none }}", &nullary);
    assert_eq!(found.kind(), Some(Code::BadArgument), "{found}");
    let found = errors(Dialect::Tera, "{{ two(x=1, y=2) }}", &with);
    let help = found.iter().next().and_then(|error| error.help.clone()).unwrap_or_default();
    assert!(help.contains("`\"two(NAME1, NAME2)\"`"), "{found}: {help}");
}

#[test]
fn checks_find_wrong_arguments_without_a_render() {
    for (dialect, source) in [
        (Dialect::Tera, "{% if debug %}{{ probe(n=1) }}{% endif %}"),
        (Dialect::Tera, "{% if debug %}{{ probe(n='1', s='x') }}{% endif %}"),
        (Dialect::Helm, "{{ if .debug }}{{ probe 1 }}{{ end }}"),
        (Dialect::Hcl, "%{ if debug }${probe(1)}%{ endif }"),
        (Dialect::CelYaml, "$if: debug\nv: ${probe(1)}\n"),
        (Dialect::CelYaml, "$if: debug\nv: ${probe('a', 'x')}\n"),
    ] {
        let compiled = typed(dialect)(Engine::builder()).build().compile(dialect, "t", source);
        let lints = compiled.map_or_else(|errors| errors.iter().count(), |template| template.lints().len());
        assert!(lints > 0, "{dialect:?}: {source}");
    }
}

#[test]
fn a_panic_is_an_error_of_its_call_and_the_engine_stays_usable() {
    for dialect in LANGUAGES {
        let boom = |n: i64| if n == 0 { std::panic::resume_unwind(Box::new("hunter2")) } else { n + 1 };
        let engine = Engine::builder().function(dialect, "boom", boom).build();
        let call = |n: &str| match dialect {
            Dialect::Tera => format!("boom(n={n})"),
            Dialect::Helm => format!("boom {n}"),
            _ => format!("boom({n})"),
        };
        let template = |n| engine.compile(dialect, "t", &written(dialect, &call(n))).unwrap();
        let (fails, works) = (template("0"), template("1"));
        for _ in 0..2 {
            let error = fails.render(&json!({})).unwrap_err();
            assert_eq!(error.code, Code::FunctionFailed, "{dialect:?}: {error}");
            let text = error.render(false);
            assert!(text.contains("it panicked") && text.contains("t:1:"), "{dialect:?}: {text}");
            // The text of a panic may have values of the user.
            assert!(!text.contains("hunter2"), "{dialect:?}: {text}");
            assert_eq!(bare(&works.render(&json!({})).unwrap()), "2");
        }
    }
}

#[test]
fn arguments_and_results_of_every_type_arrive_unchanged() {
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Port {
        name: String,
        number: u16,
    }
    let engine = Engine::builder()
        .filter(Dialect::Tera, "same", |value: Json| value)
        .filter(Dialect::Tera, "next", |Deserialized(port): Deserialized<Port>| {
            Ok::<_, String>(Port { number: port.number + 1, ..port })
        })
        .filter(Dialect::Tera, "sum", |all: Vec<f64>| all.iter().sum::<f64>())
        .function(Dialect::Cel, "all", |Further(more): Further<u8>| more)
        .build();
    let render = |source: &str, inputs: Json| engine.compile(Dialect::Tera, "t", source).unwrap().render(&inputs);
    let values = json!([null, true, -1, 18_446_744_073_709_551_615_u64, 0.5, "é", [[]], {"b": {"a": 1}}]);
    let text = render("{{ v | same | json_encode() | safe }}", json!({"v": values})).unwrap();
    assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), values);
    let port = json!({"p": {"name": "http", "number": 80}});
    assert_eq!(render("{% set q = p | next %}{{ q.name }}:{{ q.number }}", port).unwrap(), "http:81");
    assert_eq!(render("{{ [1, 0.5] | sum }}", json!({})).unwrap(), "1.5");
    let error = render("{{ 'x' | next }}", json!({})).unwrap_err();
    assert_eq!(error.code, Code::BadArgument, "{error}");
    let cel = engine.compile(Dialect::Cel, "t", "all(1, 2)[1] == 2").unwrap();
    assert_eq!(cel.render(&json!({})).unwrap().trim(), "true");
    let error = engine.compile(Dialect::Cel, "t", "all(1, 300)").unwrap().render(&json!({})).unwrap_err();
    assert!(error.message.contains("no such overload"), "{error}");
}
