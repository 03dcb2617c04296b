//! Generated templates of `helm`: text, output, conditions, loops, variables, templates that call others, changed maps.

use dropforge::engine::{Dialect, Engine, UnknownNames};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use super::{machines, specialise};

const ATOMS: &[&str] = &[
    ".s",
    ".n",
    ".t",
    ".e",
    ".l",
    ".m",
    ".m.a",
    ".m.b.c",
    ".gone",
    ".m.gone",
    "$.s",
    "$.m.a",
    "(.gone).x",
    "\"x\"",
    "\"<no value>\"",
    "1",
    "2.5",
    "true",
    "nil",
    ".",
];

/// Patterns of expressions. `A` and `B` are replaced.
const CALLS: &[&str] = &[
    "A",
    "(eq A B)",
    "(ne A B)",
    "(lt A B)",
    "(and A B)",
    "(or A B)",
    "(not A)",
    "(default A B)",
    "(print A B)",
    "(printf \"%v|%s\" A B)",
    "(quote A B)",
    "(A | quote)",
    "(A | toJson)",
    "(A | toYaml | indent 2)",
    "(len A)",
    "(index .l A)",
    "(list A B)",
    "(dict \"k\" A \"j\" B)",
    "(dict \"k\" A).k",
    "(ternary A B true)",
    "(add A 1)",
    "(int A)",
    "(kindOf A)",
    "(hasKey .m A)",
    "(get .m \"a\")",
    "(coalesce A B)",
    "(A | default B)",
    "(include \"u\" A)",
    "(include (print \"u\" \"\") A)",
    "(tpl \"<{{ . }}>\" A)",
    "(upper A)",
    "(trunc 1 A)",
    "(A | toString | b64enc)",
    "(merge (dict \"k\" A) .m)",
];

/// Patterns of nodes. `E` is an expression, `T` a body.
const NODES: &[&str] = &[
    "text \n",
    "{{ E }}",
    "{{- E -}}",
    "{{ if E }}T{{ end }}",
    "{{ if E }}T{{ else if E }}T{{ else }}T{{ end }}",
    "{{ with E }}T{{ else }}T{{ end }}",
    "{{ with $v := E }}{{ $v }}T{{ end }}",
    "{{ range .l }}T{{ end }}",
    "{{ range $i, $x := .m }}{{ $i }}{{ $x }}T{{ else }}T{{ end }}",
    "{{ range 2 }}T{{ break }}T{{ end }}",
    "{{ range .l }}{{ if E }}{{ continue }}{{ end }}T{{ end }}",
    "{{ $x := E }}{{ $x }}T",
    "{{ $y := E }}{{ if E }}{{ $y = E }}{{ end }}{{ $y }}",
    "{{ template \"u\" E }}",
    "{{ template \"v\" . }}",
    "{{/* note */}}",
    "{{ block \"w\" E }}{{ . }}{{ end }}",
];

/// Nodes that change maps.
const CHANGES: &[&str] = &[
    "{{ $_ := set .m \"a\" E }}",
    "{{ $_ := set .m \"new\" E }}",
    "{{ $_ := unset .m \"b\" }}",
    "{{ $d := dict \"in\" .m }}{{ $_ := set $d.in \"z\" E }}",
    "{{ $_ := mergeOverwrite .m (dict \"b\" E) }}",
];

fn expression() -> BoxedStrategy<String> {
    let leaf = select(ATOMS).prop_map(str::to_owned);
    leaf.prop_recursive(3, 8, 2, |inner| {
        (select(CALLS), inner.clone(), inner).prop_map(|(call, a, b)| filled(call, 'A', &[a]).replace('B', &b))
    })
    .boxed()
}

/// Replaces each `mark` that is a word of its own by the next of `parts`, beginning anew after the last.
fn filled(pattern: &str, mark: char, parts: &[String]) -> String {
    let mut next = parts.iter().cycle();
    let (mut out, mut before) = (String::new(), ' ');
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let alone = !before.is_alphanumeric() && !rest.peek().is_some_and(|next| next.is_alphanumeric());
        let is_mark = c == mark && (alone || mark == 'T');
        match is_mark.then(|| next.next()).flatten() {
            Some(part) => out.push_str(part),
            None => out.push(c),
        }
        before = c;
    }
    out
}

fn body(changes: bool) -> BoxedStrategy<String> {
    let nodes: Vec<&str> = NODES.iter().chain(if changes { CHANGES } else { &[] }).copied().collect();
    let leaf = (select(nodes.clone()), vec(expression(), 3))
        .prop_map(|(node, with)| filled(&filled(node, 'T', &["t".into()]), 'E', &with));
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let node = (select(nodes.clone()), vec(inner, 1..3), vec(expression(), 3));
        node.prop_map(|(node, bodies, with)| filled(&filled(node, 'E', &with), 'T', &bodies))
    })
    .boxed()
}

/// A template with two others that it may call.
fn template(changes: bool) -> impl Strategy<Value = String> {
    let names = |text: &str| text.replace("{{ block \"w\"", "{{ with").replace("template \"v\" .", "template \"u\" .");
    let parts = (body(changes), body(changes), vec(body(changes), 1..4), any::<bool>());
    parts.prop_map(move |(u, v, main, is_recursive)| {
        // Without recursion, `u` calls nothing.
        let u = if is_recursive { names(&u) } else { "[{{ . }}]".to_owned() };
        // A name is defined once.
        let main = main
            .iter()
            .enumerate()
            .map(|(at, text)| if at == 0 { text.replacen("\"w\"", "\"w1\"", 1) } else { names(text) });
        let main: String = main.map(|text| text.replace("block \"w\"", "with")).collect();
        format!("{{{{ define \"u\" }}}}{u}{{{{ end }}}}{{{{ define \"v\" }}}}{}{{{{ end }}}}{main}", names(&v))
    })
}

fn inputs() -> impl Strategy<Value = Json> {
    let scalar = || {
        select(vec![
            json!("a"),
            json!(""),
            json!(1.5),
            json!(3.0),
            json!(null),
            json!(true),
            json!([1.0]),
            json!({"c": "d"}),
        ])
    };
    (scalar(), scalar(), vec(scalar(), 0..3), scalar(), scalar())
        .prop_map(|(s, n, l, a, b)| json!({"s": s, "n": n, "t": true, "e": "", "l": l, "m": {"a": a, "b": b}}))
}

fn engine(text: &str) -> Engine {
    Engine::builder().limits(machines::limits()).unknown_names(UnknownNames::Late).template("main", text).build()
}

proptest! {
    #![proptest_config(crate::cases(400))]

    #[test]
    fn machines_agree(text in template(true), inputs in inputs()) {
        machines::agree(&engine(&text), Dialect::Helm, &inputs)?;
    }

    #[test]
    fn residuals_agree(text in any::<bool>().prop_flat_map(template), inputs in inputs(), bits in vec(any::<u8>(), 0..12)) {
        let engine = engine(&text);
        if let Ok(template) = engine.load(Dialect::Helm, "main") {
            specialise::agree(&template, &inputs, &bits)?;
        }
    }
}

#[test]
fn residuals_of_loops_over_known_lists_of_maps_agree() {
    let inputs = json!({"l": [{"c": "d"}, {"c": "e"}], "n": 1});
    for text in [
        "{{ range .l }}{{ .c }}{{ .gone }}{{ end }}",
        "{{ range $i, $x := .l }}{{ $i }}{{ quote $x }}{{ .n }}{{ end }}",
    ] {
        let template = engine(text).load(Dialect::Helm, "main").expect("a template");
        for bits in [&[][..], &[0], &[1], &[2], &[3], &[255]] {
            specialise::agree(&template, &inputs, bits).expect("the same text");
        }
    }
}

#[test]
fn most_generated_templates_compile_and_many_render() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut compiled, mut rendered) = (0, 0);
    for _ in 0..100 {
        let text = template(true).new_tree(&mut runner).expect("a template").current();
        let inputs = inputs().new_tree(&mut runner).expect("inputs").current();
        let Ok(template) = engine(&text).load(Dialect::Helm, "main") else { continue };
        compiled += 1;
        rendered += usize::from(template.render(&inputs).is_ok());
    }
    assert!(compiled > 60 && rendered > 10, "{compiled} of 100 compile, {rendered} render");
}
