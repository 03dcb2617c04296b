//! Values of documents with a notation: a number with its spelling, a tag. Operations see the plain value. A value that no
//! operation touches keeps its notation. The numbers of inputs get the types that their schemas declare: `int` for
//! `integer`; for `number`, a type that mixes with integers and floats.

use super::{compare, no_such_overload};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::Cx;
use dropforge_schema::{Additional, Node, NodeId, Schema, Types};
use dropforge_value::{Extended, Value, Writing};

/// Returns a value without the notations of itself and of everything in it. If a list has numbers of a type that has
/// integers and floats, they become floats unless all are integers.
///
/// # Errors
/// A limit of the render.
#[inline]
pub fn plain<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if value.has_notation() { without_notation(cx, value) } else { Ok(value) }
}

/// Returns values without notations.
///
/// # Errors
/// A limit of the render.
#[cold]
pub fn all_plain<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Vec<Value<'v>>> {
    cx.spend(values.len() as u64)?;
    let mut plain_values = values.iter().map(|value| plain(cx, *value)).collect::<Result<Vec<_>>>()?;
    let is_float = |value: &Value<'_>| matches!(value, Value::Float(_));
    if values.iter().any(|value| is_number(*value)) && plain_values.iter().any(is_float) {
        plain_values.iter_mut().for_each(|value| *value = as_float(*value));
    }
    Ok(plain_values)
}

/// Returns values without notations, integers of a type that has integers and floats as floats. `None` if there are no such
/// integers.
///
/// # Errors
/// A limit of the render.
#[cold]
pub fn with_floats<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Option<Vec<Value<'v>>>> {
    if !values.iter().any(|value| is_number(*value) && matches!(value.unwritten(), Value::Int(_) | Value::Uint(_))) {
        return Ok(None);
    }
    let float = |value: &Value<'v>| if is_number(*value) { Ok(as_float(value.unwritten())) } else { plain(cx, *value) };
    values.iter().map(float).collect::<Result<_>>().map(Some)
}

/// The recursion is bounded by the depth of values.
#[cold]
fn without_notation<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    match (value, value.extended()) {
        (_, Some(Extended::Written(..))) => plain(cx, value.unwritten()),
        (Value::List(list), _) => cx.list(&all_plain(cx, list.items())?),
        (Value::Map(map), _) => {
            let values = map.values().iter().map(|value| plain(cx, *value)).collect::<Result<Vec<_>>>()?;
            cx.shaped_map(map.shape(), &values).map(Value::Map)
        }
        (_, Some(Extended::Entries(entries))) => {
            let values = entries.values().iter().map(|value| plain(cx, *value)).collect::<Result<Vec<_>>>()?;
            Ok(cx.entries(entries.keys(), &values)?.unwrap_or(value))
        }
        (_, Some(Extended::Optional(held))) => super::optional_of(cx, plain(cx, *held)?),
        _ => Ok(value),
    }
}

/// Returns `true` for a number of a type that has integers and floats.
fn is_number(value: Value<'_>) -> bool {
    matches!(value.extended(), Some(Extended::Written(_, Writing::Number)))
}

pub(crate) fn as_float(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Int(n) => Value::Float(n as f64),
        Value::Uint(n) => Value::Float(n as f64),
        other => other,
    }
}

/// Marks a number as one of a type that has integers and floats.
///
/// # Errors
/// A limit of the render.
pub fn number<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    match value.unwritten() {
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => cx.extended(Extended::Written(value, Writing::Number)),
        _ => Ok(value),
    }
}

/// Applies an arithmetic operator to operands of which one is a number of a type that has integers and floats. `None` for
/// other operands.
///
/// # Errors
/// Those of the operator.
#[cold]
pub fn mixed<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Option<Value<'v>>> {
    if !is_number(a) && !is_number(b) {
        return Ok(None);
    }
    let (x, y) = match (a.unwritten(), b.unwritten()) {
        (x @ Value::Int(_), y @ Value::Int(_)) | (x @ Value::Uint(_), y @ Value::Uint(_)) => (x, y),
        (Value::Int(_) | Value::Uint(_) | Value::Float(_), Value::Int(_) | Value::Uint(_) | Value::Float(_))
            if op != BinaryOp::Rem =>
        {
            (as_float(a.unwritten()), as_float(b.unwritten()))
        }
        _ => return Ok(None),
    };
    let result = match op {
        BinaryOp::Add => compare::add(cx, x, y)?,
        BinaryOp::Sub => compare::subtract(cx, x, y)?,
        BinaryOp::Mul => compare::multiply(x, y)?,
        BinaryOp::Div => compare::divide(x, y)?,
        BinaryOp::Rem => compare::modulo(x, y)?,
        _ => return Ok(None),
    };
    number(cx, result).map(Some)
}

/// `-a` of a value with a notation.
///
/// # Errors
/// Those of the operator.
#[cold]
pub fn negative<'v>(cx: &Cx<'v>, a: Value<'v>) -> Result<Value<'v>> {
    let result = compare::negate(a.unwritten())?;
    if is_number(a) { number(cx, result) } else { Ok(result) }
}

/// `!a` of a value with a notation.
///
/// # Errors
/// The value is not a boolean.
#[cold]
pub fn not<'v>(a: Value<'v>) -> Result<Value<'v>> {
    match a.unwritten() {
        Value::Bool(truth) => Ok(Value::Bool(!truth)),
        other => Err(no_such_overload("!_", false, &[other])),
    }
}

/// The range of `int`, as floats. The end is exclusive.
const INTS: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;

/// Returns a valid value with the numbers that its schema declares; `None` if they are as declared.
///
/// # Errors
/// A limit of the render.
pub fn declared<'v>(cx: &Cx<'v>, schema: &Schema, id: NodeId, value: Value<'v>) -> Result<Option<Value<'v>>> {
    let Some(node) = schema.node(id) else { return Ok(None) };
    match value.unwritten() {
        Value::Int(_) | Value::Uint(_) | Value::Float(_) if node.types.has(Types::NUMBER) => {
            number(cx, value).map(Some)
        }
        Value::Float(n) if node.types.has(Types::INTEGER) && n.fract() == 0.0 && INTS.contains(&n) => {
            Ok(Some(Value::Int(n as i64)))
        }
        Value::List(list) => {
            let Some(items) = node.items else { return Ok(None) };
            let found = each(cx, schema, list.items(), |_| Some(items))?;
            found.map(|items| cx.list(&items)).transpose()
        }
        Value::Map(map) if !node.properties.is_empty() || matches!(node.additional, Additional::Schema(_)) => {
            let keys = map.shape().keys();
            let found = each(cx, schema, map.values(), |at| keys.get(at).and_then(|key| property(node, key.as_str())))?;
            found.map(|values| cx.shaped_map(map.shape(), &values).map(Value::Map)).transpose()
        }
        _ => Ok(None),
    }
}

/// Returns the schema of a property.
fn property(node: &Node, name: &str) -> Option<NodeId> {
    let additional = if let Additional::Schema(id) = node.additional { Some(id) } else { None };
    node.properties.get(name).copied().or(additional)
}

/// Returns the values with the numbers of their schemas; `None` if they are as declared.
fn each<'v>(
    cx: &Cx<'v>,
    schema: &Schema,
    values: &[Value<'v>],
    schema_of: impl Fn(usize) -> Option<NodeId>,
) -> Result<Option<Vec<Value<'v>>>> {
    cx.spend(values.len() as u64)?;
    let mut changed: Option<Vec<Value<'v>>> = None;
    for (at, value) in values.iter().enumerate() {
        let Some(id) = schema_of(at) else { continue };
        if let Some(new) = declared(cx, schema, id, *value)? {
            let changed = changed.get_or_insert_with(|| values.to_vec());
            if let Some(slot) = changed.get_mut(at) {
                *slot = new;
            }
        }
    }
    Ok(changed)
}
