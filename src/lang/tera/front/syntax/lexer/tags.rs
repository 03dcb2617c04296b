//! The names of tags.

use super::token::Token;
use crate::syntax::error::SyntaxError;
use dropforge_base::diagnostics::nearest;
use dropforge_base::text::Span;

/// A kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    If,
    For,
    Filter,
    Block,
    Macro,
}

impl Kind {
    /// Returns the name of the opening tag, and the tokens of the opening and the closing tag.
    fn tags(self) -> (&'static str, Token<'static>, Token<'static>) {
        match self {
            Kind::If => ("if", Token::If, Token::EndIf),
            Kind::For => ("for", Token::For, Token::EndFor),
            Kind::Filter => ("filter", Token::Filter, Token::EndFilter),
            Kind::Block => ("block", Token::Block, Token::EndBlock),
            Kind::Macro => ("macro", Token::Macro, Token::EndMacro),
        }
    }

    /// Returns the name of the opening tag.
    pub fn name(self) -> &'static str {
        self.tags().0
    }

    /// Returns the token of the closing tag.
    pub fn end(self) -> Token<'static> {
        self.tags().2
    }
}

/// A kind of tag.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    /// A tag with content that opens a block.
    Open(Kind),
    /// Another tag with content.
    Content(Token<'static>),
    /// A tag that is only a name.
    Bare(Token<'static>),
    /// A tag that closes a block.
    Close(Kind),
    /// `raw`
    Raw,
}

/// The names of tags.
const NAMES: &str = "if, elif, else, endif, for, endfor, break, continue, set, set_global, filter, endfilter, block, \
                     endblock, macro, endmacro, include, extends, import, raw";

impl Tag {
    /// Returns the tag called `name`. A name may directly follow `endblock` and `endmacro`.
    pub fn named(name: &str) -> Option<Self> {
        let glued = |end| name.strip_prefix(end).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        Some(match name {
            "if" => Tag::Open(Kind::If),
            "elif" => Tag::Content(Token::Elif),
            "else" => Tag::Bare(Token::Else),
            "endif" => Tag::Close(Kind::If),
            "for" => Tag::Open(Kind::For),
            "endfor" => Tag::Close(Kind::For),
            "break" => Tag::Bare(Token::Break),
            "continue" => Tag::Bare(Token::Continue),
            "set" => Tag::Content(Token::Set),
            "set_global" => Tag::Content(Token::SetGlobal),
            "filter" => Tag::Open(Kind::Filter),
            "endfilter" => Tag::Close(Kind::Filter),
            "block" => Tag::Open(Kind::Block),
            "macro" => Tag::Open(Kind::Macro),
            "include" => Tag::Content(Token::Include),
            "extends" => Tag::Content(Token::Extends),
            "import" => Tag::Content(Token::Import),
            "raw" => Tag::Raw,
            _ if glued("endblock") => Tag::Close(Kind::Block),
            _ if glued("endmacro") => Tag::Close(Kind::Macro),
            _ => return None,
        })
    }

    /// Returns the token of a tag with content.
    pub fn content(self) -> Option<Token<'static>> {
        match self {
            Tag::Open(kind) => Some(kind.tags().1),
            Tag::Content(head) => Some(head),
            Tag::Bare(_) | Tag::Close(_) | Tag::Raw => None,
        }
    }
}

/// Returns the error of an unknown tag at `span`.
pub(super) fn unknown_tag(span: Span, name: &str) -> Box<SyntaxError> {
    if name.is_empty() {
        return SyntaxError::unexpected(span, "a tag needs a name", "write `{{ … }}` to print a value");
    }
    let help = match nearest(name, NAMES.split(", ").chain(["endraw"])) {
        _ if name == "endraw" => "there is no `{% raw %}` before it".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tags are {NAMES}"),
    };
    SyntaxError::unexpected(span, format!("there is no tag `{name}`"), help)
}
