//! JSON values as a validator looks at them, counted: what a validation may cost is bounded, whatever the schema does.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson, cmp, unique};
use serde_json::{Map, Number, Value};

/// How many steps a validation may take to find out whether a value is valid.
pub(super) const TO_DECIDE: u64 = 20_000_000;

/// How many it may take to find out all that is wrong; each error takes room.
pub(super) const TO_EXPLAIN: u64 = 1_000_000;

/// Bytes of text that count as one look more.
const BYTES: usize = 64;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
    /// Steps of going from one value to one in it: schemas that refer to others may do so without a look at the value.
    static STEP: Cell<u64> = const { Cell::new(1) };
}

/// What ends a validation that costs too much.
struct Exhausted;

/// Runs `validate` with this many steps, of which each value takes at least `weight`; `None` where they were not enough.
pub(super) fn bounded<T>(steps: u64, weight: u64, validate: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(steps);
    STEP.set(weight.max(1));
    match catch_unwind(AssertUnwindSafe(validate)) {
        Ok(answer) => Some(answer),
        Err(payload) if payload.is::<Exhausted>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// The validator has no way to stop early: it is left by unwinding, which calls no panic hook.
fn spend(looks: u64) {
    match LEFT.get().checked_sub(looks) {
        Some(left) => LEFT.set(left),
        None => resume_unwind(Box::new(Exhausted)),
    }
}

/// JSON values of `serde_json`, each look at which is counted.
pub(super) struct Metered;

impl Json for Metered {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(&Value) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, f)
    }
}

impl<'a> Node<'a, Metered> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];
    type Number = &'a Number;

    fn as_object(&self) -> Option<&'a Map<String, Value>> {
        spend(1);
        Value::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        spend(1);
        Value::as_array(self).map(Vec::as_slice)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = Value::as_str(self);
        spend(1 + text.map_or(0, |text| text.len() / BYTES) as u64);
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        spend(1);
        Value::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(1);
        Value::as_bool(self)
    }

    fn is_null(&self) -> bool {
        spend(1);
        Value::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        spend(1);
        <Self as Node<'a, SerdeJson>>::json_type(self)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        // Of two that differ in their sizes nothing below is compared.
        spend(1 + size(expected));
        cmp::equal(self, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        spend(1);
        Cow::Borrowed(self)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        spend(1);
        <Self as Node<'a, SerdeJson>>::identity(self)
    }
}

/// What comparing with a value costs at most.
fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => (text.len() / BYTES) as u64,
        Value::Array(items) => items.len() as u64 + items.iter().map(size).sum::<u64>(),
        Value::Object(map) => map.len() as u64 + map.values().map(size).sum::<u64>(),
        _ => 0,
    }
}

/// Goes to a value in another.
fn enter() {
    spend(STEP.get());
}

/// Members, a step for each.
pub(super) struct Members<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        enter();
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }
}

impl<'a> Object<'a, Metered> for &'a Map<String, Value> {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        Map::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        enter();
        Map::get(self, key.as_str())
    }

    fn members(&self) -> Members<'a> {
        Members(self.iter())
    }
}

/// Elements, a step for each.
pub(super) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for Elements<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<Self::Item> {
        enter();
        self.0.next()
    }
}

impl<'a> Array<'a, Metered> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        <[Value]>::len(self)
    }

    fn elements(&self) -> Elements<'a> {
        Elements((*self).iter())
    }

    fn is_unique(&self) -> bool {
        spend(self.iter().map(|item| 1 + size(item)).sum());
        unique::is_unique(self)
    }
}
