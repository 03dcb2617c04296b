//! Statements on the instances of a template: the newest object of each stack.
//!
//! `$1` and `$2` are the owner and the name of the template, `$3` the last object of the previous page, `$4` the limit,
//! `$5` the generator of the stacks, `$6` the nil ID.

use sqlx::{FromRow, Row as _};
use uuid::Uuid;

use super::super::dialect::{Connection, Row};
use super::paging::limit;
use super::rows::rows;
use super::template_lists::owner_id;
use crate::store::{Instance, Metadata, Page, StoreResult};

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
pub const ALL: &str = concat!(
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
pub const OF_GENERATOR: &str = concat!(
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

pub async fn all(
    c: &mut Connection,
    owner: Option<Uuid>,
    name: String,
    stacks_of: Option<Uuid>,
    page: Page,
) -> StoreResult<Vec<Instance>> {
    let select = rows(if stacks_of.is_some() { OF_GENERATOR } else { ALL });
    let select = select.bind(owner_id(owner)).bind(name).bind(page.after).bind(limit(&page));
    let mut found: Vec<Instance> = select.bind(stacks_of).bind(Uuid::nil()).fetch_all(c).await?;
    found.sort_by_key(|instance| instance.object.stack_id);
    Ok(found)
}
