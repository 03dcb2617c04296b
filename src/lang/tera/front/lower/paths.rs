//! Reads of variables.

use super::calls::parameter;
use super::program::Lower;
use crate::syntax::tree::{Path, Segment};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, ImportKind, Op};
use dropforge_machine::compiler::{Constant, Emitter, PathSpec};

/// The variable that holds all variables.
pub(super) const DUMP: &str = "__tera_context";

impl<'a> Lower<'_, 'a> {
    /// Pushes all visible variables as JSON text.
    pub(super) fn dump(&mut self) {
        let scope = self.scope_for_dump();
        self.emitter.op(Op::Scope, &[scope]);
        let kind = ImportKind::Filter;
        let found = self.unit.registry.get(kind, "json_encode");
        match found.and_then(|found| Some((found, parameter(found, "pretty")?))) {
            Some((found, pretty)) => {
                self.emitter.constant(Constant::Bool(true));
                self.emitter.call_builtin(found, &[0, pretty]);
            }
            None => {
                self.emitter.op(Op::Pop, &[]);
                self.fail_quietly(&self.unit.registry.unknown(kind, "json_encode"));
                self.emitter.undefined();
            }
        }
    }

    /// Pushes the value of a variable. A missing one is an error.
    pub(super) fn load_path(&mut self, path: &'a Path<'a>) -> Result<()> {
        if path.text == DUMP {
            self.dump();
            return Ok(());
        }
        self.prepare(path)?;
        self.first_there(path, |emitter, spec, _| {
            emitter.load(spec);
        });
        Ok(())
    }

    /// Pushes the value of a variable, or undefined if it is missing for any reason.
    pub(super) fn peek_path(&mut self, path: &'a Path<'a>) -> Result<()> {
        if path.text == DUMP {
            self.dump();
            return Ok(());
        }
        // A computed step may fail.
        let fails = path.segments.iter().any(|step| !matches!(step, Segment::Key(key) if key.text.is_ascii()));
        let protect = fails.then(|| self.emitter.begin_protect());
        self.prepare(path)?;
        self.first_there(path, |emitter, spec, _| emitter.peek(spec));
        if let Some(protect) = protect {
            self.emitter.end_protect(protect);
        }
        Ok(())
    }

    /// Writes a variable. Returns `false` if the path does not lead to a variable.
    pub(super) fn write_path(&mut self, path: &'a Path<'a>, mode: EscapeMode) -> Result<bool> {
        if path.text == DUMP {
            return Ok(false);
        }
        self.at(path.span);
        self.prepare(path)?;
        let alone = self.first_there(path, |emitter, spec, alone| {
            if alone {
                emitter.write_path(spec, mode)
            } else {
                emitter.load(spec)
            };
        });
        if !alone {
            self.emitter.write(mode);
        }
        Ok(true)
    }

    /// Pushes the computed indexes of a path.
    fn prepare(&mut self, path: &'a Path<'a>) -> Result<()> {
        if Self::too_long(path) {
            return Err(Limit::CodeWords.error(self.unit.limits.code_words as u64).at(
                self.source(),
                path.span,
                "this path",
            ));
        }
        for step in path.segments {
            match step {
                // The reference cannot read such a key: it confuses characters with bytes.
                Segment::Key(key) if !key.text.is_ascii() => {
                    let message = format!("`{}`: a key in brackets is ASCII in this language", path.text);
                    let help = format!("use `get(key='{}')`", key.text);
                    self.at(key.span);
                    self.fail_quietly(&Diagnostic::new(Code::BadIndex, message).with_help(help));
                }
                Segment::Key(_) => {}
                Segment::Lookup(inner) => self.deeper(inner.span, |lower| {
                    lower.at(inner.span);
                    lower.load_path(inner)
                })?,
                Segment::Negative(index) => {
                    let message = format!("`{}` is not defined: no list has an item `{}`", path.text, index.text);
                    self.at(index.span);
                    self.fail_quietly(&Diagnostic::new(Code::UndefinedVariable, message));
                }
            }
        }
        self.at(path.span);
        Ok(())
    }

    /// Pushes the value of the first candidate of `path` that has one. `read` reads the last candidate, and is told if
    /// it is the only one. That is also returned.
    fn first_there(&mut self, path: &'a Path<'a>, read: impl FnOnce(&mut Emitter<'a>, &PathSpec<'_>, bool)) -> bool {
        let steps = Self::steps(path);
        if path.root.text != "loop" {
            let roots = self.roots(path);
            read(self.emitter, &PathSpec { name: path.text, roots: &roots, segments: &steps }, true);
            return true;
        }
        let candidates = self.candidates(path);
        let Some((last, others)) = candidates.split_last() else { return false };
        let emitter = &mut self.emitter;
        if others.is_empty() {
            read(emitter, &last.spec(path.text, &steps), true);
            return true;
        }
        let (end, height) = (emitter.new_label(), emitter.height());
        for candidate in others {
            let (next, spec) = (emitter.new_label(), candidate.spec(path.text, &steps));
            emitter.peek(&spec);
            emitter.undefined();
            emitter.binary(BinaryOp::Eq);
            emitter.jump(Op::JumpIf, next);
            emitter.peek(&spec);
            emitter.jump(Op::Jump, end);
            emitter.bind(next);
            emitter.set_height(height);
        }
        read(emitter, &last.spec(path.text, &steps), false);
        emitter.bind(end);
        false
    }
}
