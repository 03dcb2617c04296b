//! Type expressions: `list(string)`, `object({ name = string, size = optional(number, 3) })`.

mod object;
mod text;

pub use text::text;

use super::syntax::analysis::{keyword, static_call, static_list};
use super::syntax::tree::{Call, ExprId, Tree};
use super::values::defaults::{Children, Defaults};
use crate::diagnostics::{Code, Diagnostic};
use crate::function::Cx;
use crate::text::Span;
use crate::value::{Type, Value};

/// The value of an expression that stands in a type expression, or what is wrong with it.
pub type Evaluated<'v> = Result<Value<'v>, Vec<Box<Diagnostic>>>;

/// What a type expression may say.
pub enum Mode<'a, 'v> {
    /// A type: neither `any` nor `optional(…)`.
    Type,
    /// A constraint: `any` and `optional(TYPE)` as well.
    Constraint,
    /// A constraint with defaults: `optional(TYPE, DEFAULT)` as well; the function evaluates a default.
    Defaults(&'a mut dyn FnMut(ExprId) -> Evaluated<'v>),
}

/// What a type expression says.
#[derive(Debug, Clone)]
pub struct TypeExpr<'v> {
    /// The type, with the dynamic type where something is wrong.
    pub ty: Type<'v>,
    /// The defaults of its attributes, where there are any.
    pub defaults: Option<Defaults<'v>>,
    /// What is wrong.
    pub diagnostics: Vec<Box<Diagnostic>>,
}

/// Reads the expression `id` of `tree` as a type.
pub fn read<'v>(cx: &Cx<'v>, tree: &Tree, id: ExprId, mode: Mode<'_, 'v>) -> TypeExpr<'v> {
    let mut reader = Reader { cx, tree, mode, diagnostics: Vec::new() };
    let (ty, defaults) = reader.read(id);
    TypeExpr { ty, defaults, diagnostics: reader.diagnostics }
}

/// A type and the defaults in it.
type Read<'v> = (Type<'v>, Option<Defaults<'v>>);

const NOTHING: Read<'static> = (Type::Dynamic, None);

/// How deep it recurses is bounded by how deep calls and brackets nest in a tree.
struct Reader<'t, 'a, 'v> {
    cx: &'t Cx<'v>,
    tree: &'t Tree,
    mode: Mode<'a, 'v>,
    diagnostics: Vec<Box<Diagnostic>>,
}

impl<'t, 'v> Reader<'t, '_, 'v> {
    fn read(&mut self, id: ExprId) -> Read<'v> {
        match (keyword(self.tree, id), static_call(self.tree, id)) {
            (Some(word), _) => (self.named(word, self.tree.span(id)), None),
            (None, Some(call)) => self.call(&call, self.tree.span(id)),
            _ => self.wrong(
                self.tree.span(id),
                "a type is a name (bool, number, string) or made of others, like list(string)",
            ),
        }
    }

    /// The type of this name.
    fn named(&mut self, word: &str, span: Span) -> Type<'v> {
        let detail = match word {
            "bool" => return Type::Bool,
            "string" => return Type::String,
            "number" => return Type::Number,
            "any" if !matches!(self.mode, Mode::Type) => return Type::Dynamic,
            "any" => "`any` cannot stand here: an exact type is required".into(),
            "list" | "map" | "set" | "object" | "tuple" => arguments(word),
            _ => format!("`{word}` is not the name of a type"),
        };
        self.wrong(span, detail).0
    }

    fn call(&mut self, call: &Call, span: Span) -> Read<'v> {
        let tree: &'t Tree = self.tree;
        let name = tree.str(call.name);
        let within = call.open.to(call.close);
        let args = tree.ids(call.args);
        match (name, args) {
            ("bool" | "string" | "number" | "any", _) => self.wrong(within, format!("`{name}` takes no arguments")),
            ("list", [element]) => self.collection(*element, |cx, element| cx.arena().list_type(element)),
            ("set", [element]) => self.collection(*element, |cx, element| cx.arena().set_type(element)),
            ("map", [element]) => self.collection(*element, |cx, element| cx.arena().map_type(element)),
            ("object", [attributes]) => self.object(*attributes, span),
            ("tuple", [elements]) => self.tuple(*elements, span),
            ("list" | "set" | "map" | "object" | "tuple", _) => {
                let extra = match args {
                    [_, second, ..] => self.tree.span(*second).to(args.last().map_or(within, |id| self.tree.span(*id))),
                    _ => within,
                };
                self.wrong_in(extra, within, arguments(name))
            }
            ("optional", _) => self.wrong(call.name_span, "`optional` is for attributes of an object type only"),
            _ => self.wrong(span, format!("`{name}` makes no type")),
        }
    }

    fn collection(&mut self, element: ExprId, of: impl Fn(&Cx<'v>, Type<'v>) -> Type<'v>) -> Read<'v> {
        let (element, defaults) = self.read(element);
        let ty = of(self.cx, element);
        let children = |defaults| Children::Element(Box::new(defaults));
        (ty, defaults.map(|defaults| Defaults { ty, values: Vec::new(), children: children(defaults) }))
    }

    fn tuple(&mut self, list: ExprId, span: Span) -> Read<'v> {
        let Some(elements) = static_list(self.tree, list) else {
            return self.wrong_in(self.tree.span(list), span, "a list of the elements' types is wanted");
        };
        let (mut types, mut children) = (Vec::new(), Vec::new());
        for (at, element) in elements.iter().enumerate() {
            let (ty, defaults) = self.read(*element);
            types.push(ty);
            children.extend(defaults.map(|defaults| (at, defaults)));
        }
        let ty = self.cx.arena().tuple_type(&types);
        let defaults =
            (!children.is_empty()).then(|| Defaults { ty, values: Vec::new(), children: Children::Elements(children) });
        (ty, defaults)
    }

    fn wrong(&mut self, span: Span, detail: impl Into<String>) -> Read<'v> {
        self.report(span, None, detail.into());
        NOTHING
    }

    fn wrong_in(&mut self, span: Span, context: Span, detail: impl Into<String>) -> Read<'v> {
        self.report(span, Some(context), detail.into());
        NOTHING
    }

    fn report(&mut self, span: Span, context: Option<Span>, detail: String) {
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, "Invalid type specification").with_detail(detail);
        let diagnostic = diagnostic.at(self.tree.source(), span, "");
        self.diagnostics.push(match context {
            Some(context) => diagnostic.with_context(context),
            None => diagnostic,
        });
    }
}

/// What a type that is made of others wants.
fn arguments(name: &str) -> String {
    match name {
        "object" => "`object` takes one argument: the types of the attributes in braces".into(),
        "tuple" => "`tuple` takes one argument: the types of the elements in brackets".into(),
        _ => format!("`{name}` takes one argument: the type of the elements"),
    }
}
