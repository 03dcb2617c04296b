//! The clock of functions that return the current time.

use std::time::{Duration, SystemTime};

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
    fn only_seconds_are_a_moment() {
        assert_eq!(moment("86400"), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400)));
        for text in ["", "-1", "2024-01-01", "1e3", "99999999999999999999999"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
