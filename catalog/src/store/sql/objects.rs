//! Statements on deployment objects, their provenance, and the instances of a template: the newest object of each stack.

use std::sync::Arc;

use sqlx::query::QueryAs;
use sqlx::{FromRow, Row as _};
use uuid::Uuid;

use super::super::{Connection, Db, Row};
use super::rows::{Arguments, limit, owner_id, rows, statement};
use crate::access::Origin;
use crate::model::{DeploymentObject, Provenance};
use crate::store::{Instance, InstantiationRows, Metadata, NewObject, Page, StoreResult, new_id};

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

/// Adds an object to a live stack with `sql`, which is [`CREATE_OBJECT`](super::super::CREATE_OBJECT) or the same
/// as a transaction of its own.
pub async fn create(
    c: &mut Connection,
    sql: &'static str,
    new: NewObject,
    origin: Arc<Origin>,
) -> StoreResult<DeploymentObject> {
    let (sequence_id,) = bound(sql, &new, &origin).fetch_one(c).await?;
    Ok(DeploymentObject {
        id: new.id,
        created_at: new.at,
        updated_at: new.at,
        deleted_at: None,
        sequence_id,
        stack_id: new.stack_id,
        yaml_content: new.yaml_content,
        yaml_checksum: new.yaml_checksum,
        submitted_at: new.at,
        is_deletion_marker: new.is_deletion_marker,
    })
}

/// Binds the object, its record, and the entry of the audit trail.
fn bound(sql: &'static str, new: &NewObject, origin: &Origin) -> QueryAs<'static, Db, (i64,), Arguments> {
    let record = new.provenance.as_ref();
    let text = |of: fn(&Provenance) -> &String| record.map(|record| of(record).clone());
    let insert = rows(sql).bind(new.id).bind(new.at).bind(new.stack_id).bind(new.yaml_content.clone());
    let insert = insert.bind(new.yaml_checksum.clone()).bind(new.is_deletion_marker);
    let insert = insert.bind(record.map(|record| record.id)).bind(record.map(|record| record.template_id));
    let insert = insert.bind(record.map(|record| record.template_version)).bind(text(|it| &it.template_parameters));
    let insert = insert.bind(record.map(|record| record.defaults)).bind(text(|it| &it.template_checksum));
    let insert = insert.bind(text(|it| &it.schema_checksum)).bind(text(|it| &it.parameters_checksum));
    let insert = insert.bind(text(|it| &it.output_checksum)).bind(text(|it| &it.engine));
    let insert = insert.bind(new_id()).bind(origin.role.map(|role| role.name())).bind(origin.key_id);
    let insert = insert.bind(origin.key_name.clone()).bind(origin.generator_id);
    insert.bind(origin.address.map(|address| address.to_string())).bind(origin.request_id.clone())
}

/// Adds the deletion marker of a stack.
pub async fn insert_marker(c: &mut Connection, new: NewObject) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO deployment_objects
        (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        VALUES ($1, $2, $2, $3, $4, $5, $2, $6)",
    );
    let insert = insert.bind(new.id).bind(new.at).bind(new.stack_id).bind(new.yaml_content).bind(new.yaml_checksum);
    insert.bind(new.is_deletion_marker).execute(c).await?;
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

// Instances of a template. `$1` and `$2` are the owner and the name of the template, `$3` the last object of the previous
// page, `$4` the limit, `$5` the generator of the stacks, `$6` the nil ID.

/// The stack of the last object of the previous page, or the nil ID.
macro_rules! stack_before {
    () => {
        "CASE WHEN $3 IS NULL THEN $6 ELSE (SELECT stack_id FROM deployment_objects WHERE id = $3) END"
    };
}

/// The newest object of each stack in `page`. Labels, keys and values contain no white space.
macro_rules! newest_in_page {
    () => {
        " SELECT o.*, r.*,
            (SELECT string_agg(l.label, ' ') FROM stack_labels l WHERE l.stack_id = o.stack_id) AS stack_labels,
            (SELECT string_agg(a.key || ' ' || a.value, ' ') FROM stack_annotations a WHERE a.stack_id = o.stack_id)
                AS stack_annotations
            FROM page JOIN deployment_objects o ON o.sequence_id = (SELECT i.sequence_id FROM instances i
                WHERE i.owner = $1 AND i.name = $2 AND i.stack_id = page.stack_id ORDER BY i.sequence_id DESC LIMIT 1)
            JOIN rendered_deployment_objects r ON r.deployment_object_id = o.id"
    };
}

/// Instances in all stacks. Each step of the recursion finds the next stack in the index.
pub const INSTANCES: &str = concat!(
    "WITH RECURSIVE step (stack_id) AS (
        SELECT (SELECT stack_id FROM instances WHERE owner = $1 AND name = $2 AND stack_id > ",
    stack_before!(),
    " ORDER BY stack_id LIMIT 1)
        UNION ALL SELECT (SELECT i.stack_id FROM instances i WHERE i.owner = $1 AND i.name = $2
            AND i.stack_id > step.stack_id ORDER BY i.stack_id LIMIT 1) FROM step WHERE step.stack_id IS NOT NULL),
    page AS (SELECT stack_id FROM step
        WHERE EXISTS (SELECT 1 FROM stacks s WHERE s.id = step.stack_id AND s.deleted_at IS NULL) LIMIT $4)",
    newest_in_page!()
);

/// Instances in the stacks of a generator. (With `EXISTS`, PostgreSQL may read all instances first.)
pub const INSTANCES_OF_GENERATOR: &str = concat!(
    "WITH page AS (SELECT s.id AS stack_id FROM stacks s
        WHERE s.generator_id = $5 AND s.deleted_at IS NULL AND s.id > ",
    stack_before!(),
    " AND (SELECT i.stack_id FROM instances i WHERE i.owner = $1 AND i.name = $2 AND i.stack_id = s.id LIMIT 1)
        IS NOT NULL ORDER BY s.id LIMIT $4)",
    newest_in_page!()
);

impl FromRow<'_, Row> for Instance {
    fn from_row(row: &Row) -> Result<Self, sqlx::Error> {
        let words = |text: Option<String>| text.unwrap_or_default().split(' ').map(str::to_owned).collect::<Vec<_>>();
        let labels = words(row.try_get("stack_labels")?);
        let annotations = words(row.try_get("stack_annotations")?);
        let pairs = annotations.chunks_exact(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())));
        let stack_metadata = Metadata {
            labels: labels.into_iter().filter(|label| !label.is_empty()).collect(),
            annotations: pairs.collect(),
        };
        Ok(Self { object: FromRow::from_row(row)?, provenance: FromRow::from_row(row)?, stack_metadata })
    }
}

pub async fn instances(
    c: &mut Connection,
    owner: Option<Uuid>,
    name: String,
    stacks_of: Option<Uuid>,
    page: Page,
) -> StoreResult<Vec<Instance>> {
    let select = rows(if stacks_of.is_some() { INSTANCES_OF_GENERATOR } else { INSTANCES });
    let select = select.bind(owner_id(owner)).bind(name).bind(page.after).bind(limit(&page));
    let mut found: Vec<Instance> = select.bind(stacks_of).bind(Uuid::nil()).fetch_all(c).await?;
    found.sort_by_key(|instance| instance.object.stack_id);
    Ok(found)
}
