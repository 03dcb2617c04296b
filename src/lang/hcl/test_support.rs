//! Contexts for unit tests.

use dropforge_base::limits::Limits;
use dropforge_machine::function::{Caches, Capabilities, Cx};
use dropforge_value::{Arena, Inputs};

/// Runs `body` with a fresh arena and full budgets.
pub(super) fn with_cx<T>(body: impl FnOnce(&Cx<'_>) -> T) -> T {
    with_limits(&Limits::default(), body)
}

/// Runs `body` with a fresh arena under `limits`.
pub(super) fn with_limits<T>(limits: &Limits, body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, caches) = (Arena::new(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), limits, Capabilities::ALL, &caches))
}
