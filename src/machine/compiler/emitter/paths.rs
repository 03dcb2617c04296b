//! Paths, maps, scopes and failures: their descriptions by a language, and instructions that refer to their records.

use smallvec::SmallVec;

use super::Emitter;
use crate::bytecode::{
    EscapeMode, Failure, LoopField, Op, Root, Segment, pack_path, pack_place, pack_root, pack_segment,
};
use crate::compiler::tables::index;
use dropforge_base::text::Span;

/// The maximum number of roots of a path.
const MOST_ROOTS: usize = 0xFF;

/// A path of the program.
#[derive(Debug, Clone, Copy)]
pub struct KnownPath {
    /// Its offset.
    at: u32,
    /// The number of its computed indexes.
    indexes: usize,
}

/// A failure of the program.
#[derive(Debug, Clone, Copy)]
pub struct KnownFailure {
    /// The offset of its record.
    at: u32,
}

impl Emitter<'_> {
    /// Pushes the value of `path`. Returns the path for later uses, unless it is unreachable here.
    pub fn load(&mut self, path: &PathSpec<'_>) -> Option<KnownPath> {
        let at = self.path_for(Op::LoadPath, path)?;
        self.emit(Op::LoadPath, &[at]);
        Some(KnownPath { at, indexes: computed(path) })
    }

    /// Pushes the value of a path again. Its steps are as far from this place as they were from the other one.
    pub fn load_again(&mut self, path: KnownPath) {
        if !self.is_dead(Op::LoadPath, path.indexes) {
            self.emit(Op::LoadPath, &[path.at]);
        }
    }

    /// Pushes the value of `path`, or undefined.
    pub fn peek(&mut self, path: &PathSpec<'_>) {
        if let Some(at) = self.path_for(Op::PeekPath, path) {
            self.emit(Op::PeekPath, &[at]);
        }
    }

    /// Writes the value of `path`. Returns the path for later uses, unless it is unreachable here.
    pub fn write_path(&mut self, path: &PathSpec<'_>, mode: EscapeMode) -> Option<KnownPath> {
        let indexes = computed(path);
        let at = self.write_at(indexes, mode, |emitter| emitter.path(path))?;
        Some(KnownPath { at, indexes })
    }

    /// Writes the value of a path again, like [`Emitter::load_again`].
    pub fn write_path_again(&mut self, path: KnownPath, mode: EscapeMode) {
        self.write_at(path.indexes, mode, |_| path.at);
    }

    fn write_at(&mut self, indexes: usize, mode: EscapeMode, path: impl FnOnce(&mut Self) -> u32) -> Option<u32> {
        // An instruction has one source.
        let fuses = self.pending.has_text_of(self.place.source) && self.pending.constants.is_empty();
        if !fuses || self.frame.dead {
            if self.is_dead(Op::EmitPath, indexes) {
                return None;
            }
            let at = path(self);
            self.emit(Op::EmitPath, &[at, mode as u32]);
            return Some(at);
        }
        let at = path(self);
        if let Some(text) = self.take_text() {
            self.emit(Op::TextPath, &[at, mode as u32, text]);
            self.pending_pieces();
        }
        Some(at)
    }

    /// Returns the offset of a path for an instruction, unless it is unreachable.
    fn path_for(&mut self, op: Op, spec: &PathSpec<'_>) -> Option<u32> {
        if self.is_dead(op, computed(spec)) { None } else { Some(self.path(spec)) }
    }

    /// Returns the offset of a path. Equal paths share one record and its inline caches.
    fn path(&mut self, spec: &PathSpec<'_>) -> u32 {
        let name = self.tables.string(spec.name);
        if let Some(path) = self.tables.path_named(name).filter(|path| self.is_path(*path, spec)) {
            return path;
        }
        let mut roots: SmallVec<[Root; 4]> = SmallVec::new();
        spec.roots.iter().for_each(|root| roots.push(self.root(root, spec.name, name)));
        self.oversized |= roots.len() > MOST_ROOTS;
        let (cache, steps) = (self.tables.parts.properties.caches, spec.segments.len());
        let head = pack_path(name, cache, &roots, steps, computed(spec));
        let at = self.tables.parts.paths.len();
        self.tables.parts.paths.extend(head);
        self.tables.parts.paths.extend(roots.iter().copied().map(pack_root));
        self.segments(spec);
        self.tables.unique_path(at, name)
    }

    /// Returns `true` if the path at `at`, which has the same name, equals `spec`. Compares text, so that the strings
    /// of `spec` need no lookup.
    fn is_path(&self, at: u32, spec: &PathSpec<'_>) -> bool {
        let tables = &self.tables;
        let Some(path) = tables.path_at(at) else { return false };
        let root = |(root, spec): (Root, &RootSpec<'_>)| match (root, spec) {
            (Root::Slot(slot), RootSpec::Slot(other)) => slot == *other,
            (Root::Global(global), RootSpec::Global(name)) => tables.global_name(global) == *name,
            (Root::Loop(level, field), RootSpec::Loop(other, of)) => level == *other && field == *of,
            (Root::Callers(id), RootSpec::Callers(name)) => tables.str(id) == *name,
            _ => false,
        };
        let segment = |((segment, place), spec): ((Segment, u32), &SegmentSpec<'_>)| match (segment, spec) {
            (Segment::Attr(id), SegmentSpec::Attr(name, span)) => {
                place == self.segment_place(*span) && tables.str(id) == *name
            }
            (Segment::Index(_), SegmentSpec::Index(span)) => place == self.segment_place(*span),
            _ => false,
        };
        path.roots().len() == spec.roots.len()
            && path.len() == spec.segments.len()
            && path.roots().zip(spec.roots).all(root)
            && path.placed().zip(spec.segments).all(segment)
    }

    /// Returns a root. An input without steps has the name of its path, whose string is `id`.
    fn root(&mut self, root: &RootSpec<'_>, path: &str, id: u32) -> Root {
        match root {
            RootSpec::Slot(slot) => Root::Slot(*slot),
            RootSpec::Global(name) if *name == path => Root::Global(self.tables.global_named(id)),
            RootSpec::Global(name) => Root::Global(self.tables.global(name)),
            RootSpec::Loop(level, field) => Root::Loop(*level, *field),
            RootSpec::Callers(name) => Root::Callers(self.tables.string(name)),
        }
    }

    /// Returns the position of a step, relative to that of the path.
    fn segment_place(&self, span: Span) -> u32 {
        let start = span.start.saturating_sub(self.place.span.start);
        let clamp = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        pack_place(clamp(start), clamp(span.end.saturating_sub(span.start)))
    }

    fn segments(&mut self, spec: &PathSpec<'_>) {
        let mut indexes = 0..;
        for segment in spec.segments {
            let (step, span) = match segment {
                SegmentSpec::Attr(name, span) => (Segment::Attr(self.tables.string(name)), *span),
                SegmentSpec::Index(span) => (Segment::Index(indexes.next().unwrap_or(u32::MAX)), *span),
            };
            let place = self.segment_place(span);
            self.tables.parts.paths.extend([pack_segment(step), place]);
        }
    }

    /// Returns the id of a string, for operands.
    pub fn string(&mut self, text: &str) -> u32 {
        self.tables.string(text)
    }

    /// The maximum number of keys of [`Emitter::map`].
    pub const KEYS: usize = u16::MAX as usize;

    /// Builds a map of the top values with these keys, which are unique.
    pub fn map(&mut self, keys: &[&str]) {
        self.keyed(Op::Map, keys);
    }

    /// Builds a map like [`Emitter::map`], without undefined values.
    pub fn map_some(&mut self, keys: &[&str]) {
        self.keyed(Op::MapSome, keys);
    }

    fn keyed(&mut self, op: Op, keys: &[&str]) {
        if self.is_dead(op, keys.len()) {
            return;
        }
        let at = index(self.tables.parts.keys.len());
        self.tables.parts.keys.push(index(keys.len()));
        for key in keys {
            let key = self.tables.string(key);
            self.tables.parts.keys.push(key);
        }
        self.oversized |= keys.len() > Self::KEYS;
        self.emit(op, &[at]);
    }

    /// Returns the offset of a scope: names and roots, the overriding entry first, and the flags of
    /// [`Scope`](crate::bytecode::Scope).
    pub fn scope(&mut self, flags: u32, entries: &[(&str, RootSpec<'_>)]) -> u32 {
        if self.frame.dead {
            return 0;
        }
        let at = index(self.tables.parts.scopes.len());
        self.tables.parts.scopes.extend([flags, index(entries.len())]);
        for (name, root) in entries {
            let root = pack_root(self.root(root, "", 0));
            let name = self.tables.string(name);
            self.tables.parts.scopes.extend([name, root]);
        }
        at
    }

    /// Raises `failure`. Returns it for later uses, unless it is unreachable here.
    pub fn fail(&mut self, failure: &Failure) -> Option<KnownFailure> {
        self.failure(Op::Fail, failure).map(|at| KnownFailure { at })
    }

    /// Raises a failure again.
    pub fn fail_again(&mut self, failure: KnownFailure) {
        if !self.is_dead(Op::Fail, 0) {
            self.emit(Op::Fail, &[failure.at]);
        }
    }

    /// Records `failure` and pushes the language's recovery value.
    pub fn fault(&mut self, failure: &Failure) {
        self.failure(Op::Fault, failure);
    }

    fn failure(&mut self, op: Op, failure: &Failure) -> Option<u32> {
        if self.is_dead(op, 0) {
            return None;
        }
        let message = self.tables.string(&failure.message);
        let help = failure.help.as_ref().map_or(0, |help| self.tables.string(help) + 1);
        let count = failure.available.as_ref().map_or(0, |names| index(names.len()) + 1);
        let mut record = vec![failure.code.number(), message, help, count];
        record.extend(failure.available.iter().flatten().map(|name| self.tables.string(name)));
        let at = self.tables.failure(record);
        self.emit(op, &[at]);
        Some(at)
    }
}

/// Returns the number of computed indexes of a path.
fn computed(spec: &PathSpec<'_>) -> usize {
    spec.segments.iter().filter(|segment| matches!(segment, SegmentSpec::Index(_))).count()
}

/// The start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSpec<'p> {
    /// A slot, if it is set.
    Slot(u32),
    /// A top-level input.
    Global(&'p str),
    /// A property of a loop of the frame, 0 for the innermost.
    Loop(u32, LoopField),
    /// A name in the callers' scopes.
    Callers(&'p str),
}

/// A step of a path, with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentSpec<'p> {
    /// An attribute.
    Attr(&'p str, Span),
    /// The next computed index. Indexes are pushed in order before the path is read.
    Index(Span),
}

/// A path: its roots, tried in order until one has the whole path, and its steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathSpec<'p> {
    /// The path as written, for messages.
    pub name: &'p str,
    /// The roots.
    pub roots: &'p [RootSpec<'p>],
    /// The steps.
    pub segments: &'p [SegmentSpec<'p>],
}
