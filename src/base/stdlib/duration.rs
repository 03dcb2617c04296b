//! RFC 3339 timestamps, durations (`1h30m`), and date layouts of repeated letters.
//!
//! This is our own parser because the references name the faulty part of a timestamp and accept nanoseconds and units that
//! `chrono` does not.

use std::fmt::Write;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, TimeDelta, Timelike};

use super::time::Bounded;

/// The departures from RFC 3339 that a timestamp may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Nothing.
    Strict,
    /// Those of Go's `time.Parse`: an hour of one digit, a comma before the fraction of a second.
    Lenient,
}

/// Parses an RFC 3339 timestamp with upper-case `T` and `Z`.
///
/// # Errors
/// The part that is missing or wrong.
pub fn moment(text: &str, form: Form) -> Result<DateTime<FixedOffset>, String> {
    let mut rest = text;
    let year = digits(&mut rest, 4, "year")?;
    mark(&mut rest, '-', "between year and month")?;
    let month = digits(&mut rest, 2, "month")?;
    mark(&mut rest, '-', "between month and day")?;
    let day = digits(&mut rest, 2, "day")?;
    mark(&mut rest, 'T', "in front of the time")?;
    let short = form == Form::Lenient && rest.as_bytes().get(1) == Some(&b':');
    let hour = digits(&mut rest, if short { 1 } else { 2 }, "hour")?;
    mark(&mut rest, ':', "between hour and minute")?;
    let minute = digits(&mut rest, 2, "minute")?;
    mark(&mut rest, ':', "between minute and second")?;
    let second = digits(&mut rest, 2, "second")?;
    let nanos = fraction(&mut rest, form)?;
    let offset = offset(rest)?;
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).unwrap_or(0), month, day).ok_or("there is no such day")?;
    let local = date.and_hms_nano_opt(hour, minute, second, nanos).ok_or("there is no such time of a day")?;
    let offset = FixedOffset::east_opt(offset).ok_or("there is no such offset from UTC")?;
    local.and_local_timezone(offset).single().ok_or_else(|| "the moment is out of range".to_owned())
}

fn digits(rest: &mut &str, count: usize, what: &str) -> Result<u32, String> {
    let Some((digits, behind)) = rest.split_at_checked(count) else {
        return Err(format!("the text ends before the {what}"));
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{digits}` is no {what}"));
    }
    *rest = behind;
    digits.parse().map_err(|_| format!("`{digits}` is no {what}"))
}

fn mark(rest: &mut &str, mark: char, place: &str) -> Result<(), String> {
    *rest = rest.strip_prefix(mark).ok_or_else(|| format!("`{mark}` is missing {place}"))?;
    Ok(())
}

/// Parses a fraction of a second, ignoring digits beyond nanoseconds.
fn fraction(rest: &mut &str, form: Form) -> Result<u32, String> {
    let is_point = |c: char| c == '.' || c == ',' && form == Form::Lenient;
    let Some(behind) = rest.strip_prefix(is_point) else { return Ok(0) };
    let count = behind.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, behind) = behind.split_at(count);
    if digits.is_empty() {
        return Err("there are no digits after the decimal point of the seconds".to_owned());
    }
    *rest = behind;
    let nanos: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nanos.parse().map_err(|_| "the second is not a number".to_owned())
}

/// Parses an offset from UTC, in seconds east.
fn offset(text: &str) -> Result<i32, String> {
    let (sign, mut rest) = match text.split_at_checked(1) {
        Some(("Z", "")) => return Ok(0),
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        None => return Err("the text ends before the offset from UTC".to_owned()),
        Some((",", _)) => return Err("the fraction of a second follows a point, not a comma".to_owned()),
        _ => return Err(format!("`{text}` is no offset from UTC")),
    };
    let hours = digits(&mut rest, 2, "offset's hour")?;
    mark(&mut rest, ':', "in the offset")?;
    let minutes = digits(&mut rest, 2, "offset's minute")?;
    if !rest.is_empty() || minutes > 59 {
        return Err(format!("`{text}` is no offset from UTC"));
    }
    i32::try_from(hours * 3600 + minutes * 60).map(|seconds| sign * seconds).map_err(|error| error.to_string())
}

/// Formats an RFC 3339 timestamp without fractional seconds.
pub fn rfc3339(moment: DateTime<FixedOffset>) -> String {
    let offset = if moment.offset().local_minus_utc() == 0 { "Z".to_owned() } else { offset_text(moment, true) };
    let (date, time) = (moment.date_naive(), moment.time());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    format!("{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}{offset}", date.year(), date.month(), date.day())
}

fn offset_text(moment: DateTime<FixedOffset>, colon: bool) -> String {
    let seconds = moment.offset().local_minus_utc();
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
    format!("{sign}{:02}{}{:02}", minutes / 60, if colon { ":" } else { "" }, minutes % 60)
}

/// The reason that a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSpan<'t> {
    /// It is not made of numbers and units, or out of range.
    Invalid,
    /// A number has no unit.
    NoUnit,
    /// A unit is unknown.
    Unit(&'t str),
}

/// Parses a duration: an optional sign and a sequence of numbers with units from `ns` to `h`.
///
/// `span("-1.5h")` is minus 90 minutes.
pub fn span(text: &str) -> Option<TimeDelta> {
    checked_span(text).ok()
}

/// Parses a duration like [`span`].
///
/// # Errors
/// The reason that the text is no duration.
pub fn checked_span(text: &str) -> Result<TimeDelta, NoSpan<'_>> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(TimeDelta::zero());
    }
    let mut nanos: u64 = 0;
    loop {
        nanos = nanos.checked_add(part(&mut rest)?).ok_or(NoSpan::Invalid)?;
        if rest.is_empty() {
            break;
        }
    }
    let signed = if negative { 0_i64.checked_sub_unsigned(nanos) } else { i64::try_from(nanos).ok() };
    signed.map(TimeDelta::nanoseconds).ok_or(NoSpan::Invalid)
}

/// Parses a number with its unit, in nanoseconds.
fn part<'t>(rest: &mut &'t str) -> Result<u64, NoSpan<'t>> {
    let (whole, behind) = split_digits(rest);
    let (fraction, behind) = behind.strip_prefix('.').map_or(("", behind), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(NoSpan::Invalid);
    }
    let (unit, behind) = behind.split_at(behind.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(behind.len()));
    let unit: u64 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" => return Err(NoSpan::NoUnit),
        unit => return Err(NoSpan::Unit(unit)),
    };
    *rest = behind;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| NoSpan::Invalid)? };
    let nanos = whole.checked_mul(unit).and_then(|nanos| nanos.checked_add(part_of_unit(fraction, unit)));
    nanos.ok_or(NoSpan::Invalid)
}

/// Splits off the digits at the start of a text.
fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Returns the value of fractional digits in nanoseconds. The references compute it as a float, from as many digits as
/// fit an integer of 63 bits.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn part_of_unit(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0);
    for digit in digits.bytes() {
        let next = value * 10 + u64::from(digit.wrapping_sub(b'0'));
        if value > (i64::MAX / 10) as u64 || next > 1 << 63 {
            break;
        }
        (value, scale) = (next, scale * 10.0);
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// The reason that a layout fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutError {
    /// A quote is not closed.
    Unclosed,
    /// An unknown sequence of letters.
    Letters(String),
    /// The text exceeds the limit.
    TooLong,
}

/// Formats a timestamp by a layout of repeated letters (`YYYY-MM-DD`). Text between `'` is literal.
pub fn laid_out(moment: DateTime<FixedOffset>, layout: &str, allowed: usize) -> Result<String, LayoutError> {
    let mut out = Bounded::new(allowed);
    let mut rest = layout;
    while let Some(first) = rest.chars().next() {
        let text;
        (text, rest) = match first {
            '\'' => quoted(rest)?,
            'a'..='z' | 'A'..='Z' => {
                let (letters, behind) =
                    rest.split_at(rest.bytes().take_while(|byte| char::from(*byte) == first).count());
                (field(moment, first, letters.len()).ok_or_else(|| LayoutError::Letters(letters.to_owned()))?, behind)
            }
            _ => {
                let end = rest.find(|c: char| c == '\'' || c.is_ascii_alphabetic()).unwrap_or(rest.len());
                let (plain, behind) = rest.split_at(end);
                (plain.to_owned(), behind)
            }
        };
        out.write_str(&text).map_err(|_| LayoutError::TooLong)?;
    }
    Ok(out.into_text())
}

/// Parses quoted text, where two quotes are one, and returns the rest. An empty pair is a quote, too.
fn quoted(text: &str) -> Result<(String, &str), LayoutError> {
    let mut inside = text.get(1..).unwrap_or("");
    if let Some(rest) = inside.strip_prefix('\'') {
        return Ok(("'".to_owned(), rest));
    }
    let mut out = String::new();
    loop {
        let (before, behind) = inside.split_once('\'').ok_or(LayoutError::Unclosed)?;
        out.push_str(before);
        match behind.strip_prefix('\'') {
            Some(rest) => inside = rest,
            None => return Ok((out, behind)),
        }
        out.push('\'');
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Formats the field that a repeated letter stands for.
fn field(moment: DateTime<FixedOffset>, letter: char, count: usize) -> Option<String> {
    let number = |n: u32| match count {
        1 => Some(n.to_string()),
        2 => Some(format!("{n:02}")),
        _ => None,
    };
    let name = |names: &[&str], at: u32| {
        let name = names.get(usize::try_from(at).ok()?)?;
        match count {
            3 => name.get(..3).map(str::to_owned),
            4 => Some((*name).to_owned()),
            _ => None,
        }
    };
    match letter {
        'Y' => match count {
            2 => Some(format!("{:02}", moment.year().rem_euclid(100))),
            4 => Some(format!("{:04}", moment.year())),
            _ => None,
        },
        'M' if count > 2 => name(&MONTHS, moment.month0()),
        'M' => number(moment.month()),
        'D' => number(moment.day()),
        'E' => name(&DAYS, moment.weekday().num_days_from_sunday()),
        'h' => number(moment.hour()),
        'H' => number(moment.hour12().1),
        'A' if count == 2 => Some(if moment.hour12().0 { "PM" } else { "AM" }.to_owned()),
        'a' if count == 2 => Some(if moment.hour12().0 { "pm" } else { "am" }.to_owned()),
        'm' => number(moment.minute()),
        's' => number(moment.second()),
        'Z' => zone(moment, count),
        _ => None,
    }
}

fn zone(moment: DateTime<FixedOffset>, count: usize) -> Option<String> {
    let utc = moment.offset().local_minus_utc() == 0;
    match count {
        1 if utc => Some("Z".to_owned()),
        3 if utc => Some("UTC".to_owned()),
        3 | 4 => Some(offset_text(moment, false)),
        1 | 5 => Some(offset_text(moment, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_strictly() {
        for good in ["2006-01-02T15:04:05Z", "2006-01-02T15:04:05.25+01:30", "0001-01-01T00:00:00-23:59"] {
            assert!(moment(good, Form::Strict).is_ok(), "{good}");
        }
        for bad in [
            "",
            "2017-12-02t00:00:00Z",
            "2017:01:02",
            "2017-01-02T00:00:00",
            "2017-01-02T26:00:00Z",
            "2017-13-02T00:00:00Z",
            "2017-02-31T00:00:00Z",
            "2000-01-01T1:12:34Z",
            "2000-01-01T00:00:00,000Z",
            "2000-01-01T00:00:60Z",
            "2000-01-01T00:00:00+1:00",
            "2000-01-01T00:00:00.Z",
            "2000-01-01T00:00:00ZZ",
            "２０００-01-01T00:00:00Z",
        ] {
            assert!(moment(bad, Form::Strict).is_err(), "{bad}");
        }
        let late = moment("2006-01-02T15:04:05.9-05:00", Form::Strict).unwrap();
        assert_eq!(rfc3339(late), "2006-01-02T15:04:05-05:00");
    }

    #[test]
    fn lenient_moments_have_short_hours_and_commas() {
        for (lenient, strict) in [
            ("2000-01-01T1:12:34Z", "2000-01-01T01:12:34Z"),
            ("2000-01-01T00:00:00,25+01:00", "2000-01-01T00:00:00.25+01:00"),
            ("2000-01-01T00:00:00.123456789123Z", "2000-01-01T00:00:00.123456789Z"),
        ] {
            assert_eq!(moment(lenient, Form::Lenient), moment(strict, Form::Strict), "{lenient}");
        }
        for bad in ["2000-01-01T00:00:00,Z", "2000-01-01t00:00:00Z", "2000-01-01T1:2:34Z", "2000-01-01T24:00:00Z"] {
            assert!(moment(bad, Form::Lenient).is_err(), "{bad}");
        }
    }

    #[test]
    fn spans_add_up() {
        let seconds = |text| span(text).map(|span| span.num_milliseconds());
        assert_eq!(seconds("1h2m3.5s"), Some(3_723_500));
        assert_eq!(seconds("-1.5h"), Some(-5_400_000));
        assert_eq!(seconds("0"), Some(0));
        assert_eq!(seconds("+.5s"), Some(500));
        assert_eq!(span("1us1ns").and_then(|span| span.num_nanoseconds()), Some(1_001));
        assert_eq!(span("1.234567891s").and_then(|span| span.num_nanoseconds()), Some(1_234_567_891));
        for (text, nanos) in [
            ("0.9999999999999999999999s", 1_000_000_000),
            ("0.3333333333333333333h", 1_200_000_000_000),
            ("0.333333333333333h", 1_199_999_999_999),
            ("0.1ns", 0),
        ] {
            assert_eq!(span(text).and_then(|span| span.num_nanoseconds()), Some(nanos), "{text}");
        }
        for bad in ["", "-", "1", "s", "1d", "1.s.", "9999999999h", "h1"] {
            assert_eq!(span(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_duration() {
        for (text, why) in [
            ("", NoSpan::Invalid),
            ("bad", NoSpan::Invalid),
            ("1", NoSpan::NoUnit),
            ("1h2", NoSpan::NoUnit),
            ("1d", NoSpan::Unit("d")),
            ("1h 2m", NoSpan::Unit("h ")),
            ("9999999999h", NoSpan::Invalid),
        ] {
            assert_eq!(checked_span(text), Err(why), "{text}");
        }
    }

    #[test]
    fn layouts() {
        let moment = moment("2006-01-02T15:04:05+01:00", Form::Strict).unwrap();
        let shown = |layout| laid_out(moment, layout, 100);
        assert_eq!(shown("EEE, D MMM ''YY H 'o''clock' AA ZZZ").unwrap(), "Mon, 2 Jan '06 3 o'clock PM +0100");
        assert_eq!(shown("YYYY-MM-DD'T'hh:mm:ssZ").unwrap(), "2006-01-02T15:04:05+01:00");
        assert_eq!(shown("'a"), Err(LayoutError::Unclosed));
        assert_eq!(shown("'"), Err(LayoutError::Unclosed));
        assert_eq!(shown("Yx"), Err(LayoutError::Letters("Y".into())));
        assert_eq!(laid_out(moment, "EEEE EEEE", 10), Err(LayoutError::TooLong));
    }
}
