//! Functions that make one value of the elements of a list, and the list of numbers in a range.

use super::arguments::count;
use super::parts::{Kind, is_true, items, named};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::list_of;
use crate::dialect::hcl::values::numbers::{add, less};
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known};
use crate::function::Cx;
use crate::positional;
use crate::value::{Type, Value};

positional! {
    /// Functions of lists of numbers.
    pub(super) static RANGES:
    "range" (... params: Number) -> (list Number) = range,
        "The numbers from a start (or 0) to before an end, by a step (or 1, or -1 downwards); at most 1024."
        ["range(3)" => "[0, 1, 2]", "range(1, 4)" => "[1, 2, 3]", "range(4, 0, -2)" => "[4, 2]"];
}

positional! {
    /// Functions that make one value of many, and what became of two others: only OpenTofu has them.
    pub(super) static OPENTOFU_REDUCTIONS:
    "sum" (list: Any) -> Number = sum, "The sum of the numbers of a list, set or tuple." ["sum([1, 2.5])" => "3.5"];
    "alltrue" (list: (list Bool)) -> Bool = alltrue, "Whether every element is true." ["alltrue([true, false])" => "false"];
    "anytrue" (list: (list Bool)) -> Bool = anytrue, "Whether any element is true." ["anytrue([true, false])" => "true"];
    "list" (... vals: Any [null unknown dynamic]) -> Any = no_list,
        "Not available any more: write `tolist([…])`." ["list(1)" => "E0404"];
    "map" (... vals: Any [null unknown dynamic]) -> Any = no_map,
        "Not available any more: write `tomap({…})`." ["map(\"a\", 1)" => "E0404"];
}

/// How many numbers a range has at most.
const LONGEST: usize = 1024;

fn range<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (mut at, end, step) = match args {
        [end] => (count(cx, 0)?, *end, one_towards(cx, Value::Int(0), *end)?),
        [start, end] => (*start, *end, one_towards(cx, *start, *end)?),
        [start, end, step] => (*start, *end, *step),
        _ => return Err(Fault::wrong("one, two or three arguments are required")),
    };
    let down = is_true(less(cx, step, Value::Int(0))?);
    if is_true(if down { less(cx, at, end)? } else { less(cx, end, at)? }) {
        return Err(Fault::argument(1, "the step does not lead from the start to the end"));
    }
    let mut numbers = Vec::new();
    while is_true(if down { less(cx, end, at)? } else { less(cx, at, end)? }) {
        if numbers.len() == LONGEST {
            return Err(Fault::wrong(format!("a range has at most {LONGEST} numbers")));
        }
        numbers.push(at);
        at = add(cx, at, step)?;
    }
    list_of(cx, Type::Number, &numbers)
}

/// A step of 1 from `start` in the direction of `end`.
fn one_towards<'v>(cx: &Cx<'v>, start: Value<'v>, end: Value<'v>) -> Outcome<Value<'v>> {
    count(cx, if is_true(less(cx, end, start)?) { -1 } else { 1 })
}

fn sum<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    if !Kind::of(*list).has_elements() {
        return Err(Fault::argument(0, format!("a list, set or tuple is required, not {}", named(cx, *list)?)));
    }
    let [first, rest @ ..] = items(*list) else { return Err(Fault::argument(0, "there are no elements to add")) };
    if !is_wholly_known(cx, *list)? {
        return Ok(cx.arena().unknown(Type::Number));
    }
    let mut total = summand(cx, *first)?;
    for item in rest {
        total = add(cx, total, summand(cx, *item)?)?;
    }
    Ok(total)
}

fn summand<'v>(cx: &Cx<'v>, item: Value<'v>) -> Outcome<Value<'v>> {
    match convert(cx, item, &Type::Number) {
        Ok(number) if !number.is_null() => Ok(number),
        Err(Fault::Limit(limit)) => Err(Fault::Limit(limit)),
        _ => Err(Fault::argument(0, "each element must be a number")),
    }
}

fn alltrue<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    for item in items(*list) {
        cx.spend(1)?;
        if !item.is_known() {
            return Ok(cx.arena().unknown(Type::Bool));
        }
        if !is_true(*item) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn anytrue<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    cx.spend(items(*list).len() as u64)?;
    if items(*list).iter().any(|item| is_true(*item)) {
        return Ok(Value::Bool(true));
    }
    let open = items(*list).iter().any(|item| !item.is_known());
    Ok(if open { cx.arena().unknown(Type::Bool) } else { Value::Bool(false) })
}

fn no_list<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Value<'v>> {
    Err(Fault::wrong("this function is not available any more: write `tolist([…])`"))
}

fn no_map<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Value<'v>> {
    Err(Fault::wrong("this function is not available any more: write `tomap({…})`"))
}
