//! The operands of instructions: their kinds, and the choices that an operand can encode.

use super::isa::Op;
use dropforge_value::Value;

/// Declares a choice that one operand word encodes: an enum whose discriminants are the operands.
macro_rules! choice {
    ($(#[$meta:meta])* $choice:ident { $($(#[$doc:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $choice { $($(#[$doc])* $variant,)* }

        impl $choice {
            /// The number of variants.
            #[doc(hidden)]
            pub const COUNT: usize = Self::NAMES.len();
            /// Every variant, in operand order.
            #[doc(hidden)]
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),*];
            /// The names in listings, in operand order.
            #[doc(hidden)]
            pub const NAMES: &[&'static str] = &[$($name),*];

            /// Decodes an operand. The verifier rejects operands from [`Self::COUNT`] on.
            #[inline(always)]
            #[doc(hidden)]
            pub const fn of(operand: u32) -> Self {
                $(if operand == Self::$variant as u32 { return Self::$variant; })*
                Self::ALL[0]
            }

            /// Returns the name in listings.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}
pub(super) use choice;

choice! {
    /// The value that [`Op::Lit`](super::Op::Lit) pushes.
    Literal {
        /// Undefined.
        Undefined "undefined",
        /// Null.
        Null "null",
        /// False.
        False "false",
        /// True.
        True "true",
    }
}

choice! {
    /// The escaping of text in output.
    EscapeMode {
        /// Unescaped.
        Plain "plain",
        /// Unescaped, as a part of a longer text.
        Piece "piece",
        /// Escaped for HTML.
        Html "html",
        /// Quoted as one word of a POSIX shell.
        Shell "shell",
    }
}

impl EscapeMode {
    /// Returns `true` if strings are written unescaped in the mode of an operand.
    #[inline(always)]
    pub fn is_verbatim(operand: u32) -> bool {
        operand <= EscapeMode::Piece as u32
    }
}

choice! {
    /// The use of a value where its type alone does not decide the result.
    Role {
        /// The result of a computation that becomes a value.
        Value "value",
        /// A value whose text is escaped for HTML from here on.
        Html "html",
        /// An operand that must be a boolean.
        Answer "answer",
        /// Text that is tested for presence.
        Text "text",
    }
}

choice! {
    /// The precedence of a map entry over another entry with the same key.
    Claim {
        /// Kept. A second such entry with the same key is an error.
        Stays "stays",
        /// Replaced by an entry that stays, and by later entries.
        Yields "yields",
    }
}

choice! {
    /// The use of the output of a chunk that is called by name.
    Delivery {
        /// It is output of the caller.
        Output "output",
        /// It is captured as text. The language may limit the nesting of one name.
        Text "text",
    }
}

choice! {
    /// A property of a running loop that a path can read.
    LoopField {
        /// The number of the current item, from 1.
        Index "index",
        /// The number of the current item, from 0.
        Index0 "index0",
        /// `true` for the first item.
        First "first",
        /// `true` for the last item.
        Last "last",
    }
}

/// A comparison for equality and the result that makes [`Op::JumpTest`](super::Op::JumpTest) jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// Compares for inequality. For values of two kinds this may differ from negated equality.
    pub unequal: bool,
    /// The result that makes the instruction jump.
    pub wanted: bool,
}

impl Test {
    /// The number of tests.
    #[doc(hidden)]
    pub const COUNT: usize = Self::NAMES.len();
    /// The names in listings, in operand order.
    #[doc(hidden)]
    pub const NAMES: &[&'static str] = &["unless_eq", "unless_ne", "if_eq", "if_ne"];

    /// Returns the operand.
    pub fn operand(self) -> u32 {
        u32::from(self.unequal) | u32::from(self.wanted) << 1
    }

    /// Decodes an operand.
    #[inline(always)]
    #[doc(hidden)]
    pub fn of(operand: u32) -> Test {
        Test { unequal: operand & 1 != 0, wanted: operand & 2 != 0 }
    }
}

/// Declares the kinds of operands: a name for the documentation, and the choice that an operand encodes, if any.
macro_rules! kinds {
    (@choices) => { &[] };
    (@choices $choice:ident) => { $choice::NAMES };
    ($($(#[$doc:meta])* $kind:ident $name:literal $(= $choice:ident)?,)*) => {
        /// The kind of an operand.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Operand { $($(#[$doc])* $kind,)* }

        impl Operand {
            /// Every kind.
            #[doc(hidden)]
            pub const ALL: &[Operand] = &[$(Operand::$kind),*];

            /// Returns the name in documentation.
            pub const fn name(self) -> &'static str {
                match self { $(Operand::$kind => $name,)* }
            }

            /// Returns the names of the choices, in operand order. Empty if the operand is not a choice.
            pub const fn choices(self) -> &'static [&'static str] {
                match self { $(Operand::$kind => kinds!(@choices $($choice)?),)* }
            }
        }
    };
}

kinds! {
    /// Index of a string.
    Str "string",
    /// Index of a number constant.
    Num "number",
    /// A small signed integer.
    Int "integer",
    /// A [`Literal`].
    Lit "literal" = Literal,
    /// A slot of the frame.
    Slot "slot",
    /// The first of two adjacent slots.
    SlotPair "slot pair",
    /// The first of a run of slots. The next operand is its length.
    SlotRun "slot run",
    /// The first slot of a loop, which has as many slots as [`Operand::Names`] of the instruction that opens it.
    LoopSlots "loop slots",
    /// The number of loop variables: 1 or 2.
    Names "names",
    /// Offset of a path in its table.
    Path "path",
    /// Offset of a call site in its table.
    Site "call site",
    /// Index of an import.
    Import "import",
    /// Offset of the keys of a map in their table.
    Keys "keys",
    /// Index of a result kept during a render.
    Memo "memo",
    /// Offset of a scope in its table, or 0 for none.
    Scope "scope",
    /// Index of a chunk.
    Chunk "chunk",
    /// Offset of a failure in its table.
    Fail "failure",
    /// An [`EscapeMode`].
    Mode "mode" = EscapeMode,
    /// A [`Role`].
    Role "role" = Role,
    /// A [`Test`].
    Test "test" = Test,
    /// A [`Claim`].
    Claim "claim" = Claim,
    /// A [`Delivery`].
    Delivery "delivery" = Delivery,
    /// A number.
    Count "count",
    /// The number of top values that are read and left on the stack.
    Values "values",
    /// The word to continue at.
    Label "label",
}

macro_rules! operators {
    ($($op:ident)*) => {
        /// A binary operator. A language's `Semantics` defines its result.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum BinaryOp { $($op,)* }

        impl BinaryOp {
            /// Returns the instruction that applies the operator.
            pub fn op(self) -> Op {
                match self { $(BinaryOp::$op => Op::$op,)* }
            }

            /// Returns the operator that an instruction applies.
            #[doc(hidden)]
            pub fn of(op: Op) -> Option<Self> {
                [$(BinaryOp::$op),*].into_iter().find(|operator| operator.op() == op)
            }
        }
    };
}

operators! { Add Sub Mul Div Rem Eq Ne Lt Le Gt Ge In }

impl BinaryOp {
    /// Returns `true` for a test of equality or order.
    pub fn compares(self) -> bool {
        matches!(self, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
    }

    /// Applies the operator to two integers. `None` if the result does not fit 64 bits, and for division, which differs
    /// between languages.
    #[inline(always)]
    pub fn of_integers(self, a: i64, b: i64) -> Option<Value<'static>> {
        match self {
            BinaryOp::Add => a.checked_add(b).map(Value::Int),
            BinaryOp::Sub => a.checked_sub(b).map(Value::Int),
            BinaryOp::Mul => a.checked_mul(b).map(Value::Int),
            BinaryOp::Eq => Some(Value::Bool(a == b)),
            BinaryOp::Ne => Some(Value::Bool(a != b)),
            BinaryOp::Lt => Some(Value::Bool(a < b)),
            BinaryOp::Le => Some(Value::Bool(a <= b)),
            BinaryOp::Gt => Some(Value::Bool(a > b)),
            BinaryOp::Ge => Some(Value::Bool(a >= b)),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::In => None,
        }
    }
}
