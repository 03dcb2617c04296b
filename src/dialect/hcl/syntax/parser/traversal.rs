//! Traversals that are texts of their own: a name and constant steps, which name something without evaluating it.

use std::sync::Arc;

use super::faults::Faults;
use super::reader::Reader;
use super::symbol::Symbol;
use super::{Parsed, Text};
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::syntax::token::TokenKind;
use crate::dialect::hcl::syntax::tree::{StepKind, Str, Tree};
use crate::limits::Limits;
use crate::text::{Source, Span};

/// A name with steps behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traversal {
    /// The name.
    pub root: Str,
    /// Where it stands.
    pub root_span: Span,
    /// The steps.
    pub steps: Vec<TraversalStep>,
}

/// A step and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraversalStep {
    /// What it does; nothing for `[*]`, which stands for any number of elements.
    pub kind: Option<StepKind>,
    /// `.name` with its dot, `[key]` with its brackets.
    pub span: Span,
}

/// Reads a traversal; there is none where it does not begin with a name.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_traversal;
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_traversal(&Source::new("t", "a.b[0]"), &Limits::default());
/// assert_eq!(parsed.root.unwrap().steps.len(), 2);
/// ```
pub fn parse_traversal(source: &Arc<Source>, limits: &Limits) -> Parsed<Option<Traversal>> {
    parse(source, limits, false)
}

/// As [`parse_traversal`]; steps may be `[*]`, too.
pub fn parse_partial_traversal(source: &Arc<Source>, limits: &Limits) -> Parsed<Option<Traversal>> {
    parse(source, limits, true)
}

fn parse(source: &Arc<Source>, limits: &Limits, splats: bool) -> Parsed<Option<Traversal>> {
    let mut tree = Tree::new(source);
    let (root, diagnostics) = Text::new(source, limits, Symbol::Expression).traversal(&mut tree, splats);
    Parsed { tree, root, diagnostics }
}

impl Text<'_> {
    fn traversal(&self, tree: &mut Tree, splats: bool) -> (Option<Traversal>, Vec<Box<Diagnostic>>) {
        let (tokens, mut diagnostics) = self.tokens();
        let mut build = self.build(tree, &tokens);
        let mut reader = Reader::new(self.text, &tokens);
        reader.push_lines(false);
        let mut faults = Faults::new(&mut reader, &mut build);
        let root = faults.traversal(splats);
        diagnostics.append(&mut faults.found);
        (root, diagnostics)
    }
}

impl Faults<'_, '_> {
    fn traversal(&mut self, splats: bool) -> Option<Traversal> {
        let name = self.reader.read();
        if name.kind != TokenKind::Identifier {
            self.unexpected(name.span, None, "Variable name required", "It begins with the name of a variable.");
            return None;
        }
        let mut traversal =
            Traversal { root: self.build.str(name.span), root_span: self.build.place(name.span), steps: Vec::new() };
        while self.reader.peek().kind != TokenKind::End {
            let next = self.reader.read();
            let (step, sound) = match next.kind {
                TokenKind::Dot => self.named(name.span, next.span),
                TokenKind::OpenBracket => self.indexed(name.span, next.span, splats),
                _ => {
                    let detail = "A dot or an opening bracket has to follow.";
                    self.unexpected(next.span, Some(name.span.to(next.span)), "Invalid character", detail);
                    (None, false)
                }
            };
            traversal.steps.extend(step);
            if !sound {
                break;
            }
        }
        Some(traversal)
    }

    fn named(&mut self, root: Span, dot: Span) -> (Option<TraversalStep>, bool) {
        let name = self.reader.read();
        if name.kind == TokenKind::Identifier {
            let kind = Some(StepKind::Attr(self.build.str(name.span)));
            return (Some(TraversalStep { kind, span: self.build.place(dot.to(name.span)) }), true);
        }
        let detail = match name.kind {
            TokenKind::Star => "No splat may stand here.",
            _ => "Behind a dot stands the name of an attribute.",
        };
        self.unexpected(name.span, Some(root.to(name.span)), "Attribute name required", detail);
        (None, false)
    }

    fn indexed(&mut self, root: Span, open: Span, splats: bool) -> (Option<TraversalStep>, bool) {
        let before = self.found.len();
        let key = self.reader.peek();
        let kind = match key.kind {
            TokenKind::Number => {
                self.reader.read();
                self.number(key.span);
                Some(StepKind::Number(self.build.str(key.span)))
            }
            TokenKind::OpenQuote => Some(StepKind::Key(self.key())),
            TokenKind::Star if splats => {
                self.reader.read();
                None
            }
            _ => {
                let (summary, detail) = match key.kind {
                    TokenKind::Star => ("Attribute name required", "No splat may stand here."),
                    _ => ("Index value required", "Between brackets stands a number or a string without sequences."),
                };
                self.unexpected(key.span, Some(root.to(key.span)), summary, detail);
                return (None, false);
            }
        };
        let close = self.reader.read();
        if close.kind != TokenKind::CloseBracket {
            let context = Some(open.to(close.span));
            let detail = "An index ends with a closing bracket.";
            self.unexpected(close.span, context, "Unclosed index brackets", detail);
        }
        (Some(TraversalStep { kind, span: self.build.place(open.to(close.span)) }), self.found.len() == before)
    }

    fn key(&mut self) -> Str {
        self.label();
        let text = self.build.labels.pop().map_or(self.build.str(Span::default()), |label| label.text);
        self.build.normal(text)
    }
}
