//! Arguments and results of store methods, and conditions of changes, which a store checks in their transactions; errors, and outages:
//! errors that end by themselves, or when an operator ends them.

use std::borrow::Cow;

use serde::Serialize;
use sqlx::error::{DatabaseError, Error};
use uuid::Uuid;

use crate::content::Language;
use crate::model::{DeploymentObject, MetadataKind, MetadataOwner, Provenance, Stack, TemplateVersion, Timestamp, now};
use crate::{KeySeed, checksum};

/// An idempotency token: a request that is sent twice with the same token is carried out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyToken {
    /// The caller's key and its idempotency key, so that callers cannot reuse each other's tokens.
    pub key: String,
    /// SHA-256 of the request. A different request with the same token is an error.
    pub request: String,
    /// A secret of the caller. Keys that the request creates are derived from it. Never stored.
    pub seed: Option<KeySeed>,
    /// The salt of a key that the request creates.
    pub salt: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// ID of the last row of the previous page.
    pub after: Option<Uuid>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// A search for templates by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateSearch {
    /// Text that the name contains, without regard to the case of ASCII letters.
    pub text: String,
    /// `true` to leave out all but the newest version of each template.
    pub newest: bool,
}

/// A version to create.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// ID.
    pub id: Uuid,
    /// Creation time.
    pub at: Timestamp,
    /// Owner.
    pub generator_id: Option<Uuid>,
    /// Name.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Template text.
    pub template_content: String,
    /// Schema text.
    pub parameters_schema: String,
    /// SHA-256 of the template text, or of the bytes of a packed chart.
    pub checksum: String,
    /// Language.
    pub language: Language,
    /// Initial labels and annotations.
    pub metadata: InitialMetadata,
}

/// The initial labels and annotations of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitialMetadata {
    /// Those of this version. By default those of the newest live version of the name, if there is one.
    CopiedFrom(Option<Uuid>),
    /// The given ones.
    Given(Metadata),
}

/// The labels and annotations that a template requires, or that a stack has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Labels, in creation order.
    pub labels: Vec<String>,
    /// Keys and values.
    pub annotations: Vec<(String, String)>,
}

/// An object to create. The store assigns [`DeploymentObject::sequence_id`].
#[derive(Debug, Clone)]
pub struct NewObject {
    /// ID.
    pub id: Uuid,
    /// Creation time.
    pub at: Timestamp,
    /// ID of the stack.
    pub stack_id: Uuid,
    /// YAML text.
    pub yaml_content: String,
    /// SHA-256 of the YAML text.
    pub yaml_checksum: String,
    /// `true` if earlier objects of the stack must be removed.
    pub is_deletion_marker: bool,
    /// Provenance, if the object was rendered.
    pub provenance: Option<Provenance>,
}

impl NewObject {
    /// A new object without provenance.
    pub fn new(stack_id: Uuid, yaml_content: String, is_deletion_marker: bool) -> Self {
        let yaml_checksum = checksum(&yaml_content);
        Self { id: new_id(), at: now(), stack_id, yaml_content, yaml_checksum, is_deletion_marker, provenance: None }
    }
}

/// The rows that an instantiation needs, from one snapshot.
#[derive(Debug, Clone, Default)]
pub struct InstantiationRows {
    /// The stack, if it exists.
    pub stack: Option<Stack>,
    /// The template version, if it exists.
    pub template: Option<TemplateVersion>,
    /// Labels and annotations of the template.
    pub template_metadata: Metadata,
    /// Labels and annotations of the stack.
    pub stack_metadata: Metadata,
}

/// A rendered object and its provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The object.
    pub object: DeploymentObject,
    /// The provenance.
    pub provenance: Provenance,
    /// Labels and annotations of its stack, in no order.
    pub stack_metadata: Metadata,
}

/// Numbers of live rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Generators.
    pub generators: i64,
    /// Template versions.
    pub templates: i64,
    /// Stacks.
    pub stacks: i64,
    /// Deployment objects.
    pub objects: i64,
}

/// Live rows of a generator, and the bytes of their texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Template versions.
    pub templates: u64,
    /// Deployment objects.
    pub objects: u64,
    /// Bytes of templates, schemas and YAML.
    pub bytes: u64,
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            templates: self.templates.saturating_add(other.templates),
            objects: self.objects.saturating_add(other.objects),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl std::ops::Sub for Usage {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            templates: self.templates.saturating_sub(other.templates),
            objects: self.objects.saturating_sub(other.objects),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

/// Numbers of rows that were removed for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Purged {
    /// Deployment objects with their records.
    pub objects: i64,
    /// Stacks.
    pub stacks: i64,
    /// Template versions.
    pub templates: i64,
    /// Entries of the audit trail.
    pub audit_entries: i64,
    /// Deleted template versions that stay, because the provenance of an object names them. Known once `more` is not
    /// set.
    pub kept_templates: i64,
    /// `true` if there are more rows to remove.
    pub more: bool,
}

/// Generates an ID that is greater than all earlier ones.
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// A lower bound of the IDs that were generated at a time or later. Earlier ones are less, up to the millisecond.
pub(super) fn first_id(at: Timestamp) -> Uuid {
    let milliseconds = u64::try_from(at.timestamp_millis()).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(milliseconds, &[0; 10]).into_uuid()
}

// Conditions of a change reach the store as a task-local, like its origin: they are conditions of a request, and no
// method of a store is concerned with them.
tokio::task_local! {
    static GUARD: Guard;
}

/// Conditions of a change. If one does not hold, nothing changes and the store returns an error.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The token, and the ID and creation time of the row that the change creates.
    pub(super) once: Option<(IdempotencyToken, Uuid, Timestamp)>,
    pub(super) requires: Option<Requirement>,
}

/// A state that a change requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// The last change of the stack was at this time.
    Stack(Uuid, Timestamp),
    /// The last change of the generator was at this time.
    Generator(Uuid, Timestamp),
    /// The version is the newest live one of its owner and name.
    Newest(Uuid),
    /// The row of a label or an annotation exists.
    Metadata(MetadataOwner, MetadataKind, Uuid),
    /// Another live administrator key exists, or this key is not a live administrator key.
    OtherAdminKey(Uuid),
}

impl Guard {
    /// Carries a request out once, if it has a token: `Replayed` if a request with this token was carried out before,
    /// `TokenReused` if that was a different one. `created` and `at` are the ID and the creation time of the row that the
    /// change creates.
    pub fn once(token: Option<&IdempotencyToken>, created: Uuid, at: Timestamp) -> Self {
        Self { once: token.cloned().map(|token| (token, created, at)), requires: None }
    }

    /// Requires a state, if there is a requirement. `Stale` or `LastAdminKey` if the state is another.
    pub fn requiring(requirement: impl Into<Option<Requirement>>) -> Self {
        Self::default().and(requirement)
    }

    /// Also requires a state, as [`Guard::requiring`] does.
    #[must_use]
    pub fn and(self, requirement: impl Into<Option<Requirement>>) -> Self {
        Self { requires: requirement.into(), ..self }
    }

    /// Runs `change` with these conditions.
    pub async fn scope<T>(self, change: impl Future<Output = T>) -> T {
        GUARD.scope(self, change).await
    }

    /// The token of the request.
    pub(crate) fn token(&self) -> Option<&IdempotencyToken> {
        self.once.as_ref().map(|(token, ..)| token)
    }

    /// The conditions of the current task.
    pub(super) fn current() -> Self {
        GUARD.try_with(Self::clone).unwrap_or_default()
    }

    /// Returns `true` if changes of the current task have conditions.
    pub(super) fn is_set() -> bool {
        GUARD.try_with(|guard| guard.once.is_some() || guard.requires.is_some()).unwrap_or_default()
    }
}

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
