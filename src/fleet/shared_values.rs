//! The inputs that a group of clusters shares, and those of a cluster over them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::Cluster;
use super::input::Place;
use super::layers::Overlay;
use super::origins::Origins;
use super::releases::RELEASES;
use super::schema::Schemas;
use super::values::{Assignment, Gaps, merge};
use super::view::{Merge, Reach, View};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_value::{DataMap, json_entries};

/// The inputs that a group of clusters shares, and the assignments that apply to each of them.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedValues {
    shared: DataMap,
    merge: Merge,
    sets: Arc<[Assignment]>,
    /// The shared inputs without assignments. Empty if there are none.
    files: DataMap,
    /// Errors of assignments that conflict with a shared value, by top-level key. They concern clusters that do not
    /// have the key.
    conflicts: BTreeMap<String, Box<Diagnostic>>,
    /// The places of values files, for the origins of values in errors.
    pub(super) places: Vec<Place>,
    pub(super) schemas: Option<Arc<Schemas>>,
    /// The shared inputs with defaults, if schemas fill them in.
    filled: Option<DataMap>,
    /// What each file gives to releases. Their nulls are lost in the merged inputs.
    releases: Vec<DataMap>,
}

impl SharedValues {
    /// Merges values files deeply in order and applies the assignments to the result.
    pub(super) fn new(files: impl IntoIterator<Item = DataMap>, sets: Arc<[Assignment]>, merge_by: Merge) -> Self {
        let mut shared = DataMap::default();
        let mut releases = Vec::new();
        for file in files {
            let own = file.get(RELEASES).map(|own| DataMap::from_iter([(RELEASES.to_owned(), own.clone())]));
            releases.extend(own);
            merge(&mut shared, file);
        }
        let files = if sets.is_empty() { DataMap::default() } else { shared.clone() };
        let mut conflicts = BTreeMap::new();
        let mut gaps = Gaps::default();
        for set in sets.iter() {
            if let Err(error) = set.apply(&mut shared, &mut gaps) {
                conflicts.entry(set.top().to_owned()).or_insert(error);
            }
        }
        Self {
            shared,
            merge: merge_by,
            sets,
            files,
            conflicts,
            places: Vec::new(),
            schemas: None,
            filled: None,
            releases,
        }
    }

    /// Sets the schemas of merged values.
    ///
    /// # Errors
    /// `input.structure` for a schema whose defaults have no end.
    pub(super) fn set_schemas(&mut self, schemas: &Arc<Schemas>) -> Result<()> {
        if schemas.fills() {
            let mut filled = self.shared.clone();
            schemas.fill(&mut filled)?;
            self.filled = Some(filled);
        }
        self.schemas = Some(schemas.clone());
        Ok(())
    }

    /// Calls `each` with the origins of the inputs of `cluster`.
    pub(super) fn origins(&self, cluster: Option<&Cluster>, each: &mut dyn FnMut(&Origins<'_>)) {
        let maps: Vec<DataMap> = self.places.iter().map(Place::map).collect();
        let own = cluster.and_then(|cluster| cluster.inputs().ok());
        let mut origins = Origins::default();
        maps.iter().zip(&self.places).for_each(|(map, place)| origins.add_file(map, place.clone()));
        if let (Some(cluster), Some(own)) = (cluster, &own) {
            origins.add_cluster(cluster, own);
        }
        origins.add_sets(&self.sets);
        each(&origins);
    }

    /// Returns the shared inputs without assignments. Empty if there are none.
    pub(super) fn files(&self) -> &DataMap {
        &self.files
    }

    /// Returns the shared inputs, with assignments applied.
    pub(super) fn shared(&self) -> &DataMap {
        &self.shared
    }

    /// Returns `true` if schemas or variables fill in defaults, or convert values.
    pub(super) fn fills(&self) -> bool {
        self.filled.is_some()
    }

    /// Returns the inputs of a cluster that gives none itself: the shared inputs with defaults filled in.
    pub(super) fn base(&self) -> &DataMap {
        self.filled.as_ref().unwrap_or(&self.shared)
    }

    /// Returns the shared values over which the maps of clusters are merged entry by entry. Variables convert the merged
    /// value as a whole.
    pub(super) fn merged_by_entry(&self) -> Cow<'_, DataMap> {
        let converted = self.schemas.as_ref().map(|schemas| schemas.converted()).unwrap_or_default();
        match self.merge {
            Merge::Replace => Cow::Owned(DataMap::default()),
            Merge::Deep if converted.is_empty() => Cow::Borrowed(&self.shared),
            Merge::Deep => {
                let kept = self.shared.iter().filter(|(name, _)| !converted.contains(&name.as_str()));
                Cow::Owned(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
            }
        }
    }

    /// Returns the assignments.
    pub(super) fn sets(&self) -> &[Assignment] {
        &self.sets
    }

    /// Returns what each file gives to releases, below [`RELEASES`], low to high.
    pub(super) fn releases(&self) -> &[DataMap] {
        &self.releases
    }

    /// Returns the effect of a cluster's inputs on the shared ones.
    pub(super) fn merge(&self) -> Merge {
        self.merge
    }

    /// Returns the shared inputs, for rendering without a cluster.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a shared value.
    pub(super) fn alone(&self) -> Result<&DataMap> {
        self.check(&DataMap::default()).map(|()| self.base())
    }

    /// Returns the inputs of `cluster`, for rendering.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a value; errors of [`Cluster::inputs`].
    pub(super) fn overlay<'c>(&self, cluster: &'c Cluster) -> Result<Overlay<'c>> {
        match cluster.json() {
            Some(text) if self.is_unchanged(text) => Ok(Overlay::Json(text)),
            _ => Ok(match self.parsed(cluster.inputs()?)? {
                (None, own) => Overlay::Map(own),
                (Some(all), own) => Overlay::Whole { all, own },
            }),
        }
    }

    /// Returns the merged inputs of `cluster`, for looking up values.
    ///
    /// # Errors
    /// Same as [`Layers::overlay`].
    pub(super) fn view<'l>(&'l self, cluster: &'l Cluster) -> Result<View<'l>> {
        self.view_over(cluster.inputs()?)
    }

    /// Works like [`Layers::view`], for paths with this reach. `None` if there are no paths.
    pub(super) fn view_of<'l>(&'l self, cluster: &'l Cluster, reach: Reach) -> Result<Option<View<'l>>> {
        match reach {
            Reach::Nothing => Ok(None),
            // Defaults and assignments may go into lists.
            Reach::Maps if self.filled.is_none() && self.sets.is_empty() => self.view_over(cluster.maps()?).map(Some),
            Reach::Maps | Reach::Lists => self.view(cluster).map(Some),
        }
    }

    fn view_over<'l>(&'l self, own: Cow<'l, DataMap>) -> Result<View<'l>> {
        Ok(match self.parsed(own)? {
            (None, own) => View::over(Some(&self.shared), own, self.merge),
            (Some(all), _) => View::over(None, Cow::Owned(all), self.merge),
        })
    }

    /// Returns the merged inputs of `cluster`.
    ///
    /// # Errors
    /// Same as [`Layers::overlay`].
    pub(super) fn merged(&self, cluster: &Cluster) -> Result<DataMap> {
        Ok(match self.parsed(cluster.inputs()?)? {
            (None, own) => self.over(&self.shared, own.into_owned()),
            (Some(all), _) => all,
        })
    }

    /// Returns `true` if neither assignments, defaults nor schemas concern inputs with these keys.
    #[cfg(feature = "arrow-rows")]
    pub(super) fn spares<'k>(&self, mut keys: impl Iterator<Item = &'k str>) -> bool {
        let is_plain = self.schemas.is_none() && self.filled.is_none() && self.conflicts.is_empty();
        is_plain && !keys.any(|key| self.sets.iter().any(|set| set.top() == key))
    }

    /// Returns `true` if neither assignments nor defaults concern the inputs in a JSON text. `false` if the text is not
    /// valid.
    fn is_unchanged(&self, json: &str) -> bool {
        let mut is_unchanged = self.filled.is_none() && self.conflicts.is_empty();
        let mut see = |key: &str, _: &str| is_unchanged &= !self.sets.iter().any(|set| set.top() == key);
        let is_read = self.sets.is_empty() || json_entries(json, &mut see).is_some();
        is_read && is_unchanged
    }

    /// Returns all inputs of a cluster, unless neither assignments nor defaults concern its own, and those.
    fn parsed<'c>(&self, own: Cow<'c, DataMap>) -> Result<(Option<DataMap>, Cow<'c, DataMap>)> {
        self.check(&own)?;
        if !self.sets.iter().any(|set| own.contains_key(set.top())) {
            let (Some(schemas), true) = (&self.schemas, self.filled.is_some()) else { return Ok((None, own)) };
            let mut all = self.over(&self.shared, own.clone().into_owned());
            schemas.fill(&mut all)?;
            return Ok((Some(all), own));
        }
        // Assignments apply to merged values, and some of them, such as those that remove a key, only once.
        let mut all = self.over(&self.files, own.clone().into_owned());
        let mut gaps = Gaps::default();
        self.sets.iter().try_for_each(|set| set.apply(&mut all, &mut gaps))?;
        self.schemas.iter().try_for_each(|schemas| schemas.fill(&mut all))?;
        Ok((Some(all), own))
    }

    /// Returns the inputs `own` over `base`.
    fn over(&self, base: &DataMap, own: DataMap) -> DataMap {
        let mut all = base.clone();
        match self.merge {
            Merge::Deep => merge(&mut all, own),
            Merge::Replace => all.extend(own),
        }
        all
    }

    fn check(&self, own: &DataMap) -> Result<()> {
        match self.conflicts.iter().find(|(key, _)| !own.contains_key(*key)) {
            Some((_, error)) => Err(error.clone()),
            None => Ok(()),
        }
    }
}
