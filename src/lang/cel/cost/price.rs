//! The prices of calls.

use super::rule::Rule;
use super::{LIST, STEP};

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
