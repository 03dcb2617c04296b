//! What the functions of the extension libraries cost.

use super::Range;
use super::calls::{CALL, Estimate};
use super::strings::strings;
use super::walk::{LIST, Walk};
use crate::dialect::cel::cost::{CHARACTER, PATTERN};
use crate::dialect::cel::syntax::tree::{Expr, ExprId, Literal};

/// The cost of a call without its arguments, where the overload is one of an extension that says it.
pub(super) fn extension(
    walk: &Walk<'_>,
    overload: &str,
    receiver: Option<ExprId>,
    args: &[ExprId],
) -> Option<Estimate> {
    let size = |id| walk.size_or_unknown(id);
    Some(match (overload, receiver, args) {
        ("list_slice", Some(list), &[from, to]) => {
            let to = constant(walk, to, size(list).max);
            allocating(1.0, Range::fixed(to.wrapping_sub(constant(walk, from, 0))))
        }
        ("lists_range", None, &[count]) => allocating(1.0, Range::fixed(constant(walk, count, u64::MAX))),
        ("list_reverse", Some(list), []) => allocating(1.0, size(list)),
        ("list_flatten", Some(list), []) => allocating(1.0, size(list)),
        #[allow(clippy::cast_precision_loss)]
        ("list_flatten_int", Some(list), &[depth]) => allocating(constant(walk, depth, u64::MAX) as f64, size(list)),
        ("list_distinct", Some(list), []) => allocating(2.0, size(list).times(size(list))),
        (name, Some(list), []) if sorted(name, "_sort").is_some() => {
            allocating(sorted(name, "_sort")?, size(list).times(size(list)))
        }
        (name, Some(_), &[keys]) if sorted(name, "_sortByAssociatedKeys").is_some() => {
            allocating(sorted(name, "_sortByAssociatedKeys")?, size(keys).times(size(keys)))
        }
        ("list_sets_contains_list" | "list_sets_intersects_list", _, &[a, b]) => sets(size(a), size(b), 1.0),
        ("list_sets_equivalent_list", _, &[a, b]) => sets(size(a), size(b), 2.0),
        (name, _, &[searched, pattern, ref rest @ ..]) if name.starts_with("regex_") => {
            pattern_cost(name, size(searched), size(pattern), rest.first().map(|&id| size(id)))?
        }
        _ => return strings(walk, overload, receiver, args),
    })
}

/// A constant that is not negative, `otherwise` where it is no constant; a negative one counts as none.
pub(super) fn constant(walk: &Walk<'_>, id: ExprId, otherwise: u64) -> u64 {
    match walk.tree.expr(id) {
        Expr::Literal(Literal::Int(n)) => u64::try_from(n).unwrap_or(0),
        Expr::Literal(Literal::Uint(n)) => n,
        _ => otherwise,
    }
}

/// A function that makes a list of `size`.
fn allocating(factor: f64, size: Range) -> Estimate {
    Estimate::sized(size.scaled(factor).plus(CALL).plus(LIST), size)
}

fn sets(a: Range, b: Range, factor: f64) -> Estimate {
    Estimate::of(a.times(b).scaled(factor).plus(CALL))
}

/// What comparing two elements costs in a sort: texts are gone through.
fn sorted(overload: &str, suffix: &str) -> Option<f64> {
    let of = overload.strip_prefix("list_")?.strip_suffix(suffix)?;
    Some(if matches!(of, "string" | "bytes") { 2.0 + CHARACTER } else { 2.0 })
}

/// Functions that search a text by a pattern.
fn pattern_cost(overload: &str, searched: Range, pattern: Range, replacement: Option<Range>) -> Option<Estimate> {
    let one_more = |size: Range| size.plus(Range::fixed(1));
    let search = one_more(searched).scaled(CHARACTER).times(one_more(pattern).scaled(PATTERN));
    let found = Range::new(0, searched.max);
    Some(match (overload, replacement) {
        ("regex_extract_string_string", None) => Estimate::sized(search.plus(found), found),
        ("regex_extractAll_string_string", None) => Estimate::sized(search.plus(found).plus(LIST), found),
        (_, Some(replacement)) => {
            let all = searched.max.wrapping_mul(replacement.max);
            let size = match replacement.max {
                0 => Range::new(all, searched.max),
                _ => Range::new(searched.max, all),
            };
            Estimate::sized(search.plus(size), size)
        }
        _ => return None,
    })
}
