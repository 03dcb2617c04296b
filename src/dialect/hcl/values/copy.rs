//! Copies of values into another arena.

use crate::function::{Cx, Outcome};
use crate::value::{Arena, BigNum, Capsule, CapsuleContent, Extended, Refinement, Unknown, Value};

/// Copies a value, charged by its size. The copy borrows nothing from the original.
///
/// # Errors
/// The memory or step limit was reached, or the value nests too deep.
pub fn copied<'v>(cx: &Cx<'v>, value: Value<'_>) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    Ok(match value {
        Value::Undefined => Value::Undefined,
        Value::Null => Value::Null,
        Value::Bool(truth) => Value::Bool(truth),
        Value::Int(n) => Value::Int(n),
        Value::Uint(n) => Value::Uint(n),
        Value::Float(n) => Value::Float(n),
        Value::Str(text) => cx.text(text.as_str())?,
        Value::List(list) => {
            let items: Vec<_> = list.items().iter().map(|item| copied(cx, *item)).collect::<Outcome<_>>()?;
            cx.list(&items)?
        }
        Value::Map(map) => {
            let entry = |(key, value): (&str, Value<'_>)| {
                cx.charge(key.len())?;
                Ok((cx.arena().copy_str(key), copied(cx, value)?))
            };
            cx.map(&map.iter().map(entry).collect::<Outcome<Vec<_>>>()?)?
        }
        Value::Extended(extension) => {
            cx.charge(size_of::<Extended<'_>>())?;
            copied_extended(cx, extension.kind())?
        }
    })
}

fn copied_extended<'v>(cx: &Cx<'v>, extended: &Extended<'_>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    Ok(match extended {
        Extended::Number(number) => arena.number(*number),
        Extended::Null(ty) => arena.null(ty.in_arena(arena)),
        Extended::Unknown(unknown) => arena.extended(Extended::Unknown(Unknown {
            ty: unknown.ty.in_arena(arena),
            refinement: refinement(arena, &unknown.refinement),
            faulty: unknown.faulty,
        })),
        Extended::Marked(value, marks) => {
            let marks: Vec<_> = marks.iter().map(|mark| arena.copy_str(mark)).collect();
            arena.marked(copied(cx, *value)?, &marks)
        }
        Extended::Typed(ty, elements) => arena.typed(ty.in_arena(arena), copied(cx, *elements)?),
        Extended::Capsule(capsule) => arena.extended(Extended::Capsule(Capsule {
            name: arena.copy_str(capsule.name),
            id: capsule.id,
            content: match capsule.content {
                CapsuleContent::Opaque => CapsuleContent::Opaque,
                CapsuleContent::Type(ty) => CapsuleContent::Type(ty.in_arena(arena)),
                CapsuleContent::Text(text) => CapsuleContent::Text(arena.copy_str(text)),
            },
        })),
        // The spelling in a document does not matter here.
        Extended::Written(value, _) => copied(cx, *value)?,
        Extended::Bytes(bytes) => cx.bytes(bytes)?,
        Extended::Named(name) => arena.extended(Extended::Named(arena.copy_str(name))),
        Extended::Timestamp { seconds, nanos } => {
            arena.extended(Extended::Timestamp { seconds: *seconds, nanos: *nanos })
        }
        Extended::Duration(nanos) => arena.extended(Extended::Duration(*nanos)),
        Extended::Optional(value) => cx.extended(Extended::Optional(copied(cx, *value)?))?,
        Extended::Entries(entries) => {
            let each =
                |values: &[Value<'_>]| values.iter().map(|value| copied(cx, *value)).collect::<Outcome<Vec<_>>>();
            match cx.entries(&each(entries.keys())?, &each(entries.values())?)? {
                Ok(entries) => entries,
                // Cannot happen: these are keys of a map.
                Err(_) => Value::Null,
            }
        }
    })
}

fn refinement<'v>(arena: &'v Arena, known: &Refinement<'_>) -> Refinement<'v> {
    let bound = |bound: Option<&(BigNum, bool)>| bound.map(|(number, own)| arena.bound(*number, *own));
    Refinement {
        not_null: known.not_null,
        prefix: arena.copy_str(known.prefix),
        least: bound(known.least),
        most: bound(known.most),
        len_least: known.len_least,
        len_most: known.len_most,
    }
}
