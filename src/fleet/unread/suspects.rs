//! The names of clusters that look like mistakes.

use std::collections::{BTreeMap, HashMap, HashSet};

use roaring::RoaringBitmap;

use super::{COMPARED, IsNeeded, Names, REPORTED, ReadValues, Unread, display, has, steps};
use crate::cluster_keys::{Counts, Keys};
use crate::layers::Layers;
use crate::origins::leaves;
use crate::report::Failure;
use crate::selector::Selection;
use crate::values::Step;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, nearest};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::{DataMap, ReadPosition};

/// Minimum length of a name that is a mistake if it resembles another. Short names often do.
const LONG: usize = 4;
/// Maximum number of names that are compared with others.
const NAMES: usize = 2_000;
/// Maximum number of groups of clusters to look at.
const GROUPS: usize = 1_000;

/// Returns a warning for each name that nothing reads and that looks like a mistake.
///
/// The keys of all clusters are compared with what is read first. A cluster is looked at only if one of its keys may be a
/// mistake, and only one of several clusters that have the same keys beside it.
pub(super) fn failures(
    read: &ReadValues,
    (layers, clusters): (&Layers, &Selection<'_>),
    is_needed: IsNeeded<'_>,
) -> Result<Vec<Failure>> {
    if read.tree.everything {
        return Ok(Vec::new());
    }
    let keys = clusters.keys()?;
    let counts = counts(read, keys);
    let mut suspects = Suspects { read, near: HashMap::new(), found: BTreeMap::new() };
    if counts.contains(&Counts::Alone) {
        let mut reader = clusters.fleet().reader();
        for group in keys.clone().groups(clusters, &counts, GROUPS)? {
            let first = reader.cluster(group.min().unwrap_or_default() as usize)?;
            first.inputs().iter().for_each(|own| suspects.look_at(own, &group));
        }
    }
    let mut found: Vec<Suspect> = suspects.found.into_values().collect();
    found.small_sort_by_key(|suspect| suspect.clusters.min());
    found.truncate(REPORTED);
    let given = if found.is_empty() { HashSet::new() } else { given(keys) };
    let failure = |suspect: Suspect| suspect.into_failure(read, (layers, clusters), &given, is_needed);
    Ok(found.into_iter().filter_map(failure).collect())
}

/// Returns the paths that any cluster gives.
fn given(keys: &Keys) -> HashSet<String> {
    keys.iter().map(|(id, ..)| display(&keys.path(id))).collect()
}

/// Tells what warnings depend on: keys that may be mistakes, and all below the maps and lists that have these.
fn counts(read: &ReadValues, keys: &Keys) -> Vec<Counts> {
    // None for a key of which everything is read, or that is below one that nothing reads.
    let (mut found, mut counts) = (vec![Some(read.tree.start())], vec![Counts::Not]);
    let mut compared = 0;
    for (_, parent, key) in keys.iter() {
        let mut count = Counts::Not;
        found.push(match &found[parent] {
            Some(at) if !read.tree.is_whole(at) => match read.tree.step(at, key.as_deref()) {
                Some(next) => Some(next),
                None => {
                    compared += 1;
                    if may_be_mistake(read, (&keys.path(parent), at), key.as_deref().filter(|_| compared <= NAMES)) {
                        count = Counts::Alone;
                    }
                    None
                }
            },
            _ => None,
        });
        counts.push(count);
    }
    let mut holds = vec![false; counts.len()];
    keys.iter().filter(|(id, ..)| counts[*id] == Counts::Alone).for_each(|(_, parent, _)| holds[parent] = true);
    for (id, parent, _) in keys.iter() {
        holds[id] |= holds[parent];
        if holds[parent] && counts[id] == Counts::Not {
            counts[id] = Counts::Beside;
        }
    }
    counts
}

/// Returns `true` if a name that nothing reads may be a mistake: it resembles one that is read at this place, or others are
/// read there.
fn may_be_mistake(read: &ReadValues, (parent, at): (&[Step], &ReadPosition), key: Option<&str>) -> bool {
    let is_private = parent.is_empty() && key.is_some_and(|key| key.starts_with("x-"));
    let is_near = |key: &str| key.len() >= LONG && nearest(key, read.tree.names(at).take(COMPARED)).is_some();
    !is_private && (read.has_names(parent, at) || key.is_some_and(is_near))
}

/// The names that look like mistakes.
struct Suspects<'r> {
    read: &'r ReadValues,
    /// The nearest name that is read, by the path of a name.
    near: HashMap<String, Option<String>>,
    found: BTreeMap<String, Suspect>,
}

struct Suspect {
    path: Vec<Step>,
    /// The step of the name in the path.
    depth: usize,
    near: Option<String>,
    /// The clusters that have the name.
    clusters: RoaringBitmap,
}

impl Suspects<'_> {
    /// Looks at the inputs of one of the clusters with the same keys.
    fn look_at(&mut self, own: &DataMap, clusters: &RoaringBitmap) {
        let mut names = Names::default();
        leaves(own, &mut |path, _| self.read.note(path, &mut names));
        for name in &names.order {
            let Some(unread) = names.found.get(name) else { continue };
            let near = self.near(name, unread, own);
            let is_long = unread.key().is_some_and(|key| key.len() >= LONG);
            let parent = unread.paths.first().and_then(|path| path.get(..unread.depth)).unwrap_or_default();
            if (near.is_some() && is_long) || self.read.has_names(parent, &unread.at) {
                let new = || Suspect {
                    path: if near.is_some() { unread.path() } else { named(unread) }.to_vec(),
                    depth: unread.depth,
                    near,
                    clusters: RoaringBitmap::new(),
                };
                self.found.entry(name.clone()).or_insert_with(new).clusters |= clusters;
            }
        }
    }

    /// Returns the name that was likely meant, unless the cluster has it.
    fn near(&mut self, name: &str, unread: &Unread, own: &DataMap) -> Option<String> {
        if !self.near.contains_key(name) {
            let near = match self.near.len() < NAMES {
                true => unread.near(&self.read.tree, &[]),
                false => None,
            };
            self.near.insert(name.to_owned(), near);
        }
        self.near.get(name)?.as_ref()?;
        unread.near(&self.read.tree, &[own])
    }
}

/// Returns the path of the name itself.
fn named(unread: &Unread) -> &[Step] {
    let path = unread.paths.first().map_or(&[][..], Vec::as_slice);
    path.get(..=unread.depth).unwrap_or(path)
}

impl Suspect {
    /// Returns the warning, unless [`ReadValues::suggest`] leaves it out. `given` are the paths that any cluster gives.
    fn into_failure(
        self,
        read: &ReadValues,
        (layers, clusters): (&Layers, &Selection<'_>),
        given: &HashSet<String>,
        is_needed: IsNeeded<'_>,
    ) -> Option<Failure> {
        let mut reader = clusters.fleet().reader();
        let first = self.clusters.min().and_then(|at| reader.cluster(at as usize).ok());
        let message = read.problem(&self.path, self.depth);
        let mut warning = Diagnostic::warning(Code::UnreadValue, message);
        if let Some(cluster) = first {
            warning = warning.for_cluster(cluster.name());
            if let Some(place) = cluster.place()
                && let Some(span) = place.find(&self.path)
            {
                warning = warning.at(place.source(), span, "");
            }
        }
        let mut warning = match &self.near {
            Some(near) => {
                let step = |key: Option<&str>| key.map_or(Step::Index(0), |key| Step::Key(key.to_owned()));
                let near_steps = steps(near).map(step).collect::<Vec<_>>();
                let is_shared = layers.all().any(|one| has(one.shared(), &near_steps));
                read.suggest(warning, &self.path, (near, is_shared || given.contains(near)), is_needed)?
            }
            None => warning,
        };
        // A cluster may be one line.
        layers.mask(reader.cluster(self.clusters.min().unwrap_or_default() as usize).ok()).hide_in(&mut warning);
        Some(Failure::of_clusters(warning, &self.clusters, &mut |at| reader.name(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fleet, FleetOptions, Format, Layout, Selector};
    use dropforge_base::text::Source;
    use dropforge_engine::{Dialect, Engine};

    /// The warnings if each cluster is looked at.
    fn one_by_one(read: &ReadValues, clusters: &Selection<'_>) -> Vec<Failure> {
        let mut suspects = Suspects { read, near: HashMap::new(), found: BTreeMap::new() };
        let mut look_at = |at: usize, own: &DataMap| suspects.look_at(own, &RoaringBitmap::from([at as u32]));
        clusters
            .each(&mut |at, cluster| {
                look_at(at, &*cluster.inputs()?);
                Ok(())
            })
            .unwrap();
        let mut found: Vec<Suspect> = suspects.found.into_values().collect();
        found.small_sort_by_key(|suspect| suspect.clusters.min());
        found.truncate(REPORTED);
        let given = given(&Keys::of(clusters).unwrap());
        found
            .into_iter()
            .filter_map(|suspect| suspect.into_failure(read, (&Layers::default(), clusters), &given, &|_| false))
            .collect()
    }

    fn random_map(random: &mut fastrand::Rng, levels: u32) -> String {
        const KEYS: [&str; 10] =
            ["image", "imgae", "region", "regoin", "t\\u0061g", "tag", "x-tag", "tgas", "cluster", "ports"];
        let value = |random: &mut fastrand::Rng| match random.u32(..if levels == 0 { 1 } else { 4 }) {
            0 | 1 => "1".to_owned(),
            2 => random_map(random, levels - 1),
            _ => {
                let items: Vec<_> = (0..random.usize(..3)).map(|_| random_map(random, levels - 1)).collect();
                format!("[{}]", items.join(", "))
            }
        };
        let entries: Vec<_> = (0..random.usize(..4))
            .map(|_| format!("\"{}\" : {}", KEYS[random.usize(..KEYS.len())], value(random)))
            .collect();
        format!("{{{}}}", entries.join(","))
    }

    #[test]
    fn the_warnings_are_those_of_all_clusters_one_by_one() {
        let templates = [
            "{{ image.tag }}{{ region }}{% for p in ports %}{{ p.tags }}{{ p.image.cluster }}{% endfor %}",
            "{{ cluster.tag }}{{ cluster.region }}{% for k, v in image %}{{ v.tag }}{% endfor %}{{ ports.0 }}",
            "{{ region.image | json_encode }}{{ tags }}{{ cluster.env }}{{ ports[region].tag }}",
        ];
        let mut random = fastrand::Rng::with_seed(5);
        let (mut warned, mut kept) = (0, 0);
        for round in 0..300 {
            let template = Engine::new().compile(Dialect::Tera, "t", templates[round % templates.len()]).unwrap();
            let read =
                ReadValues::by(&[template]).and_plan(&Selector::default(), &Layout::parse("{cluster}").unwrap(), None);
            let line = |at: usize, random: &mut fastrand::Rng| match random_map(random, 3).as_str() {
                "{}" => format!("{{\"name\":\"c{at}\"}}\n"),
                map => format!("{{\"name\":\"c{at}\",{}\n", &map[1..]),
            };
            let text: String = (0..random.usize(1..8)).map(|at| line(at, &mut random)).collect();
            let fleet = Fleet::read(&Source::new("f.ndjson", text.as_str()), Format::Ndjson, &FleetOptions::default());
            let fleet = fleet.unwrap();
            let clusters = Selection::of(&fleet, &Layers::default(), &Selector::default()).unwrap();
            let shown = |failures: Vec<Failure>| {
                let shown = |one: Failure| (one.clusters, one.diagnostic.to_string(), one.diagnostic.help.clone());
                failures.into_iter().map(shown).collect::<Vec<_>>()
            };
            let found = shown(failures(&read, (&Layers::default(), &clusters), &|_| false).unwrap());
            *(if found.is_empty() { &mut kept } else { &mut warned }) += 1;
            assert_eq!(found, shown(one_by_one(&read, &clusters)), "{text}");
        }
        assert!(warned > 50 && kept > 5, "{warned} {kept}");
    }
}
