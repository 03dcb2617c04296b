//! Editing of configurations. All bytes that are not edited stay.
//!
//! A [`Document`] is its source cut into items and the text between them, so writing it joins the pieces. New items get
//! the canonical layout, with the indentation and the line ends of their body.

mod body;
mod build;
mod expression;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use super::syntax::{lex_config, parse_config};
use crate::diagnostics::Diagnostics;
use crate::limits::Limits;
use crate::text::Source;
use build::Builder;

pub use body::{Attribute, Block, Body};
pub use expression::Expression;

/// A configuration to edit.
///
/// ```
/// use dropforge::dialect::hcl::edit::{Document, Expression};
/// use dropforge::value::Value;
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("main.tf", "a  =  1 # one\nb \"c\" {\n}\n");
/// let mut document = Document::parse(&source, &Limits::default())?;
/// document.body_mut().set("a", Expression::value(Value::Int(2))?)?;
/// if let Some(block) = document.body_mut().block_mut("b", &["c"]) {
///     block.body_mut().set("d", Expression::variable("var")?.attribute("d")?)?;
/// }
/// assert_eq!(document.to_string(), "a  =  2 # one\nb \"c\" {\n  d = var.d\n}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    body: Body,
}

impl Document {
    /// Creates an empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a document.
    ///
    /// # Errors
    /// All syntax errors. A source with errors cannot be edited.
    pub fn parse(source: &Arc<Source>, limits: &Limits) -> Result<Self, Diagnostics> {
        let parsed = parse_config(source, limits);
        if !parsed.diagnostics.is_empty() {
            return Err(parsed.diagnostics.into());
        }
        let (text, tokens) = (source.text(), lex_config(source.text().as_bytes()));
        let crlf = text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'));
        let body = Builder { tree: &parsed.tree, text, tokens: &tokens, crlf }.file(parsed.root);
        Ok(Self { body })
    }

    /// The root body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The root body, to edit.
    pub fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

impl fmt::Display for Document {
    /// Writes the text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}
