//! The information model: types, values, and the operations on them.
//!
//! | module | contents |
//! |---|---|
//! | [`types`], [`mod@convert`], [`mod@unify`] | types, conversion, and common types |
//! | [`operators`], [`equality`] | the operators |
//! | [`traverse`] | `value[key]` and `value.name`; [`access`] does not convert keys |
//! | [`elements`], [`sets`] | making and walking collections |
//! | `refine` | refinements of unknown values |
//! | [`marks`] | marks that a host puts on values |
//! | [`defaults`] | defaults of optional attributes |
//! | [`json`] | values as JSON |

pub mod access;
pub mod convert;
pub mod defaults;
pub mod elements;
pub mod equality;
pub mod json;
pub mod marks;
pub mod operators;
pub(crate) mod refine;
pub mod sets;
pub mod traverse;
pub mod types;
pub mod unify;

use refine::{bool_or_unknown, is_definitely_not_null};

pub use convert::{conversion_exists, convert, fits, mismatch};
pub use dropforge_machine::function::{Fault, Outcome, PathStep, Wrong, number_of};
pub use elements::{common_type, copied, is_wholly_known, list_of, map_of, rebuilt, unknown_as_null};
pub use equality::is_dynamic;
pub use equality::{equals, raw_equals};
pub use marks::{contains_marked, mark_with_paths, marked_by, propagate, unmark_deep, unmark_deep_with_paths};
pub use operators::{binary, machine_int, number_value};
pub use refine::{Refine, safe_prefix, settled};
pub use sets::Index;
pub use sets::{is_set, set_of};
pub(crate) use types::shallow_type;
pub use types::{conforms, constraint_name, has_known_type, same_type, type_of, types_of, without_optional};
pub use unify::{Unified, unified_type, unify};

#[cfg(test)]
mod tests;
