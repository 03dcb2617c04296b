//! Lists of template versions. Each statement reads one index in its order, or merges two.
//!
//! `$1` is the last ID of the previous page, `$2` the limit, `$3` a generator, `$4` the owner of system templates.

use uuid::Uuid;

use crate::store::Visibility;

/// The newest version of a name.
pub const NEWEST: &str = "SELECT * FROM stack_templates
    WHERE owner = $1 AND name = $2 AND deleted_at IS NULL ORDER BY version DESC LIMIT 1";

/// The versions of a name that are older than a version.
pub const VERSIONS: &str = "SELECT * FROM stack_templates WHERE owner = $1 AND name = $2 AND deleted_at IS NULL
    AND version < CASE WHEN $3 IS NULL THEN 2147483648 ELSE (SELECT version FROM stack_templates WHERE id = $3) END
    ORDER BY version DESC LIMIT $4";

pub const ALL: &str = "SELECT * FROM stack_templates WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2";

/// `$5` is the name.
pub const ALL_NAMED: &str = "SELECT * FROM stack_templates WHERE name = $5 AND deleted_at IS NULL AND id > $1
    ORDER BY id LIMIT $2";

/// Templates of a generator and of the system.
pub const VISIBLE: &str = "SELECT * FROM stack_templates WHERE owner = $3 AND deleted_at IS NULL AND id > $1
    UNION ALL SELECT * FROM stack_templates WHERE owner = $4 AND deleted_at IS NULL AND id > $1
    ORDER BY id LIMIT $2";

/// `$5` is the name.
pub const VISIBLE_NAMED: &str = "SELECT * FROM stack_templates
    WHERE owner = $3 AND name = $5 AND deleted_at IS NULL AND id > $1
    UNION ALL SELECT * FROM stack_templates WHERE owner = $4 AND name = $5 AND deleted_at IS NULL AND id > $1
    ORDER BY id LIMIT $2";

/// The condition of a search: `$5` is the folded name of the last row of the previous page, `$6` the pattern. Unless
/// `$7` is set, older versions are left out.
macro_rules! found {
    () => {
        "t.deleted_at IS NULL AND (t.folded_name, t.id) > ($5, $1) AND t.folded_name LIKE $6 ESCAPE '!'
            AND ($7 OR NOT EXISTS (SELECT 1 FROM stack_templates newer WHERE newer.owner = t.owner
                AND newer.name = t.name AND newer.version > t.version AND newer.deleted_at IS NULL))"
    };
}

pub const FOUND: &str =
    concat!("SELECT * FROM stack_templates t WHERE ", found!(), " ORDER BY folded_name, id LIMIT $2");

pub const FOUND_VISIBLE: &str = concat!(
    "SELECT * FROM stack_templates t WHERE t.owner = $3 AND ",
    found!(),
    " UNION ALL SELECT * FROM stack_templates t WHERE t.owner = $4 AND ",
    found!(),
    " ORDER BY folded_name, id LIMIT $2"
);

/// The value of the column `owner`, which is the nil ID for the system.
pub fn owner_id(owner: Option<Uuid>) -> Uuid {
    owner.unwrap_or(Uuid::nil())
}

/// The owners of visible templates: a generator, unless all are visible, and the system.
pub fn owners(visibility: Visibility) -> (Option<Uuid>, Uuid) {
    match visibility {
        Visibility::All => (None, owner_id(None)),
        Visibility::Generator(id) => (Some(id), owner_id(None)),
    }
}
