//! Specialised programs and analyses.

use super::*;
use crate::bytecode::analysis::missing;
use crate::specialise::{Known, specialise};
use dropforge_value::{Data, ReadPaths};

/// Returns a program that tests an input, and calls one of two chunks by name with another input.
fn choosing(mutable: bool) -> Program {
    let main = |e: &mut Emitter<'_>| {
        let (other, end) = (e.new_label(), e.new_label());
        input(e, "on");
        e.jump(Op::JumpUnless, other);
        include(e, "a", Delivery::Text, |e| input(e, "m"));
        e.write(EscapeMode::Plain);
        e.jump(Op::Jump, end);
        e.bind(other);
        include(e, "b", Delivery::Output, |e| input(e, "m"));
        e.bind(end);
        e.text(".");
    };
    program_that(mutable, main, &[("a", &|e| write_attr(e, 0, "x")), ("b", &|e| write_attr(e, 0, "y"))])
}

#[test]
fn a_specialised_program_calls_the_same_chunks() {
    let (arena, limits) = (Arena::new(), Limits::default());
    let json = r#"{"on": 1, "m": {"x": "X", "y": "Y"}}"#;
    for (on, expected) in [(1, "X."), (0, "Y.")] {
        let known = arena.map(&[("on", Value::Int(on))]);
        let known = Known::of_map(known.as_map().unwrap());
        let program = choosing(false);
        let linked: Linked = registry().link(program.imports()).unwrap();
        let residual = specialise(&Toy, &program, &linked, &known, &limits).unwrap();
        assert!(!disassemble(&residual).contains("jump"), "{}", disassemble(&residual));
        let json = json.replace("\"on\": 1", &format!("\"on\": {on}"));
        assert_eq!(render(&residual, &json).unwrap(), expected);
        assert_eq!(render(&program, &json).unwrap(), expected);
        // Nothing read through a map stays known if maps change.
        assert!(specialise(&Toy, &choosing(true), &linked, &known, &limits).is_none());
        assert!(specialise(&Toy, &making(Delivery::Text), &linked, &known, &limits).is_none());
    }
}

#[test]
fn analyses_follow_known_names_and_know_nothing_of_changed_maps() {
    let inputs = serde_json::from_str::<Data>(r#"{"on": true, "m": {"y": 1}}"#).unwrap().into_map().unwrap();
    let program = choosing(false);
    let found = missing(&program, &inputs, false, &mut 1_000);
    assert_eq!(found.iter().map(|miss| miss.path).collect::<Vec<_>>(), ["x"]);
    assert!(missing(&choosing(true), &inputs, false, &mut 1_000).is_empty());
    let reads = |program: &Program| {
        let mut paths = ReadPaths::default();
        program.add_reads(&mut paths);
        (paths.reads([Some("m"), Some("x")]), paths.reads([Some("m"), Some("z")]), paths.reads([Some("n")]))
    };
    assert_eq!(reads(&program), (true, false, false));
    // A template made at render time may read anything of what it is given.
    assert!(!DIALECT.has_inputs_in_named_chunks());
    assert_eq!(reads(&making(Delivery::Text)), (false, false, false));
    let mut paths = ReadPaths::default();
    making(Delivery::Text).add_reads(&mut paths);
    assert!(paths.reads([Some("data"), Some("z")]) && paths.reads([Some("text")]) && !paths.everything);
    // One of a computed name is one of those that there are.
    let computed = program_that(
        false,
        |e| {
            input(e, "name");
            input(e, "m");
            e.call_named(1, Delivery::Output);
        },
        &[("a", &|e| write_attr(e, 0, "x"))],
    );
    assert_eq!(reads(&computed), (true, false, false));
}
