//! Generators of an ApplicationSet: lists of parameters.

use dropforge::stdlib::globs::{Glob, Syntax};
use dropforge::value::{Data, DataMap};

use super::{Filler, text_of};
use crate::init::import::fold::TODO_CLUSTER;
use crate::init::import::project::{Notes, Project, file_name};
use crate::init::import::sources::Sources;
use crate::init::import::yaml::Yaml;

/// The maximum depth of generators within others.
const MAX_DEPTH: usize = 4;
/// The maximum number of sets of parameters of one generator.
const MAX_PARAMS: usize = 20_000;

/// Reads generators.
pub(super) struct Generators<'g> {
    pub(super) sources: &'g mut Sources,
    pub(super) project: &'g mut Project,
    /// The templates are Go's, and parameters nest.
    pub(super) is_go: bool,
    /// The files and the folders of the repository, once they are listed.
    pub(super) listed: [Option<Vec<String>>; 2],
}

impl Generators<'_> {
    /// Returns the parameters of a generator. `outer` are those of the first one of a matrix.
    pub(super) fn params(&mut self, generator: &Yaml, outer: Option<&Data>, depth: usize) -> Vec<Data> {
        let mut found = Vec::new();
        let mut selector = None;
        for (key, name, value) in generator.entries("generators", &mut self.project.notes) {
            self.note_keys(&key, &value, depth);
            match &*key {
                "list" => found.extend(self.list(&value, outer)),
                "clusters" => found.extend(self.clusters(&name, &value, outer)),
                "git" => found.extend(self.git(&value, outer)),
                "matrix" if depth < MAX_DEPTH => found.extend(self.matrix(&value, outer, depth)),
                "merge" if depth < MAX_DEPTH => found.extend(self.merge(&value, outer, depth)),
                "selector" => selector = Some(value),
                key => {
                    let message = format!("the generator `{key}` is not translated");
                    self.project.notes.left_out(Some(name.place()), message, "write the clusters to `clusters.yaml`");
                }
            }
        }
        if let Some(selector) = selector {
            self.select(&selector, &mut found);
        }
        found.truncate(MAX_PARAMS);
        found
    }

    /// Notes the keys of a generator that are not translated.
    fn note_keys(&mut self, generator: &str, value: &Yaml, depth: usize) {
        let known: &[&str] = match generator {
            "list" => &["elements", "elementsYaml"],
            "clusters" => &["selector", "values"],
            "git" => &["repoURL", "revision", "directories", "files", "values", "pathParamPrefix"],
            "matrix" => &["generators"],
            "merge" => &["generators", "mergeKeys"],
            _ => return,
        };
        for (key, name, own) in value.entries(generator, &mut self.project.notes) {
            let is_empty = own.node.as_map().is_some_and(<[_]>::is_empty);
            if key.as_ref() == "requeueAfterSeconds" {
                self.project.notes.at_installation(name.place(), &key);
            } else if !known.contains(&key.as_ref()) && !is_empty && (key.as_ref() != "template" || depth > 0) {
                let message = format!("`{key}` of the generator `{generator}` is not translated");
                self.project.notes.left_out(
                    Some(name.place()),
                    message,
                    "write what it changes to the releases by hand",
                );
            }
        }
    }

    /// Returns parameters as templates see them: as they are for Go, flat and as texts otherwise.
    fn made(&self, map: DataMap) -> Data {
        if self.is_go {
            return Data::Map(map);
        }
        let mut flat = DataMap::default();
        map.iter().for_each(|(key, value)| flatten(key, value, &mut flat));
        Data::Map(flat)
    }

    /// Adds `values` of a generator, which may use its other parameters.
    fn with_values(&mut self, params: Data, generator: &Yaml) -> Data {
        let Some(values) = generator.get("values") else { return params };
        let mut map = params.as_map().cloned().unwrap_or_default();
        let filler = Filler { params: &params, is_go: self.is_go, is_strict: false, is_done: false };
        let mut own = DataMap::default();
        for (key, _, value) in values.entries("values", &mut self.project.notes) {
            let text = value.scalar("values", &mut self.project.notes).unwrap_or_default();
            own.insert(key.as_ref().to_owned(), Data::Str(filler.text(&value, &text, &mut self.project.notes)));
        }
        match self.is_go {
            true => drop(map.insert("values".to_owned(), Data::Map(own))),
            false => map.extend(own.into_iter().map(|(key, value)| (format!("values.{key}"), value))),
        }
        Data::Map(map)
    }

    fn list(&mut self, list: &Yaml, outer: Option<&Data>) -> Vec<Data> {
        if let Some(made) = list.get("elementsYaml") {
            let help = "write the elements to `clusters.yaml`";
            self.project.notes.left_out(Some(made.place()), "`elementsYaml` is not translated", help);
        }
        let mut found = Vec::new();
        for element in list.list("elements", &mut self.project.notes) {
            let map = element.map("elements", &mut self.project.notes);
            let data = match outer {
                Some(outer) => {
                    let filler = Filler { params: outer, is_go: self.is_go, is_strict: false, is_done: false };
                    filler.data(&element, &Data::Map(map), &mut self.project.notes).into_map().unwrap_or_default()
                }
                None => map,
            };
            found.push(self.made(data));
        }
        found
    }

    /// Returns one cluster to fill in: Argo CD keeps its clusters as secrets.
    fn clusters(&mut self, at: &Yaml, generator: &Yaml, outer: Option<&Data>) -> Vec<Data> {
        let help = "replace `todo-cluster` in `clusters.yaml` by the clusters, with the same keys and their labels";
        let message = "the clusters of the generator `clusters` are secrets of Argo CD";
        self.project.notes.left_out(Some(at.place()), message, help);
        let text = |text: &str| Data::Str(text.to_owned());
        let selector = generator.get("selector").map(|one| one.entries("selector", &mut self.project.notes));
        for (key, name, value) in selector.into_iter().flatten().filter(|(key, ..)| &**key != "matchLabels") {
            let conditions = match &*key {
                "matchExpressions" => Requirement::all(&value, &mut self.project.notes),
                _ => Vec::new(),
            };
            let help = match conditions.is_empty() {
                true => "write it to the condition (`when`) of the releases".to_owned(),
                false => {
                    let all: Vec<String> = conditions.iter().map(Requirement::condition).collect();
                    format!("add it to the condition of the releases: `when = \"{}\"`", all.join(" && "))
                }
            };
            self.project.notes.left_out(Some(name.place()), format!("`{key}` of the selector is not translated"), help);
        }
        let labels =
            generator.at("selector.matchLabels").map(|labels| labels.map("matchLabels", &mut self.project.notes));
        let metadata = DataMap::from_iter([
            ("labels".to_owned(), Data::Map(labels.unwrap_or_default())),
            ("annotations".to_owned(), Data::Map(DataMap::default())),
        ]);
        let map = DataMap::from_iter([
            ("name".to_owned(), text(TODO_CLUSTER)),
            ("nameNormalized".to_owned(), text(TODO_CLUSTER)),
            ("server".to_owned(), text("https://todo.invalid")),
            ("project".to_owned(), text("")),
            ("metadata".to_owned(), Data::Map(metadata)),
        ]);
        let params = self.made(map);
        let params = match outer {
            Some(outer) => joined(outer, &params),
            None => params,
        };
        vec![self.with_values(params, generator)]
    }

    /// Returns the folders or files of the repository at hand.
    fn git(&mut self, git: &Yaml, outer: Option<&Data>) -> Vec<Data> {
        let prefix = git.text("pathParamPrefix", &mut self.project.notes);
        let (mut include, mut exclude) = (Vec::new(), Vec::new());
        let filler = outer.map(|params| Filler { params, is_go: self.is_go, is_strict: false, is_done: false });
        let is_files = git.get("files").is_some();
        for entry in git.list(if is_files { "files" } else { "directories" }, &mut self.project.notes) {
            let Some(path) = entry.text("path", &mut self.project.notes) else { continue };
            let path =
                filler.as_ref().map_or(path.clone(), |filler| filler.text(&entry, &path, &mut self.project.notes));
            let Some(glob) = Glob::parse(path.trim_start_matches("./"), Syntax::Full) else {
                self.project.notes.wrong(entry.place(), format!("`{path}` is no pattern"));
                continue;
            };
            let is_excluded = entry.flag("exclude").unwrap_or(false);
            if is_excluded { &mut exclude } else { &mut include }.push((glob, entry));
        }
        let Some(listed) = self.listed(is_files) else { return Vec::new() };
        for (glob, entry) in &include {
            if !listed.iter().any(|path| glob.matches(path)) {
                let message = "nothing in the repository at hand matches this path";
                let help = "run the import in a checkout of the repository that the generator names";
                self.project.notes.left_out(Some(entry.place()), message, help);
            }
        }
        let is_meant = |path: &&String| {
            include.iter().any(|(glob, _)| glob.matches(path)) && !exclude.iter().any(|(glob, _)| glob.matches(path))
        };
        let mut found = Vec::new();
        for path in listed.iter().filter(is_meant) {
            let contents = if is_files { self.file(git, path) } else { vec![DataMap::default()] };
            for mut map in contents {
                self.add_path(path, is_files, prefix.as_deref(), &mut map);
                let params = self.made(map);
                found.push(self.with_values(params, git));
            }
        }
        found
    }

    /// Returns the paths of all files, or of all folders, of the repository.
    fn listed(&mut self, is_files: bool) -> Option<Vec<String>> {
        let [files, folders] = &mut self.listed;
        let known = if is_files { files } else { folders };
        if known.is_none() {
            let root = self.sources.root().to_owned();
            let text = |path: &std::path::PathBuf| path.to_str().map(str::to_owned);
            let found = match is_files {
                true => self.sources.below(&root).map(|files| files.iter().filter_map(text).collect()),
                false => self.sources.folders(&root),
            };
            match found {
                Ok(found) => *known = Some(found),
                Err(error) => self.project.notes.error(error),
            }
        }
        known.clone()
    }

    /// Returns the maps of a file of parameters.
    fn file(&mut self, at: &Yaml, path: &str) -> Vec<DataMap> {
        let found = self.sources.root().join(path);
        let documents = match self.sources.text(&found) {
            Ok(source) => Yaml::documents(&source, None),
            Err(error) => Err(vec![error]),
        };
        let documents = match documents {
            Ok(documents) => documents,
            Err(errors) => {
                let help = errors.first().map_or(String::new(), |error| error.message.clone());
                self.project.notes.left_out(Some(at.place()), format!("`{path}` cannot be read"), help);
                return Vec::new();
            }
        };
        let lists = documents.iter().flat_map(|document| match document.node.as_list() {
            Some(_) => document.items("parameters", &mut self.project.notes),
            None => vec![document.clone()],
        });
        let all: Vec<Yaml> = lists.collect();
        all.iter().map(|one| one.map("parameters", &mut self.project.notes)).collect()
    }

    fn add_path(&self, path: &str, is_file: bool, prefix: Option<&str>, map: &mut DataMap) {
        let text = |text: &str| Data::Str(text.to_owned());
        let (folder, file) = match (is_file, path.rsplit_once('/')) {
            (true, Some((folder, file))) => (folder, Some(file)),
            (true, None) => ("", Some(path)),
            (false, _) => (path, None),
        };
        let basename = folder.rsplit('/').next().unwrap_or("");
        let segments: Vec<Data> = folder.split('/').map(text).collect();
        let mut own = DataMap::from_iter([
            ("path".to_owned(), text(folder)),
            ("basename".to_owned(), text(basename)),
            ("basenameNormalized".to_owned(), text(&normalized(basename))),
        ]);
        if let Some(file) = file {
            own.insert("filename".to_owned(), text(file));
            own.insert("filenameNormalized".to_owned(), text(&normalized(file)));
        }
        if self.is_go {
            own.insert("segments".to_owned(), Data::List(segments));
            match prefix {
                Some(prefix) => drop(
                    map.insert(prefix.to_owned(), Data::Map(DataMap::from_iter([("path".to_owned(), Data::Map(own))]))),
                ),
                None => drop(map.insert("path".to_owned(), Data::Map(own))),
            }
            return;
        }
        let start = prefix.map_or("path".to_owned(), |prefix| format!("{prefix}.path"));
        for (key, value) in own {
            map.insert(if key == "path" { start.clone() } else { format!("{start}.{key}") }, value);
        }
        for (at, segment) in segments.into_iter().enumerate() {
            map.insert(format!("{start}[{at}]"), segment);
        }
    }

    /// Returns all pairs of the parameters of two generators.
    fn matrix(&mut self, matrix: &Yaml, outer: Option<&Data>, depth: usize) -> Vec<Data> {
        let mut found: Vec<Data> = vec![outer.cloned().unwrap_or_else(|| Data::Map(DataMap::default()))];
        for generator in matrix.list("generators", &mut self.project.notes) {
            let mut next = Vec::new();
            for params in &found {
                let own = self.params(&generator, Some(params), depth + 1);
                next.extend(own.iter().map(|own| joined(params, own)));
                if next.len() > MAX_PARAMS {
                    break;
                }
            }
            found = next;
        }
        found
    }

    /// Returns the parameters of the first generator, with those of the others that have the same keys over them.
    fn merge(&mut self, merge: &Yaml, outer: Option<&Data>, depth: usize) -> Vec<Data> {
        let keys = merge.texts("mergeKeys", &mut self.project.notes);
        let generators = merge.list("generators", &mut self.project.notes);
        let Some((first, others)) = generators.split_first() else { return Vec::new() };
        let mut found = self.params(first, outer, depth + 1);
        let key = |params: &Data| keys.iter().map(|key| at(params, key).cloned()).collect::<Vec<_>>();
        for other in others {
            for over in self.params(other, outer, depth + 1) {
                for base in found.iter_mut().filter(|base| key(base) == key(&over)) {
                    *base = joined(base, &over);
                }
            }
        }
        found
    }

    /// Keeps the parameters that a selector selects.
    fn select(&mut self, selector: &Yaml, found: &mut Vec<Data>) {
        for (key, name, value) in selector.entries("selector", &mut self.project.notes) {
            if &*key == "matchExpressions" {
                for one in Requirement::all(&value, &mut self.project.notes) {
                    found.retain(|params| one.holds(at(params, &one.key)));
                }
                continue;
            }
            if &*key != "matchLabels" {
                let message = format!("`{key}` of the selector is not translated");
                self.project.notes.left_out(Some(name.place()), message, "remove the clusters that it leaves out");
                continue;
            }
            for (label, _, wanted) in value.entries("matchLabels", &mut self.project.notes) {
                let wanted = wanted.scalar("matchLabels", &mut self.project.notes).unwrap_or_default();
                found.retain(|params| at(params, &label).is_some_and(|value| text_of(value) == wanted));
            }
        }
    }
}

/// Returns the value at a key, or at a dotted path.
fn at<'d>(params: &'d Data, key: &str) -> Option<&'d Data> {
    params.get(key).or_else(|| params.at_path(key))
}

/// Returns parameters with others over them. Maps merge.
fn joined(base: &Data, over: &Data) -> Data {
    let (Some(base), Some(over)) = (base.as_map(), over.as_map()) else { return over.clone() };
    let mut all = base.clone();
    for (key, value) in over {
        let merged = all.get(key).map_or_else(|| value.clone(), |own| joined(own, value));
        all.insert(key.clone(), merged);
    }
    Data::Map(all)
}

/// Adds the scalars of a value under dotted keys, as texts.
fn flatten(key: &str, value: &Data, flat: &mut DataMap) {
    match value {
        Data::Map(map) => map.iter().for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, flat)),
        Data::List(items) => {
            items.iter().enumerate().for_each(|(at, value)| flatten(&format!("{key}.{at}"), value, flat));
        }
        scalar => drop(flat.insert(key.to_owned(), Data::Str(text_of(scalar)))),
    }
}

/// Returns a text as a name of Kubernetes.
pub(super) fn normalized(text: &str) -> String {
    file_name(&text.to_lowercase().replace(['_', '.'], "-"))
}

/// A requirement on the value of a label.
#[derive(Debug)]
struct Requirement {
    pub(super) key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Requirement {
    /// Reads a list of requirements. One that is not understood is noted.
    pub(super) fn all(list: &Yaml, notes: &mut Notes) -> Vec<Self> {
        let items = list.items("matchExpressions", notes);
        items.iter().filter_map(|item| Self::of(item, notes)).collect()
    }

    fn of(item: &Yaml, notes: &mut Notes) -> Option<Self> {
        let key = item.text("key", notes).unwrap_or_default();
        let operator = match item.text("operator", notes).as_deref() {
            Some("In") => Operator::In,
            Some("NotIn") => Operator::NotIn,
            Some("Exists") => Operator::Exists,
            Some("DoesNotExist") => Operator::DoesNotExist,
            other => {
                let message = format!("`{}` is no operator of `matchExpressions`", other.unwrap_or(""));
                notes.left_out(Some(item.place()), message, "write `In`, `NotIn`, `Exists` or `DoesNotExist`");
                return None;
            }
        };
        Some(Self { key, operator, values: item.texts("values", notes) })
    }

    /// Returns `true` if the value of the key, if there is one, is as required.
    pub(super) fn holds(&self, value: Option<&Data>) -> bool {
        let is_one = || value.is_some_and(|value| self.values.contains(&text_of(value)));
        match self.operator {
            Operator::In => is_one(),
            Operator::NotIn => !is_one(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }

    /// Returns the condition on the labels of a cluster, as CEL.
    pub(super) fn condition(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
        let label = format!("cluster.?metadata.?labels[?{}]", quoted(&self.key));
        let values: Vec<String> = self.values.iter().map(|value| quoted(value)).collect();
        let is_one = format!("{label}.orValue('') in [{}]", values.join(", "));
        match self.operator {
            Operator::In => is_one,
            Operator::NotIn => format!("!({is_one})"),
            Operator::Exists => format!("{label}.hasValue()"),
            Operator::DoesNotExist => format!("!{label}.hasValue()"),
        }
    }
}
