//! Resource quantities and semantic versions.

use crate::values::{Content, Parsed, QUANTITY, SEMVER, arithmetic, bad_argument, capsule, capsule_of, form_of};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::quantity::Quantity;
use dropforge_base::stdlib::semver::{Version, normalized};
use dropforge_machine::function::{Arguments, Cx, FromArgument, IntoValue, Outcome};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// The library `kubernetes.quantity`.
    pub static QUANTITIES:
    "quantity", "Parses a quantity."
        ["quantity('1Ki') == quantity('1024')" => "true", "quantity('200K')" => "E0403", "quantity('Three')" => "E0403"]
        | "string_to_quantity" (String) -> "kubernetes.Quantity" = quantity;
    "isQuantity", "Returns `true` if a string is a quantity." ["isQuantity('1.3Gi')" => "true", "isQuantity('1,3G')" => "false"]
        | "is_quantity_string" (String) -> Bool = |cx: &Cx<'_>, text: &str| parse(cx, text).map(|parsed| parsed.is_ok());
    "sign", "Returns the sign: 1, 0 or -1." ["quantity('-1.5').sign()" => "-1", "sign(quantity('1n'))" => "1"]
        | "quantity_sign" ("kubernetes.Quantity") -> Int = |quantity: Parsed<Quantity>| quantity.sign();
        | "quantity_get_sign" member ("kubernetes.Quantity") -> Int = |quantity: Parsed<Quantity>| quantity.sign();
    "add", "Adds a quantity or an integer." ["quantity('50k').add(quantity('20k')) == quantity('70k')" => "true", "quantity('50k').add(20) == quantity('50020')" => "true"]
        | "quantity_add" member ("kubernetes.Quantity", "kubernetes.Quantity") -> "kubernetes.Quantity" =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.add(&b).map(Parsed).map_err(invalid);
        | "quantity_add_int" member ("kubernetes.Quantity", Int) -> "kubernetes.Quantity" =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.add(&b).map(Parsed).map_err(invalid);
    "sub", "Subtracts a quantity or an integer." ["quantity('50k').sub(20000) == quantity('30k')" => "true"]
        | "quantity_sub" member ("kubernetes.Quantity", "kubernetes.Quantity") -> "kubernetes.Quantity" =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.sub(&b).map(Parsed).map_err(invalid);
        | "quantity_sub_int" member ("kubernetes.Quantity", Int) -> "kubernetes.Quantity" =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.sub(&b).map(Parsed).map_err(invalid);
    "isLessThan", "Returns `true` if the quantity is less than another." ["quantity('50M').isLessThan(quantity('50Mi'))" => "true"]
        | "quantity_is_less_than" member ("kubernetes.Quantity", "kubernetes.Quantity") -> Bool =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.cmp_value(&b).is_lt();
    "isGreaterThan", "Returns `true` if the quantity is greater than another." ["quantity('150Mi').isGreaterThan(quantity('100Mi'))" => "true"]
        | "quantity_is_greater_than" member ("kubernetes.Quantity", "kubernetes.Quantity") -> Bool =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.cmp_value(&b).is_gt();
    "compareTo", "Compares with another quantity: -1 if less, 0 if equal, 1 if greater." ["quantity('200M').compareTo(quantity('0.2G'))" => "0"]
        | "quantity_compare_to" member ("kubernetes.Quantity", "kubernetes.Quantity") -> Int =
            |a: Parsed<Quantity>, b: Parsed<Quantity>| a.cmp_value(&b) as i64;
    "isInteger", "Returns `true` if the quantity is a 64-bit integer. As in Kubernetes, it has at most 18 digits, no fraction, and a small binary suffix."
        ["quantity('50k').isInteger()" => "true", "quantity('1.0').isInteger()" => "false", "quantity('1Pi').isInteger()" => "false"]
        | "quantity_is_integer" member ("kubernetes.Quantity") -> Bool = |quantity: Parsed<Quantity>| quantity.as_int().is_some();
    "asInteger", "Converts to an integer." ["quantity('50k').asInteger()" => "50000", "quantity('1.5').asInteger()" => "E0403"]
        | "quantity_get_int" member ("kubernetes.Quantity") -> Int = as_int;
    "asApproximateFloat", "Converts to a double, approximately." ["quantity('1500m').asApproximateFloat()" => "1.5"]
        | "quantity_get_float" member ("kubernetes.Quantity") -> Double = |quantity: Parsed<Quantity>| quantity.as_float();
}

/// Parses a quantity. Every eight digits take a step, because arithmetic of long numbers is not linear.
fn parse(cx: &Cx<'_>, text: &str) -> Result<std::result::Result<Quantity, &'static str>> {
    cx.spend(text.len() as u64 / 8)?;
    Ok(Quantity::parse(text))
}

fn invalid(why: &str) -> Box<Diagnostic> {
    bad_argument(why)
}

/// Converts a quantity or an integer.
impl<'v> FromArgument<'_, 'v> for Parsed<Quantity> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        match arguments.value()? {
            Value::Int(n) => Ok(Self(Quantity::of_int(n))),
            value => {
                let (text, form) = (Content::of(value).0, form_of(value));
                arguments.cx().spend(text.len() as u64 / 8)?;
                Ok(Quantity::of_form(text, form).map(Self).map_err(invalid)?)
            }
        }
    }
}

impl<'v> IntoValue<'v> for Parsed<Quantity> {
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        capsule_of(cx, QUANTITY, self.form(), &self.0.to_string())
    }
}

fn quantity<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Parsed<Quantity>> {
    parse(cx, text)?.map(Parsed).map_err(invalid)
}

fn as_int(quantity: Parsed<Quantity>) -> Result<i64> {
    quantity.as_int().ok_or_else(|| bad_argument("cannot convert value to integer"))
}

functions! {
    /// The library `kubernetes.Semver`.
    pub static VERSIONS:
    "semver", "Parses a semantic version; with `true`, also an incomplete one."
        ["semver('1.2.3').major()" => "1", "semver('v1.0', true) == semver('1.0.0')" => "true", "semver('v1.0')" => "E0403"]
        | "string_to_semver" (String) -> "kubernetes.Semver" = semver;
        | "string_bool_to_semver" (String, Bool) -> "kubernetes.Semver" = semver;
    "isSemver", "Returns `true` if a string is a semantic version; with `true`, also for an incomplete one." ["isSemver('1.0.0')" => "true", "isSemver('v1.0')" => "false", "isSemver('v1.0', true)" => "true"]
        | "is_semver_string" (String) -> Bool = is_semver;
        | "is_semver_string_bool" (String, Bool) -> Bool = is_semver;
    "major", "Returns the major version." ["semver('1.2.3').major()" => "1"]
        | "semver_major" member ("kubernetes.Semver") -> Int = |version: Parsed<Version<'_>>| int(version.numbers[0]);
    "minor", "Returns the minor version." ["semver('1.2.3').minor()" => "2"]
        | "semver_minor" member ("kubernetes.Semver") -> Int = |version: Parsed<Version<'_>>| int(version.numbers[1]);
    "patch", "Returns the patch version." ["semver('1.2.3-rc.1').patch()" => "3"]
        | "semver_patch" member ("kubernetes.Semver") -> Int = |version: Parsed<Version<'_>>| int(version.numbers[2]);
    "isLessThan", "Returns `true` if the version is less than another." ["semver('1.0.0-rc').isLessThan(semver('1.0.0'))" => "true"]
        | "semver_is_less_than" member ("kubernetes.Semver", "kubernetes.Semver") -> Bool =
            |a: Parsed<Version<'_>>, b: Parsed<Version<'_>>| a.cmp_version(&b).is_lt();
    "isGreaterThan", "Returns `true` if the version is greater than another." ["semver('1.10.0').isGreaterThan(semver('1.9.0'))" => "true"]
        | "semver_is_greater_than" member ("kubernetes.Semver", "kubernetes.Semver") -> Bool =
            |a: Parsed<Version<'_>>, b: Parsed<Version<'_>>| a.cmp_version(&b).is_gt();
    "compareTo", "Compares with another version: -1 if less, 0 if equal, 1 if greater." ["semver('1.2.3').compareTo(semver('2.0.0'))" => "-1"]
        | "semver_compare_to" member ("kubernetes.Semver", "kubernetes.Semver") -> Int =
            |a: Parsed<Version<'_>>, b: Parsed<Version<'_>>| a.cmp_version(&b) as i64;
}

/// Bytes that the parts of a version take for each byte of its text. Each part takes two bytes of text at least.
const MEMORY_PER_BYTE: usize = size_of::<&str>() / 2;

/// Parses a version, and returns its text; or the reason why it is invalid.
fn parse_version(cx: &Cx<'_>, text: &str, loose: Option<bool>) -> Result<std::result::Result<String, String>> {
    cx.charge(text.len() * (MEMORY_PER_BYTE + 2))?;
    let written = if loose == Some(true) { normalized(text) } else { Ok(text.into()) };
    Ok(written.and_then(|written| Version::parse(&written).map(|_| written.to_string())))
}

impl<'v> FromArgument<'_, 'v> for Parsed<Version<'v>> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let Content(text) = Content::take(arguments)?;
        arguments.cx().charge(text.len() * MEMORY_PER_BYTE)?;
        Ok(Version::parse(text).map(Self).map_err(bad_argument)?)
    }
}

fn semver<'v>(cx: &Cx<'v>, text: &'v str, loose: Option<bool>) -> Result<Value<'v>> {
    capsule(cx, SEMVER, &parse_version(cx, text, loose)?.map_err(bad_argument)?)
}

fn is_semver<'v>(cx: &Cx<'v>, text: &'v str, loose: Option<bool>) -> Result<bool> {
    parse_version(cx, text, loose).map(|parsed| parsed.is_ok())
}

fn int(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| arithmetic("integer overflow"))
}
