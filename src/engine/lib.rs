//! The engine: languages, functions, limits and templates in one place. The only layer that names every language.
//!
//! ```
//! use dropforge::{Dialect, Engine};
//! use serde_json::json;
//!
//! let engine = Engine::new();
//! let template = engine.compile(Dialect::Tera, "svc.yaml", "name: {{ name }}-{{ env | upper }}\n")?;
//! assert_eq!(template.render(&json!({"name": "api", "env": "prod"}))?, "name: api-PROD\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod artifact;
mod builder;
mod bundle;
mod cache;
#[cfg(feature = "helm")]
pub mod chart;
mod compile;
pub mod coverage;
mod discover;
mod front;
mod instance;
mod loader;
#[cfg(feature = "yaml")]
mod output_check;
#[cfg(feature = "yaml")]
pub mod recording;
mod residual;
mod template;
mod template_dir;
mod walk;

pub use artifact::Artifact;
pub use builder::{Engine, EngineBuilder};
pub use bundle::{Bundling, Precompile, precompile};
pub use cache::Cache;
pub use compile::render;
pub use discover::{Entry, Skipped, TemplateFile, TemplateSet, common_folder, discover, discover_with};
pub use dropforge_machine::bytecode::Dialect;
pub use dropforge_machine::compiler::{Loader, Memo, MissingKey};
pub use dropforge_machine::function::Capabilities;
pub use front::{
    CelDialect, CelPresence, HelmOptions, TeraDialect, UnknownNames, dialect_of, language_extensions, other_language,
    unknown_language, unknown_language_in, unknown_language_of,
};
pub use loader::{DirLoader, MemoryLoader};
#[cfg(feature = "yaml")]
pub use output_check::{OutputCheck, OutputSyntax};
pub use template::{Origin, RenderError, Template};
pub use template_dir::TemplateDir;
pub use walk::path_from_here;
