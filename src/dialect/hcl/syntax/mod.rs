//! The native syntax: lexer, parser, tree, and static analysis of trees.

pub mod analysis;
mod build;
pub mod lexer;
pub mod parser;
pub mod position;
mod reports;
pub mod token;
pub mod tree;
