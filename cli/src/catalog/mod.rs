//! `dropforge catalog`: templates with versions, schemas and matching rules, in a local store or a service.
//!
//! Every command sends requests of the REST interface. For a local store the same routes run in this process.

mod backup;
mod client;
mod command;
mod generators;
mod import;
mod objects;
mod output;
mod templates;

pub(crate) use command::{CatalogArgs, run};
