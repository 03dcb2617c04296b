//! Keywords outside template values: schemas that apply to the same value, and assertions of documents.

use std::collections::HashMap;

use super::node::{Node, Rest};
use super::types::Fields;
use super::validate::{Check, Checked, same};
use super::violation::{Location, described, text_of};
use super::{Additional, Detail, NodeId, Number, Sizes, Violation};
use dropforge_base::stdlib::encodings::octets_of_base64;
use dropforge_value::{JsonStyle, Step, Text, Value, write_json};

impl Check<'_> {
    /// Validates the keywords outside template values.
    pub(super) fn rest(&mut self, id: NodeId, rest: &Rest, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        self.assertions(id, rest, value, at)?;
        let target = self.target(rest);
        let is_circular = target.is_some_and(|target| self.followed.contains(&target));
        // A reference that leads back to itself says nothing about a value. Go's validator refuses it.
        if is_circular && self.schema.of_go {
            self.report(id, at, "$ref", value, || ("the reference leads back to itself".to_owned(), String::new()));
        }
        if let Some(target) = target.filter(|_| !is_circular) {
            self.followed.push(target);
            self.value(target, value, at)?;
            self.followed.pop();
        }
        for schema in &rest.all_of {
            self.value(*schema, value, at)?;
        }
        for schema in dependents(rest, value) {
            self.value(schema, value, at)?;
        }
        if let Some(schema) = self.chosen(rest, value)? {
            self.value(schema, value, at)?;
        }
        self.alternatives(id, rest, value, at)?;
        self.unevaluated(id, rest, value, at)
    }

    /// Returns what a reference leads to on the way here: of a dynamic one the outermost resource decides.
    fn target(&self, rest: &Rest) -> Option<NodeId> {
        let targets = rest.dynamic.as_ref().and_then(|name| self.schema.dynamic.get(name));
        let outermost = targets.and_then(|targets| self.scope.iter().find_map(|resource| targets.get(resource)));
        outermost.copied().or(rest.reference)
    }

    fn assertions(&mut self, id: NodeId, rest: &Rest, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        if rest.never {
            self.report(id, at, "falseSchema", value, || ("expected no value".to_owned(), described(value)));
        }
        if let Some(constant) = &rest.constant {
            let mut steps = 0;
            let same = same(constant, value, &mut steps);
            (self.spend)(steps)?;
            if !same {
                self.fail(id, "const", value, at);
            }
        }
        if let (Some(factor), Some(number)) = (rest.multiple_of, Number::of_value(value))
            && !number.is_multiple_of(factor)
        {
            self.fail(id, "multipleOf", value, at);
        }
        match (value, Fields::of(value)) {
            (Value::Str(text), _) => self.string(id, rest, (text.as_str(), value), at),
            (Value::List(list), _) => self.elements(id, rest, (list.items(), value), at),
            (_, Some(fields)) => self.members(id, rest, (fields, value), at),
            _ => Ok(()),
        }
    }

    /// Reports a keyword that speaks for itself.
    fn fail(
        &mut self,
        id: NodeId,
        keyword: &'static str,
        value: Value<'_>,
        at: &Location<'_>,
    ) -> Option<&mut Violation> {
        let schema = self.schema;
        let node = schema.node(id);
        self.report(id, at, keyword, value, || (expected(node, keyword), described(value)))
    }

    fn string(&mut self, id: NodeId, rest: &Rest, (text, value): (&str, Value<'_>), at: &Location<'_>) -> Checked<()> {
        (self.spend)(text.len() as u64 / 8)?;
        if rest.format.as_ref().is_some_and(|format| !format.is_match(text)) {
            self.fail(id, "format", value, at);
        }
        let decoded = match rest.encoding.as_deref() {
            Some("base64") => octets_of_base64(text),
            _ => Some(text.as_bytes().to_vec()),
        };
        let Some(decoded) = decoded else {
            self.fail(id, "contentEncoding", value, at);
            return Ok(());
        };
        let json = rest.media_type.as_deref() == Some("application/json");
        if json && serde_json::from_slice::<serde::de::IgnoredAny>(&decoded).is_err() {
            self.fail(id, "contentMediaType", value, at);
        }
        Ok(())
    }

    fn elements(
        &mut self,
        id: NodeId,
        rest: &Rest,
        (items, value): (&[Value<'_>], Value<'_>),
        at: &Location<'_>,
    ) -> Checked<()> {
        if rest.unique
            && let Some((first, second)) = self.equal_items(items)?
            && let Some(violation) = self.fail(id, "uniqueItems", value, at)
        {
            violation.detail = Detail::Equal(first, second);
        }
        let Some(contains) = rest.contains else { return Ok(()) };
        let mut count = 0;
        for item in items {
            count += u64::from(self.fits_below(contains, *item)?);
        }
        let sizes = Sizes { least: rest.matching.least.or(Some(1)), ..rest.matching };
        if sizes.violated(count).is_some() {
            self.fail(id, "contains", value, at);
        }
        Ok(())
    }

    /// Returns the indexes of the first item that is equal to one before it, and of that one.
    fn equal_items(&mut self, items: &[Value<'_>]) -> Checked<Option<(usize, usize)>> {
        let mut seen = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let mut text = String::new();
            canonical(*item, &mut text);
            (self.spend)(1 + text.len() as u64 / 8)?;
            if let Some(first) = seen.insert(text, at) {
                return Ok(Some((first, at)));
            }
        }
        Ok(None)
    }

    fn members(
        &mut self,
        id: NodeId,
        rest: &Rest,
        (fields, value): (Fields<'_>, Value<'_>),
        at: &Location<'_>,
    ) -> Checked<()> {
        let words = ("minProperties", "maxProperties", ["property", "properties"]);
        self.size(id, rest.size, (fields.len() as u64, value), words, at);
        for (name, needed) in rest.dependent_names.iter().filter(|(name, _)| fields.has(name)) {
            (self.spend)(1 + name.len() as u64 / 8)?;
            needed.iter().filter(|name| !fields.has(name)).for_each(|name| self.missing(id, name, value, at));
        }
        let Some(names) = rest.names else { return Ok(()) };
        for (name, _) in fields.iter() {
            let text = Text::new(&name);
            let followed = std::mem::take(&mut self.followed);
            let violation = self.first(|check| check.value(names, Value::Str(&text), &Location::ROOT))?;
            self.followed = followed;
            let Some(violation) = violation else { continue };
            let words = || (format!("unexpected property name `{name}`"), String::new());
            if let Some(reported) = self.report(id, at, "propertyNames", value, words) {
                reported.detail = Detail::Name(Box::new(violation));
            }
        }
        Ok(())
    }

    fn alternatives(&mut self, id: NodeId, rest: &Rest, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        if !rest.any_of.is_empty() && self.fitting(&rest.any_of, value, 1)? == 0 {
            self.fail(id, "anyOf", value, at);
        }
        match if rest.one_of.is_empty() { 1 } else { self.fitting(&rest.one_of, value, 2)? } {
            0 => {
                self.fail(id, "oneOf", value, at);
            }
            1 => {}
            _ => {
                let words = || ("expected a value that fits only one schema of `oneOf`".to_owned(), described(value));
                if let Some(violation) = self.report(id, at, "oneOf", value, words) {
                    violation.detail = Detail::Several;
                }
            }
        }
        if let Some(schema) = rest.not
            && self.fits(schema, value)?
        {
            self.fail(id, "not", value, at);
        }
        Ok(())
    }

    /// Returns the schema of `then` or `else` that applies.
    fn chosen(&mut self, rest: &Rest, value: Value<'_>) -> Checked<Option<NodeId>> {
        Ok(match rest.condition {
            Some(condition) if rest.then.or(rest.otherwise).is_some() => match self.fits(condition, value)? {
                true => rest.then,
                false => rest.otherwise,
            },
            _ => None,
        })
    }

    /// Returns `true` if the current value fits a schema, without reporting.
    fn fits(&mut self, schema: NodeId, value: Value<'_>) -> Checked<bool> {
        self.passes(|check| check.value(schema, value, &Location::ROOT))
    }

    /// Returns the number of schemas that the value matches, at most `most`.
    fn fitting(&mut self, schemas: &[NodeId], value: Value<'_>, most: usize) -> Checked<usize> {
        let mut count = 0;
        for schema in schemas {
            count += usize::from(self.fits(*schema, value)?);
            if count == most {
                break;
            }
        }
        Ok(count)
    }

    /// Validates parts that no other keyword has evaluated.
    fn unevaluated(&mut self, id: NodeId, rest: &Rest, value: Value<'_>, at: &Location<'_>) -> Checked<()> {
        let mut left = Vec::new();
        if let (Some(schema), Value::List(list)) = (rest.unevaluated_items, value) {
            for (index, item) in list.items().iter().enumerate() {
                if !self.evaluates(id, value, Step::Index(index), true)? && !self.fits_below(schema, *item)? {
                    left.push(compact(*item));
                }
            }
        }
        if let (Some(schema), Some(fields)) = (rest.unevaluated_properties, Fields::of(value)) {
            for (name, member) in fields.iter() {
                let step = Step::Key(&*name);
                if !self.evaluates(id, value, step, true)? && !self.fits_below(schema, member)? {
                    left.push(name.into_owned());
                }
            }
        }
        if !left.is_empty() {
            let keyword = if matches!(value, Value::List(_)) { "unevaluatedItems" } else { "unevaluatedProperties" };
            self.names(id, at, (keyword, "no other values are allowed"), value, left);
        }
        Ok(())
    }

    /// Returns `true` if a part of the value fits a schema, without reporting.
    fn fits_below(&mut self, schema: NodeId, value: Value<'_>) -> Checked<bool> {
        let followed = std::mem::take(&mut self.followed);
        let fits = self.fits(schema, value);
        self.followed = followed;
        fits
    }

    /// Returns `true` if a schema, which the value fits, evaluates the part of the value at `step`. At the `top` its
    /// unevaluated parts do not count.
    fn evaluates(&mut self, id: NodeId, value: Value<'_>, step: Step<&str>, top: bool) -> Checked<bool> {
        (self.spend)(1)?;
        let schema = self.schema;
        let Some(node) = schema.node(id) else { return Ok(false) };
        let rest = node.rest.as_deref();
        let own = match step {
            Step::Index(index) => {
                let any = node.items.is_some() || (!top && rest.is_some_and(|rest| rest.unevaluated_items.is_some()));
                let item = value.as_list().and_then(|items| items.get(index));
                let contained = match (rest.and_then(|rest| rest.contains), item) {
                    (Some(contains), Some(item)) => self.fits_below(contains, *item)?,
                    _ => false,
                };
                any || contained || rest.is_some_and(|rest| index < rest.prefix.len())
            }
            Step::Key(name) => {
                let any = !matches!(node.additional, Additional::Unsaid)
                    || (!top && rest.is_some_and(|rest| rest.unevaluated_properties.is_some()));
                let mut found = any || node.properties.contains_key(name);
                for (pattern, _) in rest.map_or(&[][..], |rest| &rest.patterns) {
                    found = found || self.matches(pattern, name)?;
                }
                found
            }
        };
        match rest {
            Some(rest) if !own => self.applied_evaluates(rest, value, step),
            _ => Ok(own),
        }
    }

    /// Returns the same for the schemas that apply to the same value.
    fn applied_evaluates(&mut self, rest: &Rest, value: Value<'_>, step: Step<&str>) -> Checked<bool> {
        if let Some(target) = self.target(rest).filter(|target| !self.followed.contains(target)) {
            self.followed.push(target);
            let found = self.evaluates(target, value, step, false)?;
            self.followed.pop();
            if found {
                return Ok(true);
            }
        }
        let chosen = self.chosen(rest, value)?;
        for schema in rest.all_of.iter().copied().chain(dependents(rest, value)).chain(chosen) {
            if self.evaluates(schema, value, step, false)? {
                return Ok(true);
            }
        }
        let perhaps = rest.any_of.iter().chain(&rest.one_of).chain(&rest.condition);
        for schema in perhaps {
            if self.evaluates(*schema, value, step, false)? && self.fits(*schema, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Describes the values that a keyword of `node` accepts.
fn expected(node: Option<&Node>, keyword: &str) -> String {
    let limit = || node.and_then(|node| node.limit(keyword)).as_ref().map(text_of).unwrap_or_default();
    match keyword {
        "const" => format!("expected {}", limit()),
        "multipleOf" => format!("expected a multiple of {}", limit()),
        "uniqueItems" => "expected items that are all different".to_owned(),
        "contains" => "expected items that fit `contains`".to_owned(),
        "not" => "expected a value that does not fit `not`".to_owned(),
        "anyOf" | "oneOf" => format!("expected a value that fits a schema of `{keyword}`"),
        _ => format!("expected a string that fits `{keyword}`"),
    }
}

/// Returns the schemas that depend on the presence of a property.
fn dependents(rest: &Rest, value: Value<'_>) -> impl Iterator<Item = NodeId> {
    let fields = if rest.dependent_schemas.is_empty() { None } else { Fields::of(value) };
    let present = move |name: &str| fields.is_some_and(|fields| fields.has(name));
    rest.dependent_schemas.iter().filter(move |(name, _)| present(name)).map(|(_, schema)| *schema)
}

/// Returns a value as JSON in full.
fn compact(value: Value<'_>) -> String {
    let mut text = String::new();
    let _ = write_json(value, JsonStyle::Compact, &mut text, &mut Ok::<_, ()>);
    text
}

/// Appends a text that is the same for equal values: numbers by value, maps regardless of order.
fn canonical(value: Value<'_>, text: &mut String) {
    match value {
        Value::Float(n) if n.fract() == 0.0 => text.push_str(&format!("{:.0}", n + 0.0)),
        Value::List(list) => {
            text.push('[');
            for item in list.items() {
                canonical(*item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push('{');
            for (name, value) in map.iter_sorted() {
                text.push_str(&compact(Value::Str(&Text::new(name))));
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        scalar => text.push_str(&compact(scalar)),
    }
}
