//! Opening a store by its address, and addresses without their passwords, for messages.

use std::sync::Arc;

use percent_encoding::percent_decode_str;

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

/// Returns the address of a database for messages: without user, password and options. The path of a file stays as it
/// is. If the password cannot be separated from the rest, only the kind of database is left.
///
/// ```
/// use dropforge_catalog::store::address;
/// assert_eq!(address("postgres://me:secret@db:5432/catalog?sslmode=require"), "postgres://db:5432/catalog");
/// assert_eq!(address("catalog.db"), "catalog.db");
/// ```
pub fn address(db: &str) -> String {
    let Some((kind, rest)) = db.split_once("://") else { return db.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, further) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An `@` further on may end a password that contains `/`, `?` or `#`.
    if further.contains('@') {
        return format!("{kind}://…");
    }
    let path = further.split(['?', '#']).next().unwrap_or_default();
    format!("{kind}://{}{path}", without_text_port(host))
}

/// Removes a port that is no number: in an address without a host it is a password.
fn without_text_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Replaces the password in the address `db` by `***` in a message.
pub fn without_password(db: &str, message: &str) -> String {
    let mut message = message.to_owned();
    for password in passwords(db) {
        message = message.replace(&password, "***");
    }
    message
}

/// Everything in an address that may be a password, as written and decoded, the longest first.
fn passwords(db: &str) -> Vec<String> {
    let Some((_, rest)) = db.split_once("://") else { return Vec::new() };
    let user = rest.rsplit_once('@').map_or(rest, |(user, _)| user);
    let options = rest.split(['?', '&', '#']).filter_map(|option| option.split_once('='));
    let options = options.filter(|(name, _)| name.contains("password")).map(|(_, value)| value);
    let written = user.split_once(':').map(|(_, password)| password).into_iter().chain(options);
    let both = written.flat_map(|text| [text.to_owned(), percent_decode_str(text).decode_utf8_lossy().into_owned()]);
    let mut found: Vec<_> = both.filter(|text| !text.is_empty()).collect();
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_an_address_shows_its_password() {
        for (db, shown) in [
            ("postgres://u:p@host/db", "postgres://host/db"),
            ("postgres://u:se@cret@host:5433/db", "postgres://host:5433/db"),
            ("postgres://u:se/cret@host/db", "postgres://…"),
            ("postgres://u:se?cret@host/db", "postgres://…"),
            ("postgres://u:se#cret@host/db", "postgres://…"),
            ("postgres://host/db?user=u&password=secret", "postgres://host/db"),
            ("postgres://host/db?password=se@cret", "postgres://…"),
            ("postgres://u:x@host/db?password=se@cret", "postgres://…"),
            ("postgres://u:secret", "postgres://u"),
            ("postgres://[::1]:5432/db", "postgres://[::1]:5432/db"),
            ("postgres://[::1]/db", "postgres://[::1]/db"),
            ("mysql://u:secret@host/db", "mysql://host/db"),
            ("postgres://", "postgres://"),
            ("a@b.db", "a@b.db"),
            ("", ""),
        ] {
            assert_eq!(address(db), shown, "{db}");
        }
    }

    #[test]
    fn messages_show_no_password() {
        let told = |db: &str| without_password(db, "cannot use `se@cret` or `se%40cret` of u");
        assert_eq!(told("postgres://u:se%40cret@host/db"), "cannot use `***` or `***` of u");
        assert_eq!(told("postgres://host/db?password=se%40cret&user=u"), "cannot use `***` or `***` of u");
        assert_eq!(told("postgres://u:se@cret@host/db"), "cannot use `***` or `se%40cret` of u");
        assert_eq!(told("postgres://u@host/db"), told("catalog.db"));
    }
}
