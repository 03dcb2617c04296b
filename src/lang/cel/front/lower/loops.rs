//! Comprehensions, by the use of their accumulator.

use super::Lower;
use crate::cost::{LIST, MAP, STEP};
use crate::syntax::tree::{Call, Comprehension, Element, Expr, ExprId, Function, Literal, Operator};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::{Literal as Constant, LoopField, Op};
use dropforge_machine::compiler::{LoopMark, PathSpec, RootSpec};

/// The effect of an iteration on the accumulator.
enum Each {
    /// Appends a value to a list.
    Element(ExprId),
    /// Adds an entry to a map: its key and value.
    Entry(ExprId, ExprId),
    /// Adds the entries of a map to a map.
    Entries(ExprId),
}

/// The form of a comprehension.
enum Shape {
    /// Binds a value to a name.
    Binding,
    /// Tests if all, or any, elements satisfy a predicate.
    Quantifier { all: bool, predicate: ExprId },
    /// Collects values of the elements that satisfy a condition.
    Collection { condition: Option<ExprId>, each: Each },
    /// Any other comprehension.
    General,
}

impl<'t> Lower<'_, 't> {
    pub(super) fn comprehension(&mut self, id: ExprId, of: &'t Comprehension) -> Result<()> {
        match self.shape(of) {
            Shape::Binding => self.binding(of),
            Shape::Quantifier { all, predicate } => self.quantifier(id, of, all, predicate),
            Shape::Collection { condition, each } => self.collection(id, of, condition, &each),
            Shape::General => self.general(id, of),
        }
    }

    fn shape(&self, of: &Comprehension) -> Shape {
        let literal = |id, truth| matches!(self.tree.expr(id), Expr::Literal(Literal::Bool(is)) if is == truth);
        let empty = matches!(self.tree.expr(of.iter_range), Expr::List(run) if run.is_empty());
        if empty && literal(of.loop_condition, false) {
            return Shape::Binding;
        }
        if !self.is_accu(of, of.result) {
            return Shape::General;
        }
        if let Some(quantifier) = self.quantifier_of(of) {
            return quantifier;
        }
        let (condition, step) = match self.operator_of(of.loop_step) {
            Some((Operator::Conditional, &[condition, then, otherwise])) if self.is_accu(of, otherwise) => {
                (Some(condition), then)
            }
            _ => (None, of.loop_step),
        };
        match self.each(of, step) {
            Some(each) if self.options.optimise && literal(of.loop_condition, true) => {
                Shape::Collection { condition, each }
            }
            _ => Shape::General,
        }
    }

    fn is_accu(&self, of: &Comprehension, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Ident { name, rooted: false } if name == of.accu_var)
    }

    fn operator_of(&self, id: ExprId) -> Option<(Operator, &'t [ExprId])> {
        match self.tree.expr(id) {
            Expr::Call(Call { function: Function::Operator(operator), args, .. }) => {
                Some((operator, self.tree.ids(args)))
            }
            _ => None,
        }
    }

    fn quantifier_of(&self, of: &Comprehension) -> Option<Shape> {
        let (Operator::NotStrictlyFalse, _) = self.operator_of(of.loop_condition)? else { return None };
        let (operator @ (Operator::And | Operator::Or), &[accu, predicate]) = self.operator_of(of.loop_step)? else {
            return None;
        };
        let all = operator == Operator::And;
        let starts = self.tree.expr(of.accu_init) == Expr::Literal(Literal::Bool(all));
        (starts && self.is_accu(of, accu)).then_some(Shape::Quantifier { all, predicate })
    }

    fn each(&self, of: &Comprehension, step: ExprId) -> Option<Each> {
        let Expr::Call(call) = self.tree.expr(step) else { return None };
        let (first, rest) = self.tree.ids(call.args).split_first()?;
        if !self.is_accu(of, *first) {
            return None;
        }
        let is_empty = |expr| matches!(expr, Expr::List(run) | Expr::Map(run) if run.is_empty());
        let start = Some(self.tree.expr(of.accu_init)).filter(|expr| is_empty(*expr))?;
        match (call.function, rest, start) {
            (Function::Operator(Operator::Add), &[list], Expr::List(_)) => {
                let Expr::List(run) = self.tree.expr(list) else { return None };
                let &[Element { value, optional: false }] = self.tree.elements(run) else { return None };
                Some(Each::Element(value))
            }
            (Function::Named(name), rest, Expr::Map(_)) if self.tree.name(name) == "cel.@mapInsert" => match *rest {
                [key, value] => Some(Each::Entry(key, value)),
                [entries] => Some(Each::Entries(entries)),
                _ => None,
            },
            _ => None,
        }
    }

    fn binding(&mut self, of: &'t Comprehension) -> Result<()> {
        self.meter(LIST); // the empty range
        let outer = self.lazy.len();
        let slot = self.bind(of.accu_var, of.accu_init, &[of.result])?;
        self.locals.push((of.accu_var, slot));
        self.value(of.result)?;
        self.locals.pop();
        self.unbind(outer);
        self.emitter.free(slot);
        Ok(())
    }

    /// Brings the variables of a loop into scope. Returns their number, their first slot, and the number of variables before.
    fn variables(&mut self, of: &Comprehension) -> (u32, u32, usize) {
        let names = 1 + u32::from(of.iter_var2.is_some());
        let slots = self.emitter.new_slots(names);
        let outer = self.locals.len();
        self.locals.push((of.iter_var, slots));
        self.locals.extend(of.iter_var2.map(|name| (name, slots + 1)));
        (names, slots, outer)
    }

    /// Pushes the result of a quantifier. An error does not count if another element decides.
    fn quantifier(&mut self, id: ExprId, of: &'t Comprehension, all: bool, predicate: ExprId) -> Result<()> {
        let (end, found, out) = (self.emitter.new_label(), self.emitter.new_label(), self.emitter.new_label());
        self.value(of.iter_range)?;
        let mark = self.emitter.mark();
        let (names, slots, outer) = self.variables(of);
        self.at(of.iter_range);
        let iterations = self.emitter.begin_loop(names, slots, end);
        // The condition reads the accumulator and tests it; the step reads it.
        let condition = if all { 2 * STEP } else { 3 * STEP };
        self.meter(condition + STEP);
        self.repeatedly(|lower| lower.protected_predicate(predicate))?;
        self.emitter.jump_is(if all { Constant::False } else { Constant::True }, found);
        self.emitter.op(Op::Pop, &[]);
        self.emitter.end_loop(iterations);
        self.locals.truncate(outer);
        self.emitter.bind(end);
        self.at(id);
        let height = self.emitter.height();
        self.meter(STEP); // the accumulator as the result
        self.push_bool(all);
        self.emitter.load_slot(mark);
        self.intrinsic("settled", 2);
        self.emitter.jump(Op::Jump, out);
        self.emitter.bind(found);
        self.emitter.set_height(height + 1);
        self.meter_last_condition(condition);
        self.meter(STEP);
        self.emitter.op(Op::EndIter, &[]);
        self.emitter.load_slot(mark);
        self.intrinsic("decided", 2);
        self.emitter.bind(out);
        self.emitter.free(mark);
        Ok(())
    }

    /// Meters the condition once more, if the deciding element is not the last.
    fn meter_last_condition(&mut self, condition: u64) {
        if self.options.metered {
            let last = self.emitter.new_label();
            let roots = [RootSpec::Loop(0, LoopField::Last)];
            self.emitter.load(&PathSpec { name: "", roots: &roots, segments: &[] });
            self.emitter.jump(Op::JumpIf, last);
            self.meter(condition);
            self.emitter.bind(last);
        }
    }

    /// Pushes the list or map of a collection.
    fn collection(&mut self, id: ExprId, of: &'t Comprehension, condition: Option<ExprId>, each: &Each) -> Result<()> {
        let end = self.emitter.new_label();
        self.value(of.iter_range)?;
        let joins = matches!(each, Each::Entries(_));
        let errors = if joins { Some(self.emitter.mark()) } else { self.errors_of_iterations() };
        self.emitter.begin_gather();
        let (names, slots, outer) = self.variables(of);
        self.at(of.iter_range);
        let iterations = self.emitter.begin_loop(names, slots, end);
        let iteration = if joins { None } else { self.begin_iteration(errors) };
        self.repeatedly(|lower| match *each {
            // The value to add to the accumulator, and the call that adds.
            Each::Element(value) => lower.gathered(condition, &[value], LIST + STEP),
            Each::Entry(key, value) => lower.gathered(condition, &[key, value], STEP),
            Each::Entries(entries) => lower.gathered_entries(condition, entries, iterations),
        })?;
        self.end_iteration(iteration);
        self.emitter.end_loop(iterations);
        self.locals.truncate(outer);
        self.emitter.bind(end);
        self.at(id);
        // The initial accumulator, and the accumulator as the result.
        self.meter(STEP + if matches!(each, Each::Element(_)) { LIST } else { MAP });
        if joins {
            self.joined(errors);
            return Ok(());
        }
        self.raise(errors);
        self.emitter.end_gather();
        if let Each::Entry(..) = each {
            self.intrinsic("map of pairs", 1);
        }
        Ok(())
    }

    /// Gathers the map of an element, or undefined for an error, which ends a loop that is not metered. The error is
    /// noted, because a key repeated by the elements before comes first.
    fn gathered_entries(&mut self, condition: Option<ExprId>, entries: ExprId, iterations: LoopMark) -> Result<()> {
        let protect = self.emitter.begin_protect();
        let (left_out, made) = (self.emitter.new_label(), self.emitter.new_label());
        let height = self.emitter.height();
        if let Some(condition) = condition {
            self.value(condition)?;
            self.at(condition);
            self.emitter.jump(Op::JumpUnless, left_out);
        }
        // The accumulator, and the call that adds.
        self.meter(2 * STEP);
        self.value(entries)?;
        if condition.is_some() {
            self.emitter.jump(Op::Jump, made);
            self.emitter.bind(left_out);
            self.emitter.set_height(height);
            self.emitter.map(&[]);
            self.emitter.bind(made);
        }
        self.emitter.end_protect(protect);
        if !self.options.metered {
            let go_on = self.emitter.new_label();
            self.emitter.jump(Op::JumpPresent, go_on);
            self.emitter.break_loop(iterations);
            self.emitter.bind(go_on);
            self.emitter.set_height(height + 1);
        }
        self.emitter.op(Op::Keep, &[]);
        Ok(())
    }

    /// Pushes the map of the gathered maps, or raises the first error.
    fn joined(&mut self, errors: Option<u32>) {
        self.emitter.end_gather();
        if let Some(mark) = errors {
            self.emitter.load_slot(mark);
            self.intrinsic("map of maps", 2);
            self.emitter.free(mark);
        }
    }

    /// Gathers the values that an element adds to a collection, if the condition holds. `made` is the cost of adding them.
    fn gathered(&mut self, condition: Option<ExprId>, values: &[ExprId], made: u64) -> Result<()> {
        let next = self.emitter.new_label();
        if let Some(condition) = condition {
            self.value(condition)?;
            self.at(condition);
            self.emitter.jump(Op::JumpUnless, next);
        }
        self.meter(STEP); // the accumulator
        for (nth, &value) in values.iter().enumerate() {
            if nth + 1 == values.len() {
                self.meter(made);
            }
            self.value(value)?;
            self.emitter.op(Op::Keep, &[]);
        }
        self.emitter.bind(next);
        Ok(())
    }

    /// Pushes the result of a comprehension of any form.
    fn general(&mut self, id: ExprId, of: &'t Comprehension) -> Result<()> {
        let end = self.emitter.new_label();
        self.value(of.iter_range)?;
        let range = self.emitter.store();
        // The cost of the initial accumulator counts after the loop has run.
        let metered = std::mem::replace(&mut self.options.metered, false);
        self.value(of.accu_init)?;
        self.options.metered = metered;
        let accu = self.emitter.store();
        let errors = self.errors_of_iterations();
        self.emitter.load_slot(range);
        let (names, slots, outer) = self.variables(of);
        self.locals.push((of.accu_var, accu));
        self.at(of.iter_range);
        let iterations = self.emitter.begin_loop(names, slots, end);
        self.repeatedly(|lower| {
            if !matches!(lower.tree.expr(of.loop_condition), Expr::Literal(Literal::Bool(true))) {
                let go_on = lower.emitter.new_label();
                lower.value(of.loop_condition)?;
                lower.emitter.jump(Op::JumpIf, go_on);
                lower.emitter.break_loop(iterations);
                lower.emitter.bind(go_on);
            }
            let iteration = lower.begin_iteration(errors);
            lower.value(of.loop_step)?;
            lower.emitter.op(Op::StoreSlot, &[accu]);
            lower.end_iteration(iteration);
            Ok(())
        })?;
        self.emitter.end_loop(iterations);
        self.emitter.bind(end);
        self.locals.truncate(outer);
        self.locals.push((of.accu_var, accu));
        self.at(id);
        self.meter(match self.tree.expr(of.accu_init) {
            Expr::List(_) => LIST,
            Expr::Map(_) => MAP,
            _ => 0,
        });
        self.value(of.result)?;
        self.raise(errors);
        self.locals.truncate(outer);
        self.emitter.free(accu);
        self.emitter.free(range);
        Ok(())
    }
}
