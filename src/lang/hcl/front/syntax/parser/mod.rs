//! The parser: text to a [`Tree`](super::tree::Tree) and diagnostics.
//!
//! The grammar (`grammar/hcl.lalrpop`) reads the symbols that `symbols/` makes of tokens. Where it refuses one, the
//! item is read again, and the error at that symbol is reported and repaired. Sources with and without errors share this
//! one parser.

mod help;
pub(super) mod symbols;

use std::cell::RefCell;
use std::sync::Arc;

use super::build::{Build, Origin};
use super::{BodyId, ExprId, Token, TokenKind, Traversal, Tree, lexer};
use dropforge_base::diagnostics::{Code, Diagnostic, at_most};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use symbols::{Symbol, Symbols};

/// The result of a parse. With errors, it is what could be read.
#[derive(Debug, Clone)]
pub struct Parsed<T> {
    /// The nodes.
    pub tree: Tree,
    /// The root in the tree.
    pub root: T,
    /// The errors in the order of reading. Without any, the tree holds the whole text.
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
    parse(source, limits, Symbol::Config, |build, _| {
        build.close_file(build.file);
        BodyId(0)
    })
}

/// Reads an expression that is a text of its own. Line ends mean nothing in it.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{parser::parse_expression, tree::Expr};
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_expression(&Source::new("e", "a.b + 1"), &Limits::default());
/// assert!(matches!(parsed.tree.expr(parsed.root), Expr::Binary { .. }));
/// ```
pub fn parse_expression(source: &Arc<Source>, limits: &Limits) -> Parsed<ExprId> {
    parse(source, limits, Symbol::Expression, expression)
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
    parse(source, limits, Symbol::Template, expression)
}

/// Reads a traversal. The root is `None` if the text does not begin with a name.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_traversal;
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_traversal(&Source::new("t", "a.b[0]"), &Limits::default());
/// assert_eq!(parsed.root.unwrap().steps.len(), 2);
/// ```
pub fn parse_traversal(source: &Arc<Source>, limits: &Limits) -> Parsed<Option<Traversal>> {
    parse(source, limits, Symbol::Traversal { splats: false }, |build, _| build.pending.traversal.take())
}

/// Reads a traversal whose steps may also be `[*]`.
pub fn parse_partial_traversal(source: &Arc<Source>, limits: &Limits) -> Parsed<Option<Traversal>> {
    parse(source, limits, Symbol::Traversal { splats: true }, |build, _| build.pending.traversal.take())
}

/// Reads a template that stands at byte `start` of another source, that of `tree`, and adds it to the tree. `text` is
/// its decoded text; places after an escape are off by the length that decoding removed.
pub fn parse_template_at(tree: &mut Tree, text: &str, start: u32, limits: &Limits) -> (ExprId, Vec<Box<Diagnostic>>) {
    parse_at(tree, text, start, limits, Symbol::Template)
}

/// Reads an expression in another source like [`parse_template_at`].
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
    let as_written = source.text().get(start as usize..).is_some_and(|rest| rest.starts_with(text));
    let pool = if as_written { None } else { Some(tree.pooled(text).start) };
    Text { source: &source, text, origin: Origin { start, pool }, kind, limits }.parse(tree, expression)
}

fn parse<R>(source: &Arc<Source>, limits: &Limits, kind: Symbol, root: impl TakeRoot<R>) -> Parsed<R> {
    let mut tree = Tree::new(source);
    let text = Text { source, text: source.text(), origin: Origin::default(), kind, limits };
    let (root, diagnostics) = text.parse(&mut tree, root);
    Parsed { tree, root, diagnostics }
}

/// Takes the result out of what the actions built; the grammar itself returns the root of an expression.
trait TakeRoot<R>: FnOnce(&mut Build<'_>, Option<ExprId>) -> R {}

impl<R, F: FnOnce(&mut Build<'_>, Option<ExprId>) -> R> TakeRoot<R> for F {}

fn expression(build: &mut Build<'_>, root: Option<ExprId>) -> ExprId {
    root.unwrap_or_else(|| build.invalid(build.file))
}

/// A text to parse.
struct Text<'t> {
    source: &'t Arc<Source>,
    text: &'t str,
    origin: Origin,
    kind: Symbol,
    limits: &'t Limits,
}

impl Text<'_> {
    /// The tokens, and the diagnostics of tokens that no source may have.
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
        let placed = tokens.iter().map(|token| Token { span: self.place(token.span), ..*token });
        let diagnostics = lexer::check(self.source, placed, self.limits.diagnostics);
        (tokens, diagnostics)
    }

    fn place(&self, span: Span) -> Span {
        Span::new(span.start + self.origin.start, span.end + self.origin.start)
    }

    /// Runs the grammar, again after each error.
    fn parse<R>(&self, tree: &mut Tree, root: impl TakeRoot<R>) -> (R, Vec<Box<Diagnostic>>) {
        let (tokens, found) = self.tokens();
        let reports = Reports::new(self.source, self.origin.start, found, self.limits.diagnostics);
        let mut build = Build::new(tree, self.text, self.origin, &reports, &tokens);
        let mut symbols = Symbols::new(self.text, &tokens, &reports, self.kind, self.limits.nesting);
        let read = loop {
            match grammar::RootParser::new().parse(&mut build, &mut symbols) {
                Ok(read) => break read,
                Err(_) if symbols.too_deep.is_none() && symbols.refuse() => build.forget(),
                Err(error) => {
                    if reports.len() == 0 && symbols.too_deep.is_none() {
                        reports.report(Code::UnexpectedToken, place(&error, build.file), None, "Invalid syntax", "");
                    }
                    break None;
                }
            }
        };
        let root = root(&mut build, read.filter(|_| symbols.too_deep.is_none()));
        let mut diagnostics = at_most(reports.take(), self.limits.diagnostics, 0);
        if let Some((span, allowed)) = symbols.too_deep {
            diagnostics.push(Limit::Nesting.error(allowed).at(self.source, self.place(span), ""));
        }
        diagnostics.iter_mut().for_each(|error| help::add(self.source, error));
        (root, diagnostics)
    }
}

/// The place that the grammar refuses.
fn place(error: &lalrpop_util::ParseError<u32, Symbol, ()>, file: Span) -> Span {
    use lalrpop_util::ParseError::{ExtraToken, InvalidToken, UnrecognizedEof, UnrecognizedToken, User};
    match *error {
        InvalidToken { location } | UnrecognizedEof { location, .. } => Span::new(location, location),
        UnrecognizedToken { token, .. } | ExtraToken { token } => Span::new(token.0, token.2),
        User { .. } => file,
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("../parser.generated");
}

/// Diagnostics in the order of reading, up to a limit.
#[derive(Debug)]
pub(super) struct Reports<'t> {
    source: &'t Arc<Source>,
    /// The offset in the source of the text that is parsed.
    start: u32,
    most: usize,
    found: RefCell<Vec<Box<Diagnostic>>>,
}

impl<'t> Reports<'t> {
    /// Further diagnostics after those in `found`, `most` of them in all.
    pub fn new(source: &'t Arc<Source>, start: u32, found: Vec<Box<Diagnostic>>, most: usize) -> Self {
        Self { source, start, most, found: RefCell::new(found) }
    }

    /// The number of diagnostics.
    pub fn len(&self) -> usize {
        self.found.borrow().len()
    }

    /// Returns `true` if the limit is reached.
    pub fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    /// Removes all but the first `len` diagnostics.
    pub fn truncate(&self, len: usize) {
        self.found.borrow_mut().truncate(len);
    }

    /// Adds a diagnostic, unless the limit is reached.
    pub fn push(&self, diagnostic: Box<Diagnostic>) {
        if !self.is_full() {
            self.found.borrow_mut().push(diagnostic);
        }
    }

    /// Adds a diagnostic about a span of the text.
    pub fn report(&self, code: Code, span: Span, context: Option<Span>, summary: &str, detail: impl Into<String>) {
        let place = |span: Span| Span::new(span.start + self.start, span.end + self.start);
        let mut diagnostic = Diagnostic::new(code, summary).at(self.source, place(span), "").with_detail(detail);
        diagnostic.context = context.map(place);
        self.push(diagnostic);
    }

    /// Moves the diagnostics from `from` on in front of those from `to` on.
    pub(crate) fn bring_forward(&self, from: usize, to: usize) {
        let mut found = self.found.borrow_mut();
        let len = found.len();
        if let Some(moved) = found.get_mut(to..) {
            moved.rotate_right(len.saturating_sub(from));
        }
    }

    /// All diagnostics.
    pub fn take(&self) -> Vec<Box<Diagnostic>> {
        self.found.take()
    }
}

#[cfg(test)]
mod tests;
