//! Repositories of charts, without their network: indexes, locks, packed charts and Helm's list of repositories.
//!
//! Everything here is byte for byte what `helm dependency` reads and writes.

mod config;
mod index;
mod lock;
mod pack;

pub use config::{Repository, repositories};
pub use index::{Index, IndexEntry, IndexFailure, newest};
pub use lock::{ChartLock, digest, old_digest};
pub use pack::{Packed, pack};

use dropforge_value::yaml::libyaml::{self, Form};
use dropforge_value::{Data, DataMap};

/// Returns a map of the fields that are not empty, sorted by name.
fn map(fields: impl IntoIterator<Item = (&'static str, Data)>) -> Data {
    let mut map: DataMap = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    map.sort_unstable_keys();
    Data::Map(map)
}

/// Returns a text, or null if it is empty.
fn filled(text: &str) -> Option<Data> {
    (!text.is_empty()).then(|| Data::Str(text.to_owned()))
}

/// Returns a document as Helm writes it.
fn document(data: &Data) -> String {
    let mut text = String::new();
    // Plain data of readers can be written, and nothing stops the writer.
    let _ = libyaml::write(data, Form::Json, &mut text, &mut |_| Ok::<(), ()>(()));
    text
}
