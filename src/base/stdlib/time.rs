//! Timestamps: parsing, time zones, and strftime formatting.
//!
//! A format that asks for information that a timestamp lacks, such as the offset of a naive one, makes chrono's `Display`
//! fail and `to_string` panic. Formatting therefore uses [`std::fmt::Write`] and returns the failure.

use std::fmt::{self, Write};

use chrono::format::{Fixed, Item, StrftimeItems};
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

pub use super::zones::{Zone, zone};

/// The reason that a timestamp cannot be parsed or formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeError {
    /// The seconds are outside the range of the calendar.
    OutOfRange,
    /// The text has a `T`, but is neither RFC 3339 nor a naive date and time.
    NotADateTime,
    /// The text is not `YYYY-MM-DD`.
    NotADate,
    /// The timestamp lacks information that the format asks for, such as a zone.
    NotInMoment,
    /// The formatted text exceeds the limit.
    TooLong,
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfRange => "the seconds are outside the range of dates",
            Self::NotADateTime => "the text is neither an RFC 3339 moment nor a date and time",
            Self::NotADate => "the text is not a date of the form YYYY-MM-DD",
            Self::NotInMoment => "the format asks for an offset or zone, and the time has none",
            Self::TooLong => "the formatted time is too long",
        })
    }
}

/// A timestamp with the available information about its zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    /// A naive date and time.
    Naive(NaiveDateTime),
    /// With an offset.
    Offset(DateTime<FixedOffset>),
    /// Without a zone, shown as UTC.
    Utc(DateTime<Utc>),
    /// In a named zone, with its abbreviation.
    Zoned(DateTime<FixedOffset>, &'static str),
}

/// A strftime format whose directives are all valid.
#[derive(Debug, Clone, Copy)]
pub struct Format<'f> {
    text: &'f str,
    /// `true` if there are no directives but the year, month, day, hour, minute and second as numbers.
    of_numbers: bool,
}

impl<'f> Format<'f> {
    /// Checks a format. Returns `None` if a directive is invalid.
    pub fn new(text: &'f str) -> Option<Self> {
        let of_numbers = is_of_numbers(text);
        let valid = of_numbers || !StrftimeItems::new(text).any(|item| matches!(item, Item::Error));
        valid.then_some(Self { text, of_numbers })
    }
}

fn is_of_numbers(format: &str) -> bool {
    let mut bytes = format.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' && !matches!(bytes.next(), Some(b'Y' | b'm' | b'd' | b'H' | b'M' | b'S')) {
            return false;
        }
    }
    true
}

impl Moment {
    /// Returns a timestamp from seconds since the Unix epoch, in `zone` or naive.
    pub fn from_seconds(seconds: i64, zone: Option<Zone>) -> Result<Self, TimeError> {
        let moment = DateTime::<Utc>::from_timestamp(seconds, 0).ok_or(TimeError::OutOfRange)?;
        match zone {
            Some(zone) => Self::zoned(moment, zone),
            None => Ok(Self::Naive(moment.naive_utc())),
        }
    }

    fn zoned(moment: DateTime<Utc>, zone: Zone) -> Result<Self, TimeError> {
        let local = zone.local_time(moment.timestamp()).ok_or(TimeError::OutOfRange)?;
        let offset = FixedOffset::east_opt(local.offset).ok_or(TimeError::OutOfRange)?;
        Ok(Self::Zoned(moment.with_timezone(&offset), local.abbreviation))
    }

    /// Parses RFC 3339 (converted to `zone`, if given), a naive date and time, or a date. The latter two are not converted.
    pub fn from_text(text: &str, zone: Option<Zone>) -> Result<Self, TimeError> {
        if !text.contains('T') {
            let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| TimeError::NotADate)?;
            return Ok(Self::Utc(date.and_time(NaiveTime::MIN).and_utc()));
        }
        // The strict parser is faster, and the other one accepts no less.
        let moment = DateTime::parse_from_rfc3339(text).or_else(|_| text.parse::<DateTime<FixedOffset>>());
        match (moment, zone) {
            (Ok(moment), Some(zone)) => Self::zoned(moment.to_utc(), zone),
            (Ok(moment), None) => Ok(Self::Offset(moment)),
            (Err(_), _) => text
                .parse::<NaiveDateTime>()
                .map(|moment| Self::Utc(moment.and_utc()))
                .map_err(|_| TimeError::NotADateTime),
        }
    }

    /// Returns the date and time that it shows. `None` beyond the calendar, where an offset can lead.
    fn local(&self) -> Option<NaiveDateTime> {
        match self {
            Self::Naive(moment) => Some(*moment),
            Self::Offset(moment) | Self::Zoned(moment, _) => moment.naive_utc().checked_add_offset(*moment.offset()),
            Self::Utc(moment) => Some(moment.naive_utc()),
        }
    }

    /// Formats by `format` and appends at most `allowed` bytes.
    ///
    /// With the format `%d.%m.%Y`, `Moment::from_seconds(0, None)?` appends `01.01.1970`.
    pub fn format(&self, format: Format<'_>, allowed: usize, out: &mut String) -> Result<(), TimeError> {
        if format.of_numbers
            && format.text.len() <= allowed / 4
            && let Some(local) = self.local().filter(|local| (0..10_000).contains(&local.year()))
        {
            push_numbers(local, format.text, out);
            return Ok(());
        }
        out.push_str(&self.formatted(format.text, allowed)?);
        Ok(())
    }

    fn formatted(&self, format: &str, allowed: usize) -> Result<String, TimeError> {
        match self {
            Self::Naive(moment) => written(moment.format(format), allowed),
            Self::Offset(moment) => written(moment.format(format), allowed),
            Self::Utc(moment) => written(moment.format(format), allowed),
            Self::Zoned(moment, name) => {
                let named = StrftimeItems::new(format).map(|item| match item {
                    Item::Fixed(Fixed::TimezoneName) => Item::Literal(name),
                    item => item,
                });
                written(moment.format_with_items(named), allowed)
            }
        }
    }
}

/// Appends a moment of a year of four digits in a format [of numbers](Format).
fn push_numbers(moment: NaiveDateTime, format: &str, out: &mut String) {
    let mut rest = format;
    while let Some(at) = rest.bytes().position(|byte| byte == b'%') {
        out.push_str(&rest[..at]);
        let (directive, behind) = rest[at + 1..].split_at_checked(1).unwrap_or_default();
        match directive {
            "Y" => {
                let year = moment.year().unsigned_abs();
                push_two(year / 100, out);
                push_two(year % 100, out);
            }
            "m" => push_two(moment.month(), out),
            "d" => push_two(moment.day(), out),
            "H" => push_two(moment.hour(), out),
            "M" => push_two(moment.minute(), out),
            // A leap second counts as more nanoseconds.
            _ => push_two(moment.second() + moment.nanosecond() / 1_000_000_000, out),
        }
        rest = behind;
    }
    out.push_str(rest);
}

/// Appends a number of two digits.
#[inline]
fn push_two(n: u32, out: &mut String) {
    let digit = |n: u32| char::from(b'0' + (n % 10) as u8);
    out.push(digit(n / 10));
    out.push(digit(n));
}

fn written(text: impl fmt::Display, allowed: usize) -> Result<String, TimeError> {
    let mut out = Bounded::new(allowed);
    match write!(out, "{text}") {
        Ok(()) => Ok(out.into_text()),
        Err(fmt::Error) if out.overflowed() => Err(TimeError::TooLong),
        Err(fmt::Error) => Err(TimeError::NotInMoment),
    }
}

// Text with a maximum size, for writers of output of unknown size such as date formats. A piece that does not fit is not
// written at all.

/// A string with a maximum size. A write that would exceed it fails and leaves the string unchanged.
#[derive(Debug, Default)]
pub(crate) struct Bounded {
    text: String,
    allowed: usize,
    overflowed: bool,
}

impl Bounded {
    /// Returns an empty text of at most `allowed` bytes. Nothing is allocated yet.
    pub fn new(allowed: usize) -> Self {
        Self { text: String::new(), allowed, overflowed: false }
    }

    /// Appends `piece`, if it fits.
    pub fn push(&mut self, piece: &str) -> fmt::Result {
        if piece.len() > self.allowed - self.text.len() {
            self.overflowed = true;
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// Returns `true` if a write failed because it did not fit, and not because its source failed.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns the text written so far.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn text(moment: &Moment, format: &str, allowed: usize) -> Result<String, TimeError> {
        let mut out = String::from(">");
        moment.format(Format::new(format).unwrap(), allowed, &mut out).map(|()| out.split_off(1))
    }

    fn shown(given: &str, zone_name: Option<&str>, format: &str) -> Result<String, TimeError> {
        text(&Moment::from_text(given, zone_name.map(|name| zone(name).unwrap()))?, format, 1000)
    }

    #[test]
    fn seconds_with_and_without_a_zone() {
        let naive = Moment::from_seconds(1_700_000_000, None).unwrap();
        assert_eq!(text(&naive, "%Y-%m-%d %H:%M", 100).unwrap(), "2023-11-14 22:13");
        let zoned = Moment::from_seconds(1_700_000_000, zone("Asia/Tokyo")).unwrap();
        assert_eq!(text(&zoned, "%d %H:%M %Z", 100).unwrap(), "15 07:13 JST");
    }

    #[test]
    fn texts_of_three_kinds() {
        assert_eq!(shown("2024-02-29", None, "%A %j").unwrap(), "Thursday 060");
        assert_eq!(shown("2024-02-29T10:00:00", Some("Asia/Tokyo"), "%H %z").unwrap(), "10 +0000");
        assert_eq!(shown("2024-02-29T10:00:00+02:00", None, "%H %z").unwrap(), "10 +0200");
        assert_eq!(shown("2024-02-29T10:00:00Z", Some("Asia/Tokyo"), "%H %z").unwrap(), "19 +0900");
        assert_eq!(shown("2023-02-29", None, "%d"), Err(TimeError::NotADate));
        assert_eq!(shown("T", None, "%d"), Err(TimeError::NotADateTime));
    }

    #[test]
    fn nothing_out_of_range_and_nothing_missing_panics() {
        for seconds in [i64::MAX, i64::MIN] {
            assert_eq!(Moment::from_seconds(seconds, zone("UTC")), Err(TimeError::OutOfRange));
        }
        assert_eq!(text(&Moment::from_seconds(0, None).unwrap(), "%z", 100), Err(TimeError::NotInMoment));
        assert_eq!(text(&Moment::from_seconds(0, None).unwrap(), "%Y%Y", 7), Err(TimeError::TooLong));
        let edges = [DateTime::<Utc>::MIN_UTC.timestamp(), DateTime::<Utc>::MAX_UTC.timestamp()];
        for (seconds, name) in edges.into_iter().flat_map(|s| ["Asia/Tokyo", "America/Lima"].map(|name| (s, name))) {
            let moment = Moment::from_seconds(seconds, zone(name)).unwrap();
            assert!(text(&moment, "%Y %c %+ %s %U %G", 1000).is_ok());
        }
    }

    #[test]
    fn numbers_are_those_of_the_general_way() {
        let edges = [DateTime::<Utc>::MIN_UTC.timestamp(), -62_167_219_201, -62_167_219_200, -1, 0, 1_709_164_799];
        let seconds = edges.into_iter().chain([253_402_300_799, 253_402_300_800]);
        let moments =
            seconds.flat_map(|s| [None, zone("Asia/Tokyo")].map(|zone| Moment::from_seconds(s, zone).unwrap()));
        for moment in moments.chain(Moment::from_text("2016-12-31T23:59:60Z", None)) {
            for format in ["%Y-%m-%d", "%d.%m.%Y %H:%M:%S é", "", "%y", "%%", "%-d", "%Yé%m"] {
                assert!(Format::new(format).is_some());
                assert_eq!(text(&moment, format, 100), moment.formatted(format, 100), "{moment:?} {format}");
            }
        }
        assert!(Format::new("%Y%").is_none() && Format::new("%Y%é").is_none());
    }

    #[test]
    fn formats_and_zones_are_checked_by_name() {
        assert!(Format::new("%Y-%m-%d %% %.3f").is_some());
        assert!(Format::new("%Q").is_none());
        assert!(Format::new("%").is_none());
        assert_eq!(zone("Mars/Olympus"), None);
    }

    #[test]
    fn pieces_that_exceed_the_limit_are_refused() {
        let mut text = Bounded::new(4);
        assert!(write!(text, "{}", 123).is_ok());
        assert!(!text.overflowed());
        assert!(write!(text, "45").is_err());
        assert!(text.overflowed());
        assert_eq!(text.into_text(), "123");
    }
}
