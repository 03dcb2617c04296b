//! Merging values: what users give over what charts give, from the outside in.
//!
//! Values are merged without copying: whatever comes from one place stays there. There are two ways. [`Nulls::Delete`]
//! is for the final values: a null removes the default. [`Nulls::Keep`] merges values that others will be merged over,
//! so that nulls still have their effect there. The recursion is bounded by the nesting of values and charts.

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

use super::Stage;
use super::dependencies::Tree;
use super::explain::GLOBAL;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{Data, DataMap};

/// A merged map.
pub(super) type MergedMap<'v> = IndexMap<Cow<'v, str>, Merged<'v>, DefaultHashBuilder>;

/// A merged value.
#[derive(Debug, Clone)]
pub(super) enum Merged<'v> {
    /// A value as it is in one place.
    Whole(&'v Data),
    /// A map of several places.
    Map(MergedMap<'v>),
}

/// A view of a merged value.
#[derive(Debug, Clone, Copy)]
pub(super) enum View<'m, 'v> {
    Scalar(&'v Data),
    /// The map of a whole value.
    Whole(&'v Data, &'v DataMap),
    Map(&'m MergedMap<'v>),
}

impl<'v> Merged<'v> {
    pub(super) fn view(&self) -> View<'_, 'v> {
        match self {
            Merged::Whole(data) => View::of(data),
            Merged::Map(map) => View::Map(map),
        }
    }

    /// Returns the map of a merged value, which is then one of several places.
    pub(super) fn map_mut(&mut self) -> Option<&mut MergedMap<'v>> {
        if let Merged::Whole(data) = self {
            *self = Merged::Map(shared(data.as_map()?));
        }
        match self {
            Merged::Map(map) => Some(map),
            Merged::Whole(_) => None,
        }
    }

    /// Copies the value.
    pub(super) fn to_data(&self) -> Data {
        match self {
            Merged::Whole(data) => (*data).clone(),
            Merged::Map(map) => Data::Map(to_data(map)),
        }
    }
}

impl<'m, 'v> View<'m, 'v> {
    fn of(data: &'v Data) -> Self {
        match data {
            Data::Map(map) => View::Whole(data, map),
            _ => View::Scalar(data),
        }
    }

    pub(super) fn scalar(self) -> Option<&'v Data> {
        match self {
            View::Scalar(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn is_map(self) -> bool {
        !matches!(self, View::Scalar(_))
    }

    pub(super) fn is_null(self) -> bool {
        matches!(self, View::Scalar(Data::Null))
    }

    pub(super) fn to_merged(self) -> Merged<'v> {
        match self {
            View::Scalar(data) | View::Whole(data, _) => Merged::Whole(data),
            View::Map(map) => Merged::Map(map.clone()),
        }
    }

    /// Returns the value under a key of a map.
    pub(super) fn get(self, key: &str) -> Option<View<'m, 'v>> {
        match self {
            View::Scalar(_) => None,
            View::Whole(_, map) => map.get(key).map(View::of),
            View::Map(map) => map.get(key).map(Merged::view),
        }
    }

    /// Returns the entries of a map.
    pub(super) fn entries(self) -> impl Iterator<Item = (Cow<'v, str>, View<'m, 'v>)> {
        let (whole, map) = match self {
            View::Scalar(_) => (None, None),
            View::Whole(_, map) => (Some(map), None),
            View::Map(map) => (None, Some(map)),
        };
        let whole = whole.into_iter().flatten().map(|(key, data)| (Cow::Borrowed(key.as_str()), View::of(data)));
        whole.chain(map.into_iter().flatten().map(|(key, merged)| (key.clone(), merged.view())))
    }
}

/// Returns a map that shares the values of another one.
pub(super) fn shared(map: &DataMap) -> MergedMap<'_> {
    map.iter().map(|(key, data)| (Cow::Borrowed(key.as_str()), Merged::Whole(data))).collect()
}

/// Copies a map.
pub(super) fn to_data(map: &MergedMap<'_>) -> DataMap {
    map.iter().map(|(key, merged)| (key.to_string(), merged.to_data())).collect()
}

/// Returns a value without the nulls in its maps. `None` for null.
fn without_nulls<'v>(value: View<'_, 'v>) -> Option<Merged<'v>> {
    match value {
        View::Scalar(Data::Null) => None,
        View::Scalar(data) => Some(Merged::Whole(data)),
        View::Whole(data, map) => Some(cleaned(map).map_or(Merged::Whole(data), Merged::Map)),
        View::Map(_) => {
            let entries = value.entries().filter_map(|(key, value)| Some((key, without_nulls(value)?)));
            Some(Merged::Map(entries.collect()))
        }
    }
}

/// Returns a map without nulls, if it has any.
fn cleaned(map: &DataMap) -> Option<MergedMap<'_>> {
    let mut changed: Option<MergedMap<'_>> = None;
    for (at, (key, data)) in map.iter().enumerate() {
        let clean = without_nulls(View::of(data));
        if let (None, Some(Merged::Whole(_))) = (&changed, &clean) {
            continue;
        }
        let changed = changed.get_or_insert_with(|| {
            map.iter().take(at).map(|(key, data)| (Cow::Borrowed(key.as_str()), Merged::Whole(data))).collect()
        });
        if let Some(clean) = clean {
            changed.insert(Cow::Borrowed(key), clean);
        }
    }
    changed
}

/// The effect of a null over a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// The key is removed. Nulls in defaults are absent.
    Delete,
    /// The null stays.
    Keep,
}

/// Merges the defaults of a chart and of the charts in it into `values`.
///
/// # Errors
/// `input.set_conflict` if the values of a dependency are not a map.
pub(super) fn coalesce<'v>(tree: &Tree<'v>, values: &mut MergedMap<'v>, nulls: Nulls) -> Result<()> {
    defaults(tree, values, nulls);
    for child in &tree.children {
        let mut own = match values.get_mut(&*child.name) {
            None => MergedMap::default(),
            Some(own) => match own.map_mut() {
                Some(own) => std::mem::take(own),
                None => return Err(mismatch(&child.name, &own.to_data())),
            },
        };
        globals(&mut own, values.get(GLOBAL), nulls);
        coalesce(child, &mut own, nulls)?;
        values.insert(Cow::Owned(child.name.clone()), Merged::Map(own));
    }
    Ok(())
}

fn mismatch(name: &str, found: &Data) -> Box<Diagnostic> {
    let shown = match found {
        Data::List(items) if items.is_empty() => "[]".to_owned(),
        Data::Null => "%!t(<nil>)".to_owned(),
        other => other.kind().to_owned(),
    };
    Stage::Schema
        .error(Code::SetConflict, format!("type mismatch on {name}: {shown}"))
        .with_help(format!("`{name}` holds the values of the chart `{name}`: give a map"))
}

/// Merges the defaults of one chart into `values`.
fn defaults<'v>(tree: &Tree<'v>, values: &mut MergedMap<'v>, nulls: Nulls) {
    // A null for a dependency still has to remove that chart's own default.
    merge(values, View::Map(&tree.values), nulls, &|key| if tree.has_child(key) { Nulls::Keep } else { nulls });
}

/// Merges `defaults`, a map, into `given`.
pub(super) fn tables<'v>(given: &mut MergedMap<'v>, defaults: View<'_, 'v>, nulls: Nulls) {
    merge(given, defaults, nulls, &|_| nulls);
}

/// Merges maps. `inside` returns the effect of nulls in the value under a key.
fn merge<'v>(given: &mut MergedMap<'v>, defaults: View<'_, 'v>, nulls: Nulls, inside: &dyn Fn(&str) -> Nulls) {
    for (key, default) in defaults.entries() {
        let Some(found) = given.get_mut(&key) else {
            copy(given, key, default, nulls);
            continue;
        };
        if found.view().is_null() && nulls == Nulls::Delete {
            given.swap_remove(&key);
        } else if found.view().is_map()
            && default.is_map()
            && let Some(found) = found.map_mut()
        {
            tables(found, default, inside(&key));
        }
    }
}

/// Adds a default under a key that has no value.
fn copy<'v>(values: &mut MergedMap<'v>, key: Cow<'v, str>, default: View<'_, 'v>, nulls: Nulls) {
    let default = match nulls {
        Nulls::Keep => Some(default.to_merged()),
        Nulls::Delete => without_nulls(default),
    };
    if let Some(default) = default {
        values.insert(key, default);
    }
}

/// Merges the shared values of a chart over those of a chart in it. Values that are no maps stay as they are.
fn globals<'v>(own: &mut MergedMap<'v>, outer: Option<&Merged<'v>>, nulls: Nulls) {
    let nothing = MergedMap::default();
    let outer = match outer.map(Merged::view) {
        None => View::Map(&nothing),
        Some(outer) if outer.is_map() => outer,
        Some(_) => return,
    };
    let inner = own.entry(Cow::Borrowed(GLOBAL)).or_insert_with(|| Merged::Map(MergedMap::default()));
    let Some(inner) = inner.map_mut() else { return };
    for (key, value) in outer.entries() {
        let below = inner.get(&key).map(Merged::view);
        let merged = match below {
            Some(below) if below.is_map() && value.is_map() => {
                let mut merged = value.to_merged();
                merged.map_mut().into_iter().for_each(|above| tables(above, below, nulls));
                merged
            }
            // A map and another value: the chart's own stays.
            Some(below) if below.is_map() || value.is_map() => continue,
            _ => value.to_merged(),
        };
        inner.insert(key, merged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_removed_and_the_rest_is_shared() {
        let text = r#"{"a": {"b": 1, "c": {"d": [null, {"e": null}]}}, "f": {"g": 2, "h": null, "i": {"j": null}}, "k": null}"#;
        let data: Data = serde_json::from_str(text).unwrap();
        let clean = without_nulls(View::of(&data)).unwrap();
        let expected = r#"{"a":{"b":1,"c":{"d":[null,{"e":null}]}},"f":{"g":2,"i":{}}}"#;
        assert_eq!(serde_json::to_string(&clean.to_data()).unwrap(), expected);
        let Merged::Map(map) = &clean else { panic!("nothing was removed") };
        assert!(matches!(map.get("a"), Some(Merged::Whole(_))) && matches!(map.get("f"), Some(Merged::Map(_))));
        // A second time there is nothing to remove, however the maps are held.
        let again = without_nulls(clean.view()).unwrap();
        assert_eq!(again.to_data(), clean.to_data());
        assert!(without_nulls(View::of(&Data::Null)).is_none());
    }
}
