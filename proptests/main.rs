//! Property tests, in one binary.

mod artifacts;
mod cel_syntax;
mod hcl_collections;
mod numbers;
mod tera_render;
mod tera_syntax;
mod tower;
mod values;
mod yaml;
