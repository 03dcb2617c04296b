//! Record tables. Each is walked once, and the facts about a record that instructions need are stored at its offset.
//! Other offsets are invalid.

use super::super::records::{
    FAILURE_HEAD, Gate, PATH_HEAD, Root, SCOPE_HEAD, SITE_HEAD, Scope, Segment, path_counts, quick, unpack_root,
    unpack_segment,
};
use super::super::rows::{ImportKind, Signature};
use super::check::Check;
use super::rules::Rule;
use crate::diagnostics::{Code, Result};

/// The facts about a record in a word; 0 at invalid offsets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fact(u64);

impl Fact {
    const KNOWN: u64 = 1;

    fn note(count: u32, needs: Needs) -> u64 {
        Self::KNOWN | u64::from(needs.loops) << 1 | u64::from(needs.slots) << 22 | u64::from(count & 0x1_FFFF) << 47
    }

    /// Returns the number of values that it pops.
    pub fn count(self) -> u32 {
        (self.0 >> 47) as u32
    }

    /// Returns the number of slots that it needs.
    pub fn slots(self) -> u32 {
        (self.0 >> 22 & 0x1FF_FFFF) as u32
    }

    /// Returns the number of open loops that it needs.
    pub fn loops(self) -> u32 {
        (self.0 >> 1 & 0x1F_FFFF) as u32
    }
}

/// The slots and loops that the roots of a record need.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    slots: u32,
    loops: u32,
}

/// The facts of all records, by table and offset.
#[derive(Debug)]
pub(super) struct Facts<'f> {
    pub paths: &'f [u64],
    pub sites: &'f [u64],
    pub keys: &'f [u64],
    pub scopes: &'f [u64],
    pub failures: &'f [u64],
}

impl Facts<'_> {
    /// Returns the facts at an offset of a table.
    #[inline(always)]
    pub fn at(table: &[u64], offset: u32) -> Option<Fact> {
        table.get(offset as usize).filter(|fact| **fact != 0).map(|fact| Fact(*fact))
    }
}

impl Check<'_, '_> {
    /// Walks the record tables. `scratch` has one word for each of theirs.
    pub(super) fn records<'f>(&self, scratch: &'f mut [u64]) -> Result<Facts<'f>> {
        let tables = self.tables;
        let (paths, scratch) = scratch.split_at_mut(tables.paths.len());
        let (sites, scratch) = scratch.split_at_mut(tables.sites.len());
        let (keys, scratch) = scratch.split_at_mut(tables.keys.len());
        let (scopes, failures) = scratch.split_at_mut(tables.scopes.len());
        self.paths(paths)?;
        self.sites(sites)?;
        self.keys(keys)?;
        self.scopes(scopes)?;
        self.failures(failures)?;
        Ok(Facts { paths, sites, keys, scopes, failures })
    }

    fn paths(&self, facts: &mut [u64]) -> Result<()> {
        let (mut at, mut caches) = (0, 0);
        while let Some((&[common, cache, name, shape], rest)) =
            self.tables.paths.get(at..).and_then(<[u32]>::split_first_chunk::<PATH_HEAD>)
        {
            let (indexes, roots, steps) = path_counts(shape);
            let record = rest.get(..roots + steps * 2);
            self.require(Rule::V5, record.is_some() && roots > 0 && self.has_string(name), "a path is not whole", at)?;
            let (roots, segments) = record.unwrap_or(&[]).split_at_checked(roots).unwrap_or((&[], &[]));
            self.require(Rule::V6, cache == caches, "a path has the inline caches of another", at)?;
            caches += u32::try_from(steps).unwrap_or(0);
            let needs = roots.iter().try_fold(Needs::default(), |needs, &root| self.root(root, needs, at))?;
            self.segments(segments, indexes, at)?;
            let first = roots.first().map(|&root| unpack_root(root));
            let quick = quick(first, steps, indexes as usize);
            self.require(Rule::V5, common == quick, "the common case of a path is not the path's", at)?;
            facts[at] = Fact::note(indexes, needs);
            at += PATH_HEAD + roots.len() + segments.len();
        }
        self.require(Rule::V5, at == self.tables.paths.len(), "a path is not whole", at)?;
        self.require(
            Rule::V6,
            caches == self.tables.properties.caches,
            "the inline caches are not those of the paths",
            at,
        )
    }

    #[inline(always)]
    fn root(&self, root: u32, needs: Needs, at: usize) -> Result<Needs> {
        let needs = match unpack_root(root) {
            Root::Slot(slot) => Needs { slots: needs.slots.max((slot + 1).min(1 << 24)), ..needs },
            Root::Loop(level, _) => Needs { loops: needs.loops.max(level + 1), ..needs },
            Root::Global(global) => {
                let known = (global as usize) < self.tables.globals.len();
                self.require(Rule::V5, known, "a root names no input", at)?;
                needs
            }
            Root::Callers(name) => {
                self.require(Rule::V5, self.has_string(name), "a root has no name", at)?;
                needs
            }
        };
        let form = root >> 28 <= 3 && (root >> 28 != 2 || root & 0xFC == 0);
        self.require(Rule::V5, form, "a root is of no kind", at)?;
        Ok(needs)
    }

    #[inline(always)]
    fn segments(&self, segments: &[u32], indexes: u32, at: usize) -> Result<()> {
        let mut computed = 0;
        for &[step, _] in segments.as_chunks().0 {
            let good = match unpack_segment(step) {
                Segment::Attr(name) => self.has_string(name),
                Segment::Index(nth) => {
                    computed += 1;
                    nth + 1 == computed && step >> 28 == 1
                }
            };
            self.require(Rule::V5, good, "a step of a path has no name or is of no kind", at)?;
        }
        self.require(Rule::V5, computed == indexes, "a path takes not as many indexes as it has", at)
    }

    fn sites(&self, facts: &mut [u64]) -> Result<()> {
        let mut at = 0;
        while let Some((&[import, count, gate], rest)) =
            self.tables.sites.get(at..).and_then(<[u32]>::split_first_chunk::<SITE_HEAD>)
        {
            let params = rest.get(..count as usize);
            let import = self.tables.imports.get(import as usize);
            let whole = params.is_some() && count < 1 << 16;
            self.require(Rule::V10, whole && import.is_some(), "a call is not whole or calls nothing", at)?;
            let params = params.unwrap_or(&[]);
            let signature = import.map_or(Signature::OPEN, |import| Signature::of_word(import[2]));
            let most = signature.count().unwrap_or(u32::try_from(self.tables.strings.len()).unwrap_or(0));
            let value =
                import.is_some_and(|import| [ImportKind::Filter as u32, ImportKind::Test as u32].contains(&import[0]));
            let named = params.get(usize::from(value && signature == Signature::OPEN)..).unwrap_or(&[]);
            let known = named.iter().all(|&param| param < most);
            self.require(Rule::V10, known, "an argument is for no parameter", at)?;
            let in_order = Gate::new(params, signature.count(), 0).is_in_order();
            let ordered = Gate::of_word(gate).is_in_order() == in_order;
            self.require(Rule::V10, ordered, "the order of the arguments is not the recorded one", at)?;
            facts[at] = Fact::note(count, Needs::default());
            at += SITE_HEAD + params.len();
        }
        self.require(Rule::V10, at == self.tables.sites.len(), "a call is not whole", at)
    }

    fn keys(&self, facts: &mut [u64]) -> Result<()> {
        let mut at = 0;
        while let Some((&count, rest)) = self.tables.keys.get(at..).and_then(<[u32]>::split_first) {
            let keys = rest.get(..count as usize);
            self.require(Rule::V5, keys.is_some() && count < 1 << 16, "the keys of a map are not whole", at)?;
            let keys = keys.unwrap_or(&[]);
            let named = keys.iter().all(|&key| self.has_string(key));
            self.require(Rule::V5, named, "a key of a map has no name", at)?;
            facts[at] = Fact::note(count, Needs::default());
            at += 1 + keys.len();
        }
        Ok(())
    }

    fn scopes(&self, facts: &mut [u64]) -> Result<()> {
        let mut at = 1;
        self.require(Rule::V5, self.tables.scopes.first() == Some(&0), "the place of no scope is taken", 0)?;
        while let Some((&[flags, count], rest)) =
            self.tables.scopes.get(at..).and_then(<[u32]>::split_first_chunk::<SCOPE_HEAD>)
        {
            let entries = rest.get(..(count as usize).saturating_mul(2));
            let known = flags & !(Scope::INPUTS | Scope::CALLERS) == 0;
            self.require(Rule::V5, entries.is_some() && known, "a scope is not whole", at)?;
            let (entries, mut needs) = (entries.unwrap_or(&[]), Needs::default());
            for &[name, root] in entries.as_chunks().0 {
                self.require(Rule::V5, self.has_string(name), "an entry of a scope has no name", at)?;
                needs = self.root(root, needs, at)?;
            }
            facts[at] = Fact::note(0, needs);
            at += SCOPE_HEAD + entries.len();
        }
        self.require(Rule::V5, at == self.tables.scopes.len(), "a scope is not whole", at)
    }

    fn failures(&self, facts: &mut [u64]) -> Result<()> {
        let mut at = 0;
        while let Some((&[code, message, help, count], rest)) =
            self.tables.failures.get(at..).and_then(<[u32]>::split_first_chunk::<FAILURE_HEAD>)
        {
            let names = rest.get(..count.saturating_sub(1) as usize);
            let said = self.has_string(message) && (help == 0 || self.has_string(help - 1));
            let whole = names.is_some() && said && Code::from_number(code).is_some();
            self.require(Rule::V5, whole, "a failure is not whole", at)?;
            let names = names.unwrap_or(&[]);
            let named = names.iter().all(|&name| self.has_string(name));
            self.require(Rule::V5, named, "what there is instead has no name", at)?;
            let lengths = names.iter().filter_map(|&name| self.tables.strings.get(name as usize));
            let bytes: u64 = lengths.map(|&[start, end]| u64::from(end.wrapping_sub(start))).sum();
            let few = bytes <= self.tables.pool.len() as u64;
            self.require(Rule::V15, few, "there is more instead than there are names", at)?;
            facts[at] = Fact::note(0, Needs::default());
            at += FAILURE_HEAD + names.len();
        }
        self.require(Rule::V5, at == self.tables.failures.len(), "a failure is not whole", at)
    }
}
