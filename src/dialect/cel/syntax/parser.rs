//! From a source to a tree, or to everything that is wrong with it.

use std::collections::HashSet;
use std::sync::Arc;

use super::build::Build;
use super::fault::Fault;
use super::lexer;
use super::recover::{Refused, Stream};
use super::tree::Tree;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::text::{Source, Span};

/// How many characters an expression may have.
const CHARACTERS: usize = 100_000;

/// How many errors are reported: reading goes on behind as many.
const FAULTS: usize = 30;

/// How many tokens are read again behind errors before the rest is left unread.
const READ_AGAIN: usize = 1 << 20;

/// How an expression is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether macros are expanded; otherwise they are ordinary calls.
    pub macros: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { macros: true }
    }
}

/// Reads an expression.
///
/// # Errors
/// Everything that is wrong with it, in the order of the source, at most 30 errors; or that it is too long (100,000
/// characters) or too deep (250 levels).
///
/// ```
/// use dropforge::{dialect::cel::syntax::{Options, parse}, text::Source};
/// let tree = parse(&Source::new("e", "[1, 2].exists(x, x > 1)"), &Options::default()).unwrap();
/// assert!(tree.macro_call(tree.root).is_some());
///
/// let errors = parse(&Source::new("e", "f(1 +, [2 3]) && a # b"), &Options::default()).unwrap_err();
/// let places: Vec<_> = errors.iter().filter_map(|error| error.position()).map(|at| at.to_string()).collect();
/// assert_eq!(places, ["1:6", "1:11", "1:20"]);
/// ```
pub fn parse(source: &Arc<Source>, options: &Options) -> Result<Tree, Diagnostics> {
    let text = source.text();
    if text.chars().count() > CHARACTERS {
        let message = format!("the expression is too long: the limit is {CHARACTERS} characters");
        return Err(Diagnostic::new(Code::LimitSourceBytes, message).at(source, Span::new(0, 0), "").into());
    }
    let lexed = lexer::lex(text);
    if let Some(too_deep) = lexed.too_deep {
        return Err(too_deep.into_diagnostic(source).into());
    }
    let mut read = Read { source, options, faults: lexed.faults, tree: Tree::new(source) };
    match read.all(Stream::new(lexed.tokens, text.len())) {
        Some(excess) => Err(excess.into_diagnostic(source).into()),
        None => read.finish(),
    }
}

struct Read<'s> {
    source: &'s Arc<Source>,
    options: &'s Options,
    faults: Vec<Fault>,
    tree: Tree,
}

impl Read<'_> {
    /// Reads the tokens, and reads them again without what is wrong until nothing is. Gives the limit that ends it.
    fn all(&mut self, mut stream: Stream) -> Option<Fault> {
        let (mut known, mut left) = (HashSet::new(), READ_AGAIN);
        loop {
            let (result, mut faults, excess) = self.once(&stream);
            let Err(refused) = result else {
                self.faults.append(&mut faults);
                return excess;
            };
            let repeated = refused.known || !known.insert(refused.span.start);
            let reported = repeated || self.faults.iter().any(|fault| fault.span == refused.span);
            if !reported || self.faults.is_empty() {
                self.faults.push(refused.fault(self.source.text()));
            }
            left = left.saturating_sub(stream.len());
            let again = !refused.at_end && left > 0 && self.faults.len() < FAULTS;
            if !again || !stream.repair(refused.span, repeated) {
                self.faults.append(&mut faults);
                return None;
            }
        }
    }

    /// Reads the tokens once, into a new tree.
    fn once(&mut self, stream: &Stream) -> (Result<(), Refused>, Vec<Fault>, Option<Fault>) {
        let mut tree = Tree::new(self.source);
        let mut build = Build::new(&mut tree, self.source.text(), self.options.macros);
        let result = grammar::RootParser::new().parse(&mut build, stream.feed());
        let (faults, excess) = (std::mem::take(&mut build.faults), build.excess.take());
        let result = result.map(|root| tree.root = root).map_err(|error| Refused::new(error, stream.end()));
        self.tree = tree;
        (result, faults, excess)
    }

    fn finish(mut self) -> Result<Tree, Diagnostics> {
        if self.faults.is_empty() {
            return Ok(self.tree);
        }
        self.faults.sort_by_key(|fault| fault.span);
        // What was found first at a place is the cause of what was found there later.
        self.faults.dedup_by_key(|fault| fault.span);
        self.faults.truncate(FAULTS);
        let source = self.source;
        Err(self.faults.into_iter().map(|fault| fault.into_diagnostic(source)).collect::<Vec<_>>().into())
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, unused)]
mod grammar {
    lalrpop_util::lalrpop_mod!(
        #[allow(clippy::restriction)]
        inner,
        "/cel.rs"
    );
    pub use inner::RootParser;
}
