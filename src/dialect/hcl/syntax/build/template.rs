//! Templates: their parts in a row become a tree once the closing quote or marker is there.

use super::{Build, ForNames};
use crate::dialect::hcl::syntax::heredoc;
use crate::dialect::hcl::syntax::tree::{Expr, ExprId, For, Str};
use crate::text::Span;

/// A part of a template.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub(super) kind: PartKind,
    /// Its place in the source; a sequence has its braces.
    pub(super) span: Span,
    /// Whether it is a sequence that strips the text before it.
    left: bool,
    /// Whether it is a sequence that strips the text behind it.
    right: bool,
}

/// What a part of a template is.
#[derive(Debug, Clone, Copy)]
pub(super) enum PartKind {
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

/// A directive of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect::hcl::syntax) enum Directive {
    If,
    Else,
    EndIf,
    For,
    EndFor,
}

impl Directive {
    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Directive::If => "if",
            Directive::Else => "else",
            Directive::EndIf => "endif",
            Directive::For => "for",
            Directive::EndFor => "endfor",
        }
    }
}

impl PartKind {
    fn directive(self) -> Option<Directive> {
        match self {
            PartKind::Text(_) | PartKind::Value(_) => None,
            PartKind::If(_) => Some(Directive::If),
            PartKind::For(..) => Some(Directive::For),
            PartKind::Else => Some(Directive::Else),
            PartKind::EndIf => Some(Directive::EndIf),
            PartKind::EndFor => Some(Directive::EndFor),
        }
    }
}

/// A directive that has no counterpart: where that is noticed, what stands there (nothing at the template's end), and
/// the directive that is open there.
pub(in crate::dialect::hcl::syntax) type Unbalanced = (Span, Option<Directive>, Option<Directive>);

/// The directives without a counterpart in a template that ends at `end`.
pub(in crate::dialect::hcl::syntax) fn unbalanced(
    directives: impl Iterator<Item = (Directive, Span)>,
    end: Span,
) -> Vec<Unbalanced> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for (directive, span) in directives {
        match (directive, open.last().copied()) {
            (Directive::If | Directive::For, _) => open.push((directive, true)),
            (Directive::Else, Some((Directive::If, true))) => {
                open.pop();
                open.push((Directive::If, false));
            }
            (Directive::EndIf, Some((Directive::If, _))) | (Directive::EndFor, Some((Directive::For, _))) => {
                open.pop();
            }
            (_, around) => {
                open.pop();
                found.push((span, Some(directive), around.map(|(around, _)| around)));
            }
        }
    }
    found.extend(open.into_iter().rev().map(|(around, _)| (end, None, Some(around))));
    found
}

/// A directive whose end is still to come.
struct Frame {
    open: Part,
    /// Where what is in it begins on the stack of elements.
    content: usize,
    /// What is in front of `else`.
    then: Option<ExprId>,
}

impl Build<'_> {
    /// Literal text.
    pub fn text(&mut self, span: Span, quoted: bool) {
        let text = self.decoded(span, quoted);
        self.parts.push(Part { kind: PartKind::Text(text), span: self.place(span), left: false, right: false });
    }

    /// A sequence that begins with `open`, where only text may stand.
    pub(in crate::dialect::hcl::syntax) fn placeholder_text(&mut self, open: Span) {
        let sign = self.slice(open).get(..1).unwrap_or("$");
        let text = self.tree.pooled(&format!("{sign}{{ ... }}"));
        self.parts.push(Part { kind: PartKind::Text(text), span: self.place(open), left: false, right: false });
    }

    /// `${ value }`
    pub fn interpolation(&mut self, open: Span, value: ExprId, close: Span) {
        self.sequence(PartKind::Value(value), open, close);
    }

    /// `%{ if condition }`
    pub fn if_directive(&mut self, open: Span, condition: ExprId, close: Span) {
        self.sequence(PartKind::If(condition), open, close);
    }

    /// `%{ else }`
    pub fn else_directive(&mut self, open: Span, close: Span) {
        self.sequence(PartKind::Else, open, close);
    }

    /// `%{ endif }`
    pub fn endif_directive(&mut self, open: Span, close: Span) {
        self.sequence(PartKind::EndIf, open, close);
    }

    /// `%{ for names in collection }`
    pub fn for_directive(&mut self, open: Span, names: ForNames, collection: ExprId, close: Span) {
        self.sequence(PartKind::For(names, collection), open, close);
    }

    /// `%{ endfor }`
    pub fn endfor_directive(&mut self, open: Span, close: Span) {
        self.sequence(PartKind::EndFor, open, close);
    }

    fn sequence(&mut self, kind: PartKind, open: Span, close: Span) {
        // `${~` and `~}` are longer than `${` and `}`.
        let (left, right) = (open.end - open.start > 2, close.end - close.start > 1);
        self.parts.push(Part { kind, span: self.place(open.to(close)), left, right });
    }

    /// `" … "`
    pub fn quoted(&mut self, list: usize, span: Span) -> ExprId {
        self.template(list, false, self.place(span))
    }

    /// `<<EOT … EOT`, or `<<-EOT`, which takes the indentation away.
    pub fn heredoc(&mut self, list: usize, span: Span) -> ExprId {
        let flush = self.slice(span).starts_with("<<-");
        self.template(list, flush, self.place(span))
    }

    /// A template that is a text of its own.
    pub fn template_file(&mut self, list: usize) -> ExprId {
        let span = self.place(self.file);
        self.template(list, false, span)
    }

    /// The text of the parts from `list` on, which hold nothing else, not normalised; `empty` where there is none.
    pub(in crate::dialect::hcl::syntax) fn literal_text(&mut self, list: usize, empty: Span) -> Str {
        let mut text = self.str(empty);
        for at in list..self.parts.len() {
            if let Some(Part { kind: PartKind::Text(next), .. }) = self.parts.get(at).copied() {
                text = self.joined(text, next);
            }
        }
        self.parts.truncate(list);
        text
    }

    fn template(&mut self, list: usize, flush: bool, span: Span) -> ExprId {
        self.strip(list);
        if flush {
            self.flush(list);
        }
        let (mut only, mut directives) = (None, false);
        for (at, part) in self.parts.get(list..).unwrap_or(&[]).iter().enumerate() {
            only = (at == 0).then_some(part.kind);
            directives |= part.kind.directive().is_some();
        }
        if let Some(PartKind::Value(value)) = only {
            self.parts.truncate(list);
            return self.node(Expr::Wrapped(value), span);
        }
        if directives && !self.is_balanced(list) {
            self.faulty = true;
            self.parts.truncate(list);
            return self.node(Expr::Invalid, span);
        }
        let content = self.list.len();
        self.assemble(list);
        if self.list.len() == content {
            self.empty_text(span.end);
        }
        self.parts.truncate(list);
        let parts = self.ids(content);
        self.node(Expr::Template(parts), span)
    }

    fn is_balanced(&self, list: usize) -> bool {
        let parts = self.parts.get(list..).unwrap_or(&[]).iter();
        let directives = parts.filter_map(|part| Some((part.kind.directive()?, part.span)));
        unbalanced(directives, Span::default()).is_empty()
    }

    /// Lets sequences strip the texts beside them.
    fn strip(&mut self, list: usize) {
        for at in list..self.parts.len() {
            let left = at > list && self.parts.get(at - 1).is_some_and(|before| before.right);
            let right = self.parts.get(at + 1).is_some_and(|behind| behind.left);
            if let Some(Part { kind: PartKind::Text(text), .. }) = self.parts.get_mut(at) {
                if left {
                    text.start = text.end - bytes(self.tree.str(*text).trim_start());
                }
                if right {
                    text.end = text.start + bytes(self.tree.str(*text).trim_end());
                }
            }
        }
    }

    /// Takes the common indentation off the lines.
    fn flush(&mut self, list: usize) {
        let texts = self.parts.get(list..).unwrap_or(&[]).iter().map(|part| match part.kind {
            PartKind::Text(text) => Some(self.tree.str(text)),
            _ => None,
        });
        for (at, indent) in heredoc::indents(texts) {
            if let Some(Part { kind: PartKind::Text(text), span, .. }) = self.parts.get_mut(list + at) {
                text.start += indent;
                span.start += indent;
            }
        }
    }

    /// Puts the parts from `list` on together, onto the stack of elements. Their directives are balanced.
    fn assemble(&mut self, list: usize) {
        let mut frames: Vec<Frame> = Vec::new();
        let mut at = list;
        while let Some(part) = self.parts.get(at).copied() {
            at += 1;
            match part.kind {
                PartKind::Text(text) => at = self.literal(at, text, part.span),
                PartKind::Value(value) => self.list.push(value),
                PartKind::If(_) | PartKind::For(..) => {
                    frames.push(Frame { open: part, content: self.list.len(), then: None });
                }
                PartKind::Else => {
                    if let Some(frame) = frames.last_mut() {
                        frame.then = Some(self.branch(frame.content, frame.open.span.end));
                        frame.content = self.list.len();
                    }
                }
                PartKind::EndIf | PartKind::EndFor => {
                    if let Some(frame) = frames.pop() {
                        let whole = self.close(frame, part.span);
                        self.list.push(whole);
                    }
                }
            }
        }
    }

    /// A text with all texts directly behind it; gives back where the parts go on.
    fn literal(&mut self, mut at: usize, mut text: Str, mut span: Span) -> usize {
        while let Some(Part { kind: PartKind::Text(next), span: behind, .. }) = self.parts.get(at).copied() {
            text = self.joined(text, next);
            span.end = behind.end;
            at += 1;
        }
        let text = self.normal(text);
        let node = self.node(Expr::Text(text), span);
        self.list.push(node);
        at
    }

    fn empty_text(&mut self, at: u32) {
        let text = self.tree.pooled("");
        let node = self.node(Expr::Text(text), Span::new(at, at));
        self.list.push(node);
    }

    /// What stands on the stack of elements from `content` on, as a template; an empty text at `empty` if nothing does.
    fn branch(&mut self, content: usize, empty: u32) -> ExprId {
        if self.list.len() == content {
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

    /// A directive with its content, once its end is there.
    fn close(&mut self, frame: Frame, end: Span) -> ExprId {
        let open = frame.open.span;
        let span = open.to(end);
        match frame.open.kind {
            PartKind::If(condition) => {
                let then = frame.then.unwrap_or_else(|| self.branch(frame.content, open.end));
                let content = if frame.then.is_some() { frame.content } else { self.list.len() };
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
                    intro: open,
                    open,
                    close: end,
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
