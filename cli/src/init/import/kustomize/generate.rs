//! Generators of ConfigMaps and Secrets, and the hashes of their names.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dropforge::stdlib::hashes::sha256;
use dropforge::value::{Data, DataMap};

use super::build::Builder;
use super::object::{Object, map_at};
use crate::init::import::yaml::Yaml;

impl Builder<'_> {
    /// Adds the objects of generators of a kind.
    pub(super) fn generate(&mut self, kind: &str, key: &str, file: &Yaml, folder: &Path, objects: &mut Vec<Object>) {
        let general = file.get("generatorOptions");
        for generator in file.list(key, &mut self.project.notes) {
            let Some(object) = self.generated(kind, &generator, general.as_ref(), folder) else { continue };
            let behavior = generator.text("behavior", &mut self.project.notes).unwrap_or_default();
            let is_same = |other: &&mut Object| {
                let namespace = |one: &Object| one.namespace().to_owned();
                other.kind() == kind
                    && other.is_named(object.name())
                    && (namespace(&object).is_empty() || namespace(&object) == namespace(other))
            };
            match (behavior.as_str(), objects.iter_mut().find(is_same)) {
                ("merge" | "replace", Some(known)) => replace(known, &object, behavior == "merge"),
                ("" | "create", None) => objects.push(object),
                _ => {
                    let message = format!("`{}` of `{key}` does not fit the objects before it", object.name());
                    self.project.notes.left_out(
                        Some(generator.place()),
                        message,
                        "see `behavior`: create, merge or replace",
                    );
                }
            }
        }
    }

    fn generated(&mut self, kind: &str, generator: &Yaml, general: Option<&Yaml>, folder: &Path) -> Option<Object> {
        let Some(name) = generator.text("name", &mut self.project.notes) else {
            self.project.notes.wrong(generator.place(), "a generator has no `name`");
            return None;
        };
        let text = |text: &str| Data::Str(text.to_owned());
        let mut metadata = DataMap::from_iter([("name".to_owned(), text(&name))]);
        if let Some(namespace) = generator.text("namespace", &mut self.project.notes) {
            metadata.insert("namespace".to_owned(), text(&namespace));
        }
        let all: Vec<Yaml> = general.into_iter().cloned().chain(generator.get("options")).collect();
        let flag = |key: &str| all.iter().rev().find_map(|options| options.flag(key)).unwrap_or(false);
        let (has_hash, immutable) = (!flag("disableNameSuffixHash"), flag("immutable"));
        all.iter().for_each(|options| self.add_metadata(options, &mut metadata));
        let data = self.pairs(generator, folder, kind == "Secret");
        let mut map = DataMap::from_iter([
            ("apiVersion".to_owned(), text("v1")),
            ("kind".to_owned(), text(kind)),
            ("metadata".to_owned(), Data::Map(metadata)),
        ]);
        if !data.is_empty() || kind == "Secret" {
            map.insert("data".to_owned(), Data::Map(data));
        }
        if kind == "Secret" {
            let kind = generator.text("type", &mut self.project.notes);
            map.insert("type".to_owned(), text(kind.as_deref().unwrap_or("Opaque")));
        }
        if immutable {
            map.insert("immutable".to_owned(), Data::Bool(true));
        }
        Some(Object::new(Data::Map(map)).with_hash(has_hash))
    }

    /// Adds the labels and annotations of the options of a generator.
    fn add_metadata(&mut self, options: &Yaml, metadata: &mut DataMap) {
        for key in ["labels", "annotations"] {
            let Some(own) = options.get(key) else { continue };
            let own = own.map(key, &mut self.project.notes);
            let all = metadata.entry(key.to_owned()).or_insert_with(|| Data::Map(DataMap::default()));
            if let Data::Map(all) = all {
                all.extend(own);
            }
        }
    }

    /// Returns the data of a generator: `literals`, `files` and `envs`.
    fn pairs(&mut self, generator: &Yaml, folder: &Path, is_secret: bool) -> DataMap {
        let mut found: Vec<(String, String)> = Vec::new();
        for item in generator
            .texts("envs", &mut self.project.notes)
            .into_iter()
            .chain(generator.text("env", &mut self.project.notes))
        {
            let Some(text) = self.read_text(generator, folder, &item) else { continue };
            let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#'));
            for line in lines {
                match line.split_once('=') {
                    Some((key, value)) => found.push((key.to_owned(), value.to_owned())),
                    None => {
                        let message = format!("`{line}` of `{item}` is read from the environment");
                        self.project.notes.left_out(Some(generator.place()), message, "give it a value in the file");
                    }
                }
            }
        }
        for item in generator.texts("files", &mut self.project.notes) {
            let (key, path) = item.split_once('=').unwrap_or((item.rsplit('/').next().unwrap_or(&item), &item));
            if let Some(text) = self.read_text(generator, folder, path) {
                found.push((key.to_owned(), text));
            }
        }
        for item in generator.texts("literals", &mut self.project.notes) {
            let (key, value) = item.split_once('=').unwrap_or((&item, ""));
            let quoted = |quote: char| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
            let value =
                if quoted('"') || quoted('\'') { value.get(1..value.len() - 1).unwrap_or(value) } else { value };
            found.push((key.to_owned(), value.to_owned()));
        }
        found.sort();
        let value = |text: String| Data::Str(if is_secret { STANDARD.encode(text) } else { text });
        found.into_iter().map(|(key, text)| (key, value(text))).collect()
    }

    fn read_text(&mut self, at: &Yaml, folder: &Path, path: &str) -> Option<String> {
        let path = self.found(at, folder, path)?;
        match self.sources.text(&path) {
            Ok(source) => Some(source.text().to_owned()),
            Err(error) => {
                let message = format!("`{}` cannot be read", dropforge::engine::path_from_here(&path));
                self.project.notes.left_out(Some(at.place()), message, error.message.clone());
                None
            }
        }
    }
}

/// Puts the data of a generator into an object of an earlier one.
fn replace(known: &mut Object, object: &Object, merges: bool) {
    known.has_hash |= object.has_hash;
    for path in [&["metadata", "labels"][..], &["metadata", "annotations"], &["data"]] {
        let own = path.iter().try_fold(&object.data, |here, key| here.get(key)).and_then(Data::as_map).cloned();
        let Some(own) = own else { continue };
        let Some(map) = map_at(&mut known.data, path, true) else { continue };
        if !merges && *path == ["data"] {
            map.clear();
        }
        map.extend(own);
        map.sort_keys();
    }
}

/// Adds the hash of its content to the name of an object.
pub(super) fn add_hash(object: &mut Object) {
    let empty = || Data::Str(String::new());
    let get = |key: &str| object.data.get(key).cloned();
    let mut map = std::collections::BTreeMap::from([
        ("kind", Data::Str(object.kind().to_owned())),
        // Kustomize looks for the name in the wrong place, and finds none.
        ("name", empty()),
        ("data", get("data").unwrap_or_else(empty)),
    ]);
    if object.kind() == "Secret" {
        map.insert("type", get("type").unwrap_or_else(empty));
    }
    for key in ["binaryData", "stringData"] {
        map.extend(get(key).filter(|value| value.as_map().is_some()).map(|value| (key, value)));
    }
    let mut json = String::from("{");
    for (at, (key, value)) in map.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(json, "{comma}\"{key}\":{}", go_json(&value));
    }
    json.push('}');
    let digits = sha256(json.as_bytes()).iter().take(5).map(|byte| format!("{byte:02x}")).collect::<String>();
    let hash: String = digits
        .chars()
        .map(|c| match c {
            '0' => 'g',
            '1' => 'h',
            '3' => 'k',
            'a' => 'm',
            'e' => 't',
            other => other,
        })
        .collect();
    object.set_name(format!("{}-{hash}", object.name()));
}

/// Returns JSON as Go writes it: sorted keys, and escapes for HTML.
fn go_json(value: &Data) -> String {
    let escaped = |text: &str| {
        let text = serde_json::to_string(text).unwrap_or_default();
        let text = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
        text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    };
    match value {
        Data::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}:{}", escaped(key), go_json(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
        Data::Str(text) => escaped(text),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
