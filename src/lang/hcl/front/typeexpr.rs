//! Type expressions: `list(string)`, `object({ name = string, size = optional(number, 3) })`.

use std::collections::BTreeMap;

use crate::syntax::{Call, Entry, ExprId, Tree, is_identifier, keyword, static_call, static_list, static_map};
use crate::values::convert;
use crate::values::json::write_string;
use crate::values::types::{Children, Defaults, name};
use dropforge_base::diagnostics::{Code, Diagnostic, nearest};
use dropforge_base::text::Span;
use dropforge_machine::function::{Cx, Fault};
use dropforge_value::{Arena, Attribute, Type, Value};

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
        let invalid = self.invalid(span, detail).0;
        if let Some(near) = nearest(word, ["bool", "string", "number", "list", "map", "set", "object", "tuple"]) {
            self.help(&format!("did you mean `{near}`?"));
        }
        invalid
    }

    /// Adds a help line to the last error.
    fn help(&mut self, help: &str) {
        if let Some(error) = self.diagnostics.last_mut() {
            error.help = Some(help.to_owned());
        }
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

/// An attribute declaration.
#[derive(Default)]
struct Declaration<'v> {
    ty: Option<Type<'v>>,
    optional: bool,
    default: Option<Value<'v>>,
    child: Option<Defaults<'v>>,
}

impl<'t, 'v> TypeBuilder<'t, '_, 'v> {
    /// `{ name = TYPE, … }`
    pub(super) fn object(&mut self, braces: ExprId, span: Span) -> Typed<'v> {
        let tree = self.tree;
        let Some(entries) = static_map(tree, braces) else {
            let detail = "expected attribute names and types in braces";
            return self.invalid_in(tree.span(braces), span, detail);
        };
        let mut declared: BTreeMap<&'t str, Declaration<'v>> = BTreeMap::new();
        for entry in entries {
            match keyword(tree, entry.key) {
                Some(name) if declared.contains_key(name) => {
                    let detail = format!("the attribute `{name}` is declared twice");
                    self.invalid_in(tree.span(entry.key), span, detail);
                    self.help("remove one of them");
                }
                Some(name) => self.attribute(entry, declared.entry(name).or_default()),
                None => {
                    self.invalid_in(tree.span(entry.key), span, "a key must be an attribute name");
                }
            }
        }
        self.object_type(declared)
    }

    fn attribute(&mut self, entry: &Entry, declared: &mut Declaration<'v>) {
        let mut of = entry.value;
        let mut default = None;
        if let Some(call) = static_call(self.tree, of)
            && self.tree.str(call.name) == "optional"
        {
            let Some(inner) = self.optional(&call, self.tree.span(of), declared, &mut default) else { return };
            of = inner;
        }
        let (ty, child) = self.build(of);
        declared.ty = Some(ty);
        declared.child = child;
        if let Some(value) = declared.default.take() {
            declared.default = self.converted(value, &ty, self.tree.span(default.unwrap_or(of)));
        }
    }

    /// Reads `optional(TYPE)` or `optional(TYPE, DEFAULT)`. Returns the type, if there is one.
    fn optional(
        &mut self,
        call: &Call,
        span: Span,
        declared: &mut Declaration<'v>,
        default: &mut Option<ExprId>,
    ) -> Option<ExprId> {
        let tree = self.tree;
        let within = call.open.to(call.close);
        let args = tree.ids(call.args);
        let Some((of, rest)) = args.split_first() else {
            self.invalid_in(within, span, "`optional` takes the type of the attribute");
            return None;
        };
        match (&mut self.mode, rest) {
            (Mode::Type, _) => {
                self.invalid_in(call.name_span, span, "`optional` is not allowed in an exact type");
            }
            (_, []) => declared.optional = true,
            (Mode::Defaults(evaluate), [value]) => {
                *default = Some(*value);
                match evaluate(*value) {
                    Ok(value) => (declared.optional, declared.default) = (true, Some(value)),
                    Err(diagnostics) => self.diagnostics.extend(diagnostics),
                }
            }
            (Mode::Defaults(_), _) => {
                self.invalid_in(within, span, "`optional` takes at most a type and a default");
            }
            (Mode::Constraint, _) => {
                self.invalid_in(within, span, "`optional` takes one argument: the type");
            }
        }
        Some(*of)
    }

    /// Converts a default to the type of the attribute.
    fn converted(&mut self, value: Value<'v>, ty: &Type<'v>, span: Span) -> Option<Value<'v>> {
        let wrong = match convert(self.cx, value, ty) {
            Ok(value) => return Some(value),
            Err(Fault::Limit(limit)) => {
                self.diagnostics.push(limit);
                return None;
            }
            Err(Fault::Wrong(wrong)) => wrong,
        };
        let path: String = wrong.path.iter().map(ToString::to_string).collect();
        let of = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let diagnostic = Diagnostic::new(Code::TypeMismatch, "Invalid default value for optional attribute")
            .with_detail(format!("the default does not have the type of the attribute: {of}{}", wrong.message))
            .at(self.tree.source(), span, "");
        self.diagnostics.push(diagnostic);
        None
    }

    fn object_type(&self, declared: BTreeMap<&str, Declaration<'v>>) -> Typed<'v> {
        let (mut attributes, mut values, mut children) = (Vec::new(), Vec::new(), Vec::new());
        for (name, attribute) in declared {
            let Some(ty) = attribute.ty else { continue };
            let name = self.cx.arena().copy_str(name);
            attributes.push(Attribute { name, ty, optional: attribute.optional });
            values.extend(attribute.default.map(|value| (name, value)));
            children.extend(attribute.child.map(|child| (name, child)));
        }
        let ty = self.cx.arena().object_type(&attributes);
        let children = if children.is_empty() { Children::None } else { Children::Attributes(children) };
        let some = !values.is_empty() || !matches!(children, Children::None);
        (ty, some.then_some(Defaults { ty, values, children }))
    }
}

/// Returns a type as a type expression: `map(object({name=string}))`. A capsule has no type expression and becomes its
/// name.
pub fn text(ty: &Type<'_>) -> String {
    match ty {
        Type::Dynamic => "any".to_owned(),
        Type::List(element) => format!("list({})", text(element)),
        Type::Set(element) => format!("set({})", text(element)),
        Type::Map(element) => format!("map({})", text(element)),
        Type::Tuple(elements) => format!("tuple([{}])", elements.iter().map(text).collect::<Vec<_>>().join(",")),
        Type::Object(attributes) => {
            format!("object({{{}}})", attributes.iter().map(attribute).collect::<Vec<_>>().join(","))
        }
        Type::Bool | Type::Number | Type::String | Type::Capsule(_) => name(ty),
    }
}

fn attribute(attribute: &Attribute<'_>) -> String {
    let (mut out, ty) = (String::new(), text(&attribute.ty));
    if is_identifier(attribute.name) {
        out.push_str(attribute.name);
    } else {
        write_string(attribute.name, &mut out);
    }
    if attribute.optional { format!("{out}=optional({ty})") } else { format!("{out}={ty}") }
}
