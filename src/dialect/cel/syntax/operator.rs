//! Operators: their symbols, how tightly they bind, and the names of the functions they are.

macro_rules! operators {
    ($($variant:ident $id:literal $symbol:literal $binds:literal;)*) => {
        /// An operator, by the function that it is. Those without a symbol are brought by macros or by brackets.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operator {
            $(#[doc = concat!("`", $id, "`")] $variant,)*
        }

        impl Operator {
            /// Every operator.
            pub const ALL: &'static [Operator] = &[$(Operator::$variant,)*];

            /// The name of its function: `_+_`.
            pub fn id(self) -> &'static str {
                match self { $(Operator::$variant => $id,)* }
            }

            /// What is written: `+`; nothing where the operator is no single symbol.
            pub fn symbol(self) -> &'static str {
                match self { $(Operator::$variant => $symbol,)* }
            }

            /// How tightly it binds: the larger, the tighter.
            pub fn binds(self) -> u8 {
                match self { $(Operator::$variant => $binds,)* }
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
    /// Whether its value is true or false, where it has one.
    pub fn is_test(self) -> bool {
        matches!(self.binds(), 2..=4) || self == Operator::Not
    }

    /// Whether its value is that of a calculation.
    pub fn is_arithmetic(self) -> bool {
        matches!(self.binds(), 5 | 6) || self == Operator::Negate
    }
}
