//! Decoding by a specification: bodies as values of a known type.
//!
//! A [`Spec`] describes the attributes and blocks of a body and the value they become. It is built in Rust, or read
//! from a specification file ([`SpecFile`]), which the reference's tool `hcldec` reads, too.
//!
//! ```
//! use dropforge::dialect::hcl::body::{Context, File};
//! use dropforge::dialect::hcl::{decode::{Collection, Spec}, registry};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::value::Type;
//! use dropforge::vm::Space;
//!
//! let source = Source::new("ports.hcl", "port { number = 80 }\nport { number = \"443\" }\n");
//! let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
//! let file = File::native(&source, &registry(), &limits);
//! let context = Context::new(&space, &limits);
//! let spec = Spec::blocks("port", Collection::List, Spec::attr("number", Type::Number, true));
//! let value = spec.decode(&file.body(), &context, &mut diagnostics);
//! assert_eq!(serde_json::to_string(&value.to_data()).unwrap(), "[80,443]");
//! assert!(diagnostics.is_empty());
//! ```

mod decoder;
mod spec;
mod spec_file;

pub use spec::{Check, Collection, Keyed, Spec, Transform};
pub use spec_file::SpecFile;
