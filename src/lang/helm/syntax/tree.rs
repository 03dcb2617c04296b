//! Trees of templates. Nodes live in an arena and are `Copy`.

use dropforge_base::text::Span;

/// A template: a file, or the body of a `define` or `block`.
#[derive(Debug, Clone, Copy)]
pub struct Template<'a> {
    /// Its name. That of a file is not in its text.
    pub name: &'a str,
    /// Its body.
    pub body: &'a [Node<'a>],
    /// The place of its name; empty at the start of a file.
    pub span: Span,
    /// The literal names of the templates that it calls.
    pub calls: &'a [&'a str],
}

impl Template<'_> {
    /// Returns `true` if the body has only white space, so that it replaces no other template.
    pub fn is_blank(&self) -> bool {
        let blank = |node: &Node<'_>| matches!(node, Node::Text(text, _) if text.trim().is_empty());
        self.body.iter().all(blank)
    }
}

/// A part of a body.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// Literal text.
    Text(&'a str, Span),
    /// `{{ pipeline }}`. A declaration writes nothing.
    Emit(Placed<'a>),
    /// `if` and `with`, with their `else` branches.
    Choice(&'a Choice<'a>),
    /// `range`.
    Range(&'a Range<'a>),
    /// `template`: runs another template.
    Call(&'a Call<'a>),
    /// `break`.
    Break(Span),
    /// `continue`.
    Continue(Span),
}

/// `if … else if … else`, or the same with `with`.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// `true` for `with`, which moves the dot.
    pub moves: bool,
    /// The branches: a pipeline and a body each.
    pub branches: &'a [(Placed<'a>, &'a [Node<'a>])],
    /// The last `else`.
    pub otherwise: &'a [Node<'a>],
}

/// `range … else`.
#[derive(Debug, Clone, Copy)]
pub struct Range<'a> {
    /// The pipeline. Its declarations are the variables of the loop.
    pub pipeline: Placed<'a>,
    /// The body.
    pub body: &'a [Node<'a>],
    /// The body without items.
    pub otherwise: &'a [Node<'a>],
}

/// `{{ template "name" pipeline }}`.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The name of the template.
    pub name: &'a str,
    /// The data.
    pub data: Option<Placed<'a>>,
    /// The whole action.
    pub span: Span,
}

/// A pipeline in a file. Equal actions share their trees, so every place in one is relative.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    /// The tree.
    pub pipeline: &'a Pipeline<'a>,
    /// The offset to which its places are relative.
    pub base: u32,
}

impl Placed<'_> {
    /// Returns the place of the pipeline in the file.
    pub fn span(&self) -> Span {
        self.pipeline.span.moved(self.base)
    }
}

/// A name and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    /// The name: `$x` for a variable, without its point for a field.
    pub text: &'a str,
    /// Its place.
    pub span: Span,
}

/// A pipeline: declarations and commands.
#[derive(Debug, Clone, Copy)]
pub struct Pipeline<'a> {
    /// The variables that get the value.
    pub variables: &'a [Name<'a>],
    /// `true` if they exist already: `=` rather than `:=`.
    pub assigns: bool,
    /// The commands. Each gets the value of the one before as its last argument.
    pub commands: &'a [Command<'a>],
    /// The whole pipeline.
    pub span: Span,
}

/// A command: a function and its arguments, or one operand.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// The operands. There is at least one.
    pub operands: &'a [Operand<'a>],
    /// The whole command.
    pub span: Span,
}

/// An operand: a term and the fields after it.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The term.
    pub term: Term<'a>,
    /// The fields, outermost last.
    pub fields: &'a [Name<'a>],
    /// The whole operand.
    pub span: Span,
}

/// The start of an operand.
#[derive(Debug, Clone, Copy)]
pub enum Term<'a> {
    /// `.`, also before fields: `.a.b`.
    Dot,
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// A number or a character.
    Number(&'a Number<'a>),
    /// A string, as bytes.
    Str(&'a [u8]),
    /// A variable.
    Variable(&'a str),
    /// A function.
    Function(&'a str),
    /// A pipeline in parentheses.
    Pipeline(&'a Pipeline<'a>),
}

/// A number literal: its value in every type that can hold it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number<'a> {
    /// The value as an `int`.
    pub int: Option<i64>,
    /// The value as an unsigned integer.
    pub uint: Option<u64>,
    /// The value as a `float64`.
    pub float: Option<f64>,
    /// The real and the imaginary part, if it is written as a complex number.
    pub complex: Option<(f64, f64)>,
    /// The literal as written.
    pub text: &'a str,
}

/// An action of the grammar. The places in it are relative.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// A pipeline alone.
    Emit(Pipeline<'a>),
    /// `if`.
    If(Pipeline<'a>),
    /// `with`.
    With(Pipeline<'a>),
    /// `range`.
    Range(Pipeline<'a>),
    /// `else`.
    Else,
    /// `else if`.
    ElseIf(Pipeline<'a>),
    /// `else with`.
    ElseWith(Pipeline<'a>),
    /// `end`.
    End,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `define`.
    Define(&'a [u8]),
    /// `template`.
    Template(&'a [u8], Option<Pipeline<'a>>),
    /// `block`.
    Block(&'a [u8], Pipeline<'a>),
}
