//! Compile templates to bytecode once, render them thousands of times.
//!
//! ```
//! use dropforge::{Dialect, Engine};
//! use serde_json::json;
//!
//! let engine = Engine::new();
//! let template = engine.compile(Dialect::Tera, "svc.yaml", "name: {{ name }}-{{ env | upper }}\n")?;
//! assert_eq!(template.render(&json!({"name": "api", "env": "prod"}))?, "name: api-PROD\n");
//!
//! // An error names the place and the likely fix.
//! let error = template.render(&json!({"nmae": "api", "env": "prod"})).unwrap_err();
//! assert_eq!(error.to_string(), "E0201: the variable `name` is not defined (svc.yaml:1:10)");
//! assert!(error.render(false).contains("did you mean `nmae`?"));
//! # Ok::<(), dropforge::Error>(())
//! ```
//!
//! # Languages
//!
//! | [`Dialect`] | language | cargo feature |
//! |---|---|---|
//! | `Tera` | Tera 1 templates | `tera`; `tera-builtins` and `tera-plus` add the filters and functions that need other crates |
//! | `Helm` | Go templates with the functions of Helm, and charts | `helm` |
//! | `Hcl` | HCL templates and configurations | `hcl` |
//! | `Cel` | CEL expressions | `cel` |
//! | `CelYaml` | YAML with directives and `${CEL}` | `cel` |
//! | `Tower` | `${params.x}` substitution in tower-fleet intent files, literal or shell-quoted | `tower` |
//!
//! # Where to go on
//!
//! * [`Engine`] compiles templates and opens artifacts; [`Engine::builder`] sets limits, loaders and your own functions.
//! * [`context!`] writes inputs in place: `context! { name, port => 80 }`.
//! * [`Template`] renders: to a new string, into your buffer, or within a session that keeps its memory.
//! * [`render`] is for text that is rendered only once.
//! * [`precompile`] compiles a directory in a build script. [`Engine::open`] opens the artifact without a parser
//!   (`default-features = false, features = ["tera"]`).
//! * `bulk` (feature `bulk`) renders a set of templates for a fleet of clusters onto disk, in parallel.
//! * `remote` (feature `remote`) reads and writes object stores and OCI registries.
//! * [`limits::Limits`] bounds every render: steps, memory, output and depth.
//! * [`Diagnostic`] is an error for people and for machines.

#[doc(hidden)]
pub use dropforge_base::credentials;
pub use dropforge_base::{diagnostics, files, limits, mask, text};
pub use dropforge_engine as engine;
#[cfg(feature = "bulk")]
pub use dropforge_fleet as bulk;
pub use dropforge_machine::{function, specialise};
#[cfg(feature = "remote")]
pub use dropforge_remote as remote;
pub use dropforge_value as value;

#[doc(hidden)]
pub use dropforge_base::stdlib;
#[doc(hidden)]
pub use dropforge_machine::{bytecode, compiler, language, vm};
#[doc(hidden)]
pub use dropforge_schema as schema;

/// The languages.
pub mod dialect {
    #[cfg(feature = "cel")]
    pub use dropforge_cel as cel;
    #[cfg(feature = "hcl")]
    pub use dropforge_hcl as hcl;
    #[cfg(feature = "helm")]
    pub use dropforge_helm as helm;
    #[cfg(feature = "tera")]
    #[doc(hidden)]
    pub use dropforge_tera as tera;
    #[cfg(feature = "tower")]
    pub use dropforge_tower as tower;
}

pub use diagnostics::{Diagnostic, Diagnostics as Error};
#[doc(inline)]
pub use dropforge_machine::bytecode::ImportKind;
#[doc(inline)]
pub use dropforge_machine::vm::{Session, Space};
pub use engine::{Artifact, Dialect, Engine, EngineBuilder, Template};
pub use engine::{Precompile, precompile, render};
pub use limits::Limits;
#[doc(inline)]
pub use value::{Arena, Inputs, Value};

/// Inputs as names and values: any of them serializes, and a variable alone is an input of its name.
///
/// ```
/// use dropforge::{Dialect, Engine, context};
/// let template = Engine::new().compile(Dialect::Tera, "t", "{{ name }}:{{ ports[0] }}{{ more.a }}")?;
/// let name = String::from("api");
/// assert_eq!(template.render(&context! { name, ports => [80, 443], more => context! { a => 1 } })?, "api:801");
/// assert_eq!(name, "api");
/// # Ok::<(), dropforge::Error>(())
/// ```
#[macro_export]
macro_rules! context {
    ($($name:ident $(=> $value:expr)?),* $(,)?) => {
        $crate::context!(@add $crate::value::NoInputs; $($name $(=> $value)?,)*)
    };
    (@add $others:expr;) => { $others };
    (@add $others:expr; $name:ident => $value:expr, $($more:tt)*) => {
        $crate::context!(
            @add $crate::value::InputEntry { others: $others, name: stringify!($name), value: $value }; $($more)*
        )
    };
    (@add $others:expr; $name:ident, $($more:tt)*) => {
        $crate::context!(
            @add $crate::value::InputEntry { others: $others, name: stringify!($name), value: &$name }; $($more)*
        )
    };
}

/// The examples of the page about the library, compiled and run with the documentation's tests.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
