//! Pending text and constants, and their folding into instructions, by a language's rules.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{Emitter, OPERAND};
use crate::bytecode::{BinaryOp, EscapeMode, Literal, Number, Op, PieceKind, Spanned, TextPiece};
use dropforge_value::Value;

/// A value known at compile time.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant<'c> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text.
    Str(Cow<'c, str>),
}

/// A language's constant folding. `None` leaves the operation, or its error, to the render.
///
/// By default, operators on integers are folded if the result is the same in every language.
pub trait Fold {
    /// Applies an operator.
    fn binary(&self, op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
        fold_integers(op, a, b)
    }

    /// Converts a constant to text.
    fn text<'c>(&self, constant: &Constant<'c>, _mode: EscapeMode) -> Option<Cow<'c, str>> {
        match constant {
            Constant::Str(text) => Some(text.clone()),
            Constant::Int(n) => Some(n.to_string().into()),
            Constant::Bool(truth) => Some(truth.to_string().into()),
            Constant::Null | Constant::Float(_) => None,
        }
    }
}

/// Applies an operator to two integers. Division is left to the languages, because it differs, and so is zero times a
/// negative number: zero may have a sign.
fn fold_integers(op: BinaryOp, a: &Constant<'_>, b: &Constant<'_>) -> Option<Constant<'static>> {
    let (Constant::Int(a), Constant::Int(b)) = (a, b) else { return None };
    if op == BinaryOp::Mul && (*a == 0 || *b == 0) && (*a < 0 || *b < 0) {
        return None;
    }
    match op.of_integers(*a, *b)? {
        Value::Int(n) => Some(Constant::Int(n)),
        Value::Bool(truth) => Some(Constant::Bool(truth)),
        _ => None,
    }
}

/// Text and constants that have not been emitted.
#[derive(Debug, Default)]
pub(super) struct Pending<'f> {
    /// The text while it is one piece, which is not copied.
    piece: &'f str,
    /// The text of several pieces.
    text: String,
    text_place: Spanned,
    /// `true` if the first piece is a computed value.
    begins_with_value: bool,
    /// The pieces of the text, if they come from several places.
    pieces: SmallVec<[TextPiece; 2]>,
    pub constants: Vec<(Constant<'f>, Spanned)>,
}

impl Pending<'_> {
    pub fn clear(&mut self) {
        self.clear_text();
        self.constants.clear();
    }

    fn clear_text(&mut self) {
        self.piece = "";
        self.text.clear();
    }

    #[inline]
    pub(crate) fn has_text(&self) -> bool {
        !self.piece.is_empty() || !self.text.is_empty()
    }

    /// Returns `true` if text of this source is pending.
    #[inline]
    pub(crate) fn has_text_of(&self, source: u32) -> bool {
        self.has_text() && self.text_place.source == source
    }

    /// Takes note of where more text comes from.
    fn begin_piece(&mut self, place: Spanned, is_value: bool) {
        let kind = |is_value| if is_value { PieceKind::Value } else { PieceKind::Text };
        let (last, was_value) = match self.pieces.last() {
            Some(piece) => (piece.place, piece.kind == PieceKind::Value),
            None => (self.text_place, self.begins_with_value),
        };
        if (last, was_value) == (place, is_value) {
            return;
        }
        if self.pieces.is_empty() {
            self.pieces.push(TextPiece { start: 0, end: None, place: last, kind: kind(was_value) });
        }
        let start = self.piece.len() + self.text.len();
        self.pieces.push(TextPiece { start, end: None, place, kind: kind(is_value) });
    }

    /// Adds text, which is copied.
    fn push(&mut self, text: &str) {
        self.text.push_str(std::mem::take(&mut self.piece));
        self.text.push_str(text);
    }
}

impl<'f> Emitter<'f> {
    /// Writes text.
    pub fn text(&mut self, text: &'f str) {
        self.text_of(text, false);
    }

    /// Writes text, which may be that of a computed value.
    fn text_of(&mut self, text: &'f str, is_value: bool) {
        if text.is_empty() {
            return;
        }
        if self.begins_text(is_value) {
            self.pending.piece = text;
        } else {
            self.pending.push(text);
        }
    }

    /// Prepares for more text. Returns `true` if none is pending.
    fn begins_text(&mut self, is_value: bool) -> bool {
        self.flush_constants();
        let place = self.place;
        if self.pending.has_text() && self.pending.text_place.source != place.source {
            self.flush_text();
        }
        let (begins, pending) = (!self.pending.has_text(), &mut self.pending);
        if begins {
            (pending.text_place, pending.begins_with_value) = (place, is_value);
            pending.pieces.clear();
        } else {
            pending.begin_piece(place, is_value);
        }
        begins
    }

    /// Pops the top value and writes it.
    pub fn write(&mut self, mode: EscapeMode) {
        if let [(constant, _)] = self.pending.constants.as_slice()
            && let Some(text) = self.fold.text(constant, mode)
        {
            self.pending.constants.clear();
            match text {
                Cow::Borrowed(text) => self.text_of(text, true),
                Cow::Owned(text) if text.is_empty() => {}
                Cow::Owned(text) => {
                    self.begins_text(true);
                    self.pending.push(&text);
                }
            }
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

    #[inline(always)]
    fn flush_text(&mut self) {
        if self.pending.has_text() {
            self.emit_text();
        }
    }

    #[inline(never)]
    fn emit_text(&mut self) {
        if let Some(id) = self.take_text() {
            let place = std::mem::replace(&mut self.place, self.pending.text_place);
            self.emit_now(Op::Text, &[id]);
            self.pending_pieces();
            self.place = place;
        }
    }

    /// Records the places of the pieces of the text that the latest instruction writes, if there are several.
    #[inline]
    pub(super) fn pending_pieces(&mut self) {
        if self.pending.pieces.len() > 1 {
            let pieces = std::mem::take(&mut self.pending.pieces);
            self.pieces(&pieces);
        }
    }

    /// Interns the pending text and returns its id, unless the code is unreachable.
    pub(super) fn take_text(&mut self) -> Option<u32> {
        let Pending { piece, text, .. } = &self.pending;
        let text = if text.is_empty() { piece } else { text.as_str() };
        let id = (!self.frame.dead).then(|| self.tables.string(text));
        self.pending.clear_text();
        id
    }

    #[inline(always)]
    pub(super) fn flush_constants(&mut self) {
        if !self.pending.constants.is_empty() {
            self.emit_constants();
        }
    }

    #[inline(never)]
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
