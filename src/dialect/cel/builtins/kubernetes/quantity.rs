//! Quantities of resources.

use std::cmp::Ordering;

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::capsules::{QUANTITY, content, make};
use crate::dialect::cel::builtins::{arguments, text};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::quantity::{Quantity, Refused};
use crate::value::Value;

overloads! {
    /// The library `kubernetes.quantity`.
    pub static TABLE:
    "quantity": "The quantity that a text says."
        ["quantity('1Ki') == quantity('1024')" => "true", "quantity('200K')" => "E0403", "quantity('Three')" => "E0403"] {
        "string_to_quantity" (String) -> "kubernetes.Quantity" = quantity;
    }
    "isQuantity": "Whether a text says a quantity." ["isQuantity('1.3Gi')" => "true", "isQuantity('1,3G')" => "false"] {
        "is_quantity_string" (String) -> Bool = is_quantity;
    }
    "sign": "1, 0 or -1." ["quantity('-1.5').sign()" => "-1", "sign(quantity('1n'))" => "1"] {
        "quantity_sign" ("kubernetes.Quantity") -> Int = sign;
        "quantity_get_sign" member ("kubernetes.Quantity") -> Int = sign;
    }
    "add": "The sum with a quantity or a number." ["quantity('50k').add(quantity('20k')) == quantity('70k')" => "true", "quantity('50k').add(20) == quantity('50020')" => "true"] {
        "quantity_add" member ("kubernetes.Quantity", "kubernetes.Quantity") -> "kubernetes.Quantity" = add;
        "quantity_add_int" member ("kubernetes.Quantity", Int) -> "kubernetes.Quantity" = add;
    }
    "sub": "The difference from a quantity or a number." ["quantity('50k').sub(20000) == quantity('30k')" => "true"] {
        "quantity_sub" member ("kubernetes.Quantity", "kubernetes.Quantity") -> "kubernetes.Quantity" = sub;
        "quantity_sub_int" member ("kubernetes.Quantity", Int) -> "kubernetes.Quantity" = sub;
    }
    "isLessThan": "Whether a quantity is less than another." ["quantity('50M').isLessThan(quantity('50Mi'))" => "true"] {
        "quantity_is_less_than" member ("kubernetes.Quantity", "kubernetes.Quantity") -> Bool = is_less;
    }
    "isGreaterThan": "Whether a quantity is greater than another." ["quantity('150Mi').isGreaterThan(quantity('100Mi'))" => "true"] {
        "quantity_is_greater_than" member ("kubernetes.Quantity", "kubernetes.Quantity") -> Bool = is_greater;
    }
    "compareTo": "-1, 0 or 1 as a quantity is less than another, equal to it or greater." ["quantity('200M').compareTo(quantity('0.2G'))" => "0"] {
        "quantity_compare_to" member ("kubernetes.Quantity", "kubernetes.Quantity") -> Int = compare;
    }
    "isInteger": "Whether a quantity is a whole number of 64 bits." ["quantity('50k').isInteger()" => "true", "quantity('1.5').isInteger()" => "false"] {
        "quantity_is_integer" member ("kubernetes.Quantity") -> Bool = is_int;
    }
    "asInteger": "A quantity as a whole number." ["quantity('50k').asInteger()" => "50000", "quantity('1.5').asInteger()" => "E0403"] {
        "quantity_get_int" member ("kubernetes.Quantity") -> Int = as_int;
    }
    "asApproximateFloat": "A quantity as the nearest float." ["quantity('1500m').asApproximateFloat()" => "1.5"] {
        "quantity_get_float" member ("kubernetes.Quantity") -> Double = as_float;
    }
}

/// Reads a text as a quantity. It takes a step for every eight digits: arithmetic of long numbers is not linear.
fn read(cx: &Cx<'_>, text: &str) -> Result<std::result::Result<Quantity, Refused>> {
    cx.spend(text.len() as u64 / 8)?;
    Ok(Quantity::parse(text))
}

fn refused(why: Refused) -> Box<crate::diagnostics::Diagnostic> {
    bad_argument(why.to_string())
}

/// The quantity that a value is: a quantity, or a number.
fn value_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Quantity> {
    match value {
        Value::Int(n) => Ok(Quantity::of_int(n)),
        value => read(cx, content(value))?.map_err(refused),
    }
}

fn given_one<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Quantity> {
    let [value] = arguments(cx, given)?;
    value_of(cx, value)
}

fn given_two<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<(Quantity, Quantity)> {
    let [a, b] = arguments(cx, given)?;
    Ok((value_of(cx, a)?, value_of(cx, b)?))
}

fn made<'v>(cx: &Cx<'v>, quantity: &Quantity) -> Result<Value<'v>> {
    make(cx, QUANTITY, &quantity.to_string())
}

fn quantity<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    made(cx, &read(cx, value)?.map_err(refused)?)
}

fn is_quantity<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    Ok(Value::Bool(read(cx, value)?.is_ok()))
}

fn sign<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    given_one(cx, given).map(|quantity| Value::Int(quantity.sign()))
}

fn add<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (a, b) = given_two(cx, given)?;
    made(cx, &a.add(&b).map_err(refused)?)
}

fn sub<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (a, b) = given_two(cx, given)?;
    made(cx, &a.sub(&b).map_err(refused)?)
}

fn order<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Ordering> {
    given_two(cx, given).map(|(a, b)| a.cmp_value(&b))
}

fn is_less<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    order(cx, given).map(|order| Value::Bool(order.is_lt()))
}

fn is_greater<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    order(cx, given).map(|order| Value::Bool(order.is_gt()))
}

fn compare<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    order(cx, given).map(|order| Value::Int(order as i64))
}

fn is_int<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    given_one(cx, given).map(|quantity| Value::Bool(quantity.as_int().is_some()))
}

fn as_int<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let whole = given_one(cx, given)?.as_int();
    whole.map(Value::Int).ok_or_else(|| bad_argument("cannot convert value to integer"))
}

fn as_float<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    given_one(cx, given).map(|quantity| Value::Float(quantity.as_float()))
}
