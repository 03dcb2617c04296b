//! The interface of stores.

use async_trait::async_trait;
use uuid::Uuid;

use super::error::StoreResult;
use super::types::{
    Counts, IdempotencyToken, Instance, InstantiationRows, NewObject, NewVersion, Page, Purged, TemplateSearch, Usage,
};
use crate::audit::AuditEntry;
use crate::fair::Load;
use crate::model::{
    DeploymentObject, Generator, KeyRow, MetadataKind, MetadataOwner, MetadataRow, Provenance, Stack, TemplateVersion,
    Timestamp,
};

/// A store of a catalog. A [`Guard`](super::Guard) makes changes conditional.
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
