//! Functions of sets.

use super::parts::{Kind, element_of, items, length_is_known, marked_as, of_argument};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::list_of;
use crate::dialect::hcl::values::refine::settled;
use crate::dialect::hcl::values::sets::Index;
use crate::dialect::hcl::values::types::{type_of, types_of};
use crate::dialect::hcl::values::unify::unified_type;
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known, set_of};
use crate::function::Cx;
use crate::positional;
use crate::value::{Refinement, Type, Value};

positional! {
    /// Functions of sets.
    pub(super) static SETS:
    "setunion" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic]) -> {operation_type} = union,
        "The elements that are in any of the sets." ["setunion([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\", \"b\", \"c\"]"];
    "setintersection" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic])
        -> {operation_type} = intersection,
        "The elements that are in each of the sets." ["setintersection([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"b\"]"];
    "setsubtract" (a: (set Any) [dynamic], b: (set Any) [dynamic]) -> {operation_type} = subtract,
        "The elements of the first set that are not in the second."
        ["setsubtract([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\"]"];
    "setproduct" (... sets: Any [unknown marked]) -> Any = product,
        "Each combination of an element of each of the sets or lists; of lists only, a list in their order."
        ["setproduct([\"a\", \"b\"], [1, 2])" => "[[\"a\", 1], [\"a\", 2], [\"b\", 1], [\"b\", 2]]"];
}

positional! {
    /// Functions of sets that OpenTofu has not.
    pub(super) static STANDARD_SETS:
    "setsymmetricdifference" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic])
        -> {operation_type} = symmetric_difference,
        "The elements that are in one of two sets only; of more sets, so with each further one."
        ["setsymmetricdifference([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\", \"c\"]"];
}

/// The type of a set that holds the elements of all arguments.
fn operation_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let mut elements = Vec::with_capacity(args.len());
    for (arg, ty) in args.iter().zip(types_of(cx, args)?) {
        // An empty set of which not even the element type is known becomes a set of any type.
        let any = element_of(&ty) == Type::Dynamic && arg.is_known() && items(*arg).is_empty();
        if !any {
            elements.push(element_of(&ty));
        }
    }
    if elements.is_empty() {
        return Ok(Type::Set(&Type::Dynamic));
    }
    let element = unified_type(cx, &elements, true)?;
    let element = element.ok_or_else(|| Fault::wrong("there is no one type for the elements of all sets"))?;
    Ok(cx.arena().set_type(element))
}

/// The elements of two sets that an operation keeps.
type Operation = for<'v> fn(&Cx<'v>, Vec<Value<'v>>, &[Value<'v>]) -> Outcome<Vec<Value<'v>>>;

/// Does `operation` with the first set and each of the others, in turn. `unknown` says whether it can be done with
/// elements that are not known.
fn operate<'v>(cx: &Cx<'v>, args: &[Value<'v>], operation: Operation, unknown: bool) -> Outcome<Value<'v>> {
    let ty = operation_type(cx, args)?;
    let mut kept = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let set = convert(cx, *arg, &ty).map_err(|fault| of_argument(fault, at))?;
        if !set.is_known() || !unknown && !is_wholly_known(cx, set)? {
            return Ok(cx.arena().unknown(ty));
        }
        cx.charge(size_of_val(items(set)))?;
        kept = if at == 0 { items(set).to_vec() } else { operation(cx, kept, items(set))? };
    }
    set_of(cx, element_of(&ty), &kept)
}

fn union<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let both: Operation = |_, mut kept, more| {
        kept.extend_from_slice(more);
        Ok(kept)
    };
    operate(cx, args, both, true)
}

fn intersection<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    operate(cx, args, |cx, kept, other| those(cx, kept, other, true), false)
}

fn subtract<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    operate(cx, args, |cx, kept, other| those(cx, kept, other, false), false)
}

fn symmetric_difference<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let either: Operation = |cx, kept, other| {
        let mut more = those(cx, other.to_vec(), &kept, false)?;
        more.extend(those(cx, kept, other, false)?);
        Ok(more)
    };
    operate(cx, args, either, false)
}

/// Those of `values` that are in `others`, or are not.
fn those<'v>(cx: &Cx<'v>, values: Vec<Value<'v>>, others: &[Value<'v>], wanted: bool) -> Outcome<Vec<Value<'v>>> {
    let others = Index::of(cx, others)?;
    let mut found = Vec::new();
    for value in values {
        if others.has(cx, value)? == wanted {
            found.push(value);
        }
    }
    Ok(found)
}

fn product_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    if args.len() < 2 {
        return Err(Fault::wrong("at least two arguments are required"));
    }
    let mut elements = Vec::with_capacity(args.len());
    for (at, arg) in args.iter().enumerate() {
        elements.push(match type_of(cx, *arg)? {
            Type::Set(element) | Type::List(element) => *element,
            Type::Tuple([]) => Type::Dynamic,
            Type::Tuple(types) => {
                let common = unified_type(cx, types, true)?;
                common.ok_or_else(|| Fault::argument(at, "there is no one type for all elements"))?
            }
            _ => return Err(Fault::argument(at, "a set or list is required")),
        });
    }
    let element = cx.arena().tuple_type(&elements);
    let lists = args.iter().all(|arg| Kind::of(*arg).is_sequence());
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
    if let Type::List(_) = ty {
        return Ok(marked_as(cx, list_of(cx, element, &combinations)?, args));
    }
    Ok(marked_as(cx, set_of(cx, element, &combinations)?, args))
}

/// Each combination of an element of each of `args`, those of the last going fastest.
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

/// Beyond so many elements nothing is said of how many a product has that is not known.
const COUNTED: u64 = 2048;

/// How many elements a single set or list may have for that.
const COUNTED_EACH: u64 = 1024;

/// The product of sets of which some have an unknown number of elements.
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

/// How many elements a set, list or tuple has at most.
fn most_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<u64> {
    Ok(match (type_of(cx, value)?, value.as_unknown()) {
        (Type::Tuple(types), _) => types.len() as u64,
        (_, Some(unknown)) => unknown.refinement.len_most,
        (_, None) if length_is_known(cx, value)? => items(value).len() as u64,
        // The reference says nothing of a set in which something is not known.
        (_, None) => u64::MAX,
    })
}
