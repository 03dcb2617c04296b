//! Calls of functions.

use super::Lowering;
use crate::argument_gate::takes_errors;
use crate::syntax::tree::Broken;
use crate::syntax::{Call, ExprId};
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
    /// Pushes the result of a call.
    pub(super) fn call(&mut self, span: Span, call: &Call) -> Result<()> {
        let name: &'t str = self.tree.str(call.name);
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
                let span = error.as_ref().and_then(|error| error.primary()).map_or(self.span(id), |label| label.span);
                let message = error.map_or_else(|| "Invalid type specification".to_owned(), |error| error.message);
                self.fail(span, Code::BadArgument, message, None, None);
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
        if names().next().is_none() {
            let help = Some("there are no functions here".to_owned());
            return self.fail(span, Code::UnknownFunction, "Function calls not allowed".to_owned(), None, help);
        }
        let help = nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
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
