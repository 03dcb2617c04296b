//! The intrinsic that parses rendered text of an included template as YAML.

use super::intrinsics::intrinsics;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

intrinsics! {
    /// The intrinsic of included text.
    pub(crate) static INCLUDED_YAML:
    "yaml" (text: Str, name: Str) = yaml, "The YAML document in the text that the template `name` rendered.";
}

/// The bytes that parsing charges for each byte of text, in addition to the value.
const NODES: usize = 8;

fn yaml<'v>(cx: &Cx<'v>, text: &'v str, name: &'v str) -> Result<Value<'v>> {
    cx.charge(text.len().saturating_mul(NODES))?;
    let source = dropforge_base::text::Source::new(format!("{name} (rendered)"), text);
    let document =
        read::document(&source, cx.limits()).map_err(|error| error.with_note(format!("it is what `{name}` gave")))?;
    document.map_or(Ok(Value::Null), |node| read::value(cx, &node))
}

mod read {
    use std::sync::Arc;

    use crate::values::maps;
    use dropforge_base::diagnostics::{Code, Diagnostic, Result};
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;
    use dropforge_machine::function::Cx;
    use dropforge_value::Value;
    use dropforge_value::yaml::{Entry, Kind, Node, Tags, read_with};

    /// Parses the only document of a source. Empty documents do not count.
    pub(super) fn document(source: &Arc<Source>, limits: &Limits) -> Result<Option<Node>> {
        let documents = read_with(source, limits, Tags::Kept).map_err(|errors| {
            let mut errors = errors.into_iter();
            let first = errors.next().unwrap_or_else(|| Diagnostic::new(Code::InputSyntax, "this is not YAML"));
            Box::new(Diagnostic { also: errors.collect(), ..*first })
        })?;
        let something = |node: &Node| !matches!(node.kind, Kind::Null) || !node.span.range().is_empty();
        let mut documents = documents.into_iter().filter(something);
        let first = documents.next();
        match documents.next() {
            None => Ok(first),
            Some(second) => Err(Diagnostic::new(
                Code::InputSyntax,
                "what is included is one document, and this is more",
            )
            .at(source, second.span, "the second begins here")),
        }
    }

    /// Converts a node to a value, which keeps the tag.
    pub(super) fn value<'v>(cx: &Cx<'v>, node: &Node) -> Result<Value<'v>> {
        let value = match &node.kind {
            Kind::Str => cx.text(&node.text)?,
            Kind::List(items) => {
                let items = items.iter().map(|item| value(cx, item)).collect::<Result<Vec<_>>>()?;
                cx.list(&items)?
            }
            Kind::Map(entries) => map(cx, entries)?,
            scalar => plain(scalar),
        };
        let Some(tag) = node.tag.as_ref().filter(|_| !node.is_marked_text()) else { return Ok(value) };
        cx.charge(tag.len() + 2 * size_of::<Value>())?;
        let at = u32::try_from(cx.at()).unwrap_or(u32::MAX);
        Ok(cx.arena().tagged(value, cx.arena().copy_str(tag), at))
    }

    fn plain<'v>(kind: &Kind) -> Value<'v> {
        match kind {
            Kind::Bool(truth) => Value::Bool(*truth),
            Kind::Int(n) => Value::Int(*n),
            Kind::Uint(n) => Value::Uint(*n),
            Kind::Float(n) => Value::Float(*n),
            _ => Value::Null,
        }
    }

    fn map<'v>(cx: &Cx<'v>, entries: &[Entry]) -> Result<Value<'v>> {
        let (mut keys, mut values) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        for Entry { name, key, value: node } in entries {
            keys.push(match &key.kind {
                kind @ (Kind::Bool(_) | Kind::Int(_) | Kind::Uint(_)) => plain(kind),
                // The language has no such keys.
                _ => cx.text(name)?,
            });
            values.push(value(cx, node)?);
        }
        maps::map(cx, &keys, &values)
    }
}
