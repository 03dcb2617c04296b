//! The identity of values: which argument of a call a result, or a member of it, is.

use super::event::{Detail, Edge, Member};
use dropforge_value::assign::Step;
use dropforge_value::{Extended, Value};

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

/// Calls `each` with the first members of a list or map.
fn each_member<'v>(value: Value<'v>, each: &mut dyn FnMut(Step, Value<'v>)) {
    match value.unwritten() {
        Value::List(list) => {
            (0..).zip(list.items()).take(MEMBERS).for_each(|(at, item)| each(Step::Index(at), *item));
        }
        Value::Map(map) => {
            map.iter().take(MEMBERS).for_each(|(key, member)| each(Step::Key(key.to_owned()), member));
        }
        _ => {}
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
