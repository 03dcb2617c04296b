//! The content of a lock object.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::rfc3339;

/// The content of a lock object. Times are milliseconds since the Unix epoch, by the clock of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRecord {
    /// The random id of the holder.
    pub owner: String,
    /// The name of the holder's machine.
    pub host: String,
    /// The id of the holder's process.
    pub pid: u32,
    /// The time when the lock was taken.
    pub made: u64,
    /// The time when it was renewed last.
    pub renewed: u64,
    /// The time after which others may take it. 0 if it was released.
    pub expires: u64,
}

impl LockRecord {
    /// Returns the record of this process with a new id.
    pub(super) fn new() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let owner = format!("{:016x}", fastrand::u64(..));
        Self { owner, host, pid: std::process::id(), made: 0, renewed: 0, expires: 0 }
    }

    /// Returns the record of a lock that is taken or renewed at `now`.
    pub(super) fn renewed(&self, now: Duration, lease: Duration) -> Self {
        let made = if self.made == 0 { millis(now) } else { self.made };
        Self { made, renewed: millis(now), expires: millis(now.saturating_add(lease)), ..self.clone() }
    }

    /// Returns the record of a lock that others may take at once.
    pub(super) fn released(&self) -> Self {
        Self { expires: 0, ..self.clone() }
    }

    /// Returns `true` if others may take the lock.
    pub(super) fn is_expired(&self, now: Duration) -> bool {
        self.expires <= millis(now)
    }

    /// Returns the holder for messages.
    pub(super) fn holder(&self) -> String {
        format!("process {} on `{}`", self.pid, self.host)
    }

    /// Returns the time when the lock was taken, such as `2026-11-23T12:00:00Z`.
    pub fn made_at(&self) -> String {
        rfc3339(self.made / 1_000)
    }

    /// Returns the time after which others may take the lock.
    pub fn expires_at(&self) -> String {
        rfc3339(self.expires / 1_000)
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn bytes(&self) -> bytes::Bytes {
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.push(b'\n');
        json.into()
    }
}

/// Returns whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
