//! The native syntax: tokens, trees, and what is read off a tree without evaluating it.

pub mod analysis;
mod build;
mod escape;
mod heredoc;
pub mod lexer;
pub mod parser;
pub mod position;
pub mod token;
pub mod tree;
