//! The mode of a field.

use dropforge_machine::bytecode::EscapeMode;

/// The way values are inserted into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RenderMode {
    /// Unchanged.
    #[default]
    Literal,
    /// In single quotes, as one token of a shell command.
    Shell,
}

impl RenderMode {
    /// Every mode.
    pub const ALL: [RenderMode; 2] = [RenderMode::Literal, RenderMode::Shell];

    /// Returns the mode called `name` in an intent.
    pub fn from_name(name: &str) -> Option<RenderMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the name of the mode in an intent.
    pub fn name(self) -> &'static str {
        match self {
            RenderMode::Literal => "literal",
            RenderMode::Shell => "shell",
        }
    }

    /// Returns the escape mode of instructions.
    pub fn escape_mode(self) -> EscapeMode {
        match self {
            RenderMode::Literal => EscapeMode::Plain,
            RenderMode::Shell => EscapeMode::Shell,
        }
    }
}
