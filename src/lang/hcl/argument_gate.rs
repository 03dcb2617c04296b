//! The argument gate: calls of functions with positional arguments.
//!
//! [`call`] evaluates a call expression: it spreads the last argument, checks the number of arguments, converts them to
//! the types of the parameters, and notes errors. [`invoke`] calls a function with arguments of these types, and
//! handles null, unknown, untyped and marked arguments.

use smallvec::SmallVec;

use super::evaluation::{contains_faulty, drop_errors, has_errors};
use super::values::types::name;
use super::values::{conforms, constraint_name, contains_marked, convert, fits, marked_by, type_of, unmark_deep};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::{
    Admits, Body, Builtin, Cx, Fault, HostFault, HostParams, Misfit, Outcome, Params, Positional, PositionalParam,
    ResultType, Subject, Type as Kind, Wrong, fitting,
};
use dropforge_value::{Extended, Refinement, Type, Unknown, Value};

type Arguments<'v> = SmallVec<[Value<'v>; 6]>;

/// Evaluates a call. With `spread`, the elements of the last argument are arguments. Errors are noted, and the result
/// is then unknown.
///
/// If the function handles errors, each argument follows the number of notes before its evaluation. In any other call
/// of several arguments that spreads the last, only the first and the last argument do.
///
/// # Errors
/// A limit was reached.
pub(super) fn call<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], spread: bool) -> Result<Value<'v>> {
    let Params::Positional(params) = &function.params else { return Err(cx.arity()) };
    let (step, counts) = match (takes_errors(params), spread) {
        (true, _) => (2, 0),
        (false, true) if given.len() > 1 => (1, 2),
        (false, _) => (1, 0),
    };
    let site = Site { cx, function, params, step, written: given.len().saturating_sub(counts) / step, spread };
    Ok(fitting(site.evaluate(given))?.unwrap_or_else(|| site.nothing()))
}

/// Returns `true` if the function handles errors of its arguments.
pub(super) fn takes_errors(params: &Positional) -> bool {
    params.params.iter().chain(&params.rest).any(|param| param.admits.include(Admits::ERRORS))
}

/// Returns the parameter of argument `at`.
fn param_of(params: &Positional, at: usize) -> Option<&PositionalParam> {
    params.params.get(at).or(params.rest.as_ref())
}

/// A call that does not take place.
struct Refused<'v> {
    /// The value of the call.
    result: Value<'v>,
    error: Option<(Box<Diagnostic>, Subject)>,
}

/// A call expression.
struct Site<'c, 'v> {
    cx: &'c Cx<'v>,
    function: &'c Builtin,
    params: &'c Positional,
    /// The number of values for each argument: two if each follows a number of notes.
    step: usize,
    /// The number of written arguments.
    written: usize,
    spread: bool,
}

impl<'v> Site<'_, 'v> {
    fn evaluate(&self, given: &[Value<'v>]) -> Outcome<Value<'v>> {
        if !self.spread {
            return self.checked(&mut Arguments::from_slice(given));
        }
        match self.spread_out(given)? {
            Ok(mut arguments) => self.checked(&mut arguments),
            Err(refused) => {
                self.forget_written(given);
                if let Some(error) = refused.error {
                    self.cx.note_error(error.0, error.1);
                }
                Ok(refused.result)
            }
        }
    }

    /// Calls the function if the arguments fit the parameters. Errors are noted.
    fn checked(&self, arguments: &mut Arguments<'v>) -> Outcome<Value<'v>> {
        if let Some((error, subject)) = self.wrong_count(arguments.len() / self.step) {
            self.cx.note_error(error, subject);
            return Ok(self.nothing());
        }
        let result = match self.step {
            2 => run(self.cx, self.function, arguments),
            _ if !self.converted(arguments)? => return Ok(self.nothing()),
            _ => invoke(self.cx, self.function, arguments),
        };
        match result {
            Err(Fault::Wrong(wrong)) => Ok(self.failed(&wrong, arguments.len() / self.step)),
            result => result,
        }
    }

    /// Replaces a spread argument by its elements.
    fn spread_out(&self, given: &[Value<'v>]) -> Outcome<std::result::Result<Arguments<'v>, Refused<'v>>> {
        let (before, count, collection) = match *given {
            [collection] => (&[][..], i64::MAX, collection),
            [ref before @ .., Value::Int(count), collection] => (before, count, collection),
            _ => return Err(self.cx.arity().into()),
        };
        let silent = |result| Ok(Err(Refused { result, error: None }));
        if contains_faulty(self.cx, collection)? || has_errors(self.cx, count, i64::MAX) {
            return silent(self.nothing());
        }
        let ((plain, marks), is_sequence) = (collection.unmarked(), is_sequence(collection));
        if plain.is_null() && (matches!(plain, Value::Null) || is_sequence) {
            return Ok(Err(self.bad_spread("null cannot be spread")));
        }
        if !is_sequence && !matches!(plain.as_unknown(), Some(Unknown { ty: Type::Dynamic, .. })) {
            return Ok(Err(self.bad_spread("only a list, a set or a tuple can be spread")));
        }
        let Some(elements) = plain.elements() else { return silent(self.cx.arena().unknown(Type::Dynamic)) };
        if let Some(error) = self.wrong_count(self.written - 1 + elements.len()) {
            return Ok(Err(Refused { result: self.nothing(), error: Some(error) }));
        }
        self.cx.charge((elements.len() * self.step + given.len()) * size_of::<Value>())?;
        // Without a number of notes for each argument, there is one before the first.
        let mut arguments = Arguments::from_slice(before.get(2 - self.step..).unwrap_or(&[]));
        for element in elements {
            if self.step == 2 {
                arguments.push(Value::uint(self.cx.notes().count() as u64));
            }
            arguments.push(marked_by(self.cx, *element, marks)?);
        }
        Ok(Ok(arguments))
    }

    /// Drops the notes of the arguments before a spread one: the reference does not evaluate them if the call fails
    /// before them.
    fn forget_written(&self, given: &[Value<'v>]) {
        if let &[Value::Int(first), .., Value::Int(last), _] = given {
            drop_errors(self.cx, [first, last], [false, true]);
        }
    }

    fn bad_spread(&self, why: &str) -> Refused<'v> {
        let error = Diagnostic::new(Code::BadArgument, "Invalid expanding argument value");
        let error = error.with_detail(format!("The last argument of {} cannot be spread: {why}", self.named()));
        Refused { result: self.nothing(), error: Some((error, self.whole(self.written))) }
    }

    /// Returns the error and its subject if this is not a number of arguments that the function takes.
    #[inline]
    fn wrong_count(&self, given: usize) -> Option<(Box<Diagnostic>, Subject)> {
        let needed = self.params.params.len();
        let fits = given == needed || given > needed && self.params.rest.is_some();
        (!fits).then(|| self.count_error(needed, given))
    }

    #[cold]
    fn count_error(&self, needed: usize, given: usize) -> (Box<Diagnostic>, Subject) {
        let (least, plural) =
            (if self.params.rest.is_some() { "at least " } else { "" }, if needed == 1 { "" } else { "s" });
        let takes = format!("{} takes {least}{needed} argument{plural}", self.named());
        match self.params.params.get(given) {
            Some(missing) => {
                let error = Diagnostic::new(Code::MissingArgument, "Not enough function arguments");
                let detail = format!("{takes}; `{}` is missing", missing.name);
                (error.with_detail(detail), self.after_arguments(1))
            }
            None => {
                let error = Diagnostic::new(Code::BadArgument, "Too many function arguments");
                (error.with_detail(format!("{takes}, not {given}")), self.start(needed))
            }
        }
    }

    /// Converts each argument to the type of its parameter. Returns `false` if that or its computation failed.
    fn converted(&self, arguments: &mut Arguments<'v>) -> Outcome<bool> {
        let mut fine = true;
        for (at, argument) in arguments.iter_mut().enumerate() {
            fine &= !contains_faulty(self.cx, *argument)?;
            let Some(param) = param_of(self.params, at) else { continue };
            if fits(*argument, &param.ty) {
                continue;
            }
            match convert(self.cx, *argument, &param.ty) {
                Ok(value) => *argument = value,
                Err(Fault::Wrong(wrong)) => {
                    self.bad_argument(at, param, &wrong, self.start(at));
                    fine = false;
                }
                Err(limit) => return Err(limit),
            }
        }
        Ok(fine)
    }

    fn bad_argument(&self, at: usize, param: &PositionalParam, wrong: &Wrong, subject: Subject) {
        let detail = format!("Argument {} of {}, `{}`: {}", at + 1, self.named(), param.name, reason(wrong));
        self.note(Code::BadArgument, "Invalid function argument", detail, subject);
    }

    /// Notes a fault of the function, which got `given` arguments.
    #[cold]
    fn failed(&self, wrong: &Wrong, given: usize) -> Value<'v> {
        match wrong.argument.and_then(|at| Some((at, param_of(self.params, at)?))) {
            Some((at, param)) if at < given => self.bad_argument(at, param, wrong, self.start(at)),
            Some((at, param)) => self.bad_argument(at, param, wrong, Subject::Whole),
            None => {
                let detail = format!("The call of {} failed: {}", self.named(), reason(wrong));
                self.note(Code::FunctionFailed, "Error in function call", detail, self.after_arguments(0));
            }
        }
        self.nothing()
    }

    fn note(&self, code: Code, summary: &str, detail: String, subject: Subject) {
        self.cx.note_error(Diagnostic::new(code, summary).with_detail(detail), subject);
    }

    fn named(&self) -> String {
        format!("`{}`", self.function.name)
    }

    /// The recovery value of a failed call.
    fn nothing(&self) -> Value<'v> {
        self.cx.arena().faulty(Type::Dynamic)
    }

    /// The subject of a whole argument.
    fn whole(&self, at: usize) -> Subject {
        part(at.min(self.written.saturating_sub(1)))
    }

    /// The subject of the start of argument `at`. Spread elements have that of their whole collection.
    fn start(&self, at: usize) -> Subject {
        if self.spread && at + 1 >= self.written { self.whole(at) } else { part(self.written + 2 + at) }
    }

    /// A subject after the arguments: 0 for the name of the function, 1 for the closing parenthesis.
    fn after_arguments(&self, at: usize) -> Subject {
        part(self.written + at)
    }
}

/// Returns `true` if a value is a list, a set or a tuple, known or not.
fn is_sequence(value: Value<'_>) -> bool {
    match (value.unmarked().0, value.unmarked().0.extended()) {
        (Value::List(_), _) => true,
        (_, Some(Extended::Typed(ty, _) | Extended::Null(ty) | Extended::Unknown(Unknown { ty, .. }))) => {
            matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
        }
        _ => false,
    }
}

fn part(at: usize) -> Subject {
    u32::try_from(at).map_or(Subject::Whole, Subject::Part)
}

/// Formats a fault of values, with the path in the value.
pub(super) fn reason(wrong: &Wrong) -> String {
    let path: String = wrong.path.iter().map(ToString::to_string).collect();
    if path.is_empty() { wrong.message.clone() } else { format!("{path}: {}", wrong.message) }
}

/// Calls a function with arguments of the types of its parameters.
///
/// Null is an error. An argument without a known type makes the type of the result unknown; arguments after it are not
/// checked. An unknown argument makes the result unknown, of the type that the function declares. Marks are moved from
/// the arguments, at every depth, to the result. A parameter may admit each of these: then the body sees it.
///
/// # Errors
/// A limit was reached, or a fault of the arguments.
pub fn invoke<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>]) -> Outcome<Value<'v>> {
    let Params::Positional(params) = &function.params else { return Err(cx.arity().into()) };
    check_number(params, given.len())?;
    let (mut arguments, mut marks) = (Arguments::from_slice(given), Vec::new());
    let (mut untyped, mut unknown) = (false, false);
    for (at, argument) in arguments.iter_mut().enumerate() {
        let Some(param) = param_of(params, at) else { continue };
        untyped = untyped || !check(cx, param, at, *argument)?;
        unknown |= !argument.is_known() && !param.admits.include(Admits::UNKNOWN);
        if !param.admits.include(Admits::MARKED) {
            *argument = without_marks(cx, *argument, &mut marks)?;
        }
    }
    let result = if untyped {
        cx.arena().unknown(Type::Dynamic)
    } else if unknown {
        cx.arena().unknown(match params.result {
            ResultType::Is(ty) => ty,
            ResultType::Of(of) => of(cx, &arguments)?,
            ResultType::OfBody => type_of(cx, run(cx, function, &arguments)?)?,
        })
    } else {
        run(cx, function, &arguments)?
    };
    marked_by(cx, if params.not_null { not_null(cx, result)? } else { result }, &marks)
}

/// Moves all marks of a value to `marks`.
fn without_marks<'v>(cx: &Cx<'v>, value: Value<'v>, marks: &mut Vec<&'v str>) -> Outcome<Value<'v>> {
    if !contains_marked(cx, value)? {
        return Ok(value);
    }
    let (value, found) = unmark_deep(cx, value)?;
    marks.extend(found);
    Ok(value)
}

/// Runs the body.
fn run<'v>(cx: &Cx<'v>, function: &Builtin, arguments: &[Value<'v>]) -> Outcome<Value<'v>> {
    match &function.body {
        Body::Positional(body) => body(cx, arguments),
        Body::Closure(body) => body(cx, arguments),
        Body::Host(host) => host.call(cx, arguments, &[]).map_err(|fault| failed(host.params(), fault)),
        _ => Err(cx.arity().into()),
    }
}

/// Returns the fault of a call to a function of the embedding program.
#[cold]
fn failed(params: &HostParams, fault: HostFault) -> Fault {
    match fault {
        HostFault::Limit(limit) => Fault::Limit(limit),
        HostFault::Misfit(Misfit::Type(at, why)) => Fault::argument(at, why),
        HostFault::Misfit(Misfit::Count(count)) => {
            Fault::wrong(format!("it takes at most {} arguments, not {count}", params.iter().len()))
        }
        HostFault::Misfit(_) => Fault::wrong(format!("it takes {params}")),
        HostFault::Failed(why) => Fault::wrong(why.to_string()),
    }
}

/// Returns a function of the embedding program with parameters that the gate checks.
pub(super) fn adopted(function: Builtin) -> Builtin {
    let Some(params) = function.host_params() else { return function };
    let param = |name: &str, ty: Option<Kind>, optional: bool| {
        let ty = match ty {
            Some(Kind::Bool) => Type::Bool,
            Some(Kind::Int | Kind::Size | Kind::Number) => Type::Number,
            Some(Kind::Str) => Type::String,
            Some(Kind::Any | Kind::List | Kind::Map) | None => Type::Dynamic,
        };
        let admits = if ty == Type::Dynamic || optional { Admits::NULL } else { Admits::NONE };
        PositionalParam { name: name.to_owned().into(), ty, admits }
    };
    let required = params.required();
    let needed = params.iter().take(required).map(|of| param(&of.name, Some(of.ty), of.optional)).collect::<Vec<_>>();
    // Optional parameters are further arguments. The function checks their number and types.
    let further = required < params.iter().len();
    let rest = (further || params.rest().is_some()).then(|| {
        let name = params.iter().nth(required).map_or("argument", |of| &*of.name);
        param(name, params.rest().filter(|_| !further), true)
    });
    let result = ResultType::Is(Type::Dynamic);
    let takes = Positional { params: needed.into(), rest, result, not_null: false };
    Builtin { params: Params::Positional(takes), ..function }
}

/// Checks the number of arguments.
fn check_number(params: &Positional, given: usize) -> Outcome<()> {
    let needed = params.params.len();
    match &params.rest {
        None if given != needed => Err(Fault::wrong(format!("{needed} arguments are needed, not {given}"))),
        Some(_) if given < needed => Err(Fault::wrong(format!("at least {needed} arguments are needed, not {given}"))),
        _ => Ok(()),
    }
}

/// Checks that an argument is not null and of the type of its parameter. Returns `false` if it has no known type and
/// the parameter does not admit that.
fn check<'v>(cx: &Cx<'v>, param: &PositionalParam, at: usize, argument: Value<'v>) -> Outcome<bool> {
    let (value, _) = argument.unmarked();
    if value.is_null() && !param.admits.include(Admits::NULL) {
        return Err(Fault::argument(at, "must not be null"));
    }
    match value.extended() {
        // A parameter that admits null admits it without a type, too: the reference's `contains` forgot that.
        None if matches!(value, Value::Null) => return Ok(true),
        Some(Extended::Unknown(unknown)) if unknown.ty == Type::Dynamic => {
            return Ok(param.admits.include(Admits::DYNAMIC));
        }
        _ => {}
    }
    if fits(value, &param.ty) {
        return Ok(true);
    }
    let ty = type_of(cx, value)?;
    if conforms(&ty, &param.ty) {
        return Ok(true);
    }
    Err(Fault::argument(at, format!("{} is required, not {}", constraint_name(&param.ty), name(&ty))))
}

/// Refines an unknown result to be not null.
fn not_null<'v>(cx: &Cx<'v>, result: Value<'v>) -> Outcome<Value<'v>> {
    match result.as_unknown() {
        Some(unknown) if unknown.ty != Type::Dynamic && !unknown.refinement.not_null => {
            let refined = cx.arena().refined(unknown.ty, Refinement { not_null: true, ..unknown.refinement });
            marked_by(cx, refined, result.unmarked().1)
        }
        _ => Ok(result),
    }
}

#[cfg(test)]
mod tests;
