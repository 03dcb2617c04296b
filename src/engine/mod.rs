//! The engine: languages, functions, limits and templates in one place. The only layer that names every language.
//!
//! ```
//! use dropforge::engine::{Dialect, Engine};
//! use serde_json::json;
//!
//! let engine = Engine::new();
//! let template = engine.compile(Dialect::Tera, "svc.yaml", "name: {{ name }}-{{ env | upper }}\n")?;
//! assert_eq!(template.render(&json!({"name": "api", "env": "prod"}))?, "name: api-PROD\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod artifact;
mod builder;
#[cfg(feature = "compile")]
mod bundle;
#[cfg(feature = "compile")]
mod cache;
#[cfg(feature = "helm")]
pub mod chart;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "bulk")]
pub mod coverage;
#[cfg(feature = "compile")]
mod discover;
#[cfg(feature = "compile")]
mod front;
mod instance;
#[cfg(feature = "compile")]
mod languages;
mod links;
#[cfg(feature = "compile")]
mod loader;
#[cfg(feature = "compile")]
mod marks;
mod nested;
#[cfg(feature = "yaml")]
mod output_check;
#[cfg(feature = "compile")]
mod path_from_here;
#[cfg(feature = "compile")]
mod precompile;
#[cfg(feature = "yaml")]
pub mod recording;
mod residual;
#[cfg(feature = "compile")]
mod symbolic_links;
mod template;
#[cfg(feature = "compile")]
mod walk;

pub use artifact::Artifact;
pub use builder::{Engine, EngineBuilder};
#[cfg(feature = "compile")]
pub use bundle::Bundling;
#[cfg(feature = "compile")]
pub use cache::Cache;
#[cfg(feature = "compile")]
pub use compile::render;
#[cfg(feature = "compile")]
pub use discover::{Entry, Skipped, TemplateFile, TemplateSet, common_folder, discover, discover_with};
#[cfg(feature = "compile")]
pub use front::{CelPresence, HelmOptions, TeraDialect, UnknownNames};
#[cfg(all(feature = "bulk", not(feature = "hcl")))]
pub(crate) use instance::not_built_in;
#[cfg(feature = "compile")]
pub use languages::{
    dialect_of, language_extensions, other_language, unknown_language, unknown_language_in, unknown_language_of,
};
#[cfg(feature = "compile")]
pub use loader::{DirLoader, MemoryLoader};
#[cfg(feature = "yaml")]
pub use output_check::{OutputCheck, OutputSyntax};
#[cfg(feature = "compile")]
pub use path_from_here::path_from_here;
#[cfg(feature = "compile")]
pub use precompile::{Precompile, precompile};
pub use template::{Origin, RenderError, Template};

pub use crate::bytecode::Dialect;
#[cfg(feature = "compile")]
pub use crate::compiler::{Loader, Memo, MissingKey};
pub use crate::function::Capabilities;
