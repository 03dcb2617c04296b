//! Lookups of paths: the facts about the value of a path, and the paths that inputs lack.

use std::rc::Rc;

use smallvec::SmallVec;

use super::slots::{Fact, Held, Origin, TRACKED};
use super::walk::{Effect, FactState, FactWalk, Miss};
use crate::bytecode::program::Program;
use crate::bytecode::records::{Path, Root, Segment};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::read_paths::NodeId;
use dropforge_value::{Data, DataMap, ReadPaths};

/// Maximum number of other inputs of an origin. A thousand variables may each derive from the one before.
const OTHERS: usize = 64;

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
        for root in path.roots() {
            let base = self.root(root, state);
            nodes.extend(self.walk_nodes(base.nodes(), &keys));
            match self.walk_fact(root, base.fact, &keys) {
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
            Some(fact) => (Held { fact, nodes, origin: None }, passed.filter(|_| fact.is_present() == Some(true))),
            None => (Held { fact: Fact::Unknown, nodes, origin: None }, lack),
        }
    }

    /// Records the path that the instruction at `at` looks up, up to its first computed key, if reads are recorded and it
    /// begins at one input. Returns the origin of its value.
    pub(super) fn note_read(&mut self, at: u32, path: &Path<'w>, state: &FactState<'w>) -> Option<Rc<Origin<'w>>> {
        self.reads.as_ref()?;
        let mut roots = path.roots();
        let mut origin = (*self.root(roots.next()?, state).origin?).clone();
        for root in roots {
            origin.or.push(Some(self.root_name(root)).filter(|name| !name.is_empty())?);
        }
        let names: Vec<&str> = path.segments().map_while(|(segment, _)| self.attribute(segment)).collect();
        let is_whole = names.len() == path.len();
        origin.node = names.iter().try_fold(origin.node, |node, name| self.tree.child(node, name))?;
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
            Segment::Index(nth) => match indexes.get(nth as usize).map(|held| held.fact.scalar()) {
                Some(Fact::Str(name)) => StepKey::Name(name),
                Some(Fact::Int(at)) => usize::try_from(at).map_or(StepKey::Unknown, StepKey::Item),
                _ => StepKey::Unknown,
            },
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

    fn walk_fact(&self, root: Root, base: Fact<'w>, keys: &[StepKey<'w>]) -> Result<Fact<'w>, Lack<'w>> {
        if let Fact::Absent(_) = base {
            return Err(Lack { step: None, name: self.root_name(root), parent: self.inputs });
        }
        keys.iter().enumerate().try_fold(base, |fact, (at, key)| {
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
/// use dropforge::engine::{Dialect, Engine};
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
    // A loop looks up the same path for each item, and the worst consequence counts.
    misses.small_sort_by_key(|miss| (miss.at, std::cmp::Reverse(miss.effect)));
    misses.dedup_by_key(|miss| miss.at);
    misses
}
