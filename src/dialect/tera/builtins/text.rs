//! The text of a value in output, and text under construction that is charged as it grows.

use crate::diagnostics::Result;
use crate::function::Cx;
use crate::stdlib::numbers::write_plain_float;
use crate::value::{JsonStyle, Value, write_json, write_yaml};

/// Passes the text of `value` to `push`: strings unchanged, null as nothing, integral floats without a point, lists as
/// `[a, b]` without quotes, and every map as `[object]`.
pub(in crate::dialect::tera) fn write_text<E>(
    value: Value<'_>,
    push: &mut impl FnMut(&str) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    match value {
        Value::Undefined | Value::Null => Ok(()),
        Value::Bool(truth) => push(if truth { "true" } else { "false" }),
        Value::Int(n) => push(itoa::Buffer::new().format(n)),
        Value::Uint(n) => push(itoa::Buffer::new().format(n)),
        Value::Float(n) => {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write_plain_float(n, &mut text);
            push(&text)
        }
        Value::Str(text) => push(text.as_str()),
        Value::List(list) => {
            push("[")?;
            for (at, item) in list.items().iter().enumerate() {
                push(if at == 0 { "" } else { ", " })?;
                write_text(*item, push)?;
            }
            push("]")
        }
        Value::Map(_) | Value::Extended(_) => push("[object]"),
    }
}

/// Text under construction in the arena of the render. Its space is charged before it is taken.
pub(super) struct Charged<'c, 'v> {
    cx: &'c Cx<'v>,
    text: bumpalo::collections::String<'v>,
}

impl<'c, 'v> Charged<'c, 'v> {
    /// Creates empty text.
    pub(super) fn new(cx: &'c Cx<'v>) -> Self {
        Self { cx, text: bumpalo::collections::String::new_in(cx.arena().bump()) }
    }

    /// Appends the text of `value`.
    pub(super) fn value(&mut self, value: Value<'v>) -> Result<()> {
        write_text(value, &mut |piece| self.push(piece))
    }

    /// Appends `piece`.
    pub(super) fn push(&mut self, piece: &str) -> Result<()> {
        self.cx.spend(1)?;
        let needed = self.text.len() + piece.len();
        if needed > self.text.capacity() {
            // The arena also keeps the space that the text leaves when it grows.
            let capacity = needed.max(2 * self.text.capacity());
            self.cx.charge(capacity)?;
            self.text.reserve_exact(capacity - self.text.len());
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// Returns the finished text as a value.
    pub(super) fn finish(self) -> Result<Value<'v>> {
        self.cx.charge(size_of::<Value>())?;
        Ok(self.cx.arena().borrowed_text(self.text.into_bump_str()))
    }
}

/// Returns `value` as JSON, charged as it grows.
pub(super) fn json<'v>(cx: &Cx<'v>, value: Value<'v>, style: JsonStyle) -> Result<Value<'v>> {
    let mut text = String::new();
    write_json(value, style, &mut text, &mut charges(cx))?;
    cx.text(&text)
}

/// Returns `value` as YAML with a final newline, charged as it grows.
pub(super) fn yaml(cx: &Cx<'_>, value: Value<'_>) -> Result<String> {
    let mut text = String::new();
    write_yaml(value, &mut text, &mut charges(cx))?;
    Ok(text)
}

/// Returns a function that charges for text which has grown to a length, with one step for each call.
fn charges<'c>(cx: &'c Cx<'_>) -> impl FnMut(usize) -> Result<()> + 'c {
    let mut charged = 0;
    move |len| {
        let grown = len.saturating_sub(charged);
        charged = charged.max(len);
        cx.charge(grown)?;
        cx.spend(1)
    }
}
