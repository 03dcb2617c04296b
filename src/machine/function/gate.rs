//! Positional parameters, and the argument gate, which arranges arguments into one value per parameter.

use std::borrow::Cow;

use super::context::Cx;
use super::errors::Outcome;
use super::spec::{Builtin, Default, Param};
use crate::bytecode::Gate;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::strings::prefix;
use dropforge_value::{Extended, JsonStyle, Sized, Text, Type, Value, Width, write_json};

/// The values that a parameter admits besides known, unmarked, non-null values of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admits(u8);

impl Admits {
    /// No others.
    pub const NONE: Self = Self(0);
    /// Null.
    pub const NULL: Self = Self(1);
    /// Unknown values. Otherwise the result is unknown, and the body does not run.
    pub const UNKNOWN: Self = Self(2);
    /// Values of unknown type. Otherwise the type of the result is unknown too.
    pub const DYNAMIC: Self = Self(4);
    /// Errors in the argument's expression. Before each such argument, the body gets the number of errors recorded
    /// before its evaluation.
    pub const ERRORS: Self = Self(16);
    /// A type expression. The body gets the type in a capsule.
    pub const TYPE: Self = Self(32);
    /// Marked values. Otherwise the marks are moved to the result.
    pub const MARKED: Self = Self(8);

    /// Returns the union of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if all of `other` are admitted.
    pub const fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A positional parameter.
#[derive(Debug, Clone)]
pub struct PositionalParam {
    /// The name, for messages.
    pub name: Cow<'static, str>,
    /// The type that arguments are converted to. [`Type::Dynamic`] accepts any value.
    pub ty: Type<'static>,
    /// The values admitted besides those of its type.
    pub admits: Admits,
}

/// The type of a result, before the function runs.
#[derive(Debug, Clone, Copy)]
pub enum ResultType {
    /// A fixed type.
    Is(Type<'static>),
    /// The type of the body's result. The body runs with unknown arguments to determine it.
    OfBody,
    /// A type computed from the arguments, or [`Type::Dynamic`] if they do not determine it. Used only if an unknown
    /// argument keeps the body from running, so the body checks its arguments itself.
    Of(for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Type<'v>>),
}

/// The positional parameters of a function, and its result.
#[derive(Debug, Clone)]
pub struct Positional {
    /// The required parameters.
    pub params: Cow<'static, [PositionalParam]>,
    /// The parameter for all remaining arguments.
    pub rest: Option<PositionalParam>,
    /// The type of the result.
    pub result: ResultType,
    /// `true` if the result is never null. An unknown result is then known not to be null.
    pub not_null: bool,
}

/// The type of a parameter that arguments are assigned to. Only values of exactly this type are, and none is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Any value, null too.
    Any,
    /// Any value, and nothing: the literal for null is nothing here.
    Raw,
    /// A boolean.
    Bool,
    /// A plain integer.
    Int,
    /// A signed integer of 64 bits.
    Int64,
    /// An unsigned integer of 32 bits.
    Uint32,
    /// A float.
    Float,
    /// Text, whether it is UTF-8 or not.
    Str,
    /// A list of bytes.
    Bytes,
    /// A list of any values.
    List,
    /// A list of texts.
    Texts,
    /// A map from text to any values.
    Map,
    /// A point in time.
    Time,
    /// A duration.
    Duration,
    /// A value of the host, by the name of its kind.
    Capsule(&'static str),
}

impl Target {
    /// Returns `true` if `value` can be assigned to a parameter of this type.
    #[inline]
    pub fn admits(self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Target::Any | Target::Raw, _)
            | (Target::Str, Value::Str(_))
            | (Target::Int, Value::Int(_))
            | (Target::Map, Value::Map(_))
            | (Target::List, Value::List(_))
            | (Target::Bool, Value::Bool(_))
            | (Target::Float, Value::Float(_)) => true,
            (_, Value::Extended(extension)) => self.admits_rare(extension.kind()),
            _ => false,
        }
    }

    #[cold]
    fn admits_rare(self, kind: &Extended<'_>) -> bool {
        match (self, kind) {
            (Target::Str, Extended::Bytes(_))
            | (Target::List, Extended::Typed(Type::List(Type::Dynamic), _))
            | (Target::Map, Extended::Typed(Type::Map(Type::Dynamic), _))
            | (Target::Int64, Extended::Sized(Sized::Signed(Width::W64, _)))
            | (Target::Uint32, Extended::Sized(Sized::Unsigned(Width::W32, _)))
            | (Target::Texts, Extended::Typed(Type::List(Type::String), _))
            | (Target::Bytes, Extended::Typed(Type::Capsule("bytes"), _))
            | (Target::Time, Extended::Timestamp { .. })
            | (Target::Duration, Extended::Duration(_)) => true,
            (Target::Capsule(name), Extended::Capsule(capsule)) => capsule.name == name,
            (Target::Capsule(name), Extended::Typed(Type::Capsule(ty), _)) => *ty == name,
            _ => false,
        }
    }

    /// Returns the name in listings and fingerprints.
    pub fn name(self) -> &'static str {
        match self {
            Target::Any => "any",
            Target::Raw => "raw",
            Target::Bool => "bool",
            Target::Int => "int",
            Target::Int64 => "int64",
            Target::Uint32 => "uint32",
            Target::Float => "float",
            Target::Str => "str",
            Target::Bytes => "bytes",
            Target::List => "list",
            Target::Texts => "texts",
            Target::Map => "map",
            Target::Time => "time",
            Target::Duration => "duration",
            Target::Capsule(name) => name,
        }
    }
}

/// Positional parameters that arguments are assigned to by type. The body gets the arguments as they were given: one value
/// for each parameter, then those of the rest.
#[derive(Debug, Clone, Copy)]
pub struct Assigned {
    /// The required parameters.
    pub params: &'static [Target],
    /// The type of all further arguments.
    pub rest: Option<Target>,
}

impl Assigned {
    /// Returns `true` if a call may have `count` arguments.
    pub fn takes(&self, count: usize) -> bool {
        count == self.params.len() || count > self.params.len() && self.rest.is_some()
    }

    /// Returns the type of the parameter of argument `at`.
    #[inline]
    pub fn target(&self, at: usize) -> Option<Target> {
        self.params.get(at).copied().or(self.rest)
    }

    /// Returns `true` if the arguments have the right number and types.
    #[inline]
    pub fn admit(&self, given: &[Value<'_>]) -> bool {
        let Some((first, others)) = given.split_at_checked(self.params.len()) else { return false };
        let are_admitted =
            |others: &[Value<'_>]| self.rest.is_some_and(|target| others.iter().all(|value| target.admits(value)));
        self.params.iter().zip(first).all(|(target, value)| target.admits(value))
            && (others.is_empty() || are_admitted(others))
    }

    /// Returns the bytes that a fingerprint of the parameters consists of.
    pub(super) fn fingerprint(&self) -> impl Iterator<Item = u8> {
        let rest = self.rest.map(|target| [target.name(), "..."]).into_iter().flatten();
        self.params.iter().map(|target| target.name()).chain(rest).flat_map(|name| name.bytes().chain([0xFF]))
    }
}

/// The most parameters whose arguments are arranged without an allocation.
const FEW: usize = 8;

/// Checks the types of arguments that are in the order of `params`, except those known to `gate`.
#[inline]
pub fn check_in_order(builtin: &Builtin, params: &[Param], gate: Gate, given: &[Value<'_>]) -> Result<()> {
    for at in gate.checked() {
        if let (Some(param), Some(value)) = (params.get(at), given.get(at)) {
            check(builtin, param, value)?;
        }
    }
    Ok(())
}

/// Calls `body` with `given` in the order of `params`, after adding defaults and checking types. `places` has the
/// parameter of each argument. The last of duplicate arguments wins.
#[inline]
pub fn with_arranged<'v, R>(
    builtin: &Builtin,
    params: &'static [Param],
    places: &[u32],
    given: &[Value<'v>],
    body: impl FnOnce(&[Value<'v>]) -> Result<R>,
) -> Result<R> {
    let mut few = [Value::Undefined; FEW];
    let mut many = Vec::new();
    let arranged = match few.get_mut(..params.len()) {
        Some(few) => few,
        None => {
            many.resize(params.len(), Value::Undefined);
            &mut many
        }
    };
    let mut seen = 0_u64;
    for (place, value) in places.iter().zip(given) {
        if let Some(slot) = arranged.get_mut(*place as usize) {
            *slot = *value;
            seen |= 1_u64.checked_shl(*place).unwrap_or(0);
        }
    }
    for (at, (param, slot)) in (0..).zip(params.iter().zip(arranged.iter_mut())) {
        if seen.checked_shr(at).unwrap_or(0) & 1 != 0 || at >= u64::BITS && places.contains(&at) {
            check(builtin, param, slot)?;
        } else {
            *slot = default(builtin, param)?;
        }
    }
    body(arranged)
}

#[inline]
fn default(builtin: &Builtin, param: &'static Param) -> Result<Value<'static>> {
    Ok(match &param.default {
        Default::Absent => Value::Undefined,
        Default::Bool(b) => Value::Bool(*b),
        Default::Int(n) => Value::Int(*n),
        Default::Str(text) => Value::Str(text),
        Default::Required => return Err(missing(builtin, param)),
    })
}

#[cold]
fn missing(builtin: &Builtin, param: &Param) -> Box<Diagnostic> {
    let (kind, name, param, ty) = (builtin.kind.name(), &builtin.name, param.name, param.ty.name());
    Diagnostic::new(Code::MissingArgument, format!("{kind} `{name}` needs the argument `{param}`, {ty}"))
        .with_help(format!("add `{param}=…`"))
}

#[inline]
fn check(builtin: &Builtin, param: &Param, value: &Value<'_>) -> Result<()> {
    if param.ty.admits(value) { Ok(()) } else { check_absent(builtin, param, value) }
}

/// Accepts the default of a parameter that may be absent.
#[cold]
fn check_absent(builtin: &Builtin, param: &Param, value: &Value<'_>) -> Result<()> {
    let is_default = value.is_undefined() && param.default == Default::Absent;
    if is_default { Ok(()) } else { Err(mismatch(builtin, param, value)) }
}

fn mismatch(builtin: &Builtin, param: &Param, value: &Value<'_>) -> Box<Diagnostic> {
    let (kind, name, param, ty) = (builtin.kind.name(), &builtin.name, param.name, param.ty.name());
    let (got, what) = (excerpt(*value), value.kind());
    let message = format!("{kind} `{name}`: `{param}` should be {ty}, but it is {got} ({what})");
    Diagnostic::new(Code::BadArgument, message).with_help(format!("convert the value to {ty} first"))
}

/// Quotes `value` as JSON, truncated after about 60 bytes.
pub fn excerpt(value: Value<'_>) -> String {
    excerpt_in(JsonStyle::Compact, value)
}

/// Bytes of a text that an excerpt may need: escaped, they are longer than it.
const EXCERPT: usize = 64;

/// Quotes a value in a style like [`excerpt`].
pub fn excerpt_in(style: JsonStyle, value: Value<'_>) -> String {
    let mut text = String::new();
    // The start of a long text is enough, and quick to write.
    let start = value.as_str().map(|text| Text::new(prefix(text, EXCERPT)));
    let value = start.as_ref().map_or(value, Value::Str);
    let complete = write_json(value, style, &mut text, &mut |len| if len > 60 { Err(()) } else { Ok(60) });
    if complete.is_err() {
        text.truncate(prefix(&text, 60).len());
        text.push('…');
    }
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_value::Arena;

    const FORMAT: Assigned = Assigned { params: &[Target::Str, Target::Int], rest: Some(Target::Any) };

    #[test]
    fn arguments_are_assigned_but_not_converted() {
        let arena = Arena::new();
        let (text, sized) = (arena.text("a"), arena.extended(Extended::Sized(Sized::Signed(Width::W64, 1))));
        assert!(FORMAT.admit(&[text, Value::Int(1)]) && FORMAT.admit(&[text, Value::Int(1), Value::Null]));
        assert!(!FORMAT.admit(&[text]) && !FORMAT.admit(&[text, Value::Float(1.0)]) && !FORMAT.admit(&[text, sized]));
        assert!(Target::Int64.admits(&sized) && !Target::Int64.admits(&Value::Int(1)));
        let bytes = arena.extended(Extended::Bytes(&[0xFF]));
        assert!(Target::Str.admits(&bytes) && !Target::Bytes.admits(&bytes));
    }

    #[test]
    fn functions_with_other_parameters_have_other_fingerprints() {
        let print = |params, rest| {
            let assigned = Assigned { params, rest };
            assigned.fingerprint().collect::<Vec<_>>()
        };
        let all = [
            print(&[], None),
            print(&[Target::Any], None),
            print(&[], Some(Target::Any)),
            print(&[Target::Any, Target::Str], None),
            print(&[Target::Any], Some(Target::Str)),
        ];
        for (at, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(at));
        }
    }
}
