//! Object types, whose attributes may be optional and have a default.

use std::collections::BTreeMap;

use super::super::syntax::analysis::{keyword, static_call, static_map};
use super::super::syntax::tree::{Call, Entry, ExprId};
use super::super::values::Fault;
use super::super::values::convert::convert;
use super::super::values::defaults::{Children, Defaults};
use super::builder::{Mode, TypeBuilder, Typed};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::Span;
use crate::value::{Attribute, Type, Value};

/// An attribute declaration. The last type of a duplicate name wins.
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
        declared.child = child.or(declared.child.take());
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
