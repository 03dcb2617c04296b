//! The tree of one template. Nodes are `Copy`, live in a bump arena and hold spans wherever an error may
//! point; text is final (white-space markers are already applied, comments are gone).
//!
//! Shapes follow the language's own oddities: a filter list and a `not` belong to an [`Expr`], whatever it
//! holds; arithmetic is a flat list in postfix order, so a chain of any length is one node.

use crate::text::Span;

/// A piece of source text and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Name<'a> {
    /// The text, without quotes where it was a string.
    pub text: &'a str,
    /// Its place.
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
    /// The blocks that take part in inheritance: those at the top level and directly inside such blocks.
    pub blocks: &'a [&'a Block<'a>],
    /// What is rendered.
    pub body: &'a [Node<'a>],
    /// Whether there is a `set` or `set_global` anywhere.
    pub sets: bool,
}

/// `{% import "file" as name %}`
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The template that holds the macros.
    pub file: Name<'a>,
    /// The namespace they get here.
    pub namespace: Name<'a>,
}

/// `{% macro name(params) %}body{% endmacro %}`
#[derive(Debug, Clone, Copy)]
pub struct Macro<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Its parameters; names are unique.
    pub params: &'a [Param<'a>],
    /// What a call renders.
    pub body: &'a [Node<'a>],
}

/// A parameter of a macro.
#[derive(Debug, Clone, Copy)]
pub struct Param<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// The literal it has when a call leaves it out.
    pub default: Option<Expr<'a>>,
}

/// `{% block name %}body{% endblock %}`
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// What it renders where no child overrides it.
    pub body: &'a [Node<'a>],
}

/// What a body is made of.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// Text, written as it is; never empty.
    Text(&'a str),
    /// `{{ value }}`
    Emit(&'a Expr<'a>),
    /// `{% set name = value %}`
    Set {
        /// The variable.
        name: Name<'a>,
        /// Whether it is `set_global`.
        global: bool,
        /// Its new value.
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
        /// What is rendered into it.
        body: &'a [Node<'a>],
    },
    /// `{% include … %}`
    Include {
        /// The candidates; the first one there is wins.
        names: &'a [Name<'a>],
        /// Whether none at all is fine.
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

/// One condition of an `if` and what it guards.
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
    /// The key's name, of a loop over a map.
    pub key: Option<Name<'a>>,
    /// The value's name.
    pub value: Name<'a>,
    /// What is looped over.
    pub container: Expr<'a>,
    /// What each turn renders.
    pub body: &'a [Node<'a>],
    /// What an empty container renders.
    pub otherwise: Option<&'a [Node<'a>]>,
}

/// A value, the filters it goes through, and whether the result is negated.
#[derive(Debug, Clone, Copy)]
pub struct Expr<'a> {
    /// What is evaluated.
    pub kind: ExprKind<'a>,
    /// The filters applied to it in order.
    pub filters: &'a [Call<'a>],
    /// `not`
    pub negated: bool,
    /// From its first to its last character.
    pub span: Span,
}

/// What an [`Expr`] evaluates.
#[derive(Debug, Clone, Copy)]
pub enum ExprKind<'a> {
    /// Text in quotes.
    Str(&'a str),
    /// A whole number.
    Int(i64),
    /// A finite number with a point.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A variable.
    Path(&'a Path<'a>),
    /// `a ~ b ~ …`: text, numbers, variables and function calls, without filters of their own.
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
        /// What is looked for, then where.
        sides: &'a [Expr<'a>; 2],
        /// `not in`
        negated: bool,
    },
    /// `path is test(args)`, or `is not`.
    Test {
        /// What is tested.
        path: &'a Path<'a>,
        /// The test.
        name: Name<'a>,
        /// Its arguments.
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
    /// Put a value on the stack.
    Operand(Expr<'a>),
    /// Combine the two values on top.
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
    /// Which one.
    pub name: Name<'a>,
    /// Its arguments; names are unique (the last one given won).
    pub args: &'a [Arg<'a>],
    /// From the name to the closing parenthesis.
    pub span: Span,
}

impl<'a> Call<'a> {
    /// The value given for the parameter `name`.
    pub fn arg(&self, name: &str) -> Option<&'a Expr<'a>> {
        self.args.iter().find(|arg| arg.name.text == name).map(|arg| &arg.value)
    }
}

/// `name=value`
#[derive(Debug, Clone, Copy)]
pub struct Arg<'a> {
    /// The parameter.
    pub name: Name<'a>,
    /// What it is given.
    pub value: Expr<'a>,
}

/// A variable and the way into it: `a.b[0]["k"][i]`.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// As it was written.
    pub text: &'a str,
    /// The variable.
    pub root: Name<'a>,
    /// The way.
    pub segments: &'a [Segment<'a>],
    /// All of it.
    pub span: Span,
}

/// One step into a value.
#[derive(Debug, Clone, Copy)]
pub enum Segment<'a> {
    /// `.name`, `["name"]` or `[3]`: a key of a map, or a position in a list.
    Key(Name<'a>),
    /// `[other.path]`: the key is that variable's value.
    Lookup(&'a Path<'a>),
    /// `[-3]`: never there; reading it is an error.
    Negative(Name<'a>),
}

impl Segment<'_> {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Segment::Key(name) | Segment::Negative(name) => name.span,
            Segment::Lookup(path) => path.span,
        }
    }
}
