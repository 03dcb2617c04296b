//! Values beyond the plain ones: rare, behind one variant of [`Value`], and never on a fast path.

use std::borrow::Cow;

use super::{Arena, Data, Entries, Type, Value, Within};
use crate::stdlib::bignum::BigNum;
use crate::stdlib::{duration, encoding};

/// A value beyond the plain ones.
#[derive(Debug, Clone, Copy)]
pub struct Extension<'v> {
    kind: Extended<'v>,
    within: Within,
}

/// What a value beyond the plain ones is.
#[derive(Debug, Clone, Copy)]
pub enum Extended<'v> {
    /// A number that is no `i64` of full precision.
    Number(BigNum),
    /// No value, of this type; without a type it is [`Value::Null`].
    Null(Type<'v>),
    /// A value that is not known yet.
    Unknown(Unknown<'v>),
    /// A value and the marks it carries: at least one, sorted, each once. The value itself is not marked; what is
    /// in it may be.
    Marked(Value<'v>, &'v [&'v str]),
    /// A list, set or map of one element type ([`Type::List`], [`Type::Set`], [`Type::Map`]), and its elements: a
    /// [`Value::List`] (those of a set distinct and in the set's order) or a [`Value::Map`].
    Typed(Type<'v>, Value<'v>),
    /// A value of the host's.
    Capsule(Capsule<'v>),
    /// Bytes that need not be text.
    Bytes(&'v [u8]),
    /// A map from keys that are not all text.
    Entries(Entries<'v>),
    /// A type, by its name.
    Named(&'v str),
    /// A moment in UTC.
    Timestamp {
        /// Seconds since the beginning of 1970.
        seconds: i64,
        /// Nanoseconds from there on, less than a second.
        nanos: u32,
    },
    /// A span of time in nanoseconds.
    Duration(i64),
    /// A value or, where that is [`Value::Undefined`], none.
    Optional(Value<'v>),
    /// A value of a document, and how it is written there where a format leaves a choice.
    Written(Value<'v>, Writing<'v>),
}

/// How a value is written in a format that leaves a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing<'v> {
    /// A number in this spelling, which every reader takes for it.
    Spelled(&'v str),
    /// With this tag (`!name`).
    Tagged(&'v str),
}

/// A value that is not known yet: its type, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct Unknown<'v> {
    /// The type; [`Type::Dynamic`] where not even that is known.
    pub ty: Type<'v>,
    /// What else is known.
    pub refinement: Refinement<'v>,
    /// Whether it stands for a value that could not be computed; why was reported.
    pub faulty: bool,
}

/// What is known of a value that is not known.
#[derive(Debug, Clone, Copy)]
pub struct Refinement<'v> {
    /// It is not null.
    pub not_null: bool,
    /// Its text begins with this; empty where nothing is known.
    pub prefix: &'v str,
    /// It is at least this number (the flag: or equal to it).
    pub least: Option<&'v (BigNum, bool)>,
    /// It is at most this number (the flag: or equal to it).
    pub most: Option<&'v (BigNum, bool)>,
    /// It has at least this many elements.
    pub len_least: u64,
    /// It has at most this many elements; `u64::MAX` where nothing is known.
    pub len_most: u64,
}

impl Refinement<'_> {
    /// Nothing is known.
    pub const NONE: Self =
        Self { not_null: false, prefix: "", least: None, most: None, len_least: 0, len_most: u64::MAX };

    /// It is not null.
    pub const NOT_NULL: Self = Self { not_null: true, ..Self::NONE };
}

/// A value of the host's: the name of its kind, and which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capsule<'v> {
    /// The name of its kind.
    pub name: &'v str,
    /// Its identity within its kind.
    pub id: u64,
    /// What it holds, where the engine itself made it.
    pub content: CapsuleContent<'v>,
}

/// What a capsule holds that the engine looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapsuleContent<'v> {
    /// Nothing that the engine looks into.
    Opaque,
    /// A type.
    Type(Type<'v>),
    /// The text that the value is written as, from which it is read where it is used.
    Text(&'v str),
}

impl<'v> Extension<'v> {
    /// What it is.
    pub const fn kind(&self) -> &Extended<'v> {
        &self.kind
    }

    pub(super) const fn within(&self) -> Within {
        self.within
    }

    /// What kind of value it is, as a user says it.
    pub(super) const fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The owned twin of what has one: a number as near as its twin comes, elements without their type and marks, bytes
    /// in base64, moments and spans of time and the engine's capsules as their text, keys as text; what is unknown, the
    /// host's or none becomes null.
    pub(super) fn to_data(self) -> Data {
        match self.kind {
            Extended::Number(number) => number.to_f64().map_or(Data::Null, Data::Float),
            Extended::Marked(value, _)
            | Extended::Typed(_, value)
            | Extended::Optional(value)
            | Extended::Written(value, _) => value.to_data(),
            Extended::Entries(entries) => Data::Map(
                entries.as_texts().into_iter().map(|(key, value)| (key.into_owned(), value.to_data())).collect(),
            ),
            kind => kind.plain_text().map_or(Data::Null, |text| Data::Str(text.into_owned())),
        }
    }
}

impl<'v> Extended<'v> {
    /// What kind of value it is, as a user says it.
    pub const fn name(&self) -> &'static str {
        match self {
            Extended::Number(_) => "number",
            Extended::Null(_) => "null",
            Extended::Unknown(_) => "unknown value",
            Extended::Marked(value, _) | Extended::Written(value, _) => value.kind(),
            Extended::Typed(Type::Set(_), _) => "set",
            Extended::Typed(_, elements) => elements.kind(),
            Extended::Capsule(_) => "capsule",
            Extended::Bytes(_) => "bytes",
            Extended::Entries(_) => "map",
            Extended::Named(_) => "type",
            Extended::Timestamp { .. } => "timestamp",
            Extended::Duration(_) => "duration",
            Extended::Optional(_) => "optional",
        }
    }

    /// The text that stands for it in a format that has no such values; `None` where none does.
    pub(super) fn plain_text(&self) -> Option<Cow<'v, str>> {
        Some(match self {
            Extended::Bytes(bytes) => Cow::Owned(encoding::base64(bytes)),
            Extended::Named(name) => Cow::Borrowed(*name),
            Extended::Timestamp { seconds, nanos } => Cow::Owned(duration::utc_text(*seconds, *nanos)?),
            Extended::Duration(nanos) => Cow::Owned(duration::seconds_text(*nanos)),
            Extended::Capsule(Capsule { content: CapsuleContent::Text(text), .. }) => Cow::Borrowed(*text),
            _ => return None,
        })
    }
}

impl Arena {
    /// A value beyond the plain ones, as it is.
    pub fn extended<'v>(&'v self, kind: Extended<'v>) -> Value<'v> {
        let within = match kind {
            Extended::Marked(value, _) => Within { qualified: true, ..value.within() },
            Extended::Typed(_, value) | Extended::Written(value, _) => value.within(),
            Extended::Entries(entries) => Within::around(entries.values()),
            Extended::Optional(value) => Within::around(&[value]),
            Extended::Unknown(_) => Within { qualified: true, ..Within::default() },
            Extended::Number(_)
            | Extended::Null(_)
            | Extended::Capsule(_)
            | Extended::Bytes(_)
            | Extended::Named(_)
            | Extended::Timestamp { .. }
            | Extended::Duration(_) => Within::default(),
        };
        Value::Extended(self.bump().alloc(Extension { kind, within }))
    }

    /// A number: plain where it is an `i64` of full precision.
    pub fn number(&self, number: BigNum) -> Value<'_> {
        match number.as_plain_int() {
            Some(n) => Value::Int(n),
            None => self.extended(Extended::Number(number)),
        }
    }

    /// No value, of type `ty`.
    pub fn null<'v>(&'v self, ty: Type<'v>) -> Value<'v> {
        match ty {
            Type::Dynamic => Value::Null,
            ty => self.extended(Extended::Null(ty)),
        }
    }

    /// A bound of a number that is not known: the number, and whether it may be that number itself.
    pub fn bound(&self, number: BigNum, inclusive: bool) -> &(BigNum, bool) {
        self.bump().alloc((number, inclusive))
    }

    /// A value of type `ty` that is not known yet, and of which nothing else is known.
    pub fn unknown<'v>(&'v self, ty: Type<'v>) -> Value<'v> {
        self.refined(ty, Refinement::NONE)
    }

    /// A value of type `ty` that is not known yet, and what else is known of it.
    pub fn refined<'v>(&'v self, ty: Type<'v>, refinement: Refinement<'v>) -> Value<'v> {
        self.extended(Extended::Unknown(Unknown { ty, refinement, faulty: false }))
    }

    /// What stands for a value of type `ty` that could not be computed; why was reported.
    pub fn faulty<'v>(&'v self, ty: Type<'v>) -> Value<'v> {
        self.faulty_refined(ty, Refinement::NONE)
    }

    /// The same, where something is known of the value.
    pub fn faulty_refined<'v>(&'v self, ty: Type<'v>, refinement: Refinement<'v>) -> Value<'v> {
        self.extended(Extended::Unknown(Unknown { ty, refinement, faulty: true }))
    }

    /// `value` with `marks` beside those it carries already.
    pub fn marked<'v>(&'v self, value: Value<'v>, marks: &[&'v str]) -> Value<'v> {
        if marks.is_empty() {
            return value;
        }
        let (inner, own) = value.unmarked();
        let mut all: Vec<&'v str> = own.iter().chain(marks).copied().collect();
        all.sort_unstable();
        all.dedup();
        self.extended(Extended::Marked(inner, self.bump().alloc_slice_copy(&all)))
    }

    /// A list, set or map of type `ty`.
    pub fn typed<'v>(&'v self, ty: Type<'v>, elements: Value<'v>) -> Value<'v> {
        self.extended(Extended::Typed(ty, elements))
    }

    /// A number that a document spells so: written in this spelling wherever a reader of any format takes it for that
    /// number ([`keeps_spelling`](super::yaml::keeps_spelling)), otherwise as any number.
    pub fn spelled<'v>(&'v self, number: Value<'v>, spelling: &'v str) -> Value<'v> {
        match number {
            Value::Int(_) | Value::Float(_) if super::yaml::keeps_spelling(spelling) => {
                self.extended(Extended::Written(number, Writing::Spelled(spelling)))
            }
            other => other,
        }
    }

    /// A value with a tag (`!name`), for formats that have tags; without it where the tag cannot be written.
    pub fn tagged<'v>(&'v self, value: Value<'v>, tag: &'v str) -> Value<'v> {
        if super::yaml::is_tag(tag) { self.extended(Extended::Written(value, Writing::Tagged(tag))) } else { value }
    }
}

impl<'v> Value<'v> {
    /// The value beyond the plain ones, where it is one.
    pub const fn extended(&self) -> Option<&'v Extended<'v>> {
        match self {
            Value::Extended(extension) => Some(&extension.kind),
            _ => None,
        }
    }

    /// The value without the marks that it carries itself, and those marks.
    pub const fn unmarked(&self) -> (Value<'v>, &'v [&'v str]) {
        match self.extended() {
            Some(Extended::Marked(value, marks)) => (*value, marks),
            _ => (*self, &[]),
        }
    }

    /// Whether it carries marks itself.
    pub const fn is_marked(&self) -> bool {
        matches!(self.extended(), Some(Extended::Marked(..)))
    }

    /// What is known of it, where it is not known. A mark does not make a value unknown.
    pub const fn as_unknown(&self) -> Option<&'v Unknown<'v>> {
        match self.unmarked().0.extended() {
            Some(Extended::Unknown(unknown)) => Some(unknown),
            _ => None,
        }
    }

    /// Whether it is known; what is in it may not be.
    pub const fn is_known(&self) -> bool {
        self.as_unknown().is_none()
    }

    /// Whether it is null, of whatever type and with whatever marks.
    pub const fn is_null(&self) -> bool {
        match self.unmarked().0 {
            Value::Null => true,
            value => matches!(value.extended(), Some(Extended::Null(_))),
        }
    }

    /// The elements, where this is a list, a set or a tuple, whatever its marks.
    pub const fn elements(&self) -> Option<&'v [Value<'v>]> {
        let (value, _) = self.unmarked();
        match value.extended() {
            Some(Extended::Typed(_, elements)) => elements.as_list(),
            _ => value.as_list(),
        }
    }

    /// The entries, where this is a map or an object, whatever its marks.
    pub const fn entries(&self) -> Option<&'v super::Map<'v>> {
        let (value, _) = self.unmarked();
        match value.extended() {
            Some(Extended::Typed(_, elements)) => elements.as_map(),
            _ => value.as_map(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{JsonStyle, write_json};

    /// What there is no such value for in JSON, and what stands for it there.
    #[test]
    fn plain_formats_get_texts() {
        let arena = Arena::new();
        let some = Extended::Optional(arena.extended(Extended::Duration(-1_500_000_000)));
        let nothing = Extended::Optional(Value::Undefined);
        let capsule = |content| Extended::Capsule(Capsule { name: "net.IP", id: 0, content });
        for (kind, wanted) in [
            (Extended::Bytes(b"\xFF\0\x01\x02"), r#""/wABAg==""#),
            (Extended::Bytes(b""), r#""""#),
            (Extended::Named("int"), r#""int""#),
            (Extended::Timestamp { seconds: 0, nanos: 500_000_000 }, r#""1970-01-01T00:00:00.5Z""#),
            (Extended::Timestamp { seconds: i64::MAX, nanos: 0 }, "null"),
            (Extended::Duration(3_600_500_000_000), r#""3600.5s""#),
            (some, r#""-1.5s""#),
            (nothing, "null"),
            (capsule(CapsuleContent::Text("::1")), r#""::1""#),
            (capsule(CapsuleContent::Opaque), "null"),
        ] {
            let value = arena.extended(kind);
            let mut text = String::new();
            assert!(write_json(value, JsonStyle::Compact, &mut text, &mut |_| Ok::<_, ()>(())).is_ok());
            assert_eq!(text, wanted);
            assert_eq!(serde_json::to_string(&value.to_data()).unwrap(), wanted);
        }
    }

    #[test]
    fn what_holds_values_is_deeper_than_they_are() {
        let arena = Arena::new();
        let list = arena.list(&[Value::Null]);
        let entries = Entries::new(&arena, &[Value::Int(1)], &[list]).unwrap();
        assert_eq!([arena.extended(Extended::Optional(list)).depth(), arena.entries(entries).depth()], [2, 2]);
        assert_eq!(arena.extended(Extended::Bytes(b"ab")).depth(), 0);
    }

    #[test]
    fn what_writes_asks_before_it_grows() {
        let arena = Arena::new();
        let value = arena.extended(Extended::Bytes(&[0; 3000]));
        let mut text = String::new();
        let refused =
            write_json(value, JsonStyle::Compact, &mut text, &mut |len| if len > 100 { Err(()) } else { Ok(()) });
        assert_eq!((refused, text.as_str()), (Err(()), ""));
    }
}
