//! Object types: attributes, which may be optional and have a default.

use std::collections::BTreeMap;

use super::super::syntax::analysis::{keyword, static_call, static_map};
use super::super::syntax::tree::{Call, Entry, ExprId};
use super::super::values::Fault;
use super::super::values::convert::convert;
use super::super::values::defaults::{Children, Defaults};
use super::{Mode, Read, Reader};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::Span;
use crate::value::{Attribute, Type, Value};

/// What is known of an attribute so far: of a name that comes twice the last type counts.
#[derive(Default)]
struct Known<'v> {
    ty: Option<Type<'v>>,
    optional: bool,
    default: Option<Value<'v>>,
    child: Option<Defaults<'v>>,
}

impl<'t, 'v> Reader<'t, '_, 'v> {
    /// `{ name = TYPE, … }`
    pub(super) fn object(&mut self, braces: ExprId, span: Span) -> Read<'v> {
        let tree = self.tree;
        let Some(entries) = static_map(tree, braces) else {
            let detail = "names of attributes and their types in braces are wanted";
            return self.wrong_in(tree.span(braces), span, detail);
        };
        let mut known: BTreeMap<&'t str, Known<'v>> = BTreeMap::new();
        for entry in entries {
            match keyword(tree, entry.key) {
                Some(name) => self.attribute(entry, known.entry(name).or_default()),
                None => {
                    self.wrong_in(tree.span(entry.key), span, "a key must be the name of an attribute");
                }
            }
        }
        self.made(known)
    }

    fn attribute(&mut self, entry: &Entry, known: &mut Known<'v>) {
        let mut of = entry.value;
        let mut default = None;
        if let Some(call) = static_call(self.tree, of)
            && self.tree.str(call.name) == "optional"
        {
            let Some(inner) = self.optional(&call, self.tree.span(of), known, &mut default) else { return };
            of = inner;
        }
        let (ty, child) = self.read(of);
        known.ty = Some(ty);
        known.child = child.or(known.child.take());
        if let Some(value) = known.default.take() {
            known.default = self.converted(value, &ty, self.tree.span(default.unwrap_or(of)));
        }
    }

    /// `optional(TYPE)` or `optional(TYPE, DEFAULT)`: the type; nothing where there is none.
    fn optional(
        &mut self,
        call: &Call,
        span: Span,
        known: &mut Known<'v>,
        default: &mut Option<ExprId>,
    ) -> Option<ExprId> {
        let tree = self.tree;
        let within = call.open.to(call.close);
        let args = tree.ids(call.args);
        let Some((of, rest)) = args.split_first() else {
            self.wrong_in(within, span, "`optional` wants the type of the attribute");
            return None;
        };
        match (&mut self.mode, rest) {
            (Mode::Type, _) => {
                self.wrong_in(call.name_span, span, "`optional` is for constraints, not for exact types");
            }
            (_, []) => known.optional = true,
            (Mode::Defaults(evaluate), [value]) => {
                *default = Some(*value);
                match evaluate(*value) {
                    Ok(value) => (known.optional, known.default) = (true, Some(value)),
                    Err(diagnostics) => self.diagnostics.extend(diagnostics),
                }
            }
            (Mode::Defaults(_), _) => {
                self.wrong_in(within, span, "`optional` takes at most a type and a default");
            }
            (Mode::Constraint, _) => {
                self.wrong_in(within, span, "`optional` takes one argument: the type");
            }
        }
        Some(*of)
    }

    /// A default as a value of the attribute's type.
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
            .with_detail(format!("the default is not of the attribute's type: {of}{}", wrong.message))
            .at(self.tree.source(), span, "");
        self.diagnostics.push(diagnostic);
        None
    }

    fn made(&self, known: BTreeMap<&str, Known<'v>>) -> Read<'v> {
        let (mut attributes, mut values, mut children) = (Vec::new(), Vec::new(), Vec::new());
        for (name, known) in known {
            let Some(ty) = known.ty else { continue };
            let name = self.cx.arena().copy_str(name);
            attributes.push(Attribute { name, ty, optional: known.optional });
            values.extend(known.default.map(|value| (name, value)));
            children.extend(known.child.map(|child| (name, child)));
        }
        let ty = self.cx.arena().object_type(&attributes);
        let children = if children.is_empty() { Children::None } else { Children::Attributes(children) };
        let some = !values.is_empty() || !matches!(children, Children::None);
        (ty, some.then_some(Defaults { ty, values, children }))
    }
}
