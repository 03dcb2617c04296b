//! Chains of operands. A chain is read flat (`a + b | f - c ~ d`), then decided as a whole: text and `~` stand
//! alone; arithmetic whose operands have filters is a level above arithmetic without; a filter applies to all
//! plain arithmetic on its left; a parenthesis is an operand only if it holds plain arithmetic. Arithmetic
//! becomes postfix steps without recursion, so a chain may have any length.

use super::ast::{Expr, ExprKind, MathOp, Step};
use super::build::{Build, Built, Chain, Class, Item, Link, Side, Truth};
use super::syntax::SyntaxError;
use crate::text::Span;

impl<'a> Build<'a> {
    /// A whole chain: text, a concatenation, arithmetic, or something in parentheses.
    pub fn side(&self, chain: Chain<'a>) -> Built<Side<'a>> {
        if chain.rest.iter().any(|((link, _), _)| *link == Link::Tilde) {
            return self.concat(chain).map(Side);
        }
        let items = || std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, item)| item));
        let alone = chain.rest.is_empty();
        for item in items() {
            let is_text = matches!(item.kind, ExprKind::Str(_));
            if is_text && item.group.is_none() && !alone {
                let help = "`~` joins text; `+` adds numbers";
                return Err(SyntaxError::unexpected(item.span, "text cannot stand in arithmetic", help));
            }
            if item.group.is_some() && (!alone || !item.filters.is_empty()) {
                let truth = Truth { expr: self.plain(item.kind, item.span), class: Class::Group };
                self.not_a_group(truth, "arithmetic or in front of a filter")?;
            }
            self.not_glued(item)?;
        }
        if let Some(inner) = chain.first.group {
            let expr = Expr { negated: false, span: chain.first.span, ..inner.expr };
            return Ok(Side(Truth { expr, class: Class::Group }));
        }
        Ok(Side(self.math(chain)))
    }

    /// A call whose name begins like `true` is a call only beside `~`.
    fn not_glued(&self, item: &Item<'a>) -> Built<()> {
        match item.kind {
            ExprKind::Call(call)
                if ["true", "True", "false", "False"].iter().any(|l| call.name.text.starts_with(l)) =>
            {
                let message =
                    format!("the function `{}` cannot be called: its name begins like a literal", call.name.text);
                Err(SyntaxError::unexpected(call.name.span, message, "rename the function"))
            }
            _ => Ok(()),
        }
    }

    fn concat(&self, chain: Chain<'a>) -> Built<Truth<'a>> {
        let span = chain.rest.last().map_or(chain.first.span, |(_, last)| chain.first.span.to(last.span));
        let last = chain.rest.len();
        let mut parts: Vec<Expr<'a>> = Vec::with_capacity(last + 1);
        let mut filters = Vec::new();
        let links = std::iter::once(None).chain(chain.rest.iter().map(|(link, _)| Some(*link)));
        for ((at, item), link) in
            std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, item)| item)).enumerate().zip(links)
        {
            concat_allows(item, link, at == last)?;
            parts.push(self.plain(item.kind, item.span));
            if at == last {
                filters.clone_from(&item.filters);
            }
        }
        let kind = self.joined(parts);
        Ok(Truth { expr: self.filtered(kind, span, filters), class: Class::Text })
    }

    /// Adjacent texts become one, empty ones vanish; only text is plain text again.
    fn joined(&self, parts: Vec<Expr<'a>>) -> ExprKind<'a> {
        let mut kept: Vec<Expr<'a>> = Vec::with_capacity(parts.len());
        let mut run: Option<(String, Span)> = None;
        let flush = |run: &mut Option<(String, Span)>, kept: &mut Vec<Expr<'a>>| {
            if let Some((text, span)) = run.take().filter(|(text, _)| !text.is_empty()) {
                kept.push(self.plain(ExprKind::Str(self.arena.alloc_str(&text)), span));
            }
        };
        for part in parts {
            match (part.kind, &mut run) {
                (ExprKind::Str(text), Some((all, span))) => {
                    all.push_str(text);
                    *span = span.to(part.span);
                }
                (ExprKind::Str(text), None) => run = Some((text.to_owned(), part.span)),
                _ => {
                    flush(&mut run, &mut kept);
                    kept.push(part);
                }
            }
        }
        flush(&mut run, &mut kept);
        match kept.as_slice() {
            [] => ExprKind::Str(""),
            [Expr { kind: ExprKind::Str(text), .. }] => ExprKind::Str(text),
            _ => ExprKind::Concat(self.arena.alloc_slice_copy(&kept)),
        }
    }

    /// Arithmetic: plain runs up to a filter are operands of the level above.
    fn math(&self, chain: Chain<'a>) -> Truth<'a> {
        let text = matches!(chain.first.kind, ExprKind::Str(_)) && chain.rest.is_empty();
        let mut outer = Postfix::default();
        let mut run = Postfix::default();
        let mut filtered = false;
        let mut items = chain.rest.into_iter();
        let mut item = chain.first;
        loop {
            run.operand(self.plain(item.kind, item.span));
            filtered |= !item.filters.is_empty();
            let ends = !item.filters.is_empty();
            let next = items.next();
            if ends || next.is_none() {
                let expr = std::mem::take(&mut run).finish(self);
                outer.operand(self.filtered(expr.kind, expr.span, item.filters));
            }
            match next {
                None => break,
                Some(((Link::Math(op), span), following)) => {
                    if ends {
                        outer.operator(op, span)
                    } else {
                        run.operator(op, span)
                    }
                    item = following;
                }
                Some((_, following)) => item = following,
            }
        }
        let class = match (text, filtered, outer.operands) {
            (true, ..) => Class::Text,
            (_, false, _) => Class::Plain,
            (_, true, 1) => Class::Filtered,
            _ => Class::Sum,
        };
        Truth { expr: outer.finish(self), class }
    }
}

fn concat_allows(item: &Item<'_>, link: Option<(Link, Span)>, last: bool) -> Built<()> {
    if let Some((Link::Math(_), span)) = link {
        let help = "`~` and arithmetic do not mix; use `{% set %}` for one of them";
        return Err(SyntaxError::unexpected(span, "arithmetic cannot stand in a concatenation", help));
    }
    let kind = match item.kind {
        ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Path(_) | ExprKind::Call(_) => None,
        ExprKind::MacroCall(..) => Some("a macro call"),
        ExprKind::Test { .. } => Some("a test"),
        ExprKind::Bool(_) => Some("`true` or `false`"),
        _ => Some("an expression"),
    };
    let kind = if item.parenthesised { Some("an expression in parentheses") } else { kind };
    if let Some(kind) = kind {
        let message = format!("{kind} cannot be joined with `~`");
        return Err(SyntaxError::unexpected(item.span, message, "use `{% set %}` and join the variable"));
    }
    match item.filters.first() {
        Some(filter) if !last => {
            let help = "filters stand behind the whole concatenation; use `{% set %}` to filter one operand";
            Err(SyntaxError::unexpected(filter.span, "a filter cannot stand inside a concatenation", help))
        }
        _ => Ok(()),
    }
}

/// Arithmetic on its way to postfix order: two levels of operators, so two waiting ones are the most.
#[derive(Default)]
struct Postfix<'a> {
    steps: Vec<Step<'a>>,
    waiting: Vec<(MathOp, Span)>,
    operands: usize,
    span: Option<Span>,
}

impl<'a> Postfix<'a> {
    fn operand(&mut self, expr: Expr<'a>) {
        self.operands += 1;
        self.span = Some(self.span.map_or(expr.span, |span| span.to(expr.span)));
        match expr.kind {
            ExprKind::Math(inner) if expr.filters.is_empty() => self.steps.extend_from_slice(inner),
            _ => self.steps.push(Step::Operand(expr)),
        }
    }

    fn operator(&mut self, op: MathOp, span: Span) {
        while let Some(&(before, at)) = self.waiting.last()
            && binds(before) >= binds(op)
        {
            self.steps.push(Step::Apply(before, at));
            self.waiting.pop();
        }
        self.waiting.push((op, span));
    }

    fn finish(mut self, build: &Build<'a>) -> Expr<'a> {
        while let Some((op, at)) = self.waiting.pop() {
            self.steps.push(Step::Apply(op, at));
        }
        match self.steps.as_slice() {
            [Step::Operand(expr)] => *expr,
            steps => {
                let kind = ExprKind::Math(build.arena.alloc_slice_copy(steps));
                build.plain(kind, self.span.unwrap_or_default())
            }
        }
    }
}

fn binds(op: MathOp) -> u8 {
    match op {
        MathOp::Add | MathOp::Sub => 1,
        MathOp::Mul | MathOp::Div | MathOp::Rem => 2,
    }
}
