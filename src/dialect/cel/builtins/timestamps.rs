//! Parts of timestamps and durations.

use crate::diagnostics::Result;
use crate::dialect::cel::values::time::{Part, part};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// Parts of timestamps and durations, of the standard library.
    pub static TABLE:
    "getFullYear": "Returns the year." ["timestamp(0).getFullYear()" => "1970"]
        fn "timestamp_to_year" member (Timestamp) -> Int = full_year;
        fn "timestamp_to_year_with_tz" member (Timestamp, String) -> Int = full_year;
    "getMonth": "Returns the month, from 0." ["timestamp(0).getMonth()" => "0"]
        fn "timestamp_to_month" member (Timestamp) -> Int = month;
        fn "timestamp_to_month_with_tz" member (Timestamp, String) -> Int = month;
    "getDate": "Returns the day of the month, from 1." ["timestamp(0).getDate()" => "1", "timestamp(0).getDate('-01:00')" => "31"]
        fn "timestamp_to_day_of_month_1_based" member (Timestamp) -> Int = date;
        fn "timestamp_to_day_of_month_1_based_with_tz" member (Timestamp, String) -> Int = date;
    "getDayOfMonth": "Returns the day of the month, from 0." ["timestamp(0).getDayOfMonth()" => "0"]
        fn "timestamp_to_day_of_month" member (Timestamp) -> Int = day_of_month;
        fn "timestamp_to_day_of_month_with_tz" member (Timestamp, String) -> Int = day_of_month;
    "getDayOfWeek": "Returns the day of the week, from 0 for Sunday." ["timestamp(0).getDayOfWeek()" => "4"]
        fn "timestamp_to_day_of_week" member (Timestamp) -> Int = day_of_week;
        fn "timestamp_to_day_of_week_with_tz" member (Timestamp, String) -> Int = day_of_week;
    "getDayOfYear": "Returns the day of the year, from 0." ["timestamp(0).getDayOfYear()" => "0"]
        fn "timestamp_to_day_of_year" member (Timestamp) -> Int = day_of_year;
        fn "timestamp_to_day_of_year_with_tz" member (Timestamp, String) -> Int = day_of_year;
    "getHours": "Returns the hour of a timestamp, or all hours of a duration."
        ["timestamp(0).getHours('Asia/Tokyo')" => "9", "duration('90m').getHours()" => "1", "timestamp(0).getHours('Mars')" => "E0403"]
        fn "timestamp_to_hours" member (Timestamp) -> Int = hours;
        fn "timestamp_to_hours_with_tz" member (Timestamp, String) -> Int = hours;
        fn "duration_to_hours" member (Duration) -> Int = hours;
    "getMinutes": "Returns the minute of a timestamp, or all minutes of a duration." ["duration('90m').getMinutes()" => "90"]
        fn "timestamp_to_minutes" member (Timestamp) -> Int = minutes;
        fn "timestamp_to_minutes_with_tz" member (Timestamp, String) -> Int = minutes;
        fn "duration_to_minutes" member (Duration) -> Int = minutes;
    "getSeconds": "Returns the second of a timestamp, or all seconds of a duration."
        ["timestamp(61).getSeconds()" => "1", "duration('1m1s').getSeconds()" => "61"]
        fn "timestamp_to_seconds" member (Timestamp) -> Int = seconds;
        fn "timestamp_to_seconds_tz" member (Timestamp, String) -> Int = seconds;
        fn "duration_to_seconds" member (Duration) -> Int = seconds;
    "getMilliseconds": "Returns the milliseconds within the second." ["duration('1.5s').getMilliseconds()" => "500"]
        fn "timestamp_to_milliseconds" member (Timestamp) -> Int = milliseconds;
        fn "timestamp_to_milliseconds_with_tz" member (Timestamp, String) -> Int = milliseconds;
        fn "duration_to_milliseconds" member (Duration) -> Int = milliseconds;
}

/// Declares bodies that return one part.
macro_rules! parts {
    ($($body:ident $part:ident;)*) => {
        $(fn $body<'v>(cx: &Cx<'v>, value: Value<'v>, zone: Option<&'v str>) -> Result<i64> {
            part(cx, Part::$part, value, zone)
        })*
    };
}

parts! {
    full_year FullYear;
    month Month;
    date Date;
    day_of_month DayOfMonth;
    day_of_week DayOfWeek;
    day_of_year DayOfYear;
    hours Hours;
    minutes Minutes;
    seconds Seconds;
    milliseconds Milliseconds;
}
