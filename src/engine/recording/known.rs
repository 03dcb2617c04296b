//! The identity of values: which argument of a call a result, or a member of it, is.

use std::sync::Arc;

use super::Recording;
use super::event::{Detail, Edge, Event, Member, Part};
use super::flow::Flow;
use dropforge_base::text::{Source, Span};
use dropforge_value::{Extended, Step, Value};

/// Maximum number of members of a value that are looked at.
const MEMBERS: usize = 64;

/// The identity of a value. The same scalar may be two values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Scalar(u64, u64),
    At(usize),
}

impl Token {
    fn of(value: Value<'_>) -> Option<Self> {
        let at = |address: usize| Some(Token::At(address));
        match value {
            Value::Undefined | Value::Null => None,
            Value::Bool(truth) => Some(Token::Scalar(0, truth.into())),
            Value::Int(n) => Some(Token::Scalar(1, n.cast_unsigned())),
            Value::Uint(n) => Some(Token::Scalar(2, n)),
            Value::Float(n) => Some(Token::Scalar(3, n.to_bits())),
            Value::Str(text) => at(text.as_str().as_ptr().addr()),
            Value::List(list) => at(std::ptr::from_ref(list).addr()),
            Value::Map(map) => at(std::ptr::from_ref(map).addr()),
            Value::Extended(rare) => at(std::ptr::from_ref(rare).addr()),
        }
    }

    fn is_address(&self) -> bool {
        matches!(self, Token::At(_))
    }
}

/// An argument, or a member of one.
#[derive(Debug)]
struct Given {
    token: Token,
    from: Edge,
    within: Option<Step>,
}

/// The arguments of a call and their members.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    given: Vec<Given>,
    count: usize,
    /// `true` if one of them is a list or map.
    pub structured: bool,
}

impl Arguments {
    /// Takes note of arguments and where they come from.
    pub fn of(values: &[Value<'_>], edges: &[Edge]) -> Self {
        let mut arguments = Self { count: values.len(), ..Self::default() };
        for (value, from) in values.iter().zip(edges) {
            let mut add = |value: Value<'_>, within: Option<Step>| {
                let token = Token::of(value);
                arguments.given.extend(token.map(|token| Given { token, from: *from, within }));
            };
            add(*value, None);
            each_member(*value, &mut |step, member| add(member, Some(step)));
            arguments.structured |= is_structured(*value);
        }
        arguments
    }

    /// Works like [`Arguments::of`] for a value whose members do not matter.
    pub fn of_one(value: Option<&Value<'_>>, from: Option<&Edge>) -> Self {
        let token = value.and_then(|value| Token::of(*value));
        let given = token.zip(from).map(|(token, from)| Given { token, from: *from, within: None });
        Self { given: given.into_iter().collect(), count: 1, structured: false }
    }

    /// Returns what is known of a result.
    pub fn detail(&self, result: Value<'_>) -> Detail {
        // Of one argument, an equal scalar is the argument.
        let same = Token::of(result).filter(|token| self.count == 1 || token.is_address());
        if let Some(given) = same.and_then(|token| self.given.iter().find(|given| given.token == token)) {
            return Detail::Same(given.from, given.within.clone());
        }
        let mut members = Vec::new();
        each_member(result, &mut |step, member| {
            let found = Token::of(member).and_then(|token| self.find(token, &step));
            members.extend(found.map(|given| Member { step, from: given.from, within: given.within.clone() }));
        });
        if members.is_empty() { Detail::None } else { Detail::Members(members) }
    }

    /// Finds the origin of a member: the member of an argument with the same key, or else any.
    fn find(&self, token: Token, step: &Step) -> Option<&Given> {
        let mut equal = self.given.iter().filter(|given| given.token == token);
        equal.clone().find(|given| given.within.as_ref() == Some(step)).or_else(|| equal.find(|_| token.is_address()))
    }
}

/// Returns `true` for a list or map.
fn is_structured(value: Value<'_>) -> bool {
    matches!(value.unwritten(), Value::List(_) | Value::Map(_))
        || matches!(value.extended(), Some(Extended::Entries(_) | Extended::Typed(..)))
}

/// Returns the steps to the members of a map.
pub(super) fn members_of(map: Value<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    match (map.unwritten(), map.unwritten().extended()) {
        (Value::Map(map), _) => steps.extend(map.iter().map(|(key, _)| Step::Key(key.to_owned()))),
        (_, Some(Extended::Entries(entries))) => steps.extend(entries.iter().filter_map(|(key, _)| step_of(key))),
        _ => {}
    }
    steps
}

/// Calls `each` with the first members of a list or map. Returns `true` if these are all.
pub(super) fn each_member<'v>(value: Value<'v>, each: &mut dyn FnMut(Step, Value<'v>)) -> bool {
    match value.unwritten() {
        Value::List(list) => {
            (0..).zip(list.items()).take(MEMBERS).for_each(|(at, item)| each(Step::Index(at), *item));
            list.items().len() <= MEMBERS
        }
        Value::Map(map) => {
            map.iter().take(MEMBERS).for_each(|(key, member)| each(Step::Key(key.to_owned()), member));
            map.len() <= MEMBERS
        }
        _ => true,
    }
}

/// Returns the step to the member with this key or index.
pub(super) fn step_of(key: Value<'_>) -> Option<Step> {
    match key {
        Value::Int(at) => usize::try_from(at).ok().map(Step::Index),
        Value::Uint(at) => usize::try_from(at).ok().map(Step::Index),
        Value::Bool(key) => Some(Step::Key(key.to_string())),
        key => key.as_str().map(|key| Step::Key(key.to_owned())),
    }
}

/// Maximum number of values.
const VALUES: usize = 20_000;

/// A value that was written, or that became a part of a document.
#[derive(Debug, Clone)]
pub struct ShownValue {
    /// The source of the expression.
    pub source: Arc<Source>,
    /// The span of the expression.
    pub span: Span,
    /// The text that it wrote, or an excerpt of a value in a document.
    pub text: String,
    /// The inputs that flowed into it.
    pub inputs: Vec<Flow>,
}

impl Recording {
    /// Returns the values of the expressions that wrote output, in the order of the run. For documents, returns the values of
    /// all expressions that ran.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::{Arena, Inputs, Value};
    /// use dropforge::Session;
    /// let template = Engine::new().compile(Dialect::Tera, "t", "a: {{ x }}, {{ x + 1 }}")?;
    /// let arena = Arena::new();
    /// let inputs = Inputs::new(arena.map(&[("x", Value::Int(1))]));
    /// let (recording, _) = template.record(&mut Session::new(), inputs);
    /// let values: Vec<_> = recording.values().into_iter().map(|one| (one.source.slice(one.span).to_owned(), one.text)).collect();
    /// assert_eq!(values, [("x".to_owned(), "1".to_owned()), ("x + 1".to_owned(), "2".to_owned())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values(&self) -> Vec<ShownValue> {
        if self.parts.is_empty() {
            return self
                .events
                .iter()
                .enumerate()
                .filter_map(|(at, event)| self.computed(at, event))
                .take(VALUES)
                .collect();
        }
        let ends = self.parts.iter().skip(1).map(|part| part.start).chain([self.text.len()]);
        self.parts.iter().zip(ends).filter_map(|(part, end)| self.written(*part, end)).take(VALUES).collect()
    }

    /// Returns the values that variables were set to, in the order of the run.
    pub fn assigned(&self) -> Vec<ShownValue> {
        let found = self.assigned.iter().filter_map(|number| self.computed(*number as usize, self.event(*number)?));
        found.take(VALUES).collect()
    }

    fn written(&self, part: Part, end: usize) -> Option<ShownValue> {
        let event = self.event(part.event)?;
        // Some instructions write text before a value.
        let text = self.program(event.unit)?.text_written(event.at).map_or(0, |(text, _)| text.len());
        let value = self.text.get(part.start + text..end)?;
        if value.is_empty() && text > 0 {
            return None;
        }
        let (source, span) = self.place(event, text)?;
        let inputs = self.flows_of(part.event);
        Some(ShownValue { source, span, text: value.to_owned(), inputs })
    }

    fn computed(&self, number: usize, event: &Event) -> Option<ShownValue> {
        let text = event.shown.as_deref()?.to_owned();
        let (source, span) = self.place(event, 0)?;
        let inputs = self.flows_of(number as u32);
        Some(ShownValue { source, span, text, inputs })
    }
}

#[cfg(all(test, feature = "tera"))]
mod tests {
    use crate::{Dialect, Engine};
    use dropforge_machine::vm::Session;
    use dropforge_value::{Arena, Inputs, Value};

    #[test]
    fn variables_have_values_that_are_written_nowhere() {
        let source = "{% set y = x ~ 'b' %}{% set z = x %}{% for i in [1] %}{% set y = i + 1 %}{% endfor %}a";
        let template = Engine::new().compile(Dialect::Tera, "t", source).unwrap();
        let arena = Arena::new();
        let inputs = Inputs::new(arena.map(&[("x", arena.text("a"))]));
        let (recording, _) = template.record(&mut Session::new(), inputs);
        let values: Vec<_> =
            recording.assigned().into_iter().map(|one| (one.source.slice(one.span).to_owned(), one.text)).collect();
        let wanted = [("x ~ 'b'", "`\"ab\"`"), ("x", "`\"a\"`"), ("i + 1", "`2`")];
        assert_eq!(values, wanted.map(|(place, text)| (place.to_owned(), text.to_owned())));
    }

    #[test]
    fn the_text_before_an_error_is_no_value() {
        let template = Engine::new().compile(Dialect::Tera, "t", "name: {{ x }}\nimage: {{ y.tag }}").unwrap();
        let arena = Arena::new();
        let inputs = Inputs::new(arena.map(&[("x", Value::Int(1))]));
        let (recording, result) = template.record(&mut Session::new(), inputs);
        assert!(result.is_err());
        let values: Vec<_> = recording.values().into_iter().map(|one| one.text).collect();
        assert_eq!(values, ["1"]);
    }
}
