//! Values of types that only functions look into: each is the text that it is written as, which is read where it is used.

use std::cmp::Ordering;

use crate::diagnostics::Result;
use crate::function::Cx;
use crate::stdlib::quantity::Quantity;
use crate::stdlib::semver::Version;
use crate::value::{Capsule, CapsuleContent, Extended, Value};

/// The type of addresses.
pub const IP: &str = "net.IP";
/// The type of blocks of addresses.
pub const CIDR: &str = "net.CIDR";
/// The type of URLs.
pub const URL: &str = "kubernetes.URL";
/// The type of quantities of resources.
pub const QUANTITY: &str = "kubernetes.Quantity";
/// The type of versions.
pub const SEMVER: &str = "kubernetes.Semver";
/// The type of formats of text.
pub const FORMAT: &str = "kubernetes.NamedFormat";
/// The type of what leaves out its place.
pub const OMIT: &str = "omit";

/// The names of these types that stand for the types as values.
pub const TYPE_NAMES: &[&str] = &[IP, CIDR, URL, QUANTITY, SEMVER, FORMAT, OMIT];

/// A value of type `name` that is written as `text`.
///
/// # Errors
/// A limit of the render.
pub(super) fn make<'v>(cx: &Cx<'v>, name: &'static str, text: &str) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    let content = CapsuleContent::Text(cx.arena().copy_str(text));
    cx.extended(Extended::Capsule(Capsule { name, id: 0, content }))
}

/// The text of a value that the gate has found to be of such a type.
pub(super) fn content(value: Value<'_>) -> &str {
    match value.extended() {
        Some(Extended::Capsule(Capsule { content: CapsuleContent::Text(text), .. })) => text,
        _ => "",
    }
}

/// Whether two values of such types are equal: quantities and versions by what they say, others by their text.
///
/// # Errors
/// The render has no steps left.
pub fn equal<'v>(cx: &Cx<'v>, a: &Capsule<'v>, b: &Capsule<'v>) -> Result<bool> {
    let (CapsuleContent::Text(left), CapsuleContent::Text(right)) = (a.content, b.content) else { return Ok(a == b) };
    if a.name != b.name || left == right {
        return Ok(a == b);
    }
    cx.spend((left.len() + right.len()) as u64 / 8)?;
    let order = match a.name {
        QUANTITY => Quantity::parse(left).and_then(|a| Ok(a.cmp_value(&Quantity::parse(right)?))).ok(),
        SEMVER => Version::parse(left).and_then(|a| Ok(a.cmp_version(&Version::parse(right)?))).ok(),
        _ => None,
    };
    Ok(order == Some(Ordering::Equal))
}

/// Whether a value says that its place is to be left out.
pub fn is_omit(value: Value<'_>) -> bool {
    matches!(value.extended(), Some(Extended::Capsule(capsule)) if capsule.name == OMIT)
}
