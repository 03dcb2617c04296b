//! Errors in schemas, violations of schemas, their locations, and values as messages show them.

use std::fmt;

use super::types::Fields;
use super::{NodeId, Number};
use dropforge_base::diagnostics::with_article;
use dropforge_base::stdlib::paths;
use dropforge_base::stdlib::strings::prefix;
use dropforge_base::text::Span;
use dropforge_value::yaml::Node;
use dropforge_value::{Data, Step, Value};

/// Maximum number of bytes of a value in a message.
pub(super) const SHOWN: usize = 60;

/// A violation of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the part of the value; empty for the whole value.
    pub pointer: String,
    /// The path of the part as an expression: `services[0].name`.
    pub path: String,
    /// The JSON pointer of the violated schema.
    pub schema: String,
    /// The violated schema, which has the bounds.
    pub node: NodeId,
    /// The index of the value among several.
    pub nth: usize,
    /// The violated keyword: `type`, `maximum`.
    pub keyword: &'static str,
    /// The value of the keyword as JSON: `"string"`, `65535`. Long values are cut.
    pub limit: String,
    /// The part of the value as JSON, without the contents of arrays and objects. Long values are cut. `None` if absent.
    pub value: Option<String>,
    /// The expectation: `expected a string`.
    pub expected: String,
    /// The description of the value: `the integer 1`; empty if absent.
    pub found: String,
    /// The likely fix.
    pub help: Option<String>,
    /// Further facts.
    pub detail: Detail,
}

impl Violation {
    /// Returns the names of the properties that the violation is about.
    pub fn names(&self) -> &[String] {
        match &self.detail {
            Detail::Names(names) => names,
            _ => &[],
        }
    }
}

/// Further facts about a violation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Detail {
    /// No further facts.
    #[default]
    None,
    /// The names of properties, or elements as JSON.
    Names(Vec<String>),
    /// More than one schema of `oneOf` fits.
    Several,
    /// The indexes of two equal items.
    Equal(usize, usize),
    /// The violation of a property's name.
    Name(Box<Violation>),
}

impl Violation {
    /// Returns the span of the violated keyword, or else of the schema that has it, in the document of the schema.
    pub fn place(&self, document: &Node) -> Option<Span> {
        let keyword = document.at_pointer(&format!("{}/{}", self.schema, self.keyword));
        keyword.or_else(|| document.at_pointer(&self.schema)).map(|node| node.span)
    }

    /// Returns the message without the location: `expected a string, found the integer 1 (type)`.
    pub fn what(&self) -> String {
        let found = if self.found.is_empty() { String::new() } else { format!(", found {}", self.found) };
        format!("{}{found} ({})", self.expected, self.keyword)
    }

    /// Returns [`Violation::what`] without the value: `expected a string (type)`.
    pub fn problem(&self) -> String {
        format!("{} ({})", self.expected, self.keyword)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.what())
    }
}

/// Data as JSON, cut if it is long.
pub(super) fn text_of(data: &Data) -> String {
    cut(serde_json::to_string(data).unwrap_or_default())
}

fn cut(text: String) -> String {
    let shown = prefix(&text, SHOWN);
    if shown.len() < text.len() { format!("{shown}…") } else { text }
}

/// Returns a value as JSON, without the contents of arrays and objects.
pub(super) fn json_of(value: Value<'_>) -> Option<String> {
    Some(match value {
        Value::Undefined => return None,
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Str(text) => text_of(&Data::Str(cut(text.as_str().to_owned()))),
        Value::List(_) => "[…]".to_owned(),
        _ => match Number::of_value(value) {
            Some(number) => cut(number.to_string()),
            None => "{…}".to_owned(),
        },
    })
}

/// Returns the description of a value with its type.
pub(super) fn described(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Int(n) => format!("the integer {n}"),
        Value::Uint(n) => format!("the integer {n}"),
        Value::Float(n) => format!("the number {n}"),
        Value::Str(text) => {
            let shown = prefix(text.as_str(), SHOWN);
            format!("the string {shown:?}{}", if shown.len() < text.as_str().len() { "…" } else { "" })
        }
        Value::List(_) => "an array".to_owned(),
        Value::Extended(_) => match Number::of_value(value) {
            Some(number) => cut(format!("the number {number}")),
            None if Fields::of(value).is_some() => "an object".to_owned(),
            None => with_article(value.kind()),
        },
        _ => "an object".to_owned(),
    }
}

/// An error in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The JSON pointer of the faulty part.
    pub pointer: String,
    /// The message, without a final period.
    pub message: String,
    /// The likely fix.
    pub help: Option<String>,
    /// `true` if the schema refers to a document that is not there.
    pub unloaded: bool,
}

impl SchemaError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), help: None, unloaded: false }
    }
}

/// The JSON pointer of the member `name` below `pointer`.
pub(super) fn below(pointer: &str, name: &str) -> String {
    let mut at = String::with_capacity(pointer.len() + 1 + name.len());
    at.push_str(pointer);
    paths::push(&mut at, name);
    at
}

/// The path from the root to a part of a value.
#[derive(Clone, Copy)]
pub(super) struct Location<'l> {
    parent: Option<&'l Location<'l>>,
    /// `None` at the root, unless the whole value has a name.
    step: Option<Step<&'l str>>,
}

impl<'l> Location<'l> {
    pub const ROOT: Location<'static> = Location { parent: None, step: None };

    /// Returns the location of a named value.
    pub fn named(name: Option<&'l str>) -> Self {
        Self { parent: None, step: name.map(Step::Key) }
    }

    pub fn to(&'l self, step: Step<&'l str>) -> Location<'l> {
        Location { parent: Some(self), step: Some(step) }
    }

    fn steps(&self) -> Vec<Step<&str>> {
        let mut steps: Vec<_> = std::iter::successors(Some(self), |at| at.parent).filter_map(|at| at.step).collect();
        steps.reverse();
        steps
    }

    /// Returns the JSON pointer.
    pub fn pointer(&self) -> String {
        let step = |step: Step<&str>| match step {
            Step::Key(name) => below("", name),
            Step::Index(at) => format!("/{at}"),
        };
        self.steps().into_iter().map(step).collect()
    }

    /// Returns the path as an expression: `services[0].name`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps() {
            match step {
                Step::Index(at) => path.push_str(&format!("[{at}]")),
                Step::Key(name) if !is_identifier(name) => path.push_str(&format!("[{name:?}]")),
                Step::Key(name) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
            }
        }
        path
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
