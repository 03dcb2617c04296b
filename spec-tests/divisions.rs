//! Divides the inputs of a template at random into what is known before it is rendered and what is not.

use dropforge::engine::Template;
use dropforge::specialise::Known;
use dropforge::value::{Inputs, Value};

/// Numbers that depend on a seed only.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Returns what is known in a division. In division 0 all inputs are.
pub fn division_of<'v>(template: &'v Template, inputs: Inputs<'v>, division: u64) -> Known<'v> {
    let mut numbers = Numbers(division + 1);
    let field = |(name, value)| (name, divided(value, &mut numbers, division == 0));
    let mut known: Vec<(&str, Known<'_>)> = inputs.iter().map(field).collect();
    let absent = template.inputs().into_iter().filter(|name| inputs.get(name).is_none());
    known.extend(absent.filter(|_| numbers.below(2) == 0).map(|name| (name, Known::Absent)));
    Known::Fields(known)
}

/// A fleet shares plain data: no values that are unknown or marked.
fn divided<'v>(value: Value<'v>, numbers: &mut Numbers, whole: bool) -> Known<'v> {
    match (numbers.below(4), value) {
        _ if value.is_qualified() => Known::Open,
        _ if whole => Known::Value(value),
        (0 | 1, _) => Known::Value(value),
        (2, Value::Map(map)) => {
            Known::Fields(map.iter().map(|(name, value)| (name, divided(value, numbers, false))).collect())
        }
        _ => Known::Open,
    }
}
