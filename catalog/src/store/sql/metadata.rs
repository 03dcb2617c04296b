//! Statements on the labels and annotations of template versions and stacks.

use uuid::Uuid;

use super::super::dialect::Connection;
use super::rows::{execute_one, rows, statement};
use super::{live, objects};
use crate::model::{StackAnnotation, StackLabel, TemplateAnnotation, TemplateLabel, TemplateVersion};
use crate::store::{Metadata, StoreResult, new_id};

pub async fn template_labels(c: &mut Connection, id: Uuid) -> StoreResult<Vec<TemplateLabel>> {
    live::require_version(c, id).await?;
    Ok(rows("SELECT * FROM template_labels WHERE template_id = $1 ORDER BY id").bind(id).fetch_all(c).await?)
}

pub async fn add_template_label(c: &mut Connection, new: TemplateLabel) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO template_labels (id, template_id, label, created_at)
        SELECT $1, id, $3, $4 FROM stack_templates WHERE id = $2 AND deleted_at IS NULL",
    );
    execute_one(insert.bind(new.id).bind(new.template_id).bind(new.label).bind(new.created_at), c).await
}

pub async fn remove_template_label(c: &mut Connection, id: Uuid, label: String) -> StoreResult<()> {
    let delete = statement(
        "DELETE FROM template_labels WHERE template_id = $1 AND label = $2
        AND EXISTS (SELECT 1 FROM stack_templates WHERE id = $1 AND deleted_at IS NULL)",
    );
    execute_one(delete.bind(id).bind(label), c).await
}

pub async fn template_annotations(c: &mut Connection, id: Uuid) -> StoreResult<Vec<TemplateAnnotation>> {
    live::require_version(c, id).await?;
    Ok(rows("SELECT * FROM template_annotations WHERE template_id = $1 ORDER BY id").bind(id).fetch_all(c).await?)
}

pub async fn add_template_annotation(c: &mut Connection, new: TemplateAnnotation) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO template_annotations (id, template_id, key, value, created_at)
        SELECT $1, id, $3, $4, $5 FROM stack_templates WHERE id = $2 AND deleted_at IS NULL",
    );
    let insert = insert.bind(new.id).bind(new.template_id).bind(new.key).bind(new.value).bind(new.created_at);
    execute_one(insert, c).await
}

pub async fn remove_template_annotation(c: &mut Connection, id: Uuid, key: String) -> StoreResult<()> {
    let delete = statement(
        "DELETE FROM template_annotations WHERE template_id = $1 AND key = $2
        AND EXISTS (SELECT 1 FROM stack_templates WHERE id = $1 AND deleted_at IS NULL)",
    );
    execute_one(delete.bind(id).bind(key), c).await
}

pub async fn stack_labels(c: &mut Connection, id: Uuid) -> StoreResult<Vec<StackLabel>> {
    live::require_stack(c, id).await?;
    Ok(rows("SELECT * FROM stack_labels WHERE stack_id = $1 ORDER BY id").bind(id).fetch_all(c).await?)
}

pub async fn add_stack_label(c: &mut Connection, new: StackLabel) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO stack_labels (id, stack_id, label)
        SELECT $1, id, $3 FROM stacks WHERE id = $2 AND deleted_at IS NULL",
    );
    execute_one(insert.bind(new.id).bind(new.stack_id).bind(new.label), c).await
}

pub async fn remove_stack_label(c: &mut Connection, id: Uuid, label: String) -> StoreResult<()> {
    let delete = statement(
        "DELETE FROM stack_labels WHERE stack_id = $1 AND label = $2
        AND EXISTS (SELECT 1 FROM stacks WHERE id = $1 AND deleted_at IS NULL)",
    );
    execute_one(delete.bind(id).bind(label), c).await
}

pub async fn stack_annotations(c: &mut Connection, id: Uuid) -> StoreResult<Vec<StackAnnotation>> {
    live::require_stack(c, id).await?;
    Ok(rows("SELECT * FROM stack_annotations WHERE stack_id = $1 ORDER BY id").bind(id).fetch_all(c).await?)
}

pub async fn add_stack_annotation(c: &mut Connection, new: StackAnnotation) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO stack_annotations (id, stack_id, key, value)
        SELECT $1, id, $3, $4 FROM stacks WHERE id = $2 AND deleted_at IS NULL",
    );
    execute_one(insert.bind(new.id).bind(new.stack_id).bind(new.key).bind(new.value), c).await
}

pub async fn remove_stack_annotation(c: &mut Connection, id: Uuid, key: String) -> StoreResult<()> {
    let delete = statement(
        "DELETE FROM stack_annotations WHERE stack_id = $1 AND key = $2
        AND EXISTS (SELECT 1 FROM stacks WHERE id = $1 AND deleted_at IS NULL)",
    );
    execute_one(delete.bind(id).bind(key), c).await
}

/// The labels and annotations of a version, even if it is deleted.
pub async fn of_version(c: &mut Connection, template: Uuid) -> StoreResult<Metadata> {
    Ok(objects::instantiation_rows(c, Uuid::nil(), template).await?.template_metadata)
}

/// Adds the labels and annotations of a new version.
pub async fn add(c: &mut Connection, to: &TemplateVersion, metadata: Metadata) -> StoreResult<()> {
    for label in metadata.labels {
        let new = TemplateLabel { id: new_id(), template_id: to.id, label, created_at: to.created_at };
        add_template_label(c, new).await?;
    }
    for (key, value) in metadata.annotations {
        let new = TemplateAnnotation { id: new_id(), template_id: to.id, key, value, created_at: to.created_at };
        add_template_annotation(c, new).await?;
    }
    Ok(())
}
