//! Stores of a catalog: one trait, with one implementation for an SQLite file and one for a PostgreSQL database.
//!
//! Every method is one transaction. When it returns, its changes are on disk. When it fails, nothing has changed.
//! Deleted rows are kept but not found, unless a method says otherwise. Lists are in creation order. Callers make the
//! IDs ([`new_id`]), which increase with time, so a page can end at an ID and the next one begin after it.

mod address;
mod connections;
mod error;
mod interface;
mod postgres;
mod sqlite;
mod types;

pub use address::{address, file, open, without_password};
pub use error::{Outage, StoreError, StoreResult};
pub use interface::Store;
pub use sqlite::{Restored, back_up, restore};
pub use types::{
    Counts, Guard, IdempotencyToken, InitialMetadata, Instance, InstantiationRows, Metadata, NewObject, NewVersion,
    Page, Purged, Requirement, TemplateSearch, Usage, new_id,
};

/// The statements of lists, lookups and counts of SQLite and of PostgreSQL, each with its name and the types of its
/// parameters in PostgreSQL.
#[doc(hidden)]
pub fn statements() -> [&'static [(&'static str, &'static str, &'static str)]; 2] {
    [sqlite::STATEMENTS, postgres::STATEMENTS]
}
