//! Conversions between types.

use crate::values::convert;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// Conversions of the standard library.
    pub static TABLE:
    "bool": "Converts the text of a boolean." ["bool('t')" => "true", "bool('FALSE')" => "false", "bool('yes')" => "E0403"]
        fn "bool_to_bool" (Bool) -> Bool = convert::bool;
        fn "string_to_bool" (String) -> Bool = convert::bool;
    "bytes": "Converts a string to its UTF-8 bytes." ["bytes('é')" => "b'\\303\\251'"]
        fn "bytes_to_bytes" (Bytes) -> Bytes = convert::bytes;
        fn "string_to_bytes" (String) -> Bytes = convert::bytes;
    "double": "Converts to the nearest double." ["double(1)" => "1.0", "double('1e3')" => "1000.0", "double('a')" => "E0403"]
        fn "double_to_double" (Double) -> Double = convert::double;
        fn "int64_to_double" (Int) -> Double = convert::double;
        fn "string_to_double" (String) -> Double = convert::double;
        fn "uint64_to_double" (Uint) -> Double = convert::double;
    "duration": "Parses a duration." ["duration('1h30m')" => "duration('5400s')", "duration('1 day')" => "E0403"]
        fn "duration_to_duration" (Duration) -> Duration = convert::duration;
        fn "string_to_duration" (String) -> Duration = convert::duration;
    "dyn": "Returns the value unchanged, as type `dyn`." ["dyn(1)" => "dyn(1)"]
        fn "to_dyn" (A) -> Dyn = std::convert::identity::<Value<'_>>;
    "int": "Converts to an integer: truncates a double, and returns the seconds of a timestamp or the nanoseconds of a duration."
        ["int(1.9)" => "1", "int('-7')" => "-7", "int(3u)" => "3", "int(timestamp(5))" => "5",
         "int(duration('1s'))" => "1000000000", "int(1e30)" => "E0302", "int('1.5')" => "E0403"]
        fn "int64_to_int64" (Int) -> Int = convert::int;
        fn "double_to_int64" (Double) -> Int = convert::int;
        fn "duration_to_int64" (Duration) -> Int = convert::int;
        fn "string_to_int64" (String) -> Int = convert::int;
        fn "timestamp_to_int64" (Timestamp) -> Int = convert::int;
        fn "uint64_to_int64" (Uint) -> Int = convert::int;
    "string": "Converts to a string."
        ["string(1)" => "'1'", "string(1.0)" => "'1'", "string(123456789.0)" => "'1.23456789e+08'", "string(true)" => "'true'",
         "string(7u)" => "'7'", "string(b'abc')" => "'abc'", "string(duration('90s'))" => "'90s'",
         "string(timestamp(0))" => "'1970-01-01T00:00:00Z'", "string(b'\\377')" => "E0403"]
        fn "string_to_string" (String) -> String = convert::string;
        fn "bool_to_string" (Bool) -> String = convert::string;
        fn "bytes_to_string" (Bytes) -> String = convert::string;
        fn "double_to_string" (Double) -> String = convert::string;
        fn "duration_to_string" (Duration) -> String = convert::string;
        fn "int64_to_string" (Int) -> String = convert::string;
        fn "timestamp_to_string" (Timestamp) -> String = convert::string;
        fn "uint64_to_string" (Uint) -> String = convert::string;
    "timestamp": "Converts an RFC 3339 string, or seconds since 1970, to a timestamp."
        ["timestamp('1970-01-01T01:00:00+01:00')" => "timestamp(0)", "timestamp('yesterday')" => "E0403",
         "timestamp(253402300800)" => "E0302"]
        fn "timestamp_to_timestamp" (Timestamp) -> Timestamp = convert::timestamp;
        fn "int64_to_timestamp" (Int) -> Timestamp = convert::timestamp;
        fn "string_to_timestamp" (String) -> Timestamp = convert::timestamp;
    "type": "Returns the type of a value." ["type(1)" => "int", "type(type(1))" => "type"]
        fn "type" (A) -> (type A) = convert::type_of;
    "uint": "Converts to an unsigned integer." ["uint(1)" => "1u", "uint('7')" => "7u", "uint(1.9)" => "1u", "uint(-1)" => "E0302"]
        fn "uint64_to_uint64" (Uint) -> Uint = convert::uint;
        fn "double_to_uint64" (Double) -> Uint = convert::uint;
        fn "int64_to_uint64" (Int) -> Uint = convert::uint;
        fn "string_to_uint64" (String) -> Uint = convert::uint;
}
