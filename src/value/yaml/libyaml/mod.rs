//! YAML as the readers and writers of the libyaml family process it: YAML 1.1 with their own resolution of scalars,
//! their line folding, and their messages.
//!
//! [`write()`] writes values in one of two forms ([`Form`]); [`read()`] reads the first document of a text, [`read_all`]
//! all of them.
//!
//! | module | content |
//! |---|---|
//! | `resolve` | which plain scalars are numbers, booleans, null, dates |
//! | `analysis` | which styles can hold a text |
//! | `emit` | columns, indentation, indicators, scalars in each style |
//! | `order` | the order of keys, in which numbers count as numbers |
//! | `write` | values as documents |
//! | `chars`, `scan`, `scan_text`, `parse` | characters, tokens, scalars, events |
//! | `read` | events as values |

mod analysis;
mod chars;
mod emit;
mod order;
mod parse;
mod read;
mod resolve;
mod scan;
mod scan_text;
mod write;

#[cfg(test)]
mod tests;

pub use scan::NO_TOKEN;

pub use read::{Documents, ReadOptions, read, read_all};
pub use write::{Form, write};
