//! Durations on the command line: `75s`, `500ms`, `30d`.

use std::time::Duration;

/// Parses a duration: a number and a unit (`ms`, `s`, `m`, `h`, `d`). A number alone is seconds.
///
/// # Errors
/// A message for the user.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(expected()),
    };
    let number: Option<u64> = number.parse().ok();
    number.and_then(|number| number.checked_mul(milliseconds)).map(Duration::from_millis).ok_or_else(expected)
}

fn expected() -> String {
    "expected a duration such as 30s, 500ms or 5m".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_or_are_seconds() {
        for (text, milliseconds) in [
            ("0", 0),
            ("7", 7_000),
            ("75s", 75_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in ["", "s", "-1s", "1.5s", "1 s", "1w", "99999999999999999999s", "18446744073709551615d", "1s1"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
