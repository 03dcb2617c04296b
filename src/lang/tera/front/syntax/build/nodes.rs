//! Statements and blocks.

use super::state::Build;
use crate::syntax::tree::{Block, Branch, Expr, For, Macro, Name, Node, Param};

impl<'a> Build<'a> {
    /// Adds text, unless white-space control left nothing of it.
    pub fn text(&mut self, text: Name<'a>) {
        if !text.text.is_empty() {
            self.nodes.push(Node::Text(text));
        }
    }

    /// `{% set name = value %}`
    pub fn set(&mut self, name: Name<'a>, value: &'a Expr<'a>, global: bool) {
        self.sets = true;
        self.nodes.push(Node::Set { name, global, value });
    }

    /// Takes the nodes of a complete body, the innermost one.
    pub fn body(&mut self, nodes: usize) -> &'a [Node<'a>] {
        self.nodes.keep(Some(nodes), self.arena)
    }

    /// `{% if … %}` with all its branches.
    pub fn condition(&mut self, branches: usize, otherwise: Option<&'a [Node<'a>]>) {
        let branches: &'a [Branch<'a>] = self.branches.keep(Some(branches), self.arena);
        self.nodes.push(Node::If { branches, otherwise: otherwise.unwrap_or(&[]) });
    }

    /// `{% for … %}` with one name or two.
    pub fn for_loop(
        &mut self,
        (first, second): (Name<'a>, Option<Name<'a>>),
        container: &'a Expr<'a>,
        body: &'a [Node<'a>],
        otherwise: Option<&'a [Node<'a>]>,
    ) {
        let (key, value) = second.map_or((None, first), |second| (Some(first), second));
        let container = *container;
        self.nodes.push(Node::For(self.arena.alloc(For { key, value, container, body, otherwise })));
    }

    /// `{% filter … %}`
    pub fn filter_section(&mut self, filter: usize, body: &'a [Node<'a>]) {
        if let [filter] = self.calls.keep(Some(filter), self.arena) {
            self.nodes.push(Node::Filter { filter, body });
        }
    }

    /// `{% block name %}`
    pub fn block(&mut self, name: Name<'a>, body: &'a [Node<'a>]) {
        self.nodes.push(Node::Block(self.arena.alloc(Block { name, body })));
    }

    /// Takes the parameters of a macro. The last of duplicate names wins.
    pub fn parameters(&mut self, params: Option<usize>) -> &'a [Param<'a>] {
        self.params.keep_last_of_each(params, self.arena, |param| param.name.text)
    }

    /// `{% macro name(params) %}`
    pub fn define_macro(&mut self, name: Name<'a>, params: &'a [Param<'a>], body: &'a [Node<'a>]) {
        self.macros.push(Macro { name, params, body });
    }
}
