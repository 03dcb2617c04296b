//! Patches of releases, which Helmfile has Kustomize apply.

use dropforge::text::Source;
use dropforge::value::Data;

use super::state::{Loader, State};
use crate::init::import::assemble::{InstancePatch, Item};
use crate::init::import::project::PatchHead;
use crate::init::import::yaml::{Yaml, pattern};

/// The name of the files of patches.
const STEM: &str = "patch";

/// The keys of a target, and those of a project.
const TARGET: [(&str, &str); 7] = [
    ("group", "group"),
    ("version", "version"),
    ("kind", "kind"),
    ("name", "name"),
    ("namespace", "namespace"),
    ("labelSelector", "labels"),
    ("annotationSelector", "annotations"),
];

impl Loader<'_> {
    /// Returns the patches of `strategicMergePatches`: objects, or files of them.
    pub(super) fn merges(&mut self, items: &[Yaml], state: &State, data: &Data) -> Vec<InstancePatch> {
        let mut all = Vec::new();
        for item in items {
            match item.node.as_map() {
                Some(_) => all.push((item.clone(), self.filled_data(item, item.data(), data))),
                None => {
                    let documents = self.patch_file(item, "strategicMergePatches", state, data);
                    all.extend(documents.iter().map(|one| (one.clone(), one.data())));
                }
            }
        }
        let mut found = Vec::new();
        for (at, data) in all {
            let is_named = ["kind", "metadata.name"].iter().all(|path| data.at_path(path).is_some());
            if !is_named {
                let message = "a merge that names no object is left out";
                self.project.notes.left_out(Some(at.place()), message, "write its `kind` and `metadata.name`");
                continue;
            }
            let content = Item::Made { stem: STEM.to_owned(), data };
            found.push(InstancePatch { head: PatchHead::default(), content });
        }
        found
    }

    /// Returns the patches of `jsonPatches`: tables with a target and operations, or files of them.
    pub(super) fn operations(&mut self, items: &[Yaml], state: &State, data: &Data) -> Vec<InstancePatch> {
        let mut all = Vec::new();
        for item in items {
            match item.node.as_map() {
                Some(_) => all.push(item.clone()),
                None => all.extend(self.patch_file(item, "jsonPatches", state, data)),
            }
        }
        all.iter().filter_map(|one| self.operation(one, state, data)).collect()
    }

    fn operation(&mut self, one: &Yaml, state: &State, data: &Data) -> Option<InstancePatch> {
        let target = one.get("target").map(|target| self.target(&target)).unwrap_or(Some(Vec::new()))?;
        let operations = match (one.get("patch"), one.get("path")) {
            (Some(patch), _) if patch.node.as_list().is_some() => vec![patch],
            (Some(patch), _) => self.patch_documents(&patch, patch.node.text.as_ref())?,
            (None, Some(path)) => self.patch_file(&path, "path", state, data),
            (None, None) => {
                self.project.notes.wrong(one.place(), "an item of `jsonPatches` has neither `patch` nor `path`");
                return None;
            }
        };
        let list = |list: &Yaml| list.data().as_list().unwrap_or_default().to_vec();
        let operations = Data::List(operations.iter().flat_map(list).collect());
        let content = Item::Made { stem: STEM.to_owned(), data: self.filled_data(one, operations, data) };
        Some(InstancePatch { head: PatchHead { target: Some(target), is_json: true }, content })
    }

    /// Returns a target in the patterns of a project. `None` for one that has none.
    fn target(&mut self, target: &Yaml) -> Option<Vec<(&'static str, String)>> {
        let mut found = Vec::new();
        for (key, name, value) in target.entries("target", &mut self.project.notes) {
            let Some(text) = value.scalar("target", &mut self.project.notes).filter(|text| !text.is_empty()) else {
                continue;
            };
            let Some((_, own)) = TARGET.iter().find(|(known, _)| **known == *key) else {
                self.untranslated(None, &format!("target.{key}"), &name);
                return None;
            };
            let is_selector = key.ends_with("Selector");
            let own_pattern = if is_selector { Some(text.clone()) } else { pattern(&text) };
            let Some(pattern) = own_pattern else {
                let message = format!("the target `{text}` has no pattern, and its patch is left out");
                let help = "write the patch to `patches` of the release, once for each kind or name";
                self.project.notes.left_out(Some(value.place()), message, help);
                return None;
            };
            found.push((*own, pattern));
        }
        Some(found)
    }

    /// Returns the documents of a file of patches. A template is rendered as for the environment.
    fn patch_file(&mut self, at: &Yaml, key: &str, state: &State, data: &Data) -> Vec<Yaml> {
        let Some(path) = at.scalar(key, &mut self.project.notes) else { return Vec::new() };
        let folder = state.place();
        let Some(file) = self.found(at, folder.path, &path, folder.may_miss) else { return Vec::new() };
        let source = match self.sources.text(&file) {
            Ok(source) => source,
            Err(error) => {
                self.project.notes.errors.push(error);
                return Vec::new();
            }
        };
        if !path.ends_with(".gotmpl") {
            return self.patch_documents(at, source.text()).unwrap_or_default();
        }
        let folder = file.parent().unwrap_or(&file).to_owned();
        match self.rendered(&source, data, &folder) {
            Ok(text) => self.patch_documents(at, &text).unwrap_or_default(),
            Err(errors) => {
                let why = errors.first().map_or(String::new(), |error| error.message.clone());
                let message = format!("`{path}` cannot be rendered, and is left out: {why}");
                let help = format!("correct it for the environment `{}`", self.environment);
                self.project.notes.left_out(Some(at.place()), message, help);
                Vec::new()
            }
        }
    }

    /// Reads the documents of a patch.
    fn patch_documents(&mut self, at: &Yaml, text: &str) -> Option<Vec<Yaml>> {
        match Yaml::documents(&Source::new(format!("{} (patch)", at.place().0.name()), text), None) {
            Ok(mut documents) => {
                documents.retain(|one| one.data() != Data::Null);
                Some(documents)
            }
            Err(errors) => {
                errors.into_iter().for_each(|error| self.project.notes.error(error));
                None
            }
        }
    }
}
