//! Errors of stores.

use sqlx::error::{DatabaseError, Error};
use uuid::Uuid;

use super::outage::Outage;

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
