//! Patches: the objects that each is for, and what it does.

use std::path::Path;
use std::sync::Arc;

use dropforge::bulk::{ObjectPatch, Selector, WrittenObject};
use dropforge::diagnostics::Diagnostic;
use dropforge::text::Source;
use dropforge::value::Data;

use super::build::Builder;
use super::object::Object;
use crate::init::import::project::PatchHead;
use crate::init::import::yaml;
use crate::init::import::yaml::Yaml;

/// The keys of a target that are words.
const WORDS: [&str; 5] = ["group", "version", "kind", "name", "namespace"];

/// The objects that a patch is for.
#[derive(Debug, Default)]
struct Target {
    group: Option<String>,
    version: Option<String>,
    kind: Option<regex::Regex>,
    name: Option<regex::Regex>,
    namespace: Option<regex::Regex>,
    labels: Selector,
    annotations: Selector,
    /// The same in the patterns of a project. `None` if it has none.
    head: Option<PatchHead>,
}

impl Target {
    fn admits(&self, object: &Object) -> bool {
        let (group, version) = object.group_version();
        let matches =
            |pattern: &Option<regex::Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        let selects = |selector: &Selector, key: &str| {
            let map = object.data.at_path(&format!("metadata.{key}"));
            selector.matches_by(&|key| map?.get(key).cloned())
        };
        let is_named = || {
            std::iter::once(object.name())
                .chain(object.before.iter().map(|(name, _)| name.as_str()))
                .any(|name| matches(&self.name, name))
        };
        let is_within = || {
            std::iter::once(object.namespace())
                .chain(object.before.iter().map(|(_, namespace)| namespace.as_str()))
                .any(|namespace| matches(&self.namespace, namespace))
        };
        self.group.as_deref().is_none_or(|own| own == group)
            && self.version.as_deref().is_none_or(|own| own == version)
            && matches(&self.kind, object.kind())
            && is_named()
            && is_within()
            && selects(&self.labels, "labels")
            && selects(&self.annotations, "annotations")
    }
}

impl Builder<'_> {
    /// Applies the patches at a key.
    pub(super) fn patch_all(&mut self, key: &str, file: &Yaml, folder: &Path, objects: &mut Vec<Object>) {
        for patch in file.list(key, &mut self.project.notes) {
            let (text, target) = match patch.node.as_map() {
                // `patchesStrategicMerge` lists files and patches themselves.
                None => (patch.scalar(key, &mut self.project.notes), None),
                Some(_) => (None, patch.get("target")),
            };
            let source = self.patch_text(key, &patch, text, folder);
            if let Some(options) = patch.get("options") {
                let message = "`options` of a patch are not translated";
                self.project.notes.left_out(
                    Some(options.place()),
                    message,
                    "compare the kinds and names of what it changes",
                );
            }
            let Some(source) = source else { continue };
            let target = match target.map(|target| self.target(&target)) {
                Some(None) => continue,
                Some(Some(target)) => Some(target),
                None => None,
            };
            self.patch(&patch, &source, target, objects);
        }
    }

    /// Returns the text of an item: a patch itself, or that of a file.
    fn patch_text(&mut self, key: &str, patch: &Yaml, text: Option<String>, folder: &Path) -> Option<Arc<Source>> {
        let made = |at: &Yaml, text: String| Some(Source::new(format!("{} (patch)", at.place().0.name()), text));
        let own = patch.get("patch").or_else(|| patch.get("ops"));
        match (text, own, patch.get("path")) {
            (Some(text), ..) if text.contains('\n') => made(patch, text),
            (Some(path), ..) => self.patch_file(patch, folder, &path),
            (None, Some(own), _) => {
                let text = own.scalar("patch", &mut self.project.notes).unwrap_or_default();
                made(&own, text)
            }
            (None, None, Some(path)) => {
                let path = path.scalar("path", &mut self.project.notes)?;
                self.patch_file(patch, folder, &path)
            }
            (None, None, None) => {
                let message = format!("an item of `{key}` has neither `patch` nor `path`");
                self.project.notes.wrong(patch.place(), message);
                None
            }
        }
    }

    fn patch_file(&mut self, at: &Yaml, folder: &Path, path: &str) -> Option<Arc<Source>> {
        let path = self.found(at, folder, path)?;
        self.sources.text(&path).map_err(|error| self.project.notes.errors.push(error)).ok()
    }

    fn target(&mut self, target: &Yaml) -> Option<Target> {
        let (mut found, mut keys) = (Target::default(), Some(Vec::new()));
        for (key, name, value) in target.entries("target", &mut self.project.notes) {
            let Some(text) = value.scalar(&key, &mut self.project.notes).filter(|text| !text.is_empty()) else {
                continue;
            };
            let own = match &*key {
                "labelSelector" => Some(("labels", text.clone())),
                "annotationSelector" => Some(("annotations", text.clone())),
                _ => WORDS.iter().find(|word| ***word == *key).and_then(|word| Some((*word, yaml::pattern(&text)?))),
            };
            keys = keys.zip(own).map(|(mut keys, own): (Vec<_>, _)| {
                keys.push(own);
                keys
            });
            let pattern = regex::Regex::new(&format!("^(?:{text})$")).ok();
            if pattern.is_none() && ["kind", "name", "namespace"].contains(&&*key) {
                let message = format!("`{text}` is no regular expression, and the patch is left out");
                self.project.notes.left_out(Some(value.place()), message, "correct the target");
                return None;
            }
            match &*key {
                "group" => found.group = Some(text),
                "version" => found.version = Some(text),
                "kind" => found.kind = pattern,
                "name" => found.name = pattern,
                "namespace" => found.namespace = pattern,
                "labelSelector" | "annotationSelector" => {
                    let selector = Selector::parse_keys(&text);
                    let Ok(selector) = selector else {
                        let message = format!("`{text}` is no selector, and the patch is left out");
                        self.project.notes.left_out(Some(value.place()), message, "correct the target");
                        return None;
                    };
                    *(if &*key == "labelSelector" { &mut found.labels } else { &mut found.annotations }) = selector;
                }
                _ => self.untranslated("target", &key, &name),
            }
        }
        found.head = keys.map(|keys| PatchHead { target: Some(keys), is_json: false });
        Some(found)
    }

    fn patch(&mut self, at: &Yaml, source: &Arc<Source>, target: Option<Target>, objects: &mut Vec<Object>) {
        let documents = match Yaml::documents(source, None) {
            Ok(documents) => documents,
            Err(errors) => return self.project.notes.errors.extend(errors),
        };
        for document in documents.iter().filter(|document| document.data() != Data::Null) {
            let own = Object::of(document);
            let patch = match ObjectPatch::new(source, &WrittenObject::of_node(&document.node, &own.data)) {
                Ok(patch) => patch,
                Err(errors) => {
                    let message = |error: &Diagnostic| format!("a patch is left out: {}", error.message);
                    let help = "correct the patch";
                    errors.iter().for_each(|one| self.project.notes.left_out(Some(at.place()), message(one), help));
                    continue;
                }
            };
            let is_meant = |object: &Object| match &target {
                Some(target) => target.admits(object),
                None => is_same(&own, object),
            };
            let all = objects.iter().enumerate().filter(|(_, object)| is_meant(object));
            let places: Vec<usize> = all.map(|(place, _)| place).collect();
            let head = target.as_ref().map_or(Some(PatchHead::default()), |target| target.head.clone());
            if places.is_empty() && !self.patch_charts(head.as_ref(), document) {
                let message = "no object of this folder is meant by the patch";
                self.project.notes.left_out(Some(at.place()), message, "remove the patch, or correct its target");
            }
            for place in places.into_iter().rev() {
                match objects.get_mut(place).map_or(Ok(true), |object| object.patch(&patch)) {
                    Ok(true) => {}
                    Ok(false) => drop(objects.remove(place)),
                    Err(error) => self.project.notes.left_out(Some(at.place()), &*error.message, "correct the patch"),
                }
            }
        }
    }
}

/// Returns `true` if a patch names an object.
fn is_same(patch: &Object, object: &Object) -> bool {
    object.group_version().0 == patch.group_version().0
        && object.kind() == patch.kind()
        && object.is_named(patch.name())
        && (patch.namespace().is_empty() || object.is_within(patch.namespace()))
}
