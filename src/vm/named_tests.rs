//! Calls by name, templates made at render time, and changed maps, through the emitter and with a small language.

use std::borrow::Cow;

use std::cell::Cell;

use super::{
    Audit, Hooks, Items, Missing, NoHooks, Output, Run, Semantics, Session, Space, answer, run, run_checked, value,
};
use crate::bytecode::analysis::missing;
use crate::bytecode::{
    BinaryOp, Bundle, Control, Delivery, Dialect, Entry, EscapeMode, ImportKind, Op, Program, disassemble, encode,
};
use crate::compiler::{Constant, Emitter, Fold, PathSpec, RootSpec, SegmentSpec};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Builtin, Capabilities, Cx, Linked, Made, Making, Registry, Request};
use crate::limits::Limits;
use crate::specialise::{Known, specialise};
use crate::text::{Source, Span};
use crate::value::{Arena, Data, InputBuilder, Inputs, ReadPaths, Shapes, Value};

struct Toy;

impl Semantics for Toy {
    fn missing<'v>(cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        Err(cx.fault(Code::UndefinedVariable, format!("`{}` is missing", missing.name)))
    }

    fn present(value: Value<'_>) -> bool {
        !value.is_undefined()
    }

    fn truth<'v>(_: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        Ok(!matches!(value, Value::Undefined | Value::Null | Value::Int(0)))
    }

    fn binary<'v>(cx: &Cx<'v>, _: BinaryOp, _: Value<'v>, _: Value<'v>) -> Result<Value<'v>> {
        Err(cx.fault(Code::TypeMismatch, "no operators"))
    }

    fn assign<'v, 'g>(cx: &Cx<'v>, _: &Builtin, given: &'g [Value<'v>]) -> Result<Cow<'g, [Value<'v>]>> {
        if given.is_empty() { Err(cx.arity()) } else { Ok(Cow::Borrowed(given)) }
    }

    fn attr<'v>(_: &Cx<'v>, _: Value<'v>, _: &str) -> Option<Value<'v>> {
        None
    }

    fn index<'v>(_: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        let (Some(items), Value::Int(at)) = (value.as_list(), index) else { return Ok(None) };
        Ok(usize::try_from(at).ok().and_then(|at| items.get(at)).copied())
    }

    fn iterate<'v>(cx: &Cx<'v>, value: Value<'v>, _: u32) -> Result<Items<'v>> {
        match cx.current(value) {
            Value::List(list) => Ok(Items::List(list.items())),
            Value::Map(map) => Ok(Items::Sorted(map)),
            _ => Err(cx.fault(Code::NotIterable, "not iterable")),
        }
    }

    fn to_text<'v>(cx: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        match cx.settled(value)? {
            Value::Str(text) => out.push(text.as_str()),
            Value::Int(n) => out.push_int(n),
            other => out.push(&serde_json::to_string(&other.to_data()).unwrap()),
        }
    }
}

impl Fold for Toy {}

/// The language of the instructions: the only one with calls by computed names.
const DIALECT: Dialect = Dialect::ALL[5];

fn set<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [map, Value::Str(key), value] = given else { return Err(cx.arity()) };
    cx.set_entry(*map, key.as_str(), *value)?;
    Ok(*map)
}

fn unset<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [map, Value::Str(key)] = given else { return Err(cx.arity()) };
    cx.remove_entry(*map, key.as_str())?;
    Ok(*map)
}

fn get<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [map, Value::Str(key)] = given else { return Err(cx.arity()) };
    Ok(cx.entry(*map, key.as_str()).unwrap_or(Value::Null))
}

fn dict<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let pairs: Vec<_> = given.chunks(2).filter_map(|pair| Some((pair.first()?.as_str()?, *pair.get(1)?))).collect();
    cx.map(&pairs)
}

fn list<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    cx.list(given)
}

fn less<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    match given {
        [Value::Int(n)] => Ok(Value::Int(n - 1)),
        _ => Err(cx.arity()),
    }
}

crate::assigned! {
    static FUNCTIONS:
    "set" (Map, Str, Any) = set, mutates Map, "Puts a value." [];
    "unset" (Map, Str) = unset, mutates Map, "Removes a value." [];
    "get" (Map, Str) = get, "Returns a value." [];
    "dict" (... Any) = dict, "Makes a map." [];
    "list" (... Any) = list, "Makes a list." [];
    "less" (Int) = less, "Subtracts one." [];
}

thread_local! {
    /// How often a text was compiled.
    static COMPILED: Cell<usize> = const { Cell::new(0) };
}

static MAKERS: &[Builtin] = &[Builtin::maker("make", make, "Compiles a text.")];

/// Compiles a text: `<name>` calls a chunk, `<=name:text>` defines one, `<.key>` writes an attribute of the argument,
/// `<^text` makes the rest of the text once more, anything else is text.
fn make(request: &Request<'_>) -> Result<Making> {
    if !request.text.contains('<') {
        return Ok(Making::AsItIs);
    }
    COMPILED.set(COMPILED.get() + 1);
    let source = Source::new("made", request.text);
    let mut emitter = Emitter::new(DIALECT, &Toy, 1 << 16);
    emitter.set_mutable(true);
    let main = emitter.declare_chunk("main", 0);
    emitter.begin_chunk(main);
    emitter.end_chunk();
    let chunk = emitter.declare_chunk("made", 1);
    let (mut definitions, mut rest) = (Vec::new(), request.text);
    emitter.begin_chunk(chunk);
    while let Some((before, after)) = rest.split_once('<') {
        emitter.text(before);
        let at = request.text.len() - after.len();
        emitter.at(&source, Span::new(at as u32, at as u32 + 1));
        if let Some(again) = after.strip_prefix('^') {
            emitter.constant(Constant::Str(again.to_owned().into()));
            emitter.load_slot(0);
            emitter.call_made(&MAKERS[0], 1, Delivery::Output);
            rest = "";
            break;
        }
        let Some((tag, behind)) = after.split_once('>') else {
            return Err(Diagnostic::new(Code::Unterminated, "a tag is not closed").at(
                &source,
                Span::new(at as u32, at as u32 + 1),
                "",
            ));
        };
        rest = behind;
        if let Some(definition) = tag.strip_prefix('=') {
            definitions.push(definition.split_once(':').unwrap_or((definition, "")));
        } else if let Some(key) = tag.strip_prefix('.') {
            write_attr(&mut emitter, 0, key);
        } else {
            include(&mut emitter, tag, Delivery::Output, |e| e.load_slot(0));
        }
    }
    emitter.text(rest);
    emitter.end_chunk();
    for (name, text) in definitions {
        let chunk = emitter.declare_chunk(name, 1);
        emitter.begin_chunk(chunk);
        emitter.text(text);
        emitter.end_chunk();
        emitter.name_chunk(name, chunk);
    }
    let program = emitter.finish()?;
    let linked = request.registry.link(program.imports())?;
    Ok(Making::Made(Made { program, linked, chunk }))
}

fn registry() -> Registry {
    Registry::of(&[FUNCTIONS, MAKERS])
}

fn path<'p>(name: &'p str, roots: &'p [RootSpec<'p>]) -> PathSpec<'p> {
    PathSpec { name, roots, segments: &[] }
}

fn input(e: &mut Emitter<'_>, name: &str) {
    e.load(&path(name, &[RootSpec::Global(name)]));
}

fn text(e: &mut Emitter<'_>, text: &str) {
    e.constant(Constant::Str(text.to_owned().into()));
}

/// Writes an attribute of the value in a slot.
fn write_attr(e: &mut Emitter<'_>, slot: u32, key: &str) {
    let segments = [SegmentSpec::Attr(key, Span::default())];
    e.write_path(&PathSpec { name: key, roots: &[RootSpec::Slot(slot)], segments: &segments }, EscapeMode::Plain);
}

/// Calls a chunk by name with one argument.
fn include(e: &mut Emitter<'_>, name: &str, delivery: Delivery, argument: impl FnOnce(&mut Emitter<'_>)) {
    text(e, name);
    argument(e);
    e.call_named(1, delivery);
}

/// Calls a function with the top values.
fn call(e: &mut Emitter<'_>, name: &str, count: usize) {
    let builtin = registry().get(ImportKind::Function, name).unwrap().clone();
    e.call_builtin(&builtin, &vec![0; count]);
}

/// Returns a program that may change maps: a first chunk, and named ones with one parameter.
/// A chunk with a name, and what emits it.
type Named<'n> = (&'n str, &'n dyn Fn(&mut Emitter<'_>));

fn program(main: impl FnOnce(&mut Emitter<'_>), named: &[Named<'_>]) -> Program {
    program_that(true, main, named)
}

/// Returns a program that may change maps if it is `mutable`.
fn program_that(mutable: bool, main: impl FnOnce(&mut Emitter<'_>), named: &[Named<'_>]) -> Program {
    let mut emitter = Emitter::new(DIALECT, &Toy, 1 << 20);
    emitter.set_mutable(mutable);
    let source = Source::new("toy", "0123456789");
    let first = emitter.declare_chunk("main", 0);
    let chunks: Vec<_> = named.iter().map(|(name, _)| emitter.declare_chunk(name, 1)).collect();
    emitter.begin_chunk(first);
    emitter.at(&source, Span::new(0, 1));
    main(&mut emitter);
    emitter.end_chunk();
    for ((name, body), chunk) in named.iter().zip(chunks) {
        emitter.begin_chunk(chunk);
        emitter.at(&source, Span::new(2, 3));
        body(&mut emitter);
        emitter.end_chunk();
        emitter.name_chunk(name, chunk);
    }
    emitter.finish().unwrap()
}

/// Renders twice in one session, and on the checking machine, all with the same result.
fn rendered(program: &Program, json: &str, limits: &Limits, hooks: &mut impl Hooks) -> Result<String> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).json(json).unwrap());
    let linked: Linked = registry().link(program.imports()).unwrap();
    let what = Run { program, linked: &linked, inputs, limits, capabilities: Capabilities::NONE, budgets: None };
    let (mut session, mut out) = (Session::new(), String::new());
    let first = run::<Toy, _>(&mut session, what, &mut out, &mut NoHooks).map(|()| out);
    let mut hooked = String::new();
    let hooked = run::<Toy, _>(&mut session, what, &mut hooked, hooks).map(|()| hooked);
    let mut checked = String::new();
    let checked = run_checked::<Toy>(&mut session, what, &mut checked).map(|()| checked);
    for again in [hooked, checked] {
        match (&first, &again) {
            (Ok(first), Ok(again)) => assert_eq!(first, again),
            (Err(first), Err(again)) => assert_eq!(first.to_string(), again.to_string()),
            other => panic!("{other:?}"),
        }
    }
    first
}

/// Renders, and compares the effects of instructions with their rows.
fn render_with(program: &Program, json: &str, limits: &Limits) -> Result<String> {
    let mut audit =
        Audit::new(|transition| assert!(transition.outcome(transition.op().info()).is_some(), "{transition:?}"));
    rendered(program, json, limits, &mut audit)
}

fn render(program: &Program, json: &str) -> Result<String> {
    render_with(program, json, &Limits::default())
}

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
        &[("a", &|e| e.text("A")), ("b", &|e| e.write_path(&path("b", &[RootSpec::Slot(0)]), EscapeMode::Plain))],
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
    assert!(error.message.contains("10000 calls"), "{error}");
    assert!((2..=20).contains(&error.labels.len()), "{}", error.labels.len());
    assert_eq!(within(&text, 999).unwrap().len(), 1_000);
    let error = within(&text, 1_000).unwrap_err();
    assert_eq!(error.code, Code::LimitRecursion);
    assert!(error.message.contains("1000 calls"), "{error}");
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

/// Returns a program that makes the template in the input `text`.
fn making(delivery: Delivery) -> Program {
    program(
        move |e| {
            e.text("[");
            input(e, "text");
            input(e, "data");
            e.call_made(&MAKERS[0], 1, delivery);
            if delivery == Delivery::Text {
                e.write(EscapeMode::Plain);
            }
            e.text("]");
        },
        &[
            ("a", &|e| e.text("A")),
            ("b", &|e| {
                include(e, "a", Delivery::Output, |e| e.load_slot(0));
                write_attr(e, 0, "x");
            }),
            ("self", &|e| {
                text(e, "<self>");
                e.load_slot(0);
                e.call_made(&MAKERS[0], 1, Delivery::Output);
            }),
        ],
    )
}

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
    let (code, places) = error("<self>");
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
    assert!(answer::<Toy, _>(&mut session, what, &mut NoHooks).is_err());
}

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
        let residual = specialise::<Toy>(&program, &linked, &known, &limits).unwrap();
        assert!(!disassemble(&residual).contains("jump"), "{}", disassemble(&residual));
        let json = json.replace("\"on\": 1", &format!("\"on\": {on}"));
        assert_eq!(render(&residual, &json).unwrap(), expected);
        assert_eq!(render(&program, &json).unwrap(), expected);
        // Nothing read through a map stays known if maps change.
        assert!(specialise::<Toy>(&choosing(true), &linked, &known, &limits).is_none());
        assert!(specialise::<Toy>(&making(Delivery::Text), &linked, &known, &limits).is_none());
    }
}

#[test]
fn analyses_follow_known_names_and_know_nothing_of_changed_maps() {
    let inputs = serde_json::from_str::<Data>(r#"{"on": true, "m": {"y": 1}}"#).unwrap().into_map().unwrap();
    let program = choosing(false);
    let found = missing(&program, &inputs, &mut 1_000);
    assert_eq!(found.iter().map(|miss| miss.path).collect::<Vec<_>>(), ["x"]);
    assert!(missing(&choosing(true), &inputs, &mut 1_000).is_empty());
    let reads = |program: &Program| {
        let mut paths = ReadPaths::default();
        paths.add_program(program);
        (paths.reads([Some("m"), Some("x")]), paths.reads([Some("m"), Some("z")]), paths.reads([Some("n")]))
    };
    assert_eq!(reads(&program), (true, false, false));
    // A template made at render time, or a computed name, may read anything.
    assert_eq!(reads(&making(Delivery::Text)), (true, true, true));
    let computed = program_that(
        false,
        |e| {
            input(e, "name");
            input(e, "m");
            e.call_named(1, Delivery::Output);
        },
        &[("a", &|e| write_attr(e, 0, "x"))],
    );
    assert_eq!(reads(&computed), (true, true, true));
}

#[test]
fn the_rows_of_the_instructions_say_that_they_call() {
    assert_eq!((Op::CallNamed.info().control, Op::CallMade.info().control), (Control::Call, Control::MayCall));
    let takes = |dialect: &Dialect| Op::CallNamed.info().dialects.contains(*dialect);
    assert_eq!(Dialect::ALL.into_iter().filter(takes).collect::<Vec<_>>(), [DIALECT]);
}
