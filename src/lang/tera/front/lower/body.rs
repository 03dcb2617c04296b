//! Bodies: text, output, variables, conditions, loops, filter sections; blocks, `super()` and includes.

use super::variables::{Frame, LoopNames, Outside};
use super::{Entered, IncludeKey, Lower, Pending};
use crate::builtins::marks;
use crate::compile::{Id, unknown_template};
use crate::syntax::tree::{Block, Branch, Call, Expr, ExprKind, For, Name, Node};
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use dropforge_base::text::Span;
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
                self.leave_iteration("break", Emitter::break_loop);
                Ok(())
            }
            Node::Continue => {
                self.leave_iteration("continue", Emitter::continue_loop);
                Ok(())
            }
        }
    }

    /// Lowers `break` or `continue` for the loop in the innermost frame. There is none after the `else` of an outermost
    /// loop.
    fn leave_iteration(&mut self, tag: &str, leave: impl FnOnce(&mut Emitter<'a>, LoopMark)) {
        match self.frames.last().and_then(|frame| frame.looped) {
            Some(looped) => leave(self.emitter, looped.mark),
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
        let belongs = |frame: &&Frame<'a>| !global || frame.looped.is_none();
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
        let names_of_loop = LoopNames { key, value: (one.value.text, slot + names - 1), mark };
        self.frame_around(Frame::of_loop(names_of_loop), one.body)?;
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

/// Limits of inlining includes: words of code, nesting of includes, total nesting.
const INLINE_WORDS: usize = 1 << 15;
const INLINE_INCLUDES: usize = 16;
const INLINE_DEPTH: usize = 150;

impl<'a> Lower<'_, 'a> {
    /// Returns the template `level` steps up from `id`.
    fn ancestor(&self, id: Id, level: usize) -> Option<Id> {
        match level.checked_sub(1) {
            None => Some(id),
            Some(at) => self.templates.list[id].parents.get(at).copied(),
        }
    }

    /// Lowers a block: the nearest definition in the active template and its ancestors, else this one.
    pub(super) fn block(&mut self, here: &'a Block<'a>) -> Result<()> {
        let levels = self.templates.list[self.active].parents.len();
        for level in 0..=levels {
            let Some(file) = self.ancestor(self.active, level) else { break };
            if let Some(found) = self.templates.list[file].block(here.name.text) {
                self.entered.push(Entered { name: found.name.text, file, level });
                return self.block_body(found, file);
            }
        }
        self.block_body(here, self.file)
    }

    fn block_body(&mut self, block: &'a Block<'a>, file: Id) -> Result<()> {
        if self.open_blocks.iter().any(|open| std::ptr::eq(*open, block)) {
            let message = format!("the block `{}` contains itself, by way of other blocks", block.name.text);
            self.fail(block.name.span, Diagnostic::new(Code::LimitRecursion, message));
            return Ok(());
        }
        let before = std::mem::replace(&mut self.file, file);
        self.open_blocks.push(block);
        let result = self.body(block.body);
        self.open_blocks.pop();
        self.file = before;
        result
    }

    /// Lowers `{{ super() }}`: the next definition above the last block entered. At the top of the chain the reference
    /// leaves that block, so a second `super()` finds none.
    pub(super) fn super_block(&mut self, span: Span) -> Result<()> {
        let Some(&Entered { name, level, .. }) = self.entered.last() else {
            let message = "`super()` can stand only once in a block, and not where no block is open";
            self.fail(span, Diagnostic::new(Code::BadInheritance, message));
            return Ok(());
        };
        let top = self.templates.list[0].parents.len();
        for level in level + 1..=top {
            let Some(file) = self.ancestor(0, level) else { break };
            let Some(found) = self.templates.list[file].block(name) else { continue };
            self.entered.push(Entered { name, file, level });
            self.at(span);
            let inline = self.emitter.begin_inline();
            self.block_body(found, file)?;
            self.emitter.end_inline(inline);
            self.entered.pop();
            if level >= top {
                self.entered.pop();
            }
            return Ok(());
        }
        let message = format!("`super()` in the block `{name}`: no parent has a block of this name");
        self.fail(span, Diagnostic::new(Code::BadInheritance, message));
        Ok(())
    }

    /// Lowers `{% include … %}`.
    pub(super) fn include(&mut self, names: &'a [Name<'a>], ignore_missing: bool, span: Span) -> Result<()> {
        let Some(file) = names.iter().find_map(|name| self.templates.id(name.text)) else {
            if !ignore_missing {
                let all: Vec<_> = names.iter().map(|name| name.text).collect();
                let error = unknown_template(self.unit, &all.join(", "), "this includes");
                self.fail(span, error);
            }
            return Ok(());
        };
        self.at(span);
        if let Some(parent) = self.templates.list[file].tree.extends {
            let name = self.templates.list[file].source.name();
            let message = format!("`{name}` extends `{}`; an included template cannot inherit", parent.text);
            self.fail(span, Diagnostic::new(Code::BadInheritance, message));
            return Ok(());
        }
        if self.can_inline(file) { self.include_inline(file) } else { self.include_by_name(file) }
    }

    fn can_inline(&self, file: Id) -> bool {
        self.emitter.len() < INLINE_WORDS
            && self.depth < INLINE_DEPTH
            && self.open_includes.len() < INLINE_INCLUDES
            && !self.open_includes.contains(&file)
    }

    fn include_inline(&mut self, file: Id) -> Result<()> {
        let (of_file, of_active) = (self.file, self.active);
        let inline = self.emitter.begin_inline();
        (self.file, self.active) = (file, file);
        self.open_includes.push(file);
        let result = self.frame_around(Frame::default(), self.templates.list[file].tree.body);
        self.open_includes.pop();
        (self.file, self.active) = (of_file, of_active);
        self.emitter.end_inline(inline);
        result
    }

    fn include_by_name(&mut self, file: Id) -> Result<()> {
        let key = IncludeKey { file, escape: self.escape, resolver: self.resolver() };
        let chunk = match self.includes.get(&key) {
            Some(chunk) => *chunk,
            None => {
                let chunk = self.emitter.declare_chunk(self.templates.list[file].source.name(), 0);
                self.includes.insert(key, chunk);
                self.queue.push((chunk, Pending::Include(key)));
                chunk
            }
        };
        let scope = self.scope_for_callee();
        self.emitter.op(Op::CallChunk, &[chunk, scope]);
        Ok(())
    }

    /// Emits the chunk of an included template.
    pub(super) fn include_chunk(&mut self, chunk: u32, key: IncludeKey) -> Result<()> {
        self.emitter.begin_chunk(chunk);
        self.enter_chunk(key.file, key.escape, Outside::Callers, key.resolver);
        self.frame_around(Frame::default(), self.templates.list[key.file].tree.body)?;
        self.emitter.end_chunk();
        Ok(())
    }

    /// Sets the state at the start of a macro's or an include's chunk.
    pub(super) fn enter_chunk(&mut self, file: Id, escape: bool, outside: Outside, resolver: Option<Id>) {
        (self.file, self.active, self.escape, self.outside) = (file, file, escape, outside);
        self.open_includes = vec![file];
        let resolver = resolver.filter(|file| Some(*file) != self.templates.root());
        self.entered.extend(resolver.map(|file| Entered { name: "", file, level: 0 }));
    }
}
