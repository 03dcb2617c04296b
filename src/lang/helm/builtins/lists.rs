//! Lists: their ends, parts and elements; sequences of integers.

use std::borrow::Cow;

use super::math::to_int64;
use super::{elements, is_nil, kind_name, nil_pointer, string_of};
use crate::error::failed;
use crate::values::{CHUNKS, deep_equal, integers, nil_list, truth};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Rest, Written};
use dropforge_machine::functions;
use dropforge_value::{Extended, Value};

functions! {
    /// Lists.
    pub(super) static LISTS:
    "list" [... Any] = list, looks Kinds, "Returns a list of the arguments." [r#"{{ list 1 "a" nil }}"# => "[1 a <nil>]"];
    "tuple" [... Any] = list, looks Kinds, "Returns a list of the arguments, like `list`." [r#"{{ tuple 1 2 }}"# => "[1 2]"];
    "first" [Any] = first, looks Kinds, "Returns the first element of a list, or nil." [r#"{{ list 1 2 | first }}"# => "1"];
    "mustFirst" [Any] = first, looks Kinds, "Returns the first element of a list, or nil." [r#"{{ list 1 2 | mustFirst }}"# => "1"];
    "last" [Any] = last, looks Kinds, "Returns the last element of a list, or nil." [r#"{{ list 1 2 | last }}"# => "2"];
    "mustLast" [Any] = last, looks Kinds, "Returns the last element of a list, or nil." [r#"{{ list 1 2 | mustLast }}"# => "2"];
    "rest" [Any] = rest, looks Kinds, "Returns a list without its first element." [r#"{{ list 1 2 3 | rest }}"# => "[2 3]"];
    "mustRest" [Any] = rest, looks Kinds, "Returns a list without its first element." [r#"{{ list 1 2 3 | mustRest }}"# => "[2 3]"];
    "initial" [Any] = initial, looks Kinds, "Returns a list without its last element." [r#"{{ list 1 2 3 | initial }}"# => "[1 2]"];
    "mustInitial" [Any] = initial, looks Kinds, "Returns a list without its last element."
        [r#"{{ list 1 2 3 | mustInitial }}"# => "[1 2]"];
    "append" [Any, Any] = append, looks Kinds, "Returns a list with one more element at its end."
        [r#"{{ append (list 1) 2 }}"# => "[1 2]", r#"{{ append "a" 2 }}"# => "E0404"];
    "mustAppend" [Any, Any] = append, looks Kinds, "Returns a list with one more element at its end."
        [r#"{{ mustAppend (list 1) 2 }}"# => "[1 2]"];
    "push" [Any, Any] = append, looks Kinds, "Returns a list with one more element at its end, like `append`."
        [r#"{{ push (list 1) 2 }}"# => "[1 2]"];
    "mustPush" [Any, Any] = append, looks Kinds, "Returns a list with one more element at its end, like `append`."
        [r#"{{ mustPush (list 1) 2 }}"# => "[1 2]"];
    "prepend" [Any, Any] = prepend, looks Kinds, "Returns a list with one more element at its beginning."
        [r#"{{ prepend (list 1) 0 }}"# => "[0 1]"];
    "mustPrepend" [Any, Any] = prepend, looks Kinds, "Returns a list with one more element at its beginning."
        [r#"{{ mustPrepend (list 1) 0 }}"# => "[0 1]"];
    "concat" [... Any] = concat, looks Kinds, "Joins lists." [r#"{{ concat (list 1) (list 2 3) }}"# => "[1 2 3]"];
    "reverse" [Any] = reverse, "Returns a list in reverse order." [r#"{{ list 1 2 | reverse }}"# => "[2 1]"];
    "mustReverse" [Any] = reverse, "Returns a list in reverse order." [r#"{{ list 1 2 | mustReverse }}"# => "[2 1]"];
    "chunk" [Int, Any] = chunk, "Splits a list into lists of a length." [r#"{{ list 1 2 3 | chunk 2 }}"# => "[[1 2] [3]]"];
    "mustChunk" [Int, Any] = chunk, "Splits a list into lists of a length."
        [r#"{{ list 1 2 3 | mustChunk 2 }}"# => "[[1 2] [3]]"];
    "slice" [Any, ... Any] = slice, "Returns the elements of a list between two positions."
        [r#"{{ slice (list 1 2 3) 1 3 }}"# => "[2 3]", r#"{{ slice (list 1) 2 }}"# => "E0404"];
    "mustSlice" [Any, ... Any] = slice, "Returns the elements of a list between two positions."
        [r#"{{ mustSlice (list 1 2 3) 1 }}"# => "[2 3]"];
    "compact" [Any] = compact, "Returns a list without empty elements." [r#"{{ list 1 0 "" "a" | compact }}"# => "[1 a]"];
    "mustCompact" [Any] = compact, "Returns a list without empty elements."
        [r#"{{ list 1 0 "" "a" | mustCompact }}"# => "[1 a]"];
    "uniq" [Any] = unique, "Returns the distinct elements of a list." [r#"{{ list 1 "a" 1 | uniq }}"# => "[1 a]"];
    "mustUniq" [Any] = unique, "Returns the distinct elements of a list." [r#"{{ list 1 "a" 1 | mustUniq }}"# => "[1 a]"];
    "without" [Any, ... Any] = without, "Returns a list without some elements."
        [r#"{{ without (list 1 2 3) 1 3 }}"# => "[2]"];
    "mustWithout" [Any, ... Any] = without, "Returns a list without some elements."
        [r#"{{ mustWithout (list 1 2 3) 1 3 }}"# => "[2]"];
    "has" [Any, Any] = has, "Returns `true` if a list contains a value." [r#"{{ list 1 2 | has 2 }}"# => "true"];
    "mustHas" [Any, Any] = has, "Returns `true` if a list contains a value." [r#"{{ list 1 2 | mustHas 3 }}"# => "false"];
}

/// Elements of a list.
type Items<'v> = Cow<'v, [Value<'v>]>;

/// Returns the elements of a list. The message of the error for other values ends with the kind of their type.
fn items_of<'v>(cx: &Cx<'v>, value: Value<'v>, message: &str, end: &str) -> Result<Items<'v>> {
    let other = || if is_nil(value) { nil_pointer() } else { failed(format!("{message} {}{end}", kind_name(value))) };
    let items = elements(cx, value)?.ok_or_else(other)?;
    cx.spend(items.len() as u64)?;
    Ok(items)
}

/// Returns the texts of the elements of a list except nil, or the text of any other value.
pub(super) fn texts<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Vec<Value<'v>>> {
    let Some(items) = elements(cx, value)? else {
        return if is_nil(value) { Ok(Vec::new()) } else { Ok(vec![string_of(cx, value)?]) };
    };
    cx.charge(items.len().saturating_mul(size_of::<Value<'_>>()))?;
    items.iter().filter(|item| !is_nil(**item)).map(|item| string_of(cx, *item)).collect()
}

pub(super) fn list<'v>(cx: &Cx<'v>, Rest(items): Rest<'_, 'v>) -> Result<Value<'v>> {
    cx.list(items)
}

fn first<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find first on type", "")?;
    Ok(items.first().copied().unwrap_or(Value::Null))
}

fn last<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find last on type", "")?;
    Ok(items.last().copied().unwrap_or(Value::Null))
}

fn rest<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find rest on type", "")?;
    items.split_first().map_or_else(|| nil_list(cx), |(_, rest)| cx.list(rest))
}

fn initial<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find initial on type", "")?;
    items.split_last().map_or_else(|| nil_list(cx), |(_, rest)| cx.list(rest))
}

fn append<'v>(cx: &Cx<'v>, list: Value<'v>, value: Value<'v>) -> Result<Value<'v>> {
    joined(cx, &[&items_of(cx, list, "Cannot push on type", "")?, &[value]])
}

fn prepend<'v>(cx: &Cx<'v>, list: Value<'v>, value: Value<'v>) -> Result<Value<'v>> {
    joined(cx, &[&[value], &items_of(cx, list, "Cannot prepend on type", "")?])
}

fn concat<'v>(cx: &Cx<'v>, Rest(lists): Rest<'_, 'v>) -> Result<Value<'v>> {
    let items = |list: &Value<'v>| items_of(cx, *list, "Cannot concat type", " as list");
    let lists = lists.iter().map(items).collect::<Result<Vec<_>>>()?;
    if lists.iter().all(|list| list.is_empty()) {
        return nil_list(cx);
    }
    joined(cx, &lists.iter().map(|list| &**list).collect::<Vec<_>>())
}

/// Returns a list of the elements of several.
fn joined<'v>(cx: &Cx<'v>, lists: &[&[Value<'v>]]) -> Result<Value<'v>> {
    let len = lists.iter().map(|list| list.len()).fold(0_usize, usize::saturating_add);
    cx.charge(len.saturating_mul(size_of::<Value<'_>>()))?;
    cx.list(&lists.concat())
}

fn reverse<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find reverse on type", "")?;
    cx.list_of(items.iter().rev().copied())
}

fn chunk<'v>(cx: &Cx<'v>, size: i64, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot chunk type", "")?;
    let lens = chunk_lens(items.len(), size).ok_or_else(|| failed("runtime error: makeslice: len out of range"))?;
    let mut left = &*items;
    let mut chunks = Vec::new();
    for len in lens {
        let (chunk, behind) = left.split_at_checked(len).unwrap_or((left, &[]));
        cx.charge(size_of::<Value<'_>>())?;
        chunks.push(cx.list(chunk)?);
        left = behind;
    }
    let chunks = cx.list(&chunks)?;
    cx.extended(Extended::Typed(CHUNKS, chunks))
}

/// Returns the lengths of the chunks of a list. `None` if a length or their number is negative. A negative size gives
/// one chunk at most, of the elements that remain of a division by it.
fn chunk_lens(len: usize, size: i64) -> Option<impl Iterator<Item = usize>> {
    let count = ((len as f64 - 1.0) / size as f64).floor() + 1.0;
    if !(0.0..=len as f64 + 2.0).contains(&count) {
        return None;
    }
    let (count, last) = (count as usize, i64::try_from(len).ok()?.checked_rem(size)?);
    let last = if last == 0 { size } else { last };
    let valid = match count {
        0 => true,
        1 => last >= 0,
        _ => size > 0,
    };
    let (size, last) = (usize::try_from(size).unwrap_or(0), usize::try_from(last).unwrap_or(0));
    valid.then(|| (1..=count).map(move |at| if at == count { last } else { size }))
}

fn slice<'v>(cx: &Cx<'v>, list: Value<'v>, Rest(range): Rest<'_, 'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "list should be type of slice or array but", "")?;
    if items.is_empty() {
        return Ok(Value::Null);
    }
    let position = |at: usize| range.get(at).map(|value| usize::try_from(to_int64(*value)).unwrap_or(usize::MAX));
    let (start, end) = (position(0).unwrap_or(0), position(1).unwrap_or(items.len()));
    let outside = || failed("reflect.Value.Slice: slice index out of bounds");
    let part = cx.list(items.get(start..end).ok_or_else(outside)?)?;
    match list.extended() {
        Some(Extended::Typed(ty, Value::List(_))) => cx.extended(Extended::Typed(*ty, part)),
        _ => Ok(part),
    }
}

fn compact<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot compact on type", "")?;
    kept(cx, &items, |item| Ok(truth(cx, item)))
}

fn unique<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find uniq on type", "")?;
    cx.charge(items.len().saturating_mul(size_of::<Value<'_>>()))?;
    let mut distinct = Vec::new();
    for item in items.iter() {
        if !contains(cx, &distinct, *item)? {
            distinct.push(*item);
        }
    }
    cx.list(&distinct)
}

fn without<'v>(cx: &Cx<'v>, list: Value<'v>, Rest(omitted): Rest<'_, 'v>) -> Result<Value<'v>> {
    let items = items_of(cx, list, "Cannot find without on type", "")?;
    kept(cx, &items, |item| contains(cx, omitted, item).map(|omitted| !omitted))
}

/// Returns a list of the elements that `keeps` selects.
fn kept<'v>(cx: &Cx<'v>, items: &[Value<'v>], keeps: impl Fn(Value<'v>) -> Result<bool>) -> Result<Value<'v>> {
    cx.charge(items.len().saturating_mul(size_of::<Value<'_>>()))?;
    let mut kept = Vec::new();
    for item in items {
        if keeps(*item)? {
            kept.push(*item);
        }
    }
    cx.list(&kept)
}

fn has<'v>(cx: &Cx<'v>, wanted: Value<'v>, list: Value<'v>) -> Result<bool> {
    if is_nil(list) {
        return Ok(false);
    }
    let items = items_of(cx, list, "Cannot find has on type", "")?;
    contains(cx, &items, wanted)
}

/// Returns `true` if an element equals `wanted`, with its type.
fn contains<'v>(cx: &Cx<'v>, items: &[Value<'v>], wanted: Value<'v>) -> Result<bool> {
    for item in items {
        if deep_equal(cx, *item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

functions! {
    /// Sequences.
    pub(super) static SEQUENCES:
    "until" [Int] = until, "Returns the integers from 0 up to but not including a number, or down to a negative one."
        [r#"{{ until 3 }} {{ until -2 }}"# => "[0 1 2] [0 -1]"];
    "untilStep" [Int, Int, Int] = until_step, "Returns the integers from a number up to but not including another, with a step."
        [r#"{{ untilStep 1 10 3 }}"# => "[1 4 7]"];
    "seq" [... Int] => seq, "Returns integers with spaces between them: to a last one, from a first one, with a step between."
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

    /// Returns the integers. The caller has paid for them.
    fn integers(self) -> impl ExactSizeIterator<Item = i64> {
        let Self { next, step, .. } = self;
        (0..self.count()).map(move |at| i64::try_from(next + step * at as i128).unwrap_or(0))
    }
}

fn until<'v>(cx: &Cx<'v>, count: i64) -> Result<Value<'v>> {
    let count = i128::from(count);
    listed(cx, Steps::new(0, count, if count < 0 { -1 } else { 1 }))
}

fn until_step<'v>(cx: &Cx<'v>, start: i64, end: i64, step: i64) -> Result<Value<'v>> {
    listed(cx, Steps::new(start.into(), end.into(), step.into()))
}

fn listed<'v>(cx: &Cx<'v>, steps: Steps) -> Result<Value<'v>> {
    cx.spend(steps.count() as u64)?;
    cx.charge(steps.count().saturating_mul(size_of::<Value<'_>>()))?;
    integers(cx, &steps.integers().map(Value::Int).collect::<Vec<_>>())
}

fn seq<'v>(cx: &Cx<'v>, Rest(numbers): Rest<'_, 'v>, out: &mut String) -> Written<'v> {
    let numbers: Vec<_> = numbers.iter().map(|number| i128::from(to_int64(*number))).collect();
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

    #[test]
    fn lengths_of_chunks() {
        let lens = |len, size| chunk_lens(len, size).map(|lens| lens.collect::<Vec<_>>());
        assert_eq!(lens(3, 2), Some(vec![2, 1]));
        assert_eq!(lens(4, 2), Some(vec![2, 2]));
        assert_eq!(lens(3, 5), Some(vec![3]));
        assert_eq!(lens(0, 2), Some(vec![]));
        // Sizes that are not positive.
        assert_eq!(lens(3, 0), None);
        assert_eq!(lens(3, -1), None);
        assert_eq!(lens(3, -2), Some(vec![]));
        assert_eq!(lens(2, -1), Some(vec![]));
        assert_eq!(lens(1, -1), None);
        assert_eq!(lens(1, -2), Some(vec![1]));
        assert_eq!(lens(0, -1), None);
        assert_eq!(lens(0, -2), None);
    }

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
