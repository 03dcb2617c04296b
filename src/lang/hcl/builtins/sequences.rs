//! Functions that take elements out of lists and tuples, combine them, or reduce them to one value.

use super::{
    WHOLE, element_of, has_elements, is_sequence, is_true, items, length_is_known, marked_as, to_i64, type_name,
    type_of_list,
};
use crate::values::{
    binary, convert, is_wholly_known, list_of, machine_int, shallow_type, type_of, types_of, unified_type,
};
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Fault, Outcome, Rest, fitting};
use dropforge_machine::functions;
use dropforge_value::{Type, Value};

functions! {
    /// List functions of the standard library and OpenTofu.
    pub(super) static SEQUENCES:
    "element" (list: Any [marked], index: Number) -> {element_type} or null = element,
        "Returns the element at an index modulo the length."
        ["element([\"a\", \"b\", \"c\"], 4)" => "\"b\"", "element([\"a\", \"b\", \"c\"], -1)" => "\"c\""];
    "slice" (list: Any [marked], start_index: Number, end_index: Number) -> {slice_type} = slice,
        "Returns the elements from a start index up to an end index, which is excluded."
        ["slice([\"a\", \"b\", \"c\"], 1, 3)" => "[\"b\", \"c\"]"];
    "concat" (... seqs: Any [marked]) -> {concat_type} = concat,
        "Concatenates lists or tuples."
        ["concat([1], [\"a\", true])" => "[1, \"a\", true]"];
    "coalescelist" (... vals: Any [null unknown dynamic]) -> Any = coalescelist,
        "Returns the first list or tuple that is not empty." ["coalescelist([], [1])" => "[1]"];
    "chunklist" (list: (list Any) [marked], size: Number [marked]) -> {chunklist_type} = chunklist,
        "Splits a list into lists of at most this size; with a size of 0, into one list."
        ["chunklist([1, 2, 3], 2)" => "[[1, 2], [3]]"];
    "flatten" (list: Any [marked]) -> Any = flatten,
        "Replaces elements that are lists, sets or tuples by their elements, at every depth."
        ["flatten([1, [2, [3]], []])" => "[1, 2, 3]"];
}

functions! {
    /// List functions of OpenTofu.
    pub(super) static OPENTOFU_SEQUENCES:
    "reverse" (list: Any [marked]) -> {reverse_type} = reverse,
        "Reverses a list or tuple." ["reverse([1, 2, 3])" => "[3, 2, 1]"];
}

functions! {
    /// List functions of the standard library.
    pub(super) static STANDARD_SEQUENCES:
    "reverselist" (list: Any [marked]) -> {reverse_type} = reverse,
        "Reverses a list or tuple." ["reverselist([1, 2, 3])" => "[3, 2, 1]"];
}

fn element_type<'v>(cx: &Cx<'v>, list: Value<'v>, index: Value<'v>) -> Outcome<Type<'v>> {
    match type_of(cx, list)? {
        Type::List(element) => Ok(*element),
        Type::Tuple(_) if !index.is_known() => Ok(Type::Dynamic),
        Type::Tuple(types) => Ok(*modulo(types, index)?),
        _ => Err(no_elements(cx, list)?),
    }
}

fn element<'v>(cx: &Cx<'v>, list: Value<'v>, index: Value<'v>) -> Outcome<Value<'v>> {
    if !is_sequence(cx, list) {
        return Err(no_elements(cx, list)?);
    }
    Ok(marked_as(cx, *modulo(items(list), index)?, &[list]))
}

fn no_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Fault> {
    Ok(Fault::wrong(format!("a list or tuple is required, not {}", type_name(cx, value)?)))
}

/// Returns the element of `all` at `index` modulo the length.
fn modulo<'a, T>(all: &'a [T], index: Value<'_>) -> Outcome<&'a T> {
    let index = to_i64(index).ok_or_else(|| Fault::wrong(format!("the index does not fit: {WHOLE}")))?;
    let at = i64::try_from(all.len()).ok().and_then(|len| index.checked_rem_euclid(len));
    let found = at.and_then(|at| all.get(usize::try_from(at).ok()?));
    found.ok_or_else(|| Fault::wrong("there are no elements"))
}

fn slice_type<'v>(cx: &Cx<'v>, list: Value<'v>, start: Value<'v>, end: Value<'v>) -> Outcome<Type<'v>> {
    let bounds = bounds(cx, list, start, end)?;
    let ty = type_of(cx, list)?;
    let Type::Tuple(types) = ty else { return Ok(ty) };
    Ok(match bounds {
        Some((start, end)) => Type::Tuple(types.get(start..end).unwrap_or(&[])),
        None => Type::Dynamic,
    })
}

fn slice<'v>(cx: &Cx<'v>, list: Value<'v>, start: Value<'v>, end: Value<'v>) -> Outcome<Value<'v>> {
    let (start, end) = bounds(cx, list, start, end)?.unwrap_or_default();
    let part = items(list).get(start..end).unwrap_or(&[]);
    let part = match type_of_list(list) {
        Some(element) => list_of(cx, element, part)?,
        None => cx.list(part)?,
    };
    Ok(marked_as(cx, part, &[list]))
}

/// Returns the bounds of a slice, if both are known.
fn bounds<'v>(cx: &Cx<'v>, list: Value<'v>, start: Value<'v>, end: Value<'v>) -> Outcome<Option<(usize, usize)>> {
    match shallow_type(cx, list) {
        Type::List(_) | Type::Tuple(_) => {}
        Type::Set(_) => {
            return Err(Fault::argument(0, "elements of a set have no index: convert the set to a list first"));
        }
        _ => return Err(Fault::argument(0, "a list or tuple is required")),
    }
    let length = match (list.elements(), shallow_type(cx, list)) {
        (Some(items), _) => Some(items.len()),
        (None, Type::Tuple(types)) => Some(types.len()),
        _ => None,
    };
    let start = bound(1, start, length)?;
    let end = bound(2, end, length)?;
    match (start, end) {
        (Some(start), Some(end)) if start > end => Err(Fault::argument(1, "the start is greater than the end")),
        (Some(start), Some(end)) => Ok(Some((start, end))),
        _ => Ok(None),
    }
}

/// Returns argument `at` as a bound of a slice, if it is known.
fn bound(at: usize, value: Value<'_>, length: Option<usize>) -> Outcome<Option<usize>> {
    if !value.is_known() {
        return Ok(None);
    }
    let bound = to_i64(value).ok_or_else(|| Fault::argument(at, WHOLE))?;
    let bound = usize::try_from(bound).map_err(|_| Fault::argument(at, "the index must not be negative"))?;
    if length.is_some_and(|length| bound > length) {
        return Err(Fault::argument(at, "the index is greater than the length of the list"));
    }
    Ok(Some(bound))
}

fn reverse_type<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Type<'v>> {
    match type_of(cx, list)? {
        Type::Tuple(types) => {
            let reversed: Vec<_> = types.iter().rev().copied().collect();
            Ok(cx.arena().tuple_type(&reversed))
        }
        Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
        _ => Err(no_elements(cx, list)?.of_argument(0)),
    }
}

fn reverse<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    cx.charge(size_of_val(items(list)))?;
    let reversed: Vec<_> = items(list).iter().rev().copied().collect();
    let reversed = match shallow_type(cx, list) {
        Type::Tuple(_) => cx.list(&reversed)?,
        _ => list_of(cx, element_of(&reverse_type(cx, list)?), &reversed)?,
    };
    Ok(marked_as(cx, reversed, &[list]))
}

fn concat_type<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Type<'v>> {
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

/// Returns the list type of all arguments, if all are lists whose elements have a common type.
fn common_list<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Option<Type<'v>>> {
    if args.is_empty() {
        return Err(Fault::wrong("at least one argument is required"));
    }
    for (at, arg) in args.iter().enumerate() {
        if !is_sequence(cx, *arg) {
            return Err(no_elements(cx, *arg)?.of_argument(at));
        }
    }
    let lists = args.iter().all(|arg| matches!(shallow_type(cx, *arg), Type::List(_)));
    if lists { unified_type(cx, &types_of(cx, args)?, true) } else { Ok(None) }
}

fn concat<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let common = common_list(cx, args)?;
    let mut element = common.as_ref().map_or(Type::Dynamic, element_of);
    let mut all = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let arg = match &common {
            Some(ty) => convert(cx, *arg, ty).map_err(|fault| fault.of_argument(at))?,
            None => *arg,
        };
        cx.charge(size_of_val(items(arg)))?;
        all.extend_from_slice(items(arg));
        // If the common element type is dynamic, the first list that is not empty decides.
        if let (Type::Dynamic, Some(own), false) = (element, type_of_list(arg), items(arg).is_empty()) {
            element = own;
        }
    }
    let joined = if common.is_some() { list_of(cx, element, &all)? } else { cx.list(&all)? };
    Ok(marked_as(cx, joined, args))
}

fn coalescelist<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    if args.is_empty() {
        return Err(Fault::wrong("at least one argument is required"));
    }
    let mut known = args.iter().take_while(|arg| arg.is_known());
    if !known.all(|arg| is_sequence(cx, *arg)) {
        return Err(Fault::wrong("each argument must be a list or tuple"));
    }
    match args.iter().find(|arg| !arg.is_known() || !items(**arg).is_empty()) {
        Some(arg) if arg.is_known() => Ok(*arg),
        Some(_) => Ok(cx.arena().unknown(Type::Dynamic)),
        None => Err(Fault::wrong("all arguments are empty")),
    }
}

fn chunklist_type<'v>(cx: &Cx<'v>, list: Value<'v>, _: Value<'v>) -> Outcome<Type<'v>> {
    Ok(cx.arena().list_type(type_of(cx, list)?))
}

fn chunklist<'v>(cx: &Cx<'v>, list: Value<'v>, size: Value<'v>) -> Outcome<Value<'v>> {
    let chunk = to_i64(size.unmarked().0).ok_or_else(|| Fault::wrong(format!("the size does not fit: {WHOLE}")))?;
    let chunk = usize::try_from(chunk).map_err(|_| Fault::wrong("the size must not be negative"))?;
    let (ty, all) = (type_of(cx, list)?, items(list));
    let chunk = if chunk == 0 { all.len().max(1) } else { chunk };
    cx.charge(all.len().div_ceil(chunk) * size_of::<Value>())?;
    let chunks = all.chunks(chunk).map(|chunk| Ok(cx.arena().typed(ty, cx.list(chunk)?)));
    Ok(marked_as(cx, list_of(cx, ty, &chunks.collect::<Outcome<Vec<_>>>()?)?, &[list, size]))
}

fn flatten<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    if !has_elements(cx, list) {
        return Err(Fault::wrong("a list, set or tuple is required"));
    }
    let mut flat = Flat { items: Vec::new(), marks: Vec::new(), known: true };
    flat.add(cx, list)?;
    let result = if flat.known { cx.list(&flat.items)? } else { cx.arena().unknown(Type::Dynamic) };
    Ok(cx.arena().marked(result, &flat.marks))
}

/// The flattened elements so far.
struct Flat<'v> {
    items: Vec<Value<'v>>,
    marks: Vec<&'v str>,
    /// `true` if the number of elements is known.
    known: bool,
}

impl<'v> Flat<'v> {
    fn add(&mut self, cx: &Cx<'v>, list: Value<'v>) -> Outcome<()> {
        self.marks.extend_from_slice(list.unmarked().1);
        if !length_is_known(cx, list)? {
            self.known = false;
            return Ok(());
        }
        cx.charge(size_of_val(items(list)))?;
        for item in items(list) {
            cx.spend(1)?;
            if !item.is_null() && has_elements(cx, *item) {
                self.add(cx, *item)?;
            } else {
                // An unknown value of unknown type may turn out to be a list.
                self.known &= item.is_marked() || item.is_known() || shallow_type(cx, *item) != Type::Dynamic;
                self.items.push(*item);
            }
        }
        Ok(())
    }
}

functions! {
    /// Ranges of numbers.
    pub(super) static RANGES:
    "range" (... params: Number) -> (list Number) = range,
        "Returns the numbers from a start (default 0) up to an end, which is excluded, by a step (default 1 or -1). The limit is 1,024 numbers."
        ["range(3)" => "[0, 1, 2]", "range(1, 4)" => "[1, 2, 3]", "range(4, 0, -2)" => "[4, 2]"];
}

functions! {
    /// Reductions of OpenTofu, and two functions that it removed.
    pub(super) static OPENTOFU_REDUCTIONS:
    "sum" (list: Any) -> Number = sum, "Returns the sum of the numbers of a list, set or tuple." ["sum([1, 2.5])" => "3.5"];
    "alltrue" (list: (list Bool)) -> Bool = alltrue, "Returns `true` if all elements are true."
        ["alltrue([true, false])" => "false"];
    "anytrue" (list: (list Bool)) -> Bool = anytrue, "Returns `true` if any element is true."
        ["anytrue([true, false])" => "true"];
    "list" (... vals: Any [null unknown dynamic]) -> Any = removed("tolist([…])"),
        "Removed: use `tolist([…])`." ["list(1)" => "E0404"];
    "map" (... vals: Any [null unknown dynamic]) -> Any = removed("tomap({…})"),
        "Removed: use `tomap({…})`." ["map(\"a\", 1)" => "E0404"];
}

/// Maximum length of a range.
const LONGEST: usize = 1024;

fn range<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let (mut at, end, step) = match args {
        [end] => (machine_int(cx, 0)?, *end, unit_step(cx, Value::Int(0), *end)?),
        [start, end] => (*start, *end, unit_step(cx, *start, *end)?),
        [start, end, step] => (*start, *end, *step),
        _ => return Err(Fault::wrong("expected one, two or three arguments")),
    };
    let down = less(cx, step, Value::Int(0))?;
    if if down { less(cx, at, end)? } else { less(cx, end, at)? } {
        return Err(Fault::argument(1, "the step does not lead from the start to the end"));
    }
    let mut numbers = Vec::new();
    while if down { less(cx, end, at)? } else { less(cx, at, end)? } {
        if numbers.len() == LONGEST {
            return Err(Fault::wrong("a range has at most 1,024 numbers"));
        }
        numbers.push(at);
        at = binary(cx, at, step, BinaryOp::Add)?;
    }
    list_of(cx, Type::Number, &numbers)
}

fn less<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    Ok(is_true(binary(cx, a, b, BinaryOp::Lt)?))
}

/// Returns a step of 1 from `start` in the direction of `end`.
fn unit_step<'v>(cx: &Cx<'v>, start: Value<'v>, end: Value<'v>) -> Outcome<Value<'v>> {
    machine_int(cx, if less(cx, end, start)? { -1 } else { 1 })
}

fn sum<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    if !has_elements(cx, list) {
        return Err(Fault::argument(0, format!("a list, set or tuple is required, not {}", type_name(cx, list)?)));
    }
    let [first, rest @ ..] = items(list) else { return Err(Fault::argument(0, "there are no elements to add")) };
    if !is_wholly_known(cx, list)? {
        return Ok(cx.arena().unknown(Type::Number));
    }
    rest.iter().try_fold(summand(cx, *first)?, |total, item| binary(cx, total, summand(cx, *item)?, BinaryOp::Add))
}

fn summand<'v>(cx: &Cx<'v>, item: Value<'v>) -> Outcome<Value<'v>> {
    let number = fitting(convert(cx, item, &Type::Number))?.filter(|number| !number.is_null());
    number.ok_or_else(|| Fault::argument(0, "each element must be a number"))
}

fn alltrue<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(items(list).len() as u64)?;
    Ok(match items(list).iter().find(|item| !is_true(**item)) {
        None => Value::Bool(true),
        Some(item) if item.is_known() => Value::Bool(false),
        Some(_) => cx.arena().unknown(Type::Bool),
    })
}

fn anytrue<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(items(list).len() as u64)?;
    if items(list).iter().any(|item| is_true(*item)) {
        return Ok(Value::Bool(true));
    }
    let open = items(list).iter().any(|item| !item.is_known());
    Ok(if open { cx.arena().unknown(Type::Bool) } else { Value::Bool(false) })
}

/// Returns a body that names what to use instead of a function.
fn removed<'a, 'v>(replacement: &str) -> impl Fn(Rest<'a, 'v>) -> Outcome<Value<'v>> {
    move |_| Err(Fault::wrong(format!("this function was removed: use `{replacement}`")))
}
