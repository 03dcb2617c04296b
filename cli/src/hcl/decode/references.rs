//! The variables in configurations as JSON.

use dropforge::dialect::hcl::body::{Context, Reference, Step};
use dropforge::dialect::hcl::values::json::{Json, encode};
use dropforge::dialect::hcl::values::types::type_of;
use dropforge::value::Value;

use super::json::{Doc, object, text};
use super::ranges::Ranges;

/// Formats references to variables as one document.
pub(crate) fn references_json<'r>(found: &[Reference<'r>], context: &Context<'r>) -> String {
    let mut ranges = Ranges::default();
    Doc::List(found.iter().map(|one| reference(one, context, &mut ranges)).collect()).pretty()
}

fn reference<'r>(reference: &Reference<'r>, context: &Context<'r>, ranges: &mut Ranges) -> Doc {
    let steps = reference.steps(context).into_iter().map(|(step, place)| {
        let mut fields = match step {
            Step::Root(name) => vec![("kind", text("root")), ("name", text(name))],
            Step::Attr(name) => vec![("kind", text("attr")), ("name", text(name))],
            Step::Index(key) => {
                let key = to_doc(key, context).map(|key| ("key", key));
                std::iter::once(("kind", text("index"))).chain(key).collect()
            }
            Step::Splat => vec![("kind", text("splat"))],
        };
        fields.push(("range", ranges.range(place.source, place.span)));
        object(fields)
    });
    let steps = Doc::List(steps.collect());
    let mut fields = vec![("root_name", text(reference.root()))];
    fields.extend(reference.value(context).and_then(|value| to_doc(value, context)).map(|value| ("value", value)));
    let place = reference.location();
    fields.extend([("steps", steps), ("range", ranges.range(place.source, place.span))]);
    object(fields)
}

/// Converts a value to a document, unless it cannot be encoded.
fn to_doc<'r>(value: Value<'r>, context: &Context<'r>) -> Option<Doc> {
    let text = context.with_cx(|cx| encode(cx, value, &type_of(cx, value)?)).ok()?;
    let json = Json::read(&text, context.limits().value_depth * 2 + 2).ok()?;
    Some(Doc::of(&json))
}
