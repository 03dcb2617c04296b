//! Operators: their symbols, precedence and function names.

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
