//! Options of outputs in object stores, and of packs.

use clap::Args;

use crate::usage;

/// Options of outputs in object stores, and of packs.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// Write packs of many outputs, as `tar.zst` or `parquet`, instead of a file or object for each output
    #[arg(long, value_name = "FORMAT")]
    pub(crate) pack: Option<String>,
    /// Take the lock of the prefix from a run that is dead
    #[arg(long)]
    pub(crate) break_lock: bool,
    /// Write to an object store without a lock: no other run may write there
    #[arg(long, conflicts_with = "break_lock")]
    pub(crate) no_lock: bool,
}

impl StoreArgs {
    /// Returns the first given option.
    pub(crate) fn given(&self) -> Option<&'static str> {
        usage::first(&[("--pack", self.pack.is_some()), ("--break-lock", self.break_lock), ("--no-lock", self.no_lock)])
    }
}
