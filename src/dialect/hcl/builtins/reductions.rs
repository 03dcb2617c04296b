//! Functions that reduce a list to one value, and ranges of numbers.

use super::collections::{has_elements, is_true, items, type_name};
use super::table::functions;
use crate::bytecode::BinaryOp;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::list_of;
use crate::dialect::hcl::values::numbers::machine_int;
use crate::dialect::hcl::values::operators::binary;
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known};
use crate::function::{Cx, fitting};
use crate::value::{Type, Value};

functions! {
    /// Ranges of numbers.
    pub(super) static RANGES:
    "range" (... params: Number) -> (list Number) = range,
        "Returns the numbers from a start (default 0) up to an end, which is excluded, by a step (default 1 or -1). The limit is 1,024 numbers."
        ["range(3)" => "[0, 1, 2]", "range(1, 4)" => "[1, 2, 3]", "range(4, 0, -2)" => "[4, 2]"];
}

functions! {
    /// Reductions of OpenTofu, and two functions that it removed.
    pub(super) static OPENTOFU_REDUCTIONS:
    "sum" (list: Any) -> Number = sum, "Returns the sum of the numbers of a list, set or tuple." ["sum([1, 2.5])" => "3.5"];
    "alltrue" (list: (list Bool)) -> Bool = alltrue, "Returns `true` if all elements are true."
        ["alltrue([true, false])" => "false"];
    "anytrue" (list: (list Bool)) -> Bool = anytrue, "Returns `true` if any element is true."
        ["anytrue([true, false])" => "true"];
    "list" (... vals: Any [null unknown dynamic]) -> Any = removed ["tolist([…])"],
        "Removed: use `tolist([…])`." ["list(1)" => "E0404"];
    "map" (... vals: Any [null unknown dynamic]) -> Any = removed ["tomap({…})"],
        "Removed: use `tomap({…})`." ["map(\"a\", 1)" => "E0404"];
}

/// Maximum length of a range.
const LONGEST: usize = 1024;

fn range<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (mut at, end, step) = match args {
        [end] => (machine_int(cx, 0)?, *end, unit_step(cx, Value::Int(0), *end)?),
        [start, end] => (*start, *end, unit_step(cx, *start, *end)?),
        [start, end, step] => (*start, *end, *step),
        _ => return Err(Fault::wrong("expected one, two or three arguments")),
    };
    let down = less(cx, step, Value::Int(0))?;
    if if down { less(cx, at, end)? } else { less(cx, end, at)? } {
        return Err(Fault::argument(1, "the step does not lead from the start to the end"));
    }
    let mut numbers = Vec::new();
    while if down { less(cx, end, at)? } else { less(cx, at, end)? } {
        if numbers.len() == LONGEST {
            return Err(Fault::wrong("a range has at most 1,024 numbers"));
        }
        numbers.push(at);
        at = binary(cx, at, step, BinaryOp::Add)?;
    }
    list_of(cx, Type::Number, &numbers)
}

fn less<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    Ok(is_true(binary(cx, a, b, BinaryOp::Lt)?))
}

/// Returns a step of 1 from `start` in the direction of `end`.
fn unit_step<'v>(cx: &Cx<'v>, start: Value<'v>, end: Value<'v>) -> Outcome<Value<'v>> {
    machine_int(cx, if less(cx, end, start)? { -1 } else { 1 })
}

fn sum<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    if !has_elements(cx, list) {
        return Err(Fault::argument(0, format!("a list, set or tuple is required, not {}", type_name(cx, list)?)));
    }
    let [first, rest @ ..] = items(list) else { return Err(Fault::argument(0, "there are no elements to add")) };
    if !is_wholly_known(cx, list)? {
        return Ok(cx.arena().unknown(Type::Number));
    }
    rest.iter().try_fold(summand(cx, *first)?, |total, item| binary(cx, total, summand(cx, *item)?, BinaryOp::Add))
}

fn summand<'v>(cx: &Cx<'v>, item: Value<'v>) -> Outcome<Value<'v>> {
    let number = fitting(convert(cx, item, &Type::Number))?.filter(|number| !number.is_null());
    number.ok_or_else(|| Fault::argument(0, "each element must be a number"))
}

fn alltrue<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(items(list).len() as u64)?;
    Ok(match items(list).iter().find(|item| !is_true(**item)) {
        None => Value::Bool(true),
        Some(item) if item.is_known() => Value::Bool(false),
        Some(_) => cx.arena().unknown(Type::Bool),
    })
}

fn anytrue<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(items(list).len() as u64)?;
    if items(list).iter().any(|item| is_true(*item)) {
        return Ok(Value::Bool(true));
    }
    let open = items(list).iter().any(|item| !item.is_known());
    Ok(if open { cx.arena().unknown(Type::Bool) } else { Value::Bool(false) })
}

fn removed<'v>(_: &Cx<'v>, _: &[Value<'v>], replacement: &str) -> Outcome<Value<'v>> {
    Err(Fault::wrong(format!("this function was removed: use `{replacement}`")))
}
