//! Functions that assert a fact about a value: an unknown value takes it on, a known one is checked.

use super::secrets::{EPHEMERAL, SENSITIVE};
use super::{Arguments, FromArguments, functions, whole};
use crate::dialect::hcl::values::types::name;
use crate::dialect::hcl::values::{
    Refine, convert, equals, is_dynamic, mark_with_paths, safe_prefix, type_of, unmark_deep_with_paths,
};
use crate::function::{Cx, Fault, Outcome, fitting};
use crate::value::{Type, Value};

functions! {
    /// Assumptions of OpenTofu.
    pub(super) static ASSUMPTIONS:
    "assumeequal" (actual_value: Any [null unknown dynamic marked], expected_value: Any [null unknown dynamic marked])
        -> {expected_type} or null = equal, "Returns the second value. The first must equal it once it is known."
        ["assumeequal(\"a\", \"a\")" => "\"a\""];
    "assumenotnull" (value: Any [null unknown dynamic]) -> {type_of} or null = not_null,
        "Returns the value, which must not be null." ["assumenotnull(\"hello\")" => "\"hello\""];
    "assumestringprefix" (value: String [null unknown dynamic], prefix: String) -> String or null = prefix,
        "Returns the string, which must start with the prefix." ["assumestringprefix(\"foo-bar\", \"foo-\")" => "\"foo-bar\""];
    "assumelistlength" (value: (list Any) [null unknown dynamic], min_length: Number, max_length: Number)
        -> (list Any) or null = between, "Returns the list, whose length must be within the bounds."
        ["assumelistlength([1, 2], 1, 2)" => "[1, 2]"];
    "assumelistlengthmin" (value: (list Any) [null unknown dynamic], min_length: Number) -> (list Any) or null = at_least,
        "Returns the list, which must have at least this length." ["assumelistlengthmin([1, 2], 1)" => "[1, 2]"];
    "assumelistlengthmax" (value: (list Any) [null unknown dynamic], max_length: Number) -> (list Any) or null = at_most,
        "Returns the list, which must have at most this length." ["assumelistlengthmax([1, 2], 3)" => "[1, 2]"];
    "assumesetlength" (value: (set Any) [null unknown dynamic], min_length: Number, max_length: Number)
        -> (set Any) or null = between, "Returns the set, whose size must be within the bounds."
        ["assumesetlength([1, 2], 1, 2)" => "[1, 2]"];
    "assumesetlengthmin" (value: (set Any) [null unknown dynamic], min_length: Number) -> (set Any) or null = at_least,
        "Returns the set, which must have at least this many elements." ["assumesetlengthmin([1, 2], 1)" => "[1, 2]"];
    "assumesetlengthmax" (value: (set Any) [null unknown dynamic], max_length: Number) -> (set Any) or null = at_most,
        "Returns the set, which must have at most this many elements." ["assumesetlengthmax([1, 2], 3)" => "[1, 2]"];
    "assumemaplength" (value: (map Any) [null unknown dynamic], min_length: Number, max_length: Number)
        -> (map Any) or null = between, "Returns the map, whose size must be within the bounds."
        ["assumemaplength({a = 1}, 1, 2)" => "{a = 1}"];
    "assumemaplengthmin" (value: (map Any) [null unknown dynamic], min_length: Number) -> (map Any) or null = at_least,
        "Returns the map, which must have at least this many entries." ["assumemaplengthmin({a = 1}, 1)" => "{a = 1}"];
    "assumemaplengthmax" (value: (map Any) [null unknown dynamic], max_length: Number) -> (map Any) or null = at_most,
        "Returns the map, which must have at most this many entries." ["assumemaplengthmax({a = 1}, 3)" => "{a = 1}"];
}

fn expected_type<'v>(cx: &Cx<'v>, _: Value<'v>, expected: Value<'v>) -> Outcome<Type<'v>> {
    type_of(cx, expected)
}

fn violated() -> Fault {
    Fault::argument(0, "the value is not as assumed")
}

fn equal<'v>(cx: &Cx<'v>, actual: Value<'v>, expected: Value<'v>) -> Outcome<Value<'v>> {
    let ty = type_of(cx, expected)?;
    let Some(converted) = fitting(convert(cx, actual, &ty))? else {
        let own = name(&type_of(cx, actual)?);
        return Err(Fault::argument(0, format!("the value is {own}, not {} as assumed", name(&ty))));
    };
    if matches!(equals(cx, converted, expected)?.unmarked().0, Value::Bool(false)) {
        return Err(violated());
    }
    // Sensitivity is taken from the expected value; all other marks of the actual one stay.
    let (_, marked) = unmark_deep_with_paths(cx, converted)?;
    let mut kept = Vec::new();
    for (path, marks) in marked {
        let marks: Vec<&str> = marks.iter().copied().filter(|mark| ![SENSITIVE, EPHEMERAL].contains(mark)).collect();
        if !marks.is_empty() {
            cx.charge(marks.len() * size_of::<&str>())?;
            kept.push((path, &*cx.arena().bump().alloc_slice_copy(&marks)));
        }
    }
    if kept.is_empty() { Ok(expected) } else { mark_with_paths(cx, expected, &kept) }
}

fn not_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if type_of(cx, value)? == Type::Dynamic {
        return Err(Fault::argument(0, "the type of the value must be known: `convert` gives it one"));
    }
    if value.is_null() { Err(violated()) } else { Refine::of(value).not_null().done(cx) }
}

fn prefix<'v>(cx: &Cx<'v>, value: Value<'v>, prefix: &'v str) -> Outcome<Value<'v>> {
    match value.as_str() {
        Some(text) if !text.starts_with(prefix) => Err(violated()),
        _ if value.is_known() => Ok(value),
        _ => {
            let string = if is_dynamic(value) { cx.arena().unknown(Type::String) } else { value };
            Refine::of(string).prefix(cx, &safe_prefix(prefix))?.done(cx)
        }
    }
}

/// A bound of a length. Negative bounds count as 0.
struct Length(u64);

impl FromArguments<'_> for Length {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        let length = whole(value, at).map_err(|_| Fault::argument(at, "a whole number is required"))?;
        Ok(Self(u64::try_from(length).unwrap_or(0)))
    }
}

fn at_least<'v>(cx: &Cx<'v>, value: Value<'v>, least: Length) -> Outcome<Value<'v>> {
    between(cx, value, least, Length(u64::MAX))
}

fn at_most<'v>(cx: &Cx<'v>, value: Value<'v>, most: Length) -> Outcome<Value<'v>> {
    between(cx, value, Length(0), most)
}

fn between<'v>(cx: &Cx<'v>, value: Value<'v>, Length(least): Length, Length(most): Length) -> Outcome<Value<'v>> {
    let length = value.elements().map(<[_]>::len).or_else(|| value.entries().map(|map| map.len()));
    match length {
        Some(length) if (least..=most).contains(&(length as u64)) => Ok(value),
        Some(_) => Err(violated()),
        None => Refine::of(value).length_at_least(least).length_at_most(most).done(cx),
    }
}
