//! Functions of random texts and numbers.

pub(super) mod source;

use super::arguments::{int, only};
use crate::error::failed;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::base64::{base64, base64_len};
use dropforge_base::stdlib::hashes::random_uuid;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;
use source::{DIGITS, LETTERS, LETTERS_AND_DIGITS, NoSource};

assigned! {
    /// Functions of random texts and numbers.
    pub(super) static RANDOM:
    "randAlphaNum" (Int) = |cx, args| text(cx, args, LETTERS_AND_DIGITS), needs RANDOM,
        "Returns a random text of a number of letters and digits."
        [r#"{{ randAlphaNum 10 | len }}"# => "10", r#"[{{ randAlphaNum -1 }}]"# => "[]"];
    "randAlpha" (Int) = |cx, args| text(cx, args, LETTERS), needs RANDOM, "Returns a random text of a number of letters."
        [r#"{{ randAlpha 10 | len }}"# => "10"];
    "randNumeric" (Int) = |cx, args| text(cx, args, DIGITS), needs RANDOM, "Returns a random text of a number of digits."
        [r#"{{ randNumeric 6 | regexMatch "^[0-9]{6}$" }}"# => "true"];
    "randAscii" (Int) = |cx, args| text(cx, args, &ASCII), needs RANDOM,
        "Returns a random text of a number of printable ASCII characters." [r#"{{ randAscii 20 | len }}"# => "20"];
    "randBytes" (Int) = rand_bytes, needs RANDOM, "Returns a number of random bytes in base64."
        [r#"{{ randBytes 9 | b64dec | len }}"# => "9"];
    "randInt" (Int, Int) = rand_int, needs RANDOM, "Returns a random integer, from the first number to below the second."
        [r#"{{ randInt 5 6 }}"# => "5", r#"{{ randInt 6 5 }}"# => "E0404"];
    "uuidv4" () = uuid, needs RANDOM, "Returns a random UUID." [r#"{{ uuidv4 | len }}"# => "36"];
}

/// The printable characters of ASCII.
const ASCII: [u8; 95] = {
    let mut all = [b' '; 95];
    let mut at = 0;
    while at < 95 {
        all[at] += at as u8;
        at += 1;
    }
    all
};

pub(super) fn no_source(why: NoSource) -> Box<Diagnostic> {
    failed(why.to_string())
}

fn text<'v>(cx: &Cx<'v>, args: &[Value<'v>], alphabet: &[u8]) -> Result<Value<'v>> {
    // A negative length is an error that the original ignores.
    let len = usize::try_from(int(cx, only(cx, args)?)?).unwrap_or(0);
    cx.charge(len)?;
    cx.text(&source::text(alphabet, len).map_err(no_source)?)
}

fn rand_bytes<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let len = usize::try_from(int(cx, only(cx, args)?)?);
    let len = len.map_err(|_| failed("runtime error: makeslice: len out of range"))?;
    cx.charge(len.saturating_add(base64_len(len)))?;
    let mut bytes = vec![0; len];
    source::fill(&mut bytes).map_err(no_source)?;
    cx.text(&base64(&bytes))
}

fn rand_int<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [least, end] = args else { return Err(cx.arity()) };
    let (least, end) = (int(cx, *least)?, int(cx, *end)?);
    let count = u64::try_from(end.wrapping_sub(least)).ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| failed("invalid argument to Intn"))?;
    let above = source::below(count).map_err(no_source)?;
    Ok(Value::Int(least.wrapping_add_unsigned(above)))
}

fn uuid<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    let bits = u128::from_be_bytes(source::array().map_err(no_source)?);
    cx.text(&random_uuid(bits))
}
