//! From source text to segments: text, comments, raw blocks and tags, a tag as a list of [`Token`]s.
//!
//! The lexer is modal. Outside of tags only `{{`, `{%` and `{#` mean anything. Inside a tag logos cuts the
//! characters and `names` decides what a word is by where it stands: `or` behind a value is an operator, where a
//! value is expected it is a variable, because no word is reserved in this language.
//!
//! ```text
//!   text ──{{──▶ value ──}}──▶ text        text ──{%──▶ tag ──%}──▶ text
//!   text ──{#──▶ comment ──#}──▶ text      text ──{% raw %}──▶ raw ──{% endraw %}──▶ text
//! ```
//! Invariant: every segment is longer than nothing, so scanning ends; brackets are counted here and the count
//! never passes what the caller allows.

mod heads;
mod names;
mod tag;
mod token;
mod words;

pub use token::{Spanned, Token};

use super::syntax::SyntaxError;
use crate::text::Span;

/// Which sides of a tag carry the `-` that trims the text beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trim {
    /// `{%-`
    pub left: bool,
    /// `-%}`
    pub right: bool,
}

/// A tag that takes nothing, only its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    /// `{% else %}`
    Else,
    /// `{% endif %}`
    EndIf,
    /// `{% endfor %}`
    EndFor,
    /// `{% endfilter %}`
    EndFilter,
    /// `{% endblock %}`, with any name
    EndBlock,
    /// `{% endmacro %}`, with any name
    EndMacro,
    /// `{% break %}`
    Break,
    /// `{% continue %}`
    Continue,
}

/// What a piece of the source is.
#[derive(Debug)]
pub enum Segment<'s> {
    /// Text between tags.
    Text(&'s str),
    /// `{# … #}`
    Comment(Trim),
    /// `{% raw %}…{% endraw %}`: the outer sides' trim, and the text with the inner sides' trim applied.
    Raw(Trim, &'s str, &'s str),
    /// `{{ super() }}` exactly; its markers trim nothing.
    Super(Trim, Tokens<'s>),
    /// A tag for the grammar; the first token is its name.
    Tag(Trim, Tokens<'s>),
    /// A tag without content.
    Bare(Trim, Bare),
    /// Something wrong; the tag's tokens up to there, and scanning goes on behind the tag.
    Broken(Tokens<'s>, Box<SyntaxError>),
}

/// The tokens of one tag.
#[derive(Debug, Default)]
pub struct Tokens<'s> {
    /// In order; the first says which tag it is.
    pub list: Vec<Spanned<'s>>,
    /// Where the closing mark begins.
    pub end: u32,
}

/// Cuts a source into segments, one at a time.
#[derive(Debug)]
pub struct Scanner<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Scanner<'s> {
    /// A scanner at the start of `source`.
    pub fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    /// Skips spaces, tabs and line ends (what the grammar swallows around `extends` and `import`).
    pub fn skip_space(&mut self) {
        self.at += words::space(self.rest());
    }

    /// Whether a comment follows at once.
    pub fn peeks_comment(&self) -> bool {
        self.rest().starts_with("{#")
    }

    /// Whether a tag with the name `word` follows behind nothing but white space.
    pub fn peeks_tag(&self, word: &str) -> bool {
        let rest = &self.rest()[words::space(self.rest())..];
        rest.strip_prefix("{%").is_some_and(|rest| words::leading(words::skip_marker(rest)) == word)
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or("")
    }

    /// The next segment with its span; brackets in it may nest `depth` levels.
    pub fn next(&mut self, depth: usize) -> Option<(Span, Segment<'s>)> {
        if self.at >= self.source.len() {
            return None;
        }
        let start = self.at;
        let segment = match words::opener(self.source.as_bytes(), start) {
            Some((at, _)) if at > start => self.text(at),
            None => self.text(self.source.len()),
            Some((_, b'#')) => self.comment(),
            Some((_, b'{')) => self.value(depth),
            Some(_) => self.tag(depth),
        };
        Some((Span::of(start..self.at), segment))
    }

    fn text(&mut self, end: usize) -> Segment<'s> {
        let text = self.source.get(self.at..end).unwrap_or("");
        self.at = end;
        Segment::Text(text)
    }

    fn comment(&mut self) -> Segment<'s> {
        let left = self.rest().starts_with("{#-");
        let body = self.at + if left { 3 } else { 2 };
        let text = self.source.get(body..).unwrap_or("");
        let start = self.at;
        let Some(found) = text.find("#}") else {
            self.at = self.source.len();
            let span = Span::of(start..start + 2);
            return broken(SyntaxError::unterminated(span, "this comment is not closed", "add `#}`"));
        };
        self.at = body + found + 2;
        let right = found > 0 && text.as_bytes()[found - 1] == b'-';
        if found == usize::from(right) {
            let span = Span::of(start..self.at);
            return broken(SyntaxError::unexpected(span, "a comment needs text", "write `{# text #}`"));
        }
        Segment::Comment(Trim { left, right })
    }

    fn value(&mut self, depth: usize) -> Segment<'s> {
        let start = self.at;
        let left = self.rest().starts_with("{{-");
        let mut lexer = tag::TagLexer::new(self.source, start + if left { 3 } else { 2 }, true, depth);
        let result = lexer.value();
        let is_super = result.is_ok() && is_super(lexer.inside());
        match self.finish(result, left, lexer) {
            Segment::Tag(trim, tokens) if is_super => Segment::Super(trim, tokens),
            other => other,
        }
    }

    fn tag(&mut self, depth: usize) -> Segment<'s> {
        let left = self.rest().starts_with("{%-");
        let inside = self.at + if left { 3 } else { 2 };
        let name_at = inside + words::space(self.source.get(inside..).unwrap_or(""));
        let name = words::leading(self.source.get(name_at..).unwrap_or(""));
        let mut lexer = tag::TagLexer::new(self.source, name_at + name.len(), false, depth);
        if name == "raw" {
            return self.raw(left, lexer);
        }
        if let Some(bare) = words::bare(name) {
            let result = lexer.bare(matches!(name, "endblock" | "endmacro"));
            let Some(end) = self.end_of(result, left, &mut lexer) else { return self.broken(lexer) };
            return Segment::Bare(end, bare);
        }
        let result = match words::head(name) {
            Some(head) => lexer.head(head, (name_at, name_at + name.len())),
            None => Err(words::unknown_tag(self.at, name_at, name)),
        };
        self.finish(result, left, lexer)
    }

    fn raw(&mut self, left: bool, mut lexer: tag::TagLexer<'s>) -> Segment<'s> {
        let start = self.at;
        let result = lexer.bare(false);
        let Some(open) = self.end_of(result, left, &mut lexer) else { return self.broken(lexer) };
        let rest = self.rest();
        let Some((from, to, close)) = words::find_endraw(rest) else {
            self.at = self.source.len();
            let span = Span::of(start..start + 2);
            return broken(SyntaxError::unterminated(span, "`{% raw %}` is not closed", "add `{% endraw %}`"));
        };
        self.at += to;
        let mut text = &rest[..from];
        text = if open.right { text.trim_start() } else { text };
        text = if close.left { text.trim_end() } else { text };
        Segment::Raw(Trim { left, right: close.right }, text, &rest[..from])
    }

    /// Goes behind the tag and says how it trims; `None` where it was broken (the error stays in `lexer`).
    fn end_of(
        &mut self,
        result: Result<bool, Box<SyntaxError>>,
        left: bool,
        lexer: &mut tag::TagLexer<'s>,
    ) -> Option<Trim> {
        match result {
            Ok(right) => {
                self.at = lexer.at();
                Some(Trim { left, right })
            }
            Err(error) => {
                lexer.failed = Some(error);
                None
            }
        }
    }

    fn finish(
        &mut self,
        result: Result<bool, Box<SyntaxError>>,
        left: bool,
        mut lexer: tag::TagLexer<'s>,
    ) -> Segment<'s> {
        match self.end_of(result, left, &mut lexer) {
            Some(trim) => Segment::Tag(trim, lexer.into_parts().0),
            None => self.broken(lexer),
        }
    }

    /// Goes on behind the next closing mark, or at the next opening one, whichever comes first.
    fn broken(&mut self, lexer: tag::TagLexer<'s>) -> Segment<'s> {
        let from = lexer.at().max(self.at + 2);
        self.at = words::resume(self.source.as_bytes(), from);
        let (tokens, failed) = lexer.into_parts();
        match failed {
            Some(error) => Segment::Broken(tokens, error),
            None => Segment::Text(""),
        }
    }
}

fn is_super(inside: &str) -> bool {
    inside.trim_matches([' ', '\t', '\r', '\n']) == "super()"
}

fn broken<'s>(error: Box<SyntaxError>) -> Segment<'s> {
    Segment::Broken(Tokens::default(), error)
}
