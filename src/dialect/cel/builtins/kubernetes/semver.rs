//! Semantic versions.

use std::cmp::Ordering;

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::capsules::{SEMVER, content, make};
use crate::dialect::cel::builtins::{arguments, text};
use crate::dialect::cel::values::errors::{arithmetic, bad_argument};
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::semver::{Version, normalized};
use crate::value::Value;

overloads! {
    /// The library `kubernetes.Semver`.
    pub static TABLE:
    "semver": "The version that a text says, strictly or (with true) with what is missing filled up."
        ["semver('1.2.3').major()" => "1", "semver('v1.0', true) == semver('1.0.0')" => "true", "semver('v1.0')" => "E0403"] {
        "string_to_semver" (String) -> "kubernetes.Semver" = semver;
        "string_bool_to_semver" (String, Bool) -> "kubernetes.Semver" = semver;
    }
    "isSemver": "Whether a text says a version." ["isSemver('1.0.0')" => "true", "isSemver('v1.0')" => "false", "isSemver('v1.0', true)" => "true"] {
        "is_semver_string" (String) -> Bool = is_semver;
        "is_semver_string_bool" (String, Bool) -> Bool = is_semver;
    }
    "major": "The first number." ["semver('1.2.3').major()" => "1"] {
        "semver_major" member ("kubernetes.Semver") -> Int = major;
    }
    "minor": "The second number." ["semver('1.2.3').minor()" => "2"] {
        "semver_minor" member ("kubernetes.Semver") -> Int = minor;
    }
    "patch": "The third number." ["semver('1.2.3-rc.1').patch()" => "3"] {
        "semver_patch" member ("kubernetes.Semver") -> Int = patch;
    }
    "isLessThan": "Whether a version is less than another." ["semver('1.0.0-rc').isLessThan(semver('1.0.0'))" => "true"] {
        "semver_is_less_than" member ("kubernetes.Semver", "kubernetes.Semver") -> Bool = is_less;
    }
    "isGreaterThan": "Whether a version is greater than another." ["semver('1.10.0').isGreaterThan(semver('1.9.0'))" => "true"] {
        "semver_is_greater_than" member ("kubernetes.Semver", "kubernetes.Semver") -> Bool = is_greater;
    }
    "compareTo": "-1, 0 or 1 as a version is less than another, equal to it or greater." ["semver('1.2.3').compareTo(semver('2.0.0'))" => "-1"] {
        "semver_compare_to" member ("kubernetes.Semver", "kubernetes.Semver") -> Int = compare;
    }
}

/// How many bytes the parts of a version take at most for each of its text: each part has a dot.
const PARTS: usize = size_of::<&str>() / 2;

/// The version that the arguments say, as its text; or what is wrong with it.
fn read<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<std::result::Result<String, String>> {
    let (value, loose) = match *given {
        [value, Value::Bool(loose)] => (text(value), loose),
        _ => arguments(cx, given).map(|[value]| (text(value), false))?,
    };
    cx.charge(value.len() * (PARTS + 2))?;
    let written = if loose { normalized(value) } else { Ok(value.into()) };
    Ok(written.and_then(|written| Version::parse(&written).map(|_| written.to_string())))
}

fn version<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Version<'v>> {
    cx.charge(content(value).len() * PARTS)?;
    Version::parse(content(value)).map_err(bad_argument)
}

fn semver<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    make(cx, SEMVER, &read(cx, given)?.map_err(bad_argument)?)
}

fn is_semver<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Bool(read(cx, given)?.is_ok()))
}

fn part<'v>(cx: &Cx<'v>, given: &[Value<'v>], which: fn([u64; 3]) -> u64) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    let part = i64::try_from(which(version(cx, value)?.numbers));
    part.map(Value::Int).map_err(|_| arithmetic("integer overflow"))
}

fn major<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part(cx, given, |[major, _, _]| major)
}

fn minor<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part(cx, given, |[_, minor, _]| minor)
}

fn patch<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part(cx, given, |[_, _, patch]| patch)
}

fn order<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Ordering> {
    let [a, b] = arguments(cx, given)?;
    Ok(version(cx, a)?.cmp_version(&version(cx, b)?))
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
