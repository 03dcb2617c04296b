//! Ordering operators.

use std::cmp::Ordering;

use crate::diagnostics::Result;
use crate::dialect::cel::values::compare::related;
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

/// Declares the overloads of each ordering operator: one for each pair of types that have an order.
macro_rules! relations {
    ($($name:literal $prefix:literal $body:ident: $doc:literal $examples:tt;)*) => {
        overloads! {
            /// Ordering operators of the standard library.
            pub static TABLE:
            $($name: $doc $examples
                fn $prefix "bool" (Bool, Bool) -> Bool = $body;
                fn $prefix "int64" (Int, Int) -> Bool = $body;
                fn $prefix "int64_double" (Int, Double) -> Bool = $body;
                fn $prefix "int64_uint64" (Int, Uint) -> Bool = $body;
                fn $prefix "uint64" (Uint, Uint) -> Bool = $body;
                fn $prefix "uint64_double" (Uint, Double) -> Bool = $body;
                fn $prefix "uint64_int64" (Uint, Int) -> Bool = $body;
                fn $prefix "double" (Double, Double) -> Bool = $body;
                fn $prefix "double_int64" (Double, Int) -> Bool = $body;
                fn $prefix "double_uint64" (Double, Uint) -> Bool = $body;
                fn $prefix "string" (String, String) -> Bool = $body;
                fn $prefix "bytes" (Bytes, Bytes) -> Bool = $body;
                fn $prefix "timestamp" (Timestamp, Timestamp) -> Bool = $body;
                fn $prefix "duration" (Duration, Duration) -> Bool = $body;
            )*
        }
    };
}

relations! {
    "_<_" "less_" less: "Returns `true` if the first value is less than the second."
        ["1 < 2" => "true", "1 < 1.5" => "true", "'a' < 'b'" => "true", "b'b' < b'a'" => "false", "false < true" => "true",
         "timestamp(0) < timestamp(1)" => "true", "duration('1s') < duration('1m')" => "true", "dyn([]) < dyn([])" => "E0301"];
    "_<=_" "less_equals_" less_equals: "Returns `true` if the first value is not greater than the second."
        ["2 <= 2" => "true", "2u <= 1" => "false"];
    "_>_" "greater_" greater: "Returns `true` if the first value is greater than the second."
        ["2 > 1" => "true", "'a' > 'b'" => "false"];
    "_>=_" "greater_equals_" greater_equals: "Returns `true` if the first value is not less than the second."
        ["2 >= 2.0" => "true", "1 >= 2u" => "false"];
}

fn less<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    related(cx, "_<_", Ordering::is_lt, a, b)
}

fn less_equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    related(cx, "_<=_", Ordering::is_le, a, b)
}

fn greater<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    related(cx, "_>_", Ordering::is_gt, a, b)
}

fn greater_equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    related(cx, "_>=_", Ordering::is_ge, a, b)
}
