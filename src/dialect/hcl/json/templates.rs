//! The templates in the strings of a document.

use super::document::{Document, Json};
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::syntax::parser::parse_template_at;
use crate::dialect::hcl::syntax::tree::{ExprId, Str, Tree};
use crate::limits::Limits;
use crate::text::Span;

/// What is wrong with a template, or where it begins in the tree.
type Read = std::result::Result<ExprId, Vec<Box<Diagnostic>>>;

/// The strings of a document that are more than text, read as templates.
#[derive(Debug)]
pub(in crate::dialect::hcl) struct Templates {
    tree: Tree,
    /// Where each of the strings begins, and what became of it, in the order of the source.
    strings: Vec<(u32, Read)>,
}

impl Templates {
    /// Reads the strings of `document`. A template stands behind the opening quote of its string.
    pub fn new(document: &Document, limits: &Limits) -> Self {
        let strings = document.nodes().filter_map(|(_, node)| match node.json {
            Json::String(text) => is_template(document.str(text)).then_some((node.span, text)),
            _ => None,
        });
        let mut tree = Tree::new(document.source());
        let read = |(span, text): (Span, Str)| {
            let (id, wrong) = parse_template_at(&mut tree, document.str(text), span.start.saturating_add(1), limits);
            (span.start, if wrong.is_empty() { Ok(id) } else { Err(wrong) })
        };
        let strings = strings.map(read).collect();
        Self { tree, strings }
    }

    /// The tree that the templates are in.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The template in the string at `span`; none where the string is nothing but text.
    pub fn at(&self, span: Span) -> Option<&Read> {
        let at = self.strings.binary_search_by_key(&span.start, |(start, _)| *start).ok()?;
        self.strings.get(at).map(|(_, read)| read)
    }

    /// What is wrong with the template in the string at `span`.
    pub fn wrong_at(&self, span: Span) -> Option<&[Box<Diagnostic>]> {
        self.at(span)?.as_ref().err().map(Vec::as_slice)
    }

    /// The first thing that is wrong with a template within `span`.
    pub fn first_wrong(&self, span: Span) -> Option<&Diagnostic> {
        let first = self.strings.partition_point(|(start, _)| *start < span.start);
        let within = self.strings.iter().skip(first).take_while(|(start, _)| *start < span.end);
        let mut wrong = within.filter_map(|(_, read)| read.as_ref().err()?.first());
        wrong.next().map(|wrong| &**wrong)
    }
}

/// Whether a template of this text is more than the text.
fn is_template(text: &str) -> bool {
    memchr::memchr2_iter(b'$', b'%', text.as_bytes()).any(|at| text.as_bytes().get(at + 1) == Some(&b'{'))
}
