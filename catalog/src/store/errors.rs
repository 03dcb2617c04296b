//! Conversion of database errors.

use sqlx::error::{DatabaseError, Error};

use super::StoreError;

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

fn taken(error: &dyn DatabaseError) -> Option<&'static str> {
    let sqlite = error.message().strip_prefix("UNIQUE constraint failed: ");
    let is_it = |(name, in_sqlite): &&(&str, &str)| error.constraint() == Some(name) || sqlite == Some(in_sqlite);
    UNIQUE.iter().find(is_it).map(|(name, _)| *name)
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        if matches!(error, Error::RowNotFound) {
            return StoreError::Missing;
        }
        match error.as_database_error().and_then(taken) {
            Some(constraint) => StoreError::Taken(constraint),
            None => StoreError::Failed(error.to_string()),
        }
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Missing => f.write_str("no such row"),
            StoreError::Taken(constraint) => write!(f, "violates unique constraint `{constraint}`"),
            StoreError::Dangling(constraint) => write!(f, "violates foreign-key constraint `{constraint}`"),
            StoreError::Moved => f.write_str("the row has changed"),
            StoreError::Repeated(made) => write!(f, "the request was carried out before and created {made}"),
            StoreError::TokenReused => f.write_str("the token was used for a different request"),
            StoreError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StoreError {}
