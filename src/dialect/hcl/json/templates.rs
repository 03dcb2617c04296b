//! The templates in the strings of a document.

use super::document::{Document, Json};
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::syntax::parser::parse_template_at;
use crate::dialect::hcl::syntax::tree::{ExprId, Str, Tree};
use crate::limits::Limits;
use crate::text::Span;

/// The root of a template in the tree, or its syntax errors.
type Parsed = Result<ExprId, Vec<Box<Diagnostic>>>;

/// The parsed templates of a document: all strings with template sequences.
#[derive(Debug)]
pub(in crate::dialect::hcl) struct Templates {
    tree: Tree,
    /// The start of each string and its template, in source order.
    strings: Vec<(u32, Parsed)>,
}

impl Templates {
    /// Parses the templates of a document.
    pub fn new(document: &Document, limits: &Limits) -> Self {
        let strings = document.nodes().filter_map(|(_, node)| match node.json {
            Json::String(text) => is_template(document.str(text)).then_some((node.span, text)),
            _ => None,
        });
        let mut tree = Tree::new(document.source());
        let parse = |(span, text): (Span, Str)| {
            // The template starts behind the opening quote.
            let (id, errors) = parse_template_at(&mut tree, document.str(text), span.start.saturating_add(1), limits);
            (span.start, if errors.is_empty() { Ok(id) } else { Err(errors) })
        };
        let strings = strings.map(parse).collect();
        Self { tree, strings }
    }

    /// The tree of all templates.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The template in the string at `span`, if the string is one.
    pub fn at(&self, span: Span) -> Option<&Parsed> {
        let at = self.strings.binary_search_by_key(&span.start, |(start, _)| *start).ok()?;
        self.strings.get(at).map(|(_, parsed)| parsed)
    }

    /// The syntax errors of the template in the string at `span`.
    pub fn errors_at(&self, span: Span) -> Option<&[Box<Diagnostic>]> {
        self.at(span)?.as_ref().err().map(Vec::as_slice)
    }

    /// The first syntax error of the templates within `span`.
    pub fn first_error(&self, span: Span) -> Option<&Diagnostic> {
        let first = self.strings.partition_point(|(start, _)| *start < span.start);
        let within = self.strings.iter().skip(first).take_while(|(start, _)| *start < span.end);
        let mut errors = within.filter_map(|(_, parsed)| parsed.as_ref().err()?.first());
        errors.next().map(|error| &**error)
    }
}

/// Returns `true` if a text contains template sequences.
fn is_template(text: &str) -> bool {
    memchr::memchr2_iter(b'$', b'%', text.as_bytes()).any(|at| text.as_bytes().get(at + 1) == Some(&b'{'))
}
