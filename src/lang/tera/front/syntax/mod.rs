//! The front end: parses source text to a [`tree`].
//!
//! `lexer` turns a source into tokens with balanced blocks and with white-space markers already applied. The LALRPOP
//! grammar (`grammar/tera.lalrpop`) parses them in one run and nests the blocks. `build` has its actions; the
//! wording of its errors, with the likely fix, is here. A [`SyntaxError`] becomes a [`Diagnostic`] when the parser reports it. The grammar restarts after a broken tag, so that every error of a file is reported at once:
//! stand-ins reopen the blocks that are open there, so that their ends still match. After the first error the tree is
//! discarded, and only further errors matter.
//!
//! Invariant: nesting (blocks, parentheses, brackets) is counted before the grammar sees a token, and chains (`a + b +
//! …`, `| f | g …`, `elif`, `.a.b`) are flat lists. Deep input uses no more of the host's stack than
//! [`Limits::nesting`](dropforge_base::limits::Limits::nesting) allows.

mod build;
mod lexer;
pub mod tree;

use std::sync::Arc;

use bumpalo::Bump;
use lalrpop_util::ParseError;

use crate::front::hints;
use build::Build;
use dropforge_base::diagnostics::{Code, Diagnostic, at_most};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span, unclosed_tag};
use lexer::{End, LexedSource, Spanned, Token, lex};
use tree::{Block, Node, Template};

/// Parses one template into `arena`. If there are errors, returns no template but every error of the file (at most
/// [`Limits::diagnostics`]), in order of position.
///
/// ```
/// use dropforge::{dialect::tera, limits::Limits, text::Source};
/// let arena = bumpalo::Bump::new();
/// let source = Source::new("t", "{% if a %}\n{{ b c }}\n{% endfor %}");
/// let (template, errors) = tera::parse(&arena, &source, &Limits::default());
/// assert!(template.is_none());
/// let places: Vec<_> = errors.iter().filter_map(|error| error.position()).map(|at| at.to_string()).collect();
/// assert_eq!(places, ["1:1", "2:6", "3:1"]);
/// ```
pub fn parse<'a>(
    arena: &'a Bump,
    source: &Arc<Source>,
    limits: &Limits,
) -> (Option<Template<'a>>, Vec<Box<Diagnostic>>) {
    if let Err(error) = limits.check_size(source) {
        return (None, vec![error]);
    }
    let text = arena.alloc_str(source.text());
    let mut errors = match read(arena, text, limits) {
        Ok(template) => return (Some(template), Vec::new()),
        Err(errors) => errors,
    };
    errors.small_sort_by_key(|error| error.span);
    let diagnose = |error: Box<SyntaxError>| match error.code {
        Code::LimitDepth => Limit::Nesting.error(limits.nesting as u64).at(source, error.span, "here"),
        _ => error.into_diagnostic(source),
    };
    let more = errors.len().saturating_sub(limits.diagnostics.max(1));
    errors.truncate(limits.diagnostics.max(1));
    (None, at_most(errors.into_iter().map(diagnose).collect(), limits.diagnostics, more))
}

/// A high estimate of the tokens per node of the main body.
const TOKENS_OF_NODE: usize = 3;

fn read<'a>(arena: &'a Bump, text: &'a str, limits: &Limits) -> Result<Template<'a>, Vec<Box<SyntaxError>>> {
    let LexedSource { mut tokens, mut errors, broken } = lex(text, limits);
    let mut broken = broken.into_iter();
    for _ in 0..limits.diagnostics.max(1) {
        let mut build = Build::new(arena, tokens.len() / TOKENS_OF_NODE);
        let error = match grammar::TemplateParser::new().parse(&mut build, tokens.iter().copied()) {
            Ok(body) if errors.is_empty() => return Ok(template(&build, body)),
            Ok(_) => break,
            Err(error) => error,
        };
        // The lexer's error in a broken tag counts, unless the grammar's error comes first.
        let (end, lexed) = match skip_tag(&mut tokens, offset(&error)) {
            Some(Token::End(end)) => (end, None),
            Some(Token::Broken(end)) => (end, broken.next()),
            _ => (End::Statement, None),
        };
        let error = explain(error, text, end);
        let start = error.span.start;
        let first = lexed.filter(|lexed| lexed.code == Code::LimitDepth || lexed.span.start <= start);
        let error = first.unwrap_or(error);
        errors.push(unclosed(text, &error).unwrap_or(error));
    }
    Err(errors)
}

/// Returns an offset in the tag of an error.
fn offset(error: &Unexpected<'_>) -> u32 {
    match error {
        ParseError::UnrecognizedToken { token: (at, ..), .. } | ParseError::ExtraToken { token: (at, ..) } => *at,
        ParseError::UnrecognizedEof { location: at, .. } | ParseError::InvalidToken { location: at } => *at,
        ParseError::User { error } => error.span.start,
    }
}

fn template<'a>(build: &Build<'a>, body: &'a [Node<'a>]) -> Template<'a> {
    Template {
        extends: build.extends,
        imports: build.arena.alloc_slice_copy(&build.imports),
        macros: build.arena.alloc_slice_copy(&build.macros),
        blocks: build.arena.alloc_slice_copy(&inherited_blocks(body)),
        body,
        sets: build.sets,
    }
}

/// Returns the blocks that inheritance sees: those in `body` and directly inside such blocks, in order.
fn inherited_blocks<'a>(body: &'a [Node<'a>]) -> Vec<&'a Block<'a>> {
    let mut found = Vec::new();
    let mut bodies = vec![body];
    while let Some(body) = bodies.pop() {
        for node in body {
            if let Node::Block(block) = node {
                found.push(*block);
                bodies.push(block.body);
            }
        }
    }
    found.small_sort_by_key(|block| block.name.span);
    found
}

/// Drops the tokens up to the end of the tag at offset `at`, except for open blocks. Returns the last of them, or
/// `None` if no tag ends after `at`.
fn skip_tag<'a>(tokens: &mut Vec<Spanned<'a>>, at: u32) -> Option<Token<'a>> {
    let ends = |(start, token, _): &Spanned<'_>| *start >= at && matches!(token, Token::End(_) | Token::Broken(_));
    let end = tokens.iter().position(ends)?;
    let mut open: Vec<Vec<Token<'static>>> = Vec::new();
    for (_, token, _) in tokens.iter().take(end) {
        match token {
            Token::If | Token::For | Token::Filter | Token::Block | Token::Macro => {
                open.push(stand_in(*token).to_vec())
            }
            Token::Else => open.iter_mut().last().into_iter().for_each(|block| block.push(Token::Else)),
            Token::EndIf | Token::EndFor | Token::EndFilter | Token::EndBlock | Token::EndMacro => drop(open.pop()),
            _ => {}
        }
    }
    let stand_ins = open.into_iter().flatten().map(|token| (0, token, 0));
    tokens.splice(..=end, stand_ins).next_back().map(|(_, token, _)| token)
}

/// Returns a valid opening tag of the same kind.
fn stand_in(head: Token<'_>) -> &'static [Token<'static>] {
    const NAME: Token<'static> = Token::Name("_");
    const END: Token<'static> = Token::End(End::Statement);
    match head {
        Token::If => &[Token::If, Token::Bool(true), END],
        Token::For => &[Token::For, NAME, Token::In, Token::Path("_"), END],
        Token::Filter => &[Token::Filter, NAME, END],
        Token::Block => &[Token::Block, NAME, END],
        Token::Macro => &[Token::Macro, NAME, Token::Open, Token::Close, END],
        _ => &[],
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("parser.generated");
}

/// An error in one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The code.
    pub code: Code,
    /// Its place.
    pub span: Span,
    /// The message.
    pub message: String,
    /// The likely fix; may be empty.
    pub help: String,
    /// Another span that explains the error, and its label.
    pub related: Option<(Span, String)>,
}

impl SyntaxError {
    /// Returns an error of `code` at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Box::new(Self { code, span, message: message.into(), help: help.into(), related: None })
    }

    /// Returns the error of an unexpected token.
    pub fn unexpected(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::UnexpectedToken, span, message, help)
    }

    /// Returns the error of a file that ends inside a construct.
    pub fn unterminated(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::Unterminated, span, message, help)
    }

    /// Returns the error of a character that starts no token.
    pub fn character(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::UnknownCharacter, span, message, help)
    }

    /// Returns the error of a misplaced tag.
    pub fn misplaced(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::MisplacedTag, span, message, help)
    }

    /// Returns the error of excessive nesting. Nothing after `span` is read.
    pub fn too_deep(span: Span) -> Box<Self> {
        Self::new(Code::LimitDepth, span, "", "")
    }

    /// Adds a label at `span`.
    pub fn related(mut self: Box<Self>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.related = Some((span, text.into()));
        self
    }

    /// Converts the error to a diagnostic.
    pub fn into_diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let mut diagnostic = Diagnostic::new(self.code, self.message).at(source, self.span, "");
        if let Some((span, text)) = self.related {
            diagnostic = diagnostic.at(source, span, text);
        }
        let help = hints::syntax(source.text(), self.span.range().start).unwrap_or(self.help);
        if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
    }
}

/// The grammar's own error.
pub type Unexpected<'a> = ParseError<u32, Token<'a>, Box<SyntaxError>>;

/// Describes the error of a tag in words.
pub fn explain(error: Unexpected<'_>, source: &str, end: End) -> Box<SyntaxError> {
    let (span, token, expected) = match error {
        ParseError::User { error } => return error,
        ParseError::UnrecognizedToken { token: (start, Token::End(_), _), expected } => return early(start, &expected),
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            (Span::new(start, end), token, expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => (Span::new(start, end), token, Vec::new()),
        ParseError::UnrecognizedEof { location, expected } => return early(location, &expected),
        ParseError::InvalidToken { location } => return early(location, &[]),
    };
    let words = describe(&expected, end.mark());
    let name = if matches!(token, Token::Str(_)) { "text".to_owned() } else { format!("`{}`", &source[span.range()]) };
    SyntaxError::unexpected(span, format!("unexpected {name}: expected {words}"), fix(token, &expected))
}

/// Returns the error of a tag that is not closed, if `error` stands on a later line of one: the parser finds it where the text
/// after the tag is no expression.
pub fn unclosed(source: &str, error: &SyntaxError) -> Option<Box<SyntaxError>> {
    let at = error.span.start as usize;
    let (open, mark) = unclosed_tag(source, at, &[("{{", "}}"), ("{%", "%}")])?;
    let end = if mark == "{{" { End::Value } else { End::Statement };
    let span = Span::of(open..open + mark.len());
    let found = SyntaxError::unterminated(span, format!("`{mark}` is not closed"), format!("add `{}`", end.mark()));
    Some(if at == source.len() { found } else { found.related(error.span, "read as a part of the tag") })
}

fn early(end: u32, expected: &[String]) -> Box<SyntaxError> {
    let words = describe(expected, "");
    let help = [")", "]"].iter().find(|token| has(expected, token)).map(|token| format!("add the closing `{token}`"));
    let message = format!("the tag ends too early: expected {words}");
    SyntaxError::unexpected(Span::new(end, end + 2), message, help.unwrap_or_default())
}

fn has(expected: &[String], token: &str) -> bool {
    expected.iter().any(|one| one.trim_matches('"') == token)
}

/// Names the expected tokens in groups, in a fixed order.
fn describe(expected: &[String], close: &str) -> String {
    let operators = ["+", "==", "or", "and", "~"];
    let operator = operators.iter().any(|token| has(expected, token));
    let value = has(expected, "path");
    let mut words: Vec<String> = Vec::new();
    let mut add = |wanted: bool, word: &str| {
        if wanted {
            words.push(word.to_owned());
        }
    };
    add(value, "a value");
    add(value && has(expected, "["), "a list");
    add(!value && has(expected, "text"), "text in quotes");
    add(has(expected, "name"), "a name");
    add(operator, "an operator");
    add(!operator && has(expected, "in"), "`in`");
    add(has(expected, "|"), "a filter");
    for token in ["=", "(", ",", ")", "]"] {
        add(has(expected, token), &format!("`{token}`"));
    }
    let inside = has(expected, ")") || has(expected, "]") || value || has(expected, "=");
    add(!close.is_empty() && !inside, &format!("`{close}`"));
    match words.as_slice() {
        [] => "nothing more".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

fn fix(token: Token<'_>, expected: &[String]) -> &'static str {
    let arguments = has(expected, "=") || (has(expected, "name") && has(expected, ")"));
    match token {
        _ if arguments => "arguments are given by name: `f(name=value)`",
        Token::Less | Token::LessEq | Token::Greater | Token::GreaterEq | Token::Equal | Token::NotEqual => {
            "comparisons cannot be chained; join two with `and`"
        }
        Token::OpenList => "a list cannot be an operand; use `{% set %}` and name the variable",
        Token::Minus | Token::Plus => "a sign must touch a number; write `0 - x` to negate a variable",
        Token::Is => "only a variable can be tested with `is`",
        Token::In => "`in` takes one comparison value on its left",
        Token::Not => "`not` stands before a whole comparison; `x is not y` and `x not in y` exist too",
        Token::Name(_) | Token::Path(_) | Token::Str(_) if has(expected, "|") => "an operator or a quote is missing",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_alone_in_a_tag_is_the_path_of_any_other_tag() {
        let arena = Bump::new();
        let parsed = |text: &str| {
            let (tree, errors) = parse(&arena, &Source::new("t", text), &Limits::default());
            assert!(errors.is_empty(), "{text}: {errors:?}");
            tree.unwrap().body
        };
        let paths = ["a", "a.b.c", "a[0]", "a['x y'].b", "a[b.c[d]][-1]", "or.in", "super", "true", "loop.index"];
        for path in paths {
            for (space, end) in [(" ", "}}"), ("", "}}"), ("\n\t", "-}}")] {
                let [Node::Text(_), Node::Emit(alone), Node::Text(after)] =
                    parsed(&format!("x{{{{    {path}{space}{end}y"))
                else {
                    panic!("{path}")
                };
                let [_, Node::If { branches: [branch], .. }] = parsed(&format!("x{{% if {path} %}}y{{% endif %}}"))
                else {
                    panic!("{path}")
                };
                assert_eq!(format!("{alone:?}"), format!("{:?}", branch.condition), "{path}");
                assert_eq!(after.text, "y");
            }
        }
        let trimmed = parsed("x \n{{- a -}} \n y");
        assert!(matches!(trimmed, [Node::Text(x), Node::Emit(_), Node::Text(y)] if x.text == "x" && y.text == "y"));
    }
}
