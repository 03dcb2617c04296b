//! Validates values against schemas.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::node::SEARCHED;
use super::types::{Fields, plain};
use super::violation::{Location, SHOWN, described, json_of, text_of};
use super::{Additional, Bound, Detail, Draft, Node, NodeId, Number, Pattern, Schema, Sizes, Types, Violation};
use dropforge_base::diagnostics::nearest;
use dropforge_base::stdlib::patterns::search_steps;
use dropforge_value::{Arena, Data, InputBuilder, Shapes, Step, Value};

/// Maximum number of names and values listed in a message.
const LISTED: usize = 10;

/// The violations of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first violations.
    pub violations: Vec<Violation>,
    /// The number of further violations.
    pub more: usize,
}

impl Schema {
    /// Returns the first `most` violations of `value`, in the order of the value. An absent value ([`Value::Undefined`])
    /// fits unless the schema says `required: true`. `spend` receives the steps and may stop the validation.
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
        let at = Location::named(name);
        let (found, error) = self.check(most, most, spend, |check| {
            if !value.is_undefined() {
                return check.value(Schema::ROOT, value, &at);
            }
            if self.is_required() {
                check.report(Schema::ROOT, &at, "required", value, || ("expected a value".to_owned(), String::new()));
            }
            Ok(())
        });
        error.map_or(Ok(found.violations), Err)
    }

    /// Returns the violations of data by the schema `id`. See [`Schema::validate`].
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
        let shapes = Shapes::once(&names);
        // Deeper data is refused where it is read.
        let Ok(value) = InputBuilder::new(&arena, &shapes).data(data) else { return Ok(Vec::new()) };
        self.validate_part(id, value, most, spend)
    }

    /// Returns the violations of a value by the schema `id`. See [`Schema::validate`].
    ///
    /// # Errors
    /// Those of `spend`.
    pub fn validate_part<E>(
        &self,
        id: NodeId,
        value: Value<'_>,
        most: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<Violation>, E> {
        let (found, error) = self.check(most, most, spend, |check| check.value(id, value, &Location::ROOT));
        error.map_or(Ok(found.violations), Err)
    }

    /// Returns the first `most` violations of `value` and the number of all others.
    ///
    /// # Errors
    /// Those of `spend`, if it stops the validation before the first violation.
    pub fn violations<E>(
        &self,
        value: Value<'_>,
        most: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Findings, E> {
        let root = |check: &mut Check<'_>| check.value(Schema::ROOT, value, &Location::ROOT);
        let (found, error) = self.check(most, usize::MAX, spend, root);
        error.filter(|_| found.violations.is_empty()).map_or(Ok(found), Err)
    }

    /// Keeps at most `keep` violations and stops after `stop`. Returns the error of `spend` beside them, so that the program
    /// has one copy of the validation for all errors.
    fn check<E>(
        &self,
        keep: usize,
        stop: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
        run: impl FnOnce(&mut Check<'_>) -> Checked<()>,
    ) -> (Findings, Option<E>) {
        let mut error = None;
        let mut spend = |steps| spend(steps).map_err(|stopped| _ = error.insert(stopped));
        let (found, followed, scope) = (Vec::new(), Vec::new(), Vec::new());
        let mut check = Check { schema: self, found, keep, count: 0, stop, followed, scope, spend: &mut spend };
        let _ = run(&mut check);
        let findings = Findings { more: check.count - check.found.len(), violations: check.found };
        (findings, error)
    }
}

/// The outcome of a part of a validation, which `spend` may stop.
pub(super) type Checked<T> = Result<T, ()>;

/// A validation in progress.
pub(super) struct Check<'c> {
    pub(super) schema: &'c Schema,
    found: Vec<Violation>,
    /// The maximum number of violations to keep.
    keep: usize,
    /// The number of violations found.
    pub(super) count: usize,
    /// The number of violations that ends the validation.
    pub(super) stop: usize,
    /// References followed for the current value.
    pub(super) followed: Vec<NodeId>,
    /// The resources on the way to the current schema, the outermost first.
    pub(super) scope: Vec<usize>,
    pub(super) spend: &'c mut dyn FnMut(u64) -> Checked<()>,
}

impl Check<'_> {
    /// Counts a violation, and keeps it if there are not too many. `words` makes the expectation and the finding.
    pub(super) fn report(
        &mut self,
        node: NodeId,
        at: &Location<'_>,
        keyword: &'static str,
        value: Value<'_>,
        words: impl FnOnce() -> (String, String),
    ) -> Option<&mut Violation> {
        self.count += 1;
        if self.found.len() >= self.keep {
            return None;
        }
        let (expected, found) = words();
        let schema = self.schema.node(node);
        let limit = schema.and_then(|node| node.limit(keyword)).as_ref().map(text_of).unwrap_or_default();
        self.found.push(Violation {
            pointer: at.pointer(),
            path: at.path(),
            schema: schema.map(|node| node.pointer.clone()).unwrap_or_default(),
            node,
            nth: 0,
            keyword,
            limit,
            value: json_of(value),
            expected,
            found,
            help: None,
            detail: Detail::None,
        });
        self.found.last_mut()
    }

    /// Validates a value. The recursion is bounded by the nesting of values and schemas.
    pub(super) fn value(&mut self, id: NodeId, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        (self.spend)(1)?;
        let schema = self.schema;
        let (Some(node), Some(value)) = (schema.node(id), plain(value)) else { return Ok(()) };
        if self.count >= self.stop || !self.scalar(id, node, value, at)? {
            return Ok(());
        }
        let entered = self.scope.last() != Some(&node.resource);
        if entered {
            self.scope.push(node.resource);
        }
        if let Value::List(list) = value {
            self.list(id, node, (list.items(), value), at)?;
        } else if let Some(fields) = Fields::of(value) {
            self.object(id, node, (fields, value), at)?;
        }
        if let Some(rest) = &node.rest {
            self.rest(id, rest, value, at)?;
        }
        if entered {
            self.scope.pop();
        }
        Ok(())
    }

    /// Validates type, enumeration, number and text. Returns `true` if the rest is to be validated, too.
    fn scalar(&mut self, id: NodeId, node: &Node, value: Value<'_>, at: &Location<'_>) -> Checked<bool> {
        let draft = self.schema.draft;
        let types = if draft == Draft::Draft4 { Types::of(value).strict(value) } else { Types::of(value) };
        if !node.types.is_any() && !node.types.has(types) {
            self.report(id, at, "type", value, || (format!("expected {}", node.types.sentence()), described(value)));
            if draft == Draft::Template {
                return Ok(false);
            }
        }
        self.one_of_values(id, node, value, at)?;
        if let Some(number) = Number::of_value(value) {
            self.number(id, node, (number, value), at);
        }
        self.text(id, node, value, at)?;
        Ok(true)
    }

    fn one_of_values(&mut self, id: NodeId, node: &Node, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        let Some(values) = &node.values else { return Ok(()) };
        let mut steps = 0;
        let known = values.iter().any(|known| same(known, value, &mut steps));
        (self.spend)(steps)?;
        if known {
            return Ok(());
        }
        let words = || {
            let some: Vec<_> = values.iter().take(LISTED).map(text_of).collect();
            let (one_of, more) = match values.len() {
                1 => ("", ""),
                count => ("one of ", if count > LISTED { ", …" } else { "" }),
            };
            (format!("expected {one_of}{}{more}", some.join(", ")), described(value))
        };
        if let Some(violation) = self.report(id, at, "enum", value, words) {
            let texts = values.iter().take(SEARCHED).filter_map(Data::as_str);
            let near = value.as_str().filter(|text| text.len() <= SHOWN).and_then(|text| nearest(text, texts));
            violation.help = near.map(|near| format!("did you mean `{near}`?"));
        }
        Ok(())
    }

    fn number(&mut self, id: NodeId, node: &Node, number: (Number, Value<'_>), at: &Location<'_>) {
        let words = ["minimum", "exclusiveMinimum", "at least", "more than"];
        self.bound(id, node.minimum, number, Ordering::Less, words, at);
        let words = ["maximum", "exclusiveMaximum", "at most", "less than"];
        self.bound(id, node.maximum, number, Ordering::Greater, words, at);
    }

    fn bound(
        &mut self,
        id: NodeId,
        bound: Option<Bound>,
        (number, value): (Number, Value<'_>),
        beyond: Ordering,
        [word, exclusive_word, inclusive, exclusive]: [&'static str; 4],
        at: &Location<'_>,
    ) {
        let Some(bound) = bound else { return };
        let order = number.compare(bound.number);
        let inside = order.is_some_and(|order| order != beyond && !(bound.exclusive && order.is_eq()));
        if !inside {
            let (word, says) = if bound.exclusive { (exclusive_word, exclusive) } else { (word, inclusive) };
            self.report(id, at, word, value, || (format!("expected {says} {}", bound.number), described(value)));
        }
    }

    fn text(&mut self, id: NodeId, node: &Node, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        let Value::Str(text) = value else { return Ok(()) };
        let text = text.as_str();
        if node.characters != Sizes::default() {
            (self.spend)(text.len() as u64 / 64)?;
            let count = text.chars().count() as u64;
            self.size(id, node.characters, (count, value), ("minLength", "maxLength", ["character", "characters"]), at);
        }
        match &node.pattern {
            Some(pattern) if !self.matches(pattern, text)? => {
                let words = || (format!("expected a match of `{}`", pattern.text), described(value));
                self.report(id, at, "pattern", value, words);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Searches a text for a pattern.
    pub(super) fn matches(&mut self, pattern: &Pattern, text: &str) -> Checked<bool> {
        (self.spend)(search_steps(&pattern.text, text.len()) / 8)?;
        Ok(pattern.regex.is_match(text))
    }

    pub(super) fn size(
        &mut self,
        id: NodeId,
        sizes: Sizes,
        (count, value): (u64, Value<'_>),
        (least, most, [one, many]): (&'static str, &'static str, [&str; 2]),
        at: &Location<'_>,
    ) {
        if let Some((few, bound)) = sizes.violated(count) {
            let (keyword, says) = if few { (least, "at least") } else { (most, "at most") };
            let noun = if bound == 1 { one } else { many };
            self.report(id, at, keyword, value, || (format!("expected {says} {bound} {noun}"), count.to_string()));
        }
    }

    fn list(
        &mut self,
        id: NodeId,
        node: &Node,
        (items, value): (&[Value<'_>], Value<'_>),
        at: &Location<'_>,
    ) -> Checked<()> {
        let words = ("minItems", "maxItems", ["element", "elements"]);
        self.size(id, node.elements, (items.len() as u64, value), words, at);
        let prefix = node.rest.as_ref().map_or(&[][..], |rest| &rest.prefix);
        let followed = std::mem::take(&mut self.followed);
        for (index, item) in items.iter().enumerate() {
            match prefix.get(index).copied().or(node.items) {
                Some(schema) => self.value(schema, *item, &at.to(Step::Index(index)))?,
                None => break,
            }
        }
        self.followed = followed;
        Ok(())
    }

    fn object(
        &mut self,
        id: NodeId,
        node: &Node,
        (fields, value): (Fields<'_>, Value<'_>),
        at: &Location<'_>,
    ) -> Checked<()> {
        (self.spend)(node.required.len() as u64)?;
        let template = self.schema.draft == Draft::Template;
        for name in node.required.iter().filter(|name| !fields.has(name)) {
            self.missing(id, name, if template { Value::Undefined } else { value }, at);
        }
        let patterns = node.rest.as_ref().map_or(&[][..], |rest| &rest.patterns);
        let any = matches!(node.additional, Additional::Unsaid | Additional::Any);
        if node.properties.is_empty() && patterns.is_empty() && any {
            return Ok(());
        }
        (self.spend)(fields.len() as u64)?;
        let mut strangers = Vec::new();
        let followed = std::mem::take(&mut self.followed);
        for (name, member) in fields.iter() {
            let below = at.to(Step::Key(&*name));
            let known = if let Cow::Borrowed(name) = name { node.properties.get(name) } else { None };
            let mut declared = known.is_some();
            if let Some(schema) = known {
                self.value(*schema, member, &below)?;
            }
            for (pattern, schema) in patterns {
                if self.matches(pattern, &name)? {
                    declared = true;
                    self.value(*schema, member, &below)?;
                }
            }
            match node.additional {
                _ if declared => {}
                Additional::Schema(schema) => self.value(schema, member, &below)?,
                Additional::None if template => self.stranger(id, node, (&name, member), &below),
                Additional::None => strangers.push(name.into_owned()),
                Additional::Unsaid | Additional::Any => {}
            }
        }
        self.followed = followed;
        if !strangers.is_empty() {
            self.names(id, at, ("additionalProperties", "no other properties are allowed"), value, strangers);
        }
        Ok(())
    }

    /// Reports a missing property.
    pub(super) fn missing(&mut self, id: NodeId, name: &str, value: Value<'_>, at: &Location<'_>) {
        let words = || (format!("missing property `{name}`"), String::new());
        if let Some(violation) = self.report(id, at, "required", value, words) {
            violation.detail = Detail::Names(vec![name.to_owned()]);
        }
    }

    /// Reports names of properties, or elements, that are not allowed.
    pub(super) fn names(
        &mut self,
        id: NodeId,
        at: &Location<'_>,
        (keyword, expected): (&'static str, &str),
        value: Value<'_>,
        names: Vec<String>,
    ) {
        if let Some(violation) = self.report(id, at, keyword, value, || (expected.to_owned(), String::new())) {
            violation.detail = Detail::Names(names);
        }
    }

    /// Reports a property that is not allowed, with a suggestion.
    fn stranger(&mut self, id: NodeId, node: &Node, (name, value): (&str, Value<'_>), at: &Location<'_>) {
        let words = || ("unexpected property".to_owned(), String::new());
        let Some(violation) = self.report(id, at, "additionalProperties", value, words) else { return };
        let some =
            || node.properties.keys().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        violation.help = match node.nearest_property(name).filter(|_| name.len() <= SHOWN) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if node.properties.is_empty() => None,
            None => Some(format!("the properties are {}", some())),
        };
    }

    /// Runs a check without reporting, until the first violation. Returns `true` without one.
    pub(super) fn passes(&mut self, check: impl FnOnce(&mut Self) -> Checked<()>) -> Checked<bool> {
        let kept = (self.keep, self.count, self.stop);
        (self.keep, self.count, self.stop) = (0, 0, 1);
        let result = check(self);
        let passed = self.count == 0;
        (self.keep, self.count, self.stop) = kept;
        result.map(|()| passed)
    }

    /// Returns the first violation of a check, which is not reported itself.
    pub(super) fn first(&mut self, check: impl FnOnce(&mut Self) -> Checked<()>) -> Checked<Option<Violation>> {
        let (found, kept) = (std::mem::take(&mut self.found), (self.keep, self.count, self.stop));
        (self.keep, self.count, self.stop) = (1, 0, 1);
        let result = check(self);
        let first = std::mem::replace(&mut self.found, found).pop();
        (self.keep, self.count, self.stop) = kept;
        result.map(|()| first)
    }
}

/// Compares a value with data: numbers by value, maps regardless of order. Counts the steps.
pub(super) fn same(known: &Data, value: Value<'_>, steps: &mut u64) -> bool {
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
