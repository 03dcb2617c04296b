//! Timestamps: parsing, time zones, and strftime formatting.
//!
//! A format that asks for information that a timestamp lacks, such as the offset of a naive one, makes chrono's `Display`
//! fail and `to_string` panic. Formatting therefore uses [`std::fmt::Write`] and returns the failure.

use std::fmt::{self, Write};

use chrono::format::{Fixed, Item, StrftimeItems};
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use super::bounded_text::Bounded;
pub(crate) use super::zones::{Zone, zone};

/// The reason that a timestamp cannot be parsed or formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeError {
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
pub(crate) enum Moment {
    /// A naive date and time.
    Naive(NaiveDateTime),
    /// With an offset.
    Offset(DateTime<FixedOffset>),
    /// Without a zone, shown as UTC.
    Utc(DateTime<Utc>),
    /// In a named zone, with its abbreviation.
    Zoned(DateTime<FixedOffset>, &'static str),
}

/// Returns `true` if all directives of a strftime format are valid.
pub(crate) fn format_is_valid(format: &str) -> bool {
    !StrftimeItems::new(format).any(|item| matches!(item, Item::Error))
}

impl Moment {
    /// Returns a timestamp from seconds since the Unix epoch, in `zone` or naive.
    pub(crate) fn from_seconds(seconds: i64, zone: Option<Zone>) -> Result<Self, TimeError> {
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
    pub(crate) fn from_text(text: &str, zone: Option<Zone>) -> Result<Self, TimeError> {
        if !text.contains('T') {
            let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| TimeError::NotADate)?;
            return Ok(Self::Utc(date.and_time(NaiveTime::MIN).and_utc()));
        }
        match (text.parse::<DateTime<FixedOffset>>(), zone) {
            (Ok(moment), Some(zone)) => Self::zoned(moment.to_utc(), zone),
            (Ok(moment), None) => Ok(Self::Offset(moment)),
            (Err(_), _) => text
                .parse::<NaiveDateTime>()
                .map(|moment| Self::Utc(moment.and_utc()))
                .map_err(|_| TimeError::NotADateTime),
        }
    }

    /// Formats by a strftime `format`, as at most `allowed` bytes.
    ///
    /// `Moment::from_seconds(0, None)?.format("%d.%m.%Y", 100)` is `01.01.1970`.
    pub(crate) fn format(&self, format: &str, allowed: usize) -> Result<String, TimeError> {
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

fn written(text: impl fmt::Display, allowed: usize) -> Result<String, TimeError> {
    let mut out = Bounded::new(allowed);
    match write!(out, "{text}") {
        Ok(()) => Ok(out.into_text()),
        Err(fmt::Error) if out.overflowed() => Err(TimeError::TooLong),
        Err(fmt::Error) => Err(TimeError::NotInMoment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, zone_name: Option<&str>, format: &str) -> Result<String, TimeError> {
        Moment::from_text(text, zone_name.map(|name| zone(name).unwrap()))?.format(format, 1000)
    }

    #[test]
    fn seconds_with_and_without_a_zone() {
        let naive = Moment::from_seconds(1_700_000_000, None).unwrap();
        assert_eq!(naive.format("%Y-%m-%d %H:%M", 100).unwrap(), "2023-11-14 22:13");
        let zoned = Moment::from_seconds(1_700_000_000, zone("Asia/Tokyo")).unwrap();
        assert_eq!(zoned.format("%d %H:%M %Z", 100).unwrap(), "15 07:13 JST");
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
        assert_eq!(Moment::from_seconds(0, None).unwrap().format("%z", 100), Err(TimeError::NotInMoment));
        assert_eq!(Moment::from_seconds(0, None).unwrap().format("%Y%Y", 7), Err(TimeError::TooLong));
        let edges = [DateTime::<Utc>::MIN_UTC.timestamp(), DateTime::<Utc>::MAX_UTC.timestamp()];
        for (seconds, name) in edges.into_iter().flat_map(|s| ["Asia/Tokyo", "America/Lima"].map(|name| (s, name))) {
            let moment = Moment::from_seconds(seconds, zone(name)).unwrap();
            assert!(moment.format("%Y %c %+ %s %U %G", 1000).is_ok());
        }
    }

    #[test]
    fn formats_and_zones_are_checked_by_name() {
        assert!(format_is_valid("%Y-%m-%d %% %.3f"));
        assert!(!format_is_valid("%Q"));
        assert!(!format_is_valid("%"));
        assert_eq!(zone("Mars/Olympus"), None);
    }
}
