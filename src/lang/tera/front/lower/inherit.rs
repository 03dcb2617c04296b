//! Blocks, `super()` and includes.

use super::frame::{Frame, Outside};
use super::program::{Entered, IncludeKey, Lower, Pending};
use crate::load::{Id, unknown_template};
use crate::syntax::tree::{Block, Name};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::Op;

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
