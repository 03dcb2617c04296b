//! The list of resources that a KRM function reads and writes.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic, parts};
use dropforge::files::Files;
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::yaml::{self, Entry, Kind, Node};
use dropforge::value::{Data, DataMap};

use super::Errors;
use crate::input::{is_below, outside};

/// The kind of the list, and of its configuration.
const KINDS: [(&str, &str); 2] = [("ResourceList", "config.kubernetes.io/"), ("Dropforge", "dropforge.dev/")];
/// The keys of the configuration's `spec`.
const KEYS: [&str; 3] = ["templates", "paths", "values"];

/// A ResourceList.
pub(super) struct ResourceList {
    source: Arc<Source>,
    root: Node,
    items: Vec<Data>,
    /// The place of each resource. The first of several with one identity counts.
    places: HashMap<Identity, usize>,
}

/// The configuration of the function.
pub(super) struct Config {
    /// Names and texts of templates.
    pub(super) templates: Vec<(String, String)>,
    /// Template files and folders, with their places.
    pub(super) paths: Vec<(PathBuf, Span)>,
    /// The values, and the resources as `items`.
    pub(super) inputs: DataMap,
}

impl ResourceList {
    /// Reads a list.
    ///
    /// # Errors
    /// Errors of reading YAML; `input.structure` for anything but a ResourceList.
    pub(super) fn read(source: &Arc<Source>) -> Result<Self, Errors> {
        let root = yaml::read_one(source, &Limits { source_bytes: usize::MAX, ..Limits::default() })?;
        let list = Self { source: source.clone(), root, items: Vec::new(), places: HashMap::new() };
        list.check_kind(&list.root, KINDS[0])?;
        let wrong = |node: &Node| vec![list.error(format!("`items` must be a list, found {}", node.kind_name()), node)];
        let items: Vec<Data> = match list.root.get("items").filter(|items| items.kind != Kind::Null) {
            Some(items) => items.as_list().ok_or_else(|| wrong(items))?.iter().map(Node::to_data).collect(),
            None => Vec::new(),
        };
        let mut places = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            if let Ok(identity) = Identity::of(item) {
                places.entry(identity).or_insert(at);
            }
        }
        Ok(Self { items, places, ..list })
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// All of `input.structure` for what is missing, unknown or of another type.
    pub(super) fn config(&self) -> Result<Config, Errors> {
        let none = || vec![self.error("the list has no `functionConfig`".to_owned(), &self.root)];
        let config = self.root.get("functionConfig").ok_or_else(none)?;
        self.check_kind(config, KINDS[1])?;
        let spec =
            config.get("spec").ok_or_else(|| vec![self.error("`functionConfig` has no `spec`".into(), config)])?;
        let mut found = Config { templates: Vec::new(), paths: Vec::new(), inputs: DataMap::default() };
        let mut errors = Vec::new();
        for entry in spec.as_map().unwrap_or_default() {
            errors.extend(self.read_entry(entry, &mut found).err().into_iter().flatten());
        }
        if found.templates.is_empty() && found.paths.is_empty() && errors.is_empty() {
            errors.push(self.error("`spec` has neither `templates` nor `paths`".to_owned(), spec));
        }
        found.inputs.insert("items".to_owned(), Data::List(self.items.clone()));
        if errors.is_empty() { Ok(found) } else { Err(errors) }
    }

    fn read_entry(&self, entry: &Entry, to: &mut Config) -> Result<(), Errors> {
        let wrong = |wanted: &str, node: &Node| {
            vec![self.error(format!("`{}` must be {wanted}, found {}", entry.name, node.kind_name()), node)]
        };
        match (&*entry.name, &entry.value) {
            ("templates", node) => {
                for Entry { name, value, .. } in
                    node.as_map().ok_or_else(|| wrong("a map from names to texts", node))?
                {
                    let text = value.as_str().ok_or_else(|| wrong("a map from names to texts", value))?;
                    to.templates.push((name.to_string(), text.to_owned()));
                }
            }
            ("paths", node) => {
                for item in node.as_list().ok_or_else(|| wrong("a list of paths", node))? {
                    let path = item.as_str().ok_or_else(|| wrong("a list of paths", item))?;
                    to.paths.push((path.into(), item.span));
                }
            }
            ("values", node) => {
                to.inputs = node.to_data().try_into_map().map_err(|_| wrong("a map", node))?;
                if let Some(items) = node.entry("items") {
                    return Err(vec![self.error("`items` stands for the resources of the list".into(), &items.key)]);
                }
            }
            (name, _) => {
                let error = self.error(format!("unknown key `{name}` in `spec`"), &entry.key);
                return Err(vec![error.with_suggestion(name, KEYS).with_available(KEYS)]);
            }
        }
        Ok(())
    }

    /// Checks that the templates are below the include root, or else the working directory.
    ///
    /// # Errors
    /// `template.outside_root` for each that is not; `file.read_failed` if the directory cannot be read.
    pub(super) fn check_paths(&self, paths: &[(PathBuf, Span)], root: Option<&Path>) -> Result<(), Errors> {
        let root = Files::below(root.unwrap_or(Path::new("."))).map_err(|error| vec![error])?;
        let outside = paths.iter().filter(|(path, _)| !is_below(&root, path)).map(|(path, span)| {
            let error = outside(path, &root).at(&self.source, *span, "");
            error.with_help("name files below the working directory, or run with `--include-root DIR`")
        });
        let errors: Errors = outside.collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_kind(&self, node: &Node, (kind, group): (&str, &str)) -> Result<(), Errors> {
        let text = |key| node.get(key).and_then(Node::as_str).unwrap_or("");
        if text("kind") == kind && text("apiVersion").starts_with(group) {
            return Ok(());
        }
        let message = format!("expected `kind: {kind}` and `apiVersion: {group}v1`");
        Err(vec![self.error(message, node)])
    }

    fn error(&self, message: String, node: &Node) -> Box<Diagnostic> {
        Diagnostic::new(Code::InputStructure, message).at(&self.source, node.span, "")
    }

    /// Adds a resource in place of the one with its identity, whose file and position it keeps, or at the end.
    pub(super) fn put(&mut self, identity: &Identity, mut item: Data) {
        match self.places.get(identity).and_then(|at| self.items.get_mut(*at)) {
            Some(old) => {
                keep_annotations(old, &mut item);
                *old = item;
            }
            None => self.items.push(item),
        }
    }

    /// Returns the list as YAML, with the diagnostics as results.
    pub(super) fn finish(self, found: &[Box<Diagnostic>]) -> String {
        let mut list = self.root.to_data().into_map().unwrap_or_default();
        list.insert("items".to_owned(), Data::List(self.items));
        list.shift_remove("results");
        if !found.is_empty() {
            let all = found.iter().flat_map(|error| std::iter::once(error).chain(&error.also));
            list.insert("results".to_owned(), Data::List(all.map(|error| result(error)).collect()));
        }
        yaml::to_string(&Data::Map(list))
    }
}

/// Copies the annotations of `old` that say which file it comes from, as other functions may not lose them.
fn keep_annotations(old: &Data, new: &mut Data) {
    let is_kept = |key: &str| {
        let domain = key.split('/').next().unwrap_or("");
        domain.ends_with("config.kubernetes.io") || domain.ends_with("config.k8s.io")
    };
    let Some(annotations) = old.at_path("metadata.annotations").and_then(Data::as_map) else { return };
    let kept: Vec<_> = annotations.iter().filter(|(key, _)| is_kept(key)).collect();
    if kept.is_empty() {
        return;
    }
    let own = map_in(new, "metadata").and_then(|metadata| {
        let own = metadata.entry("annotations".to_owned()).or_insert_with(|| Data::Map(DataMap::default()));
        if let Data::Map(own) = own { Some(own) } else { None }
    });
    if let Some(own) = own {
        kept.into_iter().for_each(|(key, value)| {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        });
    }
}

fn map_in<'d>(data: &'d mut Data, key: &str) -> Option<&'d mut DataMap> {
    match data {
        Data::Map(map) => match map.get_mut(key) {
            Some(Data::Map(inner)) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a diagnostic as a result of the function.
fn result(found: &Diagnostic) -> Data {
    let text = |text: String| Data::Str(text);
    let mut result = DataMap::from_iter([
        ("message".to_owned(), text(found.written(parts::KRM, ""))),
        ("severity".to_owned(), text(found.severity.name().to_owned())),
        ("tags".to_owned(), Data::Map(DataMap::from_iter([("code".to_owned(), text(found.code.id().to_owned()))]))),
    ]);
    if let Some(label) = found.primary() {
        let at = label.position();
        result.insert("field".to_owned(), {
            Data::Map(DataMap::from_iter([(
                "path".to_owned(),
                text(format!("line {}, column {}", at.line, at.column)),
            )]))
        });
        let file = DataMap::from_iter([("path".to_owned(), text(label.source.path().to_owned()))]);
        result.insert("file".to_owned(), Data::Map(file));
    }
    Data::Map(result)
}

/// The identity of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    api_version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl Identity {
    /// Returns the identity of `item`.
    ///
    /// # Errors
    /// A message about what is missing.
    pub(super) fn of(item: &Data) -> Result<Self, String> {
        let text = |path: &str| item.at_path(path).and_then(Data::as_str).map(str::to_owned);
        let needed = |path: &str| text(path).ok_or_else(|| format!("it has no text at `{path}`"));
        Ok(Self {
            api_version: needed("apiVersion")?,
            kind: needed("kind")?,
            namespace: text("metadata.namespace"),
            name: needed("metadata.name")?,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
        write!(f, "`{} {namespace}{}` of `{}`", self.kind, self.name, self.api_version)
    }
}
