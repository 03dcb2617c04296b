//! Values that a chart imports from its dependencies (`import-values`).
//!
//! Helm moves maps, and does not copy them: what is imported into a place after a first map changes that map wherever it is,
//! also among the values of its own chart, from which later items import. So several places may share a map while items are
//! imported.

use std::borrow::Cow;

use super::Stage;
use super::dependencies::Tree;
use super::merging::{Merged, MergedMap, Merging, Nulls, View};
use super::metadata::Dependency;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_value::Data;
use indexmap::IndexMap;

/// Maximum number of names in the path to imported values.
const NAMES: usize = 64;

/// Maximum depth of values after imports. A map that is imported into itself has no end.
const DEPTH: usize = 1_000;

/// Adds imported values to the defaults of a chart, below its own. The charts in it come first.
///
/// # Errors
/// See [`Merging::coalesce`]; `limit.depth` for a path with too many names, and for maps that are imported into themselves.
pub(super) fn import(merging: Merging<'_, '_>, tree: &mut Tree<'_>) -> Result<()> {
    for child in &mut tree.children {
        import(merging, child).map_err(|error| Merging::in_chart(error, &child.name))?;
    }
    if tree.dependencies.is_empty() {
        return Ok(());
    }
    let mut own = MergedMap::default();
    merging.coalesce(tree, &mut own, Nulls::Keep)?;
    if tree.dependencies.iter().any(|dependency| !dependency.import_values.is_empty()) {
        own = with_imports(merging, &tree.dependencies, own)?;
    }
    tree.values = own.into();
    Ok(())
}

fn with_imports<'v>(
    merging: Merging<'_, '_>,
    dependencies: &[Dependency],
    own: MergedMap<'v>,
) -> Result<MergedMap<'v>> {
    let mut maps = Maps { all: Vec::new(), merging };
    let (own, imported) = (maps.of(View::Map(&own))?, maps.add(MapOfNodes::new()));
    for dependency in dependencies {
        for item in &dependency.import_values {
            if let Some((child, parent)) = source_and_target(item)
                && let Some(found) = maps.at(own, &format!("{}.{child}", dependency.name))
            {
                // A map that has nothing is imported as a new one.
                let found = if maps.entries(found).next().is_none() { maps.add(MapOfNodes::new()) } else { found };
                let from = maps.nested(&parent, found, dependency)?;
                maps.merge(imported, from, 0)?;
            }
        }
    }
    // What changes from here on changes no other place.
    let (mut all, imported) = (maps.copied(own, 0)?, maps.copied(imported, 0)?);
    merging.tables(&mut all, View::Map(&imported), Nulls::Keep)?;
    Ok(all)
}

/// A value while items are imported.
#[derive(Clone, Copy)]
enum Node<'v> {
    /// A value that is no map.
    Leaf(&'v Data),
    /// The map with this number, which other places may have, too.
    Map(usize),
}

type MapOfNodes<'v> = IndexMap<Cow<'v, str>, Node<'v>>;

/// The maps of all values while items are imported.
struct Maps<'w, 'c, 'v> {
    all: Vec<MapOfNodes<'v>>,
    merging: Merging<'w, 'c>,
}

impl<'v> Maps<'_, '_, 'v> {
    fn add(&mut self, map: MapOfNodes<'v>) -> usize {
        self.all.push(map);
        self.all.len() - 1
    }

    /// Adds a map with all maps in it.
    fn of(&mut self, view: View<'_, 'v>) -> Result<usize> {
        let mut map = MapOfNodes::new();
        for (key, value) in view.entries() {
            self.merging.entry(&key)?;
            let node = match value.scalar() {
                Some(leaf) => Node::Leaf(leaf),
                None => Node::Map(self.of(value)?),
            };
            map.insert(key, node);
        }
        Ok(self.add(map))
    }

    fn entries(&self, map: usize) -> impl Iterator<Item = (&Cow<'v, str>, Node<'v>)> {
        self.all.get(map).into_iter().flatten().map(|(key, node)| (key, *node))
    }

    fn get(&self, map: usize, key: &str) -> Option<Node<'v>> {
        self.all.get(map)?.get(key).copied()
    }

    fn insert(&mut self, map: usize, key: Cow<'v, str>, node: Node<'v>) {
        self.all.get_mut(map).map(|map| map.insert(key, node));
    }

    /// Returns the map at a dotted path.
    fn at(&self, map: usize, path: &str) -> Option<usize> {
        path.split('.').try_fold(map, |map, key| match self.get(map, key)? {
            Node::Map(map) => Some(map),
            Node::Leaf(_) => None,
        })
    }

    /// Returns a map as the value at a path.
    fn nested(&mut self, path: &str, map: usize, dependency: &Dependency) -> Result<usize> {
        if path == "." {
            return Ok(map);
        }
        if path.split('.').count() > NAMES {
            let message = format!("`import-values` of `{}`: a path has more than {NAMES} names", dependency.name);
            return Err(Stage::Dependencies.error(Code::LimitDepth, message));
        }
        let wrap = |inner, key: &str| self.add([(Cow::Owned(key.to_owned()), Node::Map(inner))].into());
        Ok(path.rsplit('.').fold(map, wrap))
    }

    /// Merges the entries of `from` below those of `to`. Nulls in `to` get into `from`, too.
    fn merge(&mut self, to: usize, from: usize, depth: usize) -> Result<()> {
        if to == from {
            return Ok(());
        }
        check(depth)?;
        let is_null = |(_, node): &(_, Node<'_>)| matches!(node, Node::Leaf(Data::Null));
        let nulls: Vec<_> = self.entries(to).filter(is_null).map(|(key, node)| (key.clone(), node)).collect();
        nulls.into_iter().for_each(|(key, node)| self.insert(from, key, node));
        let entries: Vec<_> = self.entries(from).map(|(key, node)| (key.clone(), node)).collect();
        for (key, node) in entries {
            self.merging.spend(&key)?;
            match (self.get(to, &key), node) {
                (None, node) => self.insert(to, key, node),
                (Some(Node::Map(to)), Node::Map(from)) => self.merge(to, from, depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns a copy of a map.
    fn copied(&self, map: usize, depth: usize) -> Result<MergedMap<'v>> {
        check(depth)?;
        let mut all = MergedMap::default();
        for (key, node) in self.entries(map) {
            self.merging.entry(key)?;
            let value = match node {
                Node::Leaf(data) => Merged::Whole(data),
                Node::Map(map) => Merged::Map(self.copied(map, depth + 1)?),
            };
            all.insert(key.clone(), value);
        }
        Ok(all)
    }
}

/// # Errors
/// `limit.depth`.
fn check(depth: usize) -> Result<()> {
    if depth < DEPTH {
        return Ok(());
    }
    let message = format!("`import-values` make values with more than {DEPTH} maps in one another");
    Err(Stage::Dependencies.error(Code::LimitDepth, message).with_help("import no map into a place within itself"))
}

/// Returns the paths from which and to which an item imports.
pub(super) fn source_and_target(item: &Data) -> Option<(String, String)> {
    match item {
        Data::Str(name) => Some((format!("exports.{name}"), ".".to_owned())),
        Data::Map(map) => {
            let path = |key: &str| map.get(key).and_then(Data::as_str).map(str::to_owned);
            path("child").zip(path("parent"))
        }
        _ => None,
    }
}
