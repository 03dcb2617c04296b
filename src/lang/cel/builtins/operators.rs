//! Operators: logic, equality, arithmetic, indexing.

use crate::values::{access, arithmetic, compare};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// Operators of the standard library, except those of order.
    pub static TABLE:
    "!_": "Returns the opposite of a boolean." ["!true" => "false"]
        fn "logical_not" (Bool) -> Bool = |truth: bool| !truth;
    "_&&_": "Returns `true` if both operands are true. `false` wins over an error in the other operand."
        ["true && false" => "false", "1 / 0 > 0 && false" => "false"]
        fn "logical_and" (Bool, Bool) -> Bool = |a: bool, b: bool| a && b;
    "_||_": "Returns `true` if one operand is true. `true` wins over an error in the other operand."
        ["true || false" => "true", "1 / 0 > 0 || true" => "true"]
        fn "logical_or" (Bool, Bool) -> Bool = |a: bool, b: bool| a || b;
    "_?_:_": "Returns the first value if the condition is true, otherwise the second. Evaluates only that one."
        ["true ? 1 : 2" => "1", "false ? 1 / 0 : 2" => "2"]
        fn "conditional" (Bool, A, A) -> A = conditional;
    "@not_strictly_false": "Returns `true` if a loop continues: for anything but `false`." []
        fn "not_strictly_false" (Bool) -> Bool = |truth: Value<'_>| !matches!(truth, Value::Bool(false));
    "__not_strictly_false__": "The older name of `@not_strictly_false`." []
        fn "__not_strictly_false__" (Bool) -> Bool = |truth: Value<'_>| !matches!(truth, Value::Bool(false));
    "_==_": "Returns `true` if two values are equal: numbers by value, lists and maps by content."
        ["1 == 1" => "true", "[1, 2] == [1, 3]" => "false", "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}" => "true",
         "dyn(1) == 1.0" => "true", "dyn(1) == 'a'" => "false"]
        fn "equals" (A, A) -> Bool = compare::equal;
    "_!=_": "Returns `true` if two values are not equal." ["1 != 2" => "true"]
        fn "not_equals" (A, A) -> Bool = not_equals;
    "-_": "Returns the negative of a number." ["-(1 + 1)" => "-2", "-(-9223372036854775808)" => "E0302"]
        fn "negate_double" (Double) -> Double = arithmetic::negate;
        fn "negate_int64" (Int) -> Int = arithmetic::negate;
    "_+_": "Adds numbers or times; concatenates strings, bytes or lists."
        ["1 + 2" => "3", "'a' + 'b'" => "'ab'", "b'a' + b'b'" => "b'ab'", "[1] + [2]" => "[1, 2]", "1.5 + 1.0" => "2.5",
         "1u + 2u" => "3u", "9223372036854775807 + 1" => "E0302", "duration('1m') + duration('1s')" => "duration('61s')",
         "timestamp(0) + duration('1s')" => "timestamp(1)", "duration('1s') + timestamp(0)" => "timestamp(1)"]
        fn "add_bytes" (Bytes, Bytes) -> Bytes = arithmetic::add;
        fn "add_double" (Double, Double) -> Double = arithmetic::add;
        fn "add_duration_duration" (Duration, Duration) -> Duration = arithmetic::add;
        fn "add_duration_timestamp" (Duration, Timestamp) -> Timestamp = arithmetic::add;
        fn "add_timestamp_duration" (Timestamp, Duration) -> Timestamp = arithmetic::add;
        fn "add_int64" (Int, Int) -> Int = arithmetic::add;
        fn "add_list" ((list A), (list A)) -> (list A) = arithmetic::add;
        fn "add_string" (String, String) -> String = arithmetic::add;
        fn "add_uint64" (Uint, Uint) -> Uint = arithmetic::add;
    "_-_": "Subtracts numbers or times."
        ["3 - 1" => "2", "1u - 2u" => "E0302", "2.5 - 1.0" => "1.5", "duration('1m') - duration('1s')" => "duration('59s')",
         "timestamp(1) - duration('1s')" => "timestamp(0)", "timestamp(61) - timestamp(1)" => "duration('60s')"]
        fn "subtract_double" (Double, Double) -> Double = arithmetic::subtract;
        fn "subtract_duration_duration" (Duration, Duration) -> Duration = arithmetic::subtract;
        fn "subtract_int64" (Int, Int) -> Int = arithmetic::subtract;
        fn "subtract_timestamp_duration" (Timestamp, Duration) -> Timestamp = arithmetic::subtract;
        fn "subtract_timestamp_timestamp" (Timestamp, Timestamp) -> Duration = arithmetic::subtract;
        fn "subtract_uint64" (Uint, Uint) -> Uint = arithmetic::subtract;
    "_*_": "Multiplies numbers." ["2 * 3" => "6", "2u * 3u" => "6u", "1.5 * 2.0" => "3.0", "5000000000 * 5000000000" => "E0302"]
        fn "multiply_double" (Double, Double) -> Double = arithmetic::multiply;
        fn "multiply_int64" (Int, Int) -> Int = arithmetic::multiply;
        fn "multiply_uint64" (Uint, Uint) -> Uint = arithmetic::multiply;
    "_/_": "Divides numbers. Integer division truncates towards zero."
        ["7 / 2" => "3", "-7 / 2" => "-3", "7u / 2u" => "3u", "7.0 / 2.0" => "3.5", "1 / 0" => "E0302"]
        fn "divide_double" (Double, Double) -> Double = arithmetic::divide;
        fn "divide_int64" (Int, Int) -> Int = arithmetic::divide;
        fn "divide_uint64" (Uint, Uint) -> Uint = arithmetic::divide;
    "_%_": "Returns the remainder of an integer division." ["7 % 2" => "1", "-7 % 2" => "-1", "7u % 2u" => "1u", "1 % 0" => "E0302"]
        fn "modulo_int64" (Int, Int) -> Int = arithmetic::modulo;
        fn "modulo_uint64" (Uint, Uint) -> Uint = arithmetic::modulo;
    "@in": "Returns `true` if a list contains the element, or a map the key."
        ["2 in [1, 2]" => "true", "'b' in {'a': 1}" => "false", "dyn(1.0) in {1: 'a'}" => "true"]
        fn "in_list" (A, (list A)) -> Bool = contained;
        fn "in_map" (A, (map A B)) -> Bool = contained;
    "_[_]": "Returns the element of a list at an index, or the value of a map under a key."
        ["[1, 2][1]" => "2", "{'a': 1}['a']" => "1", "{1: 'a'}[1]" => "'a'", "[1][1]" => "E0202", "{'a': 1}['b']" => "E0202"]
        fn "index_list" ((list A), Int) -> A = access::index;
        fn "index_map" ((map A B), A) -> B = access::index;
}

fn conditional<'v>(condition: bool, then: Value<'v>, otherwise: Value<'v>) -> Value<'v> {
    if condition { then } else { otherwise }
}

fn not_equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    compare::equal(cx, a, b).map(|equal| !equal)
}

fn contained<'v>(cx: &Cx<'v>, needle: Value<'v>, haystack: Value<'v>) -> Result<bool> {
    access::contains(cx, haystack, needle)
}
