//! Accepted syntax, error positions, and output where the language has rules of its own. `proptests/` compares with the
//! reference.

use std::sync::Arc;

use super::{Rules, builtins, compile, parse, registry};
use dropforge_base::diagnostics::Severity::{Error, Warning};
use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{BinaryOp, Program, disassemble};
use dropforge_machine::compiler::{Compiled, Loader, MissingKey, Unit};
use dropforge_machine::function::{Caches, Capabilities, Cx};
use dropforge_machine::vm::{Hooks, NoHooks, Run, Semantics, Session, run};
use dropforge_value::{Arena, InputBuilder, Inputs, Shapes, Value};

type Errors = Vec<Box<Diagnostic>>;

struct Files<'f>(&'f [(&'f str, &'f str)]);

// The slices are static, so they outlive every test.
impl Loader for Files<'static> {
    fn load(&self, name: &str) -> dropforge_base::diagnostics::Result<Option<Arc<Source>>> {
        Ok(self.0.iter().find(|(known, _)| *known == name).map(|(name, text)| Source::new(*name, *text)))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

fn compiled(files: &'static [(&'static str, &'static str)], escape: bool) -> Result<Compiled, Errors> {
    let (limits, registry) = (Limits::default(), registry());
    let entry = Source::new(files[0].0, files[0].1);
    compile(&Unit {
        entry: &entry,
        loader: &Files(files),
        registry: &registry,
        limits: &limits,
        escape,
        strict: false,
        lenient: false,
        variant: "",
        together: &[],
        missing_key: MissingKey::default(),
        delimiters: None,
        any_data: false,
        keeps_tree: false,
        memo: None,
    })
}

fn render(files: &'static [(&'static str, &'static str)], json: &str) -> Result<String, Errors> {
    let Compiled { program, .. } = compiled(files, false)?;
    let (out, error) = rendered(&program, json, &Limits::default(), &mut NoHooks);
    error.map_or(Ok(out), |error| Err(vec![error]))
}

/// Returns the output of a program, and its error.
fn rendered<H: Hooks>(
    program: &Program,
    json: &str,
    limits: &Limits,
    hooks: &mut H,
) -> (String, Option<Box<Diagnostic>>) {
    let (arena, names, registry) = (Arena::new(), Arena::new(), registry());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).json(json).unwrap());
    let linked = registry.link(program.imports()).unwrap();
    let what = Run { program, linked: &linked, inputs, limits, capabilities: Capabilities::NONE, budgets: None };
    let mut out = String::new();
    let error = run::<Rules, _>(&mut Session::new(), what, &mut out, hooks).err();
    (out, error)
}

fn errors_of(source: &str) -> Vec<String> {
    let arena = bumpalo::Bump::new();
    let (_, errors) = parse(&arena, &Source::new("t", source), &Limits::default());
    let place = |error: &Diagnostic| error.position().map(|at| at.to_string()).unwrap_or_default();
    errors.iter().map(|error| format!("{} {}", place(error), error.code.name())).collect()
}

/// Observes every instruction by itself.
struct Watcher;

impl Hooks for Watcher {}

/// Filters that give text.
const WRITERS: &[&str] = &[
    "upper",
    "lower",
    "capitalize",
    "trim",
    "truncate(length=2)",
    "truncate(end=2)",
    "replace(from='b', to='--')",
    "replace(to='x', from='-')",
    "replace(from=1, to='')",
    "trim_end_matches(pat='e')",
    "as_str",
    "indent(first=true)",
    "linebreaksbr",
    "escape",
    "addslashes",
    "striptags",
    "spaceless",
    "json_encode",
    "json_encode(pretty=true)",
    "join(sep='é')",
    "split(pat='-') | join",
    "quote",
    "squote",
    "nindent(n=2)",
    "to_yaml",
    "to_json",
    "b64encode",
    "upper | lower | replace(from='b', to='')",
];

#[test]
fn text_that_is_written_at_once_has_the_output_and_errors_of_two_instructions() {
    let values = ["<b>Ab c</b>\\r\\n\\nd-e", "é'-\\\"", "", "a-b, and more text than fits into one block of memory"];
    let values = values.map(|text| format!("\"{text}\"")).join("\n");
    let values = values.lines().chain(["1", "2.5", "[\"a-b\", 1]", "{\"k\": \"v\"}", "null"]);
    for (value, filter) in values.flat_map(|value| WRITERS.iter().map(move |filter| (value, filter))) {
        let json = format!("{{\"xs\": [{value}, {value}]}}");
        let program = |body: &str| {
            let source: &'static str = String::leak(format!("{{% for x in xs %}}{body}{{% endfor %}}"));
            compiled(Vec::leak(vec![("t", source)]), false).expect(source).program
        };
        let at_once = program(&format!(">{{{{ x | {filter} }}}}<"));
        let limits = Limits::default();
        let (out, error) = rendered(&at_once, &json, &limits, &mut NoHooks);
        let kept = program(&format!("{{% set y = x | {filter} %}}>{{{{ y }}}}<"));
        let (kept, kept_error) = rendered(&kept, &json, &limits, &mut NoHooks);
        assert_eq!(error.as_ref().map(|error| &error.message), kept_error.as_ref().map(|error| &error.message));
        assert_eq!(if error.is_none() { &*out } else { "" }, kept, "{value} {filter}");
        for output_bytes in 0..=out.len() {
            let limits = Limits { output_bytes, ..Limits::default() };
            let shown = |(out, error): (String, Option<Box<Diagnostic>>)| (out, error.map(|error| error.to_string()));
            let watched = shown(rendered(&at_once, &json, &limits, &mut Watcher));
            assert_eq!(shown(rendered(&at_once, &json, &limits, &mut NoHooks)), watched, "{value} {filter}");
        }
    }
}

#[test]
fn accepted_syntax() {
    for source in [
        "{{ a.b[0]['x y'][p.q] }}",
        "{{ 1 + 2 * (3 - a) | round - b | abs }}",
        "{{ not a in [1, 'b',] and b is not divisibleby(2) or (c == 1) }}",
        "{{ 'a' ~ 1 ~ f(x=2,) | upper }}",
        "{{ true ~ trueish }}{{ x in true }}",
        "{% set and = or %}{% set true = 1 %}",
        "{{-1}}{{- -1 -}}{{ 1--1 }}{{ a -1 }}",
        "{% for k, v in o | f(a=[1]) -%} {% break %} {% else %} {% else %} {%- endfor %}",
        "{# c #}{# d #}\n{% import 'm' as m %} {% extends 'p' %} {% block b %}{{ super() }}{% endblock x %}",
        "{% macro f(a, b=-1, c='x', d=true) %}{% filter upper %}{% block b %}{% endblock %}{% endfilter %}{% endmacro f %}",
        "{% include ['a', 'b'] ignore missing %}{% raw %}{{ {% {% endraw x %}{% endraw %}",
        "{{ a is not }}{{ (not ) }}{{ not_a }}{{ 1or b }}",
        "} }} %} #} { {",
    ] {
        assert_eq!(errors_of(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn syntax_errors_and_their_positions() {
    let mut wrong = Vec::new();
    for (source, want) in [
        ("{{ 01 }}", "1:5"),
        ("{{ - 1 }}", "1:4"),
        ("{{ -n }}", "1:4"),
        ("{{ 1 < 2 < 3 }}", "1:10"),
        ("{{ not (a or b) }}", "1:8"),
        ("{{ [[1]] }}", "1:5"),
        ("{{ a == [1] }}", "1:9"),
        ("{{ f(1) }}", "1:6"),
        ("{{ a . b }}", "1:6"),
        ("{{ trueish }}", "1:4"),
        ("{{ x in s | upper }}", "1:9"),
        ("{{ 'a' + 1 }}", "1:4"),
        ("{{ (a) ~ b }}", "1:4"),
        ("{{ 9223372036854775808 }}", "1:4"),
        ("{% set a == 1 %}", "1:11"),
        ("{% for a , b in c %}{% endfor %}", "1:10"),
        ("{% macro f(a = 1) %}{% endmacro %}", "1:14"),
        ("x{% extends 'p' %}", "1:2"),
        ("{% if a %}{% macro m() %}{% endmacro %}{% endif %}", "1:11"),
        ("{% for x in y %}{% block b %}{% endblock %}{% endfor %}", "1:17"),
        ("{% break %}", "1:1"),
        ("{% if a %}{% else %}{% elif b %}{% endif %}", "1:21"),
        ("{% block a %}{% endblock %}{% block a %}{% endblock %}", "1:37"),
        ("{% if a %}\nx", "1:1"),
        ("{##}", "1:1"),
        ("{{ 'a }}", "1:4"),
        ("a\n{% elseif a %}", "2:1"),
    ] {
        wrong.extend(Some((source, errors_of(source))).filter(|(_, errors)| {
            let [one] = errors.as_slice() else { return true };
            one.split(' ').next() != Some(want)
        }));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_error_of_a_file_is_reported() {
    let errors = errors_of("{% if %}\n{{ a b }}\n{% for %}\n{% endfor %}{% enidf %}\n{{ x");
    let places: Vec<_> = errors.iter().map(|error| error.split(' ').next().unwrap()).collect();
    assert_eq!(places, ["1:1", "1:7", "2:6", "3:8", "4:13", "5:5"]);
}

#[test]
fn rules_of_its_own() {
    let input = r#"{"a": 1, "s": "<b>", "l": [1, 2], "o": {"k": {"n": 7}, "b": 2}, "none": null, "f": 1.0}"#;
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("t", "{{ 1 + 2 | float }} {{ f }} {{ f ~ '' }} {{ 7 / 2 }} {{ 8 / 2 }} {{ 1 / 0 }}")], "3 1 1.0 3.5 4 NaN"),
        (&[("t", "{{ 5 != '5' }}{{ not 5 == '5' }}{% if not 5 == '5' %}y{% else %}n{% endif %}")], "falsetruen"),
        (&[("t", "{{ not a == 2 }}{% if not a == 2 %}y{% endif %}{{ (not a) }}")], "falsey1"),
        (&[("t", "{% if (not -2 != a) %}y{% else %}n{% endif %}{{ (not -2 == a) }}")], "yfalse"),
        (&[("t", "{% if zz | nofilter %}y{% else %}n{% endif %}{{ not zz }}")], "ntrue"),
        (&[("t", "{% set x = 0 %}{% for i in l %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}")], "120"),
        (&[("t", "{% for i in l %}{{ y | default(value='-') }}{% set_global y = i %}{% endfor %}{{ y }}")], "-12"),
        (&[("t", "{% set a = o %}{% for a in l %}{{ a.b }}{% endfor %}")], "22"),
        (&[("t", "{% for k, v in o %}{{ k }}={{ v.n | default(value=v) }};{% endfor %}")], "b=2;k=7;"),
        (&[("t", "{% for x in [] -%} x {%- else -%} none {%- endfor %}")], " none "),
        (&[("t", "a {%- if a %} b {%- else %} c {% endif -%} d {{- 1 -}} {# #} e")], "a bd1 e"),
        (
            &[
                ("t", "{% import 'm' as m %}{{ m::f(x=a) }}"),
                ("m", "{% macro f(x, y='d') %}{{ x }}{{ y }}{{ s }}{% endmacro %}"),
            ],
            "1d<b>",
        ),
        (
            &[
                ("t", "{% extends 'p' %}{% block b %}[{{ super() }}]{% endblock %}{% set lost = 1 %}"),
                ("p", "<{% block b %}p{% endblock %}>{{ lost | default(value='-') }}"),
            ],
            "<[p]>-",
        ),
        (
            &[
                (
                    "t",
                    "{% for i in l %}{% include 'i' %}{% endfor %}{% include ['no', 'i'] %}{% include 'no' ignore missing %}",
                ),
                ("i", "{{ i | default(value='-') }}{{ loop.index | default(value='?') }}{% set i = 9 %}{{ i }}"),
            ],
            "119229-?9",
        ),
        (&[("t", "{% if l %}{{ l.0 }}{% set l = l | slice(start=1) %}{% include 't' %}{% endif %}")], "12"),
        (&[("t", "{% filter upper %}a{{ s }}{% endfilter %}{{ [s, none, l, o] }}")], "A<B>[<b>, , [1, 2], [object]]"),
        (&[("t", "{% if false %}{{ a | nosuch }}{% include 'nope' %}{{ x::y() }}{% endif %}ok")], "ok"),
    ];
    for (files, want) in cases {
        assert_eq!(render(files, input).map_err(|errors| errors[0].to_string()).as_deref(), Ok(*want), "{files:?}");
    }
}

#[test]
fn errors_name_the_culprit_and_its_place() {
    let error = |files| render(files, r#"{"name": "x", "o": {"port": 1}}"#).unwrap_err().remove(0);
    let missing = error(&[("t", "a\n{{ nmae }}")]);
    assert_eq!(missing.to_string(), "E0201: the variable `nmae` is not defined (t:2:4)");
    assert_eq!(missing.help.as_deref(), Some("did you mean `name`?"));
    assert_eq!(missing.available.as_deref(), Some(&["name".to_owned(), "o".to_owned()][..]));
    let step = error(&[("t", "{{ o.prot }}")]);
    assert_eq!(step.position().unwrap().to_string(), "1:6");
    assert_eq!(step.available.as_deref(), Some(&["port".to_owned()][..]));
    let math = error(&[("t", "{{ 1 + name * 2 }}")]);
    assert_eq!((math.code, math.position().unwrap().to_string()), (Code::TypeMismatch, "1:4".to_owned()));
    let included = error(&[("t", "{% include 'i' %}"), ("i", "\n{{ zz }}")]);
    let places: Vec<_> =
        included.labels.iter().map(|label| format!("{}:{}", label.source.name(), label.position())).collect();
    assert_eq!(places, ["i:2:4", "t:1:1"]);
}

#[test]
fn a_check_lists_errors_in_untaken_branches() {
    let source = "{% if zz %}{{ zz | uper }}{{ f() }}{% include 'nope' %}{{ m::x() }}{{ zz is odr }}{% endif %}";
    let files: &'static [(&str, &str)] = Box::leak(Box::new([("t", source)]));
    let lints = compiled(files, false).unwrap().lints;
    let codes: Vec<_> = lints.iter().map(|lint| lint.code.name()).collect();
    let unknown = "function.unknown";
    assert_eq!(codes, [unknown, unknown, "template.unknown", "template.unknown_macro", unknown]);
    assert_eq!(lints[0].help.as_deref(), Some("did you mean `upper`?"));
    assert!(lints.iter().all(|lint| lint.position().is_some()));
}

#[test]
fn arguments_that_nothing_reads_are_warned_of() {
    let text = "{% macro m(size) %}{{ a | join(d=',') | upper(x=1) | default(valu=2) }}{{ b | upper | safe(y=1) }}{% endmacro %}\
                {{ self::m(size=1, sise=2) }}{{ range(end=2, stop=3) }}{{ m | to_yaml(indentation=4) }}\
                {% filter indent(prefx='-') %}{% endfilter %}{{ a | replace(from='x', too='y') }}\
                {{ a | safe(p=1) }}{{ 1 + a | safe(q=1) }}{{ self::m(size=1) | safe(r=1) }}\
                {% filter safe(s=1) %}{% endfilter %}";
    let lints = compiled(one_file(text.to_owned()), false).unwrap().lints;
    let told = |lint: &Diagnostic| -> (Severity, String, String, String) {
        let name = lint.primary().map_or("", |label| label.source.slice(label.span)).to_owned();
        let names = lint.available.clone().unwrap_or_default().join(" ");
        (lint.severity, name, names, lint.help.clone().unwrap_or_default())
    };
    let found: Vec<_> = lints.iter().map(|lint| told(lint)).collect();
    let found: Vec<_> = found.iter().map(|(sort, name, names, help)| (*sort, &**name, &**names, &**help)).collect();
    assert_eq!(
        found,
        [
            (Warning, "sise", "size", "did you mean `size`?"),
            (Warning, "stop", "end start step_by", ""),
            (Warning, "indentation", "indent", "did you mean `indent`?"),
            (Warning, "prefx", "blank first prefix", "did you mean `prefix`?"),
            (Warning, "too", "from to", "did you mean `to`?"),
            (Error, "replace(from='x', too='y')", "", "add `to=…`"),
            (Warning, "p", "", ""),
            (Warning, "q", "", ""),
            (Warning, "r", "", ""),
            (Warning, "s", "", ""),
            (Warning, "d", "sep", ""),
            (Warning, "x", "", ""),
            (Warning, "valu", "value", "did you mean `value`?"),
            (Warning, "y", "", ""),
        ]
    );
    assert_eq!(lints[0].message, "macro `m` has no argument `sise`, so it is ignored");
}

#[test]
fn no_example_has_an_argument_that_nothing_reads() {
    let all = [builtins::tables(), builtins::plus_tables(), vec![builtins::marks()]].concat();
    for (example, _) in all.into_iter().flatten().flat_map(|builtin| builtin.examples.iter()) {
        let lints = compiled(one_file((*example).to_owned()), false).map(|found| found.lints).unwrap_or_default();
        assert!(lints.iter().all(|lint| lint.severity == Error), "{example}: {lints:?}");
    }
}

#[test]
fn missing_templates_are_compile_errors() {
    let code = |files| compiled(files, false).unwrap_err()[0].code;
    assert_eq!(code(&[("t", "{% extends 'p' %}")]), Code::UnknownTemplate);
    assert_eq!(code(&[("t", "{% import 'p' as m %}")]), Code::UnknownTemplate);
    assert_eq!(code(&[("t", "{% extends 'p' %}"), ("p", "{% extends 't' %}")]), Code::InheritanceCycle);
    assert_eq!(code(&[("t", "{% include 'p' %}"), ("p", "{{ 1 1 }}")]), Code::UnexpectedToken);
    assert_eq!(code(&[("t", "{% import 't' as m %}")]), Code::LimitRecursion);
}

#[test]
fn escaping_is_part_of_the_code() {
    let program = compiled(&[("t", "<{{ s }}{{ '<' }}{{ s | safe }}{{ s ~ '<' }}>")], true).unwrap().program;
    let listing = disassemble(&program);
    let ops: Vec<_> = listing.lines().filter(|line| line.contains("emit") || line.contains("text")).collect();
    assert_eq!(ops.len(), 4, "{listing}");
    assert!(ops[0].contains("html") && ops[1].contains("&lt;") && ops[1].contains("plain"), "{listing}");
    assert!(ops[2].contains("plain") && ops[3].contains(">"), "{listing}");
}

fn one_file(text: String) -> &'static [(&'static str, &'static str)] {
    let text: &'static str = Box::leak(text.into_boxed_str());
    Box::leak(Box::new([("t", text)]))
}

#[test]
fn errors_beyond_the_limit_are_counted() {
    let calls: String = (0..250).map(|at| format!("{{{{ a | nofilter{at} }}}}{{{{ self::nomacro{at}() }}}}")).collect();
    let text = format!("{{% macro m() %}}{{% endmacro %}}{calls}");
    let files = one_file(text);
    let lints = compiled(files, false).unwrap().lints;
    assert_eq!(lints.len(), Limits::default().diagnostics);
    assert_eq!(lints.last().unwrap().notes, ["and 400 more diagnostics: the limit is 100"]);
    assert_eq!(compiled(one_file("{{ 1 1 }}".repeat(200)), false).unwrap_err().len(), Limits::default().diagnostics);
}

#[test]
fn common_results_of_operators_are_those_of_the_rules() {
    use BinaryOp::{Add, Div, Eq, Ge, Gt, In, Le, Lt, Mul, Ne, Rem, Sub};
    let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
    let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
    let ints = [0, 1, -1, 7, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN].map(Value::Int);
    let floats = [0.0, -0.0, 0.5, 7.0, 9.1e15, 1e308, f64::INFINITY, f64::NAN].map(Value::Float);
    let others = [Value::Uint(u64::MAX), Value::Null, Value::Bool(true), arena.text("7"), arena.list(&[])];
    let all: Vec<Value<'_>> = ints.into_iter().chain(floats).chain(others).collect();
    let mut common = 0;
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        for op in [Add, Sub, Mul, Div, Rem, Eq, Ne, Lt, Le, Gt, Ge, In] {
            if let Some(result) = Rules.common(op, a, b) {
                let general = Rules.binary(&cx, op, *a, *b).map(|value| format!("{value:?}"));
                assert_eq!(general.as_ref().ok(), Some(&format!("{result:?}")), "{op:?} {a:?} {b:?}");
                common += 1;
            }
        }
    }
    assert!(common > 1500, "{common}");
}
