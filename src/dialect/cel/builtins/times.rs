//! Parts of moments and spans of time.

use super::{arguments, text};
use crate::diagnostics::Result;
use crate::dialect::cel::values::time::{Part, part};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// Parts of moments and spans of time, of the standard library.
    pub static TABLE:
    "getFullYear": "The year." ["timestamp(0).getFullYear()" => "1970"] {
        "timestamp_to_year" member (Timestamp) -> Int = full_year;
        "timestamp_to_year_with_tz" member (Timestamp, String) -> Int = full_year;
    }
    "getMonth": "The month, from 0." ["timestamp(0).getMonth()" => "0"] {
        "timestamp_to_month" member (Timestamp) -> Int = month;
        "timestamp_to_month_with_tz" member (Timestamp, String) -> Int = month;
    }
    "getDate": "The day of the month, from 1." ["timestamp(0).getDate()" => "1", "timestamp(0).getDate('-01:00')" => "31"] {
        "timestamp_to_day_of_month_1_based" member (Timestamp) -> Int = date;
        "timestamp_to_day_of_month_1_based_with_tz" member (Timestamp, String) -> Int = date;
    }
    "getDayOfMonth": "The day of the month, from 0." ["timestamp(0).getDayOfMonth()" => "0"] {
        "timestamp_to_day_of_month" member (Timestamp) -> Int = day_of_month;
        "timestamp_to_day_of_month_with_tz" member (Timestamp, String) -> Int = day_of_month;
    }
    "getDayOfWeek": "The day of the week, from 0, which is Sunday." ["timestamp(0).getDayOfWeek()" => "4"] {
        "timestamp_to_day_of_week" member (Timestamp) -> Int = day_of_week;
        "timestamp_to_day_of_week_with_tz" member (Timestamp, String) -> Int = day_of_week;
    }
    "getDayOfYear": "The day of the year, from 0." ["timestamp(0).getDayOfYear()" => "0"] {
        "timestamp_to_day_of_year" member (Timestamp) -> Int = day_of_year;
        "timestamp_to_day_of_year_with_tz" member (Timestamp, String) -> Int = day_of_year;
    }
    "getHours": "The hour of a timestamp, or all hours of a duration." ["timestamp(0).getHours('Asia/Tokyo')" => "9", "duration('90m').getHours()" => "1", "timestamp(0).getHours('Mars')" => "E0403"] {
        "timestamp_to_hours" member (Timestamp) -> Int = hours;
        "timestamp_to_hours_with_tz" member (Timestamp, String) -> Int = hours;
        "duration_to_hours" member (Duration) -> Int = hours;
    }
    "getMinutes": "The minute of a timestamp, or all minutes of a duration." ["duration('90m').getMinutes()" => "90"] {
        "timestamp_to_minutes" member (Timestamp) -> Int = minutes;
        "timestamp_to_minutes_with_tz" member (Timestamp, String) -> Int = minutes;
        "duration_to_minutes" member (Duration) -> Int = minutes;
    }
    "getSeconds": "The second of a timestamp, or all seconds of a duration." ["timestamp(61).getSeconds()" => "1", "duration('1m1s').getSeconds()" => "61"] {
        "timestamp_to_seconds" member (Timestamp) -> Int = seconds;
        "timestamp_to_seconds_tz" member (Timestamp, String) -> Int = seconds;
        "duration_to_seconds" member (Duration) -> Int = seconds;
    }
    "getMilliseconds": "The milliseconds within the second." ["duration('1.5s').getMilliseconds()" => "500"] {
        "timestamp_to_milliseconds" member (Timestamp) -> Int = milliseconds;
        "timestamp_to_milliseconds_with_tz" member (Timestamp, String) -> Int = milliseconds;
        "duration_to_milliseconds" member (Duration) -> Int = milliseconds;
    }
}

fn part_of<'v>(cx: &Cx<'v>, which: Part, given: &[Value<'v>]) -> Result<Value<'v>> {
    if let [value, zone] = *given {
        return part(cx, which, value, Some(text(zone)));
    }
    let [value] = arguments(cx, given)?;
    part(cx, which, value, None)
}

fn full_year<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::FullYear, given)
}

fn month<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::Month, given)
}

fn date<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::Date, given)
}

fn day_of_month<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::DayOfMonth, given)
}

fn day_of_week<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::DayOfWeek, given)
}

fn day_of_year<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::DayOfYear, given)
}

fn hours<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::Hours, given)
}

fn minutes<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::Minutes, given)
}

fn seconds<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::Seconds, given)
}

fn milliseconds<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    part_of(cx, Part::Milliseconds, given)
}
