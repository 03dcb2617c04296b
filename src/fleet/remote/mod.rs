//! Runs that write to object stores, and runs that write packs.
//!
//! | module | content |
//! |---|---|
//! | `prefix` | a prefix as the destination of a run: `sink`, `own` |
//! | `packs` | many outputs in a few files, in a directory or a store |
//! | `target` | all of these, and one object for the whole fleet, as targets of a run |

mod own;
mod packs;
mod prefix;
mod sink;
mod target;

pub use self::packs::{
    PackFormat, PackOptions, PackTarget, PackedOutput, check_packs, find_in_packs, finish_packs, packs_above,
    stamp_packs,
};
pub use self::prefix::Locking;
pub use self::target::{
    RemoteTarget, finish_shards_in_store, preview_of_store, stamp_stream_to_store, stamp_to_store, stream_to_store,
};

use self::own::OwnObjects;
use super::state::{OLD_STATE, OwnFiles as _, RUNS, State};
use dropforge_base::diagnostics::Result;
use dropforge_remote::Store;

impl State {
    /// Reads the state below the prefix of a store like [`State::read`], without listing the prefix. Returns `None` if there is
    /// none.
    ///
    /// # Errors
    /// `file.bad_manifest` if it is not a state; errors of the store.
    pub fn of_store(store: &Store) -> Result<Option<Self>> {
        let own = OwnObjects::new(store, None);
        match own.open_own(RUNS)?.is_some() || own.open_own(OLD_STATE)?.is_some() {
            true => Self::of(Some(&own)).map(Some),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
