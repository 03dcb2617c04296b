//! Decoding by a specification: what a body is made into, as a value of a known type.
//!
//! A [`Spec`] says which attributes and blocks a body holds and what value is made of them. It can be built in Rust, or
//! read from a file in a language of its own ([`SpecFile`]), which is the one that the `hcldec` tool of the reference
//! reads.
//!
//! ```
//! use dropforge::dialect::hcl::body::{Context, File};
//! use dropforge::dialect::hcl::{decode::{Collection, Spec}, registry};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::value::Type;
//! use dropforge::vm::Space;
//!
//! let source = Source::new("ports.hcl", "port { number = 80 }\nport { number = \"443\" }\n");
//! let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
//! let file = File::native(&source, &registry().into(), &limits);
//! let context = Context::new(&space, &limits);
//! let spec = Spec::blocks("port", Collection::List, Spec::attr("number", Type::Number, true));
//! let value = spec.decode(&file.body(), &context, &mut faults);
//! assert_eq!(serde_json::to_string(&value.to_data()).unwrap(), "[80,443]");
//! assert!(faults.is_empty());
//! ```

mod blocks;
mod dynamic;
mod implied;
mod language;
mod value;
mod variables;

pub use language::SpecFile;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::body::{Body, Context, Expression, Faults, Label, Place};
use crate::function::Builtin;
use crate::value::{Refinement, Type, Value};

/// What a body is made into.
#[derive(Debug, Clone)]
pub enum Spec<'r> {
    /// An object with a value of each.
    Object(Vec<(String, Spec<'r>)>),
    /// A tuple with a value of each.
    Tuple(Vec<Spec<'r>>),
    /// The value of an attribute, converted to a type; null where it is not set.
    Attr {
        /// The attribute's name.
        name: String,
        /// The type.
        ty: Type<'r>,
        /// Whether it must be set.
        required: bool,
    },
    /// This value.
    Literal(Value<'r>),
    /// The value of this expression, whatever is in the body.
    Expr(Expression<'r>),
    /// What the only block of a type is made into; null where there is none.
    Block {
        /// The type.
        name: String,
        /// What is made of the block.
        nested: Box<Spec<'r>>,
        /// Whether there must be one.
        required: bool,
    },
    /// What all blocks of a type are made into, as a collection.
    Blocks {
        /// The type.
        name: String,
        /// What is made of each block.
        nested: Box<Spec<'r>>,
        /// What they are collected in.
        into: Collection,
        /// How many there must be.
        least: usize,
        /// How many there may be.
        most: Option<usize>,
    },
    /// What all blocks of a type are made into, by their first labels.
    KeyedBlocks {
        /// The type.
        name: String,
        /// What the labels are called that are keys; at least one.
        labels: Vec<String>,
        /// What is made of each block. Its labels are those behind the keys.
        nested: Box<Spec<'r>>,
        /// What they are collected in, at the level of each label.
        into: Keyed,
    },
    /// A map of the attributes of the only block of a type; null where there is none.
    BlockAttrs {
        /// The type.
        name: String,
        /// What the values are converted to.
        element: Type<'r>,
        /// Whether there must be one.
        required: bool,
    },
    /// A label of the block that the body is of.
    BlockLabel {
        /// Which one, counted from 0.
        index: usize,
        /// What it is called.
        name: String,
    },
    /// The first, or the second where that is null. Only the first may be of blocks.
    Default(Box<Spec<'r>>, Box<Spec<'r>>),
    /// What is made of a value by an expression or a function.
    Transform(Box<Spec<'r>>, Transform<'r>),
    /// A value that is looked at.
    Validate(Box<Spec<'r>>, Check<'r>),
    /// A value of which more is known than its expression says: a promise that is not checked.
    Refine(Box<Spec<'r>>, Refinement<'r>),
}

/// What blocks are collected in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    /// A list: what is made of the blocks is unified.
    List,
    /// A set: what is made of the blocks is unified.
    Set,
    /// A tuple: what is made of each block stays as it is.
    Tuple,
}

/// What blocks are collected in by their labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyed {
    /// A map. What is made of the blocks has one type.
    Map,
    /// An object.
    Object,
}

/// What is made of a value.
#[derive(Debug, Clone)]
pub enum Transform<'r> {
    /// The value of an expression that has it as a variable.
    Expr {
        /// The expression.
        expr: Expression<'r>,
        /// Where it is evaluated.
        context: Context<'r>,
        /// The variable's name.
        variable: &'r str,
    },
    /// This value, whatever it is.
    Value(Value<'r>),
    /// The answer of a function of one argument.
    Function(Arc<Builtin>),
}

/// Looks at a value and says what is wrong with it. Where it says no place, the value's is meant.
#[derive(Clone)]
pub struct Check<'r>(pub Rc<dyn Fn(Value<'r>) -> Faults + 'r>);

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

    /// What the only block of a type is made into.
    pub fn block(name: impl Into<String>, nested: Spec<'r>, required: bool) -> Self {
        Self::Block { name: name.into(), nested: Box::new(nested), required }
    }

    /// What all blocks of a type are made into, however many there are.
    pub fn blocks(name: impl Into<String>, into: Collection, nested: Spec<'r>) -> Self {
        Self::Blocks { name: name.into(), nested: Box::new(nested), into, least: 0, most: None }
    }

    /// What all blocks of a type are made into, by their first labels.
    pub fn keyed_blocks(name: impl Into<String>, labels: &[&str], into: Keyed, nested: Spec<'r>) -> Self {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Self::KeyedBlocks { name: name.into(), labels, nested: Box::new(nested), into }
    }

    /// What a body is made into. What is wrong is added to `faults`; what could not be made is unknown in the value.
    pub fn decode(&self, body: &Body<'r>, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
        self.decode_block(body, &[], context, faults)
    }

    /// The same of a body that may hold more, and a body of the rest.
    pub fn partial_decode(&self, body: &Body<'r>, context: &Context<'r>, faults: &mut Faults) -> (Value<'r>, Body<'r>) {
        let (content, rest) = body.partial_content(&self.implied_schema(), faults);
        let value = self.value(&content, &[], context, faults);
        (context.arena().marked(value, body.marks()), rest)
    }

    /// What the body of a block with these labels is made into.
    pub(super) fn decode_block(
        &self,
        body: &Body<'r>,
        labels: &[Label],
        context: &Context<'r>,
        faults: &mut Faults,
    ) -> Value<'r> {
        let content = body.content(&self.implied_schema(), faults);
        let value = self.value(&content, labels, context, faults);
        context.arena().marked(value, body.marks())
    }

    /// The place in a body of what the value is made of; where that is missing, where it would be reported.
    pub fn source_range(&self, body: &Body<'r>) -> Option<Place<'r>> {
        self.place_in(body, &[])
    }
}
