//! Operators: logic, arithmetic, elements.

use super::arguments;
use crate::diagnostics::Result;
use crate::dialect::cel::values::{access, arithmetic, compare};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// Operators of the standard library but for those of order.
    pub static TABLE:
    "!_": "The opposite of a truth value." ["!true" => "false"] {
        "logical_not" (Bool) -> Bool = not;
    }
    "_&&_": "Whether both are true; false decides alone, whatever error the other operand has."
        ["true && false" => "false", "1 / 0 > 0 && false" => "false"] {
        "logical_and" (Bool, Bool) -> Bool = and;
    }
    "_||_": "Whether one is true; true decides alone, whatever error the other operand has."
        ["true || false" => "true", "1 / 0 > 0 || true" => "true"] {
        "logical_or" (Bool, Bool) -> Bool = or;
    }
    "_?_:_": "The first value where the condition is true, else the second; only that one is evaluated."
        ["true ? 1 : 2" => "1", "false ? 1 / 0 : 2" => "2"] {
        "conditional" (Bool, A, A) -> A = conditional;
    }
    "@not_strictly_false": "Whether a loop goes on: all but false." [] {
        "not_strictly_false" (Bool) -> Bool = not_strictly_false;
    }
    "__not_strictly_false__": "The older name of `@not_strictly_false`." [] {
        "__not_strictly_false__" (Bool) -> Bool = not_strictly_false;
    }
    "_==_": "Whether two values are equal: numbers by value, lists and maps by what is in them."
        ["1 == 1" => "true", "[1, 2] == [1, 3]" => "false", "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}" => "true",
         "dyn(1) == 1.0" => "true", "dyn(1) == 'a'" => "false"] {
        "equals" (A, A) -> Bool = equals;
    }
    "_!=_": "Whether two values are not equal." ["1 != 2" => "true"] {
        "not_equals" (A, A) -> Bool = not_equals;
    }
    "-_": "The negative of a number." ["-(1 + 1)" => "-2", "-(-9223372036854775808)" => "E0302"] {
        "negate_double" (Double) -> Double = negate;
        "negate_int64" (Int) -> Int = negate;
    }
    "_+_": "The sum of numbers or times; texts, bytes or lists one behind the other."
        ["1 + 2" => "3", "'a' + 'b'" => "'ab'", "b'a' + b'b'" => "b'ab'", "[1] + [2]" => "[1, 2]", "1.5 + 1.0" => "2.5",
         "1u + 2u" => "3u", "9223372036854775807 + 1" => "E0302", "duration('1m') + duration('1s')" => "duration('61s')",
         "timestamp(0) + duration('1s')" => "timestamp(1)", "duration('1s') + timestamp(0)" => "timestamp(1)"] {
        "add_bytes" (Bytes, Bytes) -> Bytes = add;
        "add_double" (Double, Double) -> Double = add;
        "add_duration_duration" (Duration, Duration) -> Duration = add;
        "add_duration_timestamp" (Duration, Timestamp) -> Timestamp = add;
        "add_timestamp_duration" (Timestamp, Duration) -> Timestamp = add;
        "add_int64" (Int, Int) -> Int = add;
        "add_list" ((list A), (list A)) -> (list A) = add;
        "add_string" (String, String) -> String = add;
        "add_uint64" (Uint, Uint) -> Uint = add;
    }
    "_-_": "The difference of numbers or times."
        ["3 - 1" => "2", "1u - 2u" => "E0302", "2.5 - 1.0" => "1.5", "duration('1m') - duration('1s')" => "duration('59s')",
         "timestamp(1) - duration('1s')" => "timestamp(0)", "timestamp(61) - timestamp(1)" => "duration('60s')"] {
        "subtract_double" (Double, Double) -> Double = subtract;
        "subtract_duration_duration" (Duration, Duration) -> Duration = subtract;
        "subtract_int64" (Int, Int) -> Int = subtract;
        "subtract_timestamp_duration" (Timestamp, Duration) -> Timestamp = subtract;
        "subtract_timestamp_timestamp" (Timestamp, Timestamp) -> Duration = subtract;
        "subtract_uint64" (Uint, Uint) -> Uint = subtract;
    }
    "_*_": "The product of numbers." ["2 * 3" => "6", "2u * 3u" => "6u", "1.5 * 2.0" => "3.0", "5000000000 * 5000000000" => "E0302"] {
        "multiply_double" (Double, Double) -> Double = multiply;
        "multiply_int64" (Int, Int) -> Int = multiply;
        "multiply_uint64" (Uint, Uint) -> Uint = multiply;
    }
    "_/_": "The quotient of numbers; of whole numbers cut off towards zero."
        ["7 / 2" => "3", "-7 / 2" => "-3", "7u / 2u" => "3u", "7.0 / 2.0" => "3.5", "1 / 0" => "E0302"] {
        "divide_double" (Double, Double) -> Double = divide;
        "divide_int64" (Int, Int) -> Int = divide;
        "divide_uint64" (Uint, Uint) -> Uint = divide;
    }
    "_%_": "What a division of whole numbers leaves." ["7 % 2" => "1", "-7 % 2" => "-1", "7u % 2u" => "1u", "1 % 0" => "E0302"] {
        "modulo_int64" (Int, Int) -> Int = modulo;
        "modulo_uint64" (Uint, Uint) -> Uint = modulo;
    }
    "@in": "Whether a list has such an element, or a map such a key."
        ["2 in [1, 2]" => "true", "'b' in {'a': 1}" => "false", "dyn(1.0) in {1: 'a'}" => "true"] {
        "in_list" (A, (list A)) -> Bool = contained;
        "in_map" (A, (map A B)) -> Bool = contained;
    }
    "_[_]": "The element of a list at an index, the entry of a map under a key."
        ["[1, 2][1]" => "2", "{'a': 1}['a']" => "1", "{1: 'a'}[1]" => "'a'", "[1][1]" => "E0202", "{'a': 1}['b']" => "E0202"] {
        "index_list" ((list A), Int) -> A = index;
        "index_map" ((map A B), A) -> B = index;
    }
}

fn not<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [truth] = arguments(cx, given)?;
    Ok(Value::Bool(!matches!(truth, Value::Bool(true))))
}

fn and<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    Ok(Value::Bool(matches!((a, b), (Value::Bool(true), Value::Bool(true)))))
}

fn or<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    Ok(Value::Bool(matches!(a, Value::Bool(true)) || matches!(b, Value::Bool(true))))
}

fn conditional<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [condition, yes, no] = arguments(cx, given)?;
    Ok(if matches!(condition, Value::Bool(true)) { yes } else { no })
}

fn not_strictly_false<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [truth] = arguments(cx, given)?;
    Ok(Value::Bool(!matches!(truth, Value::Bool(false))))
}

fn equals<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    compare::equal(cx, a, b).map(Value::Bool)
}

fn not_equals<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    compare::equal(cx, a, b).map(|equal| Value::Bool(!equal))
}

fn negate<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a] = arguments(cx, given)?;
    arithmetic::negate(a)
}

fn add<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    arithmetic::add(cx, a, b)
}

fn subtract<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    arithmetic::subtract(cx, a, b)
}

fn multiply<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    arithmetic::multiply(a, b)
}

fn divide<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    arithmetic::divide(a, b)
}

fn modulo<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    arithmetic::modulo(a, b)
}

fn contained<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [needle, haystack] = arguments(cx, given)?;
    access::contains(cx, haystack, needle).map(Value::Bool)
}

fn index<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, at] = arguments(cx, given)?;
    access::index(cx, value, at)
}
