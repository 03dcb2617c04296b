//! The crate `cel`, with JSON values converted to its own.

use std::collections::HashMap;

use cel::{Context, Value};
use serde_json::Value as Json;

/// The engine's name in tables.
pub const NAME: &str = "cel";

/// Adds the entries of `inputs` to `context` as variables.
///
/// # Panics
/// Panics if `inputs` is not an object.
pub fn context(mut context: Context<'static, 'static>, inputs: Json) -> Context<'static, 'static> {
    let Json::Object(entries) = inputs else { panic!("the inputs are no object") };
    for (name, value) in entries {
        context.add_variable_from_value(name, convert(value));
    }
    context
}

/// Converts integers to `int`. Serde would make them `uint`, which CEL adds to no other number.
fn convert(value: Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => truth.into(),
        Json::Number(number) => match number.as_i64() {
            Some(int) => int.into(),
            None => number.as_f64().expect("a number").into(),
        },
        Json::String(text) => text.into(),
        Json::Array(items) => items.into_iter().map(convert).collect::<Vec<_>>().into(),
        Json::Object(entries) => {
            entries.into_iter().map(|(key, value)| (key, convert(value))).collect::<HashMap<_, _>>().into()
        }
    }
}
