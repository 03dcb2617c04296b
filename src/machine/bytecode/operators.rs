//! Binary operators, and their results for integers, which are the same in all languages.

use super::isa::Op;
use dropforge_value::Value;

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
