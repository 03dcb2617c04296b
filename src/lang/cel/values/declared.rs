//! Numbers of the types that a schema declares: where it says `integer` they are `int`, where it says `number` they mix with
//! integers and floats.

use super::written;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_schema::{Additional, Node, NodeId, Schema, Types};
use dropforge_value::Value;

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
            written::number(cx, value).map(Some)
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
