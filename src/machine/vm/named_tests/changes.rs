//! Changed maps.

use super::*;

#[test]
fn changes_of_a_map_are_seen_through_every_copy() {
    let program = program(
        |e| {
            let [map, list_slot] = [e.new_slot(), e.new_slot()];
            input(e, "m");
            e.op(Op::StoreSlot, &[map]);
            e.load_slot(map);
            call(e, "list", 1);
            e.op(Op::StoreSlot, &[list_slot]);
            write_attr(e, map, "x");
            e.load_slot(map);
            text(e, "x");
            text(e, "new");
            call(e, "set", 3);
            e.op(Op::Pop, &[]);
            write_attr(e, map, "x");
            // The same map through the input, a list, a chunk, a made template, and as a whole.
            let segments = [SegmentSpec::Attr("x", Span::default())];
            e.write_path(
                &PathSpec { name: "m.x", roots: &[RootSpec::Global("m")], segments: &segments },
                EscapeMode::Plain,
            );
            let segments = [SegmentSpec::Index(Span::default()), SegmentSpec::Attr("x", Span::default())];
            e.constant(Constant::Int(0));
            e.write_path(
                &PathSpec { name: "l[0].x", roots: &[RootSpec::Slot(list_slot)], segments: &segments },
                EscapeMode::Plain,
            );
            include(e, "x", Delivery::Output, |e| e.load_slot(map));
            text(e, "<.x>");
            e.load_slot(map);
            e.call_made(&MAKERS[0], 1, Delivery::Output);
            e.load_slot(list_slot);
            e.write(EscapeMode::Plain);
            // A map of the same shape is not changed.
            let segments = [SegmentSpec::Attr("x", Span::default())];
            e.write_path(
                &PathSpec { name: "o.x", roots: &[RootSpec::Global("o")], segments: &segments },
                EscapeMode::Plain,
            );
        },
        &[("x", &|e| write_attr(e, 0, "x"))],
    );
    let text = render(&program, r#"{"m": {"x": "old", "y": 1}, "o": {"x": "other", "y": 2}}"#).unwrap();
    assert_eq!(text, r#"oldnewnewnewnewnew[{"x":"new","y":1}]other"#);
}

#[test]
fn loops_and_reads_see_added_and_removed_entries() {
    let program = program(
        |e| {
            let (slots, empty) = (e.new_slots(2), e.new_label());
            for (function, key) in [("set", "c"), ("set", "a"), ("unset", "b"), ("unset", "none")] {
                input(e, "m");
                text(e, key);
                if function == "set" {
                    text(e, "+");
                }
                call(e, function, if function == "set" { 3 } else { 2 });
                e.op(Op::Pop, &[]);
            }
            input(e, "m");
            let mark = e.begin_loop(2, slots, empty);
            e.write_path(&path("k", &[RootSpec::Slot(slots)]), EscapeMode::Plain);
            e.write_path(&path("v", &[RootSpec::Slot(slots + 1)]), EscapeMode::Plain);
            e.end_loop(mark);
            e.bind(empty);
            input(e, "m");
            text(e, "b");
            call(e, "get", 2);
            e.write(EscapeMode::Plain);
        },
        &[],
    );
    assert_eq!(render(&program, r#"{"m": {"d": "4", "b": "2"}}"#).unwrap(), "a+c+d4null");
    assert_eq!(render(&program, r#"{"m": {}}"#).unwrap(), "a+c+null");
}

#[test]
fn every_map_that_is_made_is_another_one() {
    let program = program(
        |e| {
            let (a, b) = (e.new_slot(), e.new_slot());
            for slot in [a, b] {
                call(e, "dict", 0);
                e.op(Op::StoreSlot, &[slot]);
            }
            // Two empty maps of the inputs, too.
            for (load, value) in [(Some(a), "1"), (None, "2")] {
                match load {
                    Some(slot) => e.load_slot(slot),
                    None => input(e, "m"),
                }
                text(e, "x");
                text(e, value);
                call(e, "set", 3);
                e.op(Op::Pop, &[]);
            }
            [a, b].into_iter().for_each(|slot| {
                e.load_slot(slot);
                e.write(EscapeMode::Plain);
            });
            ["m", "n"].into_iter().for_each(|name| {
                input(e, name);
                e.write(EscapeMode::Plain);
            });
        },
        &[],
    );
    assert_eq!(render(&program, r#"{"m": {}, "n": {}}"#).unwrap(), r#"{"x":"1"}{}{"x":"2"}{}"#);
}

#[test]
fn a_pure_function_makes_another_map_each_time() {
    let program = program(
        |e| {
            let (slot, empty) = (e.new_slot(), e.new_label());
            input(e, "l");
            let mark = e.begin_loop(1, slot, empty);
            text(e, "a");
            text(e, "b");
            call(e, "dict", 2);
            e.load_slot(slot);
            e.load_slot(slot);
            call(e, "set", 3);
            e.write(EscapeMode::Plain);
            e.end_loop(mark);
            e.bind(empty);
        },
        &[],
    );
    assert_eq!(render(&program, r#"{"l": ["x", "y"]}"#).unwrap(), r#"{"a":"b","x":"x"}{"a":"b","y":"y"}"#);
}

#[test]
fn nothing_survives_a_render_with_shared_inputs() {
    let changes = program(
        |e| {
            input(e, "m");
            text(e, "x");
            text(e, "new");
            call(e, "set", 3);
            e.write(EscapeMode::Plain);
        },
        &[],
    );
    let segments = [SegmentSpec::Attr("x", Span::default())];
    let reads = program(
        |e| {
            let root = [RootSpec::Global("m")];
            e.write_path(&PathSpec { name: "m.x", roots: &root, segments: &segments }, EscapeMode::Plain);
        },
        &[],
    );
    let (arena, names, limits) = (Arena::new(), Arena::new(), Limits::default());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).json(r#"{"m": {"x": "old"}}"#).unwrap());
    let mut session = Session::new();
    let mut text = |program: &Program| {
        let linked: Linked = registry().link(program.imports()).unwrap();
        let what =
            Run { program, linked: &linked, inputs, limits: &limits, capabilities: Capabilities::NONE, budgets: None };
        let mut out = String::new();
        run::<Toy, _>(&mut session, what, &mut out, &mut NoHooks).unwrap();
        out
    };
    for _ in 0..3 {
        assert_eq!((text(&reads).as_str(), text(&changes).as_str()), ("old", r#"{"x":"new"}"#));
    }
    assert_eq!(serde_json::to_string(&inputs.get("m").unwrap().to_data()).unwrap(), r#"{"x":"old"}"#);
}

#[test]
fn a_map_in_itself_is_an_error_where_it_is_written() {
    let program = program(
        |e| {
            input(e, "m");
            text(e, "self");
            input(e, "m");
            call(e, "set", 3);
            text(e, "x");
            call(e, "get", 2);
            e.write(EscapeMode::Plain);
            let segments = ["self", "self", "self", "x"].map(|name| SegmentSpec::Attr(name, Span::default()));
            let root = [RootSpec::Global("m")];
            e.write_path(&PathSpec { name: "m", roots: &root, segments: &segments }, EscapeMode::Plain);
            input(e, "whole");
            let end = e.new_label();
            e.jump(Op::JumpUnless, end);
            input(e, "m");
            e.write(EscapeMode::Plain);
            e.bind(end);
        },
        &[],
    );
    assert_eq!(render(&program, r#"{"m": {"x": "1"}, "whole": 0}"#).unwrap(), "11");
    assert_eq!(render(&program, r#"{"m": {"x": "1"}, "whole": 1}"#).unwrap_err().code, Code::LimitDepth);
}

#[test]
fn changes_are_charged() {
    let program = program(
        |e| {
            let (slot, empty) = (e.new_slot(), e.new_label());
            input(e, "l");
            let mark = e.begin_loop(1, slot, empty);
            input(e, "l");
            input(e, "m");
            text(e, "x");
            e.load_slot(slot);
            call(e, "set", 3);
            e.write(EscapeMode::Plain);
            e.op(Op::Pop, &[]);
            e.end_loop(mark);
            e.bind(empty);
        },
        &[],
    );
    let map: serde_json::Map<_, _> = (0..1_000).map(|n| (n.to_string(), n.into())).collect();
    let json = serde_json::json!({"l": vec![1; 1_000], "m": map}).to_string();
    let limits = Limits { memory: 10 << 20, ..Limits::default() };
    assert_eq!(render_with(&program, &json, &limits).unwrap_err().code, Code::LimitMemory);
}
