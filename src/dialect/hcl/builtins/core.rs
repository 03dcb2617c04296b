//! What the language does besides operators and functions that a source can name: `&&`, `||`, conditionals,
//! constructors of objects, templates and the ends of loops. Lowering calls these; no source can.
//!
//! Errors are notes. A function that must know which errors its operands had, or that drops those of an operand that
//! does not count, gets the numbers of notes that there were before the operands were evaluated.

use crate::builtins;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::semantics::{faulty, join, noted, number_of, union};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::json::{Json, decode_type};
use crate::dialect::hcl::values::refine::Refine;
use crate::dialect::hcl::values::unify::unify;
use crate::dialect::hcl::values::{Outcome, elements, logic, numbers, types};
use crate::function::{Cx, Fault, Subject};
use crate::value::{BigNum, Capsule, CapsuleContent, Extended, Refinement, Type, Value};
use crate::vm::Logic;

builtins! {
    /// The core.
    pub(crate) static CORE:
    filter "dynamic" () = dynamic, "A value of which nothing is known." [];
    filter "number" (digits: Str) = number, "The number of a literal." [];
    filter "type" (json: Str) = type_of_json, "A type that was written as an argument." [];
    filter "ambiguous key" () = ambiguous_key, "What a key with steps is: an error." [];
    filter "conditional" (then_from: Int, then: Any, otherwise_from: Int, otherwise: Any, condition: Any) = conditional, "One of two." [];
    filter "object" (entries: List) = object, "An object of keys and values in turn." [];
    filter "json object" (entries: List) = super::properties::json_object, "An object of the JSON syntax of keys and values in turn." [];
    filter "joined" (texts: Any) = joined, "The texts of a tuple as one." [];
    filter "for ready" (collection: Any) = super::loops::ready, "Whether a loop can go over a value." [];
    filter "for rehearsal" (condition: Any, from: Int) = super::loops::rehearsal, "Whether a condition can be an answer." [];
    filter "for key" (key: Any) = super::loops::key, "The text of a key, or nothing." [];
    filter "for tuple" (items: List, from: Int, collection: Any) = super::loops::tuple, "The end of a loop that makes a tuple." [];
    filter "for object" (entries: List, from: Int, collection: Any) = super::loops::object, "The end of a loop that makes an object." [];
    filter "for groups" (entries: List, from: Int, collection: Any) = super::loops::groups, "The end of a loop that makes an object of tuples." [];
    filter "splat source" (source: Any, from: Int) = super::loops::splat_source, "What a splat goes over." [];
    filter "splat" (items: List, source: Any, from: Int, items_from: Int) = super::loops::splat, "The end of a splat." [];
}

fn dynamic<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(cx.arena().unknown(Type::Dynamic))
}

fn number<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(digits)] = args else { return Err(cx.arity()) };
    cx.charge(digits.as_str().len())?;
    Ok(number_of(cx, digits.as_str()))
}

fn type_of_json<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(json)] = args else { return Err(cx.arity()) };
    let Ok(json) = Json::read(json.as_str(), cx.limits().value_depth) else { return Err(cx.arity()) };
    let ty = limit(decode_type(cx, &json))?.unwrap_or(Type::Dynamic);
    let capsule = Capsule { name: "type", id: 0, content: CapsuleContent::Type(ty) };
    Ok(cx.arena().extended(Extended::Capsule(capsule)))
}

fn ambiguous_key<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    let error = Diagnostic::new(Code::UnexpectedToken, "Ambiguous attribute key").with_help(
        "put it in parentheses to take its value as the key, or in quotes to take its text with the dots in it",
    );
    cx.note_error(error, Subject::Whole);
    Ok(cx.arena().faulty(Type::Dynamic))
}

/// An operand of `&&` or `||`: its value as a boolean without marks, and whether its evaluation had errors.
struct Side<'v> {
    value: Value<'v>,
    failed: bool,
}

impl Side<'_> {
    /// Whether it is known to be `truth`; null counts as false.
    fn is(&self, truth: bool) -> bool {
        self.value.is_known() && matches!(self.value, Value::Bool(true)) == truth
    }
}

/// `&&` and `||` where an operand is no plain boolean or errors were noted before one of them.
pub(in crate::dialect::hcl) fn logic<'v>(
    cx: &Cx<'v>,
    logic: Logic,
    [given_left, given_right]: [Value<'v>; 2],
    from: [Value<'v>; 2],
) -> Result<Value<'v>> {
    let [Value::Int(left_from), Value::Int(right_from)] = from else { return Err(cx.arity()) };
    let decides = logic.decides();
    if let (Value::Bool(left), Value::Bool(right)) = (given_left, given_right) {
        keep_errors(cx, [left_from, right_from], [left == decides || right != decides, left != decides]);
        return Ok(Value::Bool(logic.of(left, right)));
    }
    let failed = [(left_from, right_from), (right_from, i64::MAX)].map(|(from, to)| had_errors(cx, from, to));
    let operands = [(given_left, 0), (given_right, 1)];
    let mut sides = [Value::Null; 2];
    let mut all_marks: &[&str] = &[];
    let mut wrong = false;
    for ((given, part), side) in operands.into_iter().zip(&mut sides) {
        match noted(cx, convert(cx, given, &Type::Bool), "Invalid operand", Subject::Part(part))? {
            Some(value) => {
                let (value, own) = value.unmarked();
                all_marks = union(cx, all_marks, own);
                *side = value;
            }
            None => wrong = true,
        }
    }
    if wrong {
        return Ok(cx.arena().faulty(Type::Bool));
    }
    let [left, right] = [Side { value: sides[0], failed: failed[0] }, Side { value: sides[1], failed: failed[1] }];
    let marked = |value| Ok(cx.arena().marked(value, all_marks));
    let unknown = || cx.arena().refined(Type::Bool, Refinement::NOT_NULL);
    let (forced, keep) = match (left.value.is_known(), right.value.is_known()) {
        (false, false) if !left.failed => (Some(unknown()), [true, false]),
        (false, false) => (None, [true, true]),
        _ if left.is(decides) => (Some(Value::Bool(decides)), [true, false]),
        _ if right.is(decides) => (Some(Value::Bool(decides)), [false, true]),
        (false, _) if right.is(!decides) => (Some(unknown()), [true, false]),
        (_, false) if left.is(!decides) => (Some(unknown()), [false, true]),
        _ => (None, [true, true]),
    };
    keep_errors(cx, [left_from, right_from], keep);
    if let Some(forced) = forced {
        return marked(forced);
    }
    if left.failed || right.failed {
        return marked(cx.arena().faulty(Type::Bool));
    }
    let operation = if logic == Logic::And { logic::and } else { logic::or };
    match noted(cx, operation(cx, left.value, right.value), "Operation failed", Subject::Whole)? {
        Some(value) => marked(value),
        None => Ok(cx.arena().faulty(Type::Bool)),
    }
}

/// A number of notes as a place among them.
pub(super) fn place(from: i64) -> usize {
    usize::try_from(from).unwrap_or(usize::MAX)
}

/// Whether errors were noted from place `from` to before place `to`.
pub(super) fn had_errors(cx: &Cx<'_>, from: i64, to: i64) -> bool {
    cx.notes().has_error(place(from), place(to))
}

/// Of what was noted since the first place, what belongs to two operands is kept or dropped.
fn keep_errors(cx: &Cx<'_>, [first, second]: [i64; 2], [keep_first, keep_second]: [bool; 2]) {
    if cx.notes().count() <= place(first) || keep_first && keep_second {
        return;
    }
    let of_second = cx.notes().take(place(second));
    let of_first = cx.notes().take(place(first));
    cx.notes().put(of_first.into_iter().filter(|_| keep_first));
    cx.notes().put(of_second.into_iter().filter(|_| keep_second));
}

fn conditional<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::Int(then_from), then, Value::Int(otherwise_from), otherwise, condition] = args else {
        return Err(cx.arity());
    };
    let from = [then_from, otherwise_from];
    if let Value::Bool(truth) = condition
        && let Some(value) = plainly(then, otherwise, truth)
    {
        keep_errors(cx, from, [truth, !truth]);
        return Ok(value);
    }
    let Some(branches) = common_type(cx, then, otherwise)? else {
        keep_errors(cx, from, [false, false]);
        let error = Diagnostic::new(Code::TypeMismatch, "Inconsistent conditional result types").with_detail(format!(
            "One result is {}, the other {}",
            described(cx, then)?,
            described(cx, otherwise)?
        ));
        cx.note_error(error, Subject::Part(3));
        return Ok(cx.arena().faulty(Type::Dynamic));
    };
    if condition.is_null() {
        keep_errors(cx, from, [false, false]);
        let error = Diagnostic::new(Code::TypeMismatch, "Null condition")
            .with_detail("The condition is null; it must be true or false");
        cx.note_error(error, Subject::Part(0));
        return Ok(cx.arena().faulty(branches));
    }
    if !condition.is_known() {
        keep_errors(cx, from, [false, false]);
        return either(cx, branches, condition, then, otherwise);
    }
    let Some(truth) = noted(cx, convert(cx, condition, &Type::Bool), "Incorrect condition type", Subject::Part(0))?
    else {
        let errors = cx.notes().take(place(then_from));
        let last = errors.into_iter().next_back();
        cx.notes().put(last);
        return Ok(cx.arena().faulty(branches));
    };
    let own = [condition, then, otherwise].into_iter().fold(&[][..], |all, value| union(cx, all, value.unmarked().1));
    let truth = matches!(truth.unmarked().0, Value::Bool(true));
    keep_errors(cx, from, [truth, !truth]);
    let (chosen, part) = if truth { (then, 1) } else { (otherwise, 2) };
    let summary = "Inconsistent conditional result types";
    match noted(cx, convert(cx, chosen, &branches), summary, Subject::Part(part))? {
        Some(value) => Ok(cx.arena().marked(value, own)),
        None => Ok(cx.arena().faulty(branches)),
    }
}

/// The chosen value where both plainly are of one primitive type.
fn plainly<'v>(then: Value<'v>, otherwise: Value<'v>, truth: bool) -> Option<Value<'v>> {
    match (then, otherwise) {
        (Value::Str(_), Value::Str(_)) | (Value::Int(_), Value::Int(_)) | (Value::Bool(_), Value::Bool(_)) => {
            Some(if truth { then } else { otherwise })
        }
        _ => None,
    }
}

/// The type of a conditional with these two results; `None` where there is none.
fn common_type<'v>(cx: &Cx<'v>, then: Value<'v>, otherwise: Value<'v>) -> Result<Option<Type<'v>>> {
    let both = [paid_type(cx, then)?, paid_type(cx, otherwise)?];
    Ok(match (then, otherwise) {
        (Value::Null, _) => Some(both[1]),
        (_, Value::Null) => Some(both[0]),
        _ if both.contains(&Type::Dynamic) => Some(Type::Dynamic),
        _ => limit(unify(cx, &both, true))?.flatten().map(|unified| unified.ty),
    })
}

/// A limit that was reached; what else is wrong is none.
pub(super) fn limit<T>(outcome: Outcome<T>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Fault::Limit(error)) => Err(error),
        Err(Fault::Wrong(_)) => Ok(None),
    }
}

/// The type of a value; parts that it shares are paid for as often as they come.
pub(super) fn paid_type<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Type<'v>> {
    Ok(limit(types::type_of(cx, value))?.unwrap_or(Type::Dynamic))
}

fn described<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<String> {
    Ok(types::name(&paid_type(cx, value)?))
}

/// What is known of a conditional's value where its condition is not known.
fn either<'v>(
    cx: &Cx<'v>,
    ty: Type<'v>,
    condition: Value<'v>,
    then: Value<'v>,
    otherwise: Value<'v>,
) -> Result<Value<'v>> {
    let all = [condition, then, otherwise].into_iter().fold(&[][..], |all, value| union(cx, all, value.unmarked().1));
    let (then, otherwise) = (then.unmarked().0, otherwise.unmarked().0);
    let known = limit(narrowed(cx, ty, then, otherwise))?.unwrap_or_else(|| cx.arena().unknown(ty));
    Ok(cx.arena().marked(known, all))
}

/// An unknown value of type `ty` that is one of two: what is known of both is known of it.
fn narrowed<'v>(cx: &Cx<'v>, ty: Type<'v>, then: Value<'v>, otherwise: Value<'v>) -> Outcome<Value<'v>> {
    if then.is_null() && otherwise.is_null() {
        return Ok(cx.arena().null(ty));
    }
    let mut unknown = Refine::of(cx.arena().unknown(ty));
    let both = [Known::of(cx, then)?, Known::of(cx, otherwise)?];
    if let [Some(a), Some(b)] = both {
        if a.not_null && b.not_null {
            unknown = unknown.not_null();
        }
        if let (Some(a), Some(b)) = (a.least, b.least) {
            let (number, inclusive) = if a.0.compare(&b.0).then(b.1.cmp(&a.1)).is_le() { a } else { b };
            unknown = unknown.at_least(cx, number, inclusive);
        }
        if let (Some(a), Some(b)) = (a.most, b.most) {
            let (number, inclusive) = if a.0.compare(&b.0).then(a.1.cmp(&b.1)).is_ge() { a } else { b };
            unknown = unknown.at_most(cx, number, inclusive);
        }
        if let (Some(a), Some(b), true) = (a.length, b.length, a.ty == b.ty) {
            unknown = unknown.length_at_least(a.0.min(b.0)).length_at_most(a.1.max(b.1));
        }
    }
    unknown.done(cx)
}

/// What is known of a value.
struct Known<'v> {
    ty: Type<'v>,
    not_null: bool,
    least: Option<(BigNum, bool)>,
    most: Option<(BigNum, bool)>,
    /// Of a collection: how many elements it has at least and at most.
    length: Option<(u64, u64)>,
}

impl<'v> Known<'v> {
    /// Nothing where the value is null.
    fn of(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Option<Self>> {
        let ty = types::type_of(cx, value)?;
        if let Some(unknown) = value.as_unknown() {
            let Refinement { not_null, least, most, len_least, len_most, .. } = unknown.refinement;
            let length = ty.element().map(|_| (len_least, len_most));
            return Ok(Some(Self { ty, not_null, least: least.copied(), most: most.copied(), length }));
        }
        if value.is_null() {
            return Ok(None);
        }
        let number = numbers::number_of(value).map(|number| (number, true));
        let length = match ty.element() {
            Some(_) => numbers::number_of(elements::length(cx, value)?).and_then(|n| u64::try_from(n.to_i64()?).ok()),
            None => None,
        };
        Ok(Some(Self {
            ty,
            not_null: true,
            least: number,
            most: number,
            length: length.map(|length| (length, length)),
        }))
    }
}

fn object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list)] = args else { return Err(cx.arity()) };
    let mut entries = Vec::with_capacity(list.items().len() / 2);
    let (mut known, mut all_marks) = (true, &[][..]);
    for (at, pair) in (0..).zip(list.items().as_chunks::<2>().0) {
        let [key, value] = *pair;
        if let Value::Str(key) = key {
            entries.push((key.as_str(), value));
            continue;
        }
        let (key, own) = key.unmarked();
        all_marks = union(cx, all_marks, own);
        match object_key(cx, key, at)? {
            Some(key) => entries.push((key, value)),
            None => known = false,
        }
    }
    if !known {
        return Ok(cx.arena().unknown(Type::Dynamic));
    }
    Ok(cx.arena().marked(cx.map(&entries)?, all_marks))
}

/// The text of the key of the entry at `at`.
fn object_key<'v>(cx: &Cx<'v>, key: Value<'v>, at: u32) -> Result<Option<&'v str>> {
    if faulty(key) {
        return Ok(None);
    }
    if key.is_null() {
        let error = Diagnostic::new(Code::TypeMismatch, "Null value as key").with_detail("A key cannot be null");
        cx.note_error(error, Subject::Part(2 * at + 1));
        return Ok(None);
    }
    let key = noted(cx, convert(cx, key, &Type::String), "Incorrect key type", Subject::Part(2 * at))?;
    Ok(key.and_then(|key| key.unmarked().0.as_str()))
}

fn joined<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[texts] = args else { return Err(cx.arity()) };
    let (plain, own) = texts.unmarked();
    if plain.is_null() {
        return Ok(cx.arena().faulty(Type::String)); // a `for` that failed; it has said why
    }
    match plain {
        Value::List(list) => {
            let text = join(cx, list.items(), |_| Subject::Part(0))?;
            Ok(cx.arena().marked(text, own))
        }
        _ => Ok(cx.arena().marked(cx.arena().refined(Type::String, Refinement::NONE), own)),
    }
}
