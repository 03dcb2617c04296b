//! Sequences of integers.

use super::arguments::{int, only};
use crate::values::integers;
use dropforge_base::diagnostics::Result;
use dropforge_machine::assigned;
use dropforge_machine::function::{Cx, Written};
use dropforge_value::Value;

assigned! {
    /// Sequences.
    pub(super) static SEQUENCES:
    "until" (Int) = until, "Returns the integers from 0 up to but not including a number, or down to a negative one."
        [r#"{{ until 3 }} {{ until -2 }}"# => "[0 1 2] [0 -1]"];
    "untilStep" (Int, Int, Int) = until_step, "Returns the integers from a number up to but not including another, with a step."
        [r#"{{ untilStep 1 10 3 }}"# => "[1 4 7]"];
    "seq" (... Int) => seq, "Returns integers with spaces between them: to a last one, from a first one, with a step between."
        [r#"{{ seq 3 }} | {{ seq 2 -1 }} | {{ seq 0 2 5 }}"# => "1 2 3 | 2 1 0 -1 | 0 2 4"];
}

/// The integers from `next` to `end`, which is left out.
#[derive(Debug, Clone, Copy)]
struct Steps {
    next: i128,
    end: i128,
    step: i128,
}

impl Steps {
    /// No integers if the step does not lead to the end.
    fn new(start: i128, end: i128, step: i128) -> Self {
        let leads = if end < start { step < 0 } else { step > 0 };
        Self { next: start, end: if leads { end } else { start }, step }
    }

    fn count(self) -> usize {
        let distance = (self.end - self.next).unsigned_abs();
        let count = if distance == 0 { 0 } else { distance.div_ceil(self.step.unsigned_abs()) };
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Returns the integers. There are as many as the caller has paid for.
    fn integers(self) -> impl ExactSizeIterator<Item = i64> {
        let Self { next, step, .. } = self;
        (0..self.count()).map(move |at| i64::try_from(next + step * at as i128).unwrap_or(0))
    }
}

fn until<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let count = i128::from(int(cx, only(cx, args)?)?);
    listed(cx, Steps::new(0, count, if count < 0 { -1 } else { 1 }))
}

fn until_step<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [start, end, step] = args else { return Err(cx.arity()) };
    let int = |value: &Value<'v>| int(cx, *value).map(i128::from);
    listed(cx, Steps::new(int(start)?, int(end)?, int(step)?))
}

fn listed<'v>(cx: &Cx<'v>, steps: Steps) -> Result<Value<'v>> {
    cx.spend(steps.count() as u64)?;
    cx.charge(steps.count().saturating_mul(size_of::<Value<'_>>()))?;
    integers(cx, &steps.integers().map(Value::Int).collect::<Vec<_>>())
}

fn seq<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let numbers = args.iter().map(|value| int(cx, *value).map(i128::from)).collect::<Result<Vec<_>>>()?;
    let Some(steps) = steps_of(&numbers) else { return Ok(None) };
    cx.spend(steps.count() as u64)?;
    for (at, number) in steps.integers().enumerate() {
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(number);
        cx.charge(text.len() + 1)?;
        out.push_str(if at == 0 { "" } else { " " });
        out.push_str(text);
    }
    Ok(None)
}

/// Returns the integers of `seq`, whose end is one of them. `None` if there are too many arguments, or if a step leads
/// upwards to a smaller end.
fn steps_of(numbers: &[i128]) -> Option<Steps> {
    let direction = |start: i128, end: i128| if end < start { -1 } else { 1 };
    let (start, end, step) = match *numbers {
        [end] => (1, end, direction(1, end)),
        [start, end] => (start, end, direction(start, end)),
        [start, step, end] if end >= start || step <= 0 => (start, end, step),
        _ => return None,
    };
    Some(Steps::new(start, end + direction(start, end), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(start: i64, end: i64, step: i64) -> Vec<i64> {
        Steps::new(start.into(), end.into(), step.into()).integers().collect()
    }

    #[test]
    fn steps_lead_to_the_end() {
        assert_eq!(steps(1, 10, 3), [1, 4, 7]);
        assert_eq!(steps(10, 1, -3), [10, 7, 4]);
        assert_eq!(steps(i64::MAX - 1, i64::MAX, 5), [i64::MAX - 1]);
        for (start, end, step) in [(1, 5, 0), (5, 1, 1), (0, 0, 1), (1, 5, -1), (0, 0, 0)] {
            assert!(steps(start, end, step).is_empty());
        }
        assert_eq!(Steps::new(i64::MIN.into(), i64::MAX.into(), 1).count(), usize::MAX);
    }

    #[test]
    fn sequences_include_their_end() {
        let seq = |numbers: &[i128]| steps_of(numbers).map(|steps| steps.integers().collect::<Vec<_>>());
        assert_eq!(seq(&[0]), Some(vec![1, 0]));
        assert_eq!(seq(&[10, -3, 1]), Some(vec![10, 7, 4, 1]));
        assert_eq!(seq(&[3, 3, 2]), None);
        assert_eq!(seq(&[1, -1, 5]), Some(vec![]));
        assert_eq!(seq(&[0, 0]), Some(vec![0]));
        assert_eq!(seq(&[]), None);
    }
}
