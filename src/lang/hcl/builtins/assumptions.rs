//! Functions that assert a fact about a value: an unknown value takes it on, a known one is checked. Marks of
//! sensitive and ephemeral values.

use super::{WHOLE, items, length_is_known};
use crate::values::elements::any;
use crate::values::types::name;
use crate::values::{
    Refine, convert, equals, is_dynamic, mark_with_paths, marked_by, rebuilt, safe_prefix, type_of,
    unmark_deep_with_paths,
};
use dropforge_machine::function::{Cx, Fault, Outcome, fitting, whole};
use dropforge_machine::functions;
use dropforge_value::{Type, Value};

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
    // What follows a prefix may combine with its last character.
    let prefix = safe_prefix(prefix);
    let value = if is_dynamic(value) { cx.arena().unknown(Type::String) } else { value };
    let known = value.as_str().or_else(|| value.as_unknown().map(|unknown| unknown.refinement.prefix));
    if known.is_some_and(|known| known.bytes().zip(prefix.bytes()).any(|(own, other)| own != other)) {
        return Err(violated());
    }
    Refine::of(value).prefix(cx, &prefix)?.done(cx)
}

/// Returns argument `at` as a bound of a length.
fn length(value: Value<'_>, at: usize) -> Outcome<i64> {
    let length = whole(value, at).ok().filter(|length| *length < i64::MAX);
    length.ok_or_else(|| Fault::argument(at, WHOLE))
}

fn at_least<'v>(cx: &Cx<'v>, value: Value<'v>, least: Value<'v>) -> Outcome<Value<'v>> {
    bounded(cx, value, length(least, 1)?, i64::MAX)
}

fn at_most<'v>(cx: &Cx<'v>, value: Value<'v>, most: Value<'v>) -> Outcome<Value<'v>> {
    bounded(cx, value, 0, length(most, 1)?)
}

fn between<'v>(cx: &Cx<'v>, value: Value<'v>, least: Value<'v>, most: Value<'v>) -> Outcome<Value<'v>> {
    bounded(cx, value, length(least, 1)?, length(most, 2)?)
}

/// Assumes bounds of the length of a collection. A negative minimum holds for each, a negative maximum for none.
fn bounded<'v>(cx: &Cx<'v>, value: Value<'v>, least: i64, most: i64) -> Outcome<Value<'v>> {
    let least = u64::try_from(least).unwrap_or(0);
    let most = u64::try_from(most).map_err(|_| violated())?;
    let most = if most == i64::MAX as u64 { u64::MAX } else { most };
    let length = match (value.entries(), value.as_unknown()) {
        _ if value.is_null() => return Err(violated()),
        (Some(map), _) => Some((map.len() as u64, map.len() as u64)),
        (None, Some(unknown)) => Some((unknown.refinement.len_least, unknown.refinement.len_most)),
        // Unknown elements of a set may turn out to be equal.
        (None, None) if !length_is_known(cx, value)? => None,
        (None, None) => Some((items(value).len() as u64, items(value).len() as u64)),
    };
    let possible = |(shortest, longest): (u64, u64)| least.max(shortest) <= most.min(longest);
    if least > most || !length.is_none_or(possible) {
        return Err(violated());
    }
    Refine::of(value).length_at_least(least).length_at_most(most).done(cx)
}

/// The mark of a value that must not be shown.
pub const SENSITIVE: &str = "sensitive";

/// The mark of a value that must not be stored.
pub const EPHEMERAL: &str = "ephemeral";

functions! {
    /// Mark functions of OpenTofu.
    pub(super) static SECRETS:
    "sensitive" (value: Any [null unknown dynamic marked]) -> {type_of} or null = sensitive,
        "Marks a value as sensitive." ["issensitive(sensitive(1))" => "true"];
    "nonsensitive" (value: Any [null unknown dynamic marked]) -> {type_of} or null = unmarked(SENSITIVE),
        "Removes the sensitive mark of a value." ["nonsensitive(sensitive(1))" => "1"];
    "issensitive" (value: Any [null unknown dynamic marked]) -> Bool = is_sensitive,
        "Returns `true` if a value is marked as sensitive." ["issensitive(1)" => "false"];
    "ephemeralasnull" (value: Any [null unknown dynamic marked]) -> {type_of} or null = ephemeral_as_null,
        "Replaces all ephemeral values in a value by null." ["ephemeralasnull(\"a\")" => "\"a\""];
}

fn sensitive<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    marked_by(cx, value, &[SENSITIVE])
}

/// Removes one of the outer marks of `value`.
/// Returns a body that removes a mark.
fn unmarked<'v>(mark: &str) -> impl Fn(&Cx<'v>, Value<'v>) -> Outcome<Value<'v>> {
    move |cx, value| {
        let (value, marks) = value.unmarked();
        let kept: Vec<&str> = marks.iter().copied().filter(|own| *own != mark).collect();
        marked_by(cx, value, &kept)
    }
}

fn has(value: Value<'_>, mark: &str) -> bool {
    value.unmarked().1.contains(&mark)
}

fn is_sensitive<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    Ok(if value.is_known() { Value::Bool(has(value, SENSITIVE)) } else { cx.arena().unknown(Type::Bool) })
}

fn ephemeral_as_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if any(cx, value, &|value| has(value, EPHEMERAL))? { without_ephemeral(cx, value) } else { Ok(value) }
}

fn without_ephemeral<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    let (plain, marks) = value.unmarked();
    if !has(value, EPHEMERAL) {
        return marked_by(cx, rebuilt(cx, plain, &mut |_, item| without_ephemeral(cx, item))?, marks);
    }
    let nothing = if plain.is_known() { cx.arena().null(type_of(cx, plain)?) } else { plain };
    unmarked(EPHEMERAL)(cx, marked_by(cx, nothing, marks)?)
}
