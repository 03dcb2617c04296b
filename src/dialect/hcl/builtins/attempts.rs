//! `try`, `can` and `convert`: functions that look at an argument's errors, or at a type.

use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::types::type_of;
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known};
use crate::function::{Cx, Note, Noted};
use crate::positional;
use crate::value::{CapsuleContent, Extended, Type, Value};

positional! {
    /// What an expression gives where it may fail, and what it is as another type.
    pub(super) static ATTEMPTS:
    "try" (... expressions: Any [null unknown dynamic marked errors]) -> Any or null = first_that_succeeds,
        "The value of the first expression without an error." ["try({}.baz, \"fallback\")" => "\"fallback\""];
    "can" (expression: Any [null unknown dynamic marked errors]) -> Bool or null = succeeds,
        "Whether an expression has no error." ["can({}.baz)" => "false"];
    "convert" (value: Any [null dynamic], type: Any [constraint]) -> {wanted_type} or null = converted,
        "The value as one of a type, which is written as in a declaration." ["convert(\"1\", number)" => "1"];
}

/// Each argument with what was noted while it was evaluated; nothing of that counts for the program any more.
fn noted<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Vec<(Value<'v>, Vec<Note<'v>>)>> {
    let (pairs, _) = args.as_chunks::<2>();
    let place = |value: &Value<'v>| match value {
        Value::Int(place) => usize::try_from(*place).map_err(|_| Fault::from(cx.arity())),
        _ => Err(cx.arity().into()),
    };
    let mut noted = Vec::with_capacity(pairs.len());
    for [before, value] in pairs.iter().rev() {
        noted.push((*value, cx.notes().take(place(before)?)));
    }
    noted.reverse();
    Ok(noted)
}

fn failed(notes: &[Note<'_>]) -> bool {
    notes.iter().any(|note| matches!(note.what, Noted::Error(..)))
}

fn first_that_succeeds<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let attempts = noted(cx, args)?;
    for (value, notes) in &attempts {
        if failed(notes) {
            continue;
        }
        // Whatever is not known yet may still fail, or turn out to be of another type.
        return Ok(if is_wholly_known(cx, *value)? { *value } else { cx.arena().unknown(Type::Dynamic) });
    }
    let mut why = String::from("no expression succeeds");
    for note in attempts.iter().flat_map(|(_, notes)| notes) {
        let Noted::Error(error, _) = &note.what else { continue };
        cx.charge(error.message.len() + 2)?;
        why.push_str("; ");
        why.push_str(&error.message);
    }
    Err(Fault::wrong(if attempts.is_empty() { "at least one argument is required".to_owned() } else { why }))
}

fn succeeds<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let attempts = noted(cx, args)?;
    let (value, notes) = attempts.first().ok_or_else(|| Fault::wrong("one argument is required"))?;
    Ok(match () {
        () if failed(notes) => Value::Bool(false),
        () if is_wholly_known(cx, *value)? => Value::Bool(true),
        () => cx.arena().unknown(Type::Bool),
    })
}

fn wanted<'v>(args: &[Value<'v>]) -> Outcome<Type<'v>> {
    match args.get(1).and_then(Value::extended) {
        Some(Extended::Capsule(capsule)) => match capsule.content {
            CapsuleContent::Type(ty) => Ok(ty),
            CapsuleContent::Opaque | CapsuleContent::Text(_) => Err(Fault::argument(1, "a type is required")),
        },
        _ => Err(Fault::argument(1, "a type is required")),
    }
}

fn wanted_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_of(cx, converted(cx, args)?)
}

fn converted<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let value = args.first().copied().unwrap_or(Value::Null);
    convert(cx, value, &wanted(args)?).map_err(|fault| match fault {
        Fault::Wrong(mut wrong) => {
            wrong.argument = Some(0);
            Fault::Wrong(wrong)
        }
        limit => limit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;
    use crate::dialect::hcl::testing::with_cx;
    use crate::function::Subject;
    use crate::value::Capsule;

    /// Notes an error and gives what the argument's value then is.
    fn fail<'v>(cx: &Cx<'v>) -> Value<'v> {
        cx.note_error(cx.fault(Code::UndefinedVariable, "nope"), Subject::Whole);
        cx.arena().faulty(Type::Dynamic)
    }

    fn place<'v>(cx: &Cx<'v>) -> Value<'v> {
        Value::uint(cx.notes().count() as u64)
    }

    #[test]
    fn the_first_argument_without_errors_is_the_answer_and_no_error_is_left() {
        with_cx(|cx| {
            fail(cx);
            let args = [place(cx), fail(cx), place(cx), Value::Int(2), place(cx), fail(cx)];
            assert!(matches!(first_that_succeeds(cx, &args), Ok(Value::Int(2))));
            assert_eq!(cx.notes().count(), 1);
            let args = [place(cx), fail(cx), place(cx), fail(cx)];
            let Err(Fault::Wrong(wrong)) = first_that_succeeds(cx, &args) else { panic!("all fail") };
            assert_eq!(wrong.message, "no expression succeeds; nope; nope");
            assert_eq!((wrong.argument, cx.notes().count()), (None, 1));
            let unknown = cx.arena().list(&[cx.arena().unknown(Type::Bool)]);
            let answer = first_that_succeeds(cx, &[place(cx), unknown, place(cx), Value::Int(2)]).unwrap();
            assert!(answer.as_unknown().is_some_and(|unknown| unknown.ty == Type::Dynamic && !unknown.faulty));
            assert!(first_that_succeeds(cx, &[]).is_err());
        });
    }

    #[test]
    fn can_says_whether_there_are_errors() {
        with_cx(|cx| {
            assert!(matches!(succeeds(cx, &[place(cx), fail(cx)]), Ok(Value::Bool(false))));
            assert!(matches!(succeeds(cx, &[place(cx), Value::Null]), Ok(Value::Bool(true))));
            let unknown = succeeds(cx, &[place(cx), cx.arena().unknown(Type::String)]).unwrap();
            assert!(!unknown.is_known());
            assert_eq!(cx.notes().count(), 0);
        });
    }

    #[test]
    fn types_are_arguments_of_convert() {
        with_cx(|cx| {
            let content = CapsuleContent::Type(Type::Number);
            let number = cx.arena().extended(Extended::Capsule(Capsule { name: "type", id: 0, content }));
            assert!(matches!(converted(cx, &[cx.arena().text("1"), number]), Ok(Value::Int(1))));
            assert!(matches!(converted(cx, &[cx.arena().text("a"), number]), Err(Fault::Wrong(_))));
            assert!(matches!(converted(cx, &[Value::Int(1), Value::Int(2)]), Err(Fault::Wrong(_))));
        });
    }
}
