//! Statements on the labels and annotations of template versions and stacks.

use uuid::Uuid;

use super::super::dialect::Connection;
use super::rows::{execute_one, rows, statement};
use super::{live, objects};
use crate::model::{MetadataKind, MetadataOwner, MetadataRow, TemplateVersion, Timestamp};
use crate::store::{Metadata, StoreResult, new_id};

/// The statements on a table.
struct Statements {
    list: &'static str,
    add: &'static str,
    remove: &'static str,
    /// Locks a row, which stays as it is.
    hold: &'static str,
}

/// The statements on a table: of the owners in another table, with the column of the key, the columns as they are read, and
/// the columns and values of a new row.
macro_rules! statements {
    ($table:literal, $owners:literal, $owner:literal, $key:literal, $read:literal, $columns:literal, $values:literal) => {
        Statements {
            list: concat!("SELECT id, ", $read, " FROM ", $table, " WHERE ", $owner, " = $1 ORDER BY id"),
            add: concat!(
                "INSERT INTO ",
                $table,
                " (id, ",
                $owner,
                ", ",
                $columns,
                ") SELECT $1, id, ",
                $values,
                " FROM ",
                $owners,
                " WHERE id = $2 AND deleted_at IS NULL"
            ),
            remove: concat!(
                "DELETE FROM ",
                $table,
                " WHERE ",
                $owner,
                " = $1 AND ",
                $key,
                " = $2 AND EXISTS (SELECT 1 FROM ",
                $owners,
                " WHERE id = $1 AND deleted_at IS NULL)"
            ),
            hold: concat!("UPDATE ", $table, " SET ", $key, " = ", $key, " WHERE id = $1"),
        }
    };
}

const TEMPLATE_LABELS: Statements = statements!(
    "template_labels",
    "stack_templates",
    "template_id",
    "label",
    "label, NULL, created_at",
    "label, created_at",
    "$3, $5"
);
const TEMPLATE_ANNOTATIONS: Statements = statements!(
    "template_annotations",
    "stack_templates",
    "template_id",
    "key",
    "key, value, created_at",
    "key, value, created_at",
    "$3, $4, $5"
);
const STACK_LABELS: Statements =
    statements!("stack_labels", "stacks", "stack_id", "label", "label, NULL, NULL", "label", "$3");
const STACK_ANNOTATIONS: Statements =
    statements!("stack_annotations", "stacks", "stack_id", "key", "key, value, NULL", "key, value", "$3, $4");

fn of(owner: MetadataOwner, kind: MetadataKind) -> &'static Statements {
    match (owner, kind) {
        (MetadataOwner::Template(_), MetadataKind::Label) => &TEMPLATE_LABELS,
        (MetadataOwner::Template(_), MetadataKind::Annotation) => &TEMPLATE_ANNOTATIONS,
        (MetadataOwner::Stack(_), MetadataKind::Label) => &STACK_LABELS,
        (MetadataOwner::Stack(_), MetadataKind::Annotation) => &STACK_ANNOTATIONS,
    }
}

pub async fn all(c: &mut Connection, owner: MetadataOwner, kind: MetadataKind) -> StoreResult<Vec<MetadataRow>> {
    match owner {
        MetadataOwner::Template(id) => live::require_version(c, id).await?,
        MetadataOwner::Stack(id) => live::require_stack(c, id).await?,
    }
    let select = rows::<(Uuid, String, Option<String>, Option<Timestamp>)>(of(owner, kind).list);
    let found = select.bind(owner.id()).fetch_all(c).await?.into_iter();
    Ok(found.map(|(id, key, value, created_at)| MetadataRow { id, owner, key, value, created_at }).collect())
}

pub async fn add(c: &mut Connection, new: MetadataRow) -> StoreResult<()> {
    let insert = statement(of(new.owner, new.kind()).add).bind(new.id).bind(new.owner.id());
    execute_one(insert.bind(new.key).bind(new.value).bind(new.created_at), c).await
}

pub async fn remove(c: &mut Connection, owner: MetadataOwner, kind: MetadataKind, key: String) -> StoreResult<()> {
    execute_one(statement(of(owner, kind).remove).bind(owner.id()).bind(key), c).await
}

/// Locks a row until the end of the transaction. `NotFound` if it is gone.
pub async fn hold(c: &mut Connection, owner: MetadataOwner, kind: MetadataKind, row: Uuid) -> StoreResult<()> {
    execute_one(statement(of(owner, kind).hold).bind(row), c).await
}

/// The labels and annotations of a version, even if it is deleted.
pub async fn of_version(c: &mut Connection, template: Uuid) -> StoreResult<Metadata> {
    Ok(objects::instantiation_rows(c, Uuid::nil(), template).await?.template_metadata)
}

/// Adds the labels and annotations of a new version.
pub async fn add_all(c: &mut Connection, to: &TemplateVersion, metadata: Metadata) -> StoreResult<()> {
    let labels = metadata.labels.into_iter().map(|label| (label, None));
    let annotations = metadata.annotations.into_iter().map(|(key, value)| (key, Some(value)));
    for (key, value) in labels.chain(annotations) {
        let (owner, created_at) = (MetadataOwner::Template(to.id), Some(to.created_at));
        add(c, MetadataRow { id: new_id(), owner, key, value, created_at }).await?;
    }
    Ok(())
}
