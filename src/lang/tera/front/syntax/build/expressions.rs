//! Operands, calls, conditions, and the steps of a path: `a.b[0]["k"][other.path]`.
//!
//! The language's expression levels differ only in the constructs that they allow, so each expression carries its
//! [`Class`] upwards, and each construct rejects the classes that it does not allow. Chains are classified in
//! [`super::chain`].

use bumpalo::Bump;

use super::chain::{Class, Item, Truth};
use super::{Build, Built};
use crate::syntax::SyntaxError;
use crate::syntax::lexer::word_end;
use crate::syntax::tree::{Arg, Call, CompareOp, Expr, ExprKind, Name, Path, Segment};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

impl<'a> Build<'a> {
    // Operands

    /// Returns an expression without filters.
    pub fn plain(&self, kind: ExprKind<'a>, span: Span) -> &'a mut Expr<'a> {
        self.arena.alloc(Expr::bare(kind, span))
    }

    /// Builds an integer. It must fit `i64`.
    pub fn int(&self, negative: bool, digits: &str, span: Span) -> Built<&'a mut Expr<'a>> {
        let n = if negative { format!("-{digits}").parse().ok() } else { digits.parse().ok() };
        self.number(n.map(ExprKind::Int), negative, digits, span)
    }

    /// Builds a number with a decimal point.
    pub fn float(&self, negative: bool, digits: &str, span: Span) -> Built<&'a mut Expr<'a>> {
        let n = digits.parse().ok().filter(|n: &f64| n.is_finite());
        self.number(n.map(|n| ExprKind::Float(if negative { -n } else { n })), negative, digits, span)
    }

    fn number(&self, kind: Option<ExprKind<'a>>, negative: bool, digits: &str, span: Span) -> Built<&'a mut Expr<'a>> {
        kind.map(|kind| self.plain(kind, span)).ok_or_else(|| {
            let message = format!("the number {}{digits} is out of bounds", if negative { "-" } else { "" });
            SyntaxError::new(Code::NumberOutOfRange, span, message, "whole numbers have 64 bits with sign")
        })
    }

    /// Returns a list with its filters.
    pub fn list(&mut self, items: Option<usize>, filters: &'a [Call<'a>], span: Span) -> &'a mut Expr<'a> {
        let items = self.values.keep(items, self.arena);
        let list = self.plain(ExprKind::List(items), span);
        list.filters = filters;
        with_filters(list)
    }

    /// Something in parentheses.
    pub fn group(&self, inner: Truth<'a>, filters: &'a [Call<'a>], span: Span) -> Item<'a> {
        let Truth { expr, class } = inner;
        if class == Class::Plain {
            (expr.filters, expr.span) = (filters, span);
            return Item { expr, group: None, parenthesised: true };
        }
        let around = self.plain(expr.kind, span);
        around.filters = filters;
        Item { expr: around, group: Some(expr), parenthesised: true }
    }

    /// Returns a variable.
    pub fn variable(&mut self, path: Name<'a>) -> &'a mut Expr<'a> {
        let kind = ExprKind::Path(self.path(path));
        self.plain(kind, path.span)
    }

    /// Splits a path, which the lexer has checked, into its steps.
    fn path(&mut self, path: Name<'a>) -> &'a Path<'a> {
        let segments = &mut self.segments;
        Cutter { arena: self.arena, text: path.text, base: path.span.start, at: 0, segments }.path()
    }

    /// Takes the arguments of a call. The last of duplicate names wins.
    pub fn arguments(&mut self, args: Option<usize>) -> &'a [Arg<'a>] {
        self.args.keep_last_of_each(args, self.arena, |arg| arg.name.text)
    }

    /// `f(…)`
    pub fn function(&self, name: Name<'a>, args: &'a [Arg<'a>], end: u32) -> Built<&'a mut Expr<'a>> {
        simple(name, "a function")?;
        let span = Span::new(name.span.start, end);
        Ok(self.plain(ExprKind::Call(self.arena.alloc(Call { name, args, span })), span))
    }

    /// `ns::f(…)`
    pub fn macro_call(
        &self,
        namespace: Name<'a>,
        name: Name<'a>,
        args: &'a [Arg<'a>],
        end: u32,
    ) -> Built<&'a mut Expr<'a>> {
        simple(namespace, "a namespace")?;
        let span = Span::new(namespace.span.start, end);
        Ok(self.plain(ExprKind::MacroCall(namespace, self.arena.alloc(Call { name, args, span })), span))
    }

    /// `path is test(…)`
    pub fn test(
        &mut self,
        path: Name<'a>,
        negated: bool,
        name: Name<'a>,
        args: Option<usize>,
        end: u32,
    ) -> Built<&'a mut Expr<'a>> {
        let args = self.values.keep(args, self.arena);
        if let Some(list) = args.iter().find(|arg| matches!(arg.kind, ExprKind::List(_))) {
            let message = "a test takes no list literal";
            return Err(SyntaxError::unexpected(list.span, message, "use `{% set %}` and pass the variable"));
        }
        let span = Span::new(path.span.start, end);
        let path = self.path(path);
        Ok(self.plain(ExprKind::Test { path, name, args, negated }, span))
    }

    // Conditions

    /// Builds `not`, at `not`, before a condition. Parentheses drop a `not` directly inside them.
    pub fn negated(&self, not: u32, truth: Truth<'a>, span: Span) -> Built<Truth<'a>> {
        if truth.class == Class::Group {
            let help = "`not` takes one comparison or value; put it inside the parentheses of each operand";
            return Err(SyntaxError::unexpected(span, "`not` cannot stand before a condition in parentheses", help));
        }
        truth.expr.negated = true;
        if matches!(truth.expr.kind, ExprKind::Compare(..)) {
            // `not` is a part of the comparison: `not a == b` compares for inequality.
            truth.expr.span.start = not;
        }
        Ok(Truth { expr: truth.expr, class: Class::Logic })
    }

    /// `a or b and c …`, where `and` binds tighter.
    pub fn logic(&mut self, terms: usize) -> Truth<'a> {
        let mut sums: Vec<Expr<'a>> = Vec::new();
        let mut factors: Vec<Expr<'a>> = Vec::new();
        for (is_or, expr) in self.terms.split_off(terms) {
            if is_or {
                sums.push(self.join(&factors, ExprKind::And));
                factors.clear();
            }
            factors.push(expr);
        }
        sums.push(self.join(&factors, ExprKind::And));
        Truth { expr: self.arena.alloc(self.join(&sums, ExprKind::Or)), class: Class::Logic }
    }

    fn join(&self, parts: &[Expr<'a>], kind: fn(&'a [Expr<'a>]) -> ExprKind<'a>) -> Expr<'a> {
        match parts {
            [one] => *one,
            [first, .., last] => Expr::bare(kind(self.arena.alloc_slice_copy(parts)), first.span.to(last.span)),
            [] => Expr::bare(ExprKind::Bool(false), Span::default()),
        }
    }

    /// One comparison.
    pub fn compare(&self, left: Truth<'a>, op: CompareOp, right: Truth<'a>) -> Built<Truth<'a>> {
        for side in [&left, &right] {
            not_a_group(side, "a comparison")?;
        }
        let span = left.expr.span.to(right.expr.span);
        let kind = ExprKind::Compare(op, self.arena.alloc([*left.expr, *right.expr]));
        Ok(Truth { expr: self.plain(kind, span), class: Class::Logic })
    }

    /// `needle in haystack`, `needle not in haystack`.
    pub fn contains(&self, needle: Truth<'a>, negated: bool, haystack: &Expr<'a>) -> Built<Truth<'a>> {
        not_a_group(&needle, "front of `in`")?;
        let span = needle.expr.span;
        if needle.class == Class::Sum {
            let message = "arithmetic after a filter cannot stand before `in`";
            return Err(SyntaxError::unexpected(span, message, "use `{% set %}`"));
        }
        let kind = ExprKind::In { sides: self.arena.alloc([*needle.expr, *haystack]), negated };
        Ok(Truth { expr: self.plain(kind, span.to(haystack.span)), class: Class::Logic })
    }

    /// Checks the right side of `in` if it is not a list.
    pub fn haystack(&self, Truth { expr, class }: Truth<'a>) -> Built<&'a mut Expr<'a>> {
        let path = matches!(expr.kind, ExprKind::Path(path) if path.span == expr.span) && class == Class::Plain;
        if path || class == Class::Text {
            return Ok(expr);
        }
        let message = "only text, a list or a variable without filters may follow `in`";
        Err(SyntaxError::unexpected(expr.span, message, "use `{% set %}` for the value after `in`"))
    }

    /// Checks the container of a loop if it is not a list.
    pub fn container(&self, Truth { expr, class }: Truth<'a>) -> Built<&'a mut Expr<'a>> {
        if matches!(class, Class::Plain | Class::Filtered) {
            return Ok(expr);
        }
        let message = "a loop runs over a variable, a function call or a list, with filters or without";
        Err(SyntaxError::unexpected(expr.span, message, "use `{% set %}` for the value to loop over"))
    }
}

/// Extends the span of an expression to its filters.
pub(super) fn with_filters<'a>(expr: &'a mut Expr<'a>) -> &'a mut Expr<'a> {
    if let Some(last) = expr.filters.last() {
        expr.span = expr.span.to(last.span);
    }
    expr
}

fn not_a_group(truth: &Truth<'_>, what: &str) -> Built<()> {
    if truth.class == Class::Group { Err(grouped(truth.expr.span, what)) } else { Ok(()) }
}

/// Returns the error of parentheses that contain more than an operand may.
pub(super) fn grouped(span: Span, what: &str) -> Box<SyntaxError> {
    let help = "parentheses are operands only around plain arithmetic; use `{% set %}` for the part inside";
    SyntaxError::unexpected(span, format!("this cannot stand in {what}"), help)
}

fn simple(name: Name<'_>, what: &str) -> Built<()> {
    if !name.text.contains(['.', '[']) {
        return Ok(());
    }
    Err(SyntaxError::unexpected(name.span, format!("`{}` is a path, not the name of {what}", name.text), ""))
}

/// A cursor in the text of one path.
pub(super) struct Cutter<'a, 's> {
    pub(super) arena: &'a Bump,
    pub(super) text: &'a str,
    /// The offset of the text in its source.
    pub(super) base: u32,
    pub(super) at: usize,
    /// The steps of the open paths, inner ones above outer ones.
    pub(super) segments: &'s mut Vec<Segment<'a>>,
}

impl<'a> Cutter<'a, '_> {
    pub(super) fn path(&mut self) -> &'a Path<'a> {
        let start = self.at;
        let root = self.word();
        let first = self.segments.len();
        loop {
            match self.peek() {
                Some(b'.') => {
                    self.at += 1;
                    let name = self.word();
                    self.segments.push(Segment::Key(name));
                }
                Some(b'[') => {
                    self.at += 1;
                    let step = self.bracket();
                    self.segments.push(step);
                    self.at += 1;
                }
                _ => break,
            }
        }
        let span = self.span(start, self.at);
        let text = self.text.get(start..self.at).unwrap_or("");
        let segments = self.arena.alloc_slice_copy(self.segments.get(first..).unwrap_or(&[]));
        self.segments.truncate(first);
        self.arena.alloc(Path { text, root, segments, span })
    }

    fn bracket(&mut self) -> Segment<'a> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                self.at += 1;
                let name = self.take(|byte| byte != quote);
                self.at += 1;
                Segment::Key(name)
            }
            Some(b'-') => Segment::Negative(self.take(|byte| byte.is_ascii_digit() || byte == b'-')),
            Some(b'0'..=b'9') => Segment::Key(self.take(|byte| byte.is_ascii_digit())),
            _ => Segment::Lookup(self.path()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn word(&mut self) -> Name<'a> {
        self.name(word_end(self.text.as_bytes(), self.at))
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> Name<'a> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        self.name(self.at + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len()))
    }

    fn name(&mut self, end: usize) -> Name<'a> {
        let start = std::mem::replace(&mut self.at, end);
        Name { text: self.text.get(start..end).unwrap_or(""), span: self.span(start, end) }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let span = Span::of(start..end);
        Span::new(self.base + span.start, self.base + span.end)
    }
}
