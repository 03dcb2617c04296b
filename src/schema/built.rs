//! Builds values of data.

use dropforge_value::{Arena, Data, Numbers, Value};

/// Returns the value of data, with a stack on the heap: schemas are also compiled where the host's is small.
pub(super) fn value_of<'v>(arena: &'v Arena, data: &'v Data) -> Value<'v> {
    let mut open: Vec<(&Data, Vec<Value<'v>>)> = vec![(data, Vec::new())];
    let mut done = Value::Null;
    while let Some((data, values)) = open.last_mut() {
        let next = match data {
            Data::List(items) => items.get(values.len()),
            Data::Map(map) => map.get_index(values.len()).map(|(_, value)| value),
            _ => None,
        };
        if let Some(next) = next {
            open.push((next, Vec::new()));
            continue;
        }
        done = finished(arena, data, values);
        open.pop();
        open.last_mut().into_iter().for_each(|(_, values)| values.push(done));
    }
    done
}

/// Returns the value of data whose parts have these values.
fn finished<'v>(arena: &'v Arena, data: &'v Data, values: &[Value<'v>]) -> Value<'v> {
    match data {
        Data::Null => Value::Null,
        Data::Bool(truth) => Value::Bool(*truth),
        Data::Int(n) => Value::Int(*n),
        Data::Uint(n) => Value::uint(*n),
        Data::Float(n) => Value::Float(*n),
        Data::Number(text) => Numbers::AsWritten.long(arena, text).unwrap_or_default(),
        Data::Str(text) => arena.borrowed_text(text),
        Data::List(_) => arena.list(values),
        Data::Map(map) => {
            let entries: Vec<_> = map.keys().map(String::as_str).zip(values.iter().copied()).collect();
            arena.map(&entries)
        }
    }
}
