//! Arguments as the bodies take them, and answers as they make them.

use crate::diagnostics::Code;
use crate::dialect::hcl::values::{Fault, Outcome, number_of};
use crate::function::Cx;
use crate::stdlib::bignum::MACHINE;
use crate::stdlib::strings::nfc;
use crate::value::{BigNum, Type, Value};

fn argument<'v>(args: &[Value<'v>], at: usize) -> Value<'v> {
    args.get(at).copied().unwrap_or(Value::Null)
}

/// Argument `at`, which is a text.
pub(super) fn text<'v>(args: &[Value<'v>], at: usize) -> Outcome<&'v str> {
    argument(args, at).as_str().ok_or_else(|| Fault::argument(at, "a string is required"))
}

/// Argument `at`, which is a number.
pub(super) fn number(args: &[Value<'_>], at: usize) -> Outcome<BigNum> {
    number_of(argument(args, at)).ok_or_else(|| Fault::argument(at, "a number is required"))
}

/// Argument `at`, which is a whole number of 64 bits.
pub(super) fn whole(args: &[Value<'_>], at: usize) -> Outcome<i64> {
    let whole = number(args, at)?.to_i64();
    whole.ok_or_else(|| Fault::wrong("a whole number between -9223372036854775808 and 9223372036854775807 is required"))
}

/// A text as an answer. Texts of the language are in normal form C.
pub(super) fn answer<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    Ok(cx.text(&nfc(text))?)
}

/// A list of texts as an answer.
pub(super) fn answers<'v, 't>(cx: &Cx<'v>, texts: impl Iterator<Item = &'t str>) -> Outcome<Value<'v>> {
    let texts: Vec<_> = texts.map(|text| answer(cx, text)).collect::<Outcome<_>>()?;
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

/// A count or another small number as an answer: of the precision of a machine's integer.
pub(super) fn count<'v>(cx: &Cx<'v>, count: i64) -> Outcome<Value<'v>> {
    answer_number(cx, BigNum::of_int(count, MACHINE))
}

/// A number as an answer.
pub(super) fn answer_number<'v>(cx: &Cx<'v>, number: BigNum) -> Outcome<Value<'v>> {
    cx.charge(size_of::<BigNum>())?;
    Ok(cx.arena().number(number))
}

/// The result of something that reaches a limit or else refuses what it was given.
pub(super) fn limited<T>(result: crate::diagnostics::Result<T>) -> Outcome<T> {
    result.map_err(|error| match error.code {
        Code::BadArgument => Fault::wrong(error.message.clone()),
        _ => Fault::Limit(error),
    })
}
