//! Arguments as the types that function bodies take, checks of collections, and texts as results.

use std::cell::Cell;

use crate::values::types::name;
use crate::values::{is_set, is_wholly_known, number_of, shallow_type, type_of};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{BigNum, Capsule, CapsuleContent, Extended, Type, Value};

/// The arguments of a call, taken in order.
pub struct Arguments<'a, 'v> {
    pub(super) cx: &'a Cx<'v>,
    values: &'a [Value<'v>],
    taken: Cell<usize>,
}

impl<'a, 'v> Arguments<'a, 'v> {
    pub fn new(cx: &'a Cx<'v>, values: &'a [Value<'v>]) -> Self {
        Self { cx, values, taken: Cell::new(0) }
    }

    /// Takes the next argument: its index and its value.
    pub(super) fn next(&self) -> Outcome<(usize, Value<'v>)> {
        let at = self.taken.replace(self.taken.get() + 1);
        let value = self.values.get(at).ok_or_else(|| self.cx.arity())?;
        Ok((at, *value))
    }

    /// Returns the arguments that have not been taken.
    pub fn rest(&self) -> &'a [Value<'v>] {
        self.values.get(self.taken.get()..).unwrap_or(&[])
    }
}

/// A type that a body takes as an argument.
pub trait FromArguments<'v>: Sized {
    /// Takes the next argument.
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self>;
}

impl<'v> FromArguments<'v> for Value<'v> {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        Ok(arguments.next()?.1)
    }
}

impl<'v> FromArguments<'v> for &'v str {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        value.as_str().ok_or_else(|| Fault::argument(at, "a string is required"))
    }
}

/// The bytes of a string.
impl<'v> FromArguments<'v> for &'v [u8] {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        <&str>::take(arguments).map(str::as_bytes)
    }
}

impl FromArguments<'_> for BigNum {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        number(value, at)
    }
}

impl FromArguments<'_> for i64 {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        whole(value, at)
    }
}

impl<'v> FromArguments<'v> for Type<'v> {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        match value.extended() {
            Some(Extended::Capsule(Capsule { content: CapsuleContent::Type(ty), .. })) => Ok(*ty),
            _ => Err(Fault::argument(at, "a type is required")),
        }
    }
}

/// Returns argument `at` as a number.
pub(super) fn number(value: Value<'_>, at: usize) -> Outcome<BigNum> {
    number_of(value).ok_or_else(|| Fault::argument(at, "a number is required"))
}

/// Returns argument `at` as a 64-bit integer.
pub(super) fn whole(value: Value<'_>, at: usize) -> Outcome<i64> {
    let whole = number(value, at)?.to_i64();
    whole.ok_or_else(|| Fault::wrong("a whole number between -9223372036854775808 and 9223372036854775807 is required"))
}

/// Makes a string value. Strings of the language are in normal form C.
pub(super) fn string<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    Ok(cx.text(&nfc(text))?)
}

/// Makes a list of strings.
pub(super) fn string_list<'v, 't>(cx: &Cx<'v>, texts: impl Iterator<Item = &'t str>) -> Outcome<Value<'v>> {
    let texts: Vec<_> = texts.map(|text| string(cx, text)).collect::<Outcome<_>>()?;
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

/// Returns `true` if `value`, which may be unknown, is a list or tuple.
pub(super) fn is_sequence<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    matches!(shallow_type(cx, value), Type::List(_) | Type::Tuple(_))
}

/// Returns `true` if `value`, which may be unknown, is a list, tuple or set.
pub(super) fn has_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    is_sequence(cx, value) || is_set(value)
}

/// Returns the name of the type of `value`, for messages.
pub(super) fn type_name<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    Ok(name(&type_of(cx, value)?))
}

/// Returns `value` as a 64-bit integer.
pub(super) fn to_i64(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(n) => Some(n),
        value => number_of(value)?.to_i64(),
    }
}

/// The message for an index or a size that is not a 64-bit integer.
pub(super) const WHOLE: &str = "a whole number of 64 bits is required";

/// Returns the elements of a known list, set or tuple.
pub(super) fn items<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    value.elements().unwrap_or(&[])
}

/// Adds the outer marks of each of `from` to `value`.
pub(super) fn marked_as<'v>(cx: &Cx<'v>, value: Value<'v>, from: &[Value<'v>]) -> Value<'v> {
    from.iter().fold(value, |value, from| cx.arena().marked(value, from.unmarked().1))
}

/// Returns the element type of a list, set or map type, or the dynamic type.
pub(super) fn element_of<'v>(ty: &Type<'v>) -> Type<'v> {
    ty.element().copied().unwrap_or(Type::Dynamic)
}

/// Returns the element type of a known list, and `None` for any other value.
pub(super) fn type_of_list<'v>(value: Value<'v>) -> Option<Type<'v>> {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(Type::List(element), _)) => Some(**element),
        _ => None,
    }
}

/// Returns `true` if the length of a list, set or tuple is known. Unknown elements of a set may turn out to be equal.
pub(super) fn length_is_known<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    match value.elements() {
        None => Ok(false),
        Some(items) => Ok(!is_set(value) || items.len() == 1 || is_wholly_known(cx, value)?),
    }
}

/// Returns `true` if `value` is known to be true.
pub(super) fn is_true(value: Value<'_>) -> bool {
    matches!(value.unmarked().0, Value::Bool(true))
}
