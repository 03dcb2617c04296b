//! Bodies and their content.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;

use super::{BodySchema, DiagnosticList, Expression, Location};
use crate::text::{Source, Span};

/// A body of a file, of a block or of several files, or the rest of a body. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Body<'r>(Rc<dyn BodySource<'r> + 'r>);

/// Content, and a body of the rest.
pub(super) type Split<'r> = (Content<'r>, Body<'r>);

/// A kind of body.
pub(super) trait BodySource<'r>: fmt::Debug {
    /// Returns the content that `schema` describes, and the rest. If the content must be complete, the rest is an
    /// error.
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r>;

    /// See [`Body::just_attributes`].
    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r>;

    /// See [`Body::missing_item`].
    fn missing_item(&self) -> Option<Location<'r>>;

    /// See [`Body::is_unknown`].
    fn is_unknown(&self) -> bool {
        false
    }

    /// See [`Body::marks`].
    fn marks(&self) -> &[&'r str] {
        &[]
    }

    /// The bodies that this one merges.
    fn parts(&self) -> Option<&[Body<'r>]> {
        None
    }
}

impl<'r> Body<'r> {
    pub(super) fn of(source: impl BodySource<'r> + 'r) -> Self {
        Self(Rc::new(source))
    }

    /// Returns the content that `schema` describes. Any other content is an error.
    pub fn content(&self, schema: &BodySchema, diagnostics: &mut DiagnosticList) -> Content<'r> {
        self.0.split(schema, true, diagnostics).0
    }

    /// Returns the content that `schema` describes, and a body of the rest.
    pub fn partial_content(&self, schema: &BodySchema, diagnostics: &mut DiagnosticList) -> (Content<'r>, Body<'r>) {
        self.0.split(schema, false, diagnostics)
    }

    /// Returns all attributes of a body without blocks. A block is an error.
    pub fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        self.0.just_attributes(diagnostics)
    }

    /// The location of errors about missing items. A body without a file has none.
    pub fn missing_item(&self) -> Option<Location<'r>> {
        self.0.missing_item()
    }

    /// Returns `true` if neither the content of the body nor the number of such bodies is known: its `dynamic` block
    /// has an unknown `for_each`.
    pub fn is_unknown(&self) -> bool {
        self.0.is_unknown()
    }

    /// The marks of `for_each` values around the body. Values decoded from it carry them.
    pub fn marks(&self) -> &[&'r str] {
        self.0.marks()
    }

    pub(super) fn source(&self) -> &dyn BodySource<'r> {
        &*self.0
    }
}

/// Attributes by name, in source order.
pub type Attributes<'r> = IndexMap<&'r str, Attribute<'r>>;

/// The part of a body that a schema describes.
#[derive(Debug, Clone)]
pub struct Content<'r> {
    /// The attributes.
    pub attributes: Attributes<'r>,
    /// The blocks, in source order.
    pub blocks: Vec<Block<'r>>,
    /// The location of errors about missing items.
    pub missing_item: Option<Location<'r>>,
}

impl<'r> Content<'r> {
    /// The blocks of a type.
    pub fn blocks_of(&self, name: &str) -> impl Iterator<Item = &Block<'r>> {
        self.blocks.iter().filter(move |block| block.name == name)
    }
}

/// An attribute.
#[derive(Debug, Clone)]
pub struct Attribute<'r> {
    /// The name.
    pub name: &'r str,
    /// The value.
    pub expr: Expression<'r>,
    /// The span from the name to the end of the value.
    pub range: Span,
    /// The span of the name.
    pub name_range: Span,
}

impl<'r> Attribute<'r> {
    /// The location of the name.
    pub fn name_location(&self) -> Location<'r> {
        Location { span: self.name_range, ..self.expr.location() }
    }
}

/// A label of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The text.
    pub text: String,
    /// The span.
    pub range: Span,
}

/// A block.
#[derive(Debug, Clone)]
pub struct Block<'r> {
    /// The type.
    pub name: String,
    /// The labels, as many as in the schema.
    pub labels: Vec<Label>,
    /// The body.
    pub body: Body<'r>,
    /// The source.
    pub source: &'r Arc<Source>,
    /// The span of the type and the labels.
    pub def_range: Span,
    /// The span of the type.
    pub type_range: Span,
}

impl<'r> Block<'r> {
    /// The location of the type and the labels.
    pub fn location(&self) -> Location<'r> {
        Location { source: self.source, span: self.def_range }
    }
}
