//! Lists of template versions. Each statement reads one index in its order.
//!
//! `$1` is the last ID of the previous page, `$2` the limit, `$3` an owner, `$4` a name.

use uuid::Uuid;

use super::super::dialect::{contains, folded, owner};
use crate::store::Visibility;

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

/// The ID of an owner in the indexes, which is the nil ID for the system.
pub fn owner_id(owner: Option<Uuid>) -> Uuid {
    owner.unwrap_or(Uuid::nil())
}

/// The owners whose lists together are the visible templates. `None` stands for all owners.
pub fn owners(visibility: Visibility) -> Vec<Option<Uuid>> {
    match visibility {
        Visibility::All => vec![None],
        Visibility::Generator(id) => vec![Some(id), Some(owner_id(None))],
    }
}
