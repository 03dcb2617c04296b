//! Calls: the function, the overloads that its arguments match, and literal arguments that it rejects; lists,
//! maps, messages and comprehensions.

use std::sync::Arc;

use smallvec::SmallVec;

use super::environment::{Callable, NameDeclaration, Signature};
use super::types::{Kind, TypeId, Types};
use super::{Checker, Reference, applied_to};
use crate::builtins::format::{FormatPart, Layout, out_of_range, refused};
use crate::dialects::help_for_unknown;
use crate::syntax::tree::{Call, Comprehension, Expr, ExprId, Function, Literal, Name, Operator, Run};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_machine::function::{Caches, Capabilities, Cx};
use dropforge_value::{Arena, Inputs};

/// The function that binds values to names: its first argument is a list of them.
const BLOCK: &str = "cel.@block";

impl Checker<'_> {
    pub fn call(&mut self, id: ExprId, call: Call) -> TypeId {
        let name = self.tree.function(call.function);
        let args = self.tree.ids(call.args);
        if let (BLOCK, &[values, body]) = (name, args) {
            return self.block(id, values, body);
        }
        for &arg in args {
            self.check(arg);
        }
        let Some(receiver) = call.receiver else { return self.named(id, call, name, args) };
        if let Some(namespace) = self.qualified(receiver)
            && let Some((name, callable)) = self.env.function(&format!("{}.{name}", namespace.text()), namespace.rooted)
        {
            return self.resolve(id, Call { receiver: None, ..call }, name, callable, args);
        }
        if let Some(full) = self.elsewhere(receiver, name, call.rooted, args) {
            return self.unknown(id, &full);
        }
        self.check(receiver);
        self.named(id, call, name, args)
    }

    /// Returns the full name of a function in a namespace that only other implementations have, unless a member function takes
    /// the arguments: the namespace may be a variable.
    fn elsewhere(&mut self, receiver: ExprId, name: &str, rooted: bool, args: &[ExprId]) -> Option<String> {
        let full = format!("{}.{name}", self.qualified(receiver)?.text());
        help_for_unknown(&full)?;
        let given: Vec<_> = [Types::DYN].into_iter().chain(args.iter().map(|&arg| self.type_of(arg))).collect();
        let is_member = match self.env.function(name, rooted) {
            Some((_, Callable::Signatures(signatures))) => self.matching(signatures, &given, true).1.is_some(),
            found => found.is_some(),
        };
        (!is_member).then_some(full)
    }

    fn named(&mut self, id: ExprId, call: Call, name: &str, args: &[ExprId]) -> TypeId {
        match self.env.function(name, call.rooted) {
            Some((name, callable)) => self.resolve(id, call, name, callable, args),
            None => self.unknown(id, name),
        }
    }

    fn unknown(&mut self, id: ExprId, name: &str) -> TypeId {
        let mut error = self.undeclared(Code::UnknownFunction, name);
        error = match help_for_unknown(name) {
            Some(help) => error.with_help(help),
            None => error.with_suggestion(name, self.env.function_names()),
        };
        self.report(self.tree.place(id), error);
        Types::ERROR
    }

    /// Returns the type of a call of `callable`, by the overloads that the arguments match.
    fn resolve(&mut self, id: ExprId, call: Call, name: &Arc<str>, callable: &Callable, args: &[ExprId]) -> TypeId {
        let given: Vec<_> = call.receiver.iter().chain(args).map(|&arg| self.type_of(arg)).collect();
        let member = call.receiver.is_some();
        let (overloads, result) = match callable {
            Callable::Open => (Vec::new(), Some(Types::DYN)),
            Callable::Signatures(_) if is_logic(call.function) => return self.logic(id, name, callable, args),
            Callable::Signatures(signatures) => self.matching(signatures, &given, member),
        };
        let Some(result) = result else { return self.no_overload(id, call.function, name, given, member) };
        self.refer(id, Reference::Function { name: name.clone(), overloads, member });
        if self.options.literals {
            self.literal(id, name, call, callable, args);
        }
        let result = self.number_of(call.function, &given).unwrap_or(result);
        self.known_key(call, args).unwrap_or(result)
    }

    /// Returns the type of arithmetic with an operand that is an integer or a float.
    fn number_of(&mut self, function: Function, given: &[TypeId]) -> Option<TypeId> {
        let Function::Operator(operator) = function else { return None };
        if !operator.is_arithmetic() {
            return None;
        }
        let kinds = given.iter().map(|&of| {
            let of = self.unify.resolved(of);
            match *self.unify.types.kind(of) {
                Kind::Nullable(of) => self.unify.types.kind(of).clone(),
                ref kind => kind.clone(),
            }
        });
        let kinds: Vec<_> = kinds.collect();
        let all = kinds.iter().all(|kind| matches!(kind, Kind::Number | Kind::Int | Kind::Double));
        (all && kinds.contains(&Kind::Number)).then_some(Types::NUMBER)
    }

    /// Returns the matching overloads and their result type, which is `dyn` if they have different ones.
    fn matching(
        &mut self,
        signatures: &[Signature],
        given: &[TypeId],
        member: bool,
    ) -> (Vec<Arc<str>>, Option<TypeId>) {
        let (mut overloads, mut result) = (Vec::new(), None);
        for signature in signatures.iter().filter(|of| of.member == member && of.params.len() == given.len()) {
            let fresh: SmallVec<[TypeId; 4]> = (0..signature.generic).map(|_| self.unify.fresh()).collect();
            let params: SmallVec<[TypeId; 4]> =
                signature.params.iter().map(|&ty| self.unify.with_params(ty, &fresh)).collect();
            if !self.unify.all_assignable(given, &params) {
                continue;
            }
            let returned = self.unify.with_params(signature.result, &fresh);
            let returned = self.unify.resolved(returned);
            overloads.push(signature.id.clone());
            result = Some(match result {
                None => returned,
                Some(so_far) if so_far == returned => returned,
                Some(_) => Types::DYN,
            });
        }
        (overloads, result)
    }

    fn no_overload(
        &mut self,
        id: ExprId,
        function: Function,
        name: &str,
        mut given: Vec<TypeId>,
        member: bool,
    ) -> TypeId {
        self.unify.settle(&mut given);
        let code = match function {
            Function::Operator(_) => Code::TypeMismatch,
            Function::Named(_) => Code::BadArgument,
        };
        let given = applied_to(&self.unify.types, &given, member);
        let error = Diagnostic::new(code, format!("found no matching overload for '{name}' applied to '{given}'"));
        self.report(self.tree.place(id), error);
        Types::ERROR
    }

    /// `&&` and `||`: each operand that is not a boolean is an error of its own.
    fn logic(&mut self, id: ExprId, name: &Arc<str>, callable: &Callable, args: &[ExprId]) -> TypeId {
        let mut result = Types::BOOL;
        for &arg in args {
            let found = self.type_of(arg);
            if !self.unify.assignable(found, Types::BOOL) {
                self.mismatch(arg, Types::BOOL, found);
                result = Types::ERROR;
            }
        }
        let Callable::Signatures(signatures) = callable else { return result };
        let overloads = signatures.iter().map(|of| of.id.clone()).collect();
        self.refer(id, Reference::Function { name: name.clone(), overloads, member: false });
        result
    }

    /// Returns the type of the value under a literal key of an object.
    fn known_key(&mut self, call: Call, args: &[ExprId]) -> Option<TypeId> {
        let (Function::Operator(Operator::Index), &[operand, key]) = (call.function, args) else { return None };
        let Expr::Literal(Literal::String(name)) = self.tree.expr(key) else { return None };
        let of = self.type_of(operand);
        let of = self.unify.resolved(of);
        matches!(self.unify.types.kind(of), Kind::Object(_)).then(|| self.field_of(key, of, name))
    }

    /// `cel.block`: values that later ones and the body refer to by position.
    fn block(&mut self, id: ExprId, values: ExprId, body: ExprId) -> TypeId {
        let Expr::List(run) = self.tree.expr(values) else { return self.check(body) };
        let outside = self.locals.len();
        for (at, element) in self.tree.elements(run).iter().enumerate() {
            let ty = self.check(element.value);
            if let Some(name) = self.tree.find_name(&format!("@index{at}")) {
                self.locals.push((name, ty));
            }
        }
        let list = self.unify.types.list(Types::DYN);
        self.set_type(values, list);
        let ty = self.check(body);
        self.locals.truncate(outside);
        let overloads = vec!["cel_block_list".into()];
        self.refer(id, Reference::Function { name: BLOCK.into(), overloads, member: false });
        ty
    }
}

fn is_logic(function: Function) -> bool {
    matches!(function, Function::Operator(Operator::And | Operator::Or))
}

/// Functions that parse their only argument.
const PARSERS: &[&str] = &["cidr", "duration", "ip", "quantity", "semver", "timestamp", "url"];

/// Returns the position of the regular expression among the arguments of a function.
fn pattern_of(function: &str, arguments: usize) -> Option<usize> {
    match function {
        "matches" => arguments.checked_sub(1),
        "find" | "findAll" => Some(0),
        "regex.extract" | "regex.extractAll" | "regex.replace" => Some(1),
        _ => None,
    }
}

impl Checker<'_> {
    /// Reports literal arguments of a call that the function rejects.
    pub fn literal(&mut self, id: ExprId, name: &str, call: Call, callable: &Callable, args: &[ExprId]) {
        if let ("format", Some(layout), &[values]) = (name, call.receiver, args) {
            return self.format(id, layout, values);
        }
        let Callable::Signatures(signatures) = callable else { return };
        let Some((arg, rejected)) = self.rejected(name, signatures, args) else { return };
        self.error(arg, Code::BadArgument, format!("invalid {name} argument: {}", rejected.message));
    }

    /// Returns the literal argument that a function rejects, and the error.
    fn rejected(&self, name: &str, signatures: &[Signature], args: &[ExprId]) -> Option<(ExprId, Box<Diagnostic>)> {
        if let Some(at) = pattern_of(name, args.len()) {
            let arg = *args.get(at)?;
            let text = self.text_of(arg)?;
            let (_, Callable::Signatures(matches)) = self.env.function("matches", true)? else { return None };
            return Some((arg, matches.iter().find_map(|of| rejection(of, &["", text]))?));
        }
        let &[arg] = args else { return None };
        let text = self.text_of(arg).filter(|_| PARSERS.contains(&name))?;
        let rejected = signatures.iter().filter(|of| !of.member).find_map(|of| rejection(of, &[text]))?;
        Some((arg, rejected))
    }

    /// Returns the text of a string literal.
    fn text_of(&self, id: ExprId) -> Option<&str> {
        match self.tree.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(self.tree.name(text)),
            _ => None,
        }
    }

    /// Reports literal values that a literal format string cannot take, and clauses and values without the other.
    fn format(&mut self, id: ExprId, layout: ExprId, values: ExprId) {
        let (tree, Expr::List(run)) = (self.tree, self.tree.expr(values)) else { return };
        let Expr::Literal(Literal::String(layout)) = tree.expr(layout) else { return };
        let (elements, mut used) = (tree.elements(run), 0);
        for part in Layout(tree.name(layout)) {
            let refused = match part {
                Ok(FormatPart::Text(_)) => continue,
                Err(error) => Some((id, error.message)),
                Ok(FormatPart::Clause(clause)) => match elements.get(used) {
                    None => Some((id, out_of_range(used))),
                    Some(element) => self.unformatted(clause.letter, element.value),
                },
            };
            if let Some((id, message)) = refused {
                return self.error(id, Code::BadArgument, message);
            }
            used += 1;
        }
        if elements.len() > used && !elements.iter().any(|element| element.optional) {
            let count = elements.len();
            let message = format!("too many arguments supplied to string.format (expected {used}, got {count})");
            self.error(id, Code::BadArgument, message);
        }
    }

    /// Returns the error of a value that a clause cannot format, with its position: of an element in a list or map literal.
    fn unformatted(&mut self, letter: char, id: ExprId) -> Option<(ExprId, String)> {
        let ty = self.type_of(id);
        let ty = self.unify.resolved(ty);
        let fits = match self.unify.types.kind(ty) {
            Kind::Dyn | Kind::Error | Kind::Var(_) | Kind::Param(_) | Kind::Nullable(_) => true,
            Kind::Int | Kind::Uint => true,
            Kind::Double => matches!(letter, 's' | 'd' | 'f' | 'e'),
            Kind::Bool => matches!(letter, 's' | 'b'),
            Kind::String | Kind::Bytes => matches!(letter, 's' | 'x' | 'X'),
            Kind::Optional(_) | Kind::Opaque(..) => false,
            _ => letter == 's',
        };
        if !fits {
            let given = self.text(ty);
            let given = given.split('(').next().unwrap_or("").to_owned();
            return Some((id, refused(letter, &given).message));
        }
        let parts: Vec<_> = match self.tree.expr(id) {
            expr @ (Expr::List(_) | Expr::Map(_)) if letter == 's' => self.tree.children(expr),
            _ => Vec::new(),
        };
        parts.into_iter().find_map(|part| self.unformatted(letter, part))
    }
}

/// Calls a function with string arguments, and returns its error.
fn rejection(of: &Signature, texts: &[&str]) -> Option<Box<Diagnostic>> {
    let takes_strings = of.params.len() == texts.len() && of.params.iter().all(|&ty| ty == super::Types::STRING);
    let body = of.body.filter(|_| takes_strings)?;
    let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
    let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
    let given = texts.iter().map(|text| cx.text(text)).collect::<Result<Vec<_>>>().ok()?;
    body(&cx, &given).err().filter(|error| !error.code.is_limit())
}

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
