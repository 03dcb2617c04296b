//! Operators of order.

use super::arguments;
use crate::diagnostics::Result;
use crate::dialect::cel::values::compare::{Relation, related};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// Operators of order of the standard library.
    pub static TABLE:
    "_<_": "Whether the first value is less than the second."
        ["1 < 2" => "true", "1 < 1.5" => "true", "'a' < 'b'" => "true", "b'b' < b'a'" => "false", "false < true" => "true",
         "timestamp(0) < timestamp(1)" => "true", "duration('1s') < duration('1m')" => "true", "dyn([]) < dyn([])" => "E0301"] {
        "less_bool" (Bool, Bool) -> Bool = less;
        "less_int64" (Int, Int) -> Bool = less;
        "less_int64_double" (Int, Double) -> Bool = less;
        "less_int64_uint64" (Int, Uint) -> Bool = less;
        "less_uint64" (Uint, Uint) -> Bool = less;
        "less_uint64_double" (Uint, Double) -> Bool = less;
        "less_uint64_int64" (Uint, Int) -> Bool = less;
        "less_double" (Double, Double) -> Bool = less;
        "less_double_int64" (Double, Int) -> Bool = less;
        "less_double_uint64" (Double, Uint) -> Bool = less;
        "less_string" (String, String) -> Bool = less;
        "less_bytes" (Bytes, Bytes) -> Bool = less;
        "less_timestamp" (Timestamp, Timestamp) -> Bool = less;
        "less_duration" (Duration, Duration) -> Bool = less;
    }
    "_<=_": "Whether the first value is not greater than the second."
        ["2 <= 2" => "true", "2u <= 1" => "false"] {
        "less_equals_bool" (Bool, Bool) -> Bool = less_equals;
        "less_equals_int64" (Int, Int) -> Bool = less_equals;
        "less_equals_int64_double" (Int, Double) -> Bool = less_equals;
        "less_equals_int64_uint64" (Int, Uint) -> Bool = less_equals;
        "less_equals_uint64" (Uint, Uint) -> Bool = less_equals;
        "less_equals_uint64_double" (Uint, Double) -> Bool = less_equals;
        "less_equals_uint64_int64" (Uint, Int) -> Bool = less_equals;
        "less_equals_double" (Double, Double) -> Bool = less_equals;
        "less_equals_double_int64" (Double, Int) -> Bool = less_equals;
        "less_equals_double_uint64" (Double, Uint) -> Bool = less_equals;
        "less_equals_string" (String, String) -> Bool = less_equals;
        "less_equals_bytes" (Bytes, Bytes) -> Bool = less_equals;
        "less_equals_timestamp" (Timestamp, Timestamp) -> Bool = less_equals;
        "less_equals_duration" (Duration, Duration) -> Bool = less_equals;
    }
    "_>_": "Whether the first value is greater than the second."
        ["2 > 1" => "true", "'a' > 'b'" => "false"] {
        "greater_bool" (Bool, Bool) -> Bool = greater;
        "greater_int64" (Int, Int) -> Bool = greater;
        "greater_int64_double" (Int, Double) -> Bool = greater;
        "greater_int64_uint64" (Int, Uint) -> Bool = greater;
        "greater_uint64" (Uint, Uint) -> Bool = greater;
        "greater_uint64_double" (Uint, Double) -> Bool = greater;
        "greater_uint64_int64" (Uint, Int) -> Bool = greater;
        "greater_double" (Double, Double) -> Bool = greater;
        "greater_double_int64" (Double, Int) -> Bool = greater;
        "greater_double_uint64" (Double, Uint) -> Bool = greater;
        "greater_string" (String, String) -> Bool = greater;
        "greater_bytes" (Bytes, Bytes) -> Bool = greater;
        "greater_timestamp" (Timestamp, Timestamp) -> Bool = greater;
        "greater_duration" (Duration, Duration) -> Bool = greater;
    }
    "_>=_": "Whether the first value is not less than the second."
        ["2 >= 2.0" => "true", "1 >= 2u" => "false"] {
        "greater_equals_bool" (Bool, Bool) -> Bool = greater_equals;
        "greater_equals_int64" (Int, Int) -> Bool = greater_equals;
        "greater_equals_int64_double" (Int, Double) -> Bool = greater_equals;
        "greater_equals_int64_uint64" (Int, Uint) -> Bool = greater_equals;
        "greater_equals_uint64" (Uint, Uint) -> Bool = greater_equals;
        "greater_equals_uint64_double" (Uint, Double) -> Bool = greater_equals;
        "greater_equals_uint64_int64" (Uint, Int) -> Bool = greater_equals;
        "greater_equals_double" (Double, Double) -> Bool = greater_equals;
        "greater_equals_double_int64" (Double, Int) -> Bool = greater_equals;
        "greater_equals_double_uint64" (Double, Uint) -> Bool = greater_equals;
        "greater_equals_string" (String, String) -> Bool = greater_equals;
        "greater_equals_bytes" (Bytes, Bytes) -> Bool = greater_equals;
        "greater_equals_timestamp" (Timestamp, Timestamp) -> Bool = greater_equals;
        "greater_equals_duration" (Duration, Duration) -> Bool = greater_equals;
    }
}

fn less<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    related(cx, Relation::Less, a, b).map(Value::Bool)
}

fn less_equals<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    related(cx, Relation::LessEquals, a, b).map(Value::Bool)
}

fn greater<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    related(cx, Relation::Greater, a, b).map(Value::Bool)
}

fn greater_equals<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = arguments(cx, given)?;
    related(cx, Relation::GreaterEquals, a, b).map(Value::Bool)
}
