//! Operations on known values, by the rules of the language. Each returns `None` if it would fail or record an error.

use smallvec::{SmallVec, smallvec};

use super::Known;
use super::state::{Alias, Fixed, Instr, Item, Items as Unrolled, Recipe, RunningLoop, StackEntry, ValueStep};
use super::walk::Specialiser;
use crate::bytecode::{BinaryOp, EscapeMode, ImportKind, LoopField, Path, Root, Segment};
use crate::function::{Body, Builtin};
use crate::vm::{Items, Output, call_builtin};
use dropforge_base::diagnostics::Result;
use dropforge_value::{Map, Value};

/// Maximum number of items of an unrolled loop.
const ITEMS: usize = 10_000;

/// The value of a path.
pub(super) enum PathValue<'v> {
    /// A value, and the code that pushes it.
    Value(Fixed<'v>),
    /// There is none.
    Missing,
    /// It is not known, or no code can push it.
    Open,
}

/// A known value and its place in an input, if it is a part of one.
type Traced<'v> = (Value<'v>, Option<(u32, Vec<ValueStep>)>);

impl<'v> Specialiser<'v> {
    /// Returns a result unless it is an error or an error was recorded.
    pub(super) fn quiet<R>(&self, result: Result<R>) -> Option<R> {
        if self.cx.notes().count() > 0 {
            self.cx.notes().take(0);
            return None;
        }
        result.ok()
    }

    /// Returns a constant with its value.
    pub(super) fn constant(&mut self, value: Value<'v>, at: u32) -> Option<Fixed<'v>> {
        let word = self.out.constant(value)?;
        Some(Fixed { value, recipe: Recipe::Constant(Instr { words: smallvec![word], at }) })
    }

    pub(super) fn truth(&self, value: Value<'v>) -> Option<bool> {
        if let Value::Bool(b) = value { Some(b) } else { self.quiet(self.rules.truth(&self.cx, value)) }
    }

    pub(super) fn binary(&self, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Option<Value<'v>> {
        self.quiet(self.rules.binary(&self.cx, op, a, b))
    }

    /// Returns the text of a value, as an instruction writes it. `path` is `true` for the value of a path.
    pub(super) fn text(&self, value: Value<'v>, mode: u32, path: bool) -> Option<String> {
        let (mut text, how) = (String::new(), EscapeMode::of(mode));
        let mut out = Output::new(&mut text, super::TEXT);
        let written = match value {
            Value::Str(text) if EscapeMode::is_verbatim(mode) => out.push_text(text),
            Value::Int(n) if mode != EscapeMode::Shell as u32 => out.push_int(n),
            _ if path => match self.rules.write_simple(value, how, &mut out) {
                Ok(true) => Ok(()),
                Ok(false) if self.rules.writable(value, how) => self.rules.to_text(&self.cx, value, how, &mut out),
                Ok(false) => return None,
                Err(error) => Err(error),
            },
            _ => self.rules.to_text(&self.cx, value, how, &mut out),
        };
        self.quiet(written).map(|()| text)
    }

    /// Concatenates values as text.
    pub(super) fn joined(&self, values: &[Value<'v>]) -> Option<Value<'v>> {
        let plain = |value: &Value<'_>| matches!(value, Value::Str(_) | Value::Int(_) | Value::Bool(_));
        if !values.iter().all(plain)
            && let Some(joined) = self.quiet(self.rules.joined(&self.cx, values))?
        {
            return Some(joined);
        }
        let texts: Option<Vec<_>> =
            values.iter().map(|value| self.text(*value, EscapeMode::Piece as u32, false)).collect();
        self.quiet(self.cx.text(&texts?.concat()))
    }

    /// Calls a pure function.
    pub(super) fn called(&self, import: u32, params: &[u32], given: &[Value<'v>]) -> Option<Value<'v>> {
        let builtin = self.pure(import)?;
        let computable = builtin.kind != ImportKind::Template
            && matches!(builtin.body, Body::Native(_) | Body::Text(_) | Body::Positional(_) | Body::Overloaded);
        if !computable {
            return None;
        }
        self.quiet(call_builtin(self.rules, &self.cx, builtin, params, given))?
    }

    /// Calls a pure function with one value for each parameter.
    pub(super) fn applied(&self, import: u32, given: &[Value<'v>]) -> Option<Value<'v>> {
        let Body::Native(body) = &self.pure(import)?.body else { return None };
        self.quiet(body(&self.cx, given))
    }

    /// Returns an imported function if its result depends only on its arguments.
    fn pure(&self, import: u32) -> Option<&'v Builtin> {
        let builtin = self.linked.get(import as usize)?;
        (builtin.pure && builtin.needs.is_none()).then_some(builtin)
    }

    /// Returns the top `count` values if all of them are known.
    pub(super) fn known_top(&self, count: u32) -> Option<Vec<Fixed<'v>>> {
        let from = self.state.stack.len().checked_sub(count as usize)?;
        let known =
            |entry: &StackEntry<'v>| if let StackEntry::Known(fixed) = entry { Some(fixed.clone()) } else { None };
        self.state.stack.get(from..)?.iter().map(known).collect()
    }

    /// Returns the values of the top `count` entries if all of them are known. `there` demands values that are in the role of
    /// a value, and there.
    pub(super) fn known_values(&self, count: u32, there: bool) -> Option<Vec<Value<'v>>> {
        let is_there = |value: &Value<'v>| !there || !matches!(value, Value::Undefined | Value::Extended(_));
        self.known_top(count)?.into_iter().map(|fixed| Some(fixed.value).filter(is_there)).collect()
    }

    /// Finds the value of a path, with the known computed indexes on the stack.
    pub(super) fn find(&mut self, path: &Path<'v>) -> PathValue<'v> {
        let indexes = self.known_values(path.indexes, false).filter(|_| !self.is_verbatim());
        let Some(indexes) = indexes else { return PathValue::Open };
        for root in path.roots() {
            let found = match root {
                Root::Slot(slot) => self.in_slot(slot, path, &indexes),
                Root::Global(global) => self.in_input(global, path, &indexes),
                Root::Loop(level, field) => self.loop_field(level, field).and_then(|value| {
                    let from = (value, None);
                    self.walk(from, path, 0, &indexes)
                }),
                Root::Callers(_) => None,
            };
            match found {
                None => return PathValue::Open,
                Some(None) => {}
                Some(Some(found)) => return self.fixed(found, root, path).map_or(PathValue::Open, PathValue::Value),
            }
        }
        PathValue::Missing
    }

    /// Adds the code that pushes a value that was found at one of the roots of a path.
    fn fixed(&mut self, (value, trace): Traced<'v>, root: Root, path: &Path<'v>) -> Option<Fixed<'v>> {
        if value.is_undefined() {
            return None;
        }
        if let Some(fixed) = self.constant(value, self.pc) {
            return Some(fixed);
        }
        let recipe = match (trace, root) {
            (Some((global, steps)), _) => Recipe::Input(global, steps.into()),
            (None, Root::Slot(slot)) if path.is_empty() => {
                self.state.slots.get((self.frame.base + slot) as usize)?.known.clone()?.recipe
            }
            _ => return None,
        };
        Some(Fixed { value, recipe })
    }

    /// Returns the value of a path in a slot: `None` if it is not known, `Some(None)` if it has no value.
    fn in_slot(&self, slot: u32, path: &Path<'v>, indexes: &[Value<'v>]) -> Option<Option<Traced<'v>>> {
        let fixed = self.state.slots.get((self.frame.base + slot) as usize)?.known.as_ref()?;
        if fixed.value.is_undefined() {
            return Some(None);
        }
        let trace = match &fixed.recipe {
            Recipe::Input(global, steps) => Some((*global, steps.to_vec())),
            _ => None,
        };
        self.walk((fixed.value, trace), path, 0, indexes)
    }

    fn in_input(&self, global: u32, path: &Path<'v>, indexes: &[Value<'v>]) -> Option<Option<Traced<'v>>> {
        let name = *self.code.globals().get(global as usize)?;
        let (mut known, mut steps) = (self.known.field(self.code.str(name)), Vec::new());
        if matches!(known, Known::Absent) {
            return Some(None);
        }
        let mut segments = path.segments();
        loop {
            match known {
                Known::Value(value) => {
                    let from = steps.len();
                    return self.walk((*value, Some((global, steps))), path, from, indexes);
                }
                Known::Fields(_) | Known::Entries(_) => {
                    let Some((Segment::Attr(name), _)) = segments.next() else { return None };
                    steps.push(ValueStep::Attr(name));
                    known = known.field(self.code.str(name));
                }
                // A key that a map lacks is the language's to judge.
                Known::Open | Known::Absent | Known::Text => return None,
            }
        }
    }

    fn loop_field(&self, level: u32, field: LoopField) -> Option<Value<'v>> {
        let at = self.state.loops.len().checked_sub(level as usize + 1)?;
        let RunningLoop::Unrolled(items, begun, _) = self.state.loops.get(at)? else { return None };
        Some(match field {
            LoopField::Index => Value::uint(*begun as u64),
            LoopField::Index0 => Value::uint(begun.saturating_sub(1) as u64),
            LoopField::First => Value::Bool(*begun == 1),
            LoopField::Last => Value::Bool(*begun == items.len()),
        })
    }

    /// Follows the steps of a path from step `from` on.
    fn walk(
        &self,
        (mut value, mut trace): Traced<'v>,
        path: &Path<'v>,
        from: usize,
        indexes: &[Value<'v>],
    ) -> Option<Option<Traced<'v>>> {
        for (segment, _) in path.segments().skip(from) {
            let (next, step) = match (segment, value) {
                (Segment::Attr(name), Value::Map(map)) if map.get(self.code.str(name)).is_some() => {
                    (map.get(self.code.str(name)), Some(ValueStep::Attr(name)))
                }
                (Segment::Attr(name), _) => {
                    (self.quiet(Ok(self.rules.attr(&self.cx, value, self.code.str(name))))?, None)
                }
                (Segment::Index(nth), _) => {
                    let index = indexes.get(nth as usize).copied()?;
                    (self.quiet(self.rules.index(&self.cx, value, index))?, self.index_step(value, index))
                }
            };
            let Some(next) = next else { return Some(None) };
            trace = trace.zip(step).map(|((global, mut steps), step)| {
                steps.push(step);
                (global, steps)
            });
            value = next;
        }
        Some(Some((value, trace)))
    }

    /// Returns the step to an item of a list.
    fn index_step(&self, value: Value<'v>, index: Value<'v>) -> Option<ValueStep> {
        match (value, index) {
            (Value::List(_), Value::Int(n @ 0..0x7F_FFFF)) => u32::try_from(n).ok().map(ValueStep::Index),
            _ => None,
        }
    }

    /// Returns the items of a loop over a known value, if code can push each of them.
    pub(super) fn items(&mut self, over: &Fixed<'v>, names: u32) -> Option<Unrolled<'v>> {
        let items = self.quiet(self.rules.iterate(&self.cx, over.value, names))?;
        let item = |walk: &mut Self, nth: usize, value: Value<'v>| {
            let step = ValueStep::Index(u32::try_from(nth).ok()?);
            let same = matches!(over.value, Value::List(_)).then_some(step);
            walk.part_of(over, value, same)
        };
        match items {
            Items::List(list) | Items::Indexed(list) if list.len() > ITEMS => None,
            Items::Sorted(map) | Items::Entries(map) if map.len() > ITEMS => None,
            Items::List(list) if names == 1 => list
                .iter()
                .enumerate()
                .map(|(nth, value)| Some(smallvec![Item::Known(item(self, nth, *value)?)]))
                .collect(),
            Items::Indexed(list) => {
                let pair = |(nth, value): (usize, &Value<'v>)| {
                    let nth_of = self.constant(Value::uint(nth as u64), self.pc)?;
                    Some(smallvec![Item::Known(nth_of), Item::Known(item(self, nth, *value)?)])
                };
                list.iter().enumerate().map(pair).collect()
            }
            Items::Sorted(map) => (0..map.len()).map(|nth| self.entry(over, map, map.sorted_entry(nth)?)).collect(),
            Items::Entries(map) => {
                let entries = map.shape().keys().iter().zip(map.values());
                entries.map(|(key, value)| self.entry(over, map, (key, *value))).collect()
            }
            Items::List(_) | Items::Pairs(_) | Items::Numbers(_) => None,
        }
    }

    fn entry(
        &mut self,
        over: &Fixed<'v>,
        map: &'v Map<'v>,
        (key, value): (&'v dropforge_value::Text<'v>, Value<'v>),
    ) -> Option<SmallVec<[Item<'v>; 2]>> {
        let own = matches!(over.value, Value::Map(one) if std::ptr::eq(one, map));
        let step = own.then(|| ValueStep::Attr(self.out.string(key.as_str())));
        let key = self.constant(Value::Str(key), self.pc)?;
        Some(smallvec![Item::Known(key), Item::Known(self.part_of(over, value, step)?)])
    }

    /// Returns the items of a loop over the entries of the map at a path, if its keys are known and its values are known
    /// or strings.
    pub(super) fn entries(&mut self, path: &Path<'v>) -> Option<Unrolled<'v>> {
        let mut roots = path.roots();
        let (Some(Root::Global(global)), None) = (roots.next(), roots.next()) else { return None };
        let name = *self.code.globals().get(global as usize)?;
        let (mut known, mut steps) = (self.known.field(self.code.str(name)), Vec::new());
        for (segment, _) in path.segments() {
            let Segment::Attr(name) = segment else { return None };
            steps.push(ValueStep::Attr(name));
            known = known.field(self.code.str(name));
        }
        let Known::Entries(entries) = known else { return None };
        let places = self.places(entries)?;
        places.into_iter().map(|nth| self.open_entry((global, &steps), entries.get(nth)?)).collect()
    }

    /// Returns the places of entries in the order in which a loop runs over them.
    fn places(&self, entries: &[(&'v str, Known<'v>)]) -> Option<Vec<usize>> {
        let numbered: Vec<_> =
            entries.iter().enumerate().map(|(nth, (key, _))| (*key, Value::uint(nth as u64))).collect();
        let map = self.quiet(self.cx.map(&numbered))?;
        let place = |value: Value<'v>| if let Value::Int(n) = value { usize::try_from(n).ok() } else { None };
        match self.quiet(self.rules.iterate(&self.cx, map, 2))? {
            Items::Sorted(map) => (0..map.len()).map(|nth| place(map.sorted_entry(nth)?.1)).collect(),
            Items::Entries(map) => map.values().iter().map(|value| place(*value)).collect(),
            _ => None,
        }
    }

    fn open_entry(
        &mut self,
        (global, steps): (u32, &[ValueStep]),
        (key, known): &(&'v str, Known<'v>),
    ) -> Option<SmallVec<[Item<'v>; 2]>> {
        let name = self.quiet(self.cx.text(key))?;
        let steps = steps.iter().copied().chain([ValueStep::Attr(self.out.string(key))]).collect();
        let item = match known {
            Known::Text => Item::Open(Alias { global, steps }),
            Known::Value(value) => Item::Known(match self.constant(*value, self.pc) {
                Some(fixed) => fixed,
                None => Fixed { value: *value, recipe: Recipe::Input(global, steps) },
            }),
            _ => return None,
        };
        Some(smallvec![Item::Known(self.constant(name, self.pc)?), item])
    }

    /// Returns a part of a known value.
    fn part_of(&mut self, whole: &Fixed<'v>, value: Value<'v>, step: Option<ValueStep>) -> Option<Fixed<'v>> {
        if let Some(fixed) = self.constant(value, self.pc) {
            return Some(fixed);
        }
        let (Recipe::Input(global, steps), Some(step)) = (&whole.recipe, step) else { return None };
        let steps = steps.iter().copied().chain([step]).collect();
        Some(Fixed { value, recipe: Recipe::Input(*global, steps) })
    }
}
