//! Object stores and OCI registries: inputs read by URL, outputs written to a prefix, artifacts pushed and pulled.
//!
//! | module | content |
//! |---|---|
//! | `location` | URLs: [`Location`] |
//! | `store` | [`Store`], a blocking client of one store |
//! | `putter` | [`Putter`], concurrent puts that report every outcome |
//! | `upload` | files as objects, the long ones in parts |
//! | `lock` | [`Lock`], one run at a time for a prefix |
//! | `fetch` | objects and prefixes as files |
//! | `oci` | artifacts in registries |
//! | `pack` | many outputs in one file |
//! | `open`, `http`, `retry`, `runtime`, `failure`, `task`, `clock` | credentials and options, HTTP, attempts, threads, errors, operations, time |
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
mod fetch;
mod http;
mod location;
mod lock;
pub mod oci;
mod open;
pub mod pack;
mod putter;
mod retry;
mod runtime;
mod store;
mod task;
mod upload;

pub use clock::{Clock, ManualClock, SystemClock};
pub use fetch::fetch_version;
pub use fetch::{TreeLimits, fetch_file, fetch_tree};
pub use location::{Bucket, Kind, Location};
pub use lock::{Guard, LOCK, Lock, LockOptions, LockRecord};
pub use putter::{Lane, Outcome, PutOptions, Putter};
pub use retry::Patience;
pub use store::{Condition, Object, ObjectInfo, Revision, Store, StoreOptions};
pub use upload::{UploadOptions, upload_file};
