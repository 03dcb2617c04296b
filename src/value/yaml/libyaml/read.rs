//! Reads documents as values that went through JSON: keys are text, and floats are finite.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::is_allowed;
use super::parse::{Event, Parser};
use super::resolve::{Resolved, resolve};
use crate::json::not_finite;
use crate::marshal::{Numbers, lossy};
use crate::scan::is_usual;
use crate::{Arena, Value};
use dropforge_base::stdlib::characters::push_quoted;
use dropforge_base::stdlib::encodings::octets_of_base64;
use dropforge_base::stdlib::float_format::shortest;

/// The prefix of the tags of YAML itself.
const CORE: &str = "tag:yaml.org,2002:";

/// Numbers of nodes from which aliases are checked, and the shares of copies among all nodes that are allowed below the
/// first and above the second one.
const CHECKED: (u64, u64) = (100, 1000);
const RATIOS: [(f64, f64); 2] = [(400_000.0, 0.99), (4_000_000.0, 0.10)];

/// Reads the first document, of at most `depth` levels. An empty text is null.
///
/// # Errors
/// The reader's message, without the line for the first line.
pub fn read<'v>(arena: &'v Arena, text: &str, numbers: Numbers, depth: usize) -> Result<Value<'v>, String> {
    let mut parser = checked(text, depth)?;
    Ok(document(arena, &mut parser, numbers, depth)?.unwrap_or(Value::Null))
}

/// Reads all documents.
///
/// # Errors
/// Same as [`read`].
pub fn read_all<'v>(arena: &'v Arena, text: &str, numbers: Numbers, depth: usize) -> Result<Vec<Value<'v>>, String> {
    let mut parser = checked(text, depth)?;
    std::iter::from_fn(|| document(arena, &mut parser, numbers, depth).transpose()).collect()
}

/// Returns the problem of a text that is not YAML: the message of the libyaml family, and its line and column, from one.
pub fn problem(text: &str, depth: usize) -> Option<(String, usize, usize)> {
    let mut parser = checked(text, depth).ok()?;
    loop {
        match parser.next() {
            Ok(Event::StreamEnd) => return None,
            Ok(_) => {}
            Err(message) => {
                let place = parser.problem_place();
                let message = message.strip_prefix("yaml: ").unwrap_or(&message);
                let message = match message.split_once(": ") {
                    Some((line, message)) if line.starts_with("line ") => message,
                    _ => message,
                };
                return Some((message.to_owned(), place.line + 1, place.column + 1));
            }
        }
    }
}

fn checked(text: &str, depth: usize) -> Result<Parser<'_>, String> {
    let usual = is_usual(text);
    if usual || text.chars().all(is_allowed) {
        return Ok(Parser::new(text, depth, usual));
    }
    Err("yaml: control characters are not allowed".to_owned())
}

/// Reads one document. `None` at the end of the text.
fn document<'v>(
    arena: &'v Arena,
    parser: &mut Parser<'_>,
    numbers: Numbers,
    depth: usize,
) -> Result<Option<Value<'v>>, String> {
    if parser.next()? == Event::StreamEnd {
        return Ok(None);
    }
    let mut builder = ValueBuilder {
        arena,
        numbers,
        depth,
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        decoding: None,
        keys: None,
        floats: None,
        nodes: 0,
        copies: 0,
    };
    loop {
        match parser.next()? {
            Event::DocumentEnd | Event::StreamEnd => break,
            event => builder.event(event)?,
        }
    }
    match builder.decoding.or(builder.keys).or(builder.floats) {
        Some(error) => Err(error),
        None => Ok(Some(builder.root.map_or(Value::Null, |node| node.value))),
    }
}

/// A value and what is known of its node.
#[derive(Debug, Clone, Copy)]
struct ReadNode<'v> {
    value: Value<'v>,
    kind: Resolved,
    /// The number of nodes.
    weight: u64,
}

/// A collection that is being read.
struct OpenNode<'t, 'v> {
    anchor: Option<&'t str>,
    weight: u64,
    content: NodeContent<'v>,
}

enum NodeContent<'v> {
    List(Vec<Value<'v>>),
    Map(Vec<(&'v str, Value<'v>)>, Option<Pending<'v>>),
}

/// A key whose value is still to come.
enum Pending<'v> {
    Key(&'v str),
    Null,
    Merge,
}

struct ValueBuilder<'t, 'v> {
    arena: &'v Arena,
    numbers: Numbers,
    depth: usize,
    open: Vec<OpenNode<'t, 'v>>,
    /// Completed nodes; `None` for one that is still open.
    anchors: HashMap<&'t str, Option<ReadNode<'v>>>,
    root: Option<ReadNode<'v>>,
    /// The first error of each step after parsing: of decoding, of making keys text, of writing floats.
    decoding: Option<String>,
    keys: Option<String>,
    floats: Option<String>,
    nodes: u64,
    copies: u64,
}

impl<'t, 'v> ValueBuilder<'t, 'v> {
    fn event(&mut self, event: Event<'t>) -> Result<(), String> {
        match event {
            Event::Scalar { text, anchor, tag, plain } => {
                let node = self.scalar(&text, tag.as_deref(), plain);
                self.finish(node, anchor)
            }
            Event::SequenceStart { anchor } => self.begin(anchor, NodeContent::List(Vec::new())),
            Event::MappingStart { anchor } => self.begin(anchor, NodeContent::Map(Vec::new(), None)),
            Event::CollectionEnd => self.end(),
            Event::Alias(name) => self.alias(name),
            Event::DocumentStart | Event::DocumentEnd | Event::StreamEnd => Ok(()),
        }
    }

    fn begin(&mut self, anchor: Option<&'t str>, content: NodeContent<'v>) -> Result<(), String> {
        if self.open.len() >= self.depth {
            return Err(format!("yaml: exceeded max depth of {}", self.depth));
        }
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, None);
        }
        self.open.push(OpenNode { anchor, weight: 1, content });
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (value, kind) = match open.content {
            NodeContent::List(items) => (self.arena.list(&items), Resolved::List),
            NodeContent::Map(entries, _) => (self.arena.map(&entries), Resolved::Map),
        };
        self.finish(ReadNode { value, kind, weight: open.weight }, open.anchor)
    }

    fn alias(&mut self, name: &str) -> Result<(), String> {
        match self.anchors.get(name) {
            None => Err(format!("yaml: unknown anchor '{name}' referenced")),
            Some(None) => {
                first(&mut self.decoding, || format!("yaml: anchor '{name}' value contains itself"));
                self.add(ReadNode { value: Value::Null, kind: Resolved::Null, weight: 1 });
                Ok(())
            }
            Some(Some(node)) => {
                let node = *node;
                self.copies = self.copies.saturating_add(node.weight);
                self.nodes = self.nodes.saturating_add(node.weight);
                self.check_copies();
                if self.open.len() + usize::from(node.value.depth()) > self.depth {
                    return Err(format!("yaml: exceeded max depth of {}", self.depth));
                }
                self.add(node);
                Ok(())
            }
        }
    }

    fn check_copies(&mut self) {
        let [(few, most), (many, least)] = RATIOS;
        let nodes = self.nodes as f64;
        let allowed = most - (most - least) * ((nodes - few) / (many - few)).clamp(0.0, 1.0);
        if self.copies > CHECKED.0 && self.nodes > CHECKED.1 && self.copies as f64 / nodes > allowed {
            first(&mut self.decoding, || "yaml: document contains excessive aliasing".to_owned());
        }
    }

    fn finish(&mut self, node: ReadNode<'v>, anchor: Option<&'t str>) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(1);
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, Some(node));
        }
        self.add(node);
        Ok(())
    }

    /// Adds a node to the innermost collection.
    fn add(&mut self, node: ReadNode<'v>) {
        let arena = self.arena;
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.weight = open.weight.saturating_add(node.weight);
        match &mut open.content {
            NodeContent::List(items) => items.push(node.value),
            NodeContent::Map(entries, pending) => match pending.take() {
                None => *pending = Some(key(arena, node, &mut self.decoding)),
                Some(Pending::Key(key)) => entries.push((key, node.value)),
                Some(Pending::Merge) => merge(node, entries, &mut self.decoding),
                Some(Pending::Null) => first(&mut self.keys, || {
                    let value = shown(node.value);
                    format!("unsupported map key of type: %!s(<nil>), key: <nil>, value: {value}")
                }),
            },
        }
    }

    fn scalar(&mut self, text: &str, tag: Option<&str>, plain: bool) -> ReadNode<'v> {
        let (value, kind) = match tag {
            None if plain && text == "<<" => (self.arena.text(text), Resolved::Merge),
            None if plain => self.resolved(text, resolve(text)),
            None => (self.arena.text(text), Resolved::Text),
            Some(tag) => self.tagged(text, tag),
        };
        ReadNode { value, kind, weight: 1 }
    }

    fn resolved(&mut self, text: &str, resolved: Resolved) -> (Value<'v>, Resolved) {
        let value = match resolved {
            Resolved::Null => Value::Null,
            Resolved::Bool(truth) => Value::Bool(truth),
            Resolved::Int(n) => self.numbers.int(self.arena, n),
            Resolved::Uint(n) => self.numbers.uint(self.arena, n),
            Resolved::Float(n) => {
                if !n.is_finite() {
                    first(&mut self.floats, || format!("json: unsupported value: {}", not_finite(n)));
                }
                Value::Float(n)
            }
            Resolved::Time | Resolved::Text | Resolved::Merge | Resolved::List | Resolved::Map => self.arena.text(text),
        };
        (value, resolved)
    }

    fn tagged(&mut self, text: &str, tag: &str) -> (Value<'v>, Resolved) {
        let suffix = tag.strip_prefix(CORE);
        let resolved = match suffix {
            Some("merge") if text == "<<" => return (self.arena.text(text), Resolved::Merge),
            Some("binary") => return self.binary(text),
            Some("bool" | "int" | "float" | "null" | "timestamp") => resolve(text),
            _ => Resolved::Text,
        };
        let resolved = match (suffix, resolved) {
            (Some("float"), Resolved::Int(n)) => Resolved::Float(n as f64),
            // Points in time are resolved only by their own tag, or none.
            (Some("bool" | "int" | "float" | "null"), Resolved::Time) => Resolved::Text,
            (_, resolved) => resolved,
        };
        let own = resolved.tag();
        let wanted = suffix.map(|suffix| format!("!!{suffix}")).filter(|wanted| {
            wanted != own && matches!(wanted.as_str(), "!!bool" | "!!int" | "!!float" | "!!null" | "!!timestamp")
        });
        if let Some(wanted) = wanted {
            first(&mut self.decoding, || format!("yaml: cannot decode {own} `{text}` as a {wanted}"));
        }
        self.resolved(text, resolved)
    }

    fn binary(&mut self, text: &str) -> (Value<'v>, Resolved) {
        let octets = octets_of_base64(text)
            .filter(|_| text.trim_end_matches('=').len().is_multiple_of(4) || text.ends_with('='));
        let Some(octets) = octets else {
            first(&mut self.decoding, || "yaml: !!binary value contains invalid base64 data".to_owned());
            return (Value::Null, Resolved::Text);
        };
        (self.arena.text(&lossy(&octets)), Resolved::Text)
    }
}

fn first(error: &mut Option<String>, make: impl FnOnce() -> String) {
    if error.is_none() {
        *error = Some(make());
    }
}

/// Returns the key that a node stands for.
fn key<'v>(arena: &'v Arena, node: ReadNode<'v>, error: &mut Option<String>) -> Pending<'v> {
    let text = match node.kind {
        Resolved::Merge => return Pending::Merge,
        Resolved::Null => return Pending::Null,
        Resolved::List | Resolved::Map => {
            first(error, || format!("yaml: invalid map key: {}", shown(node.value)));
            return Pending::Key("");
        }
        Resolved::Bool(truth) => truth.to_string(),
        Resolved::Int(n) => n.to_string(),
        Resolved::Uint(n) => n.to_string(),
        Resolved::Float(n) => float_key(n),
        Resolved::Time | Resolved::Text => return Pending::Key(node.value.as_str().unwrap_or("")),
    };
    Pending::Key(arena.copy_str(&text))
}

/// Returns the text of a float as a key, which has single precision.
fn float_key(n: f64) -> String {
    if n.is_nan() {
        return ".nan".to_owned();
    }
    let narrow = n as f32;
    if narrow.is_infinite() {
        return if n > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    // The shortest digits that a float of single precision needs are exact as text.
    narrow.to_string().parse().map_or_else(|_| shortest(n), shortest)
}

/// Adds the entries of a map, or of all maps of a list, whose first ones win.
fn merge<'v>(node: ReadNode<'v>, entries: &mut Vec<(&'v str, Value<'v>)>, error: &mut Option<String>) {
    let maps: Vec<_> = match node.value {
        Value::Map(map) => vec![map],
        Value::List(list) => list.items().iter().rev().filter_map(Value::as_map).collect(),
        _ => Vec::new(),
    };
    let wanted = node.value.as_list().map_or(1, <[_]>::len);
    if maps.len() != wanted {
        return first(error, || "yaml: map merge requires map or sequence of maps as the value".to_owned());
    }
    for map in maps {
        entries.extend(map.iter());
    }
}

/// Returns a value as messages show it. The depth of the value was bounded when it was read.
fn shown(value: Value<'_>) -> String {
    let mut out = String::new();
    let mut parts = vec![Fragment::Value(value)];
    while let Some(part) = parts.pop() {
        let value = match part {
            Fragment::Text(text) => {
                out.push_str(text);
                continue;
            }
            Fragment::Key(key) => {
                push_quoted(key.as_bytes(), &mut |piece| out.push_str(piece));
                out.push(':');
                continue;
            }
            Fragment::Value(value) => value,
        };
        match value {
            Value::List(list) => {
                out.push_str("[]interface {}{");
                parts.push(Fragment::Text("}"));
                for (at, item) in list.items().iter().enumerate().rev() {
                    parts.push(Fragment::Value(*item));
                    parts.extend((at > 0).then_some(Fragment::Text(", ")));
                }
            }
            Value::Map(map) => {
                out.push_str("map[interface {}]interface {}{");
                parts.push(Fragment::Text("}"));
                let entries: Vec<_> = map.iter_sorted().collect();
                for (at, (key, value)) in entries.into_iter().enumerate().rev() {
                    parts.extend([Fragment::Value(value), Fragment::Key(key)]);
                    parts.extend((at > 0).then_some(Fragment::Text(", ")));
                }
            }
            other => shown_scalar(other, &mut out),
        }
    }
    out
}

enum Fragment<'v> {
    Text(&'static str),
    Key(&'v str),
    Value(Value<'v>),
}

fn shown_scalar(value: Value<'_>, out: &mut String) {
    match value {
        Value::Str(text) => push_quoted(text.as_str().as_bytes(), &mut |piece| out.push_str(piece)),
        Value::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Value::Int(n) => drop(write!(out, "{n}")),
        Value::Uint(n) => drop(write!(out, "0x{n:x}")),
        Value::Float(n) => out.push_str(&shortest(n)),
        Value::Extended(extension) => match extension.kind() {
            crate::Extended::Sized(number) => drop(write!(out, "{}", number.number())),
            _ => out.push_str("interface {}(nil)"),
        },
        _ => out.push_str("interface {}(nil)"),
    }
}
