//! Strings and numbers from a seed: equal for equal seeds.

use crate::values::errors::bad_argument;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::hashes::sha256;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;

overloads! {
    /// The library `random`.
    pub static TABLE:
    "random.seededString": "Returns a string of lowercase letters and digits from a seed. It repeats after eight characters."
        ["random.seededString(8, 'a') == random.seededString(8, 'a')" => "true", "random.seededString(3, 'a').size()" => "3", "random.seededString(0, 'a')" => "E0403"]
        fn "random.seededString_int_string" (Int, String) -> String = seeded_string;
    "random.seededInt": "Returns an integer from a seed, from a minimum up to, but not including, a maximum."
        ["random.seededInt(30000, 30001, 'a')" => "30000", "random.seededInt(1, 1, 'a')" => "E0403"]
        fn "random.seededInt_int_int_string" (Int, Int, String) -> Int = seeded_int;
}

/// The alphabet of seeded strings.
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

fn hash(cx: &Cx<'_>, seed: &str) -> Result<[u8; 32]> {
    cx.spend(seed.len() as u64 / 16)?;
    Ok(sha256(seed.as_bytes()))
}

fn seeded_string<'v>(cx: &Cx<'v>, length: i64, seed: &'v str) -> Result<String> {
    let length = usize::try_from(length).ok().filter(|length| *length > 0);
    let length = length.ok_or_else(|| bad_argument("random.seededString length must be positive"))?;
    let hash = hash(cx, seed)?;
    cx.charge(length)?;
    let letters = hash.as_chunks::<4>().0.iter().map(|word| {
        let at = u32::from_be_bytes(*word) as usize % LETTERS.len();
        LETTERS.get(at).copied().unwrap_or(b'0') as char
    });
    Ok(letters.cycle().take(length).collect())
}

fn seeded_int<'v>(cx: &Cx<'v>, min: i64, max: i64, seed: &'v str) -> Result<i64> {
    if min >= max {
        return Err(bad_argument("random.seededInt min must be less than max"));
    }
    let hash = hash(cx, seed)?;
    let first = hash.first_chunk::<8>().copied().unwrap_or_default();
    Ok(min.wrapping_add_unsigned(u64::from_be_bytes(first) % max.abs_diff(min)))
}
