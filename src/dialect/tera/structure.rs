//! Opening and closing blocks: what an end tag closes, where `elif`, `else`, `break` and `continue` may stand,
//! and what is wrong when they stand elsewhere.

use super::ast::{Block, Branch, Expr, For, Macro, Node};
use super::lexer::{Bare, Trim};
use super::nesting::{Body, Context, Frame, Open};
use super::parser::Parser;
use super::syntax::SyntaxError;
use crate::text::Span;

impl<'a> Parser<'a, '_> {
    pub(super) fn open(&mut self, span: Span, trim: Trim, open: Open<'a>) {
        if self.frames.len() >= self.limits.nesting {
            self.error(SyntaxError::too_deep(span));
            return;
        }
        self.body.begin_tag(trim.left);
        let inner = self.new_body(trim.right, self.body.trims());
        let around = std::mem::replace(&mut self.body, inner);
        let inside = open.context(self.context);
        let context = std::mem::replace(&mut self.context, inside);
        self.frames.push(Frame { open, span, around, context });
    }

    pub(super) fn elif(&mut self, span: Span, trim: Trim, next: Expr<'a>) {
        let Some(Frame { open: Open::If(_, condition), .. }) = self.frames.last_mut() else {
            return self.misplaced(span, "elif", "if");
        };
        let Some(condition) = condition.replace(next) else {
            let error = SyntaxError::misplaced(span, "`elif` cannot follow `else`", "put `else` last");
            return self.error(error);
        };
        self.body.begin_tag(trim.left);
        let body = self.go_on(trim.right);
        self.branch(Branch { condition, body });
    }

    /// Ends a body where another one of the same block begins.
    fn go_on(&mut self, trim_next: bool) -> &'a [Node<'a>] {
        let next = self.new_body(trim_next, self.body.trims());
        let body = std::mem::replace(&mut self.body, next);
        self.keep(body)
    }

    /// A branch of the innermost block, which is an `if`, is complete.
    fn branch(&mut self, branch: Branch<'a>) {
        if let Some(Open::If(branches, _)) = self.frames.last_mut().map(|frame| &mut frame.open) {
            branches.push(branch);
        }
    }

    pub(super) fn bare(&mut self, span: Span, trim: Trim, bare: Bare) {
        match bare {
            Bare::Else => self.otherwise(span, trim),
            Bare::Break | Bare::Continue if self.context != Context::Loop => {
                let tag = if bare == Bare::Break { "break" } else { "continue" };
                let message = format!("`{tag}` stands only in a loop");
                self.error(SyntaxError::misplaced(span, message, "a filter section inside a loop is not the loop"));
            }
            Bare::Break => self.body.tag(trim, Some(Node::Break)),
            Bare::Continue => self.body.tag(trim, Some(Node::Continue)),
            Bare::EndIf => self.close(span, trim, "if"),
            Bare::EndFor => self.close(span, trim, "for"),
            Bare::EndFilter => self.close(span, trim, "filter"),
            Bare::EndBlock => self.close(span, trim, "block"),
            Bare::EndMacro => self.close(span, trim, "macro"),
        }
    }

    fn otherwise(&mut self, span: Span, trim: Trim) {
        match self.frames.last_mut().map(|frame| &mut frame.open) {
            Some(Open::If(_, condition)) => {
                let Some(condition) = condition.take() else {
                    let error = SyntaxError::misplaced(span, "this `if` already has an `else`", "remove one of them");
                    return self.error(error);
                };
                self.body.begin_tag(trim.left);
                let body = self.go_on(trim.right);
                self.branch(Branch { condition, body });
            }
            // The last `else` of a loop wins, and no marker means anything behind the first.
            Some(Open::For(_, _, _, main)) => {
                let inner = Body::new(false, false, Vec::new());
                main.get_or_insert(std::mem::replace(&mut self.body, inner));
            }
            _ => self.misplaced(span, "else", "if"),
        }
    }

    pub(super) fn misplaced(&mut self, span: Span, tag: &str, wanted: &str) {
        let error = match self.frames.last() {
            None => {
                let help = format!("remove it, or add the `{{% {wanted} … %}}`");
                SyntaxError::misplaced(span, format!("there is no `{{% {wanted} %}}` before this `{tag}`"), help)
            }
            Some(frame) => {
                let inner = frame.open.tag();
                let message = format!("`{tag}` stands inside a `{inner}` that is not closed");
                SyntaxError::misplaced(span, message, format!("add `{{% end{inner} %}}` before it"))
                    .related(frame.span, format!("this `{inner}` is open"))
            }
        };
        self.error(error);
    }

    /// An end tag. Blocks opened inside it and not closed are reported and closed as well.
    fn close(&mut self, span: Span, trim: Trim, tag: &'static str) {
        if !self.frames.iter().any(|frame| frame.open.tag() == tag) {
            return self.misplaced(span, &format!("end{tag}"), tag);
        }
        while let Some(frame) = self.frames.pop() {
            let found = frame.open.tag() == tag;
            if !found {
                let inner = frame.open.tag();
                let message = format!("`{{% end{inner} %}}` is missing before this `end{tag}`");
                let error = SyntaxError::misplaced(span, message, format!("add `{{% end{inner} %}}`"));
                self.error(error.related(frame.span, format!("this `{inner}` is not closed")));
            }
            self.close_frame(frame, trim);
            if found {
                break;
            }
        }
    }

    fn close_frame(&mut self, frame: Frame<'a>, trim: Trim) {
        let mut inner = std::mem::replace(&mut self.body, frame.around);
        self.context = frame.context;
        let node = match frame.open {
            Open::For(key, value, container, main) => {
                let (mut body, otherwise) = match main {
                    Some(main) => (main, Some(self.keep(inner))),
                    None => (inner, None),
                };
                body.begin_tag(trim.left);
                let body = self.keep(body);
                Some(Node::For(self.arena.alloc(For { key, value, container, body, otherwise })))
            }
            open => {
                inner.begin_tag(trim.left);
                let body = self.keep(inner);
                self.node(open, body)
            }
        };
        self.body.nodes.extend(node);
        self.body.end_tag(trim.right);
    }

    fn node(&mut self, open: Open<'a>, body: &'a [Node<'a>]) -> Option<Node<'a>> {
        match open {
            Open::If(mut branches, condition) => {
                let otherwise = match condition {
                    Some(condition) => {
                        branches.push(Branch { condition, body });
                        &[]
                    }
                    None => body,
                };
                Some(Node::If { branches: self.arena.alloc_slice_copy(&branches), otherwise })
            }
            Open::Filter(filter) => Some(Node::Filter { filter, body }),
            Open::Block(name) => Some(Node::Block(self.arena.alloc(Block { name, body }))),
            Open::Macro(name, params) => {
                self.macros.push(Macro { name, params, body });
                None
            }
            Open::For(..) => None,
        }
    }

    pub(super) fn close_all(&mut self, end: usize) {
        while let Some(frame) = self.frames.pop() {
            if !self.stopped {
                let tag = frame.open.tag();
                let message = format!("the file ends, but `{{% end{tag} %}}` is missing");
                let error = SyntaxError::unterminated(Span::of(end..end), message, format!("add `{{% end{tag} %}}`"));
                self.error(error.related(frame.span, format!("this `{tag}` is not closed")));
            }
            self.close_frame(frame, Trim::default());
        }
    }
}
