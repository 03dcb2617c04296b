//! Tokens.

// `Token`, from `grammar/tokens/tera.rs`.
include!("tokens.generated");

fn unquoted<'s>(lexer: &mut logos::Lexer<'s, Token<'s>>) -> &'s str {
    let text = lexer.slice();
    text.get(1..text.len().saturating_sub(1)).unwrap_or("")
}

/// The end of a tag with content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// `}}`
    Value,
    /// `%}`
    Statement,
}

impl End {
    /// Returns the closing mark.
    pub fn mark(self) -> &'static str {
        match self {
            End::Value => "}}",
            End::Statement => "%}",
        }
    }
}

/// A token between the offsets of its start and end.
pub type Spanned<'s> = (u32, Token<'s>, u32);

/// Adds a token to a list.
pub(super) fn push<'s>(tokens: &mut Vec<Spanned<'s>>, range: std::ops::Range<usize>, token: Token<'s>) {
    let span = dropforge_base::text::Span::of(range);
    tokens.push((span.start, token, span.end));
}
