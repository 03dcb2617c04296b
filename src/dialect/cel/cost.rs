//! What evaluating costs, by the constants of the reference: the same of the estimate that is made before anything runs
//! and of what a run is metered by.
//!
//! A name, a select or a call costs 1, a constant nothing, making a list 10, a map 30. What depends on sizes, a [`Rule`]
//! says: it looks at the values when they are there. Its number stands in programs.

use crate::diagnostics::Result;
use crate::function::Cx;
use crate::value::{Extended, Value};

use super::values::{as_bytes, as_optional};

/// What a name, a select or a call costs.
pub const STEP: u64 = 1;
/// What making a list costs.
pub const LIST: u64 = 10;
/// What making a map costs.
pub const MAP: u64 = 30;
/// What making a message costs.
pub const MESSAGE: u64 = 40;
/// What going through a text costs for each character.
pub const CHARACTER: f64 = 0.1;
/// What a pattern costs for each of its characters.
pub const PATTERN: f64 = 0.25;

/// `n` times `factor`, rounded up; a float beyond the range becomes the largest number.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn scaled(n: u64, factor: f64) -> u64 {
    (n as f64 * factor).ceil() as u64
}

/// What going through a text of `n` characters costs.
fn text(n: u64) -> u64 {
    scaled(n, CHARACTER)
}

macro_rules! rules {
    ($($rule:ident $doc:literal;)*) => {
        /// What a step costs by the sizes of its values.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Rule { $(#[doc = $doc] $rule,)* }

        const RULES: &[Rule] = &[$(Rule::$rule),*];
    };
}

rules! {
    Answer "The size of the topmost value.";
    Present "1 where the topmost value is an optional that holds something.";
    Field "1 unless the topmost value is an optional: of that, a field costs only where it is.";
    FieldOf "1 where the topmost value is an optional, and what was found in it, below, holds something.";
    First "Going through the first text.";
    Elements "The size of the second value.";
    Least "Going through the smaller of two values.";
    Both "Going through both values.";
    Matching "Trying the second value, a pattern, at each place of the first.";
    Containing "Trying the second value at each place of the first.";
    Flattening "The size of the first value for each level, of which the second says how many.";
    Comparing "Comparing each element of the first value with each.";
    ComparingSecond "Comparing each element of the second value with each.";
    Pairs "Each element of the first value with each of the second.";
    PairsTwice "The same twice.";
    Searching "Searching the first value for the second, a pattern, and the call; rounded up.";
    Replacing "The same, rounded down.";
    Finding "Trying the second text at each place of the first, beginning with nothing.";
    FindingAll "The same of texts that count for one character at least.";
    Splitting "Going through the first value and one more.";
}

impl Rule {
    /// The rule with this number.
    pub fn of(number: u32) -> Option<Self> {
        RULES.get(number as usize).copied()
    }

    /// What a step with these values costs.
    fn cost<'v>(self, cx: &Cx<'v>, values: &[Value<'v>]) -> Result<u64> {
        let value = |nth: usize| values.get(nth).copied().unwrap_or_default();
        let size = |nth: usize| size(cx, value(nth));
        let last = values.last().copied().unwrap_or_default();
        Ok(match self {
            Rule::Answer => size(values.len().saturating_sub(1))?,
            Rule::Present => u64::from(holds(last)),
            Rule::Field => u64::from(as_optional(last).is_none()),
            Rule::FieldOf => u64::from(as_optional(last).is_some() && holds(value(0))),
            Rule::First => text(size(0)?),
            Rule::Elements => size(1)?,
            Rule::Least => text(unwrapped(cx, value(0))?.min(unwrapped(cx, value(1))?)),
            Rule::Both => text(size(0)?.saturating_add(size(1)?)),
            Rule::Matching => text(size(0)?.saturating_add(1)).saturating_mul(scaled(size(1)?, PATTERN)),
            Rule::Containing => text(size(0)?).saturating_mul(text(size(1)?)),
            Rule::Flattening => flattening(size(0)?, values.get(1).copied()),
            Rule::Comparing => comparing(size(0)?, value(0)),
            Rule::ComparingSecond => comparing(size(1)?, value(1)),
            Rule::Pairs => size(0)?.saturating_mul(size(1)?),
            Rule::PairsTwice => size(0)?.saturating_mul(size(1)?).saturating_mul(2),
            Rule::Searching => whole(search(size(0)?, size(1)?).ceil()),
            Rule::Replacing => whole(search(size(0)?, size(1)?)),
            Rule::Finding => text(size(0)?.saturating_mul(size(1)?)),
            Rule::FindingAll => text(size(0)?.max(1).saturating_mul(size(1)?.max(1))),
            Rule::Splitting => text(size(0)?.saturating_add(1)),
        })
    }
}

/// What a step with these values costs by the rule with this number.
///
/// # Errors
/// Counting the characters of long texts takes steps.
pub fn measure<'v>(cx: &Cx<'v>, rule: u32, values: &[Value<'v>]) -> Result<u64> {
    Rule::of(rule).map_or(Ok(STEP), |rule| rule.cost(cx, values))
}

/// Whether a value is an optional that holds something.
fn holds(value: Value<'_>) -> bool {
    as_optional(value).is_some_and(|held| !held.is_undefined())
}

/// The size of a value: of a text its characters, of a list or map its elements; of any other value 1, also of one that
/// is not there because of an error.
fn size<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<u64> {
    Ok(match (value, value.extended()) {
        (Value::Str(text), _) => {
            let text = text.as_str();
            cx.spend(text.len() as u64 / 64)?;
            text.chars().count() as u64
        }
        (Value::List(list), _) => list.items().len() as u64,
        (Value::Map(map), _) => map.len() as u64,
        (_, Some(Extended::Entries(entries))) => entries.keys().len() as u64,
        _ => as_bytes(value).map_or(1, |bytes| bytes.len() as u64),
    })
}

/// The same; of an optional the size of what it holds.
fn unwrapped<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<u64> {
    match as_optional(value) {
        Some(held) if !held.is_undefined() => unwrapped(cx, held),
        _ => size(cx, value),
    }
}

/// A list of so many elements made flat; a depth that is no number costs nothing.
fn flattening(elements: u64, depth: Option<Value<'_>>) -> u64 {
    let depth = match depth {
        None => 1,
        Some(Value::Int(depth)) => u64::try_from(depth).unwrap_or(0),
        Some(_) => return 0,
    };
    elements.saturating_mul(depth).saturating_add(STEP + LIST)
}

/// Each of so many elements of a list with each; texts are gone through.
#[allow(clippy::cast_precision_loss)]
fn comparing(elements: u64, list: Value<'_>) -> u64 {
    let first = list.as_list().and_then(|items| items.first()).copied().unwrap_or_default();
    let is_text = first.as_str().is_some() || as_bytes(first).is_some();
    let each = if is_text { 2.0 + CHARACTER } else { 2.0 };
    whole(elements.saturating_mul(elements) as f64 * each)
}

#[allow(clippy::cast_precision_loss)]
fn search(searched: u64, pattern: u64) -> f64 {
    let one_more = |n: u64| n.saturating_add(1) as f64;
    // The call is added before anything is rounded, as the reference does: floats are not quite what they are.
    1.0 + one_more(searched) * CHARACTER * (one_more(pattern) * PATTERN)
}

/// The whole part, at most the largest number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(cost: f64) -> u64 {
    cost as u64
}

/// What a call costs beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// What it costs in any case.
    pub fixed: u64,
    /// What it costs by its arguments.
    pub arguments: Option<Rule>,
    /// Whether the size of its answer is added.
    pub answer: bool,
}

impl Price {
    /// What a call costs that costs nothing else.
    pub const CALL: Self = Self { fixed: STEP, arguments: None, answer: false };

    /// What comparing two values for equality costs.
    pub const EQUALITY: Self = Self::by(0, Rule::Least);

    const fn by(fixed: u64, rule: Rule) -> Self {
        Self { fixed, arguments: Some(rule), answer: false }
    }

    /// The same, and the size of the answer.
    const fn made(self) -> Self {
        Self { answer: true, ..self }
    }

    /// What a call of an overload costs.
    pub fn of(overload: &str) -> Self {
        match overload {
            "equals" | "not_equals" => Self::EQUALITY,
            // Of a prefix the reference goes through the whole text, whatever it estimates.
            "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" | "starts_with_string"
            | "ends_with_string" => Self::by(0, Rule::First),
            "in_list" => Self::by(0, Rule::Elements),
            "add_string" | "add_bytes" => Self::by(0, Rule::Both),
            "matches" | "matches_string" => Self::by(0, Rule::Matching),
            "contains_string" => Self::by(0, Rule::Containing),
            "list_slice" | "lists_range" | "list_reverse" => Self { fixed: STEP + LIST, arguments: None, answer: true },
            "list_flatten" | "list_flatten_int" => Self::by(0, Rule::Flattening),
            "list_distinct" => Self::by(STEP + LIST, Rule::Comparing),
            "list_sets_contains_list" | "list_sets_intersects_list" => Self::by(STEP, Rule::Pairs),
            "list_sets_equivalent_list" => Self::by(STEP, Rule::PairsTwice),
            overload => Self::of_text(overload),
        }
    }

    fn of_text(overload: &str) -> Self {
        match overload {
            "string_char_at_int" => Self::by(2 * STEP, Rule::First),
            "string_lower_ascii"
            | "string_upper_ascii"
            | "string_reverse"
            | "string_trim"
            | "string_substring_int"
            | "string_substring_int_int" => Self::by(STEP, Rule::First).made(),
            "string_index_of_string"
            | "string_index_of_string_int"
            | "string_last_index_of_string"
            | "string_last_index_of_string_int" => Self::by(STEP, Rule::Finding),
            "string_replace_string_string" | "string_replace_string_string_int" => {
                Self::by(STEP, Rule::FindingAll).made()
            }
            "string_split_string" | "string_split_string_int" => Self::by(STEP + LIST, Rule::Splitting).made(),
            "list_join" | "list_join_string" => Self::by(STEP, Rule::Splitting).made(),
            "regex_extract_string_string" => Self::by(STEP, Rule::Searching),
            "regex_extractAll_string_string" => Self::by(LIST, Rule::Searching).made(),
            "regex_replace_string_string_string" | "regex_replace_string_string_string_int" => {
                Self::by(0, Rule::Replacing).made()
            }
            overload => Self::of_pattern(overload),
        }
    }

    /// Of sorts there is an overload for each type of elements; of comparisons for each type of operands.
    fn of_pattern(overload: &str) -> Self {
        let orders = ["less_", "greater_", "less_equals_", "greater_equals_"];
        let compares = |order: &&str| matches!(overload.strip_prefix(*order), Some("string" | "bytes"));
        match overload.strip_prefix("list_") {
            Some(sorts) if sorts.ends_with("_sort") => Self::by(STEP + LIST, Rule::Comparing),
            Some(sorts) if sorts.ends_with("_sortByAssociatedKeys") => Self::by(STEP + LIST, Rule::ComparingSecond),
            _ if orders.iter().any(compares) => Self::EQUALITY,
            _ => Self::CALL,
        }
    }
}
