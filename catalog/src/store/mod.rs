//! Where a catalog is kept: one trait, a store in one SQLite file and a store in a PostgreSQL database.
//!
//! Every method is one transaction: when it answers, what it did is on the disk, and when it fails nothing of it is
//! there. Rows that were deleted are kept and not found, unless a method says so. Lists are in the order in which the
//! rows were made; ids are made by the caller ([`new_id`]) and grow with time, so that a page ends at an id and the next
//! begins behind it.

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

/// Why a store could not do what it was asked for.
#[derive(Debug)]
pub enum StoreError {
    /// There is no such live row.
    Missing,
    /// A row like it is there already; the name of the constraint, the same for every store.
    Taken(&'static str),
    /// What it refers to is not there; the name of the constraint.
    Dangling(&'static str),
    /// Somebody else was faster: what was expected to be the newest is not ([`NewVersion::expected`], `If-Match`).
    Moved,
    /// The request was carried out before, under the same [`Token`]: the id of what it made then.
    Repeated(Uuid),
    /// The token was used before, for another request.
    TokenReused,
    /// The store itself failed: a disk, a connection. The text is for logs, not for clients.
    Failed(String),
}

/// What a store answers with.
pub type Stored<T> = Result<T, StoreError>;

/// Marks a request that may be sent twice and must be carried out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Who asks, and under which key: tokens of different askers are different.
    pub key: String,
    /// SHA-256 of the request: the same token with another request is an error.
    pub request: String,
}

/// Which rows of a list are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Those behind this id.
    pub after: Option<Uuid>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Which templates are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// All.
    All,
    /// System templates and those of this generator.
    Of(Uuid),
}

/// A version to be made.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// Its id.
    pub id: Uuid,
    /// When.
    pub at: Moment,
    /// Whose it will be.
    pub generator_id: Option<Uuid>,
    /// The name.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// The template.
    pub template_content: String,
    /// The schema.
    pub parameters_schema: String,
    /// SHA-256 of the content.
    pub checksum: String,
    /// The labels and annotations it begins with.
    pub rules: Rules,
    /// What the caller took for the newest live version (`If-Match`): another one is [`StoreError::Moved`].
    pub expected: Option<Uuid>,
}

/// Which labels and annotations a new version begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rules {
    /// Those of this version; without one, those of the newest live version of the name, if there is one.
    Carried(Option<Uuid>),
    /// These.
    Given {
        /// Labels.
        labels: Vec<String>,
        /// Keys and values.
        annotations: Vec<(String, String)>,
    },
}

/// The labels and annotations that a template asks for, or that a stack has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Labels, in the order in which they were added.
    pub labels: Vec<String>,
    /// Keys and values.
    pub annotations: Vec<(String, String)>,
}

/// An object to be made; [`DeploymentObject::sequence_id`] is given by the store.
#[derive(Debug, Clone)]
pub struct NewObject {
    /// Its id.
    pub id: Uuid,
    /// When.
    pub at: Moment,
    /// Into which stack.
    pub stack_id: Uuid,
    /// YAML.
    pub yaml_content: String,
    /// SHA-256 of it.
    pub yaml_checksum: String,
    /// Whether it says that what was deployed before is to go.
    pub is_deletion_marker: bool,
    /// What it was rendered from.
    pub provenance: Option<Provenance>,
}

/// What an instantiation needs to know, read at once.
#[derive(Debug, Clone)]
pub struct Instantiable {
    /// The stack, if it is there.
    pub stack: Option<Stack>,
    /// The version, if it is there.
    pub template: Option<TemplateVersion>,
    /// What the template asks for.
    pub wanted: Marks,
    /// What the stack has.
    pub given: Marks,
}

/// An object that was rendered from a template, with its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The object.
    pub object: DeploymentObject,
    /// What it was rendered from.
    pub provenance: Provenance,
}

/// How many live rows there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Generators.
    pub generators: i64,
    /// Versions of templates.
    pub templates: i64,
    /// Stacks.
    pub stacks: i64,
    /// Deployment objects.
    pub objects: i64,
}

/// A new id: later ids are greater.
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// What a piece of work on a connection is while it is under way.
type Doing<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// Opens the store that is named: `postgres://…` and `postgresql://…` are databases of PostgreSQL (15 or newer);
/// everything else is the path of an SQLite file, with `sqlite:` before it or without; `:memory:` is a store that is gone
/// when it is closed. A file that is not there is made, and the tables in it, or in the database.
///
/// # Errors
/// [`StoreError::Failed`]: there is no such place, it is something else, a newer dropforge wrote it. The text names the
/// file, never the address of a database, which may have a password in it.
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
        Some((kind, _)) => Err(StoreError::Failed(format!("`{kind}://` is no kind of database that is known here"))),
        None => Ok(Arc::new(sqlite::SqliteStore::open(path).await?)),
    }
}

/// A place where a catalog is kept.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Whether it answers.
    async fn ready(&self) -> Stored<()>;

    /// How many live rows there are.
    async fn counts(&self) -> Stored<Counts>;

    /// Ends what is under way and closes the store.
    async fn close(&self);

    /// What the request with this token made, when it was carried out before: `Missing` if it was not, `TokenReused` if
    /// another one was.
    async fn made(&self, token: &Token) -> Stored<Uuid>;

    // Generators and keys.

    /// Adds a generator and its key. `Taken("unique_generator_name")`.
    async fn create_generator(&self, new: &Generator, key: &KeyRow, token: Option<&Token>) -> Stored<Generator>;

    /// A live generator.
    async fn generator(&self, id: Uuid) -> Stored<Generator>;

    /// Live generators.
    async fn generators(&self, page: &Page) -> Stored<Vec<Generator>>;

    /// Changes name, description and `is_active` of a live generator. `Taken("unique_generator_name")`.
    async fn update_generator(&self, to: &Generator) -> Stored<Generator>;

    /// Deletes a generator, its stacks with their objects and its templates, and revokes its keys.
    async fn delete_generator(&self, id: Uuid, at: Moment) -> Stored<()>;

    /// Adds a key. `Taken("api_keys_short_token_key")`, `Dangling("api_keys_generator_id_fkey")`.
    async fn add_key(&self, key: &KeyRow) -> Stored<()>;

    /// Adds a key unless there is a live one of its role already, also when others do so at the same time; answers
    /// whether it was added. `Taken("api_keys_short_token_key")`.
    async fn add_first_key(&self, key: &KeyRow) -> Stored<bool>;

    /// Revokes the keys of a generator and adds this one.
    async fn rotate_key(&self, generator: Uuid, key: &KeyRow, at: Moment) -> Stored<()>;

    /// The live key with this short token.
    async fn key(&self, short_token: &str) -> Stored<KeyRow>;

    /// All keys, revoked ones too.
    async fn keys(&self) -> Stored<Vec<KeyRow>>;

    /// Revokes a live key.
    async fn revoke_key(&self, id: Uuid, at: Moment) -> Stored<()>;

    /// Notes that a generator's key was used.
    async fn touch_generator(&self, id: Uuid, at: Moment) -> Stored<()>;

    // Templates.

    /// Adds a version: its number is one more than the greatest among the live versions of its owner and name, also when
    /// others write at the same time. `Dangling("stack_templates_generator_id_fkey")`.
    async fn create_version(&self, new: &NewVersion, token: Option<&Token>) -> Stored<TemplateVersion>;

    /// A live version.
    async fn template(&self, id: Uuid) -> Stored<TemplateVersion>;

    /// A version, deleted or not: what provenance points at.
    async fn template_ever(&self, id: Uuid) -> Stored<TemplateVersion>;

    /// The newest live version of an owner's template.
    async fn newest(&self, owner: Option<Uuid>, name: &str) -> Stored<TemplateVersion>;

    /// Live versions of one owner's template, the newest first; the page's id is that of the last version seen.
    async fn versions(&self, owner: Option<Uuid>, name: &str, page: &Page) -> Stored<Vec<TemplateVersion>>;

    /// Live versions, of this name only where one is given.
    async fn templates(&self, sight: Sight, name: Option<&str>, page: &Page) -> Stored<Vec<TemplateVersion>>;

    /// Deletes one version.
    async fn delete_template(&self, id: Uuid, at: Moment) -> Stored<()>;

    /// Labels of a live version.
    async fn template_labels(&self, id: Uuid) -> Stored<Vec<TemplateLabel>>;

    /// Adds a label. `Taken("template_labels_template_id_label_key")`.
    async fn add_template_label(&self, new: &TemplateLabel) -> Stored<()>;

    /// Removes a label.
    async fn remove_template_label(&self, id: Uuid, label: &str) -> Stored<()>;

    /// Annotations of a live version.
    async fn template_annotations(&self, id: Uuid) -> Stored<Vec<TemplateAnnotation>>;

    /// Adds an annotation. `Taken("template_annotations_template_id_key_key")`.
    async fn add_template_annotation(&self, new: &TemplateAnnotation) -> Stored<()>;

    /// Removes an annotation.
    async fn remove_template_annotation(&self, id: Uuid, key: &str) -> Stored<()>;

    // Stacks.

    /// Adds a stack. `Taken("unique_stack_name")`, `Dangling("stacks_generator_id_fkey")` (also of a deleted generator).
    async fn create_stack(&self, new: &Stack, token: Option<&Token>) -> Stored<Stack>;

    /// A live stack.
    async fn stack(&self, id: Uuid) -> Stored<Stack>;

    /// Live stacks, of one generator where one is given.
    async fn stacks(&self, generator: Option<Uuid>, page: &Page) -> Stored<Vec<Stack>>;

    /// Changes name, description and generator of a live stack, if it was changed last at `expected` (`If-Match`), where
    /// that is given. `Taken`, `Dangling` as above, `Moved`.
    async fn update_stack(&self, to: &Stack, expected: Option<Moment>) -> Stored<Stack>;

    /// Deletes a stack and its objects and adds the object that says so.
    async fn delete_stack(&self, id: Uuid, marker: &NewObject) -> Stored<()>;

    /// Labels of a live stack.
    async fn stack_labels(&self, id: Uuid) -> Stored<Vec<StackLabel>>;

    /// Adds a label. `Taken("stack_labels_stack_id_label_key")`.
    async fn add_stack_label(&self, new: &StackLabel) -> Stored<()>;

    /// Removes a label.
    async fn remove_stack_label(&self, id: Uuid, label: &str) -> Stored<()>;

    /// Annotations of a live stack.
    async fn stack_annotations(&self, id: Uuid) -> Stored<Vec<StackAnnotation>>;

    /// Adds an annotation. `Taken("unique_stack_annotation")`.
    async fn add_stack_annotation(&self, new: &StackAnnotation) -> Stored<()>;

    /// Removes an annotation.
    async fn remove_stack_annotation(&self, id: Uuid, key: &str) -> Stored<()>;

    // Objects.

    /// What an instantiation needs to know. Nothing is `Missing`: what is not there is `None`.
    async fn instantiable(&self, stack: Uuid, template: Uuid) -> Stored<Instantiable>;

    /// Adds an object and its provenance. `Missing` if its stack is not live.
    async fn create_object(&self, new: &NewObject, token: Option<&Token>) -> Stored<DeploymentObject>;

    /// A live object.
    async fn object(&self, id: Uuid) -> Stored<DeploymentObject>;

    /// Live objects of a stack, the newest first as Brokkr has it: by falling numbers.
    async fn objects(&self, stack: Uuid, page: &Page) -> Stored<Vec<DeploymentObject>>;

    /// What an object, live or not, was rendered from.
    async fn provenance(&self, object: Uuid) -> Stored<Provenance>;

    /// Live objects that were rendered from one of the versions of this owner's template, the newest of each stack only,
    /// in the order of their ids; where `stacks_of` is given, those in the stacks of this generator only.
    async fn instances(
        &self,
        owner: Option<Uuid>,
        name: &str,
        stacks_of: Option<Uuid>,
        page: &Page,
    ) -> Stored<Vec<Instance>>;
}
