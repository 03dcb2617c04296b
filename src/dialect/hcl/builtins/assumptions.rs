//! Functions that say what is known of a value before it is known itself, and check it when it is.

use super::arguments::{text, whole};
use super::secrets::{EPHEMERAL, SENSITIVE};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::equality::equals;
use crate::dialect::hcl::values::marks::{mark_with_paths, unmark_deep_with_paths};
use crate::dialect::hcl::values::refine::{Refine, safe_prefix};
use crate::dialect::hcl::values::types::{name, type_of};
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::value::{Type, Value};

positional! {
    /// Assumptions, all of them OpenTofu's.
    pub(super) static ASSUMPTIONS:
    "assumeequal" (actual_value: Any [null unknown dynamic marked], expected_value: Any [null unknown dynamic marked])
        -> {type_of_second} or null = equal, "The second value, which the first must be equal to once it is known."
        ["assumeequal(\"a\", \"a\")" => "\"a\""];
    "assumenotnull" (value: Any [null unknown dynamic]) -> {type_of_first} or null = not_null,
        "The value, which must not be null." ["assumenotnull(\"hello\")" => "\"hello\""];
    "assumestringprefix" (value: String [null unknown dynamic], prefix: String) -> String or null = prefix,
        "The text, which must begin with another." ["assumestringprefix(\"foo-bar\", \"foo-\")" => "\"foo-bar\""];
    "assumelistlength" (value: (list Any) [null unknown dynamic], min_length: Number, max_length: Number)
        -> (list Any) or null = between, "The list, whose length must be in these bounds."
        ["assumelistlength([1, 2], 1, 2)" => "[1, 2]"];
    "assumelistlengthmin" (value: (list Any) [null unknown dynamic], min_length: Number) -> (list Any) or null = at_least,
        "The list, which must be at least so long." ["assumelistlengthmin([1, 2], 1)" => "[1, 2]"];
    "assumelistlengthmax" (value: (list Any) [null unknown dynamic], max_length: Number) -> (list Any) or null = at_most,
        "The list, which must be at most so long." ["assumelistlengthmax([1, 2], 3)" => "[1, 2]"];
    "assumesetlength" (value: (set Any) [null unknown dynamic], min_length: Number, max_length: Number)
        -> (set Any) or null = between, "The set, whose size must be in these bounds."
        ["assumesetlength([1, 2], 1, 2)" => "[1, 2]"];
    "assumesetlengthmin" (value: (set Any) [null unknown dynamic], min_length: Number) -> (set Any) or null = at_least,
        "The set, which must have at least so many elements." ["assumesetlengthmin([1, 2], 1)" => "[1, 2]"];
    "assumesetlengthmax" (value: (set Any) [null unknown dynamic], max_length: Number) -> (set Any) or null = at_most,
        "The set, which must have at most so many elements." ["assumesetlengthmax([1, 2], 3)" => "[1, 2]"];
    "assumemaplength" (value: (map Any) [null unknown dynamic], min_length: Number, max_length: Number)
        -> (map Any) or null = between, "The map, whose size must be in these bounds."
        ["assumemaplength({a = 1}, 1, 2)" => "{a = 1}"];
    "assumemaplengthmin" (value: (map Any) [null unknown dynamic], min_length: Number) -> (map Any) or null = at_least,
        "The map, which must have at least so many entries." ["assumemaplengthmin({a = 1}, 1)" => "{a = 1}"];
    "assumemaplengthmax" (value: (map Any) [null unknown dynamic], max_length: Number) -> (map Any) or null = at_most,
        "The map, which must have at most so many entries." ["assumemaplengthmax({a = 1}, 3)" => "{a = 1}"];
}

fn type_of_first<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_of(cx, argument(args)?)
}

fn type_of_second<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_of(cx, argument(args.get(1..).unwrap_or(&[]))?)
}

fn argument<'v>(args: &[Value<'v>]) -> Outcome<Value<'v>> {
    args.first().copied().ok_or_else(|| Fault::wrong("an argument is missing"))
}

fn wrong() -> Fault {
    Fault::argument(0, "the value is not as assumed")
}

fn equal<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [actual, expected] = args else { return Err(cx.arity().into()) };
    let ty = type_of(cx, *expected)?;
    let actual = match convert(cx, *actual, &ty) {
        Err(Fault::Wrong(_)) => {
            let own = name(&type_of(cx, *actual)?);
            return Err(Fault::argument(0, format!("the value is {own}, not {} as assumed", name(&ty))));
        }
        converted => converted?,
    };
    if matches!(equals(cx, actual, *expected)?.unmarked().0, Value::Bool(false)) {
        return Err(wrong());
    }
    // How secret the value is, the assumed one says itself; all else that is marked stays marked.
    let (_, marked) = unmark_deep_with_paths(cx, actual)?;
    let mut kept = Vec::new();
    for (path, marks) in marked {
        let marks: Vec<&str> = marks.iter().copied().filter(|mark| ![SENSITIVE, EPHEMERAL].contains(mark)).collect();
        if !marks.is_empty() {
            cx.charge(marks.len() * size_of::<&str>())?;
            kept.push((path, &*cx.arena().bump().alloc_slice_copy(&marks)));
        }
    }
    if kept.is_empty() { Ok(*expected) } else { mark_with_paths(cx, *expected, &kept) }
}

fn not_null<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let value = argument(args)?;
    if type_of(cx, value)? == Type::Dynamic {
        return Err(Fault::argument(0, "the type of the value must be known: `convert` gives it one"));
    }
    if value.is_null() { Err(wrong()) } else { Refine::of(value).not_null().done(cx) }
}

fn prefix<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (value, prefix) = (argument(args)?, text(args, 1)?);
    match value.as_str() {
        Some(text) if !text.starts_with(prefix) => Err(wrong()),
        _ if value.is_known() => Ok(value),
        _ => Refine::of(typed(cx, value, Type::String)).prefix(cx, &safe_prefix(prefix))?.done(cx),
    }
}

/// `value`, of which not even the type may be known, as one of type `ty`.
fn typed<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Type<'v>) -> Value<'v> {
    let untyped = value.as_unknown().is_some_and(|unknown| unknown.ty == Type::Dynamic);
    if untyped { cx.arena().unknown(ty) } else { value }
}

fn between<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    bounded(cx, args, Some(1), Some(2))
}

fn at_least<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    bounded(cx, args, Some(1), None)
}

fn at_most<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    bounded(cx, args, None, Some(1))
}

/// The first argument, whose length is at least and at most what these arguments say.
fn bounded<'v>(cx: &Cx<'v>, args: &[Value<'v>], least: Option<usize>, most: Option<usize>) -> Outcome<Value<'v>> {
    let value = argument(args)?;
    let bound = |at: Option<usize>| at.map(|at| length_at(args, at)).transpose();
    let (least, most) = (bound(least)?.unwrap_or(0), bound(most)?.unwrap_or(u64::MAX));
    let length = value.elements().map(<[_]>::len).or_else(|| value.entries().map(|map| map.len()));
    match length {
        Some(length) if (least..=most).contains(&(length as u64)) => Ok(value),
        Some(_) => Err(wrong()),
        None => Refine::of(value).length_at_least(least).length_at_most(most).done(cx),
    }
}

/// A length; what is below 0 says no more than 0.
fn length_at(args: &[Value<'_>], at: usize) -> Outcome<u64> {
    let length = whole(args, at).map_err(|_| Fault::argument(at, "a whole number is required"))?;
    Ok(u64::try_from(length).unwrap_or(0))
}
