//! The nodes of an expression tree, and the operators: their symbols, precedence and function names.

use std::ops::Range;

use dropforge_base::text::Span;

/// Identifies a [`Node`] of a [`Tree`](super::tree::Tree).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

impl ExprId {
    /// Returns its position among the tree's nodes, for tables beside the tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Identifies an interned string of a [`Tree`](super::tree::Tree). Equal strings have equal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// A range of items in one of a tree's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Run {
    pub start: u32,
    pub end: u32,
}

impl Run {
    pub fn of(range: Range<usize>) -> Self {
        let Span { start, end } = Span::of(range);
        Self { start, end }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Appends `more` to a list, and returns its range.
    pub fn append<T>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) -> Self {
        let start = list.len();
        list.extend(more);
        Self::of(start..list.len())
    }

    /// Returns the number of items.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Returns `true` if there are no items.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// `-1`, `0x1F`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.5`, `1e3`
    Double(f64),
    /// `'text'`, decoded.
    String(Name),
    /// `b'bytes'`, decoded: [`Tree::bytes`](super::tree::Tree::bytes).
    Bytes(Run),
}

/// The kind of a field selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selection {
    /// `operand.field`
    Plain,
    /// `operand.?field`: an optional of the field.
    Optional,
    /// `has(operand.field)`: presence of the field.
    Test,
}

/// The target of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// An operator, or a function that only expanded macros call.
    Operator(Operator),
    /// A function by its simple name, without a leading dot. Macros call functions that sources cannot name, such as
    /// `cel.@block`.
    Named(Name),
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// Set for a leading dot, which bypasses the container.
    pub rooted: bool,
    /// The receiver of `receiver.f(…)`: a value, or the namespace of a qualified name.
    pub receiver: Option<ExprId>,
    /// The arguments without the receiver: [`Tree::ids`](super::tree::Tree::ids).
    pub args: Run,
}

/// An element of a list constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its value.
    pub value: ExprId,
    /// Set for `[?value]`: omitted if the optional is empty.
    pub optional: bool,
}

/// An entry of a map constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: ExprId,
    /// Its value.
    pub value: ExprId,
    /// Set for `{?key: value}`: omitted if the optional is empty.
    pub optional: bool,
    /// The offset of the colon, which errors about the entry point at.
    pub at: u32,
}

/// A field of a message constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: ExprId,
    /// Set for `Message{?name: value}`.
    pub optional: bool,
    /// The offset of the colon, which errors about the field point at.
    pub at: u32,
}

/// A comprehension: the general loop that all looping macros expand to.
///
/// `accu_var` starts as `accu_init`. For each element of `iter_range`, while `loop_condition` is true, it becomes
/// `loop_step`. The value is `result`. Condition and step see the iteration variables and the accumulator; the result sees
/// the accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comprehension {
    /// The list or map to iterate over.
    pub iter_range: ExprId,
    /// The element or key; the index or key if there is an [`iter_var2`](Self::iter_var2).
    pub iter_var: Name,
    /// The value, in a loop with two variables.
    pub iter_var2: Option<Name>,
    /// The accumulator.
    pub accu_var: Name,
    /// The initial value of the accumulator.
    pub accu_init: ExprId,
    /// The condition to continue.
    pub loop_condition: ExprId,
    /// The next value of the accumulator.
    pub loop_step: ExprId,
    /// The value of the comprehension.
    pub result: ExprId,
}

impl Comprehension {
    /// Returns the variables that the condition and the step see.
    pub fn variables(&self) -> impl Iterator<Item = Name> + use<> {
        [self.iter_var].into_iter().chain(self.iter_var2).chain([self.accu_var])
    }
}

/// Identifies a [`Comprehension`] of a [`Tree`](super::tree::Tree).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ComprehensionId(pub u32);

/// An expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expr {
    /// Source that did not parse; its error was reported.
    Invalid,
    /// A literal.
    Literal(Literal),
    /// A name.
    Ident {
        /// The name, without a leading dot.
        name: Name,
        /// Set for a leading dot, which bypasses comprehension variables and the container.
        rooted: bool,
    },
    /// A field of a value, or a further part of a qualified name.
    Select {
        /// The value or the qualifier.
        operand: ExprId,
        /// The field's name.
        field: Name,
        /// The kind of selection.
        selection: Selection,
    },
    /// A call. Operators and indexes are calls, too.
    Call(Call),
    /// `[ … ]`: [`Tree::elements`](super::tree::Tree::elements).
    List(Run),
    /// `{ … }`: [`Tree::entries`](super::tree::Tree::entries).
    Map(Run),
    /// `Name{ … }`
    Message {
        /// The qualified name, including a leading dot.
        name: Name,
        /// Its fields: [`Tree::fields`](super::tree::Tree::fields).
        fields: Run,
    },
    /// A comprehension: [`Tree::comprehension`](super::tree::Tree::comprehension).
    Comprehension(ComprehensionId),
}

/// An expression and its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// The expression.
    pub expr: Expr,
    /// Its span. Nodes that a macro makes have the span of the macro's call.
    pub span: Span,
    /// The offset that errors point at: the operator, the bracket, the dot, or the first byte.
    pub at: u32,
}

macro_rules! operators {
    ($($variant:ident $id:literal $symbol:literal $precedence:literal;)*) => {
        /// An operator. Macros and brackets make those without a symbol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operator {
            $(#[doc = concat!("`", $id, "`")] $variant,)*
        }

        impl Operator {
            /// Returns the name of its function: `_+_`.
            pub fn id(self) -> &'static str {
                match self { $(Operator::$variant => $id,)* }
            }

            /// Returns its symbol, `+`; empty if it has no single symbol.
            pub fn symbol(self) -> &'static str {
                match self { $(Operator::$variant => $symbol,)* }
            }

            /// Returns its precedence. Operators with a higher precedence bind tighter.
            pub fn precedence(self) -> u8 {
                match self { $(Operator::$variant => $precedence,)* }
            }
        }
    };
}

operators! {
    Conditional       "_?_:_"                "?"  1;
    Or                "_||_"                 "||" 2;
    And               "_&&_"                 "&&" 3;
    Equal             "_==_"                 "==" 4;
    NotEqual          "_!=_"                 "!=" 4;
    Less              "_<_"                  "<"  4;
    LessEqual         "_<=_"                 "<=" 4;
    Greater           "_>_"                  ">"  4;
    GreaterEqual      "_>=_"                 ">=" 4;
    In                "@in"                  "in" 4;
    Add               "_+_"                  "+"  5;
    Subtract          "_-_"                  "-"  5;
    Multiply          "_*_"                  "*"  6;
    Divide            "_/_"                  "/"  6;
    Modulo            "_%_"                  "%"  6;
    Negate            "-_"                   "-"  7;
    Not               "!_"                   "!"  7;
    Index             "_[_]"                 ""   8;
    OptionalIndex     "_[?_]"                ""   8;
    NotStrictlyFalse  "@not_strictly_false"  ""   8;
}

impl Operator {
    /// Returns `true` if its value is a boolean.
    pub fn is_test(self) -> bool {
        matches!(self.precedence(), 2..=4) || self == Operator::Not
    }

    /// Returns `true` for arithmetic operators.
    pub(crate) fn is_arithmetic(self) -> bool {
        matches!(self.precedence(), 5 | 6) || self == Operator::Negate
    }
}
