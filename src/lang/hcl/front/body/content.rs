//! Schemas, bodies and their content, several bodies as one, and errors of bodies. The summaries are the reference's.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::BodyExpression;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};
use indexmap::IndexMap;

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
    pub expr: BodyExpression<'r>,
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

/// The attributes and blocks that a body may have. Missing attributes are reported in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// The attributes by name.
    pub attributes: IndexMap<String, AttributeSchema>,
    /// The blocks by type.
    pub blocks: IndexMap<String, BlockSchema>,
}

/// An attribute that a body may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeSchema {
    /// The name.
    pub name: String,
    /// `true` if the body must have it.
    pub required: bool,
}

/// A type of blocks that a body may have any number of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSchema {
    /// The type.
    pub name: String,
    /// The names of the labels.
    pub labels: Vec<String>,
}

impl BodySchema {
    /// Creates a schema without content.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute. One of the same name becomes required if either is.
    pub fn attribute(mut self, name: impl Into<String>, required: bool) -> Self {
        self.add_attribute(name.into(), required);
        self
    }

    /// Adds an optional attribute.
    pub fn optional(self, name: impl Into<String>) -> Self {
        self.attribute(name, false)
    }

    /// Adds a required attribute.
    pub fn required(self, name: impl Into<String>) -> Self {
        self.attribute(name, true)
    }

    /// Adds a type of blocks with the names of its labels.
    pub fn block(mut self, name: impl Into<String>, labels: &[&str]) -> Self {
        self.add_block(name.into(), labels.iter().map(|label| (*label).to_owned()).collect());
        self
    }

    pub(crate) fn add_attribute(&mut self, name: String, required: bool) {
        let new = || AttributeSchema { name: name.clone(), required };
        self.attributes.entry(name.clone()).or_insert_with(new).required |= required;
    }

    /// Adds a type of blocks, or replaces its labels.
    pub(crate) fn add_block(&mut self, name: String, labels: Vec<String>) {
        self.blocks.insert(name.clone(), BlockSchema { name, labels });
    }

    /// Returns `true` if there is an attribute of this name.
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }

    /// The names of the attributes.
    pub(super) fn attribute_names(&self) -> impl Iterator<Item = &str> {
        self.attributes.keys().map(String::as_str)
    }

    /// Returns the blocks of this type.
    pub(super) fn block_of(&self, name: &str) -> Option<&BlockSchema> {
        self.blocks.get(name)
    }

    /// The types of the blocks.
    pub(super) fn block_names(&self) -> impl Iterator<Item = &str> {
        self.blocks.keys().map(String::as_str)
    }

    /// Returns the error of an argument that the schema does not have. `unset` are its names that are not set.
    pub(super) fn unsupported_argument<'s>(
        &self,
        name: &str,
        unset: impl IntoIterator<Item = &'s str>,
        location: Location<'_>,
    ) -> Box<Diagnostic> {
        let error = structure("Unsupported argument", format!("An argument named `{name}` is not expected here."));
        location.label(match self.block_of(name) {
            Some(_) => error.with_help(format!("write a block `{name} {{ … }}`")),
            None => error.with_suggestion(name, unset),
        })
    }

    /// Returns the error of a block of a type that the schema does not have.
    pub(super) fn unsupported_block(&self, name: &str, location: Location<'_>) -> Box<Diagnostic> {
        let error = structure("Unsupported block type", format!("Blocks of type `{name}` are not expected here."));
        location.label(match self.has_attribute(name) {
            true => error.with_help(format!("set the argument: `{name} = …`")),
            false => error.with_suggestion(name, self.block_names()),
        })
    }
}

/// Bodies that are read as one.
#[derive(Debug)]
struct MergedBody<'r>(Vec<Body<'r>>);

impl<'r> Body<'r> {
    /// Creates a body without content.
    pub fn empty() -> Self {
        Self::merged([])
    }

    /// Merges bodies in their order. An argument that two of them set is an error of the content.
    pub fn merged(bodies: impl IntoIterator<Item = Body<'r>>) -> Self {
        let mut parts = Vec::new();
        for body in bodies {
            match body.source().parts() {
                Some(inner) => parts.extend_from_slice(inner),
                None => parts.push(body),
            }
        }
        Self::of(MergedBody(parts))
    }
}

impl<'r> BodySource<'r> for MergedBody<'r> {
    /// Any of the bodies may set a required argument.
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        let mut optional = schema.clone();
        optional.attributes.values_mut().for_each(|attribute| attribute.required = false);
        let (mut attributes, mut blocks, mut rests) = (Attributes::new(), Vec::new(), Vec::new());
        for body in &self.0 {
            let (part, rest) = body.source().split(&optional, complete, diagnostics);
            add(&mut attributes, part.attributes, diagnostics);
            blocks.extend(part.blocks);
            rests.push(rest);
        }
        for wanted in schema.attributes.values().filter(|wanted| wanted.required) {
            if !attributes.contains_key(wanted.name.as_str()) {
                diagnostics.push(missing_argument(&wanted.name, None));
            }
        }
        (Content { attributes, blocks, missing_item: self.missing_item() }, Body::merged(rests))
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        let mut whole = Attributes::new();
        for body in &self.0 {
            let part = body.just_attributes(diagnostics);
            add(&mut whole, part, diagnostics);
        }
        whole
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        self.0.first()?.missing_item()
    }

    fn parts(&self) -> Option<&[Body<'r>]> {
        Some(&self.0)
    }
}

/// Adds the attributes of another body. The first of a name counts.
fn add<'r>(whole: &mut Attributes<'r>, part: Attributes<'r>, diagnostics: &mut DiagnosticList) {
    for (name, attribute) in part {
        match whole.get(name).map(Attribute::name_location) {
            Some(before) => diagnostics.push(duplicate_argument(name, before, attribute.name_location())),
            None => {
                whole.insert(name, attribute);
            }
        }
    }
}

/// An error of the structure of a body.
#[doc(hidden)]
pub fn structure(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputStructure, summary).with_detail(detail)
}

/// An error of the type of a value.
#[doc(hidden)]
pub fn mistyped(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputType, summary).with_detail(detail)
}

pub fn missing_argument(name: &str, location: Option<Location<'_>>) -> Box<Diagnostic> {
    locate(location, structure("Missing required argument", format!("The argument `{name}` is required, but not set.")))
}

pub fn duplicate_argument(name: &str, before: Location<'_>, location: Location<'_>) -> Box<Diagnostic> {
    let detail = format!("The argument `{name}` is already set at {}.", before.position());
    location.label(Diagnostic::new(Code::DuplicateDefinition, "Duplicate argument").with_detail(detail))
}

/// A block with too many or too few labels.
pub fn label_count(
    summary: String,
    name: &str,
    labels: &[String],
    location: Location<'_>,
    header: Span,
) -> Box<Diagnostic> {
    let detail = match labels {
        [] => format!("Blocks of type `{name}` have no labels."),
        [label] => format!("Blocks of type `{name}` have one label ({label})."),
        _ => format!("Blocks of type `{name}` have {} labels ({}).", labels.len(), labels.join(", ")),
    };
    location.label(structure(summary, detail)).with_context(header)
}

/// Collected diagnostics.
pub type DiagnosticList = Vec<Box<Diagnostic>>;

/// A span of a source.
#[derive(Debug, Clone, Copy)]
pub struct Location<'r> {
    /// The source.
    pub source: &'r Arc<Source>,
    /// The span in the source.
    pub span: Span,
}

impl Location<'_> {
    /// Labels a diagnostic with this location.
    pub fn label(self, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
        diagnostic.at(self.source, self.span, "")
    }

    /// Formats the start as `file:line:column`.
    pub fn position(&self) -> String {
        format!("{}:{}", self.source.path(), self.source.position(self.span.start))
    }
}

/// Labels a diagnostic with a location, if there is one.
#[doc(hidden)]
pub fn locate(location: Option<Location<'_>>, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
    match location {
        Some(location) => location.label(diagnostic),
        None => diagnostic,
    }
}
