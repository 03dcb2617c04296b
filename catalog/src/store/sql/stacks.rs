//! Statements on stacks.

use uuid::Uuid;

use super::super::dialect::Connection;
use super::paging::{after, limit};
use super::rows::{execute_one, rows, statement};
use super::{live, objects};
use crate::model::Stack;
use crate::store::{NewObject, Page, StoreResult};

pub const OWNER: &str = "stacks_generator_id_fkey";

pub async fn create(c: &mut Connection, new: Stack) -> StoreResult<Stack> {
    live::require_generator(c, new.generator_id, OWNER).await?;
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
    live::require_generator(c, to.generator_id, OWNER).await?;
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
