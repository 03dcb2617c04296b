//! Operations on stacks.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::store::{Marks, NewObject, Page, StoreError, Token, new_id};
use super::{Actor, Catalog, Moment, Refusal, Result, Stack, StackAnnotation, StackLabel, checksum, names, now};

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
    pub async fn stacks(&self, who: Actor, generator: Option<Uuid>, page: &Page) -> Result<Vec<Stack>> {
        let of = match who {
            Actor::Admin | Actor::Readonly => generator,
            Actor::Generator(id) if generator.is_none_or(|generator| generator == id) => Some(id),
            _ => return Err(Refusal::forbidden("stacks_list_denied", "not authorized to list stacks")),
        };
        self.store().stacks(of, page).await.map_err(Refusal::of_store)
    }

    /// Creates a stack. The flag is `true` if an earlier request with the same idempotency token created it.
    pub async fn create_stack(&self, who: Actor, new: &StackInput, token: Option<&Token>) -> Result<(Stack, bool)> {
        match who {
            Actor::Admin => {}
            Actor::Generator(id) if id == new.generator_id => {}
            Actor::Generator(_) => {
                let message = "generator can only create stacks for itself";
                return Err(Refusal::forbidden("stack_generator_mismatch", message));
            }
            _ => return Err(Refusal::forbidden("stack_create_denied", "not authorized to create stacks")),
        }
        names::name(&new.name)?;
        names::description(new.description.as_deref())?;
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
        match self.store().create_stack(&stack, token).await {
            Ok(stack) => Ok((stack, false)),
            Err(StoreError::Repeated(id)) => Ok((self.live_stack(id).await?, true)),
            Err(error) => Err(Refusal::of_store(error)),
        }
    }

    /// Returns a live stack.
    pub async fn stack(&self, who: Actor, id: Uuid) -> Result<Stack> {
        let stack = self.live_stack(id).await?;
        who.may_read_stack(&stack)?;
        Ok(stack)
    }

    /// Changes the name and description of a stack, and its owner if the actor is an administrator. Ignores the other
    /// fields of `to`. `expected` is the time of the last change that the caller has seen.
    pub async fn update_stack(&self, who: Actor, id: Uuid, to: &Stack, expected: Option<Moment>) -> Result<Stack> {
        if to.id != id {
            return Err(Refusal::invalid("stack_id_mismatch", "stack ID mismatch"));
        }
        let before = self.live_stack(id).await?;
        who.may_change_stack(&before)?;
        if who != Actor::Admin && to.generator_id != before.generator_id {
            let message = "generator can only keep stacks for itself";
            return Err(Refusal::forbidden("stack_generator_mismatch", message));
        }
        names::name(&to.name)?;
        names::description(to.description.as_deref())?;
        let (name, description) = (to.name.clone(), to.description.clone());
        let stack = Stack { name, description, generator_id: to.generator_id, updated_at: now(), ..before };
        self.store().update_stack(&stack, expected).await.map_err(stack_missing())
    }

    /// Deletes a stack and its objects, and adds a deletion marker.
    pub async fn delete_stack(&self, who: Actor, id: Uuid) -> Result<()> {
        who.may_change_stack(&self.live_stack(id).await?)?;
        let marker = NewObject {
            id: new_id(),
            at: now(),
            stack_id: id,
            yaml_content: String::new(),
            yaml_checksum: checksum(""),
            is_deletion_marker: true,
            provenance: None,
        };
        self.store().delete_stack(id, &marker).await.map_err(stack_missing())
    }

    /// Lists the labels of a stack.
    pub async fn stack_labels(&self, who: Actor, id: Uuid) -> Result<Vec<StackLabel>> {
        self.readable(who, id).await?;
        self.store().stack_labels(id).await.map_err(stack_missing())
    }

    /// Adds a label.
    pub async fn add_stack_label(&self, who: Actor, id: Uuid, label: &str) -> Result<StackLabel> {
        self.changeable(who, id).await?;
        names::label(label)?;
        let row = StackLabel { id: new_id(), stack_id: id, label: label.to_owned() };
        self.store().add_stack_label(&row).await.map_err(stack_missing())?;
        Ok(row)
    }

    /// Removes a label.
    pub async fn remove_stack_label(&self, who: Actor, id: Uuid, label: &str) -> Result<()> {
        self.changeable(who, id).await?;
        let missing = Refusal::or_missing("stack_label_not_found", "label not found");
        self.store().remove_stack_label(id, label).await.map_err(missing)
    }

    /// Lists the annotations of a stack.
    pub async fn stack_annotations(&self, who: Actor, id: Uuid) -> Result<Vec<StackAnnotation>> {
        self.readable(who, id).await?;
        self.store().stack_annotations(id).await.map_err(stack_missing())
    }

    /// Adds an annotation.
    pub async fn add_stack_annotation(&self, who: Actor, id: Uuid, key: &str, value: &str) -> Result<StackAnnotation> {
        self.changeable(who, id).await?;
        names::annotation(key, value)?;
        let row = StackAnnotation { id: new_id(), stack_id: id, key: key.to_owned(), value: value.to_owned() };
        self.store().add_stack_annotation(&row).await.map_err(stack_missing())?;
        Ok(row)
    }

    /// Removes an annotation.
    pub async fn remove_stack_annotation(&self, who: Actor, id: Uuid, key: &str) -> Result<()> {
        self.changeable(who, id).await?;
        let missing = Refusal::or_missing("stack_annotation_not_found", "annotation not found");
        self.store().remove_stack_annotation(id, key).await.map_err(missing)
    }

    /// The labels and annotations of a stack.
    pub(super) async fn marks_of_stack(&self, id: Uuid) -> Result<Marks> {
        let labels = self.store().stack_labels(id).await.map_err(stack_missing())?;
        let annotations = self.store().stack_annotations(id).await.map_err(stack_missing())?;
        Ok(Marks {
            labels: labels.into_iter().map(|row| row.label).collect(),
            annotations: annotations.into_iter().map(|row| (row.key, row.value)).collect(),
        })
    }

    pub(super) async fn live_stack(&self, id: Uuid) -> Result<Stack> {
        self.store().stack(id).await.map_err(stack_missing())
    }

    /// Requires permission to read the labels and annotations of a stack.
    async fn readable(&self, who: Actor, id: Uuid) -> Result<()> {
        who.may_read_stack(&self.live_stack(id).await?).map_err(not_accessible)
    }

    /// Requires permission to change the labels and annotations of a stack.
    async fn changeable(&self, who: Actor, id: Uuid) -> Result<()> {
        who.may_change_stack(&self.live_stack(id).await?).map_err(not_accessible)
    }
}

pub(super) fn stack_missing() -> impl Fn(StoreError) -> Refusal {
    Refusal::or_missing("stack_not_found", "stack not found")
}

/// Labels and annotations of stacks have an error code of their own.
fn not_accessible(_: Refusal) -> Refusal {
    Refusal::forbidden("stack_not_accessible", "not authorized to access this stack")
}
