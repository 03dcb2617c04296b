//! The classes of a fleet: clusters that set the same values at some paths.
//!
//! A template may be specialised to each class. It pays if the instructions that this saves in the clusters of the class
//! are more than it takes. Both are estimates, from the mentions of paths in the code and from the clusters looked at.

use std::collections::HashMap;

use super::seen::{Keys, OTHER, PathValues};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_machine::bytecode::{Operand, Program, Root, Segment};
use dropforge_value::{Data, DataMap};

/// Machine instructions that a known value saves for each mention.
const SAVED: usize = 100;

/// Machine instructions that an entry of an unrolled loop saves.
const SAVED_BY_ENTRY: usize = 180;

/// Machine instructions that it takes to specialise a word of code.
const COST: usize = 9_000;

/// Maximum number of groups of paths to try.
const GROUPS: usize = 24;

/// A path with a choice of values.
#[derive(Debug)]
pub(super) struct Leaf<'d> {
    pub keys: Keys,
    pub values: Vec<&'d Data>,
}

/// The classes, as far as they pay.
#[derive(Debug, Default)]
pub(super) struct Classes<'d> {
    pub leaves: Vec<Leaf<'d>>,
    /// Maps with known keys: their paths and keys. The flags tell which values are strings.
    pub maps: Vec<(Keys, Vec<(&'d str, bool)>)>,
    /// By template: its classes, each with the places of the values of the leaves, or `None` for a leaf that it does not
    /// mention.
    pub templates: Vec<Vec<Class>>,
}

/// The values of the leaves that a template mentions.
pub(super) type Class = Vec<Option<u8>>;

/// Paths whose values divide the clusters looked at in the same way.
struct Group {
    /// Indexes of leaves.
    leaves: Vec<usize>,
    of: Vec<u8>,
}

/// The sizes that the model depends on: the clusters of the run, and the number of specialised templates that there may be.
pub(super) type Scale = (usize, usize);

/// A template as the model sees it: the parts of the clusters that it can tell apart, and what it may save.
#[derive(Clone)]
struct ModelTemplate {
    /// By cluster: its part.
    parts: Vec<u32>,
    count: usize,
    /// Machine instructions saved for each cluster.
    saved: usize,
}

impl<'d> Classes<'d> {
    /// Chooses the classes that pay. `uses` are those of the templates; `is_open` tells which paths are the clusters' own
    /// to set, and `is_map` which of them are merged with a shared map.
    pub fn choose(
        own: &[&'d DataMap],
        uses: &[Uses],
        scale: Scale,
        is_open: &dyn Fn(&[String]) -> bool,
        is_map: &dyn Fn(&[String]) -> bool,
    ) -> Self {
        let seen = PathValues::new(own);
        let (mut classes, mut of) = (Self::default(), Vec::new());
        seen.each(&mut Vec::new(), &mut |keys, seen| {
            let is_looped = uses.iter().any(|uses| uses.loops(keys) > 0);
            if is_looped
                && is_open(keys)
                && !is_map(keys)
                && let Some(names) = seen.entries(own.len())
            {
                classes.maps.push((keys.clone(), names));
            }
        });
        seen.each(&mut Vec::new(), &mut |keys, seen| {
            let is_used = || uses.iter().any(|uses| classes.mentions(uses, keys) > 0);
            if seen.is_choice(own.len()) && is_open(keys) && is_used() {
                classes.leaves.push(Leaf { keys: keys.clone(), values: seen.values.clone() });
                of.push(padded(&seen.of, own.len()));
            }
        });
        classes.divide(uses, scale, &of);
        classes
    }

    /// Returns the values of the leaves, by their names.
    pub fn values(&self) -> DataMap {
        let mut values = DataMap::default();
        for (leaf, Leaf { values: own, .. }) in self.leaves.iter().enumerate() {
            let named = (0..).zip(own).map(|(nth, value)| (Self::name(leaf, nth), Data::clone(value)));
            values.extend(named);
        }
        values
    }

    /// Returns the name of a value of a leaf.
    pub fn name(leaf: usize, value: u8) -> String {
        format!("{leaf}/{value}")
    }

    /// Returns `true` if no class pays.
    pub fn is_empty(&self) -> bool {
        self.templates.iter().all(Vec::is_empty)
    }

    /// Returns how often a template mentions a path, directly or in a loop over the map that has it.
    fn mentions(&self, uses: &Uses, keys: &[String]) -> usize {
        let looped = keys.split_last().filter(|(_, map)| self.maps.iter().any(|(one, _)| one == map));
        uses.reads(keys) + looped.map_or(0, |(_, map)| uses.loops(map))
    }

    /// Chooses leaves, best first, and then the classes of each template.
    fn divide(&mut self, uses: &[Uses], scale: Scale, of: &[Vec<u8>]) {
        let clusters = of.first().map_or(0, Vec::len).max(1);
        let whole = |uses: &Uses| ModelTemplate { parts: vec![0; clusters], count: 1, saved: self.saved_by_maps(uses) };
        let mut divisions: Vec<ModelTemplate> = uses.iter().map(whole).collect();
        let mut groups = self.groups(uses, of);
        let mut chosen = vec![false; self.leaves.len()];
        loop {
            let net = |divisions: &[ModelTemplate]| net(divisions, uses, scale);
            let now = net(&divisions);
            let tried = groups.iter().enumerate().map(|(nth, group)| (nth, self.with(&divisions, uses, group)));
            let gains = tried.map(|(nth, with)| (net(&with).saturating_sub(now), nth, with));
            let fits = |with: &[ModelTemplate]| with.iter().map(|each| each.count).sum::<usize>() <= scale.1;
            let best = gains.filter(|(gain, _, with)| *gain > 0 && fits(with)).max_by_key(|(gain, ..)| *gain);
            let Some((_, nth, with)) = best else { break };
            divisions = with;
            groups.swap_remove(nth).leaves.iter().for_each(|leaf| chosen[*leaf] = true);
        }
        self.keep(&chosen, of, uses, (&divisions, scale));
    }

    fn saved_by_maps(&self, uses: &Uses) -> usize {
        self.maps.iter().map(|(keys, names)| uses.loops(keys) * names.len() * SAVED_BY_ENTRY).sum()
    }

    /// Returns groups of leaves, most mentioned first.
    fn groups(&self, uses: &[Uses], of: &[Vec<u8>]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (leaf, of) in of.iter().enumerate() {
            match groups.iter_mut().find(|group| group.of == *of) {
                Some(group) => group.leaves.push(leaf),
                None => groups.push(Group { leaves: vec![leaf], of: of.clone() }),
            }
        }
        let mentions = |group: &Group| -> usize {
            let leaves = group.leaves.iter().filter_map(|leaf| self.leaves.get(*leaf));
            leaves.flat_map(|leaf| uses.iter().map(|uses| self.mentions(uses, &leaf.keys))).sum()
        };
        groups.small_sort_by_key(|group| std::cmp::Reverse(mentions(group)));
        groups.truncate(GROUPS);
        groups
    }

    /// Returns the divisions with the values of a group known.
    fn with(&self, divisions: &[ModelTemplate], uses: &[Uses], group: &Group) -> Vec<ModelTemplate> {
        let with = |(division, uses): (&ModelTemplate, &Uses)| {
            let leaves = group.leaves.iter().filter_map(|leaf| self.leaves.get(*leaf));
            let mentions: usize = leaves.map(|leaf| self.mentions(uses, &leaf.keys)).sum();
            if mentions == 0 {
                return division.clone();
            }
            let (parts, count) = divided(division, &group.of);
            ModelTemplate { parts, count, saved: division.saved + mentions * SAVED }
        };
        divisions.iter().zip(uses).map(with).collect()
    }

    /// Keeps the chosen leaves, and the classes of each template that pay.
    fn keep(&mut self, chosen: &[bool], of: &[Vec<u8>], uses: &[Uses], (divisions, scale): (&[ModelTemplate], Scale)) {
        let kept: Vec<&Vec<u8>> = of.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(of, _)| of).collect();
        let mut left = chosen.iter();
        self.leaves.retain(|_| left.next() == Some(&true));
        for (uses, division) in uses.iter().zip(divisions) {
            let is_mentioned: Vec<bool> = self.leaves.iter().map(|leaf| self.mentions(uses, &leaf.keys) > 0).collect();
            let mut counts: HashMap<Class, usize> = HashMap::new();
            for cluster in 0..division.parts.len() {
                let value = |(of, is_mentioned): (&&Vec<u8>, &bool)| is_mentioned.then(|| of[cluster]);
                *counts.entry(kept.iter().zip(&is_mentioned).map(value).collect()).or_default() += 1;
            }
            counts.retain(|class, count| !class.contains(&Some(OTHER)) && pays(*count, division, uses, scale) > 0);
            let mut found: Vec<(Class, usize)> = counts.into_iter().collect();
            found.small_sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            self.templates.push(found.into_iter().map(|(class, _)| class).collect());
        }
    }
}

fn padded(of: &[u8], clusters: usize) -> Vec<u8> {
    (0..clusters).map(|cluster| of.get(cluster).copied().unwrap_or(OTHER)).collect()
}

/// Divides each part by values. Returns the parts and their number.
fn divided(division: &ModelTemplate, of: &[u8]) -> (Vec<u32>, usize) {
    let (mut known, mut count) = (vec![u32::MAX; division.count * (usize::from(OTHER) + 1)], 0_u32);
    let part = |(part, value): (&u32, &u8)| {
        let place = &mut known[*part as usize * (usize::from(OTHER) + 1) + usize::from(*value)];
        if *place == u32::MAX {
            *place = count;
            count += 1;
        }
        *place
    };
    (division.parts.iter().zip(of).map(part).collect(), count as usize)
}

/// Returns the machine instructions that specialising a template to a class saves in the run, less what it takes.
fn pays(seen: usize, division: &ModelTemplate, uses: &Uses, scale: Scale) -> i64 {
    let clusters = seen * scale.0 / division.parts.len().max(1);
    let [saved, cost] = [division.saved * clusters, uses.words * COST].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    saved.saturating_sub(cost)
}

/// Returns the machine instructions that the classes of all templates save.
fn net(divisions: &[ModelTemplate], uses: &[Uses], scale: Scale) -> i64 {
    let of = |(division, uses): (&ModelTemplate, &Uses)| -> i64 {
        let mut seen = vec![0; division.count];
        division.parts.iter().for_each(|part| seen[*part as usize] += 1);
        seen.into_iter().map(|seen| pays(seen, division, uses, scale).max(0)).sum()
    };
    divisions.iter().zip(uses).map(of).sum()
}

/// How often the code of a program mentions paths of inputs.
#[derive(Debug, Default)]
pub(super) struct Uses {
    reads: HashMap<Keys, usize>,
    /// Loops over the entries of maps.
    loops: HashMap<Keys, usize>,
    /// Words of code.
    pub words: usize,
}

impl Uses {
    pub fn of(program: &Program) -> Self {
        let (code, mut uses) = (program.code(), Self { words: program.words().len(), ..Self::default() });
        for chunk in program.chunks() {
            let mut before = None;
            for instruction in code.instructions(chunk) {
                if let (Some(2), Some(keys)) = (instruction.operand(Operand::Names), before) {
                    *uses.loops.entry(keys).or_default() += 1;
                }
                before = instruction.operand(Operand::Path).and_then(|path| keys(program, path));
                if let Some(keys) = &before {
                    *uses.reads.entry(keys.clone()).or_default() += 1;
                }
            }
        }
        uses
    }

    /// Returns the number of reads of a path.
    pub fn reads(&self, keys: &[String]) -> usize {
        self.reads.get(keys).copied().unwrap_or(0)
    }

    /// Returns the number of loops over the map at a path.
    pub fn loops(&self, keys: &[String]) -> usize {
        self.loops.get(keys).copied().unwrap_or(0)
    }
}

/// Returns the keys of a path into an input. `None` for other paths, and if an index is among them.
fn keys(program: &Program, path: u32) -> Option<Keys> {
    let code = program.code();
    let path = code.path(path);
    let Some(Root::Global(global)) = path.roots().next() else { return None };
    let name = code.str(*code.globals().get(global as usize)?).to_owned();
    let steps = path.segments().map(|(segment, _)| match segment {
        Segment::Attr(name) => Some(code.str(name).to_owned()),
        Segment::Index(_) => None,
    });
    std::iter::once(Some(name)).chain(steps).collect()
}
