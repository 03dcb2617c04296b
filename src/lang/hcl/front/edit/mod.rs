//! Editing of configurations. All bytes that are not edited stay.
//!
//! A [`Document`] is its source cut into items and the text between them, so writing it joins the pieces. New items get
//! the canonical layout, with the indentation and the line ends of their body.

mod body;
mod expression;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::syntax::{BodyId, Token, TokenKind, Tree, lex_config, parse_config, tree};
use body::{BodyItem, Style};
use dropforge_base::diagnostics::Diagnostics;
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};

pub use body::{EditAttribute, EditBlock, EditBody};
pub use expression::EditExpression;

/// A configuration to edit.
///
/// ```
/// use dropforge::hcl::edit::{Document, EditExpression};
/// use dropforge::Value;
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("main.tf", "a  =  1 # one\nb \"c\" {\n}\n");
/// let mut document = Document::parse(&source, &Limits::default())?;
/// document.body_mut().set("a", EditExpression::value(Value::Int(2))?)?;
/// if let Some(block) = document.body_mut().block_mut("b", &["c"]) {
///     block.body_mut().set("d", EditExpression::variable("var")?.attribute("d")?)?;
/// }
/// assert_eq!(document.to_string(), "a  =  2 # one\nb \"c\" {\n  d = var.d\n}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    body: EditBody,
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
    pub fn body(&self) -> &EditBody {
        &self.body
    }

    /// The root body, to edit.
    pub fn body_mut(&mut self) -> &mut EditBody {
        &mut self.body
    }
}

impl fmt::Display for Document {
    /// Writes the text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}

/// A builder of bodies from a source without errors.
struct Builder<'t> {
    tree: &'t Tree,
    text: &'t str,
    tokens: &'t [Token],
    crlf: bool,
}

/// An item of the tree.
#[derive(Clone, Copy)]
enum EditNode<'t> {
    Attribute(&'t tree::AttributeNode),
    Block(&'t tree::BlockNode),
}

impl EditNode<'_> {
    fn span(self) -> Span {
        match self {
            EditNode::Attribute(attribute) => attribute.span,
            EditNode::Block(block) => block.name_span.to(block.close),
        }
    }
}

impl Builder<'_> {
    /// Builds the body of the file. A byte order mark precedes it.
    fn file(&self, root: BodyId) -> EditBody {
        let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let style = Style { crlf: self.crlf, ..Style::default() };
        let mut body = EditBody { open: self.slice(0..start), style, ..EditBody::default() };
        self.fill(&mut body, root, start..self.text.len());
        body
    }

    /// Adds the items in `range` to a body. The parser limits the nesting of blocks, which bounds the recursion.
    fn fill(&self, body: &mut EditBody, id: BodyId, range: Range<usize>) {
        let mut at = range.start;
        for node in self.nodes(id) {
            let (start, end) = (self.start_of(node, at), self.end_of(node, range.end));
            if start > at {
                body.items.push(BodyItem::Other(self.slice(at..start)));
            }
            let item = match node {
                EditNode::Attribute(attribute) => BodyItem::Attribute(self.attribute(attribute, start..end)),
                EditNode::Block(block) => BodyItem::Block(Box::new(self.block(block, start..end, body))),
            };
            body.items.push(item);
            at = end;
        }
        let rest = self.text.get(at..range.end).unwrap_or("");
        let blanks = rest.len() - rest.trim_end_matches([' ', '\t']).len();
        if rest.len() > blanks {
            body.items.push(BodyItem::Other(self.slice(at..range.end - blanks)));
        }
        body.close = self.slice(range.end - blanks..range.end);
    }

    fn nodes(&self, id: BodyId) -> Vec<EditNode<'_>> {
        let Some(body) = self.tree.body(id) else { return Vec::new() };
        let attributes = body.attributes.iter().map(EditNode::Attribute);
        let mut nodes: Vec<_> = attributes.chain(body.blocks.iter().map(EditNode::Block)).collect();
        nodes.small_sort_by_key(|node| node.span().start);
        nodes
    }

    fn slice(&self, range: Range<usize>) -> String {
        self.text.get(range).unwrap_or("").to_owned()
    }

    /// Returns the index of the first token at or after a byte.
    fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| (token.span.start as usize) < byte)
    }

    fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// Returns the start of an item, including the blanks and the lines of comments before it, but not before `from`.
    fn start_of(&self, node: EditNode<'_>, from: usize) -> usize {
        let mut index = self.token_at(node.span().start as usize);
        while let Some(before) = index.checked_sub(1).and_then(|index| self.token(index)) {
            let begins_line = index < 2 || self.token(index - 2).is_some_and(|token| self.ends_line(token));
            if before.kind != TokenKind::Comment || !begins_line || (before.span.start as usize) < from {
                break;
            }
            index -= 1;
        }
        let behind =
            index.checked_sub(1).and_then(|index| self.token(index)).map_or(0, |token| token.span.end as usize);
        behind.max(from)
    }

    fn ends_line(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.get(token.span.range()).is_some_and(|text| text.ends_with('\n')),
            _ => false,
        }
    }

    /// Returns the end of an item, including the comments after it and the end of its line, but not after `to`.
    fn end_of(&self, node: EditNode<'_>, to: usize) -> usize {
        let end = node.span().end as usize;
        self.line_end(end, to).unwrap_or(end)
    }

    /// Returns the end of the line if only comments follow byte `at`, or else the end of the comments.
    fn line_end(&self, at: usize, to: usize) -> Option<usize> {
        let mut end = None;
        let behind = self.tokens.get(self.token_at(at)..).unwrap_or(&[]);
        for token in behind.iter().take_while(|token| token.span.end as usize <= to) {
            if !matches!(token.kind, TokenKind::Comment | TokenKind::Newline) {
                break;
            }
            end = Some(token.span.end as usize);
            if self.ends_line(*token) {
                break;
            }
        }
        end
    }

    fn attribute(&self, attribute: &tree::AttributeNode, range: Range<usize>) -> EditAttribute {
        let (name, value) = (attribute.name_span.range(), self.tree.span(attribute.expr).range());
        EditAttribute {
            lead: self.slice(range.start..name.start),
            name: self.slice(name.clone()),
            equals: self.slice(name.end..value.start),
            value: EditExpression::of_source(self.text.get(value.clone()).unwrap_or("")),
            tail: self.slice(value.end..range.end),
        }
    }

    fn block(&self, block: &tree::BlockNode, range: Range<usize>, around: &EditBody) -> EditBlock {
        let (name, open, close) = (block.name_span.range(), block.open.range(), block.close.range());
        let lead = self.slice(range.start..name.start);
        let outer = lead.rsplit('\n').next().unwrap_or("").to_owned();
        let first_line = self
            .line_end(open.end, close.start)
            .filter(|end| self.text.get(..*end).is_some_and(|text| text.ends_with('\n')));
        let style = Style { indent: outer, ..around.style.clone() }.inner();
        let mut body =
            EditBody { open: self.slice(open.end..first_line.unwrap_or(open.end)), style, ..EditBody::default() };
        self.fill(&mut body, block.body, first_line.unwrap_or(open.end)..close.start);
        if let Some(indent) = body.items.iter().find_map(BodyItem::indent).filter(|_| first_line.is_some()) {
            body.style.indent = indent.to_owned();
        }
        EditBlock {
            lead,
            name: self.slice(name.clone()),
            labels: block.labels.iter().map(|label| self.tree.str(label.text).to_owned()).collect(),
            header: self.slice(name.end..open.start),
            body,
            tail: self.slice(close.end..range.end),
        }
    }
}

#[cfg(test)]
mod tests;
