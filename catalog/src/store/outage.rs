//! Outages of a store: errors that end by themselves, or when an operator ends them.

use std::borrow::Cow;

use sqlx::error::{DatabaseError, Error};

/// The kind of an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// The database cannot be reached or is starting or stopping.
    Unreachable,
    /// Another process holds a lock.
    Locked,
    /// The disk or the database is full.
    Full,
    /// The database can only be read.
    ReadOnly,
    /// The disk fails.
    Disk,
}

impl Outage {
    /// A phrase for messages: "the store …".
    pub fn phrase(self) -> &'static str {
        match self {
            Outage::Unreachable => "cannot be reached",
            Outage::Locked => "is locked by another process",
            Outage::Full => "is full",
            Outage::ReadOnly => "is read-only",
            Outage::Disk => "cannot use its disk",
        }
    }

    /// The outage that an error tells of.
    pub(super) fn of(error: &Error) -> Option<Self> {
        match error {
            Error::Io(_) | Error::Tls(_) | Error::PoolTimedOut | Error::WorkerCrashed => Some(Outage::Unreachable),
            error => Self::of_code(error.as_database_error().and_then(DatabaseError::code)?),
        }
    }

    /// The outage with a code: five characters from PostgreSQL, fewer digits from SQLite.
    fn of_code(code: Cow<'_, str>) -> Option<Self> {
        if code.len() == 5 { of_postgres(&code) } else { of_sqlite(code.parse().ok()?) }
    }
}

fn of_postgres(code: &str) -> Option<Outage> {
    match code {
        // A lock timeout, a serialization failure, a deadlock.
        "55P03" | "40001" | "40P01" => Some(Outage::Locked),
        "53100" | "53200" | "53400" => Some(Outage::Full),
        "25006" => Some(Outage::ReadOnly),
        "58030" => Some(Outage::Disk),
        "53300" => Some(Outage::Unreachable),
        // Connection exceptions; the server is starting, stopping or has crashed.
        code if code.starts_with("08") || code.starts_with("57P0") => Some(Outage::Unreachable),
        _ => None,
    }
}

/// The low byte is the kind of the error.
fn of_sqlite(code: u32) -> Option<Outage> {
    match code & 0xff {
        // SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL.
        5 | 6 | 15 => Some(Outage::Locked),
        // SQLITE_READONLY.
        8 => Some(Outage::ReadOnly),
        // SQLITE_IOERR.
        10 => Some(Outage::Disk),
        // SQLITE_FULL.
        13 => Some(Outage::Full),
        // SQLITE_CANTOPEN.
        14 => Some(Outage::Unreachable),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_both_databases_tell_of_outages() {
        let of = |code: &'static str| Outage::of_code(Cow::Borrowed(code));
        for (outage, codes) in [
            (Some(Outage::Locked), ["5", "517", "6", "55P03", "40P01"]),
            (Some(Outage::Full), ["13", "53100", "53200", "53400", "13"]),
            (Some(Outage::ReadOnly), ["8", "1032", "776", "25006", "8"]),
            (Some(Outage::Disk), ["10", "778", "1034", "58030", "10"]),
            (Some(Outage::Unreachable), ["14", "08006", "57P01", "57P03", "53300"]),
            // Broken data and wrong statements do not end by themselves.
            (None, ["11", "26", "1555", "23505", "42601"]),
            (None, ["", "x", "99999999999", "57014", "1"]),
        ] {
            for code in codes {
                assert_eq!(of(code), outage, "{code}");
            }
        }
    }
}
