//! Lookups of paths: the facts about the value of a path, and the paths that inputs lack.

use std::collections::HashSet;
use std::rc::Rc;

use smallvec::SmallVec;

use super::slots::{Fact, Held, Origin, Parts, TRACKED};
use super::walk::{CERTAIN, Effect, FactState, FactWalk, Miss};
use crate::bytecode::code::Instruction;
use crate::bytecode::isa::Provenance;
use crate::bytecode::operands::{BinaryOp, Operand};
use crate::bytecode::program::Program;
use crate::bytecode::records::{Path, Root, Segment};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::read_paths::NodeId;
use dropforge_value::{Data, DataMap, ReadPaths};

/// Maximum number of other inputs of an origin. A thousand variables may each derive from the one before.
const OTHERS: usize = 64;

/// Operations of languages, which no host replaces: a map of keys and values, a list of values, and the element at indexes.
const FIELDS: &str = "fields";
const ITEMS: &str = "items";
const ELEMENT: &str = "element";

/// A path without a value.
#[derive(Debug, Clone)]
pub struct Lack<'w> {
    /// The step that has no value, from 0. `None` if it is the root.
    pub step: Option<u32>,
    /// The name of the step as written, or the key that was computed.
    pub name: &'w str,
    /// The map without the name.
    pub parent: Option<&'w DataMap>,
}

/// A step whose computed key is known.
#[derive(Debug, Clone, Copy)]
enum StepKey<'w> {
    Name(&'w str),
    Item(usize),
    Unknown,
}

impl<'w> FactWalk<'w, '_> {
    /// Finds the facts about the value of a path, of which the indexes have been taken from the stack. Returns the step
    /// without a value if the path certainly has none, or if the variable that it begins with has none and another of that
    /// name has one.
    pub(super) fn look_up(
        &mut self,
        path: &Path<'w>,
        indexes: &[Held<'w>],
        state: &FactState<'w>,
    ) -> (Held<'w>, Option<Lack<'w>>) {
        let keys: SmallVec<[StepKey<'w>; 4]> = path.segments().map(|(segment, _)| self.key(segment, indexes)).collect();
        let (mut nodes, mut lack, mut fact, mut passed) = (Vec::new(), None, None, None);
        let (mut parts, count) = (None, path.roots().count());
        self.note_input(path, state);
        for root in path.roots() {
            let base = self.root(root, state);
            let (base, taken) = self.part(base, &keys);
            nodes.extend(self.walk_nodes(base.nodes(), keys.get(taken..).unwrap_or(&[])));
            if count > 1 {
                self.use_parts(&base);
            } else if taken == keys.len() {
                parts.clone_from(&base.parts);
            }
            match self.walk_fact(root, base.fact, (&keys, taken)) {
                // The next root may have the value.
                Err(found) => lack = deeper(lack, found),
                Ok(found) => {
                    passed = passed.or(lack.take().filter(|lack: &Lack<'_>| lack.step.is_some()));
                    fact.get_or_insert(found);
                    if found.is_present() == Some(true) {
                        break;
                    }
                }
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.len() > TRACKED {
            self.mark_whole(&nodes);
            nodes.clear();
        }
        let nodes: Option<Rc<[NodeId]>> = (!nodes.is_empty()).then(|| nodes.into());
        match fact {
            Some(fact) => {
                (Held { fact, nodes, parts, ..Held::default() }, passed.filter(|_| fact.is_present() == Some(true)))
            }
            None => (Held { nodes, parts, ..Held::default() }, lack),
        }
    }

    /// Records the input that a path may begin at. A variable before it that is certainly set hides it, although a step that
    /// the variable lacks may still be found in the input.
    fn note_input(&mut self, path: &Path<'w>, state: &FactState<'w>) {
        for root in path.roots() {
            match root {
                Root::Global(_) => drop(self.begun.insert(self.root_name(root))),
                Root::Slot(slot) if state.slots.get(slot).is_some_and(|held| held.is_set) => return,
                Root::Loop(..) => return,
                Root::Slot(_) | Root::Callers(_) => {}
            }
        }
    }

    /// Returns the facts about the value of a path.
    pub(super) fn load(&mut self, instruction: Instruction<'w>, state: &mut FactState<'w>) -> Held<'w> {
        let path = self.code.path(instruction.operand(Operand::Path).unwrap_or_default());
        let rest = state.stack.len().saturating_sub(path.indexes as usize);
        let indexes = state.stack.split_off(rest);
        let (mut held, lack) = self.look_up(&path, &indexes, state);
        held.origin = self.note_read(instruction.at, &path, state);
        indexes.iter().for_each(|index| self.use_whole(index));
        if let Fact::Mark(_) = held.fact {
            // Errors since a mark in a slot are raised later.
            held.fact = Fact::Present;
        }
        let Some(lack) = lack else { return held };
        if held.fact.is_present() == Some(true) {
            self.miss_of(instruction.at, lack, Effect::Elsewhere);
        } else {
            held.fact = self.lacking(instruction, &path, lack, state);
        }
        held
    }

    /// Returns the fact about the value of a path that has none.
    fn lacking(
        &mut self,
        instruction: Instruction<'w>,
        path: &Path<'w>,
        lack: Lack<'w>,
        state: &FactState<'w>,
    ) -> Fact<'w> {
        let (at, info) = (instruction.at, instruction.op.info());
        if info.provenance == Provenance::OptionalPath {
            self.lacks.insert(at, lack);
            return Fact::Absent(Some(at));
        }
        let name = self.code.str(path.name);
        let left = path.len().saturating_sub(lack.step.map_or(0, |step| step as usize + 1));
        let is_unset = lack.step.is_none() && lack.name.is_empty();
        let in_map = lack.parent.is_some() && !is_unset;
        let fails = state.mass == CERTAIN && self.dialect.fails_without(name, left, in_map);
        if !fails && left == 0 && self.dialect.has_nil(name) {
            // A variable that was set to such a value.
            if is_unset {
                let roots = path.roots().map(|root| self.root(root, state).fact);
                return roots.last().unwrap_or_default();
            }
            if in_map && !info.writes_path() {
                self.lacks.insert(at, lack);
                return Fact::Absent(Some(at));
            }
        }
        if fails || !is_unset {
            self.miss_of(at, lack, if fails { Effect::Fails } else { Effect::MayFail });
        }
        Fact::Unknown
    }

    /// Records that the path at `at` has no value.
    fn miss_of(&mut self, at: u32, lack: Lack<'w>, effect: Effect) {
        let path = self.code.instruction(at).and_then(|instruction| instruction.operand(Operand::Path));
        let path = self.code.path(path.unwrap_or_default());
        self.miss(Miss { at, path: self.dialect.unmarked(self.code.str(path.name)), lack, effect });
    }

    /// Records the use of a value, if it is that of a path that has none.
    pub(super) fn use_absent(&mut self, fact: Fact<'w>, effect: Effect) {
        let Fact::Absent(Some(at)) = fact else { return };
        let Some(path) = self.code.instruction(at).and_then(|it| it.operand(Operand::Path)) else { return };
        if self.code.path(path).indexes == 0
            && let Some(lack) = self.lacks.get(&at).cloned()
        {
            self.miss_of(at, lack, effect);
        }
    }

    /// Returns `true` for the value of a path that has none, where a language has nil for it.
    pub(super) fn is_nil(&self, fact: Fact<'w>) -> bool {
        let Fact::Absent(Some(at)) = fact else { return false };
        self.code.instruction(at).is_some_and(|it| it.op.info().provenance == Provenance::Path)
    }

    /// Records that a function is given the value of a path that has none. It has an answer for one that may be missing.
    pub(super) fn give_absent(&mut self, fact: Fact<'w>) {
        let Fact::Absent(Some(at)) = fact else { return };
        let Some(instruction) = self.code.instruction(at) else { return };
        match (instruction.op.info().provenance, instruction.operand(Operand::Path)) {
            (Provenance::OptionalPath, Some(path)) => self.tested.push(self.code.str(self.code.path(path).name)),
            _ => self.use_absent(fact, Effect::Given),
        }
    }

    /// Returns the result of a comparison, of which both sides are used.
    pub(super) fn compared(&mut self, op: BinaryOp, a: Fact<'w>, b: Fact<'w>) -> Option<bool> {
        let nils = [a, b].map(|fact| self.is_nil(fact));
        [a, b].into_iter().zip(nils).filter(|(_, nil)| *nil).for_each(|(fact, _)| self.use_absent(fact, Effect::Given));
        match (op, nils) {
            (BinaryOp::Eq | BinaryOp::Ne, [true, false]) if b.scalar().is_constant() => Some(op == BinaryOp::Ne),
            (BinaryOp::Eq | BinaryOp::Ne, [false, true]) if a.scalar().is_constant() => Some(op == BinaryOp::Ne),
            _ => Fact::compare(op, a, b),
        }
    }

    /// Records the path that the instruction at `at` looks up, up to its first computed key, if reads are recorded and it
    /// begins at one input. Returns the origin of its value.
    pub(super) fn note_read(&mut self, at: u32, path: &Path<'w>, state: &FactState<'w>) -> Option<Rc<Origin<'w>>> {
        self.reads.as_ref()?;
        let mut roots = path.roots();
        let names: Vec<&str> = path.segments().map_while(|(segment, _)| self.attribute(segment)).collect();
        let keys: Vec<_> = names.iter().map(|name| StepKey::Name(name)).collect();
        let (base, taken) = self.part(self.root(roots.next()?, state), &keys);
        let mut origin = (*base.origin?).clone();
        for root in roots {
            origin.or.push(Some(self.root_name(root)).filter(|name| !name.is_empty())?);
        }
        let is_whole = names.len() == path.len();
        origin.node = names.iter().skip(taken).try_fold(origin.node, |node, name| self.tree.child(node, name))?;
        self.reads.as_mut()?.insert((origin.clone(), at));
        (is_whole && origin.or.len() <= OTHERS).then(|| origin.into())
    }

    fn attribute(&self, segment: Segment) -> Option<&'w str> {
        match segment {
            Segment::Attr(name) => Some(self.code.str(name)),
            Segment::Index(_) => None,
        }
    }

    fn key(&self, segment: Segment, indexes: &[Held<'w>]) -> StepKey<'w> {
        match segment {
            Segment::Attr(name) => StepKey::Name(self.code.str(name)),
            Segment::Index(nth) => indexes.get(nth as usize).map_or(StepKey::Unknown, |held| step_key(held.fact)),
        }
    }

    /// Returns the facts about a root.
    pub(super) fn root(&self, root: Root, state: &FactState<'w>) -> Held<'w> {
        match root {
            Root::Slot(slot) => state.slots.get(slot).cloned().unwrap_or_default(),
            Root::Global(global) => self.globals.get(global as usize).cloned().unwrap_or_default(),
            Root::Loop(..) => Held::of(Fact::Present),
            Root::Callers(_) => Held::default(),
        }
    }

    fn root_name(&self, root: Root) -> &'w str {
        match root {
            Root::Global(global) => self.code.globals().get(global as usize).map_or("", |&name| self.code.str(name)),
            _ => "",
        }
    }

    /// Returns the fact about the value at the keys after the first `taken`, which lead to `base`.
    fn walk_fact(
        &self,
        root: Root,
        base: Fact<'w>,
        (keys, taken): (&[StepKey<'w>], usize),
    ) -> Result<Fact<'w>, Lack<'w>> {
        if taken > 0 && taken == keys.len() {
            return Ok(base);
        }
        if let Fact::Absent(_) = base {
            return Err(Lack { step: None, name: self.root_name(root), parent: self.inputs });
        }
        keys.iter().enumerate().skip(taken).try_fold(base, |fact, (at, key)| {
            let lack = |name, parent| Lack { step: u32::try_from(at).ok(), name, parent };
            match (fact, *key) {
                (Fact::Data(Data::Map(map)), StepKey::Name(name)) => match map.get(name) {
                    Some(value) => Ok(Fact::Data(value)),
                    None => Err(lack(name, Some(map))),
                },
                (Fact::Data(Data::List(items)), key) => Ok(item(items, key)),
                (Fact::Data(Data::Null | Data::Bool(_) | Data::Int(_) | Data::Str(_)), StepKey::Name(name)) => {
                    Err(lack(name, None))
                }
                _ => Ok(Fact::Unknown),
            }
        })
    }

    /// Returns the value that the first keys lead to within maps and lists that the program makes, and their number. What a
    /// program adds to such a map later was given to a function, and so counts as read.
    fn part(&mut self, mut base: Held<'w>, keys: &[StepKey<'w>]) -> (Held<'w>, usize) {
        let mut taken = 0;
        while let (Some(parts), Some(key)) = (base.parts.clone(), keys.get(taken)) {
            let found = match (&*parts, key) {
                (Parts::Fields(fields), StepKey::Name(name)) => {
                    fields.iter().rev().find(|(key, _)| key == name).map(|(_, held)| held)
                }
                (Parts::Items(items), StepKey::Item(at)) => items.get(*at),
                _ => {
                    self.use_parts(&base);
                    return (Held::default(), keys.len());
                }
            };
            let missing = || Held::of(if self.mutable { Fact::Unknown } else { Fact::Absent(None) });
            base = found.cloned().unwrap_or_else(missing);
            taken += 1;
        }
        (base, taken)
    }

    /// Returns the value that an operation of the language makes of others, or takes out of one.
    pub(super) fn composed(&mut self, name: &str, arguments: &[Held<'w>]) -> Option<Held<'w>> {
        match (name, arguments) {
            (FIELDS, pairs) if pairs.len().is_multiple_of(2) => {
                let field = |pair: &[Held<'w>]| match (pair.first()?.fact.scalar(), pair.get(1)?) {
                    (Fact::Str(key), held) => Some((key, held.clone())),
                    _ => None,
                };
                Held::made(Parts::Fields(pairs.chunks(2).map(field).collect::<Option<_>>()?))
            }
            (ITEMS, items) => Held::made(Parts::Items(items.to_vec())),
            (ELEMENT, [of, indexes @ ..]) => Some(self.element(of, indexes)),
            _ => None,
        }
    }

    /// Returns the element of a value at these indexes.
    fn element(&mut self, of: &Held<'w>, indexes: &[Held<'w>]) -> Held<'w> {
        let keys: Vec<_> = indexes.iter().map(|index| step_key(index.fact)).collect();
        indexes.iter().for_each(|index| self.use_whole(index));
        let (base, taken) = self.part(of.clone(), &keys);
        let rest = keys.get(taken..).unwrap_or(&[]);
        let nodes = self.walk_nodes(base.nodes(), rest);
        let root = Root::Slot(u32::MAX);
        let fact = match self.walk_fact(root, base.fact, (&keys, taken)) {
            Ok(Fact::Absent(_)) | Err(_) => Fact::Unknown,
            Ok(fact) => fact,
        };
        let parts = base.parts.filter(|_| rest.is_empty());
        Held { fact, nodes: (!nodes.is_empty()).then(|| nodes.into()), parts, ..Held::default() }
    }

    /// Returns the nodes of a path below `from`. Everything counts as read below a node whose key is computed.
    fn walk_nodes(&mut self, from: &[NodeId], keys: &[StepKey<'w>]) -> Vec<NodeId> {
        if from.is_empty() {
            return Vec::new();
        }
        let mut nodes = from.to_vec();
        for key in keys {
            if let StepKey::Unknown = key {
                self.mark_whole(&nodes);
                return Vec::new();
            }
            let name = if let StepKey::Name(name) = key { name } else { ReadPaths::ITEM };
            nodes = self.children(&nodes, name);
        }
        nodes
    }

    /// Returns the nodes of `name` below these.
    pub(super) fn children(&mut self, nodes: &[NodeId], name: &str) -> Vec<NodeId> {
        let tree = &mut *self.tree;
        nodes.iter().filter_map(|&node| tree.child(node, name)).collect()
    }
}

/// Returns the step to a key with this fact.
fn step_key(key: Fact<'_>) -> StepKey<'_> {
    match key.scalar() {
        Fact::Str(name) => StepKey::Name(name),
        Fact::Int(at) => usize::try_from(at).map_or(StepKey::Unknown, StepKey::Item),
        _ => StepKey::Unknown,
    }
}

/// Returns the lack that is further along its path.
fn deeper<'w>(lack: Option<Lack<'w>>, other: Lack<'w>) -> Option<Lack<'w>> {
    Some(match lack {
        Some(lack) if lack.step > other.step => lack,
        _ => other,
    })
}

/// Returns the facts about an item of a list.
fn item<'w>(items: &'w [Data], key: StepKey<'w>) -> Fact<'w> {
    let at = match key {
        StepKey::Item(at) => Some(at),
        StepKey::Name(name) => name.parse().ok(),
        StepKey::Unknown => None,
    };
    at.and_then(|at| items.get(at)).map_or(Fact::Unknown, Fact::Data)
}

/// Finds the paths that `program` looks up and that `inputs` lack, in code order, without running it. `left` is the number
/// of steps that it may take, and is reduced by those taken. With fewer than needed, some are not found.
///
/// A branch is left out if the inputs rule it out. A path that the program tests for presence, or for which it has a
/// default, is not missing. A program that changes maps may read other entries than the inputs have: in it nothing is
/// missing, unless `looks_at_changed` says that the caller tells names that it may add.
///
/// ```
/// use dropforge::bytecode::analysis::missing;
/// use dropforge::{Dialect, Engine};
/// use dropforge::value::Data;
/// let source = "{% if tls.on %}{{ tls.cert }}{% endif %}{{ image.tga }}{{ zone | default(value=1) }}";
/// let template = Engine::new().compile(Dialect::Tera, "t", source)?;
/// let inputs = serde_json::from_str::<Data>(r#"{"tls": {"on": false}, "image": {"tag": 1}}"#)?.into_map().unwrap();
/// let found = missing(template.program(), &inputs, false, &mut 1_000);
/// assert_eq!(found.iter().map(|miss| miss.path).collect::<Vec<_>>(), ["image.tga"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn missing<'w>(program: &'w Program, inputs: &'w DataMap, looks_at_changed: bool, left: &mut u64) -> Vec<Miss<'w>> {
    if program.start().mutable && !looks_at_changed {
        return Vec::new();
    }
    let mut unused = ReadPaths::default();
    let mut walk = FactWalk::new(program, &mut unused, Some(inputs), *left);
    walk.run();
    *left = walk.left;
    let (mut misses, tested) = (walk.misses, walk.tested);
    misses.retain(|miss| miss.effect == Effect::Fails || !tested.contains(&miss.path));
    // An operation that gets the value may be a test for it.
    let given: HashSet<&str> =
        misses.iter().filter(|miss| miss.effect == Effect::Given).map(|miss| miss.path).collect();
    for miss in misses.iter_mut().filter(|miss| miss.effect == Effect::MayFail && given.contains(miss.path)) {
        miss.effect = Effect::Given;
    }
    // A loop looks up the same path for each item, and the worst consequence counts.
    misses.small_sort_by_key(|miss| (miss.at, std::cmp::Reverse(miss.effect)));
    misses.dedup_by_key(|miss| miss.at);
    misses
}
