//! The constructor of objects of the JSON syntax, whose entries are properties.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::evaluation::{mark_union, note_error, ok_or_note};
use crate::dialect::hcl::values::convert::convert;
use crate::function::{Cx, Subject};
use crate::value::{Type, Value};

/// Makes an object of alternating names and values. A property whose name is not a string, or a duplicate, is an error
/// and left out. If a name is unknown, so is the object. Part `n` of the call is the name of property `n`.
pub(super) fn json_object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list)] = args else { return Err(cx.arity()) };
    let pairs = list.items().as_chunks::<2>().0;
    let (mut entries, mut indexes) = (Vec::with_capacity(pairs.len()), HashMap::with_capacity(pairs.len()));
    let (mut known, mut marks) = (true, &[][..]);
    for (at, &[name, value]) in (0..).zip(pairs) {
        let Some(name) = name_string(cx, name, at)? else { continue };
        let (name, own) = name.unmarked();
        marks = mark_union(cx, marks, own);
        let Some(name) = name.as_str() else {
            known = false;
            continue;
        };
        match indexes.entry(name) {
            Entry::Occupied(first) => note_duplicate(cx, name, *first.get(), at),
            Entry::Vacant(free) => {
                free.insert(at);
                entries.push((name, value));
            }
        }
    }
    if !known {
        return Ok(cx.arena().unknown(Type::Dynamic));
    }
    Ok(cx.arena().marked(cx.map(&entries)?, marks))
}

/// Converts the name of property `at` to a string, which may be unknown. Notes an error if that fails.
fn name_string<'v>(cx: &Cx<'v>, name: Value<'v>, at: u32) -> Result<Option<Value<'v>>> {
    let summary = "Invalid object key expression";
    let text = ok_or_note(cx, convert(cx, name, &Type::String), summary, Subject::Part(at))?;
    if text.is_some_and(|text| text.unmarked().0.is_null()) {
        note_error(cx, summary, "A key cannot be null", Subject::Part(at));
        return Ok(None);
    }
    Ok(text)
}

fn note_duplicate(cx: &Cx<'_>, name: &str, first: u32, at: u32) {
    let detail = format!("`{name}` is already set by property {} of the object", first + 1);
    let error = Diagnostic::new(Code::DuplicateDefinition, "Duplicate object attribute").with_detail(detail);
    cx.note_error(error, Subject::Part(at));
}
