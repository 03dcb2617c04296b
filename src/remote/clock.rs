//! Clocks. Locks compare times, and tests move them.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dropforge_base::stdlib::timestamps::{days_of, utc_text};

/// A source of time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time since the Unix epoch. It never goes back.
    fn now(&self) -> Duration;
}

/// The clock of this machine. It runs on while the machine sleeps, and does not go back when it is set.
#[derive(Debug)]
pub struct SystemClock {
    began: Instant,
    anchor: Duration,
    latest: Mutex<Duration>,
}

impl SystemClock {
    /// Starts a clock at the time of the machine.
    pub fn new() -> Self {
        let anchor = wall();
        Self { began: Instant::now(), anchor, latest: Mutex::new(anchor) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        // `Instant` may stand still while the machine sleeps, and the wall clock may be set back.
        let now = wall().max(self.anchor + self.began.elapsed());
        let mut latest = self.latest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *latest = now.max(*latest);
        *latest
    }
}

/// Returns the wall clock's time since the Unix epoch.
fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A clock that stands still until it is moved.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// Creates a clock at `seconds` since the Unix epoch.
    pub fn at(seconds: u64) -> Self {
        Self(AtomicU64::new(seconds.saturating_mul(1_000)))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX / 2), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// The difference between a store's clock and this machine's, from the `Date` of its responses.
#[derive(Debug, Default)]
pub(super) struct Skew(AtomicI64);

impl Skew {
    /// Notes the date of a response, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Other texts are ignored.
    pub(super) fn note(&self, date: &str) {
        let Some(theirs) = http_date(date) else { return };
        let ours = i64::try_from(wall().as_secs()).unwrap_or(i64::MAX);
        let skew = theirs.saturating_sub(ours);
        // A date has whole seconds and is some time underway: small differences say nothing.
        self.0.store(if skew.abs() <= 2 { 0 } else { skew }, Ordering::Relaxed);
    }

    /// Returns the store's time for a time of this machine.
    pub(super) fn theirs(&self, ours: Duration) -> Duration {
        let skew = self.0.load(Ordering::Relaxed);
        let by = Duration::from_secs(skew.unsigned_abs());
        if skew < 0 { ours.saturating_sub(by) } else { ours.saturating_add(by) }
    }
}

/// Parses the date of an HTTP header into seconds since the Unix epoch.
fn http_date(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once(", ")?;
    let mut parts = rest.split([' ', ':']);
    let number = |text: &str| text.parse::<i64>().ok().filter(|n| (0..10_000).contains(n));
    let day = number(parts.next()?)?;
    let month = MONTHS.iter().zip(1..).find(|(name, _)| Some(**name) == parts.clone().next())?.1;
    parts.next()?;
    let year = number(parts.next()?)?;
    let (hours, minutes, seconds) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    if parts.next()? != "GMT" {
        return None;
    }
    Some(days_of(year, month, day) * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The last second of a year of four digits.
const LAST: u64 = 253_402_300_799;

/// Formats a number of seconds since the Unix epoch, such as `2026-11-23T12:00:00Z`.
pub(super) fn rfc3339(seconds: u64) -> String {
    i64::try_from(seconds.min(LAST)).ok().and_then(|seconds| utc_text(seconds, 0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_responses() {
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
        for bad in ["", "x", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(http_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_in_messages() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(784_111_777), "1994-11-06T08:49:37Z");
        assert_eq!(rfc3339(1_709_208_000), "2024-02-29T12:00:00Z");
        assert!(rfc3339(u64::MAX).ends_with('Z'));
    }

    #[test]
    fn the_clock_of_a_store_counts() {
        let skew = Skew::default();
        skew.note("Thu, 01 Jan 1970 00:00:00 GMT");
        assert!(skew.theirs(wall()) < Duration::from_secs(5));
        skew.note("nonsense");
        assert!(skew.theirs(wall()) < Duration::from_secs(5), "a date that cannot be read changes nothing");
    }

    #[test]
    fn clocks_do_not_go_back() {
        let clock = SystemClock::new();
        let first = clock.now();
        assert!(clock.now() >= first);
        let manual = ManualClock::at(10);
        manual.advance(Duration::from_millis(1_500));
        assert_eq!(manual.now(), Duration::from_millis(11_500));
    }
}
