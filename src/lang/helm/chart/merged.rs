//! Merged values. Whatever comes from one place stays there: nothing is copied.

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
}

impl<'m, 'v> View<'m, 'v> {
    pub(super) fn of(data: &'v Data) -> Self {
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

    /// Returns `true` if both are one value in one place. Others may be equal.
    pub(super) fn is(self, other: View<'_, 'v>) -> bool {
        match (self, other) {
            (View::Scalar(one), View::Scalar(other)) => std::ptr::eq(one, other),
            (View::Whole(one, _), View::Whole(other, _)) => std::ptr::eq(one, other),
            _ => false,
        }
    }

    pub(super) fn is_map(self) -> bool {
        !matches!(self, View::Scalar(_))
    }

    pub(super) fn is_null(self) -> bool {
        matches!(self, View::Scalar(Data::Null))
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
