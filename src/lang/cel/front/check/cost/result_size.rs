//! The sizes of the results of functions.

use super::estimator::Estimator;
use crate::cost::Range;
use crate::syntax::tree::{Expr, ExprId, Literal};

/// Returns the value of an integer literal, where a negative one counts as 0; `otherwise` for other expressions.
pub(super) fn constant(estimator: &Estimator<'_>, id: ExprId, otherwise: u64) -> u64 {
    match estimator.tree.expr(id) {
        Expr::Literal(Literal::Int(n)) => u64::try_from(n).unwrap_or(0),
        Expr::Literal(Literal::Uint(n)) => n,
        _ => otherwise,
    }
}

/// Returns the size of the result of an overload with these operands, if it follows from them.
pub(super) fn result_size(estimator: &Estimator<'_>, overload: &str, operands: &[ExprId]) -> Option<Range> {
    let size = |nth: usize| operands.get(nth).map_or(Range::UNKNOWN, |&id| estimator.size_or_unknown(id));
    let number =
        |nth: usize, otherwise: u64| operands.get(nth).map_or(otherwise, |&id| constant(estimator, id, otherwise));
    let first = size(0);
    Some(match overload {
        "string_to_bytes" => Range::new(first.min, first.max.wrapping_mul(4)),
        "bytes_to_string" => Range::new(first.min / 4, first.max),
        "add_string" | "add_bytes" | "add_list" => first.plus(size(1)),
        "list_slice" => Range::fixed(number(2, first.max).wrapping_sub(number(1, 0))),
        "lists_range" => Range::fixed(number(0, u64::MAX)),
        "list_reverse" | "list_flatten" | "list_flatten_int" => first,
        "list_distinct" => first.times(first),
        // As in the reference, the largest size wraps around.
        "strings_quote" => Range::new(first.min.wrapping_add(2), first.max.wrapping_mul(2).wrapping_add(2)),
        "string_char_at_int" => Range::new(0, 1),
        "string_lower_ascii" | "string_upper_ascii" | "string_reverse" => first,
        "string_trim" | "string_split_string" | "string_split_string_int" | "list_join" => Range::new(0, first.max),
        "list_join_string" => Range::new(0, first.plus(first.plus(Range::fixed(1)).times(size(1))).max),
        "string_replace_string_string" | "string_replace_string_string_int" => replaced(first, size(2)),
        "string_substring_int" | "string_substring_int_int" => {
            Range::fixed(number(2, first.max).wrapping_sub(number(1, 0)))
        }
        "regex_extract_string_string" | "regex_extractAll_string_string" => Range::new(0, first.max),
        "regex_replace_string_string_string" | "regex_replace_string_string_string_int" => {
            let all = first.max.wrapping_mul(size(2).max);
            if size(2).max == 0 { Range::new(all, first.max) } else { Range::new(first.max, all) }
        }
        overload => sorted(overload, first, size(1))?,
    })
}

/// Returns the size of a text with parts replaced `by` a text: at most, `by` is between all characters; at least, it
/// replaces the whole text.
fn replaced(of: Range, by: Range) -> Range {
    let one = Range::fixed(1);
    Range::new(of.min.min(by.plus(one).min), of.plus(one).times(by.plus(one)).max)
}

fn sorted(overload: &str, list: Range, keys: Range) -> Option<Range> {
    let sort = overload.strip_prefix("list_")?;
    match (sort.ends_with("_sort"), sort.ends_with("_sortByAssociatedKeys")) {
        (true, _) => Some(list.times(list)),
        (_, true) => Some(keys.times(keys)),
        _ => None,
    }
}
