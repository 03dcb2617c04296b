//! The cost of evaluation, by the constants of the reference. The static estimate and metered programs share them.
//!
//! A name, a selection or a call costs 1, a literal 0, a list constructor 10, a map constructor 30. A [`Price`] is the cost
//! of a call, and a [`Rule`] the part of it that depends on sizes.

use crate::values::access::size_if_any;
use crate::values::{as_bytes, as_optional};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

/// The cost of a name, a selection or a call.
pub const STEP: u64 = 1;
/// The cost of a list constructor.
pub const LIST: u64 = 10;
/// The cost of a map constructor.
pub const MAP: u64 = 30;
/// The cost of a message constructor.
pub const MESSAGE: u64 = 40;
/// The cost of reading one character.
pub const CHARACTER: f64 = 0.1;
/// The cost of one character of a regular expression.
pub const PATTERN: f64 = 0.25;

/// The cost of a call, without its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// The fixed cost.
    pub fixed: u64,
    /// The rule for the cost that depends on the arguments.
    pub arguments: Option<Rule>,
    /// Set if the size of the result is added.
    pub result: bool,
}

impl Price {
    /// The price of an ordinary call.
    pub const CALL: Self = Self { fixed: STEP, arguments: None, result: false };

    /// The price of a comparison of two values.
    pub const EQUALITY: Self = Self::by(0, Rule::Least);

    const fn by(fixed: u64, rule: Rule) -> Self {
        Self { fixed, arguments: Some(rule), result: false }
    }

    /// Adds the size of the result.
    const fn with_result(self) -> Self {
        Self { result: true, ..self }
    }

    /// Returns the price of an overload.
    pub fn of(overload: &str) -> Self {
        match overload {
            "equals" | "not_equals" => Self::EQUALITY,
            "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => Self::by(0, Rule::First),
            "starts_with_string" | "ends_with_string" => Self::by(0, Rule::Prefix),
            "in_list" => Self::by(0, Rule::Elements),
            "add_string" | "add_bytes" => Self::by(0, Rule::Both),
            "matches" | "matches_string" => Self::by(0, Rule::Matching),
            "contains_string" => Self::by(0, Rule::Containing),
            "list_slice" | "lists_range" | "list_reverse" => Self { fixed: STEP + LIST, ..Self::CALL }.with_result(),
            "list_flatten" | "list_flatten_int" => Self::by(0, Rule::Flattening),
            "list_distinct" => Self::by(STEP + LIST, Rule::Comparing),
            "list_sets_contains_list" | "list_sets_intersects_list" => Self::by(STEP, Rule::Pairs),
            "list_sets_equivalent_list" => Self::by(STEP, Rule::PairsTwice),
            overload => Self::of_string_function(overload),
        }
    }

    fn of_string_function(overload: &str) -> Self {
        match overload {
            "string_char_at_int" => Self::by(2 * STEP, Rule::First),
            "string_lower_ascii"
            | "string_upper_ascii"
            | "string_reverse"
            | "string_trim"
            | "string_substring_int"
            | "string_substring_int_int" => Self::by(STEP, Rule::First).with_result(),
            "string_index_of_string"
            | "string_index_of_string_int"
            | "string_last_index_of_string"
            | "string_last_index_of_string_int" => Self::by(STEP, Rule::Finding),
            "string_replace_string_string" | "string_replace_string_string_int" => {
                Self::by(STEP, Rule::FindingAll).with_result()
            }
            "string_split_string" | "string_split_string_int" => Self::by(STEP + LIST, Rule::OneMore).with_result(),
            "list_join" | "list_join_string" => Self::by(STEP, Rule::OneMore).with_result(),
            "regex_extract_string_string" => Self::by(STEP, Rule::Searching),
            "regex_extractAll_string_string" => Self::by(LIST, Rule::Searching).with_result(),
            "regex_replace_string_string_string" | "regex_replace_string_string_string_int" => {
                Self::by(0, Rule::Replacing).with_result()
            }
            overload => Self::of_family(overload),
        }
    }

    /// Sorts have an overload for each type of elements, comparisons for each type of operands.
    fn of_family(overload: &str) -> Self {
        let orders = ["less_", "greater_", "less_equals_", "greater_equals_"];
        let compares = |order: &&str| matches!(overload.strip_prefix(*order), Some("string" | "bytes"));
        match overload.strip_prefix("list_") {
            Some(sort) if sort.ends_with("_sort") => Self::by(STEP + LIST, Rule::Comparing),
            Some(sort) if sort.ends_with("_sortByAssociatedKeys") => Self::by(STEP + LIST, Rule::ComparingSecond),
            _ if orders.iter().any(compares) => Self::EQUALITY,
            _ => Self::CALL,
        }
    }
}

macro_rules! rules {
    ($($rule:ident $doc:literal;)*) => {
        /// A cost that depends on the sizes of values. Programs refer to it by number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Rule { $(#[doc = $doc] $rule,)* }

        const RULES: &[Rule] = &[$(Rule::$rule),*];
    };
}

rules! {
    Result "The size of the top value.";
    Present "1 if the top value is an optional that holds a value.";
    Field "1 unless the top value is an optional. An optional pays for a field only if it exists.";
    FieldOf "1 if the top value is an optional, and the field found in it, below, holds a value.";
    First "Reading the first string.";
    Elements "The size of the second value.";
    Least "Reading the smaller of two values.";
    Both "Reading both values.";
    Matching "Matching the second value, a regular expression, at each position of the first.";
    Containing "Comparing the second value at each position of the first.";
    Flattening "The size of the first value for each level of depth, which is the second value.";
    Comparing "Comparing each element of the first value with each.";
    ComparingSecond "Comparing each element of the second value with each.";
    Pairs "Comparing each element of the first value with each of the second.";
    PairsTwice "The same, twice.";
    Searching "Searching the first value for the second, a regular expression, and the call; rounded up.";
    Replacing "The same, rounded down.";
    Finding "Comparing the second string at each position of the first; nothing if the first is empty.";
    FindingAll "The same, where an empty string counts as one character.";
    Prefix "Reading the first string. The estimate reads the second.";
    OneMore "Reading the first value and one more character.";
}

/// Returns the cost of reading a text of this size.
fn text(size: Range) -> Range {
    size.scaled(CHARACTER)
}

impl Rule {
    /// Returns the rule with this number.
    pub fn of(number: u32) -> Option<Self> {
        RULES.get(number as usize).copied()
    }

    /// Estimates the cost from the sizes of values. A comparison of two elements costs `each`.
    ///
    /// # Errors
    /// Those of `size`.
    pub fn estimate<E>(
        self,
        each: f64,
        size: impl Fn(usize) -> std::result::Result<Range, E>,
    ) -> std::result::Result<Range, E> {
        Ok(match self {
            Rule::Result | Rule::Present | Rule::Field | Rule::FieldOf => Range::fixed(STEP),
            Rule::First => text(size(0)?),
            Rule::OneMore => text(size(0)?.plus(Range::fixed(1))),
            Rule::Prefix => text(size(1)?),
            Rule::Elements => size(1)?,
            Rule::Least => {
                let most = size(0)?.max.min(size(1)?.max);
                text(Range::new(most.min(1), most))
            }
            Rule::Both => text(size(0)?.plus(size(1)?)),
            Rule::Matching => text(size(0)?.plus(Range::fixed(1))).times(size(1)?.scaled(PATTERN)),
            Rule::Containing => text(size(0)?).times(text(size(1)?)),
            Rule::Flattening => size(0)?.times(size(1)?).plus(Range::fixed(STEP + LIST)),
            Rule::Comparing => size(0)?.times(size(0)?).scaled(each),
            Rule::ComparingSecond => size(1)?.times(size(1)?).scaled(each),
            Rule::Pairs => size(0)?.times(size(1)?),
            Rule::PairsTwice => size(0)?.times(size(1)?).times(Range::fixed(2)),
            Rule::Searching | Rule::Replacing => {
                let one_more = |size: Range| size.plus(Range::fixed(1));
                text(one_more(size(0)?)).times(one_more(size(1)?).scaled(PATTERN))
            }
            Rule::Finding => text(size(0)?.times(size(1)?)),
            Rule::FindingAll => text(size(0)?.at_least(1).times(size(1)?.at_least(1))),
        })
    }

    /// Returns the cost of a step with these values.
    fn cost<'v>(self, cx: &Cx<'v>, values: &[Value<'v>]) -> Result<u64> {
        let value = |nth: usize| values.get(nth).copied().unwrap_or_default();
        let last = values.last().copied().unwrap_or_default();
        let size = |nth: usize| size(cx, value(nth)).map(Range::fixed);
        let cost = |rule: Self| rule.estimate(0.0, size);
        let cost = match self {
            Rule::Result => return self::size(cx, last),
            Rule::Present => return Ok(u64::from(holds(last))),
            Rule::Field => return Ok(u64::from(as_optional(last).is_none())),
            Rule::FieldOf => return Ok(u64::from(as_optional(last).is_some() && holds(value(0)))),
            Rule::Comparing => return Ok(comparing(size(0)?.max, value(0))),
            Rule::ComparingSecond => return Ok(comparing(size(1)?.max, value(1))),
            Rule::Searching => return Ok(search(size(0)?.max, size(1)?.max).ceil() as u64),
            Rule::Replacing => return Ok(search(size(0)?.max, size(1)?.max) as u64),
            Rule::Flattening => match values.get(1) {
                Some(Value::Int(depth)) => {
                    let depth = Range::fixed(u64::try_from(*depth).unwrap_or(0));
                    self.estimate(0.0, |nth| if nth == 0 { size(0) } else { Ok(depth) })
                }
                Some(_) => return Ok(0),
                None => self.estimate(0.0, |nth| if nth == 0 { size(0) } else { Ok(Range::fixed(1)) }),
            },
            Rule::Least => self.estimate(0.0, |nth| unwrapped(cx, value(nth)).map(Range::fixed)),
            Rule::Prefix => cost(Rule::First),
            rule => cost(rule),
        };
        cost.map(|cost| cost.max)
    }
}

/// Returns the cost of a step with these values, by the number of its rule.
///
/// # Errors
/// The render has no steps left: counting the characters of long strings takes steps.
pub fn measure<'v>(cx: &Cx<'v>, rule: u32, values: &[Value<'v>]) -> Result<u64> {
    Rule::of(rule).map_or(Ok(STEP), |rule| rule.cost(cx, values))
}

/// Returns `true` for an optional that holds a value.
fn holds(value: Value<'_>) -> bool {
    as_optional(value).is_some_and(|held| !held.is_undefined())
}

/// Returns the size of a value, which is 1 for values without a size, and for missing values of errors.
fn size(cx: &Cx<'_>, value: Value<'_>) -> Result<u64> {
    size_if_any(cx, value).map(|size| size.map_or(1, |size| size as u64))
}

/// Returns the size of a value, or of the value that an optional holds.
fn unwrapped(cx: &Cx<'_>, value: Value<'_>) -> Result<u64> {
    match as_optional(value) {
        Some(held) if !held.is_undefined() => unwrapped(cx, held),
        _ => size(cx, value),
    }
}

/// Returns the cost of comparing each element of a list with each. Strings and bytes are read.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn comparing(elements: u64, list: Value<'_>) -> u64 {
    let first = list.as_list().and_then(|items| items.first()).copied().unwrap_or_default();
    let is_text = first.as_str().is_some() || as_bytes(first).is_some();
    let each = if is_text { 2.0 + CHARACTER } else { 2.0 };
    (elements.saturating_mul(elements) as f64 * each) as u64
}

/// Returns the cost of a search, including the call. The reference adds the call before it rounds.
#[allow(clippy::cast_precision_loss)]
fn search(searched: u64, pattern: u64) -> f64 {
    let one_more = |n: u64| n.saturating_add(1) as f64;
    1.0 + one_more(searched) * CHARACTER * (one_more(pattern) * PATTERN)
}

/// A cost or size from `min` to `max`. Arithmetic saturates at [`u64::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
}

impl Range {
    /// Any size.
    pub const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    /// Makes the range from `min` to `max`.
    pub const fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// Makes the range of exactly `n`.
    pub const fn fixed(n: u64) -> Self {
        Self { min: n, max: n }
    }

    /// Adds a range.
    pub const fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    /// Multiplies by a range.
    pub const fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Multiplies by a factor, and rounds up.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn scaled(self, factor: f64) -> Self {
        let scaled = |n: u64| (n as f64 * factor).ceil() as u64;
        Self { min: scaled(self.min), max: scaled(self.max) }
    }

    /// Returns the smallest range that contains both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Raises both ends to `least`.
    pub fn at_least(self, least: u64) -> Self {
        Self { min: self.min.max(least), max: self.max.max(least) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_saturate() {
        assert_eq!(Range::UNKNOWN.plus(Range::fixed(1)), Range::new(1, u64::MAX));
        assert_eq!(Range::UNKNOWN.times(Range::fixed(2)), Range::UNKNOWN);
        assert_eq!(Range::UNKNOWN.scaled(1.0), Range::UNKNOWN);
        assert_eq!(Range::UNKNOWN.scaled(0.1).max, 1_844_674_407_370_955_264);
        assert_eq!(Range::new(0, 11).scaled(0.1), Range::new(0, 2));
    }
}
