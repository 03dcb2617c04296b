//! The crate `cel`: values of JSON as its own.

use std::collections::HashMap;

use cel::{Context, Value};
use serde_json::Value as Json;

/// What tables call it.
pub const NAME: &str = "cel";

/// `context` with the entries of `inputs` as variables.
///
/// # Panics
/// When `inputs` is no object.
pub fn context(mut context: Context<'static, 'static>, inputs: Json) -> Context<'static, 'static> {
    let Json::Object(entries) = inputs else { panic!("the inputs are no object") };
    for (name, value) in entries {
        context.add_variable_from_value(name, convert(value));
    }
    context
}

/// Whole numbers are `int`: by way of serde they would be `uint`, which CEL adds to no other number.
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
