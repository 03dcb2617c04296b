//! Statements on stacks, and on the labels and annotations of template versions and stacks.

use uuid::Uuid;

use super::super::Connection;
use super::objects;
use super::rows::{after, execute_one, limit, require_generator, require_stack, require_version, rows, statement};
use crate::model::{MetadataKind, MetadataOwner, MetadataRow, Stack, TemplateVersion, Timestamp};
use crate::store::{Metadata, NewObject, Page, StoreResult, new_id};

pub const OWNER: &str = "stacks_generator_id_fkey";

pub async fn create(c: &mut Connection, new: Stack) -> StoreResult<Stack> {
    require_generator(c, new.generator_id, OWNER).await?;
    let insert = rows(
        "INSERT INTO stacks (id, created_at, updated_at, deleted_at, name, description, generator_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *",
    );
    let insert = insert.bind(new.id).bind(new.created_at).bind(new.updated_at).bind(new.deleted_at);
    Ok(insert.bind(new.name).bind(new.description).bind(new.generator_id).fetch_one(c).await?)
}

pub async fn one(c: &mut Connection, id: Uuid) -> StoreResult<Stack> {
    Ok(rows("SELECT * FROM stacks WHERE id = $1 AND deleted_at IS NULL").bind(id).fetch_one(c).await?)
}

pub const ALL: &str = "SELECT * FROM stacks WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2";

pub const OF_GENERATOR: &str = "SELECT * FROM stacks WHERE generator_id = $3 AND deleted_at IS NULL AND id > $1
    ORDER BY id LIMIT $2";

pub async fn all(c: &mut Connection, generator: Option<Uuid>, page: Page) -> StoreResult<Vec<Stack>> {
    let select = rows(if generator.is_some() { OF_GENERATOR } else { ALL });
    Ok(select.bind(after(&page)).bind(limit(&page)).bind(generator).fetch_all(c).await?)
}

pub async fn update(c: &mut Connection, to: Stack) -> StoreResult<Stack> {
    one(c, to.id).await?;
    require_generator(c, to.generator_id, OWNER).await?;
    let update = rows(
        "UPDATE stacks SET name = $2, description = $3, generator_id = $4, updated_at = $5
        WHERE id = $1 AND deleted_at IS NULL RETURNING *",
    );
    let update = update.bind(to.id).bind(to.name).bind(to.description).bind(to.generator_id).bind(to.updated_at);
    Ok(update.fetch_one(c).await?)
}

pub async fn delete(c: &mut Connection, id: Uuid, marker: NewObject) -> StoreResult<()> {
    let update = statement("UPDATE stacks SET deleted_at = $2, updated_at = $2 WHERE id = $1 AND deleted_at IS NULL");
    execute_one(update.bind(id).bind(marker.at), &mut *c).await?;
    let update = statement(
        "UPDATE deployment_objects SET deleted_at = $2, updated_at = $2
        WHERE stack_id = $1 AND deleted_at IS NULL",
    );
    update.bind(id).bind(marker.at).execute(&mut *c).await?;
    objects::insert_marker(c, marker).await
}

/// The statements on a table.
struct MetadataStatements {
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
        MetadataStatements {
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

const TEMPLATE_LABELS: MetadataStatements = statements!(
    "template_labels",
    "stack_templates",
    "template_id",
    "label",
    "label, NULL, created_at",
    "label, created_at",
    "$3, $5"
);
const TEMPLATE_ANNOTATIONS: MetadataStatements = statements!(
    "template_annotations",
    "stack_templates",
    "template_id",
    "key",
    "key, value, created_at",
    "key, value, created_at",
    "$3, $4, $5"
);
const STACK_LABELS: MetadataStatements =
    statements!("stack_labels", "stacks", "stack_id", "label", "label, NULL, NULL", "label", "$3");
const STACK_ANNOTATIONS: MetadataStatements =
    statements!("stack_annotations", "stacks", "stack_id", "key", "key, value, NULL", "key, value", "$3, $4");

fn of(owner: MetadataOwner, kind: MetadataKind) -> &'static MetadataStatements {
    match (owner, kind) {
        (MetadataOwner::Template(_), MetadataKind::Label) => &TEMPLATE_LABELS,
        (MetadataOwner::Template(_), MetadataKind::Annotation) => &TEMPLATE_ANNOTATIONS,
        (MetadataOwner::Stack(_), MetadataKind::Label) => &STACK_LABELS,
        (MetadataOwner::Stack(_), MetadataKind::Annotation) => &STACK_ANNOTATIONS,
    }
}

pub async fn metadata(c: &mut Connection, owner: MetadataOwner, kind: MetadataKind) -> StoreResult<Vec<MetadataRow>> {
    match owner {
        MetadataOwner::Template(id) => require_version(c, id).await?,
        MetadataOwner::Stack(id) => require_stack(c, id).await?,
    }
    let select = rows::<(Uuid, String, Option<String>, Option<Timestamp>)>(of(owner, kind).list);
    let found = select.bind(owner.id()).fetch_all(c).await?.into_iter();
    Ok(found.map(|(id, key, value, created_at)| MetadataRow { id, owner, key, value, created_at }).collect())
}

pub async fn add_metadata(c: &mut Connection, new: MetadataRow) -> StoreResult<()> {
    let insert = statement(of(new.owner, new.kind()).add).bind(new.id).bind(new.owner.id());
    execute_one(insert.bind(new.key).bind(new.value).bind(new.created_at), c).await
}

pub async fn remove_metadata(
    c: &mut Connection,
    owner: MetadataOwner,
    kind: MetadataKind,
    key: String,
) -> StoreResult<()> {
    execute_one(statement(of(owner, kind).remove).bind(owner.id()).bind(key), c).await
}

/// Locks a row until the end of the transaction. `NotFound` if it is gone.
pub async fn hold_metadata(c: &mut Connection, owner: MetadataOwner, kind: MetadataKind, row: Uuid) -> StoreResult<()> {
    execute_one(statement(of(owner, kind).hold).bind(row), c).await
}

/// The labels and annotations of a version, even if it is deleted.
pub async fn metadata_of_version(c: &mut Connection, template: Uuid) -> StoreResult<Metadata> {
    Ok(objects::instantiation_rows(c, Uuid::nil(), template).await?.template_metadata)
}

/// Adds the labels and annotations of a new version.
pub async fn add_metadata_of_version(c: &mut Connection, to: &TemplateVersion, metadata: Metadata) -> StoreResult<()> {
    let labels = metadata.labels.into_iter().map(|label| (label, None));
    let annotations = metadata.annotations.into_iter().map(|(key, value)| (key, Some(value)));
    for (key, value) in labels.chain(annotations) {
        let (owner, created_at) = (MetadataOwner::Template(to.id), Some(to.created_at));
        add_metadata(c, MetadataRow { id: new_id(), owner, key, value, created_at }).await?;
    }
    Ok(())
}
