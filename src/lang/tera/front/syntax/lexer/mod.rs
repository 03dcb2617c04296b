//! Source text to tokens. The loop over a source reads text, comments, raw blocks and tags.
//!
//! The lexer is modal. Outside tags only `{{`, `{%` and `{#` are special. Inside a tag logos splits the characters and
//! `words` classifies each word by its position: `or` after a value is an operator, and a variable where a value is
//! expected, because the language reserves no words.
//!
//! ```text
//!   text ──{{──▶ value ──}}──▶ text        text ──{%──▶ tag ──%}──▶ text
//!   text ──{#──▶ comment ──#}──▶ text      text ──{% raw %}──▶ raw ──{% endraw %}──▶ text
//! ```
//!
//! | file | content |
//! |---|---|
//! | `tag` | the inside of a tag: symbols, literals, brackets |
//! | `words` | words: the parts of statements that are not expressions; operators, variables, literals and names |
//! | `blocks` | the names of tags; open blocks: missing and misplaced tags |
//! | `bytes` | searches in bytes; trimming by `{%-` and `-%}` |
//!
//! Invariant: every step consumes input, so lexing terminates. Brackets and blocks are counted here, and their number
//! never exceeds [`Limits::nesting`](dropforge_base::limits::Limits::nesting).

mod blocks;
mod bytes;
mod tag;
mod words;

pub(super) use bytes::word_end;

use crate::syntax::SyntaxError;
use blocks::{BlockKind, Blocks, Tag, unknown_tag};
use bytes::Trim;
use dropforge_base::diagnostics::Code;
use dropforge_base::limits::Limits;
use dropforge_base::text::Span;
use tag::{Expect, Lexed, TagLexer};

/// The tokens of a source. Blocks are balanced, and text is final.
pub(crate) struct LexedSource<'s> {
    /// All tokens, or those before the error that ended the lexing early.
    pub tokens: Vec<Spanned<'s>>,
    /// Errors outside tags with content, and errors of misplaced tags.
    pub errors: Vec<Box<SyntaxError>>,
    /// One error for each broken tag in `tokens`, in order.
    pub broken: Vec<Box<SyntaxError>>,
}

/// A low estimate of the bytes of source per token, including text.
const BYTES_OF_TOKEN: usize = 5;

/// Lexes a source to its end, to excessive nesting, or to [`Limits::diagnostics`] errors.
pub fn lex<'s>(source: &'s str, limits: &Limits) -> LexedSource<'s> {
    let mut scanner = Scanner {
        source,
        at: 0,
        limits,
        in_preamble: true,
        tag: TagLexer::new(source),
        blocks: Blocks::new(source.len() / BYTES_OF_TOKEN, limits.nesting),
        broken: Vec::new(),
    };
    scanner.preamble();
    while scanner.at < source.len() && !scanner.is_stopped() {
        scanner.step();
    }
    let is_whole = !scanner.is_stopped();
    let Scanner { mut blocks, broken, .. } = scanner;
    let is_cut = broken.last().is_some_and(|error| error.code == Code::Unterminated);
    blocks.close_all(source.len(), is_whole, is_cut);
    LexedSource { tokens: blocks.tokens, errors: blocks.errors, broken }
}

struct Scanner<'s, 'l> {
    source: &'s str,
    at: usize,
    limits: &'l Limits,
    /// `true` while `extends` and `import` are allowed.
    in_preamble: bool,
    tag: TagLexer<'s>,
    blocks: Blocks<'s>,
    broken: Vec<Box<SyntaxError>>,
}

impl<'s> Scanner<'s, '_> {
    fn is_stopped(&self) -> bool {
        let errors = [&self.blocks.errors, &self.broken];
        errors.iter().map(|errors| errors.len()).sum::<usize>() >= self.limits.diagnostics.max(1)
            || errors.iter().filter_map(|errors| errors.last()).any(|error| error.code == Code::LimitDepth)
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or("")
    }

    /// Reads comments, then `extends` and imports in either order, and the white space around them.
    fn preamble(&mut self) {
        while self.rest().starts_with("{#") && !self.is_stopped() {
            self.comment();
        }
        self.blocks.end_tag(false);
        let extends_first = self.preamble_tag("extends");
        let mut imports = false;
        while self.preamble_tag("import") {
            imports = true;
        }
        if imports && !extends_first {
            self.preamble_tag("extends");
        }
        self.in_preamble = false;
    }

    /// Reads the tag `name` if it comes next.
    fn preamble_tag(&mut self, name: &str) -> bool {
        let is_next = bytes::skip_space(self.rest())
            .strip_prefix("{%")
            .is_some_and(|rest| bytes::leading(bytes::skip_marker(rest)) == name);
        if is_next && !self.is_stopped() {
            self.at = bytes::behind_space(self.source, self.at);
            self.statement();
            self.at = bytes::behind_space(self.source, self.at);
        }
        is_next && !self.is_stopped()
    }

    fn step(&mut self) {
        let start = self.at;
        let (end, mark) = bytes::opener(self.source.as_bytes(), start).unzip();
        self.at = end.unwrap_or(self.source.len());
        if start < self.at {
            self.blocks.text(self.source.get(start..self.at).unwrap_or(""), start);
        }
        match mark {
            Some(b'#') => self.comment(),
            Some(b'{') => self.value(),
            Some(_) => self.statement(),
            None => {}
        }
    }

    fn comment(&mut self) {
        let start = self.at;
        let left = self.rest().starts_with("{#-");
        let body = start + if left { 3 } else { 2 };
        let text = self.source.get(body..).unwrap_or("");
        let Some(found) = text.find("#}") else {
            self.at = self.source.len();
            let span = Span::of(start..start + 2);
            return self.error(SyntaxError::unterminated(span, "this comment is not closed", "add `#}`"));
        };
        self.at = body + found + 2;
        let right = found > 0 && text.as_bytes()[found - 1] == b'-';
        if found == usize::from(right) {
            let span = Span::of(start..self.at);
            return self.error(SyntaxError::unexpected(span, "a comment needs text", "write `{# text #}`"));
        }
        self.blocks.whole(Trim { left, right });
    }

    /// Returns the offset after the opening mark of the tag here, and `true` if that mark trims.
    fn opening(&self) -> (usize, bool) {
        let left = self.source.as_bytes().get(self.at + 2) == Some(&b'-');
        (self.at + if left { 3 } else { 2 }, left)
    }

    /// `{{ … }}`
    fn value(&mut self) {
        let start = self.at;
        let (inside, left) = self.opening();
        self.begin(inside, End::Value);
        push(&mut self.tag.tokens, start..inside, Token::Emit);
        match self.tag.expression(Expect::Logic) {
            Ok(_) if self.tag.is_super() && self.blocks.inside(BlockKind::Block) => {
                self.at = self.tag.at;
                self.blocks.super_tag(start..self.at);
            }
            Ok(right) => match self.tag.tokens.as_slice() {
                [_, (from, Token::Path(path), to)] => {
                    self.path_tag((*from, Token::EmitPath(path), *to), Trim { left, right })
                }
                _ => self.sound(Tag::Content(Token::Emit), Trim { left, right }),
            },
            Err(error) => self.broken(None, error),
        }
    }

    /// Continues after `{{ path }}`, the most frequent tag. The grammar reads it as one token.
    fn path_tag(&mut self, path: Spanned<'s>, trim: Trim) {
        self.at = self.tag.at;
        self.blocks.whole(trim);
        self.blocks.tokens.push(path);
    }

    /// `{% … %}`
    fn statement(&mut self) {
        let start = self.at;
        let (inside, left) = self.opening();
        let name_at = bytes::behind_space(self.source, inside);
        let name = bytes::leading(self.source.get(name_at..).unwrap_or(""));
        let content_at = name_at + name.len();
        self.begin(content_at, End::Statement);
        let Some(tag) = Tag::named(name) else {
            let span = Span::of(start..content_at.max(start + 2));
            return self.broken(None, unknown_tag(span, name));
        };
        let closed = match (tag, tag.content()) {
            (_, Some(head)) => {
                push(&mut self.tag.tokens, start..content_at, head);
                self.tag.content(head)
            }
            (Tag::Close(BlockKind::Block | BlockKind::Macro), None) => self.tag.name_without_meaning(),
            _ => self.tag.expect_close(),
        };
        match closed {
            Ok(right) if matches!(tag, Tag::Raw) => self.raw(Trim { left, right }),
            Ok(right) => self.sound(tag, Trim { left, right }),
            Err(error) => self.broken(Some(tag), error),
        }
    }

    fn begin(&mut self, at: usize, closing: End) {
        self.tag.begin(at, closing, self.limits.nesting.saturating_sub(self.blocks.depth()));
    }

    fn raw(&mut self, open: Trim) {
        let start = self.at;
        self.at = self.tag.at;
        let rest = self.rest();
        let Some((from, to, close)) = bytes::find_endraw(rest) else {
            self.at = self.source.len();
            let span = Span::of(start..start + 2);
            return self.error(SyntaxError::unterminated(span, "`{% raw %}` is not closed", "add `{% endraw %}`"));
        };
        let outer = Trim { left: open.left, right: close.right };
        let inner = Trim { left: open.right, right: close.left };
        self.blocks.raw([outer, inner], &rest[..from], self.at);
        self.at += to;
    }

    /// Continues after a tag without lexical errors.
    fn sound(&mut self, tag: Tag, trim: Trim) {
        let start = std::mem::replace(&mut self.at, self.tag.at);
        match tag {
            Tag::Bare(token) => push(&mut self.tag.tokens, start..self.at, token),
            Tag::Open(_) | Tag::Content(_) => self.tag.finish(),
            Tag::Close(_) | Tag::Raw => {}
        }
        match self.pass(tag, Span::of(start..self.at), trim) {
            Ok(()) => {
                if let Tag::Open(kind @ (BlockKind::Block | BlockKind::Macro)) = tag {
                    self.blocks.define(kind, &self.tag.tokens);
                }
                self.blocks.tokens.append(&mut self.tag.tokens);
            }
            Err(error) => self.error(error),
        }
    }

    fn pass(&mut self, tag: Tag, span: Span, trim: Trim) -> Lexed<()> {
        if !self.in_preamble && matches!(tag, Tag::Content(Token::Extends | Token::Import)) {
            let help = "move it to the top: only comments and other `extends` or `import` tags may stand before it";
            return Err(SyntaxError::misplaced(span, "`extends` and `import` stand at the top of a file", help));
        }
        self.blocks.tag(tag, span, trim)
    }

    /// Continues after a tag that the lexer gave up. A block that it would have opened is open, so that its closing tag
    /// is not another error. The grammar reads the tokens up to the error.
    fn broken(&mut self, tag: Option<Tag>, error: Box<SyntaxError>) {
        let start = self.at;
        self.at = bytes::resume(self.source.as_bytes(), self.tag.at.max(start + 2));
        if self.tag.break_off(error.span.start) && self.stands(tag, Span::of(start..self.at)) {
            self.blocks.tokens.append(&mut self.tag.tokens);
            self.broken.push(error);
        } else {
            self.error(error);
        }
    }

    /// Passes a broken tag. Returns `false` if it is not allowed here, which is not reported separately.
    fn stands(&mut self, tag: Option<Tag>, span: Span) -> bool {
        let errors = self.blocks.errors.len();
        let stands = tag.is_none_or(|tag| self.pass(tag, span, Trim::default()).is_ok());
        self.blocks.errors.truncate(errors);
        stands
    }

    fn error(&mut self, error: Box<SyntaxError>) {
        self.blocks.errors.push(error);
    }
}

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
fn push<'s>(tokens: &mut Vec<Spanned<'s>>, range: std::ops::Range<usize>, token: Token<'s>) {
    let span = dropforge_base::text::Span::of(range);
    tokens.push((span.start, token, span.end));
}
