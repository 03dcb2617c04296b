//! A catalog of templates with schemas, versions, matching rules, owners, and a provenance record of every render.
//!
//! A [`Catalog`] combines a [`store`] and a [`render::Renderer`]. Each operation takes the [`Actor`] that calls it,
//! checks the actor's permissions, and returns rows or a [`CatalogError`], which carries the HTTP status and error code.
//! Templates are compiled, and their schemas built, once per version. Rendering never parses.
//!
//! | module | contents |
//! |---|---|
//! | `model` | rows, which are also the objects of the REST API |
//! | `access`, `keys` | actors, permissions, the audit trail, and keys |
//! | [`validation`], [`matching`], [`parameters`], [`review`] | rules: lengths, labels and annotations, schemas, templates checked against their schemas |
//! | [`render`] | compiled templates and the threads that render them |
//! | `fair` | turns: callers share threads, connections and the writer |
//! | [`store`] | SQLite and PostgreSQL |
//! | `catalog`, `generators`, `templates`, `stacks`, `objects`, `provenance`, `repeats` | operations, repeats of them |
//! | `quota` | what each generator may have |
//! | [`server`] | the HTTP service and its page |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod access;
mod catalog;
mod content;
mod error;
mod fair;
mod generators;
mod keys;
pub mod matching;
mod model;
mod objects;
pub mod parameters;
mod provenance;
mod quota;
pub mod render;
mod repeats;
pub mod review;
pub mod server;
mod stacks;
pub mod store;
mod templates;
pub mod validation;

pub use access::{Actor, AuditEntry, Origin};
pub use catalog::Catalog;
pub use content::{Content, Encoding, Language, checksum};
pub use error::{CatalogError, ErrorKind, Result, diagnostic, finding_line};
pub use fair::Load;
pub use generators::{GeneratorChange, GeneratorInput, KeyInput};
pub use keys::new_key;
pub use model::{
    DeploymentObject, Generator, KeyRow, MetadataKind, MetadataOwner, MetadataRow, Provenance, Role, Stack,
    TemplateVersion, Timestamp, now,
};
pub use objects::{FailureOrder, Instantiation, ParameterSet, Stamped, Stamper, TemplateSelector};
pub use provenance::{Change, Changed, Changes, Verification};
pub use quota::Quotas;
pub use repeats::KeySeed;
pub use stacks::StackInput;
pub use templates::{Created, Owner, TemplateChange, TemplateInput};
