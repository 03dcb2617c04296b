//! `for` expressions, splats and calls of functions.

use std::ops::Range;

use super::Lowering;
use crate::argument_gate::takes_errors;
use crate::syntax::tree::Broken;
use crate::syntax::{Call, ExprId, For, ForId, function_name};
use crate::typeexpr;
use crate::typeexpr::Mode;
use crate::values::json::encode_type;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, nearest};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Failure, ImportKind, Op};
use dropforge_machine::compiler::Constant;
use dropforge_machine::function::{Admits, Builtin, Params};
use dropforge_machine::vm::Space;

impl<'t> Lowering<'t> {
    /// Pushes the tuple or object of a `for` expression.
    ///
    /// Unknown conditions, and the marks of conditions, are noted. The intrinsic at the end of the loop reads the notes
    /// since the mark.
    pub(super) fn for_value(&mut self, span: Span, id: ForId) -> Result<()> {
        let Some(of) = self.tree.for_expr(id) else { return Ok(()) };
        let mark = self.emitter.mark();
        self.value(of.collection)?;
        let collection = self.emitter.store();
        self.at(span);
        self.emitter.begin_gather();
        self.iterations(span, of, collection, |lowering| match of.key {
            Some(key) => lowering.entry(key, of.value),
            None => {
                lowering.value(of.value)?;
                lowering.emitter.op(Op::Keep, &[]);
                Ok(())
            }
        })?;
        self.at(span);
        self.emitter.end_gather();
        self.emitter.load_slot(mark);
        self.emitter.load_slot(collection);
        let end = match (of.key, of.group) {
            (None, _) => "for tuple",
            (Some(_), false) => "for object",
            (Some(_), true) => "for groups",
        };
        let key = of.key.map_or(span, |key| self.span(key));
        self.intrinsic(end, 3, &[self.span(of.collection), key]);
        self.emitter.free(mark);
        self.emitter.free(collection);
        Ok(())
    }

    /// Emits a loop over the collection in a slot.
    pub(super) fn iterations(
        &mut self,
        span: Span,
        of: &'t For,
        collection: u32,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let end = self.emitter.new_label();
        let names = 1 + u32::from(of.key_var.is_some());
        let slots = self.emitter.new_slots(names);
        let outer = self.locals.len();
        self.locals.extend(of.key_var.map(|name| (self.tree.str(name), slots)));
        self.locals.push((self.tree.str(of.value_var), slots + names - 1));
        if let Some(condition) = of.condition {
            self.emitter.load_slot(collection);
            self.at(span);
            self.intrinsic("for ready", 1, &[self.span(of.collection)]);
            self.emitter.jump(Op::JumpUnless, end);
            self.rehearsal(span, condition, collection, slots..slots + names)?;
            self.emitter.jump(Op::JumpUnless, end);
        }
        self.emitter.load_slot(collection);
        self.at(span);
        let start = self.emitter.begin_loop(names, slots, end);
        self.emitter.details([self.span(of.collection)]);
        if let Some(condition) = of.condition {
            self.value(condition)?;
            self.at(self.span(condition));
            self.emitter.continue_unless(start);
        }
        body(self)?;
        self.emitter.end_loop(start);
        self.emitter.bind(end);
        self.locals.truncate(outer);
        Ok(())
    }

    /// Evaluates a condition once with unknown loop variables and pushes whether the loop over the collection in a slot
    /// begins. Errors that do not depend on the variables are reported once, and the loop has no iterations.
    fn rehearsal(&mut self, span: Span, condition: ExprId, collection: u32, slots: Range<u32>) -> Result<()> {
        for slot in slots {
            self.intrinsic("dynamic", 0, &[]);
            self.emitter.op(Op::StoreSlot, &[slot]);
        }
        let mark = self.emitter.mark();
        self.value(condition)?;
        self.emitter.load_slot(mark);
        self.emitter.load_slot(collection);
        self.emitter.free(mark);
        self.at(span);
        self.intrinsic("for rehearsal", 3, &[self.span(condition)]);
        Ok(())
    }

    /// Keeps the key and the value of an entry, unless the entry has no key.
    fn entry(&mut self, key: ExprId, value: ExprId) -> Result<()> {
        let (keep, next) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(key)?;
        self.intrinsic("for key", 1, &[self.span(key)]);
        self.emitter.jump(Op::JumpPresent, keep);
        let height = self.emitter.height();
        self.emitter.jump(Op::Jump, next);
        self.emitter.bind(keep);
        self.emitter.set_height(height + 1);
        self.emitter.op(Op::Keep, &[]);
        self.value(value)?;
        self.emitter.op(Op::Keep, &[]);
        self.emitter.bind(next);
        Ok(())
    }

    /// Replaces the source on the stack by the result of a splat. `mark` is the slot of the number of notes before the
    /// source was evaluated.
    ///
    /// A second pass goes over unknown values of the types of the items, where the items do not tell the type of the
    /// result.
    pub(super) fn splat(&mut self, [source, marker, span]: [Span; 3], each: ExprId, mark: u32) -> Result<()> {
        let slot = self.emitter.store();
        self.emitter.load_slot(slot);
        self.emitter.load_slot(mark);
        self.at(span);
        self.intrinsic("splat source", 2, &[source, marker]);
        let passes = self.emitter.store();
        let (items, second) = (self.emitter.mark(), self.emitter.mark());
        let [end, ready, pass_end] = [(); 3].map(|()| self.emitter.new_label());
        let (pass, item) = (self.emitter.new_slot(), self.emitter.new_slot());
        self.emitter.begin_gather();
        self.emitter.load_slot(passes);
        let outer = self.emitter.begin_loop(1, pass, end);
        self.emitter.op(Op::MarkSlot, &[second]);
        self.emitter.load_slot_or_nothing(pass);
        self.emitter.jump(Op::JumpPresent, ready);
        for slot in [slot, mark, items] {
            self.emitter.load_slot(slot);
        }
        self.intrinsic("splat types", 3, &[]);
        self.emitter.bind(ready);
        let inner = self.emitter.begin_loop(1, item, pass_end);
        self.items.push(item);
        self.value(each)?;
        self.items.pop();
        self.emitter.op(Op::Keep, &[]);
        self.emitter.end_loop(inner);
        self.emitter.bind(pass_end);
        self.emitter.end_loop(outer);
        self.emitter.bind(end);
        self.at(span);
        self.emitter.end_gather();
        for slot in [passes, slot, mark, items, second] {
            self.emitter.load_slot(slot);
        }
        self.intrinsic("splat", 6, &[self.span(each)]);
        [slot, passes, items, second].into_iter().for_each(|slot| self.emitter.free(slot));
        Ok(())
    }
}

impl<'t> Lowering<'t> {
    /// Pushes the result of a call.
    pub(super) fn call(&mut self, span: Span, call: &Call) -> Result<()> {
        let name: &'t str = function_name(self.tree, call);
        let Some(function) = self.registry.get(ImportKind::Function, name) else {
            self.unknown_function(span, call);
            return Ok(());
        };
        let args = self.tree.ids(call.args);
        if !self.check_count(function, call, args) {
            return Ok(());
        }
        let handles_errors = matches!(&function.params, Params::Positional(params) if takes_errors(params));
        let mut params = Vec::with_capacity(args.len() + 2);
        for (at, &arg) in args.iter().enumerate() {
            let spread = call.expand && at + 1 == args.len();
            // Numbers of notes, as the argument gate expects them.
            let counts = match (handles_errors, call.expand && args.len() > 1) {
                (true, _) => 1,
                (false, true) => usize::from(at == 0) + usize::from(spread),
                (false, false) => 0,
            };
            for _ in 0..counts {
                self.emitter.op(Op::Mark, &[]);
                params.push(Params::BY_PLACE);
            }
            let (admits, lints) = (admitted(function, at), self.lints.len());
            // A spread argument is a collection, whatever its elements are for.
            if admits.include(Admits::TYPE) && !spread {
                self.type_argument(arg)?;
            } else if admits.include(Admits::ERRORS) {
                // The function handles the errors of this argument.
                self.value(arg)?;
                self.lints.truncate(lints);
            } else {
                self.operand(arg)?;
            }
            params.push(Params::BY_PLACE);
        }
        if let Some(last) = params.last_mut().filter(|_| call.expand) {
            *last = Params::SPREAD;
        }
        self.at(span);
        let pure = self.memoises && function.pure;
        self.emitter.call(ImportKind::Function, name, function.signature(), &params, pure);
        let around = [call.name_span.to(call.open), call.close];
        let starts = args.iter().map(|&arg| self.tree.start_span(arg));
        self.emitter.details(args.iter().map(|&arg| self.tree.span(arg)).chain(around).chain(starts));
        Ok(())
    }

    /// Pushes the type that an argument names.
    fn type_argument(&mut self, id: ExprId) -> Result<()> {
        let space = Space::new();
        let cx = space.context(self.limits);
        let read = typeexpr::read(&cx, self.tree, id, Mode::Constraint);
        match (read.diagnostics.into_iter().next(), encode_type(&read.ty)) {
            (None, Ok(json)) => {
                self.emitter.constant(Constant::Str(json.into()));
                self.intrinsic("type", 1, &[]);
            }
            (error, _) => {
                let label = error.as_ref().and_then(|error| error.primary());
                let (span, why) = label.map_or((self.span(id), None), |label| (label.span, Some(label.text.clone())));
                let message = "Invalid type specification".to_owned();
                self.fail(span, Code::BadArgument, message, None, why.filter(|why| !why.is_empty()));
            }
        }
        Ok(())
    }

    /// Reports a call with too few or too many arguments. A call that expands its last argument is not counted.
    fn check_count(&mut self, function: &Builtin, call: &Call, args: &[ExprId]) -> bool {
        let Params::Positional(positional) = &function.params else { return true };
        let (least, given) = (positional.params.len(), args.len());
        let (summary, span) = match args.get(least) {
            _ if call.expand => return true,
            None if given < least => ("Not enough function arguments", call.close),
            Some(&extra) if positional.rest.is_none() => ("Too many function arguments", self.tree.start_span(extra)),
            _ => return true,
        };
        let names: Vec<_> = positional.params.iter().map(|param| &*param.name).collect();
        let rest = positional.rest.as_ref().map(|param| format!(", {}...", param.name)).unwrap_or_default();
        let help = format!("{}({}{rest}) takes {least}, not {given}", function.name, names.join(", "));
        self.fail(span, Code::BadArgument, summary.to_owned(), None, Some(help));
        false
    }

    fn unknown_function(&mut self, span: Span, call: &Call) {
        let (name, names) = (self.tree.str(call.name), || self.registry.names(ImportKind::Function));
        let function = function_name(self.tree, call);
        if names().next().is_none() {
            let help = Some("there are no functions here".to_owned());
            return self.fail(span, Code::UnknownFunction, "Function calls not allowed".to_owned(), None, help);
        }
        let help = nearest(function, names()).map(|near| format!("did you mean `{near}`?"));
        let (summary, available) = (format!("Call to unknown function `{name}`"), names().map(str::to_owned).collect());
        self.fail(call.name_span, Code::UnknownFunction, summary, Some(available), help);
    }

    /// Reports the syntax error of an expression again.
    pub(super) fn broken(&mut self, broken: &Broken) {
        self.fail(broken.place, Code::UnexpectedToken, broken.summary.to_owned(), None, None);
    }

    /// Reports code that can only fail: now as a lint, and as an error if evaluation reaches it.
    fn fail(&mut self, span: Span, code: Code, message: String, available: Option<Vec<String>>, help: Option<String>) {
        self.at(span);
        let failure = Failure { code, message, available, help };
        self.emitter.fault(&failure);
        let Failure { code, message, available, help } = failure;
        let mut lint = Diagnostic::new(code, message).at(self.tree.source(), span, "");
        (lint.available, lint.help) = (available, help);
        self.lints.push(lint);
    }
}

/// Returns the admitted values of the parameter of the argument at `at`.
fn admitted(function: &Builtin, at: usize) -> Admits {
    let Params::Positional(positional) = &function.params else { return Admits::NONE };
    positional.params.get(at).or(positional.rest.as_ref()).map_or(Admits::NONE, |param| param.admits)
}
