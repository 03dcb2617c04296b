//! Pending text and constants, and their folding into instructions.

use smallvec::SmallVec;

use super::state::{Emitter, OPERAND};
use crate::bytecode::{BinaryOp, EscapeMode, Literal, Number, Op, PieceKind, Spanned, TextPiece};
use crate::compiler::fold::Constant;

/// Text and constants that have not been emitted.
#[derive(Debug, Default)]
pub(super) struct Pending<'f> {
    pub text: String,
    text_place: Spanned,
    /// The pieces of the text, if they come from several places.
    pieces: SmallVec<[TextPiece; 2]>,
    pub constants: Vec<(Constant<'f>, Spanned)>,
}

impl Pending<'_> {
    pub fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
        self.constants.clear();
    }
}

impl<'f> Emitter<'f> {
    /// Writes text.
    pub fn text(&mut self, text: &str) {
        self.piece(text, PieceKind::Text);
    }

    /// Writes a piece of text.
    fn piece(&mut self, text: &str, kind: PieceKind) {
        if text.is_empty() {
            return;
        }
        self.flush_constants();
        if self.pending.text_place.source != self.place.source {
            self.flush_text();
        }
        let pending = &mut self.pending;
        let start = pending.text.len();
        if start == 0 {
            pending.text_place = self.place;
            pending.pieces.clear();
        }
        if pending.pieces.last().is_none_or(|last| (last.place, last.kind) != (self.place, kind)) {
            pending.pieces.push(TextPiece { start, end: None, place: self.place, kind });
        }
        pending.text.push_str(text);
    }

    /// Pops the top value and writes it.
    pub fn write(&mut self, mode: EscapeMode) {
        if let [(constant, _)] = self.pending.constants.as_slice()
            && let Some(text) = self.fold.text(constant, mode)
        {
            self.pending.constants.clear();
            self.piece(&text, PieceKind::Value);
            return;
        }
        self.emit(Op::Emit, &[mode as u32]);
    }

    /// Pushes a constant.
    pub fn constant(&mut self, constant: Constant<'f>) {
        self.pending.constants.push((constant, self.place));
    }

    /// Pushes undefined.
    pub fn undefined(&mut self) {
        self.emit(Op::Lit, &[Literal::Undefined as u32]);
    }

    /// Applies an operator to the top two values.
    pub fn binary(&mut self, op: BinaryOp) {
        if let [.., (a, _), (b, _)] = self.pending.constants.as_slice()
            && self.optimise
            && let Some(folded) = self.fold.binary(op, a, b)
        {
            self.pending.constants.truncate(self.pending.constants.len() - 2);
            self.constant(folded);
            return;
        }
        self.emit(op.op(), &[]);
    }

    /// Concatenates the top `count` values as text.
    pub fn join(&mut self, count: u32) {
        let constants = &mut self.pending.constants;
        let first = constants.len().checked_sub(count as usize).filter(|_| self.optimise);
        let pieces = first.and_then(|first| constants.get(first..));
        let texts = pieces.map(|pieces| pieces.iter().map(|(piece, _)| self.fold.text(piece, EscapeMode::Piece)));
        if let Some(joined) = texts.and_then(Iterator::collect::<Option<String>>) {
            constants.truncate(constants.len() - count as usize);
            self.constant(Constant::Str(joined.into()));
            return;
        }
        self.emit(Op::Join, &[count]);
    }

    pub(super) fn flush(&mut self) {
        self.flush_text();
        self.flush_constants();
    }

    #[inline]
    pub(super) fn flush_text(&mut self) {
        if !self.pending.text.is_empty() {
            self.emit_text();
        }
    }

    fn emit_text(&mut self) {
        if let Some(id) = self.take_text() {
            let place = std::mem::replace(&mut self.place, self.pending.text_place);
            self.emit_now(Op::Text, &[id]);
            if self.pending.pieces.len() > 1 {
                let pieces = std::mem::take(&mut self.pending.pieces);
                self.pieces(&pieces);
            }
            self.place = place;
        }
    }

    /// Interns the pending text and returns its id, unless the code is unreachable.
    pub(super) fn take_text(&mut self) -> Option<u32> {
        let id = (!self.frame.dead).then(|| self.tables.string(&self.pending.text));
        self.pending.text.clear();
        id
    }

    #[inline]
    pub(super) fn flush_constants(&mut self) {
        if !self.pending.constants.is_empty() {
            self.emit_constants();
        }
    }

    fn emit_constants(&mut self) {
        self.flush_text();
        let here = self.place;
        let mut constants = std::mem::take(&mut self.pending.constants);
        for (constant, place) in constants.drain(..) {
            self.place = place;
            let (op, operand) = if self.frame.dead { (Op::Lit, 0) } else { self.constant_op(constant) };
            self.emit_now(op, &[operand]);
        }
        self.pending.constants = constants; // empty, its memory kept
        self.place = here;
    }

    fn constant_op(&mut self, constant: Constant<'_>) -> (Op, u32) {
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
}
