//! The words of template directives.

/// The word of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Directive {
    If,
    For,
    Else,
    EndIf,
    EndFor,
}

impl Directive {
    /// All directives.
    pub(super) const ALL: [Directive; 5] =
        [Directive::If, Directive::For, Directive::Else, Directive::EndIf, Directive::EndFor];

    /// The directive that begins with `word`.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|directive| directive.name() == word)
    }

    /// The word in a source.
    pub(super) fn name(self) -> &'static str {
        match self {
            Directive::If => "if",
            Directive::For => "for",
            Directive::Else => "else",
            Directive::EndIf => "endif",
            Directive::EndFor => "endfor",
        }
    }
}
