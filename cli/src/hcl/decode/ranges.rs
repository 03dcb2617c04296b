//! Positions in sources as JSON.

use std::sync::Arc;

use super::document::{Doc, number, object, text};
use dropforge::dialect::hcl::body::{Context, Reference, ReferenceStep};
use dropforge::dialect::hcl::syntax::lexer::lex_config;
use dropforge::dialect::hcl::syntax::position::{Position, PositionIndex};
use dropforge::dialect::hcl::values::json::{Json, encode};
use dropforge::dialect::hcl::values::types::type_of;
use dropforge::text::{Source, Span};
use dropforge::value::Value;

/// The source name of a JSON argument of `--vars`.
pub(crate) fn argument_name(at: usize) -> String {
    format!("<vars argument {at}>")
}

/// Returns `true` for the source name of a JSON argument.
pub(crate) fn is_argument(name: &str) -> bool {
    name.starts_with("<vars argument ")
}

/// The positions in sources that were needed before.
pub(crate) type Ranges = Vec<(Arc<Source>, PositionIndex)>;

/// Returns a range as `{"filename", "start", "end"}`.
pub(crate) fn range(known: &mut Ranges, source: &Arc<Source>, span: Span) -> Doc {
    let at = known.iter().position(|(known, _)| Arc::ptr_eq(known, source)).unwrap_or_else(|| {
        known.push((source.clone(), places(source)));
        known.len() - 1
    });
    let ends = known.get(at).map(|(_, places)| places.of(span));
    let end = |place: Option<Position>| {
        let place = place.unwrap_or(Position { line: 1, column: 1, byte: 0 });
        object([("line", number(place.line)), ("column", number(place.column)), ("byte", number(place.byte))])
    };
    let (start, stop) = (ends.as_ref().map(|ends| ends.start), ends.as_ref().map(|ends| ends.end));
    object([("filename", text(source.name())), ("start", end(start)), ("end", end(stop))])
}

fn places(source: &Source) -> PositionIndex {
    let name = source.name();
    match name.ends_with(".json") || is_argument(name) {
        true => PositionIndex::of_text(source.text()),
        false => PositionIndex::new(source.text().as_bytes(), &lex_config(source.text().as_bytes())),
    }
}

/// Formats references to variables as one document.
pub(crate) fn references_json<'r>(found: &[Reference<'r>], context: &Context<'r>) -> String {
    let mut ranges = Ranges::new();
    Doc::List(found.iter().map(|one| reference(one, context, &mut ranges)).collect()).pretty()
}

fn reference<'r>(reference: &Reference<'r>, context: &Context<'r>, ranges: &mut Ranges) -> Doc {
    let steps = reference.steps(context).into_iter().map(|(step, place)| {
        let mut fields = match step {
            ReferenceStep::Root(name) => vec![("kind", text("root")), ("name", text(name))],
            ReferenceStep::Attr(name) => vec![("kind", text("attr")), ("name", text(name))],
            ReferenceStep::Index(key) => {
                let key = to_doc(key, context).map(|key| ("key", key));
                std::iter::once(("kind", text("index"))).chain(key).collect()
            }
            ReferenceStep::Splat => vec![("kind", text("splat"))],
        };
        fields.push(("range", range(ranges, place.source, place.span)));
        object(fields)
    });
    let steps = Doc::List(steps.collect());
    let mut fields = vec![("root_name", text(reference.root()))];
    fields.extend(reference.value(context).and_then(|value| to_doc(value, context)).map(|value| ("value", value)));
    let place = reference.location();
    fields.extend([("steps", steps), ("range", range(ranges, place.source, place.span))]);
    object(fields)
}

/// Converts a value to a document, unless it cannot be encoded.
fn to_doc<'r>(value: Value<'r>, context: &Context<'r>) -> Option<Doc> {
    let text = context.with_cx(|cx| encode(cx, value, &type_of(cx, value)?)).ok()?;
    let json = Json::read(&text, context.limits().value_depth * 2 + 2).ok()?;
    Some(Doc::of(&json))
}
