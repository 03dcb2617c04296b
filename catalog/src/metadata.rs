//! Operations on the labels and annotations of templates and stacks.

use uuid::Uuid;

use super::store::{Guard, IdempotencyToken, Requirement, StoreError, new_id};
use super::{Actor, Catalog, CatalogError, MetadataKind, MetadataOwner, MetadataRow, Result, now, validation};

impl Catalog {
    /// Lists the labels or the annotations of a template or a stack.
    pub async fn metadata(&self, actor: Actor, owner: MetadataOwner, kind: MetadataKind) -> Result<Vec<MetadataRow>> {
        match owner {
            MetadataOwner::Template(id) => actor.require_read(&self.live_template(id).await?)?,
            MetadataOwner::Stack(id) => {
                actor.require_stack_read(&self.live_stack(id).await?).map_err(not_accessible)?;
            }
        }
        self.store().metadata(owner, kind).await.map_err(owner_not_found(owner))
    }

    /// Adds a label, or an annotation if there is a value. The flag is `true` if an earlier request with the same
    /// idempotency token added it.
    pub async fn add_metadata(
        &self,
        actor: Actor,
        owner: MetadataOwner,
        (key, value): (&str, Option<&str>),
        token: Option<&IdempotencyToken>,
    ) -> Result<(MetadataRow, bool)> {
        self.require_metadata_change(actor, owner).await?;
        value.map_or_else(|| validation::label(key), |value| validation::annotation(key, value))?;
        let (key, value, at) = (key.to_owned(), value.map(str::to_owned), now());
        let row = MetadataRow { id: new_id(), owner, key, value, created_at: Some(at) };
        match Guard::once(token, row.id, at).scope(self.store().add_metadata(&row)).await {
            Ok(()) => Ok((row, false)),
            Err(StoreError::Replayed(id)) => Ok((self.added_metadata(owner, row.kind(), id).await?, true)),
            Err(error) => Err(owner_not_found(owner)(error)),
        }
    }

    /// Removes a label or an annotation. `expected` is the ID of its row if that must not have changed.
    pub async fn remove_metadata(
        &self,
        actor: Actor,
        owner: MetadataOwner,
        (kind, key): (MetadataKind, &str),
        expected: Option<Uuid>,
    ) -> Result<()> {
        self.require_metadata_change(actor, owner).await?;
        let guard = Guard::requiring(expected.map(|row| Requirement::Metadata(owner, kind, row)));
        guard.scope(self.store().remove_metadata(owner, kind, key)).await.map_err(not_found(owner, kind))
    }

    /// The row that an earlier request added.
    async fn added_metadata(&self, owner: MetadataOwner, kind: MetadataKind, id: Uuid) -> Result<MetadataRow> {
        let missing = owner_not_found(owner);
        let rows = self.store().metadata(owner, kind).await.map_err(&missing)?;
        rows.into_iter().find(|row| row.id == id).ok_or_else(|| missing(StoreError::NotFound))
    }

    async fn require_metadata_change(&self, actor: Actor, owner: MetadataOwner) -> Result<()> {
        match owner {
            MetadataOwner::Template(id) => actor.require_change(&self.live_template(id).await?, "modify"),
            MetadataOwner::Stack(id) => actor.require_stack_change(&self.live_stack(id).await?).map_err(not_accessible),
        }
    }
}

fn owner_not_found(owner: MetadataOwner) -> impl Fn(StoreError) -> CatalogError {
    match owner {
        MetadataOwner::Template(_) => CatalogError::or_not_found("template_not_found", "template not found"),
        MetadataOwner::Stack(_) => CatalogError::or_not_found("stack_not_found", "stack not found"),
    }
}

fn not_found(owner: MetadataOwner, kind: MetadataKind) -> impl Fn(StoreError) -> CatalogError {
    let (code, message) = match (owner, kind) {
        (MetadataOwner::Template(_), MetadataKind::Label) => ("template_label_not_found", "label not found"),
        (MetadataOwner::Template(_), MetadataKind::Annotation) => {
            ("template_annotation_not_found", "annotation not found")
        }
        (MetadataOwner::Stack(_), MetadataKind::Label) => ("stack_label_not_found", "label not found"),
        (MetadataOwner::Stack(_), MetadataKind::Annotation) => ("stack_annotation_not_found", "annotation not found"),
    };
    CatalogError::or_not_found(code, message)
}

/// Labels and annotations of stacks have an error code of their own.
fn not_accessible(_: CatalogError) -> CatalogError {
    CatalogError::forbidden("stack_not_accessible", "not authorized to access this stack")
}
