//! The functions of the language.
//!
//! Each file has one topic and its tables. A function that the reference's standard library and OpenTofu share is in a
//! table that both use; a function that only one of them has, or that they define differently, is in a separate table.
//! `registries` combines the tables. `intrinsics` are operations that only lowering calls: conditionals, loops,
//! splats and object constructors.

pub(super) mod arguments;
mod assumptions;
mod charsets;
mod conditionals;
mod conversions;
mod csv;
mod documents;
mod encodings;
mod files;
mod format;
mod intrinsics;
mod loops;
mod maps;
mod networks;
mod numbers;
mod patterns;
mod registries;
mod rsa;
mod searches;
mod secrets;
mod sequences;
mod sets;
mod splats;
mod strings;
pub(super) mod table;
#[cfg(feature = "compile")]
mod templates;
#[cfg(test)]
mod tests;
mod times;
mod walk;
mod yaml;

use arguments::{
    Arguments, FromArguments, WHOLE, element_of, has_elements, is_sequence, is_true, items, length_is_known, marked_as,
    number, string, string_list, to_i64, type_name, type_of_list, whole,
};
use table::functions;

#[cfg(feature = "compile")]
pub(super) use registries::complete;
pub use registries::{bare, opentofu, registry, stdlib};
pub use secrets::{EPHEMERAL, SENSITIVE};
