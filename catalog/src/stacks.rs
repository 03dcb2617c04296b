//! Stacks: where rendered objects go.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::store::{Marks, NewObject, Page, StoreError, Token, new_id};
use super::{Actor, Catalog, Moment, Refusal, Result, Stack, StackAnnotation, StackLabel, checksum, names, now};

/// What a stack is made from.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StackInput {
    /// Unique among the live ones, whoever owns them.
    pub name: String,
    /// For people.
    #[serde(default)]
    pub description: Option<String>,
    /// Whose it is.
    pub generator_id: Uuid,
}

impl Catalog {
    /// Live stacks that the asker sees; of this generator only where one is given.
    pub async fn stacks(&self, who: Actor, generator: Option<Uuid>, page: &Page) -> Result<Vec<Stack>> {
        let of = match who {
            Actor::Admin | Actor::Readonly => generator,
            Actor::Generator(id) if generator.is_none_or(|generator| generator == id) => Some(id),
            _ => return Err(Refusal::forbidden("stacks_list_denied", "not authorized to list stacks")),
        };
        self.store().stacks(of, page).await.map_err(Refusal::of_store)
    }

    /// Makes a stack. Also answers whether it was made before, by the same request.
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

    /// A live stack.
    pub async fn stack(&self, who: Actor, id: Uuid) -> Result<Stack> {
        let stack = self.live_stack(id).await?;
        who.may_read_stack(&stack)?;
        Ok(stack)
    }

    /// Changes name, description and, for an administrator, the generator of a stack; everything else of `to` is
    /// ignored. `expected` is when the asker saw it changed last.
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

    /// Deletes a stack and its objects; what remains is an object that says so.
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

    /// Labels of a stack.
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

    /// Annotations of a stack.
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

    /// Refuses where the asker may not see the marks of a stack.
    async fn readable(&self, who: Actor, id: Uuid) -> Result<()> {
        who.may_read_stack(&self.live_stack(id).await?).map_err(not_accessible)
    }

    /// Refuses where the asker may not change the marks of a stack.
    async fn changeable(&self, who: Actor, id: Uuid) -> Result<()> {
        who.may_change_stack(&self.live_stack(id).await?).map_err(not_accessible)
    }
}

pub(super) fn stack_missing() -> impl Fn(StoreError) -> Refusal {
    Refusal::or_missing("stack_not_found", "stack not found")
}

/// The marks of a stack are refused by a code of their own.
fn not_accessible(_: Refusal) -> Refusal {
    Refusal::forbidden("stack_not_accessible", "not authorized to access this stack")
}
