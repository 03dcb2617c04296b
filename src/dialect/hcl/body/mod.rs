//! Configurations as a program asks for them: what a body holds by the schema of what may be there, whatever syntax
//! it is written in.
//!
//! A [`File`] is a parsed source. Its [`Body`] answers with [`Content`] for a [`Schema`]; the expressions in it are
//! evaluated in a [`Context`], which holds variables and keeps what is compiled ready to run. Nothing stops at the first
//! mistake: what is wrong is collected, and the content is what can be made of the rest.
//!
//! ```
//! use dropforge::dialect::hcl::body::{Context, File, Schema};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::vm::Space;
//!
//! let source = Source::new("service.hcl", "port = 8000 + 80\nroute \"/a\" {}\n");
//! let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
//! let file = File::native(&source, &Default::default(), &limits);
//! assert!(file.diagnostics().is_empty());
//! let schema = Schema::new().required("port").block("route", &["path"]);
//! let content = file.body().content(&schema, &mut faults);
//! assert_eq!(content.blocks[0].labels[0].text, "/a");
//! let context = Context::new(&space, &limits);
//! let port = content.attributes["port"].expr.evaluate(&context, &mut faults);
//! assert_eq!(port.to_data(), dropforge::value::Data::Int(8080));
//! assert!(faults.is_empty());
//! ```

mod content;
mod context;
mod de;
mod expand;
mod expression;
pub(in crate::dialect::hcl) mod faults;
mod file;
mod functions;
mod merged;
mod native;
mod reference;
mod schema;
mod unroll;

pub(in crate::dialect::hcl) use content::put;
pub use content::{Attribute, Attributes, Block, Content, Label, Place};
pub use context::Context;
pub use de::from_body;
pub use expand::expand;
pub(in crate::dialect::hcl) use expand::not_iterable;
pub use expression::Expression;
pub(in crate::dialect::hcl) use faults::{mistyped, structure};
pub(in crate::dialect::hcl) use file::Compiled;
pub use file::File;
pub use functions::user_functions;
pub use reference::{Reference, Step};
pub use schema::{AttributeSchema, BlockSchema, Schema};
pub use unroll::{Unrolled, unrolled};

use std::rc::Rc;

use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::json::JsonBody;

/// What is wrong, collected.
pub type Faults = Vec<Box<Diagnostic>>;

/// A body: of a file, of a block, of several files together, of what an earlier look at one left over. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Body<'r>(Kind<'r>);

#[derive(Debug, Clone)]
enum Kind<'r> {
    Native(native::Body<'r>),
    Json(JsonBody<'r>),
    Merged(Rc<[Body<'r>]>),
    Expanded(Rc<expand::Expanded<'r>>),
    Unknown(Rc<Body<'r>>),
}

impl<'r> Body<'r> {
    /// A body without anything in it.
    pub fn empty() -> Self {
        Self::merged([])
    }

    pub(in crate::dialect::hcl) fn json(body: JsonBody<'r>) -> Self {
        Self(Kind::Json(body))
    }

    /// Several bodies as one, in their order. An argument that two of them have is reported when content is asked for.
    pub fn merged(bodies: impl IntoIterator<Item = Body<'r>>) -> Self {
        let mut flat = Vec::new();
        for body in bodies {
            match body.0 {
                Kind::Merged(inner) => flat.extend(inner.iter().cloned()),
                _ => flat.push(body),
            }
        }
        Self(Kind::Merged(flat.into()))
    }

    /// What the body holds by `schema`; what it holds beside that is reported.
    pub fn content(&self, schema: &Schema, faults: &mut Faults) -> Content<'r> {
        match &self.0 {
            Kind::Native(body) => body.content(schema, faults),
            Kind::Json(body) => body.content(schema, faults),
            Kind::Merged(bodies) => merged::content(bodies, schema, faults),
            Kind::Expanded(body) => body.content(schema, faults),
            Kind::Unknown(body) => expand::unknown(body.content(schema, faults)),
        }
    }

    /// What the body holds by `schema`, and a body of the rest.
    pub fn partial_content(&self, schema: &Schema, faults: &mut Faults) -> (Content<'r>, Body<'r>) {
        match &self.0 {
            Kind::Native(body) => {
                let (content, rest) = body.partial_content(schema, faults);
                (content, Body(Kind::Native(rest)))
            }
            Kind::Json(body) => {
                let (content, rest) = body.partial_content(schema, faults);
                (content, Body::json(rest))
            }
            Kind::Merged(bodies) => merged::partial_content(bodies, schema, faults),
            Kind::Expanded(body) => body.partial_content(schema, faults),
            Kind::Unknown(body) => {
                let (content, rest) = body.partial_content(schema, faults);
                (expand::unknown(content), Body(Kind::Unknown(Rc::new(rest))))
            }
        }
    }

    /// The attributes of a body that has no blocks; a block is reported.
    pub fn just_attributes(&self, faults: &mut Faults) -> Attributes<'r> {
        match &self.0 {
            Kind::Native(body) => body.just_attributes(faults),
            Kind::Json(body) => body.just_attributes(faults),
            Kind::Merged(bodies) => merged::just_attributes(bodies, faults),
            Kind::Expanded(body) => body.just_attributes(faults),
            Kind::Unknown(body) => expand::unknown_attributes(body.just_attributes(faults)),
        }
    }

    /// Where something that is missing would be reported; nowhere in a body of no file.
    pub fn missing_item(&self) -> Option<Place<'r>> {
        match &self.0 {
            Kind::Native(body) => Some(body.missing_item()),
            Kind::Json(body) => Some(body.missing_item()),
            Kind::Merged(bodies) => bodies.first().and_then(Body::missing_item),
            Kind::Expanded(body) => body.missing_item(),
            Kind::Unknown(body) => body.missing_item(),
        }
    }

    /// Whether nothing is known of what the body will hold, nor of how many there will be of it: the body of a `dynamic`
    /// block whose `for_each` is not known.
    pub fn is_unknown(&self) -> bool {
        matches!(self.0, Kind::Unknown(_))
    }

    /// The marks that values decoded from the body carry: those of the `for_each` it was made for.
    pub fn marks(&self) -> &[&'r str] {
        match &self.0 {
            Kind::Expanded(body) => body.marks(),
            Kind::Unknown(body) => body.marks(),
            _ => &[],
        }
    }
}
