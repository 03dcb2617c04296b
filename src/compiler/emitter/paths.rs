//! Paths, calls, scopes and failures: instructions whose operands stand in tables of records.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use smallvec::SmallVec;

use super::Emitter;
use crate::bytecode::{EscapeMode, Failure, Op, Path, Root, Segment, pack_path, pack_root, pack_segment};
use crate::compiler::paths::{PathSpec, RootSpec, SegmentSpec};
use crate::compiler::tables::index;

/// How many roots a path can have.
const MOST_ROOTS: usize = 0xFF;

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
        let at = self.records.paths.len();
        let roots: SmallVec<[Root; 4]> = spec.roots.iter().map(|root| self.root(root)).collect();
        self.oversized |= roots.len() > MOST_ROOTS;
        let indexes = spec.segments.iter().filter(|segment| matches!(segment, SegmentSpec::Index(_))).count();
        self.records.paths.extend(pack_path(name, self.caches, &roots, spec.segments.len(), indexes));
        self.records.paths.extend(roots.into_iter().map(pack_root));
        self.segments(spec);
        self.known_path(at)
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
        let hash = |at: usize| hasher.hash_one(reads(at));
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

    fn root(&mut self, root: &RootSpec<'_>) -> Root {
        match root {
            RootSpec::Slot(slot) => Root::Slot(*slot),
            RootSpec::Global(name) => Root::Global(self.tables.global(name)),
            RootSpec::Loop(level, field) => Root::Loop(*level, *field),
            RootSpec::Callers(name) => Root::Callers(self.tables.string(name)),
        }
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
            let start = span.start.saturating_sub(self.place.span.start);
            let clamp = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
            self.records.paths.extend(pack_segment(step, (clamp(start), clamp(span.end.saturating_sub(span.start)))));
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
            let root = pack_root(self.root(root));
            let name = self.tables.string(name);
            self.records.scopes.extend([name, root]);
        }
        at
    }

    /// Raises `failure` where the code gets there.
    pub fn fail(&mut self, failure: &Failure) {
        if self.is_dead(Op::Fail, 0) {
            return;
        }
        let message = self.tables.string(&failure.message);
        let help = failure.help.as_ref().map_or(0, |help| self.tables.string(help) + 1);
        let count = failure.available.as_ref().map_or(0, |names| index(names.len()) + 1);
        let mut record = vec![failure.code.number(), message, help, count];
        record.extend(failure.available.iter().flatten().map(|name| self.tables.string(name)));
        let at = self.tables.failure(&mut self.records.failures, record);
        self.emit(Op::Fail, &[at]);
    }
}
