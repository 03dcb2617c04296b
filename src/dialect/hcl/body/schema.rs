//! Schemas of bodies.

/// The attributes and blocks that a body may have. Missing attributes are reported in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// The attributes.
    pub attributes: Vec<AttributeSchema>,
    /// The blocks.
    pub blocks: Vec<BlockSchema>,
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

    pub(in crate::dialect::hcl) fn add_attribute(&mut self, name: String, required: bool) {
        match self.attributes.iter_mut().find(|attribute| attribute.name == name) {
            Some(attribute) => attribute.required |= required,
            None => self.attributes.push(AttributeSchema { name, required }),
        }
    }

    /// Adds a type of blocks, or replaces its labels.
    pub(in crate::dialect::hcl) fn add_block(&mut self, name: String, labels: Vec<String>) {
        match self.blocks.iter_mut().find(|block| block.name == name) {
            Some(block) => block.labels = labels,
            None => self.blocks.push(BlockSchema { name, labels }),
        }
    }

    /// Returns `true` if there is an attribute of this name.
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.attribute_names().any(|attribute| attribute == name)
    }

    /// The names of the attributes.
    pub(super) fn attribute_names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|attribute| attribute.name.as_str())
    }

    /// Returns the blocks of this type.
    pub(super) fn block_of(&self, name: &str) -> Option<&BlockSchema> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// The types of the blocks.
    pub(super) fn block_names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|block| block.name.as_str())
    }
}
