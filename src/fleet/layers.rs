//! Input layers: the shared inputs, each cluster's own inputs over them, and `--set` on top.
//!
//! The shared layers are merged once. A cluster's inputs are merged over them when the cluster is rendered, without copying
//! the shared values. A `--set` changes the shared values once, and the merged inputs of a cluster only if the cluster
//! has the top-level key it names.
//!
//! The paths of layers may have values of clusters in them ([`LayerPath`](super::LayerPath)). Clusters with the same files are
//! a group: their layers are merged once for all of them.

use std::borrow::Cow;
use std::sync::Arc;

use super::cluster::{Cluster, not_a_map};
use super::input::{self, Place};
use super::origins::Origins;
use super::schema::{Explained, Schemas, explain, is_unfit_input};
use super::shared_values::SharedValues;
use super::values::{Assignment, Step};
use super::view::{Merge, Reach, View};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Source;
use dropforge_value::{Data, DataMap};

/// The inputs that clusters share, and the assignments that apply to every cluster.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// The inputs that all clusters share, for those without a group.
    first: SharedValues,
    /// Those of groups of clusters.
    groups: Vec<SharedValues>,
    /// The paths of the values of clusters that the paths of layers have.
    pub(super) inputs: Vec<String>,
    /// The values of files that were decrypted, and the schemas that mark them secret.
    pub(super) decrypted: Vec<(DataMap, Data)>,
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
        Self { first: SharedValues::new(files, sets.into(), merge_by), ..Self::default() }
    }

    /// Merges the values files of groups of clusters. `shared` are those of all clusters, and `groups` all those of each
    /// group.
    pub(super) fn of_groups(
        shared: Vec<(DataMap, Place)>,
        groups: impl Iterator<Item = Vec<(DataMap, Place)>>,
        sets: Vec<Assignment>,
        merge: Merge,
    ) -> Self {
        let sets: Arc<[Assignment]> = sets.into();
        let of = |files: Vec<(DataMap, Place)>| {
            let (maps, places): (Vec<DataMap>, Vec<Place>) = files.into_iter().unzip();
            let mut values = SharedValues::new(maps, sets.clone(), merge);
            values.places = places;
            values
        };
        let layers = Self { first: of(shared), groups: groups.map(of).collect(), ..Self::default() };
        let places = layers.all().flat_map(|values| values.places.clone()).collect::<Vec<_>>();
        layers.decrypting(&places)
    }

    /// Returns the places of the values files of each group of clusters, in order: first of clusters without a group.
    #[doc(hidden)]
    pub fn places(&self) -> impl Iterator<Item = &[Place]> {
        self.all().map(|values| values.places.as_slice())
    }

    /// Sets the places of the values files, in order. Errors about values then name them, and all values of files that were
    /// decrypted are secret.
    #[doc(hidden)]
    pub fn with_places(mut self, places: Vec<Place>) -> Self {
        self = self.decrypting(&places);
        self.first.places = places;
        self
    }

    /// Makes all values of those files secret that were decrypted.
    #[must_use]
    #[doc(hidden)]
    pub fn decrypting(mut self, places: &[Place]) -> Self {
        for place in places.iter().filter(|place| place.source().is_secret()) {
            let map = place.map();
            if !self.decrypted.iter().any(|(known, _)| *known == map) {
                let marks = input::marks(&map);
                self.decrypted.push((map, marks));
            }
        }
        self
    }

    /// Returns layers of no values, which know those of decrypted files.
    #[must_use]
    #[doc(hidden)]
    pub fn without_values(&self) -> Self {
        Self { decrypted: self.decrypted.clone(), ..Self::default() }
    }

    /// Sets the schemas of merged values.
    ///
    /// # Errors
    /// `input.structure` for a schema whose defaults have no end.
    #[doc(hidden)]
    pub fn with_schemas(mut self, schemas: Schemas) -> Result<Self> {
        if !schemas.is_empty() {
            let schemas = Arc::new(schemas);
            self.all_mut().try_for_each(|one| one.set_schemas(&schemas))?;
        }
        Ok(self)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut SharedValues> {
        std::iter::once(&mut self.first).chain(&mut self.groups)
    }

    /// Returns the shared inputs of all groups: first of clusters without one, then by the numbers of groups.
    pub(super) fn all(&self) -> impl Iterator<Item = &SharedValues> {
        std::iter::once(&self.first).chain(&self.groups)
    }

    /// Returns the shared inputs of a cluster.
    pub(super) fn of(&self, cluster: &Cluster) -> &SharedValues {
        cluster.of_group(&self.first, &self.groups)
    }

    /// Returns the shared inputs of a cluster, or those of all clusters.
    pub(super) fn of_one(&self, cluster: Option<&Cluster>) -> &SharedValues {
        cluster.map_or(&self.first, |cluster| self.of(cluster))
    }

    pub(super) fn schemas(&self) -> Option<&Schemas> {
        self.first.schemas.as_deref()
    }

    /// Returns the paths of values that schemas declare.
    #[doc(hidden)]
    pub fn declared(&self) -> Vec<Vec<&str>> {
        self.first.schemas.as_ref().map(|schemas| schemas.declared()).unwrap_or_default()
    }

    /// Returns the paths of what the values of declared variables keep when they are converted to their types.
    pub(super) fn kept(&self) -> Vec<Vec<String>> {
        self.first.schemas.as_ref().map(|schemas| schemas.kept()).unwrap_or_default()
    }

    /// Returns the place of the default that gave the value at `path`, which no layer gives.
    #[doc(hidden)]
    pub fn default_place(&self, path: &[Step]) -> Option<String> {
        self.first.schemas.as_ref().map(|schemas| schemas.default_place(path)).filter(|place| !place.is_empty())
    }

    /// Returns the violations of schemas by the merged inputs of `cluster`, or by the shared layer. Returns none for inputs
    /// that cannot be merged.
    #[doc(hidden)]
    pub fn violations(&self, cluster: Option<&Cluster>) -> Vec<Box<Diagnostic>> {
        self.new_violations(cluster, &mut Explained::default())
    }

    /// Works like [`Layers::violations`], but finds the origins of each violation only once.
    pub(super) fn new_violations(&self, cluster: Option<&Cluster>, explained: &mut Explained) -> Vec<Box<Diagnostic>> {
        let Some(schemas) = &self.first.schemas else { return Vec::new() };
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
    #[doc(hidden)]
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

    /// Calls `each` with the origins of the inputs of `cluster`, or of those that all clusters share.
    #[doc(hidden)]
    pub fn origins(&self, cluster: Option<&Cluster>, each: &mut dyn FnMut(&Origins<'_>)) {
        self.of_one(cluster).origins(cluster, each);
    }

    /// Returns the inputs that all clusters share, with assignments applied.
    #[doc(hidden)]
    pub fn shared(&self) -> &DataMap {
        self.first.shared()
    }

    /// Returns the places of the values files of a cluster, or of those of all clusters, in order.
    #[doc(hidden)]
    pub fn places_of(&self, cluster: Option<&Cluster>) -> &[Place] {
        &self.of_one(cluster).places
    }

    /// Returns the inputs that a cluster shares with those of its group, with assignments applied.
    #[doc(hidden)]
    pub fn shared_by(&self, cluster: &Cluster) -> &DataMap {
        self.of(cluster).shared()
    }

    /// Returns the effect of a cluster's inputs on the shared ones.
    #[doc(hidden)]
    pub fn merge(&self) -> Merge {
        self.first.merge()
    }

    /// Returns the shared inputs, for rendering without a cluster.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a shared value.
    #[doc(hidden)]
    pub fn alone(&self) -> Result<&DataMap> {
        self.first.alone()
    }

    /// Returns the inputs of `cluster`, for rendering.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a value; errors of [`Cluster::inputs`].
    #[doc(hidden)]
    pub fn overlay<'c>(&self, cluster: &'c Cluster) -> Result<Overlay<'c>> {
        self.of(cluster).overlay(cluster)
    }

    /// Returns the merged inputs of `cluster`, for looking up values.
    ///
    /// # Errors
    /// Same as [`Layers::overlay`].
    #[doc(hidden)]
    pub fn view<'l>(&'l self, cluster: &'l Cluster) -> Result<View<'l>> {
        self.of(cluster).view(cluster)
    }

    /// Works like [`Layers::view`], for paths with this reach. `None` if there are no paths.
    pub(super) fn view_of<'l>(&'l self, cluster: &'l Cluster, reach: Reach) -> Result<Option<View<'l>>> {
        self.of(cluster).view_of(cluster, reach)
    }

    /// Returns the merged inputs of `cluster`.
    ///
    /// # Errors
    /// Same as [`Layers::overlay`].
    #[doc(hidden)]
    pub fn merged(&self, cluster: &Cluster) -> Result<DataMap> {
        self.of(cluster).merged(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{SetKind, parse_set};
    use crate::{Fleet, FleetOptions, Format};
    use dropforge_base::diagnostics::Code;

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
        let shared = map(r#"{"a":{"x":1,"y":{"z":1}},"b":[1],"c":1}"#);
        let layers = |merge| Layers::new([shared.clone()], Vec::new(), merge);
        let own = r#"{"a":{"y":{"w":2}},"b":[2],"c":null,"d":null,"e":{"f":null}}"#;
        let deep = r#"{"a":{"x":1,"y":{"z":1,"w":2}},"b":[2],"d":null,"e":{"f":null}}"#;
        assert_eq!(merged(&layers(Merge::Deep), own), deep);
        assert_eq!(
            merged(&layers(Merge::Replace), own),
            r#"{"a":{"y":{"w":2}},"b":[2],"c":null,"d":null,"e":{"f":null}}"#
        );
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
