//! Bodies, attributes and blocks with their text.

use std::fmt;

use super::{EditExpression, identifier, quoted};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The content of a block or a file: items, and the text between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EditBody {
    /// The text after the opening brace on its line, or the byte order mark of a file.
    pub(super) open: String,
    pub(super) items: Vec<BodyItem>,
    /// The blanks before the closing brace.
    pub(super) close: String,
    pub(super) style: Style,
}

/// The style of new lines in a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Style {
    /// The blanks before an item.
    pub(super) indent: String,
    /// The blanks before the block. A file has none.
    pub(super) outer: Option<String>,
    /// `true` if lines end with `\r\n`.
    pub(super) crlf: bool,
}

impl Style {
    fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// The style of a block in the body.
    pub(super) fn inner(&self) -> Self {
        let outer = Some(self.indent.clone());
        Self { indent: format!("{}  ", self.indent), outer, crlf: self.crlf }
    }
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BodyItem {
    Attribute(EditAttribute),
    Block(Box<EditBlock>),
    /// Blank lines and comments that belong to no item.
    Other(String),
}

/// An attribute with the comments directly above and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditAttribute {
    pub(super) lead: String,
    pub(super) name: String,
    pub(super) equals: String,
    pub(super) value: EditExpression,
    pub(super) tail: String,
}

impl EditAttribute {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value.
    pub fn value(&self) -> &EditExpression {
        &self.value
    }
}

impl fmt::Display for EditAttribute {
    /// Writes all of its lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}{}{}", self.lead, self.name, self.equals, self.value, self.tail)
    }
}

/// A block with the comments directly above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditBlock {
    pub(super) lead: String,
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    /// The text from the type to the opening brace.
    pub(super) header: String,
    pub(super) body: EditBody,
    /// The text after the closing brace on its line.
    pub(super) tail: String,
}

impl EditBlock {
    /// The type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the type.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if it is not an identifier.
    pub fn set_name(&mut self, name: &str) -> Result<()> {
        self.name = identifier(name)?.to_owned();
        Ok(())
    }

    /// The decoded labels.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Sets the labels, in quotes. Comments between the old labels are removed.
    pub fn set_labels<S: AsRef<str>>(&mut self, labels: &[S]) {
        self.labels = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        self.header = header(&self.labels);
    }

    /// The body.
    pub fn body(&self) -> &EditBody {
        &self.body
    }

    /// The body, to edit.
    pub fn body_mut(&mut self) -> &mut EditBody {
        &mut self.body
    }
}

fn header(labels: &[String]) -> String {
    let mut text = String::from(" ");
    for label in labels {
        quoted(label, &mut text);
        text.push(' ');
    }
    text
}

impl fmt::Display for EditBlock {
    /// Writes all of its lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}{{{}}}{}", self.lead, self.name, self.header, self.body, self.tail)
    }
}

impl fmt::Display for BodyItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyItem::Attribute(attribute) => attribute.fmt(f),
            BodyItem::Block(block) => block.fmt(f),
            BodyItem::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for EditBody {
    /// Writes the body without braces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.open)?;
        self.items.iter().try_for_each(|item| item.fmt(f))?;
        f.write_str(&self.close)
    }
}

impl EditBody {
    /// The attributes, in source order.
    pub fn attributes(&self) -> impl Iterator<Item = &EditAttribute> {
        self.items
            .iter()
            .filter_map(|item| if let BodyItem::Attribute(attribute) = item { Some(attribute) } else { None })
    }

    /// Returns the attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&EditAttribute> {
        self.attributes().find(|attribute| attribute.name == name)
    }

    /// The blocks, in source order.
    pub fn blocks(&self) -> impl Iterator<Item = &EditBlock> {
        self.items.iter().filter_map(|item| if let BodyItem::Block(block) = item { Some(&**block) } else { None })
    }

    /// The blocks, in source order, to edit.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut EditBlock> {
        self.items
            .iter_mut()
            .filter_map(|item| if let BodyItem::Block(block) = item { Some(&mut **block) } else { None })
    }

    /// Returns the first block of a type with exactly these labels.
    pub fn block<S: AsRef<str>>(&self, name: &str, labels: &[S]) -> Option<&EditBlock> {
        self.blocks().find(|block| is_block(block, name, labels))
    }

    /// Returns the first block of a type with exactly these labels, to edit.
    pub fn block_mut<S: AsRef<str>>(&mut self, name: &str, labels: &[S]) -> Option<&mut EditBlock> {
        self.blocks_mut().find(|block| is_block(block, name, labels))
    }

    /// Sets the value of the attribute `name`, or appends a new attribute.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the name is not an identifier.
    pub fn set(&mut self, name: &str, value: EditExpression) -> Result<()> {
        identifier(name)?;
        if value.has_lines() {
            self.use_lines();
        }
        let value = EditExpression::of_source(&value.indented(&self.style.indent));
        match self.attribute_mut(name) {
            Some(attribute) => attribute.value = value,
            None => {
                let (lead, tail) = self.new_line();
                let name = name.to_owned();
                self.items.push(BodyItem::Attribute(EditAttribute {
                    lead,
                    name,
                    equals: " = ".to_owned(),
                    value,
                    tail,
                }));
            }
        }
        Ok(())
    }

    /// Removes an attribute with its comments, and returns it.
    pub fn remove(&mut self, name: &str) -> Option<EditAttribute> {
        let is_it = |item: &mut BodyItem| matches!(item, BodyItem::Attribute(attribute) if attribute.name == name);
        match self.items.extract_if(.., is_it).next()? {
            BodyItem::Attribute(attribute) => Some(attribute),
            _ => None,
        }
    }

    /// Renames an attribute. Returns `false` without such an attribute, or with one of the new name.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the new name is not an identifier.
    pub fn rename(&mut self, name: &str, new: &str) -> Result<bool> {
        identifier(new)?;
        if self.attribute(new).is_some() {
            return Ok(false);
        }
        Ok(self.attribute_mut(name).map(|attribute| attribute.name = new.to_owned()).is_some())
    }

    fn attribute_mut(&mut self, name: &str) -> Option<&mut EditAttribute> {
        self.items.iter_mut().find_map(|item| match item {
            BodyItem::Attribute(attribute) if attribute.name == name => Some(attribute),
            _ => None,
        })
    }

    /// Appends an empty block.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the type is not an identifier.
    pub fn append_block<S: AsRef<str>>(&mut self, name: &str, labels: &[S]) -> Result<&mut EditBlock> {
        let name = identifier(name)?.to_owned();
        let (lead, tail) = self.new_line();
        let labels: Vec<String> = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        let mut body = EditBody { style: self.style.inner(), ..EditBody::default() };
        body.use_lines();
        self.items.push(BodyItem::Block(Box::new(EditBlock {
            lead,
            name,
            header: header(&labels),
            labels,
            body,
            tail,
        })));
        match self.items.last_mut() {
            Some(BodyItem::Block(block)) => Ok(block),
            _ => Err(Diagnostic::new(Code::Internal, "an appended block is missing")),
        }
    }

    /// Removes the first block of a type with exactly these labels and the comments above it, and returns it.
    pub fn remove_block<S: AsRef<str>>(&mut self, name: &str, labels: &[S]) -> Option<EditBlock> {
        let is_it = |item: &mut BodyItem| matches!(item, BodyItem::Block(block) if is_block(block, name, labels));
        match self.items.extract_if(.., is_it).next()? {
            BodyItem::Block(block) => Some(*block),
            _ => None,
        }
    }

    /// Appends an empty line.
    pub fn append_empty_line(&mut self) {
        let (_, line_end) = self.new_line();
        self.items.push(BodyItem::Other(line_end));
    }

    /// Removes all content.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Starts a line at the end, and returns the text before and after its new item.
    fn new_line(&mut self) -> (String, String) {
        self.use_lines();
        if self.style.outer.is_none() && !self.close.is_empty() {
            self.items.push(BodyItem::Other(std::mem::take(&mut self.close)));
        }
        let line_end = self.style.line_end();
        if let Some(text) = self.items.last_mut().and_then(BodyItem::end_mut)
            && !text.ends_with('\n')
        {
            text.push_str(line_end);
        }
        (self.style.indent.clone(), line_end.to_owned())
    }

    /// Splits a block on one line into a line for each item.
    fn use_lines(&mut self) {
        let Some(outer) = &self.style.outer else { return };
        if self.open.ends_with('\n') {
            return;
        }
        let line_end = self.style.line_end();
        self.open.push_str(line_end);
        self.close.clone_from(outer);
        for item in &mut self.items {
            if let Some(text) = item.begin_mut() {
                *text = format!("{}{}", self.style.indent, text.trim_start_matches([' ', '\t']));
            }
            if let Some(text) = item.end_mut() {
                text.push_str(line_end);
            }
        }
    }
}

impl BodyItem {
    /// The blanks before the item on its line.
    pub(super) fn indent(&self) -> Option<&str> {
        let lead = match self {
            BodyItem::Attribute(attribute) => &attribute.lead,
            BodyItem::Block(block) => &block.lead,
            BodyItem::Other(_) => return None,
        };
        lead.rsplit('\n').next()
    }

    /// The text that the item starts with.
    fn begin_mut(&mut self) -> Option<&mut String> {
        Some(match self {
            BodyItem::Attribute(attribute) => &mut attribute.lead,
            BodyItem::Block(block) => &mut block.lead,
            BodyItem::Other(text) if text.is_empty() => return None,
            BodyItem::Other(text) => text,
        })
    }

    /// The text that the item ends with.
    fn end_mut(&mut self) -> Option<&mut String> {
        Some(match self {
            BodyItem::Attribute(attribute) => &mut attribute.tail,
            BodyItem::Block(block) => &mut block.tail,
            BodyItem::Other(text) if text.is_empty() => return None,
            BodyItem::Other(text) => text,
        })
    }
}

fn is_block<S: AsRef<str>>(block: &EditBlock, name: &str, labels: &[S]) -> bool {
    block.name == name && block.labels.iter().map(String::as_str).eq(labels.iter().map(AsRef::as_ref))
}
