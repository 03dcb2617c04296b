//! Bodies, attributes and blocks as they are written.

use std::fmt;

use super::expression::{Expression, identifier};
use super::literal::quoted;
use crate::diagnostics::{Code, Diagnostic, Result};

/// What stands between the braces of a block, or in a file: items, and the text between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    /// What is behind the opening brace on its line; of a file, a byte order mark.
    pub(super) open: String,
    pub(super) items: Vec<Item>,
    /// Blanks before the closing brace.
    pub(super) close: String,
    pub(super) style: Style,
}

/// How new lines of a body are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Style {
    /// The blanks before an item.
    pub(super) indent: String,
    /// The blanks before the block itself; none for a file.
    pub(super) outer: Option<String>,
    /// Whether lines end in `\r\n`.
    pub(super) crlf: bool,
}

impl Style {
    fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// The style of a block in a body of this one.
    pub(super) fn inner(&self) -> Self {
        let outer = Some(self.indent.clone());
        Self { indent: format!("{}  ", self.indent), outer, crlf: self.crlf }
    }
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Attribute(Attribute),
    Block(Box<Block>),
    /// Blank lines, and comments that belong to no item.
    Other(String),
}

/// An attribute, with the comments right above it and the one behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    pub(super) lead: String,
    pub(super) name: String,
    pub(super) equals: String,
    pub(super) value: Expression,
    pub(super) tail: String,
}

impl Attribute {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value as it is written.
    pub fn value(&self) -> &Expression {
        &self.value
    }
}

impl fmt::Display for Attribute {
    /// All of its lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}{}{}", self.lead, self.name, self.equals, self.value, self.tail)
    }
}

/// A block, with the comments right above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub(super) lead: String,
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    /// From the type up to the opening brace.
    pub(super) header: String,
    pub(super) body: Body,
    /// What is behind the closing brace on its line.
    pub(super) tail: String,
}

impl Block {
    /// Its type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it another type.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where that is no name.
    pub fn set_name(&mut self, name: &str) -> Result<()> {
        self.name = identifier(name)?.to_owned();
        Ok(())
    }

    /// Its labels, decoded.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Gives it other labels, in quotes. Comments between the old ones go with them.
    pub fn set_labels<S: AsRef<str>>(&mut self, labels: &[S]) {
        self.labels = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        self.header = header(&self.labels);
    }

    /// What is in it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// What is in it, to be changed.
    pub fn body_mut(&mut self) -> &mut Body {
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

impl fmt::Display for Block {
    /// All of its lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}{{{}}}{}", self.lead, self.name, self.header, self.body, self.tail)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Attribute(attribute) => attribute.fmt(f),
            Item::Block(block) => block.fmt(f),
            Item::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Body {
    /// All of it without braces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.open)?;
        self.items.iter().try_for_each(|item| item.fmt(f))?;
        f.write_str(&self.close)
    }
}

impl Body {
    /// The attributes, in order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.items.iter().filter_map(|item| if let Item::Attribute(attribute) = item { Some(attribute) } else { None })
    }

    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes().find(|attribute| attribute.name == name)
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| if let Item::Block(block) = item { Some(&**block) } else { None })
    }

    /// The blocks, in order, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        self.items.iter_mut().filter_map(|item| if let Item::Block(block) = item { Some(&mut **block) } else { None })
    }

    /// The first block of a type with just these labels.
    pub fn block<S: AsRef<str>>(&self, name: &str, labels: &[S]) -> Option<&Block> {
        self.blocks().find(|block| is_block(block, name, labels))
    }

    /// The first block of a type with just these labels, to be changed.
    pub fn block_mut<S: AsRef<str>>(&mut self, name: &str, labels: &[S]) -> Option<&mut Block> {
        self.blocks_mut().find(|block| is_block(block, name, labels))
    }

    /// Gives the attribute `name` a value; where there is none, a new one at the end.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where the name is none.
    pub fn set(&mut self, name: &str, value: Expression) -> Result<()> {
        identifier(name)?;
        if value.has_lines() {
            self.use_lines();
        }
        let value = Expression::of_source(&value.indented(&self.style.indent));
        let old = self.items.iter_mut().find_map(|item| match item {
            Item::Attribute(attribute) if attribute.name == name => Some(attribute),
            _ => None,
        });
        match old {
            Some(attribute) => attribute.value = value,
            None => {
                let (lead, tail) = self.new_line();
                let name = name.to_owned();
                self.items.push(Item::Attribute(Attribute { lead, name, equals: " = ".to_owned(), value, tail }));
            }
        }
        Ok(())
    }

    /// Removes an attribute with its comments, and gives it back.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let is_it = |item: &Item| matches!(item, Item::Attribute(attribute) if attribute.name == name);
        let at = self.items.iter().position(is_it)?;
        match self.items.remove(at) {
            Item::Attribute(attribute) => Some(attribute),
            _ => None,
        }
    }

    /// Gives an attribute another name: whether there is one, and none of the new name.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where the new name is none.
    pub fn rename(&mut self, name: &str, new: &str) -> Result<bool> {
        identifier(new)?;
        if self.attribute(new).is_some() {
            return Ok(false);
        }
        let found = self.items.iter_mut().find_map(|item| match item {
            Item::Attribute(attribute) if attribute.name == name => Some(attribute),
            _ => None,
        });
        Ok(found.map(|attribute| attribute.name = new.to_owned()).is_some())
    }

    /// Appends an empty block.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where the type is no name.
    pub fn append_block<S: AsRef<str>>(&mut self, name: &str, labels: &[S]) -> Result<&mut Block> {
        let name = identifier(name)?.to_owned();
        let (lead, tail) = self.new_line();
        let labels: Vec<String> = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        let mut body = Body { style: self.style.inner(), ..Body::default() };
        body.use_lines();
        self.items.push(Item::Block(Box::new(Block { lead, name, header: header(&labels), labels, body, tail })));
        match self.items.last_mut() {
            Some(Item::Block(block)) => Ok(block),
            _ => Err(Diagnostic::new(Code::Internal, "a block that was appended is not there")),
        }
    }

    /// Removes the first block of a type with just these labels, with the comments above it, and gives it back.
    pub fn remove_block<S: AsRef<str>>(&mut self, name: &str, labels: &[S]) -> Option<Block> {
        let is_it = |item: &Item| matches!(item, Item::Block(block) if is_block(block, name, labels));
        let at = self.items.iter().position(is_it)?;
        match self.items.remove(at) {
            Item::Block(block) => Some(*block),
            _ => None,
        }
    }

    /// Appends an empty line.
    pub fn append_empty_line(&mut self) {
        let (_, line_end) = self.new_line();
        self.items.push(Item::Other(line_end));
    }

    /// Removes everything that is in it.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// What is before and behind a new item, on a line of its own at the end.
    fn new_line(&mut self) -> (String, String) {
        self.use_lines();
        if self.style.outer.is_none() && !self.close.is_empty() {
            self.items.push(Item::Other(std::mem::take(&mut self.close)));
        }
        let line_end = self.style.line_end();
        if let Some(text) = self.items.last_mut().and_then(Item::end_mut)
            && !text.ends_with('\n')
        {
            text.push_str(line_end);
        }
        (self.style.indent.clone(), line_end.to_owned())
    }

    /// Puts the items of a block that stands on one line on lines of their own.
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

impl Item {
    /// The blanks before it on its line.
    pub(super) fn indent(&self) -> Option<&str> {
        let lead = match self {
            Item::Attribute(attribute) => &attribute.lead,
            Item::Block(block) => &block.lead,
            Item::Other(_) => return None,
        };
        lead.rsplit('\n').next()
    }

    /// The text that it begins with.
    fn begin_mut(&mut self) -> Option<&mut String> {
        Some(match self {
            Item::Attribute(attribute) => &mut attribute.lead,
            Item::Block(block) => &mut block.lead,
            Item::Other(text) if text.is_empty() => return None,
            Item::Other(text) => text,
        })
    }

    /// The text that it ends with.
    fn end_mut(&mut self) -> Option<&mut String> {
        Some(match self {
            Item::Attribute(attribute) => &mut attribute.tail,
            Item::Block(block) => &mut block.tail,
            Item::Other(text) if text.is_empty() => return None,
            Item::Other(text) => text,
        })
    }
}

fn is_block<S: AsRef<str>>(block: &Block, name: &str, labels: &[S]) -> bool {
    block.name == name && block.labels.iter().map(String::as_str).eq(labels.iter().map(AsRef::as_ref))
}
