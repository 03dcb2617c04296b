//! Times as a zone shows them.

use crate::stdlib::timestamps::{civil, days_of};

const DAY: i64 = 86_400;

/// A time as a zone shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    pub(super) year: i64,
    /// From 1 to 12.
    pub(super) month: i64,
    pub(super) day: i64,
    /// Seconds since midnight.
    pub(super) seconds: i64,
    pub(super) nanos: u32,
    /// Seconds east of UTC.
    pub(super) offset: i64,
    /// The abbreviation of the zone; empty if it has none.
    pub(super) zone: String,
}

impl Clock {
    /// Returns the time that a zone shows at `seconds` since the Unix epoch. `None` far outside the calendar.
    pub fn new(seconds: i64, nanos: u32, offset: i64, zone: &str) -> Option<Self> {
        let local = seconds.checked_add(offset)?;
        let (year, month, day) = civil(local.div_euclid(DAY));
        Some(Self { year, month, day, seconds: local.rem_euclid(DAY), nanos, offset, zone: zone.to_owned() })
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
    pub(super) fn weekday(&self) -> usize {
        usize::try_from((days_of(self.year, self.month, self.day) + 4).rem_euclid(7)).unwrap_or(0)
    }

    /// Returns the day of the year, from 1 on.
    pub fn year_day(&self) -> i64 {
        days_of(self.year, self.month, self.day) - days_of(self.year, 1, 1) + 1
    }
}

/// Returns `true` for a leap year.
pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the number of days of a month.
pub(super) fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
