//! Generated templates and inputs give the same text, or fail, both here and in Tera. Any result but a panic is
//! accepted where Tera panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dropforge::engine::{Dialect, Engine, TeraDialect, UnknownNames};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

/// Renders with the reference: text, an error (`Err(true)`) or a panic (`Err(false)`).
fn reference(templates: &[(String, String)], input: &Json, escape: bool) -> Result<String, bool> {
    let run = || -> Result<String, tera::Error> {
        let mut tera = tera::Tera::default();
        tera.autoescape_on(if escape { vec![""] } else { vec![] });
        tera.add_raw_templates(templates.iter().map(|(name, source)| (name, source)))?;
        tera.render("main", &tera::Context::from_value(input.clone())?)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(|_| true),
        Err(_) => Err(false),
    }
}

fn ours(templates: &[(String, String)], input: &Json, escape: bool) -> Result<String, String> {
    let suffixes: &[&str] = if escape { &[""] } else { &[] };
    let builder = Engine::builder().tera(TeraDialect::Plain).unknown_names(UnknownNames::Late);
    let mut builder = builder.escape_suffixes(suffixes.iter().copied());
    for (name, source) in templates {
        builder = builder.template(name, source);
    }
    let engine = builder.build();
    for (name, _) in templates {
        engine.load(Dialect::Tera, name).map_err(|error| error.to_string())?;
    }
    let template = engine.load(Dialect::Tera, "main").map_err(|error| error.to_string())?;
    template.render(input).map_err(|error| error.to_string())
}

fn same(templates: &[(String, String)], input: &Json, escape: bool) -> Result<(), TestCaseError> {
    let (theirs, ours) = (reference(templates, input, escape), ours(templates, input, escape));
    match (theirs, ours) {
        (Ok(theirs), ours) => prop_assert_eq!(ours, Ok(theirs), "{:#?} {}", templates, input),
        (Err(true), ours) => prop_assert!(ours.is_err(), "{:?} instead of an error: {:#?} {}", ours, templates, input),
        (Err(false), _) => {}
    }
    Ok(())
}

pub fn input() -> impl Strategy<Value = Json> {
    let number = prop_oneof![
        (-3i64..8).prop_map(|n| json!(n)),
        select(vec![
            json!(0.5),
            json!(2.0),
            json!(-1.5),
            json!(1e21),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(i64::MAX)
        ]),
    ];
    let text = select(vec!["", "a", "hi <b>", "x&y", "0", "it's/\"q\"", "two words", "k"]).prop_map(|s| json!(s));
    (number.clone(), number, text.clone(), text, any::<bool>(), vec(0i64..5, 0..4), 0..3usize).prop_map(
        |(a, b, s, html, t, list, n)| {
            let items: Vec<Json> = (0..n)
                .map(|at| json!({"name": format!("n{at}"), "on": at % 2 == 0, "v": at, "tags": ["p", "q"]}))
                .collect();
            json!({
                "a": a, "b": b, "s": s, "html": html, "t": t, "l": list, "items": items, "none": null, "k": "name",
                "o": {"name": "obj", "b": {"c": 3, "0": "zero"}, "x y": 1, "list": [10, 20], "k": "b"},
                "strings": ["b", "<a>", "c"], "i": 1, "empty": {}, "pairs": [[1, 2], [3]],
            })
        },
    )
}

/// Names that may be undefined, depending on their position.
const NAMES: &[&str] = &[
    "x",
    "v",
    "y",
    "k",
    "set1",
    "set2",
    "a",
    "loop.index",
    "loop.last",
    "loop",
    "x.name",
    "x.v",
    "v.c",
    "set1.name",
    "p",
    "q",
    "missing",
    "o.missing",
    "missing.b",
    "o[missing]",
    "l[5]",
    "none",
    "x.0",
    "o.b[i]",
    "loop.index0",
    "a.b",
    "items[0].name",
    "items.0.tags",
    "__tera_contex",
];

const TEXTS: &[&str] = &[
    "s",
    "html",
    "o.name",
    "o['name']",
    "o[k]",
    "strings[i]",
    "strings.0",
    "'a'",
    "'<i>'",
    "\"\"",
    "`k`",
    "'two words'",
];

const NUMBERS: &[&str] = &[
    "a",
    "b",
    "i",
    "o.b.c",
    "o[o.k].c",
    "o['x y']",
    "o.list[i]",
    "o.list.0",
    "1",
    "0",
    "-2",
    "2.5",
    "1.0",
    "7",
    "9223372036854775807",
];

const LISTS: &[&str] = &["l", "items", "strings", "o.list", "pairs", "range(end=3)", "range(start=i, end=2)"];

const TEXT_FILTERS: &[&str] = &[
    "upper",
    "lower",
    "safe",
    "replace(from='a', to='<')",
    "escape",
    "trim",
    "capitalize",
    "truncate(length=2)",
    "title",
    "default(value='<d>')",
    "as_str",
    "reverse",
    "slugify",
    "urlencode",
    "indent",
    "nosuch",
    "addslashes",
];

const NUMBER_FILTERS: &[&str] =
    &["round", "abs", "int", "float", "round(precision=i)", "default(value=1)", "default(value='<n>')"];

const LIST_FILTERS: &[&str] =
    &["reverse", "slice(end=2)", "sort", "unique", "concat(with=['<c>', i])", "safe", "default(value=[1])"];

const TO_VALUE: &[&str] =
    &["first", "last", "join(sep='/')", "length", "json_encode", "nth(n=i)", "as_str", "json_encode | safe"];

const TESTS: &[&str] = &[
    "is defined",
    "is undefined",
    "is odd",
    "is not even",
    "is string",
    "is number",
    "is iterable",
    "is object",
    "is divisibleby(2)",
    "is starting_with('h')",
    "is containing('a')",
    "is containing(i)",
    "is nosuch",
    "is odd(1)",
    "is not defined",
    "is matching('^h')",
];

type Text = BoxedStrategy<String>;

fn one_of(words: &'static [&'static str]) -> Text {
    select(words).prop_map(str::to_owned).boxed()
}

/// A name that may be undefined, nearly always with a default.
fn name() -> Text {
    let defaults = one_of(&["'-'", "'<->'", "a", "[1, s]", "html ~ '<'", "1"]);
    (one_of(NAMES), defaults, 0..8)
        .prop_map(|(name, default, bare)| if bare == 0 { name } else { format!("{name} | default(value={default})") })
        .boxed()
}

fn number(depth: usize) -> Text {
    if depth == 0 {
        return one_of(NUMBERS);
    }
    let op = one_of(&["+", "-", "*", "/", "%", "+", "-"]);
    let inner = || number(depth - 1);
    prop_oneof![
        4 => one_of(NUMBERS),
        4 => (inner(), op, inner()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        2 => (inner(), one_of(NUMBER_FILTERS)).prop_map(|(a, filter)| format!("{a} | {filter}")),
        1 => (one_of(NUMBERS), one_of(NUMBERS)).prop_map(|(a, b)| format!("({a} + {b})")),
        1 => (list(depth - 1), one_of(&["length"])).prop_map(|(a, filter)| format!("{a} | {filter}")),
    ]
    .boxed()
}

fn text(depth: usize) -> Text {
    if depth == 0 {
        return one_of(TEXTS);
    }
    let part = || prop_oneof![one_of(TEXTS), one_of(NUMBERS)];
    prop_oneof![
        3 => one_of(TEXTS),
        3 => (text(depth - 1), one_of(TEXT_FILTERS)).prop_map(|(a, filter)| format!("{a} | {filter}")),
        3 => (part(), part(), part()).prop_map(|(a, b, c)| format!("{a} ~ {b} ~ {c}")),
        2 => (list(depth - 1), one_of(TO_VALUE)).prop_map(|(a, filter)| format!("{a} | {filter}")),
        2 => (one_of(&["m::wrap", "m::twice", "self::own", "m::none"]), any_value(depth - 1), 0..9).prop_map(
            |(name, value, known)| if known == 0 { format!("{name}(p={value})") } else { format!("m::wrap(p={value})") }
        ),
    ]
    .boxed()
}

fn list(depth: usize) -> Text {
    if depth == 0 {
        return one_of(LISTS);
    }
    let literal = (value(depth - 1), value(depth - 1)).prop_map(|(a, b)| format!("[{a}, {b}]"));
    prop_oneof![
        3 => one_of(LISTS),
        1 => literal,
        2 => (one_of(LISTS), one_of(LIST_FILTERS)).prop_map(|(a, filter)| format!("{a} | {filter}")),
        1 => Just("s | split(pat=' ')".to_owned()),
    ]
    .boxed()
}

/// Any expression except a list literal.
fn value(depth: usize) -> Text {
    prop_oneof![
        3 => number(depth),
        3 => text(depth),
        2 => name(),
        1 => condition(depth.saturating_sub(1)),
        1 => one_of(&["o", "empty", "items", "true", "false", "none"]),
    ]
    .boxed()
}

fn any_value(depth: usize) -> Text {
    prop_oneof![6 => value(depth), 1 => list(depth)].boxed()
}

fn condition(depth: usize) -> Text {
    let inner = depth.min(1);
    let simple = prop_oneof![
        (number(inner), one_of(&["<", "<=", ">", ">="]), number(inner)).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (text(inner), one_of(&["==", "!="]), text(inner)).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (number(inner), one_of(&["==", "!="]), prop_oneof![number(inner), text(0)])
            .prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (one_of(NAMES), one_of(TESTS)).prop_map(|(name, test)| format!("{name} {test}")),
        one_of(NAMES),
        (text(0), one_of(&["in", "not in"]), one_of(&["s", "o", "strings", "[s, 1, '<i>']", "'abc'", "html ~ s"]))
            .prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        number(inner),
        text(inner),
        one_of(&["true", "none", "empty", "l", "o.missing | upper", "s | nosuch", "html | length", "missing ~ s"]),
    ];
    let negated = (simple.clone(), 0..4).prop_map(|(e, not)| if not == 0 { format!("not {e}") } else { e });
    if depth == 0 {
        return negated.boxed();
    }
    let op = one_of(&["and", "or"]);
    prop_oneof![
        3 => negated.clone(),
        2 => (negated.clone(), op, condition(depth - 1)).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => condition(depth - 1).prop_map(|e| format!("({e})")),
    ]
    .boxed()
}

fn expression() -> Text {
    any_value(2)
}

/// Template bodies. `plain` ones avoid everything that Tera forbids in macros and loops.
fn body() -> impl Strategy<Value = String> {
    let open = || select(vec!["{%", "{%-"]);
    let close = || select(vec!["%}", "-%}"]);
    let container = || prop_oneof![9 => one_of(&["l", "items", "strings", "s", "o.list", "range(end=2)", "[1, '<b>']"]), 1 => one_of(&["missing", "none"])];
    let leaf = prop_oneof![
        2 => select(vec!["text", " a ", "\n  ", "<p>", "- ", "{"]).prop_map(str::to_owned),
        6 => (any_value(1), any::<bool>(), any::<bool>()).prop_map(|(e, left, right)| {
            format!("{{{{{} {e} {}}}}}", if left { "-" } else { "" }, if right { "-" } else { "" })
        }),
        2 => (select(vec!["set1", "set2", "x", "a"]), any_value(1), any::<bool>()).prop_map(|(name, e, global)| {
            format!("{{% set{} {name} = {e} %}}", if global { "_global" } else { "" })
        }),
        1 => select(vec![
            "{% include 'inc' %}", "{% include ['none', 'inc'] %}", "{% include 'none' ignore missing %}",
            "{% include 'inc' -%}", "{# c -#} ", "{% raw -%} {{ a }} {%- endraw %}",
        ]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let body = || vec(inner.clone(), 0..4).prop_map(|parts| parts.concat());
        prop_oneof![
            2 => (open(), condition(1), close(), body(), body()).prop_map(|(o, e, c, yes, no)| {
                format!("{o} if {e} {c}{yes}{{% else -%}}{no}{o} endif {c}")
            }),
            1 => (condition(1), condition(1), body(), body())
                .prop_map(|(a, b, x, y)| format!("{{% if {a} %}}{x}{{%- elif {b} %}}{y}{{% endif %}}")),
            3 => (open(), container(), close(), body(), body(), any::<bool>()).prop_map(|(o, e, c, each, none, both)| {
                let otherwise = if both { format!("{{%- else %}}{none}") } else { String::new() };
                format!("{o} for x in {e} {c}{each}{otherwise}{o} endfor {c}")
            }),
            1 => body().prop_map(|each| format!("{{% for k, v in o %}}{{{{ k }}}}{each}{{% endfor %}}")),
            1 => (condition(1), body(), body(), any::<bool>()).prop_map(|(e, a, b, stop)| {
                let leave = if stop { "break" } else { "continue" };
                format!("{{% for y in l %}}{a}{{% if {e} %}}{{% {leave} %}}{{% endif %}}{b}{{% endfor %}}")
            }),
            1 => (select(vec!["upper", "safe", "trim", "replace(from='a', to='&')"]), body())
                .prop_map(|(filter, body)| format!("{{% filter {filter} %}}{body}{{% endfilter %}}")),
            1 => vec(inner.clone(), 1..3).prop_map(|parts| parts.concat()),
        ]
    })
}

fn blocks() -> impl Strategy<Value = String> {
    (body(), body(), body(), any::<bool>(), any::<bool>()).prop_map(|(one, two, between, up, nested)| {
        let up = if up { "<{{ super() }}>" } else { "" };
        let inner = if nested { "{% block two %}in{% endblock %}" } else { "" };
        let second = if nested { String::new() } else { format!("{{% block two %}}{two}{up}{{% endblock two %}}") };
        format!("{{% block one %}}{one}{up}{inner}{{% endblock %}}{between}{second}")
    })
}

/// Returns `text` without its include tags. Included templates and macros must not recurse.
fn without_includes(text: &str) -> String {
    let mut parts = text.split("{% include");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |all, part| all + part.split_once("%}").map_or("", |(_, behind)| behind))
}

pub fn templates() -> impl Strategy<Value = Vec<(String, String)>> {
    let own = "{% macro own(p) %}({{ p }}){% endmacro %}";
    let macros = (body(), body()).prop_map(move |(one, two)| {
        format!(
            "{{% macro wrap(p, q='<q>') %}}[{{{{ p }}}}{{{{ q }}}}{one}]{{% endmacro %}}\
             {{% macro twice(p) %}}{{{{ self::wrap(p=p) }}}}{two}{{% endmacro %}}{own}"
        )
    });
    let import = "{% import 'm' as m %}";
    let calm = |body: String| body.replace("m::twice", "m::wrap").replace("m::wrap", "self::own");
    (body(), body(), macros, blocks(), blocks(), any::<bool>()).prop_map(
        move |(main, include, macros, base, child, inherits)| {
            let main = if inherits {
                format!("{{% extends 'base' %}}{import}{own}{child}")
            } else {
                format!("{import}{own}{main}")
            };
            let (include, macros) = (without_includes(&include), without_includes(&macros));
            // A recursive macro overflows the reference's stack, so macros call only `own`.
            let macros = format!("{own}{}", calm(macros.replace("self::own", "m::wrap")).replace(own, ""));
            [("main", main), ("inc", include), ("m", macros), ("base", format!("{import}A{base}Z"))]
                .map(|(name, source)| (name.to_owned(), source))
                .to_vec()
        },
    )
}

proptest! {
    #![proptest_config(crate::cases(400))]

    #[test]
    fn expressions_render_the_same(e in expression(), input in input(), escape in any::<bool>()) {
        let macros = "{% macro wrap(p, q='<q>') %}[{{ p }}{{ q }}{{ s }}]{% endmacro %}\
                      {% macro twice(p) %}{{ self::wrap(p=p) }}{% endmacro %}";
        let main = |body: String| {
            let own = "{% import 'm' as m %}{% macro own(p) %}({{ p }}){% endmacro %}";
            vec![("m".to_owned(), macros.to_owned()), ("main".to_owned(), format!("{own}{body}"))]
        };
        same(&main(format!("{{{{ {e} }}}}")), &input, escape)?;
        same(&main(format!("{{% if {e} %}}yes{{% else %}}no{{% endif %}}")), &input, escape)?;
        same(&main(format!("{{% set q = {e} %}}{{{{ q }}}}|{{{{ q == {e} }}}}")), &input, escape)?;
        same(&main(format!("{{% for x in l %}}{{{{ {e} }}}};{{% endfor %}}")), &input, escape)?;
    }

    #[test]
    fn templates_render_the_same(templates in templates(), input in input(), escape in any::<bool>()) {
        same(&templates, &input, escape)?;
    }
}
