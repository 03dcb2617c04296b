//! Stores of a catalog: one trait, with one implementation for an SQLite file and one for a PostgreSQL database.
//!
//! Every method is one transaction. When it returns, its changes are on disk. When it fails, nothing has changed.
//! Deleted rows are kept but not found, unless a method says otherwise. Lists are in creation order. Callers make the
//! IDs ([`new_id`]), which increase with time, so a page can end at an ID and the next one begin after it.
//!
//! Both databases share connections that callers use in turns, and migrations of the schema.

mod postgres;
mod sqlite;
mod types;

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use percent_encoding::percent_decode_str;
use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use uuid::Uuid;

use crate::access::AuditEntry;
use crate::fair::{Gate, Identity, Load, Pass};
use crate::model::{
    DeploymentObject, Generator, KeyRow, MetadataKind, MetadataOwner, MetadataRow, Provenance, Stack, TemplateVersion,
    Timestamp,
};
use postgres::PostgresStore;
use sqlite::SqliteStore;
pub use sqlite::{Restored, back_up, restore};
pub use types::{
    Counts, Guard, IdempotencyToken, InitialMetadata, Instance, InstantiationRows, Metadata, NewObject, NewVersion,
    Outage, Page, Purged, Requirement, StoreError, StoreResult, TemplateSearch, Usage, new_id,
};

/// The statements of lists, lookups and counts of SQLite and of PostgreSQL, each with its name and the types of its
/// parameters in PostgreSQL.
#[doc(hidden)]
pub fn statements() -> [&'static [(&'static str, &'static str, &'static str)]; 2] {
    [sqlite::STATEMENTS, postgres::STATEMENTS]
}

/// A store of a catalog. A [`Guard`] makes changes conditional.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Checks that the store responds and can be written.
    async fn ready(&self) -> StoreResult<()>;

    /// Counts the live rows.
    async fn counts(&self) -> StoreResult<Counts>;

    /// Counts the live rows of a generator and the bytes of their texts.
    async fn usage(&self, generator: Uuid) -> StoreResult<Usage>;

    /// Removes rows for good that were deleted before a time, about `most` of them: stacks with their objects, and
    /// template versions that no remaining record names. Also removes entries of the audit trail from before another
    /// time, if there is one, at most `most`.
    async fn purge(&self, before: Timestamp, audit_before: Option<Timestamp>, most: u32) -> StoreResult<Purged>;

    /// The use of the store's connections, which callers share in turns.
    fn load(&self) -> Load;

    /// Finishes current work and closes the store.
    async fn close(&self);

    /// Returns the ID that the request with this token created. `NotFound` if the request was not carried out,
    /// `TokenReused` if the token belongs to a different request.
    async fn replayed(&self, token: &IdempotencyToken) -> StoreResult<Uuid>;

    /// Returns the salt of the key that the request with this token created, if it created one. `NotFound` if the
    /// request was not carried out, `TokenReused` if the token belongs to a different request.
    async fn salt(&self, token: &IdempotencyToken) -> StoreResult<Option<String>>;

    // Generators and keys.

    /// Adds a generator and its key. `UniqueViolation("unique_generator_name")`.
    async fn create_generator(&self, new: &Generator, key: &KeyRow) -> StoreResult<Generator>;

    /// Returns a live generator.
    async fn generator(&self, id: Uuid) -> StoreResult<Generator>;

    /// Lists live generators.
    async fn generators(&self, page: &Page) -> StoreResult<Vec<Generator>>;

    /// Changes name, description and `is_active` of a live generator. `UniqueViolation("unique_generator_name")`.
    async fn update_generator(&self, to: &Generator) -> StoreResult<Generator>;

    /// Deletes a generator, its stacks with their objects and its templates, and revokes its keys.
    async fn delete_generator(&self, id: Uuid, at: Timestamp) -> StoreResult<()>;

    /// Adds a key. `UniqueViolation("api_keys_short_token_key")`, `ForeignKeyViolation("api_keys_generator_id_fkey")`.
    async fn add_key(&self, key: &KeyRow) -> StoreResult<()>;

    /// Adds a key unless a live key of its role exists, even under concurrent calls. Returns `true` if it was added.
    /// `UniqueViolation("api_keys_short_token_key")`.
    async fn add_first_key(&self, key: &KeyRow) -> StoreResult<bool>;

    /// Revokes the keys of a generator and adds a new one.
    async fn rotate_key(&self, generator: Uuid, key: &KeyRow, at: Timestamp) -> StoreResult<()>;

    /// Returns the live key with a short token. Keys of inactive generators are not live.
    async fn key(&self, short_token: &str) -> StoreResult<KeyRow>;

    /// Lists all keys, including revoked ones.
    async fn keys(&self) -> StoreResult<Vec<KeyRow>>;

    /// Revokes a live key.
    async fn revoke_key(&self, id: Uuid, at: Timestamp) -> StoreResult<()>;

    /// Records the use of a generator's key.
    async fn touch_generator(&self, id: Uuid, at: Timestamp) -> StoreResult<()>;

    /// Records the use of a key, unless one in the minute before `at` is recorded.
    async fn touch_key(&self, id: Uuid, at: Timestamp) -> StoreResult<()>;

    /// Lists the audit trail, newest first, optionally of one object. The page continues before the last entry seen.
    async fn audit(&self, object: Option<Uuid>, page: &Page) -> StoreResult<Vec<AuditEntry>>;

    // Templates.

    /// Adds a version. Its number is one more than the greatest among the live versions of its owner and name, even
    /// under concurrent calls. `ForeignKeyViolation("stack_templates_generator_id_fkey")`.
    async fn create_version(&self, new: &NewVersion) -> StoreResult<TemplateVersion>;

    /// Returns a live version.
    async fn template(&self, id: Uuid) -> StoreResult<TemplateVersion>;

    /// Returns a version, even if it is deleted. Provenance may refer to deleted versions.
    async fn template_including_deleted(&self, id: Uuid) -> StoreResult<TemplateVersion>;

    /// Returns the newest live version of an owner's template.
    async fn newest(&self, owner: Option<Uuid>, name: &str) -> StoreResult<TemplateVersion>;

    /// Lists the live versions of an owner's template, newest first. The page continues after the last version seen.
    async fn versions(&self, owner: Option<Uuid>, name: &str, page: &Page) -> StoreResult<Vec<TemplateVersion>>;

    /// Lists live versions, optionally those of one name. Only those of `visible` and the system, if it is a generator.
    async fn templates(
        &self,
        visible: Option<Uuid>,
        name: Option<&str>,
        page: &Page,
    ) -> StoreResult<Vec<TemplateVersion>>;

    /// Searches live versions by name, of the owners that [`Store::templates`] has. The result is ordered by name, without regard to the case of ASCII letters, and
    /// by ID. The page continues after the last version seen.
    async fn search_templates(
        &self,
        visible: Option<Uuid>,
        search: &TemplateSearch,
        page: &Page,
    ) -> StoreResult<Vec<TemplateVersion>>;

    /// Deletes one version.
    async fn delete_template(&self, id: Uuid, at: Timestamp) -> StoreResult<()>;

    // Stacks.

    /// Adds a stack. `UniqueViolation("unique_stack_name")`; `ForeignKeyViolation("stacks_generator_id_fkey")`, also if the generator is
    /// deleted.
    async fn create_stack(&self, new: &Stack) -> StoreResult<Stack>;

    /// Returns a live stack.
    async fn stack(&self, id: Uuid) -> StoreResult<Stack>;

    /// Lists live stacks, optionally those of one generator.
    async fn stacks(&self, generator: Option<Uuid>, page: &Page) -> StoreResult<Vec<Stack>>;

    /// Changes name, description and generator of a live stack. `UniqueViolation` and `ForeignKeyViolation` as for
    /// `create_stack`.
    async fn update_stack(&self, to: &Stack) -> StoreResult<Stack>;

    /// Deletes a stack and its objects, and adds a deletion marker.
    async fn delete_stack(&self, id: Uuid, marker: &NewObject) -> StoreResult<()>;

    // Labels and annotations.

    /// Lists the labels or the annotations of a live owner.
    async fn metadata(&self, owner: MetadataOwner, kind: MetadataKind) -> StoreResult<Vec<MetadataRow>>;

    /// Adds a label or an annotation. `UniqueViolation("template_labels_template_id_label_key")`,
    /// `UniqueViolation("template_annotations_template_id_key_key")`, `UniqueViolation("stack_labels_stack_id_label_key")`,
    /// `UniqueViolation("unique_stack_annotation")`.
    async fn add_metadata(&self, new: &MetadataRow) -> StoreResult<()>;

    /// Removes a label or an annotation.
    async fn remove_metadata(&self, owner: MetadataOwner, kind: MetadataKind, key: &str) -> StoreResult<()>;

    // Objects.

    /// Reads the rows that an instantiation needs. Rows that do not exist are `None`, never `NotFound`.
    async fn instantiation_rows(&self, stack: Uuid, template: Uuid) -> StoreResult<InstantiationRows>;

    /// Adds an object and its provenance. `NotFound` if its stack is not live.
    async fn create_object(&self, new: &NewObject) -> StoreResult<DeploymentObject>;

    /// Returns a live object.
    async fn object(&self, id: Uuid) -> StoreResult<DeploymentObject>;

    /// Lists the live objects of a stack by descending sequence number, as Brokkr does.
    async fn objects(&self, stack: Uuid, page: &Page) -> StoreResult<Vec<DeploymentObject>>;

    /// Returns the provenance of an object, even if the object is deleted.
    async fn provenance(&self, object: Uuid) -> StoreResult<Provenance>;

    /// Lists the live objects that were rendered from any version of an owner's template: the newest of each stack, in
    /// the order of the stacks' IDs. The page continues after the stack of the last object seen. With `stacks_of`, only those in stacks of this generator.
    async fn instances(
        &self,
        owner: Option<Uuid>,
        name: &str,
        stacks_of: Option<Uuid>,
        page: &Page,
    ) -> StoreResult<Vec<Instance>>;
}

/// Opens a store. `postgres://…` and `postgresql://…` are PostgreSQL databases (15 or newer). Anything else is the path
/// of an SQLite file, with or without `sqlite:` before it; `:memory:` is a temporary store. Creates a missing file and
/// missing tables.
///
/// # Errors
/// [`StoreError::Failed`] if the store does not exist, is not a catalog, or was written by a newer version of dropforge.
/// The text names the file, but never the address of a database, which may contain a password.
///
/// # Examples
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let store = dropforge_catalog::store::open(":memory:").await.unwrap();
/// assert_eq!(store.counts().await.unwrap().templates, 0);
/// store.close().await;
/// # });
/// ```
pub async fn open(db: &str) -> StoreResult<Arc<dyn Store>> {
    match file(db)? {
        None => Ok(Arc::new(PostgresStore::open(db).await?)),
        Some(path) => Ok(Arc::new(SqliteStore::open(path).await?)),
    }
}

/// Returns the path of the SQLite file that a database address stands for, or `None` for a PostgreSQL database.
///
/// # Errors
/// [`StoreError::Failed`] for another kind of database.
pub fn file(db: &str) -> StoreResult<Option<&str>> {
    if db.starts_with("postgres://") || db.starts_with("postgresql://") {
        return Ok(None);
    }
    let path = db.strip_prefix("sqlite:").map_or(db, |path| path.strip_prefix("//").unwrap_or(path));
    match path.split_once("://") {
        Some((kind, _)) => {
            Err(StoreError::Failed(format!("unknown kind of database `{kind}://`: use `postgres://` or a file")))
        }
        None => Ok(Some(path)),
    }
}

/// Returns the address of a database for messages: without user, password and options. The path of a file stays as it
/// is. If the password cannot be separated from the rest, only the kind of database is left.
///
/// ```
/// use dropforge_catalog::store::address;
/// assert_eq!(address("postgres://me:secret@db:5432/catalog?sslmode=require"), "postgres://db:5432/catalog");
/// assert_eq!(address("catalog.db"), "catalog.db");
/// ```
pub fn address(db: &str) -> String {
    let Some((kind, rest)) = db.split_once("://") else { return db.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, further) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An `@` further on may end a password that contains `/`, `?` or `#`.
    if further.contains('@') {
        return format!("{kind}://…");
    }
    let path = further.split(['?', '#']).next().unwrap_or_default();
    format!("{kind}://{}{path}", without_text_port(host))
}

/// Removes a port that is no number: in an address without a host it is a password.
fn without_text_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Replaces the password in the address `db` by `***` in a message.
pub fn without_password(db: &str, message: &str) -> String {
    let mut message = message.to_owned();
    for password in passwords(db) {
        message = message.replace(&password, "***");
    }
    message
}

/// Everything in an address that may be a password, as written and decoded, the longest first.
fn passwords(db: &str) -> Vec<String> {
    let Some((_, rest)) = db.split_once("://") else { return Vec::new() };
    let user = rest.rsplit_once('@').map_or(rest, |(user, _)| user);
    let options = rest.split(['?', '&', '#']).filter_map(|option| option.split_once('='));
    let options = options.filter(|(name, _)| name.contains("password")).map(|(_, value)| value);
    let written = user.split_once(':').map(|(_, password)| password).into_iter().chain(options);
    let both = written.flat_map(|text| [text.to_owned(), percent_decode_str(text).decode_utf8_lossy().into_owned()]);
    let mut found: Vec<_> = both.filter(|text| !text.is_empty()).collect();
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found
}

/// Connections of a pool. Callers get them in turns, and none gets all of them. Work of the service itself, such as
/// looking up keys, does not queue: the pool has some more connections for it.
#[derive(Debug)]
struct Connections(Gate);

impl Connections {
    /// Shares connections for writing, which mostly wait for the disk: a caller gets at most two thirds.
    fn for_writing(count: usize) -> Self {
        Self(Gate::new(count, (count * 2 / 3).max(1)))
    }

    /// Shares connections for reading, which keep a core busy with rows: a caller gets at most two thirds, and leaves a
    /// core to others.
    fn for_reading(count: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self(Gate::new(count, (count * 2 / 3).clamp(1, cores - 1)))
    }

    /// Waits for the caller's turn. The connection may be used while the result lives.
    async fn turn(&self) -> Option<Pass> {
        if Identity::current() == Identity::Service { None } else { self.0.pass().await }
    }

    /// The current use.
    fn load(&self) -> Load {
        self.0.load()
    }
}

/// Migrations: number and statements. Released migrations never change.
type Migrations = [(i64, &'static str)];

/// Creates the migrator.
fn migrator(migrations: &Migrations) -> Migrator {
    let migration = |(version, sql): &(i64, &'static str)| {
        Migration::new(*version, "catalog".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(migrations.iter().map(migration).collect())
}

/// Describes why migrations could not be applied to `what`.
fn describe(what: &str, error: MigrateError) -> StoreError {
    StoreError::Failed(match error {
        MigrateError::VersionMissing(version) => {
            format!("{what} has schema {version}, written by a newer version of dropforge")
        }
        MigrateError::VersionMismatch(version) => {
            format!("{what} is not a catalog of this version of dropforge: its schema {version} differs")
        }
        error => format!("cannot create the tables of {what}: {error}"),
    })
}

/// The future of work on a connection.
type WorkFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_an_address_shows_its_password() {
        for (db, shown) in [
            ("postgres://u:p@host/db", "postgres://host/db"),
            ("postgres://u:se@cret@host:5433/db", "postgres://host:5433/db"),
            ("postgres://u:se/cret@host/db", "postgres://…"),
            ("postgres://u:se?cret@host/db", "postgres://…"),
            ("postgres://u:se#cret@host/db", "postgres://…"),
            ("postgres://host/db?user=u&password=secret", "postgres://host/db"),
            ("postgres://host/db?password=se@cret", "postgres://…"),
            ("postgres://u:x@host/db?password=se@cret", "postgres://…"),
            ("postgres://u:secret", "postgres://u"),
            ("postgres://[::1]:5432/db", "postgres://[::1]:5432/db"),
            ("postgres://[::1]/db", "postgres://[::1]/db"),
            ("mysql://u:secret@host/db", "mysql://host/db"),
            ("postgres://", "postgres://"),
            ("a@b.db", "a@b.db"),
            ("", ""),
        ] {
            assert_eq!(address(db), shown, "{db}");
        }
    }

    #[test]
    fn messages_show_no_password() {
        let told = |db: &str| without_password(db, "cannot use `se@cret` or `se%40cret` of u");
        assert_eq!(told("postgres://u:se%40cret@host/db"), "cannot use `***` or `***` of u");
        assert_eq!(told("postgres://host/db?password=se%40cret&user=u"), "cannot use `***` or `***` of u");
        assert_eq!(told("postgres://u:se@cret@host/db"), "cannot use `***` or `se%40cret` of u");
        assert_eq!(told("postgres://u@host/db"), told("catalog.db"));
    }
}

#[cfg(test)]
mod connections_tests {
    use std::time::Duration;

    use super::*;
    use crate::Actor;

    #[tokio::test]
    async fn connections_are_left_for_others_and_for_the_service() {
        let connections = Connections::for_writing(3);
        let greedy = Identity::Caller(Actor::Readonly);
        let turn = || async { tokio::time::timeout(Duration::from_millis(1), connections.turn()).await.ok() };
        let held = [greedy.scope(turn()).await.flatten(), greedy.scope(turn()).await.flatten()];
        assert!(held.iter().all(Option::is_some) && greedy.scope(turn()).await.is_none());
        let other = Identity::Caller(Actor::Admin).scope(turn()).await.flatten();
        assert_eq!((other.is_some(), connections.load().running), (true, 3));
        assert!(Identity::Caller(Actor::Agent).scope(turn()).await.is_none(), "the last is the service's");
        assert!(turn().await.is_some_and(|pass| pass.is_none()));
    }
}
