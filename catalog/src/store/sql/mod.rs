//! The store trait, implemented with statements that both databases understand. This module is compiled twice, under
//! `sqlite` and under `postgres`. Connections, transactions and locks, which differ, are in the parent module.

mod audit;
mod backend;
mod generators;
pub mod guard;
mod idempotency;
mod instances;
mod keys;
mod live;
mod metadata;
mod objects;
mod paging;
mod purge;
mod rows;
mod stacks;
pub mod statements;
mod status;
mod template_lists;
mod templates;
