//! Operations on stacks, and on the labels and annotations of templates and stacks.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::store::{Guard, IdempotencyToken, Metadata, NewObject, Page, Requirement, StoreError, new_id};
use super::{
    Actor, Catalog, CatalogError, MetadataKind, MetadataOwner, MetadataRow, Result, Stack, Timestamp, now, validation,
};

/// A request to create a stack.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StackInput {
    /// Name, unique among all live stacks.
    pub name: String,
    /// Description.
    #[serde(default)]
    pub description: Option<String>,
    /// Owner.
    pub generator_id: Uuid,
}

impl Catalog {
    /// Lists the live stacks that the actor can read, optionally those of one generator.
    pub async fn stacks(&self, actor: Actor, generator: Option<Uuid>, page: &Page) -> Result<Vec<Stack>> {
        let of = match actor {
            Actor::Admin | Actor::Readonly => generator,
            Actor::Generator(id) if generator.is_none_or(|generator| generator == id) => Some(id),
            _ => return Err(CatalogError::forbidden("stacks_list_denied", "not authorized to list stacks")),
        };
        Ok(self.store().stacks(of, page).await?)
    }

    /// Creates a stack. The flag is `true` if an earlier request with the same idempotency token created it.
    pub async fn create_stack(
        &self,
        actor: Actor,
        new: &StackInput,
        token: Option<&IdempotencyToken>,
    ) -> Result<(Stack, bool)> {
        match actor {
            Actor::Admin => {}
            Actor::Generator(id) if id == new.generator_id => {}
            Actor::Generator(_) => {
                let message = "generator can only create stacks for itself";
                return Err(CatalogError::forbidden("stack_generator_mismatch", message));
            }
            _ => return Err(CatalogError::forbidden("stack_create_denied", "not authorized to create stacks")),
        }
        validation::name(&new.name)?;
        validation::description(new.description.as_deref())?;
        let at = now();
        let stack = Stack {
            id: new_id(),
            created_at: at,
            updated_at: at,
            deleted_at: None,
            name: new.name.clone(),
            description: new.description.clone(),
            generator_id: new.generator_id,
        };
        match Guard::once(token, stack.id, at).scope(self.store().create_stack(&stack)).await {
            Ok(stack) => Ok((stack, false)),
            Err(StoreError::Replayed(id)) => Ok((self.live_stack(id).await?, true)),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a live stack.
    pub async fn stack(&self, actor: Actor, id: Uuid) -> Result<Stack> {
        let stack = self.live_stack(id).await?;
        actor.require_stack_read(&stack)?;
        Ok(stack)
    }

    /// Changes the name and description of a stack, and its owner if the actor is an administrator. Ignores the other
    /// fields of `to`. `expected` is the time of the last change that the caller has seen.
    pub async fn update_stack(&self, actor: Actor, id: Uuid, to: &Stack, expected: Option<Timestamp>) -> Result<Stack> {
        if to.id != id {
            return Err(CatalogError::invalid("stack_id_mismatch", "stack ID mismatch"));
        }
        let before = self.live_stack(id).await?;
        actor.require_stack_change(&before)?;
        if actor != Actor::Admin && to.generator_id != before.generator_id {
            let message = "generator can only keep stacks for itself";
            return Err(CatalogError::forbidden("stack_generator_mismatch", message));
        }
        validation::name(&to.name)?;
        validation::description(to.description.as_deref())?;
        let (name, description, owner) = (to.name.clone(), to.description.clone(), before.generator_id);
        let stack = Stack { name, description, generator_id: to.generator_id, updated_at: now(), ..before };
        let guard = Guard::requiring(expected.map(|at| Requirement::Stack(id, at)));
        let stack = guard.scope(self.store().update_stack(&stack)).await.map_err(stack_not_found())?;
        if stack.generator_id != owner {
            self.recount(Some(owner));
            self.recount(Some(stack.generator_id));
        }
        Ok(stack)
    }

    /// Deletes a stack and its objects, and adds a deletion marker. `expected` is the time of the last change that the
    /// caller has seen.
    pub async fn delete_stack(&self, actor: Actor, id: Uuid, expected: Option<Timestamp>) -> Result<()> {
        let stack = self.live_stack(id).await?;
        actor.require_stack_change(&stack)?;
        let marker = NewObject::new(id, String::new(), true);
        let guard = Guard::requiring(expected.map(|at| Requirement::Stack(id, at)));
        guard.scope(self.store().delete_stack(id, &marker)).await.map_err(stack_not_found())?;
        self.recount(Some(stack.generator_id));
        Ok(())
    }

    /// The labels and annotations of a stack that the actor can read.
    pub(super) async fn stack_metadata(&self, actor: Actor, id: Uuid) -> Result<Metadata> {
        let rows = self.store().instantiation_rows(id, Uuid::nil()).await?;
        let stack = rows.stack.ok_or_else(|| stack_not_found()(StoreError::NotFound))?;
        actor.require_stack_read(&stack)?;
        Ok(rows.stack_metadata)
    }

    pub(super) async fn live_stack(&self, id: Uuid) -> Result<Stack> {
        self.store().stack(id).await.map_err(stack_not_found())
    }
}

pub(super) fn stack_not_found() -> impl Fn(StoreError) -> CatalogError {
    CatalogError::or_not_found("stack_not_found", "stack not found")
}

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
