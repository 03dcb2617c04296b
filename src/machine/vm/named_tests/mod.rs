//! Calls by name, templates made at render time, and changed maps, through the emitter and with a small language.

mod analyses;
mod calls;
mod changes;
mod made;

use std::borrow::Cow;
use std::cell::Cell;

use super::{Audit, Hooks, Items, Missing, NoHooks, Observer, Output, Run, Semantics, Session, run, run_checked};
use crate::bytecode::{BinaryOp, Delivery, Dialect, EscapeMode, ImportKind, Op, Program, disassemble};
use crate::compiler::{Constant, Emitter, Fold, PathSpec, RootSpec, SegmentSpec};
use crate::function::{Builtin, Capabilities, Cx, Linked, Made, Making, Registry, Request, Rest};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::{Arena, InputBuilder, Inputs, Shapes, Value};

#[derive(Default)]
struct Toy;

impl Semantics for Toy {
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        Err(cx.fault(Code::UndefinedVariable, format!("`{}` is missing", missing.name)))
    }

    fn present(&self, value: Value<'_>) -> bool {
        !value.is_undefined()
    }

    fn truth<'v>(&self, _: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        Ok(!matches!(value, Value::Undefined | Value::Null | Value::Int(0)))
    }

    fn binary<'v>(&self, cx: &Cx<'v>, _: BinaryOp, _: Value<'v>, _: Value<'v>) -> Result<Value<'v>> {
        Err(cx.fault(Code::TypeMismatch, "no operators"))
    }

    fn assign<'v, 'g>(&self, cx: &Cx<'v>, _: &Builtin, given: &'g [Value<'v>]) -> Result<Cow<'g, [Value<'v>]>> {
        if given.is_empty() { Err(cx.arity()) } else { Ok(Cow::Borrowed(given)) }
    }

    fn attr<'v>(&self, _: &Cx<'v>, _: Value<'v>, _: &str) -> Option<Value<'v>> {
        None
    }

    fn index<'v>(&self, _: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        let (Some(items), Value::Int(at)) = (value.as_list(), index) else { return Ok(None) };
        Ok(usize::try_from(at).ok().and_then(|at| items.get(at)).copied())
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, _: u32) -> Result<Items<'v>> {
        match cx.current(value) {
            Value::List(list) => Ok(Items::List(list.items())),
            Value::Map(map) => Ok(Items::Sorted(map)),
            _ => Err(cx.fault(Code::NotIterable, "not iterable")),
        }
    }

    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
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

fn set<'v>(cx: &Cx<'v>, map: Value<'v>, key: &'v str, value: Value<'v>) -> Result<Value<'v>> {
    cx.set_entry(map, key, value)?;
    Ok(map)
}

fn unset<'v>(cx: &Cx<'v>, map: Value<'v>, key: &'v str) -> Result<Value<'v>> {
    cx.remove_entry(map, key)?;
    Ok(map)
}

fn get<'v>(cx: &Cx<'v>, map: Value<'v>, key: &'v str) -> Value<'v> {
    cx.entry(map, key).unwrap_or(Value::Null)
}

fn dict<'v>(cx: &Cx<'v>, Rest(given): Rest<'_, 'v>) -> Result<Value<'v>> {
    let pairs: Vec<_> = given.chunks(2).filter_map(|pair| Some((pair.first()?.as_str()?, *pair.get(1)?))).collect();
    cx.map(&pairs)
}

fn list<'v>(cx: &Cx<'v>, Rest(given): Rest<'_, 'v>) -> Result<Value<'v>> {
    cx.list(given)
}

fn less(n: i64) -> i64 {
    n - 1
}

crate::functions! {
    static FUNCTIONS:
    "set" [Map, Str, Any] = set, mutates Map, "Puts a value." [];
    "unset" [Map, Str] = unset, mutates Map, "Removes a value." [];
    "get" [Map, Str] = get, "Returns a value." [];
    "dict" [... Any] = dict, "Makes a map." [];
    "list" [... Any] = list, "Makes a list." [];
    "less" [Int] = less, "Subtracts one." [];
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

/// A chunk with a name, and what emits it.
type Named<'n> = (&'n str, &'n dyn Fn(&mut Emitter<'_>));

/// Returns a program that may change maps: a first chunk, and named ones with one parameter.
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
    rendered(program, json, limits, &mut (&mut audit as &mut dyn Observer))
}

fn render(program: &Program, json: &str) -> Result<String> {
    render_with(program, json, &Limits::default())
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
