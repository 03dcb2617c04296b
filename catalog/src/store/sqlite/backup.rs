//! Backups: complete copies of a catalog, checked, and put in place in one step. A digest of the whole file at its end seals it. SQLite reads
//! a file up to the size in its header, so a sealed file is a database as before.

use std::fs;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dropforge::files;
use dropforge::files::{is_same, open};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection};

use super::file::{APPLICATION, MIGRATIONS};
use super::temporary::Temporary;
use crate::store::{StoreError, StoreResult};

/// Time to wait for the locks of other processes.
const PATIENCE: Duration = Duration::from_secs(2);
/// Ends of the names of files that belong to a database. The first one is the database itself.
const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// A restored catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The size of the catalog in bytes.
    pub bytes: u64,
    /// The backup had a digest, and its content.
    pub is_sealed: bool,
}

fn failed(what: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(what.to_string())
}

/// Copies the catalog at `from` to `to` and adds a digest. Other processes may use the catalog meanwhile: the copy is one
/// moment of it. An existing file is replaced only with `force`, and never while another process uses it. Returns the size
/// of the copy in bytes.
///
/// # Errors
/// [`StoreError::Failed`]: `from` is not a catalog or is damaged, `to` exists, is in use, or is a part of `from`, or a file
/// cannot be written. Then `to` is unchanged.
pub async fn back_up(from: &str, to: &Path, force: bool) -> StoreResult<u64> {
    copy(from, to, force, Some(Seal)).await
}

/// Replaces the catalog at `to` by the backup at `from`. An existing file is replaced only with `force`, and never while
/// another process uses it.
///
/// # Errors
/// [`StoreError::Failed`]: as for [`back_up`]; the digest of `from` does not fit, or it was written by a newer version of
/// dropforge.
pub async fn restore(from: &str, to: &str, force: bool) -> StoreResult<Restored> {
    let sealed = check_seal(Path::new(from)).map_err(|error| unreadable(from, error))?;
    if sealed == Some(false) {
        let message = format!("`{from}` is damaged, or was changed after it was written: its digest does not fit");
        return Err(failed(message));
    }
    let bytes = copy(from, Path::new(to), force, None).await?;
    Ok(Restored { bytes, is_sealed: sealed.is_some() })
}

async fn copy(from: &str, to: &Path, force: bool, seal: Option<Seal>) -> StoreResult<u64> {
    drop(open(Path::new(from)).map_err(|error| unreadable(from, error))?);
    let target = target(to, force)?;
    if let Some(part) = shared_part(Path::new(from), &target) {
        let relation = if part.is_empty() { "is" } else { "belongs to" };
        return Err(failed(format!(
            "`{}` {relation} the file that is copied, `{from}`: name another one",
            to.display()
        )));
    }
    let copy = snapshot(from, &target).await?;
    let bytes = fs::metadata(copy.path()).map_err(failed)?.len();
    let unwritable = |error: io::Error| failed(format!("cannot write `{}`: {error}", to.display()));
    seal.map_or(Ok(()), |seal| seal.put(copy.path())).map_err(unwritable)?;
    if target.exists() {
        settle(&target, to).await?;
        // Left by a process that was killed. They belong to the file that goes.
        PARTS.iter().skip(1).for_each(|part| drop(fs::remove_file(beside(&target, part))));
    }
    copy.replace(&target, force).map_err(unwritable)?;
    Ok(bytes)
}

fn unreadable(path: &str, why: impl std::fmt::Display) -> StoreError {
    failed(format!("cannot read `{path}` as a catalog: {why}"))
}

/// Returns the file to replace, with all links followed.
fn target(to: &Path, force: bool) -> StoreResult<PathBuf> {
    let unwritable = |why: &dyn std::fmt::Display| failed(format!("cannot write `{}`: {why}", to.display()));
    match fs::metadata(to) {
        Ok(_) if !force => Err(failed(format!("`{}` exists: it is replaced only with `--force`", to.display()))),
        Ok(meta) if !meta.is_file() => Err(unwritable(&"it is not a regular file")),
        Ok(_) => fs::canonicalize(to).map_err(|error| unwritable(&error)),
        Err(_) if to.is_symlink() => Err(unwritable(&"it is a link that leads nowhere")),
        Err(_) => Ok(to.to_owned()),
    }
}

/// Returns the path of a part of a database.
fn beside(path: &Path, part: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(part);
    name.into()
}

/// Returns the part of one database that the other file is or would be.
fn shared_part(from: &Path, to: &Path) -> Option<&'static str> {
    let (from, to) = (whole(from), whole(to));
    let is_part = |of: &Path, one: &Path, part: &str| beside(of, part) == one || is_same(&beside(of, part), one);
    PARTS.into_iter().find(|part| is_part(&from, &to, part) || is_part(&to, &from, part))
}

/// Returns a path without links, even if the file does not exist.
fn whole(path: &Path) -> PathBuf {
    let folder = || path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let below = || Some(fs::canonicalize(folder()).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(below).unwrap_or_else(|| path.to_owned())
}

/// Copies one moment of a catalog to a new file beside `target`, and checks the copy.
async fn snapshot(from: &str, target: &Path) -> StoreResult<Temporary> {
    let cannot = |error: sqlx::Error| unreadable(from, error);
    let mut source = copy_options(from).connect().await.map_err(cannot)?;
    check_is_catalog(&mut source, from).await?;
    let unwritable = |error: io::Error| failed(format!("cannot write beside `{}`: {error}", target.display()));
    let copy = Temporary::create(target).map_err(unwritable)?;
    let path = copy.path().to_str().ok_or_else(|| unwritable(ErrorKind::InvalidFilename.into()))?.to_owned();
    sqlx::query("VACUUM INTO $1").bind(path.clone()).execute(&mut source).await.map_err(cannot)?;
    source.close().await.map_err(cannot)?;
    let mut made = copy_options(&path).connect().await.map_err(cannot)?;
    check_integrity(&mut made, from).await?;
    made.close().await.map_err(cannot)?;
    Ok(copy)
}

fn copy_options(path: &str) -> SqliteConnectOptions {
    // A relative name such as `file:x` would be read as a URI.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("./{path}") };
    SqliteConnectOptions::new().filename(path).create_if_missing(false).busy_timeout(PATIENCE)
}

async fn check_is_catalog(connection: &mut SqliteConnection, path: &str) -> StoreResult<()> {
    let not = |error: sqlx::Error| failed(format!("`{path}` is not a catalog: {error}"));
    let id: i32 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await.map_err(not)?;
    if id != APPLICATION {
        return Err(failed(format!("`{path}` is not a catalog")));
    }
    let newest = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations");
    let newest: Option<i64> = newest.fetch_one(connection).await.map_err(not)?;
    match newest.filter(|newest| MIGRATIONS.iter().all(|(version, _)| version < newest)) {
        Some(newest) => Err(failed(format!("`{path}` has schema {newest}, written by a newer version of dropforge"))),
        None => Ok(()),
    }
}

async fn check_integrity(connection: &mut SqliteConnection, path: &str) -> StoreResult<()> {
    let damaged = |what: &dyn std::fmt::Display| failed(format!("`{path}` is damaged: {what}"));
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| damaged(&error))?;
    let orphan = sqlx::query("PRAGMA foreign_key_check").fetch_optional(connection).await;
    match orphan.map_err(|error| damaged(&error))? {
        _ if found != "ok" => Err(damaged(&found)),
        Some(_) => Err(damaged(&"a row refers to a row that is not there")),
        None => Ok(()),
    }
}

/// Requires that no other process uses a catalog, which errors call `named`, and moves its log into the file. A file that SQLite cannot read is in
/// use by nobody.
async fn settle(path: &Path, named: &Path) -> StoreResult<()> {
    // Leaving WAL mode needs the file alone.
    let path = path.to_string_lossy();
    let opened = copy_options(&path).journal_mode(SqliteJournalMode::Delete).connect().await;
    match opened {
        Ok(connection) => connection.close().await.map_err(failed),
        Err(sqlx::Error::Database(error)) if error.message().contains("locked") => {
            let name = named.display();
            Err(failed(format!("`{name}` is in use: stop the service that uses it, then repeat the command")))
        }
        Err(_) => Ok(()),
    }
}

/// The start of a seal.
const MARK: &[u8; 8] = b"dfcgseal";
/// The length of a seal. That of a database is a multiple of its page size, so the length tells which file has one.
const SEAL: u64 = 40;
/// The smallest page size.
const PAGE: u64 = 512;
/// The length of the header of a database.
const HEADER: u64 = 100;

/// Seals a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seal;

impl Seal {
    /// Appends the digest to a file.
    pub(super) fn put(self, path: &Path) -> io::Result<()> {
        let digest = digest(&mut files::open(path)?)?;
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(&[&MARK[..], &digest].concat())
    }
}

/// Compares a file with its seal. Returns `None` if it has none: it is no backup, or an old one. A file that is shorter than
/// its pages was cut, and with it the seal: SQLite reads it with an empty last page.
fn check_seal(path: &Path) -> io::Result<Option<bool>> {
    let mut file = files::open(path)?;
    let length = file.metadata()?.len();
    let wanted = length_in_header(&mut file)?;
    match length % PAGE {
        SEAL => {}
        0 if wanted.is_none_or(|wanted| length >= wanted) => return Ok(None),
        _ => return Ok(wanted.map(|_| false)),
    }
    let expected = digest(&mut (&mut file).take(length - SEAL))?;
    let mut seal = Vec::new();
    file.seek(SeekFrom::Start(length - SEAL))?;
    file.take(SEAL).read_to_end(&mut seal)?;
    Ok(Some(seal == [&MARK[..], &expected].concat()))
}

/// Returns the length that the header of a database tells: the size of its pages and their number. `None` for another file.
fn length_in_header(file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
    let mut header = Vec::new();
    file.take(HEADER).read_to_end(&mut header)?;
    file.seek(SeekFrom::Start(0))?;
    let number = |at: Range<usize>| {
        header.get(at).unwrap_or(&[]).iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
    };
    // The largest size does not fit.
    let page = if number(16..18) == 1 { 1 << 16 } else { number(16..18) };
    Ok(header.starts_with(b"SQLite format 3\0").then(|| page * number(28..32)))
}

fn digest(read: &mut dyn Read) -> io::Result<[u8; 32]> {
    Ok(*blake3::Hasher::new().update_reader(read)?.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_of_a_sealed_file_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sealed");
        std::fs::write(&path, [7; 512]).unwrap();
        assert_eq!(check_seal(&path).unwrap(), None);
        Seal.put(&path).unwrap();
        assert_eq!(check_seal(&path).unwrap(), Some(true));
        let sealed = std::fs::read(&path).unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            assert_eq!(check_seal(&path).unwrap(), Some(false), "bit {bit}");
        }
    }

    #[test]
    fn a_file_that_was_cut_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cut");
        let mut pages = vec![0; 4 * 512];
        pages[..18].copy_from_slice(b"SQLite format 3\0\x02\0");
        pages[31] = 4;
        std::fs::write(&path, &pages).unwrap();
        assert_eq!(check_seal(&path).unwrap(), None);
        Seal.put(&path).unwrap();
        assert_eq!(check_seal(&path).unwrap(), Some(true));
        let sealed = std::fs::read(&path).unwrap();
        for length in (0..sealed.len()).filter(|length| *length != pages.len()) {
            std::fs::write(&path, &sealed[..length]).unwrap();
            // Less than the name of the format is no database.
            let wanted = if length < 16 { None } else { Some(false) };
            assert_eq!(check_seal(&path).unwrap(), wanted, "{length} bytes");
        }
    }
}
