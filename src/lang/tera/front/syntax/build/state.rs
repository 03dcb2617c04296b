//! The state of the grammar's actions.

use bumpalo::Bump;

use super::lists::Stack;
use super::operands::Linked;
use crate::syntax::error::SyntaxError;
use crate::syntax::tree::{Arg, Branch, Call, Expr, Import, Macro, Name, Node, Param, Segment};

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
