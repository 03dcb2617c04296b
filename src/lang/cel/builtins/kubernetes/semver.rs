//! Semantic versions.

use crate::values::capsules::{Content, Parsed, SEMVER, capsule};
use crate::values::errors::{arithmetic, bad_argument};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::semver::{Version, normalized};
use dropforge_machine::function::{Cx, FromArgument};
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `kubernetes.Semver`.
    pub static TABLE:
    "semver": "Parses a semantic version; with `true`, also an incomplete one."
        ["semver('1.2.3').major()" => "1", "semver('v1.0', true) == semver('1.0.0')" => "true", "semver('v1.0')" => "E0403"]
        fn "string_to_semver" (String) -> "kubernetes.Semver" = semver;
        fn "string_bool_to_semver" (String, Bool) -> "kubernetes.Semver" = semver;
    "isSemver": "Returns `true` if a string is a semantic version; with `true`, also for an incomplete one." ["isSemver('1.0.0')" => "true", "isSemver('v1.0')" => "false", "isSemver('v1.0', true)" => "true"]
        fn "is_semver_string" (String) -> Bool = is_semver;
        fn "is_semver_string_bool" (String, Bool) -> Bool = is_semver;
    "major": "Returns the major version." ["semver('1.2.3').major()" => "1"]
        fn "semver_major" member ("kubernetes.Semver") -> Int = |version: Parsed<Version<'_>>| int(version.numbers[0]);
    "minor": "Returns the minor version." ["semver('1.2.3').minor()" => "2"]
        fn "semver_minor" member ("kubernetes.Semver") -> Int = |version: Parsed<Version<'_>>| int(version.numbers[1]);
    "patch": "Returns the patch version." ["semver('1.2.3-rc.1').patch()" => "3"]
        fn "semver_patch" member ("kubernetes.Semver") -> Int = |version: Parsed<Version<'_>>| int(version.numbers[2]);
    "isLessThan": "Returns `true` if the version is less than another." ["semver('1.0.0-rc').isLessThan(semver('1.0.0'))" => "true"]
        fn "semver_is_less_than" member ("kubernetes.Semver", "kubernetes.Semver") -> Bool =
            |a: Parsed<Version<'_>>, b: Parsed<Version<'_>>| a.cmp_version(&b).is_lt();
    "isGreaterThan": "Returns `true` if the version is greater than another." ["semver('1.10.0').isGreaterThan(semver('1.9.0'))" => "true"]
        fn "semver_is_greater_than" member ("kubernetes.Semver", "kubernetes.Semver") -> Bool =
            |a: Parsed<Version<'_>>, b: Parsed<Version<'_>>| a.cmp_version(&b).is_gt();
    "compareTo": "Compares with another version: -1 if less, 0 if equal, 1 if greater." ["semver('1.2.3').compareTo(semver('2.0.0'))" => "-1"]
        fn "semver_compare_to" member ("kubernetes.Semver", "kubernetes.Semver") -> Int =
            |a: Parsed<Version<'_>>, b: Parsed<Version<'_>>| a.cmp_version(&b) as i64;
}

/// Bytes that the parts of a version take for each byte of its text. Each part takes two bytes of text at least.
const PARTS: usize = size_of::<&str>() / 2;

/// Parses a version, and returns its text; or the reason why it is invalid.
fn parse(cx: &Cx<'_>, text: &str, loose: Option<bool>) -> Result<std::result::Result<String, String>> {
    cx.charge(text.len() * (PARTS + 2))?;
    let written = if loose == Some(true) { normalized(text) } else { Ok(text.into()) };
    Ok(written.and_then(|written| Version::parse(&written).map(|_| written.to_string())))
}

impl<'v> FromArgument<'v> for Parsed<Version<'v>> {
    fn from_argument(cx: &Cx<'v>, value: Value<'v>) -> Result<Self> {
        let Content(text) = Content::of(value);
        cx.charge(text.len() * PARTS)?;
        Version::parse(text).map(Self).map_err(bad_argument)
    }
}

fn semver<'v>(cx: &Cx<'v>, text: &'v str, loose: Option<bool>) -> Result<Value<'v>> {
    capsule(cx, SEMVER, &parse(cx, text, loose)?.map_err(bad_argument)?)
}

fn is_semver<'v>(cx: &Cx<'v>, text: &'v str, loose: Option<bool>) -> Result<bool> {
    parse(cx, text, loose).map(|parsed| parsed.is_ok())
}

fn int(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| arithmetic("integer overflow"))
}
