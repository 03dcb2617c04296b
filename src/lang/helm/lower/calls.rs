//! Calls of functions, and literals by the types of parameters.

use super::pipelines::Piped;
use super::program::Lower;
use crate::builtins::{MAKER, STRICT_MAKER};
use crate::error::quoted;
use crate::semantics::wrong_count;
use crate::syntax::tree::{Number, Operand, Term};
use crate::values::target_name;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, Delivery, ImportKind, Op, Role};
use dropforge_machine::compiler::{Constant, MissingKey};
use dropforge_machine::function::{Builtin, Function, Params, Target, Type};

impl<'a> Lower<'_, 'a> {
    /// Returns `true` if a function is the language's own: nothing has replaced it.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.unit.registry.get(ImportKind::Function, name).is_some_and(Function::is_row)
    }

    /// Pushes the result of a function. `place` is that of its name.
    pub(super) fn function(
        &mut self,
        name: &'a str,
        place: Span,
        arguments: &'a [Operand<'a>],
        piped: Option<Piped<'a>>,
        span: Span,
    ) -> Result<()> {
        let registry = self.unit.registry;
        let Some(function) = registry.get(ImportKind::Function, name) else {
            let message = format!("{} is not a defined function", quoted(name));
            self.fail_value(place, Code::UnknownFunction, message);
            return Ok(());
        };
        let count = arguments.len() + usize::from(piped.is_some());
        self.lint_host(function, count, arguments, place);
        if let Some(message) = wrong_count(function, count) {
            self.fail_value(place, Code::BadArgument, message);
            return Ok(());
        }
        let own = function.is_row();
        match name {
            "and" if own => return self.and_or(arguments, piped, false),
            "or" if own => return self.and_or(arguments, piped, true),
            "include" if own => return self.include(function, arguments, piped, span),
            "call" if own => {
                let text = arguments.first().map_or("", |first| self.text_at(first.span)).to_owned();
                self.emitter.constant(Constant::Str(text.into()));
                self.arguments(function, arguments, piped)?;
                self.at(span);
                self.intrinsic("call", count + 1);
                return Ok(());
            }
            "tpl" if own => return self.tpl(function, arguments, piped, span),
            _ => {}
        }
        self.arguments(function, arguments, piped)?;
        self.at(span);
        match operator(name).filter(|_| own && count == 2) {
            Some(operator) => self.emitter.binary(operator),
            // Programs are linked with all functions, and one of Helm has this name.
            None if own && name == "slice" && is_of_go(function) => self.intrinsic("slice", count),
            None if own && name == "not" => self.emitter.op(Op::Not, &[]),
            None => {
                let settled = composing(name).filter(|_| own);
                let settled = settled.and_then(|name| registry.get(ImportKind::Intrinsic, name));
                self.call(settled.unwrap_or(function), count);
                // A piped value is judged where the last argument is.
                let last = arguments.last().map_or(place, |last| last.span);
                let piped = piped.map(|_| last);
                let base = self.base;
                let places = arguments.iter().map(|argument| argument.span).chain(piped);
                self.emitter.details(places.map(|place| place.moved(base)));
            }
        }
        Ok(())
    }

    /// Warns of arguments that do not fit the parameters of a function of the embedding program: their number, and literals
    /// of another type.
    fn lint_host(&mut self, function: &Builtin, count: usize, arguments: &'a [Operand<'a>], place: Span) {
        let Some(params) = function.host_params() else { return };
        let mut found: Vec<_> = wrong_count(function, count).into_iter().map(|message| (message, place)).collect();
        for (at, argument) in arguments.iter().enumerate() {
            let Some(ty) = params.type_of(at) else { continue };
            let fits = match argument.term {
                Term::Str(_) => matches!(ty, Type::Any | Type::Str),
                Term::Bool(_) => matches!(ty, Type::Any | Type::Bool),
                Term::Number(_) => matches!(ty, Type::Any | Type::Int | Type::Size | Type::Number),
                _ => true,
            };
            if !fits {
                found
                    .push((format!("argument {} of {} should be {}", at + 1, function.name, ty.name()), argument.span));
            }
        }
        for (message, span) in found {
            let lint = Diagnostic::warning(Code::BadArgument, message);
            self.lints.push(lint.at(self.source(), span.moved(self.base), ""));
        }
    }

    /// Pushes the arguments of a function, and after them the piped value.
    fn arguments(&mut self, function: &Builtin, arguments: &'a [Operand<'a>], piped: Option<Piped<'a>>) -> Result<()> {
        let last_loud = arguments.iter().rposition(|argument| !is_quiet(argument));
        for (at, argument) in arguments.iter().enumerate() {
            let target = match &function.params {
                Params::Assigned(params) => params.target(at).unwrap_or(Target::Any),
                _ => Target::Any,
            };
            self.operand(argument, target)?;
            if target != Target::Any && matches!(argument.term, Term::Pipeline(_)) && argument.fields.is_empty() {
                self.emitter.op(Op::As, &[Role::Value as u32]);
            }
            // The type of an argument is checked before a later one can fail.
            let is_last = last_loud.is_none_or(|last| last <= at);
            if !is_last && !matches!(target, Target::Any | Target::Raw) && !is_literal(argument) {
                self.at(argument.span);
                self.emitter.constant(Constant::Str(target.name().into()));
                self.intrinsic("checked", 2);
            }
        }
        let Some(piped) = piped else { return Ok(()) };
        self.piped(piped)?;
        let target = match &function.params {
            Params::Assigned(params) => params.target(arguments.len()),
            _ => None,
        };
        if target.is_some_and(|target| target != Target::Any) {
            self.emitter.op(Op::As, &[Role::Value as u32]);
        }
        Ok(())
    }

    /// Pushes the text of a template. A name that is a literal is linked here.
    fn include(
        &mut self,
        function: &Builtin,
        arguments: &'a [Operand<'a>],
        piped: Option<Piped<'a>>,
        span: Span,
    ) -> Result<()> {
        let named = match arguments {
            [Operand { term: Term::Str(name), .. }, rest @ ..] => {
                std::str::from_utf8(name).ok().map(|name| (name, rest))
            }
            _ => None,
        };
        let Some((name, rest)) = named else {
            self.arguments(function, arguments, piped)?;
            return self.include_named(span);
        };
        let Some(chunk) = self.chunk_of(name) else {
            if !self.sees.is_some_and(|sees| sees(name)) {
                self.fail_template(span, name, unknown_template(name));
                self.emitter.undefined();
                return Ok(());
            }
            self.arguments(function, arguments, piped)?;
            return self.include_named(span);
        };
        if self.set.recursive.contains(name) {
            self.arguments(function, arguments, piped)?;
            self.call_named(span, Delivery::Text);
            return Ok(());
        }
        self.at(span);
        self.emitter.begin_capture();
        match rest.first() {
            Some(data) => self.operand(data, Target::Any)?,
            None => piped.map_or(Ok(()), |piped| self.piped(piped))?,
        }
        self.emitter.op(Op::As, &[Role::Value as u32]);
        self.at(span);
        self.emitter.op(Op::CallChunk, &[chunk, 0]);
        self.emitter.end_capture();
        Ok(())
    }

    /// Pushes the text of a template whose name, and the data above it, are on the stack.
    fn include_named(&mut self, span: Span) -> Result<()> {
        self.calls_by_name = true;
        self.call_named(span, Delivery::Text);
        Ok(())
    }

    /// Calls the template whose name, and the data above it, are on the stack.
    pub(super) fn call_named(&mut self, span: Span, delivery: Delivery) {
        self.emitter.op(Op::As, &[Role::Value as u32]);
        self.at(span);
        self.emitter.call_named(1, delivery);
    }

    /// Pushes the text of a template that is made of a text.
    fn tpl(
        &mut self,
        function: &Builtin,
        arguments: &'a [Operand<'a>],
        piped: Option<Piped<'a>>,
        span: Span,
    ) -> Result<()> {
        if let [Operand { term: Term::Str(text), fields: [], .. }, ..] = arguments
            && !text.windows(2).any(|pair| pair == b"{{")
        {
            // The text of a template without actions. Its data is only evaluated.
            self.arguments(function, arguments, piped)?;
            self.emitter.op(Op::Pop, &[]);
            self.at(span);
            self.intrinsic("cleaned", 1);
            return Ok(());
        }
        if let [text, rest @ ..] = arguments {
            // What is no text is an error before the data is evaluated.
            self.arguments(function, std::slice::from_ref(text), None)?;
            self.at(span);
            self.intrinsic("text", 1);
            self.emitter.details([text.span.moved(self.base)]);
            match (rest.first(), piped) {
                (Some(data), _) => self.operand(data, Target::Any)?,
                (None, Some(piped)) => self.piped(piped)?,
                (None, None) => self.emitter.undefined(),
            }
        } else {
            self.arguments(function, arguments, piped)?;
        }
        self.makes_templates = true;
        self.emitter.op(Op::As, &[Role::Value as u32]);
        self.at(span);
        let maker = if self.missing == MissingKey::Error { STRICT_MAKER } else { MAKER };
        match self.unit.registry.get(ImportKind::Intrinsic, maker) {
            Some(maker) => self.emitter.call_made(maker, 1, Delivery::Text),
            None => self.emitter.op(Op::Pop, &[]),
        }
        self.intrinsic("cleaned", 1);
        Ok(())
    }
}

/// Returns `true` for a literal, whose type is checked when it is lowered.
fn is_literal(operand: &Operand<'_>) -> bool {
    operand.fields.is_empty() && matches!(operand.term, Term::Str(_) | Term::Bool(_) | Term::Nil | Term::Number(_))
}

/// Returns `true` for an operand that cannot fail.
pub(super) fn is_quiet(operand: &Operand<'_>) -> bool {
    match operand.term {
        Term::Str(_) | Term::Bool(_) | Term::Nil => true,
        Term::Number(number) => number.int.is_some() || number.float.is_some(),
        Term::Dot | Term::Variable(_) => operand.fields.is_empty(),
        _ => false,
    }
}

/// Returns Go's message for a template that does not exist.
fn unknown_template(name: &str) -> String {
    format!("error calling include: template: no template {} associated with template \"gotpl\"", quoted(name))
}

/// Returns `true` for a function of Go's own tables.
fn is_of_go(function: &Builtin) -> bool {
    matches!(&function.params, Params::Assigned(params) if params.target(0) == Some(Target::Raw))
}

/// Returns the operation that makes or reads the map or list of a function of the language's own. Analyses know what it does
/// with its arguments, which they cannot know of a host's function of the same name.
fn composing(name: &str) -> Option<&'static str> {
    Some(match name {
        "dict" => "fields",
        "list" | "tuple" => "items",
        "index" => "element",
        _ => return None,
    })
}

/// Returns the operator that a function with two arguments is.
fn operator(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "eq" => BinaryOp::Eq,
        "ne" => BinaryOp::Ne,
        "lt" => BinaryOp::Lt,
        "le" => BinaryOp::Le,
        "gt" => BinaryOp::Gt,
        "ge" => BinaryOp::Ge,
        _ => return None,
    })
}

impl<'a> Lower<'_, 'a> {
    /// Pushes a literal as the argument of a parameter. One of another type is an error when it is evaluated.
    pub(super) fn literal(&mut self, term: Term<'a>, span: Span, target: Target) {
        let expected = match (term, target) {
            (Term::Nil, target) => return self.nil(target, span),
            (Term::Str(text), Target::Any | Target::Raw | Target::Str) => return self.text(text),
            (Term::Bool(truth), Target::Any | Target::Raw | Target::Bool) => {
                return self.emitter.constant(Constant::Bool(truth));
            }
            (Term::Number(number), Target::Any | Target::Raw) => return self.number(number, span),
            (Term::Number(&Number { int: Some(n), .. }), Target::Int) => {
                return self.emitter.constant(Constant::Int(n));
            }
            (Term::Number(&Number { int: Some(n), .. }), Target::Int64) => {
                self.emitter.constant(Constant::Int(n));
                return self.intrinsic("int64", 1);
            }
            (Term::Number(&Number { uint: Some(n), .. }), Target::Uint32) if n <= u32::MAX.into() => {
                self.emitter.constant(Constant::Int(i64::try_from(n).unwrap_or(0)));
                return self.intrinsic("uint32", 1);
            }
            (Term::Number(&Number { float: Some(n), .. }), Target::Float) => {
                return self.emitter.constant(Constant::Float(n));
            }
            (_, Target::Str) => "string",
            (_, Target::Bool) => "bool",
            (_, Target::Int | Target::Int64) => "integer",
            (_, Target::Uint32) => "unsigned integer",
            (_, Target::Float) => "float",
            (_, target) => {
                let text = self.text_at(span).to_owned();
                let message = format!("can't handle {text} for arg of type {}", target_name(target));
                return self.fail_value(span, Code::BadArgument, message);
            }
        };
        let message = format!("expected {expected}; found {}", self.text_at(span));
        self.fail_value(span, Code::BadArgument, message);
    }

    fn nil(&mut self, target: Target, span: Span) {
        match target {
            Target::Raw => self.emitter.undefined(),
            Target::List => self.intrinsic("nil list", 0),
            // No value is the nil of maps.
            Target::Map => self.emitter.undefined(),
            Target::Any | Target::Texts | Target::Bytes => {
                self.emitter.constant(Constant::Null);
            }
            target => self.fail_value(span, Code::BadArgument, format!("cannot assign nil to {}", target_name(target))),
        }
    }

    /// Pushes a string. One that is not UTF-8 cannot be a constant; its bytes are written as characters.
    fn text(&mut self, text: &'a [u8]) {
        match std::str::from_utf8(text) {
            Ok(text) => self.emitter.constant(Constant::Str(text.into())),
            Err(_) => {
                let spelled: String = text.iter().map(|byte| char::from(*byte)).collect();
                self.emitter.constant(Constant::Str(spelled.into()));
                self.intrinsic("bytes", 1);
            }
        }
    }

    /// Pushes a number that stands for itself.
    fn number(&mut self, number: &Number<'a>, span: Span) {
        let text = number.text;
        let prefix = text.trim_start_matches(['+', '-']).get(..2).map(str::to_ascii_lowercase);
        let is_hex = prefix.as_deref() == Some("0x") && !text.contains(['p', 'P']);
        let is_character = text.starts_with('\'');
        let point = text.contains(['.', 'e', 'E', 'p', 'P']);
        match *number {
            Number { complex: Some((re, im)), .. } => {
                self.emitter.constant(Constant::Float(re));
                self.emitter.constant(Constant::Float(im));
                self.intrinsic("complex", 2);
            }
            Number { float: Some(n), .. } if point && !is_hex && !is_character => {
                self.emitter.constant(Constant::Float(n));
            }
            Number { int: Some(n), .. } => self.emitter.constant(Constant::Int(n)),
            _ => self.fail_value(span, Code::NumberOutOfRange, format!("{text} overflows int")),
        }
    }
}
