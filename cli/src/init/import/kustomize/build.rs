//! Building a folder of Kustomize: resources, components, generators and transformers, in the order of Kustomize.

use std::path::{Path, PathBuf};

use dropforge::engine::path_from_here;
use dropforge::value::Data;

use super::generate::add_hash;
use super::object;
use super::object::{Object, map_at};
use super::transform::{self, Image, Places};
use crate::init::import::assemble::Instance;
use crate::init::import::project::Project;
use crate::init::import::sources::{Refusal, Sources, Vendored};
use crate::init::import::yaml::Yaml;

/// The names of the file of a folder.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// The maximum number of folders that use one another.
const MAX_DEPTH: usize = 32;
/// The maximum number of objects of a folder.
const MAX_OBJECTS: usize = 20_000;

/// Builds folders.
pub(super) struct Builder<'b> {
    pub(super) sources: &'b mut Sources,
    pub(super) project: &'b mut Project,
    /// The folders that are being built, outermost first.
    open: Vec<PathBuf>,
    /// The cluster that is built.
    pub(super) cluster: usize,
    /// The charts so far.
    pub(super) charts: Vec<Instance>,
    /// The first of them that the present folder has, or a folder that it uses.
    pub(super) first_chart: usize,
    pub(super) vendored: Vendored,
}

/// Returns the file of a folder.
pub(super) fn file_of(folder: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

impl<'b> Builder<'b> {
    pub(super) fn new(sources: &'b mut Sources, project: &'b mut Project) -> Self {
        let (open, charts, vendored) = Default::default();
        Self { sources, project, open, cluster: 0, charts, first_chart: 0, vendored }
    }

    /// Returns the objects of a folder for a cluster, with their last names, and adds the charts.
    pub(super) fn build(&mut self, folder: &Path) -> Vec<Object> {
        let mut objects = Vec::new();
        self.add_folder(folder, None, &mut objects);
        objects.iter_mut().filter(|object| object.has_hash).for_each(add_hash);
        object::follow(&mut objects);
        objects.iter_mut().for_each(drop_empty_annotations);
        objects
    }

    /// Reads the file of a folder.
    pub(super) fn read(&mut self, folder: &Path) -> Option<Yaml> {
        let path = file_of(folder)?;
        let source = match self.sources.text(&path) {
            Ok(source) => source,
            Err(error) => {
                self.project.notes.errors.push(error);
                return None;
            }
        };
        match Yaml::documents(&source, None) {
            Ok(mut documents) => documents.drain(..).next(),
            Err(errors) => {
                errors.into_iter().for_each(|error| self.project.notes.error(error));
                None
            }
        }
    }

    /// Notes a key that is not translated.
    pub(super) fn untranslated(&mut self, of: &str, key: &str, at: &Yaml) {
        let message = format!("`{key}` of {of} is not translated");
        let help = match key {
            "helmChartInflationGenerator" => "add a release with the chart: `chart`, `values`, `namespace`",
            "vars" => "write the value where it is used, or as a value of the clusters",
            "transformers" | "generators" | "validators" => "change the templates by hand",
            "configurations" | "openapi" | "crds" => "compare references and lists of the kinds that it describes",
            _ => "compare with `kubectl kustomize`, and write what it changes by hand",
        };
        self.project.notes.left_out(Some(at.place()), message, help);
    }

    /// Returns the file or folder that a text names, or notes that it is not read.
    pub(super) fn found(&mut self, at: &Yaml, folder: &Path, path: &str) -> Option<PathBuf> {
        if path.contains("://") || path.contains("?ref=") || path.starts_with("git@") || path.starts_with("github.com/")
        {
            let message = format!("`{path}` is not in the repository");
            self.project.notes.left_out(Some(at.place()), message, "copy it into the repository, and name the copy");
            return None;
        }
        let refusal = match self.sources.find(folder, path) {
            Ok(path) => return Some(path),
            Err(refusal) => refusal,
        };
        let (why, help) = refusal.told(self.sources.root());
        let help = match refusal {
            Refusal::Outside => "run the import in a folder above both".to_owned(),
            _ => help,
        };
        self.project.notes.left_out(Some(at.place()), format!("`{path}` {why}"), help);
        None
    }

    /// Adds the objects of a folder, which `at` names. A component changes the objects before it.
    fn add_folder(&mut self, folder: &Path, at: Option<&Yaml>, objects: &mut Vec<Object>) {
        if self.open.iter().any(|open| open == folder) || self.open.len() >= MAX_DEPTH {
            let message = format!("`{}` uses itself, or too many folders use one another", path_from_here(folder));
            return self.project.notes.left_out(at.map(Yaml::place), message, "break the circle");
        }
        let Some(file) = self.read(folder) else {
            if file_of(folder).is_none() {
                let message = format!("`{}` has no `kustomization.yaml`", path_from_here(folder));
                self.project.notes.left_out(at.map(Yaml::place), message, "write one that lists its files");
            }
            return;
        };
        self.open.push(folder.to_owned());
        let is_component = file.text("kind", &mut self.project.notes).is_some_and(|kind| kind == "Component");
        let mut own = if is_component { std::mem::take(objects) } else { Vec::new() };
        let first_chart = if is_component { 0 } else { self.charts.len() };
        self.note_keys(&file);
        self.add_charts(&file, folder);
        for key in ["resources", "bases"] {
            for resource in file.list(key, &mut self.project.notes) {
                self.add_resource(&resource, folder, &mut own);
            }
        }
        self.generate("ConfigMap", "configMapGenerator", &file, folder, &mut own);
        self.generate("Secret", "secretGenerator", &file, folder, &mut own);
        for component in file.list("components", &mut self.project.notes) {
            let Some(path) = component.scalar("components", &mut self.project.notes) else { continue };
            if let Some(path) = self.found(&component, folder, &path) {
                self.add_folder(&path, Some(&component), &mut own);
            }
        }
        let charts = std::mem::replace(&mut self.first_chart, first_chart);
        self.transform(&file, folder, &mut own);
        self.note_transformers(&file);
        self.first_chart = charts;
        self.open.pop();
        objects.extend(own);
    }

    fn note_keys(&mut self, file: &Yaml) {
        const KNOWN: [&str; 26] = [
            "apiVersion",
            "kind",
            "metadata",
            "resources",
            "bases",
            "components",
            "namespace",
            "namePrefix",
            "nameSuffix",
            "labels",
            "commonLabels",
            "commonAnnotations",
            "images",
            "replicas",
            "replacements",
            "patches",
            "patchesStrategicMerge",
            "patchesJson6902",
            "configMapGenerator",
            "secretGenerator",
            "generatorOptions",
            "helmCharts",
            "helmGlobals",
            "sortOptions",
            "buildMetadata",
            "$schema",
        ];
        for (key, name, value) in file.entries("kustomization", &mut self.project.notes) {
            let is_empty = value.node.as_list().is_some_and(<[_]>::is_empty);
            if !KNOWN.contains(&&*key) && !is_empty {
                self.untranslated("Kustomize", &key, &name);
            }
        }
    }

    fn add_resource(&mut self, resource: &Yaml, folder: &Path, objects: &mut Vec<Object>) {
        let Some(path) = resource.scalar("resources", &mut self.project.notes) else { return };
        let Some(path) = self.found(resource, folder, &path) else { return };
        if path.is_dir() {
            return self.add_folder(&path, Some(resource), objects);
        }
        let documents = match self.sources.text(&path) {
            Ok(source) => Yaml::documents(&source, None),
            Err(error) => Err(vec![error]),
        };
        match documents {
            Ok(documents) => {
                for document in documents {
                    self.add_object(&document, objects);
                }
            }
            Err(errors) => self.project.notes.errors.extend(errors),
        }
    }

    fn add_object(&mut self, document: &Yaml, objects: &mut Vec<Object>) {
        let object = Object::of(document);
        if object.data == Data::Null || objects.len() >= MAX_OBJECTS {
            return;
        }
        if object.kind().ends_with("List") && object.data.get("items").is_some() {
            for item in document.list("items", &mut self.project.notes) {
                self.add_object(&item, objects);
            }
        } else if object.kind().is_empty() || object.name().is_empty() {
            self.project.notes.wrong(document.place(), "the object has no `kind` or no `metadata.name`");
        } else {
            objects.push(object);
        }
    }

    /// Applies the transformers of a file.
    fn transform(&mut self, file: &Yaml, folder: &Path, objects: &mut Vec<Object>) {
        self.patch_all("patchesStrategicMerge", file, folder, objects);
        self.patch_all("patches", file, folder, objects);
        if let Some(namespace) = file.text("namespace", &mut self.project.notes) {
            transform::namespace(objects, &namespace);
        }
        let mut text = |key: &str| file.text(key, &mut self.project.notes).unwrap_or_default();
        let (prefix, suffix) = (text("namePrefix"), text("nameSuffix"));
        if !prefix.is_empty() || !suffix.is_empty() {
            transform::affix(objects, &prefix, &suffix);
        }
        self.label(file, objects);
        let annotations = self.pairs_of(file, "commonAnnotations");
        if !annotations.is_empty() {
            transform::annotations(objects, &annotations);
        }
        self.patch_all("patchesJson6902", file, folder, objects);
        for replica in file.list("replicas", &mut self.project.notes) {
            let name = replica.text("name", &mut self.project.notes).unwrap_or_default();
            let count = replica.get("count").map(|count| count.data()).unwrap_or_default();
            if !transform::replicas(objects, &name, &count) {
                let message = format!("no object has the replicas of `{name}`");
                self.project.notes.left_out(Some(replica.place()), message, "correct the name");
            }
        }
        for image in file.list("images", &mut self.project.notes) {
            let image = self.image(&image);
            objects.iter_mut().for_each(|object| transform::image(&mut object.data, &image));
        }
        self.replace_all(file, folder, objects);
    }

    fn image(&mut self, image: &Yaml) -> Image {
        for (key, name, _) in image.entries("images", &mut self.project.notes) {
            if !["name", "newName", "newTag", "digest"].contains(&&*key) {
                self.untranslated("images", &key, &name);
            }
        }
        let mut text = |key: &str| image.text(key, &mut self.project.notes).filter(|text| !text.is_empty());
        Image {
            name: text("name").unwrap_or_default(),
            new_name: text("newName"),
            new_tag: text("newTag"),
            digest: text("digest"),
        }
    }

    fn label(&mut self, file: &Yaml, objects: &mut [Object]) {
        let common = self.pairs_of(file, "commonLabels");
        if !common.is_empty() {
            transform::labels(objects, &common, Places { selectors: true, templates: true });
        }
        for labels in file.list("labels", &mut self.project.notes) {
            if let Some(fields) = labels.get("fields") {
                self.untranslated("labels", "fields", &fields);
            }
            let pairs = self.pairs_of(&labels, "pairs");
            let places = Places {
                selectors: labels.flag("includeSelectors").unwrap_or(false),
                templates: labels.flag("includeTemplates").unwrap_or(false),
            };
            transform::labels(objects, &pairs, places);
        }
    }

    /// Returns the texts of a map.
    fn pairs_of(&mut self, of: &Yaml, key: &str) -> Vec<(String, String)> {
        let Some(map) = of.get(key) else { return Vec::new() };
        let entries = map.entries(key, &mut self.project.notes);
        let text = |value: &Yaml| value.node.text.as_ref().to_owned();
        entries.into_iter().map(|(name, _, value)| (name.as_ref().to_owned(), text(&value))).collect()
    }
}

/// Kustomize removes annotations of its own, and an empty map with them.
fn drop_empty_annotations(object: &mut Object) {
    if let Some(metadata) = map_at(&mut object.data, &["metadata"], false)
        && metadata.get("annotations").and_then(Data::as_map).is_some_and(|map| map.is_empty())
    {
        metadata.shift_remove("annotations");
    }
}
