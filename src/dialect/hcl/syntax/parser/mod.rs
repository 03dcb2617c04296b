//! From text to a [`Tree`], with everything that is wrong on the way.
//!
//! The grammar (`grammar/hcl.lalrpop`) reads symbols that [`feed`](self) makes of tokens. One run reads all items of a
//! configuration; where it refuses one, that item is read again by a machine that knows what to say about it and where
//! to go on (`faults/`), and the grammar begins anew behind it.

mod faults;
mod feed;
mod reader;
pub(super) mod symbol;
#[cfg(test)]
mod tests;
mod traversal;

use std::sync::Arc;

use self::faults::Faults;
use self::feed::Feed;
use self::reader::Reader;
use self::symbol::Symbol;
use super::build::{Build, Origin};
use super::lexer;
use super::token::{Token, TokenKind};
use super::tree::{BodyId, ExprId, Tree};
use crate::diagnostics::{Code, Diagnostic};
use crate::limits::{Limit, Limits};
use crate::text::{Source, Span};

pub use traversal::{Traversal, TraversalStep, parse_partial_traversal, parse_traversal};

/// What was read, as far as it could be.
#[derive(Debug, Clone)]
pub struct Parsed<T> {
    /// The nodes.
    pub tree: Tree,
    /// Where to begin in the tree.
    pub root: T,
    /// What is wrong, in the order of reading. Where nothing is, the tree holds all of the text.
    pub diagnostics: Vec<Box<Diagnostic>>,
}

/// Reads a configuration.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_config;
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("main.hcl", "a = 1\nb \"c\" {\n  d = [2, 3]\n}\n");
/// let parsed = parse_config(&source, &Limits::default());
/// assert!(parsed.diagnostics.is_empty());
/// let body = parsed.tree.body(parsed.root).unwrap();
/// assert_eq!((body.attributes.len(), body.blocks.len()), (1, 1));
/// assert_eq!(parsed.tree.str(body.blocks[0].labels[0].text), "c");
/// ```
pub fn parse_config(source: &Arc<Source>, limits: &Limits) -> Parsed<BodyId> {
    let mut tree = Tree::new(source);
    let (root, diagnostics) = Text::new(source, limits, Symbol::Config).config(&mut tree);
    Parsed { tree, root, diagnostics }
}

/// Reads an expression that is a text of its own; line ends mean nothing in it.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{parser::parse_expression, tree::Expr};
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_expression(&Source::new("e", "a.b + 1"), &Limits::default());
/// assert!(matches!(parsed.tree.expr(parsed.root), Expr::Binary { .. }));
/// ```
pub fn parse_expression(source: &Arc<Source>, limits: &Limits) -> Parsed<ExprId> {
    let mut tree = Tree::new(source);
    let (root, diagnostics) = Text::new(source, limits, Symbol::Expression).whole(&mut tree);
    Parsed { tree, root, diagnostics }
}

/// Reads a template that is a text of its own.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{parser::parse_template, tree::Expr};
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_template(&Source::new("t", "Hello ${name}!"), &Limits::default());
/// let Expr::Template(parts) = parsed.tree.expr(parsed.root) else { panic!() };
/// assert_eq!(parts.len(), 3);
/// ```
pub fn parse_template(source: &Arc<Source>, limits: &Limits) -> Parsed<ExprId> {
    let mut tree = Tree::new(source);
    let (root, diagnostics) = Text::new(source, limits, Symbol::Template).whole(&mut tree);
    Parsed { tree, root, diagnostics }
}

/// Reads a template that stands in another source, that of `tree`, from byte `start` on, and adds it to the tree.
/// `text` is what it says once it is decoded; places behind an escape are off by what that is longer than its meaning.
pub(crate) fn parse_template_at(
    tree: &mut Tree,
    text: &str,
    start: u32,
    limits: &Limits,
) -> (ExprId, Vec<Box<Diagnostic>>) {
    parse_at(tree, text, start, limits, Symbol::Template)
}

/// As [`parse_template_at`], for an expression.
pub(crate) fn parse_expression_at(
    tree: &mut Tree,
    text: &str,
    start: u32,
    limits: &Limits,
) -> (ExprId, Vec<Box<Diagnostic>>) {
    parse_at(tree, text, start, limits, Symbol::Expression)
}

fn parse_at(tree: &mut Tree, text: &str, start: u32, limits: &Limits, kind: Symbol) -> (ExprId, Vec<Box<Diagnostic>>) {
    let source = tree.source().clone();
    Text::at(&source, tree, text, start, limits, kind).whole(tree)
}

/// A text that is to be read.
struct Text<'t> {
    source: &'t Arc<Source>,
    text: &'t str,
    origin: Origin,
    kind: Symbol,
    limits: &'t Limits,
}

impl<'t> Text<'t> {
    fn new(source: &'t Arc<Source>, limits: &'t Limits, kind: Symbol) -> Self {
        Self { source, text: source.text(), origin: Origin::default(), kind, limits }
    }

    /// A text that stands at byte `start` of the source of `tree`, decoded.
    fn at(
        source: &'t Arc<Source>,
        tree: &mut Tree,
        text: &'t str,
        start: u32,
        limits: &'t Limits,
        kind: Symbol,
    ) -> Self {
        let as_written = source.text().get(start as usize..).is_some_and(|rest| rest.starts_with(text));
        let pool = if as_written { None } else { Some(tree.pooled(text).start) };
        Self { text, origin: Origin { start, pool }, ..Self::new(source, limits, kind) }
    }

    /// The tokens, and which of them cannot be.
    fn tokens(&self) -> (Vec<Token>, Vec<Box<Diagnostic>>) {
        if self.text.len() > self.limits.source_bytes {
            let end = Token { kind: TokenKind::End, span: Span::default() };
            let error = Limit::SourceBytes.error(self.limits.source_bytes as u64);
            return (vec![end], vec![error.at(self.source, self.place(Span::default()), "")]);
        }
        let bytes = self.text.as_bytes();
        let tokens = match self.kind {
            Symbol::Template => lexer::lex_template(bytes),
            _ => lexer::lex_config(bytes),
        };
        let diagnostics = if self.origin.start == 0 {
            lexer::check(self.source, &tokens, self.limits.diagnostics)
        } else {
            let placed = tokens.iter().map(|token| Token { span: self.place(token.span), ..*token });
            lexer::check(self.source, &placed.collect::<Vec<_>>(), self.limits.diagnostics)
        };
        (tokens, diagnostics)
    }

    fn place(&self, span: Span) -> Span {
        Span::new(span.start + self.origin.start, span.end + self.origin.start)
    }

    fn build<'b>(&self, tree: &'b mut Tree, tokens: &[Token]) -> Build<'b>
    where
        't: 'b,
    {
        let mut build = Build::new(tree, self.text, self.origin, self.limits);
        build.reserve(tokens);
        if let [first, .., last] | [first @ last] = tokens {
            build.file = first.span.to(last.span);
        }
        build
    }

    fn too_deep(&self, (span, allowed): (Span, u64)) -> Box<Diagnostic> {
        Limit::Nesting.error(allowed).at(self.source, self.place(span), "")
    }

    /// An expression or a template.
    fn whole(&self, tree: &mut Tree) -> (ExprId, Vec<Box<Diagnostic>>) {
        let (tokens, mut diagnostics) = self.tokens();
        let mut build = self.build(tree, &tokens);
        let mut feed = Feed::new(self.text, &tokens, self.kind, self.limits.nesting);
        let result = grammar::RootParser::new().parse(&mut build, &mut feed);
        build.too_deep = feed.too_deep;
        let refused = match (result, build.too_deep) {
            (Ok(Some(root)), None) => return (root, diagnostics),
            (Ok(_), _) => build.file,
            (Err(error), _) => refused_at(&error, build.file),
        };
        if let Some(deep) = build.too_deep {
            diagnostics.push(self.too_deep(deep));
            return (build.invalid(build.file), diagnostics);
        }
        build.give_up();
        let mut reader = Reader::new(self.text, &tokens);
        let mut faults = Faults::new(&mut reader, &mut build);
        let root = match self.kind {
            Symbol::Template => faults.whole_template(),
            _ => faults.whole_expression(),
        };
        diagnostics.append(&mut faults.found);
        diagnostics.truncate(self.limits.diagnostics);
        if let Some(deep) = build.too_deep {
            diagnostics.push(self.too_deep(deep));
        }
        if diagnostics.is_empty() {
            diagnostics.push(self.unexplained(refused));
        }
        (root, diagnostics)
    }

    /// The grammar refuses what nothing is known to be wrong with.
    fn unexplained(&self, span: Span) -> Box<Diagnostic> {
        Diagnostic::new(Code::UnexpectedToken, "Invalid syntax")
            .at(self.source, self.place(span), "")
            .with_detail("Something else has to stand here.")
    }

    fn config(&self, tree: &mut Tree) -> (BodyId, Vec<Box<Diagnostic>>) {
        let (tokens, mut diagnostics) = self.tokens();
        let mut build = self.build(tree, &tokens);
        std::mem::swap(&mut build.diagnostics, &mut diagnostics);
        let root = build.open_body(None);
        let mut reader = Reader::new(self.text, &tokens);
        while !build.bodies.is_empty() && build.diagnostics.len() < self.limits.diagnostics {
            let refused = self.items(&mut build, &mut reader, &tokens);
            if let (Some(refused), None) = (refused, build.too_deep) {
                self.broken_item(&mut build, &mut reader, refused);
            }
            if let Some(deep) = build.too_deep {
                build.diagnostics.push(self.too_deep(deep));
            }
            if refused.is_none() || build.too_deep.is_some() {
                break;
            }
        }
        if !build.bodies.is_empty() {
            build.end_file(build.file);
        }
        (root, build.diagnostics)
    }

    /// Reads items up to one that is refused: where.
    fn items<'b>(&self, build: &mut Build<'b>, reader: &mut Reader<'b>, tokens: &'b [Token]) -> Option<Span> {
        build.done = None;
        let left = tokens.get(reader.next..).unwrap_or(&[]);
        let mut feed = Feed::new(self.text, left, Symbol::Config, self.limits.nesting);
        let result = grammar::RootParser::new().parse(build, &mut feed);
        if let Some(done) = build.done {
            reader.next = tokens.partition_point(|token| token.span.start < done);
            reader.read();
        }
        build.too_deep = build.too_deep.or(feed.too_deep);
        match result {
            Ok(_) if build.bodies.len() < 2 => None,
            Ok(_) => Some(build.file),
            Err(error) => Some(refused_at(&error, build.file)),
        }
    }

    /// Reads an item that was refused at `refused`.
    fn broken_item<'b>(&self, build: &mut Build<'b>, reader: &mut Reader<'b>, refused: Span) {
        build.give_up();
        let (known, before) = (reader.recovery, build.diagnostics.len());
        let mut faults = Faults::new(reader, build);
        let complete = faults.item();
        let mut found = faults.found;
        build.give_up();
        // What an action reported comes behind what is wrong with the item that it is about.
        found.extend(build.diagnostics.split_off(before));
        if found.is_empty() && complete && !known && build.too_deep.is_none() {
            found.push(self.unexplained(refused));
        }
        build.diagnostics.append(&mut found);
        build.diagnostics.truncate(build.most);
    }
}

type Refused = lalrpop_util::ParseError<u32, Symbol, super::build::Faulty>;

fn refused_at(error: &Refused, file: Span) -> Span {
    match error {
        Refused::InvalidToken { location } | Refused::UnrecognizedEof { location, .. } => {
            Span::new(*location, *location)
        }
        Refused::UnrecognizedToken { token, .. } | Refused::ExtraToken { token } => Span::new(token.0, token.2),
        Refused::User { .. } => file,
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, unused)]
mod grammar {
    lalrpop_util::lalrpop_mod!(
        #[allow(clippy::restriction)]
        inner,
        "/hcl.rs"
    );
    pub use inner::RootParser;
}
