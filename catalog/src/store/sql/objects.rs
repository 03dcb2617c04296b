//! Statements on deployment objects and their provenance.

use sqlx::{FromRow, Row as _};
use uuid::Uuid;

use super::super::dialect::{Connection, LIVE_STACK};
use super::idempotency;
use super::paging::limit;
use super::rows::{rows, statement};
use crate::model::{DeploymentObject, Provenance};
use crate::store::{IdempotencyToken, InstantiationRows, NewObject, Page, StoreResult};

/// A template, a stack, and the labels and annotations of both, as rows of one statement. Every instantiation reads
/// them, and they must come from one snapshot. Labels, keys and values use the columns of names and descriptions.
const INSTANTIABLE: &str = "SELECT 0 AS kind, id, created_at, updated_at, deleted_at, generator_id, name, description,
        version, template_content, parameters_schema, checksum
        FROM stack_templates WHERE id = $1 AND deleted_at IS NULL
    UNION ALL SELECT 1, id, created_at, updated_at, deleted_at, generator_id, name, description,
        NULL, NULL, NULL, NULL FROM stacks WHERE id = $2 AND deleted_at IS NULL
    UNION ALL SELECT 2, id, NULL, NULL, NULL, NULL, label, NULL, NULL, NULL, NULL, NULL
        FROM template_labels WHERE template_id = $1
    UNION ALL SELECT 3, id, NULL, NULL, NULL, NULL, key, value, NULL, NULL, NULL, NULL
        FROM template_annotations WHERE template_id = $1
    UNION ALL SELECT 4, id, NULL, NULL, NULL, NULL, label, NULL, NULL, NULL, NULL, NULL
        FROM stack_labels WHERE stack_id = $2
    UNION ALL SELECT 5, id, NULL, NULL, NULL, NULL, key, value, NULL, NULL, NULL, NULL
        FROM stack_annotations WHERE stack_id = $2
    ORDER BY id";

pub async fn instantiation_rows(c: &mut Connection, stack: Uuid, template: Uuid) -> StoreResult<InstantiationRows> {
    let mut read = InstantiationRows::default();
    for row in statement(INSTANTIABLE).bind(template).bind(stack).fetch_all(c).await? {
        match row.try_get::<i32, _>("kind")? {
            0 => read.template = Some(FromRow::from_row(&row)?),
            1 => read.stack = Some(FromRow::from_row(&row)?),
            2 => read.template_metadata.labels.push(row.try_get("name")?),
            3 => read.template_metadata.annotations.push((row.try_get("name")?, row.try_get("description")?)),
            4 => read.stack_metadata.labels.push(row.try_get("name")?),
            _ => read.stack_metadata.annotations.push((row.try_get("name")?, row.try_get("description")?)),
        }
    }
    Ok(read)
}

pub async fn create(
    c: &mut Connection,
    new: NewObject,
    token: Option<IdempotencyToken>,
) -> StoreResult<DeploymentObject> {
    idempotency::claim(c, token, new.id, new.at).await?;
    statement(LIVE_STACK).bind(new.stack_id).fetch_one(&mut *c).await?;
    insert(c, new).await
}

pub async fn insert(c: &mut Connection, new: NewObject) -> StoreResult<DeploymentObject> {
    let insert = rows(
        "INSERT INTO deployment_objects
        (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        VALUES ($1, $2, $2, $3, $4, $5, $2, $6) RETURNING *",
    );
    let insert = insert.bind(new.id).bind(new.at).bind(new.stack_id).bind(new.yaml_content).bind(new.yaml_checksum);
    let row = insert.bind(new.is_deletion_marker).fetch_one(&mut *c).await?;
    if let Some(record) = new.provenance {
        insert_record(c, record).await?;
    }
    Ok(row)
}

async fn insert_record(c: &mut Connection, new: Provenance) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id,
        template_version, template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum,
        output_checksum, engine, rendered_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    );
    let insert = insert.bind(new.id).bind(new.deployment_object_id).bind(new.template_id).bind(new.template_version);
    let insert = insert.bind(new.template_parameters).bind(new.defaults).bind(new.template_checksum);
    let insert = insert.bind(new.schema_checksum).bind(new.parameters_checksum).bind(new.output_checksum);
    insert.bind(new.engine).bind(new.created_at).execute(c).await?;
    Ok(())
}

pub async fn one(c: &mut Connection, id: Uuid) -> StoreResult<DeploymentObject> {
    Ok(rows("SELECT * FROM deployment_objects WHERE id = $1 AND deleted_at IS NULL").bind(id).fetch_one(c).await?)
}

/// The live objects of a stack that are older than an object.
pub const OF_STACK: &str = "SELECT * FROM deployment_objects WHERE stack_id = $1 AND deleted_at IS NULL
    AND sequence_id < CASE WHEN $2 IS NULL THEN 9223372036854775807
        ELSE (SELECT sequence_id FROM deployment_objects WHERE id = $2) END
    ORDER BY sequence_id DESC LIMIT $3";

pub async fn all(c: &mut Connection, stack: Uuid, page: Page) -> StoreResult<Vec<DeploymentObject>> {
    Ok(rows(OF_STACK).bind(stack).bind(page.after).bind(limit(&page)).fetch_all(c).await?)
}

pub async fn provenance(c: &mut Connection, object: Uuid) -> StoreResult<Provenance> {
    let select = rows("SELECT * FROM rendered_deployment_objects WHERE deployment_object_id = $1");
    Ok(select.bind(object).fetch_one(c).await?)
}
