//! A store in a PostgreSQL database, which several servers can share.

mod dialect;
mod pool;
// The statements are written once and compiled for the types of each database.
#[allow(clippy::duplicate_mod)]
#[path = "../sql/mod.rs"]
mod sql;
mod watch;

pub(super) use pool::PostgresStore;
use pool::PostgresStore as Backend;
pub(super) use sql::statements::STATEMENTS;
