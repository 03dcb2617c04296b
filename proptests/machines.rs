//! Differences between machines: every template renders the same, or fails with the same error, on the trusting machine, on
//! its twin that checks every index, and after a round trip through an artifact; a recording knows where each byte comes
//! from; and constants fold to what they are when computed.

use dropforge::bytecode::{Entry, encode};
use dropforge::engine::{Dialect, Engine, Template, UnknownNames};
use dropforge::limits::Limits;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};

use super::{hcl_syntax, tera_render};

/// The text of a render, or its error as printed.
fn rendered(template: &Template, inputs: &Json, checked: bool) -> Result<String, String> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(inputs).expect("inputs"));
    let (mut session, mut out) = (Session::new(), String::new());
    let outcome = match checked {
        true => template.render_checked(&mut session, inputs, &mut out),
        false => template.render_inputs(&mut session, inputs, &mut out),
    };
    outcome.map(|()| out).map_err(|error| error.render(false))
}

pub(super) fn limits() -> Limits {
    Limits { fuel: 200_000, memory: 8 << 20, output_bytes: 1 << 20, ..Limits::default() }
}

/// Compares the renders of the template `main` of an engine.
pub(super) fn agree(engine: &Engine, dialect: Dialect, inputs: &Json) -> Result<(), TestCaseError> {
    let Ok(template) = engine.load(dialect, "main") else { return Ok(()) };
    let text = rendered(&template, inputs, false);
    prop_assert_eq!(&text, &rendered(&template, inputs, true), "the checking machine");
    let entry = Entry {
        name: template.name(),
        program: template.program(),
        escape: template.escapes(),
        executable: false,
        reaches: template.reaches(),
        residual: None,
    };
    let bytes = encode(&[entry], false).expect("an artifact");
    let artifact = engine.open(bytes.clone()).expect("it opens");
    let opened = artifact.template("main").expect("it is there");
    prop_assert_eq!(&text, &rendered(&opened, inputs, false), "an artifact");
    prop_assert_eq!(&text, &rendered(&opened, inputs, true), "an artifact on the checking machine");
    let again = Entry {
        name: opened.name(),
        program: opened.program(),
        escape: opened.escapes(),
        executable: false,
        reaches: opened.reaches(),
        residual: None,
    };
    prop_assert_eq!(bytes, encode(&[again], false).expect("an artifact"), "an artifact of an artifact");
    text.map_or(Ok(()), |text| has_origins(&template, inputs, &text))
}

/// Maximum number of characters whose origins are looked up.
const LOOKED_UP: usize = 300;

/// Checks that a recording knows the origin of every character of the output, and that text of a template is at its place.
fn has_origins(template: &Template, inputs: &Json, text: &str) -> Result<(), TestCaseError> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(inputs).expect("inputs"));
    let (recording, outcome) = template.record(&mut Session::new(), inputs);
    prop_assert!(outcome.is_ok(), "a recorded run fails");
    for (at, c) in text.char_indices().take(LOOKED_UP) {
        let why = recording.why(text, at);
        let Some(writer) = why.as_ref().and_then(|why| why.written.first()) else {
            return Err(TestCaseError::fail(format!("no origin of {c:?} at {at} of {text:?}")));
        };
        let (part, is_text) = (writer.source.slice(writer.span), why.as_ref().is_some_and(|why| why.is_text));
        // A literal may be escaped when it is compiled, and text of the template may have escapes.
        let escapes = ["&", "\\", "${", "%{"];
        let is_here = c.is_whitespace() || part.contains(c) || escapes.iter().any(|escape| text.contains(escape));
        // An expression of literals is text when it is compiled: `1 + 7`.
        let is_here = is_here || is_in_tag(writer.source.text(), writer.span.start as usize);
        prop_assert!(!is_text || is_here, "{c:?} at {at} of {text:?} is not in {part:?}");
    }
    Ok(())
}

/// Returns `true` if a tag is open before a byte of a template.
fn is_in_tag(template: &str, at: usize) -> bool {
    let before = template.get(..at).unwrap_or("");
    let open = ["{{", "${"].iter().filter_map(|open| before.rfind(open)).max();
    open.is_some_and(|open| before.rfind('}').is_none_or(|end| end < open))
}

fn engine(templates: &[(String, String)]) -> Engine {
    let builder = Engine::builder().limits(limits()).unknown_names(UnknownNames::Late);
    templates.iter().fold(builder, |builder, (name, text)| builder.template(name.as_str(), text.as_str())).build()
}

/// Values for the names of generated HCL expressions.
fn variables() -> Json {
    json!({
        "a": {"b": [{"c": 1}, {"c": 2}], "k": "v"}, "b": true, "c": false, "x": 2, "y": "s", "z": [1, 2, 3],
        "v": {"k": 1}, "k": "k",
    })
}

/// Values of the names in [`Constant::named`].
fn constants() -> Json {
    json!({"n0": 0, "n1": 1, "n2": 2, "n3": 7, "t": true, "f": false})
}

const NUMBERS: &[(&str, &str)] = &[("0", "n0"), ("1", "n1"), ("2", "n2"), ("7", "n3")];

/// An expression in two forms: of literals, which the compiler folds, and of names with the same values.
#[derive(Debug, Clone)]
struct Constant {
    literal: String,
    named: String,
}

impl Constant {
    /// Replaces `A` and `B` in a pattern.
    fn of(pattern: &str, a: &Constant, b: &Constant) -> Self {
        let with = |a: &str, b: &str| pattern.replace('A', a).replace('B', b);
        Self { literal: with(&a.literal, &b.literal), named: with(&a.named, &b.named) }
    }
}

fn number() -> BoxedStrategy<Constant> {
    let leaf = select(NUMBERS).prop_map(|(literal, named)| Constant { literal: literal.into(), named: named.into() });
    let steps = &["(A + B)", "(A - B)", "(A * B)", "(A / B)", "(A % B)"][..];
    leaf.prop_recursive(3, 12, 2, move |inner| {
        (select(steps), inner.clone(), inner).prop_map(|(pattern, a, b)| Constant::of(pattern, &a, &b))
    })
    .boxed()
}

/// A condition, with the operators of a language.
fn truth(steps: &'static [&'static str]) -> impl Strategy<Value = Constant> {
    let compare = select(&["A == B", "A != B", "A < B", "A >= B"][..]);
    let leaf = prop_oneof![
        (compare, number(), number()).prop_map(|(pattern, a, b)| Constant::of(pattern, &a, &b)),
        select(&[("true", "t"), ("false", "f")][..])
            .prop_map(|(literal, named)| Constant { literal: literal.into(), named: named.into() }),
    ];
    leaf.prop_recursive(3, 8, 2, move |inner| {
        (select(steps), inner.clone(), inner).prop_map(|(pattern, a, b)| Constant::of(pattern, &a, &b))
    })
}

/// Compares the renders of both forms of an expression. Errors differ in their excerpts.
fn folds(dialect: Dialect, form: &Constant) -> Result<(), TestCaseError> {
    let [literal, named] = [&form.literal, &form.named].map(|text| {
        let template = engine(&[("main".to_owned(), text.clone())]).load(dialect, "main");
        template.expect(text).render(&constants()).map_err(|error| error.code)
    });
    prop_assert_eq!(literal, named, "{} and {}", &form.literal, &form.named);
    Ok(())
}

const FIELDS: &[&str] =
    &["${params.a}", "${context.b}", "${params.none}", "${facts.c}", "'", " ", "x", "\"", "$", "\n"];

proptest! {
    #![proptest_config(crate::cases(300))]

    #[test]
    fn tera(templates in tera_render::templates(), input in tera_render::input()) {
        agree(&engine(&templates), Dialect::Tera, &input)?;
    }

    #[test]
    fn hcl(expression in hcl_syntax::expression(), before in "[a-z %$]{0,3}") {
        let text = format!("{before}${{{expression}}}");
        agree(&engine(&[("main".to_owned(), text)]), Dialect::Hcl, &variables())?;
    }

    #[test]
    fn folded_tera(a in number(), b in truth(&["A and B", "A or B"])) {
        for pattern in ["{{ A }}", "{% if B %}yes{{ A }}{% else %}{{ A }}{% endif %}", "{% if not B %}x{% endif %}"] {
            folds(Dialect::Tera, &Constant::of(pattern, &a, &b))?;
        }
    }

    #[test]
    fn folded_hcl(a in number(), b in truth(&["(A && B)", "(A || B)", "!(A)", "(A ? B : A)"])) {
        for pattern in ["${A}", "x${A}y", "${B}", "%{ if B }a${A}%{ else }b%{ endif }", "${B ? A : 0}", "${jsonencode([A, B])}"] {
            folds(Dialect::Hcl, &Constant::of(pattern, &a, &b))?;
        }
    }

    #[test]
    fn tower(fields in vec(select(FIELDS), 0..8), a in any::<String>(), shell in any::<bool>()) {
        let text = fields.concat();
        let engine = Engine::builder().limits(limits()).shell(shell).template("main", text.as_str()).build();
        let inputs = json!({"params": {"a": a, "none": null}, "context": {"b": 1.5}, "facts": {"c": true}});
        agree(&engine, Dialect::Tower, &inputs)?;
    }
}
