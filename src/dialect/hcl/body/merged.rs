//! Several bodies as one.

use super::content::{Attribute, Attributes, Content};
use super::faults::{duplicate_argument, missing_argument};
use super::{Body, Faults, Schema};

pub(super) fn content<'r>(bodies: &[Body<'r>], schema: &Schema, faults: &mut Faults) -> Content<'r> {
    collected(bodies, schema, faults, |body, schema, faults| body.content(schema, faults))
}

pub(super) fn partial_content<'r>(
    bodies: &[Body<'r>],
    schema: &Schema,
    faults: &mut Faults,
) -> (Content<'r>, Body<'r>) {
    let mut left = Vec::new();
    let content = collected(bodies, schema, faults, |body, schema, faults| {
        let (content, rest) = body.partial_content(schema, faults);
        left.push(rest);
        content
    });
    (content, Body::merged(left))
}

/// What all bodies have together. Any of them may bring what is required.
fn collected<'r>(
    bodies: &[Body<'r>],
    schema: &Schema,
    faults: &mut Faults,
    mut ask: impl FnMut(&Body<'r>, &Schema, &mut Faults) -> Content<'r>,
) -> Content<'r> {
    let mut optional = schema.clone();
    optional.attributes.iter_mut().for_each(|attribute| attribute.required = false);
    let missing_item = bodies.first().and_then(Body::missing_item);
    let mut whole = Content { attributes: Attributes::new(), blocks: Vec::new(), missing_item };
    for body in bodies {
        let part = ask(body, &optional, faults);
        add(&mut whole.attributes, part.attributes, faults);
        whole.blocks.extend(part.blocks);
    }
    for wanted in schema.attributes.iter().filter(|wanted| wanted.required) {
        if !whole.attributes.contains_key(wanted.name.as_str()) {
            faults.push(missing_argument(&wanted.name, None));
        }
    }
    whole
}

pub(super) fn just_attributes<'r>(bodies: &[Body<'r>], faults: &mut Faults) -> Attributes<'r> {
    let mut whole = Attributes::new();
    for body in bodies {
        let part = body.just_attributes(faults);
        add(&mut whole, part, faults);
    }
    whole
}

/// Adds the attributes of another body; of a name the first one counts.
fn add<'r>(whole: &mut Attributes<'r>, part: Attributes<'r>, faults: &mut Faults) {
    for (name, attribute) in part {
        match whole.get(name).map(Attribute::name_place) {
            Some(before) => faults.push(duplicate_argument(name, before, attribute.name_place())),
            None => {
                whole.insert(name, attribute);
            }
        }
    }
}
