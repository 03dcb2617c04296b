//! Stores of a catalog: one trait, with one implementation for an SQLite file and one for a PostgreSQL database.
//!
//! Every method is one transaction. When it returns, its changes are on disk. When it fails, nothing has changed.
//! Deleted rows are kept but not found, unless a method says otherwise. Lists are in creation order. Callers make the
//! IDs ([`new_id`]), which increase with time, so a page can end at an ID and the next one begin after it.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::model::{
    DeploymentObject, Generator, KeyRow, Moment, Provenance, Stack, StackAnnotation, StackLabel, TemplateAnnotation,
    TemplateLabel, TemplateVersion,
};

mod errors;
mod postgres;
mod schema;
mod sqlite;

/// An error of a store.
#[derive(Debug)]
pub enum StoreError {
    /// No such live row exists.
    Missing,
    /// An equal row exists. Contains the name of the constraint, the same for every store.
    Taken(&'static str),
    /// A referenced row does not exist. Contains the name of the constraint.
    Dangling(&'static str),
    /// Another request was faster: the expected version is no longer the newest ([`NewVersion::expected`], `If-Match`).
    Moved,
    /// A request with the same [`Token`] was carried out before. Contains the ID of the row that it created.
    Repeated(Uuid),
    /// The token belongs to a different request.
    TokenReused,
    /// The store failed, for example a disk or a connection. The text is for logs, not for clients.
    Failed(String),
}

/// The result of a store method.
pub type Stored<T> = Result<T, StoreError>;

/// An idempotency token: a request that is sent twice with the same token is carried out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The caller's key and its idempotency key, so that callers cannot reuse each other's tokens.
    pub key: String,
    /// SHA-256 of the request. A different request with the same token is an error.
    pub request: String,
}

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// ID of the last row of the previous page.
    pub after: Option<Uuid>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// The templates that an actor can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// All templates.
    All,
    /// System templates and those of a generator.
    Of(Uuid),
}

/// A version to create.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// ID.
    pub id: Uuid,
    /// Creation time.
    pub at: Moment,
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
    /// SHA-256 of the template text.
    pub checksum: String,
    /// Initial labels and annotations.
    pub rules: Rules,
    /// ID of the version that must still be the newest (`If-Match`). If it is not, the store returns
    /// [`StoreError::Moved`].
    pub expected: Option<Uuid>,
}

/// The initial labels and annotations of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rules {
    /// Those of this version. By default those of the newest live version of the name, if there is one.
    Carried(Option<Uuid>),
    /// The given ones.
    Given {
        /// Labels.
        labels: Vec<String>,
        /// Keys and values.
        annotations: Vec<(String, String)>,
    },
}

/// The labels and annotations that a template requires, or that a stack has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
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
    pub at: Moment,
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

/// The rows that an instantiation needs, from one snapshot.
#[derive(Debug, Clone)]
pub struct Instantiable {
    /// The stack, if it exists.
    pub stack: Option<Stack>,
    /// The template version, if it exists.
    pub template: Option<TemplateVersion>,
    /// Labels and annotations of the template.
    pub wanted: Marks,
    /// Labels and annotations of the stack.
    pub given: Marks,
}

/// A rendered object and its provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The object.
    pub object: DeploymentObject,
    /// The provenance.
    pub provenance: Provenance,
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

/// Generates an ID that is greater than all earlier ones.
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// The future of work on a connection.
type Doing<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

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
pub async fn open(db: &str) -> Stored<Arc<dyn Store>> {
    if db.starts_with("postgres://") || db.starts_with("postgresql://") {
        return Ok(Arc::new(postgres::PostgresStore::open(db).await?));
    }
    let path = db.strip_prefix("sqlite:").map_or(db, |path| path.strip_prefix("//").unwrap_or(path));
    match path.split_once("://") {
        Some((kind, _)) => {
            Err(StoreError::Failed(format!("unknown kind of database `{kind}://`: use `postgres://` or a file")))
        }
        None => Ok(Arc::new(sqlite::SqliteStore::open(path).await?)),
    }
}

/// A store of a catalog.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Checks that the store responds.
    async fn ready(&self) -> Stored<()>;

    /// Counts the live rows.
    async fn counts(&self) -> Stored<Counts>;

    /// Finishes current work and closes the store.
    async fn close(&self);

    /// Returns the ID that the request with this token created. `Missing` if the request was not carried out,
    /// `TokenReused` if the token belongs to a different request.
    async fn made(&self, token: &Token) -> Stored<Uuid>;

    // Generators and keys.

    /// Adds a generator and its key. `Taken("unique_generator_name")`.
    async fn create_generator(&self, new: &Generator, key: &KeyRow, token: Option<&Token>) -> Stored<Generator>;

    /// Returns a live generator.
    async fn generator(&self, id: Uuid) -> Stored<Generator>;

    /// Lists live generators.
    async fn generators(&self, page: &Page) -> Stored<Vec<Generator>>;

    /// Changes name, description and `is_active` of a live generator. `Taken("unique_generator_name")`.
    async fn update_generator(&self, to: &Generator) -> Stored<Generator>;

    /// Deletes a generator, its stacks with their objects and its templates, and revokes its keys.
    async fn delete_generator(&self, id: Uuid, at: Moment) -> Stored<()>;

    /// Adds a key. `Taken("api_keys_short_token_key")`, `Dangling("api_keys_generator_id_fkey")`.
    async fn add_key(&self, key: &KeyRow) -> Stored<()>;

    /// Adds a key unless a live key of its role exists, even under concurrent calls. Returns `true` if it was added.
    /// `Taken("api_keys_short_token_key")`.
    async fn add_first_key(&self, key: &KeyRow) -> Stored<bool>;

    /// Revokes the keys of a generator and adds a new one.
    async fn rotate_key(&self, generator: Uuid, key: &KeyRow, at: Moment) -> Stored<()>;

    /// Returns the live key with a short token.
    async fn key(&self, short_token: &str) -> Stored<KeyRow>;

    /// Lists all keys, including revoked ones.
    async fn keys(&self) -> Stored<Vec<KeyRow>>;

    /// Revokes a live key.
    async fn revoke_key(&self, id: Uuid, at: Moment) -> Stored<()>;

    /// Records the use of a generator's key.
    async fn touch_generator(&self, id: Uuid, at: Moment) -> Stored<()>;

    // Templates.

    /// Adds a version. Its number is one more than the greatest among the live versions of its owner and name, even
    /// under concurrent calls. `Dangling("stack_templates_generator_id_fkey")`.
    async fn create_version(&self, new: &NewVersion, token: Option<&Token>) -> Stored<TemplateVersion>;

    /// Returns a live version.
    async fn template(&self, id: Uuid) -> Stored<TemplateVersion>;

    /// Returns a version, even if it is deleted. Provenance may refer to deleted versions.
    async fn template_ever(&self, id: Uuid) -> Stored<TemplateVersion>;

    /// Returns the newest live version of an owner's template.
    async fn newest(&self, owner: Option<Uuid>, name: &str) -> Stored<TemplateVersion>;

    /// Lists the live versions of an owner's template, newest first. The page continues after the last version seen.
    async fn versions(&self, owner: Option<Uuid>, name: &str, page: &Page) -> Stored<Vec<TemplateVersion>>;

    /// Lists live versions, optionally those of one name.
    async fn templates(&self, sight: Sight, name: Option<&str>, page: &Page) -> Stored<Vec<TemplateVersion>>;

    /// Deletes one version.
    async fn delete_template(&self, id: Uuid, at: Moment) -> Stored<()>;

    /// Lists the labels of a live version.
    async fn template_labels(&self, id: Uuid) -> Stored<Vec<TemplateLabel>>;

    /// Adds a label. `Taken("template_labels_template_id_label_key")`.
    async fn add_template_label(&self, new: &TemplateLabel) -> Stored<()>;

    /// Removes a label.
    async fn remove_template_label(&self, id: Uuid, label: &str) -> Stored<()>;

    /// Lists the annotations of a live version.
    async fn template_annotations(&self, id: Uuid) -> Stored<Vec<TemplateAnnotation>>;

    /// Adds an annotation. `Taken("template_annotations_template_id_key_key")`.
    async fn add_template_annotation(&self, new: &TemplateAnnotation) -> Stored<()>;

    /// Removes an annotation.
    async fn remove_template_annotation(&self, id: Uuid, key: &str) -> Stored<()>;

    // Stacks.

    /// Adds a stack. `Taken("unique_stack_name")`; `Dangling("stacks_generator_id_fkey")`, also if the generator is
    /// deleted.
    async fn create_stack(&self, new: &Stack, token: Option<&Token>) -> Stored<Stack>;

    /// Returns a live stack.
    async fn stack(&self, id: Uuid) -> Stored<Stack>;

    /// Lists live stacks, optionally those of one generator.
    async fn stacks(&self, generator: Option<Uuid>, page: &Page) -> Stored<Vec<Stack>>;

    /// Changes name, description and generator of a live stack, if its last change was at `expected` (`If-Match`) or
    /// that is `None`. `Taken` and `Dangling` as for `create_stack`, `Moved`.
    async fn update_stack(&self, to: &Stack, expected: Option<Moment>) -> Stored<Stack>;

    /// Deletes a stack and its objects, and adds a deletion marker.
    async fn delete_stack(&self, id: Uuid, marker: &NewObject) -> Stored<()>;

    /// Lists the labels of a live stack.
    async fn stack_labels(&self, id: Uuid) -> Stored<Vec<StackLabel>>;

    /// Adds a label. `Taken("stack_labels_stack_id_label_key")`.
    async fn add_stack_label(&self, new: &StackLabel) -> Stored<()>;

    /// Removes a label.
    async fn remove_stack_label(&self, id: Uuid, label: &str) -> Stored<()>;

    /// Lists the annotations of a live stack.
    async fn stack_annotations(&self, id: Uuid) -> Stored<Vec<StackAnnotation>>;

    /// Adds an annotation. `Taken("unique_stack_annotation")`.
    async fn add_stack_annotation(&self, new: &StackAnnotation) -> Stored<()>;

    /// Removes an annotation.
    async fn remove_stack_annotation(&self, id: Uuid, key: &str) -> Stored<()>;

    // Objects.

    /// Reads the rows that an instantiation needs. Rows that do not exist are `None`, never `Missing`.
    async fn instantiable(&self, stack: Uuid, template: Uuid) -> Stored<Instantiable>;

    /// Adds an object and its provenance. `Missing` if its stack is not live.
    async fn create_object(&self, new: &NewObject, token: Option<&Token>) -> Stored<DeploymentObject>;

    /// Returns a live object.
    async fn object(&self, id: Uuid) -> Stored<DeploymentObject>;

    /// Lists the live objects of a stack by descending sequence number, as Brokkr does.
    async fn objects(&self, stack: Uuid, page: &Page) -> Stored<Vec<DeploymentObject>>;

    /// Returns the provenance of an object, even if the object is deleted.
    async fn provenance(&self, object: Uuid) -> Stored<Provenance>;

    /// Lists the live objects that were rendered from any version of an owner's template: the newest of each stack, in
    /// the order of their IDs. With `stacks_of`, only those in stacks of this generator.
    async fn instances(
        &self,
        owner: Option<Uuid>,
        name: &str,
        stacks_of: Option<Uuid>,
        page: &Page,
    ) -> Stored<Vec<Instance>>;
}
