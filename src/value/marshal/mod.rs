//! Plain data as text and back: JSON and TOML as network services exchange them.
//!
//! A writer walks values through a [`View`](super::View), which resolves what only a language knows: maps that were
//! changed, integers of a width, texts that are not UTF-8.
//!
//! | module | content |
//! |---|---|
//! | `json_read` | reads JSON, with the positions and wording of common decoders |
//! | `toml` | writes TOML, scalars first, and reads it |

pub mod json_read;
pub mod toml;

use std::borrow::Cow;

pub use super::Numbers;
pub use super::json::{exchange_json, exchanged_float};
pub use super::output::{Refused, plain};

/// Maximum nesting of what is written. Only a map that contains itself is deeper.
pub const MAX_DEPTH: usize = 1000;

/// Returns text as UTF-8; other bytes become U+FFFD, one for each.
#[inline(never)]
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(std::iter::repeat_n('\u{fffd}', chunk.invalid().len()));
    }
    Cow::Owned(out)
}
