//! Operations on stacks.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::store::{Guard, IdempotencyToken, Metadata, NewObject, Page, Requirement, StoreError, new_id};
use super::{Actor, Catalog, CatalogError, Result, Stack, Timestamp, now, validation};

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
