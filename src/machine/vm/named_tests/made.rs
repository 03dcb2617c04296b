//! Templates made at render time.

use super::*;
use crate::vm::{Space, answer, value};

#[test]
fn a_made_template_sees_the_names_of_its_maker_and_its_own_first() {
    for delivery in Delivery::ALL {
        let program = making(delivery);
        for (text, expected) in [
            ("plain", "[plain]"),
            ("", "[]"),
            ("1<a>2<.x>3", "[1A2X3]"),
            ("<b>", "[AX]"),
            // A chunk of the maker sees the names of the running template.
            ("<=a:B><a><b>", "[BBX]"),
            ("<a><^<=a:B><b><^<a><b>", "[ABXBBX]"),
            ("<a><^<a><^plain", "[AAplain]"),
        ] {
            let json = serde_json::json!({"text": text, "data": {"x": "X"}}).to_string();
            assert_eq!(render(&program, &json).unwrap(), expected, "{text}");
        }
    }
}

#[test]
fn errors_of_made_templates_have_their_own_place_and_the_calls() {
    let program = making(Delivery::Output);
    let error = |text: &str| {
        let json = serde_json::json!({"text": text, "data": {"x": "X"}}).to_string();
        let error = rendered(&program, &json, &Limits::default(), &mut NoHooks).unwrap_err();
        let places = error
            .labels
            .iter()
            .map(|label| format!("{}:{}", label.source.name(), label.source.position(label.span.start)));
        (error.code, places.collect::<Vec<_>>())
    };
    assert_eq!(error("ok\n<.none>"), (Code::UndefinedVariable, vec!["made:2:2".into(), "toy:1:1".into()]));
    assert_eq!(error("ok\n<none>"), (Code::UnknownTemplate, vec!["made:2:2".into(), "toy:1:1".into()]));
    assert_eq!(error("ok\n<x"), (Code::Unterminated, vec!["made:2:2".into(), "toy:1:1".into()]));
    let (code, places) = error("<^\n<^\n<.none>");
    assert_eq!((code, places.len()), (Code::UndefinedVariable, 4));
    // One without names of its own is compiled once, however often it makes itself.
    let before = COMPILED.get();
    let (code, places) = error("<self>");
    assert_eq!(COMPILED.get() - before, 1);
    assert!(code == Code::LimitRecursion && places.len() <= 20, "{places:?}");
    let json = r#"{"text": 1, "data": 1}"#;
    assert_eq!(render(&program, json).unwrap_err().code, Code::TypeMismatch);
}

#[test]
fn a_text_is_compiled_once_for_all_renders_of_a_session_and_always_charged() {
    let (program, limits) = (making(Delivery::Text), Limits::default());
    let linked: Linked = registry().link(program.imports()).unwrap();
    let mut session = Session::new();
    let mut render = |text: &str| {
        let arena = Arena::new();
        let inputs =
            Inputs::new(arena.map(&[("text", arena.text(text)), ("data", arena.map(&[("x", arena.text("X"))]))]));
        let budgets = Cell::new(crate::function::Budgets::of(&limits));
        let what = Run {
            program: &program,
            linked: &linked,
            inputs,
            limits: &limits,
            capabilities: Capabilities::NONE,
            budgets: Some(&budgets),
        };
        let (mut out, before) = (String::new(), COMPILED.get());
        run::<Toy, _>(&mut session, what, &mut out, &mut NoHooks).unwrap();
        (out, COMPILED.get() - before, budgets.get())
    };
    let (first, again) = (render("<a><.x>"), render("<a><.x>"));
    assert_eq!((first.0.as_str(), first.1, again.1), ("[AX]", 1, 0));
    assert_eq!((&first.0, first.2), (&again.0, again.2));
    // More texts than are kept: the oldest is compiled again.
    (0..4_200).for_each(|n| assert_eq!(render(&format!("<a>{n}")).1, 1));
    assert_eq!(render("<a>4199").1, 0);
    assert_eq!(render("<a><.x>").1, 1);
}

#[test]
fn a_result_that_borrows_from_a_made_template_lives_as_long_as_the_space() {
    let program = making(Delivery::Text);
    let (linked, limits, mut space): (Linked, _, _) =
        (registry().link(program.imports()).unwrap(), Limits::default(), Space::new());
    for round in 0..3 {
        space.reset();
        let data = space.arena().map(&[]);
        for n in 0..20 {
            let inputs = space.arena().map(&[("text", space.arena().text(&format!("<a>{round}-{n}"))), ("data", data)]);
            let what = Run {
                program: &program,
                linked: &linked,
                inputs: Inputs::new(inputs),
                limits: &limits,
                capabilities: Capabilities::NONE,
                budgets: None,
            };
            assert!(matches!(value::<Toy>(&space, what), Ok(Value::Undefined)));
        }
    }
    let mut session = Session::new();
    let inputs = Inputs::default();
    let what = Run {
        program: &program,
        linked: &linked,
        inputs,
        limits: &limits,
        capabilities: Capabilities::NONE,
        budgets: None,
    };
    assert!(answer(&Toy, &mut session, what, None, &mut NoHooks).is_err());
}
