//! Several bodies as one.

use super::content::{BodySource, Split};
use super::errors::{duplicate_argument, missing_argument};
use super::{Attribute, Attributes, Body, BodySchema, Content, DiagnosticList, Location};

/// Bodies that are read as one.
#[derive(Debug)]
struct MergedBody<'r>(Vec<Body<'r>>);

impl<'r> Body<'r> {
    /// Creates a body without content.
    pub fn empty() -> Self {
        Self::merged([])
    }

    /// Merges bodies in their order. An argument that two of them set is an error of the content.
    pub fn merged(bodies: impl IntoIterator<Item = Body<'r>>) -> Self {
        let mut parts = Vec::new();
        for body in bodies {
            match body.source().parts() {
                Some(inner) => parts.extend_from_slice(inner),
                None => parts.push(body),
            }
        }
        Self::of(MergedBody(parts))
    }
}

impl<'r> BodySource<'r> for MergedBody<'r> {
    /// Any of the bodies may set a required argument.
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        let mut optional = schema.clone();
        optional.attributes.iter_mut().for_each(|attribute| attribute.required = false);
        let (mut attributes, mut blocks, mut rests) = (Attributes::new(), Vec::new(), Vec::new());
        for body in &self.0 {
            let (part, rest) = body.source().split(&optional, complete, diagnostics);
            add(&mut attributes, part.attributes, diagnostics);
            blocks.extend(part.blocks);
            rests.push(rest);
        }
        for wanted in schema.attributes.iter().filter(|wanted| wanted.required) {
            if !attributes.contains_key(wanted.name.as_str()) {
                diagnostics.push(missing_argument(&wanted.name, None));
            }
        }
        (Content { attributes, blocks, missing_item: self.missing_item() }, Body::merged(rests))
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        let mut whole = Attributes::new();
        for body in &self.0 {
            let part = body.just_attributes(diagnostics);
            add(&mut whole, part, diagnostics);
        }
        whole
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        self.0.first()?.missing_item()
    }

    fn parts(&self) -> Option<&[Body<'r>]> {
        Some(&self.0)
    }
}

/// Adds the attributes of another body. The first of a name counts.
fn add<'r>(whole: &mut Attributes<'r>, part: Attributes<'r>, diagnostics: &mut DiagnosticList) {
    for (name, attribute) in part {
        match whole.get(name).map(Attribute::name_location) {
            Some(before) => diagnostics.push(duplicate_argument(name, before, attribute.name_location())),
            None => {
                whole.insert(name, attribute);
            }
        }
    }
}
