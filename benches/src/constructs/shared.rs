//! Library calls that our bodies and the peers' have in common.

use std::hint::black_box;

use serde_json::Value;

use super::data::{ITEMS, all};
use crate::subject::Subject;

/// A library call on a field of an item, with its argument ready.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The field.
    pub field: &'static str,
    /// The call. The answer's size keeps it from being removed.
    pub run: fn(&Value) -> usize,
}

/// The call for all items.
pub struct Calls {
    arguments: Vec<Value>,
    run: fn(&Value) -> usize,
}

impl Calls {
    /// Prepares the arguments.
    pub fn new(call: Call) -> Self {
        let field = |n| all(n).get(call.field).cloned().unwrap_or_default();
        Self { arguments: (0..ITEMS).map(field).collect(), run: call.run }
    }
}

impl Subject for Calls {
    fn engine(&self) -> &'static str {
        "shared body"
    }

    fn run(&mut self) {
        for argument in &self.arguments {
            black_box((self.run)(black_box(argument)));
        }
    }

    fn output(&mut self) -> String {
        self.arguments.iter().map(|argument| (self.run)(argument).to_string() + "\n").collect()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// JSON text.
pub fn json(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// JSON text of several lines.
pub fn pretty(value: &Value) -> usize {
    serde_json::to_string_pretty(value).map_or(0, |text| text.len())
}

/// A value from JSON text.
pub fn parse(value: &Value) -> usize {
    serde_json::from_str::<Value>(text(value)).map_or(0, |value| value.as_object().map_or(0, |map| map.len()))
}

/// The first ten user-perceived characters.
pub fn graphemes(value: &Value) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    text(value).grapheme_indices(true).nth(10).map_or(0, |(at, _)| text(value)[..at].to_owned().len())
}

/// Capitals.
pub fn upper(value: &Value) -> usize {
    text(value).to_uppercase().len()
}

/// Small letters.
pub fn lower(value: &Value) -> usize {
    text(value).to_lowercase().len()
}

/// Replaced text.
pub fn replace(value: &Value) -> usize {
    text(value).replace('-', "_").len()
}

/// A slug.
pub fn slug(value: &Value) -> usize {
    slug::slugify(text(value)).len()
}

/// A size for people.
pub fn size(value: &Value) -> usize {
    humansize::format_size(value.as_u64().unwrap_or_default(), humansize::WINDOWS).len()
}

/// A date of a time stamp.
pub fn date(value: &Value) -> usize {
    let time = chrono::DateTime::from_timestamp(value.as_i64().unwrap_or_default(), 0);
    time.map_or(0, |time| time.format("%Y-%m-%d").to_string().len())
}

/// A percent-encoded text.
pub fn url(value: &Value) -> usize {
    percent_encoding::utf8_percent_encode(text(value), percent_encoding::NON_ALPHANUMERIC).to_string().len()
}

/// Base64.
pub fn base64(value: &Value) -> usize {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(text(value)).len()
}

/// A digest.
pub fn sha256(value: &Value) -> usize {
    use sha2::Digest as _;
    sha2::Sha256::digest(text(value)).len()
}
