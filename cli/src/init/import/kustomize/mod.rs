//! Kustomize: each overlay becomes a cluster, and each base the templates of a release.
//!
//! Every overlay is built, as `kubectl kustomize` does. What the objects of the clusters have in common becomes a template,
//! and what differs becomes values of the clusters.

mod build;
mod charts;
mod generate;
mod object;
mod patch;
mod replace;
mod transform;
mod unify;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::value::{Data, DataMap};

use super::assemble::{assemble, when};
use super::project::{Project, Release, file_name};
use super::sources::Sources;
use super::{fold, yaml};
use build::{Builder, file_of};
use object::Object;
use unify::Unifier;

/// The names of folders with overlays.
const OVERLAYS: [&str; 11] = [
    "overlays",
    "overlay",
    "envs",
    "env",
    "environments",
    "environment",
    "clusters",
    "stages",
    "variants",
    "regions",
    "instances",
];

/// A folder that no other uses: the objects of a release for a cluster.
struct Root {
    folder: PathBuf,
    cluster: String,
    release: String,
}

/// The objects of a release, by clusters.
type Built = Vec<(usize, Vec<Object>)>;

/// Imports a folder, or the overlays below it.
///
/// # Errors
/// All errors of its files.
pub(super) fn import(path: &Path, sources: &mut Sources, project: &mut Project) -> Result<(), Vec<Box<Diagnostic>>> {
    let mut folder = path.canonicalize().map_err(|error| vec![dropforge::files::unreadable(path, error)])?;
    if folder.is_file() {
        folder.pop();
    }
    let roots = roots(&folder, sources, project)?;
    if roots.is_empty() && !project.notes.errors.is_empty() {
        return Err(std::mem::take(&mut project.notes.errors));
    }
    if roots.is_empty() {
        let message = format!("there is no `kustomization.yaml` with resources in `{}` or below", path.display());
        return Err(vec![Diagnostic::new(Code::Usage, message).with_help("name the folder of one")]);
    }
    let (mut releases, mut charts, mut vendored) = (Vec::<(String, Built)>::new(), Vec::new(), Default::default());
    for root in &roots {
        let own = DataMap::from_iter([("env".to_owned(), Data::Str(file_name(&root.cluster)))]);
        let cluster = project.cluster(&root.cluster, own);
        let mut builder = Builder::new(sources, project);
        (builder.cluster, builder.vendored) = (cluster, vendored);
        let objects = builder.build(&root.folder);
        charts.append(&mut builder.charts);
        vendored = builder.vendored;
        match releases.iter_mut().find(|(name, _)| *name == root.release) {
            Some((_, built)) => built.push((cluster, objects)),
            None => releases.push((root.release.clone(), vec![(cluster, objects)])),
        }
    }
    if !project.notes.errors.is_empty() {
        return Err(std::mem::take(&mut project.notes.errors));
    }
    releases.iter().for_each(|(name, built)| add_release(name, built, project));
    assemble(charts, "env", project, sources);
    Ok(())
}

/// Returns the folders that no other one uses.
fn roots(folder: &Path, sources: &mut Sources, project: &mut Project) -> Result<Vec<Root>, Vec<Box<Diagnostic>>> {
    let below = sources.folders(folder).map_err(|error| vec![error])?;
    let all = std::iter::once(folder.to_owned()).chain(below.iter().map(|name| folder.join(name)));
    let folders: Vec<PathBuf> = all.filter(|folder| file_of(folder).is_some()).collect();
    let mut used = BTreeSet::new();
    let mut with_bases = BTreeSet::new();
    let mut found = Vec::new();
    for folder in folders {
        let Some(file) = Builder::new(sources, project).read(&folder) else { continue };
        if file.text("kind", &mut project.notes).is_some_and(|kind| kind != "Kustomization") {
            continue;
        }
        for key in ["resources", "bases", "components"] {
            for path in file.texts(key, &mut project.notes) {
                let Ok(path) = sources.find(&folder, &path) else { continue };
                if path.is_dir() {
                    if !path.starts_with(&folder) && key != "components" {
                        with_bases.insert(folder.clone());
                    }
                    used.insert(path);
                }
            }
        }
        found.push(folder);
    }
    // A circle of folders has no root: each of them is tried, and reports it.
    let free: Vec<PathBuf> = found.iter().filter(|folder| !used.contains(*folder)).cloned().collect();
    let free = if free.is_empty() { found.into_iter().take(1).collect() } else { free };
    let free = only_itself(free, folder, project);
    Ok(free.into_iter().map(|root| named(root, folder, &with_bases)).collect())
}

/// Leaves the imported folder alone if it is one of the roots. The others are noted.
fn only_itself(roots: Vec<PathBuf>, folder: &Path, project: &mut Project) -> Vec<PathBuf> {
    let (own, others): (Vec<_>, Vec<_>) = roots.into_iter().partition(|root| root == folder);
    if own.is_empty() {
        return others;
    }
    for other in others {
        let path = dropforge::engine::path_from_here(&other);
        let message = format!("`{path}` is used by no other folder, and is left out");
        project.notes.left_out(None, message, "import it by itself, or name it among `resources`");
    }
    own
}

/// Names the cluster and the release of a folder: `web/overlays/prod` is `web` in `prod`.
fn named(folder: PathBuf, top: &Path, with_bases: &BTreeSet<PathBuf>) -> Root {
    let names: Vec<String> =
        folder.components().filter_map(|part| part.as_os_str().to_str().map(str::to_owned)).collect();
    let name =
        |back: usize| names.len().checked_sub(back + 1).and_then(|at| names.get(at)).cloned().unwrap_or_default();
    let is_overlay = OVERLAYS.contains(&name(1).as_str());
    if !is_overlay && !with_bases.contains(&folder) {
        return Root { cluster: "default".to_owned(), release: name(0), folder };
    }
    let is_kept = |name: &&String| !OVERLAYS.contains(&name.as_str());
    let above: Vec<&String> = names.iter().rev().skip(1).filter(is_kept).collect();
    // The imported folder itself has the name of the release if nothing below it has.
    let release = above.first().map_or_else(|| "app".to_owned(), |name| (*name).clone());
    let release = if release.is_empty() || release == "/" { fold::key_of(&top.to_string_lossy()) } else { release };
    Root { cluster: name(0), release, folder }
}

/// The identity of an object in all clusters: group, kind, first namespace and name, and its number among those.
type Identity = (String, String, String, String, usize);

/// The forms of an object in the clusters that have it.
type Forms<'b> = Vec<(usize, &'b Object)>;

/// Returns the forms of each object, in the order of the first cluster that has it.
fn forms(built: &Built) -> Vec<Forms<'_>> {
    let mut places: BTreeMap<Identity, usize> = BTreeMap::new();
    let mut found: Vec<Forms<'_>> = Vec::new();
    for (cluster, all) in built {
        let mut seen: BTreeMap<Identity, usize> = BTreeMap::new();
        for object in all {
            let (first, namespace) = object.first_name();
            let parts = [object.group_version().0, object.kind(), namespace, first].map(str::to_owned);
            let [group, kind, namespace, name] = parts;
            let number = seen.entry((group.clone(), kind.clone(), namespace.clone(), name.clone(), 0)).or_default();
            let place = *places.entry((group, kind, namespace, name, *number)).or_insert_with(|| {
                found.push(Vec::new());
                found.len() - 1
            });
            *number += 1;
            found.get_mut(place).into_iter().for_each(|forms| forms.push((*cluster, object)));
        }
    }
    found
}

/// Adds a release for each set of clusters that have the same objects.
fn add_release(name: &str, built: &Built, project: &mut Project) {
    let mut sets: Vec<(Vec<usize>, Vec<Forms<'_>>)> = Vec::new();
    for forms in forms(built) {
        let clusters: Vec<usize> = forms.iter().map(|(cluster, _)| *cluster).collect();
        match sets.iter_mut().find(|(known, _)| *known == clusters) {
            Some((_, all)) => all.push(forms),
            None => sets.push((clusters, vec![forms])),
        }
    }
    for (clusters, all) in sets {
        let of: Vec<&str> =
            clusters.iter().filter_map(|at| project.clusters.get(*at)).map(|(name, _)| name.as_str()).collect();
        let is_all = clusters.len() == built.len();
        let subject = if is_all { name.to_owned() } else { format!("{name}-{}", of.join("-")) };
        let folder = format!("templates/{}", file_name(&subject));
        all.iter().for_each(|forms| add_template(name, &folder, forms, project));
        let release = Release {
            name: file_name(&subject),
            subject,
            templates: vec![folder],
            when: when(&clusters, "env", project),
            ..Release::default()
        };
        project.add_release(release, &clusters);
    }
}

/// Adds the template of an object.
fn add_template(release: &str, folder: &str, forms: &[(usize, &Object)], project: &mut Project) {
    let Some((_, first)) = forms.first() else { return };
    let clusters: Vec<usize> = forms.iter().map(|(cluster, _)| *cluster).collect();
    let (name, _) = first.first_name();
    let stem = file_name(&format!("{}-{name}", first.kind().to_lowercase()));
    let word = |text: &str| fold::key_of(text).replace('-', "_");
    let base = format!("{}.{}", variable(&word(release)), word(&stem));
    let values: Vec<&Data> = forms.iter().map(|(_, object)| &object.data).collect();
    let made = Unifier { clusters: &clusters, base, project }.unify("", &values);
    project.add(&format!("{folder}/{stem}.cel.yaml"), yaml::file([&made]));
}

/// Returns a word as a name of CEL that no key of clusters has.
fn variable(word: &str) -> String {
    const RESERVED: [&str; 26] = [
        "as",
        "break",
        "cluster",
        "const",
        "continue",
        "else",
        "env",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "name",
        "namespace",
        "null",
        "package",
        "releases",
        "return",
        "true",
        "type",
        "var",
        "void",
        "while",
    ];
    let is_bad = RESERVED.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit());
    if is_bad { format!("app_{word}") } else { word.to_owned() }
}
