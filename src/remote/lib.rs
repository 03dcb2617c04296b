//! Object stores and OCI registries: inputs read by URL, outputs written to a prefix, artifacts pushed and pulled.
//!
//! | module | content |
//! |---|---|
//! | `location` | URLs: [`Location`] |
//! | `store` | [`Store`], a blocking client of one store |
//! | `putter` | [`Putter`], concurrent puts that report every outcome |
//! | `transfer` | files as objects, the long ones in parts; objects and prefixes as files |
//! | `lock` | [`Lock`], one run at a time for a prefix |
//! | `oci` | artifacts and charts in registries |
//! | `files` | files of web servers |
//! | `pack` | many outputs in one file |
//! | `http`, `settings` | HTTP and options; settings from the environment, checked |
//! | `failure` | errors and attempts; notices about those that take long |
//! | `task`, `clock` | operations and threads; time |
//!
//! All functions block. They start their own threads, and can be called from any thread, except one that runs
//! asynchronous tasks.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod clock;
mod failure;
#[cfg(any(test, feature = "faults"))]
#[doc(hidden)]
pub mod faults;
mod files;
mod http;
mod location;
mod lock;
pub mod oci;
pub mod pack;
mod putter;
mod settings;
mod store;
mod task;
mod transfer;

pub use clock::{Clock, ManualClock, SystemClock};
pub use dropforge_http::{Identity, Trust};
pub use failure::{Patience, on_wait};
pub use files::{Login, WebFiles, join_url};
pub use http::StoreOptions;
pub use location::{Bucket, Kind, Location};
pub use lock::{Guard, LOCK, Lock, LockOptions, LockRecord};
pub use putter::{Lane, Outcome, PutOptions, Putter};
pub use store::{ObjectInfo, Store};
pub use task::{Condition, Object, Revision};
pub use transfer::{TreeLimits, UploadOptions, fetch_file, fetch_tree, fetch_version, upload_file};
