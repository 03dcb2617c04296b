//! Artifacts: compiled templates as one MessagePack file that loads without being decoded into anything.
//!
//! A bundle holds any number of templates. Its code and tables are one block of words (32 bits, little-endian) in
//! one `bin`, its text is one `str`; loading copies the words once and borrows the text where the bytes are
//! `'static`. The file is a map with these keys in this order:
//!
//! | key | type | what |
//! |---|---|---|
//! | `magic` | str | `dropforge artifact` |
//! | `format` | uint | version of this format |
//! | `engine` | str | version of the engine that wrote it |
//! | `isa` | uint | fingerprint of the instruction set and the tables |
//! | `digest` | bin 32 | BLAKE3 of all bytes behind it (those before it are the same in every file of a version) |
//! | `stripped` | bool | whether spans and the texts of sources were left out |
//! | `templates` | array of maps | sorted by name: `name`, `dialect`, `escape`, `digest`, `reaches` (sorted), `caches`, `memos`, `sections` (how many words each table has) |
//! | `text` | str | sources, and of names, constants and messages what stands in none of them |
//! | `words` | bin | the tables of all templates, one after the other |
//!
//! It is written with `rmp-serde` and read by a decoder of ours that takes no other encoding than that one
//! (shortest forms, these keys, nothing behind the end) and allocates nothing before it knows that the bytes are
//! there. The same templates give the same bytes, in whatever order they come and wherever they are compiled.
//!
//! An artifact is verified once, when it is opened: its digest, then every program by the rules of
//! [`verify`](super::verify). A digest is no proof of who wrote the file; the rules hold without it. An artifact
//! of another version is refused, never converted: it is compiled again.
//!
//! ```
//! use dropforge::bytecode::{Bundle, Entry, encode};
//! use dropforge::engine::{Dialect, Engine};
//! let template = Engine::new().compile(Dialect::Tera, "hello.tera", "Hello {{ name }}!")?;
//! let entry = Entry { name: "hello.tera", program: template.program(), escape: false, reaches: &[] };
//! let bytes = encode(&[entry], false)?;
//! let bundle = Bundle::open(bytes)?;
//! assert_eq!(bundle.entries()[0].inputs(), ["name"]);
//! assert_eq!(bundle.program("hello.tera").map(|program| program.words() == template.program().words()), Some(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fingerprint;
mod names;
mod open;
mod read;
#[cfg(all(test, feature = "compile"))]
mod tests;
#[cfg(feature = "compile")]
mod write;

pub use fingerprint::fingerprint;
pub use open::{Bundle, BundleEntry, Bytes};
#[cfg(feature = "compile")]
pub use write::{Entry, encode};

/// How an artifact begins.
const MAGIC: &str = "dropforge artifact";

/// Whether a file that begins with `head` is meant as an artifact, of whatever version and however damaged. No text
/// begins like this.
///
/// ```
/// use dropforge::bytecode::{encode, is_artifact};
/// assert!(is_artifact(&encode(&[], false).unwrap()));
/// assert!(!is_artifact(b"{{ magic }}") && !is_artifact(b""));
/// ```
pub fn is_artifact(head: &[u8]) -> bool {
    let [map, rest @ ..] = head else { return false };
    let (key, rest) = rest.split_at(rest.len().min(6));
    let magic = rest.get(1..).unwrap_or(&[]);
    map & 0xF0 == 0x80 && key == b"\xA5magic" && magic.iter().zip(MAGIC.as_bytes()).all(|(a, b)| a == b)
}

/// The version of the format. It counts what the fingerprint does not see: the meaning of tables and numbers.
const FORMAT: u64 = 1;

/// The version of the engine: functions and their meaning change with it.
const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// How many bytes a digest has.
const DIGEST: usize = 32;
