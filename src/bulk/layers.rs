//! Input layers: the shared inputs, each cluster's own keys over them, and `--set` on top.
//!
//! The shared layer is merged once. A cluster's top-level key replaces the whole shared value. A `--set` changes the
//! shared layer once, and a cluster's own inputs only if they have the key it names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::cluster::{Cluster, not_a_map};
use super::input;
use super::values::{Assignment, Gaps, merge};
use crate::diagnostics::{Diagnostic, Result};
use crate::text::Source;
use crate::value::DataMap;

/// The inputs that all clusters share, and the assignments that apply to every cluster.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    shared: DataMap,
    sets: Vec<Assignment>,
    /// Errors of assignments that conflict with a shared value, by top-level key. They concern clusters that do not
    /// override the key.
    conflicts: BTreeMap<String, Box<Diagnostic>>,
}

/// A cluster's own inputs, with assignments applied.
#[derive(Debug, Clone)]
pub enum Overlay<'c> {
    /// An unparsed JSON object.
    Json(&'c str),
    /// A map.
    Map(Cow<'c, DataMap>),
}

impl Overlay<'_> {
    /// Returns the inputs as a map. Parses them if they are text.
    ///
    /// # Errors
    /// `input.syntax`, `limit.depth`.
    pub fn to_map(&self) -> Result<Cow<'_, DataMap>> {
        match self {
            Overlay::Map(map) => Ok(Cow::Borrowed(map)),
            Overlay::Json(text) => {
                let source = Source::new("cluster", *text);
                let data = input::json(&source, 0..text.len())?;
                data.try_into_map().map(Cow::Owned).map_err(|other| not_a_map(&other))
            }
        }
    }
}

impl Layers {
    /// Merges values files in order and applies the assignments to the result.
    ///
    /// ```
    /// use dropforge::bulk::{Cluster, Layers, Overlay, values::{SetKind, parse_set}};
    /// use dropforge::value::Data;
    /// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
    /// let sets = parse_set(SetKind::Typed, "app.tag=v2", &mut |_| unreachable!()).unwrap();
    /// let layers = Layers::new([map(r#"{"app": {"name": "x"}}"#)], sets);
    /// assert_eq!(layers.shared(), &map(r#"{"app": {"name": "x", "tag": "v2"}}"#));
    /// let cluster = Cluster::new("eu-1", map(r#"{"app": {"name": "y"}}"#));
    /// let Overlay::Map(own) = layers.overlay(&cluster).unwrap() else { unreachable!() };
    /// assert_eq!(*own, map(r#"{"app": {"name": "y", "tag": "v2"}}"#));
    /// ```
    pub fn new(files: impl IntoIterator<Item = DataMap>, sets: Vec<Assignment>) -> Self {
        let mut shared = DataMap::new();
        for file in files {
            merge(&mut shared, file);
        }
        let mut conflicts = BTreeMap::new();
        let mut gaps = Gaps::default();
        for set in &sets {
            if let Err(error) = set.apply(&mut shared, &mut gaps) {
                conflicts.entry(set.top().to_owned()).or_insert(error);
            }
        }
        Self { shared, sets, conflicts }
    }

    /// Returns the shared layer, with assignments applied.
    pub fn shared(&self) -> &DataMap {
        &self.shared
    }

    /// Returns the shared layer, for rendering without a cluster.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a shared value.
    pub fn alone(&self) -> Result<&DataMap> {
        self.check(&DataMap::new()).map(|()| &self.shared)
    }

    /// Returns the own inputs of `cluster`, to lay over the shared layer.
    ///
    /// # Errors
    /// `input.set_conflict` if an assignment conflicts with a value; errors of [`Cluster::inputs`].
    pub fn overlay<'c>(&self, cluster: &'c Cluster) -> Result<Overlay<'c>> {
        match cluster.json() {
            Some(text) if self.sets.is_empty() => Ok(Overlay::Json(text)),
            _ => self.own(cluster).map(Overlay::Map),
        }
    }

    /// Returns the same inputs as [`Layers::overlay`], always as a map.
    ///
    /// # Errors
    /// Same as [`Layers::overlay`].
    pub fn own<'c>(&self, cluster: &'c Cluster) -> Result<Cow<'c, DataMap>> {
        let mut own = cluster.inputs()?;
        self.check(&own)?;
        let mut gaps = Gaps::default();
        for set in &self.sets {
            if own.contains_key(set.top()) {
                set.apply(own.to_mut(), &mut gaps)?;
            }
        }
        Ok(own)
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
    use crate::bulk::values::{SetKind, parse_set};
    use crate::value::Data;

    fn map(text: &str) -> DataMap {
        serde_json::from_str::<Data>(text).unwrap().into_map().unwrap()
    }

    fn layers(shared: &[&str], set: &str) -> Layers {
        let sets = parse_set(SetKind::Typed, set, &mut |name| Ok(name.to_owned())).unwrap();
        Layers::new(shared.iter().map(|text| map(text)), sets)
    }

    fn own(layers: &Layers, cluster: &str) -> String {
        let cluster = Cluster::new("c", map(cluster));
        layers.own(&cluster).map_or_else(
            |error| error.code.id().to_owned(),
            |own| serde_json::to_string(&Data::Map(own.into_owned())).unwrap(),
        )
    }

    #[test]
    fn files_merge_deeply_and_in_order() {
        let layers = layers(&[r#"{"a":{"x":1,"y":1}}"#, r#"{"a":{"y":2},"b":[1]}"#, r#"{"b":[2]}"#], "");
        assert_eq!(layers.shared(), &map(r#"{"a":{"x":1,"y":2},"b":[2]}"#));
    }

    #[test]
    fn a_set_counts_for_whichever_layer_won() {
        let layers = layers(&[r#"{"a":{"x":1},"b":1}"#], "a.x=9,b=2,c.d=3");
        assert_eq!(layers.shared(), &map(r#"{"a":{"x":9},"b":2,"c":{"d":3}}"#));
        assert_eq!(own(&layers, r#"{"a":{"z":1},"e":5}"#), r#"{"a":{"z":1,"x":9},"e":5}"#);
        assert_eq!(own(&layers, r#"{"c":{"f":1}}"#), r#"{"c":{"f":1,"d":3}}"#);
    }

    #[test]
    fn a_null_deletes_in_both_layers() {
        let layers = layers(&[r#"{"a":1,"b":{"c":1,"d":2}}"#], "a=null,b.c=null");
        assert_eq!(layers.shared(), &map(r#"{"b":{"d":2}}"#));
        assert_eq!(own(&layers, r#"{"a":5,"b":{"c":7}}"#), r#"{"b":{}}"#);
    }

    #[test]
    fn a_conflict_hits_only_the_clusters_it_concerns() {
        let layers = layers(&[r#"{"a":5}"#], "a.x=1");
        assert_eq!(own(&layers, r#"{"a":{}}"#), r#"{"a":{"x":1}}"#);
        assert_eq!(own(&layers, r#"{"b":1}"#), "E0803");
        assert!(layers.alone().is_err());
    }
}
