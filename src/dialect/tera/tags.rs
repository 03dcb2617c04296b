//! The grammar at work: one run reads all tags of a file; behind a tag it refuses it begins anew.

use bumpalo::Bump;
use lalrpop_util::ParseError;

use super::build::{Build, Tag};
use super::expected;
use super::lexer::{Spanned, Token};
use super::syntax::SyntaxError;

/// A tag, or what is wrong with it.
pub(super) type Read<'a> = Result<Tag<'a>, Box<SyntaxError>>;

/// How many tokens most tags have at least.
const TOKENS_OF_TAG: usize = 3;

/// Reads the tags whose tokens are `tokens`, each up to its [`Token::End`]; at most `faults` of them are wrong.
pub(super) fn read<'a>(arena: &'a Bump, tokens: &[Spanned<'a>], faults: usize) -> Vec<Read<'a>> {
    let mut build = Build::new(arena);
    build.tags.reserve(tokens.len() / TOKENS_OF_TAG);
    let (mut all, mut left) = (Vec::new(), tokens);
    for _ in 0..faults.max(1) {
        let error = parse(&mut build, left).err();
        let sound = build.tags.len();
        all.extend(build.tags.drain(..).map(Ok));
        let Some(error) = error else { break };
        let (tag, behind) = split(left, sound);
        all.push(Err(expected::explain(error, tag.first())));
        left = behind;
        build.give_up();
    }
    all
}

/// The tokens of tag `at`, and those behind it.
fn split<'t, 'a>(tokens: &'t [Spanned<'a>], at: usize) -> (&'t [Spanned<'a>], &'t [Spanned<'a>]) {
    let mut tags = tokens.split_inclusive(|(_, token, _)| *token == Token::End);
    let before: usize = tags.by_ref().take(at).map(<[_]>::len).sum();
    let len = tags.next().map_or(0, <[_]>::len);
    tokens.get(before..).unwrap_or(&[]).split_at_checked(len).unwrap_or((&[], &[]))
}

/// What the grammar finds wrong with the tokens of one tag that the lexer gave up on, if it ended there.
pub(super) fn fault<'a>(arena: &'a Bump, mut tokens: Vec<Spanned<'a>>) -> Option<Box<SyntaxError>> {
    let &(_, _, end) = tokens.last()?;
    tokens.push((end, Token::End, end));
    let error = parse(&mut Build::new(arena), &tokens).err()?;
    Some(expected::explain(error, tokens.first()))
}

fn parse<'a>(
    build: &mut Build<'a>,
    tokens: &[Spanned<'a>],
) -> Result<(), ParseError<u32, Token<'a>, Box<SyntaxError>>> {
    grammar::TagsParser::new().parse(build, tokens.iter().copied())
}

#[allow(missing_docs, clippy::all, clippy::pedantic, unused)]
mod grammar {
    lalrpop_util::lalrpop_mod!(
        #[allow(clippy::restriction)]
        inner,
        "/tera.rs"
    );
    pub use inner::TagsParser;
}
