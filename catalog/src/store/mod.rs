//! Stores of a catalog: one trait, with one implementation for an SQLite file and one for a PostgreSQL database.
//!
//! Every method is one transaction. When it returns, its changes are on disk. When it fails, nothing has changed.
//! Deleted rows are kept but not found, unless a method says otherwise. Lists are in creation order. Callers make the
//! IDs ([`new_id`]), which increase with time, so a page can end at an ID and the next one begin after it.

mod address;
mod error;
mod guard;
mod interface;
mod migrations;
mod open;
mod outage;
mod postgres;
mod sharing;
mod sqlite;
mod types;
mod work;

pub use address::{address, without_password};
pub use error::{StoreError, StoreResult};
pub use guard::{Guard, Requirement};
pub use interface::Store;
pub use open::{file, open};
pub use outage::Outage;
pub use sqlite::{back_up, restore};
pub use types::{
    Counts, IdempotencyToken, InitialMetadata, Instance, InstantiationRows, Metadata, NewObject, NewVersion, Page,
    Purged, TemplateSearch, Usage, Visibility, new_id,
};

/// The statements of lists, lookups and counts of SQLite and of PostgreSQL, each with its name and the types of its
/// parameters in PostgreSQL.
#[doc(hidden)]
pub fn statements() -> [&'static [(&'static str, &'static str, &'static str)]; 2] {
    [sqlite::STATEMENTS, postgres::STATEMENTS]
}
