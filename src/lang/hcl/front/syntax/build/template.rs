//! Templates: their parts in a row become a tree once the closing quote or marker is there.

use std::borrow::Cow;

use smallvec::SmallVec;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::{Build, ForNames};
use crate::syntax::lexer::{LiteralPiece, Wrong, escape_of};
use crate::syntax::{Expr, ExprId, For, Str, scan_string_literal};
use dropforge_base::text::Span;

/// A part of a template.
#[derive(Debug, Clone, Copy)]
pub struct TemplatePart {
    pub(super) kind: PartKind,
    /// Its place in the source, with the braces of a sequence.
    pub(super) span: Span,
    /// `true` for a sequence that strips the text before it.
    left: bool,
    /// `true` for a sequence that strips the text after it.
    right: bool,
}

impl TemplatePart {
    /// The text, if the part is literal.
    fn as_text(&self) -> Option<Str> {
        if let PartKind::Text(text) = self.kind { Some(text) } else { None }
    }
}

/// The kind of a part of a template.
#[derive(Debug, Clone, Copy)]
pub enum PartKind {
    /// Literal text, decoded.
    Text(Str),
    /// `${ … }`
    Value(ExprId),
    /// `%{ if … }`
    If(ExprId),
    /// `%{ for … in … }`
    For(ForNames, ExprId),
    /// `%{ else }`
    Else,
    /// `%{ endif }`
    EndIf,
    /// `%{ endfor }`
    EndFor,
}

/// An open directive.
struct Frame {
    open: TemplatePart,
    /// The beginning of its content on the stack of elements.
    content: usize,
    /// The content in front of `else`.
    then: Option<ExprId>,
}

impl Build<'_> {
    /// Literal text.
    pub fn text(&mut self, span: Span, quoted: bool) {
        let text = self.decoded(span, quoted);
        self.pending.parts.push(TemplatePart {
            kind: PartKind::Text(text),
            span: self.place(span),
            left: false,
            right: false,
        });
    }

    /// A sequence that begins with `open`, where only text may stand.
    pub fn placeholder_text(&mut self, open: Span) {
        let sign = self.slice(open).get(..1).unwrap_or("$");
        let text = self.tree.pooled(&format!("{sign}{{ ... }}"));
        self.pending.parts.push(TemplatePart {
            kind: PartKind::Text(text),
            span: self.place(open),
            left: false,
            right: false,
        });
    }

    /// `${ … }` or `%{ … }`
    pub fn sequence(&mut self, kind: PartKind, open: Span, close: Span) {
        let (left, right) = (self.slice(open).ends_with('~'), self.slice(close).starts_with('~'));
        self.pending.parts.push(TemplatePart { kind, span: self.place(open.to(close)), left, right });
    }

    /// `" … "`, or a heredoc. `<<-` removes the indentation.
    pub fn template(&mut self, list: usize, span: Span) -> ExprId {
        self.strip(list);
        if self.slice(span).starts_with("<<-") {
            self.flush(list);
        }
        self.stripped_template(list, self.place(span))
    }

    /// A template that is a text of its own.
    pub fn template_file(&mut self, list: usize) -> ExprId {
        self.strip(list);
        self.stripped_template(list, self.place(self.file))
    }

    /// A template whose directives do not match: its parts from `list` on are dropped.
    pub fn broken_template(&mut self, list: usize, span: Span) -> ExprId {
        self.pending.parts.truncate(list);
        self.invalid(span)
    }

    /// The text of the parts from `list` on, which hold nothing else. It is not normalised. Without parts, it is `empty`.
    pub(super) fn literal_text(&mut self, list: usize, empty: Span) -> Str {
        let texts: Vec<_> = self.pending.parts.drain(list..).filter_map(|part| part.as_text()).collect();
        if texts.is_empty() { self.str(empty) } else { self.joined(&texts) }
    }

    fn stripped_template(&mut self, list: usize, span: Span) -> ExprId {
        if let Some(&[TemplatePart { kind: PartKind::Value(value), .. }]) = self.pending.parts.get(list..) {
            self.pending.parts.truncate(list);
            return self.node(Expr::Wrapped(value), span);
        }
        let content = self.pending.list.len();
        self.assemble(list);
        if self.pending.list.len() == content {
            self.empty_text(span.end);
        }
        self.pending.parts.truncate(list);
        let parts = self.ids(content);
        self.node(Expr::Template(parts), span)
    }

    /// Lets sequences strip the texts beside them.
    fn strip(&mut self, list: usize) {
        for at in list..self.pending.parts.len() {
            let left = at > list && self.pending.parts.get(at - 1).is_some_and(|before| before.right);
            let right = self.pending.parts.get(at + 1).is_some_and(|behind| behind.left);
            if let Some(TemplatePart { kind: PartKind::Text(text), .. }) = self.pending.parts.get_mut(at) {
                if left {
                    text.start = text.end - bytes(self.tree.str(*text).trim_start());
                }
                if right {
                    text.end = text.start + bytes(self.tree.str(*text).trim_end());
                }
            }
        }
    }

    /// Removes the common indentation of the lines.
    fn flush(&mut self, list: usize) {
        let texts = self.pending.parts.get(list..).unwrap_or(&[]).iter().map(|part| match part.kind {
            PartKind::Text(text) => Some(self.tree.str(text)),
            _ => None,
        });
        for (at, indent) in indents(texts) {
            if let Some(TemplatePart { kind: PartKind::Text(text), span, .. }) = self.pending.parts.get_mut(list + at) {
                text.start += indent;
                span.start += indent;
            }
        }
    }

    /// Assembles the parts from `list` on, whose directives are balanced, on the stack of elements.
    fn assemble(&mut self, list: usize) {
        let mut frames: Vec<Frame> = Vec::new();
        let mut at = list;
        while let Some(part) = self.pending.parts.get(at).copied() {
            at += 1;
            match part.kind {
                PartKind::Text(text) => at = self.literal(at, text, part.span),
                PartKind::Value(value) => self.pending.list.push(value),
                PartKind::If(_) | PartKind::For(..) => {
                    frames.push(Frame { open: part, content: self.pending.list.len(), then: None });
                }
                PartKind::Else => {
                    if let Some(frame) = frames.last_mut() {
                        frame.then = Some(self.branch(frame.content, frame.open.span.end));
                        frame.content = self.pending.list.len();
                    }
                }
                PartKind::EndIf | PartKind::EndFor => {
                    if let Some(frame) = frames.pop() {
                        let whole = self.close(frame, part.span);
                        self.pending.list.push(whole);
                    }
                }
            }
        }
    }

    /// A text with all texts directly after it. Returns the index of the next part.
    fn literal(&mut self, mut at: usize, text: Str, mut span: Span) -> usize {
        let mut texts = SmallVec::<[Str; 16]>::from_slice(&[text]);
        while let Some(part) = self.pending.parts.get(at)
            && let Some(next) = part.as_text()
        {
            texts.push(next);
            span.end = part.span.end;
            at += 1;
        }
        let text = self.joined(&texts);
        let text = self.normal(text);
        let node = self.node(Expr::Text(text), span);
        self.pending.list.push(node);
        at
    }

    fn empty_text(&mut self, at: u32) {
        let text = self.tree.pooled("");
        let node = self.node(Expr::Text(text), Span::new(at, at));
        self.pending.list.push(node);
    }

    /// The elements from `content` on as a template. Without any, it is an empty text at `empty`.
    fn branch(&mut self, content: usize, empty: u32) -> ExprId {
        if self.pending.list.len() == content {
            self.empty_text(empty);
        }
        let parts = self.ids(content);
        let (first, last) = match self.tree.ids(parts) {
            [first, .., last] => (*first, *last),
            [one] => (*one, *one),
            [] => (ExprId(0), ExprId(0)),
        };
        let span = self.between(first, last);
        self.node(Expr::Template(parts), span)
    }

    /// A directive with its content.
    fn close(&mut self, frame: Frame, end: Span) -> ExprId {
        let open = frame.open.span;
        let span = open.to(end);
        match frame.open.kind {
            PartKind::If(condition) => {
                let then = frame.then.unwrap_or_else(|| self.branch(frame.content, open.end));
                let content = if frame.then.is_some() { frame.content } else { self.pending.list.len() };
                let otherwise = self.branch(content, end.start);
                self.node(Expr::Conditional { condition, then, otherwise }, span)
            }
            PartKind::For(names, collection) => {
                let node = For {
                    key_var: names.key.map(|name| self.str(name)),
                    value_var: self.str(names.value),
                    collection,
                    key: None,
                    value: self.branch(frame.content, open.end),
                    condition: None,
                    group: false,
                    open,
                };
                let elements = self.for_node(node, span);
                self.node(Expr::Joined(elements), span)
            }
            _ => self.node(Expr::Invalid, span),
        }
    }
}

fn bytes(text: &str) -> u32 {
    Span::of(0..text.len()).end
}

/// The bytes to remove from the start of each part, by the part's index. A part that is not literal text is `None`;
/// texts end with every line. The smallest indentation of all lines is removed, in grapheme clusters. A line that begins
/// with a sequence has none. Blank lines neither count nor lose any.
fn indents<'t>(parts: impl Iterator<Item = Option<&'t str>>) -> Vec<(usize, u32)> {
    let (mut lines, mut least, mut begins) = (Vec::new(), usize::MAX, true);
    for (at, part) in parts.enumerate() {
        if begins {
            match part {
                None => least = 0,
                Some(text) => {
                    let blanks = text.get(..text.len() - text.trim_start().len()).unwrap_or("");
                    if !(blanks == text && text.ends_with('\n')) {
                        least = least.min(blanks.graphemes(true).count());
                        lines.push((at, blanks));
                    }
                }
            }
        }
        begins = part.is_some_and(|text| text.ends_with('\n'));
    }
    let indent = |blanks: &str| blanks.graphemes(true).take(least).map(str::len).sum();
    lines.into_iter().map(|(at, blanks)| (at, Span::of(0..indent(blanks)).end)).collect()
}

/// Returns `true` if a number token has at most one dot and one exponent, and is in range: its binary exponent must fit
/// 32 bits.
pub(in crate::front::syntax) fn is_number(digits: &str) -> bool {
    const BITS_OF_DIGIT: f64 = std::f64::consts::LOG2_10;
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if fraction.contains('.') {
        return false;
    }
    let Ok(exponent) = exponent.parse::<i64>() else {
        return false;
    };
    if !mantissa.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
        return true;
    }
    let digits = whole.trim_start_matches('0').len() + fraction.len();
    let bits = (digits as f64 * BITS_OF_DIGIT) as i64;
    let exponent = exponent.saturating_sub(fraction.len() as i64).saturating_add(bits);
    i32::try_from(exponent).is_ok()
}

impl Build<'_> {
    /// The text of a literal token, decoded.
    pub(super) fn decoded(&mut self, span: Span, quoted: bool) -> Str {
        match decode(self.slice(span), quoted) {
            Cow::Borrowed(_) => self.str(span),
            Cow::Owned(text) => self.tree.pooled(&text),
        }
    }

    /// A text in the normal form of all values (NFC).
    pub(in crate::front::syntax) fn normal(&mut self, text: Str) -> Str {
        let read = self.tree.str(text);
        if read.is_ascii() || is_nfc_quick(read.chars()) == IsNormalized::Yes {
            return text;
        }
        let normal: String = read.nfc().collect();
        self.tree.pooled(&normal)
    }

    /// Texts one after another as one text, which is copied unless they stand so already.
    fn joined(&mut self, texts: &[Str]) -> Str {
        let mut adjacent = texts.windows(2).map(|pair| match pair {
            [first, second] => first.pooled == second.pooled && first.end == second.start,
            _ => true,
        });
        match texts {
            [first, .., last] if adjacent.all(|adjacent| adjacent) => Str { end: last.end, ..*first },
            [only] => *only,
            _ => {
                let text: String = texts.iter().map(|text| self.tree.str(*text)).collect();
                self.tree.pooled(&text)
            }
        }
    }
}

/// `raw` with its escapes resolved. One that is wrong stays as it is, an unknown one without its backslash.
fn decode(raw: &str, quoted: bool) -> Cow<'_, str> {
    if memchr::memchr3(b'\\', b'$', b'%', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    for span in scan_string_literal(raw, quoted) {
        let piece = raw.get(span.range()).unwrap_or("");
        match escape_of(piece, quoted) {
            LiteralPiece::Char(c) => text.push(c),
            LiteralPiece::Template(c) => text.extend([c, '{']),
            LiteralPiece::Wrong(Wrong::Unknown) => text.push_str(piece.get(1..).unwrap_or("")),
            LiteralPiece::Plain | LiteralPiece::Wrong(_) => text.push_str(piece),
        }
    }
    // An escape that means something is longer than its meaning.
    if text.len() == raw.len() { Cow::Borrowed(raw) } else { Cow::Owned(text) }
}
