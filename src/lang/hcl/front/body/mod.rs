//! The content of configurations by a schema, in either syntax.
//!
//! A [`File`] is a parsed source. Its [`Body`] returns the [`Content`] that a [`BodySchema`] describes. The expressions
//! in it are evaluated in a [`Context`], which holds variables and keeps compiled programs. Nothing stops at the first
//! error: diagnostics are collected, and the content is as complete as possible.
//!
//! ```
//! use dropforge::dialect::hcl::body::{BodySchema, Context, File};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::vm::Space;
//!
//! let source = Source::new("service.hcl", "port = 8000 + 80\nroute \"/a\" {}\n");
//! let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
//! let file = File::native(&source, &Default::default(), &limits);
//! assert!(file.diagnostics().is_empty());
//! let schema = BodySchema::new().required("port").block("route", &["path"]);
//! let content = file.body().content(&schema, &mut diagnostics);
//! assert_eq!(content.blocks[0].labels[0].text, "/a");
//! let context = Context::new(&space, &limits);
//! let port = content.attributes["port"].expr.evaluate(&context, &mut diagnostics);
//! assert_eq!(port.to_data(), dropforge::value::Data::Int(8080));
//! assert!(diagnostics.is_empty());
//! ```

mod compiled_set;
mod content;
mod context;
mod de;
mod errors;
mod expand;
mod expression;
mod file;
mod json;
mod native;
mod reference;
mod user_functions;

pub use content::{Attribute, AttributeSchema, Attributes, Block, BlockSchema, Body, BodySchema, Content, Label};
pub use context::Context;
pub use de::from_body;
pub use errors::{DiagnosticList, Location};
pub use errors::{locate, mistyped, structure};
pub use expand::expand;
pub use expand::not_iterable;
pub use expression::Expression;
pub use file::File;
pub(crate) use native::NativeFile;
pub use reference::{DynamicNode, Reference, Step, visit_dynamic};
pub use user_functions::user_functions;
