//! Fair sharing: whatever callers compete for is handed out in turns, one caller after another.
//!
//! Each [`Identity`] has a queue of its own. [`Turns`] takes from the queues round robin, so a caller with a thousand
//! waiting entries delays another by one entry, not by a thousand. No caller holds all places at the same time, and a
//! full queue refuses only its owner. The render threads, the connections of the stores and the writer of SQLite share
//! in this way.

mod budget;
mod gate;
mod identity;
mod turns;

pub(crate) use budget::{Budget, Held};
pub(crate) use gate::{Gate, Pass};
pub(crate) use identity::Identity;
pub use turns::Load;
pub(crate) use turns::{Bounds, Turns};
