//! Timestamps and durations: ranges, parsing, and their parts in time zones.

use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};

use super::{arithmetic, bad_argument, conversion};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::{duration, zones};
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// The first second of the year 1.
pub const FIRST_SECOND: i64 = -62_135_596_800;
/// The last second of the year 9999.
pub const LAST_SECOND: i64 = 253_402_300_799;

const SECOND: i128 = 1_000_000_000;

/// Returns the nanoseconds since 1970.
pub(super) fn nanos_of(seconds: i64, nanos: u32) -> i128 {
    i128::from(seconds) * SECOND + i128::from(nanos)
}

/// Makes a timestamp from nanoseconds since 1970.
///
/// # Errors
/// A time outside the years 1 to 9999, or a limit of the render.
pub fn timestamp<'v>(cx: &Cx<'v>, nanos: i128) -> Result<Value<'v>> {
    let seconds = i64::try_from(nanos.div_euclid(SECOND)).ok();
    let seconds = seconds.filter(|seconds| (FIRST_SECOND..=LAST_SECOND).contains(seconds));
    let Some(seconds) = seconds else { return Err(arithmetic("timestamp overflow")) };
    cx.extended(Extended::Timestamp { seconds, nanos: u32::try_from(nanos.rem_euclid(SECOND)).unwrap_or(0) })
}

/// Makes a duration from the result of a checked operation on nanoseconds.
///
/// # Errors
/// An overflow, or a limit of the render.
pub fn duration<'v>(cx: &Cx<'v>, nanos: Option<i64>) -> Result<Value<'v>> {
    cx.extended(Extended::Duration(nanos.ok_or_else(|| arithmetic("duration overflow"))?))
}

/// `timestamp(text)`.
///
/// # Errors
/// Text that is not an RFC 3339 time in the years 1 to 9999.
pub fn timestamp_of_text<'v>(cx: &Cx<'v>, text: Value<'v>) -> Result<Value<'v>> {
    let moment = duration::moment(text.as_str().unwrap_or(""), duration::Form::Lenient);
    let moment = moment.map_err(|why| conversion(text, super::TIMESTAMP).with_help(why))?;
    timestamp(cx, nanos_of(moment.timestamp(), moment.timestamp_subsec_nanos()))
}

/// `duration(text)`: numbers with units from `ns` to `h`.
///
/// # Errors
/// Text that is not a duration, or one of more than about 292 years.
pub fn duration_of_text<'v>(cx: &Cx<'v>, text: Value<'v>) -> Result<Value<'v>> {
    let span = duration::span(text.as_str().unwrap_or(""));
    let span = span.ok_or_else(|| conversion(text, super::DURATION))?;
    duration(cx, span.num_nanoseconds())
}

/// A part of a timestamp in a time zone, or of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeField {
    /// The year.
    FullYear,
    /// The month, from 0.
    Month,
    /// The day of the month, from 1.
    Date,
    /// The day of the month, from 0.
    DayOfMonth,
    /// The day of the week, from 0 for Sunday.
    DayOfWeek,
    /// The day of the year, from 0.
    DayOfYear,
    /// The hour of a timestamp; all hours of a duration.
    Hours,
    /// The minute of a timestamp; all minutes of a duration.
    Minutes,
    /// The second of a timestamp; all seconds of a duration.
    Seconds,
    /// The milliseconds within the second.
    Milliseconds,
}

impl TimeField {
    fn of_time(self, local: NaiveDateTime) -> i64 {
        i64::from(match self {
            TimeField::FullYear => return i64::from(local.year()),
            TimeField::Month => local.month0(),
            TimeField::Date => local.day(),
            TimeField::DayOfMonth => local.day0(),
            TimeField::DayOfWeek => local.weekday().num_days_from_sunday(),
            TimeField::DayOfYear => local.ordinal0(),
            TimeField::Hours => local.hour(),
            TimeField::Minutes => local.minute(),
            TimeField::Seconds => local.second(),
            TimeField::Milliseconds => local.nanosecond() / 1_000_000,
        })
    }

    /// Returns the part of a duration in nanoseconds.
    fn of_duration(self, nanos: i64) -> Option<i64> {
        Some(match self {
            TimeField::Hours => nanos / 3_600_000_000_000,
            TimeField::Minutes => nanos / 60_000_000_000,
            TimeField::Seconds => nanos / 1_000_000_000,
            TimeField::Milliseconds => nanos % 1_000_000_000 / 1_000_000,
            _ => return None,
        })
    }
}

/// Returns the function that returns a part of a timestamp, in UTC or the named time zone, or of a duration.
///
/// # Errors
/// An unknown time zone, a value without the part, or the render has no steps left.
pub fn part<'v>(part: TimeField) -> impl Fn(&Cx<'v>, Value<'v>, Option<&'v str>) -> Result<i64> {
    move |cx, value, zone| match value.extended() {
        Some(Extended::Timestamp { seconds, nanos }) => {
            let offset = zone.map_or(Ok(0), |zone| offset_at(cx, zone, *seconds))?;
            let local = DateTime::from_timestamp(seconds + offset, *nanos);
            let local = local.ok_or_else(|| arithmetic("timestamp overflow"))?;
            Ok(part.of_time(local.naive_utc()))
        }
        Some(Extended::Duration(nanos)) if zone.is_none() => {
            part.of_duration(*nanos).ok_or_else(|| bad_argument("a duration has no such part"))
        }
        _ => Err(bad_argument("a timestamp or a duration is needed")),
    }
}

/// Returns a duration in milliseconds.
///
/// # Errors
/// A value that is no duration.
pub(crate) fn all_milliseconds(value: Value<'_>) -> Result<i64> {
    match value.extended() {
        Some(Extended::Duration(nanos)) => Ok(nanos / 1_000_000),
        _ => Err(bad_argument("a duration is needed")),
    }
}

/// Returns the offset in seconds, east of UTC, of a zone at a time. The zone is an IANA name, or hours and minutes.
fn offset_at(cx: &Cx<'_>, zone: &str, seconds: i64) -> Result<i64> {
    // Finding an IANA name takes a search.
    cx.spend(64)?;
    let offset = match zone.split_once(':') {
        Some((hours, minutes)) => fixed_offset(hours, minutes),
        None if zone.is_empty() => Some(0),
        None => zones::zone(zone).and_then(|zone| zone.local_time(seconds)).map(|local| local.offset.into()),
    };
    offset.ok_or_else(|| {
        let zone: String = zone.chars().take(60).collect();
        bad_argument(format!("unknown time zone {zone}"))
            .with_help("a zone is a name such as `Europe/Berlin`, or an offset such as `+02:00`")
    })
}

/// Converts `+02:30`, `-9:30` or `02:00` to seconds.
fn fixed_offset(hours: &str, minutes: &str) -> Option<i64> {
    let (sign, hours) = match hours.strip_prefix('-') {
        Some(hours) => (-1, hours),
        None => (1, hours.strip_prefix('+').unwrap_or(hours)),
    };
    let digits = |text: &str, most: i64| {
        let fine = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|n| fine && *n <= most)
    };
    Some(sign * (digits(hours, 23)? * 3600 + digits(minutes, 59)? * 60))
}
