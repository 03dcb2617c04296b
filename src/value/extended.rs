//! Rare kinds of values, behind one variant of [`Value`] and never on a fast path.

use std::borrow::Cow;

use super::borrowed::Summary;
use super::{Arena, Data, Entries, Type, Value};
use dropforge_base::stdlib::bignum::{BigNum, Layout};
use dropforge_base::stdlib::encodings::base64;
use dropforge_base::stdlib::timestamps;

/// A rare value and its summary.
#[derive(Debug, Clone, Copy)]
pub struct Extension<'v> {
    kind: Extended<'v>,
    summary: Summary,
}

/// The rare kinds of values.
#[derive(Debug, Clone, Copy)]
pub enum Extended<'v> {
    /// A number other than an `i64` of full precision.
    Number(BigNum),
    /// A null with a type. Without a type it is [`Value::Null`].
    Null(Type<'v>),
    /// A value that is not known yet.
    Unknown(Unknown<'v>),
    /// A value and its marks: at least one, sorted, without duplicates. The inner value carries no marks itself, but
    /// nested values may.
    Marked(Value<'v>, &'v [&'v str]),
    /// A list, set or map with one element type ([`Type::List`], [`Type::Set`], [`Type::Map`]). Its elements are a
    /// [`Value::List`] (for a set, distinct and in set order) or a [`Value::Map`].
    Typed(Type<'v>, Value<'v>),
    /// A value of the host.
    Capsule(Capsule<'v>),
    /// Arbitrary bytes.
    Bytes(&'v [u8]),
    /// A map with keys other than text.
    Entries(Entries<'v>),
    /// A type, identified by its name.
    Named(&'v str),
    /// A point in time, in UTC.
    Timestamp {
        /// Seconds since the Unix epoch.
        seconds: i64,
        /// Nanoseconds within the second.
        nanos: u32,
    },
    /// A duration in nanoseconds.
    Duration(i64),
    /// An optional value; [`Value::Undefined`] stands for none.
    Optional(Value<'v>),
    /// A value with a preferred notation in formats that have several.
    Written(Value<'v>, Writing<'v>),
    /// An integer of a type of its own, in languages with several types of integers.
    Sized(Sized),
}

/// An integer with its type, in languages with several types of integers. A plain integer is a [`Value::Int`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sized {
    /// A signed integer.
    Signed(Width, i64),
    /// An unsigned integer.
    Unsigned(Width, u64),
}

/// The width of an integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// 8 bits.
    W8,
    /// 16 bits.
    W16,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
    /// The width of a machine word.
    Word,
}

impl Sized {
    /// Returns the number.
    #[doc(hidden)]
    pub const fn number(self) -> i128 {
        match self {
            Sized::Signed(_, n) => n as i128,
            Sized::Unsigned(_, n) => n as i128,
        }
    }

    /// Returns another number of the same type.
    #[must_use]
    pub const fn with(self, n: i64) -> Self {
        match self {
            Sized::Signed(width, _) => Sized::Signed(width, n),
            Sized::Unsigned(width, _) => Sized::Unsigned(width, n.cast_unsigned()),
        }
    }

    /// Returns the number as a plain value.
    pub fn plain<'v>(self) -> Value<'v> {
        match self {
            Sized::Signed(_, n) => Value::Int(n),
            Sized::Unsigned(_, n) => Value::uint(n),
        }
    }
}

/// A notation of a value in formats that have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing<'v> {
    /// A number in this spelling, which every parser reads as that number.
    Spelled(&'v str),
    /// With this tag (`!name`). The number is the instruction that added it, for errors.
    Tagged(&'v str, u32),
    /// The value itself, a number whose type has integers and floats: operators mix it with both.
    Number,
}

/// The type of an unknown value and the constraints on it.
#[derive(Debug, Clone, Copy)]
pub struct Unknown<'v> {
    /// The type; [`Type::Dynamic`] if it is unknown, too.
    pub ty: Type<'v>,
    /// The constraints on the value.
    pub refinement: Refinement<'v>,
    /// `true` for a placeholder of a value whose computation failed. The failure was already reported.
    pub faulty: bool,
}

/// Constraints on an unknown value.
#[derive(Debug, Clone, Copy)]
pub struct Refinement<'v> {
    /// The value is not null.
    pub not_null: bool,
    /// The prefix of a string; empty if unknown.
    pub prefix: &'v str,
    /// The lower bound of a number; `true` if the bound is inclusive.
    pub least: Option<&'v (BigNum, bool)>,
    /// The upper bound of a number; `true` if the bound is inclusive.
    pub most: Option<&'v (BigNum, bool)>,
    /// The minimum number of elements.
    pub len_least: u64,
    /// The maximum number of elements; `u64::MAX` if unknown.
    pub len_most: u64,
}

impl Refinement<'_> {
    /// No constraints.
    pub const NONE: Self =
        Self { not_null: false, prefix: "", least: None, most: None, len_least: 0, len_most: u64::MAX };

    /// Not null, otherwise unconstrained.
    pub const NOT_NULL: Self = Self { not_null: true, ..Self::NONE };
}

/// A value of the host, identified by the name of its kind and an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capsule<'v> {
    /// The name of the kind.
    pub name: &'v str,
    /// The identity within the kind.
    pub id: u64,
    /// The content, for capsules of the engine itself.
    pub content: CapsuleContent<'v>,
}

/// Capsule content that the engine can inspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapsuleContent<'v> {
    /// Content that only the host can inspect.
    Opaque,
    /// A type.
    Type(Type<'v>),
    /// The textual form of the value, parsed wherever the value is used.
    Text(&'v str),
    /// The textual form of the value, followed by the texts of its parts.
    Texts(&'v [&'v str]),
}

impl<'v> Extension<'v> {
    /// Returns the kind of the value and its content.
    pub const fn kind(&self) -> &Extended<'v> {
        &self.kind
    }

    pub(super) const fn summary(&self) -> Summary {
        self.summary
    }

    /// Returns the nearest owned form: numbers with all their digits, elements without types and marks, bytes in base64,
    /// timestamps, durations and capsules of the engine as text, keys as text. Unknown values, absent optionals and
    /// capsules of the host become null.
    pub(super) fn to_data(self) -> Data {
        match self.kind {
            Extended::Number(number) => number_data(&number),
            Extended::Written(value, Writing::Spelled(text)) => Data::number(text).unwrap_or_else(|| value.to_data()),
            Extended::Sized(number) => number.plain().to_data(),
            Extended::Marked(value, _)
            | Extended::Typed(_, value)
            | Extended::Optional(value)
            | Extended::Written(value, _) => value.to_data(),
            Extended::Entries(entries) => {
                Data::Map(entries.as_texts().map(|(key, value)| (key.into_owned(), value.to_data())).collect())
            }
            kind => kind.plain_text().map_or(Data::Null, |text| Data::Str(text.into_owned())),
        }
    }
}

/// The length of a number that is written with an exponent.
const LONG: usize = 1_000;

/// Returns a number with all its digits. Infinite ones are floats.
fn number_data(number: &BigNum) -> Data {
    let layout = if number.text_len() > LONG { Layout::Exponent } else { Layout::Fixed };
    let data = number.is_finite().then(|| Data::number(&number.format(layout, None))).flatten();
    data.unwrap_or_else(|| number.to_f64().map_or(Data::Null, Data::Float))
}

impl<'v> Extended<'v> {
    /// Returns the kind of the value, for messages.
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
            Extended::Sized(_) => "integer",
        }
    }

    /// Returns the textual form for formats without such values, if there is one.
    pub(super) fn plain_text(&self) -> Option<Cow<'v, str>> {
        Some(match self {
            Extended::Bytes(bytes) => Cow::Owned(base64(bytes)),
            Extended::Named(name) => Cow::Borrowed(*name),
            Extended::Timestamp { seconds, nanos } => Cow::Owned(timestamps::utc_text(*seconds, *nanos)?),
            Extended::Duration(nanos) => Cow::Owned(timestamps::seconds_text(*nanos)),
            Extended::Capsule(Capsule { content: CapsuleContent::Text(text), .. }) => Cow::Borrowed(*text),
            Extended::Capsule(Capsule { content: CapsuleContent::Texts([text, ..]), .. }) => Cow::Borrowed(*text),
            _ => return None,
        })
    }
}

impl Arena {
    /// Returns a value of a rare kind.
    #[doc(hidden)]
    pub fn extended<'v>(&'v self, kind: Extended<'v>) -> Value<'v> {
        let summary = match kind {
            Extended::Marked(value, _) => Summary { qualified: true, ..value.summary() },
            Extended::Typed(_, value) => value.summary(),
            Extended::Written(value, _) => Summary { written: true, ..value.summary() },
            Extended::Entries(entries) => Summary::around(entries.values()),
            Extended::Optional(value) => Summary::around(&[value]),
            Extended::Number(_) => Summary { long: true, ..Summary::default() },
            Extended::Unknown(_) => Summary { qualified: true, ..Summary::default() },
            _ => Summary::default(),
        };
        Value::Extended(self.bump().alloc(Extension { kind, summary }))
    }

    /// Returns a number, as a [`Value::Int`] if it is an `i64` of full precision.
    #[doc(hidden)]
    pub fn number(&self, number: BigNum) -> Value<'_> {
        match number.as_plain_int() {
            Some(n) => Value::Int(n),
            None => self.extended(Extended::Number(number)),
        }
    }

    /// Returns a null of type `ty`.
    pub fn null<'v>(&'v self, ty: Type<'v>) -> Value<'v> {
        match ty {
            Type::Dynamic => Value::Null,
            ty => self.extended(Extended::Null(ty)),
        }
    }

    /// Returns a bound of an unknown number.
    #[doc(hidden)]
    pub fn bound(&self, number: BigNum, inclusive: bool) -> &(BigNum, bool) {
        self.bump().alloc((number, inclusive))
    }

    /// Returns an unconstrained unknown value of type `ty`.
    pub fn unknown<'v>(&'v self, ty: Type<'v>) -> Value<'v> {
        self.refined(ty, Refinement::NONE)
    }

    /// Returns an unknown value of type `ty` with constraints.
    #[doc(hidden)]
    pub fn refined<'v>(&'v self, ty: Type<'v>, refinement: Refinement<'v>) -> Value<'v> {
        self.extended(Extended::Unknown(Unknown { ty, refinement, faulty: false }))
    }

    /// Returns a placeholder for a value of type `ty` whose computation failed. The failure was already reported.
    #[doc(hidden)]
    pub fn faulty<'v>(&'v self, ty: Type<'v>) -> Value<'v> {
        self.faulty_refined(ty, Refinement::NONE)
    }

    /// Returns a placeholder like [`Arena::faulty`] with constraints.
    #[doc(hidden)]
    pub fn faulty_refined<'v>(&'v self, ty: Type<'v>, refinement: Refinement<'v>) -> Value<'v> {
        self.extended(Extended::Unknown(Unknown { ty, refinement, faulty: true }))
    }

    /// `value` with `marks` added to its own.
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

    /// Returns a list, set or map of type `ty`.
    #[doc(hidden)]
    pub fn typed<'v>(&'v self, ty: Type<'v>, elements: Value<'v>) -> Value<'v> {
        self.extended(Extended::Typed(ty, elements))
    }

    /// Returns a number with the spelling of its source document. The spelling is kept only if every parser reads it as
    /// that number ([`keeps_spelling`](super::yaml::keeps_spelling)).
    #[doc(hidden)]
    pub fn spelled<'v>(&'v self, number: Value<'v>, spelling: &'v str) -> Value<'v> {
        match number {
            Value::Int(_) | Value::Float(_) if super::yaml::keeps_spelling(spelling) => {
                self.extended(Extended::Written(number, Writing::Spelled(spelling)))
            }
            other => other,
        }
    }

    /// Returns a value with a tag (`!name`) for formats that have tags. A tag that cannot be written is dropped. `at` is the
    /// instruction that errors about the tag point at.
    #[doc(hidden)]
    pub fn tagged<'v>(&'v self, value: Value<'v>, tag: &'v str, at: u32) -> Value<'v> {
        if super::yaml::is_tag(tag) { self.extended(Extended::Written(value, Writing::Tagged(tag, at))) } else { value }
    }
}

impl<'v> Value<'v> {
    /// Returns the content of a [`Value::Extended`].
    #[doc(hidden)]
    pub const fn extended(&self) -> Option<&'v Extended<'v>> {
        match self {
            Value::Extended(extension) => Some(&extension.kind),
            _ => None,
        }
    }

    /// Returns the value without its own notation.
    #[doc(hidden)]
    pub const fn unwritten(&self) -> Value<'v> {
        let mut value = *self;
        while let Some(Extended::Written(inner, _)) = value.extended() {
            value = *inner;
        }
        value
    }

    /// Returns the tag of the first list or map that has one, and the instruction that added it.
    #[doc(hidden)]
    pub fn tagged_collection(&self) -> Option<(&'v str, u32)> {
        let mut open = vec![*self];
        while let Some(value) = open.pop().filter(|_| self.has_notation()) {
            let inner = value.unwritten();
            match (value.extended(), inner, inner.extended()) {
                (Some(Extended::Written(_, Writing::Tagged(tag, at))), Value::List(_) | Value::Map(_), _)
                | (Some(Extended::Written(_, Writing::Tagged(tag, at))), _, Some(Extended::Entries(_))) => {
                    return Some((*tag, *at));
                }
                (_, Value::List(list), _) => open.extend(list.items().iter().rev()),
                (_, Value::Map(map), _) => open.extend(map.values().iter().rev()),
                (_, _, Some(Extended::Entries(entries))) => open.extend(entries.values().iter().rev()),
                _ => {}
            }
        }
        None
    }

    /// Returns the value without its own marks, and those marks.
    pub const fn unmarked(&self) -> (Value<'v>, &'v [&'v str]) {
        match self.extended() {
            Some(Extended::Marked(value, marks)) => (*value, marks),
            _ => (*self, &[]),
        }
    }

    /// Returns `true` if the value itself carries marks.
    pub const fn is_marked(&self) -> bool {
        matches!(self.extended(), Some(Extended::Marked(..)))
    }

    /// Returns the type and constraints of an unknown value, whatever its marks.
    #[doc(hidden)]
    pub const fn as_unknown(&self) -> Option<&'v Unknown<'v>> {
        match self.unmarked().0.extended() {
            Some(Extended::Unknown(unknown)) => Some(unknown),
            _ => None,
        }
    }

    /// Returns `true` if the value is known. Nested values may be unknown.
    pub const fn is_known(&self) -> bool {
        self.as_unknown().is_none()
    }

    /// Returns `true` for a null of any type, with or without marks.
    pub const fn is_null(&self) -> bool {
        match self.unmarked().0 {
            Value::Null => true,
            value => matches!(value.extended(), Some(Extended::Null(_))),
        }
    }

    /// Returns the elements of a list, a set or a tuple, whatever its marks.
    pub const fn elements(&self) -> Option<&'v [Value<'v>]> {
        let (value, _) = self.unmarked();
        match value.extended() {
            Some(Extended::Typed(_, elements)) => elements.as_list(),
            _ => value.as_list(),
        }
    }

    /// Returns the entries of a map or an object, whatever its marks.
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
    use crate::{JsonStyle, write_json};

    /// The JSON forms of values that JSON does not have.
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
            assert!(write_json(value, JsonStyle::Compact, &mut text, &mut Ok::<_, ()>).is_ok());
            assert_eq!(text, wanted);
            assert_eq!(serde_json::to_string(&value.to_data()).unwrap(), wanted);
        }
    }

    #[test]
    fn containers_are_deeper_than_their_values() {
        let arena = Arena::new();
        let list = arena.list(&[Value::Null]);
        let entries = Entries::new(&arena, &[Value::Int(1)], &[list]).unwrap();
        assert_eq!([arena.extended(Extended::Optional(list)).depth(), arena.entries(entries).depth()], [2, 2]);
        assert_eq!(arena.extended(Extended::Bytes(b"ab")).depth(), 0);
    }

    #[test]
    fn writers_ask_before_they_grow() {
        let arena = Arena::new();
        let value = arena.extended(Extended::Bytes(&[0; 3000]));
        let mut text = String::new();
        let refused =
            write_json(value, JsonStyle::Compact, &mut text, &mut |len| if len > 100 { Err(()) } else { Ok(len) });
        assert_eq!((refused, text.as_str()), (Err(()), ""));
    }
}
