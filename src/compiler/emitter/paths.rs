//! Paths, calls, scopes and failures: instructions whose operands stand in tables of records.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use smallvec::SmallVec;

use super::Emitter;
use crate::bytecode::{EscapeMode, Failure, Op, Path, Root, Segment, pack_path, pack_place, pack_root, pack_segment};
use crate::compiler::paths::{PathSpec, RootSpec, SegmentSpec};
use crate::compiler::tables::index;
use crate::text::Span;

/// How many roots a path can have.
const MOST_ROOTS: usize = 0xFF;

/// Stands for no path where an offset is expected.
const NO_PATH: u32 = u32::MAX;

impl Emitter<'_> {
    /// Pushes what `path` names.
    pub fn load(&mut self, path: &PathSpec<'_>) {
        if let Some(at) = self.path_for(Op::LoadPath, path) {
            self.emit(Op::LoadPath, &[at]);
        }
    }

    /// Pushes what `path` names, or undefined.
    pub fn peek(&mut self, path: &PathSpec<'_>) {
        if let Some(at) = self.path_for(Op::PeekPath, path) {
            self.emit(Op::PeekPath, &[at]);
        }
    }

    /// Writes what `path` names.
    pub fn write_path(&mut self, path: &PathSpec<'_>, mode: EscapeMode) {
        if self.text.is_empty() || !self.constants.is_empty() || self.open.dead {
            let Some(at) = self.path_for(Op::EmitPath, path) else { return };
            self.emit(Op::EmitPath, &[at, mode as u32]);
            return;
        }
        let at = self.path(path);
        let text = self.tables.string(&self.text);
        self.text.clear();
        self.emit(Op::TextPath, &[at, mode as u32, text]);
    }

    /// The offset of the path that an instruction names, unless nothing leads here.
    fn path_for(&mut self, op: Op, spec: &PathSpec<'_>) -> Option<u32> {
        let computed = spec.segments.iter().filter(|segment| matches!(segment, SegmentSpec::Index(_))).count();
        if self.is_dead(op, computed) { None } else { Some(self.path(spec)) }
    }

    /// The offset of a path in its table. Paths that read the same are one and share their inline caches.
    fn path(&mut self, spec: &PathSpec<'_>) -> u32 {
        let name = self.tables.string(spec.name);
        if let Some(&known) = self.path_of.get(name as usize)
            && self.reads(known, spec)
        {
            return known;
        }
        let at = self.records.paths.len();
        let roots: SmallVec<[Root; 4]> = spec.roots.iter().map(|root| self.root(root, spec.name, name)).collect();
        self.oversized |= roots.len() > MOST_ROOTS;
        let indexes = spec.segments.iter().filter(|segment| matches!(segment, SegmentSpec::Index(_))).count();
        self.records.paths.extend(pack_path(name, self.caches, &roots, spec.segments.len(), indexes));
        self.records.paths.extend(roots.into_iter().map(pack_root));
        self.segments(spec);
        let known = self.known_path(at);
        if self.path_of.len() <= name as usize {
            self.path_of.resize(name as usize + 1, NO_PATH);
        }
        if let Some(last) = self.path_of.get_mut(name as usize) {
            *last = known;
        }
        known
    }

    /// Whether the path at `at`, whose name is that of `spec`, reads the same: told by texts, so that those of
    /// `spec` need not be looked up.
    fn reads(&self, at: u32, spec: &PathSpec<'_>) -> bool {
        let Some(path) = self.path_at(at) else { return false };
        let root = |(known, root): (Root, &RootSpec<'_>)| match (known, root) {
            (Root::Slot(known), RootSpec::Slot(slot)) => known == *slot,
            (Root::Global(known), RootSpec::Global(name)) => self.tables.global_name(known) == *name,
            (Root::Loop(known, of), RootSpec::Loop(level, field)) => known == *level && of == *field,
            (Root::Callers(known), RootSpec::Callers(name)) => self.tables.str(known) == *name,
            _ => false,
        };
        let segment = |((known, place), segment): ((Segment, u32), &SegmentSpec<'_>)| match (known, segment) {
            (Segment::Attr(known), SegmentSpec::Attr(name, span)) => {
                place == self.segment_place(*span) && self.tables.str(known) == *name
            }
            (Segment::Index(_), SegmentSpec::Index(span)) => place == self.segment_place(*span),
            _ => false,
        };
        path.roots().len() == spec.roots.len()
            && path.len() == spec.segments.len()
            && path.roots().zip(spec.roots).all(root)
            && path.placed().zip(spec.segments).all(segment)
    }

    /// The offset of the path that was written at `at`, the end of the table: of one that reads the same
    /// where there is one, and `at` is taken back.
    fn known_path(&mut self, at: usize) -> u32 {
        let Self { records, paths, caches, hasher, .. } = self;
        let table = &mut records.paths;
        // All but the number of the first cache.
        let reads = |at: usize| {
            let words = table.get(at..).unwrap_or(&[]);
            let len = Path::at(words).map_or(0, |path| path.words());
            (words.first(), words.get(2..len))
        };
        // The name and the first root tell nearly all paths from each other.
        let hash = |at: usize| {
            let word = |nth: usize| u64::from(table.get(at + nth).copied().unwrap_or(0));
            hasher.hash_one(word(2) << 32 | word(4))
        };
        match paths.entry(hash(at), |known| reads(*known as usize) == reads(at), |known| hash(*known as usize)) {
            Entry::Occupied(known) => {
                let known = *known.get();
                table.truncate(at);
                known
            }
            Entry::Vacant(place) => {
                place.insert(index(at));
                *caches += index(Path::at(table.get(at..).unwrap_or(&[])).map_or(0, |path| path.len()));
                index(at)
            }
        }
    }

    /// Whether the path at `at` names an input, whatever has run.
    pub(super) fn of_inputs(&self, at: u32) -> bool {
        self.path_at(at)
            .is_some_and(|path| path.indexes == 0 && path.roots().all(|root| matches!(root, Root::Global(_))))
    }

    /// The path at `at` of its table.
    pub(super) fn path_at(&self, at: u32) -> Option<Path<'_>> {
        Path::at(self.records.paths.get(at as usize..)?)
    }

    /// A root; that of a variable without steps has the name of its path, whose string is `id`.
    fn root(&mut self, root: &RootSpec<'_>, path: &str, id: u32) -> Root {
        match root {
            RootSpec::Slot(slot) => Root::Slot(*slot),
            RootSpec::Global(name) if *name == path => Root::Global(self.tables.global_named(id)),
            RootSpec::Global(name) => Root::Global(self.tables.global(name)),
            RootSpec::Loop(level, field) => Root::Loop(*level, *field),
            RootSpec::Callers(name) => Root::Callers(self.tables.string(name)),
        }
    }

    /// Where a step stands, from the start of the path's own place on.
    fn segment_place(&self, span: Span) -> u32 {
        let start = span.start.saturating_sub(self.place.span.start);
        let clamp = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        pack_place(clamp(start), clamp(span.end.saturating_sub(span.start)))
    }

    fn segments(&mut self, spec: &PathSpec<'_>) {
        let mut indexes = 0;
        for segment in spec.segments {
            let (step, span) = match segment {
                SegmentSpec::Attr(name, span) => (Segment::Attr(self.tables.string(name)), *span),
                SegmentSpec::Index(span) => {
                    indexes += 1;
                    (Segment::Index(indexes - 1), *span)
                }
            };
            self.records.paths.extend([pack_segment(step), self.segment_place(span)]);
        }
    }

    /// The id of a string, for operands that name one.
    pub fn string(&mut self, text: &str) -> u32 {
        self.tables.string(text)
    }

    /// A scope: names and roots, the entry that wins first; `flags` as in [`crate::bytecode::Scope`].
    pub fn scope(&mut self, flags: u32, entries: &[(&str, RootSpec<'_>)]) -> u32 {
        if self.open.dead {
            return 0;
        }
        let at = index(self.records.scopes.len());
        self.records.scopes.extend([flags, index(entries.len())]);
        for (name, root) in entries {
            let root = pack_root(self.root(root, "", 0));
            let name = self.tables.string(name);
            self.records.scopes.extend([name, root]);
        }
        at
    }

    /// Raises `failure` where the code gets there.
    pub fn fail(&mut self, failure: &Failure) {
        self.failure(Op::Fail, failure);
    }

    /// Notes `failure` where the code gets there, and pushes what the language goes on with.
    pub fn fault(&mut self, failure: &Failure) {
        self.failure(Op::Fault, failure);
    }

    fn failure(&mut self, op: Op, failure: &Failure) {
        if self.is_dead(op, 0) {
            return;
        }
        let message = self.tables.string(&failure.message);
        let help = failure.help.as_ref().map_or(0, |help| self.tables.string(help) + 1);
        let count = failure.available.as_ref().map_or(0, |names| index(names.len()) + 1);
        let mut record = vec![failure.code.number(), message, help, count];
        record.extend(failure.available.iter().flatten().map(|name| self.tables.string(name)));
        let at = self.tables.failure(&mut self.records.failures, record);
        self.emit(op, &[at]);
    }
}
