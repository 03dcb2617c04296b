//! Functions of sets.

use super::{element_of, functions, is_sequence, items, length_is_known, marked_as};
use crate::values::{Index, convert, is_wholly_known, list_of, set_of, settled, type_of, types_of, unified_type};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Refinement, Type, Value};

functions! {
    /// Set functions of the standard library and OpenTofu.
    pub(super) static SETS:
    "setunion" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic]) -> {operation_type} = union,
        "Returns the elements that are in any of the sets." ["setunion([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\", \"b\", \"c\"]"];
    "setintersection" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic])
        -> {operation_type} = intersection,
        "Returns the elements that are in all of the sets." ["setintersection([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"b\"]"];
    "setsubtract" (a: (set Any) [dynamic], b: (set Any) [dynamic]) -> {difference_type} = difference,
        "Returns the elements of the first set that are not in the second."
        ["setsubtract([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\"]"];
    "setproduct" (... sets: Any [unknown marked]) -> Any = product,
        "Returns all combinations of one element of each set or list."
        ["setproduct([\"a\", \"b\"], [1, 2])" => "[[\"a\", 1], [\"a\", 2], [\"b\", 1], [\"b\", 2]]"];
}

functions! {
    /// Set functions of the standard library.
    pub(super) static STANDARD_SETS:
    "setsymmetricdifference" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic])
        -> {operation_type} = symmetric_difference,
        "Returns the elements that are in only one of two sets, applied to further sets from left to right."
        ["setsymmetricdifference([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\", \"c\"]"];
}

/// Returns the type of a set that can hold the elements of all arguments.
fn operation_type<'v>(cx: &Cx<'v>, first: Value<'v>, others: &[Value<'v>]) -> Outcome<Type<'v>> {
    let mut elements = Vec::with_capacity(others.len() + 1);
    for arg in [first].iter().chain(others) {
        let element = element_of(&type_of(cx, *arg)?);
        // An empty set of dynamic element type converts to any set.
        if element != Type::Dynamic || !arg.is_known() || !items(*arg).is_empty() {
            elements.push(element);
        }
    }
    if elements.is_empty() {
        return Ok(Type::Set(&Type::Dynamic));
    }
    let element = unified_type(cx, &elements, true)?;
    let element = element.ok_or_else(|| Fault::wrong("the elements of all sets have no common type"))?;
    Ok(cx.arena().set_type(element))
}

fn difference_type<'v>(cx: &Cx<'v>, first: Value<'v>, second: Value<'v>) -> Outcome<Type<'v>> {
    operation_type(cx, first, &[second])
}

/// The elements of two sets that an operation keeps.
type Operation = for<'v> fn(&Cx<'v>, Vec<Value<'v>>, &[Value<'v>]) -> Outcome<Vec<Value<'v>>>;

/// Applies `operation` to the first set and each of the others, in turn. `unknown` is `true` for an operation that
/// works with unknown elements.
fn operate<'v>(
    cx: &Cx<'v>,
    first: Value<'v>,
    others: &[Value<'v>],
    operation: Operation,
    unknown: bool,
) -> Outcome<Value<'v>> {
    let ty = operation_type(cx, first, others)?;
    let mut kept = Vec::new();
    for (at, arg) in [first].iter().chain(others).enumerate() {
        let set = convert(cx, *arg, &ty).map_err(|fault| fault.of_argument(at))?;
        if !set.is_known() || !unknown && !is_wholly_known(cx, set)? {
            return Ok(cx.arena().unknown(ty));
        }
        cx.charge(size_of_val(items(set)))?;
        kept = if at == 0 { items(set).to_vec() } else { operation(cx, kept, items(set))? };
    }
    set_of(cx, element_of(&ty), &kept)
}

fn union<'v>(cx: &Cx<'v>, first: Value<'v>, others: &[Value<'v>]) -> Outcome<Value<'v>> {
    operate(cx, first, others, |_, kept, more| Ok([&kept, more].concat()), true)
}

fn intersection<'v>(cx: &Cx<'v>, first: Value<'v>, others: &[Value<'v>]) -> Outcome<Value<'v>> {
    operate(cx, first, others, |cx, kept, other| selected(cx, &kept, other, true), false)
}

fn difference<'v>(cx: &Cx<'v>, first: Value<'v>, second: Value<'v>) -> Outcome<Value<'v>> {
    operate(cx, first, &[second], |cx, kept, other| selected(cx, &kept, other, false), false)
}

fn symmetric_difference<'v>(cx: &Cx<'v>, first: Value<'v>, others: &[Value<'v>]) -> Outcome<Value<'v>> {
    let either: Operation =
        |cx, kept, other| Ok([selected(cx, other, &kept, false)?, selected(cx, &kept, other, false)?].concat());
    operate(cx, first, others, either, false)
}

/// Returns those of `values` that are in `others`, or those that are not.
fn selected<'v>(cx: &Cx<'v>, values: &[Value<'v>], others: &[Value<'v>], wanted: bool) -> Outcome<Vec<Value<'v>>> {
    let others = Index::of(cx, others)?;
    let mut found = Vec::new();
    for value in values {
        if others.has(cx, *value)? == wanted {
            found.push(*value);
        }
    }
    Ok(found)
}

fn product_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    if args.len() < 2 {
        return Err(Fault::wrong("at least two arguments are required"));
    }
    let mut elements = Vec::with_capacity(args.len());
    for (at, ty) in types_of(cx, args)?.into_iter().enumerate() {
        elements.push(match ty {
            Type::Set(element) | Type::List(element) => *element,
            Type::Tuple([]) => Type::Dynamic,
            Type::Tuple(types) => {
                let common = unified_type(cx, types, true)?;
                common.ok_or_else(|| Fault::argument(at, "the elements have no common type"))?
            }
            _ => return Err(Fault::argument(at, "a set or list is required")),
        });
    }
    let element = cx.arena().tuple_type(&elements);
    let lists = args.iter().all(|arg| is_sequence(cx, *arg));
    Ok(if lists { cx.arena().list_type(element) } else { cx.arena().set_type(element) })
}

fn product<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let ty = product_type(cx, args)?;
    for arg in args {
        if !length_is_known(cx, *arg)? {
            return Ok(marked_as(cx, unknown_product(cx, ty, args)?, args));
        }
    }
    let element = element_of(&ty);
    let Type::Tuple(types) = element else { return Err(cx.arity().into()) };
    let combinations = combinations(cx, args, types)?;
    let product = match ty {
        Type::List(_) => list_of(cx, element, &combinations)?,
        _ => set_of(cx, element, &combinations)?,
    };
    Ok(marked_as(cx, product, args))
}

/// Returns all combinations of one element of each of `args`. The last one changes fastest.
fn combinations<'v>(cx: &Cx<'v>, args: &[Value<'v>], types: &[Type<'v>]) -> Outcome<Vec<Value<'v>>> {
    let mut columns = Vec::with_capacity(args.len());
    let mut count = 1_usize;
    for (arg, ty) in args.iter().zip(types) {
        cx.charge(size_of_val(items(*arg)))?;
        let column: Vec<_> = items(*arg).iter().map(|item| convert(cx, *item, ty)).collect::<Outcome<_>>()?;
        count = count.saturating_mul(column.len());
        columns.push(column);
    }
    cx.charge(count.saturating_mul((args.len() + 3) * size_of::<Value>()))?;
    let mut made = Vec::with_capacity(count);
    let mut row = Vec::with_capacity(args.len());
    for at in 0..count {
        row.clear();
        let mut rest = at;
        for column in columns.iter().rev() {
            row.extend(column.get(rest % column.len()));
            rest /= column.len();
        }
        row.reverse();
        made.push(cx.list(&row)?);
    }
    Ok(made)
}

/// Maximum length of an unknown product that is tracked.
const COUNTED: u64 = 2048;

/// Maximum length of one factor of such a product.
const COUNTED_EACH: u64 = 1024;

/// Returns the unknown product of sets of which some have an unknown length.
fn unknown_product<'v>(cx: &Cx<'v>, ty: Type<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let mut most = 1_u64;
    for arg in args {
        let own = most_elements(cx, *arg)?;
        most = most.saturating_mul(own);
        if own > COUNTED_EACH || most > COUNTED {
            return Ok(cx.arena().unknown(ty));
        }
    }
    settled(cx, ty, Refinement { len_least: most.min(1), len_most: most, ..Refinement::NOT_NULL })
}

/// Returns the maximum length of a set, list or tuple.
fn most_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<u64> {
    Ok(match (type_of(cx, value)?, value.as_unknown()) {
        (Type::Tuple(types), _) => types.len() as u64,
        (_, Some(unknown)) => unknown.refinement.len_most,
        (_, None) if length_is_known(cx, value)? => items(value).len() as u64,
        // Like the reference, assumes nothing about a set with unknown elements.
        (_, None) => u64::MAX,
    })
}
