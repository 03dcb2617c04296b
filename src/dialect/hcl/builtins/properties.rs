//! The constructor of objects that are written in JSON, where the entries are properties.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::semantics::{noted, union};
use crate::dialect::hcl::values::convert::convert;
use crate::function::{Cx, Subject};
use crate::value::{Type, Value};

/// An object of names and values in turn. A name that is no text, or that comes twice, is an error, and the property is
/// left out; where a name is not known, nothing is of the object. Part `n` of the call is the name of property `n`.
pub(super) fn json_object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(list)] = args else { return Err(cx.arity()) };
    let pairs = list.items().as_chunks::<2>().0;
    let (mut entries, mut places) = (Vec::with_capacity(pairs.len()), HashMap::with_capacity(pairs.len()));
    let (mut known, mut marks) = (true, &[][..]);
    for (at, &[name, value]) in (0..).zip(pairs) {
        let Some(name) = text_of(cx, name, at)? else { continue };
        let (name, own) = name.unmarked();
        marks = union(cx, marks, own);
        let Some(name) = name.as_str() else {
            known = false;
            continue;
        };
        match places.entry(name) {
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

/// The name of the property at `at` as text, known or not; nothing where it is none, which is noted.
fn text_of<'v>(cx: &Cx<'v>, name: Value<'v>, at: u32) -> Result<Option<Value<'v>>> {
    let summary = "Invalid object key expression";
    let text = noted(cx, convert(cx, name, &Type::String), summary, Subject::Part(at))?;
    if text.is_some_and(|text| text.unmarked().0.is_null()) {
        let error = Diagnostic::new(Code::TypeMismatch, summary).with_detail("A key cannot be null");
        cx.note_error(error, Subject::Part(at));
        return Ok(None);
    }
    Ok(text)
}

fn note_duplicate(cx: &Cx<'_>, name: &str, first: u32, at: u32) {
    let detail = format!("`{name}` is already set by property {} of the object", first + 1);
    let error = Diagnostic::new(Code::DuplicateDefinition, "Duplicate object attribute").with_detail(detail);
    cx.note_error(error, Subject::Part(at));
}
