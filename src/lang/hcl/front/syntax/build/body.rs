//! Items of bodies (attributes, and blocks from their header to their closing brace) and the steps after an operand.

use super::Build;
use crate::syntax::{AccessStep, AttributeNode, BlockNode, BodyId, BodyNode, Expr, ExprId, LabelNode, Run, StepKind};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Span;
use hashbrown::hash_map::{Entry, HashMap};

/// The header of a block, up to its brace.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Its type.
    pub name: Span,
    /// The beginning of its labels on their stack.
    pub labels: usize,
    /// The brace.
    pub open: Span,
}

/// `name = value`
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// The name.
    pub name: Span,
    /// The equals sign.
    pub equals: Span,
    /// The value.
    pub value: ExprId,
    /// The end of the value.
    pub end: u32,
}

/// A body that is being read.
#[derive(Debug)]
pub(in crate::front::syntax) struct OpenBody<'a> {
    id: BodyId,
    /// The block without its end; the body of a file has none.
    block: Option<BlockNode>,
    /// The places of its attributes' names.
    names: HashMap<&'a str, Span>,
}

impl<'a> Build<'a> {
    /// Opens the body of a file, unless it is open.
    pub fn open_file(&mut self) {
        if self.bodies.is_empty() {
            self.open_body(None);
        }
    }

    /// Opens a body of a file or of `block`.
    fn open_body(&mut self, block: Option<BlockNode>) {
        let id = block.as_ref().map_or_else(|| self.new_body(), |block| block.body);
        self.bodies.push(OpenBody { id, block, names: HashMap::new() });
    }

    /// An empty body.
    fn new_body(&mut self) -> BodyId {
        let id = BodyId(Span::of(0..self.tree.bodies.len()).end);
        self.tree.bodies.push(BodyNode::default());
        id
    }

    fn body(&mut self, id: BodyId) -> Option<&mut BodyNode> {
        self.tree.bodies.get_mut(id.0 as usize)
    }

    /// `name = value`: adds an attribute to the innermost body, unless it has one of this name.
    pub fn attribute(&mut self, argument: Argument) {
        let key = self.slice(argument.name);
        let attribute = self.attribute_of(argument);
        let Some(open) = self.bodies.last_mut() else { return };
        match open.names.entry(key) {
            Entry::Occupied(before) => {
                let before = *before.get();
                self.redefined(key, attribute.name_span, before);
            }
            Entry::Vacant(name) => {
                name.insert(attribute.name_span);
                let id = open.id;
                if let Some(body) = self.body(id) {
                    body.attributes.push(attribute);
                }
            }
        }
    }

    fn attribute_of(&self, Argument { name, equals, value, end }: Argument) -> AttributeNode {
        AttributeNode {
            name: self.str(name),
            name_span: self.place(name),
            equals: self.place(equals),
            expr: value,
            span: self.place(Span::new(name.start, end)),
        }
    }

    fn redefined(&mut self, name: &str, span: Span, before: Span) {
        let source = self.tree.source();
        let detail = format!(
            "`{name}` was set at {} already; each argument may be set only once.",
            source.position(before.start)
        );
        let diagnostic = Diagnostic::new(Code::DuplicateDefinition, "Attribute redefined")
            .at(source, span, "")
            .at(source, before, "first set here")
            .with_detail(detail);
        self.reports.push(diagnostic);
    }

    // Blocks

    /// A label without quotes.
    pub fn plain_label(&mut self, name: Span) {
        let label = LabelNode { text: self.str(name), span: self.place(name) };
        self.pending.labels.push(label);
    }

    /// A label in quotes, whose text is on the stack of parts from `list` on.
    pub fn quoted_label(&mut self, list: usize, span: Span) {
        let text = self.literal_text(list, Span::new(span.start + 1, span.start + 1));
        self.pending.labels.push(LabelNode { text, span: self.place(span) });
    }

    fn block_of(&mut self, header: Header, close: Span) -> BlockNode {
        BlockNode {
            name: self.str(header.name),
            name_span: self.place(header.name),
            labels: self.pending.labels.drain(header.labels.min(self.pending.labels.len())..).collect(),
            body: self.new_body(),
            open: self.place(header.open),
            close: self.place(close),
        }
    }

    /// `type "label" {` with a line end.
    pub fn open_block(&mut self, header: Header) {
        let block = self.block_of(header, header.open);
        self.open_body(Some(block));
    }

    /// `type "label" {}`, or `type "label" { name = value }`.
    pub fn short_block(&mut self, header: Header, argument: Option<Argument>, close: Span) {
        let block = self.block_of(header, close);
        let mut span = self.place(header.open.to(close));
        if let Some(argument) = argument {
            let attribute = self.attribute_of(argument);
            span = attribute.span;
            if let Some(body) = self.body(block.body) {
                body.attributes.push(attribute);
            }
        }
        self.finish_block(block, span, Span::new(span.end, span.end));
    }

    /// A block on one line without its argument.
    pub fn broken_block(&mut self, header: Header, close: Span) {
        let block = self.block_of(header, close);
        let close = block.close;
        self.finish_block(block, self.place(header.open).to(close), close);
    }

    /// A name with labels from `labels` on, and no brace: the name stands for the braces. A name alone leaves nothing.
    pub fn broken_header(&mut self, name: Span, labels: usize) {
        if labels < self.pending.labels.len() {
            let block = self.block_of(Header { name, labels, open: name }, name);
            let place = block.open;
            self.finish_block(block, place, place);
        }
    }

    /// `}`: the body of the innermost block ends at `end`, the block itself at `close`.
    pub fn close_block(&mut self, end: Span, close: Span) {
        let inner = self.bodies.pop_if(|open| open.block.is_some());
        if let Some(OpenBody { block: Some(mut block), .. }) = inner {
            block.close = self.place(close);
            let end = self.place(end).end;
            let span = Span::new(block.open.start, end);
            self.finish_block(block, span, Span::new(end, end));
        }
    }

    /// Adds a block to the innermost body. Its own body stands at `span` and ends at `end`.
    fn finish_block(&mut self, block: BlockNode, span: Span, end: Span) {
        if let Some(body) = self.body(block.body) {
            (body.span, body.end) = (span, end);
        }
        let around = self.bodies.last().map(|open| open.id);
        if let Some(body) = around.and_then(|id| self.body(id)) {
            body.blocks.push(block);
        }
    }

    /// Ends the file's body at `end`, unless it has ended.
    pub fn close_file(&mut self, end: Span) {
        let (end, start) = (self.place(end), self.place(self.file).start);
        let Some(id) = self.bodies.first().map(|open| open.id) else { return };
        self.bodies.clear();
        if let Some(body) = self.body(id) {
            (body.span, body.end) = (Span::new(start, end.end), Span::new(end.end, end.end));
        }
    }
}

// Steps are attributes, indexes and splats, read from left to right. The steps after a splat apply to each element, an
// `Expr::Item`: those after `.*` up to the next bracket, those after `[*]` all. Until they end, the splat is open.

/// The summary for a dot with no name after it.
pub(crate) const MISSING_ATTRIBUTE: &str = "Invalid attribute name";

/// An operand with the steps after it so far.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    /// The operand of the next step.
    expr: ExprId,
    /// The start of the operand, or of the marker of the innermost `[*]`.
    from: u32,
    /// The number of open splats.
    open: u32,
    /// `true` if the innermost one is a `.*`.
    attributes: bool,
}

/// An open splat.
#[derive(Debug)]
pub(super) struct Splat {
    source: ExprId,
    marker: Span,
    from: u32,
}

impl Build<'_> {
    pub(super) fn no_steps(&self) -> Run {
        super::run(self.tree.steps.len(), self.tree.steps.len())
    }

    /// An operand alone.
    pub fn chain(&mut self, operand: ExprId) -> Chain {
        Chain { expr: operand, from: self.tree.span(operand).start, open: 0, attributes: false }
    }

    /// `.name`, whose dot stands at `start`.
    pub fn attribute_step(&mut self, chain: Chain, start: u32, name: Span) -> Chain {
        let kind = StepKind::Attr(self.str(name));
        self.step(chain, kind, Span::new(start, name.end))
    }

    /// `.0`, whose dot stands at `start`.
    pub fn legacy_index(&mut self, chain: Chain, start: u32, number: Span) -> Chain {
        let kind = StepKind::Number(self.str(number));
        self.step(chain, kind, Span::new(start, number.end))
    }

    /// `[key]`: a step if the key is a literal number or text.
    pub fn index(&mut self, chain: Chain, key: ExprId, brackets: Span) -> Chain {
        let chain = self.end_attributes(chain);
        let literal = match self.tree.expr(key) {
            Expr::Number(digits) => Some(StepKind::Number(digits)),
            Expr::Template(parts) => match self.tree.ids(parts) {
                &[part] => match self.tree.expr(part) {
                    Expr::Text(text) => Some(StepKind::Key(text)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        if let Some(kind) = literal {
            return self.step(chain, kind, brackets);
        }
        let brackets = self.place(brackets);
        let span = Span::new(chain.from, brackets.end);
        Chain { expr: self.node(Expr::Index { collection: chain.expr, key, brackets }, span), ..chain }
    }

    fn step(&mut self, chain: Chain, kind: StepKind, span: Span) -> Chain {
        let span = self.place(span);
        self.tree.steps.push(AccessStep { kind, span });
        let end = Span::of(0..self.tree.steps.len()).end;
        if let Some(node) = self.tree.nodes.get_mut(chain.expr.0 as usize)
            && let Expr::Traversal { steps, .. } | Expr::Relative { steps, .. } = &mut node.expr
            && steps.end + 1 == end
        {
            steps.end = end;
            node.span.end = span.end;
            return chain;
        }
        // The element of a `.*` begins with its first step, any other expression with the operand of the step.
        let bare = matches!(self.tree.expr(chain.expr), Expr::Item) && chain.attributes;
        let start = if bare { span.start } else { self.tree.span(chain.expr).start };
        let expr = Expr::Relative { source: chain.expr, steps: Run { start: end - 1, end } };
        Chain { expr: self.node(expr, Span::new(start, span.end)), ..chain }
    }

    /// `.*`
    pub fn attribute_splat(&mut self, chain: Chain, marker: Span) -> Chain {
        self.splat(chain, marker, true)
    }

    /// `[*]`
    pub fn full_splat(&mut self, chain: Chain, brackets: Span) -> Chain {
        let chain = self.end_attributes(chain);
        self.splat(chain, brackets, false)
    }

    fn splat(&mut self, chain: Chain, marker: Span, attributes: bool) -> Chain {
        let marker = self.place(marker);
        self.pending.splats.push(Splat { source: chain.expr, marker, from: chain.from });
        let from = if attributes { chain.from } else { marker.start };
        Chain { expr: self.node(Expr::Item, marker), from, open: chain.open + 1, attributes }
    }

    /// Ends the innermost splat if it is a `.*`.
    fn end_attributes(&mut self, chain: Chain) -> Chain {
        if chain.attributes { self.end_splat(chain) } else { chain }
    }

    /// A dot that ends at `end` with no name after it: nothing is left of the chain.
    pub fn broken_step(&mut self, chain: Chain, end: u32, found: Span) -> Chain {
        let chain = self.end_attributes(chain);
        let span = Span::new(chain.from, end + self.origin.start);
        let expr = self.node(Expr::Invalid, span);
        self.tree.add_broken(expr, self.place(found), MISSING_ATTRIBUTE);
        Chain { expr, ..chain }
    }

    fn end_splat(&mut self, chain: Chain) -> Chain {
        let Some(splat) = self.pending.splats.pop() else { return chain };
        let each = chain.expr;
        let span = Span::new(splat.from, self.tree.span(each).end);
        let expr = self.node(Expr::Splat { source: splat.source, each, marker: splat.marker }, span);
        Chain { expr, from: splat.from, open: chain.open - 1, attributes: false }
    }

    /// An operand with all its steps.
    pub fn finish(&mut self, mut chain: Chain) -> ExprId {
        while chain.open > 0 {
            chain = self.end_splat(chain);
        }
        chain.expr
    }
}
