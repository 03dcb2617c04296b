//! Functions that take elements out of lists and tuples, and put lists together.

use super::parts::{
    Kind, WHOLE, element_of, items, length_is_known, marked_as, named, of_argument, type_of_list, whole,
};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::list_of;
use crate::dialect::hcl::values::types::{type_of, types_of};
use crate::dialect::hcl::values::unify::unified_type;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::value::{Type, Value};

positional! {
    /// Functions of sequences: lists and tuples.
    pub(super) static SEQUENCES:
    "element" (list: Any [marked], index: Number) -> {element_type} or null = element,
        "The element at an index, which goes round: behind the last comes the first, before the first the last."
        ["element([\"a\", \"b\", \"c\"], 4)" => "\"b\"", "element([\"a\", \"b\", \"c\"], -1)" => "\"c\""];
    "slice" (list: Any [marked], start_index: Number, end_index: Number) -> {slice_type} = slice,
        "The elements from one index to before another."
        ["slice([\"a\", \"b\", \"c\"], 1, 3)" => "[\"b\", \"c\"]"];
    "concat" (... seqs: Any [marked]) -> {concat_type} = concat,
        "The elements of several lists or tuples, one after the other."
        ["concat([1], [\"a\", true])" => "[1, \"a\", true]"];
    "coalescelist" (... vals: Any [null unknown dynamic]) -> Any = coalescelist,
        "The first of several lists or tuples that has elements." ["coalescelist([], [1])" => "[1]"];
    "chunklist" (list: (list Any) [marked], size: Number [marked]) -> {chunklist_type} = chunklist,
        "The elements in lists of at most so many; 0 makes one list of all."
        ["chunklist([1, 2, 3], 2)" => "[[1, 2], [3]]"];
    "flatten" (list: Any [marked]) -> Any = flatten,
        "The elements, where those that are lists, sets or tuples give way to what is in them, at every depth."
        ["flatten([1, [2, [3]], []])" => "[1, 2, 3]"];
}

positional! {
    /// What only OpenTofu has under this name.
    pub(super) static OPENTOFU_SEQUENCES:
    "reverse" (list: Any [marked]) -> {reverse_type} = reverse,
        "The elements of a list or tuple, the last first." ["reverse([1, 2, 3])" => "[3, 2, 1]"];
}

positional! {
    /// What OpenTofu has under another name.
    pub(super) static STANDARD_SEQUENCES:
    "reverselist" (list: Any [marked]) -> {reverse_type} = reverse,
        "The elements of a list or tuple, the last first." ["reverselist([1, 2, 3])" => "[3, 2, 1]"];
}

fn element_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [list, index] = args else { return Err(cx.arity().into()) };
    match type_of(cx, *list)? {
        Type::List(element) => Ok(*element),
        Type::Tuple(_) if !index.is_known() => Ok(Type::Dynamic),
        Type::Tuple(types) => Ok(*around(types, *index)?),
        _ => Err(no_elements(cx, *list)?),
    }
}

fn element<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list, index] = args else { return Err(cx.arity().into()) };
    if !Kind::of(*list).is_sequence() {
        return Err(no_elements(cx, *list)?);
    }
    Ok(marked_as(cx, *around(items(*list), *index)?, &[*list]))
}

fn no_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Fault> {
    Ok(Fault::wrong(format!("elements are taken from a list or tuple, not from {}", named(cx, value)?)))
}

/// The one of `all` at `index`, which goes round.
fn around<'a, T>(all: &'a [T], index: Value<'_>) -> Outcome<&'a T> {
    let index = whole(index).ok_or_else(|| Fault::wrong(format!("the index does not fit: {WHOLE}")))?;
    let at = i64::try_from(all.len()).ok().and_then(|len| index.checked_rem_euclid(len));
    let found = at.and_then(|at| all.get(usize::try_from(at).ok()?));
    found.ok_or_else(|| Fault::wrong("there are no elements"))
}

fn slice_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let bounds = bounds(cx, args)?;
    let [list, ..] = args else { return Err(cx.arity().into()) };
    let ty = type_of(cx, *list)?;
    let Type::Tuple(types) = ty else { return Ok(ty) };
    Ok(match bounds {
        Some((start, end)) => Type::Tuple(types.get(start..end).unwrap_or(&[])),
        None => Type::Dynamic,
    })
}

fn slice<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list, ..] = args else { return Err(cx.arity().into()) };
    let (start, end) = bounds(cx, args)?.unwrap_or_default();
    let part = items(*list).get(start..end).unwrap_or(&[]);
    let part = match type_of_list(*list) {
        Some(element) => list_of(cx, element, part)?,
        None => cx.list(part)?,
    };
    Ok(marked_as(cx, part, &[*list]))
}

/// The bounds that a slice has, where both are known.
fn bounds<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Option<(usize, usize)>> {
    let [list, start, end] = args else { return Err(cx.arity().into()) };
    match Kind::of(*list) {
        Kind::List | Kind::Tuple => {}
        Kind::Set => {
            return Err(Fault::argument(0, "the elements of a set have no indexes: convert it to a list first"));
        }
        _ => return Err(Fault::argument(0, "a list or tuple is required")),
    }
    let length = match (list.elements(), list.as_unknown().map(|unknown| unknown.ty)) {
        (Some(items), _) => Some(items.len()),
        (None, Some(Type::Tuple(types))) => Some(types.len()),
        _ => None,
    };
    let start = bound(1, *start, length)?;
    let end = bound(2, *end, length)?;
    match (start, end) {
        (Some(start), Some(end)) if start > end => Err(Fault::argument(1, "the start is behind the end")),
        (Some(start), Some(end)) => Ok(Some((start, end))),
        _ => Ok(None),
    }
}

/// The bound of a slice that argument `at` is, where it is known.
fn bound(at: usize, value: Value<'_>, length: Option<usize>) -> Outcome<Option<usize>> {
    if !value.is_known() {
        return Ok(None);
    }
    let bound = whole(value).ok_or_else(|| Fault::argument(at, WHOLE))?;
    let bound = usize::try_from(bound).map_err(|_| Fault::argument(at, "the index must not be negative"))?;
    if length.is_some_and(|length| bound > length) {
        return Err(Fault::argument(at, "the index is behind the end of the list"));
    }
    Ok(Some(bound))
}

fn reverse_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    match type_of(cx, *list)? {
        Type::Tuple(types) => {
            let reversed: Vec<_> = types.iter().rev().copied().collect();
            Ok(cx.arena().tuple_type(&reversed))
        }
        Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
        _ => Err(Fault::argument(0, format!("a list or tuple is required, not {}", named(cx, *list)?))),
    }
}

fn reverse<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    cx.charge(size_of_val(items(*list)))?;
    let reversed: Vec<_> = items(*list).iter().rev().copied().collect();
    let reversed = match Kind::of(*list) {
        Kind::Tuple => cx.list(&reversed)?,
        _ => list_of(cx, element_of(&reverse_type(cx, args)?), &reversed)?,
    };
    Ok(marked_as(cx, reversed, args))
}

fn concat_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    if let Some(common) = common_list(cx, args)? {
        return Ok(common);
    }
    let mut elements = Vec::new();
    for (ty, arg) in types_of(cx, args)?.iter().zip(args) {
        match ty {
            Type::Tuple(types) => {
                cx.charge(size_of_val(*types))?;
                elements.extend_from_slice(types);
            }
            Type::List(element) if arg.is_known() => {
                let length = items(*arg).len();
                cx.charge(length * size_of::<Type>())?;
                elements.extend(std::iter::repeat_n(**element, length));
            }
            _ => return Ok(Type::Dynamic),
        }
    }
    Ok(cx.arena().tuple_type(&elements))
}

/// The type of a list of the elements of all arguments, where all are lists and their elements have one type.
fn common_list<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Option<Type<'v>>> {
    if args.is_empty() {
        return Err(Fault::wrong("at least one argument is required"));
    }
    if let Some(at) = args.iter().position(|arg| !Kind::of(*arg).is_sequence()) {
        let what = named(cx, args.get(at).copied().unwrap_or_default())?;
        return Err(Fault::argument(at, format!("a list or tuple is required, not {what}")));
    }
    let lists = args.iter().all(|arg| Kind::of(*arg) == Kind::List);
    if lists { unified_type(cx, &types_of(cx, args)?, true) } else { Ok(None) }
}

fn concat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let common = common_list(cx, args)?;
    let mut element = common.as_ref().map_or(Type::Dynamic, element_of);
    let mut all = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let arg = match &common {
            Some(ty) => convert(cx, *arg, ty).map_err(|fault| of_argument(fault, at))?,
            None => *arg,
        };
        cx.charge(size_of_val(items(arg)))?;
        all.extend_from_slice(items(arg));
        // Lists of which not even the element type is known have no elements, or the type of the first that has some.
        if let (Type::Dynamic, Some(own), false) = (element, type_of_list(arg), items(arg).is_empty()) {
            element = own;
        }
    }
    let joined = if common.is_some() { list_of(cx, element, &all)? } else { cx.list(&all)? };
    Ok(marked_as(cx, joined, args))
}

/// Whether all arguments before the first that is not known are lists or tuples.
fn check_coalescelist(args: &[Value<'_>]) -> Outcome<()> {
    if args.is_empty() {
        return Err(Fault::wrong("at least one argument is required"));
    }
    let mut known = args.iter().take_while(|arg| arg.is_known());
    if known.all(|arg| Kind::of(*arg).is_sequence()) {
        return Ok(());
    }
    Err(Fault::wrong("each argument must be a list or tuple"))
}

fn coalescelist<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    check_coalescelist(args)?;
    for arg in args {
        if !arg.is_known() {
            return Ok(cx.arena().unknown(Type::Dynamic));
        }
        if !items(*arg).is_empty() {
            return Ok(*arg);
        }
    }
    Err(Fault::wrong("no argument has elements"))
}

fn chunklist_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [list, _] = args else { return Err(cx.arity().into()) };
    Ok(cx.arena().list_type(type_of(cx, *list)?))
}

fn chunklist<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list, size] = args else { return Err(cx.arity().into()) };
    let size = whole(size.unmarked().0).ok_or_else(|| Fault::wrong(format!("the size does not fit: {WHOLE}")))?;
    let size = usize::try_from(size).map_err(|_| Fault::wrong("the size must not be negative"))?;
    let ty = type_of(cx, *list)?;
    let all = items(*list);
    let chunks = if size == 0 { all.len().min(1) } else { all.len().div_ceil(size) };
    cx.charge(chunks * size_of::<Value>())?;
    let mut made = Vec::with_capacity(chunks);
    for chunk in all.chunks(if size == 0 { all.len().max(1) } else { size }) {
        made.push(cx.arena().typed(ty, cx.list(chunk)?));
    }
    Ok(marked_as(cx, list_of(cx, ty, &made)?, args))
}

fn flatten<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    if !Kind::of(*list).has_elements() {
        return Err(Fault::wrong("a list, set or tuple is required"));
    }
    let mut flat = Flat { items: Vec::new(), marks: Vec::new(), known: true };
    flat.add(cx, *list)?;
    let made = if flat.known { cx.list(&flat.items)? } else { cx.arena().unknown(Type::Dynamic) };
    Ok(cx.arena().marked(made, &flat.marks))
}

/// What was flattened so far.
struct Flat<'v> {
    items: Vec<Value<'v>>,
    marks: Vec<&'v str>,
    /// Whether it is known how many elements there are.
    known: bool,
}

impl<'v> Flat<'v> {
    /// Adds what is in `list`.
    fn add(&mut self, cx: &Cx<'v>, list: Value<'v>) -> Outcome<()> {
        self.marks.extend_from_slice(list.unmarked().1);
        if !length_is_known(cx, list)? {
            self.known = false;
            return Ok(());
        }
        cx.charge(size_of_val(items(list)))?;
        for item in items(list) {
            cx.spend(1)?;
            if !item.is_null() && Kind::of(*item).has_elements() {
                self.add(cx, *item)?;
            } else {
                // What it is may itself be a list.
                self.known &= item.is_marked() || item.is_known() || Kind::of(*item) != Kind::Dynamic;
                self.items.push(*item);
            }
        }
        Ok(())
    }
}
