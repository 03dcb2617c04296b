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
pub(super) use words::word_end;

use super::syntax::SyntaxError;
use crate::text::Span;
use tag::TagLexer;

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
    Super(Trim, Tokens),
    /// A tag for the grammar; the first token is its name.
    Tag(Trim, Tokens),
    /// A tag without content.
    Bare(Trim, Bare),
    /// Something wrong; the tag's tokens up to there, and scanning goes on behind the tag.
    Broken(Vec<Spanned<'s>>, Box<SyntaxError>),
}

/// Where the tokens of one tag are.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    /// Index of the first, which says which tag it is; the last is [`Token::End`].
    pub first: usize,
    /// How deep brackets nest in the tag.
    pub deepest: usize,
}

/// How many bytes of source there are for each token, text counted in.
const BYTES_OF_TOKEN: usize = 8;

/// Cuts a source into segments, one at a time.
#[derive(Debug)]
pub struct Scanner<'s> {
    source: &'s str,
    at: usize,
    tag: TagLexer<'s>,
}

impl<'s> Scanner<'s> {
    /// A scanner at byte `at` of `source`; brackets in a tag may nest `depth` levels.
    pub fn new(source: &'s str, at: usize, depth: usize) -> Self {
        Self { source, at, tag: TagLexer::new(source, depth) }
    }

    /// Makes room for the tokens of a source that is scanned whole.
    pub fn reserve(&mut self) {
        self.tag.tokens.reserve(self.source.len() / BYTES_OF_TOKEN);
    }

    /// The tokens of all sound tags so far.
    pub fn into_tokens(self) -> Vec<Spanned<'s>> {
        self.tag.tokens
    }

    /// Skips spaces, tabs and line ends (what the grammar swallows around `extends` and `import`).
    pub fn skip_space(&mut self) {
        self.at = words::behind_space(self.source, self.at);
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

    /// The next segment with its span.
    pub fn next(&mut self) -> Option<(Span, Segment<'s>)> {
        if self.at >= self.source.len() {
            return None;
        }
        let start = self.at;
        let segment = match words::opener(self.source.as_bytes(), start) {
            Some((at, _)) if at > start => self.text(at),
            None => self.text(self.source.len()),
            Some((_, b'#')) => self.comment(),
            Some((_, b'{')) => self.value(),
            Some(_) => self.tag(),
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

    fn value(&mut self) -> Segment<'s> {
        let left = self.source.as_bytes().get(self.at + 2) == Some(&b'-');
        self.tag.begin(self.at + if left { 3 } else { 2 }, true);
        match self.tag.value() {
            Ok(right) if is_super(self.tag.inside()) => Segment::Super(Trim { left, right }, self.sound()),
            Ok(right) => Segment::Tag(Trim { left, right }, self.sound()),
            Err(error) => self.broken(error),
        }
    }

    fn tag(&mut self) -> Segment<'s> {
        let left = self.source.as_bytes().get(self.at + 2) == Some(&b'-');
        let name_at = words::behind_space(self.source, self.at + if left { 3 } else { 2 });
        let name = words::leading(self.source.get(name_at..).unwrap_or(""));
        self.tag.begin(name_at + name.len(), false);
        let result = match words::tag(name) {
            words::Tag::Head(head) => self.tag.head(head, (name_at, name_at + name.len())),
            words::Tag::Bare(bare) => match self.tag.bare(matches!(name, "endblock" | "endmacro")) {
                Ok(right) => {
                    self.at = self.tag.at;
                    return Segment::Bare(Trim { left, right }, bare);
                }
                Err(error) => Err(error),
            },
            words::Tag::Raw => match self.tag.bare(false) {
                Ok(right) => return self.raw(Trim { left, right }),
                Err(error) => Err(error),
            },
            words::Tag::Unknown => Err(words::unknown_tag(self.at, name_at, name)),
        };
        match result {
            Ok(right) => Segment::Tag(Trim { left, right }, self.sound()),
            Err(error) => self.broken(error),
        }
    }

    fn raw(&mut self, open: Trim) -> Segment<'s> {
        let start = self.at;
        self.at = self.tag.at;
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
        Segment::Raw(Trim { left: open.left, right: close.right }, text, &rest[..from])
    }

    /// Goes behind the tag.
    fn sound(&mut self) -> Tokens {
        self.at = self.tag.at;
        self.tag.finish()
    }

    /// Goes on behind the next closing mark, or at the next opening one, whichever comes first.
    fn broken(&mut self, error: Box<SyntaxError>) -> Segment<'s> {
        let from = self.tag.at.max(self.at + 2);
        self.at = words::resume(self.source.as_bytes(), from);
        Segment::Broken(self.tag.give_up(), error)
    }
}

fn is_super(inside: &str) -> bool {
    let inside = &inside[words::space(inside)..];
    inside.strip_prefix("super()").is_some_and(|rest| words::space(rest) == rest.len())
}

fn broken<'s>(error: Box<SyntaxError>) -> Segment<'s> {
    Segment::Broken(Vec::new(), error)
}
