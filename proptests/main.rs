//! Property tests, in one binary.

mod builtins;
mod values;
