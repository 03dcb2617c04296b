//! The text of a value in output, and text under construction that is charged as it grows.

use super::arguments::Written;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::numbers::with_plain_float;
use dropforge_machine::function::Cx;
use dropforge_value::{JsonStyle, Value, write_json, write_yaml};

/// Passes the text of `value` to `push`: strings unchanged, null as nothing, integral floats without a point, lists as
/// `[a, b]` without quotes, and every map as `[object]`.
pub fn write_text<E>(
    value: Value<'_>,
    push: &mut impl FnMut(&str) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    match value {
        Value::Undefined | Value::Null => Ok(()),
        Value::Bool(truth) => push(if truth { "true" } else { "false" }),
        Value::Int(n) => push(itoa::Buffer::new().format(n)),
        Value::Uint(n) => push(itoa::Buffer::new().format(n)),
        Value::Float(n) => with_plain_float(n, push),
        Value::Str(text) => push(text.as_str()),
        Value::List(list) => {
            push("[")?;
            for (at, item) in list.items().iter().enumerate() {
                if at > 0 {
                    push(", ")?;
                }
                match *item {
                    Value::Str(text) => push(text.as_str())?,
                    Value::Int(n) => push(itoa::Buffer::new().format(n))?,
                    item => write_text(item, push)?,
                }
            }
            push("]")
        }
        Value::Map(_) | Value::Extended(_) => push("[object]"),
    }
}

/// Text under construction. Its space is charged before it is taken.
pub(super) struct Charged<'c, 'v> {
    cx: &'c Cx<'v>,
    out: &'c mut String,
    /// The length of what precedes the text.
    start: usize,
    /// The length of text that is charged.
    room: usize,
}

impl<'c, 'v> Charged<'c, 'v> {
    /// Creates empty text behind `out`.
    pub(super) fn new(cx: &'c Cx<'v>, out: &'c mut String) -> Self {
        Self { cx, start: out.len(), out, room: 0 }
    }

    /// Appends the text of `value`.
    pub(super) fn value(&mut self, value: Value<'v>) -> Result<()> {
        write_text(value, &mut |piece| self.push(piece))
    }

    /// Appends `piece`.
    #[inline]
    pub(super) fn push(&mut self, piece: &str) -> Result<()> {
        self.cx.spend(1)?;
        let needed = self.out.len() - self.start + piece.len();
        if needed > self.room {
            // Each charge at least doubles the room, so there are few.
            self.room = needed.max(2 * self.room);
            self.cx.charge(self.room)?;
        }
        self.out.push_str(piece);
        Ok(())
    }

    /// Ends the text.
    pub(super) fn finish(self) -> Written<'v> {
        self.cx.charge(size_of::<Value>())?;
        Ok(None)
    }
}

/// Bytes of JSON that are charged together, unless a text is longer.
const PIECE: usize = 256;

/// Appends `value` as JSON, charged as it grows.
pub(super) fn json<'v>(cx: &Cx<'v>, value: Value<'v>, style: JsonStyle, out: &mut String) -> Written<'v> {
    let start = out.len();
    let mut charge = charges(cx, start);
    write_json(value, style, out, &mut |len| charge(len).map(|()| len + PIECE))?;
    cx.charge(out.len() - start + size_of::<Value>())?;
    Ok(None)
}

/// Appends `value` as YAML with a final newline, charged as it grows.
pub(super) fn yaml(cx: &Cx<'_>, value: Value<'_>, out: &mut String) -> Result<()> {
    let start = out.len();
    write_yaml(value, out, &mut charges(cx, start))
}

/// Returns a function that charges for text which has grown from one length to another, with one step for each call.
fn charges<'c>(cx: &'c Cx<'_>, start: usize) -> impl FnMut(usize) -> Result<()> + 'c {
    let mut charged = start;
    move |len| {
        let grown = len.saturating_sub(charged);
        charged = charged.max(len);
        cx.charge(grown)?;
        cx.spend(1)
    }
}
