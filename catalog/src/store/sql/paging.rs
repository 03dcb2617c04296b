//! Parameters of paged statements.

use uuid::Uuid;

use crate::store::Page;

/// The ID after which a page begins. No row has the nil ID.
pub fn after(page: &Page) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}

pub fn limit(page: &Page) -> i64 {
    page.limit.map_or(i64::MAX, i64::from)
}
