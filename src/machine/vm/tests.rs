//! The machine with a toy language.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::{Evaluator, Items, Missing, NoHooks, Output, Run, Semantics, Session, Space, run, run_checked};
use crate::bytecode::{BinaryOp, Dialect, EscapeMode, Op, Program, Scope, disassemble};
use crate::compiler::{Constant, Emitter, Fold, PathSpec, RootSpec, SegmentSpec};
use crate::function::{Capabilities, Cx};
use dropforge_base::diagnostics::{CULPRIT, Code, Result};
use dropforge_base::limits::{Deadline, Limits};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Arena, Inputs, Value};

#[derive(Default)]
struct Toy;

impl Semantics for Toy {
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        Err(cx.fault(Code::UndefinedVariable, format!("`{}` of {CULPRIT} is missing", missing.name)))
    }

    fn present(&self, value: Value<'_>) -> bool {
        !matches!(value, Value::Undefined | Value::Null)
    }

    fn truth<'v>(&self, _: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        Ok(!value.is_undefined())
    }

    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        match (op, a, b) {
            (BinaryOp::Add, Value::Int(a), Value::Int(b)) => Ok(Value::Int(a.wrapping_add(b))),
            _ => Err(cx.fault(Code::TypeMismatch, format!("{CULPRIT} does not add up"))),
        }
    }

    fn attr<'v>(&self, _: &Cx<'v>, _: Value<'v>, _: &str) -> Option<Value<'v>> {
        None
    }

    fn index<'v>(&self, _: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        let (Some(items), Value::Int(at)) = (value.as_list(), index) else { return Ok(None) };
        Ok(usize::try_from(at).ok().and_then(|at| items.get(at)).copied())
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, _: u32) -> Result<Items<'v>> {
        match value {
            Value::List(list) => Ok(Items::List(list.items())),
            Value::Map(map) => Ok(Items::Sorted(map)),
            _ => Err(cx.fault(Code::NotIterable, "not iterable")),
        }
    }

    fn to_text<'v>(&self, _: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        match value {
            Value::Str(text) => out.push(text.as_str()),
            other => out.push(other.kind()),
        }
    }
}

impl Fold for Toy {
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        match (op, a, b) {
            (BinaryOp::Add, Constant::Int(a), Constant::Int(b)) => Some(Constant::Int(a + b)),
            _ => None,
        }
    }

    fn text<'c>(&self, constant: &Constant<'c>, _: EscapeMode) -> Option<Cow<'c, str>> {
        match constant {
            Constant::Int(n) => Some(n.to_string().into()),
            Constant::Str(text) => Some(text.clone()),
            _ => None,
        }
    }
}

fn path<'p>(name: &'p str, roots: &'p [RootSpec<'p>]) -> PathSpec<'p> {
    PathSpec { name, roots, segments: &[] }
}

fn load(e: &mut Emitter<'_>, name: &str) {
    e.load(&path(name, &[RootSpec::Global(name)]));
}

fn program(lower: impl FnOnce(&mut Emitter<'_>)) -> Program {
    program_in(Dialect::ALL[1], lower)
}

/// Returns a program with another language's instructions.
fn program_in(dialect: Dialect, lower: impl FnOnce(&mut Emitter<'_>)) -> Program {
    let mut emitter = Emitter::new(dialect, &Toy, 1 << 20);
    let main = emitter.declare_chunk("main", 0);
    emitter.begin_chunk(main);
    emitter.at(&Source::new("toy", "0123456789"), Span::new(2, 5));
    lower(&mut emitter);
    emitter.end_chunk();
    emitter.finish().unwrap()
}

fn render_with(program: &Program, json: &str, limits: &Limits) -> Result<String> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = dropforge_value::Shapes::new(&names);
    let inputs = Inputs::new(dropforge_value::InputBuilder::new(&arena, &shapes).json(json).unwrap());
    let linked = Box::default();
    let mut out = String::new();
    let mut session = Session::new();
    let what = Run { program, linked: &linked, inputs, limits, capabilities: Capabilities::NONE, budgets: None };
    run::<Toy, _>(&mut session, what, &mut out, &mut NoHooks)?;
    let mut again = String::new();
    run::<Toy, _>(&mut session, what, &mut again, &mut NoHooks)?;
    assert_eq!(out, again, "a second render with warm caches");
    let mut checked = String::new();
    run_checked::<Toy>(&mut session, what, &mut checked)?;
    assert_eq!(out, checked, "with every index checked");
    Ok(out)
}

fn render(program: &Program, json: &str) -> Result<String> {
    render_with(program, json, &Limits::default())
}

#[test]
fn text_coalesces_and_constants_fold() {
    let program = program(|e| {
        e.text("a");
        e.constant(Constant::Int(1));
        e.constant(Constant::Int(2));
        e.binary(BinaryOp::Add);
        e.write(EscapeMode::Plain);
        e.text("b");
    });
    assert_eq!(render(&program, "{}").unwrap(), "a3b");
    let listing = disassemble(&program);
    assert_eq!(listing.lines().count(), 3, "{listing}");
}

#[test]
fn a_loop_sets_its_slots_and_knows_its_turn() {
    let program = program(|e| {
        let slot = e.new_slots(2);
        load(e, "m");
        let empty = e.new_label();
        let mark = e.begin_loop(2, slot, empty);
        e.write_path(&path("k", &[RootSpec::Slot(slot)]), EscapeMode::Plain);
        e.text("=");
        e.write_path(&path("v", &[RootSpec::Slot(slot + 1)]), EscapeMode::Plain);
        e.write_path(&path("loop.index", &[RootSpec::Loop(0, crate::bytecode::LoopField::Index)]), EscapeMode::Plain);
        e.text(";");
        e.end_loop(mark);
        e.bind(empty);
        e.text(".");
    });
    assert_eq!(render(&program, r#"{"m": {"b": 1, "a": "x"}}"#).unwrap(), "a=x1;b=12;.");
    assert_eq!(render(&program, r#"{"m": []}"#).unwrap(), ".");
}

#[test]
fn an_unset_slot_falls_through_to_the_input() {
    let program = program(|e| {
        let slot = e.new_slot();
        let roots = [RootSpec::Slot(slot), RootSpec::Global("x")];
        let both = path("x", &roots);
        e.write_path(&both, EscapeMode::Plain);
        e.constant(Constant::Int(7));
        e.op(Op::StoreSlot, &[slot]);
        e.write_path(&both, EscapeMode::Plain);
    });
    assert_eq!(render(&program, r#"{"x": "in"}"#).unwrap(), "in7");
}

#[test]
fn a_path_fails_at_the_step_that_is_missing() {
    let program = program(|e| {
        let segments = ["a", "b"].map(|name| SegmentSpec::Attr(name, Span::new(3, 4)));
        let path = PathSpec { name: "x", roots: &[RootSpec::Global("x")], segments: &segments };
        e.write_path(&path, EscapeMode::Plain);
    });
    let error = render(&program, r#"{"x": {"a": {}}}"#).unwrap_err();
    assert_eq!(error.message, "`b` of 234 is missing");
    assert_eq!(error.position().unwrap().to_string(), "1:4");
    let error = render(&program, "{}").unwrap_err();
    assert_eq!(error.message, "`x` of 234 is missing");
}

#[test]
fn a_protected_error_is_undefined_and_leaves_no_trace() {
    let program = program(|e| {
        e.text("<");
        let protect = e.begin_protect();
        e.begin_capture();
        e.text("lost");
        load(e, "absent");
        e.op(Op::Pop, &[]);
        e.end_capture();
        e.end_protect(protect);
        e.write(EscapeMode::Plain);
        e.text(">");
    });
    assert_eq!(render(&program, "{}").unwrap(), "<undefined>");
}

#[test]
fn a_called_chunk_sees_its_parameters_and_the_scope_it_is_given() {
    let program = program(|e| {
        let callee = e.declare_chunk("callee", 1);
        let slot = e.new_slot();
        e.constant(Constant::Str("local".into()));
        e.op(Op::StoreSlot, &[slot]);
        let scope = e.scope(Scope::INPUTS, &[("x", RootSpec::Slot(slot))]);
        e.constant(Constant::Int(5));
        e.op(Op::CallChunk, &[callee, scope]);
        e.constant(Constant::Int(6));
        e.op(Op::CallChunk, &[callee, 0]);
        e.end_chunk();
        e.begin_chunk(callee);
        e.write_path(&path("p", &[RootSpec::Slot(0)]), EscapeMode::Plain);
        e.write_path(&path("x", &[RootSpec::Callers("x"), RootSpec::Global("x")]), EscapeMode::Plain);
        e.text(" ");
    });
    assert_eq!(render(&program, r#"{"x": "input"}"#).unwrap(), "5local 6input ");
}

#[test]
fn nothing_is_visible_without_a_scope() {
    let program = program(|e| {
        let slot = e.new_slot();
        e.constant(Constant::Str("local".into()));
        e.op(Op::StoreSlot, &[slot]);
        e.scope(Scope::INPUTS, &[("x", RootSpec::Slot(slot))]);
        e.op(Op::Scope, &[0]);
        e.write(EscapeMode::Plain);
    });
    assert_eq!(render(&program, r#"{"y": "input"}"#).unwrap(), "map");
}

#[test]
fn endless_recursion_and_long_loops_reach_their_limits() {
    let recursive = program(|e| {
        e.op(Op::CallChunk, &[0, 0]);
    });
    assert_eq!(render(&recursive, "{}").unwrap_err().code, Code::LimitRecursion);
    let looping = program(|e| {
        let (slot, empty) = (e.new_slot(), e.new_label());
        load(e, "l");
        let mark = e.begin_loop(1, slot, empty);
        e.text("0123456789");
        e.end_loop(mark);
        e.bind(empty);
    });
    let limit = |limits: Limits| render_with(&looping, r#"{"l": [1, 2, 3, 4, 5]}"#, &limits).unwrap_err().code;
    assert_eq!(limit(Limits { fuel: 4, ..Limits::default() }), Code::LimitFuel);
    assert_eq!(limit(Limits { output_bytes: 49, ..Limits::default() }), Code::LimitOutputBytes);
    assert!(
        render_with(&looping, r#"{"l": [1, 2, 3, 4, 5]}"#, &Limits { output_bytes: 50, ..Limits::default() }).is_ok()
    );
}

#[test]
fn a_deadline_ends_the_runs_of_its_session() {
    let looping = program(|e| {
        let (slot, empty) = (e.new_slot(), e.new_label());
        load(e, "l");
        let mark = e.begin_loop(1, slot, empty);
        e.end_loop(mark);
        e.bind(empty);
    });
    let arena = Arena::new();
    let inputs = Inputs::new(arena.map(&[("l", arena.list(&vec![Value::Int(1); 40_000]))]));
    let (linked, limits, mut session) = (Box::default(), Limits::default(), Session::new());
    let what = Run {
        program: &looping,
        linked: &linked,
        inputs,
        limits: &limits,
        capabilities: Capabilities::NONE,
        budgets: None,
    };
    let run = |session: &mut Session| run::<Toy, _>(session, what, &mut String::new(), &mut NoHooks);
    let deadline = Arc::new(Deadline::after(Duration::from_secs(600)));
    session.set_deadline(Some(deadline.clone()));
    assert!(run(&mut session).is_ok());
    assert!((1..=limits.memory).contains(&session.left().unwrap().memory));
    deadline.cancel();
    let error = run(&mut session).unwrap_err();
    assert_eq!((error.code, &*error.message), (Code::LimitTime, "the render was cancelled"));
    session.set_deadline(Some(Arc::new(Deadline::after(Duration::ZERO))));
    let error = run(&mut session).unwrap_err();
    assert_eq!((error.code, &*error.message), (Code::LimitTime, "the render took too long: its deadline has passed"));
    session.set_deadline(None);
    assert!(run(&mut session).is_ok());
}

/// Returns a program that sums two attributes of an input.
fn answering() -> Program {
    program_in(Dialect::ALL[2], |e| {
        let [a, b] = ["a", "b"].map(|name| [SegmentSpec::Attr(name, Span::default())]);
        let roots = [RootSpec::Global("x")];
        e.load(&PathSpec { name: "x.a", roots: &roots, segments: &a });
        e.load(&PathSpec { name: "x.b", roots: &roots, segments: &b });
        e.binary(BinaryOp::Add);
        e.op(Op::Answer, &[]);
    })
}

#[test]
fn repeated_evaluations_reuse_memory_and_caches() {
    let (programs, linked, limits) = ([answering(), answering()], Box::default(), Limits::default());
    let (arena, names, mut space) = (Arena::new(), Arena::new(), Space::new());
    let shapes = dropforge_value::Shapes::new(&names);
    let builder = dropforge_value::InputBuilder::new(&arena, &shapes);
    // Maps with different keys, in different orders, with and without the attributes.
    let inputs =
        [r#"{"x": {"a": 1, "b": 2}}"#, r#"{"y": 0, "x": {"b": 10, "c": 0, "a": 20}}"#, r#"{"x": {"b": 1}}"#, "{}"]
            .map(|json| Inputs::new(builder.json(json).unwrap()));
    let mut taken = 0;
    for round in 0..100 {
        for program in &programs {
            for (inputs, expected) in inputs.iter().zip([Some(3), Some(30), None, None]) {
                space.reset();
                let mut evaluator = Evaluator::new(&space, program, &linked, &limits, Capabilities::NONE);
                let answer = evaluator.run::<Toy>(0, *inputs).map(|answer| answer.value);
                match expected {
                    Some(expected) => assert!(matches!(answer, Ok(Value::Int(n)) if n == expected), "{answer:?}"),
                    None => assert_eq!(answer.unwrap_err().code, Code::UndefinedVariable),
                }
            }
        }
        match round {
            0 => taken = space.arena().allocated_bytes(),
            _ => assert_eq!(space.arena().allocated_bytes(), taken, "round {round}"),
        }
    }
}

#[test]
fn evaluators_of_one_program_in_one_space_do_not_disturb_each_other() {
    let (program, linked, limits) = (answering(), Box::default(), Limits::default());
    let space = Space::new();
    let input = |a, b| {
        let x = space.arena().map(&[("a", Value::Int(a)), ("b", Value::Int(b))]);
        Inputs::new(space.arena().map(&[("x", x)]))
    };
    let new = || Evaluator::new(&space, &program, &linked, &limits, Capabilities::NONE);
    let (mut first, mut second) = (new(), new());
    for n in 0..3 {
        for evaluator in [&mut first, &mut second] {
            let answer = evaluator.run::<Toy>(0, input(n, 10)).unwrap();
            assert!(matches!(answer.value, Value::Int(sum) if sum == n + 10));
        }
    }
}

#[test]
fn an_evaluator_refuses_chunks_that_cannot_be_run_alone() {
    let program = program(|e| {
        let callee = e.declare_chunk("callee", 1);
        e.constant(Constant::Int(5));
        e.op(Op::CallChunk, &[callee, 0]);
        e.end_chunk();
        e.begin_chunk(callee);
        e.write_path(&path("p", &[RootSpec::Slot(0)]), EscapeMode::Plain);
    });
    let (linked, limits, space) = (Box::default(), Limits::default(), Space::new());
    let mut evaluator = Evaluator::new(&space, &program, &linked, &limits, Capabilities::NONE);
    assert!(evaluator.run::<Toy>(0, Inputs::default()).is_ok());
    for chunk in [1, 2, u32::MAX] {
        let error = evaluator.run::<Toy>(chunk, Inputs::default()).unwrap_err();
        assert_eq!(error.code, Code::CorruptProgram);
    }
}

#[test]
fn programs_that_share_a_place_take_it_from_each_other() {
    let (programs, linked, limits) = ((0..1100).map(|_| answering()), Box::default(), Limits::default());
    let programs: Vec<_> = programs.collect();
    let (arena, names, mut space) = (Arena::new(), Arena::new(), Space::new());
    let shapes = dropforge_value::Shapes::new(&names);
    let inputs = dropforge_value::InputBuilder::new(&arena, &shapes).json(r#"{"x": {"a": 1, "b": 2}}"#).unwrap();
    for program in programs.iter().chain(&programs) {
        space.reset();
        let mut evaluator = Evaluator::new(&space, program, &linked, &limits, Capabilities::NONE);
        let answer = evaluator.run::<Toy>(0, Inputs::new(inputs)).unwrap();
        assert!(matches!(answer.value, Value::Int(3)));
    }
}
