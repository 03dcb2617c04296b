//! Texts and numbers from a seed: the same each time, and different for different seeds.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::{arguments, number, text};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::hashes::sha256;
use crate::value::Value;

overloads! {
    /// The library of what looks random.
    pub static TABLE:
    "random.seededString": "So many small letters and digits from a seed. After eight they come again."
        ["random.seededString(8, 'a') == random.seededString(8, 'a')" => "true", "random.seededString(3, 'a').size()" => "3", "random.seededString(0, 'a')" => "E0403"] {
        "random.seededString_int_string" (Int, String) -> String = seeded_string;
    }
    "random.seededInt": "A whole number from a seed, at least the first and less than the second."
        ["random.seededInt(30000, 30001, 'a')" => "30000", "random.seededInt(1, 1, 'a')" => "E0403"] {
        "random.seededInt_int_int_string" (Int, Int, String) -> Int = seeded_int;
    }
}

/// What texts are made of.
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

fn hash(cx: &Cx<'_>, seed: &str) -> Result<[u8; 32]> {
    cx.spend(seed.len() as u64 / 16)?;
    Ok(sha256(seed.as_bytes()))
}

fn seeded_string<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [length, seed] = arguments(cx, given)?;
    let length = usize::try_from(number(length)).ok().filter(|length| *length > 0);
    let length = length.ok_or_else(|| bad_argument("random.seededString length must be positive"))?;
    let hash = hash(cx, text(seed))?;
    cx.charge(length)?;
    let letters = hash.as_chunks::<4>().0.iter().map(|word| {
        let place = u32::from_be_bytes(*word) as usize % LETTERS.len();
        LETTERS.get(place).copied().unwrap_or(b'0') as char
    });
    cx.text(&letters.cycle().take(length).collect::<String>())
}

fn seeded_int<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [least, end, seed] = arguments(cx, given)?;
    let (least, end) = (number(least), number(end));
    if least >= end {
        return Err(bad_argument("random.seededInt min must be less than max"));
    }
    let hash = hash(cx, text(seed))?;
    let first = hash.first_chunk::<8>().copied().unwrap_or_default();
    let offset = u64::from_be_bytes(first) % end.abs_diff(least);
    Ok(Value::Int(least.wrapping_add_unsigned(offset)))
}
