//! Property tests, in one binary.

mod tower;
mod values;
mod yaml;
