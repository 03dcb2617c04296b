//! The schema and the type that a specification implies.

use super::decoder::Decoder;
use super::{Collection, Keyed, Spec, Transform};
use crate::dialect::hcl::argument_gate::{invoke, reason};
use crate::dialect::hcl::body::{BodySchema, Context, DiagnosticList, mistyped};
use crate::dialect::hcl::values::{type_of, without_optional};
use crate::value::{Attribute, Type, Value};

impl<'r> Spec<'r> {
    /// Returns the schema of the bodies to decode.
    pub fn implied_schema(&self) -> BodySchema {
        let mut schema = BodySchema::new();
        self.add_to(&mut schema);
        schema
    }

    fn add_to(&self, schema: &mut BodySchema) {
        match self {
            Spec::Attr { name, required, .. } => schema.add_attribute(name.clone(), *required),
            Spec::Block { name, nested, .. } | Spec::Blocks { name, nested, .. } => {
                schema.add_block(name.clone(), nested.label_names());
            }
            Spec::KeyedBlocks { name, labels, nested, .. } => {
                schema.add_block(name.clone(), labels.iter().cloned().chain(nested.label_names()).collect());
            }
            Spec::BlockAttrs { name, .. } => schema.add_block(name.clone(), Vec::new()),
            _ => self.same_body().iter().for_each(|spec| spec.add_to(schema)),
        }
    }

    /// The names of the labels of the blocks that this specification decodes.
    fn label_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.add_labels(&mut names);
        names
    }

    fn add_labels(&self, names: &mut Vec<String>) {
        if let Spec::BlockLabel { index, name } = self {
            while names.len() <= *index {
                names.push(format!("label{}", names.len()));
            }
            if let Some(label) = names.get_mut(*index) {
                label.clone_from(name);
            }
        }
        self.same_body().iter().for_each(|spec| spec.add_labels(names));
    }

    /// Returns the type of the decoded value, as far as it does not depend on the body.
    pub fn implied_type(&self, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Type<'r> {
        Decoder { context, diagnostics }.implied_type(self)
    }
}

impl<'r> Decoder<'_, 'r> {
    pub(super) fn implied_type(&mut self, spec: &Spec<'r>) -> Type<'r> {
        let arena = self.context.arena();
        match spec {
            Spec::Object(entries) => {
                let attribute = |(name, spec): &(String, Spec<'r>)| Attribute {
                    name: arena.copy_str(name),
                    ty: self.implied_type(spec),
                    optional: false,
                };
                arena.object_type(&entries.iter().map(attribute).collect::<Vec<_>>())
            }
            Spec::Tuple(items) => {
                arena.tuple_type(&items.iter().map(|spec| self.implied_type(spec)).collect::<Vec<_>>())
            }
            Spec::Attr { ty, .. } => *ty,
            Spec::Literal(value) => self.type_of(*value),
            Spec::Block { nested, .. } => self.implied_type(nested),
            Spec::Blocks { nested, into: Collection::List, .. } => arena.list_type(self.implied_type(nested)),
            Spec::Blocks { nested, into: Collection::Set, .. } => arena.set_type(self.implied_type(nested)),
            Spec::KeyedBlocks { nested, labels, into: Keyed::Map, .. } => {
                labels.iter().fold(self.implied_type(nested), |element, _| arena.map_type(element))
            }
            Spec::BlockAttrs { element, .. } => arena.map_type(*element),
            Spec::BlockLabel { .. } => Type::String,
            Spec::Default(wrapped, _) => self.implied_type(wrapped),
            Spec::Transform(wrapped, transform) => {
                let unknown = arena.unknown(self.value_type(wrapped));
                self.type_of(transform.apply(unknown, &mut Vec::new()))
            }
            Spec::Blocks { .. } | Spec::KeyedBlocks { .. } => Type::Dynamic,
        }
    }

    /// Returns the implied type without optional attributes, which is the type of values.
    pub(super) fn value_type(&mut self, spec: &Spec<'r>) -> Type<'r> {
        without_optional(self.context.arena(), self.implied_type(spec))
    }

    fn type_of(&mut self, value: Value<'r>) -> Type<'r> {
        let error = |wrong: &_| mistyped("Invalid value", reason(wrong));
        self.attempt(|cx| type_of(cx, value), error).unwrap_or(Type::Dynamic)
    }
}
