//! Calls of functions.

use super::Lower;
use crate::bytecode::{Failure, ImportKind, Op};
use crate::compiler::Constant;
use crate::diagnostics::{Code, Diagnostic, Result, nearest};
use crate::dialect::hcl::syntax::tree::{Broken, Call, ExprId};
use crate::dialect::hcl::typeexpr::{self, Mode};
use crate::dialect::hcl::values::json::encode_type;
use crate::function::{Admits, Builtin, Params, Place};
use crate::text::Span;
use crate::vm::Space;

impl<'t> Lower<'t> {
    /// Pushes the answer of a call.
    pub(super) fn call(&mut self, span: Span, call: &Call) -> Result<()> {
        let name: &'t str = self.tree.str(call.name);
        let Some(function) = self.registry.get(ImportKind::Function, name) else {
            self.unknown_function(span, call);
            return Ok(());
        };
        let function = function.clone();
        let args = self.tree.ids(call.args);
        if !self.fits(&function, call, args) {
            return Ok(());
        }
        let mut places = Vec::with_capacity(args.len());
        for (at, &arg) in args.iter().enumerate() {
            let admits = place(&function, at).map_or(Admits::NONE, |place| place.admits);
            if admits.include(Admits::ERRORS) {
                self.emitter.op(Op::Mark, &[]);
                places.push(Params::BY_PLACE);
            }
            let lints = self.lints.len();
            if admits.include(Admits::TYPE) {
                self.written_type(arg)?
            } else {
                self.value(arg)?
            }
            if admits.include(Admits::ERRORS) {
                // What fails there is what the call is there for.
                self.lints.truncate(lints);
            }
            places.push(Params::BY_PLACE);
        }
        if let Some(last) = places.last_mut().filter(|_| call.expand) {
            *last = Params::SPREAD;
        }
        self.at(span);
        self.emitter.call(ImportKind::Function, name, function.signature(), &places, self.keeps && function.pure);
        let starts = args.iter().map(|&arg| self.tree.start_span(arg));
        let around = [call.name_span.to(call.open), call.close];
        let parts = args.iter().map(|&arg| self.span(arg)).chain(around).chain(starts);
        self.emitter.details(parts.collect::<Vec<_>>());
        Ok(())
    }

    /// Pushes the type that an argument says.
    fn written_type(&mut self, id: ExprId) -> Result<()> {
        let space = Space::new();
        let cx = space.context(self.limits);
        let read = typeexpr::read(&cx, self.tree, id, Mode::Constraint);
        match (read.diagnostics.into_iter().next(), encode_type(&read.ty)) {
            (None, Ok(json)) => {
                self.emitter.constant(Constant::Str(json.into()));
                self.core("type", 1, &[]);
            }
            (wrong, _) => {
                let span = wrong.as_ref().and_then(|wrong| wrong.primary()).map_or(self.span(id), |label| label.span);
                let message = wrong.map_or_else(|| "Invalid type specification".to_owned(), |wrong| wrong.message);
                let failure = Failure { code: Code::BadArgument, message, available: None, help: None };
                self.fault(span, failure);
            }
        }
        Ok(())
    }

    /// Reports a call with too few or too many arguments, where they can be counted.
    fn fits(&mut self, function: &Builtin, call: &Call, args: &[ExprId]) -> bool {
        let Params::Positional(positional) = &function.params else { return true };
        let (least, given) = (positional.params.len(), args.len());
        let (summary, span) = if given < least && !call.expand {
            ("Not enough function arguments", call.close)
        } else if let Some(&extra) = args.get(least).filter(|_| positional.rest.is_none() && !call.expand) {
            ("Too many function arguments", self.tree.start_span(extra))
        } else {
            return true;
        };
        let names: Vec<_> = positional.params.iter().map(|place| &*place.name).collect();
        let rest = positional.rest.as_ref().map(|place| format!(", {}...", place.name)).unwrap_or_default();
        let help = format!("{}({}{rest}) takes {least}, not {given}", function.name, names.join(", "));
        self.fault(
            span,
            Failure { code: Code::BadArgument, message: summary.into(), available: None, help: Some(help) },
        );
        false
    }

    fn unknown_function(&mut self, span: Span, call: &Call) {
        if self.registry.names(ImportKind::Function).next().is_none() {
            let message = "Function calls not allowed".to_owned();
            let help = Some("there are no functions here".to_owned());
            return self.fault(span, Failure { code: Code::UnknownFunction, message, available: None, help });
        }
        let name = self.tree.str(call.name);
        let names: Vec<_> = self.registry.names(ImportKind::Function).collect();
        let help = nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let failure = Failure {
            code: Code::UnknownFunction,
            message: format!("There is no function named `{name}`"),
            available: Some(names.into_iter().map(str::to_owned).collect()),
            help,
        };
        self.fault(call.name_span, failure);
    }

    /// Reports again what is wrong with an expression that could not be read.
    pub(super) fn broken(&mut self, broken: &Broken) {
        let (code, message) = (Code::UnexpectedToken, broken.summary.to_owned());
        self.fault(broken.place, Failure { code, message, available: None, help: None });
    }

    /// Reports that a call can only fail, now as a finding and where the code gets there as an error.
    fn fault(&mut self, span: Span, failure: Failure) {
        self.at(span);
        self.emitter.fault(&failure);
        let Failure { code, message, available, help } = failure;
        let mut lint = Diagnostic::new(code, message).at(&self.source, span, "");
        (lint.available, lint.help) = (available, help);
        self.lints.push(lint);
    }
}

/// The parameter that the argument at `at` is for.
fn place(function: &Builtin, at: usize) -> Option<&Place> {
    let Params::Positional(positional) = &function.params else { return None };
    positional.params.get(at).or(positional.rest.as_ref())
}
