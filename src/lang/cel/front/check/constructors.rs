//! Lists, maps, messages and comprehensions.

use super::environment::NameDeclaration;
use super::types::{Kind, TypeId, Types};
use super::{Checker, Reference};
use crate::syntax::tree::{Comprehension, ExprId, Name, Run};
use dropforge_base::diagnostics::Code;

impl Checker<'_> {
    pub fn list(&mut self, run: Run) -> TypeId {
        let mut all = None;
        for element in self.tree.elements(run) {
            let ty = self.entry(element.value, element.optional);
            all = Some(self.joined(element.value, all, ty));
        }
        let element = all.unwrap_or_else(|| self.unify.fresh());
        self.unify.types.list(element)
    }

    pub fn map(&mut self, run: Run) -> TypeId {
        let (mut keys, mut values) = (None, None);
        for entry in self.tree.entries(run) {
            let key = self.check(entry.key);
            keys = Some(self.joined(entry.key, keys, key));
            let value = self.entry(entry.value, entry.optional);
            values = Some(self.joined(entry.value, values, value));
        }
        let key = keys.unwrap_or_else(|| self.unify.fresh());
        let value = values.unwrap_or_else(|| self.unify.fresh());
        self.unify.types.map(key, value)
    }

    /// Returns the type of an element or value; of an optional entry, the type that its optional holds.
    fn entry(&mut self, id: ExprId, optional: bool) -> TypeId {
        let ty = self.check(id);
        if !optional {
            return ty;
        }
        let ty = self.unify.resolved(ty);
        let (of, is_optional) = self.unify.types.unwrapped(ty);
        if !is_optional && !self.unify.types.is_dyn_or_error(of) {
            let expected = self.unify.types.optional(of);
            self.mismatch(id, expected, of);
        }
        of
    }

    /// Joins the type of the elements so far with one more.
    fn joined(&mut self, id: ExprId, so_far: Option<TypeId>, ty: TypeId) -> TypeId {
        let Some(so_far) = so_far else { return ty };
        if self.unify.assignable(so_far, ty) {
            return self.unify.more_general(so_far, ty);
        }
        if !self.options.homogeneous {
            return Types::DYN;
        }
        self.mismatch(id, so_far, ty);
        Types::ERROR
    }

    pub fn message(&mut self, id: ExprId, name: Name, fields: Run) -> TypeId {
        for field in self.tree.fields(fields) {
            self.check(field.value);
        }
        let text = self.tree.name(name);
        let (text, rooted) = text.strip_prefix('.').map_or((text, false), |text| (text, true));
        match self.env.find(text, rooted) {
            None => {
                let error = self.undeclared(Code::UndefinedVariable, text);
                self.report(self.tree.place(id), error);
            }
            Some(NameDeclaration::Variable(..)) => {
                self.error(id, Code::TypeMismatch, format!("'{text}' is not a type"));
            }
            Some(NameDeclaration::Type(of)) => {
                self.refer(id, Reference::Type(of));
                self.error(id, Code::TypeMismatch, format!("'{text}' is not a message type"));
            }
        }
        Types::ERROR
    }

    pub fn comprehension(&mut self, of: &Comprehension) -> TypeId {
        let range = self.check(of.iter_range);
        let accu = self.check(of.accu_init);
        let range = self.unify.resolved(range);
        let (first, second) = self.iterated(of.iter_range, range, of.iter_var2.is_some());
        let outside = self.locals.len();
        self.locals.push((of.accu_var, accu));
        self.locals.push((of.iter_var, first));
        self.locals.extend(of.iter_var2.map(|name| (name, second)));
        self.check_as(of.loop_condition, Types::BOOL);
        self.check_as(of.loop_step, accu);
        // The result sees only the accumulator.
        self.locals.truncate(outside + 1);
        let result = self.check(of.result);
        self.locals.truncate(outside);
        self.unify.resolved(result)
    }

    fn check_as(&mut self, id: ExprId, expected: TypeId) {
        let found = self.check(id);
        if !self.unify.assignable(expected, found) {
            self.mismatch(id, expected, found);
        }
    }

    /// Returns the types of the variables of a comprehension over `range`.
    fn iterated(&mut self, id: ExprId, range: TypeId, two: bool) -> (TypeId, TypeId) {
        match *self.unify.types.kind(range) {
            Kind::List(element) if two => (Types::INT, element),
            Kind::List(element) => (element, Types::DYN),
            Kind::Map(key, value) => (key, value),
            Kind::Object(at) => (Types::STRING, self.unify.types.values_of(at)),
            Kind::Nullable(of) => self.iterated(id, of, two),
            Kind::Dyn | Kind::Error | Kind::Var(_) => {
                // The range becomes `dyn`, so that no later inference contradicts the comprehension.
                self.unify.assignable(Types::DYN, range);
                (Types::DYN, Types::DYN)
            }
            _ => {
                let text = self.text(range);
                let message = format!(
                    "expression of type '{text}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.error(id, Code::NotIterable, message);
                (Types::ERROR, Types::ERROR)
            }
        }
    }
}
