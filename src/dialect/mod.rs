//! The template languages. Each lives in its own module with the same rooms (lexer, ast, parser, lower,
//! semantics, builtins) and imports nothing of another language; only `engine` knows them all.

pub mod cel;
pub mod hcl;
pub mod tera;
pub mod tower;
