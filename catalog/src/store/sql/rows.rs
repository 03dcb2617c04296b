//! Conversion of database rows, parameters of paged statements, and checks that a row exists and is not deleted.

use sqlx::query::{Query, QueryAs};
use sqlx::{Database, Error, FromRow, Row as _};
use uuid::Uuid;

use super::super::{Connection, Db, LIVE_GENERATOR, Row};
use crate::access::AuditEntry;
use crate::content::Language;
use crate::model::{DeploymentObject, Generator, KeyRow, Provenance, Role, Stack, TemplateVersion};
use crate::store::{Counts, Page, StoreError, StoreResult};

pub type Arguments = <Db as Database>::Arguments;

/// A statement that returns rows.
pub fn rows<T: for<'r> FromRow<'r, Row>>(sql: &'static str) -> QueryAs<'static, Db, T, Arguments> {
    sqlx::query_as(sql)
}

/// A statement that returns no rows.
pub fn statement(sql: &'static str) -> Query<'static, Db, Arguments> {
    sqlx::query(sql)
}

/// Executes a statement that must change a row.
pub async fn execute_one(query: Query<'static, Db, Arguments>, c: &mut Connection) -> StoreResult<()> {
    let changed = query.execute(c).await?.rows_affected();
    if changed == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

/// Implements `FromRow` for types whose fields are columns of the same name, or of the name after `=`.
macro_rules! columns {
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $column:ident) => { stringify!($column) };
    ($($type:ident { $($field:ident $(= $column:ident)?),* })*) => {$(
        impl FromRow<'_, Row> for $type {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(Self { $($field: row.try_get(columns!(@ $field $($column)?))?),* })
            }
        }
    )*};
}

columns! {
    Generator {
        id, created_at, updated_at, deleted_at, name, description, last_active_at, is_active, is_system
    }
    Stack { id, created_at, updated_at, deleted_at, name, description, generator_id }
    DeploymentObject {
        id, created_at, updated_at, deleted_at, sequence_id, stack_id, yaml_content, yaml_checksum, submitted_at,
        is_deletion_marker
    }
    AuditEntry {
        id, at, action, object_kind, object_id, object_name, detail, role, key_id, key_name, generator_id, address,
        request_id
    }
    Counts { generators, templates, stacks, objects }
    Provenance {
        id = record_id, deployment_object_id, template_id, template_version, template_parameters, defaults,
        template_checksum, schema_checksum, parameters_checksum, output_checksum, engine, created_at = rendered_at
    }
}

impl FromRow<'_, Row> for TemplateVersion {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let (language, template_content) = Language::of_stored(row.try_get("template_content")?);
        Ok(Self {
            id: row.try_get("id")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
            deleted_at: row.try_get("deleted_at")?,
            generator_id: row.try_get("generator_id")?,
            name: row.try_get("name")?,
            description: row.try_get("description")?,
            version: row.try_get("version")?,
            template_content,
            parameters_schema: row.try_get("parameters_schema")?,
            checksum: row.try_get("checksum")?,
            language,
            encoding: language.encoding(),
        })
    }
}

impl FromRow<'_, Row> for KeyRow {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let role: &str = row.try_get("role")?;
        let unknown = || Error::Decode(format!("unknown role `{role}`").into());
        Ok(Self {
            id: row.try_get("id")?,
            short_token: row.try_get("short_token")?,
            hash: row.try_get("hash")?,
            role: Role::named(role).ok_or_else(unknown)?,
            generator_id: row.try_get("generator_id")?,
            created_at: row.try_get("created_at")?,
            revoked_at: row.try_get("revoked_at")?,
            name: row.try_get("name")?,
            expires_at: row.try_get("expires_at")?,
            last_used_at: row.try_get("last_used_at")?,
        })
    }
}

/// The ID after which a page begins. No row has the nil ID.
pub fn after(page: &Page) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}

pub fn limit(page: &Page) -> i64 {
    page.limit.map_or(i64::MAX, i64::from)
}

/// A page of lists that were read one after the other.
pub fn merged<T, K: Ord>(mut rows: Vec<T>, page: &Page, key: impl Fn(&T) -> K) -> Vec<T> {
    rows.sort_by_cached_key(key);
    rows.truncate(page.limit.map_or(usize::MAX, |limit| limit as usize));
    rows
}

/// Requires a live generator and locks it until the end of the transaction. `constraint` names the violated foreign key.
pub async fn require_generator(c: &mut Connection, id: Uuid, constraint: &'static str) -> StoreResult<()> {
    let found = statement(LIVE_GENERATOR).bind(id).fetch_optional(c).await?;
    found.map(drop).ok_or(StoreError::ForeignKeyViolation(constraint))
}

/// Requires a live template version.
pub async fn require_version(c: &mut Connection, id: Uuid) -> StoreResult<()> {
    require(c, "SELECT id FROM stack_templates WHERE id = $1 AND deleted_at IS NULL", id).await
}

/// Requires a live stack.
pub async fn require_stack(c: &mut Connection, id: Uuid) -> StoreResult<()> {
    require(c, "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL", id).await
}

async fn require(c: &mut Connection, select: &'static str, id: Uuid) -> StoreResult<()> {
    statement(select).bind(id).fetch_one(c).await?;
    Ok(())
}

/// The ID of an owner in the indexes, which is the nil ID for the system.
pub fn owner_id(owner: Option<Uuid>) -> Uuid {
    owner.unwrap_or(Uuid::nil())
}
