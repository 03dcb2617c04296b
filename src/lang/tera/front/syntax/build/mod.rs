//! The actions of the grammar. They allocate nodes in the arena and check rules that involve more than one token.
//!
//! | file | content |
//! |---|---|
//! | `expressions` | operands, calls, conditions, the steps of a path |
//! | `chain` | chains of operands: concatenation and arithmetic; the level of the language they belong to |

mod chain;
mod expressions;

pub use chain::{Item, Link, Truth};

use bumpalo::Bump;
use hashbrown::HashSet;

use crate::syntax::SyntaxError;
use crate::syntax::tree::{Arg, Block, Branch, Call, Expr, For, Import, Macro, Name, Node, Param, Segment};
use chain::Linked;

/// A value that was built, or the error of its tag.
pub(super) type Built<T> = Result<T, Box<SyntaxError>>;

/// The arena, the lists under construction, and the parts of the template outside its body.
#[derive(Debug)]
pub struct Build<'a> {
    pub arena: &'a Bump,
    pub extends: Option<Name<'a>>,
    pub imports: Vec<Import<'a>>,
    pub macros: Vec<Macro<'a>>,
    /// `true` if there is a `set` or `set_global`.
    pub sets: bool,

    pub nodes: Stack<Node<'a>>,
    pub branches: Stack<Branch<'a>>,
    pub names: Stack<Name<'a>>,
    pub params: Stack<Param<'a>>,
    pub args: Stack<Arg<'a>>,
    pub calls: Stack<Call<'a>>,
    pub values: Stack<Expr<'a>>,
    pub terms: Stack<(bool, Expr<'a>)>,
    pub links: Stack<Linked<'a>>,
    pub(super) segments: Vec<Segment<'a>>,
}

impl<'a> Build<'a> {
    /// Creates the state for building in `arena`, with room for `nodes` pending nodes.
    pub fn new(arena: &'a Bump, nodes: usize) -> Self {
        Self {
            arena,
            extends: None,
            imports: Vec::new(),
            macros: Vec::new(),
            sets: false,
            nodes: Stack::with_capacity(nodes),
            branches: Stack::default(),
            names: Stack::default(),
            params: Stack::default(),
            args: Stack::default(),
            calls: Stack::default(),
            values: Stack::default(),
            terms: Stack::default(),
            links: Stack::default(),
            segments: Vec::new(),
        }
    }
}

/// The lists of one kind under construction. A list is identified by its start.
#[derive(Debug)]
pub struct Stack<T>(Vec<T>);

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Stack<T> {
    /// Creates an empty stack with room for `len` elements.
    pub fn with_capacity(len: usize) -> Self {
        Self(Vec::with_capacity(len))
    }

    /// Begins an empty list.
    pub fn begin(&self) -> usize {
        self.0.len()
    }

    /// Begins a list with its first element.
    pub fn first(&mut self, one: T) -> usize {
        self.next(self.begin(), one)
    }

    /// Adds to the innermost list, which begins at `list`, and returns it.
    pub fn next(&mut self, list: usize, one: T) -> usize {
        self.0.push(one);
        list
    }

    /// Adds to the innermost list.
    pub fn push(&mut self, one: T) {
        self.0.push(one);
    }

    /// Removes the list that begins at `list` from the stack.
    pub fn split_off(&mut self, list: usize) -> Vec<T> {
        self.0.split_off(list.min(self.0.len()))
    }
}

impl<T: Copy> Stack<T> {
    /// Moves the list that begins at `list` to the arena. `None` is an empty list.
    pub fn keep<'a>(&mut self, list: Option<usize>, arena: &'a Bump) -> &'a [T] {
        let Some(list) = list else { return &[] };
        let kept = arena.alloc_slice_copy(self.0.get(list..).unwrap_or(&[]));
        self.0.truncate(list);
        kept
    }

    /// Moves a list to the arena like [`Stack::keep`], without elements whose names are repeated later.
    pub(crate) fn keep_last_of_each<'a>(
        &mut self,
        list: Option<usize>,
        arena: &'a Bump,
        name: impl Fn(&T) -> &'a str,
    ) -> &'a [T] {
        const FEW: usize = 8;
        let all = list.and_then(|list| self.0.get(list..)).unwrap_or(&[]);
        let doubled = |(at, one): (usize, &T)| all.iter().take(at).any(|other| name(other) == name(one));
        if all.len() <= FEW && !all.iter().enumerate().any(doubled) {
            return self.keep(list, arena);
        }
        let mut seen = HashSet::with_capacity(all.len());
        let mut kept: Vec<T> = all.iter().rev().filter(|one| seen.insert(name(one))).copied().collect();
        kept.reverse();
        self.0.truncate(list.unwrap_or(0));
        arena.alloc_slice_copy(&kept)
    }
}

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
