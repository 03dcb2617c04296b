//! Statements on template versions.

use uuid::Uuid;

use super::super::{Connection, contains, folded, lock, owner};
use super::rows::{after, execute_one, limit, merged, owner_id, require_generator, rows};
use super::stacks;
use crate::model::{TemplateVersion, Timestamp};
use crate::store::{InitialMetadata, Metadata, NewVersion, Page, StoreError, StoreResult, TemplateSearch};

/// Prevents other transactions from creating or deleting versions of a name.
async fn lock_name(c: &mut Connection, owner: Option<Uuid>, name: &str) -> StoreResult<()> {
    lock(c, &format!("{}/{name}", owner.unwrap_or(Uuid::nil()))).await
}

/// Requires a live owner, and then prevents other transactions from creating or deleting versions of a name.
async fn hold_name(c: &mut Connection, owner: Option<Uuid>, name: &str) -> StoreResult<()> {
    if let Some(generator) = owner {
        require_generator(c, generator, "stack_templates_generator_id_fkey").await?;
    }
    lock_name(c, owner, name).await
}

/// Requires that a version is the newest of its name until the end of the transaction. `NotFound` if it is not.
pub async fn hold_newest(c: &mut Connection, id: Uuid) -> StoreResult<()> {
    let version = including_deleted(c, id).await?;
    hold_name(c, version.generator_id, &version.name).await?;
    let newest = newest(c, version.generator_id, version.name).await?;
    if newest.id == id { Ok(()) } else { Err(StoreError::NotFound) }
}

pub async fn create(c: &mut Connection, new: NewVersion) -> StoreResult<TemplateVersion> {
    hold_name(c, new.generator_id, &new.name).await?;
    let before = match newest(c, new.generator_id, new.name.clone()).await {
        Err(StoreError::NotFound) => None,
        found => Some(found?),
    };
    let metadata = match &new.metadata {
        InitialMetadata::Given(metadata) => metadata.clone(),
        InitialMetadata::CopiedFrom(from) => match from.or(before.as_ref().map(|before| before.id)) {
            Some(from) => stacks::metadata_of_version(c, from).await?,
            None => Metadata::default(),
        },
    };
    let row = insert(c, &new, before.map_or(0, |before| before.version)).await?;
    stacks::add_metadata_of_version(c, &row, metadata).await?;
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
    let insert = insert.bind(new.description.clone()).bind(version).bind(new.language.stored(&new.template_content));
    Ok(insert.bind(new.parameters_schema.clone()).bind(new.checksum.clone()).fetch_one(c).await?)
}

pub async fn one(c: &mut Connection, id: Uuid) -> StoreResult<TemplateVersion> {
    Ok(rows("SELECT * FROM stack_templates WHERE id = $1 AND deleted_at IS NULL").bind(id).fetch_one(c).await?)
}

pub async fn including_deleted(c: &mut Connection, id: Uuid) -> StoreResult<TemplateVersion> {
    Ok(rows("SELECT * FROM stack_templates WHERE id = $1").bind(id).fetch_one(c).await?)
}

pub async fn newest(c: &mut Connection, owner: Option<Uuid>, name: String) -> StoreResult<TemplateVersion> {
    Ok(rows(NEWEST).bind(owner_id(owner)).bind(name).fetch_one(c).await?)
}

pub async fn versions(
    c: &mut Connection,
    owner: Option<Uuid>,
    name: String,
    page: Page,
) -> StoreResult<Vec<TemplateVersion>> {
    let select = rows(VERSIONS).bind(owner_id(owner)).bind(name);
    Ok(select.bind(page.after).bind(limit(&page)).fetch_all(c).await?)
}

pub async fn all(
    c: &mut Connection,
    visible: Option<Uuid>,
    name: Option<String>,
    page: Page,
) -> StoreResult<Vec<TemplateVersion>> {
    let mut found = Vec::new();
    for owner in owners(visible) {
        let select = rows(match (owner, &name) {
            (None, None) => ALL,
            (None, Some(_)) => ALL_NAMED,
            (Some(_), None) => OF_OWNER,
            (Some(_), Some(_)) => OF_OWNER_NAMED,
        });
        let select = select.bind(after(&page)).bind(limit(&page)).bind(owner).bind(name.clone());
        found.extend(select.fetch_all(&mut *c).await?);
    }
    Ok(merged(found, &page, |version: &TemplateVersion| version.id))
}

pub async fn search(
    c: &mut Connection,
    visible: Option<Uuid>,
    search: TemplateSearch,
    page: Page,
) -> StoreResult<Vec<TemplateVersion>> {
    let Some(name) = name_before(c, &page).await? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for owner in owners(visible) {
        let select = rows(if owner.is_some() { FOUND_OF_OWNER } else { FOUND });
        let select = select.bind(after(&page)).bind(limit(&page)).bind(owner);
        let select = select.bind(name.clone()).bind(search.text.to_ascii_lowercase()).bind(!search.newest);
        found.extend(select.fetch_all(&mut *c).await?);
    }
    Ok(merged(found, &page, |version: &TemplateVersion| (version.name.to_ascii_lowercase(), version.id)))
}

/// The folded name of the last row of the previous page, or `None` if there is no such row.
async fn name_before(c: &mut Connection, page: &Page) -> StoreResult<Option<String>> {
    let Some(id) = page.after else { return Ok(Some(String::new())) };
    let select = rows::<(String,)>("SELECT name FROM stack_templates WHERE id = $1");
    Ok(select.bind(id).fetch_optional(c).await?.map(|(name,)| name.to_ascii_lowercase()))
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

// Lists of template versions. Each statement reads one index in its order. `$1` is the last ID of the previous page, `$2`
// the limit, `$3` an owner, `$4` a name.

/// The newest version of a name.
pub const NEWEST: &str = concat!(
    "SELECT * FROM stack_templates WHERE ",
    owner!(""),
    " = $1 AND name = $2 AND deleted_at IS NULL ORDER BY version DESC LIMIT 1"
);

/// The versions of a name that are older than a version.
pub const VERSIONS: &str = concat!(
    "SELECT * FROM stack_templates WHERE ",
    owner!(""),
    " = $1 AND name = $2 AND deleted_at IS NULL
    AND version < CASE WHEN $3 IS NULL THEN 2147483648 ELSE (SELECT version FROM stack_templates WHERE id = $3) END
    ORDER BY version DESC LIMIT $4"
);

pub const ALL: &str = "SELECT * FROM stack_templates WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2";

pub const ALL_NAMED: &str = "SELECT * FROM stack_templates WHERE name = $4 AND deleted_at IS NULL AND id > $1
    ORDER BY id LIMIT $2";

pub const OF_OWNER: &str = concat!(
    "SELECT * FROM stack_templates WHERE ",
    owner!(""),
    " = $3 AND deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2"
);

pub const OF_OWNER_NAMED: &str = concat!(
    "SELECT * FROM stack_templates WHERE ",
    owner!(""),
    " = $3 AND name = $4 AND deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2"
);

/// A search below a condition: `$4` is the folded name of the last row of the previous page, `$5` the text. Unless `$6` is
/// set, older versions are left out. IDs come from an index alone; only rows of the page are read.
macro_rules! found {
    ($($condition:expr),*) => {
        concat!(
            "SELECT r.* FROM (SELECT t.id, ",
            folded!("t."),
            " AS folded FROM stack_templates t WHERE ",
            $($condition,)*
            "t.deleted_at IS NULL AND (",
            folded!("t."),
            ", t.id) > ($4, $1) AND ",
            contains!("t.", "$5"),
            " AND ($6 OR NOT EXISTS (SELECT 1 FROM stack_templates newer WHERE ",
            owner!("newer."),
            " = ",
            owner!("t."),
            " AND newer.name = t.name AND newer.version > t.version AND newer.deleted_at IS NULL)) ORDER BY ",
            folded!("t."),
            ", t.id LIMIT $2) page JOIN stack_templates r ON r.id = page.id ORDER BY page.folded, page.id"
        )
    };
}

pub const FOUND: &str = found!();

pub const FOUND_OF_OWNER: &str = found!(owner!("t."), " = $3 AND ");

/// The owners whose lists together are the visible templates: those of a generator and the system, or all. `None` stands for
/// all owners.
pub fn owners(visible: Option<Uuid>) -> Vec<Option<Uuid>> {
    visible.map_or_else(|| vec![None], |id| vec![Some(id), Some(owner_id(None))])
}
