//! What a body may hold.

/// What a body may hold: attributes by name, blocks by type. The order is that in which missing attributes are reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    /// The attributes.
    pub attributes: Vec<AttributeSchema>,
    /// The blocks.
    pub blocks: Vec<BlockSchema>,
}

/// An attribute that a body may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeSchema {
    /// Its name.
    pub name: String,
    /// Whether the body must hold it.
    pub required: bool,
}

/// A type of blocks that a body may hold any number of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSchema {
    /// The type.
    pub name: String,
    /// What each of the labels is called that such a block must have.
    pub labels: Vec<String>,
}

impl Schema {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// With an attribute that may be there. A name that is there already stays as it is, but becomes required where
    /// either is.
    pub fn attribute(self, name: impl Into<String>, required: bool) -> Self {
        let mut schema = self;
        schema.add_attribute(name.into(), required);
        schema
    }

    /// With an attribute that may be there.
    pub fn optional(self, name: impl Into<String>) -> Self {
        self.attribute(name, false)
    }

    /// With an attribute that must be there.
    pub fn required(self, name: impl Into<String>) -> Self {
        self.attribute(name, true)
    }

    /// With blocks of a type, and what their labels are called.
    pub fn block(self, name: impl Into<String>, labels: &[&str]) -> Self {
        let mut schema = self;
        schema.add_block(name.into(), labels.iter().map(|label| (*label).to_owned()).collect());
        schema
    }

    pub(crate) fn add_attribute(&mut self, name: String, required: bool) {
        match self.attributes.iter_mut().find(|attribute| attribute.name == name) {
            Some(attribute) => attribute.required |= required,
            None => self.attributes.push(AttributeSchema { name, required }),
        }
    }

    /// Of a type that comes twice the last one counts.
    pub(crate) fn add_block(&mut self, name: String, labels: Vec<String>) {
        match self.blocks.iter_mut().find(|block| block.name == name) {
            Some(block) => block.labels = labels,
            None => self.blocks.push(BlockSchema { name, labels }),
        }
    }

    /// Whether there is an attribute of this name.
    pub(in crate::dialect::hcl) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.name == name)
    }

    /// The blocks of this type.
    pub(in crate::dialect::hcl) fn block_of(&self, name: &str) -> Option<&BlockSchema> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// The types of blocks.
    pub(super) fn block_names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|block| block.name.as_str())
    }
}
