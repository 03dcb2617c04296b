//! Reading YAML 1.2. Most documents are read line by line; the others by a parser of events.

mod builder;
mod line_values;
mod lines;
mod merge;
mod read;

#[cfg(test)]
mod lines_tests;
#[cfg(test)]
mod tests;

pub use read::{Tags, read, read_data, read_one, read_with};
