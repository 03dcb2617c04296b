//! Expressions as values, and reads of variables.
//!
//! Filters and `not` apply. If escaping is on, text from a literal, a variable, a function or a filter is escaped,
//! unless the last filter is `safe`.

use super::Lower;
use super::calls::parameter;
use crate::builtins::marks;
use crate::syntax::tree::{Expr, ExprKind, MathOp, Path, Segment, Step};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, ImportKind, Op, Role};
use dropforge_machine::compiler::{Constant, Emitter, PathSpec};

/// Returns `true` if a filter is only a marker, not a function.
fn is_mark(filter: &str) -> bool {
    marks().iter().any(|mark| mark.name == filter)
}

impl<'a> Lower<'_, 'a> {
    /// Returns `true` if the text of an expression is escaped here.
    pub(super) fn escapes(&self, expr: &Expr<'_>) -> bool {
        if !self.escape || expr.negated || expr.filters.last().is_some_and(|last| last.name.text == "safe") {
            return false;
        }
        if expr.filters.iter().any(|filter| !is_mark(filter.name.text)) {
            return true;
        }
        match expr.kind {
            ExprKind::Str(_) | ExprKind::Call(_) => true,
            ExprKind::Path(path) => path.text != DUMP,
            ExprKind::Concat(parts) => parts.iter().any(|part| matches!(part.kind, ExprKind::Call(_))),
            _ => false,
        }
    }

    /// Pushes an expression's value.
    pub(super) fn value(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.unfinished(expr)?;
        if self.escapes(expr) {
            self.emitter.op(Op::As, &[Role::Html as u32]);
        }
        Ok(())
    }

    /// Pushes an expression's value before it is escaped.
    pub(super) fn unfinished(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.deeper(expr.span, |lower| lower.unfinished_here(expr))
    }

    fn unfinished_here(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.at(expr.span);
        match expr.kind {
            ExprKind::Path(path) => return self.path_value(expr, path),
            ExprKind::And(_) | ExprKind::Or(_) => return self.decided(expr),
            // The reference negates twice: as a condition and as a value.
            ExprKind::Compare(op, sides) => {
                self.compare(op, sides, expr.negated)?;
                if expr.negated {
                    self.emitter.op(Op::Not, &[]);
                }
                return Ok(());
            }
            ExprKind::Str(text) => self.emitter.constant(Constant::Str(text.into())),
            ExprKind::Int(n) => self.emitter.constant(Constant::Int(n)),
            ExprKind::Float(n) => self.emitter.constant(Constant::Float(n)),
            ExprKind::Bool(b) => self.emitter.constant(Constant::Bool(b)),
            ExprKind::Concat(parts) => self.concat(parts, expr.span)?,
            ExprKind::Math(steps) => {
                self.math(steps, expr.span)?;
                let sum =
                    |step: &Step<'_>| matches!(step, Step::Apply(MathOp::Add | MathOp::Sub, _) | Step::Operand(_));
                if !steps.iter().all(sum) {
                    self.emitter.op(Op::As, &[Role::Value as u32]);
                }
            }
            ExprKind::In { sides, negated } => self.contains(sides, negated, expr.span)?,
            ExprKind::Test { path, name, args, negated } => self.test(path, name, args, negated, expr.span)?,
            ExprKind::Call(call) => self.call_function(call)?,
            ExprKind::MacroCall(namespace, call) => self.capture_macro(namespace, call)?,
            ExprKind::List(items) => self.list(items, expr.span)?,
        }
        self.filters_and_not(expr)
    }

    pub(super) fn filters_and_not(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        for filter in expr.filters {
            match marks().iter().find(|mark| mark.name == filter.name.text) {
                Some(mark) => self.lint_ignored(mark, filter),
                None => self.apply_filter(filter)?,
            }
        }
        if expr.negated {
            self.emitter.op(Op::Not, &[]);
        }
        Ok(())
    }

    fn list(&mut self, items: &'a [Expr<'a>], span: Span) -> Result<()> {
        for item in items {
            self.value(item)?;
            self.emitter.check_size()?;
        }
        self.at(span);
        self.emitter.op(Op::List, &[u32::try_from(items.len()).unwrap_or(u32::MAX)]);
        Ok(())
    }

    fn concat(&mut self, parts: &'a [Expr<'a>], span: Span) -> Result<()> {
        for part in parts {
            self.at(part.span);
            match part.kind {
                ExprKind::Path(path) => self.load_path(path)?,
                ExprKind::Call(call) => self.call_function(call)?,
                ExprKind::Str(text) => self.emitter.constant(Constant::Str(text.into())),
                ExprKind::Int(n) => self.emitter.constant(Constant::Int(n)),
                ExprKind::Float(n) => self.emitter.constant(Constant::Str(n.to_string().into())),
                _ => self.fail_value(part.span, Code::TypeMismatch, "this cannot be joined with `~`"),
            }
            self.emitter.check_size()?;
        }
        self.at(span);
        self.emitter.join(u32::try_from(parts.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    // Arithmetic

    /// Pushes the result of a calculation, or NaN if it is not finite.
    pub(super) fn math(&mut self, steps: &'a [Step<'a>], span: Span) -> Result<()> {
        for step in steps {
            match step {
                Step::Operand(operand) => self.operand(operand)?,
                Step::Apply(op, _) => {
                    self.at(span);
                    self.emitter.binary(operator(*op));
                }
            }
            self.emitter.check_size()?;
        }
        Ok(())
    }

    /// Pushes an operand of a calculation or of an ordering such as `<`.
    pub(super) fn operand(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        if expr.filters.is_empty() { self.number(expr) } else { self.value(expr) }
    }

    /// Pushes an expression as a number, without its filters and `not`.
    pub(super) fn number(&mut self, expr: &'a Expr<'a>) -> Result<()> {
        self.at(expr.span);
        let what = match expr.kind {
            ExprKind::Path(path) => return self.load_path(path),
            ExprKind::Math(steps) => return self.math(steps, expr.span),
            ExprKind::Call(call) => return self.call_function(call),
            ExprKind::Int(n) => return self.constant(Constant::Int(n)),
            ExprKind::Float(n) => return self.constant(Constant::Float(n)),
            ExprKind::Str(text) => format!("the text `{text}`"),
            ExprKind::Bool(b) => format!("the boolean `{b}`"),
            ExprKind::Concat(_) => format!("the concatenation `{}`", self.source().slice(expr.span)),
            ExprKind::Test { name, .. } => format!("the test `{}`", name.text),
            ExprKind::MacroCall(_, call) => format!("the text of the macro `{}`", call.name.text),
            _ => "a condition or list".to_owned(),
        };
        self.fail_value(expr.span, Code::TypeMismatch, format!("{what} cannot be calculated with: it is not a number"));
        Ok(())
    }

    fn constant(&mut self, constant: Constant<'a>) -> Result<()> {
        self.emitter.constant(constant);
        Ok(())
    }

    // Variables

    fn path_value(&mut self, expr: &'a Expr<'a>, path: &'a Path<'a>) -> Result<()> {
        if path.text == DUMP {
            self.dump();
            return self.filters_and_not(expr);
        }
        let default = expr.filters.first().filter(|first| first.name.text == "default");
        if let Some(filter) = default {
            let there = self.emitter.new_label();
            self.peek_path(path)?;
            self.emitter.jump(Op::JumpPresent, there);
            match filter.arg("value") {
                Some(value) => self.value(value)?,
                None => {
                    let message = "filter `default` needs the argument `value`";
                    self.fail_value(filter.span, Code::MissingArgument, message);
                }
            }
            self.emitter.bind(there);
            return self.filters_and_not(expr);
        }
        if expr.filters.first().is_some_and(|first| self.takes_missing(first)) {
            self.peek_path(path)?;
            return self.filters_and_not(expr);
        }
        if !expr.negated {
            self.load_path(path)?;
            return self.filters_and_not(expr);
        }
        if expr.filters.iter().all(|filter| is_mark(filter.name.text)) {
            self.peek_path(path)?;
            self.emitter.op(Op::Not, &[]);
            return Ok(());
        }
        self.negated_and_filtered(expr, path)
    }

    /// Pushes `not path | filter`. A missing value is not filtered, and its negation is true.
    fn negated_and_filtered(&mut self, expr: &'a Expr<'a>, path: &'a Path<'a>) -> Result<()> {
        let height = self.emitter.height();
        let (missing, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.peek_path(path)?;
        self.emitter.undefined();
        self.emitter.binary(BinaryOp::Eq);
        self.emitter.jump(Op::JumpIf, missing);
        self.load_path(path)?;
        self.filters_and_not(expr)?;
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(missing);
        self.emitter.set_height(height);
        self.emitter.constant(Constant::Bool(true));
        self.emitter.bind(end);
        Ok(())
    }
}

fn operator(op: MathOp) -> BinaryOp {
    match op {
        MathOp::Add => BinaryOp::Add,
        MathOp::Sub => BinaryOp::Sub,
        MathOp::Mul => BinaryOp::Mul,
        MathOp::Div => BinaryOp::Div,
        MathOp::Rem => BinaryOp::Rem,
    }
}

/// The variable that holds all variables.
const DUMP: &str = "__tera_context";

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
                    let list = path.text.split('[').next().unwrap_or(path.text);
                    let help = if index.text == "-1" { "last" } else { "reverse | nth(n=…)" };
                    let error = Diagnostic::new(Code::UndefinedVariable, message);
                    self.fail_quietly(&error.with_help(format!("write `{list} | {help}`")));
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
