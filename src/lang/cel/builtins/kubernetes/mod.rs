//! The functions that Kubernetes adds to CEL.

pub mod format;
pub mod jsonpatch;
pub mod lists;
pub mod quantity;
pub mod regex;
pub mod semver;
pub mod text;
pub mod url;
