//! Conversion of database rows.

use sqlx::query::{Query, QueryAs};
use sqlx::{Database, Error, FromRow, Row as _};

use super::super::dialect::{Connection, Db, Row};
use crate::audit::AuditEntry;
use crate::content::Language;
use crate::model::{DeploymentObject, Generator, KeyRow, Provenance, Role, Stack, TemplateVersion};
use crate::store::{Counts, StoreError, StoreResult};

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

/// Implements `FromRow` for types whose fields are columns of the same name.
macro_rules! columns {
    ($($type:ident { $($field:ident),* })*) => {$(
        impl FromRow<'_, Row> for $type {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(Self { $($field: row.try_get(stringify!($field))?),* })
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

impl FromRow<'_, Row> for Provenance {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.try_get("record_id")?,
            deployment_object_id: row.try_get("deployment_object_id")?,
            template_id: row.try_get("template_id")?,
            template_version: row.try_get("template_version")?,
            template_parameters: row.try_get("template_parameters")?,
            defaults: row.try_get("defaults")?,
            template_checksum: row.try_get("template_checksum")?,
            schema_checksum: row.try_get("schema_checksum")?,
            parameters_checksum: row.try_get("parameters_checksum")?,
            output_checksum: row.try_get("output_checksum")?,
            engine: row.try_get("engine")?,
            created_at: row.try_get("rendered_at")?,
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
