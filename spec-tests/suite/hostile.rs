//! Hostile templates and inputs. Each ends in a result or a coded error, on a thread with 256 KiB of stack and within
//! the memory limits.

use std::thread;

use dropforge::diagnostics::Diagnostics;
use dropforge::engine::{Dialect, Engine};
use dropforge::limits::Limits;
use serde_json::{Value, json};

const STACK: usize = 256 << 10;

/// Renders on a small stack. Returns the length of the output or the code of the first error.
fn outcome(templates: &[(&str, String)], context: &Value) -> Result<usize, String> {
    let templates: Vec<(String, String)> =
        templates.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
    let context = context.clone();
    let work = move || -> Result<usize, String> {
        let limits = Limits { fuel: 5_000_000, memory: 64 << 20, output_bytes: 16 << 20, ..Limits::default() };
        let builder = Engine::builder().limits(limits);
        let entry = templates[0].0.clone();
        let engine = templates.into_iter().fold(builder, |builder, (name, text)| builder.template(name, text)).build();
        let code = |errors: Diagnostics| errors.first().map_or("none", |error| error.code.name()).to_owned();
        let template = engine.load(Dialect::Tera, &entry).map_err(code)?;
        template.render(&context).map(|text| text.len()).map_err(|error| error.code.name().to_owned())
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("no panic")
}

fn one(template: impl Into<String>) -> Result<usize, String> {
    outcome(&[("t", template.into())], &json!({"x": "ab", "l": [1, 2], "a": {"a": 1}, "n": 1}))
}

fn limit(code: &str) -> Result<usize, String> {
    Err(format!("limit.{code}"))
}

#[test]
fn chains_of_a_hundred_thousand_are_flat() {
    let n = 100_000;
    assert_eq!(one(format!("{{{{ 0{} }}}}", " + 1".repeat(n))), Ok(6));
    assert_eq!(one(format!("{{{{ n{} }}}}", " + n".repeat(n))), Ok(6));
    assert_eq!(one(format!("{{{{ 'a'{} }}}}", " ~ 'a'".repeat(n))), Ok(n + 1));
    assert_eq!(one(format!("{{{{ true{} }}}}", " and true".repeat(n))), Ok(4));
    assert_eq!(one(format!("{{{{ false{} }}}}", " or n".repeat(n))), Ok(4));
    assert_eq!(one(format!("{{{{ x{} }}}}", " | upper".repeat(n))), Ok(2));
    assert_eq!(one(format!("{{{{ a{} }}}}", ".a".repeat(n / 2))), Err("name.undefined_variable".into()));
    assert_eq!(one(format!("{{{{ a{} }}}}", ".a".repeat(n))), limit("code"));
    assert_eq!(one(format!("{{% if false %}}{}{{% endif %}}", "{% elif false %}".repeat(n))), Ok(0));
    assert_eq!(one("{% set y = 1 %}".repeat(n)), Ok(0));
    assert_eq!(one(format!("{{{{ [{}1] }}}}", "1, ".repeat(n))).map(|len| len > n), Ok(true));
}

#[test]
fn nesting_ends_in_the_depth_limit() {
    let n = 100_000;
    let nested = |open: &str, middle: &str, close: &str| one(format!("{}{middle}{}", open.repeat(n), close.repeat(n)));
    assert_eq!(one(format!("{{{{ {}1{} }}}}", "(".repeat(n), ")".repeat(n))), limit("depth"));
    assert_eq!(one(format!("{{{{ {} }}}}", "(".repeat(n))), limit("depth"));
    assert_eq!(one(format!("{{{{ {}a{} }}}}", "a[".repeat(n), "]".repeat(n))), limit("depth"));
    assert_eq!(nested("{% if true %}", "x", "{% endif %}"), limit("depth"));
    assert_eq!(nested("{% for y in l %}", "x", "{% endfor %}"), limit("depth"));
    assert_eq!(nested("{% filter upper %}", "x", "{% endfilter %}"), limit("depth"));
    assert_eq!(nested("{% if true %}", "", ""), limit("depth"));
    let blocks: String = (0..n).map(|at| format!("{{% block b{at} %}}")).collect();
    assert_eq!(one(blocks + &"{% endblock %}".repeat(n)), limit("depth"));
    assert_eq!(one(format!("{{{{ {}1{} }}}}", "range(end=".repeat(n), ")".repeat(n))), limit("depth"));
}

#[test]
fn nesting_just_below_the_limit_compiles_and_renders_on_a_small_stack() {
    let n = Limits::default().nesting - 8;
    assert_eq!(one(format!("{{{{ {}1{} }}}}", "(".repeat(n), " + 1)".repeat(n))).map(|len| len > 0), Ok(true));
    let nested = |open: &str, close: &str| one(format!("{}x{}", open.repeat(n), close.repeat(n)));
    assert_eq!(nested("{% if true %}", "{% endif %}"), Ok(1));
    assert_eq!(nested("{% filter upper %}", "{% endfilter %}"), Ok(1));
    assert_eq!(nested("{% for y in [1] %}", "{% endfor %}"), Ok(1));
}

#[test]
fn doubling_text_is_a_memory_error() {
    let doubling = "{% set y = 'xxxxxxxxxxxxxxxx' %}".to_owned() + &"{% set y = y ~ y %}".repeat(40) + "{{ y }}";
    assert!(matches!(one(doubling).as_ref().map_err(String::as_str), Err("limit.memory" | "limit.output_bytes")));
    let replacing = "{% set y = 'aaaaaaaa' %}".to_owned() + &"{% set y = y | replace(from='a', to=y) %}".repeat(10);
    assert_eq!(one(replacing), limit("memory"));
    let indenting =
        "{% set p = 'pppppppppppppppp' %}".to_owned() + &"{% set p = p | indent(prefix=p, first=true) %}".repeat(40);
    assert_eq!(one(indenting), limit("memory"));
}

#[test]
fn values_that_share_parts_do_not_unfold_without_bound() {
    let tree = "{% set y = [1] %}".to_owned() + &"{% set y = [y, y] %}".repeat(60);
    let bounded = |end: &str| one(tree.clone() + end).expect_err("a limit").starts_with("limit.");
    assert!(bounded("{{ y }}"));
    assert!(bounded("{{ y | json_encode }}"));
    assert!(bounded("{% set z = y %}{% if y == z %}{% endif %}"));
    assert_eq!(one("{% set y = [1] %}".to_owned() + &"{% set y = [y] %}".repeat(500)), limit("depth"));
}

#[test]
fn long_work_ends_in_the_fuel_limit() {
    assert_eq!(one("{% for i in range(end=1000000000000) %}{% endfor %}"), limit("fuel"));
    let loops = "{% for a in range(end=9999) %}".repeat(4) + &"{% endfor %}".repeat(4);
    assert_eq!(one(loops), limit("fuel"));
    assert_eq!(one("{{ range(end=10, step_by=0) }}").map_err(|code| code.starts_with("function.")), Err(true));
}

#[test]
fn recursion_ends_in_the_recursion_limit() {
    let endless = "{% macro f(n) %}{{ self::f(n=n + 1) }}{% endmacro %}{{ self::f(n=1) }}";
    assert_eq!(one(endless), limit("recursion"));
    assert_eq!(one("{% include 't' %}"), limit("recursion"));
    let mutual = [("a", "{% include 'b' %}".to_owned()), ("b", "{% include 'a' %}".to_owned())];
    assert_eq!(outcome(&mutual, &json!({})), limit("recursion"));
    let extends = [("a", "{% extends 'b' %}".to_owned()), ("b", "{% extends 'a' %}".to_owned())];
    assert_eq!(outcome(&extends, &json!({})), Err("template.inheritance_cycle".into()));
    let blocks = [
        ("a", "{% extends 'b' %}{% block p %}{% block q %}{{ super() }}{% endblock %}{% endblock %}".to_owned()),
        ("b", "{% block q %}{% block p %}{% endblock %}{% endblock %}".to_owned()),
    ];
    assert!(outcome(&blocks, &json!({})).is_ok_and(|len| len == 0) || outcome(&blocks, &json!({})).is_err());
}

#[test]
fn included_templates_that_fan_out_stay_bounded() {
    let mut templates: Vec<(String, String)> =
        (0..30).map(|at| (format!("t{at}"), format!("{{% include 't{0}' %}}{{% include 't{0}' %}}", at + 1))).collect();
    templates.push(("t30".to_owned(), "x".to_owned()));
    let templates: Vec<_> = templates.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    assert!(outcome(&templates, &json!({})).expect_err("a limit").starts_with("limit."));
}

#[test]
fn inputs_that_nest_deep_are_refused() {
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    assert!(outcome(&[("t", "{{ x }}".into())], &json!({ "x": deep })).is_ok());
    for _ in 0..20 {
        deep = json!([deep]);
    }
    assert_eq!(outcome(&[("t", "{{ x }}".into())], &json!({ "x": deep })), Err("limit.depth".into()));
}

#[test]
fn every_truncation_and_substitution_of_a_template_ends_in_a_result_or_an_error() {
    let sample = "{% import 'm' as m %}{% macro f(a, b=1) %}{{ a }}{% endmacro %}a{# c #}{% raw %}{{{% endraw %}\
        {%- set é = [1, 'x'] -%}{% for k, v in o %}{{ loop.index }}{{ o[k].z | default(value=1.5) }}{% else %}\
        {% endfor %}{% if not a is defined and 1 + 2 * n > 3 or 'x' in x %}{{ self::f(a='q' ~ n) }}{% endif %}";
    for cut in (0..sample.len()).filter(|&cut| sample.is_char_boundary(cut)) {
        let _ = one(&sample[..cut]);
        for byte in ['\0', '\n', '"', '$', '{', '}', '%', '-', 'é'] {
            let rest = sample[cut..].chars().skip(1).collect::<String>();
            let _ = one(format!("{}{byte}{rest}", &sample[..cut]));
        }
    }
}

#[test]
fn a_file_of_nothing_but_errors_ends() {
    let unexpected = || Err("syntax.unexpected_token".to_owned());
    assert_eq!(one("{##}".repeat(1_000)), unexpected());
    assert_eq!(one("{% import %}".repeat(100_000)), unexpected());
    assert_eq!(one("{{ ) }}".repeat(100_000)), unexpected());
    assert_eq!(one("{{ . }}".repeat(100_000)), Err("syntax.unknown_character".to_owned()));
    assert_eq!(one("{% if a b %}".repeat(1_000)), unexpected());
}

#[test]
fn a_source_of_more_than_the_limit_is_refused() {
    assert_eq!(one("x".repeat(Limits::default().source_bytes + 1)), limit("source_bytes"));
    assert_eq!(one("x".repeat(Limits::default().source_bytes)), Ok(Limits::default().source_bytes));
}
