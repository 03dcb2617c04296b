//! Errors of stores, and outages: errors that end by themselves, or when an operator ends them.

use std::borrow::Cow;

use sqlx::error::{DatabaseError, Error};
use uuid::Uuid;

/// An error of a store.
#[derive(Debug, Clone)]
pub enum StoreError {
    /// No such live row exists.
    NotFound,
    /// An equal row exists. Contains the name of the constraint, the same for every store.
    UniqueViolation(&'static str),
    /// A referenced row does not exist. Contains the name of the constraint.
    ForeignKeyViolation(&'static str),
    /// Another request was faster: the expected version is no longer the newest (`If-Match`).
    Stale,
    /// The change would leave no live administrator key.
    LastAdminKey,
    /// A request with the same [`IdempotencyToken`](super::IdempotencyToken) was carried out before. Contains the ID of the row that it created.
    Replayed(Uuid),
    /// The token belongs to a different request.
    TokenReused,
    /// The store cannot be used now. The request may be repeated. The text is for logs, not for clients.
    Unavailable(Outage, String),
    /// The store failed. The text is for logs, not for clients.
    Failed(String),
}

/// The result of a store method.
pub type StoreResult<T> = Result<T, StoreError>;

/// Unique constraints that callers can react to: the name in the API and in PostgreSQL, and SQLite's name.
const UNIQUE: [(&str, &str); 8] = [
    ("unique_generator_name", "generators.name"),
    ("api_keys_short_token_key", "api_keys.short_token"),
    ("unique_template_version", "index 'unique_template_version'"),
    ("template_labels_template_id_label_key", "template_labels.template_id, template_labels.label"),
    ("template_annotations_template_id_key_key", "template_annotations.template_id, template_annotations.key"),
    ("unique_stack_name", "stacks.name"),
    ("stack_labels_stack_id_label_key", "stack_labels.stack_id, stack_labels.label"),
    ("unique_stack_annotation", "stack_annotations.stack_id, stack_annotations.key"),
];

fn violated_constraint(error: &dyn DatabaseError) -> Option<&'static str> {
    let sqlite = error.message().strip_prefix("UNIQUE constraint failed: ");
    let matches = |(name, in_sqlite): &&(&str, &str)| error.constraint() == Some(name) || sqlite == Some(in_sqlite);
    UNIQUE.iter().find(matches).map(|(name, _)| *name)
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        if matches!(error, Error::RowNotFound) {
            return StoreError::NotFound;
        }
        match error.as_database_error().and_then(violated_constraint) {
            Some(constraint) => StoreError::UniqueViolation(constraint),
            None => Self::of(&error),
        }
    }
}

impl StoreError {
    /// The error of a statement that violates no constraint.
    pub(super) fn of(error: &Error) -> Self {
        match Outage::of(error) {
            Some(outage) => StoreError::Unavailable(outage, error.to_string()),
            None => StoreError::Failed(error.to_string()),
        }
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::NotFound => f.write_str("no such row"),
            StoreError::UniqueViolation(constraint) => write!(f, "violates unique constraint `{constraint}`"),
            StoreError::ForeignKeyViolation(constraint) => write!(f, "violates foreign-key constraint `{constraint}`"),
            StoreError::LastAdminKey => f.write_str("the row is the last live administrator key"),
            StoreError::Stale => f.write_str("the row has changed"),
            StoreError::Replayed(created) => write!(f, "the request was carried out before and created {created}"),
            StoreError::TokenReused => f.write_str("the token was used for a different request"),
            StoreError::Unavailable(outage, why) => write!(f, "the store {}: {why}", outage.phrase()),
            StoreError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StoreError {}

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

    /// The outage that caused an error.
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
