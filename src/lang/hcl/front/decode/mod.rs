//! Decoding by a specification: bodies as values of a known type.
//!
//! A [`Spec`] describes the attributes and blocks of a body and the value they become. It is built in Rust, or read
//! from a specification file ([`SpecFile`]), which the reference's tool `hcldec` reads, too.
//!
//! ```
//! use dropforge::hcl::body::{Context, File};
//! use dropforge::{Dialect, Engine, hcl::decode::{Collection, Spec}};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::value::Type;
//! use dropforge::Space;
//!
//! let source = Source::new("ports.hcl", "port { number = 80 }\nport { number = \"443\" }\n");
//! let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
//! let file = File::native(&source, Engine::new().registry(Dialect::Hcl), &limits);
//! let context = Context::new(&space, &limits);
//! let spec = Spec::blocks("port", Collection::List, Spec::attr("number", Type::Number, true));
//! let value = spec.decode(&file.body(), &context, &mut diagnostics);
//! assert_eq!(serde_json::to_string(&value.to_data()).unwrap(), "[80,443]");
//! assert!(diagnostics.is_empty());
//! ```

mod decoder;
mod spec_file;

use std::fmt;
use std::rc::Rc;

use crate::argument_gate::{invoke, reason};
use crate::body::{
    Block, Body, BodyExpression, BodySchema, Content, Context, DiagnosticList, DynamicNode, Label, Location, Reference,
    mistyped, visit_dynamic,
};
use crate::values::{type_of, without_optional};
use decoder::Decoder;
use dropforge_base::text::Span;
use dropforge_machine::function::Function;
use dropforge_value::{Attribute, Refinement, Type, Value};

pub use spec_file::SpecFile;

/// The specification of a value that a body decodes to.
#[derive(Debug, Clone)]
pub enum Spec<'r> {
    /// An object of the values of these specifications.
    Object(Vec<(String, Spec<'r>)>),
    /// A tuple of the values of these specifications.
    Tuple(Vec<Spec<'r>>),
    /// The value of an attribute, converted to a type. Null if it is not set.
    Attr {
        /// The name of the attribute.
        name: String,
        /// The type.
        ty: Type<'r>,
        /// `true` if it must be set.
        required: bool,
    },
    /// A constant value.
    Literal(Value<'r>),
    /// The value of an expression.
    Expr(BodyExpression<'r>),
    /// The value of the only block of a type. Null without such a block.
    Block {
        /// The type of the block.
        name: String,
        /// The specification of the block.
        nested: Box<Spec<'r>>,
        /// `true` if there must be a block.
        required: bool,
    },
    /// A collection of the values of all blocks of a type.
    Blocks {
        /// The type of the blocks.
        name: String,
        /// The specification of each block.
        nested: Box<Spec<'r>>,
        /// The collection.
        into: Collection,
        /// The minimum number of blocks.
        least: usize,
        /// The maximum number of blocks.
        most: Option<usize>,
    },
    /// The values of all blocks of a type, by their first labels.
    KeyedBlocks {
        /// The type of the blocks.
        name: String,
        /// The names of the labels that are keys, at least one.
        labels: Vec<String>,
        /// The specification of each block, whose labels are those after the keys.
        nested: Box<Spec<'r>>,
        /// The collection of each level.
        into: Keyed,
    },
    /// A map of the attributes of the only block of a type. Null without such a block.
    BlockAttrs {
        /// The type of the block.
        name: String,
        /// The type of the elements.
        element: Type<'r>,
        /// `true` if there must be a block.
        required: bool,
    },
    /// A label of the block of the body.
    BlockLabel {
        /// The index of the label.
        index: usize,
        /// The name of the label.
        name: String,
    },
    /// The first value, or the second if the first is null. Only the first may be of blocks.
    Default(Box<Spec<'r>>, Box<Spec<'r>>),
    /// A transformed value.
    Transform(Box<Spec<'r>>, Transform<'r>),
    /// A validated value.
    Validate(Box<Spec<'r>>, Check<'r>),
    /// A value with a refinement if it is unknown. The refinement is not checked.
    Refine(Box<Spec<'r>>, Refinement<'r>),
}

/// A collection of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    /// A list of values with a unified type.
    List,
    /// A set of values with a unified type.
    Set,
    /// A tuple.
    Tuple,
}

/// A collection of blocks by label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyed {
    /// A map of values of one type.
    Map,
    /// An object.
    Object,
}

/// A transformation of a value.
#[derive(Debug, Clone)]
pub enum Transform<'r> {
    /// The value of an expression, which has the original value as a variable.
    Expr {
        /// The expression.
        expr: BodyExpression<'r>,
        /// The context of the expression.
        context: Context<'r>,
        /// The name of the variable.
        variable: &'r str,
    },
    /// A constant value.
    Value(Value<'r>),
    /// The result of a function of one argument.
    Function(Function),
}

/// A validation of a value. Diagnostics without a location get that of the value.
#[derive(Clone)]
pub struct Check<'r>(pub Rc<dyn Fn(Value<'r>) -> DiagnosticList + 'r>);

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

impl<'r> Spec<'r> {
    /// The value of an attribute, converted to a type.
    pub fn attr(name: impl Into<String>, ty: Type<'r>, required: bool) -> Self {
        Self::Attr { name: name.into(), ty, required }
    }

    /// The value of the only block of a type.
    pub fn block(name: impl Into<String>, nested: Spec<'r>, required: bool) -> Self {
        Self::Block { name: name.into(), nested: Box::new(nested), required }
    }

    /// The values of any number of blocks of a type.
    pub fn blocks(name: impl Into<String>, into: Collection, nested: Spec<'r>) -> Self {
        Self::Blocks { name: name.into(), nested: Box::new(nested), into, least: 0, most: None }
    }

    /// The specifications in this one that decode the same body.
    fn same_body(&self) -> Vec<&Spec<'r>> {
        match self {
            Spec::Object(entries) => entries.iter().map(|(_, spec)| spec).collect(),
            Spec::Tuple(items) => items.iter().collect(),
            Spec::Default(first, second) => vec![first, second],
            Spec::Transform(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => vec![wrapped],
            _ => Vec::new(),
        }
    }

    /// Returns the location in a body of the decoded value, or of errors about its absence.
    pub fn source_range(&self, body: &Body<'r>) -> Option<Location<'r>> {
        self.location_in(body, &[])
    }

    fn location_in(&self, body: &Body<'r>, labels: &[Label]) -> Option<Location<'r>> {
        let (content, _) = body.partial_content(&self.implied_schema(), &mut Vec::new());
        self.location(&content, labels)
    }

    /// Returns the location in a block of its value.
    fn location_in_block(&self, block: &Block<'r>) -> Option<Location<'r>> {
        self.location_in(&block.body, &block.labels)
    }

    fn location(&self, content: &Content<'r>, labels: &[Label]) -> Option<Location<'r>> {
        let first = |name: &str| content.blocks_of(name).next();
        match self {
            Spec::Attr { name, .. } => match content.attributes.get(name.as_str()) {
                Some(attribute) => Some(attribute.expr.location()),
                None => content.missing_item,
            },
            Spec::Literal(_) => None,
            Spec::Expr(expr) => Some(expr.location()),
            Spec::Block { name, nested, .. } | Spec::Blocks { name, nested, .. } => match first(name) {
                Some(block) => nested.location_in_block(block),
                None => content.missing_item,
            },
            Spec::KeyedBlocks { name, labels, nested, .. } => match first(name) {
                Some(block) => nested.location_in(&block.body, block.labels.get(labels.len()..).unwrap_or(&[])),
                None => content.missing_item,
            },
            Spec::BlockAttrs { name, .. } => first(name).map(Block::location).or(content.missing_item),
            Spec::BlockLabel { index, .. } => {
                let span = labels.get(*index).map_or(Span::default(), |label| label.range);
                content.missing_item.map(|location| Location { span, ..location })
            }
            Spec::Default(wrapped, _)
            | Spec::Transform(wrapped, _)
            | Spec::Validate(wrapped, _)
            | Spec::Refine(wrapped, _) => wrapped.location(content, labels),
            Spec::Object(_) | Spec::Tuple(_) => content.missing_item,
        }
    }
}

impl<'r> Spec<'r> {
    /// Returns the variables that decoding `body` reads.
    pub fn variables(&self, body: &Body<'r>) -> Vec<Reference<'r>> {
        let (content, _) = body.partial_content(&self.implied_schema(), &mut Vec::new());
        let mut found = Vec::new();
        self.add_variables(&content, &mut found);
        found
    }

    fn add_variables(&self, content: &Content<'r>, found: &mut Vec<Reference<'r>>) {
        match self {
            Spec::Attr { name, .. } => {
                let attribute = content.attributes.get(name.as_str()).into_iter();
                found.extend(attribute.flat_map(|attribute| attribute.expr.variables()));
            }
            Spec::Expr(expr) => found.extend(expr.variables()),
            Spec::Block { name, nested, .. } => {
                found.extend(content.blocks_of(name).take(1).flat_map(|block| nested.variables(&block.body)));
            }
            Spec::Blocks { name, nested, .. } | Spec::KeyedBlocks { name, nested, .. } => {
                found.extend(content.blocks_of(name).flat_map(|block| nested.variables(&block.body)));
            }
            Spec::BlockAttrs { name, .. } => {
                let Some(block) = content.blocks_of(name).next() else { return };
                let mut diagnostics = Vec::new();
                let attributes = block.body.just_attributes(&mut diagnostics);
                if diagnostics.is_empty() {
                    found.extend(attributes.values().flat_map(|attribute| attribute.expr.variables()));
                }
            }
            _ => self.same_body().iter().for_each(|spec| spec.add_variables(content, found)),
        }
    }

    /// Returns the variables that expanding the `dynamic` blocks of `body` reads and, with `content`, those that
    /// decoding the result reads. Iterators are left out.
    pub fn dynamic_variables(&self, body: &Body<'r>, content: bool) -> Vec<Reference<'r>> {
        let mut found = Vec::new();
        self.add_dynamic(&DynamicNode::root(body.clone()), content, &mut found);
        found
    }

    fn add_dynamic(&self, node: &DynamicNode<'r>, content: bool, found: &mut Vec<Reference<'r>>) {
        let (variables, children) = visit_dynamic(node, &self.implied_schema(), content);
        found.extend(variables);
        for child in children {
            if let Some(nested) = self.nested(child.name()) {
                nested.add_dynamic(&child, content, found);
            }
        }
    }

    /// Returns the specification of blocks of a type.
    fn nested(&self, name: &str) -> Option<&Spec<'r>> {
        match self {
            Spec::Block { name: own, nested, .. }
            | Spec::Blocks { name: own, nested, .. }
            | Spec::KeyedBlocks { name: own, nested, .. } => (own == name).then_some(nested),
            _ => self.same_body().into_iter().find_map(|spec| spec.nested(name)),
        }
    }
}

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
    fn implied_type(&mut self, spec: &Spec<'r>) -> Type<'r> {
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
            Spec::Default(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => {
                self.implied_type(wrapped)
            }
            Spec::Transform(wrapped, transform) => {
                let unknown = arena.unknown(self.value_type(wrapped));
                self.transformed_type(transform, unknown)
            }
            Spec::Expr(_) | Spec::Blocks { .. } | Spec::KeyedBlocks { .. } => Type::Dynamic,
        }
    }

    /// Returns the implied type without optional attributes, which is the type of values.
    fn value_type(&mut self, spec: &Spec<'r>) -> Type<'r> {
        without_optional(self.context.arena(), self.implied_type(spec))
    }

    /// Returns the type of the transformed value.
    fn transformed_type(&mut self, transform: &Transform<'r>, unknown: Value<'r>) -> Type<'r> {
        let value = match transform {
            Transform::Expr { expr, context, variable } => {
                expr.evaluate(&context.child([(*variable, unknown)]), &mut Vec::new())
            }
            Transform::Value(value) => *value,
            Transform::Function(function) => match self.context.with_cx(|cx| invoke(cx, function, &[unknown])) {
                Ok(value) => value,
                Err(_) => return Type::Dynamic,
            },
        };
        self.type_of(value)
    }

    fn type_of(&mut self, value: Value<'r>) -> Type<'r> {
        let error = |wrong: &_| mistyped("Invalid value", reason(wrong));
        self.attempt(|cx| type_of(cx, value), error).unwrap_or(Type::Dynamic)
    }
}
