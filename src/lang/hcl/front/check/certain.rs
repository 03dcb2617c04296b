//! Expressions without errors for any values of their variables. A check need not evaluate them.

use crate::argument_gate::takes_errors;
use crate::syntax::{Call, Expr, ExprId, For, Operator, Run, Str, Tree, UnaryOp, function_name};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Admits, Params, PositionalParam, Registry, ResultType};
use dropforge_value::{Inputs, Type};

/// Maximum depth of an expression that is looked at.
const DEPTH: u32 = 16;
/// Maximum number of digits of a number that is not large.
const DIGITS: usize = 16;

/// The value of an expression that has no errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CertainKind {
    /// An unknown value of any type.
    Any,
    /// An unknown value of this type, without bounds if it is a number.
    Bool,
    Number,
    String,
    /// A known number, which is not large.
    Digits,
    /// A boolean, known or not.
    Truth,
    /// A string, known or not.
    Text,
    /// A value that has text.
    Scalar,
    /// Anything else.
    Other,
}

impl CertainKind {
    /// Returns `true` for a value that is not known.
    fn is_unknown(self) -> bool {
        matches!(self, CertainKind::Any | CertainKind::Bool | CertainKind::Number | CertainKind::String)
    }

    fn is_number(self) -> bool {
        matches!(self, CertainKind::Any | CertainKind::Number)
    }

    fn is_logical(self) -> bool {
        matches!(self, CertainKind::Any | CertainKind::Bool | CertainKind::Truth)
    }

    fn is_text(self) -> bool {
        matches!(self, CertainKind::String | CertainKind::Text)
    }

    /// Returns the kind of the result of a conditional.
    fn or(self, other: Self) -> Option<Self> {
        match (self, other) {
            (CertainKind::Any, _) | (_, CertainKind::Any) => Some(CertainKind::Any),
            (CertainKind::Number, CertainKind::Number | CertainKind::Digits)
            | (CertainKind::Digits, CertainKind::Number) => Some(CertainKind::Number),
            (CertainKind::Bool, CertainKind::Bool) | (CertainKind::Digits, CertainKind::Digits) => {
                Some(CertainKind::Scalar)
            }
            _ if self.is_text() && other.is_text() => Some(CertainKind::Scalar),
            _ => None,
        }
    }
}

/// Finds expressions without errors among those with the same variables.
pub(super) struct Certain<'c, 's> {
    pub tree: &'s Tree,
    pub registry: &'c Registry,
    pub variables: Inputs<'s>,
    /// The loop whose variables exist, too.
    pub around: Option<&'s For>,
}

impl<'s> Certain<'_, 's> {
    /// Returns `true` if an expression has no errors, and text if it is a part of a template.
    pub(crate) fn has_no_errors(&self, id: ExprId, is_part: bool) -> bool {
        self.kind(id, DEPTH).is_some_and(|kind| !is_part || kind != CertainKind::Other)
    }

    /// Returns the type of an expression whose value is not known.
    pub fn unknown(&self, id: ExprId) -> Option<Type<'s>> {
        match self.kind(id, DEPTH)? {
            CertainKind::Any => Some(Type::Dynamic),
            CertainKind::Bool => Some(Type::Bool),
            CertainKind::Number => Some(Type::Number),
            CertainKind::String => Some(Type::String),
            CertainKind::Digits | CertainKind::Truth | CertainKind::Text | CertainKind::Scalar | CertainKind::Other => {
                None
            }
        }
    }

    /// Returns the kind of an expression without errors. `depth` limits the recursion.
    fn kind(&self, id: ExprId, depth: u32) -> Option<CertainKind> {
        let depth = depth.checked_sub(1)?;
        let kind = |id: ExprId| self.kind(id, depth);
        match self.tree.expr(id) {
            Expr::Null => Some(CertainKind::Other),
            Expr::Bool(_) => Some(CertainKind::Truth),
            Expr::Number(digits) => is_short(self.tree.str(digits)).then_some(CertainKind::Digits),
            Expr::Text(_) => Some(CertainKind::Text),
            Expr::Template(parts) => self.template(parts, depth),
            Expr::Paren(inner) | Expr::Wrapped(inner) => kind(inner),
            Expr::Traversal { root, .. } => self.is_any(root).then_some(CertainKind::Any),
            Expr::Tuple(items) => {
                self.tree.ids(items).iter().all(|&item| kind(item).is_some()).then_some(CertainKind::Other)
            }
            Expr::Object(entries) => {
                let mut entries = self.tree.entries(entries).iter();
                entries
                    .all(|entry| self.is_name(entry.key, depth) && kind(entry.value).is_some())
                    .then_some(CertainKind::Other)
            }
            Expr::Binary { op, left, right } => binary(op, kind(left)?, kind(right)?),
            Expr::Unary { op, operand, .. } => match (op, kind(operand)?) {
                (UnaryOp::Not, CertainKind::Any | CertainKind::Bool) => Some(CertainKind::Bool),
                (UnaryOp::Not, CertainKind::Truth) => Some(CertainKind::Truth),
                (UnaryOp::Negate, operand) if operand.is_number() => Some(CertainKind::Number),
                _ => None,
            },
            Expr::Conditional { condition, then, otherwise } => {
                let condition = kind(condition).filter(|condition| condition.is_logical())?;
                // An unknown condition drops the errors of both.
                let are_text = [then, otherwise].iter().all(|&branch| self.is_template(branch));
                if are_text && condition.is_unknown() {
                    return Some(CertainKind::Scalar);
                }
                let either = kind(then)?.or(kind(otherwise)?)?;
                Some(if condition.is_unknown() { either } else { CertainKind::Other })
            }
            Expr::Joined(of) => self.is_not_entered(of, depth).then_some(CertainKind::Scalar),
            Expr::For(_) => self.is_not_entered(id, depth).then_some(CertainKind::Other),
            Expr::Call(call) => self.call(&call, depth),
            Expr::Invalid
            | Expr::Relative { .. }
            | Expr::Index { .. }
            | Expr::Splat { .. }
            | Expr::Item
            | Expr::Key { .. } => None,
        }
    }

    /// Returns `true` if a name is a variable of which nothing is known.
    fn is_any(&self, name: Str) -> bool {
        let name = self.tree.str(name);
        let is_given =
            |of: &For| [Some(of.value_var), of.key_var].into_iter().flatten().any(|own| self.tree.str(own) == name);
        if self.around.is_some_and(is_given) {
            return true;
        }
        let value = self.variables.get(name);
        let unknown = value.filter(|value| !value.is_marked()).and_then(|value| value.as_unknown());
        unknown.is_some_and(|of| of.ty == Type::Dynamic && !of.faulty && !of.refinement.not_null)
    }

    /// Returns `true` for a key that is a name or a literal string.
    fn is_name(&self, key: ExprId, depth: u32) -> bool {
        let Expr::Key { inner, forced: false } = self.tree.expr(key) else { return false };
        match self.tree.expr(inner) {
            Expr::Traversal { steps, .. } => steps.is_empty(),
            _ => self.kind(inner, depth) == Some(CertainKind::Text),
        }
    }

    fn is_template(&self, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Template(_) | Expr::Text(_))
    }

    /// Returns `true` for a loop over a collection of which nothing is known. Only its condition is evaluated.
    fn is_not_entered(&self, id: ExprId, depth: u32) -> bool {
        let Expr::For(of) = self.tree.expr(id) else { return false };
        let Some(of) = self.tree.for_expr(of).filter(|of| self.kind(of.collection, depth) == Some(CertainKind::Any))
        else {
            return false;
        };
        let within = Self { around: Some(of), ..*self };
        self.around.is_none()
            && of.condition.is_none_or(|condition| within.kind(condition, depth).is_some_and(CertainKind::is_logical))
    }

    fn template(&self, parts: Run, depth: u32) -> Option<CertainKind> {
        let mut template = CertainKind::Text;
        for &part in self.tree.ids(parts) {
            match self.kind(part, depth)? {
                CertainKind::Other => return None,
                part if part.is_unknown() => template = CertainKind::String,
                _ => {}
            }
        }
        Some(template)
    }

    /// Returns the kind of a call whose function does not run because an argument is not known.
    fn call(&self, call: &Call, depth: u32) -> Option<CertainKind> {
        let function = self.registry.get(ImportKind::Function, function_name(self.tree, call))?;
        let Params::Positional(params) = &function.params else { return None };
        let (args, needed) = (self.tree.ids(call.args), params.params.len());
        let fits = args.len() == needed || args.len() > needed && params.rest.is_some();
        if call.expand || !fits || takes_errors(params) {
            return None;
        }
        let mut runs = true;
        for (&arg, param) in args.iter().zip(params.params.iter().chain(params.rest.iter().cycle())) {
            let kind = self.kind(arg, depth).filter(|kind| admits(param, *kind))?;
            runs &= !kind.is_unknown() || param.admits.include(Admits::UNKNOWN);
        }
        match params.result {
            _ if runs => None,
            ResultType::Is(Type::Bool | Type::Number | Type::String) => Some(CertainKind::Scalar),
            ResultType::Is(_) => Some(CertainKind::Other),
            ResultType::OfBody | ResultType::Of(_) => None,
        }
    }
}

/// Returns `true` if a parameter takes an argument as it is.
fn admits(param: &PositionalParam, kind: CertainKind) -> bool {
    let fits = match kind {
        CertainKind::Any => true,
        CertainKind::Bool | CertainKind::Truth => param.ty == Type::Bool,
        CertainKind::Number | CertainKind::Digits => param.ty == Type::Number,
        CertainKind::String | CertainKind::Text => param.ty == Type::String,
        CertainKind::Scalar | CertainKind::Other => false,
    };
    fits && !param.admits.include(Admits::TYPE)
}

/// Returns the kind of the result of an operator.
fn binary(op: Operator, left: CertainKind, right: CertainKind) -> Option<CertainKind> {
    use Operator::{Add, And, Div, Equal, Greater, GreaterEqual, Less, LessEqual, Mul, NotEqual, Or, Rem, Sub};
    let (is_any, are_known) =
        (left == CertainKind::Any || right == CertainKind::Any, [left, right] == [CertainKind::Digits; 2]);
    let are_numbers = [left, right].iter().all(|side| side.is_number() || *side == CertainKind::Digits);
    match op {
        And | Or if !left.is_logical() || !right.is_logical() => None,
        And | Or => Some(if left.is_unknown() && right.is_unknown() { CertainKind::Bool } else { CertainKind::Truth }),
        Equal | NotEqual => is_any.then_some(CertainKind::Bool),
        Div | Rem if right == CertainKind::Digits => None,
        Greater | GreaterEqual | Less | LessEqual if are_known => Some(CertainKind::Truth),
        Greater | GreaterEqual | Less | LessEqual => are_numbers.then_some(CertainKind::Bool),
        Add | Sub | Mul if are_known => Some(CertainKind::Digits),
        Add | Sub | Mul | Div | Rem => are_numbers.then_some(CertainKind::Number),
    }
}

/// Returns `true` for a whole number that is not large.
fn is_short(digits: &str) -> bool {
    digits.len() <= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
}
