//! Bodies while they are being filled: text with its white space, and the blocks that are open.
//!
//! `{%-` trims the text right before the tag, `-%}` the text right behind it, and nothing else: another tag or a
//! comment in between ends the reach. Bodies behind the `else` of a loop are not trimmed at all.

use super::ast::{Block, Branch, Call, Expr, Name, Node, Param};
use super::lexer::Trim;
use crate::text::Span;

/// A body that is being filled.
#[derive(Debug)]
pub struct Body<'a> {
    /// What it holds so far.
    pub nodes: Vec<Node<'a>>,
    /// Whether the last node is text that the next tag touches.
    touches_text: bool,
    /// Whether the text that follows loses the white space at its start.
    trim_next: bool,
    /// Whether markers mean anything here.
    trims: bool,
}

impl<'a> Body<'a> {
    /// A body behind a tag that trims the text behind it (or not), in a place where markers do (or do not) count;
    /// `nodes` is empty room for what it will hold.
    pub fn new(trim_next: bool, trims: bool, nodes: Vec<Node<'a>>) -> Self {
        Self { nodes, touches_text: false, trim_next, trims }
    }

    /// Whether markers count here.
    pub fn trims(&self) -> bool {
        self.trims
    }

    /// Text between tags.
    pub fn text(&mut self, text: &'a str) {
        let trim = std::mem::take(&mut self.trim_next) && self.trims;
        let text = if trim { text.trim_start() } else { text };
        self.touches_text = !text.is_empty();
        if self.touches_text {
            self.nodes.push(Node::Text(text));
        }
    }

    /// A tag begins: its left marker trims the text before it.
    pub fn begin_tag(&mut self, left: bool) {
        let touches = std::mem::take(&mut self.touches_text);
        if !(left && touches && self.trims) {
            return;
        }
        if let Some(Node::Text(text)) = self.nodes.last_mut() {
            *text = text.trim_end();
            if text.is_empty() {
                self.nodes.pop();
            }
        }
    }

    /// A tag ended: its right marker trims the text behind it.
    pub fn end_tag(&mut self, right: bool) {
        self.trim_next = right;
    }

    /// A tag that is complete in itself.
    pub fn tag(&mut self, trim: Trim, node: Option<Node<'a>>) {
        self.begin_tag(trim.left);
        self.nodes.extend(node);
        self.end_tag(trim.right);
    }

    /// `{{ super() }}`, whose markers mean nothing and which lets a marker before it reach over it.
    pub fn super_tag(&mut self, span: Span) {
        self.touches_text = false;
        self.nodes.push(Node::Super(span));
    }
}

/// Which tags a body may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The top level, outside of everything.
    Content,
    /// In a macro.
    Macro,
    /// In a block.
    Block,
    /// In a loop.
    Loop,
    /// In a filter section.
    Filter,
}

/// A block that is open, and what it holds besides the body that is being filled.
#[derive(Debug)]
pub enum Open<'a> {
    /// `if`: the branches before the current one, and the current condition (none behind `else`).
    If(Vec<Branch<'a>>, Option<Expr<'a>>),
    /// `for`: names, container, and the main body once `else` was seen.
    For(Option<Name<'a>>, Name<'a>, Expr<'a>, Option<Body<'a>>),
    /// `filter`
    Filter(&'a Call<'a>),
    /// `block`
    Block(Name<'a>),
    /// `macro`
    Macro(Name<'a>, &'a [Param<'a>]),
}

impl Open<'_> {
    /// The name of the tag.
    pub fn tag(&self) -> &'static str {
        match self {
            Open::If(..) => "if",
            Open::For(..) => "for",
            Open::Filter(_) => "filter",
            Open::Block(_) => "block",
            Open::Macro(..) => "macro",
        }
    }

    /// What its body may hold, given what the body around it may.
    pub fn context(&self, around: Context) -> Context {
        match self {
            Open::If(..) => around,
            Open::For(..) => Context::Loop,
            Open::Filter(_) => Context::Filter,
            Open::Block(_) => Context::Block,
            Open::Macro(..) => Context::Macro,
        }
    }
}

/// An open block, where it was opened, and the body around it.
#[derive(Debug)]
pub struct Frame<'a> {
    /// What was opened.
    pub open: Open<'a>,
    /// The opening tag.
    pub span: Span,
    /// The body that goes on behind it.
    pub around: Body<'a>,
    /// What the body around may hold.
    pub context: Context,
}

/// The blocks that inheritance sees: in `body` and directly inside such blocks, in order.
pub fn inherited_blocks<'a>(body: &'a [Node<'a>]) -> Vec<&'a Block<'a>> {
    let mut found = Vec::new();
    let mut bodies = vec![body];
    while let Some(body) = bodies.pop() {
        for node in body {
            if let Node::Block(block) = node {
                found.push(*block);
                bodies.push(block.body);
            }
        }
    }
    found.sort_by_key(|block| block.name.span);
    found
}
