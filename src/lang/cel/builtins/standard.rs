//! The standard library: operators, conversions, sizes and predicates, parts of timestamps and durations.

use std::cmp::Ordering;

use crate::values;
use crate::values::compare::related;
use crate::values::time::{TimeField, part};
use crate::values::{access, compare, convert};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Pattern, Refusal};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// Operators of the standard library, except those of order.
    pub static OPERATORS:
    "!_", "Returns the opposite of a boolean." ["!true" => "false"]
        | "logical_not" (Bool) -> Bool = |truth: bool| !truth;
    "_&&_", "Returns `true` if both operands are true. `false` wins over an error in the other operand."
        ["true && false" => "false", "1 / 0 > 0 && false" => "false"]
        | "logical_and" (Bool, Bool) -> Bool = |a: bool, b: bool| a && b;
    "_||_", "Returns `true` if one operand is true. `true` wins over an error in the other operand."
        ["true || false" => "true", "1 / 0 > 0 || true" => "true"]
        | "logical_or" (Bool, Bool) -> Bool = |a: bool, b: bool| a || b;
    "_?_:_", "Returns the first value if the condition is true, otherwise the second. Evaluates only that one."
        ["true ? 1 : 2" => "1", "false ? 1 / 0 : 2" => "2"]
        | "conditional" (Bool, A, A) -> A = conditional;
    "@not_strictly_false", "Returns `true` if a loop continues: for anything but `false`." []
        | "not_strictly_false" (Bool) -> Bool = |truth: Value<'_>| !matches!(truth, Value::Bool(false));
    "__not_strictly_false__", "The older name of `@not_strictly_false`." []
        | "__not_strictly_false__" (Bool) -> Bool = |truth: Value<'_>| !matches!(truth, Value::Bool(false));
    "_==_", "Returns `true` if two values are equal: numbers by value, lists and maps by content."
        ["1 == 1" => "true", "[1, 2] == [1, 3]" => "false", "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}" => "true",
         "dyn(1) == 1.0" => "true", "dyn(1) == 'a'" => "false"]
        | "equals" (A, A) -> Bool = compare::equal;
    "_!=_", "Returns `true` if two values are not equal." ["1 != 2" => "true"]
        | "not_equals" (A, A) -> Bool = not_equals;
    "-_", "Returns the negative of a number." ["-(1 + 1)" => "-2", "-(-9223372036854775808)" => "E0302"]
        | "negate_double" (Double) -> Double = compare::negate;
        | "negate_int64" (Int) -> Int = compare::negate;
    "_+_", "Adds numbers or times; concatenates strings, bytes or lists."
        ["1 + 2" => "3", "'a' + 'b'" => "'ab'", "b'a' + b'b'" => "b'ab'", "[1] + [2]" => "[1, 2]", "1.5 + 1.0" => "2.5",
         "1u + 2u" => "3u", "9223372036854775807 + 1" => "E0302", "duration('1m') + duration('1s')" => "duration('61s')",
         "timestamp(0) + duration('1s')" => "timestamp(1)", "duration('1s') + timestamp(0)" => "timestamp(1)"]
        | "add_bytes" (Bytes, Bytes) -> Bytes = compare::add;
        | "add_double" (Double, Double) -> Double = compare::add;
        | "add_duration_duration" (Duration, Duration) -> Duration = compare::add;
        | "add_duration_timestamp" (Duration, Timestamp) -> Timestamp = compare::add;
        | "add_timestamp_duration" (Timestamp, Duration) -> Timestamp = compare::add;
        | "add_int64" (Int, Int) -> Int = compare::add;
        | "add_list" ((list A), (list A)) -> (list A) = compare::add;
        | "add_string" (String, String) -> String = compare::add;
        | "add_uint64" (Uint, Uint) -> Uint = compare::add;
    "_-_", "Subtracts numbers or times."
        ["3 - 1" => "2", "1u - 2u" => "E0302", "2.5 - 1.0" => "1.5", "duration('1m') - duration('1s')" => "duration('59s')",
         "timestamp(1) - duration('1s')" => "timestamp(0)", "timestamp(61) - timestamp(1)" => "duration('60s')"]
        | "subtract_double" (Double, Double) -> Double = compare::subtract;
        | "subtract_duration_duration" (Duration, Duration) -> Duration = compare::subtract;
        | "subtract_int64" (Int, Int) -> Int = compare::subtract;
        | "subtract_timestamp_duration" (Timestamp, Duration) -> Timestamp = compare::subtract;
        | "subtract_timestamp_timestamp" (Timestamp, Timestamp) -> Duration = compare::subtract;
        | "subtract_uint64" (Uint, Uint) -> Uint = compare::subtract;
    "_*_", "Multiplies numbers." ["2 * 3" => "6", "2u * 3u" => "6u", "1.5 * 2.0" => "3.0", "5000000000 * 5000000000" => "E0302"]
        | "multiply_double" (Double, Double) -> Double = compare::multiply;
        | "multiply_int64" (Int, Int) -> Int = compare::multiply;
        | "multiply_uint64" (Uint, Uint) -> Uint = compare::multiply;
    "_/_", "Divides numbers. Integer division truncates towards zero."
        ["7 / 2" => "3", "-7 / 2" => "-3", "7u / 2u" => "3u", "7.0 / 2.0" => "3.5", "1 / 0" => "E0302"]
        | "divide_double" (Double, Double) -> Double = compare::divide;
        | "divide_int64" (Int, Int) -> Int = compare::divide;
        | "divide_uint64" (Uint, Uint) -> Uint = compare::divide;
    "_%_", "Returns the remainder of an integer division." ["7 % 2" => "1", "-7 % 2" => "-1", "7u % 2u" => "1u", "1 % 0" => "E0302"]
        | "modulo_int64" (Int, Int) -> Int = compare::modulo;
        | "modulo_uint64" (Uint, Uint) -> Uint = compare::modulo;
    "@in", "Returns `true` if a list contains the element, or a map the key."
        ["2 in [1, 2]" => "true", "'b' in {'a': 1}" => "false", "dyn(1.0) in {1: 'a'}" => "true"]
        | "in_list" (A, (list A)) -> Bool = contained;
        | "in_map" (A, (map A B)) -> Bool = contained;
    "_[_]", "Returns the element of a list at an index, or the value of a map under a key."
        ["[1, 2][1]" => "2", "{'a': 1}['a']" => "1", "{1: 'a'}[1]" => "'a'", "[1][1]" => "E0202", "{'a': 1}['b']" => "E0202"]
        | "index_list" ((list A), Int) -> A = access::index;
        | "index_map" ((map A B), A) -> B = access::index;
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

/// Declares the overloads of each ordering operator: one for each pair of types that have an order.
macro_rules! relations {
    ($($name:literal $prefix:literal $holds:ident: $doc:literal $examples:tt;)*) => {
        functions! {
            /// Ordering operators of the standard library.
            pub static RELATIONS:
            $($name, $doc $examples
                | $prefix "bool" (Bool, Bool) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "int64" (Int, Int) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "int64_double" (Int, Double) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "int64_uint64" (Int, Uint) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "uint64" (Uint, Uint) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "uint64_double" (Uint, Double) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "uint64_int64" (Uint, Int) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "double" (Double, Double) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "double_int64" (Double, Int) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "double_uint64" (Double, Uint) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "string" (String, String) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "bytes" (Bytes, Bytes) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "timestamp" (Timestamp, Timestamp) -> Bool = related_by($name, Ordering::$holds);
                | $prefix "duration" (Duration, Duration) -> Bool = related_by($name, Ordering::$holds);
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

functions! {
    /// Conversions of the standard library.
    pub static CONVERSIONS:
    "bool", "Converts the text of a boolean." ["bool('t')" => "true", "bool('FALSE')" => "false", "bool('yes')" => "E0403"]
        | "bool_to_bool" (Bool) -> Bool = convert::bool;
        | "string_to_bool" (String) -> Bool = convert::bool;
    "bytes", "Converts a string to its UTF-8 bytes." ["bytes('é')" => "b'\\303\\251'"]
        | "bytes_to_bytes" (Bytes) -> Bytes = convert::bytes;
        | "string_to_bytes" (String) -> Bytes = convert::bytes;
    "double", "Converts to the nearest double." ["double(1)" => "1.0", "double('1e3')" => "1000.0", "double('a')" => "E0403"]
        | "double_to_double" (Double) -> Double = convert::double;
        | "int64_to_double" (Int) -> Double = convert::double;
        | "string_to_double" (String) -> Double = convert::double;
        | "uint64_to_double" (Uint) -> Double = convert::double;
    "duration", "Parses a duration." ["duration('1h30m')" => "duration('5400s')", "duration('1 day')" => "E0403"]
        | "duration_to_duration" (Duration) -> Duration = convert::duration;
        | "string_to_duration" (String) -> Duration = convert::duration;
    "dyn", "Returns the value unchanged, as type `dyn`." ["dyn(1)" => "dyn(1)"]
        | "to_dyn" (A) -> Dyn = std::convert::identity::<Value<'_>>;
    "int", "Converts to an integer: truncates a double, and returns the seconds of a timestamp or the nanoseconds of a duration."
        ["int(1.9)" => "1", "int('-7')" => "-7", "int(3u)" => "3", "int(timestamp(5))" => "5",
         "int(duration('1s'))" => "1000000000", "int(1e30)" => "E0302", "int('1.5')" => "E0403"]
        | "int64_to_int64" (Int) -> Int = convert::int;
        | "double_to_int64" (Double) -> Int = convert::int;
        | "duration_to_int64" (Duration) -> Int = convert::int;
        | "string_to_int64" (String) -> Int = convert::int;
        | "timestamp_to_int64" (Timestamp) -> Int = convert::int;
        | "uint64_to_int64" (Uint) -> Int = convert::int;
    "string", "Converts to a string."
        ["string(1)" => "'1'", "string(1.0)" => "'1'", "string(123456789.0)" => "'1.23456789e+08'", "string(true)" => "'true'",
         "string(7u)" => "'7'", "string(b'abc')" => "'abc'", "string(duration('90s'))" => "'90s'",
         "string(timestamp(0))" => "'1970-01-01T00:00:00Z'", "string(b'\\377')" => "E0403"]
        | "string_to_string" (String) -> String = convert::string;
        | "bool_to_string" (Bool) -> String = convert::string;
        | "bytes_to_string" (Bytes) -> String = convert::string;
        | "double_to_string" (Double) -> String = convert::string;
        | "duration_to_string" (Duration) -> String = convert::string;
        | "int64_to_string" (Int) -> String = convert::string;
        | "timestamp_to_string" (Timestamp) -> String = convert::string;
        | "uint64_to_string" (Uint) -> String = convert::string;
    "timestamp", "Converts an RFC 3339 string, or seconds since 1970, to a timestamp."
        ["timestamp('1970-01-01T01:00:00+01:00')" => "timestamp(0)", "timestamp('yesterday')" => "E0403",
         "timestamp(253402300800)" => "E0302"]
        | "timestamp_to_timestamp" (Timestamp) -> Timestamp = convert::timestamp;
        | "int64_to_timestamp" (Int) -> Timestamp = convert::timestamp;
        | "string_to_timestamp" (String) -> Timestamp = convert::timestamp;
    "type", "Returns the type of a value." ["type(1)" => "int", "type(type(1))" => "type"]
        | "type" (A) -> (type A) = convert::type_of;
    "uint", "Converts to an unsigned integer." ["uint(1)" => "1u", "uint('7')" => "7u", "uint(1.9)" => "1u", "uint(-1)" => "E0302"]
        | "uint64_to_uint64" (Uint) -> Uint = convert::uint;
        | "double_to_uint64" (Double) -> Uint = convert::uint;
        | "int64_to_uint64" (Int) -> Uint = convert::uint;
        | "string_to_uint64" (String) -> Uint = convert::uint;
}

functions! {
    /// Sizes and string predicates of the standard library.
    pub static PREDICATES:
    "size", "Counts characters, bytes, elements or entries."
        ["size('πέντε')" => "5", "b'abc'.size()" => "3", "[1, 2].size()" => "2", "size({'a': 1})" => "1"]
        | "size_bytes" (Bytes) -> Int = access::size;
        | "bytes_size" member (Bytes) -> Int = access::size;
        | "size_list" ((list A)) -> Int = access::size;
        | "list_size" member ((list A)) -> Int = access::size;
        | "size_map" ((map A B)) -> Int = access::size;
        | "map_size" member ((map A B)) -> Int = access::size;
        | "size_string" (String) -> Int = access::size;
        | "string_size" member (String) -> Int = access::size;
    "contains", "Returns `true` if a string contains another." ["'hello'.contains('ell')" => "true"]
        | "contains_string" member (String, String) -> Bool =
            |cx: &Cx<'_>, text: &str, part: &str| pay(cx, text).map(|()| text.contains(part));
    "startsWith", "Returns `true` if a string starts with another." ["'hello'.startsWith('he')" => "true"]
        | "starts_with_string" member (String, String) -> Bool =
            |cx: &Cx<'_>, text: &str, prefix: &str| pay(cx, text).map(|()| text.starts_with(prefix));
    "endsWith", "Returns `true` if a string ends with another." ["'hello'.endsWith('he')" => "false"]
        | "ends_with_string" member (String, String) -> Bool =
            |cx: &Cx<'_>, text: &str, suffix: &str| pay(cx, text).map(|()| text.ends_with(suffix));
    "matches", "Returns `true` if an RE2 regular expression matches anywhere in a string."
        ["'hello'.matches('l+')" => "true", "matches('hello', '^l')" => "false", "'a'.matches('(')" => "E0403"]
        | "matches" (String, String) -> Bool = matches;
        | "matches_string" member (String, String) -> Bool = matches;
}

/// Spends the steps that reading a string takes.
pub(super) fn pay(cx: &Cx<'_>, text: &str) -> Result<()> {
    cx.spend((text.len() / 64) as u64)
}

fn matches<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str) -> Result<bool> {
    pay(cx, text)?;
    Ok(compiled(cx, pattern, text.len())?.is_match(text))
}

/// Compiles an RE2 regular expression, and pays for a search through `bytes` bytes.
///
/// # Errors
/// An invalid regular expression, or a limit of the render.
pub(super) fn compiled<'c>(cx: &'c Cx<'_>, pattern: &str, bytes: usize) -> Result<Pattern<'c>> {
    let invalid = |refused: Refusal<'_>| {
        let why = match refused {
            Refusal::Syntax(why) => why.to_string(),
            Refusal::Engine(why) => why,
        };
        let shown: String = pattern.chars().take(60).collect();
        values::bad_argument(format!("`{shown}` is not a regular expression")).with_help(why)
    };
    cx.charge(pattern.len())?;
    let compiled = cx.re2(pattern, invalid)?;
    cx.spend(compiled.search_steps(bytes))?;
    Ok(compiled)
}

functions! {
    /// Parts of timestamps and durations, of the standard library.
    pub static TIMESTAMPS:
    "getFullYear", "Returns the year." ["timestamp(0).getFullYear()" => "1970"]
        | "timestamp_to_year" member (Timestamp) -> Int = part(TimeField::FullYear);
        | "timestamp_to_year_with_tz" member (Timestamp, String) -> Int = part(TimeField::FullYear);
    "getMonth", "Returns the month, from 0." ["timestamp(0).getMonth()" => "0"]
        | "timestamp_to_month" member (Timestamp) -> Int = part(TimeField::Month);
        | "timestamp_to_month_with_tz" member (Timestamp, String) -> Int = part(TimeField::Month);
    "getDate", "Returns the day of the month, from 1." ["timestamp(0).getDate()" => "1", "timestamp(0).getDate('-01:00')" => "31"]
        | "timestamp_to_day_of_month_1_based" member (Timestamp) -> Int = part(TimeField::Date);
        | "timestamp_to_day_of_month_1_based_with_tz" member (Timestamp, String) -> Int = part(TimeField::Date);
    "getDayOfMonth", "Returns the day of the month, from 0." ["timestamp(0).getDayOfMonth()" => "0"]
        | "timestamp_to_day_of_month" member (Timestamp) -> Int = part(TimeField::DayOfMonth);
        | "timestamp_to_day_of_month_with_tz" member (Timestamp, String) -> Int = part(TimeField::DayOfMonth);
    "getDayOfWeek", "Returns the day of the week, from 0 for Sunday." ["timestamp(0).getDayOfWeek()" => "4"]
        | "timestamp_to_day_of_week" member (Timestamp) -> Int = part(TimeField::DayOfWeek);
        | "timestamp_to_day_of_week_with_tz" member (Timestamp, String) -> Int = part(TimeField::DayOfWeek);
    "getDayOfYear", "Returns the day of the year, from 0." ["timestamp(0).getDayOfYear()" => "0"]
        | "timestamp_to_day_of_year" member (Timestamp) -> Int = part(TimeField::DayOfYear);
        | "timestamp_to_day_of_year_with_tz" member (Timestamp, String) -> Int = part(TimeField::DayOfYear);
    "getHours", "Returns the hour of a timestamp, or all hours of a duration."
        ["timestamp(0).getHours('Asia/Tokyo')" => "9", "duration('90m').getHours()" => "1", "timestamp(0).getHours('Mars')" => "E0403"]
        | "timestamp_to_hours" member (Timestamp) -> Int = part(TimeField::Hours);
        | "timestamp_to_hours_with_tz" member (Timestamp, String) -> Int = part(TimeField::Hours);
        | "duration_to_hours" member (Duration) -> Int = part(TimeField::Hours);
    "getMinutes", "Returns the minute of a timestamp, or all minutes of a duration." ["duration('90m').getMinutes()" => "90"]
        | "timestamp_to_minutes" member (Timestamp) -> Int = part(TimeField::Minutes);
        | "timestamp_to_minutes_with_tz" member (Timestamp, String) -> Int = part(TimeField::Minutes);
        | "duration_to_minutes" member (Duration) -> Int = part(TimeField::Minutes);
    "getSeconds", "Returns the second of a timestamp, or all seconds of a duration."
        ["timestamp(61).getSeconds()" => "1", "duration('1m1s').getSeconds()" => "61"]
        | "timestamp_to_seconds" member (Timestamp) -> Int = part(TimeField::Seconds);
        | "timestamp_to_seconds_tz" member (Timestamp, String) -> Int = part(TimeField::Seconds);
        | "duration_to_seconds" member (Duration) -> Int = part(TimeField::Seconds);
    "getMilliseconds", "Returns the milliseconds within the second." ["duration('1.5s').getMilliseconds()" => "500"]
        | "timestamp_to_milliseconds" member (Timestamp) -> Int = part(TimeField::Milliseconds);
        | "timestamp_to_milliseconds_with_tz" member (Timestamp, String) -> Int = part(TimeField::Milliseconds);
        | "duration_to_milliseconds" member (Duration) -> Int = part(TimeField::Milliseconds);
}
