//! Builds nodes from the parts of documents.
//!
//! Open collections are on an explicit stack, so nesting uses no host stack and is bounded by [`Limits::value_depth`].
//! Copies by aliases and merge keys are counted before they are expanded: at most ten times the nodes of the file plus
//! ten thousand, where every 64 bytes of text count as a node. Nodes and their texts count towards [`Limits::memory`], and
//! the clock is checked once per batch of parts.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use granit_parser::{Event, ScalarStyle, Tag};
use hashbrown::{HashMap, HashSet};

use super::close_map;
use super::{Errors, Tags};
use crate::scan::PartSink;
use crate::yaml::scalar;
use crate::yaml::{Entry, Kind, Node, Style, TEXT};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, at_most, thousands};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};

/// Allowance for copies by aliases: nodes per node of the file, and additional nodes.
const COPIES_PER_NODE: u64 = 10;
const FREE_COPIES: u64 = 10_000;
/// Parts between two clock checks.
const BATCH: u32 = 1 << 10;
/// Maximum nesting, whatever the limits are.
pub(super) const MAX_HEIGHT: u16 = u16::MAX - 1;

/// A collection under construction.
struct PartialCollection {
    start: Span,
    anchor: usize,
    weight: u32,
    height: u16,
    kind: OpenKind,
    tag: Option<Arc<String>>,
}

enum OpenKind {
    /// Its items are those in [`Builder::items`] from this one on.
    List(usize),
    /// Its entries are those in [`Builder::entries`] from this one on. The key without a value.
    Map(usize, Option<Node>),
}

/// Documents under construction.
pub(super) struct Builder<'s> {
    source: &'s Arc<Source>,
    limits: &'s Limits,
    tags: Tags,
    stack: Vec<PartialCollection>,
    /// The items of all open lists, the innermost last.
    items: Vec<Node>,
    /// The entries of all open maps, the innermost last.
    entries: Vec<Entry>,
    /// Completed nodes with an anchor, by the parser's id.
    anchors: HashMap<usize, Node>,
    /// The anchor of the part that follows, of a text that is read line by line; 0 for none.
    anchor: usize,
    /// The names of the anchors of the document, and the number of those before it.
    names: Vec<String>,
    named: usize,
    documents: Vec<Node>,
    /// The texts of keys, which often repeat.
    keys: HashSet<Arc<str>>,
    pub errors: Errors,
    /// The number of errors beyond the limit.
    more: usize,
    /// Weight of the nodes read so far, without copies.
    source_weight: u64,
    /// Weight of the copies by aliases and merges.
    copied: u64,
    /// Bytes of the nodes read so far.
    memory: u64,
    events: u32,
    until: Option<Instant>,
}

impl<'s> Builder<'s> {
    pub fn new(source: &'s Arc<Source>, limits: &'s Limits, tags: Tags) -> Self {
        Self {
            source,
            limits,
            tags,
            stack: Vec::new(),
            items: Vec::new(),
            entries: Vec::new(),
            anchors: HashMap::new(),
            anchor: 0,
            names: Vec::new(),
            named: 0,
            documents: Vec::new(),
            keys: HashSet::new(),
            errors: Vec::new(),
            more: 0,
            source_weight: 0,
            copied: 0,
            memory: 0,
            events: 0,
            until: limits.time.and_then(|time| Instant::now().checked_add(time)),
        }
    }

    /// Returns the documents, or all errors.
    pub fn finished(self) -> std::result::Result<Vec<Node>, Errors> {
        if self.errors.is_empty() {
            return Ok(self.documents);
        }
        Err(at_most(self.errors, self.limits.diagnostics, self.more))
    }

    pub fn event(&mut self, event: Event<'_>, span: granit_parser::Span) -> Result<()> {
        let Span { start, end } = place(span);
        // The span of a block scalar at the end of the file may include a newline that the file lacks.
        let len = Span::of(0..self.source.text().len()).end;
        let place = Span { start: start.min(len), end: end.min(len) };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                };
                let node = self.scalar(&text, style, tag.as_deref(), place);
                self.source_weight += u64::from(node.weight);
                self.finish(node, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => self.open(place, anchor, tag.as_deref(), self.list()),
            Event::MappingStart(_, anchor, tag) => self.open(place, anchor, tag.as_deref(), self.map()),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(id) => self.alias(id, place),
            Event::DocumentStart(..) => {
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks the clock once per batch of events.
    pub fn in_time(&mut self) -> Result<()> {
        self.events = self.events.wrapping_add(1);
        if !self.events.is_multiple_of(BATCH) || self.until.is_none_or(|until| Instant::now() < until) {
            return Ok(());
        }
        let allowed = self.limits.time.unwrap_or_default();
        Err(Limit::Time.error(u64::try_from(allowed.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Returns the maximum nesting.
    fn depth(&self) -> usize {
        self.limits.value_depth.min(usize::from(MAX_HEIGHT))
    }

    /// Charges for the memory of a node.
    fn hold(&mut self, node: &Node) -> Result<()> {
        self.memory += (size_of::<Node>() + node.text.len()) as u64;
        if self.memory <= self.limits.memory {
            return Ok(());
        }
        let limit = thousands(usize::try_from(self.limits.memory).unwrap_or(usize::MAX));
        let message = format!("this YAML needs too much memory: the limit is {limit} bytes");
        let error = Diagnostic::new(Code::LimitMemory, message).at(self.source, node.span, "");
        Err(error.with_help("divide it, or write it as JSON, which needs less memory"))
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::new(Code::InputSyntax, message).at(self.source, span, ""));
    }

    fn scalar(&mut self, text: &str, style: Style, tag: Option<&Tag>, span: Span) -> Node {
        if self.tags == Tags::Raw {
            return Node {
                tag: tag.map(|tag| Arc::new(tag.to_string())),
                ..scalar_node(span, Kind::Str, style, self.text(text))
            };
        }
        let kind = match tag.map(core_suffix) {
            None if style == Style::Plain => scalar::plain(text),
            None | Some(Some("!")) => Kind::Str,
            Some(Some(suffix)) => scalar::tagged(suffix, text).unwrap_or_else(|why| {
                self.error(span, why);
                Kind::Null
            }),
            Some(None) if self.tags == Tags::Kept && style == Style::Plain => scalar::plain(text),
            Some(None) => Kind::Str,
        };
        let tag = match (tag, tag.and_then(core_suffix)) {
            (Some(_), Some("str" | "!")) if self.tags == Tags::Kept => Some(Arc::new(TEXT.to_owned())),
            (Some(tag), None) => self.unknown_tag(tag, span),
            _ => None,
        };
        Node { tag, ..scalar_node(span, kind, style, self.text(text)) }
    }

    /// Returns the text of the next node. That of a key is shared with equal ones.
    fn text(&mut self, text: &str) -> Arc<str> {
        let is_key = matches!(self.stack.last(), Some(PartialCollection { kind: OpenKind::Map(_, None), .. }));
        if is_key { self.keys.get_or_insert_with(text, |text| text.into()).clone() } else { text.into() }
    }

    /// Keeps or reports an unknown tag.
    fn unknown_tag(&mut self, tag: &Tag, span: Span) -> Option<Arc<String>> {
        let name = tag_name(tag);
        if self.tags == Tags::Kept {
            return Some(Arc::new(name));
        }
        let error = Diagnostic::new(Code::InputSyntax, format!("the tag `{name}` is not known"))
            .at(self.source, span, "the tagged value")
            .with_help("only the tags of the YAML core schema (`!!str`, `!!int`, …) are read");
        self.errors.push(error);
        None
    }

    /// Returns a list without items.
    fn list(&self) -> OpenKind {
        OpenKind::List(self.items.len())
    }

    /// Returns a map without entries.
    fn map(&self) -> OpenKind {
        OpenKind::Map(self.entries.len(), None)
    }

    fn open(&mut self, start: Span, anchor: usize, tag: Option<&Tag>, kind: OpenKind) -> Result<()> {
        if self.stack.len() >= self.depth() {
            return Err(Limit::ValueDepth.error(self.limits.value_depth as u64).at(self.source, start, ""));
        }
        let fits = |suffix: &str| match kind {
            OpenKind::List(_) => matches!(suffix, "seq" | "!"),
            OpenKind::Map(..) => matches!(suffix, "map" | "!"),
        };
        let tag = match tag {
            Some(tag) if self.tags == Tags::Raw => Some(Arc::new(tag.to_string())),
            Some(tag) if !core_suffix(tag).is_some_and(fits) => self.unknown_tag(tag, start),
            _ => None,
        };
        self.source_weight += 1;
        self.stack.push(PartialCollection { start, anchor, weight: 1, height: 1, kind, tag });
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        let mut weight = open.weight;
        let kind = match open.kind {
            OpenKind::List(first) => Kind::List(Arc::new(self.items.drain(first..).collect())),
            OpenKind::Map(first, _) if self.tags == Tags::Raw => {
                Kind::Map(Arc::new(self.entries.drain(first..).collect()))
            }
            OpenKind::Map(first, _) => {
                let entries = self.entries.drain(first..).collect();
                let (entries, copied) =
                    close_map(entries, &mut |error| match self.errors.len() < self.limits.diagnostics.max(1) {
                        true => self.errors.push(error(self.source)),
                        false => self.more += 1,
                    });
                weight = weight.saturating_add(copied);
                self.charge(copied, open.start)?;
                Kind::Map(Arc::new(entries))
            }
        };
        let (text, style) = (Arc::default(), Style::Plain);
        let node = Node { span: open.start, kind, style, text, tag: open.tag, weight, height: open.height };
        self.finish(node, open.anchor)
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<()> {
        let Some(target) = self.anchors.get(&id) else {
            return Err(Diagnostic::new(Code::InputSyntax, "an alias cannot stand inside what it refers to").at(
                self.source,
                span,
                "this alias",
            ));
        };
        let mut node = target.clone();
        node.span = span;
        if self.stack.len() + usize::from(node.height) > self.depth() {
            return Err(Limit::ValueDepth.error(self.limits.value_depth as u64).at(self.source, span, ""));
        }
        self.charge(node.weight, span)?;
        // The text is elsewhere, so offsets into it cannot be mapped to the alias.
        if self.tags != Tags::Raw && (node.style != Style::Plain || !node.text.is_empty()) {
            node.style = Style::Folded;
        }
        self.finish(node, 0)
    }

    /// Charges for copied nodes.
    fn charge(&mut self, weight: u32, span: Span) -> Result<()> {
        self.copied = self.copied.saturating_add(u64::from(weight));
        if self.copied <= self.source_weight.saturating_mul(COPIES_PER_NODE).saturating_add(FREE_COPIES) {
            return Ok(());
        }
        Err(Diagnostic::new(Code::LimitMemory, "the aliases of this file expand to too many values")
            .at(self.source, span, "one alias too many")
            .with_note(format!(
                "aliases may copy {COPIES_PER_NODE} times what the file holds, and {FREE_COPIES} nodes"
            )))
    }

    /// Adds a completed node to the innermost open collection.
    fn finish(&mut self, node: Node, anchor: usize) -> Result<()> {
        self.hold(&node)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.stack.last_mut() else {
            self.documents.push(node);
            return Ok(());
        };
        open.weight = open.weight.saturating_add(node.weight);
        open.height = open.height.max(node.height.saturating_add(1));
        let key = match &mut open.kind {
            OpenKind::List(_) => {
                self.items.push(node);
                return Ok(());
            }
            OpenKind::Map(_, key) => match key.take() {
                Some(key) => {
                    let name = key_name(&key);
                    self.entries.push(Entry { name, key, value: node });
                    return Ok(());
                }
                None => key.insert(node),
            },
        };
        if key.height > 0 {
            let (span, kind) = (key.span, key.kind_name());
            self.error(span, format!("a {kind} cannot be a key; only text, numbers, booleans and null can"));
        }
        Ok(())
    }
}

/// Maximum nesting of a text that is read line by line, far below the limit of the parser.
const DEPTH: usize = 64;
/// Maximum number of anchors of such a document.
const ANCHORS: usize = 100;

impl PartSink for Builder<'_> {
    const READS: bool = true;

    fn scalar(&mut self, text: &str, style: Style, span: Range<usize>) -> Option<()> {
        self.in_time().ok()?;
        let node = Builder::scalar(self, text, style, None, Span::of(span));
        self.source_weight += u64::from(node.weight);
        let anchor = std::mem::take(&mut self.anchor);
        self.finish(node, anchor).ok()
    }

    fn null(&mut self, at: usize) -> Option<()> {
        // The parser has another place for a null with an anchor.
        if self.anchor == 0 { PartSink::scalar(self, "~", Style::Plain, at..at) } else { None }
    }

    fn begin(&mut self, is_list: bool, span: Range<usize>) -> Option<()> {
        self.in_time().ok().filter(|()| self.stack.len() < DEPTH)?;
        let anchor = std::mem::take(&mut self.anchor);
        self.open(Span::of(span), anchor, None, if is_list { self.list() } else { self.map() }).ok()
    }

    fn end(&mut self) -> Option<()> {
        self.in_time().and_then(|()| self.close()).ok()
    }

    fn anchor(&mut self, name: &str) -> Option<()> {
        let is_second = self.anchor != 0;
        self.names.push(name.to_owned());
        self.anchor = self.named + self.names.len();
        (!is_second && self.names.len() <= ANCHORS).then_some(())
    }

    fn alias(&mut self, name: &str, span: Range<usize>) -> Option<()> {
        let known = self.names.iter().rposition(|known| known == name)?;
        self.in_time().and_then(|()| Builder::alias(self, self.named + known + 1, Span::of(span))).ok()
    }

    fn end_document(&mut self) {
        self.named += self.names.len();
        self.names.clear();
    }
}

fn key_name(key: &Node) -> Arc<str> {
    match key.kind {
        Kind::Str => key.text.clone(),
        _ => scalar::key_name(&key.kind, &key.text).into(),
    }
}

/// Returns a scalar without a tag.
pub(super) fn scalar_node(span: Span, kind: Kind, style: Style, text: Arc<str>) -> Node {
    let weight = u32::try_from(text.len() / 64).map_or(u32::MAX, |more| more.saturating_add(1));
    Node { span, kind, style, text, tag: None, weight, height: 0 }
}

/// Returns the name of a core schema tag, or `!` for the non-specific tag.
fn core_suffix(tag: &Tag) -> Option<&str> {
    if tag.handle().is_empty() && tag.suffix() == "!" { Some("!") } else { tag.core_suffix() }
}

/// Returns a tag as it can be written in any file: `!x`, `!!x`, or `!<tag:example.org,2000:x>`.
fn tag_name(tag: &Tag) -> String {
    let name = tag.to_string();
    match name.strip_prefix("tag:yaml.org,2002:") {
        Some(suffix) => format!("!!{suffix}"),
        None if name.starts_with('!') => name,
        None => format!("!<{name}>"),
    }
}

fn place(span: granit_parser::Span) -> Span {
    Span::of(span.byte_range().unwrap_or(0..0))
}
