//! The argument gate: calls of functions whose arguments are given by place.
//!
//! [`call`] is what an expression does: spread, number of arguments, conversion to the parameters' types, and errors as
//! notes. [`invoke`] is the call itself, with values that are of these types already: what null, unknown, untyped and
//! marked arguments make of the answer.

use smallvec::SmallVec;

use super::values::convert::{convert, fits};
use super::values::marks::{contains_marked, marked_by, unmark_deep};
use super::values::types::{conforms, constraint_name, name, type_of};
use super::values::within::faulty;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Admits, Answer, Body, Builtin, Cx, Fault, Outcome, Params, Place, Positional, Subject, Wrong};
use crate::value::{Extended, Refinement, Type, Unknown, Value};

type Arguments<'v> = SmallVec<[Value<'v>; 6]>;

/// Calls a function whose arguments are given by place; where `spread` is, the last of them is a collection whose
/// elements are given. What is wrong is noted, and the answer is then unknown.
///
/// # Errors
/// A limit of the render.
pub(super) fn call<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], spread: bool) -> Result<Value<'v>> {
    let Params::Positional(params) = &function.params else { return Err(cx.arity()) };
    let step = if takes_errors(params) { 2 } else { 1 };
    let site = Site { cx, function, params, step, written: given.len() / step, spread };
    match site.answer(given) {
        Ok(answer) => Ok(answer),
        Err(Fault::Limit(limit)) => Err(limit),
        Err(Fault::Wrong(wrong)) => Ok(site.failed(&wrong, given.len())),
    }
}

/// Whether what the arguments note is given to the body: a number stands in front of each.
fn takes_errors(params: &Positional) -> bool {
    params.params.iter().chain(&params.rest).any(|param| param.admits.include(Admits::ERRORS))
}

/// The parameter of argument `at`.
fn param_of(params: &Positional, at: usize) -> Option<&Place> {
    params.params.get(at).or(params.rest.as_ref())
}

/// A call as it is written.
struct Site<'c, 'v> {
    cx: &'c Cx<'v>,
    function: &'c Builtin,
    params: &'c Positional,
    /// Values for each argument: two where a number stands in front.
    step: usize,
    /// How many arguments are written.
    written: usize,
    spread: bool,
}

/// What becomes of a collection that is spread.
enum Spread<'v> {
    /// Its elements are arguments.
    Into(Arguments<'v>),
    /// The call has this answer.
    Answered(Value<'v>),
}

impl<'v> Site<'_, 'v> {
    fn answer(&self, given: &[Value<'v>]) -> Outcome<Value<'v>> {
        let mut arguments = match self.spread_out(given)? {
            Spread::Into(arguments) => arguments,
            Spread::Answered(answer) => return Ok(answer),
        };
        if !self.right_number(arguments.len() / self.step) {
            return Ok(self.nothing());
        }
        if self.step == 2 {
            return self.ended(run(self.cx, self.function, &arguments), arguments.len());
        }
        if !self.converted(&mut arguments)? {
            return Ok(self.nothing());
        }
        self.ended(invoke(self.cx, self.function, &arguments), arguments.len())
    }

    /// Notes what is wrong with the arguments of a call that was made.
    fn ended(&self, answer: Outcome<Value<'v>>, given: usize) -> Outcome<Value<'v>> {
        match answer {
            Err(Fault::Wrong(wrong)) => Ok(self.failed(&wrong, given)),
            answer => answer,
        }
    }

    /// The arguments with the elements of the last one in its place, where it is spread.
    fn spread_out(&self, given: &[Value<'v>]) -> Outcome<Spread<'v>> {
        let (Some(collection), true) = (given.last(), self.spread) else {
            return Ok(Spread::Into(Arguments::from_slice(given)));
        };
        if self.noted() && faulty(self.cx, *collection)? {
            return Ok(Spread::Answered(self.nothing()));
        }
        if collection.is_null() && (matches!(collection.unmarked().0, Value::Null) || self.is_sequence(*collection)) {
            return Ok(Spread::Answered(self.bad_spread("null cannot be spread")));
        }
        if matches!(collection.as_unknown(), Some(Unknown { ty: Type::Dynamic, .. })) {
            return Ok(Spread::Answered(self.cx.arena().unknown(Type::Dynamic)));
        }
        if !self.is_sequence(*collection) {
            return Ok(Spread::Answered(self.bad_spread("only a list, a set or a tuple can be spread")));
        }
        let Some(elements) = collection.elements() else {
            return Ok(Spread::Answered(self.cx.arena().unknown(Type::Dynamic)));
        };
        self.cx.charge((elements.len() * self.step + given.len()) * size_of::<Value>())?;
        let mut arguments = Arguments::from_slice(given.get(..given.len() - self.step).unwrap_or(&[]));
        for element in elements {
            if self.step == 2 {
                arguments.push(Value::uint(self.cx.notes().count() as u64));
            }
            arguments.push(marked_by(self.cx, *element, collection.unmarked().1, &[])?);
        }
        Ok(Spread::Into(arguments))
    }

    fn is_sequence(&self, value: Value<'v>) -> bool {
        match value.unmarked().0 {
            Value::List(_) => true,
            value => match value.extended() {
                Some(Extended::Typed(ty, _) | Extended::Null(ty) | Extended::Unknown(Unknown { ty, .. })) => {
                    matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
                }
                _ => false,
            },
        }
    }

    fn bad_spread(&self, why: &str) -> Value<'v> {
        let error =
            Diagnostic::new(Code::BadArgument, format!("the last argument of {} cannot be spread", self.named()));
        self.cx.note_error(error.with_detail(why), self.subject(self.written));
        self.nothing()
    }

    /// Whether there are as many arguments as parameters; if not, that is noted.
    fn right_number(&self, given: usize) -> bool {
        let needed = self.params.params.len();
        let more = if self.params.rest.is_some() { " at least" } else { "" };
        if let Some(missing) = self.params.params.get(given) {
            let error = Diagnostic::new(Code::MissingArgument, format!("{} needs more arguments", self.named()));
            let detail = format!("it takes{more} {needed}; `{}` is missing", missing.name);
            self.cx.note_error(error.with_detail(detail), self.after_arguments(1));
            return false;
        }
        if self.params.rest.is_none() && given > needed {
            let error = Diagnostic::new(Code::BadArgument, format!("{} has too many arguments", self.named()));
            self.cx.note_error(error.with_detail(format!("it takes {needed}, not {given}")), self.subject(needed));
            return false;
        }
        true
    }

    /// Makes each argument a value of its parameter's type; false where one cannot be, or could not be computed.
    fn converted(&self, arguments: &mut Arguments<'v>) -> Outcome<bool> {
        let (noted, mut fine) = (self.noted(), true);
        for (at, argument) in arguments.iter_mut().enumerate() {
            fine &= !(noted && faulty(self.cx, *argument)?);
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

    fn bad_argument(&self, at: usize, param: &Place, wrong: &Wrong, subject: Subject) {
        let what = format!("argument {} of {} does not fit", at + 1, self.named());
        let error = Diagnostic::new(Code::BadArgument, what);
        self.cx.note_error(error.with_detail(format!("`{}`: {}", param.name, reason(wrong))), subject);
    }

    /// Notes that the function failed on `given` arguments.
    #[cold]
    fn failed(&self, wrong: &Wrong, given: usize) -> Value<'v> {
        match wrong.argument.and_then(|at| Some((at, param_of(self.params, at)?))) {
            Some((at, param)) if at < given => self.bad_argument(at, param, wrong, self.subject(at)),
            Some((at, param)) => self.bad_argument(at, param, wrong, Subject::Whole),
            None => {
                let error = Diagnostic::new(Code::FunctionFailed, format!("the call of {} failed", self.named()));
                self.cx.note_error(error.with_detail(reason(wrong)), self.after_arguments(0));
            }
        }
        self.nothing()
    }

    fn named(&self) -> String {
        format!("`{}`", self.function.name)
    }

    /// Whether anything was noted: only then can a value be one that could not be computed.
    fn noted(&self) -> bool {
        self.cx.notes().count() > 0
    }

    /// What stands for an answer that there is not.
    fn nothing(&self) -> Value<'v> {
        self.cx.arena().faulty(Type::Dynamic)
    }

    /// The place of argument `at`; elements that are spread are where their collection is.
    fn subject(&self, at: usize) -> Subject {
        let last = self.written.saturating_sub(1);
        part(if self.spread { at.min(last) } else { at })
    }

    /// Where argument `at` begins to be what it is.
    fn start(&self, at: usize) -> Subject {
        let last = self.written.saturating_sub(1);
        part(self.written + 2 + if self.spread { at.min(last) } else { at })
    }

    /// The place `at` behind those of the arguments: 0 the function's name, 1 the closing parenthesis.
    fn after_arguments(&self, at: usize) -> Subject {
        part(self.written + at)
    }
}

fn part(at: usize) -> Subject {
    u32::try_from(at).map_or(Subject::Whole, Subject::Part)
}

/// What does not fit, and where.
fn reason(wrong: &Wrong) -> String {
    let path: String = wrong.path.iter().map(ToString::to_string).collect();
    if path.is_empty() { wrong.message.clone() } else { format!("{path}: {}", wrong.message) }
}

/// Calls a function with arguments that are of its parameters' types: nothing is converted.
///
/// Null is refused where the parameter does not admit it. Of an argument without a known type, the answer has none;
/// where an argument is unknown, the answer is unknown and of the type that the function says. Marks are taken off the
/// arguments at every depth and put on the answer. Each of these a parameter may admit: then the body sees it.
///
/// # Errors
/// A limit, or what is wrong with the arguments.
pub fn invoke<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>]) -> Outcome<Value<'v>> {
    let Params::Positional(params) = &function.params else { return Err(cx.arity().into()) };
    check_number(params, given.len())?;
    let (mut arguments, mut marks) = (Arguments::from_slice(given), Vec::new());
    let mut unknown = false;
    for (at, argument) in arguments.iter_mut().enumerate() {
        let Some(param) = param_of(params, at) else { continue };
        if !check(cx, param, at, *argument)? {
            return Ok(cx.arena().unknown(Type::Dynamic));
        }
        unknown |= !argument.is_known() && !param.admits.include(Admits::UNKNOWN);
        if !param.admits.include(Admits::MARKED) {
            *argument = without_marks(cx, *argument, &mut marks)?;
        }
    }
    let answer = if unknown {
        let ty = match params.answer {
            Answer::Is(ty) => ty,
            Answer::Of(of) => of(cx, &arguments)?,
            Answer::OfBody => type_of(cx, run(cx, function, &arguments)?)?,
        };
        for argument in &arguments {
            without_marks(cx, *argument, &mut marks)?;
        }
        cx.arena().unknown(ty)
    } else {
        run(cx, function, &arguments)?
    };
    marked_by(cx, if params.not_null { not_null(cx, answer)? } else { answer }, &marks, &[])
}

/// `value` without any marks, which are added to `marks`.
fn without_marks<'v>(cx: &Cx<'v>, value: Value<'v>, marks: &mut Vec<&'v str>) -> Outcome<Value<'v>> {
    if !contains_marked(cx, value)? {
        return Ok(value);
    }
    let (value, found) = unmark_deep(cx, value)?;
    marks.extend(found);
    Ok(value)
}

/// What the body answers.
fn run<'v>(cx: &Cx<'v>, function: &Builtin, arguments: &[Value<'v>]) -> Outcome<Value<'v>> {
    match &function.body {
        Body::Positional(body) => body(cx, arguments),
        Body::Closure(body) => body(cx, arguments),
        _ => Err(cx.arity().into()),
    }
}

/// Refuses a number of arguments that the parameters do not take.
fn check_number(params: &Positional, given: usize) -> Outcome<()> {
    let needed = params.params.len();
    match &params.rest {
        None if given != needed => Err(Fault::wrong(format!("{needed} arguments are needed, not {given}"))),
        Some(_) if given < needed => Err(Fault::wrong(format!("at least {needed} arguments are needed, not {given}"))),
        _ => Ok(()),
    }
}

/// Refuses an argument that is null or of another type than its parameter; false where it has no type at all and the
/// parameter does not admit that.
fn check<'v>(cx: &Cx<'v>, param: &Place, at: usize, argument: Value<'v>) -> Outcome<bool> {
    let (value, _) = argument.unmarked();
    if value.is_null() && !param.admits.include(Admits::NULL) {
        return Err(Fault::argument(at, "must not be null"));
    }
    let untyped = match value.extended() {
        Some(Extended::Unknown(unknown)) => unknown.ty == Type::Dynamic,
        _ => matches!(value, Value::Null),
    };
    if untyped {
        return Ok(param.admits.include(Admits::DYNAMIC));
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

/// `answer`, of which it is known that it is not null, where it is not known itself.
fn not_null<'v>(cx: &Cx<'v>, answer: Value<'v>) -> Outcome<Value<'v>> {
    match answer.as_unknown() {
        Some(unknown) if unknown.ty != Type::Dynamic && !unknown.refinement.not_null => {
            let refined = cx.arena().refined(unknown.ty, Refinement { not_null: true, ..unknown.refinement });
            marked_by(cx, refined, answer.unmarked().1, &[])
        }
        _ => Ok(answer),
    }
}

#[cfg(test)]
mod tests;
