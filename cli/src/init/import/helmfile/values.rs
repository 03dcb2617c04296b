//! Values of environments and releases: files, templates of files, and values that stand in the helmfile.

use std::path::Path;
use std::sync::Arc;

use dropforge::bulk::values::merge;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};

use super::state::{Folder, Loader, State};
use crate::init::import::assemble::{Instance, Item};
use crate::init::import::gotmpl::{self, Known};
use crate::init::import::project::Project;
use crate::init::import::yaml::Yaml;

/// Merges values, low to high. Those of encrypted files are unknown.
pub(super) fn merged<'i>(items: impl IntoIterator<Item = &'i Item>) -> DataMap {
    let mut values = DataMap::default();
    for item in items {
        let data = match item {
            Item::Made { data, .. } => data.clone(),
            Item::File(path) => read(path).unwrap_or_default(),
            Item::Template { gives, .. } => gives.clone(),
        };
        merge(&mut values, data.into_map().unwrap_or_default());
    }
    values
}

/// Reads a file of values. `None` for one that is encrypted.
fn read(path: &Path) -> Option<Data> {
    let text = dropforge::files::read_text(path, 16 << 20).ok()?;
    let document = Yaml::documents(&Source::new("values", text), None).ok()?.pop()?;
    document.at("sops.mac").is_none().then(|| document.data())
}

impl Loader<'_> {
    /// Returns the values of a list such as `values` of an environment: files, or values themselves.
    pub(super) fn value_items(&mut self, list: &Yaml, state: &State) -> Vec<Item> {
        let values = state.values();
        let mut found = Vec::new();
        for item in list.items("values", &mut self.project.notes) {
            if item.node.as_map().is_some() {
                found.push(Item::Made { stem: "values".to_owned(), data: item.data() });
                continue;
            }
            let Some(path) = item.scalar("values", &mut self.project.notes) else { continue };
            let data = self.data(&values, None);
            found.extend(self.value_files(&item, &path, state.place(), &data, None));
        }
        found
    }

    /// Returns the values of the files that a text names. `known` are the names of the release that they are for.
    pub(super) fn value_files(
        &mut self,
        at: &Yaml,
        path: &str,
        folder: Folder<'_>,
        data: &Data,
        known: Option<&Known>,
    ) -> Vec<Item> {
        if path.contains("::") || path.contains("://") || path.ends_with(".hcl") {
            let message = format!("the values `{path}` are not read");
            self.project.notes.left_out(Some(at.place()), message, "write them to a YAML file of the project");
            return Vec::new();
        }
        let files = match self.sources.find_all(folder.path, path) {
            Ok(files) => files,
            Err(_) => self.found(at, folder.path, path, folder.may_miss).into_iter().collect(),
        };
        files.iter().filter_map(|file| self.value_file(at, file, data, known)).collect()
    }

    fn value_file(&mut self, at: &Yaml, path: &Path, data: &Data, known: Option<&Known>) -> Option<Item> {
        let name = path.file_name()?.to_str()?.to_owned();
        if path.is_dir() {
            self.project.notes.left_out(Some(at.place()), format!("`{name}` is a folder"), "name its files");
            return None;
        }
        let source = match self.sources.text(path) {
            Ok(source) => source,
            Err(error) => {
                let message = format!("`{name}` cannot be read");
                self.project.notes.left_out(Some(at.place()), message, error.message.clone());
                return None;
            }
        };
        let Some(stem) = name.strip_suffix(".gotmpl") else {
            self.document(&source, None)?;
            return Some(Item::File(path.to_owned()));
        };
        let stem = stem.trim_end_matches(".yaml").trim_end_matches(".yml").to_owned();
        let folder = path.parent().unwrap_or(path).to_owned();
        let text = match self.rendered(&source, data, &folder) {
            Ok(text) => text,
            Err(errors) => {
                for error in errors {
                    let place = error.primary().map(|label| (label.source.clone(), label.span));
                    let message = format!("`{name}` cannot be rendered, and is left out: {}", error.message);
                    let help = format!("correct it for the environment `{}`", self.environment);
                    self.project.notes.left_out(place.or(Some(at.place())), message, help);
                }
                return None;
            }
        };
        let document = self.document(&Source::new(format!("{} (rendered)", source.name()), text), Some(&source))?;
        let made = document.data();
        let template = known.and_then(|known| gotmpl::rewritten(source.text(), known));
        Some(match template {
            Some(text) => Item::Template { name: format!("{stem}.yaml.gotmpl"), text, gives: made },
            None => Item::Made { stem, data: made },
        })
    }

    /// Reads a document of values, which must be a map.
    fn document(&mut self, source: &Arc<Source>, written: Option<&Arc<Source>>) -> Option<Yaml> {
        match Yaml::documents(source, written) {
            Ok(mut documents) => {
                let document = documents.drain(..).next()?;
                document.map("values", &mut self.project.notes);
                Some(document)
            }
            Err(errors) => {
                self.project.notes.errors.extend(errors);
                None
            }
        }
    }

    /// Returns the encrypted files of an item.
    pub(super) fn secret_files(&mut self, item: &Yaml, folder: Folder<'_>) -> Vec<Item> {
        let Some(path) = item.scalar("secrets", &mut self.project.notes) else { return Vec::new() };
        if path.contains("://") {
            let message = format!("the secrets `{path}` are not read");
            self.project.notes.left_out(Some(item.place()), message, "write them to a file that SOPS encrypts");
            return Vec::new();
        }
        let files = match self.sources.find_all(folder.path, &path) {
            Ok(files) => files,
            Err(_) => self.found(item, folder.path, &path, folder.may_miss).into_iter().collect(),
        };
        if files.iter().any(|file| read(file).is_none()) {
            let message = format!("the values of `{path}` are encrypted, and templates of values do not see them");
            let help = "stamp with `--allow exec=sops`, which decrypts them";
            self.project.notes.left_out(Some(item.place()), message, help);
        }
        files.into_iter().map(Item::File).collect()
    }
}

/// Compares what rewritten templates give for the values of the cluster with what the original ones gave. A template with
/// another result is replaced by that of the original.
pub(super) fn settle(instance: &mut Instance, layers: &[(usize, Vec<Item>)], project: &Project) {
    let Some((_, items)) = layers.iter().find(|(cluster, _)| *cluster == instance.cluster) else { return };
    let Some((_, own)) = project.clusters.get(instance.cluster) else { return };
    let mut values = merged(items);
    merge(&mut values, own.clone());
    for item in &mut instance.values {
        let Item::Template { name, text, gives } = item else { continue };
        let rendered = gotmpl::rendered(text, &values);
        let document = rendered.and_then(|text| Yaml::documents(&Source::new("values", text), None).ok());
        let is_same =
            document.is_some_and(|mut all| all.drain(..).next().map_or(Data::Null, |one| one.data()) == *gives);
        if !is_same {
            let stem = name.trim_end_matches(".yaml.gotmpl").to_owned();
            *item = Item::Made { stem, data: std::mem::take(gives) };
        }
    }
}
