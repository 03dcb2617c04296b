//! JSON documents with the span of every value, and the templates in their strings.

use std::sync::Arc;

use crate::syntax::parser::parse_template_at;
use crate::syntax::{ExprId, Run, Str, Tree};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};

/// The id of a `JsonNode` in its [`JsonDocument`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsonId(pub u32);

/// A value. Text and parts are ranges of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonContent {
    /// A syntax error, which was reported.
    Invalid,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its digits.
    Number(Str),
    /// A string with decoded escapes, not normalised.
    String(Str),
    /// An array: a run of [`JsonDocument::items`].
    Array(Run),
    /// An object: a run of [`JsonDocument::properties`].
    Object(Run),
}

/// A value and its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonNode {
    /// The value.
    pub json: JsonContent,
    /// The span including quotes or brackets. For a syntax error, its first token.
    pub span: Span,
}

impl JsonNode {
    /// The opening bracket of an array or object, or the whole of any other value.
    pub fn start(self) -> Span {
        match self.json {
            JsonContent::Array(_) | JsonContent::Object(_) => self.open(),
            _ => self.span,
        }
    }

    /// The opening bracket.
    pub fn open(self) -> Span {
        Span::new(self.span.start, self.span.end.min(self.span.start.saturating_add(1)))
    }

    /// The closing bracket.
    pub fn close(self) -> Span {
        Span::new(self.span.start.max(self.span.end.saturating_sub(1)), self.span.end)
    }
}

/// A property of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property {
    /// The name with decoded escapes, not normalised.
    pub name: Str,
    /// The span of the name including its quotes.
    pub name_span: Span,
    /// The name as a value. In an object constructor, it can be a template.
    pub key: JsonId,
    /// The value.
    pub value: JsonId,
}

/// A parsed document. Its nodes are in flat tables, so dropping it does not recurse.
#[derive(Debug, Clone)]
pub struct JsonDocument {
    source: Arc<Source>,
    pub(super) root: JsonId,
    nodes: Vec<JsonNode>,
    pub(super) items: Vec<JsonId>,
    pub(super) properties: Vec<Property>,
    /// Decoded strings.
    pool: String,
}

impl JsonDocument {
    pub(super) fn new(source: &Arc<Source>) -> Self {
        let (nodes, items, properties) = (Vec::new(), Vec::new(), Vec::new());
        Self { source: source.clone(), root: JsonId(0), nodes, items, properties, pool: String::new() }
    }

    pub(super) fn add(&mut self, json: JsonContent, span: Span) -> JsonId {
        let id = JsonId(Span::of(0..self.nodes.len()).end);
        self.nodes.push(JsonNode { json, span });
        id
    }

    pub(super) fn pooled(&mut self, text: &str) -> Str {
        let start = self.pool.len();
        self.pool.push_str(text);
        let Span { start, end } = Span::of(start..self.pool.len());
        Str { start, end, pooled: true }
    }

    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The root value.
    pub fn root(&self) -> JsonId {
        self.root
    }

    /// Returns a text of the document.
    pub fn str(&self, text: Str) -> &str {
        let within = if text.pooled { self.pool.as_str() } else { self.source.text() };
        within.get(text.start as usize..text.end as usize).unwrap_or("")
    }

    /// Returns a value.
    pub fn node(&self, id: JsonId) -> JsonNode {
        let invalid = JsonNode { json: JsonContent::Invalid, span: Span::default() };
        self.nodes.get(id.0 as usize).copied().unwrap_or(invalid)
    }

    /// All values and names. Parts precede the value that contains them.
    pub fn nodes(&self) -> impl Iterator<Item = (JsonId, JsonNode)> + '_ {
        (0..).map(JsonId).zip(self.nodes.iter().copied())
    }

    /// The properties of all objects.
    pub(crate) fn all_properties(&self) -> &[Property] {
        &self.properties
    }

    /// Returns the text and the span of a string value.
    pub fn string(&self, id: JsonId) -> Option<(&str, Span)> {
        match self.node(id) {
            JsonNode { json: JsonContent::String(text), span } => Some((self.str(text), span)),
            _ => None,
        }
    }

    /// Returns the items of an array.
    pub fn items(&self, run: Run) -> &[JsonId] {
        self.items.get(run.range()).unwrap_or(&[])
    }

    /// Returns the properties of an object.
    pub fn properties(&self, run: Run) -> &[Property] {
        self.properties.get(run.range()).unwrap_or(&[])
    }
}

/// The root of a template in the tree, or its syntax errors.
type ParsedJson = Result<ExprId, Vec<Box<Diagnostic>>>;

/// The parsed templates of a document: all strings with template sequences.
#[derive(Debug)]
pub struct Templates {
    tree: Tree,
    /// The start of each string and its template, in source order.
    strings: Vec<(u32, ParsedJson)>,
}

impl Templates {
    /// Parses the templates of a document.
    pub fn new(document: &JsonDocument, limits: &Limits) -> Self {
        let strings = document.nodes().filter_map(|(_, node)| match node.json {
            JsonContent::String(text) => is_template(document.str(text)).then_some((node.span, text)),
            _ => None,
        });
        let mut tree = Tree::new(document.source());
        let parse = |(span, text): (Span, Str)| {
            // The template starts after the opening quote.
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
    pub fn at(&self, span: Span) -> Option<&ParsedJson> {
        let at = self.strings.binary_search_by_key(&span.start, |(start, _)| *start).ok()?;
        self.strings.get(at).map(|(_, parsed)| parsed)
    }

    /// The syntax errors of the template in the string at `span`.
    pub(crate) fn errors_at(&self, span: Span) -> Option<&[Box<Diagnostic>]> {
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
