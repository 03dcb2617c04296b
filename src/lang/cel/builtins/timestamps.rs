//! Parts of timestamps and durations.

use crate::values::time::{Part, part};
use dropforge_machine::overloads;

overloads! {
    /// Parts of timestamps and durations, of the standard library.
    pub static TABLE:
    "getFullYear": "Returns the year." ["timestamp(0).getFullYear()" => "1970"]
        fn "timestamp_to_year" member (Timestamp) -> Int = part(Part::FullYear);
        fn "timestamp_to_year_with_tz" member (Timestamp, String) -> Int = part(Part::FullYear);
    "getMonth": "Returns the month, from 0." ["timestamp(0).getMonth()" => "0"]
        fn "timestamp_to_month" member (Timestamp) -> Int = part(Part::Month);
        fn "timestamp_to_month_with_tz" member (Timestamp, String) -> Int = part(Part::Month);
    "getDate": "Returns the day of the month, from 1." ["timestamp(0).getDate()" => "1", "timestamp(0).getDate('-01:00')" => "31"]
        fn "timestamp_to_day_of_month_1_based" member (Timestamp) -> Int = part(Part::Date);
        fn "timestamp_to_day_of_month_1_based_with_tz" member (Timestamp, String) -> Int = part(Part::Date);
    "getDayOfMonth": "Returns the day of the month, from 0." ["timestamp(0).getDayOfMonth()" => "0"]
        fn "timestamp_to_day_of_month" member (Timestamp) -> Int = part(Part::DayOfMonth);
        fn "timestamp_to_day_of_month_with_tz" member (Timestamp, String) -> Int = part(Part::DayOfMonth);
    "getDayOfWeek": "Returns the day of the week, from 0 for Sunday." ["timestamp(0).getDayOfWeek()" => "4"]
        fn "timestamp_to_day_of_week" member (Timestamp) -> Int = part(Part::DayOfWeek);
        fn "timestamp_to_day_of_week_with_tz" member (Timestamp, String) -> Int = part(Part::DayOfWeek);
    "getDayOfYear": "Returns the day of the year, from 0." ["timestamp(0).getDayOfYear()" => "0"]
        fn "timestamp_to_day_of_year" member (Timestamp) -> Int = part(Part::DayOfYear);
        fn "timestamp_to_day_of_year_with_tz" member (Timestamp, String) -> Int = part(Part::DayOfYear);
    "getHours": "Returns the hour of a timestamp, or all hours of a duration."
        ["timestamp(0).getHours('Asia/Tokyo')" => "9", "duration('90m').getHours()" => "1", "timestamp(0).getHours('Mars')" => "E0403"]
        fn "timestamp_to_hours" member (Timestamp) -> Int = part(Part::Hours);
        fn "timestamp_to_hours_with_tz" member (Timestamp, String) -> Int = part(Part::Hours);
        fn "duration_to_hours" member (Duration) -> Int = part(Part::Hours);
    "getMinutes": "Returns the minute of a timestamp, or all minutes of a duration." ["duration('90m').getMinutes()" => "90"]
        fn "timestamp_to_minutes" member (Timestamp) -> Int = part(Part::Minutes);
        fn "timestamp_to_minutes_with_tz" member (Timestamp, String) -> Int = part(Part::Minutes);
        fn "duration_to_minutes" member (Duration) -> Int = part(Part::Minutes);
    "getSeconds": "Returns the second of a timestamp, or all seconds of a duration."
        ["timestamp(61).getSeconds()" => "1", "duration('1m1s').getSeconds()" => "61"]
        fn "timestamp_to_seconds" member (Timestamp) -> Int = part(Part::Seconds);
        fn "timestamp_to_seconds_tz" member (Timestamp, String) -> Int = part(Part::Seconds);
        fn "duration_to_seconds" member (Duration) -> Int = part(Part::Seconds);
    "getMilliseconds": "Returns the milliseconds within the second." ["duration('1.5s').getMilliseconds()" => "500"]
        fn "timestamp_to_milliseconds" member (Timestamp) -> Int = part(Part::Milliseconds);
        fn "timestamp_to_milliseconds_with_tz" member (Timestamp, String) -> Int = part(Part::Milliseconds);
        fn "duration_to_milliseconds" member (Duration) -> Int = part(Part::Milliseconds);
}
