//! List filters: single items, joining, slicing; filters by an attribute of each item, given as a dotted path.

use std::borrow::Cow;
use std::cmp::Ordering;

use hashbrown::{DefaultHashBuilder, HashSet};
use indexmap::IndexMap;
use smallvec::SmallVec;

use super::strings::unescaped;
use super::values::{Charged, json};
use super::{Written, missing, optional_text, required_text, wrong};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::paths::{BadPath, step_index, steps};
use dropforge_machine::function::{Cx, excerpt};
use dropforge_machine::functions;
use dropforge_value::{JsonStyle, List, Value};

functions! {
    /// List filters.
    pub(super) static LISTS:
    filter "first" (value: List) = first, total (List),
        "The first item; empty text where there is none."
        [r"{{ [3, 1] | first }}" => "3", r"{{ 'a' | first }}" => "E0403"];
    filter "last" (value: List) = last, total (List),
        "The last item; empty text where there is none."
        [r"{{ [3, 1] | last }}" => "1"];
    filter "nth" (value: List, n: Any = absent) = nth,
        "The item at `n`, counted from 0; empty text where there is none."
        [r"{{ [3, 1] | nth(n=1) }}" => "1", r"{{ [3] | nth(n=1) }}" => "", r"{{ [3] | nth }}" => "E0402"];
    filter "join" (value: List, sep: Str = str "") => join,
        r"The items as one text, `sep` between them; `\n` and `\t` in it stand for a line feed and a tab."
        [r"{{ ['a', 1, 2.0] | join(sep=', ') }}" => "a, 1, 2"];
    filter "slice" (value: List, start: Any = absent, end: Any = absent) = slice,
        "The items from `start` up to but not including `end`; negative positions count from the end."
        [r"{{ [1, 2, 3, 4] | slice(start=1, end=-1) }}" => "[2, 3]", r"{{ [1] | slice(start='a') }}" => "E0403"];
    filter "concat" (value: List, with: Any) = concat, total (List, Present),
        "With the items of the list `with`, or with `with` itself, at the end."
        [r"{{ [1] | concat(with=[2, 3]) | concat(with=4) }}" => "[1, 2, 3, 4]"];
}

fn first<'v>(cx: &Cx<'v>, items: &'v [Value<'v>]) -> Result<Value<'v>> {
    items.first().copied().map_or_else(|| cx.borrowed(""), Ok)
}

fn last<'v>(cx: &Cx<'v>, items: &'v [Value<'v>]) -> Result<Value<'v>> {
    items.last().copied().map_or_else(|| cx.borrowed(""), Ok)
}

fn nth<'v>(cx: &Cx<'v>, items: &'v [Value<'v>], n: Option<Value<'v>>) -> Result<Value<'v>> {
    if items.is_empty() {
        return cx.borrowed("");
    }
    let at = match n {
        Some(Value::Int(n @ 0..)) => usize::try_from(n).unwrap_or(usize::MAX),
        Some(Value::Uint(_)) => usize::MAX,
        None => return Err(missing("filter `nth`", "n", "an integer that is not negative")),
        Some(other) => return Err(wrong("filter `nth`", "n", "an integer that is not negative", other)),
    };
    items.get(at).copied().map_or_else(|| cx.borrowed(""), Ok)
}

fn join<'v>(cx: &Cx<'v>, items: &'v [Value<'v>], sep: &'v str, out: &mut String) -> Written<'v> {
    let sep = unescaped(cx, sep)?;
    let mut joined = Charged::new(cx, out);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            joined.push(&sep)?;
        }
        joined.value(*item)?;
    }
    joined.finish()
}

fn slice<'v>(cx: &Cx<'v>, list: &'v List<'v>, start: Option<Value<'v>>, end: Option<Value<'v>>) -> Result<Value<'v>> {
    let items = list.items();
    if items.is_empty() {
        return Ok(Value::List(list));
    }
    let start = position("start", start, items.len())?.unwrap_or(0);
    let end = position("end", end, items.len())?.map_or(items.len(), |end| end.min(items.len()));
    cx.list(items.get(start..end).unwrap_or(&[]))
}

/// Returns a position from the start. Negative positions count from the end; those before the start become 0.
fn position(param: &str, value: Option<Value<'_>>, len: usize) -> Result<Option<usize>> {
    let Some(value) = value else { return Ok(None) };
    match value.as_f64() {
        Some(at) if at >= 0.0 => Ok(Some(at as usize)),
        Some(at) => Ok(Some((len as f64 + at) as usize)),
        None => Err(wrong("filter `slice`", param, "a number", value)),
    }
}

fn concat<'v>(cx: &Cx<'v>, items: &'v [Value<'v>], with: Value<'v>) -> Result<Value<'v>> {
    let more = with.as_list().unwrap_or(std::slice::from_ref(&with));
    cx.spend((items.len() + more.len()) as u64)?;
    cx.charge((items.len() + more.len()) * size_of::<Value>())?;
    cx.list(&[items, more].concat())
}

functions! {
    /// List filters by an attribute of the items.
    pub(super) static ATTRIBUTES:
    filter "sort" (value: List, attribute: Any = absent) = sort,
        "Sorted, by `attribute` if it is given: booleans, numbers, texts, or lists by their length. Stable."
        [r"{{ [3, 1, 2] | sort }}" => "[1, 2, 3]", r"{{ [1, 'a'] | sort }}" => "E0403"];
    filter "unique" (value: List, attribute: Any = absent, case_sensitive: Any = absent) = unique,
        "Without items that came before, by `attribute` if it is given; letter case counts if `case_sensitive`."
        [
            r"{{ ['a', 'A', 'b'] | unique }}" => "[a, b]",
            r"{{ ['a', 'A'] | unique(case_sensitive=true) }}" => "[a, A]",
            r"{{ [1.5] | unique }}" => "E0403",
        ];
    filter "group_by" (value: List, attribute: Any = absent) = group_by,
        "A map from each value of `attribute`, as text, to the items that have it. Items without it are left out."
        [r"{{ [1, 2] | group_by(attribute='kind') | length }}" => "0", r"{{ [1] | group_by }}" => "E0402"];
    filter "filter" (items: List, attribute: Any = absent, value: Any = absent) = filter,
        "The items whose `attribute` is `value`; without `value` those that have one that is not null."
        [r"{{ [1, 2] | filter(attribute='kind', value='a') }}" => "[]", r"{{ [1] | filter }}" => "E0402"];
    filter "map" (value: List, attribute: Any = absent) = map,
        "The `attribute` of each item that has one that is not null."
        [r"{{ ['a', 'b'] | map(attribute='kind') }}" => "[]", r"{{ [1] | map(attribute=1) }}" => "E0403"];
}

/// A path to an attribute, split into steps.
struct Attribute<'v> {
    path: &'v str,
    steps: SmallVec<[std::result::Result<Cow<'v, str>, BadPath>; 4]>,
}

impl<'v> Attribute<'v> {
    /// Splits a path. No value is deeper than the limit, so further steps lead nowhere.
    fn new(cx: &Cx<'v>, path: &'v str) -> Self {
        if path.is_empty() {
            return Self { path, steps: SmallVec::new() };
        }
        Self { path, steps: steps(path).take(cx.limits().value_depth + 1).collect() }
    }

    /// Returns the attribute of `value`, if it has one.
    #[inline]
    fn of(&self, value: Value<'v>) -> Result<Option<Value<'v>>> {
        let mut value = value;
        for step in &self.steps {
            let step = step.as_ref().map_err(|BadPath| self.bad())?;
            let found = match value {
                Value::Map(map) => map.get(step),
                Value::List(list) => step_index(step).and_then(|at| list.items().get(at).copied()),
                _ => None,
            };
            let Some(found) = found else { return Ok(None) };
            value = found;
        }
        Ok(Some(value))
    }

    #[cold]
    fn bad(&self) -> Box<Diagnostic> {
        Diagnostic::new(Code::BadArgument, format!("`{}` is not a path to an attribute", self.path))
    }

    #[cold]
    fn absent(&self, of: &str, item: Value<'_>) -> Box<Diagnostic> {
        let message = format!("{of}: the attribute `{}` is not in {}", self.path, excerpt(item));
        Diagnostic::new(Code::BadArgument, message)
    }
}

const SORT: &str = "filter `sort`";

fn sort<'v>(cx: &Cx<'v>, list: &'v List<'v>, attribute: Option<Value<'v>>) -> Result<Value<'v>> {
    let items = list.items();
    let Some(first) = items.first() else { return Ok(Value::List(list)) };
    let attribute = Attribute::new(cx, optional_text(SORT, "attribute", attribute)?.unwrap_or(""));
    let key = attribute.of(*first)?.ok_or_else(|| attribute.absent(SORT, *first))?;
    match key {
        Value::Bool(_) => {
            let as_bool = |key| if let Value::Bool(truth) = key { Some(truth) } else { None };
            sort_as(cx, items, &attribute, "a boolean", as_bool, bool::cmp)
        }
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
            sort_as(cx, items, &attribute, "a number", |key| key.as_f64(), f64::total_cmp)
        }
        Value::Str(_) => {
            spend_on_comparing_texts(cx, items, &attribute)?;
            sort_as(cx, items, &attribute, "a string", |key| key.as_str(), |a, b| a.cmp(b))
        }
        Value::List(_) => {
            sort_as(cx, items, &attribute, "a list", |key| key.as_list().map(<[Value<'_>]>::len), usize::cmp)
        }
        other => Err(wrong(SORT, "value", "a list of booleans, numbers, strings or lists", other)),
    }
}

/// Estimates the number of comparisons per sorted item.
fn comparisons(len: usize) -> u64 {
    u64::from(len.checked_ilog2().unwrap_or(0)) + 1
}

/// Charges for comparing strings. Each comparison may read every byte of the shorter one.
fn spend_on_comparing_texts<'v>(cx: &Cx<'v>, items: &[Value<'v>], attribute: &Attribute<'v>) -> Result<()> {
    for item in items {
        let len = attribute.of(*item)?.as_ref().and_then(Value::as_str).map_or(0, str::len);
        cx.spend(len as u64 / 64 * comparisons(items.len()))?;
    }
    Ok(())
}

/// Sorts the items by the `key` of their attribute, which must be of the type `wanted` in all of them.
fn sort_as<'v, K>(
    cx: &Cx<'v>,
    items: &[Value<'v>],
    attribute: &Attribute<'v>,
    wanted: &str,
    key: impl Fn(Value<'v>) -> Option<K>,
    order: impl Fn(&K, &K) -> Ordering,
) -> Result<Value<'v>> {
    cx.spend((items.len() as u64).saturating_mul(comparisons(items.len())))?;
    cx.charge(items.len().saturating_mul(size_of::<(K, Value)>()))?;
    let mut keyed: SmallVec<[(K, Value<'v>); FEW]> = SmallVec::with_capacity(items.len());
    for item in cx.in_turn(items) {
        let item = item?;
        let found = attribute.of(*item)?.ok_or_else(|| attribute.absent(SORT, *item))?;
        let key = key(found).ok_or_else(|| wrong(SORT, "value", &format!("{wanted} as the first one is"), found))?;
        keyed.push((key, *item));
    }
    cx.sort_by(&mut keyed, |a, b| order(&a.0, &b.0))?;
    cx.list_of(keyed.iter().map(|(_, item)| *item))
}

const UNIQUE: &str = "filter `unique`";

/// A key that was already seen.
#[derive(PartialEq, Eq, Hash)]
enum Key<'v> {
    Bool(bool),
    Int(i64),
    Text(Cow<'v, str>),
}

impl<'v> Key<'v> {
    /// Returns the key of a value, which must have the type of the first one.
    fn new(cx: &Cx<'v>, first: Value<'v>, value: Value<'v>, case_sensitive: bool) -> Result<Self> {
        Ok(match (first, value) {
            (Value::Bool(_), Value::Bool(b)) => Key::Bool(b),
            (Value::Int(_) | Value::Uint(_), Value::Int(n)) => Key::Int(n),
            (Value::Str(_), Value::Str(text)) => {
                let text = text.as_str();
                cx.spend(text.len() as u64 / 64)?;
                if case_sensitive || !text.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
                    return Ok(Key::Text(Cow::Borrowed(text)));
                }
                cx.charge(dropforge_base::stdlib::strings::lowercase_len(text))?;
                Key::Text(Cow::Owned(text.to_lowercase()))
            }
            (Value::Int(_) | Value::Uint(_), Value::Uint(_) | Value::Float(_)) => {
                return Err(wrong(UNIQUE, "value", "an integer of 64 bits with sign, as the first one is", value));
            }
            (Value::Bool(_), _) => return Err(mixed("a boolean", value)),
            (Value::Int(_) | Value::Uint(_), _) => return Err(mixed("an integer", value)),
            (Value::Str(_), _) => return Err(mixed("a string", value)),
            _ => return Err(wrong(UNIQUE, "value", "a list of booleans, integers or strings", first)),
        })
    }
}

/// The number of keys that are compared one by one, which needs no hashes.
const FEW: usize = 16;

/// Keys that were already seen.
#[derive(Default)]
struct SeenKeys<'v> {
    few: SmallVec<[Key<'v>; FEW]>,
    /// All keys, if there are more than a few.
    many: Option<HashSet<Key<'v>>>,
}

impl<'v> SeenKeys<'v> {
    /// Adds a key. Returns `true` if it is new.
    fn insert(&mut self, key: Key<'v>) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(key);
        }
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(key);
        } else {
            self.many.insert(self.few.drain(..).collect()).insert(key);
        }
        true
    }
}

#[cold]
fn mixed(first: &str, other: Value<'_>) -> Box<Diagnostic> {
    let (got, kind) = (excerpt(other), other.kind());
    let message = format!("{UNIQUE} can't compare multiple types: the first is {first}, another is {got} ({kind})");
    Diagnostic::new(Code::BadArgument, message)
}

fn unique<'v>(
    cx: &Cx<'v>,
    list: &'v List<'v>,
    attribute: Option<Value<'v>>,
    case_sensitive: Option<Value<'v>>,
) -> Result<Value<'v>> {
    let items = list.items();
    let Some(first) = items.first() else { return Ok(Value::List(list)) };
    let case_sensitive = match case_sensitive {
        None => false,
        Some(Value::Bool(b)) => b,
        Some(other) => return Err(wrong(UNIQUE, "case_sensitive", "a boolean", other)),
    };
    let attribute = Attribute::new(cx, optional_text(UNIQUE, "attribute", attribute)?.unwrap_or(""));
    let first = attribute.of(*first)?.ok_or_else(|| attribute.absent(UNIQUE, *first))?;
    cx.spend(items.len() as u64)?;
    cx.charge(items.len().saturating_mul(2 * size_of::<Value>()))?;
    let (mut seen, mut kept) = (SeenKeys::default(), SmallVec::<[_; FEW]>::new());
    for item in cx.in_turn(items) {
        let item = item?;
        if let Some(value) = attribute.of(*item)?
            && seen.insert(Key::new(cx, first, value, case_sensitive)?)
        {
            kept.push(*item);
        }
    }
    cx.list(&kept)
}

fn group_by<'v>(cx: &Cx<'v>, items: &'v [Value<'v>], attribute: Option<Value<'v>>) -> Result<Value<'v>> {
    let Some(attribute) = by_attribute(cx, "filter `group_by`", items, attribute)? else { return cx.map(&[]) };
    let mut groups: IndexMap<&'v str, Vec<Value<'v>>, DefaultHashBuilder> = IndexMap::default();
    for item in cx.in_turn(items) {
        let item = item?;
        let key = match attribute.of(*item)? {
            None | Some(Value::Null) => continue,
            Some(Value::Str(text)) => text.as_str(),
            Some(other) => {
                let mut key = String::new();
                json(cx, other, JsonStyle::Compact, &mut key)?;
                cx.arena().copy_str(&key)
            }
        };
        cx.spend(key.len() as u64 / 64)?;
        groups.entry(key).or_default().push(*item);
    }
    let lists = groups.iter().map(|(key, items)| Ok((*key, cx.list(items)?)));
    let entries: Result<Vec<_>> = lists.collect();
    cx.map(&entries?)
}

/// Returns the attribute of a filter that needs one, and charges for a list of the items. Like the reference, ignores the
/// arguments if the list is empty.
fn by_attribute<'v>(
    cx: &Cx<'v>,
    of: &str,
    items: &[Value<'v>],
    name: Option<Value<'v>>,
) -> Result<Option<Attribute<'v>>> {
    if items.is_empty() {
        return Ok(None);
    }
    let attribute = Attribute::new(cx, required_text(of, "attribute", name)?);
    cx.spend(items.len() as u64)?;
    cx.charge(items.len().saturating_mul(size_of::<Value>()))?;
    Ok(Some(attribute))
}

fn filter<'v>(
    cx: &Cx<'v>,
    list: &'v List<'v>,
    attribute: Option<Value<'v>>,
    wanted: Option<Value<'v>>,
) -> Result<Value<'v>> {
    let attribute = by_attribute(cx, "filter `filter`", list.items(), attribute)?;
    let Some(attribute) = attribute else { return Ok(Value::List(list)) };
    let mut kept: SmallVec<[_; FEW]> = SmallVec::new();
    for item in cx.in_turn(list.items()) {
        let item = item?;
        let found = attribute.of(*item)?.unwrap_or(Value::Null);
        let keep = match wanted {
            None | Some(Value::Null) => !matches!(found, Value::Null),
            Some(wanted) => cx.equal(found, wanted)?,
        };
        kept.extend(keep.then_some(*item));
    }
    cx.list(&kept)
}

fn map<'v>(cx: &Cx<'v>, list: &'v List<'v>, attribute: Option<Value<'v>>) -> Result<Value<'v>> {
    let attribute = by_attribute(cx, "filter `map`", list.items(), attribute)?;
    let Some(attribute) = attribute else { return Ok(Value::List(list)) };
    let mut found: SmallVec<[_; FEW]> = SmallVec::new();
    for item in cx.in_turn(list.items()) {
        found.extend(attribute.of(*item?)?.filter(|value| !matches!(value, Value::Null)));
    }
    cx.list(&found)
}
