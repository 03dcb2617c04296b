//! Bodies of `dynamic` blocks with an unknown `for_each`.

use super::content::{BodySource, Split};
use super::{Attribute, Attributes, Block, Body, BodySchema, Content, DiagnosticList, Location};

/// A body whose values are unknown.
#[derive(Debug)]
struct UnknownBody<'r>(Body<'r>);

impl<'r> Body<'r> {
    /// Returns the body with unknown values.
    pub(super) fn unknown(self) -> Self {
        Self::of(UnknownBody(self))
    }
}

impl<'r> BodySource<'r> for UnknownBody<'r> {
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        let (content, rest) = self.0.source().split(schema, complete, diagnostics);
        let blocks = content.blocks.into_iter().map(|block| Block { body: block.body.unknown(), ..block }).collect();
        (Content { attributes: unknown_attributes(content.attributes), blocks, ..content }, rest.unknown())
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        unknown_attributes(self.0.just_attributes(diagnostics))
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        self.0.missing_item()
    }

    fn is_unknown(&self) -> bool {
        true
    }

    fn marks(&self) -> &[&'r str] {
        self.0.marks()
    }
}

fn unknown_attributes<'r>(attributes: Attributes<'r>) -> Attributes<'r> {
    let unknown = |(name, of): (_, Attribute<'r>)| (name, Attribute { expr: of.expr.unknown(), ..of });
    attributes.into_iter().map(unknown).collect()
}
