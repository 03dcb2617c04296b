//! Input layers: the shared inputs, each cluster's own inputs over them, and `--set` on top.
//!
//! The shared layer is merged once. A cluster's inputs are merged over it when the cluster is rendered, without copying
//! the shared values. A `--set` changes the shared layer once, and the merged inputs of a cluster only if the cluster
//! has the top-level key it names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::{Cluster, not_a_map};
use super::input::{self, Place};
use super::origins::Origins;
use super::schema::{Explained, Schemas, explain, is_unfit_input};
use super::values::{Assignment, Gaps, Step, merge};
use super::view::{Merge, Reach, View};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Source;
use dropforge_value::{DataMap, json_entries};

/// The inputs that all clusters share, and the assignments that apply to every cluster.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    shared: DataMap,
    merge: Merge,
    sets: Vec<Assignment>,
    /// The shared layer without assignments. Empty if there are none.
    files: DataMap,
    /// Errors of assignments that conflict with a shared value, by top-level key. They concern clusters that do not
    /// have the key.
    conflicts: BTreeMap<String, Box<Diagnostic>>,
    /// The places of values files, for the origins of values in errors.
    places: Vec<Place>,
    pub(super) schemas: Option<Arc<Schemas>>,
    /// The shared layer with defaults, if schemas fill them in.
    filled: Option<DataMap>,
}

/// A cluster's own inputs.
#[derive(Debug, Clone)]
pub enum Overlay<'c> {
    /// An unparsed JSON object, to merge over the shared inputs.
    Json(&'c str),
    /// A map, to merge over the shared inputs.
    Map(Cow<'c, DataMap>),
    /// All inputs of the cluster: the shared ones are part of it.
    Whole {
        /// The merged inputs.
        all: DataMap,
        /// Those of the cluster alone.
        own: Cow<'c, DataMap>,
    },
}

impl Overlay<'_> {
    /// Returns the inputs as a map. Parses them if they are text.
    ///
    /// # Errors
    /// `input.syntax`, `limit.depth`.
    pub fn to_map(&self) -> Result<Cow<'_, DataMap>> {
        match self {
            Overlay::Map(map) => Ok(Cow::Borrowed(map)),
            Overlay::Whole { all, .. } => Ok(Cow::Borrowed(all)),
            Overlay::Json(text) => {
                let source = Source::new("cluster", *text);
                let data = input::json(&source, 0..text.len())?;
                data.try_into_map().map(Cow::Owned).map_err(|other| not_a_map(&other))
            }
        }
    }
}

impl Layers {
    /// Merges values files deeply in order and applies the assignments to the result. `merge` is the effect of a
    /// cluster's inputs on it.
    ///
    /// ```
    /// use dropforge::bulk::{Cluster, Layers, Merge, values::{SetKind, parse_set}};
    /// use dropforge::value::Data;
    /// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
    /// let sets = parse_set(SetKind::Typed, "app.tag=v2", &mut |_| unreachable!()).unwrap();
    /// let layers = Layers::new([map(r#"{"app": {"name": "x", "cpu": 2}}"#)], sets, Merge::Deep);
    /// assert_eq!(layers.shared(), &map(r#"{"app": {"name": "x", "cpu": 2, "tag": "v2"}}"#));
    /// let cluster = Cluster::new("eu-1", map(r#"{"app": {"name": "y"}}"#));
    /// assert_eq!(layers.merged(&cluster).unwrap(), map(r#"{"app": {"name": "y", "cpu": 2, "tag": "v2"}}"#));
    /// ```
    pub fn new(files: impl IntoIterator<Item = DataMap>, sets: Vec<Assignment>, merge_by: Merge) -> Self {
        let mut shared = DataMap::default();
        for file in files {
            merge(&mut shared, file);
        }
        let files = if sets.is_empty() { DataMap::default() } else { shared.clone() };
        let mut conflicts = BTreeMap::new();
        let mut gaps = Gaps::default();
        for set in &sets {
            if let Err(error) = set.apply(&mut shared, &mut gaps) {
                conflicts.entry(set.top().to_owned()).or_insert(error);
            }
        }
        Self { shared, merge: merge_by, sets, files, conflicts, places: Vec::new(), schemas: None, filled: None }
    }

    /// Sets the places of the values files, in order. Errors about values then name them.
    pub fn with_places(self, places: Vec<Place>) -> Self {
        Self { places, ..self }
    }

    /// Sets the schemas of merged values.
    ///
    /// # Errors
    /// `input.structure` for a schema whose defaults have no end.
    pub fn with_schemas(mut self, schemas: Schemas) -> Result<Self> {
        if schemas.is_empty() {
            return Ok(self);
        }
        if schemas.fills() {
            let mut filled = self.shared.clone();
            schemas.fill(&mut filled)?;
            self.filled = Some(filled);
        }
        self.schemas = Some(Arc::new(schemas));
        Ok(self)
    }

    /// Returns the paths of values that schemas declare.
    pub fn declared(&self) -> Vec<Vec<&str>> {
        self.schemas.as_ref().map(|schemas| schemas.declared()).unwrap_or_default()
    }

    /// Returns the paths of what the values of declared variables keep when they are converted to their types.
    pub(super) fn kept(&self) -> Vec<Vec<String>> {
        self.schemas.as_ref().map(|schemas| schemas.kept()).unwrap_or_default()
    }

    /// Returns the place of the default that gave the value at `path`, which no layer gives.
    pub fn default_place(&self, path: &[Step]) -> Option<String> {
        self.schemas.as_ref().map(|schemas| schemas.default_place(path)).filter(|place| !place.is_empty())
    }

    /// Returns the violations of schemas by the merged inputs of `cluster`, or by the shared layer. Returns none for inputs
    /// that cannot be merged.
    pub fn violations(&self, cluster: Option<&Cluster>) -> Vec<Box<Diagnostic>> {
        self.new_violations(cluster, &mut Explained::default())
    }

    /// Works like [`Layers::violations`], but finds the origins of each violation only once.
    pub(super) fn new_violations(&self, cluster: Option<&Cluster>, explained: &mut Explained) -> Vec<Box<Diagnostic>> {
        let Some(schemas) = &self.schemas else { return Vec::new() };
        let mut errors = self.violations_of(schemas, cluster, explained);
        if !errors.is_empty() {
            self.mask(cluster).hide_in_all(&mut errors);
        }
        errors
    }

    fn violations_of(
        &self,
        schemas: &Schemas,
        cluster: Option<&Cluster>,
        explained: &mut Explained,
    ) -> Vec<Box<Diagnostic>> {
        let merged = match cluster {
            Some(cluster) => self.merged(cluster).map(Cow::Owned),
            None => self.alone().map(Cow::Borrowed),
        };
        let origins = |each: &mut dyn FnMut(&Origins<'_>)| self.origins(cluster, each);
        merged.map_or_else(|_| Vec::new(), |values| schemas.violations(&values, origins, explained))
    }

    /// Adds the origins of values to an error of rendering that is about inputs.
    pub fn explain(&self, cluster: Option<&Cluster>, error: &mut Box<Diagnostic>) {
        if !is_unfit_input(error) {
            return;
        }
        let merged = match cluster {
            Some(cluster) => self.merged(cluster),
            None => self.alone().cloned(),
        };
        if let Ok(values) = merged {
            self.origins(cluster, &mut |origins| explain(error, &values, origins));
        }
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

    /// Returns the places of the values files, in order.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Returns the shared layer without assignments. Empty if there are none.
    pub(super) fn files(&self) -> &DataMap {
        &self.files
    }

    /// Returns the shared layer, with assignments applied.
    pub fn shared(&self) -> &DataMap {
        &self.shared
    }

    /// Returns `true` if schemas or variables fill in defaults, or convert values.
    pub(super) fn fills(&self) -> bool {
        self.filled.is_some()
    }

    /// Returns the inputs of a cluster that gives none itself: the shared layer with defaults filled in.
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

    /// Returns the effect of a cluster's inputs on the shared ones.
    pub fn merge(&self) -> Merge {
        self.merge
    }

    /// Returns the shared layer, for rendering without a cluster.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a shared value.
    pub fn alone(&self) -> Result<&DataMap> {
        self.check(&DataMap::default()).map(|()| self.base())
    }

    /// Returns the inputs of `cluster`, for rendering.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a value; errors of [`Cluster::inputs`].
    pub fn overlay<'c>(&self, cluster: &'c Cluster) -> Result<Overlay<'c>> {
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
    pub fn view<'l>(&'l self, cluster: &'l Cluster) -> Result<View<'l>> {
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
    pub fn merged(&self, cluster: &Cluster) -> Result<DataMap> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{SetKind, parse_set};
    use crate::{Fleet, FleetOptions, Format};
    use dropforge_base::diagnostics::Code;
    use dropforge_value::Data;

    fn map(text: &str) -> DataMap {
        serde_json::from_str::<Data>(text).unwrap().into_map().unwrap()
    }

    fn layers(shared: &[&str], set: &str) -> Layers {
        let sets = parse_set(SetKind::Typed, set, &mut |name| Ok(name.to_owned())).unwrap();
        Layers::new(shared.iter().map(|text| map(text)), sets, Merge::Deep)
    }

    fn merged(layers: &Layers, cluster: &str) -> String {
        let cluster = Cluster::new("c", map(cluster));
        layers
            .merged(&cluster)
            .map_or_else(|error| error.code.id().to_owned(), |all| serde_json::to_string(&Data::Map(all)).unwrap())
    }

    #[test]
    fn files_merge_deeply_and_in_order() {
        let layers = layers(&[r#"{"a":{"x":1,"y":1},"c":1}"#, r#"{"a":{"y":2},"b":[1]}"#, r#"{"b":[2],"c":null}"#], "");
        assert_eq!(layers.shared(), &map(r#"{"a":{"x":1,"y":2},"b":[2]}"#));
    }

    #[test]
    fn clusters_merge_deeply_unless_told_to_replace() {
        let mut layers = layers(&[r#"{"a":{"x":1,"y":{"z":1}},"b":[1],"c":1}"#], "");
        let own = r#"{"a":{"y":{"w":2}},"b":[2],"c":null,"d":null,"e":{"f":null}}"#;
        let deep = r#"{"a":{"x":1,"y":{"z":1,"w":2}},"b":[2],"d":null,"e":{"f":null}}"#;
        assert_eq!(merged(&layers, own), deep);
        layers.merge = Merge::Replace;
        assert_eq!(merged(&layers, own), r#"{"a":{"y":{"w":2}},"b":[2],"c":null,"d":null,"e":{"f":null}}"#);
    }

    #[test]
    fn a_view_finds_what_the_merged_map_has() {
        let (shared, own) = (map(r#"{"a":{"x":1,"l":[{"m":1}],"n":{"o":1}},"b":{"c":1},"z":1}"#), map(OWN));
        const OWN: &str = r#"{"a":{"l":[{"k":2}],"n":null,"q":{"r":null}},"b":7,"z":null,"y":null}"#;
        for merge_by in [Merge::Deep, Merge::Replace] {
            let layers = Layers::new([shared.clone()], Vec::new(), merge_by);
            let all = Data::Map(layers.merged(&Cluster::new("c", own.clone())).unwrap());
            let view = View::new(&shared, &own, merge_by);
            for path in ["a.x", "a.l", "a.n", "a.n.o", "a.q", "a.q.r", "b", "b.c", "z", "y", "y.x", "no"] {
                let kind =
                    |data: Option<&Data>| data.map(|data| (data.kind(), data.as_map().is_none().then(|| data.clone())));
                assert_eq!(kind(view.get(path)), kind(all.at_path(path)), "{merge_by:?} {path}");
            }
            assert_eq!((view.get("a.l.0.m"), view.get("a.l.0.k")), (None, Some(&Data::Int(2))));
        }
    }

    #[test]
    fn a_set_counts_for_whichever_layer_won() {
        let layers = layers(&[r#"{"a":{"x":1,"y":1},"b":1}"#], "a.x=9,b=2,c.d=3");
        assert_eq!(layers.shared(), &map(r#"{"a":{"x":9,"y":1},"b":2,"c":{"d":3}}"#));
        assert_eq!(merged(&layers, r#"{"a":{"z":1},"e":5}"#), r#"{"a":{"x":9,"y":1,"z":1},"b":2,"e":5,"c":{"d":3}}"#);
        assert_eq!(merged(&layers, r#"{"c":{"f":1}}"#), r#"{"a":{"x":9,"y":1},"b":2,"c":{"f":1,"d":3}}"#);
    }

    #[test]
    fn a_null_deletes_in_both_layers() {
        let layers = layers(&[r#"{"a":1,"b":{"c":1,"d":2}}"#], "a=null,b.c=null");
        assert_eq!(layers.shared(), &map(r#"{"b":{"d":2}}"#));
        assert_eq!(merged(&layers, r#"{"a":5,"b":{"c":7}}"#), r#"{"b":{"d":2}}"#);
    }

    #[test]
    fn an_assignment_that_removes_applies_once() {
        let sets = parse_set(SetKind::Json, r#"{"a":{"b":null}}"#, &mut |name| Ok(name.to_owned())).unwrap();
        let layers = Layers::new([map(r#"{"a":{"b":1}}"#)], sets, Merge::Deep);
        assert_eq!(merged(&layers, "{}"), r#"{"a":{}}"#);
        assert_eq!(merged(&layers, r#"{"a":{"c":1}}"#), r#"{"a":{"c":1}}"#);
    }

    #[test]
    fn a_conflict_hits_only_the_clusters_it_concerns() {
        let layers = layers(&[r#"{"a":5}"#], "a.x=1");
        assert_eq!(merged(&layers, r#"{"a":{}}"#), r#"{"a":{"x":1}}"#);
        assert_eq!(merged(&layers, r#"{"b":1}"#), "E0803");
        assert!(layers.alone().is_err());
    }

    #[test]
    fn clusters_that_are_text_are_seen_as_others_are() {
        let lines = [
            r#"{"name":"a","region":"eu","list":[{"deep":1},{}],"map":{"x":{"y":[1]},"z":null}}"#,
            r#"{"name":"b","list":{"0":"no list"},"map":null}"#,
            r#"{"name":"c","list":[],"a":5,"a":{"b":6}}"#,
            r#"{"name":"d","\u0061":{"x":2}}"#,
        ];
        let text = Source::new("c.ndjson", lines.join("\n"));
        let fleet = Fleet::read(&text, Format::Ndjson, &FleetOptions::default()).unwrap();
        for set in ["", "a.x=1", "list[1].deep=2", "region=us", "map.z=3", "new=1"] {
            let layers = layers(&[r#"{"region":"shared","list":[{"deep":0}],"a":{"x":7}}"#], set);
            let mut reader = fleet.reader();
            for (at, line) in lines.into_iter().enumerate() {
                let cluster = reader.cluster(at).unwrap();
                let parsed = Cluster::new(cluster.name(), map(line));
                for path in ["region", "a.x", "a.b", "map.x.y", "map.z", "list", "list.0.deep", "list.0", "new"] {
                    let shown = |cluster: &Cluster| {
                        let view =
                            layers.view_of(cluster, Reach::of([path].into_iter())).map_err(|error| error.code)?;
                        let value = view.as_ref().and_then(|view| view.get(path));
                        Ok::<_, Code>(
                            value.map(|data| if let Data::List(_) = data { Data::Null } else { data.clone() }),
                        )
                    };
                    assert_eq!(shown(cluster), shown(&parsed), "{set}: {line}: {path}");
                }
                let is_text = matches!(layers.overlay(cluster), Ok(Overlay::Json(_)));
                let names = set.split(['.', '=', '[']).next().unwrap();
                let is_changed = !set.is_empty() && line.contains(&format!("\"{names}\":"));
                assert_eq!(is_text, !is_changed && !line.contains("\\u"), "{set}: {line}");
            }
        }
    }
}
