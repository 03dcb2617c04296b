//! Releases of one form: they give the same keys, with other values at some places.
//!
//! [`form`] divides the values of a release into its form and the values that it leaves open: all but maps, nulls and
//! booleans. Releases of one form share an [`OpenPlan`], because merging looks at no more of a value than whether it is a
//! map, a null or a boolean. The open values are filled in at the places where merging put them,
//! and the schemas that see these are known.

use std::cell::{Cell, RefCell};

use hashbrown::HashSet;

use super::builtin_objects::{Capabilities, Release};
use super::dependencies::Tree;
use super::load::Chart;
use super::plan::Plan;
use super::read::to_floats;
use super::schema;
use super::schema::ChartSchema;
use super::top::Base;
use super::user_values::UserValues;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_schema::NodeId;
use dropforge_value::{Arena, Data, DataMap, Extended, InputBuilder, Map, Shape, Type, Value};

/// The beginning of a text that stands for an open value. No text of a chart begins like this.
const OPEN: &str = "\u{0}\u{10FFFF}open ";

/// Returns the form of a release's values, and the values that it leaves open, in order.
pub fn form(values: &DataMap) -> (Vec<u8>, Vec<&Data>) {
    let (mut form, mut open) = (Vec::new(), Vec::new());
    add_form(values, &mut form, &mut open);
    (form, open)
}

fn add_form<'d>(values: &'d DataMap, form: &mut Vec<u8>, open: &mut Vec<&'d Data>) {
    for (key, value) in values {
        form.extend((key.len() as u64).to_le_bytes());
        form.extend(key.as_bytes());
        form.push(match value {
            Data::Map(_) => b'{',
            Data::Null => b'n',
            Data::Bool(false) => b'f',
            Data::Bool(true) => b't',
            _ => b'*',
        });
        match value {
            Data::Map(map) => {
                add_form(map, form, open);
                form.push(b'}');
            }
            Data::Null | Data::Bool(_) => {}
            value => open.push(value),
        }
    }
}

/// Makes floats of integers, as in files of values.
pub fn floats(values: &mut DataMap) {
    values.values_mut().for_each(to_floats);
}

/// Returns values with texts in place of those that are left open.
fn opened(values: &DataMap, count: &mut usize) -> DataMap {
    let mut entry = |(key, value): (&String, &Data)| {
        let value = match value {
            Data::Map(map) => Data::Map(opened(map, count)),
            Data::Null | Data::Bool(_) => value.clone(),
            _ => {
                *count += 1;
                Data::Str(format!("{OPEN}{}", *count - 1))
            }
        };
        (key.clone(), value)
    };
    values.iter().map(&mut entry).collect()
}

/// Returns the number of the open value that a text stands for.
fn open_at(value: &Data) -> Option<usize> {
    value.as_str()?.strip_prefix(OPEN)?.parse().ok()
}

/// Returns `true` if all open values of `own` are where they were.
fn keeps(values: &DataMap, own: &DataMap) -> bool {
    own.iter().all(|(key, own)| match (own, values.get(key)) {
        (Data::Map(own), Some(Data::Map(values))) => keeps(values, own),
        (Data::Map(own), _) => own.is_empty(),
        (own, value) => open_at(own).is_none() || value == Some(own),
    })
}

/// Sets the values at some places.
fn fill(values: &mut DataMap, places: &[Place], open: &[&Data]) {
    for place in places {
        match (values.get_index_mut(place.at), &place.is) {
            (Some((_, Data::Map(map))), OpenNode::Map(below)) => fill(map, below, open),
            (Some((_, value)), OpenNode::Value(nth)) => {
                *value = open.get(*nth).map_or(Data::Null, |open| Data::clone(open))
            }
            _ => {}
        }
    }
}

/// Returns a map with the values at some places, and adds the identities of the maps that this makes to `made`.
fn filled<'r>(
    arena: &'r Arena,
    base: Value<'r>,
    places: &[Place],
    open: &[Value<'r>],
    made: &mut HashSet<usize>,
) -> Value<'r> {
    let Some(map) = base.as_map().filter(|_| !places.is_empty()) else { return base };
    let mut values = map.values().to_vec();
    for place in places {
        let Some(value) = values.get_mut(place.at) else { continue };
        *value = match &place.is {
            OpenNode::Value(nth) => open.get(*nth).copied().unwrap_or_default(),
            OpenNode::Map(below) => filled(arena, *value, below, open, made),
        };
    }
    let map = arena.map_of_values(map.shape(), values.into_iter());
    made.insert(Cx::identity(map));
    Value::Map(map)
}

/// The plan of releases of one form.
#[derive(Debug)]
pub struct OpenPlan<'c> {
    plan: Plan,
    tree: Tree<'c>,
    /// The charts whose schemas see open values.
    seeing: Seeing<'c>,
    /// `true` if no schema is checked.
    skips_schemas: bool,
    /// The keys that the schema of the chart need not know.
    unchecked: Vec<String>,
    /// `true` once the schemas of all charts have been checked. Those of others see the same values ever after.
    checked: Cell<bool>,
    /// The merged values of a release, for schemas.
    values: RefCell<DataMap>,
    /// The values that the user gives.
    given: DataMap,
    places: Vec<Place>,
}

impl Chart {
    /// Returns the plan of releases whose own values have the form of `own`. `None` if they have none in common, or if it
    /// has errors.
    pub fn open_plan(
        &self,
        cx: &Cx<'_>,
        own: &DataMap,
        is_table: bool,
        shared: (&UserValues, &Release, &Capabilities),
    ) -> Option<OpenPlan<'_>> {
        let (values, release, capabilities) = shared;
        let own = opened(own, &mut 0);
        let given = values.with_cluster(own.clone(), is_table).ok()?;
        // Options may have replaced a value, and then it matters what it was.
        if !keeps(given.values(), &own) || self.kube_version_error(capabilities).is_some() {
            return None;
        }
        let (tree, merged) = self.merged(cx, &given).ok()?;
        let places = places(&merged, &open_at);
        let seeing = Seeing::new(&tree, &merged, &places);
        Some(OpenPlan {
            plan: Plan::of(&tree, merged.clone(), release, capabilities),
            tree,
            seeing,
            skips_schemas: values.skips_schemas,
            checked: Cell::new(false),
            values: RefCell::new(merged),
            given: given.values().clone(),
            unchecked: given.unchecked,
            places,
        })
    }
}

impl OpenPlan<'_> {
    /// Returns the plan with texts in place of open values.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the values that the user gives, with texts in place of open ones.
    pub fn given(&self) -> &DataMap {
        &self.given
    }

    /// Returns `true` if the schemas of all charts admit a release with these values, within the limits of a render.
    pub fn admits(&self, cx: &Cx<'_>, open: &[&Data]) -> bool {
        if self.skips_schemas {
            return true;
        }
        let tree = match (&self.seeing, self.checked.get()) {
            (_, false) => &self.tree,
            (Seeing::Charts(tree), true) => tree,
            (Seeing::Values(values), true) => {
                return values.iter().all(|of| of.admits(open));
            }
        };
        let mut values = self.values.borrow_mut();
        fill(&mut values, &self.places, open);
        let admitted = schema::check(cx, tree, &values, &self.unchecked).is_ok_and(|unfit| unfit.is_empty());
        if admitted {
            self.checked.set(true);
        }
        admitted
    }
}

/// The inputs that releases of one form share, as values.
#[derive(Debug)]
pub struct OpenBase<'v> {
    places: &'v [Place],
    base: Base<'v>,
    values: Value<'v>,
    /// The names of the inputs.
    names: &'v Shape<'v>,
    /// `true` if the program changes maps.
    changes_maps: bool,
    /// The keys that templates add to the maps of charts.
    added: Vec<&'v str>,
    /// The identities of all maps.
    maps: HashSet<usize>,
}

/// The inputs of a release.
#[derive(Debug)]
pub struct OpenInputs<'r> {
    /// The maps of the charts.
    tops: Vec<Value<'r>>,
    /// The identities of the release's own maps.
    made: HashSet<usize>,
}

impl<'v> OpenBase<'v> {
    /// Builds them for a program that changes maps, or for another. `added` are keys that templates add to the maps of charts.
    /// `None` if two of them have one name.
    ///
    /// # Errors
    /// `limit.depth` for values that nest too deep.
    pub fn new<'w: 'v>(
        open: &'v OpenPlan<'_>,
        builder: &InputBuilder<'v, 'w>,
        (changes_maps, added): (bool, &[String]),
    ) -> Result<Option<Self>> {
        let (base, values) = (Base::new(&open.plan, builder, changes_maps)?, open.plan.root_values(builder)?);
        let names = base.input_names(changes_maps, true);
        let count = names.len();
        let names = builder.map(&names, &vec![Value::Undefined; count]);
        let shape = names.as_map().map(Map::shape).filter(|shape| shape.keys().len() == count);
        let Some(names) = shape else { return Ok(None) };
        let mut maps = HashSet::new();
        add_maps(values, &mut maps);
        base.shared().for_each(|value| add_maps(value, &mut maps));
        let added = added.iter().map(|key| builder.arena().copy_str(key)).collect();
        Ok(Some(Self { places: &open.places, base, values, names, changes_maps, added, maps }))
    }

    /// Returns the names of the templates to render, in order.
    pub fn names(&self) -> impl Iterator<Item = &'v str> {
        self.base.names()
    }

    /// Returns the inputs of a release with these values in the open places, and this name and namespace. A probe has an
    /// entry that may be missing for each key that templates add to the maps of charts.
    pub fn release<'r, 'w: 'r>(
        &self,
        builder: &InputBuilder<'r, 'w>,
        open: &[Value<'r>],
        (release, name, namespace): (&'r Release, Value<'r>, Value<'r>),
        probes: bool,
    ) -> OpenInputs<'r>
    where
        'v: 'r,
    {
        let mut made = HashSet::new();
        open.iter().for_each(|value| add_maps(*value, &mut made));
        let values = filled(builder.arena(), self.values, self.places, open, &mut made);
        let release = release.map_of(builder, name, namespace);
        let missing = builder.arena().faulty(Type::Dynamic);
        let added: Vec<_> = self.added.iter().filter(|_| probes).map(|key| (*key, missing)).collect();
        let tops = self.base.tops(builder, values, release, (self.changes_maps, &added));
        made.extend(release.as_map().map(Cx::identity));
        made.extend(tops.iter().filter_map(|top| top.as_map()?.get("Subcharts")?.as_map().map(Cx::identity)));
        OpenInputs { tops, made }
    }

    /// Returns the inputs of the program. `skips` says which templates are left out.
    pub fn inputs<'r, 'w: 'r>(
        &self,
        builder: &InputBuilder<'r, 'w>,
        inputs: &OpenInputs<'r>,
        skips: &[bool],
    ) -> Value<'r>
    where
        'v: 'r,
    {
        let values = self.base.inputs(builder, &inputs.tops, self.changes_maps, skips);
        Value::Map(builder.arena().map_of_values(self.names, values.into_iter()))
    }

    /// Returns the keys that a run has added to the maps of charts. `None` if it has changed the inputs in another way. Keys
    /// that are known to be added do not count.
    pub fn added(&self, cx: &Cx<'_>, inputs: &OpenInputs<'_>) -> Option<Vec<String>> {
        let tops: Vec<&Map<'_>> = inputs.tops.iter().filter_map(|top| top.as_map()).collect();
        let top = |identity| tops.iter().find(|top| Cx::identity(top) == identity);
        let is_input = |id| self.maps.contains(&id) || inputs.made.contains(&id) || top(id).is_some();
        let mut found = Vec::new();
        for (identity, entries) in cx.changed_maps(is_input) {
            let top = top(identity)?;
            let is_kept = |(key, value): (&str, Value<'_>)| {
                self.added.contains(&key) || entries.iter().any(|(other, now)| *other == key && is_same(*now, value))
            };
            if !top.iter().all(is_kept) {
                return None;
            }
            let is_new = |key: &&str| top.get(key).is_none() && !self.added.contains(key);
            found.extend(entries.iter().map(|(key, _)| *key).filter(is_new).map(str::to_owned));
        }
        Some(found)
    }

    /// Returns `true` if a run has set a key that templates add to the maps of charts.
    pub fn adds(&self, cx: &Cx<'_>, inputs: &OpenInputs<'_>) -> bool {
        let tops: Vec<&Map<'_>> = inputs.tops.iter().filter_map(|top| top.as_map()).collect();
        let changed = cx.changed_maps(|id| tops.iter().any(|top| Cx::identity(top) == id));
        changed.iter().any(|(id, entries)| {
            let top = tops.iter().find(|top| Cx::identity(top) == *id);
            let differs = |(key, now): &(&str, Value<'_>)| {
                !top.and_then(|top| top.get(key)).is_some_and(|value| is_same(*now, value))
            };
            entries.iter().any(differs) || top.is_some_and(|top| entries.len() < top.len())
        })
    }
}

/// Returns `true` for one and the same map or object.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            std::ptr::eq(std::ptr::from_ref(a).cast::<u8>(), std::ptr::from_ref(b).cast())
        }
        (Value::Extended(a), Value::Extended(b)) => {
            std::ptr::eq(std::ptr::from_ref(a).cast::<u8>(), std::ptr::from_ref(b).cast())
        }
        _ => false,
    }
}

/// Adds the identities of the maps in a value. Reading bounds the nesting.
fn add_maps(value: Value<'_>, maps: &mut HashSet<usize>) {
    match value {
        Value::Map(map) => {
            maps.insert(Cx::identity(map));
            map.values().iter().for_each(|value| add_maps(*value, maps));
        }
        Value::List(list) => list.items().iter().for_each(|item| add_maps(*item, maps)),
        Value::Extended(rare) => {
            if let Extended::Typed(_, inner) = rare.kind() {
                add_maps(*inner, maps);
            }
        }
        _ => {}
    }
}

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
