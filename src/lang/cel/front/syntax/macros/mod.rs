//! Macros: calls that the parser expands. The expansion equals the reference's node for node, because types and costs
//! are defined on it.

mod bindings;
mod expand;
mod factory;
mod loops;
mod math;

pub(super) use expand::expand;
pub use expand::expanded;
pub(crate) use factory::ACCUMULATOR;
pub use factory::UNUSED;
pub(crate) use loops::QUANTIFIERS;
