//! `tower`: the templating semantics of tower-fleet/template/v1.
//!
//! A field is text with `${scope.name}` expressions; nothing is evaluated, nothing has a default, and what is
//! missing is an error. Values are inserted as they are (literal mode) or as one shell token (shell mode).
//! [`intent`] reads whole intent definitions: which fields may hold expressions, their modes, parameters,
//! steps and their outputs.

pub mod ast;
pub mod error;
#[cfg(feature = "compile")]
mod fold;
#[cfg(feature = "compile")]
pub mod intent;
#[cfg(feature = "compile")]
pub mod lexer;
#[cfg(feature = "compile")]
pub mod lint;
#[cfg(feature = "compile")]
mod lower;
#[cfg(feature = "compile")]
pub mod parser;
mod semantics;
#[cfg(feature = "compile")]
pub mod shell;

#[cfg(feature = "compile")]
pub use lower::{compile, program};
pub use semantics::Rules;

use crate::bytecode::EscapeMode;

/// How values are inserted into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RenderMode {
    /// As they are.
    #[default]
    Literal,
    /// In single quotes, as one token of a shell command.
    Shell,
}

impl RenderMode {
    /// The mode called `name` in an intent.
    pub fn from_name(name: &str) -> Option<RenderMode> {
        match name {
            "literal" => Some(RenderMode::Literal),
            "shell" => Some(RenderMode::Shell),
            _ => None,
        }
    }

    /// The mode as an intent writes it.
    pub fn name(self) -> &'static str {
        match self {
            RenderMode::Literal => "literal",
            RenderMode::Shell => "shell",
        }
    }

    /// The mode as instructions name it.
    pub fn escape_mode(self) -> EscapeMode {
        match self {
            RenderMode::Literal => EscapeMode::Plain,
            RenderMode::Shell => EscapeMode::Shell,
        }
    }
}
