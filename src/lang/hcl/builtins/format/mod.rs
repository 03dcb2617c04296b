//! `format` and `formatlist`: strings with values in the places of verbs such as `%s` and `%5.2f`.

mod text;

use super::{functions, length_is_known, string};
use crate::values::{is_wholly_known, safe_prefix};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Refinement, Type, Value};
use text::formatted;

functions! {
    /// Functions that format values.
    pub(in crate::builtins) static FORMATS:
    "format" (format: String, ... args: Any [null unknown dynamic]) -> String = format,
        "Formats values by the verbs of a format string: %v %t %b %d %o %x %X %e %f %g %s %q."
        ["format(\"Hello, %s!\", \"you\")" => "\"Hello, you!\"", "format(\"%05.1f|%-4d|\", 3.14159, 7)" => "\"003.1|7   |\""];
    "formatlist" (format: String, ... args: Any [null unknown dynamic]) -> (list String) = format_list,
        "Formats each element of the lists among the arguments."
        ["formatlist(\"%s-%d\", [\"a\", \"b\"], 1)" => "[\"a-1\", \"b-1\"]"];
}

fn format<'v>(cx: &Cx<'v>, format: &str, values: &[Value<'v>]) -> Outcome<Value<'v>> {
    if all_known(cx, values)? {
        return string(cx, &formatted(cx, format, values)?);
    }
    let prefix = safe_prefix(format.split_once('%').map_or("", |(before, _)| before));
    cx.charge(prefix.len())?;
    let prefix = cx.arena().copy_str(&prefix);
    Ok(cx.arena().refined(Type::String, Refinement { prefix, ..Refinement::NOT_NULL }))
}

fn all_known<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<bool> {
    for value in values {
        if !is_wholly_known(cx, *value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn format_list<'v>(cx: &Cx<'v>, format: &str, values: &[Value<'v>]) -> Outcome<Value<'v>> {
    let Some((columns, rows)) = columns(cx, values)? else {
        return Ok(cx.arena().unknown(Type::List(&Type::String)));
    };
    let mut texts = Vec::new();
    for row in 0..rows {
        let values: Vec<_> = columns.iter().filter_map(|column| column.get(row)).collect();
        texts.push(if all_known(cx, &values)? {
            let text = formatted(cx, format, &values);
            string(cx, &text.map_err(|fault| fault.prefixed(&format!("text {row}")))?)?
        } else {
            cx.arena().refined(Type::String, Refinement::NOT_NULL)
        });
    }
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

/// An argument of `formatlist`.
enum Column<'v> {
    /// A list: one element for each row.
    Elements(&'v [Value<'v>]),
    /// The same value in each row.
    Constant(Value<'v>),
}

impl<'v> Column<'v> {
    fn get(&self, row: usize) -> Option<Value<'v>> {
        match self {
            Self::Elements(items) => items.get(row).copied(),
            Self::Constant(value) => Some(*value),
        }
    }
}

/// Returns the arguments and the number of rows, if that is known.
fn columns<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Vec<Column<'v>>, usize)>> {
    let (mut columns, mut known) = (Vec::new(), true);
    let mut length: Option<(usize, usize)> = None;
    for (at, value) in values.iter().enumerate() {
        let Some(len) = length_of(cx, *value, &mut known)? else {
            columns.push(Column::Constant(*value));
            continue;
        };
        let (first, wanted) = *length.get_or_insert((at, len));
        if len != wanted {
            let why = format!("argument {} has {len} elements, but argument {} has {wanted}", at + 1, first + 1);
            return Err(Fault::argument(at + 1, why));
        }
        columns.push(Column::Elements(value.elements().unwrap_or(&[])));
    }
    Ok(known.then_some((columns, length.map_or(1, |(_, len)| len))))
}

/// Returns the length of a list, set or tuple. Clears `known` if the length is unknown.
fn length_of<'v>(cx: &Cx<'v>, value: Value<'v>, known: &mut bool) -> Outcome<Option<usize>> {
    if let Some(unknown) = value.as_unknown() {
        let is_list = matches!(unknown.ty, Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic);
        *known &= !is_list;
        return Ok(if let Type::Tuple(types) = unknown.ty { Some(types.len()) } else { None });
    }
    let Some(elements) = value.elements() else { return Ok(None) };
    if !length_is_known(cx, value)? {
        *known = false;
        return Ok(None);
    }
    Ok(Some(elements.len()))
}
