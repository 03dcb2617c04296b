//! Conversions between types.

use super::arguments;
use crate::diagnostics::Result;
use crate::dialect::cel::values::{as_bytes, convert};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// Conversions of the standard library.
    pub static TABLE:
    "bool": "A truth value from its text." ["bool('t')" => "true", "bool('FALSE')" => "false", "bool('yes')" => "E0403"] {
        "bool_to_bool" (Bool) -> Bool = bool;
        "string_to_bool" (String) -> Bool = bool;
    }
    "bytes": "The bytes of a text in UTF-8." ["bytes('é')" => "b'\\303\\251'"] {
        "bytes_to_bytes" (Bytes) -> Bytes = bytes;
        "string_to_bytes" (String) -> Bytes = bytes;
    }
    "double": "The nearest double to a number." ["double(1)" => "1.0", "double('1e3')" => "1000.0", "double('a')" => "E0403"] {
        "double_to_double" (Double) -> Double = double;
        "int64_to_double" (Int) -> Double = double;
        "string_to_double" (String) -> Double = double;
        "uint64_to_double" (Uint) -> Double = double;
    }
    "duration": "A span of time from its text." ["duration('1h30m')" => "duration('5400s')", "duration('1 day')" => "E0403"] {
        "duration_to_duration" (Duration) -> Duration = duration;
        "string_to_duration" (String) -> Duration = duration;
    }
    "dyn": "The same value, of a type that shows when it is there." ["dyn(1)" => "dyn(1)"] {
        "to_dyn" (A) -> Dyn = dynamic;
    }
    "int": "The whole number of a value: a double is cut off, a timestamp is its seconds, a duration its nanoseconds."
        ["int(1.9)" => "1", "int('-7')" => "-7", "int(3u)" => "3", "int(timestamp(5))" => "5",
         "int(duration('1s'))" => "1000000000", "int(1e30)" => "E0302", "int('1.5')" => "E0403"] {
        "int64_to_int64" (Int) -> Int = int;
        "double_to_int64" (Double) -> Int = int;
        "duration_to_int64" (Duration) -> Int = int;
        "string_to_int64" (String) -> Int = int;
        "timestamp_to_int64" (Timestamp) -> Int = int;
        "uint64_to_int64" (Uint) -> Int = int;
    }
    "string": "The text of a value."
        ["string(1)" => "'1'", "string(1.0)" => "'1'", "string(123456789.0)" => "'1.23456789e+08'", "string(true)" => "'true'",
         "string(7u)" => "'7'", "string(b'abc')" => "'abc'", "string(duration('90s'))" => "'90s'",
         "string(timestamp(0))" => "'1970-01-01T00:00:00Z'", "string(b'\\377')" => "E0403"] {
        "string_to_string" (String) -> String = string;
        "bool_to_string" (Bool) -> String = string;
        "bytes_to_string" (Bytes) -> String = string;
        "double_to_string" (Double) -> String = string;
        "duration_to_string" (Duration) -> String = string;
        "int64_to_string" (Int) -> String = string;
        "timestamp_to_string" (Timestamp) -> String = string;
        "uint64_to_string" (Uint) -> String = string;
    }
    "timestamp": "A moment from its text, or from seconds since 1970."
        ["timestamp('1970-01-01T01:00:00+01:00')" => "timestamp(0)", "timestamp('yesterday')" => "E0403",
         "timestamp(253402300800)" => "E0302"] {
        "timestamp_to_timestamp" (Timestamp) -> Timestamp = timestamp;
        "int64_to_timestamp" (Int) -> Timestamp = timestamp;
        "string_to_timestamp" (String) -> Timestamp = timestamp;
    }
    "type": "The type of a value." ["type(1)" => "int", "type(type(1))" => "type"] {
        "type" (A) -> (type A) = type_of;
    }
    "uint": "The unsigned whole number of a value." ["uint(1)" => "1u", "uint('7')" => "7u", "uint(1.9)" => "1u", "uint(-1)" => "E0302"] {
        "uint64_to_uint64" (Uint) -> Uint = uint;
        "double_to_uint64" (Double) -> Uint = uint;
        "int64_to_uint64" (Int) -> Uint = uint;
        "string_to_uint64" (String) -> Uint = uint;
    }
}

/// What is converted: reading a text or bytes takes steps by their length.
fn converted<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    let len = value.as_str().map_or_else(|| as_bytes(value).map_or(0, <[u8]>::len), str::len);
    cx.spend((len / 64) as u64)?;
    Ok(value)
}

fn dynamic<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    Ok(value)
}

fn bool<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::bool(value)
}

fn bytes<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::bytes(cx, value)
}

fn double<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::double(value)
}

fn duration<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::duration(cx, value)
}

fn int<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::int(value)
}

fn string<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::string(cx, value)
}

fn timestamp<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::timestamp(cx, value)
}

fn type_of<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    convert::type_of(cx, value)
}

fn uint<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let value = converted(cx, given)?;
    convert::uint(value)
}
