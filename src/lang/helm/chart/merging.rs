//! Merging values: what users give over what charts give, from the outside in. Whatever comes from one place stays there:
//! nothing is copied.
//!
//! [`Nulls::Delete`] is for the final values: a null removes the default, and a null without a default stays. Nulls among
//! defaults are absent, or stay with [`Nulls::DeleteDefaults`]. [`Nulls::Keep`] merges values that others will be merged over,
//! so that nulls still have their effect there. The recursion is bounded by the nesting of values and charts.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Stage;
use super::dependencies::Tree;
use super::explain::GLOBAL;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::function::Cx;
use dropforge_value::{Data, DataMap};
use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

/// The effect of a null over a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// The key is removed. Nulls in defaults are absent.
    Delete,
    /// The key is removed. Nulls in defaults stay.
    DeleteDefaults,
    /// The null stays.
    Keep,
}

/// Merges and copies values within the limits of a render: its memory, its steps and its time. Values multiply: those of a
/// chart for each alias, shared ones for each chart, imported ones for each import.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merging<'w, 'v> {
    cx: &'w Cx<'v>,
}

/// The memory of an entry of a map without its key.
const ENTRY: usize = size_of::<Merged<'_>>() + size_of::<Cow<'_, str>>() + 2 * size_of::<usize>();

/// The field with the path of the chart in which a limit is exceeded.
const CHART: &str = "chart";

impl<'w, 'v> Merging<'w, 'v> {
    pub fn new(cx: &'w Cx<'v>) -> Self {
        Self { cx }
    }

    /// Gives back the memory of values that live as long as `work`.
    pub fn lent<R>(self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let before = self.cx.budgets().memory;
        let result = work()?;
        self.cx.give_back(before.saturating_sub(self.cx.budgets().memory));
        Ok(result)
    }

    /// Adds the name of a chart to the path in the error of a limit.
    pub fn in_chart(mut error: Box<Diagnostic>, name: &str) -> Box<Diagnostic> {
        if error.code.is_limit() {
            let path = error.fields.remove(CHART).map_or_else(|| name.to_owned(), |below| [name, "/", &below].concat());
            error = error.with_field(CHART, path);
        }
        error
    }

    /// Adds a note with the path to the error of a limit.
    pub fn at_chart(error: Box<Diagnostic>, root: &str) -> Box<Diagnostic> {
        let error = Self::in_chart(error, root);
        match error.fields.get(CHART).cloned() {
            Some(path) => error.with_note(format!("while the values of the chart `{path}` are merged")),
            None => error,
        }
    }

    /// Returns a copy of a map.
    pub fn copied<'d>(self, map: &MergedMap<'d>) -> Result<MergedMap<'d>> {
        self.hold(map)?;
        Ok(map.clone())
    }

    /// Returns a view as a value of its own.
    pub fn kept<'d>(self, view: View<'_, 'd>) -> Result<Merged<'d>> {
        Ok(match view {
            View::Scalar(data) | View::Whole(data, _) => Merged::Whole(data),
            View::Map(map) => Merged::Map(self.copied(map)?),
        })
    }

    /// Charges for the copy of a map.
    fn hold(self, map: &MergedMap<'_>) -> Result<()> {
        map.iter().try_for_each(|(key, value)| {
            self.entry(key)?;
            if let Merged::Map(inner) = value { self.hold(inner) } else { Ok(()) }
        })
    }

    /// Charges for a step with an entry.
    pub fn spend(self, key: &str) -> Result<()> {
        self.cx.spend(1)?;
        self.entry(key)
    }

    /// Charges for an entry.
    pub fn entry(self, key: &str) -> Result<()> {
        self.cx.charge(ENTRY + key.len())
    }

    /// Copies a map to data.
    pub fn to_data(self, map: &MergedMap<'_>) -> Result<DataMap> {
        let entry = |(key, merged): (&Cow<'_, str>, &Merged<'_>)| {
            self.entry(key)?;
            let data = match merged {
                Merged::Whole(data) => {
                    self.hold_data(data)?;
                    Data::clone(data)
                }
                Merged::Map(map) => Data::Map(self.to_data(map)?),
            };
            Ok((key.to_string(), data))
        };
        map.iter().map(entry).collect()
    }

    /// Charges for a copy of data.
    fn hold_data(self, data: &Data) -> Result<()> {
        match data {
            Data::Str(text) => self.cx.charge(size_of::<Data>() + text.len()),
            Data::List(items) => {
                self.cx.charge(size_of::<Data>())?;
                items.iter().try_for_each(|item| self.hold_data(item))
            }
            Data::Map(map) => map.iter().try_for_each(|(key, value)| {
                self.entry(key)?;
                self.hold_data(value)
            }),
            _ => self.cx.charge(size_of::<Data>()),
        }
    }

    /// Merges the defaults of a chart and of the charts in it into `given`.
    ///
    /// # Errors
    /// `input.set_conflict` if the values of a dependency are not a map; `limit.memory` and other limits of a render.
    pub fn coalesce<'d>(self, tree: &Tree<'d>, given: &mut MergedMap<'d>, nulls: Nulls) -> Result<()> {
        self.coalesce_all(tree, given, nulls)?;
        self.share_down(tree, given)
    }

    fn coalesce_all<'d>(self, tree: &Tree<'d>, given: &mut MergedMap<'d>, nulls: Nulls) -> Result<()> {
        self.defaults(tree, given, nulls)?;
        for child in &tree.children {
            let mut own = match given.get_mut(&*child.name) {
                None => MergedMap::default(),
                Some(own) => match own.map_mut() {
                    Some(own) => std::mem::take(own),
                    None => return Err(mismatch(&child.name, own.view())),
                },
            };
            self.globals(&mut own, given.get(GLOBAL))?;
            self.coalesce_all(child, &mut own, nulls).map_err(|error| Self::in_chart(error, &child.name))?;
            self.share(given, &own)?;
            self.entry(&child.name)?;
            given.insert(Cow::Owned(child.name.clone()), Merged::Map(own));
        }
        Ok(())
    }

    /// Merges the defaults of one chart into `given`.
    fn defaults<'d>(self, tree: &Tree<'d>, given: &mut MergedMap<'d>, nulls: Nulls) -> Result<()> {
        let children: HashSet<&str> = tree.children.iter().map(|child| &*child.name).collect();
        // A null for a dependency still has to remove that chart's own default.
        let inside = |key: &str| if children.contains(key) { Nulls::Keep } else { nulls };
        let without = |default: View<'_, 'd>, nulls: Nulls| match nulls {
            Nulls::Keep | Nulls::DeleteDefaults => self.kept(default).map(Some),
            Nulls::Delete => self.without_nulls(default),
        };
        for (key, default) in View::Map(&tree.values).entries() {
            self.cx.spend(1)?;
            let Some(found) = given.get_mut(&key) else {
                self.insert(given, key, without(default, nulls)?)?;
                continue;
            };
            if found.view().is_null() && nulls != Nulls::Keep {
                given.swap_remove(&key);
            } else if found.view().is_map()
                && default.is_map()
                && let Some(found) = self.opened(found)?
            {
                match inside(&key) {
                    nulls @ (Nulls::Keep | Nulls::DeleteDefaults) => self.tables(found, default, nulls)?,
                    Nulls::Delete => {
                        let clean = self.without_nulls(default)?;
                        clean.iter().try_for_each(|clean| self.tables(found, clean.view(), Nulls::Delete))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Merges `defaults`, a map, into `given`.
    pub fn tables<'d>(self, given: &mut MergedMap<'d>, defaults: View<'_, 'd>, nulls: Nulls) -> Result<()> {
        for (key, default) in defaults.entries() {
            self.cx.spend(1)?;
            let Some(found) = given.get_mut(&key) else {
                let default = self.kept(default)?;
                self.insert(given, key, Some(default))?;
                continue;
            };
            if found.view().is_null() && nulls != Nulls::Keep && !default.is_null() {
                given.swap_remove(&key);
            } else if found.view().is_map()
                && default.is_map()
                && let Some(found) = self.opened(found)?
            {
                self.tables(found, default, nulls)?;
            }
        }
        Ok(())
    }

    /// Adds a value, if there is one, under a key that has none.
    fn insert<'d>(self, to: &mut MergedMap<'d>, key: Cow<'d, str>, value: Option<Merged<'d>>) -> Result<()> {
        if let Some(value) = value {
            self.entry(&key)?;
            to.insert(key, value);
        }
        Ok(())
    }

    /// Returns the map of a merged value, which is then one of several places.
    fn opened<'m, 'd>(self, merged: &'m mut Merged<'d>) -> Result<Option<&'m mut MergedMap<'d>>> {
        if let Merged::Whole(data) = merged {
            self.cx.charge(ENTRY * data.as_map().map_or(0, |map| map.len()))?;
        }
        Ok(merged.map_mut())
    }

    /// Returns a value without the nulls in its maps. `None` for null.
    fn without_nulls<'d>(self, value: View<'_, 'd>) -> Result<Option<Merged<'d>>> {
        Ok(match value {
            View::Scalar(Data::Null) => None,
            View::Scalar(data) => Some(Merged::Whole(data)),
            View::Whole(data, map) => Some(self.cleaned(map)?.map_or(Merged::Whole(data), Merged::Map)),
            View::Map(_) => {
                let mut clean = MergedMap::default();
                for (key, value) in value.entries() {
                    if let Some(value) = self.without_nulls(value)? {
                        self.entry(&key)?;
                        clean.insert(key, value);
                    }
                }
                Some(Merged::Map(clean))
            }
        })
    }

    /// Returns a map without nulls, if it has any.
    fn cleaned(self, map: &DataMap) -> Result<Option<MergedMap<'_>>> {
        let mut changed: Option<MergedMap<'_>> = None;
        for (at, (key, data)) in map.iter().enumerate() {
            self.cx.spend(1)?;
            let clean = self.without_nulls(View::of(data))?;
            if let (None, Some(Merged::Whole(_))) = (&changed, &clean) {
                continue;
            }
            if changed.is_none() {
                self.cx.charge(ENTRY * map.len())?;
            }
            let changed = changed.get_or_insert_with(|| {
                map.iter().take(at).map(|(key, data)| (Cow::Borrowed(key.as_str()), Merged::Whole(data))).collect()
            });
            if let Some(clean) = clean {
                changed.insert(Cow::Borrowed(key), clean);
            }
        }
        Ok(changed)
    }

    /// Merges the shared values of a chart over those of a chart in it. Values that are no maps stay as they are.
    fn globals<'d>(self, own: &mut MergedMap<'d>, outer: Option<&Merged<'d>>) -> Result<()> {
        let nothing = MergedMap::default();
        let outer = match outer.map(Merged::view) {
            None => View::Map(&nothing),
            Some(outer) if outer.is_map() => outer,
            Some(_) => return Ok(()),
        };
        let inner = own.entry(Cow::Borrowed(GLOBAL)).or_insert_with(|| Merged::Map(MergedMap::default()));
        let Some(inner) = self.opened(inner)? else { return Ok(()) };
        for (key, value) in outer.entries() {
            let below = inner.get(&key).map(Merged::view);
            let merged = match below {
                Some(below) if below.is_map() && value.is_map() => {
                    let mut merged = self.kept(value)?;
                    if let Some(above) = self.opened(&mut merged)? {
                        self.tables(above, below, Nulls::Keep)?;
                    }
                    merged
                }
                // A map and another value: the chart's own stays.
                Some(below) if below.is_map() || value.is_map() => continue,
                _ => self.kept(value)?,
            };
            self.entry(&key)?;
            inner.insert(key, merged);
        }
        Ok(())
    }
}

/// Helm copies the maps among shared values for each chart, but not the maps in those: a chart and all charts in it have the
/// same ones. What one of them adds there, all have.
impl Merging<'_, '_> {
    /// Gives the charts in a chart the maps that they share with it, as they have become.
    fn share_down<'d>(self, tree: &Tree<'d>, given: &mut MergedMap<'d>) -> Result<()> {
        for child in &tree.children {
            let Some(Merged::Map(own)) = given.get_mut(&*child.name) else { continue };
            let mut own = std::mem::take(own);
            self.share(&mut own, given)?;
            self.share_down(child, &mut own)?;
            given.insert(Cow::Owned(child.name.clone()), Merged::Map(own));
        }
        Ok(())
    }

    /// Makes the maps that the values of two charts share those of `from`.
    fn share<'d>(self, to: &mut MergedMap<'d>, from: &MergedMap<'d>) -> Result<()> {
        let (Some(all), Some(own)) = (from.get(GLOBAL), to.get(GLOBAL)) else { return Ok(()) };
        let mut changed = Vec::new();
        for (key, (from, own)) in maps_of_both(all.view(), own.view()) {
            let maps = maps_of_both(from, own).filter(|(_, (from, own))| !own.is(*from));
            changed.extend(maps.map(|(inner, (from, _))| (key.clone(), inner, from)));
        }
        for (key, inner, from) in changed {
            let mut found = Some(&mut *to);
            for key in [GLOBAL, &key, &inner] {
                found = match found.and_then(|map| map.get_mut(key)) {
                    Some(value) => self.opened(value)?,
                    None => None,
                };
            }
            found.map_or(Ok(()), |found| self.become_same(found, from))?;
        }
        Ok(())
    }

    /// Makes a map the same as another one.
    fn become_same<'d>(self, to: &mut MergedMap<'d>, from: View<'_, 'd>) -> Result<()> {
        to.retain(|key, _| from.get(key).is_some());
        for (key, from) in from.entries() {
            self.cx.spend(1)?;
            let known = to.get_mut(&key).filter(|known| known.view().is_map() == from.is_map());
            match known {
                Some(known) if known.view().is(from) => {}
                Some(known) if from.is_map() => {
                    self.opened(known)?.map_or(Ok(()), |known| self.become_same(known, from))?;
                }
                _ => {
                    let value = self.kept(from)?;
                    self.insert(to, key, Some(value))?;
                }
            }
        }
        Ok(())
    }
}

/// A key where two maps both have maps, and these.
type Both<'m, 'n, 'd> = (Cow<'d, str>, (View<'m, 'd>, View<'n, 'd>));

fn maps_of_both<'m, 'n, 'd>(one: View<'m, 'd>, other: View<'n, 'd>) -> impl Iterator<Item = Both<'m, 'n, 'd>> {
    let maps = one.entries().filter(|(_, value)| value.is_map());
    maps.filter_map(move |(key, value)| {
        let other = other.get(&key).filter(|other| other.is_map())?;
        Some((key, (value, other)))
    })
}

fn mismatch(name: &str, found: View<'_, '_>) -> Box<Diagnostic> {
    let shown = match found {
        View::Scalar(Data::List(items)) if items.is_empty() => "[]",
        View::Scalar(Data::Null) => "%!t(<nil>)",
        View::Scalar(other) | View::Whole(other, _) => other.kind(),
        View::Map(_) => "map",
    };
    Stage::Schema
        .error(Code::SetConflict, format!("type mismatch on {name}: {shown}"))
        .with_help(format!("`{name}` holds the values of the chart `{name}`: give a map"))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_base::limits::Limits;
    use dropforge_machine::vm::Space;

    #[test]
    fn nulls_are_removed_and_the_rest_is_shared() {
        let text = r#"{"a": {"b": 1, "c": {"d": [null, {"e": null}]}}, "f": {"g": 2, "h": null, "i": {"j": null}}, "k": null}"#;
        let data: Data = serde_json::from_str(text).unwrap();
        let (space, limits) = (Space::new(), Limits::default());
        let cx = space.context(&limits);
        let values = Merging::new(&cx);
        let clean = values.without_nulls(View::of(&data)).unwrap().unwrap();
        let expected = r#"{"a":{"b":1,"c":{"d":[null,{"e":null}]}},"f":{"g":2,"i":{}}}"#;
        let Merged::Map(map) = &clean else { panic!("nothing was removed") };
        let text = |map: &MergedMap<'_>| serde_json::to_string(&Data::Map(values.to_data(map).unwrap())).unwrap();
        assert_eq!(text(map), expected);
        assert!(matches!(map.get("a"), Some(Merged::Whole(_))) && matches!(map.get("f"), Some(Merged::Map(_))));
        // A second time there is nothing to remove, however the maps are held.
        let Some(Merged::Map(again)) = values.without_nulls(clean.view()).unwrap() else { panic!("no map") };
        assert_eq!(text(&again), expected);
        assert!(values.without_nulls(View::of(&Data::Null)).unwrap().is_none());
    }
}
