//! The operators as functions.

use crate::dialect::hcl::values::{Fault, Outcome, equality, logic, numbers};
use crate::function::Cx;
use crate::positional;
use crate::value::Value;

positional! {
    /// What OpenTofu has of them.
    pub(super) static SHARED_OPERATORS:
    "abs" (num: Number [dynamic]) -> Number = abs, "The number without its sign." ["abs(-1)" => "1"];
}

positional! {
    /// The operators under the names of the standard library.
    pub(super) static OPERATORS:
    "not" (val: Bool [dynamic]) -> Bool = not, "The opposite." ["not(true)" => "false"];
    "and" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = and, "Whether both are true."
        ["and(true, false)" => "false"];
    "or" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = or, "Whether one is true." ["or(true, false)" => "true"];
    "equal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = equal,
        "Whether both are the same value of one type." ["equal(1, 1)" => "true"];
    "notequal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = not_equal,
        "Whether they are not equal." ["notequal(1, \"1\")" => "true"];
    "absolute" (num: Number [dynamic]) -> Number = abs, "The number without its sign." ["absolute(-1)" => "1"];
    "add" (a: Number [dynamic], b: Number [dynamic]) -> Number = add, "The sum." ["add(1, 2)" => "3"];
    "subtract" (a: Number [dynamic], b: Number [dynamic]) -> Number = subtract, "The difference."
        ["subtract(1, 2)" => "-1"];
    "multiply" (a: Number [dynamic], b: Number [dynamic]) -> Number = multiply, "The product."
        ["multiply(2, 3)" => "6"];
    "divide" (a: Number [dynamic], b: Number [dynamic]) -> Number = divide, "The quotient." ["divide(1, 2)" => "0.5"];
    "modulo" (a: Number [dynamic], b: Number [dynamic]) -> Number = modulo,
        "What is left of a division, with the sign of the first." ["modulo(-7, 3)" => "-1"];
    "negate" (num: Number [dynamic]) -> Number = negate, "The number with the other sign." ["negate(1)" => "-1"];
    "lessthan" (a: Number [dynamic], b: Number [dynamic]) -> Bool = less, "Whether the first is smaller."
        ["lessthan(1, 2)" => "true"];
    "lessthanorequalto" (a: Number [dynamic], b: Number [dynamic]) -> Bool = less_or_equal,
        "Whether the first is not larger." ["lessthanorequalto(2, 2)" => "true"];
    "greaterthan" (a: Number [dynamic], b: Number [dynamic]) -> Bool = greater, "Whether the first is larger."
        ["greaterthan(1, 2)" => "false"];
    "greaterthanorequalto" (a: Number [dynamic], b: Number [dynamic]) -> Bool = greater_or_equal,
        "Whether the first is not smaller." ["greaterthanorequalto(2, 2)" => "true"];
}

/// What an operator with two operands does.
type Operator = for<'v> fn(&Cx<'v>, Value<'v>, Value<'v>) -> Outcome<Value<'v>>;

fn of_two<'v>(cx: &Cx<'v>, args: &[Value<'v>], operator: Operator) -> Outcome<Value<'v>> {
    let [a, b] = args else { return Err(Fault::wrong("two arguments are required")) };
    operator(cx, *a, *b)
}

fn of_one<'v>(
    cx: &Cx<'v>,
    args: &[Value<'v>],
    operator: for<'w> fn(&Cx<'w>, Value<'w>) -> Outcome<Value<'w>>,
) -> Outcome<Value<'v>> {
    let [a] = args else { return Err(Fault::wrong("one argument is required")) };
    operator(cx, *a)
}

fn not<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_one(cx, args, logic::not)
}

fn and<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, logic::and)
}

fn or<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, logic::or)
}

fn equal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, equality::equals)
}

fn not_equal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    logic::not(cx, equal(cx, args)?)
}

fn abs<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_one(cx, args, numbers::abs)
}

fn negate<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_one(cx, args, numbers::neg)
}

fn add<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::add)
}

fn subtract<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::sub)
}

fn multiply<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::mul)
}

fn divide<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::div)
}

fn modulo<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::rem)
}

fn less<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::less)
}

fn less_or_equal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::less_equal)
}

fn greater<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::greater)
}

fn greater_or_equal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_two(cx, args, numbers::greater_equal)
}
