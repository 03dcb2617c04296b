//! Timestamps and durations as text, without a calendar crate because every build writes them; and the current time.

use std::time::{Duration, SystemTime};

/// Returns the text of a UTC timestamp by RFC 3339, with as many fractional digits as it has. `None` outside ±262,000
/// years.
///
/// `utc_text(0, 500_000_000)` is `1970-01-01T00:00:00.5Z`.
pub fn utc_text(seconds: i64, nanos: u32) -> Option<String> {
    const DAY: i64 = 86_400;
    const YEARS: i64 = 262_000;
    if nanos >= 1_000_000_000 || seconds.unsigned_abs() > (YEARS * 366 * DAY).unsigned_abs() {
        return None;
    }
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let time = seconds.rem_euclid(DAY);
    let year = if (0..10_000).contains(&year) { format!("{year:04}") } else { format!("{year:+05}") };
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    let mut text = format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    push_fraction(nanos, &mut text);
    text.push('Z');
    Some(text)
}

/// Returns the date of a number of days since 1970-01-01, in the Gregorian calendar. Counts in eras of 400 years that
/// begin in March, so that a leap day is the last day of its year (H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms").
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the number of days from 1970-01-01 to a date, the inverse of `civil`. A day may exceed its month.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months = if month > 2 { month - 3 } else { month + 9 };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day = (153 * months + 2) / 5 + day - 1;
    era * 146_097 + year * 365 + year / 4 - year / 100 + day - 719_468
}

/// Returns the text of a duration in seconds: `90s`, `3600.5s`, `-0.000001s`.
pub fn seconds_text(nanos: i64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let mut text = format!("{sign}{}", nanos / SECOND);
    push_fraction(u32::try_from(nanos % SECOND).unwrap_or(0), &mut text);
    text.push('s');
    text
}

fn push_fraction(nanos: u32, text: &mut String) {
    if nanos != 0 {
        let digits = format!(".{nanos:09}");
        text.push_str(digits.trim_end_matches('0'));
    }
}

/// Returns the current time, or the seconds since 1970 in the environment variable `SOURCE_DATE_EPOCH`, which reproducible
/// builds set. Another text in it is ignored.
pub fn now() -> SystemTime {
    let told = std::env::var("SOURCE_DATE_EPOCH").ok();
    told.and_then(|told| moment(&told)).unwrap_or_else(SystemTime::now)
}

fn moment(seconds: &str) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_the_nanoseconds() {
        assert_eq!(utc_text(-62_135_596_800, 0).as_deref(), Some("0001-01-01T00:00:00Z"));
        assert_eq!(utc_text(253_402_300_799, 999_999_999).as_deref(), Some("9999-12-31T23:59:59.999999999Z"));
        assert_eq!((utc_text(i64::MAX, 0), utc_text(0, u32::MAX)), (None, None));
        assert_eq!([seconds_text(90_000_000_000), seconds_text(3_600_500_000_000)], ["90s", "3600.5s"]);
        assert_eq!([seconds_text(-1_000), seconds_text(0)], ["-0.000001s", "0s"]);
        assert_eq!(seconds_text(i64::MIN), "-9223372036.854775808s");
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (-1_000_000..1_000_000).step_by(37) {
            let (year, month, day) = civil(days);
            assert_eq!(days_of(year, month, day), days);
        }
    }

    #[test]
    fn dates_are_those_of_chrono() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..20_000 {
            let (seconds, nanos) = (random.i64(-8_000_000_000_000..8_000_000_000_000), random.u32(..1_000_000_000));
            let wanted = chrono::DateTime::from_timestamp(seconds, nanos).unwrap();
            let text = utc_text(seconds, 0).unwrap();
            assert_eq!(text, wanted.format("%Y-%m-%dT%H:%M:%SZ").to_string(), "{seconds}");
        }
    }

    #[test]
    fn only_seconds_are_a_moment() {
        assert_eq!(moment("86400"), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400)));
        for text in ["", "-1", "2024-01-01", "1e3", "99999999999999999999999"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
