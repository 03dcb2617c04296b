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
//! | `Hcl` | HCL templates and configurations | `hcl` |
//! | `Cel` | CEL expressions | `cel` |
//! | `CelYaml` | YAML with directives and `${CEL}` | `cel` and `yaml` |
//! | `Tower` | `${params.x}` substitution in tower-fleet intent files, literal or shell-quoted | `tower` |
//!
//! # Where to go on
//!
//! * [`Engine`] compiles templates and opens artifacts; [`Engine::builder`] sets limits, loaders and your own functions.
//! * [`Template`] renders: to a new string, into your buffer, or within a session that keeps its memory.
//! * [`render`] is for text that is rendered only once.
//! * [`precompile`] compiles a directory in a build script. [`Engine::open`] opens the artifact without a parser
//!   (`default-features = false, features = ["tera"]`).
//! * `bulk` (feature `bulk`) renders a set of templates for a fleet of clusters onto disk, in parallel.
//! * `remote` (feature `remote`) reads and writes object stores and OCI registries.
//! * [`limits::Limits`] bounds every render: steps, memory, output and depth.
//! * [`Diagnostic`] is an error for people and for machines.

// Code that only some features use is dead without them. A build with all features reports unused code.
#![cfg_attr(
    not(all(
        feature = "bulk",
        feature = "checked",
        feature = "tera-builtins",
        feature = "tera-plus",
        feature = "hcl",
        feature = "cel",
        feature = "helm"
    )),
    allow(dead_code, unused_imports)
)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

#[cfg(all(
    feature = "compile",
    not(any(feature = "tera", feature = "hcl", feature = "cel", feature = "helm", feature = "tower"))
))]
compile_error!("feature `compile` needs a language: enable `tera`, `hcl`, `cel`, `helm` or `tower`");

#[cfg(feature = "bulk")]
pub mod bulk;
#[doc(hidden)]
pub mod bytecode;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod compiler;
pub mod diagnostics;
pub mod dialect;
pub mod engine;
pub mod function;
pub mod limits;
#[cfg(feature = "remote")]
pub mod remote;
#[cfg(feature = "schemas")]
#[doc(hidden)]
pub mod schema;
#[cfg(feature = "compile")]
pub mod specialise;
#[doc(hidden)]
pub mod stdlib;
pub mod text;
pub mod value;
#[doc(hidden)]
pub mod vm;

pub use diagnostics::{Diagnostic, Diagnostics as Error};
pub use engine::{Artifact, Dialect, Engine, EngineBuilder, Template};
#[cfg(feature = "compile")]
pub use engine::{Precompile, precompile, render};
pub use limits::Limits;

/// The examples of the page about the library, compiled and run with the documentation's tests.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
