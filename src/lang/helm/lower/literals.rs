//! Literals by the types of parameters.

use super::program::Lower;
use crate::syntax::tree::{Number, Term};
use crate::values::target_name;
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;
use dropforge_machine::compiler::Constant;
use dropforge_machine::function::Target;

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
            // No value is an empty map.
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
