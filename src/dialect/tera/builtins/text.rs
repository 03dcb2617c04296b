//! The text of a value as output shows it, and a text under construction that is charged as it grows.

use std::fmt::{self, Write};

use crate::diagnostics::{Diagnostic, Result};
use crate::function::Cx;
use crate::stdlib::numbers::write_plain_float;
use crate::value::{JsonStyle, Value, write_json};

/// Appends `value` as output shows it: text as it is, null as nothing, whole floats without a point, lists
/// as `[a, b]` without quotes, and every map as `[object]`.
///
/// ```
/// use dropforge::dialect::tera::builtins::write_text;
/// use dropforge::value::{Arena, Value};
/// let arena = Arena::new();
/// let list = arena.list(&[arena.text("a"), Value::Null, Value::Float(2.0)]);
/// let mut text = String::new();
/// write_text(list, &mut text).unwrap();
/// assert_eq!(text, "[a, , 2]");
/// ```
pub fn write_text(value: Value<'_>, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::Undefined | Value::Null => Ok(()),
        Value::Bool(b) => out.write_str(if b { "true" } else { "false" }),
        Value::Int(n) => out.write_str(itoa::Buffer::new().format(n)),
        Value::Uint(n) => out.write_str(itoa::Buffer::new().format(n)),
        Value::Float(n) => write_plain_float(n, out),
        Value::Str(text) => out.write_str(text.as_str()),
        Value::List(list) => {
            out.write_char('[')?;
            for (at, item) in list.items().iter().enumerate() {
                out.write_str(if at == 0 { "" } else { ", " })?;
                write_text(*item, out)?;
            }
            out.write_char(']')
        }
        Value::Map(_) | Value::Extended(_) => out.write_str("[object]"),
    }
}

/// Text under construction, in the arena of the render: every piece is charged before it is appended.
pub(super) struct Charged<'c, 'v> {
    cx: &'c Cx<'v>,
    text: bumpalo::collections::String<'v>,
    failure: Option<Box<Diagnostic>>,
}

impl<'c, 'v> Charged<'c, 'v> {
    /// Nothing yet.
    pub(super) fn new(cx: &'c Cx<'v>) -> Self {
        Self { cx, text: bumpalo::collections::String::new_in(cx.arena().bump()), failure: None }
    }

    /// Appends the text of `value`.
    pub(super) fn value(&mut self, value: Value<'v>) -> Result<()> {
        let written = write_text(value, self);
        self.outcome(written)
    }

    /// Appends `piece`.
    pub(super) fn push(&mut self, piece: &str) -> Result<()> {
        let written = self.write_str(piece);
        self.outcome(written)
    }

    fn outcome(&mut self, written: fmt::Result) -> Result<()> {
        match (written, self.failure.take()) {
            (Ok(()), _) => Ok(()),
            (Err(fmt::Error), failure) => Err(failure.unwrap_or_else(|| self.cx.arity())),
        }
    }

    /// The finished text as a value.
    pub(super) fn finish(self) -> Result<Value<'v>> {
        self.cx.charge(size_of::<Value>())?;
        Ok(self.cx.arena().borrowed_text(self.text.into_bump_str()))
    }
}

impl Write for Charged<'_, '_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let charged = self.cx.charge(piece.len()).and_then(|()| self.cx.spend(1));
        charged.map_err(|failure| {
            self.failure = Some(failure);
            fmt::Error
        })?;
        self.text.push_str(piece);
        Ok(())
    }
}

/// `value` as JSON, charged as it grows.
pub(super) fn json<'v>(cx: &Cx<'v>, value: Value<'v>, style: JsonStyle) -> Result<Value<'v>> {
    let (mut text, mut charged) = (String::new(), 0);
    write_json(value, style, &mut text, &mut |len| {
        let grown = len.saturating_sub(charged);
        charged = charged.max(len);
        cx.charge(grown)?;
        cx.spend(1)
    })?;
    cx.charge(size_of::<Value>())?;
    Ok(cx.arena().text(&text))
}
