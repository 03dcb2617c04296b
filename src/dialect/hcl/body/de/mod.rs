//! Bodies as Rust types, through serde.
//!
//! A struct is a body. Its fields are named for what they hold:
//!
//! | field | holds |
//! |---|---|
//! | `port: u16` | the argument `port`; its value is converted as the language converts values |
//! | `route: Route` | the only block `route { … }`, or an argument that is an object |
//! | `route: Vec<Route>` | all blocks of that type, or an argument that is a list |
//! | `#[serde(rename = "@name")] name: String` | a label of the block; the fields with `@` are its labels in order |
//! | `#[serde(rename = "...")] rest: T` | all further arguments, as a map or any type that is one |
//!
//! What may be missing is an `Option` or has `#[serde(default)]`. What a struct has no field for is an error, unless it
//! has the field `...`. Errors are diagnostics with their places.
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
//! let file = File::native(&Source::new("services.hcl", text), &registry().into(), &limits);
//! let config: Config = from_body(&file.body(), &Context::new(&space, &limits)).unwrap();
//! let web = &config.service[0];
//! assert_eq!((web.name.as_str(), web.port, web.route.len()), ("web", 8080, 2));
//! assert_eq!(web.route[0].methods.as_deref(), Some(&["GET".to_owned()][..]));
//! assert_eq!((web.route[1].path.as_str(), &web.route[1].methods), ("/up", &None));
//! ```

mod field;
mod structure;
mod value;

use std::fmt;

use serde::de::{self, Deserialize};

use super::content::Place;
use super::faults::mistyped;
use super::{Body, Context, Faults};
use crate::diagnostics::{Diagnostic, Diagnostics, Label};
use crate::value::{Misfit, Path, Step};
use structure::BodyDeserializer;

/// A body as a `T`, which may borrow text of the values.
///
/// # Errors
/// What does not fit the type, with its place; what the type has no field for; what cannot be evaluated; a limit.
pub fn from_body<'r, T: Deserialize<'r>>(body: &Body<'r>, context: &Context<'r>) -> Result<T, Diagnostics> {
    T::deserialize(BodyDeserializer { body, labels: &[], context }).map_err(|error| error.faults.into())
}

/// Why a body is no value of a type.
#[derive(Debug)]
struct Error {
    faults: Faults,
    /// Where in the value of an argument, while the error is on its way to the argument.
    path: Path,
}

impl Error {
    fn of(faults: Faults) -> Self {
        Self { faults, path: Path::default() }
    }

    /// The error at this place, where it says none.
    fn at(mut self, place: Option<Place<'_>>) -> Self {
        let path = std::mem::take(&mut self.path);
        for fault in self.faults.iter_mut().filter(|fault| fault.labels.is_empty()) {
            if !path.is_empty() {
                fault.notes.push(format!("it is about `{path}` in the value"));
            }
            if let Some(Place { source, span, .. }) = place {
                fault.labels.push(Label { source: source.clone(), span, text: String::new() });
            }
        }
        self
    }

    fn one(fault: Box<Diagnostic>) -> Self {
        Self::of(vec![fault])
    }
}

impl Misfit for Error {
    fn within(mut self, step: Step) -> Self {
        self.path.begin_with(step);
        self
    }

    /// Limits tell of no value.
    fn withheld(self) -> Self {
        if self.faults.iter().all(|fault| fault.code.is_limit()) {
            return self;
        }
        de::Error::custom("the value is marked, and does not fit")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Diagnostics::from(self.faults.clone()), f)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::one(mistyped("Unsuitable value", format!("{message}.")))
    }

    fn missing_field(field: &'static str) -> Self {
        let detail = format!("`{field}` is required, but it is not set.");
        Self::one(super::structure("Missing required argument", detail))
    }
}
