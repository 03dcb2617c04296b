//! A value against a schema.

use std::cmp::Ordering;
use std::fmt;

use super::types::{Field, Fields, plain, with_article};
use super::{Additional, Bound, Node, NodeId, Number, Pattern, Schema, Sizes, Types};
use crate::diagnostics::nearest;
use crate::stdlib::pattern::search_steps;
use crate::value::{Arena, Data, InputBuilder, Shapes, Value};

/// Bytes of a value that are shown.
const SHOWN: usize = 60;

/// Names and values that are counted up.
const NAMES: usize = 10;

/// Names and values among which one is looked for that may have been meant.
const SOUGHT: usize = 1000;

/// What a value does against its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the part of the value that does it; empty where it is the whole.
    pub pointer: String,
    /// The same as it is written in expressions: `services[0].name`.
    pub path: String,
    /// The JSON pointer of the schema it does not fit.
    pub schema: String,
    /// The schema, which says what the bound is.
    pub node: NodeId,
    /// Which of several values it is about, counted from 0.
    pub nth: usize,
    /// The word of the schema: `type`, `maximum`.
    pub keyword: &'static str,
    /// What the word says, as JSON: `"string"`, `65535`; cut where it is long.
    pub limit: String,
    /// The value, as JSON, cut where it is long: of a list or a map only which it is; `None` where there is nothing.
    pub value: Option<String>,
    /// What is wanted: `a string is wanted`.
    pub wanted: String,
    /// What there is: `the integer 1`; empty where there is nothing.
    pub found: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Violation {
    /// What is wrong, without where: `a string is wanted (type), not the integer 1`.
    pub fn what(&self) -> String {
        let not = if self.found.is_empty() { String::new() } else { format!(", not {}", self.found) };
        format!("{} ({}){not}", self.wanted, self.keyword)
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

/// The way from the root to a part of a value.
#[derive(Clone, Copy)]
struct Way<'w> {
    up: Option<&'w Way<'w>>,
    step: Step<'w>,
}

#[derive(Clone, Copy)]
enum Step<'w> {
    /// To the value itself.
    Root,
    /// To what has a name.
    Name(&'w str),
    /// To an element.
    At(usize),
}

impl<'w> Way<'w> {
    const ROOT: Way<'static> = Way { up: None, step: Step::Root };

    fn to(&'w self, step: Step<'w>) -> Way<'w> {
        Way { up: Some(self), step }
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let mut steps: Vec<_> = std::iter::successors(Some(self), |way| way.up).map(|way| way.step).collect();
        steps.reverse();
        steps
    }

    fn pointer(&self) -> String {
        let step = |step: Step<'_>| match step {
            Step::Root => String::new(),
            Step::Name(name) => super::read::below("", name),
            Step::At(at) => format!("/{at}"),
        };
        self.steps().into_iter().map(step).collect()
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps() {
            match step {
                Step::Root => {}
                Step::At(at) => path.push_str(&format!("[{at}]")),
                Step::Name(name) if !is_plain(name) => path.push_str(&format!("[{name:?}]")),
                Step::Name(name) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
            }
        }
        path
    }
}

fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Schema {
    /// Everything that `value` does against the schema, at most `most` violations, in the order of the value. What is
    /// not there ([`Value::Undefined`]) fits unless the schema says `required: true`. `spend` is told of each step and
    /// may end the work with an error.
    ///
    /// # Errors
    /// Those of `spend`.
    pub fn validate<E>(
        &self,
        value: Value<'_>,
        most: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<Violation>, E> {
        self.validate_named(None, value, most, spend)
    }

    pub(super) fn validate_named<E>(
        &self,
        name: Option<&str>,
        value: Value<'_>,
        most: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<Violation>, E> {
        let mut check = Check { schema: self, found: Vec::new(), most, spend };
        let way = Way { up: None, step: name.map_or(Step::Root, Step::Name) };
        if !value.is_undefined() {
            check.value(Schema::ROOT, value, &way)?;
        } else if self.is_required() {
            check.violation(Schema::ROOT, &way, "required", "a value is wanted".to_owned(), String::new(), value);
        }
        Ok(check.found)
    }

    /// Everything that data does against a schema of the tree: see [`Schema::validate`].
    ///
    /// # Errors
    /// Those of `spend`.
    pub fn validate_data<E>(
        &self,
        id: NodeId,
        data: &Data,
        most: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<Violation>, E> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let mut check = Check { schema: self, found: Vec::new(), most, spend };
        check.value(id, InputBuilder::new(&arena, &shapes).data(data), &Way::ROOT)?;
        Ok(check.found)
    }
}

struct Check<'c, S> {
    schema: &'c Schema,
    found: Vec<Violation>,
    most: usize,
    spend: &'c mut S,
}

impl<E, S: FnMut(u64) -> Result<(), E>> Check<'_, S> {
    fn violation(
        &mut self,
        id: NodeId,
        way: &Way<'_>,
        keyword: &'static str,
        wanted: String,
        found: String,
        value: Value<'_>,
    ) {
        if self.found.len() >= self.most {
            return;
        }
        let schema = self.schema.node(id).map(|node| node.pointer.clone()).unwrap_or_default();
        let limit =
            self.schema.node(id).and_then(|node| node.limit(keyword)).map_or_else(String::new, |of| text_of(&of));
        let (pointer, path, value) = (way.pointer(), way.path(), json_of(value));
        let (node, nth, help) = (id, 0, None);
        self.found.push(Violation { pointer, path, schema, node, nth, keyword, limit, value, wanted, found, help });
    }

    /// How deep values and schemas are bounds how deep this calls itself.
    fn value(&mut self, id: NodeId, value: Value<'_>, way: &Way<'_>) -> Result<(), E> {
        (self.spend)(1)?;
        let schema = self.schema;
        let (Some(node), Some(value)) = (schema.node(id), plain(value)) else { return Ok(()) };
        if self.found.len() >= self.most {
            return Ok(());
        }
        let is = Types::of(value);
        if !node.types.is_any() && !node.types.has(is) {
            self.violation(id, way, "type", format!("{} is wanted", node.types.sentence()), shown(value), value);
            return Ok(());
        }
        self.one_of(id, node, value, way)?;
        if let Some(number) = Number::of_value(value) {
            self.number(id, node, (number, value), way);
        } else if matches!(value, Value::Str(_)) {
            self.text(id, node, value, way)?;
        } else if let Value::List(list) = value {
            self.list(id, node, (list.items(), value), way)?;
        } else if let Some(fields) = Fields::of(value) {
            self.object(id, node, fields, way)?;
        }
        Ok(())
    }

    fn one_of(&mut self, id: NodeId, node: &Node, value: Value<'_>, way: &Way<'_>) -> Result<(), E> {
        let Some(values) = &node.values else { return Ok(()) };
        let mut steps = 0;
        let known = values.iter().any(|known| same(known, value, &mut steps));
        (self.spend)(steps)?;
        if !known {
            let some: Vec<_> = values.iter().take(NAMES).map(text_of).collect();
            let (one_of, more) = match values.len() {
                1 => ("", ""),
                count => ("one of ", if count > NAMES { ", …" } else { "" }),
            };
            let wanted = format!("{one_of}{}{more} is wanted", some.join(", "));
            self.violation(id, way, "enum", wanted, shown(value), value);
            let texts = values.iter().take(SOUGHT).filter_map(Data::as_str);
            let near = value.as_str().filter(|text| text.len() <= SHOWN).and_then(|text| nearest(text, texts));
            if let (Some(near), Some(last)) = (near, self.found.last_mut()) {
                last.help = Some(format!("did you mean `{near}`?"));
            }
        }
        Ok(())
    }

    fn number(&mut self, id: NodeId, node: &Node, number: (Number, Value<'_>), way: &Way<'_>) {
        let words = ["minimum", "exclusiveMinimum", "at least", "more than"];
        self.bound(id, node.minimum, number, Ordering::Less, words, way);
        let words = ["maximum", "exclusiveMaximum", "at most", "less than"];
        self.bound(id, node.maximum, number, Ordering::Greater, words, way);
    }

    fn bound(
        &mut self,
        id: NodeId,
        bound: Option<Bound>,
        (number, value): (Number, Value<'_>),
        beyond: Ordering,
        [word, exclusive_word, inclusive, exclusive]: [&'static str; 4],
        way: &Way<'_>,
    ) {
        let Some(bound) = bound else { return };
        let order = number.compare(bound.number);
        let inside = order.is_some_and(|order| order != beyond && !(bound.exclusive && order.is_eq()));
        if !inside {
            let (word, says) = if bound.exclusive { (exclusive_word, exclusive) } else { (word, inclusive) };
            self.violation(id, way, word, format!("{says} {} is wanted", bound.number), shown(value), value);
        }
    }

    fn text(&mut self, id: NodeId, node: &Node, value: Value<'_>, way: &Way<'_>) -> Result<(), E> {
        let Value::Str(text) = value else { return Ok(()) };
        let text = text.as_str();
        if node.characters != Sizes::default() {
            (self.spend)(text.len() as u64 / 64)?;
            let count = text.chars().count() as u64;
            self.size(id, node.characters, (count, value), ("minLength", "maxLength", "character"), way);
        }
        let Some(Pattern { text: pattern, regex }) = &node.pattern else { return Ok(()) };
        (self.spend)(search_steps(pattern, text.len()) / 8)?;
        if !regex.is_match(text) {
            let wanted = format!("a match of `{pattern}` is wanted");
            self.violation(id, way, "pattern", wanted, shown_text(text), value);
        }
        Ok(())
    }

    fn size(
        &mut self,
        id: NodeId,
        sizes: Sizes,
        (count, value): (u64, Value<'_>),
        (least, most, what): (&'static str, &'static str, &str),
        way: &Way<'_>,
    ) {
        if let Some((few, bound)) = sizes.fault(count) {
            let (keyword, says) = if few { (least, "at least") } else { (most, "at most") };
            let what = if bound == 1 { format!("{what} is") } else { format!("{what}s are") };
            self.violation(id, way, keyword, format!("{says} {bound} {what} wanted"), count.to_string(), value);
        }
    }

    fn list(
        &mut self,
        id: NodeId,
        node: &Node,
        (items, value): (&[Value<'_>], Value<'_>),
        way: &Way<'_>,
    ) -> Result<(), E> {
        self.size(id, node.elements, (items.len() as u64, value), ("minItems", "maxItems", "element"), way);
        let Some(schema) = node.items else { return Ok(()) };
        items.iter().enumerate().try_for_each(|(at, item)| self.value(schema, *item, &way.to(Step::At(at))))
    }

    fn object(&mut self, id: NodeId, node: &Node, fields: Fields<'_>, way: &Way<'_>) -> Result<(), E> {
        (self.spend)(node.required.len() as u64)?;
        for name in node.required.iter().filter(|name| !fields.has(name)) {
            self.violation(
                id,
                way,
                "required",
                format!("the property `{name}` is wanted"),
                String::new(),
                Value::Undefined,
            );
        }
        if node.properties.is_empty() && matches!(node.additional, Additional::Unsaid | Additional::Any) {
            return Ok(());
        }
        (self.spend)(fields.len() as u64)?;
        fields.each(|field, value| {
            let (name, known) = match field {
                Field::Named(name) => (name, node.properties.get(name)),
                Field::Other(name) => (name, None),
            };
            let way = way.to(Step::Name(name));
            match (known, node.additional) {
                (Some(schema), _) => self.value(*schema, value, &way),
                (None, Additional::Schema(schema)) => self.value(schema, value, &way),
                (None, Additional::None) => {
                    self.stranger(id, node, (name, value), &way);
                    Ok(())
                }
                (None, Additional::Unsaid | Additional::Any) => Ok(()),
            }
        })
    }

    /// A property that may not be there.
    fn stranger(&mut self, id: NodeId, node: &Node, (name, value): (&str, Value<'_>), way: &Way<'_>) {
        let wanted = "no property of this name is wanted".to_owned();
        self.violation(id, way, "additionalProperties", wanted, String::new(), value);
        let names = || node.properties.keys().take(SOUGHT).map(String::as_str);
        if let Some(last) = self.found.last_mut().filter(|last| last.keyword == "additionalProperties") {
            let near = nearest(name, names()).filter(|_| name.len() <= SHOWN);
            let some = || names().take(NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            last.help = match near {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None if node.properties.is_empty() => None,
                None => Some(format!("the properties are {}", some())),
            };
        }
    }
}

/// Whether they are one value; numbers by what they count, maps whatever their order. Counts its steps.
fn same(known: &Data, value: Value<'_>, steps: &mut u64) -> bool {
    *steps += 1;
    let Some(value) = plain(value) else { return true };
    match (known, value) {
        (Data::Null, Value::Null) => true,
        (Data::Bool(a), Value::Bool(b)) => *a == b,
        (Data::Str(a), Value::Str(b)) => a == b.as_str(),
        (Data::List(a), Value::List(b)) => {
            a.len() == b.items().len() && a.iter().zip(b.items()).all(|(a, b)| same(a, *b, steps))
        }
        (Data::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b, steps)))
        }
        _ => match (Number::of_data(known), Number::of_value(value)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
    }
}

fn text_of(data: &Data) -> String {
    cut(serde_json::to_string(data).unwrap_or_default())
}

fn cut(mut text: String) -> String {
    if text.len() > SHOWN {
        text.truncate(boundary(&text));
        text.push('…');
    }
    text
}

/// Where a text is cut that is shown.
fn boundary(text: &str) -> usize {
    (0..=SHOWN.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn shown_text(text: &str) -> String {
    let end = boundary(text);
    let more = if end < text.len() { "…" } else { "" };
    format!("the string {:?}{more}", text.get(..end).unwrap_or(""))
}

/// A value as JSON: of a list or a map only which it is.
fn json_of(value: Value<'_>) -> Option<String> {
    Some(match value {
        Value::Undefined => return None,
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Str(text) => {
            let (text, end) = (text.as_str(), boundary(text.as_str()));
            let more = if end < text.len() { "…" } else { "" };
            text_of(&Data::Str(format!("{}{more}", text.get(..end).unwrap_or(""))))
        }
        Value::List(_) => "[…]".to_owned(),
        _ => match Number::of_value(value) {
            Some(number) => cut(number.to_string()),
            None => "{…}".to_owned(),
        },
    })
}

/// A value with what it is.
fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Int(n) => format!("the integer {n}"),
        Value::Uint(n) => format!("the integer {n}"),
        Value::Float(n) => format!("the number {n}"),
        Value::Str(text) => shown_text(text.as_str()),
        Value::List(_) => "an array".to_owned(),
        Value::Extended(_) => match Number::of_value(value) {
            Some(number) => cut(format!("the number {number}")),
            None if Fields::of(value).is_some() => "an object".to_owned(),
            None => with_article(value.kind()),
        },
        _ => "an object".to_owned(),
    }
}
