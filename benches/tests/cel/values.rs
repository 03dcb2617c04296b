//! Values of the three crates in comparable form.

use std::sync::LazyLock;

use dropforge::dialect::cel::values::convert::plain;
use dropforge::dialect::cel::values::type_name;
use dropforge::dialect::cel::{Expression, Names, Settings, registry};
use dropforge::function::Registry;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Extended, Inputs, Value};
use dropforge::vm::Space;

use super::Outcome;

/// Formats a list of formatted values.
fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Formats a map of formatted values, sorted because other crates' maps are unordered.
fn map(entries: impl Iterator<Item = (String, String)>) -> String {
    let mut entries: Vec<_> = entries.map(|(key, value)| format!("{key}: {value}")).collect();
    entries.sort();
    format!("{{{}}}", entries.join(", "))
}

/// Formats a float. Zero loses its sign, in which the crates differ.
fn float(n: f64) -> String {
    if n == 0.0 { "0.0".to_owned() } else { format!("{n:?}") }
}

/// Formats a value of ours.
fn shown(value: Value<'_>) -> String {
    match (value, value.extended()) {
        (Value::Null | Value::Undefined, _) => "null".to_owned(),
        (Value::Bool(truth), _) => truth.to_string(),
        (Value::Int(n), _) => n.to_string(),
        (Value::Uint(n), _) => format!("{n}u"),
        (Value::Float(n), _) => float(n),
        (Value::Str(text), _) => format!("{:?}", text.as_str()),
        (Value::List(items), _) => list(items.items().iter().copied().map(shown)),
        (Value::Map(entries), _) => map(entries.iter().map(|(key, value)| (format!("{key:?}"), shown(value)))),
        (_, Some(Extended::Entries(entries))) => map(entries.iter().map(|(key, value)| (shown(key), shown(value)))),
        (_, Some(Extended::Bytes(bytes))) => format!("b{bytes:?}"),
        (_, Some(Extended::Duration(nanos))) => format!("{nanos}ns"),
        (_, Some(Extended::Timestamp { seconds, nanos })) => format!("@{seconds}.{nanos:09}"),
        (_, Some(Extended::Optional(Value::Undefined))) => "none".to_owned(),
        (_, Some(Extended::Optional(held))) => format!("some({})", shown(*held)),
        _ => format!("{}({})", type_name(value), plain(value).ok().flatten().unwrap_or_default()),
    }
}

/// Evaluates an expression without variables.
pub fn ours(text: &str) -> Outcome {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(registry);
    let (space, limits) = (Space::new(), Limits::default());
    let declared = |_: &str| false;
    let names = Names { container: "", declared: Some(&declared) };
    let source = Source::new("e", text);
    let expression =
        Expression::with(&source, &Settings::naming(names), &REGISTRY, &limits).map_err(|errors| errors.to_string())?;
    let value = expression.evaluate(&space, Inputs::default(), &limits).map_err(|error| error.to_string())?;
    Ok(shown(value))
}

/// Formats values of one version of the crate `cel`.
macro_rules! of_cel {
    ($name:ident, $cel:path) => {
        pub mod $name {
            use $cel as cel;

            use cel::objects::{Key, OptionalValue, Value};

            use super::{float, list, map};

            fn key(key: &Key) -> String {
                match key {
                    Key::Int(n) => n.to_string(),
                    Key::Uint(n) => format!("{n}u"),
                    Key::Bool(truth) => truth.to_string(),
                    Key::String(text) => format!("{text:?}"),
                }
            }

            pub fn shown(value: &Value) -> String {
                match value {
                    Value::Null => "null".to_owned(),
                    Value::Bool(truth) => truth.to_string(),
                    Value::Int(n) => n.to_string(),
                    Value::UInt(n) => format!("{n}u"),
                    Value::Float(n) => float(*n),
                    Value::String(text) => format!("{text:?}"),
                    Value::Bytes(bytes) => format!("b{bytes:?}"),
                    Value::List(items) => list(items.iter().map(shown)),
                    Value::Map(entries) => map(entries.map.iter().map(|(name, value)| (key(name), shown(value)))),
                    Value::Duration(span) => match span.num_nanoseconds() {
                        Some(nanos) => format!("{nanos}ns"),
                        None => format!("{span:?}"),
                    },
                    Value::Timestamp(at) => format!("@{}.{:09}", at.timestamp(), at.timestamp_subsec_nanos()),
                    Value::Opaque(opaque) => match opaque.downcast_ref::<OptionalValue>() {
                        Some(optional) => match optional.value() {
                            Some(held) => format!("some({})", shown(held)),
                            None => "none".to_owned(),
                        },
                        None => opaque.runtime_type_name().to_owned(),
                    },
                    other => format!("{other:?}"),
                }
            }

            pub fn evaluated(text: &str, context: &cel::Context) -> super::Outcome {
                let program = cel::Program::compile(text).map_err(|error| error.to_string())?;
                program.execute(context).map(|value| shown(&value)).map_err(|error| error.to_string())
            }
        }
    };
}

of_cel!(old, kube_cel::cel);
of_cel!(new, ::cel);
