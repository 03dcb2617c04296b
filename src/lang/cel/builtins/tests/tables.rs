//! Results of the functions of the standard library and the extensions.

use super::*;

#[test]
fn operators() {
    check(&[
        ("_+_", json!([i64::MAX, 1]), json!("E0302 integer overflow")),
        ("_+_", json!(["u:18446744073709551615", "u:1"]), json!("E0302 unsigned integer overflow")),
        ("_+_", json!([1, "u:1"]), json!("E0301 no such overload: _+_(int, uint)")),
        ("_+_", json!([[1], ["a"]]), json!([1, "a"])),
        ("_+_", json!(["b:aGk=", "b:aGk="]), json!("b:aGloaQ==")),
        ("_+_", json!(["t:9999-12-31T23:59:59.999999999Z", "d:1ns"]), json!("E0302 timestamp overflow")),
        ("_-_", json!(["t:0001-01-01T00:00:00Z", "d:1ns"]), json!("E0302 timestamp overflow")),
        ("_-_", json!(["t:0001-01-01T00:00:00Z", "t:9999-12-31T23:59:59Z"]), json!("E0302 duration overflow")),
        ("_-_", json!(["t:1970-01-01T00:00:00Z", "t:1970-01-01T00:00:00.25Z"]), json!("d:-0.25s")),
        ("_-_", json!(["u:0", "u:1"]), json!("E0302 unsigned integer overflow")),
        ("_*_", json!([i64::MIN, -1]), json!("E0302 integer overflow")),
        ("_/_", json!([i64::MIN, -1]), json!("E0302 integer overflow")),
        ("_/_", json!([1.0, 0.0]), json!("f:inf")),
        ("_/_", json!(["u:1", "u:0"]), json!("E0302 division by zero")),
        ("_%_", json!([i64::MIN, -1]), json!("E0302 integer overflow")),
        ("_%_", json!(["u:1", "u:0"]), json!("E0302 modulus by zero")),
        ("_%_", json!([1.0, 1.0]), json!("E0301 no such overload: _%_(double, double)")),
        ("-_", json!([i64::MIN]), json!("E0302 integer overflow")),
        ("-_", json!([0.0]), json!(-0.0)),
        ("-_", json!(["u:1"]), json!("E0301")),
        ("_+_", json!(["d:9223372036s", "d:9223372036s"]), json!("E0302 duration overflow")),
    ]);
}

#[test]
fn equality_and_order() {
    let yes = json!(true);
    check(&[
        ("_==_", json!([1, 1.0]), yes.clone()),
        ("_==_", json!(["u:1", 1.0]), yes.clone()),
        ("_==_", json!([1, "u:1"]), yes.clone()),
        ("_==_", json!([-1, "u:18446744073709551615"]), json!(false)),
        ("_==_", json!(["f:NaN", "f:NaN"]), json!(false)),
        ("_!=_", json!(["f:NaN", 1]), yes.clone()),
        ("_==_", json!([[1, "u:2"], [1.0, 2]]), yes.clone()),
        ("_==_", json!([{"a": 1, "b": [2]}, {"b": [2.0], "a": "u:1"}]), yes.clone()),
        ("_==_", json!([{"entries": [[1, "a"], [true, "b"]]}, {"entries": [[true, "b"], ["u:1", "a"]]}]), yes.clone()),
        ("_==_", json!([{"entries": [[1, "a"]]}, {"1": "a"}]), json!(false)),
        ("_==_", json!([{}, []]), json!(false)),
        ("_==_", json!([null, false]), json!(false)),
        ("_==_", json!(["none", {"some": null}]), json!(false)),
        ("_==_", json!([{"some": 1}, {"some": 1.0}]), yes.clone()),
        ("_==_", json!(["b:aGk=", "b:aGk="]), yes.clone()),
        ("_==_", json!(["type:int", "type:int"]), yes.clone()),
        ("_==_", json!(["d:60s", "d:1m"]), yes.clone()),
        ("_==_", json!(["t:2020-01-01T00:00:00Z", "t:2020-01-01T01:00:00+01:00"]), yes.clone()),
        ("_<_", json!([-1, "u:0"]), yes.clone()),
        ("_<_", json!([1, "f:NaN"]), json!(false)),
        ("_>=_", json!(["f:NaN", "f:NaN"]), json!(false)),
        ("_<_", json!([i64::MAX, 9_223_372_036_854_775_808.0]), json!(false)),
        ("_<_", json!(["\u{FFFF}", "\u{10000}"]), yes.clone()),
        ("_<_", json!(["b:/w==", "b:AA=="]), json!(false)),
        ("_<=_", json!([false, true]), yes.clone()),
        ("_>_", json!(["d:1s", "d:1ms"]), yes.clone()),
        ("_<_", json!([null, null]), json!("E0301 no such overload: _<_(null_type, null_type)")),
        ("_<_", json!(["a", 1]), json!("E0301 no such overload: _<_(string, int)")),
    ]);
}

#[test]
fn elements() {
    check(&[
        ("@in", json!([1.0, [2, "u:1"]]), json!(true)),
        ("@in", json!(["a", {"a": null}]), json!(true)),
        ("@in", json!([2.0, {"entries": [["u:2", 0], ["k", 0]]}]), json!(true)),
        ("@in", json!([1, "text"]), json!("E0301 no such overload: @in(int, string)")),
        ("_[_]", json!([[1, 2], -1]), json!("E0202 index out of bounds: -1")),
        ("_[_]", json!([[1, 2], 5]), json!("E0202 index out of bounds: 5")),
        ("_[_]", json!([{"a": 1}, "b"]), json!("E0202 no such key: b")),
        ("_[_]", json!([{"entries": [[1, "a"]]}, "u:1"]), json!("a")),
        ("_[_]", json!([{"entries": [[1, "a"]]}, 1.5]), json!("E0202 no such key: 1.5")),
        ("_[_]", json!([{"some": [7]}, 0]), json!({"some": 7})),
        ("_[_]", json!([{"some": [7]}, 1]), json!("none")),
        ("_[_]", json!([{"some": {"a": 7}}, "a"]), json!({"some": 7})),
        ("_[?_]", json!([[1], 1]), json!("none")),
        ("_?._", json!([{"a": 1}, "a"]), json!({"some": 1})),
        ("_?._", json!(["none", "a"]), json!("none")),
        ("_?._", json!([1, "a"]), json!("E0202 no such key: a")),
        ("size", json!(["πέντε"]), json!(5)),
        ("size", json!([null]), json!("E0403 no such overload: size(null_type)")),
        (".size", json!([{"entries": [[1, 1], [true, 2]]}]), json!(2)),
    ]);
}

#[test]
fn conversions_keep_to_the_ranges() {
    check(&[
        ("int", json!([9_223_372_036_854_775_807.0_f64]), json!("E0302 integer overflow")),
        ("int", json!([-9_223_372_036_854_775_808.0_f64]), json!("E0302 integer overflow")),
        ("int", json!(["f:NaN"]), json!("E0302 integer overflow")),
        ("int", json!([-7.9]), json!(-7)),
        ("int", json!(["u:9223372036854775808"]), json!("E0302 integer overflow")),
        ("int", json!(["+5"]), json!(5)),
        ("int", json!([" 5"]), json!("E0403 type conversion error from 'string' to 'int'")),
        ("int", json!([true]), json!("E0403 no such overload: int(bool)")),
        ("uint", json!([18_446_744_073_709_551_616.0_f64]), json!("E0302 unsigned integer overflow")),
        ("uint", json!([-0.5]), json!("E0302 unsigned integer overflow")),
        ("uint", json!(["+5"]), json!("E0403")),
        ("double", json!(["1e400"]), json!("E0403 type conversion error from 'string' to 'double'")),
        ("double", json!(["-Infinity"]), json!("f:-inf")),
        ("double", json!(["NaN"]), json!("f:NaN")),
        ("double", json!(["u:18446744073709551615"]), json!(18_446_744_073_709_551_615.0_f64)),
        ("bool", json!(["TrUe"]), json!("E0403 type conversion error from 'string' to 'bool'")),
        ("string", json!(["b:/w=="]), json!("E0403 invalid UTF-8")),
        ("string", json!([null]), json!("E0403 no such overload: string(null_type)")),
        ("string", json!(["f:-inf"]), json!("-Inf")),
        ("string", json!(["d:-1.5h"]), json!("-5400s")),
        ("string", json!(["t:2009-02-13T23:31:30.0100Z"]), json!("2009-02-13T23:31:30.01Z")),
        ("bytes", json!(["é"]), json!("b:w6k=")),
        ("timestamp", json!([-62_135_596_800_i64]), json!("t:0001-01-01T00:00:00Z")),
        ("timestamp", json!([-62_135_596_801_i64]), json!("E0302 timestamp overflow")),
        ("timestamp", json!([i64::MAX]), json!("E0302 timestamp overflow")),
        ("timestamp", json!(["9999-12-31T23:59:59-01:00"]), json!("E0302 timestamp overflow")),
        ("timestamp", json!(["0000-01-01T00:00:00Z"]), json!("E0302 timestamp overflow")),
        ("timestamp", json!(["2020-02-30T00:00:00Z"]), json!("E0403 type conversion error")),
        ("duration", json!(["320000000000s"]), json!("E0403 type conversion error")),
        ("duration", json!(["-9223372036854775808ns"]), json!("d:-9223372036.854775808s")),
        ("duration", json!([""]), json!("E0403 type conversion error")),
        ("type", json!([{"entries": [[1, 1]]}]), json!("type:map")),
        ("type", json!(["t:2020-01-01T00:00:00Z"]), json!("type:google.protobuf.Timestamp")),
        ("type", json!(["none"]), json!("type:optional_type")),
        ("type", json!([null]), json!("type:null_type")),
    ]);
}

#[test]
fn parts_of_times() {
    let moment = "t:2009-02-13T23:31:20.123456789Z";
    check(&[
        (".getFullYear", json!([moment]), json!(2009)),
        (".getMonth", json!([moment]), json!(1)),
        (".getDate", json!([moment, "Australia/Sydney"]), json!(14)),
        (".getDayOfMonth", json!([moment, "US/Central"]), json!(12)),
        (".getDayOfWeek", json!([moment]), json!(5)),
        (".getDayOfYear", json!([moment]), json!(43)),
        (".getHours", json!([moment, "02:00"]), json!(1)),
        (".getHours", json!([moment, "-9:30"]), json!(14)),
        (".getMinutes", json!([moment, "+05:45"]), json!(16)),
        (".getMilliseconds", json!([moment]), json!(123)),
        (".getHours", json!([moment, "24:00"]), json!("E0403 unknown time zone 24:00")),
        (".getHours", json!([moment, "+:00"]), json!("E0403 unknown time zone")),
        (".getHours", json!([moment, "++1:00"]), json!("E0403 unknown time zone")),
        (".getHours", json!([moment, "Local"]), json!("E0403 unknown time zone Local")),
        // The offset leads out of the years that there are, but not out of the calendar.
        (".getFullYear", json!(["t:0001-01-01T00:00:00Z", "-01:00"]), json!(0)),
        (".getFullYear", json!(["t:9999-12-31T23:59:59Z", "+01:00"]), json!(10_000)),
        (".getSeconds", json!(["d:3730s"]), json!(3730)),
        (".getMilliseconds", json!(["d:-1.5s"]), json!(-500)),
        (".getDate", json!(["d:1s"]), json!("E0403 no such overload: google.protobuf.Duration.getDate()")),
    ]);
}

#[test]
fn texts() {
    check(&[
        (".indexOf", json!(["ta©o©αT", "©α", 5]), json!(-1)),
        (".indexOf", json!(["abc", "", 9]), json!(3)),
        (".indexOf", json!(["abc", "c", 9]), json!("E0403 index out of range: 9")),
        (".indexOf", json!(["abc", "c", -1]), json!("E0403 index out of range: -1")),
        (".lastIndexOf", json!(["ta©o©αT", "©", 3]), json!(2)),
        (".lastIndexOf", json!(["bananananana", "nana", 7]), json!(6)),
        (".lastIndexOf", json!(["abc", ""]), json!(3)),
        (".lastIndexOf", json!(["", "@@"]), json!(-1)),
        (".charAt", json!(["©αT", 1]), json!("α")),
        (".charAt", json!(["©", i64::MAX]), json!("E0403 index out of range")),
        (".substring", json!(["ta©o©αT", 2, 5]), json!("©o©")),
        (".substring", json!(["abc", 1, 9]), json!("E0403 index out of range: 9")),
        (".replace", json!(["abab", "ab", "", -1]), json!("")),
        (".replace", json!(["abab", "ab", "x", 0]), json!("abab")),
        (".replace", json!(["é", "", "_"]), json!("_é_")),
        (".split", json!(["a,b", ",", 0]), json!([])),
        (".split", json!(["a,b", ",", 1]), json!(["a,b"])),
        (".split", json!(["", ","]), json!([""])),
        (".split", json!(["", ""]), json!([])),
        (".split", json!(["©b", ""]), json!(["©", "b"])),
        (".split", json!(["abc", "", 2]), json!(["a", "bc"])),
        (".trim", json!(["\u{85}\u{a0}a\u{200b}"]), json!("a\u{200b}")),
        (".join", json!([["a", 1]]), json!("E0403 no such overload: int.join()")),
        (".reverse", json!(["Ta©"]), json!("©aT")),
        ("strings.quote", json!(["\u{7}\\\"é\u{0}"]), json!("\"\\a\\\\\\\"é\u{0}\"")),
        (".matches", json!(["é", "^\\w$"]), json!(false)),
        ("matches", json!(["a", "[[]"]), json!(false)),
        (".matches", json!(["a", "("]), json!("E0403 `(` is not a regular expression")),
    ]);
}

#[test]
fn formats() {
    check(&[
        (
            ".format",
            json!(["%s|%s", ["b:aGk=", [null, true, 1e21, {"b": 1, "a": "d:1h"}]]]),
            json!("hi|[null, true, 1000000000000000000000, {a: 3600s, b: 1}]"),
        ),
        (".format", json!(["%d %d", ["u:7", 2.5]]), json!("7 2.5")),
        (".format", json!(["%.3f %f %e %.0f", [1.2345, 2, "u:3", 2.5]]), json!("1.234 2.000000 3.000000e+00 2")),
        (
            ".format",
            json!(["%b %b %o %x %X %x", [true, -5, 11, -255, "hi", "b:aGk="]]),
            json!("1 -101 13 -ff 6869 6869"),
        ),
        (
            ".format",
            json!(["%s %s", ["f:NaN", {"entries": [[2, "f:-inf"], [true, 0], [10, "type:int"]]}]]),
            json!("NaN {10: int, 2: -Infinity, true: 0}"),
        ),
        (".format", json!(["%%%s%%", ["a", "unused"]]), json!("%a%")),
        (".format", json!(["%", []]), json!("E0403 unexpected end of format string")),
        (".format", json!(["%.", []]), json!("E0403 a precision is a number")),
        (".format", json!(["%.1001f", [1.5]]), json!("E0403 a precision is a number")),
        (".format", json!(["%.99999999999999999999f", [1.5]]), json!("E0403 a precision is a number")),
        (
            ".format",
            json!(["%é", [1]]),
            json!("E0403 could not parse formatting clause: unrecognized formatting clause \"é\""),
        ),
        (
            ".format",
            json!(["%d", [null]]),
            json!(
                "E0403 error during formatting: decimal clause can only be used on ints, uints, and doubles, was given null_type"
            ),
        ),
        (".format", json!(["%s", ["none"]]), json!("E0403 error during formatting: string clause")),
        (".format", json!(["%s%s", ["a"]]), json!("E0403 index 1 out of range")),
    ]);
}

#[test]
fn lists_and_sets() {
    check(&[
        (".slice", json!([[1, 2], -1, 1]), json!("E0403 cannot slice(-1, 1), negative indexes not supported")),
        (
            ".slice",
            json!([[1, 2], 2, 1]),
            json!("E0403 cannot slice(2, 1), start index must be less than or equal to end index"),
        ),
        (".slice", json!([[1, 2], 0, 3]), json!("E0403 cannot slice(0, 3), list is length 2")),
        (".flatten", json!([[1, [2, [3]]], 0]), json!([1, [2, [3]]])),
        (".flatten", json!([[1, [2, [3]]]]), json!([1, 2, [3]])),
        (".flatten", json!([[[1]], -1]), json!("E0403 level must be non-negative")),
        (".sort", json!([["f:NaN", 2.0, "f:NaN", 1.0, -1.0]]), json!([-1.0, 1.0, 2.0, "f:NaN", "f:NaN"])),
        (".sort", json!([["b", 1]]), json!("E0403 list elements must have the same type")),
        (".sort", json!([[null]]), json!("E0403 list elements must be comparable")),
        (".sort", json!([["d:1m", "d:1s"]]), json!(["d:1s", "d:60s"])),
        (".@sortByAssociatedKeys", json!([["a", "b", "c"], [2, 1, 2]]), json!(["b", "a", "c"])),
        (".@sortByAssociatedKeys", json!([["a"], [2, 1]]), json!("E0403")),
        (".distinct", json!([[1, 1.0, "u:1", "1", [1], [1]]]), json!([1, "1", [1]])),
        ("lists.range", json!([-1]), json!([])),
        ("lists.range", json!([1_000_000_000]), json!("E0604")),
        ("lists.range", json!([i64::MAX]), json!("E0604")),
        ("sets.contains", json!([[[1], [2, 3]], [[2, 3.0]]]), json!(true)),
        ("sets.equivalent", json!([[1, 2], ["u:1", 2, 2.3]]), json!(false)),
        ("sets.intersects", json!([[], [1]]), json!(false)),
        ("optional.unwrap", json!([[{"some": 1}, "none", {"some": null}]]), json!([1, null])),
        ("optional.unwrap", json!([[1]]), json!("E0403 no such overload")),
        ("optional.ofNonZeroValue", json!(["d:0s"]), json!("none")),
        ("optional.ofNonZeroValue", json!([{}]), json!("none")),
        ("optional.ofNonZeroValue", json!(["t:0001-01-01T00:00:00Z"]), json!("none")),
        ("optional.ofNonZeroValue", json!(["t:1970-01-01T00:00:00Z"]), json!({"some": "t:1970-01-01T00:00:00Z"})),
        (".orValue", json!([1, 2]), json!("E0403 no such overload: int.orValue(int)")),
        (".value", json!(["none"]), json!("E0403 optional.none() dereference")),
        ("cel.@mapInsert", json!([{"a": 1}, 2, 3]), json!({"entries": [["a", 1], [2, 3]]})),
        (
            "cel.@mapInsert",
            json!([{"entries": [[1, 0]]}, "u:1", 3]),
            json!("E0403 insert failed: key `1` already exists"),
        ),
        ("cel.@mapInsert", json!([{}, null, 3]), json!("E0403 unsupported key type: null_type")),
        ("cel.@mapInsert", json!([{"a": 1}, {"b": 2}]), json!({"a": 1, "b": 2})),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("math.@max", json!([1, 1.0]), json!(1)),
        ("math.@max", json!([[1, "u:3", 2.5]]), json!("u:3")),
        ("math.@min", json!([["f:NaN", 1]]), json!("f:NaN")),
        ("math.@min", json!([[]]), json!("E0403 math.@min(list) argument must not be empty")),
        ("math.@min", json!([["a"]]), json!("E0403 no such overload: math.@min(string)")),
        ("math.@max", json!([[1, "a"]]), json!("E0403 no such overload: math.@max(int, string)")),
        ("math.abs", json!([i64::MIN]), json!("E0302 integer overflow")),
        ("math.round", json!([-0.5]), json!(-1.0)),
        ("math.round", json!([1]), json!("E0403 no such overload: math.round(int)")),
        ("math.sign", json!([-0.0]), json!(-0.0)),
        ("math.bitShiftLeft", json!([-1, 63]), json!(i64::MIN)),
        ("math.bitShiftLeft", json!([1, i64::MAX]), json!(0)),
        ("math.bitShiftRight", json!([-1, 1]), json!(i64::MAX)),
        ("math.bitShiftRight", json!(["u:1", -4]), json!("E0403 math.bitShiftRight() negative offset: -4")),
        ("math.bitNot", json!(["u:0"]), json!("u:18446744073709551615")),
        ("base64.encode", json!(["b:"]), json!("")),
        ("base64.decode", json!(["aGVsbG8"]), json!("b:aGVsbG8=")),
    ]);
}
