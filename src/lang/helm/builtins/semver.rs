//! Functions of semantic versions, and the fields and methods of a version.

use crate::error::failed;
use crate::values::{sized, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{Capsule, CapsuleContent, Extended, Sized, Value, Width};

functions! {
    /// Functions of semantic versions.
    pub(super) static SEMVER:
    "semver" [Str] = semver,
        "Reads a semantic version, which may lack numbers. It has the fields `Major`, `Minor`, `Patch`, `Prerelease`, `Metadata` and `Original`."
        [r#"{{ semver "v1.2" }}"# => "1.2.0", r#"{{ (semver "1.2.3-rc.1").Prerelease }}"# => "rc.1", r#"{{ semver "a" }}"# => "E0404"];
    "semverCompare" [Str, Str] = semver_compare,
        "Returns `true` if a version fulfils a constraint: `>=1.27, <2`, `~1.2`, `^1`, `1.x`, `1.2 - 1.4`, `a || b`. A prerelease only fulfils constraints that have one."
        [r#"{{ semverCompare "^1.2.0" "1.2.3" }}"# => "true", r#"{{ semverCompare ">=1.20-0" "v1.25.3-gke.100" }}"# => "true",
         r#"{{ semverCompare ">=1.20" "v1.25.3-gke.100" }}"# => "false"];
}

/// The name of the type of versions.
const VERSION: &str = "*semver.Version";

/// Returns the text of a version or constraint. Bytes that are not UTF-8 become invalid characters.
fn text<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<std::borrow::Cow<'v, str>> {
    // Each part of a version takes a slice of its text.
    cx.charge(bytes.len().saturating_mul(size_of::<&str>()))?;
    Ok(String::from_utf8_lossy(bytes))
}

fn semver<'v>(cx: &Cx<'v>, original: &'v [u8]) -> Result<Value<'v>> {
    let original = text(cx, original)?;
    let version = LenientVersion::parse(&original).map_err(failed)?;
    let arena = cx.arena();
    let texts = [arena.copy_str(&version.to_text()), arena.copy_str(&original)];
    let content = CapsuleContent::Texts(arena.bump().alloc_slice_copy(&texts));
    cx.extended(Extended::Capsule(Capsule { name: VERSION, id: 0, content }))
}

fn semver_compare<'v>(cx: &Cx<'v>, constraint: &'v [u8], version: &'v [u8]) -> Result<bool> {
    let (constraint, version) = (text(cx, constraint)?, text(cx, version)?);
    cx.spend((version.len() as u64 / 8).saturating_mul(constraint.len() as u64 / 8))?;
    let (version, wrong) = match LenientVersion::parse(&version) {
        Ok(version) => (version, None),
        Err(why) => (LenientVersion::parse("0").map_err(failed)?, Some(why)),
    };
    // The error of a bad constraint wins.
    let fulfils = version.version.fulfils(&constraint).map_err(failed)?;
    wrong.map_or(Ok(fulfils), |why| Err(failed(why)))
}

/// Returns the text of a version and the text that it was read from. `None` for other values.
fn texts<'v>(value: Value<'v>) -> Option<(&'v str, &'v str)> {
    match value.extended() {
        Some(Extended::Capsule(Capsule {
            name: VERSION, content: CapsuleContent::Texts([text, original]), ..
        })) => Some((text, original)),
        _ => None,
    }
}

/// Returns the result of a method of a version without arguments, which a template reads like a field. `None` if the
/// value is no version or has no such method.
pub fn field<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Result<Option<Value<'v>>> {
    let Some((text, original)) = texts(value) else { return Ok(None) };
    let version = LenientVersion::parse(text).map_err(failed)?;
    let number = |at: usize| sized(cx, Sized::Unsigned(Width::W64, version.version.numbers[at]));
    let field = match name {
        "Major" => number(0),
        "Minor" => number(1),
        "Patch" => number(2),
        "Prerelease" => cx.text(version.prerelease),
        "Metadata" => cx.text(version.build),
        "Original" => cx.borrowed(original),
        "String" => cx.borrowed(text),
        _ => return Ok(None),
    };
    field.map(Some)
}

/// The methods of a version with another one.
const METHODS: [&str; 6] = ["Compare", "Equal", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"];

/// Returns `true` if a value is a version that has a method of this name with an argument.
pub(crate) fn has_method(value: Value<'_>, name: &str) -> bool {
    texts(value).is_some() && METHODS.contains(&name)
}

/// Returns the result of a method of a version with another one. `None` if the value is no version or has no such method.
pub fn method<'v>(value: Value<'v>, name: &str, args: &[Value<'v>]) -> Result<Option<Value<'v>>> {
    let Some((text, _)) = texts(value).filter(|_| METHODS.contains(&name)) else { return Ok(None) };
    let [given] = args else {
        return Err(failed(format!("wrong number of args for {name}: want 1 got {}", args.len())));
    };
    let Some((other, _)) = texts(*given) else {
        return Err(failed(format!("wrong type for value; expected {VERSION}; got {}", type_name(*given))));
    };
    let (version, other) =
        (LenientVersion::parse(text).map_err(failed)?, LenientVersion::parse(other).map_err(failed)?);
    let order = version.version.cmp_version(&other.version);
    Ok(Some(match name {
        "Compare" => Value::Int(order as i64),
        "Equal" => Value::Bool(order.is_eq()),
        "LessThan" => Value::Bool(order.is_lt()),
        "LessThanEqual" => Value::Bool(order.is_le()),
        "GreaterThan" => Value::Bool(order.is_gt()),
        _ => Value::Bool(order.is_ge()),
    }))
}
