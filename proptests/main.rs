//! Property tests, in one binary.

mod artifacts;
mod cel_optimise;
mod cel_partial;
mod cel_syntax;
mod cel_templates;
mod documents;
mod hcl_collections;
mod hcl_syntax;
mod numbers;
mod tera_render;
mod tera_syntax;
mod tower;
mod values;
mod yaml;
