//! The layers of inputs: the shared one, each cluster's own keys over it, and `--set` over whichever won.
//!
//! The shared layer is merged once. A cluster's top-level key replaces the shared one whole. A `--set`
//! changes the shared layer once, and a cluster's own value only where the cluster brings the key it names;
//! that value alone is copied.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::fleet::Cluster;
use super::input;
use super::values::{Assignment, merge};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::text::Source;
use crate::value::{Data, DataMap};

/// What all clusters share, and what is set over every cluster.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    shared: DataMap,
    sets: Vec<Assignment>,
    /// Top-level keys for which a set does not fit the shared value: an error for clusters without their own.
    conflicts: BTreeMap<String, Box<Diagnostic>>,
}

/// A cluster's own inputs as they lie over the shared layer.
#[derive(Debug, Clone)]
pub enum Overlay<'c> {
    /// The text of one JSON object, not read yet.
    Json(&'c str),
    /// A map.
    Map(Cow<'c, DataMap>),
}

impl Overlay<'_> {
    /// The inputs as a map, read where they are text.
    ///
    /// # Errors
    /// `input.syntax`, `limit.depth`.
    pub fn to_map(&self) -> Result<Cow<'_, DataMap>> {
        match self {
            Overlay::Map(map) => Ok(Cow::Borrowed(map)),
            Overlay::Json(text) => {
                let source = Source::new("cluster", *text);
                match input::json(&source, 0..text.len())? {
                    Data::Map(map) => Ok(Cow::Owned(map)),
                    other => {
                        Err(Diagnostic::new(Code::BadFleet, format!("a cluster is a map, this is a {}", other.kind())))
                    }
                }
            }
        }
    }
}

impl Layers {
    /// Merges the values files in order and applies the sets to the result.
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
        for set in &sets {
            if let Err(error) = set.apply(&mut shared) {
                conflicts.entry(set.top().to_owned()).or_insert(error);
            }
        }
        Self { shared, sets, conflicts }
    }

    /// The shared layer, sets applied.
    pub fn shared(&self) -> &DataMap {
        &self.shared
    }

    /// The shared layer as the only one.
    ///
    /// # Errors
    /// `input.set_conflict` where a set does not fit.
    pub fn alone(&self) -> Result<&DataMap> {
        self.check(&DataMap::new()).map(|()| &self.shared)
    }

    /// What `cluster` lays over the shared layer.
    ///
    /// # Errors
    /// `input.set_conflict` where a set does not fit; what [`Cluster::inputs`] returns.
    pub fn overlay<'c>(&self, cluster: &'c Cluster) -> Result<Overlay<'c>> {
        match cluster.json() {
            Some(text) if self.sets.is_empty() => Ok(Overlay::Json(text)),
            _ => self.own(cluster).map(Overlay::Map),
        }
    }

    /// What `cluster` lays over the shared layer, as a map in any case.
    ///
    /// # Errors
    /// As [`Layers::overlay`].
    pub fn own<'c>(&self, cluster: &'c Cluster) -> Result<Cow<'c, DataMap>> {
        let mut own = cluster.inputs()?;
        self.check(&own)?;
        for set in &self.sets {
            if own.contains_key(set.top()) {
                set.apply(own.to_mut())?;
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
