//! The tree of one template. Nodes are `Copy`, live in a bump arena and have spans for errors. Text is final:
//! white-space markers are applied, and comments are gone.
//!
//! The shapes follow the language's oddities. A filter list and a `not` belong to an [`Expr`] of any kind. Arithmetic
//! is a flat list in postfix order, so a chain of any length is one node.

use dropforge_base::text::Span;

/// A piece of source text with its span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Name<'a> {
    /// The text, without quotes if it was a string.
    pub text: &'a str,
    /// The span, including quotes.
    pub span: Span,
}

/// One parsed file.
#[derive(Debug, Clone, Copy)]
pub struct Template<'a> {
    /// The parent of `{% extends "…" %}`.
    pub extends: Option<Name<'a>>,
    /// `{% import "file" as name %}` in order.
    pub imports: &'a [Import<'a>],
    /// The macros defined here, in order; names are unique.
    pub macros: &'a [Macro<'a>],
    /// The blocks that take part in inheritance: those at the top level and those directly inside them.
    pub blocks: &'a [&'a Block<'a>],
    /// The top-level nodes.
    pub body: &'a [Node<'a>],
    /// `true` if there is a `set` or `set_global` anywhere.
    pub sets: bool,
}

/// `{% import "file" as name %}`
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The template that holds the macros.
    pub file: Name<'a>,
    /// The name of the macros' namespace here.
    pub namespace: Name<'a>,
}

/// `{% macro name(params) %}body{% endmacro %}`
#[derive(Debug, Clone, Copy)]
pub struct Macro<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The parameters; names are unique.
    pub params: &'a [Param<'a>],
    /// The nodes that a call renders.
    pub body: &'a [Node<'a>],
}

/// A parameter of a macro.
#[derive(Debug, Clone, Copy)]
pub struct Param<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The literal for calls that leave it out.
    pub default: Option<Expr<'a>>,
}

/// `{% block name %}body{% endblock %}`
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The nodes that it renders unless a child overrides it.
    pub body: &'a [Node<'a>],
}

/// A node of a body.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// Text, written unchanged; never empty.
    Text(Name<'a>),
    /// `{{ value }}`
    Emit(&'a Expr<'a>),
    /// `{% set name = value %}`
    Set {
        /// The variable.
        name: Name<'a>,
        /// `true` for `set_global`.
        global: bool,
        /// The new value.
        value: &'a Expr<'a>,
    },
    /// `{% if … %}` with its `elif`s and `else`.
    If {
        /// Conditions in order, at least one.
        branches: &'a [Branch<'a>],
        /// The body of `else`.
        otherwise: &'a [Node<'a>],
    },
    /// `{% for … %}`
    For(&'a For<'a>),
    /// `{% block … %}`
    Block(&'a Block<'a>),
    /// `{% filter … %}body{% endfilter %}`
    Filter {
        /// The filter.
        filter: &'a Call<'a>,
        /// The nodes whose output is filtered.
        body: &'a [Node<'a>],
    },
    /// `{% include … %}`
    Include {
        /// The candidates. The first that exists wins.
        names: &'a [Name<'a>],
        /// `true` if none of them needs to exist.
        ignore_missing: bool,
        /// The tag.
        span: Span,
    },
    /// `{{ super() }}` in a block.
    Super(Span),
    /// `{% break %}`
    Break,
    /// `{% continue %}`
    Continue,
}

impl<'a> Node<'a> {
    /// Calls `visit` with the bodies directly inside the node.
    pub(crate) fn visit_bodies(&self, mut visit: impl FnMut(&'a [Node<'a>])) {
        match self {
            Node::If { branches, otherwise } => {
                branches.iter().for_each(|branch| visit(branch.body));
                visit(otherwise);
            }
            Node::For(one) => {
                visit(one.body);
                one.otherwise.into_iter().for_each(visit);
            }
            Node::Block(block) => visit(block.body),
            Node::Filter { body, .. } => visit(body),
            _ => {}
        }
    }
}

/// One condition of an `if` and the body that it guards.
#[derive(Debug, Clone, Copy)]
pub struct Branch<'a> {
    /// The condition.
    pub condition: Expr<'a>,
    /// The guarded body.
    pub body: &'a [Node<'a>],
}

/// A loop.
#[derive(Debug, Clone, Copy)]
pub struct For<'a> {
    /// The name of the key, in a loop over a map.
    pub key: Option<Name<'a>>,
    /// The name of the value.
    pub value: Name<'a>,
    /// The value to loop over.
    pub container: Expr<'a>,
    /// The nodes that each iteration renders.
    pub body: &'a [Node<'a>],
    /// The nodes rendered for an empty container.
    pub otherwise: Option<&'a [Node<'a>]>,
}

/// An expression with its filters and its negation.
#[derive(Debug, Clone, Copy)]
pub struct Expr<'a> {
    /// The expression without filters.
    pub kind: ExprKind<'a>,
    /// The filters, in order of application.
    pub filters: &'a [Call<'a>],
    /// `not`
    pub negated: bool,
    /// The whole expression.
    pub span: Span,
}

impl<'a> Expr<'a> {
    /// Returns an expression without filters.
    pub(super) fn bare(kind: ExprKind<'a>, span: Span) -> Self {
        Self { kind, filters: &[], negated: false, span }
    }
}

/// A kind of [`Expr`].
#[derive(Debug, Clone, Copy)]
pub enum ExprKind<'a> {
    /// A quoted string.
    Str(&'a str),
    /// An integer.
    Int(i64),
    /// A finite number with a decimal point.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A variable.
    Path(&'a Path<'a>),
    /// `a ~ b ~ …`: strings, numbers, variables and function calls, without filters of their own.
    Concat(&'a [Expr<'a>]),
    /// Arithmetic in postfix order.
    Math(&'a [Step<'a>]),
    /// One comparison.
    Compare(CompareOp, &'a [Expr<'a>; 2]),
    /// `a and b and …`
    And(&'a [Expr<'a>]),
    /// `a or b or …`
    Or(&'a [Expr<'a>]),
    /// `needle in haystack`, or `not in`.
    In {
        /// The needle and the haystack.
        sides: &'a [Expr<'a>; 2],
        /// `not in`
        negated: bool,
    },
    /// `path is test(args)`, or `is not`.
    Test {
        /// The tested variable.
        path: &'a Path<'a>,
        /// The name of the test.
        name: Name<'a>,
        /// The arguments.
        args: &'a [Expr<'a>],
        /// `is not`
        negated: bool,
    },
    /// `f(a=1)`
    Call(&'a Call<'a>),
    /// `ns::f(a=1)`
    MacroCall(Name<'a>, &'a Call<'a>),
    /// `[a, b]`
    List(&'a [Expr<'a>]),
}

/// One step of arithmetic in postfix order.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Pushes a value.
    Operand(Expr<'a>),
    /// Combines the two topmost values.
    Apply(MathOp, Span),
}

/// Arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MathOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A function, filter or macro with its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The name of the callee.
    pub name: Name<'a>,
    /// The arguments; names are unique.
    pub args: &'a [Arg<'a>],
    /// From the name to the closing parenthesis.
    pub span: Span,
}

impl<'a> Call<'a> {
    /// Returns the argument for the parameter `name`.
    pub fn arg(&self, name: &str) -> Option<&'a Expr<'a>> {
        self.args.iter().find(|arg| arg.name.text == name).map(|arg| &arg.value)
    }
}

/// `name=value`
#[derive(Debug, Clone, Copy)]
pub struct Arg<'a> {
    /// The parameter.
    pub name: Name<'a>,
    /// The argument's value.
    pub value: Expr<'a>,
}

/// A path to a value: `a.b[0]["k"][i]`.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// The source text.
    pub text: &'a str,
    /// The variable.
    pub root: Name<'a>,
    /// The steps into its value.
    pub segments: &'a [Segment<'a>],
    /// The whole path.
    pub span: Span,
}

/// One step into a value.
#[derive(Debug, Clone, Copy)]
pub enum Segment<'a> {
    /// `.name`, `["name"]` or `[3]`: a map key or a list index.
    Key(Name<'a>),
    /// `[other.path]`: the key is the value of that path.
    Lookup(&'a Path<'a>),
    /// `[-3]`: no list has such an item, so reading it is an error.
    Negative(Name<'a>),
}
