//! What a body was found to hold.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Body, Expression};
use crate::diagnostics::Diagnostic;
use crate::text::{Source, Span};

/// A place of a source.
#[derive(Debug, Clone, Copy)]
pub struct Place<'r> {
    /// The source.
    pub source: &'r Arc<Source>,
    /// Where in it.
    pub span: Span,
}

impl Place<'_> {
    /// The diagnostic at this place.
    pub fn put(self, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
        diagnostic.at(self.source, self.span, "")
    }
}

/// The diagnostic at a place, where there is one.
pub(in crate::dialect::hcl) fn put(place: Option<Place<'_>>, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
    match place {
        Some(place) => place.put(diagnostic),
        None => diagnostic,
    }
}

/// Attributes by name, in the order of the source.
pub type Attributes<'r> = IndexMap<&'r str, Attribute<'r>>;

/// What a body holds of what a schema asks for.
#[derive(Debug, Clone)]
pub struct Content<'r> {
    /// The attributes.
    pub attributes: Attributes<'r>,
    /// The blocks, in the order of the source.
    pub blocks: Vec<Block<'r>>,
    /// Where something that is missing would be reported.
    pub missing_item: Option<Place<'r>>,
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
    /// Its name.
    pub name: &'r str,
    /// Its value.
    pub expr: Expression<'r>,
    /// From its name to the end of its value.
    pub range: Span,
    /// Its name's place.
    pub name_range: Span,
}

impl<'r> Attribute<'r> {
    /// Where its name stands.
    pub fn name_place(&self) -> Place<'r> {
        Place { span: self.name_range, ..self.expr.place() }
    }
}

/// A label of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The label.
    pub text: String,
    /// Where it stands.
    pub range: Span,
}

/// A block.
#[derive(Debug, Clone)]
pub struct Block<'r> {
    /// Its type.
    pub name: String,
    /// Its labels, as many as the schema asks for.
    pub labels: Vec<Label>,
    /// What is in it.
    pub body: Body<'r>,
    /// The source it stands in.
    pub source: &'r Arc<Source>,
    /// Its type and labels.
    pub def_range: Span,
    /// Its type.
    pub type_range: Span,
}

impl<'r> Block<'r> {
    /// Where its type and labels stand.
    pub fn place(&self) -> Place<'r> {
        Place { source: self.source, span: self.def_range }
    }
}
