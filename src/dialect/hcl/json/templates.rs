//! The templates in the strings of a document, compiled together.

use super::document::{Document, Json};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::hcl::body::Compiled;
use crate::dialect::hcl::syntax::parser::parse_template_at;
use crate::dialect::hcl::syntax::tree::{ExprId, Str, Tree};
use crate::function::Registry;
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
        let mut strings = Vec::new();
        for node in document.nodes() {
            match node.json {
                Json::String(text) => strings.push((node.span, text)),
                Json::Object(run) => {
                    strings.extend(document.properties(run).iter().map(|property| (property.name_span, property.name)));
                }
                _ => {}
            }
        }
        strings.retain(|(_, text)| is_template(document.str(*text)));
        strings.sort_unstable_by_key(|(span, _)| span.start);
        strings.dedup_by_key(|(span, _)| span.start);
        let mut tree = Tree::new(document.source());
        let read = |(span, text): (Span, Str)| {
            let (id, wrong) = parse_template_at(&mut tree, document.str(text), span.start.saturating_add(1), limits);
            (span.start, if wrong.is_empty() { Ok(id) } else { Err(wrong) })
        };
        let strings = strings.into_iter().map(read).collect();
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

    /// A chunk for each of them.
    ///
    /// # Errors
    /// Limits of the code.
    pub fn compile(&self, registry: &Registry, limits: &Limits) -> Result<Compiled> {
        let roots = self.strings.iter().filter_map(|(_, read)| read.as_ref().ok().copied()).collect();
        Compiled::new(&self.tree, roots, registry, limits)
    }
}

/// Whether a template of this text is more than the text.
fn is_template(text: &str) -> bool {
    memchr::memchr2_iter(b'$', b'%', text.as_bytes()).any(|at| text.as_bytes().get(at + 1) == Some(&b'{'))
}
