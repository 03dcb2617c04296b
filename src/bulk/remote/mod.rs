//! Runs that write to object stores, and runs that write packs.
//!
//! | module | content |
//! |---|---|
//! | `packs` | many outputs in a few files, in a directory or a store |

#[cfg(test)]
mod fake;
mod packs;

pub use self::packs::{PackFormat, PackOptions, check_packs, stamp_packs};

use crate::diagnostics::Result;
use crate::remote::{Lock, LockOptions, Store, SystemClock};

/// The use of the lock of a prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Locking {
    /// Take the lock, or fail if another run holds it.
    #[default]
    Take,
    /// Remove the lock of another run, then take it.
    Break,
    /// Write without a lock.
    Without,
}

/// A place that a run writes to.
#[derive(Debug)]
pub enum Place<'p> {
    /// A directory.
    Directory(&'p std::path::Path),
    /// The objects below the prefix of a store.
    Store(&'p Store),
}

impl Locking {
    /// Takes the lock of the store's prefix.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`].
    fn lock(self, store: &Store) -> Result<Option<Lock>> {
        match self {
            Self::Without => return Ok(None),
            Self::Break => _ = Lock::break_lock(store, &SystemClock::new())?,
            Self::Take => {}
        }
        Lock::acquire(store, LockOptions::default()).map(Some)
    }
}
