//! Building a type of an expression.

use super::super::syntax::analysis::{keyword, static_call, static_list};
use super::super::syntax::tree::{Call, ExprId, Tree};
use super::super::values::defaults::{Children, Defaults};
use crate::diagnostics::{Code, Diagnostic};
use crate::function::Cx;
use crate::text::Span;
use crate::value::{Arena, Type, Value};

/// The value of a default in a type expression, or its errors.
pub type Evaluated<'v> = Result<Value<'v>, Vec<Box<Diagnostic>>>;

/// The constructs that a type expression may contain.
pub enum Mode<'a, 'v> {
    /// A type, without `any` and `optional(…)`.
    Type,
    /// A constraint, with `any` and `optional(TYPE)`.
    Constraint,
    /// A constraint with defaults: also `optional(TYPE, DEFAULT)`. The function evaluates a default.
    Defaults(&'a mut dyn FnMut(ExprId) -> Evaluated<'v>),
}

/// The type and the defaults of a type expression.
#[derive(Debug, Clone)]
pub struct TypeExpr<'v> {
    /// The type. Invalid parts have the dynamic type.
    pub ty: Type<'v>,
    /// Defaults of optional attributes.
    pub defaults: Option<Defaults<'v>>,
    /// Errors.
    pub diagnostics: Vec<Box<Diagnostic>>,
}

/// Reads the expression `id` of `tree` as a type.
pub fn read<'v>(cx: &Cx<'v>, tree: &Tree, id: ExprId, mode: Mode<'_, 'v>) -> TypeExpr<'v> {
    let mut builder = TypeBuilder { cx, tree, mode, diagnostics: Vec::new() };
    let (ty, defaults) = builder.build(id);
    TypeExpr { ty, defaults, diagnostics: builder.diagnostics }
}

/// A type and the defaults in it.
pub(super) type Typed<'v> = (Type<'v>, Option<Defaults<'v>>);

/// Builds a type of an expression. Recursion is bounded by the nesting limit of trees.
pub(super) struct TypeBuilder<'t, 'a, 'v> {
    pub(super) cx: &'t Cx<'v>,
    pub(super) tree: &'t Tree,
    pub(super) mode: Mode<'a, 'v>,
    pub(super) diagnostics: Vec<Box<Diagnostic>>,
}

impl<'t, 'v> TypeBuilder<'t, '_, 'v> {
    pub(super) fn build(&mut self, id: ExprId) -> Typed<'v> {
        match (keyword(self.tree, id), static_call(self.tree, id)) {
            (Some(word), _) => (self.named(word, self.tree.span(id)), None),
            (None, Some(call)) => self.call(&call, self.tree.span(id)),
            _ => self.invalid(
                self.tree.span(id),
                "expected a type name (`bool`, `number`, `string`) or a constructor such as `list(string)`",
            ),
        }
    }

    fn named(&mut self, word: &str, span: Span) -> Type<'v> {
        let detail = match word {
            "bool" => return Type::Bool,
            "string" => return Type::String,
            "number" => return Type::Number,
            "any" if !matches!(self.mode, Mode::Type) => return Type::Dynamic,
            "any" => "`any` is not allowed here: an exact type is required".into(),
            "list" | "map" | "set" | "object" | "tuple" => arguments(word),
            _ => format!("unknown type `{word}`"),
        };
        self.invalid(span, detail).0
    }

    fn call(&mut self, call: &Call, span: Span) -> Typed<'v> {
        let tree: &'t Tree = self.tree;
        let name = tree.str(call.name);
        let within = call.open.to(call.close);
        let args = tree.ids(call.args);
        match (name, args) {
            ("bool" | "string" | "number" | "any", _) => self.invalid(within, format!("`{name}` takes no arguments")),
            ("list", [element]) => self.collection(*element, Arena::list_type),
            ("set", [element]) => self.collection(*element, Arena::set_type),
            ("map", [element]) => self.collection(*element, Arena::map_type),
            ("object", [attributes]) => self.object(*attributes, span),
            ("tuple", [elements]) => self.tuple(*elements, span),
            ("list" | "set" | "map" | "object" | "tuple", _) => {
                let extra = match args {
                    [_, second, ..] => self.tree.span(*second).to(args.last().map_or(within, |id| self.tree.span(*id))),
                    _ => within,
                };
                self.invalid_in(extra, within, arguments(name))
            }
            ("optional", _) => {
                self.invalid(call.name_span, "`optional` is only allowed for attributes of an object type")
            }
            _ => self.invalid(span, format!("unknown type constructor `{name}`")),
        }
    }

    fn collection(&mut self, element: ExprId, of: fn(&'v Arena, Type<'v>) -> Type<'v>) -> Typed<'v> {
        let (element, defaults) = self.build(element);
        let ty = of(self.cx.arena(), element);
        let children = defaults.map(|defaults| Children::Element(Box::new(defaults)));
        (ty, children.map(|children| Defaults { ty, values: Vec::new(), children }))
    }

    fn tuple(&mut self, list: ExprId, span: Span) -> Typed<'v> {
        let Some(elements) = static_list(self.tree, list) else {
            return self.invalid_in(self.tree.span(list), span, "expected a list of element types");
        };
        let (mut types, mut children) = (Vec::new(), Vec::new());
        for (at, element) in elements.iter().enumerate() {
            let (ty, defaults) = self.build(*element);
            types.push(ty);
            children.extend(defaults.map(|defaults| (at, defaults)));
        }
        let ty = self.cx.arena().tuple_type(&types);
        let children = (!children.is_empty()).then_some(Children::Elements(children));
        (ty, children.map(|children| Defaults { ty, values: Vec::new(), children }))
    }

    fn invalid(&mut self, span: Span, detail: impl Into<String>) -> Typed<'v> {
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, "Invalid type specification").with_detail(detail);
        self.diagnostics.push(diagnostic.at(self.tree.source(), span, ""));
        (Type::Dynamic, None)
    }

    pub(super) fn invalid_in(&mut self, span: Span, context: Span, detail: impl Into<String>) -> Typed<'v> {
        let result = self.invalid(span, detail);
        let last = self.diagnostics.pop().map(|diagnostic| diagnostic.with_context(context));
        self.diagnostics.extend(last);
        result
    }
}

/// Describes the argument of a type constructor.
fn arguments(name: &str) -> String {
    match name {
        "object" => "`object` takes one argument: attribute types in braces".into(),
        "tuple" => "`tuple` takes one argument: element types in brackets".into(),
        _ => format!("`{name}` takes one argument: the element type"),
    }
}
