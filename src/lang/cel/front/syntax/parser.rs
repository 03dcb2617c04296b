//! The parser of expressions.

use std::collections::HashSet;
use std::sync::Arc;

use super::build::Build;
use super::error::SyntaxError;
use super::recover::{TokenStream, Unexpected};
use super::tree::{DEPTH, Tree};
use super::{lexer, macros};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};

/// The maximum number of characters.
const CHARACTERS: usize = 100_000;

/// The maximum number of errors. Parsing stops after it.
const ERRORS: usize = 30;

/// The maximum number of tokens to parse again after errors.
const PARSED_AGAIN: usize = 1 << 20;

/// Parser options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Expand macros. Otherwise they are ordinary calls. On by default.
    pub macros: bool,
    /// The macros that are errors, because the implementation that the expression is written for lacks them. None by default.
    pub refused_macros: &'static [&'static str],
}

impl Default for Options {
    fn default() -> Self {
        Self { macros: true, refused_macros: &[] }
    }
}

/// Parses an expression.
///
/// # Errors
/// All syntax errors in source order, at most 30; or an expression that is too long (100,000 characters) or nests too deep
/// (250 levels).
///
/// ```
/// use dropforge::{dialect::cel::syntax::{Options, parse}, text::Source};
/// let tree = parse(&Source::new("e", "[1, 2].exists(x, x > 1)"), &Options::default()).unwrap();
/// assert!(tree.macro_call(tree.root).is_some());
///
/// let errors = parse(&Source::new("e", "f(1 +, [2 3]) && a # b"), &Options::default()).unwrap_err();
/// let positions: Vec<_> = errors.iter().filter_map(|error| error.position()).map(|at| at.to_string()).collect();
/// assert_eq!(positions, ["1:6", "1:11", "1:20"]);
/// ```
pub fn parse(source: &Arc<Source>, options: &Options) -> Result<Tree, Diagnostics> {
    parse_within(source, options, &Limits::default())
}

/// Parses an expression like [`parse`]. Its brackets nest no deeper than [`Limits::nesting`].
///
/// # Errors
/// The errors of [`parse`].
pub(crate) fn parse_within(source: &Arc<Source>, options: &Options, limits: &Limits) -> Result<Tree, Diagnostics> {
    let text = source.text();
    if text.chars().count() > CHARACTERS {
        let message = format!("the expression is too long: the limit is {CHARACTERS} characters");
        return Err(Diagnostic::new(Code::LimitSourceBytes, message).at(source, Span::new(0, 0), "").into());
    }
    let lexed = lexer::lex(text, limits.nesting_of(DEPTH));
    if let Some(too_deep) = lexed.too_deep {
        return Err(too_deep.into_diagnostic(source).into());
    }
    let mut parser = Parser { source, options, errors: lexed.errors, tree: Tree::new(source) };
    match parser.parse(TokenStream::new(lexed.tokens, text.len())) {
        Some(excess) => Err(excess.into_diagnostic(source).into()),
        None => parser.finish(),
    }
}

struct Parser<'s> {
    source: &'s Arc<Source>,
    options: &'s Options,
    errors: Vec<SyntaxError>,
    tree: Tree,
}

impl Parser<'_> {
    /// Parses the tokens, and parses them again without the part around each error. Returns the error of a limit.
    fn parse(&mut self, mut stream: TokenStream) -> Option<SyntaxError> {
        let (mut seen, mut left) = (HashSet::new(), PARSED_AGAIN);
        loop {
            let (result, mut errors, excess) = self.parse_once(&stream);
            let Err(unexpected) = result else {
                self.errors.append(&mut errors);
                return excess;
            };
            let repeated = unexpected.reported || !seen.insert(unexpected.span.start);
            let reported = repeated || self.errors.iter().any(|error| error.span == unexpected.span);
            if !reported || self.errors.is_empty() {
                self.errors.push(unexpected.error(self.source.text()));
            }
            left = left.saturating_sub(stream.len());
            let again = !unexpected.at_end && left > 0 && self.errors.len() < ERRORS;
            if !again || !stream.repair(unexpected.span, repeated) {
                self.errors.append(&mut errors);
                return None;
            }
        }
    }

    /// Parses the tokens into a new tree.
    fn parse_once(&mut self, stream: &TokenStream) -> (Result<(), Unexpected>, Vec<SyntaxError>, Option<SyntaxError>) {
        let mut tree = Tree::new(self.source);
        let expander = self.options.macros.then_some(macros::expand as _);
        let mut build = Build::new(&mut tree, self.source.text(), expander);
        build.refused_macros = self.options.refused_macros;
        let result = grammar::RootParser::new().parse(&mut build, stream.feed());
        let (errors, excess) = (std::mem::take(&mut build.errors), build.excess.take());
        let result = result.map(|root| tree.root = root).map_err(|error| Unexpected::new(error, stream.end()));
        self.tree = tree;
        (result, errors, excess)
    }

    fn finish(mut self) -> Result<Tree, Diagnostics> {
        if self.errors.is_empty() {
            return Ok(self.tree);
        }
        self.errors.small_sort_by_key(|error| error.span);
        // The first error at a position is the cause of later ones.
        self.errors.dedup_by_key(|error| error.span);
        self.errors.truncate(ERRORS);
        let source = self.source;
        Err(self.errors.into_iter().map(|error| error.into_diagnostic(source)).collect::<Vec<_>>().into())
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("parser.generated");
}
