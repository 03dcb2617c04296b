//! The information model: types, values, and the operations on them.
//!
//! | module | contents |
//! |---|---|
//! | [`types`], [`mod@convert`], [`mod@unify`] | types, defaults of optional attributes, conversion, and common types |
//! | [`operators`] | the operators, equality |
//! | [`traverse`] | `value[key]` and `value.name`; [`access`] does not convert keys, and has sets |
//! | [`elements`] | making and walking collections; marks that a host puts on values |
//! | `refine` | refinements of unknown values |
//! | [`json`] | values as JSON |

pub mod access;
pub mod convert;
pub mod elements;
pub mod json;
pub mod operators;
pub(crate) mod refine;
pub mod traverse;
pub mod types;
pub mod unify;

use refine::{bool_or_unknown, is_definitely_not_null};

pub use access::{Index, is_set, set_of};
pub use convert::{conversion_exists, convert, fits, mismatch};
pub use dropforge_machine::function::{Fault, Outcome, PathStep, Wrong, number_of};
pub use elements::{
    common_type, contains_marked, copied, is_wholly_known, list_of, map_of, mark_with_paths, marked_by, propagate,
    rebuilt, unknown_as_null, unmark_deep, unmark_deep_with_paths,
};
pub use operators::{binary, equals, is_dynamic, machine_int, number_value, raw_equals};
pub use refine::{Refine, safe_prefix, settled};
pub(crate) use types::shallow_type;
pub use types::{conforms, constraint_name, has_known_type, same_type, type_of, types_of, without_optional};
pub use unify::{Unified, unified_type, unify};

#[cfg(test)]
mod tests;
