//! Opening a store by its address.

use std::sync::Arc;

use super::error::{StoreError, StoreResult};
use super::interface::Store;
use super::postgres::PostgresStore;
use super::sqlite::SqliteStore;

/// Opens a store. `postgres://…` and `postgresql://…` are PostgreSQL databases (15 or newer). Anything else is the path
/// of an SQLite file, with or without `sqlite:` before it; `:memory:` is a temporary store. Creates a missing file and
/// missing tables.
///
/// # Errors
/// [`StoreError::Failed`] if the store does not exist, is not a catalog, or was written by a newer version of dropforge.
/// The text names the file, but never the address of a database, which may contain a password.
///
/// # Examples
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let store = dropforge_catalog::store::open(":memory:").await.unwrap();
/// assert_eq!(store.counts().await.unwrap().templates, 0);
/// store.close().await;
/// # });
/// ```
pub async fn open(db: &str) -> StoreResult<Arc<dyn Store>> {
    match file(db)? {
        None => Ok(Arc::new(PostgresStore::open(db).await?)),
        Some(path) => Ok(Arc::new(SqliteStore::open(path).await?)),
    }
}

/// Returns the path of the SQLite file that a database address stands for, or `None` for a PostgreSQL database.
///
/// # Errors
/// [`StoreError::Failed`] for another kind of database.
pub fn file(db: &str) -> StoreResult<Option<&str>> {
    if db.starts_with("postgres://") || db.starts_with("postgresql://") {
        return Ok(None);
    }
    let path = db.strip_prefix("sqlite:").map_or(db, |path| path.strip_prefix("//").unwrap_or(path));
    match path.split_once("://") {
        Some((kind, _)) => {
            Err(StoreError::Failed(format!("unknown kind of database `{kind}://`: use `postgres://` or a file")))
        }
        None => Ok(Some(path)),
    }
}
