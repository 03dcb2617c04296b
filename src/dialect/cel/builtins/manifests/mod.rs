//! Functions for those who write manifests: maps put together, documents in documents, names from a seed, places left
//! out.

pub mod hashes;
pub mod json;
pub mod lists;
pub mod maps;
pub mod omit;
pub mod random;

use crate::function::Builtin;

/// The functions of these libraries.
pub static TABLES: &[&[Builtin]] = &[maps::TABLE, json::TABLE, hashes::TABLE, lists::TABLE, random::TABLE, omit::TABLE];
