//! Helmfile: each environment becomes a cluster, and each release a release of it.
//!
//! Every file is rendered and read once for each environment, as Helmfile does. What the environments have in common
//! becomes text of the project, with placeholders where only a name differs.

mod patches;
mod release;
mod state;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::value::{Data, DataMap};

use super::assemble::Instance;
use super::assemble::{Item, assemble, values as add_values};
use super::project::Project;
use super::sources::{Remote, Sources, Vendored};
use super::yaml::Yaml;
use state::{Loader, State};

/// The name of the environment that Helmfile uses if none is named.
const DEFAULT: &str = "default";
/// The maximum number of environments.
const MAX_ENVIRONMENTS: usize = 200;

/// Imports a helmfile, or the folder of one.
///
/// # Errors
/// All errors of its files.
pub(super) fn import(path: &Path, sources: &mut Sources, project: &mut Project) -> Result<(), Vec<Box<Diagnostic>>> {
    let files = entry_files(path)?;
    let names = names(&files, sources, project)?;
    let mut vendored = Vendored::default();
    let (mut instances, mut layers) = (Vec::new(), Vec::new());
    for name in &names {
        let own = DataMap::from_iter([("env".to_owned(), Data::Str(name.clone()))]);
        let cluster = project.cluster(name, own);
        let mut items = Vec::new();
        let mut loader = Loader::new(name, cluster, sources, project, &mut vendored);
        for file in &files {
            let state = loader.load(file, &DataMap::default());
            loader.collect(state, &mut instances, &mut items);
        }
        layers.push((cluster, items));
    }
    if !project.notes.errors.is_empty() {
        return Err(std::mem::take(&mut project.notes.errors));
    }
    let lists: Vec<(usize, &[Item])> = layers.iter().map(|(cluster, items)| (*cluster, items.as_slice())).collect();
    project.layers = add_values("values", &lists, project, sources);
    for instance in &mut instances {
        values::settle(instance, &layers, project);
    }
    warn_of_hidden(&layers, project);
    set_subjects(&mut instances, project);
    assemble(instances, "env", project, sources);
    Ok(())
}

/// Returns the files that Helmfile reads for a path: itself, or those of a folder.
fn entry_files(path: &Path) -> Result<Vec<PathBuf>, Vec<Box<Diagnostic>>> {
    let path = path.canonicalize().map_err(|error| vec![dropforge::files::unreadable(path, error)])?;
    if !path.is_dir() {
        return Ok(vec![path]);
    }
    let named = ["helmfile.yaml", "helmfile.yaml.gotmpl", "helmfile.yml"].map(|name| path.join(name));
    if let Some(file) = named.into_iter().find(|file| file.is_file()) {
        return Ok(vec![file]);
    }
    let folder = Some(path.join("helmfile.d")).filter(|folder| folder.is_dir()).unwrap_or_else(|| path.clone());
    let entries = std::fs::read_dir(&folder).map_err(|error| vec![dropforge::files::unreadable(&folder, error)])?;
    let is_one = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.is_file() && [".yaml", ".yml", ".yaml.gotmpl"].iter().any(|ending| name.ends_with(ending))
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_one).collect();
    files.sort();
    if files.is_empty() {
        let message = format!("there is no helmfile in `{}`", path.display());
        return Err(vec![Diagnostic::new(Code::Usage, message).with_help("name the file: `--from helmfile FILE`")]);
    }
    Ok(files)
}

/// Returns the names of the environments of the files and their bases, in order.
fn names(files: &[PathBuf], sources: &mut Sources, project: &mut Project) -> Result<Vec<String>, Vec<Box<Diagnostic>>> {
    let mut vendored = Vendored::default();
    let mut scratch = Project::default();
    let mut found: Vec<String> = Vec::new();
    for file in files {
        let mut loader = Loader::new(DEFAULT, 0, sources, &mut scratch, &mut vendored);
        let state = loader.load(file, &DataMap::default());
        found.extend(state.environments);
    }
    let mut known = BTreeMap::new();
    found.retain(|name| known.insert(name.clone(), ()).is_none());
    if found.is_empty() {
        found.push(DEFAULT.to_owned());
    }
    if found.len() > MAX_ENVIRONMENTS {
        let message = format!("only the first {MAX_ENVIRONMENTS} of {} environments are imported", found.len());
        project.notes.left_out(None, message, "add clusters and layers for the others");
        found.truncate(MAX_ENVIRONMENTS);
    }
    Ok(found)
}

/// Names what instances have in common: a name that is the same but for that of the environment. The second release with a
/// name in one environment is another one.
fn set_subjects(instances: &mut [Instance], project: &mut Project) {
    let environment =
        |instance: &Instance| project.clusters.get(instance.cluster).map_or("", |(name, _)| name.as_str());
    let without = |instance: &Instance| {
        let words: Vec<&str> = instance.name.split('-').filter(|word| *word != environment(instance)).collect();
        words.join("-")
    };
    let names: Vec<(String, usize)> = instances.iter().map(|one| (one.name.clone(), one.cluster)).collect();
    let is_only_here = |one: &Instance| names.iter().all(|(name, at)| *name != one.name || *at == one.cluster);
    let is_name = |text: &str| text.is_empty() || names.iter().any(|(name, _)| name == text);
    let candidates: Vec<Option<String>> = instances
        .iter()
        .map(|one| Some(without(one)).filter(|text| is_only_here(one) && *text != one.name && !is_name(text)))
        .collect();
    let mut seen: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for (instance, candidate) in instances.iter_mut().zip(&candidates) {
        let is_shared = candidates.iter().filter(|other| *other == candidate).count() > 1;
        let subject = candidate.clone().filter(|_| is_shared).unwrap_or_else(|| instance.name.clone());
        let times = seen.entry((instance.cluster, subject.clone())).or_default();
        *times += 1;
        instance.subject = if *times == 1 { subject } else { format!("{subject}-{times}") };
        if *times > 1 {
            let message = format!("two releases are named `{}` in one environment", instance.name);
            let help = "give one of them another name, or a namespace in its name: outputs are in folders by name";
            project.notes.left_out_of(Some(&instance.subject), None, message, help);
        }
    }
}

/// Notes values of environments that a project uses for other things.
fn warn_of_hidden(layers: &[(usize, Vec<Item>)], project: &mut Project) {
    for (cluster, items) in layers {
        let Some((name, _)) = project.clusters.get(*cluster).cloned() else { continue };
        let merged = values::merged(items);
        for key in ["name", "env"] {
            if merged.get(key).is_some_and(|value| value.as_str() != Some(&name)) {
                let message = format!("the value `{key}` of environments is hidden by that of the clusters");
                project.notes.left_out(None, message, format!("rename `{key}` in the layers and where it is used"));
            }
        }
        if merged.contains_key("releases") {
            let message = "the value `releases` of environments also gives values to releases of that name";
            project.notes.left_out(None, message, "rename `releases` in the layers and where it is used");
        }
    }
}

impl Loader<'_> {
    /// Returns the path of a chart in the project.
    fn chart(&mut self, release: &str, at: &Yaml, chart: &str, version: &str, state: &State) -> Option<String> {
        let is_path = chart.starts_with(['.', '/']);
        match self.sources.find(&state.folder, chart) {
            Ok(found) => return self.local_chart(release, at, &found),
            Err(_) if is_path => {
                self.found(at, &state.folder, chart, false);
                return None;
            }
            Err(_) => {}
        }
        if chart.contains("::") || chart.starts_with("http") {
            let message = format!("the chart `{chart}` is not in the repository");
            self.project.notes.left_out_of(
                Some(release),
                Some(at.place()),
                message,
                "download it to `charts/`, and add a release with its folder",
            );
            return None;
        }
        let (source, needs) = self.repository_of(chart, state);
        let remote = Remote { shown: chart, version, source: &source, needs: &needs };
        Some(remote.path((release, at.place()), self.vendored, self.sources, self.project))
    }

    fn local_chart(&mut self, release: &str, at: &Yaml, path: &Path) -> Option<String> {
        if path.is_file() {
            return Some(self.project.copy(self.sources, path));
        }
        if !path.join("Chart.yaml").is_file() {
            let message = format!("`{}` is a folder without `Chart.yaml`", dropforge::engine::path_from_here(path));
            let help =
                "add a release with `templates` for manifests; for Kustomize, see `dropforge init --from kustomize`";
            self.project.notes.left_out_of(Some(release), Some(at.place()), message, help);
            return None;
        }
        match self.project.copy_folder(self.sources, path) {
            Ok(path) => Some(path),
            Err(error) => {
                self.project.notes.errors.push(error);
                None
            }
        }
    }

    /// Returns a chart as `helm pull` names it, and what else is needed for it.
    fn repository_of(&mut self, chart: &str, state: &State) -> (String, String) {
        if chart.starts_with("oci://") {
            return (chart.to_owned(), String::new());
        }
        let Some((alias, name)) = chart.split_once('/') else { return (chart.to_owned(), String::new()) };
        for repository in state.repositories.iter().rev() {
            let mut text = |key: &str| repository.text(key, &mut self.project.notes);
            if text("name").is_none_or(|own| own != alias) {
                continue;
            }
            let Some(url) = text("url") else { break };
            if repository.flag("oci").unwrap_or(false) {
                let url = url.trim_start_matches("oci://").trim_end_matches('/').to_owned();
                return (format!("oci://{url}/{name}"), String::new());
            }
            let needs_login =
                ["username", "passwordEnv", "certFile", "password"].iter().any(|key| repository.get(key).is_some());
            let help = if needs_login { ", with the credentials of the repository" } else { "" };
            return (format!("{name} --repo {url}"), help.to_owned());
        }
        (chart.to_owned(), format!(", after `helm repo add {alias} URL`"))
    }
}
