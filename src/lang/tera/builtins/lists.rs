//! List filters: single items, joining, slicing.

use super::arguments::{Written, items, missing, wrong};
use super::strings::unescaped;
use super::text::Charged;
use dropforge_base::diagnostics::Result;
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

builtins! {
    /// List filters.
    pub(super) static LISTS:
    filter "first" (value: List) = first, total (List),
        "The first item; empty text where there is none."
        [r"{{ [3, 1] | first }}" => "3", r"{{ 'a' | first }}" => "E0403"];
    filter "last" (value: List) = last, total (List),
        "The last item; empty text where there is none."
        [r"{{ [3, 1] | last }}" => "1"];
    filter "nth" (value: List, n: Any = absent) = nth,
        "The item at `n`, counted from 0; empty text where there is none."
        [r"{{ [3, 1] | nth(n=1) }}" => "1", r"{{ [3] | nth(n=1) }}" => "", r"{{ [3] | nth }}" => "E0402"];
    filter "join" (value: List, sep: Str = str "") => join,
        r"The items as one text, `sep` between them; `\n` and `\t` in it stand for a line feed and a tab."
        [r"{{ ['a', 1, 2.0] | join(sep=', ') }}" => "a, 1, 2"];
    filter "slice" (value: List, start: Any = absent, end: Any = absent) = slice,
        "The items from `start` up to but not including `end`; negative positions count from the end."
        [r"{{ [1, 2, 3, 4] | slice(start=1, end=-1) }}" => "[2, 3]", r"{{ [1] | slice(start='a') }}" => "E0403"];
    filter "concat" (value: List, with: Any) = concat, total (List, Present),
        "With the items of the list `with`, or with `with` itself, at the end."
        [r"{{ [1] | concat(with=[2, 3]) | concat(with=4) }}" => "[1, 2, 3, 4]"];
}

fn first<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    items(cx, args)?.first().copied().map_or_else(|| cx.borrowed(""), Ok)
}

fn last<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    items(cx, args)?.last().copied().map_or_else(|| cx.borrowed(""), Ok)
}

fn nth<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let items = items(cx, args)?;
    if items.is_empty() {
        return cx.borrowed("");
    }
    let at = match args.get(1).copied().unwrap_or_default() {
        Value::Int(n @ 0..) => usize::try_from(n).unwrap_or(usize::MAX),
        Value::Uint(_) => usize::MAX,
        Value::Undefined => return Err(missing("filter `nth`", "n", "an integer that is not negative")),
        other => return Err(wrong("filter `nth`", "n", "an integer that is not negative", other)),
    };
    items.get(at).copied().map_or_else(|| cx.borrowed(""), Ok)
}

fn join<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [_, sep] = args else { return Err(cx.arity()) };
    let (items, sep) = (items(cx, args)?, unescaped(cx, *sep)?);
    let mut joined = Charged::new(cx, out);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            joined.push(&sep)?;
        }
        joined.value(*item)?;
    }
    joined.finish()
}

fn slice<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, start, end] = args else { return Err(cx.arity()) };
    let items = items(cx, args)?;
    if items.is_empty() {
        return Ok(*value);
    }
    let start = position("start", *start, items.len())?.unwrap_or(0);
    let end = position("end", *end, items.len())?.map_or(items.len(), |end| end.min(items.len()));
    cx.list(items.get(start..end).unwrap_or(&[]))
}

/// Returns a position from the start. Negative positions count from the end; those before the start become 0.
fn position(param: &str, value: Value<'_>, len: usize) -> Result<Option<usize>> {
    match value.as_f64() {
        Some(at) if at >= 0.0 => Ok(Some(at as usize)),
        Some(at) => Ok(Some((len as f64 + at) as usize)),
        None if value.is_undefined() => Ok(None),
        None => Err(wrong("filter `slice`", param, "a number", value)),
    }
}

fn concat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [_, with] = args else { return Err(cx.arity()) };
    let items = items(cx, args)?;
    let more = with.as_list().unwrap_or(std::slice::from_ref(with));
    cx.spend((items.len() + more.len()) as u64)?;
    cx.charge((items.len() + more.len()) * size_of::<Value>())?;
    cx.list(&[items, more].concat())
}
