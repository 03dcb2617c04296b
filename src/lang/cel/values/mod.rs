//! CEL values, and the operations of operators and conversions on them.
//!
//! | type | value |
//! |---|---|
//! | `null_type`, `bool`, `int`, `double`, `string`, `list` | the plain value of that kind |
//! | `uint` | [`Value::Uint`], however small |
//! | `map` | [`Value::Map`] if every key is a string, otherwise [`Extended::Entries`] |
//! | `bytes`, `type`, `optional_type` | [`Extended::Bytes`], [`Extended::Named`], [`Extended::Optional`] |
//! | `google.protobuf.Timestamp`, `google.protobuf.Duration` | [`Extended::Timestamp`], [`Extended::Duration`] |
//! | any other | [`Extended::Capsule`], by its type name |
//!
//! Operations take a [`Cx`] where their work grows with the values, and spend steps before they start. Compiled operators
//! and the function tables share them. Only functions look into capsules, which hold their text.

pub mod access;
pub mod compare;
pub mod convert;
pub mod time;
pub(crate) mod written;

use std::cmp::Ordering;
use std::ops::Deref;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::quantity::Quantity;
use dropforge_base::stdlib::semver::Version;
use dropforge_machine::function::{Arguments, Cx, FromArgument, Noted, Outcome, excerpt};
use dropforge_value::{Capsule, CapsuleContent, Extended, Value};

/// The type name of timestamps.
pub const TIMESTAMP: &str = "google.protobuf.Timestamp";
/// The type name of durations.
pub const DURATION: &str = "google.protobuf.Duration";

/// Type names that an expression can use as values, except those of capsules.
const PLAIN: &[&str] = &[
    "bool",
    "bytes",
    "double",
    DURATION,
    TIMESTAMP,
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];

/// Returns the type names that an expression can use as values.
pub fn type_names() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().chain(TYPE_NAMES).copied()
}

/// Returns the type name `name`, if it is one that an expression can use as a value.
pub fn type_named(name: &str) -> Option<&'static str> {
    let find = |names: &[&'static str]| names.iter().find(|known| **known == name).copied();
    find(PLAIN).or_else(|| find(TYPE_NAMES))
}

/// Returns the name of a value's type.
///
/// ```
/// use dropforge::dialect::cel::values::type_name;
/// use dropforge::Value;
/// assert_eq!(type_name(Value::Uint(1)), "uint");
/// ```
pub const fn type_name(value: Value<'_>) -> &str {
    match value {
        Value::Undefined | Value::Null => "null_type",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Uint(_) => "uint",
        Value::Float(_) => "double",
        Value::Str(_) => "string",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Extended(extension) => match extension.kind() {
            Extended::Timestamp { .. } => TIMESTAMP,
            Extended::Duration(_) => DURATION,
            Extended::Optional(_) => "optional_type",
            Extended::Capsule(capsule) => capsule.name,
            Extended::Written(inner, _) => type_name(*inner),
            other => other.name(),
        },
    }
}

/// Returns the bytes of a bytes value.
pub const fn as_bytes<'v>(value: Value<'v>) -> Option<&'v [u8]> {
    match value.extended() {
        Some(Extended::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Returns the value that an optional holds: [`Value::Undefined`] for `optional.none()`.
pub const fn as_optional<'v>(value: Value<'v>) -> Option<Value<'v>> {
    match value.extended() {
        Some(Extended::Optional(held)) => Some(*held),
        _ => None,
    }
}

/// Returns the length in bytes of a string or bytes value, and 0 for any other.
pub fn byte_len(value: Value<'_>) -> usize {
    value.as_str().map_or_else(|| as_bytes(value).map_or(0, <[u8]>::len), str::len)
}

/// Makes an optional that holds `value`; [`Value::Undefined`] makes `optional.none()`.
///
/// # Errors
/// A limit of the render.
pub fn optional_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Optional(value))
}

/// Makes `optional.none()`.
///
/// # Errors
/// A limit of the render.
pub fn empty_optional<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    optional_of(cx, Value::Undefined)
}

/// Converts a value to one of a document: an optional to the value that it holds. `omit()` and an empty optional become
/// undefined.
pub fn in_document(value: Value<'_>) -> Value<'_> {
    let mut value = value;
    while let Some(held) = as_optional(value) {
        value = held;
    }
    if is_omit(value) { Value::Undefined } else { value }
}

/// No overload of `function` takes these arguments. The first is the receiver if the call is `member`.
#[cold]
pub fn no_such_overload(function: &str, member: bool, arguments: &[Value<'_>]) -> Box<Diagnostic> {
    let types: Vec<&str> = arguments.iter().map(|argument| type_name(*argument)).collect();
    let call = match types.split_first() {
        Some((receiver, rest)) if member => format!("{receiver}.{function}({})", rest.join(", ")),
        _ => format!("{function}({})", types.join(", ")),
    };
    let operator = function.starts_with('_') || function.ends_with('_') || function == "@in";
    let code = if operator { Code::TypeMismatch } else { Code::BadArgument };
    let error = Diagnostic::new(code, format!("no such overload: {call}"));
    match types.as_slice() {
        ["string", other @ ("int" | "uint" | "double" | "bool")]
        | [other @ ("int" | "uint" | "double" | "bool"), "string"]
            if function == "_+_" =>
        {
            error.with_help(format!("`string(…)` makes a text of the {other}"))
        }
        _ => error,
    }
}

/// A calculation without a result: `integer overflow`, `division by zero`.
#[cold]
pub fn arithmetic(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Arithmetic, what)
}

/// A map without the key.
#[cold]
pub fn no_such_key(key: Value<'_>) -> Box<Diagnostic> {
    let key = match key.as_str() {
        Some(text) => text.chars().take(60).collect(),
        None => excerpt(key).trim_matches('`').to_owned(),
    };
    Diagnostic::new(Code::BadIndex, format!("no such key: {key}"))
}

/// A list without the element.
#[cold]
pub fn out_of_bounds(index: impl std::fmt::Display) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("index out of bounds: {index}"))
}

/// A value that cannot be an index.
#[cold]
pub fn bad_index(of: &str, index: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("unsupported index type '{}' in {of}", type_name(index)))
}

/// A number that is no index.
#[cold]
pub fn bad_index_value(of: &str, index: Value<'_>) -> Box<Diagnostic> {
    let index = excerpt(index).trim_matches('`').to_owned();
    Diagnostic::new(Code::BadIndex, format!("unsupported index value {index} in {of}"))
}

/// A value that can be neither a key nor an index.
#[cold]
pub fn bad_key(index: Value<'_>) -> Box<Diagnostic> {
    let message = format!("a value of type '{}' cannot be an index", type_name(index));
    Diagnostic::new(Code::BadIndex, message).with_help("an index is a string, a number or a boolean")
}

/// A value without fields.
#[cold]
pub fn no_fields(value: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadIndex, format!("type '{}' does not support field selection", type_name(value)))
}

/// An invalid argument of the right type.
#[cold]
pub fn bad_argument(what: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadArgument, what)
}

/// A value that does not convert to type `to`.
#[cold]
pub fn conversion(value: Value<'_>, to: &str) -> Box<Diagnostic> {
    let from = type_name(value);
    let error = Diagnostic::new(Code::BadArgument, format!("type conversion error from '{from}' to '{to}'"));
    match value.as_str() {
        Some(_) => error.with_detail(format!("the text is {}", excerpt(value))),
        None => error,
    }
}

/// An input that is missing.
#[cold]
pub fn undefined_input(cx: &Cx<'_>, name: &str) -> Box<Diagnostic> {
    let names = || cx.inputs().iter().map(|(name, _)| name);
    Diagnostic::new(Code::UndefinedVariable, format!("no such attribute: {name}"))
        .with_suggestion(name, names())
        .with_inputs(names())
}

/// Takes the notes after the first `from`, and returns their first error. The error of an unknown attribute takes
/// precedence: once the attribute is known, it may decide.
pub fn noted_since(cx: &Cx<'_>, from: Value<'_>) -> Option<Box<Diagnostic>> {
    let from = if let Value::Int(from) = from { usize::try_from(from).unwrap_or(usize::MAX) } else { usize::MAX };
    let errors = cx.notes().take(from).into_iter().filter_map(|note| match note.what {
        Noted::Error(error, _) => Some(error),
        Noted::Unanswered | Noted::Marks(_) => None,
    });
    errors.reduce(|first, next| match next.code {
        Code::UnknownAttribute if first.code != Code::UnknownAttribute => next,
        _ => first,
    })
}

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
