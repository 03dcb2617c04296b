//! Values of types that only functions look into. Each holds its text, which functions parse.

use std::cmp::Ordering;
use std::ops::Deref;

use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::quantity::Quantity;
use dropforge_base::stdlib::semver::Version;
use dropforge_machine::function::{Arguments, Cx, FromArgument, Outcome};
use dropforge_value::{Capsule, CapsuleContent, Extended, Value};

/// The type of IP addresses.
pub const IP: &str = "net.IP";
/// The type of CIDR blocks.
pub const CIDR: &str = "net.CIDR";
/// The type of URLs.
pub const URL: &str = "kubernetes.URL";
/// The type of resource quantities.
pub const QUANTITY: &str = "kubernetes.Quantity";
/// The type of semantic versions.
pub const SEMVER: &str = "kubernetes.Semver";
/// The type of string formats.
pub const FORMAT: &str = "kubernetes.NamedFormat";
/// The type of `omit()`.
pub const OMIT: &str = "omit";

/// The names of these types.
pub const TYPE_NAMES: &[&str] = &[IP, CIDR, URL, QUANTITY, SEMVER, FORMAT, OMIT];

/// The text of a capsule.
#[derive(Debug, Clone, Copy)]
pub struct Content<'v>(pub &'v str);

impl<'v> Content<'v> {
    /// Returns the text of a capsule, and nothing for any other value.
    pub fn of(value: Value<'v>) -> Self {
        match value.extended() {
            Some(Extended::Capsule(Capsule { content: CapsuleContent::Text(text), .. })) => Self(text),
            _ => Self(""),
        }
    }

    /// Returns the text.
    pub fn text(self) -> &'v str {
        self.0
    }
}

impl<'v> FromArgument<'_, 'v> for Content<'v> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.value().map(Self::of)
    }
}

/// The parsed text of a capsule.
#[derive(Debug, Clone, Copy)]
pub struct Parsed<T>(pub T);

impl<T> Deref for Parsed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Makes a value of the type `name` from its text.
///
/// # Errors
/// A limit of the render.
pub fn capsule<'v>(cx: &Cx<'v>, name: &'static str, text: &str) -> Result<Value<'v>> {
    capsule_of(cx, name, 0, text)
}

/// Makes a value of the type `name` from its text and what the text does not say of its form.
///
/// # Errors
/// A limit of the render.
pub fn capsule_of<'v>(cx: &Cx<'v>, name: &'static str, form: u64, text: &str) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    let content = CapsuleContent::Text(cx.arena().copy_str(text));
    cx.extended(Extended::Capsule(Capsule { name, id: form, content }))
}

/// Returns the form of a capsule; 0 if its text says everything.
pub fn form_of(value: Value<'_>) -> u64 {
    match value.extended() {
        Some(Extended::Capsule(capsule)) => capsule.id,
        _ => 0,
    }
}

/// Compares two capsules: quantities and versions by value, others by text.
///
/// # Errors
/// The render has no steps left.
pub fn equal<'v>(cx: &Cx<'v>, a: &Capsule<'v>, b: &Capsule<'v>) -> Result<bool> {
    let (CapsuleContent::Text(left), CapsuleContent::Text(right)) = (a.content, b.content) else { return Ok(a == b) };
    if a.name != b.name || left == right {
        return Ok(a.name == b.name);
    }
    cx.spend((left.len() + right.len()) as u64 / 8)?;
    let order = match a.name {
        QUANTITY => Quantity::parse(left).and_then(|a| Ok(a.cmp_value(&Quantity::parse(right)?))).ok(),
        SEMVER => Version::parse(left).and_then(|a| Ok(a.cmp_version(&Version::parse(right)?))).ok(),
        _ => None,
    };
    Ok(order == Some(Ordering::Equal))
}

/// Returns `true` for `omit()`, which removes its entry or element from a document.
pub fn is_omit(value: Value<'_>) -> bool {
    matches!(value.extended(), Some(Extended::Capsule(capsule)) if capsule.name == OMIT)
}
