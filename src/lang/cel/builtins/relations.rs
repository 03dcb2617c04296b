//! Ordering operators.

use std::cmp::Ordering;

use crate::values::compare::related;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

/// Declares the overloads of each ordering operator: one for each pair of types that have an order.
macro_rules! relations {
    ($($name:literal $prefix:literal $holds:ident: $doc:literal $examples:tt;)*) => {
        overloads! {
            /// Ordering operators of the standard library.
            pub static TABLE:
            $($name: $doc $examples
                fn $prefix "bool" (Bool, Bool) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "int64" (Int, Int) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "int64_double" (Int, Double) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "int64_uint64" (Int, Uint) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "uint64" (Uint, Uint) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "uint64_double" (Uint, Double) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "uint64_int64" (Uint, Int) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "double" (Double, Double) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "double_int64" (Double, Int) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "double_uint64" (Double, Uint) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "string" (String, String) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "bytes" (Bytes, Bytes) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "timestamp" (Timestamp, Timestamp) -> Bool = related_by($name, Ordering::$holds);
                fn $prefix "duration" (Duration, Duration) -> Bool = related_by($name, Ordering::$holds);
            )*
        }
    };
}

relations! {
    "_<_" "less_" is_lt: "Returns `true` if the first value is less than the second."
        ["1 < 2" => "true", "1 < 1.5" => "true", "'a' < 'b'" => "true", "b'b' < b'a'" => "false", "false < true" => "true",
         "timestamp(0) < timestamp(1)" => "true", "duration('1s') < duration('1m')" => "true", "dyn([]) < dyn([])" => "E0301"];
    "_<=_" "less_equals_" is_le: "Returns `true` if the first value is not greater than the second."
        ["2 <= 2" => "true", "2u <= 1" => "false"];
    "_>_" "greater_" is_gt: "Returns `true` if the first value is greater than the second."
        ["2 > 1" => "true", "'a' > 'b'" => "false"];
    "_>=_" "greater_equals_" is_ge: "Returns `true` if the first value is not less than the second."
        ["2 >= 2.0" => "true", "1 >= 2u" => "false"];
}

fn related_by<'v>(
    operator: &'static str,
    holds: fn(Ordering) -> bool,
) -> impl Fn(&Cx<'v>, Value<'v>, Value<'v>) -> Result<bool> {
    move |cx, a, b| related(cx, operator, holds, a, b)
}
