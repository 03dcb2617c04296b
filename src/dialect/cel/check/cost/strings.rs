//! What the functions of texts cost: going through the text, and making a new one of the size of the answer.

use super::Range;
use super::calls::{CALL, Estimate};
use super::extensions::constant;
use super::walk::{LIST, Walk};
use crate::dialect::cel::cost::CHARACTER;
use crate::dialect::cel::syntax::tree::ExprId;

/// The cost of a call without its arguments, where the overload is one of a function of texts.
pub(super) fn strings(walk: &Walk<'_>, overload: &str, receiver: Option<ExprId>, args: &[ExprId]) -> Option<Estimate> {
    let size = |id| walk.size_or_unknown(id);
    if let ("strings_quote", &[text]) = (overload, args) {
        let text = size(text);
        let quoted = Range::new(text.min, text.max.saturating_mul(2)).plus(Range::fixed(2));
        return Some(Estimate::sized(text.scaled(CHARACTER), quoted));
    }
    let of = size(receiver?);
    Some(match (overload, args) {
        ("string_char_at_int", [_]) => made(of, Range::fixed(1)),
        ("string_lower_ascii" | "string_upper_ascii" | "string_reverse", []) => made(of, of),
        ("string_trim", []) => made(of, Range::new(0, of.max)),
        (
            "string_index_of_string"
            | "string_index_of_string_int"
            | "string_last_index_of_string"
            | "string_last_index_of_string_int",
            &[part, ..],
        ) => Estimate::of(of.times(size(part)).scaled(CHARACTER).plus(CALL)),
        ("string_replace_string_string" | "string_replace_string_string_int", &[part, by, ..]) => {
            replaced(of, size(part), size(by))
        }
        ("string_split_string" | "string_split_string_int", &[separator, ..]) => {
            let parts = made(searched(of, size(separator)), Range::new(0, of.max));
            Estimate { cost: parts.cost.plus(LIST), ..parts }
        }
        ("string_substring_int" | "string_substring_int_int", &[from, ref to @ ..]) => {
            let to = to.first().map_or(of.max, |&to| constant(walk, to, of.max));
            made(of, Range::fixed(to.wrapping_sub(constant(walk, from, 0))))
        }
        ("list_join", []) => made(of, Range::new(0, of.max)),
        ("list_join_string", &[separator]) => {
            let between = of.plus(Range::fixed(1)).times(size(separator));
            made(of, Range::new(0, of.plus(between).max))
        }
        ("string_format", [_]) => Estimate::of(of.scaled(CHARACTER)),
        _ => return None,
    })
}

/// A function that goes through `of` and makes a text of `size`.
fn made(of: Range, size: Range) -> Estimate {
    Estimate::sized(of.scaled(CHARACTER).plus(CALL).plus(size.scaled(1.0)), size)
}

/// What is looked at where `part` is searched in `of`: nothing is found at each character, too.
fn searched(of: Range, part: Range) -> Range {
    of.times(Range::new(part.min.max(1), part.max.max(1)))
}

/// At most `by` stands between all characters; at least the whole text is replaced.
fn replaced(of: Range, part: Range, by: Range) -> Estimate {
    let one = Range::fixed(1);
    let most = of.plus(one).times(by.plus(one)).max;
    made(searched(of, part), Range::new(of.min.min(by.plus(one).min), most))
}
