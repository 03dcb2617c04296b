//! Emits code into a program under construction.
//!
//! Text and constants are held back until something else is emitted, so that neighbouring text becomes one
//! instruction and operators on constants none. A label ends what is held back: nothing is joined or folded
//! across a jump target.

use std::sync::Arc;

use hashbrown::HashMap;

use super::fold::{Constant, Fold};
use super::paths::{PathSpec, RootSpec, SegmentSpec};
use super::tables::{Tables, index};
use crate::bytecode::{
    BinaryOp, ChunkInfo, Dialect, EscapeMode, Failure, Handler, ImportKind, InlineRange, Literal, Number, Op, Pops,
    Program, Root, Segment, SpanRun, Spanned, fresh_program_id, pack_root, pack_segment,
};
use crate::diagnostics::Result;
use crate::limits::Limit;
use crate::text::{Source, Span};

/// The largest operand that fits beside an opcode.
const OPERAND: u32 = 0x00FF_FFFF;

/// A place in the code that jumps may name before it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// An open loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopMark {
    head: Label,
    end: Label,
}

/// An open protected expression.
#[derive(Debug, Clone, Copy)]
pub struct ProtectMark {
    from: u32,
    height: u32,
    iters: u32,
    captures: u32,
}

/// The chunk that is being emitted, and what it has open.
#[derive(Debug, Default)]
struct Open {
    id: usize,
    slots: u32,
    height: u32,
    iters: u32,
    captures: u32,
}

/// Emits one program, chunk by chunk. The first chunk begun is where a render begins.
pub struct Emitter<'f> {
    fold: &'f dyn Fold,
    dialect: Dialect,
    limit: usize,
    tables: Tables,
    words: Vec<u32>,
    extra: Vec<u32>,
    chunks: Vec<ChunkInfo>,
    failures: Vec<Failure>,
    handlers: Vec<Handler>,
    spans: Vec<SpanRun>,
    inlined: Vec<InlineRange>,
    paths: HashMap<PathSpec, u32>,
    caches: u32,
    labels: Vec<Option<u32>>,
    patches: Vec<(usize, bool, Label)>,
    place: Spanned,
    text: String,
    text_place: Spanned,
    constants: Vec<(Constant, Spanned)>,
    open: Open,
}

impl<'f> Emitter<'f> {
    /// An emitter for `dialect` that stops at `limit` words.
    pub fn new(dialect: Dialect, fold: &'f dyn Fold, limit: usize) -> Self {
        Self {
            fold,
            dialect,
            limit,
            tables: Tables::default(),
            words: Vec::new(),
            extra: vec![0], // offset 0 means "none"
            chunks: Vec::new(),
            failures: Vec::new(),
            handlers: Vec::new(),
            spans: Vec::new(),
            inlined: Vec::new(),
            paths: HashMap::new(),
            caches: 0,
            labels: Vec::new(),
            patches: Vec::new(),
            place: Spanned::default(),
            text: String::new(),
            text_place: Spanned::default(),
            constants: Vec::new(),
            open: Open::default(),
        }
    }

    // Chunks and slots

    /// Names a chunk that will be emitted later or now, so that calls may name it first.
    pub fn declare_chunk(&mut self, name: &str, params: u32) -> u32 {
        let name = self.tables.string(name);
        self.chunks.push(ChunkInfo { name, entry: 0, end: 0, slots: params, params });
        index(self.chunks.len() - 1)
    }

    /// Begins the code of a declared chunk; its parameters are its first slots. Chunks do not nest.
    pub fn begin_chunk(&mut self, id: u32) {
        let Some(chunk) = self.chunks.get_mut(id as usize) else { return };
        chunk.entry = index(self.words.len());
        self.open = Open { id: id as usize, slots: chunk.params, ..Open::default() };
    }

    /// Ends the chunk that is being emitted.
    pub fn end_chunk(&mut self) {
        self.emit(Op::Return, &[]);
        let (end, slots) = (index(self.words.len()), self.open.slots);
        if let Some(chunk) = self.chunks.get_mut(self.open.id) {
            (chunk.end, chunk.slots) = (end, slots);
        }
    }

    /// A slot of the chunk that nothing else uses.
    pub fn new_slot(&mut self) -> u32 {
        self.new_slots(1)
    }

    /// The first of `count` slots in a row that nothing else uses.
    pub fn new_slots(&mut self, count: u32) -> u32 {
        let first = self.open.slots;
        self.open.slots += count;
        first
    }

    /// How many words have been emitted; a measure for bounding inlining.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether nothing has been emitted.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    // Places

    /// Says where the following instructions come from.
    pub fn at(&mut self, source: &Arc<Source>, span: Span) {
        self.place = Spanned { source: self.tables.source(source), span };
    }

    /// Begins code that stands in the place of a call at the current place.
    pub fn begin_inline(&mut self) -> (u32, Spanned) {
        self.flush();
        (index(self.words.len()), self.place)
    }

    /// Ends code that stands in the place of a call.
    pub fn end_inline(&mut self, (from, place): (u32, Spanned)) {
        self.flush();
        self.inlined.push(InlineRange { from, to: index(self.words.len()), place });
    }

    // Constants and operators

    /// Pushes a constant.
    pub fn constant(&mut self, constant: Constant) {
        self.constants.push((constant, self.place));
    }

    /// Pushes undefined.
    pub fn undefined(&mut self) {
        self.emit(Op::Lit, &[Literal::Undefined as u32]);
    }

    /// Applies an operator to the two topmost values.
    pub fn binary(&mut self, op: BinaryOp) {
        if let [.., (a, _), (b, _)] = self.constants.as_slice()
            && let Some(folded) = self.fold.binary(op, a, b)
        {
            self.constants.truncate(self.constants.len() - 2);
            self.constant(folded);
            return;
        }
        self.emit(op.op(), &[]);
    }

    /// Joins the `count` topmost values as text.
    pub fn join(&mut self, count: u32) {
        let first = self.constants.len().checked_sub(count as usize);
        let pieces = first.and_then(|first| self.constants.get(first..));
        let texts = pieces.map(|pieces| pieces.iter().map(|(piece, _)| self.fold.text(piece, EscapeMode::Piece)));
        if let Some(joined) = texts.and_then(Iterator::collect::<Option<String>>) {
            self.constants.truncate(self.constants.len() - count as usize);
            self.constant(Constant::Str(joined));
            return;
        }
        self.emit(Op::Join, &[count]);
    }

    /// Emits an instruction that has no operand or whose operands are plain numbers.
    pub fn op(&mut self, op: Op, operands: &[u32]) {
        self.emit(op, operands);
    }

    // Output

    /// Writes text.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.flush_constants();
        if self.text.is_empty() {
            self.text_place = self.place;
        }
        self.text.push_str(text);
    }

    /// Writes the top of the stack.
    pub fn write(&mut self, mode: EscapeMode) {
        if let [(constant, _)] = self.constants.as_slice()
            && let Some(text) = self.fold.text(constant, mode)
        {
            self.constants.clear();
            self.text(&text);
            return;
        }
        self.emit(Op::Emit, &[mode as u32]);
    }

    /// Holds back what is written from here.
    pub fn begin_capture(&mut self) {
        self.emit(Op::Capture, &[]);
        self.open.captures += 1;
    }

    /// Pushes what was held back as text.
    pub fn end_capture(&mut self) {
        self.emit(Op::EndCapture, &[]);
        self.open.captures = self.open.captures.saturating_sub(1);
    }

    // Paths and calls

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

    // Control

    /// A label without a place.
    pub fn new_label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts `label` here.
    pub fn bind(&mut self, label: Label) {
        self.flush();
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(index(self.words.len()));
        }
    }

    /// Emits a jump to `label`; where a constant decides, a jump that is always taken or none.
    pub fn jump(&mut self, op: Op, label: Label) {
        let mut op = op;
        if let (Op::JumpIf | Op::JumpUnless, Some(&(Constant::Bool(known), _))) = (op, self.constants.last()) {
            self.constants.pop();
            if known != (op == Op::JumpIf) {
                return;
            }
            op = Op::Jump;
        }
        self.flush();
        self.patches.push((self.words.len(), true, label));
        self.emit(op, &[0]);
    }

    /// Opens a loop over the top of the stack with `names` (1 or 2) loop slots from `slot` on. Where there is
    /// nothing to loop over, the code goes on at `empty`.
    pub fn begin_loop(&mut self, names: u32, slot: u32, empty: Label) -> LoopMark {
        self.flush();
        self.patches.push((self.words.len() + 1, false, empty));
        self.emit(Op::Iter, &[names, 0]);
        self.open.iters += 1;
        let (head, end) = (self.new_label(), self.new_label());
        self.bind(head);
        self.patches.push((self.words.len() + 1, false, end));
        self.emit(Op::Next, &[slot, 0]);
        LoopMark { head, end }
    }

    /// Goes on with the next turn of the loop.
    pub fn continue_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.head);
    }

    /// Leaves the loop.
    pub fn break_loop(&mut self, mark: LoopMark) {
        self.emit(Op::EndIter, &[]);
        self.jump(Op::Jump, mark.end);
    }

    /// Ends the loop: goes on with the next turn, and puts here where the code goes on when there is none.
    pub fn end_loop(&mut self, mark: LoopMark) {
        self.jump(Op::Jump, mark.head);
        self.open.iters = self.open.iters.saturating_sub(1);
        self.bind(mark.end);
    }

    /// Begins an expression whose errors become undefined.
    pub fn begin_protect(&mut self) -> ProtectMark {
        self.flush();
        let open = &self.open;
        ProtectMark { from: index(self.words.len()), height: open.height, iters: open.iters, captures: open.captures }
    }

    /// Ends an expression whose errors become undefined; it has pushed one value.
    pub fn end_protect(&mut self, mark: ProtectMark) {
        self.flush();
        let to = index(self.words.len());
        let ProtectMark { from, height, iters, captures } = mark;
        self.handlers.push(Handler { from, to, target: to, height, iters, captures });
    }

    /// Says how many values the stack holds here, where two branches meet of which only one was counted.
    pub fn set_height(&mut self, height: u32) {
        self.flush();
        self.open.height = height;
    }

    /// How many values the frame's part of the stack holds here.
    pub fn height(&mut self) -> u32 {
        self.flush_constants();
        self.open.height
    }

    // The words

    fn flush(&mut self) {
        self.flush_text();
        self.flush_constants();
    }

    fn flush_text(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let id = self.tables.string(&text);
        let place = std::mem::replace(&mut self.place, self.text_place);
        self.words_of(Op::Text, &[id]);
        self.place = place;
    }

    fn flush_constants(&mut self) {
        if self.constants.is_empty() {
            return;
        }
        self.flush_text();
        let here = self.place;
        for (constant, place) in std::mem::take(&mut self.constants) {
            self.place = place;
            let (op, operand) = self.constant_op(constant);
            self.words_of(op, &[operand]);
        }
        self.place = here;
    }

    fn constant_op(&mut self, constant: Constant) -> (Op, u32) {
        match constant {
            Constant::Null => (Op::Lit, Literal::Null as u32),
            Constant::Bool(false) => (Op::Lit, Literal::False as u32),
            Constant::Bool(true) => (Op::Lit, Literal::True as u32),
            Constant::Int(n) => match i32::try_from(n) {
                Ok(n) if (-0x80_0000..0x80_0000).contains(&n) => (Op::Int, n.cast_unsigned() & OPERAND),
                _ => (Op::Num, self.tables.number(Number::Int(n))),
            },
            Constant::Float(n) => (Op::Num, self.tables.number(Number::Float(n))),
            Constant::Str(text) => (Op::Str, self.tables.string(&text)),
        }
    }

    fn emit(&mut self, op: Op, operands: &[u32]) {
        self.flush();
        self.words_of(op, operands);
    }

    fn words_of(&mut self, op: Op, operands: &[u32]) {
        let at = index(self.words.len());
        if self.spans.last().is_none_or(|run| run.place != self.place) {
            self.spans.push(SpanRun { at, place: self.place });
        }
        let first = operands.first().copied().unwrap_or(0);
        self.words.push(first << 8 | op as u32);
        self.words.extend(operands.iter().skip(1));
        let pops = self.pops(op, first);
        self.open.height = self.open.height.saturating_sub(pops) + u32::from(op.info().pushes);
    }

    fn pops(&self, op: Op, operand: u32) -> u32 {
        let extra = |at: u32| self.extra.get(at as usize).copied().unwrap_or(0);
        match op.info().pops {
            Pops::Fixed(n) => n.into(),
            Pops::Count => operand,
            Pops::PathIndexes => extra(operand + 1) >> 24,
            Pops::Arguments => extra(operand + 1),
            Pops::Parameters => self.chunks.get(operand as usize).map_or(0, |chunk| chunk.params),
        }
    }

    /// An error once the code or a table has outgrown the limit; cheap enough to ask often.
    pub fn check_size(&self) -> Result<()> {
        let largest = self.words.len().max(self.extra.len()).max(self.tables.strings.len());
        if largest > self.limit.min(OPERAND as usize) { Err(Limit::CodeWords.error(self.limit as u64)) } else { Ok(()) }
    }

    /// Writes the places of labels into the jumps; where a jump would lead to a jump, it leads on. From jumps
    /// that lead in a circle nothing is gained, so a few steps are enough.
    fn patch_jumps(&mut self) {
        const STEPS: usize = 4;
        for round in 0..=STEPS {
            for &(at, in_first, label) in &self.patches {
                let Some(&word) = self.words.get(at) else { continue };
                let target = match (round, in_first) {
                    (0, _) => self.labels.get(label.0).copied().flatten().unwrap_or(0),
                    (_, true) => word >> 8,
                    (_, false) => word,
                };
                let behind = self.words.get(target as usize).filter(|&&next| round > 0 && Op::of(next) == Op::Jump);
                let target = behind.map_or(target, |next| next >> 8);
                if let Some(word) = self.words.get_mut(at) {
                    *word = if in_first { target << 8 | *word & 0xFF } else { target };
                }
            }
        }
    }

    /// The finished program.
    pub fn finish(mut self) -> Result<Program> {
        self.check_size()?;
        self.patch_jumps();
        let Tables { pool, strings, numbers, globals, imports, sources, .. } = self.tables;
        Ok(Program {
            id: fresh_program_id(),
            dialect: self.dialect,
            words: self.words,
            extra: self.extra,
            pool,
            strings,
            numbers,
            chunks: self.chunks,
            globals,
            imports,
            failures: self.failures,
            handlers: self.handlers,
            spans: self.spans,
            inlined: self.inlined,
            sources,
            caches: self.caches,
        })
    }
}

impl std::fmt::Debug for Emitter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").field("dialect", &self.dialect).field("words", &self.words.len()).finish()
    }
}
