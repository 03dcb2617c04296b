//! A store in one SQLite file.
//!
//! All changes go through one connection ([`writer`]). Reads use other connections, which see the last committed state
//! and never wait. The file is in WAL mode, and every commit is synced.

mod backup;
mod dialect;
mod file;
mod pool;
// The statements are written once and compiled for the types of each database.
#[allow(clippy::duplicate_mod)]
#[path = "../sql/mod.rs"]
mod sql;
mod writer;

pub use backup::{back_up, restore};
pub(super) use pool::SqliteStore;
use pool::SqliteStore as Backend;
pub(super) use sql::statements::STATEMENTS;
