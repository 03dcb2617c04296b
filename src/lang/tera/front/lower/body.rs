//! Bodies: text, output, variables, conditions, loops, filter sections.

use super::frame::{Frame, Turn};
use super::program::Lower;
use crate::builtins::marks;
use crate::syntax::tree::{Branch, Call, Expr, ExprKind, For, Name, Node};
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use dropforge_machine::bytecode::{EscapeMode, Op};
use dropforge_machine::compiler::{Emitter, LoopMark};
use dropforge_machine::function::Builtin;

impl<'a> Lower<'_, 'a> {
    pub(super) fn body(&mut self, body: &'a [Node<'a>]) -> Result<()> {
        for node in body {
            self.node(node)?;
            self.emitter.check_size()?;
        }
        Ok(())
    }

    fn node(&mut self, node: &'a Node<'a>) -> Result<()> {
        match node {
            Node::Text(text) => {
                self.at(text.span);
                self.emitter.text(text.text);
                Ok(())
            }
            Node::Emit(expr) => self.emit(expr),
            Node::Set { name, global, value } => self.set(*name, *global, value),
            Node::If { branches, otherwise } => self.condition(branches, otherwise),
            Node::For(one) => self.deeper(one.container.span, |lower| lower.for_loop(one)),
            Node::Block(block) => self.deeper(block.name.span, |lower| lower.block(block)),
            Node::Filter { filter, body } => self.deeper(filter.span, |lower| lower.filter_section(filter, body)),
            Node::Include { names, ignore_missing, span } => {
                self.deeper(*span, |lower| lower.include(names, *ignore_missing, *span))
            }
            Node::Super(span) => self.deeper(*span, |lower| lower.super_block(*span)),
            Node::Break => {
                self.leave_turn("break", Emitter::break_loop);
                Ok(())
            }
            Node::Continue => {
                self.leave_turn("continue", Emitter::continue_loop);
                Ok(())
            }
        }
    }

    /// Lowers `break` or `continue` for the loop in the innermost frame. There is none after the `else` of an outermost
    /// loop.
    fn leave_turn(&mut self, tag: &str, leave: impl FnOnce(&mut Emitter<'a>, LoopMark)) {
        match self.frames.last().and_then(|frame| frame.turn) {
            Some(turn) => leave(self.emitter, turn.mark),
            None => {
                let message = format!("`{tag}` stands where no loop is running");
                self.fail_quietly(&Diagnostic::new(Code::MisplacedTag, message));
            }
        }
    }

    /// Lowers `{{ value }}`.
    fn emit(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        let mode = if self.escapes(expr) { EscapeMode::Html } else { EscapeMode::Plain };
        let is_bare = !expr.negated && expr.filters.iter().all(|filter| filter.name.text == "safe");
        if is_bare && self.emit_bare(expr, mode)? {
            // Only warns of the arguments of `safe`.
            return self.filters_and_not(expr);
        }
        self.unfinished(expr)?;
        self.at(expr.span);
        self.emitter.write(mode);
        Ok(())
    }

    /// Lowers `{{ value }}` without filters. Returns `false` for a value that is computed before it is written.
    fn emit_bare(&mut self, expr: &'a Expr<'a>, mode: EscapeMode) -> Result<bool> {
        match expr.kind {
            ExprKind::Path(path) => return self.write_path(path, mode),
            ExprKind::MacroCall(namespace, call) => self.call_macro(namespace, call)?,
            ExprKind::Math(steps) => {
                self.math(steps, expr.span)?;
                self.emitter.write(mode);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set(&mut self, name: Name<'a>, global: bool, value: &'a Expr<'a>) -> Result<()> {
        self.unescaped(|lower| lower.value(value))?;
        let belongs = |frame: &&Frame<'a>| !global || frame.turn.is_none();
        let slot = self.frames.iter().rev().find(belongs).and_then(|frame| frame.slot(name.text));
        let slot = slot.unwrap_or_else(|| self.emitter.new_slot());
        self.emitter.op(Op::StoreSlot, &[slot]);
        Ok(())
    }

    fn condition(&mut self, branches: &'a [Branch<'a>], otherwise: &'a [Node<'a>]) -> Result<()> {
        let end = self.emitter.new_label();
        for (at, branch) in branches.iter().enumerate() {
            let next = self.emitter.new_label();
            self.branch(&branch.condition, false, next)?;
            self.deeper(branch.condition.span, |lower| lower.body(branch.body))?;
            if at + 1 < branches.len() || !otherwise.is_empty() {
                self.emitter.jump(Op::Jump, end);
            }
            self.emitter.bind(next);
        }
        if let Some(last) = branches.last() {
            self.deeper(last.condition.span, |lower| lower.body(otherwise))?;
        }
        self.emitter.bind(end);
        Ok(())
    }

    fn for_loop(&mut self, one: &'a For<'a>) -> Result<()> {
        let container = &one.container;
        if !matches!(container.kind, ExprKind::Path(_) | ExprKind::Call(_) | ExprKind::List(_)) {
            let message = format!(
                "{CULPRIT} cannot be looped over: a loop runs over a variable, the result of a function, or a list"
            );
            self.at(container.span);
            self.fail_quietly(&Diagnostic::new(Code::NotIterable, message));
            return Ok(());
        }
        self.unescaped(|lower| lower.value(container))?;
        self.at(container.span);
        let (empty, end) = (self.emitter.new_label(), self.emitter.new_label());
        let names = if one.key.is_some() { 2 } else { 1 };
        let slot = self.emitter.new_slots(names);
        let mark = self.emitter.begin_loop(names, slot, empty);
        let key = one.key.map(|key| (key.text, slot));
        let turn = Turn { key, value: (one.value.text, slot + names - 1), mark };
        self.frame_around(Frame::of_loop(turn), one.body)?;
        self.emitter.end_loop(mark);
        match one.otherwise {
            Some(otherwise) => {
                self.emitter.jump(Op::Jump, end);
                self.emitter.bind(empty);
                self.body(otherwise)?;
                self.emitter.bind(end);
            }
            None => self.emitter.bind(empty),
        }
        Ok(())
    }

    fn filter_section(&mut self, filter: &'a Call<'a>, body: &'a [Node<'a>]) -> Result<()> {
        self.at(filter.span);
        self.emitter.begin_capture();
        self.body(body)?;
        self.at(filter.span);
        self.emitter.end_capture();
        let is_safe = |mark: &&Builtin| mark.name == "safe" && filter.name.text == mark.name;
        match marks().iter().find(is_safe) {
            Some(mark) => self.lint_ignored(mark, filter),
            None => self.apply_filter(filter)?,
        }
        self.at(filter.span);
        self.emitter.write(EscapeMode::Plain);
        Ok(())
    }
}
