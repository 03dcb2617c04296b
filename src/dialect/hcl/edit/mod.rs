//! Changing a configuration where it is to change, and nowhere else: every byte that is not touched stays.
//!
//! A [`Document`] is its source cut into items with the text between them, so that writing it is putting the pieces
//! together. New items are written in the canonical layout, at the indentation of their body and with its line ends.

mod body;
mod build;
mod expression;
mod literal;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

pub use body::{Attribute, Block, Body};
pub use expression::Expression;

use super::syntax::lexer::lex_config;
use super::syntax::parser::parse_config;
use crate::diagnostics::Diagnostics;
use crate::limits::Limits;
use crate::text::Source;
use build::Builder;

/// A configuration that is being changed.
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
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The document of a source.
    ///
    /// # Errors
    /// What is wrong with the source: only a sound one can be changed.
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

    /// What is in it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// What is in it, to be changed.
    pub fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

impl fmt::Display for Document {
    /// The text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}
