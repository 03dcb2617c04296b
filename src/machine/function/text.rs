//! Text that bodies read and append: JSON, JSON Schemas, appended text and its charges.

use std::cell::RefCell;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::context::Cx;
use super::pace::Cut;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_schema::Schemas;
use dropforge_value::{Value, visit_scalars};

impl<'v> Cx<'v> {
    /// Reads JSON, charging for each value. The inner error is a syntax error.
    pub fn json(&self, json: &str) -> Result<serde_json::Result<Value<'v>>> {
        self.spend(json.len() as u64 / 8)?;
        let limit = RefCell::new(None);
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let read = JsonValue { cx: self, limit: &limit }.deserialize(&mut deserializer);
        let read = read.and_then(|value| deserializer.end().map(|()| value));
        limit.into_inner().map_or(Ok(read), Err)
    }
}

/// Deserializes values, charging each as it is made.
#[derive(Clone, Copy)]
struct JsonValue<'a, 'v> {
    cx: &'a Cx<'v>,
    /// The limit that was reached.
    limit: &'a RefCell<Option<Box<Diagnostic>>>,
}

impl JsonValue<'_, '_> {
    /// Keeps the error of a limit, and stops the deserializer.
    fn stop<T, E: Error>(self, made: Result<T>) -> std::result::Result<T, E> {
        made.map_err(|error| {
            *self.limit.borrow_mut() = Some(error);
            E::custom("a limit was reached")
        })
    }
}

impl<'de, 'v> DeserializeSeed<'de> for JsonValue<'_, 'v> {
    type Value = Value<'v>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'v> Visitor<'de> for JsonValue<'_, 'v> {
    type Value = Value<'v>;

    visit_scalars!(Value);

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Value<'v>, E> {
        self.stop(self.cx.text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value<'v>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.stop(self.cx.charge(size_of::<Value>()))?;
            list.push(item);
        }
        self.stop(self.cx.list(&list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Value<'v>, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.stop(self.cx.charge(key.len() + 2 * size_of::<Value>()))?;
            map.push((self.cx.arena().copy_str(&key), entries.next_value_seed(self)?));
        }
        self.stop(self.cx.map(&map))
    }
}

/// Maximum number of cached schemas.
const SCHEMAS: usize = 256;

impl Cx<'_> {
    /// Returns the schemas in a program's text. Spends one step per 64 bytes, cached or not.
    pub fn schemas(&self, text: &str) -> Result<Arc<Schemas>> {
        self.spend(text.len() as u64 / 64)?;
        if let Some(schemas) = self.caches.schemas.0.borrow().get(text) {
            return Ok(schemas.clone());
        }
        let schemas = Schemas::read(text).map(Arc::new);
        let schemas = schemas.ok_or_else(|| self.fault(Code::CorruptProgram, "a schema cannot be read"))?;
        let mut kept = self.caches.schemas.0.borrow_mut();
        if kept.len() < SCHEMAS {
            kept.insert(text.to_owned(), schemas.clone());
        }
        Ok(schemas)
    }
}

/// The result of a body that appends text, or a text value that exists.
pub type Written<'v> = Result<Option<Value<'v>>>;

/// Lets `write` append text of at most `len` bytes, which are charged first. A length that does not fit a `usize` exceeds
/// any limit.
#[inline]
pub fn written<'v>(cx: &Cx<'v>, len: Option<usize>, out: &mut String, write: impl FnOnce(&mut String)) -> Written<'v> {
    cx.charge(len.unwrap_or(usize::MAX).saturating_add(size_of::<Value>()))?;
    write(out);
    Ok(None)
}

/// Lets `write` append each piece of `text`, of which it makes at most `len` bytes, like [`written`]. The time may end
/// between pieces.
#[inline]
pub fn written_in_pieces<'v>(
    cx: &Cx<'v>,
    (text, cut): (&str, Cut),
    len: Option<usize>,
    out: &mut String,
    mut write: impl FnMut(&str, &mut String),
) -> Written<'v> {
    cx.charge(len.unwrap_or(usize::MAX).saturating_add(size_of::<Value>()))?;
    for piece in cx.pieces(text, cut) {
        write(piece?, out);
    }
    Ok(None)
}

/// Lets `write` append at most a few times the length of each piece of `text`, which is charged afterwards. The time may
/// end between pieces.
#[inline]
pub fn grown<'v>(
    cx: &Cx<'v>,
    (text, cut): (&str, Cut),
    out: &mut String,
    mut write: impl FnMut(&str, &mut String),
) -> Written<'v> {
    for piece in cx.pieces(text, cut) {
        let start = out.len();
        write(piece?, out);
        cx.charge(out.len() - start)?;
    }
    cx.charge(size_of::<Value>())?;
    Ok(None)
}
