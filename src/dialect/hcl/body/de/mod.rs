//! Bodies as Rust types, through serde.
//!
//! A struct is a body. The name of a field selects its content:
//!
//! | field | content |
//! |---|---|
//! | `port: u16` | the argument `port`, converted as the language converts values |
//! | `route: Route` | the only block `route { … }`, or an argument that is an object |
//! | `route: Vec<Route>` | all blocks of that type, or an argument that is a list |
//! | `#[serde(rename = "@name")] name: String` | a label of the block: the fields with `@` are its labels in order |
//! | `#[serde(rename = "...")] rest: T` | all other arguments, as a map or a type that deserializes from one |
//!
//! Optional content is an `Option` or has `#[serde(default)]`. Content without a field is an error, unless the struct
//! has the field `...`. Errors are diagnostics with their locations.
//!
//! ```
//! use dropforge::dialect::hcl::body::{Context, File, from_body};
//! use dropforge::dialect::hcl::registry;
//! use dropforge::{limits::Limits, text::Source, vm::Space};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Service {
//!     #[serde(rename = "@name")]
//!     name: String,
//!     port: u16,
//!     #[serde(default)]
//!     route: Vec<Route>,
//! }
//!
//! #[derive(Deserialize)]
//! struct Route {
//!     #[serde(rename = "@path")]
//!     path: String,
//!     methods: Option<Vec<String>>,
//! }
//!
//! #[derive(Deserialize)]
//! struct Config {
//!     service: Vec<Service>,
//! }
//!
//! let text = "service \"web\" {\n  port = \"80\" + 8000\n  route \"/\" { methods = [\"GET\"] }\n  route \"/up\" {}\n}\n";
//! let (limits, space) = (Limits::default(), Space::new());
//! let file = File::native(&Source::new("services.hcl", text), &registry(), &limits);
//! let config: Config = from_body(&file.body(), &Context::new(&space, &limits)).unwrap();
//! let web = &config.service[0];
//! assert_eq!((web.name.as_str(), web.port, web.route.len()), ("web", 8080, 2));
//! assert_eq!(web.route[0].methods.as_deref(), Some(&["GET".to_owned()][..]));
//! assert_eq!((web.route[1].path.as_str(), &web.route[1].methods), ("/up", &None));
//! ```

mod field;
mod structure;
mod value;

use serde::de::Deserialize;

use super::{Body, Context};
use crate::diagnostics::Diagnostics;
use structure::BodyDeserializer;
use value::Error;

/// Deserializes a body. The result may borrow text of its values.
///
/// # Errors
/// Content that does not fit the type or that the type has no field for, errors of evaluation, or a limit.
pub fn from_body<'r, T: Deserialize<'r>>(body: &Body<'r>, context: &Context<'r>) -> Result<T, Diagnostics> {
    T::deserialize(BodyDeserializer { body, labels: &[], context }).map_err(Error::into_diagnostics)
}
