//! Paths, calls, scopes and failures: instructions whose operands stand in the side table.

use super::Emitter;
use crate::bytecode::{EscapeMode, Failure, ImportKind, Op, Root, Segment, pack_root, pack_segment};
use crate::compiler::paths::{PathSpec, RootSpec, SegmentSpec};
use crate::compiler::tables::index;

impl Emitter<'_> {
    /// Pushes what `path` names.
    pub fn load(&mut self, path: &PathSpec) {
        let at = self.path(path);
        self.emit(Op::LoadPath, &[at]);
    }

    /// Pushes what `path` names, or undefined.
    pub fn peek(&mut self, path: &PathSpec) {
        let at = self.path(path);
        self.emit(Op::PeekPath, &[at]);
    }

    /// Writes what `path` names.
    pub fn write_path(&mut self, path: &PathSpec, mode: EscapeMode) {
        let at = self.path(path);
        self.emit(Op::EmitPath, &[at, mode as u32]);
    }

    fn path(&mut self, spec: &PathSpec) -> u32 {
        if let Some(at) = self.paths.get(spec) {
            return *at;
        }
        let name = self.tables.string(&spec.name);
        let roots: Vec<_> = spec.roots.iter().map(|root| pack_root(self.root(root))).collect();
        let cache = self.caches;
        let segments = self.segments(spec);
        let indexes = spec.segments.iter().filter(|segment| matches!(segment, SegmentSpec::Index(_))).count();
        let at = index(self.extra.len());
        let shape = index(indexes.min(255)) << 24 | index(segments.len() / 2) << 8 | index(roots.len());
        self.extra.extend([name, shape, cache]);
        self.extra.extend(roots);
        self.extra.extend(segments);
        self.paths.insert(spec.clone(), at);
        at
    }

    fn root(&mut self, root: &RootSpec) -> Root {
        match root {
            RootSpec::Slot(slot) => Root::Slot(*slot),
            RootSpec::Global(name) => Root::Global(self.tables.global(name)),
            RootSpec::Loop(level, field) => Root::Loop(*level, *field),
            RootSpec::Callers(name) => Root::Callers(self.tables.string(name)),
        }
    }

    fn segments(&mut self, spec: &PathSpec) -> Vec<u32> {
        let (mut words, mut indexes) = (Vec::with_capacity(spec.segments.len() * 2), 0);
        for segment in &spec.segments {
            let (step, span) = match segment {
                SegmentSpec::Attr(name, span) => (Segment::Attr(self.tables.string(name)), *span),
                SegmentSpec::Index(span) => {
                    indexes += 1;
                    (Segment::Index(indexes - 1), *span)
                }
            };
            let start = span.start.saturating_sub(self.place.span.start);
            let clamp = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
            words.extend(pack_segment(step, (clamp(start), clamp(span.end.saturating_sub(span.start)))));
            self.caches += 1;
        }
        words
    }

    /// Calls a function with the topmost values; `params` says for each of them, the first one first, which
    /// parameter it is (or, for a function of open parameters, the string id of its name).
    pub fn call(&mut self, kind: ImportKind, name: &str, params: &[u32]) {
        let import = self.tables.import(kind, name);
        let at = index(self.extra.len());
        self.extra.extend([import, index(params.len())]);
        self.extra.extend(params);
        self.emit(Op::Call, &[at]);
    }

    /// The id of a string, for operands that name one.
    pub fn string(&mut self, text: &str) -> u32 {
        self.tables.string(text)
    }

    /// A scope: names and roots, the entry that wins first; `flags` as in [`crate::bytecode::Scope`].
    pub fn scope(&mut self, flags: u32, entries: &[(String, RootSpec)]) -> u32 {
        let words: Vec<_> = entries
            .iter()
            .flat_map(|(name, root)| {
                let root = pack_root(self.root(root));
                [self.tables.string(name), root]
            })
            .collect();
        let at = index(self.extra.len());
        self.extra.extend([flags, index(entries.len())]);
        self.extra.extend(words);
        at
    }

    /// Raises `failure` where the code gets there.
    pub fn fail(&mut self, failure: Failure) {
        let known = self.failures.iter().position(|other| *other == failure);
        let id = known.unwrap_or_else(|| {
            self.failures.push(failure);
            self.failures.len() - 1
        });
        self.emit(Op::Fail, &[index(id)]);
    }
}
