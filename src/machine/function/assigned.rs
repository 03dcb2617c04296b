//! Positional parameters of languages whose calls assign arguments by type, without conversion.
//!
//! The body gets the arguments as they were given: one value for each parameter, then those of the rest.

use dropforge_value::{Extended, Sized, Type, Value, Width};

/// The type of a parameter. Only values of exactly this type are assigned to it.
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

/// The parameters of a function.
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
