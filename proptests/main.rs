//! Property tests, in one binary.

mod values;
