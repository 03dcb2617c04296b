//! The template languages. None imports another; each has the same rooms: lexer, ast, parser, lowering,
//! semantics, builtins, and what is its own.

pub mod tower;
