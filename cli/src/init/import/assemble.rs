//! Releases from what each cluster has: instances of one release become one table of the project.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dropforge::value::{Data, yaml};

use super::fold;
use super::project::{PatchHead, Project, Release, Setting, file_name, place};
use super::sources::Sources;

/// A release as one cluster has it.
#[derive(Debug, Clone, Default)]
pub(super) struct Instance {
    pub(super) cluster: usize,
    /// The name in the imported file. Instances with the same subject are one release.
    pub(super) subject: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    /// The path of the chart in the project.
    pub(super) chart: Option<String>,
    /// The paths of templates in the project.
    pub(super) templates: Vec<String>,
    pub(super) values: Vec<Item>,
    /// The cluster has the release.
    pub(super) is_wanted: bool,
    /// A condition on the values of the cluster, as CEL, and what it gives.
    pub(super) condition: Option<(String, bool)>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) options: BTreeMap<&'static str, Setting>,
    /// The patches, in order.
    pub(super) patches: Vec<InstancePatch>,
}

/// A patch of a release as one cluster has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InstancePatch {
    pub(super) head: PatchHead,
    pub(super) content: Item,
}

/// Values of a release or of clusters, low to high.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// A file that is used as it is.
    File(PathBuf),
    /// Values, with the name of the file that they come from.
    Made { stem: String, data: Data },
    /// A template of values, and what it gives for the cluster.
    Template { name: String, text: String, gives: Data },
}

impl Item {
    /// Returns `true` if one file can stand for both.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Template { name, text, .. }, Self::Template { name: other, text: another, .. }) => {
                name == other && text == another
            }
            _ => self == other,
        }
    }
}

/// Adds the releases of all instances, in the order of their first ones. `key` is the value of clusters that conditions
/// use: `env`, or `name`.
pub(super) fn assemble(instances: Vec<Instance>, key: &str, project: &mut Project, sources: &Sources) {
    let mut subjects: Vec<String> = Vec::new();
    for instance in &instances {
        if !subjects.contains(&instance.subject) {
            subjects.push(instance.subject.clone());
        }
    }
    for subject in subjects {
        let all: Vec<&Instance> = instances.iter().filter(|instance| instance.subject == subject).collect();
        let own = own_condition(&all, project);
        let mut variants: Vec<Vec<&Instance>> = Vec::new();
        for instance in all.into_iter().filter(|instance| instance.is_wanted) {
            match variants.iter_mut().find(|known| known.first().is_some_and(|first| is_same(first, instance))) {
                Some(known) => known.push(instance),
                None => variants.push(vec![instance]),
            }
        }
        let own = own.filter(|_| variants.len() == 1);
        for variant in variants {
            let clusters: Vec<usize> = variant.iter().map(|instance| instance.cluster).collect();
            let when = own.clone().or_else(|| when(&clusters, key, project));
            let release = release(&variant, when, project, sources);
            project.add_release(release, &clusters);
        }
    }
}

/// Returns the condition that all clusters have, and that holds for just those that want the release.
fn own_condition(all: &[&Instance], project: &Project) -> Option<String> {
    let (text, _) = all.first()?.condition.as_ref()?;
    let holds = |instance: &&Instance| {
        instance.condition.as_ref().is_some_and(|(own, holds)| own == text && *holds == instance.is_wanted)
    };
    let name = |instance: &&Instance| project.clusters.get(instance.cluster).map(|(name, _)| name.as_str());
    let is_open = all.iter().all(|instance| name(instance) == Some(fold::TODO_CLUSTER));
    ((all.len() == project.clusters.len() || is_open) && all.iter().all(holds)).then(|| text.clone())
}

/// Returns `true` for instances that one table can describe: only texts with placeholders and values differ.
fn is_same(a: &Instance, b: &Instance) -> bool {
    let fixed = |one: &Instance| {
        let is_fixed = |setting: &Setting| !matches!(setting, Setting::Text(_));
        one.options
            .iter()
            .filter(|(_, setting)| is_fixed(setting))
            .map(|(key, s)| (*key, s.clone()))
            .collect::<Vec<_>>()
    };
    let keys = |one: &Instance| one.options.keys().copied().collect::<Vec<_>>();
    let patches = |one: &Instance| one.patches.iter().map(|patch| patch.head.clone()).collect::<Vec<_>>();
    a.chart == b.chart
        && a.templates == b.templates
        && a.labels == b.labels
        && a.namespace.is_some() == b.namespace.is_some()
        && keys(a) == keys(b)
        && fixed(a) == fixed(b)
        && patches(a) == patches(b)
}

/// Returns the condition that some clusters meet. All of them need none.
pub(super) fn when(clusters: &[usize], key: &str, project: &Project) -> Option<String> {
    if clusters.len() == project.clusters.len() {
        return None;
    }
    let value = |at: &usize| {
        let (name, own) = project.clusters.get(*at)?;
        let value = own.get(key).and_then(Data::as_str).unwrap_or(name);
        Some(format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")))
    };
    let mut names: Vec<String> = clusters.iter().filter_map(value).collect();
    names.dedup();
    Some(match names.as_slice() {
        [name] => format!("{key} == {name}"),
        names => format!("{key} in [{}]", names.join(", ")),
    })
}

fn release(variant: &[&Instance], when: Option<String>, project: &mut Project, sources: &Sources) -> Release {
    let Some(first) = variant.first() else { return Release::default() };
    let key = fold::key_of(&first.subject);
    let texts = |text: &dyn Fn(&Instance) -> Option<String>| -> Vec<(usize, String)> {
        variant.iter().filter_map(|one| Some((one.cluster, text(one)?))).collect()
    };
    let name = fold::pattern_or_key(&format!("names.{key}"), &texts(&|one| Some(one.name.clone())), project);
    let namespaces = texts(&|one| one.namespace.clone());
    let namespace =
        first.namespace.as_ref().map(|_| fold::pattern_or_key(&format!("namespaces.{key}"), &namespaces, project));
    let mut options = first.options.clone();
    for (option, setting) in &mut options {
        let of = texts(&|one| match one.options.get(option) {
            Some(Setting::Text(text)) => Some(text.clone()),
            _ => None,
        });
        if let Setting::Text(text) = setting {
            *text = fold::pattern_or_key(&format!("{option}s.{key}"), &of, project);
        }
    }
    let lists: Vec<_> = variant.iter().map(|one| (one.cluster, one.values.as_slice())).collect();
    let folder = format!("releases/{}", file_name(&first.subject));
    let values = values(&folder, &lists, project, sources);
    let patches = patches(&folder, variant, project, sources);
    Release {
        subject: first.subject.clone(),
        name,
        chart: first.chart.clone(),
        templates: first.templates.clone(),
        namespace,
        values,
        when,
        labels: first.labels.clone(),
        options,
        patches,
    }
}

/// Adds the files of patches, and returns their paths with what each patch is for.
fn patches(folder: &str, variant: &[&Instance], project: &mut Project, sources: &Sources) -> Vec<(PatchHead, String)> {
    let contents = |one: &Instance| one.patches.iter().map(|patch| patch.content.clone()).collect::<Vec<_>>();
    let all: Vec<(usize, Vec<Item>)> = variant.iter().map(|one| (one.cluster, contents(one))).collect();
    let lists: Vec<_> = all.iter().map(|(cluster, items)| (*cluster, items.as_slice())).collect();
    let heads = variant.first().into_iter().flat_map(|one| &one.patches).map(|patch| patch.head.clone());
    heads.zip(values(&format!("{folder}/patches"), &lists, project, sources)).collect()
}

/// Adds the files of values that clusters have, low to high, and returns their paths for all of them. Files that are not
/// the same for all have the name of their cluster, in `folder`.
pub(super) fn values(
    folder: &str,
    lists: &[(usize, &[Item])],
    project: &mut Project,
    sources: &Sources,
) -> Vec<String> {
    let longest = lists.iter().map(|(_, items)| items.len()).max().unwrap_or(0);
    (0..longest).map(|at| position(folder, at, lists, project, sources)).collect()
}

fn position(folder: &str, at: usize, lists: &[(usize, &[Item])], project: &mut Project, sources: &Sources) -> String {
    let here: Vec<(usize, &Item)> =
        lists.iter().filter_map(|(cluster, items)| Some((*cluster, items.get(at)?))).collect();
    let Some((_, first)) = here.first().copied() else { return String::new() };
    let is_all = here.len() == project.clusters.len();
    let is_same = here.len() == lists.len() && here.iter().all(|(_, item)| item.is_same(first));
    if is_same {
        return add(folder, first, None, project, sources);
    }
    // Copies of files keep their names if those have a pattern. A cluster without the file must not find it.
    if let Some(made) = of_files(&here, project, sources).filter(|_| here.len() == lists.len()) {
        return if is_all { made } else { format!("{made}?") };
    }
    let names: Vec<String> =
        here.iter().filter_map(|(cluster, _)| Some(project.clusters.get(*cluster)?.0.clone())).collect();
    let ending = project.free_ending(folder, at + 1, &names);
    for ((_, item), name) in here.iter().zip(&names) {
        add(folder, item, Some(&format!("{name}{ending}")), project, sources);
    }
    format!("{folder}/{{cluster}}{ending}{}", if is_all { "" } else { "?" })
}

/// Copies files whose paths have a pattern, and returns it.
fn of_files(here: &[(usize, &Item)], project: &mut Project, sources: &Sources) -> Option<String> {
    let path = |(cluster, item): &(usize, &Item)| match item {
        Item::File(path) => Some((*cluster, path.clone())),
        _ => None,
    };
    let files: Vec<_> = here.iter().map(path).collect::<Option<_>>()?;
    let places: Vec<_> = files.iter().map(|(cluster, path)| (*cluster, place(sources, path))).collect();
    let made = fold::pattern(&places, project)?;
    let is_kept =
        |((_, path), (_, place)): (&(usize, PathBuf), &(usize, String))| project.copy(sources, path) == *place;
    let kept = files.iter().zip(&places).map(is_kept).filter(|is_kept| !is_kept).count() == 0;
    kept.then_some(made)
}

/// Adds the file of an item, with this name if it is given. Returns its path.
fn add(folder: &str, item: &Item, name: Option<&str>, project: &mut Project, sources: &Sources) -> String {
    match (item, name) {
        (Item::File(path), None) => project.copy(sources, path),
        (Item::File(path), Some(name)) => project.copy_as(&format!("{folder}/{name}"), path),
        (Item::Made { stem, data }, name) => {
            let name = name.map_or_else(|| format!("{}.yaml", file_name(stem)), str::to_owned);
            project.add(&format!("{folder}/{name}"), printed(data))
        }
        (Item::Template { name, text, .. }, None) => {
            project.add(&format!("{folder}/{}", file_name(name)), text.clone())
        }
        (Item::Template { gives, .. }, Some(name)) => project.add(&format!("{folder}/{name}"), printed(gives)),
    }
}

/// Returns values as a file.
fn printed(data: &Data) -> String {
    let is_empty = data.as_map().is_some_and(|map| map.is_empty());
    if is_empty || *data == Data::Null { "{}\n".to_owned() } else { yaml::to_string(data) }
}
