//! The places of open values among merged ones, and the schemas that see them.

use super::dependencies::Tree;
use super::schema::ChartSchema;
use dropforge_schema::NodeId;
use dropforge_value::{Data, DataMap};

/// A place of open values in a map.
#[derive(Debug)]
pub(super) struct Place {
    /// The index of the entry.
    pub at: usize,
    pub is: OpenNode,
}

#[derive(Debug)]
pub(super) enum OpenNode {
    /// An open value.
    Value(usize),
    /// A map with some.
    Map(Vec<Place>),
}

/// Returns the places in a map. `open_at` returns the number of the open value that a value stands for.
pub(super) fn places(values: &DataMap, open_at: &dyn Fn(&Data) -> Option<usize>) -> Vec<Place> {
    let place = |(at, value): (usize, &Data)| match value {
        Data::Map(map) => Some(places(map, open_at))
            .filter(|found| !found.is_empty())
            .map(|found| Place { at, is: OpenNode::Map(found) }),
        value => open_at(value).map(|open| Place { at, is: OpenNode::Value(open) }),
    };
    values.values().enumerate().filter_map(place).collect()
}

/// The schemas that see open values.
#[derive(Debug)]
pub(super) enum Seeing<'c> {
    /// Those of the open values themselves. They matter to no others.
    Values(Vec<OfValue<'c>>),
    /// All of these charts.
    Charts(Tree<'c>),
}

/// Schemas of an open value.
#[derive(Debug)]
pub(super) struct OfValue<'c> {
    schema: &'c ChartSchema,
    schemas: Vec<NodeId>,
    /// The number of the value.
    open: usize,
}

impl<'c> Seeing<'c> {
    pub fn new(tree: &Tree<'c>, values: &DataMap, places: &[Place]) -> Self {
        let mut found = Vec::new();
        match of_values(tree, values, places, &mut found) {
            Some(()) => Seeing::Values(found),
            None => Seeing::Charts(seeing(tree, values, places).unwrap_or_else(|| tree.clone())),
        }
    }
}

/// Finds the schemas of the values at some places. `None` if one of these values may matter to others.
fn of_values<'c>(tree: &Tree<'c>, values: &DataMap, places: &[Place], found: &mut Vec<OfValue<'c>>) -> Option<()> {
    if let Some(schema) = &tree.chart.schema {
        at_places(values, places, &mut Vec::new(), &mut |path, open| {
            found.push(OfValue { schema, schemas: schema.at_path(path)?, open });
            Some(())
        })?;
    }
    for child in &tree.children {
        if let Some((inner, below)) = inside(child, values, places) {
            of_values(child, inner, below, found)?;
        }
    }
    Some(())
}

/// Calls `see` with the path of each place and the number of its value.
fn at_places<'d>(
    values: &'d DataMap,
    places: &[Place],
    path: &mut Vec<&'d str>,
    see: &mut dyn FnMut(&[&str], usize) -> Option<()>,
) -> Option<()> {
    for place in places {
        let (key, value) = values.get_index(place.at)?;
        path.push(key);
        match (&place.is, value) {
            (OpenNode::Value(open), _) => see(path, *open)?,
            (OpenNode::Map(below), Data::Map(inner)) => at_places(inner, below, path, see)?,
            _ => return None,
        }
        path.pop();
    }
    Some(())
}

/// Returns the values of a chart inside another, and the places in them.
fn inside<'d>(child: &Tree<'_>, values: &'d DataMap, places: &'d [Place]) -> Option<(&'d DataMap, &'d [Place])> {
    let (at, _, inner) = values.get_full(&child.name)?;
    let place = places.iter().find(|place| place.at == at)?;
    match (inner, &place.is) {
        (Data::Map(inner), OpenNode::Map(below)) => Some((inner, below)),
        _ => None,
    }
}

/// Returns the charts whose schemas see values at some places. `None` if there are none.
fn seeing<'c>(tree: &Tree<'c>, values: &DataMap, places: &[Place]) -> Option<Tree<'c>> {
    let child = |child: &Tree<'c>| {
        let (inner, below) = inside(child, values, places)?;
        seeing(child, inner, below)
    };
    let children: Vec<_> = tree.children.iter().filter_map(child).collect();
    let sees = tree.chart.schema.is_some() && !places.is_empty() || !children.is_empty();
    sees.then(|| Tree { children, ..tree.clone() })
}

impl OfValue<'_> {
    /// Returns `true` if the schemas admit one of these values.
    pub fn admits(&self, open: &[&Data]) -> bool {
        open.get(self.open).is_some_and(|open| self.schema.admits(&self.schemas, open))
    }
}
