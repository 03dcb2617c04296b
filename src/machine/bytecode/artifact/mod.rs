//! Artifacts: compiled templates in one MessagePack file, whose tables need no decoding.
//!
//! A bundle holds any number of templates. Its code and tables are one block of words (32 bits, little-endian) in
//! one `bin`; its text is one `str`. Loading copies the words once and borrows the text of `'static` bytes. The file is
//! a map with these keys in this order:
//!
//! | key | type | content |
//! |---|---|---|
//! | `magic` | str | `dropforge artifact` |
//! | `format` | uint | version of this format |
//! | `engine` | str | version of the engine that wrote it |
//! | `isa` | uint | fingerprint of the instruction set and the tables |
//! | `digest` | bin 16 | XXH3 of all following bytes (those before it are the same in every file of a version) |
//! | `stripped` | bool | `true` without spans and source texts |
//! | `resources` | array of maps | none or one: `dialect`, `name`, `files` (sorted; each an array of a path, `true` for a part of `text` or `false` for one of `bytes`, start, end, and an array that is empty or has the start and end of a value in `bytes`) |
//! | `known` | str | the inputs that the residuals know, as a JSON object in clear; empty without residuals |
//! | `templates` | array of maps | sorted by name: `name`, `dialect`, `escape`, `executable`, `digest`, `reaches` (sorted), `program`, `residual` (an array of none or one) |
//! | `bytes` | bin | files that are no text, and the values that a language has of files, in MessagePack |
//! | `text` | str | sources, files, and the names, constants and messages that are not part of them |
//! | `words` | bin | the tables of all templates, the residual of each after its program |
//!
//! A program and a residual are maps: `caches`, `memos`, `lenient`, `mutable`, `sections` (the number of words of each table).
//!
//! It is written with `rmp-serde` and read by a decoder that accepts only that encoding (shortest forms, these keys,
//! nothing after the end) and allocates nothing before it has seen the bytes. The same templates give the same bytes,
//! in any order and on any machine.
//!
//! An artifact is verified once, when it is opened: its digest, then every program by the rules of
//! [`verify`](super::verify), which do not rely on the digest. An artifact of another version is refused, never
//! converted.
//!
//! ```
//! use dropforge::bytecode::{Bundle, Entry, encode};
//! use dropforge::{Dialect, Engine};
//! let template = Engine::new().compile(Dialect::Tera, "hello.tera", "Hello {{ name }}!")?;
//! let entry = Entry { name: "hello.tera", program: template.program(), escape: false, executable: false, reaches: &[], residual: None };
//! let bytes = encode(&[entry], false)?;
//! let bundle = Bundle::open(bytes)?;
//! assert_eq!(bundle.entries()[0].inputs(), ["name"]);
//! assert_eq!(bundle.program("hello.tera").map(|program| program.words() == template.program().words()), Some(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod format;
mod messagepack;
mod open;
mod resources;
mod write;

pub use format::{FORMAT as ARTIFACT_FORMAT, fingerprint, is_artifact};
pub use open::{Bundle, BundleEntry, Bytes};
pub use resources::{HEAD, ResourceFile, Resources, StoredValue, owner};
pub use write::{Entry, FileEntry, FileSet, encode, encode_specialised, encode_with_files};

#[cfg(test)]
mod tests;
