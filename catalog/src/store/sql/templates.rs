//! Statements on template versions.

use uuid::Uuid;

use super::super::dialect::{Connection, lock};
use super::paging::{after, limit};
use super::rows::{execute_one, rows};
use super::{idempotency, live, metadata};
use crate::model::{TemplateVersion, Timestamp};
use crate::store::{
    IdempotencyToken, InitialMetadata, Metadata, NewVersion, Page, StoreError, StoreResult, Visibility,
};

/// Prevents other transactions from creating or deleting versions of a name.
async fn lock_name(c: &mut Connection, owner: Option<Uuid>, name: &str) -> StoreResult<()> {
    lock(c, &format!("{}/{name}", owner.unwrap_or(Uuid::nil()))).await
}

pub async fn create(
    c: &mut Connection,
    new: NewVersion,
    token: Option<IdempotencyToken>,
) -> StoreResult<TemplateVersion> {
    idempotency::claim(c, token, new.id, new.at).await?;
    if let Some(generator) = new.generator_id {
        live::require_generator(c, generator, "stack_templates_generator_id_fkey").await?;
    }
    lock_name(c, new.generator_id, &new.name).await?;
    let before = match newest(c, new.generator_id, new.name.clone()).await {
        Err(StoreError::NotFound) => None,
        found => Some(found?),
    };
    if new.expected.is_some_and(|expected| before.as_ref().is_none_or(|before| before.id != expected)) {
        return Err(StoreError::Stale);
    }
    let metadata = match &new.metadata {
        InitialMetadata::Given(metadata) => metadata.clone(),
        InitialMetadata::CopiedFrom(from) => match from.or(before.as_ref().map(|before| before.id)) {
            Some(from) => metadata::of_version(c, from).await?,
            None => Metadata::default(),
        },
    };
    let row = insert(c, &new, before.map_or(0, |before| before.version)).await?;
    metadata::add(c, &row, metadata).await?;
    Ok(row)
}

async fn insert(c: &mut Connection, new: &NewVersion, before: i32) -> StoreResult<TemplateVersion> {
    let full = || StoreError::Failed("too many versions".to_owned());
    let version = before.checked_add(1).ok_or_else(full)?;
    let insert = rows(
        "INSERT INTO stack_templates (id, created_at, updated_at, generator_id, name, description, version,
        template_content, parameters_schema, checksum) VALUES ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *",
    );
    let insert = insert.bind(new.id).bind(new.at).bind(new.generator_id).bind(new.name.clone());
    let insert = insert.bind(new.description.clone()).bind(version).bind(new.template_content.clone());
    Ok(insert.bind(new.parameters_schema.clone()).bind(new.checksum.clone()).fetch_one(c).await?)
}

pub async fn one(c: &mut Connection, id: Uuid) -> StoreResult<TemplateVersion> {
    Ok(rows("SELECT * FROM stack_templates WHERE id = $1 AND deleted_at IS NULL").bind(id).fetch_one(c).await?)
}

pub async fn including_deleted(c: &mut Connection, id: Uuid) -> StoreResult<TemplateVersion> {
    Ok(rows("SELECT * FROM stack_templates WHERE id = $1").bind(id).fetch_one(c).await?)
}

pub async fn newest(c: &mut Connection, owner: Option<Uuid>, name: String) -> StoreResult<TemplateVersion> {
    let select = rows(
        "SELECT * FROM stack_templates
        WHERE name = $1 AND generator_id IS NOT DISTINCT FROM $2 AND deleted_at IS NULL
        ORDER BY version DESC LIMIT 1",
    );
    Ok(select.bind(name).bind(owner).fetch_one(c).await?)
}

pub async fn versions(
    c: &mut Connection,
    owner: Option<Uuid>,
    name: String,
    page: Page,
) -> StoreResult<Vec<TemplateVersion>> {
    let select = rows(
        "SELECT * FROM stack_templates
        WHERE name = $1 AND generator_id IS NOT DISTINCT FROM $2 AND deleted_at IS NULL
        AND ($3 IS NULL OR version < (SELECT version FROM stack_templates WHERE id = $3))
        ORDER BY version DESC LIMIT $4",
    );
    Ok(select.bind(name).bind(owner).bind(page.after).bind(limit(&page)).fetch_all(c).await?)
}

pub async fn all(
    c: &mut Connection,
    visibility: Visibility,
    name: Option<String>,
    page: Page,
) -> StoreResult<Vec<TemplateVersion>> {
    let owner = match visibility {
        Visibility::All => None,
        Visibility::Generator(owner) => Some(owner),
    };
    let select = rows(
        "SELECT * FROM stack_templates
        WHERE deleted_at IS NULL AND ($1 IS NULL OR generator_id = $1 OR generator_id IS NULL)
        AND ($2 IS NULL OR name = $2) AND id > $3 ORDER BY id LIMIT $4",
    );
    Ok(select.bind(owner).bind(name).bind(after(&page)).bind(limit(&page)).fetch_all(c).await?)
}

pub async fn delete(c: &mut Connection, id: Uuid, at: Timestamp) -> StoreResult<()> {
    // A concurrent new version may reuse the number, so it must wait.
    let version = one(c, id).await?;
    lock_name(c, version.generator_id, &version.name).await?;
    let update = sqlx::query(
        "UPDATE stack_templates SET deleted_at = $2, updated_at = $2
        WHERE id = $1 AND deleted_at IS NULL",
    );
    execute_one(update.bind(id).bind(at), c).await
}
