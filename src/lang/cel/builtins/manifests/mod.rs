//! Functions for authors of manifests: merged maps, JSON, hashes, values from seeds, omitted entries.

pub mod hashes;
pub mod json;
pub mod lists;
pub mod maps;
pub mod omit;
pub mod random;
