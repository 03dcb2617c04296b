//! Date layouts written as a reference time: the way that `Mon Jan 2 15:04:05 MST 2006` would be shown, as in Go's `time`.
//!
//! A [`Clock`] is a time as a zone shows it. Layouts and texts are bytes, because both may be cut within a character.

mod parse;

use crate::stdlib::timestamps::{civil, days_of};

pub use parse::parse;

/// Names of the months.
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

/// Names of the days of a week.
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Writes text in double quotes for a message: quotes and backslashes escaped, bytes outside of printable ASCII as `\xff`.
pub fn quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=0x7F => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

const DAY: i64 = 86_400;

/// The first second of the reference's calendar, since the Unix epoch. It counts from there in 64 bits, so times before it
/// are those at the end.
const FIRST: i128 = -9_223_372_028_741_760_000;

/// A time as a zone shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    year: i64,
    /// From 1 to 12.
    month: i64,
    day: i64,
    /// Seconds since midnight.
    seconds: i64,
    nanos: u32,
    /// Seconds east of UTC.
    offset: i64,
    /// The abbreviation of the zone; empty if it has none.
    zone: String,
}

impl Clock {
    /// Returns the time that a zone shows at `seconds` since the Unix epoch.
    pub fn new(seconds: i64, nanos: u32, offset: i64, zone: &str) -> Self {
        let local = i128::from(seconds) + i128::from(offset);
        let local = if local < FIRST { local + (1 << 64) } else { local };
        let (days, seconds) = (local.div_euclid(DAY.into()) as i64, local.rem_euclid(DAY.into()) as i64);
        let (year, month, day) = civil(days);
        Self { year, month, day, seconds, nanos, offset, zone: zone.to_owned() }
    }

    /// Returns the year, the month from 1 to 12, and the day.
    pub fn date(&self) -> [i64; 3] {
        [self.year, self.month, self.day]
    }

    /// Returns the seconds since the Unix epoch and the nanoseconds.
    pub fn timestamp(&self) -> (i64, u32) {
        (days_of(self.year, self.month, self.day) * DAY + self.seconds - self.offset, self.nanos)
    }

    /// Returns the hour.
    pub fn hour(&self) -> i64 {
        self.seconds / 3600
    }

    /// Returns the minute.
    pub fn minute(&self) -> i64 {
        self.seconds / 60 % 60
    }

    /// Returns the second.
    pub fn second(&self) -> i64 {
        self.seconds % 60
    }

    /// Returns the day of the week, 0 for Sunday.
    fn weekday(&self) -> usize {
        usize::try_from((days_of(self.year, self.month, self.day) + 4).rem_euclid(7)).unwrap_or(0)
    }

    /// Returns the day of the year, from 1 on.
    pub fn year_day(&self) -> i64 {
        days_of(self.year, self.month, self.day) - days_of(self.year, 1, 1) + 1
    }
}

/// Returns `true` for a leap year.
fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the number of days of a month.
fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Writes a time by a layout. An element becomes at most nine bytes longer than its notation, or as long as the name of the
/// zone.
pub fn format(clock: &Clock, layout: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(layout.len() + 16), layout);
    loop {
        let chunk = next(rest);
        out.extend_from_slice(chunk.before);
        let Some(element) = chunk.element else { return out };
        push(clock, element, &mut out);
        rest = chunk.rest;
    }
}

fn push(clock: &Clock, element: Element, out: &mut Vec<u8>) {
    let month = usize::try_from(clock.month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("");
    let weekday = DAYS.get(clock.weekday()).copied().unwrap_or("");
    let half = if clock.hour() >= 12 { "PM" } else { "AM" };
    let hour12 = (clock.hour() + 11) % 12 + 1;
    let text = match element {
        Element::LongMonth => month.to_owned(),
        Element::Month => month.get(..3).unwrap_or("").to_owned(),
        Element::NumMonth => clock.month.to_string(),
        Element::ZeroMonth => format!("{:02}", clock.month),
        Element::LongWeekday => weekday.to_owned(),
        Element::Weekday => weekday.get(..3).unwrap_or("").to_owned(),
        Element::Day => clock.day.to_string(),
        Element::UnderDay => format!("{:2}", clock.day),
        Element::ZeroDay => format!("{:02}", clock.day),
        Element::UnderYearDay => format!("{:3}", clock.year_day()),
        Element::ZeroYearDay => format!("{:03}", clock.year_day()),
        Element::Hour => format!("{:02}", clock.hour()),
        Element::Hour12 => hour12.to_string(),
        Element::ZeroHour12 => format!("{hour12:02}"),
        Element::Minute => clock.minute().to_string(),
        Element::ZeroMinute => format!("{:02}", clock.minute()),
        Element::Second => clock.second().to_string(),
        Element::ZeroSecond => format!("{:02}", clock.second()),
        Element::LongYear => year_text(clock.year),
        Element::Year => format!("{:02}", clock.year.max(0) % 100),
        Element::UpperHalf => half.to_owned(),
        Element::LowerHalf => half.to_ascii_lowercase(),
        Element::Zone if clock.zone.is_empty() => offset_text(clock.offset, false, 2),
        Element::Zone => clock.zone.clone(),
        Element::Offset { zulu: true, .. } if clock.offset == 0 => "Z".to_owned(),
        Element::Offset { colon, numbers, .. } => offset_text(clock.offset, colon, numbers),
        Element::Fraction(mark, digits) => fraction_text(clock.nanos, mark, digits),
        Element::ShortFraction(mark, digits) => {
            let all = fraction_text(clock.nanos, mark, digits);
            let short = all.trim_end_matches('0');
            short.strip_suffix(char::from(mark)).unwrap_or(short).to_owned()
        }
    };
    out.extend_from_slice(text.as_bytes());
}

fn year_text(year: i64) -> String {
    format!("{}{:04}", if year < 0 { "-" } else { "" }, year.unsigned_abs())
}

fn offset_text(seconds: i64, colon: bool, numbers: usize) -> String {
    let (sign, seconds) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    let all = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    let shown: Vec<String> = all.iter().take(numbers).map(|number| format!("{number:02}")).collect();
    format!("{sign}{}", shown.join(if colon { ":" } else { "" }))
}

fn fraction_text(nanos: u32, mark: u8, digits: usize) -> String {
    let all = format!("{nanos:09}");
    let zeros = "0".repeat(digits.saturating_sub(9));
    format!("{}{}{zeros}", char::from(mark), all.get(..digits.min(9)).unwrap_or(&all))
}

/// An element of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    /// `January`.
    LongMonth,
    /// `Jan`.
    Month,
    /// `1`.
    NumMonth,
    /// `01`.
    ZeroMonth,
    /// `Monday`.
    LongWeekday,
    /// `Mon`.
    Weekday,
    /// `2`.
    Day,
    /// `_2`.
    UnderDay,
    /// `02`.
    ZeroDay,
    /// `__2`.
    UnderYearDay,
    /// `002`.
    ZeroYearDay,
    /// `15`.
    Hour,
    /// `3`.
    Hour12,
    /// `03`.
    ZeroHour12,
    /// `4`.
    Minute,
    /// `04`.
    ZeroMinute,
    /// `5`.
    Second,
    /// `05`.
    ZeroSecond,
    /// `2006`.
    LongYear,
    /// `06`.
    Year,
    /// `PM`.
    UpperHalf,
    /// `pm`.
    LowerHalf,
    /// `MST`.
    Zone,
    /// `-0700` and its forms.
    Offset {
        /// `Z` instead of an offset of zero.
        zulu: bool,
        /// Colons between the numbers.
        colon: bool,
        /// The count of numbers: hours, minutes, seconds.
        numbers: usize,
    },
    /// `.000`: a mark and a fixed number of digits.
    Fraction(u8, usize),
    /// `.999`: a mark and up to that number of digits, without final zeros.
    ShortFraction(u8, usize),
}

/// A layout from one element on: text before the element, the element, its notation, the rest.
struct Chunk<'l> {
    before: &'l [u8],
    /// `None` if there are no more elements.
    element: Option<Element>,
    notation: &'l [u8],
    rest: &'l [u8],
}

/// The notations of elements. Longer ones come before those that they begin with.
const NOTATIONS: [(&str, Element); 20] = [
    ("January", Element::LongMonth),
    ("Monday", Element::LongWeekday),
    ("MST", Element::Zone),
    ("002", Element::ZeroYearDay),
    ("01", Element::ZeroMonth),
    ("02", Element::ZeroDay),
    ("03", Element::ZeroHour12),
    ("04", Element::ZeroMinute),
    ("05", Element::ZeroSecond),
    ("06", Element::Year),
    ("15", Element::Hour),
    ("1", Element::NumMonth),
    ("2006", Element::LongYear),
    ("2", Element::Day),
    ("__2", Element::UnderYearDay),
    ("3", Element::Hour12),
    ("4", Element::Minute),
    ("5", Element::Second),
    ("PM", Element::UpperHalf),
    ("pm", Element::LowerHalf),
];

/// The forms of an offset after its sign or `Z`. Longer ones come first.
const OFFSETS: [(&str, bool, usize); 5] =
    [("070000", false, 3), ("07:00:00", true, 3), ("0700", false, 2), ("07:00", true, 2), ("07", false, 1)];

/// Splits a layout at its first element.
fn next(layout: &[u8]) -> Chunk<'_> {
    let found = (0..layout.len()).find_map(|at| element(layout, at));
    let Some((element, from, to)) = found else {
        return Chunk { before: layout, element: None, notation: &[], rest: &[] };
    };
    let (before, behind) = layout.split_at(from);
    let (notation, rest) = behind.split_at(to - from);
    Chunk { before, element: Some(element), notation, rest }
}

/// Returns the element at a position, with the start and end of its notation.
fn element(layout: &[u8], at: usize) -> Option<(Element, usize, usize)> {
    let rest = layout.get(at..)?;
    let (element, len) = match rest.first()? {
        b'J' if rest.starts_with(b"Jan") && !rest.starts_with(b"January") => (short_name(rest, Element::Month)?, 3),
        b'M' if rest.starts_with(b"Mon") && !rest.starts_with(b"Monday") => (short_name(rest, Element::Weekday)?, 3),
        // An underscore before a year is literal.
        b'_' if rest.starts_with(b"_2006") => return Some((Element::LongYear, at + 1, at + 5)),
        b'_' if rest.starts_with(b"_2") => (Element::UnderDay, 2),
        b'-' | b'Z' => offset(rest)?,
        b'.' | b',' => fraction(rest)?,
        _ => *NOTATIONS
            .iter()
            .find(|(notation, _)| rest.starts_with(notation.as_bytes()))
            .map(|(notation, element)| (*element, notation.len()))
            .as_ref()?,
    };
    Some((element, at, at + len))
}

/// Returns an element with a name of three letters, unless the name continues.
fn short_name(rest: &[u8], element: Element) -> Option<Element> {
    (!rest.get(3).is_some_and(u8::is_ascii_lowercase)).then_some(element)
}

fn offset(rest: &[u8]) -> Option<(Element, usize)> {
    let (sign, numbers) = rest.split_first()?;
    let found = OFFSETS.iter().find(|(notation, ..)| numbers.starts_with(notation.as_bytes()));
    found.map(|&(notation, colon, numbers)| {
        (Element::Offset { zulu: *sign == b'Z', colon, numbers }, notation.len() + 1)
    })
}

/// Reads a fraction of a second: a mark and zeros, or a mark and nines, that no digit follows.
fn fraction(rest: &[u8]) -> Option<(Element, usize)> {
    let (mark, digits) = rest.split_first()?;
    let kind = *digits.first().filter(|digit| matches!(digit, b'0' | b'9'))?;
    let count = digits.iter().take_while(|digit| **digit == kind).count();
    if digits.get(count).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let element = if kind == b'0' { Element::Fraction(*mark, count) } else { Element::ShortFraction(*mark, count) };
    Some((element, count + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_the_calendar_are_those_of_the_reference() {
        let shown = |seconds, offset| {
            String::from_utf8(format(&Clock::new(seconds, 0, offset, "X"), b"2006-01-02 15:04:05")).unwrap()
        };
        assert_eq!(shown(i64::MIN, 0), "292277026596-12-04 15:30:08");
        assert_eq!(shown(i64::MIN, -17_762), "292277026596-12-04 10:34:06");
        assert_eq!(shown(i64::MAX, 0), "292277026596-12-04 15:30:07");
        assert_eq!(shown(i64::MAX, 50_400), "292277026596-12-05 05:30:07");
    }

    #[test]
    fn elements_are_those_of_the_reference_time() {
        let late = Clock::new(1_700_000_000, 120_000_000, -18_000, "EST");
        let early = Clock::new(-1, 0, 0, "UTC");
        for (layout, of_late, of_early) in [
            ("Mon Jan _2 15:04:05 MST 2006", "Tue Nov 14 17:13:20 EST 2023", "Wed Dec 31 23:59:59 UTC 1969"),
            (
                "Monday, January 2 06 3:4:5pm",
                "Tuesday, November 14 23 5:13:20pm",
                "Wednesday, December 31 69 11:59:59pm",
            ),
            ("002 __2 _2006", "318 318 _2023", "365 365 _1969"),
            (
                "-0700 -07:00 -07 -070000 -07:00:00",
                "-0500 -05:00 -05 -050000 -05:00:00",
                "+0000 +00:00 +00 +000000 +00:00:00",
            ),
            ("Z0700 Z07:00 Z07", "-0500 -05:00 -05", "Z Z Z"),
            ("05.000 05,00 05.999 .9999999999", "20.120 20,12 20.12 .12", "59.000 59,00 59 "),
            ("Januar Janu Jan1 Monster", "Januar Janu Nov11 Monster", "Januar Janu Dec12 Monster"),
            ("5.0001 é", "20.0011 é", "59.0012 é"),
            ("03:04 PM", "05:13 PM", "11:59 PM"),
        ] {
            let shown = |clock| String::from_utf8(format(clock, layout.as_bytes())).unwrap();
            assert_eq!((shown(&late).as_str(), shown(&early).as_str()), (of_late, of_early), "{layout}");
        }
    }
}
