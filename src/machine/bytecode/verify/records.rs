//! Record tables. Each is walked once, to check its records and to note where they begin. Other offsets are invalid.

use super::super::records::{
    FAILURE_HEAD, Gate, PATH_HEAD, Root, SCOPE_HEAD, SITE_HEAD, Scope, Segment, path_counts, quick, unpack_root,
    unpack_segment,
};
use super::super::rows::{ImportKind, Signature};
use super::check::Check;
use super::rules::Rule;
use dropforge_base::diagnostics::{Code, Result};

/// A table of records, and the offsets at which they begin: one bit for each word.
#[derive(Debug)]
pub(super) struct Records<'t> {
    words: &'t [u32],
    starts: Vec<u64>,
}

impl<'t> Records<'t> {
    fn of(words: &'t [u32]) -> Self {
        Self { words, starts: vec![0; words.len() / 64 + 1] }
    }

    fn add(&mut self, at: usize) {
        if let Some(bits) = self.starts.get_mut(at / 64) {
            *bits |= 1 << (at % 64);
        }
    }

    /// Returns the words of the record that begins at an offset, and those behind it.
    #[inline(always)]
    pub fn at(&self, at: u32) -> Option<&'t [u32]> {
        let begins = self.starts.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0);
        if begins { self.words.get(at as usize..) } else { None }
    }
}

/// All record tables.
#[derive(Debug)]
pub(super) struct AllRecords<'t> {
    pub paths: Records<'t>,
    pub sites: Records<'t>,
    pub keys: Records<'t>,
    pub scopes: Records<'t>,
    pub failures: Records<'t>,
}

impl<'t> Check<'_, 't> {
    /// Walks the record tables.
    pub(super) fn records(&self) -> Result<AllRecords<'t>> {
        Ok(AllRecords {
            paths: self.paths()?,
            sites: self.sites()?,
            keys: self.keys()?,
            scopes: self.scopes()?,
            failures: self.failures()?,
        })
    }

    fn paths(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.paths);
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
            roots.iter().try_for_each(|&root| self.root(root, at))?;
            self.segments(segments, indexes, at)?;
            let first = roots.first().map(|&root| unpack_root(root));
            let quick = quick(first, steps, indexes as usize);
            self.require(Rule::V5, common == quick, "the common case of a path is not the path's", at)?;
            records.add(at);
            at += PATH_HEAD + roots.len() + segments.len();
        }
        self.require(Rule::V5, at == self.tables.paths.len(), "a path is not whole", at)?;
        self.require(
            Rule::V6,
            caches == self.tables.properties.caches,
            "the inline caches are not those of the paths",
            at,
        )?;
        Ok(records)
    }

    #[inline(always)]
    fn root(&self, root: u32, at: usize) -> Result<()> {
        match unpack_root(root) {
            // Each use needs them.
            Root::Slot(_) | Root::Loop(..) => {}
            Root::Global(global) => {
                let known = (global as usize) < self.tables.globals.len();
                self.require(Rule::V5, known, "a root names no input", at)?;
            }
            Root::Callers(name) => self.require(Rule::V5, self.has_string(name), "a root has no name", at)?,
        }
        let form = root >> 28 <= 3 && (root >> 28 != 2 || root & 0xFC == 0);
        self.require(Rule::V5, form, "a root is of no kind", at)
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

    fn sites(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.sites);
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
            records.add(at);
            at += SITE_HEAD + params.len();
        }
        self.require(Rule::V10, at == self.tables.sites.len(), "a call is not whole", at)?;
        Ok(records)
    }

    fn keys(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.keys);
        let mut at = 0;
        while let Some((&count, rest)) = self.tables.keys.get(at..).and_then(<[u32]>::split_first) {
            let keys = rest.get(..count as usize);
            self.require(Rule::V5, keys.is_some() && count < 1 << 16, "the keys of a map are not whole", at)?;
            let keys = keys.unwrap_or(&[]);
            let named = keys.iter().all(|&key| self.has_string(key));
            self.require(Rule::V5, named, "a key of a map has no name", at)?;
            records.add(at);
            at += 1 + keys.len();
        }
        Ok(records)
    }

    fn scopes(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.scopes);
        let mut at = 1;
        self.require(Rule::V5, self.tables.scopes.first() == Some(&0), "the place of no scope is taken", 0)?;
        while let Some((&[flags, count], rest)) =
            self.tables.scopes.get(at..).and_then(<[u32]>::split_first_chunk::<SCOPE_HEAD>)
        {
            let entries = rest.get(..(count as usize).saturating_mul(2));
            let known = flags & !(Scope::INPUTS | Scope::CALLERS) == 0;
            self.require(Rule::V5, entries.is_some() && known, "a scope is not whole", at)?;
            let entries = entries.unwrap_or(&[]);
            for &[name, root] in entries.as_chunks().0 {
                self.require(Rule::V5, self.has_string(name), "an entry of a scope has no name", at)?;
                self.root(root, at)?;
            }
            records.add(at);
            at += SCOPE_HEAD + entries.len();
        }
        self.require(Rule::V5, at == self.tables.scopes.len(), "a scope is not whole", at)?;
        Ok(records)
    }

    fn failures(&self) -> Result<Records<'t>> {
        let mut records = Records::of(self.tables.failures);
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
            records.add(at);
            at += FAILURE_HEAD + names.len();
        }
        self.require(Rule::V5, at == self.tables.failures.len(), "a failure is not whole", at)?;
        Ok(records)
    }
}
