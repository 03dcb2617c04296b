//! Specifications.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::dialect::hcl::body::{Context, DiagnosticList, Expression};
use crate::function::Builtin;
use crate::value::{Refinement, Type, Value};

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
    Expr(Expression<'r>),
    /// The value of the only block of a type. Null if there is none.
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
    /// A map of the attributes of the only block of a type. Null if there is none.
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
        expr: Expression<'r>,
        /// The context of the expression.
        context: Context<'r>,
        /// The name of the variable.
        variable: &'r str,
    },
    /// A constant value.
    Value(Value<'r>),
    /// The result of a function of one argument.
    Function(Arc<Builtin>),
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

    /// The values of all blocks of a type, by their first labels.
    pub fn keyed_blocks(name: impl Into<String>, labels: &[&str], into: Keyed, nested: Spec<'r>) -> Self {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Self::KeyedBlocks { name: name.into(), labels, nested: Box::new(nested), into }
    }

    /// The specifications in this one that decode the same body.
    pub(super) fn same_body(&self) -> Vec<&Spec<'r>> {
        match self {
            Spec::Object(entries) => entries.iter().map(|(_, spec)| spec).collect(),
            Spec::Tuple(items) => items.iter().collect(),
            Spec::Default(first, second) => vec![first, second],
            Spec::Transform(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => vec![wrapped],
            _ => Vec::new(),
        }
    }

    /// The type of the blocks to decode, and the specification of each.
    pub(super) fn block_type(&self) -> Option<(&str, Option<&Spec<'r>>)> {
        match self {
            Spec::Block { name, nested, .. }
            | Spec::Blocks { name, nested, .. }
            | Spec::KeyedBlocks { name, nested, .. } => Some((name, Some(nested))),
            Spec::BlockAttrs { name, .. } => Some((name, None)),
            _ => None,
        }
    }
}
