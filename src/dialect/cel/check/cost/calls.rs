//! What calls cost.

use super::Range;
use super::extensions::extension;
use super::walk::{Entries, Walk};
use crate::dialect::cel::check::Reference;
use crate::dialect::cel::cost::{CHARACTER, PATTERN, STEP};
use crate::dialect::cel::syntax::tree::{Call, ExprId, Function};

/// What a call costs that costs nothing else.
pub(super) const CALL: Range = Range::fixed(STEP);

/// What a call costs beside its arguments, and the size of its answer.
pub(super) struct Estimate {
    pub cost: Range,
    pub size: Option<Range>,
}

impl Estimate {
    pub fn of(cost: Range) -> Self {
        Self { cost, size: None }
    }

    pub fn sized(cost: Range, size: Range) -> Self {
        Self { cost, size: Some(size) }
    }
}

/// A call whose arguments' costs are known.
struct Given<'g> {
    id: ExprId,
    receiver: Option<ExprId>,
    args: &'g [ExprId],
    costs: Vec<Range>,
}

impl Walk<'_> {
    pub fn call(&mut self, id: ExprId, call: Call) -> Range {
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
        let given = Given { id, receiver, args, costs };
        target.plus(self.dispatched(&given))
    }

    /// What all overloads cost that the call may be.
    fn dispatched(&mut self, given: &Given<'_>) -> Range {
        let checked = self.checked;
        let (mut cost, mut size) = (None, None);
        for overload in checked.overloads(given.id) {
            let estimate = self.overload(given, overload);
            cost = Some(cost.map_or(estimate.cost, |cost: Range| cost.union(estimate.cost)));
            size = match (size, estimate.size) {
                (None, size) | (size, None) => size,
                (Some(a), Some(b)) => Some(Range::union(a, b)),
            };
            size = self.element(given, overload).unwrap_or(size).or_else(|| self.size(given.id));
        }
        self.set_size(given.id, size);
        cost.unwrap_or_else(|| all(&given.costs).plus(CALL))
    }

    /// Where an element of a list or map is taken: its size, and its path is remembered.
    fn element(&mut self, given: &Given<'_>, overload: &str) -> Option<Option<Range>> {
        let part = match overload {
            "index_list" => "@items",
            "index_map" => "@values",
            _ => return None,
        };
        let of = *given.args.first()?;
        let path = self.path(of).map(|path| format!("{path}.{part}"));
        self.set_path(given.id, path);
        Some(self.entries_of(of).map(|entries| entries.value))
    }

    fn overload(&mut self, given: &Given<'_>, overload: &str) -> Estimate {
        let args = all(&given.costs);
        let estimate = extension(self, overload, given.receiver, given.args).or_else(|| self.standard(given, overload));
        match estimate {
            Some(Estimate { cost, size }) => Estimate { cost: cost.plus(args), size },
            None => self.lazy(given, overload).unwrap_or(Estimate::of(CALL.plus(args))),
        }
    }

    /// Operators that do not evaluate all their operands.
    fn lazy(&mut self, given: &Given<'_>, overload: &str) -> Option<Estimate> {
        match (overload, given.args, given.costs.as_slice()) {
            ("logical_or" | "logical_and", _, &[left, right]) => {
                Some(Estimate::of(Range::new(left.min, left.plus(right).max)))
            }
            ("conditional", &[_, then, other], &[condition, then_cost, other_cost]) => {
                let size = self.size_or_unknown(then).union(self.size_or_unknown(other));
                let entries = Entries::union(self.entries_of(then), self.entries_of(other));
                self.set_entries(given.id, entries);
                Some(Estimate::sized(condition.plus(then_cost.union(other_cost)), size))
            }
            _ => None,
        }
    }

    /// Functions of the standard library whose cost depends on sizes.
    fn standard(&mut self, given: &Given<'_>, overload: &str) -> Option<Estimate> {
        let text = |size: Range| size.scaled(CHARACTER);
        Some(match (overload, given.receiver, given.args) {
            ("string_to_bytes", _, &[arg]) => {
                let size = self.size_or_unknown(arg);
                Estimate::sized(text(size), Range::new(size.min, size.max.wrapping_mul(4)))
            }
            ("bytes_to_string", _, &[arg]) => {
                let size = self.size_or_unknown(arg);
                Estimate::sized(text(size), Range::new(size.min / 4, size.max))
            }
            ("starts_with_string" | "ends_with_string", _, &[arg]) => Estimate::of(text(self.size_or_unknown(arg))),
            ("in_list", _, &[_, list]) => Estimate::of(self.size_or_unknown(list).scaled(1.0)),
            ("matches_string", Some(searched), &[pattern]) => {
                // One more, so that an empty text does not make a pattern free.
                let searched = text(self.size_or_unknown(searched).plus(Range::fixed(1)));
                Estimate::of(searched.times(self.size_or_unknown(pattern).scaled(PATTERN)))
            }
            ("contains_string", Some(searched), &[part]) => {
                Estimate::of(text(self.size_or_unknown(searched)).times(text(self.size_or_unknown(part))))
            }
            ("add_string" | "add_bytes" | "add_list", _, &[left, right]) => {
                let size = self.size_or_unknown(left).plus(self.size_or_unknown(right));
                let entries = Entries::union(self.entries_of(left), self.entries_of(right));
                self.set_entries(given.id, entries);
                let cost = if overload == "add_list" { CALL } else { text(size) };
                Estimate::sized(cost, size)
            }
            (name, _, &[left, right]) if compares_sizes(name) => {
                let most = self.size_or_unknown(left).max.min(self.size_or_unknown(right).max);
                Estimate::of(text(Range::new(most.min(1), most)))
            }
            _ => return None,
        })
    }
}

/// Whether an overload goes through both of its operands.
fn compares_sizes(overload: &str) -> bool {
    let order = ["less_", "greater_", "less_equals_", "greater_equals_"];
    let rest = |prefix: &&str| overload.strip_prefix(prefix).is_some_and(|rest| matches!(rest, "string" | "bytes"));
    matches!(overload, "equals" | "not_equals") || order.iter().any(rest)
}

fn all(costs: &[Range]) -> Range {
    costs.iter().fold(Range::default(), |sum, &cost| sum.plus(cost))
}
