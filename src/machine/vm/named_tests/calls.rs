//! Calls by name.

use super::*;
use crate::bytecode::{Bundle, Control, Entry, encode};

#[test]
fn a_chunk_is_called_by_a_computed_name_and_its_output_is_output_or_text() {
    let program = program(
        |e| {
            input(e, "name");
            input(e, "data");
            e.call_named(1, Delivery::Output);
            e.text("|");
            input(e, "name");
            input(e, "data");
            e.call_named(1, Delivery::Text);
            e.write(EscapeMode::Plain);
        },
        &[("b", &|e| write_attr(e, 0, "x")), ("a", &|e| e.text("A"))],
    );
    assert_eq!(render(&program, r#"{"name": "b", "data": {"x": "1"}}"#).unwrap(), "1|1");
    assert_eq!(render(&program, r#"{"name": "a", "data": {"x": "1"}}"#).unwrap(), "A|A");
    let error = render(&program, r#"{"name": "c", "data": 1}"#).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::UnknownTemplate, "template `c` not found"));
    assert_eq!(error.available, Some(vec!["a".into(), "b".into()]));
    assert_eq!(render(&program, r#"{"name": 1, "data": 1}"#).unwrap_err().code, Code::TypeMismatch);
    let listing = disassemble(&program);
    assert!(listing.contains("call_named 2 output") && listing.contains("call_named 2 text"), "{listing}");
    assert!(listing.contains("name \"a\" chunk \"a\"\nname \"b\" chunk \"b\""), "{listing}");
}

#[test]
fn a_call_site_in_a_loop_calls_chunks_of_several_names() {
    let program = program(
        |e| {
            let (slot, empty) = (e.new_slot(), e.new_label());
            input(e, "names");
            let mark = e.begin_loop(1, slot, empty);
            e.load_slot(slot);
            e.load_slot(slot);
            e.call_named(1, Delivery::Output);
            e.end_loop(mark);
            e.bind(empty);
        },
        &[
            ("a", &|e| e.text("A")),
            ("b", &|e| {
                e.write_path(&path("b", &[RootSpec::Slot(0)]), EscapeMode::Plain);
            }),
        ],
    );
    assert_eq!(render(&program, r#"{"names": ["a", "b", "b", "a", "b"]}"#).unwrap(), "AbbAb");
}

/// Returns a chunk that calls itself `n` times, counting down its argument.
fn countdown(delivery: Delivery) -> Program {
    program(
        move |e| {
            include(e, "down", delivery, |e| input(e, "n"));
            if delivery == Delivery::Text {
                e.write(EscapeMode::Plain);
            }
        },
        &[("down", &move |e| {
            let end = e.new_label();
            e.load_slot(0);
            e.jump(Op::JumpUnless, end);
            include(e, "down", delivery, |e| {
                e.load_slot(0);
                call(e, "less", 1);
            });
            if delivery == Delivery::Text {
                e.write(EscapeMode::Plain);
            }
            e.bind(end);
            e.text(".");
        })],
    )
}

#[test]
fn calls_nest_up_to_their_limits_and_not_on_the_host_stack() {
    let (output, text) = (countdown(Delivery::Output), countdown(Delivery::Text));
    let within =
        |program: &Program, n: usize| rendered(program, &format!("{{\"n\": {n}}}"), &Limits::default(), &mut NoHooks);
    assert_eq!(within(&output, 9_999).unwrap().len(), 10_000);
    let error = within(&output, 10_000).unwrap_err();
    assert_eq!(error.code, Code::LimitRecursion);
    assert!(error.message.contains("10,000 calls"), "{error}");
    assert!((2..=20).contains(&error.labels.len()), "{}", error.labels.len());
    assert_eq!(within(&text, 999).unwrap().len(), 1_000);
    let error = within(&text, 1_000).unwrap_err();
    assert_eq!(error.code, Code::LimitRecursion);
    assert!(error.message.contains("1,000 calls"), "{error}");
    assert_eq!(error.notes, ["the name is `down`", "984 calls between them are not listed"]);
}

#[test]
fn a_call_with_other_arguments_than_parameters_is_an_error() {
    let program = program(
        |e| {
            text(e, "a");
            e.call_named(0, Delivery::Output);
        },
        &[("a", &|e| e.text("A"))],
    );
    assert_eq!(render(&program, "{}").unwrap_err().code, Code::CorruptProgram);
}

#[test]
fn an_error_in_a_called_chunk_has_the_calls_and_may_be_absorbed() {
    let fails = |e: &mut Emitter<'_>| write_attr(e, 0, "none");
    let failing = program(|e| include(e, "a", Delivery::Output, |e| input(e, "m")), &[("a", &fails)]);
    let error = render(&failing, r#"{"m": {}}"#).unwrap_err();
    assert_eq!(error.labels.iter().map(|label| label.span.start).collect::<Vec<_>>(), [2, 0]);
    let protected = program(
        |e| {
            let protect = e.begin_protect();
            include(e, "a", Delivery::Text, |e| input(e, "m"));
            e.end_protect(protect);
            e.op(Op::Pop, &[]);
            include(e, "b", Delivery::Output, |e| input(e, "m"));
        },
        &[
            ("a", &|e| {
                e.text("lost");
                include(e, "fails", Delivery::Output, |e| e.load_slot(0));
            }),
            ("b", &|e| e.text("kept")),
            ("fails", &fails),
        ],
    );
    assert_eq!(render(&protected, r#"{"m": {}}"#).unwrap(), "kept");
}

#[test]
fn names_survive_an_artifact() {
    let program = countdown(Delivery::Text);
    let entry = Entry { name: "t", program: &program, escape: false, executable: false, reaches: &[], residual: None };
    for strip in [false, true] {
        let bundle = Bundle::open(encode(&[entry], strip).unwrap()).unwrap();
        let loaded = bundle.program("t").unwrap();
        assert_eq!(loaded.named_chunks().collect::<Vec<_>>(), [("down", 1)]);
        assert_eq!((loaded.named_chunk("down"), loaded.named_chunk("up")), (Some(1), None));
        assert!(loaded.start().mutable);
        assert_eq!(render(&loaded, r#"{"n": 3}"#).unwrap(), "....");
    }
}

#[test]
fn the_rows_of_the_instructions_say_that_they_call() {
    assert_eq!((Op::CallNamed.info().control, Op::CallMade.info().control), (Control::Call, Control::MayCall));
    let takes = |dialect: &Dialect| Op::CallNamed.info().dialects.contains(*dialect);
    assert_eq!(Dialect::ALL.into_iter().filter(takes).collect::<Vec<_>>(), [DIALECT]);
}
