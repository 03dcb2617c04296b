//! The operators as functions.

use super::table::functions;
use crate::bytecode::BinaryOp;
use crate::dialect::hcl::values::{logic, numbers, operators::binary};

functions! {
    /// Operators of the standard library and OpenTofu.
    pub(super) static SHARED_OPERATORS:
    "abs" (num: Number [dynamic]) -> Number = numbers::abs, "Returns the absolute value of a number." ["abs(-1)" => "1"];
}

functions! {
    /// Operators of the standard library.
    pub(super) static OPERATORS:
    "not" (val: Bool [dynamic]) -> Bool = logic::not, "Negates a boolean." ["not(true)" => "false"];
    "and" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = logic::and, "Returns `true` if both operands are true."
        ["and(true, false)" => "false"];
    "or" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = logic::or, "Returns `true` if an operand is true."
        ["or(true, false)" => "true"];
    "equal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = binary [BinaryOp::Eq],
        "Returns `true` if both values have the same type and are equal." ["equal(1, 1)" => "true"];
    "notequal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = binary [BinaryOp::Ne],
        "Returns `true` if the values differ." ["notequal(1, \"1\")" => "true"];
    "absolute" (num: Number [dynamic]) -> Number = numbers::abs, "Returns the absolute value of a number."
        ["absolute(-1)" => "1"];
    "add" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Add], "Adds two numbers."
        ["add(1, 2)" => "3"];
    "subtract" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Sub],
        "Subtracts the second number from the first." ["subtract(1, 2)" => "-1"];
    "multiply" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Mul], "Multiplies two numbers."
        ["multiply(2, 3)" => "6"];
    "divide" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Div],
        "Divides the first number by the second." ["divide(1, 2)" => "0.5"];
    "modulo" (a: Number [dynamic], b: Number [dynamic]) -> Number = binary [BinaryOp::Rem],
        "Returns the remainder of a division, with the sign of the dividend." ["modulo(-7, 3)" => "-1"];
    "negate" (num: Number [dynamic]) -> Number = numbers::neg, "Negates a number." ["negate(1)" => "-1"];
    "lessthan" (a: Number [dynamic], b: Number [dynamic]) -> Bool = binary [BinaryOp::Lt],
        "Returns `true` if the first number is less than the second." ["lessthan(1, 2)" => "true"];
    "lessthanorequalto" (a: Number [dynamic], b: Number [dynamic]) -> Bool = binary [BinaryOp::Le],
        "Returns `true` if the first number is less than or equal to the second." ["lessthanorequalto(2, 2)" => "true"];
    "greaterthan" (a: Number [dynamic], b: Number [dynamic]) -> Bool = binary [BinaryOp::Gt],
        "Returns `true` if the first number is greater than the second." ["greaterthan(1, 2)" => "false"];
    "greaterthanorequalto" (a: Number [dynamic], b: Number [dynamic]) -> Bool = binary [BinaryOp::Ge],
        "Returns `true` if the first number is greater than or equal to the second."
        ["greaterthanorequalto(2, 2)" => "true"];
}
