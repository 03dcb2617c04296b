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

/// A page of lists that were read one after the other.
pub fn merged<T, K: Ord>(mut rows: Vec<T>, page: &Page, key: impl Fn(&T) -> K) -> Vec<T> {
    rows.sort_by_cached_key(key);
    rows.truncate(page.limit.map_or(usize::MAX, |limit| limit as usize));
    rows
}
