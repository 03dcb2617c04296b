//! The costs of calls, and the sizes of their results.

use super::{Entries, Estimator};
use crate::check::Reference;
use crate::cost::{CHARACTER, LIST, Price, Range, Rule, STEP};
use crate::syntax::tree::{Call, Expr, ExprId, Function, Literal};

/// The cost of an ordinary call.
const CALL: Range = Range::fixed(STEP);

/// A call and the costs of its arguments.
struct Arguments<'a> {
    id: ExprId,
    /// The arguments without the receiver.
    args: &'a [ExprId],
    /// The receiver of a member function, and the arguments.
    operands: Vec<ExprId>,
    costs: Vec<Range>,
}

impl Estimator<'_> {
    pub(super) fn call(&mut self, id: ExprId, call: Call) -> Range {
        let tree = self.tree;
        let (args, checked) = (tree.ids(call.args), self.checked);
        if let (Function::Named(name), &[arg], None) = (call.function, args, call.receiver)
            && tree.name(name) == "dyn"
        {
            let cost = self.cost(arg).plus(CALL);
            self.copy_sizes(id, arg);
            return cost;
        }
        let costs: Vec<_> = args.iter().map(|&arg| self.cost(arg)).collect();
        let member = matches!(checked.reference(id), Some(Reference::Function { member: true, .. }));
        let receiver = call.receiver.filter(|_| member);
        let target = receiver.map_or(Range::default(), |receiver| self.cost(receiver));
        let operands = receiver.into_iter().chain(args.iter().copied()).collect();
        target.plus(self.dispatched(&Arguments { id, args, operands, costs }))
    }

    /// Returns the cost over all overloads that the call may dispatch to.
    fn dispatched(&mut self, arguments: &Arguments<'_>) -> Range {
        let checked = self.checked;
        let all = arguments.costs.iter().fold(Range::default(), |sum, &cost| sum.plus(cost));
        let (mut cost, mut size) = (None, None);
        for overload in checked.overloads(arguments.id) {
            let (own_cost, own_size) = self.lazy(arguments, overload).unwrap_or_else(|| {
                let (cost, size) = self.strict(arguments, overload);
                (cost.plus(all), size)
            });
            cost = Some(cost.map_or(own_cost, |cost: Range| cost.union(own_cost)));
            size = match (size, own_size) {
                (None, size) | (size, None) => size,
                (Some(a), Some(b)) => Some(Range::union(a, b)),
            };
            size = self.element(arguments, overload).unwrap_or(size).or_else(|| self.size(arguments.id));
        }
        self.set_size(arguments.id, size);
        cost.unwrap_or_else(|| all.plus(CALL))
    }

    /// Returns the size of an element of a list or map, if the call takes one, and records its path.
    fn element(&mut self, arguments: &Arguments<'_>, overload: &str) -> Option<Option<Range>> {
        let part = match overload {
            "index_list" => "@items",
            "index_map" => "@values",
            _ => return None,
        };
        let of = *arguments.args.first()?;
        let path = self.path(of).map(|path| format!("{path}.{part}"));
        self.set_path(arguments.id, path);
        Some(self.entries_of(of).map(|entries| entries.value))
    }

    /// Estimates operators that do not evaluate all operands: their cost with that of the operands, and the size of the
    /// result.
    fn lazy(&mut self, arguments: &Arguments<'_>, overload: &str) -> Option<(Range, Option<Range>)> {
        match (overload, arguments.args, arguments.costs.as_slice()) {
            ("logical_or" | "logical_and", _, &[left, right]) => {
                Some((Range::new(left.min, left.plus(right).max), None))
            }
            ("conditional", &[_, then, other], &[condition, then_cost, other_cost]) => {
                let size = self.size_or_unknown(then).union(self.size_or_unknown(other));
                let entries = Entries::union(self.entries_of(then), self.entries_of(other));
                self.set_entries(arguments.id, entries);
                Some((condition.plus(then_cost.union(other_cost)), Some(size)))
            }
            _ => None,
        }
    }

    /// Estimates a call by the price of its overload: its cost without the arguments, and the size of the result.
    fn strict(&mut self, arguments: &Arguments<'_>, overload: &str) -> (Range, Option<Range>) {
        let operands = &arguments.operands;
        if let ("add_string" | "add_bytes" | "add_list", &[left, right]) = (overload, operands.as_slice()) {
            let entries = Entries::union(self.entries_of(left), self.entries_of(right));
            self.set_entries(arguments.id, entries);
        }
        let price = match overload {
            // The estimate of the reference knows only the member function.
            "matches" => Price::CALL,
            overload => Price::of(overload),
        };
        let size = result_size(self, overload, operands);
        let by_sizes = price.arguments.map_or(Range::default(), |rule| self.by_sizes(rule, overload, operands));
        let searches = matches!(price.arguments, Some(Rule::Searching | Rule::Replacing));
        let result = match size {
            Some(size) if searches => size,
            // The reference multiplies in floats, so the largest sizes are rounded.
            Some(size) if price.result => size.scaled(1.0),
            _ => Range::default(),
        };
        // The estimate of a search has no fixed cost, but that of a list.
        let fixed = if searches && price.fixed != LIST { 0 } else { price.fixed };
        (Range::fixed(fixed).plus(by_sizes).plus(result), size)
    }

    fn by_sizes(&self, rule: Rule, overload: &str, operands: &[ExprId]) -> Range {
        let is_text = ["list_string_", "list_bytes_"].iter().any(|prefix| overload.starts_with(prefix));
        let each = if is_text { 2.0 + CHARACTER } else { 2.0 };
        let size = |nth: usize| {
            Ok::<_, std::convert::Infallible>(match operands.get(nth) {
                Some(&depth) if (rule, nth) == (Rule::Flattening, 1) => Range::fixed(constant(self, depth, u64::MAX)),
                Some(&id) => self.size_or_unknown(id),
                None => Range::fixed(1),
            })
        };
        let Ok(cost) = rule.estimate(each, size);
        cost
    }
}

/// Returns the value of an integer literal, where a negative one counts as 0; `otherwise` for other expressions.
pub(super) fn constant(estimator: &Estimator<'_>, id: ExprId, otherwise: u64) -> u64 {
    match estimator.tree.expr(id) {
        Expr::Literal(Literal::Int(n)) => u64::try_from(n).unwrap_or(0),
        Expr::Literal(Literal::Uint(n)) => n,
        _ => otherwise,
    }
}

/// Returns the size of the result of an overload with these operands, if it follows from them.
fn result_size(estimator: &Estimator<'_>, overload: &str, operands: &[ExprId]) -> Option<Range> {
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
