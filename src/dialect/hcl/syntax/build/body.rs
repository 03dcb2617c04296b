//! Items of bodies: attributes, and blocks from their header to their closing brace.

use hashbrown::HashMap;

use super::{Build, Faulty};
use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::hcl::syntax::tree::{Attribute, Block, Body, BodyId, ExprId, Label};
use crate::text::Span;

/// The header of a block, up to its brace.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Its type.
    pub name: Span,
    /// Where its labels begin on the stack of labels.
    pub labels: usize,
    /// The brace.
    pub open: Span,
}

/// A body that is being read.
#[derive(Debug)]
pub(in crate::dialect::hcl::syntax) struct OpenBody<'a> {
    pub id: BodyId,
    /// The block without its end; the body of a file has none.
    pub block: Option<Block>,
    /// Where its attributes are set, once there are many.
    names: HashMap<&'a str, Span>,
}

/// From so many attributes on they are looked up by a table.
const MANY: usize = 8;

impl<'a> Build<'a> {
    /// Opens a body; `block` is what it will belong to.
    pub(in crate::dialect::hcl::syntax) fn open_body(&mut self, block: Option<Block>) -> BodyId {
        let id = block.as_ref().map_or_else(|| self.new_body(), |block| block.body);
        self.bodies.push(OpenBody { id, block, names: HashMap::new() });
        id
    }

    /// A body that belongs to nothing yet.
    pub(in crate::dialect::hcl::syntax) fn new_body(&mut self) -> BodyId {
        let id = BodyId(Span::of(0..self.tree.bodies.len()).end);
        self.tree.bodies.push(Body::default());
        id
    }

    fn body(&mut self, id: BodyId) -> Option<&mut Body> {
        self.tree.bodies.get_mut(id.0 as usize)
    }

    /// `name = value`
    ///
    /// # Errors
    /// [`Faulty`]
    pub fn attribute(&mut self, name: Span, equals: Span, value: ExprId, end: u32) -> Result<(), Faulty> {
        self.sound(())?;
        self.set(name, equals, value, end);
        self.done = Some(end);
        Ok(())
    }

    /// Adds an attribute to the innermost body, unless it has one of this name.
    pub(in crate::dialect::hcl::syntax) fn set(&mut self, name: Span, equals: Span, value: ExprId, end: u32) {
        let key = self.slice(name);
        let attribute = self.attribute_of(name, equals, value, end);
        let Some(open) = self.bodies.last_mut() else { return };
        let Some(body) = self.tree.bodies.get_mut(open.id.0 as usize) else { return };
        let place =
            |span: Span| span.start.saturating_sub(self.origin.start)..span.end.saturating_sub(self.origin.start);
        let text_at = |span: Span| {
            let range = place(span);
            self.text.get(range.start as usize..range.end as usize).unwrap_or("")
        };
        if body.attributes.len() == MANY {
            open.names = body.attributes.iter().map(|set| (text_at(set.name_span), set.name_span)).collect();
        }
        let before = if body.attributes.len() < MANY {
            body.attributes.iter().map(|set| set.name_span).find(|&span| text_at(span) == key)
        } else {
            open.names.get(key).copied()
        };
        match before {
            Some(before) => self.redefined(key, attribute.name_span, before),
            None => {
                body.attributes.push(attribute);
                if body.attributes.len() > MANY {
                    open.names.insert(key, attribute.name_span);
                }
            }
        }
    }

    fn attribute_of(&self, name: Span, equals: Span, value: ExprId, end: u32) -> Attribute {
        Attribute {
            name: self.str(name),
            name_span: self.place(name),
            equals: self.place(equals),
            expr: value,
            span: self.place(Span::new(name.start, end)),
        }
    }

    fn redefined(&mut self, name: &str, span: Span, before: Span) {
        if self.diagnostics.len() >= self.most {
            return;
        }
        let source = self.tree.source();
        let detail = format!(
            "`{name}` was set at {} already; each argument may be set only once.",
            source.position(before.start)
        );
        let diagnostic = Diagnostic::new(Code::DuplicateDefinition, "Attribute redefined")
            .at(source, span, "")
            .at(source, before, "first set here")
            .with_detail(detail);
        self.diagnostics.push(diagnostic);
    }

    // Blocks

    /// A label without quotes.
    pub fn plain_label(&mut self, name: Span) {
        let label = Label { text: self.str(name), span: self.place(name) };
        self.labels.push(label);
    }

    /// A label in quotes, whose text is on the stack of parts from `list` on.
    pub fn quoted_label(&mut self, list: usize, span: Span) {
        let text = self.literal_text(list, Span::new(span.start + 1, span.start + 1));
        self.labels.push(Label { text, span: self.place(span) });
    }

    pub(in crate::dialect::hcl::syntax) fn block_of(&mut self, header: Header, close: Span) -> Block {
        Block {
            name: self.str(header.name),
            name_span: self.place(header.name),
            labels: self.labels.drain(header.labels.min(self.labels.len())..).collect(),
            body: self.new_body(),
            open: self.place(header.open),
            close: self.place(close),
        }
    }

    /// `type "label" {` with a line's end.
    ///
    /// # Errors
    /// [`Faulty`]
    pub fn open_block(&mut self, header: Header) -> Result<(), Faulty> {
        self.sound(())?;
        self.begin_block(header);
        self.done = Some(header.open.end);
        if self.too_deep.is_some() { Err(Faulty) } else { Ok(()) }
    }

    /// Opens the body of a block, unless that is one too many.
    pub(in crate::dialect::hcl::syntax) fn begin_block(&mut self, header: Header) {
        if self.bodies.len() > self.nesting {
            self.too_deep = Some((header.open, self.nesting as u64));
            return;
        }
        let block = self.block_of(header, header.open);
        self.open_body(Some(block));
    }

    /// `type "label" {}`
    ///
    /// # Errors
    /// [`Faulty`]
    pub fn empty_block(&mut self, header: Header, close: Span) -> Result<(), Faulty> {
        self.sound(())?;
        let block = self.block_of(header, close);
        let span = self.place(header.open.to(close));
        self.finish_block(block, span, span.end);
        self.done = Some(close.end);
        Ok(())
    }

    /// `type "label" { name = value }`
    ///
    /// # Errors
    /// [`Faulty`]
    pub fn short_block(
        &mut self,
        header: Header,
        (name, equals, value, end): (Span, Span, ExprId, u32),
        close: Span,
    ) -> Result<(), Faulty> {
        self.sound(())?;
        let block = self.block_of(header, close);
        self.finish_short(block, (name, equals, value, end));
        self.done = Some(close.end);
        Ok(())
    }

    /// A block whose only argument stands on its line.
    pub(in crate::dialect::hcl::syntax) fn finish_short(
        &mut self,
        block: Block,
        (name, equals, value, end): (Span, Span, ExprId, u32),
    ) {
        let attribute = self.attribute_of(name, equals, value, end);
        if let Some(body) = self.body(block.body) {
            body.attributes.push(attribute);
        }
        self.finish_block(block, attribute.span, attribute.span.end);
    }

    /// `}`
    ///
    /// # Errors
    /// [`Faulty`] where no block is open.
    pub fn close_block(&mut self, close: Span) -> Result<(), Faulty> {
        if self.bodies.len() < 2 {
            return Err(Faulty);
        }
        let close = self.place(close);
        self.end_block(close, close);
        self.done = Some(close.end - self.origin.start);
        Ok(())
    }

    /// Ends the innermost block: its body ends with `end`, the block itself with `close`.
    pub(in crate::dialect::hcl::syntax) fn end_block(&mut self, end: Span, close: Span) {
        if let Some(OpenBody { block: Some(mut block), .. }) = self.bodies.pop() {
            block.close = close;
            let span = Span::new(block.open.start, end.end);
            self.finish_block(block, span, end.end);
        }
    }

    fn finish_block(&mut self, block: Block, span: Span, end: u32) {
        self.finish_placeholder(block, span, Span::new(end, end));
    }

    /// Says where the body of a block stands and adds the block to the innermost body. For a body that could not be read
    /// the places are what is left of it.
    pub(in crate::dialect::hcl::syntax) fn finish_placeholder(&mut self, block: Block, span: Span, end: Span) {
        if let Some(body) = self.body(block.body) {
            (body.span, body.end) = (span, end);
        }
        let around = self.bodies.last().map(|open| open.id);
        if let Some(body) = around.and_then(|id| self.body(id)) {
            body.blocks.push(block);
        }
    }

    /// Says where the file's body ends.
    pub(in crate::dialect::hcl::syntax) fn end_file(&mut self, end: Span) {
        let (end, start) = (self.place(end), self.place(self.file).start);
        self.bodies.truncate(1);
        let id = self.bodies.pop().map_or(BodyId(0), |open| open.id);
        if let Some(body) = self.body(id) {
            (body.span, body.end) = (Span::new(start, end.end), Span::new(end.end, end.end));
        }
    }
}
