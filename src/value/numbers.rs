//! The numbers of inputs.

use std::convert::Infallible;

use super::{Arena, Extended, Sized, Value, Width};

/// The values that a reader makes of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    /// Integers and floats as they are written, and those that 64 bits do not hold as numbers of 512 bits.
    #[default]
    AsWritten,
    /// Integers and floats as they are written, and those that 64 bits do not hold as floats in their own spelling.
    Spelled,
    /// Floats. Integers beyond 2^53 lose their last digits.
    Floats,
    /// Integers that have a width of 64 bits, and floats.
    Sized,
    /// Floats as JSON writes them: those without a fraction are integers if they fit.
    Whole,
}

/// The bound of the floats that are certainly integers of 64 bits.
const WHOLE: f64 = 9.0e18;

/// The largest of the integers that are all exact as floats.
const EXACT: u64 = 1 << 53;

impl Numbers {
    /// Returns the value of a signed integer.
    pub fn int(self, arena: &Arena, n: i64) -> Value<'_> {
        match self {
            Numbers::AsWritten | Numbers::Spelled => Value::Int(n),
            Numbers::Floats => Value::Float(n as f64),
            Numbers::Sized => arena.extended(Extended::Sized(Sized::Signed(Width::W64, n))),
            Numbers::Whole => self.float(n as f64),
        }
    }

    /// Returns the value of a float.
    pub fn float<'v>(self, n: f64) -> Value<'v> {
        match self {
            Numbers::Whole if n.fract() == 0.0 && n.abs() < WHOLE => Value::Int(n as i64),
            _ => Value::Float(n),
        }
    }

    /// Returns the value of an unsigned integer.
    pub fn uint(self, arena: &Arena, n: u64) -> Value<'_> {
        match (self, i64::try_from(n)) {
            (_, Ok(n)) => self.int(arena, n),
            (Numbers::AsWritten | Numbers::Spelled, _) => Value::Uint(n),
            (Numbers::Floats, _) => Value::Float(n as f64),
            (Numbers::Whole, _) => self.float(n as f64),
            (Numbers::Sized, _) => arena.extended(Extended::Sized(Sized::Unsigned(Width::W64, n))),
        }
    }

    /// Returns `true` if values that hold their numbers as they are written are not converted.
    pub(super) const fn keeps(self) -> bool {
        matches!(self, Numbers::AsWritten | Numbers::Spelled)
    }

    /// Returns a value with its numbers by this policy, of one that holds them as they are written.
    pub fn all<'v>(self, arena: &'v Arena, value: Value<'v>) -> Value<'v> {
        if self.keeps() || !self.changes(value) {
            return value;
        }
        match self.of(arena, value, &mut |_| Ok::<_, Infallible>(())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Does the same as [`Numbers::all`]. `seen` receives the number of items of each list and map, and may stop the work.
    ///
    /// # Errors
    /// The error of `seen`.
    pub fn of<'v, E>(
        self,
        arena: &'v Arena,
        value: Value<'v>,
        seen: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Value<'v>, E> {
        if self.keeps() {
            return Ok(value);
        }
        self.converted(arena, value, seen)
    }

    /// Returns `true` if a value is or holds a number that may be another one by this policy.
    fn changes(self, value: Value<'_>) -> bool {
        let (root, mut open) = ([value], Vec::new());
        let mut items: &[Value<'_>] = &root;
        loop {
            for item in items {
                match item {
                    Value::Int(n) if self == Numbers::Whole && n.unsigned_abs() <= EXACT => {}
                    Value::Int(_) | Value::Uint(_) => return true,
                    Value::Float(_) if self == Numbers::Whole => return true,
                    Value::Extended(_) if item.is_long() => return true,
                    other => open.extend(Some(parts(*other)).filter(|parts| !parts.is_empty())),
                }
            }
            match open.pop() {
                Some(next) => items = next,
                None => return false,
            }
        }
    }

    fn scalar<'v>(self, arena: &'v Arena, value: Value<'v>) -> Value<'v> {
        match value {
            Value::Int(n) => self.int(arena, n),
            Value::Uint(n) => self.uint(arena, n),
            Value::Float(n) => self.float(n),
            other => match other.extended() {
                Some(Extended::Number(n)) => self.float(n.to_f64().unwrap_or(f64::NAN)),
                _ => other,
            },
        }
    }

    /// Converts with a stack on the heap.
    fn converted<'v, E>(
        self,
        arena: &'v Arena,
        root: Value<'v>,
        seen: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Value<'v>, E> {
        let mut open: Vec<(Value<'v>, Vec<Value<'v>>)> = Vec::new();
        let mut next = Some(root);
        loop {
            let mut done = match next.take() {
                Some(value) if parts(value).is_empty() => self.scalar(arena, value),
                Some(value) => {
                    seen(parts(value).len())?;
                    open.push((value, Vec::with_capacity(parts(value).len())));
                    next = parts(value).first().copied();
                    continue;
                }
                None => root,
            };
            loop {
                let Some((whole, items)) = open.last_mut() else { return Ok(done) };
                items.push(done);
                next = parts(*whole).get(items.len()).copied();
                if next.is_some() {
                    break;
                }
                done = match whole {
                    Value::Map(map) => arena.shaped_map(map.shape(), arena.bump().alloc_slice_copy(items)),
                    _ => arena.list(items),
                };
                open.pop();
            }
        }
    }
}

/// Returns the items of a list or the values of a map.
fn parts<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    match value {
        Value::List(list) => list.items(),
        Value::Map(map) => map.values(),
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_become_floats_or_sized() {
        let arena = Arena::new();
        let inner = arena.list(&[Value::Int(9_007_199_254_740_993), Value::Uint(u64::MAX), Value::Null]);
        let value = arena.map(&[("a", inner), ("b", Value::Float(1.5)), ("c", arena.list(&[])), ("d", Value::Int(1))]);
        let read = |numbers: Numbers| format!("{:?}", numbers.all(&arena, value).to_data());
        let shown = read(Numbers::Floats);
        assert!(
            shown.contains("Float(9007199254740992.0)") && shown.contains("Float(1.8446744073709552e19)"),
            "{shown}"
        );
        assert!(shown.contains("\"d\": Float(1.0)") && !shown.contains("Int("), "{shown}");
        assert_eq!(read(Numbers::Sized), read(Numbers::AsWritten));
        let shown = read(Numbers::Whole);
        assert!(shown.contains("Int(9007199254740992), Float(1.8446744073709552e19)"), "{shown}");
        assert!(shown.contains("\"b\": Float(1.5)") && shown.contains("\"d\": Int(1)"), "{shown}");
        let floats = [-0.0, 2.0, 8.9e18, 9.0e18, f64::NAN].map(|n| format!("{:?}", Numbers::Whole.float(n)));
        assert_eq!(floats, ["Int(0)", "Int(2)", "Int(8900000000000000000)", "Float(9e18)", "Float(NaN)"]);
    }
}
