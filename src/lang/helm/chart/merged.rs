//! Values that are merged without copying: whatever comes from one place stays there.

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

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
pub(super) fn without_nulls<'v>(value: View<'_, 'v>) -> Option<Merged<'v>> {
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
