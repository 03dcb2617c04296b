//! Reads TOML. Integers have a width of 64 bits, and dates and times are points in time; without an offset, in UTC.

use ::toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use crate::{Arena, Extended, Numbers, Value};

/// Maximum number of open brackets and dots of one entry, below the parser's own limits: dropping a deep value takes
/// stack.
const MAX_DEPTH: usize = 79;

/// Reads a document.
///
/// # Errors
/// The message of the first error, with its line.
pub fn read<'v>(arena: &'v Arena, text: &str, numbers: Numbers) -> Result<Value<'v>, String> {
    if is_deep(text) {
        return Err(format!("toml: more than {MAX_DEPTH} levels"));
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if let Some(error) = errors.first() {
        let end = error.span().map_or(0, |span| span.start);
        return Err(message(text, end, error.message()));
    }
    table_of(arena, table.get_ref(), numbers)
}

/// Returns the message of an error at `end`, with its line and the key whose value is read there.
fn message(text: &str, end: usize, why: &str) -> String {
    let (before, behind) = text.split_at_checked(end).unwrap_or((text, ""));
    let line = 1 + before.matches('\n').count();
    let entry = before.rsplit('\n').next().unwrap_or("");
    let Some((key, value)) = entry.split_once('=') else { return format!("toml: line {line}: {why}") };
    let is_end = value.trim().is_empty() && behind.trim().is_empty();
    let why = if is_end { "unexpected EOF; expected value" } else { why };
    format!("toml: line {line} (last key \"{}\"): {why}", key.trim())
}

/// Returns `true` if brackets and dots nest too deep.
fn is_deep(text: &str) -> bool {
    // The depth of each open bracket, and of the current key.
    let (mut open, mut here) = (vec![0], 0);
    toml_parser::Source::new(text).lex().any(|token| {
        match token.kind() {
            TokenKind::Dot => here += 1,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                here += 1;
                open.push(here);
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket if open.len() > 1 => {
                open.pop();
                here = open.last().copied().unwrap_or(0);
            }
            TokenKind::Comma | TokenKind::Newline => here = open.last().copied().unwrap_or(0),
            _ => {}
        }
        here > MAX_DEPTH
    })
}

/// Converts a table. Its depth is bounded, so this may recurse.
fn table_of<'v>(arena: &'v Arena, table: &DeTable<'_>, numbers: Numbers) -> Result<Value<'v>, String> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table.iter() {
        entries.push((arena.copy_str(key.get_ref()), value_of(arena, value.get_ref(), numbers)?));
    }
    Ok(arena.map(&entries))
}

fn value_of<'v>(arena: &'v Arena, value: &DeValue<'_>, numbers: Numbers) -> Result<Value<'v>, String> {
    Ok(match value {
        DeValue::String(text) => arena.text(text),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            numbers.int(arena, number.map_err(|_| "toml: integer is out of the range of int64".to_owned())?)
        }
        DeValue::Float(number) => Value::Float(float(number.as_str())),
        DeValue::Datetime(given) => {
            let date = given.date.map_or(0, |date| days(date.year.into(), date.month.into(), date.day.into()));
            let (time, nanos) = given.time.map_or((0, 0), |time| {
                let minutes = i64::from(time.hour) * 60 + i64::from(time.minute);
                (minutes * 60 + i64::from(time.second.unwrap_or(0)), time.nanosecond.unwrap_or(0))
            });
            let offset = given.offset.map_or(0, |given| offset(&given.to_string()));
            arena.extended(Extended::Timestamp { seconds: date * 86_400 + time - offset, nanos })
        }
        DeValue::Array(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(|item| value_of(arena, item.get_ref(), numbers)).collect();
            arena.list(&items?)
        }
        DeValue::Table(table) => table_of(arena, table, numbers)?,
    })
}

fn float(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Returns the seconds of an offset such as `+01:30` or `Z`.
fn offset(text: &str) -> i64 {
    let (hours, minutes) = text.split_once(':').unwrap_or(("0", "0"));
    let size = |digits: &str| digits.trim_start_matches(['+', '-']).parse::<i64>().unwrap_or(0);
    let seconds = size(hours) * 3600 + size(minutes) * 60;
    if text.starts_with('-') { -seconds } else { seconds }
}

/// Returns the number of days since 1970-01-01, in years that begin in March.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month > 2 { month - 3 } else { month + 9 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read() {
        let arena = Arena::new();
        let text = "a = 0x1F\nb = 1.5\nd = 1979-05-27T07:32:00.5+01:00\n[c]\nl = [1, {x = true}]\n";
        let data = read(&arena, text, Numbers::Sized).unwrap().to_data();
        assert_eq!(
            serde_json::to_string(&data).unwrap(),
            r#"{"a":31,"b":1.5,"d":"1979-05-27T06:32:00.5Z","c":{"l":[1,{"x":true}]}}"#
        );
        assert!(
            read(&arena, "a = 1\nb = ", Numbers::Sized)
                .unwrap_err()
                .starts_with("toml: line 2 (last key \"b\"): unexpected EOF")
        );
        assert!(read(&arena, &format!("a = {}", "[".repeat(100_000)), Numbers::Sized).unwrap_err().contains("levels"));
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
    }
}
